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
    /// By thread.
    stacks: BTreeMap<u64, Stack>,
    regions: Vec<Region>,
    left_out: u64,
}

/// Who owns a stack's bytes now, by last byte. An array stays after its function has returned, until another's array takes
/// its bytes: nobody else has a name for them.
type Stack = BTreeMap<u64, Living>;

#[derive(Debug)]
struct Living {
    base: u64,
    /// First byte of the frame's arrays, and their function: who has one array in common has all.
    first: u64,
    pc: u64,
    /// Place among the arrays of its function.
    array: usize,
    /// Reference at which it began.
    from: u64,
    /// Once it was touched.
    region: Option<usize>,
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

    /// The function with `pc` was entered before reference `now`, its frame at `frame`. Whether there are arrays that were
    /// not there before: what [`Frames::touch`] said of other addresses then no longer holds.
    pub(super) fn enter(&mut self, thread: u64, frame: u64, pc: u64, now: u64) -> bool {
        let Some(arrays) = self.functions.get(&pc).filter(|a| !a.is_empty()) else { return false };
        let first = frame.wrapping_add_signed(arrays.iter().map(|a| a.offset).min().unwrap_or(0));
        if first >= frame {
            return false;
        }
        let stack = self.stacks.entry(thread).or_default();
        if stack.range(first..frame).next().is_some_and(|(_, l)| l.pc == pc && l.first == first) {
            // The same function where it was before: the same arrays go on.
            return false;
        }
        // Whoever has lost one array has returned: all of its arrays go.
        let here = stack.range(first..).take_while(|(_, l)| l.base < frame);
        let owners: BTreeSet<(u64, u64)> = here.map(|(_, l)| (l.pc, l.first)).collect();
        if !owners.is_empty() {
            stack.retain(|_, l| {
                let stays = !owners.contains(&(l.pc, l.first));
                let region = l.region.filter(|_| !stays).and_then(|n| self.regions.get_mut(n));
                if let Some((_, to)) = region.and_then(|r| r.lifetime.as_mut()) {
                    *to = now;
                }
                stays
            });
        }
        for (a, array) in arrays.iter().zip(0..) {
            let base = frame.wrapping_add_signed(a.offset);
            if let Some(past) = base.checked_add(a.bytes).filter(|_| a.bytes > 0) {
                stack.insert(past - 1, Living { base, first, pc, array, from: now, region: None });
            }
        }
        true
    }

    /// The byte at `addr` is referred to: the array that holds it is to have a name. The first and the last byte of the
    /// stretch around it that this says all of, until another frame is entered.
    pub(super) fn touch(&mut self, addr: u64) -> (u64, u64) {
        let (mut first, mut last) = (0, u64::MAX);
        for stack in self.stacks.values_mut() {
            if let Some((&end, next)) = stack.range_mut(addr..).next() {
                if next.base <= addr {
                    (first, last) = (first.max(next.base), last.min(end));
                    if next.region.is_none() {
                        if self.regions.len() >= REGIONS {
                            self.left_out += 1;
                            next.region = Some(usize::MAX);
                        } else if let Some(a) = self.functions.get(&next.pc).and_then(|f| f.get(next.array)) {
                            next.region = Some(self.regions.len());
                            self.regions.push(region(a, next.base, next.from));
                        }
                    }
                } else {
                    last = last.min(next.base - 1);
                }
            }
            // What overlaps ends before the next one does.
            if let Some((&end, _)) = stack.range(..addr).next_back() {
                first = first.max(end + 1);
            }
        }
        (first, last)
    }

    /// The regions, with the lifetimes of `total` references; names used twice are numbered.
    pub(super) fn finish(&mut self, total: u64) -> (Vec<Region>, Option<String>) {
        let mut times: BTreeMap<String, u64> = BTreeMap::new();
        let mut out = Vec::new();
        for mut r in std::mem::take(&mut self.regions) {
            let (from, to) = r.lifetime.unwrap_or((0, total));
            r.lifetime = Some((from, to.min(total))).filter(|l| *l != (0, total));
            if from < to.min(total) {
                let n = times.entry(r.name.clone()).and_modify(|n| *n += 1).or_insert(1);
                if *n > 1 {
                    r.name = format!("{} #{n}", r.name);
                }
                out.push(r);
            }
        }
        let notice = (self.left_out > 0)
            .then(|| format!("{} arrays of stack frames past the first {REGIONS} have no name", self.left_out));
        (out, notice)
    }
}

fn region(a: &StackVariable, base: u64, from: u64) -> Region {
    Region {
        name: a.name.clone(),
        base,
        bytes: a.bytes,
        elem_bytes: a.elem_bytes.max(1),
        elem_type: a.elem_type.clone(),
        shape: a.shape.clone(),
        row_major: a.row_major,
        lifetime: Some((from, u64::MAX)),
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
        frames.touch(0xfd0);
        frames.touch(0xfef);
        frames.enter(0, 0x0f00, 3, 5);
        frames.enter(0, 0x1000, 1, 10);
        frames.enter(0, 0x1000, 2, 20);
        frames.touch(0xfe0);
        frames.enter(1, 0x2000, 2, 25);
        frames.touch(0x1fdf);
        frames.touch(0x1ff0);
        frames.touch(0x1fef);
        // Nothing of these was touched.
        frames.enter(0, 0x800, 1, 30);
        let (regions, notice) = frames.finish(100);
        let shown: Vec<_> = regions.iter().map(|r| (r.name.as_str(), r.base, r.lifetime)).collect();
        assert_eq!(
            shown,
            [
                ("a", 0xfd0, Some((0, 20))),
                ("b", 0xfe0, Some((0, 20))),
                ("c", 0xfe0, Some((20, 100))),
                ("c #2", 0x1fe0, Some((25, 100)))
            ]
        );
        assert_eq!(notice, None);
    }
}
