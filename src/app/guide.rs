//! Five hints for who is here for the first time, one after another. Each goes on when it was done, or by a button. Nothing is drawn here.

use super::desk::Desk;
use super::keys::{Action, keys_of};

/// What there is to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hint {
    /// Play, or pause.
    Play,
    /// Drag the strip.
    Strip,
    /// Go to a miss.
    Miss,
    /// Pin a dot.
    Pin,
    /// Open the card of the caches.
    Caches,
}

/// All hints, in their order.
pub(super) const HINTS: [Hint; 5] = [Hint::Play, Hint::Strip, Hint::Miss, Hint::Pin, Hint::Caches];

impl Hint {
    /// What is done, as a heading.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Play => "Play and pause",
            Self::Strip => "Go anywhere",
            Self::Miss => "Go to a miss",
            Self::Pin => "Follow a dot",
            Self::Caches => "Change the caches",
        }
    }

    /// How it is done, and what is seen then.
    pub(super) fn words(self) -> String {
        match self {
            Self::Play => {
                "Space stops, and goes on. Each dot is a piece of data. A reference that misses brings its line in from outside."
                    .into()
            }
            Self::Strip => {
                "Drag along the strip below. It shows the whole trace, and red is where references miss.".into()
            }
            Self::Miss => format!(
                "Press {}. It goes to the next reference that misses, and the words at the right say why.",
                keys_of(Action::Miss(true)).replace("Left, ", "")
            ),
            Self::Pin => {
                "Rest the pointer on a dot to read what it is. Click it to pin it: all its copies are marked.".into()
            }
            Self::Caches => format!(
                "Press {} and change a size: all is played again. {} tells what would help, {} what the words mean, and {} lists all keys.",
                keys_of(Action::Caches),
                keys_of(Action::Advice),
                keys_of(Action::Words),
                keys_of(Action::Sheet)
            ),
        }
    }

    /// Whether a desk shows that somebody does it. `acted`: the last action.
    fn is_done(self, desk: &Desk, acted: Option<Action>) -> bool {
        match self {
            Self::Play => acted == Some(Action::PlayPause),
            Self::Strip => desk.transport.scrubbing(),
            Self::Miss => matches!(acted, Some(Action::Miss(_))),
            Self::Pin => desk.pinned().is_some(),
            Self::Caches => desk.caches.as_ref().is_some_and(|card| card.open),
        }
    }
}

/// Where somebody is in the hints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Guide {
    at: usize,
}

impl Guide {
    /// The hint of now, its number from 1.
    pub(super) fn hint(self) -> Option<(usize, Hint)> {
        HINTS.get(self.at).map(|hint| (self.at + 1, *hint))
    }
}

impl Desk {
    /// Begins with the first hint.
    pub fn show_around(&mut self) {
        (self.guide, self.acted) = (Some(Guide::default()), None);
    }

    /// Goes on to the next hint; after the last one there is none any more.
    pub(super) fn next_hint(&mut self) {
        self.acted = None;
        self.guide = self.guide.map(|guide| Guide { at: guide.at + 1 }).filter(|guide| guide.hint().is_some());
    }

    /// Goes on where somebody does what the hint says.
    pub(super) fn guide_on(&mut self) {
        let hint = self.guide.and_then(Guide::hint);
        if hint.is_some_and(|(_, hint)| hint.is_done(self, self.acted)) {
            self.next_hint();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::desk::tests::desk;
    use crate::axis::Position;
    use crate::units::ByteRange;

    fn at(desk: &Desk) -> Option<Hint> {
        desk.guide.and_then(Guide::hint).map(|(_, hint)| hint)
    }

    #[test]
    fn each_hint_goes_on_when_it_was_done_and_not_before() {
        let mut desk = desk();
        desk.guide_on();
        assert_eq!(at(&desk), None, "who asked for none has none");
        desk.show_around();
        type Act = fn(&mut Desk);
        let does: [(Hint, Act); 5] = [
            (Hint::Play, |desk| _ = desk.apply(Action::PlayPause, 0.0)),
            (Hint::Strip, |desk| desk.transport.scrub(Position::at(500))),
            (Hint::Miss, |desk| _ = desk.apply(Action::Miss(true), 0.0)),
            (Hint::Pin, |desk| desk.pin(Some(ByteRange::new(0x4000, 8)))),
            (Hint::Caches, |desk| _ = desk.apply(Action::Caches, 0.0)),
        ];
        for (hint, act) in does {
            desk.apply(Action::Loop, 0.0);
            desk.guide_on();
            assert_eq!(at(&desk), Some(hint), "something else was done");
            act(&mut desk);
            desk.guide_on();
            assert_ne!(at(&desk), Some(hint));
        }
        assert_eq!(desk.guide, None);
    }

    #[test]
    fn escape_ends_the_hints_and_not_the_program() {
        let mut desk = desk();
        desk.show_around();
        desk.next_hint();
        assert_eq!(at(&desk), Some(Hint::Strip));
        assert_eq!(desk.apply(Action::Escape, 0.0), None);
        assert_eq!(desk.guide, None);
        assert_eq!(desk.apply(Action::Escape, 0.0), None, "it says what the next one does");
        assert!(desk.apply(Action::Escape, 0.0).is_some(), "the next one leaves");
    }

    #[test]
    fn every_hint_names_a_key_or_a_place() {
        for hint in HINTS {
            let words = hint.words();
            assert!(words.len() < 140 && !words.contains("  "), "{words}");
        }
        assert!(Hint::Miss.words().starts_with("Press Ctrl + Right."), "{}", Hint::Miss.words());
    }
}
