//! Most recently used (Chou, DeWitt 1985): the line just used is the next to leave, which is good for loops that are a little too
//! large.

use super::list::{close, held};
use super::{About, Family, Replacement, Set};

pub(super) struct Mru;

impl Replacement for Mru {
    const ABOUT: About = About {
        word: "mru",
        victim: "the most recently used line",
        source: "Chou, DeWitt 1985",
        state: "the order of its lines",
        family: Family::List,
        ..About::NONE
    };

    fn hit(set: &mut Set<'_>, way: usize) -> usize {
        let held = held(set);
        set.move_to_back(way, held);
        held - 1
    }

    fn fill(_: &mut Set<'_>, way: usize) -> usize {
        // The lowest empty way is the one behind all lines; the victim's was the last.
        way
    }

    fn remove(set: &mut Set<'_>, way: usize) {
        close(set, way);
    }
}
