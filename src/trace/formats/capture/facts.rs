//! What a captured program's records say beside references: heap blocks, named regions, marks; and how they become regions.

use super::modules::Modules;
use super::named::NamedRegions;
use crate::reference::{Mark, Region, Tables};
use std::collections::BTreeMap;

/// Blocks remembered at most (48 bytes each): past that, freed ones are forgotten, and counted.
const BLOCKS: usize = 1 << 20;
/// Ways to allocations told apart at most; past that only the innermost call counts.
const WAYS: usize = 1 << 16;
/// Blocks up to which each is a region of its own.
const FEW: usize = 256;
/// Blocks of one site up to which each is a region of its own, however many others there are.
const FEW_OF_SITE: usize = 16;
/// Bytes between blocks that are still neighbours: an allocator's own data and rounding.
const GAP: u64 = 32;
/// Heap regions at most.
const REGIONS: usize = 4096;

/// What made a heap block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Made {
    /// Not said.
    #[default]
    Unknown,
    /// `malloc`, and all that is like it.
    Malloc,
    /// `calloc`
    Calloc,
    /// `realloc`, `reallocarray`
    Realloc,
    /// `operator new`
    New,
    /// `strdup`, `strndup`
    Strdup,
}

impl Made {
    pub(super) fn from_code(code: u64) -> Self {
        match code {
            1 => Self::Malloc,
            2 => Self::Calloc,
            3 => Self::Realloc,
            4 => Self::New,
            5 => Self::Strdup,
            _ => Self::Unknown,
        }
    }

    /// The word shown to people.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Unknown => "heap",
            Self::Malloc => "malloc",
            Self::Calloc => "calloc",
            Self::Realloc => "realloc",
            Self::New => "new",
            Self::Strdup => "strdup",
        }
    }
}

/// What a heap region is called, and what its elements are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// The variable, or the place of the call.
    pub name: String,
    /// Name of the elements' type; empty = unknown.
    pub elem_type: String,
    /// Bytes of an element; 0 = unknown.
    pub elem_bytes: u32,
    /// Extents of all axes but the outermost.
    pub inner_shape: Vec<u64>,
}

/// A function entered: what its frame's arrays are named by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Number of the thread.
    pub thread: u64,
    /// Canonical frame address.
    pub frame: u64,
    /// In the function.
    pub pc: u64,
    /// The reference before which it was entered.
    pub now: u64,
}

/// A heap block, from its allocation to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// First byte.
    pub base: u64,
    /// Length, 1 or more.
    pub bytes: u64,
    /// Inside the call that made it; 0 = unknown.
    pub site: u64,
    /// What made it.
    pub made: Made,
    /// First reference after its allocation.
    pub from: u64,
    /// One past the last reference before it was freed; `u64::MAX` = never.
    pub to: u64,
}

/// All heap blocks.
#[derive(Clone, Debug, Default)]
pub struct Heap {
    live: BTreeMap<u64, Block>,
    gone: Vec<Block>,
    forgotten: u64,
    /// Calls that led to allocations, innermost first, each once; and the number of each, which is a block's site until
    /// they are settled.
    calls: Vec<Vec<u64>>,
    numbers: BTreeMap<Vec<u64>, u64>,
}

impl Heap {
    pub(super) fn allocated(&mut self, base: u64, bytes: u64, made: Made, calls: &[u64], now: u64) {
        let bytes = bytes.min(u64::MAX - base);
        if bytes == 0 {
            return;
        }
        self.freed(base, now);
        if self.live.len() >= BLOCKS {
            self.forgotten += 1;
            return;
        }
        let site = self.number(calls);
        self.live.insert(base, Block { base, bytes, site, made, from: now, to: u64::MAX });
    }

    fn number(&mut self, calls: &[u64]) -> u64 {
        if let Some(&n) = self.numbers.get(calls) {
            return n;
        }
        // Recursion has ever new ways to get to the same place: past some number, only the place counts.
        let calls = if self.calls.len() < WAYS { calls } else { calls.get(..1).unwrap_or_default() };
        let next = self.calls.len() as u64;
        let n = *self.numbers.entry(calls.to_vec()).or_insert(next);
        if n == next {
            self.calls.push(calls.to_vec());
        }
        n
    }

    /// The site of each of [`Heap::calls`] by `of`, in the place of its number.
    pub(super) fn settle(&mut self, of: impl FnMut(&[u64]) -> u64) {
        let sites: Vec<u64> = self.calls.iter().map(Vec::as_slice).map(of).collect();
        for block in self.live.values_mut().chain(&mut self.gone) {
            let number = usize::try_from(block.site).unwrap_or(usize::MAX);
            block.site = sites.get(number).copied().unwrap_or_default();
        }
        (self.calls, self.numbers) = Default::default();
    }

    pub(super) fn freed(&mut self, base: u64, now: u64) {
        let Some(block) = self.live.remove(&base) else { return };
        // Nothing happened while it lived.
        if block.from == now {
            return;
        }
        if self.gone.len() >= BLOCKS {
            self.forgotten += 1;
            return;
        }
        self.gone.push(Block { to: now, ..block });
    }

    /// All of them, by base and time.
    fn blocks(&self) -> Vec<Block> {
        let mut all: Vec<Block> = self.gone.iter().chain(self.live.values()).copied().collect();
        if !self.calls.is_empty() {
            // Not settled: the innermost call.
            for block in &mut all {
                let calls = usize::try_from(block.site).ok().and_then(|n| self.calls.get(n));
                block.site = calls.and_then(|c| c.first()).copied().unwrap_or_default();
            }
        }
        all.sort_by_key(|b| (b.base, b.from));
        all
    }
}

/// What the records said.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Heap blocks.
    pub heap: Heap,
    /// Regions that the program named.
    pub(super) named: NamedRegions,
    /// Marks that the program set.
    pub marks: Vec<Mark>,
    /// Functions entered since this was last emptied (which whoever reads must do).
    pub entries: Vec<Entry>,
    /// Files that come and go.
    pub(super) modules: Modules,
    /// Records of a kind that this version does not know.
    pub unknown: u64,
}

/// A heap region: one block, or neighbours of one site joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeapRegion {
    /// Inside the call that made it; 0 = unknown.
    pub site: u64,
    /// Blocks that it stands for, 1 or more.
    pub blocks: u64,
    /// Bytes from one block to the next, or of the block itself.
    pub stride: u64,
    /// The stretch and lifetime of all of them.
    pub span: Block,
}

impl Facts {
    pub(super) fn mark(&mut self, name: &[u8], now: u64) {
        self.marks.push(Mark { reference: now, name: String::from_utf8_lossy(name).into_owned() });
    }

    pub(super) fn region(&mut self, name: &[u8], base: u64, elem: u64, (rows, cols): (u64, u64), now: u64) {
        let elem_bytes = u32::try_from(elem).unwrap_or(1).max(1);
        let count = rows.checked_mul(cols.max(1));
        let Some(bytes) = count.and_then(|n| n.checked_mul(u64::from(elem_bytes))).filter(|b| *b > 0) else { return };
        if base.checked_add(bytes).is_none() {
            return;
        }
        // What the block did before it had a name belongs to it too.
        let block = self.heap.live.range(..=base).next_back().map(|(_, b)| *b).filter(|b| base - b.base < b.bytes);
        let region = Region {
            elem_bytes,
            shape: if cols > 1 { vec![rows, cols] } else { vec![rows] }.into(),
            ..Region::new(String::from_utf8_lossy(name).into_owned(), base, bytes)
        };
        self.named.add(region, block.map_or(0, |b| b.from), now);
    }

    /// Heap blocks as regions, few enough to be shown: many blocks of one site that lie side by side are one region. Gives
    /// also what the user must be told.
    #[must_use]
    pub fn heap_regions(&self) -> (Vec<HeapRegion>, Vec<String>) {
        let blocks = self.heap.blocks();
        let mut of_site: BTreeMap<u64, usize> = BTreeMap::new();
        for b in &blocks {
            *of_site.entry(b.site).or_default() += 1;
        }
        let alone = |b: &Block| blocks.len() <= FEW || of_site.get(&b.site).is_some_and(|n| *n <= FEW_OF_SITE);
        let mut out: Vec<HeapRegion> = Vec::new();
        for b in &blocks {
            if let Some(last) = out.last_mut()
                && !alone(b)
                && last.site == b.site
                && b.base <= last.span.base.saturating_add(last.span.bytes).saturating_add(GAP)
            {
                last.stride =
                    if last.blocks == 1 && b.base > last.span.base { b.base - last.span.base } else { last.stride };
                last.blocks += 1;
                let end = (b.base + b.bytes).max(last.span.base + last.span.bytes);
                last.span.bytes = end - last.span.base;
                (last.span.from, last.span.to) = (last.span.from.min(b.from), last.span.to.max(b.to));
                continue;
            }
            out.push(HeapRegion { site: b.site, blocks: 1, stride: b.bytes, span: *b });
        }
        let mut notices = Vec::new();
        if out.len() > REGIONS {
            let left_out = out.len() - REGIONS;
            out.sort_by_key(|r| std::cmp::Reverse(r.span.bytes));
            out.truncate(REGIONS);
            out.sort_by_key(|r| (r.span.base, r.span.from));
            notices.push(format!("{left_out} of {} heap regions, the smallest, have no name", left_out + REGIONS));
        }
        if self.heap.forgotten > 0 {
            notices.push(format!("{} heap blocks past the first {BLOCKS} have no name", self.heap.forgotten));
        }
        (out, notices)
    }

    /// Tables with what the program itself said, and heap blocks named by `name_of`; `total` references were recorded.
    #[must_use]
    pub fn tables(&self, total: u64, mut name_of: impl FnMut(&HeapRegion) -> Named) -> (Tables, Vec<String>) {
        let (heap, notices) = self.heap_regions();
        let end = |to: u64| if to == u64::MAX { total } else { to };
        let mut names: BTreeMap<String, u64> = BTreeMap::new();
        let (mut regions, own) = (Vec::new(), self.named.by_base());
        for r in &heap {
            // The program's own name for the same block tells more.
            let mut overlapping = own.overlapping(r.span.base, r.span.base + r.span.bytes);
            if overlapping.any(|n| {
                let lives = n.lifetime.is_none_or(|(from, to)| from < r.span.to && r.span.from < to);
                lives && n.bytes >= r.span.bytes
            }) {
                continue;
            }
            let Named { mut name, elem_type, elem_bytes, inner_shape } = name_of(r);
            let times = names.entry(name.clone()).and_modify(|n| *n += 1).or_insert(1);
            if *times > 1 {
                name.push_str(&format!(" #{times}"));
            }
            let elem_bytes = match elem_bytes {
                n if n > 0 && u64::from(n) <= r.span.bytes => n,
                _ if r.blocks > 1 => u32::try_from(r.stride).unwrap_or(1).max(1),
                _ if r.span.bytes.is_multiple_of(8) => 8,
                _ => 1,
            };
            let inner = inner_shape.iter().try_fold(u64::from(elem_bytes), |n, &extent| n.checked_mul(extent));
            let rows = inner.filter(|&n| n > 0 && !inner_shape.is_empty()).map_or(0, |n| r.span.bytes / n);
            let shape = if rows > 0 { [vec![rows], inner_shape].concat() } else { Vec::new() };
            regions.push(Region {
                elem_bytes,
                elem_type: elem_type.into(),
                shape: shape.into(),
                lifetime: Some((r.span.from, end(r.span.to))).filter(|l| *l != (0, total)),
                ..Region::new(name, r.span.base, r.span.bytes)
            });
        }
        regions.extend(self.named.all().cloned().map(|mut r| {
            r.lifetime = r.lifetime.map(|(from, to)| (from, end(to))).filter(|l| *l != (0, total));
            r
        }));
        regions.retain(|r| r.lifetime.is_none_or(|(from, to)| from < to));
        (Tables { regions, marks: self.marks.clone(), ..Tables::default() }, notices)
    }
}
