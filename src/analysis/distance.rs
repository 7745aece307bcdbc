//! Stack distances, exact.

use super::histogram::Histogram;
use super::last::LastTouch;
use super::recency::Recency;
use super::touch::Touches;
use crate::reference::Reference;
use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

/// The distance of a line's first touch.
pub const COLD: Option<u32> = None;

/// Stack distances of the touches of one stream: how many other lines were touched since the line's touch before (Mattson, Gecsei,
/// Slutz and Traiger, "Evaluation techniques for storage hierarchies", 1970). A fully associative LRU cache of `n` lines hits where the
/// distance is below `n`, so one pass tells the misses of every such cache.
///
/// Time: a few dozen steps a touch, fewer for near reuse. Memory: some 8 bytes a line, and 8 for each distance up to the longest.
/// Serializes as `{"line", "accesses", "cold", "histogram": [[distance, count], ...]}`.
#[derive(Clone, Debug)]
pub struct StackDistances {
    touches: Touches,
    stack: Stack,
    histogram: Histogram,
    accesses: u64,
}

/// The stack itself: lines by their last touch.
#[derive(Clone, Debug)]
pub(super) struct Stack {
    last: LastTouch,
    recency: Recency,
    /// The line of the newest touch.
    newest: Option<u64>,
}

impl Stack {
    pub(super) fn new() -> Self {
        Self { last: LastTouch::new(), recency: Recency::new(), newest: None }
    }

    /// Lines that were touched.
    pub(super) fn lines(&self) -> u64 {
        self.recency.live() as u64
    }

    /// Touches a line and tells its distance.
    #[inline]
    pub(super) fn touch(&mut self, line: u64) -> Option<u32> {
        if self.newest == Some(line) {
            return Some(0);
        }
        self.newest = Some(line);
        if self.recency.is_full() {
            let renumbering = self.recency.make_room();
            self.last.renumber(|moment| renumbering.of(moment));
        }
        let before = self.last.exchange(line, self.recency.moment());
        self.recency.touch(before)
    }
}

impl StackDistances {
    /// Nothing touched yet.
    #[must_use]
    pub fn new(touches: Touches) -> Self {
        Self { touches, stack: Stack::new(), histogram: Histogram::dense(), accesses: 0 }
    }

    /// Plays references, in their order.
    pub fn play(&mut self, references: &[Reference]) {
        let touches = self.touches;
        for reference in references {
            touches.each(reference, |line| {
                self.touch(line);
            });
        }
    }

    /// Touches one line and tells its distance: [`COLD`] at the first touch.
    #[inline]
    pub fn touch(&mut self, line: u64) -> Option<u32> {
        self.accesses += 1;
        let distance = self.stack.touch(line);
        if let Some(distance) = distance {
            self.histogram.add(distance);
        }
        distance
    }

    /// Touches so far.
    #[must_use]
    pub fn accesses(&self) -> u64 {
        self.accesses
    }

    /// First touches, which are as many as there are lines.
    #[must_use]
    pub fn cold(&self) -> u64 {
        self.stack.lines()
    }

    /// How often each distance occurred.
    #[must_use]
    pub fn histogram(&self) -> &Histogram {
        &self.histogram
    }

    /// Misses of a fully associative LRU cache of so many lines.
    #[must_use]
    pub fn misses(&self, lines: u64) -> u64 {
        self.cold() + self.histogram.at_least(lines)
    }

    /// Misses of caches of 0, 1, 2, ... lines, each where they change: a pair of the least number of lines, and the misses. The
    /// first is of no lines at all, the last of the least cache that misses first touches only.
    #[must_use]
    pub fn miss_curve(&self) -> Vec<(u64, u64)> {
        miss_curve(&self.histogram, self.accesses)
    }
}

/// See [`StackDistances::miss_curve`]; `accesses` with the first touches.
pub(super) fn miss_curve(histogram: &Histogram, accesses: u64) -> Vec<(u64, u64)> {
    let mut misses = accesses;
    let mut curve = vec![(0, accesses)];
    for (distance, count) in histogram.pairs() {
        misses -= count;
        curve.push((u64::from(distance) + 1, misses));
    }
    curve
}

impl Serialize for StackDistances {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("StackDistances", 4)?;
        out.serialize_field("line", &self.touches.line_bytes())?;
        out.serialize_field("accesses", &self.accesses)?;
        out.serialize_field("cold", &self.cold())?;
        out.serialize_field("histogram", &self.histogram)?;
        out.end()
    }
}
