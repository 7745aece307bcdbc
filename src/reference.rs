//! One record of a trace, and the tables that give records a meaning: regions, source locations, marks.
//!
//! Readers make these, everything downstream eats them. No IO here.

use crate::shown;
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

mod ahead;
pub use ahead::{ahead, all_of, in_order};
mod array;
pub use array::{ArrayLayout, LayoutError};
mod files;
pub use files::{plain_path, tell_files_apart};
mod lines;
pub use lines::{LineFinder, LineMap};
mod named;
pub use named::{NameError, bytes_named, name_of_bytes};
mod few;
pub use few::{MOST_REGIONS, few_regions};

mod footprint;
pub use footprint::Footprint;

mod region_names;
pub(crate) use region_names::RegionNames;

mod iteration;
pub use iteration::{LoopAt, LoopsAt};

mod rare;
pub use rare::Rare;

mod regions;
pub use regions::{RegionFinder, RegionMap, Stretch};

mod source_texts;
pub use source_texts::SourceTexts;

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

/// A named piece of memory: an array, a heap block, a stack frame. There may be a million in a trace, so that what few have is [`Rare`].
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
    #[serde(default, skip_serializing_if = "nothing")]
    pub elem_type: Rare<String>,
    /// Extents, outermost first: `[16, 16]`; empty = unknown, then one row of elements.
    #[serde(default)]
    pub shape: Rare<Vec<u64>>,
    /// Order of the elements in memory: the last extent varies fastest (`true`, C) or the first (`false`, Fortran).
    /// Ignored where there are strides.
    #[serde(default = "yes")]
    pub row_major: bool,
    /// Elements of memory from one index to the next, for each extent: `[17, 1]` for rows of 16 with one element of padding.
    /// Below 0 where an array is read from its end, 0 where one element stands for all; see [`Region::layout`]. Empty = the
    /// elements lie side by side in the order that `row_major` tells.
    #[serde(default, skip_serializing_if = "nothing")]
    pub strides: Rare<Vec<i64>>,
    /// Elements of memory from `base` to the element whose indices are all 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub offset: u64,
    /// References `[from, to)` during which the region lives; `None` = always. Two regions may share an address at
    /// different times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifetime: Option<(u64, u64)>,
}

fn yes() -> bool {
    true
}

fn nothing<T: rare::Empty>(value: &Rare<T>) -> bool {
    value.holds_nothing()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(offset: &u64) -> bool {
    *offset == 0
}

impl Region {
    /// Elements of 8 bytes, of no type and no shape, there all the time.
    #[must_use]
    pub fn new(name: impl Into<String>, base: u64, bytes: u64) -> Self {
        Self {
            name: name.into(),
            base,
            bytes,
            elem_bytes: 8,
            elem_type: Rare::NONE,
            shape: Rare::NONE,
            row_major: true,
            strides: Rare::NONE,
            offset: 0,
            lifetime: None,
        }
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

    /// The order in which regions stand in tables: by place, then time, then name.
    #[must_use]
    pub fn order(&self, other: &Self) -> std::cmp::Ordering {
        (self.base, self.lifetime, &self.name).cmp(&(other.base, other.lifetime, &other.name))
    }

    /// `A[16][16]`, or `A` and its element count.
    #[must_use]
    pub fn declaration(&self) -> String {
        if self.shape.is_empty() {
            return self.name.clone();
        }
        let mut name = self.name.clone();
        for extent in self.shape.iter() {
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
    /// File name as it should be shown: no two files of a trace have the same.
    pub file: String,
    /// Where the file was, as the compiler had it; empty = unknown, or as it is shown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
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
    /// Where the compiler had a source file, by the name that it is shown by; empty = unknown.
    #[must_use]
    pub fn path_of(&self, file: &str) -> &str {
        let known = self.locations.iter().find(|location| location.file == file && !location.path.is_empty());
        known.map_or("", |location| &location.path)
    }

    /// These tables with names that are fit for a picture; the same where they all are.
    #[must_use]
    pub fn shown(tables: &Arc<Self>) -> Arc<Self> {
        let mut unfit = false;
        tables.each(&mut |text| unfit |= matches!(shown::name(text), Cow::Owned(_)));
        if !unfit {
            return Arc::clone(tables);
        }
        let fit = |text: &str| shown::name(text).into_owned();
        let Self { title, subtitle, regions, locations, marks, made_by } = &**tables;
        let region = |r: &Region| Region { name: fit(&r.name), elem_type: fit(&r.elem_type).into(), ..r.clone() };
        let location = |l: &SourceLocation| SourceLocation {
            file: fit(&l.file),
            path: fit(&l.path),
            function: fit(&l.function),
            text: fit(&l.text),
            pc: l.pc,
            line: l.line,
        };
        Arc::new(Self {
            title: fit(title),
            subtitle: fit(subtitle),
            regions: regions.iter().map(region).collect(),
            locations: locations.iter().map(location).collect(),
            marks: marks.iter().map(|m| Mark { name: fit(&m.name), ..m.clone() }).collect(),
            made_by: fit(made_by),
        })
    }

    /// Every text in them.
    pub(crate) fn each(&self, see: &mut dyn FnMut(&str)) {
        [&self.title, &self.subtitle, &self.made_by].into_iter().for_each(|text| see(text));
        self.regions.iter().flat_map(|r| [&r.name, &*r.elem_type]).for_each(|text| see(text));
        self.locations.iter().flat_map(|l| [&l.file, &l.function, &l.text]).for_each(|text| see(text));
        self.marks.iter().for_each(|m| see(&m.name));
    }

    /// What says nothing.
    pub const NONE: Self = Self {
        title: String::new(),
        subtitle: String::new(),
        regions: Vec::new(),
        locations: Vec::new(),
        marks: Vec::new(),
        made_by: String::new(),
    };

    /// The location of `pc`; `None` if unknown. `locations` must be sorted by pc.
    #[must_use]
    pub fn location(&self, pc: u64) -> Option<&SourceLocation> {
        let at = self.locations.binary_search_by_key(&pc, |l| l.pc).ok()?;
        self.locations.get(at)
    }

    /// Brings each table into the order its lookups rely on.
    pub fn sort(&mut self) {
        self.regions.sort_by(Region::order);
        self.locations.sort_by_key(|l| l.pc);
        self.marks.sort_by_key(|m| m.reference);
    }

    /// See [`Self::sort`].
    #[must_use]
    pub fn sorted(mut self) -> Self {
        self.sort();
        self
    }

    /// Whether [`Self::sort`] would change nothing.
    #[must_use]
    pub fn is_sorted(&self) -> bool {
        self.regions.is_sorted_by(|a, b| a.order(b).is_le())
            && self.locations.is_sorted_by_key(|l| l.pc)
            && self.marks.is_sorted_by_key(|m| m.reference)
    }
}

/// Why references could not be had: already worded for people, with place, finding, expectation and remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SourceError(pub String);

/// References by number, in chunks: what a timeline replays from. Chunk `k` holds references
/// `k * chunk_len() .. min(len(), (k + 1) * chunk_len())`.
pub trait ReferenceSource: Send + Sync {
    /// Number of references that are there. It never shrinks.
    fn len(&self) -> u64;
    /// Whether that is all; while more may come, the length is a multiple of [`ReferenceSource::chunk_len`], and tables may be empty.
    fn is_whole(&self) -> bool {
        true
    }
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
    /// Replaces `out` by references from number `from` on: as many as are had at once at the least cost, and none only past
    /// the end. For whoever takes them all, one after the other; see [`ahead`].
    ///
    /// # Errors
    /// As [`ReferenceSource::chunk`].
    fn batch(&self, from: u64, out: &mut Vec<Reference>) -> Result<(), SourceError> {
        out.clear();
        if from < self.len() {
            let chunk = self.chunk(from / self.chunk_len())?;
            let skipped = usize::try_from(from % self.chunk_len()).unwrap_or(usize::MAX);
            out.extend_from_slice(chunk.get(skipped..).unwrap_or_default());
        }
        Ok(())
    }
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
    /// Words that are the same for the same references and tables only, wherever they are; `None` where that is not known
    /// without reading all.
    fn identity(&self) -> Option<String> {
        None
    }
    /// The loops that are under way at a reference, where references are computed from loops.
    fn loops_at(&self, _tick: u64) -> Option<LoopsAt> {
        None
    }
    /// What computes the references, for those who know its type; `None` where they are read.
    fn computed_by(&self) -> Option<&dyn Any> {
        None
    }
}

impl<S: ReferenceSource + ?Sized> ReferenceSource for Arc<S> {
    fn len(&self) -> u64 {
        self.as_ref().len()
    }

    fn is_whole(&self) -> bool {
        self.as_ref().is_whole()
    }

    fn chunk_len(&self) -> u64 {
        self.as_ref().chunk_len()
    }

    fn chunk(&self, index: u64) -> Result<Arc<[Reference]>, SourceError> {
        self.as_ref().chunk(index)
    }

    fn batch(&self, from: u64, out: &mut Vec<Reference>) -> Result<(), SourceError> {
        self.as_ref().batch(from, out)
    }

    fn tables(&self) -> &Tables {
        self.as_ref().tables()
    }

    fn cores(&self) -> Result<u32, SourceError> {
        self.as_ref().cores()
    }

    fn notices(&self) -> &[String] {
        self.as_ref().notices()
    }

    fn identity(&self) -> Option<String> {
        self.as_ref().identity()
    }

    fn loops_at(&self, tick: u64) -> Option<LoopsAt> {
        self.as_ref().loops_at(tick)
    }

    fn computed_by(&self) -> Option<&dyn Any> {
        self.as_ref().computed_by()
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
