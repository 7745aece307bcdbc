//! What each element has by itself, slice by slice: for the least and the most of a block, which sums do not tell.

use super::counts::{COLUMNS, GridCounts};
use std::collections::HashMap;
use std::ops::Range;

/// Elements times slices at most, of those that are touched: 40 bytes each.
pub(super) const MOST_TOUCHED: usize = 1 << 23;

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Spread {
    /// By slice: which of the elements that are touched at all, and how often.
    slices: Vec<Vec<(u32, [u32; COLUMNS])>>,
    /// By such an element: its block, and which part of the accesses it is of.
    of: Vec<(u32, u16)>,
}

/// Makes a [`Spread`] of counts that come slice by slice.
#[derive(Default)]
pub(super) struct Spreading {
    made: Spread,
    /// Numbers of elements, by their place and part.
    numbers: HashMap<(u32, u16), u32>,
    /// In the last slice: where in its list an element is.
    now: HashMap<u32, usize>,
    touched: usize,
}

impl Spreading {
    /// Adds to an element of a block; slices come in order. Whether there is room for it.
    pub(super) fn add(&mut self, slice: usize, of: (u32, u16, u32), counts: [u64; COLUMNS]) -> bool {
        let (place, part, block) = of;
        if self.made.slices.len() <= slice {
            self.made.slices.resize(slice + 1, Vec::new());
            self.now.clear();
        }
        let next = u32::try_from(self.made.of.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry((place, part)).or_insert(next);
        if number == next {
            self.made.of.push((block, part));
        }
        let Some(list) = self.made.slices.last_mut() else { return true };
        let at = *self.now.entry(number).or_insert_with(|| {
            list.push((number, [0; COLUMNS]));
            self.touched += 1;
            list.len() - 1
        });
        for (own, more) in list[at].1.iter_mut().zip(counts) {
            *own = own.saturating_add(u32::try_from(more).unwrap_or(u32::MAX));
        }
        self.touched <= MOST_TOUCHED
    }

    pub(super) fn done(mut self, slices: usize) -> Spread {
        self.made.slices.resize(slices, Vec::new());
        self.made
    }
}

impl Spread {
    /// The least and the most that an element of each block has in a window of slices; `elements`: how many each block has.
    pub(super) fn ends(
        &self,
        window: Range<usize>,
        part: usize,
        elements: &[u64],
        number: &dyn Fn(&GridCounts) -> f64,
    ) -> Vec<[f64; 2]> {
        let mut sums = vec![[0u64; COLUMNS]; self.of.len()];
        let end = window.end.min(self.slices.len());
        for (at, counts) in self.slices[window.start.min(end)..end].iter().flatten() {
            let own = &mut sums[*at as usize];
            own.iter_mut().zip(counts).for_each(|(own, more)| *own += u64::from(*more));
        }
        let none = number(&GridCounts::default());
        let mut found = vec![(0u64, [f64::INFINITY, f64::NEG_INFINITY]); elements.len()];
        let own = sums.into_iter().zip(&self.of).filter(|(_, (_, of))| usize::from(*of) == part);
        for (counts, (block, _)) in own {
            let (met, [least, most]) = &mut found[*block as usize];
            let number = number(&GridCounts::of(counts));
            (*least, *most) = (least.min(number), most.max(number));
            *met += 1;
        }
        // Elements that nobody touched have nothing.
        let whole = |((met, [least, most]), all): ((u64, [f64; 2]), &u64)| {
            if met < *all { [least.min(none), most.max(none)] } else { [least, most] }
        };
        found.into_iter().zip(elements).map(whole).collect()
    }
}
