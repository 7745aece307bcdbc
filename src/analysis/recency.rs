//! Moments of last touches, and how many lie behind one: the counting half of stack distances.
//!
//! Time is a row of bits, one a touch; a bit is set while its touch is the last one of its line. The stack distance of a touch is the
//! number of set bits behind the bit of the line's touch before (Bennett and Kruskal, "LRU Stack Processing", 1975). Sums of bits
//! are kept for 512 bits, for 64 of those, and so on, so that counting looks at few of them; and since only what was
//! touched since is looked at, near reuse is cheap.
//!
//! ```text
//! bits    1 0 1 1 | 0 0 1 0 | 1 1 0 . | . . . .      . = to come
//! sums    3         1         2         0
//! ```
//!
//! When the row is full, its set bits move together; who keeps moments renumbers them.

/// Words of a leaf.
const LEAF: usize = 8;
/// Bits of a leaf, as a power of two.
const LEAF_BITS: u32 = 9;
/// Sums that one sum above covers, as a power of two.
const FAN_BITS: u32 = 6;
/// Bits of the shortest row.
const SHORTEST: usize = 1 << 12;

#[derive(Clone, Debug)]
pub(super) struct Recency {
    words: Vec<u64>,
    /// Sums: of leaves, then of [`FAN_BITS`] powers of those below. The last row is of one group.
    sums: Vec<Vec<u32>>,
    /// The next bit.
    next: usize,
    /// Set bits.
    live: usize,
}

/// What moments become when the set bits move together.
pub(super) struct Renumbering {
    words: Vec<u64>,
    /// Set bits before each word.
    before: Vec<u32>,
}

impl Renumbering {
    /// The new number of a moment whose bit is set.
    pub(super) fn of(&self, moment: u32) -> u32 {
        let (word, bit) = (moment as usize / 64, moment % 64);
        self.before[word] + (self.words[word] & ((1 << bit) - 1)).count_ones()
    }
}

impl Recency {
    pub(super) fn new() -> Self {
        Self::with_bits(SHORTEST)
    }

    fn with_bits(bits: usize) -> Self {
        let mut sums = Vec::new();
        let mut length = bits.div_ceil(1 << LEAF_BITS);
        loop {
            sums.push(vec![0; length.next_multiple_of(1 << FAN_BITS)]);
            if length <= 1 << FAN_BITS {
                break;
            }
            length = length.div_ceil(1 << FAN_BITS);
        }
        Self { words: vec![0; bits / 64], sums, next: 0, live: 0 }
    }

    /// Lines with a last touch.
    pub(super) fn live(&self) -> usize {
        self.live
    }

    /// The moment that [`Recency::touch`] gives to the next touch.
    #[expect(clippy::cast_possible_truncation, reason = "make_room keeps it below 2^32 - 1")]
    pub(super) fn moment(&self) -> u32 {
        self.next as u32
    }

    /// Whether there is no bit left: see [`Recency::make_room`].
    #[inline(always)]
    pub(super) fn is_full(&self) -> bool {
        self.next == self.words.len() * 64
    }

    /// A touch at [`Recency::moment`]. `before` is the moment of the line's touch before, `None` at its first. Tells how many lines
    /// were touched since.
    #[inline]
    pub(super) fn touch(&mut self, before: Option<u32>) -> Option<u32> {
        let distance = before.map(|before| {
            let distance = self.behind(before as usize);
            self.words[before as usize / 64] &= !(1 << (before % 64));
            self.add(before as usize, u32::MAX);
            distance
        });
        self.live += usize::from(before.is_none());
        self.words[self.next / 64] |= 1 << (self.next % 64);
        self.add(self.next, 1);
        self.next += 1;
        distance
    }

    /// Adds to all sums over a bit; 2^32 - 1 takes one away.
    #[inline(always)]
    fn add(&mut self, bit: usize, n: u32) {
        let mut place = bit >> LEAF_BITS;
        for row in &mut self.sums {
            row[place] = row[place].wrapping_add(n);
            place >>= FAN_BITS;
        }
    }

    /// Set bits behind a bit.
    #[inline]
    fn behind(&self, bit: usize) -> u32 {
        let word = bit / 64;
        let leaf_end = (word / LEAF + 1) * LEAF;
        // No shift by 64.
        let mut count = (self.words[word] >> (bit % 64) >> 1).count_ones();
        count += self.words[word + 1..leaf_end].iter().map(|word| word.count_ones()).sum::<u32>();
        // Behind the next bit there is nothing.
        let (mut place, mut newest) = (bit >> LEAF_BITS, self.next >> LEAF_BITS);
        for row in &self.sums {
            if place == newest {
                break;
            }
            let group_end = ((place >> FAN_BITS) + 1) << FAN_BITS;
            let until = group_end.min(newest + 1).min(row.len());
            count += row[place + 1..until].iter().sum::<u32>();
            place >>= FAN_BITS;
            newest >>= FAN_BITS;
        }
        count
    }

    /// Moves the set bits together, in a row at least twice as long as they need. Moments become what the answer says.
    ///
    /// # Panics
    /// Past 2^31 lines, for which there are no moments.
    pub(super) fn make_room(&mut self) -> Renumbering {
        let mut before = Vec::with_capacity(self.words.len());
        let mut sum = 0;
        for word in &self.words {
            before.push(sum);
            sum += word.count_ones();
        }
        // Four times as long as there are lines: moving costs each touch a fraction of a count.
        let bits = (4 * self.live).next_power_of_two().max(self.words.len() * 64).min(1 << 32);
        assert!(2 * self.live < bits, "more than 2^31 lines");
        let old = std::mem::replace(self, Self::with_bits(bits));
        self.live = old.live;
        self.next = old.live;
        for place in 0..old.live.div_ceil(64) {
            let left = old.live - 64 * place;
            self.words[place] = if left >= 64 { u64::MAX } else { (1 << left) - 1 };
        }
        for (word, bits) in self.words[..old.live.div_ceil(64)].iter().enumerate() {
            let mut place = word / LEAF;
            for row in &mut self.sums {
                row[place] += bits.count_ones();
                place >>= FAN_BITS;
            }
        }
        Renumbering { words: old.words, before }
    }
}
