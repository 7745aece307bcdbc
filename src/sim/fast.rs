//! The loops for the common case: an innermost level that is plain, and nobody watching.
//!
//! A level is *plain* here when it is LRU, write-back, write-allocate, unified, undivided, of one core, with 2^n sets by
//! modulo, and nothing that happens outside it comes back to it. Three loops play references through a plain innermost
//! level. All do the same as [`Hierarchy::access`](super::Hierarchy::access), reference by reference:
//!
//! - [`Way::Scan`] looks at word after word, the most recent first, with a branch each. Real programs mostly hit the first.
//! - [`Way::Vector`] compares and rotates a whole set at once: hits anywhere in the set cost the same.
//! - [`Way::Blocks`] sends a block of references through the level as `Vector` does, but notes misses instead of following
//!   them; what the misses ask of the next level is a list, and goes through that level in the same way. No branch depends
//!   on a miss. Exact, because what plain levels do does not depend on the levels outside.
//!
//! The first two stop at what they do not do themselves (a miss, a reference over two lines) and hand it back. Which loop
//! plays a chunk follows from what the chunk before it did, so it never depends on time.

use super::{AccessKind, Geometry};
use super::cache::LevelCounters;
use super::policy::{DIRTY, FLAG_BITS, VALID};
use super::simd::{self, Isa};
use crate::reference::{Kind, Reference};
use crate::units::LineAddr;

/// What a loop has to know of a plain level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// log2 of the bytes of a line, 3 to 31.
    pub(super) line_bits: u32,
    /// log2 of the number of sets, 0 to 31.
    pub(super) set_bits: u32,
    /// Lines in a set, 1 or more.
    pub(super) ways: usize,
}

impl Shape {
    /// Of a level that the loops can do, by its sets and lines.
    pub(super) fn of(geometry: &Geometry) -> Option<Self> {
        // Three bits of a request are its code.
        let fits = geometry.sets.is_power_of_two() && geometry.line_bytes >= 1 << ASK_BITS;
        fits.then(|| Self {
            line_bits: geometry.line_bytes.trailing_zeros(),
            set_bits: geometry.sets.trailing_zeros(),
            ways: geometry.ways as usize,
        })
    }

    /// Words of the level.
    pub(super) fn words(self) -> usize {
        self.ways << self.set_bits
    }

    #[inline(always)]
    pub(super) fn line_bytes(self) -> u64 {
        1 << self.line_bits
    }

    /// Index of the first word of a line's set.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "below the number of sets, which fit into memory")]
    pub(super) fn start(self, line: u64) -> usize {
        (line & ((1 << self.set_bits) - 1)) as usize * self.ways
    }

    /// The word of a clean line.
    #[inline(always)]
    pub(super) fn key(self, line: u64) -> u64 {
        ((line >> self.set_bits) << FLAG_BITS) | VALID
    }

    /// The line of a word in the set of another line.
    #[inline(always)]
    fn neighbour(self, word: u64, of: u64) -> u64 {
        ((word >> FLAG_BITS) << self.set_bits) | (of & ((1 << self.set_bits) - 1))
    }
}

/// Where instruction fetches go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fetches {
    /// Into the level, as data.
    Here,
    /// Nowhere (`data_only`).
    Dropped,
    /// To another cache: the loops hand them back.
    Elsewhere,
}

/// What [`hits`] counts, added to by each call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// Accesses in fields of 21 bits: reads, writes, fetches. The miss at which a call stops is among them.
    pub(super) accesses: u64,
    /// Sum over all hits of their line's place in its set, 0 = most recent.
    pub(super) depth: u64,
}

/// Bits of a field of [`Seen::accesses`]; a chunk is shorter than 2^21 references, so none overflows.
const FIELD: u32 = 21;
/// What a reference of each kind adds: a modify is a read and a write.
pub(super) const FIELDS: [u64; 4] = [1, 1 << FIELD, 1 | 1 << FIELD, 1 << (2 * FIELD)];

/// Where and why a loop stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stop {
    /// Index of the reference it stopped at.
    pub(super) at: usize,
    /// Why.
    pub(super) why: Why,
}

/// Why a loop stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// All are played.
    End,
    /// The reference was counted and missed; its line has taken the place of this word (0 = of none).
    Miss(u64),
    /// Nothing was done for it: it lies on more than one line, or is a fetch for another cache.
    Other,
}

/// Plays references until one misses or is not for this loop. A modify is one touch: it reads, then writes what the read
/// has brought.
pub(super) fn hits_scan(
    words: &mut [u64],
    shape: Shape,
    references: &[Reference],
    fetches: Fetches,
    seen: &mut Seen,
) -> Stop {
    match shape.ways {
        2 => hits_of::<2>(words, shape, references, fetches, seen),
        4 => hits_of::<4>(words, shape, references, fetches, seen),
        8 => hits_of::<8>(words, shape, references, fetches, seen),
        12 => hits_of::<12>(words, shape, references, fetches, seen),
        16 => hits_of::<16>(words, shape, references, fetches, seen),
        _ => hits_of::<0>(words, shape, references, fetches, seen),
    }
}

/// [`hits_scan`] with the ways as a constant; 0 = any number.
fn hits_of<const WAYS: usize>(
    words: &mut [u64],
    mut shape: Shape,
    references: &[Reference],
    fetches: Fetches,
    seen: &mut Seen,
) -> Stop {
    if WAYS != 0 {
        shape.ways = WAYS;
    }
    let Seen { mut accesses, mut depth } = *seen;
    let mut stop = Stop { at: references.len(), why: Why::End };
    for (at, reference) in references.iter().enumerate() {
        let (kind, offset) = (reference.kind, reference.addr & (shape.line_bytes() - 1));
        if kind == Kind::Fetch && fetches != Fetches::Here {
            if fetches == Fetches::Dropped {
                continue;
            }
            stop = Stop { at, why: Why::Other };
            break;
        }
        if offset + u64::from(reference.size) > shape.line_bytes() {
            stop = Stop { at, why: Why::Other };
            break;
        }
        accesses += FIELDS[kind as usize];
        let line = reference.addr >> shape.line_bits;
        let (key, dirty) = (shape.key(line), (kind as u64 + 1) & DIRTY);
        let start = shape.start(line);
        let set = &mut words[start..start + shape.ways];
        let head = set[0];
        if head & !DIRTY == key {
            // Stored only where it changes something: a store keeps vector loads of the set waiting.
            if dirty & !head != 0 {
                set[0] = head | dirty;
            }
            continue;
        }
        match scan(set, key, dirty) {
            Ok(place) => depth += place,
            Err(victim) => {
                stop = Stop { at, why: Why::Miss(victim) };
                break;
            }
        }
    }
    *seen = Seen { accesses, depth };
    stop
}

/// Looks for a line that is not at the head, and ages those before it in one pass: at the end of a miss the pass has
/// dropped the victim. The place it was found at, or the word that left.
#[inline(always)]
fn scan(set: &mut [u64], key: u64, dirty: u64) -> Result<u64, u64> {
    let mut carried = set[0];
    for (slot, place) in set[1..].iter_mut().zip(1..) {
        let here = std::mem::replace(slot, carried);
        if here & !DIRTY == key {
            set[0] = here | dirty;
            return Ok(place);
        }
        carried = here;
    }
    set[0] = key | dirty;
    Err(carried)
}

// Requests of one level in a list: `line << ASK_BITS | code`.

/// Bits of a request's code.
pub(super) const ASK_BITS: u32 = 3;
/// The line is dirty afterwards. A read and a fetch are codes 0 and 1, a write is this alone.
pub(super) const DIRTY_ASK: u64 = 2;
/// A fetch; with `DIRTY_ASK`, a modify.
pub(super) const ODD_ASK: u64 = 1;
/// All bytes of the line are given: a store, or the write-back of a line.
pub(super) const COVER: u64 = DIRTY_ASK | 4;

/// What a list of requests did to a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Accesses, and misses among them, by read, write, fetch.
    pub(super) accesses: [u64; 3],
    /// See `accesses`.
    pub(super) misses: [u64; 3],
    /// Misses of requests that covered their line.
    pub(super) covered: u64,
    /// Lines that left.
    pub(super) evictions: u64,
    /// Dirty ones among them.
    pub(super) writebacks: u64,
}

impl Tally {
    /// Into the level's counts.
    pub(super) fn add_to(&self, counters: &mut LevelCounters, shape: Shape) {
        let misses: u64 = self.misses.iter().sum();
        counters.read_accesses += self.accesses[0];
        counters.write_accesses += self.accesses[1];
        counters.fetch_accesses += self.accesses[2];
        counters.read_misses += self.misses[0];
        counters.write_misses += self.misses[1];
        counters.fetch_misses += self.misses[2];
        counters.fills += misses;
        counters.evictions += self.evictions;
        counters.writebacks += self.writebacks;
        counters.bytes_in += (misses - self.covered) << shape.line_bits;
        counters.bytes_out += self.writebacks << shape.line_bits;
    }
}

/// Sends requests through a level. For each: `matched` is 0 where it missed; then `left` is the word that left (0 = none).
pub(super) fn through_scan(words: &mut [u64], shape: Shape, asks: &[u64], left: &mut [u64], matched: &mut [u8]) {
    for ((ask, left), matched) in asks.iter().zip(left).zip(matched) {
        let line = ask >> ASK_BITS;
        let (key, dirty) = (shape.key(line), ask & DIRTY_ASK);
        let start = shape.start(line);
        let set = &mut words[start..start + shape.ways];
        *matched = 1;
        if set[0] & !DIRTY == key {
            set[0] |= dirty;
        } else if let Err(victim) = scan(set, key, dirty) {
            (*left, *matched) = (victim, 0);
        }
    }
}

/// Counts what requests did and lists what they ask of the next level: each miss that needs its line, then its dirty
/// victim. `next` has room for two a request; the number listed.
#[inline(always)]
pub(super) fn follow_scan(
    shape: Shape,
    asks: &[u64],
    left: &[u64],
    matched: &[u8],
    tally: &mut Tally,
    next: &mut [u64],
) -> usize {
    let mut listed = 0;
    for ((&ask, &left), &matched) in asks.iter().zip(left).zip(matched) {
        let write = (ask >> 1) & 1;
        let fetch = ask & !write & 1;
        let modify = ask & write;
        let cover = (ask >> 2) & 1;
        let missed = u64::from(matched == 0);
        tally.accesses[0] += modify | (1 ^ write ^ fetch);
        tally.accesses[1] += write;
        tally.accesses[2] += fetch;
        tally.misses[0] += missed & (modify | (1 ^ write ^ fetch));
        tally.misses[1] += missed & write & !modify;
        tally.misses[2] += missed & fetch;
        tally.covered += missed & cover;
        let (evicted, wet) = (missed & left, missed & (left >> 1));
        tally.evictions += evicted;
        tally.writebacks += wet;
        let line = ask >> ASK_BITS;
        next[listed] = (line << ASK_BITS) | fetch;
        listed += usize::from(missed & !cover == 1);
        next[listed] = (shape.neighbour(left, line) << ASK_BITS) | COVER;
        listed += usize::from(wet == 1);
    }
    listed
}

/// Lists references as requests, as many as `asks` has room for, up to the first that is not for these loops. The
/// numbers of references taken and of requests made.
pub(super) fn ask(shape: Shape, references: &[Reference], fetches: Fetches, asks: &mut [u64]) -> (usize, usize) {
    let (mut taken, mut made) = (0, 0);
    // Room for one more than is made, so that a dropped fetch may be written and forgotten.
    let room = asks.len() - 1;
    for reference in references.iter().take(room) {
        let (kind, offset) = (reference.kind as u64, reference.addr & (shape.line_bytes() - 1));
        let size = u64::from(reference.size);
        let fetch = reference.kind == Kind::Fetch;
        if offset + size > shape.line_bytes() || (fetch && fetches == Fetches::Elsewhere) {
            break;
        }
        // Two bits a kind: read 0, write DIRTY_ASK, modify both, fetch ODD_ASK.
        let code = (0b01_11_10_00 >> (2 * kind)) & 3;
        let cover = u64::from(code == DIRTY_ASK && size == shape.line_bytes()) << 2;
        asks[made] = ((reference.addr >> shape.line_bits) << ASK_BITS) | code | cover;
        made += usize::from(!(fetch && fetches == Fetches::Dropped));
        taken += 1;
    }
    (taken, made)
}

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
    /// Number of levels.
    fn levels(&self) -> usize;

    /// A level, if it is plain.
    fn plain(&mut self, level: usize) -> Option<Plain<'_>>;

    /// Plays a reference in the general way.
    fn access(&mut self, reference: &Reference);

    /// What an innermost miss causes once the line has taken its victim's place: counts the miss, the fill and the victim,
    /// asks the next level, writes back.
    fn miss(&mut self, line: LineAddr, kind: AccessKind, covered: bool, victim: u64);

    /// Asks a level, in the general way, for all bytes of a line of the innermost level's size.
    fn request(&mut self, level: usize, line: LineAddr, kind: AccessKind);

    /// Counts whole lines of the innermost level's size read from memory and written there.
    fn memory(&mut self, reads: u64, writes: u64);
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
/// Requests in one block: the lists stay in the machine's own innermost cache.
const BLOCK: usize = 512;

/// Plays references through a hierarchy whose innermost level is plain; nothing is observed.
pub(super) fn play(around: &mut impl Around, references: &[Reference], fetches: Fetches) {
    let mut lists: Vec<Lists> = Vec::new();
    let mut asks = [0; BLOCK + 1];
    let mut way = Way::Scan;
    for chunk in references.chunks(CHUNK) {
        let Some((before, isa)) = around.plain(0).map(|l| (l.counters.misses(), l.isa)) else {
            chunk.iter().for_each(|r| around.access(r));
            continue;
        };
        let did = match way {
            Way::Blocks => {
                lists.resize_with(around.levels(), Lists::new);
                blocks(around, chunk, fetches, &mut asks, &mut lists)
            }
            Way::Scan => one_by_one(around, chunk, fetches, Isa::Plain),
            Way::Vector => one_by_one(around, chunk, fetches, isa),
        };
        let misses = around.plain(0).map_or(0, |l| l.counters.misses()) - before;
        way = choose(chunk.len() as u64, misses, did, isa);
    }
}

/// How a chunk went.
#[derive(Clone, Copy, Debug, Default)]
struct Did {
    /// [`Seen::depth`]; `None` where it was not counted.
    depth: Option<u64>,
    /// References handed back.
    others: u64,
}

/// The loop for the next chunk. A scan costs a wrong guess of the processor for most hits that are not at the head; a
/// branch on misses costs one for most misses where they are many.
fn choose(references: u64, misses: u64, did: Did, isa: Isa) -> Way {
    if isa == Isa::Plain || did.others > references / 16 {
        Way::Scan
    } else if misses > references / 10 {
        Way::Blocks
    } else if did.depth.is_some_and(|depth| depth > references) {
        Way::Vector
    } else {
        Way::Scan
    }
}

fn one_by_one(around: &mut impl Around, chunk: &[Reference], fetches: Fetches, isa: Isa) -> Did {
    let (mut rest, mut seen, mut others) = (chunk, Seen::default(), 0);
    loop {
        let Some(Plain { shape, words, .. }) = around.plain(0) else { break };
        let stop = match isa {
            Isa::Plain => hits_scan(words, shape, rest, fetches, &mut seen),
            _ => simd::hits(isa, words, shape, rest, fetches, &mut seen),
        };
        let Some((at, left)) = rest[stop.at..].split_first() else { break };
        match stop.why {
            Why::Miss(victim) => {
                let line = LineAddr(at.addr >> shape.line_bits);
                let kind = match at.kind {
                    Kind::Read | Kind::Modify => AccessKind::Read,
                    Kind::Write => AccessKind::Write,
                    Kind::Fetch => AccessKind::Fetch,
                };
                let covered = at.kind == Kind::Write && u64::from(at.size) == shape.line_bytes();
                around.miss(line, kind, covered, victim);
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
    Did { depth: Some(seen.depth), others }
}

/// Room for a block at one level, and for what it asks of the next.
struct Lists {
    next: Vec<u64>,
    left: Vec<u64>,
    matched: Vec<u8>,
}

impl Lists {
    fn new() -> Self {
        let vectors = BLOCK + simd::SPARE;
        Self { next: vec![0; 2 * BLOCK + simd::SPARE], left: vec![0; vectors], matched: vec![0; vectors] }
    }
}

fn blocks(
    around: &mut impl Around,
    chunk: &[Reference],
    fetches: Fetches,
    asks: &mut [u64; BLOCK + 1],
    lists: &mut [Lists],
) -> Did {
    let (mut rest, mut did) = (chunk, Did::default());
    while !rest.is_empty() {
        let Some(shape) = around.plain(0).map(|l| l.shape) else { break };
        let (taken, made) = ask(shape, rest, fetches, asks);
        send(around, 0, shape.line_bits, &asks[..made], lists);
        rest = &rest[taken..];
        if taken < BLOCK
            && let Some((other, left)) = rest.split_first()
        {
            around.access(other);
            did.others += 1;
            rest = left;
        }
    }
    did
}

/// Sends requests for whole lines of 2^`line_bits` bytes to a level and what they cause to the levels behind it. A list
/// may double from level to level, so it is cut into blocks again at each. `lists` are those of this level and on.
fn send(around: &mut impl Around, level: usize, line_bits: u32, asks: &[u64], lists: &mut [Lists]) {
    if level == around.levels() {
        let writes = asks.iter().filter(|ask| *ask & DIRTY_ASK != 0).count() as u64;
        return around.memory(asks.len() as u64 - writes, writes);
    }
    let Some((own, outer)) = lists.split_first_mut() else { return };
    for block in asks.chunks(BLOCK) {
        match around.plain(level).filter(|plain| plain.shape.line_bits == line_bits) {
            Some(Plain { shape, isa, words, counters }) => {
                let (left, matched) = (&mut own.left[..], &mut own.matched[..]);
                let mut tally = Tally::default();
                let listed = simd::block(isa, words, shape, block, left, matched, &mut tally, &mut own.next);
                tally.add_to(counters, shape);
                send(around, level + 1, line_bits, &own.next[..listed], outer);
            }
            None => {
                for ask in block {
                    let kind = match ask & (DIRTY_ASK | ODD_ASK) {
                        0 => AccessKind::Read,
                        ODD_ASK => AccessKind::Fetch,
                        _ => AccessKind::Writeback,
                    };
                    around.request(level, LineAddr(ask >> ASK_BITS), kind);
                }
            }
        }
    }
}
