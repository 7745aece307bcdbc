//! The threads that open, index and simulate a trace beside the window, and what they report to it.

use crate::overlay::Studio;
use crate::reference::ReferenceSource;
use crate::sim::config::HierarchyConfig;
use crate::timeline::Life;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use winit::event_loop::EventLoopProxy;

/// What comes from the thread that opens and indexes the trace.
#[expect(clippy::large_enum_variant, reason = "sent a few times a second")]
pub enum Report {
    /// References done, and all (0 = not known): before anything can be shown.
    Progress(u64, u64),
    /// What can be shown from now on: at first, and when more is indexed.
    Ready(Studio),
    /// Something to be told.
    Words(String),
}

/// Opens and indexes the trace and reports; it stops where a report gives `false`.
pub type Load = Box<dyn FnOnce(&mut dyn FnMut(Report) -> bool) -> anyhow::Result<()> + Send>;
/// Simulates a trace under other caches and reports; it stops where a report gives `false`.
pub type Simulate = Arc<
    dyn Fn(Arc<dyn ReferenceSource>, HierarchyConfig, &mut dyn FnMut(Report) -> bool) -> anyhow::Result<()>
        + Send
        + Sync,
>;

/// What threads tell the window.
pub(super) enum Message {
    Report(Report),
    Failed(anyhow::Error),
    /// Of the simulation of other caches with this number.
    Simulated(u64, Result<Report, anyhow::Error>),
    /// The life of what is pinned, of the reading with this number, or why it cannot be read.
    Lived(u64, Result<Arc<Life>, String>),
}

/// Simulations of other caches, one after another: of an older one nothing is taken any more.
pub(super) struct Simulation {
    simulate: Simulate,
    proxy: EventLoopProxy<Message>,
    newest: Arc<AtomicU64>,
}

impl Simulation {
    /// None yet.
    pub(super) fn new(simulate: Simulate, proxy: EventLoopProxy<Message>) -> Self {
        Self { simulate, proxy, newest: Arc::default() }
    }

    /// Begins one on a thread of its own.
    pub(super) fn begin(&self, source: Arc<dyn ReferenceSource>, config: HierarchyConfig) -> std::io::Result<()> {
        let number = self.newest.fetch_add(1, Ordering::Relaxed) + 1;
        let (simulate, proxy, newest) = (Arc::clone(&self.simulate), self.proxy.clone(), Arc::clone(&self.newest));
        let work = move || {
            let send = |said| proxy.send_event(Message::Simulated(number, said)).is_ok();
            let mut report = paced(|said| newest.load(Ordering::Relaxed) == number && send(Ok(said)));
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| simulate(source, config, &mut report)));
            let done = done
                .unwrap_or_else(|_| Err(anyhow::anyhow!("the caches could not be simulated: a bug, please report it")));
            if let Err(error) = done {
                send(Err(error));
            }
        };
        std::thread::Builder::new().name("index".into()).spawn(work).map(drop)
    }

    /// Whether no other was begun after the one of this number.
    pub(super) fn is_newest(&self, number: u64) -> bool {
        self.newest.load(Ordering::Relaxed) == number
    }
}

/// Passes reports on, of progress no more than one in [`PROGRESS`].
fn paced(mut send: impl FnMut(Report) -> bool) -> impl FnMut(Report) -> bool {
    let mut told = Instant::now();
    move |report| {
        if matches!(report, Report::Progress(..)) {
            if told.elapsed() < PROGRESS {
                return true;
            }
            told = Instant::now();
        }
        send(report)
    }
}

/// Opens and indexes the trace; for a thread of its own.
pub(super) fn index(load: Load, proxy: &EventLoopProxy<Message>) {
    // Fails where the window is closed: then nobody waits for the index.
    let mut report = paced(|report| proxy.send_event(Message::Report(report)).is_ok());
    // A bug in there must not leave a window that waits for ever; the panic's own words are on standard error.
    let loaded = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| load(&mut report)));
    let loaded =
        loaded.unwrap_or_else(|_| Err(anyhow::anyhow!("the trace could not be indexed: a bug, please report it")));
    if let Err(error) = loaded {
        let _ = proxy.send_event(Message::Failed(error));
    }
}

/// Time between two reports of progress.
const PROGRESS: Duration = Duration::from_millis(50);
