//! What a stop does (Ctrl-C, SIGTERM, SIGHUP): nothing half-written stays.
//!
//! Files that are written have no name until they are whole, so most commands let the system end them. Only who has begun
//! something under a name, or ends in his own way, hears of it here, by one handler for all.

use crate::files;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The exit code of a command that was stopped: a shell's for Ctrl-C.
pub(super) const CODE: u8 = 130;

/// A command was stopped before there was anything to keep.
#[derive(Debug, thiserror::Error)]
#[error("stopped: {0}")]
pub(super) struct Stopped(pub(super) String);

type Ends = Box<dyn FnMut() -> bool + Send>;
/// Who hears of a stop, each with a number; the one that began last is asked.
static ENDS: Mutex<Vec<(u64, Ends)>> = Mutex::new(Vec::new());
static BEGUN: AtomicU64 = AtomicU64::new(0);
/// Whether our handler is there.
static LISTENS: Mutex<bool> = Mutex::new(false);

/// Has the handler there once something is begun under a name. Where stops are ignored (`nohup`, a shell's background) they
/// stay so: what a harder one leaves is swept.
pub(super) fn prepare() {
    files::on_begun(|| listen(false));
}

/// Installs the handler, where that was not done; also where stops are ignored, if it is to `insist`.
fn listen(insist: bool) {
    let mut listens = LISTENS.lock().unwrap_or_else(PoisonError::into_inner);
    if *listens {
        return;
    }
    let set = if insist { ctrlc::set_handler(stopped) } else { ctrlc::try_set_handler(stopped) };
    *listens = set.is_ok();
}

fn stopped() {
    let mut ends = ENDS.lock().unwrap_or_else(PoisonError::into_inner);
    if ends.last_mut().is_some_and(|(_, ends)| ends()) {
        return;
    }
    files::remove_begun();
    std::process::exit(i32::from(CODE));
}

/// Has `ends` called at a stop; where it gives `true`, the program goes on and ends in its own way. Its number is for [`is_over`].
pub(super) fn on_stop(ends: impl FnMut() -> bool + Send + 'static) -> u64 {
    let number = add(Box::new(ends));
    listen(true);
    number
}

/// As [`on_stop`], but where stops are ignored they stay so.
#[cfg(feature = "viewer")]
pub(super) fn on_heard_stop(ends: impl FnMut() -> bool + Send + 'static) -> u64 {
    let number = add(Box::new(ends));
    listen(false);
    number
}

fn add(ends: Ends) -> u64 {
    let number = BEGUN.fetch_add(1, Ordering::Relaxed);
    ENDS.lock().unwrap_or_else(PoisonError::into_inner).push((number, ends));
    number
}

/// What was to be ended is over: who began before it hears of a stop again or, without any, a stop ends the program.
pub(super) fn is_over(number: u64) {
    ENDS.lock().unwrap_or_else(PoisonError::into_inner).retain(|(own, _)| *own != number);
}

/// Stops within this time are one: `timeout` sends its signal to the program, and then to the program's group.
const ONE: Duration = Duration::from_millis(300);

/// A flag that the first stop raises; it is told with `words`. The second ends the program at once. Lowered where it goes out
/// of use.
pub(super) struct Flag {
    pub(super) raised: Arc<AtomicBool>,
    number: u64,
}

impl Flag {
    pub(super) fn new(words: &'static str) -> Self {
        let raised = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&raised);
        let mut first: Option<Instant> = None;
        let number = on_stop(move || {
            if let Some(first) = first {
                return first.elapsed() < ONE;
            }
            first = Some(Instant::now());
            flag.store(true, Ordering::SeqCst);
            crate::shown::tell(format_args!("{words}"));
            true
        });
        Self { raised, number }
    }
}

impl Drop for Flag {
    fn drop(&mut self) {
        is_over(self.number);
    }
}
