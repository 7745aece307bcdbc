//! A thread of a recorded program: its chunks, what is read of them, and what its records say that are no references.

use super::facts::{Entry, Facts, Made};
use std::collections::VecDeque;

/// Slots that a chunk's head takes.
pub(super) const HEAD: u64 = 4;
/// Bits of the address in a first word.
pub(super) const ADDRESS: u64 = (1 << 56) - 1;

/// What a record that is no reference says; see `capture/spool.h`.
pub(super) mod code {
    pub(in super::super) const STAMP: u64 = 1;
    pub(in super::super) const SITE: u64 = 2;
    pub(in super::super) const ALLOC: u64 = 3;
    pub(in super::super) const FREE: u64 = 4;
    pub(in super::super) const FRAME: u64 = 5;
    pub(in super::super) const TEXT: u64 = 6;
    pub(in super::super) const MARK: u64 = 7;
    pub(in super::super) const SHAPE: u64 = 8;
    pub(in super::super) const REGION: u64 = 9;
    pub(in super::super) const CALLER: u64 = 10;
    pub(in super::super) const PATH: u64 = 11;
    pub(in super::super) const LOADED: u64 = 12;
    pub(in super::super) const UNLOADED: u64 = 13;
}

/// One thread's chunks, in order, and the part of the first one that is in memory.
#[derive(Debug, Default)]
pub(super) struct Thread {
    pub(super) chunks: VecDeque<Claim>,
    /// The turn of the newest chunk that was read to its end.
    pub(super) turn: u64,
    /// Slot of the front chunk that `words` begins with.
    pub(super) slot: u64,
    pub(super) words: Vec<u64>,
    /// Words used.
    pub(super) at: usize,
    pub(super) stamp: u64,
    /// What is not read yet of a chunk that is not whole is later than this.
    pub(super) known: u64,
    /// What makes the next allocation.
    pub(super) made: Made,
    /// Its call, and those that led there, innermost first.
    pub(super) calls: Vec<u64>,
    /// The last frame entered.
    pub(super) entered: (u64, u64),
    /// Name and extents of the next region.
    pub(super) text: Vec<u8>,
    pub(super) shape: (u64, u64),
    /// Which file is loaded next.
    pub(super) path: Vec<u8>,
}

/// A chunk as a thread has it, in the order of turns; those of programs that know of none have turn 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Claim {
    pub(super) turn: u64,
    pub(super) number: u64,
}

impl Thread {
    /// Whether a chunk before the first known one is yet to be found: chunks that were given back are found again in any order.
    pub(super) fn misses_one(&self) -> bool {
        self.chunks.front().is_some_and(|claim| claim.turn > self.turn.saturating_add(1))
    }

    /// Goes on behind `words`, the first of which is of `slot`.
    pub(super) fn past(&mut self, slot: u64) {
        self.slot = slot.max(HEAD) + self.words.len() as u64 / 2;
    }

    /// Time of the block at `at`: of its own stamp where it begins with one.
    pub(super) fn stamp_ahead(&self) -> u64 {
        match self.words.get(self.at..self.at + 2) {
            Some(&[first, second]) if first >> 56 == code::STAMP => second.max(self.stamp),
            _ => self.stamp,
        }
    }

    pub(super) fn special(&mut self, number: u64, code: u64, low: u64, second: u64, now: u64, facts: &mut Facts) {
        let pc = |facts: &Facts| facts.modules.marked(second, now);
        match code {
            code::SITE => {
                self.made = Made::from_code(low);
                self.calls.clear();
                self.calls.push(pc(facts));
            }
            // As many as the runtime tells of.
            code::CALLER if self.calls.len() <= 10 => self.calls.push(pc(facts)),
            code::CALLER => {}
            code::ALLOC => {
                facts.heap.allocated(low, second, std::mem::take(&mut self.made), &self.calls, now);
                self.calls.clear();
            }
            code::FREE => facts.heap.freed(low, now),
            code::FRAME => {
                // In a loop the same function comes again and again.
                let pc = pc(facts);
                if self.entered != (low, pc) {
                    self.entered = (low, pc);
                    facts.entries.push(Entry { thread: number, frame: low, pc, now });
                }
            }
            code::TEXT => {
                let n = usize::try_from(low).unwrap_or(8).min(8);
                // As long as the runtime makes them.
                if self.text.len() < 200 {
                    self.text.extend_from_slice(&second.to_le_bytes()[..n]);
                }
            }
            code::MARK => facts.mark(&std::mem::take(&mut self.text), now),
            code::SHAPE => self.shape = (low, second),
            code::REGION => {
                let shape = std::mem::take(&mut self.shape);
                facts.region(&std::mem::take(&mut self.text), low, second, shape, now);
            }
            code::PATH => {
                let n = usize::try_from(low).unwrap_or(8).min(8);
                // As long as paths are, and the numbers before them.
                if self.path.len() < 4200 {
                    self.path.extend_from_slice(&second.to_le_bytes()[..n]);
                }
            }
            code::LOADED => facts.modules.loaded(low, second, &std::mem::take(&mut self.path), now),
            code::UNLOADED => facts.modules.unloaded(low, now),
            _ => facts.unknown += 1,
        }
    }
}
