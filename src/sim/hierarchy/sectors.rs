//! Parts of lines: which sectors a request touches, which have to be fetched for it, which bytes they are.

use super::Hierarchy;
use crate::sim::AccessKind;
use crate::sim::request::Request;
use crate::units::LineAddr;

impl Hierarchy {
    /// The sectors of a line that its bytes from `first` to `last` lie in, a bit each.
    pub(super) fn sectors(&self, cache: usize, first: u64, last: u64) -> u32 {
        let count = self.plan.spots[cache].sectors;
        if count == 1 {
            return 1;
        }
        let line_bytes = u64::from(self.caches[cache].geometry().line_bytes);
        let sector = line_bytes / u64::from(count);
        let number = |addr: u64| (addr & (line_bytes - 1)) / sector;
        mask(number(first), number(last))
    }

    /// Of those, the ones that have to be there for it: all but what a store covers.
    pub(super) fn wanted_sectors(&self, cache: usize, piece: Request, touched: u32) -> u32 {
        let keeps = piece.kind == AccessKind::Write && self.plan.config.order.fetch_on_full_line_write;
        if !piece.kind.is_write() || keeps {
            return touched;
        }
        let line_bytes = u64::from(self.caches[cache].geometry().line_bytes);
        let sector = line_bytes / u64::from(self.plan.spots[cache].sectors);
        let (first, last) = (piece.first & (line_bytes - 1), piece.last & (line_bytes - 1));
        let whole = |n: &u32| {
            let (start, end) = (u64::from(*n) * sector, u64::from(*n) * sector + (sector - 1));
            first <= start && end <= last
        };
        (0..32u32).filter(|n| touched >> n & 1 == 1 && !whole(n)).fold(0, |mask, n| mask | 1 << n)
    }

    /// The bytes of each run of neighbouring sectors.
    pub(super) fn runs(&self, cache: usize, line: LineAddr, sectors: u32) -> impl Iterator<Item = (u64, u64)> + use<> {
        let geometry = self.caches[cache].geometry();
        let (base, last) = (geometry.base_of(line).0, geometry.last_of(line).0);
        let count = self.plan.spots[cache].sectors;
        let sector = u64::from(geometry.line_bytes / count);
        let mut rest = sectors;
        std::iter::from_fn(move || {
            if rest == 0 {
                return None;
            }
            if count == 1 {
                rest = 0;
                return Some((base, last));
            }
            let start = rest.trailing_zeros();
            let length = (rest >> start).trailing_ones();
            rest &= !mask(u64::from(start), u64::from(start + length - 1));
            let first = base + u64::from(start) * sector;
            Some((first, first + (u64::from(length) * sector - 1)))
        })
    }
}

/// Bits `first..=last` of at most 32.
pub(super) fn mask(first: u64, last: u64) -> u32 {
    let all = u32::MAX >> (31 - (last - first).min(31));
    all << first.min(31)
}

#[cfg(test)]
mod tests {
    use super::mask;

    #[test]
    fn masks_are_runs_of_ones() {
        assert_eq!([mask(0, 0), mask(0, 31), mask(31, 31), mask(2, 4)], [1, u32::MAX, 1 << 31, 0b11100]);
    }
}
