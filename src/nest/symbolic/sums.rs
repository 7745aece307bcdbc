//! Products, and sums of them over the iterations of a loop.

use super::poly::{Atom, Atoms, Made, Poly, value_of};
use super::ratio::Ratio;

/// Factors that are kept apart, so that what is multiplied is read as it was written: `(N - 1) * (M - 2)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Product {
    /// What is left of a number before them.
    pub(super) number: Ratio,
    /// The outermost loop's first; none is a number.
    pub(super) factors: Vec<Poly>,
}

/// A loop whose bounds are polynomials: `from`, `from + step`, ..., `trips` of them.
#[derive(Clone, Debug)]
pub(super) struct Range {
    pub(super) slot: usize,
    pub(super) from: Poly,
    pub(super) to: Poly,
    pub(super) step: Poly,
    /// From the first index to the end, in the direction of the step; 0 where that is behind it.
    pub(super) far: Poly,
    pub(super) trips: Poly,
}

impl Product {
    pub(super) fn one() -> Self {
        Self { number: Ratio::ONE, factors: Vec::new() }
    }

    /// With a factor before the others.
    pub(super) fn times(mut self, factor: Poly) -> Option<Self> {
        match factor.constant() {
            Some(number) => self.number = self.number.times(number)?,
            None => self.factors.insert(0, factor),
        }
        if self.number.is_zero() {
            self.factors.clear();
        }
        Some(self)
    }

    pub(super) fn scaled(&self, by: u64) -> Option<Self> {
        let number = self.number.times(Ratio::whole(i128::from(by)))?;
        Some(Self { number, factors: if number.is_zero() { Vec::new() } else { self.factors.clone() } })
    }

    pub(super) fn value(&self, atoms: &[Option<i128>]) -> Option<u64> {
        let mut product = self.number;
        for factor in &self.factors {
            product = product.times(Ratio::whole(value_of(factor, atoms)?))?;
        }
        if product.under == 1 { u64::try_from(product.over).ok() } else { None }
    }

    /// The sum over the iterations of a loop: right where the loop does not end before it starts.
    pub(super) fn summed(self, atoms: &mut Atoms, range: &Range) -> Option<Self> {
        let (inside, outside): (Vec<_>, Vec<_>) =
            self.factors.into_iter().partition(|factor| atoms.depends(factor, range.slot));
        let rest = Self { number: self.number, factors: outside };
        let Some((first, others)) = inside.split_first() else { return rest.times(range.trips.clone()) };
        let product = others.iter().try_fold(first.clone(), |product, factor| product.times(factor))?;
        rest.times(sum(atoms, range, &product)?)
    }
}

fn sum(atoms: &mut Atoms, range: &Range, body: &Poly) -> Option<Poly> {
    let index = atoms.slot(range.slot)?.atoms().next()?;
    let mut within: Vec<usize> =
        body.atoms().filter(|a| *a != index && atoms.depends(&Poly::atom(*a), range.slot)).collect();
    within.sort_unstable();
    within.dedup();
    match within[..] {
        [] => powers(range, &body.by_power(index)),
        [atom] => tiles(atoms, range, body, index, atom),
        _ => None,
    }
}

/// `c0 + c1 * i + c2 * i^2 + ...` over all iterations.
fn powers(range: &Range, factors: &[Poly]) -> Option<Poly> {
    let sums = power_sums(&range.trips, factors.len())?;
    let mut out = Poly::default();
    for (k, factor) in (0u32..).zip(factors) {
        if factor.is_zero() {
            continue;
        }
        // (from + step * t)^k by the binomial theorem.
        let mut chosen = 1i128;
        for (j, sum) in (0..=k).zip(&sums) {
            let term = factor.times(&range.from.power(k - j)?)?.times(&range.step.power(j)?)?.times(sum)?;
            out = out.plus(&term.scaled(Ratio::whole(chosen))?)?;
            chosen = chosen.checked_mul(i128::from(k - j))? / i128::from(j + 1);
        }
    }
    Some(out)
}

/// Faulhaber's: the sums of `t^0`, `t^1`, ... over `t` from 0 to below `trips`.
fn power_sums(trips: &Poly, count: usize) -> Option<Vec<Poly>> {
    let mut sums: Vec<Poly> = Vec::with_capacity(count);
    for j in (0u32..).take(count) {
        // trips^(j+1) is the sum of all (j+1 over m) * S_m for m to j.
        let mut sum = trips.power(j + 1)?;
        let mut chosen = 1i128;
        for (m, before) in (0u32..).zip(&sums) {
            sum = sum.minus(&before.scaled(Ratio::whole(chosen))?)?;
            chosen = chosen.checked_mul(i128::from(j + 1 - m))? / i128::from(m + 1);
        }
        sums.push(sum.scaled(Ratio::new(1, i128::from(j + 1))?)?);
    }
    Some(sums)
}

/// A loop over tiles, of which each but the last is whole: what is counted in a tile, `min(i + wide, to) - i` or so many steps of it, is
/// counted once over all of `from` to `to`.
fn tiles(atoms: &mut Atoms, range: &Range, body: &Poly, index: usize, atom: usize) -> Option<Poly> {
    let (i, end) = (Poly::atom(index), range.from.plus(&range.step)?);
    let wide = end.minus(&range.from)?;
    let is_end = |atoms: &Atoms, candidate: &Poly| {
        let [only] = candidate.terms.keys().collect::<Vec<_>>()[..] else { return false };
        let [(atom, 1)] = only[..] else { return false };
        let Some(Atom::Made(Made::Min, both)) = atoms.list().get(atom) else { return false };
        let Some(next) = i.plus(&wide) else { return false };
        candidate.constant().is_none() && both.contains(&next) && both.contains(&range.to)
    };
    let span = range.far.clone();
    let by_atom = body.by_power(atom);
    let [rest, factor] = &by_atom[..] else { return None };
    if atoms.depends(factor, range.slot) {
        return None;
    }
    if is_end(atoms, &Poly::atom(atom)) {
        // factor * (end - i) + others
        let others = rest.plus(&factor.times(&i)?)?;
        return if atoms.depends(&others, range.slot) {
            None
        } else {
            factor.times(&span)?.plus(&others.times(&range.trips)?)
        };
    }
    // factor * int_ceil(end - i, by) + others, tiles being whole steps
    let Some(Atom::Made(Made::Ceil, [over, by])) = atoms.list().get(atom).cloned() else { return None };
    let step = by.constant().filter(|by| by.under == 1 && by.over > 0)?;
    let whole = wide.constant().filter(|wide| wide.under == 1 && wide.over % step.over == 0);
    if whole.is_none() || atoms.depends(rest, range.slot) || !is_end(atoms, &over.plus(&i)?) {
        return None;
    }
    let all = atoms.made(Made::Ceil, &span, &by)?;
    factor.times(&all)?.plus(&rest.times(&range.trips)?)
}
