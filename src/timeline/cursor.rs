//! A place in the timeline: the state before and after one reference, and the log of what led there.

use super::answers::{Answers, Marks};
use super::flows::Flows;
use super::log::{Log, Move, PageFill, Place, Touch};
use super::pages::{Translation, translations};
use super::served::{Served, ServedBlock};
use super::tally::{Row, Tally, Watch};
use super::{
    Share, Timeline,
    count::{Count, Finders},
    outcome::Outcome,
};
use crate::reference::{Reference, SourceError};
use crate::sim::Hierarchy;
use crate::sim::event::Event;
use crate::units::{Addr, CacheId, LevelId, LineAddr, SetIndex};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// Everything a picture of one tick needs.
#[derive(Clone, Copy)]
pub struct Moment<'a> {
    /// Reference under way; `len` = the trace has ended.
    pub tick: u64,
    /// References that are indexed.
    pub len: u64,
    /// State before the reference.
    pub before: &'a Hierarchy,
    /// State after it; equal to `before` at the end of the trace.
    pub after: &'a Hierarchy,
    /// Steps up to and with the reference.
    pub log: &'a Log,
    /// What went which way, in all that is indexed.
    pub flows: &'a Flows,
    /// Who served the references to which part of memory, in all that is indexed.
    pub served: &'a Served,
    /// Counts up to the reference, without it.
    pub tally: &'a Tally,
    /// Where the counts of each region are.
    pub rows: &'a [Row],
    /// The reference; `None` at the end of the trace.
    pub reference: Option<Reference>,
    /// What the reference does in the hierarchy, in order.
    pub events: &'a [Event],
    /// Who serves it and why it misses; `None` where the trace is too long to keep that, or at the end.
    pub outcome: Option<Outcome>,
    /// What was counted up to the start of a window.
    earlier: Option<&'a (u64, Tally)>,
    /// The caches at the start of a window, and the reference before which that is.
    behind: Option<(u64, &'a Hierarchy)>,
}

impl Moment<'_> {
    /// How the last `window` references before this moment were answered, each counted: from the log as far as it reaches, and
    /// else from the counts at both ends, for which [`Cursor::seek_over`] must have been told of the window.
    #[must_use]
    pub fn answers(&self, window: u64) -> Answers {
        let from = self.tick.saturating_sub(window);
        let counted = self.earlier.filter(|(at, _)| *at == from);
        if let Some((_, before)) = counted.filter(|_| from < self.log.start()) {
            return self.tally.answers().clone() - before.answers();
        }
        let mut answers = self.tally.answers().none();
        self.log.add_answers(from, self.tick, &mut answers);
        answers
    }

    /// What each of [`Moment::rows`] counted in the last `window` references, at `levels` levels; `None` unless
    /// [`Cursor::seek_tallied`] was told of the window.
    #[must_use]
    pub fn shares(&self, window: u64, levels: usize) -> Option<Vec<Share>> {
        let from = self.tick.saturating_sub(window);
        let (_, before) = self.earlier.filter(|(at, _)| *at == from)?;
        Some(Share::between(before, self.tally, self.rows, levels))
    }

    /// References and demand misses by source line, in the order of [`Timeline::lines`], then those of unknown instructions: of all
    /// references before this moment. Nothing where no line was known when the trace was indexed.
    #[must_use]
    pub fn lines(&self) -> Vec<Share> {
        self.tally.lines().collect()
    }

    /// As [`Moment::lines`], of the last `window` references; `None` unless [`Cursor::seek_tallied`] was told of the window.
    #[must_use]
    pub fn lines_over(&self, window: u64) -> Option<Vec<Share>> {
        let from = self.tick.saturating_sub(window);
        let (_, before) = self.earlier.filter(|(at, _)| *at == from)?;
        Some(self.tally.lines().zip(before.lines()).map(|(now, before)| now - before).collect())
    }

    /// The caches as they were before the last `window` references, with what they had counted; `None` unless
    /// [`Cursor::seek_tallied`] was told of the window.
    #[must_use]
    pub fn state_before(&self, window: u64) -> Option<&Hierarchy> {
        let from = self.tick.saturating_sub(window);
        self.behind.filter(|(at, _)| *at == from).map(|(_, state)| state)
    }

    /// Who served the references from `from` up to this moment, by part of memory: exactly where the log reaches so far, else
    /// from the border before them to that after them.
    #[must_use]
    pub fn served_since(&self, from: u64) -> Vec<ServedBlock> {
        if from >= self.log.start() {
            let steps = self.log.steps(from, self.tick).iter();
            return self.served.of_steps(steps.filter(|step| !self.tally.answers().drops(step.kind)));
        }
        self.served.over(from..self.tick, self.len).0
    }
}

/// Stands at one tick of a timeline and moves: forward step by step where that is near, else by keyframe.
pub struct Cursor {
    timeline: Arc<Timeline>,
    tick: u64,
    before: Hierarchy,
    after: Hierarchy,
    tally: Tally,
    log: Log,
    events: Vec<Event>,
    reference: Option<Reference>,
    grain_bytes: u32,
    finders: Finders,
    behind: Option<Box<Behind>>,
    earlier: Option<(u64, Tally)>,
    /// Whether all of this is of one tick; not after the source failed on the way.
    sound: bool,
}

/// Stands at the other end of a window that is longer than the log.
struct Behind {
    tick: u64,
    state: Hierarchy,
    tally: Tally,
}

/// References past which a copy of a state takes less time than playing them.
const COPY: u64 = 4096;

impl Cursor {
    /// At the start of the trace.
    ///
    /// # Errors
    /// When the source cannot be read.
    pub fn new(timeline: Arc<Timeline>) -> Result<Self, SourceError> {
        let start = timeline.start();
        let mut cursor = Self {
            timeline: Arc::clone(&timeline),
            tick: 0,
            before: start.clone(),
            after: start.clone(),
            tally: timeline.setup.empty.clone(),
            log: Log::starting_at(0),
            events: Vec::new(),
            reference: None,
            grain_bytes: grain_bytes(start),
            finders: Finders::new(timeline.setup.regions.clone(), &timeline.setup.lines),
            behind: None,
            earlier: None,
            sound: true,
        };
        cursor.begin_step()?;
        Ok(cursor)
    }

    /// The timeline it stands in.
    #[must_use]
    pub fn timeline(&self) -> &Arc<Timeline> {
        &self.timeline
    }

    /// Goes to `tick` (clamped to the trace) with the moves of at least the `window` references before it.
    ///
    /// # Errors
    /// When the source cannot be read; the next seek then begins at a keyframe.
    pub fn seek(&mut self, tick: u64, window: u64) -> Result<Moment<'_>, SourceError> {
        self.seek_over(tick, window, window)
    }

    /// As [`Cursor::seek`], and counts how the last `counted` references were answered, however many they are: see
    /// [`Moment::answers`].
    ///
    /// # Errors
    /// As [`Cursor::seek`].
    pub fn seek_over(&mut self, tick: u64, window: u64, counted: u64) -> Result<Moment<'_>, SourceError> {
        let passed = self.pass(tick, window, counted)?;
        self.go(tick, window, passed)?;
        let from = self.tick.saturating_sub(counted);
        self.earlier = None;
        if from < self.log.start() {
            self.earlier = Some((from, self.tally_before(from)?));
        }
        Ok(self.moment())
    }

    /// As [`Cursor::seek_over`], and counts by region what those references did: see [`Moment::shares`].
    ///
    /// # Errors
    /// As [`Cursor::seek`].
    pub fn seek_tallied(&mut self, tick: u64, window: u64, counted: u64) -> Result<Moment<'_>, SourceError> {
        let passed = self.pass(tick, window, counted)?;
        self.go(tick, window, passed)?;
        let from = self.tick.saturating_sub(counted);
        self.earlier = Some((from, self.tally_before(from)?));
        Ok(self.moment())
    }

    /// Where the way to `tick` leads past the other end of its window, stops there and leaves a copy of the state: who plays on and on at a
    /// high speed plays each reference once. Whether it did so: then only `before` and the tally are of one tick.
    fn pass(&mut self, tick: u64, window: u64, counted: u64) -> Result<bool, SourceError> {
        let timeline = Arc::clone(&self.timeline);
        let tick = tick.min(timeline.len());
        let from = tick.saturating_sub(counted);
        let behind = self.behind.as_ref().map_or(0, |behind| behind.tick);
        // What is passed by logged steps is near, and so is what the other end reaches in a few steps.
        let passes = self.sound && (self.tick..=tick.saturating_sub(window)).contains(&from);
        let is_far = !(timeline.keyframe_before(from)..=from).contains(&behind) || from - behind > COPY;
        if !passes || !is_far || from == 0 || tick - self.tick <= window.saturating_add(64) {
            return Ok(false);
        }
        self.sound = false;
        self.replay_to(from, true)?;
        match &mut self.behind {
            Some(behind) => {
                behind.tick = from;
                behind.state.clone_from(&self.before);
                behind.tally.clone_from(&self.tally);
            }
            none => {
                let (state, tally) = (self.before.clone(), self.tally.clone());
                *none = Some(Box::new(Behind { tick: from, state, tally }));
            }
        }
        Ok(true)
    }

    /// What all references before `tick` did.
    fn tally_before(&mut self, tick: u64) -> Result<Tally, SourceError> {
        let timeline = Arc::clone(&self.timeline);
        let mut behind = self.behind.take().unwrap_or_else(|| {
            Box::new(Behind { tick: 0, state: timeline.start().clone(), tally: timeline.setup.empty.clone() })
        });
        let near = (timeline.keyframe_before(tick)..=tick).contains(&behind.tick);
        if !near {
            behind.tick = timeline.restore_before(tick, &mut behind.state, &mut behind.tally);
        }
        let Behind { tick: at, state, tally } = &mut *behind;
        replay(&timeline, &mut self.finders, *at..tick, state, tally)?;
        *at = tick;
        let tally = behind.tally.clone();
        self.behind = Some(behind);
        Ok(tally)
    }

    /// `passed`: only `before` and the tally are of the tick that it stands at.
    fn go(&mut self, tick: u64, window: u64, passed: bool) -> Result<(), SourceError> {
        let tick = tick.min(self.timeline.len());
        let from = tick.saturating_sub(window);
        let forward = self.log.start() <= from && self.tick <= tick;
        let sound = std::mem::replace(&mut self.sound, false) || passed;
        // Logged steps cost several plain ones: a long way is made in plain steps, or from a keyframe.
        if !sound || passed || !forward || tick - self.tick > window.saturating_add(64) {
            self.restart(from, sound)?;
        }
        while self.tick < tick {
            self.finish_step();
            self.begin_step()?;
        }
        self.log.forget_before(from);
        self.sound = true;
        Ok(())
    }

    /// The moment it stands at.
    #[must_use]
    pub fn moment(&self) -> Moment<'_> {
        Moment {
            tick: self.tick,
            len: self.timeline.len(),
            before: &self.before,
            after: &self.after,
            log: &self.log,
            flows: self.timeline.flows(),
            served: self.timeline.served(),
            tally: &self.tally,
            rows: self.timeline.rows(),
            reference: self.reference,
            events: &self.events,
            outcome: self.timeline.outcomes().and_then(|o| o.get(self.tick)),
            earlier: self.earlier.as_ref(),
            behind: self.behind.as_ref().filter(|_| self.earlier.is_some()).map(|behind| (behind.tick, &behind.state)),
        }
    }

    /// Puts the state before reference `tick` in place, by plain replay, and starts the log there.
    fn restart(&mut self, tick: u64, sound: bool) -> Result<(), SourceError> {
        self.replay_to(tick, sound)?;
        self.after.clone_from(&self.before);
        self.log = Log::starting_at(tick);
        self.begin_step()
    }

    /// Brings `before` and the tally to `tick` by plain replay, from where they are or from a keyframe.
    fn replay_to(&mut self, tick: u64, sound: bool) -> Result<(), SourceError> {
        let timeline = Arc::clone(&self.timeline);
        let near = sound && self.tick <= tick && self.tick >= timeline.keyframe_before(tick);
        let at = if near { self.tick } else { timeline.restore_before(tick, &mut self.before, &mut self.tally) };
        replay(&timeline, &mut self.finders, at..tick, &mut self.before, &mut self.tally)?;
        self.tick = tick;
        Ok(())
    }

    /// Runs the reference at `tick` in `after` and logs what it moves. `before` and `after` are equal when called.
    fn begin_step(&mut self) -> Result<(), SourceError> {
        self.events.clear();
        self.reference = None;
        let Some(reference) = self.timeline.reference(self.tick)? else { return Ok(()) };
        self.reference = Some(reference);
        let mut watch = Watch::default();
        self.after.access(&reference, &mut (&mut watch, &mut self.events));
        let region = self.finders.regions.locate(reference.addr, self.tick).region;
        self.log.begin(&reference, region, Marks::of(&watch));
        self.log_moves();
        self.log_pages();
        Ok(())
    }

    /// Lets `before` catch up with `after`.
    fn finish_step(&mut self) {
        if let Some(reference) = self.reference.take() {
            let mut watch = Watch::default();
            self.before.access(&reference, &mut watch);
            self.finders.add(&mut self.tally, &reference, self.tick, &watch);
        }
        self.tick += 1;
    }

    fn log_pages(&mut self) {
        if self.before.tlbs().is_empty() {
            return;
        }
        for Translation { page, core, missed, hit } in translations(&self.events) {
            for at in missed.into_iter().filter_map(|tlb| self.before.tlbs().find(tlb, core)) {
                let tlb = u16::try_from(at).unwrap_or(u16::MAX);
                self.log.add_page(PageFill { tick: self.tick, tlb, page: page.0, walked: hit.is_none() });
            }
        }
    }

    fn log_moves(&mut self) {
        // A hit on the head of a list moves nothing: so do most references.
        if let [Event::Access { cache, line, set, .. }] = self.events[..]
            && self.ages(cache)
            && self.before.rank(cache, line) == Some((set, 0))
        {
            return;
        }
        let mut seen = SeenGrains::default();
        let disordered = self.disordered();
        for at in 0..self.events.len() {
            let (cache, line) = match self.events[at] {
                // A miss renews its line too where only a sector was not there.
                Event::Access { cache, line, set, .. } => {
                    let rank = |h: &Hierarchy| h.rank(cache, line).map(|(_, rank)| rank);
                    // What was not there is told by its fill, after the victim: moves stay in the order of events.
                    let Some(old) = rank(&self.before) else { continue };
                    if !disordered.contains(&(cache, set))
                        && let Some(new) = rank(&self.after)
                        && old > new
                    {
                        self.touch(cache, set, old);
                    }
                    (cache, line)
                }
                Event::Fill { cache, line, set, .. } => {
                    if !disordered.contains(&(cache, set)) {
                        let ways = self.before.geometry(cache).ways;
                        let valid = u32::try_from(self.before.order(cache, set).count()).unwrap_or(u32::MAX);
                        self.touch(cache, set, valid.min(ways - 1));
                    }
                    (cache, line)
                }
                Event::Invalidate { cache, line, .. }
                | Event::Renew { cache, line, .. }
                | Event::Evict { cache, line, .. } => (cache, line),
                _ => continue,
            };
            self.log_line(cache, line, &mut seen);
        }
        for (cache, set) in disordered {
            self.log.add_touch(Touch { tick: self.tick, cache: cache.0, set: set.0, shifted: 0 });
            let lines: Vec<LineAddr> = self.after.order(cache, set).map(|resident| resident.line).collect();
            for line in lines {
                if self.before.rank(cache, line) != self.after.rank(cache, line) {
                    self.log_line(cache, line, &mut seen);
                }
            }
        }
    }

    /// Sets whose order changes in another way than by ageing: of policies that are no such lists, or a line was removed.
    fn disordered(&self) -> BTreeSet<(CacheId, SetIndex)> {
        let disordered = |event: &Event| match *event {
            Event::Access { cache, set, .. } | Event::Fill { cache, set, .. } => {
                (!self.ages(cache)).then_some((cache, set))
            }
            Event::Invalidate { cache, set, .. } | Event::Renew { cache, set, .. } => Some((cache, set)),
            _ => None,
        };
        self.events.iter().filter_map(disordered).collect()
    }

    /// Whether a cache's sets are lists from the most recent to the next victim, so that a hit or a fill makes those
    /// before it older by one slot.
    fn ages(&self, cache: CacheId) -> bool {
        let level = self.before.info(cache).level.index();
        self.before.config().levels[level].policy.about().ages
    }

    /// Logs what a line's grains did to their innermost place, once a grain.
    fn log_line(&mut self, cache: CacheId, line: LineAddr, seen: &mut SeenGrains) {
        let bytes = self.before.geometry(cache).line_bytes;
        let first = line.base(bytes).0 / u64::from(self.grain_bytes);
        for grain in first..first.saturating_add(u64::from(bytes / self.grain_bytes)) {
            if !seen.insert(grain) {
                continue;
            }
            let place = |h: &Hierarchy| innermost(h, grain, self.grain_bytes);
            let (from, to) = (place(&self.before), place(&self.after));
            if from != to {
                self.log.add_move(Move { tick: self.tick, grain, from, to });
            }
        }
    }

    fn touch(&mut self, cache: CacheId, set: SetIndex, shifted: u32) {
        if shifted > 0 {
            self.log.add_touch(Touch { tick: self.tick, cache: cache.0, set: set.0, shifted });
        }
    }
}

/// Grains that one step has told of. Most steps have one or two, a reference of 1 MiB up to 131,072.
#[derive(Default)]
struct SeenGrains {
    few: [u64; 8],
    count: usize,
    more: BTreeSet<u64>,
}

impl SeenGrains {
    /// Adds one; whether it was not there.
    fn insert(&mut self, grain: u64) -> bool {
        if self.few[..self.count].contains(&grain) {
            return false;
        }
        if let Some(free) = self.few.get_mut(self.count) {
            (*free, self.count) = (grain, self.count + 1);
            return true;
        }
        self.more.insert(grain)
    }
}

/// Plays some references in the plain way.
fn replay(
    timeline: &Timeline,
    finders: &mut Finders,
    references: Range<u64>,
    state: &mut Hierarchy,
    tally: &mut Tally,
) -> Result<(), SourceError> {
    let mut at = references.start;
    while at < references.end {
        let some = timeline.piece(at..references.end)?;
        state.play(&some, &mut Count::new(finders, tally, None, at));
        at += some.len() as u64;
    }
    Ok(())
}

/// Smallest line size of the hierarchy: the unit in which places are told.
#[must_use]
pub fn grain_bytes(hierarchy: &Hierarchy) -> u32 {
    hierarchy.caches().map(|cache| hierarchy.geometry(cache).line_bytes).min().unwrap_or(64)
}

/// The levels of a hierarchy, innermost first.
pub fn levels(hierarchy: &Hierarchy) -> impl Iterator<Item = LevelId> + use<> {
    (0..u8::try_from(hierarchy.levels()).unwrap_or(u8::MAX)).map(LevelId)
}

/// Innermost place of a grain: where several caches of a ring hold it, in the first of them.
#[must_use]
pub fn innermost(hierarchy: &Hierarchy, grain: u64, grain_bytes: u32) -> Place {
    let addr: Addr = LineAddr(grain).base(grain_bytes);
    let mut best: Option<(u8, Place)> = None;
    for cache in hierarchy.caches() {
        let depth = hierarchy.info(cache).depth;
        if best.is_some_and(|(nearest, _)| nearest <= depth) {
            continue;
        }
        if let Some((set, rank)) = hierarchy.rank(cache, addr.line(hierarchy.geometry(cache).line_bytes)) {
            best = Some((depth, Place::Slot { depth, cache: cache.0, set: set.0, rank }));
        }
    }
    best.map_or(Place::Home, |(_, place)| place)
}
