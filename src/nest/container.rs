//! A container: an array, a scalar, whatever has elements of one size.

use crate::reference::Region;

/// A container of a nest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Container {
    /// Name, unique in its nest.
    pub name: String,
    /// Name of the elements' type: `double`; empty = unknown.
    pub elem_type: String,
    /// Bytes of one element, 1 or more.
    pub elem_bytes: u32,
    /// Extents, the outermost first; empty = one element.
    pub shape: Vec<u64>,
    /// Elements of memory from one index to the next; empty where no such numbers are (tiles).
    pub strides: Vec<i64>,
    /// Elements of memory from the container's first byte to the element whose indices are all 0.
    pub offset: i64,
    /// Elements of memory that it takes, with offset and padding.
    pub elements: u64,
    /// Bytes that its first byte is a multiple of; 0 or 1 = no wish.
    pub align: u64,
    /// First byte, where it was asked for, or where a [`Walk`](super::Walk) put it.
    pub base: Option<u64>,
    /// Whether it lives inside of the nest only.
    pub transient: bool,
}

impl Container {
    /// Bytes that it takes, at least those of one element.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.elements.max(1).saturating_mul(u64::from(self.elem_bytes))
    }

    /// As a region of a trace; `base` where it has none.
    #[must_use]
    pub fn region(&self, base: u64) -> Region {
        let mut region = Region {
            elem_bytes: self.elem_bytes,
            elem_type: self.elem_type.clone().into(),
            shape: self.shape.clone().into(),
            ..Region::new(self.name.clone(), self.base.unwrap_or(base), self.bytes())
        };
        if !self.shape.is_empty() && self.strides.len() == self.shape.len() {
            region.strides = self.strides.clone().into();
            region.offset = u64::try_from(self.offset).unwrap_or(0);
        }
        // What a region cannot tell, elements below its first byte or too many in one place, it does not claim.
        if region.layout().is_err() {
            region.shape.clear();
            region.strides.clear();
            region.offset = 0;
        }
        region
    }

    /// Lines that hold a byte of an element, where the container starts on a line; `None` where they are too many to be counted.
    #[must_use]
    pub fn lines(&self, line_bytes: u64) -> Option<u64> {
        if self.strides.len() != self.shape.len() {
            return Some(self.bytes().div_ceil(line_bytes.max(1)));
        }
        let dims: Vec<(u64, i64)> = self.shape.iter().copied().zip(self.strides.iter().copied()).collect();
        span_lines(&dims, self.offset, u64::from(self.elem_bytes), line_bytes.max(1))
    }
}

/// Runs of elements that are looked at one by one, at most.
const MOST_RUNS: u64 = 1 << 24;

/// Lines of `line` bytes under the elements of these extents and strides, the first of which is `offset` elements past the start of a
/// line; `None` where too many runs of elements lie apart.
#[must_use]
pub fn span_lines(dims: &[(u64, i64)], offset: i64, elem: u64, line: u64) -> Option<u64> {
    if dims.iter().any(|(extent, _)| *extent == 0) {
        return Some(0);
    }
    let mut start = i128::from(offset) * i128::from(elem);
    // Strides below 0 lead back from the first element: the same places are reached from the lowest one.
    let mut steps: Vec<(u64, u64)> = Vec::new();
    for &(extent, stride) in dims {
        let bytes = stride.unsigned_abs().checked_mul(elem)?;
        if stride < 0 {
            start -= i128::from(bytes) * i128::from(extent - 1);
        }
        if extent > 1 && bytes > 0 {
            steps.push((bytes, extent));
        }
    }
    steps.sort_unstable();
    // Elements that lie side by side are one run.
    let mut run = elem;
    let mut apart: Vec<(u64, u64)> = Vec::new();
    for (bytes, extent) in steps {
        if apart.is_empty() && bytes <= run {
            run = bytes.checked_mul(extent - 1)?.checked_add(run)?;
        } else {
            apart.push((bytes, extent));
        }
    }
    let runs = apart.iter().try_fold(1u64, |n, (_, extent)| n.checked_mul(*extent))?;
    if runs > MOST_RUNS {
        return None;
    }
    let line = i128::from(line);
    let mut counted: Vec<(i128, i128)> = Vec::with_capacity(usize::try_from(runs).ok()?);
    for number in 0..runs {
        let (mut left, mut at) = (number, start);
        for (bytes, extent) in &apart {
            at += i128::from(left % extent) * i128::from(*bytes);
            left /= extent;
        }
        counted.push((at.div_euclid(line), (at + i128::from(run) - 1).div_euclid(line)));
    }
    counted.sort_unstable();
    let (mut lines, mut next) = (0i128, i128::MIN);
    for (first, last) in counted {
        let first = first.max(next);
        if last >= first {
            lines += last - first + 1;
            next = last + 1;
        }
    }
    u64::try_from(lines).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn lines_are_those_that_hold_a_byte(
            dims in prop::collection::vec((0u64..6, -20i64..40), 0..4),
            offset in 0i64..20,
            elem in prop::sample::select(vec![1u64, 4, 8, 12, 16]),
            line in prop::sample::select(vec![8u64, 32, 64]),
        ) {
            let mut places = vec![offset];
            for (extent, stride) in &dims {
                places = places.iter().flat_map(|p| (0..extent.cast_signed()).map(move |n| p + n * stride)).collect();
            }
            let (elem_bytes, line_bytes) = (elem.cast_signed(), line.cast_signed());
            let bytes = |place: i64| (0..elem_bytes).map(move |b| (place * elem_bytes + b).div_euclid(line_bytes));
            let lines: BTreeSet<i64> = places.iter().copied().flat_map(bytes).collect();
            prop_assert_eq!(span_lines(&dims, offset, elem, line), Some(lines.len() as u64));
        }
    }
}
