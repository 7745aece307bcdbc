//! One cache: its sets, their words, its counts. It replaces within a set; what a miss causes elsewhere is in `hierarchy`.

use super::Geometry;
use super::counters::LevelCounters;
use super::fast::Plain;
use super::fast::scan::Shape;
use super::policy::{self, DIRTY, FLAG_BITS, NEVER, Note, Outcome, Policy, SELECTOR_START, Set, VALID, View};
use super::shards::Split;
use super::simd::Isa;
use super::words::Words;
use crate::units::{LineAddr, SetIndex};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A line that a cache holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resident {
    /// Which, in units of the level's line.
    pub line: LineAddr,
    /// Whether the next level has older data.
    pub dirty: bool,
    /// Came by prefetch and was not used yet.
    pub prefetched: bool,
}

/// What left a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Evicted {
    pub(super) line: LineAddr,
    pub(super) dirty: bool,
    pub(super) note: Note,
}

/// What a cache keeps beside its words.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Rest {
    notes: Vec<Note>,
    state: Vec<u32>,
    selector: u16,
    clock: u64,
    counters: LevelCounters,
}

/// The state of one cache: flat, so that a copy is a few `memcpy`s.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cache {
    geometry: Geometry,
    policy: Policy,
    seed: u64,
    /// `sets * ways` words, set by set (see [`policy`]).
    words: Words,
    /// As many notes, or none.
    notes: Vec<Note>,
    /// State of the policy, set by set.
    state: Vec<u32>,
    selector: u16,
    /// For OPT: when each access' line is used next.
    future: Option<Arc<[u32]>>,
    /// For OPT: accesses so far.
    clock: usize,
    pub(super) counters: LevelCounters,
    /// Where it has the sets of one shard: how its sets are numbered in the whole cache.
    shard: Option<(Split, usize)>,
    /// How the fast loops play it, where they can by itself: what its place makes it do is not known here.
    plain: Option<(Shape, Isa)>,
}

impl Clone for Cache {
    fn clone(&self) -> Self {
        let Self { geometry, policy, seed, words, notes, state, selector, future, clock, counters, shard, plain } =
            self;
        Self {
            geometry: *geometry,
            policy: *policy,
            seed: *seed,
            words: words.clone(),
            notes: notes.clone(),
            state: state.clone(),
            selector: *selector,
            future: future.clone(),
            clock: *clock,
            counters: *counters,
            shard: *shard,
            plain: *plain,
        }
    }

    /// Into the memory that is there: most of a copy of megabytes is the system's search for room.
    fn clone_from(&mut self, other: &Self) {
        let Self { geometry, policy, seed, words, notes, state, selector, future, clock, counters, shard, plain } =
            other;
        self.geometry.clone_from(geometry);
        self.policy = *policy;
        self.seed = *seed;
        self.words.clone_from(words);
        self.notes.clone_from(notes);
        self.state.clone_from(state);
        self.selector = *selector;
        self.future.clone_from(future);
        self.clock = *clock;
        self.counters = *counters;
        self.shard = *shard;
        self.plain = *plain;
    }
}

impl Cache {
    /// Empty; `notes` where lines carry more than a dirty bit.
    pub(super) fn new(geometry: Geometry, policy: Policy, seed: u64, notes: bool) -> Self {
        let lines = usize::try_from(geometry.lines()).unwrap_or(usize::MAX);
        let state = geometry.sets as usize * policy::state_len(policy, geometry.ways as usize);
        let shape = Shape::of(&geometry).filter(|_| policy == Policy::Lru && !notes);
        Self {
            words: Words::new(lines),
            notes: if notes { vec![Note::default(); lines] } else { Vec::new() },
            state: vec![0; state],
            selector: SELECTOR_START,
            geometry,
            policy,
            seed,
            future: None,
            clock: 0,
            counters: LevelCounters::default(),
            shard: None,
            plain: shape.map(|shape| (shape, Isa::best(shape.ways))),
        }
    }

    /// What OPT needs to know: for each access of this cache, in order, the number of the next one to the same line.
    pub(super) fn foresee(&mut self, future: Arc<[u32]>) {
        self.future = Some(future);
    }

    #[inline]
    pub(super) fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Accesses a line of a plain cache (LRU or FIFO, no notes): renews its order on a hit, replaces the set's victim by
    /// it on a miss.
    #[inline(always)]
    pub(super) fn access_plain(&mut self, line: LineAddr, set: SetIndex, dirty: bool) -> Outcome {
        let key = self.key(line);
        let dirty = if dirty { DIRTY } else { 0 };
        let policy = self.policy;
        let ways = self.geometry.ways as usize;
        let start = set.0 as usize * ways;
        policy::access(&mut self.words[start..start + ways], key, dirty, policy)
    }

    /// The way that holds a line.
    pub(super) fn find(&self, line: LineAddr, set: SetIndex) -> Option<usize> {
        let key = self.key(line);
        self.set(set).iter().position(|word| *word & !DIRTY == key)
    }

    /// Counts an access of OPT's clock.
    pub(super) fn tick(&mut self) {
        self.clock += 1;
    }

    /// Renews the order of a line that was found; gives its way from now on.
    pub(super) fn touch(&mut self, set: SetIndex, way: usize) -> usize {
        let policy = self.policy;
        policy::hit(policy, &mut self.set_mut(set), way)
    }

    /// Puts a line that is not there into its set; gives its way, and what had to go for it.
    pub(super) fn insert(
        &mut self,
        line: LineAddr,
        set: SetIndex,
        dirty: bool,
        note: Note,
    ) -> (usize, Option<Evicted>) {
        let word = self.key(line) | if dirty { DIRTY } else { 0 };
        let policy = self.policy;
        let (way, old, note) = policy::insert(policy, &mut self.set_mut(set), word, note);
        (way, self.evicted(old, set, note))
    }

    /// Empties a way that holds a line.
    pub(super) fn remove(&mut self, set: SetIndex, way: usize) -> Option<Evicted> {
        let policy = self.policy;
        let (word, note) = policy::remove(policy, &mut self.set_mut(set), way);
        self.evicted(word, set, note)
    }

    fn evicted(&self, word: u64, set: SetIndex, note: Note) -> Option<Evicted> {
        self.decode(word, set).map(|Resident { line, dirty, .. }| Evicted { line, dirty, note })
    }

    pub(super) fn is_dirty(&self, set: SetIndex, way: usize) -> bool {
        self.set(set)[way] & DIRTY != 0
    }

    pub(super) fn set_dirty(&mut self, set: SetIndex, way: usize, dirty: bool) {
        let word = &mut self.set_mut(set).words[way];
        *word = if dirty { *word | DIRTY } else { *word & !DIRTY };
    }

    /// What a line carries beside its word; `None` at caches without notes.
    pub(super) fn note_mut(&mut self, set: SetIndex, way: usize) -> Option<&mut Note> {
        let at = set.0 as usize * self.geometry.ways as usize + way;
        self.notes.get_mut(at)
    }

    pub(super) fn note(&self, set: SetIndex, way: usize) -> Note {
        self.notes.get(set.0 as usize * self.geometry.ways as usize + way).copied().unwrap_or_default()
    }

    /// What a word of this set means; `None` for an empty way.
    #[inline]
    pub(super) fn decode(&self, word: u64, set: SetIndex) -> Option<Resident> {
        (word != 0).then(|| Resident {
            line: self.geometry.line_from(word >> FLAG_BITS, set),
            dirty: word & DIRTY != 0,
            prefetched: false,
        })
    }

    /// Lines of a set in eviction order, the next victim last.
    pub(super) fn order(&self, set: SetIndex) -> impl DoubleEndedIterator<Item = Resident> + '_ {
        let ways = self.order_of_ways(set);
        let held = ways.as_ref().map_or(self.geometry.ways as usize, Vec::len);
        (0..held).filter_map(move |at| {
            let way = ways.as_ref().map_or(at, |ways| ways[at]);
            let resident = self.decode(self.set(set)[way], set)?;
            Some(Resident { prefetched: self.note(set, way).prefetched, ..resident })
        })
    }

    /// See [`policy::order`].
    fn order_of_ways(&self, set: SetIndex) -> Option<Vec<usize>> {
        if self.policy.is_list() {
            return None;
        }
        let state = policy::state_len(self.policy, self.geometry.ways as usize);
        let at = set.0 as usize * state;
        let view = View {
            words: self.set(set),
            state: &self.state[at..at + state],
            number: self.number(set),
            seed: self.seed,
        };
        policy::order(self.policy, &view)
    }

    /// Place of a line in its set's eviction order, 0 = farthest from eviction.
    pub(super) fn rank(&self, line: LineAddr) -> Option<(SetIndex, u32)> {
        let set = self.geometry.set_of(line);
        let way = self.find(line, set)?;
        let rank = match self.order_of_ways(set) {
            None => way,
            Some(ways) => ways.iter().position(|w| *w == way)?,
        };
        Some((set, u32::try_from(rank).ok()?))
    }

    pub(super) fn dirty(&self) -> u64 {
        self.words.iter().filter(|word| **word & DIRTY != 0).count() as u64
    }

    /// The dirty line of a set that is nearest to eviction.
    pub(super) fn oldest_dirty(&self, set: SetIndex) -> Option<usize> {
        if self.set(set).iter().all(|word| word & DIRTY == 0) {
            return None;
        }
        let line = self.order(set).rev().find(|resident| resident.dirty)?.line;
        self.find(line, set)
    }

    /// The line in a way.
    pub(super) fn line_at(&self, set: SetIndex, way: usize) -> Option<LineAddr> {
        self.decode(self.set(set)[way], set).map(|resident| resident.line)
    }

    /// What a shard has of it, with no count. Of policies that look at sets alone.
    pub(super) fn part(&self, split: Split, shard: usize) -> Self {
        let notes = !self.notes.is_empty();
        let mut part = Self::new(split.geometry(&self.geometry), self.policy, self.seed, notes);
        part.shard = Some((split, shard));
        let (ways, state) = (self.geometry.ways as usize, policy::state_len(self.policy, self.geometry.ways as usize));
        for set in 0..part.geometry.sets {
            let (here, there) = (set as usize, part.number(SetIndex(set)) as usize);
            for way in 0..ways {
                let word = self.words[there * ways + way];
                part.words[here * ways + way] =
                    self.decode(word, SetIndex(part.number(SetIndex(set)))).map_or(0, |old| {
                        let line = split.line_there(old.line.0, self.geometry.line_bytes.trailing_zeros());
                        part.key(LineAddr(line)) | word & DIRTY
                    });
            }
            if notes {
                part.notes[here * ways..][..ways].copy_from_slice(&self.notes[there * ways..][..ways]);
            }
            part.state[here * state..][..state].copy_from_slice(&self.state[there * state..][..state]);
        }
        part
    }

    /// Takes back what a shard has made of its part.
    pub(super) fn take_part(&mut self, part: &Self) {
        let Some((split, shard)) = part.shard else { return };
        let (ways, state) = (self.geometry.ways as usize, policy::state_len(self.policy, self.geometry.ways as usize));
        let line_bits = self.geometry.line_bytes.trailing_zeros();
        for set in 0..part.geometry.sets {
            let (here, number) = (set as usize, part.number(SetIndex(set)));
            let there = number as usize;
            for way in 0..ways {
                let word = part.words[here * ways + way];
                self.words[there * ways + way] = if self.geometry.by_low_bits() {
                    // The tag is above the shard's bits.
                    word
                } else {
                    part.decode(word, SetIndex(set)).map_or(0, |old| {
                        let line = split.line(old.line.0, line_bits, shard);
                        self.key(LineAddr(line)) | word & DIRTY
                    })
                };
            }
            if !self.notes.is_empty() {
                self.notes[there * ways..][..ways].copy_from_slice(&part.notes[here * ways..][..ways]);
            }
            self.state[there * state..][..state].copy_from_slice(&part.state[here * state..][..state]);
        }
        self.counters.add(&part.counters);
    }

    /// The number of a set in the whole cache.
    fn number(&self, set: SetIndex) -> u32 {
        let line_bits = self.geometry.line_bytes.trailing_zeros();
        self.shard.map_or(set.0, |(split, shard)| split.set(set.0, line_bits, shard))
    }

    /// The cache for the fast loops, where they can play it.
    #[inline]
    pub(super) fn plain(&mut self) -> Option<Plain<'_>> {
        let (shape, isa) = self.plain?;
        Some(Plain { shape, isa, words: &mut self.words, counters: &mut self.counters })
    }

    /// All that changes, but for the words.
    pub(super) fn rest(&self) -> Rest {
        let Self { notes, state, selector, clock, counters, .. } = self;
        Rest {
            notes: notes.clone(),
            state: state.clone(),
            selector: *selector,
            clock: *clock as u64,
            counters: *counters,
        }
    }

    /// Takes back what [`Cache::rest`] gave; `None` where it is not of such a cache.
    pub(super) fn restore(&mut self, rest: Rest) -> Option<()> {
        if (rest.notes.len(), rest.state.len()) != (self.notes.len(), self.state.len()) {
            return None;
        }
        let Rest { notes, state, selector, clock, counters } = rest;
        let clock = usize::try_from(clock).ok()?;
        (self.notes, self.state, self.selector, self.clock, self.counters) = (notes, state, selector, clock, counters);
        Some(())
    }

    pub(super) fn words(&self) -> &[u64] {
        &self.words
    }

    pub(super) fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    pub(super) fn state_bytes(&self) -> usize {
        size_of::<Self>()
            + size_of_val(&*self.words)
            + size_of_val(self.notes.as_slice())
            + size_of_val(self.state.as_slice())
    }

    #[inline]
    fn key(&self, line: LineAddr) -> u64 {
        (self.geometry.tag_of(line) << FLAG_BITS) | VALID
    }

    #[inline]
    fn set(&self, set: SetIndex) -> &[u64] {
        let ways = self.geometry.ways as usize;
        let start = set.0 as usize * ways;
        &self.words[start..start + ways]
    }

    fn set_mut(&mut self, set: SetIndex) -> Set<'_> {
        let ways = self.geometry.ways as usize;
        let start = set.0 as usize * ways;
        let state = policy::state_len(self.policy, ways);
        let at = set.0 as usize * state;
        let number = self.number(set);
        let next_use = self.future.as_ref().and_then(|future| future.get(self.clock.wrapping_sub(1))).copied();
        Set {
            words: &mut self.words[start..start + ways],
            notes: if self.notes.is_empty() { &mut [] } else { &mut self.notes[start..start + ways] },
            state: &mut self.state[at..at + state],
            number,
            sets: self.geometry.sets,
            seed: self.seed,
            selector: &mut self.selector,
            next_use: next_use.unwrap_or(NEVER),
        }
    }
}
