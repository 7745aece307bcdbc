//! Names of regions behind each other in one text: there may be a million.

use super::Region;

/// Names by number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RegionNames {
    text: String,
    ends: Vec<usize>,
}

impl RegionNames {
    /// Those of regions, then that of what belongs to none.
    pub(crate) fn new(regions: &[Region], other: &str) -> Self {
        let names = || regions.iter().map(|region| region.name.as_str()).chain([other]);
        let mut all = Self {
            text: String::with_capacity(names().map(str::len).sum()),
            ends: Vec::with_capacity(regions.len() + 1),
        };
        for name in names() {
            all.text.push_str(name);
            all.ends.push(all.text.len());
        }
        all
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, at: usize) -> Option<&str> {
        let end = *self.ends.get(at)?;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.text.get(start..end)
    }

    /// Without the last one.
    pub(crate) fn pop(&mut self) {
        self.ends.pop();
        self.text.truncate(self.ends.last().copied().unwrap_or(0));
    }

    /// Those whose numbers are told to be kept, under new numbers.
    pub(crate) fn retain(&mut self, mut is_kept: impl FnMut(usize) -> bool) {
        let (mut kept, mut start) = (Self::default(), 0);
        for (at, &end) in self.ends.iter().enumerate() {
            if is_kept(at) {
                kept.text.push_str(&self.text[start..end]);
                kept.ends.push(kept.text.len());
            }
            start = end;
        }
        *self = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_by_number_and_take_no_more_room_than_they_need() {
        let regions: Vec<Region> = ["A", "", "B🦀"].iter().map(|name| Region::new(*name, 0, 8)).collect();
        let mut names = RegionNames::new(&regions, "(other)");
        assert_eq!((names.text.capacity(), names.ends.capacity()), (13, 4));
        let all = |names: &RegionNames| {
            (0..names.len()).filter_map(|at| names.get(at).map(str::to_owned)).collect::<Vec<_>>()
        };
        assert_eq!(all(&names), ["A", "", "B🦀", "(other)"]);
        assert_eq!(names.get(4), None);
        names.pop();
        names.retain(|at| at > 0);
        assert_eq!(all(&names), ["", "B🦀"]);
    }
}
