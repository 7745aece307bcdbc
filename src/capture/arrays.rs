//! Arrays of stack frames as regions: a function that has some says so when it is entered, with its frame's address.

use crate::reference::Region;
use crate::symbols::StackVariable;
use std::collections::{BTreeMap, BTreeSet};

/// Regions at most: a function entered again and again where others' arrays were makes a new one each time.
const REGIONS: usize = 4096;

/// The arrays of functions, and where they live.
#[derive(Debug, Default)]
pub(super) struct Frames {
    /// By the pc in the function that entries carry.
    functions: BTreeMap<u64, Vec<StackVariable>>,
    /// By thread and last byte: who owns the stack's bytes now. An array stays after its function has returned, until
    /// another's array takes its bytes: nobody else has a name for them.
    live: BTreeMap<(u64, u64), Living>,
    regions: Vec<Region>,
    left_out: u64,
}

#[derive(Debug)]
struct Living {
    first: u64,
    pc: u64,
    region: usize,
}

impl Frames {
    /// Whether the arrays of the function with `pc` are known, be there some or none.
    pub(super) fn knows(&self, pc: u64) -> bool {
        self.functions.contains_key(&pc)
    }

    /// The arrays of the function with `pc`.
    pub(super) fn learn(&mut self, pc: u64, arrays: Vec<StackVariable>) {
        self.functions.insert(pc, arrays);
    }

    /// The function with `pc` was entered before reference `now`, its frame at `frame`.
    pub(super) fn enter(&mut self, thread: u64, frame: u64, pc: u64, now: u64) {
        let Some(arrays) = self.functions.get(&pc).filter(|a| !a.is_empty()) else { return };
        let first = frame.wrapping_add_signed(arrays.iter().map(|a| a.offset).min().unwrap_or(0));
        if self.live.range((thread, first)..(thread, frame)).next().is_some_and(|(_, l)| l.pc == pc && l.first == first)
        {
            // The same function where it was before: the same arrays go on.
            return;
        }
        // Whoever has lost one array has returned: all of its arrays go.
        let here = self.live.range((thread, first)..).take_while(|((t, _), l)| *t == thread && l.first < frame);
        let owners: BTreeSet<(u64, u64)> = here.map(|(_, l)| (l.pc, l.first)).collect();
        let all = self.live.range((thread, 0)..=(thread, u64::MAX));
        let over: Vec<(u64, u64)> =
            all.filter(|(_, l)| !owners.is_empty() && owners.contains(&(l.pc, l.first))).map(|(k, _)| *k).collect();
        for key in over {
            let Some(old) = self.live.remove(&key) else { continue };
            if let Some((_, to)) = self.regions.get_mut(old.region).and_then(|r| r.lifetime.as_mut()) {
                *to = now;
            }
        }
        for a in arrays {
            let base = frame.wrapping_add_signed(a.offset);
            if a.bytes == 0 || base.checked_add(a.bytes).is_none() {
                continue;
            }
            if self.regions.len() >= REGIONS {
                self.left_out += 1;
                continue;
            }
            self.live.insert((thread, base + a.bytes - 1), Living { first, pc, region: self.regions.len() });
            self.regions.push(Region {
                name: a.name.clone(),
                base,
                bytes: a.bytes,
                elem_bytes: a.elem_bytes.max(1),
                elem_type: a.elem_type.clone(),
                shape: a.shape.clone(),
                row_major: a.row_major,
                lifetime: Some((now, u64::MAX)),
            });
        }
    }

    /// The regions, with the lifetimes of `total` references; names used twice are numbered.
    pub(super) fn finish(&mut self, total: u64) -> (Vec<Region>, Option<String>) {
        let mut seen = BTreeSet::new();
        let mut out = Vec::new();
        for mut r in std::mem::take(&mut self.regions) {
            let (from, to) = r.lifetime.unwrap_or((0, total));
            r.lifetime = Some((from, to.min(total))).filter(|l| *l != (0, total));
            if from < to.min(total) {
                let name = r.name.clone();
                let numbered = (2..).map(|n| format!("{name} #{n}"));
                r.name = std::iter::once(name.clone()).chain(numbered).find(|n| !seen.contains(n)).unwrap_or(name);
                seen.insert(r.name.clone());
                out.push(r);
            }
        }
        let notice = (self.left_out > 0)
            .then(|| format!("{} arrays of stack frames past the first {REGIONS} have no name", self.left_out));
        (out, notice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(name: &str, offset: i64, bytes: u64) -> StackVariable {
        StackVariable {
            name: name.into(),
            offset,
            bytes,
            elem_bytes: 4,
            elem_type: "int".into(),
            shape: vec![bytes / 4],
            row_major: true,
        }
    }

    #[test]
    fn arrays_live_until_others_take_their_place() {
        let mut frames = Frames::default();
        frames.learn(1, vec![array("a", -48, 16), array("b", -32, 16)]);
        frames.learn(2, vec![array("c", -32, 16)]);
        frames.learn(3, vec![]);
        frames.enter(0, 0x1000, 1, 0);
        frames.enter(0, 0x0f00, 3, 5);
        frames.enter(0, 0x1000, 1, 10);
        frames.enter(0, 0x1000, 2, 20);
        frames.enter(1, 0x1000, 2, 25);
        let (regions, notice) = frames.finish(100);
        let shown: Vec<_> = regions.iter().map(|r| (r.name.as_str(), r.base, r.lifetime)).collect();
        assert_eq!(
            shown,
            [
                ("a", 0xfd0, Some((0, 20))),
                ("b", 0xfe0, Some((0, 20))),
                ("c", 0xfe0, Some((20, 100))),
                ("c #2", 0xfe0, Some((25, 100)))
            ]
        );
        assert_eq!(notice, None);
    }
}
