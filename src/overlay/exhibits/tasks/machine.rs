//! A machine as rings: components as sectors, requests as dots that fly between them ([`crate::scene::machine`]); beside it what each
//! kind of component has to do, the chosen task and what the colours mean.

use super::super::rings::look_around;
use super::super::sheet::{SMALL, Sheet};
use super::super::{Exhibit, Gesture, Picture};
use super::scope::{Scope, ems, many};
use super::{beside, overview};
use crate::overlay::fonts::Weight;
use crate::overlay::info::Info;
use crate::overlay::layout::{Layout, Parts};
use crate::overlay::pen::Target;
use crate::overlay::plane::{Line, Plane};
use crate::overlay::shot::{Shot, Taken};
use crate::overlay::studio::Studio;
use crate::overlay::tip::Tip;
use crate::reference::SourceError;
use crate::render::Bar;
use crate::scene::machine::{Load, MachineMoment, MachineStage, NoRings};
use crate::scene::motion::position_at;
use crate::scene::{Camera, Scene, View, palette};
use crate::tasks::TaskIndex;
use crate::tasks::blocking::{blocking, by_kind};
use crate::units::{grouped, to_count, to_f32};
use egui::{Pos2, Rect, pos2, vec2};
use std::collections::BTreeSet;

/// Type, pixels, where type is not scaled.
const EM: f32 = 12.5;
/// Ems of a row.
const ROW: f32 = 1.55;
/// Room for a name on a ring: ems of type.
const NAME: f32 = 0.86;
/// Parts of the chosen task that are marked, at most.
const MOST_PARTS: usize = 64;
/// How far the outline of a component stands off its slots, world units.
const OUTLINE: f32 = 0.006;

/// See the module.
#[derive(Default)]
pub struct MachineExhibit {
    stage: Option<Result<MachineStage, NoRings>>,
    /// What was waited for, and how often.
    waits: Option<Vec<(String, u64)>>,
    loads: Vec<Load>,
}

impl Exhibit for MachineExhibit {
    fn history(&self, _: &View) -> u64 {
        0
    }

    fn frame(
        &mut self,
        studio: &mut Studio,
        shot: &Shot,
        view: &View,
        layout: &Layout,
    ) -> Result<(Picture, Info), SourceError> {
        let position = studio.axis().clamp(shot.position);
        let info = Info::of_tasks(studio, position);
        let em = EM * layout.type_scale;
        let sight = Rect::from_min_max(layout.area.min, pos2(layout.area.right(), layout.strip.top()));
        let mut sheet = Sheet { plane: Plane { unit: em, ..Plane::default() }, em, sight };
        let Some(book) = studio.tasks().cloned() else {
            sheet.notice(&["there are no tasks"], 1.8);
            return Ok((Picture::Plane(sheet.plane), info));
        };
        if book.set().is_empty() {
            sheet.notice(&["the file has no tasks"], 1.8);
            return Ok((Picture::Plane(sheet.plane), info));
        }
        let stage = match self.stage.get_or_insert_with(|| MachineStage::new(&book)) {
            Ok(stage) => stage,
            Err(why) => {
                let words = why_not(*why);
                sheet.notice(&[words[0].as_str(), words[1].as_str()], 1.8);
                return Ok((Picture::Plane(sheet.plane), info));
            }
        };
        let MachineMoment { scene, loads, seen } = stage.frame(&book, position, view);
        let scope = Scope::new(&book, &view.tasks, shot, em);
        let parts = &shot.parts;
        marks(&mut sheet, &scope, stage, &scene, layout);
        if layout.close {
            grounds(&mut sheet, layout, parts);
        }
        if parts.labels {
            names(&mut sheet, &scope, stage, layout);
        }
        let mut y = layout.left.top();
        if parts.title {
            y = title(&mut sheet, &scope, layout);
        }
        if layout.upright() {
            y = layout.tables.top();
        }
        if parts.caches && !layout.close {
            let area = Rect::from_min_max(pos2(layout.tables.left(), y), layout.tables.max);
            components(&mut sheet, stage, &loads, area);
        }
        if parts.reference && !layout.upright() && !layout.close {
            let waits = self.waits.get_or_insert_with(|| by_kind(book.set(), &blocking(book.set())));
            words_beside(&mut sheet, &scope, &seen, waits, layout);
        }
        let left_out = &scene.notes.bundling;
        if parts.legend && !left_out.is_empty() {
            let at = pos2(layout.left.left(), layout.strip.top() - 1.5 * em);
            sheet.left(at, left_out, Weight::Regular, SMALL, palette::TEXT_QUIET, f32::INFINITY);
        }
        self.loads = loads;
        Ok((Picture::Machine(scene, sheet.plane), info))
    }

    fn pick(&self, studio: &Studio, taken: &Taken, at: Pos2, reach: f32) -> Option<Tip> {
        let Picture::Machine(scene, plane) = &taken.picture else { return None };
        let (book, stage) = (studio.tasks()?, self.stage.as_ref()?.as_ref().ok()?);
        let target = plane.rows.iter().rev().find(|(area, _)| area.contains(at)).map(|row| row.1);
        if let Some(Target::Location(location)) = target {
            return Some(overview::tip(book, location));
        }
        let viewport = &taken.layout.viewport;
        let p = viewport.world_from_px([at.x, at.y]);
        if let Some((task, center, radius)) = nearest(scene, p, reach / viewport.px_per_unit) {
            let around = Some((taken.layout.at(center), radius * viewport.px_per_unit));
            return Some(Tip { around, ..beside::tip(book, task) });
        }
        let component = stage.layout().at(p)?;
        let mut tip = overview::tip(book, stage.traffic().component(component).location);
        let Load { held, waiting } = self.loads.get(component as usize).copied().unwrap_or_default();
        tip.lines.insert(0, format!("now {} there, {} at its port", grouped(held.into()), grouped(waiting.into())));
        Some(tip)
    }

    fn look(&self, camera: Camera, gesture: Gesture, taken: &Taken) -> Camera {
        look_around(camera, gesture, taken)
    }

    fn csv(&self, studio: &Studio, taken: &Taken) -> String {
        studio.tasks().map_or_else(String::new, |book| overview::csv(book, taken))
    }
}

/// Darkens what lies under words, where rings reach there.
fn grounds(sheet: &mut Sheet, layout: &Layout, parts: &Parts) {
    let ground = palette::fade(palette::BACKGROUND, 0.80);
    if parts.title {
        let title = Rect::from_min_max(layout.area.min, pos2(layout.left.right(), layout.left.top() + 5.2 * sheet.em));
        sheet.bar(title, ground);
    }
    let [left, top, right, bottom] =
        [layout.area.left(), layout.strip.top(), layout.area.right(), layout.area.bottom()];
    sheet.plane.bars.push(Bar { sides: [left, top, right, bottom], color: ground });
}

/// Rings the chosen task, what it is a part of and its parts, wherever they are; outlines the chosen component.
fn marks(sheet: &mut Sheet, scope: &Scope<'_>, stage: &MachineStage, scene: &Scene, layout: &Layout) {
    let set = scope.book.set();
    if let Some(task) = scope.look.task {
        let chain: BTreeSet<TaskIndex> =
            set.ancestors(task).into_iter().chain(set.children(task).iter().copied().take(MOST_PARTS)).collect();
        let at: Vec<(Pos2, f32)> = scene
            .glyphs
            .iter()
            .filter(|glyph| TaskIndex::try_from(glyph.id).is_ok_and(|task| chain.contains(&task)))
            .map(|glyph| {
                let center = layout.at(position_at(&[], &glyph.flight, scene.now));
                (center, glyph.radius * layout.viewport.px_per_unit + 2.5)
            })
            .collect();
        for (center, radius) in at {
            let points = (0..=24u8).map(|n| {
                let angle = std::f32::consts::TAU * f32::from(n) / 24.0;
                center + radius * vec2(angle.cos(), angle.sin())
            });
            sheet.plane.lines.push(Line { points: points.collect(), width: 1.4, color: palette::LIGHT });
        }
    }
    let chosen = scope.look.location.and_then(|location| stage.traffic().owner(location));
    let Some(component) = chosen.filter(|&component| stage.layout().center != Some(component)) else { return };
    let sector = &stage.layout().sectors[component as usize];
    let point = |r: f32, share: f32| {
        let theta = sector.edges()[0] + share * sector.span + sector.turned(r);
        layout.at([r * theta.cos(), r * theta.sin()])
    };
    let (r0, r1) = (sector.r0 - OUTLINE, sector.r1 + OUTLINE);
    let steps = || (0..=32u8).map(|n| f32::from(n) / 32.0);
    let inner = steps().map(|share| point(r0, share));
    let side = steps().map(|share| point(r0 + (r1 - r0) * share, 1.0));
    let outer = steps().map(|share| point(r1, 1.0 - share));
    let back = steps().map(|share| point(r1 + (r0 - r1) * share, 0.0));
    let points = inner.chain(side).chain(outer).chain(back).collect();
    sheet.plane.lines.push(Line { points, width: 1.4, color: palette::fade(palette::LIGHT, 0.8) });
}

/// Why there are no rings, and what to do.
fn why_not(why: NoRings) -> [String; 2] {
    match why {
        NoRings::NoRequests => [
            "no component asks another: there are no rings to draw".to_owned(),
            "requests are tasks req_out with a task req_in below; press V for charts of what there is".to_owned(),
        ],
        NoRings::TooMany { components, kinds } => [
            format!("{} components of {} kinds are too many for rings", grouped(components as u64), kinds),
            "press V for charts: `overview` has a page for all of them".to_owned(),
        ],
    }
}

/// The task of the dot at a place: its middle and radius.
fn nearest(scene: &Scene, p: [f32; 2], reach: f32) -> Option<(TaskIndex, [f32; 2], f32)> {
    let mut best: Option<(f32, TaskIndex, [f32; 2], f32)> = None;
    // What is drawn last lies on top.
    for glyph in scene.glyphs.iter().rev() {
        let Ok(task) = TaskIndex::try_from(glyph.id) else { continue };
        let at = position_at(&[], &glyph.flight, scene.now);
        let off = (at[0] - p[0]).hypot(at[1] - p[1]);
        if off <= glyph.radius.max(reach) && best.is_none_or(|(least, ..)| off < least) {
            best = Some((off, task, at, glyph.radius));
        }
    }
    best.map(|(_, task, at, radius)| (task, at, radius))
}

/// The names of rings at their tops; where there is room, also of sectors.
fn names(sheet: &mut Sheet, scope: &Scope<'_>, stage: &MachineStage, layout: &Layout) {
    let em = sheet.em;
    let (rings, traffic) = (stage.layout(), stage.traffic());
    let mut taken: Vec<Rect> = Vec::new();
    let free = match layout.upright() {
        true => sheet.sight,
        false => Rect {
            min: pos2(layout.left.right(), sheet.sight.top()),
            max: pos2(layout.right.left(), sheet.sight.bottom()),
        },
    };
    let mut write = |sheet: &mut Sheet, at: Pos2, words: &str, ink: palette::Rgba| {
        let size = vec2(NAME * ems(words) * em, 1.15 * NAME * em);
        let area = Rect::from_center_size(at, size + vec2(0.5 * em, 0.1 * em));
        let inside = if layout.close { free.contains_rect(area) } else { sheet.sight.contains_rect(area) };
        if !inside || taken.iter().any(|other| other.intersects(area)) {
            return;
        }
        sheet.bar(area, palette::fade(palette::BACKGROUND, 0.72));
        sheet.center(pos2(at.x, at.y - 0.62 * NAME * em), words, Weight::Medium, NAME, ink);
        taken.push(area);
    };
    for ring in &rings.rings {
        let words: Vec<String> = ring
            .kinds
            .iter()
            .map(|&kind| {
                let kind = &traffic.kinds[kind];
                match kind.components.len() {
                    1 => kind.name.clone(),
                    many => format!("{} ×{many}", kind.name),
                }
            })
            .collect();
        let words = words.join(", ");
        // In the middle of the gap inside, where its requests come in.
        let r = ring.r1 + 0.5 * rings.rings.last().map_or(0.0, |last| last.gap);
        write(sheet, layout.at([0.0, -r]), &words, palette::TEXT_BODY);
    }
    // Names of one on the rings of several, where its sector is wide enough.
    for ring in rings.rings.iter().filter(|ring| ring.components.len() > 1) {
        for &component in &ring.components {
            let (sector, location) = (&rings.sectors[component as usize], traffic.component(component).location);
            let r = ring.r1 - 0.12 * (ring.r1 - ring.r0);
            let theta = sector.middle(r);
            let room = sector.span * r * layout.viewport.px_per_unit;
            let short = scope.book.short(location);
            // Across a ring that runs up and down there is as much room as the ring is thick.
            let thick = (ring.r1 - ring.r0) * layout.viewport.px_per_unit;
            let level = theta.sin().abs();
            let across = room * level + thick * (1.0 - level);
            if NAME * ems(short) * em < across.min(4.0 * room) && room > 1.4 * em && layout.close {
                write(sheet, layout.at([r * theta.cos(), r * theta.sin()]), short, palette::TEXT_QUIET);
            }
        }
    }
    if let Some(center) = rings.center {
        let short = scope.book.short(traffic.component(center).location);
        let below = layout.at([0.0, 0.0]) + vec2(0.0, rings.middle * layout.viewport.px_per_unit + 0.8 * em);
        write(sheet, below, short, palette::TEXT_QUIET);
    }
}

/// The title, and what it is of; gives where tables begin.
fn title(sheet: &mut Sheet, scope: &Scope<'_>, layout: &Layout) -> f32 {
    let (em, book) = (sheet.em, scope.book);
    let at = layout.left.min;
    let width = layout.left.width() * 1.15;
    sheet.left(at, book.title(), Weight::SemiBold, 1.45, palette::TEXT, width);
    let (from, to) = book.set().span();
    let mut y = at.y + 2.2 * em;
    let about = format!("{}  ·  {}", many(book.set().len(), "task"), scope.duration(to - from));
    for words in [book.subtitle(), &about] {
        if !words.is_empty() {
            sheet.left(pos2(at.x, y), words, Weight::Regular, 1.0, palette::TEXT_QUIET, width);
            y += 1.4 * em;
        }
    }
    y + 0.9 * em
}

/// What each kind of component has to do now: a row each, in the order of the rings.
fn components(sheet: &mut Sheet, stage: &MachineStage, loads: &[Load], area: Rect) {
    let em = sheet.em;
    let traffic = stage.traffic();
    let mut y = beside::heading(sheet, area, "COMPONENTS");
    let right = area.right();
    let columns = [right - 4.6 * em, right];
    for (x, words) in columns.into_iter().zip(["held", "waiting"]) {
        sheet.right(pos2(x, area.top()), words, SMALL, palette::TEXT_QUIET);
    }
    let rows: Vec<usize> = stage.layout().rings.iter().flat_map(|ring| ring.kinds.iter().copied()).collect();
    for kind in rows {
        if y + 1.2 * em > area.bottom() {
            return;
        }
        let kind = &traffic.kinds[kind];
        let members = kind.components.start as usize..kind.components.end as usize;
        let (held, waiting) = loads[members.clone()].iter().fold((0u64, 0u64), |(held, waiting), load| {
            (held + u64::from(load.held), waiting + u64::from(load.waiting))
        });
        let all = u64::from(kind.most) * members.len() as u64;
        let name = match members.len() {
            1 => kind.name.clone(),
            many => format!("{} ×{many}", kind.name),
        };
        sheet.left(
            pos2(area.left(), y),
            &name,
            Weight::Regular,
            1.0,
            palette::TEXT,
            columns[0] - 2.2 * em - area.left(),
        );
        sheet.right(pos2(columns[0], y), &grouped(held), 1.0, palette::TEXT_BODY);
        let ink = if waiting > 0 { palette::words(palette::WARM) } else { palette::TEXT_QUIET };
        sheet.right(pos2(columns[1], y), &grouped(waiting), 1.0, ink);
        // How much of what it ever held it holds: the same colours as behind the sectors.
        let share = to_f32((held + waiting) as f64 / all.max(1) as f64).min(1.0);
        let track = Rect::from_min_max(pos2(area.left(), y + 1.28 * em), pos2(right, y + 1.28 * em + 0.16 * em));
        sheet.bar(track, palette::TRACK);
        let fill = Rect { max: pos2(track.left() + share * track.width(), track.bottom()), ..track };
        let red = to_f32(waiting as f64 / (held + waiting).max(1) as f64);
        sheet.bar(fill, palette::mix(palette::served(1, 3), palette::WARM, red.sqrt()));
        let row = Rect::from_min_max(pos2(area.left(), y), pos2(right, y + ROW * em));
        // A click shows the one that has most to do.
        let busiest = members.max_by_key(|&component| loads[component].held + loads[component].waiting);
        if let Some(component) = busiest.and_then(|component| traffic.components.get(component)) {
            sheet.plane.rows.push((row, Target::Location(component.location)));
        }
        y += (ROW + 0.25) * em;
    }
}

/// The chosen task, the colours, what is waited for.
fn words_beside(sheet: &mut Sheet, scope: &Scope<'_>, seen: &[bool], waits: &[(String, u64)], layout: &Layout) {
    let em = sheet.em;
    let mut area = layout.right;
    area.max.y = layout.strip.top() - 0.6 * em;
    if !layout.compact && scope.look.task.is_some() {
        area.min.y =
            beside::chosen(sheet, scope, Rect { max: pos2(area.right(), area.top() + 14.0 * em), ..area }) + 1.2 * em;
    }
    if scope.shot.parts.legend {
        let rows = seen.iter().filter(|seen| **seen).count().clamp(1, 9);
        let end = (area.top() + (rows as f32 * 1.5 + 2.2) * em).min(area.bottom());
        beside::legend(sheet, scope, seen, Rect { max: pos2(area.right(), end), ..area });
        area.min.y = end + 0.9 * em;
    }
    let fits = to_count(((area.height() / em - 2.0) / 1.5).floor().max(0.0)) as usize;
    let listed = waits.len().min(6).min(fits);
    if listed > 1 && !layout.compact {
        beside::where_it_waits(sheet, scope, &waits[..listed], area);
    }
}
