//! The least number and the largest of any window of slices that is as long: scales that stay while a trace plays.

use super::counted::Counted;
use crate::scene::solids::{Glyphs, Measure, SolidLook};
use crate::timeline::{Aggregate, Grid};
use std::ops::Range;
use std::sync::Arc;

/// See the module; what was found last is kept.
#[derive(Default)]
pub(super) struct Ends(Option<Held>);

struct Held {
    grid: Arc<Grid>,
    of: (Measure, Glyphs, Aggregate, Range<usize>),
    ends: [f64; 2],
}

impl Ends {
    /// Of the window that is counted where it was asked for, else of all windows of `long` slices; `numbers` gives those of one.
    pub(super) fn of(
        &mut self,
        counted: &Counted,
        look: &SolidLook,
        long: usize,
        numbers: impl Fn(&Range<usize>) -> Vec<f64>,
    ) -> [f64; 2] {
        let grid = &counted.grid;
        let windows = if look.window.is_some() { counted.window.clone() } else { 1..grid.slices() + 1 };
        let of = (look.measure, look.glyphs, look.aggregate, windows.clone());
        if let Some(held) = self.0.as_ref().filter(|held| Arc::ptr_eq(&held.grid, grid) && held.of == of) {
            return held.ends;
        }
        let all = match look.window {
            Some(_) => vec![windows],
            None => windows.map(|end| end.saturating_sub(long)..end).collect(),
        };
        let mut ends = [f64::INFINITY, f64::NEG_INFINITY];
        for number in all.iter().flat_map(numbers) {
            ends = [ends[0].min(number), ends[1].max(number)];
        }
        self.0 = Some(Held { grid: Arc::clone(grid), of, ends });
        ends
    }
}
