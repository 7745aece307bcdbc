//! How long keys, clicks and drags wait for the picture that they ask for.

use super::surface::Presented;
use std::time::Instant;

/// Waits that are kept, at most: those of an hour of play are more than enough.
const MOST: usize = 1 << 20;

/// Collects waits, from the first input that is not shown yet to the frame that shows it.
#[derive(Default)]
pub(super) struct Latency {
    since: Option<Instant>,
    /// Since when people wait for the frame that is on its way.
    under_way: Option<Instant>,
    /// Microseconds.
    waits: Vec<u32>,
    frames: u64,
}

impl Latency {
    /// Something was pressed, moved or turned.
    pub(super) fn input(&mut self, now: Instant) {
        self.since.get_or_insert(now);
    }

    /// A frame was drawn with all input so far.
    pub(super) fn frame(&mut self, presented: Presented) {
        presented.before.into_iter().for_each(|at| self.shown(at));
        self.frames += 1;
        // What waits for a frame that came to nothing waits on.
        self.under_way = self.under_way.or(self.since.take());
        presented.this.into_iter().for_each(|at| self.shown(at));
    }

    /// The frame that was on its way was shown.
    fn shown(&mut self, now: Instant) {
        if let Some(since) = self.under_way.take().filter(|_| self.waits.len() < MOST) {
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
        let frame = |before: Option<u64>, this: Option<u64>| Presented {
            taken: true,
            before: before.map(at),
            this: this.map(at),
        };
        latency.frame(frame(None, Some(1)));
        assert_eq!(latency.words(), "", "nobody waited");
        for (pressed, again, shown) in [(10, 12, 20), (30, 30, 50), (60, 61, 160)] {
            latency.input(at(pressed));
            latency.input(at(again));
            latency.frame(frame(None, Some(shown)));
        }
        // Where frames are shown while the next one is laid out: input of that time waits for the next one.
        latency.input(at(200));
        latency.frame(frame(None, None));
        latency.input(at(205));
        latency.frame(frame(Some(210), None));
        assert_eq!(latency.under_way, Some(at(205)));
        latency.frame(frame(Some(300), Some(310)));
        assert_eq!(
            latency.words(),
            "input to picture: 5 times, half within 20 ms, 95 of 100 within 100 ms, all within 100 ms; 7 frames"
        );
    }
}
