//! How long keys, clicks and drags wait for the picture that they ask for.

use std::time::Instant;

/// Waits that are kept, at most: those of an hour of play are more than enough.
const MOST: usize = 1 << 20;

/// Collects waits, from the first input that is not shown yet to the frame that shows it.
#[derive(Default)]
pub(super) struct Latency {
    since: Option<Instant>,
    /// Microseconds.
    waits: Vec<u32>,
    frames: u64,
}

impl Latency {
    /// Something was pressed, moved or turned.
    pub(super) fn input(&mut self, now: Instant) {
        self.since.get_or_insert(now);
    }

    /// A frame was shown.
    pub(super) fn shown(&mut self, now: Instant) {
        self.frames += 1;
        if let Some(since) = self.since.take().filter(|_| self.waits.len() < MOST) {
            self.waits.push(u32::try_from(now.saturating_duration_since(since).as_micros()).unwrap_or(u32::MAX));
        }
    }

    /// What was seen, for people; empty where there was no input.
    pub(super) fn words(&self) -> String {
        if self.waits.is_empty() {
            return String::new();
        }
        let mut waits = self.waits.clone();
        waits.sort_unstable();
        // The wait that so many in a hundred are not longer than.
        let ms = |of_100: usize| f64::from(waits[((waits.len() - 1) * of_100).div_ceil(100)]) / 1000.0;
        format!(
            "input to picture: {} times, half within {:.0} ms, 95 of 100 within {:.0} ms, all within {:.0} ms; {} frames",
            waits.len(),
            ms(50),
            ms(95),
            ms(100),
            self.frames
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_wait_is_from_the_first_input_to_the_frame_after_it() {
        let mut latency = Latency::default();
        let begun = Instant::now();
        let at = |ms: u64| begun + Duration::from_millis(ms);
        latency.shown(at(1));
        assert_eq!(latency.words(), "", "nobody waited");
        for (pressed, again, shown) in [(10, 12, 20), (30, 30, 50), (60, 61, 160)] {
            latency.input(at(pressed));
            latency.input(at(again));
            latency.shown(at(shown));
        }
        assert_eq!(
            latency.words(),
            "input to picture: 3 times, half within 20 ms, 95 of 100 within 100 ms, all within 100 ms; 4 frames"
        );
    }
}
