//! A program that records itself, started here and ended where somebody insists.

use super::Streams;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A program under way.
#[derive(Debug)]
pub struct Running {
    child: Child,
    /// Times that somebody asked it to end.
    asked: Arc<AtomicU32>,
}

/// How often a program that is watched is looked after.
const TICK: Duration = Duration::from_millis(10);
/// What it may take to end itself once it is asked to.
const GRACE: Duration = Duration::from_secs(2);

/// As many requests to stop as no user makes: the program has ended.
const ENDED: u32 = 1 << 16;

impl Running {
    /// Starts a program that writes its references to `output`, with these variables besides; one without a value is taken
    /// out of its environment. Without `streams` it has ours.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start<'a>(
        program: &Path,
        arguments: &[OsString],
        output: &Path,
        variables: impl IntoIterator<Item = (&'a str, Option<&'a OsStr>)>,
        streams: Option<Streams>,
    ) -> io::Result<Self> {
        let mut command = Command::new(program);
        command.args(arguments).env("ORRERY_OUT", output);
        if let Some(streams) = streams {
            streams.give(&mut command);
        }
        for (name, value) in variables {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        Ok(Self { child: command.spawn()?, asked: Arc::default() })
    }

    /// What to call where the user asks to stop. The first time the program may end by itself, for the terminal told it too; the
    /// second time it is ended. `false`: it has ended already.
    pub fn stopper(&self) -> impl FnMut() -> bool + Send + use<> {
        let (asked, process) = (Arc::clone(&self.asked), self.child.id());
        move || {
            match asked.fetch_add(1, Ordering::SeqCst) {
                0 => {}
                n if n < ENDED => end(process),
                _ => return false,
            }
            true
        }
    }

    /// Waits for its end. The first count in `stops` asks it to end, as Ctrl-C does; where it goes on, it is ended.
    ///
    /// # Errors
    /// When it cannot be waited for.
    pub fn watch(self, stops: &AtomicU32) -> io::Result<ExitStatus> {
        self.watch_for(stops, Duration::MAX).map(|(ended, _)| ended)
    }

    /// As [`Running::watch`]; after `limit` it is asked to end as well. Whether it took so long comes with its end.
    ///
    /// # Errors
    /// When it cannot be waited for.
    pub fn watch_for(mut self, stops: &AtomicU32, limit: Duration) -> io::Result<(ExitStatus, bool)> {
        let (mut asked, begun): (Option<Instant>, Instant) = (None, Instant::now());
        let mut late = false;
        loop {
            if let Some(ended) = self.child.try_wait()? {
                self.asked.store(ENDED, Ordering::SeqCst);
                return Ok((ended, late));
            }
            late |= begun.elapsed() > limit;
            if late || stops.load(Ordering::SeqCst) > 0 {
                match asked {
                    None => {
                        interrupt(self.child.id());
                        asked = Some(Instant::now());
                    }
                    Some(since) if since.elapsed() > GRACE => end(self.child.id()),
                    Some(_) => {}
                }
            }
            std::thread::sleep(TICK);
        }
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// When it cannot be waited for.
    pub fn wait(mut self) -> io::Result<ExitStatus> {
        let ended = self.child.wait()?;
        self.asked.store(ENDED, Ordering::SeqCst);
        Ok(ended)
    }
}

/// Ends a process that is our child and was not waited for.
#[cfg(unix)]
fn end(process: u32) {
    signal(process, rustix::process::Signal::KILL);
}

/// Asks such a process to end, as Ctrl-C does.
#[cfg(unix)]
pub(super) fn interrupt(process: u32) {
    signal(process, rustix::process::Signal::INT);
}

#[cfg(unix)]
fn signal(process: u32, signal: rustix::process::Signal) {
    use rustix::process::{Pid, kill_process};
    let process = i32::try_from(process).ok().and_then(Pid::from_raw);
    // It may have ended by itself.
    let _ = process.map(|process| kill_process(process, signal));
}

#[cfg(not(unix))]
fn end(_: u32) {}

#[cfg(not(unix))]
pub(super) fn interrupt(_: u32) {}
