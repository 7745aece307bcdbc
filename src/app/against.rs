//! What a trace is compared with, while it is read and simulated beside the window.

use super::compare::COMPARE;
use super::desk::Desk;
use super::indexing::{Load, Message, Report, Simulate, Task};
use super::traces::Shown;
use crate::reference::ReferenceSource;
use crate::sim::config::HierarchyConfig;
use crate::timeline::StepBy;
use std::path::Path;
use std::sync::Arc;

/// What a trace is compared with, before it is there.
pub struct Against {
    /// As it was named; `None`: no command names it.
    pub name: Option<String>,
    /// What two traces go in step by; `None`: what is usual.
    pub by: Option<StepBy>,
    /// It is simulated anew when the trace that is shown is shown under other caches.
    pub follows: bool,
    /// Given the trace that is shown and its caches, opens and indexes what it is compared with.
    pub open: Simulate,
}

/// Makes what somebody asks to compare with of the file of a trace.
pub type OpenAgainst = Box<dyn FnMut(&Path) -> Against>;

/// Opens it when it is time.
pub(super) struct Comparing {
    against: Against,
    /// The trace and the caches that it was opened for last.
    opened: Option<(Arc<dyn ReferenceSource>, HierarchyConfig)>,
    task: Option<Task>,
    /// It was given to the desk.
    there: bool,
    /// What its title is told with, where it has the title of what is shown.
    also: &'static str,
}

impl Comparing {
    pub(super) fn new(against: Against) -> Self {
        Self { against, opened: None, task: None, there: false, also: "" }
    }

    /// Whether a message is about it.
    pub(super) fn told(&self, message: &Message) -> bool {
        self.task.as_ref().is_some_and(|task| task.told(message))
    }

    /// Takes what was told; whether anything else is to be drawn.
    pub(super) fn take(&mut self, said: anyhow::Result<Report>, desk: &mut Desk, now: f64) -> bool {
        match said {
            Ok(Report::Ready(mut studio)) if studio.timeline().is_whole() => {
                if !self.also.is_empty() {
                    studio.set_title(format!("{}{}", studio.tables().title, self.also));
                }
                desk.against = self.against.name.clone().map(|name| (name, self.against.by.clone()));
                let again = std::mem::replace(&mut self.there, true) && desk.studio().baseline().is_some();
                match again {
                    true => desk.recache_baseline(studio),
                    false => desk.compare_with_other(studio, self.against.by.clone(), now),
                }
                if !self.also.is_empty() && !again {
                    desk.open_beside(COMPARE, now);
                }
                true
            }
            Ok(Report::Words(words)) => {
                desk.say(words, now);
                true
            }
            Ok(_) => false,
            Err(error) => {
                desk.say_for(format!("nothing to compare with: {error:#}"), 8.0, now);
                true
            }
        }
    }

    /// Opens it, once the trace that is shown is whole; opens it again where that was read or simulated anew.
    fn open(&mut self, desk: &mut Desk, post: impl Fn(Message) -> bool + Send + 'static, now: f64) {
        let timeline = desk.studio().timeline();
        if !timeline.is_whole() {
            return;
        }
        let (source, config) = (timeline.source(), timeline.config());
        let stays = self.opened.as_ref().is_some_and(|(of, under)| match self.against.follows {
            true => under == config,
            false => std::ptr::addr_eq(Arc::as_ptr(of), Arc::as_ptr(source)),
        });
        // What was compared with something else meanwhile stays so.
        if stays || self.there && desk.studio().baseline().is_none() && self.against.follows {
            return;
        }
        let (open, wanted) = (Arc::clone(&self.against.open), (Arc::clone(source), config.clone()));
        self.opened = Some(wanted.clone());
        let work: Load = Box::new(move |report| open(wanted.0, wanted.1, report));
        match Task::begin("what it is compared with could not be simulated", work, post) {
            Ok(task) => self.task = Some(task),
            Err(error) => desk.say(format!("the system has no thread to read what it is compared with: {error}"), now),
        }
    }
}

impl Shown {
    /// Has the trace compared with something else from now on.
    pub(super) fn compare_with(&mut self, against: Against) {
        self.comparing = Some(Comparing::new(against));
    }

    /// Has it compared with the recording of the same program that it took the place of.
    pub(super) fn compare_with_earlier(&mut self) {
        let Some(earlier) = self.earlier.clone() else { return };
        let simulate = Arc::clone(&self.simulate);
        let open: Simulate = Arc::new(move |_, config, report| simulate(Arc::clone(&earlier), config, report));
        let against = Against { name: None, by: None, follows: true, open };
        self.comparing = Some(Comparing { also: ", recorded before", ..Comparing::new(against) });
    }

    /// Has what is compared with opened where it is time.
    pub(super) fn open_against(&mut self, post: impl Fn(Message) -> bool + Send + 'static, now: f64) {
        if let Some(comparing) = &mut self.comparing {
            comparing.open(&mut self.desk, post, now);
        }
    }
}
