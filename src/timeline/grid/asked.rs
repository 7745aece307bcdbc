//! What of an array is asked for: its dimensions and indices, where they lie in memory, and whether they can be counted.

use super::GridError;
use super::owner::Distribution;
use super::part::{GridPart, Indices};
use crate::reference::{ArrayLayout, Region};
use std::ops::Range;

/// Dimensions that are counted along.
const DIMENSIONS: usize = 3;
/// Elements at most, from the first one in memory to the last.
const MOST_ELEMENTS: u64 = 1 << 24;

/// See the module.
pub(super) struct Asked<'a> {
    region: &'a Region,
    layout: ArrayLayout,
    /// Indices of each dimension of the array.
    pub(super) shape: Vec<u64>,
    /// Which of them are counted, by dimension; one where none is counted along.
    pub(super) ranges: Vec<Range<u64>>,
    /// The dimensions that are counted along.
    pub(super) along: Vec<usize>,
    /// The first place in memory of those that are counted, in elements from the region's first byte.
    pub(super) first: u64,
    /// Places from there to the last one.
    pub(super) room: u64,
}

impl<'a> Asked<'a> {
    /// Of a part of a region, with who owns it.
    pub(super) fn new(region: &'a Region, owner: &Distribution, part: &GridPart) -> Result<Self, GridError> {
        let name = || region.name.clone();
        let layout = region.layout().map_err(|why| GridError::Layout { name: name(), why })?;
        let shape = match &region.shape[..] {
            [] => vec![region.elements()],
            shape => shape.iter().map(|extent| (*extent).max(1)).collect(),
        };
        if let Distribution::Dealt(deals) = owner
            && deals.len() > shape.len()
        {
            return Err(GridError::Dimensions { name: name(), found: deals.len(), expected: shape.len() });
        }
        if part.0.len() > shape.len() {
            return Err(GridError::PartDimensions { name: name(), found: part.0.len(), expected: shape.len() });
        }
        let mut ranges = Vec::new();
        for (dimension, extent) in shape.iter().enumerate() {
            let indices = part.0.get(dimension).copied().unwrap_or_default();
            let found = || GridPart(vec![indices]).to_string();
            let no = || GridError::Part { name: name(), found: found(), dimension, extent: *extent };
            ranges.push(indices.of(*extent).ok_or_else(no)?);
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
        let mut asked = Self { region, layout, shape, ranges, along, first: 0, room: 1 };
        let [low, high] = asked.ends().map(|indices| asked.place(&indices).unwrap_or(0));
        (asked.first, asked.room) = (low, high.saturating_sub(low).saturating_add(1));
        let elements = asked.elements().max(asked.room);
        if elements > MOST_ELEMENTS {
            return Err(GridError::Large { name: name(), elements, most: MOST_ELEMENTS });
        }
        Ok(asked)
    }

    /// Indices of the first and of the last element in memory: addresses grow with an index, or fall with it.
    fn ends(&self) -> [Vec<u64>; 2] {
        let start: Vec<u64> = self.ranges.iter().map(|range| range.start).collect();
        let mut ends = [start.clone(), start.clone()];
        for (n, range) in self.ranges.iter().enumerate() {
            let mut far = start.clone();
            far[n] = range.end - 1;
            let falls = self.place(&far) < self.place(&start);
            ends[usize::from(!falls)][n] = far[n];
        }
        ends
    }

    /// Elements that are counted.
    pub(super) fn elements(&self) -> u64 {
        self.extents().fold(1, u64::saturating_mul)
    }

    /// How many indices are counted of each dimension that is counted along.
    pub(super) fn extents(&self) -> impl Iterator<Item = u64> {
        self.along.iter().map(|n| self.ranges[*n].end - self.ranges[*n].start)
    }

    /// Where an element lies, in elements from the region's first byte.
    pub(super) fn place(&self, indices: &[u64]) -> Option<u64> {
        let addr = match self.region.shape.is_empty() {
            true => self.layout.address_of_number(indices[0]),
            false => self.layout.address(indices),
        };
        addr.map(|addr| (addr - self.region.base) / u64::from(self.region.elem_bytes.max(1)))
    }
}

/// Whether an array has the dimensions and indices that are asked for, and few enough of them.
///
/// # Errors
/// [`GridError`]: which it lacks.
pub fn check(region: &Region, owner: &Distribution, part: &GridPart) -> Result<(), GridError> {
    Asked::new(region, owner, part).map(|_| ())
}
