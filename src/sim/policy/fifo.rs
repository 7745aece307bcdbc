//! First in, first out (Belady 1966): a hit changes nothing.

use super::list::close;
use super::{About, Family, Replacement, Set};

pub(super) struct Fifo;

impl Replacement for Fifo {
    const ABOUT: About = About {
        word: "fifo",
        victim: "the line that has been there longest",
        source: "Belady 1966",
        state: "the order of its lines",
        family: Family::List,
        ages: true,
        ..About::NONE
    };

    fn hit(_: &mut Set<'_>, way: usize) -> usize {
        way
    }

    fn fill(set: &mut Set<'_>, way: usize) -> usize {
        set.move_to_front(way);
        0
    }

    fn remove(set: &mut Set<'_>, way: usize) {
        close(set, way);
    }
}
