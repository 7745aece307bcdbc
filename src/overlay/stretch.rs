//! The part of an axis that the strip shows.

use crate::axis::{Axis, Position};
use std::ops::Range;

/// Ticks that the strip shows, at least.
const LEAST: f64 = 64.0;

/// The part of an axis that the strip shows: all of it, however long it becomes, or from one position to another.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stretch {
    part: Option<[Position; 2]>,
}

impl Stretch {
    /// These ticks, as far as there is an axis; somewhat more where they are too few to be shown.
    #[must_use]
    pub fn part(axis: Axis, ticks: &Range<u64>) -> Self {
        let width = (ticks.end.saturating_sub(ticks.start) as f64).max(LEAST.min(axis.total as f64));
        Self::fitting(axis, Position::at(ticks.start), width)
    }

    /// Whether it is all of the axis.
    #[must_use]
    pub fn is_whole(self) -> bool {
        self.part.is_none()
    }

    fn ends(self, axis: Axis) -> [Position; 2] {
        self.part.unwrap_or([Position::START, Position::at(axis.total.max(1))])
    }

    fn width(self, axis: Axis) -> f64 {
        let [from, to] = self.ends(axis);
        to.since(from)
    }

    /// From where `place` says its start is to where it says its end is; all of the axis stays all of it.
    #[must_use]
    pub(super) fn placed(self, place: impl Fn(Position) -> Position) -> Self {
        let part = self.part.map(|ends| ends.map(place));
        // Nothing has no places in it.
        Self { part: part.filter(|[from, to]| from < to) }
    }

    /// Where a position is in it: 0 at its left end, 1 at its right.
    #[must_use]
    pub fn place(self, axis: Axis, position: Position) -> f64 {
        position.since(self.ends(axis)[0]) / self.width(axis)
    }

    /// The position that is at a place; not beyond the ends of the axis.
    #[must_use]
    pub fn at(self, axis: Axis, place: f64) -> Position {
        self.ends(axis)[0].plus(place * self.width(axis)).min(Position::at(axis.total))
    }

    /// Whether it shows a position.
    #[must_use]
    pub fn shows(self, axis: Axis, position: Position) -> bool {
        let [from, to] = self.ends(axis);
        (from..=to).contains(&position)
    }

    /// Its ticks.
    #[must_use]
    pub fn ticks(self, axis: Axis) -> Range<u64> {
        let [from, to] = self.ends(axis).map(|end| end.plus(0.5).tick().min(axis.total));
        from..to
    }

    /// Narrower by a factor (wider below 1) round `position`, which stays at its place.
    #[must_use]
    pub fn closer(self, axis: Axis, factor: f64, position: Position) -> Self {
        let all = axis.total as f64;
        let width = (self.width(axis) / factor.max(1e-9)).clamp(LEAST.min(all), all);
        Self::fitting(axis, position.plus(-self.place(axis, position).clamp(0.0, 1.0) * width), width)
    }

    /// Farther on by so many of its widths.
    #[must_use]
    pub fn moved(self, axis: Axis, widths: f64) -> Self {
        let width = self.width(axis);
        Self::fitting(axis, self.ends(axis)[0].plus(widths * width), width)
    }

    /// The same, or as wide where it shows `position`: as one turns a page.
    #[must_use]
    pub fn turned_to(self, axis: Axis, position: Position) -> Self {
        let place = self.place(axis, position);
        if (0.0..=1.0).contains(&place) {
            self
        } else {
            self.moved(axis, if place > 1.0 { place - 0.1 } else { place - 0.9 })
        }
    }

    fn fitting(axis: Axis, from: Position, width: f64) -> Self {
        if width >= axis.total as f64 {
            return Self::default();
        }
        let from = from.min(Position::at(axis.total).plus(-width));
        Self { part: Some([from, from.plus(width)]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::AxisUnit;

    fn axis(len: u64) -> Axis {
        Axis::whole(AxisUnit::References, len)
    }

    #[test]
    fn a_stretch_keeps_what_is_pointed_at_and_stays_in_the_trace() {
        let (long, at) = (axis(1_000_000_000), Position::at(700_000_000));
        let mut stretch = Stretch::default();
        assert!(stretch.is_whole() && stretch.ticks(axis(1000)) == (0..1000));
        for _ in 0..200 {
            let place = stretch.place(long, at);
            stretch = stretch.closer(long, 1.2, at);
            assert!((stretch.place(long, at) - place).abs() < 1e-6, "{stretch:?}");
            assert!(stretch.at(long, stretch.place(long, at)).since(at).abs() < 1e-6);
        }
        let ticks = stretch.ticks(long);
        assert!((64..=66).contains(&(ticks.end - ticks.start)), "{ticks:?}");
        assert!(ticks.contains(&700_000_000));
        for _ in 0..200 {
            stretch = stretch.closer(long, 1.0 / 1.2, Position::at(100_000_000));
        }
        assert!(stretch.is_whole(), "{stretch:?}");
        assert!(
            Stretch::default().closer(axis(10), 1e9, Position::at(5)).is_whole(),
            "a short trace is shown as it is"
        );
        assert_eq!(Stretch::default().place(axis(0), Position::START), 0.0, "nothing to show");
    }

    #[test]
    fn ticks_of_hours_are_told_apart() {
        let long = Axis::whole(AxisUnit::Seconds { ticks: 1_000_000_000_000 }, 20_000_000_000_000_000);
        let at = Position::at(14_400_000_000_000_007);
        let mut stretch = Stretch::default();
        for _ in 0..100 {
            stretch = stretch.closer(long, 2.0, at);
        }
        let next = stretch.place(long, at.plus(1.0)) - stretch.place(long, at);
        assert!((next - 1.0 / LEAST).abs() < 1e-9, "{next}");
    }

    #[test]
    fn pages_turn_where_the_playhead_leaves() {
        let long = axis(1 << 30);
        let at = |share: f64| Position::START.plus(share * (1 << 30) as f64);
        let stretch = Stretch::default().closer(long, 10.0, at(0.5));
        assert_eq!(stretch.turned_to(long, at(0.5)), stretch);
        for share in [0.0, 0.3, 0.62, 0.99, 1.0] {
            let turned = stretch.turned_to(long, at(share));
            assert!(turned.shows(long, at(share)), "{share}: {turned:?}");
            assert!((turned.width(long) - stretch.width(long)).abs() < 1e-6);
        }
        let on = stretch.turned_to(long, at(0.6));
        assert!((on.place(long, at(0.6)) - 0.1).abs() < 1e-9, "there is room ahead: {on:?}");
        assert_eq!(stretch.moved(long, -100.0).ticks(long).start, 0);
    }

    #[test]
    fn all_of_what_grows_stays_all() {
        let stretch = Stretch::default();
        let grown = Axis { len: 200, total: 400, grows: true, unit: AxisUnit::References };
        assert_eq!((stretch.ticks(axis(100)), stretch.ticks(grown)), (0..100, 0..400));
        let part = stretch.closer(axis(1000), 10.0, Position::at(500));
        assert_eq!(part.ticks(axis(1000)), part.ticks(axis(4000)), "a part stays where it is");
    }
}
