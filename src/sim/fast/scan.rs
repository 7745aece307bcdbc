//! The loops without vectors, and what they share with those of [`simd`](crate::sim::simd): what a level is to them, where
//! they stop, what a list of requests is.

use super::Place;
use crate::reference::{Kind, Reference};
use crate::sim::counters::LevelCounters;
use crate::sim::policy::{DIRTY, FLAG_BITS, VALID};
use crate::sim::{AccessKind, Event, Geometry, Origin};
use crate::units::{LineAddr, SetIndex};

/// What a loop has to know of a plain level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sim) struct Shape {
    /// log2 of the bytes of a line, 3 to 31.
    pub(in crate::sim) line_bits: u32,
    /// log2 of the number of sets, 0 to 31.
    pub(in crate::sim) set_bits: u32,
    /// Lines in a set, 1 or more.
    pub(in crate::sim) ways: usize,
}

impl Shape {
    /// Of a level that the loops can do, by its sets and lines.
    pub(in crate::sim) fn of(geometry: &Geometry) -> Option<Self> {
        // Three bits of a request are its code.
        let fits = geometry.by_low_bits() && geometry.line_bytes >= 1 << ASK_BITS;
        fits.then(|| Self {
            line_bits: geometry.line_bytes.trailing_zeros(),
            set_bits: geometry.sets.trailing_zeros(),
            ways: geometry.ways as usize,
        })
    }

    #[inline(always)]
    pub(in crate::sim) fn line_bytes(self) -> u64 {
        1 << self.line_bits
    }

    /// Whether a reference lies in one line.
    #[inline(always)]
    pub(in crate::sim) fn holds(self, reference: &Reference) -> bool {
        (reference.addr & (self.line_bytes() - 1)) + u64::from(reference.size) <= self.line_bytes()
    }

    /// A reference that lies in one line, as a request.
    #[inline(always)]
    pub(in crate::sim) fn ask(self, reference: &Reference) -> u64 {
        // Two bits a kind: read 0, write DIRTY_ASK, modify both, fetch ODD_ASK.
        let code = (0b01_11_10_00 >> (2 * reference.kind as u64)) & 3;
        let cover = u64::from(code == DIRTY_ASK && u64::from(reference.size) == self.line_bytes());
        ((reference.addr >> self.line_bits) << ASK_BITS) | (cover * COVER) | code
    }

    /// Index of the first word of a line's set.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "below the number of sets, which fit into memory")]
    pub(in crate::sim) fn start(self, line: u64) -> usize {
        (line & ((1 << self.set_bits) - 1)) as usize * self.ways
    }

    /// The word of a clean line.
    #[inline(always)]
    pub(in crate::sim) fn key(self, line: u64) -> u64 {
        ((line >> self.set_bits) << FLAG_BITS) | VALID
    }

    /// What a request that missed causes, as requests of the next cache: one for its line unless it covers that, one that
    /// gives the word that left back if that was dirty.
    pub(in crate::sim) fn causes(self, ask: u64, victim: u64) -> (Option<u64>, Option<u64>) {
        let line = ask >> ASK_BITS;
        let fetch = u64::from(ask & (DIRTY_ASK | ODD_ASK) == ODD_ASK);
        let wants = (ask & COVER != COVER).then_some((line << ASK_BITS) | fetch);
        let gives = (victim & DIRTY != 0).then(|| (self.neighbour(victim, line) << ASK_BITS) | COVER);
        (wants, gives)
    }

    /// The set of a line.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "fewer than 2^32 sets")]
    pub(in crate::sim) fn set(self, line: u64) -> SetIndex {
        SetIndex((line & ((1 << self.set_bits) - 1)) as u32)
    }

    /// The event of an access.
    #[inline(always)]
    pub(in crate::sim) fn access(
        self,
        place: Place,
        line: u64,
        (kind, hit): (AccessKind, bool),
        origin: Origin,
    ) -> Event {
        let Place { level, cache } = place;
        Event::Access { origin, level, cache, line: LineAddr(line), set: self.set(line), kind, hit }
    }

    /// The line of a word in the set of another line.
    #[inline(always)]
    pub(in crate::sim) fn neighbour(self, word: u64, of: u64) -> u64 {
        ((word >> FLAG_BITS) << self.set_bits) | (of & ((1 << self.set_bits) - 1))
    }
}

/// Kinds of references that the loops do not play: a bit for each, by its code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::sim) struct Exceptions {
    /// Left out.
    pub(in crate::sim) dropped: u8,
    /// Handed back.
    pub(in crate::sim) back: u8,
}

impl Exceptions {
    /// The bit of a kind.
    #[inline(always)]
    pub(in crate::sim) fn bit(kind: Kind) -> u8 {
        1 << kind as u8
    }

    /// What a reference of each kind adds to [`Seen::accesses`]; 0 for those that are not played.
    #[inline(always)]
    pub(in crate::sim) fn fields(self) -> [u64; 4] {
        let exceptions = self.dropped | self.back;
        [Kind::Read, Kind::Write, Kind::Modify, Kind::Fetch]
            .map(|kind| if exceptions & Self::bit(kind) == 0 { FIELDS[kind as usize] } else { 0 })
    }

    /// Whether a kind is left out.
    #[inline(always)]
    pub(in crate::sim) fn drops(self, kind: Kind) -> bool {
        self.dropped & Self::bit(kind) != 0
    }
}

/// What [`hits`] counts, added to by each call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::sim) struct Seen {
    /// Accesses in fields of 21 bits: reads, writes, fetches. The miss at which a call stops is among them.
    pub(in crate::sim) accesses: u64,
    /// Sum over all hits of their line's place in its set, 0 = most recent.
    pub(in crate::sim) depth: u64,
}

/// Bits of a field of [`Seen::accesses`]; a chunk is shorter than 2^21 references, so none overflows.
pub(in crate::sim) const FIELD: u32 = 21;
/// What a reference of each kind adds: a modify is a read and a write.
pub(in crate::sim) const FIELDS: [u64; 4] = [1, 1 << FIELD, 1 | 1 << FIELD, 1 << (2 * FIELD)];

/// Where and why a loop stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sim) struct Stop {
    /// Index of the reference it stopped at.
    pub(in crate::sim) at: usize,
    /// Why.
    pub(in crate::sim) why: Why,
}

/// Why a loop stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sim) enum Why {
    /// All are played.
    End,
    /// The reference was counted and missed; its line has taken the place of this word (0 = of none).
    Miss(u64),
    /// Nothing was done for it: it lies on more than one line, or is of a kind that is handed back.
    Other,
}

/// Plays references until one misses or is not for this loop. A modify is one touch: it reads, then writes what the read
/// has brought.
#[inline(always)]
pub(in crate::sim) fn hits(
    words: &mut [u64],
    shape: Shape,
    references: &[Reference],
    exceptions: Exceptions,
    seen: &mut Seen,
) -> Stop {
    match shape.ways {
        2 => hits_of::<2>(words, shape, references, exceptions, seen),
        4 => hits_of::<4>(words, shape, references, exceptions, seen),
        8 => hits_of::<8>(words, shape, references, exceptions, seen),
        12 => hits_of::<12>(words, shape, references, exceptions, seen),
        16 => hits_of::<16>(words, shape, references, exceptions, seen),
        _ => hits_of::<0>(words, shape, references, exceptions, seen),
    }
}

/// [`hits`] with the ways as a constant; 0 = any number.
#[inline(always)]
fn hits_of<const WAYS: usize>(
    words: &mut [u64],
    mut shape: Shape,
    references: &[Reference],
    exceptions: Exceptions,
    seen: &mut Seen,
) -> Stop {
    if WAYS != 0 {
        shape.ways = WAYS;
    }
    let Seen { mut accesses, mut depth } = *seen;
    let fields = exceptions.fields();
    let mut stop = Stop { at: references.len(), why: Why::End };
    for (at, reference) in references.iter().enumerate() {
        let kind = reference.kind;
        let field = fields[kind as usize];
        if field == 0 && exceptions.drops(kind) {
            continue;
        }
        if field == 0 || !shape.holds(reference) {
            stop = Stop { at, why: Why::Other };
            break;
        }
        accesses += field;
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
pub(in crate::sim) const ASK_BITS: u32 = 3;
/// The line is dirty afterwards. A read and a fetch are codes 0 and 1, a write is this alone.
pub(in crate::sim) const DIRTY_ASK: u64 = 2;
/// A fetch; with `DIRTY_ASK`, a modify.
pub(in crate::sim) const ODD_ASK: u64 = 1;
/// All bytes of the line are given: a store, or the write-back of a line.
pub(in crate::sim) const COVER: u64 = DIRTY_ASK | 4;

/// What a list of requests did to a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::sim) struct Tally {
    /// Accesses, and misses among them, by read, write, fetch.
    pub(in crate::sim) accesses: [u64; 3],
    /// See `accesses`.
    pub(in crate::sim) misses: [u64; 3],
    /// Misses of requests that covered their line.
    pub(in crate::sim) covered: u64,
    /// Lines that left.
    pub(in crate::sim) evictions: u64,
    /// Dirty ones among them.
    pub(in crate::sim) writebacks: u64,
}

impl Tally {
    /// Into the counts of the innermost level.
    pub(in crate::sim) fn add_to(&self, counters: &mut LevelCounters, shape: Shape) {
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

    /// Into the counts of a level outside, where what is written is written back.
    pub(in crate::sim) fn add_to_outer(&self, counters: &mut LevelCounters, shape: Shape) {
        self.add_to(counters, shape);
        counters.writeback_accesses += self.accesses[1];
        counters.writeback_misses += self.misses[1];
    }
}

/// Requests in one block: its lists stay in the machine's own innermost cache.
pub(in crate::sim) const BLOCK: usize = 512;

/// What became of the requests of a block.
pub(in crate::sim) struct Found {
    /// 0 where the line was not there.
    pub(in crate::sim) matched: [u8; BLOCK],
    /// The word that left, 0 = none; anything where the line was there.
    pub(in crate::sim) left: [u64; BLOCK],
}

/// The requests that the requests of a block cause: two each at most, and room for vectors to be stored whole.
pub(in crate::sim) type Next = [u64; 2 * BLOCK + 16];

/// A block of references as requests.
pub(in crate::sim) struct Block {
    /// The requests.
    pub(in crate::sim) asks: [u64; BLOCK],
    /// How many.
    pub(in crate::sim) made: usize,
    /// What became of them.
    pub(in crate::sim) found: Found,
}

impl Block {
    /// Of nothing.
    pub(in crate::sim) fn new() -> Self {
        Self { asks: [0; BLOCK], made: 0, found: Found { matched: [0; BLOCK], left: [0; BLOCK] } }
    }
}

/// Lists references as requests, at most a block, up to the first that is not for these loops, and sends them through
/// the level. The number of references taken.
pub(in crate::sim) fn take(
    words: &mut [u64],
    shape: Shape,
    references: &[Reference],
    exceptions: Exceptions,
    block: &mut Block,
) -> usize {
    let Block { asks, made, found } = block;
    *made = 0;
    let mut taken = references.len();
    let fields = exceptions.fields();
    for (at, reference) in references.iter().enumerate() {
        let field = fields[reference.kind as usize];
        if field == 0 && exceptions.drops(reference.kind) {
            continue;
        }
        if *made == BLOCK || field == 0 || !shape.holds(reference) {
            taken = at;
            break;
        }
        asks[*made] = shape.ask(reference);
        *made += 1;
    }
    through(words, shape, &asks[..*made], found);
    taken
}

/// Sends requests, at most a block, through a level.
pub(in crate::sim) fn through(words: &mut [u64], shape: Shape, asks: &[u64], found: &mut Found) {
    for ((ask, left), matched) in asks.iter().zip(&mut found.left).zip(&mut found.matched) {
        match touch(words, shape, *ask) {
            Ok(()) => *matched = 1,
            Err(victim) => (*left, *matched) = (victim, 0),
        }
    }
}

/// Plays one request: where it missed, the word that left (0 = none).
#[inline]
pub(in crate::sim) fn touch(words: &mut [u64], shape: Shape, ask: u64) -> Result<(), u64> {
    let line = ask >> ASK_BITS;
    let (key, dirty) = (shape.key(line), ask & DIRTY_ASK);
    let start = shape.start(line);
    let set = &mut words[start..start + shape.ways];
    if set[0] & !DIRTY == key {
        set[0] |= dirty;
        return Ok(());
    }
    scan(set, key, dirty).map(|_| ())
}

/// Counts what requests did (they are those of `found` from `from` on), and lists what they ask of the next level: each
/// miss that needs its line, then its dirty victim. `next` has room for two a request; the number listed.
#[inline(always)]
pub(in crate::sim) fn follow(
    shape: Shape,
    asks: &[u64],
    found: &Found,
    from: usize,
    tally: &mut Tally,
    next: &mut [u64],
) -> usize {
    let mut listed = 0;
    for ((&ask, &left), &matched) in asks.iter().zip(&found.left[from..]).zip(&found.matched[from..]) {
        let write = (ask >> DIRTY_ASK.trailing_zeros()) & 1;
        let (fetch, modify) = (ask & ODD_ASK & !write, ask & ODD_ASK & write);
        let read = modify | (1 ^ write ^ fetch);
        let cover = u64::from(ask & COVER == COVER);
        let missed = u64::from(matched == 0);
        tally.accesses[0] += read;
        tally.accesses[1] += write;
        tally.accesses[2] += fetch;
        tally.misses[0] += missed & read;
        tally.misses[1] += missed & write & !modify;
        tally.misses[2] += missed & fetch;
        tally.covered += missed & cover;
        let wet = missed & (left >> DIRTY.trailing_zeros());
        tally.evictions += missed & left;
        tally.writebacks += wet;
        let line = ask >> ASK_BITS;
        next[listed] = (line << ASK_BITS) | fetch;
        listed += usize::from(missed & !cover == 1);
        next[listed] = (shape.neighbour(left, line) << ASK_BITS) | COVER;
        listed += usize::from(wet == 1);
    }
    listed
}
