//! A machine that runs naga's statements for all items of a group at once, as hardware does for a warp: each statement for those
//! items that are at it. Where a condition parts them, first those run for which it holds, then the others; where the `if` or loop
//! ends they are together again. Nothing depends on time or threads: the same kernel does the same each time.

mod eval;
mod feed;
mod groups;
mod images;
mod math;
mod memory;
mod scalar;
mod statements;

pub(super) use feed::{Feed, Tag, VALUE};
pub(super) use memory::{Grows, MOST_GROWN, Memory};
pub(super) use scalar::{from_half, low};

use super::code::{Compiled, Which};
use super::error::KernelError;
use super::mask::Mask;
use super::program::Program;
use super::record::{LoneBarrier, Observer, Outside, Phases};
use super::run::Cancel;
use super::texel::Sampling;
use std::collections::BTreeMap;

/// Where a pointer points into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Shared(usize),
    /// By index of the global variable.
    Private(usize),
    /// Of the frame at that depth, by index of the variable.
    Local(usize, usize),
}

/// A pointer of each item, all into one variable.
#[derive(Debug, Clone)]
struct Pointer {
    place: Place,
    /// Bytes from the start of the variable, by item.
    offsets: Vec<u32>,
    /// Items whose index was past the end: the first of them with its index, and the elements there are.
    past: Mask,
    first_past: Option<(usize, u32, u32)>,
}

/// A function that is being carried out.
#[derive(Debug, Default)]
struct Frame {
    code: usize,
    /// Values of expressions: scalar by scalar, each for all items.
    values: Vec<Vec<u64>>,
    pointers: Vec<Option<Pointer>>,
    /// Variables: item by item.
    locals: Vec<Vec<u8>>,
    returned: Vec<u64>,
}

/// How the machine is set up.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Statements that a group may carry out.
    pub steps: u64,
    /// Ends it from elsewhere.
    pub cancel: Cancel,
}

/// The launch, and its groups one after the other.
pub(super) struct Machine<'p, O> {
    program: &'p Program,
    compiled: &'p Compiled,
    observer: O,
    /// Items of a group.
    items: usize,
    groups: [u32; 3],
    at: [u32; 3],
    group: u64,
    shared: Vec<Memory>,
    /// How samplers read, by their place in [`Program::samplers`].
    samplings: &'p [Sampling],
    private: BTreeMap<usize, (u32, Vec<u8>)>,
    frames: Vec<Frame>,
    /// Frames to be used again, by code.
    spare: Vec<Vec<Frame>>,
    phases: Phases,
    steps: u64,
    limits: Limits,
    line: u32,
    /// Lines of the conditions that parted the items, outermost first.
    parted: Vec<u32>,
    /// Where items returned, in this group.
    left_at: Option<u32>,
    lone: BTreeMap<(u32, u32), LoneBarrier>,
    outside: BTreeMap<(u32, String), Outside>,
    /// What an adapter wrote of the group at hand, where that is replayed in place of values.
    feed: Option<Feed>,
    /// Events so far: accesses, decisions and barriers, each of an item.
    events: u64,
}

/// What a run leaves.
#[derive(Debug)]
pub(super) struct Ran<O> {
    pub(super) observer: O,
    pub(super) shared: Vec<Memory>,
    pub(super) lone: Vec<LoneBarrier>,
    pub(super) outside: Vec<Outside>,
    pub(super) events: u64,
}

impl<'p, O: Observer> Machine<'p, O> {
    pub(super) fn new(
        program: &'p Program,
        compiled: &'p Compiled,
        groups: [u32; 3],
        (shared, samplings): (Vec<Memory>, &'p [Sampling]),
        limits: Limits,
        observer: O,
    ) -> Self {
        let items = program.group_items();
        Self {
            program,
            compiled,
            observer,
            items,
            groups,
            at: [0; 3],
            group: 0,
            shared,
            samplings,
            private: BTreeMap::new(),
            frames: Vec::new(),
            spare: compiled.codes.iter().map(|_| Vec::new()).collect(),
            phases: Phases::default(),
            steps: 0,
            limits,
            line: program.entry_line(),
            parted: Vec::new(),
            left_at: None,
            lone: BTreeMap::new(),
            outside: BTreeMap::new(),
            feed: None,
            events: 0,
        }
    }

    fn which(&self) -> Which {
        self.frames.last().map_or(Which::Entry, |frame| self.compiled.codes[frame.code].which)
    }

    fn fault(&self, what: &str) -> KernelError {
        KernelError::Unsupported {
            file: self.program.file.clone(),
            line: self.line,
            what: what.to_owned(),
            remedy: "write it in another way",
        }
    }

    pub(super) fn events(&self) -> u64 {
        self.events
    }

    pub(super) fn done(self) -> Ran<O> {
        Ran {
            observer: self.observer,
            shared: self.shared,
            lone: self.lone.into_values().collect(),
            outside: self.outside.into_values().collect(),
            events: self.events,
        }
    }
}

/// Bits of the nearest `f16`.
pub(super) fn half(value: f32) -> u64 {
    scalar::to_half(value)
}

/// A scalar as a number.
#[expect(clippy::cast_precision_loss, reason = "to be shown")]
pub(super) fn number(value: u64, of: naga::Scalar) -> f64 {
    match of.kind {
        naga::ScalarKind::Float => scalar::as_f64(value, of),
        _ => scalar::as_i128(value, of) as f64,
    }
}
