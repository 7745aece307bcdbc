//! How often the graphics device was lost: now and then another one is asked for, again and again nothing helps.

/// Seconds in which losses are counted.
const SECONDS: f64 = 60.0;
/// Losses in that time after which no other device is asked for.
const MOST: usize = 3;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Losses {
    /// When, seconds of the window's clock.
    times: Vec<f64>,
}

impl Losses {
    /// Counts one at `now`; whether another device is worth asking for.
    pub(super) fn count(&mut self, now: f64) -> bool {
        self.times.retain(|time| now - time < SECONDS);
        self.times.push(now);
        self.times.len() <= MOST
    }
}

/// What is said where the window cannot go on drawing.
pub(super) fn words(error: &anyhow::Error) -> String {
    format!(
        "the graphics device was lost, and no other can be had: {error:#}. Bookmarks are kept: open the trace again with \
         `orrery view TRACE --resume`; where that fails too, restart the display, or draw without one by `orrery record`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_is_lost_again_and_again_is_given_up() {
        let mut losses = Losses::default();
        assert_eq!([0.0, 1.0, 2.0, 3.0].map(|now| losses.count(now)), [true, true, true, false]);
        assert!(losses.count(120.0), "a minute later it may be another one");
        let mut rare = Losses::default();
        assert!((0..50).all(|n| rare.count(f64::from(n) * 30.0)), "now and then");
    }

    #[test]
    fn the_words_say_what_is_kept_and_what_to_do() {
        let words = words(&anyhow::anyhow!("drawing failed: gone"));
        for part in ["drawing failed: gone", "are kept", "--resume", "orrery record"] {
            assert!(words.contains(part), "{words}");
        }
    }
}
