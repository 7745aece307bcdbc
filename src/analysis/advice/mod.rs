//! What would help: known patterns of misses, each with its cost and with what would happen without it, simulated.
//!
//! Nothing is advised because it looks familiar. A pattern that the counts of a trace suggest makes a proposal: the same trace with
//! addresses rewritten (rows a little longer, an array stored the other way round, fields apart ...) or under other caches. The proposal is
//! played, and what does not pay there is not told. So each advice has its counterfactual, and most programs get none.
//!
//! ```text
//! gather: one pass, counts by region -> propose: patterns that the counts allow -> try_all: played side by side -> advise: those that pay
//! ```

mod gather;
mod judge;
mod patterns;
mod rewrite;
mod trial;

use super::charted::First;
use crate::reference::{ReferenceSource, SourceError};
use crate::sim::SimError;
use crate::sim::config::{ConfigError, HierarchyConfig};
use serde::Serialize;

/// Advices at most: few are read.
const MOST: usize = 5;

/// Why there is no advice.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AdviceError {
    /// Trace and caches do not go together, or the trace cannot be read.
    #[error(transparent)]
    Sim(#[from] SimError),
    /// OPT at some level.
    #[error(
        "policy = \"opt\" at {0}: it looks ahead in this very trace, and advice plays changed ones; name caches with another policy, as in \
         --cache textbook"
    )]
    Future(String),
}

impl From<SourceError> for AdviceError {
    fn from(error: SourceError) -> Self {
        Self::Sim(error.into())
    }
}

impl From<ConfigError> for AdviceError {
    fn from(error: ConfigError) -> Self {
        Self::Sim(error.into())
    }
}

/// A known pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// Cores write different bytes of one line.
    FalseSharing,
    /// Loops go down the columns of an array, others along its rows.
    LoopOrder,
    /// Rows begin in few sets and push each other out.
    StrideConflicts,
    /// An array is walked across its rows, so that little of each line is used.
    ColumnWalk,
    /// Of structures in an array few fields are used.
    ArrayOfStructures,
    /// What is used again and again is a little larger than a level.
    JustOver,
    /// What is used once pushes out what is used again.
    Stream,
    /// Lines are fetched that are then written whole.
    StoreStream,
}

impl Pattern {
    /// In words.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::FalseSharing => "false sharing",
            Self::LoopOrder => "loops in the wrong order",
            Self::StrideConflicts => "conflicts at a stride",
            Self::ColumnWalk => "a walk across rows",
            Self::ArrayOfStructures => "an array of structures, few fields of which are used",
            Self::JustOver => "a working set just over a level",
            Self::Stream => "a stream that pushes out what is used again",
            Self::StoreStream => "lines that are fetched and then written whole",
        }
    }
}

/// A source line that takes part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// File, line and text, or what the trace knows of it.
    pub line: String,
    /// Its references of the region.
    pub references: u64,
    /// Its misses of the region at the level.
    pub misses: u64,
}

/// What is counted, before the change and after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BeforeAfter {
    /// As the trace is.
    pub before: u64,
    /// As it would be.
    pub after: u64,
}

/// The change, played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Counterfactual {
    /// What is changed: `with 64 bytes more a row of A`.
    pub change: String,
    /// Misses of the pattern.
    pub misses: BeforeAfter,
    /// All demand misses of the level.
    pub level_misses: BeforeAfter,
    /// Bytes read from memory.
    pub memory_bytes: BeforeAfter,
    /// How far the misses of a program so changed may be from these: where its arrays come to lie is not known. From playing other places.
    pub error: u64,
    /// The same of the bytes read from memory.
    pub error_bytes: u64,
}

/// An advice.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Advice {
    /// What was found.
    pub pattern: Pattern,
    /// Name of the level at which it costs.
    pub level: String,
    /// The regions it is about, by name.
    pub regions: Vec<String>,
    /// Source lines that take part, those that miss most first.
    pub places: Vec<Place>,
    /// Number of a reference that missed so, for `orrery why`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<u64>,
    /// Misses that it costs.
    pub misses: u64,
    /// Of all demand misses of the level, 0 to 1.
    pub share: f64,
    /// Bytes that come to the level for these misses.
    pub bytes: u64,
    /// What is the matter, in a sentence.
    pub finding: String,
    /// What usually helps.
    pub remedy: String,
    /// What it would bring.
    pub counterfactual: Counterfactual,
}

impl Advice {
    /// All of it as sentences.
    #[must_use]
    pub fn sentences(&self) -> [String; 3] {
        [self.finding.clone(), format!("Usually helps: {}.", self.remedy), self.simulated()]
    }

    fn simulated(&self) -> String {
        use crate::units::grouped;
        let Counterfactual { change, misses, level_misses, memory_bytes, error, error_bytes } = &self.counterfactual;
        let off = |error: u64| if error == 0 { String::new() } else { format!(" (give or take {})", grouped(error)) };
        let memory = match memory_bytes {
            BeforeAfter { before, after } if before == after => "as many bytes are read from memory".to_owned(),
            BeforeAfter { before, after } => format!(
                "bytes read from memory {} instead of {}{}",
                grouped(*after),
                grouped(*before),
                off(*error_bytes)
            ),
        };
        if self.pattern == Pattern::StoreStream {
            return format!("Simulated: {change}, {memory}.");
        }
        let BeforeAfter { before, after } = level_misses;
        if self.pattern == Pattern::LoopOrder {
            let (before, after, off) = (grouped(*before), grouped(*after), off(*error));
            return format!(
                "Simulated: {change}, all misses of {} become {after} instead of {before}{off}; {memory}.",
                self.level
            );
        }
        // Where they are all that there are, once is enough.
        let all = match misses == level_misses {
            true => String::new(),
            false => format!("; all misses of {} {} instead of {}", self.level, grouped(*after), grouped(*before)),
        };
        let (before, after, off) = (grouped(misses.before), grouped(misses.after), off(*error));
        format!("Simulated: {change}, {before} misses become {after}{off}{all}; {memory}.")
    }
}

/// Plays a trace, and then what its counts propose; tells what pays, what saves most first.
///
/// # Errors
/// [`AdviceError`].
pub fn advise(source: &dyn ReferenceSource, config: &HierarchyConfig) -> Result<Vec<Advice>, AdviceError> {
    advise_while(source, config, source.len(), &|| true)
}

/// As [`advise`], of the first so many references; `goes_on` is asked now and then.
///
/// # Errors
/// [`AdviceError`], also where `goes_on` says no.
pub fn advise_while(
    source: &dyn ReferenceSource,
    config: &HierarchyConfig,
    references: u64,
    goes_on: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<Advice>, AdviceError> {
    let source: &dyn ReferenceSource = &First { source, references: references.min(source.len()), goes_on };
    if let Some(level) = config.levels.iter().find(|level| level.policy.about().needs_future) {
        return Err(AdviceError::Future(level.name.clone()));
    }
    let gathered = gather::gather(source, config)?;
    let proposals = patterns::propose(&gathered, config, source.tables());
    if proposals.is_empty() {
        return Ok(Vec::new());
    }
    // The first is the trace as it is.
    let mut trials = vec![trial::Trial { rewrite: rewrite::Rewrite::None, config: config.clone() }];
    trials.extend(proposals.iter().flat_map(|proposal| proposal.trials.iter().cloned()));
    let outcomes =
        trial::try_all(source, &trials, proposals.iter().flat_map(|proposal| proposal.regions.iter().copied()))?;
    let (before, mut rest) = (&outcomes[0], &outcomes[1..]);
    let mut found: Vec<(f64, Vec<usize>, Advice)> = Vec::new();
    for proposal in &proposals {
        let (own, others) = rest.split_at(proposal.trials.len());
        rest = others;
        found.extend(judge::judge(proposal, before, own, &gathered, config));
    }
    // One advice a region: the one that saves most; where two save alike, the smaller change, which patterns are in the order of. What
    // is done to loops is told beside what is done to data; where all loops go down the columns, that says it too.
    let turned =
        |(_, regions, advice): &(f64, Vec<usize>, Advice)| (advice.pattern == Pattern::ColumnWalk).then(|| regions[0]);
    let turned: Vec<usize> = found.iter().filter_map(turned).collect();
    found.retain(|(_, regions, advice)| {
        advice.pattern != Pattern::LoopOrder || !regions.iter().all(|region| turned.contains(region))
    });
    found.sort_by(|(a, _, one), (b, _, other)| {
        let alike = (a - b).abs() < 0.1 * a.max(*b);
        if alike { one.pattern.cmp(&other.pattern) } else { b.total_cmp(a) }
    });
    let goes_beside = |one: Pattern, other: Pattern| (one == Pattern::LoopOrder) != (other == Pattern::LoopOrder);
    let mut told: Vec<(usize, Pattern)> = Vec::new();
    let mut advices = Vec::new();
    for (_, regions, advice) in found {
        let is_told =
            |(region, pattern): &(usize, Pattern)| regions.contains(region) && !goes_beside(*pattern, advice.pattern);
        if advices.len() < MOST && !told.iter().any(is_told) {
            told.extend(regions.into_iter().map(|region| (region, advice.pattern)));
            advices.push(advice);
        }
    }
    Ok(advices)
}
