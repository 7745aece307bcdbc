//! Two machines in one window: the caches that are simulated now, B, and those that they are compared with, A.

use super::desk::Desk;
use super::panes::Side;
use crate::overlay::exhibits;

/// Name of the exhibit that compares.
const COMPARE: &str = "compare";
/// What is said where there is nothing to compare with.
const NOTHING: &str = "nothing to compare with: change the caches (E)";

impl Desk {
    /// Opens the comparison beside the pane that keys are for; where there is one already, keys are for it.
    pub(super) fn compare(&mut self, now: f64) {
        if self.studio().beside().is_none() {
            return self.say(NOTHING, now);
        }
        self.open_beside(COMPARE, now);
    }

    /// Has the pane that keys are for show the other machine, or this one again.
    pub(super) fn turn_machine(&mut self, now: f64) {
        let Self { session, panes, .. } = self;
        let Some(beside) = session.studio().beside() else { return self.say(NOTHING, now) };
        let name = |studio: &crate::overlay::Studio| studio.timeline().config().name.clone();
        let (a, b) = (name(beside), name(session.studio()));
        let pane = panes.focused_mut();
        pane.turn_machine(session.studio());
        let words =
            if pane.shows_beside() { format!("A: {a}, the caches before") } else { format!("B: {b}, the caches now") };
        self.say(words, now);
    }

    /// From now on, other caches are compared with those of now.
    pub(super) fn compare_with_these(&mut self, now: f64) {
        self.session.studio_mut().compare_with(None);
        let studio = self.session.studio();
        self.panes.iter_mut().for_each(|pane| pane.reopen(studio));
        self.say("other caches are compared with these from now on", now);
    }

    /// Shows an exhibit in a pane of its own, on the right of the one that keys are for; keys are for it.
    pub(super) fn open_beside(&mut self, name: &str, now: f64) {
        let found = self.panes.seen().find(|(_, pane)| pane.row().name == name).map(|(id, _)| id);
        if let Some(id) = found {
            return self.panes.set_focus(id);
        }
        let Some(row) = exhibits::named(name) else { return };
        let Self { session, panes, .. } = self;
        if panes.split(panes.focus(), Side::Right, session.studio()) {
            self.show(row, now);
        } else {
            self.say("there is no room for more panes", now);
        }
    }
}
