//! The first access that a statement makes: down the tree to it, counting what comes before.

use super::count::{Cache, Counter};
use super::expr::UNSET;
use super::fault::NestError;
use super::tree::{Block, Loop, Nest, Node};

/// Iterations and parts that are looked into, at most: where a statement is not done in the first ones, nobody waits for long.
const MOST_TRIED: u32 = 1 << 16;

struct Looking<'a> {
    counter: Counter<'a>,
    nest: &'a Nest,
    values: Vec<i64>,
    statement: usize,
    tried: u32,
}

/// The number of the first access of a statement; `None` where it makes none, or none in the first iterations of the loops around.
pub(super) fn first_of(nest: &Nest, cache: &Cache, statement: usize) -> Result<Option<u64>, NestError> {
    let counter = Counter::new(nest, cache);
    let mut looking = Looking { counter, nest, values: nest.initial.clone(), statement, tried: 0 };
    looking.block(&nest.root)
}

fn has(block: &Block, statement: usize) -> bool {
    block.nodes.iter().any(|node| match node {
        Node::Access(access) => access.statement == statement,
        Node::Loop(l) => has(&l.body, statement),
        Node::If(branch) => has(&branch.yes, statement) || has(&branch.no, statement),
        Node::Set { .. } => false,
        Node::Machine(machine) => machine.blocks.iter().any(|block| has(block, statement)),
    })
}

impl Looking<'_> {
    /// Accesses of a block before the first one of the statement.
    fn block(&mut self, block: &Block) -> Result<Option<u64>, NestError> {
        let mut before = 0u64;
        for node in &block.nodes {
            let within = match node {
                Node::Access(access) => (access.statement == self.statement).then_some(0),
                Node::Loop(l) if has(&l.body, self.statement) => self.iterations(l)?,
                Node::If(branch) => {
                    let holds = branch.condition.eval(&self.values);
                    let holds = holds.map_err(|e| self.counter.wrong(e, "a condition"))? != 0;
                    self.block(if holds { &branch.yes } else { &branch.no })?
                }
                Node::Set { slot, value } => {
                    let name = &self.nest.slots[*slot];
                    self.values[*slot] = value.eval(&self.values).map_err(|e| self.counter.wrong(e, name))?;
                    continue;
                }
                Node::Machine(machine) if machine.blocks.iter().any(|block| has(block, self.statement)) => {
                    let run = self.counter.run(machine, &mut self.values)?;
                    let width = machine.assigned.len();
                    let mut found = None;
                    for (part, (number, start)) in run.blocks.iter().zip(&run.starts).enumerate() {
                        let content = machine.blocks.get(*number).filter(|block| has(block, self.statement));
                        let Some(content) = content else { continue };
                        let values = run.values.get(part * width..(part + 1) * width).unwrap_or_default();
                        machine.assigned.iter().zip(values).for_each(|(slot, value)| self.values[*slot] = *value);
                        found = self.block(content)?.map(|within| start + within);
                        self.tried += 1;
                        if found.is_some() || self.tried > MOST_TRIED {
                            break;
                        }
                    }
                    found
                }
                Node::Loop(_) | Node::Machine(_) => None,
            };
            if let Some(within) = within {
                return Ok(Some(before.saturating_add(within)));
            }
            before = before.saturating_add(self.counter.node(node, &mut self.values)?);
        }
        Ok(None)
    }

    fn iterations(&mut self, l: &Loop) -> Result<Option<u64>, NestError> {
        let (from, step, trips) = self.counter.bounds(l, &self.values)?;
        let (mut before, mut index) = (0u64, from);
        for _ in 0..trips {
            self.tried += 1;
            if self.tried > MOST_TRIED {
                break;
            }
            self.values[l.slot] = index;
            if let Some(within) = self.block(&l.body)? {
                return Ok(Some(before.saturating_add(within)));
            }
            self.values[l.slot] = index;
            before = before.saturating_add(self.counter.block(&l.body, &mut self.values)?);
            index = index.wrapping_add(step);
        }
        // Behind the loop its index has no value.
        self.values[l.slot] = UNSET;
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use crate::nest::{Settings, Walk, loops};

    /// Where each statement is first found by walking.
    fn walked(walk: &Walk, statements: usize) -> Vec<Option<u64>> {
        let mut first = vec![None; statements];
        let mut out = Vec::new();
        walk.read(0, 1 << 20, &mut out).unwrap();
        for (tick, reference) in (0u64..).zip(&out) {
            let number = usize::try_from((reference.pc - super::super::emit::FIRST_PC) / super::super::emit::PC_STEP);
            first[number.unwrap()].get_or_insert(tick);
        }
        first
    }

    #[test]
    fn the_first_access_is_where_a_walk_finds_it() {
        let texts = [
            "array A[8] of f64\narray B[8] of f64\nfor i in 0..8 { A[i] = 1 }\nfor i in 0..8 { B[i] += A[i] }",
            "array A[9, 9] of f64\nfor t in 0..3 { for i in 0..9 { A[t, i] = 1 }\n for i in 0..9, j in 0..i { A[i, j] += 2 }\n A[t, t] = 0 }",
            "array A[9, 9] of f64\nfor i in 0..9 { if i == 5 { A[i, 0] = 1 } else { A[0, i] += 2 }\n for j in 7..i { A[j, i] = 3 } }",
            "array A[40] of f64\nfor i in 0..40 tile 7 { A[i] = 1 }\nfor i in 39..=0 step -3 { A[i] += 1 }\nif 1 > 2 { A[0] = 4 }",
        ];
        for text in texts {
            let source = loops::Source::parse("t.loops", text).unwrap();
            let walk = Walk::new(source.bind(&Settings::default()).unwrap(), 64).unwrap();
            let count = walk.nest().statements.len();
            let found: Vec<Option<u64>> = (0..count).map(|n| walk.first_of(n)).collect();
            assert_eq!(found, walked(&walk, count), "{text}");
            let volumes = source.volumes(&Settings::default()).unwrap();
            for task in volumes.items().iter().flat_map(|item| &item.tasks) {
                // Statements have one number, whether parameters have values or not.
                assert_eq!(walk.nest().statements[task.statement].text, task.text, "{text}");
                let tick = walk.first_of(task.statement);
                assert!(task.executions.value == Some(0) || tick.is_some(), "{text}");
            }
        }
    }
}
