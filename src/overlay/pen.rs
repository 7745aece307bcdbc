//! What all words over the picture are drawn with: a painter with a size of type, and numbers in few digits.

use super::fonts::Weight;
use crate::analysis::GraphPart;
use crate::render::Bar;
use crate::scene::palette::{self, Rgba};
use crate::shown;
use crate::tasks::{Symbol, TaskIndex};
use crate::units::{ByteRange, grouped};
use egui::{Align2, Color32, FontId, Painter, Pos2, Rect, pos2};
use std::cell::RefCell;

/// Size of type in tables, points.
pub(super) const BODY: f32 = 13.5;
/// And of quieter words.
pub(super) const SMALL: f32 = 11.0;

/// A palette colour as egui's.
#[must_use]
pub fn color(c: Rgba) -> Color32 {
    Color32::from_rgba_unmultiplied(c[0], c[1], c[2], c[3])
}

/// What a row of a table is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// A region, by number.
    Region(usize),
    /// The patch of colour of a region, by number.
    Color(usize),
    /// A source line, by its row in `Timeline::lines`; the row after the last stands for unknown instructions.
    Line(usize),
    /// Some bytes: an element, or a line of a cache.
    Bytes(ByteRange),
    /// A reference of the trace, by number.
    Tick(u64),
    /// The name of the caches, over their table.
    Caches,
    /// The heading of a column, by number and name: the table is sorted by it.
    Column(u8, &'static str),
    /// The heading of a function, by the first of its source lines (as in [`Target::Line`]): they are folded, or unfolded.
    Fold(usize),
    /// A task.
    Task(TaskIndex),
    /// A location of tasks.
    Location(Symbol),
    /// A kind of tasks, by its number among the colours.
    Kind(usize),
    /// What the charts tell on an axis, left (0) or right (1): the next metric.
    Axis(u8),
    /// The order of the charts: the next one.
    Order,
    /// A part of a graph: it is folded, or unfolded.
    Part(GraphPart),
    /// An exhibit, by its name: it is opened beside.
    Exhibit(&'static str),
    /// A parameter of loops, by number, and the value that it gets.
    Parameter(u8, i64),
}

/// What goes with the words that were drawn.
#[derive(Clone, Debug, Default)]
pub struct Drawn {
    /// Rectangles that belong under them.
    pub bars: Vec<Bar>,
    /// Where rows are that can be clicked, and what they are about.
    pub rows: Vec<(Rect, Target)>,
}

/// A painter, the size of type, and the rectangles so far.
pub(super) struct Pen<'a> {
    pub(super) painter: &'a Painter,
    pub(super) t: f32,
    bars: RefCell<Vec<Bar>>,
    /// Rows that can be clicked, and whose they are.
    rows: RefCell<Vec<(Rect, Target)>>,
}

impl<'a> Pen<'a> {
    pub(super) fn new(painter: &'a Painter, t: f32) -> Self {
        Self { painter, t, bars: RefCell::default(), rows: RefCell::default() }
    }

    pub(super) fn bar(&self, r: Rect, color: Rgba) {
        self.bars.borrow_mut().push(Bar { sides: [r.left(), r.top(), r.right(), r.bottom()], color });
    }

    pub(super) fn font(&self, weight: Weight, size: f32) -> FontId {
        weight.at(size * self.t)
    }

    /// Text from `at`; returns its right edge.
    pub(super) fn text(&self, at: Pos2, anchor: Align2, text: &str, weight: Weight, size: f32, c: Rgba) -> f32 {
        self.painter.text(at, anchor, shown::words(text), self.font(weight, size), color(c)).right()
    }

    pub(super) fn width(&self, text: &str, weight: Weight, size: f32) -> f32 {
        self.painter.layout_no_wrap(shown::words(text).into(), self.font(weight, size), color(palette::TEXT)).size().x
    }

    pub(super) fn fits(&self, text: &str, width: f32, weight: Weight, size: f32) -> bool {
        self.width(text, weight, size) <= width
    }

    /// A line in two, parted between words, where it would pass `width`.
    pub(super) fn two_rows<'t>(&self, text: &'t str, width: f32, size: f32) -> Vec<&'t str> {
        let fits = |s: &str| self.fits(s, width, Weight::Regular, size);
        if fits(text) {
            return vec![text];
        }
        let parted = text.match_indices(' ').map(|(at, _)| text.split_at(at)).rfind(|(first, _)| fits(first));
        parted.map_or_else(|| vec![text], |(first, rest)| vec![first, rest.trim_start()])
    }

    /// Text that ends with an ellipsis where it would pass `width`.
    pub(super) fn fitted(&self, at: Pos2, text: &str, width: f32, weight: Weight, size: f32, c: Rgba) -> f32 {
        let fits = |s: &str| self.fits(s, width, weight, size);
        if fits(text) {
            return self.text(at, Align2::LEFT_TOP, text, weight, size, c);
        }
        let chars: Vec<char> = text.chars().collect();
        let keep = (0..chars.len()).collect::<Vec<_>>().partition_point(|&n| {
            let s: String = chars[..n].iter().collect();
            fits(&format!("{}…", s.trim_end()))
        });
        let cut: String = chars[..keep.saturating_sub(1)].iter().collect();
        self.text(at, Align2::LEFT_TOP, &format!("{}…", cut.trim_end()), weight, size, c)
    }

    /// Says where the row of a region is.
    pub(super) fn row(&self, area: Rect, region: usize) {
        self.rows.borrow_mut().push((area, Target::Region(region)));
    }

    /// Says where the patch of colour of a region is; it lies over its row.
    pub(super) fn patch(&self, area: Rect, region: usize) {
        self.rows.borrow_mut().push((area, Target::Color(region)));
    }

    /// Says where the name of the caches is.
    pub(super) fn caches(&self, area: Rect) {
        self.rows.borrow_mut().push((area, Target::Caches));
    }

    pub(super) fn into_drawn(self) -> Drawn {
        Drawn { bars: self.bars.into_inner(), rows: self.rows.into_inner() }
    }
}

/// The quiet word above a table.
pub(super) fn heading(pen: &Pen<'_>, x: f32, y: f32, text: &str) {
    pen.text(pos2(x, y), Align2::LEFT_TOP, text, Weight::Medium, SMALL, palette::TEXT_QUIET);
}

/// A share of 1 in few digits: `42 %`, `0.3 %`, `99.9 %`; never rounded up to all or down to nothing.
#[must_use]
pub fn percent(share: Option<f64>) -> String {
    match share {
        None => "–".into(),
        Some(s) if s > 0.0 && s < 0.000_5 => "< 0.1 %".into(),
        Some(s) if s > 0.0 && s < 0.01 => format!("{:.1} %", s * 100.0),
        Some(s) if s < 1.0 && s > 0.99 => format!("{:.1} %", (s * 1000.0).floor() / 10.0),
        Some(s) => format!("{:.0} %", s * 100.0),
    }
}

/// A speed in few digits: `2.5`, `281`, `1,000,000`.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "speeds are positive and far below 2^64")]
pub fn rate(speed: f64) -> String {
    if speed >= 10.0 { grouped(speed.round() as u64) } else { format!("{speed:.1}").trim_end_matches(".0").to_owned() }
}
