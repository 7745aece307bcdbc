//! Kernels as streams of instructions: what each wavefront asks of memory, with a real schedule of work-groups. Elements have 4 bytes.

use super::coalesce::{Lane, sectors};
use std::collections::BTreeMap;

/// One instruction of a wavefront.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// So many vector instructions one after the other.
    Alu(u32),
    /// Loads these sectors.
    Load(Box<[u64]>),
    /// Stores to these sectors: of each the first byte, and how many are stored.
    Store(Box<[(u64, u32)]>),
    /// A scalar load of 4 bytes.
    Scalar(u64),
    /// So many accesses of local memory.
    Local(u32),
    /// Goes on when all that was asked for is there.
    Wait,
    /// Goes on when all wavefronts of the work-group are here.
    Barrier,
}

/// A kernel with its arguments.
pub trait Program: Send + Sync {
    /// Work-groups.
    fn groups(&self) -> u64;
    /// Work-items of a work-group, at most.
    fn items(&self) -> u32;
    /// Wavefronts of a work-group, on a GPU with so many lanes.
    fn wavefronts(&self, lanes: u32) -> u32 {
        self.items().div_ceil(lanes)
    }
    /// Local memory of a work-group, bytes.
    fn local(&self) -> u64 {
        0
    }
    /// The instructions of a wavefront of a work-group; `lanes` work-items make one, a sector has so many bytes.
    fn ops(&self, group: u64, wavefront: u32, lanes: u32, sector: u32) -> Vec<Op>;
}

/// A kernel that can be run.
pub struct KernelEntry {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub what: &'static str,
    /// Its arguments: name, value where none is given, the largest, what it is.
    pub arguments: &'static [(&'static str, u64, u64, &'static str)],
    make: fn(&Arguments) -> Box<dyn Program>,
}

type Arguments = BTreeMap<String, u64>;

const N: (&str, u64, u64, &str) = ("N", 65_536, 1 << 26, "elements");
const SIDE: (&str, u64, u64, &str) = ("N", 256, 4096, "rows and columns, a multiple of 16");

/// All kernels.
pub static KERNELS: [KernelEntry; 8] = [
    KernelEntry {
        name: "vectoradd",
        what: "C[i] = A[i] + B[i]",
        arguments: &[N],
        make: |a| Box::new(VectorAdd { n: a["N"] }),
    },
    KernelEntry {
        name: "matmul",
        what: "C = A B, each work-item goes through a row and a column",
        arguments: &[SIDE],
        make: |a| Box::new(Matmul { n: a["N"].next_multiple_of(TILE), tiled: false }),
    },
    KernelEntry {
        name: "matmul-tiled",
        what: "C = A B, by tiles of 16 x 16 in local memory",
        arguments: &[SIDE],
        make: |a| Box::new(Matmul { n: a["N"].next_multiple_of(TILE), tiled: true }),
    },
    KernelEntry {
        name: "transpose",
        what: "B[j][i] = A[i][j]: stores far apart",
        arguments: &[SIDE],
        make: |a| Box::new(Transpose { n: a["N"].next_multiple_of(TILE), tiled: false }),
    },
    KernelEntry {
        name: "transpose-tiled",
        what: "B[j][i] = A[i][j], by tiles of 16 x 16 in local memory",
        arguments: &[SIDE],
        make: |a| Box::new(Transpose { n: a["N"].next_multiple_of(TILE), tiled: true }),
    },
    KernelEntry {
        name: "reduction",
        what: "a sum for each work-group, in local memory",
        arguments: &[N],
        make: |a| Box::new(Reduction { n: a["N"] }),
    },
    KernelEntry {
        name: "pagerank",
        what: "one step of PageRank on a generated graph, a work-group for each node",
        arguments: &[
            ("N", 16_384, 1 << 22, "nodes"),
            ("D", 8, 64, "links into a node, on average"),
            ("seed", 1, u64::MAX, "of the graph"),
        ],
        make: |a| Box::new(PageRank::new(a["N"], a["D"], a["seed"])),
    },
    KernelEntry {
        name: "fir",
        what: "a filter of some taps over samples",
        arguments: &[N, ("taps", 16, 1024, "taps")],
        make: |a| Box::new(Fir { n: a["N"], taps: a["taps"] }),
    },
];

/// Why a kernel cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KernelError {
    /// There is none of this name.
    #[error("found no kernel `{0}`; expected one of {names}", names = KERNELS.iter().map(|row| row.name).collect::<Vec<_>>().join(", "))]
    Unknown(String),
    /// It has no such argument.
    #[error("found `{found}`, which is no argument of {kernel}; expected one of {known}")]
    Argument {
        /// What was named.
        found: String,
        /// The kernel.
        kernel: &'static str,
        /// Its arguments.
        known: String,
    },
    /// It is out of range.
    #[error("{name}: found {found}; expected 1 to {most}")]
    Range {
        /// Which.
        name: String,
        /// Its value.
        found: u64,
        /// The largest.
        most: u64,
    },
}

impl KernelEntry {
    /// The kernel of this name.
    ///
    /// # Errors
    /// [`KernelError::Unknown`].
    pub fn named(name: &str) -> Result<&'static Self, KernelError> {
        KERNELS.iter().find(|row| row.name == name).ok_or_else(|| KernelError::Unknown(name.to_owned()))
    }

    /// The kernel with these arguments, and what is usual for the others.
    ///
    /// # Errors
    /// [`KernelError`].
    pub fn with(&self, set: &[(String, u64)]) -> Result<Box<dyn Program>, KernelError> {
        let mut all: Arguments = self.arguments.iter().map(|row| (row.0.to_owned(), row.1)).collect();
        for (name, value) in set {
            let Some(row) = self.arguments.iter().find(|row| row.0.eq_ignore_ascii_case(name)) else {
                let known = self.arguments.iter().map(|row| row.0).collect::<Vec<_>>().join(", ");
                return Err(KernelError::Argument { found: name.clone(), kernel: self.name, known });
            };
            if !(1..=row.2).contains(value) {
                return Err(KernelError::Range { name: row.0.to_owned(), found: *value, most: row.2 });
            }
            all.insert(row.0.to_owned(), *value);
        }
        Ok((self.make)(&all))
    }
}

/// What a wavefront of a recorded kernel does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A vector instruction.
    Alu,
    /// Lanes load.
    Load(Vec<Lane>),
    /// Lanes store.
    Store(Vec<Lane>),
    /// Local memory is accessed.
    Local,
    /// Goes on when all that was asked for is there.
    Wait,
    /// Goes on when all wavefronts of the work-group are here.
    Barrier,
}

/// A kernel that was recorded: what each wavefront of each work-group did. Wavefronts have as many lanes as they had where they were
/// recorded.
pub struct Recorded {
    /// By work-group and wavefront.
    pub groups: Vec<Vec<Vec<Step>>>,
    /// Local memory of a work-group, bytes.
    pub local: u64,
}

impl Program for Recorded {
    fn groups(&self) -> u64 {
        self.groups.len() as u64
    }
    fn items(&self) -> u32 {
        self.wavefronts(1)
    }
    fn wavefronts(&self, _: u32) -> u32 {
        u32::try_from(self.groups.iter().map(Vec::len).max().unwrap_or(0).max(1)).unwrap_or(u32::MAX)
    }
    fn local(&self) -> u64 {
        self.local
    }
    fn ops(&self, group: u64, wavefront: u32, _: u32, sector: u32) -> Vec<Op> {
        let steps = usize::try_from(group).ok().and_then(|group| self.groups.get(group)?.get(wavefront as usize));
        let op = |step: &Step| match step {
            Step::Alu => Op::Alu(1),
            Step::Load(lanes) => load(lanes.iter().copied(), sector),
            Step::Store(lanes) => store(lanes.iter().copied(), sector),
            Step::Local => Op::Local(1),
            Step::Wait => Op::Wait,
            Step::Barrier => Op::Barrier,
        };
        steps.into_iter().flatten().map(op).collect()
    }
}

/// Bytes of an element.
const ELEMENT: u64 = 4;
/// Work-items of a work-group of a row of elements, and the side of a tile.
const GROUP: u64 = 256;
const TILE: u64 = 16;
/// Where arrays begin: far from each other.
const fn base(array: u64) -> u64 {
    0x1_0000_0000 + (array << 30)
}

/// The work-items of a wavefront, by number in the kernel.
fn items(group: u64, wavefront: u32, lanes: u32, of_group: u64) -> impl Iterator<Item = u64> + Clone {
    let first = u64::from(wavefront) * u64::from(lanes);
    (first..(first + u64::from(lanes)).min(of_group)).map(move |item| group * of_group + item)
}

fn at(array: u64, index: u64) -> Lane {
    Some((base(array) + index * ELEMENT, 4))
}

fn load(lanes: impl Iterator<Item = Lane>, sector: u32) -> Op {
    Op::Load(sectors(lanes, sector).into())
}

/// A store: of each sector as many bytes as lanes touch.
fn store(lanes: impl Iterator<Item = Lane> + Clone, sector: u32) -> Op {
    let size = u64::from(sector);
    let mut found: Vec<(u64, u64, u64)> = Vec::new();
    for (addr, bytes) in lanes.flatten() {
        let (number, end) = (addr / size, addr + u64::from(bytes));
        match found.iter_mut().rev().find(|(known, ..)| *known == number) {
            Some((_, first, last)) => (*first, *last) = ((*first).min(addr), (*last).max(end)),
            None => found.push((number, addr, end)),
        }
    }
    Op::Store(found.into_iter().map(|(_, first, end)| (first, u32::try_from(end - first).unwrap_or(4))).collect())
}

struct VectorAdd {
    n: u64,
}

impl Program for VectorAdd {
    fn groups(&self) -> u64 {
        self.n.div_ceil(GROUP)
    }
    fn items(&self) -> u32 {
        256
    }
    fn ops(&self, group: u64, wavefront: u32, lanes: u32, sector: u32) -> Vec<Op> {
        let of = |array| items(group, wavefront, lanes, GROUP).map(move |i| at(array, i).filter(|_| i < self.n));
        vec![Op::Alu(2), load(of(0), sector), load(of(1), sector), Op::Wait, Op::Alu(1), store(of(2), sector)]
    }
}

struct Matmul {
    n: u64,
    tiled: bool,
}

/// Row and column of a work-item in a work-group of 16 x 16, in the whole.
fn place(item: u64, side: u64) -> (u64, u64) {
    let (group, own) = (item / GROUP, item % GROUP);
    let across = side / TILE;
    (group / across * TILE + own / TILE, group % across * TILE + own % TILE)
}

impl Program for Matmul {
    fn groups(&self) -> u64 {
        (self.n / TILE) * (self.n / TILE)
    }
    fn items(&self) -> u32 {
        256
    }
    fn local(&self) -> u64 {
        if self.tiled { 2 * TILE * TILE * ELEMENT } else { 0 }
    }
    fn ops(&self, group: u64, wavefront: u32, lanes: u32, sector: u32) -> Vec<Op> {
        let n = self.n;
        let places = || items(group, wavefront, lanes, GROUP).map(move |item| place(item, n));
        let mut ops = vec![Op::Alu(4)];
        if self.tiled {
            for tile in (0..n).step_by(16) {
                ops.push(load(places().map(|(row, col)| at(0, row * n + tile + col % TILE)), sector));
                ops.push(load(places().map(|(row, col)| at(1, (tile + row % TILE) * n + col)), sector));
                ops.extend([Op::Wait, Op::Local(2), Op::Barrier, Op::Local(32), Op::Alu(16), Op::Barrier]);
            }
        } else {
            for k in 0..n {
                ops.push(load(places().map(|(row, _)| at(0, row * n + k)), sector));
                ops.push(load(places().map(|(_, col)| at(1, k * n + col)), sector));
                ops.extend([Op::Wait, Op::Alu(1)]);
            }
        }
        ops.push(store(places().map(|(row, col)| at(2, row * n + col)), sector));
        ops
    }
}

struct Transpose {
    n: u64,
    tiled: bool,
}

impl Program for Transpose {
    fn groups(&self) -> u64 {
        (self.n / TILE) * (self.n / TILE)
    }
    fn items(&self) -> u32 {
        256
    }
    fn local(&self) -> u64 {
        if self.tiled { TILE * TILE * ELEMENT } else { 0 }
    }
    fn ops(&self, group: u64, wavefront: u32, lanes: u32, sector: u32) -> Vec<Op> {
        let n = self.n;
        let places = || items(group, wavefront, lanes, GROUP).map(move |item| place(item, n));
        let mut ops = vec![Op::Alu(2), load(places().map(|(row, col)| at(0, row * n + col)), sector), Op::Wait];
        if self.tiled {
            // Row by row of the other tile: neighbours store side by side.
            let turned = places().map(|(row, col)| {
                let (top, left) = (row / TILE * TILE, col / TILE * TILE);
                at(1, (left + row % TILE) * n + top + col % TILE)
            });
            ops.extend([Op::Local(1), Op::Barrier, Op::Local(1), store(turned, sector)]);
        } else {
            ops.push(store(places().map(|(row, col)| at(1, col * n + row)), sector));
        }
        ops
    }
}

struct Reduction {
    n: u64,
}

impl Program for Reduction {
    fn groups(&self) -> u64 {
        self.n.div_ceil(2 * GROUP)
    }
    fn items(&self) -> u32 {
        256
    }
    fn local(&self) -> u64 {
        GROUP * ELEMENT
    }
    fn ops(&self, group: u64, wavefront: u32, lanes: u32, sector: u32) -> Vec<Op> {
        let half = |second: u64| {
            let own = items(group, wavefront, lanes, GROUP).map(move |item| item + (group + second) * GROUP);
            own.map(|i| at(0, i).filter(|_| i < self.n))
        };
        let mut ops = vec![load(half(0), sector), load(half(1), sector), Op::Wait, Op::Alu(1), Op::Local(1)];
        for _ in 0..8 {
            ops.extend([Op::Barrier, Op::Local(3), Op::Alu(1)]);
        }
        if wavefront == 0 {
            ops.push(store(std::iter::once(at(1, group)), sector));
        }
        ops
    }
}

/// Links into each node, as compressed rows.
struct PageRank {
    rows: Vec<u32>,
    links: Vec<u32>,
}

impl PageRank {
    fn new(nodes: u64, degree: u64, seed: u64) -> Self {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut draw = move |below: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 16) % below.max(1)
        };
        let (mut rows, mut links) = (vec![0], Vec::new());
        for _ in 0..nodes {
            for _ in 0..draw(2 * degree + 1) {
                // A few nodes are linked to most often.
                let (one, other) = (draw(nodes), draw(nodes));
                links.push(u32::try_from(one.min(other)).unwrap_or(0));
            }
            rows.push(u32::try_from(links.len()).unwrap_or(u32::MAX));
        }
        Self { rows, links }
    }

    fn nodes(&self) -> u64 {
        self.rows.len() as u64 - 1
    }
}

/// Work-items of a work-group of PageRank.
const SMALL_GROUP: u64 = 64;

/// As in Hetero-Mark (2016): a work-group for each node, a work-item for each link into it, and a sum of their parts in local memory.
impl Program for PageRank {
    fn groups(&self) -> u64 {
        self.nodes()
    }
    fn items(&self) -> u32 {
        64
    }
    fn local(&self) -> u64 {
        SMALL_GROUP * ELEMENT
    }
    fn ops(&self, group: u64, wavefront: u32, lanes: u32, sector: u32) -> Vec<Op> {
        let row = |at: u64| usize::try_from(at).ok().and_then(|at| self.rows.get(at)).copied().unwrap_or(0);
        let (from, to) = (row(group), row(group + 1));
        let mut ops = vec![Op::Alu(4), load([at(0, group), at(0, group + 1)].into_iter(), sector), Op::Wait];
        for first in (from..to).step_by(64) {
            let own = items(0, wavefront, lanes, SMALL_GROUP);
            let links = own.map(|item| u64::from(first) + item).filter(|&link| link < u64::from(to));
            let node = |link: u64| usize::try_from(link).ok().and_then(|link| self.links.get(link)).copied();
            ops.push(load(links.clone().map(|link| at(1, link)), sector));
            ops.push(load(links.clone().map(|link| at(2, link)), sector));
            ops.push(Op::Wait);
            ops.push(load(links.map(|link| node(link).and_then(|node| at(3, node.into()))), sector));
            ops.extend([Op::Wait, Op::Alu(2)]);
        }
        ops.push(Op::Local(1));
        for _ in 0..6 {
            ops.extend([Op::Barrier, Op::Local(3), Op::Alu(1)]);
        }
        if wavefront == 0 {
            ops.push(store(std::iter::once(at(4, group)), sector));
        }
        ops
    }
}

struct Fir {
    n: u64,
    taps: u64,
}

impl Program for Fir {
    fn groups(&self) -> u64 {
        self.n.div_ceil(GROUP)
    }
    fn items(&self) -> u32 {
        256
    }
    fn ops(&self, group: u64, wavefront: u32, lanes: u32, sector: u32) -> Vec<Op> {
        let mut ops = vec![Op::Alu(2)];
        for tap in 0..self.taps {
            let of = items(group, wavefront, lanes, GROUP).map(|i| at(0, i.saturating_sub(tap)).filter(|_| i < self.n));
            ops.push(Op::Scalar(base(1) + tap * ELEMENT));
            ops.push(load(of, sector));
            ops.extend([Op::Wait, Op::Alu(1)]);
        }
        let of = items(group, wavefront, lanes, GROUP).map(|i| at(2, i).filter(|_| i < self.n));
        ops.push(store(of, sector));
        ops
    }
}
