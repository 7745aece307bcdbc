//! Changed traces, played side by side: each reference is decoded once.

use super::AdviceError;
use super::rewrite::Rewrite;
use crate::analysis::whose::Whose;
use crate::reference::{Reference, ReferenceSource};
use crate::sim::config::HierarchyConfig;
use crate::sim::{ClassCounts, Classifier, Event, Hierarchy, MissClass, Observer, pass};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A change.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    pub(super) rewrite: Rewrite,
    pub(super) config: HierarchyConfig,
}

/// What came of it. Of regions that nobody asks for, of which there may be a million, the sum is kept.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    /// Regions that have a row, in their order; a last row is of all others.
    regions: Arc<[usize]>,
    /// Demand misses by level, row and class.
    classes: Vec<Vec<ClassCounts>>,
    /// Bytes read from memory by row.
    memory: Vec<u64>,
}

impl Outcome {
    /// All demand misses of a level.
    pub(super) fn misses(&self, level: usize) -> u64 {
        self.classes[level].iter().map(ClassCounts::total).sum()
    }

    /// Those of a region.
    pub(super) fn of(&self, level: usize, region: usize) -> u64 {
        self.classes[level][self.row(region)].total()
    }

    /// Bytes read from memory.
    pub(super) fn memory_bytes(&self) -> u64 {
        self.memory.iter().sum()
    }

    /// Those of a region's references.
    pub(super) fn memory_of(&self, region: usize) -> u64 {
        self.memory[self.row(region)]
    }

    /// Those of a region and a class.
    pub(super) fn of_class(&self, level: usize, region: usize, class: MissClass) -> u64 {
        self.classes[level][self.row(region)].get(class)
    }

    fn row(&self, region: usize) -> usize {
        debug_assert!(
            self.regions.contains(&region),
            "nobody asked for region {region}: it is in the sum of all others"
        );
        row(&self.regions, region)
    }
}

fn row(regions: &[usize], region: usize) -> usize {
    regions.binary_search(&region).unwrap_or(regions.len())
}

struct Counter {
    classifier: Classifier,
    row: usize,
    classes: Vec<Vec<ClassCounts>>,
    memory: Vec<u64>,
}

impl Observer for Counter {
    fn event(&mut self, event: Event) {
        self.classifier.begin();
        self.classifier.event(event);
        if let Event::Access { level, kind, hit: false, .. } = event
            && kind.is_demand()
            && let Some(class) = self.classifier.last_class(level)
        {
            *self.classes[level.index()][self.row].of(class) += 1;
        }
        if let Event::MemoryRead { bytes, .. } = event {
            self.memory[self.row] += bytes;
        }
    }
}

struct Played<'a> {
    trial: &'a Trial,
    hierarchy: Hierarchy,
    counter: Counter,
}

/// Plays all of them; outcomes tell of `asked`, regions by their places in the trace's tables.
pub(super) fn try_all(
    source: &dyn ReferenceSource,
    trials: &[Trial],
    asked: impl Iterator<Item = usize>,
) -> Result<Vec<Outcome>, AdviceError> {
    fn played(trial: &Trial, rows: usize) -> Result<Played<'_>, AdviceError> {
        let Trial { config, .. } = trial;
        let hierarchy = Hierarchy::new(config)?;
        let classes = vec![vec![ClassCounts::default(); rows]; config.levels.len()];
        let counter = Counter { classifier: Classifier::new(&hierarchy), row: 0, classes, memory: vec![0; rows] };
        Ok(Played { trial, hierarchy, counter })
    }
    let mut whose = Whose::new(source.tables());
    let regions: Arc<[usize]> = asked.collect::<BTreeSet<usize>>().into_iter().collect();
    let rows = regions.len() + 1;
    let mut all: Vec<Played<'_>> = trials.iter().map(|trial| played(trial, rows)).collect::<Result<_, _>>()?;
    pass(source, trials.iter().map(|trial| &trial.config), |_, part| {
        let of = part.iter().map(|reference| whose.begin(reference)).map(|region| (region, row(&regions, region)));
        let of: Vec<(usize, usize)> = of.collect();
        all.par_iter_mut().for_each(|played| played.play(part, &of));
        Ok::<_, AdviceError>(())
    })?;
    let outcome = |Counter { classes, memory, .. }| Outcome { regions: Arc::clone(&regions), classes, memory };
    Ok(all.into_iter().map(|played| outcome(played.counter)).collect())
}

impl Played<'_> {
    /// Plays references, each with its region and the row that counts it.
    fn play(&mut self, references: &[Reference], of: &[(usize, usize)]) {
        for (reference, (region, row)) in references.iter().zip(of) {
            if let Some(changed) = self.trial.rewrite.apply(reference, *region) {
                self.counter.row = *row;
                self.hierarchy.access(&changed, &mut self.counter);
            }
        }
    }
}
