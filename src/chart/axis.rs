//! Axes: where a number lies, and which numbers are written.

use super::canvas::{Anchor, Chart, wide};
use super::role::Role;
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

/// Writes the numbers of an axis that ends at `most` in one unit.
pub(super) fn counts(most: f64) -> impl Fn(f64) -> String {
    move |value| match (most, value) {
        (_, 0.0) => "0".into(),
        (most, value) if most >= 10e6 => format!("{} M", short(value / 1e6)),
        (_, value) => count(value),
    }
}

/// A number in few signs, for cells: `1,234`, `163 k`, `1.2 M`.
#[expect(clippy::cast_precision_loss, reason = "a label")]
pub(super) fn few_signs(value: u64) -> String {
    match value {
        0..10_000 => grouped(value),
        10_000..1_000_000 => format!("{} k", (value + 500) / 1000),
        _ => format!("{} M", short((value as f64 / 1e5).round() / 10.0)),
    }
}

/// Bytes, as sizes are written; of no round number, about.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a label of bytes")]
pub(super) fn size(bytes: f64) -> String {
    let exact = format_size(bytes.max(0.0) as u64);
    let unit = [("GiB", 30.0), ("MiB", 20.0), ("KiB", 10.0)].into_iter().find(|(_, n)| bytes >= f64::exp2(*n));
    match unit {
        Some((unit, n)) if exact.len() > 7 || exact.ends_with('B') && !exact.contains('i') => {
            let value = bytes / f64::exp2(n);
            if value >= 10.0 {
                format!("{value:.0}{unit}")
            } else {
                format!("{}{unit}", short((value * 10.0).round() / 10.0))
            }
        }
        _ => exact,
    }
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
        // The last one is always there.
        let last = values.last().map_or(f64::INFINITY, |(x, label)| x - 3.2 * wide(label) - 6.0);
        for (n, (x, label)) in values.iter().enumerate() {
            let half = 3.2 * wide(label);
            self.line((*x, bottom), (*x, bottom + 4.0), Role::Quiet, 1.0, false);
            if x - half >= free && (x + half <= last || n + 1 == values.len()) {
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
        let mut before: Vec<(usize, f64, f64)> = Vec::new();
        let (right, bottom) = (self.right(), self.bottom());
        for (value, label) in marks {
            if *value < scale.from || *value > scale.to {
                continue;
            }
            let x = scale.at(*value);
            self.line((x, TOP), (x, bottom), Role::Quiet, 1.0, true);
            let length = 6.3 * wide(label);
            // On the right of its line, or on the left where that is past the end or over another line.
            let sides = [
                (Anchor::Start, x + 4.0, x + 4.0, x + 4.0 + length),
                (Anchor::End, x - 4.0, x - 4.0 - length, x - 4.0),
            ];
            let lines = || marks.iter().map(|(value, _)| scale.at(*value));
            let is_free = |from: f64, to: f64| !lines().any(|line| (from - 1.0..to + 1.0).contains(&line));
            let fits = |side: &&(Anchor, f64, f64, f64)| side.2 >= LEFT && side.3 <= right;
            let clear = sides.iter().filter(fits).find(|side| is_free(side.2, side.3));
            let (anchor, at, from, to) = *clear.or_else(|| sides.iter().find(fits)).unwrap_or(&sides[1]);
            // Names that would lie on each other stand below each other.
            let taken = |row: usize| before.iter().any(|(of, a, b)| *of == row && *a < to + 6.0 && from < *b + 6.0);
            let row = (0..6).find(|row| !taken(*row)).unwrap_or(6);
            #[expect(clippy::cast_precision_loss, reason = "a few rows")]
            let y = TOP + 12.0 + 14.0 * row as f64;
            self.text((at, y), anchor, 11.0, Role::Ink, label);
            before.push((row, from, to));
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
        assert_eq!([0.0, 5e6, 15e6].map(counts(15e6)), ["0", "5 M", "15 M"]);
        assert_eq!([9_999, 163_412, 1_234_567].map(few_signs), ["9,999", "163 k", "1.2 M"]);
        assert_eq!([512.0, 4096.0, 3_600_000.0, 221_056.0].map(size), ["512B", "4KiB", "3.4MiB", "216KiB"]);
        assert_eq!([count(12.0), count(1500.0), count(2.5), count(25e6)], ["12", "1,500", "2.5", "25 M"]);
    }
}
