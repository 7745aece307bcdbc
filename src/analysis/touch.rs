//! References into touches of lines.

use crate::reference::{Kind, Reference};
use crate::units::ByteRange;

/// Log2 of the bytes of a line; `None` where it is no power of two, or past 1 MiB.
#[must_use]
pub fn line_shift(line_bytes: u32) -> Option<u32> {
    (line_bytes.is_power_of_two() && line_bytes <= 1 << 20).then(|| line_bytes.trailing_zeros())
}

/// Which lines references touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touches {
    shift: u32,
    data_only: bool,
}

impl Touches {
    /// Lines of `1 << shift` bytes; with `data_only`, instruction fetches touch nothing.
    #[must_use]
    pub fn new(shift: u32, data_only: bool) -> Self {
        Self { shift: shift.min(63), data_only }
    }

    /// Bytes of a line.
    #[must_use]
    pub fn line_bytes(self) -> u64 {
        1 << self.shift
    }

    /// Calls `touch` with the number of each line that the reference touches, in order.
    #[inline(always)]
    pub fn each(self, reference: &Reference, mut touch: impl FnMut(u64)) {
        if self.data_only && reference.kind == Kind::Fetch {
            return;
        }
        let bytes = ByteRange::new(reference.addr, u64::from(reference.size));
        let (first, last) = (bytes.first >> self.shift, bytes.last >> self.shift);
        let rounds = if reference.kind == Kind::Modify { 2 } else { 1 };
        for _ in 0..rounds {
            for line in first..=last {
                touch(line);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touched(kind: Kind, addr: u64, size: u32, data_only: bool) -> Vec<u64> {
        let mut lines = Vec::new();
        Touches::new(6, data_only).each(&Reference::new(kind, addr, size), |line| lines.push(line));
        lines
    }

    #[test]
    fn straddles_rise_and_modifies_come_twice() {
        assert_eq!(touched(Kind::Read, 64, 8, false), [1]);
        assert_eq!(touched(Kind::Write, 60, 8, false), [0, 1]);
        assert_eq!(touched(Kind::Modify, 60, 8, false), [0, 1, 0, 1]);
        assert_eq!(touched(Kind::Read, 0, 200, false), [0, 1, 2, 3]);
        assert_eq!(touched(Kind::Fetch, 0, 4, false), [0]);
        assert!(touched(Kind::Fetch, 0, 4, true).is_empty());
        // At the end of memory, and a size of 0, which readers never give.
        assert_eq!(touched(Kind::Read, u64::MAX - 3, 8, false), [u64::MAX >> 6]);
        assert_eq!(touched(Kind::Read, 128, 0, false), [2]);
    }

    #[test]
    fn lines_are_powers_of_two() {
        assert_eq!([1, 64, 48, 0, 1 << 20, 1 << 21].map(line_shift), [Some(0), Some(6), None, None, Some(20), None]);
    }
}
