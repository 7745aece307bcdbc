//! The lines a cache was ever asked for: a bit each, in pages of 2,048 lines that are found by hash.

use super::super::simd;
use super::shadow::home;
use crate::units::LineAddr;

/// Lines in a page, as a power of two: few enough that a lonely line costs little, enough that the table of pages of a
/// large program stays near.
const PAGE_BITS: u32 = 11;

/// Words of a page.
const WORDS: usize = 1 << (PAGE_BITS - 6);

/// No page.
const NONE: u32 = u32::MAX;

/// A set of lines that only grows. Dense lines take a bit each, a lonely one about 400 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Touched {
    pages: Vec<[u64; WORDS]>,
    /// Open addressing, at most an eighth full, so that few searches are guessed wrong: page number and place in `pages`, or [`NONE`].
    slots: Vec<(u64, u32)>,
    /// 64 - log2 of the slots.
    shift: u32,
}

impl Touched {
    pub(super) fn new() -> Self {
        Self { pages: Vec::new(), slots: vec![(0, NONE); 16], shift: 60 }
    }

    /// Adds a line; whether it is new.
    #[inline]
    pub(super) fn insert(&mut self, line: LineAddr) -> bool {
        let page = self.page(line);
        self.insert_in(page, line)
    }

    /// [`Touched::insert`] of a line whose page is known.
    #[inline(always)]
    pub(super) fn insert_in(&mut self, page: usize, line: LineAddr) -> bool {
        let word = &mut self.pages[page][(line.0 >> 6) as usize % WORDS];
        let bit = 1 << (line.0 % 64);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// The page of a line, made if there is none.
    #[inline]
    pub(super) fn page(&mut self, line: LineAddr) -> usize {
        let number = line.0 >> PAGE_BITS;
        match self.find(number) {
            Ok(place) => place as usize,
            Err(slot) => self.add(number, slot),
        }
    }

    /// Tells the processor that the page of this line will be asked for.
    #[inline(always)]
    pub(super) fn expect(&self, line: LineAddr) {
        simd::expect(&self.slots, home(line.0 >> PAGE_BITS, self.shift));
    }

    /// Tells it that the bit of this line, in this page, will be.
    #[inline(always)]
    pub(super) fn expect_in(&self, page: usize, line: LineAddr) {
        simd::expect(self.pages.as_flattened(), page * WORDS + (line.0 >> 6) as usize % WORDS);
    }

    /// Place of a page, or the slot it would take.
    #[inline]
    fn find(&self, number: u64) -> Result<u32, usize> {
        let mask = self.slots.len() - 1;
        let mut at = home(number, self.shift);
        loop {
            let (here, place) = self.slots[at & mask];
            if place == NONE {
                return Err(at & mask);
            }
            if here == number {
                return Ok(place);
            }
            at += 1;
        }
    }

    #[cold]
    fn add(&mut self, number: u64, slot: usize) -> usize {
        let place = self.pages.len();
        self.pages.push([0; WORDS]);
        // 2^32 pages would be 256 GiB of bits.
        self.slots[slot] = (number, u32::try_from(place).unwrap_or(NONE - 1));
        if self.pages.len() * 8 > self.slots.len() {
            let slots = vec![(0, NONE); self.slots.len() * 2];
            let old = std::mem::replace(&mut self.slots, slots);
            self.shift -= 1;
            for (number, place) in old.into_iter().filter(|(_, place)| *place != NONE) {
                if let Err(slot) = self.find(number) {
                    self.slots[slot] = (number, place);
                }
            }
        }
        place
    }

    /// Bytes held, about.
    pub(super) fn state_bytes(&self) -> usize {
        self.pages.capacity() * size_of::<[u64; WORDS]>() + self.slots.capacity() * size_of::<(u64, u32)>()
    }
}
