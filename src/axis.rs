//! Axes and positions: where in a trace, a program or a simulated time one is.
//!
//! An axis has whole ticks: references, cycles, rows of a kernel, or parts of a second. A [`Position`] is a tick and a part of the way to the next one,
//! both as integers, so that it is exact wherever on a long axis it is. What is drawn becomes `f32` only after the origin of the
//! picture was taken off ([`Position::since`]), so that one picosecond is as steady in the third hour as in the first.

use crate::units::{counted, grouped};
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// What one tick of an axis stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AxisUnit {
    /// One reference of a trace.
    #[default]
    References,
    /// One cycle of a clock of unknown speed.
    Cycles,
    /// One row of what a group of a kernel did: an access or a barrier, of as many items as are at it at once.
    Rows,
    /// A part of a second.
    Seconds {
        /// Ticks in a second, 1 or more: 1,000,000,000,000 for picoseconds.
        ticks: u64,
    },
}

impl AxisUnit {
    /// What many ticks are, for people: `references`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::References => "references",
            Self::Cycles => "cycles",
            Self::Rows => "rows",
            Self::Seconds { .. } => "seconds",
        }
    }

    /// A number of ticks for people, told apart from others that are `step` away: `2,613`; of parts of a second `8.974 µs`.
    #[must_use]
    pub fn words(self, ticks: u64, step: u64) -> String {
        self.words_like(ticks, step, ticks)
    }

    /// As [`Self::words`], in the unit in which `like` is a number from 1 to 999: for the numbers of one axis.
    #[must_use]
    pub fn words_like(self, ticks: u64, step: u64, like: u64) -> String {
        let Self::Seconds { ticks: second } = self else { return grouped(ticks) };
        let (ticks, like, second) = (u128::from(ticks), u128::from(like), u128::from(second.max(1)));
        // Ticks of a unit, in a thousandth of a femtosecond, so that they are whole.
        let fine = |ticks: u128| ticks * FINE / second;
        if ticks == 0 && like == 0 {
            return "0 s".to_owned();
        }
        let row = UNITS.iter().find(|(unit, _)| fine(like) >= *unit);
        let (unit, name) = row.copied().unwrap_or(UNITS[UNITS.len() - 1]);
        let step = fine(u128::from(step)).max(1);
        let mut digits = 0;
        while digits < 9 && unit / 10u128.pow(digits) > step {
            digits += 1;
        }
        let scale = 10u128.pow(digits);
        let rounded = (fine(ticks) * scale + unit / 2) / unit;
        let whole = grouped(u64::try_from(rounded / scale).unwrap_or(u64::MAX));
        match digits {
            0 => format!("{whole} {name}"),
            _ => format!("{whole}.{part:0width$} {name}", part = rounded % scale, width = digits as usize),
        }
    }

    /// How long something took, in about three digits: `122 ns`, `17.8 µs`.
    #[must_use]
    pub fn duration(self, ticks: u64) -> String {
        let unit = match self {
            Self::Cycles => Some("cycle"),
            Self::Rows => Some("row"),
            Self::References | Self::Seconds { .. } => None,
        };
        if let Some(one) = unit {
            return counted(ticks, one);
        }
        let digits = ticks.checked_ilog10().unwrap_or(0);
        self.words(ticks, 10u64.pow(digits.saturating_sub(2)))
    }
}

/// Parts of a second of the finest unit that times are worked out in.
const FINE: u128 = 1_000_000_000_000_000_000;

/// Units of time, and how many of the finest parts they have.
const UNITS: [(u128, &str); 6] = [
    (FINE, "s"),
    (FINE / 1_000, "ms"),
    (FINE / 1_000_000, "µs"),
    (FINE / 1_000_000_000, "ns"),
    (FINE / 1_000_000_000_000, "ps"),
    (FINE / 1_000_000_000_000_000, "fs"),
];

/// What a position is a place on: ticks `0..len`, and the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Axis {
    /// What a tick is.
    pub unit: AxisUnit,
    /// Ticks that one can go to.
    pub len: u64,
    /// Ticks of all of it, as far as that is known; `len` or more.
    pub total: u64,
    /// Whether it becomes longer.
    pub grows: bool,
}

impl Axis {
    /// All of `len` ticks is there.
    #[must_use]
    pub fn whole(unit: AxisUnit, len: u64) -> Self {
        Self { unit, len, total: len, grows: false }
    }

    /// The furthest position that one can go to.
    #[must_use]
    pub fn end(self) -> Position {
        Position::at(self.len)
    }

    /// The position, or the end where it lies beyond.
    #[must_use]
    pub fn clamp(self, position: Position) -> Position {
        position.min(self.end())
    }

    /// A tick for people, told apart from others that are a ten-thousandth of the axis away: `2,613`, `8.974 µs`.
    #[must_use]
    pub fn words(self, tick: u64) -> String {
        self.unit.words_like(tick, (self.total / 10_000).max(1), self.total)
    }

    /// How long all of it is, for people.
    #[must_use]
    pub fn length(self) -> String {
        match self.unit {
            AxisUnit::References => grouped(self.total),
            unit => unit.duration(self.total),
        }
    }

    /// Share of the whole axis that lies before a position, 0..=1.
    #[must_use]
    pub fn share(self, position: Position) -> f64 {
        (position.since(Position::START) / self.total.max(1) as f64).min(1.0)
    }
}

/// A place on an axis: so many whole ticks, and a part of the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    tick: u64,
    /// In parts of 2^32.
    part: u32,
}

/// Parts of a tick.
const PARTS: f64 = (1u64 << 32) as f64;

impl Position {
    /// Where every axis begins.
    pub const START: Self = Self { tick: 0, part: 0 };

    /// Where a tick begins.
    #[must_use]
    pub fn at(tick: u64) -> Self {
        Self { tick, part: 0 }
    }

    /// `2613.5` is half way through tick 2613. Numbers below 0, and what is no number, are the start; what is beyond 64 bits is the
    /// last tick.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturates, and the fraction is below 1"
    )]
    pub fn of(ticks: f64) -> Self {
        let ticks = ticks.max(0.0);
        Self { tick: ticks as u64, part: (ticks.fract() * PARTS) as u32 }
    }

    /// The tick under way.
    #[must_use]
    pub fn tick(self) -> u64 {
        self.tick
    }

    /// How much of that tick is over, 0..1: never 1, whatever rounding says.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "rounded to what pictures are made of")]
    pub fn phase(self) -> f32 {
        ((f64::from(self.part) / PARTS) as f32).min(1.0 - f32::EPSILON)
    }

    /// Whether it is where a tick begins.
    #[must_use]
    pub fn is_whole(self) -> bool {
        self.part == 0
    }

    /// Where the tick under way begins.
    #[must_use]
    pub fn floor(self) -> Self {
        Self::at(self.tick)
    }

    /// Where the next tick begins; itself where it is whole.
    #[must_use]
    pub fn ceil(self) -> Self {
        if self.is_whole() { self } else { Self::at(self.tick.saturating_add(1)) }
    }

    /// Ticks from `origin` to here, below 0 where it lies before. They are subtracted before they are rounded.
    #[must_use]
    pub fn since(self, origin: Self) -> f64 {
        let ticks = if self.tick >= origin.tick {
            (self.tick - origin.tick) as f64
        } else {
            -((origin.tick - self.tick) as f64)
        };
        ticks + (f64::from(self.part) - f64::from(origin.part)) / PARTS
    }

    /// So many ticks further on, or back where they are below 0; not past either end of 64 bits. What is no number goes nowhere.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates, and the fraction is 0..1")]
    pub fn plus(self, ticks: f64) -> Self {
        if ticks.is_nan() {
            return self;
        }
        let whole = ticks.floor();
        let (part, carry) = self.part.overflowing_add(((ticks - whole) * PARTS) as u32);
        let tick = match whole.partial_cmp(&0.0) {
            Some(Ordering::Less) => self.tick.checked_sub((-whole) as u64),
            _ => Some(self.tick.saturating_add(whole as u64)),
        };
        match tick {
            Some(tick) => Self { tick: tick.saturating_add(u64::from(carry)), part },
            // One tick below the start, with a part that reaches it again.
            None if carry && self.tick.checked_add(1) == Some((-whole) as u64) => Self { tick: 0, part },
            None => Self::START,
        }
    }

    /// So many whole ticks further on, or back.
    #[must_use]
    pub fn stepped(self, ticks: i64) -> Self {
        match self.tick.checked_add_signed(ticks) {
            Some(tick) => Self { tick, ..self },
            None if ticks < 0 => Self::START,
            None => Self::at(u64::MAX),
        }
    }
}

/// Decimal digits that tell all parts of a tick apart, and what they count: it is more than 2^32.
const DIGITS: usize = 10;
const COUNTED: u128 = 10_000_000_000;

/// `2613`, `2613.5`: read back, it is the same position, wherever on the axis it is.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.tick)?;
        if self.is_whole() {
            return Ok(());
        }
        let digits = (u128::from(self.part) * COUNTED + (1 << 31)) >> 32;
        write!(f, ".{}", format!("{digits:0DIGITS$}").trim_end_matches('0'))
    }
}

/// Words that are no position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a reference number, 0 or more, such as 2613 or 2613.5")]
pub struct NoPosition;

impl FromStr for Position {
    type Err = NoPosition;

    fn from_str(text: &str) -> Result<Self, NoPosition> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        if !is_number(whole) || !is_number(fraction) {
            return Err(NoPosition);
        }
        let tick = whole.parse().map_err(|_| NoPosition)?;
        // What is past so many digits is less than half a part.
        let fraction = &fraction[..fraction.len().min(2 * DIGITS)];
        let scale = 10u128.pow(u32::try_from(fraction.len()).map_err(|_| NoPosition)?);
        let parts = ((fraction.parse::<u128>().map_err(|_| NoPosition)? << 32) + scale / 2) / scale;
        Ok(Self { tick, part: u32::try_from(parts).unwrap_or(u32::MAX) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ticks_and_phases() {
        let half = Position::of(2613.5);
        assert_eq!((half.tick(), half.phase(), half.to_string()), (2613, 0.5, "2613.5".to_owned()));
        assert_eq!((half.floor(), half.ceil()), (Position::at(2613), Position::at(2614)));
        assert_eq!(Position::at(7).ceil(), Position::at(7));
        let close = Position::of(0.999_999_999_999);
        assert!(close.tick() == 0 && close.phase() < 1.0);
        for none in [-3.0, f64::NAN, f64::NEG_INFINITY] {
            assert_eq!(Position::of(none), Position::START);
        }
        assert_eq!(Position::of(f64::INFINITY).tick(), u64::MAX);
        assert_eq!(Position::at(9).to_string(), "9");
    }

    #[test]
    fn times_are_told_in_the_unit_that_suits_and_no_finer_than_asked() {
        let femto = AxisUnit::Seconds { ticks: 1_000_000_000_000_000 };
        for (ticks, step, words) in [
            (8_974_000_000, 1_000_000, "8.974 µs"),
            (8_974_000_000, 1_000_000_000, "9 µs"),
            (122_000_000, 1_000_000, "122 ns"),
            (999_999_999, 1, "999.999999 ns"),
            (999_999_999, 100_000_000, "1,000 ns"),
            (3, 1, "3 fs"),
            (0, 1_000, "0 s"),
            (2_500_000_000_000_000, 100_000_000_000_000, "2.5 s"),
        ] {
            assert_eq!(femto.words(ticks, step), words, "{ticks} by {step}");
        }
        let durations = [1, 12, 999, 1_234, 17_840_000_000, 0].map(|ticks| femto.duration(ticks));
        assert_eq!(durations, ["1 fs", "12 fs", "999 fs", "1.23 ps", "17.8 µs", "0 s"]);
        assert_eq!(femto.words_like(500_000_000, 10_000_000, 8_000_000_000), "0.50 µs");
        assert_eq!(AxisUnit::References.words(2_613, 1), "2,613");
        assert_eq!(AxisUnit::Cycles.duration(2_613), "2,613 cycles");
        assert_eq!((AxisUnit::Rows.duration(1), AxisUnit::Rows.duration(0)), ("1 row".into(), "0 rows".into()));
        // No finer than a tick.
        assert_eq!(AxisUnit::Seconds { ticks: 3 }.words(1, 1), "333 ms");
    }

    #[test]
    fn a_picosecond_is_a_picosecond_in_the_third_hour() {
        let hours = Position::at(3 * 3600 * 1_000_000_000_000);
        for parts in 0..1000 {
            let step = f64::from(parts) / 256.0;
            assert_eq!(hours.plus(step).since(hours), step);
            assert_eq!(hours.plus(step).plus(-step), hours);
        }
        // As f64 the two would be one.
        assert!(hours.plus(0.25) < hours.plus(0.5));
    }

    #[test]
    fn nothing_leaves_64_bits() {
        assert_eq!(Position::at(3).plus(-3.5), Position::START);
        assert_eq!(Position::of(3.75).plus(-3.5), Position::of(0.25));
        assert_eq!(Position::of(0.75).plus(-0.5), Position::of(0.25));
        assert_eq!(Position::of(0.25).plus(-0.5), Position::START);
        assert_eq!(Position::at(3).plus(f64::NEG_INFINITY), Position::START);
        assert_eq!(Position::at(3).plus(f64::INFINITY).tick(), u64::MAX);
        assert_eq!(Position::at(3).plus(f64::NAN), Position::at(3));
        assert_eq!(Position::of(3.5).stepped(-1), Position::of(2.5));
        assert_eq!(Position::of(3.5).stepped(-4), Position::START);
        assert_eq!(Position::at(u64::MAX).stepped(1).tick(), u64::MAX);
    }

    #[test]
    fn shares_end_at_one() {
        let axis = Axis { len: 50, total: 100, grows: true, unit: AxisUnit::Cycles };
        assert_eq!((axis.share(Position::at(25)), axis.share(Position::at(400))), (0.25, 1.0));
        assert_eq!(axis.clamp(Position::of(70.5)), Position::at(50));
        assert_eq!(Axis::whole(AxisUnit::default(), 0).share(Position::START), 0.0);
        assert_eq!(axis.unit.name(), "cycles");
    }

    #[test]
    fn what_is_no_position_is_refused() {
        for text in ["", "-1", "1e3", "2,613", ".5", "7.", "1.5.2", "nan", "99999999999999999999999", "٣"] {
            assert_eq!(text.parse::<Position>(), Err(NoPosition), "{text}");
        }
        assert_eq!("0007.50".parse(), Ok(Position::of(7.5)));
        let long = format!("3.{}", "9".repeat(500));
        assert!(long.parse::<Position>().is_ok_and(|at| at.tick() == 3), "never the next tick");
    }

    proptest! {
        #[test]
        fn words_of_a_position_are_that_position(tick: u64, part: u32) {
            let at = Position { tick, part };
            prop_assert_eq!(at.to_string().parse::<Position>(), Ok(at), "{}", at);
        }

        #[test]
        fn what_is_added_is_what_lies_between(tick in 0u64..1 << 62, part: u32, ticks in -1e6f64..1e6) {
            let from = Position { tick: tick + 2_000_000, part };
            let to = from.plus(ticks);
            prop_assert!((to.since(from) - ticks).abs() <= 1.0 / PARTS, "{} for {ticks}", to.since(from));
            prop_assert!((from.since(to) + ticks).abs() <= 1.0 / PARTS);
            prop_assert_eq!(to > from, to.since(from) > 0.0);
        }
    }
}
