//! Charts of two dimensions: who pushes out whom, and the cells of a sweep.

use super::axis::{LEFT, TOP, count, few_signs};
use super::canvas::{Anchor, Chart, Look};
use super::role::{HEATS, Role};
use crate::analysis::Displacement;
use crate::shown;
use crate::units::grouped;
use std::collections::BTreeMap;

/// Rows and columns at most; what is past them is one row and column.
const MOST: usize = 7;
/// The row of those that have none of their own.
const REST: &str = "(rest)";

/// A table of numbers.
#[derive(Clone, Debug, Default)]
pub struct HeatMap {
    /// What it is.
    pub title: String,
    /// What rows and columns are.
    pub axes: [String; 2],
    /// Names of rows, from above.
    pub rows: Vec<String>,
    /// Names of columns, from the left.
    pub columns: Vec<String>,
    /// By row and column: how much, and how it is written; `None` = nothing.
    pub cells: Vec<Vec<Option<(f64, String)>>>,
    /// What is said of each cell where a pointer rests; of those that are not there, what is written.
    pub exact: Vec<Vec<String>>,
}

/// Whose references push whose lines out of a level.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts as shades")]
pub fn displaced(pairs: &[Displacement], level: &str, of: &str, look: Look) -> Chart {
    let mut all: BTreeMap<&str, u64> = BTreeMap::new();
    for pair in pairs {
        *all.entry(&pair.by).or_default() += pair.lines;
        *all.entry(&pair.of).or_default() += pair.lines;
    }
    let mut ranked: Vec<(&str, u64)> = all.into_iter().collect();
    ranked.sort_by_key(|(name, lines)| (std::cmp::Reverse(*lines), *name));
    let mut names: Vec<&str> = ranked.iter().take(MOST).map(|(name, _)| *name).collect();
    if ranked.len() > MOST {
        names.push(REST);
    }
    let place = |name: &str| names.iter().position(|other| *other == name).unwrap_or(names.len() - 1);
    let mut counts = vec![vec![0u64; names.len()]; names.len()];
    for pair in pairs {
        counts[place(&pair.by)][place(&pair.of)] += pair.lines;
    }
    let cell = |lines: &u64| (*lines > 0).then(|| (*lines as f64, few_signs(*lines)));
    let said = |lines: u64| if lines == 0 { String::new() } else { grouped(lines) };
    let map = HeatMap {
        title: format!("Who pushes whom out of {level}"),
        axes: ["references of".into(), format!("push out lines of (lines that leave {level})")],
        rows: names.iter().map(|name| (*name).to_owned()).collect(),
        columns: names.iter().map(|name| (*name).to_owned()).collect(),
        cells: counts.iter().map(|row| row.iter().map(cell).collect()).collect(),
        exact: counts.iter().map(|row| row.iter().map(|lines| said(*lines)).collect()).collect(),
    };
    heat_map(&map, of, look)
}

/// A table whose cells are the stronger the more they hold.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "numbers of rows as places on a chart")]
pub fn heat_map(map: &HeatMap, of: &str, look: Look) -> Chart {
    let mut chart = Chart::new(look, &map.title, of);
    let (rows, columns) = (map.rows.len().max(1) as f64, map.columns.len().max(1) as f64);
    let left = LEFT + 34.0;
    let (wide, high) = ((chart.right() - left) / columns, (chart.bottom() - TOP) / rows);
    let most = map.cells.iter().flatten().flatten().map(|(value, _)| *value).fold(0.0, f64::max);
    // Signs that a column has room for.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few signs")]
    let room = ((wide - 8.0) / 6.6).max(1.0) as usize;
    for (r, (name, cells)) in map.rows.iter().zip(&map.cells).enumerate() {
        let y = TOP + high * r as f64;
        if high >= 10.0 || r % 2 == 0 {
            chart.text((left - 6.0, y + high / 2.0 + 4.0), Anchor::End, 10.0, Role::Ink, &shown::short(name, 11));
        }
        for (c, cell) in cells.iter().enumerate() {
            let x = left + wide * c as f64;
            let column = map.columns.get(c).map_or("", String::as_str);
            let (value, words) = cell.clone().unwrap_or((0.0, String::new()));
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 9")]
            let step = if most > 0.0 { (f64::from(HEATS - 1) * value / most).round() as u8 } else { 0 };
            let exact = map.exact.get(r).and_then(|row| row.get(c)).map_or(words.as_str(), String::as_str);
            let said = format!("{name}, {column}: {}", if exact.is_empty() { "none" } else { exact });
            chart.rect((x + 0.5, y + 0.5), (wide - 1.0, high - 1.0), Role::Heat(step), &said);
            if shown::width(&words) <= room && high >= 12.0 {
                chart.text((x + wide / 2.0, y + high / 2.0 + 4.0), Anchor::Middle, 11.0, Role::OnHeat(step), &words);
            }
        }
    }
    let labels = map.columns.iter().enumerate();
    let labels: Vec<(f64, String)> = labels
        .map(|(c, name)| (left + wide * (c as f64 + 0.5), shown::short(name, room.max(5)).into_owned()))
        .collect();
    chart.x_axis(&map.axes[1], &labels);
    chart.left_name(&map.axes[0]);
    let most = format!("{} at most", count(most));
    chart.legend(&[(Role::Heat(HEATS - 1), &most)]);
    chart
}
