//! Finds the next or previous reference that a source line makes: by the counts of keyframes to the stretch between two of them that
//! has it, then reference by reference.

use super::{Tally, Timeline};
use crate::reference::{Reference, SourceError};
use std::ops::Range;

impl Timeline {
    /// The first reference after `tick` (`forward`), or the last one before it, that the line of row `line` makes; `None` where there is
    /// none. What the configuration drops does not count.
    ///
    /// # Errors
    /// When the source cannot be read.
    pub fn find_line(&self, line: usize, tick: u64, forward: bool) -> Result<Option<u64>, SourceError> {
        let (mut from, mut to) = if forward { (tick.saturating_add(1), self.len()) } else { (0, tick.min(self.len())) };
        // Keyframes inside the range, each a border that may be looked at.
        while from < to {
            let (near, rest) = self.parted(from, to, forward);
            if let Some(found) = self.scan(line, near.clone(), forward)? {
                return Ok(Some(found));
            }
            // Of what is left, the half that has it.
            (from, to) = (rest.start, rest.end);
            let Some(has) = self.narrowed(line, from, to, forward) else { continue };
            (from, to) = (has.start, has.end);
        }
        Ok(None)
    }

    /// The references up to the next keyframe, and those past it.
    fn parted(&self, from: u64, to: u64, forward: bool) -> (Range<u64>, Range<u64>) {
        let spacing = self.spacing();
        if forward {
            let border = (from / spacing + 1).saturating_mul(spacing).min(to);
            return (from..border, border..to);
        }
        let border = ((to - 1) / spacing * spacing).max(from);
        (border..to, from..border)
    }

    /// Of references that begin (`forward`) or end at a keyframe, those from the stretch on that has the line; empty where none has it.
    /// `None` where a count is not to be had.
    fn narrowed(&self, line: usize, from: u64, to: u64, forward: bool) -> Option<Range<u64>> {
        let (spacing, references) = (self.spacing(), |tick: u64| self.counted(line, tick));
        let here = references(if forward { from } else { to })?;
        // Numbers of keyframes: the count differs at `far` and does not at `near`.
        let last = self.keyframes.last();
        let (mut near, mut far) =
            if forward { (from / spacing, (to / spacing).min(last)) } else { (to / spacing, from.div_ceil(spacing)) };
        if references(far * spacing)? == here {
            // Whatever is left is past the last keyframe in the range.
            let at = far * spacing;
            return Some(if forward { at.max(from)..to } else { from..at.min(to).max(from) });
        }
        while near.abs_diff(far) > 1 {
            let middle = near.midpoint(far);
            if references(middle * spacing)? == here { near = middle } else { far = middle }
        }
        Some(if forward { near * spacing..to } else { from..near * spacing })
    }

    /// References of a line before a keyframe.
    fn counted(&self, line: usize, tick: u64) -> Option<u64> {
        let mut tally: Tally = self.setup.empty.clone();
        self.keyframes.restore_tally(tick, &mut tally)?;
        tally.lines().nth(line).map(|share| share.references)
    }

    /// Looks at some references one by one.
    fn scan(&self, line: usize, range: Range<u64>, forward: bool) -> Result<Option<u64>, SourceError> {
        let makes = |r: &Reference| !self.drops(r.kind) && self.lines().row(r.pc) == line;
        let length = self.source().chunk_len();
        let chunks = range.start / length..range.end.div_ceil(length);
        let in_chunk = |chunk: u64| -> Result<Option<u64>, SourceError> {
            let from = range.start.max(chunk * length);
            let some = self.piece(from..range.end)?;
            let found = if forward { some.iter().position(makes) } else { some.iter().rposition(makes) };
            Ok(found.map(|at| from + at as u64))
        };
        let mut order: Box<dyn Iterator<Item = u64>> = if forward { Box::new(chunks) } else { Box::new(chunks.rev()) };
        order.find_map(|chunk| in_chunk(chunk).transpose()).transpose()
    }
}
