//! What tasks waited for: components and ports that were busy, told by milestones.

use super::set::TaskSet;
use super::words::Symbol;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The category of milestones at which a thing of the machine became free.
pub const HARDWARE_RESOURCE: &str = "hardware_resource";

/// A thing that tasks waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocking {
    /// What it is called: `GPU[1].L2TLB.MSHR`.
    pub what: Symbol,
    /// How often it was waited for.
    pub waits: u64,
    /// By how many tasks.
    pub tasks: u64,
}

/// The things of the machine that were waited for, the most often first; among equals in the order in which they were met (as
/// `top_blocking_resources` of Daisen).
#[must_use]
pub fn blocking(set: &TaskSet) -> Vec<Blocking> {
    let mut found = BTreeMap::new();
    let resource = set.words().find(HARDWARE_RESOURCE);
    // Milestones stand by task.
    for milestone in set.all_milestones().iter().filter(|milestone| Some(milestone.category) == resource) {
        let (waits, tasks, last) = found.entry(milestone.what).or_insert((0, 0, None));
        *waits += 1;
        *tasks += u64::from(*last != Some(milestone.task));
        *last = Some(milestone.task);
    }
    let mut out: Vec<Blocking> =
        found.into_iter().map(|(what, (waits, tasks, _))| Blocking { what, waits, tasks }).collect();
    out.sort_by_key(|row| Reverse(row.waits));
    out
}

/// The same with things of one kind together, where there are several: `SA[*].L1VTLB[*].Port`; the most often waited for first.
#[must_use]
pub fn by_kind(set: &TaskSet, rows: &[Blocking]) -> Vec<(String, u64)> {
    let mut kinds: BTreeMap<String, (u64, Vec<Symbol>)> = BTreeMap::new();
    for row in rows {
        let (waits, members) = kinds.entry(starred(set.words().word(row.what))).or_default();
        *waits += row.waits;
        members.push(row.what);
    }
    let name = |kind: String, members: &[Symbol]| match members {
        [one] => set.words().word(*one).to_owned(),
        _ => kind,
    };
    let mut out: Vec<(String, u64)> =
        kinds.into_iter().map(|(kind, (waits, members))| (name(kind, &members), waits)).collect();
    out.sort_by_key(|row| Reverse(row.1));
    out
}

/// A name with a star in place of each number in brackets.
fn starred(name: &str) -> String {
    let mut out = String::new();
    let mut rest = name;
    while let Some((before, after)) = rest.split_once('[') {
        let digits = after.len() - after.trim_start_matches(|sign: char| sign.is_ascii_digit()).len();
        out.push_str(before);
        out.push('[');
        let numbered = digits > 0 && after[digits..].starts_with(']');
        out.push_str(if numbered { "*" } else { &after[..digits] });
        rest = &after[digits..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_brackets_are_stars() {
        for (name, kind) in [
            ("SA[0].L1V[12].Port", "SA[*].L1V[*].Port"),
            ("MMU", "MMU"),
            ("a[b].c[3", "a[b].c[3"),
            ("[1][2]", "[*][*]"),
            ("", ""),
        ] {
            assert_eq!(starred(name), kind);
        }
    }
}
