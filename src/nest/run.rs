//! Runs the control flow of a graph, once for each set of values that it depends on.

use super::count::Counter;
use super::fault::NestError;
use super::form::Form;
use super::machine::{Left, Machine, Region, Repeat, Run, Step};

/// Steps of one control flow.
const MOST_STEPS: u64 = 1 << 22;

/// A control flow that is being run.
pub(super) struct Running<'c, 'a> {
    counter: &'c mut Counter<'a>,
    machine: &'c Machine,
    run: Run,
    steps: u64,
}

impl<'c, 'a> Running<'c, 'a> {
    pub(super) fn new(counter: &'c mut Counter<'a>, machine: &'c Machine) -> Self {
        Self { counter, machine, run: Run::default(), steps: 0 }
    }

    /// All that the control flow passes under these values.
    pub(super) fn finish(mut self, values: &mut [i64]) -> Result<Run, NestError> {
        let machine = self.machine;
        self.region(&machine.region, values)?;
        Ok(self.run)
    }

    fn assign(&self, assign: &[(usize, Form)], values: &mut [i64]) -> Result<(), NestError> {
        // All at once: what one gets is not seen by the next.
        let new: Vec<i64> = assign
            .iter()
            .map(|(slot, form)| {
                let name = &self.counter.nest.slots[*slot];
                form.eval(values).map_err(|e| self.counter.wrong(e, &format!("the value of `{name}`")))
            })
            .collect::<Result<_, _>>()?;
        assign.iter().zip(new).for_each(|((slot, _), value)| values[*slot] = value);
        Ok(())
    }

    fn holds(&self, condition: &Form, values: &[i64]) -> Result<bool, NestError> {
        Ok(condition.eval(values).map_err(|e| self.counter.wrong(e, "a condition"))? != 0)
    }

    fn stepped(&mut self) -> Result<(), NestError> {
        self.steps += 1;
        self.counter.works(1)?;
        if self.steps > MOST_STEPS {
            let found = format!("a control flow of more than {MOST_STEPS} states, one after the other");
            let expected = "one that ends sooner; loops of the form i = a; i < b; i = i + c count as one state";
            return Err(self.counter.fault(found, expected, "set smaller values, or let DaCe simplify the graph"));
        }
        Ok(())
    }

    fn region(&mut self, region: &Region, values: &mut [i64]) -> Result<Left, NestError> {
        let Some(Repeat { init, condition, update, inverted, updates_first }) = &region.repeats else {
            return self.once(region, values);
        };
        self.assign(init, values)?;
        let mut first = *inverted;
        loop {
            if !first && !self.holds(condition, values)? {
                return Ok(Left::AtItsEnd);
            }
            self.stepped()?;
            match self.once(region, values)? {
                Left::ByBreak => return Ok(Left::AtItsEnd),
                Left::ByReturn => return Ok(Left::ByReturn),
                Left::AtItsEnd | Left::ByContinue => {}
            }
            if *inverted && !updates_first && !self.holds(condition, values)? {
                return Ok(Left::AtItsEnd);
            }
            self.assign(update, values)?;
            // One that updates last has asked already.
            first = *inverted && !updates_first;
        }
    }

    fn once(&mut self, region: &Region, values: &mut [i64]) -> Result<Left, NestError> {
        let mut at = region.start;
        while let Some(step) = region.steps.get(at) {
            self.stepped()?;
            let left = match step {
                Step::Work(block) => {
                    self.work(*block, values)?;
                    Left::AtItsEnd
                }
                Step::Region(inner) => self.region(inner, values)?,
                Step::Choose(branches) => self.choose(branches, values)?,
                Step::Break => Left::ByBreak,
                Step::Continue => Left::ByContinue,
                Step::Return => Left::ByReturn,
            };
            if left != Left::AtItsEnd {
                return Ok(left);
            }
            let mut next = None;
            for edge in region.edges.get(at).into_iter().flatten() {
                if edge.condition.as_ref().map_or(Ok(true), |c| self.holds(c, values))? {
                    next = Some(edge);
                    break;
                }
            }
            let Some(edge) = next else { break };
            self.assign(&edge.assign, values)?;
            at = edge.to;
        }
        Ok(Left::AtItsEnd)
    }

    fn choose(&mut self, branches: &[(Option<Form>, Region)], values: &mut [i64]) -> Result<Left, NestError> {
        for (condition, region) in branches {
            if condition.as_ref().map_or(Ok(true), |c| self.holds(c, values))? {
                return self.region(region, values);
            }
        }
        Ok(Left::AtItsEnd)
    }

    fn work(&mut self, block: usize, values: &mut [i64]) -> Result<(), NestError> {
        let Some(content) = self.machine.blocks.get(block) else { return Ok(()) };
        let count = self.counter.block(content, values)?;
        if count > 0 {
            let run = &mut self.run;
            run.starts.push(run.total);
            run.blocks.push(block);
            run.values.extend(self.machine.assigned.iter().map(|slot| values[*slot]));
            run.total = run.total.checked_add(count).ok_or_else(|| self.counter.too_many())?;
        }
        Ok(())
    }
}
