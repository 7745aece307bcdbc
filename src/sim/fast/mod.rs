//! The loops for the common case: an innermost level that is plain, and nobody watching.
//!
//! A cache is *plain* here when it is LRU, write-back, write-allocate, not exclusive, without sectors or prefetcher, with
//! 2^n sets by modulo. Where there are no TLBs, prefetchers or private caches of several cores anywhere, three loops play
//! references through a plain innermost cache. All do the same as [`Hierarchy::access`](super::Hierarchy::access),
//! reference by reference:
//!
//! - [`Way::Scan`] looks at word after word, the most recent first, with a branch each. Real programs mostly hit the first.
//! - [`Way::Vector`] compares and rotates a whole set at once: hits anywhere in the set cost the same.
//! - [`Way::Blocks`] sends a block of references through the cache as `Vector` does, but notes misses instead of following
//!   them; what the misses ask of the next cache is a list, and goes through that in the same way. No branch depends on a
//!   miss. Exact where nothing that happens outside a cache comes back to it: without inclusive and exclusive levels.
//!
//! The first two stop at what they do not do themselves (a miss, a reference over two lines) and hand it back. Which loop
//! plays a chunk follows from what the chunk before it did, so it never depends on time.

pub(super) mod scan;

use super::AccessKind;
use super::cache::LevelCounters;
use super::policy::VALID;
use super::simd::{self, Isa};
use crate::reference::{Kind, Reference};
use crate::units::LineAddr;
use scan::{ASK_BITS, Apart, BLOCK, Block, DIRTY_ASK, FIELD, FIELDS, Found, Next, ODD_ASK, Seen, Shape, Tally, Why};

/// A plain level as the loops see it.
pub(super) struct Plain<'a> {
    pub(super) shape: Shape,
    /// What plays it; not [`Isa::Plain`] for shapes beyond it.
    pub(super) isa: Isa,
    /// Its words, [`Shape::words`] many.
    pub(super) words: &'a mut [u64],
    pub(super) counters: &'a mut LevelCounters,
}

/// What the loops need of the hierarchy they play.
pub(super) trait Around {
    /// Caches that requests pass, from the CPU outward.
    fn caches(&self) -> usize;

    /// Whether what a cache does depends on nothing that happens outside it, and a miss asks before it writes back.
    fn is_one_way(&self) -> bool;

    /// One of these caches, if it is plain.
    fn plain(&mut self, at: usize) -> Option<Plain<'_>>;

    /// Plays a reference in the general way.
    fn access(&mut self, reference: &Reference);

    /// What a miss of the innermost cache causes once the line has taken its victim's place: counts the miss, the fill and
    /// the victim, asks the next cache, writes back. The reference lies in one line. Of a modify this is the read alone.
    fn miss(&mut self, reference: &Reference, victim: u64);

    /// Asks a cache, in the general way, for all bytes of a line of 2^`line_bits` bytes.
    fn request(&mut self, at: usize, line: LineAddr, line_bits: u32, kind: AccessKind);

    /// Counts requests of `bytes` bytes each that read from memory, and that write there.
    fn memory(&mut self, bytes: u64, reads: u64, writes: u64);
}

/// Which loop plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
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
pub(super) fn play(around: &mut impl Around, references: &[Reference], apart: Apart) {
    play_by(around, references, apart, None);
}

/// [`play`], by one loop only where `by` names it.
fn play_by(around: &mut impl Around, references: &[Reference], apart: Apart, by: Option<Way>) {
    let mut lists: Option<Box<Lists>> = None;
    let mut way = by.unwrap_or_else(|| first_way(around));
    for chunk in references.chunks(CHUNK) {
        let Some((before, isa)) = around.plain(0).map(|l| (l.counters.misses(), l.isa)) else {
            chunk.iter().for_each(|r| around.access(r));
            continue;
        };
        let mut did = match way {
            Way::Blocks => {
                let caches = around.caches();
                blocks(around, chunk, apart, lists.get_or_insert_with(|| Lists::new(caches)))
            }
            Way::Scan | Way::Vector => one_by_one(around, chunk, apart, isa, way == Way::Scan),
        };
        did.references = chunk.len() as u64;
        did.misses = around.plain(0).map_or(0, |l| l.counters.misses()) - before;
        way = by.unwrap_or_else(|| choose(did, isa, around.is_one_way()));
    }
}

/// How a chunk went.
#[derive(Clone, Copy, Debug, Default)]
struct Did {
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
fn choose(did: Did, isa: Isa, one_way: bool) -> Way {
    if did.others > did.references / 16 {
        Way::Scan
    } else if one_way && did.misses > did.references / 10 {
        Way::Blocks
    } else if did.depth > did.references && isa != Isa::Plain {
        Way::Vector
    } else {
        Way::Scan
    }
}

/// The loop for the first chunk, by what was played before.
fn first_way(around: &mut impl Around) -> Way {
    let one_way = around.is_one_way();
    around.plain(0).map_or(Way::Scan, |cache| {
        let (references, misses) = (cache.counters.accesses(), cache.counters.misses());
        choose(Did { references, misses, ..Did::default() }, cache.isa, one_way)
    })
}

fn one_by_one(around: &mut impl Around, chunk: &[Reference], apart: Apart, isa: Isa, scan: bool) -> Did {
    let (mut rest, mut seen, mut others) = (chunk, Seen::default(), 0);
    let one_way = around.is_one_way();
    while let Some(Plain { shape, words, .. }) = around.plain(0) {
        let stop = if scan {
            simd::scan_hits(isa, words, shape, rest, apart, &mut seen)
        } else {
            simd::hits(isa, words, shape, rest, apart, &mut seen)
        };
        let Some((at, left)) = rest[stop.at..].split_first() else { break };
        match stop.why {
            Why::Miss(victim) if one_way => missed(around, 0, shape, shape.ask(at), victim),
            Why::Miss(victim) => {
                around.miss(at, victim);
                if at.kind == Kind::Modify {
                    // The loop has counted the write, but its line may be gone again: an inclusive level outside took it.
                    seen.accesses -= FIELDS[Kind::Write as usize];
                    around.access(&Reference { kind: Kind::Write, ..*at });
                }
            }
            Why::Other | Why::End => {
                others += 1;
                around.access(at);
            }
        }
        rest = left;
    }
    if let Some(level) = around.plain(0) {
        let field = |n: u32| (seen.accesses >> (n * FIELD)) & ((1 << FIELD) - 1);
        level.counters.read_accesses += field(0);
        level.counters.write_accesses += field(1);
        level.counters.fetch_accesses += field(2);
    }
    Did { depth: seen.depth, others, ..Did::default() }
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
        let block = Block { asks: [0; BLOCK], made: 0, found: found() };
        Box::new(Self { block, next: vec![[0; 2 * BLOCK + 16]; caches], found: found() })
    }
}

fn blocks(around: &mut impl Around, chunk: &[Reference], apart: Apart, lists: &mut Lists) -> Did {
    let (mut rest, mut did) = (chunk, Did::default());
    let Lists { block, next, found } = lists;
    while let Some(Plain { shape, isa, words, counters }) = around.plain(0) {
        let Some((own, outer)) = next.split_first_mut() else { break };
        let taken = simd::take(isa, words, shape, rest, apart, block);
        let mut tally = Tally::default();
        let listed = simd::follow(isa, shape, &block.asks[..block.made], &block.found, &mut tally, own);
        tally.add_to(counters, shape);
        send(around, 1, shape.line_bits, &own[..listed], outer, found);
        rest = &rest[taken..];
        if block.made < BLOCK {
            let Some((other, left)) = rest.split_first() else { break };
            around.access(other);
            did.others += 1;
            rest = left;
        }
    }
    did
}

/// Sends requests for whole lines of 2^`line_bits` bytes to a level and what they cause to the levels behind it. A list
/// may double from level to level, so it is cut into blocks again at each. `next` are those of this level and on.
fn send(around: &mut impl Around, at: usize, line_bits: u32, asks: &[u64], next: &mut [Next], found: &mut Found) {
    let Some((own, outer)) = next.split_first_mut() else {
        let writes = asks.iter().filter(|ask| *ask & DIRTY_ASK != 0).count() as u64;
        return around.memory(1 << line_bits, asks.len() as u64 - writes, writes);
    };
    for block in asks.chunks(BLOCK) {
        match around.plain(at).filter(|plain| plain.shape.line_bits == line_bits) {
            Some(Plain { shape, isa, words, counters }) => {
                let mut tally = Tally::default();
                simd::through(isa, words, shape, block, found);
                let listed = simd::follow(isa, shape, block, found, &mut tally, own);
                tally.add_to(counters, shape);
                send(around, at + 1, line_bits, &own[..listed], outer, found);
            }
            None => {
                for &ask in block {
                    around.request(at, LineAddr(ask >> ASK_BITS), line_bits, kind_of(ask));
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

/// What one miss of a plain cache causes where all goes one way: counts it, asks the next cache, writes the victim back.
fn missed(around: &mut impl Around, at: usize, shape: Shape, ask: u64, victim: u64) {
    let Some(Plain { counters, .. }) = around.plain(at) else { return };
    let (wants, gives) = shape.causes(ask, victim);
    match ask & (DIRTY_ASK | ODD_ASK) {
        ODD_ASK => counters.fetch_misses += 1,
        DIRTY_ASK => counters.write_misses += 1,
        _ => counters.read_misses += 1,
    }
    counters.fills += 1;
    counters.evictions += victim & VALID;
    counters.bytes_in += if wants.is_some() { shape.line_bytes() } else { 0 };
    counters.writebacks += u64::from(gives.is_some());
    counters.bytes_out += if gives.is_some() { shape.line_bytes() } else { 0 };
    for ask in [wants, gives].into_iter().flatten() {
        request(around, at + 1, shape.line_bits, ask);
    }
}

/// One request for a whole line of 2^`line_bits` bytes, and what it causes, at once.
fn request(around: &mut impl Around, at: usize, line_bits: u32, ask: u64) {
    let Some(Plain { shape, words, counters, .. }) = around.plain(at).filter(|p| p.shape.line_bits == line_bits) else {
        return match (at == around.caches(), ask & DIRTY_ASK) {
            (true, 0) => around.memory(1 << line_bits, 1, 0),
            (true, _) => around.memory(1 << line_bits, 0, 1),
            (false, _) => around.request(at, LineAddr(ask >> ASK_BITS), line_bits, kind_of(ask)),
        };
    };
    counters.count_access(kind_of(ask));
    if let Err(victim) = scan::touch(words, shape, ask) {
        missed(around, at, shape, ask, victim);
    }
}

#[cfg(test)]
mod tests;
