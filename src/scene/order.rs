//! In which order regions stand, in memory's band and in tables: some first, all others after them as the trace has them. A region keeps
//! its number whatever the order.

use std::sync::Arc;

/// The regions that stand first, by number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegionOrder(Arc<[usize]>);

impl RegionOrder {
    /// With these first, in this order; of a number that comes again the first counts.
    #[must_use]
    pub fn new(first: impl IntoIterator<Item = usize>) -> Self {
        let mut kept: Vec<usize> = Vec::new();
        for region in first {
            if !kept.contains(&region) {
                kept.push(region);
            }
        }
        // Where the first are first anyway, equal pictures are equal values.
        if kept.iter().copied().eq(0..kept.len()) { Self::default() } else { Self(kept.into()) }
    }

    /// The regions that stand first.
    #[must_use]
    pub fn first(&self) -> &[usize] {
        &self.0
    }

    /// Whether all regions stand as the trace has them.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.0.is_empty()
    }

    /// All of `count` regions in order.
    #[must_use]
    pub fn all(&self, count: usize) -> Vec<usize> {
        let mut taken = vec![false; count];
        let mut all = Vec::with_capacity(count);
        for &region in self.0.iter().filter(|region| **region < count) {
            all.push(region);
            taken[region] = true;
        }
        all.extend((0..count).filter(|region| !taken[*region]));
        all
    }

    /// A number by which regions are sorted.
    #[must_use]
    pub fn place(&self, region: usize) -> usize {
        let first = self.0.iter().position(|first| *first == region);
        first.unwrap_or_else(|| self.0.len().saturating_add(region))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_stand_first_and_all_others_as_they_were() {
        let order = RegionOrder::new([3, 1, 3]);
        assert_eq!(order.all(5), [3, 1, 0, 2, 4]);
        assert_eq!(order.all(2), [1, 0], "of fewer regions");
        let mut sorted: Vec<usize> = (0..5).collect();
        sorted.sort_by_key(|region| order.place(*region));
        assert_eq!(sorted, order.all(5));
        assert_eq!(RegionOrder::new([0, 1]), RegionOrder::default());
        assert!(RegionOrder::default().is_plain() && RegionOrder::default().all(3) == [0, 1, 2]);
    }
}
