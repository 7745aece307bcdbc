//! Bookmarks and notes of the trace that is open: what is set, changed, deleted and brought back. Nothing is drawn here, and no file is
//! known: whoever opens the window gives a [`KeepNotes`].

use super::desk::{Desk, TOAST_SECONDS};
use super::state::ViewState;
use crate::axis::{Axis, Position};
use crate::trace::notes::{About, Bookmark, LONGEST_NAME, MOST_BOOKMARKS, Notes};
use crate::units::grouped;

/// Keeps notes, with what other windows wrote meanwhile, and gives all of it.
pub type KeepNotes = Box<dyn FnMut(&Notes) -> anyhow::Result<Notes>>;

/// What there is about the trace beside it.
#[derive(Default)]
pub struct Beside {
    /// The notes that were found.
    pub notes: Notes,
    /// What is wrong with the file, so that there are none.
    pub fault: Option<String>,
    /// Where they are kept; `None` = they last as long as the window.
    pub keep: Option<KeepNotes>,
    /// What the window showed when it was left.
    pub left: Option<ViewState>,
    /// Keeps the command of how the window is left where there are no notes yet; `None`: the notes have it from the start.
    pub keep_left: Option<KeepLeft>,
}

/// See [`Beside::keep_left`].
pub type KeepLeft = Box<dyn FnMut(Option<&str>)>;

/// A name that is being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Naming {
    /// Of the place that it names.
    pub(super) at: Position,
    /// What is typed so far.
    pub(super) text: String,
    /// The name that it takes the place of.
    instead: Option<String>,
}

/// See the module.
#[derive(Default)]
pub(super) struct NoteBook {
    beside: Beside,
    /// Whether the notes were held against the trace.
    met: bool,
    /// What was kept last.
    kept: Notes,
    /// It was told that they cannot be kept.
    told: bool,
    /// A name that is being typed.
    pub(super) naming: Option<Naming>,
    /// Whether the card is seen.
    pub(super) open: bool,
    /// The bookmark that the card shows in full.
    pub(super) chosen: Option<usize>,
    /// Deleted since the card was opened, the last one last.
    gone: Vec<Bookmark>,
}

impl NoteBook {
    /// Of what was found beside a trace.
    pub(super) fn new(beside: Beside) -> Self {
        Self { kept: beside.notes.clone(), beside, ..Self::default() }
    }

    /// The bookmarks, in order.
    pub(super) fn bookmarks(&self) -> &[Bookmark] {
        &self.beside.notes.bookmarks
    }

    /// Those that lie within an axis; of one that grows nobody knows where it ends.
    pub(super) fn within(&self, axis: Axis) -> &[Bookmark] {
        let all = self.bookmarks();
        let end = Position::at(axis.total);
        &all[..if axis.grows { all.len() } else { all.partition_point(|bookmark| bookmark.at <= end) }]
    }

    /// One of them, to be changed.
    pub(super) fn get_mut(&mut self, n: usize) -> Option<&mut Bookmark> {
        self.beside.notes.bookmarks.get_mut(n)
    }

    /// Whether there is a place for them.
    pub(super) fn keeps(&self) -> bool {
        self.beside.keep.is_some() && self.beside.fault.is_none()
    }

    /// What is wrong with the file of the notes.
    pub(super) fn fault(&self) -> Option<&str> {
        self.beside.fault.as_deref()
    }

    /// What the window showed when it was left.
    pub(super) fn left(&self) -> Option<&ViewState> {
        self.beside.left.as_ref()
    }

    /// Sets a bookmark; false: there are too many.
    pub(super) fn set(&mut self, at: Position, name: &str) -> bool {
        if self.bookmarks().len() >= MOST_BOOKMARKS {
            return false;
        }
        let name = fitting(name).unwrap_or_else(|| format!("bookmark at {}", grouped(at.tick())));
        if self.find(at, &name).is_none() {
            self.beside.notes.put(Bookmark { at, name, note: String::new(), of: None });
        }
        true
    }

    fn find(&self, at: Position, name: &str) -> Option<usize> {
        self.bookmarks().binary_search_by_key(&(at, name), |bookmark| (bookmark.at, &bookmark.name)).ok()
    }

    /// Gives a bookmark another name, which must be one; where that name is taken at its place, it stays as it was. Its new number.
    pub(super) fn rename(&mut self, n: usize, name: &str) -> Option<usize> {
        let at = self.bookmarks().get(n)?.at;
        let name = fitting(name)?;
        if self.find(at, &name).is_some() {
            return None;
        }
        let bookmark = Bookmark { name: name.clone(), ..self.beside.notes.bookmarks.remove(n) };
        self.beside.notes.put(bookmark);
        self.find(at, &name)
    }

    /// Takes a bookmark away; [`NoteBook::bring_back`] has it.
    pub(super) fn delete(&mut self, n: usize) {
        if n < self.bookmarks().len() {
            self.gone.push(self.beside.notes.bookmarks.remove(n));
            self.chosen = None;
        }
    }

    /// The bookmark that was deleted last.
    pub(super) fn last_gone(&self) -> Option<&Bookmark> {
        self.gone.last()
    }

    /// Brings the bookmark back that was deleted last.
    pub(super) fn bring_back(&mut self) {
        if let Some(bookmark) = self.gone.pop() {
            self.beside.notes.put(bookmark);
        }
    }

    /// Closes the card: what was deleted is gone.
    pub(super) fn close(&mut self) {
        (self.open, self.chosen) = (false, None);
        self.gone.clear();
    }

    /// The next (`forward`) or the previous bookmark from a position.
    pub(super) fn next(&self, axis: Axis, from: Position, forward: bool) -> Option<&Bookmark> {
        let all = self.within(axis);
        if forward { all.iter().find(|b| b.at > from) } else { all.iter().rev().find(|b| b.at < from) }
    }

    /// Keeps what was changed. What is to be told, once: that it cannot be kept.
    fn keep(&mut self) -> Option<String> {
        if self.beside.notes == self.kept {
            return None;
        }
        let keep = self.beside.keep.as_mut()?;
        match keep(&self.beside.notes) {
            Ok(all) => {
                let chosen = self.chosen.and_then(|n| self.bookmarks().get(n)).map(|b| (b.at, b.name.clone()));
                (self.kept, self.beside.notes) = (all.clone(), all);
                self.chosen = chosen.and_then(|(at, name)| self.find(at, &name));
                (self.told, self.beside.fault) = (false, None);
                None
            }
            Err(error) => {
                let words = format!("{error:#}");
                self.beside.fault = Some(words.clone());
                (!std::mem::replace(&mut self.told, true)).then_some(words)
            }
        }
    }
}

/// A name that can be kept; `None` = there is nothing of it.
fn fitting(name: &str) -> Option<String> {
    let name: String = name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let name: String = name.trim().chars().take(LONGEST_NAME).collect();
    (!name.is_empty()).then_some(name)
}

impl Desk {
    /// Takes what was found beside the trace.
    pub fn attach(&mut self, beside: Beside) {
        self.notes = NoteBook::new(beside);
    }

    /// Says once, when all of the trace is there, what its notes have to say: that they are damaged or of another trace, or where the
    /// window was left.
    pub(super) fn greet(&mut self, now: f64) {
        if self.notes.met || !self.studio().timeline().is_whole() {
            return;
        }
        self.notes.met = true;
        let about = self.about();
        let (fault, was) = (self.notes.beside.fault.clone(), self.notes.beside.notes.about.clone());
        // Nothing that was not read can be of another trace.
        let other = was.is_some() && self.notes.beside.notes.meet(&about);
        if other {
            self.notes.beside.left = None;
        }
        let here = self.transport.position();
        let left = self.notes.left().map(|left| left.position).filter(|at| *at != here);
        let all = grouped(was.and_then(|was| was.references).unwrap_or(0));
        // Nobody waits for these words, so there is more time to see and to read them.
        match (fault, left) {
            (Some(fault), _) => {
                self.notes.told = true;
                self.say_for(fault, 4.0 * TOAST_SECONDS, now);
            }
            _ if other && !self.notes.bookmarks().is_empty() => {
                let words = "the bookmarks beside this trace are of another one";
                let words = format!("{words}, of {all} references: those within this one are shown");
                self.say_for(words, 4.0 * TOAST_SECONDS, now);
            }
            (None, Some(at)) => {
                let words = format!("R goes back to where you left, reference {}", grouped(at.tick()));
                self.say_for(words, 2.0 * TOAST_SECONDS, now);
            }
            _ => {}
        }
    }

    /// What tells the trace that is open from others.
    fn about(&self) -> About {
        let timeline = self.studio().timeline();
        About { title: timeline.tables().title.clone(), references: timeline.total() }
    }

    /// Keeps the notes as they are now, where something changed.
    pub(super) fn keep_notes(&mut self, now: f64) {
        if self.studio().timeline().is_whole() {
            self.notes.beside.notes.about = Some(self.about());
        }
        if let Some(words) = self.notes.keep() {
            self.say(words, now);
        }
    }

    /// Keeps how the window is left, and all notes: when it is closed.
    pub fn leave(&mut self) {
        let state = self.state_to_leave();
        // Who only looked leaves no file in other people's folders: there is one from the first bookmark on.
        // In a folder of ours there is always one.
        let beside = &mut self.notes.beside;
        let in_ours = beside.keep.is_some() && beside.keep_left.is_none();
        let noted = in_ours || !beside.notes.bookmarks.is_empty() || beside.notes.left.is_some();
        if noted {
            beside.notes.left = Some(state.command());
        }
        if let Some(keep) = &mut beside.keep_left {
            keep((!noted).then(|| state.command()).as_deref());
        }
        // Nobody is left to be told.
        self.keep_notes(0.0);
    }

    /// Asks for the name of a bookmark here; of one that is here already, for another name.
    pub(super) fn name_here(&mut self, now: f64) {
        let at = self.transport.position();
        if self.notes.bookmarks().len() >= MOST_BOOKMARKS {
            return self.say(format!("there are {MOST_BOOKMARKS} bookmarks already: delete some, T lists them"), now);
        }
        let here = self.notes.bookmarks().iter().find(|bookmark| bookmark.at == at).map(|b| b.name.clone());
        self.notes.naming = Some(Naming { at, text: here.clone().unwrap_or_default(), instead: here });
    }

    /// Ends the naming: with the name, or, where `keep` is not set, without a change.
    pub(super) fn named(&mut self, keep: bool, now: f64) {
        let Some(Naming { at, text, instead }) = self.notes.naming.take() else { return };
        if !keep {
            return;
        }
        match instead.and_then(|name| self.notes.find(at, &name)) {
            Some(n) => drop(self.notes.rename(n, &text)),
            None => drop(self.notes.set(at, &text)),
        }
        self.keep_notes(now);
    }

    /// Goes to the next or the previous bookmark and says its name.
    pub(super) fn seek_bookmark(&mut self, forward: bool, now: f64) {
        let found = self.notes.next(self.transport.axis(), self.transport.position(), forward);
        match found.map(|bookmark| (bookmark.at, bookmark.name.clone())) {
            Some((at, name)) => {
                self.transport.jump(at);
                self.say(name, now);
            }
            None if self.notes.bookmarks().is_empty() => self.say("there are no bookmarks: M sets one here", now),
            None => self.say(if forward { "no bookmark after this" } else { "no bookmark before this" }, now),
        }
    }

    /// Opens the card of the notes, or closes it.
    pub(super) fn turn_notes(&mut self, now: f64) {
        if self.notes.open {
            self.notes.close();
            self.keep_notes(now);
        } else {
            self.notes.open = true;
        }
    }

    /// Shows what the window showed when it was left; other caches are not simulated for it.
    pub(super) fn go_back(&mut self, now: f64) {
        let Some(left) = self.notes.left().cloned() else {
            return self.say("nothing is kept of how a window of this trace was left", now);
        };
        self.take_up(&left);
        let words = format!("as you left it, reference {}", grouped(self.transport.tick()));
        let same = left.caches == self.asked.state.caches;
        self.say(if same { words } else { format!("{words}; the caches were others: --resume has them too") }, now);
    }
}

#[cfg(test)]
mod tests;
