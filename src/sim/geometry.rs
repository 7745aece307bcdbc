//! Where a line may stand: address to line, line to set.

use crate::units::{Addr, LineAddr, SetIndex};

/// The checked shape of one level; a bad one cannot be made (see [`HierarchyConfig::check`]).
///
/// [`HierarchyConfig::check`]: super::config::HierarchyConfig::check
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Number of sets, 1 or more, not necessarily a power of two.
    pub sets: u32,
    /// Lines in a set, 1 or more.
    pub ways: u32,
    /// Bytes in a line, a power of two.
    pub line_bytes: u32,
    /// log2 of `line_bytes`.
    line_shift: u32,
    /// Low bits of a line number that its set implies: log2 of `sets` where that is a power of two, else 0.
    tag_shift: u32,
    /// `sets - 1` where `sets` is a power of two.
    mask: Option<u64>,
}

impl Geometry {
    /// From counts that were checked before: none is 0 and `line_bytes` is a power of two.
    pub(super) fn new(sets: u32, ways: u32, line_bytes: u32) -> Self {
        let power = sets.is_power_of_two();
        Self {
            sets,
            ways,
            line_bytes,
            line_shift: line_bytes.trailing_zeros(),
            tag_shift: if power { sets.trailing_zeros() } else { 0 },
            mask: power.then(|| u64::from(sets) - 1),
        }
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

    /// The set of a line: its number modulo the set count.
    #[inline]
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "below `sets`, a u32")]
    pub fn set_of(&self, line: LineAddr) -> SetIndex {
        SetIndex(match self.mask {
            Some(mask) => (line.0 & mask) as u32,
            None => (line.0 % u64::from(self.sets)) as u32,
        })
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
            let g = Geometry::new(sets, 2, line_bytes);
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
}
