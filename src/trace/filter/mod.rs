//! Keeps of a stream what a picture is about: a part of the references by what they are, where they stand and when.
//!
//! All conditions must hold. *What*: kind, core, source line. *Where*: addresses, regions. *When*: a range of references, a
//! sample (the first so many of every so many), or what lies between two marks.
//!
//! A program marks moments by storing to cells that nothing else uses; the log then shows the moments as stores. A store
//! to `start` opens the log, the next store to `stop` closes it for good, and a store to a marker's cell puts a named
//! [`Mark`] before the next reference kept. A store to the cell of core *n* makes what follows core *n*'s, in a program whose
//! workers take turns. Stores to these cells are never kept themselves.

use crate::reference::{Kind, Mark, Reference, Region, RegionFinder, RegionMap, Tables};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

mod kept;
use kept::Kept;

/// A cell whose stores are marks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marker {
    /// Address of the cell.
    pub address: u64,
    /// Name of the marks.
    pub name: String,
}

/// Cells whose stores say which core goes on: `base` is core 0's, the next byte core 1's, and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoreCells {
    /// Address of core 0's cell.
    pub base: u64,
    /// Cells, 1 or more.
    pub count: u16,
}

/// The first `window` references of every `every`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// References from the start of a window to the start of the next, 1 or more.
    pub every: u64,
    /// References of a window, 1 or more.
    pub window: u64,
}

/// Whether an instruction's references are kept.
type PcTest = Box<dyn FnMut(u64) -> bool>;

/// Which references of a stream to keep. Built once, fed in order.
#[derive(Default)]
pub struct Filter {
    start: Option<u64>,
    stop: Option<u64>,
    markers: Vec<Marker>,
    cores: Option<CoreCells>,
    /// Whose references these are, once a core's cell was stored to.
    core: Option<u16>,
    /// Sorted, disjoint `(first, last)` byte spans; `None` keeps all addresses.
    spans: Option<Vec<(u64, u64)>>,
    /// Regions by name, each while it lives; `None` keeps all.
    regions: Option<RegionFinder>,
    /// Sorted, disjoint `(first, last)` byte spans asked for by address.
    addresses: Option<Vec<(u64, u64)>>,
    /// Bits by kind.
    kinds: Option<u8>,
    only_cores: Option<Vec<u16>>,
    range: Option<(u64, u64)>,
    sample: Option<Sample>,
    pc: Option<PcTest>,
    /// What `pc` has said.
    pcs: BTreeMap<u64, bool>,
    started: bool,
    stopped: bool,
    /// The number of the store that opened the log.
    opened: u64,
    /// References met.
    met: u64,
    kept: Kept,
    /// Of the references at hand: room that is used again.
    flags: Vec<bool>,
    count: u64,
    marks: Vec<Mark>,
}

impl fmt::Debug for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Filter").field("met", &self.met).field("kept", &self.count).finish_non_exhaustive()
    }
}

impl CoreCells {
    fn core_of(self, addr: u64) -> Option<u16> {
        let number = addr.checked_sub(self.base)?;
        u16::try_from(number).ok().filter(|core| *core < self.count)
    }
}

impl Filter {
    /// Keeps everything.
    #[must_use]
    pub fn new() -> Self {
        Self { started: true, ..Self::default() }
    }

    /// Keeps only what lies between the first store to `start` and the next store to `stop`.
    #[must_use]
    pub fn between(mut self, start: u64, stop: u64) -> Self {
        (self.start, self.stop, self.started) = (Some(start), Some(stop), false);
        self
    }

    /// Turns stores to the markers' cells into marks.
    #[must_use]
    pub fn with_markers(mut self, mut markers: Vec<Marker>) -> Self {
        markers.sort_by_key(|m| m.address);
        self.markers = markers;
        self
    }

    /// Takes the issuing core from stores to these cells.
    #[must_use]
    pub fn with_cores(mut self, cores: Option<CoreCells>) -> Self {
        self.cores = cores;
        self
    }

    /// Keeps only references that touch a byte of a region, whatever its lifetime.
    #[must_use]
    pub fn only(mut self, regions: &[Region]) -> Self {
        self.spans = Some(joined(regions.iter().map(|r| (r.base, last_byte(r))).collect()));
        self
    }

    /// Keeps only references that touch a byte of one of these regions while it lives.
    #[must_use]
    pub fn only_living(mut self, regions: &[Region]) -> Self {
        self.regions = Some(RegionFinder::new(RegionMap::new(regions)));
        self
    }

    /// Keeps only references that touch a byte of one of these spans, `(first, last)` each.
    #[must_use]
    pub fn at(mut self, spans: Vec<(u64, u64)>) -> Self {
        self.addresses = Some(joined(spans));
        self
    }

    /// Keeps only these kinds.
    #[must_use]
    pub fn kinds(mut self, kinds: &[Kind]) -> Self {
        self.kinds = Some(kinds.iter().fold(0, |bits, kind| bits | 1 << *kind as u8));
        self
    }

    /// Keeps only these cores.
    #[must_use]
    pub fn only_cores(mut self, cores: Vec<u16>) -> Self {
        self.only_cores = Some(cores);
        self
    }

    /// Keeps only references `[from, to)` of the stream.
    #[must_use]
    pub fn range(mut self, from: u64, to: u64) -> Self {
        self.range = Some((from, to));
        self
    }

    /// Keeps only a sample of the stream.
    #[must_use]
    pub fn sample(mut self, sample: Sample) -> Self {
        self.sample = Some(Sample { every: sample.every.max(1), ..sample });
        self
    }

    /// Keeps only references of instructions of which `test` is true. It is asked once for each.
    #[must_use]
    pub fn instructions(mut self, test: impl FnMut(u64) -> bool + 'static) -> Self {
        self.pc = Some(Box::new(test));
        self
    }

    /// Drops from `references`, the next of the stream, what is not kept.
    pub fn apply(&mut self, references: &mut Vec<Reference>) {
        let mut flags = std::mem::take(&mut self.flags);
        flags.clear();
        flags.extend(references.iter_mut().map(|r| self.keep(r)));
        self.kept.note(&flags);
        let mut kept = flags.iter();
        references.retain(|_| kept.next() == Some(&true));
        self.flags = flags;
    }

    /// Counts references in the tables of the stream anew, now that some are gone: lifetimes and marks. Regions that lived
    /// only while nothing was kept go, and so do marks outside the part of the stream that was asked for.
    pub fn renumber(&self, tables: &mut Tables) {
        for region in &mut tables.regions {
            region.lifetime = region.lifetime.map(|(from, to)| (self.kept.before(from), self.kept.before(to)));
        }
        tables.regions.retain(|region| region.lifetime.is_none_or(|(from, to)| from < to));
        let (from, to) = self.range.unwrap_or((0, u64::MAX));
        let from = from.max(self.opened);
        let to = if self.stopped { to.min(self.met) } else { to };
        tables.marks.retain(|mark| (from..to).contains(&mark.reference));
        for mark in &mut tables.marks {
            mark.reference = self.kept.before(mark.reference);
        }
    }

    /// Whether nothing more can be kept: the closing store was seen, or the range is over.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.stopped || self.range.is_some_and(|(_, to)| self.met >= to)
    }

    /// Whether the closing store was seen.
    #[must_use]
    pub fn has_stopped(&self) -> bool {
        self.stopped
    }

    /// Whether the opening store was seen (always true without [`Filter::between`]).
    #[must_use]
    pub fn has_started(&self) -> bool {
        self.started
    }

    /// Marks met so far, numbered by kept references.
    #[must_use]
    pub fn marks(&self) -> &[Mark] {
        &self.marks
    }

    fn keep(&mut self, r: &mut Reference) -> bool {
        let number = self.met;
        self.met += 1;
        if self.stopped {
            return false;
        }
        if matches!(r.kind, Kind::Write | Kind::Modify) {
            if !self.started {
                (self.started, self.opened) = (Some(r.addr) == self.start, number);
                return false;
            }
            if Some(r.addr) == self.stop {
                self.stopped = true;
                return false;
            }
            if let Some(core) = self.cores.and_then(|cores| cores.core_of(r.addr)) {
                self.core = Some(core);
                return false;
            }
            if let Ok(at) = self.markers.binary_search_by_key(&r.addr, |m| m.address) {
                self.marks.push(Mark { reference: self.count, name: self.markers[at].name.clone() });
                return false;
            }
        }
        r.core = self.core.unwrap_or(r.core);
        let kept = self.started && self.is_due(number) && self.is_wanted(r, number);
        self.count += u64::from(kept);
        kept
    }

    fn is_due(&self, number: u64) -> bool {
        self.range.is_none_or(|(from, to)| (from..to).contains(&number))
            && self.sample.is_none_or(|sample| number % sample.every < sample.window)
    }

    fn is_wanted(&mut self, r: &Reference, number: u64) -> bool {
        self.kinds.is_none_or(|kinds| kinds & (1 << r.kind as u8) != 0)
            && self.only_cores.as_ref().is_none_or(|cores| cores.contains(&r.core))
            && self.spans.as_ref().is_none_or(|spans| touches(spans, r))
            && self.addresses.as_ref().is_none_or(|spans| touches(spans, r))
            && self.regions.as_mut().is_none_or(|regions| touches_living(regions, r, number))
            && self.pc.as_mut().is_none_or(|test| *self.pcs.entry(r.pc).or_insert_with(|| test(r.pc)))
    }
}

fn last_byte(region: &Region) -> u64 {
    region.base.saturating_add(region.bytes.saturating_sub(1))
}

/// Spans by address, those that touch each other as one.
fn joined(mut spans: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    spans.sort_unstable();
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for (first, last) in spans {
        match joined.last_mut() {
            Some(before) if first <= before.1.saturating_add(1) => before.1 = before.1.max(last),
            _ => joined.push((first, last)),
        }
    }
    joined
}

/// Whether a reference touches one of the spans, which are sorted and disjoint.
fn touches(spans: &[(u64, u64)], r: &Reference) -> bool {
    let after = spans.partition_point(|&(first, _)| first <= last_touched(r));
    after > 0 && spans[after - 1].1 >= r.addr
}

/// Whether reference `number` touches a region that lives then.
fn touches_living(regions: &mut RegionFinder, r: &Reference, number: u64) -> bool {
    let (mut at, last) = (r.addr, last_touched(r));
    loop {
        let stretch = regions.locate(at, number);
        if stretch.region.is_some() || stretch.last >= last {
            return stretch.region.is_some();
        }
        at = stretch.last + 1;
    }
}

fn last_touched(r: &Reference) -> u64 {
    r.addr.saturating_add(u64::from(r.size.max(1)) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(addr: u64) -> Reference {
        Reference::new(Kind::Write, addr, 1)
    }

    fn region(base: u64, bytes: u64) -> Region {
        let json = format!(r#"{{"name":"A","base":{base},"bytes":{bytes},"elem_bytes":1}}"#);
        serde_json::from_str(&json).unwrap()
    }

    #[test]
    fn only_what_lies_between_the_marks_and_in_a_region_is_kept() {
        let markers = vec![Marker { address: 12, name: "half".into() }];
        let mut filter = Filter::new().between(10, 11).with_markers(markers).only(&[region(100, 8), region(108, 8)]);
        let mut stream = vec![write(100), Reference::new(Kind::Read, 10, 1), write(11), write(10)];
        stream.extend([
            write(100),
            write(12),
            write(50),
            write(115),
            write(116),
            write(11),
            write(101),
            write(10),
            write(102),
        ]);
        filter.apply(&mut stream);
        assert_eq!(stream, [write(100), write(115)]);
        assert_eq!(filter.marks(), [Mark { reference: 1, name: "half".into() }]);
        assert!(filter.is_over());
    }

    #[test]
    fn a_reference_that_reaches_into_or_across_a_region_touches_it() {
        let mut filter = Filter::new().only(&[region(100, 8), region(u64::MAX - 3, 4)]);
        let at = |addr, size| Reference::new(Kind::Read, addr, size);
        let mut stream = vec![at(96, 4), at(96, 5), at(90, 100), at(107, 1), at(108, 1), at(u64::MAX, 1), at(0, 1)];
        filter.apply(&mut stream);
        assert_eq!(stream, [at(96, 5), at(90, 100), at(107, 1), at(u64::MAX, 1)]);
    }

    #[test]
    fn all_conditions_must_hold_and_what_counts_references_is_counted_anew() {
        let mut a = region(100, 100);
        a.lifetime = Some((0, 6));
        let mut filter = Filter::new()
            .kinds(&[Kind::Read, Kind::Modify])
            .only_cores(vec![1])
            .at(vec![(100, 149), (150, 180)])
            .range(1, 9)
            .sample(Sample { every: 4, window: 3 })
            .instructions(|pc| pc != 7)
            .only_living(&[a.clone()]);
        let read = |addr| Reference { core: 1, pc: 5, ..Reference::new(Kind::Read, addr, 4) };
        let mut stream = vec![
            read(100),                                     // before the range
            read(101),                                     // kept
            Reference { kind: Kind::Fetch, ..read(102) },  // the kind
            read(103),                                     // not in the sample
            Reference { core: 0, ..read(104) },            // the core
            Reference { kind: Kind::Modify, ..read(180) }, // kept
            read(106),                                     // the region is gone
            read(107),
            read(108),
            read(109),
        ];
        let (whole, mut second) = (stream.clone(), stream.split_off(3));
        filter.apply(&mut stream);
        assert!(!filter.is_over());
        filter.apply(&mut second);
        assert!(filter.is_over());
        assert_eq!([stream, second].concat(), [whole[1], whole[5]]);
        let mark = |reference| Mark { reference, name: "m".into() };
        let mut dead = region(300, 8);
        dead.lifetime = Some((2, 5));
        let mut tables =
            Tables { regions: vec![a, dead], marks: vec![mark(0), mark(2), mark(6), mark(9)], ..Tables::default() };
        filter.renumber(&mut tables);
        // The first and the last are outside the range.
        assert_eq!(tables.marks, [mark(1), mark(2)]);
        assert_eq!(tables.regions.iter().map(|r| r.lifetime).collect::<Vec<_>>(), [Some((0, 2))]);

        let mut filter = Filter::new().at(vec![(0, 50)]).instructions(|pc| pc == 7);
        let mut stream = vec![read(10), Reference { pc: 7, ..read(48) }, Reference { pc: 7, ..read(51) }];
        filter.apply(&mut stream);
        assert_eq!(stream.iter().map(|r| r.addr).collect::<Vec<_>>(), [48]);
    }
}
