//! A fully associative LRU cache that is only asked "do you hold this line?", at a few nanoseconds an access.
//!
//! No list is kept. The cache numbers its accesses; a line's *stamp* is the number of its newest access, and the lines
//! held are those with the newest stamps. A bit for each stamp tells whether it belongs to a line that is held (Bennett and
//! Kruskal, "LRU Stack Processing", 1975, mark a reference string in this way):
//!
//! ```text
//! accesses    A B A C B        bits set: the newest access of each line held
//! stamps      0 1 2 3 4        oldest set bit = next victim
//! bits        . . x x x        a hit moves one bit; nothing else ages
//! ```
//!
//! So a hit looks up the line's stamp in a hash table, clears its bit and gives the line a new stamp. A miss in a full cache
//! clears the oldest set bit, and that is all: the victim's entry stays in the table, is known by its stamp, older than any
//! that is held, and gives its place to the next line that needs one. When the stamps run out, the lines held are
//! renumbered from 1, in one sweep.
//!
//! The table is buckets of five entries, each one cache line of the machine. A line whose bucket is full of lines held
//! goes to the next one. Each bucket keeps the newest stamp of all entries that have passed it, so a search ends where
//! none of them is held any more.

use super::super::simd;
use super::bucket::{Bucket, Looked, PLACES};
use crate::units::LineAddr;

/// What the cache knew of a line before an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Found {
    /// It holds it.
    Here,
    /// It has held it, and not long ago.
    Gone,
    /// It does not hold it.
    Away,
}

/// Buckets of the smallest table.
const SMALLEST: usize = 16;

/// Lines held for each bucket, at most: of a small cache, and of a larger one, whose table would take much memory.
const LOAD: [usize; 2] = [1, 2];

/// Lines of the largest small cache.
const SMALL: usize = 1 << 16;

/// Stamps for each bucket: with 2^25 buckets, 2^31.
const STAMPS: usize = 64;

/// A fully associative LRU cache. Memory grows with the lines it holds, up to its capacity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shadow {
    /// The next stamp.
    now: u32,
    /// The stamp at which to look whether there are more.
    pause: u32,
    /// No stamp before this one is held; 1 or more.
    first: u32,
    /// 64 - log2 of the buckets.
    shift: u32,
    /// Lines held.
    held: usize,
    /// Lines it may hold, 1 or more.
    capacity: usize,
    table: Vec<Bucket>,
    /// Bit by stamp; those of stamps not yet given are set.
    live: Vec<u64>,
}

impl Shadow {
    /// Empty, for 1 to 2^26 lines (the most a level may have).
    pub(super) fn new(lines: u64) -> Self {
        let mut shadow = Self {
            now: 1,
            pause: 1,
            first: 1,
            shift: 64 - SMALLEST.trailing_zeros(),
            held: 0,
            capacity: usize::try_from(lines).unwrap_or(usize::MAX).clamp(1, 1 << 26),
            table: vec![Bucket::default(); SMALLEST],
            live: Vec::new(),
        };
        shadow.renumber();
        shadow
    }

    /// Asks for a line, which is then the most recent.
    #[inline(always)]
    pub(super) fn access(&mut self, line: LineAddr) -> Found {
        let mut found = [Found::Away];
        self.access_each(&[line.0], &mut found);
        found[0]
    }

    /// Asks for lines that are nearly all held, one after the other.
    #[inline(always)]
    pub(super) fn access_held(&mut self, lines: impl Iterator<Item = u64>) {
        for line in lines {
            if self.now == self.pause {
                self.make_room();
            }
            let at = home(line, self.shift) & (self.table.len() - 1);
            let bucket = &mut self.table[at];
            let here = bucket.here(line).trailing_zeros() as usize;
            if let Some(stamp) = bucket.stamps.get_mut(here).filter(|stamp| **stamp >= self.first) {
                let before = std::mem::replace(stamp, self.now);
                self.live[before as usize / 64] &= !(1 << (before % 64));
                self.now += 1;
            } else {
                self.access(LineAddr(line));
            }
        }
    }

    /// Asks for lines, a few dozen at most, one after the other, each of which is then the most recent.
    ///
    /// No branch depends on what is found, but for the few lines that are not in their home: for a long mix of lines each
    /// would be guessed wrong half of the time.
    #[inline(always)]
    pub(super) fn access_all(&mut self, lines: &[u64], found: &mut [Found]) {
        for line in lines {
            simd::expect(&self.table, home(*line, self.shift));
        }
        self.access_each(lines, found);
    }

    #[inline(always)]
    fn access_each(&mut self, lines: &[u64], found: &mut [Found]) {
        let (mut lines, mut found) = (lines, found);
        while !lines.is_empty() {
            if self.now == self.pause {
                self.make_room();
            }
            let is_full = self.held == self.capacity;
            let adds = if is_full { usize::MAX } else { self.capacity - self.held };
            let some = lines.len().min((self.pause - self.now) as usize).min(adds);
            let (now, later) = lines.split_at(some);
            let (of_now, of_later) = found.split_at_mut(some);
            if is_full {
                self.access_some::<true>(now, of_now);
            } else {
                self.access_some::<false>(now, of_now);
            }
            (lines, found) = (later, of_later);
        }
    }

    /// [`Shadow::access_all`] where there is room for all, or all have to drop one.
    #[inline(always)]
    fn access_some<const FULL: bool>(&mut self, lines: &[u64], found: &mut [Found]) {
        let (stamp, shift, mask, mut first) = (self.now, self.shift, self.table.len() - 1, self.first);
        self.now += number(lines.len());
        // The word of the oldest stamps is kept apart: were it read where others are written, each line would wait for the
        // one before.
        let mut word = first as usize / 64;
        let mut bits = self.live[word];
        for ((&line, found), stamp) in lines.iter().zip(found).zip(stamp..) {
            let home = home(line, shift) & mask;
            let bucket = &mut self.table[home];
            let Looked { here, old, goes_on } = bucket.look(line, first);
            // Not here, and full or perhaps behind.
            let before = if (here == 0) & (goes_on | (old == 0)) {
                self.renew_far(line, stamp, home, first)
            } else {
                let place = ((here | old << 8).trailing_zeros() as usize % 8).min(PLACES - 1);
                // By itself, so that it need not wait for what is old: the next line waits for this one's stamp.
                let before = bucket.stamps[(here.trailing_zeros() as usize).min(PLACES - 1)];
                (bucket.lines[place], bucket.stamps[place]) = (line, stamp);
                before & 0u32.wrapping_sub(u32::from(here != 0))
            };
            let held = before >= first;
            // Where nothing is cleared, the word is one that is near.
            let (at, bit) = (if held { before as usize / 64 } else { word }, u64::from(held) << (before % 64));
            self.live[at] &= !bit;
            bits &= !if at == word { bit } else { 0 };
            if FULL {
                // Stamps not yet given are set, so there is one.
                while bits == 0 {
                    self.live[word] = 0;
                    word += 1;
                    bits = self.live[word];
                }
                let after = number(word * 64) + bits.trailing_zeros() + 1;
                bits &= bits.wrapping_sub(u64::from(!held));
                first = if held { first } else { after };
            } else {
                self.held += usize::from(!held);
            }
            *found = if held {
                Found::Here
            } else if before != 0 {
                Found::Gone
            } else {
                Found::Away
            };
        }
        self.live[word] = bits;
        self.first = first;
    }

    /// Gives a stamp to a line that is not in its home, which is full or has been; its stamp before, 0 = none.
    #[inline(never)]
    fn renew_far(&mut self, line: u64, stamp: u32, home: usize, first: u32) -> u32 {
        let mask = self.table.len() - 1;
        let mut at = home;
        let mut here = 0;
        while self.table[at].passed >= first {
            at = (at + 1) & mask;
            here = self.table[at].look(line, first).here;
            // Where marks have lasted all around, so has the search.
            if here != 0 || at == home {
                break;
            }
        }
        if here == 0 {
            put(&mut self.table, home, first, (line, stamp));
            return 0;
        }
        let before = std::mem::replace(&mut self.table[at].stamps[here.trailing_zeros() as usize], stamp);
        let mut passed = home;
        while passed != at {
            self.table[passed].passed = stamp;
            passed = (passed + 1) & mask;
        }
        before
    }

    /// See [`LOAD`].
    fn load(&self) -> usize {
        LOAD[usize::from(self.capacity > SMALL)]
    }

    /// Sets `pause` as far off as stamps and the table allow; an access may add a line.
    #[inline(never)]
    fn make_room(&mut self) {
        if self.held == self.table.len() * self.load() && self.held < self.capacity {
            self.grow();
        } else if self.now as usize == self.table.len() * STAMPS {
            self.renumber();
        }
        let stamps = self.table.len() * STAMPS - self.now as usize;
        let lines = self.table.len() * self.load() - self.held;
        // A full cache adds none.
        let lines = if self.held + lines >= self.capacity { usize::MAX } else { lines };
        self.pause = self.now + number(stamps.min(lines));
    }

    /// Twice the buckets; stamps stay.
    fn grow(&mut self) {
        let length = self.table.len() * 2;
        let old = std::mem::replace(&mut self.table, vec![Bucket::default(); length]);
        self.shift -= 1;
        for bucket in old {
            for entry in bucket.lines.into_iter().zip(bucket.stamps).filter(|(_, stamp)| *stamp >= self.first) {
                put(&mut self.table, home(entry.0, self.shift), self.first, entry);
            }
        }
        self.live.resize(length * STAMPS / 64, !0);
    }

    /// Gives the lines held the stamps `1..=held`, in their order.
    fn renumber(&mut self) {
        let first = self.first;
        // New stamp of the first stamp of each word. Of the last word, the stamps not yet given are set bits too.
        let mut next = 1;
        let rank = |bits: &u64| {
            let rank = next;
            next += bits.count_ones();
            rank
        };
        let ranks: Vec<u32> =
            self.live[..(self.now as usize).div_ceil(64).min(self.live.len())].iter().map(rank).collect();
        let end = number(self.held) + 1;
        for bucket in &mut self.table {
            for stamp in &mut bucket.stamps {
                let (word, bit) = (*stamp as usize / 64, *stamp % 64);
                let before = |ranks: &[u32]| ranks[word] + (self.live[word] & !(u64::MAX << bit)).count_ones();
                *stamp = if *stamp < first { 0 } else { before(&ranks) };
            }
            bucket.passed = if bucket.passed < first { 0 } else { end - 1 };
        }
        self.live.clear();
        self.live.resize(self.table.len() * STAMPS / 64, !0);
        self.live[0] = !1;
        (self.now, self.first) = (end, 1);
    }

    /// Bytes held, about.
    pub(super) fn state_bytes(&self) -> usize {
        self.table.capacity() * size_of::<Bucket>() + self.live.capacity() * size_of::<u64>()
    }
}

/// Puts an entry into a table that does not hold its line, at its home or behind it.
fn put(table: &mut [Bucket], home: usize, first: u32, (line, stamp): (u64, u32)) {
    let mut at = home;
    loop {
        let bucket = &mut table[at];
        let old = bucket.look(line, first).old;
        if old != 0 {
            let place = old.trailing_zeros() as usize;
            (bucket.lines[place], bucket.stamps[place]) = (line, stamp);
            return;
        }
        bucket.passed = bucket.passed.max(stamp);
        at = (at + 1) & (table.len() - 1);
    }
}

/// A stamp, or a number of lines.
#[expect(clippy::cast_possible_truncation, reason = "at most 2^31: see STAMPS")]
#[inline(always)]
fn number(n: usize) -> u32 {
    n as u32
}

/// Where in a table of 2^(64 - `shift`) slots to begin: the high bits of the product with 2^64 / golden ratio (Knuth's
/// multiplicative hashing), which neighbours and power-of-two strides spread over.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "fewer than 32 bits are left")]
pub(super) fn home(key: u64, shift: u32) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> shift) as usize
}
