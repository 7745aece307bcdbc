//! Runs a program under Valgrind's lackey and writes its references as a native file while it runs.
//!
//! ```text
//! program under Valgrind --text--> lackey's reader -> Recorder (keeps, names) -> native file
//!                        '-------> part (what a kill of ours would lose)
//! ```

mod calls;
mod part;
mod recorder;
mod text;

pub use part::leftover;
pub use text::find;

use super::Streams;
use super::driven::{DriveError, Hear, Notice};
use crate::reference::{Reference, Region, Tables};
use crate::symbols::{Module, SymbolError};
use crate::trace::{TraceError, lackey, native};
use part::Part;
use recorder::{Recorder, Start};
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use text::{Traced, lock};

/// References parsed at a time: about 20 ms of a traced program.
const CHUNK: usize = 1 << 16;

/// What is to be recorded, and how.
#[derive(Clone, Debug)]
pub struct Request {
    /// The program: see [`find`].
    pub program: PathBuf,
    /// The program as it was called, and its arguments.
    pub command: Vec<OsString>,
    /// The native file.
    pub output: PathBuf,
    /// Whether instruction fetches are left out.
    pub data_only: bool,
    /// The function within which references are kept; `None` = main.
    pub function: Option<String>,
    /// Whether everything is kept from the first instruction on.
    pub whole: bool,
    /// References kept at most.
    pub limit: Option<u64>,
}

/// Who looks on while a program is recorded.
pub trait Onlooker {
    /// Takes the references that are kept, in order; `regions` gives those that were touched so far. False: stop.
    ///
    /// # Errors
    /// Where it cannot take them; the recording ends.
    fn see(&mut self, references: &[Reference], regions: &dyn Fn() -> Vec<Region>) -> Result<bool, TraceError>;

    /// References read and kept so far.
    fn counted(&mut self, read: u64, kept: u64);

    /// No more references come.
    fn is_read(&mut self);

    /// Whether it asked the program to end.
    fn has_closed(&self) -> bool {
        false
    }

    /// The native file is whole: what it holds.
    ///
    /// # Errors
    /// Where it cannot take that.
    fn end(&mut self, kept: &Kept<'_>) -> Result<(), TraceError>;
}

/// What a native file holds of a program.
#[derive(Debug)]
pub struct Kept<'a> {
    /// The file.
    pub output: &'a Path,
    /// References that the program made, and those in the file.
    pub read: u64,
    /// See above.
    pub kept: u64,
    /// From where on they were kept, in words.
    pub from: &'a str,
    /// What the file says beside its references.
    pub tables: &'a Tables,
}

/// How a recording ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// How the program did; `None` where nobody knows.
    pub status: Option<ExitStatus>,
    /// Whether it was ended here, for there was enough of it.
    pub is_cut: bool,
}

/// A recording that can begin: the program has its names, and its file can be written.
pub struct Prepared {
    request: Request,
    module: Option<Module>,
    start: Start,
    writer: native::FileWriter,
    part: Option<Arc<Mutex<Part>>>,
    hear: Hear,
}

impl Prepared {
    /// Reads the program's names and begins the file.
    ///
    /// # Errors
    /// When the program has no such function, or the file cannot be written.
    pub fn new(request: Request, hear: Hear) -> Result<Self, DriveError> {
        let module = open(&request.program, &hear)?;
        let start = start(&request, module.as_ref(), &hear)?;
        let writer = native::FileWriter::create(&request.output)?;
        let part = Part::create(&request, &hear)?.map(|part| Arc::new(Mutex::new(part)));
        Ok(Self { request, module, start, writer, part, hear })
    }

    /// Runs the program to its end, which two more in `stops` ask for. It has these `streams`.
    ///
    /// # Errors
    /// When Valgrind is not to be had, nothing was recorded, or the file cannot be written.
    pub fn run(
        self,
        streams: Streams,
        stops: &Arc<AtomicU32>,
        onlooker: &mut dyn Onlooker,
    ) -> Result<Ended, DriveError> {
        let Self { request, module, start, writer, part, hear } = self;
        let arguments = request.command.get(1..).unwrap_or_default();
        let started = Traced::start((&request.program, arguments), streams, Arc::clone(stops), part.clone());
        if let (Err(_), Some(part)) = (&started, &part) {
            lock(part).remove();
        }
        let (traced, text) = started?;
        let keeping = Keeping { request: &request, start, stops, hear: &hear };
        let kept = keeping.run(module, text, writer, onlooker, || traced.wait());
        // Where the native file could not be written, what was recorded is still to be had.
        let lost = matches!(kept, Err(DriveError::Trace(_)));
        if let Some(part) = part {
            let mut part = lock(&part);
            if lost {
                onlooker.is_read();
                let words =
                    format!("{0}: kept; `orrery convert {0} -o FILE.orrery` tries again", part.path().display());
                hear(Notice::Note(words));
            } else {
                part.remove();
            }
        }
        let (full, status) = kept?;
        Ok(Ended { status, is_cut: full || onlooker.has_closed() })
    }
}

/// Makes a trace of what a killed recording left; `false` where the file is something else. The file stays.
///
/// # Errors
/// When it is being written, is damaged, or nothing of it is kept.
pub fn convert(part: &Path, output: &Path, hear: &Hear, onlooker: &mut dyn Onlooker) -> Result<bool, DriveError> {
    let Some(part::Left { request, is_same, text }) = part::open(part, output)? else { return Ok(false) };
    let module = if is_same {
        open(&request.program, hear)?
    } else {
        let program = request.program.display();
        hear(Notice::Warning(format!("{program}: is not the file that was run any more; memory is named by address")));
        None
    };
    let from = match module {
        Some(_) => start(&request, module.as_ref(), hear)?,
        None => Start::AtOnce,
    };
    let stops = AtomicU32::default();
    let keeping = Keeping { request: &request, start: from, stops: &stops, hear };
    keeping.run(module, text, native::FileWriter::create(output)?, onlooker, || None)?;
    Ok(true)
}

/// What is kept of a program's references, and where.
struct Keeping<'a> {
    request: &'a Request,
    start: Start,
    stops: &'a AtomicU32,
    hear: &'a Hear,
}

impl Keeping<'_> {
    /// Reads the text to its end and writes the native file. Gives whether the limit was reached, and how the program ended,
    /// for which `wait` waits.
    fn run(
        &self,
        module: Option<Module>,
        text: impl Read,
        mut writer: native::FileWriter,
        onlooker: &mut dyn Onlooker,
        wait: impl FnOnce() -> Option<ExitStatus>,
    ) -> Result<(bool, Option<ExitStatus>), DriveError> {
        let Self { request, start, stops, hear } = self;
        let mut reader = lackey::Reader::new("Valgrind's log", text);
        let mut recorder = Recorder::new(module, start.clone(), request.data_only);
        let mut chunk = Vec::new();
        let mut full = false;
        let broken = loop {
            // An empty log is no fault of the reader's here: what to say follows from how the program ended.
            if let Err(error) = reader.next_chunk(CHUNK, &mut chunk) {
                break Some(error);
            }
            if chunk.is_empty() {
                break None;
            }
            recorder.take(&mut chunk);
            if let Some(limit) = request.limit {
                let room = limit.saturating_sub(writer.len());
                full = chunk.len() as u64 >= room;
                chunk.truncate(usize::try_from(room).unwrap_or(usize::MAX));
            }
            writer.write(&chunk)?;
            full |= !onlooker.see(&chunk, &|| recorder.regions())?;
            if full {
                stops.fetch_add(2, Ordering::SeqCst);
                break None;
            }
            let (read, kept) = recorder.counts();
            onlooker.counted(read, kept);
        };
        onlooker.is_read();
        let status = wait();
        let (read, _) = recorder.counts();
        if let Some(error) = broken
            && read > 0
        {
            hear(Notice::Warning(format!("{error}; kept what came before")));
        }
        if writer.is_empty() {
            return Err(DriveError::Nothing(nothing(&request.program, start, status, &recorder)));
        }
        self.finish(recorder, writer, onlooker)?;
        reader.notices().iter().for_each(|notice| hear(Notice::Warning(notice.clone())));
        Ok((full, status))
    }

    /// Writes what was recorded with its names.
    fn finish(
        &self,
        recorder: Recorder,
        writer: native::FileWriter,
        onlooker: &mut dyn Onlooker,
    ) -> Result<(), DriveError> {
        let Self { request, start, hear, .. } = self;
        let path = request.program.display();
        let (read, _) = recorder.counts();
        let kept = writer.len();
        let placed = recorder.is_placed();
        let named = recorder.finish(kept);
        if !placed {
            hear(Notice::Warning(format!("{path}: where it was loaded is not known; memory is named by address")));
        } else if named.locations.is_empty() {
            hear(Notice::Warning(format!("{path} names no source lines; build it with -g to have them")));
        }
        named.notices.into_iter().for_each(|notice| hear(Notice::Warning(notice)));
        let words: Vec<_> = request.command.iter().map(|word| word.to_string_lossy()).collect();
        let from = match start {
            Start::AtOnce => "everything".into(),
            Start::Function { name, .. } => format!("within {name}"),
            Start::Entry(_) => "from the first instruction of the program".to_owned(),
        };
        let tables = Tables {
            title: title(&request.program),
            subtitle: String::new(),
            regions: named.regions,
            locations: named.locations,
            marks: Vec::new(),
            made_by: format!("orrery capture, Valgrind's lackey, {from}: {}", words.join(" ")),
        };
        writer.finish(&tables)?;
        onlooker.end(&Kept { output: &request.output, read, kept, from: &from, tables: &tables })?;
        Ok(())
    }
}

/// What people call a program.
#[must_use]
pub fn title(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The program's names; none, with a warning, where it is a script or the like.
fn open(path: &Path, hear: &Hear) -> Result<Option<Module>, SymbolError> {
    match Module::open(path) {
        Ok(module) => {
            module.notices().iter().for_each(|notice| hear(Notice::Warning(notice.clone())));
            Ok(Some(module))
        }
        Err(error @ SymbolError::Io { .. }) => Err(error),
        Err(error) => {
            hear(Notice::Warning(format!("{error}; memory is named by address")));
            Ok(None)
        }
    }
}

/// Where to begin: as asked, else at main, else at the program's first instruction, else at once.
fn start(request: &Request, module: Option<&Module>, hear: &Hear) -> Result<Start, DriveError> {
    if request.whole {
        return Ok(Start::AtOnce);
    }
    let name = request.function.as_deref().unwrap_or("main");
    let span = module.and_then(|m| m.function_span(name));
    if let Some((address, _)) = span {
        return Ok(Start::Function { name: name.into(), address });
    }
    if let Some(asked) = &request.function {
        return Err(DriveError::NoFunction { function: asked.clone(), program: request.program.clone() });
    }
    match module.map(Module::entry).filter(|&entry| entry != 0) {
        Some(entry) => {
            let path = request.program.display();
            hear(Notice::Warning(format!("{path} names no main (stripped?); recording from its first instruction")));
            Ok(Start::Entry(entry))
        }
        None => Ok(Start::AtOnce),
    }
}

/// Why nothing was recorded.
fn nothing(path: &Path, start: &Start, status: Option<ExitStatus>, recorder: &Recorder) -> String {
    let (read, _) = recorder.counts();
    let name = path.display();
    let how = status.map_or_else(|| "was ended".to_owned(), |s| format!("ended with {s}"));
    if read == 0 {
        return format!(
            "{name}: found no references; expected those of a program under valgrind --tool=lackey, which {how}; run that by \
             hand to see why"
        );
    }
    match start {
        _ if !recorder.is_placed() => format!(
            "{name}: its first instruction was not seen among {read} references, so that nothing could be named; record with \
             --whole, or build it with -no-pie"
        ),
        Start::Function { name: function, .. } => format!(
            "{name}: `{function}` was not entered in {read} references, and the program {how}; check its arguments, or \
             record with --whole"
        ),
        _ => format!("{name}: nothing was kept of {read} references; record with --whole"),
    }
}
