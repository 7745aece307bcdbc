//! The life of some bytes in a trace: who touched them, where they lived, and who took their place.
//!
//! ```text
//!            touch      touch              evicted      touch
//! L1    .......=====================................=========
//! L2    ............................=================........
//! memory =======....................................
//! ```
//!
//! A life is found by playing the trace between keyframes, several stretches at once. A stretch in which nobody touches the bytes and
//! before which no cache holds them is read and not played, where no prefetcher could bring them in.

use super::cursor::{grain_bytes, innermost};
use super::tally::Watch;
use super::{Tally, Timeline};
use crate::reference::{Kind, Reference, SourceError};
use crate::sim::config::Prefetch;
use crate::sim::{Event, Hierarchy, Observer};
use crate::units::{ByteRange, CacheId, LineAddr, SetIndex};
use rayon::prelude::*;
use std::ops::Range;

/// Bytes whose life can be told, at most: so many grains are looked at after each reference that does something to them.
pub const MOST_BYTES: u64 = 4096;
/// Steps of a life that are kept, at most.
pub const MOST_STEPS: usize = 1 << 20;

/// A reference that touched the bytes, or made them live elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LifeStep {
    /// The reference.
    pub tick: u64,
    /// Its first byte.
    pub addr: u64,
    /// What it does.
    pub kind: Kind,
    /// Level that served it, where it touches the bytes; the number of levels stands for memory. `None`: it touches others.
    pub served: Option<u8>,
    /// Ring on which they were innermost before it; the number of rings stands for memory.
    pub from: u8,
    /// And after it.
    pub to: u8,
    /// First byte of the line that came to their place, where they had to go.
    pub taken_by: Option<u64>,
    /// References that touched them so far, this one too.
    pub touches: u64,
    /// Those of them that the innermost level had not.
    pub misses: u64,
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Life {
    bytes: ByteRange,
    rings: u8,
    steps: Vec<LifeStep>,
    known: u64,
    is_cut: bool,
}

impl Life {
    /// Of no reference: in memory, on a machine with so many rings.
    fn new(bytes: ByteRange, rings: u8) -> Self {
        Self { bytes, rings, steps: Vec::new(), known: 0, is_cut: false }
    }

    /// Whose life it is.
    #[must_use]
    pub fn bytes(&self) -> ByteRange {
        self.bytes
    }

    /// Rings of the machine; this number stands for memory.
    #[must_use]
    pub fn rings(&self) -> u8 {
        self.rings
    }

    /// All that happened to the bytes, in order.
    #[must_use]
    pub fn steps(&self) -> &[LifeStep] {
        &self.steps
    }

    /// References that were looked at so far, from the first on.
    #[must_use]
    pub fn known(&self) -> u64 {
        self.known
    }

    /// Whether more happens than is kept: [`MOST_STEPS`].
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Steps before reference `tick`.
    #[must_use]
    pub fn before(&self, tick: u64) -> usize {
        self.steps.partition_point(|step| step.tick < tick)
    }

    /// Ring on which they are innermost before reference `tick`; the number of rings stands for memory.
    #[must_use]
    pub fn ring_at(&self, tick: u64) -> u8 {
        self.before(tick).checked_sub(1).map_or(self.rings, |last| self.steps[last].to)
    }

    /// References before `tick` that touched them, and those of them that the innermost level had not.
    #[must_use]
    pub fn counts(&self, tick: u64) -> (u64, u64) {
        self.before(tick).checked_sub(1).map_or((0, 0), |last| (self.steps[last].touches, self.steps[last].misses))
    }

    /// The stretches of `references` that they spent on one ring, in order; of what is not known yet there is none.
    pub fn stays(&self, references: Range<u64>) -> impl Iterator<Item = (Range<u64>, u8)> + '_ {
        let end = references.end.min(self.known);
        let mut at = references.start;
        let mut ring = self.ring_at(at);
        let moves = self.steps[self.before(at)..].iter().filter(|step| step.from != step.to);
        let borders = moves.map(|step| (step.tick + 1, step.to)).chain([(u64::MAX, 0)]);
        borders.filter_map(move |(border, next)| {
            let stay = (at..border.min(end), ring);
            (at, ring) = (border.max(at), next);
            (stay.0.start < stay.0.end).then_some(stay)
        })
    }

    fn add(&mut self, mut step: LifeStep) {
        let (touches, misses) = self.steps.last().map_or((0, 0), |last| (last.touches, last.misses));
        step.touches = touches + u64::from(step.served.is_some());
        step.misses = misses + u64::from(step.misses > 0);
        self.steps.push(step);
    }
}

impl Timeline {
    /// What became of some bytes, up to the end of what is indexed. `report` gets what is known so far, from time to time, and ends it
    /// by `false`. Of more than [`MOST_BYTES`] bytes it is the life of the first of them.
    ///
    /// # Errors
    /// When the source cannot be read.
    pub fn life(&self, bytes: ByteRange, report: &mut dyn FnMut(&Life) -> bool) -> Result<Life, SourceError> {
        let bytes = ByteRange { last: bytes.last.min(bytes.first.saturating_add(MOST_BYTES - 1)), ..bytes };
        let rings = self.start().caches().map(|cache| self.start().info(cache).depth + 1).max().unwrap_or(0);
        let mut life = Life::new(bytes, rings);
        let spacing = self.spacing();
        let stretches: Vec<Range<u64>> =
            (0..self.len().div_ceil(spacing)).map(|n| n * spacing..((n + 1) * spacing).min(self.len())).collect();
        let at_once = 2 * rayon::current_num_threads();
        for some in stretches.chunks(at_once.max(1)) {
            let found: Vec<Result<Vec<LifeStep>, SourceError>> =
                some.par_iter().map(|stretch| self.lived(bytes, rings, stretch.clone())).collect();
            for (steps, stretch) in found.into_iter().zip(some) {
                for step in steps? {
                    if life.steps.len() == MOST_STEPS {
                        life.is_cut = true;
                        return Ok(life);
                    }
                    life.known = step.tick + 1;
                    life.add(step);
                }
                life.known = stretch.end;
            }
            if !report(&life) {
                break;
            }
        }
        Ok(life)
    }

    /// What became of them in a stretch that begins at a keyframe.
    fn lived(&self, bytes: ByteRange, rings: u8, stretch: Range<u64>) -> Result<Vec<LifeStep>, SourceError> {
        let mut state = Hierarchy::clone(self.start());
        let mut tally: Tally = self.setup.empty.clone();
        let mut at = self.restore_before(stretch.start, &mut state, &mut tally);
        let levels = self.config().levels.len();
        let mut watcher = Watcher::new(bytes, &state);
        // Where the keyframe could not be read, an earlier one stands in: then it is played from there.
        let is_quiet = at == stretch.start && watcher.ring(&state, rings) == rings && !self.prefetches();
        if is_quiet && !self.comes_near(&watcher, stretch.clone())? {
            return Ok(Vec::new());
        }
        let (mut ring, mut steps) = (watcher.ring(&state, rings), Vec::new());
        while at < stretch.end {
            let some = self.piece(at..stretch.end)?;
            for (reference, tick) in some.iter().zip(at..) {
                watcher.start(reference, self.drops(reference.kind));
                state.access(reference, &mut watcher);
                if !watcher.touches && !watcher.is_met {
                    continue;
                }
                let to = if watcher.is_met { watcher.ring(&state, rings) } else { ring };
                if tick >= stretch.start && (watcher.touches || to != ring) {
                    let served = watcher.touches.then(|| watcher.watch.served_by(levels));
                    steps.push(LifeStep {
                        tick,
                        addr: reference.addr,
                        kind: reference.kind,
                        served: served.and_then(|level| u8::try_from(level).ok()),
                        from: ring,
                        to,
                        taken_by: watcher.taken_by.filter(|_| to > ring),
                        touches: 0,
                        misses: u64::from(watcher.touches && watcher.watch.missed),
                    });
                }
                ring = to;
            }
            at += some.len() as u64;
        }
        Ok(steps)
    }

    /// Whether a prefetcher may bring in lines that nobody touches.
    fn prefetches(&self) -> bool {
        self.config().levels.iter().any(|level| level.prefetch != Prefetch::None)
    }

    /// Whether some reference touches a line that the bytes are in.
    fn comes_near(&self, watcher: &Watcher, stretch: Range<u64>) -> Result<bool, SourceError> {
        let mut at = stretch.start;
        while at < stretch.end {
            let some = self.piece(at..stretch.end)?;
            if some.iter().any(|reference| watcher.near.meets(touched(reference))) {
                return Ok(true);
            }
            at += some.len() as u64;
        }
        Ok(false)
    }
}

/// The bytes that a reference touches.
fn touched(reference: &Reference) -> ByteRange {
    ByteRange::new(reference.addr, u64::from(reference.size))
}

/// Sees what one reference after another does to some bytes.
struct Watcher {
    bytes: ByteRange,
    grain_bytes: u32,
    /// All bytes of the lines that they are in, at the level with the longest.
    near: ByteRange,
    /// By cache: the first and the last line that they are in.
    lines: Vec<(u64, u64)>,
    /// The reference touches them.
    touches: bool,
    /// Something happened to a line that they are in.
    is_met: bool,
    watch: Watch,
    /// Where the last of their lines had to go.
    evicted: Option<(CacheId, SetIndex)>,
    taken_by: Option<u64>,
    line_bytes: Vec<u32>,
}

impl Watcher {
    fn new(bytes: ByteRange, state: &Hierarchy) -> Self {
        let line_bytes: Vec<u32> = state.caches().map(|cache| state.geometry(cache).line_bytes).collect();
        let ends = |bytes: ByteRange, of: u32| (*bytes.lines(of).start(), *bytes.lines(of).end());
        let longest = line_bytes.iter().copied().max().unwrap_or(1);
        let (first, last) = ends(bytes, longest);
        let first = LineAddr(first).base(longest).0;
        let near = ByteRange { first, last: LineAddr(last).base(longest).0 | u64::from(longest - 1) };
        Self {
            bytes,
            grain_bytes: grain_bytes(state),
            near,
            lines: line_bytes.iter().map(|&of| ends(bytes, of)).collect(),
            touches: false,
            is_met: false,
            watch: Watch::default(),
            evicted: None,
            taken_by: None,
            line_bytes,
        }
    }

    /// The next reference; `dropped`: the caches leave it out.
    #[inline]
    fn start(&mut self, reference: &Reference, dropped: bool) {
        self.touches = !dropped && self.bytes.meets(touched(reference));
        (self.is_met, self.evicted, self.taken_by) = (false, None, None);
        if self.touches {
            self.watch = Watch::default();
        }
    }

    /// Whether some of the bytes are in a line of a cache.
    #[inline]
    fn holds(&self, cache: CacheId, line: LineAddr) -> bool {
        self.lines.get(cache.index()).is_some_and(|&(first, last)| (first..=last).contains(&line.0))
    }

    /// Ring on which some of them are innermost; `rings` = in memory.
    fn ring(&self, state: &Hierarchy, rings: u8) -> u8 {
        let depth = |grain| innermost(state, grain, self.grain_bytes).depth(usize::from(rings));
        self.bytes.lines(self.grain_bytes).map(depth).min().and_then(|depth| u8::try_from(depth).ok()).unwrap_or(rings)
    }
}

impl Observer for Watcher {
    #[inline]
    fn event(&mut self, event: Event) {
        if self.touches {
            self.watch.event(event);
        }
        let (cache, line) = match event {
            Event::Fill { cache, line, set, .. } => {
                if self.evicted == Some((cache, set)) && !self.holds(cache, line) {
                    let bytes = self.line_bytes.get(cache.index()).copied().unwrap_or(1);
                    (self.evicted, self.taken_by) = (None, Some(line.base(bytes).0));
                }
                (cache, line)
            }
            Event::Evict { cache, line, set, .. } => {
                if self.holds(cache, line) {
                    self.evicted = Some((cache, set));
                }
                (cache, line)
            }
            Event::Invalidate { cache, line, .. } | Event::Renew { cache, line, .. } => (cache, line),
            _ => return,
        };
        self.is_met |= self.holds(cache, line);
    }
}

#[cfg(test)]
mod tests;
