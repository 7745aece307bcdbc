//! The control flow of a graph: states and what leads from one to the next, with symbols that get values on the way.
//!
//! It is run once for each set of values that it depends on, and what it passes is written down: the blocks it did, in order, with the
//! values of its symbols and the accesses before each. Loops that are plain loops never come here: they are [`Loop`](super::tree::Loop)s.

use super::form::Form;
use super::tree::Block;

/// A control flow that is run.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    /// Number in its nest.
    pub(super) number: usize,
    pub(super) region: Region,
    pub(super) blocks: Vec<Block>,
    /// Slots that it gives values.
    pub(super) assigned: Vec<usize>,
    /// Those of them that have none at its start.
    pub(super) fresh: Vec<usize>,
    /// Slots that its way depends on.
    pub(super) outer: Vec<usize>,
}

/// Steps and what leads from one to another.
#[derive(Clone, Debug, Default)]
pub(super) struct Region {
    pub(super) steps: Vec<Step>,
    /// Those that leave each step, in the order of the file.
    pub(super) edges: Vec<Vec<Edge>>,
    pub(super) start: usize,
    pub(super) repeats: Option<Repeat>,
}

#[cfg_attr(not(feature = "native"), expect(dead_code, reason = "control flow comes from graphs alone, which are JSON"))]
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// By its number among the blocks of the machine.
    Work(usize),
    Region(Box<Region>),
    /// The first whose condition holds; the last may have none.
    Choose(Vec<(Option<Form>, Region)>),
    Break,
    Continue,
    Return,
}

#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub(super) to: usize,
    pub(super) condition: Option<Form>,
    pub(super) assign: Vec<(usize, Form)>,
}

/// How a region is repeated.
#[derive(Clone, Debug)]
pub(super) struct Repeat {
    pub(super) init: Vec<(usize, Form)>,
    pub(super) condition: Form,
    pub(super) update: Vec<(usize, Form)>,
    /// Whether it runs once before it asks.
    pub(super) inverted: bool,
    /// Of an inverted one: whether it asks after it has updated.
    pub(super) updates_first: bool,
}

/// What a machine passed.
#[derive(Debug, Default)]
pub(super) struct Run {
    /// Accesses before each part, in rising order.
    pub(super) starts: Vec<u64>,
    /// The block of each part.
    pub(super) blocks: Vec<usize>,
    /// Values of the assigned slots during each part, one after the other.
    pub(super) values: Vec<i64>,
    pub(super) total: u64,
}

/// How a region was left.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    AtItsEnd,
    ByBreak,
    ByContinue,
    ByReturn,
}

impl Region {
    /// Calls `see` with each formula of the region and those inside.
    pub(super) fn forms(&self, see: &mut dyn FnMut(&Form)) {
        let repeats = self.repeats.iter();
        repeats.clone().for_each(|r| see(&r.condition));
        repeats.flat_map(|r| r.init.iter().chain(&r.update)).for_each(|(_, form)| see(form));
        for edge in self.edges.iter().flatten() {
            edge.condition.iter().for_each(&mut *see);
            edge.assign.iter().for_each(|(_, form)| see(form));
        }
        for step in &self.steps {
            match step {
                Step::Region(region) => region.forms(see),
                Step::Choose(branches) => {
                    for (condition, region) in branches {
                        condition.iter().for_each(&mut *see);
                        region.forms(see);
                    }
                }
                _ => {}
            }
        }
    }

    /// Calls `see` with each slot that gets a value.
    #[cfg(feature = "native")]
    pub(super) fn assigned(&self, see: &mut dyn FnMut(usize)) {
        self.repeats.iter().flat_map(|r| r.init.iter().chain(&r.update)).for_each(|(slot, _)| see(*slot));
        self.edges.iter().flatten().flat_map(|edge| &edge.assign).for_each(|(slot, _)| see(*slot));
        for step in &self.steps {
            match step {
                Step::Region(region) => region.assigned(see),
                Step::Choose(branches) => branches.iter().for_each(|(_, region)| region.assigned(see)),
                _ => {}
            }
        }
    }
}
