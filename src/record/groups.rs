//! Groups of pictures, encoded side by side. Each begins with a picture that needs no other and has an encoder of its own, so that the bytes are the
//! same however many are under way.
//!
//! ```text
//!   frames   0 .. 59 | 60 .. 119 | 120 .. 179 | 180 ..
//!   lane        0          1           0          1       as many lanes as there are processors for
//!   out      in the order of frames
//! ```

use super::RecordError;
use super::h264::{Coded, H264};
use super::yuv::Planes;
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// Lanes at most: more would have to wait for what draws.
const MOST_LANES: usize = 4;
/// Processors that drawing and converting need beside each lane.
const PROCESSORS_A_LANE: usize = 2;

/// Takes what was coded, in the order of frames.
pub(crate) type Take<'a> = dyn FnMut(&Coded) -> Result<(), RecordError> + 'a;

/// Lanes for a machine with so many processors.
pub(crate) fn lanes(processors: usize) -> usize {
    (processors / PROCESSORS_A_LANE).clamp(1, MOST_LANES)
}

/// Encodes pictures of one size, in their order.
pub(crate) enum Groups {
    /// One after the other, on the calling thread.
    One(Box<H264>),
    /// Side by side.
    Beside(Beside),
}

impl Groups {
    /// In so many lanes.
    pub(crate) fn new(planes: Planes, fps: u32, lanes: usize) -> Result<Self, RecordError> {
        if lanes < 2 {
            return Ok(Self::One(Box::new(H264::new(planes, fps))));
        }
        let lane = |n| Lane::new(H264::new(planes, fps), n);
        let lanes = (0..lanes).map(lane).collect::<Result<Vec<Lane>, RecordError>>()?;
        let group = u64::from(planes.group(fps));
        Ok(Self::Beside(Beside { lanes, group, under_way: VecDeque::new(), spare: Vec::new() }))
    }

    /// Encodes a picture; gives `take` what is done.
    pub(crate) fn encode(&mut self, frame: u64, i420: &[u8], take: &mut Take<'_>) -> Result<(), RecordError> {
        match self {
            Self::One(encoder) => take(encoder.encode(frame, i420)?),
            Self::Beside(beside) => beside.encode(frame, i420, take),
        }
    }

    /// Waits for all that is under way.
    pub(crate) fn finish(&mut self, take: &mut Take<'_>) -> Result<(), RecordError> {
        match self {
            Self::One(_) => Ok(()),
            Self::Beside(beside) => beside.drain(0, take),
        }
    }
}

/// A thread that encodes some of the groups.
struct Lane {
    jobs: Sender<(u64, Vec<u8>)>,
    done: Receiver<(Result<Coded, RecordError>, Vec<u8>)>,
}

impl Lane {
    fn new(mut encoder: H264, n: usize) -> Result<Self, RecordError> {
        let (jobs, frames) = channel::<(u64, Vec<u8>)>();
        let (coded, done) = channel();
        let work = move || {
            for (frame, i420) in frames {
                let result = encoder.encode(frame, &i420).cloned();
                // Nobody waits any more: what is left is not wanted either.
                if coded.send((result, i420)).is_err() {
                    return;
                }
            }
        };
        let name = format!("record-encode-{n}");
        let fault = |e: std::io::Error| RecordError::Encoder { frame: 0, reason: format!("no thread for {name}: {e}") };
        thread::Builder::new().name(name.clone()).spawn(work).map_err(fault)?;
        Ok(Self { jobs, done })
    }
}

/// See the module.
pub(crate) struct Beside {
    lanes: Vec<Lane>,
    /// Frames of a group.
    group: u64,
    /// Frames that were given to lanes and did not come back, oldest first.
    under_way: VecDeque<u64>,
    spare: Vec<Vec<u8>>,
}

impl Beside {
    fn lane(&self, frame: u64) -> usize {
        usize::try_from(frame / self.group).unwrap_or(0) % self.lanes.len()
    }

    fn encode(&mut self, frame: u64, i420: &[u8], take: &mut Take<'_>) -> Result<(), RecordError> {
        let mut own = self.spare.pop().unwrap_or_default();
        own.clear();
        own.extend_from_slice(i420);
        let lane = self.lane(frame);
        self.lanes[lane].jobs.send((frame, own)).map_err(|_| gone(frame))?;
        self.under_way.push_back(frame);
        // A group for each lane: the one that begins next finds its lane done with the one before.
        let most = self.lanes.len() * usize::try_from(self.group).unwrap_or(1);
        self.drain(most, take)
    }

    /// Takes what is done, and waits until no more than `most` frames are under way.
    fn drain(&mut self, most: usize, take: &mut Take<'_>) -> Result<(), RecordError> {
        while let Some(&frame) = self.under_way.front() {
            let done = &self.lanes[self.lane(frame)].done;
            let came = if self.under_way.len() > most {
                done.recv().map_err(|_| gone(frame))?
            } else {
                let Ok(came) = done.try_recv() else { return Ok(()) };
                came
            };
            self.under_way.pop_front();
            let (coded, buffer) = came;
            self.spare.push(buffer);
            take(&coded?)?;
        }
        Ok(())
    }
}

fn gone(frame: u64) -> RecordError {
    RecordError::Encoder { frame, reason: "its thread has ended".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is coded of some frames in so many lanes: numbers, whether each is a key, bytes.
    fn coded(lanes: usize, frames: u64) -> Vec<(u64, bool, Vec<u8>)> {
        let planes = Planes::new(64, 48);
        let mut groups = Groups::new(planes, 2, lanes).expect("threads");
        let mut all = Vec::new();
        let mut take = |coded: &Coded| {
            all.push((coded.frame, coded.key, coded.data.clone()));
            Ok(())
        };
        for frame in 0..frames {
            let picture: Vec<u8> = (0..planes.bytes()).map(|n| ((n as u64 * (3 + frame)) % 251) as u8).collect();
            groups.encode(frame, &picture, &mut take).expect("encodes");
        }
        groups.finish(&mut take).expect("encodes");
        all
    }

    #[test]
    fn bytes_are_the_same_however_many_groups_are_under_way() {
        let one = coded(1, 23);
        assert_eq!(one.len(), 23);
        let keys: Vec<u64> = one.iter().filter(|(_, key, _)| *key).map(|(frame, ..)| *frame).collect();
        assert_eq!(keys, [0, 4, 8, 12, 16, 20], "two seconds of two frames");
        assert!(one.iter().zip(0..).all(|((frame, ..), n)| *frame == n));
        for lanes in [2, 3, 4] {
            assert_eq!(coded(lanes, 23), one, "{lanes} lanes");
        }
        assert_eq!(coded(4, 3), one[..3]);
    }

    #[test]
    fn a_picture_that_cannot_be_encoded_is_a_fault_in_its_place() {
        let mut groups = Groups::new(Planes::new(64, 48), 2, 2).expect("threads");
        let mut seen = 0;
        let mut count = |_: &Coded| {
            seen += 1;
            Err(RecordError::Encoder { frame: 7, reason: "the disk is full".to_owned() })
        };
        let grey = vec![128; Planes::new(64, 48).bytes()];
        let result = (0..40).try_for_each(|frame| groups.encode(frame, &grey, &mut count));
        let error = result.and_then(|()| groups.finish(&mut count)).expect_err("nobody can take it").to_string();
        assert!(error.contains("the disk is full"), "{error}");
        assert_eq!(seen, 1, "nothing is taken after a fault");
    }

    #[test]
    fn lanes_are_as_many_as_processors_leave_room_for() {
        assert_eq!([1, 2, 3, 4, 7, 8, 64].map(lanes), [1, 1, 1, 2, 3, 4, 4]);
    }
}
