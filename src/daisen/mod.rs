//! Tasks from and into files of Daisen and the simulators that write for it (Akita 3 to 5: SQLite; Akita 3 and 4: CSV too).
//!
//! Which dialect a database is in is told by its tables and columns. Times are seconds as decimal fractions, of Akita 5 picoseconds;
//! they become whole femtoseconds (picoseconds in runs of more than two hours). A row that is no task is counted, and left out.

mod read;
#[cfg(test)]
mod tests;
mod text;
mod write;

use crate::tasks::metrics::Edges;
pub use read::{DaisenError, TaskFile, is_task_file, read, read_first};
pub use text::TaskText;
pub use write::write;

/// The first line of Daisen's CSV.
const CSV_HEAD: &str = "ID, ParentID, Kind, What, Where, Start, End";

/// Who wrote a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Akita 3 to 4.1: columns `task_id`, `parent_id`, ...; seconds.
    V3,
    /// Akita 4.2 and later: columns `ID`, `ParentID`, ...; seconds; milestones.
    V4,
    /// Akita 5: locations by number, picoseconds, milestones and tags.
    V5,
    /// A text of Akita 3 or 4: `ID, ParentID, Kind, What, Where, Start, End`; seconds.
    Csv,
}

impl Dialect {
    /// All of them, and what each is called on the command line.
    pub const ALL: [(Self, &str); 4] = [(Self::V3, "v3"), (Self::V4, "v4"), (Self::V5, "v5"), (Self::Csv, "csv")];

    /// For people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::V3 => "Akita 3 (SQLite)",
            Self::V4 => "Akita 4 (SQLite)",
            Self::V5 => "Akita 5 (SQLite)",
            Self::Csv => "Akita 3 or 4 (CSV)",
        }
    }

    /// Where tasks on the edges of bins count.
    #[must_use]
    pub fn edges(self) -> Edges {
        if self == Self::V5 { Edges::Later } else { Edges::Neither }
    }

    /// Seconds of one unit of time.
    fn unit(self) -> f64 {
        if self == Self::V5 { 1e-12 } else { 1.0 }
    }
}
