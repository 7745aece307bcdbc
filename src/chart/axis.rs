//! Axes: where a number lies, and which numbers are written.

use super::canvas::{Anchor, Chart, Role, wide};
use crate::sim::config::format_size;
use crate::units::grouped;

/// Left and upper edge of the plot within the canvas.
pub(super) const LEFT: f64 = 62.0;
pub(super) const TOP: f64 = 74.0;

impl Chart {
    /// Right edge of the plot.
    pub(super) fn right(&self) -> f64 {
        self.size()[0] - 18.0
    }

    /// Lower edge of the plot.
    pub(super) fn bottom(&self) -> f64 {
        self.size()[1] - 46.0
    }
}

/// From numbers to places along an axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    pub(super) from: f64,
    pub(super) to: f64,
    /// Equal steps are equal factors.
    pub(super) doubles: bool,
    /// Where the first and the last of them are.
    pub(super) ends: [f64; 2],
}

impl Scale {
    pub(super) fn share(self, value: f64) -> f64 {
        let at = |v: f64| if self.doubles { v.max(f64::MIN_POSITIVE).log2() } else { v };
        let (from, to) = (at(self.from), at(self.to));
        if to > from { ((at(value) - from) / (to - from)).clamp(0.0, 1.0) } else { 0.5 }
    }

    pub(super) fn at(self, value: f64) -> f64 {
        self.ends[0] + (self.ends[1] - self.ends[0]) * self.share(value)
    }
}

/// Round numbers from 0 on, some five of them, the last at `most` or above.
pub(super) fn steps(most: f64) -> Vec<f64> {
    let rough = (most / 4.0).max(1e-9);
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().map(|n| n * power).find(|step| *step >= rough).unwrap_or(rough);
    let mut steps = vec![0.0];
    while steps.last().is_some_and(|last| *last < most) && steps.len() < 12 {
        #[expect(clippy::cast_precision_loss, reason = "a few steps")]
        steps.push(step * steps.len() as f64);
    }
    steps
}

/// `12`, `1,500`, `2.5 M`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a label of a number from 0 on")]
pub(super) fn count(value: f64) -> String {
    match value {
        v if v >= 10e6 => format!("{} M", short(v / 1e6)),
        v if v.fract() == 0.0 => grouped(v as u64),
        v => short(v),
    }
}

fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Bytes, as sizes are written.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a label of bytes")]
pub(super) fn size(bytes: f64) -> String {
    format_size(bytes.max(0.0) as u64)
}

impl Chart {
    /// Places across the plot.
    pub(super) fn across(&self, from: f64, to: f64, doubles: bool) -> Scale {
        Scale { from, to, doubles, ends: [LEFT, self.right()] }
    }

    /// The axis on the left, from 0 to the last of its steps, with lines across; `name` says what, and in which unit.
    pub(super) fn y_axis(&mut self, name: &str, steps: &[f64], label: &dyn Fn(f64) -> String) -> Scale {
        let (to, ends) = (steps.last().copied().unwrap_or(1.0), [self.bottom(), TOP]);
        let scale = Scale { from: 0.0, to, doubles: false, ends };
        for step in steps {
            let y = scale.at(*step);
            self.line((LEFT, y), (self.right(), y), Role::Grid, 1.0, false);
            self.text((LEFT - 6.0, y + 4.0), Anchor::End, 11.0, Role::Body, &label(*step));
        }
        self.left_name(name);
        scale
    }

    /// The axis below: values that are written, and what it tells. Words that would lie on each other are left out.
    pub(super) fn x_axis(&mut self, name: &str, values: &[(f64, String)]) {
        let (right, bottom) = (self.right(), self.bottom());
        self.line((LEFT, bottom), (right, bottom), Role::Quiet, 1.0, false);
        let mut free = f64::NEG_INFINITY;
        for (x, label) in values {
            let half = 3.2 * wide(label);
            self.line((*x, bottom), (*x, bottom + 4.0), Role::Quiet, 1.0, false);
            if x - half >= free {
                self.text((*x, bottom + 17.0), Anchor::Middle, 11.0, Role::Body, label);
                free = x + half + 6.0;
            }
        }
        let [width, height] = self.size();
        let name = crate::shown::short(name, super::canvas::signs(width - 32.0, 6.0)).into_owned();
        let half = 3.0 * wide(&name);
        let middle = ((LEFT + right) / 2.0).min(width - 10.0 - half).max(10.0 + half);
        self.text((middle, height - 10.0), Anchor::Middle, 11.0, Role::Quiet, &name);
    }

    /// Upright lines at sizes that have a name, as those of levels.
    pub(super) fn marks(&mut self, scale: Scale, marks: &[(f64, String)]) {
        let mut before: Vec<f64> = Vec::new();
        let (right, bottom) = (self.right(), self.bottom());
        for (value, label) in marks {
            if *value < scale.from || *value > scale.to {
                continue;
            }
            let x = scale.at(*value);
            self.line((x, TOP), (x, bottom), Role::Quiet, 1.0, true);
            // Names of neighbours stand below each other.
            let row = before.iter().filter(|other| (*other - x).abs() < 90.0).count();
            #[expect(clippy::cast_precision_loss, reason = "a few rows")]
            let y = TOP + 12.0 + 14.0 * row as f64;
            let (anchor, at) = if x > right - 90.0 { (Anchor::End, x - 4.0) } else { (Anchor::Start, x + 4.0) };
            self.text((at, y), anchor, 11.0, Role::Ink, label);
            before.push(x);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round_and_reach_the_end() {
        assert_eq!(steps(100.0), [0.0, 25.0, 50.0, 75.0, 100.0]);
        assert_eq!(steps(7.0), [0.0, 2.0, 4.0, 6.0, 8.0]);
        assert_eq!(steps(0.0).len(), 1);
        for most in [0.3, 1.0, 13.0, 8_448.0, 2e9] {
            let steps = steps(most);
            assert!(
                (3..=8).contains(&steps.len()) && steps.last().is_some_and(|last| *last >= most),
                "{most}: {steps:?}"
            );
        }
        assert_eq!([count(12.0), count(1500.0), count(2.5), count(25e6)], ["12", "1,500", "2.5", "25 M"]);
    }
}
