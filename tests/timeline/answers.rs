//! How the references of any window were answered is what counting them one by one gives: one outcome a reference and level,
//! however many lines it lies on, from the log, from counts at both ends, by any loop, in shards.

use crate::support::random::machines::hierarchy;
use crate::support::random::traces::named;
use crate::support::timeline::Chopped;
use orrery::reference::{Kind, MemoryTrace, Reference, ReferenceSource, Tables};
use orrery::sim::config::{HierarchyConfig, preset};
use orrery::sim::{Event, Hierarchy};
use orrery::timeline::{Answered, Cursor, Options, Timeline};
use orrery::trace::synth::{self, Rng};
use std::sync::Arc;

/// Bytes of the smallest line.
fn smallest(hierarchy: &Hierarchy) -> u32 {
    hierarchy.caches().map(|cache| hierarchy.geometry(cache).line_bytes).min().expect("a cache")
}

/// What each reference did: kind, bytes, core, levels asked, levels that had not all.
fn outcomes(references: &[Reference], hierarchy: &Hierarchy) -> Vec<(Kind, u64, u16, u8, u8)> {
    let (mut state, line) = (hierarchy.clone(), smallest(hierarchy));
    let one = |r: &Reference| {
        let mut events: Vec<Event> = Vec::new();
        state.access(r, &mut events);
        let (mut asked, mut missed) = (0, 0);
        for event in events {
            if let Event::Access { level, kind, hit, .. } = event
                && kind.is_demand()
            {
                asked |= 1 << level.index();
                missed |= u8::from(!hit) << level.index();
            }
        }
        (r.kind, u64::from(r.size.clamp(1, line)), r.core, asked, missed)
    };
    references.iter().map(one).collect()
}

fn counted(outcomes: &[(Kind, u64, u16, u8, u8)], core: Option<u16>, config: &HierarchyConfig) -> Answered {
    let mut sum = Answered::default();
    for &(kind, bytes, _, asked, missed) in outcomes.iter().filter(|o| core.is_none_or(|core| o.2 == core)) {
        let side = usize::from(kind == Kind::Fetch);
        sum.references += 1;
        if !(config.data_only && side == 1) {
            sum.asking[side] += 1;
            sum.bytes[side] += bytes;
        }
        for level in 0..8 {
            sum.asked[level] += u64::from(asked >> level & 1);
            sum.missed[level] += u64::from(missed >> level & 1);
        }
    }
    sum
}

/// Seeks here and there, with logs shorter and longer than the window.
fn check(rng: &mut Rng, trace: &MemoryTrace, hierarchy: &Hierarchy, options: Options, chunk: u64, seeks: u64) -> u64 {
    let source: Arc<dyn ReferenceSource> = Arc::new(Chopped { trace: trace.clone(), chunk });
    let timeline = Timeline::build(source, hierarchy.clone(), options, &mut |_, _| true).expect("in memory");
    let mut cursor = Cursor::new(Arc::new(timeline)).expect("in memory");
    let outcomes = outcomes(trace.references(), hierarchy);
    let config = hierarchy.config();
    let cores: Vec<Option<u16>> = std::iter::once(None)
        .chain(hierarchy.caches().filter_map(|cache| hierarchy.info(cache).core).map(Some))
        .collect();
    let mut at = 0;
    for n in 0..seeks {
        // Mostly on, as a film does; now and then somewhere else.
        at = if n % 5 == 4 {
            rng.below(trace.len() + 1)
        } else {
            (at + rng.below(1 + trace.len() / 9)).min(trace.len())
        };
        let (log, window) = (rng.below(60), 1 + rng.below(trace.len()));
        let moment = cursor.seek_over(at, log, window).expect("in memory");
        let from = usize::try_from(at.saturating_sub(window)).expect("small");
        let part = &outcomes[from..usize::try_from(at).expect("small")];
        for core in &cores {
            let (found, expected) = (moment.answers(window).of(*core), counted(part, *core, config));
            assert_eq!(found, expected, "{from}..{at}, log {log}, core {core:?}\n{}", config.to_toml());
        }
    }
    outcomes.iter().filter(|o| o.4 != 0).count() as u64
}

#[test]
fn answers_are_those_of_counting_one_by_one() {
    let mut missed = 0;
    for case in 0..300 {
        let mut rng = Rng::new(case);
        let (hierarchy, trace) = (hierarchy(&mut rng), named(&mut rng));
        let cores = u64::from(hierarchy.config().cores);
        let on_cores = |r: &Reference| Reference { core: u16::try_from(rng.below(cores)).expect("few"), ..*r };
        let references = trace.references().iter().map(on_cores).collect();
        let trace = MemoryTrace::new(references, trace.tables().clone());
        let outcomes_up_to = if case % 2 == 0 { u64::MAX } else { 0 };
        let options = Options { outcomes_up_to, spacing: 1 + rng.below(300), shards: 1, ..Options::default() };
        let chunk = 1 + rng.below(300);
        missed += check(&mut rng, &trace, &hierarchy, options, chunk, 8);
    }
    assert!(missed > 20_000, "{missed}");
}

/// Long enough for the loops that play blocks, and for shards that are cut at lines.
#[test]
fn answers_of_plain_caches_are_the_same_by_every_loop() {
    for (case, caches) in ["paper", "textbook", "cortex-a53", "zen2"].into_iter().enumerate() {
        let mut rng = Rng::new(case as u64);
        let mut config = preset(caches).expect("a preset");
        config.tlbs.clear();
        config.levels.iter_mut().for_each(|level| {
            level.policy = orrery::sim::Policy::Lru;
            level.prefetch = Default::default();
            level.inclusion = Default::default();
        });
        let hierarchy = Hierarchy::new(&config).expect("sound");
        let mut references: Vec<Reference> = synth::mix(30_000, 7 + case as u64).collect();
        for reference in &mut references {
            // Some of every kind lie over two lines, or cover whole ones.
            match rng.below(9) {
                0 => (reference.addr, reference.size) = (reference.addr | 60, 8),
                1 => (reference.addr, reference.size) = (reference.addr & !63, 64),
                2 => (reference.addr, reference.size, reference.kind) = (reference.addr & !63, 192, Kind::Write),
                3 => reference.kind = Kind::Modify,
                _ => {}
            }
        }
        let trace = MemoryTrace::new(references, Tables::default());
        for shards in [1, 4] {
            let options = Options { outcomes_up_to: 0, spacing: 7_000, shards, ..Options::default() };
            let missed = check(&mut rng, &trace, &hierarchy, options, 5_000, 12);
            assert!(missed > 3_000, "{caches}: {missed}");
        }
    }
}

/// Who plays on passes the other end of a long window on the way and keeps a copy of what is there.
#[test]
fn windows_that_are_passed_on_the_way_are_those_of_a_cursor_that_was_nowhere() {
    let config = preset("skylake-sp").expect("a preset");
    let hierarchy = Hierarchy::new(&config).expect("sound");
    let trace = MemoryTrace::new(synth::mix(60_000, 3).collect(), Tables::default());
    let options = Options { outcomes_up_to: 0, spacing: 16_384, ..Options::default() };
    let timeline = Timeline::build(Arc::new(trace), hierarchy, options, &mut |_, _| true).expect("in memory");
    let timeline = Arc::new(timeline);
    let mut rng = Rng::new(5);
    let mut on = Cursor::new(Arc::clone(&timeline)).expect("in memory");
    let mut at = 0;
    while at < timeline.len() {
        at += 1 + rng.below(9_000);
        let (log, window) = (rng.below(300), 1 + rng.below(12_000));
        let mut fresh = Cursor::new(Arc::clone(&timeline)).expect("in memory");
        let [found, expected] = match rng.below(2) {
            0 => [&mut on, &mut fresh].map(|cursor| cursor.seek_tallied(at, log, window).expect("in memory")),
            _ => [&mut on, &mut fresh].map(|cursor| cursor.seek_over(at, log, window).expect("in memory")),
        };
        let what = format!("{window} before {at}, log {log}");
        assert!(found.before == expected.before && found.after == expected.after, "{what}");
        assert_eq!((found.tick, found.tally), (expected.tick, expected.tally), "{what}");
        assert_eq!(found.answers(window), expected.answers(window), "{what}");
        assert_eq!(found.shares(window, 3), expected.shares(window, 3), "{what}");
        let seen = expected.shares(window, 3).is_some();
        assert!(!seen || found.state_before(window) == expected.state_before(window), "{what}");
    }
}
