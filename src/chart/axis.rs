//! Axes: where a number lies, and which numbers are written.

use super::canvas::{Anchor, Chart, HEIGHT, Role, WIDTH};
use crate::sim::config::format_size;
use crate::units::grouped;

/// The plot within the canvas.
pub(super) const LEFT: f64 = 66.0;
pub(super) const RIGHT: f64 = WIDTH - 18.0;
pub(super) const TOP: f64 = 56.0;
pub(super) const BOTTOM: f64 = HEIGHT - 50.0;

/// From numbers to places along an axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    pub(super) from: f64,
    pub(super) to: f64,
    /// Equal steps are equal factors.
    pub(super) doubles: bool,
}

impl Scale {
    pub(super) fn share(self, value: f64) -> f64 {
        let at = |v: f64| if self.doubles { v.max(f64::MIN_POSITIVE).log2() } else { v };
        let (from, to) = (at(self.from), at(self.to));
        if to > from { ((at(value) - from) / (to - from)).clamp(0.0, 1.0) } else { 0.5 }
    }

    pub(super) fn x(self, value: f64) -> f64 {
        LEFT + (RIGHT - LEFT) * self.share(value)
    }

    pub(super) fn y(self, value: f64) -> f64 {
        BOTTOM - (BOTTOM - TOP) * self.share(value)
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
    /// The axis on the left, from 0 to the last of its steps, with lines across; `name` says what, and in which unit.
    pub(super) fn y_axis(&mut self, name: &str, steps: &[f64], label: &dyn Fn(f64) -> String) -> Scale {
        let scale = Scale { from: 0.0, to: steps.last().copied().unwrap_or(1.0), doubles: false };
        for step in steps {
            let y = scale.y(*step);
            self.line((LEFT, y), (RIGHT, y), Role::Grid, 1.0, false);
            self.text((LEFT - 6.0, y + 4.0), Anchor::End, 11.0, Role::Body, &label(*step));
        }
        self.upright((14.0, (TOP + BOTTOM) / 2.0), 11.0, Role::Quiet, name);
        scale
    }

    /// The axis below: values that are written, and what it tells. Words that would lie on each other are left out.
    pub(super) fn x_axis(&mut self, name: &str, values: &[(f64, String)]) {
        self.line((LEFT, BOTTOM), (RIGHT, BOTTOM), Role::Quiet, 1.0, false);
        let mut free = f64::NEG_INFINITY;
        for (x, label) in values {
            #[expect(clippy::cast_precision_loss, reason = "a few columns")]
            let half = 3.2 * crate::shown::width(label) as f64;
            self.line((*x, BOTTOM), (*x, BOTTOM + 4.0), Role::Quiet, 1.0, false);
            if x - half >= free {
                self.text((*x, BOTTOM + 17.0), Anchor::Middle, 11.0, Role::Body, label);
                free = x + half + 6.0;
            }
        }
        self.text(((LEFT + RIGHT) / 2.0, HEIGHT - 12.0), Anchor::Middle, 11.0, Role::Quiet, name);
    }

    /// Upright lines at sizes that have a name, as those of levels.
    pub(super) fn marks(&mut self, scale: Scale, marks: &[(f64, String)]) {
        let mut before: Vec<f64> = Vec::new();
        for (value, label) in marks {
            if *value < scale.from || *value > scale.to {
                continue;
            }
            let x = scale.x(*value);
            self.line((x, TOP), (x, BOTTOM), Role::Quiet, 1.0, true);
            // Names of neighbours stand below each other.
            let row = before.iter().filter(|other| (*other - x).abs() < 90.0).count();
            #[expect(clippy::cast_precision_loss, reason = "a few rows")]
            let y = TOP + 12.0 + 14.0 * row as f64;
            let (anchor, at) = if x > RIGHT - 90.0 { (Anchor::End, x - 4.0) } else { (Anchor::Start, x + 4.0) };
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
