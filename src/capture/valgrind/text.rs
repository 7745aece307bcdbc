//! Runs a program under Valgrind's lackey, and gives the text of its references while it comes.
//!
//! The log goes through a pipe that Valgrind opens by its name in `/proc`, so that the program keeps its own standard
//! streams.

use super::part::Part;
use crate::capture::Streams;
use crate::capture::driven::{DriveError, refused};
use crate::capture::program::interrupt;
use std::ffi::OsString;
use std::io::{self, ErrorKind, PipeReader, PipeWriter, Read};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Bytes read from the pipe at a time, and how many such blocks may wait.
const BLOCK: usize = 256 << 10;
const BLOCKS: usize = 16;

/// Valgrind writes a few lines at a time, and a reader that is woken for each makes it wait: less than this is left to
/// gather for a while. (A pipe holds 64 KiB.)
const WORTH_WAKING: usize = 32 << 10;
const GATHER: Duration = Duration::from_micros(500);

/// How often the program is looked after.
const TICK: Duration = Duration::from_millis(20);

/// What a program may take to end itself after Ctrl-C. Under Valgrind all is slow.
const GRACE: Duration = Duration::from_secs(5);

/// How long text may still come after the program ended: another process may hold the pipe open.
const DRAIN: Duration = Duration::from_millis(500);

/// A program under Valgrind.
pub(super) struct Traced {
    shared: Arc<Shared>,
    /// Times that the user asked to stop.
    stops: Arc<AtomicU32>,
}

#[derive(Default)]
struct Shared {
    child: Mutex<Option<Child>>,
    ended: Mutex<Option<ExitStatus>>,
    /// Our end of the pipe; it stays open until Valgrind has opened it too.
    writer: Mutex<Option<PipeWriter>>,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The path of a program as a shell would find it.
///
/// # Errors
/// When there is none.
pub fn find(program: &Path) -> Result<PathBuf, DriveError> {
    let missing = |expected| DriveError::NoProgram { program: program.to_owned(), expected };
    if program.components().count() > 1 || program.is_absolute() {
        return if program.is_file() { Ok(program.into()) } else { Err(missing("the path of an executable")) };
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(program)).find(|p| p.is_file());
    let here = if program.is_file() { "one in PATH; one in this folder is called as ./NAME" } else { "one in PATH" };
    found.ok_or_else(|| missing(here))
}

/// The command that ends when we do, however that is. A program that refers to memory ends by itself then, for nobody reads its
/// pipe; one that sleeps would not. (Only where the system has a `setpriv` can that be asked for without unsafe code.)
fn valgrind() -> Command {
    let has = |name: &str| find(Path::new(name)).is_ok();
    if !has("setpriv") || !has("valgrind") {
        return Command::new("valgrind");
    }
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "valgrind"]);
    command
}

impl Traced {
    /// Starts a program with its arguments under Valgrind. Counts up in `stops` ask it to end. What Valgrind tells is kept in `part`
    /// on the way.
    ///
    /// # Errors
    /// When Valgrind is not installed or cannot be started.
    pub(super) fn start(
        (program, args): (&Path, &[OsString]),
        streams: Streams,
        stops: Arc<AtomicU32>,
        part: Option<Arc<Mutex<Part>>>,
    ) -> Result<(Self, Text), DriveError> {
        let (reader, writer) = io::pipe().map_err(refused("no pipe can be made"))?;
        let log = format!("--log-file=/proc/{}/fd/{}", std::process::id(), writer.as_raw_fd());
        let mut command = valgrind();
        command
            // Only what is said here: an option for another tool in ~/.valgrindrc would end lackey.
            .args(["--quiet", "--command-line-only=yes", "--vgdb=no", "--child-silent-after-fork=yes"])
            .args(["--tool=lackey", "--basic-counts=no", "--trace-mem=yes"])
            .arg(log)
            .arg("--")
            .arg(program)
            .args(args);
        let tells = streams.are_heard();
        streams.give(&mut command);
        let child = match command.spawn() {
            Ok(child) => child,
            Err(e) if e.kind() == ErrorKind::NotFound => {
                return Err(DriveError::NoRecorder(
                    "valgrind: found no such program; expected Valgrind 3.11 or later in PATH; install the package valgrind \
                     (apt install valgrind, dnf install valgrind)",
                ));
            }
            Err(e) => return Err(refused("valgrind cannot be started")(e)),
        };
        let shared = Arc::new(Shared {
            child: Mutex::new(Some(child)),
            ended: Mutex::default(),
            writer: Mutex::new(Some(writer)),
        });
        let (sender, receiver) = sync_channel(BLOCKS);
        let traced = Self { shared: Arc::clone(&shared), stops };
        traced.look_after(tells);
        let opened = Arc::clone(&shared);
        std::thread::spawn(move || pump(reader, &sender, &opened, part.as_deref()));
        Ok((traced, Text { receiver, shared, block: Vec::new(), at: 0 }))
    }

    /// Waits for the program's end in a thread of its own, and ends it where the user asked twice, or once and it goes on. With `tells`
    /// the program is told the first time, as Ctrl-C in a terminal tells it.
    fn look_after(&self, tells: bool) {
        let (shared, stops) = (Arc::clone(&self.shared), Arc::clone(&self.stops));
        std::thread::spawn(move || {
            let mut asked: Option<Instant> = None;
            loop {
                let stops = stops.load(Ordering::SeqCst);
                if stops > 0 {
                    if asked.is_none()
                        && tells
                        && let Some(child) = lock(&shared.child).as_ref()
                    {
                        interrupt(child.id());
                    }
                    let since = *asked.get_or_insert_with(Instant::now);
                    if stops > 1 || since.elapsed() > GRACE {
                        kill(&shared);
                    }
                }
                let status = match lock(&shared.child).as_mut().map(Child::try_wait) {
                    Some(Ok(None)) => None,
                    Some(Ok(Some(status))) => Some(status),
                    Some(Err(_)) | None => break,
                };
                if let Some(status) = status {
                    *lock(&shared.ended) = Some(status);
                    break;
                }
                std::thread::sleep(TICK);
            }
            lock(&shared.child).take();
            lock(&shared.writer).take();
        });
    }

    /// How the program ended; waits for it.
    pub(super) fn wait(&self) -> Option<ExitStatus> {
        while lock(&self.shared.child).is_some() {
            std::thread::sleep(TICK);
        }
        *lock(&self.shared.ended)
    }
}

impl Drop for Traced {
    /// A program whose references nobody takes any more would wait for ever.
    fn drop(&mut self) {
        kill(&self.shared);
    }
}

fn kill(shared: &Shared) {
    if let Some(child) = lock(&shared.child).as_mut() {
        // It may have ended just now.
        drop(child.kill());
    }
}

/// Moves blocks from the pipe to the channel, until either closes.
fn pump(mut reader: PipeReader, sender: &SyncSender<Vec<u8>>, shared: &Shared, part: Option<&Mutex<Part>>) {
    loop {
        let mut block = vec![0; BLOCK];
        match reader.read(&mut block) {
            Ok(0) => return,
            Ok(n) => {
                // Valgrind has its own end now: when that closes, the text is over.
                lock(&shared.writer).take();
                block.truncate(n);
                if let Some(part) = part {
                    lock(part).keep(&block);
                }
                if sender.send(block).is_err() {
                    return;
                }
                if n < WORTH_WAKING {
                    std::thread::sleep(GATHER);
                }
            }
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// The log's text as it comes; at its end when the program has ended and nothing more comes.
pub(super) struct Text {
    receiver: Receiver<Vec<u8>>,
    shared: Arc<Shared>,
    block: Vec<u8>,
    at: usize,
}

impl Read for Text {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while self.at == self.block.len() {
            match self.receiver.recv_timeout(DRAIN) {
                Ok(block) => (self.block, self.at) = (block, 0),
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
                Err(RecvTimeoutError::Timeout) if lock(&self.shared.child).is_none() => return Ok(0),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
        let rest = &self.block[self.at..];
        let n = rest.len().min(buf.len());
        buf[..n].copy_from_slice(&rest[..n]);
        self.at += n;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt as _;

    /// How `sleep` under Valgrind ends that was asked to once, run with these streams.
    fn ended(streams: Streams) -> ExitStatus {
        let sleep = find(Path::new("sleep")).expect("in every system");
        let stops = Arc::new(AtomicU32::new(1));
        let (traced, mut text) = Traced::start((&sleep, &["60".into()]), streams, stops, None)
            .expect("Valgrind is installed, as by scripts/test.sh");
        io::copy(&mut text, &mut io::sink()).expect("a pipe");
        traced.wait().expect("it has ended")
    }

    #[test]
    fn a_window_tells_the_program_that_it_is_to_end_and_a_terminal_has_told_it() {
        let (heard, _printed) = Streams::heard().expect("a pipe");
        assert_eq!(ended(heard).signal(), Some(2), "SIGINT, as by Ctrl-C");
        assert_eq!(ended(Streams::silent()).signal(), Some(9), "nobody told it, and it went on");
    }
}
