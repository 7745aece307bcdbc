//! What can be wrong with a storyboard.

use super::board::line_of;
use crate::sim::config::nearest;
use std::fmt;

/// Place, finding, expectation and remedy of a fault in a storyboard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoryError {
    origin: String,
    line: Option<usize>,
    words: String,
}

impl std::error::Error for StoryError {}

impl fmt::Display for StoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.origin)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.words)
    }
}

impl StoryError {
    /// A fault at a line, from 1.
    #[must_use]
    pub fn new(origin: &str, line: Option<usize>, words: String) -> Self {
        Self { origin: origin.to_owned(), line, words }
    }

    /// What the parser says, with the nearest word where a key is unknown.
    pub(super) fn of_toml(error: &toml::de::Error, text: &str, origin: &str) -> Self {
        let line = error.span().map(|span| line_of(text, span.start));
        let message = error.message().trim().replace('\n', " ");
        let key = error.span().and_then(|span| key_before(text, span.start));
        Self::new(origin, line, hinted(&message, key))
    }
}

/// `unknown field `captoin`, expected one of ...` with the nearest of them.
fn hinted(message: &str, key: Option<&str>) -> String {
    if let Some((found, expected)) =
        message.strip_prefix("invalid type: ").and_then(|rest| rest.split_once(", expected "))
    {
        let key = key.map_or_else(String::new, |key| format!("{key}: "));
        return format!("{key}found {}; expected {}", value_in_words(found), value_in_words(expected));
    }
    if message == "duplicate key" && key.is_none() {
        return "found a table twice; a list of tables has two brackets: [[scene]]".to_owned();
    }
    let Some(rest) = message.strip_prefix("unknown field `") else { return message.to_owned() };
    let mut words = rest.split('`').step_by(2);
    let Some(found) = words.next() else { return message.to_owned() };
    // Between backticks, every other piece: found, then what is expected.
    let known: Vec<&str> = rest.split('`').skip(2).step_by(2).collect();
    let hint = nearest(found, &known).map_or_else(String::new, |word| format!(" (did you mean `{word}`?)"));
    format!("unknown key `{found}`{hint}; expected one of {}", known.join(", "))
}

/// The key whose value begins at a place: what stands before its `=`.
fn key_before(text: &str, at: usize) -> Option<&str> {
    let line = text.get(..at)?.rsplit('\n').next()?;
    let before = line.trim_end().strip_suffix('=')?.trim_end();
    let start = before.rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-')).map_or(0, |at| at + 1);
    before.get(start..).filter(|key| !key.is_empty())
}

/// What the parser calls a value, in words.
fn value_in_words(value: &str) -> String {
    if let Some(text) = value.strip_prefix("string ") {
        return format!("the text {text}");
    }
    match value {
        "f64" | "f32" => "a number",
        "u8" | "u16" | "u32" | "u64" => "a whole number, 0 or more",
        "a boolean" => "true or false",
        "a string" => "a text in quotes",
        "a sequence" | "sequence" => "a list in brackets: [ ]",
        "a map" | "map" => "a table in braces: { }",
        other => other,
    }
    .to_owned()
}

/// "found X (did you mean Y?); expected one of ..." of a word that is none of those that there are.
#[must_use]
pub fn unknown(found: &str, known: &[&str]) -> String {
    let hint = nearest(found, known).map_or_else(String::new, |word| format!(" (did you mean `{word}`?)"));
    if known.is_empty() {
        return format!("found `{found}`, but there is none to choose from");
    }
    format!("found `{found}`{hint}; expected one of {}", listed(known))
}

/// Words side by side, not too many of them.
pub(super) fn listed(known: &[&str]) -> String {
    let list = known.iter().take(MOST).copied().collect::<Vec<_>>().join(", ");
    let more = if known.len() > MOST { format!(" and {} more", known.len() - MOST) } else { String::new() };
    format!("{list}{more}")
}

/// Words listed at most.
const MOST: usize = 24;
