//! What a storyboard writes over its pictures: captions, labels, outlines, cards and questions. Places are points of the target.

use super::fonts::{self, Weight};
use super::pen::color;
use crate::scene::palette::{self, Rgba};
use crate::shown;
use egui::text::{LayoutJob, TextFormat};
use egui::{Align, Galley, Painter, Pos2, Rect, Shape, Stroke, Vec2, pos2, vec2};
use std::sync::Arc;

/// Words, each run with its colour; `None` is that of words.
pub type Runs = Vec<(String, Option<Rgba>)>;

/// Words beside a place.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedLabel {
    /// The words.
    pub words: Runs,
    /// The place.
    pub at: Pos2,
    /// The middle of the picture, which the words lead away from.
    pub middle: Pos2,
    /// Where they may be.
    pub within: Rect,
}

/// A question, or its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct QuizCard {
    /// The question.
    pub question: String,
    /// What may be chosen.
    pub choices: Vec<String>,
    /// The right one, from 0, once it is told.
    pub right: Option<usize>,
    /// The answer, once it is told.
    pub answer: Runs,
    /// What is left of the time to think, 1 to 0.
    pub left: f32,
}

/// How one scene goes and the next one comes. The ground is between both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transition {
    /// The picture fades into the ground, and out of it.
    #[default]
    Fade,
    /// At once.
    Cut,
    /// An edge goes over the picture from left to right.
    Wipe,
    /// A circle closes round the middle, and opens.
    Iris,
}

impl Transition {
    /// All of them, with their names.
    pub const ALL: [(Self, &'static str); 4] =
        [(Self::Fade, "fade"), (Self::Cut, "cut"), (Self::Wipe, "wipe"), (Self::Iris, "iris")];
}

/// How much of the ground is over a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Veil {
    /// 1 hides all, 0 shows all.
    pub share: f32,
    /// Whether a scene comes, and does not go.
    pub comes: bool,
    /// In which way.
    pub way: Transition,
}

/// Everything that is written over a frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lettering {
    /// Words alone: a title, and a text below it.
    pub card: Option<(String, Runs)>,
    /// The caption, in a band at the bottom.
    pub caption: Runs,
    /// Points of that band.
    pub band: f32,
    /// Type of the caption, times the usual size.
    pub caption_scale: f32,
    /// Words beside places.
    pub labels: Vec<PlacedLabel>,
    /// Places that stay and that no label covers where it can stand elsewhere.
    pub places: Vec<Pos2>,
    /// Lines that show what is meant; closed ones end where they begin.
    pub outlines: Vec<Vec<Pos2>>,
    /// A question.
    pub quiz: Option<QuizCard>,
    /// The ground over everything, as one scene goes and the next one comes.
    pub veil: Veil,
}

/// Type of captions in a picture 720 high.
const CAPTION: f32 = 24.0;
/// Type of labels.
const LABEL: f32 = 16.0;
/// How far from its place a label may stand, nearest first.
const FAR: [f32; 3] = [46.0, 80.0, 120.0];
/// Lines of a caption, at most.
pub const MOST_LINES: usize = 3;

/// Points of type for one in a picture 720 high: never so few that words cannot be read.
#[must_use]
pub fn type_scale([width, height]: [u32; 2]) -> f32 {
    let scale = (height as f32 / 720.0).min(width as f32 / 960.0);
    if scale < 1.0 { 0.45 + 0.55 * scale } else { scale }
}

/// Sizes of captions' type, times the usual one, from the largest on: long captions in small pictures have the smallest.
pub const CAPTION_SCALES: [f32; 4] = [1.0, 0.9, 0.8, 0.7];

/// Sizes of a caption that has grown past its room, times that of the film.
const SMALLER: [f32; 5] = [1.0, 0.9, 0.8, 0.7, 0.6];

/// Points of a band of so many lines of caption.
#[must_use]
pub fn band(lines: usize, size: [u32; 2], scale: f32) -> f32 {
    let t = type_scale(size) * scale;
    if lines == 0 { 0.0 } else { ((lines as f32 * CAPTION * 1.28 + 22.0) * t).round() }
}

fn width_of_captions(size: [u32; 2]) -> f32 {
    let t = type_scale(size);
    (size[0] as f32 - 64.0 * t).max(80.0).min(1060.0 * t)
}

fn job(runs: &Runs, weight: Weight, size: f32, ink: Rgba, width: f32, align: Align) -> LayoutJob {
    let mut job = LayoutJob { halign: align, ..LayoutJob::default() };
    job.wrap.max_width = width;
    for (words, own) in runs {
        let ink = own.map_or(ink, palette::words);
        let weight = if own.is_some() { Weight::SemiBold } else { weight };
        // Who writes words breaks their lines; a tab is a space here.
        let line = |line: &str| shown::words(&line.trim_end_matches('\r').replace('\t', " ")).into_owned();
        let lines: Vec<String> = words.split('\n').map(line).collect();
        job.append(
            &lines.join("\n"),
            0.0,
            TextFormat { font_id: weight.at(size), color: color(ink), ..TextFormat::default() },
        );
    }
    job
}

/// Words in lines of about the same length: no wider than `width`, in no more lines than that takes.
fn balanced(painter: &Painter, of: &dyn Fn(f32) -> LayoutJob, width: f32) -> Arc<Galley> {
    let lines = painter.layout_job(of(width)).rows.len();
    let (mut least, mut most) = (0.3 * width, width);
    if lines > 1 {
        for _ in 0..6 {
            let middle = 0.5 * (least + most);
            if painter.layout_job(of(middle)).rows.len() > lines { least = middle } else { most = middle }
        }
    }
    painter.layout_job(of(most))
}

fn plain(words: &str) -> Runs {
    vec![(words.to_owned(), None)]
}

/// Whether all of some words is shown: what is very long has its middle left out.
#[must_use]
pub fn is_whole(words: &str) -> bool {
    shown::words(words) == shown::line(words)
}

/// Lays words out without drawing: for who must know whether they fit.
pub struct Measure {
    egui: egui::Context,
}

impl Default for Measure {
    fn default() -> Self {
        let egui = egui::Context::default();
        fonts::install(&egui);
        Self { egui }
    }
}

impl Measure {
    fn with<T>(&self, work: impl Fn(&egui::Context) -> T) -> Option<T> {
        let mut done = None;
        let mut input = egui::RawInput { time: Some(0.0), ..egui::RawInput::default() };
        input.viewports.entry(egui::ViewportId::ROOT).or_default().native_pixels_per_point = Some(1.0);
        let mut output = self.egui.run_ui(input, |ui| done = Some(work(ui.ctx())));
        // Nothing is drawn of it.
        output.textures_delta.clear();
        done
    }

    /// Lines that a caption takes in a picture of `size` points.
    #[must_use]
    pub fn lines(&self, caption: &str, size: [u32; 2], scale: f32) -> usize {
        let t = type_scale(size);
        let lines = self.with(|ctx| {
            let job = job(
                &plain(caption),
                Weight::Medium,
                CAPTION * scale * t,
                palette::TEXT,
                width_of_captions(size),
                Align::LEFT,
            );
            ctx.fonts_mut(|fonts| fonts.layout_job(job)).rows.len()
        });
        lines.unwrap_or(1)
    }

    fn fits(&self, size: [u32; 2], height: impl Fn(&Painter) -> f32, room: f32) -> bool {
        let [width, whole] = size.map(|side| side as f32);
        let within = Rect::from_min_size(Pos2::ZERO, vec2(width, whole));
        let height = self.with(|ctx| height(&Painter::new(ctx.clone(), egui::LayerId::background(), within)));
        height.is_none_or(|height| height <= room)
    }

    /// Whether a card has room in a picture of `size` points.
    #[must_use]
    pub fn card_fits(&self, title: &str, text: &str, size: [u32; 2]) -> bool {
        let whole = is_whole(title) && is_whole(text);
        let text = plain(text);
        whole && self.fits(size, |painter| card_rows(painter, title, &text, size).height(), size[1] as f32 - 16.0)
    }

    /// Whether a question has room in a picture of `size` points over a band of captions.
    #[must_use]
    pub fn quiz_fits(&self, quiz: &QuizCard, size: [u32; 2], band: f32) -> bool {
        let least = QUIZ_SCALES[QUIZ_SCALES.len() - 1];
        let answer = quiz.answer.iter().map(|(words, _)| words);
        let whole = quiz.choices.iter().chain([&quiz.question]).chain(answer).all(|words| is_whole(words));
        whole && self.fits(size, |painter| quiz_rows(painter, quiz, size, least).height, size[1] as f32 - band - 8.0)
    }

    /// Whether the words of a label take no more than half of a picture of `size` points.
    #[must_use]
    pub fn label_fits(&self, words: &str, size: [u32; 2]) -> bool {
        let whole = is_whole(words);
        let (t, words) = (type_scale(size), plain(words));
        whole && self.fits(size, |painter| label_rows(painter, &words, t).size().y, 0.5 * size[1] as f32)
    }

    /// The first character that cannot be written: no font has it, or it is written from right to left.
    #[must_use]
    pub fn missing(&self, words: &str) -> Option<char> {
        self.with(|ctx| {
            let font = Weight::Medium.at(CAPTION);
            let has = |c: char| {
                c.is_whitespace()
                    || c.is_control()
                    || !fonts::is_right_to_left(c) && ctx.fonts_mut(|fonts| fonts.has_glyph(&font, c))
            };
            words.chars().find(|c| !has(*c))
        })
        .flatten()
    }
}

/// Writes all of it over a picture of `size` points.
pub fn letter(painter: &Painter, lettering: &Lettering, size: [u32; 2]) {
    let t = type_scale(size);
    let [width, height] = size.map(|side| side as f32);
    let light = |strength: f32| color(palette::fade(palette::LIGHT, strength));
    for points in &lettering.outlines {
        painter.add(Shape::line(points.clone(), Stroke::new(4.0 * t, color(palette::fade(palette::BACKGROUND, 0.6)))));
        painter.add(Shape::line(points.clone(), Stroke::new(1.8 * t, light(0.95))));
    }
    let mut taken: Vec<Rect> = Vec::new();
    for label in &lettering.labels {
        self::label(painter, label, t, (&lettering.places, &mut taken));
    }
    if lettering.band > 0.0 {
        let band = Rect::from_min_max(pos2(0.0, height - lettering.band), pos2(width, height));
        painter.rect_filled(band, 0.0, color(palette::BACKGROUND));
        let of = |scale: f32, width: f32| {
            let points = CAPTION * lettering.caption_scale * scale * t;
            job(&lettering.caption, Weight::Medium, points, palette::TEXT, width, Align::Center)
        };
        let laid_out = |scale: f32| balanced(painter, &|width| of(scale, width), width_of_captions(size));
        // A value that is longer at this moment than there is room for is written smaller.
        let fits = |galley: &Arc<Galley>| galley.size().y <= lettering.band - 6.0 * t;
        let galley =
            SMALLER.into_iter().map(laid_out).find(fits).unwrap_or_else(|| laid_out(SMALLER[SMALLER.len() - 1]));
        let top = band.center().y - 0.5 * galley.size().y - 3.0 * t;
        painter.galley(pos2(0.5 * width, top), galley, color(palette::TEXT));
    }
    if let Some((title, text)) = &lettering.card {
        card(painter, title, text, size);
    }
    if let Some(quiz) = &lettering.quiz {
        self::quiz(painter, quiz, size, lettering.band);
    }
    veil(painter, lettering.veil, vec2(width, height));
}

/// The ground over a picture of `size` points that comes or goes.
fn veil(painter: &Painter, veil: Veil, size: Vec2) {
    let share = veil.share.clamp(0.0, 1.0);
    if share <= 0.0 {
        return;
    }
    let all = Rect::from_min_size(Pos2::ZERO, size);
    // Edges start and stop slowly.
    let eased = share * share * (3.0 - 2.0 * share);
    match veil.way {
        Transition::Fade | Transition::Cut => {
            painter.rect_filled(all, 0.0, color(palette::fade(palette::BACKGROUND, share)));
        }
        Transition::Wipe => {
            let edge = if veil.comes { 1.0 - eased } else { eased } * size.x;
            let part = if veil.comes { all.with_min_x(edge) } else { all.with_max_x(edge) };
            painter.rect_filled(part, 0.0, color(palette::BACKGROUND));
        }
        Transition::Iris => {
            let whole = 0.5 * size.length();
            let radius = (1.0 - eased) * whole;
            if radius < 1.0 {
                painter.rect_filled(all, 0.0, color(palette::BACKGROUND));
                return;
            }
            // A ring from the circle, of which the line is outside, to beyond the corners.
            painter.circle_stroke(all.center(), radius, Stroke::new(whole - radius + 2.0, color(palette::BACKGROUND)));
        }
    }
}

fn label_rows(painter: &Painter, words: &Runs, t: f32) -> Arc<Galley> {
    painter.layout_job(job(words, Weight::Medium, LABEL * t, palette::TEXT, 260.0 * t, Align::LEFT))
}

fn label(painter: &Painter, label: &PlacedLabel, t: f32, (places, taken): (&[Pos2], &mut Vec<Rect>)) {
    let galley = label_rows(painter, &label.words, t);
    let pad = vec2(9.0, 5.0) * t;
    let size = galley.size() + pad * 2.0;
    let away = label.at - label.middle;
    let away = if away.length() > 1.0 { away.normalized() } else { vec2(0.7, -0.7) };
    // Outward, and where that is taken already, turned a bit further, or farther away.
    let place = |(turn, far): (f32, f32)| {
        let (sin, cos) = turn.sin_cos();
        let toward = vec2(away.x * cos - away.y * sin, away.x * sin + away.y * cos);
        let from = label.at + toward * far * t;
        let center = from + vec2(0.5 * size.x * toward.x, 0.5 * size.y * toward.y);
        let within = label.within.shrink(6.0 * t);
        let mut rect = Rect::from_center_size(center, size);
        let shift = |low: f32, high: f32, least: f32, most: f32| {
            if low < least {
                least - low
            } else if high > most {
                most - high
            } else {
                0.0
            }
        };
        rect = rect.translate(vec2(
            shift(rect.left(), rect.right(), within.left(), within.right()),
            shift(rect.top(), rect.bottom(), within.top(), within.bottom()),
        ));
        rect
    };
    let free = |rect: &Rect| {
        !rect.expand(3.0 * t).contains(label.at) && !taken.iter().any(|other| other.expand(2.0 * t).intersects(*rect))
    };
    // The circle round a place is not covered either.
    let seen = |rect: &Rect| !places.iter().any(|at| rect.expand(8.0 * t).contains(*at));
    let turns = [0.0, 0.6, -0.6, 1.2, -1.2, 1.9, -1.9, 2.6, -2.6, 3.1];
    let all = || FAR.into_iter().flat_map(|far| turns.map(|turn| place((turn, far))));
    let rect = all().find(|rect| free(rect) && seen(rect)).or_else(|| all().find(free));
    let rect = rect.unwrap_or_else(|| place((0.0, FAR[0])));
    let end = pos2(label.at.x.clamp(rect.left(), rect.right()), label.at.y.clamp(rect.top(), rect.bottom()));
    let ink = color(palette::fade(palette::LIGHT, 0.85));
    let toward = (end - label.at).normalized();
    if end.distance(label.at) > 9.0 * t {
        painter.line_segment([label.at + toward * 7.0 * t, end], Stroke::new(1.4 * t, ink));
    }
    painter.circle_stroke(label.at, 6.5 * t, Stroke::new(1.6 * t, ink));
    painter.rect_filled(rect, 4.0 * t, color(palette::fade(palette::BACKGROUND, 0.90)));
    painter.rect_stroke(
        rect,
        4.0 * t,
        Stroke::new(1.0, color(palette::fade(palette::LIGHT, 0.35))),
        egui::StrokeKind::Inside,
    );
    painter.galley(rect.min + pad, galley, color(palette::TEXT));
    taken.push(rect);
}

/// The words of a card, and the space between its title and its text.
struct CardRows {
    title: Arc<Galley>,
    text: Arc<Galley>,
    gap: f32,
}

impl CardRows {
    fn height(&self) -> f32 {
        self.title.size().y + self.gap + self.text.size().y
    }
}

fn card_rows(painter: &Painter, title: &str, text: &Runs, size: [u32; 2]) -> CardRows {
    let t = type_scale(size);
    let width = width_of_captions(size) * 0.86;
    let layout = |runs: &Runs, weight: Weight, points: f32, ink: Rgba| {
        balanced(painter, &|width| job(runs, weight, points * t, ink, width, Align::Center), width)
    };
    let title = layout(&plain(title), Weight::SemiBold, 44.0, palette::TEXT);
    let text = layout(text, Weight::Regular, 24.0, palette::TEXT_BODY);
    let gap = if text.size().y > 0.0 && !text.is_empty() { 26.0 * t } else { 0.0 };
    CardRows { title, text, gap }
}

fn card(painter: &Painter, title: &str, text: &Runs, size: [u32; 2]) {
    let CardRows { title, text, gap } = card_rows(painter, title, text, size);
    let middle = pos2(0.5 * size[0] as f32, 0.5 * size[1] as f32);
    let mut y = middle.y - 0.5 * (title.size().y + gap + text.size().y);
    let below = title.size().y + gap;
    painter.galley(pos2(middle.x, y), title, color(palette::TEXT));
    y += below;
    painter.galley(pos2(middle.x, y), text, color(palette::TEXT));
}

/// The card of a question, in type so small that it has room.
fn quiz(painter: &Painter, quiz: &QuizCard, size: [u32; 2], band: f32) {
    let room = size[1] as f32 - band - 8.0;
    let fits = QUIZ_SCALES.into_iter().find(|scale| quiz_rows(painter, quiz, size, *scale).height <= room);
    let scale = fits.unwrap_or(QUIZ_SCALES[QUIZ_SCALES.len() - 1]);
    let QuizRows { rows, width, height, inner, pad, told } = quiz_rows(painter, quiz, size, scale);
    let t = type_scale(size) * scale;
    let middle = pos2(0.5 * size[0] as f32, 0.5 * (size[1] as f32 - band));
    let card = Rect::from_center_size(middle, vec2(width, height));
    painter.rect_filled(card, 8.0 * t, color(palette::fade(palette::BACKGROUND, 0.97)));
    painter.rect_stroke(
        card,
        8.0 * t,
        Stroke::new(1.2 * t, color(palette::fade(palette::LIGHT, 0.4))),
        egui::StrokeKind::Inside,
    );
    let mut y = card.top() + pad;
    for (galley, gap, right) in rows {
        let rows = galley.size().y;
        if right {
            let row = Rect::from_min_max(
                pos2(card.left() + 0.5 * pad, y - 4.0 * t),
                pos2(card.right() - 0.5 * pad, y + rows + 4.0 * t),
            );
            painter.rect_filled(row, 4.0 * t, color(palette::fade(palette::LIGHT, 0.14)));
        }
        painter.galley(pos2(card.left() + pad, y), galley, color(palette::TEXT));
        y += rows + gap * t;
    }
    if !told && quiz.left > 0.0 {
        // The time that is left: meaning is in its length.
        let bar = Rect::from_min_size(
            pos2(card.left() + pad, card.bottom() - 0.5 * pad),
            vec2(inner * quiz.left.min(1.0), 3.0 * t),
        );
        painter.rect_filled(bar, 1.5 * t, color(palette::fade(palette::LIGHT, 0.7)));
    }
}

/// Sizes of a question's type, times the usual one, from the largest on.
const QUIZ_SCALES: [f32; 5] = [1.0, 0.85, 0.72, 0.6, 0.5];

/// Lines of a question's card, and how large it is.
struct QuizRows {
    /// Each with the space below it, and whether it is the right choice.
    rows: Vec<(Arc<Galley>, f32, bool)>,
    width: f32,
    height: f32,
    inner: f32,
    pad: f32,
    told: bool,
}

fn quiz_rows(painter: &Painter, quiz: &QuizCard, size: [u32; 2], scale: f32) -> QuizRows {
    let t = type_scale(size) * scale;
    let width = (0.56 * size[0] as f32).min(660.0 * type_scale(size)).max(0.9 * (size[0] as f32).min(300.0));
    let pad = 26.0 * t;
    let inner = width - 2.0 * pad;
    let layout = |runs: &Runs, weight: Weight, points: f32, ink: Rgba| {
        balanced(painter, &|width| job(runs, weight, points * t, ink, width, Align::LEFT), inner)
    };
    let told = quiz.right.is_some() || !quiz.answer.is_empty();
    let mut rows: Vec<(Arc<Galley>, f32, bool)> =
        vec![(layout(&plain(&quiz.question), Weight::SemiBold, 26.0, palette::TEXT), 14.0, false)];
    for ((n, choice), letter) in quiz.choices.iter().enumerate().zip('A'..='Z') {
        let right = quiz.right == Some(n);
        let ink = if !told || right { palette::TEXT } else { palette::TEXT_QUIET };
        let weight = if right { Weight::SemiBold } else { Weight::Regular };
        rows.push((layout(&plain(&format!("{letter}   {choice}")), weight, 21.0, ink), 7.0, right));
    }
    if !quiz.answer.is_empty() {
        rows.push((layout(&quiz.answer, Weight::Medium, 21.0, palette::TEXT), 12.0, false));
    }
    let height: f32 = rows.iter().map(|(galley, gap, _)| galley.size().y + gap * t).sum::<f32>() + 2.0 * pad;
    QuizRows { rows, width, height, inner, pad, told }
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::LayerId;

    #[test]
    fn breaks_of_lines_are_breaks_and_what_acts_is_written_out() {
        let text = |words: &str| job(&plain(words), Weight::Medium, 12.0, palette::TEXT, 1e4, Align::LEFT).text;
        assert_eq!(text("one\ntwo\tthree\r\nfour\u{1b}[0m"), "one\ntwo three\nfour\\u{1b}[0m");
        assert_eq!(Measure::default().lines("one\ntwo\nthree", [1280, 720], 1.0), 3);
    }

    #[test]
    fn labels_cover_neither_each_other_nor_the_places_of_those_that_come_later() {
        let size = [640, 360];
        let within = Rect::from_min_size(Pos2::ZERO, vec2(640.0, 280.0));
        // As the CPU and two rings of the first lesson lie.
        let places = [pos2(322.0, 128.0), pos2(351.0, 155.0), pos2(383.0, 186.0)];
        let words = ["the CPU", "L1 holds 16 lines of 4 numbers", "L2 holds 64 lines"];
        let of = |n: usize| PlacedLabel { words: plain(words[n]), at: places[n], middle: places[0], within };
        let placed = |count: usize| {
            let work = |ctx: &egui::Context| {
                let painter = ctx.layer_painter(LayerId::background());
                let mut taken = Vec::new();
                (0..count).for_each(|n| label(&painter, &of(n), type_scale(size), (&places, &mut taken)));
                taken
            };
            Measure::default().with(work).expect("laid out")
        };
        let all = placed(3);
        for (n, rect) in all.iter().enumerate() {
            assert!(within.contains_rect(*rect), "{rect:?}");
            assert!(!all[..n].iter().any(|other| other.intersects(*rect)), "{all:?}");
            assert!(!places.iter().any(|at| rect.expand(4.0).contains(*at)), "{all:?}");
        }
        assert_eq!(placed(1)[..], all[..1], "none moves when another one comes");
        assert_eq!(placed(2)[..], all[..2]);
    }
}
