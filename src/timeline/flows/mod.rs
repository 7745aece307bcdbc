//! How many lines went which way in which part of the trace: what trails over millions of references are drawn from.
//!
//! Places are joined into [`Group`]s. A *flow* is the number of lines that went from one group to another: in, from where the
//! line was found to the cache that asked for it, and out, from a cache to the one behind it. Flows are counted exactly, in
//! buckets of equal numbers of references, and summed by eights, so that any part of the trace is a few sums:
//!
//! ```text
//! level 2   [        64 buckets        ]
//! level 1   [ 8 ][ 8 ][ 8 ] ...
//! level 0   ||||||||||||||| ...  bucket = `span` references; as many as fit, then spans double
//! ```
//!
//! What a cache gives up goes to where it is nearest to the CPU afterwards ([`Gone`](crate::sim::Gone)), in lines of the smallest size:
//! the same that the log of moves says, which is what flights and short trails are drawn from. A copy that is given up while one nearer
//! to the CPU is left goes nowhere.

mod count;
mod groups;
mod kept;

pub use groups::Group;

use super::ladder::edge_after;
use crate::sim::Hierarchy;
use crate::units::Addr;
use count::Pending;
pub(super) use groups::Blocks;
use groups::{BLOCKS, Groups, MEMORY};
use std::sync::Arc;

/// References in a bucket, at least.
const SPAN: u64 = 4096;
/// Buckets at most; a power of two.
const BUCKETS: usize = 2048;
/// Buckets, or sums of them, that are summed on the next level.
const FAN: usize = 8;

/// How many lines went from one group to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flow {
    /// Where they were.
    pub from: Group,
    /// Where they came to.
    pub to: Group,
    /// How many; parts of a bucket count by their share.
    pub lines: f32,
}

/// Counts of a part, by place in the tables: each place as the distance from the one before, and its count, as varints.
type Sparse = Arc<[u8]>;

/// All flows of a trace so far. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Flows {
    groups: Arc<Groups>,
    blocks: Blocks,
    /// References in a bucket; a power of two.
    span: u64,
    /// References so far.
    len: u64,
    /// Level *l*: full sums of [`FAN`]^l buckets.
    levels: Vec<Vec<Sparse>>,
    /// The bucket that is filling.
    open: Vec<u32>,
    pending: Option<Pending>,
}

impl Flows {
    /// Of no reference yet; `expected` of them are to come, about.
    #[must_use]
    pub fn new(hierarchy: &Hierarchy, expected: u64) -> Self {
        let groups = Groups::new(hierarchy);
        let open = vec![0; groups.len];
        let (blocks, levels) = (Blocks::new(BLOCKS), vec![Vec::new()]);
        let span = (expected / BUCKETS as u64 + 1).next_power_of_two().max(SPAN);
        Self { groups, blocks, span, len: 0, levels, open, pending: None }
    }

    /// References in a bucket: parts of the trace are told that exactly.
    #[must_use]
    pub fn span(&self) -> u64 {
        self.span
    }

    /// Reference before which a new bucket begins, after reference `tick`: [`Flows::step`] must be told of it.
    pub(super) fn edge_after(&self, tick: u64) -> u64 {
        edge_after(tick, self.span)
    }

    /// Says that reference `tick` is next; ticks come in order. Those between the borders of buckets may be left out.
    #[inline]
    pub(super) fn step(&mut self, tick: u64) {
        if tick & (self.span - 1) == 0 && tick > 0 {
            self.close();
        }
    }

    /// Says how many references there were.
    pub(super) fn reach(&mut self, len: u64) {
        self.len = len;
    }

    #[inline]
    fn block(&mut self, addr: Addr) -> usize {
        loop {
            if let Some(block) = self.blocks.of(addr) {
                return block;
            }
            self.widen();
        }
    }

    /// Makes room for more blocks: the counts of those that are one now are summed.
    #[cold]
    fn widen(&mut self) {
        let moved = self.blocks.widen();
        let groups = Arc::clone(&self.groups);
        let mut to: Vec<usize> = (0..groups.len).collect();
        for table in groups.tables.iter().filter(|table| table.from == MEMORY || table.to == MEMORY) {
            let block = |end: u16, n: usize| match end {
                MEMORY => moved.get(n).copied().unwrap_or(n),
                _ => n,
            };
            for n in 0..table.len() {
                let [from, into] = table.pair(n);
                to[table.base + n] = table.at(block(table.from, from), block(table.to, into));
            }
        }
        let mut row = vec![0; groups.len];
        for node in self.levels.iter_mut().flatten() {
            row.fill(0);
            each(node, |at, count| row[to[at]] += count);
            *node = sparse(&row);
        }
        row.fill(0);
        self.open.iter().zip(&to).for_each(|(count, to)| row[*to] += count);
        self.open = row;
    }

    /// The open bucket is full.
    #[cold]
    fn close(&mut self) {
        self.arrive();
        let full = sparse(&self.open);
        self.open.fill(0);
        self.push(full);
        if self.levels[0].len() == BUCKETS {
            self.span *= 2;
            let old = std::mem::take(&mut self.levels[0]);
            self.levels = vec![Vec::new()];
            for pair in old.chunks(2) {
                let both = self.sum(pair);
                self.push(both);
            }
        }
    }

    /// Adds a bucket, and the sums that are full by it.
    fn push(&mut self, node: Sparse) {
        self.levels[0].push(node);
        for level in 0.. {
            let nodes = &self.levels[level];
            if !nodes.len().is_multiple_of(FAN) {
                return;
            }
            let sum = self.sum(&nodes[nodes.len() - FAN..]);
            if self.levels.len() == level + 1 {
                self.levels.push(Vec::new());
            }
            self.levels[level + 1].push(sum);
        }
    }

    fn sum(&self, nodes: &[Sparse]) -> Sparse {
        let mut row = vec![0u32; self.groups.len];
        for node in nodes {
            each(node, |at, count| row[at] = row[at].saturating_add(count));
        }
        sparse(&row)
    }

    /// The flows of references `from..to`, strongest first. A bucket that they hold a part of counts by that share.
    #[must_use]
    pub fn over(&self, from: f64, to: f64) -> Vec<Flow> {
        let (from, to) = (from.max(0.0), to.min(self.len as f64));
        let mut row = vec![0.0f32; self.groups.len];
        let buckets = [from, to].map(|tick| tick / self.span as f64);
        if buckets[1] > buckets[0] {
            self.add(buckets, &mut row);
        }
        let flows = row.iter().enumerate().filter(|(_, lines)| **lines > 0.0);
        let mut flows: Vec<Flow> = flows
            .filter_map(|(at, &lines)| {
                let [from, to] = self.groups.ends(at, &self.blocks)?;
                Some(Flow { from, to, lines })
            })
            .collect();
        flows.sort_by(|a, b| b.lines.total_cmp(&a.lines).then_with(|| (a.from, a.to).cmp(&(b.from, b.to))));
        flows
    }

    /// Adds the buckets `from..to`, in which parts count by their share.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive; below BUCKETS")]
    fn add(&self, [from, to]: [f64; 2], row: &mut [f32]) {
        let (first, last) = (from.floor() as usize, to.floor() as usize);
        if first == last {
            return self.add_bucket(first, (to - from) as f32, row);
        }
        self.add_bucket(first, (1.0 - from.fract()) as f32, row);
        let mut at = first + 1;
        while at < last {
            // The largest sum that begins here and fits.
            let mut level = 0;
            let mut buckets = 1;
            while at.is_multiple_of(buckets * FAN)
                && at + buckets * FAN <= last
                && self.levels.get(level + 1).is_some_and(|nodes| at / (buckets * FAN) < nodes.len())
            {
                level += 1;
                buckets *= FAN;
            }
            if let Some(node) = self.levels[level].get(at / buckets) {
                each(node, |at, count| row[at] += count as f32);
            } else {
                self.add_bucket(at, 1.0, row);
            }
            at += buckets;
        }
        self.add_bucket(last, to.fract() as f32, row);
    }

    /// Adds a share of a bucket; past the full ones is the open one.
    fn add_bucket(&self, bucket: usize, share: f32, row: &mut [f32]) {
        if share <= 0.0 {
            return;
        }
        if let Some(node) = self.levels[0].get(bucket) {
            each(node, |at, count| row[at] += share * count as f32);
        } else if bucket == self.levels[0].len() {
            // The open bucket has no more references than there are.
            let begun = (self.len - bucket as u64 * self.span).max(1);
            let share = share * self.span as f32 / begun as f32;
            row.iter_mut().zip(&self.open).for_each(|(sum, count)| *sum += share * *count as f32);
        }
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let nodes: usize = self.levels.iter().flatten().map(|node| node.len() + size_of::<Sparse>()).sum();
        nodes + self.open.len() * size_of::<u32>()
    }
}

/// The counts that are not 0.
fn sparse(row: &[u32]) -> Sparse {
    let (mut out, mut last) = (Vec::new(), 0);
    for (at, &count) in row.iter().enumerate().filter(|(_, count)| **count > 0) {
        varint(&mut out, u32::try_from(at - last).unwrap_or(u32::MAX));
        varint(&mut out, count);
        last = at;
    }
    out.into()
}

fn varint(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push((value & 0x7f) as u8);
}

/// Gives each place and its count.
fn each(node: &[u8], mut take: impl FnMut(usize, u32)) {
    let mut bytes = node.iter();
    let mut next = || {
        let (mut value, mut shift) = (0u32, 0);
        loop {
            let byte = *bytes.next()?;
            value |= u32::from(byte & 0x7f).checked_shl(shift)?;
            shift += 7;
            if byte < 0x80 {
                return Some(value);
            }
        }
    };
    let mut at = 0usize;
    while let (Some(step), Some(count)) = (next(), next()) {
        at += step as usize;
        take(at, count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::Gone;
    use crate::sim::config::preset;
    use crate::units::CacheId;

    #[test]
    fn buckets_double_and_lose_nothing() {
        let hierarchy = Hierarchy::new(&preset("paper").expect("a preset")).expect("sound");
        let mut flows = Flows::new(&hierarchy, 0);
        let buckets = 5 * BUCKETS as u64 / 2 + 3;
        for bucket in 0..buckets {
            let tick = bucket * SPAN;
            if tick.is_multiple_of(flows.span) {
                flows.step(tick);
            }
            // As many as its number says, to tell them apart.
            for _ in 0..bucket % 7 {
                flows.leave(Gone { from: CacheId(0), addr: Addr(64), to: Some(CacheId(1)) });
            }
            flows.reach(tick + SPAN);
        }
        assert_eq!(flows.span, 4 * SPAN);
        let expected = |from: u64, to: u64| (from..to).map(|bucket| bucket % 7).sum::<u64>() as f32;
        for [from, to] in [[0, buckets], [0, 8], [8, 4 * 64], [400, 4 * BUCKETS as u64 / 2], [buckets - 3, buckets]] {
            let found = flows.over((from * SPAN) as f64, (to * SPAN) as f64);
            assert_eq!(found.len(), 1);
            let lines = found[0].lines;
            // A part of a bucket counts by its share.
            assert!((lines - expected(from, to)).abs() <= 12.0, "{from}..{to}: {lines}, {}", expected(from, to));
            if (from.is_multiple_of(4), to.is_multiple_of(4) || to == buckets) == (true, true) {
                assert!((lines - expected(from, to)).abs() < 0.01, "{from}..{to}: {lines}, {}", expected(from, to));
            }
        }
    }
}
