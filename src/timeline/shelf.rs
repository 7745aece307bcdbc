//! Keyframes elsewhere than in memory, and a whole index as bytes: what a file of the index is made of. Files themselves are
//! not known here.

use super::index::{Index, Stored};
use super::keyframes::Keyframes;
use super::setup::Setup;
use super::{Options, Simulated, Timeline};
use crate::reference::ReferenceSource;
use crate::sim::{Hierarchy, Packer};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Keeps bytes and gives them back: a file.
pub trait Shelf: Send + Sync {
    /// Keeps these; `None` where there is no room.
    fn put(&self, bytes: &[u8]) -> Option<Slip>;
    /// Gives back what was put; `None` where it is not as it was.
    fn get(&self, slip: &Slip) -> Option<Vec<u8>>;
}

/// Where a [`Shelf`] has something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slip {
    /// First byte.
    pub at: u64,
    /// How many.
    pub bytes: u32,
    /// Their checksum.
    pub sum: u32,
}

/// A whole index as it is kept.
#[derive(Serialize, Deserialize)]
struct Directory {
    index: Stored,
    keyframes: (u64, Vec<Slip>, Packer),
}

impl Timeline {
    /// Puts a whole index on a shelf; the bytes that [`Timeline::restore`] needs to find it there. `None` where the trace is
    /// not whole, or there is no room.
    #[must_use]
    pub fn store(&self, shelf: &dyn Shelf) -> Option<Vec<u8>> {
        if !self.is_whole() {
            return None;
        }
        let keyframes = self.keyframes.store(shelf)?;
        let index = self.index.store(shelf)?;
        postcard::to_allocvec(&Directory { index, keyframes }).ok()
    }

    /// An index that [`Timeline::store`] put on a shelf, of the same trace and hierarchy; `None` where it is damaged or of
    /// another trace.
    #[must_use]
    pub fn restore(
        source: Arc<dyn ReferenceSource>,
        hierarchy: Hierarchy,
        options: Options,
        shelf: &Arc<dyn Shelf>,
        directory: &[u8],
    ) -> Option<Self> {
        let Directory { index, keyframes } = postcard::from_bytes(directory).ok()?;
        if index.len != source.len() || !source.is_whole() {
            return None;
        }
        let setup = Setup::new(source, hierarchy, options.chunks);
        let index = Index::read(&setup, shelf, index)?;
        let keyframes = Keyframes::read(shelf, keyframes)?;
        Some(Self::of(setup, index, keyframes, Simulated::Before, None))
    }
}
