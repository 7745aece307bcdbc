//! Accesses from any number on: down the tree by counting, then as the loops go.

use super::count::{Cache, Counter};
use super::expr::{EvalError, UNSET};
use super::fault::NestError;
use super::machine::Machine;
use super::stepped::Run;
use super::tree::{Access, Block, Check, Cores, Loop, Nest, Node};
use crate::reference::{LoopAt, NO_LANE, Reference};

/// Program counters are those of statements: so many from one to the next, from the first on.
pub(super) const FIRST_PC: u64 = 0x1000;
pub(super) const PC_STEP: u64 = 4;

/// Puts accesses into a list until it is as long as is wanted.
pub(super) struct Emitter<'a> {
    nest: &'a Nest,
    bases: &'a [u64],
    counter: Counter<'a>,
    pub(super) values: Vec<i64>,
    core: u16,
    limit: usize,
    /// Whether the iteration of the last access is wanted: then each access is made by itself.
    stops: bool,
    /// Whether the program counter of an access is to be the number of its container.
    by_container: bool,
    /// Loops and control flows that are under way, the outermost first.
    pub(super) open: Vec<Open<'a>>,
    runs: Vec<Run>,
    lanes: Vec<Lane>,
}

#[derive(Clone, Copy)]
pub(super) enum Open<'a> {
    /// With how many of its accesses were passed over when it was entered.
    Loop(&'a Loop, u64),
    Machine(&'a Machine),
}

/// An access of a plain loop: where it is, and how far it goes with each iteration.
#[derive(Clone, Copy)]
struct Lane {
    reference: Reference,
    step: u64,
}

impl<'a> Emitter<'a> {
    pub(super) fn new(nest: &'a Nest, bases: &'a [u64], cache: &'a Cache, limit: usize, stops: bool) -> Self {
        let counter = Counter::new(nest, cache);
        let (values, open, runs, lanes) = (nest.initial.clone(), Vec::new(), Vec::new(), Vec::new());
        Self { nest, bases, counter, values, core: 0, limit, stops, by_container: false, open, runs, lanes }
    }

    pub(super) fn by_container(self) -> Self {
        Self { by_container: true, ..self }
    }

    /// Accesses from number `skip` of the nest on.
    pub(super) fn emit(&mut self, skip: u64, out: &mut Vec<Reference>) -> Result<(), NestError> {
        let nest = self.nest;
        self.block(&nest.root, skip, out)?;
        out.truncate(self.limit);
        Ok(())
    }

    fn block(&mut self, block: &'a Block, mut skip: u64, out: &mut Vec<Reference>) -> Result<(), NestError> {
        for node in &block.nodes {
            if skip > 0 {
                let count = self.counter.node(node, &mut self.values)?;
                if skip >= count {
                    skip -= count;
                    continue;
                }
            }
            match node {
                Node::Access(access) => self.access(access, out)?,
                Node::Loop(l) => self.iterations(l, skip, out)?,
                Node::If(branch) => {
                    let holds =
                        branch.condition.eval(&self.values).map_err(|e| self.counter.wrong(e, "a condition"))?;
                    self.block(if holds != 0 { &branch.yes } else { &branch.no }, skip, out)?;
                }
                Node::Set { slot, value } => {
                    let name = &self.nest.slots[*slot];
                    self.values[*slot] = value.eval(&self.values).map_err(|e| self.counter.wrong(e, name))?;
                }
                Node::Machine(machine) => self.machine(machine, skip, out)?,
            }
            skip = 0;
            if out.len() >= self.limit {
                return Ok(());
            }
        }
        Ok(())
    }

    fn iterations(&mut self, l: &'a Loop, skip: u64, out: &mut Vec<Reference>) -> Result<(), NestError> {
        let (from, step, trips) = self.counter.bounds(l, &self.values)?;
        let passed = skip;
        let (mut iteration, mut skip) = self.first(l, (from, step, trips), skip)?;
        self.open.push(Open::Loop(l, passed));
        let core = self.core;
        let mut index = from.wrapping_add(step.wrapping_mul(iteration.cast_signed()));
        while iteration < trips {
            let before = out.len();
            self.values[l.slot] = index;
            if let Some(cores) = &l.cores {
                self.core = self.core_of(cores, iteration, trips)?;
            }
            if l.plain && skip == 0 && l.cores.is_none() && !self.stops {
                let done = self.plain(l, step, trips - iteration, out)?;
                if done > 0 {
                    iteration += done;
                    index = index.wrapping_add(step.wrapping_mul(done.cast_signed()));
                    if out.len() >= self.limit {
                        return Ok(());
                    }
                    continue;
                }
            }
            self.block(&l.body, skip, out)?;
            if out.len() >= self.limit {
                return Ok(());
            }
            if l.even && out.len() == before {
                // Where one iteration makes no access, none does.
                break;
            }
            skip = 0;
            iteration += 1;
            index = index.wrapping_add(step);
        }
        self.core = core;
        self.open.pop();
        // Behind the loop its index has no value.
        self.values[l.slot] = UNSET;
        Ok(())
    }

    /// The iteration that makes access `skip` of a loop, and the accesses of it before.
    fn first(&mut self, l: &Loop, bounds: (i64, i64, u64), skip: u64) -> Result<(u64, u64), NestError> {
        if skip == 0 {
            return Ok((0, 0));
        }
        if l.even {
            self.values[l.slot] = bounds.0;
            let each = self.counter.block(&l.body, &mut self.values)?.max(1);
            return Ok((skip / each, skip % each));
        }
        let sums = self.counter.sums(l, bounds, &mut self.values)?;
        sums.find(skip).ok_or_else(|| self.counter.wrong(EvalError::Overflow, "the number of an access"))
    }

    fn core_of(&self, cores: &Cores, iteration: u64, trips: u64) -> Result<u16, NestError> {
        let count = u64::from(cores.count());
        let core = match cores {
            // As OpenMP's static schedule does: blocks that differ by one iteration at most, the longer ones first.
            Cores::Blocks(_) => {
                let (each, longer) = (trips / count, trips % count);
                let long = longer * (each + 1);
                if iteration < long { iteration / (each + 1) } else { longer + (iteration - long) / each.max(1) }
            }
            Cores::Cyclic(_) => iteration % count,
            Cores::On(_, form) => {
                let core = form.eval(&self.values).map_err(|e| self.counter.wrong(e, "the core of a parallel loop"))?;
                u64::try_from(core).ok().filter(|core| *core < count).ok_or_else(|| {
                    NestError::new(
                        &self.nest.name,
                        format!("core {core} at {}", self.iteration()),
                        format!("cores 0 to {}", count - 1),
                        "correct the core after `on`, or raise the number of cores",
                    )
                })?
            }
        };
        Ok(u16::try_from(core).unwrap_or(0))
    }

    fn machine(&mut self, machine: &'a Machine, skip: u64, out: &mut Vec<Reference>) -> Result<(), NestError> {
        let run = self.counter.run(machine, &mut self.values)?;
        let mut part = run.starts.partition_point(|start| *start <= skip).saturating_sub(1);
        let mut skip = skip - run.starts.get(part).copied().unwrap_or(0).min(skip);
        self.open.push(Open::Machine(machine));
        let width = machine.assigned.len();
        while let Some(block) = run.blocks.get(part).and_then(|block| machine.blocks.get(*block)) {
            let values = run.values.get(part * width..(part + 1) * width).unwrap_or_default();
            machine.assigned.iter().zip(values).for_each(|(slot, value)| self.values[*slot] = *value);
            self.block(block, skip, out)?;
            if out.len() >= self.limit {
                return Ok(());
            }
            skip = 0;
            part += 1;
        }
        self.open.pop();
        Ok(())
    }

    /// As many iterations of a loop over accesses alone as are wanted, its index then that of the iteration behind them; 0 where one of
    /// them has an index outside, which [`Emitter::access`] then finds.
    fn plain(&mut self, l: &Loop, step: i64, trips: u64, out: &mut Vec<Reference>) -> Result<u64, NestError> {
        let width = l.body.nodes.len().max(1);
        let wanted = self.limit.saturating_sub(out.len()).div_ceil(width) as u64;
        let rounds = trips.min(wanted);
        if !self.are_inside(l, step, rounds) {
            return Ok(0);
        }
        out.reserve(usize::try_from(rounds).unwrap_or(0).saturating_mul(width));
        let mut done = 0;
        while done < rounds {
            let Some(evenly) = self.lanes(l, step, rounds - done) else { break };
            let count = usize::try_from(evenly).unwrap_or(0);
            // One by one they are written faster than by a loop over a list.
            match &mut self.lanes[..] {
                [a] => put(count, [a], out),
                [a, b] => put(count, [a, b], out),
                [a, b, c] => put(count, [a, b, c], out),
                [a, b, c, d] => put(count, [a, b, c, d], out),
                [a, b, c, d, e, f] => put(count, [a, b, c, d, e, f], out),
                lanes => {
                    for _ in 0..count {
                        for lane in &mut *lanes {
                            out.push(lane.reference);
                            lane.reference.addr = lane.reference.addr.wrapping_add(lane.step);
                        }
                    }
                }
            }
            done += evenly;
            self.values[l.slot] = self.values[l.slot].wrapping_add(step.wrapping_mul(evenly.cast_signed()));
        }
        Ok(done)
    }

    /// Whether all indices of so many iterations are inside of their shapes.
    fn are_inside(&self, l: &Loop, step: i64, rounds: u64) -> bool {
        let Some(last) = rounds.checked_sub(1).and_then(|n| i64::try_from(n).ok()) else { return false };
        let is_inside = |check: &Check| {
            let index = check.index.affine()?.run(&self.values, l.slot, step)?;
            let extent = check.extent.eval(&self.values).ok()?;
            let last = index.after(last)?;
            Some(index.first.min(last) >= 0 && index.first.max(last) < extent)
        };
        let accesses = l.body.nodes.iter().filter_map(|node| if let Node::Access(a) = node { Some(a) } else { None });
        accesses.flat_map(|access| &access.checks).all(|check| is_inside(check) == Some(true))
    }

    /// Finds where each access of an iteration is and how far it goes with each, and in how many of `most` iterations it goes so; `None`
    /// where a place is outside of its container.
    fn lanes(&mut self, l: &Loop, step: i64, most: u64) -> Option<u64> {
        self.runs.clear();
        let mut rounds = most;
        for node in &l.body.nodes {
            let Node::Access(access) = node else { return None };
            let run = access.offset.run(&self.values, l.slot, step)?;
            rounds = rounds.min(run.rounds);
            self.runs.push(run);
        }
        let last = i64::try_from(rounds.checked_sub(1)?).ok()?;
        self.lanes.clear();
        for (node, run) in l.body.nodes.iter().zip(&self.runs) {
            let Node::Access(access) = node else { return None };
            let container = &self.nest.containers[access.container];
            let last = run.after(last)?;
            let elements = i64::try_from(container.elements).unwrap_or(i64::MAX);
            if run.first.min(last) < 0 || run.first.max(last) >= elements {
                return None;
            }
            let reference = self.reference(access, run.first.cast_unsigned());
            let bytes = i64::from(container.elem_bytes);
            self.lanes.push(Lane { reference, step: run.grows.wrapping_mul(bytes).cast_unsigned() });
        }
        Some(rounds)
    }

    #[inline]
    fn reference(&self, access: &Access, element: u64) -> Reference {
        let size = self.nest.containers[access.container].elem_bytes;
        Reference {
            addr: self.bases[access.container].wrapping_add(element.wrapping_mul(u64::from(size))),
            pc: if self.by_container { access.container as u64 } else { FIRST_PC + PC_STEP * access.statement as u64 },
            size,
            core: self.core,
            lane: NO_LANE,
            kind: access.kind,
        }
    }

    fn access(&mut self, access: &Access, out: &mut Vec<Reference>) -> Result<(), NestError> {
        let wrong = |e: EvalError| self.counter.wrong(e, &format!("an index, {}", self.at(access)));
        for check in &access.checks {
            let (index, extent) =
                (check.index.eval(&self.values).map_err(wrong)?, check.extent.eval(&self.values).map_err(wrong)?);
            if !(0..extent).contains(&index) {
                let name = &self.nest.containers[access.container].name;
                return Err(NestError::new(
                    &self.nest.statements[access.statement].name,
                    format!("index {index} of `{name}` in dimension {} at {}", check.dimension, self.iteration()),
                    if extent > 0 {
                        format!("0 to {}", extent - 1)
                    } else {
                        format!("indices, but the extent is {extent}")
                    },
                    "correct the index, the bounds of its loops, or the shape",
                ));
            }
        }
        let element = access.offset.eval(&self.values).map_err(wrong)?;
        let container = &self.nest.containers[access.container];
        let element = u64::try_from(element).ok().filter(|element| *element < container.elements).ok_or_else(|| {
            NestError::new(
                &self.nest.statements[access.statement].name,
                format!("element {element} of `{}` at {}", container.name, self.iteration()),
                format!("elements 0 to {} of memory", container.elements.saturating_sub(1)),
                "correct the index, the strides, or the size",
            )
        })?;
        out.push(self.reference(access, element));
        Ok(())
    }

    fn at(&self, access: &Access) -> String {
        format!("{} at {}", self.nest.statements[access.statement].name, self.iteration())
    }

    /// Indices of the loops that are under way: `i=3, j=4`.
    pub(super) fn indices(&self) -> Vec<(String, i64)> {
        let mut out = Vec::new();
        let mut tell = |slot: usize| {
            if self.values[slot] != super::expr::UNSET {
                out.push((self.nest.slots[slot].clone(), self.values[slot]));
            }
        };
        for open in &self.open {
            match open {
                Open::Loop(l, _) if l.shown => tell(l.slot),
                Open::Loop(..) => {}
                Open::Machine(machine) => machine.assigned.iter().for_each(|slot| tell(*slot)),
            }
        }
        out
    }

    /// As [`Emitter::indices`], with the bounds of the loops, where the emitter stands at access `tick`.
    pub(super) fn loops(&mut self, tick: u64) -> Vec<LoopAt> {
        let mut out = Vec::new();
        let nest = self.nest;
        for open in self.open.clone() {
            match open {
                Open::Loop(l, passed) if l.shown => {
                    let Ok((first, step, trips)) = self.counter.bounds(l, &self.values) else { continue };
                    let last = first.wrapping_add(step.wrapping_mul(trips.saturating_sub(1).cast_signed()));
                    let (name, value) = (nest.slots[l.slot].clone(), self.values[l.slot]);
                    let each = if l.even { self.counter.block(&l.body, &mut self.values).ok() } else { None };
                    let paced = each.map(|each| (tick.saturating_sub(passed), each));
                    out.push(LoopAt { name, value, ends: Some((first, last)), step, paced });
                }
                Open::Loop(..) => {}
                Open::Machine(machine) => {
                    let set = machine.assigned.iter().filter(|slot| self.values[**slot] != super::expr::UNSET);
                    out.extend(set.map(|&slot| LoopAt {
                        name: nest.slots[slot].clone(),
                        value: self.values[slot],
                        ends: None,
                        step: 1,
                        paced: None,
                    }));
                }
            }
        }
        out
    }

    fn iteration(&self) -> String {
        super::walk::indices_in_words(&self.indices())
    }
}

/// Rounds from which on references are copied in blocks, and only their addresses written one by one: a copy of many is faster than to
/// write each field of each.
const MANY: usize = 16;

/// So many rounds of references, one of each lane.
#[inline(never)]
fn put<const N: usize>(count: usize, lanes: [&mut Lane; N], out: &mut Vec<Reference>) {
    let lanes = lanes.map(|lane| *lane);
    let mut places = lanes.map(|lane| lane.reference.addr);
    if count < MANY {
        for _ in 0..count {
            for (lane, addr) in lanes.iter().zip(&mut places) {
                out.push(Reference { addr: *addr, ..lane.reference });
                *addr = addr.wrapping_add(lane.step);
            }
        }
        return;
    }
    let (start, all) = (out.len(), count * N);
    out.extend(lanes.iter().map(|lane| lane.reference));
    while out.len() < start + all {
        let there = out.len() - start;
        out.extend_from_within(start..start + there.min(all - there));
    }
    let (rounds, _) = out[start..].as_chunks_mut::<N>();
    for round in rounds {
        for ((reference, lane), addr) in round.iter_mut().zip(&lanes).zip(&mut places) {
            reference.addr = *addr;
            *addr = addr.wrapping_add(lane.step);
        }
    }
}
