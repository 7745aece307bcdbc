//! The events of a run, in the order of time.

use super::agenda::Agenda;
use super::config::{GpuCache, GpuConfig, GpuError};
use super::kernels::{Op, Program, Recorded};
use super::node::{Ask, Node, NodeId, Numbers, RequestId, What};
use super::recorder::{Name, Recorder};
use crate::sim::Hierarchy;
use crate::tasks::{TaskSet, TooMany};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// What a run came to.
#[derive(Debug)]
pub struct GpuRun {
    /// Cycles from the first dispatch to the last answer.
    pub cycles: u64,
    /// Events that were worked off.
    pub events: u64,
    /// Work-groups, wavefronts, instructions.
    pub groups: u64,
    /// Wavefronts.
    pub wavefronts: u64,
    /// Instructions of wavefronts.
    pub instructions: u64,
    /// Wavefronts on a compute unit while the kernel ran, on average; and how many fit.
    pub resident: f64,
    /// Wavefronts that a compute unit holds at most.
    pub slots: u64,
    /// Share of time in which a SIMD unit works.
    pub busy: f64,
    /// What happened at each node, by its name.
    pub nodes: Vec<NodeNumbers>,
    /// Kernels in the order in which they ran.
    pub kernels: Vec<KernelTimes>,
    /// All that happened, where it was wanted.
    pub tasks: Option<TaskSet>,
}

/// When a kernel ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelTimes {
    /// What it is called.
    pub name: String,
    /// The cycle of its first dispatch.
    pub start: u64,
    /// The cycle from which on nothing of it was under way.
    pub end: u64,
}

/// A kernel that is to be run, and what it is called.
pub struct Job {
    /// What it is called.
    pub name: String,
    /// What it does.
    pub program: Arc<dyn Program>,
}

impl Job {
    /// This one and no other.
    pub fn alone(name: &str, program: impl Into<Arc<dyn Program>>) -> std::iter::Once<Result<Self, JobError>> {
        std::iter::once(Ok(Self { name: name.to_owned(), program: program.into() }))
    }
}

/// Why a kernel could not be had.
pub type JobError = Box<dyn std::error::Error + Send + Sync>;

/// What happened at a cache, a TLB or a channel.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeNumbers {
    /// Its name: `SA[0].L1VCache[1]`.
    pub name: String,
    /// Requests that it served.
    pub requests: u64,
    /// Those that were there; of DRAM, those to the open row.
    pub hits: u64,
    /// Those that were not.
    pub misses: u64,
    /// Those for what was under way already.
    pub merged: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Mean cycles from receipt to answer.
    pub latency: f64,
    /// Cycles of a request that waits for nothing and finds what it asks for.
    pub alone: u64,
    /// Requests a cycle that it can serve.
    pub peak: f64,
    /// Requests there at once, on average over the run.
    pub at_once: f64,
}

/// Why a run came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The description makes no GPU.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// A work-group does not fit into a compute unit.
    #[error("a work-group of {kernel} takes {wants} {of}; a compute unit of {gpu} has {has}")]
    TooLarge {
        /// The kernel.
        kernel: String,
        /// What it takes.
        wants: u64,
        /// Of what.
        of: &'static str,
        /// The GPU.
        gpu: String,
        /// What there is.
        has: u64,
    },
    /// There are too many tasks to be kept.
    #[error(transparent)]
    Many(#[from] TooMany),
    /// The next kernel could not be had.
    #[error(transparent)]
    Job(JobError),
    /// Somebody said so.
    #[error("stopped")]
    Stopped,
    /// A bug: nothing is left to do, and not all is done.
    #[error("the simulation stands still with {left} work-groups left: a bug, please report it")]
    Still {
        /// Work-groups that are not over.
        left: u64,
    },
}

/// Who waits for a request.
#[derive(Clone, Copy, Debug)]
pub(super) enum Asker {
    /// A node that brings a sector in.
    Fill(NodeId, u64),
    /// A node that sent a store on.
    Passed(RequestId),
    /// An access whose address is translated.
    Access(u32),
    /// An instruction.
    Instruction(u32),
    /// Nobody.
    None,
}

pub(super) struct Request {
    pub(super) asker: Asker,
    pub(super) from: NodeId,
    pub(super) at: NodeId,
    pub(super) ask: Ask,
    pub(super) addr: u64,
    pub(super) bytes: u32,
    pub(super) created: u64,
    pub(super) received: u64,
    /// What it waited for at its node: the words, told when it is served.
    pub(super) stalled: bool,
    pub(super) put_off: bool,
    pub(super) out: Name,
    pub(super) inward: Name,
    pub(super) parent: Name,
}

/// An access of an instruction, before its address is translated.
#[derive(Clone, Copy)]
pub(super) struct Access {
    pub(super) instruction: u32,
    pub(super) node: NodeId,
    pub(super) ask: Ask,
    pub(super) addr: u64,
    pub(super) bytes: u32,
}

/// A memory instruction under way.
pub(super) struct Instruction {
    pub(super) wave: u32,
    pub(super) left: u32,
    pub(super) name: Name,
    pub(super) start: u64,
    pub(super) action: &'static str,
}

pub(super) struct Wave {
    pub(super) unit: u32,
    pub(super) simd: u32,
    pub(super) group: u32,
    pub(super) ops: std::vec::IntoIter<Op>,
    pub(super) outstanding: u32,
    pub(super) waits: bool,
    pub(super) ended: bool,
    pub(super) name: Name,
    pub(super) start: u64,
}

pub(super) struct Group {
    pub(super) unit: u32,
    pub(super) left: u32,
    pub(super) at_barrier: Vec<u32>,
    pub(super) alive: u32,
    pub(super) local: u64,
    pub(super) names: [Name; 2],
    pub(super) start: u64,
}

#[derive(Default)]
pub(super) struct Simd {
    pub(super) ready: VecDeque<u32>,
    pub(super) free: u64,
    pub(super) awake: bool,
    pub(super) waves: u32,
}

pub(super) struct Unit {
    pub(super) node: NodeId,
    pub(super) vector: NodeId,
    pub(super) scalar: NodeId,
    pub(super) tlb: Option<NodeId>,
    pub(super) name: String,
    pub(super) simds: Vec<Simd>,
    pub(super) local: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    Dispatch,
    Issue(u32, u32),
    Ready(u32),
    Send(RequestId),
    Arrive(RequestId),
    Serve(NodeId),
    Answer(RequestId),
    Deliver(RequestId),
}

/// Runs kernels one after the other: the next one starts when nothing of the one before is under way, and finds caches, TLBs and
/// open rows as that one left them. `go` is told how many work-groups are over, and of how many, and stops the run by `false`; with `keep`,
/// tasks are kept.
///
/// # Errors
/// [`RunError`].
pub fn simulate(
    config: &GpuConfig,
    jobs: &mut dyn Iterator<Item = Result<Job, JobError>>,
    keep: bool,
    go: &mut dyn FnMut(u64, u64) -> bool,
) -> Result<GpuRun, RunError> {
    config.check()?;
    let mut engine = Engine::new(config, keep);
    for job in jobs {
        let job = job.map_err(RunError::Job)?;
        engine.fits(&job)?;
        engine.run(job, go)?;
    }
    engine.finish()
}

pub(super) struct Engine<'a> {
    pub(super) config: &'a GpuConfig,
    pub(super) program: Arc<dyn Program>,
    pub(super) now: u64,
    pub(super) agenda: Agenda<Event>,
    pub(super) done: u64,
    pub(super) nodes: Vec<Node>,
    pub(super) units: Vec<Unit>,
    pub(super) requests: Pool<Request>,
    pub(super) accesses: Pool<Access>,
    pub(super) instructions: Pool<Instruction>,
    pub(super) waves: Pool<Wave>,
    pub(super) groups: Pool<Group>,
    pub(super) next_group: u64,
    /// Work-groups of this kernel that are over, and those of the kernels before it.
    pub(super) over: u64,
    groups_over: u64,
    kernels: Vec<KernelTimes>,
    pub(super) next_unit: usize,
    pub(super) dispatches: bool,
    pub(super) kernel: Name,
    pub(super) recorder: Recorder,
    pub(super) numbers: [u64; 2],
    pub(super) resident: u64,
    pub(super) busy: u64,
    /// What caches were asked, in the order of time: node, kind, address, bytes, whether it was there.
    #[cfg(test)]
    pub(super) log: Vec<(NodeId, Ask, u64, u32, bool)>,
}

/// Things by number, whose numbers come again.
pub(super) struct Pool<T> {
    items: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Pool<T> {
    fn new() -> Self {
        Self { items: Vec::new(), free: Vec::new() }
    }

    pub(super) fn add(&mut self, item: T) -> u32 {
        if let Some(number) = self.free.pop() {
            self.items[number as usize] = Some(item);
            return number;
        }
        self.items.push(Some(item));
        u32::try_from(self.items.len() - 1).expect("fewer than 2^32 under way")
    }

    pub(super) fn get(&mut self, number: u32) -> &mut T {
        self.items[number as usize].as_mut().expect("it is under way")
    }

    pub(super) fn take(&mut self, number: u32) -> T {
        self.free.push(number);
        self.items[number as usize].take().expect("it is under way")
    }
}

impl<'a> Engine<'a> {
    fn new(config: &'a GpuConfig, keep: bool) -> Self {
        let mut engine = Self {
            config,
            program: Arc::new(Recorded { groups: Vec::new(), local: 0 }),
            now: 0,
            agenda: Agenda::new(),
            done: 0,
            nodes: Vec::new(),
            units: Vec::new(),
            requests: Pool::new(),
            accesses: Pool::new(),
            instructions: Pool::new(),
            waves: Pool::new(),
            groups: Pool::new(),
            next_group: 0,
            over: 0,
            groups_over: 0,
            kernels: Vec::new(),
            next_unit: 0,
            dispatches: false,
            kernel: 0,
            recorder: Recorder::new(config.clock, keep),
            numbers: [0; 2],
            resident: 0,
            busy: 0,
            #[cfg(test)]
            log: Vec::new(),
        };
        engine.build();
        engine
    }

    fn node(&mut self, name: String, what: What, latency: u32, (below, wire): (Vec<NodeId>, u32), room: u32) -> NodeId {
        self.nodes.push(Node {
            name,
            what,
            latency: latency.into(),
            below,
            wire: wire.into(),
            queue: VecDeque::new(),
            coming: 0,
            room: room as usize,
            put_off: VecDeque::new(),
            waiting: VecDeque::new(),
            awake: false,
            free: 0,
            numbers: Numbers::default(),
        });
        u32::try_from(self.nodes.len() - 1).expect("a few thousand nodes")
    }

    fn cache(&mut self, name: String, cache: &GpuCache, below: Vec<NodeId>, wire: u32) -> NodeId {
        let lines = Box::new(Hierarchy::new(&cache.hierarchy("cache")).expect("checked"));
        let what =
            What::Cache { lines, sector: cache.sector.into(), misses: HashMap::new(), most: cache.mshr as usize };
        self.node(name, what, cache.latency, (below, wire), cache.queue)
    }

    fn build(&mut self) {
        let config = self.config;
        let mut banks = Vec::new();
        for bank in 0..config.banks {
            let dram = config.dram.clone();
            let rows = vec![None; dram.banks as usize];
            let room = dram.queue;
            let what = What::Dram { config: dram, rows, free: 0 };
            let channel = self.node(format!("DRAM[{bank}]"), what, 1, (Vec::new(), 0), room);
            banks.push(self.cache(format!("L2Cache[{bank}]"), &config.l2, vec![channel], 1));
        }
        let second = config.tlb.as_ref().map(|tlb| {
            let walker = What::Walker { under_way: 0, most: tlb.walkers };
            let walks = self.node("MMU".into(), walker, tlb.walk, (Vec::new(), 0), 64);
            let lines = Box::new(Hierarchy::new(&tlb.hierarchy(true)).expect("checked"));
            let what = What::Cache { lines, sector: tlb.page.into(), misses: HashMap::new(), most: 64 };
            self.node("L2TLB".into(), what, tlb.second_latency, (vec![walks], 1), 64)
        });
        for array in 0..config.arrays {
            let scalar = config
                .scalar
                .as_ref()
                .map(|cache| self.cache(format!("SA[{array}].L1SCache"), cache, banks.clone(), config.network));
            for unit in 0..config.units {
                let vector =
                    self.cache(format!("SA[{array}].L1VCache[{unit}]"), &config.vector, banks.clone(), config.network);
                let tlb = config.tlb.as_ref().zip(second).map(|(tlb, second)| {
                    let lines = Box::new(Hierarchy::new(&tlb.hierarchy(false)).expect("checked"));
                    let most = tlb.mshr as usize;
                    let what = What::Cache { lines, sector: tlb.page.into(), misses: HashMap::new(), most };
                    let name = format!("SA[{array}].L1VTLB[{unit}]");
                    self.node(name, what, tlb.latency, (vec![second], config.network), 16)
                });
                let scalar = scalar.unwrap_or(vector);
                let name = format!("SA[{array}].CU[{unit}]");
                // It asks, and is never asked.
                let nobody = What::Walker { under_way: 0, most: 1 };
                let node = self.node(name.clone(), nobody, 1, (Vec::new(), 1), 1);
                let simds = (0..config.simds).map(|_| Simd::default()).collect();
                self.units.push(Unit { node, vector, scalar, tlb, name, simds, local: config.local });
            }
        }
    }

    pub(super) fn at(&mut self, time: u64, event: Event) {
        self.agenda.note(time, event);
    }

    /// Whether a compute unit has room for a work-group of it.
    fn fits(&self, job: &Job) -> Result<(), RunError> {
        let config = self.config;
        let too_large = |wants, of, has| {
            let (kernel, gpu) = (job.name.clone(), config.name.clone());
            Err(RunError::TooLarge { kernel, wants, of, gpu, has })
        };
        let (waves, slots) = (job.program.wavefronts(config.wavefront), config.simds * config.slots);
        if waves > slots {
            return too_large(waves.into(), "wavefronts", slots.into());
        }
        if job.program.local() > config.local {
            return too_large(job.program.local(), "bytes of local memory", config.local);
        }
        Ok(())
    }

    fn run(&mut self, job: Job, go: &mut dyn FnMut(u64, u64) -> bool) -> Result<(), RunError> {
        let Job { name, program } = job;
        let (all, start) = (program.groups(), self.now);
        (self.program, self.next_group, self.over) = (program, 0, 0);
        self.kernel = self.recorder.name();
        self.wake_dispatcher();
        while let Some((time, event)) = self.agenda.next() {
            self.now = time;
            self.done += 1;
            if self.done.is_multiple_of(1 << 16) && !go(self.over, all) {
                return Err(RunError::Stopped);
            }
            match event {
                Event::Dispatch => self.dispatch(),
                Event::Issue(unit, simd) => self.issue(unit, simd),
                Event::Ready(wave) => self.ready(wave),
                Event::Send(request) => self.send(request),
                Event::Arrive(request) => self.arrive(request),
                Event::Serve(node) => self.serve(node),
                Event::Answer(request) => self.answer(request),
                Event::Deliver(request) => self.deliver(request),
            }
        }
        if self.over < all {
            return Err(RunError::Still { left: all - self.over });
        }
        self.recorder.task((self.kernel, 0), ("kernel", &name), "Dispatcher", (start, self.now));
        self.groups_over += self.over;
        self.kernels.push(KernelTimes { name, start, end: self.now });
        Ok(())
    }

    fn finish(self) -> Result<GpuRun, RunError> {
        let units = self.units.len() as f64;
        let cycles = self.now.max(1) as f64;
        let nodes = self.nodes.iter().map(|node| {
            let n = &node.numbers;
            let (alone, peak) = node.best();
            NodeNumbers {
                name: node.name.clone(),
                requests: n.requests,
                hits: n.hits,
                misses: n.misses,
                merged: n.merged,
                bytes: n.bytes,
                latency: n.cycles as f64 / n.answered.max(1) as f64,
                alone,
                peak,
                at_once: n.cycles as f64 / cycles,
            }
        });
        Ok(GpuRun {
            cycles: self.now,
            events: self.done,
            groups: self.groups_over,
            wavefronts: self.numbers[0],
            instructions: self.numbers[1],
            resident: self.resident as f64 / (units * cycles),
            slots: u64::from(self.config.simds * self.config.slots),
            busy: self.busy as f64 / (units * f64::from(self.config.simds) * cycles),
            nodes: nodes.collect(),
            kernels: self.kernels,
            tasks: self.recorder.finish()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::node::ask;
    use super::*;
    use crate::machine::gpu::{KernelEntry, preset};

    /// What the lines of a cache make of its requests is what the simulator of caches makes of them alone, in their order.
    #[test]
    fn caches_in_time_are_the_caches_of_the_simulator() {
        let mut config = preset("r9nano").expect("a preset");
        (config.arrays, config.banks) = (2, 4);
        for kernel in ["matmul", "transpose", "pagerank", "fir"] {
            let program = KernelEntry::named(kernel).expect("there").with(&[("N".into(), 64)]).expect("sound");
            let mut engine = Engine::new(&config, false);
            for job in Job::alone(kernel, program) {
                engine.run(job.expect("it is there"), &mut |_, _| true).expect("it runs");
            }
            let caches: Vec<NodeId> = (0..).take(engine.nodes.len()).collect();
            let (mut asked, mut hits) = (0, 0);
            for node in caches {
                let What::Cache { lines, .. } = &engine.nodes[node as usize].what else { continue };
                let mut alone = Hierarchy::new(lines.config()).expect("it was made once");
                for &(_, asks, addr, bytes, hit) in engine.log.iter().filter(|row| row.0 == node) {
                    let outcome = ask(&mut alone, asks, addr, bytes);
                    assert_eq!(outcome.hit, hit, "{kernel} at {addr:#x}");
                    (asked, hits) = (asked + 1, hits + u64::from(hit));
                }
                assert_eq!(alone.memory_counters(), lines.memory_counters(), "{kernel}: traffic");
                let n = engine.nodes[node as usize].numbers;
                assert_eq!(n.hits + n.misses + n.merged, n.requests);
                assert_eq!(n.answered, n.requests, "none is lost, none answered twice");
            }
            assert!(asked > 100 && hits > 0, "{kernel}: {asked} asked, {hits} there");
            assert!(
                engine.requests.items.iter().all(Option::is_none) && engine.waves.items.iter().all(Option::is_none)
            );
        }
    }
}
