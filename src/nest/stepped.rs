//! Expressions that grow evenly from one border to the next: sums of multiples of indices, and of whole parts and remainders of their
//! divisions by a number. The place of an element in tiles is one.

use super::expr::{Expr, Op};
use super::form::Affine;

/// A sum of multiples, and of divisions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stepped {
    affine: Affine,
    divisions: Vec<Division>,
}

/// `of / by` as a whole number and its remainder, the first `quotient` times, the second `remainder` times.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Division {
    of: Affine,
    /// 1 or more.
    by: i64,
    quotient: i64,
    remainder: i64,
}

/// How an expression goes on with the iterations of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) first: i64,
    /// What it grows by with each iteration.
    pub(super) grows: i64,
    /// Iterations, this one counted, in which it grows so; 1 or more.
    pub(super) rounds: u64,
}

impl Affine {
    /// See [`Run`]; the same for as many iterations as there are.
    pub(super) fn run(&self, values: &[i64], slot: usize, step: i64) -> Option<Run> {
        let first = self.eval(values).ok()?;
        Some(Run { first, grows: self.slope(slot).checked_mul(step)?, rounds: u64::MAX })
    }
}

impl Run {
    /// The value so many iterations later.
    pub(super) fn after(&self, iterations: i64) -> Option<i64> {
        self.first.checked_add(self.grows.checked_mul(iterations)?)
    }
}

impl Division {
    /// Whole number, rounded down, and remainder, which is 0 or more.
    fn both(&self, of: i64) -> (i64, i64) {
        if self.by.count_ones() == 1 {
            return (of >> self.by.trailing_zeros(), of & (self.by - 1));
        }
        (of.div_euclid(self.by), of.rem_euclid(self.by))
    }

    fn run(&self, values: &[i64], slot: usize, step: i64) -> Option<Run> {
        let of = self.of.run(values, slot, step)?;
        let (quotient, remainder) = self.both(of.first);
        let first = self.quotient.checked_mul(quotient)?.checked_add(self.remainder.checked_mul(remainder)?)?;
        let (leaps, rest) = if of.grows == 0 { (0, 0) } else { self.both(of.grows) };
        if rest == 0 {
            return Some(Run { first, grows: self.quotient.checked_mul(leaps)?, rounds: u64::MAX });
        }
        // As long as the quotient stays.
        let left = if of.grows > 0 { self.by - 1 - remainder } else { remainder };
        let rounds = left.unsigned_abs() / of.grows.unsigned_abs() + 1;
        Some(Run { first, grows: self.remainder.checked_mul(of.grows)?, rounds })
    }
}

impl Stepped {
    /// Of an expression that is one, with a division at least.
    pub(super) fn of(expr: &Expr) -> Option<Self> {
        let mut stack: Vec<Self> = Vec::new();
        for op in expr.ops() {
            let value = match op {
                Op::Num(_) | Op::Slot(_) => Self::plain(Affine::of(&Expr::of_op(op.clone()))?),
                Op::Neg => stack.pop()?.scaled(-1)?,
                Op::Add | Op::Sub => {
                    let (b, a) = (stack.pop()?, stack.pop()?);
                    a.plus(b.scaled(if *op == Op::Add { 1 } else { -1 })?)?
                }
                Op::Mul => {
                    let (b, a) = (stack.pop()?, stack.pop()?);
                    match (a.constant(), b.constant()) {
                        (Some(by), _) => b.scaled(by)?,
                        (_, Some(by)) => a.scaled(by)?,
                        _ => return None,
                    }
                }
                Op::FloorDiv | Op::Mod => {
                    let (b, a) = (stack.pop()?, stack.pop()?);
                    let by = b.constant().filter(|by| *by >= 1 && a.divisions.is_empty())?;
                    let quotient = i64::from(*op == Op::FloorDiv);
                    let division = Division { of: a.affine, by, quotient, remainder: 1 - quotient };
                    Self { affine: Affine::default(), divisions: vec![division] }
                }
                _ => return None,
            };
            stack.push(value);
        }
        stack.pop().filter(|found| stack.is_empty() && !found.divisions.is_empty())
    }

    fn plain(affine: Affine) -> Self {
        Self { affine, divisions: Vec::new() }
    }

    fn constant(&self) -> Option<i64> {
        (self.divisions.is_empty() && self.affine.terms.is_empty()).then_some(self.affine.constant)
    }

    fn scaled(self, by: i64) -> Option<Self> {
        let affine = self.affine.scaled(by)?;
        let mut divisions = self.divisions;
        for division in &mut divisions {
            division.quotient = division.quotient.checked_mul(by)?;
            division.remainder = division.remainder.checked_mul(by)?;
        }
        Some(Self { affine, divisions })
    }

    fn plus(self, other: Self) -> Option<Self> {
        let affine = self.affine.combined(&other.affine, 1)?;
        let mut divisions = self.divisions;
        for division in other.divisions {
            // Of one division both is found at once.
            match divisions.iter_mut().find(|d| d.by == division.by && d.of == division.of) {
                Some(same) => {
                    same.quotient = same.quotient.checked_add(division.quotient)?;
                    same.remainder = same.remainder.checked_add(division.remainder)?;
                }
                None => divisions.push(division),
            }
        }
        Some(Self { affine, divisions })
    }

    /// The value; `None` where that is past 64 bits, or a slot has no value.
    pub(super) fn eval(&self, values: &[i64]) -> Option<i64> {
        let mut sum = self.affine.eval(values).ok()?;
        for division in &self.divisions {
            let (quotient, remainder) = division.both(division.of.eval(values).ok()?);
            let part =
                division.quotient.checked_mul(quotient)?.checked_add(division.remainder.checked_mul(remainder)?)?;
            sum = sum.checked_add(part)?;
        }
        Some(sum)
    }

    /// How it goes on with a loop over `slot`, whose index grows by `step`; `None` as [`Stepped::eval`].
    pub(super) fn run(&self, values: &[i64], slot: usize, step: i64) -> Option<Run> {
        let mut sum = self.affine.run(values, slot, step)?;
        for division in &self.divisions {
            let part = division.run(values, slot, step)?;
            sum.first = sum.first.checked_add(part.first)?;
            sum.grows = sum.grows.checked_add(part.grows)?;
            sum.rounds = sum.rounds.min(part.rounds);
        }
        Some(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sums() -> impl Strategy<Value = Expr> {
        let inner = (0usize..2, -9i64..10, -30i64..30)
            .prop_map(|(slot, by, more)| Expr::slot(slot).with(Expr::num(by), Op::Mul).with(Expr::num(more), Op::Add));
        let term = (inner, 1i64..20, prop::sample::select(vec![Op::FloorDiv, Op::Mod, Op::Add]), -5i64..6)
            .prop_map(|(of, by, op, times)| of.with(Expr::num(by), op).with(Expr::num(times), Op::Mul));
        prop::collection::vec(term, 1..5)
            .prop_map(|terms| terms.into_iter().reduce(|a, b| a.with(b, Op::Add)).expect("a term"))
    }

    proptest! {
        #[test]
        fn runs_give_what_the_expression_does(
            expr in sums(),
            start in (-60i64..60, -60i64..60),
            slot in 0usize..2,
            step in prop::sample::select(vec![-16i64, -7, -2, -1, 1, 2, 3, 8, 24]),
        ) {
            let Some(stepped) = Stepped::of(&expr) else { return Ok(()) };
            let mut values = [start.0, start.1];
            let mut round = 0u64;
            let mut run = stepped.run(&values, slot, step).expect("small numbers");
            for _ in 0..40 {
                prop_assert_eq!(stepped.eval(&values), expr.eval(&values).ok());
                if round == run.rounds {
                    run = stepped.run(&values, slot, step).expect("small numbers");
                    round = 0;
                }
                prop_assert_eq!(run.after(round.cast_signed()), expr.eval(&values).ok());
                round += 1;
                values[slot] += step;
            }
        }
    }

    #[test]
    fn a_run_is_as_long_as_can_be() {
        // 8 elements of a row of a tile, and all of a column of tiles.
        let index = || Expr::slot(0);
        let inside = index().with(Expr::num(8), Op::Mod);
        let tile = index().with(Expr::num(8), Op::FloorDiv).with(Expr::num(64), Op::Mul);
        let place = Stepped::of(&tile.with(inside, Op::Add)).expect("a sum of divisions");
        assert_eq!(place.run(&[3], 0, 1), Some(Run { first: 3, grows: 1, rounds: 5 }));
        assert_eq!(place.run(&[3], 0, -1), Some(Run { first: 3, grows: -1, rounds: 4 }));
        assert_eq!(place.run(&[3], 0, 16), Some(Run { first: 3, grows: 128, rounds: u64::MAX }));
        assert_eq!(place.run(&[3], 1, 1), Some(Run { first: 3, grows: 0, rounds: u64::MAX }));
    }

    #[test]
    fn what_is_no_sum_of_divisions_is_none() {
        let product = Expr::slot(0).with(Expr::slot(1), Op::Mul);
        let by_nothing = Expr::slot(0).with(Expr::num(0), Op::FloorDiv);
        let nested = Expr::slot(0).with(Expr::num(4), Op::FloorDiv).with(Expr::num(2), Op::Mod);
        for expr in [Expr::slot(0), product, by_nothing, nested] {
            assert_eq!(Stepped::of(&expr), None, "{expr:?}");
        }
        let far = Stepped::of(&Expr::slot(0).with(Expr::num(3), Op::Mod).with(Expr::num(i64::MAX), Op::Mul));
        assert_eq!(far.and_then(|far| far.eval(&[2])), None);
    }
}
