//! A program that records itself, followed: what it records and prints is passed on while it runs.
//!
//! ```text
//! program --spool--> its collector --> NAME.orrery
//!    |                      '--socket--> Listener --> whoever shows it
//!    '--prints--> Streams
//! ```
//!
//! The collector is a process that the program starts; where to tell what it reads is a question to it ([`super::asked`]). It tells
//! 24 bytes a reference. Where nobody listens any more it goes on with its file.

use super::program::Running;
use super::recording::Recording;
use crate::reference::{Kind, Reference};
use crate::symbols::Module;
use crate::trace::TraceError;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Bytes of a reference on its way.
const BYTES: usize = 24;
/// References that are passed on at once, at most.
const BATCH: usize = 1 << 14;
/// Time between two looks whether the collector is there.
const LOOK: Duration = Duration::from_millis(5);

/// Tells references to who listens at a socket.
#[derive(Debug)]
pub struct Teller {
    stream: Option<UnixStream>,
    bytes: Vec<u8>,
}

impl Teller {
    /// To the listener at `path`; where there is none, to nobody.
    #[must_use]
    pub fn to(path: &Path) -> Self {
        Self { stream: UnixStream::connect(path).ok(), bytes: Vec::new() }
    }

    /// Tells the next ones.
    pub fn tell(&mut self, references: &[Reference]) {
        let Some(stream) = &mut self.stream else { return };
        for batch in references.chunks(BATCH) {
            self.bytes.clear();
            batch.iter().for_each(|reference| pack(reference, &mut self.bytes));
            if stream.write_all(&self.bytes).is_err() {
                self.stream = None;
                return;
            }
        }
    }
}

fn pack(r: &Reference, out: &mut Vec<u8>) {
    out.extend(r.addr.to_le_bytes());
    out.extend(r.pc.to_le_bytes());
    out.extend(r.size.to_le_bytes());
    out.extend(r.core.to_le_bytes());
    out.extend([r.lane, r.kind as u8]);
}

fn unpack(bytes: &[u8; BYTES]) -> Option<Reference> {
    let (words, [s0, s1, s2, s3, c0, c1, lane, kind]) = bytes.split_first_chunk::<16>().and_then(|(words, rest)| {
        let rest: [u8; 8] = rest.try_into().ok()?;
        Some((words, rest))
    })?;
    let (addr, pc) = (words.first_chunk::<8>()?, words.last_chunk::<8>()?);
    Some(Reference {
        addr: u64::from_le_bytes(*addr),
        pc: u64::from_le_bytes(*pc),
        size: u32::from_le_bytes([s0, s1, s2, s3]),
        core: u16::from_le_bytes([c0, c1]),
        lane,
        kind: Kind::from_code(kind)?,
    })
}

/// Where a collector tells what it reads.
#[derive(Debug)]
pub struct Listener {
    socket: UnixListener,
    path: PathBuf,
}

impl Listener {
    /// At a socket in `folder`.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new(folder: &Path) -> io::Result<Self> {
        let path = folder.join("follow");
        let socket = UnixListener::bind(&path)?;
        socket.set_nonblocking(true)?;
        Ok(Self { socket, path })
    }

    /// What a [`Teller`] is to be told.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Waits for the teller; `None` where it is `over` before one came.
    fn accept(&self, over: &dyn Fn() -> bool) -> Option<UnixStream> {
        loop {
            let late = over();
            match self.socket.accept() {
                Ok((stream, _)) => return stream.set_nonblocking(false).is_ok().then_some(stream),
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) && !late => {
                    std::thread::sleep(LOOK);
                }
                Err(_) => return None,
            }
        }
    }

    /// Passes on what `running` records until it ended and all is told, and gives how it ended. Counts up in `stops` ask it to end.
    /// Where `see` cannot take something, it is ended too.
    ///
    /// # Errors
    /// When it cannot be waited for; what `see` gives.
    pub fn follow(
        &self,
        running: Running,
        recording: &Recording,
        stops: &AtomicU32,
        see: &mut dyn FnMut(&[Reference]) -> Result<(), TraceError>,
    ) -> Result<ExitStatus, super::DriveError> {
        std::thread::scope(|scope| {
            let watch = || running.watch(stops);
            let watching = std::thread::Builder::new().name("program".into()).spawn_scoped(scope, watch)?;
            // Of a program that was brief the collector may come when that has ended.
            let over = || watching.is_finished() && !recording.is_under_way();
            let heard = self.accept(&over).map_or(Ok(()), |stream| hear(stream, see));
            if heard.is_err() {
                stops.fetch_add(2, Ordering::SeqCst);
            }
            let ended = watching.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            heard.map(|()| ended).map_err(Into::into)
        })
    }
}

/// Passes on what a teller tells until its end.
fn hear(mut stream: impl Read, see: &mut dyn FnMut(&[Reference]) -> Result<(), TraceError>) -> Result<(), TraceError> {
    let (mut bytes, mut filled) = (vec![0; BATCH * BYTES], 0);
    let mut references = Vec::new();
    loop {
        match stream.read(&mut bytes[filled..]) {
            Ok(0) => return Ok(()),
            Ok(n) => filled += n,
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            // Who tells is gone; its file has all.
            Err(_) => return Ok(()),
        }
        let whole = filled / BYTES * BYTES;
        references.clear();
        references.extend(bytes[..whole].as_chunks::<BYTES>().0.iter().filter_map(unpack));
        bytes.copy_within(whole..filled, 0);
        filled -= whole;
        if !references.is_empty() {
            see(&references)?;
        }
    }
}

/// Whether a program was built by `orrery cc`.
#[must_use]
pub fn records_itself(program: &Path) -> bool {
    // A function of the runtime that every such program has.
    Module::open(program).is_ok_and(|module| module.function_span("__orrery__Exit").is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::synth;

    #[test]
    fn what_is_told_is_heard_in_order_until_the_teller_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let listener = Listener::new(folder.path()).unwrap();
        let mut references: Vec<Reference> = synth::mix(40_000, 7).collect();
        references[3] =
            Reference { addr: u64::MAX, pc: 1 << 63, size: u32::MAX, core: 511, lane: 31, kind: Kind::Modify };
        let (told, path) = (references.clone(), listener.path().to_owned());
        let teller = std::thread::spawn(move || {
            let mut teller = Teller::to(&path);
            told.chunks(9_999).for_each(|part| teller.tell(part));
        });
        let mut heard = Vec::new();
        let stream = listener.accept(&|| false).unwrap();
        hear(stream, &mut |part| {
            heard.extend_from_slice(part);
            Ok(())
        })
        .unwrap();
        teller.join().unwrap();
        assert!(heard == references);
    }

    #[test]
    fn where_nobody_listens_or_nobody_tells_nothing_waits() {
        let folder = tempfile::tempdir().unwrap();
        Teller::to(&folder.path().join("none")).tell(&[Reference::new(Kind::Read, 64, 8)]);
        let listener = Listener::new(folder.path()).unwrap();
        assert!(listener.accept(&|| true).is_none());
        // A listener that is gone in the midst of it.
        let mut teller = Teller::to(listener.path());
        drop(listener.accept(&|| false).unwrap());
        let many = vec![Reference::new(Kind::Write, 64, 8); 100_000];
        teller.tell(&many);
        assert!(teller.stream.is_none());
    }

    #[test]
    fn a_reference_of_a_kind_that_there_is_not_is_left_out() {
        let mut bytes = Vec::new();
        pack(&Reference::new(Kind::Fetch, 5, 4), &mut bytes);
        let mut bytes: [u8; BYTES] = bytes.try_into().unwrap();
        assert_eq!(unpack(&bytes), Some(Reference::new(Kind::Fetch, 5, 4)));
        bytes[BYTES - 1] = 4;
        assert_eq!(unpack(&bytes), None);
    }

    #[test]
    fn a_plain_file_records_nothing() {
        assert!(!records_itself(Path::new("/bin/sh")) && !records_itself(Path::new("/no/such")));
    }
}
