//! The panes as egui shows them: a picture each to look into, tabs above them where there are several, borders to drag.

use super::caches_panel::name_tip;
use super::keys::{Action, keys_of};
use super::pane::{Pane, Place};
use super::panes::{Panes, Side, TIDY};
use super::scrub;
use super::session::Session;
use super::sliders::slid;
use super::transport::Transport;
use super::widgets::{Icon, card, icon_button, word_button};
use crate::analysis::GraphPart;
use crate::axis::Position;
use crate::overlay::described::described;
use crate::overlay::exhibits::{ExhibitEntry, Gesture, Picture, Subject, offered};
use crate::overlay::fonts::Weight;
use crate::overlay::pen::{Drawn, Target, color};
use crate::overlay::{Area, Layout, Parts, Stretch, Studio, Taken};
use crate::reference::SourceError;
use crate::scene::palette;
use crate::tasks::Spot;
use egui::{
    Align2, Color32, CornerRadius, CursorIcon, Event, Id, Order, Painter, Popup, Pos2, Rect, Response, RichText, Role,
    Sense, Stroke, StrokeKind, Style, Ui, UiBuilder, Visuals, WidgetInfo, WidgetText, pos2, vec2,
};
use egui_tiles::{Behavior, ResizeState, SimplificationOptions, TabState, Tabs, TileId, Tiles, UiResponse};
use std::collections::HashMap;
use std::time::Duration;

/// What all panes show of.
pub(super) struct Shows<'a> {
    pub(super) session: &'a mut Session,
    pub(super) transport: &'a Transport,
    pub(super) parts: Parts,
    /// Size of the window, points.
    pub(super) window: [u32; 2],
    /// Points at its bottom that belong to the controls.
    pub(super) reserved: u32,
    /// The sheet of keys is open: nothing else can be clicked.
    pub(super) sheet: bool,
}

/// Shows the panes within `area`, which is all of the window where there is one alone.
pub(super) fn show(ui: &mut Ui, panes: &mut Panes, shows: Shows<'_>, area: Rect) -> Left {
    let alone = panes.len() == 1;
    let (focus, closed) = (panes.focus(), panes.take_closed());
    let mut stand =
        Stand { shows, alone, closed, focus, asked: Vec::new(), failed: None, followed: None, under: false };
    let mut ui = ui.new_child(UiBuilder::new().max_rect(area));
    panes.tree.ui(&mut stand, &mut ui);
    let Stand { shows, focus, asked, failed, mut followed, under, .. } = stand;
    if !under && shows.session.task_look().spot.is_some() {
        // The pointer has left the panes: nothing of a kernel is pointed at any more.
        followed = followed.or(Some(Followed::Pointed(None)));
    }
    panes.set_focus(focus);
    for (pane, asked) in asked {
        match asked {
            Asked::Split(side) => {
                panes.split(pane, side, shows.session.studio());
            }
            Asked::Show(row) => {
                panes.set_focus(pane);
                panes.focused_mut().show(row, shows.session.studio());
            }
            Asked::Close => {
                panes.close(pane);
            }
        }
        ui.ctx().request_repaint();
    }
    if panes.seen().all(|(id, _)| id != panes.focus()) {
        // Another tab was put over it.
        panes.next();
    }
    Left { failed, followed }
}

/// What panes leave for others to do.
pub(super) struct Left {
    /// What kept a pane from showing what it should.
    pub(super) failed: Option<SourceError>,
    /// What was clicked.
    pub(super) followed: Option<Followed>,
}

/// Something that was clicked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Followed {
    /// A row or a dot; `true`: with Shift.
    Target(Target, bool),
    /// A place in a chart: the playhead goes there.
    Time(Position),
    /// A part of a chart, from the one end to the other: it is what is played.
    Times(Position, Position),
    /// This part of the axis is to be shown.
    Stretch(Stretch),
    /// The pointer rests on this of a kernel, or on nothing of it.
    Pointed(Option<Spot>),
    /// Nothing: what is pinned is let go.
    Nothing,
}

impl Followed {
    /// What was clicked in a pane that shows what the studio is compared with, where there is that here too.
    fn here(self, pane: &Pane, studio: &Studio) -> Option<Self> {
        let Some(beside) = studio.baseline().filter(|beside| pane.shows_baseline() && beside.is_trace()) else {
            return Some(self);
        };
        let at = |position| beside.position_here(position);
        Some(match self {
            Self::Target(target, alone) => {
                let target = match target {
                    Target::Region(region) => Target::Region(beside.region_here(region)?),
                    Target::Color(region) => Target::Color(beside.region_here(region)?),
                    Target::Bytes(bytes) => Target::Bytes(beside.bytes_here(studio, bytes)?),
                    Target::Tick(tick) => Target::Tick(at(Position::at(tick)).tick()),
                    // Lines are those of another program.
                    Target::Line(_) => return None,
                    own => own,
                };
                Self::Target(target, alone)
            }
            Self::Time(position) => Self::Time(at(position)),
            Self::Times(from, to) => Self::Times(at(from), at(to)),
            Self::Nothing | Self::Stretch(_) | Self::Pointed(_) => self,
        })
    }
}

/// What was asked for in a tab bar.
#[derive(Clone, Copy)]
enum Asked {
    Split(Side),
    Show(&'static ExhibitEntry),
    Close,
}

/// What the tree asks how its panes are shown.
struct Stand<'a> {
    shows: Shows<'a>,
    alone: bool,
    /// A pane was closed, so that the pointer may be over another one.
    closed: bool,
    focus: TileId,
    asked: Vec<(TileId, Asked)>,
    failed: Option<SourceError>,
    followed: Option<Followed>,
    /// The pointer is over a pane.
    under: bool,
}

/// Points of height of the tabs.
const BAR: f32 = 26.0;
/// Points between two panes.
const GAP: f32 = 5.0;
/// Points from a glyph's centre in which it is still meant.
const REACH: f32 = 6.0;
/// Seconds the pointer rests before a ring or an arc explains itself; a glyph does at once.
const REST: f32 = 0.35;
/// Size of type on tabs.
const TYPE: f32 = 12.5;
/// Points of width of tabs that have room for names of exhibits.
const NAMES: f32 = 540.0;
/// Points of that width that signs have, that a tab has beside its word, and that the word has behind which the other names are.
const SIGNS: f32 = 100.0;
const TAB: f32 = 44.0;
const MORE: f32 = 54.0;
/// Points of a letter of a name, about.
const LETTER: f32 = 7.3;

/// How many of these names stand in so many points.
fn fitting(names: &[&'static ExhibitEntry], room: f32) -> usize {
    let ends = names.iter().scan(0.0, |end, row| {
        *end += LETTER * row.name.len() as f32 + 14.0;
        Some(*end)
    });
    let ends: Vec<f32> = ends.collect();
    if ends.last().is_none_or(|end| *end <= room) {
        return names.len();
    }
    ends.iter().take_while(|end| **end <= room - MORE).count()
}

impl Stand<'_> {
    /// Brings a pane up to date that stands elsewhere than it did, or was behind another tab.
    fn refresh(&mut self, pane: &mut Pane, area: Rect) {
        let Shows { session, transport, parts, window, reserved, .. } = &mut self.shows;
        let reserved = if self.alone { *reserved } else { 0 };
        pane.put(Place { window: *window, area: Area::near(area), reserved, strip: self.alone });
        let shot = pane.shot(session, transport, *parts);
        match pane.take(session.studio_mut(), shot) {
            Ok(Some(taken)) => pane.install(taken),
            Ok(None) => {}
            Err(error) => self.failed = self.failed.take().or(Some(error)),
        }
    }

    /// Keys are for the pane that the pointer went to, or was pressed in.
    fn follow(&mut self, ui: &Ui, id: TileId, area: Rect) {
        let went = |event: &Event| matches!(event, Event::PointerMoved(_) | Event::PointerButton { pressed: true, .. });
        let (at, went) = ui.input(|i| (i.pointer.latest_pos(), i.events.iter().any(went)));
        if (went || self.closed) && at.is_some_and(|at| area.contains(at)) && self.focus != id {
            self.focus = id;
            ui.ctx().request_repaint();
        }
    }

    fn colored(&self, id: TileId, state: &TabState) -> palette::Rgba {
        match (id == self.focus, state.active) {
            (true, _) => palette::TEXT,
            (false, true) => palette::TEXT_BODY,
            (false, false) => palette::TEXT_QUIET,
        }
    }
}

impl Behavior<Pane> for Stand<'_> {
    fn pane_ui(&mut self, ui: &mut Ui, id: TileId, pane: &mut Pane) -> UiResponse {
        let area = ui.max_rect();
        if pane.travel(ui.input(|i| i.time), self.shows.session.calm()) {
            ui.ctx().request_repaint();
        }
        self.refresh(pane, area);
        self.under |= ui.ctx().pointer_hover_pos().is_some_and(|at| area.contains(at));
        let rows = words(ui, pane, self.shows.session);
        if !self.shows.sheet {
            self.follow(ui, id, area);
            let clicked = look(ui, id, pane, self.shows.session);
            let slid = slid(ui, id, pane.taken()).map(|target| Followed::Target(target, false));
            let caches = pane.taken().map_or("", |taken| &taken.info.caches_name);
            let (over_row, followed) = self::rows(ui, id, &rows, caches);
            let followed = followed.or(slid);
            if let Some(Followed::Target(target, _)) = followed
                && (pane.choose(self.shows.session, self.shows.transport, target)
                    || pane.arrange(self.shows.session.studio(), target))
            {
                ui.ctx().request_repaint();
            }
            let clicked = followed.or(clicked).and_then(|clicked| clicked.here(pane, self.shows.session.studio()));
            let pointed = || pointed(ui, pane, self.shows.session).map(Followed::Pointed);
            self.followed = self.followed.or(clicked).or_else(pointed);
            if !over_row {
                tips(ui, pane, self.shows.session, self.shows.transport);
            }
        }
        UiResponse::None
    }

    fn tab_title_for_pane(&mut self, pane: &Pane) -> WidgetText {
        // Beside another trace, who is who; what shows both has no letter.
        let studio = self.shows.session.studio();
        let two = studio.baseline().is_some_and(crate::overlay::Baseline::is_trace) && pane.row().name != "compare";
        let letter = match (pane.shows_baseline(), two) {
            (true, _) => " A",
            (false, true) => " B",
            (false, false) => "",
        };
        RichText::new(format!("{}{letter}", pane.row().name)).font(Weight::Medium.at(TYPE)).into()
    }

    fn is_tab_closable(&self, _: &Tiles<Pane>, _: TileId) -> bool {
        !self.alone
    }

    fn on_tab_close(&mut self, _: &mut Tiles<Pane>, id: TileId) -> bool {
        self.asked.push((id, Asked::Close));
        // It is closed when all panes were shown.
        false
    }

    fn on_tab_button(&mut self, _: &mut Tiles<Pane>, id: TileId, response: Response) -> Response {
        if response.clicked() {
            self.focus = id;
        }
        response
    }

    fn top_bar_right_ui(&mut self, tiles: &Tiles<Pane>, ui: &mut Ui, _: TileId, tabs: &Tabs, _: &mut f32) {
        let Some(id) = tabs.active else { return };
        let Some(shown) = tiles.get_pane(&id).map(Pane::row) else { return };
        let bar = ui.max_rect();
        ui.add_space(4.0);
        let signs = [
            (Icon::Below, Side::Below, "a pane below", Action::Split(Side::Below)),
            (Icon::Right, Side::Right, "a pane on the right", Action::Split(Side::Right)),
        ];
        for (icon, side, words, action) in signs {
            let (_, place) = ui.allocate_space(vec2(BAR - 4.0, BAR - 4.0));
            let hint = format!("{words}   {}", keys_of(action));
            if icon_button(ui, place, icon, &hint).clicked() {
                self.asked.push((id, Asked::Split(side)));
            }
        }
        if bar.width() < NAMES {
            return;
        }
        ui.add_space(10.0);
        let names: Vec<_> = offered(Subject::of(self.shows.session.studio())).collect();
        let words = tabs.children.iter().filter_map(|id| tiles.get_pane(id)).map(|pane| pane.row().name.len());
        let tabs: f32 = words.map(|letters| LETTER * letters as f32 + TAB).sum();
        let (seen, more) = names.split_at(fitting(&names, bar.width() - SIGNS - tabs));
        if !more.is_empty() {
            let chosen = more.iter().any(|row| row.name == shown.name);
            let word = word_button(ui, "more", TYPE, chosen).on_hover_text("other pictures of this trace");
            Popup::menu(&word).show(|ui| {
                for row in more {
                    if ui.selectable_label(row.name == shown.name, format!("{}: {}", row.name, row.what)).clicked() {
                        self.asked.push((id, Asked::Show(row)));
                    }
                }
            });
        }
        for row in seen.iter().rev() {
            if word_button(ui, row.name, TYPE, row.name == shown.name).clicked() {
                self.asked.push((id, Asked::Show(row)));
            }
        }
    }

    fn tab_bar_height(&self, _: &Style) -> f32 {
        BAR
    }

    fn is_tab_bar_visible(&self, _: TileId, _: &Tabs) -> bool {
        !self.alone
    }

    fn gap_width(&self, _: &Style) -> f32 {
        GAP
    }

    fn min_size(&self) -> f32 {
        120.0
    }

    fn simplification_options(&self) -> SimplificationOptions {
        TIDY
    }

    fn resize_stroke(&self, _: &Style, state: ResizeState) -> Stroke {
        match state {
            ResizeState::Idle => Stroke::new(1.0, color(palette::TRACK)),
            ResizeState::Hovering => Stroke::new(2.0, color(palette::TEXT_QUIET)),
            ResizeState::Dragging => Stroke::new(2.0, color(palette::TEXT_BODY)),
        }
    }

    fn tab_bar_color(&self, _: &Visuals) -> Color32 {
        color(palette::CARD)
    }

    fn tab_bg_color(&self, _: &Visuals, _: &Tiles<Pane>, _: TileId, state: &TabState) -> Color32 {
        if state.active { color(palette::TRACK) } else { Color32::TRANSPARENT }
    }

    fn tab_outline_stroke(&self, _: &Visuals, _: &Tiles<Pane>, _: TileId, _: &TabState) -> Stroke {
        Stroke::NONE
    }

    fn tab_bar_hline_stroke(&self, _: &Visuals) -> Stroke {
        Stroke::new(1.0, color(palette::TRACK))
    }

    fn tab_text_color(&self, _: &Visuals, _: &Tiles<Pane>, id: TileId, state: &TabState) -> Color32 {
        color(self.colored(id, state))
    }

    fn paint_on_top_of_tile(&self, painter: &Painter, _: &Style, id: TileId, area: Rect) {
        if !self.alone && id == self.focus {
            // A line under its tab: this pane has the keys.
            let line = Rect::from_min_size(area.min, vec2(area.width(), 1.5));
            painter.rect_filled(line, CornerRadius::ZERO, color(palette::fade(palette::LIGHT, 0.55)));
        }
    }

    fn drag_preview_stroke(&self, _: &Visuals) -> Stroke {
        Stroke::new(1.5, color(palette::LIGHT))
    }

    fn drag_preview_color(&self, _: &Visuals) -> Color32 {
        color(palette::fade(palette::LIGHT, 0.12))
    }

    fn cycle_tabs_with_keyboard(&self) -> bool {
        false
    }
}

/// The words of a pane; gives where rows are that can be clicked.
fn words(ui: &Ui, pane: &mut Pane, session: &mut Session) -> Vec<(Rect, Target)> {
    let Some(taken) = pane.taken() else { return Vec::new() };
    let Drawn { bars, rows } = taken.words(&ui.painter_at(ui.max_rect()), session.strip(taken.layout.strip_columns()));
    pane.bars = bars;
    rows
}

/// What a row that can be clicked is called.
fn row_name(target: Target) -> String {
    match target {
        Target::Region(region) => format!("region {region}"),
        Target::Color(region) => format!("colour of region {region}"),
        Target::Line(line) => format!("source line {line}"),
        Target::Bytes(bytes) => format!("bytes at 0x{:x}", bytes.first),
        Target::Tick(tick) => format!("reference {tick}"),
        Target::Caches => "caches".to_owned(),
        Target::Exhibit(name) => format!("open {name}"),
        Target::Column(_, name) => format!("sort by {name}"),
        Target::Fold(line) => format!("fold or unfold the function of source line {line}"),
        Target::Task(task) => format!("task {task}"),
        Target::Location(location) => format!("location {}", location.0),
        Target::Kind(kind) => format!("kind {kind}"),
        Target::Axis(0) => "what the left axis tells".to_owned(),
        Target::Axis(_) => "what the right axis tells".to_owned(),
        Target::Order => "order of the charts".to_owned(),
        Target::Part(GraphPart { fold, item }) => format!("fold or unfold part {item} of the {}", fold.name()),
        Target::Parameter(number, value) => format!("set parameter {} to {value}", u16::from(number) + 1),
    }
}

/// Rows that are all there for who goes through them without a pointer.
const MOST_ROWS: usize = 500;

/// The rows of tables, each of which can be clicked. Whether the pointer is over one of a region or the caches, and what was
/// clicked. `caches` is their name.
fn rows(ui: &Ui, id: TileId, rows: &[(Rect, Target)], caches: &str) -> (bool, Option<Followed>) {
    let (mut over, mut followed) = (false, None);
    let pointer = ui.ctx().pointer_latest_pos();
    // A task may be seen twice: as a bar, and in its tree.
    let mut times: HashMap<Target, u32> = HashMap::new();
    for &(area, target) in rows {
        let time = times.entry(target).or_default();
        *time += 1;
        // Of thousands of bars those under the pointer are enough.
        if rows.len() > MOST_ROWS && pointer.is_none_or(|pointer| !area.contains(pointer)) {
            continue;
        }
        let response = ui.interact(area, Id::unique(("row", id, target, *time)), Sense::click());
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, row_name(target)));
        if response.hovered() {
            over |= matches!(target, Target::Region(_) | Target::Color(_) | Target::Caches);
            ui.ctx().set_cursor_icon(CursorIcon::PointingHand);
            ui.painter().rect_stroke(
                area,
                CornerRadius::same(3),
                Stroke::new(1.0, color(palette::fade(palette::LIGHT, 0.25))),
                StrokeKind::Outside,
            );
        }
        if response.clicked() {
            followed = Some(Followed::Target(target, ui.input(|i| i.modifiers.shift)));
            ui.ctx().request_repaint();
        }
        if target == Target::Caches {
            response.on_hover_text(name_tip(caches));
        }
    }
    (over, followed)
}

/// The picture as something to look into: the wheel goes closer, dragging moves it, a double click shows all of it again. What was
/// clicked in it.
fn look(ui: &Ui, id: TileId, pane: &mut Pane, session: &Session) -> Option<Followed> {
    let taken = pane.taken()?;
    let response = ui.interact(above_strip(&taken.layout), Id::unique(("picture", id)), Sense::click_and_drag());
    let words = || format!("{}: {}", pane.row().name, described(&taken.info));
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, words()));
    let before = pane.camera();
    let zooms = matches!(&taken.picture, Picture::Plane(plane) if plane.zooms);
    if let Some(followed) = if zooms { part(ui, &response, taken, session) } else { times(ui, &response, taken) } {
        return Some(followed);
    }
    if response.double_clicked() {
        pane.look(Gesture::Whole);
    } else if response.dragged() {
        pane.look(Gesture::Drag(response.drag_delta()));
        ui.ctx().set_cursor_icon(CursorIcon::Grabbing);
    } else if let Some(pointer) = response.hover_pos() {
        let (by, zoom) = ui.input(|i| (i.smooth_scroll_delta().y, i.zoom_delta()));
        if by != 0.0 {
            pane.look(Gesture::Wheel(by, pointer));
        }
        if zoom != 1.0 {
            pane.look(Gesture::Closer(zoom, Some(pointer)));
        }
    }
    if pane.camera() != before {
        ui.ctx().request_repaint();
    }
    let clicked = response.interact_pointer_pos().filter(|_| response.clicked() && !response.double_clicked())?;
    ui.ctx().request_repaint();
    let about = pane.tip(session.studio(), clicked, REACH).and_then(|tip| tip.about);
    Some(about.map_or(Followed::Nothing, |target| Followed::Target(target, false)))
}

/// What wheel, drag and double click ask for over something that goes closer in time; with Shift a drag chooses what is played.
fn part(ui: &Ui, response: &Response, taken: &Taken, session: &Session) -> Option<Followed> {
    let Picture::Plane(plane) = &taken.picture else { return None };
    let pointer = response.hover_pos().or(response.interact_pointer_pos())?;
    if ui.input(|i| i.modifiers.shift) && response.dragged() {
        return times(ui, response, taken);
    }
    let pressed = ui.input(|i| i.pointer.press_origin()).filter(|_| response.dragged());
    let area = plane.times.iter().find(|area| area.contains(pressed.unwrap_or(pointer)))?;
    let (axis, before) = (taken.info.axis, session.stretch());
    if response.double_clicked() {
        ui.ctx().request_repaint();
        return Some(Followed::Stretch(Stretch::default()));
    }
    let width = f64::from(area.width().max(1.0));
    if response.dragged() {
        ui.ctx().set_cursor_icon(CursorIcon::Grabbing);
        let stretch = before.moved(axis, -f64::from(response.drag_delta().x) / width);
        return Some(Followed::Stretch(stretch));
    }
    let (scroll, zoom, ctrl) = ui.input(|i| (i.smooth_scroll_delta(), i.zoom_delta(), i.modifiers.ctrl));
    // Where there is more than is seen, the wheel scrolls; with Ctrl it goes closer at any rate.
    let factor = f64::from(if plane.depth > 0.05 && !ctrl { zoom } else { (scroll.y / 300.0).exp() * zoom });
    let share = f64::from(pointer.x - area.left()) / width;
    let mut stretch = if factor == 1.0 { before } else { before.closer(axis, factor, before.at(axis, share)) };
    stretch = stretch.moved(axis, -f64::from(scroll.x) / width);
    (stretch != before).then_some(Followed::Stretch(stretch))
}

/// What a press on a chart asks for: the playhead goes along; with Shift the pressed part is what is played.
fn times(ui: &Ui, response: &Response, taken: &Taken) -> Option<Followed> {
    if response.hover_pos().is_some_and(|at| taken.time_at(at).is_some()) {
        ui.ctx().set_cursor_icon(CursorIcon::ResizeHorizontal);
    }
    let pressed = ui.input(|i| i.pointer.press_origin());
    let held = response.is_pointer_button_down_on() || response.clicked() || response.dragged();
    let pointer = response.interact_pointer_pos().filter(|_| held)?;
    let origin = pressed.unwrap_or(pointer);
    let from = taken.time_at(origin)?;
    // Who drags out of the chart stays at its edge.
    let to = taken.time_at(pos2(pointer.x, origin.y)).or_else(|| taken.time_at(pointer)).unwrap_or(from);
    ui.ctx().request_repaint();
    let with_shift = ui.input(|i| i.modifiers.shift);
    Some(if with_shift { Followed::Times(from, to) } else { Followed::Time(to) })
}

/// The part of a picture that can be looked into.
fn above_strip(layout: &Layout) -> Rect {
    Rect { max: pos2(layout.area.right(), layout.strip.top()), ..layout.area }
}

/// What of a kernel the pointer rests on in this pane, where that is something else than before.
fn pointed(ui: &Ui, pane: &Pane, session: &Session) -> Option<Option<Spot>> {
    session.studio().kernel()?;
    let pointer = ui.ctx().pointer_hover_pos().filter(|at| ui.max_rect().contains(*at))?;
    let covered = ui.ctx().layer_id_at(pointer).is_some_and(|layer| layer.order != Order::Background);
    let spot = pane.spot(session.studio(), pointer).filter(|_| !covered);
    (spot != session.task_look().spot).then_some(spot)
}

fn tips(ui: &Ui, pane: &Pane, session: &Session, transport: &Transport) {
    let (Some(pointer), Some(taken)) = (ui.ctx().pointer_hover_pos(), pane.taken()) else { return };
    let free = scrub::grip(taken.layout.bars()).top();
    let free = Rect { max: pos2(ui.max_rect().right(), free.min(ui.max_rect().bottom())), ..ui.max_rect() };
    // What lies over the picture has the pointer.
    if ui.ctx().layer_id_at(pointer).is_some_and(|layer| layer.order != Order::Background) {
        return;
    }
    // Who drags a border, a tab or the strip does not ask.
    if !free.contains(pointer) || ui.input(|i| i.pointer.is_decidedly_dragging()) {
        return;
    }
    let Some(tip) = pane.tip(session.studio(), pointer, REACH) else { return };
    if let Some((at, radius)) = tip.around {
        ui.painter().circle_stroke(at, radius + 3.5, Stroke::new(1.3, color(palette::LIGHT)));
    } else {
        let rested = ui.input(|i| i.pointer.time_since_last_movement());
        if rested < REST {
            ui.ctx().request_repaint_after(Duration::from_secs_f32(REST - rested + 0.01));
            return;
        }
    }
    let (mut at, mut anchor) = beside(&taken.layout, pointer, transport.moving());
    if session.pinned().is_some() && anchor == Align2::LEFT_BOTTOM && transport.moving() {
        // What is pinned has that corner.
        (at.x, anchor) = (taken.layout.right.right(), Align2::RIGHT_BOTTOM);
    }
    card(ui, at, anchor, &tip);
}

/// Where a tip about what is at `pointer` stands, and which of its corners that is: away from the middle of the rings, where most
/// happens; while something moves, in the free corner under the tables, so that nothing that one watches lies under it.
pub(super) fn beside(layout: &Layout, pointer: Pos2, moving: bool) -> (Pos2, Align2) {
    if moving && !layout.upright() {
        return (pos2(layout.left.left(), layout.strip.top() - 12.0), Align2::LEFT_BOTTOM);
    }
    let [x, y] = layout.viewport.center;
    match (pointer.x < x, pointer.y < y) {
        (false, false) => (pointer + vec2(16.0, 14.0), Align2::LEFT_TOP),
        (false, true) => (pointer + vec2(16.0, -10.0), Align2::LEFT_BOTTOM),
        (true, false) => (pointer + vec2(-10.0, 14.0), Align2::RIGHT_TOP),
        (true, true) => (pointer + vec2(-10.0, -10.0), Align2::RIGHT_BOTTOM),
    }
}
