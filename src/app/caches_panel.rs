//! The caches as something to change: a card over the picture, a row a level.
//!
//! ```text
//! Caches  [paper v]   undo redo  x
//! two tiny levels: those of the pictures of Choudhury and Rosen (2011)
//! L1   [512B ] - +   [2 ] - + ways   [lru  v]  [nine v]  [none v]  x
//! L2   [8KiB ] - +   [16] - + ways   [lru  v]  [nine v]  [none v]  x
//! line [32   ] - +   add a level     copy as TOML   save as TOML
//! ```

use super::caches::{CacheEdit, Change, size_of, ways_of};
use super::desk::Desk;
use super::widgets::floating;
use crate::overlay::fonts::Weight;
use crate::overlay::pen::color;
use crate::scene::palette;
use crate::sim::Policy;
use crate::sim::config::{Inclusion, Prefetch, presets};
use crate::units::grouped;
use egui::{Align2, Area, Button, ComboBox, Grid, Id, Order, Response, RichText, ScrollArea, TextEdit, Ui, vec2};

/// What of the card can be typed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    /// The size of a level.
    Size(usize),
    /// The ways of a level.
    Ways(usize),
    /// The line of all levels.
    Line,
}

/// The card of the caches.
#[derive(Clone, Debug)]
pub(super) struct CacheCard {
    /// What is changed.
    pub(super) edit: CacheEdit,
    /// Whether it is seen.
    pub(super) open: bool,
    /// What is typed and not made yet; it stays, marked, where it was refused.
    typed: Option<(Field, String)>,
    /// References done, and all, of a simulation under way.
    pub(super) progress: Option<(u64, u64)>,
}

/// What the card asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CardAsks {
    /// Simulate the caches as they are now.
    Simulate,
    /// Write them to a file.
    Save,
    /// Compare other caches with those that are simulated now.
    Compare,
}

impl CacheCard {
    /// Closed, for caches that are shown.
    #[must_use]
    pub(super) fn new(edit: CacheEdit) -> Self {
        Self { edit, open: false, typed: None, progress: None }
    }

    /// Makes a change; true where there is something to simulate.
    pub(super) fn change(&mut self, change: &Change) -> bool {
        self.typed = None;
        self.edit.change(change)
    }
}

/// Size of type.
const TYPE: f32 = 13.0;

/// Shows the card where it is open.
pub(super) fn show(ui: &Ui, desk: &mut Desk, right: f32, top: f32) -> Option<CardAsks> {
    let card = desk.caches.as_mut().filter(|card| card.open)?;
    let mut asks = None;
    let area = Area::new(Id::unique("caches")).order(Order::Foreground).movable(true).constrain(true);
    area.pivot(Align2::RIGHT_TOP).default_pos(egui::pos2(right, top)).show(ui.ctx(), |ui| {
        floating().show(ui, |ui| {
            ui.spacing_mut().item_spacing = vec2(6.0, 7.0);
            // In a small window it is scrolled.
            let room = (ui.ctx().content_rect().size() - vec2(48.0, 96.0)).max(vec2(80.0, 60.0));
            ScrollArea::both()
                .max_width(room.x)
                .max_height(room.y)
                .min_scrolled_width(room.x)
                .min_scrolled_height(room.y)
                .show(ui, |ui| {
                    head(ui, card, &mut asks);
                    Grid::new(Id::unique("levels")).spacing(vec2(8.0, 7.0)).show(ui, |ui| levels(ui, card, &mut asks));
                    foot(ui, card, &mut asks);
                });
        });
    });
    asks
}

fn words(text: impl Into<String>, c: palette::Rgba) -> RichText {
    RichText::new(text).font(Weight::Regular.at(TYPE)).color(color(c))
}

fn small(ui: &mut Ui, text: &str, enabled: bool, hint: &str) -> bool {
    let button = Button::new(words(text, if enabled { palette::TEXT_BODY } else { palette::TEXT_QUIET }));
    ui.add_enabled(enabled, button).on_hover_text(hint).clicked()
}

fn head(ui: &mut Ui, card: &mut CacheCard, asks: &mut Option<CardAsks>) {
    ui.horizontal(|ui| {
        ui.label(RichText::new("Caches").font(Weight::SemiBold.at(TYPE + 2.0)).color(color(palette::TEXT)));
        let now = card.edit.now().name.clone();
        let mut chosen = None;
        ComboBox::from_id_salt("preset").width(150.0).selected_text(words(now.as_str(), palette::TEXT)).show_ui(
            ui,
            |ui| {
                for preset in presets() {
                    if ui
                        .selectable_label(preset.name == now, words(preset.name, palette::TEXT_BODY))
                        .on_hover_text(preset.summary)
                        .clicked()
                    {
                        chosen = Some(Change::Preset(preset.name.into()));
                    }
                }
            },
        );
        make(card, chosen, asks);
        let [can_undo, can_redo] = card.edit.can();
        for (name, can, again, keys) in [("undo", can_undo, false, "Ctrl + Z"), ("redo", can_redo, true, "Ctrl + Y")] {
            if small(ui, name, can, keys) && card.edit.undo(again) {
                *asks = Some(CardAsks::Simulate);
            }
        }
        if small(ui, "×", true, "close   E") {
            card.open = false;
        }
    });
    let about = about(&card.edit.now().name);
    ui.label(words(about, palette::TEXT_QUIET));
}

/// What caches are that have this name.
fn about(name: &str) -> &'static str {
    presets().iter().find(|preset| preset.name == name).map_or("made here, or by a file", |preset| preset.summary)
}

/// For who rests the pointer on the name of the caches.
pub(super) fn name_tip(name: &str) -> String {
    format!(
        "{name}: {}. A click changes them (E).\nBars: how a level does now. Red, to the right, is warm: its hits earn more than its misses cost. \
         Blue, to the left, is cold: they earn less.",
        about(name)
    )
}

/// Makes a change that was asked for.
fn make(card: &mut CacheCard, change: Option<Change>, asks: &mut Option<CardAsks>) {
    if change.is_some_and(|change| card.change(&change)) {
        *asks = Some(CardAsks::Simulate);
    }
}

/// What a level has to do with the levels inside it.
const INCLUSIONS: [(&str, &str, Inclusion); 3] = [
    ("nine", "not inclusive, not exclusive: a line that leaves this level may stay in those inside", Inclusion::Nine),
    ("inclusive", "what those inside hold is here too: a line that leaves here leaves there", Inclusion::Inclusive),
    ("exclusive", "a line is here or in one inside, not in both", Inclusion::Exclusive),
];

fn levels(ui: &mut Ui, card: &mut CacheCard, asks: &mut Option<CardAsks>) {
    let config = card.edit.now().clone();
    for (at, level) in config.levels.iter().enumerate() {
        let mut asked = None;
        ui.label(RichText::new(&level.name).font(Weight::Medium.at(TYPE)).color(color(palette::TEXT)));
        ui.horizontal(|ui| {
            field(ui, card, Field::Size(at), &size_of(level), 62.0, asks);
            asked = steps(ui, "size").map(|up| Change::Sized(at, up)).or(asked.take());
        });
        ui.horizontal(|ui| {
            field(ui, card, Field::Ways(at), &ways_of(level), 40.0, asks);
            asked = steps(ui, "ways").map(|up| Change::Wayed(at, up)).or(asked.take());
            ui.label(words("ways", palette::TEXT_QUIET));
        });
        let policies = Policy::ALL.iter().map(|policy| {
            let what = format!("{} leaves first", policy.about().victim);
            (policy.to_string(), what, Change::Policy(at, *policy))
        });
        asked = choice(ui, ("policy", at), &level.policy.to_string(), policies).or(asked);
        // The first level has nobody inside it.
        if at > 0 {
            let now = INCLUSIONS.iter().find(|(_, _, own)| *own == level.inclusion).map_or("", |(name, ..)| name);
            let all = INCLUSIONS
                .iter()
                .map(|&(name, what, own)| (name.to_owned(), what.to_owned(), Change::Inclusion(at, own)));
            asked = choice(ui, ("inclusion", at), now, all).or(asked);
        } else {
            ui.label("");
        }
        let all = [
            ("no prefetch", "lines come when they are asked for", Prefetch::None),
            ("next-line", "the line after one that missed comes too", Prefetch::NextLine),
            (
                "stride",
                "an instruction's steps are learned, and the next one comes before it is asked for",
                Prefetch::Stride,
            ),
            ("stream", "runs of lines are followed ahead", Prefetch::Stream),
        ];
        let now = all.iter().find(|(_, _, own)| *own == level.prefetch).map_or("", |(name, ..)| name);
        let all = all.iter().map(|&(name, what, own)| (name.to_owned(), what.to_owned(), Change::Prefetch(at, own)));
        asked = choice(ui, ("prefetch", at), now, all).or(asked);
        if small(ui, "×", config.levels.len() > 1, &format!("without {}", level.name)) {
            asked = Some(Change::Remove(at));
        }
        ui.end_row();
        make(card, asked, asks);
    }
}

fn foot(ui: &mut Ui, card: &mut CacheCard, asks: &mut Option<CardAsks>) {
    ui.horizontal(|ui| {
        let line = card.edit.now().levels.first().map_or(0, |level| level.line);
        ui.label(words("line", palette::TEXT_QUIET));
        field(ui, card, Field::Line, &line.to_string(), 44.0, asks);
        let mut asked = steps(ui, "line").map(Change::Lined);
        ui.label(words("bytes", palette::TEXT_QUIET));
        if small(ui, "add a level", true, "outside the others, eight times as large as the last") {
            asked = Some(Change::Add);
        }
        make(card, asked, asks);
        if small(ui, "copy", true, "the caches as TOML, for a file that --cache takes") {
            ui.ctx().copy_text(card.edit.now().to_toml());
        }
        if small(ui, "save", true, "the caches as TOML in this folder, for --cache") {
            *asks = Some(CardAsks::Save);
        }
        if small(ui, "as A", true, "compare other caches with these from now on") {
            *asks = Some(CardAsks::Compare);
        }
    });
    if let Some(why) = card.edit.refused() {
        ui.scope(|ui| {
            ui.set_max_width(520.0);
            ui.label(words(format!("{why}. The caches are as before."), palette::BURST));
        });
    } else if let Some((done, all)) = card.progress {
        let share = if all > 0 { format!("{} of {} references", grouped(done), grouped(all)) } else { String::new() };
        ui.label(words(format!("simulating … {share}"), palette::TEXT_QUIET));
    }
}

/// − and +: half (`false`) or twice (`true`) as much.
fn steps(ui: &mut Ui, what: &str) -> Option<bool> {
    let mut asked = None;
    for (sign, up, hint) in [("−", false, "half the"), ("+", true, "twice the")] {
        if small(ui, sign, true, &format!("{hint} {what}")) {
            asked = Some(up);
        }
    }
    asked
}

/// One of several words, each with what it means; nothing where the word says it.
fn choice(
    ui: &mut Ui,
    id: (&str, usize),
    now: &str,
    all: impl Iterator<Item = (String, String, Change)>,
) -> Option<Change> {
    let (mut chosen, all) = (None, all.collect::<Vec<_>>());
    let meant = all.iter().find(|(name, ..)| name == now).map_or_else(String::new, |(_, what, _)| what.clone());
    let list = ComboBox::from_id_salt(id).width(88.0).selected_text(words(now, palette::TEXT_BODY));
    let list = list.show_ui(ui, |ui| {
        for (name, what, change) in all {
            let label = ui.selectable_label(name == now, words(name, palette::TEXT_BODY));
            if explained(label, &what).clicked() {
                chosen = Some(change);
            }
        }
    });
    explained(list.response, &meant);
    chosen
}

/// With words for who rests the pointer on it, where there are any.
fn explained(response: Response, what: &str) -> Response {
    if what.is_empty() { response } else { response.on_hover_text(what) }
}

/// A field to type in. What is typed is tried when it is left, and stays there, marked, where it is refused.
fn field(ui: &mut Ui, card: &mut CacheCard, at: Field, now: &str, width: f32, asks: &mut Option<CardAsks>) {
    let typed = card.typed.as_ref().filter(|(field, _)| *field == at).map(|(_, text)| text.clone());
    let wrong = typed.is_some() && card.edit.refused().is_some();
    let mut text = typed.clone().unwrap_or_else(|| now.to_owned());
    let ink = color(if wrong { palette::BURST } else { palette::TEXT });
    let edit = TextEdit::singleline(&mut text)
        .desired_width(width)
        .char_limit(16)
        .font(Weight::Regular.at(TYPE))
        .text_color(ink);
    let response = ui.add(edit);
    if response.changed() {
        card.typed = Some((at, text.clone()));
    }
    if response.lost_focus() && typed.is_some_and(|typed| typed != now) {
        let change = match at {
            Field::Size(level) => Change::Size(level, text.clone()),
            Field::Ways(level) => Change::Ways(level, text.clone()),
            Field::Line => Change::Line(text.clone()),
        };
        make(card, Some(change), asks);
        card.typed = card.edit.refused().is_some().then_some((at, text));
    }
}
