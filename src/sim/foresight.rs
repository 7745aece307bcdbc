//! A hierarchy for a trace: checks that the trace fits, and lets OPT see the future.

use super::config::{ConfigError, HierarchyConfig};
use super::hash::LineMap;
use super::hierarchy::Hierarchy;
use super::policy::NEVER;
use super::{Event, Observer};
use crate::reference::{Reference, ReferenceSource, SourceError};
use crate::units::LevelId;

/// Why a trace and a configuration do not go together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimError {
    /// The configuration is wrong by itself.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The references cannot be had.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The trace has more cores.
    #[error(
        "reference {tick} is of core {core}, but the cache configuration \"{config}\" has cores = {cores}; write cores = {} or more in it \
         or give --cores {}", core + 1, core + 1
    )]
    Core {
        /// Number of the reference, from 0.
        tick: u64,
        /// Its core, from 0.
        core: u16,
        /// Name of the configuration.
        config: String,
        /// Cores it has.
        cores: u16,
    },
    /// References of so many bytes that simulating them would take minutes or hours.
    #[error(
        "reference {tick}: found {bytes} bytes in the references of more than {LONG} bytes up to here; expected at most {MOST_LONG}, for \
         each line of them is an access; simulate a part of the trace (orrery convert --range), or record what really is touched"
    )]
    TooMuch {
        /// Number of the reference, from 0.
        tick: u64,
        /// Bytes so far.
        bytes: u64,
    },
    /// OPT keeps four bytes a position.
    #[error(
        "policy = \"opt\" at {level}: it is asked more than {NEVER} times, which is all that OPT can look ahead; use a part of the trace"
    )]
    TooLong {
        /// Name of the level.
        level: String,
    },
}

/// Refuses a reference of a core that the configuration does not have.
///
/// # Errors
/// [`SimError::Core`], with `tick` as its number.
#[inline]
pub fn check_core(config: &HierarchyConfig, reference: &Reference, tick: u64) -> Result<(), SimError> {
    if reference.core < config.cores {
        return Ok(());
    }
    Err(SimError::Core { tick, core: reference.core, config: config.name.clone(), cores: config.cores })
}

/// As [`check_core`], of references the first of which is number `from`.
pub(super) fn check_cores(config: &HierarchyConfig, references: &[Reference], from: u64) -> Result<(), SimError> {
    // All at once, without a branch each.
    if references.iter().fold(0, |highest, reference| reference.core.max(highest)) < config.cores {
        return Ok(());
    }
    references.iter().zip(from..).try_for_each(|(reference, tick)| check_core(config, reference, tick))
}

/// Bytes from which a reference is long: no instruction touches more than a page at once, tools that sum copies up do.
const LONG: u32 = 4096;
/// Bytes that the long references of a trace may touch together: some hundred million lines, seconds of simulation.
const MOST_LONG: u64 = 8 << 30;

/// The bytes of long references, summed as a trace is played.
#[derive(Clone, Copy, Debug, Default)]
pub struct Long {
    bytes: u64,
}

impl Long {
    /// Takes note of references before they are played; `tick` is the number of the first.
    ///
    /// # Errors
    /// [`SimError::TooMuch`], before the time is spent.
    pub fn note(&mut self, references: &[Reference], tick: u64) -> Result<(), SimError> {
        let long = |r: &Reference| if r.size > LONG { u64::from(r.size) } else { 0 };
        let sum: u64 = references.iter().map(long).sum();
        if self.bytes + sum > MOST_LONG {
            let mut bytes = self.bytes;
            let passed = references.iter().position(|r| {
                bytes += long(r);
                bytes > MOST_LONG
            });
            return Err(SimError::TooMuch { tick: tick + passed.unwrap_or(0) as u64, bytes });
        }
        self.bytes += sum;
        Ok(())
    }
}

/// Empty caches for a trace. Where a level has OPT, the trace is played once for each such level, from the CPU outward, to learn
/// what the level will be asked for (4 bytes an access are kept).
///
/// # Errors
/// [`SimError`].
pub fn prepare(config: &HierarchyConfig, source: &dyn ReferenceSource) -> Result<Hierarchy, SimError> {
    let mut hierarchy = Hierarchy::without_future(config)?;
    for (number, level) in (0u8..).zip(&config.levels) {
        if !level.policy.about().needs_future {
            continue;
        }
        // What a level is asked for depends on the levels inside it, which know their future by now, and not on itself.
        let mut stream = Stream { level: LevelId(number), lines: Vec::new() };
        let mut rehearsal = hierarchy.clone();
        let (mut tick, mut long) = (0, Long::default());
        for chunk in 0..source.len().div_ceil(source.chunk_len().max(1)) {
            let references = source.chunk(chunk)?;
            long.note(&references, tick)?;
            for reference in references.iter() {
                check_core(config, reference, tick)?;
                rehearsal.access(reference, &mut stream);
                tick += 1;
            }
        }
        let future = next_uses(&stream.lines).ok_or_else(|| SimError::TooLong { level: level.name.clone() })?;
        for cache in hierarchy.caches_of(LevelId(number)) {
            hierarchy.foresee(cache, future.clone().into());
        }
    }
    Ok(hierarchy)
}

/// The lines that a level is asked for.
struct Stream {
    level: LevelId,
    lines: Vec<u64>,
}

impl Observer for Stream {
    fn event(&mut self, event: Event) {
        if let Event::Access { level, line, .. } = event
            && level == self.level
        {
            self.lines.push(line.0);
        }
    }
}

/// For each access the number of the next one to its line, or [`NEVER`]; `None` where numbers do not fit.
fn next_uses(lines: &[u64]) -> Option<Vec<u32>> {
    if lines.len() >= NEVER as usize {
        return None;
    }
    let mut next = vec![NEVER; lines.len()];
    let mut seen: LineMap<usize> = LineMap::default();
    for (at, line) in (0u32..).zip(lines) {
        if let Some(earlier) = seen.insert(*line, at as usize) {
            next[earlier] = at;
        }
    }
    Some(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_future_is_the_next_use() {
        assert_eq!(next_uses(&[7, 8, 7, 9, 8, 7]), Some(vec![2, 4, 5, NEVER, NEVER, NEVER]));
    }
}
