//! Copies from the host: `MemcpyHtoD,0x7fb0fc400000,200000` says where an array of a GPU program lies, and how long it is.
//!
//! A copy names what it filled: `host copy 1`. One that lies inside another that is already there fills a part of it, and is
//! no region of its own; one that reaches out of it is another array at a place used again, so the older one ends there. What an
//! element is, is not said: it is what all references touch at once, or the least that any does.

use crate::reference::{Reference, Region, RegionFinder, RegionMap};

/// Regions at most: a program can copy a hundred thousand times.
const REGIONS: usize = 4096;

/// What host copies name.
#[derive(Debug, Default)]
pub(super) struct Copies {
    /// In the order of their copies; those still there live until `u64::MAX`.
    regions: Vec<Region>,
    /// Bytes that references to each touch, the least; 0 = none yet.
    touched: Vec<u32>,
    finder: Option<RegionFinder>,
    /// Copies past the last region that there is room for.
    pub(super) unnamed: u64,
}

/// Address and bytes of a copy; `None` where it is none.
pub(super) fn read(line: &str) -> Option<(u64, u64)> {
    let mut parts = line.strip_prefix("Memcpy")?.split(',').skip(1).map(str::trim);
    let (address, bytes) = (parts.next()?, parts.next()?.parse().ok()?);
    let address = u64::from_str_radix(address.strip_prefix("0x")?, 16).ok()?;
    address.checked_add(bytes)?;
    parts.next().is_none().then_some((address, bytes))
}

impl Copies {
    /// A copy was made before reference `now`.
    pub(super) fn copied(&mut self, (base, bytes): (u64, u64), now: u64) {
        let there = |r: &Region| r.lifetime.is_none_or(|(_, to)| to == u64::MAX);
        let past = base.saturating_add(bytes);
        if bytes == 0 || self.regions.iter().any(|r| there(r) && r.base <= base && past <= r.end()) {
            return;
        }
        if self.regions.len() >= REGIONS {
            self.unnamed += 1;
            return;
        }
        let mut from = 0;
        for old in self.regions.iter_mut().filter(|r| r.base < past && base < r.end()) {
            let (begin, to) = old.lifetime.unwrap_or((0, u64::MAX));
            old.lifetime = Some((begin, to.min(now)));
            from = now;
        }
        self.regions.push(Region {
            elem_bytes: 1,
            lifetime: Some((from, u64::MAX)),
            ..Region::new(format!("host copy {}", self.regions.len() + 1), base, bytes)
        });
        self.touched.push(0);
        self.finder = None;
    }

    /// Takes note of `references`, the first of which is number `from`.
    pub(super) fn note(&mut self, references: &[Reference], from: u64) {
        if self.regions.is_empty() {
            return;
        }
        let finder = self.finder.get_or_insert_with(|| RegionFinder::new(RegionMap::new(&self.regions)));
        for (r, now) in references.iter().zip(from..) {
            let region = finder.locate(r.addr, now).region.and_then(|n| usize::try_from(n).ok());
            if let Some(least) = region.and_then(|n| self.touched.get_mut(n))
                && (*least == 0 || r.size < *least)
            {
                *least = r.size;
            }
        }
    }

    /// The regions that were touched, where `total` references were read.
    pub(super) fn regions(&self, total: u64) -> Vec<Region> {
        let touched = self.regions.iter().zip(&self.touched).filter(|(_, least)| **least > 0);
        let region = |(r, &least): (&Region, &u32)| {
            let lifetime = r.lifetime.map(|(from, to)| (from, to.min(total))).filter(|l| *l != (0, total));
            let elem_bytes = if r.bytes.is_multiple_of(u64::from(least)) { least } else { 1 };
            Region { elem_bytes, shape: vec![r.bytes / u64::from(elem_bytes)].into(), lifetime, ..r.clone() }
        };
        touched.map(region).filter(|r| r.lifetime.is_none_or(|(from, to)| from < to)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::Kind;

    #[test]
    fn copies_are_read() {
        assert_eq!(read("MemcpyHtoD,0x00007fb0fc400000,200000"), Some((0x7fb0_fc40_0000, 200_000)));
        for wrong in
            ["MemcpyHtoD,7fb0,8", "MemcpyHtoD,0x10", "MemcpyHtoD,0xffffffffffffffff,8", "MemcpyHtoD,0x10,8,9", "x"]
        {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_place_used_again_has_another_name_and_a_part_has_none() {
        let mut copies = Copies::default();
        let touch = |copies: &mut Copies, at: u64, size, now| copies.note(&[Reference::new(Kind::Read, at, size)], now);
        copies.copied((0x1000, 0x100), 0);
        copies.copied((0x1000, 0x100), 0);
        copies.copied((0x1040, 0x10), 0);
        copies.copied((0x2000, 0), 0);
        copies.copied((0x3000, 0x10), 0);
        copies.copied((0x4000, 0x11), 0);
        touch(&mut copies, 0x1000, 8, 0);
        touch(&mut copies, 0x1008, 4, 1);
        touch(&mut copies, 0x4000, 4, 2);
        copies.copied((0x1080, 0x100), 3);
        touch(&mut copies, 0x1090, 16, 3);
        let shown: Vec<_> =
            copies.regions(4).into_iter().map(|r| (r.name, r.base, r.elem_bytes, r.shape[0], r.lifetime)).collect();
        assert_eq!(
            shown,
            [
                ("host copy 1".to_owned(), 0x1000, 4, 0x40, Some((0, 3))),
                // Never touched: the second. 17 bytes are no fours.
                ("host copy 3".to_owned(), 0x4000, 1, 0x11, None),
                ("host copy 4".to_owned(), 0x1080, 16, 16, Some((3, 4))),
            ]
        );
    }
}
