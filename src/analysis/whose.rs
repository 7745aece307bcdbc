//! Regions of references and lines while references play one by one.

use crate::reference::{Reference, RegionFinder, RegionMap, RegionNames, Tables};
use crate::sim::stats::OTHER;
use std::sync::Arc;

/// Finds regions at the reference under way. A clone shares what is known of them.
#[derive(Clone, Debug)]
pub(super) struct Whose {
    finder: RegionFinder,
    /// Of regions, then [`OTHER`].
    names: Arc<RegionNames>,
    /// References begun.
    begun: u64,
}

impl Whose {
    pub(super) fn new(tables: &Tables) -> Self {
        let finder = RegionFinder::new(RegionMap::new(&tables.regions));
        Self { finder, names: Arc::new(RegionNames::new(&tables.regions, OTHER)), begun: 0 }
    }

    /// The next reference: the region of its first byte.
    pub(super) fn begin(&mut self, reference: &Reference) -> usize {
        self.begun += 1;
        self.of_byte(reference.addr).unwrap_or(self.rows() - 1)
    }

    /// The region of a line.
    pub(super) fn of_line(&mut self, first: u64, bytes: u64) -> usize {
        let last = first.saturating_add(bytes - 1);
        self.of_byte(first).or_else(|| self.of_byte(last)).unwrap_or(self.rows() - 1)
    }

    fn of_byte(&mut self, addr: u64) -> Option<usize> {
        self.finder.locate(addr, self.begun.saturating_sub(1)).region.map(|region| region as usize)
    }

    pub(super) fn name(&self, row: usize) -> &str {
        self.names.get(row).unwrap_or_default()
    }

    pub(super) fn rows(&self) -> usize {
        self.names.len()
    }
}
