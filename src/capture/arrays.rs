//! Arrays of stack frames as regions: a function that has some says so when it is entered, with its frame's address.

use crate::reference::Region;
use crate::symbols::StackVariable;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Regions at most: a function entered again and again where others' arrays were makes a new one each time.
const REGIONS: usize = 4096;

/// The arrays of functions, and where they live.
#[derive(Debug, Default)]
pub(super) struct Frames {
    /// By the pc that entries carry: those that are there from then on.
    entered: BTreeMap<u64, Arc<[Owner]>>,
    /// By owner.
    arrays: BTreeMap<Owner, Vec<StackVariable>>,
    /// By thread.
    stacks: BTreeMap<u64, Stack>,
    regions: Vec<Region>,
    left_out: u64,
}

/// Whose arrays come and go together: a function's (by its first instruction), number 0 those that have their bytes alone, the
/// others one array each that shares bytes with arrays of other blocks.
type Owner = (u64, usize);

/// Who owns a stack's bytes now, by last byte. An array stays after its function has returned, until another's array takes
/// its bytes: nobody else has a name for them.
type Stack = BTreeMap<u64, Living>;

#[derive(Debug)]
struct Living {
    base: u64,
    /// First byte of the owner's arrays: who has one array in common has all.
    first: u64,
    owner: Owner,
    /// Place among the arrays of its owner.
    array: usize,
    /// Reference at which it began.
    from: u64,
    /// Once it was touched.
    region: Option<usize>,
}

impl Frames {
    /// Whether the arrays of the function with `pc` are known, be there some or none.
    pub(super) fn knows(&self, pc: u64) -> bool {
        self.entered.contains_key(&pc)
    }

    /// The arrays of the function that begins at `function`, which has `pc`; their blocks as the program has them.
    pub(super) fn learn(&mut self, pc: u64, function: u64, arrays: Vec<StackVariable>) {
        let (alone, shared): (Vec<_>, Vec<_>) = arrays.into_iter().partition(|a| a.blocks.is_empty());
        let mut owners = vec![(function, 0)];
        self.arrays.entry((function, 0)).or_insert(alone);
        let inside = |a: &StackVariable| a.blocks.iter().any(|&(first, past)| first <= pc && pc < past);
        // Where a block's beginning is not told of, the first that lies there stands for all.
        let mut taken: Vec<(i64, i64)> = Vec::new();
        let mut rest: Vec<(StackVariable, usize)> = shared.into_iter().zip(1..).collect();
        rest.sort_by_key(|(a, number)| (!inside(a), a.blocks.first().copied(), *number));
        let in_block = rest.first().is_some_and(|(a, _)| inside(a));
        for (array, number) in rest {
            let span = (array.offset, array.offset.saturating_add_unsigned(array.bytes));
            let is_free = taken.iter().all(|t| t.1 <= span.0 || span.1 <= t.0);
            if is_free && (inside(&array) || !in_block) {
                taken.push(span);
                owners.push((function, number));
            }
            self.arrays.entry((function, number)).or_insert(vec![array]);
        }
        self.entered.insert(pc, owners.into());
    }

    /// The function or block with `pc` was entered before reference `now`, its frame at `frame`. Whether there are arrays that
    /// were not there before: what [`Frames::touch`] said of other addresses then no longer holds.
    pub(super) fn enter(&mut self, thread: u64, frame: u64, pc: u64, now: u64) -> bool {
        let Some(owners) = self.entered.get(&pc).cloned() else { return false };
        let mut new = false;
        for owner in owners.iter() {
            new |= self.place(thread, frame, *owner, now);
        }
        new
    }

    /// An owner's arrays are in the frame at `frame`; whether they were not there before.
    fn place(&mut self, thread: u64, frame: u64, owner: Owner, now: u64) -> bool {
        let Some(arrays) = self.arrays.get(&owner).filter(|a| !a.is_empty()) else { return false };
        let first = frame.wrapping_add_signed(arrays.iter().map(|a| a.offset).min().unwrap_or(0));
        // A function's frame is all its own; a block's array has no more than its bytes.
        let end = |a: &StackVariable| frame.wrapping_add_signed(a.offset).saturating_add(a.bytes);
        let past = if owner.1 == 0 { frame } else { arrays.iter().map(end).max().unwrap_or(first) };
        if first >= past {
            return false;
        }
        let stack = self.stacks.entry(thread).or_default();
        let mut here = stack.range(first..).map(|(_, l)| l).take_while(|l| l.base < past);
        if here.any(|l| l.owner == owner && l.first == first) {
            // The same function where it was before: the same arrays go on.
            return false;
        }
        // Whoever has lost one array has returned: all of its arrays go.
        let here = stack.range(first..).take_while(|(_, l)| l.base < past);
        let owners: BTreeSet<(Owner, u64)> = here.map(|(_, l)| (l.owner, l.first)).collect();
        if !owners.is_empty() {
            stack.retain(|_, l| {
                let stays = !owners.contains(&(l.owner, l.first));
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
                stack.insert(past - 1, Living { base, first, owner, array, from: now, region: None });
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
                        } else if let Some(a) = self.arrays.get(&next.owner).and_then(|f| f.get(next.array)) {
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
        for mut r in joined(std::mem::take(&mut self.regions)) {
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

/// An array that comes back to where it was, and nobody else's bytes there were touched meanwhile, is one region.
fn joined(regions: Vec<Region>) -> Vec<Region> {
    let mut out: Vec<Region> = Vec::new();
    for r in regions {
        let from = r.lifetime.map_or(0, |l| l.0);
        // The last that was touched there is the array itself.
        let last = out.iter_mut().rev().find(|old| old.base < r.end() && r.base < old.end());
        match last {
            Some(old)
                if (&old.name, old.base, old.bytes, &old.elem_type) == (&r.name, r.base, r.bytes, &r.elem_type) =>
            {
                let since = old.lifetime.map_or(0, |l| l.0).min(from);
                old.lifetime = r.lifetime.map(|(_, to)| (since, to));
            }
            _ => out.push(r),
        }
    }
    out
}

fn region(a: &StackVariable, base: u64, from: u64) -> Region {
    Region {
        elem_bytes: a.elem_bytes.max(1),
        elem_type: a.elem_type.clone().into(),
        shape: a.shape.clone().into(),
        row_major: a.row_major,
        lifetime: Some((from, u64::MAX)),
        ..Region::new(a.name.clone(), base, a.bytes)
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
            blocks: Vec::new(),
        }
    }

    #[test]
    fn arrays_of_blocks_that_share_bytes_live_one_after_the_other() {
        let block = |a: StackVariable, first| StackVariable { blocks: vec![(first, first + 0x10)], ..a };
        let all = vec![array("own", -16, 16), block(array("a", -64, 32), 0x110), block(array("b", -64, 48), 0x120)];
        let mut frames = Frames::default();
        for pc in [0x100, 0x112, 0x122] {
            frames.learn(pc, 0x100, all.clone());
        }
        let touch = |frames: &mut Frames| [0xfc0, 0xff0].map(|at| frames.touch(at));
        frames.enter(0, 0x1000, 0x100, 0);
        for (pc, now) in [(0x112, 5), (0x122, 10), (0x122, 12), (0x112, 15)] {
            frames.enter(0, 0x1000, pc, now);
            touch(&mut frames);
        }
        let (regions, _) = frames.finish(20);
        let shown: Vec<_> = regions.iter().map(|r| (r.name.as_str(), r.base, r.bytes, r.lifetime)).collect();
        assert_eq!(
            shown,
            [
                ("a", 0xfc0, 32, Some((0, 10))),
                ("own", 0xff0, 16, None),
                ("b", 0xfc0, 48, Some((10, 15))),
                ("a #2", 0xfc0, 32, Some((15, 20)))
            ]
        );
    }

    #[test]
    fn arrays_live_until_others_take_their_place() {
        let mut frames = Frames::default();
        frames.learn(1, 1, vec![array("a", -48, 16), array("b", -32, 16)]);
        frames.learn(2, 2, vec![array("c", -32, 16)]);
        frames.learn(3, 3, vec![]);
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
