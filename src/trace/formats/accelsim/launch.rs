//! A kernel with its schedule: thread blocks, warps, and what each of their instructions does. For who simulates a GPU.

use super::super::super::error::{Fault, Place, TraceError};
use super::super::super::input;
use super::super::binary::Bytes;
use super::kernel::{Class, Counts, Kernel, Told};
use crate::reference::{Kind, Reference};
use std::collections::HashSet;
use std::path::Path;

/// What a warp does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WarpStep {
    /// An instruction that asks nothing of memory.
    Compute,
    /// Addresses and bytes of the lanes that are on.
    Memory(Kind, Vec<(u64, u32)>),
    /// Shared memory is accessed.
    Shared,
    /// All warps of the block wait for each other.
    Barrier,
    /// The next one needs what was loaded.
    Wait,
}

/// A kernel that was traced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Its name.
    pub name: String,
    /// Work-items of a thread block.
    pub items: u64,
    /// Bytes of shared memory of a block.
    pub shared: u64,
    /// By block, by warp, what it does.
    pub blocks: Vec<Vec<Vec<WarpStep>>>,
    /// What people should hear.
    pub notice: Option<String>,
}

/// Lane accesses that are held at once, at most.
const MOST: usize = 50_000_000;

/// Reads the kernel of a `.traceg`, plain or packed.
///
/// # Errors
/// When it cannot be read, is no kernel of Accel-Sim, or is too long to be held.
pub fn launch(path: &Path) -> Result<Launch, TraceError> {
    let input = input::open(path)?;
    let name = input.name.clone();
    let other = |found: &str| {
        TraceError::Damaged(Fault::new(
            Place::line(&name, 1),
            found,
            "one kernel of Accel-Sim: a header such as `-kernel name = ...`, thread blocks, warps and instructions",
            "give the file of one kernel, `kernel-1.traceg` for example",
        ))
    };
    if super::is_list(input.bytes.head()) {
        return Err(other("a list of kernels"));
    }
    if !super::looks_like(input.bytes.head()) {
        return Err(other("something else"));
    }
    let mut kernel = Kernel::new(Bytes::new(input.name, Box::new(input.bytes)), 0);
    kernel.told = Some(Vec::new());
    let (mut references, mut counts) = (Vec::new(), Counts::default());
    let mut launch = Launch { name: String::new(), items: 0, shared: 0, blocks: Vec::new(), notice: None };
    let mut loaded = HashSet::new();
    let mut held = 0;
    loop {
        references.clear();
        let more = kernel.decode(1 << 16, &mut references, &mut counts)?;
        held += references.len();
        if held > MOST {
            return Err(other("more than 50,000,000 accesses of lanes"));
        }
        for told in kernel.told.as_mut().map(std::mem::take).unwrap_or_default() {
            take(&mut launch, told, &references, &mut loaded);
        }
        if !more {
            break;
        }
    }
    launch.name = kernel.name().to_owned();
    launch.items = kernel.block.iter().product::<u64>().max(1);
    launch.shared = kernel.shared;
    launch.notice = kernel.cut();
    if launch.blocks.is_empty() {
        return Err(other("no thread block"));
    }
    Ok(launch)
}

fn take(launch: &mut Launch, told: Told, references: &[Reference], loaded: &mut HashSet<u16>) {
    let (class, lanes, written, read) = match told {
        Told::Block => return launch.blocks.push(Vec::new()),
        Told::Warp => {
            loaded.clear();
            launch.blocks.iter_mut().last().into_iter().for_each(|block| block.push(Vec::new()));
            return;
        }
        Told::Did { class, lanes, written, read } => (class, lanes, written, read),
    };
    let Some(warp) = launch.blocks.last_mut().and_then(|block| block.last_mut()) else { return };
    if read.iter().chain(&written).any(|register| loaded.contains(register)) {
        warp.push(WarpStep::Wait);
        loaded.clear();
    }
    warp.push(match class {
        Class::Compute => WarpStep::Compute,
        Class::Shared => WarpStep::Shared,
        Class::Barrier => WarpStep::Barrier,
        Class::Memory(kind) => {
            if kind != Kind::Write {
                loaded.extend(written);
            }
            WarpStep::Memory(kind, references[lanes].iter().map(|r| (r.addr, r.size)).collect())
        }
    });
}
