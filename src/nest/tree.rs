//! A nest: loops, conditions and accesses as a tree, whose leaves say by formulas which element is touched.

use super::container::Container;
use super::expr::Expr;
use super::form::Form;
use super::machine::Machine;
use crate::reference::Kind;

/// A part of a nest.
#[cfg_attr(not(feature = "native"), expect(dead_code, reason = "control flow comes from graphs alone, which are JSON"))]
#[derive(Clone, Debug)]
pub(super) enum Node {
    Access(Access),
    Loop(Box<Loop>),
    If(Box<Branch>),
    /// Gives a slot a value for all that follows in its block.
    Set {
        slot: usize,
        value: Form,
    },
    Machine(Box<Machine>),
}

/// Nodes that are done one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    pub(super) nodes: Vec<Node>,
    pub(super) count: Count,
}

/// What is known of the number of accesses.
#[derive(Clone, Debug, Default)]
pub(super) struct Count {
    /// Slots that it depends on, in rising order.
    pub(super) slots: Vec<usize>,
    /// The number where it depends on none.
    pub(super) fixed: Option<u64>,
}

/// One touch of one element, in each iteration.
#[derive(Clone, Debug)]
pub(super) struct Access {
    pub(super) container: usize,
    pub(super) kind: Kind,
    pub(super) statement: usize,
    /// Elements from the container's first byte.
    pub(super) offset: Form,
    /// Indices that must be inside of their extents.
    pub(super) checks: Vec<Check>,
}

#[derive(Clone, Debug)]
pub(super) struct Check {
    pub(super) index: Form,
    pub(super) extent: Form,
    /// Which index, from 0.
    pub(super) dimension: usize,
}

/// A loop over `from`, `from + step`, ... as long as it is before `to`.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    pub(super) slot: usize,
    pub(super) from: Form,
    pub(super) to: Form,
    pub(super) step: Form,
    /// Whether `iteration` tells of it: copies and whole rows are loops that nobody wrote.
    pub(super) shown: bool,
    pub(super) cores: Option<Cores>,
    pub(super) body: Block,
    /// Number in its nest.
    pub(super) number: usize,
    /// Slots that bounds and body depend on, but for its own.
    pub(super) outer: Vec<usize>,
    /// Whether every iteration makes as many accesses.
    pub(super) even: bool,
    /// Whether the accesses of the first iterations are a polynomial in their number, as long as no loop inside ends before it starts.
    pub(super) smooth: bool,
    /// Loops within one another, this one the first and nothing between them, in groups of which none changes another's bounds; by how
    /// deep they are. Empty where there is but one group.
    pub(super) groups: Vec<Vec<usize>>,
    /// Whether the body is accesses alone, one at least, whose places grow evenly, or do so from one border of tiles to the next.
    pub(super) plain: bool,
}

/// Which core an iteration of a parallel loop runs on.
#[derive(Clone, Debug)]
pub(super) enum Cores {
    /// Each core has a block of iterations, as even as can be.
    Blocks(u16),
    /// In turn.
    Cyclic(u16),
    /// As a formula says.
    On(u16, Form),
}

impl Cores {
    pub(super) fn count(&self) -> u16 {
        match self {
            Self::Blocks(n) | Self::Cyclic(n) | Self::On(n, _) => *n,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Branch {
    pub(super) condition: Form,
    pub(super) yes: Block,
    pub(super) no: Block,
}

/// What makes accesses: a line of a `.loops` file, a tasklet of a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statement {
    /// As a message names it: `` `C[i,j] += A[i,k] * B[k,j]` ``.
    pub name: String,
    /// `x.loops`, or the Python file that a graph names.
    pub file: String,
    /// Line, from 1; 0 = unknown.
    pub line: u32,
    /// As it stands in the file; empty = unknown.
    pub text: String,
    /// Operations of one execution: arithmetic, and calls of functions.
    pub operations: u64,
    /// The state of a graph that it is in; empty where there is none.
    pub state: String,
}

/// Loops, conditions and accesses whose bounds have values, but for the loop indices.
#[derive(Clone, Debug, Default)]
pub struct Nest {
    /// As messages name it: the file.
    pub(super) name: String,
    pub(super) title: String,
    pub(super) subtitle: String,
    pub(super) containers: Vec<Container>,
    /// Names of loop indices and assigned symbols.
    pub(super) slots: Vec<String>,
    /// What slots are before anything runs.
    pub(super) initial: Vec<i64>,
    pub(super) statements: Vec<Statement>,
    pub(super) root: Block,
    /// Parameters that are slots with a value, and no numbers: of nests whose volumes are asked for.
    pub(super) parameters: Vec<usize>,
    /// What of the file makes no accesses here, so that numbers of the whole would be wrong; one sentence each.
    pub(super) gaps: Vec<String>,
    pub(super) notices: Vec<String>,
    /// The same for the same file and values.
    pub(super) identity: String,
}

impl Nest {
    /// As messages name it: the file.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Title for people.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Its containers, transient ones too, in the order of the file.
    #[must_use]
    pub fn containers(&self) -> &[Container] {
        &self.containers
    }

    /// What of the file makes no accesses here, and what to do about it; one sentence each. Numbers of the whole would be wrong.
    #[must_use]
    pub fn gaps(&self) -> &[String] {
        &self.gaps
    }

    /// What people should hear; one sentence each.
    #[must_use]
    pub fn notices(&self) -> &[String] {
        &self.notices
    }
}

impl Block {
    pub(super) fn of(nodes: Vec<Node>) -> Self {
        Self { nodes, count: Count::default() }
    }
}

impl Access {
    /// An access with its offset in elements, and what must hold of its indices.
    pub(super) fn new(container: usize, kind: Kind, statement: usize, offset: Expr, checks: Vec<Check>) -> Self {
        Self { container, kind, statement, offset: Form::of(offset), checks }
    }
}

impl Loop {
    /// A loop of which counting has still to learn what it depends on.
    pub(super) fn new(slot: usize, [from, to, step]: [Expr; 3], body: Vec<Node>) -> Self {
        Self {
            slot,
            from: Form::of(from),
            to: Form::of(to),
            step: Form::of(step),
            shown: true,
            cores: None,
            body: Block::of(body),
            number: 0,
            outer: Vec::new(),
            even: false,
            smooth: false,
            groups: Vec::new(),
            plain: false,
        }
    }

    #[cfg(feature = "native")]
    pub(super) fn hidden(self) -> Self {
        Self { shown: false, ..self }
    }
}
