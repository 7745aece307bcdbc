//! Replacement in one set: who leaves when it is full. Mechanism (where sets lie, what a miss causes) is in `cache` and
//! `hierarchy`; a policy sees ways, never addresses.
//!
//! Each policy is a file: its mechanism, and what is known of it ([`About`]). The table at the end of this file, `policies!`, names
//! them; all that lists policies goes by [`Policy::ALL`].
//!
//! Empty ways fill first, the lowest first. Who calls what: `hit` after a line was found,
//! `victim` only when no way is empty, `fill` after a line was put into a way,
//! `remove` after a way was emptied by anything but a fill.

mod bit_plru;
mod brrip;
mod drrip;
mod fifo;
mod lfu;
mod list;
mod lru;
mod mru;
mod opt;
mod random;
mod rrip;
mod srrip;
mod tree_plru;

pub(super) use drrip::SELECTOR_START;
pub(super) use list::{Outcome, access};
pub(super) use opt::NEVER;

use serde::{Deserialize, Serialize};
use std::fmt;

/// A way holds a line. Empty ways are all zero, so line 0 is a line like any other.
pub(super) const VALID: u64 = 1;
/// The line differs from what the next level has.
pub(super) const DIRTY: u64 = 2;
/// Flags below the tag.
pub(super) const FLAG_BITS: u32 = 2;

/// What is known of a policy without playing it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct About {
    /// How it is written in files and on the command line.
    pub word: &'static str,
    /// Which line leaves: `the least recently used line`.
    pub victim: &'static str,
    /// Who described it, and when.
    pub source: &'static str,
    /// What it keeps for each set: `a bit a way`.
    pub state: &'static str,
    /// How it knows the order of lines.
    pub family: Family,
    /// A hit or a fill moves its line to the head of the set's list, and those before it age by one; or a hit moves nothing.
    pub ages: bool,
    /// It draws lots: what it does depends on the seed.
    pub draws: bool,
    /// What it does in one set depends on other sets.
    pub crosses_sets: bool,
    /// It has to know the trace beforehand.
    pub needs_future: bool,
    /// It needs 2^n ways.
    pub power_of_two_ways: bool,
    /// Sets it needs at least.
    pub least_sets: u32,
}

impl About {
    /// Of no policy: what most policies have in common.
    const NONE: Self = Self {
        word: "",
        victim: "",
        source: "",
        state: "",
        family: Family::List,
        ages: false,
        draws: false,
        crosses_sets: false,
        needs_future: false,
        power_of_two_ways: false,
        least_sets: 1,
    };
}

/// How a policy knows the order of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Family {
    /// Sets are lists in eviction order.
    List,
    /// A few bits stand for the order of use.
    PseudoLru,
    /// Each line has a prediction of its next use.
    Prediction,
    /// Each line counts its uses.
    Count,
    /// Lots decide.
    Lot,
    /// Each line has its next use.
    Future,
}

impl Policy {
    /// Whether sets are lists in eviction order; else ways stay where they are and the state beside them tells the order.
    pub(super) fn is_list(self) -> bool {
        self.about().family == Family::List
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.about().word)
    }
}

/// What a line carries beside its word, at levels that need it (sectors, prefetched lines).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Note {
    /// Sectors that are there, a bit each.
    pub(super) valid: u32,
    /// Sectors that are dirty, a bit each.
    pub(super) dirty: u32,
    /// Came by prefetch and was not used yet.
    pub(super) prefetched: bool,
    /// Clock of the hierarchy at which a prefetch would have arrived.
    pub(super) ready: u64,
}

/// One set at play.
pub(super) struct Set<'a> {
    /// A word a way.
    pub(super) words: &'a mut [u64],
    /// A note a way, or none at all.
    pub(super) notes: &'a mut [Note],
    /// [`state_len`] numbers.
    pub(super) state: &'a mut [u32],
    /// The set's index.
    pub(super) number: u32,
    /// Sets of the level.
    pub(super) sets: u32,
    /// Of the policies that draw lots.
    pub(super) seed: u64,
    /// DRRIP's policy selector, one a level.
    pub(super) selector: &'a mut u16,
    /// Position of the next access to the line at play, for OPT.
    pub(super) next_use: u32,
}

impl Set<'_> {
    /// The lowest empty way.
    pub(super) fn empty(&self) -> Option<usize> {
        self.words.iter().position(|word| *word == 0)
    }

    /// Moves `way` to the front; those before it age by one.
    fn move_to_front(&mut self, way: usize) {
        self.words[..=way].rotate_right(1);
        if !self.notes.is_empty() {
            self.notes[..=way].rotate_right(1);
        }
    }

    /// Moves `way` behind all lines up to `end`, exclusive.
    fn move_to_back(&mut self, way: usize, end: usize) {
        self.words[way..end].rotate_left(1);
        if !self.notes.is_empty() {
            self.notes[way..end].rotate_left(1);
        }
    }
}

/// What a policy does with the ways of a set.
trait Replacement {
    /// What is known of it.
    const ABOUT: About;
    /// Numbers of state that a set of `ways` needs.
    fn state_len(_ways: usize) -> usize {
        0
    }
    /// The line at `way` was used; gives the way at which it stands now.
    fn hit(set: &mut Set<'_>, way: usize) -> usize;
    /// The way to give up; in a list the last.
    fn victim(set: &mut Set<'_>) -> usize {
        set.words.len() - 1
    }
    /// A line was put at `way`; gives the way at which it stands now.
    fn fill(set: &mut Set<'_>, way: usize) -> usize;
    /// `way` was emptied.
    fn remove(set: &mut Set<'_>, way: usize);
    /// For policies that leave ways where they are: sorts a way among the others, the next victim last. Asked of lines
    /// only; `full` tells whether every way holds one. Lists stand in order and are never asked.
    fn key(_set: &View<'_>, way: usize, _full: bool) -> (u64, std::cmp::Reverse<usize>) {
        (way as u64, std::cmp::Reverse(0))
    }
}

/// One set, to look at.
pub(super) struct View<'a> {
    pub(super) words: &'a [u64],
    pub(super) state: &'a [u32],
    pub(super) number: u32,
    pub(super) seed: u64,
}

/// The table of policies: makes [`Policy`] and all that is asked of one by its name.
macro_rules! policies {
    ($($(#[$attribute:meta])* $name:ident = $file:ident,)*) => {
        /// Who has to leave when a set is full.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Policy {
            $($(#[$attribute])* $name,)*
        }

        impl Policy {
            /// All policies.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// What is known of it.
            #[must_use]
            pub const fn about(self) -> About {
                match self {
                    $(Self::$name => <$file::$name as Replacement>::ABOUT,)*
                }
            }
        }

        macro_rules! dispatch {
            ($policy:expr, $p:ident => $call:expr) => {
                match $policy {
                    $(Policy::$name => {
                        type $p = $file::$name;
                        $call
                    })*
                }
            };
        }
    };
}

policies! {
    /// Least recently used (Mattson et al. 1970).
    #[default]
    Lru = lru,
    /// First in, first out: hits change nothing (Belady 1966).
    Fifo = fifo,
    /// Drawn by lot, reproducibly from a seed (Belady 1966).
    Random = random,
    /// Pseudo-LRU by a binary tree of bits that point at the victim (So, Rechtschaffen 1988). A power of two of ways.
    TreePlru = tree_plru,
    /// Pseudo-LRU by a bit a way, also known as NRU: not recently used (Malamy et al. 1994).
    BitPlru = bit_plru,
    /// Static re-reference interval prediction, 2 bits, hit priority (Jaleel et al. 2010).
    Srrip = srrip,
    /// Bimodal re-reference interval prediction: most lines come in as the next to leave (Jaleel et al. 2010).
    Brrip = brrip,
    /// Dynamic re-reference interval prediction: sets duel which of the two is better (Jaleel et al. 2010). Two sets or more.
    Drrip = drrip,
    /// Least frequently used since its fill; ties leave from the lowest way (Denning 1970).
    Lfu = lfu,
    /// Most recently used: good for loops that are a little too large (Chou, DeWitt 1985).
    Mru = mru,
    /// The line whose next use is farthest in the future (Belady 1966): no policy misses less. Needs the trace beforehand.
    Opt = opt,
}

/// Numbers of state that a set of `ways` needs.
pub(super) fn state_len(policy: Policy, ways: usize) -> usize {
    dispatch!(policy, P => P::state_len(ways))
}

/// See [`Replacement::hit`].
pub(super) fn hit(policy: Policy, set: &mut Set<'_>, way: usize) -> usize {
    dispatch!(policy, P => P::hit(set, way))
}

/// Puts a line into the lowest empty way or else the victim's place; gives the way at which it stands, and what the victim
/// left: its word, 0 if there was none, and note.
pub(super) fn insert(policy: Policy, set: &mut Set<'_>, word: u64, note: Note) -> (usize, u64, Note) {
    let way = set.empty().unwrap_or_else(|| dispatch!(policy, P => P::victim(set)));
    let old = std::mem::replace(&mut set.words[way], word);
    let old_note = set.notes.get_mut(way).map(|n| std::mem::replace(n, note)).unwrap_or_default();
    let way = dispatch!(policy, P => P::fill(set, way));
    (way, old, old_note)
}

/// Empties a way; gives what it held.
pub(super) fn remove(policy: Policy, set: &mut Set<'_>, way: usize) -> (u64, Note) {
    let word = std::mem::take(&mut set.words[way]);
    let note = set.notes.get_mut(way).map(std::mem::take).unwrap_or_default();
    dispatch!(policy, P => P::remove(set, way));
    (word, note)
}

/// The ways that hold lines in eviction order, the next victim last; `None` where they stand in that order.
pub(super) fn order(policy: Policy, set: &View<'_>) -> Option<Vec<usize>> {
    if policy.is_list() {
        return None;
    }
    let full = set.words.iter().all(|word| *word != 0);
    let mut ways: Vec<usize> = (0..set.words.len()).filter(|&way| set.words[way] != 0).collect();
    ways.sort_by_cached_key(|&way| dispatch!(policy, P => P::key(set, way, full)));
    Some(ways)
}

/// A number that looks drawn by lot, the same for the same seed, set and count (SplitMix64: Steele, Lea, Flood 2014).
fn lot(seed: u64, set: u32, count: u32) -> u64 {
    let at = u64::from(set) << 32 | u64::from(count);
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(at.wrapping_add(1)));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_is_told_by_its_word_alone() {
        for (n, policy) in Policy::ALL.iter().enumerate() {
            let about = policy.about();
            assert_eq!(toml::Value::try_from(policy).unwrap().as_str(), Some(about.word), "in files, too");
            assert!(Policy::ALL[..n].iter().all(|other| other.about().word != about.word), "{policy}");
            assert!(![about.victim, about.source, about.state].contains(&""), "{policy} says all of itself");
        }
        // What is kept beside the words is none where these stand in order, and some where they do not.
        for &policy in Policy::ALL {
            assert_eq!(state_len(policy, 8) == 0, policy.is_list(), "{policy}");
        }
    }
}

#[cfg(test)]
mod pictures;
