//! Numbers along an axis: round ones, few enough to be read.

/// The least round step (1, 2 or 5 times a power of ten, 1 or more) by which a length is walked in `most` steps at most.
#[must_use]
pub fn step(length: f64, most: u32) -> f64 {
    let least = length.abs() / f64::from(most.max(1));
    if !least.is_finite() || least <= 1.0 {
        return 1.0;
    }
    let ten = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|n| n * ten).find(|step| *step >= least * (1.0 - 1e-9)).unwrap_or(10.0 * ten)
}

/// How far numbers reach above 0 and below it (both 0 or more, in numbers), and the step of the axis.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reach {
    /// The highest number of the axis.
    pub up: f64,
    /// How far it goes below 0.
    pub down: f64,
    /// From number to number.
    pub step: f64,
}

/// Numbers of an axis at most.
const MOST: u32 = 8;

impl Reach {
    /// Of these heights, whichever are finite, to whole steps; to a step above 0 where all are 0.
    #[must_use]
    pub fn of(heights: impl Iterator<Item = f64>) -> Self {
        let (up, down) = heights
            .filter(|height| height.is_finite())
            .fold((0f64, 0f64), |(up, down), height| (up.max(height), down.max(-height)));
        let step = step(up + down, MOST);
        let whole = |reach: f64| (reach / step - 1e-9).ceil().max(0.0) * step;
        let (up, down) = (whole(up), whole(down));
        if up + down > 0.0 { Self { up, down, step } } else { Self { up: step, down: 0.0, step } }
    }

    /// From end to end, more than 0.
    #[must_use]
    pub fn length(&self) -> f64 {
        self.up + self.down
    }

    /// The numbers of the axis, from below.
    pub fn numbers(&self) -> impl Iterator<Item = f64> + '_ {
        let all = (self.length() / self.step).round();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few")]
        let all = all.clamp(0.0, 1e3) as u32;
        (0..=all).map(|n| f64::from(n) * self.step - self.down)
    }

    /// Those of them that stand `apart` steps apart or more, 0 among them.
    pub fn thinned(&self, apart: f32) -> impl Iterator<Item = f64> + '_ {
        let by = step(f64::from(apart.max(1.0)), 1);
        self.numbers().filter(move |number| {
            let left = (number / self.step).abs() % by;
            left.min(by - left) < 1e-6
        })
    }
}

/// Indices that are named along `extent` elements, of which a name is at least `apart` elements wide: the first one, and the others by
/// round steps.
pub fn indices(extent: usize, apart: f32) -> impl Iterator<Item = usize> {
    let most = extent as f32 / apart.max(1.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 or more; saturates")]
    let by = step(extent as f64, most.max(1.0) as u32) as usize;
    (0..extent).step_by(by.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round_and_few() {
        for (length, most, expect) in [
            (0.0, 6, 1.0),
            (3.0, 6, 1.0),
            (7.0, 6, 2.0),
            (13.0, 6, 5.0),
            (60.0, 6, 10.0),
            (61.0, 6, 20.0),
            (1e6, 5, 2e5),
            (f64::NAN, 3, 1.0),
        ] {
            assert!((step(length, most) - expect).abs() < 1e-6 * expect, "{length}: {}", step(length, most));
        }
    }

    #[test]
    fn an_axis_reaches_past_all_heights_and_has_0_among_its_numbers() {
        for heights in
            [vec![5.0, -2.0, 17.0], vec![0.0], vec![], vec![-3.0], vec![f64::NAN, f64::INFINITY, 4.0], vec![12345.0]]
        {
            let reach = Reach::of(heights.iter().copied());
            let numbers: Vec<f64> = reach.numbers().collect();
            assert!(
                reach.length() > 0.0 && numbers.len() <= 11 && numbers.iter().any(|n| n.abs() < 1e-9),
                "{heights:?}: {numbers:?}"
            );
            for height in heights.into_iter().filter(|h| h.is_finite()) {
                assert!(height <= reach.up + 1e-9 && height >= -reach.down - 1e-9);
            }
        }
        assert_eq!(Reach::of([0.0].into_iter()).numbers().collect::<Vec<_>>(), [0.0, 1.0]);
    }

    #[test]
    fn numbers_that_are_thinned_keep_0() {
        let reach = Reach::of([60.0, -130.0].into_iter());
        assert_eq!(reach.numbers().collect::<Vec<_>>(), [-150.0, -100.0, -50.0, 0.0, 50.0, 100.0]);
        assert_eq!(reach.thinned(0.3).count(), 6);
        assert_eq!(reach.thinned(1.4).collect::<Vec<_>>(), [-100.0, 0.0, 100.0]);
        assert_eq!(reach.thinned(1e3).collect::<Vec<_>>(), [0.0]);
    }

    #[test]
    fn names_of_indices_stand_apart() {
        assert_eq!(indices(9, 1.0).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(indices(65, 8.0).collect::<Vec<_>>(), [0, 10, 20, 30, 40, 50, 60]);
        assert_eq!(indices(3, 99.0).collect::<Vec<_>>(), [0]);
    }
}
