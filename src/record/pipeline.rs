//! Drawing, converting and encoding at the same time, on bounded memory.

use super::{FrameError, FrameSource, RecordError};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Frames that may wait between two stages.
const QUEUE: usize = 2;

/// Second stage: a picture to what the encoder reads.
pub(crate) trait Convert: Send {
    /// Converts one picture; `into` holds an old buffer.
    fn convert(&mut self, rgba: &[u8], into: &mut Vec<u8>) -> Result<(), RecordError>;
}

/// Third stage: to the file.
pub(crate) trait Encode: Send {
    /// Takes what [`Convert`] made of a frame.
    fn encode(&mut self, frame: u64, data: &[u8]) -> Result<(), RecordError>;
    /// Bytes written so far.
    fn bytes(&self) -> u64;
    /// Makes the output whole and gives it its name; answers its size.
    fn finish(self: Box<Self>) -> Result<u64, RecordError>;
}

/// The stages of a format. With one converter frames arrive in order; with several, any of them may be first.
pub(crate) struct Workers {
    pub(crate) convert: Vec<Box<dyn Convert>>,
    pub(crate) encode: Box<dyn Encode>,
}

/// Time that each stage worked (not: waited). They overlap, so the sum may exceed the time on the wall.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stages {
    /// Submitting and collecting frames.
    pub draw: Duration,
    /// RGBA to the encoder's format, over all workers.
    pub convert: Duration,
    /// Encoding and writing.
    pub encode: Duration,
}

/// How far a recording is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Frames written.
    pub done: u64,
    /// Frames in all.
    pub total: u64,
    /// Bytes written.
    pub bytes: u64,
    /// Since the start.
    pub elapsed: Duration,
    /// By stage.
    pub stages: Stages,
}

/// What a recording came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// Frames written.
    pub frames: u64,
    /// Frames that were asked for.
    pub total: u64,
    /// Size of the output.
    pub bytes: u64,
    /// From the first frame to the finished file.
    pub elapsed: Duration,
    /// By stage.
    pub stages: Stages,
    /// Whether it was asked to stop before the end.
    pub stopped: bool,
}

impl Summary {
    /// Frames a second, over everything.
    #[must_use]
    pub fn rate(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "frame counts are far below 2^52")]
        let frames = self.frames as f64;
        frames / self.elapsed.as_secs_f64().max(1e-9)
    }

    /// How busy the three stages were together: above 1 they overlapped.
    #[must_use]
    pub fn overlap(&self) -> f64 {
        let busy = self.stages.draw + self.stages.convert + self.stages.encode;
        busy.as_secs_f64() / self.elapsed.as_secs_f64().max(1e-9)
    }
}

struct Job {
    frame: u64,
    data: Vec<u8>,
}

/// What the threads tell the calling one.
#[derive(Default)]
struct Shared {
    done: AtomicU64,
    bytes: AtomicU64,
    convert_ns: AtomicU64,
    encode_ns: AtomicU64,
    /// A converter failed; others may go on, but there is no use.
    failed: AtomicBool,
}

impl Shared {
    fn add(slot: &AtomicU64, since: Instant) {
        slot.fetch_add(u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    fn progress(&self, total: u64, start: Instant, draw: Duration) -> Progress {
        let ns = |slot: &AtomicU64| Duration::from_nanos(slot.load(Ordering::Relaxed));
        let stages = Stages { draw, convert: ns(&self.convert_ns), encode: ns(&self.encode_ns) };
        let (done, bytes) = (self.done.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed));
        Progress { done, total, bytes, elapsed: start.elapsed(), stages }
    }
}

/// Runs all stages to the end, an early stop, or the first fault.
pub(crate) fn run(
    source: &mut dyn FrameSource,
    workers: Workers,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
) -> Result<Summary, RecordError> {
    let start = Instant::now();
    let total = source.frames();
    let shared = Shared::default();
    let (drawn, to_convert) = sync_channel::<Job>(QUEUE);
    let (converted, to_encode) = sync_channel::<Job>(QUEUE);
    let (empty_rgba, spare_rgba) = channel::<Vec<u8>>();
    let (empty_data, spare_data) = channel::<Vec<u8>>();
    // Owned by the converters alone: when they have gone, the drawing side must find its channel closed, not full.
    let inputs = Arc::new((Mutex::new(to_convert), Mutex::new(spare_data)));
    let Workers { convert, encode } = workers;
    let threads = convert.len();
    // One buffer in each hand and in each place of the queue.
    for _ in 0..QUEUE + 1 + threads {
        let _ = empty_rgba.send(Vec::new());
        let _ = empty_data.send(Vec::new());
    }

    thread::scope(|scope| {
        let encoder = spawn(scope, "record-encode", || encode_all(encode, to_encode, empty_data, &shared))?;
        let mut converters = Vec::new();
        for mut worker in convert {
            let (converted, empty_rgba) = (converted.clone(), empty_rgba.clone());
            let (inputs, shared) = (Arc::clone(&inputs), &shared);
            converters.push(spawn(scope, "record-convert", move || {
                convert_all(&mut *worker, &inputs.0, &converted, &inputs.1, &empty_rgba, shared)
            })?);
        }
        drop((converted, empty_rgba, inputs));

        let mut draw = Duration::ZERO;
        let halt = || stop.load(Ordering::Relaxed) || shared.failed.load(Ordering::Relaxed);
        let drawing = draw_all(source, drawn, spare_rgba, &halt, &mut draw, &mut |draw| {
            progress(shared.progress(total, start, draw));
        });
        // A fault of a later stage is why an earlier one could not go on, so the latest stage speaks.
        let converting = converters.into_iter().map(join).fold(Ok(()), Result::and);
        let encode = join(encoder)?;
        converting?;
        let stopped = drawing?;
        let frames = shared.done.load(Ordering::Relaxed);
        let finishing = Instant::now();
        let bytes = if frames > 0 { encode.finish()? } else { 0 };
        Shared::add(&shared.encode_ns, finishing);
        shared.bytes.store(bytes, Ordering::Relaxed);
        let end = shared.progress(total, start, draw);
        progress(end);
        Ok(Summary { frames, total, bytes, elapsed: end.elapsed, stages: end.stages, stopped })
    })
}

fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    name: &str,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<thread::ScopedJoinHandle<'scope, T>, RecordError> {
    let fault = |e: std::io::Error| RecordError::Encoder { frame: 0, reason: format!("no thread for {name}: {e}") };
    thread::Builder::new().name(name.to_owned()).spawn_scoped(scope, work).map_err(fault)
}

fn join<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Draws until the end, a stop, or until nobody takes frames any more. Answers whether it was stopped early.
fn draw_all(
    source: &mut dyn FrameSource,
    drawn: SyncSender<Job>,
    spare: Receiver<Vec<u8>>,
    halt: &dyn Fn() -> bool,
    draw: &mut Duration,
    progress: &mut dyn FnMut(Duration),
) -> Result<bool, RecordError> {
    let (total, most) = (source.frames(), source.in_flight());
    let (mut submitted, mut collected) = (0, 0);
    loop {
        let stopped = halt();
        let begun = Instant::now();
        while !stopped && submitted < total && submitted - collected < most {
            source.submit(submitted).map_err(|source| RecordError::Frame { frame: submitted, source })?;
            submitted += 1;
        }
        *draw += begun.elapsed();
        if collected == submitted {
            return Ok(collected < total);
        }
        // The encoder is behind until a buffer comes back; it has failed when none can.
        let Ok(mut data) = spare.recv() else { return Ok(false) };
        let begun = Instant::now();
        collect(source, collected, &mut data)?;
        *draw += begun.elapsed();
        if drawn.send(Job { frame: collected, data }).is_err() {
            return Ok(false);
        }
        collected += 1;
        progress(*draw);
    }
}

/// Collects the oldest submitted frame, which is `frame`, and makes sure of its size.
pub(crate) fn collect(source: &mut dyn FrameSource, frame: u64, into: &mut Vec<u8>) -> Result<(), RecordError> {
    let fault = |source| RecordError::Frame { frame, source };
    source.collect(into).map_err(fault)?;
    let (width, height) = source.size();
    let want = u64::from(width) * u64::from(height) * 4;
    if into.len() as u64 == want {
        return Ok(());
    }
    let finding = format!("{} bytes came for a picture of {width}x{height}, not {want}", into.len());
    Err(fault(FrameError::new(finding)))
}

fn convert_all(
    worker: &mut dyn Convert,
    jobs: &Mutex<Receiver<Job>>,
    converted: &SyncSender<Job>,
    spare: &Mutex<Receiver<Vec<u8>>>,
    empty: &Sender<Vec<u8>>,
    shared: &Shared,
) -> Result<(), RecordError> {
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Job { frame, data: rgba }) = job else { return Ok(()) };
        let spare = spare.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(mut data) = spare else { return Ok(()) };
        let begun = Instant::now();
        worker.convert(&rgba, &mut data).inspect_err(|_| shared.failed.store(true, Ordering::Relaxed))?;
        Shared::add(&shared.convert_ns, begun);
        // Nobody waits for empty buffers once drawing has ended.
        let _ = empty.send(rgba);
        if converted.send(Job { frame, data }).is_err() {
            return Ok(());
        }
    }
}

fn encode_all(
    mut encode: Box<dyn Encode>,
    jobs: Receiver<Job>,
    empty: Sender<Vec<u8>>,
    shared: &Shared,
) -> Result<Box<dyn Encode>, RecordError> {
    for Job { frame, data } in jobs {
        let begun = Instant::now();
        encode.encode(frame, &data)?;
        Shared::add(&shared.encode_ns, begun);
        shared.bytes.store(encode.bytes(), Ordering::Relaxed);
        shared.done.fetch_add(1, Ordering::Relaxed);
        let _ = empty.send(data);
    }
    Ok(encode)
}
