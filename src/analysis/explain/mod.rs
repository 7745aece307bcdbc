//! Why a reference hit or missed: what it did in the hierarchy, what happened to its lines before, and when they are used next.
//!
//! All of it is played, nothing guessed: the trace runs up to the reference with a watch on its lines and a classifier beside it (see
//! [`classes`](crate::sim::classes) for what the classes mean), the reference itself event by event, and the rest of the trace is read
//! until the lines are used again.

use super::charted::First;
use crate::reference::{Reference, ReferenceSource, SourceLocation, all_of, in_order};
use crate::sim::config::HierarchyConfig;
use crate::sim::{
    AccessKind, Cause, Classifier, Event, Hierarchy, MissClass, Observer, PlayCheck, RequestId, SimError, Wants,
    prepare,
};
use crate::units::{ByteRange, CacheId, LineAddr};
use serde::Serialize;

mod watch;
use watch::{Departure, Watch};

mod words;

/// Why there is no explanation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExplainError {
    /// The reference is not there.
    #[error("reference {tick}: the trace has {len} references, numbered from 0")]
    PastTheEnd {
        /// Its number.
        tick: u64,
        /// How many there are.
        len: u64,
    },
    /// Trace and caches do not go together, or the trace cannot be read.
    #[error(transparent)]
    Sim(#[from] SimError),
}

/// One reference, told.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// Number of the reference, from 0.
    pub reference: u64,
    /// `read`, `write`, `modify` or `fetch`.
    pub kind: &'static str,
    /// First byte.
    pub address: u64,
    /// Bytes.
    pub bytes: u32,
    /// Its core.
    pub core: u16,
    /// The element or address, as it is shown.
    pub name: String,
    /// Where the instruction stands; `None` = unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<SourceLocation>,
    /// What caches were asked, in order; prefetches and write-backs are none of them.
    pub accesses: Vec<AccessTold>,
    /// Lines that had to leave a cache.
    pub departures: Vec<DepartureTold>,
    /// Bytes read from memory that it waits for.
    pub memory_bytes: u64,
    /// Bytes read from memory on the way that it does not wait for: for prefetches and write-backs.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_memory_bytes: u64,
    /// The last reference before it that touched one of its lines (of the innermost level's size); `None` = nobody did.
    pub last_use: Option<u64>,
    /// The next one after it; `None` = nobody does.
    pub next_use: Option<u64>,
    /// One to three sentences.
    pub sentences: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// A cache was asked for a line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AccessTold {
    /// Name of the cache.
    pub cache: String,
    /// The line's first byte.
    pub line: u64,
    /// Its set.
    pub set: u32,
    /// Ways of the set, and lines of the cache.
    pub ways: u32,
    /// Lines of the cache.
    pub lines: u64,
    /// Whether it was there.
    pub hit: bool,
    /// The access of the reference itself, not of a cache that missed.
    pub first: bool,
    /// Why it missed; `None` at hits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<&'static str>,
    /// How the line left this cache, where it was there before and missed now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<LeftTold>,
    #[serde(skip)]
    kind: Option<MissClass>,
}

/// How a line left a cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftTold {
    /// During which reference.
    pub reference: u64,
    /// What that reference touched, as it is shown.
    pub by: String,
    /// `evicted`, `inclusion`, `coherence` or `promotion`.
    pub cause: &'static str,
}

/// A line had to leave a cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DepartureTold {
    /// Name of the cache.
    pub cache: String,
    /// The line's first byte.
    pub line: u64,
    /// What lies in it, as it is shown.
    pub name: String,
    /// Whether it was dirty.
    pub dirty: bool,
    /// The cache that has it after the reference, the nearest on its way to memory, else the innermost; `None` = memory alone.
    pub to: Option<String>,
    /// The cache that its dirty bytes are written to, or `memory`; `None` = it was clean, its bytes went with the line
    /// of the cache outside that includes it, or nothing is written now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written_to: Option<String>,
    /// `evicted`, `inclusion`, `coherence` or `promotion`.
    pub cause: &'static str,
}

/// Word of a cause; `None` = it gave way to another line.
fn cause_word(cause: Option<Cause>) -> &'static str {
    match cause {
        None => "evicted",
        Some(Cause::Inclusion) => "inclusion",
        Some(Cause::Coherence) => "coherence",
        Some(Cause::Promotion) => "promotion",
    }
}

/// What a reference did, in order.
#[derive(Default)]
struct Deeds {
    events: Vec<(Event, Option<MissClass>)>,
}

/// Keeps events with the classes of misses.
struct Recorder<'a> {
    classifier: &'a mut Classifier,
    deeds: Deeds,
}

impl Observer for Recorder<'_> {
    fn wants(&self) -> Wants {
        Wants::ALL_EVENTS
    }

    fn event(&mut self, event: Event) {
        self.classifier.begin();
        self.classifier.event(event);
        let class = match event {
            Event::Access { level, .. } => self.classifier.last_class(level),
            _ => None,
        };
        self.deeds.events.push((event, class));
    }
}

/// Explains one reference of a trace under caches.
///
/// # Errors
/// [`ExplainError`].
pub fn explain(source: &dyn ReferenceSource, config: &HierarchyConfig, tick: u64) -> Result<Explanation, ExplainError> {
    explain_while(source, config, tick, &|| true)
}

/// As [`explain`]; `goes_on` is asked now and then.
///
/// # Errors
/// [`ExplainError`], also where `goes_on` says no.
pub fn explain_while(
    source: &dyn ReferenceSource,
    config: &HierarchyConfig,
    tick: u64,
    goes_on: &(dyn Fn() -> bool + Sync),
) -> Result<Explanation, ExplainError> {
    let len = source.len();
    let source: &dyn ReferenceSource = &First { source, references: len, goes_on };
    if tick >= len {
        return Err(ExplainError::PastTheEnd { tick, len });
    }
    let mut batch = Vec::new();
    source.batch(tick, &mut batch).map_err(SimError::from)?;
    let reference = *batch.first().ok_or(ExplainError::PastTheEnd { tick, len })?;
    let mut hierarchy = prepare(config, source)?;
    let mut classifier = Classifier::new(&hierarchy);
    let mut watch = Watch::new(&hierarchy, &reference);
    let mut check = PlayCheck::new([config]);
    let mut next_use = None;
    let mut deeds = Deeds::default();
    let mut states = None;
    in_order(all_of(source), len > source.chunk_len(), |from, part| {
        // What comes after is not played.
        let played = usize::try_from((tick + 1).saturating_sub(from)).map_or(part.len(), |n| n.min(part.len()));
        check.look(&part[..played], from)?;
        for (reference, number) in part.iter().zip(from..) {
            if number < tick {
                classifier.begin();
                watch.begin_at(number, reference);
                hierarchy.access(reference, &mut (&mut classifier, &mut watch));
            } else if number == tick {
                let before = hierarchy.clone();
                let mut recorder = Recorder { classifier: &mut classifier, deeds: Deeds::default() };
                hierarchy.access(reference, &mut recorder);
                deeds = recorder.deeds;
                states = Some((before, hierarchy.clone()));
            } else if watch.touches(reference) {
                next_use = Some(number);
                break;
            }
        }
        // The rest tells nothing more.
        if next_use.is_some() { Err(Ended::Done) } else { Ok(()) }
    })
    .or_else(|ended: Ended| match ended {
        Ended::Done => Ok(()),
        Ended::Failed(error) => Err(error),
    })?;
    let (before, after) = states.unwrap_or_else(|| (hierarchy.clone(), hierarchy));
    Ok(Telling { source, before: &before, after: &after, watch: &watch, reference, tick, next_use }.tell(deeds))
}

/// Why a pass ended before the end.
enum Ended {
    Done,
    Failed(SimError),
}

impl<E: Into<SimError>> From<E> for Ended {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// What an explanation is made of.
struct Telling<'a> {
    source: &'a dyn ReferenceSource,
    /// The caches before the reference.
    before: &'a Hierarchy,
    /// And after it.
    after: &'a Hierarchy,
    watch: &'a Watch,
    reference: Reference,
    tick: u64,
    next_use: Option<u64>,
}

impl Telling<'_> {
    fn tell(&self, deeds: Deeds) -> Explanation {
        let Reference { addr, pc, size, core, kind, .. } = self.reference;
        let mut told = Explanation {
            reference: self.tick,
            kind: kind.verb(),
            address: addr,
            bytes: size,
            core,
            name: self.byte_name(addr, self.tick),
            location: self.source.tables().location(pc).cloned(),
            accesses: self.accesses(&deeds),
            departures: self.departures(&deeds),
            memory_bytes: 0,
            more_memory_bytes: 0,
            last_use: self.watch.last_use(),
            next_use: self.next_use,
            sentences: Vec::new(),
        };
        let mut asked = Vec::new();
        for (event, _) in &deeds.events {
            let waited = |parent: Option<RequestId>| parent.is_none_or(|parent| asked.contains(&parent));
            match *event {
                Event::Access { origin, kind, .. } if kind.is_demand() && waited(origin.parent) => {
                    asked.push(origin.request)
                }
                Event::MemoryRead { origin, bytes, .. } if waited(origin.parent) => told.memory_bytes += bytes,
                Event::MemoryRead { bytes, .. } => told.more_memory_bytes += bytes,
                _ => {}
            }
        }
        told.sentences = self.sentences(&told, &deeds);
        told
    }

    /// The accesses that the reference waits for: a prefetch and what it asks for are none of them.
    fn accesses(&self, deeds: &Deeds) -> Vec<AccessTold> {
        let mut told = Vec::new();
        let mut asked = Vec::new();
        for (event, class) in &deeds.events {
            let Event::Access { origin, cache, line, set, kind, hit, .. } = *event else { continue };
            if !kind.is_demand() || origin.parent.is_some_and(|parent| !asked.contains(&parent)) {
                continue;
            }
            asked.push(origin.request);
            let geometry = self.before.geometry(cache);
            let left = self.watch.departure(cache, line).filter(|_| !hit);
            told.push(AccessTold {
                cache: self.before.name(cache),
                line: line.base(geometry.line_bytes).0,
                set: set.0,
                ways: geometry.ways,
                lines: geometry.lines(),
                hit,
                first: origin.parent.is_none(),
                class: class.filter(|_| !hit).map(MissClass::word),
                left: left.map(|left| self.left(left)),
                kind: class.filter(|_| !hit),
            });
        }
        told
    }

    fn left(&self, Departure { tick, addr, cause }: Departure) -> LeftTold {
        LeftTold { reference: tick, by: self.byte_name(addr, tick), cause: cause_word(cause) }
    }

    fn departures(&self, deeds: &Deeds) -> Vec<DepartureTold> {
        let departure = |(number, (event, _)): (usize, &(Event, Option<MissClass>))| {
            let (origin, cache, line, dirty, cause) = match *event {
                Event::Evict { origin, cache, line, dirty, .. } => (origin, cache, line, dirty, None),
                Event::Invalidate { origin, cache, line, dirty, cause, .. } => {
                    (origin, cache, line, dirty, Some(cause))
                }
                _ => return None,
            };
            let bytes = self.line_bytes(cache, line);
            let later = &deeds.events[number + 1..];
            Some(DepartureTold {
                cache: self.before.name(cache),
                line: bytes.first,
                name: self.line_name(bytes),
                dirty,
                to: self.nearest_copy(cache, bytes).map(|to| self.before.name(to)),
                written_to: (dirty && cause != Some(Cause::Inclusion))
                    .then(|| self.written_to(bytes, origin.request, later))
                    .flatten(),
                cause: cause_word(cause),
            })
        };
        deeds.events.iter().enumerate().filter_map(departure).collect()
    }

    /// The cache that has a line after the reference that left `cache`: the nearest on its way to memory, else the innermost of the others.
    fn nearest_copy(&self, cache: CacheId, bytes: ByteRange) -> Option<CacheId> {
        let holds = |other: &CacheId| {
            let line = LineAddr(bytes.first / u64::from(self.after.geometry(*other).line_bytes));
            *other != cache && self.after.rank(*other, line).is_some()
        };
        let way = std::iter::successors(self.after.outward(cache), |cache| self.after.outward(*cache));
        way.chain(self.after.caches()).find(holds)
    }

    /// Where the bytes of a dirty line go that left during `request`: the write-backs that this led to, until a cache keeps them.
    fn written_to(&self, bytes: ByteRange, request: RequestId, later: &[(Event, Option<MissClass>)]) -> Option<String> {
        let mut sent = vec![request];
        later.iter().find_map(|(event, _)| match *event {
            Event::Access { origin, cache, line, kind: AccessKind::Writeback, hit, .. }
                if origin.parent.is_some_and(|parent| sent.contains(&parent))
                    && self.line_bytes(cache, line).meets(bytes) =>
            {
                sent.push(origin.request);
                hit.then(|| self.before.name(cache))
            }
            Event::Fill { origin, cache, line, dirty: true, .. }
                if sent[1..].contains(&origin.request) && self.line_bytes(cache, line).meets(bytes) =>
            {
                Some(self.before.name(cache))
            }
            Event::MemoryWrite { origin, addr, bytes: count }
                if origin.parent.is_some_and(|parent| sent.contains(&parent))
                    && ByteRange::new(addr.0, count).meets(bytes) =>
            {
                Some("memory".to_owned())
            }
            _ => None,
        })
    }

    fn line_bytes(&self, cache: CacheId, line: LineAddr) -> ByteRange {
        let bytes = self.before.geometry(cache).line_bytes;
        ByteRange::new(line.base(bytes).0, u64::from(bytes))
    }
}
