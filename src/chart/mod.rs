//! Charts of what [`analysis`](crate::analysis) found: numbers in, shapes out, or the text of an SVG file.
//!
//! ```text
//! (0, 0) +-- title, what it is of -------- legend --+
//!        | y: what, in which unit                   |
//!        |     +-------------------------------+    |
//!        | ... |  plot                         |    |   a canvas of 640 x 360 units or of another form ([`Look`])
//!        |     +-------------------------------+    |
//!        +------- x: what, in which unit -----------+ (640, 360)
//! ```
//!
//! What is drawn has a [`Role`], not a colour: the colours of a theme stand in the file, and a page that holds charts may give the roles
//! other ones ([`css`]), so that one drawing is read on light and on dark grounds. Words are text, and every name goes through
//! [`shown::words`](crate::shown::words) and is escaped, whatever is in it.

mod canvas;
pub use canvas::{Anchor, At, Chart, Look, Shape, arc, escaped};

mod role;
pub use role::{Role, css, properties};

mod axis;

mod curves;
pub use curves::{distances, miss_ratio};

mod tables;
pub use tables::{HeatMap, displaced, heat_map};

mod time;
pub use time::{addresses, classes};

mod sets;
pub use sets::set_use;

mod kind;
pub use kind::ChartKind;

mod layered;

mod dataflow;
pub use dataflow::{DrawnGraph, NodeHeat, dataflow, dataflow_bare, is_legible, is_legible_bare, is_roomy_bare};

mod overlaid;
pub use overlaid::{Run, overlaid};

#[cfg(feature = "kernel")]
pub mod kernel;
