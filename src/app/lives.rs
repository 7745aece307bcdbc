//! The thread that reads the life of what is pinned, beside the window.

use super::indexing::Message;
use crate::timeline::{Life, Timeline};
use crate::units::ByteRange;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use winit::event_loop::EventLoopProxy;

/// Time between two reports of a life that is still being read.
const PROGRESS: Duration = Duration::from_millis(200);

/// Lives one after another: of an older one nothing is taken any more.
pub(super) struct Lives {
    proxy: EventLoopProxy<Message>,
    newest: Arc<AtomicU64>,
}

impl Lives {
    /// None yet.
    pub(super) fn new(proxy: EventLoopProxy<Message>) -> Self {
        Self { proxy, newest: Arc::default() }
    }

    /// Begins to read one.
    pub(super) fn begin(&self, timeline: Arc<Timeline>, bytes: ByteRange) -> std::io::Result<()> {
        let number = self.newest.fetch_add(1, Ordering::Relaxed) + 1;
        let (proxy, newest) = (self.proxy.clone(), Arc::clone(&self.newest));
        let work = move || {
            let mut told = Instant::now();
            let send = |said| proxy.send_event(Message::Lived(number, said)).is_ok();
            let mut report = |life: &Life| {
                let is_wanted = newest.load(Ordering::Relaxed) == number;
                if is_wanted && told.elapsed() >= PROGRESS {
                    told = Instant::now();
                    return send(Ok(Arc::new(life.clone())));
                }
                is_wanted
            };
            let life = timeline.life(bytes, &mut report).map(Arc::new).map_err(|error| error.to_string());
            send(life);
        };
        std::thread::Builder::new().name("life".into()).spawn(work).map(drop)
    }

    /// Whether no other was begun after the one of this number.
    pub(super) fn is_newest(&self, number: u64) -> bool {
        self.newest.load(Ordering::Relaxed) == number
    }
}
