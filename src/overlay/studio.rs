//! A trace under a cache, ready to be drawn at any position: what stills, videos and the window share.

use super::info::Info;
use super::stretch::Stretch;
use super::strip::Strip;
use crate::reference::{ReferenceSource, SourceError, Tables};
use crate::scene::{Composition, Scene, Stage, View};
use crate::shown;
use crate::sim::{Hierarchy, SimError};
use crate::timeline::{Cursor, Moment, Options, Timeline, pace};
use std::sync::Arc;

/// Joins timeline, stage and words.
pub struct Studio {
    timeline: Arc<Timeline>,
    tables: Arc<Tables>,
    stage: Stage,
    cursor: Cursor,
}

impl Studio {
    /// Indexes `source` under `hierarchy` (empty caches). `progress` gets (references done, all) and stops by `false`.
    ///
    /// # Errors
    /// When the source cannot be read.
    pub fn new(
        source: Arc<dyn ReferenceSource>,
        hierarchy: Hierarchy,
        progress: &mut dyn FnMut(u64, u64) -> bool,
    ) -> Result<Self, SimError> {
        Ok(Self::of(Timeline::build(source, hierarchy, Options::default(), progress)?)?)
    }

    /// A timeline, ready to be drawn.
    ///
    /// # Errors
    /// When the source cannot be read.
    pub fn of(timeline: Timeline) -> Result<Self, SourceError> {
        Self::composed(timeline, None)
    }

    /// As [`Studio::of`], composed so; `None` = as its caches and regions are read best.
    ///
    /// # Errors
    /// When the source cannot be read.
    pub fn composed(timeline: Timeline, composition: Option<Composition>) -> Result<Self, SourceError> {
        let timeline = Arc::new(timeline);
        let tables = Tables::shown(timeline.tables());
        let (start, regions) = (timeline.start(), &tables.regions);
        let composition = composition.unwrap_or_else(|| Stage::composition_for(start, regions));
        let stage = Stage::of_trace(start, regions, composition, timeline.has_fetches());
        let cursor = Cursor::new(Arc::clone(&timeline))?;
        Ok(Self { timeline, tables, stage, cursor })
    }

    /// How its picture is composed.
    #[must_use]
    pub fn composition(&self) -> Composition {
        self.stage.rings().composition
    }

    /// Composes it so from now on.
    pub fn compose(&mut self, composition: Composition) {
        if composition != self.composition() {
            let (start, fetches) = (self.timeline.start(), self.timeline.has_fetches());
            self.stage = Stage::of_trace(start, &self.tables.regions, composition, fetches);
        }
    }

    /// The timeline.
    #[must_use]
    pub fn timeline(&self) -> &Arc<Timeline> {
        &self.timeline
    }

    /// Title, regions, locations, marks, their names fit to be shown.
    #[must_use]
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// Another title than the trace's own.
    pub fn set_title(&mut self, title: String) {
        Arc::make_mut(&mut self.tables).title = shown::name(&title).into_owned();
    }

    /// The stage: rings and homes.
    #[must_use]
    pub fn stage(&self) -> &Stage {
        &self.stage
    }

    /// Who served the references of each of `columns` equal parts of the trace; nobody where it is not indexed yet.
    #[must_use]
    pub fn strip(&self, columns: usize) -> Strip {
        self.strip_of(columns, Stretch::default())
    }

    /// As [`Studio::strip`], of a part of the trace.
    #[must_use]
    pub fn strip_of(&self, columns: usize, stretch: Stretch) -> Strip {
        let references = stretch.references(self.timeline.total().unwrap_or(self.timeline.len()));
        let mut missed = vec![vec![0.0; self.stage.rings().rings.len()]; columns];
        for (level, ring) in self.stage.rings_of_levels().iter().enumerate() {
            let strip = self.timeline.summary().strip(level, columns, references.clone());
            for (column, misses) in missed.iter_mut().zip(strip) {
                if let Some(sum) = column.get_mut(usize::from(*ring)) {
                    *sum += misses;
                }
            }
        }
        Strip::of_misses(missed)
    }

    /// The moment last drawn.
    #[must_use]
    pub fn moment(&self) -> Moment<'_> {
        self.cursor.moment()
    }

    /// Takes back a scene that is drawn, for the memory of its lists: who hands each back before or after the next is made
    /// takes no new memory for shapes.
    pub fn reuse(&mut self, scene: Scene) {
        self.stage.reuse(scene);
    }

    /// Shapes and words at `position` (reference and phase, `2613.5`); `view.phase` is set from it.
    ///
    /// # Errors
    /// When the source cannot be read.
    pub fn frame(&mut self, position: f64, view: &View) -> Result<(Scene, Info), SourceError> {
        let (tick, phase) = pace::split(position.min(self.timeline.len() as f64));
        let mut view = View { phase, ..view.clone() };
        let is_large = self.composition().is_large();
        if is_large {
            // All that it shows is of as many references.
            view.window = view.tail.max(1);
        }
        let (history, window) = (view.history(), view.window);
        let moment = match is_large {
            true => self.cursor.seek_tallied(tick, history, window)?,
            false => self.cursor.seek_over(tick, history, window)?,
        };
        let scene = self.stage.frame(&moment, &view);
        let mut info = Info::new(&self.timeline, &self.tables, &moment, &scene);
        for (n, row) in info.regions.iter_mut().enumerate() {
            // Of a region that is not seen the row stays, and can be told.
            row.shade = view.shades.get(n).copied().unwrap_or_default();
        }
        if is_large {
            info.over(&moment, view.window);
        }
        (info.tail, info.speed) = (if view.trails { view.tail } else { 0 }, view.speed);
        Ok((scene, info))
    }
}
