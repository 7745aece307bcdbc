//! One trace under many caches: decoded once, played through all of them, on all processors.

use super::stacked::{Asked, Shape, Stacked, Touch, shape, stacked};
use crate::reference::ReferenceSource;
use crate::sim::config::{ConfigError, HierarchyConfig, LevelConfig};
use crate::sim::{Geometry, Hierarchy, LevelCounters, SimError, pass, prepare};
use crate::units::LevelId;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Cells of a sweep at most.
pub const MOST_CELLS: u64 = 1_000_000;

/// One thing that is varied: a key of the configuration, and the values that it takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vary {
    /// `L1.size`: a level by name and a key of its table, or a key of the whole, as `cores`.
    pub key: String,
    /// As they are written in a file of caches: `16KiB`, `4`, `lru`.
    pub values: Vec<String>,
}

/// Why a sweep is none.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SweepError {
    /// Words that vary nothing.
    #[error("--vary {0}: expected KEY=VALUES, as in L1.size=16KiB..256KiB, L1.ways=1,2,4,8 or L2.policy=lru,srrip")]
    Words(String),
    /// A range that doubling does not pass through.
    #[error("--vary {0}: expected a range from less to more whose end is reached by doubling, as in 16KiB..256KiB")]
    Range(String),
    /// A level that is not there.
    #[error("--vary {key}: there is no level `{level}`; the caches have {levels}")]
    Level {
        /// What was written.
        key: String,
        /// The level.
        level: String,
        /// Those that there are.
        levels: String,
    },
    /// One key twice.
    #[error("--vary {0}: this key is varied twice; give all its values at once, separated by commas")]
    Twice(String),
    /// A cell that no cache can be.
    #[error("{cell}: {error}; leave this value out, or vary what it depends on")]
    Cell {
        /// Its values.
        cell: String,
        /// What is wrong.
        error: Box<ConfigError>,
    },
    /// More cells than anybody waits for.
    #[error("{cells} cells; expected at most {MOST_CELLS}: give fewer values")]
    TooMany {
        /// How many.
        cells: u128,
    },
    /// The base cannot be written as a table.
    #[error("these caches cannot be varied: {0}")]
    Base(String),
    /// A trace that cannot be played.
    #[error(transparent)]
    Sim(#[from] SimError),
}

impl Vary {
    /// Reads `KEY=VALUES`: values by commas, or a range `LEAST..MOST` of numbers or sizes that double.
    ///
    /// # Errors
    /// [`SweepError::Words`] and [`SweepError::Range`].
    pub fn parse(text: &str) -> Result<Self, SweepError> {
        let words = || SweepError::Words(text.into());
        let (key, values) = text.split_once('=').ok_or_else(words)?;
        let (key, values) = (key.trim(), values.trim());
        let mut out = Vec::new();
        for value in values.split(',').map(str::trim) {
            match value.split_once("..") {
                None => out.push(value.to_owned()),
                Some((from, to)) => out.extend(doubled(from, to).ok_or_else(|| SweepError::Range(text.into()))?),
            }
        }
        if key.is_empty() || out.iter().any(String::is_empty) {
            return Err(words());
        }
        Ok(Self { key: key.into(), values: out })
    }
}

/// `16KiB..256KiB`, each twice the one before.
fn doubled(from: &str, to: &str) -> Option<Vec<String>> {
    use crate::sim::config::{format_size, parse_size};
    let plain = from.trim().bytes().chain(to.trim().bytes()).all(|b| b.is_ascii_digit());
    let (from, to) = (parse_size(from.trim())?, parse_size(to.trim())?);
    let mut values = Vec::new();
    let mut value = from;
    while value > 0 && value <= to && values.len() < 64 {
        values.push(if plain { value.to_string() } else { format_size(value) });
        value = value.checked_mul(2)?;
    }
    (value / 2 == to && !values.is_empty()).then_some(values)
}

/// One configuration of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Its number, from 0: the last key varies fastest.
    pub number: u64,
    /// The value of each key, in their order.
    pub values: Vec<(String, String)>,
    /// The caches.
    pub config: HierarchyConfig,
}

/// All cells of a sweep, in their order. Each is checked.
///
/// # Errors
/// [`SweepError`], before anything is played.
pub fn cells(base: &HierarchyConfig, vary: &[Vary]) -> Result<Vec<Cell>, SweepError> {
    if let Some((_, twice)) = vary.iter().enumerate().find(|(n, v)| vary[..*n].iter().any(|other| other.key == v.key)) {
        return Err(SweepError::Twice(twice.key.clone()));
    }
    let count: u128 = vary.iter().map(|v| v.values.len() as u128).product();
    if count > u128::from(MOST_CELLS) {
        return Err(SweepError::TooMany { cells: count });
    }
    let table: toml::Table = base.to_toml().parse().map_err(|e: toml::de::Error| SweepError::Base(e.to_string()))?;
    (0..u64::try_from(count).unwrap_or(0)).map(|number| cell(base, &table, vary, number)).collect()
}

fn cell(base: &HierarchyConfig, table: &toml::Table, vary: &[Vary], number: u64) -> Result<Cell, SweepError> {
    let (mut table, mut values, mut rest) = (table.clone(), Vec::new(), number);
    for Vary { key, values: all } in vary.iter().rev() {
        let value = &all[usize::try_from(rest % all.len() as u64).unwrap_or(0)];
        rest /= all.len() as u64;
        values.push((key.clone(), value.clone()));
    }
    values.reverse();
    for (key, value) in &values {
        set(base, &mut table, key, value)?;
    }
    let words: Vec<String> = values.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let name = words.join(" ");
    let at_fault = |error| SweepError::Cell { cell: name.clone(), error: Box::new(error) };
    let text = toml::to_string(&table).map_err(|e| SweepError::Base(e.to_string()))?;
    let config = HierarchyConfig::from_toml(&text, "the varied caches").map_err(at_fault)?;
    config.check().map_err(at_fault)?;
    Ok(Cell { number, values, config })
}

/// Writes a value to its place in the table of a configuration.
fn set(base: &HierarchyConfig, table: &mut toml::Table, key: &str, value: &str) -> Result<(), SweepError> {
    let value = value
        .parse::<i64>()
        .map(toml::Value::Integer)
        .or_else(|_| value.parse::<bool>().map(toml::Value::Boolean))
        .unwrap_or_else(|_| toml::Value::String(value.into()));
    let Some((level, rest)) = key.split_once('.') else {
        table.insert(key.into(), value);
        return Ok(());
    };
    let place = base.levels.iter().position(|other| other.name.eq_ignore_ascii_case(level));
    let found = match place {
        Some(place) => {
            let levels = table.get_mut("level").and_then(toml::Value::as_array_mut);
            levels.and_then(|levels| levels.get_mut(place)?.as_table_mut())
        }
        // The tables of the whole.
        None if ["memory", "hierarchy"].contains(&level) => {
            table.entry(level).or_insert_with(|| toml::Table::new().into()).as_table_mut()
        }
        None => None,
    };
    let found = found.ok_or_else(|| SweepError::Level {
        key: key.into(),
        level: level.into(),
        levels: base.levels.iter().map(|level| level.name.as_str()).collect::<Vec<_>>().join(", "),
    })?;
    found.insert(rest.into(), value);
    Ok(())
}

/// What a trace did to the caches of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellCounts {
    /// Number of the cell.
    pub cell: u64,
    /// The value of each key, in their order.
    pub values: Vec<(String, String)>,
    /// From the CPU outward.
    pub levels: Vec<LevelCounts>,
    /// Bytes read from memory.
    pub memory_bytes_read: u64,
    /// Bytes written to memory.
    pub memory_bytes_written: u64,
}

/// One level of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelCounts {
    /// Its name.
    pub name: String,
    /// Bytes it holds.
    pub size: u64,
    /// Sets.
    pub sets: u32,
    /// Ways.
    pub ways: u32,
    /// Bytes of a line.
    pub line: u32,
    /// Accesses that the program waits for.
    pub demand_accesses: u64,
    /// Those that missed.
    pub demand_misses: u64,
    /// All counters.
    #[serde(flatten)]
    pub counters: LevelCounters,
}

impl Cell {
    fn counts(&self, levels: impl Iterator<Item = (Geometry, LevelCounters)>, memory: [u64; 2]) -> CellCounts {
        let level = |(config, (geometry, counters)): (&LevelConfig, (Geometry, LevelCounters))| LevelCounts {
            name: config.name.clone(),
            size: config.size,
            sets: geometry.sets,
            ways: geometry.ways,
            line: geometry.line_bytes,
            demand_accesses: counters.demand_accesses(),
            demand_misses: counters.demand_misses(),
            counters,
        };
        CellCounts {
            cell: self.number,
            values: self.values.clone(),
            levels: self.config.levels.iter().zip(levels).map(level).collect(),
            memory_bytes_read: memory[0],
            memory_bytes_written: memory[1],
        }
    }
}

/// Cells as parts that are played in one pass each, as [`sweep`] does: `players` of them at a time, where cells that are counted together
/// are one. So a part has more cells the more of them differ in their ways alone.
#[must_use]
pub fn parts(cells: Vec<Cell>, players: usize) -> Vec<Vec<Cell>> {
    let mut together: BTreeMap<(Option<Shape>, u64), Vec<Cell>> = BTreeMap::new();
    for cell in cells {
        let shape = shape(&cell).map(|(shape, _)| shape);
        // A cell that is simulated is by itself.
        let alone = if shape.is_none() { cell.number } else { 0 };
        together.entry((shape, alone)).or_default().push(cell);
    }
    let groups: Vec<Vec<Cell>> = together.into_values().collect();
    groups.chunks(players.max(1)).map(<[Vec<Cell>]>::concat).collect()
}

/// What plays cells.
enum Player<'a> {
    /// A cell by itself.
    One(&'a Cell, Box<Hierarchy>),
    /// Cells that differ in their ways alone, with their ways, and what makes their touches.
    Several(Asked, Vec<(&'a Cell, Geometry)>, Box<dyn Stacked>),
}

impl Player<'_> {
    fn counts(&self) -> Vec<CellCounts> {
        match self {
            Self::One(cell, hierarchy) => {
                let level = |n| (*hierarchy.level_geometry(LevelId(n)), hierarchy.level_counters(LevelId(n)));
                let memory = hierarchy.memory_counters();
                vec![cell.counts((0..).map(level), [memory.bytes_read, memory.bytes_written])]
            }
            Self::Several(_, group, stacks) => {
                let counts = |(cell, geometry): &(&Cell, Geometry)| {
                    let counters = stacks.counters(geometry.ways as usize);
                    cell.counts(std::iter::once((*geometry, counters)), [counters.bytes_in, counters.bytes_out])
                };
                group.iter().map(counts).collect()
            }
        }
    }
}

/// Who plays which of these cells.
fn players<'a>(source: &dyn ReferenceSource, cells: &'a [Cell]) -> Result<Vec<Player<'a>>, SimError> {
    let (mut all, mut groups) = (Vec::new(), BTreeMap::<Shape, Vec<(&Cell, Geometry)>>::new());
    for cell in cells {
        match shape(cell) {
            Some((shape, geometry)) => groups.entry(shape).or_default().push((cell, geometry)),
            None => all.push(Player::One(cell, Box::new(prepare(&cell.config, source)?))),
        }
    }
    all.extend(groups.into_iter().map(|(shape, group)| {
        let most_ways = group.iter().map(|(_, geometry)| geometry.ways as usize).max().unwrap_or(1);
        Player::Several(shape.asked, group, stacked(shape, most_ways))
    }));
    Ok(all)
}

/// Plays a trace once through the caches of all these cells. Plain LRU caches of one level that differ in their ways alone are counted
/// by one pass of stacks, all others are simulated; the counts are the same. `report` is told how many references were played and may
/// stop the sweep by `false`; then the answer is `None`.
///
/// # Errors
/// When a cell and the trace do not go together, or the trace cannot be read.
pub fn sweep(
    source: &dyn ReferenceSource,
    cells: &[Cell],
    report: &mut dyn FnMut(u64) -> bool,
) -> Result<Option<Vec<CellCounts>>, SweepError> {
    let mut players = players(source, cells)?;
    let mut touches: BTreeMap<Asked, Vec<Touch>> = BTreeMap::new();
    for player in &players {
        if let Player::Several(asked, ..) = player {
            touches.entry(*asked).or_default();
        }
    }
    let played = pass(source, cells.iter().map(|cell| &cell.config), |from, part| {
        touches.iter_mut().for_each(|(asked, touches)| asked.touches(part, touches));
        players.par_iter_mut().for_each(|player| match player {
            Player::One(_, hierarchy) => hierarchy.play(part, &mut ()),
            Player::Several(asked, _, stacks) => stacks.play(touches.get(asked).map_or(&[], Vec::as_slice)),
        });
        if report(from + part.len() as u64) { Ok(()) } else { Err(Halted::Asked) }
    });
    match played {
        Ok(()) => {}
        Err(Halted::Asked) => return Ok(None),
        Err(Halted::Failed(error)) => return Err(error.into()),
    }
    let mut all: Vec<CellCounts> = players.iter().flat_map(Player::counts).collect();
    let places: BTreeMap<u64, usize> = cells.iter().zip(0..).map(|(cell, place)| (cell.number, place)).collect();
    all.sort_by_key(|counts| places.get(&counts.cell).copied());
    Ok(Some(all))
}

/// Why a pass ended before the end.
enum Halted {
    Asked,
    Failed(SimError),
}

impl<E: Into<SimError>> From<E> for Halted {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}
