//! Tasks: what a simulated machine does, told as intervals in a tree (Daisen, 2021).
//!
//! A [`Task`] has a *category* (`req_in`, `inst`), an *action* (`ReadReq`, `VMem`), a *location* (`GPU[1].L2Cache[3]`), a start, an
//! end and at most one parent. *Milestones* say what a task waited for, *tags* what came of it (a hit, a miss). Times are whole ticks
//! of a declared frequency. A request between two components is two tasks: *request out*, from its creation until the answer arrived,
//! where it is asked; below it *request in*, from its receipt until the data were sent, where it is served.
//!
//! A [`TaskSet`] holds tasks by location and start, in some 45 bytes each, so that any part of any location is found at once:
//! [`metrics`] are differences of sums, [`lanes`] are worked out a location at a time. [`rules`] tells what of the model does not
//! hold. The set is made by a [`TaskSetBuilder`], whatever the tasks come from: a simulated hierarchy, a simulated GPU, a file.

pub mod blocking;
mod book;
mod builder;
mod ids;
pub mod lanes;
pub mod metrics;
mod open;
mod packed;
pub mod reasons;
pub mod report;
pub mod rules;
mod set;
mod summary;
#[cfg(test)]
mod tests;
mod traffic;
mod words;

pub use book::{FirstSight, LocationOrder, Spot, TaskBook, TaskLook, plain};
pub use builder::{Built, NewTask, TaskSetBuilder, TooMany};
pub use ids::TaskId;
pub use open::OpenIndex;
pub use set::{Milestone, NO_TASK, Task, TaskIndex, TaskSet};
pub use summary::{LocationSummary, Summary, most_at_once, summary};
pub use traffic::{Component, ComponentId, Kind, Link, Traffic};
pub use words::{Symbol, Symbols};

/// Category of a request where it is served.
pub const REQUEST_IN: &str = "req_in";
/// Category of a request where it is made.
pub const REQUEST_OUT: &str = "req_out";
/// Category of a message that waits at a port to be taken.
pub const INCOMING_BUFFER: &str = "incoming_buffer";
