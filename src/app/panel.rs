//! The one egui pass of the window: the words of the picture, then controls, strip, tips and the sheet of keys over it.

use super::caches_panel;
use super::desk::{Desk, Effect};
use super::fault;
use super::finder_panel;
use super::guide_panel;
use super::keys::{Action, keys_of};
use super::notes_panel;
use super::pane::Place;
use super::panes::Side;
use super::scrub;
use super::sheet::sheet;
use super::tiles::{self, Followed, Shows};
use super::tip::strip_tip;
use super::transport::{LONGEST_TAIL, PlayRange, log_share, log_value};
use super::widgets::{Icon, card, card_within, icon_button, slider};
use super::words_sheet;
use crate::axis::AxisUnit;
use crate::overlay::draw::strip_alone;
use crate::overlay::exhibits::Picture;
use crate::overlay::fonts::Weight;
use crate::overlay::pen::{color, rate};
use crate::overlay::{Area, Layout, Stretch, Tip};
use crate::reference::SourceError;
use crate::scene::palette;
use crate::shown;
use crate::timeline::StripKind;
use crate::units::grouped;
use egui::{
    Align2, CornerRadius, CursorIcon, Event, Id, Key, LayerId, Order, PointerButton, Pos2, Rect, Role, Sense, TextEdit,
    Ui, WidgetInfo, pos2, vec2,
};
use std::time::Duration;

/// Points of height that the controls take, where there is room for a picture beside them.
#[must_use]
pub fn bar_height(height: u32) -> u32 {
    if height >= 480 { 46 } else { 34 }
}

/// Where the strip and the controls stand in a window of `width` x `height` points.
#[must_use]
pub fn layout(desk: &Desk, width: u32, height: u32) -> Layout {
    desk.layout(width, height, bar_height(height))
}

/// What a pass leaves for others to do.
#[derive(Debug, Default)]
pub struct Shown {
    /// What was asked for by mouse; what concerns the playhead is done already.
    pub asked: Vec<Action>,
    /// What the card of the caches asked for.
    pub effect: Option<Effect>,
    /// What kept a pane from showing what it should.
    pub failed: Option<SourceError>,
}

/// Shows everything at `now` (seconds of the window's clock) in a window of `size` points.
pub fn show(ui: &mut Ui, desk: &mut Desk, [width, height]: [u32; 2], now: f64) -> Shown {
    let mut shown = Shown::default();
    desk.greet(now);
    if let Some(text) = desk.copied.take() {
        ui.ctx().copy_text(text);
    }
    let layout = layout(desk, width, height);
    let reserved = bar_height(height);
    let window = [width.max(160), height.max(120)];
    let alone = desk.panes.len() == 1;
    if alone {
        desk.pane_mut().put(Place { window, area: Area::whole(window), reserved, strip: true });
    }
    shown.failed = desk.refresh().err();
    // One pane has all of the window; several share what is above the strip.
    let mut area = ui.ctx().content_rect();
    if !alone {
        area.max.y = layout.strip.top();
    }
    let Desk { session, transport, panes, .. } = desk;
    let shows = Shows { session, transport, parts: desk.parts, window, reserved, sheet: desk.sheet || desk.words };
    let left = tiles::show(ui, panes, shows, area);
    shown.failed = left.failed.or(shown.failed);
    match left.followed {
        Some(Followed::Target(target, alone)) => desk.follow(target, alone, now),
        Some(Followed::Nothing) => desk.pin(None),
        Some(Followed::Pointed(spot)) => {
            desk.session.task_look_mut().spot = spot;
            ui.ctx().request_repaint();
        }
        Some(Followed::Stretch(stretch)) => {
            desk.session.show_stretch(stretch);
            ui.ctx().request_repaint();
        }
        Some(Followed::Time(position)) => desk.transport.jump(position.floor()),
        Some(Followed::Times(from, to)) => {
            let (a, b) = (from.floor(), to.floor());
            let points = (a != b).then(|| (a.min(b), a.max(b)));
            let (from, to) = (points.map(|(from, _)| from), points.map(|(_, to)| to));
            desk.transport.set_range(PlayRange { from, to });
        }
        None => {}
    }
    desk.bars.clear();
    if !alone && desk.parts.strip {
        // All panes of this trace are of the same moment; those of what it is compared with tell of another trace.
        let own = desk.panes.seen().filter(|(_, pane)| !pane.shows_baseline()).find_map(|(_, pane)| pane.taken());
        let of_none = || desk.shot(desk.pane()).strip_info(desk.studio());
        let info = own.map_or_else(of_none, |taken| taken.info.clone());
        desk.bars = strip_alone(ui.painter(), &layout, &info, desk.session.strip(layout.strip_columns()));
    }
    if desk.sheet || desk.words {
        ui.scope(|ui| {
            ui.disable();
            bar(ui, desk, &layout, now, &mut shown.asked);
        });
        if desk.sheet {
            sheet(ui, desk)
        } else {
            words_sheet::show(ui, desk)
        }
        return shown;
    }
    if desk.parts.strip {
        strip(ui, desk, &layout, now);
        notes_panel::ticks(ui, desk, layout.bars());
    }
    bar(ui, desk, &layout, now, &mut shown.asked);
    let place = layout.right.right().min(f32::from(u16::try_from(width).unwrap_or(u16::MAX)) - 12.0);
    shown.effect = caches_panel::show(ui, desk, place, 46.0).and_then(|asks| desk.asked(asks, now));
    // Where it would lie on tables or under a card, the strip alone says what is pinned.
    let beside_rings = desk.pane().taken().is_some_and(|taken| matches!(taken.picture, Picture::Rings(_)));
    let no_card = desk.caches.as_ref().is_none_or(|card| !card.open || !layout.compact);
    let has_room = height >= 420 && beside_rings && no_card;
    if let Some(tip) = desk.pin_tip().filter(|_| alone && desk.parts.strip && has_room) {
        // Where there is little room it is narrow and high rather than over the rings.
        let widest = if layout.compact { (1.3 * layout.left.width()).max(150.0) } else { 420.0 };
        let at = pos2(layout.left.left(), layout.strip.top() - 12.0);
        card_within(ui, at, Align2::LEFT_BOTTOM, &tip, widest);
    }
    guide_panel::show(ui, desk, &layout);
    notes_panel::show(ui, desk, &layout, place, now);
    shown.effect = finder_panel::show(ui, desk, now).or(shown.effect);
    let raised = fault::show(ui, desk, &layout, now);
    toast(ui, desk, &layout, raised, now);
    shown
}

/// Where the button was let go in this frame: the pointer may be elsewhere by now.
fn let_go(ui: &Ui) -> Option<Pos2> {
    let released = |event: &Event| match event {
        Event::PointerButton { pos, button: PointerButton::Primary, pressed: false, .. } => Some(*pos),
        _ => None,
    };
    ui.input(|i| i.events.iter().rev().find_map(released))
}

/// The strip as scrub bar.
fn strip(ui: &mut Ui, desk: &mut Desk, layout: &Layout, now: f64) {
    let bars = layout.bars();
    let response = ui.interact(scrub::grip(bars), Id::unique("strip"), Sense::click_and_drag());
    let share = desk.transport.axis().share(desk.transport.position());
    response.widget_info(|| WidgetInfo::slider(true, share, "strip"));
    // A quick click is down and up again within a frame.
    if (response.is_pointer_button_down_on() || response.clicked())
        && let Some(pointer) = let_go(ui).or(response.interact_pointer_pos())
    {
        let before = desk.transport.position();
        let place = scrub::share(bars, pointer);
        desk.transport.scrub(desk.session.stretch().at(desk.transport.axis(), place));
        if desk.transport.position() != before {
            ui.ctx().request_repaint();
        }
    }
    if !response.is_pointer_button_down_on() && !response.dragged() {
        desk.transport.release();
    }
    let Some(pointer) = response.hover_pos().or(response.interact_pointer_pos()) else { return };
    ui.ctx().set_cursor_icon(CursorIcon::PointingHand);
    let share = scrub::share(bars, pointer);
    let x = scrub::place(bars.left(), bars.width(), share);
    let hair = Rect::from_min_max(pos2(x - 0.5, bars.top() - 2.0), pos2(x + 0.5, bars.bottom() + 2.0));
    ui.painter().rect_filled(hair, CornerRadius::ZERO, color(palette::fade(palette::LIGHT, 0.55)));
    let kind = desk.session.strip(layout.strip_columns()).kind();
    if matches!(kind, StripKind::Served | StripKind::Level(_) | StripKind::Classes) {
        scrub::heights(ui.painter(), bars, pointer);
    }
    let axis = desk.transport.axis();
    let before = desk.session.stretch();
    // As over the picture: a notch of the wheel is about a sixth; sideways it moves on.
    let (scroll, zoom) = ui.input(|i| (i.smooth_scroll_delta(), i.zoom_delta()));
    let factor = f64::from((scroll.y / 300.0).exp() * zoom);
    let mut stretch = if factor == 1.0 { before } else { before.closer(axis, factor, before.at(axis, share)) };
    stretch = stretch.moved(axis, -f64::from(scroll.x / bars.width().max(1.0)));
    if response.double_clicked() {
        stretch = Stretch::default();
    }
    if stretch != before {
        desk.session.show_stretch(stretch);
        ui.ctx().request_repaint();
    }
    let tick = stretch.at(axis, share).tick();
    match strip_tip(desk, tick, layout.strip_columns()) {
        Ok(tip) => card(ui, pos2(x, bars.top() - 12.0), Align2::CENTER_BOTTOM, &tip),
        Err(error) => desk.say(error.to_string(), now),
    }
}

/// What is on the bar: of what there could be, as much as fits beside each other.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is one thing that can be left out")]
struct Room {
    wide: bool,
    of: bool,
    names: bool,
    trail: bool,
    speed: bool,
    icons: bool,
    position: bool,
}

/// Space between the groups of the bar.
const APART: f32 = 22.0;
/// Space between a slider and what stands beside it.
const BESIDE: f32 = 12.0;

impl Room {
    /// For a bar so wide, by what the numbers of this trace take when they are longest.
    fn new(ui: &Ui, desk: &Desk, bar: f32, [big, small]: [f32; 2]) -> Self {
        let all = Self { wide: true, of: true, names: true, trail: true, speed: true, icons: true, position: true };
        // What goes first goes first.
        let less: [fn(&mut Self); 7] = [
            |room| room.wide = false,
            |room| room.of = false,
            |room| room.names = false,
            |room| room.trail = false,
            |room| room.speed = false,
            |room| room.icons = false,
            |room| room.position = false,
        ];
        let mut room = all;
        let mut left_out = less.iter();
        while room.takes(ui, desk, [big, small]) > bar {
            let Some(leave_out) = left_out.next() else { break };
            leave_out(&mut room);
        }
        room
    }

    fn takes(&self, ui: &Ui, desk: &Desk, [big, small]: [f32; 2]) -> f32 {
        let buttons = 2.0 * small + big + 9.0 + small;
        let icons = if self.icons { 7.0 * (small + 3.0) } else { 0.0 };
        let gauge = |shown: bool, name: &str, track: f32, longest: &str| {
            let named = if self.names { width(ui, name) + BESIDE } else { 0.0 };
            if shown { APART + named + track + BESIDE + width(ui, longest) } else { 0.0 }
        };
        let [speed, trail] = [longest_speed(desk), grouped(LONGEST_TAIL)];
        let gauges =
            gauge(self.speed, SPEED, self.tracks()[0], &speed) + gauge(self.trail, TRAIL, self.tracks()[1], &trail);
        let axis = desk.transport.axis();
        let number = axis.words(axis.total);
        let of = if self.of { width(ui, &format!("of {}", axis.length())) + 7.0 } else { 0.0 };
        // The number is set larger than a label.
        let position = if self.position { BESIDE + 1.1 * width(ui, &number) + of } else { 0.0 };
        buttons + icons + gauges + position + APART
    }

    /// Widths of the sliders of speed and trail.
    fn tracks(&self) -> [f32; 2] {
        if self.wide { [124.0, 92.0] } else { [88.0, 64.0] }
    }
}

const SPEED: &str = "speed";
const TRAIL: &str = "trail";

/// The longest that is ever written beside the slider of speed.
fn longest_speed(desk: &Desk) -> String {
    speed_words(desk, desk.transport.speeds()[1])
}

/// A speed with what it counts: `281 refs/s`, `593 ns/s`.
fn speed_words(desk: &Desk, speed: f64) -> String {
    match desk.transport.axis().unit {
        AxisUnit::References => format!("{} {}", rate(speed), desk.clock().short_unit()),
        unit @ (AxisUnit::Cycles | AxisUnit::Rows) => format!("{} {}/s", rate(speed), unit.name()),
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 or more; saturates")]
        unit => format!("{}/s", unit.duration(speed.round() as u64)),
    }
}

/// The controls.
fn bar(ui: &mut Ui, desk: &mut Desk, layout: &Layout, now: f64, asked: &mut Vec<Action>) {
    let screen = ui.ctx().content_rect();
    let height = screen.bottom() - layout.strip.bottom();
    let area = Rect::from_min_max(
        pos2(layout.strip.left(), layout.strip.bottom()),
        pos2(layout.strip.right(), screen.bottom()),
    );
    // The row sits a little above the middle, so that the window's edge keeps the same margin as the strip's words.
    let y = area.top() + 0.44 * height;
    let big = (0.80 * height).clamp(8.0, 36.0);
    let small = 0.8 * big;
    let room = Room::new(ui, desk, area.width(), [big, small]);
    let mut x = area.left();
    let mut button = |ui: &mut Ui, x: &mut f32, size: f32, icon: Icon, words: &str, action: Action| {
        let place = Rect::from_center_size(pos2(*x + 0.5 * size, y), vec2(size, size));
        let hint = format!("{words}   {}", keys_of(action));
        if icon_button(ui, place, icon, hint.trim_end()).clicked() {
            asked.push(action);
        }
        *x += size + 3.0;
    };
    let one = match (desk.studio().kernel(), desk.studio().tasks()) {
        (Some(_), _) => "one row",
        (None, Some(_)) => "one task",
        (None, None) => "one reference",
    };
    button(ui, &mut x, small, Icon::Back, &format!("{one} back"), Action::Step(-1));
    let (icon, words) = if desk.transport.playing() { (Icon::Pause, "pause") } else { (Icon::Play, "play") };
    button(ui, &mut x, big, icon, words, Action::PlayPause);
    button(ui, &mut x, small, Icon::On, &format!("{one} on"), Action::Step(1));
    let mut right = area.right() - small;
    let help = right;
    button(ui, &mut right.clone(), small, Icon::Help, "keys", Action::Sheet);
    if room.icons {
        right = help - small - 3.0;
        button(ui, &mut right.clone(), small, Icon::FullScreen, "full screen", Action::FullScreen);
        right -= small + 3.0;
        button(ui, &mut right.clone(), small, Icon::Camera, "save the picture", Action::Still);
        right -= small + 3.0;
        button(ui, &mut right.clone(), small, Icon::Film, "record a video, or end it", Action::Clip);
        right -= small + 3.0;
        button(ui, &mut right.clone(), small, Icon::Right, "another pane", Action::Split(Side::Right));
        if desk.studio().tasks().is_none() {
            right -= small + 3.0;
            let words = "compare with other caches, or with another trace";
            button(ui, &mut right.clone(), small, Icon::Compare, words, Action::Compare);
            right -= small + 3.0;
            button(ui, &mut right.clone(), small, Icon::Caches, "change the caches", Action::Caches);
            right -= small + 3.0;
            button(ui, &mut right.clone(), small, Icon::Advice, "what would help", Action::Advice);
        }
    }
    right -= APART;
    // Tasks leave no trails.
    if room.trail && desk.studio().tasks().is_none() {
        right = trail(ui, desk, right, y, &room) - APART;
    }
    if room.speed {
        speed(ui, desk, right, y, &room);
    }
    if room.position {
        position(ui, desk, pos2(x + BESIDE, y), room.of, now);
    }
}

/// Width of a label.
fn width(ui: &Ui, words: &str) -> f32 {
    ui.painter().layout_no_wrap(words.to_owned(), Weight::Regular.at(LABEL), color(palette::TEXT)).size().x.ceil()
}

/// Size of type of a label.
const LABEL: f32 = 12.5;

fn label(ui: &Ui, x: f32, y: f32, anchor: Align2, words: &str, c: palette::Rgba) -> Rect {
    ui.painter().text(pos2(x, y), anchor, shown::words(words), Weight::Regular.at(LABEL), color(c))
}

/// A slider with its name and number.
///
/// What stands right of a slider never moves: its column is as wide as the longest number that it can show.
struct Gauge<'a> {
    name: &'a str,
    /// Whether the name is shown.
    named: bool,
    /// Width of the slider.
    track: f32,
    number: &'a str,
    /// The longest number: fixed, so that nothing moves while it changes.
    longest: &'a str,
    /// Where the knob is, 0..=1.
    share: f64,
}

impl Gauge<'_> {
    /// Draws it from `right` leftward. Its left edge, and the new share while it is moved.
    fn show(&self, ui: &mut Ui, right: f32, y: f32) -> (f32, Option<f64>) {
        let column = width(ui, self.longest);
        label(ui, right - column, y, Align2::LEFT_CENTER, self.number, palette::TEXT);
        let end = right - column - BESIDE;
        let place = Rect::from_center_size(pos2(end - 0.5 * self.track, y), vec2(self.track, 22.0));
        let moved = slider(ui, place, self.name, self.share);
        let mut left = place.left();
        if self.named {
            left = label(ui, left - BESIDE, y, Align2::RIGHT_CENTER, self.name, palette::TEXT_QUIET).left();
        }
        (left, moved)
    }
}

fn speed(ui: &mut Ui, desk: &mut Desk, right: f32, y: f32, room: &Room) {
    let [slowest, fastest] = desk.transport.speeds();
    let gauge = Gauge {
        name: SPEED,
        named: room.names,
        track: room.tracks()[0],
        longest: &longest_speed(desk),
        number: &match desk.transport.follows() {
            true => "live".to_owned(),
            false => speed_words(desk, desk.transport.speed()),
        },
        share: log_share(desk.transport.speed(), slowest, fastest),
    };
    if let (_, Some(share)) = gauge.show(ui, right, y) {
        desk.transport.set_speed(log_value(share, slowest, fastest));
        ui.ctx().request_repaint();
    }
}

fn trail(ui: &mut Ui, desk: &mut Desk, right: f32, y: f32, room: &Room) -> f32 {
    let longest = LONGEST_TAIL as f64;
    let gauge = Gauge {
        name: TRAIL,
        named: room.names,
        track: room.tracks()[1],
        longest: &grouped(LONGEST_TAIL),
        number: &if desk.session.tail() <= 1 { "off".to_owned() } else { grouped(desk.session.tail()) },
        share: log_share(desk.session.tail() as f64, 1.0, longest),
    };
    let (left, moved) = gauge.show(ui, right, y);
    if let Some(share) = moved {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and the longest tail")]
        desk.session.set_tail(log_value(share, 1.0, longest).round() as u64);
        ui.ctx().request_repaint();
    }
    left
}

/// The reference number, with the trace's length where `of` is set; a click makes it a field to type in.
fn position(ui: &mut Ui, desk: &mut Desk, at: egui::Pos2, of: bool, now: f64) {
    let id = Id::unique("reference number");
    if let Some(mut typed) = desk.typed.take() {
        let place = Rect::from_min_size(at - vec2(6.0, 12.0), vec2(96.0, 24.0));
        ui.painter().rect_filled(place, CornerRadius::same(4), color(palette::TRACK));
        let field = TextEdit::singleline(&mut typed)
            .id(id)
            .font(Weight::Medium.at(13.5))
            .text_color(color(palette::TEXT))
            .frame(egui::Frame::NONE)
            .margin(vec2(6.0, 3.0))
            .char_limit(24);
        let response = ui.put(place, field);
        if response.lost_focus() {
            if ui.input(|i| i.key_pressed(Key::Enter)) {
                desk.go_to(&typed, now);
            }
            ui.ctx().request_repaint();
            return;
        }
        response.request_focus();
        desk.typed = Some(typed);
        return;
    }
    let number = desk.transport.axis().words(desk.transport.tick());
    let painter = ui.painter();
    let words = painter.text(at, Align2::LEFT_CENTER, number, Weight::Medium.at(13.5), color(palette::TEXT));
    if of {
        let of = format!("of {}", desk.transport.axis().length());
        label(ui, words.right() + 7.0, at.y, Align2::LEFT_CENTER, &of, palette::TEXT_QUIET);
    }
    let response = ui.interact(words.expand2(vec2(6.0, 5.0)), id.with("click"), Sense::click());
    if response.hovered() {
        ui.ctx().set_cursor_icon(CursorIcon::Text);
        let line =
            Rect::from_min_max(pos2(words.left(), words.bottom() + 1.0), pos2(words.right(), words.bottom() + 2.0));
        ui.painter().rect_filled(line, CornerRadius::ZERO, color(palette::TEXT_QUIET));
    }
    if response.clicked() {
        desk.typed = Some(String::new());
        ui.ctx().request_repaint();
    }
}

/// Width of what is said, at most, and its height, about, points.
const TOAST: [f32; 2] = [420.0, 60.0];

/// What is said for some seconds, `raised` so far above the strip.
fn toast(ui: &Ui, desk: &mut Desk, layout: &Layout, raised: f32, now: f64) {
    let Some((words, left)) = desk.toast(now).map(|(words, left)| (words.to_owned(), left)) else { return };
    // The field for a name has that place while it is open.
    let mut lift = if desk.notes.naming.is_some() { 104.0 } else { 14.0 + raised };
    let (middle, bottom) = (layout.strip.center().x, layout.strip.top());
    if let Some(card) = notes_panel::area(ui, desk)
        && card.left() < middle + 0.5 * TOAST[0] + 8.0
        && card.right() > middle - 0.5 * TOAST[0] - 8.0
        && card.bottom() > bottom - lift - TOAST[1]
        && card.top() < bottom - lift
    {
        lift = bottom - card.top() + 8.0;
    }
    let at = pos2(middle, bottom - lift);
    let tip = Tip { title: words.clone(), ..Tip::default() };
    let area = card_within(ui, at, Align2::CENTER_BOTTOM, &tip, TOAST[0]);
    // What it says can be copied: a path, or why something failed.
    let place = egui::Area::new(Id::unique("message")).order(Order::Foreground).fixed_pos(area.min).movable(false);
    let response = place.show(ui.ctx(), |ui| ui.allocate_response(area.size(), Sense::click())).inner;
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("{words} (click to copy)")));
    if response.clicked() {
        desk.copied = Some(words);
        desk.say("copied", now);
    } else if response.on_hover_cursor(CursorIcon::Copy).hovered() {
        // Who reads it, or goes to it, has time.
        desk.say_for(words, left.max(1.0), now);
    }
    ui.ctx().request_repaint_after(Duration::from_secs_f64(left + 0.01));
}

/// What is shown until the trace is indexed: `done` of `all` references; 0 of 0 while the file is read.
pub fn loading(ui: &Ui, name: &str, done: u64, all: u64) {
    let screen = ui.ctx().content_rect();
    let painter = ui.ctx().layer_painter(LayerId::background());
    let center = screen.center();
    let width = (0.4 * screen.width()).clamp(60.0, 360.0);
    painter.text(
        center - vec2(0.0, 22.0),
        Align2::CENTER_CENTER,
        name,
        Weight::SemiBold.at(17.0),
        color(palette::TEXT),
    );
    let words = if all == 0 {
        "reading the trace".to_owned()
    } else {
        format!("indexing {} of {} references", grouped(done), grouped(all))
    };
    painter.text(
        center + vec2(0.0, 22.0),
        Align2::CENTER_CENTER,
        words,
        Weight::Regular.at(12.5),
        color(palette::TEXT_QUIET),
    );
    let track = Rect::from_center_size(center, vec2(width, 3.0));
    painter.rect_filled(track, CornerRadius::same(2), color(palette::TRACK));
    if all > 0 {
        let end = scrub::place(track.left(), width, done as f64 / all as f64);
        let bar = Rect::from_min_max(track.min, pos2(end, track.bottom()));
        painter.rect_filled(bar, CornerRadius::same(2), color(palette::TEXT_BODY));
    }
}

#[cfg(test)]
mod access;
#[cfg(test)]
mod cards;
#[cfg(test)]
pub(super) mod tests;
