//! The moves of the last references: what trails, flashes and temperatures are drawn from.

use super::answers::{Answers, Marks};
use crate::reference::{Kind, Reference};

/// Where a piece of data is innermost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// In a slot: cache, set, rank in eviction order (0 = farthest from eviction).
    Slot {
        /// Levels between its cache and the CPU: its ring.
        depth: u8,
        /// Number of its cache.
        cache: u16,
        /// Set.
        set: u32,
        /// Rank in eviction order.
        rank: u32,
    },
    /// Nowhere but in memory.
    Home,
}

impl Place {
    /// Ring from 0; `levels` for memory.
    #[must_use]
    pub fn depth(self, levels: usize) -> usize {
        match self {
            Self::Slot { depth, .. } => usize::from(depth),
            Self::Home => levels,
        }
    }
}

/// One grain (a line of the smallest line size) that changed its innermost place during a reference. Ageing by one slot
/// is not listed: a [`Touch`] tells it for a whole set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// Reference that caused it.
    pub tick: u64,
    /// Byte address divided by the smallest line size.
    pub grain: u64,
    /// Innermost place before.
    pub from: Place,
    /// Innermost place after.
    pub to: Place,
}

/// A set whose order changed: ranks `0..shifted` moved one slot outward. Where it changed in another way (a policy that is no
/// list, a line removed from the middle) `shifted` is 0 and each line's change of rank is a [`Move`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    /// Reference that caused it.
    pub tick: u64,
    /// Number of the cache.
    pub cache: u16,
    /// Set.
    pub set: u32,
    /// How many ranks aged by one slot.
    pub shifted: u32,
}

/// A page that came into a TLB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageFill {
    /// Reference that caused it.
    pub tick: u64,
    /// Number of the TLB, those of each core counted apart.
    pub tlb: u16,
    /// Page number: address divided by the page size in use.
    pub page: u64,
    /// No TLB held it: a page walk.
    pub walked: bool,
}

/// What one reference did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// First byte it touched.
    pub addr: u64,
    /// Core that made it: of a level with a cache for each core, hits and misses are of this one's.
    pub core: u16,
    /// Bit *l*: it asked level *l*, which had all of it.
    pub hits: u8,
    /// Bit *l*: it asked level *l*, which had not all of it.
    pub misses: u8,
    pub(super) kind: Kind,
    /// Number of the named region that held its first byte then.
    pub(super) region: Option<u32>,
    size: u32,
    /// Where its moves start in [`Log::moves`], absolute.
    first_move: u64,
    /// Where its touches start, absolute.
    first_touch: u64,
    /// Where its pages start, absolute.
    first_page: u64,
}

/// Consecutive steps `[start, end)` with their moves and touches. Old ones are dropped from the front.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    start: u64,
    steps: Vec<Step>,
    moves: Vec<Move>,
    touches: Vec<Touch>,
    pages: Vec<PageFill>,
    /// Moves, touches and pages dropped so far: turns absolute positions into indices.
    moves_dropped: u64,
    touches_dropped: u64,
    pages_dropped: u64,
}

fn index(absolute: u64, dropped: u64) -> usize {
    usize::try_from(absolute - dropped).unwrap_or(usize::MAX)
}

impl Log {
    /// An empty log whose first step will be `start`.
    #[must_use]
    pub fn starting_at(start: u64) -> Self {
        Self { start, ..Self::default() }
    }

    /// First reference it knows.
    #[must_use]
    pub fn start(&self) -> u64 {
        self.start
    }

    /// One past the last reference it knows.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.start + self.steps.len() as u64
    }

    /// Opens the step of the next reference, which the named region `region` holds; its moves and touches follow.
    pub(super) fn begin(&mut self, reference: &Reference, region: Option<u32>, marks: Marks) {
        let &Reference { kind, addr, size, core, .. } = reference;
        self.steps.push(Step {
            addr,
            core,
            hits: marks.asked & !marks.missed,
            misses: marks.missed,
            kind,
            region,
            size,
            first_move: self.moves_dropped + self.moves.len() as u64,
            first_touch: self.touches_dropped + self.touches.len() as u64,
            first_page: self.pages_dropped + self.pages.len() as u64,
        });
    }

    pub(super) fn add_move(&mut self, m: Move) {
        self.moves.push(m);
    }

    pub(super) fn add_touch(&mut self, t: Touch) {
        self.touches.push(t);
    }

    pub(super) fn add_page(&mut self, p: PageFill) {
        self.pages.push(p);
    }

    /// Forgets steps before `tick`, once that frees at least half of what is held.
    pub(super) fn forget_before(&mut self, tick: u64) {
        let old = usize::try_from(tick.saturating_sub(self.start)).unwrap_or(usize::MAX).min(self.steps.len());
        if old < 1024 || old * 2 < self.steps.len() {
            return;
        }
        let (moves, touches, pages) = self.bounds(old);
        self.steps.drain(..old);
        self.moves.drain(..moves);
        self.touches.drain(..touches);
        self.pages.drain(..pages);
        self.moves_dropped += moves as u64;
        self.touches_dropped += touches as u64;
        self.pages_dropped += pages as u64;
        self.start += old as u64;
    }

    /// Indices of the first move, touch and page of step `at` (or of the end).
    fn bounds(&self, at: usize) -> (usize, usize, usize) {
        self.steps.get(at).map_or((self.moves.len(), self.touches.len(), self.pages.len()), |s| {
            let touch = index(s.first_touch, self.touches_dropped);
            (index(s.first_move, self.moves_dropped), touch, index(s.first_page, self.pages_dropped))
        })
    }

    fn clamp(&self, from: u64, to: u64) -> (usize, usize) {
        let at = |tick: u64| usize::try_from(tick.clamp(self.start, self.end()) - self.start).unwrap_or(usize::MAX);
        (at(from), at(to).max(at(from)))
    }

    /// Steps of references `[from, to)`, as far as known.
    #[must_use]
    pub fn steps(&self, from: u64, to: u64) -> &[Step] {
        let (a, b) = self.clamp(from, to);
        &self.steps[a..b]
    }

    /// Adds how references `[from, to)` were answered, as far as known.
    pub(super) fn add_answers(&self, from: u64, to: u64, answers: &mut Answers) {
        for step in self.steps(from, to) {
            let marks = Marks { asked: step.hits | step.misses, missed: step.misses };
            answers.add(step.kind, step.size, step.core, marks);
        }
    }

    /// Moves of references `[from, to)`, in order.
    #[must_use]
    pub fn moves(&self, from: u64, to: u64) -> &[Move] {
        let (a, b) = self.clamp(from, to);
        &self.moves[self.bounds(a).0..self.bounds(b).0]
    }

    /// Touches of references `[from, to)`, in order.
    #[must_use]
    pub fn touches(&self, from: u64, to: u64) -> &[Touch] {
        let (a, b) = self.clamp(from, to);
        &self.touches[self.bounds(a).1..self.bounds(b).1]
    }

    /// Pages that references `[from, to)` brought into TLBs, in order.
    #[must_use]
    pub fn pages(&self, from: u64, to: u64) -> &[PageFill] {
        let (a, b) = self.clamp(from, to);
        &self.pages[self.bounds(a).2..self.bounds(b).2]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_forgotten_does_not_shift_what_is_kept() {
        let mut log = Log::starting_at(100);
        for tick in 100..10_100u64 {
            log.begin(&Reference::new(Kind::Read, tick, 8), None, Marks { asked: 1, missed: 0 });
            for n in 0..tick % 3 {
                log.add_move(Move { tick, grain: n, from: Place::Home, to: Place::Home });
            }
            log.add_touch(Touch { tick, cache: 0, set: 0, shifted: 1 });
            for page in 0..tick % 2 {
                log.add_page(PageFill { tick, tlb: 0, page, walked: true });
            }
        }
        let whole = log.clone();
        log.forget_before(9_000);
        assert!(log.start() > 100 && log.start() <= 9_000);
        assert_eq!(log.end(), whole.end());
        assert_eq!(log.moves(9_000, 9_500), whole.moves(9_000, 9_500));
        assert_eq!(log.pages(9_000, 9_501), whole.pages(9_000, 9_501));
        assert_eq!(log.pages(9_000, 9_501).len(), 250);
        assert_eq!(log.touches(9_000, 20_000), whole.touches(9_000, 20_000));
        assert_eq!(log.steps(9_999, 10_002).iter().map(|s| s.addr).collect::<Vec<_>>(), [9_999, 10_000, 10_001]);
        assert!(log.moves(10_100, 10_200).is_empty() && log.moves(0, 50).is_empty());
    }
}
