//! MP4 as two stages: RGBA to I420, and I420 to samples in a file or stream.

use super::groups::{Groups, lanes};
use super::h264::{Coded, track};
use super::mp4::{FileMux, Mux, Sample, StreamMux, Track};
use super::output::Partial;
use super::pipeline::{Convert, Encode, Workers};
use super::yuv::Planes;
use super::{Chapter, RecordError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// MP4 into a file that will be `path`.
pub(crate) fn to_file(
    path: &Path,
    size: (u32, u32),
    fps: u32,
    (frames, chapters): (u64, &[Chapter]),
) -> Result<Workers, RecordError> {
    let sink = Sink::Waiting(Place::File(Partial::create(path)?, frames, chapters.to_vec()));
    workers(sink, path.to_owned(), size, fps)
}

/// Fragmented MP4 into `writer`.
pub(crate) fn to_stream(writer: Box<dyn Write + Send>, size: (u32, u32), fps: u32) -> Result<Workers, RecordError> {
    workers(Sink::Waiting(Place::Stream(writer)), PathBuf::from("standard output"), size, fps)
}

fn workers(sink: Sink, path: PathBuf, size: (u32, u32), fps: u32) -> Result<Workers, RecordError> {
    let planes = Planes::new(size.0 as usize, size.1 as usize);
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let groups = Groups::new(planes, fps, lanes(processors))?;
    let film = Film { planes, fps, sets: None, sink, path };
    Ok(Workers { convert: vec![Box::new(ToI420(planes))], encode: Box::new(Mp4 { groups, film }) })
}

struct ToI420(Planes);

impl Convert for ToI420 {
    fn convert(&mut self, rgba: &[u8], into: &mut Vec<u8>) -> Result<(), RecordError> {
        self.0.convert(rgba, into);
        Ok(())
    }
}

enum Place {
    File(Partial, u64, Vec<Chapter>),
    Stream(Box<dyn Write + Send>),
}

/// The container can start when the first frame has brought the parameter sets.
enum Sink {
    Waiting(Place),
    File(FileMux<Partial>),
    Stream(StreamMux<BufWriter<Box<dyn Write + Send>>>),
    /// Between two states, or after a failure.
    Gone,
}

impl Sink {
    fn start(self, track: Track) -> io::Result<Self> {
        Ok(match self {
            Self::Waiting(Place::File(file, frames, chapters)) => {
                Self::File(FileMux::new(file, track, frames)?.with_chapters(chapters))
            }
            Self::Waiting(Place::Stream(out)) => Self::Stream(StreamMux::new(BufWriter::new(out), track)?),
            other => other,
        })
    }

    fn mux(&mut self) -> Option<&mut dyn Mux> {
        match self {
            Self::File(mux) => Some(mux),
            Self::Stream(mux) => Some(mux),
            Self::Waiting(_) | Self::Gone => None,
        }
    }
}

/// What is written.
struct Film {
    planes: Planes,
    fps: u32,
    /// The parameter sets: a file has one of each.
    sets: Option<(Vec<u8>, Vec<u8>)>,
    sink: Sink,
    /// For messages.
    path: PathBuf,
}

impl Film {
    fn push(&mut self, coded: &Coded) -> Result<(), RecordError> {
        let fault = |reason: &str| Err(RecordError::Encoder { frame: coded.frame, reason: reason.to_owned() });
        let fail = |e| RecordError::io(&self.path, "written", e);
        if let Sink::Waiting(_) = &self.sink {
            let track = track(&self.planes, self.fps, coded)?;
            self.sink = std::mem::replace(&mut self.sink, Sink::Gone).start(track).map_err(fail)?;
            self.sets.clone_from(&coded.sets);
        }
        // A change would need a second sample description.
        if coded.sets.is_some() && coded.sets != self.sets {
            return fault("the encoder changed its parameter sets");
        }
        match self.sink.mux() {
            Some(mux) => mux.push(Sample { data: &coded.data, key: coded.key }).map_err(fail),
            None => fault("the container was not started"),
        }
    }
}

struct Mp4 {
    groups: Groups,
    film: Film,
}

impl Encode for Mp4 {
    fn encode(&mut self, frame: u64, data: &[u8]) -> Result<(), RecordError> {
        let Self { groups, film } = self;
        groups.encode(frame, data, &mut |coded| film.push(coded))
    }

    fn bytes(&self) -> u64 {
        match &self.film.sink {
            Sink::File(mux) => mux.bytes(),
            Sink::Stream(mux) => mux.bytes(),
            Sink::Waiting(_) | Sink::Gone => 0,
        }
    }

    fn finish(mut self: Box<Self>) -> Result<u64, RecordError> {
        let Self { groups, film } = &mut *self;
        groups.finish(&mut |coded| film.push(coded))?;
        if let Some(mux) = film.sink.mux() {
            mux.finish().map_err(|e| RecordError::io(&film.path, "written", e))?;
        }
        let bytes = self.bytes();
        if let Sink::File(mux) = self.film.sink {
            mux.into_inner().commit(true)?;
        }
        Ok(bytes)
    }
}
