//! What is counted of a trace by span of time, and what became of each reference. An [`super::Indexer`] fills an index, a
//! [`super::Timeline`] answers from one, a file keeps one. What else is to be counted is a field here, and a file of its own.

use super::phases::Phases;
use super::served::{self, Served};
use super::setup::Setup;
use super::shelf::{Shelf, Slip};
use super::tallies::Tallies;
use super::{Flows, Outcomes, Summary, Tally};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Counts of the first `len` references. Cheap to clone, but for the tally.
#[derive(Clone)]
pub(super) struct Index {
    /// References that are counted.
    pub(super) len: u64,
    /// The counts after the last of them.
    pub(super) tally: Tally,
    pub(super) summary: Summary,
    pub(super) flows: Flows,
    pub(super) phases: Phases,
    pub(super) tallies: Tallies,
    pub(super) served: Served,
    /// What became of each; `None` where the trace is too long to keep it.
    pub(super) outcomes: Option<Outcomes>,
}

impl Index {
    /// Of no reference yet.
    pub(super) fn new(setup: &Setup, outcomes: Option<Outcomes>) -> Self {
        let levels = setup.start.levels();
        Self {
            len: 0,
            tally: setup.empty.clone(),
            summary: Summary::new(levels),
            flows: Flows::new(&setup.start, setup.source.len()),
            phases: Phases::new(),
            tallies: Tallies::new(),
            served: Served::new(levels, &setup.named),
            outcomes,
        }
    }

    /// The first reference after those counted before which some count keeps a border: [`Index::step`] must be called there. The
    /// borders of the summary are not among them.
    pub(super) fn edge(&self) -> u64 {
        let edge = self.flows.edge_after(self.len).min(self.phases.edge_after(self.len));
        edge.min(self.tallies.edge_after(self.len)).min(self.served.edge_after(self.len))
    }

    /// Says that the next reference is to be counted.
    pub(super) fn step(&mut self) {
        self.flows.step(self.len);
        self.phases.step(self.len);
        self.tallies.step(self.len, &self.tally);
        self.served.step(self.len);
    }

    /// Says how many references are counted.
    pub(super) fn reach(&mut self, len: u64) {
        self.flows.reach(len);
        self.summary.reach(len);
        self.len = len;
    }

    /// Bytes held, but for the tally's.
    pub(super) fn bytes(&self) -> usize {
        let sums = self.summary.bytes() + self.flows.bytes() + self.tallies.bytes() + self.served.bytes();
        sums + self.outcomes.as_ref().map_or(0, Outcomes::bytes)
    }

    /// Puts it on a shelf, for [`Index::read`]; `None` where there is no room.
    pub(super) fn store(&self, shelf: &dyn Shelf) -> Option<Stored> {
        let put = |bytes: Vec<u8>| shelf.put(&bytes);
        let outcomes = match &self.outcomes {
            Some(outcomes) => Some(outcomes.chunks().map(put).collect::<Option<Vec<_>>>()?),
            None => None,
        };
        Some(Stored {
            len: self.len,
            tally: self.tally.packed(),
            summary: self.summary.clone(),
            flows: self.flows.parts().map(put).collect::<Option<Vec<_>>>()?,
            phases: self.phases.clone(),
            tallies: self.tallies.stored(),
            served: self.served.stored(),
            outcomes,
        })
    }

    /// What [`Index::store`] put on a shelf, of the same setup; `None` where it is damaged, or of another.
    pub(super) fn read(setup: &Setup, shelf: &Arc<dyn Shelf>, stored: Stored) -> Option<Self> {
        let Stored { len, tally, summary, flows, phases, tallies, served, outcomes } = stored;
        let levels = setup.start.levels();
        let mut end = setup.empty.clone();
        end.restore(&tally)?;
        if !summary.fits(levels, len) {
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
        Some(Self {
            len,
            tally: end,
            summary,
            flows: Flows::read(&setup.start, &parts, len)?,
            phases,
            tallies: Tallies::read(tallies),
            served: Served::read(levels, &setup.named, served)?,
            outcomes,
        })
    }
}

/// An [`Index`] as it is kept; what is long lies on the shelf.
#[derive(Serialize, Deserialize)]
pub(super) struct Stored {
    pub(super) len: u64,
    /// At the end.
    tally: Box<[u8]>,
    summary: Summary,
    flows: Vec<Slip>,
    phases: Phases,
    tallies: (u64, Vec<Vec<u8>>),
    served: served::Stored,
    outcomes: Option<Vec<Slip>>,
}
