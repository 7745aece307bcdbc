//! What the parts of a nest move and compute, as expressions in its parameters: volumes without walking.
//!
//! ```text
//! tree of loops, parameters as slots -> polynomials of bounds -> products, summed loop by loop -> text and value
//! ```
//!
//! An expression is told where it is known to be right for the values at hand: where no loop ends before it starts (there Faulhaber's
//! formula holds), or where it gives what counting gives. All else is counted, and said to have no closed form.

mod operations;
mod poly;
mod ratio;
mod sums;
#[cfg(test)]
mod tests;
mod text;
mod visit;

pub(super) use operations::operations;

use super::container::Container;
use super::count::{Cache, Counter, prepare};
use super::fault::NestError;
use super::tree::Nest;
use poly::Atoms;
use sums::Product;
use text::Pen;

/// A number as an expression in the parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Amount {
    /// As people write it, such as `I * J * K * 4`; `None` = no closed form is known, or nobody would read it.
    pub text: Option<String>,
    /// Its value; `None` where it is past 64 bits, or takes too long to be counted.
    pub value: Option<u64>,
    products: Option<Vec<Product>>,
}

/// What a task does with a container. An update reads and writes.
#[derive(Clone, Debug, PartialEq)]
pub struct Moved {
    /// Number of the container among those of the nest.
    pub container: usize,
    /// Accesses that read, in elements.
    pub reads: Amount,
    /// Accesses that write, in elements.
    pub writes: Amount,
    /// Accesses that do both, in elements.
    pub updates: Amount,
    /// Bytes that come from it: of reads and updates.
    pub bytes_in: Amount,
    /// Bytes that go to it: of writes and updates.
    pub bytes_out: Amount,
}

/// A statement, a tasklet or a copy.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Number of the statement among those of the nest: [`Walk::first_of`](super::Walk::first_of) takes it.
    pub statement: usize,
    /// As messages name it.
    pub name: String,
    /// The text of it, or a name.
    pub text: String,
    /// Whether it copies a container; `text` is the container's name then.
    pub is_copy: bool,
    /// File that it is from, and the line in it, from 1; 0 = unknown.
    pub source: (String, u32),
    /// How often it is done.
    pub executions: Amount,
    /// Arithmetic operations and calls of functions, all executions together.
    pub operations: Amount,
    /// What it moves, in the order in which it touches containers.
    pub moved: Vec<Moved>,
    /// All bytes that it moves, in and out.
    pub bytes: Amount,
}

/// Tasks within the same loops, one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// State of a graph; empty where there is none.
    pub state: String,
    /// Names of the loops around, the outermost first.
    pub loops: Vec<String>,
    /// How often the innermost loop's body is done.
    pub iterations: Amount,
    /// What is done there.
    pub tasks: Vec<Task>,
}

/// Volumes of a nest.
#[derive(Debug)]
pub struct Volumes {
    nest: Nest,
    atoms: Atoms,
    items: Vec<Item>,
    accesses: u64,
}

impl Amount {
    /// Bytes for each operation, the other way round: `None` where nothing moves.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a quotient for people")]
    pub fn per(&self, other: &Self) -> Option<f64> {
        let (over, under) = (self.value?, other.value?);
        (under > 0).then(|| over as f64 / under as f64)
    }

    /// The quotient as an expression: a number where parameters do not matter.
    #[must_use]
    pub fn per_text(&self, other: &Self) -> Option<String> {
        match (self.products.as_deref()?, other.products.as_deref()?) {
            ([a], [b]) if a.factors == b.factors => {
                let ratio = a.number.times(b.number.inverse()?)?;
                Some(if ratio.under == 1 {
                    ratio.over.to_string()
                } else {
                    format!("{} / {}", ratio.over, ratio.under)
                })
            }
            ([], _) => Some("0".into()),
            _ => Some(format!("({}) / ({})", self.text.as_ref()?, other.text.as_ref()?)),
        }
    }
}

impl Volumes {
    /// Of a nest whose parameters are slots.
    pub(super) fn of(mut nest: Nest) -> Result<Self, NestError> {
        prepare(&mut nest);
        let cache = Cache::default();
        let mut values = nest.initial.clone();
        let accesses = Counter::new(&nest, &cache).block(&nest.root, &mut values)?;
        let (atoms, items) = visit::items(&nest);
        Ok(Self { nest, atoms, items, accesses })
    }

    /// Title for people; the name of the file where it has none.
    #[must_use]
    pub fn title(&self) -> &str {
        if self.nest.title.is_empty() { &self.nest.name } else { &self.nest.title }
    }

    /// Parameters that expressions are in, and their values.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, i64)> {
        let value = |slot: &usize| Some((self.nest.slots.get(*slot)?.as_str(), *self.nest.initial.get(*slot)?));
        self.nest.parameters.iter().filter_map(value)
    }

    /// Containers of the nest, in the order of the file.
    #[must_use]
    pub fn containers(&self) -> &[Container] {
        &self.nest.containers
    }

    /// What of the file makes no accesses, so that nothing is told of it; one sentence each.
    #[must_use]
    pub fn gaps(&self) -> &[String] {
        &self.nest.gaps
    }

    /// What is done, in the order of control.
    #[must_use]
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// All accesses.
    #[must_use]
    pub fn accesses(&self) -> u64 {
        self.accesses
    }

    /// The sum of amounts.
    pub fn sum<'a>(&self, amounts: impl IntoIterator<Item = &'a Amount>) -> Amount {
        let mut sum = visit::Sum::default();
        amounts.into_iter().for_each(|amount| sum.add(amount.products.as_deref(), amount.value));
        sum.finish(&Pen { atoms: &self.atoms, slots: &self.nest.slots })
    }
}
