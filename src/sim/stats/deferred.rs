//! Counts while a trace is still being made, whose regions and source lines become known at its end only.
//!
//! Simulation and classes need no names, and they are what takes time. So references are played as they come, and which
//! of them missed is kept; once the tables are there, a pass over the references alone gives each miss its rows.

use super::{Attribution, Detail, RowMisses, SharingWatch, Stats, StatsCollector, StatsError, collect_detail};
use crate::reference::{Reference, ReferenceSource, ahead};
use crate::sim::Event;
use crate::sim::check::PlayCheck;
use crate::sim::classes::Classifier;
use crate::sim::config::{ConfigError, HierarchyConfig};
use crate::sim::hierarchy::Hierarchy;
use crate::sim::observer::{Batch, Events, LevelMisses, Lists, Observer, Wants};
use crate::units::LevelId;

/// Misses kept at most, 4 bytes each: with more, all is counted at the end.
const MOST: usize = 1 << 24;

/// References to which rows are given at once: their places have 16 bits.
const BLOCK: usize = 1 << 14;

/// A hierarchy at play, and which references missed.
#[derive(Clone, Debug)]
pub struct Deferred {
    hierarchy: Hierarchy,
    classifier: Classifier,
    check: PlayCheck,
    missed: Missed,
    /// Whether what was played is all that came.
    is_good: bool,
}

impl Deferred {
    /// Empty caches; `None` where they look into the future, which is not there yet.
    ///
    /// # Errors
    /// When the configuration is wrong.
    pub fn new(config: &HierarchyConfig) -> Result<Option<Self>, ConfigError> {
        if config.levels.iter().any(|level| level.policy.about().needs_future) {
            return Ok(None);
        }
        let hierarchy = Hierarchy::new(config)?;
        let missed =
            Missed { levels: vec![Vec::new(); hierarchy.levels()], kept: 0, next: 0, sharing: SharingWatch::default() };
        let (classifier, check) = (Classifier::new(&hierarchy), PlayCheck::new([config]));
        Ok(Some(Self { hierarchy, classifier, check, missed, is_good: true }))
    }

    /// Plays the next references.
    pub fn play(&mut self, references: &[Reference]) {
        self.is_good &= self.check.look(references, self.missed.next).is_ok();
        if self.is_good {
            let Self { hierarchy, classifier, missed, .. } = self;
            hierarchy.play(references, &mut Watch { missed, classifier });
            self.is_good = self.missed.kept <= MOST;
        }
        if !self.is_good {
            // Memory is given back; all is counted at the end.
            self.missed.levels.clear();
        }
    }

    /// The numbers of `source`, whose references were played, under `config`: counted anew where these are other caches or
    /// too much was missed.
    ///
    /// # Errors
    /// As [`collect_detail`].
    pub fn stats(
        self,
        source: &dyn ReferenceSource,
        config: &HierarchyConfig,
        by_line: bool,
        flush: bool,
    ) -> Result<Stats, StatsError> {
        let detail = Detail { classes: true, lines: by_line };
        if !self.is_good || self.hierarchy.config() != config || self.missed.next != source.len() {
            return collect_detail(source, config, detail, flush);
        }
        let Self { hierarchy, classifier, missed, .. } = self;
        let mut collector = StatsCollector::with(hierarchy, source.tables(), Detail { classes: false, ..detail });
        collector.classifier = Some(classifier);
        collector.misses.sharing = missed.sharing;
        let mut rest: Vec<&[u32]> = missed.levels.iter().map(Vec::as_slice).collect();
        ahead(source, |from, references| {
            for (block, first) in references.chunks(BLOCK).zip((from..).step_by(BLOCK)) {
                let places = places(&mut rest, first, block.len());
                let level = |(level, missed)| LevelMisses { level, asked: &[], missed };
                let misses: Vec<_> = (0u8..).map(LevelId).zip(places.iter().map(Vec::as_slice)).map(level).collect();
                attribute(&mut collector.attribution, &mut collector.misses, block, &misses);
            }
            Ok::<_, StatsError>(())
        })?;
        if flush {
            collector.flush();
        }
        Ok(collector.stats())
    }
}

/// Counts references and what they missed at each level.
fn attribute(attribution: &mut Attribution, misses: &mut RowMisses, block: &[Reference], missed: &[LevelMisses<'_>]) {
    let batch = Batch { references: block, misses: missed, in_pieces: true, ..Batch::default() };
    if attribution.needs_care(block) {
        misses.batch(&batch, |reference| attribution.count::<true>(reference));
    } else {
        misses.batch(&batch, |reference| attribution.count::<false>(reference));
        attribution.passed(block.len());
    }
}

/// Takes from the front of each level's numbers those of the references from `first` on, as places among them.
#[expect(clippy::cast_possible_truncation, reason = "numbers are kept by their low half")]
fn places(rest: &mut [&[u32]], first: u64, length: usize) -> Vec<Vec<u16>> {
    let place = |number: &u32| number.wrapping_sub(first as u32);
    let level = |numbers: &mut &[u32]| {
        let here = numbers.iter().take_while(|number| (place(number) as usize) < length).count();
        let (these, later) = numbers.split_at(here);
        *numbers = later;
        these.iter().map(|number| place(number) as u16).collect()
    };
    rest.iter_mut().map(level).collect()
}

/// Which references missed.
#[derive(Clone, Debug)]
struct Missed {
    /// By level, the low halves of their numbers, in order: a demand miss each.
    levels: Vec<Vec<u32>>,
    kept: usize,
    /// Number of the next reference.
    next: u64,
    sharing: SharingWatch,
}

impl Missed {
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the low half is kept")]
    fn keep(&mut self, level: LevelId, number: u64) {
        self.levels[level.index()].push(number as u32);
        self.kept += 1;
    }
}

struct Watch<'a> {
    missed: &'a mut Missed,
    classifier: &'a mut Classifier,
}

impl Observer for Watch<'_> {
    #[inline(always)]
    fn event(&mut self, event: Event) {
        self.classifier.event(event);
        if let Event::Access { level, kind, hit: false, .. } = event
            && kind.is_demand()
        {
            self.missed.keep(level, self.missed.next - 1);
        } else {
            self.missed.sharing.event(event);
        }
    }

    #[inline(always)]
    fn wants(&self) -> Wants {
        let lists = Lists { misses: true, ..Lists::default() };
        self.classifier.wants().and(Wants { events: Events::Misses, gone: false, batches: Some(lists) })
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the low half is kept")]
    fn batch(&mut self, batch: &Batch<'_>) {
        self.classifier.batch(batch);
        for &LevelMisses { level, missed, .. } in batch.misses {
            let before = self.missed.levels[level.index()].len();
            for place in missed {
                self.missed.keep(level, self.missed.next + u64::from(*place));
            }
            // They come in no certain order; of a few the low halves may have begun anew.
            let next = self.missed.next as u32;
            self.missed.levels[level.index()][before..].sort_unstable_by_key(|number| number.wrapping_sub(next));
        }
        self.missed.next += batch.references.len() as u64;
    }

    #[inline(always)]
    fn begin(&mut self, _: &Reference) {
        self.missed.next += 1;
    }
}
