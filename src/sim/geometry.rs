//! Where a line may stand: address to line, line to set.

use crate::units::{Addr, LineAddr, SetIndex};
use std::fmt;

/// Which set a line belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Index {
    /// Line number modulo sets, any number of them (`"modulo"`).
    #[default]
    Modulo,
    /// All groups of log2(sets) bits of the line number, folded together by exclusive or (`"xor-fold"`): spreads strides of
    /// powers of two (Gonzalez, Valero, Topham, Parcerisa 1997).
    XorFold,
    /// Sets in 2, 4 or 8 slices; the slice is a hash of the address, the set in it the low bits of the line number
    /// (`"slice"`): Intel's last-level caches (Maurice, Le Scouarnec, Neumann, Heen, Francillon 2015).
    Slice,
}

impl fmt::Display for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Modulo => "modulo",
            Self::XorFold => "xor-fold",
            Self::Slice => "slice",
        })
    }
}

/// Address bits whose parity is a bit of the slice number, lowest first (Maurice et al. 2015, table 1).
const SLICE_MASKS: [u64; 3] = [0x1b_5f57_5440, 0x2e_b5fa_a880, 0x3c_ccc9_3100];

/// The checked shape of one level; a bad one cannot be made (see [`HierarchyConfig::check`]).
///
/// [`HierarchyConfig::check`]: super::config::HierarchyConfig::check
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Number of sets, 1 or more, not necessarily a power of two.
    pub sets: u32,
    /// Lines in a set, 1 or more.
    pub ways: u32,
    /// Bytes in a line, a power of two.
    pub line_bytes: u32,
    /// Which set a line belongs to.
    pub index: Index,
    /// log2 of `line_bytes`.
    line_shift: u32,
    /// Low bits of a line number that its set implies: log2 of `sets` where lines go to sets by these bits, else 0.
    tag_shift: u32,
    /// `sets - 1` where lines go to sets by their low bits alone.
    mask: Option<u64>,
    /// log2 of `sets`, of all slices together, where that is a power of two.
    set_bits: u32,
    /// log2 of the slices.
    slice_bits: u32,
}

impl Geometry {
    /// From counts that were checked before: none is 0, `line_bytes` is a power of two, and so are `sets` and `slices`
    /// where `index` is a hash.
    pub(super) fn new(sets: u32, ways: u32, line_bytes: u32, index: Index, slices: u32) -> Self {
        let low_bits = sets.is_power_of_two() && index == Index::Modulo;
        Self {
            sets,
            ways,
            line_bytes,
            index,
            line_shift: line_bytes.trailing_zeros(),
            tag_shift: if low_bits { sets.trailing_zeros() } else { 0 },
            mask: low_bits.then(|| u64::from(sets) - 1),
            set_bits: sets.trailing_zeros(),
            slice_bits: slices.trailing_zeros(),
        }
    }

    /// Whether lines go to sets by the low bits of their number alone.
    pub(super) fn by_low_bits(&self) -> bool {
        self.mask.is_some()
    }

    /// Bits of an address that a set and a place in a line imply; a tag has the other ones.
    pub(super) fn implied_bits(&self) -> u32 {
        self.line_shift + self.tag_shift
    }

    /// The line that holds this byte.
    #[inline]
    #[must_use]
    pub fn line_of(&self, addr: Addr) -> LineAddr {
        LineAddr(addr.0 >> self.line_shift)
    }

    /// Address of the line's first byte.
    #[inline]
    #[must_use]
    pub fn base_of(&self, line: LineAddr) -> Addr {
        Addr(line.0 << self.line_shift)
    }

    /// Address of the line's last byte (the first one past it may be 2^64).
    #[inline]
    #[must_use]
    pub fn last_of(&self, line: LineAddr) -> Addr {
        Addr((line.0 << self.line_shift) | (u64::from(self.line_bytes) - 1))
    }

    /// The set of a line.
    #[inline]
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "below `sets`, a u32")]
    pub fn set_of(&self, line: LineAddr) -> SetIndex {
        SetIndex(match self.mask {
            Some(mask) => (line.0 & mask) as u32,
            None => self.set_by_hash(line) as u32,
        })
    }

    /// What is not a plain mask.
    fn set_by_hash(&self, line: LineAddr) -> u64 {
        match self.index {
            Index::Modulo => line.0 % u64::from(self.sets),
            Index::XorFold if self.set_bits == 0 => 0,
            Index::XorFold => {
                let (mut rest, mut folded) = (line.0, 0);
                while rest != 0 {
                    folded ^= rest;
                    rest >>= self.set_bits;
                }
                folded & (u64::from(self.sets) - 1)
            }
            Index::Slice => {
                let addr = line.0 << self.line_shift;
                let bits = (0..self.slice_bits).zip(SLICE_MASKS);
                let slice =
                    bits.fold(0u64, |slice, (bit, mask)| slice | u64::from((addr & mask).count_ones() & 1) << bit);
                let in_slice = self.set_bits - self.slice_bits;
                slice << in_slice | (line.0 & ((1 << in_slice) - 1))
            }
        }
    }

    /// Lines the level holds.
    #[must_use]
    pub fn lines(&self) -> u64 {
        u64::from(self.sets) * u64::from(self.ways)
    }

    /// Bytes the level holds.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.lines() * u64::from(self.line_bytes)
    }

    /// What has to be kept of a line's number beside its set, at most 62 bits (config checks see to that).
    #[inline]
    pub(super) fn tag_of(&self, line: LineAddr) -> u64 {
        line.0 >> self.tag_shift
    }

    /// The inverse of [`Geometry::tag_of`] and [`Geometry::set_of`].
    #[inline]
    pub(super) fn line_from(&self, tag: u64, set: SetIndex) -> LineAddr {
        match self.mask {
            Some(_) => LineAddr((tag << self.tag_shift) | u64::from(set.0)),
            None => LineAddr(tag),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_go_to_sets_and_back() {
        for (sets, line_bytes) in [(1, 4), (2, 2), (4, 32), (3, 64), (1000, 16), (1 << 20, 128)] {
            let g = Geometry::new(sets, 2, line_bytes, Index::Modulo, 1);
            for addr in [0, 1, 63, 64, 12_345_678, u64::MAX - 64, u64::MAX] {
                let line = g.line_of(Addr(addr));
                let set = g.set_of(line);
                assert_eq!(u64::from(set.0), line.0 % u64::from(sets), "{sets} sets, address {addr}");
                assert_eq!(g.line_from(g.tag_of(line), set), line);
                assert!(g.tag_of(line) < 1 << 62);
                assert!((g.base_of(line).0..=g.last_of(line).0).contains(&addr));
            }
        }
    }

    #[test]
    fn hashed_lines_find_back_and_spread_powers_of_two() {
        for (index, slices) in [(Index::XorFold, 1), (Index::Slice, 2), (Index::Slice, 4), (Index::Slice, 8)] {
            let g = Geometry::new(64, 2, 64, index, slices);
            let mut used = [0u32; 64];
            for n in 0..4096u64 {
                let line = LineAddr(n << 6);
                let set = g.set_of(line);
                assert_eq!(g.line_from(g.tag_of(line), set), line);
                used[set.0 as usize] += 1;
            }
            let sets = used.iter().filter(|n| **n > 0).count();
            let expect = if index == Index::XorFold { 64 } else { slices as usize };
            assert_eq!(sets, expect, "{index}: a stride of 64 lines");
            let again = |line: u64| g.set_of(LineAddr(line));
            assert_eq!((again(u64::MAX >> 6), again(0)), (again(u64::MAX >> 6), SetIndex(0)));
        }
        assert_eq!(Geometry::new(1, 2, 64, Index::XorFold, 1).set_of(LineAddr(77)), SetIndex(0));
        // 0b11_0110_01 in groups of two bits from below: 01 ^ 10 ^ 01 ^ 11 = 01.
        assert_eq!(Geometry::new(4, 1, 64, Index::XorFold, 1).set_of(LineAddr(0b1101_1001)), SetIndex(0b01));
    }

    #[test]
    fn slices_are_those_of_maurice_et_al() {
        // One address bit at a time: bit 6 is in the first mask only, 7 in the second, 8 in the third, 12 in the first and third.
        let g = Geometry::new(64, 2, 64, Index::Slice, 8);
        let slice = |addr: u64| g.set_of(g.line_of(Addr(addr))).0 >> 3;
        assert_eq!([slice(1 << 6), slice(1 << 7), slice(1 << 8), slice(1 << 12)], [1, 2, 4, 5]);
        assert_eq!(slice(1 << 6 | 1 << 7), 3);
    }
}
