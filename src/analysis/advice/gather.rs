//! What the patterns are looked for in: counts by region of one pass.

use super::AdviceError;
use crate::analysis::attributed::{Grouped, Grouping};
use crate::analysis::line_use::LineUse;
use crate::analysis::play;
use crate::analysis::touched_rows::TouchedRows;
use crate::analysis::whose::Whose;
use crate::reference::{Kind, Reference, ReferenceSource, Region, Tables};
use crate::sim::config::HierarchyConfig;
use crate::sim::{Classifier, Event, Hierarchy, MissClass, Observer};
use crate::units::LevelId;
use std::collections::BTreeMap;

/// Parts of elements that are told apart.
pub(super) const MOST_FIELDS: usize = 64;
/// Distances between neighbouring references of a line that are told apart.
const MOST_STRIDES: usize = 64;
/// Elements whose core is kept, by region.
pub(super) const MOST_ELEMENTS: u32 = 1 << 16;

/// How often each key was met, of the first few: mostly one or two, for which a tree would take ten times the room.
#[derive(Clone, Debug)]
pub(super) struct FewCounts<K>(Vec<(K, u64)>);

impl<K> Default for FewCounts<K> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: Copy + Ord> FewCounts<K> {
    /// Counts a key, as long as there are less than `most` others.
    fn count(&mut self, key: K, most: usize) {
        match self.0.binary_search_by_key(&key, |(key, _)| *key) {
            Ok(at) => self.0[at].1 += 1,
            Err(at) if self.0.len() < most => put(&mut self.0, at, (key, 1)),
            Err(_) => {}
        }
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Keys in their order, with their counts.
    pub(super) fn iter(&self) -> impl Iterator<Item = (K, u64)> {
        self.0.iter().copied()
    }
}

/// Puts one more into a list that mostly stays short: no room for others is taken before there are some.
fn put<T>(list: &mut Vec<T>, at: usize, one: T) {
    if list.len() < 4 {
        list.reserve_exact(1);
    }
    list.insert(at, one);
}

/// Misses of one level and class.
#[derive(Clone, Copy, Debug)]
struct Missed {
    level: u8,
    class: MissClass,
    count: u64,
    /// One of the references that missed so, of the later half: the last one whose count was a power of two.
    example: u64,
}

/// One region.
#[derive(Clone, Debug, Default)]
pub(super) struct OfRegion {
    pub(super) references: u64,
    pub(super) reads: u64,
    /// Of levels and classes that there are.
    missed: Vec<Missed>,
    /// Bytes that came to the innermost caches, and those of them that were touched.
    pub(super) fetched: u64,
    pub(super) used: u64,
    /// Parts of an element that are touched together: first byte and bytes, with how often.
    pub(super) fields: FewCounts<(u32, u32)>,
    /// How far neighbouring references of one source line lie from each other, with how often.
    strides: FewCounts<u64>,
    /// The same of references that missed a level by a conflict, by level; empty where none did.
    conflicting: Vec<FewCounts<u64>>,
    /// Lines that came back although no byte of theirs had been written by another.
    pub(super) falsely: u64,
}

impl OfRegion {
    fn at_level(&self, level: usize) -> impl Iterator<Item = &Missed> {
        self.missed.iter().filter(move |missed| usize::from(missed.level) == level)
    }

    pub(super) fn misses(&self, level: usize) -> u64 {
        self.at_level(level).map(|missed| missed.count).sum()
    }

    pub(super) fn class(&self, level: usize, class: MissClass) -> u64 {
        self.at_level(level).find(|missed| missed.class == class).map_or(0, |missed| missed.count)
    }

    pub(super) fn example(&self, level: usize, class: Option<MissClass>) -> Option<u64> {
        let wanted = self.at_level(level).filter(|missed| class.is_none_or(|class| missed.class == class));
        wanted.map(|missed| missed.example).max()
    }

    /// The distance that most neighbours have, if it is that of half of them.
    pub(super) fn stride(&self) -> Option<u64> {
        let all: u64 = self.strides.iter().map(|(_, count)| count).sum();
        let (stride, count) = self.strides.iter().max_by_key(|(_, count)| *count)?;
        (2 * count >= all).then_some(stride)
    }

    /// Of strides that conflict at a level, the power of two that most have, if it is that of a tenth of them.
    pub(super) fn power_of_two(&self, level: usize, least: u64) -> Option<u64> {
        let strides = self.conflicting.get(level)?;
        let all: u64 = strides.iter().map(|(_, count)| count).sum();
        let powers = strides.iter().filter(|(stride, _)| stride.is_power_of_two() && *stride >= least);
        let (stride, count) = powers.max_by_key(|(_, count)| *count)?;
        (10 * count >= all).then_some(stride)
    }

    /// Counts a miss of reference `number`, which lies `stride` from the one before.
    fn miss(&mut self, level: LevelId, class: MissClass, number: u64, stride: Option<u64>) {
        let same = |missed: &&mut Missed| missed.level == level.0 && missed.class == class;
        match self.missed.iter_mut().find(same) {
            Some(missed) => {
                missed.count += 1;
                if missed.count.is_power_of_two() {
                    missed.example = number;
                }
            }
            None => {
                let first = Missed { level: level.0, class, count: 1, example: number };
                let end = self.missed.len();
                put(&mut self.missed, end, first);
            }
        }
        if let (MissClass::Conflict, Some(stride)) = (class, stride) {
            if self.conflicting.len() <= level.index() {
                self.conflicting.resize(level.index() + 1, FewCounts::default());
            }
            self.conflicting[level.index()].count(stride, MOST_STRIDES);
        }
    }
}

/// Instructions of a source line that are told apart, for each region with rows.
const MOST_INSTRUCTIONS: usize = 16;

/// What one instruction does to a region with rows.
#[derive(Clone, Debug)]
struct Instruction {
    pc: u64,
    references: u64,
    /// The address of the last one.
    last: u64,
    /// How far most of them lie from the one before, as far as is known: a majority vote (Boyer and Moore, 1991), with the votes that are
    /// left, and how often it was voted for.
    stride: u64,
    votes: u64,
    steady: u64,
    /// Which 64ths of rows it touches.
    columns: u64,
}

impl Instruction {
    /// Takes a reference at a 64th of a row.
    fn take(&mut self, addr: u64, column: u32) {
        self.references += 1;
        self.columns |= 1 << column;
        let stride = std::mem::replace(&mut self.last, addr).abs_diff(addr);
        if self.votes == 0 {
            self.stride = stride;
        }
        if self.stride == stride {
            self.votes += 1;
            self.steady += 1;
        } else {
            self.votes -= 1;
        }
    }

    /// Whether most of its steps are a row of so many bytes, over most of the columns.
    fn goes_across(&self, row: u64) -> bool {
        self.stride == row && 10 * self.steady >= 8 * self.references && self.columns.count_ones() >= 32
    }
}

/// What a source line does to a region.
#[derive(Clone, Debug, Default)]
struct Referred {
    references: u64,
    /// The address of the last one.
    last: u64,
    /// Of a region with rows, its instructions, as far as they are told apart.
    instructions: Vec<Instruction>,
}

impl Referred {
    /// Takes a reference of an instruction, at a 64th of a row.
    fn take(&mut self, pc: u64, addr: u64, column: u32) {
        if let Some(known) = self.instructions.iter_mut().find(|known| known.pc == pc) {
            known.take(addr, column);
        } else if self.instructions.len() < MOST_INSTRUCTIONS {
            let columns = 1 << column;
            self.instructions.push(Instruction {
                pc,
                references: 1,
                last: addr,
                stride: 0,
                votes: 0,
                steady: 0,
                columns,
            });
        }
    }
}

/// References and misses by region and source line (a row of lines).
#[derive(Debug, Default)]
struct Pairs {
    /// Places of pairs in `referred`.
    places: BTreeMap<(usize, usize), usize>,
    referred: Vec<Referred>,
    levels: usize,
    /// Pair by pair, a count for each level.
    misses: Vec<u64>,
}

impl Pairs {
    /// Counts a reference; its pair, and the address of the one before.
    fn begin(&mut self, region: usize, line: usize, addr: u64) -> (usize, Option<u64>) {
        let next = self.referred.len();
        let place = *self.places.entry((region, line)).or_insert(next);
        if place == next {
            self.referred.push(Referred { references: 1, last: addr, ..Referred::default() });
            self.misses.resize(self.misses.len() + self.levels, 0);
            return (place, None);
        }
        let referred = &mut self.referred[place];
        referred.references += 1;
        (place, Some(std::mem::replace(&mut referred.last, addr)))
    }
}

/// What one pass found. Regions are in the order of the trace's tables; the last is what belongs to none.
pub(super) struct Gathered {
    regions: TouchedRows<OfRegion>,
    none: OfRegion,
    /// All misses, by level.
    misses: Vec<u64>,
    pairs: Pairs,
    /// By level: whose references pushed out whose lines, of different regions.
    pub(super) displaced: Vec<BTreeMap<(u32, u32), u64>>,
    /// Which core touches an element first, by region and element; empty with one core.
    cores: BTreeMap<(usize, u32), u16>,
    lines: Grouped,
    whose: Whose,
}

impl Gathered {
    pub(super) fn name(&self, region: usize) -> String {
        self.whose.name(region).to_owned()
    }

    /// What was found of a region.
    pub(super) fn region(&self, region: usize) -> &OfRegion {
        self.regions.get(region).unwrap_or(&self.none)
    }

    /// What was found of regions that anything refers to.
    pub(super) fn touched(&self) -> &[OfRegion] {
        self.regions.rows()
    }

    /// All misses of a level.
    pub(super) fn misses(&self, level: usize) -> u64 {
        self.misses[level]
    }

    pub(super) fn line(&self, row: usize) -> String {
        self.lines.name(row)
    }

    /// File and number of a source line, without its text.
    pub(super) fn place(&self, row: usize) -> String {
        let name = self.lines.name(row);
        let end = name.find("  ").unwrap_or(name.len());
        name[..end].to_owned()
    }

    /// Rows of the source lines that refer to a region, with their references of it and its misses at a level.
    pub(super) fn lines_of(&self, region: usize, level: usize) -> impl Iterator<Item = (usize, u64, u64)> {
        let Pairs { places, referred, levels, misses } = &self.pairs;
        let of = places.range((region, 0)..=(region, usize::MAX));
        of.map(move |((_, line), place)| (*line, referred[*place].references, misses[place * levels + level]))
    }

    /// Rows of the source lines that go down the columns of a region in rows of `row` bytes, and the instructions that do: those most of
    /// whose steps are a row, over most of its columns.
    pub(super) fn across(&self, region: usize, row: u64) -> impl Iterator<Item = (usize, Vec<u64>)> {
        let of = self.pairs.places.range((region, 0)..=(region, usize::MAX));
        of.filter_map(move |((_, line), place)| {
            let all = self.pairs.referred[*place].instructions.iter();
            let pcs: Vec<u64> = all.filter(|one| one.pc != 0 && one.goes_across(row)).map(|one| one.pc).collect();
            (!pcs.is_empty()).then_some((*line, pcs))
        })
    }

    /// Misses at a level of what a source line does to a region.
    pub(super) fn line_misses(&self, region: usize, line: usize, level: usize) -> u64 {
        let Pairs { places, levels, misses, .. } = &self.pairs;
        places.get(&(region, line)).map_or(0, |place| misses[place * levels + level])
    }

    /// The core that touches an element of a region first, among [`MOST_ELEMENTS`].
    pub(super) fn core(&self, region: usize, element: u64) -> Option<u16> {
        self.cores.get(&(region, u32::try_from(element).ok()?)).copied()
    }
}

struct Gatherer<'a> {
    classifier: Classifier,
    line_use: LineUse,
    lines: Grouped,
    whose: Whose,
    tables: &'a Tables,
    line_bytes: Vec<u64>,
    /// Bytes of a row, of regions with two extents; else 0.
    rows: Vec<u64>,
    found: TouchedRows<OfRegion>,
    pairs: Pairs,
    displaced: Vec<BTreeMap<(u32, u32), u64>>,
    /// Whether there are other cores to share lines with.
    is_shared: bool,
    cores: BTreeMap<(usize, u32), u16>,
    /// The reference under way: number, pair, region.
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
        let (pair, before) = self.pairs.begin(region, line, reference.addr);
        self.now = (number, pair, region);
        let found = self.found.at(region);
        found.references += 1;
        found.reads += u64::from(reference.kind != Kind::Write);
        let row_bytes = self.rows.get(region).copied().unwrap_or(0);
        self.stride = before.map(|before| before.abs_diff(reference.addr)).filter(|stride| *stride > 0);
        if let Some(stride) = self.stride {
            found.strides.count(stride, MOST_STRIDES);
        }
        let Some(of) = self.tables.regions.get(region) else { return };
        if row_bytes > 0 {
            let column = u128::from((reference.addr - of.base) % row_bytes) * 64 / u128::from(row_bytes);
            self.pairs.referred[pair].take(reference.pc, reference.addr, u32::try_from(column).unwrap_or(0));
        }
        let (offset, elem_bytes) = (reference.addr - of.base, of.elem_bytes.max(1));
        let (element, within) = (offset / u64::from(elem_bytes), offset % u64::from(elem_bytes));
        found.fields.count((u32::try_from(within).unwrap_or(u32::MAX), reference.size), MOST_FIELDS);
        if self.is_shared
            && let Some(element) = u32::try_from(element).ok().filter(|element| *element < MOST_ELEMENTS)
        {
            self.cores.entry((region, element)).or_insert(reference.core);
        }
    }

    fn event(&mut self, event: Event) {
        self.classifier.begin();
        self.classifier.event(event);
        self.line_use.event(event);
        let (number, pair, region) = self.now;
        match event {
            Event::Access { level, kind, hit: false, .. } if kind.is_demand() => {
                if let Some(class) = self.classifier.last_class(level) {
                    self.found.at(region).miss(level, class, number, self.stride);
                }
                self.pairs.misses[pair * self.pairs.levels + level.index()] += 1;
            }
            Event::Evict { level, line, .. } => {
                let bytes = self.line_bytes[level.index()];
                let of = self.whose.of_line(line.0.saturating_mul(bytes), bytes);
                if let (Ok(by), Ok(of)) = (u32::try_from(region), u32::try_from(of))
                    && by != of
                {
                    *self.displaced[level.index()].entry((by, of)).or_insert(0) += 1;
                }
            }
            Event::Sharing { falsely: true, .. } => self.found.at(region).falsely += 1,
            _ => {}
        }
    }
}

/// Bytes of a row of a region with two extents; 0 = it has no such rows.
pub(super) fn row_bytes(region: &Region) -> u64 {
    let [rows, columns] = region.shape.as_slice() else { return 0 };
    let extent = if region.row_major { columns } else { rows };
    extent.saturating_mul(u64::from(region.elem_bytes))
}

/// Plays a trace and counts.
pub(super) fn gather(source: &dyn ReferenceSource, config: &HierarchyConfig) -> Result<Gathered, AdviceError> {
    let (tables, levels) = (source.tables(), config.levels.len());
    let (hierarchy, whose) = (Hierarchy::new(config)?, Whose::new(tables));
    let mut gatherer = Gatherer {
        classifier: Classifier::new(&hierarchy),
        line_use: LineUse::of(config.levels.iter().map(|level| level.line).collect(), whose.clone()),
        lines: Grouped::new(Grouping::Line, tables, hierarchy.level_geometry(LevelId(0))),
        tables,
        line_bytes: config.levels.iter().map(|level| u64::from(level.line)).collect(),
        rows: tables.regions.iter().map(row_bytes).collect(),
        found: TouchedRows::new(whose.rows()),
        whose,
        pairs: Pairs { levels, ..Pairs::default() },
        displaced: vec![BTreeMap::new(); levels],
        is_shared: config.cores > 1,
        cores: BTreeMap::new(),
        now: (0, 0, 0),
        stride: None,
        begun: 0,
    };
    play(source, config, &mut gatherer)?;
    let Gatherer { line_use, lines, found: mut regions, pairs, displaced, cores, whose, .. } = gatherer;
    for (region, row) in line_use.into_by_region().iter() {
        let found = regions.at(region);
        (found.fetched, found.used) = (row.bytes_fetched, row.bytes_used);
    }
    let all = |level| regions.rows().iter().map(|region| region.misses(level)).sum();
    let misses = (0..levels).map(all).collect();
    Ok(Gathered { regions, none: OfRegion::default(), misses, pairs, displaced, cores, lines, whose })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_that_is_touched_takes_little_room() {
        // A million of them may be touched: a tree or a list with room for four in each would take a kilobyte.
        assert!(size_of::<OfRegion>() <= 144, "{} bytes", size_of::<OfRegion>());
        let mut found = OfRegion::default();
        found.fields.count((0, 8), MOST_FIELDS);
        for level in [0, 1, 2].map(LevelId) {
            found.miss(level, MissClass::Compulsory, 5, None);
        }
        assert_eq!((found.fields.0.capacity(), found.strides.0.capacity(), found.conflicting.capacity()), (1, 0, 0));
        assert!(found.missed.capacity() <= 3 && size_of::<Missed>() <= 24);
    }

    #[test]
    fn few_keys_are_counted_in_their_order_and_no_others() {
        let mut few = FewCounts::default();
        for key in [9u64, 3, 9, 5, 3, 9] {
            few.count(key, 2);
        }
        assert_eq!(few.iter().collect::<Vec<_>>(), [(3, 2), (9, 3)]);
        assert_eq!(few.len(), 2);
    }

    #[test]
    fn the_example_of_a_class_is_the_one_in_the_middle_of_its_misses() {
        let mut found = OfRegion::default();
        (0..6).for_each(|number| found.miss(LevelId(1), MissClass::Capacity, 10 + number, Some(64)));
        found.miss(LevelId(1), MissClass::Conflict, 12, Some(64));
        assert_eq!((found.misses(0), found.misses(1), found.class(1, MissClass::Capacity)), (0, 7, 6));
        assert_eq!(found.example(1, None), Some(13));
        assert_eq!(found.example(1, Some(MissClass::Conflict)), Some(12));
        assert_eq!(
            [found.power_of_two(0, 2), found.power_of_two(1, 2), found.power_of_two(1, 65)],
            [None, Some(64), None]
        );
    }
}
