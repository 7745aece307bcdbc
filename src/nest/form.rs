//! An expression made ready to be worked out often: a sum of multiples of indices where it is one.

use super::expr::{EvalError, Expr, Op, UNSET};
use super::stepped::{Run, Stepped};

/// A constant, and slots with what they are multiplied by; no slot twice, no factor 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Affine {
    pub(super) constant: i64,
    pub(super) terms: Vec<(usize, i64)>,
}

/// An expression in slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Affine(Affine),
    /// With the expression that it is: who asks for an error gets that of the expression.
    Stepped(Box<Stepped>, Expr),
    General(Expr),
}

impl Affine {
    pub(super) fn eval(&self, values: &[i64]) -> Result<i64, EvalError> {
        let mut sum = self.constant;
        for &(slot, factor) in &self.terms {
            let value = values.get(slot).copied().unwrap_or(UNSET);
            if value == UNSET {
                return Err(EvalError::Unset(slot));
            }
            let term = value.checked_mul(factor).ok_or(EvalError::Overflow)?;
            sum = sum.checked_add(term).ok_or(EvalError::Overflow)?;
        }
        Ok(sum)
    }

    /// What the value grows by where this slot grows by 1.
    pub(super) fn slope(&self, slot: usize) -> i64 {
        self.terms.iter().find(|(s, _)| *s == slot).map_or(0, |(_, factor)| *factor)
    }

    pub(super) fn combined(&self, other: &Self, sign: i64) -> Option<Self> {
        let mut out = self.clone();
        out.constant = out.constant.checked_add(other.constant.checked_mul(sign)?)?;
        for &(slot, factor) in &other.terms {
            let factor = factor.checked_mul(sign)?;
            match out.terms.iter_mut().find(|(s, _)| *s == slot) {
                Some((_, sum)) => *sum = sum.checked_add(factor)?,
                None => out.terms.push((slot, factor)),
            }
        }
        out.terms.retain(|(_, factor)| *factor != 0);
        Some(out)
    }

    pub(super) fn scaled(&self, by: i64) -> Option<Self> {
        let mut out = Self { constant: self.constant.checked_mul(by)?, terms: Vec::new() };
        for &(slot, factor) in self.terms.iter().filter(|_| by != 0) {
            out.terms.push((slot, factor.checked_mul(by)?));
        }
        Some(out)
    }

    /// Of an expression that is one.
    pub(super) fn of(expr: &Expr) -> Option<Self> {
        let mut stack: Vec<Self> = Vec::new();
        for op in expr.ops() {
            let value = match op {
                Op::Num(constant) => Self { constant: *constant, terms: Vec::new() },
                Op::Slot(slot) => Self { constant: 0, terms: vec![(*slot, 1)] },
                Op::Neg => stack.pop()?.scaled(-1)?,
                Op::Add | Op::Sub => {
                    let (b, a) = (stack.pop()?, stack.pop()?);
                    a.combined(&b, if *op == Op::Add { 1 } else { -1 })?
                }
                Op::Mul => {
                    let (b, a) = (stack.pop()?, stack.pop()?);
                    match (a.terms.is_empty(), b.terms.is_empty()) {
                        (true, _) => b.scaled(a.constant)?,
                        (_, true) => a.scaled(b.constant)?,
                        _ => return None,
                    }
                }
                // Of numbers alone it is a number.
                Op::FloorDiv | Op::CeilDiv | Op::Mod | Op::Min | Op::Max | Op::Pow => {
                    let (b, a) = (stack.pop()?, stack.pop()?);
                    if !(a.terms.is_empty() && b.terms.is_empty()) {
                        return None;
                    }
                    let both = Expr::num(a.constant).with(Expr::num(b.constant), op.clone());
                    Self { constant: both.eval(&[]).ok()?, terms: Vec::new() }
                }
                _ => return None,
            };
            stack.push(value);
        }
        stack.pop()
    }
}

impl Form {
    pub(super) fn of(expr: Expr) -> Self {
        match (Affine::of(&expr), Stepped::of(&expr)) {
            (Some(affine), _) => Self::Affine(affine),
            (None, Some(stepped)) => Self::Stepped(Box::new(stepped), expr),
            (None, None) => Self::General(expr),
        }
    }

    pub(super) fn num(value: i64) -> Self {
        Self::Affine(Affine { constant: value, terms: Vec::new() })
    }

    #[inline]
    pub(super) fn eval(&self, values: &[i64]) -> Result<i64, EvalError> {
        match self {
            Self::Affine(affine) => affine.eval(values),
            Self::Stepped(stepped, expr) => stepped.eval(values).map_or_else(|| expr.eval(values), Ok),
            Self::General(expr) => expr.eval(values),
        }
    }

    /// How it goes on with a loop over `slot`, whose index grows by `step`; `None` where that is not known.
    #[inline]
    pub(super) fn run(&self, values: &[i64], slot: usize, step: i64) -> Option<Run> {
        match self {
            Self::Affine(affine) => affine.run(values, slot, step),
            Self::Stepped(stepped, _) => stepped.run(values, slot, step),
            Self::General(_) => None,
        }
    }

    pub(super) fn affine(&self) -> Option<&Affine> {
        if let Self::Affine(affine) = self { Some(affine) } else { None }
    }

    /// The value where it depends on nothing.
    pub(super) fn constant(&self) -> Option<i64> {
        self.affine().filter(|affine| affine.terms.is_empty()).map(|affine| affine.constant)
    }

    /// Adds the slots that it depends on.
    pub(super) fn slots(&self, out: &mut Vec<usize>) {
        match self {
            Self::Affine(affine) => out.extend(affine.terms.iter().map(|(slot, _)| *slot)),
            Self::Stepped(_, expr) | Self::General(expr) => out.extend(expr.slots()),
        }
    }
}
