//! What a recording says of itself on standard error: a bar on a terminal, a line every tenth elsewhere.

use crate::record::{Progress, Summary};
use crate::shown::say;
use indicatif::{ProgressBar, ProgressStyle};
use std::fmt;
use std::time::Duration;

/// Shows [`Progress`] while it comes. Dropping it removes the bar, so that an error starts on a clean line.
#[derive(Debug)]
pub struct Display {
    bar: Option<ProgressBar>,
    tenths: Tenths,
}

impl Display {
    /// A bar if standard error is a terminal, else lines.
    #[must_use]
    pub fn new() -> Self {
        let bar = crate::shown::is_seen().then(|| {
            let bar = ProgressBar::new(0);
            let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} frames, {msg}");
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        Self { bar, tenths: Tenths::default() }
    }

    /// Shows the latest.
    pub fn update(&mut self, progress: Progress) {
        match &self.bar {
            Some(bar) => {
                bar.set_length(progress.total);
                bar.set_message(Rest(progress).to_string());
                bar.set_position(progress.done);
            }
            None => {
                if let Some(line) = self.tenths.line(progress) {
                    say!("{line}");
                }
            }
        }
    }

    /// Takes the bar away.
    pub fn finish(self) {
        drop(self);
    }
}

impl Default for Display {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Decides which frames are worth a line: the first to pass each tenth.
#[derive(Debug, Default)]
struct Tenths {
    said: u64,
}

impl Tenths {
    fn line(&mut self, progress: Progress) -> Option<String> {
        let tenth = progress.done.saturating_mul(10).checked_div(progress.total)?;
        if tenth <= self.said {
            return None;
        }
        self.said = tenth;
        let Progress { done, total, .. } = progress;
        Some(format!("{:3} % ({done}/{total} frames), {}", tenth * 10, Rest(progress)))
    }
}

/// Rate and time left: `34.8 frames/s, 0:07 left`.
struct Rest(Progress);

impl fmt::Display for Rest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Progress { done, total, elapsed, .. } = self.0;
        if done == 0 || elapsed.is_zero() {
            return f.write_str("starting");
        }
        let rate = as_f64(done) / elapsed.as_secs_f64();
        let left = Duration::try_from_secs_f64(as_f64(total - done.min(total)) / rate).unwrap_or(Duration::MAX);
        write!(f, "{rate:.1} frames/s, {} left", Clock(left))
    }
}

/// `m:ss`, or `h:mm:ss`.
struct Clock(Duration);

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs() + u64::from(self.0.subsec_millis() >= 500);
        let (h, m, s) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        if h > 0 { write!(f, "{h}:{m:02}:{s:02}") } else { write!(f, "{m}:{s:02}") }
    }
}

/// One line for the end: frames, time, rate, size, and what each stage took.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { frames, total, bytes, elapsed, stages, stopped } = *self;
        if stopped {
            write!(f, "stopped after {frames} of {total} frames")?;
        } else {
            write!(f, "{frames} frames")?;
        }
        if frames == 0 {
            return Ok(());
        }
        write!(f, " in {:.1} s: {:.1} frames/s, {}", elapsed.as_secs_f64(), self.rate(), Size(bytes))?;
        let each = |d: Duration| d.as_secs_f64() * 1e3 / as_f64(frames);
        let (draw, convert, encode) = (each(stages.draw), each(stages.convert), each(stages.encode));
        write!(
            f,
            " (ms a frame: draw {draw:.1}, convert {convert:.1}, encode {encode:.1}; {:.2} at once)",
            self.overlap()
        )
    }
}

/// Bytes as people read them.
struct Size(u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            n @ 0..10_000 => write!(f, "{n} bytes"),
            n @ 10_000..1_000_000 => write!(f, "{:.0} kB", as_f64(n) / 1e3),
            n @ 1_000_000..1_000_000_000 => write!(f, "{:.1} MB", as_f64(n) / 1e6),
            n => write!(f, "{:.2} GB", as_f64(n) / 1e9),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
fn as_f64(n: u64) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Stages;

    fn at(done: u64, total: u64, seconds: f64) -> Progress {
        let elapsed = Duration::from_secs_f64(seconds);
        Progress { done, total, bytes: 0, elapsed, stages: Stages::default() }
    }

    #[test]
    fn lines_come_once_a_tenth_with_rate_and_time_left() {
        let mut tenths = Tenths::default();
        let lines: Vec<String> = (0..=300).filter_map(|n| tenths.line(at(n, 300, n as f64 / 40.0))).collect();
        assert_eq!(lines.len(), 10, "{lines:?}");
        assert_eq!(lines[0], " 10 % (30/300 frames), 40.0 frames/s, 0:07 left");
        assert_eq!(lines[9], "100 % (300/300 frames), 40.0 frames/s, 0:00 left");
    }

    #[test]
    fn short_clips_and_no_frames_are_no_trouble() {
        let mut tenths = Tenths::default();
        let lines: Vec<String> = (0..=3).filter_map(|n| tenths.line(at(n, 3, n as f64))).collect();
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert_eq!(Tenths::default().line(at(0, 0, 1.0)), None);
        assert_eq!(Rest(at(0, 10, 5.0)).to_string(), "starting");
    }

    #[test]
    fn long_times_have_hours() {
        assert_eq!(Rest(at(1, 7201, 1.0)).to_string(), "1.0 frames/s, 2:00:00 left");
    }

    #[test]
    fn the_summary_tells_rate_size_and_stages() {
        let stages = Stages {
            draw: Duration::from_secs(3),
            convert: Duration::from_millis(390),
            encode: Duration::from_millis(1830),
        };
        let elapsed = Duration::from_secs(5);
        let done = Summary { frames: 300, total: 300, bytes: 5_400_000, elapsed, stages, stopped: false };
        let text =
            "300 frames in 5.0 s: 60.0 frames/s, 5.4 MB (ms a frame: draw 10.0, convert 1.3, encode 6.1; 1.04 at once)";
        assert_eq!(done.to_string(), text);
        let early = Summary { frames: 0, stopped: true, ..done };
        assert_eq!(early.to_string(), "stopped after 0 of 300 frames");
    }
}
