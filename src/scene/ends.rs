//! Where stretches of paths begin and end. Those of a path come one after another: the end of one is the beginning of the next, and is
//! computed once.

use super::frame::Segment;
use super::layout::Sector;
use super::motion::{OnPath, on_path};

/// Looks at stretches in their order.
pub struct Ends<'s> {
    sectors: &'s [Sector],
    last: Option<(Segment, OnPath)>,
}

impl<'s> Ends<'s> {
    /// Of stretches whose slots are in these sectors.
    #[must_use]
    pub fn new(sectors: &'s [Sector]) -> Self {
        Self { sectors, last: None }
    }

    /// Where the next stretch begins and ends, and which way its path goes there.
    pub fn of(&mut self, segment: &Segment) -> [OnPath; 2] {
        let start = match &self.last {
            Some((last, end)) if last.s1 == segment.s0 && last.flight == segment.flight => *end,
            _ => on_path(self.sectors, &segment.flight, segment.s0),
        };
        let end = on_path(self.sectors, &segment.flight, segment.s1);
        self.last = Some((*segment, end));
        [start, end]
    }
}
