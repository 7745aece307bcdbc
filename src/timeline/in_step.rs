//! How two traces go in step: which reference of the one is shown beside which of the other.
//!
//! Some references of both belong together: those of marks of one name, or those that one source line makes, the first to the first, the
//! second to the second. Between two of them both go on evenly; so they do from the starts of the traces to the first, and from the last
//! to their ends.
//!
//! ```text
//! this   0 ------- init -------------- sweep ---- len
//! other  0 -- init ------- sweep ---------------- len
//! ```

use super::Timeline;
use crate::axis::Position;
use crate::reference::{Mark, SourceError};
use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// What belongs together in two traces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepBy {
    /// References of one number: the shorter trace ends first.
    References,
    /// Marks of one name.
    Marks,
    /// The references of a source line, as `FILE:LINE`; in the other trace of the second line, where there is one.
    Line(String, Option<String>),
}

/// Why words do not say how two traces go in step.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "found `{0}`; expected references, marks, a source line such as matmul.c:12, or a line of each such as a.c:12=b.c:20"
)]
pub struct NoStep(String);

impl FromStr for StepBy {
    type Err = NoStep;

    fn from_str(words: &str) -> Result<Self, NoStep> {
        let is_line = |words: &str| {
            words
                .rsplit_once(':')
                .is_some_and(|(file, line)| !file.is_empty() && line.parse::<u32>().is_ok_and(|line| line > 0))
        };
        match words {
            "references" => Ok(Self::References),
            "marks" => Ok(Self::Marks),
            line if is_line(line) && !line.contains('=') => Ok(Self::Line(line.to_owned(), None)),
            lines => match lines.split_once('=') {
                Some((this, other)) if is_line(this) && is_line(other) => {
                    Ok(Self::Line(this.to_owned(), Some(other.to_owned())))
                }
                _ => Err(NoStep(words.to_owned())),
            },
        }
    }
}

impl fmt::Display for StepBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::References => f.write_str("references"),
            Self::Marks => f.write_str("marks"),
            Self::Line(this, None) => f.write_str(this),
            Self::Line(this, Some(other)) => write!(f, "{this}={other}"),
        }
    }
}

/// Why two traces do not go in step so.
#[derive(Debug, Error)]
pub enum StepError {
    /// No mark of one has the name of one of the other.
    #[error("no mark has the same name in both traces; this one has {this}, the other {other}")]
    Marks {
        /// Some names.
        this: String,
        /// Some names.
        other: String,
    },
    /// A trace makes no reference at the line.
    #[error("{line} makes no reference in {trace}; its lines are {there}")]
    Line {
        /// As it was asked for.
        line: String,
        /// Which one.
        trace: &'static str,
        /// Some lines that do.
        there: String,
    },
    /// It cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
}

/// See the module. As it is by default, both are at the reference of the same number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InStep {
    /// Pairs of references that belong together, this one's and the other's, both rising; empty: those of one number do.
    pairs: Vec<[u64; 2]>,
}

/// Pairs that are kept, at most: of more, every second, fourth and so on is.
const MOST: usize = 1 << 16;

impl InStep {
    /// Of two traces, all of both indexed.
    ///
    /// # Errors
    /// [`StepError`].
    pub fn new(this: &Timeline, other: &Timeline, by: &StepBy) -> Result<Self, StepError> {
        let pairs = match by {
            StepBy::References => return Ok(Self::default()),
            StepBy::Marks => {
                let [a, b] = [this, other].map(|timeline| timeline.tables().marks.as_slice());
                let pairs = of_marks(a, b);
                if pairs.is_empty() {
                    return Err(StepError::Marks { this: some_marks(a), other: some_marks(b) });
                }
                pairs
            }
            StepBy::Line(line, others) => {
                let these = this.made_by(line, "this trace")?;
                let others = other.made_by(others.as_ref().unwrap_or(line), "the other trace")?;
                these.into_iter().zip(others).map(|(this, other)| [this, other]).collect()
            }
        };
        Ok(Self::of(pairs, [this.len(), other.len()]))
    }

    /// Marks of one name where there are any, else references of one number.
    #[must_use]
    pub fn usual(this: &Timeline, other: &Timeline) -> (StepBy, Self) {
        let by_marks = Self::new(this, other, &StepBy::Marks);
        by_marks.map_or((StepBy::References, Self::default()), |step| (StepBy::Marks, step))
    }

    /// Of pairs in rising order.
    fn of(mut pairs: Vec<[u64; 2]>, ends: [u64; 2]) -> Self {
        let every = pairs.len().div_ceil(MOST).max(1);
        pairs = pairs.into_iter().step_by(every).collect();
        if pairs.first().is_none_or(|first| first[0] > 0 && first[1] > 0) {
            pairs.insert(0, [0, 0]);
        }
        if pairs.last().is_none_or(|last| last[0] < ends[0] && last[1] < ends[1]) {
            pairs.push(ends);
        }
        Self { pairs }
    }

    /// Where the other is while this one is at `position`.
    #[must_use]
    pub fn other(&self, position: Position) -> Position {
        self.from(position, 0)
    }

    /// Where this one is while the other is at `position`.
    #[must_use]
    pub fn this(&self, position: Position) -> Position {
        self.from(position, 1)
    }

    fn from(&self, position: Position, side: usize) -> Position {
        let past = self.pairs.partition_point(|pair| Position::at(pair[side]) <= position);
        let (Some(before), Some(after)) = (self.pairs.get(past.wrapping_sub(1)), self.pairs.get(past)) else {
            // Before the first and past the last pair both go on alike.
            let Some(pair) = self.pairs.get(past.saturating_sub(1)) else { return position };
            return Position::at(pair[1 - side]).plus(position.since(Position::at(pair[side])));
        };
        let share = position.since(Position::at(before[side])) / (after[side] - before[side]) as f64;
        Position::at(before[1 - side]).plus(share * (after[1 - side] - before[1 - side]) as f64)
    }
}

/// Marks of one name, the nth of the one to the nth of the other, as many as are in the same order in both.
fn of_marks(this: &[Mark], other: &[Mark]) -> Vec<[u64; 2]> {
    let mut by_name: HashMap<&str, (usize, Vec<u64>)> = HashMap::new();
    for mark in other {
        by_name.entry(&mark.name).or_default().1.push(mark.reference);
    }
    let both = this.iter().filter_map(|mark| {
        let (next, references) = by_name.get_mut(mark.name.as_str())?;
        let reference = references.get(*next)?;
        *next += 1;
        Some([mark.reference, *reference])
    });
    longest_rising(&both.collect::<Vec<_>>())
}

/// Of pairs whose first numbers do not fall: as many as rise in both numbers.
fn longest_rising(pairs: &[[u64; 2]]) -> Vec<[u64; 2]> {
    // By length less 1: the pair with the smallest second number that such a row ends with. Of equal first numbers only one may be taken.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; pairs.len()];
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    order.sort_by_key(|&n| (pairs[n][0], std::cmp::Reverse(pairs[n][1])));
    for n in order {
        let at = ends.partition_point(|&end| pairs[end][1] < pairs[n][1]);
        before[n] = at.checked_sub(1).map(|at| ends[at]);
        if at == ends.len() { ends.push(n) } else { ends[at] = n }
    }
    let mut found: Vec<[u64; 2]> =
        std::iter::successors(ends.last().copied(), |&n| before[n]).map(|n| pairs[n]).collect();
    found.reverse();
    found
}

/// A few names, for people.
fn some_marks(marks: &[Mark]) -> String {
    if marks.is_empty() { "no marks".into() } else { some(marks.iter().map(|mark| format!("“{}”", mark.name))) }
}

fn some(names: impl Iterator<Item = String>) -> String {
    const FEW: usize = 4;
    let mut names = names.peekable();
    let mut words: Vec<String> = names.by_ref().take(FEW).collect();
    words.extend(names.peek().map(|_| "…".to_owned()));
    words.join(", ")
}

impl Timeline {
    /// The references that a source line makes, in order; `line` is `FILE:LINE`, the file by its name or the end of its path.
    fn made_by(&self, line: &str, trace: &'static str) -> Result<Vec<u64>, StepError> {
        let tables = self.tables();
        let is_it = |place: &usize| {
            let Some((file, number)) = line.rsplit_once(':') else { return false };
            let location = &tables.locations[*place];
            let ends =
                location.file.strip_suffix(file).is_some_and(|rest| rest.is_empty() || rest.ends_with(['/', '\\']));
            ends && number.parse() == Ok(location.line)
        };
        let places = self.lines().places();
        let wanted: Vec<bool> = places.iter().map(is_it).collect();
        let mut made = Vec::new();
        if wanted.contains(&true) {
            self.each(0..self.len(), |at, r| {
                if wanted.get(self.lines().row(r.pc)) == Some(&true) && !self.drops(r.kind) {
                    made.push(at);
                }
            })?;
        }
        if made.is_empty() {
            let there = some(places.iter().filter_map(|place| {
                let location = tables.locations.get(*place)?;
                Some(format!("{}:{}", location.file, location.line))
            }));
            let there = if there.is_empty() { "not known".into() } else { there };
            return Err(StepError::Line { line: line.to_owned(), trace, there });
        }
        Ok(made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{Kind, MemoryTrace, Reference, SourceLocation, Tables};
    use crate::sim::Hierarchy;
    use crate::sim::config::preset;
    use crate::timeline::Options;
    use proptest::prelude::*;
    use std::sync::Arc;

    fn mark(reference: u64, name: &str) -> Mark {
        Mark { reference, name: name.into() }
    }

    /// References of two lines, one of which makes one in `every`.
    fn timeline(len: u64, every: u64, marks: &[Mark]) -> Timeline {
        let reference =
            |n: u64| Reference { pc: u64::from(n.is_multiple_of(every)), ..Reference::new(Kind::Read, 64 * n, 8) };
        let location = |pc: u64, line| SourceLocation {
            path: String::new(),
            pc,
            line,
            file: "src/sum.c".into(),
            function: String::new(),
            text: String::new(),
        };
        let tables =
            Tables { locations: vec![location(0, 7), location(1, 9)], marks: marks.to_vec(), ..Tables::default() };
        let trace = Arc::new(MemoryTrace::new((0..len).map(reference).collect(), tables));
        let hierarchy = Hierarchy::new(&preset("paper").expect("there")).expect("good");
        Timeline::build(trace, hierarchy, Options::default(), &mut |_, _| true).expect("in memory")
    }

    #[test]
    fn marks_of_one_name_belong_together_and_the_rest_goes_on_evenly() {
        let this = timeline(1000, 9, &[mark(100, "init"), mark(300, "sweep"), mark(310, "once")]);
        let other = timeline(500, 9, &[mark(10, "init"), mark(410, "sweep")]);
        let (by, step) = InStep::usual(&this, &other);
        assert_eq!(by, StepBy::Marks);
        let places = [(0.0, 0.0), (50.0, 5.0), (100.0, 10.0), (200.0, 210.0), (300.5, 410.0), (1000.0, 500.0)];
        for (a, b) in places {
            let at = step.other(Position::of(a));
            assert!(at.since(Position::of(b)).abs() < 0.1, "{a}: {at}, not {b}");
        }
        assert_eq!(step.this(Position::at(210)), Position::at(200));
        let words = InStep::new(&this, &timeline(9, 9, &[mark(2, "end")]), &StepBy::Marks).unwrap_err().to_string();
        assert_eq!(
            words,
            "no mark has the same name in both traces; this one has “init”, “sweep”, “once”, the other “end”"
        );
        assert_eq!(InStep::usual(&this, &timeline(9, 9, &[])).0, StepBy::References);
    }

    #[test]
    fn the_nth_reference_of_a_line_is_beside_the_nth() {
        let (this, other) = (timeline(1000, 5, &[]), timeline(3000, 20, &[]));
        let by: StepBy = "sum.c:9".parse().expect("a line");
        let step = InStep::new(&this, &other, &by).expect("both make it");
        for n in [0, 1, 70, 149] {
            assert_eq!(step.other(Position::at(5 * n)), Position::at(20 * n));
        }
        let both: StepBy = "src/sum.c:9=sum.c:7".parse().expect("two lines");
        let step = InStep::new(&this, &other, &both).expect("both make them");
        assert_eq!(step.other(Position::at(10)), Position::at(3), "the third that is not the 20th");
        let none = InStep::new(&this, &other, &StepBy::Line("um.c:9".into(), None)).unwrap_err().to_string();
        assert_eq!(none, "um.c:9 makes no reference in this trace; its lines are src/sum.c:7, src/sum.c:9");
    }

    #[test]
    fn words_of_a_step_are_that_step() {
        for words in ["references", "marks", "a.c:1", "C:\\x\\a.c:3", "a.c:1=b.c:2"] {
            assert_eq!(words.parse::<StepBy>().map(|by| by.to_string()), Ok(words.to_owned()));
        }
        for words in ["", "mark", "a.c", "a.c:0", ":3", "a.c:1=", "=b.c:2", "a.c:x"] {
            let said = words.parse::<StepBy>().unwrap_err().to_string();
            assert!(said.contains(&format!("found `{words}`")), "{said}");
        }
    }

    #[test]
    fn without_pairs_both_are_at_the_same_number() {
        let at = Position::of(12.25);
        assert_eq!((InStep::default().other(at), InStep::default().this(at)), (at, at));
    }

    proptest! {
        #[test]
        fn both_rise_together_and_there_and_back_is_where_one_was(
            names in proptest::collection::vec(0u8..6, 0..12),
            others in proptest::collection::vec(0u8..6, 0..12),
            at in 0u64..400,
        ) {
            let marks = |names: &[u8]| -> Vec<Mark> {
                (0..).zip(names).map(|(n, name)| mark(1 + 30 * n, &name.to_string())).collect()
            };
            let step = InStep::of(of_marks(&marks(&names), &marks(&others)), [400, 500]);
            prop_assert!(step.pairs.windows(2).all(|two| two[0][0] < two[1][0] && two[0][1] < two[1][1]), "{step:?}");
            let (here, next) = (step.other(Position::at(at)), step.other(Position::at(at + 1)));
            prop_assert!(here <= next && next <= Position::at(500));
            prop_assert!(step.this(here).since(Position::at(at)).abs() < 1e-6);
        }
    }
}
