//! Source lines of addresses, through inlined calls, and the text of lines.

use super::Bytes;
use super::debug::Debug;
use addr2line::Context;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Source files longer than this are not read: no person wrote them.
const LONGEST: u64 = 64 << 20;

/// Where an instruction stands.
pub(super) struct Place {
    /// Path as the compiler had it.
    pub(super) file: String,
    /// From 1.
    pub(super) line: u32,
    /// In bytes, from 1.
    pub(super) column: Option<u32>,
    pub(super) function: Option<String>,
}

/// The line table, and the source files read so far.
pub(super) struct Lines {
    context: Option<Context<Bytes>>,
    any: bool,
    sources: RefCell<BTreeMap<String, Vec<String>>>,
}

impl Lines {
    pub(super) fn new(debug: &Debug, name: &str, notices: &mut Vec<String>) -> Self {
        let context = match Context::from_arc_dwarf(Arc::clone(&debug.dwarf)) {
            Ok(context) => Some(context),
            Err(error) => {
                notices.push(format!("{name}: its line table is damaged and left out ({error})"));
                None
            }
        };
        let any = context.is_some() && debug.units.iter().any(|unit| unit.line_program.is_some());
        Self { context, any, sources: RefCell::default() }
    }

    pub(super) fn any(&self) -> bool {
        self.any
    }

    pub(super) fn place(&self, address: u64) -> Option<Place> {
        self.places(address, 1).pop()
    }

    /// Where the instruction stands, then where the function that it was inlined from was called, and so on outwards: up
    /// to `most`, ending before the first that is not known.
    pub(super) fn places(&self, address: u64, most: usize) -> Vec<Place> {
        let mut out = Vec::new();
        let Some(mut frames) = self.context.as_ref().and_then(|c| c.find_frames(address).skip_all_loads().ok()) else {
            return out;
        };
        while out.len() < most
            && let Ok(Some(frame)) = frames.next()
            && let Some(location) = frame.location
            && let (Some(file), Some(line)) = (location.file, location.line.filter(|&n| n > 0))
        {
            let function = frame.function.and_then(|f| f.demangle().ok().map(std::borrow::Cow::into_owned));
            let column = location.column.filter(|&n| n > 0);
            out.push(Place { file: file.to_owned(), line, column, function });
        }
        out
    }

    /// A line, counted from 1, trimmed; empty where the file is not there.
    pub(super) fn text(&self, file: &str, line: u32) -> String {
        self.raw(file, line).trim().to_owned()
    }

    /// A line, counted from 1, as it stands in the file.
    pub(super) fn raw(&self, file: &str, line: u32) -> String {
        let mut sources = self.sources.borrow_mut();
        let lines = sources.entry(file.to_owned()).or_insert_with(|| read(file));
        let index = usize::try_from(line).unwrap_or(0).wrapping_sub(1);
        lines.get(index).cloned().unwrap_or_default()
    }
}

fn read(file: &str) -> Vec<String> {
    // Before it is opened: a pipe would wait for its writer.
    if !std::fs::metadata(file).is_ok_and(|m| m.is_file() && m.len() <= LONGEST) {
        return Vec::new();
    }
    let Ok(opened) = File::open(file) else { return Vec::new() };
    let mut bytes = Vec::new();
    if opened.take(LONGEST).read_to_end(&mut bytes).is_err() {
        return Vec::new();
    }
    String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect()
}

/// A path as it is shown: the file's name.
pub(super) fn shown(file: &str) -> String {
    Path::new(file).file_name().map_or_else(|| file.into(), |name| name.to_string_lossy().into_owned())
}
