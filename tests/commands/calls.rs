//! One call of the program in a folder: what it prints, as text or as JSON, and what it refuses.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs the program with these words, parted at spaces, with nothing on standard input.
pub(crate) fn run(folder: &Path, words: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orrery"));
    command.args(words.split_whitespace()).current_dir(folder).stdin(Stdio::null());
    command.output().expect("the program starts")
}

/// Standard output of a call that succeeds.
pub(crate) fn printed(folder: &Path, words: &str) -> String {
    let output = run(folder, words);
    assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The JSON that a call prints.
pub(crate) fn json(folder: &Path, words: &str) -> Value {
    serde_json::from_str(&printed(folder, words)).expect("JSON")
}

/// Asserts that a call fails with this code and all these words, and without a panic.
pub(crate) fn refused(folder: &Path, call: &str, code: i32, words: &[&str]) {
    let output = run(folder, call);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{call}: {text}");
    for word in words {
        assert!(text.contains(word), "{call}: `{word}` is missing in:\n{text}");
    }
    assert!(!text.contains("panicked"), "{text}");
    for line in text.lines().filter_map(|line| line.strip_prefix("error: ")) {
        assert!(line.match_indices(": ").all(|(at, _)| line[..at] != line[at + 2..]), "{call}: told twice:\n{line}");
    }
}
