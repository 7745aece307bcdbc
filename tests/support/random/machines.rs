//! Random configurations of every kind: hot and small, so that everything collides.

use super::Lots;
use orrery::sim::config::{
    Allocate, HierarchyConfig, Holds, Inclusion, LevelConfig, Prefetch, TlbConfig, Ways, WritePolicy,
};
use orrery::sim::{Hierarchy, Index, Policy, Shards};
use orrery::trace::synth::Rng;

/// All policies, the one that looks into the future last.
pub(crate) const POLICIES: &[Policy] = Policy::ALL;

/// What a configuration is about, so that each rare combination comes often enough.
#[derive(Clone, Copy, PartialEq)]
enum Theme {
    /// One core, NINE, nothing fetched unasked: OPT can be among the policies.
    Plain,
    Relations,
    Sectors,
    Cores,
    Prefetchers,
    /// Anything goes with anything.
    Wild,
}

/// What a configuration has to have; the rest is tried until it is sound.
#[derive(Clone, Copy)]
struct Wish {
    theme: Theme,
    levels: u64,
    cores: u16,
    /// Of one of its levels.
    relation: Inclusion,
}

/// A sound configuration of 1 to 4 levels. Where its caches are plain, OPT can be among the policies.
pub(crate) fn config(lots: &mut Rng) -> HierarchyConfig {
    use Theme::{Cores, Plain, Prefetchers, Relations, Sectors, Wild};
    let theme = lots.one_of(&[Plain, Relations, Relations, Sectors, Cores, Cores, Prefetchers, Wild]);
    let levels = lots.one_of(&[1, 2, 2, 2, 3, 3, 4]);
    let several = theme == Cores || theme == Wild && lots.percent(50);
    let cores = if several { lots.one_of(&[2, 2, 3, 4]) } else { 1 };
    let relations = [Inclusion::Nine, Inclusion::Inclusive, Inclusion::Exclusive];
    let relation = match theme {
        Plain => Inclusion::Nine,
        _ if levels == 1 => Inclusion::Nine,
        Relations => lots.one_of(&relations[1..]),
        _ => lots.one_of(&relations),
    };
    let wish = Wish { theme, levels, cores, relation };
    loop {
        let config = attempt(lots, wish);
        if config.check().is_ok() && config.levels.iter().any(|level| level.inclusion == relation) {
            return config;
        }
    }
}

fn attempt(lots: &mut Rng, wish: Wish) -> HierarchyConfig {
    let Wish { theme, levels, cores, relation } = wish;
    let line = lots.one_of(&[4, 8, 16, 32, 32, 64, 64]);
    let related = relation != Inclusion::Nine;
    let varied = lots.percent(if related { 25 } else { 40 });
    let wild = theme == Theme::Wild;
    let split = lots.percent(25);
    // Private as far as this level.
    let private = lots.below(levels + 1);
    let level = |n: u64, lots: &mut Rng| {
        let line = if varied { line * lots.one_of(&[1, 1, 2, 4]) } else { line };
        let sets = lots.one_of(&[1, 1, 2, 2, 3, 4, 4, 5, 8, 8, 64]);
        let most = if sets > 8 { 2 } else { 4 };
        let ways = lots.one_of(&[1, 2, 3, 4, 8].as_slice()[..most + usize::from(sets < 3)]);
        let full = sets < 8 && lots.percent(8);
        let size = u64::from(sets * ways * line) << if related { n.min(2) } else { 0 };
        let ways = if full { Ways::Full } else { Ways::Count(ways) };
        let mut level = LevelConfig::new(format!("L{}", n + 1), 0, size, ways, line);
        level.policy = lots.one_of(if theme == Theme::Plain { POLICIES } else { &POLICIES[..POLICIES.len() - 1] });
        if theme == Theme::Plain && lots.percent(20) {
            level.policy = Policy::Opt;
        }
        level.write = lots.one_of(&[WritePolicy::Back, WritePolicy::Back, WritePolicy::Through]);
        level.allocate = lots.one_of(&[Allocate::Write, Allocate::Write, Allocate::None]);
        level.latency = lots.one_of(&[1, 2, 4, 12, 40]);
        level.shared = n >= private;
        if split && n < 3 {
            level.holds = lots.one_of(&[Holds::Data, Holds::Instructions, Holds::Unified]);
        }
        if n > 0 && related && lots.percent(60) {
            level.inclusion =
                if lots.percent(75) { relation } else { lots.one_of(&[Inclusion::Inclusive, Inclusion::Exclusive]) };
        }
        if theme == Theme::Prefetchers && lots.percent(60) || (wild || theme == Theme::Cores) && lots.percent(20) {
            level.prefetch = lots.one_of(&[Prefetch::NextLine, Prefetch::Stride, Prefetch::Stream]);
        }
        if theme == Theme::Sectors && lots.percent(70) || wild && lots.percent(30) || lots.percent(5) {
            level.sector = Some((line / lots.one_of(&[1, 2, 2, 4, 4, 8])).max(1));
        }
        match lots.below(10) {
            0 | 1 => level.index = Index::XorFold,
            2 | 3 => {
                level.index = Index::Slice;
                level.slices = Some(lots.one_of(&[2, 4, 8]));
            }
            _ => {}
        }
        level
    };
    let levels = (0..levels).map(|n| level(n, lots)).collect();
    let mut config = HierarchyConfig::new("random", levels);
    config.cores = cores;
    config.data_only = lots.percent(10);
    config.order.writeback_first = lots.percent(35);
    config.order.fetch_on_full_line_write = lots.percent(35);
    config.seed = lots.below(1 << 40);
    config.memory.latency = lots.one_of(&[1, 10, 200]);
    config.memory.page = lots.one_of(&[512, 512, 4096]);
    if lots.percent(25) {
        let tlbs = lots.one_of(&[1, 2, 2, 3]);
        config.tlbs = (0..tlbs).map(|n| tlb(n, private, lots)).collect();
    }
    config
}

fn tlb(n: u64, private: u64, lots: &mut Rng) -> TlbConfig {
    let (sets, ways) = (lots.one_of(&[1, 1, 2, 3, 4]), lots.one_of(&[1, 2, 3, 4]));
    TlbConfig {
        name: format!("TLB{}", n + 1),
        entries: sets * ways,
        ways: if lots.percent(10) { Ways::Full } else { Ways::Count(ways) },
        pages: lots.one_of(&[[512, 4096], [512, 8192], [4096, 512]]).to_vec(),
        policy: lots.one_of(&POLICIES[..POLICIES.len() - 1]),
        latency: 1,
        holds: lots.one_of(&[Holds::Unified, Holds::Unified, Holds::Data, Holds::Instructions]),
        shared: n > 0 && n >= private,
    }
}

/// A hierarchy of any such configuration that needs no future: all policies but OPT.
pub(crate) fn hierarchy(lots: &mut Rng) -> Hierarchy {
    Hierarchy::new(&without_future(lots)).expect("a sound configuration")
}

/// Any such configuration but with OPT, which has to know what comes.
pub(crate) fn without_future(lots: &mut Rng) -> HierarchyConfig {
    loop {
        let config = config(lots);
        if config.levels.iter().all(|level| level.policy != Policy::Opt) {
            return config;
        }
    }
}

/// Policies that look at one set alone.
fn of_one_set() -> Vec<Policy> {
    Policy::ALL.iter().copied().filter(|policy| !policy.about().crosses_sets).collect()
}

/// Levels that share two to five bits of their set numbers. Half of them are what the fast loops play.
pub(crate) fn parted(rng: &mut Rng) -> HierarchyConfig {
    let plain = rng.below(2) == 0;
    loop {
        let split = rng.below(4) == 0;
        let line = 16u32 << rng.below(3);
        let lines: Vec<u32> =
            (0..=rng.below(4)).map(|_| if plain { line } else { line << rng.below(2) >> rng.below(2) }).collect();
        let largest = lines.iter().max().copied().unwrap_or(line);
        let bits = 2 + rng.small(3);
        let levels = lines.iter().enumerate().map(|(n, &line)| {
            let odd = if plain { 1 } else { rng.one_of(&[1, 1, 3, 5]) };
            let sets = (largest / line) << bits << rng.small(3);
            let ways = rng.one_of(&[1, 2, 4, 8]);
            let bytes = u64::from(odd * sets * ways * line) << n;
            let mut level = LevelConfig::new(format!("L{n}"), n, bytes, Ways::Count(ways), line);
            if !plain {
                level.policy = rng.one_of(&of_one_set());
                level.write = rng.one_of(&[WritePolicy::Back, WritePolicy::Back, WritePolicy::Through]);
                level.allocate = rng.one_of(&[Allocate::Write, Allocate::Write, Allocate::None]);
                if n > 0 {
                    level.inclusion = rng.one_of(&[Inclusion::Nine, Inclusion::Inclusive, Inclusion::Exclusive]);
                }
                if rng.below(4) == 0 {
                    level.sector = Some(line / rng.one_of(&[1, 2, 4]));
                }
            }
            if split && n < 2 {
                level.holds = [Holds::Data, Holds::Instructions][n];
            }
            level
        });
        let mut config = HierarchyConfig::new("shared bits", levels.collect());
        config.data_only = rng.below(6) == 0;
        config.order.writeback_first = !plain && rng.below(3) == 0;
        config.order.fetch_on_full_line_write = !plain && rng.below(3) == 0;
        config.seed = rng.below(1 << 40);
        let fits = Hierarchy::new(&config).is_ok_and(|h| Shards::new(h, 4).count().is_ok());
        if fits {
            return config;
        }
    }
}
