//! The patterns: where counts suggest one, and what would be done about it.

use super::Pattern;
use super::gather::{Gathered, MOST_ELEMENTS, MOST_FIELDS, OfRegion, row_bytes};
use super::rewrite::{Across, Rewrite};
use super::trial::Trial;
use crate::reference::{Region, Tables};
use crate::sim::MissClass;
use crate::sim::config::{HierarchyConfig, Ways};
use crate::units::grouped;
use std::collections::BTreeMap;

/// Misses below which nothing is said.
pub(super) const LEAST: u64 = 64;
/// Where changed arrays are put: where no program has anything, and so that their low bits may stay as they are.
const FAR: u64 = 1 << 60;
const ROOM: u64 = 1 << 40;
const LOW: u64 = (1 << 30) - 1;

/// A change that might pay.
#[derive(Clone, Debug)]
pub(super) struct Proposal {
    pub(super) pattern: Pattern,
    pub(super) level: usize,
    /// What it is about, the region whose misses count first.
    pub(super) regions: Vec<usize>,
    pub(super) change: String,
    /// The source line that it changes, where it is one: a row of the gathered lines.
    pub(super) line: Option<usize>,
    /// The change as it is told, then the same with the array elsewhere; after these, what else has to be known.
    pub(super) trials: Vec<Trial>,
    /// How many of them are the change.
    pub(super) places: usize,
}

/// Shares of a whole, in whole numbers.
pub(super) fn is_share(part: u64, whole: u64, percent: u64) -> bool {
    u128::from(part) * 100 >= u128::from(whole) * u128::from(percent)
}

/// The nth area for changed arrays, with the low bits of `base`, `shift` bytes on.
fn area(n: u64, base: u64, shift: u64) -> u64 {
    FAR + n * ROOM + (base & LOW) + shift
}

struct Proposing<'a> {
    gathered: &'a Gathered,
    config: &'a HierarchyConfig,
    regions: &'a [Region],
    found: Vec<Proposal>,
}

/// All that the counts allow.
pub(super) fn propose(gathered: &Gathered, config: &HierarchyConfig, tables: &Tables) -> Vec<Proposal> {
    let mut proposing = Proposing { gathered, config, regions: &tables.regions, found: Vec::new() };
    for level in 0..config.levels.len() {
        for region in 0..tables.regions.len() {
            let misses = gathered.region(region).misses(level);
            proposing.conflicts(level, region);
            if misses >= LEAST && is_share(misses, gathered.misses(level), 10) {
                proposing.column_walk(level, region);
                proposing.structures(level, region);
            }
            if level == 0 {
                proposing.false_sharing(region);
                proposing.store_stream(region);
            }
        }
        proposing.loop_order(level);
        proposing.just_over(level);
        proposing.streams(level);
    }
    proposing.found
}

impl Proposing<'_> {
    fn line(&self, level: usize) -> u64 {
        u64::from(self.config.levels[level].line)
    }

    fn widest(&self) -> u64 {
        self.config.levels.iter().map(|level| u64::from(level.line)).max().unwrap_or(64)
    }

    /// A change of addresses, played with the array at several places.
    fn put(
        &mut self,
        pattern: Pattern,
        level: usize,
        regions: Vec<usize>,
        change: String,
        rewrite: &dyn Fn(u64) -> Rewrite,
    ) {
        let line = self.line(level);
        let shifts = [0, 5 * line, 11 * line, 3 * line + line / 2];
        let trial = |shift| Trial { rewrite: rewrite(shift), config: self.config.clone() };
        let trials = shifts.into_iter().map(trial).collect();
        self.found.push(Proposal { pattern, level, regions, change, line: None, trials, places: shifts.len() });
    }

    /// Bytes of a row: of the array as it was declared, else the distance at which it is walked.
    fn row(&self, region: usize) -> Option<u64> {
        let Region { shape, elem_bytes, row_major, strides, bytes, .. } = &self.regions[region];
        if !strides.is_empty() {
            return None;
        }
        let extent = if *row_major { shape.last() } else { shape.first() };
        if let (true, Some(extent)) = (shape.len() > 1, extent) {
            return extent.checked_mul(u64::from(*elem_bytes)).filter(|row| *row > 0);
        }
        let stride = self.gathered.region(region).stride()?;
        (stride.is_power_of_two() && stride <= bytes / 4 && shape.is_empty()).then_some(stride)
    }

    fn conflicts(&mut self, level: usize, region: usize) {
        let conflicts = self.gathered.region(region).class(level, MissClass::Conflict);
        if conflicts < LEAST || !is_share(conflicts, self.gathered.misses(level), 5) {
            return;
        }
        let Region { base, elem_bytes, name, .. } = &self.regions[region];
        let (base, element, line) = (*base, u64::from(*elem_bytes), self.line(level));
        if let Some(row) = self.row(region) {
            let mut pads = vec![element, line];
            pads.retain(|pad| *pad > 0 && *pad <= line);
            pads.dedup();
            for pad in pads {
                let change = format!("with {pad} bytes more a row of {name}");
                let rewrite = |shift| Rewrite::Pad { region, base, row, pad, to: area(0, base, shift) };
                self.put(Pattern::StrideConflicts, level, vec![region], change, &rewrite);
            }
            return;
        }
        for part in self.parts(level, region) {
            for pad in [line, 3 * line] {
                let change = format!("with {pad} unused bytes after each {} bytes of {name}", grouped(part));
                let rewrite = |shift| Rewrite::Pad { region, base, row: part, pad, to: area(0, base, shift) };
                self.put(Pattern::StrideConflicts, level, vec![region], change, &rewrite);
            }
        }
    }

    /// Bytes of parts that a memory without rows may have, so that the same bytes of all parts fall into the same sets: the distance at which
    /// it is walked where it conflicts, else what one way of a cache holds.
    fn parts(&self, level: usize, region: usize) -> Vec<u64> {
        let Region { shape, strides, bytes, .. } = &self.regions[region];
        if shape.len() > 1 || !strides.is_empty() {
            return Vec::new();
        }
        let walked = self.gathered.region(region).power_of_two(level, 2 * self.line(level));
        let mut parts = match walked {
            Some(stride) => vec![stride],
            None => [0, level].into_iter().filter_map(|level| self.way(level)).collect(),
        };
        parts.retain(|part| part.is_power_of_two() && *part <= bytes / 4);
        parts.dedup();
        parts
    }

    /// Bytes of one way of a level.
    fn way(&self, level: usize) -> Option<u64> {
        let config = &self.config.levels[level];
        match config.ways {
            Ways::Count(ways) if ways > 0 => Some(config.size / u64::from(ways)),
            _ => None,
        }
    }

    fn column_walk(&mut self, level: usize, region: usize) {
        let found = self.gathered.region(region);
        let Region { shape, elem_bytes, row_major, strides, offset, base, name, .. } = &self.regions[region];
        let (base, element) = (*base, u64::from(*elem_bytes));
        let [.., rows, columns] = shape.as_slice() else { return };
        let (mut rows, mut columns) = (*rows, *columns);
        if !strides.is_empty() || *offset != 0 || !*row_major && shape.len() > 2 {
            return;
        }
        if !*row_major {
            std::mem::swap(&mut rows, &mut columns);
        }
        let row = columns.saturating_mul(element);
        let across = found.stride().is_some_and(|stride| row > 0 && stride % row == 0 && row >= self.line(level));
        if across && is_share(found.fetched, found.used, 200) {
            let change = format!("with {name} stored the other way round");
            let rewrite = |shift| Rewrite::Transpose { region, base, rows, columns, element, to: area(0, base, shift) };
            self.put(Pattern::ColumnWalk, level, vec![region], change, &rewrite);
        }
    }

    /// Source lines that walk arrays across their rows: all arrays of a line together, since its loops are those of all of them.
    fn loop_order(&mut self, level: usize) {
        let mut lines: BTreeMap<usize, Vec<Across>> = BTreeMap::new();
        for (region, Region { shape, elem_bytes, row_major, strides, offset, base, .. }) in
            self.regions.iter().enumerate()
        {
            let (base, element) = (*base, u64::from(*elem_bytes));
            let [rows, columns] = shape.as_slice() else { continue };
            let (mut rows, mut columns) = (*rows, *columns);
            if !row_major {
                std::mem::swap(&mut rows, &mut columns);
            }
            let row = row_bytes(&self.regions[region]);
            if !strides.is_empty() || *offset != 0 || row < self.line(level) {
                continue;
            }
            for (line, pcs) in self.gathered.across(region, row) {
                lines.entry(line).or_default().push(Across { region, base, rows, columns, element, pcs });
            }
        }
        for (line, mut arrays) in lines {
            let misses = |array: &Across| self.gathered.line_misses(array.region, line, level);
            arrays.sort_by_key(|array| std::cmp::Reverse(misses(array)));
            let all = arrays.iter().map(misses).sum();
            if all < LEAST || !is_share(all, self.gathered.misses(level), 10) {
                continue;
            }
            let regions: Vec<usize> = arrays.iter().map(|array| array.region).collect();
            let change = format!("with {} walked along rows by {}", self.names(&regions), self.gathered.place(line));
            let trials = vec![Trial { rewrite: Rewrite::Across(arrays), config: self.config.clone() }];
            let pattern = Pattern::LoopOrder;
            self.found.push(Proposal { pattern, level, regions, change, line: Some(line), trials, places: 1 });
        }
    }

    fn structures(&mut self, level: usize, region: usize) {
        let found = self.gathered.region(region);
        let Region { elem_bytes, base, name, .. } = &self.regions[region];
        let (base, element) = (*base, u64::from(*elem_bytes));
        let fields = fields(found);
        let touched: u64 = fields.iter().map(|(_, bytes)| bytes).sum();
        let narrow = fields.iter().all(|(first, bytes)| 2 * bytes <= element && first + bytes <= element);
        if element < 16 || fields.is_empty() || !narrow || !is_share(found.fetched, found.used, 200) {
            return;
        }
        let change = match fields.len() {
            1 => format!("with the {touched} bytes of each element of {name} that are used in an array of their own"),
            n => format!("with each of the {n} fields of {name} that are used in an array of its own"),
        };
        let rewrite = |shift| {
            let put = |(n, (first, bytes)): (u64, &(u64, u64))| (*first, *bytes, area(n, base, shift + 7 * 64 * n));
            Rewrite::Split { region, base, element, fields: (0..).zip(&fields).map(put).collect() }
        };
        self.put(Pattern::ArrayOfStructures, level, vec![region], change, &rewrite);
    }

    fn false_sharing(&mut self, region: usize) {
        let found = self.gathered.region(region);
        let Region { elem_bytes, base, name, bytes, .. } = &self.regions[region];
        let (base, element, line) = (*base, u64::from((*elem_bytes).max(1)), self.widest());
        let elements = bytes.div_ceil(element);
        if found.falsely < LEAST / 2 || elements > u64::from(MOST_ELEMENTS) {
            return;
        }
        // Each run of elements that one core has begins with a line.
        let starts = |to: u64| {
            let (mut at, mut last) = (to, None);
            let start = |number: u64| {
                let core = self.gathered.core(region, number).or(last);
                if core != last {
                    at = at.div_ceil(line) * line;
                    last = core;
                }
                at += element;
                at - element
            };
            (0..elements).map(start).collect::<Vec<_>>()
        };
        let change = format!("with what each core has of {name} in lines of its own");
        let rewrite = |shift: u64| Rewrite::Spread { region, base, element, starts: starts(FAR + shift / line * line) };
        self.put(Pattern::FalseSharing, 0, vec![region], change, &rewrite);
    }

    fn store_stream(&mut self, region: usize) {
        let found = self.gathered.region(region);
        let level = self.config.levels.len() - 1;
        let misses = found.misses(level);
        let written = is_share(found.references, found.reads, 2_000) && is_share(found.used, found.fetched, 90);
        if misses < LEAST || !written || !is_share(misses, self.gathered.misses(level), 10) {
            return;
        }
        let mut config = self.config.clone();
        config.order.fetch_on_full_line_write = false;
        let (name, line) = (&self.regions[region].name, self.widest());
        self.found.push(Proposal {
            pattern: Pattern::StoreStream,
            level,
            line: None,
            regions: vec![region],
            change: format!("with stores of whole lines to {name}"),
            trials: vec![Trial { rewrite: Rewrite::WholeLines { region, line }, config }],
            places: 1,
        });
    }

    fn just_over(&mut self, level: usize) {
        let all = self.gathered.misses(level);
        let of = |class| self.gathered.touched().iter().map(|region| region.class(level, class)).sum::<u64>();
        let (compulsory, again) = (of(MissClass::Compulsory), of(MissClass::Capacity) + of(MissClass::Conflict));
        let Ways::Count(ways) = self.config.levels[level].ways else { return };
        if again < LEAST || is_share(compulsory, all, 25) {
            return;
        }
        let share = |region: &usize| {
            let found = self.gathered.region(*region);
            let own = found.class(level, MissClass::Capacity) + found.class(level, MissClass::Conflict);
            is_share(own, again, 10) && self.regions[*region].elem_bytes >= 2
        };
        let mut regions: Vec<usize> = (0..self.regions.len()).filter(share).collect();
        regions.sort_by_key(|region| std::cmp::Reverse(self.gathered.region(*region).misses(level)));
        if regions.is_empty() {
            return;
        }
        let change = format!("with elements of half the bytes in {}", self.names(&regions));
        let rewrite = |shift| {
            let put = |(n, region): (u64, &usize)| {
                (*region, self.regions[*region].base, area(n, self.regions[*region].base, shift))
            };
            Rewrite::Halve((0..).zip(&regions).map(put).collect())
        };
        let halves: Vec<Rewrite> = [0, 5, 11].iter().map(|n| rewrite(n * self.line(level))).collect();
        let mut trials: Vec<Trial> =
            halves.into_iter().map(|rewrite| Trial { rewrite, config: self.config.clone() }).collect();
        let places = trials.len();
        for more in larger(ways) {
            let mut config = self.config.clone();
            let own = &mut config.levels[level];
            own.size = own.size / u64::from(ways) * u64::from(more);
            own.ways = Ways::Count(more);
            if config.check().is_ok() {
                trials.push(Trial { rewrite: Rewrite::None, config });
            }
        }
        self.found.push(Proposal { pattern: Pattern::JustOver, level, regions, change, line: None, trials, places });
    }

    fn streams(&mut self, level: usize) {
        let known = self.regions.len();
        let again = |of: usize| {
            let found = self.gathered.region(of);
            found.class(level, MissClass::Capacity) + found.class(level, MissClass::Conflict)
        };
        let all = self.gathered.misses(level);
        let mut pairs: Vec<(u64, usize, usize)> = self.gathered.displaced[level]
            .iter()
            .map(|((by, of), lines)| (*lines, *by as usize, *of as usize))
            .filter(|(lines, by, of)| {
                let lost = again(*of);
                (*by).max(*of) < known && lost >= LEAST && is_share(lost, all, 10) && is_share(*lines, lost, 50)
            })
            .collect();
        pairs.sort_by_key(|(lines, ..)| std::cmp::Reverse(*lines));
        for (_, by, of) in pairs.into_iter().take(2) {
            let (stream, kept) = (&self.regions[by].name, &self.regions[of].name);
            let trial = |region| Trial { rewrite: Rewrite::Without(region), config: self.config.clone() };
            self.found.push(Proposal {
                pattern: Pattern::Stream,
                level,
                line: None,
                regions: vec![of, by],
                change: format!("with {stream} passing by the caches, or in a pass of its own, so that {kept} stays"),
                trials: vec![trial(by), trial(of)],
                places: 1,
            });
        }
    }

    fn names(&self, regions: &[usize]) -> String {
        names(regions.iter().map(|region| self.regions[*region].name.as_str()))
    }
}

/// `A`, `A and B`, `A, B and C`.
pub(super) fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// Numbers of ways a quarter and a half larger.
fn larger(ways: u32) -> [u32; 2] {
    [ways + ways.div_ceil(4), ways + ways.div_ceil(2)]
}

/// What of elements is touched: parts that do not overlap, in their order; none where they are too many to tell.
fn fields(found: &OfRegion) -> Vec<(u64, u64)> {
    if found.fields.len() >= MOST_FIELDS {
        return Vec::new();
    }
    let mut fields: Vec<(u64, u64)> = Vec::new();
    for (first, bytes) in found.fields.iter().map(|((first, bytes), _)| (u64::from(first), u64::from(bytes))) {
        match fields.last_mut() {
            Some((before, length)) if first < *before + *length => *length = (*length).max(first + bytes - *before),
            _ => fields.push((first, bytes)),
        }
    }
    fields
}
