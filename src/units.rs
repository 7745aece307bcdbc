//! Newtypes for the quantities that are easy to mix up: addresses, line addresses, set and way indices, levels.

use std::fmt;

/// A byte address, 64 bits, unsigned. Zero is an address like any other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Addr(pub u64);

/// The number of a line: byte address divided by the line size of the level that is meant. Line 0 is a real line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineAddr(pub u64);

/// Index of a set in its level, `0..sets`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SetIndex(pub u32);

/// Index of a way in its set, `0..ways`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WayIndex(pub u32);

/// Position of a level in the hierarchy, counted from the CPU outward: 0 is the innermost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LevelId(pub u8);

impl LevelId {
    /// As an index into per-level tables.
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl Addr {
    /// The line that holds this byte, for lines of `line_bytes` (a power of two).
    #[must_use]
    pub fn line(self, line_bytes: u32) -> LineAddr {
        LineAddr(self.0 >> line_bytes.trailing_zeros())
    }
}

impl LineAddr {
    /// The address of the line's first byte, for lines of `line_bytes` (a power of two).
    #[must_use]
    pub fn base(self, line_bytes: u32) -> Addr {
        Addr(self.0 << line_bytes.trailing_zeros())
    }
}

impl fmt::Display for Addr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:x}", self.0)
    }
}
