//! A storyboard in the window, drawn: its pictures' words, what is written over them, and the controls below.

use super::story_player::StoryPlayer;
use super::widgets::{Icon, icon_button, word_button};
use crate::overlay::fonts::Weight;
use crate::overlay::lettering::letter;
use crate::overlay::pen::color;
use crate::scene::palette;
use egui::{Align2, CornerRadius, Event, Key, LayerId, Rect, Role, Sense, Ui, UiBuilder, WidgetInfo, pos2, vec2};

/// Points of the controls.
pub(super) const BAR: u32 = 46;

/// What somebody asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoryAsks {
    /// To look around in what is shown.
    Explore,
    /// To leave the story.
    Leave,
}

/// Shows the frame of now in a window of `size` points.
pub(super) fn show(
    ui: &mut Ui,
    player: &mut StoryPlayer,
    [width, height]: [u32; 2],
) -> (Option<StoryAsks>, Option<String>) {
    let asked = keys_of(ui, player);
    let size = [width, height.saturating_sub(BAR).max(1)];
    let failed = player.take(size, [width, height]).err().map(|error| error.to_string());
    let mut bars = Vec::new();
    if let Some((frame, reel)) = player.frame() {
        let painter = ui.ctx().layer_painter(LayerId::background());
        let strips = reel.strips(frame);
        bars = frame.pictures.iter().zip(strips).map(|(taken, strip)| taken.words(&painter, strip).bars).collect();
        letter(&painter, &frame.lettering, size);
    }
    player.bars = bars;
    let picture = Rect::from_min_size(pos2(0.0, 0.0), vec2(width as f32, size[1] as f32));
    if player.is_asking() {
        // Who clicks one of the answers wants to know whether it is right.
        let clicked = ui.interact(picture, ui.scope_id().with("answer"), Sense::click()).clicked();
        let below = pos2(picture.center().x, picture.bottom() - 24.0);
        if clicked || player.rests_at_question() && pill(ui, below, "Click for the answer", "the answer") {
            player.answer();
        }
    }
    let area = Rect::from_min_max(pos2(0.0, size[1] as f32), pos2(width as f32, height as f32));
    (asked.or(controls(ui, player, area)), failed)
}

/// Keys in the order in which they were pressed: in a frame that took long there are several.
fn keys_of(ui: &Ui, player: &mut StoryPlayer) -> Option<StoryAsks> {
    let pressed: Vec<(Key, bool)> = ui.input(|input| {
        let key = |event: &Event| match event {
            Event::Key { key, pressed: true, repeat, modifiers, .. } if !modifiers.command && !modifiers.alt => {
                Some((*key, *repeat))
            }
            _ => None,
        };
        input.events.iter().filter_map(key).collect()
    });
    for (key, repeat) in pressed {
        match key {
            Key::ArrowRight | Key::PageDown | Key::N => player.turn(true),
            Key::ArrowLeft | Key::PageUp | Key::P => player.turn(false),
            Key::Home => player.seek(0.0),
            Key::End => player.seek(player.seconds()),
            // A key that is held is not pressed again.
            _ if repeat => {}
            Key::Space => player.toggle(),
            Key::S => player.by_scenes = !player.by_scenes,
            Key::Enter | Key::E => return Some(StoryAsks::Explore),
            Key::Escape => return Some(StoryAsks::Leave),
            _ => {}
        }
    }
    None
}

fn controls(ui: &mut Ui, player: &mut StoryPlayer, area: Rect) -> Option<StoryAsks> {
    let mut asks = None;
    ui.painter().rect_filled(area, 0.0, color(palette::BACKGROUND));
    let y = area.center().y - 2.0;
    let mut x = area.left() + 20.0;
    let mut button = |ui: &mut Ui, size: f32, icon: Icon, hint: &str| {
        let place = Rect::from_center_size(pos2(x + 0.5 * size, y), vec2(size, size));
        x += size + 4.0;
        icon_button(ui, place, icon, hint).clicked()
    };
    if button(ui, 28.0, Icon::Back, "the start of the scene, then the scene before   Left") {
        player.turn(false);
    }
    let (icon, words) = match player.playing() {
        true => (Icon::Pause, "pause   Space"),
        false if player.rests_at_question() => (Icon::Play, "the answer   Space"),
        false => (Icon::Play, "go on   Space"),
    };
    if button(ui, 34.0, icon, words) {
        player.toggle();
    }
    if button(ui, 28.0, Icon::On, "the next scene   Right") {
        player.turn(true);
    }
    x += 10.0;
    let words = |ui: &mut Ui, right: f32, word: &str, chosen: bool| {
        let place = Rect::from_min_max(pos2(right - 130.0, y - 13.0), pos2(right, y + 13.0));
        let layout = egui::Layout::right_to_left(egui::Align::Center);
        ui.scope_builder(UiBuilder::new().max_rect(place).layout(layout), |ui| word_button(ui, word, 13.5, chosen))
            .inner
    };
    let leave = words(ui, area.right() - 14.0, "Leave", true);
    let explore = words(ui, leave.rect.left() - 4.0, "Look around", player.pictures() > 0);
    let each = words(ui, explore.rect.left() - 4.0, "Scene by scene", player.by_scenes);
    if leave.on_hover_text("to the start page   Esc").clicked() {
        asks = Some(StoryAsks::Leave);
    }
    let hint = match player.pictures() {
        0 => "nothing to look around in: this scene is words alone",
        1 => "open this trace at this moment, and come back later   Enter",
        _ => "open the first of these traces at this moment, and come back later   Enter",
    };
    if explore.on_hover_text(hint).clicked() {
        asks = Some(StoryAsks::Explore);
    }
    let right = each.rect.left() - 16.0;
    if each.on_hover_text("rest at the end of each scene   S").clicked() {
        player.by_scenes = !player.by_scenes;
    }
    let (scene, count) = (player.scene(), player.spans().len());
    let title = player.spans().get(scene).map_or("", |span| span.title.as_str());
    let name = format!("{} / {count}  {title}", scene + 1);
    let galley = ui.painter().layout_no_wrap(
        crate::shown::name(&name).into_owned(),
        Weight::Medium.at(13.5),
        color(palette::TEXT_BODY),
    );
    let room = (right - x).max(0.0);
    if galley.size().x < 0.6 * room {
        ui.painter().galley(pos2(x, y - 0.5 * galley.size().y), galley.clone(), color(palette::TEXT_BODY));
        x += 200.0_f32.max(galley.size().x + 16.0).min(0.5 * room);
    }
    line(ui, player, Rect::from_min_max(pos2(x, y - 12.0), pos2(right, y + 12.0)));
    asks
}

/// The time line: a part for each scene; a click or a drag goes there.
fn line(ui: &mut Ui, player: &mut StoryPlayer, area: Rect) {
    if area.width() < 40.0 {
        return;
    }
    let seconds = player.seconds().max(1e-9);
    #[expect(clippy::cast_possible_truncation, reason = "a share of a width")]
    let at = |time: f64| area.left() + (time / seconds) as f32 * area.width();
    let response = ui.interact(area, ui.scope_id().with("story line"), Sense::click_and_drag());
    response.widget_info(|| WidgetInfo::labeled(Role::Slider, true, "time"));
    let painter = ui.painter();
    for span in player.spans() {
        let (from, to) = (at(span.start) + 1.0, at(span.start + span.seconds) - 1.0);
        let place =
            Rect::from_min_max(pos2(from, area.center().y - 2.5), pos2(to.max(from + 1.0), area.center().y + 2.5));
        painter.rect_filled(place, CornerRadius::same(2), color(palette::TRACK));
        let past = at(player.time()).clamp(from, to.max(from));
        if past > from {
            let done = Rect::from_min_max(place.min, pos2(past, place.max.y));
            painter.rect_filled(done, CornerRadius::same(2), color(palette::TEXT_BODY));
        }
    }
    painter.circle_filled(pos2(at(player.time()), area.center().y), 5.0, color(palette::TEXT));
    if let Some(pointer) = response.hover_pos() {
        let time = f64::from((pointer.x - area.left()) / area.width()).clamp(0.0, 1.0) * seconds;
        if let Some(span) = player.spans().iter().rfind(|span| span.start <= time) {
            let words = crate::shown::name(&span.title).into_owned();
            let place = pos2(pointer.x.clamp(area.left() + 60.0, area.right() - 60.0), area.top() - 6.0);
            painter.text(place, Align2::CENTER_BOTTOM, words, Weight::Medium.at(12.5), color(palette::TEXT));
        }
    }
    if let Some(pointer) = response.interact_pointer_pos().filter(|_| response.clicked() || response.dragged()) {
        let share = f64::from((pointer.x - area.left()) / area.width()).clamp(0.0, 1.0);
        player.seek(share * seconds);
    }
}

/// The way back to a story, over a trace that somebody looks around in.
pub(super) fn way_back(ui: &mut Ui) -> bool {
    pill(ui, pos2(ui.ctx().content_rect().center().x, 20.0), "Back to the lesson", "back to the lesson")
}

/// Words to click, over whatever is there; screen readers are told `name`.
fn pill(ui: &Ui, center: egui::Pos2, words: &str, name: &'static str) -> bool {
    let area = Rect::from_center_size(center, vec2(170.0, 26.0));
    let response = ui.interact(area, ui.scope_id().with(name), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, name));
    let ground = if response.hovered() { palette::TRACK } else { palette::fade(palette::BACKGROUND, 0.92) };
    let painter = ui.ctx().layer_painter(LayerId::new(egui::Order::Middle, egui::Id::unique(name)));
    painter.rect_filled(area, 13.0, color(ground));
    painter.rect_stroke(
        area,
        13.0,
        egui::Stroke::new(1.0, color(palette::fade(palette::LIGHT, 0.45))),
        egui::StrokeKind::Inside,
    );
    painter.text(area.center(), Align2::CENTER_CENTER, words, Weight::Medium.at(13.0), color(palette::TEXT));
    response.clicked()
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::{Modifiers, RawInput};

    #[test]
    fn keys_count_each_time_and_in_their_order_also_within_one_frame() {
        let mut player = crate::app::story_player::tests::player();
        let mut press = |keys: &[(Key, bool, Modifiers)]| {
            let event = |&(key, repeat, modifiers): &(Key, bool, Modifiers)| Event::Key {
                key,
                physical_key: None,
                pressed: true,
                repeat,
                modifiers,
            };
            let input = RawInput { events: keys.iter().map(event).collect(), ..RawInput::default() };
            let mut asked = None;
            let mut output = egui::Context::default().run_ui(input, |ui| asked = keys_of(ui, &mut player));
            output.textures_delta.clear();
            (player.scene(), player.playing(), asked.is_some())
        };
        let plain = |key| (key, false, Modifiers::NONE);
        assert_eq!(press(&[plain(Key::ArrowRight), plain(Key::ArrowRight)]), (2, true, false));
        assert_eq!(press(&[plain(Key::ArrowLeft), plain(Key::Space)]), (1, false, false));
        let held = (Key::Space, true, Modifiers::NONE);
        assert_eq!(press(&[plain(Key::Space), held, held]), (1, true, false), "held is not pressed again");
        assert_eq!(press(&[(Key::N, false, Modifiers::COMMAND)]), (1, true, false), "another key's word");
        assert_eq!(press(&[plain(Key::Home), plain(Key::Enter)]), (0, true, true));
    }
}
