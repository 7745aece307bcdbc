//! Seeded generators for tests and benches: the same arguments give the same references, on any machine.
//!
//! None of these pretends to be a program: real ones are recorded from compiled C (see `traces/`).

use crate::reference::{Kind, MemoryTrace, Reference, Region, Tables};

/// Where generated memory begins: page-aligned, so that every cache geometry sees whole lines.
pub const BASE: u64 = 0x1000_0000;

/// A small random generator: xoshiro256++ (Blackman and Vigna, 2019), seeded by splitmix64.
#[derive(Clone, Debug)]
pub struct Rng([u64; 4]);

impl Rng {
    /// Any seed is a good one, 0 included.
    #[must_use]
    pub fn new(mut seed: u64) -> Self {
        Self(std::array::from_fn(|_| {
            seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        }))
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.0;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Uniform in `0..bound`; 0 where `bound` is 0. The bias is below 2^-32 for bounds below 2^32.
    pub fn below(&mut self, bound: u64) -> u64 {
        let wide = u128::from(self.next_u64()) * u128::from(bound);
        u64::try_from(wide >> 64).unwrap_or(0)
    }

    /// Uniform in `[0, 1)`, 53 bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A read of 8 bytes, or a write.
fn word(kind: Kind, addr: u64) -> Reference {
    Reference::new(kind, addr, 8)
}

/// `n` reads of neighbouring 8-byte words, without end.
pub fn stream(n: u64) -> impl Iterator<Item = Reference> {
    (0..n).map(|i| word(Kind::Read, BASE + 8 * i))
}

/// `n` reads of 8 bytes, `stride` bytes apart, wrapping after `bytes`.
pub fn stride(n: u64, stride: u64, bytes: u64) -> impl Iterator<Item = Reference> {
    let bytes = bytes.max(8);
    (0..n).map(move |i| word(Kind::Read, BASE + i.wrapping_mul(stride) % bytes))
}

/// How a matrix multiply is ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatmulOrder {
    /// `for i, for j, for k`: rows of A against columns of B.
    Standard,
    /// As standard, with B stored transposed: rows against rows.
    Transposed,
    /// In square blocks of this side, which must divide the extent; C is read and written once a block step.
    Blocked(u64),
}

/// The references of `C = A B` on `n` x `n` doubles, A, B, C one after the other, with a region each.
#[must_use]
pub fn matmul(n: u64, order: MatmulOrder) -> MemoryTrace {
    let bytes = 8 * n * n;
    let at = |array: u64, row: u64, column: u64| BASE + array * bytes + 8 * (row * n + column);
    let mut refs = Vec::new();
    let inner = |refs: &mut Vec<Reference>, i: u64, j: u64, ks: std::ops::Range<u64>| {
        for k in ks {
            refs.push(word(Kind::Read, at(0, i, k)));
            let (row, column) = if order == MatmulOrder::Transposed { (j, k) } else { (k, j) };
            refs.push(word(Kind::Read, at(1, row, column)));
        }
    };
    match order {
        MatmulOrder::Standard | MatmulOrder::Transposed => {
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                inner(&mut refs, i, j, 0..n);
                refs.push(word(Kind::Write, at(2, i, j)));
            }
        }
        MatmulOrder::Blocked(side) => {
            let side = side.clamp(1, n.max(1));
            let steps = || (0..n / side).map(move |b| b * side);
            for (ii, jj, kk) in steps().flat_map(|i| steps().flat_map(move |j| steps().map(move |k| (i, j, k)))) {
                for (i, j) in (ii..ii + side).flat_map(|i| (jj..jj + side).map(move |j| (i, j))) {
                    inner(&mut refs, i, j, kk..kk + side);
                    refs.push(word(Kind::Read, at(2, i, j)));
                    refs.push(word(Kind::Write, at(2, i, j)));
                }
            }
        }
    }
    let regions = (0..3).zip(["A", "B", "C"]).map(|(array, name)| Region {
        elem_type: "double".into(),
        shape: vec![n, n].into(),
        ..Region::new(name, at(array, 0, 0), bytes)
    });
    let title = format!("{n}×{n} matrix multiply, synthetic");
    let tables = Tables { title, regions: regions.filter(|r| r.bytes > 0).collect(), ..Tables::default() };
    MemoryTrace::new(refs, tables)
}

/// `n` reads that follow one random cycle through `nodes` nodes of 64 bytes: each address is known only from the one
/// before. A cycle holds every node (Sattolo, 1986).
pub fn pointer_chase(n: u64, nodes: u32, seed: u64) -> impl Iterator<Item = Reference> {
    let mut rng = Rng::new(seed);
    let mut next: Vec<u32> = (0..nodes.max(1)).collect();
    for i in (1..next.len()).rev() {
        let j = usize::try_from(rng.below(i as u64)).unwrap_or(0);
        next.swap(i, j);
    }
    let mut at = 0u32;
    (0..n).map(move |_| {
        let addr = BASE + 64 * u64::from(at);
        at = next.get(at as usize).copied().unwrap_or(0);
        word(Kind::Read, addr)
    })
}

/// `n` reads of 8 aligned bytes, uniform over `bytes`.
pub fn uniform(n: u64, bytes: u64, seed: u64) -> impl Iterator<Item = Reference> {
    let mut rng = Rng::new(seed);
    let words = (bytes / 8).max(1);
    (0..n).map(move |_| word(Kind::Read, BASE + 8 * rng.below(words)))
}

/// `n` reads of lines whose popularity falls as rank^-`exponent` (0 = uniform), over `lines` lines of 64 bytes, the
/// ranks scattered over memory.
pub fn zipf(n: u64, lines: u32, exponent: f64, seed: u64) -> impl Iterator<Item = Reference> {
    let mut rng = Rng::new(seed);
    let mut zipf = Zipf::new(lines, exponent, &mut rng);
    (0..n).map(move |_| word(Kind::Read, BASE + 64 * zipf.draw(&mut rng)))
}

/// Zipf ranks by the inverse of their summed weights.
struct Zipf {
    sums: Vec<f64>,
    line_of_rank: Vec<u32>,
}

impl Zipf {
    fn new(lines: u32, exponent: f64, rng: &mut Rng) -> Self {
        let lines = lines.max(1);
        let mut total = 0.0;
        let weight = |rank: u32| f64::from(rank).powf(-exponent);
        let sums = (1..=lines)
            .map(|rank| {
                total += weight(rank);
                total
            })
            .collect();
        let mut line_of_rank: Vec<u32> = (0..lines).collect();
        for i in (1..line_of_rank.len()).rev() {
            let j = usize::try_from(rng.below(i as u64 + 1)).unwrap_or(0);
            line_of_rank.swap(i, j);
        }
        Self { sums, line_of_rank }
    }

    fn draw(&mut self, rng: &mut Rng) -> u64 {
        let u = rng.unit() * self.sums.last().copied().unwrap_or(0.0);
        let rank = self.sums.partition_point(|&s| s <= u).min(self.line_of_rank.len() - 1);
        u64::from(self.line_of_rank[rank])
    }
}

/// The mix that simulators are measured on: 40 % a stream, 20 % uniform over 64 MiB, 40 % Zipf 0.9 over 256 Ki lines;
/// 30 % of all are stores.
pub fn mix(n: u64, seed: u64) -> impl Iterator<Item = Reference> {
    const MEMORY: u64 = 64 << 20;
    let mut rng = Rng::new(seed);
    let mut zipf = Zipf::new(256 * 1024, 0.9, &mut rng);
    let mut streamed = 0;
    (0..n).map(move |_| {
        let addr = match rng.below(10) {
            0..4 => {
                streamed += 8;
                BASE + streamed % MEMORY
            }
            4..6 => BASE + 8 * rng.below(MEMORY / 8),
            _ => BASE + 64 * zipf.draw(&mut rng),
        };
        word(if rng.below(10) < 3 { Kind::Write } else { Kind::Read }, addr)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::ReferenceSource;
    use std::collections::BTreeSet;

    #[test]
    fn the_generator_is_xoshiro() {
        // First outputs of xoshiro256++ from state 1, 2, 3, 4, as its authors' C code gives them.
        let mut rng = Rng([1, 2, 3, 4]);
        assert_eq!([rng.next_u64(), rng.next_u64(), rng.next_u64()], [41_943_041, 58_720_359, 3_588_806_011_781_223]);
    }

    #[test]
    fn seeds_decide() {
        let a: Vec<Reference> = mix(1000, 1).collect();
        assert_eq!(a, mix(1000, 1).collect::<Vec<_>>());
        assert_ne!(a, mix(1000, 2).collect::<Vec<_>>());
    }

    #[test]
    fn multiplies_make_as_many_references_as_their_loops() {
        assert_eq!(matmul(16, MatmulOrder::Standard).len(), 8448);
        assert_eq!(matmul(16, MatmulOrder::Transposed).len(), 8448);
        assert_eq!(matmul(16, MatmulOrder::Blocked(4)).len(), 10_240);
        assert_eq!(matmul(12, MatmulOrder::Blocked(4)).len(), 4320);
        assert_eq!(matmul(16, MatmulOrder::Standard).tables().regions[1].declaration(), "B[16][16]");
    }

    #[test]
    fn a_chase_visits_every_node_before_it_comes_back() {
        let seen: BTreeSet<u64> = pointer_chase(1000, 1000, 7).map(|r| r.addr).collect();
        assert_eq!(seen.len(), 1000);
    }

    #[test]
    fn the_mix_has_its_shares() {
        let all: Vec<Reference> = mix(100_000, 3).collect();
        let stores = all.iter().filter(|r| r.kind == Kind::Write).count();
        assert!((29_000..31_000).contains(&stores), "{stores} stores");
        let top = all.iter().map(|r| r.addr).max().unwrap();
        assert!(top < BASE + (64 << 20));
        // Zipf 0.9: the favourite of 256 Ki lines draws about 2.7 % of its 40 %.
        let mut counts = std::collections::BTreeMap::new();
        all.iter().for_each(|r| *counts.entry(r.addr / 64).or_insert(0u32) += 1);
        let most = counts.values().max().unwrap();
        assert!((700..1800).contains(most), "{most}");
    }
}
