//! Layouts of the window that have a name: which panes, how they divide the window, how large its type is.

use super::arrangement::{Arrangement, Cell, Column};
use super::desk::Desk;
use super::keys::Action;
use super::panes::Panes;
use super::task_keys::{ForTasks, for_tasks};
use crate::overlay::Studio;
use crate::overlay::exhibits::{self, Subject};
use crate::scene::Camera;

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedLayout {
    /// The rings alone, with large type: to be seen from the last row.
    Lecture,
    /// Rings, chart, source lines and numbers.
    Engineer,
    /// The caches before, those of now, and what differs.
    Compare,
}

impl NamedLayout {
    /// All of them, in the order of their keys.
    pub const ALL: [Self; 3] = [Self::Lecture, Self::Engineer, Self::Compare];

    /// Its name, as on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Lecture => "lecture",
            Self::Engineer => "engineer",
            Self::Compare => "compare",
        }
    }

    /// What it shows, for people.
    #[must_use]
    pub fn what(self) -> &'static str {
        match self {
            Self::Lecture => "the rings alone, large type",
            Self::Engineer => "rings, chart, source lines and numbers",
            Self::Compare => "the caches before, those of now, and what differs",
        }
    }

    /// How many times as large as usual type is.
    #[must_use]
    pub fn type_factor(self) -> f32 {
        if self == Self::Lecture { 1.4 } else { 1.0 }
    }

    /// The panes for a trace, or for tasks. Where there is nothing to compare with yet, only the caches of now are shown.
    #[must_use]
    pub fn panes(self, studio: &Studio) -> Arrangement {
        let of_tasks = studio.tasks().is_some();
        let suited = exhibits::suited(studio);
        let rings =
            if of_tasks && studio.kernel().is_none() { exhibits::named("rings").unwrap_or(suited) } else { suited };
        let one = |name: &str, height: u8| Cell { height, ..Cell::of(exhibits::named(name).unwrap_or(rings)) };
        let column = |width: u8, cells: Vec<Cell>| Column { width, cells };
        let rings = |height: u8, baseline: bool| Cell { height, baseline, ..Cell::of(rings) };
        let columns = match self {
            Self::Lecture => vec![column(1, vec![rings(1, false)])],
            Self::Engineer if studio.kernel().is_some() => vec![
                column(
                    58,
                    match studio.kernel().is_some_and(|kernel| !kernel.emits.is_empty()) {
                        true => vec![one("kernel-memory", 62), one("kernel-values", 38)],
                        false => vec![one("kernel-memory", 1)],
                    },
                ),
                column(42, vec![one("kernel-divergence", 34), one("kernel-branches", 26), one("kernel-source", 40)]),
            ],
            Self::Engineer if of_tasks => vec![
                column(58, vec![rings(66, false), one("component", 34)]),
                column(42, vec![one("overview", 1), one("task", 1)]),
            ],
            Self::Engineer => {
                let has_lines = !studio.timeline().lines().places().is_empty();
                let tables =
                    if has_lines { vec![one("source", 1), one("numbers", 1)] } else { vec![one("numbers", 1)] };
                vec![column(60, vec![rings(66, false), one("chart", 34)]), column(40, tables)]
            }
            Self::Compare if studio.baseline().is_none() => vec![column(1, vec![rings(1, false)])],
            Self::Compare => vec![
                column(1, vec![rings(1, true)]),
                column(1, vec![rings(1, false)]),
                column(1, vec![one("compare", 1)]),
            ],
        };
        Arrangement { columns }
    }
}

/// The panes in which a studio is read best, where nobody asked for any.
pub(super) fn suited(studio: &Studio) -> Arrangement {
    match studio.kernel() {
        Some(_) => NamedLayout::Engineer.panes(studio),
        None => Arrangement::side_by_side(&[exhibits::suited(studio)]),
    }
}

/// Whether a kernel has the panes in which it is read best.
pub(super) fn is_suited(panes: &Panes, studio: &Studio) -> bool {
    let names = |all: &Arrangement| -> Vec<&str> {
        all.columns.iter().flat_map(|column| &column.cells).map(|cell| cell.row.name).collect()
    };
    studio.kernel().is_some() && names(&panes.arrangement()) == names(&suited(studio))
}

impl Desk {
    /// Divides the window as a layout has it, and says so.
    pub(super) fn lay_out(&mut self, layout: NamedLayout, now: f64) {
        let of_tasks = self.studio().tasks().is_some();
        if of_tasks && layout == NamedLayout::Compare {
            return self.divide(&Arrangement::default(), Camera::default());
        }
        self.divide(&layout.panes(self.studio()), Camera::default());
        self.layout = Some(layout);
        if let Some(last) = self.panes.seen().last().map(|(id, _)| id).filter(|_| layout == NamedLayout::Compare) {
            // Its numbers are those that people copy.
            self.panes.set_focus(last);
        }
        let waits = layout == NamedLayout::Compare && self.studio().baseline().is_none();
        let is_open = self.caches.as_ref().is_some_and(|card| card.open);
        if waits && !is_open {
            self.turn_caches(now);
        }
        if waits {
            self.say("change the caches on this card: those before and those of now will stand side by side", now);
        } else {
            let what = match for_tasks(Action::Layout(layout)) {
                ForTasks::Does(_) if self.studio().kernel().is_some() => {
                    "memory, divergence, branchings and source, and values where some are told"
                }
                ForTasks::Does(what) if of_tasks => what,
                _ => layout.what(),
            };
            self.say(format!("layout {}: {what}", layout.name()), now);
        }
    }

    /// Has other panes in place of all that there are; the first has `camera`. For none: what suits the trace.
    pub(super) fn divide(&mut self, panes: &Arrangement, camera: Camera) {
        let studio = self.session.studio();
        let suited = suited(studio);
        let subject = Subject::of(studio);
        let fits = panes.columns.iter().flat_map(|column| &column.cells).all(|cell| cell.row.of.contains(&subject));
        let panes = if fits { panes } else { &suited };
        self.panes = Panes::arranged(if panes.is_empty() { &suited } else { panes }, camera, studio);
        self.layout = None;
    }

    /// The layout, as long as the panes are as it has them.
    pub(super) fn layout_now(&self) -> Option<NamedLayout> {
        let panes = self.panes.arrangement().in_hundredths().texts();
        self.layout.filter(|layout| layout.panes(self.studio()).in_hundredths().texts() == panes)
    }

    /// How many times as large as usual type is.
    #[must_use]
    pub fn type_size(&self) -> f32 {
        self.text_scale * self.layout.map_or(1.0, NamedLayout::type_factor)
    }

    /// The next size of type, larger (`1`) or smaller (`-1`), or the usual one (`0`).
    pub(super) fn turn_type(&mut self, by: i8, now: f64) {
        self.text_scale = next_size(self.text_scale, by);
        self.say(format!("size of type: {:.0} %", 100.0 * self.type_size()), now);
    }
}

/// Sizes of type that keys go through.
const SIZES: [f32; 10] = [0.75, 0.85, 1.0, 1.15, 1.3, 1.5, 1.75, 2.0, 2.5, 3.0];

fn next_size(now: f32, by: i8) -> f32 {
    match by {
        0 => 1.0,
        1.. => SIZES.into_iter().find(|size| *size > now + 0.01).unwrap_or(now),
        _ => SIZES.into_iter().rev().find(|size| *size < now - 0.01).unwrap_or(now),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::caches::Change;
    use crate::app::caches_panel::CardAsks;
    use crate::app::desk::Effect;
    use crate::app::desk::tests::desk;
    use crate::axis::Position;
    use crate::overlay::Parts;
    use crate::scene::View;
    use crate::sim::Hierarchy;
    use crate::tasks::metrics::Edges;
    use crate::tasks::{NewTask, TaskBook, TaskId, TaskSetBuilder};
    use std::sync::Arc;

    fn names(desk: &Desk) -> String {
        desk.panes.arrangement().texts().join(",")
    }

    #[test]
    fn each_layout_has_its_panes_and_is_left_when_they_are_others() {
        let mut desk = desk();
        for (layout, panes, size) in
            [(NamedLayout::Engineer, "60:rings:66/chart:34,40:numbers", 1.0), (NamedLayout::Lecture, "rings", 1.4)]
        {
            desk.apply(Action::Layout(layout), 0.0);
            assert_eq!((names(&desk).as_str(), desk.layout_now()), (panes, Some(layout)));
            assert_eq!(desk.type_size(), size);
            desk.refresh().expect("in memory");
        }
        desk.apply(Action::Split(crate::app::panes::Side::Below), 0.0);
        assert_eq!((names(&desk).as_str(), desk.layout_now()), ("rings/numbers", None));
        assert_eq!(desk.type_size(), 1.4, "type stays as large as it was");
    }

    #[test]
    fn tasks_have_layouts_of_their_own() {
        let mut builder = TaskSetBuilder::new(1_000);
        let (word, location) = (builder.word("inst"), builder.location("CU"));
        let (id, category, action, start, end) = (TaskId::Number(1), word, word, 0, 100);
        builder.push(NewTask { id: &id, parent: None, category, action, location, start, end }).expect("one");
        let tasks =
            Studio::of_tasks(TaskBook::new(builder.finish().set, Edges::Neither, "one task", "")).expect("made");
        let row = [exhibits::suited(&tasks)];
        let mut desk = Desk::new(tasks, View::default(), Parts::default(), &row, Position::START, 100.0);
        let before = names(&desk);
        for (layout, panes) in
            [(NamedLayout::Engineer, "58:rings:66/component:34,42:overview/task"), (NamedLayout::Lecture, "rings")]
        {
            desk.apply(Action::Layout(layout), 0.0);
            assert_eq!((names(&desk).as_str(), desk.layout_now()), (panes, Some(layout)));
            desk.refresh().expect("in memory");
        }
        desk.apply(Action::Layout(NamedLayout::Compare), 0.0);
        assert_eq!(names(&desk), "rings", "there is nothing to compare");
        assert_eq!(before, "tasks");
    }

    #[test]
    fn to_compare_begins_with_the_caches_and_is_there_once_they_were_changed() {
        let mut desk = desk();
        desk.apply(Action::Layout(NamedLayout::Compare), 0.0);
        assert_eq!((names(&desk).as_str(), desk.layout_now()), ("rings", Some(NamedLayout::Compare)));
        let card = desk.caches.as_mut().expect("opened");
        assert!(card.open && card.change(&Change::Wayed(0, true)));
        let Some(Effect::Simulate(config)) = desk.asked(CardAsks::Simulate, 0.0) else { panic!("asked for") };
        let source = Arc::clone(desk.studio().timeline().source());
        let hierarchy = Hierarchy::new(&config).expect("sound");
        desk.recache(Studio::new(source, hierarchy, &mut |_, _| true).expect("in memory"), 0.0);
        assert_eq!((names(&desk).as_str(), desk.layout_now()), ("A.rings,rings,compare", Some(NamedLayout::Compare)));
        let baseline: Vec<bool> = desk.panes.seen().map(|(_, pane)| pane.shows_baseline()).collect();
        assert_eq!(baseline, [true, false, false]);
        desk.refresh().expect("in memory");
    }

    #[test]
    fn sizes_of_type_go_up_and_down_and_back() {
        let mut desk = desk();
        let sizes: Vec<f32> = (0..3)
            .map(|_| {
                desk.apply(Action::Text(1), 0.0);
                desk.type_size()
            })
            .collect();
        assert_eq!(sizes, [1.15, 1.3, 1.5]);
        desk.apply(Action::Text(-1), 0.0);
        assert_eq!(desk.type_size(), 1.3);
        desk.apply(Action::Text(0), 0.0);
        assert_eq!(desk.type_size(), 1.0);
        let far = (0..20).fold(1.0, |size, _| next_size(size, 1));
        assert_eq!((far, (0..20).fold(far, |size, _| next_size(size, -1))), (3.0, 0.75));
        assert_eq!(next_size(1.23, 1), 1.3);
    }
}
