//! Why a miss: compulsory, capacity, conflict (Hill, "Aspects of Cache Memory and Instruction Buffer Performance", 1987).
//!
//! Beside each level runs a fully associative LRU cache of as many lines, fed every access of that level, write-backs from
//! inside included. A miss is *compulsory* where the level was never asked for the line before, *conflict* where that
//! cache still holds the line, *capacity* otherwise. Every miss has one class, so the three sum to the level's misses.

use super::hash::{LineMap, LineSet};
use super::hierarchy::Hierarchy;
use super::{AccessKind, Cause, Event, Observer};
use crate::units::{CacheId, LevelId, LineAddr};

/// Why a miss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MissClass {
    /// The level was never asked for the line before.
    Compulsory,
    /// A fully associative LRU cache of the same size would have missed too.
    Capacity,
    /// A fully associative LRU cache of the same size holds the line: its set was too crowded.
    Conflict,
    /// Another core's store took the line.
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

/// Misses of one level by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassCounts {
    /// First touches.
    pub compulsory: u64,
    /// Too many lines in use.
    pub capacity: u64,
    /// Too many lines in use in one set.
    pub conflict: u64,
    /// Lines that another core's store took.
    pub coherence: u64,
}

/// Classifies the misses of every level: an [`Observer`]. O(1) an access; memory grows with the distinct lines touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classifier {
    caches: Vec<CacheClasses>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct CacheClasses {
    level: LevelId,
    shadow: FullLru,
    /// Lines that another core's store took and that have not come back.
    lost: LineSet,
    counts: ClassCounts,
    last: Option<MissClass>,
}

impl Classifier {
    /// For a hierarchy that is still empty.
    #[must_use]
    pub fn new(hierarchy: &Hierarchy) -> Self {
        let cache = |cache: CacheId| CacheClasses {
            level: hierarchy.info(cache).level,
            shadow: FullLru::new(hierarchy.geometry(cache).lines()),
            lost: LineSet::default(),
            counts: ClassCounts::default(),
            last: None,
        };
        Self { caches: hierarchy.caches().map(cache).collect() }
    }

    /// Says that a new reference begins: forgets [`Classifier::last_class`] of every level.
    pub fn begin(&mut self) {
        for cache in &mut self.caches {
            cache.last = None;
        }
    }

    /// Why the newest reference missed here: the class of the last demand miss since [`Classifier::begin`]; write-backs do
    /// not count. `None` where it hit or never came.
    ///
    /// # Panics
    /// Here and below: when the level does not exist.
    #[must_use]
    pub fn last_class(&self, level: LevelId) -> Option<MissClass> {
        self.caches.iter().filter(|cache| cache.level == level).find_map(|cache| cache.last)
    }

    /// Misses so far; the three sum to the level's misses of all kinds.
    #[must_use]
    pub fn counts(&self, level: LevelId) -> ClassCounts {
        let mut sum = ClassCounts::default();
        for cache in self.caches.iter().filter(|cache| cache.level == level) {
            sum.compulsory += cache.counts.compulsory;
            sum.capacity += cache.counts.capacity;
            sum.conflict += cache.counts.conflict;
            sum.coherence += cache.counts.coherence;
        }
        sum
    }

    /// Bytes held, about.
    #[must_use]
    pub fn state_bytes(&self) -> usize {
        self.caches.iter().map(|cache| cache.shadow.state_bytes()).sum()
    }
}

impl Observer for Classifier {
    fn event(&mut self, event: Event) {
        let (cache, line, kind, hit) = match event {
            Event::Access { cache, line, kind, hit, .. } => (cache, line, kind, hit),
            Event::Invalidate { cache, line, cause: Cause::Coherence, .. } => {
                self.caches[cache.index()].lost.insert(line.0);
                return;
            }
            Event::Fill { cache, line, .. } => {
                self.caches[cache.index()].lost.remove(line.0);
                return;
            }
            _ => return,
        };
        let cache = &mut self.caches[cache.index()];
        let found = cache.shadow.access(line);
        // A prefetcher's request that misses is nobody's miss.
        if hit || kind == AccessKind::Prefetch {
            return;
        }
        let (class, count) = match found {
            _ if cache.lost.remove(line.0) => (MissClass::Coherence, &mut cache.counts.coherence),
            Found::Never => (MissClass::Compulsory, &mut cache.counts.compulsory),
            Found::Gone => (MissClass::Capacity, &mut cache.counts.capacity),
            Found::Here => (MissClass::Conflict, &mut cache.counts.conflict),
        };
        *count += 1;
        if kind.is_demand() {
            cache.last = Some(class);
        }
    }
}

/// What a fully associative cache knew of a line before the access.
enum Found {
    Never,
    Gone,
    Here,
}

/// No node: end of the list, or a line that was touched once and is gone.
const NONE: u32 = u32::MAX;

/// A fully associative LRU cache with all lines ever touched: a hash map into a list threaded through a vector.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FullLru {
    /// Node of a line, or [`NONE`]. Only looked up, never walked, so its order tells nobody anything.
    nodes_by_line: LineMap<u32>,
    nodes: Vec<Node>,
    capacity: usize,
    /// Most recent.
    head: u32,
    /// Next victim.
    tail: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Node {
    line: u64,
    newer: u32,
    older: u32,
}

impl FullLru {
    /// At most `MAX_LINES` lines (2^26), so that a node's number fits 32 bits.
    fn new(lines: u64) -> Self {
        let capacity = usize::try_from(lines).unwrap_or(usize::MAX).min(NONE as usize - 1);
        Self { nodes_by_line: LineMap::default(), nodes: Vec::new(), capacity, head: NONE, tail: NONE }
    }

    fn access(&mut self, line: LineAddr) -> Found {
        // The head needs no change; most accesses of real programs end here.
        if self.nodes.get(self.head as usize).is_some_and(|head| head.line == line.0) {
            return Found::Here;
        }
        let known = self.nodes_by_line.get(&line.0).copied();
        if let Some(node) = known.filter(|node| *node != NONE) {
            self.unlink(node);
            self.push_head(node);
            return Found::Here;
        }
        let node = self.free_node(line);
        self.nodes_by_line.insert(line.0, node);
        self.push_head(node);
        if known.is_some() { Found::Gone } else { Found::Never }
    }

    /// A node off the list for this line: a new one, or the next victim's.
    fn free_node(&mut self, line: LineAddr) -> u32 {
        if self.nodes.len() < self.capacity {
            self.nodes.push(Node { line: line.0, newer: NONE, older: NONE });
            return u32::try_from(self.nodes.len() - 1).unwrap_or(NONE);
        }
        let node = self.tail;
        self.unlink(node);
        let victim = std::mem::replace(&mut self.nodes[node as usize].line, line.0);
        self.nodes_by_line.insert(victim, NONE);
        node
    }

    fn unlink(&mut self, node: u32) {
        let Node { newer, older, .. } = self.nodes[node as usize];
        match newer {
            NONE => self.head = older,
            newer => self.nodes[newer as usize].older = older,
        }
        match older {
            NONE => self.tail = newer,
            older => self.nodes[older as usize].newer = newer,
        }
    }

    fn push_head(&mut self, node: u32) {
        let older = std::mem::replace(&mut self.head, node);
        self.nodes[node as usize].newer = NONE;
        self.nodes[node as usize].older = older;
        match older {
            NONE => self.tail = node,
            older => self.nodes[older as usize].newer = node,
        }
    }

    fn state_bytes(&self) -> usize {
        // A map entry is its key, its value, and a control byte.
        self.nodes.capacity() * size_of::<Node>() + self.nodes_by_line.capacity() * (size_of::<(u64, u32)>() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Letters through a cache of `lines`: N = never seen, g = gone, h = here.
    fn check(lines: u64, accesses: &str, expect: &str) {
        let mut lru = FullLru::new(lines);
        let found: String = accesses
            .bytes()
            .map(|b| match lru.access(LineAddr(u64::from(b))) {
                Found::Never => 'N',
                Found::Gone => 'g',
                Found::Here => 'h',
            })
            .collect();
        assert_eq!(found, expect, "{lines} lines: {accesses}");
    }

    #[test]
    fn fully_associative_lru_as_pictures() {
        check(1, "AABA", "NhNg");
        check(2, "ABABCA", "NNhhNg");
        check(3, "ABCADBA", "NNNhNgh");
        check(4, "ABCDAEBADC", "NNNNhNghhg");
        check(100, "ABCABC", "NNNhhh");
    }
}
