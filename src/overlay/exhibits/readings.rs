//! What exhibits of tables read of a moment: counts up to it, or between the in and the out point where these are set.

use crate::axis::Position;
use crate::overlay::info::Info;
use crate::overlay::shot::Shot;
use crate::overlay::studio::Studio;
use crate::reference::SourceError;
use crate::scene::View;
use crate::scene::places::ring_names;
use crate::scene::temperature::Thermometer;
use crate::timeline::Share;
use std::ops::Range;

/// Reads a studio's moments as words and numbers, without a scene.
pub(super) struct Readings {
    thermometer: Thermometer,
    rings: Vec<String>,
    /// What was counted between the in and the out point last: that stays the same while the playhead moves.
    between: Option<(Range<u64>, Reading)>,
}

/// What is read of a moment.
#[derive(Clone)]
pub(super) struct Reading {
    /// Words and numbers.
    pub(super) info: Info,
    /// By row of [`Timeline::lines`](crate::timeline::Timeline::lines), the last for unknown instructions; nothing where no line is
    /// known.
    pub(super) lines: Vec<Share>,
}

/// References before a position that tables need one by one: to say when something was touched last. All else is counted.
pub(super) fn logged(view: &View) -> u64 {
    const MOST: u64 = 256;
    view.window.min(MOST)
}

impl Readings {
    /// For the caches of a studio.
    pub(super) fn new(studio: &Studio) -> Self {
        let start = studio.timeline().start();
        Self { thermometer: Thermometer::new(start), rings: ring_names(start), between: None }
    }

    /// Goes to the position of a shot, or the end where it lies beyond, and gathers what can be said there; temperatures are over the
    /// window of `view`.
    ///
    /// # Errors
    /// When the trace cannot be read.
    pub(super) fn at(&mut self, studio: &mut Studio, shot: &Shot, view: &View) -> Result<Reading, SourceError> {
        let mut reading = self.counted(studio, shot, view)?;
        reading.info.dress(view);
        Ok(reading)
    }

    /// As [`Readings::at`], in the colours of the palette.
    fn counted(&mut self, studio: &mut Studio, shot: &Shot, view: &View) -> Result<Reading, SourceError> {
        let tick = |at: Position| studio.axis().clamp(at).tick();
        let here = tick(shot.position);
        match shot.playback.range.map(|point| point.map(tick)) {
            [from, Some(to)] => {
                let range = from.unwrap_or(0)..to;
                if self.between.as_ref().is_none_or(|(of, _)| *of != range) {
                    let counted = self.over(studio, Position::at(to), view, range.clone())?;
                    self.between = Some((range, counted));
                }
                let now = self.upto(studio, shot.position, view)?;
                let Some((_, Reading { info: counted, lines })) = &self.between else { return Ok(now) };
                let mut info = Info {
                    regions: counted.regions.clone(),
                    caches: counted.caches.clone(),
                    tlbs: counted.tlbs.clone(),
                    walks: counted.walks,
                    counted: counted.counted.clone(),
                    ..now.info
                };
                for (row, now) in info.caches.iter_mut().zip(&now.info.caches) {
                    row.temperature = now.temperature;
                }
                Ok(Reading { info, lines: lines.clone() })
            }
            [Some(from), None] if from < here => self.over(studio, shot.position, view, from..here),
            _ => self.upto(studio, shot.position, view),
        }
    }

    /// All counts up to a position.
    fn upto(&mut self, studio: &mut Studio, position: Position, view: &View) -> Result<Reading, SourceError> {
        let position = studio.axis().clamp(position);
        studio.seek(position, logged(view), view.window, false)?;
        let lines = studio.moment().lines();
        Ok(Reading { info: self.info(studio, position, view), lines })
    }

    /// Counts of `range` alone, which ends at a position.
    fn over(
        &mut self,
        studio: &mut Studio,
        position: Position,
        view: &View,
        range: Range<u64>,
    ) -> Result<Reading, SourceError> {
        let position = studio.axis().clamp(position);
        let window = range.end - range.start;
        studio.seek(position, logged(view), window, true)?;
        let mut info = self.info(studio, position, view);
        let moment = studio.moment();
        info.over(&moment, window);
        // The pictures say so in their own way, of the last references.
        info.over = None;
        info.counted = Some(range);
        let lines = moment.lines_over(window).unwrap_or_else(|| moment.lines());
        Ok(Reading { info, lines })
    }

    fn info(&mut self, studio: &Studio, position: Position, view: &View) -> Info {
        let moment = studio.moment();
        let temperatures = self.thermometer.read(&moment, view.window);
        Info::of(studio.timeline(), studio.tables(), &moment, position, &temperatures, self.rings.clone())
    }
}
