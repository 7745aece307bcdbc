//! Clocks: what a second of a clip stands for. Each is a map between positions in the trace and times of its own, made of the
//! trace and its caches alone; it never reads a real clock.
//!
//! ```text
//! references  a a a M a a M a        M = misses in the innermost level, a = hits
//! references  1 1 1 1 1 1 1 1        each takes as long as any other
//! misses      . . . # . . # .        each miss takes one unit: a quarter for the hits before it, the rest for itself
//! cycles      4 4 4 200 4 4 12 4     each takes as long as the level that serves it needs to answer
//! adaptive    - = # # # # # =        slow near misses, fast through hits
//! ```
//!
//! Of traces too long for [`Outcomes`](super::Outcomes), only the sums of the [`Summary`](super::Summary) are known: there a
//! clock is steady within each of its spans.

use super::Timeline;
use crate::axis::{Axis, AxisUnit, Position};
use crate::sim::config::{HierarchyConfig, Holds};
use std::sync::Arc;

/// What a clock counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClockKind {
    /// References.
    #[default]
    References,
    /// Misses of the innermost level.
    Misses,
    /// Cycles until an answer, by the latencies of the configuration.
    Cycles,
    /// References, slower near misses: the mean speed is that of [`ClockKind::References`].
    Adaptive,
}

impl ClockKind {
    /// All, in the order in which a key goes through them.
    pub const ALL: [Self; 4] = [Self::References, Self::Misses, Self::Cycles, Self::Adaptive];

    /// Its name on the command line and the screen.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::References => "references",
            Self::Misses => "misses",
            Self::Cycles => "cycles",
            Self::Adaptive => "adaptive",
        }
    }

    /// The unit of its speeds.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Self::References => "references/s",
            Self::Misses => "misses/s",
            Self::Cycles => "cycles/s",
            Self::Adaptive => "references/s on average",
        }
    }

    /// The unit where there is little room.
    #[must_use]
    pub fn short_unit(self) -> &'static str {
        match self {
            Self::References => "refs/s",
            Self::Misses => "misses/s",
            Self::Cycles => "cycles/s",
            Self::Adaptive => "refs/s, mean",
        }
    }

    /// The next one.
    #[must_use]
    pub fn next(self) -> Self {
        let at = Self::ALL.iter().position(|kind| *kind == self).unwrap_or(0);
        Self::ALL[(at + 1) % Self::ALL.len()]
    }
}

/// References between two knots, where each one's outcome is known.
const SPAN: u64 = 256;
/// Of the time of a miss, what the hits before it take.
const HITS: f64 = 0.25;
/// References from a miss within which it slows others down: further ones go [`FASTEST`] times as fast as it.
const NEAR: u64 = 10;
/// See [`NEAR`].
const FASTEST: f64 = 32.0;

/// A strictly increasing map between positions of an axis and times.
pub struct Clock {
    kind: ClockKind,
    /// Ticks of the axis.
    len: u64,
    /// What knots are made of; `None` = times are positions.
    timeline: Option<Arc<Timeline>>,
    /// References between two knots.
    span: u64,
    /// Times at which spans of references begin, then that of the end. Empty where times are positions.
    knots: Vec<f64>,
    /// By the level that served, the last for memory: cycles.
    cycles: Vec<f64>,
    /// Of the adaptive clock: the time of a reference by the references to the nearest miss, 0 to [`NEAR`].
    slowness: Vec<f64>,
    /// What times are multiplied with.
    scale: f64,
}

impl Clock {
    /// A clock that any axis has: each tick takes as long as any other, and times are ticks.
    #[must_use]
    pub fn steady(axis: Axis) -> Self {
        Self {
            kind: ClockKind::References,
            len: axis.len,
            timeline: None,
            span: SPAN,
            knots: Vec::new(),
            cycles: Vec::new(),
            slowness: Vec::new(),
            scale: 1.0,
        }
    }

    /// A clock for a trace.
    #[must_use]
    pub fn new(kind: ClockKind, timeline: &Arc<Timeline>) -> Self {
        let config = timeline.config();
        let mut cycles: Vec<f64> = config.levels.iter().map(|level| f64::from(level.latency)).collect();
        cycles.push(f64::from(config.memory.latency));
        let slowness = (0..=NEAR).map(|d| FASTEST.powf(-(d as f64) / NEAR as f64)).collect();
        let steady = Self::steady(Axis::whole(AxisUnit::References, timeline.len()));
        if kind == ClockKind::References || timeline.is_empty() {
            return Self { kind, ..steady };
        }
        let mut clock = Self { kind, timeline: Some(Arc::clone(timeline)), cycles, slowness, ..steady };
        clock.knots = match (timeline.outcomes().is_some(), kind) {
            (false, _) => clock.knots_of_sums(timeline, config),
            (true, ClockKind::Misses) => clock.knots_of_misses(timeline),
            (true, _) => clock.knots_of_weights(),
        };
        if kind == ClockKind::Adaptive {
            clock.scale = timeline.len() as f64 / clock.knots.last().copied().unwrap_or(1.0);
        }
        clock
    }

    /// What it counts.
    #[must_use]
    pub fn kind(&self) -> ClockKind {
        self.kind
    }

    /// The time of the end of the trace.
    #[must_use]
    pub fn len(&self) -> f64 {
        self.at(Position::at(self.len))
    }

    /// Whether the axis has no tick.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The time of a position, which is clamped to the axis.
    #[must_use]
    pub fn at(&self, position: Position) -> f64 {
        let position = position.min(Position::at(self.len));
        let Some(last) = self.knots.last() else { return position.since(Position::START) };
        let tick = position.tick();
        if tick >= self.len {
            return last * self.scale;
        }
        let span = usize::try_from(tick / self.span).unwrap_or(usize::MAX);
        let mut time = self.knots[span];
        for (weight, reference) in self.weights(span).zip(span as u64 * self.span..) {
            time += weight * position.since(Position::at(reference)).clamp(0.0, 1.0);
        }
        time.min(self.knots[span + 1]) * self.scale
    }

    /// The position at a time, which is clamped to the axis.
    #[must_use]
    pub fn position(&self, time: f64) -> Position {
        let end = Position::at(self.len);
        let time = (time / self.scale).max(0.0);
        let Some(last) = self.knots.last() else { return Position::of(time).min(end) };
        if time >= *last {
            return end;
        }
        let span = self.knots.partition_point(|knot| *knot <= time) - 1;
        let (mut left, mut tick) = (time - self.knots[span], span as u64 * self.span);
        for weight in self.weights(span) {
            if left < weight {
                return Position::at(tick).plus(left / weight).min(end);
            }
            left -= weight;
            tick += 1;
        }
        Position::at(tick).min(end)
    }

    /// The time that passes between two positions.
    #[must_use]
    pub fn between(&self, from: Position, to: Position) -> f64 {
        if self.knots.is_empty() { to.since(from) } else { self.at(to) - self.at(from) }
    }

    /// The position so much time after another.
    #[must_use]
    pub fn ahead(&self, position: Position, time: f64) -> Position {
        if self.knots.is_empty() {
            return position.plus(time).min(Position::at(self.len));
        }
        self.position(self.at(position) + time)
    }

    /// Ticks a second about a position, at a speed in units of the clock: the mean of a second.
    #[must_use]
    pub fn rate(&self, position: Position, speed: f64) -> f64 {
        if self.knots.is_empty() {
            return speed;
        }
        let (time, len) = (self.at(position), self.len());
        let from = (time - speed / 2.0).clamp(0.0, (len - speed).max(0.0));
        let to = (from + speed).min(len);
        let ticks = self.position(to).since(self.position(from));
        ticks * speed / (to - from).max(f64::MIN_POSITIVE)
    }

    /// The first reference of a span, and one past its last.
    fn range(&self, span: usize) -> (u64, u64) {
        let from = span as u64 * self.span;
        (from, (from + self.span).min(self.len))
    }

    fn spans(&self) -> usize {
        usize::try_from(self.len.div_ceil(self.span)).unwrap_or(usize::MAX)
    }

    /// Times of the references of a span, whose knots are known (but for cycles and the adaptive clock, which need none).
    fn weights(&self, span: usize) -> Box<dyn Iterator<Item = f64> + '_> {
        let (from, to) = self.range(span);
        let count = usize::try_from(to - from).unwrap_or(0);
        let Some(outcomes) = self.timeline.as_ref().and_then(|timeline| timeline.outcomes()) else {
            let weight = (self.knots[span + 1] - self.knots[span]) / (to - from) as f64;
            return Box::new(std::iter::repeat_n(weight, count));
        };
        let missed = move |tick: u64| outcomes.get(tick).is_some_and(super::Outcome::missed);
        match self.kind {
            ClockKind::References => Box::new(std::iter::repeat_n(1.0, count)),
            ClockKind::Cycles => {
                let served = move |tick| outcomes.get(tick).map_or(0, super::Outcome::served_by);
                Box::new((from..to).map(move |tick| self.cycles[served(tick).min(self.cycles.len() - 1)]))
            }
            ClockKind::Adaptive => {
                // References to the nearest miss, from both sides.
                let mut apart = vec![NEAR; count];
                let before = from.saturating_sub(NEAR)..from;
                let mut since = before.rev().zip(0..).find(|(tick, _)| missed(*tick)).map_or(NEAR, |(_, d)| d);
                for (tick, apart) in (from..to).zip(&mut apart) {
                    since = if missed(tick) { 0 } else { (since + 1).min(NEAR) };
                    *apart = since;
                }
                let after = to..to.saturating_add(NEAR);
                let mut until = after.zip(0..).find(|(tick, _)| missed(*tick)).map_or(NEAR, |(_, d)| d);
                for (tick, apart) in (from..to).rev().zip(apart.iter_mut().rev()) {
                    until = if missed(tick) { 0 } else { (until + 1).min(NEAR) };
                    *apart = until.min(*apart);
                }
                Box::new(apart.into_iter().map(|d| self.slowness[usize::try_from(d).unwrap_or(0)]))
            }
            ClockKind::Misses => {
                // The time of the span's start tells what the hits before its first miss have left of their share.
                let mut time = self.knots[span];
                let mut weights = Vec::with_capacity(count);
                let mut hits = 0u32;
                for tick in from..to {
                    if !missed(tick) {
                        hits += 1;
                        continue;
                    }
                    let share = if hits > 0 { (time.round() + HITS - time) / f64::from(hits) } else { 0.0 };
                    weights.extend(std::iter::repeat_n(share, hits as usize));
                    time += share * f64::from(hits);
                    let whole = (time - HITS).round() + 1.0;
                    weights.push(whole - time);
                    (time, hits) = (whole, 0);
                }
                let share = (self.knots[span + 1] - time) / f64::from(hits.max(1));
                weights.extend(std::iter::repeat_n(share, hits as usize));
                Box::new(weights.into_iter())
            }
        }
    }

    fn knots_of_weights(&self) -> Vec<f64> {
        let mut knots = vec![0.0];
        let mut time = 0.0;
        for span in 0..self.spans() {
            time += self.weights(span).sum::<f64>();
            knots.push(time);
        }
        knots
    }

    /// Gap by gap: hits share their quarter, however many they are.
    fn knots_of_misses(&self, timeline: &Timeline) -> Vec<f64> {
        let (len, outcomes) = (self.len, timeline.outcomes());
        let missed = |tick: u64| outcomes.and_then(|o| o.get(tick)).is_some_and(super::Outcome::missed);
        let mut knots = Vec::with_capacity(self.spans() + 1);
        let (mut from, mut misses) = (0, 0.0);
        while from < len {
            let miss = (from..len).find(|tick| missed(*tick));
            let to = miss.unwrap_or(len);
            // Spans that begin among these hits, or with the miss.
            let mut start = from.next_multiple_of(self.span);
            while start < to || miss == Some(start) {
                let share = if to > from { HITS * (start - from) as f64 / (to - from) as f64 } else { 0.0 };
                knots.push(misses + share);
                start += self.span;
            }
            misses += if miss.is_some() { 1.0 } else { HITS };
            from = to + 1;
        }
        knots.push(misses);
        knots
    }

    /// By the sums of the summary's spans.
    fn knots_of_sums(&mut self, timeline: &Timeline, config: &HierarchyConfig) -> Vec<f64> {
        let summary = timeline.summary();
        self.span = summary.span();
        let levels = &config.levels;
        let latency = |level: Option<usize>| level.map_or(config.memory.latency, |level| levels[level].latency);
        let serves = |level: usize, holds: Holds| {
            let other = levels[level].holds;
            other == Holds::Unified || holds == Holds::Unified || other == holds
        };
        let innermost: Vec<usize> =
            (0..levels.len()).filter(|&level| (0..level).all(|inner| !serves(level, levels[inner].holds))).collect();
        let first = f64::from(innermost.iter().map(|&level| levels[level].latency).min().unwrap_or(latency(None)));
        let mut knots = vec![0.0];
        let mut time = 0.0;
        for span in 0..self.spans() {
            let (from, to) = self.range(span);
            let misses = summary.bucket(span);
            let missed: f64 = innermost.iter().map(|&level| misses[level] as f64).sum();
            let references = (to - from) as f64;
            time += match self.kind {
                ClockKind::References => references,
                ClockKind::Misses => missed.max(HITS),
                ClockKind::Adaptive => missed + (references - missed).max(0.0) / FASTEST,
                ClockKind::Cycles => (0..levels.len()).fold(references * first, |sum, level| {
                    let outer = (level + 1..levels.len()).find(|&outer| serves(outer, levels[level].holds));
                    let more = f64::from(latency(outer)) - f64::from(levels[level].latency);
                    sum + misses[level] as f64 * more.max(0.0)
                }),
            };
            knots.push(time);
        }
        knots
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{MemoryTrace, Tables};
    use crate::sim::Hierarchy;
    use crate::sim::config::preset;
    use crate::timeline::Options;
    use crate::trace::synth;

    /// 8,448 references of a multiply in `paper`; with every outcome, or with sums alone.
    fn timeline(outcomes: bool) -> Arc<Timeline> {
        let trace = synth::matmul(16, synth::MatmulOrder::Standard);
        let trace = MemoryTrace::new(trace.references().to_vec(), Tables::default());
        let hierarchy = Hierarchy::new(&preset("paper").unwrap()).unwrap();
        let options = Options { outcomes_up_to: if outcomes { u64::MAX } else { 0 }, ..Options::default() };
        Arc::new(Timeline::build(Arc::new(trace), hierarchy, options, &mut |_, _| true).unwrap())
    }

    #[test]
    fn positions_and_times_are_each_other_s_inverse_and_increase() {
        for outcomes in [true, false] {
            let timeline = timeline(outcomes);
            for kind in ClockKind::ALL {
                let clock = Clock::new(kind, &timeline);
                assert_eq!((clock.at(Position::START), clock.position(0.0)), (0.0, Position::START));
                assert_eq!(clock.position(clock.len()), Position::at(8448), "{kind:?}");
                assert_eq!(clock.position(f64::INFINITY), Position::at(8448));
                let mut before = -1.0;
                for n in 0..8448 * 4 {
                    let position = Position::of(f64::from(n) / 4.0);
                    let time = clock.at(position);
                    assert!(time > before, "{kind:?} at {position}: {time} after {before}");
                    before = time;
                    let back = clock.position(time);
                    assert!(back.since(position).abs() < 1e-6, "{kind:?}: {position} is {time} is {back}");
                }
            }
        }
    }

    #[test]
    fn a_miss_takes_one_unit_and_ends_it() {
        let timeline = timeline(true);
        let clock = Clock::new(ClockKind::Misses, &timeline);
        let outcomes = timeline.outcomes().unwrap();
        let mut misses = 0.0;
        for tick in 0..8448u64 {
            let missed = outcomes.get(tick).unwrap().missed();
            misses += f64::from(u8::from(missed));
            let end = clock.at(Position::at(tick + 1));
            if missed {
                assert!((end - misses).abs() < 1e-9, "miss {misses} ends at {end}");
            } else {
                assert!(end > misses && end <= misses + HITS + 1e-9, "a hit after miss {misses} ends at {end}");
            }
        }
        assert!((clock.len() - 4896.0).abs() <= HITS, "the paper's misses: {}", clock.len());
    }

    #[test]
    fn cycles_are_latencies_of_who_serves() {
        // Of 8,448 references 4,896 miss L1.
        let timeline = timeline(true);
        let config = timeline.config();
        let [l1, l2, memory] =
            [config.levels[0].latency, config.levels[1].latency, config.memory.latency].map(f64::from);
        let outcomes = timeline.outcomes().unwrap();
        let served = |level| (0..8448).filter(|&t| outcomes.get(t).unwrap().served_by() == level).count() as f64;
        assert_eq!(served(0), 3552.0);
        let expect = served(0) * l1 + served(1) * l2 + served(2) * memory;
        assert!((Clock::new(ClockKind::Cycles, &timeline).len() - expect).abs() < 1e-6);
    }

    #[test]
    fn the_adaptive_clock_is_as_fast_on_average_and_slow_at_misses() {
        let timeline = timeline(true);
        let clock = Clock::new(ClockKind::Adaptive, &timeline);
        assert!((clock.len() - 8448.0).abs() < 1e-6);
        let outcomes = timeline.outcomes().unwrap();
        let width = |tick: u64| clock.at(Position::at(tick + 1)) - clock.at(Position::at(tick));
        let (mut misses, mut hits) = (Vec::new(), Vec::new());
        for tick in 0..8448 {
            if outcomes.get(tick).unwrap().missed() { &mut misses } else { &mut hits }.push(width(tick));
        }
        let least = misses.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(hits.iter().all(|hit| *hit < least), "no hit is as slow as a miss");
    }

    #[test]
    fn the_rate_is_the_mean_of_a_second() {
        let timeline = timeline(true);
        assert_eq!(Clock::new(ClockKind::References, &timeline).rate(Position::at(100), 8.0), 8.0);
        let clock = Clock::new(ClockKind::Misses, &timeline);
        for position in [0.0, 1.0, 4000.5, 8448.0] {
            // 1.7 references a miss, all over.
            let rate = clock.rate(Position::of(position), 100.0);
            assert!((120.0..260.0).contains(&rate), "{rate} at {position}");
        }
    }
}
