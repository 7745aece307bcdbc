//! The threads that open, index and simulate traces beside the window, and what they report to it.

use super::story_player::Story;
use crate::overlay::{Answer, Studio};
use crate::reference::ReferenceSource;
use crate::sim::config::HierarchyConfig;
use crate::timeline::{Life, Timeline};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What comes from a thread that opens, indexes or simulates a trace.
#[expect(clippy::large_enum_variant, reason = "sent a few times a second")]
pub enum Report {
    /// References done, and all (0 = not known): before anything can be shown.
    Progress(u64, u64),
    /// What can be shown from now on: at first, and when more is indexed.
    Ready(Studio),
    /// A storyboard that can be shown.
    Story(Box<Story>),
    /// The life of what is pinned, as far as it is known.
    Life(Arc<Life>),
    /// What was found in this trace under these caches.
    Answer(Arc<Timeline>, Answer),
    /// Something to be told.
    Words(String),
    /// What is shown has changed and cannot be shown as it is now, in a sentence, and why, in lines: it is told until something can be
    /// shown.
    Fault(String, String),
    /// The program that is recorded printed this.
    Printed(Vec<u8>),
    /// The program that is recorded has ended, in these words.
    Ended(String),
}

/// Opens and indexes the trace and reports; it stops where a report gives `false`.
pub type Load = Box<dyn FnOnce(&mut dyn FnMut(Report) -> bool) -> anyhow::Result<()> + Send>;
/// Simulates a trace under other caches and reports; it stops where a report gives `false`.
pub type Simulate = Arc<
    dyn Fn(Arc<dyn ReferenceSource>, HierarchyConfig, &mut dyn FnMut(Report) -> bool) -> anyhow::Result<()>
        + Send
        + Sync,
>;

/// What the task of this number tells the window.
pub(super) struct Message {
    pub(super) number: u64,
    /// An error ends the task.
    pub(super) said: anyhow::Result<Report>,
}

impl Message {
    /// The window is to be left: of no task.
    pub(super) fn leave() -> Self {
        Self { number: 0, said: Ok(Report::Progress(0, 0)) }
    }

    /// Whether it says so.
    pub(super) fn leaves(&self) -> bool {
        self.number == 0
    }
}

/// Work on a thread of its own. Dropped, it is told to stop with its next report, and nothing of it is taken any more.
pub(super) struct Task {
    number: u64,
    wanted: Arc<AtomicBool>,
    ends: Arc<AtomicBool>,
}

/// So many tasks were begun: no two have the same number.
static BEGUN: AtomicU64 = AtomicU64::new(0);

impl Task {
    /// Begins `work`, whose reports go to `post`; that gives `false` where the window is closed. A bug in there must not leave a
    /// window that waits for ever: it is told as `what` that could not be done. (The panic's own words are on standard error.)
    ///
    /// # Errors
    /// When the system has no thread.
    pub(super) fn begin(
        what: &'static str,
        work: Load,
        post: impl Fn(Message) -> bool + Send + 'static,
    ) -> io::Result<Self> {
        let number = BEGUN.fetch_add(1, Ordering::Relaxed) + 1;
        let wanted = Arc::new(AtomicBool::new(true));
        let ends = Arc::new(AtomicBool::new(false));
        let task = Self { number, wanted: Arc::clone(&wanted), ends: Arc::clone(&ends) };
        let work = move || {
            let send = |said| wanted.load(Ordering::Relaxed) && post(Message { number, said });
            let mut report = paced(|said| send(Ok(said)) && !ends.load(Ordering::Relaxed));
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(&mut report)));
            let done = done.unwrap_or_else(|_| Err(anyhow::anyhow!("{what}: a bug, please report it")));
            if let Err(error) = done {
                send(Err(error));
            }
        };
        std::thread::Builder::new().name("index".into()).spawn(work)?;
        Ok(task)
    }

    /// Tells it to end with its next report; what it says of its end is still taken.
    pub(super) fn ends(&self) {
        self.ends.store(true, Ordering::Relaxed);
    }

    /// Whether a message is of this task.
    pub(super) fn told(&self, message: &Message) -> bool {
        message.number == self.number
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.wanted.store(false, Ordering::Relaxed);
    }
}

/// Passes reports on, of progress no more than one in [`PROGRESS`].
fn paced(mut send: impl FnMut(Report) -> bool) -> impl FnMut(Report) -> bool {
    let mut told = Instant::now();
    let mut goes_on = true;
    move |report| {
        if matches!(report, Report::Progress(..)) {
            if told.elapsed() < PROGRESS {
                return goes_on;
            }
            told = Instant::now();
        }
        goes_on = send(report);
        goes_on
    }
}

/// Time between two reports of progress.
const PROGRESS: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn a_task_that_nobody_wants_any_more_is_told_so_and_says_nothing_more() {
        let (post, messages) = channel();
        let (begun, at_work) = channel();
        let (go, gone) = channel::<()>();
        let (answers, answered) = channel();
        let work: Load = Box::new(move |report| {
            let _ = answers.send(report(Report::Words("first".into())));
            let _ = begun.send(());
            let _ = gone.recv();
            let _ = answers.send(report(Report::Words("second".into())));
            anyhow::bail!("and why")
        });
        let task =
            Task::begin("the trace could not be indexed", work, move |m| post.send(m).is_ok()).expect("a thread");
        at_work.recv().expect("it works");
        let first = messages.recv().expect("told");
        assert!(task.told(&first) && matches!(first.said, Ok(Report::Words(words)) if words == "first"));
        drop(task);
        go.send(()).expect("it waits");
        assert_eq!(answered.iter().collect::<Vec<_>>(), [true, false]);
        assert!(messages.recv().is_err(), "neither the report nor the error came");
    }

    #[test]
    fn no_two_tasks_are_taken_for_each_other_and_a_bug_in_one_is_told() {
        let (post, messages) = channel();
        let begin = |work: Load| {
            let post = post.clone();
            Task::begin("the trace could not be indexed", work, move |m| post.send(m).is_ok()).expect("a thread")
        };
        let one = begin(Box::new(|_| panic!("a bug")));
        let message = messages.recv().expect("told");
        let other = begin(Box::new(|_| Ok(())));
        assert!(one.told(&message) && !other.told(&message));
        let words = message.said.err().map(|error| error.to_string());
        assert_eq!(words.as_deref(), Some("the trace could not be indexed: a bug, please report it"));
    }
}
