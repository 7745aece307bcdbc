//! Launches as a trace for caches: what their warps ask of storage and uniform memory, coalesced, dealt to cores.

use super::code::Site;
use super::program::{Program, Space};
use super::run::Run;
use super::warps::{WarpRecord, WarpStep, kind_of};
use crate::reference::{Mark, Reference, Region, SourceLocation, Tables};
use crate::units::grouped;

/// The first buffer's first byte, and what all of them are multiples of: as much as WebGPU asks of the offset of a binding.
const FIRST_ADDRESS: u64 = 0x10000;
const ALIGNED: u64 = 256;
/// Program counters are those of places in the source: so many from one to the next, from the first on.
const FIRST_PC: u64 = 0x1000;
const PC_STEP: u64 = 4;

/// Where the buffers of launches lie, and what is told of them beside their references. A buffer that launches share lies at one place.
#[derive(Debug)]
pub struct LaunchTrace {
    units: u16,
    sector: u32,
    /// By name of the variable, which a region may not have: one that another launch has larger lies elsewhere, too.
    placed: Vec<(String, Region)>,
    next: u64,
    /// Places in the source by entry, with the first program counter of each.
    programs: Vec<(String, Vec<Site>, u64)>,
    tables: Tables,
    launches: Vec<String>,
    references: u64,
    items: u64,
    groups: u64,
}

impl LaunchTrace {
    /// For so many cores, which groups are given to, and sectors of so many bytes.
    #[must_use]
    pub fn new(units: u16, sector: u32) -> Self {
        Self {
            units: units.max(1),
            sector: sector.max(1),
            placed: Vec::new(),
            next: FIRST_ADDRESS,
            programs: Vec::new(),
            tables: Tables::default(),
            launches: Vec::new(),
            references: 0,
            items: 0,
            groups: 0,
        }
    }

    /// First bytes of the buffers of a launch, by the number of the variable; 0 = workgroup memory, which has no address.
    pub fn bases(&mut self, program: &Program, run: &Run) -> Vec<u64> {
        let mut out = Vec::new();
        for (number, shared) in program.shared.iter().enumerate() {
            if shared.space == Space::Workgroup {
                out.push(0);
                continue;
            }
            let bytes = run.before.get(number).map_or(0, |bytes| bytes.len() as u64).max(1);
            let known = |(name, region): &&(String, Region)| *name == shared.name && region.bytes >= bytes;
            if let Some((_, region)) = self.placed.iter().find(known) {
                out.push(region.base);
                continue;
            }
            let texels = run.texels.get(number).copied().flatten();
            let (elem_bytes, elem_type, shape) = program.elements(shared, bytes, texels);
            let again = self.placed.iter().filter(|(name, _)| *name == shared.name).count();
            let name = if again == 0 { shared.name.clone() } else { format!("{} ({})", shared.name, again + 1) };
            let region = Region {
                elem_bytes,
                elem_type: elem_type.into(),
                shape: shape.into(),
                ..Region::new(name, self.next, bytes)
            };
            self.next += bytes.next_multiple_of(ALIGNED);
            out.push(region.base);
            self.placed.push((shared.name.clone(), region));
        }
        out
    }

    /// The first program counter of a program's places in the source.
    fn counters(&mut self, program: &Program, sites: &[Site]) -> u64 {
        let known = self.programs.iter().find(|(entry, known, _)| *entry == program.entry && known == sites);
        if let Some((.., first)) = known {
            return *first;
        }
        let first = self.programs.last().map_or(FIRST_PC, |(_, sites, first)| first + PC_STEP * sites.len() as u64);
        self.programs.push((program.entry.clone(), sites.to_vec(), first));
        self.tables.locations.extend((0u64..).zip(sites).map(|(number, site)| SourceLocation {
            path: String::new(),
            pc: first + PC_STEP * number,
            file: program.file.clone(),
            line: site.line,
            function: program.entry.clone(),
            text: program.source_line(site.line).to_owned(),
        }));
        first
    }

    /// Accesses of storage and uniform memory of the next launch as references, those of a warp to one sector as one (*coalesced*). Groups
    /// are given to cores in turn, each takes the next when it is done; cores take turns, on a core the warps of its group.
    #[must_use]
    pub fn references(&mut self, program: &Program, run: &Run, record: &WarpRecord) -> Vec<Reference> {
        let bases = self.bases(program, run);
        let sites = record.sites();
        let first = self.counters(program, sites);
        let mut queue = record.groups().iter();
        let mut working: Vec<Option<Unit<'_>>> =
            (0..self.units).map(|_| queue.next().map(|warps| Unit::of(warps))).collect();
        let mut out = Vec::new();
        while working.iter().any(Option::is_some) {
            for (core, unit) in (0u16..).zip(&mut working) {
                while let Some(working) = unit {
                    if let Some((number, lanes)) = working.next() {
                        let site = &sites[number];
                        let base = bases.get(site.shared).copied().unwrap_or(0);
                        let pc = first + PC_STEP * number as u64;
                        for (lane, addr, size) in sectors(lanes, base, site, self.sector) {
                            out.push(Reference { addr, pc, size, core, lane, kind: kind_of(site) });
                        }
                        break;
                    }
                    *unit = queue.next().map(|warps| Unit::of(warps));
                }
            }
        }
        let name = format!("launch {} {}", self.launches.len(), program.entry);
        self.tables.marks.push(Mark { reference: self.references, name });
        self.tables.title.clone_from(&program.file);
        self.launches.push(program.entry.clone());
        self.references += out.len() as u64;
        self.items += run.counts.work_items;
        self.groups += record.groups().len() as u64;
        out
    }

    /// Buffers as regions, places in the source, and where launches begin.
    #[must_use]
    pub fn tables(self) -> Tables {
        let mut tables = self.tables;
        let extent = format!("{} items in {} groups", grouped(self.items), grouped(self.groups));
        tables.made_by = format!("orrery kernel {}", tables.title);
        if let [entry] = &self.launches[..] {
            tables.title = format!("{}, {entry}", tables.title);
            tables.subtitle = extent;
            tables.marks.clear();
        } else {
            tables.subtitle = format!("{} launches, {extent}", grouped(self.launches.len() as u64));
        }
        tables.regions = self.placed.into_iter().map(|(_, region)| region).collect();
        tables.sort();
        tables
    }
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
