//! What references do to each element of named regions: how often each is touched, how often that missed, and the stack distances of
//! its touches. Counts can be taken back, so that who goes back by a few references need not count anew.
//!
//! A reference counts for the region that holds its first byte, and there for each element of which it touches a byte. Elements are
//! numbered as they lie in memory: element *n* begins *n* elements after the region's first byte. Of regions with more than
//! [`MOST_SLOTS`] elements several are counted together.

use super::distance::StackDistances;
use super::histogram::Histogram;
use super::touch::Touches;
use crate::reference::{Kind, Reference, Region, RegionFinder, RegionMap};

/// Slots of a region, at most.
pub const MOST_SLOTS: u64 = 1 << 21;
/// Slots that one reference counts for, at most: the first ones of a longer reference.
const WIDEST: usize = 4096;

/// Counts of an element: of references that touch it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ElementCounts {
    /// Those that read it.
    pub reads: u32,
    /// Those that write it.
    pub writes: u32,
    /// Those that read and write it.
    pub modifies: u32,
    /// Those that missed in the cache that is asked first.
    pub misses: u32,
}

impl ElementCounts {
    /// References that touch it.
    #[must_use]
    pub fn accesses(&self) -> u64 {
        u64::from(self.reads) + u64::from(self.writes) + u64::from(self.modifies)
    }

    /// Adds another's.
    #[must_use]
    pub fn and(self, other: &Self) -> Self {
        Self {
            reads: self.reads.saturating_add(other.reads),
            writes: self.writes.saturating_add(other.writes),
            modifies: self.modifies.saturating_add(other.modifies),
            misses: self.misses.saturating_add(other.misses),
        }
    }

    fn of(&mut self, kind: Kind) -> &mut u32 {
        match kind {
            Kind::Read | Kind::Fetch => &mut self.reads,
            Kind::Write => &mut self.writes,
            Kind::Modify => &mut self.modifies,
        }
    }
}

/// Where elements of regions are counted.
#[derive(Clone, Debug)]
struct Slots {
    finder: RegionFinder,
    of: Vec<Place>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    base: u64,
    last: u64,
    elem: u64,
    /// Elements of a slot.
    per: u64,
    slots: usize,
}

impl Slots {
    fn new(regions: &[Region]) -> Self {
        let place = |region: &Region| {
            let elem = u64::from(region.elem_bytes.max(1));
            let elements = region.bytes.div_ceil(elem).max(1);
            let per = elements.div_ceil(MOST_SLOTS);
            let slots = usize::try_from(elements.div_ceil(per)).unwrap_or(usize::MAX);
            Place { base: region.base, last: region.base.saturating_add(region.bytes.max(1) - 1), elem, per, slots }
        };
        Self { finder: RegionFinder::new(RegionMap::new(regions)), of: regions.iter().map(place).collect() }
    }

    /// Region, how many slots it has, slot and first byte there of all that a reference touches.
    #[inline]
    fn each(&mut self, tick: u64, reference: &Reference, mut touch: impl FnMut(usize, usize, usize, u64)) {
        let Some(region) = self.finder.locate(reference.addr, tick).region else { return };
        let region = region as usize;
        let Some(place) = self.of.get(region) else { return };
        let last = reference.addr.saturating_add(u64::from(reference.size.max(1)) - 1).min(place.last);
        let bytes = place.elem.saturating_mul(place.per);
        let slot = |addr: u64| usize::try_from((addr - place.base) / bytes).unwrap_or(usize::MAX);
        let (first, end) = (slot(reference.addr), slot(last));
        for slot in (first..=end).take(WIDEST) {
            let from = place.base.saturating_add((slot as u64).saturating_mul(bytes));
            touch(region, place.slots, slot, from.max(reference.addr));
        }
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Elements {
    slots: Slots,
    /// By region; nothing where it was not touched yet.
    counts: Vec<Vec<ElementCounts>>,
}

impl Elements {
    /// Of these regions; nothing is counted yet.
    #[must_use]
    pub fn new(regions: &[Region]) -> Self {
        Self { slots: Slots::new(regions), counts: vec![Vec::new(); regions.len()] }
    }

    /// Counts reference number `tick`; `missed` in the cache that is asked first.
    pub fn add(&mut self, tick: u64, reference: &Reference, missed: bool) {
        self.change(tick, reference, |count| {
            let kind = count.of(reference.kind);
            *kind = kind.saturating_add(1);
            count.misses = count.misses.saturating_add(u32::from(missed));
        });
    }

    /// Takes back what [`Elements::add`] did for it.
    pub fn take(&mut self, tick: u64, reference: &Reference, missed: bool) {
        self.change(tick, reference, |count| {
            let kind = count.of(reference.kind);
            *kind = kind.saturating_sub(1);
            count.misses = count.misses.saturating_sub(u32::from(missed));
        });
    }

    fn change(&mut self, tick: u64, reference: &Reference, change: impl Fn(&mut ElementCounts)) {
        let Self { slots, counts } = self;
        slots.each(tick, reference, |region, slots, slot, _| {
            let own = &mut counts[region];
            if own.is_empty() {
                own.resize(slots, ElementCounts::default());
            }
            if let Some(count) = own.get_mut(slot) {
                change(count);
            }
        });
    }

    /// Nothing is counted any more.
    pub fn clear(&mut self) {
        self.counts.iter_mut().for_each(|counts| counts.fill(ElementCounts::default()));
    }

    /// The counts of a region by slot; none where it was never touched.
    #[must_use]
    pub fn of(&self, region: usize) -> &[ElementCounts] {
        self.counts.get(region).map_or(&[], Vec::as_slice)
    }

    /// How many elements of a region are counted together.
    #[must_use]
    pub fn per(&self, region: usize) -> u64 {
        self.slots.of.get(region).map_or(1, |place| place.per)
    }
}

/// The stack distances of touches of elements: how many other lines were touched since the last touch of the line. A modify is one touch.
#[derive(Clone, Debug)]
pub struct ElementDistances {
    slots: Slots,
    touches: Touches,
    stack: StackDistances,
    /// By region: slot and distance of each touch but first ones.
    log: Vec<Vec<(u32, u32)>>,
    /// By region: touches of lines, the first ones and the distances of the others.
    lines: Vec<(u64, Histogram)>,
}

impl ElementDistances {
    /// Of these regions, in lines of `1 << shift` bytes; nothing touched yet.
    #[must_use]
    pub fn new(regions: &[Region], shift: u32) -> Self {
        let touches = Touches::new(shift, true);
        let log = vec![Vec::new(); regions.len()];
        let lines = vec![Default::default(); regions.len()];
        Self { slots: Slots::new(regions), touches, stack: StackDistances::new(touches), log, lines }
    }

    /// Plays reference number `tick`; its distances are kept where it is `counted`. Instruction fetches touch nothing.
    pub fn play(&mut self, tick: u64, reference: &Reference, counted: bool) {
        let bytes = self.touches.line_bytes();
        let first = reference.addr / bytes;
        let mut found: [Option<u32>; 4] = [None; 4];
        let once =
            Reference { kind: if reference.kind == Kind::Modify { Kind::Read } else { reference.kind }, ..*reference };
        let region = self.slots.finder.locate(reference.addr, tick).region.filter(|_| counted);
        let mut counts = region.and_then(|region| self.lines.get_mut(region as usize));
        let stack = &mut self.stack;
        self.touches.each(&once, |line| {
            let distance = stack.touch(line);
            match (&mut counts, distance) {
                (Some((_, again)), Some(distance)) => again.add(distance),
                (Some((first, _)), None) => *first += 1,
                (None, _) => {}
            }
            // Of a reference over more lines the last of these stands for those behind.
            let at = usize::try_from(line - first).unwrap_or(usize::MAX).min(found.len() - 1);
            found[at] = distance;
        });
        if !counted || reference.kind == Kind::Fetch {
            return;
        }
        let log = &mut self.log;
        self.slots.each(tick, reference, |region, _, slot, addr| {
            let at = usize::try_from(addr / bytes - first).unwrap_or(usize::MAX).min(found.len() - 1);
            if let (Some(distance), Ok(slot)) = (found[at], u32::try_from(slot)) {
                log[region].push((slot, distance));
            }
        });
    }

    /// First touches of lines by references to a region.
    #[must_use]
    pub fn first_touches(&self, region: usize) -> u64 {
        self.lines.get(region).map_or(0, |(first, _)| *first)
    }

    /// How often each distance occurred at references to a region: of lines, whatever elements of it were touched.
    #[must_use]
    pub fn histogram(&self, region: usize) -> Option<&Histogram> {
        self.lines.get(region).map(|(_, again)| again)
    }

    /// The distances of the touches of the element that holds a byte of a region, in their order.
    #[must_use]
    pub fn of_address(&self, region: usize, addr: u64) -> Vec<u32> {
        let Some((place, log)) = self.slots.of.get(region).zip(self.log.get(region)) else { return Vec::new() };
        let slot = addr.saturating_sub(place.base) / place.elem.saturating_mul(place.per);
        log.iter().filter(|(own, _)| u64::from(*own) == slot).map(|(_, distance)| *distance).collect()
    }

    /// Touches of lines that one set of so many lines misses, whose oldest line goes: first ones, and those at as great a distance or more.
    #[must_use]
    pub fn misses(&self, region: usize, lines: u64) -> u64 {
        self.lines.get(region).map_or(0, |(first, again)| first + again.at_least(lines))
    }

    /// Touches by group of slots, which `group` tells, that this set would not miss.
    #[must_use]
    pub fn hits_by_group(
        &self,
        region: usize,
        groups: usize,
        group: impl Fn(usize) -> Option<usize>,
        lines: u64,
    ) -> Vec<u64> {
        let mut hits = vec![0u64; groups];
        let log = self.log.get(region).map_or(&[][..], Vec::as_slice);
        for (slot, _) in log.iter().filter(|(_, distance)| u64::from(*distance) < lines) {
            if let Some(hits) = group(*slot as usize).and_then(|at| hits.get_mut(at)) {
                *hits += 1;
            }
        }
        hits
    }

    /// The least, the median and the greatest distance by group of slots, which `group` tells; `None` of a group without a distance.
    #[must_use]
    pub fn by_group(
        &self,
        region: usize,
        groups: usize,
        group: impl Fn(usize) -> Option<usize>,
    ) -> Vec<Option<[u32; 3]>> {
        let log = self.log.get(region).map_or(&[][..], Vec::as_slice);
        let of = |slot: u32| group(slot as usize).filter(|at| *at < groups);
        // Distances side by side, those of a group together.
        let mut ends = vec![0usize; groups + 1];
        for at in log.iter().filter_map(|(slot, _)| of(*slot)) {
            ends[at + 1] += 1;
        }
        for at in 0..groups {
            ends[at + 1] += ends[at];
        }
        let (mut next, mut all) = (ends.clone(), vec![0u32; ends[groups]]);
        for (at, distance) in log.iter().filter_map(|(slot, distance)| Some((of(*slot)?, *distance))) {
            all[next[at]] = distance;
            next[at] += 1;
        }
        let three = |at: usize| {
            let own = &mut all[ends[at]..ends[at + 1]];
            let (least, most) = (own.iter().min().copied()?, own.iter().max().copied()?);
            // Of two in the middle the lower one, so that it is a distance that there was.
            let (_, median, _) = own.select_nth_unstable((own.len() - 1) / 2);
            Some([least, *median, most])
        };
        (0..groups).map(three).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn regions() -> Vec<Region> {
        let float = |name: &str, base, bytes| Region { elem_bytes: 4, ..Region::new(name, base, bytes) };
        vec![float("A", 0x1000, 64), float("B", 0x1040, 30), Region::new("early", 0x2000, 32)]
    }

    fn reference(of: (u8, u64, u32)) -> Reference {
        let (kind, addr, size) = of;
        Reference::new(Kind::from_code(kind).unwrap_or(Kind::Read), 0x1000 + addr, size)
    }

    /// Every region, slot and first byte there that a reference touches.
    fn slow(reference: &Reference) -> Vec<(usize, usize, u64)> {
        let regions = regions();
        let holds = |r: &&Region| (r.base..r.end()).contains(&reference.addr);
        let Some(region) = regions.iter().find(holds) else { return Vec::new() };
        let at = regions.iter().position(|r| r.name == region.name).expect("it is there");
        let mut out: Vec<(usize, usize, u64)> = Vec::new();
        for addr in reference.addr..(reference.addr + u64::from(reference.size)).min(region.end()) {
            let slot = usize::try_from((addr - region.base) / u64::from(region.elem_bytes)).expect("small");
            if out.last().is_none_or(|last| last.1 != slot) {
                out.push((at, slot, addr));
            }
        }
        out
    }

    proptest! {
        #[test]
        fn counts_and_distances_are_those_of_brute_force(
            asked in prop::collection::vec((0u8..3, 0u64..0x90, 1u32..12), 1..80),
            back in 0usize..80,
        ) {
            let all: Vec<Reference> = asked.into_iter().map(reference).collect();
            let missed = |n: usize| n.is_multiple_of(3);
            let mut elements = Elements::new(&regions());
            let mut distances = ElementDistances::new(&regions(), 5);
            for (n, r) in all.iter().enumerate() {
                elements.add(n as u64, r, missed(n));
                distances.play(n as u64, r, n >= 2);
            }
            // The last ones are taken back, one after the other.
            let kept = all.len().saturating_sub(back);
            for (n, r) in all.iter().enumerate().skip(kept) {
                elements.take(n as u64, r, missed(n));
            }
            let mut expect: BTreeMap<(usize, usize), (u64, u32)> = BTreeMap::new();
            for (n, r) in all[..kept].iter().enumerate() {
                for (region, slot, _) in slow(r) {
                    let count = expect.entry((region, slot)).or_default();
                    *count = (count.0 + 1, count.1 + u32::from(missed(n)));
                }
            }
            let mut sum = 0;
            for region in 0..3 {
                for (slot, count) in elements.of(region).iter().enumerate() {
                    let (accesses, misses) = expect.get(&(region, slot)).copied().unwrap_or_default();
                    prop_assert_eq!((count.accesses(), count.misses), (accesses, misses));
                    sum += accesses;
                }
            }
            prop_assert_eq!(sum, expect.values().map(|count| count.0).sum::<u64>(), "none is left out");

            // Distances: lines since the last touch of the line, by looking back.
            let lines = |r: &Reference| r.addr >> 5..=(r.addr + u64::from(r.size) - 1) >> 5;
            let touched: Vec<(usize, u64)> =
                all.iter().enumerate().flat_map(|(n, r)| lines(r).map(move |line| (n, line))).collect();
            let mut found: BTreeMap<(usize, usize), Vec<u32>> = BTreeMap::new();
            for (n, r) in all.iter().enumerate().skip(2) {
                for (region, slot, addr) in slow(r) {
                    let at = touched.iter().position(|touch| *touch == (n, addr >> 5)).expect("it was touched");
                    let Some(before) = touched[..at].iter().rposition(|touch| touch.1 == addr >> 5) else { continue };
                    let mut between: Vec<u64> = touched[before + 1..at].iter().map(|touch| touch.1).collect();
                    between.sort_unstable();
                    between.dedup();
                    found.entry((region, slot)).or_default().push(u32::try_from(between.len()).expect("few"));
                }
            }
            let sum: u64 = (0..3).map(|r| distances.first_touches(r)).sum();
            let again: u64 = (0..3).filter_map(|r| distances.histogram(r)).map(Histogram::total).sum();
            let counted = all.iter().skip(2).filter(|r| !slow(r).is_empty()).map(|r| lines(r).count() as u64);
            prop_assert_eq!(sum + again, counted.sum::<u64>(), "each touch of a line counts once");
            for region in 0..3 {
                let groups = distances.by_group(region, 16, Some);
                for (slot, three) in groups.into_iter().enumerate() {
                    let expect = found.get(&(region, slot)).map(|all| {
                        let mut all = all.clone();
                        all.sort_unstable();
                        [all[0], all[(all.len() - 1) / 2], all[all.len() - 1]]
                    });
                    prop_assert_eq!(three, expect, "region {} slot {}", region, slot);
                }
                for lines in [1, 2, 5] {
                    for (slot, hits) in distances.hits_by_group(region, 16, Some, lines).into_iter().enumerate() {
                        let own = found.get(&(region, slot)).map_or(&[][..], Vec::as_slice);
                        let expect = own.iter().filter(|distance| u64::from(**distance) < lines).count();
                        prop_assert_eq!(hits, expect as u64, "region {} slot {}, {} lines", region, slot, lines);
                    }
                    let again = distances.histogram(region).map_or(0, |all| all.at_least(lines));
                    prop_assert_eq!(distances.misses(region, lines), distances.first_touches(region) + again);
                }
            }
        }
    }

    #[test]
    fn many_elements_are_counted_together() {
        let large = vec![Region { elem_bytes: 1, ..Region::new("large", 0, 3 * MOST_SLOTS) }];
        let mut elements = Elements::new(&large);
        assert_eq!((elements.per(0), elements.of(0).len()), (3, 0));
        elements.add(0, &Reference::new(Kind::Write, 5, 2), true);
        assert_eq!(elements.of(0).iter().map(ElementCounts::accesses).sum::<u64>(), 2, "two slots were touched");
        assert_eq!((elements.of(0)[1].writes, elements.of(0)[2].misses), (1, 1));
        elements.clear();
        assert!(elements.of(0).iter().all(|count| count.accesses() == 0));
    }
}
