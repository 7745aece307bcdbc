//! What a GPU is made of, as TOML says it.

use crate::sim::config::{Allocate, HierarchyConfig, LevelConfig, Ways, WritePolicy};
use crate::sim::{Hierarchy, config::ConfigError};
use serde::{Deserialize, Serialize};

/// A GPU: a dispatcher, compute units in shader arrays, their caches, L2 banks and DRAM channels. Times are cycles of the core's clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GpuConfig {
    /// What it is called.
    pub name: String,
    /// Where the numbers are from, and how far they are held to be true.
    pub source: String,
    /// The core's clock, MHz.
    pub clock: u32,
    /// Work-groups that the dispatcher starts at a time, at most.
    pub dispatch: u32,
    /// Cycles from one such time to the next.
    pub dispatch_cycles: u32,
    /// Shader arrays.
    pub arrays: u32,
    /// Compute units in each.
    pub units: u32,
    /// SIMD units in a compute unit.
    pub simds: u32,
    /// Wavefronts that a SIMD unit holds, at most.
    pub slots: u32,
    /// Work-items of a wavefront: 32 or 64.
    pub wavefront: u32,
    /// Cycles of a SIMD unit for one vector instruction.
    pub issue: u32,
    /// Local memory of a compute unit, bytes.
    pub local: u64,
    /// Cycles until local memory answers.
    pub local_latency: u32,
    /// Cycles between a unit's caches and an L2 bank, one way.
    pub network: u32,
    /// Bytes that stay in one L2 bank (and one DRAM channel) before the next one begins.
    pub interleave: u64,
    /// The vector cache of each compute unit.
    pub vector: GpuCache,
    /// The scalar cache of each shader array; none: scalar loads go to the vector cache.
    pub scalar: Option<GpuCache>,
    /// One of the L2 banks.
    pub l2: GpuCache,
    /// L2 banks.
    pub banks: u32,
    /// Address translation; none: addresses need none.
    pub tlb: Option<GpuTlb>,
    /// A DRAM channel.
    pub dram: GpuDram,
}

/// A cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GpuCache {
    /// Bytes.
    pub size: u64,
    /// Lines in a set.
    pub ways: u32,
    /// Bytes of a line.
    pub line: u32,
    /// Bytes that are asked for at once: a sector, or the line.
    pub sector: u32,
    /// Cycles until it knows whether it has them.
    pub latency: u32,
    /// Misses under way at once, at most.
    pub mshr: u32,
    /// Requests that wait to be looked at, at most.
    pub queue: u32,
    /// What it does with stores.
    pub write: GpuWrite,
}

/// What a cache does with stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GpuWrite {
    /// Keeps them until the line is evicted.
    Back,
    /// Sends them on, and brings the line in.
    Through,
    /// Sends them on; what it does not hold it does not bring in.
    Around,
}

/// Address translation: a TLB for each compute unit, one behind them all, and walks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GpuTlb {
    /// Bytes of a page.
    pub page: u32,
    /// Pages that the TLB of a unit holds, and in how many ways.
    pub entries: u32,
    /// Its ways.
    pub ways: u32,
    /// Its cycles.
    pub latency: u32,
    /// Misses under way in it at once.
    pub mshr: u32,
    /// Pages that the TLB behind holds.
    pub second_entries: u32,
    /// Its ways.
    pub second_ways: u32,
    /// Its cycles.
    pub second_latency: u32,
    /// Cycles of a walk.
    pub walk: u32,
    /// Walks at once, at most.
    pub walkers: u32,
}

/// A DRAM channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GpuDram {
    /// Cycles where the row is open.
    pub row_hit: u32,
    /// Cycles where it is not.
    pub row_miss: u32,
    /// Cycles from one request to the next.
    pub interval: u32,
    /// Banks of a channel, each with a row that is open.
    pub banks: u32,
    /// Bytes of a row.
    pub row: u64,
    /// Requests that wait, at most.
    pub queue: u32,
}

/// GPUs that there are: names and their TOML.
const PRESETS: [(&str, &str); 7] = [
    ("r9nano", include_str!("presets/r9nano.toml")),
    ("mi300a", include_str!("presets/mi300a.toml")),
    ("v100", include_str!("presets/v100.toml")),
    ("rtx2060", include_str!("presets/rtx2060.toml")),
    ("rtx3070", include_str!("presets/rtx3070.toml")),
    ("a100", include_str!("presets/a100.toml")),
    ("h100", include_str!("presets/h100.toml")),
];

/// Names of the GPUs that there are.
pub fn names() -> impl ExactSizeIterator<Item = &'static str> {
    PRESETS.iter().map(|(name, _)| *name)
}

/// The TOML of a GPU that there is.
#[must_use]
pub fn preset_text(name: &str) -> Option<&'static str> {
    PRESETS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// Why a description makes no GPU.
#[derive(Debug, thiserror::Error)]
pub enum GpuError {
    /// Not TOML, or not its keys.
    #[error("{0}")]
    Syntax(#[from] toml::de::Error),
    /// A value that cannot work.
    #[error("{place}: found {found}; expected {expected}")]
    Value {
        /// Which.
        place: &'static str,
        /// What was found.
        found: String,
        /// What works.
        expected: &'static str,
    },
    /// A cache that cannot be.
    #[error("{place}: {error}")]
    Cache {
        /// Which.
        place: &'static str,
        /// What is wrong with it.
        error: ConfigError,
    },
}

/// Most of anything: units, banks, entries of queues.
const MOST: u32 = 1 << 16;

impl GpuConfig {
    /// Reads TOML and checks it.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn from_toml(text: &str) -> Result<Self, GpuError> {
        let config: Self = toml::from_str(text)?;
        config.check()?;
        Ok(config)
    }

    /// Compute units in all.
    #[must_use]
    pub fn units_in_all(&self) -> u32 {
        self.arrays.saturating_mul(self.units)
    }

    /// Checks that it can work.
    ///
    /// # Errors
    /// The first value that cannot.
    pub fn check(&self) -> Result<(), GpuError> {
        let value = |place, found: u64, expected| GpuError::Value { place, found: found.to_string(), expected };
        let counts: [(&'static str, u32); 14] = [
            ("clock", self.clock),
            ("dispatch", self.dispatch),
            ("dispatch_cycles", self.dispatch_cycles),
            ("arrays", self.arrays),
            ("units", self.units),
            ("simds", self.simds),
            ("slots", self.slots),
            ("issue", self.issue),
            ("banks", self.banks),
            ("vector.queue", self.vector.queue),
            ("l2.queue", self.l2.queue),
            ("dram.queue", self.dram.queue),
            ("dram.banks", self.dram.banks),
            ("dram.interval", self.dram.interval),
        ];
        for (place, found) in counts {
            if !(1..=MOST).contains(&found) {
                return Err(value(place, found.into(), "1 to 65,536"));
            }
        }
        if self.units_in_all() > 4096 {
            return Err(value("arrays", self.units_in_all().into(), "4,096 compute units at most in all"));
        }
        if ![32, 64].contains(&self.wavefront) {
            return Err(value("wavefront", self.wavefront.into(), "32 or 64 work-items"));
        }
        let of_line = u64::from(self.l2.line);
        if !self.interleave.is_power_of_two() || self.interleave < of_line {
            return Err(value(
                "interleave",
                self.interleave,
                "a power of two, a line of L2 or more, so that no line is in two banks",
            ));
        }
        if !self.dram.row.is_power_of_two() || self.dram.row < of_line {
            return Err(value("dram.row", self.dram.row, "a power of two, a line of L2 or more"));
        }
        if self.dram.row_hit == 0 || self.dram.row_miss < self.dram.row_hit {
            return Err(value(
                "dram.row_miss",
                self.dram.row_miss.into(),
                "no less than dram.row_hit, and that 1 or more",
            ));
        }
        let caches = [("vector", Some(&self.vector)), ("scalar", self.scalar.as_ref()), ("l2", Some(&self.l2))];
        for (place, cache) in caches {
            let Some(cache) = cache else { continue };
            if cache.mshr == 0 || cache.queue == 0 || cache.latency == 0 {
                return Err(value(place, 0, "1 or more for mshr, queue and latency"));
            }
            if !cache.sector.is_power_of_two() || cache.sector > cache.line || cache.sector < 16 {
                return Err(value(
                    place,
                    cache.sector.into(),
                    "a sector of 16 bytes or more, a power of two, no larger than the line",
                ));
            }
            if cache.line > self.l2.line {
                return Err(value(place, cache.line.into(), "a line no larger than that of L2"));
            }
            Hierarchy::new(&cache.hierarchy(place)).map_err(|error| GpuError::Cache { place, error })?;
        }
        if let Some(tlb) = &self.tlb {
            if tlb.walkers == 0 || tlb.mshr == 0 || tlb.latency == 0 || tlb.second_latency == 0 || tlb.walk == 0 {
                return Err(value("tlb", 0, "1 or more for walkers, mshr, latency, second_latency and walk"));
            }
            for second in [false, true] {
                Hierarchy::new(&tlb.hierarchy(second)).map_err(|error| GpuError::Cache { place: "tlb", error })?;
            }
        }
        Ok(())
    }
}

impl GpuCache {
    /// Its lines, as the simulator of caches has them.
    pub(super) fn hierarchy(&self, name: &str) -> HierarchyConfig {
        let mut level = LevelConfig::new(name, 0, self.size, Ways::Count(self.ways), self.line);
        level.sector = (self.sector < self.line).then_some(self.sector);
        (level.write, level.allocate) = match self.write {
            GpuWrite::Back => (WritePolicy::Back, Allocate::Write),
            GpuWrite::Through => (WritePolicy::Through, Allocate::Write),
            GpuWrite::Around => (WritePolicy::Through, Allocate::None),
        };
        HierarchyConfig::new(name, vec![level])
    }
}

impl GpuTlb {
    /// Its pages, as the simulator of caches has lines.
    pub(super) fn hierarchy(&self, second: bool) -> HierarchyConfig {
        let (entries, ways) = if second { (self.second_entries, self.second_ways) } else { (self.entries, self.ways) };
        let size = u64::from(entries) * u64::from(self.page);
        let name = if second { "L2TLB" } else { "TLB" };
        HierarchyConfig::new(name, vec![LevelConfig::new(name, 0, size, Ways::Count(ways), self.page)])
    }
}

/// A GPU by its name; `None`: there is none of this name.
#[must_use]
pub fn preset(name: &str) -> Option<GpuConfig> {
    GpuConfig::from_toml(preset_text(name)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_works_and_has_the_figures_of_its_source() {
        let l2 = |name: &str| {
            let config =
                GpuConfig::from_toml(preset_text(name).expect("there")).unwrap_or_else(|e| panic!("{name}: {e}"));
            (config.units_in_all(), u64::from(config.banks) * config.l2.size)
        };
        let mib = 1 << 20;
        for (name, expected) in [
            ("r9nano", (64, 2 * mib)),
            ("mi300a", (120, 32 * mib)),
            ("v100", (80, 6 * mib)),
            ("rtx2060", (30, 3 * mib)),
            ("rtx3070", (46, 4 * mib)),
            ("a100", (108, 40 * mib)),
            ("h100", (132, 50 * mib)),
        ] {
            assert_eq!(l2(name), expected, "{name}");
        }
        assert_eq!(names().count(), 7);
        assert!(preset("r9").is_none());
    }

    #[test]
    fn what_cannot_work_is_answered_with_what_does() {
        let text = preset_text("r9nano").expect("there");
        let wrong = |from: &str, to: &str| {
            assert!(text.contains(from), "{from}");
            GpuConfig::from_toml(&text.replacen(from, to, 1)).expect_err("it cannot work").to_string()
        };
        assert_eq!(wrong("banks = 16\n", "banks = 0\n"), "banks: found 0; expected 1 to 65,536");
        assert!(wrong("interleave = 128", "interleave = 32").contains("so that no line is in two banks"));
        assert!(wrong("wavefront = 64", "wavefront = 48").contains("found 48; expected 32 or 64"));
        assert!(wrong("dispatch = 1", "dispatched = 1").contains("unknown field `dispatched`"));
        assert!(wrong("ways = 4", "ways = 5").starts_with("vector: "));
    }
}
