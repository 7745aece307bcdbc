//! Counts kept at borders, of which two make a difference: what was counted in any part of the trace, up to the borders
//! outside it.
//!
//! ```text
//! reference  0      span    2 span  3 span          len
//!            |-------|-------|-------|--- ... -------|     kept at each border: all that was counted before it
//! ```
//!
//! Where there are more borders than fit, every other one goes: distances double.

use std::ops::Range;
use std::sync::Arc;

/// The reference after `tick` before which the next border is, where there is one every `span` references.
pub(super) fn edge_after(tick: u64, span: u64) -> u64 {
    (tick / span + 1) * span
}

/// Distances double: every other one stays, from the one at `first` on.
pub(super) fn every_other<T>(kept: &mut Vec<T>, first: usize) {
    let mut at = 0;
    kept.retain(|_| {
        at += 1;
        at > first && (at - 1 - first).is_multiple_of(2)
    });
}

/// References between borders, at least.
const SPAN: u64 = 1024;

/// Counts at equal distances, packed. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Ladder {
    span: u64,
    /// Before reference `span`, 2 `span` ...
    kept: Vec<Arc<[u8]>>,
    bytes: usize,
    /// Borders at most, and bytes of all.
    most: [usize; 2],
}

/// Where counts begin or end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Border<'a> {
    /// Before the first reference: nothing is counted.
    Start,
    /// Before this reference, packed.
    Before(u64, &'a [u8]),
    /// After the last one.
    End,
}

impl Border<'_> {
    /// The reference before which it is, of a trace of `len`.
    pub(super) fn tick(&self, len: u64) -> u64 {
        match self {
            Self::Start => 0,
            Self::Before(tick, _) => *tick,
            Self::End => len,
        }
    }
}

impl Ladder {
    /// Of at most so many borders, and so many bytes.
    pub(super) fn new(borders: usize, bytes: usize) -> Self {
        Self { span: SPAN, kept: Vec::new(), bytes: 0, most: [borders, bytes] }
    }

    /// The reference after `tick` before which the next border is: [`Ladder::step`] must be told of it.
    pub(super) fn edge_after(&self, tick: u64) -> u64 {
        edge_after(tick, self.span)
    }

    /// Says that reference `tick` is next; `packed` gives what was counted before it.
    pub(super) fn step(&mut self, tick: u64, packed: impl FnOnce() -> Box<[u8]>) {
        if tick == 0 || !tick.is_multiple_of(self.span) {
            return;
        }
        let packed: Arc<[u8]> = packed().into();
        self.bytes += packed.len();
        self.kept.push(packed);
        while self.kept.len() > 1 && (self.kept.len() > self.most[0] || self.bytes > self.most[1]) {
            self.span *= 2;
            every_other(&mut self.kept, 1);
            self.bytes = self.kept.iter().map(|counts| counts.len()).sum();
        }
    }

    /// For [`Ladder::read`].
    pub(super) fn stored(&self) -> (u64, Vec<Vec<u8>>) {
        (self.span, self.kept.iter().map(|counts| counts.to_vec()).collect())
    }

    /// Takes what [`Ladder::stored`] gave.
    pub(super) fn read(self, (span, kept): (u64, Vec<Vec<u8>>)) -> Self {
        let bytes = kept.iter().map(Vec::len).sum();
        Self { span: span.max(1), kept: kept.into_iter().map(Into::into).collect(), bytes, ..self }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The borders outside some references.
    pub(super) fn around(&self, references: &Range<u64>) -> [Border<'_>; 2] {
        // Past the last border that is kept there is only the end.
        let from = self.border(references.start / self.span).unwrap_or_else(|| self.last());
        [from, self.border(references.end.div_ceil(self.span)).unwrap_or(Border::End)]
    }

    fn border(&self, number: u64) -> Option<Border<'_>> {
        let Some(at) = number.checked_sub(1) else { return Some(Border::Start) };
        let kept = usize::try_from(at).ok().and_then(|at| self.kept.get(at))?;
        Some(Border::Before(number * self.span, kept))
    }

    /// The last border that is kept.
    fn last(&self) -> Border<'_> {
        self.border(self.kept.len() as u64).unwrap_or(Border::Start)
    }
}
