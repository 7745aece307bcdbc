//! Keeps of a whole program's log what a picture is about: the references to named regions between two marks.
//!
//! A program marks moments by storing to cells that nothing else uses; the log then shows the moments as stores. A store
//! to `start` opens the log, the next store to `stop` closes it for good, and a store to a marker's cell puts a named
//! [`Mark`] before the next reference kept. A store to the cell of core *n* makes what follows core *n*'s, in a program whose
//! workers take turns. Stores to these cells are never kept themselves.

use crate::reference::{Kind, Mark, Reference, Region};
use serde::{Deserialize, Serialize};

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

/// Which references of a stream to keep. Built once, fed in order.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    start: Option<u64>,
    stop: Option<u64>,
    markers: Vec<Marker>,
    cores: Option<CoreCells>,
    /// Whose references these are, once a core's cell was stored to.
    core: Option<u16>,
    /// Sorted, disjoint `(first, last)` byte spans; `None` keeps all addresses.
    spans: Option<Vec<(u64, u64)>>,
    started: bool,
    stopped: bool,
    kept: u64,
    marks: Vec<Mark>,
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
        let mut spans: Vec<(u64, u64)> =
            regions.iter().map(|r| (r.base, r.base.saturating_add(r.bytes.saturating_sub(1)))).collect();
        spans.sort_unstable();
        let mut joined: Vec<(u64, u64)> = Vec::new();
        for (first, last) in spans {
            match joined.last_mut() {
                Some(before) if first <= before.1.saturating_add(1) => before.1 = before.1.max(last),
                _ => joined.push((first, last)),
            }
        }
        self.spans = Some(joined);
        self
    }

    /// Drops from `references`, the next of the stream, what is not kept.
    pub fn apply(&mut self, references: &mut Vec<Reference>) {
        references.retain_mut(|r| self.keep(r));
    }

    /// Whether the closing store was seen, so that nothing more can be kept.
    #[must_use]
    pub fn is_over(&self) -> bool {
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
        if self.stopped {
            return false;
        }
        if matches!(r.kind, Kind::Write | Kind::Modify) {
            if !self.started {
                self.started = Some(r.addr) == self.start;
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
                self.marks.push(Mark { reference: self.kept, name: self.markers[at].name.clone() });
                return false;
            }
        }
        let kept = self.started && self.touches(r);
        r.core = self.core.unwrap_or(r.core);
        self.kept += u64::from(kept);
        kept
    }

    fn touches(&self, r: &Reference) -> bool {
        let Some(spans) = &self.spans else { return true };
        let last = r.addr.saturating_add(u64::from(r.size.max(1)) - 1);
        let after = spans.partition_point(|&(first, _)| first <= last);
        after > 0 && spans[after - 1].1 >= r.addr
    }
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
}
