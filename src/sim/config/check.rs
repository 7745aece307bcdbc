//! What has to hold before a level exists: each level by itself, then the relations between levels.

use super::{
    ConfigError, HierarchyConfig, Inclusion, LevelConfig, MAX_ALL_LINES, MAX_CACHES, MAX_CORES, MAX_LEVELS, MAX_LINE,
    MAX_LINES, MAX_NAME, MAX_SECTORS, Place, Prefetch, TlbConfig, Ways,
};
use crate::shown::acts;
use crate::sim::policy::FLAG_BITS;
use crate::sim::{Geometry, Index, Policy};

/// What a place in a file is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The whole.
    Top,
    /// A level by its index.
    Level(usize),
    /// A TLB by its index.
    Tlb(usize),
    /// `[memory]`.
    Memory,
}

/// The shapes of all levels and TLBs of a sound configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shapes {
    /// One a level.
    pub levels: Vec<Geometry>,
    /// One a TLB, its lines pages of the size in use; `None` for one that cannot hold such pages.
    pub tlbs: Vec<Option<Geometry>>,
}

impl LevelConfig {
    /// The level's shape, if it has one.
    fn geometry(&self, place: &impl Fn(&'static str) -> Box<Place>) -> Result<Geometry, ConfigError> {
        let zero = |field| Err(ConfigError::Zero { place: place(field), field });
        check_name(&self.name, place)?;
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
        self.check_index(sets, place)?;
        check_policy(self.policy, sets, ways, place)?;
        self.check_sector(place)?;
        let geometry = Geometry::new(sets, ways, line, self.index, self.slices.unwrap_or(1));
        if geometry.implied_bits() < FLAG_BITS {
            return Err(ConfigError::LineTooSmall { place: place("line"), line, sets });
        }
        Ok(geometry)
    }

    fn check_index(&self, sets: u32, place: &impl Fn(&'static str) -> Box<Place>) -> Result<(), ConfigError> {
        if self.index != Index::Modulo && !sets.is_power_of_two() {
            return Err(ConfigError::IndexNeedsPowerOfTwo { place: place("index"), index: self.index, sets });
        }
        match (self.index, self.slices) {
            (Index::Slice, Some(slices)) if ![2, 4, 8].contains(&slices) || slices > sets => {
                Err(ConfigError::BadSlices { place: place("slices"), slices, sets })
            }
            (Index::Slice, None) => {
                Err(ConfigError::MissingKey { place: place("index"), key: "slices", example: "slices = 8" })
            }
            (Index::Modulo | Index::XorFold, Some(_)) => Err(ConfigError::SlicesUnused { place: place("slices") }),
            _ => Ok(()),
        }
    }

    fn check_sector(&self, place: &impl Fn(&'static str) -> Box<Place>) -> Result<(), ConfigError> {
        let Some(sector) = self.sector else { return Ok(()) };
        let line = self.line;
        if sector == 0 {
            return Err(ConfigError::Zero { place: place("sector"), field: "sector" });
        }
        if !sector.is_power_of_two() {
            let value = u64::from(sector);
            return Err(ConfigError::NotPowerOfTwo { place: place("sector"), field: "sector", value });
        }
        if sector > line || line / sector > MAX_SECTORS {
            let (min, max) = (u64::from((line / MAX_SECTORS).max(1)), u64::from(line));
            let value = u64::from(sector);
            return Err(ConfigError::OutOfRange { place: place("sector"), field: "sector", value, min, max });
        }
        Ok(())
    }

    /// Sectors of a line, 1 to [`MAX_SECTORS`].
    #[must_use]
    pub fn sectors(&self) -> u32 {
        self.sector.map_or(1, |sector| (self.line / sector.max(1)).max(1))
    }
}

fn check_name(name: &str, place: &impl Fn(&'static str) -> Box<Place>) -> Result<(), ConfigError> {
    if name.is_empty() || name.chars().count() > MAX_NAME || name.chars().any(acts) {
        return Err(ConfigError::BadName { place: place("name"), name: name.into() });
    }
    Ok(())
}

fn check_policy(
    policy: Policy,
    sets: u32,
    ways: u32,
    place: &impl Fn(&'static str) -> Box<Place>,
) -> Result<(), ConfigError> {
    let about = policy.about();
    if about.power_of_two_ways && !ways.is_power_of_two() {
        return Err(ConfigError::PolicyWays { place: place("ways"), policy, ways });
    }
    if sets < about.least_sets {
        return Err(ConfigError::PolicySets { place: place("policy"), policy, sets });
    }
    Ok(())
}

impl TlbConfig {
    /// Its shape for pages of `page` bytes; `None` where it cannot hold such.
    fn geometry(
        &self,
        page: u32,
        place: &impl Fn(&'static str) -> Box<Place>,
    ) -> Result<Option<Geometry>, ConfigError> {
        check_name(&self.name, place)?;
        for (field, value) in [("entries", self.entries), ("latency", self.latency)] {
            if value == 0 {
                return Err(ConfigError::Zero { place: place(field), field });
            }
        }
        if self.pages.is_empty() {
            return Err(ConfigError::MissingKey { place: place("pages"), key: "pages", example: "pages = [\"4KiB\"]" });
        }
        for &size in &self.pages {
            check_page("pages", size, place)?;
        }
        let ways = match self.ways {
            Ways::Count(0) => return Err(ConfigError::Zero { place: place("ways"), field: "ways" }),
            Ways::Count(n) => n,
            Ways::Full => self.entries,
        };
        if !self.entries.is_multiple_of(ways) {
            return Err(ConfigError::TlbWays { place: place("ways"), entries: self.entries, ways });
        }
        if u64::from(self.entries) > MAX_LINES {
            let (value, max) = (u64::from(self.entries), MAX_LINES);
            return Err(ConfigError::OutOfRange { place: place("entries"), field: "entries", value, min: 1, max });
        }
        let sets = self.entries / ways;
        check_policy(self.policy, sets, ways, place)?;
        if self.policy.about().needs_future {
            return Err(ConfigError::OptAlone { place: place("policy"), why: "a TLB" });
        }
        Ok(self.pages.contains(&page).then(|| Geometry::new(sets, ways, page, Index::Modulo, 1)))
    }
}

fn check_page(field: &'static str, size: u32, place: &impl Fn(&'static str) -> Box<Place>) -> Result<(), ConfigError> {
    let value = u64::from(size);
    if !size.is_power_of_two() {
        return Err(ConfigError::NotPowerOfTwo { place: place(field), field, value });
    }
    if !(512..=MAX_LINE).contains(&size) {
        return Err(ConfigError::OutOfRange { place: place(field), field, value, min: 512, max: u64::from(MAX_LINE) });
    }
    Ok(())
}

impl HierarchyConfig {
    /// The shapes of levels and TLBs, once everything is found to be sound.
    ///
    /// # Errors
    /// The first fault found, from the CPU outward: each level by itself, the relations between levels, TLBs, the rest.
    pub fn check(&self) -> Result<Shapes, ConfigError> {
        self.check_at(|part, _| {
            Box::new(Place {
                origin: self.name.clone(),
                line: None,
                part: match part {
                    Part::Top | Part::Memory => None,
                    Part::Level(n) => Some(("level", n + 1, self.levels[n].name.clone())),
                    Part::Tlb(n) => Some(("tlb", n + 1, self.tlbs[n].name.clone())),
                },
            })
        })
    }

    /// [`HierarchyConfig::check`] with places of fields.
    pub(super) fn check_at(&self, place: impl Fn(Part, &'static str) -> Box<Place>) -> Result<Shapes, ConfigError> {
        let top = |field| place(Part::Top, field);
        if self.cores == 0 {
            return Err(ConfigError::Zero { place: top("cores"), field: "cores" });
        }
        if self.cores > MAX_CORES {
            let (value, max) = (u64::from(self.cores), u64::from(MAX_CORES));
            return Err(ConfigError::OutOfRange { place: top("cores"), field: "cores", value, min: 1, max });
        }
        if self.levels.is_empty() {
            return Err(ConfigError::NoLevels { place: top("level") });
        }
        for (key, found) in [("level", self.levels.len()), ("tlb", self.tlbs.len())] {
            if found > MAX_LEVELS {
                return Err(ConfigError::TooManyLevels { place: top(key), found });
            }
        }
        let private = self.levels.iter().filter(|level| !level.shared).count();
        let caches = private * usize::from(self.cores) + (self.levels.len() - private);
        if caches > MAX_CACHES {
            return Err(ConfigError::TooManyCaches { place: top("cores"), caches, cores: self.cores, private });
        }
        let mut levels = Vec::with_capacity(self.levels.len());
        for (n, level) in self.levels.iter().enumerate() {
            let place = |field| place(Part::Level(n), field);
            levels.push(level.geometry(&place)?);
            if self.levels[..n].iter().any(|inner| inner.name == level.name) {
                return Err(ConfigError::DuplicateName { place: place("name"), name: level.name.clone() });
            }
            self.check_relations(n, &levels, &place)?;
        }
        let memory = |field| place(Part::Memory, field);
        if self.memory.latency == 0 {
            return Err(ConfigError::Zero { place: memory("latency"), field: "memory.latency" });
        }
        check_page("page", self.memory.page, &memory)?;
        let mut tlbs = Vec::with_capacity(self.tlbs.len());
        for (n, tlb) in self.tlbs.iter().enumerate() {
            let place = |field| place(Part::Tlb(n), field);
            tlbs.push(tlb.geometry(self.memory.page, &place)?);
            let names = self.levels.iter().map(|l| &l.name).chain(self.tlbs[..n].iter().map(|t| &t.name));
            if names.into_iter().any(|name| *name == tlb.name) {
                return Err(ConfigError::DuplicateName { place: place("name"), name: tlb.name.clone() });
            }
        }
        // Each cache alone is bounded above: no product or sum of these overflows.
        let copies = |shared: bool| if shared { 1 } else { u64::from(self.cores) };
        let lines = |(level, shape): (&LevelConfig, &Geometry)| copies(level.shared) * shape.lines();
        let entries = |tlb: &TlbConfig| copies(false) * u64::from(tlb.entries);
        let all = self.levels.iter().zip(&levels).map(lines).chain(self.tlbs.iter().map(entries)).sum();
        if all > MAX_ALL_LINES {
            return Err(ConfigError::TooManyLinesInAll { place: top("cores"), lines: all, cores: self.cores });
        }
        Ok(Shapes { levels, tlbs })
    }

    /// Levels inside `outer` whose requests may come to it, from the CPU outward.
    pub(in crate::sim) fn inside(&self, outer: usize) -> impl Iterator<Item = usize> + '_ {
        let holds = self.levels[outer].holds;
        let meets = move |n: &usize| [false, true].iter().any(|&f| holds.serves(f) && self.levels[*n].holds.serves(f));
        (0..outer).filter(meets)
    }

    /// Levels between each level and the CPU on its longest path, from 0: levels of equal depth stand side by side.
    #[must_use]
    pub fn depths(&self) -> Vec<u8> {
        let mut depths: Vec<u8> = Vec::new();
        for n in 0..self.levels.len() {
            let depth = self.inside(n).map(|inner| depths[inner].saturating_add(1)).max().unwrap_or(0);
            depths.push(depth);
        }
        depths
    }

    /// The level that comes after `inner` on a side: the next that serves it.
    pub(in crate::sim) fn next(&self, inner: usize, fetch: bool) -> Option<usize> {
        (inner + 1..self.levels.len()).find(|&n| self.levels[n].holds.serves(fetch))
    }

    /// Relations of level `n` to those inside it.
    fn check_relations(
        &self,
        n: usize,
        shapes: &[Geometry],
        place: &impl Fn(&'static str) -> Box<Place>,
    ) -> Result<(), ConfigError> {
        let level = &self.levels[n];
        let name = |inner: usize| self.levels[inner].name.clone();
        if self.cores > 1
            && !level.shared
            && let Some(inner) = (0..n).find(|&inner| self.levels[inner].shared)
        {
            return Err(ConfigError::PrivateOutsideShared { place: place("shared"), inner: name(inner) });
        }
        if level.policy.about().needs_future {
            return self.check_opt(place);
        }
        if level.inclusion == Inclusion::Nine {
            return Ok(());
        }
        let inclusion = if level.inclusion == Inclusion::Inclusive { "inclusive" } else { "exclusive" };
        let inside: Vec<usize> = self.inside(n).collect();
        if inside.is_empty() {
            return Err(ConfigError::NothingInside { place: place("inclusion"), inclusion });
        }
        if level.inclusion == Inclusion::Inclusive {
            for inner in inside {
                let (line, inner_line) = (level.line, self.levels[inner].line);
                if inner_line > line {
                    return Err(ConfigError::InclusiveLine {
                        place: place("line"),
                        line,
                        inner: name(inner),
                        inner_line,
                    });
                }
                let (size, inner_size) = (shapes[n].bytes(), shapes[inner].bytes());
                if inner_size > size {
                    return Err(ConfigError::InclusiveSize {
                        place: place("size"),
                        size,
                        inner: name(inner),
                        inner_size,
                    });
                }
            }
            return Ok(());
        }
        if level.prefetch != Prefetch::None {
            return Err(ConfigError::ExclusivePrefetch { place: place("prefetch") });
        }
        let feeders = inside.into_iter().filter(|&inner| [false, true].iter().any(|&f| self.next(inner, f) == Some(n)));
        for inner in feeders {
            let (line, inner_line) = (level.line, self.levels[inner].line);
            if inner_line != line {
                return Err(ConfigError::ExclusiveLine { place: place("line"), line, inner: name(inner), inner_line });
            }
            if level.sectors() > 1 || self.levels[inner].sectors() > 1 {
                return Err(ConfigError::ExclusiveSector { place: place("inclusion"), inner: name(inner) });
            }
        }
        Ok(())
    }

    /// OPT looks into the future of its level, which must not depend on what it chooses.
    fn check_opt(&self, place: &impl Fn(&'static str) -> Box<Place>) -> Result<(), ConfigError> {
        let why = if self.cores > 1 {
            "several cores"
        } else if self.levels.iter().any(|level| level.inclusion != Inclusion::Nine) {
            "an inclusive or exclusive level"
        } else if self.levels.iter().any(|level| level.prefetch != Prefetch::None) {
            "a prefetcher"
        } else {
            return Ok(());
        };
        Err(ConfigError::OptAlone { place: place("policy"), why })
    }
}
