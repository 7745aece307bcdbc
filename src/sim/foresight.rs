//! A hierarchy for a trace: lets OPT see the future.

use super::check::SimError;
use super::config::HierarchyConfig;
use super::hash::LineMap;
use super::hierarchy::Hierarchy;
use super::pass::pass;
use super::policy::NEVER;
use super::{Event, Observer};
use crate::reference::ReferenceSource;
use crate::units::LevelId;

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
        pass(source, [config], |_, references| {
            references.iter().for_each(|reference| rehearsal.access(reference, &mut stream));
            Ok::<_, SimError>(())
        })?;
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
