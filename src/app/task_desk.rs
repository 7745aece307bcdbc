//! What is done with tasks in the window: one is chosen, its parts and what it is a part of are gone to, charts tell something else.

use super::desk::Desk;
use super::keys::Action;
use super::task_keys::{ForTasks, for_tasks};
use crate::axis::Position;
use crate::overlay::pen::Target;
use crate::tasks::TaskIndex;
use crate::tasks::metrics::Metric;

impl Desk {
    /// Does what a key or a button says that means something else for tasks, or nothing. `false`: it means what it means for a trace.
    pub(super) fn apply_to_tasks(&mut self, action: Action, now: f64) -> bool {
        match action {
            // Of a kernel, to what its items do next.
            Action::Step(_) if self.studio().kernel().is_some() => return false,
            Action::Step(by) => self.next_task(by > 0, now),
            Action::Miss(forward) => self.next_task(forward, now),
            Action::Line(down) => self.walk_task(down, now),
            Action::Undo(again) => self.turn_task(again, now),
            Action::GoBack => self.turn_task(false, now),
            Action::LookAtPin => match self.session.task_look().task {
                Some(task) => self.look_at_task(task),
                None => self.say("no task is chosen: click a bar", now),
            },
            Action::Whole => {
                self.session.show_stretch(crate::overlay::Stretch::default());
                return false;
            }
            Action::Escape if self.session.task_look().lit.is_some() => self.session.task_look_mut().lit = None,
            _ if for_tasks(action) == ForTasks::Nothing => {
                self.say("this is for traces; here are tasks", now);
            }
            _ => return false,
        }
        true
    }

    /// Does what a click on a task, a location, a colour or a heading of charts asks for; `alone`: Shift was held.
    pub(super) fn follow_task(&mut self, target: Target, alone: bool) {
        match target {
            Target::Task(task) => {
                self.choose_task(task);
                if alone {
                    self.look_at_task(task);
                }
            }
            Target::Location(location) => self.session.task_look_mut().location = Some(location),
            Target::Kind(kind) => {
                let look = self.session.task_look_mut();
                look.lit = Some(kind).filter(|_| look.lit != Some(kind));
            }
            Target::Axis(axis) => {
                let look = self.session.task_look_mut();
                if let Some(metric) = look.metrics.get_mut(usize::from(axis)) {
                    *metric = next_metric(*metric);
                }
            }
            Target::Order => {
                let look = self.session.task_look_mut();
                look.order = look.order.next();
            }
            _ => {}
        }
    }

    /// Chooses a task; what was chosen before can be gone back to.
    pub(super) fn choose_task(&mut self, task: TaskIndex) {
        if self.session.task_look().task != Some(task) {
            self.chosen_before.truncate(self.chosen_at);
            self.chosen_before.push(task);
            self.chosen_at = self.chosen_before.len();
        }
        self.show_task(task);
    }

    fn show_task(&mut self, task: TaskIndex) {
        let Some(book) = self.studio().tasks().cloned() else { return };
        let look = self.session.task_look_mut();
        (look.task, look.location) = (Some(task), None);
        let (start, end) = (book.set().start(task), book.set().end(task));
        // The playhead comes along where it is elsewhere.
        if !(start..=end).contains(&self.transport.tick()) {
            self.transport.jump(Position::at(start));
        }
    }

    /// Has the strip show a task and what is around it.
    fn look_at_task(&mut self, task: TaskIndex) {
        let Some(book) = self.studio().tasks().cloned() else { return };
        let (start, end) = (book.set().start(task), book.set().end(task));
        let (axis, whole) = (self.transport.axis(), crate::overlay::Stretch::default());
        let factor = axis.total as f64 / (4 * (end - start).max(1)) as f64;
        let middle = Position::at(start + (end - start) / 2);
        // In the middle of what is shown.
        let stretch = whole.closer(axis, factor, middle);
        let stretch = stretch.moved(axis, stretch.place(axis, middle) - 0.5);
        self.session.show_stretch(stretch);
    }

    /// The task that was chosen before (`forward`: after) the one that is chosen.
    pub(super) fn turn_task(&mut self, forward: bool, now: f64) {
        let at = if forward { self.chosen_at.checked_add(1) } else { self.chosen_at.checked_sub(1) };
        let task =
            at.filter(|at| (1..=self.chosen_before.len()).contains(at)).map(|at| (at, self.chosen_before[at - 1]));
        match task {
            Some((at, task)) => {
                self.chosen_at = at;
                self.show_task(task);
            }
            None => {
                self.say(if forward { "no task was chosen after this" } else { "no task was chosen before this" }, now)
            }
        }
    }

    /// What the chosen task is a part of, or the first of its parts.
    pub(super) fn walk_task(&mut self, down: bool, now: f64) {
        let Some(book) = self.studio().tasks().cloned() else { return };
        let Some(task) = self.session.task_look().task else {
            return self.say("no task is chosen: click a bar", now);
        };
        let set = book.set();
        let next = match down {
            true => set.children(task).iter().copied().min_by_key(|&part| (set.start(part), part)),
            false => set.parent(task),
        };
        match next {
            Some(next) => self.choose_task(next),
            None => self.say(if down { "it has no parts" } else { "it is a part of nothing" }, now),
        }
    }

    /// The next or the previous task of the location that is shown.
    pub(super) fn next_task(&mut self, forward: bool, now: f64) {
        let Some(book) = self.studio().tasks().cloned() else { return };
        let (set, look) = (book.set(), self.session.task_look());
        let of_task = look.task.map(|task| set.location_of(task));
        let Some(location) = look.location.or(of_task).or_else(|| book.busiest()) else { return };
        let here = set.tasks_at(location);
        let tick = self.transport.tick();
        let found = match look.task.filter(|task| here.contains(task)) {
            Some(task) if forward => Some(task + 1).filter(|task| here.contains(task)),
            Some(task) => task.checked_sub(1).filter(|task| here.contains(task)),
            None if forward => here.clone().find(|&task| set.start(task) >= tick),
            None => here.clone().rev().find(|&task| set.start(task) < tick),
        };
        match found {
            Some(task) => {
                self.choose_task(task);
                self.transport.jump(Position::at(set.start(task)));
            }
            None => self.say(if forward { "no task here after this" } else { "no task here before this" }, now),
        }
    }
}

/// The metric after this one; after the last, none.
fn next_metric(metric: Option<Metric>) -> Option<Metric> {
    let at = metric.and_then(|metric| Metric::ALL.iter().position(|other| *other == metric));
    Metric::ALL.get(at.map_or(0, |at| at + 1)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overlay::{Parts, Studio, exhibits};
    use crate::scene::View;
    use crate::tasks::metrics::Edges;
    use crate::tasks::{NewTask, TaskBook, TaskId, TaskSetBuilder};

    /// Tasks 1 to `count` of 10 ticks one after the other, at two places in turn; first those of another place where it is `whole`.
    fn studio(count: u64, whole: bool) -> Studio {
        let mut builder = TaskSetBuilder::new(1_000);
        let mut push = |number: u64, place: &str, category: &str| {
            let (word, location) = (builder.word(category), builder.location(place));
            let (id, start, end) = (TaskId::Number(number), 10 * number, 10 * number + 10);
            let task = NewTask { id: &id, parent: None, category: word, action: word, location, start, end };
            builder.push(task).expect("few");
        };
        if whole {
            push(0, "another", "earlier");
        }
        (1..=count).for_each(|number| push(number, ["L1", "L2"][usize::from(number % 2 == 0)], "inst"));
        Studio::of_tasks(TaskBook::new(builder.finish().set, Edges::Neither, "tasks", "")).expect("made")
    }

    fn desk(studio: Studio) -> Desk {
        let (row, at) = ([exhibits::suited(&studio)], studio.first_position());
        Desk::new(studio, View::default(), Parts::default(), &row, at, 100.0)
    }

    #[test]
    fn what_was_chosen_among_the_first_tasks_is_chosen_when_all_are_read() {
        let mut desk = desk(studio(10, false));
        let find = |desk: &Desk, id: &str| desk.studio().tasks().expect("tasks").set().find(id).expect("there");
        for id in ["3", "4"] {
            let task = find(&desk, id);
            desk.follow_task(Target::Task(task), false);
        }
        let kind = desk.studio().tasks().expect("tasks").kind(find(&desk, "3"));
        desk.follow_task(Target::Kind(kind), false);
        let at = desk.transport.position();
        desk.replace(studio(500, true));
        let book = desk.studio().tasks().expect("tasks").clone();
        let look = desk.session.task_look().clone();
        assert_eq!(look.task.map(|task| book.set().id(task)), Some("4".to_owned()));
        assert_eq!(look.lit.map(|kind| book.kinds()[kind].as_str()), Some("inst"));
        assert_eq!(desk.transport.position(), at, "the playhead stays where somebody put it");
        assert_eq!(desk.transport.axis(), book.set().axis());
        desk.turn_task(false, 0.0);
        let before = desk.session.task_look().task.map(|task| book.set().id(task));
        assert_eq!(before, Some("3".to_owned()), "what was chosen before is known still");
        desk.refresh().expect("in memory");
    }

    #[test]
    fn where_nobody_did_anything_all_of_it_is_shown_as_it_would_be_at_first() {
        let (mut desk, whole) = (desk(studio(10, false)), studio(500, true));
        let at = whole.first_position();
        desk.replace(whole);
        assert_eq!(desk.transport.position(), at);
        let book = desk.studio().tasks().expect("tasks").clone();
        assert_eq!(*desk.session.task_look(), book.first().look);
    }
}
