//! Rows of regions that anything was counted of: there may be a million regions, of which a trace touches some.

/// A row for each number that was asked for with [`TouchedRows::at`], one behind the other.
#[derive(Clone, Debug)]
pub(super) struct TouchedRows<T> {
    /// By number, the place of its row, from 1; 0 = none.
    places: Vec<u32>,
    rows: Vec<T>,
}

impl<T: Default> TouchedRows<T> {
    /// No row yet, for numbers below `count`.
    pub(super) fn new(count: usize) -> Self {
        Self { places: vec![0; count], rows: Vec::new() }
    }

    /// The row of a number, which is made where there is none.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "regions are numbered by 32 bits")]
    pub(super) fn at(&mut self, number: usize) -> &mut T {
        let place = &mut self.places[number];
        if *place == 0 {
            self.rows.push(T::default());
            *place = self.rows.len() as u32;
        }
        &mut self.rows[*place as usize - 1]
    }

    pub(super) fn get(&self, number: usize) -> Option<&T> {
        self.rows.get((*self.places.get(number)? as usize).checked_sub(1)?)
    }

    /// All rows, in the order in which they were first asked for.
    pub(super) fn rows(&self) -> &[T] {
        &self.rows
    }

    /// All rows with their numbers, in the order of these.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        (0..self.places.len()).filter_map(|number| Some((number, self.get(number)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_that_were_asked_for_have_rows() {
        let mut rows = TouchedRows::<u64>::new(1_000_000);
        for (number, count) in [(999_999, 3), (7, 1), (7, 1), (0, 9)] {
            *rows.at(number) += count;
        }
        assert_eq!(rows.iter().collect::<Vec<_>>(), [(0, &9), (7, &2), (999_999, &3)]);
        assert_eq!((rows.get(8), rows.get(1_000_000), rows.rows().len()), (None, None, 3));
    }
}
