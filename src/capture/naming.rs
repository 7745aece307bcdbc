//! Names for a trace from the program that was traced: where it was loaded, source lines, the variables touched.

use crate::reference::{Kind, Reference, Region, RegionFinder, RegionMap, SourceLocation, tell_files_apart};
use crate::symbols::{Module, Variable};
use std::collections::BTreeSet;
use std::path::Path;

/// Where position-independent programs are loaded where nothing moves them about: by Valgrind (`load_ELF` of its
/// `coregrind/m_ume/elf.c`), by Valgrind before 3.11, by Linux under a debugger or `setarch -R`.
pub(super) const USUAL: [u64; 3] = [0x10_8000, 0x40_0000, 0x5555_5555_4000];

/// How far above its linked addresses the program was loaded, from where its instructions were: 0 where it is not
/// relocatable, else the usual place that most of them fit; `None` where none fits.
#[must_use]
pub fn bias_of(module: &Module, pcs: &BTreeSet<u64>) -> Option<u64> {
    if !module.is_relocatable() {
        return Some(0);
    }
    let known = |pc: u64, bias: u64| {
        let at = pc.checked_sub(bias)?;
        module.function(at).map(drop).or_else(|| module.location(at).map(drop))
    };
    let fits = |bias: u64| pcs.iter().filter(|&&pc| known(pc, bias).is_some()).count();
    // The first of those that fit best.
    let (best, bias) = USUAL.into_iter().map(|bias| (fits(bias), bias)).rev().max_by_key(|&(n, _)| n)?;
    (best > 0).then_some(bias)
}

/// The source lines of these instructions of a running program.
pub(super) fn locate(module: &Module, bias: u64, pcs: &BTreeSet<u64>) -> Vec<SourceLocation> {
    let at = |pc: u64| Some(SourceLocation { pc, ..module.location(pc.checked_sub(bias)?)? });
    pcs.iter().filter_map(|&pc| at(pc)).collect()
}

/// The instructions of references.
pub struct Pcs {
    all: BTreeSet<u64>,
    /// Some of `all`, each in the slot of its low bits: a loop's instructions are looked up here alone.
    recent: [u64; Self::RECENT],
}

impl Default for Pcs {
    fn default() -> Self {
        Self::new()
    }
}

impl Pcs {
    const RECENT: usize = 1 << 12;

    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self { all: BTreeSet::new(), recent: [0; Self::RECENT] }
    }

    /// Takes note of the instructions of references; 0 is none.
    #[expect(clippy::cast_possible_truncation, reason = "few bits are left")]
    pub fn note<'a>(&mut self, references: impl Iterator<Item = &'a Reference>) {
        for Reference { pc, .. } in references {
            let slot = &mut self.recent[*pc as usize % Self::RECENT];
            if slot != pc {
                *slot = *pc;
                self.all.insert(*pc);
            }
        }
    }

    /// Whether an instruction is one of them.
    #[must_use]
    pub fn contains(&self, pc: u64) -> bool {
        self.all.contains(&pc)
    }
}

/// Source lines and touched variables of a trace, as it is read.
pub struct Names {
    module: Module,
    pcs: Pcs,
    touched: Option<Touched>,
}

impl Names {
    /// By the names of a program.
    #[must_use]
    pub fn new(module: Module) -> Self {
        Self { module, pcs: Pcs::new(), touched: None }
    }

    /// Takes note of references.
    pub fn note(&mut self, references: &[Reference]) {
        self.pcs.note(references.iter().filter(|reference| reference.kind != Kind::Fetch));
        if self.touched.is_none() {
            self.touched = bias_of(&self.module, &self.pcs.all).map(|bias| Touched::new(self.module.variables(), bias));
        }
        if let Some(touched) = &mut self.touched {
            touched.note(references);
        }
    }

    /// The source lines and the variables touched, with sentences about what could not be named.
    #[must_use]
    pub fn finish(self, program: &Path) -> (Vec<SourceLocation>, Vec<Region>, Vec<String>) {
        let Self { module, pcs: Pcs { all: pcs, .. }, touched } = self;
        let mut notices = module.notices().to_vec();
        let name = program.display();
        let locations = bias_of(&module, &pcs).map_or_else(Vec::new, |bias| locate(&module, bias, &pcs));
        if touched.is_none() && !pcs.is_empty() {
            notices.push(format!(
                "{name} is position-independent, and none of the {} instructions is where it is usually loaded; build it \
                 with -no-pie to have names",
                pcs.len()
            ));
        } else if locations.is_empty() && !pcs.is_empty() {
            notices.push(format!(
                "{name} names no source line of the {} instructions; build it with -g to have them",
                pcs.len()
            ));
        }
        let mut locations = locations;
        tell_files_apart(&mut locations);
        (locations, touched.as_ref().map_or_else(Vec::new, Touched::regions), notices)
    }
}

/// Which of a program's variables references touch.
pub(super) struct Touched {
    regions: Vec<Region>,
    finder: RegionFinder,
    seen: Vec<bool>,
}

impl Touched {
    pub(super) fn new(variables: &[Variable], bias: u64) -> Self {
        let regions: Vec<Region> = variables.iter().map(|v| v.region(bias)).collect();
        let finder = RegionFinder::new(RegionMap::new(&regions));
        Self { seen: vec![false; regions.len()], regions, finder }
    }

    /// Takes note of what these touch; fetches touch no variable.
    pub(super) fn note(&mut self, references: &[Reference]) {
        for r in references.iter().filter(|r| r.kind != Kind::Fetch) {
            if let Some(region) = self.finder.locate(r.addr, 0).region
                && let Some(seen) = self.seen.get_mut(region as usize)
            {
                *seen = true;
            }
        }
    }

    /// The regions touched.
    pub(super) fn regions(&self) -> Vec<Region> {
        self.regions.iter().zip(&self.seen).filter(|(_, seen)| **seen).map(|(region, _)| region.clone()).collect()
    }
}
