//! A function of the kernel with the statements that write events.

use super::super::code::{Code, Op, Step, Value};
use super::super::error::KernelError;
use super::super::machine::Tag;
use super::super::program::Program;
use super::super::types::{column_stride, elements};
use super::prelude::Prelude;
use naga::{
    AddressSpace, BinaryOperator, Block, Expression, Function, Handle, Literal, MathFunction, Range, ScalarKind, Span,
    Statement, Type, TypeInner,
};
use std::collections::BTreeMap;

/// Adds expressions and statements to a function.
pub(super) struct Writer<'f> {
    pub(super) expressions: &'f mut naga::Arena<Expression>,
    pub(super) block: Block,
}

impl Writer<'_> {
    pub(super) fn literal(&mut self, number: u32) -> Value {
        self.expressions.append(Expression::Literal(Literal::U32(number)), Span::UNDEFINED)
    }

    /// An expression that is evaluated here.
    pub(super) fn value(&mut self, expression: Expression) -> Value {
        let early = expression.needs_pre_emit();
        let value = self.expressions.append(expression, Span::UNDEFINED);
        if !early {
            self.push(Statement::Emit(Range::new_from_bounds(value, value)));
        }
        value
    }

    fn binary(&mut self, op: BinaryOperator, left: Value, right: Value) -> Value {
        self.value(Expression::Binary { op, left, right })
    }

    pub(super) fn push(&mut self, statement: Statement) {
        self.block.push(statement, Span::UNDEFINED);
    }

    pub(super) fn call(&mut self, function: Handle<Function>, arguments: Vec<Value>) {
        self.push(Statement::Call { function, arguments, result: None });
    }

    /// Calls a function that gives a value.
    pub(super) fn ask(&mut self, function: Handle<Function>, arguments: Vec<Value>) -> Value {
        let value = self.expressions.append(Expression::CallResult(function), Span::UNDEFINED);
        self.push(Statement::Call { function, arguments, result: Some(value) });
        value
    }

    /// What is written into another block meanwhile.
    fn aside(&mut self, write: impl FnOnce(&mut Self)) -> Block {
        let before = std::mem::take(&mut self.block);
        write(self);
        std::mem::replace(&mut self.block, before)
    }
}

/// Where an access goes.
struct Address {
    /// Bytes from the start of the variable; nothing where it is not asked for.
    bytes: Value,
    /// Whether an index is past the end, that index, and the elements there are; nothing where none can be.
    past: Option<(Value, Value, Value)>,
}

/// What all functions of a module share.
pub(super) struct Shared<'p> {
    pub(super) program: &'p Program,
    pub(super) prelude: &'p Prelude,
    pub(super) number: Handle<Type>,
    /// Three unsigned numbers, three signed ones, three floats.
    pub(super) threes: [Handle<Type>; 3],
    /// Functions as they were, and as they are.
    pub(super) moved: BTreeMap<Handle<Function>, Handle<Function>>,
}

/// A function that is rewritten.
pub(super) struct Body<'f, 'p> {
    pub(super) shared: &'f Shared<'p>,
    code: &'f Code,
    pub(super) writer: Writer<'f>,
    /// Which argument tells the bytes before what a pointer to shared memory points to.
    offsets: BTreeMap<u32, u32>,
}

/// Which arguments are pointers to workgroup memory: each is given one argument more.
pub(super) fn pointers(program: &Program, function: &Function) -> Vec<u32> {
    let is = |ty: Handle<Type>| {
        matches!(
            program.module.types[ty].inner,
            TypeInner::Pointer { space: AddressSpace::WorkGroup, .. }
                | TypeInner::ValuePointer { space: AddressSpace::WorkGroup, .. }
        )
    };
    (0..).zip(&function.arguments).filter(|(_, argument)| is(argument.ty)).map(|(n, _)| n).collect()
}

/// Puts statements that write events into a function.
pub(super) fn instrument(shared: &Shared<'_>, code: &Code, function: &mut Function) -> Result<(), KernelError> {
    let mut offsets = BTreeMap::new();
    for pointer in pointers(shared.program, function) {
        offsets.insert(pointer, u32::try_from(function.arguments.len()).unwrap_or(0));
        let name = Some(format!("orrery_offset_{pointer}"));
        function.arguments.push(naga::FunctionArgument { name, ty: shared.number, binding: None });
    }
    let body = std::mem::take(&mut function.body);
    let writer = Writer { expressions: &mut function.expressions, block: Block::new() };
    let mut of = Body { shared, code, writer, offsets };
    let new = of.statements(body, &code.body)?;
    function.body = new;
    Ok(())
}

impl Body<'_, '_> {
    pub(super) fn inner(&self, value: Value) -> &TypeInner {
        self.shared.program.inner(self.code.which, value)
    }

    fn put(&mut self, word: Value) {
        self.writer.call(self.shared.prelude.function("put"), vec![word]);
    }

    fn bit(&mut self, tag: Tag, condition: Value) {
        let tag = self.writer.literal(tag.bits());
        self.writer.call(self.shared.prelude.function("bit"), vec![tag, condition]);
    }

    fn barrier(&mut self) {
        let word = self.writer.literal(Tag::Barrier.bits());
        self.put(word);
    }

    /// The statements, with `steps` as they were compiled beside them.
    fn statements(&mut self, block: Block, steps: &[Step]) -> Result<Block, KernelError> {
        let before = std::mem::take(&mut self.writer.block);
        let mut steps = steps.iter();
        for (statement, span) in block.span_into_iter() {
            if let Statement::MemoryBarrier(_) = statement {
                self.writer.block.push(statement, span);
                continue;
            }
            let Some(step) = steps.next() else { return Err(self.lost()) };
            self.statement(statement, span, step)?;
        }
        Ok(std::mem::replace(&mut self.writer.block, before))
    }

    pub(super) fn lost(&self) -> KernelError {
        let file = &self.shared.program.file;
        KernelError::Adapter(format!(
            "{file}: its statements are not those that were compiled: a bug, please report it"
        ))
    }

    fn statement(&mut self, statement: Statement, span: Span, step: &Step) -> Result<(), KernelError> {
        let new = match (statement, &step.op) {
            (Statement::Emit(range), _) => return self.emit(range, span),
            (Statement::Block(block), Op::Block(steps)) => Statement::Block(self.statements(block, steps)?),
            (Statement::If { condition, accept, reject }, Op::If { test, accept: held, reject: other, .. }) => {
                self.bit(Tag::of(*test), condition);
                let (accept, reject) = (self.statements(accept, held)?, self.statements(reject, other)?);
                Statement::If { condition, accept, reject }
            }
            (Statement::Switch { selector, mut cases }, Op::Switch { cases: compiled, .. }) => {
                let number = self.unsigned(selector);
                let tag = self.writer.literal(Tag::Case.bits());
                self.writer.call(self.shared.prelude.function("number"), vec![tag, number]);
                for (case, compiled) in cases.iter_mut().zip(compiled) {
                    case.body = self.statements(std::mem::take(&mut case.body), &compiled.body)?;
                }
                Statement::Switch { selector, cases }
            }
            (Statement::Loop { body, continuing, break_if }, Op::Loop { body: steps, continuing: last, .. }) => {
                let line = step.line;
                let round = self.writer.aside(|writer| {
                    let line = writer.literal(line);
                    let goes = writer.ask(self.shared.prelude.function("round"), vec![line]);
                    let reject = Block::from_vec(vec![Statement::Break]);
                    writer.push(Statement::If { condition: goes, accept: Block::new(), reject });
                });
                let mut new = round;
                new.extend_block(self.statements(body, steps)?);
                let mut continuing = self.statements(continuing, last)?;
                if let Some(condition) = break_if {
                    let before = std::mem::take(&mut self.writer.block);
                    self.bit(Tag::Loop, condition);
                    let mut word = std::mem::replace(&mut self.writer.block, before);
                    continuing.append(&mut word);
                }
                Statement::Loop { body: new, continuing, break_if }
            }
            (statement @ Statement::ControlBarrier(_), _) => {
                self.barrier();
                statement
            }
            (statement @ Statement::Store { pointer, .. }, Op::Store { site, .. })
            | (statement @ Statement::Atomic { pointer, .. }, Op::Atomic { site, .. }) => {
                self.access(pointer, *site)?;
                statement
            }
            (statement @ Statement::WorkGroupUniformLoad { pointer, .. }, Op::UniformLoad { site, .. }) => {
                self.barrier();
                self.access(pointer, *site)?;
                self.barrier();
                statement
            }
            (Statement::ImageStore { image, coordinate, array_index, value }, Op::Texel { .. }) => {
                self.texel(image, coordinate, array_index, None)?;
                Statement::ImageStore { image, coordinate, array_index, value }
            }
            (Statement::Call { function, mut arguments, result }, Op::Call { .. }) => {
                let program = self.shared.program;
                for pointer in pointers(program, &program.module.functions[function]) {
                    let bytes = self.address(arguments[pointer as usize])?.bytes;
                    arguments.push(bytes);
                }
                Statement::Call { function: self.shared.moved[&function], arguments, result }
            }
            (statement @ (Statement::Break | Statement::Continue | Statement::Return { .. }), _) => statement,
            _ => return Err(self.lost()),
        };
        self.writer.block.push(new, span);
        Ok(())
    }

    /// Evaluates expressions; before each that loads, what it loads is written.
    fn emit(&mut self, range: Range<Expression>, span: Span) -> Result<(), KernelError> {
        let Some((mut first, last)) = range.first_and_last() else { return Ok(()) };
        for value in range {
            let expression = self.writer.expressions[value].clone();
            let loads = matches!(
                expression,
                Expression::Load { .. } | Expression::ImageLoad { .. } | Expression::ImageSample { .. }
            );
            if loads && value != first {
                let before = Range::new_from_bounds(first, value);
                let before = before.index_range();
                let before = Range::from_index_range(before.start..before.end - 1, self.writer.expressions);
                self.writer.block.push(Statement::Emit(before), span);
                first = value;
            }
            match expression {
                Expression::Load { pointer } => {
                    let load = self.code.loads.get(value.index()).and_then(Option::as_ref);
                    self.access(pointer, load.and_then(|load| load.site))?;
                }
                Expression::ImageLoad { image, coordinate, array_index, level, .. } => {
                    self.texel(image, coordinate, array_index, level)?;
                }
                Expression::ImageSample { image, coordinate, array_index, offset, .. } => {
                    self.sampled(image, coordinate, array_index, offset)?;
                }
                _ => {}
            }
        }
        self.writer.block.push(Statement::Emit(Range::new_from_bounds(first, last)), span);
        Ok(())
    }

    /// Writes an access of what a pointer points to.
    fn access(&mut self, pointer: Value, site: Option<usize>) -> Result<(), KernelError> {
        let space = match self.inner(pointer) {
            TypeInner::Pointer { space, .. } | TypeInner::ValuePointer { space, .. } => *space,
            _ => return Err(self.lost()),
        };
        let buffer = matches!(space, AddressSpace::Storage { .. } | AddressSpace::Uniform);
        let Address { bytes, past } = self.address(pointer)?;
        let prelude = self.shared.prelude;
        let told = |writer: &mut Writer<'_>| {
            let tag = writer.literal(Tag::Access.bits());
            let word = writer.binary(BinaryOperator::InclusiveOr, tag, bytes);
            writer.call(prelude.function("put"), vec![word]);
        };
        let Some((condition, index, length)) = past else {
            if site.is_some() {
                told(&mut self.writer);
            }
            return Ok(());
        };
        let number = u32::try_from(pointer.index()).unwrap_or(0) & super::super::machine::VALUE;
        let accept = self.writer.aside(|writer| {
            let word = writer.literal(Tag::Past.bits() | number);
            writer.call(prelude.function("past"), vec![word, index, length]);
        });
        let reject = if buffer { self.writer.aside(told) } else { Block::new() };
        self.writer.push(Statement::If { condition, accept, reject });
        if site.is_some() && !buffer {
            told(&mut self.writer);
        }
        Ok(())
    }

    /// An integer as an unsigned one.
    fn unsigned(&mut self, value: Value) -> Value {
        match self.inner(value) {
            TypeInner::Scalar(scalar) if scalar.kind == ScalarKind::Sint => {
                self.writer.value(Expression::As { expr: value, kind: ScalarKind::Uint, convert: None })
            }
            _ => value,
        }
    }

    fn address(&mut self, pointer: Value) -> Result<Address, KernelError> {
        let (base, index, fixed) = match self.writer.expressions[pointer] {
            Expression::Access { base, index } => (base, Some(index), 0),
            Expression::AccessIndex { base, index } => (base, None, index),
            Expression::FunctionArgument(n) => {
                let bytes = match self.offsets.get(&n) {
                    Some(offset) => self.argument(*offset),
                    None => self.writer.literal(0),
                };
                return Ok(Address { bytes, past: None });
            }
            _ => return Ok(Address { bytes: self.writer.literal(0), past: None }),
        };
        let before = self.address(base)?;
        let types = &self.shared.program.module.types;
        let (stride, length) = match self.inner(base) {
            TypeInner::Pointer { base: ty, .. } => match &types[*ty].inner {
                TypeInner::Struct { members, .. } => {
                    let offset = members.get(fixed as usize).map_or(0, |member| member.offset);
                    return Ok(self.further(before, offset));
                }
                TypeInner::Array { size, stride, .. } => (*stride, elements(*size)),
                TypeInner::Vector { size, scalar } => (scalar.width.into(), Some(*size as u32)),
                TypeInner::Matrix { columns, rows, scalar } => (column_stride(*rows, *scalar), Some(*columns as u32)),
                _ => return Err(self.lost()),
            },
            TypeInner::ValuePointer { size: Some(size), scalar, .. } => (scalar.width.into(), Some(*size as u32)),
            _ => return Err(self.lost()),
        };
        let (index, length) = match (index, length) {
            (None, Some(_)) => return Ok(self.further(before, fixed * stride)),
            (Some(index), length) => (self.unsigned(index), length),
            (None, None) => (self.writer.literal(fixed), None),
        };
        if length.is_some_and(|length| self.most(index).is_some_and(|most| most < length)) {
            let stride = self.writer.literal(stride);
            let more = self.writer.binary(BinaryOperator::Multiply, index, stride);
            return Ok(Address { bytes: self.writer.binary(BinaryOperator::Add, before.bytes, more), ..before });
        }
        let length = match length {
            Some(length) => self.writer.literal(length),
            None => self.writer.value(Expression::ArrayLength(base)),
        };
        let writer = &mut self.writer;
        let beyond = writer.binary(BinaryOperator::GreaterEqual, index, length);
        let one = writer.literal(1);
        let last = writer.binary(BinaryOperator::Subtract, length, one);
        let nearest = writer.value(Expression::Math {
            fun: MathFunction::Min,
            arg: index,
            arg1: Some(last),
            arg2: None,
            arg3: None,
        });
        let stride = writer.literal(stride);
        let more = writer.binary(BinaryOperator::Multiply, nearest, stride);
        let bytes = writer.binary(BinaryOperator::Add, before.bytes, more);
        let past = match before.past {
            None => (beyond, index, length),
            // The outer index is told where both are past the end.
            Some((condition, outer, elements)) => {
                let select = |accept, reject| Expression::Select { condition, accept, reject };
                let index = writer.value(select(outer, index));
                let length = writer.value(select(elements, length));
                (writer.binary(BinaryOperator::LogicalOr, condition, beyond), index, length)
            }
        };
        Ok(Address { bytes, past: Some(past) })
    }

    /// The most that an unsigned index can be, where that is seen at once: `i % 8u`, `i & 7u`.
    fn most(&self, index: Value) -> Option<u32> {
        let number = |value: Value| match self.writer.expressions[value] {
            Expression::Literal(Literal::U32(number)) => Some(number),
            _ => None,
        };
        match self.writer.expressions[index] {
            Expression::Binary { op: BinaryOperator::Modulo, right, .. } => number(right)?.checked_sub(1),
            Expression::Binary { op: BinaryOperator::And, left, right } => number(right).or_else(|| number(left)),
            _ => number(index),
        }
    }

    fn argument(&mut self, number: u32) -> Value {
        let found = self.writer.expressions.fetch_if(|old| *old == Expression::FunctionArgument(number));
        found.unwrap_or_else(|| self.writer.value(Expression::FunctionArgument(number)))
    }

    fn further(&mut self, before: Address, bytes: u32) -> Address {
        if bytes == 0 {
            return before;
        }
        let bytes = self.writer.literal(bytes);
        Address { bytes: self.writer.binary(BinaryOperator::Add, before.bytes, bytes), ..before }
    }
}
