//! Which shard an address belongs to, and what its address is there.
//!
//! ```text
//! address   | high bits | shard | low bits |      low bits: a byte of the largest line of all caches
//! there     |     high bits     | low bits |      what is left names it in its shard
//! ```
//!
//! The shard's bits are part of the set number of every cache, so two addresses of different shards never meet in a set.

use crate::reference::{Kind, Reference};
use crate::sim::config::{HierarchyConfig, Prefetch};
use crate::sim::{Geometry, Hierarchy, Index, Policy};
use thiserror::Error;

/// Why a hierarchy cannot be parted into shards.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unsharded {
    /// Pages are translated.
    #[error("TLBs see the pages of all sets")]
    Tlbs,
    /// Private caches of several cores.
    #[error("the cores' private caches follow each other's stores")]
    Coherence,
    /// A level fetches lines unasked.
    #[error("the prefetcher of {level} reaches into other sets")]
    Prefetch {
        /// Its name.
        level: String,
    },
    /// A policy looks at more than the set.
    #[error("the policy of {level}, {policy}, looks at more than one set")]
    Policy {
        /// The level's name.
        level: String,
        /// Which.
        policy: Policy,
    },
    /// Sets are not told by low bits of the address.
    #[error("{level} spreads its lines over the sets by a hash ({index})")]
    Index {
        /// Its name.
        level: String,
        /// Which.
        index: Index,
    },
    /// There are no low bits that all levels use.
    #[error("{level} has too few sets to share a bit of their number with the other levels")]
    Sets {
        /// Its name.
        level: String,
    },
    /// Loads or fetches go to memory as they are, however long.
    #[error("no cache holds {what}")]
    Uncached {
        /// Data or instructions.
        what: &'static str,
    },
    /// No more was asked for.
    #[error("one shard was asked for")]
    Asked,
    /// The machine has too few threads: reading a trace keeps one busy.
    #[error("this machine has {0} threads, of which one reads the trace; from 4 on the sets are shared out")]
    Threads(usize),
}

/// Takes `bits` bits out of a number.
fn without(number: u64, at: u32, bits: u32) -> u64 {
    (number >> (at + bits) << at) | (number & ((1 << at) - 1))
}

/// Puts them in again.
fn with(number: u64, at: u32, bits: u32, value: u64) -> u64 {
    (number >> at << (at + bits)) | (value << at) | (number & ((1 << at) - 1))
}

/// How addresses are parted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sim) struct Split {
    /// log2 of the largest line.
    low: u32,
    /// log2 of the number of shards.
    bits: u32,
}

/// The part of a reference that lies in one shard's line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) shard: usize,
    /// By its address there.
    pub(super) reference: Reference,
}

impl Split {
    /// Into shards, a power of two and `most` at most.
    pub(super) fn of(hierarchy: &Hierarchy, most: usize) -> Result<Self, Unsharded> {
        let config = hierarchy.config();
        if let Some(why) = crosses(config, hierarchy) {
            return Err(why);
        }
        let shapes = || hierarchy.caches().map(|cache| (hierarchy.info(cache).level, hierarchy.geometry(cache)));
        let low = shapes().map(|(_, geometry)| geometry.line_bytes.trailing_zeros()).max().unwrap_or(0);
        let least = shapes().min_by_key(|(_, geometry)| top(geometry));
        let Some((level, geometry)) = least.filter(|_| most > 1) else { return Err(Unsharded::Asked) };
        let bits = top(geometry).saturating_sub(low).min(most.ilog2());
        if bits == 0 {
            return Err(Unsharded::Sets { level: config.levels[level.index()].name.clone() });
        }
        Ok(Self { low, bits })
    }

    pub(super) fn shards(self) -> usize {
        1 << self.bits
    }

    /// Pieces of a reference in the order in which they are played: rising addresses; a modify reads all before it writes.
    #[inline]
    pub(super) fn pieces(self, reference: &Reference, mut take: impl FnMut(Piece)) {
        let first = reference.addr;
        let last = first.saturating_add(u64::from(reference.size.max(1)) - 1);
        if first >> self.low == last >> self.low {
            // In its shard there are bytes past the last.
            let size = u32::try_from(last - first + 1).unwrap_or(reference.size);
            return take(self.piece(Reference { size, ..*reference }, first));
        }
        let kinds = match reference.kind {
            Kind::Modify => &[Kind::Read, Kind::Write][..],
            _ => std::slice::from_ref(&reference.kind),
        };
        for &kind in kinds {
            let mut addr = first;
            loop {
                let end = (addr | ((1 << self.low) - 1)).min(last);
                let size = u32::try_from(end - addr + 1).unwrap_or(u32::MAX);
                take(self.piece(Reference { kind, size, ..*reference }, addr));
                if end == last {
                    break;
                }
                addr = end + 1;
            }
        }
    }

    #[inline(always)]
    fn piece(self, reference: Reference, addr: u64) -> Piece {
        #[expect(clippy::cast_possible_truncation, reason = "below the number of shards")]
        let shard = (addr >> self.low) as usize & (self.shards() - 1);
        Piece { shard, reference: Reference { addr: without(addr, self.low, self.bits), ..reference } }
    }

    /// The address of what a shard calls `addr`.
    #[inline]
    pub(super) fn addr(self, addr: u64, shard: usize) -> u64 {
        with(addr, self.low, self.bits, shard as u64)
    }

    /// The number of what a shard calls line `line` of 2^`line_bits` bytes.
    #[inline]
    pub(in crate::sim) fn line(self, line: u64, line_bits: u32, shard: usize) -> u64 {
        with(line, self.low - line_bits, self.bits, shard as u64)
    }

    /// What line `line` is called in its shard: the inverse of [`Split::line`].
    pub(in crate::sim) fn line_there(self, line: u64, line_bits: u32) -> u64 {
        without(line, self.low - line_bits, self.bits)
    }

    /// The number of what a shard calls set `set` of a cache with such lines.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a set of the whole cache, whose number is a u32")]
    pub(in crate::sim) fn set(self, set: u32, line_bits: u32, shard: usize) -> u32 {
        with(u64::from(set), self.low - line_bits, self.bits, shard as u64) as u32
    }

    /// The shape of what a shard has of a cache.
    pub(in crate::sim) fn geometry(self, whole: &Geometry) -> Geometry {
        Geometry::new(whole.sets >> self.bits, whole.ways, whole.line_bytes, Index::Modulo, 1)
    }
}

/// One past the highest address bit that the low bits of a cache's set number are made of.
fn top(geometry: &Geometry) -> u32 {
    geometry.line_bytes.trailing_zeros() + geometry.sets.trailing_zeros()
}

/// What looks beyond a set.
fn crosses(config: &HierarchyConfig, hierarchy: &Hierarchy) -> Option<Unsharded> {
    if !hierarchy.tlbs().is_empty() {
        return Some(Unsharded::Tlbs);
    }
    if hierarchy.sharing().is_some() {
        return Some(Unsharded::Coherence);
    }
    for level in &config.levels {
        let name = || level.name.clone();
        if level.prefetch != Prefetch::None {
            return Some(Unsharded::Prefetch { level: name() });
        }
        if level.policy.about().crosses_sets {
            return Some(Unsharded::Policy { level: name(), policy: level.policy });
        }
        if level.index != Index::Modulo {
            return Some(Unsharded::Index { level: name(), index: level.index });
        }
    }
    let sides = [("data", false), ("instructions", true)].into_iter().filter(|side| !(side.1 && config.data_only));
    let mut uncached = sides.filter(|(_, fetch)| !config.levels.iter().any(|level| level.holds.serves(*fetch)));
    uncached.next().map(|(what, _)| Unsharded::Uncached { what })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_out_can_be_put_in_again() {
        let split = Split { low: 6, bits: 3 };
        for addr in [0, 63, 64, 0x1234_5678, u64::MAX] {
            let mut found = Vec::new();
            split.pieces(&Reference::new(Kind::Read, addr, 1), |piece| found.push(piece));
            assert_eq!(found.len(), 1);
            assert_eq!(split.addr(found[0].reference.addr, found[0].shard), addr);
            assert_eq!(found[0].shard as u64, addr >> 6 & 7);
        }
        assert_eq!((split.line(2, 5, 5), split.set(3, 6, 1)), (26, 25));
    }

    #[test]
    fn a_modify_over_two_lines_reads_both_before_it_writes_one() {
        let split = Split { low: 6, bits: 1 };
        let mut found = Vec::new();
        split.pieces(&Reference::new(Kind::Modify, 60, 72), |piece| {
            let Reference { kind, addr, size, .. } = piece.reference;
            found.push((piece.shard, kind, addr, size));
        });
        let (read, write) = (Kind::Read, Kind::Write);
        let pieces = |kind| [(0, kind, 60, 4), (1, kind, 0, 64), (0, kind, 64, 4)];
        assert_eq!(found, [pieces(read), pieces(write)].concat());
        // Bytes past 2^64 do not exist.
        found.clear();
        split.pieces(&Reference::new(read, u64::MAX - 64, 200), |piece| {
            found.push((piece.shard, read, piece.reference.addr, piece.reference.size));
        });
        assert_eq!(found, [(0, read, u64::MAX >> 1, 1), (1, read, (u64::MAX >> 1) - 63, 64)]);
        found.clear();
        split.pieces(&Reference::new(read, u64::MAX - 3, 200), |piece| {
            found.push((piece.shard, read, piece.reference.addr, piece.reference.size));
        });
        assert_eq!(found, [(1, read, (u64::MAX >> 1) - 3, 4)]);
    }
}
