//! The image view: buffers and textures that are pictures, at the end of the launch, with what the group touches.
//!
//! ```text
//! edges  96 x 64, 0 to 1.9                image  96 x 64, 0 to 1
//! +----------------------------+          +----------------------------+
//! |   +--+ what the group      |          |   +--+ what it reads       |
//! |   +--+ writes              |          |   +--+                     |
//! +----------------------------+          +----------------------------+
//! ```

use super::{Area, HEAD, SMALL, Sheet, counted, length};
use crate::chart::canvas::Anchor;
use crate::chart::role::Role;
use crate::kernel::{Act, Picture, Row};

/// Marks of all pictures together, at most: neighbours of larger pictures share one.
const MARKS: f64 = 16_000.0;
/// Between pictures.
const GAP: f64 = 14.0;
/// Of a picture, for its name and what it shows.
const CAPTION: f64 = 16.0;
/// Pictures that are shown.
const MOST: usize = 6;

/// Where a picture is.
#[derive(Debug, Clone, PartialEq)]
pub struct ImagePlace {
    /// Which of the book's.
    pub picture: usize,
    /// Its upper left corner.
    pub corner: (f64, f64),
    /// Units of a pixel.
    pub pixel: f64,
}

impl ImagePlace {
    /// Column and row of the pixel at a place.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within a picture")]
    pub fn at(&self, picture: &Picture, (x, y): (f64, f64)) -> Option<(u32, u32)> {
        let [x, y] = [(x - self.corner.0) / self.pixel, (y - self.corner.1) / self.pixel];
        let inside = x >= 0.0 && y >= 0.0 && x < f64::from(picture.width) && y < f64::from(picture.height);
        inside.then_some((x as u32, y as u32))
    }
}

impl Sheet<'_> {
    pub(super) fn images(&mut self, area: Area) {
        let pictures = &self.book.pictures;
        let legend = if pictures.is_empty() { 0.0 } else { self.legend(area) };
        let head = Area { w: area.w - legend, ..area };
        self.heading(head, "Images", &["what buffers and textures hold at the end", "at the end"]);
        if pictures.is_empty() {
            let lines = [
                "No buffer or texture of this launch is a picture.",
                "Textures of two dimensions are, and buffers of as many",
                "numbers or vectors as a launch of two dimensions has items.",
            ];
            self.notice(area.below(HEAD + 8.0), &lines);
            return;
        }
        let shown = pictures.len().min(MOST);
        let body = area.below(HEAD + 6.0);
        let marks = MARKS / float(shown);
        for (n, (cell, picture)) in cells(body, &pictures[..shown]).into_iter().zip(pictures).enumerate() {
            self.image(cell, n, picture, marks);
        }
        if pictures.len() > shown {
            let words = format!("and {} more", counted((pictures.len() - shown) as u64, "picture"));
            self.chart.text((area.right(), area.y + HEAD), Anchor::End, SMALL, Role::Quiet, &words);
        }
    }

    /// What frames mean, on the right; how wide that is.
    fn legend(&mut self, area: Area) -> f64 {
        let shown = |act: Act| {
            let of = |row: &Row| self.book.site(row).map(|site| site.shared);
            let all = self.record.rows.iter().filter(|row| self.book.act(row) == Some(act)).filter_map(of);
            all.into_iter().any(|shared| self.book.pictures.iter().any(|picture| picture.shared == shared))
        };
        let group = self.record.group;
        let kinds = [(Act::Read, "reads"), (Act::Write, "writes"), (Act::Atomic, "does atomic operations on")];
        let kinds: Vec<(u8, &str)> =
            (0..).zip(kinds).filter(|(_, (act, _))| shown(*act)).map(|(n, (_, words))| (n, words)).collect();
        let mut x = area.right();
        for (n, (act, words)) in kinds.iter().enumerate().rev() {
            let words = if n == 0 { format!("group {group} {words}") } else { (*words).to_owned() };
            let wide = length(&words, SMALL);
            if x - wide - 16.0 < area.x + 0.4 * area.w {
                break;
            }
            self.chart.text((x, area.y + HEAD), Anchor::End, SMALL, Role::Quiet, &words);
            x -= wide + 13.0;
            for (from, to) in [
                ((x, 3.0), (x + 8.0, 3.0)),
                ((x, 11.0), (x + 8.0, 11.0)),
                ((x, 3.0), (x, 11.0)),
                ((x + 8.0, 3.0), (x + 8.0, 11.0)),
            ] {
                self.chart.line((from.0, area.y + from.1), (to.0, area.y + to.1), Role::Act(*act), 1.2, false);
            }
            x -= 12.0;
        }
        area.right() - x
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "colours and pixels")]
    fn image(&mut self, cell: Area, number: usize, picture: &Picture, marks: f64) {
        let [wide, high] = [f64::from(picture.width), f64::from(picture.height)];
        let room = cell.below(CAPTION);
        let pixel = (room.w / wide).min(room.h / high);
        if pixel <= 0.0 || !pixel.is_finite() {
            return;
        }
        // Pixels that share a mark, along each side: no mark is smaller than can be seen.
        let each = ((wide * high / marks).sqrt().max(0.8 / pixel).ceil() as u32).max(1);
        let name = self.book.shared.get(picture.shared).map_or("", |shared| shared.name.as_str());
        let size = match picture.layers {
            1 => format!("{} x {}", picture.width, picture.height),
            n => format!("{} x {} in {n} layers", picture.width, picture.height / n),
        };
        let scale = match picture.range {
            Some([least, most]) if most > least => format!(", {} to {}", short(least), short(most)),
            Some([all, _]) => format!(", all are {}", short(all)),
            None => String::new(),
        };
        let shared = if each > 1 { format!(", a mark is {each} x {each}") } else { String::new() };
        let baseline = cell.y + HEAD;
        self.chart.strong((cell.x, baseline), Anchor::Start, SMALL + 1.0, Role::Body, name);
        let from = 1.12 * length(name, SMALL + 1.0) + 6.0;
        let all = [format!("{size}{scale}{shared}"), format!("{size}{scale}"), size];
        if let Some(words) = all.iter().find(|words| length(words, SMALL) <= cell.w - from) {
            self.chart.text((cell.x + from, baseline), Anchor::Start, SMALL, Role::Quiet, words);
        }
        let corner = (room.x, room.y);
        // Ground behind it, so that black has an edge.
        let edge = 0.6;
        self.chart.rect(
            (corner.0 - edge, corner.1 - edge),
            (wide * pixel + 2.0 * edge, high * pixel + 2.0 * edge),
            Role::Grid,
            "",
        );
        let mut y = 0;
        while y < picture.height {
            let rows = each.min(picture.height - y);
            let (mut x, mut from) = (0, 0);
            let mut before: Option<Role> = None;
            let top = corner.1 + f64::from(y) * pixel;
            while x < picture.width {
                let role = mean(picture, [x, y], [each.min(picture.width - x), rows]);
                if let Some(old) = before.filter(|old| *old != role) {
                    let size = (f64::from(x - from) * pixel, f64::from(rows) * pixel);
                    self.chart.rect((corner.0 + f64::from(from) * pixel, top), size, old, "");
                    from = x;
                }
                before = Some(role);
                x = (x + each).min(picture.width);
            }
            if let Some(role) = before {
                let size = (f64::from(x - from) * pixel, f64::from(rows) * pixel);
                self.chart.rect((corner.0 + f64::from(from) * pixel, top), size, role, "");
            }
            y += rows;
        }
        let place = ImagePlace { picture: number, corner, pixel };
        self.touched(picture, &place);
        self.places.images.push(place);
    }

    /// What the group reads and writes is framed; what is pointed at, or done at this moment, is red.
    fn touched(&mut self, picture: &Picture, place: &ImagePlace) {
        let of = |row: &&Row| self.book.site(row).is_some_and(|site| site.shared == picture.shared);
        let rows: Vec<&Row> = self.record.rows.iter().filter(of).collect();
        for (act, role) in [(Act::Read, Role::Act(0)), (Act::Write, Role::Act(1)), (Act::Atomic, Role::Act(2))] {
            let rows = rows.iter().filter(|row| self.book.act(row) == Some(act));
            let pixels = rows.flat_map(|row| &row.addresses).filter_map(|address| picture.at(*address));
            let bounds = pixels.fold(None, |bounds: Option<[u32; 4]>, (x, y)| {
                let [left, top, right, bottom] = bounds.unwrap_or([x, y, x, y]);
                Some([left.min(x), top.min(y), right.max(x), bottom.max(y)])
            });
            if let Some([left, top, right, bottom]) = bounds {
                self.frame(place, [left, top, right + 1, bottom + 1], role, 1.2);
            }
        }
        let focus = self.focus;
        let chosen: Vec<(u32, u32)> = match (focus.word, focus.item, self.row_now()) {
            (Some((shared, address)), ..) if shared == picture.shared => picture.at(address).into_iter().collect(),
            (_, Some(item), _) => {
                let all = rows.iter().filter_map(|row| row.address(item)).filter_map(|address| picture.at(address));
                all.collect()
            }
            (None, None, Some(row)) if of(&row) => {
                row.addresses.iter().filter_map(|address| picture.at(*address)).collect()
            }
            _ => Vec::new(),
        };
        for (x, y) in chosen {
            let at = (place.corner.0 + f64::from(x) * place.pixel, place.corner.1 + f64::from(y) * place.pixel);
            // A mark of a tiny pixel is larger than it, so that it is seen.
            let more = (1.6 - place.pixel).max(0.0);
            let side = place.pixel + more;
            self.chart.rect((at.0 - more / 2.0, at.1 - more / 2.0), (side, side), Role::Warn, "");
        }
    }

    /// The row that the playhead is at.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a row of a group")]
    fn row_now(&self) -> Option<&Row> {
        let now = self.now.filter(|now| *now >= 0.0)?;
        self.record.rows.get(now as usize)
    }

    fn frame(&mut self, place: &ImagePlace, [left, top, right, bottom]: [u32; 4], role: Role, width: f64) {
        let at =
            |x: u32, y: u32| (place.corner.0 + f64::from(x) * place.pixel, place.corner.1 + f64::from(y) * place.pixel);
        let [a, b, c, d] = [at(left, top), at(right, top), at(right, bottom), at(left, bottom)];
        for (from, to) in [(a, b), (b, c), (c, d), (d, a)] {
            self.chart.line(from, to, role, width, false);
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a few pictures")]
fn float(n: usize) -> f64 {
    n as f64
}

/// The colour of pixels together.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 255")]
fn mean(picture: &Picture, [left, top]: [u32; 2], [wide, high]: [u32; 2]) -> Role {
    let mut sum = [0.0; 3];
    for y in top..top + high {
        for x in left..left + wide {
            sum.iter_mut().zip(picture.color(x, y)).for_each(|(sum, channel)| *sum += channel);
        }
    }
    let all = f64::from(wide * high);
    let [r, g, b] = sum.map(|sum| (255.0 * sum / all).round() as u8);
    Role::Pixel(r, g, b)
}

/// Rooms for pictures: as many beside each other as leave them largest.
fn cells(body: Area, pictures: &[Picture]) -> Vec<Area> {
    let count = pictures.len().max(1);
    let layout = |columns: usize| {
        let rows = count.div_ceil(columns);
        let wide = (body.w - GAP * (float(columns) - 1.0)) / float(columns);
        let high = (body.h - GAP * (float(rows) - 1.0)) / float(rows);
        (columns, wide, high)
    };
    let area = |(_, wide, high): (usize, f64, f64)| -> f64 {
        let each = pictures.iter().map(|picture| {
            let [w, h] = [f64::from(picture.width), f64::from(picture.height)];
            let pixel = (wide / w).min((high - CAPTION).max(1.0) / h);
            (pixel * w) * (pixel * h)
        });
        each.sum()
    };
    let best = (1..=count).map(layout).max_by(|a, b| area(*a).total_cmp(&area(*b)));
    let (columns, wide, high) = best.unwrap_or((1, body.w, body.h));
    (0..count)
        .map(|n| {
            let [column, row] = [float(n % columns), float(n / columns)];
            Area { x: body.x + column * (wide + GAP), y: body.y + row * (high + GAP), w: wide, h: high }
        })
        .collect()
}

/// A number with as many digits as tell something.
pub(super) fn short(number: f64) -> String {
    if number == number.trunc() && number.abs() < 1e7 {
        return format!("{number}");
    }
    let digits = format!("{number:.3e}");
    digits
        .parse::<f64>()
        .map_or(digits.clone(), |number| if (1e-3..1e7).contains(&number.abs()) { format!("{number}") } else { digits })
}
