//! Kernels with their schedule: thread blocks, warps, and what each of their instructions does. For who simulates a GPU.

use super::super::super::error::TraceError;
use super::super::super::input::Input;
use super::super::launches::{Kernels, Launch, MOST, WarpStep, refused};
use super::AccelSim;
use super::kernel::{Class, Counts, Told};
use crate::reference::{Kind, Reference};
use std::collections::HashSet;

/// The kernels of a list, or of one file, one after the other.
pub(in super::super) struct Launches(AccelSim);

impl Launches {
    pub(in super::super) fn of(input: Input) -> Result<Self, TraceError> {
        AccelSim::of(input).map(Self)
    }
}

impl Kernels for Launches {
    fn notices(&self) -> Vec<String> {
        self.0.missing_words()
    }

    fn read(&mut self) -> Result<Option<Launch>, TraceError> {
        if self.0.kernel.is_none() && !self.0.next_kernel(0)? {
            return Ok(None);
        }
        let Some(mut kernel) = self.0.kernel.take() else { return Ok(None) };
        kernel.told = Some(Vec::new());
        let (mut references, mut counts) = (Vec::new(), Counts::default());
        let mut launch = Launch { name: String::new(), shared: 0, blocks: Vec::new(), notice: None };
        let mut loaded = HashSet::new();
        let mut held = 0;
        loop {
            references.clear();
            let more = kernel.decode(1 << 16, &mut references, &mut counts)?;
            held += references.len();
            if held > MOST {
                return Err(refused(&self.0.name, 1, "a kernel of more than 50,000,000 accesses of lanes"));
            }
            for told in kernel.told.as_mut().map(std::mem::take).unwrap_or_default() {
                take(&mut launch, told, &references, &mut loaded);
            }
            if !more {
                break;
            }
        }
        launch.name = kernel.name().to_owned();
        launch.shared = kernel.shared;
        launch.notice = kernel.cut();
        if launch.blocks.is_empty() {
            return Err(refused(&self.0.name, 1, "a kernel without thread blocks"));
        }
        Ok(Some(launch))
    }
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
