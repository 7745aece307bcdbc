//! What is kept of a running program's references, and the names that they get on the way.

use super::calls::{Calls, Frame};
use crate::capture::naming::{self, Touched};
use crate::reference::{Kind, Reference, Region, SourceLocation};
use crate::symbols::{Module, StackVariable};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Calls of one function whose arrays are named. In a function called more often they are not: a region a call would flood
/// every list, and between calls others use the same bytes.
const MOST_CALLS: u32 = 8;

/// Functions that a notice names.
const MOST_NAMES: usize = 5;

/// Where recording begins, in addresses as linked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// With the first instruction of all.
    AtOnce,
    /// While this function runs.
    Function {
        /// Its name.
        name: String,
        /// Its first instruction.
        address: u64,
    },
    /// From this instruction on: the program's first.
    Entry(u64),
}

/// A function of the program whose first instruction was fetched.
struct Known {
    arrays: Rc<[StackVariable]>,
    name: String,
    calls: u32,
}

/// Keeps and names references.
pub(super) struct Recorder {
    module: Option<Module>,
    start: Start,
    data_only: bool,
    /// How far above its linked addresses the program stands, once known.
    bias: Option<u64>,
    calls: Calls,
    functions: BTreeMap<u64, Known>,
    /// Frames of the start function that are open, or 1 for good once an entry point was passed.
    inside: u64,
    read: u64,
    kept: u64,
    pcs: BTreeSet<u64>,
    touched: Option<Touched>,
    /// By frame number: regions of that frame.
    frames: BTreeMap<usize, Vec<usize>>,
    next_frame: usize,
    /// Arrays on the stack; the end is open at first.
    stack: Vec<OnStack>,
    /// Those of open frames, and the bytes that they lie within.
    open: Vec<usize>,
    within: (u64, u64),
}

/// An array in the frame of one call.
struct OnStack {
    /// Its function's first instruction.
    function: u64,
    region: Region,
    touched: bool,
}

/// What a recording came to.
pub(super) struct Named {
    pub(super) regions: Vec<Region>,
    pub(super) locations: Vec<SourceLocation>,
    pub(super) notices: Vec<String>,
}

impl Recorder {
    pub(super) fn new(module: Option<Module>, start: Start, data_only: bool) -> Self {
        let inside = u64::from(start == Start::AtOnce);
        let mut recorder = Self {
            module,
            start,
            data_only,
            bias: None,
            calls: Calls::default(),
            functions: BTreeMap::new(),
            inside,
            read: 0,
            kept: 0,
            pcs: BTreeSet::new(),
            touched: None,
            frames: BTreeMap::new(),
            next_frame: 0,
            stack: Vec::new(),
            open: Vec::new(),
            within: (u64::MAX, 0),
        };
        if recorder.module.as_ref().is_some_and(|m| !m.is_relocatable()) {
            recorder.loaded_at(0);
        }
        recorder
    }

    fn loaded_at(&mut self, bias: u64) {
        self.bias = Some(bias);
        self.touched = self.module.as_ref().map(|m| Touched::new(m.variables(), bias));
    }

    /// References seen and kept.
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.read, self.kept)
    }

    /// Drops from `references`, the next of the stream, what is not kept.
    pub(super) fn take(&mut self, references: &mut Vec<Reference>) {
        self.read += references.len() as u64;
        references.retain(|r| self.keep(r));
        if let Some(touched) = &mut self.touched {
            touched.note(references);
        }
        let mut last = 0;
        for r in references.iter().filter(|r| r.kind != Kind::Fetch && r.pc != 0) {
            if r.pc != last {
                last = r.pc;
                self.pcs.insert(r.pc);
            }
        }
    }

    fn keep(&mut self, r: &Reference) -> bool {
        if self.module.is_some() {
            self.follow(r);
        }
        let kept = self.inside > 0 && !(self.data_only && r.kind == Kind::Fetch);
        self.kept += u64::from(kept);
        if kept && r.kind != Kind::Fetch && self.within.0 <= r.addr && r.addr < self.within.1 {
            for &n in &self.open {
                let array = &mut self.stack[n];
                array.touched |= array.region.base <= r.addr && r.addr < array.region.end();
            }
        }
        kept
    }

    /// The bytes that open arrays lie within; nothing where there is none.
    fn bound(&mut self) {
        let spans = self.open.iter().map(|&n| (self.stack[n].region.base, self.stack[n].region.end()));
        self.within = spans.fold((u64::MAX, 0), |all, span| (all.0.min(span.0), all.1.max(span.1)));
    }

    fn follow(&mut self, r: &Reference) {
        let mut left = Vec::new();
        let call = self.calls.step(r, |frame| left.push(frame));
        left.into_iter().for_each(|frame| self.leave(frame));
        if r.kind != Kind::Fetch {
            return;
        }
        let Some(bias) = self.bias else { return self.find_bias(r.addr) };
        match self.start {
            Start::Entry(at) if at.wrapping_add(bias) == r.addr => self.inside = 1,
            Start::Function { address, .. } if address.wrapping_add(bias) == r.addr && call.is_none() => {
                // Reached by a jump, first in the function's own loop or last in another: where it ends is not to be seen.
                self.inside = self.inside.max(1);
            }
            _ => {}
        }
        if let Some(call) = call {
            self.enter(r.addr, bias, call);
        }
    }

    /// A position-independent program stands where its first instruction is fetched.
    fn find_bias(&mut self, fetched: u64) {
        let Some(entry) = self.module.as_ref().map(Module::entry) else { return };
        if let Some(bias) = naming::USUAL.into_iter().find(|bias| entry.wrapping_add(*bias) == fetched) {
            self.loaded_at(bias);
            if matches!(self.start, Start::Entry(_)) {
                self.inside = 1;
            }
        }
    }

    fn enter(&mut self, function: u64, bias: u64, call: (u64, u64)) {
        let starts = matches!(self.start, Start::Function { address, .. } if address.wrapping_add(bias) == function);
        let known = match (self.functions.get_mut(&function), &self.module) {
            (Some(known), _) => known,
            (None, Some(module)) => {
                let linked = function.wrapping_sub(bias);
                if module.function_at(linked).is_none_or(|f| f.0 != linked) {
                    return;
                }
                // Structures alone are too small and too many to be worth a name each.
                let arrays = module.stack_arrays(linked).into_iter().filter(|v| !v.shape.is_empty()).collect();
                let name = module.function(linked).unwrap_or_default();
                self.functions.entry(function).or_insert(Known { arrays, name, calls: 0 })
            }
            (None, None) => return,
        };
        if !starts && (known.arrays.is_empty() || known.calls > MOST_CALLS) {
            return;
        }
        known.calls = known.calls.saturating_add(1);
        let arrays = if known.calls > MOST_CALLS { Rc::new([]) } else { Rc::clone(&known.arrays) };
        self.inside += u64::from(starts);
        let number = self.next_frame;
        self.next_frame += 1;
        let mut left = Vec::new();
        self.calls.enter(function, call, number, |frame| left.push(frame));
        left.into_iter().for_each(|frame| self.leave(frame));
        if self.inside == 0 {
            return;
        }
        let mut regions = Vec::new();
        for v in arrays.iter() {
            let Some(base) = call.0.checked_add_signed(v.offset) else { continue };
            regions.push(self.stack.len());
            let region = Region {
                elem_bytes: v.elem_bytes,
                elem_type: v.elem_type.clone().into(),
                shape: v.shape.clone().into(),
                row_major: v.row_major,
                lifetime: Some((self.kept, u64::MAX)),
                ..Region::new(v.name.clone(), base, v.bytes)
            };
            self.stack.push(OnStack { function, region, touched: false });
        }
        if !regions.is_empty() {
            self.open.extend(&regions);
            self.frames.insert(number, regions);
            self.bound();
        }
    }

    fn leave(&mut self, frame: Frame) {
        if let Some(regions) = self.frames.remove(&frame.number) {
            for &n in &regions {
                let region = &mut self.stack[n].region;
                region.lifetime = region.lifetime.map(|(from, _)| (from, self.kept));
            }
            self.open.retain(|n| !regions.contains(n));
            self.bound();
        }
        let bias = self.bias.unwrap_or(0);
        if matches!(self.start, Start::Function { address, .. } if address.wrapping_add(bias) == frame.function) {
            self.inside = self.inside.saturating_sub(1);
        }
    }

    /// The regions that were touched so far, while the program runs.
    pub(super) fn regions(&self) -> Vec<Region> {
        let mut regions = self.touched.as_ref().map_or_else(Vec::new, Touched::regions);
        let often = |function: &u64| self.functions.get(function).is_some_and(|known| known.calls > MOST_CALLS);
        let stack = self.stack.iter().filter(|array| array.touched && !often(&array.function));
        regions.extend(stack.map(|array| array.region.clone()).filter(|r| r.lifetime.is_none_or(|(a, b)| a < b)));
        regions
    }

    /// The names of what was kept, where `kept` references of it were written.
    pub(super) fn finish(mut self, kept: u64) -> Named {
        self.kept = self.kept.min(kept);
        let open: Vec<Frame> = self.calls.open().to_vec();
        open.into_iter().for_each(|frame| self.leave(frame));
        let mut notices = Vec::new();
        let often: BTreeMap<u64, &str> =
            self.functions.iter().filter(|(_, k)| k.calls > MOST_CALLS).map(|(f, k)| (*f, k.name.as_str())).collect();
        let missed: BTreeSet<&str> =
            self.stack.iter().filter(|a| a.touched).filter_map(|a| often.get(&a.function).copied()).collect();
        if !missed.is_empty() {
            let names: Vec<&str> = missed.iter().copied().take(MOST_NAMES).collect();
            let more = if missed.len() > MOST_NAMES { ", ..." } else { "" };
            notices.push(format!(
                "the arrays on the stack of functions called more than {MOST_CALLS} times are not named, as others use their \
                 place between calls: {}{more}",
                names.join(", ")
            ));
        }
        let mut regions = self.touched.as_ref().map_or_else(Vec::new, Touched::regions);
        for OnStack { function, mut region, touched } in self.stack {
            region.lifetime = region.lifetime.map(|(from, to)| (from, to.min(kept)));
            let empty = region.lifetime.is_some_and(|(from, to)| from >= to);
            if !touched || empty || often.contains_key(&function) {
                continue;
            }
            if region.lifetime == Some((0, self.kept)) {
                region.lifetime = None;
            }
            regions.push(region);
        }
        let located = |(module, bias): (&Module, u64)| naming::locate(module, bias, &self.pcs);
        let locations = self.module.as_ref().zip(self.bias).map_or_else(Vec::new, located);
        Named { regions, locations, notices }
    }

    /// Whether it is known where the program was loaded.
    pub(super) fn is_placed(&self) -> bool {
        self.bias.is_some() || self.module.is_none()
    }
}
