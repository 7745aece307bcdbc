//! What references alone tell of locality, exact, in one pass: stack distances and the misses of every cache size that follow from
//! them, working sets, how sets and lines are used, which array pushes out which.
//!
//! Everything here is pure: references in, counts out. `orrery analyze` prints it.
//!
//! Three rules hold for all of it, and for [`sim`](crate::sim):
//!
//! - An access is one line that a reference touches: a reference that straddles touches each of its lines in rising order.
//! - A modify is two accesses of each line: it reads all of its lines, then writes them.
//! - Instruction fetches count unless they are left out.

mod touch;
pub use touch::{Touches, line_shift};

mod last;
mod recency;

mod histogram;
pub use histogram::Histogram;

mod distance;
pub use distance::{COLD, StackDistances};

mod attributed;
pub use attributed::{Attributed, DistanceRow, Grouping};

mod elements;
pub use elements::{ElementCounts, ElementDistances, Elements, MOST_SLOTS};

mod sampled;
pub use sampled::{SampledDistances, SamplingError};

mod by_set;
pub use by_set::SetStacks;

mod working_set;
pub use working_set::{WorkingSet, WorkingSets};

mod locality;
pub use locality::{Locality, LocalityScores};

// ---- Under caches.

mod play;
pub use play::play;

mod whose;

mod displaced;
pub use displaced::{Displacement, Displacements};

mod blame;
pub use blame::{Blame, BlameRow, BlameTable, Offender};

mod pressure;
pub use pressure::{SetPressure, SetUse};

mod line_use;
pub use line_use::{LineUse, UseRow};

mod over_time;
pub use over_time::{Band, OverTime, Stretch};

mod charted;
pub use charted::{ChartParts, Charted, ChartsOf, charted};

mod nested;
pub use nested::{ContainerUse, MOST_MEASURED, NestDistances, NestDistancesError, nest_distances};

mod heat;
pub use heat::{Heat, HeatScale};

mod nest_graph;
pub use nest_graph::{
    Fold, Folding, GraphEdge, GraphNode, GraphPart, NestGraph, NodeKind, in_words, nest_graph, size_in_words,
    state_name, states,
};

mod survey;
pub use survey::{Distances, MOST_WAYS, Survey, SurveyError, Wanted, survey};

pub mod explain;
pub use explain::{ExplainError, Explanation, explain, explain_while};

pub mod advice;
pub use advice::{Advice, AdviceError, Pattern, advise, advise_while};

mod compare;
pub use compare::{Changed, Comparison, Counted, LevelPair, Pair};

mod stacked;
mod touched_rows;

mod sweep;
pub use sweep::{Cell, CellCounts, LevelCounts, MOST_CELLS, SweepError, Vary, cells, parts, sweep};
