//! Work in a thread of its own.

use std::thread::JoinHandle;

/// Does work in a thread of its own; `None` where the system has none left.
pub(super) fn aside<T: Send + 'static>(name: &str, work: impl FnOnce() -> T + Send + 'static) -> Option<JoinHandle<T>> {
    std::thread::Builder::new().name(name.into()).spawn(work).ok()
}

/// What the thread's work gave.
pub(super) fn joined<T>(thread: JoinHandle<T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
