//! Where the lines go that leave in a block: what [`Hierarchy::tell_gone`](crate::sim::Hierarchy) tells, for lists.
//!
//! All levels have played the block already, so what a level held after a reference is not what it holds now. The references are
//! walked from the last to the first: the changes of those behind one are undone, in notes beside the words of each level.

use super::{BlockRecord, Level};
use crate::sim::Gone;
use crate::sim::fast::scan::Found;
use crate::sim::fast::{Plain, Surroundings};
use crate::sim::hash::LineMap;
use crate::sim::policy::{DIRTY, VALID};
use crate::units::Addr;

/// What a request changed in a level.
#[derive(Clone, Copy)]
struct Change {
    level: usize,
    came: u64,
    left: Option<u64>,
    /// What left was dirty, so that the next level has it.
    dirty: bool,
}

/// By level: whether it held a line before what is undone, where that is not as it is now.
#[derive(Default)]
pub(super) struct Undone {
    notes: Vec<LineMap<bool>>,
    changes: Vec<Change>,
    /// Lines that left during a reference, and the level that has each after it.
    gone: Vec<(u64, usize)>,
    /// By level: requests that are not undone.
    ahead: Vec<usize>,
}

impl Undone {
    /// Whether a level held a line after the references that are not undone.
    fn holds(&self, surroundings: &mut impl Surroundings, level: usize, line: u64) -> bool {
        if let Some(&note) = self.notes[level].get(&line) {
            return note;
        }
        let Some(Plain { shape, words, .. }) = surroundings.plain(level) else { return false };
        let (start, key) = (shape.start(line), shape.key(line));
        words[start..start + shape.ways].iter().any(|word| word & !DIRTY == key)
    }

    /// The first level from `from` on that held it; as many as there are = memory.
    fn nearest(&self, surroundings: &mut impl Surroundings, from: usize, line: u64) -> usize {
        (from..self.notes.len()).find(|level| self.holds(surroundings, *level, line)).unwrap_or(self.notes.len())
    }

    /// Takes the last request of a level that is not undone, and all that it caused farther out, the last first.
    fn take(&mut self, levels: &[Level], level: usize, first: (&[u64], &Found)) {
        let Some(at) = self.ahead[level].checked_sub(1) else { return };
        self.ahead[level] = at;
        let Level { shape, asks, found, .. } = &levels[level];
        let (ask, matched, left) = match level {
            0 => (first.0[at], first.1.matched[at], first.1.left[at]),
            _ => {
                let found = &found[at / super::BLOCK];
                (asks[at], found.matched[at % super::BLOCK], found.left[at % super::BLOCK])
            }
        };
        if matched != 0 {
            return;
        }
        if level + 1 < self.notes.len() {
            let (wants, gives) = shape.causes(ask, left);
            for _ in [wants, gives].into_iter().flatten() {
                self.take(levels, level + 1, first);
            }
        }
        let came = ask >> super::ASK_BITS;
        let left = (left & VALID != 0).then(|| (shape.neighbour(left, came), left & DIRTY != 0));
        let dirty = left.is_some_and(|(_, dirty)| dirty);
        self.changes.push(Change { level, came, left: left.map(|(line, _)| line), dirty });
    }
}

impl BlockRecord {
    /// Finds where the lines went that left in the block.
    pub(super) fn find_gone(&mut self, surroundings: &mut impl Surroundings) {
        let Self { block, levels, undone, gone: found, .. } = self;
        let caches = levels.len() - 1;
        undone.notes.resize_with(caches, LineMap::default);
        undone.notes.iter_mut().for_each(LineMap::clear);
        undone.ahead.clear();
        undone.ahead.extend(levels[..caches].iter().map(|level| level.asks.len()));
        undone.ahead[0] = block.made;
        let first = (&block.asks[..block.made], &block.found);
        // What the innermost cache held is asked for only where another gives something up.
        let outer_leaves = |level: &Level| {
            level.asks.chunks(super::BLOCK).zip(&level.found).any(|(asks, found)| {
                found.matched.iter().zip(&found.left).take(asks.len()).any(|(m, left)| *m == 0 && left & VALID != 0)
            })
        };
        let inner = levels[1..caches].iter().any(outer_leaves);
        for _ in 0..block.made {
            undone.changes.clear();
            undone.take(levels, 0, first);
            let changes = std::mem::take(&mut undone.changes);
            let after = |undone: &Undone, surroundings: &mut _, change: &Change, line| match change {
                Change { level: 0, dirty: true, .. } if caches > 1 => 1,
                Change { level: 0, .. } => undone.nearest(surroundings, 1, line),
                _ => undone.nearest(surroundings, 0, line),
            };
            let mut gone = std::mem::take(&mut undone.gone);
            gone.clear();
            for change in &changes {
                if let Some(line) = change.left {
                    gone.push((line, after(undone, surroundings, change, line)));
                }
            }
            for change in changes.iter().filter(|change| change.level > 0 || inner) {
                undone.notes[change.level].insert(change.came, false);
                if let Some(left) = change.left {
                    undone.notes[change.level].insert(left, true);
                }
            }
            for (n, &(line, to)) in gone.iter().enumerate() {
                let alone = gone.len() == 1 && changes.last().is_some_and(|change| change.left.is_some());
                let before = if alone { 0 } else { undone.nearest(surroundings, 0, line) };
                if before < to && gone[..n].iter().all(|(other, _)| *other != line) {
                    let place = |level: usize| levels[level].place.cache;
                    let addr = Addr(line << levels[0].shape.line_bits);
                    found.push(Gone { from: place(before), addr, to: (to < caches).then(|| place(to)) });
                }
            }
            (undone.changes, undone.gone) = (changes, gone);
        }
        debug_assert!(undone.ahead.iter().all(|left| *left == 0), "all requests are undone");
    }
}
