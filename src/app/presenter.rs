//! A thread that submits frames and shows them, while the next one is laid out.
//!
//! ```text
//! window   lay out 1 | record 1 | lay out 2 .......... | record 2 | lay out 3
//! thread                        | submit 1, present 1 |          | submit 2, present 2
//! ```
//!
//! A driver may draw within the call that submits: Mesa's software adapter does, and takes more than half of a frame for it. Uploads
//! of a frame go to buffers that the frame before may still be drawn from. So who records a frame first waits for the one before.

use super::display::unwound;
use crate::render::RenderError;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Instant;

/// A frame to be shown.
type Recorded = (wgpu::CommandBuffer, wgpu::SurfaceTexture);
/// When it was shown, or why that broke off.
type Shown = Result<Instant, String>;

/// Shows frames, one after the other.
pub(super) struct Presenter {
    queue: wgpu::Queue,
    /// `None`: the system has no thread for it; frames are shown where they are recorded.
    thread: Option<Thread>,
    /// A frame that was shown without a thread, or whether one is on its way.
    state: State,
}

enum State {
    /// Nothing is on its way.
    Rests,
    /// The thread has a frame.
    Shows,
    /// A frame was shown.
    Done(Shown),
}

struct Thread {
    frames: Sender<Recorded>,
    shown: Receiver<Shown>,
    handle: JoinHandle<()>,
}

/// A driver may panic where its device is lost.
fn show(queue: &wgpu::Queue, (commands, texture): Recorded) -> Shown {
    unwound(|| {
        queue.submit([commands]);
        queue.present(texture);
        Instant::now()
    })
}

impl Presenter {
    pub(super) fn new(queue: wgpu::Queue) -> Self {
        let (frames, recorded) = channel::<Recorded>();
        let (tell, shown) = channel();
        let own = queue.clone();
        let run = move || {
            for frame in recorded {
                if tell.send(show(&own, frame)).is_err() {
                    return;
                }
            }
        };
        let spawned = std::thread::Builder::new().name("frames".into()).spawn(run).ok();
        Self { queue, thread: spawned.map(|handle| Thread { frames, shown, handle }), state: State::Rests }
    }

    /// Has a frame shown, after [`Presenter::finish`].
    pub(super) fn present(&mut self, frame: Recorded) {
        self.state = match &self.thread {
            Some(thread) => match thread.frames.send(frame) {
                Ok(()) => State::Shows,
                Err(_) => State::Done(Err("the thread that shows frames has ended".into())),
            },
            None => State::Done(show(&self.queue, frame)),
        };
    }

    /// Waits for the frame that is on its way; gives when it was shown, where there was one.
    ///
    /// # Errors
    /// [`RenderError::Lost`] where the driver broke off.
    pub(super) fn finish(&mut self) -> Result<Option<Instant>, RenderError> {
        let shown = match (std::mem::replace(&mut self.state, State::Rests), &self.thread) {
            (State::Done(shown), _) => shown,
            (State::Shows, Some(thread)) => {
                thread.shown.recv().unwrap_or_else(|_| Err("the thread that shows frames has ended".into()))
            }
            (State::Rests | State::Shows, _) => return Ok(None),
        };
        shown.map(Some).map_err(RenderError::Lost)
    }
}

impl Drop for Presenter {
    /// The surface outlives the frame that is on its way.
    fn drop(&mut self) {
        if let Some(Thread { frames, shown, handle }) = self.thread.take() {
            drop(frames);
            let _ = handle.join();
            drop(shown);
        }
    }
}
