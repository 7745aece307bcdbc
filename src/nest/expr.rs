//! Whole-number expressions in names and loop indices, as a list of steps of a stack machine: however deep an expression is, nothing
//! here calls itself.

use std::fmt;
use std::sync::Arc;

/// A step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Num(i64),
    /// A parameter, symbol or index that is not resolved yet.
    Name(Arc<str>),
    /// A loop index or assigned symbol, by its place among the values.
    Slot(usize),
    Neg,
    Abs,
    Not,
    /// To the next whole number below, or above: what is not whole comes of [`Op::Divide`] alone.
    Floor,
    Ceil,
    Add,
    Sub,
    Mul,
    /// Rounds down, as Python's `//`.
    FloorDiv,
    CeilDiv,
    /// With the sign of the divisor, as Python's `%`.
    Mod,
    /// Exact: a fraction that does not vanish until the end is an error.
    Divide,
    Pow,
    Min,
    Max,
    Less,
    AtMost,
    Equal,
    Both,
    Either,
    /// Condition, value if so, value if not.
    Choose,
}

/// Steps, the result of which is left on the stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Expr {
    ops: Vec<Op>,
}

/// Why an expression has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EvalError {
    Overflow,
    ByZero,
    Fraction,
    /// A symbol is asked for before the graph gives it a value.
    Unset(usize),
    Unresolved,
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Overflow => "a number past 64 bits",
            Self::ByZero => "a division by zero",
            Self::Fraction => "a number that is not whole",
            Self::Unset(_) => "a symbol that has no value yet",
            Self::Unresolved => "a name without a value",
        })
    }
}

/// A value that was not set.
pub(super) const UNSET: i64 = i64::MIN;
/// Steps of one expression, at most.
pub(super) const MOST_OPS: usize = 100_000;

impl Expr {
    pub(super) fn num(value: i64) -> Self {
        Self { ops: vec![Op::Num(value)] }
    }

    pub(super) fn slot(slot: usize) -> Self {
        Self { ops: vec![Op::Slot(slot)] }
    }

    /// Of a step that takes nothing.
    pub(super) fn of_op(op: Op) -> Self {
        Self { ops: vec![op] }
    }

    pub(super) fn name(name: &str) -> Self {
        Self { ops: vec![Op::Name(name.into())] }
    }

    /// Steps that are an expression by themselves; `None` where they are none.
    #[cfg(feature = "native")]
    pub(super) fn of_ops(ops: &[Op]) -> Option<Self> {
        let mut depth = 0usize;
        for op in ops {
            let taken = match op {
                Op::Num(_) | Op::Name(_) | Op::Slot(_) => 0,
                Op::Neg | Op::Abs | Op::Not | Op::Floor | Op::Ceil => 1,
                Op::Choose => 3,
                _ => 2,
            };
            depth = depth.checked_sub(taken)? + 1;
        }
        (depth == 1).then(|| Self { ops: ops.to_vec() })
    }

    pub(super) fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// What is on the stack is taken by `op`.
    pub(super) fn then(mut self, op: Op) -> Self {
        self.ops.push(op);
        self
    }

    /// Two or more values, taken by `op`.
    pub(super) fn with(mut self, other: Self, op: Op) -> Self {
        self.ops.extend(other.ops);
        self.ops.push(op);
        self
    }

    /// Two values on the stack.
    pub(super) fn beside(mut self, other: Self) -> Self {
        self.ops.extend(other.ops);
        self
    }

    pub(super) fn plus(self, other: Self) -> Self {
        match (self.constant(), other.constant()) {
            (Some(0), _) => other,
            (_, Some(0)) => self,
            _ => self.with(other, Op::Add),
        }
    }

    pub(super) fn times(self, other: Self) -> Self {
        match (self.constant(), other.constant()) {
            (Some(0), _) | (_, Some(0)) => Self::num(0),
            (Some(1), _) => other,
            (_, Some(1)) => self,
            _ => self.with(other, Op::Mul),
        }
    }

    /// The value where it is a number by itself.
    pub(super) fn constant(&self) -> Option<i64> {
        match self.ops[..] {
            [Op::Num(value)] => Some(value),
            _ => None,
        }
    }

    /// Names that are not resolved.
    pub(super) fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.ops.iter().filter_map(|op| if let Op::Name(name) = op { Some(name) } else { None })
    }

    /// Slots that it depends on.
    pub(super) fn slots(&self) -> impl Iterator<Item = usize> {
        self.ops.iter().filter_map(|op| if let Op::Slot(slot) = op { Some(*slot) } else { None })
    }

    /// With each name replaced by what it stands for; the first name that stands for nothing.
    pub(super) fn resolved(&self, of: &mut dyn FnMut(&str) -> Option<Self>) -> Result<Self, Arc<str>> {
        let mut ops = Vec::with_capacity(self.ops.len());
        for op in &self.ops {
            match op {
                Op::Name(name) => ops.extend(of(name).ok_or_else(|| Arc::clone(name))?.ops),
                op => ops.push(op.clone()),
            }
        }
        let expr = Self { ops };
        // What is known is worked out once.
        let known = expr.slots().next().is_none() && expr.names().next().is_none();
        match known.then(|| expr.eval(&[])) {
            Some(Ok(value)) => Ok(Self::num(value)),
            _ => Ok(expr),
        }
    }

    /// The value under these values of slots.
    pub(super) fn eval(&self, values: &[i64]) -> Result<i64, EvalError> {
        if let Some(value) = self.constant() {
            return Ok(value);
        }
        if let Some(value) = self.eval_small(values) {
            return Ok(value);
        }
        let mut small = [Fraction::default(); 24];
        let mut large = Vec::new();
        let stack: &mut [Fraction] = if self.ops.len() <= small.len() {
            &mut small
        } else {
            large.resize(self.ops.len(), Fraction::default());
            &mut large
        };
        let mut depth = 0;
        for op in &self.ops {
            let (taken, value) = step(op, &stack[..depth], values)?;
            depth -= taken;
            stack[depth] = value;
            depth += 1;
        }
        let Fraction { over, under } = stack[0];
        if under != 1 {
            return Err(EvalError::Fraction);
        }
        i64::try_from(over).map_err(|_| EvalError::Overflow)
    }

    /// As [`Expr::eval`] where nothing on the way is past 64 bits, no fraction and no error: what is asked for most.
    fn eval_small(&self, values: &[i64]) -> Option<i64> {
        let mut stack = [0i64; 16];
        let mut depth = 0usize;
        for op in &self.ops {
            let top = |n: usize| depth.checked_sub(n).and_then(|at| stack.get(at)).copied();
            let (taken, value) = match op {
                Op::Num(value) => (0, *value),
                Op::Slot(slot) => (0, values.get(*slot).copied().filter(|value| *value != UNSET)?),
                Op::Name(_) | Op::Divide | Op::Pow => return None,
                Op::Neg => (1, top(1)?.checked_neg()?),
                Op::Abs => (1, top(1)?.checked_abs()?),
                Op::Not => (1, i64::from(top(1)? == 0)),
                Op::Floor | Op::Ceil => (1, top(1)?),
                Op::Choose => (3, if top(3)? != 0 { top(2)? } else { top(1)? }),
                op => {
                    let (a, b) = (top(2)?, top(1)?);
                    let value = match op {
                        Op::Add => a.checked_add(b)?,
                        Op::Sub => a.checked_sub(b)?,
                        Op::Mul => a.checked_mul(b)?,
                        // Both round alike where nothing is below 0.
                        Op::FloorDiv if a >= 0 && b > 0 => a / b,
                        Op::CeilDiv if a >= 0 && b > 0 => a / b + i64::from(a % b != 0),
                        Op::Mod if a >= 0 && b > 0 => a % b,
                        Op::Min => a.min(b),
                        Op::Max => a.max(b),
                        Op::Less => i64::from(a < b),
                        Op::AtMost => i64::from(a <= b),
                        Op::Equal => i64::from(a == b),
                        Op::Both => i64::from(a != 0 && b != 0),
                        Op::Either => i64::from(a != 0 || b != 0),
                        _ => return None,
                    };
                    (2, value)
                }
            };
            depth = depth.checked_sub(taken)?;
            *stack.get_mut(depth)? = value;
            depth += 1;
        }
        Some(stack[0])
    }
}

/// `over / under` in lowest terms, `under` above 0. Whole numbers, but for what [`Op::Divide`] makes.
#[derive(Clone, Copy, Default)]
struct Fraction {
    over: i128,
    under: i128,
}

impl Fraction {
    fn whole(over: i128) -> Self {
        Self { over, under: 1 }
    }

    fn new(over: i128, under: i128) -> Result<Self, EvalError> {
        let (mut a, mut b) = (over.unsigned_abs(), under.unsigned_abs());
        while b > 0 {
            (a, b) = (b, a % b);
        }
        let divisor = i128::try_from(a).map_err(|_| EvalError::Overflow)?;
        if under == 0 {
            return Err(EvalError::ByZero);
        }
        Ok(Self { over: over / divisor * under.signum(), under: (under / divisor).abs() })
    }

    fn is_whole(self) -> Result<i128, EvalError> {
        if self.under == 1 { Ok(self.over) } else { Err(EvalError::Fraction) }
    }
}

fn whole(value: Option<i128>) -> Result<Fraction, EvalError> {
    // Twice 64 bits are room for one product; more would not fit a number of the outside anyway.
    value.filter(|v| v.unsigned_abs() < 1 << 100).map(Fraction::whole).ok_or(EvalError::Overflow)
}

/// Values taken from the stack, and the one that is put there.
fn step(op: &Op, stack: &[Fraction], values: &[i64]) -> Result<(usize, Fraction), EvalError> {
    let top = |n: usize| stack.len().checked_sub(n).and_then(|at| stack.get(at)).copied().unwrap_or(Fraction::whole(0));
    let truth = |yes: bool| Fraction::whole(i128::from(yes));
    Ok(match op {
        Op::Num(value) => (0, Fraction::whole(i128::from(*value))),
        Op::Name(_) => return Err(EvalError::Unresolved),
        Op::Slot(slot) => match values.get(*slot) {
            None | Some(&UNSET) => return Err(EvalError::Unset(*slot)),
            Some(value) => (0, Fraction::whole(i128::from(*value))),
        },
        Op::Neg => (1, Fraction { over: -top(1).over, ..top(1) }),
        Op::Abs => (1, Fraction { over: top(1).over.abs(), ..top(1) }),
        Op::Not => (1, truth(top(1).over == 0)),
        Op::Floor => (1, Fraction::whole(top(1).over.div_euclid(top(1).under))),
        Op::Ceil => (1, Fraction::whole(-(-top(1).over).div_euclid(top(1).under))),
        Op::Choose => (3, if top(3).over != 0 { top(2) } else { top(1) }),
        op => (2, binary(op, top(2), top(1))?),
    })
}

fn binary(op: &Op, a: Fraction, b: Fraction) -> Result<Fraction, EvalError> {
    let truth = |yes: bool| Fraction::whole(i128::from(yes));
    let cross = || -> Result<(i128, i128), EvalError> {
        let over = |x: i128, y: i128| x.checked_mul(y).ok_or(EvalError::Overflow);
        Ok((over(a.over, b.under)?, over(b.over, a.under)?))
    };
    if a.under == 1 && b.under == 1 {
        let (a, b) = (a.over, b.over);
        let divisor = if b == 0 { Err(EvalError::ByZero) } else { Ok(b) };
        return match op {
            Op::Add => whole(a.checked_add(b)),
            Op::Sub => whole(a.checked_sub(b)),
            Op::Mul => whole(a.checked_mul(b)),
            Op::FloorDiv => divisor.map(|b| Fraction::whole(floor_div(a, b))),
            Op::CeilDiv => divisor.map(|b| Fraction::whole(-floor_div(-a, b))),
            Op::Mod => divisor.map(|b| Fraction::whole(a - b * floor_div(a, b))),
            Op::Divide => Fraction::new(a, divisor?),
            Op::Pow => match u32::try_from(b) {
                Ok(power) => whole(a.checked_pow(power)),
                Err(_) => Err(if b < 0 { EvalError::Fraction } else { EvalError::Overflow }),
            },
            Op::Min => Ok(Fraction::whole(a.min(b))),
            Op::Max => Ok(Fraction::whole(a.max(b))),
            Op::Less => Ok(truth(a < b)),
            Op::AtMost => Ok(truth(a <= b)),
            Op::Equal => Ok(truth(a == b)),
            Op::Both => Ok(truth(a != 0 && b != 0)),
            _ => Ok(truth(a != 0 || b != 0)),
        };
    }
    let (x, y) = cross()?;
    let under = a.under.checked_mul(b.under).ok_or(EvalError::Overflow)?;
    let product = |x: i128, y: i128| x.checked_mul(y).ok_or(EvalError::Overflow);
    match op {
        Op::Add => Fraction::new(x.checked_add(y).ok_or(EvalError::Overflow)?, under),
        Op::Sub => Fraction::new(x.checked_sub(y).ok_or(EvalError::Overflow)?, under),
        Op::Mul => Fraction::new(product(a.over, b.over)?, under),
        Op::Divide | Op::FloorDiv | Op::CeilDiv if b.over == 0 => Err(EvalError::ByZero),
        Op::Divide => Fraction::new(x, y),
        Op::FloorDiv => Ok(Fraction::whole(floor_div(x, y))),
        Op::CeilDiv => Ok(Fraction::whole(-floor_div(-x, y))),
        Op::Min => Ok(if x <= y { a } else { b }),
        Op::Max => Ok(if x >= y { a } else { b }),
        Op::Less => Ok(truth(x < y)),
        Op::AtMost => Ok(truth(x <= y)),
        Op::Equal => Ok(truth(x == y)),
        Op::Both => Ok(truth(a.is_whole()? != 0 && b.is_whole()? != 0)),
        Op::Either => Ok(truth(a.is_whole()? != 0 || b.is_whole()? != 0)),
        _ => Err(EvalError::Fraction),
    }
}

/// Rounds down, whatever the signs.
fn floor_div(a: i128, b: i128) -> i128 {
    let quotient = a / b;
    if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient }
}
