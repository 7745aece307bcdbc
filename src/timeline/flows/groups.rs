//! Groups of places between which lines flow: neighbouring sets of a cache, blocks of memory.

use crate::sim::{Geometry, Hierarchy};
use crate::timeline::tally::MAX_LEVELS;
use crate::units::{Addr, CacheId, LineAddr, SetIndex};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Groups of a ring's sets, at most, shared by the caches on it.
const RING: usize = 32;
/// Blocks of memory, at most.
pub(super) const BLOCKS: usize = 96;
/// Entries of the table of blocks found last; a power of two.
const RECENT: usize = 512;

/// Places that flows are summed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Sets of a cache.
    Sets {
        /// Number of the cache.
        cache: u16,
        /// First set.
        first: u32,
        /// How many.
        sets: u32,
    },
    /// Memory: what was touched of a block.
    Home {
        /// First byte of the block.
        addr: u64,
        /// Bytes in it, a power of two.
        bytes: u64,
    },
}

/// No cache's number.
pub(super) const MEMORY: u16 = u16::MAX;

/// The flows between two ends: a row each group of `from`, a column each group of `to`. There are millions of tables where hundreds
/// of cores have several caches each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    pub(super) base: usize,
    /// A cache, or [`MEMORY`].
    pub(super) from: u16,
    /// Likewise.
    pub(super) to: u16,
    /// Groups of `from`.
    rows: u16,
    /// Groups of `to`.
    columns: u16,
}

impl Table {
    #[inline]
    pub(super) fn at(&self, from: usize, to: usize) -> usize {
        self.base + from * usize::from(self.columns) + to
    }

    /// Pairs of groups.
    pub(super) fn len(&self) -> usize {
        usize::from(self.rows) * usize::from(self.columns)
    }

    /// The groups of a pair.
    pub(super) fn pair(&self, number: usize) -> [usize; 2] {
        let columns = usize::from(self.columns);
        [number / columns, number % columns]
    }
}

/// No table's number.
const NO_TABLE: u32 = u32::MAX;

/// A cache's groups and tables.
#[derive(Clone, Debug)]
pub(super) struct Grouped {
    geometry: Geometry,
    pub(super) depth: u8,
    /// log2 of the sets in a group.
    shift: u32,
    groups: usize,
    /// The caches outward on the way of loads and stores, nearest first, then [`MEMORY`] for ever.
    pub(super) outward: [u16; MAX_LEVELS + 1],
    /// What comes in, by the cache that had it; last from memory. Of caches that are never asked for a line there is nothing.
    fills: Vec<u32>,
    /// What goes out, by the cache that has it then; last to memory. Of caches that are not farther out there is nothing.
    out: Vec<u32>,
}

impl Grouped {
    /// The group of a set.
    #[inline]
    pub(super) fn of(&self, set: SetIndex) -> usize {
        (set.0 >> self.shift) as usize
    }

    /// The set of a line.
    #[inline]
    pub(super) fn set_of(&self, line: LineAddr) -> SetIndex {
        self.geometry.set_of(line)
    }

    /// The group of the line that holds a byte.
    #[inline]
    pub(super) fn of_addr(&self, addr: Addr) -> usize {
        self.of(self.geometry.set_of(self.geometry.line_of(addr)))
    }

    #[inline]
    pub(super) fn line_of(&self, addr: Addr) -> LineAddr {
        self.geometry.line_of(addr)
    }

    /// The first byte of a line.
    #[inline]
    pub(super) fn base(&self, line: LineAddr) -> Addr {
        self.geometry.base_of(line)
    }
}

/// Whether a line of a cache may come from each cache.
fn asked(hierarchy: &Hierarchy, of: usize) -> Vec<bool> {
    let mut asked = vec![false; hierarchy.caches().count()];
    let mut rest = vec![CacheId(u16::try_from(of).unwrap_or(MEMORY))];
    while let Some(cache) = rest.pop() {
        for next in hierarchy.asks(cache).into_iter().flatten() {
            if !std::mem::replace(&mut asked[next.index()], true) {
                rest.push(next);
            }
        }
    }
    asked
}

/// All groups of a hierarchy's caches, and the tables between them in one row of numbers.
#[derive(Clone, Debug)]
pub(super) struct Groups {
    pub(super) caches: Vec<Grouped>,
    pub(super) tables: Vec<Table>,
    /// Numbers in all tables.
    pub(super) len: usize,
}

impl Groups {
    /// The table of what comes in to a cache from another, or from [`MEMORY`].
    #[inline]
    pub(super) fn fills(&self, to: CacheId, from: u16) -> Option<Table> {
        let fills = &self.caches[to.index()].fills;
        self.tables.get(fills[usize::from(from).min(fills.len() - 1)] as usize).copied()
    }

    /// The table of what goes out from a cache to another, or to memory.
    #[inline]
    pub(super) fn out(&self, from: CacheId, to: Option<CacheId>) -> Option<Table> {
        let out = &self.caches[from.index()].out;
        self.tables.get(out[to.map_or(out.len() - 1, CacheId::index)] as usize).copied()
    }

    pub(super) fn new(hierarchy: &Hierarchy) -> Arc<Self> {
        let on_ring = |depth| hierarchy.caches().filter(|&cache| hierarchy.info(cache).depth == depth).count();
        let mut caches: Vec<Grouped> = Vec::new();
        for cache in hierarchy.caches() {
            let (geometry, depth) = (*hierarchy.geometry(cache), hierarchy.info(cache).depth);
            let most = (RING / on_ring(depth).max(1)).max(1);
            let mut shift = 0;
            while geometry.sets.div_ceil(1 << shift) as usize > most {
                shift += 1;
            }
            let groups = geometry.sets.div_ceil(1 << shift) as usize;
            let (outward, fills) = ([MEMORY; MAX_LEVELS + 1], Vec::new());
            caches.push(Grouped { geometry, depth, shift, groups, outward, fills, out: Vec::new() });
        }
        let (mut tables, mut len) = (Vec::new(), 0);
        let number = |at: usize| u16::try_from(at).unwrap_or(MEMORY);
        let mut add = |from: u16, to: u16, of: &[Grouped]| {
            let groups = |end: u16| of.get(usize::from(end)).map_or(BLOCKS, |cache| cache.groups);
            let [rows, columns] = [groups(from), groups(to)].map(|n| u16::try_from(n).unwrap_or(u16::MAX));
            let table = Table { from, to, base: len, rows, columns };
            tables.push(table);
            len += table.len();
            u32::try_from(tables.len() - 1).unwrap_or(NO_TABLE)
        };
        for at in 0..caches.len() {
            let mut next = hierarchy.outward(CacheId(number(at)));
            for step in 0..=MAX_LEVELS {
                let Some(cache) = next else { break };
                caches[at].outward[step] = cache.0;
                next = hierarchy.outward(cache);
            }
            let farther = |to: usize| caches[to].depth > caches[at].depth;
            let to_cache = |to| if farther(to) { add(number(at), number(to), &caches) } else { NO_TABLE };
            let mut out: Vec<u32> = (0..caches.len()).map(to_cache).collect();
            out.push(add(number(at), MEMORY, &caches));
            let asked = asked(hierarchy, at);
            let from_cache = |from| if asked[from] { add(number(from), number(at), &caches) } else { NO_TABLE };
            let mut fills: Vec<u32> = (0..caches.len()).map(from_cache).collect();
            fills.push(add(MEMORY, number(at), &caches));
            (caches[at].out, caches[at].fills) = (out, fills);
        }
        Arc::new(Self { caches, tables, len })
    }

    /// The groups that a number is of.
    pub(super) fn ends(&self, number: usize, blocks: &Blocks) -> Option<[Group; 2]> {
        let table = &self.tables[self.tables.partition_point(|table| table.base <= number).checked_sub(1)?];
        let number = number - table.base;
        let group = |end: u16, n: usize| match self.caches.get(usize::from(end)) {
            None => blocks.group(n),
            Some(Grouped { shift, geometry, .. }) => {
                let first = u32::try_from(n).ok()? << shift;
                let sets = (1 << shift).min(geometry.sets.checked_sub(first)?);
                Some(Group::Sets { cache: end, first, sets })
            }
        };
        let [from, to] = table.pair(number);
        Some([group(table.from, from)?, group(table.to, to)?])
    }
}

/// The blocks of memory that were touched: all of one size, as small as a number of them suffice.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::timeline) struct Blocks {
    /// How many there may be.
    most: usize,
    /// log2 of the bytes in a block.
    shift: u32,
    /// Numbers of the blocks (address / size) in the order in which they were found.
    found: Vec<u64>,
    /// Found last, by the low bits of the block's number: the number plus 1, and its place in `found`.
    #[serde(skip)]
    recent: Recent,
}

#[derive(Clone, Debug)]
struct Recent(Box<[(u64, u32); RECENT]>);

impl Default for Recent {
    fn default() -> Self {
        Self(Box::new([(0, 0); RECENT]))
    }
}

impl Blocks {
    /// None yet; at most so many.
    pub(in crate::timeline) fn new(most: usize) -> Self {
        Self { most, shift: 6, found: Vec::new(), recent: Recent::default() }
    }

    /// First byte of each, in the order in which they were found.
    pub(in crate::timeline) fn starts(&self) -> impl Iterator<Item = u64> + '_ {
        self.found.iter().map(|block| block << self.shift)
    }

    /// log2 of the bytes in a block.
    pub(in crate::timeline) fn shift(&self) -> u32 {
        self.shift
    }

    fn group(&self, n: usize) -> Option<Group> {
        Some(Group::Home { addr: self.found.get(n)? << self.shift, bytes: 1 << self.shift })
    }

    /// The place of the block that holds a byte; `None` where there is no room for one more: see [`Blocks::widen`].
    #[inline(always)]
    pub(in crate::timeline) fn of(&mut self, addr: Addr) -> Option<usize> {
        let block = addr.0 >> self.shift;
        let (seen, place) = self.recent.0[slot(block)];
        if seen == block + 1 { Some(place as usize) } else { self.find(block) }
    }

    #[inline(never)]
    fn find(&mut self, block: u64) -> Option<usize> {
        let place = match self.found.iter().position(|found| *found == block) {
            Some(place) => place,
            None if self.found.len() >= self.most => return None,
            None => {
                self.found.push(block);
                self.found.len() - 1
            }
        };
        self.recent.0[slot(block)] = (block + 1, u32::try_from(place).ok()?);
        Some(place)
    }

    /// Doubles the blocks until there is room for one more; where each went.
    pub(in crate::timeline) fn widen(&mut self) -> Vec<usize> {
        let mut moved: Vec<usize> = (0..self.found.len()).collect();
        while self.found.len() >= self.most {
            self.shift += 1;
            let mut wider: Vec<u64> = Vec::new();
            let to: Vec<usize> = self
                .found
                .iter()
                .map(|block| {
                    wider.iter().position(|wide| *wide == block >> 1).unwrap_or_else(|| {
                        wider.push(block >> 1);
                        wider.len() - 1
                    })
                })
                .collect();
            moved.iter_mut().for_each(|place| *place = to[*place]);
            self.found = wider;
        }
        self.recent = Recent::default();
        moved
    }
}

fn slot(block: u64) -> usize {
    (block & (RECENT as u64 - 1)).try_into().unwrap_or(0)
}
