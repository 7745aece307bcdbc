//! A shot: a picture that is asked for, and the one place where it is laid out, framed and worded. The window's panes, stills and
//! films are all taken here.

use super::draw::draw;
use super::exhibits::{Exhibit, Picture};
use super::info::Info;
use super::layout::{Area, Layout, Parts};
use super::named;
use super::pen::Drawn;
use super::plane::draw_plane;
use super::stretch::Stretch;
use super::strip::Strip;
use super::studio::Studio;
use crate::axis::Position;
use crate::reference::SourceError;
use crate::scene::View;
use crate::scene::places::ring_names;
use crate::timeline::{ClockKind, Life, StripKind};
use egui::{Painter, Pos2};
use std::sync::Arc;

/// A picture that is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Shot {
    /// Where on the exhibit's axis.
    pub position: Position,
    /// How it looks, and from where; phase, reach and detail are set when it is taken.
    pub view: View,
    /// The parts that are shown.
    pub parts: Parts,
    /// Size of the target, pixels.
    pub target: [u32; 2],
    /// Where in the target it stands.
    pub area: Area,
    /// Pixels at its bottom that belong to somebody else.
    pub reserved: u32,
    /// What is said of the way it is played.
    pub playback: Playback,
    /// The life of what is pinned, as far as it is known.
    pub life: Option<Arc<Life>>,
    /// How much was found that takes a pass over the trace: see [`Studio::answers_taken`]. The same picture with more of it is another one.
    pub answers: u64,
}

/// Radius of the rings from which on a picture has room for all the paths that it may have, pixels: less than that of a window of 1280x720.
const ROOMY: f32 = 280.0;
/// Paths that the smallest picture may have.
const FEWEST: usize = 500;

/// How many of `budget` paths a picture has room for whose rings have a radius of `pixels`: paths are lines, so twice the radius shows twice as
/// many apart.
fn paths(budget: usize, pixels: f32) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
    let paths = (f64::from(detail(pixels)) * budget as f64) as usize;
    paths.max(FEWEST.min(budget))
}

/// What rings with a radius of `pixels` have of those that are large enough.
fn detail(pixels: f32) -> f32 {
    (pixels / ROOMY).clamp(0.0, 1.0)
}

/// What a picture says of the way it is played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Playback {
    /// Speed, in `unit`; 0 = it has none.
    pub speed: f64,
    /// What a speed counts.
    pub unit: &'static str,
    /// What part of the trace the strip shows.
    pub stretch: Stretch,
    /// What the strip tells of it.
    pub strip: StripKind,
    /// In and out points.
    pub range: [Option<Position>; 2],
}

impl Default for Playback {
    fn default() -> Self {
        Self {
            speed: 0.0,
            unit: ClockKind::References.unit(),
            stretch: Stretch::default(),
            strip: StripKind::default(),
            range: [None; 2],
        }
    }
}

impl Shot {
    /// A still that fills its target.
    #[must_use]
    pub fn still(size: [u32; 2], position: Position, view: View, parts: Parts) -> Self {
        Self {
            position,
            view,
            parts,
            target: size,
            area: Area::whole(size),
            reserved: 0,
            playback: Playback::default(),
            life: None,
            answers: 0,
        }
    }

    /// Where things stand in the target.
    #[must_use]
    pub fn layout(&self) -> Layout {
        let [width, height] = self.area.size;
        let layout = Layout::new(width, height, self.reserved as f32, &self.parts);
        layout.within(self.target, self.area.at).seen_by(&self.view.camera)
    }

    /// Takes it.
    ///
    /// # Errors
    /// When the trace cannot be read.
    pub fn take(&self, studio: &mut Studio, exhibit: &mut dyn Exhibit) -> Result<Taken, SourceError> {
        let layout = self.layout();
        let pixels = layout.viewport.px_per_unit;
        let (budget, detail) = (paths(self.view.budget, pixels), detail(pixels / self.view.camera.zoom));
        let view = View { reach: layout.reach, budget, detail, ..self.view.clone() };
        let (picture, mut info) = exhibit.frame(studio, self, &view, &layout)?;
        self.tell(studio, &mut info);
        Ok(Taken { layout, parts: self.parts, picture, info })
    }

    /// What the strip says at this moment, where no picture of the studio is taken.
    #[must_use]
    pub fn strip_info(&self, studio: &Studio) -> Info {
        let timeline = studio.timeline();
        let position = studio.axis().clamp(self.position);
        let mut info = match studio.tasks() {
            Some(_) => Info::of_tasks(studio, position),
            None => Info::of_time(timeline, studio.tables(), position, ring_names(timeline.start())),
        };
        self.tell(studio, &mut info);
        info
    }

    /// Adds what is no property of the trace: how it is played, and what is pinned.
    fn tell(&self, studio: &Studio, info: &mut Info) {
        let Playback { speed, unit, stretch, range, .. } = self.playback;
        (info.speed, info.unit, info.stretch, info.range) = (speed, unit, stretch, range);
        info.life.clone_from(&self.life);
        info.pinned = self.view.pin.map_or_else(String::new, |bytes| named::bytes(studio, bytes, info.tick).0);
    }
}

/// A shot that was taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Taken {
    /// Where things stand in the target.
    pub layout: Layout,
    /// The parts that are shown.
    pub parts: Parts,
    /// The picture.
    pub picture: Picture,
    /// The words and numbers.
    pub info: Info,
}

impl Taken {
    /// The position that a place in the picture stands for, where it stands for one.
    #[must_use]
    pub fn time_at(&self, at: Pos2) -> Option<Position> {
        let plane = self.picture.plane()?;
        let times = plane.times.iter().find(|area| area.contains(at))?;
        let share = f64::from((at.x - times.left()) / times.width().max(1.0)).clamp(0.0, 1.0);
        Some(self.info.stretch.at(self.info.axis, share))
    }

    /// Draws the words; gives what goes under them.
    pub fn words(&self, painter: &Painter, strip: &Strip) -> Drawn {
        let painter = painter.with_clip_rect(self.layout.area.intersect(painter.clip_rect()));
        match &self.picture {
            Picture::Rings(scene) => draw(&painter, &self.layout, &self.parts, &self.info, scene, strip),
            Picture::Plane(plane) | Picture::Machine(_, plane) | Picture::Solids(_, plane) => {
                draw_plane(&painter, plane, &self.layout, &self.parts, &self.info, strip)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::exhibits::NumberExhibit;
    use super::super::tests::studio;
    use super::*;
    use crate::units::ByteRange;

    #[test]
    fn a_small_picture_has_fewer_paths_and_a_large_one_all() {
        assert_eq!(
            [310.0, 280.0, 140.0, 1.0, f32::NAN].map(|pixels| paths(5_000, pixels)),
            [5_000, 5_000, 2_500, 500, 500]
        );
        assert_eq!([310.0, 140.0].map(|pixels| paths(300, pixels)), [300, 300]);
        let px = |size: [u32; 2]| {
            Shot::still(size, Position::START, View::default(), Parts::default()).layout().viewport.px_per_unit
        };
        assert!(px([1280, 720]) > ROOMY && px([640, 360]) > 0.5 * ROOMY && px([640, 360]) < 0.6 * ROOMY);
    }

    #[test]
    fn what_the_strip_says_is_the_same_without_a_picture() {
        let mut studio = studio();
        let view = View { pin: Some(ByteRange::new(0x4000, 8)), ..View::default() };
        let range = [Some(Position::at(100)), None];
        let shot = Shot {
            playback: Playback { speed: 40.0, range, ..Playback::default() },
            ..Shot::still([1280, 720], Position::of(613.5), view, Parts::default())
        };
        let mut numbers = NumberExhibit::new(&studio);
        let with = shot.take(&mut studio, &mut numbers).expect("in memory").info;
        let without = shot.strip_info(&studio);
        let time = |info: &Info| (info.axis, info.position, info.len, info.indexed, info.stretch, info.range);
        assert_eq!(time(&without), time(&with));
        let words = |info: &Info| (info.mark.clone(), info.marks.clone(), info.rings.clone(), info.pinned.clone());
        assert_eq!(words(&without), words(&with));
        assert!(!without.pinned.is_empty() && without.innermost == with.innermost && without.speed == 40.0);
    }
}
