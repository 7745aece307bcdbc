//! When a line was touched last: a number for each line.

use crate::sim::hash::LineMap;

/// Lines of a page, as a power of two: with lines of 64 bytes a page is one of the system's, of 4 KiB.
const PAGE_BITS: u32 = 6;
const PAGE: usize = 1 << PAGE_BITS;

/// Pages that are remembered, as a power of two: most touches go where others went.
const NEAR_BITS: u32 = 9;

/// A number below 2^32 - 1 for each line that was touched. Memory: 4 bytes for each line of a page that has one.
#[derive(Clone, Debug)]
pub(super) struct LastTouch {
    /// By page, its place in `slots`.
    pages: LineMap<u32>,
    /// The number of each line plus one; 0 = never touched.
    slots: Vec<[u32; PAGE]>,
    /// Pages and their places.
    near: Vec<(u64, u32)>,
}

impl LastTouch {
    pub(super) fn new() -> Self {
        // No page has this number: lines have at most 64 bits, pages fewer.
        Self { pages: LineMap::default(), slots: Vec::new(), near: vec![(u64::MAX, 0); 1 << NEAR_BITS] }
    }

    /// Place of the page of `line`, made where there is none.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a few bits are kept; there are fewer pages than 2^32")]
    fn page(&mut self, line: u64) -> usize {
        let page = line >> PAGE_BITS;
        let near = (page.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - NEAR_BITS)) as usize;
        if self.near[near].0 == page {
            return self.near[near].1 as usize;
        }
        let place = *self.pages.entry(page).or_insert_with(|| {
            self.slots.push([0; PAGE]);
            (self.slots.len() - 1) as u32
        });
        self.near[near] = (page, place);
        place as usize
    }

    /// The number of `line`, which is from now on `new`; `None` where it had none.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the place of a line in its page")]
    pub(super) fn exchange(&mut self, line: u64, new: u32) -> Option<u32> {
        let place = self.page(line);
        let slot = &mut self.slots[place][line as usize % PAGE];
        std::mem::replace(slot, new + 1).checked_sub(1)
    }

    /// Replaces every number by what `renumber` makes of it.
    pub(super) fn renumber(&mut self, mut renumber: impl FnMut(u32) -> u32) {
        for slot in self.slots.iter_mut().flatten().filter(|slot| **slot != 0) {
            *slot = renumber(*slot - 1) + 1;
        }
    }
}
