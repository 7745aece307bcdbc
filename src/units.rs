//! Newtypes for the quantities that are easy to mix up: addresses, line addresses, set and way indices, levels.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::RangeInclusive;

/// A byte address, 64 bits, unsigned. Zero is an address like any other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Addr(pub u64);

/// The number of a line: byte address divided by the line size of the level that is meant. Line 0 is a real line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LineAddr(pub u64);

/// Index of a set in its level, `0..sets`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SetIndex(pub u32);

/// Position of a level in the hierarchy, counted from the CPU outward: 0 is the innermost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LevelId(pub u8);

/// Number of a cache: a level has one, or one for each core. Caches of inner levels come first, within a level by core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CacheId(pub u16);

impl CacheId {
    /// As an index into tables of caches.
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

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

/// Some bytes of memory, one or more: from the first to the last, both with them, so that they may reach the top of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteRange {
    /// Address of the first.
    pub first: u64,
    /// Address of the last; not below `first`.
    pub last: u64,
}

impl ByteRange {
    /// `bytes` of them from `first` on, one at least; those past the top of memory are left out.
    #[must_use]
    pub fn new(first: u64, bytes: u64) -> Self {
        Self { first, last: first.saturating_add(bytes.saturating_sub(1)) }
    }

    /// How many.
    #[must_use]
    pub fn bytes(self) -> u64 {
        (self.last - self.first).saturating_add(1)
    }

    /// Whether some byte is in both.
    #[inline]
    #[must_use]
    pub fn meets(self, other: Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }

    /// Numbers of the lines, or grains, of `line_bytes` (a power of two) that hold them.
    #[inline]
    #[must_use]
    pub fn lines(self, line_bytes: u32) -> RangeInclusive<u64> {
        Addr(self.first).line(line_bytes).0..=Addr(self.last).line(line_bytes).0
    }
}

/// A number with thousands set apart: `8,448`.
#[must_use]
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, d) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(d);
    }
    out
}

/// How many there are of something, by the word for one: `1 reference`, `8,448 references`, `2 classes`, `3 fetches`.
#[must_use]
pub fn counted(n: u64, one: &str) -> String {
    let end = match n {
        1 => "",
        _ if one.ends_with('s') || one.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{} {one}{end}", grouped(n))
}

/// The nearest `f32`: enough for anything that ends up as pixels.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "rounding is what is asked for")]
pub fn to_f32(v: f64) -> f32 {
    v as f32
}

/// A computed count as a whole number, rounded up; 0 for what is negative or no number.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates at both ends")]
pub fn to_count(v: f32) -> u32 {
    v.ceil() as u32
}

/// Units of time, in seconds.
const TIMES: [(&str, f64); 8] =
    [("fs", 1e-15), ("ps", 1e-12), ("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("μs", 1e-6), ("ms", 1e-3), ("s", 1.0)];

/// A time with its unit, such as `8.97us` or `12 ns`, in seconds.
#[must_use]
pub fn parse_seconds(text: &str) -> Option<f64> {
    let unit = TIMES.iter().find_map(|(name, seconds)| Some((text.trim().strip_suffix(name)?, seconds)));
    let time = unit.and_then(|(number, unit)| Some(number.trim().parse::<f64>().ok()? * unit));
    time.filter(|time| time.is_finite() && *time >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(8_448), "8,448");
        assert_eq!(grouped(u64::MAX), "18,446,744,073,709,551,615");
    }

    #[test]
    fn bytes_may_reach_the_top_of_memory() {
        let top = ByteRange::new(u64::MAX - 63, 64);
        assert_eq!((top.last, top.bytes(), ByteRange::new(u64::MAX, 9).bytes()), (u64::MAX, 64, 1));
        assert_eq!((ByteRange::new(0, 0).bytes(), ByteRange { first: 0, last: u64::MAX }.bytes()), (1, u64::MAX));
        assert!(top.meets(ByteRange::new(0, u64::MAX)) && !top.meets(ByteRange::new(0, u64::MAX - 63)));
        assert_eq!(ByteRange::new(0x3c, 8).lines(64), 0..=1);
        assert_eq!(top.lines(64), u64::MAX / 64..=u64::MAX / 64);
    }

    #[test]
    fn the_top_line_of_memory_is_a_line_like_any_other() {
        let line = Addr(u64::MAX).line(64);
        assert_eq!(line.base(64), Addr(u64::MAX - 63));
        assert_eq!(Addr(0).line(64), LineAddr(0));
    }
}
