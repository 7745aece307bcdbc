//! Random configurations and traces, the same in every run: hot and small, so that everything collides.

use orrery::reference::{Kind, Reference};
use orrery::sim::config::{
    Allocate, HierarchyConfig, Holds, Inclusion, LevelConfig, Prefetch, TlbConfig, Ways, WritePolicy,
};
use orrery::sim::{Index, Policy};

/// All policies.
pub(crate) const POLICIES: [Policy; 11] = [
    Policy::Lru,
    Policy::Fifo,
    Policy::Random,
    Policy::TreePlru,
    Policy::BitPlru,
    Policy::Srrip,
    Policy::Brrip,
    Policy::Drrip,
    Policy::Lfu,
    Policy::Mru,
    Policy::Opt,
];

/// A source of lots: a xorshift generator (Marsaglia 2003), reproducible from its seed.
pub(crate) struct Lots(u64);

impl Lots {
    pub(crate) fn new(seed: u64) -> Self {
        let mut lots = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..8 {
            lots.draw();
        }
        lots
    }

    fn draw(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    /// From 0, less than `n`.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.draw() % n
    }

    /// True `n` times in a hundred.
    pub(crate) fn percent(&mut self, n: u64) -> bool {
        self.below(100) < n
    }

    pub(crate) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[usize::try_from(self.below(all.len() as u64)).unwrap()]
    }
}

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

/// A sound configuration of 1 to 4 levels.
pub(crate) fn config(lots: &mut Lots) -> HierarchyConfig {
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

fn attempt(lots: &mut Lots, wish: Wish) -> HierarchyConfig {
    let Wish { theme, levels, cores, relation } = wish;
    let line = lots.one_of(&[4, 8, 16, 32, 32, 64, 64]);
    let related = relation != Inclusion::Nine;
    let varied = lots.percent(if related { 25 } else { 40 });
    let wild = theme == Theme::Wild;
    let split = lots.percent(25);
    // Private as far as this level.
    let private = lots.below(levels + 1);
    let level = |n: u64, lots: &mut Lots| {
        let line = if varied { line * lots.one_of(&[1, 1, 2, 4]) } else { line };
        let sets = lots.one_of(&[1, 1, 2, 2, 3, 4, 4, 5, 8, 8, 64]);
        let most = if sets > 8 { 2 } else { 4 };
        let ways = lots.one_of(&[1, 2, 3, 4, 8].as_slice()[..most + usize::from(sets < 3)]);
        let full = sets < 8 && lots.percent(8);
        let size = u64::from(sets * ways * line) << if related { n.min(2) } else { 0 };
        let ways = if full { Ways::Full } else { Ways::Count(ways) };
        let mut level = LevelConfig::new(format!("L{}", n + 1), 0, size, ways, line);
        level.policy = lots.one_of(if theme == Theme::Plain { &POLICIES } else { &POLICIES[..10] });
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

fn tlb(n: u64, private: u64, lots: &mut Lots) -> TlbConfig {
    let (sets, ways) = (lots.one_of(&[1, 1, 2, 3, 4]), lots.one_of(&[1, 2, 3, 4]));
    TlbConfig {
        name: format!("TLB{}", n + 1),
        entries: sets * ways,
        ways: if lots.percent(10) { Ways::Full } else { Ways::Count(ways) },
        pages: lots.one_of(&[[512, 4096], [512, 8192], [4096, 512]]).to_vec(),
        policy: lots.one_of(&POLICIES[..10]),
        latency: 1,
        holds: lots.one_of(&[Holds::Unified, Holds::Unified, Holds::Data, Holds::Instructions]),
        shared: n > 0 && n >= private,
    }
}

/// References to a few lines near one place, for a machine of so many cores.
pub(crate) fn trace(lots: &mut Lots, config: &HierarchyConfig) -> Vec<Reference> {
    let line = u64::from(config.levels.iter().map(|level| level.line).max().unwrap_or(1));
    let span = line * lots.one_of(&[4, 8, 12, 16, 24, 48]);
    // From the bottom, across a page's end, up to the top of all addresses, and somewhere.
    let base = lots.one_of(&[0, 0, 4096 - (span / 2).min(4096), 0u64.wrapping_sub(span), 0x7f12_3456_7000]);
    let top = u64::MAX - base;
    let count = lots.one_of(&[20, 60, 120, 200]);
    let mut trace = Vec::new();
    let stores = lots.one_of(&[20, 45, 70]);
    while trace.len() < count {
        let core = u16::try_from(lots.below(config.cores.into())).unwrap();
        let walk = lots.percent(25);
        // Walks of one instruction, up or down; else one reference anywhere.
        let steps = if walk { 3 + lots.below(8) } else { 1 };
        let pc = if walk || lots.percent(50) { lots.one_of(&[1, 2, 3, 4, 0x101, 0x40_0104]) } else { 0 };
        let kind = match lots.below(100) {
            n if n < stores => Kind::Write,
            n if n < stores + 7 => Kind::Modify,
            n if n < stores + 20 => Kind::Fetch,
            _ => Kind::Read,
        };
        let size = match lots.below(10) {
            0..6 => lots.one_of(&[1, 2, 4, 8]),
            6 => lots.below(3 * line) + 1,
            7 => line * lots.one_of(&[1, 1, 2, 3]),
            8 => line / 2,
            _ => lots.below(line) + 1,
        };
        let size = size.max(1);
        let align = if lots.percent(60) { size.min(line).next_power_of_two() } else { 1 };
        let (from, stride) = (lots.below(span), lots.one_of(&[line, line, line / 2, 8, 2 * line, 3 * line + 4]));
        let down = lots.percent(30);
        for step in 0..steps {
            let moved = step * stride % span;
            let at = (if down { from + span - moved } else { from + moved } % (2 * span)).min(top);
            let addr = (base + at) & !(align - 1);
            let size = u32::try_from(size).unwrap();
            trace.push(Reference { pc, core, ..Reference::new(kind, addr, size) });
        }
    }
    trace
}
