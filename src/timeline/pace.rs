//! Frames to ticks: the one map that window and video share. Given numbers, it never reads a clock.

use super::clock::Clock;
use std::sync::Arc;

/// A steady speed over a range of references, by a clock.
#[derive(Clone)]
pub struct Pace {
    /// First reference.
    pub start: u64,
    /// One past the last reference; `start` or more.
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
        let time = self.clock.at(self.stop as f64) - self.clock.at(self.start as f64);
        ((time / self.step()).ceil() as u64).saturating_add(1)
    }

    /// Position of frame `k`: reference and phase within it. The same for the same `k`, whatever was drawn before.
    #[must_use]
    pub fn position(&self, k: u64) -> f64 {
        // The ends are where they are, whatever the clock's numbers round to.
        if k == 0 {
            return self.start as f64;
        }
        if k + 1 >= self.frames() {
            return self.stop as f64;
        }
        let time = self.clock.at(self.start as f64) + k as f64 * self.step();
        self.clock.position(time).clamp(self.start as f64, self.stop as f64)
    }

    /// References that frame `k` stands for: those since the frame before, 1 at least.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive; saturates at u64::MAX")]
    pub fn passed(&self, k: u64) -> u64 {
        let from = self.position(k.saturating_sub(1));
        (self.position(k).floor() as u64).saturating_sub(from.floor() as u64).max(1)
    }

    /// References that frame `k` goes on to the next, and references a second about it.
    #[must_use]
    pub fn rate(&self, k: u64) -> (f64, f64) {
        let position = self.position(k);
        (self.position(k + 1) - position, self.clock.rate(position, self.speed))
    }
}

/// Position after `seconds` at `rate` references a second from `position`, stopped at `stop`, which lies the way that the
/// rate's sign says.
#[must_use]
pub fn after(position: f64, rate: f64, seconds: f64, stop: f64) -> f64 {
    let reached = position + rate * seconds;
    if rate < 0.0 { reached.max(stop) } else { reached.min(stop) }
}

/// A position as reference and phase, 0..1.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive; saturates at u64::MAX")]
pub fn split(position: f64) -> (u64, f32) {
    let position = position.max(0.0);
    // The phase is below 1 even where rounding to f32 would say otherwise.
    let phase = (position.fract() as f32).min(1.0 - f32::EPSILON);
    (position as u64, phase)
}

#[cfg(test)]
mod tests {
    use super::*;
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
                assert_eq!(pace.position(0), start as f64, "{what}");
                assert_eq!(pace.position(last), stop as f64, "{what}");
                assert!(last == 0 || pace.position(last - 1) < stop as f64, "{what}");
                let steps: f64 = (0..last).map(|k| pace.rate(k).0).sum();
                assert!((steps - (stop - start) as f64).abs() < 1e-6, "{what}");
            }
        }
    }

    #[test]
    fn phases_stay_below_one() {
        assert_eq!(split(2613.5), (2613, 0.5));
        let (tick, phase) = split(0.999_999_999_999);
        assert!(tick == 0 && phase < 1.0);
        assert_eq!(split(-3.0), (0, 0.0));
    }
}
