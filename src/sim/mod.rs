//! References to events: the cache hierarchy.
//!
//! [`Hierarchy::access`] plays one [`Reference`](crate::reference::Reference) and tells an [`Observer`] what happened as
//! [`Event`]s; with the observer `()` no event exists. Counts per level are always kept. [`Classifier`] (why a miss) and
//! [`StatsCollector`] (counts by region) are observers.
//!
//! # Semantics
//!
//! - A reference is cut at the line boundaries of the level that receives it; pieces run in rising address order, each
//!   finished with all it causes before the next, and each is one access. A request between two levels is cut in the same
//!   way by the receiving level, so line sizes may grow or shrink outward.
//! - `Modify` is a whole read, then a whole write. Bytes past 2^64 do not exist: a reference is clipped there. A size of
//!   0, which readers never yield, is taken as 1.
//! - On a miss the victim is chosen and replaced first; then the demand request goes to the next level, then the dirty
//!   victim's write-back. Empty ways fill first.
//! - A store miss asks the next level with a *read* (read for ownership), a fetch miss with a fetch.
//! - A store or write-back that covers a whole line of the receiving level allocates it without a fetch. A write-back
//!   from smaller lines does not cover the line: on a miss it reads the line from the next level, like a store. (That
//!   read counts as one of the reference that set all this off.)
//! - A write-back that reaches a level is an access of kind [`AccessKind::Writeback`]: counted with the writes, and for
//!   LRU a hit renews the line like a read. Levels hold lines independently of each other (NINE).
//! - In this build every core's references pass the same levels.
//!
//! Knows nothing of files, clocks, pixels, or where references come from.

pub mod config;

mod geometry;
pub use geometry::Geometry;

mod policy;
pub use policy::Policy;

pub mod event;
pub use event::{AccessKind, Event, Observer};

mod cache;
pub use cache::{LevelCounters, Resident};

mod fast;
mod simd;
mod words;

mod hierarchy;
pub use hierarchy::{Hierarchy, MemoryCounters};

pub mod classes;
pub use classes::{Classifier, MissClass};

pub mod stats;
pub use stats::{Stats, StatsCollector};
