//! What one glyph stands for: an element while the footprint is small, else a line, else a power-of-two block.

use crate::reference::Region;
use crate::units::grouped;

/// Sizes of the pieces that the picture is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Items {
    /// Bytes of one glyph in the caches: an element or a line of the smallest line size. A power of two.
    pub glyph_bytes: u64,
    /// Bytes of one dot at home: as above, or a block of lines. A power of two, `glyph_bytes` or more.
    pub home_bytes: u64,
    /// Smallest line size of the hierarchy.
    pub grain_bytes: u64,
}

/// Elements up to which each has a glyph of its own.
const ELEMENT_BUDGET: u64 = 6_144;
/// Dots at home at most.
pub(super) const HOME_BUDGET: u64 = 12_288;

impl Items {
    /// Chooses for a footprint of `regions` under lines of `grain_bytes`.
    #[must_use]
    pub fn choose(regions: &[Region], grain_bytes: u64) -> Self {
        let total: u64 = regions.iter().fold(0, |sum, r| sum.saturating_add(r.bytes));
        let element = regions
            .iter()
            .map(|r| u64::from(r.elem_bytes.max(1)).next_power_of_two())
            .min()
            .unwrap_or(grain_bytes)
            .clamp(1, grain_bytes);
        let glyph_bytes = if total / element <= ELEMENT_BUDGET { element } else { grain_bytes };
        let mut home_bytes = glyph_bytes;
        while total / home_bytes > HOME_BUDGET {
            home_bytes *= 2;
        }
        Self { glyph_bytes, home_bytes, grain_bytes }
    }

    /// Glyphs of one grain.
    #[must_use]
    pub fn per_grain(&self) -> u64 {
        self.grain_bytes / self.glyph_bytes
    }

    /// In words: `1 dot = 1 element (8 bytes)`.
    #[must_use]
    pub fn describe(&self) -> String {
        let cache = self.describe_glyph();
        if self.home_bytes > self.glyph_bytes { format!("{cache}, in memory {}", size(self.home_bytes)) } else { cache }
    }

    /// In words, what a dot in a cache stands for.
    #[must_use]
    pub fn describe_glyph(&self) -> String {
        let glyph = if self.glyph_bytes < self.grain_bytes { "element" } else { "line" };
        format!("1 dot = 1 {glyph} ({})", size(self.glyph_bytes))
    }

    /// In words, what a dot at home stands for closer up: `1 dot in memory = 1 KiB (128 elements)`; empty where it is what
    /// it is in the whole picture.
    #[must_use]
    pub fn describe_home(&self, home: &AtHome) -> String {
        let [least, most] = home.bytes.map(size);
        let count = match home.elements {
            _ if home.bytes == [self.home_bytes; 2] => return String::new(),
            _ if least != most => return format!("1 dot in memory = {least} to {most}"),
            0 => return format!("1 dot in memory = {least}"),
            1 => "1 element".to_owned(),
            n => format!("{} elements", grouped(n)),
        };
        format!("1 dot in memory = {least} ({count})")
    }
}

/// Bytes as people say them.
fn size(bytes: u64) -> String {
    match bytes {
        b if b >= 1 << 20 && b.is_multiple_of(1 << 20) => format!("{} MiB", b >> 20),
        b if b >= 1 << 10 && b.is_multiple_of(1 << 10) => format!("{} KiB", b >> 10),
        1 => "1 byte".into(),
        b => format!("{b} bytes"),
    }
}

/// What the dots at home stand for that are in sight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtHome {
    /// Bytes, the least and the most.
    pub bytes: [u64; 2],
    /// Elements of each; 0 = no whole number, or not the same everywhere.
    pub elements: u64,
}

impl AtHome {
    /// That of the whole picture.
    #[must_use]
    pub fn whole(items: &Items) -> Self {
        Self { bytes: [items.home_bytes; 2], elements: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: u64, elem_bytes: u32) -> Items {
        let region = Region {
            name: "A".into(),
            base: 0,
            bytes,
            elem_bytes,
            elem_type: String::new(),
            shape: vec![],
            row_major: true,
            lifetime: None,
        };
        Items::choose(&[region], 64)
    }

    #[test]
    fn elements_then_lines_then_blocks() {
        assert_eq!(of(6_144, 8).glyph_bytes, 8);
        assert_eq!(of(6_144, 8).per_grain(), 8);
        assert_eq!(of(100_000, 8).glyph_bytes, 64);
        let huge = of(1 << 30, 4);
        assert_eq!((huge.glyph_bytes, huge.home_bytes), (64, 131_072));
        assert_eq!(of(64, 3).glyph_bytes, 4);
        assert_eq!(of(64, 4096).glyph_bytes, 64);
        assert_eq!(huge.describe(), "1 dot = 1 line (64 bytes), in memory 128 KiB");
    }

    #[test]
    fn what_a_dot_at_home_stands_for_is_told_at_each_fineness() {
        let items = of(1 << 30, 4);
        let told = |bytes: [u64; 2], elements| items.describe_home(&AtHome { bytes, elements });
        assert_eq!(told([131_072; 2], 32_768), "");
        assert_eq!(told([32_768; 2], 8_192), "1 dot in memory = 32 KiB (8,192 elements)");
        assert_eq!(told([64; 2], 16), "1 dot in memory = 64 bytes (16 elements)");
        assert_eq!(told([64; 2], 0), "1 dot in memory = 64 bytes");
        assert_eq!(told([4; 2], 1), "1 dot in memory = 4 bytes (1 element)");
        assert_eq!(told([4, 2_048], 0), "1 dot in memory = 4 bytes to 2 KiB");
    }
}
