//! What keys and mouse mean where there are tasks in place of a trace.

use super::keys::Action;
use super::layouts::NamedLayout;

/// What an action does there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ForTasks {
    /// What it does for a trace.
    Same,
    /// It is for traces alone.
    Nothing,
    /// Something else.
    Does(&'static str),
}

/// What an action does where there are tasks.
pub(super) fn for_tasks(action: Action) -> ForTasks {
    match action {
        Action::Step(_) => ForTasks::Does("the task before, the task after, at this location; of a kernel, by a row"),
        Action::Miss(_) => ForTasks::Does("the task before, the task after, at this location"),
        Action::Line(_) => ForTasks::Does("its first part, what it is a part of"),
        Action::Undo(_) => ForTasks::Does("the task that was chosen before, after"),
        Action::GoBack => ForTasks::Does("the task that was chosen before"),
        Action::LookAtPin => ForTasks::Does("closer to the chosen task"),
        Action::Finder => ForTasks::Does("find a location, a metric, a task; filter locations"),
        Action::Speed(_) => ForTasks::Does("speed: the whole run in 500 s, 200 s, two minutes ... 4 s, 1 s"),
        Action::Exhibit => ForTasks::Does("the next picture: rings, tasks, overview, component, task, topology"),
        Action::Closer(_) | Action::Whole => ForTasks::Does("larger type, smaller type; all of the run"),
        Action::Caches
        | Action::Clock
        | Action::Eviction(_)
        | Action::Mark(_)
        | Action::Compare
        | Action::Machine
        | Action::Inspect
        | Action::Advice
        | Action::Words
        | Action::Region(_)
        | Action::Strip
        | Action::Radii
        | Action::Bookmark
        | Action::ToBookmark(_)
        | Action::Notes
        | Action::CopyCommand
        | Action::Layout(NamedLayout::Compare) => ForTasks::Nothing,
        Action::Layout(NamedLayout::Engineer) => ForTasks::Does("rings, charts, bars and the tree of one task"),
        _ => ForTasks::Same,
    }
}

/// What the mouse does.
pub(super) const MOUSE: [(&str, &str); 9] = [
    ("Strip", "click or drag to go there; wheel for a part of the run"),
    ("Charts, bars", "wheel for a part of the run, drag to move on in it, double click for all of it"),
    ("", "Shift + drag for what is played"),
    ("Bars, rows", "click to choose a task; Shift + click to come closer to it"),
    ("Rings", "wheel to come closer; click a dot to choose its task, a sector for its tasks"),
    ("Charts", "click for the tasks of that location"),
    ("Headings", "click what charts tell for the next metric, their order for the next one"),
    ("Colours", "click one to have it stand out"),
    ("Panes", "drag borders and tabs; keys go where the pointer is"),
];
