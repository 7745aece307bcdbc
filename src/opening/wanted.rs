//! Runs that may take long: they end when nobody wants them any more, and somebody is told of them.

use super::Watched;
use crate::kernel::Cancel;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What came of a run.
#[derive(Debug)]
pub enum Ran<T> {
    /// This.
    Done(T),
    /// One of its files has changed, so that it is not wanted any more.
    Changed,
    /// Nobody waits for it any more.
    Left,
}

/// How long a run may take before anybody is told that it is under way.
const PATIENCE: Duration = Duration::from_millis(700);

/// Runs something that can be ended, unless one of the files changes meanwhile. `wait` is called now and then, at first when the run takes
/// its time; it says whether anybody waits.
pub fn run_while_wanted<T: Send>(
    run: &(dyn Fn(&Cancel) -> T + Sync),
    watched: &mut Watched,
    wait: &mut dyn FnMut() -> bool,
) -> Ran<T> {
    let (cancel, done) = (Cancel::default(), AtomicBool::new(false));
    let (sender, receiver) = channel();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Who does not wait does not take it.
            let _ = sender.send(run(&cancel));
            done.store(true, Ordering::Release);
        });
        let mut asked: Option<Instant> = None;
        loop {
            match receiver.recv_timeout(PATIENCE) {
                Ok(ran) => return Ran::Done(ran),
                Err(RecvTimeoutError::Disconnected) => return Ran::Left,
                Err(RecvTimeoutError::Timeout) => {}
            }
            let mut left = false;
            let changed = watched.changed(&mut || {
                if !left && asked.is_none_or(|at| at.elapsed() > PATIENCE) {
                    asked = Some(Instant::now());
                    left = !wait();
                }
                !left && !done.load(Ordering::Acquire)
            });
            // Of a bundled kernel there are no files to wait for.
            left |= !changed && !left && !done.load(Ordering::Acquire) && !wait();
            if changed || left {
                cancel.cancel();
                return if left { Ran::Left } else { Ran::Changed };
            }
        }
    })
}

/// Says that something goes on, once it has taken a time, until this is dropped.
pub struct Late {
    done: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Late {
    /// `tell` is called on a thread of its own after this time, unless this was dropped before. It may return at once, or wait for the
    /// end: what it is given disconnects then.
    #[must_use]
    pub fn new(after: Duration, tell: impl FnOnce(&Receiver<()>) + Send + 'static) -> Self {
        let (done, ended) = channel();
        let wait = move || {
            if ended.recv_timeout(after) == Err(RecvTimeoutError::Timeout) {
                tell(&ended);
            }
        };
        // Without a thread it is silent, and all goes on.
        let thread = std::thread::Builder::new().name("late".into()).spawn(wait).ok();
        Self { done: Some(done), thread }
    }
}

impl Drop for Late {
    fn drop(&mut self) {
        drop(self.done.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::sync::Arc;

    #[test]
    fn a_run_that_takes_long_ends_when_its_file_changes_or_nobody_waits() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("k.wgsl");
        fs::write(&file, "loop").expect("written");
        let endless = |cancel: &Cancel| {
            while !cancel.is_cancelled() {
                std::thread::sleep(Duration::from_millis(5));
            }
        };
        // What is quick is done before anybody is asked.
        let mut watched = Watched::new(vec![file.clone()]);
        let quick = run_while_wanted(&|_| 7, &mut watched, &mut || unreachable!("it took no time"));
        assert!(matches!(quick, Ran::Done(7)));
        // It is saved again while it runs.
        let mut asked = 0;
        let changed = run_while_wanted(&endless, &mut watched, &mut || {
            asked += 1;
            fs::write(&file, "mended").expect("written");
            true
        });
        assert!(matches!(changed, Ran::Changed) && asked >= 1);
        // The window is closed; a bundled kernel has no files.
        assert!(matches!(run_while_wanted(&endless, &mut watched, &mut || false), Ran::Left));
        let mut none = Watched::new(Vec::new());
        let mut left = 3;
        let ended = run_while_wanted(&endless, &mut none, &mut || {
            left -= 1;
            left > 0
        });
        assert!(matches!(ended, Ran::Left) && left == 0);
    }

    #[test]
    fn what_takes_long_is_told_once_and_what_is_quick_never() {
        let told = Arc::new(AtomicBool::new(false));
        let set = |told: &Arc<AtomicBool>| {
            let told = Arc::clone(told);
            move |ended: &Receiver<()>| {
                told.store(true, Ordering::Release);
                assert!(ended.recv().is_err(), "it ends when it is dropped");
            }
        };
        drop(Late::new(Duration::from_secs(3600), set(&told)));
        assert!(!told.load(Ordering::Acquire));
        let late = Late::new(Duration::ZERO, set(&told));
        while !told.load(Ordering::Acquire) {
            std::thread::sleep(Duration::from_millis(1));
        }
        drop(late);
    }
}
