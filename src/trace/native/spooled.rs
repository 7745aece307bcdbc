//! The file of a trace that may come from a pipe or be packed.

use super::file::ParquetFile;
use crate::trace::error::{Fault, Place, TraceError};
use crate::trace::input::{Content, Input};
use crate::trace::packed::PackedError;
use std::fs::File;
use std::io::{self, Seek};

/// Parquet needs a file that can be read at any place: others are copied into one first.
pub(in crate::trace) fn open(input: Input) -> Result<ParquetFile, TraceError> {
    let Input { name, plain, mut bytes, .. } = input;
    // A head that is too short is told from a foreign one below, by the end of the file.
    if !bytes.head().starts_with(b"PAR1") && !b"PAR1".starts_with(bytes.head()) {
        return Err(TraceError::UnknownFormat(Fault::new(
            Place::offset(&name, 0),
            "no PAR1 at the start",
            "a Parquet file, such as a native .orrery file",
            "leave --format away, or name the right one",
        )));
    }
    if let Some(file) = plain {
        return ParquetFile::open(name, file);
    }
    let mut copy = spool(&mut bytes).map_err(|e| match PackedError::of(&e) {
        // Cut short is no better than damaged: its table of contents is at the end.
        Some(packed) => packed.fault(Place::file(&name)),
        None => TraceError::io(&name, "the trace cannot be copied to a temporary file", e),
    })?;
    copy.rewind().map_err(|e| TraceError::io(&name, "the trace cannot be read", e))?;
    ParquetFile::open(name, copy)
}

fn spool(bytes: &mut Content) -> io::Result<File> {
    let mut copy = tempfile::tempfile()?;
    io::copy(bytes, &mut copy)?;
    Ok(copy)
}
