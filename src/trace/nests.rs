//! Files of loops and graphs, opened as sources that compute their references.

use super::error::{Fault, Place, TraceError};
use super::formats::Format;
use super::input::{self, Input};
use crate::nest::{NestText, Settings, Volumes, Walk};
use crate::reference::ReferenceSource;
use std::io::Read;
use std::path::Path;

/// Bytes of one file, at most.
const MOST_BYTES: u64 = 512 << 20;

/// Opens a file of loops, or a graph, under values of its parameters; `-` is standard input, `loops:NAME` a bundled one. Containers
/// begin on lines of `line_bytes`.
///
/// # Errors
/// When it cannot be read, is of another format, or has no accesses to be counted under these values.
pub fn open_nest(path: &Path, settings: &Settings, line_bytes: u64) -> Result<Walk, TraceError> {
    let mut input = input::open(path)?;
    settings.iter().for_each(|(name, value)| input.settings.set(name, value));
    let format = input::detect(&input)?;
    if format != Format::LOOPS && format != Format::SDFG {
        return Err(no_nest(&input.name, format));
    }
    walk(input, format == Format::SDFG, line_bytes)
}

/// What the parts of a file of loops, or a graph, move and compute, as expressions in its parameters; paths are those of [`open_nest`].
///
/// # Errors
/// As there.
pub fn open_volumes(path: &Path, settings: &Settings) -> Result<Volumes, TraceError> {
    let mut input = input::open(path)?;
    settings.iter().for_each(|(name, value)| input.settings.set(name, value));
    let format = input::detect(&input)?;
    if format != Format::LOOPS && format != Format::SDFG {
        return Err(no_nest(&input.name, format));
    }
    Ok(of(input, format == Format::SDFG)?.volumes()?)
}

fn no_nest(name: &str, format: Format) -> TraceError {
    TraceError::UnknownFormat(Fault::new(
        Place::file(name),
        format!("a trace of the format `{}`, which says nothing of loops", format.name()),
        "a .loops file, or an .sdfg of DaCe",
        "ask `orrery analyze` what a trace tells of locality",
    ))
}

/// As a source of references.
pub(super) fn open_loops(input: Input) -> Result<Box<dyn ReferenceSource>, TraceError> {
    source(input, false)
}

/// A graph as a source of references.
pub(super) fn open_graph(input: Input) -> Result<Box<dyn ReferenceSource>, TraceError> {
    source(input, true)
}

fn source(input: Input, is_graph: bool) -> Result<Box<dyn ReferenceSource>, TraceError> {
    let name = input.name.clone();
    let walk = walk(input, is_graph, 0)?;
    if walk.is_empty() {
        let gap = walk.notices().first().map_or(String::new(), |gap| format!(" ({gap})"));
        return Err(TraceError::Empty(Fault::new(
            Place::file(&name),
            format!("loops that make no access{gap}"),
            "at least one",
            "set larger values of parameters: FILE?NAME=VALUE",
        )));
    }
    Ok(Box::new(walk))
}

fn walk(input: Input, is_graph: bool, line_bytes: u64) -> Result<Walk, TraceError> {
    let text = of(input, is_graph)?;
    Ok(Walk::new(text.nest()?, line_bytes)?.of_text(text))
}

/// The text of a file with the values of its parameters. Messages name the file, whatever values stand behind it.
fn of(input: Input, is_graph: bool) -> Result<NestText, TraceError> {
    let (name, settings) = (input.name.clone(), input.settings.clone());
    let name =
        name.rsplit_once('?').filter(|_| !settings.is_empty()).map_or(name.as_str(), |(file, _)| file).to_owned();
    Ok(NestText { name, text: text(input)?.into(), settings, is_graph })
}

/// All of a file's text.
fn text(input: Input) -> Result<String, TraceError> {
    let name = input.name;
    let mut bytes = Vec::new();
    let read = input.bytes.take(MOST_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|e| TraceError::io(&name, "cannot be read to its end; it may be cut short", e))?;
    if bytes.len() as u64 > MOST_BYTES {
        let found = format!("more than {} MiB of text", MOST_BYTES >> 20);
        return Err(TraceError::Damaged(Fault::new(Place::file(&name), found, "a shorter file", "part it")));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to() as u64;
        let place = Place::offset(&name, at);
        TraceError::Damaged(Fault::new(place, "bytes that are no UTF-8", "text", "save it as UTF-8"))
    })
}
