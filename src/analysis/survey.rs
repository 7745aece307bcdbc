//! Several analyses of a trace in one pass.

use super::whose::Whose;
use super::{
    Attributed, Displacement, Displacements, DistanceRow, Grouping, LineUse, Locality, LocalityScores,
    SampledDistances, SamplingError, SetPressure, SetStacks, SetUse, StackDistances, Touches, UseRow, WorkingSet,
    WorkingSets, line_shift,
};
use crate::reference::{Reference, ReferenceSource, SourceError};
use crate::sim::config::HierarchyConfig;
use crate::sim::{Event, Observer, SimError, Wants, pass, prepare};
use crate::units::LevelId;
use serde::Serialize;

/// Which analyses, and how.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wanted {
    /// Bytes of a line; `None` = as the innermost level has.
    pub line_bytes: Option<u32>,
    /// Stack distances, exact.
    pub distances: bool,
    /// Stack distances by these, too.
    pub by: Vec<Grouping>,
    /// Miss ratios from a sample of lines, as a share of all.
    pub sample: Option<f64>,
    /// Misses of every associativity with so many sets, a power of two; 0 = as the innermost level has.
    pub ways: Option<u32>,
    /// Working sets, in windows of so many references; 0 = a hundredth of the trace.
    pub working_sets: Option<u64>,
    /// Locality scores.
    pub locality: bool,
    /// How the sets of this level are used.
    pub pressure: Option<LevelId>,
    /// How much of lines is used in the innermost caches.
    pub line_use: bool,
    /// Which region pushes lines of which out of this level.
    pub displaced: Option<LevelId>,
}

/// Ways that misses are told of, at most.
pub const MOST_WAYS: usize = 64;

/// Moments that a working set is told at.
const MOMENTS: u64 = 400;

/// Why there is no survey.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SurveyError {
    /// Trace and caches do not go together, or the trace cannot be read.
    #[error(transparent)]
    Sim(#[from] SimError),
    /// References cannot be had.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The rate of a sample.
    #[error(transparent)]
    Sampling(#[from] SamplingError),
    /// A line of no power of two bytes.
    #[error("lines of {0} bytes; expected a power of two of 1 to 1,048,576")]
    Line(u32),
}

/// Stack distances of one grouping.
#[derive(Clone, Debug, Serialize)]
pub struct Distances {
    /// What rows are of.
    pub by: Grouping,
    /// In the order of the trace's tables.
    pub rows: Vec<DistanceRow>,
}

/// What was found; what was not asked for is absent.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Survey {
    /// References played.
    pub references: u64,
    /// Bytes of a line.
    pub line_bytes: u32,
    /// Stack distances.
    pub distances: Option<StackDistances>,
    /// Stack distances by regions and the like.
    pub by: Vec<Distances>,
    /// A sample.
    pub sample: Option<SampledDistances>,
    /// Stacks of sets.
    pub ways: Option<SetStacks>,
    /// References of a window of working sets, and the sets.
    pub working_sets: Option<(u64, Vec<WorkingSet>)>,
    /// Locality scores.
    pub locality: Option<LocalityScores>,
    /// How the sets of a level are used.
    pub pressure: Option<SetPressure>,
    /// How much of lines was used.
    pub line_use: Option<Vec<UseRow>>,
    /// Which region pushed out which.
    pub displaced: Option<Vec<Displacement>>,
}

impl Survey {
    /// Sets of the level that was asked for.
    #[must_use]
    pub fn sets(&self) -> &[SetUse] {
        self.pressure.as_ref().map(SetPressure::sets).unwrap_or_default()
    }
}

/// What caches are watched for.
#[derive(Default)]
struct Watches {
    pressure: Option<SetPressure>,
    line_use: Option<LineUse>,
    displaced: Option<Displacements>,
}

impl Watches {
    fn is_empty(&self) -> bool {
        self.pressure.is_none() && self.line_use.is_none() && self.displaced.is_none()
    }
}

impl Observer for Watches {
    fn wants(&self) -> Wants {
        if self.is_empty() { Wants::NOTHING } else { Wants::ALL_EVENTS }
    }

    fn begin(&mut self, reference: &Reference) {
        if let Some(line_use) = &mut self.line_use {
            line_use.begin(reference);
        }
        if let Some(displaced) = &mut self.displaced {
            displaced.begin(reference);
        }
    }

    fn event(&mut self, event: Event) {
        if let Some(pressure) = &mut self.pressure {
            pressure.event(event);
        }
        if let Some(line_use) = &mut self.line_use {
            line_use.event(event);
        }
        if let Some(displaced) = &mut self.displaced {
            displaced.event(event);
        }
    }
}

/// Plays a trace once and makes all the analyses that are wanted. Levels that the caches do not have are not told of.
///
/// # Errors
/// [`SurveyError`].
pub fn survey(source: &dyn ReferenceSource, config: &HierarchyConfig, wanted: &Wanted) -> Result<Survey, SurveyError> {
    let innermost = config.levels.first().map_or(64, |level| level.line);
    let line_bytes = wanted.line_bytes.unwrap_or(innermost);
    let shift = line_shift(line_bytes).ok_or(SurveyError::Line(line_bytes))?;
    let (touches, tables) = (Touches::new(shift, config.data_only), source.tables());
    let line_of = |level: LevelId| config.levels.get(level.index()).map(|level| level.line);

    let mut hierarchy = prepare(config, source)?;
    let mut distances = wanted.distances.then(|| StackDistances::new(touches));
    let shape = hierarchy.level_geometry(LevelId(0));
    let mut by: Vec<(Grouping, Attributed)> =
        wanted.by.iter().map(|grouping| (*grouping, Attributed::new(touches, *grouping, tables, shape))).collect();
    let mut sample = wanted.sample.map(|rate| SampledDistances::new(touches, rate)).transpose()?;
    let innermost_sets = hierarchy.level_geometry(LevelId(0)).sets;
    let mut ways = wanted.ways.map(|sets| {
        let sets = if sets == 0 { innermost_sets } else { sets };
        // Sets that are no power of two are indexed by other means; the power below them is told, with its number.
        SetStacks::new(touches, sets.max(1).ilog2(), MOST_WAYS)
    });
    let mut working_sets = wanted.working_sets.map(|window| {
        let window = if window == 0 { (source.len() / 100).max(1) } else { window };
        // A window is a whole number of steps.
        let step = (source.len() / MOMENTS).max(1).min(window);
        WorkingSets::new(touches, step, usize::try_from(window.div_ceil(step)).unwrap_or(1))
    });
    let mut locality = wanted.locality.then(Locality::new);

    let by_level: Vec<u32> = config.levels.iter().map(|level| level.line).collect();
    let whose = (wanted.line_use || wanted.displaced.is_some()).then(|| Whose::new(tables));
    let mut watches = Watches {
        pressure: wanted
            .pressure
            .filter(|level| line_of(*level).is_some())
            .map(|level| SetPressure::new(level, hierarchy.level_geometry(level).sets)),
        line_use: whose.clone().filter(|_| wanted.line_use).map(|whose| LineUse::of(by_level, whose)),
        displaced: wanted.displaced.and_then(|level| Some(Displacements::of(level, line_of(level)?, whose?))),
    };

    // Without watches nothing is simulated, and any core will do.
    let simulated = (!watches.is_empty()).then_some(config);
    let mut references = 0;
    pass(source, simulated, |from, part| {
        if let Some(distances) = &mut distances {
            distances.play(part);
        }
        by.iter_mut().for_each(|(_, rows)| rows.play(part));
        if let Some(sample) = &mut sample {
            sample.play(part);
        }
        if let Some(ways) = &mut ways {
            ways.play(part);
        }
        if let Some(sets) = &mut working_sets {
            sets.play(part);
        }
        if let Some(locality) = &mut locality {
            locality.play(part);
        }
        if !watches.is_empty() {
            hierarchy.play(part, &mut watches);
        }
        references = from + part.len() as u64;
        Ok::<_, SimError>(())
    })?;

    Ok(Survey {
        references,
        line_bytes,
        distances,
        by: by
            .iter()
            .map(|(by, rows)| Distances { by: *by, rows: rows.rows().into_iter().cloned().collect() })
            .collect(),
        sample,
        ways,
        working_sets: working_sets.map(|sets| (sets.window(), sets.finish())),
        locality: locality.map(|locality| locality.scores()),
        pressure: watches.pressure,
        line_use: watches.line_use.map(LineUse::into_rows),
        displaced: watches.displaced.map(|pairs| pairs.pairs()),
    })
}
