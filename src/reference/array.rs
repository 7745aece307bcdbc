//! Where the elements of an array lie: indices into an address, and an address into indices.
//!
//! ```text
//! shape [3, 4]              strides [4, 1]      0 1 2 3 4 5 6 7 8 9 A B      rows one after the other (C)
//! shape [3, 4]              strides [1, 3]      0 3 6 9 1 4 7 A 2 5 8 B      columns one after the other (Fortran)
//! shape [3, 4]              strides [5, 1]      0 1 2 3 . 4 5 6 7 . 8 9 A B  rows with one element of padding
//! shape [3, 4], offset 6    strides [5, 1]      . . . . . . 0 1 2 3 . 4 ..   a part of a larger array
//! shape [4], offset 3       strides [-1]        3 2 1 0                      an array read from its end
//! shape [3, 4]              strides [0, 1]      0 1 2 3                      one row that stands for three
//! ```
//!
//! The digits are elements in the order of their indices, the last index fastest; a dot is padding.

use super::Region;
use crate::units::grouped;

/// Extents of an array, at most.
const MAX_EXTENTS: usize = 64;

/// Candidates that the search for an address looks at, at most. Arrays that nest have one; so have sliding windows.
const MOST_CANDIDATES: u128 = 4096;

/// More elements than memory has, and far from the end of an `i128`.
const FAR: i128 = 1 << 65;

/// Why a region's shape, strides and offset tell no place of its elements.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// More dimensions than an array has.
    #[error("{0} extents, more than {MAX_EXTENTS}")]
    Extents(usize),
    /// A stride is missing, or one too many.
    #[error("{strides} strides for {extents} extents")]
    Strides {
        /// How many strides there are.
        strides: usize,
        /// How many extents.
        extents: usize,
    },
    /// An element that is not in the region, by its byte from the region's first.
    #[error("an element at byte {byte}, outside of its {bytes} bytes")]
    Outside {
        /// The element's first byte; negative = before the region.
        byte: i128,
        /// Length of the region.
        bytes: u64,
    },
    /// Extents and strides whose products pass 2^127.
    #[error("extents and strides too large to multiply")]
    Overflow,
    /// Too many elements could be at one address, and to try them all would take too long.
    #[error("strides by which more than {MOST_CANDIDATES} elements have to be tried for one address")]
    Tangled,
}

impl LayoutError {
    /// What is expected in its place.
    #[must_use]
    pub fn expectation(&self) -> &'static str {
        match self {
            Self::Extents(_) => "fewer extents",
            Self::Strides { .. } => "one stride for each extent, or none",
            Self::Outside { .. } => "strides, offset and shape in elements that lie inside of the region's bytes",
            Self::Overflow => "strides that stay inside of the region's bytes",
            Self::Tangled => "longer strides that are multiples of shorter ones, or pass what the shorter ones reach",
        }
    }
}

/// Where the elements of a region lie. Made by [`Region::layout`], which checks it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayLayout {
    base: u64,
    elem_bytes: u64,
    /// Whole elements that the region has room for.
    room: i128,
    /// Elements from the base to the one of indices 0.
    origin: i128,
    /// Elements from the base to the lowest one: strides below 0 lead there.
    lowest: i128,
    /// As in the shape.
    dimensions: Vec<Dimension>,
    /// Lengths of strides, the longest first.
    steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Dimension {
    /// 1 or more.
    extent: i128,
    stride: i128,
    /// The highest index: `extent - 1`, or [`FAR`] for one that goes on past its extent.
    last: i128,
}

impl Dimension {
    fn new(extent: u64, stride: i128) -> Self {
        let extent = i128::from(extent.max(1));
        Self { extent, stride, last: extent - 1 }
    }
}

/// All dimensions whose strides have one length, but those of one element or stride 0, which lead nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    /// 1 or more.
    length: i128,
    /// How often it can be taken.
    count: i128,
    /// Elements that the shorter steps cover together.
    reach: i128,
}

impl Step {
    /// How many numbers of this step can lead to one address at most.
    fn candidates(&self) -> u128 {
        (self.reach / self.length).min(self.count).unsigned_abs() + 1
    }
}

impl ArrayLayout {
    fn new(region: &Region) -> Result<Self, LayoutError> {
        let Region { shape, strides, offset, bytes, .. } = region;
        if shape.len() > MAX_EXTENTS {
            return Err(LayoutError::Extents(shape.len()));
        }
        if !strides.is_empty() && strides.len() != shape.len() {
            return Err(LayoutError::Strides { strides: strides.len(), extents: shape.len() });
        }
        let elem_bytes = u64::from(region.elem_bytes.max(1));
        let dimensions = match &strides[..] {
            [] => contiguous(region),
            _ => shape
                .iter()
                .zip(strides.iter())
                .map(|(&extent, &stride)| Dimension::new(extent, stride.into()))
                .collect(),
        };
        let origin = i128::from(*offset);
        let room = i128::from(bytes / elem_bytes);
        let mut lowest = origin;
        if region.is_strided() {
            let ends = dimensions.iter().filter(|d| d.last < FAR).try_fold([origin; 2], |[low, high], d| {
                let far = d.last.checked_mul(d.stride)?;
                Some([low.checked_add(far.min(0))?, high.checked_add(far.max(0))?])
            });
            let ends = ends.ok_or(LayoutError::Overflow)?;
            if let Some(at) = ends.into_iter().find(|at| !(0..room).contains(at)) {
                let byte = at.checked_mul(elem_bytes.into()).ok_or(LayoutError::Overflow)?;
                return Err(LayoutError::Outside { byte, bytes: *bytes });
            }
            lowest = ends[0];
        }
        let steps = steps(&dimensions);
        let candidates = steps.iter().fold(1u128, |n, step| n.saturating_mul(step.candidates()));
        if candidates > MOST_CANDIDATES {
            return Err(LayoutError::Tangled);
        }
        Ok(Self { base: region.base, elem_bytes, room, origin, lowest, dimensions, steps })
    }

    /// First byte of the element with these indices; `None` where there is no such element.
    #[must_use]
    pub fn address(&self, indices: &[u64]) -> Option<u64> {
        if indices.len() != self.dimensions.len() {
            return None;
        }
        let place = indices.iter().zip(&self.dimensions).try_fold(self.origin, |place, (&index, d)| {
            let index = Some(i128::from(index)).filter(|index| *index <= d.last)?;
            index.checked_mul(d.stride)?.checked_add(place)
        });
        self.address_in(place?)
    }

    /// First byte of an element by its number, where the last index is counted fastest: the order in which nested loops over
    /// all indices come to them.
    #[must_use]
    pub fn address_of_number(&self, number: u64) -> Option<u64> {
        let mut left = i128::from(number);
        let mut place = self.origin;
        for d in self.dimensions.iter().rev() {
            place = (left % d.extent).checked_mul(d.stride)?.checked_add(place)?;
            left /= d.extent;
        }
        (left == 0).then(|| self.address_in(place)).flatten()
    }

    /// Address of a place by its number from the base.
    fn address_in(&self, place: i128) -> Option<u64> {
        let place = Some(place).filter(|place| (0..self.room).contains(place))?;
        let bytes = u64::try_from(place).ok()?.checked_mul(self.elem_bytes)?;
        self.base.checked_add(bytes)
    }

    /// Indices of the element that has the byte at `addr`; `None` where none has: before the array, after it, in its padding.
    ///
    /// Several elements may share an address. Then the longest strides go as far as they can, away from the lowest address;
    /// of equal strides the outermost goes first. Where the stride is 0 the index is 0.
    #[must_use]
    pub fn indices(&self, addr: u64) -> Option<Vec<u64>> {
        let place = i128::from(addr.checked_sub(self.base)? / self.elem_bytes);
        let mut counts = [0; MAX_EXTENTS];
        if place < self.lowest || !find(&self.steps, place - self.lowest, &mut counts) {
            return None;
        }
        let index = |d: &Dimension| {
            let step = self.steps.iter().position(|step| d.last > 0 && step.length == d.stride.abs());
            let taken = step.map_or(0, |step| {
                let taken = counts[step].min(d.last);
                counts[step] -= taken;
                taken
            });
            u64::try_from(if d.stride < 0 { d.last - taken } else { taken }).ok()
        };
        self.dimensions.iter().map(index).collect()
    }

    /// Bytes from one row to the next, as memory has rows: the longer stride of two dimensions; `None` for any other number.
    #[must_use]
    pub fn row_bytes(&self) -> Option<u64> {
        let [a, b] = self.dimensions[..] else { return None };
        let stride = u64::try_from(a.stride.abs().max(b.stride.abs())).ok()?;
        stride.checked_mul(self.elem_bytes)
    }
}

/// The dimensions of an array whose elements lie side by side. Where its region says no more, the slowest has no end: an address
/// past the shape still has a name.
fn contiguous(region: &Region) -> Vec<Dimension> {
    if region.shape.is_empty() {
        return vec![Dimension { extent: FAR, stride: 1, last: FAR }];
    }
    let mut dimensions: Vec<Dimension> = region.shape.iter().map(|&extent| Dimension::new(extent, 1)).collect();
    let mut fastest_first: Vec<&mut Dimension> = dimensions.iter_mut().collect();
    if region.row_major {
        fastest_first.reverse();
    }
    let mut stride = 1i128;
    for d in &mut fastest_first {
        d.stride = stride;
        stride = stride.saturating_mul(d.extent).min(FAR);
    }
    if let Some(slowest) = fastest_first.last_mut().filter(|_| !region.is_strided()) {
        slowest.last = FAR;
    }
    dimensions
}

/// The steps of dimensions, the longest first.
fn steps(dimensions: &[Dimension]) -> Vec<Step> {
    let leads_on = dimensions.iter().filter(|d| d.last > 0 && d.stride != 0);
    let mut lengths: Vec<(i128, i128)> = leads_on.map(|d| (d.stride.abs(), d.last)).collect();
    lengths.sort_by_key(|&(length, _)| length);
    let mut steps: Vec<Step> = Vec::new();
    let mut reach = 0i128;
    for alike in lengths.chunk_by(|a, b| a.0 == b.0) {
        let length = alike[0].0;
        let count = alike.iter().fold(0i128, |sum, &(_, count)| sum.saturating_add(count));
        steps.push(Step { length, count, reach });
        reach = length.saturating_mul(count).saturating_add(reach);
    }
    steps.reverse();
    steps
}

/// How often each step is taken to go `distance` elements, the longest as often as it can be; whether that is possible.
fn find(steps: &[Step], distance: i128, counts: &mut [i128]) -> bool {
    let ([step, shorter @ ..], [count, rest @ ..]) = (steps, counts) else { return distance == 0 };
    let most = (distance / step.length).min(step.count);
    // With fewer, the shorter steps do not reach the end.
    let least = (distance - step.reach).max(0);
    let least = least / step.length + i128::from(least % step.length != 0);
    let mut taken = most;
    while taken >= least {
        if find(shorter, distance - taken * step.length, rest) {
            *count = taken;
            return true;
        }
        taken -= 1;
    }
    false
}

impl Region {
    /// Whether strides or an offset are told, so that its elements may lie apart.
    #[must_use]
    pub fn is_strided(&self) -> bool {
        !self.strides.is_empty() || self.offset != 0
    }

    /// Where its elements lie.
    ///
    /// Without strides and offset the elements lie side by side, and the slowest index goes on as far as the bytes do, whatever
    /// its extent.
    ///
    /// # Errors
    /// Where strides and extents differ in number, an element would lie outside of the region, or too many elements may share an
    /// address.
    pub fn layout(&self) -> Result<ArrayLayout, LayoutError> {
        ArrayLayout::new(self)
    }

    /// Number of whole elements, at least 1. Those that share an address count each.
    #[must_use]
    pub fn elements(&self) -> u64 {
        let room = (self.bytes / u64::from(self.elem_bytes.max(1))).max(1);
        if self.is_strided() && !self.shape.is_empty() {
            return self.shape.iter().fold(1, |n: u64, &extent| n.saturating_mul(extent.max(1)));
        }
        room.saturating_sub(self.offset).max(1)
    }

    /// `A[2][15]` for an address inside: name and indices by shape, `A[37]` where the shape is unknown, `A + 136 bytes (padding)`
    /// where no element is, the address itself where the region has no name. Of several elements at an address the one is named
    /// that [`ArrayLayout::indices`] tells.
    #[must_use]
    pub fn element_name(&self, addr: u64) -> String {
        if self.is_unnamed() {
            return format!("0x{addr:x}");
        }
        let addr = addr.max(self.base);
        let bytes = || match addr - self.base {
            1 => format!("{} + 1 byte", self.name),
            n => format!("{} + {} bytes", self.name, grouped(n)),
        };
        match self.layout().map(|layout| layout.indices(addr)) {
            Ok(Some(indices)) => indices.iter().fold(self.name.clone(), |name, index| format!("{name}[{index}]")),
            Ok(None) => format!("{} (padding)", bytes()),
            Err(_) => bytes(),
        }
    }
}

#[cfg(test)]
mod tests;
