//! A spool into a native file, while the program runs and after.

use super::names::{Names, file_name};
use super::writing::Writing;
use super::{CaptureError, io_error};
use crate::reference::Reference;
use crate::trace::capture::{Ending, MAGIC, Spool};
use crate::trace::native;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

/// What the runtime gives as the reason where it waited in vain at the limit of the spool: ETIMEDOUT of Linux.
const TIMED_OUT: u32 = 110;

/// References taken at once: a row group of the native file.
const BATCH: usize = native::CHUNK;

/// References read at once, for each thread of the program: names are noted of them while they are in the processor's cache, and
/// a chunk of the spool, which has a few times as many, is given back soon.
const PIECE: usize = 1 << 14;

/// The first rest where there is nothing new; each one after it is twice as long.
const FIRST_REST: Duration = Duration::from_millis(1);

/// The longest time between two looks.
const REST: Duration = Duration::from_millis(100);

/// What came of a spool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collected {
    /// References written.
    pub references: u64,
    /// What the user must be told.
    pub notices: Vec<String>,
}

/// What becomes of a spool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Its space is given back as it is read, and it is removed at the end.
    Consumed,
    /// It stays as it is.
    Kept,
}

/// Turns the spool `part` into the native file `output`; `wait` sleeps until something may have changed, at most as long as
/// it is told, and gives `true` once the program has ended.
///
/// # Errors
/// When either file cannot be read or written (the spool then stays), or there was no reference at all (it does not).
pub fn collect(
    part: &Path,
    output: &Path,
    fate: Part,
    wait: impl FnMut(Duration) -> bool,
) -> Result<Collected, CaptureError> {
    collect_seen(part, output, fate, wait, |_| {})
}

/// As [`collect`]; `see` gets the references too, in order, as they come.
///
/// # Errors
/// As there.
pub fn collect_seen(
    part: &Path,
    output: &Path,
    fate: Part,
    mut wait: impl FnMut(Duration) -> bool,
    mut see: impl FnMut(&[Reference]),
) -> Result<Collected, CaptureError> {
    let shown = part.display().to_string();
    let file = File::options()
        .read(true)
        .write(fate == Part::Consumed)
        .open(part)
        .map_err(io_error(&shown, "the spool cannot be opened"))?;
    let holes = match fate {
        Part::Consumed => Some(file.try_clone().map_err(io_error(&shown, "the spool cannot be opened"))?),
        Part::Kept => None,
    };
    let mut spool = Spool::open(shown, file)?;
    let mut names = Names::new(&spool.program().maps);
    let mut writer = Writing::new(native::FileWriter::create(output)?.packed(native::Packing::Quick));
    let mut references = Vec::new();
    let (mut pause, mut over) = (FIRST_REST, false);
    loop {
        let (before, from) = (references.len(), spool.given());
        references.reserve(BATCH - before);
        let piece = PIECE.saturating_mul(spool.threads().max(1));
        spool.advance(over, piece.min(BATCH - before), &mut references)?;
        let new = &references[before..];
        if !new.is_empty() {
            let (entries, changes) = (spool.take_entries(), spool.take_changes());
            names.note(new, from, &entries, changes);
            see(new);
        }
        // At once, for the program may wait for it.
        let is_released = release(&mut spool, holes.as_ref(), over)?;
        // Also where there were other records alone: what a program allocates while it pauses, for one.
        let is_more = !new.is_empty() || is_released;
        if references.len() == BATCH || over && !is_more && !references.is_empty() {
            references = writer.take(references)?;
        }
        if is_more {
            pause = FIRST_REST;
            continue;
        }
        if over {
            break;
        }
        // A child that the program made may hold our pipe open for long.
        over = wait(pause) || pause >= REST && has_ended(spool.program().pid);
        if over && !spool.ending()?.orderly && is_mapped(spool.program().pid, part) {
            // It closed all its descriptors, our pipe among them, and goes on.
            std::thread::sleep(pause);
            over = false;
        }
        pause = (pause * 2).min(REST);
    }
    let writer = writer.end()?;
    let ending = spool.ending()?;
    let references = spool.given();
    if references == 0 {
        drop(writer);
        dispose(part, fate)?;
        return Ok(Collected { references, notices: notices(ending) });
    }
    spool.settle_sites(|calls| names.keeper(calls));
    let (mut tables, mut more) = spool.facts().tables(references, |r| names.heap(r));
    let (regions, locations, unnamed) = names.finish(references);
    let (arrays, unnamed_arrays) = names.frames.finish(references);
    tables.regions.extend(regions.into_iter().chain(arrays));
    tables.locations = locations;
    more.extend(unnamed.into_iter().chain(unnamed_arrays));
    tables.title = file_name(&spool.program().path);
    tables.made_by = format!("orrery cc, orrery {}", env!("CARGO_PKG_VERSION"));
    writer.finish(&tables)?;
    dispose(part, fate)?;
    Ok(Collected { references, notices: [notices(ending), more].concat() })
}

/// Gives back what is read to its end; whether there was anything.
fn release(spool: &mut Spool, holes: Option<&File>, over: bool) -> Result<bool, CaptureError> {
    let Some(holes) = holes else { return Ok(false) };
    let released = spool.release(holes, over)?;
    for (from, bytes) in released.ranges {
        punch(holes, from, bytes);
    }
    Ok(released.chunks > 0)
}

/// Whether a process is no more, but for what its parent may ask of it; `false` where the system does not tell.
fn has_ended(pid: u64) -> bool {
    let state = |pid: &str| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next())
    };
    state("self").is_some() && state(&pid.to_string()).is_none_or(|s| matches!(s, 'Z' | 'X' | 'x'))
}

/// Whether a process has the spool in its memory; `false` where the system does not tell.
fn is_mapped(pid: u64, part: &Path) -> bool {
    let maps = fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
    let part = part.as_os_str().as_encoded_bytes();
    maps.split(|&b| b == b'\n').any(|line| line.ends_with(part))
}

fn notices(ending: Ending) -> Vec<String> {
    let mut out = Vec::new();
    if ending.fault != 0 {
        let why = match ending.fault {
            TIMED_OUT => "the spool had reached its limit, and nothing emptied it".to_owned(),
            fault => std::io::Error::from_raw_os_error(i32::try_from(fault).unwrap_or(0)).to_string(),
        };
        out.push(format!("recording ended early ({why}): at least {} later references are not there", ending.lost));
    }
    out
}

/// Tells, each time it is asked, whether standard input has ended within a time: the program that is recorded holds its other end. It
/// answers sooner where the program calls, by any byte.
///
/// # Errors
/// When the system has no thread to read it on.
pub fn input_ends() -> io::Result<impl FnMut(Duration) -> bool> {
    let (calls, news) = sync_channel::<()>(1);
    std::thread::Builder::new().name("end of program".into()).spawn(move || {
        let mut bytes = [0; 64];
        loop {
            match io::stdin().read(&mut bytes) {
                // The last holder of the other end is gone.
                Ok(0) => break,
                // One call is as good as many.
                Ok(_) => drop(calls.try_send(())),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
    })?;
    Ok(move |time| matches!(news.recv_timeout(time), Err(RecvTimeoutError::Disconnected)))
}

/// Whether the file is a spool. (To open a pipe would wait for its other end.)
#[must_use]
pub fn is_spool(path: &Path) -> bool {
    let mut magic = [0; 8];
    path.is_file() && File::open(path).and_then(|mut f| f.read_exact(&mut magic)).is_ok() && magic == *MAGIC
}

fn dispose(part: &Path, fate: Part) -> Result<(), CaptureError> {
    if fate == Part::Kept {
        return Ok(());
    }
    fs::remove_file(part).map_err(io_error(part.display().to_string(), "the spool cannot be removed"))
}

/// Gives space back; where the file system cannot, it is given back at the end.
#[cfg(target_os = "linux")]
fn punch(file: &File, from: u64, bytes: u64) {
    use rustix::fs::{FallocateFlags, fallocate};
    let _ = fallocate(file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, from, bytes);
}

#[cfg(not(target_os = "linux"))]
fn punch(_: &File, _: u64, _: u64) {}
