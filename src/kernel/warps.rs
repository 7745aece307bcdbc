//! What warps ask of memory, step by step: what a simulated memory hierarchy is given as references, and a simulated GPU as instructions.
//!
//! ```text
//! group 0  warp 0   statement | read a, lanes 0..32 | decision | barrier | write out, lanes 0..16
//!          warp 1   statement | read a, lanes 0..32 | decision | barrier
//! ```

use super::code::{Act, Site};
use super::error::KernelError;
use super::program::{Program, Space};
use super::record::{Access, Decision, Observer};
use crate::reference::Kind;

/// Accesses of lanes that are kept, at most.
pub const MOST_LANES: usize = 50_000_000;

/// What a warp does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WarpStep {
    /// Statements that ask nothing of memory, so many.
    Compute(u32),
    /// Its items decide which way they go.
    Decide,
    /// Workgroup memory is accessed.
    Workgroup,
    /// It comes to a barrier.
    Barrier,
    /// A site accesses storage or uniform memory: lanes, each with a byte of the variable.
    Global(usize, Vec<(u8, u32)>),
}

/// Keeps what warps do while a kernel runs.
#[derive(Debug)]
pub struct WarpRecord {
    warp: usize,
    sites: Vec<Site>,
    /// Of each site, whether all groups share what it accesses.
    is_global: Vec<bool>,
    /// By group, by warp.
    groups: Vec<Vec<Vec<WarpStep>>>,
    lanes: usize,
    left: u64,
}

impl WarpRecord {
    /// For warps of so many items, 1 to 255.
    ///
    /// # Errors
    /// [`KernelError`] where the kernel cannot be made ready to run, or a warp has more lanes than references tell apart.
    pub fn new(program: &Program, warp: usize) -> Result<Self, KernelError> {
        if !(1..=usize::from(u8::MAX)).contains(&warp) {
            let words = format!(
                "{}: --warp {warp}: expected 1 to 255 items, as many lanes as a trace tells apart",
                program.file
            );
            return Err(KernelError::Launch(words));
        }
        let sites = program.sites()?;
        let is_global = sites.iter().map(|site| program.shared[site.shared].space != Space::Workgroup).collect();
        Ok(Self { warp, sites, is_global, groups: Vec::new(), lanes: 0, left: 0 })
    }

    /// Accesses of lanes that there was no room for: what is kept ends before the kernel does.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.left
    }

    /// By group, by warp, what each does.
    #[must_use]
    pub fn groups(&self) -> &[Vec<Vec<WarpStep>>] {
        &self.groups
    }

    /// Places in the source that access memory.
    #[must_use]
    pub fn sites(&self) -> &[Site] {
        &self.sites
    }

    fn each_warp(&mut self, items: impl Iterator<Item = usize>, mut put: impl FnMut(&mut Vec<WarpStep>)) {
        let Some(warps) = self.groups.last_mut() else { return };
        let mut last = usize::MAX;
        for warp in items.map(|item| item / self.warp) {
            if warp != last
                && let Some(steps) = warps.get_mut(warp)
            {
                put(steps);
                last = warp;
            }
        }
    }
}

impl Observer for WarpRecord {
    fn begin(&mut self, _group: u64, items: usize) {
        self.groups.push(vec![Vec::new(); items.div_ceil(self.warp)]);
    }

    fn step(&mut self, _line: u32, items: &super::mask::Mask) {
        self.each_warp(items.iter(), |steps| match steps.last_mut() {
            Some(WarpStep::Compute(count)) => *count = count.saturating_add(1),
            _ => steps.push(WarpStep::Compute(1)),
        });
    }

    fn decide(&mut self, _line: u32, items: &super::mask::Mask, _decision: Decision) {
        self.each_warp(items.iter(), |steps| {
            if steps.last() != Some(&WarpStep::Decide) {
                steps.push(WarpStep::Decide);
            }
        });
    }

    fn barrier(&mut self, _line: u32, items: &super::mask::Mask, _kinds: (bool, bool)) {
        self.each_warp(items.iter(), |steps| steps.push(WarpStep::Barrier));
    }

    fn access(&mut self, access: &Access<'_>) {
        let site = access.site;
        if !self.is_global.get(site).copied().unwrap_or(false) {
            return self.each_warp(access.items.iter(), |steps| steps.push(WarpStep::Workgroup));
        }
        let count = access.items.count();
        if self.lanes + count > MOST_LANES {
            self.left += count as u64;
            return;
        }
        self.lanes += count;
        let warp = self.warp;
        self.each_warp(access.items.iter(), |steps| steps.push(WarpStep::Global(site, Vec::new())));
        let Some(warps) = self.groups.last_mut() else { return };
        for item in access.items.iter() {
            if let Some(WarpStep::Global(_, lanes)) = warps.get_mut(item / warp).and_then(|steps| steps.last_mut()) {
                lanes.push((u8::try_from(item % warp).unwrap_or(u8::MAX), access.addresses[item]));
            }
        }
    }
}

/// What an access is to a memory hierarchy.
#[must_use]
pub fn kind_of(site: &Site) -> Kind {
    match site.act {
        Act::Read => Kind::Read,
        Act::Write => Kind::Write,
        Act::Atomic if site.writes => Kind::Modify,
        Act::Atomic => Kind::Read,
    }
}
