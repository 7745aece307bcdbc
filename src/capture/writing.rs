//! A native file written in a thread of its own, while the next references are read.

use crate::reference::Reference;
use crate::trace::{TraceError, native};
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::{Builder, JoinHandle};

/// Takes references and has them written: by a thread, or here where the system has no more of them.
pub(super) struct Writing {
    beside: Option<Thread>,
    here: Option<native::FileWriter>,
}

struct Thread {
    references: SyncSender<Vec<Reference>>,
    /// Room that it has no more need of.
    rooms: Receiver<Vec<Reference>>,
    writer: JoinHandle<Result<native::FileWriter, TraceError>>,
}

impl Writing {
    pub(super) fn new(writer: native::FileWriter) -> Self {
        // A thread that cannot be made must leave us the writer, so it gets that once it is there.
        let (hand, handed) = sync_channel::<native::FileWriter>(1);
        // One batch waits while another is taken.
        let (references, batches) = sync_channel::<Vec<Reference>>(1);
        let (back, rooms) = channel();
        let work = move || {
            let mut writer = handed.recv().map_err(|_| ended())?;
            for mut batch in batches {
                writer.take_valid(&mut batch)?;
                // Whoever reads may have come to the end.
                drop(back.send(batch));
            }
            Ok(writer)
        };
        let Ok(thread) = Builder::new().name("write".into()).spawn(work) else {
            return Self { beside: None, here: Some(writer) };
        };
        let here = hand.send(writer).err().map(|unsent| unsent.0);
        Self { beside: Some(Thread { references, rooms, writer: thread }), here }
    }

    /// Takes references, which are valid by the way they are made; gives room for others.
    ///
    /// # Errors
    /// When these or earlier ones could not be written.
    pub(super) fn take(&mut self, mut references: Vec<Reference>) -> Result<Vec<Reference>, TraceError> {
        if let Some(thread) = &self.beside {
            match thread.references.send(references) {
                Ok(()) => return Ok(thread.rooms.try_recv().unwrap_or_default()),
                // It has ended, and says why below.
                Err(unsent) => references = unsent.0,
            }
        }
        let mut writer = self.end()?;
        writer.take_valid(&mut references)?;
        self.here = Some(writer);
        Ok(references)
    }

    /// Waits until all is taken, and gives the writer back.
    ///
    /// # Errors
    /// When something could not be written.
    pub(super) fn end(&mut self) -> Result<native::FileWriter, TraceError> {
        let of_thread = self.beside.take().map(|Thread { references, writer, .. }| {
            drop(references);
            writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        self.here.take().map_or(of_thread.unwrap_or_else(|| Err(ended())), Ok)
    }
}

/// Waits for the thread, so that of a file that is not ended nothing is left behind.
impl Drop for Writing {
    fn drop(&mut self) {
        if let Some(Thread { references, writer, .. }) = self.beside.take() {
            drop(references);
            drop(writer.join());
        }
    }
}

fn ended() -> TraceError {
    TraceError::io("the native file", "the thread that writes it has ended", io::Error::other("it had no writer"))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::reference::Tables;
    use crate::trace::synth::mix;
    use std::path::Path;

    fn batches() -> Vec<Vec<Reference>> {
        let all: Vec<Reference> = mix(5 * native::CHUNK as u64 + 7, 1).collect();
        all.chunks(native::CHUNK).map(<[Reference]>::to_vec).collect()
    }

    #[test]
    fn what_is_written_beside_is_what_is_written_here() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, beside: bool| {
            let path = folder.path().join(name);
            let writer = native::FileWriter::create(&path).expect("it can be made");
            let mut writing = match beside {
                true => Writing::new(writer),
                false => Writing { beside: None, here: Some(writer) },
            };
            for batch in batches() {
                writing.take(batch).expect("there is room");
            }
            writing.end().expect("all is taken").finish(&Tables::default()).expect("it is whole");
            std::fs::read(path).expect("it is there")
        };
        assert!(write("a", true) == write("b", false));
    }

    #[test]
    fn who_gives_references_learns_that_the_disk_is_full() {
        let writer = native::FileWriter::create(Path::new("/dev/full")).expect("it is there");
        let mut writing = Writing::new(writer);
        let given = batches().into_iter().try_for_each(|batch| writing.take(batch).map(drop));
        let said = given.and_then(|()| writing.end().map(drop)).expect_err("no room").to_string();
        assert!(said.contains("free space on that disk"), "{said}");
    }
}
