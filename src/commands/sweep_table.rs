//! The cells of a sweep as a table of columns.

use crate::analysis::CellCounts;
use crate::trace::{TableColumn, TableValues};
use serde_json::Value;
use std::collections::BTreeSet;

/// A row a cell: the trace, the number of the cell, the values of the keys, of each level all counts (`L1_demand_misses`), bytes of
/// memory. A key whose values are all numbers is a column of numbers.
pub(super) fn columns(all: &[(String, CellCounts)]) -> Vec<TableColumn> {
    let words =
        |name: &str, values: Vec<Option<String>>| TableColumn { name: name.into(), values: TableValues::Words(values) };
    let counts = |name: &str, value: &dyn Fn(&CellCounts) -> Option<u64>| TableColumn {
        name: name.into(),
        values: TableValues::Counts(all.iter().map(|(_, cell)| value(cell)).collect()),
    };
    let mut columns = vec![
        words("trace", all.iter().map(|(trace, _)| Some(trace.clone())).collect()),
        counts("cell", &|cell| Some(cell.cell)),
    ];
    for key in in_order(all.iter().flat_map(|(_, cell)| cell.values.iter().map(|(key, _)| key.as_str()))) {
        let value =
            |cell: &CellCounts| cell.values.iter().find(|(other, _)| other == key).map(|(_, value)| value.clone());
        let values: Vec<Option<String>> = all.iter().map(|(_, cell)| value(cell)).collect();
        let numbers: Result<Vec<Option<u64>>, _> =
            values.iter().map(|value| value.as_ref().map(|value| value.parse::<u64>()).transpose()).collect();
        columns.push(match numbers {
            Ok(numbers) => TableColumn { name: key.into(), values: TableValues::Counts(numbers) },
            Err(_) => words(key, values),
        });
    }
    for level in in_order(all.iter().flat_map(|(_, cell)| cell.levels.iter().map(|level| level.name.as_str()))) {
        let rows: Vec<Option<Value>> = all
            .iter()
            .map(|(_, cell)| cell.levels.iter().find(|other| other.name == level))
            .map(|found| found.and_then(|counts| serde_json::to_value(counts).ok()))
            .collect();
        let keys = rows.iter().flatten().find_map(Value::as_object).into_iter().flat_map(|row| row.keys());
        for key in keys.filter(|key| *key != "name") {
            let values = rows.iter().map(|row| row.as_ref().and_then(|row| row.get(key)?.as_u64())).collect();
            columns.push(TableColumn { name: format!("{level}_{key}"), values: TableValues::Counts(values) });
        }
        let rate = |cell: &CellCounts| {
            let level = cell.levels.iter().find(|other| other.name == level)?;
            #[expect(clippy::cast_precision_loss, reason = "a share")]
            Some(level.demand_misses as f64 / level.demand_accesses.max(1) as f64)
        };
        let rates = all.iter().map(|(_, cell)| rate(cell)).collect();
        columns.push(TableColumn { name: format!("{level}_miss_rate"), values: TableValues::Shares(rates) });
    }
    columns.push(counts("memory_bytes_read", &|cell| Some(cell.memory_bytes_read)));
    columns.push(counts("memory_bytes_written", &|cell| Some(cell.memory_bytes_written)));
    columns
}

/// Each once, in the order in which they come.
fn in_order<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = BTreeSet::new();
    names.filter(|name| seen.insert(*name)).collect()
}
