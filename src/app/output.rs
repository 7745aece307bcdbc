//! What a recorded program prints: its last lines, and how it ended.

use crate::shown;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Lines that are kept.
pub const LINES: usize = 400;
/// Columns of a line that are kept.
const COLUMNS: usize = 240;
/// Bytes of a line that are gathered while its end has not come.
const BYTES: usize = 4 * COLUMNS;

/// See the module.
#[derive(Debug, Default)]
pub struct Output {
    lines: VecDeque<String>,
    /// A line whose end has not come.
    begun: Vec<u8>,
    /// Lines that were printed before those that are kept.
    dropped: u64,
    /// How the program ended, once it has.
    ended: Option<String>,
    /// Counts up in it ask the program to end; `None` where it is not ours to stop.
    stops: Option<Arc<AtomicU32>>,
    /// It was asked to.
    stopping: bool,
    /// Whether the card of it is open.
    pub open: bool,
}

impl Output {
    /// Of a program that runs. Counting `stops` up asks it to end.
    #[must_use]
    pub fn of_running(stops: Arc<AtomicU32>) -> Self {
        Self { stops: Some(stops), ..Self::default() }
    }

    /// Whether the program can be asked to end, and was not yet.
    #[must_use]
    pub fn can_stop(&self) -> bool {
        self.stops.is_some() && self.ended.is_none() && !self.stopping
    }

    /// Asks the program to end: what it did up to there is recorded.
    pub fn stop(&mut self) {
        if let Some(stops) = self.stops.as_ref().filter(|_| self.can_stop()) {
            stops.fetch_add(1, Ordering::SeqCst);
            self.stopping = true;
        }
    }

    /// Its state in a word or a sentence; `brief` where there is little room.
    #[must_use]
    pub fn state(&self, brief: bool) -> &str {
        match &self.ended {
            Some(_) if brief => "ended",
            Some(words) => words,
            None if self.stopping => "stopping",
            None => "runs",
        }
    }

    /// Takes what was printed.
    pub fn print(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            match byte {
                b'\n' => self.end_line(),
                // What is past that would not be shown.
                _ if self.begun.len() >= BYTES => {}
                byte => self.begun.push(byte),
            }
        }
    }

    fn end_line(&mut self) {
        let line = String::from_utf8_lossy(&self.begun).into_owned();
        self.begun.clear();
        if self.lines.len() == LINES {
            self.lines.pop_front();
            self.dropped += 1;
        }
        self.lines.push_back(fit(&line));
    }

    /// The program has ended, so.
    pub fn end(&mut self, words: String) {
        if !self.begun.is_empty() {
            self.end_line();
        }
        self.ended = Some(words);
    }

    /// How it ended; `None` while it runs.
    #[must_use]
    pub fn ended(&self) -> Option<&str> {
        self.ended.as_deref()
    }

    /// Lines that were printed before those that are kept.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The last lines; of one that is being printed, what is there.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let begun = (!self.begun.is_empty()).then(|| fit(&String::from_utf8_lossy(&self.begun)));
        self.lines.iter().cloned().chain(begun).collect()
    }
}

/// A line as it is shown: a carriage return goes back to its beginning, as on a terminal, and tabs are space.
fn fit(line: &str) -> String {
    let line = line.trim_end_matches('\r');
    let last = line.rsplit_once('\r').map_or(line, |(_, last)| last);
    shown::short(&last.replace('\t', "    "), COLUMNS).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_however_they_come() {
        let mut output = Output::default();
        for piece in ["a", "b\nc", "\n\nd\t.", " e"] {
            output.print(piece.as_bytes());
        }
        assert_eq!(output.lines(), ["ab", "c", "", "d    . e"]);
        output.print(b"\r10 %\r20 %");
        assert_eq!(output.lines().last().map(String::as_str), Some("20 %"));
        assert_eq!(output.ended(), None);
        output.end("exit status: 3".into());
        assert_eq!((output.lines().len(), output.ended()), (4, Some("exit status: 3")));
    }

    #[test]
    fn a_program_is_asked_to_end_once_and_only_while_it_runs() {
        assert!(!Output::default().can_stop(), "nobody knows how");
        let stops: Arc<AtomicU32> = Arc::default();
        let mut output = Output::of_running(Arc::clone(&stops));
        assert_eq!((output.can_stop(), output.state(true)), (true, "runs"));
        output.stop();
        output.stop();
        assert_eq!((stops.load(Ordering::SeqCst), output.can_stop(), output.state(true)), (1, false, "stopping"));
        output.end("a has ended, signal: 2".into());
        assert_eq!((output.state(true), output.state(false)), ("ended", "a has ended, signal: 2"));
        let mut ended = Output::of_running(Arc::clone(&stops));
        ended.end("b has ended".into());
        ended.stop();
        assert_eq!(stops.load(Ordering::SeqCst), 1, "nothing is left to stop");
    }

    #[test]
    fn what_is_kept_is_bounded_and_signs_that_act_are_seen() {
        let mut output = Output::default();
        for n in 0..1000 {
            output.print(format!("line {n}\n").as_bytes());
        }
        let lines = output.lines();
        assert_eq!((lines.len(), lines[0].as_str(), output.dropped()), (LINES, "line 600", 600));
        output.print(&[b'x'; 1 << 20]);
        output.print(b"\n\x1b[2J\xff\n");
        let lines = output.lines();
        assert!(lines[LINES - 2].chars().count() <= COLUMNS, "{}", lines[LINES - 2].len());
        assert_eq!(lines[LINES - 1], "\\u{1b}[2J\u{fffd}");
    }
}
