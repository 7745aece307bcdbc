//! A trace under its caches, or the tasks of a file, at a moment: what all exhibits of it share.

use super::answers::{self, Answer, Answers, Asked, Question};
use super::baseline::Baseline;
use super::shot::Shot;
use super::stretch::Stretch;
use super::strip::Strip;
use crate::analysis::{Advice, ChartParts, Charted, Explanation};
use crate::axis::{Axis, Position};
use crate::kernel::KernelBook;
use crate::nest::{Volumes, Walk};
use crate::reference::{MemoryTrace, ReferenceSource, SourceError, SourceTexts, Tables};
use crate::scene::temperature::Scores;
use crate::shown;
use crate::sim::config::preset;
use crate::sim::{Hierarchy, SimError};
use crate::tasks::TaskBook;
use crate::tasks::metrics::{Bins, in_flight};
use crate::timeline::cursor::levels;
use crate::timeline::{Clock, ClockKind, Cursor, Grid, GridOf, Moment, Options, StripKind, Timeline};
use crate::units::LevelId;
use std::ops::Range;
use std::sync::Arc;

/// See the module.
pub struct Studio {
    timeline: Arc<Timeline>,
    tables: Arc<Tables>,
    /// Sources of the program, as far as they are there.
    sources: Arc<SourceTexts>,
    cursor: Cursor,
    /// References that the log reaches back at least.
    history: u64,
    /// What it is compared with.
    baseline: Option<Box<Baseline>>,
    /// Tasks in place of a trace, which is empty then.
    tasks: Option<Arc<TaskBook>>,
    /// The kernel that the tasks are of, where they are of one.
    kernel: Option<Arc<KernelBook>>,
    answers: Answers,
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

    /// A timeline, ready to be shown.
    ///
    /// # Errors
    /// When the source cannot be read.
    pub fn of(timeline: impl Into<Arc<Timeline>>) -> Result<Self, SourceError> {
        let timeline = timeline.into();
        let tables = Tables::shown(timeline.tables());
        let cursor = Cursor::new(Arc::clone(&timeline))?;
        let (answers, sources) = (Answers::default(), Arc::default());
        Ok(Self { timeline, tables, sources, cursor, history: 0, baseline: None, tasks: None, kernel: None, answers })
    }

    /// Tasks, ready to be shown: their time is its axis, and it has no reference.
    ///
    /// # Errors
    /// As [`Studio::new`], for the empty trace.
    ///
    /// # Panics
    /// Never: the caches of the empty trace are a preset that a test holds.
    pub fn of_tasks(book: impl Into<Arc<TaskBook>>) -> Result<Self, SimError> {
        let book = book.into();
        let title = book.title().to_owned();
        let tables = Tables { title, subtitle: book.subtitle().to_owned(), ..Tables::default() };
        let hierarchy = Hierarchy::new(&preset("paper").expect("a preset of our own"))?;
        let source = Arc::new(MemoryTrace::new(Vec::new(), tables));
        Ok(Self { tasks: Some(book), ..Self::new(source, hierarchy, &mut |_, _| true)? })
    }

    /// A kernel that ran, and the tasks that it is shown as: a row of a group is a tick of their time.
    ///
    /// # Errors
    /// As [`Studio::of_tasks`].
    pub fn of_kernel(kernel: Arc<KernelBook>, book: impl Into<Arc<TaskBook>>) -> Result<Self, SimError> {
        Ok(Self { kernel: Some(kernel), ..Self::of_tasks(book)? })
    }

    /// The kernel that is shown.
    #[must_use]
    pub fn kernel(&self) -> Option<&Arc<KernelBook>> {
        self.kernel.as_ref()
    }

    /// The tasks that are shown in place of a trace.
    #[must_use]
    pub fn tasks(&self) -> Option<&Arc<TaskBook>> {
        self.tasks.as_ref()
    }

    /// The same once more, to be gone about in by somebody else.
    ///
    /// # Errors
    /// When the source cannot be read.
    pub fn another(&self) -> Result<Self, SourceError> {
        let cursor = Cursor::new(Arc::clone(&self.timeline))?;
        let (timeline, tables) = (Arc::clone(&self.timeline), Arc::clone(&self.tables));
        let baseline = self.baseline.as_ref().map(|baseline| baseline.another().map(Box::new)).transpose()?;
        let (tasks, kernel, answers) = (self.tasks.clone(), self.kernel.clone(), self.answers.another());
        let sources = Arc::clone(&self.sources);
        Ok(Self { timeline, tables, sources, cursor, history: 0, baseline, tasks, kernel, answers })
    }

    /// What it is compared with.
    #[must_use]
    pub fn baseline(&self) -> Option<&Baseline> {
        self.baseline.as_deref()
    }

    /// The studio that it is compared with, to be gone about in.
    pub fn baseline_mut(&mut self) -> Option<&mut Studio> {
        self.baseline.as_deref_mut().map(|baseline| &mut baseline.studio)
    }

    /// Has it compared with another, or with none. What that one was compared with is let go.
    pub fn compare_with(&mut self, other: Option<Baseline>) {
        self.baseline = other.map(|mut other| {
            other.studio.baseline = None;
            other.studio.history = self.history;
            if self.answers.is_elsewhere() {
                other.studio.answer_elsewhere();
            }
            Box::new(other)
        });
    }

    /// Takes what it is compared with.
    pub fn take_baseline(&mut self) -> Option<Baseline> {
        self.baseline.take().map(|other| *other)
    }

    /// The shot of what it is compared with that belongs to one of its own.
    #[must_use]
    pub fn baseline_shot(&self, shot: &Shot) -> Shot {
        self.baseline().map_or_else(|| shot.clone(), |baseline| baseline.shot(self, shot))
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

    /// Sources of the program, fit to be shown; those that are not there are missing.
    #[must_use]
    pub fn sources(&self) -> &SourceTexts {
        &self.sources
    }

    /// Has the source shown with what stands between the lines that make references.
    pub fn set_sources(&mut self, sources: &SourceTexts) {
        self.sources = Arc::new(sources.shown());
    }

    /// Another title than the trace's own.
    pub fn set_title(&mut self, title: String) {
        Arc::make_mut(&mut self.tables).title = shown::name(&title).into_owned();
    }

    /// The references of the trace, or the time of the tasks.
    #[must_use]
    pub fn axis(&self) -> Axis {
        self.tasks.as_ref().map_or_else(|| self.timeline.axis(), |book| book.set().axis())
    }

    /// The part of its axis that is shown at first.
    #[must_use]
    pub fn first_stretch(&self) -> Stretch {
        let part = self.tasks.as_ref().and_then(|book| book.first().part.clone());
        part.map_or_else(Stretch::default, |part| Stretch::part(self.axis(), &part))
    }

    /// Where pictures are that nobody asked for another moment of: in the middle of what is shown.
    #[must_use]
    pub fn first_position(&self) -> Position {
        if let Some(tick) = self.tasks.as_ref().and_then(|book| book.first().tick) {
            return Position::at(tick);
        }
        let shown = self.first_stretch().ticks(self.axis());
        Position::at(shown.start + (shown.end - shown.start) / 2)
    }

    /// What time stands for: the clock of this kind; of tasks, their own.
    #[must_use]
    pub fn clock(&self, kind: ClockKind) -> Clock {
        match &self.tasks {
            Some(_) => Clock::steady(self.axis()),
            None => Clock::new(kind, &self.timeline),
        }
    }

    /// The level that a kind of strip shows; of those of several, the innermost one.
    #[must_use]
    pub fn level_shown(&self, strip: StripKind) -> LevelId {
        let ring = match strip {
            StripKind::Level(number) => usize::from(number).saturating_sub(1),
            _ => 0,
        };
        let level = self.rings_of_levels().0.iter().position(|of| *of == ring).unwrap_or(0);
        LevelId(u8::try_from(level).unwrap_or(0))
    }

    /// Counts that charts are drawn of, where they are there: they are made now, or somebody else makes them.
    ///
    /// # Errors
    /// When the trace cannot be read.
    pub fn charted(&mut self, level: LevelId, parts: ChartParts) -> Result<Option<Arc<Charted>>, SourceError> {
        self.answers.charts(&self.timeline, level, parts)
    }

    /// What a reference did and why, where that is there: it is found now, or by somebody else.
    ///
    /// # Errors
    /// When the trace cannot be read.
    pub fn explained(&mut self, tick: u64) -> Result<Option<Arc<Explanation>>, SourceError> {
        self.answers.why(&self.timeline, tick)
    }

    /// What would help, where that is there: it is found now, or by somebody else.
    ///
    /// # Errors
    /// When the trace cannot be read.
    pub fn advice(&mut self) -> Result<Option<Arc<Vec<Advice>>>, SourceError> {
        self.answers.advice(&self.timeline)
    }

    /// Why nothing is known of what would help; `None` where something is, or may be.
    #[must_use]
    pub fn advice_failed(&self) -> Option<&str> {
        self.answers.failed(&Question::Advice)
    }

    /// The loops that references are computed from, where they are.
    #[must_use]
    pub fn walk(&self) -> Option<&Walk> {
        answers::walk(self.timeline.source().as_ref())
    }

    /// What those loops move, where that is there: it is found now, or by somebody else.
    ///
    /// # Errors
    /// When accesses cannot be counted.
    pub fn volumes(&mut self) -> Result<Option<Arc<Volumes>>, SourceError> {
        self.answers.volumes(&self.timeline)
    }

    /// Accesses by element and slice of time, where they are there: they are counted now, or by somebody else. The inner error is why they
    /// cannot be counted.
    ///
    /// # Errors
    /// When the trace cannot be read.
    pub fn grid(&mut self, of: &GridOf) -> Result<Result<Option<Arc<Grid>>, String>, SourceError> {
        self.answers.grid(&self.timeline, of)
    }

    /// Why that is not known; `None` where it is, or may be.
    #[must_use]
    pub fn volumes_failed(&self) -> Option<&str> {
        self.answers.failed(&Question::Volumes)
    }

    /// Has somebody else find what takes a pass over the trace from now on; of what it is compared with, too.
    pub fn answer_elsewhere(&mut self) {
        self.answers.answer_elsewhere();
        if let Some(baseline) = self.baseline_mut() {
            baseline.answer_elsewhere();
        }
    }

    /// What somebody should find now, of what takes long ([`Question::takes_long`]) or of all else; told once. `plays`: moments pass.
    pub fn wanted_answer(&mut self, plays: bool, takes_long: bool) -> Option<Asked> {
        let own = self.answers.wanted(plays, takes_long);
        let own = own.map(|question| Asked { timeline: Arc::clone(&self.timeline), question });
        own.or_else(|| self.baseline_mut().and_then(|baseline| baseline.wanted_answer(plays, takes_long)))
    }

    /// Takes what was found in a trace under its caches, where it is this one or the one that it is compared with; whether it is.
    pub fn take_answer(&mut self, timeline: &Arc<Timeline>, found: Answer) -> bool {
        if Arc::ptr_eq(timeline, &self.timeline) {
            self.answers.take(found);
            return true;
        }
        self.baseline_mut().is_some_and(|baseline| baseline.take_answer(timeline, found))
    }

    /// Takes note that a question has no answer, so that it is not asked again and pictures say why.
    pub fn fail_answer(&mut self, asked: &Asked, why: &str) {
        if Arc::ptr_eq(&asked.timeline, &self.timeline) {
            self.answers.fail(asked.question.clone(), why.to_owned());
        } else if let Some(baseline) = self.baseline_mut() {
            baseline.fail_answer(asked, why);
        }
    }

    /// Why there are no counts for charts of a level; `None` where there are, or may be.
    #[must_use]
    pub fn charts_failed(&self, level: LevelId, parts: ChartParts) -> Option<&str> {
        self.answers.failed(&Answers::about_charts(&self.timeline, level, parts))
    }

    /// Why nothing is known of a reference; `None` where something is, or may be.
    #[must_use]
    pub fn explanation_failed(&self, tick: u64) -> Option<&str> {
        self.answers.failed(&Question::Why(tick))
    }

    /// Whether a trace under its caches is this one or the one that it is compared with.
    #[must_use]
    pub fn has(&self, timeline: &Arc<Timeline>) -> bool {
        Arc::ptr_eq(timeline, &self.timeline) || self.baseline().is_some_and(|baseline| baseline.studio().has(timeline))
    }

    /// A number that grows with what was found so.
    #[must_use]
    pub fn answers_taken(&self) -> u64 {
        self.answers.taken() + self.baseline().map_or(0, |baseline| baseline.studio().answers_taken())
    }

    /// By level: the ring that it is on, the innermost being 0; and how many rings there are.
    fn rings_of_levels(&self) -> (Vec<usize>, usize) {
        let hierarchy = self.timeline.start();
        let ring =
            |level| hierarchy.caches_of(level).next().map_or(0, |cache| usize::from(hierarchy.info(cache).depth));
        let rings: Vec<usize> = levels(hierarchy).map(ring).collect();
        let count = rings.iter().max().map_or(0, |last| last + 1);
        (rings, count)
    }

    /// Who served the references of each of `columns` equal parts of the trace; nobody where it is not indexed yet.
    #[must_use]
    pub fn strip(&self, columns: usize) -> Strip {
        self.strip_of(columns, Stretch::default())
    }

    /// As [`Studio::strip`], of a part of the trace.
    #[must_use]
    pub fn strip_of(&self, columns: usize, stretch: Stretch) -> Strip {
        if self.tasks.is_some() {
            return self.strip_of_kind(columns, stretch, StripKind::InFlight);
        }
        let references = stretch.ticks(self.axis());
        let (rings, count) = self.rings_of_levels();
        let mut missed = vec![vec![0.0; count]; columns];
        for (level, ring) in rings.into_iter().enumerate() {
            let strip = self.timeline.summary().strip(level, columns, references.clone());
            for (column, misses) in missed.iter_mut().zip(strip) {
                if let Some(sum) = column.get_mut(ring) {
                    *sum += misses;
                }
            }
        }
        Strip::of_misses(missed)
    }

    /// As [`Studio::strip_of`], of another kind.
    #[must_use]
    pub fn strip_of_kind(&self, columns: usize, stretch: Stretch, kind: StripKind) -> Strip {
        if let Some(book) = &self.tasks {
            let shown = stretch.ticks(self.axis());
            let bins = Bins { from: shown.start, to: shown.end, count: columns, edges: book.edges() };
            return Strip::of_levels(&in_flight(book, &bins));
        }
        if kind == StripKind::Served {
            return self.strip_of(columns, stretch);
        }
        let shown = stretch.ticks(self.axis());
        let border = |n: usize| {
            shown.start
                + u64::try_from((shown.end - shown.start) as u128 * n as u128 / columns.max(1) as u128).unwrap_or(0)
        };
        let column = |n: usize| self.parts(kind, border(n)..border(n + 1).max(border(n) + 1));
        Strip::of_parts(kind, (0..columns).map(column).collect())
    }

    /// The parts of a column.
    fn parts(&self, kind: StripKind, references: Range<u64>) -> Vec<f32> {
        let summary = self.timeline.summary();
        let (rings, count) = self.rings_of_levels();
        let sums = |level: usize| summary.over(references.clone(), level);
        let of_ring =
            |ring: usize| rings.iter().enumerate().filter(move |(_, of)| **of == ring).map(|(level, _)| level);
        let share = |misses: u64, of: &Range<u64>| misses as f32 / (of.end.saturating_sub(of.start)).max(1) as f32;
        match kind {
            StripKind::Served | StripKind::InFlight => Vec::new(),
            StripKind::Level(number) => {
                let misses = of_ring(usize::from(number).saturating_sub(1)).map(sums);
                vec![misses.map(|(sums, of)| share(sums.demand_misses, &of)).sum()]
            }
            StripKind::Classes => {
                let mut parts = vec![0.0; super::strip::CLASSES.len()];
                for (sums, of) in of_ring(0).map(sums) {
                    parts.iter_mut().zip(sums.classes).for_each(|(part, misses)| *part += share(misses, &of));
                }
                parts
            }
            StripKind::Temperature => {
                // Of a ring with two sides, the one that is farther from idle.
                let farthest = |a: f32, b: f32| if b.abs() > a.abs() { b } else { a };
                let of = |level| self.temperature_over(level, references.clone());
                (0..count).map(|ring| of_ring(ring).map(of).fold(0.0, farthest)).collect()
            }
        }
    }

    /// The mean temperature of a level over some references, -1 to 1; what a miss costs is that of the whole trace.
    fn temperature_over(&self, level: usize, references: Range<u64>) -> f32 {
        let Ok(id) = u8::try_from(level).map(LevelId) else { return 0.0 };
        let (sums, of) = self.timeline.summary().over(references, level);
        let mut answered = self.timeline.answered();
        answered.references = of.end.saturating_sub(of.start);
        answered.asked[level] = sums.hits + sums.demand_misses;
        answered.missed[level] = sums.demand_misses;
        let scores = Scores::of(self.timeline.config(), id);
        scores.scaled(&answered, answered.references, answered.references)
    }

    /// As [`Studio::strip`], with a column for each of some stretches of references.
    #[must_use]
    pub fn strip_over(&self, stretches: impl Iterator<Item = Range<u64>>) -> Strip {
        let (rings, count) = self.rings_of_levels();
        let column = |references: Range<u64>| {
            let mut missed = vec![0.0; count];
            for (level, ring) in rings.iter().enumerate() {
                let misses = self.timeline.summary().strip(level, 1, references.clone());
                if let (Some(sum), Some(misses)) = (missed.get_mut(*ring), misses.first()) {
                    *sum += misses;
                }
            }
            missed
        };
        Strip::of_misses(stretches.map(column).collect())
    }

    /// The moment last gone to.
    #[must_use]
    pub fn moment(&self) -> Moment<'_> {
        self.cursor.moment()
    }

    /// Has the log reach back at least `history` references from now on: the most that an exhibit of it needs.
    pub fn keep(&mut self, history: u64) {
        self.history = history;
        if let Some(baseline) = self.baseline_mut() {
            baseline.keep(history);
        }
    }

    /// Goes to `position` with the moves of `history` references before it, and counts the last `window`; with `by_region`, also
    /// what these did to each region.
    ///
    /// # Errors
    /// When the source cannot be read.
    pub fn seek(&mut self, position: Position, history: u64, window: u64, by_region: bool) -> Result<(), SourceError> {
        let tick = self.timeline.axis().clamp(position).tick();
        let history = history.max(self.history);
        match by_region {
            true => self.cursor.seek_tallied(tick, history, window)?,
            false => self.cursor.seek_over(tick, history, window)?,
        };
        Ok(())
    }
}
