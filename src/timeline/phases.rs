//! Where a trace turns to something else, and where misses come in bursts: found while indexing, kept as marks.
//!
//! A *phase* shows by what is used: each bucket of references has a signature of 1,024 bits, a bit for each piece of code (or of
//! memory, where the trace tells no code) by its hash. Two signatures differ by `|a ^ b| / |a | b|`, 0 to 1; where the buckets
//! before and after a border differ by more than half, and by more than among themselves, a phase begins (Dhodapkar and Smith,
//! Managing multi-configuration hardware via dynamic working set analysis, 2002).

use super::ladder::edge_after;
use super::phase_names::PHASE;
use super::{Answered, Summary};
use crate::reference::{Mark, Reference};
use crate::sim::Hierarchy;
use crate::units::LevelId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// References in a bucket, at least.
const SPAN: u64 = 1024;
/// Buckets at most; a power of two.
const BUCKETS: usize = 1024;
/// Buckets with which anything is found, at least.
const FEWEST: usize = 32;
/// Buckets that are compared on each side of a border.
const SIDE: usize = 2;
/// Words of 64 bits in a signature.
const WORDS: usize = 16;
/// Phases, and bursts, that are marked at most: the clearest ones.
const MARKS: usize = 24;
/// Standard deviations above the mean past which misses come in a burst.
const BURST: f64 = 4.0;
/// References, at least, of which misses are counted together to find bursts.
const STRETCH: u64 = 256;
/// Misses a reference below which nothing is a burst.
const LEAST: f64 = 0.02;

type Signature = [u64; WORDS];

/// Signatures of all buckets so far.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Phases {
    span: u64,
    full: Vec<Signature>,
    open: Signature,
    /// What was used last.
    last: u64,
}

impl Phases {
    pub(super) fn new() -> Self {
        Self { span: SPAN, full: Vec::new(), open: [0; WORDS], last: u64::MAX }
    }

    /// Adds a reference of the open bucket.
    #[inline(always)]
    pub(super) fn add(&mut self, reference: &Reference) {
        // Pieces of 16 bytes of code, of 1 KiB of memory.
        let used = if reference.pc != 0 { reference.pc >> 4 } else { reference.addr >> 10 };
        if used != self.last {
            self.last = used;
            let bit = used.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54;
            self.open[usize::from((bit >> 6) as u8) % WORDS] |= 1 << (bit & 63);
        }
    }

    /// The reference after `tick` before which a new bucket begins: [`Phases::step`] must be told of it.
    pub(super) fn edge_after(&self, tick: u64) -> u64 {
        edge_after(tick, self.span)
    }

    /// Says that reference `tick` is next.
    pub(super) fn step(&mut self, tick: u64) {
        if !tick.is_multiple_of(self.span) || tick == 0 {
            return;
        }
        self.full.push(std::mem::take(&mut self.open));
        self.last = u64::MAX;
        if self.full.len() == BUCKETS {
            self.span *= 2;
            self.full = self.full.chunks(2).map(|pair| pair.iter().fold([0; WORDS], either)).collect();
        }
    }

    /// References before which a phase begins, in order.
    pub(super) fn found(&self) -> Vec<u64> {
        let buckets = &self.full;
        if buckets.len() < FEWEST {
            return Vec::new();
        }
        let among = |side: &[Signature]| side.windows(2).map(|pair| distance(&pair[0], &pair[1])).fold(0.0, f64::max);
        let all = |side: &[Signature]| side.iter().fold([0; WORDS], either);
        // A bucket in which one phase ends and another begins is like both: its neighbours are compared.
        let sides = |at: usize| (&buckets[at - SIDE..at], &buckets[at + 1..at + 1 + SIDE]);
        let apart: Vec<f64> = (SIDE..buckets.len() - SIDE)
            .map(|at| {
                let (before, after) = sides(at);
                let apart = distance(&all(before), &all(after));
                if apart > 1.5 * among(before).max(among(after)) { apart } else { 0.0 }
            })
            .collect();
        let peak = |at: usize| {
            let near = &apart[at.saturating_sub(SIDE)..(at + SIDE + 1).min(apart.len())];
            let first = !apart[at.saturating_sub(SIDE)..at].contains(&apart[at]);
            apart[at] > 0.5 && first && near.iter().all(|other| *other <= apart[at])
        };
        let begins = |at: usize| {
            let (before, after) = sides(at);
            let is_before = distance(&buckets[at], &all(before)) < distance(&buckets[at], &all(after));
            (at + usize::from(is_before)) as u64 * self.span
        };
        let found = (0..apart.len()).filter(|&at| peak(at)).map(|at| (apart[at], begins(at + SIDE)));
        clearest(found.collect())
    }
}

/// Where misses come in bursts: of buckets of `span` references each, their misses a reference. Gives the first reference of
/// each burst, and its misses a reference.
fn bursts(rates: &[f64], span: u64) -> Vec<(u64, f64)> {
    if rates.len() < FEWEST {
        return Vec::new();
    }
    let n = rates.len() as f64;
    let mean = rates.iter().sum::<f64>() / n;
    let spread = (rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / n).sqrt();
    let least = (mean + BURST * spread).max(2.0 * mean).max(LEAST);
    let mut found: Vec<(f64, u64)> = Vec::new();
    let mut inside = false;
    for (rate, bucket) in rates.iter().zip(0u64..) {
        match found.last_mut() {
            Some((highest, _)) if inside && *rate > least => *highest = highest.max(*rate),
            _ if *rate > least => found.push((*rate, bucket * span)),
            _ => {}
        }
        inside = *rate > least;
    }
    let kept = clearest(found.clone());
    found.into_iter().filter(|(_, at)| kept.contains(at)).map(|(rate, at)| (at, rate)).collect()
}

/// The strongest of what was found, in order.
fn clearest(mut found: Vec<(f64, u64)>) -> Vec<u64> {
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut kept: Vec<u64> = found.into_iter().take(MARKS).map(|(_, at)| at).collect();
    kept.sort_unstable();
    kept
}

/// A trace's own marks, and those that were found, in order. Bursts are those of the levels that are asked first; one that no
/// reference asked is not named. `name` says what a phase is, from its first reference to the next phase, and more exactly where it is
/// told to.
pub(super) fn marks(
    own: &[Mark],
    phases: &Phases,
    (summary, answered): (&Summary, &Answered),
    hierarchy: &Hierarchy,
    name: &dyn Fn([u64; 2], bool) -> Option<String>,
) -> Vec<Mark> {
    let first = hierarchy.caches().map(|cache| hierarchy.info(cache)).filter(|info| info.depth == 0);
    let mut first: Vec<LevelId> = first.map(|info| info.level).collect::<BTreeSet<_>>().into_iter().collect();
    first.retain(|level| answered.asked[level.index()] > 0);
    let names: Vec<&str> = first.iter().map(|level| &*hierarchy.config().levels[level.index()].name).collect();
    let (misses, span) = summary.misses(&first, STRETCH);
    let found = phases.found();
    let ends = found.iter().skip(1).copied().chain([u64::MAX]);
    let ranges: Vec<[u64; 2]> = found.iter().zip(ends).map(|(&at, end)| [at, end]).collect();
    let called: Vec<Option<String>> = ranges.iter().map(|&range| name(range, false)).collect();
    // Loops of one function over one array are told apart by their lines, also from what runs before the first phase that was found.
    let before = ranges.first().and_then(|&[at, _]| name([0, at], false));
    let alike = |name: &Option<String>| called.iter().chain([&before]).filter(|other| *other == name).count();
    let is_alone = |name: &Option<String>| alike(name) < 2;
    let phases = ranges.iter().zip(&called).map(|(&[at, end], called)| {
        let exact = if is_alone(called) { called.clone() } else { name([at, end], true) };
        (at, exact.unwrap_or_else(|| UNNAMED.to_owned()), phases.span)
    });
    marked(own, phases, (&misses, span), &names.join(", "))
}

/// What a phase is called of which nothing is known.
const UNNAMED: &str = "another phase begins";

/// Whether a mark's name is that of a phase that was found.
#[must_use]
pub fn is_phase(name: &str) -> bool {
    name == UNNAMED || name.starts_with(PHASE)
}

/// As [`marks`]; `phases` are where they begin, their names, and how near a mark is a mark of them; `misses` are those of buckets of
/// `span` references each.
fn marked(
    own: &[Mark],
    phases: impl Iterator<Item = (u64, String, u64)>,
    (misses, span): (&[u64], u64),
    name: &str,
) -> Vec<Mark> {
    let rates: Vec<f64> = misses.iter().map(|misses| *misses as f64 / span as f64).collect();
    let bursts = bursts(&rates, span).into_iter();
    let bursts = bursts.map(|(at, rate)| (at, format!("burst of {name} misses: {:.0} %", 100.0 * rate), span));
    let mut all = own.to_vec();
    for (reference, name, near) in phases.chain(bursts) {
        // What the program says itself is not said again.
        if !own.iter().any(|mark| mark.reference.abs_diff(reference) <= 2 * near) {
            all.push(Mark { reference, name });
        }
    }
    all.sort_by_key(|mark| mark.reference);
    all
}

fn either(a: Signature, b: &Signature) -> Signature {
    std::array::from_fn(|word| a[word] | b[word])
}

fn distance(a: &Signature, b: &Signature) -> f64 {
    let bits = |of: fn(u64, u64) -> u64| a.iter().zip(b).map(|(a, b)| of(*a, *b).count_ones()).sum::<u32>();
    let all = bits(|a, b| a | b);
    if all == 0 { 0.0 } else { f64::from(bits(|a, b| a ^ b)) / f64::from(all) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::Kind;

    fn phases(references: impl Iterator<Item = Reference>) -> Phases {
        let mut phases = Phases::new();
        for (reference, tick) in references.zip(0..) {
            phases.step(tick);
            phases.add(&reference);
        }
        phases
    }

    #[test]
    fn a_phase_begins_where_other_code_runs() {
        let loops = |pc: u64, n: u64| {
            (0..n).map(move |i| Reference { pc: pc + 16 * (i % 5), ..Reference::new(Kind::Read, 8 * i, 8) })
        };
        let trace = || loops(0x1000, 50_000).chain(loops(0x8000, 70_000)).chain(loops(0x1000, 40_000));
        let found = phases(trace()).found();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].abs_diff(50_000) <= SPAN && found[1].abs_diff(120_000) <= SPAN, "{found:?}");
        // However long the trace: buckets double.
        let long = (0..20).flat_map(|_| trace());
        let found = phases(long);
        assert!(found.span > SPAN && found.full.len() < BUCKETS);
        let found = found.found();
        assert_eq!(found.len(), MARKS.min(40), "{found:?}");
        // One loop, and a stream through ever new memory, have no phases.
        assert!(phases(loops(0x1000, 200_000)).found().is_empty());
        assert!(phases((0..200_000).map(|i| Reference::new(Kind::Read, 64 * i, 8))).found().is_empty());
        assert!(phases(loops(0x1000, 10_000).chain(loops(0x8000, 10_000))).found().is_empty(), "too short to tell");
    }

    #[test]
    fn bursts_stand_out_and_plateaus_do_not() {
        let mut rates = vec![0.05; 400];
        rates[100..103].copy_from_slice(&[0.5, 0.7, 0.6]);
        rates[250] = 0.4;
        assert_eq!(bursts(&rates, 64), [(6400, 0.7), (16_000, 0.4)]);
        let mut plateau = vec![0.05; 400];
        plateau[..200].fill(0.6);
        assert!(bursts(&plateau, 64).is_empty());
        assert!(bursts(&[0.0; 400], 64).is_empty() && bursts(&rates[90..110], 64).is_empty());
    }

    #[test]
    fn a_burst_names_the_caches_that_were_asked() {
        use crate::reference::{MemoryTrace, Tables};
        use crate::sim::config::preset;
        use crate::timeline::{Options, Timeline};
        use std::sync::Arc;
        let named = |fetches: bool| {
            // One array again and again, but for 2,048 new lines.
            let addr = |n: u64| if (60_000..62_048).contains(&n) { 0x100_0000 + 4096 * n } else { 8 * (n % 512) };
            let kind = |n: u64| if fetches && n.is_multiple_of(64) { Kind::Fetch } else { Kind::Read };
            let references = (0..100_000).map(|n| Reference::new(kind(n), addr(n), 8)).collect();
            let hierarchy = Hierarchy::new(&preset("skylake-sp").expect("a preset")).expect("sound");
            let source = Arc::new(MemoryTrace::new(references, Tables::default()));
            let timeline = Timeline::build(source, hierarchy, Options::default(), &mut |_, _| true).expect("in memory");
            let marks = timeline.tables().marks.iter().map(|mark| mark.name.clone());
            marks.filter(|name| name.starts_with("burst")).collect::<Vec<_>>()
        };
        assert!(named(false)[0].starts_with("burst of L1D misses"), "{:?}", named(false));
        assert!(named(true)[0].contains("L1I"), "{:?}", named(true));
    }

    #[test]
    fn a_programs_own_marks_stay_and_are_not_said_twice() {
        let own = [Mark { reference: 6_500, name: "mine".into() }];
        let mut misses = vec![3; 400];
        (misses[100], misses[300]) = (50, 60);
        let marks = marked(&own, std::iter::empty(), (&misses, 64), "L1");
        let said: Vec<(u64, &str)> = marks.iter().map(|mark| (mark.reference, mark.name.as_str())).collect();
        assert_eq!(said, [(6_500, "mine"), (19_200, "burst of L1 misses: 94 %")]);
    }
}
