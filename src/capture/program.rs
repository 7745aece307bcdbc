//! A program that records itself, started here and ended where somebody insists.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A program under way.
#[derive(Debug)]
pub struct Running {
    child: Child,
    /// Times that somebody asked it to end.
    asked: Arc<AtomicU32>,
}

/// As many requests to stop as no user makes: the program has ended.
const ENDED: u32 = 1 << 16;

impl Running {
    /// Starts a program that writes its references to `output`, with these variables besides; one without a value is taken
    /// out of its environment.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start<'a>(
        program: &Path,
        arguments: &[OsString],
        output: &Path,
        variables: impl IntoIterator<Item = (&'a str, Option<&'a OsStr>)>,
    ) -> io::Result<Self> {
        let mut command = Command::new(program);
        command.args(arguments).env("ORRERY_OUT", output);
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
    use rustix::process::{Pid, Signal, kill_process};
    let process = i32::try_from(process).ok().and_then(Pid::from_raw);
    // It may have ended by itself.
    let _ = process.map(|process| kill_process(process, Signal::KILL));
}

#[cfg(not(unix))]
fn end(_: u32) {}
