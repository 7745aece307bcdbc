//! Why what is shown is not what its file holds now: a card over the picture that stays until it is mended.

use super::desk::Desk;
use super::widgets::floating;
use crate::overlay::Layout;
use crate::overlay::fonts::Weight;
use crate::overlay::pen::color;
use crate::scene::palette::{self, Rgba};
use crate::shown;
use egui::{Align2, Area, CursorIcon, Id, Margin, Order, Response, Role, Sense, Ui, WidgetInfo, pos2, vec2};

/// Lines that are shown, and columns of one that are kept.
const LINES: usize = 14;
const COLUMNS: usize = 240;
/// Sizes of type: of the sentence, and of what is below it.
const TITLE: f32 = 13.0;
const TYPE: f32 = 12.0;
/// Width of a column of code, of the size of type, so that marks stand below what they mark; and columns of numbers of lines.
const COLUMN: f32 = 0.62;
const NUMBERS: usize = 5;
/// From line to line, and the largest width, points.
const PITCH: f32 = 16.0;
const WIDEST: f32 = 760.0;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// What has happened, in a sentence.
    what: String,
    lines: Vec<Line>,
}

/// A line of why.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Line {
    /// A sentence, or a place: `k.wgsl:25:12`.
    Words(String),
    /// Code, with the number of its line; below it, without one, what is marked in it.
    Code(String, String),
}

impl Fault {
    /// Of the words of a parser that shows a place in its source, as naga and TOML's do: numbers of lines stand left of a bar.
    pub(super) fn new(what: String, why: &str) -> Self {
        let lines = why.lines().filter_map(line).take(LINES).collect();
        Self { what, lines }
    }

    /// All of it as text.
    fn text(&self) -> String {
        let line = |line: &Line| match line {
            Line::Words(words) => words.clone(),
            Line::Code(number, code) => format!("{number:>NUMBERS$} {code}"),
        };
        std::iter::once(self.what.clone()).chain(self.lines.iter().map(line)).collect::<Vec<_>>().join("\n")
    }
}

/// A line as it is shown; none where nothing is on it.
fn line(text: &str) -> Option<Line> {
    let kept = |text: &str| shown::short(text.trim_end(), COLUMNS).into_owned();
    let (number, rest) = text.split_at(text.find(|c: char| c != ' ' && !c.is_ascii_digit()).unwrap_or(text.len()));
    if let Some(code) = rest.strip_prefix(['│', '|']) {
        let code = code.strip_prefix(' ').unwrap_or(code);
        let (number, code) = (number.trim().to_owned(), kept(&code.replace('\t', "    ").replace('│', "|")));
        return (!number.is_empty() || !code.is_empty()).then_some(Line::Code(number, code));
    }
    let words = text.trim_start().trim_start_matches("┌─").trim();
    (!words.is_empty()).then(|| Line::Words(kept(words)))
}

/// Shows it above the strip, where there is one; the height that it takes comes back.
pub(super) fn show(ui: &Ui, desk: &mut Desk, layout: &Layout, now: f64) -> f32 {
    let Some(fault) = &desk.fault else { return 0.0 };
    let screen = ui.ctx().content_rect();
    let wide = (screen.width() - 60.0).clamp(60.0, WIDEST);
    let corner = pos2(layout.strip.left(), layout.strip.top() - 12.0);
    let area = Area::new(Id::unique("fault")).order(Order::Foreground).pivot(Align2::LEFT_BOTTOM).fixed_pos(corner);
    let shown = area.constrain(true).show(ui.ctx(), |ui| {
        let card = floating().inner_margin(Margin::symmetric(12, 8));
        card.show(ui, |ui| lines(ui, fault, wide, screen.height())).inner
    });
    let (text, place) = (fault.text(), shown.response.rect);
    let response = shown.inner.on_hover_cursor(CursorIcon::Copy);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("{text} (click to copy)")));
    if response.clicked() {
        desk.copied = Some(text);
        desk.say("copied", now);
    }
    place.height() + 10.0
}

/// The lines; what they stand on can be clicked.
fn lines(ui: &mut Ui, fault: &Fault, wide: f32, high: f32) -> Response {
    let column = COLUMN * TYPE;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few lines and columns")]
    let (rows, columns) = (((0.5 * high / PITCH) as usize).max(2), (wide / column) as usize);
    let painter = ui.painter().clone();
    let words = |words: &str, weight: Weight, size: f32, ink: Rgba| {
        painter.layout_no_wrap(shown::short(words, columns.max(8)).into_owned(), weight.at(size), color(ink))
    };
    let title = words(&fault.what, Weight::Medium, TITLE, palette::TEXT);
    let sentence = |line: &Line| match line {
        Line::Words(text) => Some(words(text, Weight::Regular, TYPE, palette::TEXT_BODY)),
        Line::Code(..) => None,
    };
    let sentences: Vec<_> = fault.lines.iter().take(rows).map(sentence).collect();
    let code = |line: &Line| match line {
        Line::Code(_, code) => (NUMBERS + 1 + code.chars().count()).min(columns) as f32 * column,
        Line::Words(_) => 0.0,
    };
    let needs = sentences.iter().flatten().map(|galley| galley.size().x).fold(title.size().x, f32::max);
    let needs = fault.lines.iter().take(rows).map(code).fold(needs, f32::max).min(wide);
    let response = ui.allocate_response(vec2(needs, PITCH * (sentences.len() + 1) as f32), Sense::click());
    let place = response.rect;
    painter.galley(place.min, title, color(palette::TEXT));
    for (n, (line, sentence)) in fault.lines.iter().zip(sentences).enumerate() {
        let at = pos2(place.left(), place.top() + PITCH * (n + 1) as f32);
        match (line, sentence) {
            (Line::Code(number, code), _) => {
                let put = |x: f32, sign: char, ink: Rgba| {
                    let at = pos2(at.x + column * (x + 0.5), at.y);
                    painter.text(at, Align2::CENTER_TOP, sign, Weight::Regular.at(TYPE), color(ink));
                };
                let first = NUMBERS - number.chars().count().min(NUMBERS);
                for (n, digit) in number.chars().take(NUMBERS).enumerate() {
                    put((first + n) as f32, digit, palette::TEXT_QUIET);
                }
                // What is marked has no number.
                let ink = if number.is_empty() { palette::SERIES[1] } else { palette::TEXT };
                let room = columns.saturating_sub(NUMBERS + 1);
                for (n, sign) in code.chars().take(room).enumerate().filter(|(_, sign)| *sign != ' ') {
                    put((NUMBERS + 1 + n) as f32, sign, ink);
                }
            }
            (_, Some(galley)) => {
                painter.galley(at, galley, color(palette::TEXT_BODY));
            }
            (Line::Words(_), None) => {}
        }
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_that_a_parser_shows_is_kept_with_its_marks() {
        let naga = "expected `{`, found \"=\"\n   ┌─ k.wgsl:25:12\n   │\n25 │     if tid = 0u {\n   │            ^ expected `{`\n\n";
        let fault = Fault::new("k.wgsl has changed".into(), naga);
        let code = |number: &str, code: &str| Line::Code(number.into(), code.into());
        let words = |words: &str| Line::Words(words.into());
        assert_eq!(
            fault.lines,
            [
                words("expected `{`, found \"=\""),
                words("k.wgsl:25:12"),
                code("25", "    if tid = 0u {"),
                code("", "           ^ expected `{`"),
            ]
        );
        let toml =
            "k.toml: TOML parse error at line 1, column 11\n  |\n1 | globl = [4\n  |           ^\nunclosed array\n";
        let fault = Fault::new("k.wgsl has changed".into(), toml);
        assert_eq!(fault.lines[1..3], [code("1", "globl = [4"), code("", "          ^")]);
        assert_eq!(fault.text().lines().count(), 5);
        let long = Fault::new(String::new(), &"x\n".repeat(1000));
        assert_eq!(long.lines.len(), LINES);
    }
}
