//! naga's statements, made ready to run: each with its line, each access to shared memory with its site, each `if` told from the tests
//! of loops and from what `&&` and `||` are lowered to. A function that is given pointers has a copy for each set of variables they
//! point to.

use super::error::KernelError;
use super::program::{Program, Shared, Space};
use super::types::{Leaf, leaves_of};
use naga::{
    AtomicFunction, Barrier, Block, Expression, Function, GlobalVariable, Handle, Literal, LocalVariable, Scalar, Span,
    Statement, SwitchValue, TypeInner,
};
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
    height: usize,
}

/// All that an entry reaches, ready to run.
#[derive(Debug)]
pub(super) struct Compiled {
    /// The entry is the last.
    pub(super) codes: Vec<Code>,
    /// By line, and in the order of evaluation within a line.
    pub(super) sites: Vec<Site>,
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

    pub(super) fn compiled(&self) -> Result<Compiled, KernelError> {
        let mut compiler = Compiler { program: self, codes: Vec::new(), known: BTreeMap::new(), sites: Vec::new() };
        compiler.function(Which::Entry, Vec::new(), 0)?;
        let Compiler { mut codes, sites, .. } = compiler;
        let mut order: Vec<usize> = (0..sites.len()).collect();
        order.sort_by_key(|n| (sites[*n].line, *n));
        let mut place = vec![0; sites.len()];
        order.iter().enumerate().for_each(|(to, from)| place[*from] = to);
        for code in &mut codes {
            code.loads.iter_mut().flatten().for_each(|load| load.site = load.site.map(|site| place[site]));
            code.images.values_mut().for_each(|image| image.site = image.site.map(|site| place[site]));
            moved(&mut code.body, &place);
        }
        let sites = order.iter().map(|n| sites[*n].clone()).collect();
        Ok(Compiled { codes, sites })
    }
}

impl Compiled {
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
fn moved(steps: &mut [Step], place: &[usize]) {
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

/// Blocks within blocks and calls within calls: what the machine's own stack has room for.
const DEEPEST: usize = 400;

struct Compiler<'p> {
    program: &'p Program,
    codes: Vec<Code>,
    known: BTreeMap<(Which, Vec<Option<Root>>), usize>,
    sites: Vec<Site>,
}

/// The function that is compiled.
struct At<'p> {
    which: Which,
    function: &'p Function,
    roots: Vec<Option<Root>>,
    loads: Vec<Option<LoadOf>>,
    images: BTreeMap<usize, ImageUse>,
    depth: usize,
}

impl<'p> Compiler<'p> {
    fn function(&mut self, which: Which, roots: Vec<Option<Root>>, depth: usize) -> Result<usize, KernelError> {
        let key = (which, roots);
        if let Some(code) = self.known.get(&key) {
            return Ok(*code);
        }
        self.check_depth(depth)?;
        let function = self.program.function(which);
        let mut counts = Vec::with_capacity(function.expressions.len());
        for (value, _) in function.expressions.iter() {
            counts.push(self.count(which, value)?);
        }
        let loads = vec![None; function.expressions.len()];
        let mut at = At { which, function, roots: key.1.clone(), loads, images: BTreeMap::new(), depth };
        let body = self.block(&mut at, &function.body)?;
        let height = self.height(&body);
        self.check_depth(height)?;
        self.codes.push(Code { which, body, loads: at.loads, images: at.images, counts, height });
        self.known.insert(key, self.codes.len() - 1);
        Ok(self.codes.len() - 1)
    }

    fn check_depth(&self, depth: usize) -> Result<(), KernelError> {
        if depth <= DEEPEST {
            return Ok(());
        }
        let file = &self.program.file;
        Err(KernelError::TooMuch(format!("{file}: blocks and calls are more than {DEEPEST} deep; expected fewer")))
    }

    /// How deep statements go, with the functions that they call.
    fn height(&self, steps: &[Step]) -> usize {
        let of = |step: &Step| match &step.op {
            Op::Block(body) => self.height(body),
            Op::If { accept, reject, .. } => self.height(accept).max(self.height(reject)),
            Op::Switch { cases, .. } => cases.iter().map(|case| self.height(&case.body)).max().unwrap_or(0),
            Op::Loop { body, continuing, .. } => self.height(body).max(self.height(continuing)),
            Op::Call { code, .. } => self.codes[*code].height,
            _ => 0,
        };
        1 + steps.iter().map(of).max().unwrap_or(0)
    }

    /// Scalars of a value; pointers have none.
    fn count(&self, which: Which, value: Value) -> Result<u32, KernelError> {
        let program = self.program;
        let inner = program.inner(which, value);
        if let Some((count, _)) = super::types::flat(inner) {
            return Ok(if matches!(inner, TypeInner::ValuePointer { .. }) { 0 } else { count });
        }
        let (TypeInner::Array { .. } | TypeInner::Struct { .. }) = inner else { return Ok(0) };
        let handle = program.module.types.iter().find(|(_, ty)| ty.inner == *inner);
        let leaves = handle.map(|(handle, _)| program.types.leaves(&program.module, handle)).transpose()?;
        Ok(leaves.map_or(0, |leaves| u32::try_from(leaves.len()).unwrap_or(0)))
    }

    fn unsupported(&self, span: Span, what: &str) -> KernelError {
        KernelError::Unsupported {
            file: self.program.file.clone(),
            line: self.program.line_of(span),
            what: what.to_owned(),
            remedy: "take it out of the kernel, or put memory in its place",
        }
    }

    fn block(&mut self, at: &mut At<'p>, block: &'p Block) -> Result<Vec<Step>, KernelError> {
        at.depth += 1;
        self.check_depth(at.depth)?;
        let mut steps = Vec::with_capacity(block.len());
        for (statement, span) in block.span_iter() {
            let op = self.statement(at, statement, *span)?;
            if let Some(op) = op {
                steps.push(Step { line: self.program.line_of(*span), op });
            }
        }
        at.depth -= 1;
        Ok(steps)
    }

    fn statement(&mut self, at: &mut At<'p>, statement: &'p Statement, span: Span) -> Result<Option<Op>, KernelError> {
        Ok(Some(match statement {
            Statement::Emit(range) => {
                let values: Vec<Value> = range.clone().collect();
                for value in &values {
                    self.emitted(at, *value)?;
                }
                Op::Emit(values)
            }
            Statement::Block(block) => Op::Block(self.block(at, block)?),
            Statement::If { condition, accept, reject } => {
                let test = if is_short_circuit(at.function, reject) { Test::ShortCircuit } else { Test::If };
                let (accept, reject) = (self.block(at, accept)?, self.block(at, reject)?);
                Op::If { condition: *condition, test, accept, reject }
            }
            Statement::Switch { selector, cases } => {
                let mut out = Vec::new();
                for case in cases {
                    let value = match case.value {
                        SwitchValue::I32(value) => Some(value.cast_unsigned()),
                        SwitchValue::U32(value) => Some(value),
                        SwitchValue::Default => None,
                    };
                    out.push(Case { value, body: self.block(at, &case.body)?, fall_through: case.fall_through });
                }
                Op::Switch { selector: *selector, cases: out }
            }
            Statement::Loop { body, continuing, break_if } => {
                let mut steps = self.block(at, body)?;
                if has_test(&self.program.text, span) {
                    // The test stands before the body that was written, which is a block of its own.
                    let tests = steps.iter_mut().take_while(|step| !matches!(step.op, Op::Block(_)));
                    let test = tests.filter_map(|step| match &mut step.op {
                        Op::If { test: test @ Test::If, accept, reject, .. } if accept.is_empty() => {
                            matches!(reject.as_slice(), [Step { op: Op::Break, .. }]).then_some(test)
                        }
                        _ => None,
                    });
                    if let Some(test) = test.last() {
                        *test = Test::Loop;
                    }
                }
                let continuing = self.block(at, continuing)?;
                Op::Loop { body: steps, continuing, break_if: *break_if }
            }
            Statement::Break => Op::Break,
            Statement::Continue => Op::Continue,
            Statement::Return { value } => Op::Return(*value),
            Statement::ControlBarrier(kinds) if kinds.contains(Barrier::SUB_GROUP) => {
                return Err(self.unsupported(span, "a barrier of subgroups"));
            }
            Statement::ControlBarrier(kinds) => Op::Barrier(*kinds),
            Statement::MemoryBarrier(_) => return Ok(None),
            Statement::Store { pointer, value } => {
                let site = self.site(at, *pointer, span, Act::Write)?;
                Op::Store { pointer: *pointer, value: *value, leaves: self.pointee(at, *pointer)?, site }
            }
            Statement::Atomic { pointer, fun, value, result } => {
                let site = self.site(at, *pointer, span, Act::Atomic)?;
                let leaves = self.pointee(at, *pointer)?;
                let scalar = leaves.first().map_or(Scalar::U32, |leaf| leaf.scalar);
                Op::Atomic { pointer: *pointer, fun: *fun, value: *value, result: *result, scalar, site }
            }
            Statement::WorkGroupUniformLoad { pointer, result } => {
                let site = self.site(at, *pointer, span, Act::Read)?;
                Op::UniformLoad { pointer: *pointer, result: *result, leaves: self.pointee(at, *pointer)?, site }
            }
            Statement::Call { function, arguments, result } => {
                let roots = arguments.iter().map(|argument| self.root(at, *argument)).collect();
                let code = self.function(Which::Function(*function), roots, at.depth + 1)?;
                Op::Call { code, arguments: arguments.clone(), result: *result }
            }
            Statement::Kill => return Err(self.unsupported(span, "discard")),
            Statement::ImageStore { image, coordinate, array_index, value } => {
                let image = self.image(at, *image, None, span, Some(Act::Write))?;
                Op::Texel { coordinate: *coordinate, layer: *array_index, value: *value, image }
            }
            Statement::ImageAtomic { .. } => {
                return Err(self.unsupported(span, "an atomic operation on a texture"));
            }
            Statement::SubgroupBallot { .. }
            | Statement::SubgroupGather { .. }
            | Statement::SubgroupCollectiveOperation { .. } => {
                return Err(self.unsupported(span, "an operation of subgroups"));
            }
            _ => return Err(self.unsupported(span, "an operation of ray tracing or matrices of cooperating items")),
        }))
    }

    /// Looks at an expression where it is evaluated.
    fn emitted(&mut self, at: &mut At<'p>, value: Value) -> Result<(), KernelError> {
        let span = at.function.expressions.get_span(value);
        match &at.function.expressions[value] {
            Expression::Load { pointer } => {
                let site = self.site(at, *pointer, span, Act::Read)?;
                let leaves = self.pointee(at, *pointer)?;
                at.loads[value.index()] = Some(LoadOf { leaves, site });
                Ok(())
            }
            Expression::ImageSample { depth_ref: Some(_), .. } => Err(self.unsupported(span, "a comparison of depths")),
            Expression::ImageSample { image, sampler, .. } => {
                let read = self.image(at, *image, Some(*sampler), span, Some(Act::Read))?;
                at.images.insert(value.index(), read);
                Ok(())
            }
            Expression::ImageLoad { image, .. } => {
                let read = self.image(at, *image, None, span, Some(Act::Read))?;
                at.images.insert(value.index(), read);
                Ok(())
            }
            Expression::ImageQuery { image, .. } => {
                let asked = self.image(at, *image, None, span, None)?;
                at.images.insert(value.index(), asked);
                Ok(())
            }
            Expression::Derivative { .. } => Err(self.unsupported(span, "a derivative")),
            Expression::RayQueryVertexPositions { .. }
            | Expression::RayQueryGetIntersection { .. }
            | Expression::CooperativeLoad { .. }
            | Expression::CooperativeMultiplyAdd { .. } => {
                Err(self.unsupported(span, "an operation of ray tracing or matrices of cooperating items"))
            }
            _ => Ok(()),
        }
    }

    fn root(&self, at: &At<'_>, value: Value) -> Option<Root> {
        match at.function.expressions[value] {
            Expression::Access { base, .. } | Expression::AccessIndex { base, .. } => self.root(at, base),
            Expression::LocalVariable(_) => Some(Root::Local),
            Expression::FunctionArgument(n) => at.roots.get(n as usize).copied().flatten(),
            Expression::GlobalVariable(handle) => {
                let shared = self.program.shared.iter().position(|shared| shared.handle == handle).map(Root::Shared);
                let sampler = || self.program.samplers.iter().position(|sampler| sampler.handle == handle);
                Some(shared.or_else(|| sampler().map(Root::Sampler)).unwrap_or(Root::Private(handle)))
            }
            _ => None,
        }
    }

    /// Notes what is done with a texture. `act` is what its texels are accessed for.
    fn image(
        &mut self,
        at: &At<'_>,
        image: Value,
        sampler: Option<Value>,
        span: Span,
        act: Option<Act>,
    ) -> Result<ImageUse, KernelError> {
        let Some(Root::Shared(shared)) = self.root(at, image) else {
            return Err(self.unsupported(span, "a texture that is chosen while the kernel runs"));
        };
        let sampler = match sampler.map(|sampler| self.root(at, sampler)) {
            None => None,
            Some(Some(Root::Sampler(sampler))) => Some(sampler),
            Some(_) => return Err(self.unsupported(span, "a sampler that is chosen while the kernel runs")),
        };
        let texture = self.program.shared[shared].texture;
        let bytes = texture.map_or(0, |texture| texture.format.bytes());
        let site = act.map(|act| {
            let words = span.to_range().and_then(|range| self.program.text.get(range)).unwrap_or_default().to_owned();
            let writes = act == Act::Write;
            let parts = vec![(0, bytes)];
            self.sites.push(Site { line: self.program.line_of(span), act, shared, bytes, parts, writes, words });
            self.sites.len() - 1
        });
        Ok(ImageUse { shared, site, sampler })
    }

    /// Notes an access of a shared variable.
    fn site(&mut self, at: &At<'_>, pointer: Value, span: Span, act: Act) -> Result<Option<usize>, KernelError> {
        let Some(Root::Shared(shared)) = self.root(at, pointer) else { return Ok(None) };
        let mut act = act;
        let mut writes = act != Act::Read;
        if let TypeInner::Pointer { base, .. } = *self.program.inner(at.which, pointer)
            && let TypeInner::Atomic(_) = self.program.module.types[base].inner
        {
            act = Act::Atomic;
        }
        if self.program.shared[shared].space == Space::Uniform {
            writes = false;
        }
        let parts = parts_of(&self.pointee(at, pointer)?);
        let bytes = parts.iter().map(|(_, bytes)| bytes).sum();
        let range = at.function.expressions.get_span(pointer).to_range();
        let words = range.and_then(|range| self.program.text.get(range)).filter(|words| !words.is_empty());
        let words = words.unwrap_or(&self.program.shared[shared].name).to_owned();
        self.sites.push(Site { line: self.program.line_of(span), act, shared, bytes, parts, writes, words });
        Ok(Some(self.sites.len() - 1))
    }

    /// The scalars behind a pointer.
    fn pointee(&self, at: &At<'_>, pointer: Value) -> Result<Rc<[Leaf]>, KernelError> {
        match self.program.inner(at.which, pointer) {
            TypeInner::Pointer { base, .. } => self.program.types.leaves(&self.program.module, *base),
            inner => Ok(leaves_of(inner).into()),
        }
    }
}

/// Where bytes of scalars lie, those beside each other as one.
fn parts_of(leaves: &[Leaf]) -> Vec<(u32, u32)> {
    let mut out: Vec<(u32, u32)> = Vec::new();
    for leaf in leaves {
        let width = u32::from(leaf.scalar.width);
        match out.last_mut().filter(|(from, bytes)| from + bytes == leaf.offset) {
            Some((_, bytes)) => *bytes += width,
            None => out.push((leaf.offset, width)),
        }
    }
    if out.is_empty() { vec![(0, 0)] } else { out }
}

/// Whether this `if` is what `&&` or `||` is lowered to: the other side stores a constant to a variable that nobody named.
fn is_short_circuit(function: &Function, reject: &Block) -> bool {
    let Some(Statement::Store { pointer, value }) = reject.first() else { return false };
    let constant = matches!(function.expressions[*value], Expression::Literal(Literal::Bool(_)));
    let unnamed = |variable: Handle<LocalVariable>| function.local_variables[variable].name.is_none();
    let nameless = matches!(function.expressions[*pointer], Expression::LocalVariable(variable) if unnamed(variable));
    reject.len() == 1 && constant && nameless
}

/// Whether a loop was written as `for` or `while`: these test before their body.
fn has_test(text: &str, span: Span) -> bool {
    let mut rest = span.to_range().and_then(|range| text.get(range)).unwrap_or("");
    // Attributes stand before the word: @diagnostic(off, derivative_uniformity) for ...
    while rest.starts_with('@') {
        let Some(end) = rest.find(')') else { break };
        rest = rest[end + 1..].trim_start();
    }
    ["for", "while"].iter().any(|word| {
        rest.strip_prefix(word).is_some_and(|after| !after.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    })
}

/// The name of a site's variable.
#[must_use]
pub fn name_of<'s>(shared: &'s [Shared], site: &Site) -> &'s str {
    shared.get(site.shared).map_or("", |shared| shared.name.as_str())
}
