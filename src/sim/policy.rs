//! Replacement in one set. A set is a slice of words in eviction order: the most recent first, the next victim last,
//! empty ways at the end. Mechanism (where sets lie, what a miss causes) is in `cache` and `hierarchy`.
//!
//! LRU and FIFO are both such lists (Mattson et al. 1970 call LRU's a stack) and differ in one thing: whether a hit moves
//! its line to the head.

use serde::{Deserialize, Serialize};

/// A way holds a line. Empty ways are all zero, so line 0 is a line like any other.
pub(super) const VALID: u64 = 1;
/// The line differs from what the next level has.
pub(super) const DIRTY: u64 = 2;
/// Flags below the tag.
pub(super) const FLAG_BITS: u32 = 2;

/// Who has to leave when a set is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// Least recently used.
    #[default]
    Lru,
    /// First in, first out: hits change nothing.
    Fifo,
}

/// What became of an access to a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The line was there.
    Hit,
    /// It was not, and is now; the word of the line that left for it, or 0.
    Miss(u64),
}

/// Accesses `key` (tag and `VALID`, no other flag) in a set of 1 way or more; `dirty` is `DIRTY` or 0.
#[inline(always)]
pub(super) fn access(set: &mut [u64], key: u64, dirty: u64, policy: Policy) -> Outcome {
    // Most accesses of real programs go to the line at the head, where no list policy has anything to move.
    if set[0] & !DIRTY == key {
        set[0] |= dirty;
        return Outcome::Hit;
    }
    match policy {
        Policy::Lru => access_lru(set, key, dirty),
        Policy::Fifo => access_fifo(set, key, dirty),
    }
}

/// Looks for the line and ages those before it in one pass: at the end of a miss the pass has dropped the victim.
#[inline]
fn access_lru(set: &mut [u64], key: u64, dirty: u64) -> Outcome {
    let mut carried = set[0];
    for slot in &mut set[1..] {
        let here = std::mem::replace(slot, carried);
        if here & !DIRTY == key {
            set[0] = here | dirty;
            return Outcome::Hit;
        }
        carried = here;
    }
    set[0] = key | dirty;
    Outcome::Miss(carried)
}

#[inline]
fn access_fifo(set: &mut [u64], key: u64, dirty: u64) -> Outcome {
    if let Some(word) = set[1..].iter_mut().find(|word| **word & !DIRTY == key) {
        *word |= dirty;
        return Outcome::Hit;
    }
    let mut carried = key | dirty;
    for slot in set {
        carried = std::mem::replace(slot, carried);
    }
    Outcome::Miss(carried)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays letters into a set and draws it after each: most recent first, the next victim last, dirty lines (asked for
    /// by `X!`) with their mark; a hit is followed by `*`.
    fn check(policy: Policy, ways: usize, accesses: &str, expect: &str) {
        let mut set = vec![0; ways];
        let mut drawn = Vec::new();
        for word in accesses.split(' ') {
            let letter = u64::from(word.as_bytes()[0]);
            let dirty = if word.ends_with('!') { DIRTY } else { 0 };
            let outcome = access(&mut set, (letter << FLAG_BITS) | VALID, dirty, policy);
            let mut picture = String::new();
            for &word in set.iter().filter(|w| **w != 0) {
                picture.push(char::from_u32(u32::try_from(word >> FLAG_BITS).unwrap()).unwrap());
                if word & DIRTY != 0 {
                    picture.push('!');
                }
            }
            if outcome == Outcome::Hit {
                picture.push('*');
            }
            drawn.push(picture);
        }
        assert_eq!(drawn.join(" "), expect, "{policy:?}, {ways} ways: {accesses}");
    }

    #[test]
    fn policies_as_pictures() {
        use Policy::{Fifo, Lru};
        check(Lru, 4, "A B C D A E", "A BA CBA DCBA ADCB* EADC");
        check(Fifo, 4, "A B C D A E", "A BA CBA DCBA DCBA* EDCB");
        check(Lru, 4, "A B C D C A C E F", "A BA CBA DCBA CDBA* ACDB* CADB* ECAD FECA");
        check(Fifo, 4, "A B C D C A C E F", "A BA CBA DCBA DCBA* DCBA* DCBA* EDCB FEDC");
        // Belady's anomaly (Belady, Nelson, Shedler 1969): FIFO misses 9 times with 3 ways and 10 times with 4.
        check(Fifo, 3, "A B C D A B E A B C D E", "A BA CBA DCB ADC BAD EBA EBA* EBA* CEB DCE DCE*");
        check(Fifo, 4, "A B C D A B E A B C D E", "A BA CBA DCBA DCBA* DCBA* EDCB AEDC BAED CBAE DCBA EDCB");
        // Dirt sticks to its line, on a hit anywhere and through clean hits, and leaves with it.
        check(Lru, 2, "A B A! B C D", "A BA A!B* BA!* CB DC");
        check(Fifo, 2, "A B A! B C D", "A BA BA!* BA!* CB DC");
        check(Lru, 2, "A! A B A", "A! A!* BA! A!B*");
        check(Lru, 1, "A A! B A", "A A!* B A");
        check(Fifo, 1, "A A! B A", "A A!* B A");
        check(Lru, 3, "A B", "A BA");
        check(Fifo, 3, "A B A", "A BA BA*");
    }

    #[test]
    fn the_victim_is_handed_out_with_its_dirt() {
        for policy in [Policy::Lru, Policy::Fifo] {
            let mut set = [0; 2];
            let key = |tag: u64| (tag << FLAG_BITS) | VALID;
            assert_eq!(access(&mut set, key(0), DIRTY, policy), Outcome::Miss(0));
            assert_eq!(access(&mut set, key(1), 0, policy), Outcome::Miss(0));
            assert_eq!(access(&mut set, key(2), 0, policy), Outcome::Miss(key(0) | DIRTY));
            assert_eq!(access(&mut set, key(3), 0, policy), Outcome::Miss(key(1)));
        }
    }
}
