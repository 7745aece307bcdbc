//! All references of a source, one after the other, read ahead on another thread.

use super::{Reference, ReferenceSource, SourceError};
use std::sync::mpsc::{channel, sync_channel};

/// Gives `take` the references that are there now, in order, with the number of the first. What comes next is read meanwhile, into
/// room that is used again.
///
/// # Errors
/// Those of the source and of `take`, which is not called again.
pub fn ahead<E: From<SourceError>>(
    source: &dyn ReferenceSource,
    take: impl FnMut(u64, &[Reference]) -> Result<(), E>,
) -> Result<(), E> {
    // Of little there is nothing to read ahead.
    in_order(all_of(source), source.len() > source.chunk_len(), take)
}

/// Gives the references that a source has now, in order, as [`in_order`] takes them.
pub fn all_of(source: &dyn ReferenceSource) -> impl FnMut(&mut Vec<Reference>) -> Result<(), SourceError> + Send {
    let (mut from, length) = (0, source.len());
    move |batch| {
        batch.clear();
        if from < length {
            source.batch(from, batch)?;
            from += batch.len() as u64;
        }
        Ok(())
    }
}

/// Gives the references that follow.
type Next<'a> = dyn FnMut(&mut Vec<Reference>) -> Result<(), SourceError> + Send + 'a;

/// As [`ahead`], of references that are had once, in order: `next` replaces what it is given by those that follow, none at the end.
/// Without `is_long` they are read on this thread.
///
/// # Errors
/// Those of `next` and of `take`, after which neither is called again.
pub fn in_order<E: From<SourceError>>(
    mut next: impl FnMut(&mut Vec<Reference>) -> Result<(), SourceError> + Send,
    is_long: bool,
    mut take: impl FnMut(u64, &[Reference]) -> Result<(), E>,
) -> Result<(), E> {
    std::thread::scope(|scope| {
        let (full, batches) = sync_channel::<Result<Vec<Reference>, SourceError>>(1);
        let (used, empty) = channel::<Vec<Reference>>();
        // Handed over once the thread is there: it is not lost with one that cannot be had.
        let (hand, taken) = sync_channel(1);
        let read = move || {
            let Ok(next): Result<&mut Next<'_>, _> = taken.recv() else { return };
            loop {
                let mut batch = empty.try_recv().unwrap_or_default();
                let read = next(&mut batch);
                let is_last = read.is_err() || batch.is_empty();
                if full.send(read.map(|()| batch)).is_err() || is_last {
                    break;
                }
            }
        };
        let mut from = 0;
        if !is_long || std::thread::Builder::new().name("read".into()).spawn_scoped(scope, read).is_err() {
            // Nothing to read ahead, or a system that has no more threads.
            let mut batch = Vec::new();
            loop {
                next(&mut batch)?;
                if batch.is_empty() {
                    return Ok(());
                }
                take(from, &batch)?;
                from += batch.len() as u64;
            }
        }
        let _ = hand.send(&mut next);
        for batch in batches {
            let batch = batch?;
            if batch.is_empty() {
                break;
            }
            take(from, &batch)?;
            from += batch.len() as u64;
            // At the end nobody fills it.
            let _ = used.send(batch);
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{Kind, MemoryTrace, Tables};
    use std::sync::Arc;

    /// Fails at a chunk.
    struct Broken(MemoryTrace, u64);

    impl ReferenceSource for Broken {
        fn len(&self) -> u64 {
            self.0.len()
        }

        fn chunk_len(&self) -> u64 {
            self.0.chunk_len()
        }

        fn chunk(&self, index: u64) -> Result<Arc<[Reference]>, SourceError> {
            if index == self.1 { Err(SourceError("broken".into())) } else { self.0.chunk(index) }
        }

        fn tables(&self) -> &Tables {
            self.0.tables()
        }
    }

    fn trace(length: u64) -> MemoryTrace {
        MemoryTrace::new((0..length).map(|n| Reference::new(Kind::Read, n, 1)).collect(), Tables::default())
    }

    #[test]
    fn all_come_in_order_until_something_fails() {
        for length in [0, 1, 65_536, 65_537, 300_000] {
            let mut next = 0;
            let taken = ahead(&trace(length), |from, references| {
                assert_eq!(from, next);
                assert!(references.iter().zip(from..).all(|(r, n)| r.addr == n));
                next += references.len() as u64;
                Ok::<_, SourceError>(())
            });
            assert_eq!((taken, next), (Ok(()), length));
        }
        for at in 0..4 {
            let mut taken = 0;
            let all = ahead(&Broken(trace(250_000), at), |_, references| {
                taken += references.len() as u64;
                Ok::<_, SourceError>(())
            });
            assert_eq!((all.is_err(), taken), (true, at * 65_536));
        }
        let stopped =
            ahead(&trace(300_000), |from, _| if from == 0 { Ok(()) } else { Err(SourceError("mine".into())) });
        assert_eq!(stopped, Err(SourceError("mine".into())));
    }
}
