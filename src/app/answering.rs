//! Finds what takes a pass over the trace (counts for charts, why a reference missed) beside the window.

use super::desk::Desk;
use super::indexing::{Load, Message, Report, Task};
use super::traces::Shown;
use crate::overlay::{Asked, Question};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A question that is being answered. Dropped, that ends soon.
pub(super) struct Answering {
    asked: Asked,
    task: Task,
    goes_on: Arc<AtomicBool>,
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.goes_on.store(false, Ordering::Relaxed);
    }
}

impl Answering {
    fn begin(asked: Asked, post: impl Fn(Message) -> bool + Send + 'static) -> std::io::Result<Self> {
        let goes_on = Arc::new(AtomicBool::new(true));
        let (work, wanted) = (asked.clone(), Arc::clone(&goes_on));
        let load: Load = Box::new(move |report| {
            let found = work.answer(&|| wanted.load(Ordering::Relaxed))?;
            report(Report::Answer(Arc::clone(&work.timeline), found));
            Ok(())
        });
        let task = Task::begin("what a picture asks of the trace could not be found", load, post)?;
        Ok(Self { asked, task, goes_on })
    }

    /// Whether a message is about it.
    pub(super) fn told(&self, message: &Message) -> bool {
        self.task.told(message)
    }
}

impl Shown {
    /// Begins to find what pictures asked for, of what takes long or of all else: one after the other, but for a reference that nobody
    /// looks at any more.
    pub(super) fn answer(&mut self, takes_long: bool, post: impl Fn(Message) -> bool + Send + 'static, now: f64) {
        let answering = &mut self.answering[usize::from(takes_long)];
        // What nobody shows any more is not looked for on.
        let shown = |asked: &Asked| self.desk.studio().has(&asked.timeline);
        answering.take_if(|answering| !shown(&answering.asked));
        let waits = |answering: &Answering| !matches!(answering.asked.question, Question::Why(_));
        if answering.as_ref().is_some_and(waits) {
            return;
        }
        let plays = self.desk.transport.playing();
        let Some(asked) = self.desk.session.studio_mut().wanted_answer(plays, takes_long) else { return };
        if answering.as_ref().is_some_and(|answering| answering.asked.is(&asked)) {
            return;
        }
        match Answering::begin(asked, post) {
            Ok(begun) => *answering = Some(begun),
            Err(error) => self.desk.say(format!("the system has no thread to look through the trace: {error}"), now),
        }
    }
}

/// Takes what was told; whether anything else is to be drawn.
pub(super) fn take(answering: &mut Option<Answering>, said: anyhow::Result<Report>, desk: &mut Desk, now: f64) -> bool {
    match said {
        Ok(Report::Answer(timeline, found)) => {
            *answering = None;
            desk.session.studio_mut().take_answer(&timeline, found)
        }
        Ok(_) => false,
        Err(error) => {
            if let Some(failed) = answering.take() {
                desk.session.studio_mut().fail_answer(&failed.asked, &format!("{error:#}"));
            }
            desk.say(format!("nothing is found: {error:#}"), now);
            true
        }
    }
}
