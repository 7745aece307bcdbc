//! The frames of a storyboard.

use super::{FrameError, FrameSource};
use crate::overlay::lettering::letter;
use crate::overlay::{Offscreen, Sheet};
use crate::render::{Context, RenderError};
use crate::scene::palette::Theme;
use crate::story::{Frame, Reel};

/// Draws the frames of a [`Reel`].
pub struct StoryFilm {
    context: Context,
    reel: Reel,
    offscreen: Offscreen,
}

impl StoryFilm {
    /// Frames of `width` x `height` pixels, of which the reel's points are one each, or as many as `scale` says.
    ///
    /// # Errors
    /// When the adapter cannot hold such a picture.
    pub fn new(context: Context, reel: Reel, (width, height): (u32, u32), scale: f32) -> Result<Self, RenderError> {
        let mut offscreen = Offscreen::new(&context, [width, height])?;
        offscreen.set_scale(scale);
        Ok(Self { context, reel, offscreen })
    }

    /// The same film once more, to be drawn beside it on another device.
    ///
    /// # Errors
    /// When a trace cannot be read, or the adapter cannot hold such a picture.
    pub fn another(&self, context: Context) -> Result<Self, FrameError> {
        let offscreen = self.offscreen.another(&context).map_err(FrameError::new)?;
        let reel = self.reel.another().map_err(FrameError::new)?;
        Ok(Self { context, reel, offscreen })
    }

    /// In a theme.
    #[must_use]
    pub fn with_theme(mut self, theme: Theme) -> Self {
        self.offscreen = self.offscreen.with_theme(&self.context, theme);
        self
    }

    /// The adapter, for people.
    #[must_use]
    pub fn adapter(&self) -> String {
        self.context.describe()
    }

    /// What is shown.
    pub fn reel_mut(&mut self) -> &mut Reel {
        &mut self.reel
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

    /// The picture of a scene as it ends, before it goes for the next one.
    ///
    /// # Errors
    /// When it cannot be drawn.
    pub fn scene_still(&mut self, scene: usize) -> Result<Vec<u8>, FrameError> {
        let frame = self.reel.ending(scene).map_err(FrameError::new)?;
        let mut rgba = Vec::new();
        self.draw(frame);
        self.collect(&mut rgba)?;
        Ok(rgba)
    }

    fn draw(&mut self, frame: Frame) {
        let strips = self.reel.strips(&frame);
        let pictures: Vec<_> = frame.pictures.iter().zip(strips).collect();
        let points = self.offscreen.points();
        let sheet = Sheet { pictures: &pictures, over: &|painter| letter(painter, &frame.lettering, points) };
        self.offscreen.submit_sheet(&self.context, &sheet);
        self.reel.reuse(frame);
    }
}

impl FrameSource for StoryFilm {
    fn size(&self) -> (u32, u32) {
        self.offscreen.size().into()
    }

    fn frames(&self) -> u64 {
        self.reel.frames()
    }

    fn submit(&mut self, k: u64) -> Result<(), FrameError> {
        let frame = self.reel.frame(k).map_err(FrameError::new)?;
        self.draw(frame);
        Ok(())
    }

    fn collect(&mut self, into: &mut Vec<u8>) -> Result<(), FrameError> {
        match self.offscreen.collect(&self.context, into) {
            Ok(true) => Ok(()),
            Ok(false) => Err(FrameError::new("no frame was submitted")),
            Err(e) => Err(FrameError::new(e)),
        }
    }
}
