//! Fractions that say so when they no longer fit.

/// `over / under` in lowest terms, `under` above 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ratio {
    pub(super) over: i128,
    pub(super) under: i128,
}

/// The greatest number that divides both; 0 of two zeros.
pub(super) fn gcd(a: i128, b: i128) -> Option<i128> {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b > 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).ok()
}

impl Ratio {
    pub(super) const ONE: Self = Self { over: 1, under: 1 };

    pub(super) fn whole(over: i128) -> Self {
        Self { over, under: 1 }
    }

    pub(super) fn new(over: i128, under: i128) -> Option<Self> {
        let divisor = gcd(over, under)?;
        if under == 0 || divisor == 0 {
            return None;
        }
        let sign = if under < 0 { -1 } else { 1 };
        Some(Self { over: (over / divisor).checked_mul(sign)?, under: (under / divisor).checked_mul(sign)? })
    }

    pub(super) fn plus(self, other: Self) -> Option<Self> {
        let (a, b) = (self.over.checked_mul(other.under)?, other.over.checked_mul(self.under)?);
        Self::new(a.checked_add(b)?, self.under.checked_mul(other.under)?)
    }

    pub(super) fn times(self, other: Self) -> Option<Self> {
        // Crosswise first, so that less is too large on the way.
        let (a, b) = (Self::new(self.over, other.under)?, Self::new(other.over, self.under)?);
        Self::new(a.over.checked_mul(b.over)?, a.under.checked_mul(b.under)?)
    }

    pub(super) fn inverse(self) -> Option<Self> {
        Self::new(self.under, self.over)
    }

    pub(super) fn is_zero(self) -> bool {
        self.over == 0
    }
}
