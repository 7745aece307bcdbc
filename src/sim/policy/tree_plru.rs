//! Tree-PLRU (So, Rechtschaffen 1988): a binary tree over the ways, a bit at each inner node.
//!
//! ```text
//!          node 1            bit 0: the victim is to the left (lower ways), 1: to the right
//!        /        \          a use turns every bit on its path away from itself
//!     node 2     node 3      all bits start at 0
//!     /    \     /    \
//!   way 0   1   2      3     node n has the children 2n and 2n + 1; way w is node ways + w
//! ```

use super::{About, Family, Replacement, Set, View};
use std::cmp::Reverse;

pub(super) struct TreePlru;

fn point_away(state: &mut [u32], ways: usize, way: usize) {
    let mut node = ways + way;
    while node > 1 {
        let right = node & 1 == 1;
        node /= 2;
        state[node] = u32::from(!right);
    }
}

impl Replacement for TreePlru {
    const ABOUT: About = About {
        word: "tree-plru",
        victim: "the line at the end of a path of bits",
        source: "So, Rechtschaffen 1988",
        state: "a bit an inner node of a tree",
        family: Family::PseudoLru,
        power_of_two_ways: true,
        ..About::NONE
    };

    fn state_len(ways: usize) -> usize {
        ways
    }

    fn hit(set: &mut Set<'_>, way: usize) -> usize {
        point_away(set.state, set.words.len(), way);
        way
    }

    fn victim(set: &mut Set<'_>) -> usize {
        let ways = set.words.len();
        let mut node = 1;
        while node < ways {
            node = 2 * node + usize::from(set.state[node] == 1);
        }
        node - ways
    }

    fn fill(set: &mut Set<'_>, way: usize) -> usize {
        Self::hit(set, way)
    }

    fn remove(_: &mut Set<'_>, _: usize) {}

    /// The bits on the way's path that point at it, the root's first: the victim has all ones.
    fn key(set: &View<'_>, way: usize, _: bool) -> (u64, Reverse<usize>) {
        let ways = set.words.len();
        let (mut node, mut key, mut weight) = (ways + way, 0u64, 0u32);
        while node > 1 {
            let right = node & 1 == 1;
            node /= 2;
            key |= u64::from((set.state[node] == 1) == right) << weight;
            weight += 1;
        }
        (key, Reverse(way))
    }
}
