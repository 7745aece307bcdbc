//! Threads that pack row groups, and give them back in order.

use super::pack::{Columns, Packed, Packer, Packing};
use crate::reference::Reference;
use parquet::errors::ParquetError;
use parquet::schema::types::ColumnDescPtr;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Threads at most: each holds a row group.
const THREADS: usize = 4;

/// A row group that is to be packed.
struct Job {
    rows: Vec<Reference>,
    columns: Columns,
    descriptors: Vec<ColumnDescPtr>,
    rooms: Vec<Vec<u8>>,
}

/// What came of it, and its room.
type Done = (Packed, Vec<Reference>);

/// A thread with one row group at a time.
struct Thread {
    jobs: SyncSender<Job>,
    done: Receiver<Done>,
}

impl Thread {
    fn start(packing: Packing) -> Option<Self> {
        let (jobs, taken) = sync_channel::<Job>(1);
        let (give, done) = sync_channel::<Done>(1);
        let work = move || {
            let mut packer = None;
            for Job { rows, columns, descriptors, rooms } in taken {
                let packed = pack(&mut packer, packing, &rows, columns, &descriptors, rooms);
                // Whoever writes may have stopped.
                if give.send((packed, rows)).is_err() {
                    break;
                }
            }
        };
        thread::Builder::new().name("pack".into()).spawn(work).ok()?;
        Some(Self { jobs, done })
    }
}

/// Makes room where there was none yet.
fn pack(
    packer: &mut Option<Box<Packer>>,
    packing: Packing,
    rows: &[Reference],
    columns: Columns,
    descriptors: &[ColumnDescPtr],
    rooms: Vec<Vec<u8>>,
) -> Packed {
    let packer = match packer {
        Some(packer) => packer,
        None => packer.insert(Box::new(Packer::new(packing)?)),
    };
    packer.pack(rows, columns, descriptors, rooms)
}

/// Threads that pack, as many as the machine runs at once; they begin when the first row group comes.
#[derive(Default)]
pub(super) struct Packers {
    pub(super) packing: Packing,
    threads: Vec<Thread>,
    /// How many there are to be, once that was asked.
    wanted: Option<usize>,
    /// Row groups begun and given back.
    begun: usize,
    given: usize,
    /// Where there is no thread.
    here: Option<Box<Packer>>,
    /// Room for the columns of the next row group.
    rooms: Vec<Vec<u8>>,
}

impl Packers {
    /// Packs a row group at once, in the caller's thread. Nothing may be under way.
    pub(super) fn here(&mut self, rows: &[Reference], columns: Columns, descriptors: &[ColumnDescPtr]) -> Packed {
        let rooms = std::mem::take(&mut self.rooms);
        pack(&mut self.here, self.packing, rows, columns, descriptors, rooms)
    }

    /// Takes back room of columns that are written, in their order.
    pub(super) fn reuse(&mut self, rooms: Vec<Vec<u8>>) {
        self.rooms = rooms;
    }

    /// Begins to pack a row group; gives the oldest one that was under way where there is no room for more, and empty room
    /// for references.
    ///
    /// # Errors
    /// When a thread has ended.
    pub(super) fn begin(
        &mut self,
        rows: Vec<Reference>,
        columns: Columns,
        descriptors: Vec<ColumnDescPtr>,
    ) -> Result<(Option<Packed>, Vec<Reference>), ParquetError> {
        let wanted = *self.wanted.get_or_insert_with(|| {
            let processors = thread::available_parallelism().map_or(1, usize::from);
            processors.min(THREADS)
        });
        if self.begun == self.threads.len() && self.threads.len() < wanted {
            match Thread::start(self.packing) {
                Some(thread) => self.threads.push(thread),
                // A system that has no more threads.
                None => self.wanted = Some(self.threads.len()),
            }
        }
        if self.threads.is_empty() {
            let packed = self.here(&rows, columns, &descriptors);
            return Ok((Some(packed), emptied(rows)));
        }
        let is_full = self.begun - self.given == self.threads.len();
        let oldest = if is_full { self.receive() } else { None };
        let (oldest, room) = oldest.map_or((None, Vec::new()), |(packed, rows)| (Some(packed), emptied(rows)));
        let thread = &self.threads[self.begun % self.threads.len()];
        let rooms = std::mem::take(&mut self.rooms);
        let sent = thread.jobs.send(Job { rows, columns, descriptors, rooms });
        sent.map_err(|_| ParquetError::General("a thread that packs has ended".into()))?;
        self.begun += 1;
        Ok((oldest, room))
    }

    /// The oldest row group under way; `None` where there is none.
    pub(super) fn next(&mut self) -> Option<Packed> {
        self.receive().map(|(packed, _)| packed)
    }

    fn receive(&mut self) -> Option<Done> {
        if self.given == self.begun {
            return None;
        }
        let done = self.threads[self.given % self.threads.len()].done.recv();
        self.given += 1;
        Some(done.unwrap_or_else(|_| (Err(ParquetError::General("a thread that packs has ended".into())), Vec::new())))
    }
}

fn emptied(mut rows: Vec<Reference>) -> Vec<Reference> {
    rows.clear();
    rows
}
