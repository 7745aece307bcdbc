//! Reads the life of what is pinned, beside the window.

use super::indexing::{Load, Report};
use crate::timeline::{Life, Timeline};
use crate::units::ByteRange;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time between two reports of a life that is still being read: each is a copy of it.
const PROGRESS: Duration = Duration::from_millis(200);

/// Work for a thread of its own: reads a life and reports what is known of it.
pub(super) fn read(timeline: Arc<Timeline>, bytes: ByteRange) -> Load {
    Box::new(move |report| {
        let mut told = Instant::now();
        let mut tell = |life: &Life| {
            if told.elapsed() < PROGRESS {
                return report(Report::Progress(life.known(), timeline.len()));
            }
            told = Instant::now();
            report(Report::Life(Arc::new(life.clone())))
        };
        let life = timeline.life(bytes, &mut tell)?;
        report(Report::Life(Arc::new(life)));
        Ok(())
    })
}
