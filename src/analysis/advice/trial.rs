//! Changed traces, played side by side: each reference is decoded once.

use super::AdviceError;
use super::gather::place;
use super::rewrite::Rewrite;
use crate::analysis::whose::Whose;
use crate::reference::{Reference, ReferenceSource};
use crate::sim::config::HierarchyConfig;
use crate::sim::{Classifier, Event, Hierarchy, Observer, pass};
use rayon::prelude::*;

/// A change.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    pub(super) rewrite: Rewrite,
    pub(super) config: HierarchyConfig,
}

/// What came of it.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    /// Demand misses by level, region and class.
    classes: Vec<Vec<[u64; 4]>>,
    /// Bytes read from memory by region.
    memory: Vec<u64>,
}

impl Outcome {
    /// All demand misses of a level.
    pub(super) fn misses(&self, level: usize) -> u64 {
        self.classes[level].iter().flatten().sum()
    }

    /// Those of a region.
    pub(super) fn of(&self, level: usize, region: usize) -> u64 {
        self.classes[level][region].iter().sum()
    }

    /// Bytes read from memory.
    pub(super) fn memory_bytes(&self) -> u64 {
        self.memory.iter().sum()
    }

    /// Those of a region's references.
    pub(super) fn memory_of(&self, region: usize) -> u64 {
        self.memory[region]
    }

    /// Those of a region and a class.
    pub(super) fn of_class(&self, level: usize, region: usize, class: crate::sim::MissClass) -> u64 {
        self.classes[level][region][place(class)]
    }
}

struct Counter {
    classifier: Classifier,
    region: usize,
    classes: Vec<Vec<[u64; 4]>>,
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
            self.classes[level.index()][self.region][place(class)] += 1;
        }
        if let Event::MemoryRead { bytes, .. } = event {
            self.memory[self.region] += bytes;
        }
    }
}

struct Played<'a> {
    trial: &'a Trial,
    hierarchy: Hierarchy,
    counter: Counter,
}

/// Plays all of them.
pub(super) fn try_all(source: &dyn ReferenceSource, trials: &[Trial]) -> Result<Vec<Outcome>, AdviceError> {
    fn played(trial: &Trial, rows: usize) -> Result<Played<'_>, AdviceError> {
        let Trial { config, .. } = trial;
        let hierarchy = Hierarchy::new(config)?;
        let classes = vec![vec![[0; 4]; rows]; config.levels.len()];
        let counter = Counter { classifier: Classifier::new(&hierarchy), region: 0, classes, memory: vec![0; rows] };
        Ok(Played { trial, hierarchy, counter })
    }
    let mut whose = Whose::new(source.tables());
    let rows = whose.rows();
    let mut all: Vec<Played<'_>> = trials.iter().map(|trial| played(trial, rows)).collect::<Result<_, _>>()?;
    pass(source, trials.iter().map(|trial| &trial.config), |_, part| {
        let of: Vec<usize> = part.iter().map(|reference| whose.begin(reference)).collect();
        all.par_iter_mut().for_each(|played| played.play(part, &of));
        Ok::<_, AdviceError>(())
    })?;
    let outcome = |Counter { classes, memory, .. }| Outcome { classes, memory };
    Ok(all.into_iter().map(|played| outcome(played.counter)).collect())
}

impl Played<'_> {
    fn play(&mut self, references: &[Reference], of: &[usize]) {
        for (reference, region) in references.iter().zip(of) {
            if let Some(changed) = self.trial.rewrite.apply(reference, *region) {
                self.counter.region = *region;
                self.hierarchy.access(&changed, &mut self.counter);
            }
        }
    }
}
