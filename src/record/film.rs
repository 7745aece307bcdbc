//! The frames of a recording: each a pure function of its number.

use super::{FrameError, FrameSource};
use crate::axis::Position;
use crate::overlay::{Area, Exhibit, Offscreen, Parts, Playback, Shot, Stretch, Strip, StripKind, Studio};
use crate::render::{Context, RenderError, Sent};
use crate::scene::View;
use crate::scene::palette::Theme;
use crate::timeline::{Life, Pace};
use crate::units::grouped;
use std::sync::Arc;

/// Draws the frames of a range of a trace.
pub struct Film {
    context: Context,
    studio: Studio,
    exhibit: Box<dyn Exhibit>,
    offscreen: Offscreen,
    /// The shot that all frames are made of: of their own are position, speed and what a frame skips.
    shot: Shot,
    pace: Pace,
    strip: Strip,
}

impl Film {
    /// Frames of `width` x `height` pixels.
    ///
    /// # Errors
    /// When the adapter cannot hold such a picture.
    pub fn new(
        context: Context,
        studio: Studio,
        exhibit: Box<dyn Exhibit>,
        (width, height): (u32, u32),
        parts: Parts,
        view: View,
        pace: Pace,
    ) -> Result<Self, RenderError> {
        let offscreen = Offscreen::new(&context, [width, height])?;
        let playback = Playback { speed: pace.speed, unit: pace.clock.kind().unit(), ..Playback::default() };
        let playback = Playback { stretch: studio.first_stretch(), ..playback };
        let shot = Shot { playback, ..Shot::still([width, height], Position::START, view, parts) };
        let strip = studio.strip_of(shot.layout().strip_columns(), shot.playback.stretch);
        Ok(Self { context, studio, exhibit, offscreen, shot, pace, strip })
    }

    /// With type and tables so many times as large.
    #[must_use]
    pub fn with_text_scale(mut self, scale: f32) -> Self {
        self.offscreen.set_scale(scale);
        let points = self.offscreen.points();
        (self.shot.target, self.shot.area) = (points, Area::whole(points));
        self.strip = self.studio.strip_of(self.shot.layout().strip_columns(), self.shot.playback.stretch);
        self
    }

    /// With a strip, and pictures of tasks, of this part of the axis.
    #[must_use]
    pub fn with_stretch(mut self, stretch: Stretch) -> Self {
        self.shot.playback.stretch = stretch;
        self.strip = self.studio.strip_of(self.shot.layout().strip_columns(), stretch);
        self
    }

    /// With a strip that tells this.
    #[must_use]
    pub fn with_strip(mut self, kind: StripKind) -> Self {
        self.shot.playback.strip = kind;
        let columns = self.shot.layout().strip_columns();
        self.strip = self.studio.strip_of_kind(columns, self.shot.playback.stretch, kind);
        self
    }

    /// The same film once more, to be drawn beside it: on another device, by an exhibit that was made like its own.
    ///
    /// # Errors
    /// When the trace cannot be read, or the adapter cannot hold such a picture.
    pub fn another(&self, context: Context, exhibit: Box<dyn Exhibit>) -> Result<Self, FrameError> {
        let offscreen = self.offscreen.another(&context).map_err(FrameError::new)?;
        let studio = self.studio.another().map_err(FrameError::new)?;
        let (shot, pace, strip) = (self.shot.clone(), self.pace.clone(), self.strip.clone());
        Ok(Self { context, studio, exhibit, offscreen, shot, pace, strip })
    }

    /// What is shown.
    #[must_use]
    pub fn studio(&self) -> &Studio {
        &self.studio
    }

    /// In a theme.
    #[must_use]
    pub fn with_theme(mut self, theme: Theme) -> Self {
        self.offscreen = self.offscreen.with_theme(&self.context, theme);
        self
    }

    /// With the life of what its view pins.
    #[must_use]
    pub fn with_life(mut self, life: Option<Arc<Life>>) -> Self {
        self.shot.life = life;
        self
    }

    /// The adapter, for people.
    #[must_use]
    pub fn adapter(&self) -> String {
        self.context.describe()
    }

    /// What the index holds, and what a frame sent to the GPU so far, `others` of the same film included: a line each.
    #[must_use]
    pub fn account(&self, others: &[Self]) -> [String; 2] {
        let mut sent = Sent::default();
        std::iter::once(self).chain(others).for_each(|film| sent += film.offscreen.composer().painter().sent());
        let timeline = self.studio.timeline();
        let index = format!(
            "index: {} references, {}, {} KiB, a keyframe each {}",
            grouped(timeline.len()),
            timeline.simulated(),
            grouped(timeline.bytes() as u64 >> 10),
            grouped(timeline.spacing()),
        );
        [index, sent.words()]
    }

    /// The whole picture of frame `k`, on its own.
    ///
    /// # Errors
    /// When it cannot be drawn.
    pub fn still(&mut self, k: u64) -> Result<Vec<u8>, FrameError> {
        let mut rgba = Vec::new();
        self.submit(k)?;
        self.collect(&mut rgba)?;
        Ok(rgba)
    }
}

impl FrameSource for Film {
    fn size(&self) -> (u32, u32) {
        self.offscreen.size().into()
    }

    fn frames(&self) -> u64 {
        self.pace.frames()
    }

    fn submit(&mut self, k: u64) -> Result<(), FrameError> {
        let (_, speed) = self.pace.rate(k);
        let (passed, view) = (self.pace.passed(k), &self.shot.view);
        let view = View { speed, tail: view.tail.max(passed), window: view.window.max(passed), ..view.clone() };
        let shot = Shot { position: self.pace.position(k), view, ..self.shot.clone() };
        self.offscreen
            .submit(&self.context, &mut self.studio, self.exhibit.as_mut(), &shot, &self.strip)
            .map_err(FrameError::new)
    }

    fn collect(&mut self, into: &mut Vec<u8>) -> Result<(), FrameError> {
        match self.offscreen.collect(&self.context, into) {
            Ok(true) => Ok(()),
            Ok(false) => Err(FrameError::new("no frame was submitted")),
            Err(e) => Err(FrameError::new(e)),
        }
    }
}
