//! The rows of the tables beside the picture, as values.

use crate::reference::LoopsAt;
use crate::scene::Shade;
use crate::scene::palette::Rgba;

/// One region's row.
#[derive(Clone, Debug, PartialEq)]
pub struct RegionRow {
    /// Its declaration: `A[16][16]`.
    pub name: String,
    /// Its bare name, where there is no room for the declaration.
    pub short: String,
    /// Its colour.
    pub color: Rgba,
    /// How much of it is seen in the picture.
    pub shade: Shade,
    /// References so far.
    pub references: u64,
    /// Innermost level's misses so far.
    pub misses: u64,
    /// Innermost level's misses for each reference so far, 0 and up; `None` before the first.
    pub miss_rate: Option<f64>,
}

/// One cache's row.
#[derive(Clone, Debug, PartialEq)]
pub struct CacheRow {
    /// `L1`.
    pub name: String,
    /// `32 KiB, 64 sets × 8 ways`.
    pub shape: String,
    /// Demand hits so far: of all but write-backs and prefetches.
    pub hits: u64,
    /// Demand misses so far.
    pub misses: u64,
    /// Share of demand accesses that hit, as in `stats`; `None` before the first.
    pub hit_rate: Option<f64>,
    /// -1 cold ..= 1 warm.
    pub temperature: f32,
    /// The core whose cache it is; `None` = the level, all its caches together.
    pub core: Option<u16>,
}

/// One TLB's row: of those of all cores together.
#[derive(Clone, Debug, PartialEq)]
pub struct TlbRow {
    /// `DTLB`.
    pub name: String,
    /// `64 entries, full`, `1,536, 12-way`.
    pub shape: String,
    /// Hits so far.
    pub hits: u64,
    /// Misses so far.
    pub misses: u64,
    /// Share of lookups that hit; `None` before the first.
    pub hit_rate: Option<f64>,
}

impl CacheRow {
    /// Share of demand accesses that missed; `None` before the first.
    #[must_use]
    pub fn miss_rate(&self) -> Option<f64> {
        self.hit_rate.map(|rate| 1.0 - rate)
    }
}

impl TlbRow {
    /// Share of lookups that missed; `None` before the first.
    #[must_use]
    pub fn miss_rate(&self) -> Option<f64> {
        self.hit_rate.map(|rate| 1.0 - rate)
    }
}

/// The reference under way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Now {
    /// `read  B[2][15]`; empty at the end of the trace.
    pub what: String,
    /// Number and colour of its region; the colour can be read.
    pub region: Option<usize>,
    /// See there.
    pub color: Option<Rgba>,
    /// What happens and why, a line each.
    pub why: Vec<String>,
    /// Source line's text; empty = unknown.
    pub code: String,
    /// `matmul.c:14`; empty = unknown.
    pub location: String,
    /// The loops that are under way, where the references are computed from loops.
    pub loops: Option<LoopsAt>,
}
