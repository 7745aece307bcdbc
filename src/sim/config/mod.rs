//! Which caches: the values a configuration file, a preset or flags give, and the checks they pass before a level exists.
//!
//! The file's form is documented by the presets in `src/sim/presets/`; `orrery caches NAME` prints one with every key.

mod error;
mod parse;
mod presets;
mod size;

pub use error::{ConfigError, Place};
pub use parse::nearest;
pub use presets::{Preset, preset, presets};
pub use size::{format_size, parse_size};

use super::policy::FLAG_BITS;
use super::{Geometry, Policy};
use std::fmt::Write as _;

/// Levels of one hierarchy at most.
pub const MAX_LEVELS: usize = 8;
/// Bytes in a line at most: a 1 GiB page, should the level be a TLB.
pub const MAX_LINE: u32 = 1 << 30;
/// Lines in a level at most: 4 GiB of 64-byte lines, half a GiB of simulator state.
pub const MAX_LINES: u64 = 1 << 26;
/// Characters in a name at most.
pub const MAX_NAME: usize = 32;

/// A hierarchy of caches, from the CPU outward.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HierarchyConfig {
    /// Name for people.
    pub name: String,
    /// From the CPU outward, 1 to [`MAX_LEVELS`].
    pub levels: Vec<LevelConfig>,
    /// What lies behind the last level.
    pub memory: MemoryConfig,
    /// Drop instruction fetches.
    pub data_only: bool,
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
}

impl Default for MemoryConfig {
    fn default() -> Self {
        Self { latency: 200 }
    }
}

/// What a store does to the next level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WritePolicy {
    /// Nothing, until its line is evicted (`"back"`).
    #[default]
    Back,
}

/// What a store miss does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Allocate {
    /// Brings the line in (`"write"`).
    #[default]
    Write,
}

/// Relation of a level to the levels inside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inclusion {
    /// Neither inclusive nor exclusive: each keeps what it likes (`"nine"`).
    #[default]
    Nine,
}

/// What a level holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Holds {
    /// Data and instructions (`"unified"`).
    #[default]
    Unified,
}

/// What a level fetches unasked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prefetch {
    /// Nothing (`"none"`).
    #[default]
    None,
}

/// A policy by the word that files and flags use; `place` is where it was written.
///
/// # Errors
/// Where the word is unknown, or known but not simulated yet.
pub fn parse_policy(word: &str, place: Box<Place>) -> Result<Policy, ConfigError> {
    parse::from_word(word, place)
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
        }
    }

    /// The level's shape, if it has one.
    fn geometry(&self, place: impl Fn(&'static str) -> Box<Place>) -> Result<Geometry, ConfigError> {
        let zero = |field| Err(ConfigError::Zero { place: place(field), field });
        if self.name.is_empty() || self.name.chars().count() > MAX_NAME || self.name.chars().any(char::is_control) {
            return Err(ConfigError::BadName { place: place("name"), name: self.name.clone() });
        }
        let line = self.line;
        if line == 0 {
            return zero("line");
        }
        if !line.is_power_of_two() {
            return Err(ConfigError::NotPowerOfTwo { place: place("line"), field: "line", value: u64::from(line) });
        }
        if line > MAX_LINE {
            let (value, max) = (u64::from(line), u64::from(MAX_LINE));
            return Err(ConfigError::OutOfRange { place: place("line"), field: "line", value, min: 1, max });
        }
        if self.size == 0 {
            return zero("size");
        }
        if self.ways == Ways::Count(0) {
            return zero("ways");
        }
        if self.latency == 0 {
            return zero("latency");
        }
        let lines = self.size / u64::from(line);
        if lines > MAX_LINES {
            return Err(ConfigError::TooManyLines { place: place("size"), size: self.size, line });
        }
        let ways = match self.ways {
            Ways::Count(n) => u64::from(n),
            Ways::Full => lines.max(1),
        };
        if ways > lines {
            return Err(ConfigError::WaysExceedLines { place: place("ways"), ways, lines, size: self.size, line });
        }
        if !self.size.is_multiple_of(u64::from(line) * ways) {
            return Err(ConfigError::NotDivisible { place: place("size"), size: self.size, line, ways });
        }
        let (Ok(sets), Ok(ways)) = (u32::try_from(lines / ways), u32::try_from(ways)) else {
            return Err(ConfigError::TooManyLines { place: place("size"), size: self.size, line });
        };
        // A word keeps the tag above its flags; see `Geometry::tag_of`.
        let implied = line.trailing_zeros() + if sets.is_power_of_two() { sets.trailing_zeros() } else { 0 };
        if implied < FLAG_BITS {
            return Err(ConfigError::LineTooSmall { place: place("line"), line, sets });
        }
        Ok(Geometry::new(sets, ways, line))
    }
}

impl HierarchyConfig {
    /// Reads TOML; `origin` is what errors call it (a path). Every key is known, every value checked.
    ///
    /// # Errors
    /// A [`ConfigError`] that names the place, the finding, and what is allowed.
    pub fn from_toml(text: &str, origin: &str) -> Result<Self, ConfigError> {
        parse::hierarchy(text, origin)
    }

    /// The shape of each level, once everything is found to be sound.
    ///
    /// # Errors
    /// The first fault found, from the CPU outward.
    pub fn check(&self) -> Result<Vec<Geometry>, ConfigError> {
        self.check_at(|level, _| {
            Box::new(Place {
                origin: self.name.clone(),
                line: None,
                level: level.map(|n| (n + 1, self.levels[n].name.clone())),
            })
        })
    }

    /// [`HierarchyConfig::check`] with places: of a field of a level (by index), or of the whole (`None`).
    fn check_at(
        &self,
        place: impl Fn(Option<usize>, &'static str) -> Box<Place>,
    ) -> Result<Vec<Geometry>, ConfigError> {
        if self.levels.is_empty() {
            return Err(ConfigError::NoLevels { place: place(None, "level") });
        }
        if self.levels.len() > MAX_LEVELS {
            return Err(ConfigError::TooManyLevels { place: place(None, "level"), found: self.levels.len() });
        }
        let mut geometries = Vec::with_capacity(self.levels.len());
        for (n, level) in self.levels.iter().enumerate() {
            geometries.push(level.geometry(|field| place(Some(n), field))?);
            if self.levels[..n].iter().any(|inner| inner.name == level.name) {
                return Err(ConfigError::DuplicateName { place: place(Some(n), "name"), name: level.name.clone() });
            }
        }
        if self.memory.latency == 0 {
            return Err(ConfigError::Zero { place: place(None, "memory.latency"), field: "memory.latency" });
        }
        Ok(geometries)
    }

    /// The file that [`HierarchyConfig::from_toml`] reads back as this, with every key written out.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let quoted = |text: &str| toml::Value::from(text).to_string();
        let mut out = format!("name = {}\n", quoted(&self.name));
        if self.data_only {
            out.push_str("data_only = true\n");
        }
        for level in &self.levels {
            let ways = match level.ways {
                Ways::Count(n) => n.to_string(),
                Ways::Full => "\"full\"".into(),
            };
            // Writing to a String cannot fail.
            let _ = write!(
                out,
                "\n[[level]]\nname = {}\nsize = \"{}\"\nline = {}\nways = {ways}\npolicy = \"{}\"\nwrite = \"{}\"\n\
                 allocate = \"{}\"\ninclusion = \"{}\"\nlatency = {}\nholds = \"{}\"\nshared = {}\nprefetch = \"{}\"\n",
                quoted(&level.name),
                format_size(level.size),
                level.line,
                parse::word(&level.policy),
                parse::word(&level.write),
                parse::word(&level.allocate),
                parse::word(&level.inclusion),
                level.latency,
                parse::word(&level.holds),
                level.shared,
                parse::word(&level.prefetch),
            );
        }
        let _ = write!(out, "\n[memory]\nlatency = {}\n", self.memory.latency);
        out
    }
}
