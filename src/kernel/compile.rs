//! From naga's statements to those of [`super::code`].

use super::annotations::EMITTED;
use super::code::{Act, Case, Code, Compiled, ImageUse, LoadOf, Op, Root, Site, Step, Test, Value, Which, moved};
use super::error::KernelError;
use super::program::{Program, Space};
use super::types::{Leaf, leaves_of};
use naga::{
    Barrier, Block, Expression, Function, Handle, Literal, LocalVariable, Scalar, Span, Statement, SwitchValue,
    TypeInner,
};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

impl Program {
    pub(super) fn compiled(&self) -> Result<Compiled, KernelError> {
        let mut compiler = Compiler {
            program: self,
            codes: Vec::new(),
            known: BTreeMap::new(),
            sites: Vec::new(),
            untold: BTreeSet::new(),
        };
        compiler.function(Which::Entry, Vec::new(), 0)?;
        let Compiler { mut codes, sites, untold, .. } = compiler;
        let told = sites.len() - untold.len();
        let mut order: Vec<usize> = (0..sites.len()).collect();
        order.sort_by_key(|n| (untold.contains(n), sites[*n].line, *n));
        let mut place = vec![0; sites.len()];
        order.iter().enumerate().for_each(|(to, from)| place[*from] = to);
        for code in &mut codes {
            code.loads.iter_mut().flatten().for_each(|load| load.site = load.site.map(|site| place[site]));
            code.images.values_mut().for_each(|image| image.site = image.site.map(|site| place[site]));
            moved(&mut code.body, &place);
        }
        let sites = order.iter().map(|n| sites[*n].clone()).collect();
        Ok(Compiled { codes, sites, told })
    }
}

/// Blocks within blocks and calls within calls: what the machine's own stack has room for.
const DEEPEST: usize = 400;

struct Compiler<'p> {
    program: &'p Program,
    codes: Vec<Code>,
    known: BTreeMap<(Which, Vec<Option<Root>>), usize>,
    sites: Vec<Site>,
    /// Those of them whose accesses are not told.
    untold: BTreeSet<usize>,
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
        // Of some that evaluate expressions naga knows no place: they are of the statement that follows.
        let mut places: Vec<Span> = block.span_iter().map(|(_, span)| *span).collect();
        for n in (1..places.len()).rev() {
            if !places[n - 1].is_defined() {
                places[n - 1] = places[n];
            }
        }
        let mut steps = Vec::with_capacity(block.len());
        for (statement, span) in block.iter().zip(places) {
            if let Some(op) = self.statement(at, statement, span)? {
                let counts = self.program.emit_at(span).is_none();
                steps.push(Step { line: self.program.line_of(span), counts, op });
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
                if has_test(self.program.made(), span) {
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
            Statement::Store { pointer, value } if self.tells(at, *pointer) => {
                let emit = self.program.emit_at(span).ok_or_else(|| self.unsupported(span, EMITTED))?;
                Op::Told { emit, value: *value }
            }
            Statement::Store { pointer, value } => {
                let site = self.site(at, *pointer, span, Act::Write)?;
                Op::Store { pointer: *pointer, value: *value, leaves: self.pointee(at, *pointer)?, site }
            }
            Statement::Atomic { .. } if self.program.emit_at(span).is_some() => {
                return Err(KernelError::Unsupported {
                    file: self.program.file.clone(),
                    line: self.program.line_of(span),
                    what: "an atomic operation that writes, in `// @emit`,".to_owned(),
                    remedy: "emit what `atomicLoad` reads, or put the result into a variable before, and emit that",
                });
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
            Statement::Call { .. } if self.program.emit_at(span).is_some() => {
                return Err(KernelError::Unsupported {
                    file: self.program.file.clone(),
                    line: self.program.line_of(span),
                    what: "a call of a function in `// @emit`".to_owned(),
                    remedy: "put what it returns into a variable before, and emit that",
                });
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
            let words = span.to_range().and_then(|range| self.program.made().get(range)).unwrap_or_default().to_owned();
            let writes = act == Act::Write;
            let parts = vec![(0, bytes)];
            self.push(Site { line: self.program.line_of(span), act, shared, bytes, parts, writes, words }, span)
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
        let words = range.and_then(|range| self.program.made().get(range)).filter(|words| !words.is_empty());
        let words = words.unwrap_or(&self.program.shared[shared].name).to_owned();
        Ok(Some(self.push(Site { line: self.program.line_of(span), act, shared, bytes, parts, writes, words }, span)))
    }

    fn push(&mut self, site: Site, span: Span) -> usize {
        let number = self.sites.len();
        if !self.program.is_watched(site.shared) || self.program.emit_at(span).is_some() {
            self.untold.insert(number);
        }
        self.sites.push(site);
        number
    }

    /// Whether what is stored there is told.
    fn tells(&self, at: &At<'_>, pointer: Value) -> bool {
        let Some(Root::Private(handle)) = self.root(at, pointer) else { return false };
        self.program.module.global_variables[handle].name.as_deref() == Some(EMITTED)
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
