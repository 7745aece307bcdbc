//! Polynomials as people write them: `I * J * K * 4`, `N * (N + 1) / 2`, `int_ceil(N, 3)`.

use super::poly::{Atom, Atoms, Made, Monomial, Poly};
use super::ratio::{Ratio, gcd};
use super::sums::Product;
use std::fmt::Write as _;

/// Letters of an expression that is still read, at most.
const MOST_LETTERS: usize = 2000;

/// Names of atoms.
pub(super) struct Pen<'a> {
    pub(super) atoms: &'a Atoms,
    pub(super) slots: &'a [String],
}

impl Pen<'_> {
    /// A sum of products; `None` where nobody would read it.
    pub(super) fn sum(&self, products: &[Product]) -> Option<String> {
        let texts: Option<Vec<String>> = products.iter().map(|product| self.product(product)).collect();
        let text = texts?.join(" + ");
        let text = if text.is_empty() { "0".to_owned() } else { text };
        (text.len() <= MOST_LETTERS).then_some(text)
    }

    /// A product: names, then sums, then the number.
    pub(super) fn product(&self, product: &Product) -> Option<String> {
        let mut number = product.number;
        let mut parts: Vec<String> = Vec::new();
        for factor in &product.factors {
            let (content, shared, rest) = content(factor)?;
            number = number.times(content)?;
            if !shared.is_empty() {
                parts.push(self.monomial(&shared)?);
            }
            match rest.constant() {
                Some(rest) => number = number.times(rest)?,
                None => {
                    let text = self.poly(&rest)?;
                    parts.push(if rest.terms.len() > 1 { format!("({text})") } else { text });
                }
            }
        }
        if number.over != 1 || parts.is_empty() {
            parts.push(number.over.to_string());
        }
        let mut text = parts.join(" * ");
        if number.under != 1 {
            let _ = write!(text, " / {}", number.under);
        }
        (text.len() <= MOST_LETTERS).then_some(text)
    }

    fn poly(&self, poly: &Poly) -> Option<String> {
        let mut terms: Vec<(&Monomial, &Ratio)> = poly.terms.iter().collect();
        let degree = |monomial: &Monomial| monomial.iter().map(|(_, power)| *power).sum::<u32>();
        // What is added before what is taken off, and high powers first.
        terms.sort_by_key(|(monomial, factor)| (std::cmp::Reverse(degree(monomial)), factor.over < 0));
        let mut text = String::new();
        for (monomial, factor) in terms {
            let size = factor.over.checked_abs()?;
            let mut term = if monomial.is_empty() { String::new() } else { self.monomial(monomial)? };
            if size != 1 || monomial.is_empty() {
                let _ = if term.is_empty() { write!(term, "{size}") } else { write!(term, " * {size}") };
            }
            if factor.under != 1 {
                let _ = write!(term, " / {}", factor.under);
            }
            text.push_str(match (text.is_empty(), factor.over < 0) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            });
            text.push_str(&term);
            if text.len() > MOST_LETTERS {
                return None;
            }
        }
        Some(if text.is_empty() { "0".into() } else { text })
    }

    fn monomial(&self, monomial: &Monomial) -> Option<String> {
        let parts: Option<Vec<String>> = monomial
            .iter()
            .map(|&(atom, power)| {
                let name = self.atom(atom)?;
                Some(if power == 1 { name } else { format!("{name}**{power}") })
            })
            .collect();
        Some(parts?.join(" * "))
    }

    /// Atoms are within one another no deeper than [`Atoms`] allows.
    fn atom(&self, atom: usize) -> Option<String> {
        match self.atoms.list().get(atom)? {
            Atom::Slot(slot) => self.slots.get(*slot).cloned(),
            Atom::Made(made, [a, b]) => {
                let (a, b) = (self.poly(a)?, self.poly(b)?);
                let name = match made {
                    Made::Floor => "int_floor",
                    Made::Ceil => "int_ceil",
                    Made::Mod => "mod",
                    Made::Min => "min",
                    Made::Max => "max",
                };
                let text = format!("{name}({a}, {b})");
                (text.len() <= MOST_LETTERS).then_some(text)
            }
        }
    }
}

/// The number and the atoms that all terms share, and what is left.
fn content(poly: &Poly) -> Option<(Ratio, Monomial, Poly)> {
    let (mut over, mut under) = (0i128, 1i128);
    let mut shared: Option<Monomial> = None;
    for (monomial, factor) in &poly.terms {
        over = gcd(over, factor.over)?;
        under = under.checked_mul(factor.under / gcd(under, factor.under)?)?;
        shared = Some(match shared {
            None => monomial.clone(),
            Some(before) => {
                let common = before.into_iter().filter_map(|(atom, power)| {
                    let other = monomial.iter().find(|(a, _)| *a == atom)?.1;
                    Some((atom, power.min(other)))
                });
                common.collect()
            }
        });
    }
    let number = Ratio::new(over.max(1), under)?;
    let shared = shared.unwrap_or_default();
    let mut rest = Poly::default();
    for (monomial, factor) in &poly.terms {
        let left = monomial.iter().filter_map(|&(atom, power)| {
            let taken = shared.iter().find(|(a, _)| *a == atom).map_or(0, |(_, power)| *power);
            (power > taken).then_some((atom, power - taken))
        });
        rest.terms.insert(left.collect(), factor.times(number.inverse()?)?);
    }
    Some((number, shared, rest))
}
