//! Expressions, for all items that are at them.

use super::math::{Argument, call};
use super::scalar::{as_f64, as_i128, convert, low, of_f64, of_i128, operation};
use super::{Machine, Place, Pointer};
use crate::kernel::code::{Value, Which};
use crate::kernel::error::KernelError;
use crate::kernel::mask::Mask;
use crate::kernel::program::Space;
use crate::kernel::record::{Access, Observer, Outside};
use crate::kernel::types::{self, Leaf, column_stride, elements, flat};
use naga::{BinaryOperator, Expression, RelationalFunction, Scalar, ScalarKind, Type, TypeInner, UnaryOperator};

impl<O: Observer> Machine<'_, O> {
    pub(super) fn inner(&self, which: Which, value: Value) -> &TypeInner {
        self.program.inner(which, value)
    }

    fn scalar(&self, which: Which, value: Value) -> Scalar {
        flat(self.inner(which, value)).map_or(Scalar::U32, |(_, scalar)| scalar)
    }

    /// Scalars of a value of the function at hand.
    fn count(&self, value: Value) -> usize {
        self.frames.last().map_or(0, |frame| self.compiled.codes[frame.code].counts[value.index()] as usize)
    }

    /// A scalar of a value; those of one scalar stand for vectors too.
    pub(super) fn at(&self, value: Value, leaf: usize, item: usize) -> u64 {
        let Some(frame) = self.frames.last() else { return 0 };
        let values = &frame.values[value.index()];
        let leaf = if values.len() <= self.items { 0 } else { leaf };
        values.get(leaf * self.items + item).copied().unwrap_or(0)
    }

    pub(super) fn pointer(&self, value: Value) -> Result<&Pointer, KernelError> {
        let pointer = self.frames.last().and_then(|frame| frame.pointers[value.index()].as_ref());
        pointer.ok_or_else(|| self.fault("a pointer of this kind"))
    }

    fn put(&mut self, value: Value, values: Vec<u64>) {
        if let Some(frame) = self.frames.last_mut() {
            frame.values[value.index()] = values;
        }
    }

    /// Room for a value, that of the last time.
    fn room_for(&mut self, value: Value) -> Vec<u64> {
        let length = self.count(value) * self.items;
        let mut room =
            self.frames.last_mut().map_or_else(Vec::new, |frame| std::mem::take(&mut frame.values[value.index()]));
        room.resize(length, 0);
        room
    }

    /// Fills a value scalar by scalar.
    pub(super) fn each(&mut self, value: Value, items: &Mask, of: impl Fn(&Self, usize, usize) -> u64) {
        let mut room = self.room_for(value);
        for leaf in 0..self.count(value) {
            for item in items.iter() {
                room[leaf * self.items + item] = of(self, leaf, item);
            }
        }
        self.put(value, room);
    }

    /// Evaluates an expression for these items.
    pub(super) fn evaluate(&mut self, value: Value, items: &Mask) -> Result<(), KernelError> {
        let which = self.which();
        let program = self.program;
        match &program.function(which).expressions[value] {
            Expression::Compose { components, .. } => {
                let places: Vec<(Value, usize)> =
                    components.iter().flat_map(|part| (0..self.count(*part)).map(|leaf| (*part, leaf))).collect();
                self.each(value, items, |machine, leaf, item| {
                    places.get(leaf).map_or(0, |(part, leaf)| machine.at(*part, *leaf, item))
                });
            }
            Expression::Access { base, index } => self.indexed(which, value, *base, Some(*index), 0, items)?,
            Expression::AccessIndex { base, index } => self.indexed(which, value, *base, None, *index, items)?,
            Expression::Splat { value: from, .. } => {
                self.each(value, items, |machine, _, item| machine.at(*from, 0, item))
            }
            Expression::Swizzle { vector, pattern, .. } => {
                self.each(value, items, |machine, leaf, item| machine.at(*vector, pattern[leaf] as usize, item));
            }
            Expression::Load { pointer } => self.load(value, *pointer, items)?,
            Expression::Unary { op, expr } => {
                let scalar = self.scalar(which, *expr);
                let of = unary(*op, scalar);
                self.each(value, items, |machine, leaf, item| of(machine.at(*expr, leaf, item)));
            }
            Expression::Binary { op, left, right } => self.binary(which, value, *op, *left, *right, items)?,
            Expression::Select { condition, accept, reject } => self.each(value, items, |machine, leaf, item| {
                let from = if machine.at(*condition, leaf, item) != 0 { *accept } else { *reject };
                machine.at(from, leaf, item)
            }),
            Expression::Relational { fun, argument } => {
                let (scalar, count) = (self.scalar(which, *argument), self.count(*argument));
                self.each(value, items, |machine, leaf, item| {
                    u64::from(match fun {
                        RelationalFunction::All => (0..count).all(|leaf| machine.at(*argument, leaf, item) != 0),
                        RelationalFunction::Any => (0..count).any(|leaf| machine.at(*argument, leaf, item) != 0),
                        RelationalFunction::IsNan => as_f64(machine.at(*argument, leaf, item), scalar).is_nan(),
                        RelationalFunction::IsInf => as_f64(machine.at(*argument, leaf, item), scalar).is_infinite(),
                    })
                });
            }
            Expression::Math { fun, arg, arg1, arg2, arg3 } => {
                let arguments: Vec<Value> = [Some(*arg), *arg1, *arg2, *arg3].into_iter().flatten().collect();
                self.math(which, value, *fun, &arguments, items)?;
            }
            Expression::As { expr, kind, convert: width } => {
                let from = self.scalar(which, *expr);
                match width {
                    Some(width) => {
                        let to = Scalar { kind: *kind, width: *width };
                        self.each(value, items, |machine, leaf, item| convert(machine.at(*expr, leaf, item), from, to));
                    }
                    // The same bits.
                    None => self.each(value, items, |machine, leaf, item| machine.at(*expr, leaf, item)),
                }
            }
            Expression::ArrayLength(pointer) => {
                let Place::Shared(shared) = self.pointer(*pointer)?.place else {
                    return Err(self.fault("the length of this array"));
                };
                let memory = &mut self.shared[shared];
                let mut length = memory.length(&program.shared[shared]);
                if let Some(grows) = &mut memory.grows {
                    grows.asked = true;
                    length = length.max(grows.guess);
                }
                self.each(value, items, |_, _, _| length.into());
            }
            Expression::ImageQuery { .. } | Expression::ImageLoad { .. } | Expression::ImageSample { .. } => {
                self.of_image(value, items)?;
            }
            // Constants are there from the start; results are put where they come about.
            Expression::Literal(_)
            | Expression::Constant(_)
            | Expression::ZeroValue(_)
            | Expression::FunctionArgument(_)
            | Expression::GlobalVariable(_)
            | Expression::LocalVariable(_)
            | Expression::CallResult(_)
            | Expression::AtomicResult { .. }
            | Expression::WorkGroupUniformLoadResult { .. } => {}
            other => {
                let words = format!("{other:?}");
                let name = words.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("").to_owned();
                return Err(self.fault(&format!("the expression {name}")));
            }
        }
        Ok(())
    }

    /// A part of a value, or of what a pointer points to.
    fn indexed(
        &mut self,
        which: Which,
        value: Value,
        base: Value,
        index: Option<Value>,
        fixed: u32,
        items: &Mask,
    ) -> Result<(), KernelError> {
        let program = self.program;
        let types = &program.module.types;
        let inner = program.inner(which, base);
        let behind = match *inner {
            TypeInner::Pointer { base, .. } => Some(types[base].inner.clone()),
            TypeInner::ValuePointer { size: Some(size), scalar, .. } => Some(TypeInner::Vector { size, scalar }),
            _ => None,
        };
        if let Some(behind) = behind {
            return self.pointed(value, base, &behind, index, fixed, items);
        }
        let leaves = self.count(value);
        let of = |ty: naga::Handle<Type>| usize::try_from(program.types.count(ty)).unwrap_or(0);
        let (start, length) = match inner {
            TypeInner::Struct { members, .. } => {
                (members.iter().take(fixed as usize).map(|m| of(m.ty)).sum(), u32::MAX)
            }
            _ => (fixed as usize * leaves, u32::try_from(self.count(base) / leaves.max(1)).unwrap_or(u32::MAX)),
        };
        match index {
            None => self.each(value, items, |machine, leaf, item| machine.at(base, start + leaf, item)),
            // Past the end is the last element.
            Some(index) => self.each(value, items, |machine, leaf, item| {
                let element = low(machine.at(index, 0, item)).min(length.saturating_sub(1));
                machine.at(base, element as usize * leaves + leaf, item)
            }),
        }
        Ok(())
    }

    fn pointed(
        &mut self,
        value: Value,
        base: Value,
        behind: &TypeInner,
        index: Option<Value>,
        fixed: u32,
        items: &Mask,
    ) -> Result<(), KernelError> {
        let mut pointer = self.pointer(base)?.clone();
        let program = self.program;
        let (stride, length) = match behind {
            TypeInner::Array { size, stride, .. } => (*stride, elements(*size)),
            TypeInner::Vector { size, scalar } => (scalar.width.into(), Some(*size as u32)),
            TypeInner::Matrix { columns, rows, scalar } => (column_stride(*rows, *scalar), Some(*columns as u32)),
            TypeInner::Struct { members, .. } => {
                let offset = members.get(fixed as usize).map_or(0, |member| member.offset);
                pointer.offsets.iter_mut().for_each(|at| *at = at.wrapping_add(offset));
                return self.point(value, pointer);
            }
            _ => return Err(self.fault("a pointer of this kind")),
        };
        let length = match (length, pointer.place) {
            (Some(length), _) => length,
            (None, Place::Shared(shared)) => {
                if self.shared[shared].grows.is_some() {
                    for item in items.iter() {
                        let element = index.map_or(fixed, |index| low(self.at(index, 0, item)));
                        self.shared[shared].reach(&program.shared[shared], element);
                    }
                }
                self.shared[shared].length(&program.shared[shared])
            }
            _ => return Err(self.fault("an array of this kind")),
        };
        // Past the end is the last element; where an access of a buffer would be there, nothing is accessed.
        let last = length.saturating_sub(1);
        for item in items.iter() {
            let element = index.map_or(fixed, |index| low(self.at(index, 0, item)));
            if element >= length {
                pointer.past.insert(item);
                pointer.first_past.get_or_insert((item, element, length));
            }
            let offset = &mut pointer.offsets[item];
            *offset = offset.wrapping_add(element.min(last).wrapping_mul(stride));
        }
        self.point(value, pointer)
    }

    #[expect(clippy::unnecessary_wraps, reason = "the last step of those that can fail")]
    fn point(&mut self, value: Value, pointer: Pointer) -> Result<(), KernelError> {
        if let Some(frame) = self.frames.last_mut() {
            frame.pointers[value.index()] = Some(pointer);
        }
        Ok(())
    }

    fn load(&mut self, value: Value, pointer: Value, items: &Mask) -> Result<(), KernelError> {
        let frame = self.frames.last().map_or(0, |frame| frame.code);
        let compiled = self.compiled;
        let Some(load) = &compiled.codes[frame].loads[value.index()] else {
            return Err(self.fault("a load of this kind"));
        };
        self.read(value, pointer, &load.leaves, load.site, items)
    }

    /// Reads what a pointer points to, as a value.
    pub(super) fn read(
        &mut self,
        value: Value,
        pointer: Value,
        leaves: &[Leaf],
        site: Option<usize>,
        items: &Mask,
    ) -> Result<(), KernelError> {
        let mut room = self.room_for(value);
        room.resize(leaves.len() * self.items, 0);
        let inside = self.accessed(pointer, site, items)?;
        let pointer = self.pointer(pointer)?;
        for item in items.iter() {
            let at = pointer.offsets[item];
            for (n, leaf) in leaves.iter().enumerate() {
                let (bytes, at) = self.bytes(pointer.place, item, at + leaf.offset);
                room[n * self.items + item] = if inside.has(item) { types::load(bytes, at, leaf.scalar) } else { 0 };
            }
        }
        self.put(value, room);
        Ok(())
    }

    /// Where a byte of a variable is.
    pub(super) fn bytes(&self, place: Place, item: usize, offset: u32) -> (&[u8], usize) {
        let offset = offset as usize;
        match place {
            Place::Shared(shared) => (&self.shared[shared].bytes, offset),
            Place::Private(variable) => match self.private.get(&variable) {
                Some((size, bytes)) => (bytes, item * *size as usize + offset),
                None => (&[], 0),
            },
            Place::Local(depth, variable) => {
                let local = &self.frames[depth].locals[variable];
                (local, item * (local.len() / self.items) + offset)
            }
        }
    }

    pub(super) fn bytes_mut(&mut self, place: Place, item: usize, offset: u32) -> (&mut [u8], usize) {
        let offset = offset as usize;
        match place {
            Place::Shared(shared) => (&mut self.shared[shared].bytes, offset),
            Place::Private(variable) => match self.private.get_mut(&variable) {
                Some((size, bytes)) => (bytes, item * *size as usize + offset),
                None => (&mut [], 0),
            },
            Place::Local(depth, variable) => {
                let items = self.items;
                let local = &mut self.frames[depth].locals[variable];
                let size = local.len() / items;
                (local, item * size + offset)
            }
        }
    }

    /// Tells of an access, and which of the items it is carried out for: not for those past the end of a buffer.
    pub(super) fn accessed(&mut self, value: Value, site: Option<usize>, items: &Mask) -> Result<Mask, KernelError> {
        if self.feed.is_some() {
            return self.fed_access(value, site, items);
        }
        // Taken out meanwhile, so that all of the machine can be told.
        let frame = self.frames.len().saturating_sub(1);
        let taken = self.frames.get_mut(frame).and_then(|frame| frame.pointers[value.index()].take());
        let Some(pointer) = taken else { return Err(self.fault("a pointer of this kind")) };
        let inside = self.told(&pointer, site, items);
        self.frames[frame].pointers[value.index()] = Some(pointer);
        Ok(inside)
    }

    /// Tells of an access of what is pointed to.
    pub(super) fn told(&mut self, pointer: &Pointer, site: Option<usize>, items: &Mask) -> Mask {
        let (place, past, first_past) = (pointer.place, pointer.past.and(items), pointer.first_past);
        let mut inside = *items;
        if let (false, Some((_, index, length))) = (past.is_empty(), first_past) {
            let line = site.map_or(self.line, |site| self.compiled.sites[site].line);
            let (name, private, buffer) = match place {
                Place::Shared(n) => {
                    let shared = &self.program.shared[n];
                    (shared.name.clone(), false, shared.space != Space::Workgroup)
                }
                Place::Private(_) => ("a private variable".to_owned(), true, false),
                Place::Local(..) => ("a variable of the function".to_owned(), true, false),
            };
            if buffer || length == 0 {
                inside = items.without(&past);
            }
            self.tell_outside((line, name), private, (index, length), &past);
        }
        if let (Some(site), false) = (site, inside.is_empty()) {
            self.events += inside.count() as u64;
            let (group, phases, addresses) = (self.group, self.phases, pointer.offsets.as_slice());
            self.observer.access(&Access { group, site, items: &inside, addresses, phases });
        }
        inside
    }

    /// Tells of accesses past the end, at this line and of what has this name.
    pub(super) fn tell_outside(
        &mut self,
        (line, name): (u32, String),
        private: bool,
        (index, length): (u32, u32),
        past: &Mask,
    ) {
        let first = (self.group, past.iter().next().unwrap_or(0));
        let none = Outside { line, name: name.clone(), private, index, length, first, count: 0 };
        self.outside.entry((line, name)).or_insert(none).count += past.count() as u64;
    }

    fn binary(
        &mut self,
        which: Which,
        value: Value,
        op: BinaryOperator,
        left: Value,
        right: Value,
        items: &Mask,
    ) -> Result<(), KernelError> {
        let scalar = self.scalar(which, left);
        let program = self.program;
        let (a, b) = (program.inner(which, left), program.inner(which, right));
        if op == BinaryOperator::Multiply
            && let Some((rows, depth)) = product(a, b)
        {
            // Column by column: each scalar is the dot product of a row with a column.
            let (times, plus) = (operation(BinaryOperator::Multiply, scalar), operation(BinaryOperator::Add, scalar));
            self.each(value, items, |machine, leaf, item| {
                let (column, row) = (leaf / rows, leaf % rows);
                let term = |n: usize| {
                    times(machine.at(left, n * rows + row, item), machine.at(right, column * depth + n, item))
                };
                (1..depth).fold(term(0), |sum, n| plus(sum, term(n)))
            });
            return Ok(());
        }
        let of = operation(op, scalar);
        let mut room = self.room_for(value);
        if let Some(frame) = self.frames.last() {
            let (x, y) = (&frame.values[left.index()], &frame.values[right.index()]);
            let n = self.items;
            for leaf in 0..room.len() / n {
                let (from_x, from_y) =
                    (if x.len() <= n { 0 } else { leaf * n }, if y.len() <= n { 0 } else { leaf * n });
                for item in items.iter() {
                    room[leaf * n + item] = of(x[from_x + item], y[from_y + item]);
                }
            }
        }
        self.put(value, room);
        Ok(())
    }

    fn math(
        &mut self,
        which: Which,
        value: Value,
        fun: naga::MathFunction,
        arguments: &[Value],
        items: &Mask,
    ) -> Result<(), KernelError> {
        let program = self.program;
        let kinds: Vec<(Scalar, Option<naga::VectorSize>, usize)> = arguments
            .iter()
            .map(|argument| {
                let rows = match program.inner(which, *argument) {
                    TypeInner::Matrix { rows, .. } => Some(*rows),
                    _ => None,
                };
                (self.scalar(which, *argument), rows, self.count(*argument))
            })
            .collect();
        let mut room = self.room_for(value);
        let mut scalars: Vec<Vec<u64>> = kinds.iter().map(|(_, _, count)| vec![0; *count]).collect();
        let mut out = Vec::new();
        for item in items.iter() {
            for (argument, scalars) in arguments.iter().zip(&mut scalars) {
                scalars.iter_mut().enumerate().for_each(|(leaf, to)| *to = self.at(*argument, leaf, item));
            }
            let given: Vec<Argument<'_>> = scalars
                .iter()
                .zip(&kinds)
                .map(|(values, (scalar, rows, _))| Argument { values, scalar: *scalar, rows: *rows })
                .collect();
            if !call(fun, &given, &mut out) {
                return Err(self.fault(&format!("the function {fun:?}")));
            }
            out.iter().enumerate().for_each(|(leaf, scalar)| {
                if let Some(to) = room.get_mut(leaf * self.items + item) {
                    *to = *scalar;
                }
            });
        }
        self.put(value, room);
        Ok(())
    }
}

/// Rows of a product of matrices and vectors, and how many terms each scalar has.
fn product(a: &TypeInner, b: &TypeInner) -> Option<(usize, usize)> {
    Some(match (a, b) {
        (TypeInner::Matrix { columns, rows, .. }, TypeInner::Vector { .. } | TypeInner::Matrix { .. }) => {
            (*rows as usize, *columns as usize)
        }
        (TypeInner::Vector { size, .. }, TypeInner::Matrix { .. }) => (1, *size as usize),
        _ => return None,
    })
}

fn unary(op: UnaryOperator, scalar: Scalar) -> impl Fn(u64) -> u64 {
    move |value| match (op, scalar.kind) {
        (UnaryOperator::Negate, ScalarKind::Float) => of_f64(-as_f64(value, scalar), scalar),
        (UnaryOperator::Negate, _) => of_i128(-as_i128(value, scalar), scalar),
        (UnaryOperator::LogicalNot, _) => u64::from(value == 0),
        (UnaryOperator::BitwiseNot, _) => of_i128(!as_i128(value, scalar), scalar),
    }
}
