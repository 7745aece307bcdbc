//! Numbers that took a look at every element, kept while they are drawn from elsewhere.

use crate::scene::solids::Measure;
use crate::timeline::{Aggregate, Grid};
use std::ops::Range;
use std::sync::Arc;

/// Of which numbers a list is: above the plane or below it, by what, of whom, when.
pub(super) type Key = (bool, Measure, Aggregate, Option<usize>, Range<usize>);

/// Lists that are kept at most: of a few cores, up and down, and of colours.
const KEPT: usize = 16;

/// See the module.
#[derive(Default)]
pub(super) struct Memo(Vec<(Arc<Grid>, Key, Arc<[f64]>)>);

impl Memo {
    /// The numbers of a key, from before or made now.
    pub(super) fn of(&mut self, grid: &Arc<Grid>, key: Key, make: impl FnOnce() -> Vec<f64>) -> Arc<[f64]> {
        // Sums are as fast as a look.
        if !key.2.needs_elements() {
            return make().into();
        }
        let is_it = |(own, held, _): &&(Arc<Grid>, Key, Arc<[f64]>)| Arc::ptr_eq(own, grid) && *held == key;
        if let Some((.., numbers)) = self.0.iter().find(is_it) {
            return Arc::clone(numbers);
        }
        if self.0.len() >= KEPT {
            self.0.remove(0);
        }
        let numbers: Arc<[f64]> = make().into();
        self.0.push((Arc::clone(grid), key, Arc::clone(&numbers)));
        numbers
    }
}
