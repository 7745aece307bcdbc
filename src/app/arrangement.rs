//! How panes divide the window, as a value: columns from left to right, in each of them panes from above.
//!
//! ```text
//! +--------+--------+
//! |        | source |     60:rings:70/chart:30,40:source/numbers
//! | rings  |        |     ^^ width of the column    ^^ height of the pane
//! |        +--------+
//! +--------+ numbers|     Shares are parts of the sum of their neighbours' shares. Where none is said it is 1.
//! | chart  |        |
//! +--------+--------+
//! ```

use super::compare::COMPARE;
use crate::overlay::exhibits::{self, EXHIBITS, ExhibitEntry};

/// Before the name of a pane that shows what is compared with, as its tab has it.
const BASELINE: &str = "A.";
/// Greatest share.
const MOST: u8 = 100;

/// A pane of a column.
#[derive(Clone, Copy)]
pub struct Cell {
    /// What it shows.
    pub row: &'static ExhibitEntry,
    /// Its share of the height, 1 to 100.
    pub height: u8,
    /// It shows what is compared with, as soon as there is that: `A.tiles`.
    pub baseline: bool,
}

/// Panes above each other.
#[derive(Clone)]
pub struct Column {
    /// Its share of the width, 1 to 100.
    pub width: u8,
    /// The panes, from above; one at least.
    pub cells: Vec<Cell>,
}

/// See the module.
#[derive(Clone, Default)]
pub struct Arrangement {
    /// From left to right.
    pub columns: Vec<Column>,
}

impl Cell {
    /// With all of the height.
    #[must_use]
    pub fn of(row: &'static ExhibitEntry) -> Self {
        Self { row, height: 1, baseline: false }
    }
}

impl Arrangement {
    /// Without panes of what there is to compare with.
    #[must_use]
    pub fn without_comparison(mut self) -> Self {
        for column in &mut self.columns {
            column.cells.retain(|cell| !cell.baseline && cell.row.name != COMPARE);
        }
        self.columns.retain(|column| !column.cells.is_empty());
        self
    }

    /// One beside the other.
    #[must_use]
    pub fn side_by_side(rows: &[&'static ExhibitEntry]) -> Self {
        Self { columns: rows.iter().map(|row| Column { width: 1, cells: vec![Cell::of(row)] }).collect() }
    }

    /// Of the texts of its columns.
    ///
    /// # Errors
    /// What is wrong, the wrong word first, and what was expected.
    pub fn parse<T: AsRef<str>>(columns: &[T]) -> Result<Self, String> {
        let columns = columns.iter().map(|text| column(text.as_ref())).collect::<Result<Vec<_>, _>>()?;
        let mut all = Self { columns };
        all.tidy();
        Ok(all)
    }

    /// Equal shares are no shares.
    fn tidy(&mut self) {
        for column in &mut self.columns {
            even(column.cells.iter_mut().map(|cell| &mut cell.height).collect());
        }
        even(self.columns.iter_mut().map(|column| &mut column.width).collect());
    }

    /// Panes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.columns.iter().map(|column| column.cells.len()).sum()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// The texts of its columns; equal arrangements have equal ones.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        let text = |column: &Column| {
            let width = if column.width == 1 { String::new() } else { format!("{}:", column.width) };
            let cell = |cell: &Cell| {
                let side = if cell.baseline { BASELINE } else { "" };
                match cell.height {
                    1 => format!("{side}{}", cell.row.name),
                    height => format!("{side}{}:{height}", cell.row.name),
                }
            };
            format!("{width}{}", column.cells.iter().map(cell).collect::<Vec<_>>().join("/"))
        };
        self.columns.iter().map(text).collect()
    }

    /// The same with shares in hundredths.
    #[must_use]
    pub fn in_hundredths(&self) -> Self {
        let mut all = self.clone();
        let shares = hundredths(&self.columns.iter().map(|column| f32::from(column.width)).collect::<Vec<_>>());
        for (column, width) in all.columns.iter_mut().zip(shares) {
            column.width = width;
            let shares = hundredths(&column.cells.iter().map(|cell| f32::from(cell.height)).collect::<Vec<_>>());
            column.cells.iter_mut().zip(shares).for_each(|(cell, height)| cell.height = height);
        }
        all
    }
}

/// Each of some shares as hundredths of their sum, 1 at least; 1 each where all are about the same.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and 100")]
pub fn hundredths(shares: &[f32]) -> Vec<u8> {
    let sum = shares.iter().copied().filter(|share| share.is_finite()).sum::<f32>().max(f32::MIN_POSITIVE);
    let each = 1.0 / shares.len().max(1) as f32;
    if shares.iter().all(|share| (share / sum - each).abs() < 0.01) {
        return vec![1; shares.len()];
    }
    shares.iter().map(|share| (100.0 * share / sum).round().clamp(1.0, f32::from(MOST)) as u8).collect()
}

fn even(shares: Vec<&mut u8>) {
    if shares.windows(2).all(|pair| *pair[0] == *pair[1]) {
        shares.into_iter().for_each(|share| *share = 1);
    }
}

fn column(text: &str) -> Result<Column, String> {
    let (width, cells) = match text.split_once(':') {
        Some((width, rest)) if width.starts_with(|c: char| c.is_ascii_digit()) => (share(text, width)?, rest),
        _ => (1, text),
    };
    Ok(Column { width, cells: cells.split('/').map(cell).collect::<Result<_, _>>()? })
}

fn cell(text: &str) -> Result<Cell, String> {
    let (name, height) = match text.split_once(':') {
        Some((name, height)) => (name, share(text, height)?),
        None => (text, 1),
    };
    let (name, baseline) = match name.strip_prefix(BASELINE) {
        Some(name) => (name, true),
        None => (name, false),
    };
    let row = exhibits::named(name).ok_or_else(|| {
        let offered = EXHIBITS.iter().map(|row| row.name).collect::<Vec<_>>().join(", ");
        format!("{name}: expected one of {offered}")
    })?;
    Ok(Cell { height, baseline, ..Cell::of(row) })
}

fn share(text: &str, number: &str) -> Result<u8, String> {
    let share = number.parse().ok().filter(|share| (1..=MOST).contains(share));
    share.ok_or_else(|| {
        format!("{text}: found the share `{number}`; expected 1 to {MOST}, as in 60:rings:70/chart:30,40:source")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn again(columns: &[&str]) -> Result<String, String> {
        Arrangement::parse(columns).map(|all| all.texts().join(","))
    }

    #[test]
    fn columns_and_rows_are_read_as_they_are_said() {
        for text in [
            "rings",
            "rings,numbers",
            "rings/source,numbers",
            "60:rings:70/chart:30,40:source/numbers",
            "A.tiles,tiles",
            "A.graph:2/rings",
        ] {
            assert_eq!(again(&text.split(',').collect::<Vec<_>>()).as_deref(), Ok(text));
        }
        assert_eq!(again(&["2:rings", "2:numbers:9"]).as_deref(), Ok("rings,numbers"), "equal shares are no shares");
        assert_eq!(again(&["3:rings", "numbers"]).as_deref(), Ok("3:rings,numbers"));
        let all = Arrangement::parse(&["rings/source", "numbers"]).expect("sound");
        assert_eq!((all.len(), all.columns.len(), all.columns[0].cells.len()), (3, 2, 2));
    }

    #[test]
    fn what_is_wrong_is_said_with_what_was_expected() {
        let names = EXHIBITS.iter().map(|row| row.name).collect::<Vec<_>>().join(", ");
        for (text, words) in [
            ("ring", format!("ring: expected one of {names}")),
            ("rings/", format!(": expected one of {names}")),
            ("A.ring", format!("ring: expected one of {names}")),
            ("rings:0", "rings:0: found the share `0`; expected 1 to 100, as in ".into()),
            ("101:rings", "101:rings: found the share `101`; expected 1 to 100, as in ".into()),
            ("2x:rings", "2x:rings: found the share `2x`; expected 1 to 100, as in ".into()),
            ("rings:1:2", "rings:1:2: found the share `1:2`; expected 1 to 100, as in ".into()),
        ] {
            let wrong = again(&[text]).expect_err(text);
            assert!(wrong.starts_with(&words), "{wrong}");
        }
    }

    #[test]
    fn shares_are_compared_in_hundredths() {
        assert_eq!(hundredths(&[3.0, 2.0]), [60, 40]);
        assert_eq!(hundredths(&[0.333, 0.334, 0.333]), [1, 1, 1]);
        assert_eq!(hundredths(&[1.0, 0.0]), [100, 1]);
        assert_eq!(hundredths(&[f32::NAN]).len(), 1);
        let said = Arrangement::parse(&["3:rings:3/chart", "2:source"]).expect("sound");
        assert_eq!(said.in_hundredths().texts(), ["60:rings:75/chart:25", "40:source"]);
        assert_eq!(said.in_hundredths().in_hundredths().texts(), said.in_hundredths().texts());
    }
}
