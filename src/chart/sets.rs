//! How the sets of a level are used.

use super::axis::{LEFT, counts, steps};
use super::canvas::{Chart, Look};
use super::role::Role;
use crate::analysis::SetUse;
use crate::units::counted;

/// Bars at most; where there are more sets, neighbours are one bar.
const BARS: usize = 128;

/// Accesses of each set, and those that missed.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts as places on a chart")]
pub fn set_use(sets: &[SetUse], level: &str, of: &str, look: Look) -> Chart {
    let mut chart = Chart::new(look, &format!("How the sets of {level} are used"), of);
    let each = sets.len().div_ceil(BARS).max(1);
    let bars: Vec<(u64, u64)> = sets
        .chunks(each)
        .map(|sets| (sets.iter().map(|set| set.accesses).sum(), sets.iter().map(|set| set.misses).sum()))
        .collect();
    let most = bars.iter().map(|(accesses, _)| *accesses).max().unwrap_or(1);
    let name = if each == 1 { "demand accesses".to_owned() } else { format!("demand accesses of {each} sets") };
    let steps = steps(most as f64);
    let y = chart.y_axis(&name, &steps, &counts(steps.last().copied().unwrap_or(1.0)));
    let (wide, bottom) = ((chart.right() - LEFT) / bars.len().max(1) as f64, chart.bottom());
    let gap = if wide > 4.0 { 0.1 * wide } else { 0.0 };
    let mut labels = Vec::new();
    let labelled = bars.len().div_ceil(8).max(1);
    for (n, (accesses, misses)) in bars.iter().enumerate() {
        let (x, first) = (LEFT + wide * n as f64, n * each);
        let said = format!("set {first}: {}, {}", counted(*accesses, "access"), counted(*misses, "miss"));
        for (value, role) in [(*accesses, Role::Series(0)), (*misses, Role::Series(1))] {
            let top = y.at(value as f64);
            chart.rect((x + gap, top), (wide - 2.0 * gap, (bottom - top).max(0.0)), role, &said);
        }
        if n % labelled == 0 {
            labels.push((x + wide / 2.0, first.to_string()));
        }
    }
    chart.x_axis("set", &labels);
    chart.legend(&[(Role::Series(0), "hits"), (Role::Series(1), "misses")]);
    chart
}
