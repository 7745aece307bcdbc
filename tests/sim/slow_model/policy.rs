//! Who leaves, each policy from its definition, and the order in which lines would leave as far as it is known.

use super::cache::{Cache, Line};
use orrery::sim::Policy;

/// Tree-PLRU's tree over some ways, as a tree.
#[derive(Clone, Debug)]
pub(crate) enum Tree {
    Way(usize),
    Split { right_next: bool, middle: usize, left: Box<Tree>, right: Box<Tree> },
}

impl Tree {
    /// Over `ways` ways, a power of two, from `first`.
    pub(crate) fn over(first: usize, ways: usize) -> Self {
        if ways == 1 {
            return Self::Way(first);
        }
        let (half, middle) = (ways / 2, first + ways / 2);
        let (left, right) = (Box::new(Self::over(first, half)), Box::new(Self::over(middle, half)));
        Self::Split { right_next: false, middle, left, right }
    }

    /// `way` was used.
    pub(crate) fn turn_away(&mut self, way: usize) {
        if let Self::Split { right_next, middle, left, right } = self {
            *right_next = way < *middle;
            let side = if way < *middle { left } else { right };
            side.turn_away(way);
        }
    }

    /// All ways, the next victim last.
    fn order(&self) -> Vec<usize> {
        match self {
            Self::Way(way) => vec![*way],
            Self::Split { right_next, left, right, .. } => {
                let (safe, next) = if *right_next { (left, right) } else { (right, left) };
                [safe.order(), next.order()].concat()
            }
        }
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014) of a seed, a set and a count below 2^32.
pub(crate) fn lot(seed: u64, set: u64, count: u64) -> u64 {
    let at = 1 + (u128::from(set) << 32 | u128::from(count));
    let wide = u128::from(seed) + 0x9e37_79b9_7f4a_7c15 * at;
    let mut z = u64::try_from(wide % (1 << 64)).unwrap();
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Cache {
    /// The way to give up in a full set; RRIP ages its lines for it.
    pub(crate) fn choose(&mut self, number: usize) -> usize {
        if matches!(self.policy, Policy::Srrip | Policy::Brrip | Policy::Drrip) {
            while self.lines(number).iter().all(|(_, line)| line.rrpv < 3) {
                for line in self.sets[number].ways.iter_mut().flatten() {
                    line.rrpv += 1;
                }
            }
        }
        self.order(number).pop().unwrap()
    }

    /// Lines of a set and their ways.
    pub(crate) fn lines(&self, set: usize) -> Vec<(usize, &Line)> {
        self.sets[set].ways.iter().enumerate().filter_map(|(way, line)| Some((way, line.as_ref()?))).collect()
    }

    /// Ways of a set that hold lines, the next victim last; of equals, the lowest way leaves first.
    pub(crate) fn order(&self, number: usize) -> Vec<usize> {
        let set = &self.sets[number];
        let mut held = self.lines(number);
        match self.policy {
            Policy::Random => {
                let drawn = lot(self.seed, number as u64, set.evictions) % set.ways.len() as u64;
                let full = held.len() == set.ways.len();
                held.sort_by_key(|(way, _)| (full && *way as u64 == drawn, *way));
            }
            Policy::TreePlru => {
                let mut order = set.tree.order();
                order.retain(|way| set.ways[*way].is_some());
                return order;
            }
            _ => {
                held.reverse();
                held.sort_by_key(|(_, line)| self.nearness(line));
            }
        }
        held.into_iter().map(|(way, _)| way).collect()
    }

    /// The greater, the sooner the line leaves.
    fn nearness(&self, line: &Line) -> u64 {
        match self.policy {
            Policy::Lru => u64::MAX - line.used,
            Policy::Fifo => u64::MAX - line.filled,
            Policy::Mru => line.used,
            Policy::BitPlru => u64::from(!line.bit),
            Policy::Srrip | Policy::Brrip | Policy::Drrip => u64::from(line.rrpv),
            Policy::Lfu => u64::MAX - line.uses,
            Policy::Opt => {
                let rest = self.future.get(self.asked..).unwrap_or_default();
                rest.iter().position(|number| *number == line.number).map_or(u64::MAX, |at| at as u64)
            }
            Policy::Random | Policy::TreePlru => unreachable!("told apart above"),
        }
    }
}
