//! Counts by region, by source line and by span of time, while many references are played at once.

use super::answers::Marks;
use super::flows::Flows;
use super::phases::Phases;
use super::served::Served;
use super::summary::Summary;
use super::tally::{MAX_LEVELS, Tally, Watch};
use crate::reference::{LineFinder, LineMap, Reference, RegionFinder, RegionMap};
use crate::sim::{Batch, Event, Events, LevelMisses, Lists, Observer, Wants};

/// Whose a reference is.
#[derive(Clone, Debug)]
pub(super) struct Finders {
    /// By address, the named region that holds it.
    pub(super) regions: RegionFinder,
    /// By instruction, the row of its source line.
    pub(super) lines: LineFinder,
}

impl Finders {
    /// For these regions and lines.
    pub(super) fn new(regions: RegionMap, lines: &LineMap) -> Self {
        Self { regions: RegionFinder::new(regions), lines: LineFinder::new(lines.clone()) }
    }

    /// Counts a reference that was watched; the named region that holds it.
    pub(super) fn add(&mut self, tally: &mut Tally, reference: &Reference, tick: u64, watch: &Watch) -> Option<u32> {
        let region = self.regions.locate(reference.addr, tick).region;
        let line = if tally.has_lines() { self.lines.row(reference.pc) } else { 0 };
        tally.add(reference, region.map(|region| region as usize), line, watch);
        region
    }
}

/// Counts each reference to its region and its source line, and each demand miss to the region, line and bucket of its reference. Wants to be told of
/// misses and what they move only, so that hits cost next to nothing.
pub(super) struct Count<'a> {
    finders: &'a mut Finders,
    tally: &'a mut Tally,
    over: Option<Over<'a>>,
    /// The next reference.
    tick: u64,
    /// Rows of the tally of the reference at play: its region's and its line's.
    row: usize,
    line: usize,
    /// Likewise of the answers, where it goes unless it is left out, and what it did so far; `None` = no reference is at play.
    answer: Option<(usize, Option<Goes>, Marks)>,
    /// Of those that are played at once.
    rows: Vec<usize>,
    lines: Vec<usize>,
    /// Likewise: the named region of each.
    held: Vec<Option<u32>>,
}

/// A reference's first byte, and the named region that holds it.
type Goes = (u64, Option<u32>);

/// What is counted by span of time: all references are in one bucket.
pub(super) struct Over<'a> {
    pub(super) summary: &'a mut Summary,
    pub(super) flows: &'a mut Flows,
    pub(super) phases: &'a mut Phases,
    pub(super) served: &'a mut Served,
}

impl<'a> Count<'a> {
    /// From reference `tick` on.
    pub(super) fn new(finders: &'a mut Finders, tally: &'a mut Tally, over: Option<Over<'a>>, tick: u64) -> Self {
        let (rows, lines, held) = (Vec::new(), Vec::new(), Vec::new());
        Self { finders, tally, over, tick, row: 0, line: 0, answer: None, rows, lines, held }
    }

    /// All of the reference at play is told.
    #[inline(always)]
    fn answered(&mut self) {
        if let Some((row, place, marks)) = self.answer.take() {
            self.tally.answers.mark(row, marks);
            if let (Some(Over { served, .. }), Some((addr, region))) = (&mut self.over, place) {
                served.add(addr, region, marks);
            }
        }
    }

    /// Counts the next reference to its source line; that one's row.
    #[inline(always)]
    fn line(&mut self, reference: &Reference) -> usize {
        if !self.tally.has_lines() {
            return 0;
        }
        let line = self.finders.lines.row(reference.pc);
        self.tally.begin_line(reference, line)
    }

    /// Counts the next reference to its region; its row and its named region.
    #[inline(always)]
    fn next(&mut self, reference: &Reference) -> (usize, Option<u32>) {
        if let Some(Over { phases, .. }) = &mut self.over {
            phases.add(reference);
        }
        let region = self.finders.regions.locate(reference.addr, self.tick).region;
        self.tick += 1;
        (self.tally.begin(reference, region.map(|region| region as usize), &mut self.rows), region)
    }
}

impl Drop for Count<'_> {
    fn drop(&mut self) {
        self.answered();
    }
}

impl Observer for Count<'_> {
    #[inline(always)]
    fn event(&mut self, event: Event) {
        if let Some(Over { flows, .. }) = &mut self.over {
            flows.event(event);
        }
        let Event::Access { level, kind, hit, .. } = event else { return };
        if !kind.is_demand() || level.index() >= MAX_LEVELS {
            return;
        }
        if let Some((.., marks)) = &mut self.answer {
            marks.add(level.index(), hit);
        }
        if !hit {
            self.tally.miss(self.row, self.line, level.index(), 1);
            if let Some(Over { summary, .. }) = &mut self.over {
                summary.miss(level.index(), 1);
            }
        }
    }

    #[inline(always)]
    fn begin(&mut self, reference: &Reference) {
        if let Some(Over { flows, .. }) = &mut self.over {
            flows.begin(reference);
        }
        self.rows.clear();
        let (next, region) = self.next(reference);
        (self.row, self.line) = (next, self.line(reference));
        self.answered();
        let (row, _) = self.tally.answers.begin(reference.kind, reference.size, reference.core);
        let counts = !self.tally.answers.drops(reference.kind);
        self.answer = Some((row, counts.then_some((reference.addr, region)), Marks::default()));
    }

    #[inline(always)]
    fn wants(&self) -> Wants {
        let over = self.over.is_some();
        let events = if over { Events::Moves } else { Events::Misses };
        let lists = Lists { misses: true, moves: over, accesses: false };
        Wants { events, gone: over, batches: Some(lists) }
    }

    #[inline(always)]
    fn batch(&mut self, batch: &Batch<'_>) {
        if !batch.references.is_empty() {
            self.count(batch);
        }
        if let Some(Over { flows, .. }) = &mut self.over {
            flows.batch(batch);
        }
    }
}

impl Count<'_> {
    /// Counts the references of a batch.
    #[inline(always)]
    fn count(&mut self, batch: &Batch<'_>) {
        self.answered();
        self.tally.answers.batch(batch);
        self.rows.clear();
        if batch.misses.is_empty() {
            for reference in batch.references {
                let (_, region) = self.next(reference);
                self.line(reference);
                if let Some(Over { served, .. }) = &mut self.over
                    && !self.tally.answers.drops(reference.kind)
                {
                    served.add_hit(reference.addr, region, self.tally.answers.first(reference.kind));
                }
            }
            return;
        }
        self.held.clear();
        self.lines.clear();
        for reference in batch.references {
            let (row, region) = self.next(reference);
            self.rows.push(row);
            self.held.push(region);
            let line = self.line(reference);
            self.lines.push(line);
        }
        if let Some(Over { served, .. }) = &mut self.over {
            let answers = &self.tally.answers;
            let first = |reference: &Reference| (!answers.drops(reference.kind)).then(|| answers.first(reference.kind));
            served.batch(batch, &self.held, first);
        }
        for &LevelMisses { level, missed, .. } in batch.misses.iter().filter(|list| list.level.index() < MAX_LEVELS) {
            for &place in missed {
                let place = usize::from(place);
                self.tally.miss(self.rows[place], self.lines[place], level.index(), 1);
            }
            if let Some(Over { summary, .. }) = &mut self.over {
                summary.miss(level.index(), missed.len());
            }
        }
    }
}
