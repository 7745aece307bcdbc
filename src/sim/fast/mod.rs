//! The loops for the common case: an innermost level that is plain, and nobody watching.
//!
//! A cache is *plain* here when it is LRU, write-back, write-allocate, not exclusive, without sectors or prefetcher, with
//! 2^n sets by modulo. Where there are no TLBs, prefetchers or private caches of several cores anywhere, three loops play
//! references through a plain innermost cache. All do the same as [`Hierarchy::access`](super::Hierarchy::access),
//! reference by reference:
//!
//! - [`Loop::Scan`] looks at word after word, the most recent first, with a branch each. Real programs mostly hit the first.
//! - [`Loop::Vector`] compares and rotates a whole set at once: hits anywhere in the set cost the same.
//! - [`Loop::Blocks`] sends a block of references through the cache as `Vector` does, but notes misses instead of following
//!   them; what the misses ask of the next cache is a list, and goes through that in the same way. No branch depends on a
//!   miss. Exact where nothing that happens outside a cache comes back to it: without inclusive and exclusive levels.
//!
//! The first two stop at what they do not do themselves (a miss, a reference over two lines) and hand it back. Which loop
//! plays a chunk follows from what the chunk before it did, so it never depends on time.

pub(super) mod scan;
mod watched;

use super::counters::LevelCounters;
use super::hierarchy::Leaving;
use super::observer::{AccessList, Batch, Events, Lists as WantedLists, Observer};
use super::policy::{DIRTY, VALID};
use super::simd::{self, Isa};
use super::{AccessKind, Event, Origin, RequestId};
use crate::reference::{Kind, Reference};
use crate::units::{Addr, CacheId, LevelId, LineAddr};
use scan::{
    ASK_BITS, BLOCK, Block, DIRTY_ASK, Exceptions, FIELD, FIELDS, Found, Next, ODD_ASK, Seen, Shape, Tally, Why,
};
use watched::BlockRecord;

/// A plain level as the loops see it.
pub(super) struct Plain<'a> {
    pub(super) shape: Shape,
    /// What plays it; not [`Isa::Plain`] for shapes beyond it.
    pub(super) isa: Isa,
    /// Its words, a set after the other.
    pub(super) words: &'a mut [u64],
    pub(super) counters: &'a mut LevelCounters,
}

/// What the loops need of the hierarchy they play.
pub(super) trait Surroundings {
    /// Caches that requests pass, from the CPU outward.
    fn caches(&self) -> usize;

    /// Whether what a cache does depends on nothing that happens outside it, and a miss asks before it writes back.
    fn is_one_way(&self) -> bool;

    /// One of these caches, if it is plain.
    fn plain(&mut self, at: usize) -> Option<Plain<'_>>;

    /// Plays a reference, or the rest of one, in the general way. Then the numbers of requests begin anew.
    fn access<O: Observer>(&mut self, reference: &Reference, observer: &mut O);

    /// A number for the next request of the reference at play, which `parent` made.
    fn number(&mut self, parent: Option<RequestId>) -> Origin;

    /// The reference at play is done: the numbers of requests begin anew.
    fn finish(&mut self);

    /// Where one of these caches stands; anything behind the last.
    fn place(&self, at: usize) -> Place;

    /// What a miss of the innermost cache causes once the line has taken its victim's place: counts the miss, the fill and
    /// the victim, asks the next cache, writes back. The reference lies in one line. Of a modify this is the read alone.
    fn miss<O: Observer>(&mut self, reference: &Reference, victim: u64, origin: Origin, observer: &mut O);

    /// Asks a cache, in the general way, for all bytes of a line, because of the request `cause`.
    fn request<O: Observer>(&mut self, at: usize, line: Line, kind: AccessKind, cause: Origin, observer: &mut O);

    /// Whether there are no caches but these.
    fn is_all(&self) -> bool;

    /// Tells where what left went, once its reference is done.
    fn tell_gone<O: Observer>(&self, leaving: Leaving<'_, O>);

    /// Counts requests of `bytes` bytes each that read from memory, and that write there.
    fn memory(&mut self, bytes: u64, reads: u64, writes: u64);
}

/// A line of 2^`bits` bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) number: LineAddr,
    pub(super) bits: u32,
}

/// What events say of a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) level: LevelId,
    pub(super) cache: CacheId,
}

/// Which loop plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loop {
    /// Word after word.
    Scan,
    /// Whole sets.
    Vector,
    /// Whole sets, and misses later.
    Blocks,
}

/// References played between two choices of the loop.
const CHUNK: usize = 2048;

/// Plays references through a hierarchy; nothing is observed. Where the innermost level is not plain, in the general way.
pub(super) fn play(surroundings: &mut impl Surroundings, references: &[Reference], exceptions: Exceptions) {
    play_by(surroundings, references, exceptions, None);
}

/// As [`play`], for an observer, which is told where each reference begins.
pub(super) fn play_watched<O: Observer>(
    surroundings: &mut impl Surroundings,
    references: &[Reference],
    exceptions: Exceptions,
    observer: &mut O,
) {
    // Blocks know where lines went only where all caches play them.
    let blocks = !observer.wants().gone || surroundings.is_all();
    let mut told: Option<Box<BlockRecord>> = if blocks { BlockRecord::of(surroundings) } else { None };
    let mut way = first_loop(surroundings);
    // A first choice needs a look at some.
    let (first, rest) = references.split_at(references.len().min(CHUNK / 8));
    for chunk in std::iter::once(first).chain(rest.chunks(CHUNK)) {
        let Some((before, isa)) = surroundings.plain(0).map(|l| (l.counters.misses(), l.isa)) else {
            for reference in chunk {
                observer.begin(reference);
                surroundings.access(reference, observer);
            }
            continue;
        };
        let mut outcome = match (way, &mut told) {
            (Loop::Blocks, Some(told)) => told.play(surroundings, chunk, exceptions, observer),
            _ => one_by_one(surroundings, chunk, exceptions, (isa, way != Loop::Vector), observer),
        };
        outcome.references = chunk.len() as u64;
        outcome.misses = surroundings.plain(0).map_or(0, |l| l.counters.misses()) - before;
        way = choose(outcome, isa, surroundings.is_one_way());
    }
}

/// [`play`], by one loop only where `by` names it.
fn play_by(surroundings: &mut impl Surroundings, references: &[Reference], exceptions: Exceptions, by: Option<Loop>) {
    let mut lists: Option<Box<Lists>> = None;
    let mut way = by.unwrap_or_else(|| first_loop(surroundings));
    for chunk in references.chunks(CHUNK) {
        let Some((before, isa)) = surroundings.plain(0).map(|l| (l.counters.misses(), l.isa)) else {
            chunk.iter().for_each(|r| surroundings.access(r, &mut ()));
            continue;
        };
        let mut outcome = match way {
            Loop::Blocks => {
                let caches = surroundings.caches();
                blocks(surroundings, chunk, exceptions, lists.get_or_insert_with(|| Lists::new(caches)))
            }
            Loop::Scan | Loop::Vector => one_by_one(surroundings, chunk, exceptions, (isa, way == Loop::Scan), &mut ()),
        };
        outcome.references = chunk.len() as u64;
        outcome.misses = surroundings.plain(0).map_or(0, |l| l.counters.misses()) - before;
        way = by.unwrap_or_else(|| choose(outcome, isa, surroundings.is_one_way()));
    }
}

/// How a chunk went.
#[derive(Clone, Copy, Debug, Default)]
struct ChunkOutcome {
    references: u64,
    /// Of the innermost cache.
    misses: u64,
    /// [`Seen::depth`]; 0 where it was not counted.
    depth: u64,
    /// References handed back.
    others: u64,
}

/// The loop for the next chunk. A scan costs a wrong guess of the processor for most hits that are not at the head; a
/// branch on misses costs one for most misses where they are many.
fn choose(outcome: ChunkOutcome, isa: Isa, one_way: bool) -> Loop {
    if outcome.others > outcome.references / 16 {
        Loop::Scan
    } else if one_way && outcome.misses > outcome.references / 10 {
        Loop::Blocks
    } else if outcome.depth > outcome.references && isa != Isa::Plain {
        Loop::Vector
    } else {
        Loop::Scan
    }
}

/// The loop for the first chunk, by what was played before.
fn first_loop(surroundings: &mut impl Surroundings) -> Loop {
    let one_way = surroundings.is_one_way();
    surroundings.plain(0).map_or(Loop::Scan, |cache| {
        let (references, misses) = (cache.counters.accesses(), cache.counters.misses());
        choose(ChunkOutcome { references, misses, ..ChunkOutcome::default() }, cache.isa, one_way)
    })
}

fn one_by_one<O: Observer>(
    surroundings: &mut impl Surroundings,
    chunk: &[Reference],
    exceptions: Exceptions,
    (isa, scan): (Isa, bool),
    observer: &mut O,
) -> ChunkOutcome {
    let (mut rest, mut seen, mut others) = (chunk, Seen::default(), 0);
    let wants = observer.wants();
    while let Some(Plain { shape, words, .. }) = surroundings.plain(0) {
        let stop = if scan {
            simd::scan_hits(isa, words, shape, rest, exceptions, &mut seen)
        } else {
            simd::hits(isa, words, shape, rest, exceptions, &mut seen)
        };
        if !wants.is_nothing() {
            // A hit changes nothing outside its set, so it can be told after the hits behind it.
            let (place, references) = (surroundings.place(0), &rest[..stop.at]);
            match wants.batches {
                Some(lists) => batch_hits(shape, place, references, exceptions, lists, observer),
                None => {
                    for reference in references {
                        observer.begin(reference);
                        if wants.events == Events::All && !exceptions.drops(reference.kind) {
                            tell_hit(shape, place, reference, observer);
                        }
                    }
                }
            }
        }
        let Some((at, left)) = rest[stop.at..].split_first() else { break };
        observer.begin(at);
        match stop.why {
            Why::Miss(victim) if wants.gone => {
                let mut leaving = Leaving::new(observer);
                one_missed(surroundings, shape, at, victim, &mut seen, &mut leaving);
                surroundings.tell_gone(leaving);
            }
            Why::Miss(victim) => one_missed(surroundings, shape, at, victim, &mut seen, observer),
            Why::Other | Why::End => {
                others += 1;
                surroundings.access(at, observer);
            }
        }
        rest = left;
    }
    if let Some(level) = surroundings.plain(0) {
        let field = |n: u32| (seen.accesses >> (n * FIELD)) & ((1 << FIELD) - 1);
        level.counters.read_accesses += field(0);
        level.counters.write_accesses += field(1);
        level.counters.fetch_accesses += field(2);
    }
    ChunkOutcome { depth: seen.depth, others, ..ChunkOutcome::default() }
}

/// A reference that the loop has counted, and that missed.
#[inline(always)]
fn one_missed<O: Observer>(
    surroundings: &mut impl Surroundings,
    shape: Shape,
    at: &Reference,
    victim: u64,
    seen: &mut Seen,
    observer: &mut O,
) {
    let (place, tells) = (surroundings.place(0), !observer.wants().is_nothing());
    let origin = surroundings.number(None);
    if tells {
        let kind = kind_of_miss(shape.ask(at));
        observer.event(shape.access(place, at.addr >> shape.line_bits, (kind, false), origin));
    }
    if surroundings.is_one_way() {
        missed(surroundings, 0, shape, (shape.ask(at), origin), victim, observer);
        if tells && at.kind == Kind::Modify {
            let origin = surroundings.number(None);
            observer.event(shape.access(place, at.addr >> shape.line_bits, (AccessKind::Write, true), origin));
        }
    } else {
        surroundings.miss(at, victim, origin, observer);
        if at.kind == Kind::Modify {
            // The loop has counted the write, but its line may be gone again: an inclusive level outside took it.
            seen.accesses -= FIELDS[Kind::Write as usize];
            surroundings.access(&Reference { kind: Kind::Write, ..*at }, observer);
        }
    }
    surroundings.finish();
}

/// Hits listed at once.
const LISTED: usize = 128;

/// Gives references that all hit. Of the accesses a line that is one of the two newest only changes places with the other, which is
/// all that an order of recency makes of it: programs go to and fro between an array and the stack.
fn batch_hits<O: Observer>(
    shape: Shape,
    place: Place,
    references: &[Reference],
    exceptions: Exceptions,
    lists: WantedLists,
    observer: &mut O,
) {
    if !lists.accesses {
        return observer.batch(&Batch { references, ..Batch::default() });
    }
    for references in references.chunks(LISTED) {
        let (mut asks, mut n) = ([0; LISTED], 0);
        for reference in references {
            let ask = shape.ask(reference) >> ASK_BITS << ASK_BITS;
            if exceptions.drops(reference.kind) || (n > 0 && asks[n - 1] == ask) {
                continue;
            }
            if n > 1 && asks[n - 2] == ask {
                asks.swap(n - 1, n - 2);
                continue;
            }
            asks[n] = ask;
            n += 1;
        }
        let accesses = [AccessList { cache: place.cache, asks: &asks[..n], matched: None }];
        observer.batch(&Batch { references, accesses: &accesses, ..Batch::default() });
    }
}

/// The events of a reference that hit.
#[inline(always)]
fn tell_hit<O: Observer>(shape: Shape, place: Place, reference: &Reference, observer: &mut O) {
    let line = reference.addr >> shape.line_bits;
    let kind = AccessKind::of(reference.kind);
    observer.event(shape.access(place, line, (kind, true), Origin::FIRST));
    if reference.kind == Kind::Modify {
        let origin = Origin { request: RequestId::FIRST.next(), parent: None };
        observer.event(shape.access(place, line, (AccessKind::Write, true), origin));
    }
}

/// Room for what the blocks do at each level.
struct Lists {
    block: Block,
    /// Of each level.
    next: Vec<Next>,
    /// Of the level that plays; done with before the next level plays.
    found: Found,
}

impl Lists {
    fn new(caches: usize) -> Box<Self> {
        let found = || Found { matched: [0; BLOCK], left: [0; BLOCK] };
        Box::new(Self { block: Block::new(), next: vec![[0; 2 * BLOCK + 16]; caches], found: found() })
    }
}

fn blocks(
    surroundings: &mut impl Surroundings,
    chunk: &[Reference],
    exceptions: Exceptions,
    lists: &mut Lists,
) -> ChunkOutcome {
    let (mut rest, mut outcome) = (chunk, ChunkOutcome::default());
    let Lists { block, next, found } = lists;
    while let Some(Plain { shape, isa, words, counters }) = surroundings.plain(0) {
        let Some((own, outer)) = next.split_first_mut() else { break };
        let taken = simd::take(isa, words, shape, rest, exceptions, block);
        let mut tally = Tally::default();
        let listed = simd::follow(isa, shape, &block.asks[..block.made], &block.found, &mut tally, own);
        tally.add_to(counters, shape);
        send(surroundings, 1, shape.line_bits, &own[..listed], outer, found);
        rest = &rest[taken..];
        if block.made < BLOCK {
            let Some((other, left)) = rest.split_first() else { break };
            surroundings.access(other, &mut ());
            outcome.others += 1;
            rest = left;
        }
    }
    outcome
}

/// Sends requests for whole lines of 2^`line_bits` bytes to a level and what they cause to the levels behind it. A list
/// may double from level to level, so it is cut into blocks again at each. `next` are those of this level and on.
fn send(
    surroundings: &mut impl Surroundings,
    at: usize,
    line_bits: u32,
    asks: &[u64],
    next: &mut [Next],
    found: &mut Found,
) {
    let Some((own, outer)) = next.split_first_mut() else {
        let writes = asks.iter().filter(|ask| *ask & DIRTY_ASK != 0).count() as u64;
        return surroundings.memory(1 << line_bits, asks.len() as u64 - writes, writes);
    };
    for block in asks.chunks(BLOCK) {
        match surroundings.plain(at).filter(|plain| plain.shape.line_bits == line_bits) {
            Some(Plain { shape, isa, words, counters }) => {
                let mut tally = Tally::default();
                simd::through(isa, words, shape, block, found);
                let listed = simd::follow(isa, shape, block, found, &mut tally, own);
                tally.add_to_outer(counters, shape);
                send(surroundings, at + 1, line_bits, &own[..listed], outer, found);
            }
            None => {
                for &ask in block {
                    let line = Line { number: LineAddr(ask >> ASK_BITS), bits: line_bits };
                    surroundings.request(at, line, kind_of(ask), Origin::FIRST, &mut ());
                    surroundings.finish();
                }
            }
        }
    }
}

/// The kind of a request that is no store.
fn kind_of(ask: u64) -> AccessKind {
    match ask & (DIRTY_ASK | ODD_ASK) {
        0 => AccessKind::Read,
        ODD_ASK => AccessKind::Fetch,
        _ => AccessKind::Writeback,
    }
}

/// The kind of the access that misses, of a request of the program.
fn kind_of_miss(ask: u64) -> AccessKind {
    match ask & (DIRTY_ASK | ODD_ASK) {
        ODD_ASK => AccessKind::Fetch,
        DIRTY_ASK => AccessKind::Write,
        _ => AccessKind::Read,
    }
}

/// What one miss of a plain cache causes where all goes one way: counts it, asks the next cache, writes the victim back.
fn missed<O: Observer>(
    surroundings: &mut impl Surroundings,
    at: usize,
    shape: Shape,
    (ask, origin): (u64, Origin),
    victim: u64,
    observer: &mut O,
) {
    let place = if observer.wants().is_nothing() { Place::default() } else { surroundings.place(at) };
    let Some(Plain { counters, .. }) = surroundings.plain(at) else { return };
    let (wants, gives) = shape.causes(ask, victim);
    match ask & (DIRTY_ASK | ODD_ASK) {
        ODD_ASK => counters.fetch_misses += 1,
        DIRTY_ASK => {
            counters.write_misses += 1;
            // Outside the innermost level what is written is written back.
            counters.writeback_misses += u64::from(at > 0);
        }
        _ => counters.read_misses += 1,
    }
    counters.fills += 1;
    counters.evictions += victim & VALID;
    counters.bytes_in += if wants.is_some() { shape.line_bytes() } else { 0 };
    counters.writebacks += u64::from(gives.is_some());
    counters.bytes_out += if gives.is_some() { shape.line_bytes() } else { 0 };
    if !observer.wants().is_nothing() {
        tell_evict_and_fill(shape, place, (ask, origin), victim, observer);
    }
    for ask in [wants, gives].into_iter().flatten() {
        request(surroundings, at + 1, shape.line_bits, (ask, origin), observer);
    }
}

/// The events of a line that took the place of a word.
#[inline(always)]
fn tell_evict_and_fill<O: Observer>(
    shape: Shape,
    place: Place,
    (ask, origin): (u64, Origin),
    victim: u64,
    observer: &mut O,
) {
    let Place { level, cache } = place;
    let line = ask >> ASK_BITS;
    let set = shape.set(line);
    if victim & VALID != 0 {
        let line = LineAddr(shape.neighbour(victim, line));
        observer.event(Event::Evict { origin, level, cache, line, set, dirty: victim & DIRTY != 0 });
    }
    // A modify fills by its read.
    let dirty = ask & (DIRTY_ASK | ODD_ASK) == DIRTY_ASK;
    observer.event(Event::Fill { origin, level, cache, line: LineAddr(line), set, dirty, prefetch: false });
}

/// One request for a whole line of 2^`line_bits` bytes because of the request `cause`, and what it leads to, at once.
fn request<O: Observer>(
    surroundings: &mut impl Surroundings,
    at: usize,
    line_bits: u32,
    (ask, cause): (u64, Origin),
    observer: &mut O,
) {
    let tells = !observer.wants().is_nothing();
    let place = if tells { surroundings.place(at) } else { Place::default() };
    let Some(Plain { shape, words, counters, .. }) = surroundings.plain(at).filter(|p| p.shape.line_bits == line_bits)
    else {
        let line = LineAddr(ask >> ASK_BITS);
        if at < surroundings.caches() {
            return surroundings.request(at, Line { number: line, bits: line_bits }, kind_of(ask), cause, observer);
        }
        let (addr, bytes, origin) =
            (Addr(line.0 << line_bits), 1 << line_bits, surroundings.number(Some(cause.request)));
        if ask & DIRTY_ASK == 0 {
            surroundings.memory(bytes, 1, 0);
            observer.event(Event::MemoryRead { origin, addr, bytes });
        } else {
            surroundings.memory(bytes, 0, 1);
            observer.event(Event::MemoryWrite { origin, addr, bytes });
        }
        return;
    };
    let kind = kind_of(ask);
    counters.count_access(kind);
    let found = scan::touch(words, shape, ask);
    let origin = surroundings.number(Some(cause.request));
    if tells {
        observer.event(shape.access(place, ask >> ASK_BITS, (kind, found.is_ok()), origin));
    }
    if let Err(victim) = found {
        missed(surroundings, at, shape, (ask, origin), victim, observer);
    }
}

#[cfg(test)]
mod tests;
