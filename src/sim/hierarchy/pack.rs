//! The state of a hierarchy in few bytes, for keyframes and files.
//!
//! Of a line, its set is told by its place, and its tag is one of few: those of a cache are numbered in the order in which they
//! are met first, and a word is stored as number and dirty bit, in as many bits as the largest needs. An 8 MiB cache over 64 MiB
//! of data takes 9 bits a line in place of 64.

use super::Hierarchy;
use crate::sim::cache::{Cache, Rest};
use crate::sim::coherence::Directory;
use crate::sim::hierarchy::MemoryCounters;
use crate::sim::policy::{DIRTY, FLAG_BITS, VALID};
use crate::sim::prefetch::Prefetcher;
use serde::{Deserialize, Serialize};

/// A state, packed by a [`Packer`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packed {
    /// Bits of a word, for each cache, then each TLB.
    bits: Vec<u8>,
    /// The words of each, one behind the other; each begins with a new number here.
    words: Box<[u64]>,
    /// [`Others`].
    others: Box<[u8]>,
}

impl Packed {
    /// As bytes, for [`Packed::read`].
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.bytes());
        let length = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).to_le_bytes();
        out.extend(length(self.bits.len()));
        out.extend(length(self.others.len()));
        out.extend(&self.bits);
        out.extend(&self.others);
        out.extend(self.words.iter().flat_map(|word| word.to_le_bytes()));
        out
    }

    /// The inverse of [`Packed::to_bytes`]; `None` where it is none.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (bits, bytes) = bytes.split_first_chunk().map(|(n, rest)| (u32::from_le_bytes(*n) as usize, rest))?;
        let (others, bytes) = bytes.split_first_chunk().map(|(n, rest)| (u32::from_le_bytes(*n) as usize, rest))?;
        let (bits, bytes) = bytes.split_at_checked(bits)?;
        let (others, bytes) = bytes.split_at_checked(others)?;
        let (words, rest) = bytes.as_chunks();
        let words = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
        rest.is_empty().then(|| Self { bits: bits.to_vec(), words, others: others.into() })
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.bits.len() + size_of_val(&*self.words) + self.others.len()
    }
}

/// All that is no word of a cache.
#[derive(Serialize, Deserialize)]
struct Others {
    caches: Vec<Rest>,
    tlbs: Vec<Rest>,
    walks: u64,
    memory: MemoryCounters,
    clock: u64,
    prefetchers: Vec<Prefetcher>,
    directory: Option<Directory>,
}

/// Packs states of one hierarchy, and gives them back. What was packed once stays readable by it, whatever is packed later.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packer {
    /// For each cache, then each TLB.
    tags: Vec<Tags>,
}

/// Tags that are numbered, at most; a cache with others is stored as it is.
const TAGS: usize = 1 << 18;
/// Bits of a word that is stored as it is.
const RAW: u32 = 64;

/// Numbers of tags.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Tags {
    /// By number.
    tags: Vec<u64>,
    /// Where a tag is in `tags`, plus one, at the place that its hash says or after; 0 = free. A power of two.
    #[serde(skip)]
    places: Vec<u32>,
}

impl Tags {
    /// `None`: there are too many.
    fn number(&mut self, tag: u64) -> Option<u64> {
        if 2 * self.tags.len() >= self.places.len() {
            self.places = vec![0; (4 * self.tags.len()).max(16).next_power_of_two()];
            for at in 0..self.tags.len() {
                let place = self.place(self.tags[at]);
                self.places[place] = u32::try_from(at + 1).unwrap_or(u32::MAX);
            }
        }
        let place = self.place(tag);
        if self.places[place] == 0 {
            if self.tags.len() == TAGS {
                return None;
            }
            self.tags.push(tag);
            self.places[place] = u32::try_from(self.tags.len()).unwrap_or(u32::MAX);
        }
        Some(u64::from(self.places[place]) - 1)
    }

    /// Where a tag is, or can be put.
    #[inline]
    fn place(&self, tag: u64) -> usize {
        // Multiplicative hashing (Knuth 1973).
        let mask = self.places.len() - 1;
        let mut place = (tag.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask;
        while let Some(at) = (self.places[place] as usize).checked_sub(1)
            && self.tags[at] != tag
        {
            place = (place + 1) & mask;
        }
        place
    }
}

impl Packer {
    /// The state of a hierarchy.
    #[must_use]
    pub fn pack(&mut self, state: &Hierarchy) -> Packed {
        let caches: Vec<&Cache> = state.caches.iter().chain(state.tlbs.caches()).collect();
        self.tags.resize_with(caches.len(), Tags::default);
        let (mut bits, mut words, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
        for (cache, tags) in caches.iter().zip(&mut self.tags) {
            numbers.clear();
            let (mut last, mut known) = (u64::MAX, 0);
            let numbered = cache.words().iter().try_for_each(|&word| {
                let tag = word >> FLAG_BITS;
                if word != 0 && tag != last {
                    (last, known) = (tag, tags.number(tag)?);
                }
                numbers.push(if word == 0 { 0 } else { 1 + (known << 1 | u64::from(word & DIRTY != 0)) });
                Some(())
            });
            let width = match numbered {
                Some(()) => numbers.iter().fold(0, |all, n| all | n).checked_ilog2().map_or(0, |log| log + 1),
                None => RAW,
            };
            match width {
                RAW => words.extend_from_slice(cache.words()),
                _ => put(&numbers, width, &mut words),
            }
            bits.push(u8::try_from(width).unwrap_or(64));
        }
        let others = Others {
            caches: state.caches.iter().map(Cache::rest).collect(),
            tlbs: state.tlbs.caches().iter().map(Cache::rest).collect(),
            walks: state.tlbs.walks(),
            memory: state.memory,
            clock: state.clock,
            prefetchers: state.prefetchers.clone(),
            directory: state.directory.clone(),
        };
        let others = postcard::to_allocvec(&others).unwrap_or_default();
        Packed { bits, words: words.into(), others: others.into() }
    }

    /// Brings a hierarchy of the same configuration into a state that was packed. `None` where it is not of such a one; the
    /// hierarchy is in no good state then.
    pub fn unpack(&self, packed: &Packed, into: &mut Hierarchy) -> Option<()> {
        let others: Others = postcard::from_bytes(&packed.others).ok()?;
        let fits = others.caches.len() == into.caches.len()
            && others.tlbs.len() == into.tlbs.caches().len()
            && others.prefetchers.len() == into.prefetchers.len()
            && others.prefetchers.iter().zip(&into.prefetchers).all(|(a, b)| a.is_like(b))
            && others.directory.as_ref().map(Directory::shift) == into.directory.as_ref().map(Directory::shift);
        if !fits {
            return None;
        }
        (into.memory, into.clock) = (others.memory, others.clock);
        (into.prefetchers, into.directory) = (others.prefetchers, others.directory);
        let (tlbs, walks) = into.tlbs.caches_mut();
        *walks = others.walks;
        let caches = into.caches.iter_mut().chain(tlbs);
        let mut words = &packed.words[..];
        for ((cache, rest), (tags, &width)) in
            caches.zip(others.caches.into_iter().chain(others.tlbs)).zip(self.tags.iter().zip(&packed.bits))
        {
            cache.restore(rest)?;
            let len = cache.words().len();
            let (now, later) = words.split_at_checked(stored(len, u32::from(width))?)?;
            match u32::from(width) {
                RAW => cache.words_mut().copy_from_slice(now),
                width => take(now, width, &tags.tags, cache.words_mut())?,
            }
            words = later;
        }
        words.is_empty().then_some(())
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.tags.iter().map(|tags| 8 * tags.tags.len() + 4 * tags.places.len()).sum()
    }
}

/// How many numbers hold `len` of `width` bits.
fn stored(len: usize, width: u32) -> Option<usize> {
    (width <= RAW).then(|| len.checked_mul(width as usize).map(|bits| bits.div_ceil(64)))?
}

/// Appends numbers of `width` bits, low bits first.
fn put(numbers: &[u64], width: u32, out: &mut Vec<u64>) {
    let (mut held, mut filled) = (0u64, 0);
    if width == 0 {
        return;
    }
    for &n in numbers {
        held |= n << filled;
        filled += width;
        if filled >= 64 {
            out.push(held);
            filled -= 64;
            // What did not fit; nothing where it just did.
            held = if filled == 0 { 0 } else { n >> (width - filled) };
        }
    }
    if filled > 0 {
        out.push(held);
    }
}

/// Reads words that [`put`] wrote as numbers of tags and dirty bits.
fn take(from: &[u64], width: u32, tags: &[u64], out: &mut [u64]) -> Option<()> {
    if width == 0 {
        out.fill(0);
        return Some(());
    }
    let mask = u64::MAX >> (64 - width);
    let (mut at, mut used) = (0, 0);
    for word in out {
        let mut n = from[at] >> used;
        used += width;
        if used >= 64 {
            at += 1;
            used -= 64;
            if used > 0 {
                n |= from[at] << (width - used);
            }
        }
        n &= mask;
        *word = match n.checked_sub(1) {
            None => 0,
            Some(n) => {
                let tag = *tags.get(usize::try_from(n >> 1).ok()?)?;
                tag << FLAG_BITS | VALID | if n & 1 == 1 { DIRTY } else { 0 }
            }
        };
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_width_come_back() {
        for width in 1..=40u32 {
            for len in [0usize, 1, 5, 63, 64, 65, 200] {
                let most = u64::MAX >> (64 - width);
                let tags: Vec<u64> = (0..300).collect();
                let numbers: Vec<u64> = (0..len as u64).map(|n| (n * 7 % 301).min(most)).collect();
                let mut stream = Vec::new();
                put(&numbers, width, &mut stream);
                assert_eq!(Some(stream.len()), stored(len, width), "{len} of {width} bits");
                let mut words = vec![9; len];
                take(&stream, width, &tags, &mut words).unwrap();
                let expect = |&n: &u64| match n.checked_sub(1) {
                    None => 0,
                    Some(n) => (n >> 1) << FLAG_BITS | VALID | if n & 1 == 1 { DIRTY } else { 0 },
                };
                assert_eq!(words, numbers.iter().map(expect).collect::<Vec<_>>(), "{len} of {width} bits");
            }
        }
        let mut tags = Tags::default();
        for n in 0..TAGS as u64 {
            assert_eq!(tags.number(n * 0x1234_5678_9abc), Some(n));
        }
        assert_eq!((tags.number(5), tags.number(0x1234_5678_9abc)), (None, Some(1)));
        assert_eq!(take(&[8], 4, &[1, 2, 3], &mut [0]), None, "a number of no tag");
    }
}
