//! Where stretches of paths begin and end. Those of a path come one after another: the end of one is the beginning of the next, and is
//! computed once.

use super::frame::Segment;
use super::layout::Sector;
use super::motion::{Course, Flight, OnPath};

/// Looks at stretches in their order.
pub struct Ends<'s> {
    sectors: &'s [Sector],
    last: Option<Last<'s>>,
}

/// The stretch that was looked at last: its path, how far it went on it, and where that is.
struct Last<'s> {
    flight: Flight,
    course: Course<'s>,
    s1: f32,
    end: OnPath,
}

impl<'s> Ends<'s> {
    /// Of stretches whose slots are in these sectors.
    #[must_use]
    pub fn new(sectors: &'s [Sector]) -> Self {
        Self { sectors, last: None }
    }

    /// Where the next stretch begins and ends, and which way its path goes there.
    pub fn of(&mut self, &Segment { flight, s0, s1, .. }: &Segment) -> [OnPath; 2] {
        let (course, end_of_last) = match self.last.take() {
            Some(last) if last.flight == flight => (last.course, (last.s1 == s0).then_some(last.end)),
            _ => (Course::new(self.sectors, &flight), None),
        };
        let (start, end) = (end_of_last.unwrap_or_else(|| course.at(s0)), course.at(s1));
        self.last = Some(Last { flight, course, s1, end });
        [start, end]
    }
}
