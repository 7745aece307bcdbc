//! The pictures of a scene: where they stand, how they look, where their cameras go, and what is marked in them.

use super::super::StoryError;
use super::super::board;
use super::super::camera::{self, Aim};
use super::super::error::unknown;
use super::compile::{Compiler, length};
use super::legs::Legs;
use super::track::{Followed, Track};
use super::{Look, Mark, Panel, Reel, Step};
use crate::axis::Position;
use crate::overlay::{Area, Parts, Shot, StripKind, Taken};
use crate::reference::{Region, SourceError, Tables};
use crate::scene::layout::Rings;
use crate::scene::shades::is_of;
use crate::scene::{Camera, Choice, Shade, View};
use crate::timeline::{InStep, StepBy};
use crate::units::{ByteRange, to_count};
use std::collections::BTreeSet;
use std::f32::consts::TAU;
use std::sync::Arc;

/// Seconds that a camera takes where a storyboard does not say.
const MOVES: f64 = 1.5;
/// Pictures beside each other, at most.
const MOST_PANELS: usize = 4;
/// Width and height of a picture that has tables beside or below its rings, points, at least; and the height of one with a strip.
const TABLES: [u32; 2] = [380, 240];
const STRIP: u32 = 180;
/// References of trail where a storyboard does not say.
const TAIL: u64 = 64;

impl Compiler<'_> {
    pub(super) fn panels(
        &mut self,
        n: usize,
        scene: &board::Scene,
        source: usize,
        (legs, ticks, intro): (&Legs, [u64; 2], f64),
    ) -> Result<Vec<Panel>, StoryError> {
        let story = self.story;
        let count = 1 + scene.beside.len();
        if count > MOST_PANELS {
            return Err(story.scene_fault(
                n,
                "beside",
                &format!("found {count} pictures with the scene's own; expected {MOST_PANELS} at most"),
            ));
        }
        let areas = areas(self.reel.size, self.reel.band, count);
        self.regions(n, scene, source)?;
        let mut panels = Vec::new();
        let own = board::Beside { source: None, view: scene.view.clone(), sort: scene.sort.clone(), step: None };
        for (at, beside) in std::iter::once(&own).chain(&scene.beside).enumerate() {
            let of = if beside.source.is_some() {
                self.source(n, "beside", beside.source.as_ref())?.unwrap_or(source)
            } else {
                source
            };
            let exhibit = self.exhibit(n, of, beside)?;
            if panels.iter().any(|panel: &Panel| panel.exhibit == exhibit) {
                return Err(story.scene_fault(
                    n,
                    "beside",
                    "found the same picture twice; expected another source, or another view",
                ));
            }
            let step = self.step(n, source, of, beside.step.as_ref())?;
            let base = self.base(n, scene, of, (areas[at], count))?;
            // A camera goes on from where it was left, where the same is shown alone again.
            let goes_on = count == 1 && self.before.as_ref().is_some_and(|(before, _)| before[..] == [(of, exhibit)]);
            panels.push(self.panel(n, scene, (of, exhibit, step), base, (legs, ticks[0], goes_on, intro))?);
        }
        Ok(panels)
    }

    /// Whether each region that is to be shown alone, or faintly, is one of a picture of the scene.
    fn regions(&self, n: usize, scene: &board::Scene, source: usize) -> Result<(), StoryError> {
        let mut sources = vec![source];
        for beside in &scene.beside {
            sources.extend(self.source(n, "beside", beside.source.as_ref())?.filter(|_| beside.source.is_some()));
        }
        let regions = |source: usize| &self.reel.cast[source].studio.tables().regions;
        for (key, names) in [("show", &scene.show), ("dim", &scene.dim)] {
            let is_known = |name: &str| sources.iter().any(|of| regions(*of).iter().any(|region| is_of(name, region)));
            if let Some(name) = names.iter().find(|name| !is_known(name)) {
                let all = sources.iter().flat_map(|of| regions(*of)).map(|region| region.name.as_str());
                let known: BTreeSet<&str> = all.collect();
                let known: Vec<&str> = known.into_iter().collect();
                return Err(self.story.scene_fault(n, key, &unknown(name, &known)));
            }
        }
        Ok(())
    }

    fn step(&self, n: usize, this: usize, other: usize, words: Option<&String>) -> Result<Step, StoryError> {
        if this == other {
            return Ok(Step::By(InStep::default()));
        }
        let [a, b] = [this, other].map(|source| self.reel.cast[source].studio.timeline());
        match words.map(String::as_str) {
            None => Ok(Step::By(InStep::usual(a, b).1)),
            Some("share") => Ok(Step::Share),
            Some(words) => {
                let by: StepBy = words
                    .parse()
                    .map_err(|error| self.story.scene_fault(n, "beside", &format!("step: {error}; or share")))?;
                let step = InStep::new(a, b, &by)
                    .map_err(|error| self.story.scene_fault(n, "beside", &format!("step: {error}")))?;
                Ok(Step::By(step))
            }
        }
    }

    /// A shot without its camera.
    fn base(
        &self,
        n: usize,
        scene: &board::Scene,
        source: usize,
        (area, count): (Area, usize),
    ) -> Result<Shot, StoryError> {
        let story = self.story;
        let studio = &self.reel.cast[source].studio;
        let tables = studio.tables();
        let (mut parts, mut view) = (Parts::default(), View { tail: scene.tail.unwrap_or(TAIL), ..View::default() });
        if count > 1 {
            // Beside each other there is little room.
            (parts.legend, parts.reference) = (false, false);
        }
        let reserved = if count == 1 { to_count(self.reel.band) } else { 0 };
        let [width, height] = [area.size[0], area.size[1].saturating_sub(reserved)];
        if width < TABLES[0] || height < TABLES[1] {
            // A small picture has no room for both.
            (parts.regions, parts.caches, parts.reference, parts.legend) = (false, false, false, false);
        }
        if height < STRIP {
            (parts.title, parts.strip) = (false, false);
        }
        for word in &scene.hide {
            let shown = match word.as_str() {
                "title" => &mut parts.title,
                "regions" => &mut parts.regions,
                "caches" => &mut parts.caches,
                "reference" => &mut parts.reference,
                "legend" => &mut parts.legend,
                "strip" => &mut parts.strip,
                "labels" => &mut parts.labels,
                "trails" => &mut view.trails,
                "ghosts" => &mut view.ghosts,
                "temperature" => &mut view.temperature,
                _ => {
                    let known = [
                        "title",
                        "regions",
                        "caches",
                        "reference",
                        "legend",
                        "strip",
                        "labels",
                        "trails",
                        "ghosts",
                        "temperature",
                    ];
                    return Err(story.scene_fault(n, "hide", &unknown(word, &known)));
                }
            };
            *shown = false;
        }
        view.colors = self.reel.cast[source].colors.clone();
        view.window = scene.window.unwrap_or(view.window);
        if view.tail == 0 || view.window == 0 {
            return Err(story.scene_fault(
                n,
                if view.tail == 0 { "tail" } else { "window" },
                "found 0; expected references, 1 or more",
            ));
        }
        let rest = if scene.show.is_empty() { Shade::Full } else { Shade::Hidden };
        let choice = Choice { show: scene.show.clone(), dim: scene.dim.clone(), rest, ..Choice::default() };
        view.shades = choice.shades(&tables.regions);
        if let Some(words) = &scene.pin {
            view.pin = Some(camera::bytes(words, tables).map_err(|words| story.scene_fault(n, "pin", &words))?);
        }
        let kind: StripKind = match &scene.strip {
            None => StripKind::Served,
            Some(words) => words.parse().map_err(|error| story.scene_fault(n, "strip", &format!("{error}")))?,
        };
        let whole = Shot::still(self.reel.size, Position::START, view, parts);
        let mut shot = Shot { area, reserved, ..whole };
        shot.playback.strip = kind;
        Ok(shot)
    }

    /// A picture of a scene: with the elements that have labels, and with its camera.
    fn panel(
        &mut self,
        n: usize,
        scene: &board::Scene,
        (source, exhibit, step): (usize, usize, Step),
        mut shot: Shot,
        (legs, from, goes_on, intro): (&Legs, u64, bool, f64),
    ) -> Result<Panel, StoryError> {
        let story = self.story;
        let Reel { cast, exhibits, .. } = &mut self.reel;
        let studio = &mut cast[source].studio;
        let tables = Arc::new(studio.tables().clone());
        let first = Shot { position: Position::at(from.min(studio.timeline().len())), ..shot.clone() };
        let unread = |error: SourceError| story.scene_fault(n, "source", &error.0);
        let mut take = |shot: &Shot| -> Result<Taken, StoryError> {
            shot.take(studio, exhibits[exhibit].exhibit.as_mut()).map_err(unread)
        };
        let rings = take(&first)?.picture.scene().map(|scene| scene.rings.clone());
        // Elements by the numbers of their labels: labels, highlights, and what the camera looks at.
        let mut labels: Vec<ByteRange> = Vec::new();
        let (mut looks, mut followed) = (Vec::new(), Vec::new());
        if let Some(rings) = &rings {
            let asked = scene.labels.iter().map(|label| &label.of).chain(&scene.highlight);
            for words in asked {
                labels.push(element(words, rings, &tables).ok().flatten().unwrap_or(ByteRange::new(0, 1)));
            }
            let aims = scene.camera.iter().map(|words| ("camera", 0.0, words, scene.moves));
            let later = scene.looks.iter().map(|look| ("looks", look.at, &look.camera, look.moves));
            let mut homes = Vec::new();
            let mut track = |what: Followed| {
                followed.iter().position(|known| *known == what).unwrap_or_else(|| {
                    followed.push(what);
                    followed.len() - 1
                })
            };
            for (key, at, words, moves) in aims.chain(later) {
                let fault = |words: String| story.scene_fault(n, key, &words);
                let at = length(at, 0.0).map_err(|words| fault(format!("at: {words}")))?;
                let end = legs.seconds() - intro;
                if at > end {
                    return Err(fault(format!("at: found {at}; expected a time within the {end:.1} s of the scene")));
                }
                let moves = length(moves.unwrap_or(MOVES), 0.0).map_err(fault)?;
                let look = match camera::parse(words, rings, &tables).map_err(fault)? {
                    Aim::At(camera) => Look::At(camera.clamped()),
                    Aim::Follow(bytes, zoom) => Look::Follow(track(Followed::Element(bytes)), zoom),
                    Aim::Touched(zoom) => Look::Follow(track(Followed::References), zoom),
                    Aim::Home(bytes, zoom) => {
                        labels.push(bytes);
                        homes.push((looks.len(), labels.len() - 1, zoom));
                        Look::At(Camera::default())
                    }
                };
                // The scene comes with its camera; other moves count from when it goes on.
                looks.push((if key == "looks" { at + intro } else { at }, moves, look));
            }
            shot.view.labels = labels.into();
            if !homes.is_empty() {
                let view = View { camera: Camera::default(), ..shot.view.clone() };
                let taken = take(&Shot { view, position: first.position, ..shot.clone() })?;
                for (look, label, zoom) in homes {
                    let at = taken.picture.scene().and_then(|scene| camera::home(scene, label)).unwrap_or([0.0, 0.0]);
                    looks[look].2 = Look::At(Camera { at, zoom }.clamped());
                }
            }
        }
        looks.sort_by(|a, b| a.0.total_cmp(&b.0));
        let left = self.before.as_ref().filter(|_| goes_on).and_then(|(_, camera)| *camera);
        match left {
            Some(camera) if rings.is_some() => looks.insert(0, (0.0, 0.0, Look::At(camera))),
            _ => match looks.first_mut() {
                // Nobody saw it come: it is there.
                Some(first) if first.0 <= 0.0 => first.1 = 0.0,
                Some(_) => looks.insert(0, (0.0, 0.0, Look::At(Camera::default()))),
                None => {}
            },
        }
        let studio = &self.reel.cast[source].studio;
        let tracks = followed.into_iter().map(|followed| Track::new(followed, legs.seconds())).collect();
        let strip = studio.strip_of_kind(shot.layout().strip_columns(), shot.playback.stretch, shot.playback.strip);
        Ok(Panel { source, exhibit, step, shot, strip, looks, tracks })
    }

    /// What a label or a highlight is about, in the first picture.
    pub(super) fn mark(
        &mut self,
        n: usize,
        key: &'static str,
        words: &str,
        panels: &[Panel],
        label: usize,
    ) -> Result<Mark, StoryError> {
        let story = self.story;
        let fault = |words: String| story.scene_fault(n, key, &words);
        let Some(panel) = panels.first() else {
            return Err(fault("found a card; expected a scene with a picture".into()));
        };
        let Reel { cast, exhibits, .. } = &mut self.reel;
        let studio = &mut cast[panel.source].studio;
        let tables = Arc::new(studio.tables().clone());
        let taken =
            panel.shot.take(studio, exhibits[panel.exhibit].exhibit.as_mut()).map_err(|error| fault(error.0))?;
        let Some(scene) = taken.picture.scene() else {
            let view = exhibits[panel.exhibit].row.name;
            return Err(fault(format!(
                "found the view `{view}`; expected `rings` or `large`, where things have places"
            )));
        };
        if let Some(arc) = whole_region(words, &tables.regions)
            .and_then(|region| scene.served.arcs.iter().find(|arc| arc.regions.contains(&region)))
        {
            // Outside the arc's own line, so that both are seen.
            let r = scene.rings.rim + BESIDE_RIM;
            let at = |n: u8| arc.theta0 + arc.span * f32::from(n) / 48.0;
            return Ok(Mark::Points((0..=48).map(|n| [r * at(n).cos(), r * at(n).sin()]).collect()));
        }
        match element(words, &scene.rings, &tables).map_err(fault)? {
            Some(_) => Ok(Mark::Label(label)),
            None => Ok(Mark::Points(points(words, &scene.rings).map_err(fault)?)),
        }
    }
}

/// How far outside of memory's rim a region is outlined, world units.
const BESIDE_RIM: f32 = 0.011;

/// The region of several elements that words name as a whole.
fn whole_region(words: &str, regions: &[Region]) -> Option<usize> {
    regions.iter().position(|region| region.name == words.trim() && region.bytes > u64::from(region.elem_bytes))
}

/// The bytes that words name; `None` where they name a place that is none of data.
fn element(words: &str, rings: &Rings, tables: &Tables) -> Result<Option<ByteRange>, String> {
    if words == "cpu" || words.starts_with("ring ") || words.starts_with("set ") {
        points(words, rings)?;
        return Ok(None);
    }
    camera::bytes(words, tables).map(Some)
}

/// Points of the CPU, a level or a set.
fn points(words: &str, rings: &Rings) -> Result<Vec<[f32; 2]>, String> {
    let circle =
        |r: f32| (0..=96u8).map(|n| f32::from(n) / 96.0 * TAU - 2.4).map(move |a| [r * a.cos(), r * a.sin()]).collect();
    if words == "cpu" {
        return Ok(circle(rings.cpu));
    }
    if let Some(name) = words.strip_prefix("ring ") {
        return Ok(circle(rings.rings[camera::ring(name.trim(), rings)?].r1));
    }
    match words.strip_prefix("set ").and_then(|rest| rest.split_once(" of ")) {
        Some((set, level)) => camera::arm(set, level, rings),
        None => Err(format!("found `{words}`; expected a region, an element, cpu, ring LEVEL or set N of LEVEL")),
    }
}

/// Where pictures stand beside each other: in columns where there is more width than height, else in rows.
fn areas([width, height]: [u32; 2], band: f32, count: usize) -> Vec<Area> {
    if count == 1 {
        return vec![Area::whole([width, height])];
    }
    let height = height - to_count(band).min(height / 2);
    let n = u32::try_from(count).unwrap_or(1);
    let columns = if width > height { if count == 4 { 2 } else { n } } else { 1 };
    let rows = n.div_ceil(columns);
    let edge =
        |at: u32, of: u32, side: u32| u32::try_from(u64::from(side) * u64::from(at) / u64::from(of)).unwrap_or(side);
    let area = |at: u32| {
        let (column, row) = (at % columns, at / columns);
        let (x, y) = (edge(column, columns, width), edge(row, rows, height));
        Area { at: [x, y], size: [edge(column + 1, columns, width) - x, edge(row + 1, rows, height) - y] }
    };
    (0..n).map(area).collect()
}

/// Where the picture of a source stands among those of its scene, in words.
pub(super) fn side(panels: &[Panel], source: usize) -> &'static str {
    let Some(own) = panels.iter().find(|panel| panel.source == source) else { return "here" };
    let edges = |axis: usize| {
        let mut edges: Vec<u32> = panels.iter().map(|panel| panel.shot.area.at[axis]).collect();
        edges.sort_unstable();
        edges.dedup();
        let at = edges.iter().position(|edge| *edge == own.shot.area.at[axis]).unwrap_or(0);
        (at, edges.len())
    };
    placed(edges(0), edges(1))
}

/// A place in words: which column of how many, and which row.
fn placed((column, columns): (usize, usize), (row, rows): (usize, usize)) -> &'static str {
    match (columns, rows) {
        (1, 1) => "here",
        (_, 1) => match column {
            0 => "on the left",
            _ if column + 1 == columns => "on the right",
            _ => "in the middle",
        },
        (1, _) => match row {
            0 => "at the top",
            _ if row + 1 == rows => "at the bottom",
            1 if rows == 3 => "in the middle",
            1 => "second from the top",
            _ => "third from the top",
        },
        _ => match (column, row) {
            (0, 0) => "at the top left",
            (_, 0) => "at the top right",
            (0, _) => "at the bottom left",
            _ => "at the bottom right",
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_stand_where_words_say() {
        let words = |size, count| -> Vec<&str> {
            let areas = areas(size, 40.0, count);
            let edges = |of: &Area, axis: usize| {
                let mut edges: Vec<u32> = areas.iter().map(|area| area.at[axis]).collect();
                edges.sort_unstable();
                edges.dedup();
                (edges.iter().position(|edge| *edge == of.at[axis]).expect("its own"), edges.len())
            };
            areas.iter().map(|area| placed(edges(area, 0), edges(area, 1))).collect()
        };
        let (wide, upright) = ([1280, 720], [720, 1280]);
        assert_eq!(words(wide, 1), ["here"]);
        assert_eq!(words(wide, 2), ["on the left", "on the right"]);
        assert_eq!(words(upright, 2), ["at the top", "at the bottom"]);
        assert_eq!(words(wide, 3), ["on the left", "in the middle", "on the right"]);
        assert_eq!(words(upright, 3), ["at the top", "in the middle", "at the bottom"]);
        assert_eq!(
            words(wide, 4),
            ["at the top left", "at the top right", "at the bottom left", "at the bottom right"]
        );
        assert_eq!(words(upright, 4), ["at the top", "second from the top", "third from the top", "at the bottom"]);
    }
}
