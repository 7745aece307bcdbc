//! The regions of a trace, those that it names and those that were found, and where the counts of each are.

use super::index::Index;
use super::phases;
use super::subject::Subject;
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
    /// As an index knows it; as of `before`, where nothing of it is another now.
    pub(super) fn of(subject: &Subject, index: &Index, before: Option<Self>) -> Self {
        let (own, whole) = (subject.source.tables(), subject.source.is_whole());
        let found = index.tally.found().regions();
        // Of a trace that goes on, what runs would be looked up again and again.
        let is_all = whole && index.len == subject.source.len();
        let name = |between| is_all.then(|| subject.phase_name(between))?;
        let answered = index.tally.answers().of(None);
        let marks = phases::marks(&own.marks, &index.phases, (&index.summary, &answered), &subject.start, &name);
        let same = |known: &Self| known.found == found && known.whole == whole && known.tables.marks == marks;
        before.filter(same).unwrap_or_else(|| Self::new(own, &subject.named, found, marks, whole))
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
