//! Values that were told: how many, and from where to where.

/// What is known of the values of one `// @emit`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ValueStats {
    /// Values that were told.
    pub count: u64,
    /// Those of them that are no finite number; they are in nothing else here.
    pub not_finite: u64,
    /// The least.
    pub least: f32,
    /// The greatest.
    pub greatest: f32,
    sum: f64,
}

impl ValueStats {
    pub(super) fn add(&mut self, value: f32) {
        self.count += 1;
        if !value.is_finite() {
            self.not_finite += 1;
            return;
        }
        if self.finite() == 1 {
            (self.least, self.greatest) = (value, value);
        }
        self.least = self.least.min(value);
        self.greatest = self.greatest.max(value);
        self.sum += f64::from(value);
    }

    fn finite(&self) -> u64 {
        self.count - self.not_finite
    }

    /// Their mean; nothing where there is none that is finite.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a mean")]
    pub fn mean(&self) -> Option<f64> {
        (self.finite() > 0).then(|| self.sum / self.finite() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_is_counted_apart() {
        let mut stats = ValueStats::default();
        assert_eq!(stats.mean(), None);
        [f32::NAN, 3.0, -1.0, f32::INFINITY, 4.0].into_iter().for_each(|value| stats.add(value));
        assert_eq!((stats.count, stats.not_finite, stats.least, stats.greatest), (5, 2, -1.0, 4.0));
        assert_eq!(stats.mean(), Some(2.0));
    }
}
