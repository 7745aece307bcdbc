//! A fully associative LRU cache that is only asked "do you hold this line?", at a few nanoseconds an access.
//!
//! No list is kept. The cache numbers its accesses; a line's *stamp* is the number of its newest access, and the lines
//! held are those with the newest stamps. A *log* has the line of each stamp, and a bit tells whether the stamp belongs to a
//! line that is held (Bennett and Kruskal, "LRU Stack Processing", 1975, mark a reference string in this way):
//!
//! ```text
//! accesses    A B A C B        bits set: the newest access of each line held
//! stamps      0 1 2 3 4        oldest set bit = next victim
//! bits        . . x x x        a hit moves one bit; nothing else ages
//! ```
//!
//! So a hit looks up the line's stamp in a hash table, clears its bit and gives the line a new stamp. A miss in a full cache
//! clears the oldest set bit, and that is all: the victim's entry stays in the table and is known by its clear bit. When the
//! log or the table is full, the lines held are renumbered from 0 and the table is made anew from them; both are several
//! times as long as the cache, so that each access pays for the renumbering of about one line.
//!
//! Programs go to and fro between two lines (an array and the stack; source and destination): the two newest may change
//! places without any of this, and get each other's stamps when a third line is asked for.

use crate::units::LineAddr;

/// What the cache knew of a line before an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// It holds it.
    Here,
    /// It has held it, and not long ago.
    Gone,
    /// It does not hold it.
    Away,
}

/// A slot of the table without an entry. Stamps are smaller than its low half: a log has at most 2^28 entries.
const EMPTY: u64 = u64::MAX;

/// The half of an entry that is its stamp.
const LOW: u64 = u32::MAX as u64;

/// Entries of the smallest table and log.
const SMALLEST: usize = 64;

/// A fully associative LRU cache. Memory grows with the lines it holds, up to its capacity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shadow {
    /// The line asked for last, where one is held.
    newest: u64,
    /// The line before it, where two are held.
    second: u64,
    /// Lines held.
    held: usize,
    /// Whether the two newest lines have each other's stamps.
    swapped: bool,
    /// Places in the table of the lines whose stamps are `now - 1` and `second_stamp`.
    newest_slot: usize,
    second_slot: usize,
    second_stamp: usize,
    /// The next stamp.
    now: usize,
    /// The stamp at which to look whether table and log have room.
    pause: usize,
    /// Entries that the table still takes.
    room: usize,
    /// Word of `live` before which no bit is set.
    oldest: usize,
    /// Lines it may hold, 1 or more.
    capacity: usize,
    /// 64 - log2 of the table's length.
    shift: u32,
    /// Open addressing with linear probing, at most half full. An entry is a hash of its line (high half) and the stamp
    /// (low half), under which the log has the line itself.
    table: Vec<u64>,
    /// Line by stamp; as long as the table.
    log: Vec<u64>,
    /// Bit by stamp; those of stamps not yet given are set.
    live: Vec<u64>,
}

impl Shadow {
    /// Empty, for 1 to 2^26 lines (the most a level may have).
    pub(super) fn new(lines: u64) -> Self {
        let mut shadow = Self {
            newest: 0,
            second: 0,
            held: 0,
            swapped: false,
            newest_slot: 0,
            second_slot: 0,
            second_stamp: 0,
            now: 0,
            pause: 0,
            room: 0,
            oldest: 0,
            capacity: usize::try_from(lines).unwrap_or(usize::MAX).clamp(1, 1 << 26),
            shift: 0,
            table: Vec::new(),
            log: Vec::new(),
            live: Vec::new(),
        };
        shadow.renumber();
        shadow
    }

    /// Asks for a line, which is then the most recent.
    #[inline(always)]
    pub(super) fn access(&mut self, line: LineAddr) -> Found {
        if line.0 == self.newest && self.held > 0 {
            return Found::Here;
        }
        if line.0 == self.second && self.held > 1 {
            self.second = self.newest;
            self.newest = line.0;
            self.swapped = !self.swapped;
            return Found::Here;
        }
        self.renew(line.0)
    }

    /// Asks for a line that is neither of the two newest.
    #[inline(never)]
    fn renew(&mut self, line: u64) -> Found {
        if self.swapped {
            self.settle();
        }
        if self.now == self.pause {
            self.make_room();
        }
        let stamp = self.now;
        self.now += 1;
        self.log[stamp] = line;
        self.second = self.newest;
        self.newest = line;
        self.second_slot = self.newest_slot;
        self.second_stamp = stamp.wrapping_sub(1);

        let (home, hash) = hashed(line, self.shift);
        let entry = hash | stamp as u64;
        let mask = self.table.len() - 1;
        let mut at = home & mask;
        let found = loop {
            let slot = &mut self.table[at];
            if *slot == EMPTY {
                *slot = entry;
                self.room -= 1;
                break Found::Away;
            }
            let old = (*slot & LOW) as usize;
            if (*slot ^ hash) <= LOW && self.log[old] == line {
                *slot = entry;
                let (word, bit) = (&mut self.live[old / 64], 1 << (old % 64));
                if *word & bit != 0 {
                    *word ^= bit;
                    self.newest_slot = at;
                    return Found::Here;
                }
                break Found::Gone;
            }
            at = (at + 1) & mask;
        };
        self.newest_slot = at;
        if self.held < self.capacity {
            self.held += 1;
        } else {
            while self.live[self.oldest] == 0 {
                self.oldest += 1;
            }
            self.live[self.oldest] &= self.live[self.oldest] - 1;
        }
        found
    }

    /// Gives the two newest lines the stamps of their order.
    #[inline]
    fn settle(&mut self) {
        self.swapped = false;
        self.log[self.now - 1] = self.newest;
        self.log[self.second_stamp] = self.second;
        let stamps = (self.table[self.newest_slot] ^ self.table[self.second_slot]) & LOW;
        self.table[self.newest_slot] ^= stamps;
        self.table[self.second_slot] ^= stamps;
        std::mem::swap(&mut self.newest_slot, &mut self.second_slot);
    }

    /// Sets `pause` as far off as table and log allow, which one access takes at most one entry of each.
    #[inline(never)]
    fn make_room(&mut self) {
        if self.now == self.log.len() || self.room == 0 {
            self.renumber();
        }
        self.pause = self.now + self.room.min(self.log.len() - self.now);
    }

    /// Gives the lines held the stamps `0..held`, in their order, and makes the table anew, with room for as many and
    /// more.
    fn renumber(&mut self) {
        let length = (self.held * 4).next_power_of_two().max(SMALLEST);
        self.table.clear();
        self.table.resize(length, EMPTY);
        self.shift = 64 - length.trailing_zeros();
        self.log.resize(length.max(self.log.len()), 0);
        let mut next = 0;
        for word in self.oldest..self.now.div_ceil(64) {
            let mut bits = self.live[word];
            // Of the last word, the stamps not yet given are set bits too.
            while bits != 0 && next < self.held {
                let old = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let line = self.log[old];
                self.log[next] = line;
                let (home, hash) = hashed(line, self.shift);
                let mut at = home;
                while self.table[at] != EMPTY {
                    at = (at + 1) & (length - 1);
                }
                self.table[at] = hash | next as u64;
                self.second_slot = self.newest_slot;
                self.newest_slot = at;
                next += 1;
            }
        }
        self.log.truncate(length);
        self.live.clear();
        self.live.resize(length / 64, !0);
        self.now = next;
        self.second_stamp = next.wrapping_sub(2);
        self.oldest = 0;
        self.room = length / 2 - next;
    }

    /// Bytes held, about.
    pub(super) fn state_bytes(&self) -> usize {
        (self.table.capacity() + self.log.capacity() + self.live.capacity()) * size_of::<u64>()
    }
}

/// Where in the table to begin, and the hash that stands in the entry: the high bits of the product with 2^64 / golden
/// ratio (Knuth's multiplicative hashing), which neighbours and power-of-two strides spread over, and the low bits, which
/// differ for any two lines that differ in theirs.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "fewer than 32 bits are left")]
pub(super) fn hashed(key: u64, shift: u32) -> (usize, u64) {
    let product = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((product >> shift) as usize, product << 32)
}
