//! Two machines or two traces in one window: what is shown, B, and what it is compared with, A.

use super::desk::Desk;
use super::layouts::NamedLayout;
use super::panes::Side;
use crate::overlay::exhibits;
use crate::overlay::{Baseline, Studio};
use crate::timeline::StepBy;

/// Name of the exhibit that compares.
/// Points of width below which half of a pane has no room for a table.
const NARROW: u32 = 700;
pub(super) const COMPARE: &str = "compare";
/// What is said where there is nothing to compare with.
const NOTHING: &str = "nothing to compare with yet: change the caches in the card, or find another trace (Ctrl+P)";

impl Desk {
    /// Opens the comparison beside the pane that keys are for; where there is one already, keys are for it.
    pub(super) fn compare(&mut self, now: f64) {
        if self.studio().baseline().is_none() {
            return self.offer_to_compare(now);
        }
        self.open_beside(COMPARE, now);
    }

    /// Where there is nothing to compare with: says how there would be, and opens the card in which caches are changed.
    fn offer_to_compare(&mut self, now: f64) {
        if self.caches.as_ref().is_none_or(|card| !card.open) {
            // Of a trace that is still read this says why there is no card.
            self.turn_caches(now);
        }
        if self.caches.as_ref().is_some_and(|card| card.open) {
            self.say_for(NOTHING, 6.0, now);
        }
    }

    /// Has the pane that keys are for show the other machine, or this one again.
    pub(super) fn turn_machine(&mut self, now: f64) {
        let Self { session, panes, .. } = self;
        let Some(baseline) = session.studio().baseline() else { return self.offer_to_compare(now) };
        let caches = |studio: &Studio| studio.timeline().config().name.clone();
        let (a, b) = match baseline.is_trace() {
            true => (baseline.studio().tables().title.clone(), session.studio().tables().title.clone()),
            false => (
                format!("{}, the caches before", caches(baseline.studio())),
                format!("{}, the caches now", caches(session.studio())),
            ),
        };
        let pane = panes.focused_mut();
        pane.turn_machine(session.studio());
        let words = if pane.shows_baseline() { format!("A: {a}") } else { format!("B: {b}") };
        self.say(words, now);
    }

    /// Compares with this trace under other caches, or with another trace.
    pub(super) fn compare_with_other(&mut self, other: Studio, by: Option<StepBy>, now: f64) {
        if !other.timeline().is_of_source(self.studio().timeline()) {
            return self.compare_with_trace(other, by, now);
        }
        self.say_for(
            format!("A is under \"{}\", B as now; the key A compares numbers", other.timeline().config().name),
            6.0,
            now,
        );
        self.compare_with(Baseline::caches(other));
    }

    /// Compares with another trace, `by` saying how they go in step; where they do not go so, it is said. Where the window has one pane
    /// alone, A, B and their numbers stand side by side.
    fn compare_with_trace(&mut self, other: Studio, by: Option<StepBy>, now: f64) {
        let first = self.studio().baseline().is_none();
        let (baseline, error) = Baseline::trace(self.studio(), other, by);
        let words = match (error, baseline.by()) {
            (Some(error), Some(by)) => format!("{error}; they go in step by {by}"),
            (_, Some(by)) => {
                let title = &baseline.studio().tables().title;
                format!("A is {title}, which goes in step with this one, B, by {by}")
            }
            (_, None) => String::new(),
        };
        self.compare_with(baseline);
        if first && self.panes.len() == 1 {
            self.lay_out(NamedLayout::Compare, now);
        }
        self.say_for(words, 6.0, now);
    }

    /// Compares with a trace that is simulated under other caches now.
    pub(super) fn recache_baseline(&mut self, other: Studio) {
        if let Some(baseline) = self.session.studio_mut().take_baseline() {
            let baseline = baseline.recached(other, self.session.studio());
            self.compare_with(baseline);
        }
    }

    fn compare_with(&mut self, baseline: Baseline) {
        self.session.studio_mut().compare_with(Some(baseline));
        let studio = self.session.studio();
        self.panes.iter_mut().for_each(|pane| pane.reopen(studio));
    }

    /// From now on, other caches are compared with those of now.
    pub(super) fn compare_with_these(&mut self, now: f64) {
        self.session.studio_mut().compare_with(None);
        self.against = None;
        let studio = self.session.studio();
        self.panes.iter_mut().for_each(|pane| pane.reopen(studio));
        self.say("other caches are compared with these from now on", now);
    }

    /// Shows an exhibit in a pane of its own, on the right of the one that keys are for, or below where that is high and narrow; keys are for
    /// it.
    pub(super) fn open_beside(&mut self, name: &str, now: f64) {
        let found = self.panes.seen().find(|(_, pane)| pane.row().name == name).map(|(id, _)| id);
        if let Some(id) = found {
            return self.panes.set_focus(id);
        }
        let Some(row) = exhibits::named(name) else { return };
        let Self { session, panes, .. } = self;
        let [width, height] = panes.focused().place().area.size;
        let side = if width < height && width < NARROW { Side::Below } else { Side::Right };
        if panes.split(panes.focus(), side, session.studio()) {
            self.show(row, now);
        } else {
            self.say("there is no room for more panes", now);
        }
    }
}
