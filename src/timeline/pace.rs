//! Frames to positions: the one map that window and video share. Given numbers, it never reads a clock.

use super::clock::Clock;
use crate::axis::Position;
use std::sync::Arc;

/// A steady speed over a range of an axis, by a clock.
#[derive(Clone)]
pub struct Pace {
    /// First tick.
    pub start: u64,
    /// One past the last tick; `start` or more.
    pub stop: u64,
    /// What the clock counts, a second; above 0.
    pub speed: f64,
    /// Frames a second; 1 or more.
    pub fps: u32,
    /// What a second stands for.
    pub clock: Arc<Clock>,
}

impl Pace {
    /// What the clock counts, a frame.
    #[must_use]
    pub fn step(&self) -> f64 {
        self.speed / f64::from(self.fps.max(1))
    }

    /// Frames that show the whole range: the last one stands at `stop`.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive; saturates at u64::MAX")]
    pub fn frames(&self) -> u64 {
        let [start, stop] = self.ends();
        let time = self.clock.between(start, stop);
        ((time / self.step()).ceil() as u64).saturating_add(1)
    }

    fn ends(&self) -> [Position; 2] {
        [self.start, self.stop].map(Position::at)
    }

    /// Position of frame `k`. The same for the same `k`, whatever was drawn before.
    #[must_use]
    pub fn position(&self, k: u64) -> Position {
        // The ends are where they are, whatever the clock's numbers round to.
        let [start, stop] = self.ends();
        if k == 0 {
            return start;
        }
        if k + 1 >= self.frames() {
            return stop;
        }
        self.clock.ahead(start, k as f64 * self.step()).clamp(start, stop)
    }

    /// Ticks that frame `k` stands for: those since the frame before, 1 at least.
    #[must_use]
    pub fn passed(&self, k: u64) -> u64 {
        let from = self.position(k.saturating_sub(1));
        self.position(k).tick().saturating_sub(from.tick()).max(1)
    }

    /// Ticks that frame `k` goes on to the next, and ticks a second about it.
    #[must_use]
    pub fn rate(&self, k: u64) -> (f64, f64) {
        let position = self.position(k);
        (self.position(k + 1).since(position), self.clock.rate(position, self.speed))
    }
}

/// Position after `seconds` at `rate` ticks a second from `position`, stopped at `stop`, which lies the way that the
/// rate's sign says.
#[must_use]
pub fn after(position: Position, rate: f64, seconds: f64, stop: Position) -> Position {
    let reached = position.plus(rate * seconds);
    if rate < 0.0 { reached.max(stop) } else { reached.min(stop) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::{Axis, AxisUnit};
    use crate::sim::Hierarchy;
    use crate::sim::config::preset;
    use crate::timeline::{ClockKind, Options, Timeline};
    use crate::trace::synth;

    /// A timeline of 8,448 references.
    fn timeline() -> Arc<Timeline> {
        let trace = synth::matmul(16, synth::MatmulOrder::Standard);
        let hierarchy = Hierarchy::new(&preset("paper").unwrap()).unwrap();
        Arc::new(Timeline::build(Arc::new(trace), hierarchy, Options::default(), &mut |_, _| true).unwrap())
    }

    #[test]
    fn frames_cover_the_range_and_end_on_its_end() {
        let timeline = timeline();
        for kind in ClockKind::ALL {
            let clock = Arc::new(Clock::new(kind, &timeline));
            for (start, stop, speed, fps) in
                [(0, 8448, 281.6, 30), (100, 101, 1.0, 30), (5, 5, 10.0, 60), (0, 7, 1e9, 30), (0, 8448, 16.0, 1)]
            {
                let pace = Pace { start, stop, speed, fps, clock: Arc::clone(&clock) };
                let last = pace.frames() - 1;
                let what = format!("{kind:?}: {start}..{stop} at {speed}, {fps} frames/s");
                assert_eq!(pace.position(0), Position::at(start), "{what}");
                assert_eq!(pace.position(last), Position::at(stop), "{what}");
                assert!(last == 0 || pace.position(last - 1) < Position::at(stop), "{what}");
                let steps: f64 = (0..last).map(|k| pace.rate(k).0).sum();
                assert!((steps - (stop - start) as f64).abs() < 1e-6, "{what}");
            }
        }
    }

    #[test]
    fn a_steady_clock_goes_over_picoseconds_of_hours() {
        let (second, hour) = (1_000_000_000_000u64, 3_600_000_000_000_000u64);
        let axis = Axis::whole(AxisUnit::Seconds { ticks: second }, 5 * hour);
        let clock = Arc::new(Clock::steady(axis));
        // Ten picoseconds in the fourth hour, two a second.
        let pace = Pace { start: 4 * hour, stop: 4 * hour + 10, speed: 2.0, fps: 4, clock };
        assert_eq!(pace.frames(), 21);
        for k in 0..21u32 {
            assert_eq!(pace.position(k.into()).since(Position::at(4 * hour)), f64::from(k) / 2.0);
        }
    }
}
