//! What the patterns are looked for in: counts by region of one pass.

use super::AdviceError;
use crate::analysis::attributed::{Grouped, Grouping};
use crate::analysis::line_use::LineUse;
use crate::analysis::play;
use crate::analysis::whose::Whose;
use crate::reference::{Kind, Reference, ReferenceSource, Tables};
use crate::sim::config::HierarchyConfig;
use crate::sim::{Classifier, Event, Hierarchy, MissClass, Observer};
use crate::units::LevelId;
use std::collections::BTreeMap;

/// Parts of elements that are told apart.
const MOST_FIELDS: usize = 64;
/// Distances between neighbouring references of a line that are told apart.
const MOST_STRIDES: usize = 64;
/// Elements whose core is kept, by region.
const MOST_ELEMENTS: usize = 1 << 16;

/// One region.
#[derive(Clone, Debug, Default)]
pub(super) struct OfRegion {
    pub(super) references: u64,
    pub(super) reads: u64,
    /// By level and class: compulsory, capacity, conflict, coherence.
    pub(super) classes: Vec<[u64; 4]>,
    /// A reference that missed, by level and class: the one in the middle of those so far.
    examples: Vec<[Option<u64>; 4]>,
    /// Bytes that came to the innermost caches, and those of them that were touched.
    pub(super) fetched: u64,
    pub(super) used: u64,
    /// Parts of an element that are touched together: first byte and bytes, with how often.
    pub(super) fields: BTreeMap<(u64, u64), u64>,
    /// How far neighbouring references of one source line lie from each other, with how often.
    pub(super) strides: BTreeMap<u64, u64>,
    /// The same of references that missed a level by a conflict, by level.
    pub(super) conflicting: Vec<BTreeMap<u64, u64>>,
    /// Lines that came back although no byte of theirs had been written by another.
    pub(super) falsely: u64,
    /// Which core touches an element first.
    pub(super) cores: BTreeMap<u64, u16>,
}

impl OfRegion {
    fn new(levels: usize) -> Self {
        Self {
            classes: vec![[0; 4]; levels],
            examples: vec![[None; 4]; levels],
            conflicting: vec![BTreeMap::new(); levels],
            ..Self::default()
        }
    }

    pub(super) fn misses(&self, level: usize) -> u64 {
        self.classes.get(level).map_or(0, |classes| classes.iter().sum())
    }

    pub(super) fn class(&self, level: usize, class: MissClass) -> u64 {
        self.classes.get(level).map_or(0, |classes| classes[place(class)])
    }

    pub(super) fn example(&self, level: usize, class: Option<MissClass>) -> Option<u64> {
        let examples = self.examples.get(level)?;
        class.map_or_else(|| examples.iter().flatten().copied().max(), |class| examples[place(class)])
    }

    /// The distance that most neighbours have, if it is that of half of them.
    pub(super) fn stride(&self) -> Option<u64> {
        let all: u64 = self.strides.values().sum();
        let (stride, count) = self.strides.iter().max_by_key(|(_, count)| **count)?;
        (2 * count >= all).then_some(*stride)
    }
}

/// Of strides that conflict, the power of two that most have, if it is that of a tenth of them.
pub(super) fn power_of_two(strides: &BTreeMap<u64, u64>, least: u64) -> Option<u64> {
    let all: u64 = strides.values().sum();
    let powers = strides.iter().filter(|(stride, _)| stride.is_power_of_two() && **stride >= least);
    let (stride, count) = powers.max_by_key(|(_, count)| **count)?;
    (10 * count >= all).then_some(*stride)
}

pub(super) fn place(class: MissClass) -> usize {
    match class {
        MissClass::Compulsory => 0,
        MissClass::Capacity => 1,
        MissClass::Conflict => 2,
        MissClass::Coherence => 3,
    }
}

/// What one pass found. Regions are in the order of the trace's tables; the last is what belongs to none.
pub(super) struct Gathered {
    regions: Vec<Option<Box<OfRegion>>>,
    none: OfRegion,
    /// Misses of a source line (a row of `lines`) at each level, by region.
    pub(super) pairs: BTreeMap<(usize, usize), (u64, Vec<u64>)>,
    /// By level: whose references pushed out whose lines.
    pub(super) displaced: Vec<BTreeMap<(usize, usize), u64>>,
    lines: Grouped,
    whose: Whose,
}

impl Gathered {
    pub(super) fn name(&self, region: usize) -> String {
        self.whose.name(region).to_owned()
    }

    /// What was found of a region.
    pub(super) fn region(&self, region: usize) -> &OfRegion {
        self.regions[region].as_deref().unwrap_or(&self.none)
    }

    /// What was found of regions that anything refers to.
    pub(super) fn touched(&self) -> impl Iterator<Item = &OfRegion> {
        self.regions.iter().flatten().map(Box::as_ref)
    }

    /// All misses of a level.
    pub(super) fn misses(&self, level: usize) -> u64 {
        self.touched().map(|region| region.misses(level)).sum()
    }

    pub(super) fn line(&self, row: usize) -> String {
        self.lines.name(row)
    }
}

struct Gatherer<'a> {
    classifier: Classifier,
    line_use: LineUse,
    lines: Grouped,
    whose: Whose,
    tables: &'a Tables,
    line_bytes: Vec<u64>,
    /// Of regions that were referred to so far: there may be a million others.
    found: Vec<Option<Box<OfRegion>>>,
    pairs: BTreeMap<(usize, usize), (u64, Vec<u64>)>,
    displaced: Vec<BTreeMap<(usize, usize), u64>>,
    /// Where each line of the source was last, by region.
    last: BTreeMap<(usize, usize), u64>,
    /// The reference under way: number, row of its line, region.
    now: (u64, usize, usize),
    /// How far it lies from the one before of its line and region.
    stride: Option<u64>,
    begun: u64,
}

impl Observer for Gatherer<'_> {
    fn begin(&mut self, reference: &Reference) {
        let number = self.begun;
        self.begun += 1;
        self.line_use.begin(reference);
        let (line, region) = (self.lines.row(reference, number), self.whose.begin(reference));
        self.now = (number, line, region);
        self.pairs.entry((line, region)).or_insert_with(|| (0, vec![0; self.line_bytes.len()])).0 += 1;
        let found = self.found[region].get_or_insert_with(|| Box::new(OfRegion::new(self.line_bytes.len())));
        found.references += 1;
        found.reads += u64::from(reference.kind != Kind::Write);
        let before = self.last.insert((line, region), reference.addr);
        let stride = before.map(|before| before.abs_diff(reference.addr)).filter(|stride| *stride > 0);
        count(&mut found.strides, stride, MOST_STRIDES);
        self.stride = stride;
        let Some(region) = self.tables.regions.get(region) else { return };
        let (offset, element) = (reference.addr - region.base, u64::from(region.elem_bytes.max(1)));
        count(&mut found.fields, Some((offset % element, u64::from(reference.size))), MOST_FIELDS);
        if found.cores.len() < MOST_ELEMENTS {
            found.cores.entry(offset / element).or_insert(reference.core);
        }
    }

    fn event(&mut self, event: Event) {
        self.classifier.begin();
        self.classifier.event(event);
        self.line_use.event(event);
        let (number, line, region) = self.now;
        match event {
            Event::Access { level, kind, hit: false, .. } if kind.is_demand() => {
                let at = level.index();
                if let (Some(class), Some(found)) = (self.classifier.last_class(level), &mut self.found[region]) {
                    let count = &mut found.classes[at][place(class)];
                    *count += 1;
                    if count.is_power_of_two() {
                        found.examples[at][place(class)] = Some(number);
                    }
                    if class == MissClass::Conflict {
                        self::count(&mut found.conflicting[at], self.stride, MOST_STRIDES);
                    }
                }
                if let Some((_, misses)) = self.pairs.get_mut(&(line, region)) {
                    misses[at] += 1;
                }
            }
            Event::Evict { level, line, .. } => {
                let bytes = self.line_bytes[level.index()];
                let of = self.whose.of_line(line.0.saturating_mul(bytes), bytes);
                *self.displaced[level.index()].entry((region, of)).or_insert(0) += 1;
            }
            Event::Sharing { falsely: true, .. } => {
                self.found[region].iter_mut().for_each(|found| found.falsely += 1);
            }
            _ => {}
        }
    }
}

/// Counts what is there, as long as there is little of it.
fn count<K: Ord>(counts: &mut BTreeMap<K, u64>, key: Option<K>, most: usize) {
    let Some(key) = key else { return };
    if counts.len() < most || counts.contains_key(&key) {
        *counts.entry(key).or_insert(0) += 1;
    }
}

/// Plays a trace and counts.
pub(super) fn gather(source: &dyn ReferenceSource, config: &HierarchyConfig) -> Result<Gathered, AdviceError> {
    let (tables, levels) = (source.tables(), config.levels.len());
    let (hierarchy, whose) = (Hierarchy::new(config)?, Whose::new(tables));
    let mut gatherer = Gatherer {
        classifier: Classifier::new(&hierarchy),
        line_use: LineUse::of(config.levels.iter().map(|level| level.line).collect(), whose.clone()),
        lines: Grouped::new(Grouping::Line, tables, hierarchy.level_geometry(LevelId(0))),
        whose,
        tables,
        line_bytes: config.levels.iter().map(|level| u64::from(level.line)).collect(),
        found: vec![None; tables.regions.len() + 1],
        pairs: BTreeMap::new(),
        displaced: vec![BTreeMap::new(); levels],
        last: BTreeMap::new(),
        now: (0, 0, 0),
        stride: None,
        begun: 0,
    };
    play(source, config, &mut gatherer)?;
    let Gatherer { line_use, lines, found: mut regions, pairs, displaced, whose, .. } = gatherer;
    for (region, row) in line_use.by_region() {
        let found = regions[region].get_or_insert_with(|| Box::new(OfRegion::new(levels)));
        (found.fetched, found.used) = (row.bytes_fetched, row.bytes_used);
    }
    Ok(Gathered { regions, none: OfRegion::new(levels), pairs, displaced, lines, whose })
}
