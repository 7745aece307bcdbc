//! What can be wrong with a configuration: each fault names the place, what was found, and what is allowed.

use super::{MAX_ALL_LINES, MAX_CACHES, MAX_LEVELS, MAX_LINES, MAX_NAME, format_size};
use crate::sim::{Index, Policy};
use std::fmt;

/// Where a fault is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// File, preset or flag.
    pub origin: String,
    /// Line in the file, from 1.
    pub line: Option<usize>,
    /// `level` or `tlb`, its number from 1, and its name (empty where it has none yet).
    pub part: Option<(&'static str, usize, String)>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.origin)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        match &self.part {
            Some((part, number, name)) if name.is_empty() => write!(f, ": {part} {number}"),
            Some((part, number, name)) => write!(f, ": {part} {number} ({name})"),
            None => Ok(()),
        }
    }
}

/// Why a configuration is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what each field is")]
#[non_exhaustive]
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
    #[error("{place}: {field} is {value}, not a power of two; the nearest are {}", neighbours(*value))]
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
    /// Caches that each are sensible and together are not.
    #[error(
        "{place}: the caches of all {cores} core(s) together have {lines} lines and entries; allowed: up to {MAX_ALL_LINES}; \
             shrink or share levels, or simulate fewer cores"
    )]
    TooManyLinesInAll { place: Box<Place>, lines: u64, cores: u16 },
    /// Each core has too many caches.
    #[error(
        "{place}: {cores} cores with {private} private level(s) make {caches} caches; allowed: up to {MAX_CACHES}; share levels, or \
             simulate fewer cores"
    )]
    TooManyCaches { place: Box<Place>, caches: usize, cores: u16, private: usize },
    /// Nothing to simulate.
    #[error("{place}: no level; write at least one [[level]] with size, line and ways")]
    NoLevels { place: Box<Place> },
    /// More levels than rings.
    #[error("{place}: {found} of them; allowed: up to {MAX_LEVELS}")]
    TooManyLevels { place: Box<Place>, found: usize },
    /// Two levels of one name.
    #[error("{place}: another level is called {name:?} too; names must differ")]
    DuplicateName { place: Box<Place>, name: String },
    /// A name that cannot be drawn.
    #[error("{place}: name {name:?} will not do; write 1 to {MAX_NAME} printable characters")]
    BadName { place: Box<Place>, name: String },
    /// A policy that needs a power of two of ways.
    #[error(
        "{place}: ways = {ways}, but policy = \"{policy}\" keeps a binary tree and needs a power of two; the nearest are {}; or \
         write policy = \"lru\" or \"bit-plru\", which take any number", neighbours(u64::from(*ways))
    )]
    PolicyWays { place: Box<Place>, policy: Policy, ways: u32 },
    /// A policy that needs more sets.
    #[error(
        "{place}: policy = \"{policy}\" lets sets duel and needs 2 sets or more, found {sets}; write \"srrip\" or \"brrip\", \
         or fewer ways"
    )]
    PolicySets { place: Box<Place>, policy: Policy, sets: u32 },
    /// A hash of the index over a set count such as 48.
    #[error(
        "{place}: index = \"{index}\" needs a power of two of sets, found {sets}; write index = \"modulo\", or change size or ways"
    )]
    IndexNeedsPowerOfTwo { place: Box<Place>, index: Index, sets: u32 },
    /// A number of slices without a known hash.
    #[error("{place}: slices = {slices} with {sets} set(s); allowed: 2, 4 or 8, and not more than sets")]
    BadSlices { place: Box<Place>, slices: u32, sets: u32 },
    /// Slices without their hash.
    #[error("{place}: `slices` has an effect only with index = \"slice\"; write that too, or leave `slices` out")]
    SlicesUnused { place: Box<Place> },
    /// Entries that do not fill their sets.
    #[error(
        "{place}: entries = {entries} is no multiple of ways = {ways}; change one of them, or write ways = \"full\""
    )]
    TlbWays { place: Box<Place>, entries: u32, ways: u32 },
    /// A private level behind a shared one.
    #[error(
        "{place}: a level with shared = false lies outside {inner:?}, which all cores share; write shared = true here, or \
         shared = false there"
    )]
    PrivateOutsideShared { place: Box<Place>, inner: String },
    /// An innermost level with a relation.
    #[error(
        "{place}: inclusion = \"{inclusion}\" is a relation to the levels inside, and nothing is inside; leave it out here and \
         write it at the outer level"
    )]
    NothingInside { place: Box<Place>, inclusion: &'static str },
    /// Inner lines that do not fit into the inclusive level's.
    #[error(
        "{place}: an inclusive level with line = {line}, but {inner:?} inside has line = {inner_line}; write line = \
         {inner_line} or more here, or inclusion = \"nine\""
    )]
    InclusiveLine { place: Box<Place>, line: u32, inner: String, inner_line: u32 },
    /// An inclusive level that cannot hold what is inside.
    #[error(
        "{place}: an inclusive level of {} cannot hold all of {inner:?} inside, {}; enlarge it, or write inclusion = \"nine\"",
        format_size(*size), format_size(*inner_size)
    )]
    InclusiveSize { place: Box<Place>, size: u64, inner: String, inner_size: u64 },
    /// Victims of another size.
    #[error(
        "{place}: an exclusive level with line = {line}, but the lines of {inner:?}, whose victims it holds, have {inner_line} \
         bytes; write line = {inner_line}, or inclusion = \"nine\""
    )]
    ExclusiveLine { place: Box<Place>, line: u32, inner: String, inner_line: u32 },
    /// Victims in parts.
    #[error(
        "{place}: an exclusive level takes whole lines from {inner:?}; leave `sector` out at both, or write inclusion = \"nine\""
    )]
    ExclusiveSector { place: Box<Place>, inner: String },
    /// Lines that come from nowhere.
    #[error(
        "{place}: an exclusive level is filled by victims only; leave `prefetch` out here and write it at the level inside"
    )]
    ExclusivePrefetch { place: Box<Place> },
    /// A future that depends on the choice.
    #[error(
        "{place}: policy = \"opt\" cannot go with {why}: what the level is asked for would depend on what OPT chooses; use another \
         policy, or a plain hierarchy of one core"
    )]
    OptAlone { place: Box<Place>, why: &'static str },
    /// A hierarchy with OPT made without its trace.
    #[error("{place}: policy = \"opt\" looks into the future: make this hierarchy from its trace (`sim::prepare`)")]
    OptNeedsTrace { place: Box<Place> },
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
