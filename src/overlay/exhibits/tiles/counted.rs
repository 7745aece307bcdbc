//! Counts of elements at a moment: kept from frame to frame, and brought to the next one by what lies between.

use crate::analysis::{ElementDistances, Elements, line_shift};
use crate::overlay::info::innermost;
use crate::overlay::studio::Studio;
use crate::reference::SourceError;
use crate::timeline::Timeline;
use std::ops::Range;

/// References that are counted at most, so that a frame stays quick: the last ones.
pub(super) const MOST: u64 = 2_000_000;
/// Where they begin moves on by so many at once.
const STEP: u64 = MOST / 8;

/// See the module.
pub(super) struct Counted {
    pub(super) elements: Elements,
    /// What they are counts of.
    range: Range<u64>,
    distances: Option<Played>,
}

/// Distances so far.
struct Played {
    all: ElementDistances,
    /// From which reference on lines were touched, from which on distances were kept, and up to which.
    from: u64,
    kept: u64,
    to: u64,
    /// What they were at the last moments that [`EACH`] divides, the newest last: who goes back goes on from there.
    before: Vec<(u64, ElementDistances)>,
}

/// References from one moment that is kept to the next.
const EACH: u64 = if cfg!(test) { 64 } else { 1 << 16 };
/// Moments that are kept.
const KEPT: usize = 3;

impl Played {
    /// Goes back to the last moment that is kept and not past `to`; whether there is one.
    fn go_back(&mut self, to: u64) -> bool {
        self.before.retain(|(at, _)| *at <= to);
        let Some((at, all)) = self.before.last() else { return false };
        (self.to, self.all) = (*at, all.clone());
        true
    }

    /// Plays up to a reference.
    fn go_on(&mut self, timeline: &Timeline, to: u64) -> Result<(), SourceError> {
        while self.to < to {
            let next = (self.to + 1).next_multiple_of(EACH).min(to);
            let Self { all, kept, .. } = self;
            timeline.each(self.to..next, |tick, reference| all.play(tick, reference, tick >= *kept))?;
            self.to = next;
            // Of a far moment only those close before it are worth their memory.
            if next.is_multiple_of(EACH) && to - next < KEPT as u64 * EACH {
                if self.before.len() == KEPT {
                    self.before.remove(0);
                }
                self.before.push((next, self.all.clone()));
            }
        }
        Ok(())
    }
}

impl Counted {
    pub(super) fn new(studio: &Studio) -> Self {
        Self { elements: Elements::new(&studio.tables().regions), range: 0..0, distances: None }
    }

    /// What of `wanted` is counted.
    pub(super) fn counts(wanted: &Range<u64>) -> Range<u64> {
        let first = wanted.end.saturating_sub(MOST).next_multiple_of(STEP);
        wanted.start.max(first).min(wanted.end)..wanted.end
    }

    /// Has the counts be those of a range.
    ///
    /// # Errors
    /// When the trace cannot be read; then nothing is counted.
    pub(super) fn count(&mut self, timeline: &Timeline, range: Range<u64>) -> Result<(), SourceError> {
        let had = self.range.clone();
        let between = had.start.abs_diff(range.start).saturating_add(had.end.abs_diff(range.end));
        self.range = 0..0;
        let done = if between > range.end - range.start {
            self.elements.clear();
            self.change(timeline, range.clone(), true)
        } else {
            self.change(timeline, had.end..range.end, true)
                .and_then(|()| self.change(timeline, range.end..had.end, false))
                .and_then(|()| self.change(timeline, range.start..had.start, true))
                .and_then(|()| self.change(timeline, had.start..range.start, false))
        };
        match done {
            Ok(()) => self.range = range,
            Err(_) => self.elements.clear(),
        }
        done
    }

    /// Adds references, or takes them back.
    fn change(&mut self, timeline: &Timeline, range: Range<u64>, adds: bool) -> Result<(), SourceError> {
        let (elements, outcomes) = (&mut self.elements, timeline.outcomes());
        timeline.each(range, |tick, reference| {
            let missed = outcomes.and_then(|all| all.get(tick)).is_some_and(|outcome| outcome.missed());
            if adds {
                elements.add(tick, reference, missed);
            } else {
                elements.take(tick, reference, missed);
            }
        })
    }

    /// Has the distances be those in a range, in lines of the innermost level. Lines that were touched before it count, as far as it is counted at all.
    ///
    /// # Errors
    /// When the trace cannot be read.
    pub(super) fn distances(&mut self, studio: &Studio, range: &Range<u64>) -> Result<(), SourceError> {
        let timeline = studio.timeline();
        let from = Self::counts(&(0..range.end)).start;
        let goes_on = |had: &mut Played| {
            had.from == from && had.kept == range.start && (had.to <= range.end || had.go_back(range.end))
        };
        if !self.distances.as_mut().is_some_and(goes_on) {
            let Some(shift) = line_shift(line_bytes(studio)) else { return Ok(()) };
            let all = ElementDistances::new(&studio.tables().regions, shift);
            self.distances = Some(Played { all, from, kept: range.start, to: from, before: Vec::new() });
        }
        let Some(played) = &mut self.distances else { return Ok(()) };
        let done = played.go_on(timeline, range.end);
        if done.is_err() {
            self.distances = None;
        }
        done
    }

    /// What [`Counted::distances`] found; `None` where lines of the innermost level are no power of two.
    pub(super) fn played(&self) -> Option<&ElementDistances> {
        self.distances.as_ref().map(|played| &played.all)
    }
}

/// Bytes of a line of the innermost level.
pub(super) fn line_bytes(studio: &Studio) -> u32 {
    let start = studio.timeline().start();
    innermost(start).next().map_or(64, |level| start.level_geometry(level).line_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::ElementCounts;
    use crate::overlay::tests::studio;

    #[test]
    fn counts_are_those_of_the_range_however_one_came_to_it() {
        let studio = studio();
        let timeline = studio.timeline();
        let mut counted = Counted::new(&studio);
        for range in [0..700u64, 0..703, 0..690, 100..690, 90..800, 400..401, 0..1000, 0..0, 0..5] {
            counted.count(timeline, range.clone()).expect("in memory");
            let mut anew = Counted::new(&studio);
            anew.count(timeline, range.clone()).expect("in memory");
            for region in 0..2 {
                let sum = |counts: &[ElementCounts]| -> (u64, u64) {
                    counts.iter().fold((0, 0), |(all, missed), c| (all + c.accesses(), missed + u64::from(c.misses)))
                };
                let own = sum(counted.elements.of(region));
                assert_eq!(own, sum(anew.elements.of(region)), "{range:?}");
                if range.start == 0 {
                    let tally = timeline.regions_over(range.clone());
                    if tally.1 == range {
                        assert_eq!(own.0, tally.0[region].references, "{range:?}");
                        assert_eq!(own.1, tally.0[region].misses[0], "{range:?}");
                    }
                }
            }
        }
        // B[0] is touched each fourth time, with a line of A in between.
        counted.distances(&studio, &(0..1000)).expect("in memory");
        let three = counted.played().expect("lines are a power of two").by_group(1, 1, Some)[0].expect("touched again");
        assert!(three[0] >= 1 && three[2] <= 2, "{three:?}");
    }

    #[test]
    fn distances_are_the_same_however_one_came_to_a_moment() {
        let studio = studio();
        let mut counted = Counted::new(&studio);
        let of = |counted: &Counted| {
            let all = counted.played().expect("lines are a power of two");
            [0, 1].map(|region| (all.first_touches(region), all.histogram(region).map(|all| all.pairs())))
        };
        // On, back by one again and again, far back, on again, from elsewhere.
        for range in [0..800u64, 0..799, 0..640, 0..639, 0..500, 0..3, 0..900, 0..831, 100..831, 100..830] {
            counted.distances(&studio, &range).expect("in memory");
            let mut anew = Counted::new(&studio);
            anew.distances(&studio, &range).expect("in memory");
            assert_eq!(of(&counted), of(&anew), "{range:?}");
            let before = &counted.distances.as_ref().expect("played").before;
            assert!(before.len() <= KEPT && before.iter().all(|(at, _)| *at <= range.end), "{range:?}");
        }
    }

    #[test]
    fn of_long_ranges_the_last_references_are_counted() {
        assert_eq!(Counted::counts(&(0..10)), 0..10);
        assert_eq!(Counted::counts(&(5..MOST)), 5..MOST);
        // Where they begin stays while the playhead moves on by a step, so that no moment counts all of them anew.
        for end in [MOST + 1, MOST + 10, MOST + STEP] {
            assert_eq!(Counted::counts(&(5..end)), STEP..end);
        }
        assert_eq!(Counted::counts(&(5..MOST + STEP + 1)).start, 2 * STEP);
    }
}
