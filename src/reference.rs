//! One record of a trace, and the tables that give records a meaning: regions, source locations, marks.
//!
//! Readers make these, everything downstream eats them. No IO here.

use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What a reference does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// A load.
    Read = 0,
    /// A store.
    Write = 1,
    /// A load, then a store at the same address, by one instruction.
    Modify = 2,
    /// An instruction fetch.
    Fetch = 3,
}

impl Kind {
    /// The inverse of `kind as u8`; `None` for 4 and above.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        [Self::Read, Self::Write, Self::Modify, Self::Fetch].get(usize::from(code)).copied()
    }

    /// The word shown to people.
    #[must_use]
    pub fn verb(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Modify => "modify",
            Self::Fetch => "fetch",
        }
    }
}

/// `Reference::lane` where there is no lane (anything but a GPU trace).
pub const NO_LANE: u8 = u8::MAX;

/// One record of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reference {
    /// First byte touched.
    pub addr: u64,
    /// Program counter of the instruction; 0 = unknown.
    pub pc: u64,
    /// Bytes touched, from `addr` on; readers never yield 0.
    pub size: u32,
    /// Core or thread that issued it, from 0.
    pub core: u16,
    /// Lane of a GPU wavefront, or [`NO_LANE`].
    pub lane: u8,
    /// Read, write, modify or fetch.
    pub kind: Kind,
}

impl Reference {
    /// A reference of core 0 without pc or lane.
    #[must_use]
    pub fn new(kind: Kind, addr: u64, size: u32) -> Self {
        Self { addr, pc: 0, size, core: 0, lane: NO_LANE, kind }
    }
}

/// A named piece of memory: an array, a heap block, a stack frame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Region {
    /// Name as the program has it: `A`.
    pub name: String,
    /// First byte.
    pub base: u64,
    /// Length in bytes, 1 or more; `base + bytes` does not pass 2^64.
    pub bytes: u64,
    /// Bytes of one element, 1 or more (8 for `double`).
    pub elem_bytes: u32,
    /// Name of the element's type, `double`; empty = unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub elem_type: String,
    /// Extents, outermost first: `[16, 16]`; empty = unknown, then one row of elements.
    #[serde(default)]
    pub shape: Vec<u64>,
    /// Order of the elements in memory: the last extent varies fastest (`true`, C) or the first (`false`, Fortran).
    #[serde(default = "yes")]
    pub row_major: bool,
    /// References `[from, to)` during which the region lives; `None` = always. Two regions may share an address at
    /// different times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifetime: Option<(u64, u64)>,
}

fn yes() -> bool {
    true
}

impl Region {
    /// Number of whole elements, at least 1.
    #[must_use]
    pub fn elements(&self) -> u64 {
        (self.bytes / u64::from(self.elem_bytes.max(1))).max(1)
    }

    /// One past the last byte, saturating at `u64::MAX`.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.base.saturating_add(self.bytes)
    }

    /// Whether it is named by its address, `0x1000..0x2000` or `code 0x1000..0x2000`, because nobody named it. (No program's
    /// own name begins so.)
    #[must_use]
    pub fn is_unnamed(&self) -> bool {
        self.name.trim_start_matches("code ").starts_with("0x")
    }

    /// `A[2][15]` for an address inside: name and indices by shape, `A[37]` where the shape is unknown, the address itself
    /// where the region has no name.
    #[must_use]
    pub fn element_name(&self, addr: u64) -> String {
        if self.is_unnamed() {
            return format!("0x{addr:x}");
        }
        let mut index = addr.saturating_sub(self.base) / u64::from(self.elem_bytes.max(1));
        if self.shape.len() < 2 {
            return format!("{}[{index}]", self.name);
        }
        let mut indices = vec![0; self.shape.len()];
        let axes: Vec<usize> =
            if self.row_major { (0..self.shape.len()).rev().collect() } else { (0..self.shape.len()).collect() };
        for (n, &axis) in axes.iter().enumerate() {
            let extent = self.shape[axis].max(1);
            // The slowest axis takes what is left, so an address past the shape still has a name.
            if n + 1 == axes.len() {
                indices[axis] = index;
            } else {
                indices[axis] = index % extent;
                index /= extent;
            }
        }
        let mut name = self.name.clone();
        for i in indices {
            name.push_str(&format!("[{i}]"));
        }
        name
    }

    /// `A[16][16]`, or `A` and its element count.
    #[must_use]
    pub fn declaration(&self) -> String {
        if self.shape.is_empty() {
            return self.name.clone();
        }
        let mut name = self.name.clone();
        for extent in &self.shape {
            name.push_str(&format!("[{extent}]"));
        }
        name
    }
}

/// Where an instruction stands in the program's source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceLocation {
    /// The program counter this describes.
    pub pc: u64,
    /// File name as it should be shown.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Function; empty = unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub function: String,
    /// The text of that line, trimmed; empty = not stored.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// A named moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// The reference it stands before.
    pub reference: u64,
    /// What happens there: `phase 2`.
    pub name: String,
}

/// What a trace says beside its references.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tables {
    /// Title for people: `16x16 matrix multiply`.
    #[serde(default)]
    pub title: String,
    /// A second line: `standard order i, j, k`.
    #[serde(default)]
    pub subtitle: String,
    /// Regions, by base address.
    #[serde(default)]
    pub regions: Vec<Region>,
    /// Source locations, by pc.
    #[serde(default)]
    pub locations: Vec<SourceLocation>,
    /// Marks, by reference.
    #[serde(default)]
    pub marks: Vec<Mark>,
    /// How the trace was made: one line for people.
    #[serde(default)]
    pub made_by: String,
}

impl Tables {
    /// The location of `pc`; `None` if unknown. `locations` must be sorted by pc.
    #[must_use]
    pub fn location(&self, pc: u64) -> Option<&SourceLocation> {
        let at = self.locations.binary_search_by_key(&pc, |l| l.pc).ok()?;
        self.locations.get(at)
    }

    /// Brings each table into the order its lookups rely on.
    pub fn sort(&mut self) {
        self.regions.sort_by(|a, b| (a.base, a.lifetime, &a.name).cmp(&(b.base, b.lifetime, &b.name)));
        self.locations.sort_by_key(|l| l.pc);
        self.marks.sort_by_key(|m| m.reference);
    }
}

/// Looks a region up by address and reference number: O(log regions) where none overlap.
#[derive(Clone, Debug, Default)]
pub struct RegionMap {
    /// `(base, end, lifetime, index)`, by base.
    spans: Vec<Span>,
    /// Longest span, so that a lookup knows how far back an enclosing one may start.
    longest: u64,
    /// Whether any two spans overlap in address; if not, a lookup ends at its first candidate.
    overlaps: bool,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    base: u64,
    end: u64,
    from: u64,
    to: u64,
    index: u32,
}

impl RegionMap {
    /// Indexes `regions`; the numbers that [`RegionMap::find`] gives are positions in this slice.
    #[must_use]
    pub fn new(regions: &[Region]) -> Self {
        let mut spans: Vec<Span> = regions
            .iter()
            .zip(0u32..)
            .map(|(r, index)| {
                let (from, to) = r.lifetime.unwrap_or((0, u64::MAX));
                Span { base: r.base, end: r.end(), from, to, index }
            })
            .collect();
        spans.sort_by_key(|s| (s.base, s.from, s.index));
        let longest = spans.iter().map(|s| s.end - s.base).max().unwrap_or(0);
        let overlaps = spans.windows(2).any(|w| w[0].end > w[1].base);
        Self { spans, longest, overlaps }
    }

    /// As [`RegionMap::find`]; where none lives then, the one that ended last before, else the one that begins first.
    #[must_use]
    pub fn nearest(&self, addr: u64, tick: u64) -> Option<usize> {
        let until = self.spans.partition_point(|s| s.base <= addr);
        let held = self.spans[..until].iter().filter(|s| addr < s.end || s.end == u64::MAX);
        let distance = |s: &&Span| {
            if tick < s.from { (1, s.from - tick) } else { (0, tick.saturating_add(1).saturating_sub(s.to)) }
        };
        self.find(addr, tick).or_else(|| usize::try_from(held.min_by_key(distance)?.index).ok())
    }

    /// The region that holds `addr` while reference number `tick` runs.
    #[must_use]
    pub fn find(&self, addr: u64, tick: u64) -> Option<usize> {
        let mut at = self.spans.partition_point(|s| s.base <= addr);
        while at > 0 {
            at -= 1;
            let s = self.spans[at];
            // A region that ends at the top of memory saturates, and still holds the last byte.
            let inside = addr < s.end || s.end == u64::MAX;
            if inside && (s.from..s.to).contains(&tick) {
                return usize::try_from(s.index).ok();
            }
            if !self.overlaps || addr - s.base >= self.longest {
                return None;
            }
        }
        None
    }
}

/// Why references could not be had: already worded for people, with place, finding, expectation and remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SourceError(pub String);

/// References by number, in chunks: what a timeline replays from. Chunk `k` holds references
/// `k * chunk_len() .. min(len(), (k + 1) * chunk_len())`.
pub trait ReferenceSource: Send + Sync {
    /// Number of references.
    fn len(&self) -> u64;
    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// References in each chunk but the last; 1 or more.
    fn chunk_len(&self) -> u64;
    /// One chunk, decoded. Chunks are dear: keep a few (see `timeline::chunks`).
    ///
    /// # Errors
    /// When the file behind it cannot be read or is damaged.
    fn chunk(&self, index: u64) -> Result<Arc<[Reference]>, SourceError>;
    /// Regions, locations, marks, title.
    fn tables(&self) -> &Tables;
    /// Highest core number, plus one: by a pass over all chunks, unless the source knows better.
    ///
    /// # Errors
    /// As [`ReferenceSource::chunk`].
    fn cores(&self) -> Result<u32, SourceError> {
        let mut cores = 1;
        for index in 0..self.len().div_ceil(self.chunk_len().max(1)) {
            let highest = self.chunk(index)?.iter().map(|r| r.core).max().unwrap_or(0);
            cores = cores.max(u32::from(highest) + 1);
        }
        Ok(cores)
    }
    /// What the user must be told about how this was read: skipped lines, a file cut short. One sentence each.
    fn notices(&self) -> &[String] {
        &[]
    }
}

/// A whole trace in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryTrace {
    references: Vec<Reference>,
    tables: Tables,
    notices: Vec<String>,
}

/// References in one chunk of a [`MemoryTrace`]: large enough that a chunk's overhead vanishes, small enough to copy in
/// well under a millisecond.
const MEMORY_CHUNK: u64 = 1 << 16;

impl MemoryTrace {
    /// Takes the references and their tables; the tables are put in order.
    #[must_use]
    pub fn new(references: Vec<Reference>, mut tables: Tables) -> Self {
        tables.sort();
        Self { references, tables, notices: Vec::new() }
    }

    /// Adds what the user must be told.
    #[must_use]
    pub fn with_notices(mut self, notices: Vec<String>) -> Self {
        self.notices = notices;
        self
    }

    /// All references, in order.
    #[must_use]
    pub fn references(&self) -> &[Reference] {
        &self.references
    }
}

impl ReferenceSource for MemoryTrace {
    fn len(&self) -> u64 {
        self.references.len() as u64
    }

    fn chunk_len(&self) -> u64 {
        MEMORY_CHUNK
    }

    fn chunk(&self, index: u64) -> Result<Arc<[Reference]>, SourceError> {
        let chunks = self.references.chunks(1 << 16);
        let chunk = usize::try_from(index).ok().and_then(|i| chunks.clone().nth(i));
        Ok(chunk.unwrap_or_default().into())
    }

    fn tables(&self) -> &Tables {
        &self.tables
    }

    fn notices(&self) -> &[String] {
        &self.notices
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(name: &str, base: u64, bytes: u64) -> Region {
        Region {
            name: name.into(),
            base,
            bytes,
            elem_bytes: 8,
            elem_type: String::new(),
            shape: vec![],
            row_major: true,
            lifetime: None,
        }
    }

    #[test]
    fn elements_are_named_by_shape_and_order() {
        let mut a = region("A", 0x1000, 16 * 16 * 8);
        assert_eq!(a.element_name(0x1000 + 37 * 8), "A[37]");
        a.shape = vec![16, 16];
        assert_eq!(a.element_name(0x1000 + (2 * 16 + 15) * 8), "A[2][15]");
        a.row_major = false;
        assert_eq!(a.element_name(0x1000 + (2 * 16 + 15) * 8), "A[15][2]");
        assert_eq!(region("code 0x1000..0x2000", 0x1000, 0x1000).element_name(0x1234), "0x1234");
    }

    #[test]
    fn regions_are_found_by_address_and_time() {
        let mut early = region("early", 0x100, 0x40);
        early.lifetime = Some((0, 10));
        let mut late = region("late", 0x100, 0x80);
        late.lifetime = Some((10, 20));
        let map = RegionMap::new(&[region("top", u64::MAX - 7, 8), early, late]);
        assert_eq!(map.find(0x100, 9), Some(1));
        assert_eq!(map.find(0x13f, 10), Some(2));
        assert_eq!(map.find(0x17f, 10), Some(2));
        assert_eq!(map.find(0x17f, 3), None);
        assert_eq!(map.find(0x180, 10), None);
        // What outlives its region, or comes before it, has the nearest one in time.
        assert_eq!(map.nearest(0x100, 25), Some(2));
        assert_eq!(map.nearest(0x100, 5), Some(1));
        assert_eq!(map.nearest(0x17f, 3), Some(2));
        assert_eq!(map.nearest(0x180, 3), None);
        assert_eq!(map.find(u64::MAX, 0), Some(0));
        assert_eq!(map.find(0, 0), None);
    }
}
