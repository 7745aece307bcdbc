//! What an index is of: a trace, and the caches before its first reference.

use super::Tally;
use super::chunks::ChunkCache;
use super::phase_names;
use crate::reference::{LineMap, ReferenceSource, Region, RegionMap, few_regions};
use crate::sim::Hierarchy;
use std::sync::Arc;

/// A trace and its caches, and what is counted of them. Cheap to clone, but for the tally.
#[derive(Clone)]
pub(super) struct Setup {
    pub(super) source: Arc<dyn ReferenceSource>,
    pub(super) chunks: Arc<ChunkCache>,
    /// The caches, empty.
    pub(super) start: Arc<Hierarchy>,
    /// The regions that are counted: those that the trace named at the start.
    pub(super) named: Arc<[Region]>,
    /// Finds one of [`Setup::named`].
    pub(super) regions: RegionMap,
    /// The source lines that are counted: likewise.
    pub(super) lines: LineMap,
    /// The counts before the first reference.
    pub(super) empty: Tally,
}

impl Setup {
    /// The regions and source lines that `source` names now are those that count; `hierarchy` is empty. So many chunks of the
    /// trace are kept decoded.
    pub(super) fn new(source: Arc<dyn ReferenceSource>, hierarchy: Hierarchy, chunks: usize) -> Self {
        let named: Arc<[Region]> = few_regions(&source.tables().regions).into();
        let lines = LineMap::new(source.tables());
        Self {
            chunks: Arc::new(ChunkCache::new(chunks)),
            regions: RegionMap::new(&named),
            empty: Tally::new(&named, &lines, &hierarchy),
            start: Arc::new(hierarchy),
            named,
            lines,
            source,
        }
    }

    /// What runs in a phase between two references, of a function by its line where that is asked for; `None` where that is not known.
    pub(super) fn phase_name(&self, between: [u64; 2], by_line: bool) -> Option<String> {
        phase_names::name(self.source.as_ref(), &self.lines, (&self.named, &self.regions), between, by_line).ok()?
    }
}
