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
use super::run::Run;
use crate::reference::{Kind, Reference, Region, SourceLocation, Tables};
use crate::units::grouped;

/// Accesses of lanes that are kept, at most.
pub const MOST_LANES: usize = 50_000_000;

/// The first buffer's first byte, and what all of them are multiples of: as much as WebGPU asks of the offset of a binding.
const FIRST_ADDRESS: u64 = 0x10000;
const ALIGNED: u64 = 256;
/// Program counters are those of places in the source: so many from one to the next, from the first on.
const FIRST_PC: u64 = 0x1000;
const PC_STEP: u64 = 4;

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

/// Where buffers lie, by the number of the variable; `None` = workgroup memory, which has no address.
fn regions(program: &Program, run: &Run) -> Vec<Option<Region>> {
    let mut next = FIRST_ADDRESS;
    let shared = program.shared.iter().zip(&run.before).zip(&run.texels);
    let placed = shared.map(|((shared, bytes), texels)| {
        if shared.space == Space::Workgroup {
            return None;
        }
        let bytes = (bytes.len() as u64).max(1);
        let (elem_bytes, elem_type, shape) = program.elements(shared, bytes, *texels);
        let region = Region { elem_bytes, elem_type, shape, ..Region::new(shared.name.clone(), next, bytes) };
        next += bytes.next_multiple_of(ALIGNED);
        Some(region)
    });
    placed.collect()
}

/// First bytes of buffers, by the number of the variable; 0 = workgroup memory.
#[must_use]
pub fn bases(program: &Program, run: &Run) -> Vec<u64> {
    regions(program, run).iter().map(|region| region.as_ref().map_or(0, |region| region.base)).collect()
}

/// A unit with the group that it works on.
struct Unit<'a> {
    warps: &'a [Vec<WarpStep>],
    /// The next step of each warp.
    at: Vec<usize>,
    turn: usize,
}

impl<'a> Unit<'a> {
    fn of(warps: &'a [Vec<WarpStep>]) -> Self {
        Self { warps, at: vec![0; warps.len()], turn: 0 }
    }

    fn ahead(&self, warp: usize) -> Option<&'a WarpStep> {
        self.warps.get(warp)?.get(self.at[warp])
    }

    /// The next access of the next warp in turn; `None` at the end of the group.
    fn next(&mut self) -> Option<(usize, &'a [(u8, u32)])> {
        loop {
            for n in 0..self.warps.len() {
                let warp = (self.turn + n) % self.warps.len();
                while let Some(step) = self.ahead(warp) {
                    match step {
                        WarpStep::Barrier => break,
                        WarpStep::Global(site, lanes) => {
                            self.at[warp] += 1;
                            self.turn = warp + 1;
                            return Some((*site, lanes));
                        }
                        _ => self.at[warp] += 1,
                    }
                }
            }
            // All that are not at their end are at a barrier.
            let waiting: Vec<usize> = (0..self.warps.len()).filter(|warp| self.ahead(*warp).is_some()).collect();
            if waiting.is_empty() {
                return None;
            }
            waiting.into_iter().for_each(|warp| self.at[warp] += 1);
        }
    }
}

impl WarpRecord {
    /// Accesses of storage and uniform memory as references, those of a warp to one sector of so many bytes as one (*coalesced*). Groups
    /// are given to `units` cores in turn, each takes the next when it is done; cores take turns, on a core the warps of its group.
    #[must_use]
    pub fn references(&self, program: &Program, run: &Run, units: u16, sector: u32) -> Vec<Reference> {
        let bases = bases(program, run);
        let mut queue = self.groups.iter();
        let mut working: Vec<Option<Unit<'_>>> =
            (0..units.max(1)).map(|_| queue.next().map(|warps| Unit::of(warps))).collect();
        let mut out = Vec::new();
        while working.iter().any(Option::is_some) {
            for (core, unit) in (0u16..).zip(&mut working) {
                while let Some(working) = unit {
                    if let Some((number, lanes)) = working.next() {
                        let site = &self.sites[number];
                        let base = bases.get(site.shared).copied().unwrap_or(0);
                        let pc = FIRST_PC + PC_STEP * number as u64;
                        for (lane, addr, size) in sectors(lanes, base, site, sector) {
                            out.push(Reference { addr, pc, size, core, lane, kind: kind_of(site) });
                        }
                        break;
                    }
                    *unit = queue.next().map(|warps| Unit::of(warps));
                }
            }
        }
        out
    }

    /// Buffers as regions, and places in the source.
    #[must_use]
    pub fn tables(&self, program: &Program, run: &Run) -> Tables {
        let locations = (0u64..).zip(&self.sites).map(|(number, site)| SourceLocation {
            path: String::new(),
            pc: FIRST_PC + PC_STEP * number,
            file: program.file.clone(),
            line: site.line,
            function: program.entry.clone(),
            text: program.source_line(site.line).to_owned(),
        });
        let mut tables = Tables {
            title: format!("{}, {}", program.file, program.entry),
            subtitle: format!(
                "{} items in {} groups",
                grouped(run.counts.work_items),
                grouped(self.groups.len() as u64)
            ),
            regions: regions(program, run).into_iter().flatten().collect(),
            locations: locations.collect(),
            marks: Vec::new(),
            made_by: format!("orrery kernel {}", program.file),
        };
        tables.sort();
        tables
    }
}

/// The sectors that lanes touch, in the order of the first lane of each: that lane, the first byte that is asked for, and from there to the
/// last one.
fn sectors(lanes: &[(u8, u32)], base: u64, site: &Site, sector: u32) -> Vec<(u8, u64, u32)> {
    let sector = u64::from(sector.max(1));
    let mut out: Vec<(u64, u8, u64, u64)> = Vec::new();
    for (lane, bytes) in lanes.iter().flat_map(|(lane, address)| site.ranges(*address).map(move |part| (*lane, part))) {
        let (mut from, end) = (base + bytes.start, base + bytes.end);
        while from < end {
            let (number, to) = (from / sector, end.min((from / sector + 1) * sector));
            match out.iter_mut().rev().find(|known| known.0 == number) {
                Some((_, _, first, last)) => (*first, *last) = ((*first).min(from), (*last).max(to)),
                None => out.push((number, lane, from, to)),
            }
            from = to;
        }
    }
    let size = |from: u64, to: u64| u32::try_from(to - from).unwrap_or(u32::MAX);
    out.into_iter().map(|(_, lane, from, to)| (lane, from, size(from, to))).collect()
}
