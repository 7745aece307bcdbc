//! What one glyph stands for: an element while the footprint is small, else a line, else a power-of-two block.

use crate::reference::Region;

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
const HOME_BUDGET: u64 = 12_288;

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
        let size = |bytes: u64| match bytes {
            b if b >= 1 << 20 && b.is_multiple_of(1 << 20) => format!("{} MiB", b >> 20),
            b if b >= 1 << 10 && b.is_multiple_of(1 << 10) => format!("{} KiB", b >> 10),
            1 => "1 byte".into(),
            b => format!("{b} bytes"),
        };
        let glyph = if self.glyph_bytes < self.grain_bytes { "element" } else { "line" };
        let cache = format!("1 dot = 1 {glyph} ({})", size(self.glyph_bytes));
        if self.home_bytes > self.glyph_bytes { format!("{cache}, in memory {}", size(self.home_bytes)) } else { cache }
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
}
