//! Blocks for an observer: all levels play a block first, list by list, then what happened is told, reference by reference.
//!
//! What the misses of a level ask of the next one is a list in the order in which it is asked: of each miss its line, then
//! the victim that goes back. So a place in each level's list is all that the telling needs: it follows each miss outward
//! and takes the next request of every list it comes to.

mod gone;

use super::scan::{ASK_BITS, BLOCK, Block, COVER, DIRTY_ASK, Exceptions, Found, Next, Shape, Tally};
use super::{ChunkOutcome, Place, Surroundings, kind_of, kind_of_miss, tell_evict_and_fill, tell_hit};
use crate::reference::{Kind, Reference};
use crate::sim::observer::{AccessList, Batch, Events, LevelMisses, Lists, Moved, Observer};
use crate::sim::simd;
use crate::sim::{AccessKind, Event, Gone, Origin, RequestId};
use crate::units::{Addr, LineAddr};

/// Room for what a block does at each level.
pub(super) struct BlockRecord {
    block: Block,
    next: Next,
    levels: Vec<Level>,
    /// See [`Moved`]; kept for their memory.
    came: Vec<Vec<LineAddr>>,
    /// See [`gone`].
    undone: gone::Undone,
    gone: Vec<Gone>,
    /// Places of the references that ask the second cache, as many as `asking`.
    asking_second: [u16; BLOCK],
    asking: usize,
}

/// What a level was asked for, and what became of it; behind the last level stands memory.
struct Level {
    shape: Shape,
    place: Place,
    asks: Vec<u64>,
    /// By [`BLOCK`] requests; room is kept for later blocks.
    found: Vec<Found>,
    /// The next request to tell.
    at: usize,
    /// Places of the references whose demand missed, as many as `misses`.
    missed: [u16; BLOCK],
    /// See `missed`.
    misses: usize,
}

impl Level {
    fn new(shape: Shape, place: Place) -> Self {
        Self { shape, place, asks: Vec::new(), found: Vec::new(), at: 0, missed: [0; BLOCK], misses: 0 }
    }
}

impl BlockRecord {
    /// For a hierarchy whose caches are all plain, of equal lines, and all one way; `None` for others.
    pub(super) fn of(surroundings: &mut impl Surroundings) -> Option<Box<Self>> {
        let first = surroundings.plain(0)?.shape;
        let mut levels = Vec::new();
        for at in 0..surroundings.caches() {
            let shape =
                surroundings.plain(at).map(|level| level.shape).filter(|shape| shape.line_bits == first.line_bits)?;
            levels.push(Level::new(shape, surroundings.place(at)));
        }
        let came = vec![Vec::new(); levels.len()];
        let undone = gone::Undone::default();
        levels.push(Level::new(first, Place::default()));
        let (block, next) = (Block::new(), [0; 2 * BLOCK + 16]);
        let (gone, asking_second) = (Vec::new(), [0; BLOCK]);
        surroundings
            .is_one_way()
            .then(|| Box::new(Self { block, next, levels, came, undone, gone, asking_second, asking: 0 }))
    }

    /// Plays a chunk.
    pub(super) fn play<O: Observer>(
        &mut self,
        surroundings: &mut impl Surroundings,
        chunk: &[Reference],
        exceptions: Exceptions,
        observer: &mut O,
    ) -> ChunkOutcome {
        let (mut rest, mut outcome) = (chunk, ChunkOutcome::default());
        while let Some(level) = surroundings.plain(0) {
            let taken = simd::take(level.isa, level.words, level.shape, rest, exceptions, &mut self.block);
            let asks = &self.block.asks[..self.block.made];
            let mut tally = Tally::default();
            let listed = simd::follow(level.isa, level.shape, asks, &self.block.found, &mut tally, &mut self.next);
            tally.add_to(level.counters, level.shape);
            self.play_outside(surroundings, listed);
            let wants = observer.wants();
            match wants.batches {
                Some(lists) => {
                    let moves = lists.moves;
                    self.find_misses(&rest[..taken], exceptions, lists);
                    if moves {
                        self.find_moves();
                    }
                    self.gone.clear();
                    if wants.gone {
                        self.find_gone(surroundings);
                    }
                    self.give(&rest[..taken], lists, observer);
                }
                None => {
                    self.tell(&rest[..taken], exceptions, observer);
                    if wants.gone {
                        self.gone.clear();
                        self.find_gone(surroundings);
                        observer.batch(&Batch { gone: &self.gone, ..Batch::default() });
                    }
                }
            }
            rest = &rest[taken..];
            if self.block.made < BLOCK {
                let Some((other, left)) = rest.split_first() else { break };
                observer.begin(other);
                surroundings.access(other, observer);
                outcome.others += 1;
                rest = left;
            }
        }
        outcome
    }

    /// Sends the first `listed` of the next requests through all levels but the innermost.
    fn play_outside(&mut self, surroundings: &mut impl Surroundings, listed: usize) {
        for level in &mut self.levels {
            level.asks.clear();
            level.at = 0;
        }
        let memory = self.levels.len() - 1;
        self.levels[1].asks.extend_from_slice(&self.next[..listed]);
        for at in 1..memory {
            let (inner, outer) = self.levels.split_at_mut(at + 1);
            let (Some(here), Some(behind), Some(level)) = (inner.last_mut(), outer.first_mut(), surroundings.plain(at))
            else {
                return;
            };
            let mut tally = Tally::default();
            let blocks = here.asks.len().div_ceil(BLOCK);
            if here.found.len() < blocks {
                here.found.resize_with(blocks, || Found { matched: [0; BLOCK], left: [0; BLOCK] });
            }
            for (asks, found) in here.asks.chunks(BLOCK).zip(&mut here.found) {
                simd::through(level.isa, level.words, level.shape, asks, found);
                let listed = simd::follow(level.isa, level.shape, asks, found, &mut tally, &mut self.next);
                behind.asks.extend_from_slice(&self.next[..listed]);
            }
            tally.add_to_outer(level.counters, level.shape);
        }
        let memory = &self.levels[memory];
        let writes = memory.asks.iter().filter(|ask| *ask & DIRTY_ASK != 0).count() as u64;
        surroundings.memory(memory.shape.line_bytes(), memory.asks.len() as u64 - writes, writes);
    }

    /// Gives a block, with the lists that are wanted.
    fn give<O: Observer>(&self, references: &[Reference], lists: Lists, observer: &mut O) {
        let Some((memory, caches)) = self.levels.split_last() else { return };
        debug_assert!(memory.found.is_empty(), "memory finds nothing");
        let (mut misses, mut accesses) = (Vec::new(), Vec::new());
        if lists.misses {
            let asked = |at: usize| match at {
                0 => &[][..],
                1 => &self.asking_second[..self.asking],
                // What missed there asks on.
                _ => &caches[at - 1].missed[..caches[at - 1].misses],
            };
            misses.extend(caches.iter().enumerate().map(|(at, level)| LevelMisses {
                level: level.place.level,
                asked: asked(at),
                missed: &level.missed[..level.misses],
            }));
        }
        if lists.accesses {
            let Block { asks, found, made, .. } = &self.block;
            accesses.push(AccessList {
                cache: caches[0].place.cache,
                asks: &asks[..*made],
                matched: Some(&found.matched[..*made]),
            });
            for level in &caches[1..] {
                accesses.extend(level.asks.chunks(BLOCK).zip(&level.found).map(|(asks, found)| AccessList {
                    cache: level.place.cache,
                    asks,
                    matched: Some(&found.matched[..asks.len()]),
                }));
            }
        }
        let moved = lists.moves.then(|| Moved { asking: caches[0].place.cache, came: &self.came });
        observer.batch(&Batch {
            references,
            misses: &misses,
            accesses: &accesses,
            moved,
            gone: &self.gone,
            ..Batch::default()
        });
    }

    /// Finds the references of a block whose demand missed. No branch depends on what missed.
    fn find_misses(&mut self, references: &[Reference], exceptions: Exceptions, lists: Lists) {
        if !lists.misses {
            return;
        }
        let Some((_, caches)) = self.levels.split_last_mut() else { return };
        let Some((first, outer)) = caches.split_first_mut() else { return };
        let (block, mut missed) = (&self.block, 0);
        // Of the misses, those that ask the next cache for their line, in the order of asking.
        let (asking_first, mut asked) = (&mut self.asking_second, 0);
        let mut places = (0u16..).zip(references).filter(|(_, reference)| !exceptions.drops(reference.kind));
        for ((ask, matched), (place, _)) in
            block.asks.iter().zip(&block.found.matched).zip(&mut places).take(block.made)
        {
            let miss = *matched == 0;
            first.missed[missed % BLOCK] = place;
            missed += usize::from(miss);
            asking_first[asked % BLOCK] = place;
            asked += usize::from(miss & (ask & COVER != COVER));
        }
        (first.misses, self.asking) = (missed, asked);
        let mut asking: &[u16; BLOCK] = asking_first;
        for level in outer {
            (missed, asked) = (0, 0);
            for (asks, found) in level.asks.chunks(BLOCK).zip(&level.found) {
                for (ask, matched) in asks.iter().zip(&found.matched) {
                    let demand = ask & DIRTY_ASK == 0;
                    level.missed[missed % BLOCK] = asking[asked % BLOCK];
                    missed += usize::from(demand & (*matched == 0));
                    asked += usize::from(demand);
                }
            }
            level.misses = missed;
            asking = &level.missed;
        }
    }

    /// Finds what moved in a block.
    fn find_moves(&mut self) {
        let Self { block, levels, came, .. } = self;
        let Some((memory, caches)) = levels.split_last() else { return };
        came.iter_mut().for_each(Vec::clear);
        for (depth, Level { asks, found, .. }) in caches.iter().enumerate() {
            let (asks, found) = match depth {
                0 => (&block.asks[..block.made], std::slice::from_ref(&block.found)),
                _ => (&asks[..], &found[..]),
            };
            for (asks, Found { matched, .. }) in asks.chunks(BLOCK).zip(found) {
                if depth > 0 {
                    let is_there = |ask: u64, matched: u8| ask & DIRTY_ASK == 0 && matched != 0;
                    let came = &mut came[depth - 1];
                    let requests = asks.iter().zip(matched);
                    sift(came, requests, |(&ask, &matched)| (ask >> ASK_BITS, is_there(ask, matched)));
                    continue;
                }
                let covered =
                    asks.iter().zip(matched).filter(|(ask, matched)| **matched == 0 && **ask & COVER == COVER);
                came[0].extend(covered.map(|(ask, _)| LineAddr(ask >> ASK_BITS)));
            }
        }
        if let Some(came) = came.last_mut() {
            sift(came, memory.asks.iter(), |&ask| (ask >> ASK_BITS, ask & DIRTY_ASK == 0));
        }
    }

    /// Tells what the references of a block did.
    fn tell<O: Observer>(&mut self, references: &[Reference], exceptions: Exceptions, observer: &mut O) {
        let hits = observer.wants().events == Events::All;
        let Level { shape, place, .. } = self.levels[0];
        let mut made = 0;
        for reference in references {
            observer.begin(reference);
            if exceptions.drops(reference.kind) {
                continue;
            }
            let (ask, found) = (self.block.asks[made], &self.block.found);
            let (matched, left) = (found.matched[made], found.left[made]);
            made += 1;
            if matched != 0 {
                if hits {
                    tell_hit(shape, place, reference, observer);
                }
                continue;
            }
            let (line, origin) = (ask >> ASK_BITS, Origin::FIRST);
            let mut next = origin.request.next();
            observer.event(shape.access(place, line, (kind_of_miss(ask), false), origin));
            tell_miss(&mut self.levels, (ask, origin), left, &mut next, observer);
            if reference.kind == Kind::Modify {
                let origin = Origin { request: next, parent: None };
                observer.event(shape.access(place, line, (AccessKind::Write, true), origin));
            }
        }
    }
}

/// Adds the lines that are to be kept. No branch depends on that.
#[inline(always)]
fn sift<T>(into: &mut Vec<LineAddr>, from: impl ExactSizeIterator<Item = T>, keeps: impl Fn(T) -> (u64, bool)) {
    let mut kept = into.len();
    into.resize(kept + from.len(), LineAddr(0));
    for one in from {
        let (line, keep) = keeps(one);
        into[kept] = LineAddr(line);
        kept += usize::from(keep);
    }
    into.truncate(kept);
}

/// Tells what a miss of the first of these levels caused: the requests from the number `next` on.
#[inline(always)]
fn tell_miss<O: Observer>(
    levels: &mut [Level],
    (ask, origin): (u64, Origin),
    victim: u64,
    next: &mut RequestId,
    observer: &mut O,
) {
    let Some((here, outside)) = levels.split_first_mut() else { return };
    if observer.wants().events >= Events::Moves {
        tell_evict_and_fill(here.shape, here.place, (ask, origin), victim, observer);
    }
    let (wants, gives) = here.shape.causes(ask, victim);
    for ask in [wants, gives].into_iter().flatten() {
        tell_ask(outside, (ask, origin), next, observer);
    }
}

/// Tells the next request of the first of these levels, which is `ask` and comes from the request `cause`.
#[inline(always)]
fn tell_ask<O: Observer>(levels: &mut [Level], (ask, cause): (u64, Origin), next: &mut RequestId, observer: &mut O) {
    let is_memory = levels.len() == 1;
    let Some(here) = levels.first_mut() else { return };
    let at = here.at;
    here.at += 1;
    debug_assert_eq!(here.asks[at], ask, "lists are in the order of what is told");
    let origin = cause.under(*next);
    *next = next.next();
    let line = ask >> ASK_BITS;
    if is_memory {
        let (addr, bytes) = (Addr(line << here.shape.line_bits), here.shape.line_bytes());
        observer.event(if ask & DIRTY_ASK == 0 {
            Event::MemoryRead { origin, addr, bytes }
        } else {
            Event::MemoryWrite { origin, addr, bytes }
        });
        return;
    }
    let found = &here.found[at / BLOCK];
    let (hit, left) = (found.matched[at % BLOCK] != 0, found.left[at % BLOCK]);
    if !hit || observer.wants().events == Events::All {
        observer.event(here.shape.access(here.place, line, (kind_of(ask), hit), origin));
    }
    if !hit {
        tell_miss_outside(levels, (ask, origin), left, next, observer);
    }
}

/// [`tell_miss`] of an outer level: the two call each other as deep as there are levels, and the innermost round is by far
/// the most frequent.
#[inline(never)]
fn tell_miss_outside<O: Observer>(
    levels: &mut [Level],
    (ask, origin): (u64, Origin),
    victim: u64,
    next: &mut RequestId,
    observer: &mut O,
) {
    tell_miss(levels, (ask, origin), victim, next, observer);
}
