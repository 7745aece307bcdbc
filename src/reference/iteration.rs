//! Where in its loops a program is.

/// A loop that is under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopAt {
    /// Name of its index.
    pub name: String,
    /// The index now.
    pub value: i64,
    /// The index of its first and of its last iteration, as its bounds are now; `None` for what is given a value in another way.
    pub ends: Option<(i64, i64)>,
    /// From one index to the next.
    pub step: i64,
    /// The reference with which it began, and how many each of its iterations makes, where all make as many.
    pub paced: Option<(u64, u64)>,
}

impl LoopAt {
    /// How many iterations it has, as its bounds are now; 1 or more.
    #[must_use]
    pub fn trips(&self) -> u64 {
        let Some((first, last)) = self.ends else { return 1 };
        first.abs_diff(last) / self.step.unsigned_abs().max(1) + 1
    }

    /// Which of its iterations is under way, from 0.
    #[must_use]
    pub fn trip(&self) -> u64 {
        let Some((first, _)) = self.ends else { return 0 };
        (first.abs_diff(self.value) / self.step.unsigned_abs().max(1)).min(self.trips() - 1)
    }

    /// The first reference of one of its iterations, by number, where that is known.
    #[must_use]
    pub fn first_of(&self, trip: u64) -> Option<u64> {
        let (began, each) = self.paced?;
        began.checked_add(each.checked_mul(trip)?)
    }

    /// Its header: `for i = 0..9`, where the end is left out.
    #[must_use]
    pub fn header(&self) -> String {
        let Some((first, last)) = self.ends else { return self.name.clone() };
        let end = last.saturating_add(self.step.signum());
        match self.step {
            1 => format!("for {} = {first}..{end}", self.name),
            step => format!("for {} = {first}..{end} step {step}", self.name),
        }
    }
}

/// The loops that are under way at a reference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoopsAt {
    /// The loops, the outermost first.
    pub loops: Vec<LoopAt>,
    /// The statement, as messages name it.
    pub statement: String,
    /// Its number among those of its nest.
    pub number: usize,
}

impl LoopsAt {
    /// `i = 3, j = 7`; empty where there is no loop.
    #[must_use]
    pub fn words(&self) -> String {
        let all: Vec<String> = self.loops.iter().map(|l| format!("{} = {}", l.name, l.value)).collect();
        all.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_knows_how_far_it_is() {
        let at = |value, ends, step| LoopAt { name: "i".into(), value, ends, step, paced: ends.map(|_| (100, 7)) };
        let up = at(3, Some((0, 8)), 1);
        assert_eq!((up.trips(), up.trip(), up.header().as_str()), (9, 3, "for i = 0..9"));
        assert_eq!(up.first_of(up.trip()), Some(121));
        let down = at(4, Some((8, 0)), -2);
        assert_eq!((down.trips(), down.trip(), down.header().as_str()), (5, 2, "for i = 8..-1 step -2"));
        let given = at(4, None, 1);
        assert_eq!((given.trips(), given.trip(), given.header().as_str()), (1, 0, "i"));
    }
}
