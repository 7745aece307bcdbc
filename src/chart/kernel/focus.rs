//! What is pointed at in a picture of a kernel, and what belongs to it.

use super::groups::GroupMap;
use super::pixels::ImagePlace;
use crate::chart::At;
use crate::kernel::{Decision, Doing, GroupRecord, KernelBook, Row, Site, Space};
pub use crate::tasks::Spot;

/// What belongs together at the moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Focus {
    /// The row that is pointed at.
    pub row: Option<usize>,
    /// A word: which of the shared variables, and its byte.
    pub word: Option<(usize, u32)>,
    /// Banks.
    pub banks: Vec<u32>,
    /// An item.
    pub item: Option<usize>,
    /// A line.
    pub line: Option<u32>,
}

/// How much an event belongs to what is pointed at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lit {
    /// Not at all.
    No,
    /// Through its bank.
    Beside,
    /// It is of the same word, or of the bank or line itself.
    Same,
}

impl Focus {
    /// All that belongs to a spot.
    #[must_use]
    pub fn on(book: &KernelBook, record: &GroupRecord, spot: Spot) -> Self {
        match spot {
            Spot::Bank(bank) => Self { banks: vec![bank], ..Self::default() },
            Spot::Item(item) => Self { item: Some(item), ..Self::default() },
            Spot::Line(line) => Self { line: Some(line), ..Self::default() },
            Spot::Event { row: number, item } => {
                let Some(row) = record.rows.get(number) else { return Self::default() };
                let word = book.site(row).zip(row.address(item)).map(|(site, address)| (site.shared, address));
                let banks = book.banks_of(row, item);
                Self { row: Some(number), word, banks, item: Some(item), line: Some(row.line) }
            }
        }
    }

    /// Whether nothing is pointed at.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// How much what items do in a row belongs to it: what is the same for all of them.
    pub(super) fn of_row<'a>(&'a self, book: &'a KernelBook, row: &Row) -> RowLight<'a> {
        let Some(site) = book.site(row) else {
            let is_same = self.word.is_none() && self.line == Some(row.line);
            return RowLight::All(if is_same { Lit::Same } else { Lit::No });
        };
        if self.word.is_none() && self.line == Some(row.line) {
            return RowLight::All(Lit::Same);
        }
        let word = self.word.filter(|(shared, _)| *shared == site.shared).map(|(_, address)| address);
        let banks = if book.space(site) == Space::Workgroup { self.banks.as_slice() } else { &[] };
        if word.is_none() && banks.is_empty() {
            return RowLight::All(Lit::No);
        }
        let beside = if self.word.is_none() { Lit::Same } else { Lit::Beside };
        RowLight::Some { book, site, word, banks, beside }
    }

    /// The decisions of the item at a line, as digits; nothing where none is pointed at or it decided nothing there.
    #[must_use]
    pub fn digits(&self, record: &GroupRecord, line: u32) -> String {
        let all = self.item.and_then(|item| record.decisions.get(item)).into_iter().flatten();
        let bits = all.filter(|chosen| chosen.line == line).filter_map(|chosen| match chosen.decision {
            Decision::If(bit) | Decision::Loop(bit) => Some(if bit { '1' } else { '0' }),
            Decision::Case(_) => None,
        });
        bits.collect()
    }
}

/// What of a row belongs to what is pointed at.
pub(super) enum RowLight<'a> {
    /// All items alike.
    All(Lit),
    /// Those at this word, and those that ask these banks.
    Some { book: &'a KernelBook, site: &'a Site, word: Option<u32>, banks: &'a [u32], beside: Lit },
}

impl RowLight<'_> {
    /// How much what is done at an address belongs to it.
    pub(super) fn at(&self, address: Option<u32>) -> Lit {
        match (self, address) {
            (Self::All(lit), _) => *lit,
            (Self::Some { word, .. }, Some(_)) if *word == address => Lit::Same,
            (Self::Some { book, site, banks, beside, .. }, Some(address)) if book.is_asked(site, address, banks) => {
                *beside
            }
            (Self::Some { .. }, _) => Lit::No,
        }
    }
}

/// The cells of the memory view.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Matrix {
    /// Where columns begin, and how wide they are.
    pub columns: Vec<(f64, f64)>,
    /// Items of a column.
    pub items_each: usize,
    /// The upper edge of the first row, and the height of a row.
    pub rows: (f64, f64),
    /// Rows of the group that share one.
    pub rows_each: usize,
    /// How many rows are drawn.
    pub count: usize,
}

impl Matrix {
    /// The left, the upper, the right and the lower edge.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a few rows")]
    pub fn area(&self) -> [f64; 4] {
        let left = self.columns.first().map_or(0.0, |(x, _)| *x);
        let right = self.columns.last().map_or(0.0, |(x, wide)| x + wide);
        [left, self.rows.0, right, self.rows.0 + self.rows.1 * self.count as f64]
    }

    /// Row and item at a place.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "of a place within the cells")]
    pub fn at(&self, (x, y): At) -> Option<(usize, usize)> {
        let [left, top, right, bottom] = self.area();
        if !(x >= left && x < right && y >= top && y < bottom) {
            return None;
        }
        let row = ((y - top) / self.rows.1) as usize;
        let column = self.columns.iter().rposition(|(from, _)| *from <= x)?;
        Some((row * self.rows_each, column * self.items_each))
    }
}

/// What is where in a picture.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Places {
    /// Left, top, right and bottom of what can be pointed at.
    pub spots: Vec<([f64; 4], Spot)>,
    /// The memory view.
    pub matrix: Option<Matrix>,
    /// The image view.
    pub images: Vec<ImagePlace>,
    /// The maps of groups.
    pub groups: Vec<GroupMap>,
}

impl Places {
    /// Which picture of the image view is at a place, and the column and row of its pixel.
    #[must_use]
    pub fn pixel(&self, book: &KernelBook, at: At) -> Option<(usize, u32, u32)> {
        self.images.iter().find_map(|place| {
            let (x, y) = place.at(book.pictures.get(place.picture)?, at)?;
            Some((place.picture, x, y))
        })
    }

    /// Which group of the launch is at a place of a map.
    #[must_use]
    pub fn group(&self, book: &KernelBook, at: At) -> Option<u64> {
        self.groups.iter().find_map(|map| map.group(book, at))
    }

    /// What is at a place. Of a pixel it is the last that the group does there.
    #[must_use]
    pub fn find(&self, book: &KernelBook, record: &GroupRecord, at: At) -> Option<Spot> {
        if let Some((picture, x, y)) = self.pixel(book, at) {
            let picture = book.pictures.get(picture)?;
            let here = |row: &Row| {
                let mut items = row.items.iter().zip(&row.addresses);
                items.find_map(|(item, address)| (picture.at(*address) == Some((x, y))).then_some(item))
            };
            let rows = record.rows.iter().enumerate().rev();
            let mut of = rows.filter(|(_, row)| book.site(row).is_some_and(|site| site.shared == picture.shared));
            return of.find_map(|(number, row)| here(row).map(|item| Spot::Event { row: number, item }));
        }
        if let Some((row, item)) = self.matrix.as_ref().and_then(|matrix| matrix.at(at)) {
            return (row < record.rows.len() && item < record.items).then_some(Spot::Event { row, item });
        }
        let within =
            |[left, top, right, bottom]: [f64; 4]| at.0 >= left && at.0 < right && at.1 >= top && at.1 < bottom;
        self.spots.iter().rfind(|(area, _)| within(*area)).map(|(_, spot)| *spot)
    }
}

/// What an item did in a row, in words: what, and where.
#[must_use]
pub fn told(book: &KernelBook, row: &Row, item: usize) -> [String; 2] {
    let Some(site) = book.site(row) else {
        let what =
            if matches!(row.doing, Doing::Barrier { storage: true, .. }) { "storage barrier" } else { "barrier" };
        return [format!("item {item}: {what}"), format!("line {}, time {}", row.line, row.time)];
    };
    let mut place = format!("line {}", row.line);
    if let Some(address) = row.address(item) {
        place = format!("{place}, byte {address}");
    }
    if let [bank, ..] = book.banks_of(row, item)[..] {
        place = format!("{place}, bank {bank}");
    }
    [format!("item {item}: {} {}", site.act.word(), site.words), format!("{place}, time {}", row.time)]
}
