//! Groups, one after the other, and calls of functions.

use super::{Frame, Machine, Place, Pointer};
use crate::kernel::code::{Value, Which};
use crate::kernel::error::KernelError;
use crate::kernel::mask::Mask;
use crate::kernel::program::Space;
use crate::kernel::record::{Observer, Phases};
use crate::kernel::types;
use naga::{BuiltIn, Expression, TypeInner};

/// Bytes that the variables of all items of a group take at most.
const MOST_LOCAL: u64 = 512 << 20;

impl<O: Observer> Machine<'_, O> {
    /// Runs the group of this number, the groups of a row before those of the next.
    pub(in crate::kernel) fn run(&mut self, group: u64) -> Result<(), KernelError> {
        if self.limits.cancel.is_cancelled() {
            return Err(KernelError::Cancelled);
        }
        let [x, y, _] = self.groups.map(u64::from);
        let part = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        self.at = [part(group % x), part(group / x % y), part(group / x / y)];
        self.group = group;
        self.phases = Phases::default();
        self.steps = 0;
        self.left_at = None;
        let all = Mask::first(self.items);
        let entry = self.compiled.codes.len() - 1;
        self.observer.begin(group, self.items);
        let mut frame = self.frame(entry)?;
        if self.feed.is_none() {
            for (memory, shared) in self.shared.iter_mut().zip(&self.program.shared) {
                if shared.space == Space::Workgroup {
                    memory.bytes.fill(0);
                }
            }
            self.start_private()?;
            for (value, values) in self.builtins()? {
                frame.values[value.index()] = values;
            }
        }
        self.frames.push(frame);
        if self.feed.is_none() {
            self.start_locals(&all)?;
        }
        let compiled = self.compiled;
        self.block(&compiled.codes[entry].body, all)?;
        if let Some(frame) = self.frames.pop() {
            self.spare[entry].push(frame);
        }
        self.observer.end(group);
        Ok(())
    }

    fn start_private(&mut self) -> Result<(), KernelError> {
        let uses = self.program.info.get_entry_point(self.program.entry_index);
        let module = &self.program.module;
        for (handle, variable) in module.global_variables.iter() {
            if variable.space != naga::AddressSpace::Private || uses[handle].is_empty() {
                continue;
            }
            let size = self.program.types.layout(variable.ty).0;
            let bytes = self.room(size)?;
            let kept = self.private.entry(handle.index()).or_insert_with(|| (size, vec![0; bytes]));
            kept.1.fill(0);
            if let Some(init) = variable.init {
                let leaves = self.program.types.leaves(module, variable.ty)?;
                let values = constant(self.program, init).ok_or_else(|| self.fault("a start value"))?;
                let memory = &mut self.private.entry(handle.index()).or_default().1;
                for item in 0..self.items {
                    for (leaf, value) in leaves.iter().zip(&values) {
                        types::store(memory, item * size as usize + leaf.offset as usize, leaf.scalar, *value);
                    }
                }
            }
        }
        Ok(())
    }

    /// Bytes of a variable of all items.
    fn room(&self, size: u32) -> Result<usize, KernelError> {
        let all = u64::from(size) * self.items as u64;
        if all > MOST_LOCAL {
            return Err(KernelError::TooMuch(format!(
                "{}: a variable of {size} bytes for each of {} items takes {all} bytes; expected {MOST_LOCAL} at most",
                self.program.file, self.items
            )));
        }
        usize::try_from(all).map_err(|_| self.fault("a variable of this size"))
    }

    /// Values of the entry's arguments: what each item is.
    fn builtins(&self) -> Result<Vec<(Value, Vec<u64>)>, KernelError> {
        let function = self.program.function(Which::Entry);
        let mut out = Vec::new();
        for (value, expression) in function.expressions.iter() {
            let Expression::FunctionArgument(n) = *expression else { continue };
            let Some(argument) = function.arguments.get(n as usize) else { continue };
            let mut values = Vec::new();
            match (&argument.binding, &self.program.module.types[argument.ty].inner) {
                (Some(naga::Binding::BuiltIn(builtin)), _) => self.builtin(*builtin, &mut values)?,
                (None, TypeInner::Struct { members, .. }) => {
                    for member in members {
                        let Some(naga::Binding::BuiltIn(builtin)) = member.binding else {
                            return Err(self.fault("an argument that is no builtin"));
                        };
                        self.builtin(builtin, &mut values)?;
                    }
                }
                _ => return Err(self.fault("an argument that is no builtin")),
            }
            out.push((value, values));
        }
        Ok(out)
    }

    fn builtin(&self, builtin: BuiltIn, out: &mut Vec<u64>) -> Result<(), KernelError> {
        let size = self.program.group_size.map(u64::from);
        let local = |item: usize, axis: usize| {
            let item = item as u64;
            [item % size[0], item / size[0] % size[1], item / size[0] / size[1]][axis]
        };
        let items = self.items;
        let mut axes = |of: &dyn Fn(usize, usize) -> u64| {
            (0..3).for_each(|axis| out.extend((0..items).map(|item| of(item, axis))));
        };
        match builtin {
            BuiltIn::LocalInvocationId => axes(&local),
            BuiltIn::GlobalInvocationId => {
                axes(&|item, axis| (u64::from(self.at[axis]) * size[axis] + local(item, axis)) & 0xffff_ffff)
            }
            BuiltIn::WorkGroupId => axes(&|_, axis| self.at[axis].into()),
            BuiltIn::NumWorkGroups => axes(&|_, axis| self.groups[axis].into()),
            BuiltIn::WorkGroupSize => axes(&|_, axis| size[axis]),
            BuiltIn::LocalInvocationIndex => out.extend((0..items).map(|item| item as u64)),
            other => return Err(self.fault(&format!("the builtin {other:?}"))),
        }
        Ok(())
    }

    /// A frame of this function, with what never changes in it.
    pub(super) fn frame(&mut self, code: usize) -> Result<Frame, KernelError> {
        if let Some(frame) = self.spare[code].pop() {
            return Ok(frame);
        }
        if self.feed.is_some() {
            return Ok(Frame { code, ..Frame::default() });
        }
        let program = self.program;
        let (which, counts) = (self.compiled.codes[code].which, &self.compiled.codes[code].counts);
        let function = program.function(which);
        let mut frame = Frame { code, ..Frame::default() };
        for (value, expression) in function.expressions.iter() {
            let count = counts[value.index()] as usize;
            let mut values = Vec::new();
            match expression {
                Expression::Literal(_) | Expression::Constant(_) | Expression::ZeroValue(_) => {
                    let scalars = fixed(program, expression, count).ok_or_else(|| self.fault("a constant"))?;
                    values = scalars.iter().flat_map(|scalar| std::iter::repeat_n(*scalar, self.items)).collect();
                }
                _ => {}
            }
            frame.values.push(values);
            frame.pointers.push(None);
        }
        for (_, variable) in function.local_variables.iter() {
            let bytes = self.room(program.types.layout(variable.ty).0)?;
            frame.locals.push(vec![0; bytes]);
        }
        Ok(frame)
    }

    /// Variables of the function that starts, for these items, and pointers to them.
    pub(super) fn start_locals(&mut self, items: &Mask) -> Result<(), KernelError> {
        let program = self.program;
        let which = self.which();
        let function = program.function(which);
        let depth = self.frames.len() - 1;
        for (handle, variable) in function.local_variables.iter() {
            let size = program.types.layout(variable.ty).0 as usize;
            let local = &mut self.frames[depth].locals[handle.index()];
            for item in items.iter() {
                local[item * size..(item + 1) * size].fill(0);
            }
            let Some(init) = variable.init else { continue };
            self.settle(init, items)?;
            let leaves = program.types.leaves(&program.module, variable.ty)?;
            let frame = &mut self.frames[depth];
            let values = &frame.values[init.index()];
            for item in items.iter() {
                for (n, leaf) in leaves.iter().enumerate() {
                    let value = values.get(n * self.items + item).copied().unwrap_or(0);
                    types::store(
                        &mut frame.locals[handle.index()],
                        item * size + leaf.offset as usize,
                        leaf.scalar,
                        value,
                    );
                }
            }
        }
        for (value, expression) in function.expressions.iter() {
            let place = match expression {
                Expression::LocalVariable(handle) => Place::Local(depth, handle.index()),
                Expression::GlobalVariable(handle) => {
                    let shared = program.shared.iter().position(|shared| shared.handle == *handle);
                    shared.map_or(Place::Private(handle.index()), Place::Shared)
                }
                _ => continue,
            };
            let offsets = vec![0; self.items];
            let pointer = Pointer { place, offsets, past: Mask::NONE, first_past: None };
            let slot = &mut self.frames[depth].pointers[value.index()];
            if slot.as_ref().is_none_or(|old| old.place != place) {
                *slot = Some(pointer);
            }
        }
        Ok(())
    }

    /// Evaluates an expression of constants that no statement evaluates.
    fn settle(&mut self, value: Value, items: &Mask) -> Result<(), KernelError> {
        let which = self.which();
        let program = self.program;
        match &program.function(which).expressions[value] {
            Expression::Literal(_) | Expression::Constant(_) | Expression::ZeroValue(_) => return Ok(()),
            Expression::Compose { components, .. } => {
                components.iter().try_for_each(|part| self.settle(*part, items))?
            }
            Expression::Splat { value, .. } => self.settle(*value, items)?,
            _ => {}
        }
        self.evaluate(value, items)
    }
}

/// Scalars of a constant of the module.
fn constant(program: &super::Program, value: Value) -> Option<Vec<u64>> {
    let expressions = &program.module.global_expressions;
    match &expressions[value] {
        Expression::Compose { components, .. } => {
            let parts: Option<Vec<Vec<u64>>> = components.iter().map(|part| constant(program, *part)).collect();
            Some(parts?.concat())
        }
        Expression::Splat { size, value } => Some(vec![*constant(program, *value)?.first()?; *size as usize]),
        Expression::ZeroValue(ty) => Some(vec![0; usize::try_from(program.types.count(*ty)).ok()?]),
        other => fixed(program, other, 1),
    }
}

/// Scalars of a literal, a constant or a zero.
fn fixed(program: &super::Program, expression: &Expression, count: usize) -> Option<Vec<u64>> {
    use naga::Literal as L;
    Some(match expression {
        Expression::ZeroValue(_) => vec![0; count],
        Expression::Constant(handle) => return constant(program, program.module.constants[*handle].init),
        Expression::Literal(literal) => vec![match *literal {
            L::F64(value) | L::AbstractFloat(value) => value.to_bits(),
            L::F32(value) => value.to_bits().into(),
            L::F16(value) => value.to_bits().into(),
            L::U16(value) => value.into(),
            L::I16(value) => value.cast_unsigned().into(),
            L::U32(value) => value.into(),
            L::I32(value) => value.cast_unsigned().into(),
            L::U64(value) => value,
            L::I64(value) | L::AbstractInt(value) => value.cast_unsigned(),
            L::Bool(value) => value.into(),
        }],
        _ => return None,
    })
}
