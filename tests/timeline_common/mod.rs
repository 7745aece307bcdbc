//! Random traces under random hierarchies, and a shelf in memory, for tests of the timeline.
#![allow(dead_code, reason = "each test uses some of it")]

use orrery::reference::{Kind, MemoryTrace, Reference, ReferenceSource, Region, SourceError, Tables};
use orrery::sim::config::{
    Allocate, HierarchyConfig, Holds, Inclusion, LevelConfig, MemoryConfig, Prefetch, TlbConfig, Ways, WritePolicy,
};
use orrery::sim::{Hierarchy, Policy};
use orrery::timeline::{Shelf, Slip};
use orrery::trace::synth::{self, MatmulOrder, Rng};
use std::sync::{Arc, Mutex};

/// A trace cut into chunks of any length.
pub(crate) struct Chopped {
    pub(crate) trace: MemoryTrace,
    pub(crate) chunk: u64,
}

impl ReferenceSource for Chopped {
    fn len(&self) -> u64 {
        self.trace.len()
    }
    fn chunk_len(&self) -> u64 {
        self.chunk
    }
    fn chunk(&self, index: u64) -> Result<Arc<[Reference]>, SourceError> {
        let chunk = usize::try_from(self.chunk).expect("small");
        let chunks = self.trace.references().chunks(chunk);
        Ok(chunks.skip(usize::try_from(index).expect("small")).take(1).flatten().copied().collect())
    }
    fn tables(&self) -> &Tables {
        self.trace.tables()
    }
}

pub(crate) fn small(rng: &mut Rng, below: u64) -> u32 {
    u32::try_from(rng.below(below)).expect("small")
}

/// 1 to 4 levels with any set counts, line sizes that may differ, every policy, relation, way to write, and prefetcher that go
/// together, 1 to 3 cores.
pub(crate) fn hierarchy(rng: &mut Rng) -> Hierarchy {
    loop {
        let config = config(rng);
        if config.check().is_ok() {
            return Hierarchy::new(&config).expect("a sound configuration");
        }
    }
}

pub(crate) fn config(rng: &mut Rng) -> HierarchyConfig {
    let levels = 1 + rng.below(4);
    let first_line = 8u32 << rng.below(3);
    let mut inner = first_line;
    let levels = (0usize..)
        .take(usize::try_from(levels).expect("small"))
        .map(|n| {
            inner <<= rng.below(2);
            let (sets, ways) = (1 + small(rng, 5 << n), 1 + small(rng, 6));
            let size = u64::from(sets) * u64::from(ways) * u64::from(inner);
            let policies = [
                Policy::Random,
                Policy::TreePlru,
                Policy::BitPlru,
                Policy::Srrip,
                Policy::Brrip,
                Policy::Drrip,
                Policy::Lfu,
                Policy::Mru,
                Policy::Fifo,
            ];
            let pick = usize::try_from(rng.below(2 * policies.len() as u64)).expect("small");
            LevelConfig {
                policy: policies.get(pick).copied().unwrap_or(Policy::Lru),
                write: if rng.below(4) == 0 { WritePolicy::Through } else { WritePolicy::Back },
                allocate: if rng.below(4) == 0 { Allocate::None } else { Allocate::Write },
                inclusion: match rng.below(6) {
                    0 if n > 0 => Inclusion::Inclusive,
                    1 if n > 0 => Inclusion::Exclusive,
                    _ => Inclusion::Nine,
                },
                prefetch: match rng.below(9) {
                    0 => Prefetch::NextLine,
                    1 => Prefetch::Stream,
                    _ => Prefetch::None,
                },
                sector: (rng.below(8) == 0).then_some(inner / 2),
                shared: n > 0 && rng.below(2) == 0,
                ..LevelConfig::new(format!("L{}", n + 1), n, size, Ways::Count(ways), inner)
            }
        })
        .collect();
    let random = HierarchyConfig {
        data_only: rng.below(2) == 0,
        cores: u16::try_from(1 + rng.below(3)).expect("small"),
        ..HierarchyConfig::new("random", levels)
    };
    // Up to two TLBs of small pages, of one side or both, of one core or all.
    let tlbs = (0..rng.below(3)).map(|n| TlbConfig {
        policy: if rng.below(4) == 0 { Policy::Random } else { Policy::Lru },
        holds: [Holds::Unified, Holds::Data, Holds::Instructions][usize::try_from(rng.below(3)).expect("small")],
        shared: rng.below(2) == 0,
        pages: vec![512],
        name: format!("T{n}"),
        entries: (1 + small(rng, 2)) << n,
        ways: Ways::Count(1 << n),
        latency: 1,
    });
    let memory = MemoryConfig { page: 512, ..random.memory };
    HierarchyConfig { tlbs: tlbs.collect(), memory, ..random }
}

/// References that stream, jump and come back, of every kind and of sizes that cross lines; or a generator's.
pub(crate) fn trace(rng: &mut Rng) -> MemoryTrace {
    let n = 1 + rng.below(700);
    let region = |name: &str, base, bytes, lifetime| Region {
        name: name.into(),
        base,
        bytes,
        elem_bytes: 8,
        elem_type: String::new(),
        shape: vec![],
        row_major: true,
        lifetime,
    };
    // The second and third share addresses at different times; some references lie outside of all.
    let regions = vec![
        region("a", 0x1000, 0x300, None),
        region("early", 0x1400, 0x200, Some((0, n / 2))),
        region("late", 0x1400, 0x200, Some((n / 2, n))),
    ];
    let references: Vec<Reference> = match rng.below(6) {
        0 => return synth::matmul(6, MatmulOrder::Standard),
        1 => synth::zipf(n, 64, 0.9, rng.next_u64()).collect(),
        2 => synth::stride(n, 8 * (1 + rng.below(40)), 4096).collect(),
        3 => synth::pointer_chase(n, 50, rng.next_u64()).collect(),
        _ => {
            let mut at = 0x1000u64;
            (0..n)
                .map(|_| {
                    at = match rng.below(4) {
                        0 => 0x1000 + rng.below(0x700),
                        1 => at,
                        _ => at + 8,
                    };
                    let kind = [Kind::Read, Kind::Read, Kind::Write, Kind::Write, Kind::Modify, Kind::Fetch];
                    let kind = kind[usize::try_from(rng.below(6)).expect("small")];
                    let size = if rng.below(12) == 0 { 1 + small(rng, 100) } else { 8 };
                    Reference::new(kind, at, size)
                })
                .collect()
        }
    };
    MemoryTrace::new(references, Tables { regions, ..Tables::default() })
}

/// A shelf in memory, of so many bytes.
pub(crate) struct Memory {
    pub(crate) bytes: Mutex<Vec<u8>>,
    /// Where each thing that was put there begins.
    pub(crate) puts: Mutex<Vec<u64>>,
    pub(crate) room: usize,
}

impl Memory {
    pub(crate) fn new(room: usize) -> Arc<Self> {
        Arc::new(Self { bytes: Mutex::default(), puts: Mutex::default(), room })
    }
}

impl Shelf for Memory {
    fn put(&self, bytes: &[u8]) -> Option<Slip> {
        let mut all = self.bytes.lock().expect("sound");
        let at = all.len() as u64;
        (all.len() + bytes.len() <= self.room).then(|| all.extend(bytes))?;
        self.puts.lock().expect("sound").push(at);
        Some(Slip { at, bytes: u32::try_from(bytes.len()).expect("small"), sum: 0 })
    }
    fn get(&self, slip: &Slip) -> Option<Vec<u8>> {
        let at = usize::try_from(slip.at).ok()?;
        Some(self.bytes.lock().expect("sound").get(at..at + slip.bytes as usize)?.to_vec())
    }
}
