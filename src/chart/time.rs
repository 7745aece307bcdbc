//! Charts over time.

use super::axis::{LEFT, Scale, TOP, count, counts, steps};
use super::canvas::{Anchor, Chart, Look};
use super::role::{HEATS, Role};
use crate::analysis::OverTime;
use crate::units::grouped;

/// The axis of references.
#[expect(clippy::cast_precision_loss, reason = "numbers of references as places on a chart")]
fn references(chart: &mut Chart, all: u64) -> Scale {
    let scale = chart.across(0.0, all.max(1) as f64, false);
    let mut labels: Vec<(f64, String)> = steps(all as f64)
        .into_iter()
        .filter(|n| *n <= all as f64)
        .map(|n| (scale.at(n), counts(all as f64)(n)))
        .collect();
    if let Some(first) = labels.first_mut() {
        first.0 = LEFT;
    }
    chart.x_axis("reference", &labels);
    chart.set_references([LEFT, TOP, chart.right(), chart.bottom()]);
    scale
}

/// Misses of a level by class, as a share of its demand accesses, one above the other.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts as places on a chart")]
pub fn classes(over: &OverTime, length: u64, level: &str, of: &str, look: Look) -> Chart {
    let mut chart = Chart::new(look, &format!("Misses of {level} over time, by class"), of);
    let stretches = over.stretches();
    let shares = |n: usize| {
        let stretch = &stretches[n];
        stretch.classes.map(|count| 100.0 * count as f64 / stretch.accesses.max(1) as f64)
    };
    let most = (0..stretches.len()).map(|n| shares(n).iter().sum::<f64>()).fold(1.0, f64::max);
    let y = chart.y_axis(&format!("demand accesses of {level} that miss, %"), &steps(most), &|value| {
        format!("{}%", count(value))
    });
    let x = references(&mut chart, length);
    let each = over.each() as f64;
    let edge = |n: usize| x.at((n as f64 * each).min(length as f64));
    let used: Vec<usize> = (0..4).filter(|class| stretches.iter().any(|stretch| stretch.classes[*class] > 0)).collect();
    for class in used.iter().copied() {
        let upto = |n: usize, classes: usize| y.at(shares(n)[..classes].iter().sum());
        let edges = (0..=stretches.len()).map(edge).collect();
        let borders = (0..stretches.len()).map(|n| (upto(n, class + 1), upto(n, class))).collect();
        #[expect(clippy::cast_possible_truncation, reason = "one of four")]
        chart.columns(edges, borders, Role::Class(class as u8));
    }
    let words = ["compulsory", "capacity", "conflict", "coherence"];
    #[expect(clippy::cast_possible_truncation, reason = "one of four")]
    let legend: Vec<(Role, &str)> = used.iter().map(|class| (Role::Class(*class as u8), words[*class])).collect();
    chart.legend(&legend);
    chart
}

/// Which parts of which arrays are touched when: the denser the stronger.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts as places on a chart")]
pub fn addresses(over: &OverTime, length: u64, of: &str, look: Look) -> Chart {
    let mut chart = Chart::new(look, "Which addresses are touched when", of);
    let x = references(&mut chart, length);
    chart.left_name("arrays, by address");
    let (rows, most) = (over.map().len(), over.map().iter().flatten().copied().max().unwrap_or(1).max(1));
    let high = (chart.bottom() - TOP) / rows.max(1) as f64;
    let each = over.each() as f64;
    // A place that is touched once is seen: from there on steps go with the logarithm.
    let heat = |count: u64| -> u8 {
        let share = (count as f64).ln_1p() / (most as f64).ln_1p();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 9")]
        let step = 2 + (f64::from(HEATS - 3) * share).round() as u8;
        if count == 0 { 0 } else { step.min(HEATS - 1) }
    };
    for (row, counts) in over.map().iter().enumerate() {
        let y = TOP + high * row as f64;
        let mut from = 0;
        while from < counts.len() {
            let step = heat(counts[from]);
            let to = (from..counts.len()).find(|n| heat(counts[*n]) != step).unwrap_or(counts.len());
            if step > 0 {
                let (left, right) = (x.at(from as f64 * each), x.at((to as f64 * each).min(length as f64)));
                chart.rect((left, y), (right - left, high + 0.15), Role::Heat(step), "");
            }
            from = to;
        }
    }
    let mut row = 0;
    for band in over.bands() {
        let (top, bottom) = (TOP + high * row as f64, TOP + high * (row + band.rows) as f64);
        chart.line((LEFT, top), (chart.right(), top), Role::Quiet, 0.5, false);
        let name = crate::shown::short(&band.name, 8).into_owned();
        #[expect(clippy::cast_possible_truncation, reason = "the number of a colour")]
        chart.rect(
            (LEFT - 4.0, top + 0.5),
            (3.0, bottom - top - 0.5),
            Role::Region((band.region % 256) as u8),
            &band.name,
        );
        chart.text((LEFT - 8.0, (top + bottom) / 2.0 + 4.0), Anchor::End, 10.0, Role::Ink, &name);
        if bottom - top > 30.0 {
            chart.text(
                (LEFT - 8.0, (top + bottom) / 2.0 + 16.0),
                Anchor::End,
                9.0,
                Role::Quiet,
                &super::axis::size(band.bytes as f64),
            );
        }
        row += band.rows;
    }
    let words = format!("up to {} a cell", grouped(most));
    match most {
        1 => chart.legend(&[(Role::Heat(heat(1)), "one reference")]),
        _ => chart.legend(&[(Role::Heat(heat(1)), "one reference"), (Role::Heat(HEATS - 1), &words)]),
    }
    chart
}
