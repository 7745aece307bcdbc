//! Polynomials in atoms: parameters, loop indices, and what no polynomial tells (`min`, `int_ceil`), each under a number of its own.
//!
//! Sums, products and sums over loops stay exact: factors are fractions, and whatever grows too large is no polynomial any more (`None`)
//! rather than a wrong one. Atoms are made of polynomials in atoms of lower numbers, no more than [`DEEPEST`] within one another, so that
//! nothing here goes deep.

use super::ratio::Ratio;
use crate::nest::expr::{Expr, Op, UNSET};
use crate::nest::form::Form;
use std::collections::BTreeMap;

/// Terms of a polynomial, at most.
const MOST_TERMS: usize = 200;
/// Power of an atom, at most.
const MOST_POWER: u32 = 12;
/// Atoms within one another, at most.
const DEEPEST: u32 = 12;
/// Atoms, at most.
const MOST_ATOMS: usize = 500_000;

/// Atoms and their powers, in rising order.
pub(super) type Monomial = Vec<(usize, u32)>;

/// A sum of multiples of monomials, none of which is 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Poly {
    pub(super) terms: BTreeMap<Monomial, Ratio>,
}

/// What a polynomial is in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Atom {
    Slot(usize),
    Made(Made, [Poly; 2]),
}

/// Functions of two values that are atoms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Made {
    Floor,
    Ceil,
    Mod,
    Min,
    Max,
}

/// All atoms, by number.
#[derive(Debug, Default)]
pub(super) struct Atoms {
    list: Vec<Atom>,
    /// Atoms within one another, and slots below, in rising order.
    below: Vec<(u32, Vec<usize>)>,
    known: BTreeMap<Atom, usize>,
}

impl Poly {
    pub(super) fn num(value: i128) -> Self {
        Self::constant_of(Ratio::whole(value))
    }

    pub(super) fn constant_of(value: Ratio) -> Self {
        let mut terms = BTreeMap::new();
        if !value.is_zero() {
            terms.insert(Vec::new(), value);
        }
        Self { terms }
    }

    pub(super) fn atom(atom: usize) -> Self {
        Self { terms: BTreeMap::from([(vec![(atom, 1)], Ratio::ONE)]) }
    }

    /// The value where it is a number by itself.
    pub(super) fn constant(&self) -> Option<Ratio> {
        match self.terms.len() {
            0 => Some(Ratio::whole(0)),
            1 => self.terms.get(&Vec::new()).copied(),
            _ => None,
        }
    }

    pub(super) fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    pub(super) fn plus(&self, other: &Self) -> Option<Self> {
        let mut terms = self.terms.clone();
        for (monomial, factor) in &other.terms {
            match terms.get(monomial).copied() {
                None => drop(terms.insert(monomial.clone(), *factor)),
                Some(before) => {
                    let sum = before.plus(*factor)?;
                    if sum.is_zero() {
                        terms.remove(monomial);
                    } else {
                        terms.insert(monomial.clone(), sum);
                    }
                }
            }
        }
        (terms.len() <= MOST_TERMS).then_some(Self { terms })
    }

    pub(super) fn scaled(&self, by: Ratio) -> Option<Self> {
        if by.is_zero() {
            return Some(Self::default());
        }
        let scaled = self.terms.iter().map(|(monomial, factor)| Some((monomial.clone(), factor.times(by)?)));
        Some(Self { terms: scaled.collect::<Option<_>>()? })
    }

    pub(super) fn minus(&self, other: &Self) -> Option<Self> {
        self.plus(&other.scaled(Ratio::whole(-1))?)
    }

    pub(super) fn times(&self, other: &Self) -> Option<Self> {
        let mut out = Self::default();
        for (a, factor_a) in &self.terms {
            let mut row = BTreeMap::new();
            for (b, factor_b) in &other.terms {
                row.insert(product(a, b)?, factor_a.times(*factor_b)?);
            }
            out = out.plus(&Self { terms: row })?;
        }
        Some(out)
    }

    pub(super) fn power(&self, power: u32) -> Option<Self> {
        let mut out = Self::num(1);
        for _ in 0..power {
            out = out.times(self)?;
        }
        Some(out)
    }

    /// What powers of an atom are multiplied by, from 0 on.
    pub(super) fn by_power(&self, atom: usize) -> Vec<Self> {
        let mut out = vec![Self::default()];
        for (monomial, factor) in &self.terms {
            let power = monomial.iter().find(|(a, _)| *a == atom).map_or(0, |(_, power)| *power) as usize;
            if out.len() <= power {
                out.resize(power + 1, Self::default());
            }
            let rest = monomial.iter().copied().filter(|(a, _)| *a != atom).collect();
            out[power].terms.insert(rest, *factor);
        }
        out
    }

    pub(super) fn atoms(&self) -> impl Iterator<Item = usize> {
        self.terms.keys().flatten().map(|(atom, _)| *atom)
    }

    /// Whether its factors are whole numbers, and how it is one over a number where they are not.
    fn over(&self) -> Option<(Self, i128)> {
        let mut under = 1i128;
        for factor in self.terms.values() {
            under = under.checked_mul(factor.under / super::ratio::gcd(under, factor.under)?)?;
        }
        Some((self.scaled(Ratio::whole(under))?, under))
    }
}

fn product(a: &Monomial, b: &Monomial) -> Option<Monomial> {
    let mut out = a.clone();
    for &(atom, power) in b {
        match out.binary_search_by_key(&atom, |(a, _)| *a) {
            Ok(at) => out[at].1 += power,
            Err(at) => out.insert(at, (atom, power)),
        }
    }
    out.iter().all(|(_, power)| *power <= MOST_POWER).then_some(out)
}

impl Atoms {
    pub(super) fn list(&self) -> &[Atom] {
        &self.list
    }

    fn add(&mut self, atom: Atom) -> Option<Poly> {
        if let Some(known) = self.known.get(&atom) {
            return Some(Poly::atom(*known));
        }
        let (depth, slots) = match &atom {
            Atom::Slot(slot) => (0, vec![*slot]),
            Atom::Made(_, both) => {
                let inner = || both.iter().flat_map(Poly::atoms).filter_map(|a| self.below.get(a));
                let mut slots: Vec<usize> = inner().flat_map(|(_, slots)| slots.iter().copied()).collect();
                slots.sort_unstable();
                slots.dedup();
                (1 + inner().map(|(depth, _)| *depth).max().unwrap_or(0), slots)
            }
        };
        if depth > DEEPEST || self.list.len() >= MOST_ATOMS {
            return None;
        }
        self.list.push(atom.clone());
        self.below.push((depth, slots));
        self.known.insert(atom, self.list.len() - 1);
        Some(Poly::atom(self.list.len() - 1))
    }

    pub(super) fn slot(&mut self, slot: usize) -> Option<Poly> {
        self.add(Atom::Slot(slot))
    }

    /// Whether a polynomial changes with a slot.
    pub(super) fn depends(&self, poly: &Poly, slot: usize) -> bool {
        poly.atoms().any(|atom| self.below.get(atom).is_some_and(|(_, slots)| slots.binary_search(&slot).is_ok()))
    }

    /// Slots that a polynomial changes with.
    pub(super) fn slots(&self, poly: &Poly) -> Vec<usize> {
        let mut slots: Vec<usize> =
            poly.atoms().filter_map(|a| self.below.get(a)).flat_map(|(_, slots)| slots.iter().copied()).collect();
        slots.sort_unstable();
        slots.dedup();
        slots
    }

    /// A function of two polynomials: worked out where it is told by numbers, an atom otherwise.
    pub(super) fn made(&mut self, made: Made, a: &Poly, b: &Poly) -> Option<Poly> {
        match made {
            Made::Min | Made::Max => {
                if let Some(apart) = a.minus(b)?.constant() {
                    let first = if made == Made::Min { apart.over <= 0 } else { apart.over >= 0 };
                    return Some(if first { a.clone() } else { b.clone() });
                }
                // One order for both ways of writing it.
                let (a, b) = if a <= b { (a, b) } else { (b, a) };
                self.add(Atom::Made(made, [a.clone(), b.clone()]))
            }
            Made::Floor | Made::Ceil | Made::Mod => {
                let by = b.constant();
                if by.is_some_and(Ratio::is_zero) {
                    return None;
                }
                if let Some(by) = by.filter(|by| by.under == 1) {
                    // What is divided without a rest goes out of the function.
                    let (mut out, mut rest) = (Poly::default(), Poly::default());
                    for (monomial, factor) in &a.terms {
                        let whole = factor.under == 1 && factor.over % by.over == 0;
                        (if whole { &mut out } else { &mut rest }).terms.insert(monomial.clone(), *factor);
                    }
                    if let Some(rest) = rest.constant() {
                        let (over, under) = (rest.over, rest.under.checked_mul(by.over)?);
                        let floor = floor(over, under)?;
                        let is_whole = floor.checked_mul(under)? == over;
                        let small = match made {
                            Made::Mod if rest.under == 1 => {
                                return Some(Poly::num(over.checked_sub(floor.checked_mul(by.over)?)?));
                            }
                            Made::Mod => return None,
                            Made::Ceil if !is_whole => floor.checked_add(1)?,
                            _ => floor,
                        };
                        return out.scaled(by.inverse()?)?.plus(&Poly::num(small));
                    }
                }
                self.add(Atom::Made(made, [a.clone(), b.clone()]))
            }
        }
    }

    /// A form; `None` where it is none of these, or too large.
    pub(super) fn of_form(&mut self, form: &Form, known: &BTreeMap<usize, Option<Poly>>) -> Option<Poly> {
        match form {
            Form::Stepped(_, expr) | Form::General(expr) => self.of_expr(expr, known),
            Form::Affine(affine) => {
                let mut out = Poly::num(i128::from(affine.constant));
                for (slot, factor) in &affine.terms {
                    out = out.plus(&self.known_slot(*slot, known)?.scaled(Ratio::whole(i128::from(*factor)))?)?;
                }
                Some(out)
            }
        }
    }

    fn known_slot(&mut self, slot: usize, known: &BTreeMap<usize, Option<Poly>>) -> Option<Poly> {
        match known.get(&slot) {
            Some(meaning) => meaning.clone(),
            None => self.slot(slot),
        }
    }

    /// An expression in slots, step by step.
    pub(super) fn of_expr(&mut self, expr: &Expr, known: &BTreeMap<usize, Option<Poly>>) -> Option<Poly> {
        let mut stack: Vec<Poly> = Vec::new();
        for op in expr.ops() {
            let value = match op {
                Op::Num(value) => Poly::num(i128::from(*value)),
                Op::Slot(slot) => self.known_slot(*slot, known)?,
                Op::Name(_) => return None,
                Op::Neg => stack.pop()?.scaled(Ratio::whole(-1))?,
                Op::Floor | Op::Ceil => {
                    let (over, under) = stack.pop()?.over()?;
                    let made = if *op == Op::Floor { Made::Floor } else { Made::Ceil };
                    self.made(made, &over, &Poly::num(under))?
                }
                Op::Abs => {
                    let a = stack.pop()?;
                    let minus = a.scaled(Ratio::whole(-1))?;
                    self.made(Made::Max, &a, &minus)?
                }
                Op::Not => {
                    let truth = stack.pop()?.constant()?;
                    Poly::num(i128::from(truth.is_zero()))
                }
                Op::Choose => {
                    let (no, yes, condition) = (stack.pop()?, stack.pop()?, stack.pop()?);
                    match condition.constant() {
                        Some(truth) => {
                            if truth.is_zero() {
                                no
                            } else {
                                yes
                            }
                        }
                        None if yes == no => yes,
                        None => return None,
                    }
                }
                op => {
                    let (b, a) = (stack.pop()?, stack.pop()?);
                    self.binary(op, &a, &b)?
                }
            };
            stack.push(value);
        }
        stack.pop()
    }

    fn binary(&mut self, op: &Op, a: &Poly, b: &Poly) -> Option<Poly> {
        let truth = |yes: bool| Some(Poly::num(i128::from(yes)));
        match op {
            Op::Add => a.plus(b),
            Op::Sub => a.minus(b),
            Op::Mul => a.times(b),
            Op::Divide => a.scaled(b.constant()?.inverse()?),
            Op::Pow => {
                a.power(u32::try_from(b.constant().filter(|b| b.under == 1)?.over).ok().filter(|p| *p <= MOST_POWER)?)
            }
            Op::FloorDiv => self.made(Made::Floor, a, b),
            Op::CeilDiv => self.made(Made::Ceil, a, b),
            Op::Mod => self.made(Made::Mod, a, b),
            Op::Min => self.made(Made::Min, a, b),
            Op::Max => self.made(Made::Max, a, b),
            Op::Less => truth(a.minus(b)?.constant()?.over < 0),
            Op::AtMost => truth(a.minus(b)?.constant()?.over <= 0),
            Op::Equal => truth(a.minus(b)?.constant()?.is_zero()),
            Op::Both => truth(!a.constant()?.is_zero() && !b.constant()?.is_zero()),
            Op::Either => truth(!a.constant()?.is_zero() || !b.constant()?.is_zero()),
            _ => None,
        }
    }

    /// Adds the values of atoms that are new, under these values of slots; `None` where one has none.
    pub(super) fn evaluate(&self, slots: &[i64], values: &mut Vec<Option<i128>>) {
        for atom in self.list.iter().skip(values.len()) {
            let value = match atom {
                Atom::Slot(slot) => slots.get(*slot).copied().filter(|value| *value != UNSET).map(i128::from),
                Atom::Made(made, [a, b]) => value_of(a, values).zip(value_of(b, values)).and_then(|(a, b)| {
                    Some(match made {
                        Made::Min => a.min(b),
                        Made::Max => a.max(b),
                        Made::Floor => floor(a, b)?,
                        Made::Ceil => floor(a.checked_neg()?, b)?.checked_neg()?,
                        Made::Mod => a.checked_sub(floor(a, b)?.checked_mul(b)?)?,
                    })
                }),
            };
            values.push(value);
        }
    }
}

/// The next whole number at or below `a / b`.
fn floor(a: i128, b: i128) -> Option<i128> {
    let (quotient, rest) = (a.checked_div(b)?, a.checked_rem(b)?);
    if rest != 0 && ((rest < 0) != (b < 0)) { quotient.checked_sub(1) } else { Some(quotient) }
}

/// A polynomial under values of atoms, where that is a whole number.
pub(super) fn value_of(poly: &Poly, atoms: &[Option<i128>]) -> Option<i128> {
    let mut sum = Ratio::whole(0);
    for (monomial, factor) in &poly.terms {
        let mut term = *factor;
        for &(atom, power) in monomial {
            let value = (*atoms.get(atom)?)?;
            for _ in 0..power {
                term = term.times(Ratio::whole(value))?;
            }
        }
        sum = sum.plus(term)?;
    }
    (sum.under == 1).then_some(sum.over)
}
