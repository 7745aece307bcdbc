//! What is counted of a block, and what blocks tell of their elements.

/// A kind of access: a modify is one of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GridKind {
    /// Reads.
    Reads,
    /// Writes.
    Writes,
}

/// Counts of a block in a window of slices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GridCounts {
    /// Reads by the owner.
    pub local_reads: u64,
    /// Reads by other cores.
    pub remote_reads: u64,
    /// Writes by the owner.
    pub local_writes: u64,
    /// Writes by other cores.
    pub remote_writes: u64,
    /// References that missed in the cache that is asked first; 0 where outcomes are not kept.
    pub misses: u64,
    /// Bytes read and written.
    pub bytes: u64,
    /// Times that the cache asked first gave it up for another line; 0 where that is not asked.
    pub evictions: u64,
    /// Times that a store of another core, or a cache outside, took it from there; 0 where that is not asked.
    pub invalidations: u64,
}

/// Numbers of a [`GridCounts`].
pub(super) const COLUMNS: usize = 8;

/// What blocks of several elements tell of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Aggregate {
    /// Their sum.
    #[default]
    Sum,
    /// The least that an element has.
    Min,
    /// The mean of all elements.
    Mean,
    /// The most that an element has.
    Max,
}

impl Aggregate {
    /// All, with their names.
    pub const ALL: [(Self, &'static str); 4] =
        [(Self::Sum, "sum"), (Self::Min, "min"), (Self::Mean, "mean"), (Self::Max, "max")];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(aggregate, _)| *aggregate == self).map_or("sum", |(_, name)| name)
    }

    /// Whether it needs what each element has.
    #[must_use]
    pub fn needs_elements(self) -> bool {
        matches!(self, Self::Min | Self::Max)
    }
}

impl std::fmt::Display for Aggregate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Aggregate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|(_, name)| *name == text).map(|(aggregate, _)| aggregate);
        found.ok_or_else(|| format!("found `{text}`; expected sum, min, mean or max"))
    }
}

impl GridKind {
    /// Both, with their names.
    pub const ALL: [(Self, &'static str); 2] = [(Self::Reads, "reads"), (Self::Writes, "writes")];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        if self == Self::Reads { "reads" } else { "writes" }
    }
}

impl std::str::FromStr for GridKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|(_, name)| *name == text).map(|(kind, _)| kind);
        found.ok_or_else(|| format!("found `{text}`; expected reads or writes"))
    }
}

impl GridCounts {
    pub(super) fn of(columns: [u64; COLUMNS]) -> Self {
        let [local_reads, remote_reads, local_writes, remote_writes, misses, bytes, evictions, invalidations] = columns;
        Self { local_reads, remote_reads, local_writes, remote_writes, misses, bytes, evictions, invalidations }
    }

    /// Reads and writes.
    #[must_use]
    pub fn accesses(&self) -> u64 {
        self.local_reads + self.remote_reads + self.local_writes + self.remote_writes
    }
}
