//! What charts of a trace under its caches are made of.

use super::over_time::OverTime;
use super::play;
use super::survey::{Survey, SurveyError, Wanted, survey};
use crate::reference::{Reference, ReferenceSource, SourceError, Tables};
use crate::sim::config::HierarchyConfig;
use crate::sim::prepare;
use crate::units::LevelId;
use std::sync::Arc;

/// Stretches that what happens over time is told in.
const STRETCHES: usize = 240;

/// Which counts charts are drawn of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChartParts {
    /// Stack distances, and every associativity of the innermost sets.
    pub distances: bool,
    /// How the sets of the level are used.
    pub sets: bool,
    /// Which region pushes out which.
    pub displaced: bool,
    /// Misses by class and references by address, over time.
    pub over_time: bool,
}

impl ChartParts {
    /// All of them.
    pub const ALL: Self = Self { distances: true, sets: true, displaced: true, over_time: true };

    /// These and others.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            distances: self.distances || other.distances,
            sets: self.sets || other.sets,
            displaced: self.displaced || other.displaced,
            over_time: self.over_time || other.over_time,
        }
    }

    fn is_survey(self) -> bool {
        self.distances || self.sets || self.displaced
    }
}

/// What charts are drawn of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartsOf {
    /// The level that sets, classes and evictions are of.
    pub level: LevelId,
    /// References from the first one on.
    pub references: u64,
    /// Which counts.
    pub parts: ChartParts,
}

/// What was counted; what was not asked for is absent.
#[derive(Debug)]
pub struct Charted {
    /// What was asked for.
    pub of: ChartsOf,
    /// Of locality, sets and evictions.
    pub survey: Survey,
    /// Of time.
    pub over: Option<OverTime>,
}

/// Counts what charts are drawn of. `touched` (bytes or references, by region) says which regions the map of addresses has; `goes_on` is
/// asked now and then.
///
/// # Errors
/// When trace and caches do not go together, the trace cannot be read, or `goes_on` says no.
pub fn charted(
    source: &dyn ReferenceSource,
    config: &HierarchyConfig,
    of: &ChartsOf,
    touched: &[u64],
    goes_on: &(dyn Fn() -> bool + Sync),
) -> Result<Charted, SurveyError> {
    let ChartsOf { level, references, parts } = *of;
    let first = First { source, references: references.min(source.len()), goes_on };
    let wanted = Wanted {
        distances: parts.distances,
        ways: parts.distances.then_some(0),
        pressure: parts.sets.then_some(level),
        displaced: parts.displaced.then_some(level),
        ..Wanted::default()
    };
    let survey = if parts.is_survey() { survey(&first, config, &wanted)? } else { Survey::default() };
    let over = match parts.over_time {
        true => {
            let hierarchy = prepare(config, &first)?;
            let mut over = OverTime::new(&hierarchy, level, first.len(), STRETCHES, source.tables(), touched);
            play(&first, config, &mut over)?;
            Some(over)
        }
        false => None,
    };
    Ok(Charted { of: of.clone(), survey, over })
}

/// The first references of a source, as long as somebody wants them.
pub(super) struct First<'a> {
    pub(super) source: &'a dyn ReferenceSource,
    pub(super) references: u64,
    pub(super) goes_on: &'a (dyn Fn() -> bool + Sync),
}

impl First<'_> {
    fn asked(&self) -> Result<(), SourceError> {
        if (self.goes_on)() { Ok(()) } else { Err(SourceError("nobody wants it any more".into())) }
    }

    /// How many of `read` from `from` on are among the first.
    fn part(&self, from: u64, read: usize) -> usize {
        usize::try_from(self.references.saturating_sub(from)).unwrap_or(usize::MAX).min(read)
    }
}

impl ReferenceSource for First<'_> {
    fn len(&self) -> u64 {
        self.references
    }

    fn chunk_len(&self) -> u64 {
        self.source.chunk_len()
    }

    fn chunk(&self, index: u64) -> Result<Arc<[Reference]>, SourceError> {
        self.asked()?;
        let chunk = self.source.chunk(index)?;
        let part = self.part(index * self.chunk_len(), chunk.len());
        Ok(if part == chunk.len() { chunk } else { chunk[..part].into() })
    }

    fn batch(&self, from: u64, out: &mut Vec<Reference>) -> Result<(), SourceError> {
        self.asked()?;
        self.source.batch(from, out)?;
        out.truncate(self.part(from, out.len()));
        Ok(())
    }

    fn tables(&self) -> &Tables {
        self.source.tables()
    }

    fn cores(&self) -> Result<u32, SourceError> {
        self.source.cores()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{Kind, MemoryTrace};
    use crate::sim::config::preset;

    fn trace(count: u64) -> MemoryTrace {
        let one = |n: u64| Reference::new(Kind::Read, 0x1000 + n * 72 % 4096, 8);
        MemoryTrace::new((0..count).map(one).collect(), Tables::default())
    }

    #[test]
    fn the_first_references_are_counted_as_a_trace_of_them_alone() {
        let (long, short, config) = (trace(200_000), trace(70_001), preset("paper").expect("ours"));
        let of = ChartsOf { level: LevelId(0), references: 70_001, parts: ChartParts::ALL };
        let [part, whole] =
            [&long, &short].map(|of_trace| charted(of_trace, &config, &of, &[], &|| true).expect("sound"));
        assert_eq!(part.survey.references, 70_001);
        let distances =
            |found: &Charted| found.survey.distances.as_ref().map(|d| (d.accesses(), d.cold(), d.misses(8)));
        assert_eq!(distances(&part), distances(&whole));
        assert_eq!(part.survey.sets(), whole.survey.sets());
        assert!(part.survey.sets().iter().map(|set| set.misses).sum::<u64>() > 0);
        let over = |found: &Charted| found.over.as_ref().map(|over| over.stretches().to_vec());
        assert_eq!(over(&part), over(&whole));
    }

    #[test]
    fn who_says_stop_is_heard() {
        let (long, config) = (trace(400_000), preset("paper").expect("ours"));
        let of = ChartsOf { level: LevelId(0), references: u64::MAX, parts: ChartParts::ALL };
        let asked = std::sync::atomic::AtomicUsize::new(0);
        let goes_on = || asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) < 2;
        let error = charted(&long, &config, &of, &[], &goes_on).expect_err("stopped");
        assert!(error.to_string().contains("nobody wants it"), "{error}");
    }
}
