//! Working sets over time.

use super::last::LastTouch;
use super::touch::Touches;
use crate::reference::Reference;
use serde::Serialize;

/// How many different lines the last references touched, at regular moments: the working set W(t, T) of Denning ("The Working Set Model
/// for Program Behavior", 1968), in lines. Time `t` and the window `T` are counted in references. Before `T` references were
/// played, the window is what there is.
///
/// Memory: 4 bytes a line, and 8 a moment. O(1) a touch.
#[derive(Clone, Debug)]
pub struct WorkingSets {
    touches: Touches,
    step: u64,
    /// Steps of a window.
    steps: usize,
    last: LastTouch,
    /// By step, lines whose last touch is in it.
    newest: Vec<u64>,
    points: Vec<WorkingSet>,
    played: u64,
}

/// A working set at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct WorkingSet {
    /// References played by then.
    pub reference: u64,
    /// Different lines that the last references touched.
    pub lines: u64,
}

impl WorkingSets {
    /// A working set after each `step` references, 1 or more, in windows of `steps` times as many, 1 or more.
    #[must_use]
    pub fn new(touches: Touches, step: u64, steps: usize) -> Self {
        Self {
            touches,
            step: step.max(1),
            steps: steps.max(1),
            last: LastTouch::new(),
            newest: vec![0],
            points: Vec::new(),
            played: 0,
        }
    }

    /// References of a window.
    #[must_use]
    pub fn window(&self) -> u64 {
        self.step * self.steps as u64
    }

    /// Plays references, in their order.
    #[expect(clippy::cast_possible_truncation, reason = "steps of a window are few; a trace has fewer than 2^32")]
    pub fn play(&mut self, references: &[Reference]) {
        let touches = self.touches;
        for reference in references {
            let Self { last, newest, .. } = self;
            let now = newest.len() - 1;
            touches.each(reference, |line| {
                if let Some(before) = last.exchange(line, now as u32) {
                    newest[before as usize] -= 1;
                }
                newest[now] += 1;
            });
            self.played += 1;
            if self.played.is_multiple_of(self.step) {
                self.note();
                self.newest.push(0);
            }
        }
    }

    fn note(&mut self) {
        let first = self.newest.len().saturating_sub(self.steps);
        self.points.push(WorkingSet { reference: self.played, lines: self.newest[first..].iter().sum() });
    }

    /// All moments; the last is the end of the trace.
    #[must_use]
    pub fn finish(mut self) -> Vec<WorkingSet> {
        if !self.played.is_multiple_of(self.step) {
            self.note();
        }
        self.points
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::Kind;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn windows_count_different_lines(
            addresses in prop::collection::vec(0u64..2_000, 0..400),
            step in 1u64..30,
            steps in 1usize..6,
        ) {
            let references: Vec<Reference> = addresses.iter().map(|a| Reference::new(Kind::Read, *a, 8)).collect();
            let touches = Touches::new(6, false);
            let mut sets = WorkingSets::new(touches, step, steps);
            references.chunks(7).for_each(|part| sets.play(part));
            let window = usize::try_from(sets.window()).unwrap();
            let points = sets.finish();
            prop_assert_eq!(points.len() as u64, (references.len() as u64).div_ceil(step));
            for point in points {
                let end = usize::try_from(point.reference).unwrap();
                // A window ends with the step under way: at the end of the trace it is shorter.
                let begun = (end.div_ceil(usize::try_from(step).unwrap()) * usize::try_from(step).unwrap()).saturating_sub(window);
                let mut lines = BTreeSet::new();
                for reference in &references[begun..end] {
                    touches.each(reference, |line| { lines.insert(line); });
                }
                prop_assert_eq!(point.lines, lines.len() as u64);
            }
        }
    }
}
