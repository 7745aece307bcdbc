//! Prefetchers: they watch the demand accesses of one cache and ask for lines; they never touch a set themselves.
//!
//! | Word | Asks for | Source |
//! |---|---|---|
//! | `next-line` | after a miss, and after the first use of a line it brought: the line after it | tagged prefetch: Smith 1982 |
//! | `stride` | where one instruction's addresses differ by a constant: the line of the next address, or the next line in that direction where strides are shorter | reference prediction table, 256 entries: Chen, Baer 1995 |
//! | `stream` | after three misses in a row in one direction, within 4 lines of each other: the next 4 lines | 16 streams: Palacharla, Kessler 1994; Srinath, Mutlu, Kim, Patt 2007 |
//!
//! None asks for a line in another 4 KiB page than the access it saw, as real ones, which see physical addresses, do not.
//! Instructions must be known (`pc`) for `stride`: a reference without one teaches it nothing.

use super::config::{PAGE, Prefetch};
use super::hash::LineSet;
use crate::units::{Addr, LineAddr};
use serde::{Deserialize, Serialize};

/// Lines asked for at once, at most.
const DEGREE: usize = 4;
const STRIDES: usize = 256;
const STREAMS: usize = 16;
/// Lines between neighbouring misses of a stream, at most.
const WINDOW: u64 = 4;
/// Misses in one direction after which a stream is believed in, less the first.
const CONFIRMED: u8 = 2;

/// What a demand access was to its cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trigger {
    /// It found its line, which was used before.
    Hit,
    /// It is the first use of a prefetched line.
    FirstUse,
    /// It found nothing.
    Miss,
}

/// Lines to bring in, in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Candidates {
    lines: [LineAddr; DEGREE],
    count: usize,
}

impl Candidates {
    fn push(&mut self, line: LineAddr) {
        if self.count < DEGREE {
            self.lines[self.count] = line;
            self.count += 1;
        }
    }

    pub(super) fn iter(self) -> impl Iterator<Item = LineAddr> {
        self.lines.into_iter().take(self.count)
    }
}

/// One cache's prefetcher, and what its prefetches drove out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Prefetcher {
    mechanism: Mechanism,
    /// Lines that a prefetch drove out and that have not come back.
    driven_out: LineSet,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Mechanism {
    None,
    NextLine,
    Stride(Box<[Stride]>),
    Stream { streams: Box<[Stream]>, clock: u64 },
}

/// A row of the reference prediction table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Stride {
    pc: u64,
    last: u64,
    stride: i64,
    trust: Trust,
}

/// How far a stride is trusted (Chen, Baer 1995, figure 4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Trust {
    #[default]
    Initial,
    Transient,
    Steady,
    Never,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Stream {
    last: LineAddr,
    /// 1 up, -1 down, 0 not known yet.
    direction: i64,
    confirmed: u8,
    /// When it was used last; 0 = free.
    used: u64,
}

impl Prefetcher {
    /// Whether both are of the same kind, so that one may stand in for the other.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        match (&self.mechanism, &other.mechanism) {
            (Mechanism::None, Mechanism::None) | (Mechanism::NextLine, Mechanism::NextLine) => true,
            (Mechanism::Stride(a), Mechanism::Stride(b)) => a.len() == b.len(),
            (Mechanism::Stream { streams: a, .. }, Mechanism::Stream { streams: b, .. }) => a.len() == b.len(),
            _ => false,
        }
    }

    pub(super) fn new(kind: Prefetch) -> Self {
        let mechanism = match kind {
            Prefetch::None => Mechanism::None,
            Prefetch::NextLine => Mechanism::NextLine,
            Prefetch::Stride => Mechanism::Stride(Box::new([Stride::default(); STRIDES])),
            Prefetch::Stream => Mechanism::Stream { streams: Box::new([Stream::default(); STREAMS]), clock: 0 },
        };
        Self { mechanism, driven_out: LineSet::default() }
    }

    /// Sees a demand access to `line`, at `addr`, of instruction `pc` (0 = unknown); lines have `1 << shift` bytes.
    pub(super) fn observe(&mut self, line: LineAddr, addr: Addr, pc: u64, shift: u32, trigger: Trigger) -> Candidates {
        let mut wanted = Candidates::default();
        let page = |line: LineAddr| (line.0 << shift) / u64::from(PAGE);
        let mut ask = |candidate: Option<u64>| {
            if let Some(candidate) = candidate.map(LineAddr)
                && candidate != line
                && candidate.0 <= u64::MAX >> shift
                && page(candidate) == page(line)
            {
                wanted.push(candidate);
            }
        };
        match &mut self.mechanism {
            Mechanism::None => {}
            Mechanism::NextLine => {
                if trigger != Trigger::Hit {
                    ask(line.0.checked_add(1));
                }
            }
            Mechanism::Stride(rows) => {
                if let Some(stride) = predict(rows, addr.0, pc) {
                    let bytes = 1i64 << shift;
                    let step = if stride.abs() < bytes { bytes * stride.signum() } else { stride };
                    ask(addr.0.checked_add_signed(step).map(|addr| addr >> shift));
                }
            }
            Mechanism::Stream { streams, clock } => {
                if trigger != Trigger::Hit {
                    *clock += 1;
                    let direction = follow(streams, *clock, line);
                    for ahead in (1..=4i64).filter(|_| direction != 0) {
                        ask(line.0.checked_add_signed(ahead * direction));
                    }
                }
            }
        }
        wanted
    }

    /// A line came in; `driven_out` left for it, because of a prefetch.
    pub(super) fn filled(&mut self, line: LineAddr, driven_out: Option<LineAddr>) {
        if self.mechanism == Mechanism::None {
            return;
        }
        self.driven_out.remove(line.0);
        if let Some(victim) = driven_out {
            self.driven_out.insert(victim.0);
        }
    }

    /// A demand access missed: whether that is because of a prefetch.
    pub(super) fn missed(&mut self, line: LineAddr) -> bool {
        self.driven_out.remove(line.0)
    }
}

/// The stride of an instruction, if it is steady.
fn predict(rows: &mut [Stride], addr: u64, pc: u64) -> Option<i64> {
    if pc == 0 {
        return None;
    }
    let row = &mut rows[usize::try_from((pc ^ (pc >> 8)) % STRIDES as u64).unwrap_or(0)];
    if row.pc != pc {
        *row = Stride { pc, last: addr, stride: 0, trust: Trust::Initial };
        return None;
    }
    if addr == row.last {
        // A read and the write of the same datum: no step.
        return None;
    }
    let step = addr.wrapping_sub(row.last).cast_signed();
    row.last = addr;
    row.trust = match (row.trust, step == row.stride) {
        (Trust::Never, true) => Trust::Transient,
        (_, true) => Trust::Steady,
        (Trust::Steady, false) => Trust::Initial,
        (Trust::Initial, false) => Trust::Transient,
        (Trust::Transient | Trust::Never, false) => Trust::Never,
    };
    // A steady row keeps its stride through one odd step.
    if row.trust != Trust::Initial {
        row.stride = step;
    }
    (row.trust == Trust::Steady).then_some(step)
}

/// Adds a miss to its stream; gives the direction of a stream that is confirmed, else 0.
fn follow(streams: &mut [Stream], clock: u64, line: LineAddr) -> i64 {
    let near = |stream: &&mut Stream| {
        let sign = if line > stream.last { 1 } else { -1 };
        let distance = line.0.abs_diff(stream.last.0);
        stream.used > 0 && (1..=WINDOW).contains(&distance) && (stream.direction == 0 || stream.direction == sign)
    };
    if let Some(stream) = streams.iter_mut().find(near) {
        stream.direction = if line > stream.last { 1 } else { -1 };
        stream.confirmed = (stream.confirmed + 1).min(CONFIRMED);
        (stream.last, stream.used) = (line, clock);
        return if stream.confirmed == CONFIRMED { stream.direction } else { 0 };
    }
    if let Some(oldest) = streams.iter_mut().min_by_key(|stream| stream.used) {
        *oldest = Stream { last: line, direction: 0, confirmed: 0, used: clock };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a prefetcher asks for at each access: (byte address, pc, trigger).
    fn check(kind: Prefetch, accesses: &[(u64, u64, Trigger)], expect: &[&[u64]]) {
        let mut prefetcher = Prefetcher::new(kind);
        for (&(addr, pc, trigger), expect) in accesses.iter().zip(expect) {
            let asked = prefetcher.observe(LineAddr(addr >> 6), Addr(addr), pc, 6, trigger);
            let asked: Vec<u64> = asked.iter().map(|line| line.0).collect();
            assert_eq!(asked, *expect, "{kind:?} at {addr:#x}");
        }
        assert_eq!(accesses.len(), expect.len());
    }

    #[test]
    fn next_line_follows_misses_and_first_uses_within_a_page() {
        use Trigger::{FirstUse, Hit, Miss};
        let accesses =
            [(0, 0, Miss), (8, 0, Hit), (64, 0, FirstUse), (64, 0, Hit), (4032, 0, Miss), (u64::MAX, 0, Miss)];
        check(Prefetch::NextLine, &accesses, &[&[1], &[], &[2], &[], &[], &[]]);
    }

    #[test]
    fn stride_needs_two_equal_steps_of_one_instruction() {
        use Trigger::{Hit, Miss};
        // Steps of 256 by pc 7, disturbed by pc 8; then one odd step, which a steady row forgives.
        let accesses = [
            (0, 7, Miss),
            (256, 7, Miss),
            (64, 8, Miss),
            (512, 7, Miss),
            (768, 7, Miss),
            (2048, 7, Miss),
            (2304, 7, Hit),
        ];
        check(Prefetch::Stride, &accesses, &[&[], &[], &[], &[12], &[16], &[], &[40]]);
        // Steps shorter than a line ask for the next line; downwards too; unknown instructions for nothing.
        check(Prefetch::Stride, &[(800, 1, Hit), (792, 1, Hit), (784, 1, Hit)], &[&[], &[], &[11]]);
        check(Prefetch::Stride, &[(0, 0, Miss), (64, 0, Miss), (128, 0, Miss)], &[&[], &[], &[]]);
    }

    #[test]
    fn a_stream_is_believed_in_after_three_misses() {
        use Trigger::{FirstUse, Hit, Miss};
        let accesses =
            [(0, 0, Miss), (64, 0, Miss), (128, 0, Miss), (160, 0, Hit), (192, 0, FirstUse), (3968, 0, Miss)];
        check(Prefetch::Stream, &accesses, &[&[], &[], &[3, 4, 5, 6], &[], &[4, 5, 6, 7], &[]]);
        let down = [(1024, 0, Miss), (960, 0, Miss), (896, 0, Miss)];
        check(Prefetch::Stream, &down, &[&[], &[], &[13, 12, 11, 10]]);
        // To and fro is no stream.
        let around = [(1024, 0, Miss), (960, 0, Miss), (1088, 0, Miss), (1024, 0, Miss)];
        check(Prefetch::Stream, &around, &[&[], &[], &[], &[]]);
    }
}
