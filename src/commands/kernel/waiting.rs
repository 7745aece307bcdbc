//! A kernel that runs long: standard error says so.

use crate::shown::say;
use crate::units::grouped;
use indicatif::{ProgressBar, ProgressStyle};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// After so long a run is said to go on.
const LONG: Duration = Duration::from_secs(2);

/// Says that a kernel runs, once that takes long, until it is dropped: on a terminal with the time, elsewhere in one line.
pub(super) struct Waiting {
    done: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Waiting {
    /// For a kernel of this name, whose groups may carry out so many statements.
    pub(super) fn new(file: &str, steps: u64) -> Self {
        let (done, ended) = channel();
        let words = format!("{file}: runs; a group may carry out {} statements (--steps)", grouped(steps));
        let wait = move || {
            if ended.recv_timeout(LONG) != Err(RecvTimeoutError::Timeout) {
                return;
            }
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
        };
        // Without a thread it is silent, and runs all the same.
        let thread = std::thread::Builder::new().name("waiting".into()).spawn(wait).ok();
        Self { done: Some(done), thread }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        drop(self.done.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
