//! A table of any length whose columns can be sorted by: only the rows in sight are laid out. Exhibits whose rows are of another kind
//! take its headings alone ([`head`]).

use super::sheet::{SMALL, Sheet, scroll_bar};
use crate::analysis::GraphPart;
use crate::overlay::fonts::Weight;
use crate::overlay::pen::Target;
use crate::scene::Camera;
use crate::scene::palette::{self, Rgba};
use egui::{Rect, pos2};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// Ems from row to row.
pub(super) const PITCH: f32 = 1.6;
/// Ems around the table.
const MARGIN: f32 = 1.4;

/// A column: the first one is of names and takes what the others leave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Column {
    /// Its heading.
    pub name: &'static str,
    /// Ems of width.
    pub(super) width: f32,
    /// Ems of width of the table from which on it is shown.
    pub(super) from: f32,
}

impl Column {
    /// Its heading as one word, as the command line takes it: `miss-rate`.
    #[must_use]
    pub fn word(&self) -> String {
        let parts = self.name.split(|sign: char| !sign.is_alphanumeric()).filter(|part| !part.is_empty());
        parts.map(str::to_lowercase).collect::<Vec<_>>().join("-")
    }
}

/// How people arranged the rows of an exhibit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arranged {
    /// How they are sorted; `None` = as is usual.
    pub sort: Option<Sort>,
    /// Functions whose lines are folded, by the place of their first line: file, function, number.
    pub folded: BTreeSet<(String, String, u32)>,
    /// Parts of a graph that somebody opened (`true`) or closed.
    pub parts: BTreeMap<GraphPart, bool>,
    /// Values of a graph's parameters that somebody set, by name.
    pub parameters: BTreeMap<String, i64>,
}

impl Arranged {
    /// Sorted so, where another order is `usual`.
    pub(super) fn sorted(sort: Sort, usual: Sort) -> Self {
        Self { sort: (sort != usual).then_some(sort), ..Self::default() }
    }
}

/// By which column a table is sorted, if by any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sort {
    column: Option<usize>,
    /// The largest, or the last by name, is at the top.
    down: bool,
}

impl Sort {
    /// By this column, the largest at the top.
    pub(super) const fn largest(column: usize) -> Self {
        Self { column: Some(column), down: true }
    }

    /// By the column of names, the first at the top.
    pub(super) const BY_NAME: Self = Self { column: Some(0), down: false };

    /// Number of the column, if there is any.
    pub(super) fn column(self) -> Option<usize> {
        self.column
    }

    /// The other way round.
    pub(super) fn flipped(self) -> Self {
        Self { down: !self.down, ..self }
    }

    /// Whether it is the other way round than a first click has it.
    pub(super) fn is_back(self) -> bool {
        self.column.is_some_and(|column| self.down != (column > 0))
    }

    /// By this column, as a first click has it.
    pub(super) fn first(column: usize) -> Self {
        Self { column: Some(column), down: column > 0 }
    }

    /// Of the words of the command line: the heading of one of `columns`, with `:back` after it the other way round than a click has it.
    /// Case and the signs between words do not matter.
    ///
    /// # Errors
    /// What was found, and what was expected.
    pub fn parse(columns: &[Column], words: &str) -> Result<Self, String> {
        let plain = |name: &str| name.chars().filter(|sign| sign.is_alphanumeric()).collect::<String>().to_lowercase();
        let (name, back) = match words.split_once(':') {
            None => (words, false),
            Some((name, "back")) => (name, true),
            Some((_, rest)) => {
                return Err(format!("{words}: found `:{rest}`; expected a heading, or a heading and :back"));
            }
        };
        let at = columns.iter().position(|column| plain(column.name) == plain(name));
        let column = at.ok_or_else(|| {
            let offered = columns.iter().map(Column::word).collect::<Vec<_>>().join(", ");
            format!("{words}: found no heading `{name}`; expected one of {offered}")
        })?;
        Ok(Self { column: Some(column), down: (column > 0) != back })
    }

    /// The words that [`Sort::parse`] takes for it; `None` where it is by no column.
    #[must_use]
    pub fn words(self, columns: &[Column]) -> Option<String> {
        let (number, column) = self.column.and_then(|number| Some((number, columns.get(number)?)))?;
        let back = if self.down == (number > 0) { "" } else { ":back" };
        Some(format!("{}{back}", column.word()))
    }

    /// The sign before the heading of a column: sorting is told by it, and not by colour alone.
    pub(super) fn sign(self, column: usize) -> &'static str {
        match (self.column == Some(column), self.down) {
            (false, _) => "",
            (true, true) => "↓ ",
            (true, false) => "↑ ",
        }
    }

    /// After a click on the heading of a column: sorted by it, the largest first (names: the first); the other way round; as is `usual`.
    pub(super) fn turned(self, column: usize, usual: Self) -> Self {
        let first = column > 0;
        match self.column {
            Some(own) if own == column && self.down == first => Self { column: Some(column), down: !first },
            Some(own) if own == column => usual,
            _ => Self { column: Some(column), down: first },
        }
    }

    /// The order of rows, which is `order` where nothing is sorted; of equals, the first stays first.
    pub(super) fn order(self, mut order: Vec<usize>, compare: &dyn Fn(usize, usize, usize) -> Ordering) -> Vec<usize> {
        if let Some(column) = self.column {
            order.sort_by(|&a, &b| {
                let by = compare(column, a, b);
                if self.down { by.reverse() } else { by }
            });
        }
        order
    }
}

/// What a row shows.
pub(super) struct Row {
    /// A patch before its name.
    pub(super) patch: Option<Rgba>,
    /// One for each column.
    pub(super) cells: Vec<String>,
    /// Of its words.
    pub(super) ink: Rgba,
    /// What a click on it is about.
    pub(super) target: Option<Target>,
}

/// What a table is made of.
pub(super) struct Table<'a> {
    pub(super) title: &'a str,
    pub(super) more: &'a str,
    pub(super) columns: &'a [Column],
    pub(super) order: &'a [usize],
    pub(super) sort: Sort,
    pub(super) row: &'a dyn Fn(usize) -> Row,
}

impl Table<'_> {
    /// Fills a sheet, scrolled as the camera has it.
    pub(super) fn fill(&self, sheet: &mut Sheet, camera: &Camera) {
        let (em, sight) = (sheet.em, sheet.sight);
        let (left, right) = (sight.left() + MARGIN * em, sight.right() - MARGIN * em);
        let y = sight.top() + 0.7 * MARGIN * em;
        let (shown, y) = head(sheet, [self.title, self.more], self.columns, self.sort, [left, right, y]);
        let body = Rect::from_min_max(pos2(sight.left(), y), sight.max);
        let depth = (self.order.len() as f32 * PITCH + 0.5 - body.height() / em).max(0.0);
        let down = camera.at[1].clamp(0.0, depth);
        (sheet.plane.depth, sheet.plane.down) = (depth, down);
        sheet.sight = body;
        let (first, last) = seen(down, body.height() / em, self.order.len());
        for (n, &row) in self.order[first..last].iter().enumerate() {
            let y = body.top() + ((first + n) as f32 * PITCH - down) * em;
            // A row that is cut off by the headings is left out.
            if y >= body.top() - 0.3 * em {
                self.one(sheet, &(self.row)(row), &shown, [left, right, y]);
            }
        }
        if depth > 0.05 {
            scroll_bar(&mut sheet.plane, body, em, down);
        }
        sheet.sight = sight;
    }

    fn one(&self, sheet: &mut Sheet, row: &Row, shown: &[usize], [left, right, y]: [f32; 3]) {
        let em = sheet.em;
        let mut x = left;
        if let Some(patch) = row.patch {
            sheet.bar(Rect::from_min_max(pos2(left, y + 0.25 * em), pos2(left + 0.75 * em, y + em)), patch);
            x += 1.3 * em;
        }
        for &column in shown {
            let Some(words) = row.cells.get(column) else { continue };
            let end = end_of(self.columns, shown, column, right, em);
            if column == 0 {
                sheet.left(pos2(x, y), words, Weight::Regular, 1.0, row.ink, end - x);
            } else {
                sheet.right(pos2(end, y), words, 0.95, palette::TEXT_BODY);
            }
        }
        if let Some(target) = row.target {
            let area = Rect::from_min_max(pos2(left, y - 0.2 * em), pos2(right, y + (PITCH - 0.2) * em));
            let area = area.intersect(sheet.sight);
            if area.is_positive() {
                sheet.plane.rows.push((area, target));
            }
            // Over its row.
            if let (Target::Region(region), Some(_)) = (target, row.patch) {
                let patch = Rect { max: pos2(left + 1.0 * em, area.bottom()), ..area };
                sheet.plane.rows.push((patch, Target::Color(region)));
            }
        }
    }
}

/// Title, headings and the line under them; gives the columns for which there is room, and where rows begin.
pub(super) fn head(
    sheet: &mut Sheet,
    [title, more]: [&str; 2],
    columns: &[Column],
    sort: Sort,
    [left, right, y]: [f32; 3],
) -> (Vec<usize>, f32) {
    let em = sheet.em;
    let width = (right - left) / em;
    let shown: Vec<usize> = (0..columns.len()).filter(|&n| n == 0 || columns[n].from <= width).collect();
    sheet.left(pos2(left, y), title, Weight::SemiBold, SMALL, palette::TEXT_QUIET, (right - left).max(0.0));
    let from = left + (0.75 * title.chars().count() as f32 * SMALL + 1.0) * em;
    sheet.left(pos2(from, y), more, Weight::Regular, SMALL, palette::TEXT_BODY, right - from);
    let y = y + 1.5 * em;
    headings(sheet, columns, &shown, sort, [left, right, y]);
    let line = Rect::from_min_max(pos2(left, y + 1.4 * em), pos2(right, y + 1.4 * em + 1.0));
    sheet.bar(line, palette::TRACK);
    (shown, y + 1.9 * em)
}

/// Where a column ends, of those that are shown.
pub(super) fn end_of(columns: &[Column], shown: &[usize], column: usize, right: f32, em: f32) -> f32 {
    let after = shown.iter().filter(|&&n| n > column).map(|&n| columns[n].width).sum::<f32>();
    right - after * em
}

/// The headings of the columns that are shown; a click on one sorts by it.
fn headings(sheet: &mut Sheet, columns: &[Column], shown: &[usize], sort: Sort, [left, right, y]: [f32; 3]) {
    let em = sheet.em;
    for &column in shown {
        let Column { name, width, .. } = columns[column];
        let words = format!("{}{name}", sort.sign(column));
        let ink = if sort.column == Some(column) { palette::TEXT } else { palette::TEXT_QUIET };
        let end = end_of(columns, shown, column, right, em);
        let from = if column == 0 { left } else { end - width * em };
        if column == 0 {
            sheet.left(pos2(left, y), &words, Weight::Medium, SMALL, ink, end - left);
        } else {
            sheet.right(pos2(end, y), &words, SMALL, ink);
        }
        let area = Rect::from_min_max(pos2(from, y - 0.2 * em), pos2(end, y + 1.3 * em)).intersect(sheet.sight);
        if area.is_positive() {
            let column = u8::try_from(column).unwrap_or(u8::MAX);
            sheet.plane.rows.push((area, Target::Column(column, name)));
        }
    }
}

/// The rows that are in sight, `down` ems from the first.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 or more; saturates")]
fn seen(down: f32, height: f32, rows: usize) -> (usize, usize) {
    let first = (down / PITCH).floor().max(0.0) as usize;
    let last = ((down + height) / PITCH).ceil().max(0.0) as usize;
    (first.min(rows), last.min(rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_sorts_turns_round_and_lets_be() {
        let values = [3, 1, 2, 1];
        let compare = |_: usize, a: usize, b: usize| values[a].cmp(&values[b]);
        let mut sort = Sort::default();
        let mut seen = Vec::new();
        for _ in 0..3 {
            sort = sort.turned(4, Sort::default());
            seen.push(sort.order((0..4).collect(), &compare));
        }
        assert_eq!(seen, [vec![0, 2, 1, 3], vec![1, 3, 2, 0], vec![0, 1, 2, 3]]);
        // Names begin with the first one; another column begins anew.
        let usual = Sort::largest(4);
        assert_eq!(usual.turned(0, usual), Sort { column: Some(0), down: false });
        assert_eq!(usual.turned(0, usual).turned(0, usual), Sort { column: Some(0), down: true });
        assert_eq!(usual.turned(0, usual).turned(0, usual).turned(0, usual), usual);
        assert_eq!(usual.turned(4, usual), Sort { column: Some(4), down: false });
    }

    #[test]
    fn a_sort_has_words_and_words_are_a_sort() {
        let column = |name| Column { name, width: 1.0, from: 0.0 };
        let columns = ["region", "of all misses", "B − A"].map(column);
        for (words, sort) in [
            ("region", Sort::BY_NAME),
            ("region:back", Sort { column: Some(0), down: true }),
            ("of-all-misses", Sort::largest(1)),
            ("b-a:back", Sort { column: Some(2), down: false }),
        ] {
            assert_eq!(Sort::parse(&columns, words), Ok(sort));
            assert_eq!(sort.words(&columns).as_deref(), Some(words));
        }
        assert_eq!(Sort::parse(&columns, "Of All misses"), Ok(Sort::largest(1)));
        assert_eq!(Sort::parse(&columns, "B−A"), Ok(Sort::largest(2)));
        assert_eq!(Sort::default().words(&columns), None);
        let wrong = |words| Sort::parse(&columns, words).expect_err("it is wrong");
        assert_eq!(wrong("size"), "size: found no heading `size`; expected one of region, of-all-misses, b-a");
        assert_eq!(wrong("region:up"), "region:up: found `:up`; expected a heading, or a heading and :back");
    }

    #[test]
    fn only_rows_in_sight_are_laid_out() {
        assert_eq!(seen(0.0, 16.0, 100_000), (0, 10));
        assert_eq!(seen(160.0, 16.0, 100_000), (100, 110));
        assert_eq!((seen(1e9, 16.0, 7), seen(-1.0, -1.0, 7)), ((7, 7), (0, 0)));
    }
}
