//! A kernel that runs long: standard error says so.

use crate::opening::Late;
use crate::shown::say;
use crate::units::grouped;
use indicatif::{ProgressBar, ProgressStyle};
use std::time::Duration;

/// After so long a run is said to go on.
const LONG: Duration = Duration::from_secs(2);

/// Says that a kernel of this name runs, once that takes long, until it is dropped: on a terminal with the time, elsewhere in one line.
/// Its groups may carry out so many statements.
pub(super) fn waiting(file: &str, steps: u64) -> Late {
    let words = format!("{file}: runs; a group may carry out {} statements (--steps)", grouped(steps));
    Late::new(LONG, move |ended| {
        if !crate::shown::is_seen() {
            say!("{words}");
            return;
        }
        let style = ProgressStyle::with_template("{spinner} {msg}, {elapsed}");
        let bar = ProgressBar::new_spinner().with_elapsed(LONG);
        let bar = bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner())).with_message(words);
        bar.enable_steady_tick(Duration::from_millis(200));
        let _ = ended.recv();
        bar.finish_and_clear();
    })
}
