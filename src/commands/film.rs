//! The frames of a recording: each a pure function of its number.

use crate::overlay::{Composer, Layout, Parts, Strip, Studio};
use crate::record::{FrameError, FrameSource};
use crate::render::{Context, RenderError, Target, target};
use crate::scene::View;
use crate::timeline::Pace;
use crate::units::grouped;

/// Draws the frames of a range of a trace.
pub struct Film {
    context: Context,
    studio: Studio,
    composer: Composer,
    target: Target,
    layout: Layout,
    parts: Parts,
    view: View,
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
        (width, height): (u32, u32),
        parts: Parts,
        view: View,
        pace: Pace,
    ) -> Result<Self, RenderError> {
        let target = Target::new(&context, width, height)?;
        let composer = Composer::new(&context, target::FORMAT);
        let layout = Layout::new(width, height, 0.0, &parts).seen_by(&view.camera);
        let view = View { reach: layout.reach, ..view };
        let strip = studio.strip(layout.strip_columns());
        Ok(Self { context, studio, composer, target, layout, parts, view, pace, strip })
    }

    /// The adapter, for people.
    #[must_use]
    pub fn adapter(&self) -> String {
        self.context.describe()
    }

    /// What the index holds, and what a frame sent to the GPU so far, in words.
    #[must_use]
    pub fn account(&self) -> String {
        let timeline = self.studio.timeline();
        format!(
            "index: {} references, {}, {} KiB, a keyframe each {}\n{}",
            grouped(timeline.len()),
            timeline.simulated(),
            grouped(timeline.bytes() as u64 >> 10),
            grouped(timeline.spacing()),
            self.composer.painter().sent().words(),
        )
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
        self.target.size()
    }

    fn frames(&self) -> u64 {
        self.pace.frames()
    }

    fn submit(&mut self, k: u64) -> Result<(), FrameError> {
        let (_, speed) = self.pace.rate(k);
        let passed = self.pace.passed(k);
        let view =
            View { speed, tail: self.view.tail.max(passed), window: self.view.window.max(passed), ..self.view.clone() };
        let (scene, mut info) = self.studio.frame(self.pace.position(k), &view).map_err(FrameError::new)?;
        (info.speed, info.unit) = (self.pace.speed, self.pace.clock.kind().unit());
        let mut encoder = self.context.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        self.composer.draw(
            &self.context,
            &mut encoder,
            self.target.view(),
            &scene,
            &self.layout,
            &self.parts,
            &info,
            &self.strip,
        );
        self.studio.reuse(scene);
        self.target.submit(&self.context, encoder);
        Ok(())
    }

    fn collect(&mut self, into: &mut Vec<u8>) -> Result<(), FrameError> {
        match self.target.collect(&self.context, into) {
            Ok(true) => Ok(()),
            Ok(false) => Err(FrameError::new("no frame was submitted")),
            Err(e) => Err(FrameError::new(e)),
        }
    }
}
