//! A wall round the Parquet library: on some damaged files it panics where it should report.

use parquet::errors::{ParquetError, Result};
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// Whether this thread is inside [`guarded`], where a panic is an answer and nothing to print.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`, which must only read; a panic in it becomes an error, without a word on standard error.
pub(in crate::trace) fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !INSIDE.get() {
                usual(info);
            }
        }));
    });
    let before = INSIDE.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    INSIDE.set(before);
    result.unwrap_or_else(|_| Err(ParquetError::General("values that contradict each other".into())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_and_the_next_call_works() {
        assert!(guarded(|| -> Result<u8> { panic!("planted") }).is_err());
        assert_eq!(guarded(|| Ok(5)).unwrap(), 5);
        assert!(!INSIDE.get());
    }
}
