//! The loops of [`fast`](super::fast) for machines with vectors: whole sets compared and rotated at once.
//!
//! This is the one file of the simulator with `unsafe` in it, for two things: loading and storing vectors of words, and
//! calling what was compiled for a processor that was found at run time. Everything here does what the plain loops of
//! `fast` do, word for word; tests there play random requests through both.
//!
//! A set of `ways` words is `V` vectors; where the ways do not fill them (`FULL` is false) the last is masked.

#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "vectors of words, and functions for the processor found; see the SAFETY comments")
)]

use super::fast::scan::{self, Block, Exceptions, Found, Next, Seen, Shape, Stop, Tally};
use crate::reference::Reference;

/// What the processor can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Isa {
    /// 8 words a vector, with masks.
    Avx512,
    /// 4 words a vector.
    Avx2,
    /// No vectors that this file knows.
    Plain,
}

impl Isa {
    /// All that this processor has, the best first.
    pub(super) fn here() -> impl Iterator<Item = Self> {
        [Self::Avx512, Self::Avx2, Self::Plain].into_iter().filter(|isa| isa.is_here())
    }

    /// The best for sets of this many ways.
    pub(super) fn best(ways: usize) -> Self {
        Self::here().find(|isa| ways <= isa.most_ways()).unwrap_or(Self::Plain)
    }

    /// Most ways that its loops take.
    pub(super) fn most_ways(self) -> usize {
        match self {
            Self::Avx512 => 32,
            Self::Avx2 => 16,
            Self::Plain => usize::MAX,
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn is_here(self) -> bool {
        macro_rules! all {
            ($($feature:tt)*) => { $(is_x86_feature_detected!($feature))&&* };
        }
        match self {
            Self::Avx512 => all!("avx512f" "avx512dq" "avx512bw" "avx512vl" "avx2" "bmi1" "bmi2" "popcnt"),
            Self::Avx2 => all!("avx2" "bmi1" "bmi2" "popcnt"),
            Self::Plain => true,
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn is_here(self) -> bool {
        self == Self::Plain
    }
}

/// As [`scan::hits`], without a branch on where a line is.
pub(super) fn hits(
    isa: Isa,
    words: &mut [u64],
    shape: Shape,
    references: &[Reference],
    exceptions: Exceptions,
    seen: &mut Seen,
) -> Stop {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => avx512::hits(words, shape, references, exceptions, seen),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => avx2::hits(words, shape, references, exceptions, seen),
        _ => scan::hits(words, shape, references, exceptions, seen),
    }
}

/// [`scan::hits`], compiled for the processor.
pub(super) fn scan_hits(
    isa: Isa,
    words: &mut [u64],
    shape: Shape,
    references: &[Reference],
    exceptions: Exceptions,
    seen: &mut Seen,
) -> Stop {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => avx512::scan_hits(words, shape, references, exceptions, seen),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => avx2::scan_hits(words, shape, references, exceptions, seen),
        _ => scan::hits(words, shape, references, exceptions, seen),
    }
}

/// As [`scan::take`], without a branch on where a line is, or whether.
pub(super) fn take(
    isa: Isa,
    words: &mut [u64],
    shape: Shape,
    references: &[Reference],
    exceptions: Exceptions,
    block: &mut Block,
) -> usize {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => avx512::take(words, shape, references, exceptions, block),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => avx2::take(words, shape, references, exceptions, block),
        _ => scan::take(words, shape, references, exceptions, block),
    }
}

/// As [`scan::through`], without a branch on where a line is, or whether.
pub(super) fn through(isa: Isa, words: &mut [u64], shape: Shape, asks: &[u64], found: &mut Found) {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => avx512::through(words, shape, asks, found),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => avx2::through(words, shape, asks, found),
        _ => scan::through(words, shape, asks, found),
    }
}

/// As [`scan::follow`].
pub(super) fn follow(isa: Isa, shape: Shape, asks: &[u64], found: &Found, tally: &mut Tally, next: &mut Next) -> usize {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => avx512::follow(shape, asks, found, tally, next),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => avx2::follow(shape, asks, found, tally, next),
        _ => scan::follow(shape, asks, found, 0, tally, next),
    }
}

/// Tells the processor that an element of a slice will be asked for. Only a hint: it need not exist.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn expect<T>(slice: &[T], at: usize) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a prefetch reads nothing and may name any address; each x86-64 processor has it.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(slice.as_ptr().wrapping_add(at).cast()) };
}

/// See above.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(super) fn expect<T>(_: &[T], _: usize) {}

/// The loops, once for each processor: `$touch::<V, FULL>` is the only thing that differs.
///
/// `$touch(set, tail, key, dirty)` makes the line of `key` the head of a set, dirty if it was or if `dirty` says so. It
/// gives the ways that held the line as bits (one or none) and the word that was in the last way.
#[cfg(target_arch = "x86_64")]
macro_rules! loops {
    ($features:literal, $lanes:literal, $touch:ident, $tail:ident, [$($v:literal)*]) => {
        pub(super) fn hits(
            words: &mut [u64],
            shape: Shape,
            references: &[Reference],
            exceptions: Exceptions,
            seen: &mut Seen,
        ) -> Stop {
            // SAFETY: `Isa` names these features only where the processor has them.
            match (shape.ways.div_ceil($lanes), shape.ways % $lanes) {
                $(($v, 0) => unsafe { hits_of::<$v, true>(words, shape, references, exceptions, seen) },
                ($v, _) => unsafe { hits_of::<$v, false>(words, shape, references, exceptions, seen) },)*
                _ => scan::hits(words, shape, references, exceptions, seen),
            }
        }

        #[target_feature(enable = $features)]
        fn hits_of<const V: usize, const FULL: bool>(
            words: &mut [u64],
            shape: Shape,
            references: &[Reference],
            exceptions: Exceptions,
            seen: &mut Seen,
        ) -> Stop {
            let shape = checked::<V, FULL>(words, shape, $lanes);
            let tail = $tail(shape.ways);
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
                // SAFETY: a set of a line lies within the words that `checked` has counted.
                let set = unsafe { words.as_mut_ptr().add(shape.start(line)) };
                // SAFETY: `set` is followed by a set's words.
                let (ways, victim) =
                    unsafe { $touch::<V, FULL>(set, tail, shape.key(line), (kind as u64 + 1) & DIRTY) };
                if ways == 0 {
                    stop = Stop { at, why: Why::Miss(victim) };
                    break;
                }
                depth += u64::from(ways.trailing_zeros());
            }
            *seen = Seen { accesses, depth };
            stop
        }

        pub(super) fn scan_hits(
            words: &mut [u64],
            shape: Shape,
            references: &[Reference],
            exceptions: Exceptions,
            seen: &mut Seen,
        ) -> Stop {
            #[target_feature(enable = $features)]
            fn inner(w: &mut [u64], shape: Shape, r: &[Reference], exceptions: Exceptions, seen: &mut Seen) -> Stop {
                scan::hits(w, shape, r, exceptions, seen)
            }
            // SAFETY: as in `hits`.
            unsafe { inner(words, shape, references, exceptions, seen) }
        }

        pub(super) fn take(
            words: &mut [u64],
            shape: Shape,
            references: &[Reference],
            exceptions: Exceptions,
            block: &mut Block,
        ) -> usize {
            // SAFETY: as in `hits`.
            match (shape.ways.div_ceil($lanes), shape.ways % $lanes) {
                $(($v, 0) => unsafe { take_of::<$v, true>(words, shape, references, exceptions, block) },
                ($v, _) => unsafe { take_of::<$v, false>(words, shape, references, exceptions, block) },)*
                _ => scan::take(words, shape, references, exceptions, block),
            }
        }

        #[target_feature(enable = $features)]
        fn take_of<const V: usize, const FULL: bool>(
            words: &mut [u64],
            shape: Shape,
            references: &[Reference],
            exceptions: Exceptions,
            block: &mut Block,
        ) -> usize {
            let shape = checked::<V, FULL>(words, shape, $lanes);
            let tail = $tail(shape.ways);
            let Block { asks, made, found } = block;
            let fields = exceptions.fields();
            let mut listed = 0;
            let mut taken = references.len();
            for (at, reference) in references.iter().enumerate() {
                // Only a hint: what is named need not exist.
                _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(reference).wrapping_add(AHEAD).cast());
                let field = fields[reference.kind as usize];
                if field == 0 && exceptions.drops(reference.kind) {
                    continue;
                }
                if listed == BLOCK || field == 0 || !shape.holds(reference) {
                    taken = at;
                    break;
                }
                let ask = shape.ask(reference);
                let line = ask >> ASK_BITS;
                // SAFETY: as in `hits_of`.
                let set = unsafe { words.as_mut_ptr().add(shape.start(line)) };
                // SAFETY: as in `hits_of`.
                let (ways, victim) = unsafe { $touch::<V, FULL>(set, tail, shape.key(line), ask & DIRTY_ASK) };
                asks[listed] = ask;
                found.left[listed] = victim;
                found.matched[listed] = u8::from(ways != 0);
                listed += 1;
            }
            *made = listed;
            taken
        }

        pub(super) fn through(words: &mut [u64], shape: Shape, asks: &[u64], found: &mut Found) {
            // SAFETY: as in `hits`.
            match (shape.ways.div_ceil($lanes), shape.ways % $lanes) {
                $(($v, 0) => unsafe { through_of::<$v, true>(words, shape, asks, found) },
                ($v, _) => unsafe { through_of::<$v, false>(words, shape, asks, found) },)*
                _ => scan::through(words, shape, asks, found),
            }
        }

        #[target_feature(enable = $features)]
        fn through_of<const V: usize, const FULL: bool>(
            words: &mut [u64],
            shape: Shape,
            asks: &[u64],
            found: &mut Found,
        ) {
            let shape = checked::<V, FULL>(words, shape, $lanes);
            let tail = $tail(shape.ways);
            for ((ask, left), matched) in asks.iter().zip(&mut found.left).zip(&mut found.matched) {
                let line = ask >> ASK_BITS;
                // SAFETY: as in `hits_of`.
                let set = unsafe { words.as_mut_ptr().add(shape.start(line)) };
                // SAFETY: as in `hits_of`.
                let (ways, victim) = unsafe { $touch::<V, FULL>(set, tail, shape.key(line), ask & DIRTY_ASK) };
                (*left, *matched) = (victim, u8::from(ways != 0));
            }
        }
    };
}

/// References ahead of the one that is played of which the processor is told.
#[cfg(target_arch = "x86_64")]
const AHEAD: usize = 64;

/// The shape, once it is sure that its sets lie within `words` and are `V` vectors.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn checked<const V: usize, const FULL: bool>(words: &[u64], mut shape: Shape, lanes: usize) -> Shape {
    assert!(shape.set_bits < 32 && words.len() == shape.ways << shape.set_bits, "all sets of the shape");
    assert!(shape.ways.div_ceil(lanes) == V && shape.ways.is_multiple_of(lanes) == FULL, "vectors of a set");
    if FULL {
        // The same, as a constant.
        shape.ways = V * lanes;
    }
    shape
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::{AHEAD, checked, scan};
    use crate::reference::Reference;
    use crate::sim::fast::scan::{
        ASK_BITS, BLOCK, Block, COVER, DIRTY_ASK, Exceptions, Found, Next, ODD_ASK, Seen, Shape, Stop, Tally, Why,
    };
    use crate::sim::policy::{DIRTY, FLAG_BITS, VALID};
    use std::arch::x86_64::*;

    loops!("avx512f,avx512dq,avx512bw,avx512vl,avx2,bmi1,bmi2,popcnt", 8, touch, tail, [1 2 3 4]);

    /// The ways in a set's last vector, where they do not fill it.
    #[target_feature(enable = "avx512f")]
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "below 8 bits")]
    fn tail(ways: usize) -> __mmask8 {
        ((1u32 << (ways % 8)) - 1) as __mmask8
    }

    /// See `loops`.
    ///
    /// # Safety
    /// `set` is followed by the words of a set: `8 V` where `FULL`, else 8 (V - 1) and as many as `tail` has bits.
    #[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,avx2,bmi1,bmi2,popcnt")]
    #[inline]
    #[expect(clippy::cast_possible_wrap, clippy::cast_sign_loss, clippy::cast_possible_truncation, reason = "bits")]
    unsafe fn touch<const V: usize, const FULL: bool>(
        set: *mut u64,
        tail: __mmask8,
        key: u64,
        dirty: u64,
    ) -> (u32, u64) {
        let masked = |n: usize| !FULL && n + 1 == V;
        let wanted = _mm512_set1_epi64(key as i64);
        let (but_dirty, only_dirty) = (_mm512_set1_epi64(!DIRTY as i64), _mm512_set1_epi64(DIRTY as i64));
        let mut x = [_mm512_setzero_si512(); V];
        let (mut ways, mut was_dirty) = (0, 0);
        for (n, x) in x.iter_mut().enumerate() {
            // SAFETY: within the set, by the contract.
            *x = unsafe {
                let at = set.add(8 * n).cast_const().cast::<i64>();
                if masked(n) { _mm512_maskz_loadu_epi64(tail, at) } else { _mm512_loadu_epi64(at) }
            };
            // Masked ways are 0, which no key is.
            let match_ = _mm512_testn_epi64_mask(_mm512_xor_si512(*x, wanted), but_dirty);
            was_dirty |= _mm512_mask_test_epi64_mask(match_, *x, only_dirty);
            ways |= u32::from(match_) << (8 * n);
        }
        let last = if FULL {
            _mm_cvtsi128_si64(_mm512_castsi512_si128(_mm512_alignr_epi64::<7>(x[V - 1], x[V - 1]))) as u64
        } else {
            // SAFETY: the last word of the set.
            unsafe { set.add(8 * (V - 1) + tail.count_ones() as usize - 1).read() }
        };
        let head = key | dirty | if was_dirty == 0 { 0 } else { DIRTY };
        // The ways up to the match, all of them on a miss, move back by one.
        let back = ways ^ ways.wrapping_sub(1);
        for n in (0..V).rev() {
            let before = if n == 0 { _mm512_set1_epi64(head as i64) } else { x[n - 1] };
            let moved = _mm512_mask_alignr_epi64::<7>(x[n], (back >> (8 * n)) as __mmask8, x[n], before);
            // SAFETY: within the set, by the contract.
            unsafe {
                let at = set.add(8 * n).cast::<i64>();
                if masked(n) { _mm512_mask_storeu_epi64(at, tail, moved) } else { _mm512_storeu_epi64(at, moved) }
            }
        }
        (ways, last)
    }

    /// As [`scan::follow`], 8 requests at a time.
    pub(super) fn follow(shape: Shape, asks: &[u64], found: &Found, tally: &mut Tally, next: &mut Next) -> usize {
        // SAFETY: as in `hits`.
        unsafe { follow_all(shape, asks, found, tally, next) }
    }

    #[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,avx2,bmi1,bmi2,popcnt")]
    fn follow_all(shape: Shape, asks: &[u64], found: &Found, tally: &mut Tally, next: &mut Next) -> usize {
        let mut listed = 0;
        let (whole, rest) = asks.as_chunks::<8>();
        let (left, matched) = (found.left.as_chunks::<8>().0, found.matched.as_chunks::<8>().0);
        for ((asks, left), matched) in whole.iter().zip(left).zip(matched) {
            // SAFETY: `next` has room for two for each of a block, and 16 more.
            listed += unsafe { follow_8(shape, asks, left, *matched, tally, next.as_mut_ptr().add(listed)) };
        }
        let from = asks.len() - rest.len();
        listed + scan::follow(shape, rest, found, from, tally, &mut next[listed..])
    }

    /// See [`follow`]. How many it put at `next`.
    ///
    /// # Safety
    /// `next` is followed by room for 16 words, and for 8 more than are put there.
    #[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,avx2,bmi1,bmi2,popcnt")]
    #[inline]
    #[expect(clippy::cast_possible_wrap, clippy::cast_possible_truncation, reason = "bits")]
    unsafe fn follow_8(
        shape: Shape,
        asks: &[u64; 8],
        left: &[u64; 8],
        matched: [u8; 8],
        tally: &mut Tally,
        next: *mut u64,
    ) -> usize {
        let all = |bits: u64| _mm512_set1_epi64(bits as i64);
        let count = |mask: u8| u64::from(mask.count_ones());
        // SAFETY: 8 words each.
        let (asks, left) =
            unsafe { (_mm512_loadu_epi64(asks.as_ptr().cast()), _mm512_loadu_epi64(left.as_ptr().cast())) };
        let matched = _mm_cvtsi64_si128(i64::from_le_bytes(matched));
        let missed = _mm_testn_epi8_mask(matched, matched) as u8;
        let write = _mm512_test_epi64_mask(asks, all(DIRTY_ASK));
        let odd = _mm512_test_epi64_mask(asks, all(ODD_ASK));
        let cover = _mm512_test_epi64_mask(asks, all(COVER & !DIRTY_ASK));
        let (fetch, modify) = (odd & !write, odd & write);
        let read = !(write | fetch) | modify;
        let wet = _mm512_mask_test_epi64_mask(missed, left, all(DIRTY));
        tally.accesses[0] += count(read);
        tally.accesses[1] += count(write);
        tally.accesses[2] += count(fetch);
        tally.misses[0] += count(missed & read);
        tally.misses[1] += count(missed & write & !modify);
        tally.misses[2] += count(missed & fetch);
        tally.covered += count(missed & cover);
        tally.evictions += count(_mm512_mask_test_epi64_mask(missed, left, all(VALID)));
        tally.writebacks += count(wet);
        // What is asked for: the same line, by a read or a fetch.
        let line = _mm512_andnot_si512(all((1 << ASK_BITS) - 1), asks);
        let wants = _mm512_mask_or_epi64(line, fetch, line, all(ODD_ASK));
        // What is given back: the tag of the word that left, the set of the line.
        let tags = _mm512_sll_epi64(
            _mm512_srli_epi64::<FLAG_BITS>(left),
            _mm_cvtsi64_si128(i64::from(shape.set_bits + ASK_BITS)),
        );
        let set = _mm512_and_si512(asks, all(((1 << shape.set_bits) - 1) << ASK_BITS));
        let gives = _mm512_or_si512(_mm512_or_si512(tags, set), all(COVER));
        // One after the other: wants 0, gives 0, wants 1, ...
        let some = _pdep_u32(u32::from(missed & !cover), 0x5555) | _pdep_u32(u32::from(wet), 0xaaaa);
        let low = _mm512_permutex2var_epi64(wants, _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), gives);
        let high = _mm512_permutex2var_epi64(wants, _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15), gives);
        let below = (some & 0xff).count_ones() as usize;
        // SAFETY: 8 words at `next`, and 8 after those that are kept of them.
        unsafe {
            _mm512_storeu_epi64(next.cast(), _mm512_maskz_compress_epi64(some as u8, low));
            _mm512_storeu_epi64(next.add(below).cast(), _mm512_maskz_compress_epi64((some >> 8) as u8, high));
        }
        some.count_ones() as usize
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{AHEAD, checked, scan};
    use crate::reference::Reference;
    use crate::sim::fast::scan::{
        ASK_BITS, BLOCK, Block, DIRTY_ASK, Exceptions, Found, Next, Seen, Shape, Stop, Tally, Why,
    };
    use crate::sim::policy::DIRTY;
    use std::arch::x86_64::*;

    loops!("avx2,bmi1,bmi2,popcnt", 4, touch, tail, [1 2 3 4]);

    /// The ways in a set's last vector, where they do not fill it: all ones.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn tail(ways: usize) -> __m256i {
        let way = |n: usize| if n < ways % 4 { -1 } else { 0 };
        _mm256_setr_epi64x(way(0), way(1), way(2), way(3))
    }

    /// See `loops`.
    ///
    /// # Safety
    /// `set` is followed by the words of a set: `4 V` where `FULL`, else 4 (V - 1) and as many as `tail` has ones.
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    #[inline]
    #[expect(clippy::cast_possible_wrap, clippy::cast_sign_loss, reason = "bits")]
    unsafe fn touch<const V: usize, const FULL: bool>(
        set: *mut u64,
        tail: __m256i,
        key: u64,
        dirty: u64,
    ) -> (u32, u64) {
        let masked = |n: usize| !FULL && n + 1 == V;
        let bits = |v: __m256i| _mm256_movemask_pd(_mm256_castsi256_pd(v)) as u32;
        let wanted = _mm256_set1_epi64x(key as i64);
        let but_dirty = _mm256_set1_epi64x(!DIRTY as i64);
        let mut x = [_mm256_setzero_si256(); V];
        let (mut ways, mut dirty_ways) = (0, 0);
        for (n, x) in x.iter_mut().enumerate() {
            // SAFETY: within the set, by the contract.
            *x = unsafe {
                let at = set.add(4 * n).cast_const();
                if masked(n) { _mm256_maskload_epi64(at.cast(), tail) } else { _mm256_loadu_si256(at.cast()) }
            };
            ways |= bits(_mm256_cmpeq_epi64(_mm256_and_si256(*x, but_dirty), wanted)) << (4 * n);
            dirty_ways |= bits(_mm256_slli_epi64::<{ 63 - DIRTY.trailing_zeros() as i32 }>(*x)) << (4 * n);
        }
        let in_tail = if FULL { 4 } else { bits(tail).count_ones() as usize };
        // SAFETY: the last word of the set.
        let last = unsafe { set.add(4 * (V - 1) + in_tail - 1).read() };
        let head = key | dirty | if ways & dirty_ways == 0 { 0 } else { DIRTY };
        // The ways up to the match, all of them on a miss (then this is 32), move back by one.
        let until = _mm256_set1_epi64x(i64::from(ways.trailing_zeros()) + 1);
        for n in (0..V).rev() {
            let way = 4 * n as i64;
            let moves = _mm256_cmpgt_epi64(until, _mm256_setr_epi64x(way, way + 1, way + 2, way + 3));
            let shifted = if n == 0 {
                let one_on = _mm256_permute4x64_epi64::<0b10_01_00_00>(x[0]);
                _mm256_blend_epi32::<0b11>(one_on, _mm256_set1_epi64x(head as i64))
            } else {
                let between = _mm256_permute2x128_si256::<0x21>(x[n - 1], x[n]);
                _mm256_alignr_epi8::<8>(x[n], between)
            };
            let moved = _mm256_blendv_epi8(x[n], shifted, moves);
            // SAFETY: within the set, by the contract.
            unsafe {
                let at = set.add(4 * n);
                if masked(n) {
                    _mm256_maskstore_epi64(at.cast(), tail, moved);
                } else {
                    _mm256_storeu_si256(at.cast(), moved);
                }
            }
        }
        (ways, last)
    }

    pub(super) fn follow(shape: Shape, asks: &[u64], found: &Found, tally: &mut Tally, next: &mut Next) -> usize {
        #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
        fn inner(shape: Shape, asks: &[u64], found: &Found, tally: &mut Tally, next: &mut Next) -> usize {
            scan::follow(shape, asks, found, 0, tally, next)
        }
        // SAFETY: as in `hits`.
        unsafe { inner(shape, asks, found, tally, next) }
    }
}
