//! The list of keys over a dimmed picture: in two columns where the window is wide, so that it can be read.

use super::desk::Desk;
use super::keys::{MOUSE, TABLE};
use super::task_keys::{ForTasks, MOUSE as TASK_MOUSE, for_tasks};
use crate::overlay::fonts::Weight;
use crate::overlay::pen::color;
use crate::scene::palette;
use egui::{Align2, CornerRadius, Id, LayerId, Order, Rect, Sense, Stroke, Ui, pos2, vec2};

/// Ems of width of a column.
const COLUMN: f32 = 46.0;
/// Where the second words of a row begin, as a share of the column.
const SECOND: f32 = 0.27;

/// Points above and below the rows together.
const BORDER: f32 = 30.0;

/// What is written in a row: in the place of keys, and beside it.
type Row = (&'static str, &'static str, palette::Rgba);

/// The rows of each column.
fn columns(wide: bool, tasks: bool) -> Vec<Vec<Row>> {
    let head = |words| (words, "", palette::TEXT_QUIET);
    let mut told: Vec<&str> = Vec::new();
    let keys = TABLE.iter().filter_map(|row| {
        let what = match for_tasks(row.chords[0].1) {
            ForTasks::Nothing if tasks => return None,
            ForTasks::Does(what) if tasks => what,
            _ => row.what,
        };
        // Of several keys that do the same the first row is enough.
        let again = tasks && told.contains(&what);
        told.push(what);
        (!again).then_some((row.keys, what, palette::TEXT))
    });
    let keys: Vec<Row> = keys.collect();
    let mouse = if tasks { &TASK_MOUSE[..] } else { &MOUSE[..] };
    let mouse = mouse.iter().map(|&(place, what)| (place, what, palette::TEXT));
    let gap = ("", "", palette::TEXT);
    let mut all: Vec<Row> = [head("KEYS")].into_iter().chain(keys).chain([gap, head("MOUSE")]).chain(mouse).collect();
    if !wide {
        return vec![all];
    }
    // The second column has a heading too, and all about the mouse.
    let second = all.split_off(all.len().div_ceil(2));
    vec![all, [gap].into_iter().chain(second).collect()]
}

/// Height of a line and size of type, as large as columns have room for.
fn fit(columns: &[Vec<Row>], screen: Rect) -> (f32, f32) {
    let rows = columns.iter().map(Vec::len).max().unwrap_or(0);
    let line = ((screen.height() - 64.0) / rows as f32).clamp(7.0, 24.0);
    let room = (screen.width() - 8.0) / (COLUMN * columns.len() as f32);
    (line, (0.58 * line).min(room).clamp(6.0, 13.5))
}

/// Shows it; a click closes it.
pub(super) fn sheet(ui: &mut Ui, desk: &mut Desk) {
    let screen = ui.ctx().content_rect();
    let painter = ui.ctx().layer_painter(LayerId::new(Order::Foreground, Id::unique("sheet")));
    painter.rect_filled(screen, CornerRadius::ZERO, color(palette::fade(palette::BACKGROUND, 0.7)));
    let tasks = desk.studio().tasks().is_some();
    let [one, two] = [false, true].map(|wide| columns(wide, tasks));
    let is_cut = BORDER + fit(&one, screen).0 * one[0].len() as f32 > screen.height();
    let columns = if is_cut || fit(&two, screen).1 > fit(&one, screen).1 { two } else { one };
    let (line, size) = fit(&columns, screen);
    let rows = columns.iter().map(Vec::len).max().unwrap_or(0);
    let width = (COLUMN * columns.len() as f32 * size).min(screen.width() - 8.0);
    let area = Rect::from_center_size(screen.center(), vec2(width, line * rows as f32 + BORDER));
    painter.rect_filled(area, CornerRadius::same(10), color(palette::CARD));
    let edge = Stroke::new(1.0, color(palette::fade(palette::GUIDE, 0.28)));
    painter.rect_stroke(area, CornerRadius::same(10), edge, egui::StrokeKind::Inside);
    for (n, column) in columns.iter().enumerate() {
        let left = area.left() + width * n as f32 / columns.len() as f32;
        let (x, second) = (left + 1.8 * size, left + SECOND * width / columns.len() as f32);
        let room =
            [SECOND * width / columns.len() as f32 - 2.8 * size, left + width / columns.len() as f32 - second - size];
        let mut y = area.top() + 15.0 + 0.5 * line;
        for &(keys, what, ink) in column {
            let text = |x: f32, words: &str, weight: Weight, c, room: f32| {
                let wide = painter.layout_no_wrap(words.to_owned(), weight.at(size), color(c)).size().x;
                // Words that are longer than their place are smaller, and never over what is beside them.
                let size = size * (room / wide.max(1.0)).clamp(0.1, 1.0);
                painter.text(pos2(x, y), Align2::LEFT_CENTER, words, weight.at(size), color(c));
            };
            text(x, keys, Weight::Medium, ink, room[0]);
            text(second, what, Weight::Regular, palette::TEXT_BODY, room[1]);
            y += line;
        }
    }
    if ui.interact(screen, Id::unique("sheet away"), Sense::click()).clicked() {
        desk.sheet = false;
        ui.ctx().request_repaint();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_and_all_about_the_mouse_is_in_one_of_the_columns() {
        for wide in [false, true] {
            let columns = columns(wide, false);
            assert_eq!(columns.len(), if wide { 2 } else { 1 });
            let has = |words: &str| columns.iter().flatten().filter(|(_, what, _)| *what == words).count() == 1;
            assert!(TABLE.iter().all(|row| has(row.what)) && MOUSE.iter().all(|(_, what)| has(what)));
            let last = columns.last().expect("one");
            assert!(last.iter().any(|(head, ..)| *head == "MOUSE"), "as a whole in one of them");
        }
    }
}
