//! Buckets of a shadow's table: lines with one home, each bucket one cache line of the machine.

/// Entries of a bucket. Those whose stamp is 0 are none.
pub(super) const PLACES: usize = 5;

/// Entries with one home, and some that found theirs full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(64))]
pub(super) struct Bucket {
    pub(super) lines: [u64; PLACES],
    pub(super) stamps: [u32; PLACES],
    /// The newest stamp of entries that lie behind this bucket and whose home is here or before it.
    pub(super) passed: u32,
}

/// What a bucket has for a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Looked {
    /// Places where the line stands, as bits. A line takes the first place that is old, so that where it stands more than
    /// once (an old entry of it, or a place never used and line 0) the first is the one that is held, if any is.
    pub(super) here: u32,
    /// Places whose line is not held, as bits: those with stamps before the first that is.
    pub(super) old: u32,
    /// Whether a line that is held may lie behind the bucket.
    pub(super) goes_on: bool,
}

impl Bucket {
    /// Places where the line stands, as bits: see [`Looked::here`].
    #[inline(always)]
    pub(super) fn here(&self, line: u64) -> u32 {
        bits(self.lines.map(|here| here == line))
    }

    /// Looks for a line where stamps before `first` are not held.
    #[inline(always)]
    pub(super) fn look(&self, line: u64, first: u32) -> Looked {
        Looked {
            here: self.here(line),
            old: bits(self.stamps.map(|stamp| stamp < first)),
            goes_on: self.passed >= first,
        }
    }
}

/// As bits, the first lowest.
#[inline(always)]
fn bits(of: [bool; PLACES]) -> u32 {
    of.into_iter().rev().fold(0, |bits, one| 2 * bits + u32::from(one))
}
