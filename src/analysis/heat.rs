//! From numbers to shades: how far along a scale of colours each of many numbers is.
//!
//! Mean-, median- and histogram-centred scales are those of Schaad, Ben-Nun and Hoefler (2022); linear and exponential ones those of
//! Cube (Saviankou et al., 2015).

/// How numbers are spread over a scale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeatScale {
    /// From 0 to twice the mean; what is past it has the last shade. Shows what stands out.
    #[default]
    Mean,
    /// From 0 to twice the median; what is past it has the last shade. Groups what is alike.
    Median,
    /// By rank among the numbers that differ. Shows how they are distributed.
    Histogram,
    /// From the least to the greatest, evenly.
    Linear,
    /// From the least to the greatest, by their logarithms.
    Exponential,
}

impl HeatScale {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Mean, Self::Median, Self::Histogram, Self::Linear, Self::Exponential];

    /// As a flag names it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Median => "median",
            Self::Histogram => "histogram",
            Self::Linear => "linear",
            Self::Exponential => "exponential",
        }
    }

    /// What it is good for, one sentence.
    #[must_use]
    pub const fn what(self) -> &'static str {
        match self {
            Self::Mean => "From 0 to twice the mean: what stands out",
            Self::Median => "From 0 to twice the median: what is alike has one colour",
            Self::Histogram => "By rank among the numbers that differ: how they are distributed",
            Self::Linear => "From the least number to the greatest, evenly",
            Self::Exponential => "From the least number to the greatest, by logarithms",
        }
    }
}

/// A scale over the numbers that it was made of.
#[derive(Clone, Debug, Default)]
pub struct Heat {
    scale: HeatScale,
    /// Numbers that differ, in rising order.
    distinct: Vec<u64>,
    centre: f64,
}

#[expect(clippy::cast_precision_loss, reason = "numbers as shades")]
impl Heat {
    /// Over these numbers.
    #[must_use]
    pub fn new(scale: HeatScale, values: impl IntoIterator<Item = u64>) -> Self {
        let mut sorted: Vec<u64> = values.into_iter().collect();
        sorted.sort_unstable();
        let count = sorted.len();
        let centre = match scale {
            HeatScale::Mean => sorted.iter().map(|value| *value as f64).sum::<f64>() / count.max(1) as f64,
            HeatScale::Median => {
                let middle = |at: usize| sorted.get(at).map_or(0.0, |value| *value as f64);
                (middle(count.saturating_sub(1) / 2) + middle(count / 2)) / 2.0
            }
            _ => 0.0,
        };
        sorted.dedup();
        Self { scale, distinct: sorted, centre }
    }

    /// How far along the scale a number is, 0 to 1.
    #[must_use]
    pub fn share(&self, value: u64) -> f64 {
        let (Some(&least), Some(&most)) = (self.distinct.first(), self.distinct.last()) else { return 0.0 };
        let between =
            |value: f64, least: f64, most: f64| if most > least { (value - least) / (most - least) } else { 1.0 };
        let share = match self.scale {
            HeatScale::Mean | HeatScale::Median if self.centre > 0.0 => value as f64 / (2.0 * self.centre),
            HeatScale::Mean | HeatScale::Median => between(value as f64, 0.0, most as f64),
            HeatScale::Histogram => {
                let rank = self.distinct.partition_point(|other| *other < value);
                between(rank as f64, 0.0, (self.distinct.len() - 1) as f64)
            }
            HeatScale::Linear => between(value as f64, least as f64, most as f64),
            HeatScale::Exponential => {
                let log = |value: u64| (value as f64 + 1.0).ln();
                between(log(value), log(least), log(most))
            }
        };
        share.clamp(0.0, 1.0)
    }

    /// The numbers at the start and at the end of the scale; of ranks the least and the greatest.
    #[must_use]
    pub fn ends(&self) -> (f64, f64) {
        let end = |value: Option<&u64>| value.map_or(0.0, |value| *value as f64);
        match self.scale {
            HeatScale::Mean | HeatScale::Median => (0.0, 2.0 * self.centre),
            _ => (end(self.distinct.first()), end(self.distinct.last())),
        }
    }

    /// How numbers are spread.
    #[must_use]
    pub fn scale(&self) -> HeatScale {
        self.scale
    }
}

#[cfg(test)]
mod tests {
    use super::{Heat, HeatScale};

    #[test]
    fn scales_are_those_of_the_paper() {
        let values = [10, 20, 30, 40, 900];
        let shares = |scale: HeatScale| {
            let heat = Heat::new(scale, values);
            values.map(|value| (heat.share(value) * 1000.0).round() / 1000.0)
        };
        // Mean 200: the outlier is past 400, all others are low.
        assert_eq!(shares(HeatScale::Mean), [0.025, 0.05, 0.075, 0.1, 1.0]);
        // Median 30.
        assert_eq!(shares(HeatScale::Median), [0.167, 0.333, 0.5, 0.667, 1.0]);
        assert_eq!(shares(HeatScale::Histogram), [0.0, 0.25, 0.5, 0.75, 1.0]);
        assert_eq!(shares(HeatScale::Linear), [0.0, 0.011, 0.022, 0.034, 1.0]);
        assert!(shares(HeatScale::Exponential).windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(Heat::new(HeatScale::Median, values).ends(), (0.0, 60.0));
        for scale in HeatScale::ALL {
            for values in [vec![], vec![0], vec![7], vec![0, 0, u64::MAX]] {
                let heat = Heat::new(scale, values.iter().copied());
                assert!(
                    [0, 7, u64::MAX].iter().all(|value| (0.0..=1.0).contains(&heat.share(*value))),
                    "{scale:?} {values:?}"
                );
            }
        }
    }
}
