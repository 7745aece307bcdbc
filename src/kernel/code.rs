//! naga's statements, made ready to run: each with its line, each access to shared memory with its site, each `if` told from the tests
//! of loops and from what `&&` and `||` are lowered to. A function that is given pointers has a copy for each set of variables they
//! point to.

use super::program::{Program, Shared};
use super::types::Leaf;
use naga::{AtomicFunction, Barrier, Expression, Function, GlobalVariable, Handle, Scalar, TypeInner};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

/// An expression of the function at hand.
pub(super) type Value = Handle<Expression>;

/// What an access does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Act {
    /// It loads.
    Read,
    /// It stores.
    Write,
    /// It is an atomic operation, `atomicLoad` and `atomicStore` among them.
    Atomic,
}

impl Act {
    /// Its name in data.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Atomic => "atomic",
        }
    }
}

/// A place in the source that accesses a shared variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// Line, the first being 1.
    pub line: u32,
    /// What it does.
    pub act: Act,
    /// Which of [`Program::shared`].
    pub shared: usize,
    /// Bytes of an access, without those between members that nothing is in.
    pub bytes: u32,
    /// Where these lie: from so many bytes after the address on, so many. More than one where bytes between members are left out.
    pub parts: Vec<(u32, u32)>,
    /// Whether it writes, too: all that an atomic does but `atomicLoad`.
    pub writes: bool,
    /// What it accesses, as the source has it: `sdata[index + s]`.
    pub words: String,
}

impl Site {
    /// The bytes that an access at this address is of.
    pub fn ranges(&self, address: u32) -> impl Iterator<Item = Range<u64>> {
        let at = u64::from(address);
        self.parts.iter().map(move |(from, bytes)| {
            let start = at + u64::from(*from);
            start..start + u64::from((*bytes).max(1))
        })
    }

    /// The words of so many bytes that an access at this address wants.
    pub(super) fn words(&self, address: u32, width: u32) -> impl Iterator<Item = u64> {
        let width = u64::from(width);
        self.ranges(address).flat_map(move |bytes| bytes.start / width..bytes.end.div_ceil(width))
    }
}

/// What a condition belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Test {
    /// An `if` of the source.
    If,
    /// The test of a `for` or `while`.
    Loop,
    /// What `&&` or `||` is lowered to: no branch of its own.
    ShortCircuit,
}

#[derive(Debug)]
pub(super) struct Step {
    pub(super) line: u32,
    /// Whether it is a part of the kernel. What only tells a value is none.
    pub(super) counts: bool,
    pub(super) op: Op,
}

#[derive(Debug)]
pub(super) enum Op {
    Emit(Vec<Value>),
    Block(Vec<Step>),
    If {
        condition: Value,
        test: Test,
        accept: Vec<Step>,
        reject: Vec<Step>,
    },
    Switch {
        selector: Value,
        cases: Vec<Case>,
    },
    Loop {
        body: Vec<Step>,
        continuing: Vec<Step>,
        break_if: Option<Value>,
    },
    Break,
    Continue,
    Return(Option<Value>),
    Barrier(Barrier),
    Store {
        pointer: Value,
        value: Value,
        leaves: Rc<[Leaf]>,
        site: Option<usize>,
    },
    Atomic {
        pointer: Value,
        fun: AtomicFunction,
        value: Value,
        result: Option<Value>,
        scalar: Scalar,
        site: Option<usize>,
    },
    UniformLoad {
        pointer: Value,
        result: Value,
        leaves: Rc<[Leaf]>,
        site: Option<usize>,
    },
    /// A texel is written.
    Texel {
        coordinate: Value,
        layer: Option<Value>,
        value: Value,
        image: ImageUse,
    },
    /// A value is told: which of the emits.
    Told {
        emit: usize,
        value: Value,
    },
    Call {
        code: usize,
        arguments: Vec<Value>,
        result: Option<Value>,
    },
}

#[derive(Debug)]
pub(super) struct Case {
    /// The value; nothing for `default`.
    pub(super) value: Option<u32>,
    pub(super) body: Vec<Step>,
    pub(super) fall_through: bool,
}

/// How an expression that loads does so.
#[derive(Debug, Clone)]
pub(super) struct LoadOf {
    pub(super) leaves: Rc<[Leaf]>,
    pub(super) site: Option<usize>,
}

/// The texture that is read, written or asked for its size.
#[derive(Debug, Clone, Copy)]
pub(super) struct ImageUse {
    /// Which of [`Program::shared`].
    pub(super) shared: usize,
    /// Nothing where it is but asked for its size.
    pub(super) site: Option<usize>,
    /// Which of [`Program::samplers`] reads it.
    pub(super) sampler: Option<usize>,
}

/// What a pointer points into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Root {
    /// A shared variable, by its place in [`Program::shared`].
    Shared(usize),
    /// A sampler, by its place in [`Program::samplers`].
    Sampler(usize),
    /// A variable of private memory.
    Private(Handle<GlobalVariable>),
    /// A variable of a function: of the function at hand, or of one that called it.
    Local,
}

/// Which function: an entry, or one of the module's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Which {
    Entry,
    Function(Handle<Function>),
}

/// A function, ready to run.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) which: Which,
    pub(super) body: Vec<Step>,
    pub(super) loads: Vec<Option<LoadOf>>,
    /// Of expressions that are of a texture.
    pub(super) images: BTreeMap<usize, ImageUse>,
    /// Scalars of each expression's value.
    pub(super) counts: Vec<u32>,
    /// Blocks within blocks and calls within calls, at most.
    pub(super) height: usize,
}

/// All that an entry reaches, ready to run.
#[derive(Debug)]
pub(super) struct Compiled {
    /// The entry is the last.
    pub(super) codes: Vec<Code>,
    /// By line, and in the order of evaluation within a line; those that are not told come last.
    pub(super) sites: Vec<Site>,
    /// How many are told.
    pub(super) told: usize,
}

impl Program {
    pub(super) fn function(&self, which: Which) -> &Function {
        match which {
            Which::Entry => &self.module.entry_points[self.entry_index].function,
            Which::Function(handle) => &self.module.functions[handle],
        }
    }

    pub(super) fn inner(&self, which: Which, value: Value) -> &TypeInner {
        let info = match which {
            Which::Entry => self.info.get_entry_point(self.entry_index),
            Which::Function(handle) => &self.info[handle],
        };
        info[value].ty.inner_with(&self.module.types)
    }
}

impl Compiled {
    /// The sites whose accesses are told.
    pub(super) fn told_sites(&self) -> &[Site] {
        &self.sites[..self.told]
    }

    /// Whether accesses of a site are told.
    pub(super) fn is_told(&self, site: usize) -> bool {
        site < self.told
    }

    /// Lines of the source with a statement that can be carried out.
    pub(super) fn lines(&self) -> BTreeSet<u32> {
        let mut lines = BTreeSet::new();
        self.codes.iter().for_each(|code| gather(&code.body, &mut lines));
        lines
    }
}

/// The lines of these statements. The return that ends a function without a word of it has none.
fn gather(steps: &[Step], lines: &mut BTreeSet<u32>) {
    for step in steps {
        match &step.op {
            _ if !step.counts => {}
            Op::Block(body) => gather(body, lines),
            // What naga adds by itself stands nowhere, so in the first line.
            Op::Return(None) | Op::Break | Op::Continue if step.line <= 1 => {}
            op => {
                lines.insert(step.line);
                match op {
                    Op::If { accept, reject, .. } => [accept, reject].into_iter().for_each(|to| gather(to, lines)),
                    Op::Switch { cases, .. } => cases.iter().for_each(|case| gather(&case.body, lines)),
                    Op::Loop { body, continuing, .. } => {
                        [body, continuing].into_iter().for_each(|to| gather(to, lines))
                    }
                    _ => {}
                }
            }
        }
    }
}

/// Gives sites their final numbers.
pub(super) fn moved(steps: &mut [Step], place: &[usize]) {
    for step in steps {
        match &mut step.op {
            Op::Store { site, .. }
            | Op::Atomic { site, .. }
            | Op::UniformLoad { site, .. }
            | Op::Texel { image: ImageUse { site, .. }, .. } => {
                *site = site.map(|site| place[site]);
            }
            Op::Block(body) => moved(body, place),
            Op::If { accept, reject, .. } => [accept, reject].into_iter().for_each(|block| moved(block, place)),
            Op::Switch { cases, .. } => cases.iter_mut().for_each(|case| moved(&mut case.body, place)),
            Op::Loop { body, continuing, .. } => [body, continuing].into_iter().for_each(|block| moved(block, place)),
            _ => {}
        }
    }
}

/// The name of a site's variable.
#[must_use]
pub fn name_of<'s>(shared: &'s [Shared], site: &Site) -> &'s str {
    shared.get(site.shared).map_or("", |shared| shared.name.as_str())
}
