//! Which caches: the values a configuration file, a preset or flags give, and the checks they pass before a level exists.
//!
//! The file's form is documented by the presets in `src/sim/presets/`; `orrery caches NAME` prints one with every key.

mod annotated;
mod check;
mod error;
mod nearest;
mod parse;
mod presets;
mod scores;
mod size;
mod suited;
mod words;
mod write;

pub use check::Shapes;
pub use error::{ConfigError, Place};
pub use nearest::nearest;
pub use presets::{Preset, preset, presets};
pub use scores::{MissScore, Score};
pub use size::{format_size, parse_size};
pub use suited::{SMALL, Touched};

use super::{Index, Policy};

/// Levels of one hierarchy at most.
pub const MAX_LEVELS: usize = 8;
/// Bytes in a line at most: a 1 GiB page, should the level be a TLB.
pub const MAX_LINE: u32 = 1 << 30;
/// Lines in a level at most: 4 GiB of 64-byte lines, half a GiB of simulator state.
pub const MAX_LINES: u64 = 1 << 26;
/// Lines of all caches and entries of all TLBs together, those of every core counted: each takes some ten bytes.
pub const MAX_ALL_LINES: u64 = 1 << 26;
/// Characters in a name at most.
pub const MAX_NAME: usize = 32;
/// Cores at most.
pub const MAX_CORES: u16 = 512;
/// Caches at most, those of every core counted.
pub const MAX_CACHES: usize = 2048;
/// Sectors in a line at most.
pub const MAX_SECTORS: u32 = 32;

/// A hierarchy of caches, from the CPU outward.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HierarchyConfig {
    /// Name for people.
    pub name: String,
    /// Cores, 1 to [`MAX_CORES`]: each has its own caches of every level that is not shared.
    pub cores: u16,
    /// From the CPU outward, 1 to [`MAX_LEVELS`].
    pub levels: Vec<LevelConfig>,
    /// Translation buffers, from the CPU outward, up to [`MAX_LEVELS`].
    pub tlbs: Vec<TlbConfig>,
    /// What lies behind the last level.
    pub memory: MemoryConfig,
    /// Drop instruction fetches.
    pub data_only: bool,
    /// Orders on which honest simulators differ.
    pub order: OrderConfig,
    /// Seed of the policies that draw lots (`random`, `brrip`, `drrip`).
    pub seed: u64,
}

/// One level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelConfig {
    /// Shown on the ring, and a key of the statistics: unique.
    pub name: String,
    /// Bytes it holds: `sets * ways * line`.
    pub size: u64,
    /// Bytes in a line, a power of two.
    pub line: u32,
    /// Lines in a set.
    pub ways: Ways,
    /// Who leaves a full set.
    pub policy: Policy,
    /// What a store does to the next level.
    pub write: WritePolicy,
    /// What a store miss does.
    pub allocate: Allocate,
    /// Relation to the levels inside it.
    pub inclusion: Inclusion,
    /// Cycles until it answers, 1 or more.
    pub latency: u32,
    /// What it holds.
    pub holds: Holds,
    /// One for all cores, or one each. The same thing as long as there is one core.
    pub shared: bool,
    /// What it fetches unasked.
    pub prefetch: Prefetch,
    /// Bytes of a sector, the part of a line that is fetched and written back by itself; `None` = the whole line.
    pub sector: Option<u32>,
    /// Which set a line belongs to.
    pub index: Index,
    /// Slices of an [`Index::Slice`] level: 2, 4 or 8; `None` elsewhere.
    pub slices: Option<u32>,
    /// What a hit adds to its temperature.
    pub hit_score: Score,
    /// What a miss takes off; `None` = what is usual at its place: see [`HierarchyConfig::miss_score`].
    pub miss_score: Option<MissScore>,
}

/// One translation buffer: its lines are pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlbConfig {
    /// Shown, and unique among levels and TLBs.
    pub name: String,
    /// Pages it holds: `sets * ways`.
    pub entries: u32,
    /// Entries in a set.
    pub ways: Ways,
    /// Page sizes it can hold, bytes, each a power of two. It is used where [`MemoryConfig::page`] is among them.
    pub pages: Vec<u32>,
    /// Who leaves a full set.
    pub policy: Policy,
    /// Cycles until it answers, 1 or more.
    pub latency: u32,
    /// Whose addresses it translates.
    pub holds: Holds,
    /// One for all cores, or one each.
    pub shared: bool,
}

/// Lines in a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ways {
    /// So many.
    Count(u32),
    /// All: one set (`"full"`). Its lookup takes time in proportion to its lines.
    Full,
}

/// What lies behind the last level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryConfig {
    /// Cycles until it answers, 1 or more.
    pub latency: u32,
    /// Bytes of a page, a power of two: 4 KiB to 1 GiB on real machines.
    pub page: u32,
}

/// The page of most machines: 4 KiB.
pub const PAGE: u32 = 4096;

impl Default for MemoryConfig {
    fn default() -> Self {
        Self { latency: 200, page: PAGE }
    }
}

/// Orders on which honest simulators differ; both off by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OrderConfig {
    /// A miss writes its dirty victim back before it asks the next level for the line.
    pub writeback_first: bool,
    /// A store that covers a whole line fetches it all the same.
    pub fetch_on_full_line_write: bool,
}

/// What a store does to the next level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WritePolicy {
    /// Nothing, until its line is evicted (`"back"`).
    #[default]
    Back,
    /// It is sent on at once; lines stay clean (`"through"`).
    Through,
}

/// What a store miss does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Allocate {
    /// Brings the line in (`"write"`).
    #[default]
    Write,
    /// Sends the store on (`"none"`). A line that an inner level writes back is no store: it is kept.
    None,
}

/// Relation of a level to the levels inside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inclusion {
    /// Neither inclusive nor exclusive: each keeps what it likes (`"nine"`).
    #[default]
    Nine,
    /// What it evicts leaves the inner levels too (`"inclusive"`).
    Inclusive,
    /// Filled by the victims of the level inside only; what it is asked for moves inward (`"exclusive"`). A small one is a
    /// victim cache (Jouppi 1990).
    Exclusive,
}

/// What a level holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Holds {
    /// Data and instructions (`"unified"`).
    #[default]
    Unified,
    /// Data (`"data"`).
    Data,
    /// Instructions (`"instructions"`).
    Instructions,
}

impl Holds {
    /// Whether it holds what loads and stores (`fetch` = false) or fetches ask for.
    #[must_use]
    pub fn serves(self, fetch: bool) -> bool {
        match self {
            Self::Unified => true,
            Self::Data => !fetch,
            Self::Instructions => fetch,
        }
    }
}

/// What a level fetches unasked; the mechanisms are in `sim::prefetch`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prefetch {
    /// Nothing (`"none"`).
    #[default]
    None,
    /// The line after one that missed (`"next-line"`).
    NextLine,
    /// The next line of a load that strides (`"stride"`).
    Stride,
    /// The lines ahead of a stream of misses (`"stream"`).
    Stream,
}

/// A policy by the word that files and flags use; `place` is where it was written.
///
/// # Errors
/// Where the word is unknown.
pub fn parse_policy(word: &str, place: Box<Place>) -> Result<Policy, ConfigError> {
    words::from_word(word, place)
}

impl LevelConfig {
    /// LRU, write-back, write-allocate, NINE, with the latency usual at that place (`index` 0 = innermost).
    #[must_use]
    pub fn new(name: impl Into<String>, index: usize, size: u64, ways: Ways, line: u32) -> Self {
        const LATENCIES: [u32; MAX_LEVELS] = [4, 12, 40, 60, 80, 100, 120, 140];
        Self {
            name: name.into(),
            size,
            line,
            ways,
            policy: Policy::default(),
            write: WritePolicy::default(),
            allocate: Allocate::default(),
            inclusion: Inclusion::default(),
            latency: LATENCIES[index.min(MAX_LEVELS - 1)],
            holds: Holds::default(),
            shared: false,
            prefetch: Prefetch::default(),
            sector: None,
            index: Index::default(),
            slices: None,
            hit_score: Score::ONE,
            miss_score: None,
        }
    }
}

impl HierarchyConfig {
    /// One core, no TLB, usual memory, both order options off, seed 1.
    #[must_use]
    pub fn new(name: impl Into<String>, levels: Vec<LevelConfig>) -> Self {
        Self {
            name: name.into(),
            cores: 1,
            levels,
            tlbs: Vec::new(),
            memory: MemoryConfig::default(),
            data_only: false,
            order: OrderConfig::default(),
            seed: 1,
        }
    }

    /// Reads TOML; `origin` is what errors call it (a path). Every key is known, every value checked.
    ///
    /// # Errors
    /// A [`ConfigError`] that names the place, the finding, and what is allowed.
    pub fn from_toml(text: &str, origin: &str) -> Result<Self, ConfigError> {
        parse::hierarchy(text, origin)
    }

    /// The same for all configurations that make the same of every trace: without names and scores, without latencies where no prefetcher
    /// can be late, without the seed where nobody draws lots. What it says in their place means nothing.
    #[must_use]
    pub fn simulated(&self) -> Self {
        let mut out = self.clone();
        let late = self.levels.iter().any(|level| level.prefetch != Prefetch::None);
        let draws = |policy: Policy| policy.about().draws;
        if !self.levels.iter().map(|level| level.policy).chain(self.tlbs.iter().map(|tlb| tlb.policy)).any(draws) {
            out.seed = 0;
        }
        out.name = String::new();
        for (level, n) in out.levels.iter_mut().zip(1..) {
            level.name = format!("{n}");
            level.latency = if late { level.latency } else { 1 };
            level.shared &= self.cores > 1;
            (level.hit_score, level.miss_score) = (Score::ONE, None);
        }
        for (tlb, n) in out.tlbs.iter_mut().zip(1..) {
            tlb.name = format!("TLB {n}");
            tlb.latency = 1;
            tlb.shared &= self.cores > 1;
        }
        out.memory.latency = if late { self.memory.latency } else { 1 };
        if self.tlbs.is_empty() {
            out.memory.page = PAGE;
        }
        out
    }
}
