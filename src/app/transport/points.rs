//! In and out points: the part that is played, once or over and over.

use super::Transport;
use crate::axis::Position;

/// The part of an axis that is played: from its in point to its out point, each where it is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlayRange {
    /// Where playing begins.
    pub from: Option<Position>,
    /// Where it ends; after `from`.
    pub to: Option<Position>,
}

impl Transport {
    /// At the out point, or past it.
    pub(super) fn is_over(&self) -> bool {
        self.range.to.is_some_and(|out| self.position >= out)
    }

    /// What is played.
    #[must_use]
    pub fn range(&self) -> PlayRange {
        self.range
    }

    /// Sets the in point (`first`) or the out point to the playhead; takes it away where it is there already. A point on the wrong side of
    /// the other takes that away.
    pub fn mark(&mut self, first: bool) {
        let (here, PlayRange { from, to }) = (Some(self.position), self.range);
        self.range = match first {
            true if from == here => PlayRange { from: None, to },
            true => PlayRange { from: here, to: to.filter(|out| *out > self.position) },
            false if to == here => PlayRange { from, to: None },
            false => PlayRange { from: from.filter(|start| *start < self.position), to: here },
        };
    }

    /// Whether it plays over and over.
    #[must_use]
    pub fn loops(&self) -> bool {
        self.loops
    }

    /// Has it play over and over, or no more.
    pub fn turn_loop(&mut self) {
        self.loops = !self.loops;
    }

    /// Sets both points as they are given; an out point that does not lie after the in point is none.
    pub fn set_range(&mut self, range: PlayRange) {
        let PlayRange { from, to } = range;
        self.range = PlayRange { from, to: to.filter(|out| from.is_none_or(|from| *out > from)) };
    }
}
