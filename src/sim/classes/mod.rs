//! Why a miss: compulsory, capacity, conflict (Hill, "Aspects of Cache Memory and Instruction Buffer Performance", 1987), or
//! coherence where there are several cores.
//!
//! Beside each cache runs a fully associative LRU cache of as many lines, fed every access of that cache, write-backs and
//! prefetches from inside included. The first that holds names the miss:
//!
//! 1. *coherence*: a coherence invalidation took the line from this cache, and it has not been back since;
//! 2. *compulsory*: the cache was never asked for the line before;
//! 3. *conflict*: the fully associative cache still holds the line;
//! 4. *capacity*: it does not.
//!
//! Every miss has one class, so the four sum to the cache's misses. A prefetcher's request that misses is nobody's miss and
//! has none.

use super::hash::LineSet;
use super::hierarchy::Hierarchy;
use super::{AccessKind, AccessList, Batch, Cause, Event, Lists, Observer, Wants};
use crate::units::{CacheId, LevelId, LineAddr};
use std::ops::AddAssign;

mod bucket;

mod shadow;
use shadow::{Found, Shadow};

mod touched;
use touched::Touched;

/// Why a miss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MissClass {
    /// The cache was never asked for the line before.
    Compulsory,
    /// A fully associative LRU cache of the same size would have missed too.
    Capacity,
    /// A fully associative LRU cache of the same size holds the line: its set was too crowded.
    Conflict,
    /// Another core's store took the line away, and it has not been back since.
    Coherence,
}

impl MissClass {
    /// The word shown to people.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Compulsory => "compulsory",
            Self::Capacity => "capacity",
            Self::Conflict => "conflict",
            Self::Coherence => "coherence",
        }
    }
}

/// Misses of one cache, or of all caches of a level, by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct ClassCounts {
    /// First touches.
    pub compulsory: u64,
    /// Too many lines in use.
    pub capacity: u64,
    /// Too many lines in use in one set.
    pub conflict: u64,
    /// Lines that another core's store took away; 0 with one core.
    pub coherence: u64,
}

impl ClassCounts {
    /// Misses of all classes.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.compulsory + self.capacity + self.conflict + self.coherence
    }

    /// The misses of a class.
    #[must_use]
    pub fn get(&self, class: MissClass) -> u64 {
        match class {
            MissClass::Compulsory => self.compulsory,
            MissClass::Capacity => self.capacity,
            MissClass::Conflict => self.conflict,
            MissClass::Coherence => self.coherence,
        }
    }

    /// As [`Self::get`], to be counted.
    pub fn of(&mut self, class: MissClass) -> &mut u64 {
        match class {
            MissClass::Compulsory => &mut self.compulsory,
            MissClass::Capacity => &mut self.capacity,
            MissClass::Conflict => &mut self.conflict,
            MissClass::Coherence => &mut self.coherence,
        }
    }
}

impl AddAssign for ClassCounts {
    fn add_assign(&mut self, other: Self) {
        self.compulsory += other.compulsory;
        self.capacity += other.capacity;
        self.conflict += other.conflict;
        self.coherence += other.coherence;
    }
}

/// Classifies the misses of every cache: an [`Observer`]. O(1) an access. Memory: about 70 bytes for each line that a
/// cache can hold and has held, and a bit for each line it was ever asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classifier {
    /// By cache. A level has one for all cores, or one each.
    caches: Vec<CacheClasses>,
    /// By level: see [`Classifier::last_class`].
    last: Vec<Option<MissClass>>,
}

/// Accesses of a list that memory is asked for at once.
const AHEAD: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
struct CacheClasses {
    level: LevelId,
    shadow: Shadow,
    touched: Touched,
    /// Lines that coherence invalidations took and that have not been back.
    taken: LineSet,
    counts: ClassCounts,
}

impl CacheClasses {
    fn new(level: LevelId, lines: u64) -> Self {
        Self {
            level,
            shadow: Shadow::new(lines),
            touched: Touched::new(),
            taken: LineSet::default(),
            counts: ClassCounts::default(),
        }
    }

    /// An access that is no miss, or nobody's.
    #[inline(always)]
    fn hit(&mut self, line: LineAddr) {
        // What the cache has prefetched by itself it may hold without ever having been asked.
        if self.shadow.access(line) == Found::Away {
            self.touched.insert(line);
        }
    }

    /// Accesses that each happen as [`CacheClasses::hit`] and [`CacheClasses::miss`] say, in a cache that nothing was
    /// prefetched into or taken from; with no branch on what is found, and no wait for memory.
    #[inline(never)]
    fn list(&mut self, list: AccessList<'_>) {
        let Self { shadow, touched, counts, .. } = self;
        let Some(matched) = list.matched else {
            return shadow.access_held(list.asks.iter().map(|ask| ask >> AccessList::SHIFT));
        };
        for (asks, matched) in list.asks.chunks(AHEAD).zip(matched.chunks(AHEAD)) {
            let (mut lines, mut found) = ([0; AHEAD], [Found::Away; AHEAD]);
            // A hit on the newest line changes nothing.
            let (mut hits, mut listed, mut newest) = ([0; AHEAD], 0, None);
            for (ask, matched) in asks.iter().zip(matched) {
                let line = ask >> AccessList::SHIFT;
                (lines[listed % AHEAD], hits[listed % AHEAD]) = (line, *matched);
                listed += usize::from((newest != Some(line)) | (*matched == 0));
                newest = Some(line);
            }
            let (lines, found, hits) = (&lines[..listed], &mut found[..listed], &hits[..listed]);
            shadow.access_all(lines, found);
            // Lines that miss and that the shadow knows nothing of.
            let mut unknown = [LineAddr(0); AHEAD];
            let (mut away, mut misses, mut conflicts) = (0, 0, 0);
            for ((line, found), hit) in lines.iter().zip(found).zip(hits) {
                misses += u64::from(*hit == 0);
                conflicts += u64::from((*hit == 0) & (*found == Found::Here));
                unknown[away % AHEAD] = LineAddr(*line);
                away += usize::from((*hit == 0) & (*found == Found::Away));
            }
            let lines = &unknown[..away];
            for line in lines {
                touched.expect(*line);
            }
            let mut pages = [0; AHEAD];
            for (line, page) in lines.iter().zip(&mut pages) {
                *page = touched.page(*line);
                touched.expect_in(*page, *line);
            }
            let new = lines.iter().zip(pages).map(|(line, page)| u64::from(touched.insert_in(page, *line)));
            let compulsory = new.sum();
            let capacity = misses - conflicts - compulsory;
            *counts += ClassCounts { compulsory, conflict: conflicts, capacity, coherence: 0 };
        }
    }

    #[inline(never)]
    fn miss(&mut self, line: LineAddr) -> MissClass {
        let class = match self.shadow.access(line) {
            Found::Here => MissClass::Conflict,
            Found::Away if self.touched.insert(line) => MissClass::Compulsory,
            Found::Away | Found::Gone => MissClass::Capacity,
        };
        let class = if self.taken.contains(line.0) { MissClass::Coherence } else { class };
        *self.counts.of(class) += 1;
        class
    }
}

impl Classifier {
    /// For a hierarchy that is still empty.
    #[must_use]
    pub fn new(hierarchy: &Hierarchy) -> Self {
        let cache = |cache| CacheClasses::new(hierarchy.info(cache).level, hierarchy.geometry(cache).lines());
        Self { caches: hierarchy.caches().map(cache).collect(), last: vec![None; hierarchy.levels()] }
    }

    /// Says that a new reference begins: forgets [`Classifier::last_class`] of every level.
    pub fn begin(&mut self) {
        self.last.fill(None);
    }

    /// Why the newest reference missed here: the class of the last demand miss since [`Classifier::begin`]; write-backs do
    /// not count. `None` where it hit or never came.
    ///
    /// # Panics
    /// Here and below: when the level or cache does not exist.
    #[must_use]
    pub fn last_class(&self, level: LevelId) -> Option<MissClass> {
        self.last[level.index()]
    }

    /// Misses of a level so far, all its caches together; they sum to the level's misses of all kinds.
    #[must_use]
    pub fn counts(&self, level: LevelId) -> ClassCounts {
        let mut sum = ClassCounts::default();
        for cache in self.caches.iter().filter(|cache| cache.level == level) {
            sum += cache.counts;
        }
        sum
    }

    /// Misses of one cache so far.
    #[must_use]
    pub fn cache_counts(&self, cache: CacheId) -> ClassCounts {
        self.caches[cache.index()].counts
    }

    /// Bytes held, about.
    #[must_use]
    pub fn state_bytes(&self) -> usize {
        self.caches.iter().map(|cache| cache.shadow.state_bytes() + cache.touched.state_bytes()).sum()
    }
}

impl Observer for Classifier {
    #[inline(always)]
    fn wants(&self) -> Wants {
        let lists = Lists { accesses: true, ..Lists::default() };
        Wants { batches: Some(lists), ..Wants::ALL_EVENTS }
    }

    #[inline]
    fn batch(&mut self, batch: &Batch<'_>) {
        for &list in batch.accesses {
            self.caches[list.cache.index()].list(list);
        }
    }

    #[inline(always)]
    fn event(&mut self, event: Event) {
        match event {
            Event::Access { cache, line, hit: true, .. } => self.caches[cache.index()].hit(line),
            Event::Access { cache, line, kind: AccessKind::Prefetch, .. } => self.caches[cache.index()].hit(line),
            Event::Access { level, cache, line, kind, .. } => {
                let class = self.caches[cache.index()].miss(line);
                if kind.is_demand() {
                    self.last[level.index()] = Some(class);
                }
            }
            Event::Fill { cache, line, .. } => _ = self.caches[cache.index()].taken.remove(line.0),
            Event::Invalidate { cache, line, cause: Cause::Coherence, .. } => {
                self.caches[cache.index()].taken.insert(line.0);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeSet, VecDeque};

    /// Letters through a cache of `lines`: N = never asked for, g = gone, h = here.
    fn check(lines: u64, accesses: &str, expect: &str) {
        let (mut shadow, mut touched) = (Shadow::new(lines), Touched::new());
        let found = accesses.bytes().map(|b| {
            let line = LineAddr(u64::from(b));
            match shadow.access(line) {
                Found::Here => 'h',
                Found::Away if touched.insert(line) => 'N',
                Found::Away | Found::Gone => 'g',
            }
        });
        assert_eq!(found.collect::<String>(), expect, "{lines} lines: {accesses}");
    }

    #[test]
    fn fully_associative_lru_as_pictures() {
        check(1, "AABA", "NhNg");
        check(2, "ABABCA", "NNhhNg");
        check(3, "ABCADBA", "NNNhNgh");
        check(4, "ABCDAEBADC", "NNNNhNghhg");
        check(100, "ABCABC", "NNNhhh");
    }

    /// Misses (`A`), fills (`+A`) and coherence invalidations (`-A`) of a cache of 2 lines; the class of each miss by its
    /// letters: new, gone, here (a conflict), taken.
    #[test]
    fn classes_as_pictures() {
        let check = |story: &str, expect: &str| {
            let mut cache = CacheClasses::new(LevelId(0), 2);
            let mut words = Vec::new();
            for step in story.split(' ') {
                let line = LineAddr(u64::from(*step.as_bytes().last().expect("no empty step")));
                match step.as_bytes()[0] {
                    b'+' => _ = cache.taken.remove(line.0),
                    b'-' => _ = cache.taken.insert(line.0),
                    _ => words.push(match cache.miss(line) {
                        MissClass::Compulsory => "new",
                        MissClass::Capacity => "gone",
                        MissClass::Conflict => "here",
                        MissClass::Coherence => "taken",
                    }),
                }
            }
            assert_eq!(words.join(" "), expect, "{story}");
            assert_eq!(cache.counts.total(), words.len() as u64, "each miss has one class");
        };
        check("A B A C B", "new new here new gone");
        // Coherence goes before all others, until the line has been back.
        check("A +A -A A +A A", "new taken here");
        check("A +A -A B C A A +A B C A", "new new new taken taken gone gone gone");
        // A line prefetched by the cache itself may be taken before anybody asked for it.
        check("+A -A A +A A", "taken here");
    }

    /// Lines near each other, far apart, or all over; a few come again and again.
    fn lines() -> impl Strategy<Value = Vec<u64>> {
        let line = prop_oneof![
            4 => 0u64..40, 2 => (0u64..200).prop_map(|n| n << 52), 1 => (0u64..3).prop_map(|n| u64::MAX - n), 1 => any::<u64>()
        ];
        prop::collection::vec(line, 1..1500)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

        /// Against a list and a set; long enough for many renumberings, and for tables to grow.
        #[test]
        fn shadow_and_touched_agree_with_a_list(capacity in 1usize..160, lines in lines(), some in 1usize..=AHEAD) {
            let (mut shadow, mut touched) = (Shadow::new(capacity as u64), Touched::new());
            let (mut list, mut seen) = (VecDeque::new(), BTreeSet::new());
            // The same by many at once.
            let (mut at_once, mut by_many) = (vec![Found::Away; lines.len()], Shadow::new(capacity as u64));
            for (lines, found) in lines.chunks(some).zip(at_once.chunks_mut(some)) {
                by_many.access_all(lines, found);
            }
            for (n, &line) in lines.iter().enumerate() {
                let place = list.iter().position(|l| *l == line);
                if let Some(place) = place {
                    list.remove(place);
                }
                list.push_front(line);
                list.truncate(capacity);
                let found = shadow.access(LineAddr(line));
                prop_assert_eq!(found == Found::Here, place.is_some(), "access {} of line {}", n, line);
                prop_assert_eq!(at_once[n], found, "access {} of line {}", n, line);
                prop_assert!(found == Found::Away || seen.contains(&line), "access {} of line {}", n, line);
                prop_assert_eq!(touched.insert(LineAddr(line)), seen.insert(line), "access {} of line {}", n, line);
            }
        }
    }
}
