//! What the colours and signs of tiles stand for, over and under them.

use super::super::sheet::{Choice, SMALL, Sheet, choices};
use super::super::table::Sort;
use super::draw::touch;
use super::grid::Placed;
use super::values::{Tiles, Value};
use super::{COLUMNS, DISTANCES, THRESHOLDS, threshold};
use crate::overlay::fonts::Weight;
use crate::reference::Kind;
use crate::scene::palette::{self, Rgba};
use crate::units::{grouped, to_f32};
use egui::{Pos2, Rect, pos2, vec2};

/// From how many times the mean on the largest number makes colours follow the logarithm.
const SKEWED: u64 = 24;
/// Width of a sign, ems of its size: more than the mean.
const SIGN: f32 = 0.56;

/// What colours stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scale {
    /// What is told, by number of the column.
    pub(super) column: usize,
    /// The largest number of all tiles.
    most: u64,
    /// Colours follow the logarithm.
    skewed: bool,
    /// Light is little.
    back: bool,
    /// Some tile stands for several elements.
    joined: bool,
    /// What became of each reference is known, and so are misses.
    pub(super) known: bool,
    /// Bytes that a miss moves, where what is counted is what the table of regions counts.
    pub(super) line: Option<u32>,
}

impl Scale {
    /// Of all tiles that are shown.
    pub(super) fn new(sort: Sort, all: &[(Placed, Tiles)], known: bool, line: Option<u32>) -> Self {
        let column = sort.column().unwrap_or(0).min(COLUMNS.len() - 1);
        let (mut most, mut sum, mut count) = (0u64, 0u64, 0u64);
        for (_, tiles) in all {
            for tile in 0..tiles.counts.len() {
                if let Value::Is(n @ 1..) = tiles.value(tile, column) {
                    (most, sum, count) = (most.max(n), sum.saturating_add(n), count + 1);
                }
            }
        }
        let skewed = most > (sum / count.max(1)).saturating_add(1).saturating_mul(SKEWED);
        let joined = all.iter().any(|(placed, _)| placed.grid.whole() > 1);
        Self { column, most, skewed, back: sort.is_back(), joined, known, line }
    }

    /// The colour of a tile.
    pub(super) fn color(&self, value: Value) -> Rgba {
        match value {
            Value::Untouched => palette::TRACK,
            Value::Is(_) if self.is_missing() => palette::mix(palette::TRACK, palette::NEUTRAL, 0.45),
            Value::Once => palette::mix(palette::TRACK, palette::NEUTRAL, 0.45),
            Value::Is(n) => self.shade(self.share(n)),
        }
    }

    /// Whether what it tells is not known.
    pub(super) fn is_missing(&self) -> bool {
        self.column == 1 && !self.known
    }

    fn shade(&self, share: f32) -> Rgba {
        palette::heat(if self.back { 1.0 - share } else { share })
    }

    fn share(&self, n: u64) -> f32 {
        let (n, most) = (n as f64, self.most.max(1) as f64);
        to_f32(if self.skewed { n.ln_1p() / most.ln_1p() } else { n / most })
    }

    /// The sum of a region in words; `misses` as the table of regions has them.
    pub(super) fn sum(&self, tiles: &Tiles, misses: u64) -> String {
        if let (THRESHOLDS.., Some((_, misses))) = (self.column, &tiles.missed) {
            let bytes =
                self.line.map_or_else(String::new, |line| format!(", {}", moved(misses.saturating_mul(line.into()))));
            return format!("{}{bytes}", plural(*misses, ["miss", "misses"]));
        }
        match self.column {
            1 if self.known => match self.line {
                Some(line) => {
                    let moved = moved(misses.saturating_mul(line.into()));
                    format!("{}, {moved}", plural(misses, ["miss", "misses"]))
                }
                None => plural(tiles.sum.misses.into(), ["miss", "misses"]),
            },
            _ => plural(tiles.sum.accesses(), ["access", "accesses"]),
        }
    }
}

/// Bytes in few signs: `2.7 KiB`.
fn moved(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB"];
    let unit = (0..units.len()).rev().find(|&unit| bytes >> (10 * unit) > 0).unwrap_or(0);
    match unit {
        0 => format!("{bytes} B"),
        _ => format!("{:.1} {}", bytes as f64 / f64::from(1u32 << (10 * unit)), units[unit]),
    }
}

/// A cache of so many lines, all in one set.
pub(super) fn one_set(lines: u64) -> String {
    format!("one set of {}", plural(lines, ["line", "lines"]))
}

fn plural(n: u64, [one, many]: [&str; 2]) -> String {
    format!("{} {}", grouped(n), if n == 1 { one } else { many })
}

/// Words and signs round the tiles.
pub(super) struct Signs<'a> {
    pub(super) area: Rect,
    /// What is counted.
    pub(super) of: &'a str,
    pub(super) sort: Sort,
    /// Name of the innermost level, and bytes of its lines.
    pub(super) innermost: (&'a str, u32),
    /// Where the heat map's scale stands.
    pub(super) at: Pos2,
}

impl Signs<'_> {
    /// The measures to choose from, over which there may be a line of words; gives where tiles begin.
    pub(super) fn head(&mut self, sheet: &mut Sheet, line: Option<String>) -> f32 {
        let (em, area) = (sheet.em, self.area);
        let mut y = area.top();
        if let Some(line) = line {
            sheet.left(pos2(area.left(), y), &line, Weight::SemiBold, 0.95, palette::TEXT, area.width());
            y += 1.8 * em;
        }
        let offered = COLUMNS.iter().enumerate().map(|(n, column)| Choice {
            name: column.name,
            column: (n, column.name),
            chosen: self.sort.column() == Some(n),
            apart: 0.0,
        });
        let offered = offered.filter(|choice| choice.column.0 < THRESHOLDS || choice.chosen);
        let y = choices(sheet, Rect { min: pos2(area.left(), y), ..area }, offered);
        self.at = pos2(area.left(), y + 2.1 * em);
        y + 4.2 * em
    }

    /// What the signs stand for, as far as there is room; gives where tiles end.
    pub(super) fn foot(&self, sheet: &mut Sheet, pinned: bool) -> f32 {
        let (em, area) = (sheet.em, self.area);
        if area.height() < 15.0 * em {
            return area.bottom();
        }
        let (innermost, line) = self.innermost;
        let mut all: Vec<(Sign, String)> = vec![
            (Sign::Touched(Kind::Read), "read now".into()),
            (Sign::Touched(Kind::Write), "written now".into()),
            (Sign::Latest, "just before".into()),
            (Sign::Held, format!("its line is in {innermost}")),
        ];
        if pinned {
            all.push((Sign::Pinned, format!("pinned, and its line of {line} bytes")));
        }
        let width = |words: &str| (1.5 + SIGN * 0.8 * words.chars().count() as f32 + 1.3) * em;
        let sum: f32 = all.iter().map(|(_, words)| width(words)).sum();
        let rows = if sum > area.width() { 2.0 } else { 1.0 };
        let (mut x, mut y) = (area.left(), area.bottom() - (1.5 * rows - 0.4) * em);
        let top = y;
        for (sign, words) in all {
            let wide = width(&words);
            if x > area.left() && x + wide > area.right() + 1.3 * em {
                (x, y) = (area.left(), y + 1.5 * em);
            }
            if y + em > area.bottom() + 0.6 * em {
                break;
            }
            let place = Rect::from_min_size(pos2(x, y), vec2(em, em));
            sign.draw(sheet, place);
            let at = pos2(x + 1.5 * em, y - 0.02 * em);
            sheet.left(at, &words, Weight::Regular, 0.8, palette::TEXT_QUIET, f32::INFINITY);
            x += wide;
        }
        top - 0.9 * em
    }

    /// The scale of the heat map, and what is not shown.
    pub(super) fn scale(&self, sheet: &mut Sheet, scale: &Scale, left_out: usize) {
        let (em, at, area) = (sheet.em, self.at, self.area);
        let mut x = at.x;
        let swatch = |sheet: &mut Sheet, x: f32, ink: Rgba| {
            sheet.bar(Rect::from_min_size(pos2(x, at.y + 0.12 * em), vec2(0.85, 0.85) * em), ink);
        };
        let put = |sheet: &mut Sheet, x: f32, words: &str| -> f32 {
            sheet.left(pos2(x, at.y), words, Weight::Regular, SMALL, palette::TEXT_BODY, area.right() - x);
            x + SIGN * SMALL * words.chars().count() as f32 * em + 0.9 * em
        };
        let mut none: Vec<(Rgba, &str)> = vec![(scale.color(Value::Untouched), "untouched")];
        if (DISTANCES..THRESHOLDS).contains(&scale.column) {
            none.push((scale.color(Value::Once), "touched once"));
        }
        for (ink, words) in none {
            swatch(sheet, x, ink);
            x = put(sheet, x + 1.2 * em, words);
        }
        x += 0.4 * em;
        x = put(sheet, x, "0") - 0.4 * em;
        let steps = 32u8;
        let ramp = Rect::from_min_size(pos2(x, at.y + 0.12 * em), vec2(9.0, 0.85) * em);
        for n in 0..steps {
            let side = |n: u8| ramp.left() + ramp.width() * f32::from(n) / f32::from(steps);
            let ink = scale.shade(f32::from(n) / f32::from(steps - 1));
            sheet.bar(Rect::from_min_max(pos2(side(n), ramp.top()), pos2(side(n + 1), ramp.bottom())), ink);
        }
        x = put(sheet, ramp.right() + 0.5 * em, &grouped(scale.most));
        let each = if scale.joined { "tile" } else { "element" };
        let what = match scale.column {
            1 if !scale.known => "misses are not known one by one in a trace of this length".to_owned(),
            0 => format!("accesses of {} {each}", if scale.joined { "a" } else { "an" }),
            1 => format!("misses of {} {each}", if scale.joined { "a" } else { "an" }),
            column => match threshold(column) {
                Some(lines) => {
                    format!("misses of {} {each} in {}", if scale.joined { "a" } else { "an" }, one_set(lines))
                }
                None => "other lines since the last touch".to_owned(),
            },
        };
        let what = if scale.skewed { format!("{what}, logarithmic") } else { what };
        let mut words = vec![what];
        if left_out > 0 {
            words.push(format!("{} not shown", plural(left_out as u64, ["region", "regions"])));
        }
        words.push(self.of.to_owned());
        // What there is no room for is left out from the end.
        let fits = |words: &str| SIGN * SMALL * words.chars().count() as f32 * em <= area.right() - x;
        while words.len() > 1 && !fits(&words.join(" · ")) {
            words.pop();
        }
        if (DISTANCES..THRESHOLDS).contains(&scale.column) && words.len() == 1 && !fits(&words[0]) {
            words[0] = "lines in between".to_owned();
        }
        put(sheet, x, &words.join(" · "));
    }
}

/// A sign that is explained.
enum Sign {
    Touched(Kind),
    Latest,
    Held,
    Pinned,
}

impl Sign {
    fn draw(&self, sheet: &mut Sheet, place: Rect) {
        let (ground, width) = (palette::heat(0.2), 0.14 * place.width());
        sheet.bar(place.shrink(0.5), ground);
        match self {
            Self::Touched(kind) => touch(sheet, place, width, palette::LIGHT, *kind, true),
            Self::Latest => sheet.frame(place, 0.6 * width, palette::fade(palette::LIGHT, 0.5)),
            Self::Held => sheet.frame(place, 0.8 * width, palette::region(0)),
            Self::Pinned => sheet.frame(place, width, palette::SERIES[0]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_told_in_few_signs() {
        assert_eq!([0, 1023, 2752, 5 << 20, 3 << 30].map(moved), ["0 B", "1023 B", "2.7 KiB", "5.0 MiB", "3.0 GiB"]);
    }
}
