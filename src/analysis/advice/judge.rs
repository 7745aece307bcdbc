//! Whether a change that was proposed pays, and what is said of it.

use super::gather::Gathered;
use super::patterns::{LEAST, Proposal, is_share, names};
use super::trial::{Outcome, Trial};
use super::{Advice, BeforeAfter, Counterfactual, Pattern, Place};
use crate::sim::MissClass;
use crate::sim::config::{HierarchyConfig, format_size};
use crate::units::grouped;
use std::collections::BTreeMap;

/// Source lines that are named.
const PLACES: usize = 3;

/// Whether a change pays, and by what share of all; what it is about, and its words.
pub(super) fn judge(
    proposal: &Proposal,
    before: &Outcome,
    after: &[Outcome],
    gathered: &Gathered,
    config: &HierarchyConfig,
) -> Option<(f64, Vec<usize>, Advice)> {
    Judging { proposal, before, after, gathered, config }.judge()
}

struct Judging<'a> {
    proposal: &'a Proposal,
    before: &'a Outcome,
    after: &'a [Outcome],
    gathered: &'a Gathered,
    config: &'a HierarchyConfig,
}

impl Judging<'_> {
    /// The least and the most of a count over the places that the change was played at, the first being the one that is told.
    fn spread(&self, count: impl Fn(&Outcome) -> u64) -> (u64, u64, u64) {
        let counts: Vec<u64> = self.after[..self.proposal.places].iter().map(count).collect();
        let told = counts.first().copied().unwrap_or(0);
        let worst = counts.iter().copied().max().unwrap_or(told);
        let off = counts.iter().map(|count| count.abs_diff(told)).max().unwrap_or(0);
        (told, worst, off)
    }

    fn judge(&self) -> Option<(f64, Vec<usize>, Advice)> {
        let Proposal { pattern, level, regions, change, .. } = self.proposal;
        let (level, region) = (*level, regions[0]);
        let class = match pattern {
            Pattern::StrideConflicts => Some(MissClass::Conflict),
            Pattern::FalseSharing => Some(MissClass::Coherence),
            _ => None,
        };
        let all = self.before.misses(level);
        let memory = self.before.memory_bytes();
        let of = |outcome: &Outcome| -> u64 {
            match (pattern, class) {
                (_, Some(class)) => outcome.of_class(level, region, class),
                (Pattern::JustOver, None) => outcome.misses(level),
                (Pattern::LoopOrder, None) => regions.iter().map(|region| outcome.of(level, *region)).sum(),
                _ => outcome.of(level, region),
            }
        };
        // What passes by still comes from memory.
        let passing = if *pattern == Pattern::Stream { self.before.of(level, regions[1]) } else { 0 };
        let passing_bytes = if *pattern == Pattern::Stream { self.before.memory_of(regions[1]) } else { 0 };
        let (own, own_worst, off) = self.spread(of);
        let (total, total_worst, _) = self.spread(|outcome| outcome.misses(level) + passing);
        let (bytes, bytes_worst, bytes_off) = self.spread(|outcome| outcome.memory_bytes() + passing_bytes);
        let saved = all.saturating_sub(total_worst);
        let misses = of(self.before);
        let falls = |to: u64| is_share(misses.saturating_sub(own_worst), misses, 100 - to);
        let much = saved >= LEAST / 2 && is_share(saved, all, 10);
        let pays = match pattern {
            Pattern::StrideConflicts => much && falls(50) && is_share(saved, misses, 30),
            Pattern::LoopOrder | Pattern::ColumnWalk | Pattern::ArrayOfStructures | Pattern::FalseSharing => {
                much && falls(60)
            }
            Pattern::JustOver => much && falls(25) && self.fitting().is_some(),
            Pattern::Stream => {
                let alone = self.after[1].of(level, regions[1]);
                much && falls(30) && is_share(alone, passing, 95)
            }
            Pattern::StoreStream => {
                let (before, after) = (self.before.memory_of(region), self.after[0].memory_of(region));
                is_share(before.saturating_sub(after), before, 80)
                    && is_share(memory.saturating_sub(bytes_worst), memory, 10)
            }
        };
        if !pays {
            return None;
        }
        #[expect(clippy::cast_precision_loss, reason = "a share")]
        let (gain, share) = match pattern {
            Pattern::StoreStream => ((memory - bytes_worst) as f64 / memory as f64, misses as f64 / all.max(1) as f64),
            _ => (saved as f64 / all as f64, misses as f64 / all as f64),
        };
        let line = u64::from(self.config.levels[level].line);
        // Of a source line, its own are told: other lines miss in the same arrays.
        let told = match self.proposal.line {
            Some(line) => regions.iter().map(|region| self.gathered.line_misses(*region, line, level)).sum(),
            None => misses,
        };
        #[expect(clippy::cast_precision_loss, reason = "a share")]
        let share = if told == misses { share } else { told as f64 / all.max(1) as f64 };
        let advice = Advice {
            pattern: *pattern,
            level: self.config.levels[level].name.clone(),
            regions: regions.iter().map(|region| self.name(*region)).collect(),
            places: self.places(level, regions),
            example: self.gathered.region(region).example(level, class),
            misses: told,
            share,
            bytes: told * line,
            finding: self.finding(told, share),
            remedy: self.remedy(),
            counterfactual: Counterfactual {
                change: change.clone(),
                misses: BeforeAfter { before: misses, after: own },
                level_misses: BeforeAfter { before: all, after: total },
                memory_bytes: BeforeAfter { before: memory, after: bytes },
                // What changes beside the array (its neighbours move, loops have other ends) is some hundredths at most.
                error: off.max(misses / 50).max(8),
                error_bytes: bytes_off.max(memory / 50).max(8 * line),
            },
        };
        Some((gain, regions.clone(), advice))
    }

    /// The smallest larger cache that a working set fits into: its bytes and misses.
    fn fitting(&self) -> Option<(u64, u64)> {
        let Proposal { level, trials, places, .. } = self.proposal;
        let all = self.before.misses(*level);
        let fits = |(trial, outcome): (&Trial, &Outcome)| {
            let misses = outcome.misses(*level);
            is_share(all - misses.min(all), all, 75).then_some((trial.config.levels[*level].size, misses))
        };
        trials.iter().zip(self.after).skip(*places).find_map(fits)
    }

    fn name(&self, region: usize) -> String {
        self.gathered.name(region)
    }

    fn places(&self, level: usize, regions: &[usize]) -> Vec<Place> {
        // The first region is the one whose misses these are; of a source line, all of its arrays are meant.
        let regions = if self.proposal.line.is_some() { regions } else { &regions[..1] };
        let mut places: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        let of = regions
            .iter()
            .flat_map(|region| self.gathered.lines_of(*region, level))
            .filter(|(line, ..)| self.proposal.line.is_none_or(|own| own == *line));
        for (line, references, misses) in of.filter(|(.., misses)| *misses > 0) {
            let place = places.entry(self.gathered.line(line)).or_default();
            *place = (place.0 + references, place.1 + misses);
        }
        let place = |(line, (references, misses))| Place { line, references, misses };
        let mut places: Vec<Place> = places.into_iter().map(place).collect();
        places.sort_by_key(|place| std::cmp::Reverse(place.misses));
        places.truncate(PLACES);
        places
    }

    fn finding(&self, misses: u64, share: f64) -> String {
        let Proposal { pattern, level, regions, .. } = self.proposal;
        let own = &self.config.levels[*level];
        let (name, at) = (self.name(regions[0]), own.name.as_str());
        let found = self.gathered.region(regions[0]);
        let counts = |what: &str| {
            let bytes = grouped(misses * u64::from(own.line));
            format!("{} {what} ({:.1} % of {at}'s misses), {bytes} bytes", grouped(misses), 100.0 * share)
        };
        #[expect(clippy::cast_precision_loss, reason = "a share")]
        let used = 100.0 * found.used as f64 / found.fetched.max(1) as f64;
        match pattern {
            Pattern::StrideConflicts => {
                let what = counts("conflict misses");
                format!(
                    "Rows or parts of {name} begin in few sets of {at} and push each other out while others stay free: {what}."
                )
            }
            Pattern::LoopOrder => {
                format!(
                    "{} goes down the columns of {}, so that each reference is on another cache line than the one before: {}.",
                    self.proposal.line.map_or_else(|| "A loop".to_owned(), |line| self.gathered.place(line)),
                    names(self.proposal_names().iter().map(String::as_str)),
                    counts("misses")
                )
            }
            Pattern::ColumnWalk => {
                format!(
                    "{name} is walked across its rows, so that {used:.0} % of each line is used before it leaves: {}.",
                    counts("misses")
                )
            }
            Pattern::ArrayOfStructures => {
                format!(
                    "Of each element of {name} a part is used, {used:.0} % of the lines that come: {}.",
                    counts("misses")
                )
            }
            Pattern::FalseSharing => {
                format!(
                    "Cores take lines of {name} from each other without touching each other's bytes: {}.",
                    counts("coherence misses")
                )
            }
            Pattern::JustOver => {
                let cold = |region: &usize| self.gathered.region(*region).class(*level, MissClass::Compulsory);
                let around = regions.iter().map(cold).sum::<u64>() * u64::from(own.line);
                let names = names(self.proposal_names().iter().map(String::as_str));
                let fits = self.fitting().map_or_else(String::new, |(size, misses)| {
                    format!("; with {} it would be {}", format_size(size), grouped(misses))
                });
                format!(
                    "{names}, {} bytes, {} used again and again, and {at} holds {}: {}{fits}.",
                    grouped(around),
                    if regions.len() == 1 { "is" } else { "are" },
                    format_size(own.size),
                    counts("misses")
                )
            }
            Pattern::Stream => {
                let by = self.name(regions[1]);
                format!(
                    "{by}, which is not used again before it leaves, pushes {name} out of {at}, which is: {}.",
                    counts("misses")
                )
            }
            Pattern::StoreStream => {
                format!(
                    "{name} is written and not read: {} lines are fetched from memory and then written whole, {} bytes.",
                    grouped(misses),
                    grouped(self.before.memory_of(regions[0]))
                )
            }
        }
    }

    fn proposal_names(&self) -> Vec<String> {
        self.proposal.regions.iter().map(|region| self.name(*region)).collect()
    }

    fn remedy(&self) -> String {
        match self.proposal.pattern {
            Pattern::StrideConflicts => {
                "rows that are a little longer, or unused bytes between parts, so that they begin in different sets"
            }
            Pattern::LoopOrder => {
                "loops in the other order, so that the inner one goes along rows, where the program allows that"
            }
            Pattern::ColumnWalk => {
                "loops in the order in which the array lies in memory, or the array stored the other way round"
            }
            Pattern::ArrayOfStructures => {
                "fields that are used together in arrays of their own (a structure of arrays)"
            }
            Pattern::FalseSharing => {
                "what each core writes on lines of its own: align it, or keep it in local variables"
            }
            Pattern::JustOver => {
                "parts that fit, each done with before the next (blocking), or elements of fewer bytes"
            }
            Pattern::Stream => {
                "the stream in a pass of its own, or loads and stores that pass by the caches (non-temporal)"
            }
            Pattern::StoreStream => {
                "memset and memcpy, or stores that pass by the caches (non-temporal), which fetch nothing"
            }
        }
        .into()
    }
}
