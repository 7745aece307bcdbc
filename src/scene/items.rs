//! What one glyph stands for, region by region: an element while there is room for so many, else a line; at home, where there are
//! too many lines, a power-of-two block.

use crate::reference::Region;
use crate::units::grouped;
use std::cmp::Reverse;

/// Sizes of the pieces that the picture is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Items {
    /// Bytes of the smallest glyph of any region, in which the glyphs of data are numbered. A power of two.
    pub glyph_bytes: u64,
    /// Smallest line size of the hierarchy.
    pub grain_bytes: u64,
    /// By region.
    dots: Vec<Dots>,
}

/// Sizes of a region's dots: powers of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Dots {
    /// In the caches: an element, or a line of the smallest line size.
    glyph: u64,
    /// At home: likewise, or a block of lines.
    home: u64,
}

/// Elements up to which each has a glyph of its own.
const ELEMENT_BUDGET: u64 = 6_144;
/// Dots at home at most.
pub(super) const HOME_BUDGET: u64 = 12_288;

impl Items {
    /// Chooses for `regions` under lines of `grain_bytes`. Regions of the largest elements come first, of these the smallest
    /// regions: so a table of bytes does not take the room of an array of numbers. Equal ones are treated alike.
    #[must_use]
    pub fn choose(regions: &[Region], grain_bytes: u64) -> Self {
        let element = |r: &Region| u64::from(r.elem_bytes.max(1)).next_power_of_two().clamp(1, grain_bytes);
        let key = |r: &Region| (Reverse(element(r)), r.bytes);
        let mut order: Vec<usize> = (0..regions.len()).collect();
        order.sort_by_key(|&at| key(&regions[at]));
        let mut dots = vec![Dots { glyph: grain_bytes, home: grain_bytes }; regions.len()];
        let mut elements = 0u64;
        for alike in order.chunk_by(|&a, &b| key(&regions[a]) == key(&regions[b])) {
            let size = element(&regions[alike[0]]);
            let needed = regions[alike[0]].bytes.div_ceil(size).saturating_mul(alike.len() as u64);
            if size < grain_bytes && elements.saturating_add(needed) <= ELEMENT_BUDGET {
                elements += needed;
                alike.iter().for_each(|&at| dots[at] = Dots { glyph: size, home: size });
            }
        }
        let lines = regions.iter().zip(&dots).filter(|(_, dots)| dots.glyph == grain_bytes);
        let lines: u64 = lines.fold(0, |sum, (r, _)| sum.saturating_add(r.bytes));
        let mut block = grain_bytes;
        while lines / block > HOME_BUDGET - elements {
            block *= 2;
        }
        dots.iter_mut().filter(|dots| dots.glyph == grain_bytes).for_each(|dots| dots.home = block);
        let glyph_bytes = dots.iter().map(|dots| dots.glyph).min().unwrap_or(grain_bytes);
        Self { glyph_bytes, grain_bytes, dots }
    }

    /// Bytes of a glyph of a region in the caches.
    #[must_use]
    pub fn glyph_of(&self, region: usize) -> u64 {
        self.dots.get(region).map_or(self.grain_bytes, |dots| dots.glyph)
    }

    /// Bytes of a dot of a region at home.
    #[must_use]
    pub fn home_of(&self, region: usize) -> u64 {
        self.dots.get(region).map_or(self.grain_bytes, |dots| dots.home)
    }

    /// Whether the glyphs of all regions are of one size.
    #[must_use]
    pub fn is_uniform(&self) -> bool {
        self.dots.iter().all(|dots| dots.glyph == self.glyph_bytes)
    }

    /// In words: `1 dot = 1 element (8 bytes)`.
    #[must_use]
    pub fn describe(&self) -> String {
        let cache = self.describe_glyph();
        let blocks = self.dots.iter().filter(|dots| dots.home > dots.glyph);
        match blocks.clone().map(|dots| dots.home).max() {
            None => cache,
            Some(block) if blocks.count() == self.dots.len() => format!("{cache}, in memory {}", size(block)),
            Some(block) => format!("{cache}, in memory up to {}", size(block)),
        }
    }

    /// In words, what a dot in a cache stands for.
    #[must_use]
    pub fn describe_glyph(&self) -> String {
        let mut sizes: Vec<u64> = self.dots.iter().map(|dots| dots.glyph).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let has_lines = sizes.pop_if(|last| *last == self.grain_bytes).is_some();
        let line = size(self.grain_bytes);
        let elements = match sizes[..] {
            [] => return format!("1 dot = 1 line ({line})"),
            [one] => size(one),
            [one, other] => format!("{one} or {}", size(other)),
            [least, .., most] => format!("{least} to {}", size(most)),
        };
        let or = if has_lines { format!(" or line ({line})") } else { String::new() };
        format!("1 dot = 1 element ({elements}){or}")
    }

    /// In words, what a dot at home stands for closer up: `1 dot in memory = 1 KiB (128 elements)`; empty where it is what
    /// it is in the whole picture.
    #[must_use]
    pub fn describe_home(&self, home: &AtHome) -> String {
        let [least, most] = home.bytes.map(size);
        let count = match home.elements {
            _ if home.bytes == AtHome::whole(self).bytes => return String::new(),
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
        let homes = items.dots.iter().map(|dots| dots.home);
        let bytes = [homes.clone().min(), homes.max()].map(|bytes| bytes.unwrap_or(items.grain_bytes));
        Self { bytes, elements: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(regions: &[(u64, u32)]) -> Items {
        let region = |&(bytes, elem_bytes): &(u64, u32)| Region { elem_bytes, ..Region::new("A", 0, bytes) };
        Items::choose(&regions.iter().map(region).collect::<Vec<_>>(), 64)
    }

    fn of(bytes: u64, elem_bytes: u32) -> Items {
        all(&[(bytes, elem_bytes)])
    }

    #[test]
    fn each_region_has_dots_of_its_own() {
        let glyphs = |regions: &[(u64, u32)]| {
            let items = all(regions);
            (0..regions.len()).map(|at| items.glyph_of(at)).collect::<Vec<_>>()
        };
        assert_eq!(glyphs(&[(48_000, 8), (6_000, 1)]), [8, 64], "bytes that nobody uses take no room of doubles");
        assert_eq!(glyphs(&[(6_000, 1), (48_000, 8)]), [64, 8], "in whatever order");
        assert_eq!(glyphs(&[(48_000, 8), (100, 1)]), [8, 1], "and where there is room they are bytes");
        assert_eq!(glyphs(&[(56_000, 8), (100, 1)]), [64, 1], "a large array is lines, a small one beside it is not");
        assert_eq!(glyphs(&[(32_768, 8); 3]), [64; 3], "equal ones are treated alike");
        assert_eq!(glyphs(&[(400, 4), (800, 8), (80, 1)]), [4, 8, 1]);
        assert_eq!(glyphs(&[(1 << 30, 8), (160, 8)]), [64, 8]);
        let items = all(&[(1 << 30, 8), (160, 8)]);
        assert_eq!((items.home_of(0), items.home_of(1)), (131_072, 8));
    }

    #[test]
    fn several_sizes_are_told() {
        let told = |regions: &[(u64, u32)]| all(regions).describe();
        assert_eq!(told(&[(800, 8)]), "1 dot = 1 element (8 bytes)");
        assert_eq!(told(&[(800, 8), (400, 4)]), "1 dot = 1 element (4 or 8 bytes)");
        assert_eq!(told(&[(800, 8), (400, 4), (10, 1)]), "1 dot = 1 element (1 to 8 bytes)");
        assert_eq!(told(&[(80_000, 8), (400, 4)]), "1 dot = 1 element (4 bytes) or line (64 bytes)");
        assert_eq!(told(&[(80_000, 8)]), "1 dot = 1 line (64 bytes)");
        let blocks = "1 dot = 1 element (8 bytes) or line (64 bytes), in memory up to 128 KiB";
        assert_eq!(told(&[(1 << 30, 8), (160, 8)]), blocks);
        assert_eq!(told(&[]), "1 dot = 1 line (64 bytes)");
    }

    #[test]
    fn elements_then_lines_then_blocks() {
        assert_eq!(of(6_144, 8).glyph_bytes, 8);
        assert_eq!(of(100_000, 8).glyph_bytes, 64);
        let huge = of(1 << 30, 4);
        assert_eq!((huge.glyph_bytes, huge.home_of(0)), (64, 131_072));
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
