//! The kinds of charts that a trace has, by name.

use super::{Chart, Look, addresses, classes, displaced, distances, miss_ratio, set_use};
use crate::analysis::{ChartParts, Charted};
use crate::sim::config::HierarchyConfig;

/// What a chart shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChartKind {
    /// Misses of every cache size, the levels marked.
    MissRatio,
    /// How often each stack distance occurred.
    StackDistance,
    /// Misses of a level over time, by class.
    Classes,
    /// Accesses and misses of each set of a level.
    Sets,
    /// Which parts of which arrays are touched when.
    Map,
    /// Whose references push whose lines out of a level.
    Displaced,
}

impl ChartKind {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Self; 6] =
        [Self::MissRatio, Self::StackDistance, Self::Classes, Self::Sets, Self::Map, Self::Displaced];

    /// Its name, on the command line and on tabs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::MissRatio => "miss-ratio",
            Self::StackDistance => "stack-distance",
            Self::Classes => "classes",
            Self::Sets => "sets",
            Self::Map => "map",
            Self::Displaced => "displaced",
        }
    }

    /// What it shows, for people.
    #[must_use]
    pub const fn what(self) -> &'static str {
        match self {
            Self::MissRatio => "misses of every cache size, the levels marked",
            Self::StackDistance => "how often each stack distance occurred",
            Self::Classes => "misses of a level over time, by class",
            Self::Sets => "accesses and misses of each set of a level",
            Self::Map => "which parts of which arrays are touched when",
            Self::Displaced => "whose references push whose lines out of a level",
        }
    }

    /// What it is drawn of.
    #[must_use]
    pub fn parts(self) -> ChartParts {
        let none = ChartParts::default();
        match self {
            Self::MissRatio | Self::StackDistance => ChartParts { distances: true, ..none },
            Self::Classes | Self::Map => ChartParts { over_time: true, ..none },
            Self::Sets => ChartParts { sets: true, ..none },
            Self::Displaced => ChartParts { displaced: true, ..none },
        }
    }

    /// Draws it; `of` says which trace and caches it is of. `None` where its counts are not there.
    #[must_use]
    pub fn draw(self, found: &Charted, config: &HierarchyConfig, of: &str, look: Look) -> Option<Chart> {
        let Charted { of: asked, survey, over } = found;
        let level = config.levels.get(asked.level.index())?.name.as_str();
        let stacks = || survey.distances.as_ref();
        Some(match self {
            Self::MissRatio => miss_ratio(stacks()?, survey.ways.as_ref(), survey.line_bytes, config, of, look),
            Self::StackDistance => distances(stacks()?, survey.line_bytes, config, of, look),
            Self::Classes => classes(over.as_ref()?, asked.references, level, of, look),
            Self::Map => addresses(over.as_ref()?, asked.references, of, look),
            Self::Sets => set_use(survey.pressure.as_ref()?.sets(), level, of, look),
            Self::Displaced => displaced(survey.displaced.as_ref()?, level, of, look),
        })
    }
}
