//! Which block an element of an array counts for, and who owns it.

use super::asked::Asked;
use super::owner::{Distribution, Owners};

/// No core: nobody touched the element yet.
pub(super) const NOBODY: u16 = u16::MAX;
/// No block: padding, or an element that is not counted.
const NOWHERE: u32 = u32::MAX;
/// Blocks where elements are too many: a sheet or surfaces of so many are drawn 30 times a second without a GPU.
const MOST_BLOCKS: u64 = 5000;

/// See the module.
pub(super) struct Places {
    /// See [`super::Grid::fixed`] and [`super::Grid::from`].
    pub(super) fixed: Vec<Option<u64>>,
    pub(super) from: Vec<u64>,
    pub(super) extents: Vec<u64>,
    pub(super) per: Vec<u64>,
    pub(super) blocks: Vec<usize>,
    /// The first place in memory of those that are counted, in elements from the region's first byte.
    first: u64,
    /// By place in memory from the first one on: its block, and its owner.
    of: Vec<(u32, u16)>,
    /// Which of them were written, where that is asked.
    written: Vec<bool>,
}

impl Places {
    /// Of what is asked for, in `most_blocks` blocks at most (but one for each of its dimensions at least).
    pub(super) fn new(asked: &Asked<'_>, owner: &Distribution, cores: u32, most_blocks: u64) -> Self {
        let Asked { shape, ranges, along, first, .. } = asked;
        let owners = match owner {
            Distribution::FirstTouch => None,
            Distribution::Dealt(deals) => Some(Owners::new(shape, deals, cores.into())),
        };
        let fixed: Vec<Option<u64>> =
            (0..shape.len()).map(|n| (!along.contains(&n)).then_some(ranges[n].start)).collect();
        let from: Vec<u64> = along.iter().map(|n| ranges[*n].start).collect();
        let extents: Vec<u64> = asked.extents().collect();
        let per = per_block(&extents, most_blocks.max(1));
        let many = |n: usize| usize::try_from(extents[n].div_ceil(per[n])).unwrap_or(usize::MAX);
        let blocks: Vec<usize> = (0..extents.len()).map(many).collect();
        let mut of = vec![(NOWHERE, NOBODY); usize::try_from(asked.room).unwrap_or(0)];
        let mut indices: Vec<u64> = ranges.iter().map(|range| range.start).collect();
        // Of several elements at an address the first one counts.
        for _ in 0..asked.elements() {
            let place = asked.place(&indices).and_then(|place| usize::try_from(place.checked_sub(*first)?).ok());
            if let Some(place) = place.and_then(|place| of.get_mut(place)).filter(|place| place.0 == NOWHERE) {
                let at = |n: usize| (indices[along[n]] - from[n]) / per[n];
                let block = (0..extents.len()).fold(0u64, |block, n| block * blocks[n] as u64 + at(n));
                let owner = owners.as_ref().and_then(|owners| u16::try_from(owners.of(&indices)).ok());
                *place = (u32::try_from(block).unwrap_or(NOWHERE), owner.unwrap_or(NOBODY));
            }
            for &n in along.iter().rev() {
                indices[n] += 1;
                if indices[n] < ranges[n].end {
                    break;
                }
                indices[n] = ranges[n].start;
            }
        }
        Self { fixed, from, extents, per, blocks, first: *first, of, written: Vec::new() }
    }

    /// The element at a place in memory is touched by `core`, which owns it where nobody touched it before, or nobody wrote it before.
    pub(super) fn touch(&mut self, place: u64, core: u16, writes: bool) {
        let Some(at) = self.number(place).filter(|at| *at < self.of.len()) else { return };
        if self.written.is_empty() {
            self.written = vec![false; self.of.len()];
        }
        if self.of[at].1 == NOBODY || writes && !self.written[at] {
            self.of[at].1 = core;
        }
        self.written[at] |= writes;
    }

    /// The element at a place in memory: its number in the order of memory, its block, and its owner.
    pub(super) fn find(&self, place: u64) -> Option<(usize, usize, u16)> {
        let number = self.number(place)?;
        let (block, owner) = *self.of.get(number)?;
        (block != NOWHERE).then_some((number, block as usize, owner))
    }

    /// The number of a place in memory, from the first one that is counted.
    fn number(&self, place: u64) -> Option<usize> {
        usize::try_from(place.checked_sub(self.first)?).ok()
    }

    /// The owner of each block, where its elements have one.
    pub(super) fn owners(&self) -> Vec<Option<u16>> {
        let mut all: Vec<(u16, bool)> = vec![(NOBODY, true); self.blocks.iter().product()];
        for (block, owner) in self.of.iter().filter(|(block, owner)| *block != NOWHERE && *owner != NOBODY) {
            let own = &mut all[*block as usize];
            *own = (*owner, own.1 && (own.0 == NOBODY || own.0 == *owner));
        }
        all.into_iter().map(|(owner, one)| Some(owner).filter(|owner| one && *owner != NOBODY)).collect()
    }
}

/// Elements of a block along each extent: 1, where there is room for that; else the longest side is halved until half of the room is enough, and
/// [`MOST_BLOCKS`].
fn per_block(extents: &[u64], most: u64) -> Vec<u64> {
    let mut per = vec![1u64; extents.len()];
    let along = |per: &[u64], n: usize| extents[n].div_ceil(per[n]);
    let all = |per: &[u64]| (0..per.len()).fold(1u64, |all, n| all.saturating_mul(along(per, n)));
    let most = if all(&per) > most { (most / 2).clamp(1, MOST_BLOCKS) } else { most };
    while all(&per) > most {
        let longest = (0..per.len()).max_by_key(|&n| (along(&per, n), std::cmp::Reverse(n)));
        let Some(longest) = longest.filter(|&n| along(&per, n) > 1) else { break };
        per[longest] *= 2;
    }
    per
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_side_is_halved_until_blocks_are_few_enough() {
        assert_eq!(per_block(&[64, 65], 5000), [1, 1]);
        assert_eq!(per_block(&[64, 65], 4159), [2, 2]);
        assert_eq!(per_block(&[1000, 1000], 16_000), [16, 16]);
        assert_eq!(per_block(&[64, 64, 64], 16_000), [4, 4, 4]);
        assert_eq!(per_block(&[1_000_000], 1000), [2048]);
        assert_eq!(per_block(&[3, 3], 1), [4, 4]);
    }
}
