//! Finds the next or previous reference for which the innermost ring gives a line up, by replay: nothing of it is kept in the index.

use super::Timeline;
use crate::reference::SourceError;
use crate::sim::event::Event;
use crate::sim::{Hierarchy, Observer};
use std::ops::{ControlFlow, Range};

/// Whether a cache of the innermost ring gave a line up, since it was asked last.
struct Evicted {
    /// By cache, whether it is one of that ring.
    innermost: Vec<bool>,
    seen: bool,
}

impl Observer for Evicted {
    fn event(&mut self, event: Event) {
        if let Event::Evict { cache, .. } = event {
            self.seen |= self.innermost.get(cache.index()).copied().unwrap_or(false);
        }
    }
}

impl Timeline {
    /// The first reference after `tick` (`forward`), or the last one before it, for which a cache of the innermost ring evicts a line.
    /// Looks at `most` references, and plays up to as many more as lie between two keyframes. `None`: none of these does.
    ///
    /// # Errors
    /// When the source cannot be read.
    pub fn find_eviction(&self, tick: u64, forward: bool, most: u64) -> Result<Option<u64>, SourceError> {
        let innermost = |cache| self.start().info(cache).depth == 0;
        let mut evicted = Evicted { innermost: self.start().caches().map(innermost).collect(), seen: false };
        let mut found = None;
        if forward {
            let from = tick.saturating_add(1).min(self.len());
            let to = from.saturating_add(most).min(self.len());
            self.each_evicting(from..to, &mut evicted, &mut |at| {
                found = Some(at);
                ControlFlow::Break(())
            })?;
            return Ok(found);
        }
        // From keyframe to keyframe: of each stretch the last one.
        let mut end = tick.min(self.len());
        let least = end.saturating_sub(most);
        while end > least && found.is_none() {
            let from = self.keyframe_before(end - 1).max(least);
            self.each_evicting(from..end, &mut evicted, &mut |at| {
                found = Some(at);
                ControlFlow::Continue(())
            })?;
            end = from;
        }
        Ok(found)
    }

    /// Tells which of some references evict, until it is told to stop.
    fn each_evicting(
        &self,
        references: Range<u64>,
        evicted: &mut Evicted,
        tell: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<(), SourceError> {
        let mut at = references.start;
        let mut state: Hierarchy = self.at(at)?;
        while at < references.end {
            let some = self.piece(at..references.end)?;
            for (reference, number) in some.iter().zip(at..) {
                evicted.seen = false;
                state.access(reference, evicted);
                if evicted.seen && tell(number).is_break() {
                    return Ok(());
                }
            }
            at += some.len() as u64;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{Kind, MemoryTrace, Reference, Tables};
    use crate::sim::config::preset;
    use crate::timeline::Options;
    use std::sync::Arc;

    #[test]
    fn the_nearest_eviction_is_found_across_keyframes_and_no_farther_than_asked() {
        // Few lines again and again, then one after the other for a while, and again few.
        let line = |n: u64| if (4_000..4_100).contains(&n) { n } else { n % 4 };
        let references: Vec<Reference> = (0..9_000u64).map(|n| Reference::new(Kind::Read, line(n) * 32, 8)).collect();
        let start = Hierarchy::new(&preset("paper").expect("shipped")).expect("sound");
        let mut played = start.clone();
        let mut all = Vec::new();
        for (reference, number) in references.iter().zip(0u64..) {
            let mut events = Vec::new();
            played.access(reference, &mut events);
            if events.iter().any(|e| matches!(e, Event::Evict { level, .. } if level.index() == 0)) {
                all.push(number);
            }
        }
        assert!(all.len() > 80 && all[0] > 4_000, "{all:?}");
        let source = Arc::new(MemoryTrace::new(references, Tables::default()));
        for spacing in [64, 1 << 14] {
            let options = Options { spacing, ..Options::default() };
            let timeline =
                Timeline::build(source.clone(), start.clone(), options, &mut |_, _| true).expect("in memory");
            for tick in (0..9_200).step_by(37).chain(3_990..4_120) {
                for most in [50, 1_000, u64::MAX] {
                    let next = all.iter().copied().find(|&at| at > tick).filter(|at| at - tick <= most);
                    assert_eq!(timeline.find_eviction(tick, true, most).expect("in memory"), next, "after {tick}");
                    let last = all.iter().rev().copied().find(|&at| at < tick);
                    let last = last.filter(|at| tick.min(9_000) - at <= most);
                    assert_eq!(timeline.find_eviction(tick, false, most).expect("in memory"), last, "before {tick}");
                }
            }
        }
    }
}
