//! The frames of a film by several sources of it in turn, each on a thread of its own: while one lays a frame out, another waits for its
//! adapter.
//!
//! ```text
//!   frame     0   1   2   3   4   5        in the order in which frames are submitted, and collected in that order too
//!   source    a   b   a   b   a   b        a frame is the same whichever source draws it
//! ```

use super::{FrameError, FrameSource, RecordError};
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, Scope, available_parallelism, scope};

/// Frames that a source has under way at once: the one that is drawn, and the one that is laid out meanwhile.
const OF_EACH: usize = 2;
/// Sources at most: encoding does not keep up with more.
const MOST: usize = 4;
/// Pixels of the pictures of all sources at most: each holds several.
const PIXELS: u64 = 2 * 3840 * 2160;
/// A source more has to begin: for fewer frames it does not pay.
const FRAMES_OF_EACH: u64 = 16;

/// Sources of a film that pay on this machine, this one included.
pub fn sources(film: &dyn FrameSource) -> usize {
    let processors = available_parallelism().map_or(1, std::num::NonZero::get);
    sources_on(processors, film.size(), film.frames())
}

/// The same on a machine with so many processors, of a film of so many frames of this size.
fn sources_on(processors: usize, (width, height): (u32, u32), frames: u64) -> usize {
    let fit = PIXELS / (u64::from(width) * u64::from(height)).max(1);
    let pay = frames / FRAMES_OF_EACH;
    usize::try_from(fit.min(pay)).unwrap_or(MOST).min(processors).clamp(1, MOST)
}

/// Has a film, and `others` of the same film, drawn in turn: `with` gets what gives all their frames.
///
/// # Errors
/// Those of `with`, or when there is no thread to be had.
pub fn in_turn<S: FrameSource + Send, T>(
    (film, others): (&mut S, &mut [S]),
    with: impl FnOnce(&mut dyn FrameSource) -> Result<T, RecordError>,
) -> Result<T, RecordError> {
    if others.is_empty() {
        return with(film);
    }
    scope(|scope| {
        let all = std::iter::once(film).chain(others).map(|source| source as &mut (dyn FrameSource + Send));
        let turns = Turns::new(scope, all.collect());
        with(&mut turns.map_err(|source| RecordError::Frame { frame: 0, source })?)
    })
}

/// See the module.
struct Turns {
    lanes: Vec<Lane>,
    size: (u32, u32),
    frames: u64,
    /// The lane of each frame under way, oldest first.
    under_way: VecDeque<usize>,
    /// The lane of the frame that is submitted next.
    next: usize,
    /// Buffers that nobody fills.
    spare: Vec<Vec<u8>>,
}

/// A thread with a source.
struct Lane {
    jobs: Sender<(u64, Vec<u8>)>,
    done: Receiver<(Result<(), FrameError>, Vec<u8>)>,
}

impl Turns {
    /// The frames of `sources`, which are all of the same film: one or more. Its threads end with it.
    ///
    /// # Errors
    /// When there is no thread to be had.
    fn new<'scope, 'env>(
        scope: &'scope Scope<'scope, 'env>,
        sources: Vec<&'env mut (dyn FrameSource + Send)>,
    ) -> Result<Self, FrameError> {
        let (size, frames) = sources.first().map_or(((0, 0), 0), |source| (source.size(), source.frames()));
        let lanes =
            sources.into_iter().zip(0..).map(|(source, n)| Lane::new(scope, source, n)).collect::<Result<_, _>>()?;
        Ok(Self { lanes, size, frames, under_way: VecDeque::new(), next: 0, spare: Vec::new() })
    }
}

impl Lane {
    fn new<'scope, 'env>(
        scope: &'scope Scope<'scope, 'env>,
        source: &'env mut (dyn FrameSource + Send),
        n: usize,
    ) -> Result<Self, FrameError> {
        let (jobs, frames) = channel();
        let (drawn, done) = channel();
        let name = format!("record-draw-{n}");
        let fault = |e: std::io::Error| FrameError::new(format!("no thread for {name}: {e}"));
        Builder::new().name(name.clone()).spawn_scoped(scope, move || draw(source, &frames, &drawn)).map_err(fault)?;
        Ok(Self { jobs, done })
    }
}

/// Draws what is asked for until nobody asks any more.
fn draw(
    source: &mut dyn FrameSource,
    jobs: &Receiver<(u64, Vec<u8>)>,
    drawn: &Sender<(Result<(), FrameError>, Vec<u8>)>,
) {
    let mut under_way: VecDeque<(Result<(), FrameError>, Vec<u8>)> = VecDeque::new();
    loop {
        let job = match under_way.is_empty() {
            true => match jobs.recv() {
                Ok(job) => Some(job),
                Err(_) => return,
            },
            false => jobs.try_recv().ok(),
        };
        if let Some((frame, buffer)) = job {
            under_way.push_back((source.submit(frame), buffer));
            if under_way.len() < OF_EACH {
                continue;
            }
        }
        if let Some((submitted, mut buffer)) = under_way.pop_front() {
            let result = submitted.and_then(|()| source.collect(&mut buffer));
            // Where nobody waits any more, what is under way is collected all the same: the source may be used again.
            let _ = drawn.send((result, buffer));
        }
    }
}

impl FrameSource for Turns {
    fn size(&self) -> (u32, u32) {
        self.size
    }

    fn frames(&self) -> u64 {
        self.frames
    }

    fn in_flight(&self) -> u64 {
        // One more of each waits, so that no thread has to.
        (self.lanes.len() * (OF_EACH + 1)) as u64
    }

    fn submit(&mut self, k: u64) -> Result<(), FrameError> {
        let lane = self.next;
        self.next = (lane + 1) % self.lanes.len();
        let buffer = self.spare.pop().unwrap_or_default();
        self.lanes[lane].jobs.send((k, buffer)).map_err(|_| gone())?;
        self.under_way.push_back(lane);
        Ok(())
    }

    fn collect(&mut self, into: &mut Vec<u8>) -> Result<(), FrameError> {
        let lane = self.under_way.pop_front().ok_or_else(|| FrameError::new("no frame was submitted"))?;
        let (result, mut rgba) = self.lanes[lane].done.recv().map_err(|_| gone())?;
        std::mem::swap(into, &mut rgba);
        self.spare.push(rgba);
        result
    }
}

fn gone() -> FrameError {
    FrameError::new("the thread that draws it has ended")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    /// Numbers in place of pictures; one of them cannot be drawn.
    struct Numbers {
        waiting: VecDeque<u64>,
        drawn: Vec<u64>,
        bad: Option<u64>,
    }

    impl Numbers {
        fn new(bad: Option<u64>) -> Self {
            Self { waiting: VecDeque::new(), drawn: Vec::new(), bad }
        }
    }

    impl FrameSource for Numbers {
        fn size(&self) -> (u32, u32) {
            (2, 1)
        }

        fn frames(&self) -> u64 {
            100
        }

        fn submit(&mut self, k: u64) -> Result<(), FrameError> {
            if self.bad == Some(k) {
                return Err(FrameError::new("cannot be drawn"));
            }
            self.waiting.push_back(k);
            assert!(self.waiting.len() <= OF_EACH);
            Ok(())
        }

        fn collect(&mut self, into: &mut Vec<u8>) -> Result<(), FrameError> {
            let k = self.waiting.pop_front().ok_or_else(|| FrameError::new("nothing was submitted"))?;
            self.drawn.push(k);
            into.clear();
            into.extend(k.to_le_bytes());
            Ok(())
        }
    }

    /// Has `numbers` drawn by so many sources; gives what came, or why it ended, and what each source drew.
    fn in_turn(sources: usize, numbers: &[u64], bad: Option<u64>) -> (Result<Vec<u64>, String>, Vec<Numbers>) {
        let mut all: Vec<Numbers> = (0..sources).map(|_| Numbers::new(bad)).collect();
        let came = thread::scope(|scope| {
            let sources = all.iter_mut().map(|source| source as &mut (dyn FrameSource + Send)).collect();
            let mut turns = Turns::new(scope, sources).map_err(|e| e.to_string())?;
            let (mut submitted, mut came, mut buffer) = (0, Vec::new(), Vec::new());
            while came.len() < numbers.len() {
                while submitted < numbers.len() && ((submitted - came.len()) as u64) < turns.in_flight() {
                    turns.submit(numbers[submitted]).map_err(|e| e.to_string())?;
                    submitted += 1;
                }
                turns.collect(&mut buffer).map_err(|e| e.to_string())?;
                came.push(u64::from_le_bytes(buffer.as_slice().try_into().expect("eight bytes")));
            }
            Ok(came)
        });
        (came, all)
    }

    #[test]
    fn frames_come_in_the_order_in_which_they_were_asked_for_and_each_source_draws_its_share() {
        let numbers: Vec<u64> = (0..90).chain([3, 2, 1, 50]).collect();
        for sources in 1..=4 {
            let (came, all) = in_turn(sources, &numbers, None);
            assert_eq!(came.as_ref(), Ok(&numbers), "{sources} sources");
            let mut first = numbers.iter().copied().step_by(sources);
            assert!(all[0].drawn.iter().copied().eq(&mut first), "{sources} sources: {:?}", all[0].drawn);
        }
    }

    #[test]
    fn what_cannot_be_drawn_is_a_fault_and_nothing_is_left_under_way() {
        let numbers: Vec<u64> = (0..90).collect();
        for (sources, bad) in [(1, 0), (1, 40), (3, 40), (4, 89)] {
            let (came, all) = in_turn(sources, &numbers, Some(bad));
            assert_eq!(came, Err("cannot be drawn".to_owned()));
            assert!(all.iter().all(|source| source.waiting.is_empty()));
        }
    }

    #[test]
    fn sources_are_as_many_as_processors_and_memory_have_room_for() {
        let hd = (1280, 720);
        assert_eq!([1, 2, 3, 4, 64].map(|processors| sources_on(processors, hd, 900)), [1, 2, 3, 4, 4]);
        assert_eq!(sources_on(16, (3840, 2160), 900), 2);
        assert_eq!(sources_on(16, (7680, 4320), 900), 1);
        assert_eq!([0, 1, 31, 32, 100].map(|frames| sources_on(16, hd, frames)), [1, 1, 1, 2, 4]);
    }
}
