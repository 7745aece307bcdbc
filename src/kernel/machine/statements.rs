//! Statements: which items go where.

use super::feed::Tag;
use super::scalar::operation;
use super::{Machine, Pointer};
use crate::kernel::code::{Op, Step, Test, Value};
use crate::kernel::error::KernelError;
use crate::kernel::mask::Mask;
use crate::kernel::record::{Decision, LoneBarrier, Observer};
use crate::kernel::types::{self, Leaf};
use naga::{AtomicFunction, Barrier, BinaryOperator, Scalar};

/// Statements between two looks at whether somebody waits still.
const ASKED: u64 = 1024;

/// Where items are after a block: those that returned are nowhere.
pub(super) struct Flow {
    next: Mask,
    broke: Mask,
    continued: Mask,
}

impl Flow {
    fn on(next: Mask) -> Self {
        Self { next, broke: Mask::NONE, continued: Mask::NONE }
    }
}

impl<O: Observer> Machine<'_, O> {
    /// Carries out statements for these items.
    pub(super) fn block(&mut self, steps: &[Step], items: Mask) -> Result<Flow, KernelError> {
        let mut flow = Flow::on(items);
        for step in steps {
            if flow.next.is_empty() {
                break;
            }
            let after = self.step(step, flow.next)?;
            flow.next = after.next;
            flow.broke = flow.broke.or(&after.broke);
            flow.continued = flow.continued.or(&after.continued);
        }
        Ok(flow)
    }

    fn counted(&mut self, line: u32, items: &Mask) -> Result<(), KernelError> {
        self.line = line;
        self.steps += 1;
        if self.steps.is_multiple_of(ASKED) && self.limits.cancel.is_cancelled() {
            return Err(KernelError::Cancelled);
        }
        if self.steps > self.limits.steps {
            let (file, group, steps) = (self.program.file.clone(), self.group, self.limits.steps);
            return Err(KernelError::Steps { file, line, group, steps });
        }
        self.observer.step(line, items);
        Ok(())
    }

    fn step(&mut self, step: &Step, items: Mask) -> Result<Flow, KernelError> {
        if let Op::Block(body) = &step.op {
            return self.block(body, items);
        }
        self.counted(step.line, &items)?;
        match &step.op {
            Op::Emit(values) if self.feed.is_some() => values.iter().try_for_each(|value| self.fed(*value, &items))?,
            Op::Emit(values) => values.iter().try_for_each(|value| self.evaluate(*value, &items))?,
            Op::If { condition, test, accept, reject } => {
                let held = self.holding(*condition, Tag::of(*test), &items)?;
                let other = items.without(&held);
                match test {
                    Test::ShortCircuit => {}
                    Test::If => self.decided(step.line, [&held, &other], [true, false].map(Decision::If)),
                    Test::Loop => self.decided(step.line, [&held, &other], [true, false].map(Decision::Loop)),
                }
                let parted = !held.is_empty() && !other.is_empty();
                let depth = self.parted.len();
                if parted {
                    self.parted.push(step.line);
                }
                let first = if held.is_empty() { Flow::on(held) } else { self.block(accept, held)? };
                let second = if other.is_empty() { Flow::on(other) } else { self.block(reject, other)? };
                self.parted.truncate(depth);
                // A loop that some leave: what follows in it is for the others alone.
                if parted && *test == Test::Loop {
                    self.parted.push(step.line);
                }
                return Ok(Flow {
                    next: first.next.or(&second.next),
                    broke: first.broke.or(&second.broke),
                    continued: first.continued.or(&second.continued),
                });
            }
            Op::Switch { .. } => return self.switch(step, items),
            Op::Loop { body, continuing, break_if } => {
                let depth = self.parted.len();
                let (mut live, mut out) = (items, Mask::NONE);
                while !live.is_empty() {
                    // A loop of nothing has an end, too.
                    self.counted(step.line, &live)?;
                    let flow = self.block(body, live)?;
                    out = out.or(&flow.broke);
                    live = self.block(continuing, flow.next.or(&flow.continued))?.next;
                    if let Some(condition) = break_if
                        && !live.is_empty()
                    {
                        let ends = self.holding(*condition, Tag::Loop, &live)?;
                        let goes = live.without(&ends);
                        self.decided(step.line, [&goes, &ends], [true, false].map(Decision::Loop));
                        out = out.or(&ends);
                        live = goes;
                    }
                    if !live.is_empty() && live != items && self.parted.len() == depth {
                        self.parted.push(step.line);
                    }
                }
                self.parted.truncate(depth);
                return Ok(Flow::on(out));
            }
            Op::Break => return Ok(Flow { next: Mask::NONE, broke: items, continued: Mask::NONE }),
            Op::Continue => return Ok(Flow { next: Mask::NONE, broke: Mask::NONE, continued: items }),
            Op::Return(value) => {
                self.returned(*value, &items);
                if self.frames.len() == 1 {
                    let cause = self.parted.last().copied().unwrap_or(step.line);
                    self.left_at.get_or_insert(cause);
                }
                return Ok(Flow::on(Mask::NONE));
            }
            Op::Barrier(kinds) => self.barrier(step.line, &items, *kinds)?,
            Op::Store { pointer, value, leaves, site } => {
                let inside = self.accessed(*pointer, *site, &items)?;
                if self.feed.is_none() {
                    self.write(*pointer, *value, leaves, &inside)?;
                }
            }
            Op::Atomic { pointer, fun, value, result, scalar, site } => {
                let inside = self.accessed(*pointer, *site, &items)?;
                if self.feed.is_none() {
                    self.atomic(*pointer, *fun, *value, *result, *scalar, &items, &inside)?;
                }
            }
            Op::UniformLoad { pointer, result, leaves, site } => {
                // A barrier before the read and one after it.
                self.barrier(step.line, &items, Barrier::WORK_GROUP)?;
                if self.feed.is_some() {
                    self.accessed(*pointer, *site, &items)?;
                } else {
                    self.read(*result, *pointer, leaves, *site, &items)?;
                }
                self.barrier(step.line, &items, Barrier::WORK_GROUP)?;
            }
            Op::Texel { coordinate, layer, value, image } => {
                self.store_texels(*image, (*coordinate, *layer), *value, &items)?;
            }
            Op::Call { code, arguments, result } => self.call(*code, arguments, *result, &items)?,
            Op::Block(_) => {}
        }
        Ok(Flow::on(items))
    }

    /// Those of the items for whom a condition holds.
    fn holding(&mut self, condition: Value, tag: Tag, items: &Mask) -> Result<Mask, KernelError> {
        let mut held = Mask::NONE;
        if self.feed.is_some() {
            for item in items.iter() {
                if self.word(item, tag)? != 0 {
                    held.insert(item);
                }
            }
            return Ok(held);
        }
        items.iter().filter(|item| self.at(condition, 0, *item) != 0).for_each(|item| held.insert(item));
        Ok(held)
    }

    fn decided(&mut self, line: u32, items: [&Mask; 2], decisions: [Decision; 2]) {
        for (items, decision) in items.into_iter().zip(decisions) {
            if !items.is_empty() {
                self.events += items.count() as u64;
                self.observer.decide(line, items, decision);
            }
        }
    }

    fn switch(&mut self, step: &Step, items: Mask) -> Result<Flow, KernelError> {
        let Op::Switch { selector, cases } = &step.op else { return Ok(Flow::on(items)) };
        let default = cases.iter().position(|case| case.value.is_none());
        let mut taken = vec![Mask::NONE; cases.len()];
        let mut next = Mask::NONE;
        for item in items.iter() {
            let value = match self.feed {
                Some(_) => self.number(item, Tag::Case)?,
                None => super::scalar::low(self.at(*selector, 0, item)),
            };
            match cases.iter().position(|case| case.value == Some(value)).or(default) {
                Some(case) => taken[case].insert(item),
                None => next.insert(item),
            }
        }
        // Values that share a body are one way: those before it have none and fall through to it.
        for case in 0..cases.len().saturating_sub(1) {
            if cases[case].fall_through && cases[case].body.is_empty() {
                taken[case + 1] = taken[case + 1].or(&taken[case]);
                taken[case] = Mask::NONE;
            }
        }
        let ways = taken.iter().filter(|items| !items.is_empty()).count();
        for (number, items) in (0..).zip(&taken) {
            if !items.is_empty() {
                self.events += items.count() as u64;
                self.observer.decide(step.line, items, Decision::Case(number));
            }
        }
        let depth = self.parted.len();
        if ways > 1 {
            self.parted.push(step.line);
        }
        let mut continued = Mask::NONE;
        let mut falling = Mask::NONE;
        for (case, items) in cases.iter().zip(&taken) {
            let here = items.or(&falling);
            falling = Mask::NONE;
            if here.is_empty() {
                continue;
            }
            let flow = self.block(&case.body, here)?;
            continued = continued.or(&flow.continued);
            next = next.or(&flow.broke);
            if case.fall_through {
                falling = flow.next;
            } else {
                next = next.or(&flow.next);
            }
        }
        self.parted.truncate(depth);
        Ok(Flow { next: next.or(&falling), broke: Mask::NONE, continued })
    }

    fn barrier(&mut self, line: u32, items: &Mask, kinds: Barrier) -> Result<(), KernelError> {
        if self.feed.is_some() {
            items.iter().try_for_each(|item| self.word(item, Tag::Barrier).map(|_| ()))?;
        }
        self.events += items.count() as u64;
        let (workgroup, storage) = (kinds.contains(Barrier::WORK_GROUP), kinds.contains(Barrier::STORAGE));
        let texture = kinds.contains(Barrier::TEXTURE);
        self.observer.barrier(line, items, (workgroup, storage));
        if items.count() < self.items {
            let cause = self.parted.last().copied().or(self.left_at).unwrap_or(line);
            let (group, came, of) = (self.group, items.count(), self.items);
            self.lone.entry((line, cause)).or_insert(LoneBarrier { line, cause, group, came, of });
        }
        self.phases.workgroup += u64::from(workgroup);
        self.phases.storage += u64::from(storage);
        self.phases.texture += u64::from(texture);
        Ok(())
    }

    fn write(&mut self, pointer: Value, value: Value, leaves: &[Leaf], items: &Mask) -> Result<(), KernelError> {
        let Pointer { place, offsets, .. } = self.pointer(pointer)?;
        let (place, offsets) = (*place, offsets.clone());
        for item in items.iter() {
            for (n, leaf) in leaves.iter().enumerate() {
                let scalar = self.at(value, n, item);
                let (bytes, at) = self.bytes_mut(place, item, offsets[item] + leaf.offset);
                types::store(bytes, at, leaf.scalar, scalar);
            }
        }
        Ok(())
    }

    /// One item after the other.
    #[expect(clippy::too_many_arguments, reason = "the parts of one statement")]
    fn atomic(
        &mut self,
        pointer: Value,
        fun: AtomicFunction,
        value: Value,
        result: Option<Value>,
        scalar: Scalar,
        items: &Mask,
        inside: &Mask,
    ) -> Result<(), KernelError> {
        let Pointer { place, offsets, .. } = self.pointer(pointer)?;
        let (place, offsets) = (*place, offsets.clone());
        let op = match fun {
            AtomicFunction::Add => Some(operation(BinaryOperator::Add, scalar)),
            AtomicFunction::Subtract => Some(operation(BinaryOperator::Subtract, scalar)),
            AtomicFunction::And => Some(operation(BinaryOperator::And, scalar)),
            AtomicFunction::ExclusiveOr => Some(operation(BinaryOperator::ExclusiveOr, scalar)),
            AtomicFunction::InclusiveOr => Some(operation(BinaryOperator::InclusiveOr, scalar)),
            _ => None,
        };
        let less = operation(BinaryOperator::Less, scalar);
        let compares = matches!(fun, AtomicFunction::Exchange { compare: Some(_) });
        let mut results = vec![0; self.items * if compares { 2 } else { 1 }];
        for item in items.iter().filter(|item| inside.has(*item)) {
            let given = self.at(value, 0, item);
            let (bytes, at) = self.bytes(place, item, offsets[item]);
            let old = types::load(bytes, at, scalar);
            let mut exchanged = true;
            let new = match (fun, &op) {
                (_, Some(op)) => op(old, given),
                (AtomicFunction::Min, _) => {
                    if less(given, old) == 1 {
                        given
                    } else {
                        old
                    }
                }
                (AtomicFunction::Max, _) => {
                    if less(old, given) == 1 {
                        given
                    } else {
                        old
                    }
                }
                (AtomicFunction::Exchange { compare: Some(compare) }, _) => {
                    exchanged = self.at(compare, 0, item) == old;
                    if exchanged { given } else { old }
                }
                _ => given,
            };
            let (bytes, at) = self.bytes_mut(place, item, offsets[item]);
            types::store(bytes, at, scalar, new);
            results[item] = old;
            if compares {
                results[self.items + item] = exchanged.into();
            }
        }
        if let (Some(result), Some(frame)) = (result, self.frames.last_mut()) {
            frame.values[result.index()] = results;
        }
        Ok(())
    }

    /// Keeps what items return.
    fn returned(&mut self, value: Option<Value>, items: &Mask) {
        let all = self.items;
        let (Some(value), Some(frame), None) = (value, self.frames.last_mut(), &self.feed) else { return };
        let values = &frame.values[value.index()];
        frame.returned.resize(values.len(), 0);
        for leaf in 0..values.len() / all {
            for item in items.iter() {
                frame.returned[leaf * all + item] = values[leaf * all + item];
            }
        }
    }

    fn call(
        &mut self,
        code: usize,
        arguments: &[Value],
        result: Option<Value>,
        items: &Mask,
    ) -> Result<(), KernelError> {
        let mut frame = self.frame(code)?;
        frame.returned.clear();
        let compiled = self.compiled;
        let program = self.program;
        let function = program.function(compiled.codes[code].which);
        if let (Some(caller), None) = (self.frames.last(), &self.feed) {
            for (value, expression) in function.expressions.iter() {
                let naga::Expression::FunctionArgument(n) = *expression else { continue };
                let Some(argument) = arguments.get(n as usize) else { continue };
                frame.values[value.index()].clone_from(&caller.values[argument.index()]);
                frame.pointers[value.index()].clone_from(&caller.pointers[argument.index()]);
            }
        }
        self.frames.push(frame);
        if self.feed.is_none() {
            self.start_locals(items)?;
        }
        self.block(&compiled.codes[code].body, *items)?;
        let Some(mut frame) = self.frames.pop() else { return Ok(()) };
        if let (Some(result), Some(caller), None) = (result, self.frames.last_mut(), &self.feed) {
            std::mem::swap(&mut caller.values[result.index()], &mut frame.returned);
        }
        self.spare[code].push(frame);
        Ok(())
    }
}
