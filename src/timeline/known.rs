//! The regions of a trace, those that it names and those that were found, and where the counts of each are.

use super::index::Index;
use super::phases;
use super::setup::Setup;
use super::tally::Row;
use crate::reference::{Mark, Region, RegionMap, Tables};
use std::sync::Arc;

/// What is known of the trace's regions.
#[derive(Clone)]
pub(super) struct Known {
    /// Regions that were found outside the named ones.
    pub(super) found: Vec<Region>,
    pub(super) whole: bool,
    pub(super) tables: Arc<Tables>,
    pub(super) map: RegionMap,
    pub(super) rows: Vec<Row>,
}

impl Known {
    /// As an index knows it. `before` is of an earlier part, and is given back where nothing has changed.
    pub(super) fn of(setup: &Setup, index: &Index, before: Option<Self>) -> Self {
        // In this order: the last tables are there before the trace says that it is whole.
        let whole = setup.source.is_whole();
        let own = setup.source.tables();
        let found = index.tally.found().regions();
        // Of a trace that goes on, what runs would be looked up again and again.
        let is_all = whole && index.len == setup.source.len();
        let name = |between, by_line| is_all.then(|| setup.phase_name(between, by_line))?;
        let answered = index.tally.answers().of(None);
        let marks = phases::marks(&own.marks, &index.phases, (&index.summary, &answered), &setup.start, &name);
        let same = |known: &Self| {
            known.found == found
                && known.whole == whole
                && known.tables.marks == marks
                && (&known.tables.title, &known.tables.subtitle, known.tables.locations.len())
                    == (&own.title, &own.subtitle, own.locations.len())
        };
        before.filter(same).unwrap_or_else(|| Self::new(own, &setup.named, found, marks, whole))
    }

    /// The tables of a trace with other marks and regions: the named ones and those found, in their order.
    fn new(tables: &Tables, named: &[Region], found: Vec<Region>, marks: Vec<Mark>, whole: bool) -> Self {
        let named = named.iter().enumerate().map(|(n, region)| (region, Row::Named(n)));
        let others = found.iter().map(|region| (region, Row::Found(region.base, region.end())));
        let mut all: Vec<(&Region, Row)> = named.chain(others).collect();
        all.sort_by(|(a, _), (b, _)| a.order(b));
        let (regions, rows): (Vec<Region>, Vec<Row>) =
            all.into_iter().map(|(region, row)| (region.clone(), row)).unzip();
        let map = RegionMap::new(&regions);
        let Tables { title, subtitle, locations, made_by, .. } = tables;
        let (title, subtitle, made_by) = (title.clone(), subtitle.clone(), made_by.clone());
        let tables = Arc::new(Tables { title, subtitle, regions, locations: locations.clone(), marks, made_by });
        Self { found, whole, tables, map, rows }
    }
}
