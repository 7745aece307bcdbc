//! Which block an element of an array counts for, and who owns it.

use super::GridError;
use super::owner::{Distribution, Owners};
use super::part::{GridPart, Indices};
use crate::reference::Region;

/// No core: nobody touched the element yet.
pub(super) const NOBODY: u16 = u16::MAX;
/// No block: padding, or an element that is not counted.
const NOWHERE: u32 = u32::MAX;
/// Blocks where elements are too many: a sheet or surfaces of so many are drawn 30 times a second without a GPU.
const MOST_BLOCKS: u64 = 5000;
/// Dimensions that are counted along.
const DIMENSIONS: usize = 3;

/// See the module.
pub(super) struct Places {
    /// See [`super::Grid::fixed`] and [`super::Grid::from`].
    pub(super) fixed: Vec<Option<u64>>,
    pub(super) from: Vec<u64>,
    pub(super) extents: Vec<u64>,
    pub(super) per: Vec<u64>,
    pub(super) blocks: Vec<usize>,
    /// By place in memory, counted in elements from the region's first byte: its block, and its owner.
    of: Vec<(u32, u16)>,
    /// Which of them were written, where that is asked.
    written: Vec<bool>,
}

impl Places {
    /// Of a part of a region, in `most_blocks` blocks at most (but one for each of its dimensions at least).
    pub(super) fn new(
        region: &Region,
        owner: &Distribution,
        part: &GridPart,
        cores: u32,
        [most_blocks, most_elements]: [u64; 2],
    ) -> Result<Self, GridError> {
        let name = || region.name.clone();
        let layout = region.layout().map_err(|why| GridError::Layout { name: name(), why })?;
        let elem = u64::from(region.elem_bytes.max(1));
        let room = region.bytes.div_ceil(elem).max(1);
        let shape = match &region.shape[..] {
            [] => vec![region.elements()],
            shape => shape.iter().map(|extent| (*extent).max(1)).collect(),
        };
        let elements = shape.iter().fold(1u64, |n, extent| n.saturating_mul(*extent));
        if elements.max(room) > most_elements {
            return Err(GridError::Large { name: name(), elements: elements.max(room) });
        }
        let owners = match owner {
            Distribution::FirstTouch => None,
            Distribution::Dealt(deals) if deals.len() > shape.len() => {
                return Err(GridError::Dimensions { name: name(), found: deals.len(), expected: shape.len() });
            }
            Distribution::Dealt(deals) => Some(Owners::new(&shape, deals, cores.into())),
        };
        if part.0.len() > shape.len() {
            return Err(GridError::PartDimensions { name: name(), found: part.0.len(), expected: shape.len() });
        }
        let mut ranges = Vec::new();
        for (dimension, extent) in shape.iter().enumerate() {
            let indices = part.0.get(dimension).copied().unwrap_or_default();
            let found = || GridPart(vec![indices]).to_string();
            let range = indices.of(*extent);
            ranges.push(range.ok_or_else(|| GridError::Part {
                name: name(),
                found: found(),
                dimension,
                extent: *extent,
            })?);
        }
        // One index is not counted along, unless there is nothing else; and of more than three dimensions the first ones are not.
        let is_one = |n: usize| matches!(part.0.get(n), Some(Indices::One(_)));
        let mut along: Vec<usize> = (0..shape.len()).filter(|n| !is_one(*n)).collect();
        if along.is_empty() {
            along.push(shape.len() - 1);
        }
        along.drain(..along.len().saturating_sub(DIMENSIONS));
        for n in (0..shape.len()).filter(|n| !along.contains(n)) {
            ranges[n].end = ranges[n].start + 1;
        }
        let fixed: Vec<Option<u64>> =
            (0..shape.len()).map(|n| (!along.contains(&n)).then_some(ranges[n].start)).collect();
        let from: Vec<u64> = along.iter().map(|n| ranges[*n].start).collect();
        let extents: Vec<u64> = along.iter().map(|n| ranges[*n].end - ranges[*n].start).collect();
        let per = per_block(&extents, most_blocks.max(1));
        let many = |n: usize| usize::try_from(extents[n].div_ceil(per[n])).unwrap_or(usize::MAX);
        let blocks: Vec<usize> = (0..extents.len()).map(many).collect();
        let mut of = vec![(NOWHERE, NOBODY); usize::try_from(room).unwrap_or(0)];
        let mut indices: Vec<u64> = ranges.iter().map(|range| range.start).collect();
        // Of several elements at an address the first one counts.
        let counted: u64 = extents.iter().product();
        for _ in 0..counted {
            let addr = match region.shape.is_empty() {
                true => layout.address_of_number(indices[0]),
                false => layout.address(&indices),
            };
            let place = addr.and_then(|addr| usize::try_from((addr - region.base) / elem).ok());
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
        Ok(Self { fixed, from, extents, per, blocks, of, written: Vec::new() })
    }

    /// The element at a place in memory is touched by `core`, which owns it where nobody touched it before, or nobody wrote it before.
    pub(super) fn touch(&mut self, place: u64, core: u16, writes: bool) {
        let Some(at) = usize::try_from(place).ok().filter(|at| *at < self.of.len()) else { return };
        if self.written.is_empty() {
            self.written = vec![false; self.of.len()];
        }
        if self.of[at].1 == NOBODY || writes && !self.written[at] {
            self.of[at].1 = core;
        }
        self.written[at] |= writes;
    }

    /// The block and the owner of the element at a place in memory.
    pub(super) fn find(&self, place: u64) -> Option<(usize, u16)> {
        let (block, owner) = *self.of.get(usize::try_from(place).ok()?)?;
        (block != NOWHERE).then_some((block as usize, owner))
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
