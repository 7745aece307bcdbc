//! Least recently used (Mattson, Gecsei, Slutz, Traiger 1970): a hit moves its line to the head of the list.

use super::list::close;
use super::{About, Family, Replacement, Set};

pub(super) struct Lru;

impl Replacement for Lru {
    const ABOUT: About = About {
        word: "lru",
        victim: "the least recently used line",
        source: "Mattson, Gecsei, Slutz, Traiger 1970",
        state: "the order of its lines",
        family: Family::List,
        ages: true,
        ..About::NONE
    };

    fn hit(set: &mut Set<'_>, way: usize) -> usize {
        set.move_to_front(way);
        0
    }

    fn fill(set: &mut Set<'_>, way: usize) -> usize {
        set.move_to_front(way);
        0
    }

    fn remove(set: &mut Set<'_>, way: usize) {
        close(set, way);
    }
}
