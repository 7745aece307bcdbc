//! What exhibits of tables read of a moment.

use crate::axis::Position;
use crate::overlay::info::Info;
use crate::overlay::studio::Studio;
use crate::reference::SourceError;
use crate::scene::View;
use crate::scene::places::ring_names;
use crate::scene::temperature::Thermometer;

/// Reads a studio's moments as words and numbers, without a scene.
pub(super) struct Readings {
    thermometer: Thermometer,
    rings: Vec<String>,
}

impl Readings {
    /// For the caches of a studio.
    pub(super) fn new(studio: &Studio) -> Self {
        let start = studio.timeline().start();
        Self { thermometer: Thermometer::new(start), rings: ring_names(start) }
    }

    /// Goes to a position, or the end where it lies beyond, and gathers what can be said there; temperatures are over the window of `view`.
    ///
    /// # Errors
    /// When the trace cannot be read.
    pub(super) fn at(&mut self, studio: &mut Studio, position: Position, view: &View) -> Result<Info, SourceError> {
        let position = studio.axis().clamp(position);
        studio.seek(position, view.window, view.window, false)?;
        let moment = studio.moment();
        let temperatures = self.thermometer.read(&moment, view.window);
        Ok(Info::of(studio.timeline(), studio.tables(), &moment, position, &temperatures, self.rings.clone()))
    }
}
