//! The same trace with an array stored in another way.

use crate::reference::{Kind, Reference};

/// What is done to the references of regions, which are named by their places in the trace's tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Rewrite {
    /// Nothing.
    None,
    /// Rows become longer.
    Pad { region: usize, base: u64, row: u64, pad: u64, to: u64 },
    /// The last two extents change places.
    Transpose { region: usize, base: u64, rows: u64, columns: u64, element: u64, to: u64 },
    /// Some instructions take elements in the other order.
    Across(Vec<Across>),
    /// Each field of its elements becomes an array of its own: first byte, bytes, and where the array begins.
    Split { region: usize, base: u64, element: u64, fields: Vec<(u64, u64, u64)> },
    /// Elements of half the bytes: region, first byte, where it begins now.
    Halve(Vec<(usize, u64, u64)>),
    /// Elements begin elsewhere: where, by number.
    Spread { region: usize, base: u64, element: u64, starts: Vec<u64> },
    /// References that pass by the caches.
    Without(usize),
    /// Stores of parts of lines become one of the whole line, at its first byte.
    WholeLines { region: usize, line: u64 },
}

/// An array of two extents that instructions walk across its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Across {
    pub(super) region: usize,
    pub(super) base: u64,
    pub(super) rows: u64,
    pub(super) columns: u64,
    pub(super) element: u64,
    pub(super) pcs: Vec<u64>,
}

impl Across {
    /// The address in the place of this one, where the walk goes along rows.
    fn along(&self, addr: u64) -> u64 {
        let Self { base, rows, columns, element, .. } = self;
        let offset = addr - base;
        let (number, within) = (offset / element, offset % element);
        let (i, j) = (number / columns, number % columns);
        base + (j * rows + i) * element + within
    }
}

impl Rewrite {
    /// The reference as it would be; `None` = it is not played.
    #[inline]
    pub(super) fn apply(&self, reference: &Reference, of: usize) -> Option<Reference> {
        let at = |addr: u64| Some(Reference { addr, ..*reference });
        match self {
            Self::Pad { region, base, row, pad, to } if *region == of => {
                let offset = reference.addr - base;
                at(to + offset + offset / row * pad)
            }
            Self::Transpose { region, base, rows, columns, element, to } if *region == of => {
                let offset = reference.addr - base;
                let (number, within) = (offset / element, offset % element);
                let plane = number / (rows * columns);
                let (i, j) = (number / columns % rows, number % columns);
                at(to + (plane * rows * columns + j * rows + i) * element + within)
            }
            Self::Across(arrays) => {
                let goes = |array: &&Across| array.region == of && array.pcs.contains(&reference.pc);
                at(arrays.iter().find(goes).map_or(reference.addr, |array| array.along(reference.addr)))
            }
            Self::Split { region, base, element, fields } if *region == of => {
                let offset = reference.addr - base;
                let (number, within) = (offset / element, offset % element);
                let field = fields.iter().find(|(first, bytes, _)| (*first..first + bytes).contains(&within))?;
                at(field.2 + number * field.1 + within - field.0)
            }
            Self::Halve(regions) => match regions.iter().find(|(region, ..)| *region == of) {
                Some((_, base, to)) => {
                    let size = (reference.size / 2).max(1);
                    Some(Reference { addr: to + (reference.addr - base) / 2, size, ..*reference })
                }
                None => Some(*reference),
            },
            Self::Spread { region, base, element, starts } if *region == of => {
                let offset = reference.addr - base;
                let number = usize::try_from(offset / element).unwrap_or(usize::MAX);
                at(starts.get(number)? + offset % element)
            }
            Self::Without(region) if *region == of => None,
            Self::WholeLines { region, line } if *region == of && reference.kind == Kind::Write => {
                let last = reference.addr + u64::from(reference.size.max(1)) - 1;
                // The line that begins within it, or with it.
                let first = reference.addr.div_ceil(*line) * line;
                (first <= last).then(|| Reference {
                    addr: first,
                    size: u32::try_from(((last - first) / line + 1) * line).unwrap_or(reference.size),
                    ..*reference
                })
            }
            _ => Some(*reference),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(rewrite: &Rewrite, addr: u64, size: u32) -> Option<(u64, u32)> {
        rewrite.apply(&Reference::new(Kind::Write, addr, size), 0).map(|r| (r.addr, r.size))
    }

    #[test]
    fn elements_come_to_lie_where_the_change_puts_them() {
        let pad = Rewrite::Pad { region: 0, base: 100, row: 32, pad: 8, to: 1000 };
        // Row 2, byte 4.
        assert_eq!(moved(&pad, 100 + 2 * 32 + 4, 4), Some((1000 + 2 * 40 + 4, 4)));
        assert_eq!(pad.apply(&Reference::new(Kind::Read, 7, 1), 1).map(|r| r.addr), Some(7), "of another region");
        let turned = Rewrite::Transpose { region: 0, base: 0, rows: 3, columns: 5, element: 8, to: 0 };
        // A[1][2] of 3 x 5 lies at [2][1] of 5 x 3; the second plane behind the first.
        assert_eq!(moved(&turned, (5 + 2) * 8, 8), Some(((2 * 3 + 1) * 8, 8)));
        assert_eq!(moved(&turned, (15 + 5 + 2) * 8 + 3, 1), Some(((15 + 2 * 3 + 1) * 8 + 3, 1)));
        let all: std::collections::BTreeSet<_> = (0..15).filter_map(|n| moved(&turned, n * 8, 8)).collect();
        assert_eq!(all.len(), 15);
        let array = Across { region: 0, base: 80, rows: 3, columns: 5, element: 8, pcs: vec![0] };
        let across = Rewrite::Across(vec![array]);
        // The third element that a walk down the columns meets is the third one of the array.
        assert_eq!(moved(&across, 80 + 2 * 5 * 8 + 1, 1), Some((80 + 2 * 8 + 1, 1)));
        let others = Reference { pc: 7, ..Reference::new(Kind::Read, 80 + 2 * 5 * 8, 8) };
        assert_eq!(across.apply(&others, 0).map(|r| r.addr), Some(80 + 2 * 5 * 8), "of another instruction");
        let split = Rewrite::Split { region: 0, base: 0, element: 24, fields: vec![(0, 8, 1000), (16, 4, 2000)] };
        assert_eq!(moved(&split, 3 * 24 + 4, 4), Some((1000 + 3 * 8 + 4, 4)));
        assert_eq!(moved(&split, 3 * 24 + 16, 4), Some((2000 + 3 * 4, 4)));
        assert_eq!(moved(&Rewrite::Halve(vec![(0, 64, 640)]), 64 + 24, 8), Some((640 + 12, 4)));
        let spread = Rewrite::Spread { region: 0, base: 0, element: 8, starts: vec![640, 704] };
        assert_eq!(moved(&spread, 12, 4), Some((708, 4)));
        assert_eq!(moved(&Rewrite::Without(0), 0, 8), None);
        let whole = Rewrite::WholeLines { region: 0, line: 64 };
        assert_eq!([moved(&whole, 64, 8), moved(&whole, 72, 8)], [Some((64, 64)), None]);
        // Sixteen bytes over the border of a line; two lines and a half from a border on.
        assert_eq!([moved(&whole, 56, 16), moved(&whole, 0, 160)], [Some((64, 64)), Some((0, 192))]);
    }
}
