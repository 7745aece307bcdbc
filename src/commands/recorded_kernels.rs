//! Kernels that a tool recorded, for the simulator of GPUs: warps of Accel-Sim and NVBit as they were, compute shaders as they ran here, and
//! any other trace with a wavefront for each of its cores.

use super::kernel::{KernelLaunches, Ready, failed, whole};
use super::open::open_trace;
use crate::cli::LaunchArgs;
use crate::cli::TraceArgs;
use crate::kernel::{self, Cancel, Interpreter, LaunchTrace, Site, Space, WarpRecord, kind_of};
use crate::machine::gpu::{Job, JobError, Program, Recorded, Step};
use crate::reference::{Kind, NO_LANE, Reference, ReferenceSource};
use crate::shown::say;
use crate::trace::launches::{Launch, Launches, WarpStep, launches};
use crate::units::grouped;
use std::path::Path;
use std::sync::Arc;

/// Accesses of a trace without warps that are held, at most.
const MOST: u64 = 20_000_000;
/// Lanes of a wavefront, at most.
const LANES: usize = 64;

/// Kernels, one after the other.
pub(super) type Jobs = Box<dyn Iterator<Item = Result<Job, JobError>>>;

/// The kernels of a file.
///
/// # Errors
/// When it cannot be read, or is too long.
pub(super) fn jobs(path: &Path) -> anyhow::Result<Jobs> {
    if let Some(launches) = launches(path)? {
        return Ok(Box::new(Told { launches, said: 0 }));
    }
    let source = open_trace(&TraceArgs { trace: path.to_owned(), format: None })?;
    if source.len() > MOST {
        anyhow::bail!(
            "{}: found {} references; expected {} at most: take a part with orrery convert --range FROM..TO",
            path.display(),
            grouped(source.len()),
            grouped(MOST)
        );
    }
    let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    Ok(Box::new(Job::alone(&name, cores(source.as_ref())?)))
}

/// A compute shader that is launched as flags and the file beside it say, with warps of so many items: its launches one after the other,
/// or the one that was chosen.
///
/// # Errors
/// When it cannot be read, or flags ask for what it has not.
pub(super) fn shader(path: &Path, args: &LaunchArgs, warp: u32) -> anyhow::Result<Jobs> {
    // A GPU carries out all accesses, watched or not.
    let flags = LaunchArgs { no_annotations: true, ..args.clone() };
    let launches = KernelLaunches::open(&flags, path, &Cancel::default())?;
    let alone = launches.alone(args)?;
    let mut shaders = Shaders { launches, alone, warp, trace: LaunchTrace::new(1, 1) };
    if shaders.launches.count() > 1 && !alone {
        return Ok(Box::new(shaders));
    }
    // What is wrong with the only one is told before a GPU is made.
    let only = shaders.job()?;
    Ok(Box::new(only.into_iter().map(Ok)))
}

/// Launches of a compute shader, as they are asked for.
struct Shaders {
    launches: KernelLaunches,
    alone: bool,
    warp: u32,
    /// Where their buffers lie.
    trace: LaunchTrace,
}

impl Iterator for Shaders {
    type Item = Result<Job, JobError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.job().map_err(Into::into).transpose()
    }
}

impl Shaders {
    /// The next job; nothing when all launches have run.
    fn job(&mut self) -> anyhow::Result<Option<Job>> {
        while self.alone && !self.launches.is_done() && !self.launches.is_looked_at() {
            self.launches.run(&mut Interpreter, |_| Ok(()))?;
        }
        if self.launches.is_done() {
            return Ok(None);
        }
        let warp = self.warp as usize;
        let record = |ready: &Ready| WarpRecord::new(&ready.program, warp).map_err(failed);
        let (Ready { program, .. }, run, record) = self.launches.run(&mut Interpreter, record)?;
        whole(&program, &record)?;
        let bases = self.trace.bases(&program, &run);
        let shared = program.shared.iter().filter(|shared| shared.space == Space::Workgroup);
        let local = shared.map(|shared| u64::from(shared.bytes)).sum();
        let warp = |warp: &Vec<kernel::WarpStep>| shader_steps(warp, record.sites(), &bases);
        let groups = record.groups().iter().map(|group| group.iter().map(warp).collect()).collect();
        let recorded: Arc<dyn Program> = Arc::new(Recorded { groups, local });
        Ok(Some(Job { name: program.entry.clone(), program: recorded }))
    }
}

/// What a warp of a shader does. WGSL tells no registers: it waits for what it loaded where it decides, stores, or accesses workgroup
/// memory, and at barriers.
fn shader_steps(warp: &[kernel::WarpStep], sites: &[Site], bases: &[u64]) -> Vec<Step> {
    let (mut out, mut loads) = (Vec::new(), false);
    for step in warp {
        let kind = match step {
            kernel::WarpStep::Global(site, _) => Some(kind_of(&sites[*site])),
            _ => None,
        };
        if loads && !matches!((step, kind), (kernel::WarpStep::Compute(_), _) | (_, Some(Kind::Read))) {
            out.push(Step::Wait);
            loads = false;
        }
        match step {
            kernel::WarpStep::Compute(count) => out.extend((0..*count).map(|_| Step::Alu)),
            kernel::WarpStep::Decide => {}
            kernel::WarpStep::Workgroup => out.push(Step::Local),
            kernel::WarpStep::Barrier => out.push(Step::Barrier),
            kernel::WarpStep::Global(site, lanes) => {
                let site = &sites[*site];
                let base = bases.get(site.shared).copied().unwrap_or(0);
                // Bytes between members that nothing is in are not asked for: an instruction for each part.
                for (from, bytes) in &site.parts {
                    let at = |address: u32| base + u64::from(address) + u64::from(*from);
                    let lanes = lanes.iter().map(|(_, address)| Some((at(*address), *bytes))).collect();
                    out.extend(accesses(kind.unwrap_or(Kind::Read), lanes));
                }
                loads |= kind != Some(Kind::Write);
            }
        }
    }
    out
}

/// Kernels as they are read; what was left out is said at the end.
struct Told {
    launches: Launches,
    said: usize,
}

impl Iterator for Told {
    type Item = Result<Job, JobError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.launches.next();
        let notices = self.launches.notices();
        for notice in notices.iter().skip(self.said) {
            say!("note: {notice}");
        }
        self.said = notices.len();
        Some(next?.map(job).map_err(Into::into))
    }
}

fn job(launch: Launch) -> Job {
    let Launch { name, shared, blocks, notice } = launch;
    if let Some(notice) = notice {
        say!("note: {notice}");
    }
    let warp = |warp: Vec<WarpStep>| warp.into_iter().flat_map(steps).collect::<Vec<_>>();
    let groups = blocks.into_iter().map(|block| block.into_iter().map(warp).collect()).collect();
    Job { name, program: Arc::new(Recorded { groups, local: shared }) }
}

fn steps(step: WarpStep) -> Vec<Step> {
    match step {
        WarpStep::Compute => vec![Step::Alu],
        WarpStep::Shared => vec![Step::Local],
        WarpStep::Barrier => vec![Step::Barrier],
        WarpStep::Wait => vec![Step::Wait],
        WarpStep::Memory(kind, lanes) => accesses(kind, lanes.into_iter().map(Some).collect()),
    }
}

/// What an instruction asks of memory: an atomic brings its sector, and writes it.
fn accesses(kind: Kind, lanes: Vec<Option<(u64, u32)>>) -> Vec<Step> {
    match kind {
        Kind::Write => vec![Step::Store(lanes)],
        Kind::Modify => vec![Step::Load(lanes.clone()), Step::Store(lanes)],
        _ => vec![Step::Load(lanes)],
    }
}

/// A trace without warps: each core is a work-group of one wavefront. References of one core, kind and instruction with rising lanes are one
/// instruction. It is not known what needs what was loaded, so a wavefront waits for its loads before it stores.
fn cores(source: &dyn ReferenceSource) -> anyhow::Result<Arc<dyn Program>> {
    let mut waves: Vec<Wave> = Vec::new();
    let (mut at, mut batch) = (0, Vec::new());
    while at < source.len() {
        source.batch(at, &mut batch)?;
        at += batch.len() as u64;
        for &reference in &batch {
            let core = usize::from(reference.core);
            if core >= waves.len() {
                waves.resize_with(core + 1, Wave::default);
            }
            waves[core].take(reference);
        }
    }
    let steps = waves.into_iter().map(Wave::steps).filter(|steps| !steps.is_empty());
    Ok(Arc::new(Recorded { groups: steps.map(|steps| vec![steps]).collect(), local: 0 }))
}

/// What one core did.
#[derive(Default)]
struct Wave {
    steps: Vec<Step>,
    /// References of the instruction that may go on.
    open: Vec<Reference>,
}

impl Wave {
    fn take(&mut self, reference: Reference) {
        let goes_on = self.open.last().is_some_and(|last| {
            let rises = last.lane != NO_LANE && reference.lane != NO_LANE && reference.lane > last.lane;
            rises && (last.kind, last.pc) == (reference.kind, reference.pc) && self.open.len() < LANES
        });
        if !goes_on {
            self.close();
        }
        self.open.push(reference);
    }

    /// Ends an instruction.
    fn close(&mut self) {
        let open = std::mem::take(&mut self.open);
        let Some(kind) = open.first().map(|first| first.kind) else { return };
        // Instructions are fetched from elsewhere.
        if kind == Kind::Fetch {
            return;
        }
        if kind != Kind::Read && !matches!(self.steps.last(), None | Some(Step::Wait)) {
            self.steps.push(Step::Wait);
        }
        self.steps.extend(accesses(kind, open.iter().map(|r| Some((r.addr, r.size))).collect()));
    }

    fn steps(mut self) -> Vec<Step> {
        self.close();
        self.steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_that_rise_are_one_instruction() {
        let at = |kind, lane, addr| Reference { lane, pc: 7, ..Reference::new(kind, addr, 4) };
        let all = [
            at(Kind::Read, 0, 0x100),
            at(Kind::Read, 1, 0x104),
            at(Kind::Read, 0, 0x200),
            at(Kind::Write, 1, 0x300),
            at(Kind::Modify, NO_LANE, 0x400),
            at(Kind::Modify, NO_LANE, 0x404),
        ];
        let mut wave = Wave::default();
        all.into_iter().for_each(|reference| wave.take(reference));
        let told: Vec<String> = wave
            .steps()
            .iter()
            .map(|step| match step {
                Step::Load(lanes) => format!("load {}", lanes.len()),
                Step::Store(lanes) => format!("store {}", lanes.len()),
                Step::Wait => "wait".to_owned(),
                _ => "other".to_owned(),
            })
            .collect();
        assert_eq!(
            told,
            ["load 2", "load 1", "wait", "store 1", "wait", "load 1", "store 1", "wait", "load 1", "store 1"]
        );
    }
}
