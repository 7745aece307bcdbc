//! Regions by name, for all flags that take such names.

use crate::reference::Tables;
use crate::sim::config::nearest;
use std::collections::BTreeSet;

/// Names told at most.
const SHOWN: usize = 12;

/// What to say of a name that stands for no region: the nearest name, and those that there are.
pub(super) fn unknown(flag: &str, name: &str, tables: &Tables) -> String {
    let known: BTreeSet<&str> = tables.regions.iter().map(|region| region.name.as_str()).collect();
    let names: Vec<&str> = known.iter().copied().collect();
    if names.is_empty() {
        return format!(
            "{flag}: found `{name}`; expected a region of the trace, but there is none; --tables or --program of orrery \
             convert names regions, or convert the whole trace first if its format does so at its end"
        );
    }
    let hint = nearest(name, &names).map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"));
    let mut list = names.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        list.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    format!("{flag}: found `{name}`{hint}; expected a region of the trace: {list}")
}
