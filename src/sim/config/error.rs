//! What can be wrong with a configuration: each fault names the place, what was found, and what is allowed.

use super::{MAX_LEVELS, MAX_LINES, MAX_NAME, format_size};
use std::fmt;

/// Where a fault is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// File, preset or flag.
    pub origin: String,
    /// Line in the file, from 1.
    pub line: Option<usize>,
    /// Level, from 1, and its name (empty where it has none yet).
    pub level: Option<(usize, String)>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.origin)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        match &self.level {
            Some((number, name)) if name.is_empty() => write!(f, ": level {number}"),
            Some((number, name)) => write!(f, ": level {number} ({name})"),
            None => Ok(()),
        }
    }
}

/// Why a configuration is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what each field is")]
pub enum ConfigError {
    /// Not TOML.
    #[error("{place}: not TOML: {message}; `orrery caches textbook` prints an example")]
    Syntax { place: Box<Place>, message: String },
    /// A key nobody reads.
    #[error("{place}: unknown key `{key}`{}; known here: {known}", did_you_mean(nearest.as_deref()))]
    UnknownKey { place: Box<Place>, key: String, nearest: Option<String>, known: String },
    /// A key that has no default.
    #[error("{place}: `{key}` is missing; write for example `{example}`")]
    MissingKey { place: Box<Place>, key: &'static str, example: &'static str },
    /// A string where a number belongs, and the like.
    #[error("{place}: `{key}` is {found}; expected {expected}")]
    WrongType { place: Box<Place>, key: String, found: String, expected: &'static str },
    /// A word that no build knows.
    #[error("{place}: {key} = \"{value}\" is unknown{}; allowed: {allowed}", did_you_mean(nearest.as_deref()))]
    UnknownValue { place: Box<Place>, key: &'static str, value: String, nearest: Option<String>, allowed: String },
    /// A word of the contract that this build does not simulate.
    #[error("{place}: {key} = {value} is not simulated by this version; allowed: {allowed}")]
    NotYet { place: Box<Place>, key: &'static str, value: String, allowed: String },
    /// A size that cannot be read.
    #[error("{place}: {key} = \"{value}\" is no size; write bytes or KiB, MiB, GiB: 512, 32KiB, 1.25MiB")]
    BadSize { place: Box<Place>, key: &'static str, value: String },
    /// Zero where something must be.
    #[error("{place}: {field} is 0; it must be 1 or more")]
    Zero { place: Box<Place>, field: &'static str },
    /// Too large or too small.
    #[error("{place}: {field} is {value}; allowed: {min} to {max}")]
    OutOfRange { place: Box<Place>, field: &'static str, value: u64, min: u64, max: u64 },
    /// A line size such as 48.
    #[error("{place}: {field} is {value}, not a power of two; {} do", neighbours(*value))]
    NotPowerOfTwo { place: Box<Place>, field: &'static str, value: u64 },
    /// Fewer line-set pairs than a word needs.
    #[error("{place}: line = {line} with {sets} set(s) is too small; lines of 4 bytes always do")]
    LineTooSmall { place: Box<Place>, line: u32, sets: u32 },
    /// Sets would be cut short.
    #[error(
        "{place}: size {} is no multiple of ways x line = {ways} x {line} bytes; the nearest are {}",
        format_size(*size), multiples(*size, ways * u64::from(*line))
    )]
    NotDivisible { place: Box<Place>, size: u64, line: u32, ways: u64 },
    /// More ways than lines.
    #[error(
        "{place}: {ways} ways, but {} with {line}-byte lines hold {lines} line(s); \
         write `ways = \"full\"` for one set of all lines, or enlarge the level",
        format_size(*size)
    )]
    WaysExceedLines { place: Box<Place>, ways: u64, lines: u64, size: u64, line: u32 },
    /// More state than is sensible.
    #[error("{place}: size {} with {line}-byte lines makes more than {MAX_LINES} lines; enlarge the line or \
             shrink the level", format_size(*size))]
    TooManyLines { place: Box<Place>, size: u64, line: u32 },
    /// Nothing to simulate.
    #[error("{place}: no level; write at least one [[level]] with size, line and ways")]
    NoLevels { place: Box<Place> },
    /// More levels than rings.
    #[error("{place}: {found} levels; allowed: 1 to {MAX_LEVELS}")]
    TooManyLevels { place: Box<Place>, found: usize },
    /// Two levels of one name.
    #[error("{place}: another level is called {name:?} too; names must differ")]
    DuplicateName { place: Box<Place>, name: String },
    /// A name that cannot be drawn.
    #[error("{place}: name {name:?} will not do; write 1 to {MAX_NAME} printable characters")]
    BadName { place: Box<Place>, name: String },
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map(|n| format!(" (did you mean `{n}`?)")).unwrap_or_default()
}

/// The powers of two on both sides: `32 and 64`.
fn neighbours(value: u64) -> String {
    let above = value.checked_next_power_of_two();
    match above {
        Some(above) => format!("{} and {above}", above / 2),
        None => format!("{}", 1u64 << 63),
    }
}

/// The multiples of `step` on both sides, as sizes.
fn multiples(value: u64, step: u64) -> String {
    let below = value / step.max(1) * step;
    match below.checked_add(step) {
        Some(above) if below == 0 => format_size(above),
        Some(above) => format!("{} and {}", format_size(below), format_size(above)),
        None => format_size(below),
    }
}
