//! How much of a line is used while it is in a cache.

use super::touched_rows::TouchedRows;
use super::whose::Whose;
use crate::reference::{Reference, Tables};
use crate::sim::hash::LineMap;
use crate::sim::{Event, Observer};
use crate::units::ByteRange;
use serde::Serialize;

/// Parts of a line that are told apart.
const PARTS: u32 = 64;

/// Bytes that references touched of each line between its fill and the moment it left, in the caches that references ask first (L1): an
/// [`Observer`]. Lines of 64 bytes or less are counted byte by byte, longer ones by 64 equal parts.
#[derive(Clone, Debug)]
pub struct LineUse {
    whose: Whose,
    /// Bytes of a line, by level.
    line_bytes: Vec<u32>,
    /// By cache: lines that are in it. `None` = not asked first by any reference so far.
    caches: Vec<Option<LineMap<Stay>>>,
    /// The reference under way, and its region.
    bytes: ByteRange,
    by: usize,
    /// An access that missed and may lead to a fill: cache, line, parts.
    awaited: Option<(usize, u64, u64)>,
    /// By region, of those whose lines left.
    rows: TouchedRows<Use>,
}

/// A line in a cache.
#[derive(Clone, Copy, Debug)]
struct Stay {
    /// Parts that were touched.
    parts: u64,
    /// Whose line it is.
    of: usize,
    line_bytes: u32,
}

/// As [`UseRow`], without the name.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Use {
    lines: u64,
    pub(super) bytes_fetched: u64,
    pub(super) bytes_used: u64,
    by_eighths: [u64; 9],
}

/// Lines of one region that came and went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UseRow {
    /// Name of the region.
    pub region: String,
    /// Lines that left, or were still there at the end; one counts each time it comes.
    pub lines: u64,
    /// Bytes that came with them.
    pub bytes_fetched: u64,
    /// Bytes of those that were touched before the line left.
    pub bytes_used: u64,
    /// Lines by how many eighths of them were used: none, up to one, ..., up to eight.
    pub by_eighths: [u64; 9],
}

impl LineUse {
    /// Of levels with lines of so many bytes, from the CPU outward; names are those of the trace's tables.
    #[must_use]
    pub fn new(line_bytes: Vec<u32>, tables: &Tables) -> Self {
        Self::of(line_bytes, Whose::new(tables))
    }

    /// As [`Self::new`], of regions that are known.
    pub(super) fn of(line_bytes: Vec<u32>, whose: Whose) -> Self {
        let (bytes, rows) = (ByteRange::new(0, 1), TouchedRows::new(whose.rows()));
        Self { whose, line_bytes, caches: Vec::new(), bytes, by: 0, awaited: None, rows }
    }

    /// Which parts of a line the reference under way touches.
    fn parts(&self, line: u64, line_bytes: u32) -> u64 {
        let first = line.saturating_mul(u64::from(line_bytes));
        let last = first.saturating_add(u64::from(line_bytes) - 1);
        let (from, to) = (self.bytes.first.max(first) - first, self.bytes.last.min(last) - first);
        let part = u64::from((line_bytes / PARTS).max(1));
        let count = (to / part - from / part + 1).min(64);
        (u64::MAX >> (64 - count)) << (from / part)
    }

    /// Lines that are still there.
    fn stays(&self) -> impl Iterator<Item = &Stay> {
        self.caches.iter().flatten().flat_map(LineMap::values)
    }

    /// Rows of regions whose lines came, in the order of the trace's tables; lines that are still there count as they are.
    #[must_use]
    pub fn rows(&self) -> Vec<UseRow> {
        let mut rows = self.rows.clone();
        self.stays().for_each(|stay| stay.left(&mut rows));
        self.named(&rows)
    }

    /// As [`Self::rows`], for the end: nothing is copied.
    pub(super) fn into_rows(mut self) -> Vec<UseRow> {
        let rows = self.take_rows();
        self.named(&rows)
    }

    /// Counts by the number of the region, for the end; one past the last is what belongs to none.
    pub(super) fn into_by_region(mut self) -> TouchedRows<Use> {
        self.take_rows()
    }

    fn take_rows(&mut self) -> TouchedRows<Use> {
        let mut rows = std::mem::replace(&mut self.rows, TouchedRows::new(0));
        self.stays().for_each(|stay| stay.left(&mut rows));
        rows
    }

    fn named(&self, rows: &TouchedRows<Use>) -> Vec<UseRow> {
        let named = |(region, row): (usize, &Use)| {
            let Use { lines, bytes_fetched, bytes_used, by_eighths } = *row;
            UseRow { region: self.whose.name(region).into(), lines, bytes_fetched, bytes_used, by_eighths }
        };
        rows.iter().map(named).collect()
    }
}

impl Stay {
    /// Counts it, which is over.
    fn left(&self, rows: &mut TouchedRows<Use>) {
        let part = (self.line_bytes / PARTS).max(1);
        let used = self.parts.count_ones() * part;
        let row = rows.at(self.of);
        row.lines += 1;
        row.bytes_fetched += u64::from(self.line_bytes);
        row.bytes_used += u64::from(used);
        row.by_eighths[(8 * used).div_ceil(self.line_bytes) as usize] += 1;
    }
}

impl Observer for LineUse {
    fn begin(&mut self, reference: &Reference) {
        self.bytes = ByteRange::new(reference.addr, u64::from(reference.size));
        self.by = self.whose.begin(reference);
        self.awaited = None;
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Access { origin, level, cache, line, kind, hit, .. }
                if origin.parent.is_none() && kind.is_demand() =>
            {
                let cache = cache.index();
                if self.caches.len() <= cache {
                    self.caches.resize_with(cache + 1, || None);
                }
                let parts = self.parts(line.0, self.line_bytes[level.index()]);
                let lines = self.caches[cache].get_or_insert_default();
                match lines.get_mut(&line.0) {
                    Some(stay) if hit => stay.parts |= parts,
                    _ => self.awaited = Some((cache, line.0, parts)),
                }
            }
            Event::Fill { level, cache, line, .. } => {
                let line_bytes = self.line_bytes[level.index()];
                let Some(Some(_)) = self.caches.get(cache.index()) else { return };
                let of = self.whose.of_line(line.0.saturating_mul(u64::from(line_bytes)), u64::from(line_bytes));
                let parts = match self.awaited {
                    Some((at, awaited, parts)) if (at, awaited) == (cache.index(), line.0) => parts,
                    // Prefetched.
                    _ => 0,
                };
                let stay = Stay { parts, of, line_bytes };
                let lines = self.caches[cache.index()].get_or_insert_default();
                // A sector that comes to a line that is there.
                lines.entry(line.0).and_modify(|there| there.parts |= parts).or_insert(stay);
            }
            Event::Evict { cache, line, .. } | Event::Invalidate { cache, line, .. } => {
                if let Some(Some(lines)) = self.caches.get_mut(cache.index())
                    && let Some(stay) = lines.remove(&line.0)
                {
                    stay.left(&mut self.rows);
                }
            }
            _ => {}
        }
    }
}
