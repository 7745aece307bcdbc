//! Play, pause, seek, step: a pure state machine. It is told how many seconds went by and never reads a clock.

mod points;

pub use points::PlayRange;

use crate::axis::{Axis, AxisUnit, Position};
use crate::timeline::pace;

/// Slowest speed, references (or what the clock counts) a second.
pub const SLOWEST: f64 = 0.25;
/// Fastest speed, references a second.
pub const FASTEST: f64 = 1e9;
/// Speeds of the keys 1 to 9, references a second.
pub const PRESETS: [f64; 9] = [1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1e3, 1e4, 1e5];
/// Longest trail, references.
pub const LONGEST_TAIL: u64 = 1 << 30;

/// Seconds in which the playhead makes up most of its way to the end of a trace that grows.
const FOLLOW_SECONDS: f64 = 0.15;

/// Seconds that a step takes on screen: long enough to see what flies where, short enough to hold the key down.
const GLIDE_SECONDS: f64 = 0.22;

/// Where the playhead is and what it does.
#[derive(Clone, Debug, PartialEq)]
pub struct Transport {
    /// What it goes along.
    axis: Axis,
    /// Keeps to the end of what grows.
    follows: bool,
    /// A position further than is there yet.
    wanted: Option<Position>,
    position: Position,
    speed: f64,
    playing: bool,
    glide: Option<Glide>,
    /// In and out points: what is played, where they are set.
    range: PlayRange,
    /// Plays over and over.
    loops: bool,
    /// While the strip is dragged: whether it played before.
    scrubbing: Option<bool>,
}

/// A step under way.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Glide {
    to: Position,
    /// Ticks a second, with sign.
    rate: f64,
}

impl Transport {
    /// Paused at `position` of an axis; position and speed are clamped to what makes sense.
    #[must_use]
    pub fn new(axis: Axis, position: Position, speed: f64) -> Self {
        let mut transport = Self {
            axis,
            follows: false,
            wanted: None,
            position: axis.clamp(position),
            speed: 1.0,
            playing: false,
            glide: None,
            range: PlayRange::default(),
            loops: false,
            scrubbing: None,
        };
        transport.set_speed(speed);
        transport
    }

    /// Has the axis as it is now: longer, or whole. While more comes, who plays on to the end waits there for it. Who follows goes
    /// on to the end of what came last, and rests there.
    pub fn grow(&mut self, axis: Axis) {
        self.axis = Axis { total: axis.total.max(axis.len), ..axis };
        self.follows &= axis.grows || !self.at_end();
        self.position = axis.clamp(self.wanted.unwrap_or(self.position));
        self.wanted = self.wanted.filter(|&wanted| axis.grows && wanted > axis.end());
        // What was written anew may be shorter.
        self.glide = self.glide.filter(|glide| glide.to <= axis.end());
        if !axis.grows {
            let PlayRange { from, to } = self.range;
            let to = to.filter(|to| *to <= axis.end());
            self.range = PlayRange { from: from.filter(|from| *from < axis.end()), to };
        }
    }

    /// What it goes along.
    #[must_use]
    pub fn axis(&self) -> Axis {
        self.axis
    }

    /// Where it is: from the start to the end of what can be gone to.
    #[must_use]
    pub fn position(&self) -> Position {
        self.position
    }

    /// The tick under way; the length of the axis at its end.
    #[must_use]
    pub fn tick(&self) -> u64 {
        self.position.tick()
    }

    /// Whether it keeps to the end of a trace that grows, or is still on its way to the end of one that did.
    #[must_use]
    pub fn follows(&self) -> bool {
        self.follows
    }

    /// Goes to the end and, while the trace grows, stays there.
    pub fn follow(&mut self) {
        self.jump(self.axis.end());
        self.follows = self.axis.grows;
    }

    /// Whether there is nothing to play.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.axis.len == 0
    }

    /// What the clock counts, a second.
    #[must_use]
    pub fn speed(&self) -> f64 {
        self.speed
    }

    /// Whether it plays (also while the strip is dragged, if it goes on playing afterwards).
    #[must_use]
    pub fn playing(&self) -> bool {
        self.scrubbing.unwrap_or(self.playing) || self.follows
    }

    /// Whether the position changes by itself, so that frames are wanted.
    #[must_use]
    pub fn moving(&self) -> bool {
        self.playing || self.glide.is_some() || self.follows
    }

    /// At the end of what can be gone to.
    #[must_use]
    pub fn at_end(&self) -> bool {
        self.position >= self.axis.end()
    }

    /// Plays or pauses; at the end it starts over.
    pub fn toggle(&mut self) {
        self.glide = None;
        if std::mem::take(&mut self.follows) {
            return;
        }
        if !self.playing && (self.at_end() && !self.axis.grows || self.is_over()) {
            self.position = self.range.from.unwrap_or(Position::START);
        }
        self.playing = !self.playing && (self.axis.len > 0 || self.axis.grows);
    }

    /// Goes to a position at once and pauses; to one that is not there yet, as far as it goes, and on when more is there.
    pub fn jump(&mut self, position: Position) {
        (self.glide, self.playing, self.follows) = (None, false, false);
        self.position = self.axis.clamp(position);
        self.wanted = Some(position).filter(|&wanted| self.axis.grows && wanted > self.axis.end());
    }

    /// Pauses and glides by whole ticks: from the middle of one, the first step back goes to its start. Steps that
    /// come while one is under way add up.
    pub fn step(&mut self, by: i64) {
        (self.playing, self.follows, self.wanted) = (false, false, None);
        let base = match self.glide {
            Some(glide) => glide.to,
            None if by < 0 => self.position.ceil(),
            None => self.position.floor(),
        };
        let to = self.axis.clamp(base.stepped(by));
        let rate = to.since(self.position) / GLIDE_SECONDS;
        self.glide = (rate != 0.0).then_some(Glide { to, rate });
    }

    /// Lets `seconds` pass, each worth as many ticks as the speed says. True if the position changed.
    pub fn advance(&mut self, seconds: f64) -> bool {
        self.advance_by(seconds, Position::plus)
    }

    /// Lets `seconds` pass; `ahead` gives the position so much of the speed's unit after another. True if the position
    /// changed.
    pub fn advance_by(&mut self, seconds: f64, ahead: impl FnOnce(Position, f64) -> Position) -> bool {
        let seconds = if seconds.is_finite() { seconds.max(0.0) } else { 0.0 };
        let before = self.position;
        if self.wanted.is_some() {
            return false;
        }
        if let Some(glide) = self.glide {
            self.position = pace::after(self.position, glide.rate, seconds, glide.to);
            if self.position == glide.to {
                self.glide = None;
            }
        } else if self.follows {
            let left = self.axis.end().since(self.position);
            let made = left * (1.0 - (-seconds / FOLLOW_SECONDS).exp());
            self.position = if left - made < 0.5 { self.axis.end() } else { self.position.plus(made) };
            self.follows = self.axis.grows || !self.at_end();
        } else if self.playing {
            self.play(ahead(self.position, self.speed * seconds));
        }
        self.position != before
    }

    /// Plays on to a position: no further than the out point from before it, nor than the end; there it begins again, waits for more, or
    /// stops.
    fn play(&mut self, to: Position) {
        let out = self.range.to.filter(|out| self.position < *out);
        let end = out.map_or(self.axis.end(), |out| self.axis.clamp(out));
        self.position = to.min(end);
        let waits = self.axis.grows && end == self.axis.end() && out.is_none_or(|out| out > end);
        if self.position < end || waits {
            return;
        }
        let from = self.range.from.unwrap_or(Position::START);
        // What has no length is not played over and over.
        self.playing = self.loops && from < end;
        if self.playing {
            self.position = from;
        }
    }

    /// Holds the playhead where a tick begins until [`Transport::release`].
    pub fn scrub(&mut self, position: Position) {
        if self.scrubbing.is_none() {
            self.scrubbing = Some(self.playing());
        }
        self.jump(position.floor().min(Position::at(self.axis.total)));
    }

    /// Lets go of the playhead: it plays on if it played before.
    pub fn release(&mut self) {
        if let Some(playing) = self.scrubbing.take() {
            self.playing = playing && (!self.at_end() || self.axis.grows);
        }
    }

    /// Whether somebody drags the playhead.
    #[must_use]
    pub fn scrubbing(&self) -> bool {
        self.scrubbing.is_some()
    }

    /// The slowest and the fastest speed: of references [`SLOWEST`] and [`FASTEST`]; of time, all of it in a day and in a second.
    #[must_use]
    pub fn speeds(&self) -> [f64; 2] {
        match self.axis.unit {
            AxisUnit::References => [SLOWEST, FASTEST],
            _ => [self.axis.total.max(1) as f64 / 86_400.0, self.axis.total.max(1) as f64],
        }
    }

    /// The speed of a key from 1 to 9: of references [`PRESETS`]; of time, all of it in 500 s to 1 s.
    #[must_use]
    pub fn preset(&self, key: usize) -> f64 {
        let key = key.min(PRESETS.len() - 1);
        match self.axis.unit {
            AxisUnit::References => PRESETS[key],
            _ => self.axis.total.max(1) as f64 / [500.0, 200.0, 120.0, 60.0, 30.0, 15.0, 8.0, 4.0, 1.0][key],
        }
    }

    /// Sets the speed, clamped to [`Transport::speeds`].
    pub fn set_speed(&mut self, speed: f64) {
        if speed.is_finite() {
            let [slowest, fastest] = self.speeds();
            self.speed = speed.clamp(slowest, fastest);
        }
    }

    /// One step up the ladder 1, 1.5, 2, 3, 5, 7, 10.
    pub fn faster(&mut self) {
        self.set_speed(rung_above(self.speed));
    }

    /// One step down the ladder.
    pub fn slower(&mut self) {
        self.set_speed(rung_below(self.speed));
    }
}

const LADDER: [f64; 7] = [1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0];

fn rung_above(speed: f64) -> f64 {
    let decade = 10f64.powf(speed.log10().floor());
    // A little past the value, so that a rung is not its own successor by rounding.
    LADDER.into_iter().map(|rung| rung * decade).find(|&s| s > speed * 1.000_001).unwrap_or(10.0 * decade)
}

fn rung_below(speed: f64) -> f64 {
    let decade = 10f64.powf(speed.log10().floor());
    let under = LADDER.into_iter().rev().map(|rung| rung * decade).find(|&s| s < speed * 0.999_999);
    under.unwrap_or(0.7 * decade)
}

/// The next power of two above a tail.
#[must_use]
pub fn longer(tail: u64) -> u64 {
    tail.saturating_add(1).checked_next_power_of_two().unwrap_or(LONGEST_TAIL).min(LONGEST_TAIL)
}

/// The next power of two below a tail, 1 at least.
#[must_use]
pub fn shorter(tail: u64) -> u64 {
    (tail.max(2).div_ceil(2)).next_power_of_two()
}

/// Where `value` stands between `low` and `high` on a logarithmic scale, 0..=1.
#[must_use]
pub fn log_share(value: f64, low: f64, high: f64) -> f64 {
    ((value / low).ln() / (high / low).ln()).clamp(0.0, 1.0)
}

/// The value at a share of a logarithmic scale, in two digits: `1.2`, `340`.
#[must_use]
pub fn log_value(share: f64, low: f64, high: f64) -> f64 {
    let value = low * (share.clamp(0.0, 1.0) * (high / low).ln()).exp();
    let digit = 10f64.powf(value.log10().floor() - 1.0);
    ((value / digit).round() * digit).clamp(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(position: f64) -> Position {
        Position::of(position)
    }

    /// Of a trace that is whole.
    fn transport(len: u64, position: f64, speed: f64) -> Transport {
        Transport::new(Axis::whole(AxisUnit::References, len), at(position), speed)
    }

    fn axis(len: u64, total: u64, grows: bool) -> Axis {
        Axis { unit: AxisUnit::References, len, total, grows }
    }

    #[test]
    fn plays_by_seconds_and_stops_at_the_end_where_play_starts_over() {
        let mut t = transport(100, 90.0, 10.0);
        assert!(!t.advance(1.0), "paused");
        t.toggle();
        assert!(t.advance(0.25) && t.position() == at(92.5) && t.tick() == 92);
        t.toggle();
        assert!(!t.advance(5.0) && t.position() == at(92.5));
        t.toggle();
        assert!(t.advance(5.0));
        assert_eq!((t.position(), t.tick(), t.playing(), t.moving()), (at(100.0), 100, false, false));
        t.toggle();
        assert_eq!((t.position(), t.playing()), (at(0.0), true));
    }

    #[test]
    fn an_empty_trace_and_senseless_numbers_do_no_harm() {
        let mut t = transport(0, 5.0, f64::NAN);
        t.toggle();
        t.step(-3);
        t.scrub(at(f64::NAN));
        t.release();
        assert!(!t.advance(f64::INFINITY) && t.position() == at(0.0) && !t.moving() && t.speed() > 0.0);
        assert_eq!(transport(9, f64::NAN, 1.0).position(), at(0.0));
        assert_eq!(transport(9, 1e300, 1e300).position(), at(9.0));
    }

    #[test]
    fn a_step_glides_to_whole_references_and_pauses() {
        let mut t = transport(100, 10.4, 1e3);
        t.toggle();
        t.step(1);
        assert!(!t.playing() && t.moving());
        assert!(t.advance(0.05) && t.position() > at(10.4) && t.position() < at(11.0));
        assert!(t.advance(1.0));
        assert_eq!((t.position(), t.moving()), (at(11.0), false));
        for (from, by, to) in [(10.4, -1, 10.0), (10.0, -1, 9.0), (10.0, 10, 20.0), (3.0, -10, 0.0), (99.5, 10, 100.0)]
        {
            let mut t = transport(100, from, 1.0);
            t.step(by);
            t.advance(9.0);
            assert_eq!(t.position(), at(to), "{from} by {by}");
        }
    }

    #[test]
    fn steps_that_come_fast_add_up() {
        let mut t = transport(100, 10.0, 1.0);
        for _ in 0..5 {
            t.step(1);
            t.advance(0.01);
        }
        t.step(-1);
        t.advance(9.0);
        assert_eq!(t.position(), at(14.0));
    }

    #[test]
    fn at_the_ends_a_step_goes_nowhere() {
        let mut t = transport(5, 0.0, 1.0);
        t.step(-1);
        assert!(!t.moving());
        t.jump(at(5.0));
        t.step(1);
        assert!(!t.moving() && t.position() == at(5.0));
    }

    #[test]
    fn scrubbing_holds_the_playhead_and_play_goes_on_after() {
        let mut t = transport(8448, 0.0, 100.0);
        t.toggle();
        t.scrub(at(4224.9));
        assert_eq!(t.position(), at(4224.0));
        assert!(!t.advance(1.0) && t.playing() && !t.moving(), "held, shown as playing");
        t.scrub(at(60_000.0));
        assert_eq!(t.position(), at(8448.0));
        t.scrub(at(2112.0));
        t.release();
        assert!(t.advance(0.5) && t.position() == at(2112.0 + 50.0));
        let mut paused = transport(8448, 0.0, 100.0);
        paused.scrub(at(4224.0));
        paused.release();
        assert!(!paused.moving());
    }

    #[test]
    fn a_trace_that_grows_is_played_as_far_as_it_goes_and_on_when_more_is_there() {
        let mut t = transport(100, 90.0, 10.0);
        t.grow(axis(100, 1000, true));
        t.toggle();
        assert!(t.advance(5.0) && t.position() == at(100.0) && t.playing() && t.moving());
        t.grow(axis(200, 1000, true));
        assert!(t.advance(1.0) && t.position() == at(110.0));
        t.scrub(at(500.0));
        assert_eq!((t.position(), t.axis().len, t.axis().total), (at(200.0), 200, 1000), "no further than is there");
        t.release();
        assert!(t.playing() && !t.advance(1.0), "waits for what was asked for");
        t.grow(axis(300, 1000, true));
        assert_eq!(t.position(), at(300.0));
        t.grow(axis(700, 1000, true));
        assert!(t.position() == at(500.0) && t.advance(1.0) && t.position() == at(510.0));
        t.grow(axis(1000, 1000, false));
        assert!(t.advance(1e3) && t.position() == at(1000.0) && !t.playing());
    }

    #[test]
    fn the_end_of_a_trace_that_grows_is_followed_until_something_else_is_asked_for() {
        let mut t = transport(100, 0.0, 10.0);
        t.grow(axis(100, 100, true));
        t.follow();
        assert!(t.follows() && t.playing() && t.position() == at(100.0));
        t.grow(axis(100_000, 100_000, true));
        assert!(t.advance(0.15) && t.position() > at(60_000.0) && t.position() < at(70_000.0), "{}", t.position());
        for _ in 0..40 {
            t.advance(0.1);
        }
        assert_eq!(t.position(), at(100_000.0));
        let leaves: [fn(&mut Transport); 4] =
            [|t| t.step(-1), Transport::toggle, |t| t.jump(at(5.0)), |t| t.grow(axis(100_000, 100_000, false))];
        for leave in leaves {
            let mut t = t.clone();
            leave(&mut t);
            assert!(!t.follows() && !t.playing());
        }
        // The last of it comes while the playhead is still on its way: it gets there, and rests.
        let mut last = t.clone();
        last.grow(axis(845_484, 845_484, false));
        assert!(last.follows() && last.moving() && last.position() == at(100_000.0));
        for _ in 0..60 {
            last.advance(0.05);
        }
        assert_eq!(
            (last.position(), last.follows(), last.playing(), last.moving()),
            (at(845_484.0), false, false, false)
        );
        assert!(!last.advance(1.0));
        t.grow(axis(9, 9, false));
        t.follow();
        assert!(!t.follows() && t.position() == at(9.0), "nothing to follow");
    }

    #[test]
    fn what_lies_between_two_points_is_played_once_or_over_and_over() {
        let mut t = transport(100, 20.0, 10.0);
        t.mark(true);
        t.jump(at(40.0));
        t.mark(false);
        assert_eq!(t.range(), PlayRange { from: Some(at(20.0)), to: Some(at(40.0)) });
        t.toggle();
        assert_eq!(t.position(), at(20.0), "from the out point it starts over");
        assert!(t.advance(1.5) && t.position() == at(35.0) && t.playing());
        assert!(t.advance(1.5) && t.position() == at(40.0) && !t.playing());
        t.turn_loop();
        t.toggle();
        assert!(t.advance(1.9) && t.advance(0.2) && t.position() == at(20.0) && t.playing());
        // From before the in point it plays into the part.
        t.jump(at(10.0));
        t.toggle();
        assert!(t.advance(2.5) && t.position() == at(35.0));
        t.jump(at(90.0));
        t.toggle();
        assert_eq!((t.position(), t.playing()), (at(20.0), true), "past it, play starts over");
        // The same point again takes it away; one on the wrong side takes the other away.
        t.jump(at(40.0));
        t.mark(false);
        assert_eq!(t.range().to, None);
        t.jump(at(10.0));
        t.mark(false);
        assert_eq!(t.range(), PlayRange { from: None, to: Some(at(10.0)) });
        let mut all = transport(100, 95.0, 10.0);
        all.turn_loop();
        all.toggle();
        assert!(all.advance(1.0) && all.position() == at(0.0) && all.playing());
        // What was written anew may end before them.
        let mut shorter = transport(100, 95.0, 10.0);
        shorter.set_range(PlayRange { from: Some(at(40.0)), to: Some(at(80.0)) });
        shorter.step(5);
        shorter.grow(Axis::whole(AxisUnit::References, 30));
        assert_eq!((shorter.range(), shorter.position(), shorter.moving()), (PlayRange::default(), at(30.0), false));
        let mut empty = transport(0, 0.0, 10.0);
        empty.turn_loop();
        empty.toggle();
        assert!(!empty.advance(1.0) && !empty.playing());
    }

    #[test]
    fn an_out_point_that_is_not_there_yet_is_waited_for() {
        let mut t = transport(100, 50.0, 10.0);
        t.mark(true);
        t.jump(at(80.0));
        t.mark(false);
        t.grow(axis(60, 1000, true));
        t.turn_loop();
        t.jump(at(50.0));
        t.toggle();
        assert!(t.advance(5.0) && t.position() == at(60.0) && t.playing());
        t.grow(axis(1000, 1000, false));
        assert!(t.advance(1.0) && t.position() == at(70.0));
        assert!(t.advance(3.0) && t.position() == at(50.0) && t.playing());
    }

    #[test]
    fn the_speed_ladder_goes_up_and_down_and_ends() {
        let mut t = transport(1, 0.0, 1.0);
        let mut seen = vec![t.speed()];
        for _ in 0..100 {
            t.faster();
            seen.push(t.speed());
        }
        assert_eq!(seen[..8], [1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0]);
        assert_eq!(t.speed(), FASTEST);
        for &speed in seen.iter().rev().skip_while(|&&s| s == FASTEST) {
            t.slower();
            assert!((t.speed() / speed - 1.0).abs() < 1e-9, "{} for {speed}", t.speed());
        }
        for _ in 0..100 {
            t.slower();
        }
        assert_eq!(t.speed(), SLOWEST);
    }

    #[test]
    fn tails_double_and_halve() {
        let up: Vec<u64> = [1, 2, 3, 64, 200, 16_384, LONGEST_TAIL, u64::MAX].map(longer).to_vec();
        assert_eq!(up, [2, 4, 4, 128, 256, 32_768, LONGEST_TAIL, LONGEST_TAIL]);
        let down: Vec<u64> = [0, 1, 2, 3, 64, 200].map(shorter).to_vec();
        assert_eq!(down, [1, 1, 1, 2, 32, 128]);
    }

    #[test]
    fn the_logarithmic_scale_has_an_inverse_in_two_digits() {
        assert_eq!(log_value(0.0, SLOWEST, FASTEST), SLOWEST);
        assert_eq!(log_value(1.0, SLOWEST, FASTEST), FASTEST);
        for speed in PRESETS {
            let back = log_value(log_share(speed, SLOWEST, FASTEST), SLOWEST, FASTEST);
            assert!((back / speed - 1.0).abs() < 1e-9, "{speed}: {back}");
        }
        assert_eq!(log_value(log_share(1234.0, 1.0, 1e6), 1.0, 1e6), 1200.0);
    }
}
