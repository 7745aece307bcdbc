//! Which items of a group are at work.

/// The most items of a group: what WebGPU's adapters allow at most.
pub const MOST_ITEMS: usize = 1024;

const WORDS: usize = MOST_ITEMS / 64;

/// A set of the items of a group, by their local index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mask([u64; WORDS]);

impl Mask {
    /// Nobody.
    pub const NONE: Self = Self([0; WORDS]);

    /// The first `items`.
    #[must_use]
    pub fn first(items: usize) -> Self {
        let mut mask = Self::NONE;
        for (n, word) in mask.0.iter_mut().enumerate() {
            let here = items.saturating_sub(64 * n);
            *word = if here >= 64 { u64::MAX } else { (1u64 << here) - 1 };
        }
        mask
    }

    /// Whether there is nobody.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0 == [0; WORDS]
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether this item is one of them.
    #[must_use]
    pub fn has(&self, item: usize) -> bool {
        self.0[item / 64] >> (item % 64) & 1 == 1
    }

    /// Adds an item.
    pub fn insert(&mut self, item: usize) {
        self.0[item / 64] |= 1 << (item % 64);
    }

    /// Those in either.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        self.with(other, |a, b| a | b)
    }

    /// Those in both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        self.with(other, |a, b| a & b)
    }

    /// Those here and not there.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        self.with(other, |a, b| a & !b)
    }

    fn with(&self, other: &Self, f: impl Fn(u64, u64) -> u64) -> Self {
        let mut mask = *self;
        mask.0.iter_mut().zip(other.0).for_each(|(a, b)| *a = f(*a, b));
        mask
    }

    /// Its items, in rising order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + use<> {
        let words = self.0;
        (0..WORDS).filter(move |n| words[*n] != 0).flat_map(move |n| {
            let mut left = words[n];
            std::iter::from_fn(move || {
                if left == 0 {
                    return None;
                }
                let at = left.trailing_zeros() as usize;
                left &= left - 1;
                Some(64 * n + at)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_those_put_in() {
        let mut mask = Mask::first(65);
        assert_eq!((mask.count(), mask.has(64), mask.has(65)), (65, true, false));
        mask.insert(1023);
        let odd = Mask::first(1024).iter().filter(|n| n % 2 == 1).fold(Mask::NONE, |mut mask, n| {
            mask.insert(n);
            mask
        });
        assert_eq!(mask.and(&odd).count(), 33);
        assert_eq!(mask.without(&odd).iter().collect::<Vec<_>>(), (0..33).map(|n| 2 * n).collect::<Vec<_>>());
        assert!(mask.or(&odd).has(1001) && Mask::NONE.is_empty() && !odd.is_empty());
        assert_eq!(Mask::first(1024).count(), 1024);
    }
}
