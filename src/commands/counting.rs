//! How far a pass over a trace is, on standard error: a spinner on a terminal, a line now and then elsewhere.

use crate::shown::say;
use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressStyle};
use std::time::{Duration, Instant};

/// How often progress is told: on a terminal, and in lines elsewhere.
const REDRAW: Duration = Duration::from_millis(100);
const LINE: Duration = Duration::from_secs(10);

/// References and bytes so far, and each a second. Dropping it removes the spinner, so that what comes next starts on a
/// clean line.
pub(super) struct Counting {
    bar: Option<ProgressBar>,
    started: Instant,
    last: Instant,
}

impl Counting {
    pub(super) fn new() -> Self {
        let now = Instant::now();
        let bar = crate::shown::is_seen().then(|| {
            let style = ProgressStyle::with_template("{spinner} {msg}");
            ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        Self { bar, started: now, last: now }
    }

    /// Tells how many references were read and kept, and the bytes read where they are known.
    pub(super) fn update(&mut self, (read, kept): (u64, u64), bytes: Option<u64>) {
        if self.last.elapsed() < if self.bar.is_some() { REDRAW } else { LINE } {
            return;
        }
        self.last = Instant::now();
        let seconds = self.started.elapsed().as_secs_f64().max(0.001);
        let text = text((read, kept), bytes, seconds);
        match &self.bar {
            Some(bar) => {
                bar.set_message(text);
                bar.tick();
            }
            None => say!("{text}"),
        }
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "shown with three digits"
)]
fn text((read, kept): (u64, u64), bytes: Option<u64>, seconds: f64) -> String {
    let mut text = format!("{} references", HumanCount(read));
    if kept != read {
        text.push_str(&format!(", {} kept", HumanCount(kept)));
    }
    text.push_str(&format!(", {:.1} M a second", read as f64 / seconds / 1e6));
    if let Some(bytes) = bytes {
        text.push_str(&format!("; {}, {} a second", HumanBytes(bytes), HumanBytes((bytes as f64 / seconds) as u64)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_and_bytes_each_a_second() {
        assert_eq!(text((4_000_000, 4_000_000), None, 2.0), "4,000,000 references, 2.0 M a second");
        let all = text((1_000_000, 10), Some(8 << 20), 2.0);
        assert_eq!(all, "1,000,000 references, 10 kept, 0.5 M a second; 8.00 MiB, 4.00 MiB a second");
    }
}
