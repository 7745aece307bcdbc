//! Keyframes elsewhere than in memory, and a whole index as bytes: what a file of the index is made of. Files themselves are
//! not known here.

use super::known::Known;
use super::phase_names;
use super::phases::{self, Phases};
use super::served::{self, Served};
use super::tallies::Tallies;
use super::{Flows, Keyframe, Options, Outcomes, Simulated, Summary, Tally, Timeline};
use crate::reference::{LineMap, ReferenceSource, RegionMap, few_regions};
use crate::sim::{Hierarchy, Packed, Packer};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, PoisonError, RwLock};

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

/// A keyframe in memory or on a shelf.
#[derive(Clone)]
pub(super) enum Kept {
    Here(Arc<Keyframe>),
    There(Arc<dyn Shelf>, Slip),
}

impl Kept {
    /// Bytes in memory.
    pub(super) fn here(&self) -> usize {
        match self {
            Self::Here(keyframe) => keyframe.bytes(),
            Self::There(..) => size_of::<Self>(),
        }
    }

    /// Bytes on a shelf.
    pub(super) fn there(&self) -> u64 {
        match self {
            Self::Here(_) => 0,
            Self::There(_, slip) => u64::from(slip.bytes),
        }
    }

    /// Goes from memory to a shelf, where there is room.
    pub(super) fn shelve(&mut self, shelf: &Arc<dyn Shelf>) -> bool {
        let Self::Here(keyframe) = self else { return true };
        let Some(slip) = shelf.put(&keyframe.to_bytes()) else { return false };
        *self = Self::There(Arc::clone(shelf), slip);
        true
    }

    /// `None` where the shelf has lost it.
    pub(super) fn keyframe(&self) -> Option<Arc<Keyframe>> {
        match self {
            Self::Here(keyframe) => Some(Arc::clone(keyframe)),
            Self::There(shelf, slip) => shelf.get(slip).and_then(|bytes| Keyframe::read(&bytes)).map(Arc::new),
        }
    }
}

impl Keyframe {
    fn to_bytes(&self) -> Vec<u8> {
        let mut out = u32::try_from(self.tally.len()).unwrap_or(u32::MAX).to_le_bytes().to_vec();
        out.extend(&self.tally);
        out.extend(self.state.to_bytes());
        out
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (length, bytes) = bytes.split_first_chunk()?;
        let (tally, state) = bytes.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        Some(Self { state: Packed::read(state)?, tally: tally.into() })
    }
}

/// All of an index that is no keyframe.
#[derive(Serialize, Deserialize)]
struct Directory {
    len: u64,
    spacing: u64,
    keyframes: Vec<Slip>,
    packer: Packer,
    /// At the end.
    tally: Box<[u8]>,
    summary: Summary,
    flows: Vec<Slip>,
    phases: Phases,
    tallies: (u64, Vec<Vec<u8>>),
    served: served::Stored,
    outcomes: Option<Vec<Slip>>,
}

impl Timeline {
    /// Puts a whole index on a shelf; the bytes that [`Timeline::restore`] needs to find it there. `None` where the trace is
    /// not whole, or there is no room.
    #[must_use]
    pub fn store(&self, shelf: &dyn Shelf) -> Option<Vec<u8>> {
        if !self.is_whole() {
            return None;
        }
        let mut keyframes = Vec::with_capacity(self.keyframes.len());
        for kept in &self.keyframes {
            keyframes.push(shelf.put(&kept.keyframe()?.to_bytes())?);
        }
        let outcomes = match &self.outcomes {
            Some(outcomes) => Some(outcomes.chunks().map(|chunk| shelf.put(&chunk)).collect::<Option<Vec<_>>>()?),
            None => None,
        };
        let packer = self.packer.read().unwrap_or_else(PoisonError::into_inner).clone();
        let (tally, summary) = (self.end.packed(), self.summary.clone());
        let flows = self.flows.parts().map(|part| shelf.put(&part)).collect::<Option<Vec<_>>>()?;
        let (len, spacing, phases, tallies) = (self.len, self.spacing, self.phases.clone(), self.tallies.stored());
        let served = self.served.stored();
        let directory =
            Directory { len, spacing, keyframes, packer, tally, summary, flows, phases, tallies, served, outcomes };
        postcard::to_allocvec(&directory).ok()
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
        let Directory { len, spacing, keyframes, packer, tally, summary, flows, phases, tallies, served, outcomes } =
            postcard::from_bytes(directory).ok()?;
        let named = few_regions(&source.tables().regions);
        let lines = LineMap::new(source.tables());
        let empty = Tally::new(&named, &lines, &hierarchy);
        let mut end = empty.clone();
        end.restore(&tally)?;
        if !summary.fits(hierarchy.levels(), len) {
            return None;
        }
        if len != source.len() || !source.is_whole() || spacing == 0 || keyframes.is_empty() {
            return None;
        }
        let outcomes = match outcomes {
            None => None,
            Some(slips) => {
                let mut outcomes = Outcomes::default();
                for slip in slips {
                    outcomes.read(&shelf.get(&slip)?);
                }
                (outcomes.len() == len).then_some(Some(outcomes))?
            }
        };
        let parts = flows.iter().map(|slip| shelf.get(slip)).collect::<Option<Vec<_>>>()?;
        let flows = Flows::read(&hierarchy, &parts, len)?;
        let served = Served::read(hierarchy.levels(), &named, served)?;
        let map = RegionMap::new(&named);
        let name = |range| phase_names::name(source.as_ref(), &lines, (&named, &map), range).ok()?;
        let answered = end.answers().of(None);
        let marks = phases::marks(&source.tables().marks, &phases, (&summary, &answered), &hierarchy, &name);
        let known = Known::new(source.tables(), &named, end.found().regions(), marks, true);
        Some(Self {
            chunks: Arc::new(super::chunks::ChunkCache::new(options.chunks)),
            len,
            total: Some(len),
            start: Arc::new(hierarchy),
            tally: empty,
            end,
            packer: Arc::new(RwLock::new(packer)),
            keyframes: keyframes.into_iter().map(|slip| Kept::There(Arc::clone(shelf), slip)).collect(),
            spacing,
            named: map,
            lines,
            regions: known.map,
            tables: known.tables,
            rows: known.rows,
            summary,
            flows,
            phases,
            tallies: Tallies::read(tallies),
            served,
            outcomes,
            simulated: Simulated::Before,
            source,
        })
    }
}
