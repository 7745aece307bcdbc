//! Checksums over a native file, so that damage is an error and never a wrong count.
//!
//! Parquet's own page checksums are optional and off in most readers. Ours is a list in the metadata: for each row group
//! the byte at which it ends and the CRC-32 of the bytes since the end of the one before (the first includes the magic
//! number), the CRC-32 of where each column lies and of what type it is, and the CRC-32 of the tables. Other tools ignore it.

use flate2::Crc;
use parquet::file::metadata::RowGroupMetaData;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};

/// What `orrery.checksums` holds, as JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Checksums {
    /// `(end, CRC-32)` of each row group, in order.
    pub(super) groups: Vec<(u64, u32)>,
    /// [`layout`] of the row groups.
    pub(super) layout: u32,
    /// CRC-32 of the text under `orrery.tables`.
    pub(super) tables: u32,
}

/// CRC-32 of a text.
pub(super) fn of(text: &str) -> u32 {
    let mut crc = Crc::new();
    crc.update(text.as_bytes());
    crc.sum()
}

/// CRC-32 of all that the table of contents says about where columns lie and how they are to be read.
pub(super) fn layout(groups: &[RowGroupMetaData]) -> u32 {
    let mut text = String::new();
    for c in groups.iter().flat_map(RowGroupMetaData::columns) {
        let (name, kind, packing) = (c.column_path().string(), c.column_type(), c.compression());
        let (dictionary, data) = (c.dictionary_page_offset().unwrap_or(-1), c.data_page_offset());
        let (bytes, values, nulls) = (c.compressed_size(), c.num_values(), c.column_descr().max_def_level());
        text.push_str(&format!("{name} {kind} {packing} {dictionary} {data} {bytes} {values} {nulls}\n"));
    }
    of(&text)
}

/// CRC-32 of the next `bytes` of `input`, read through a small buffer; an early end is an error.
pub(super) fn of_next(input: &mut impl Read, mut bytes: u64) -> io::Result<u32> {
    let mut crc = Crc::new();
    let mut buffer = vec![0; 64 * 1024];
    while bytes > 0 {
        let most = usize::try_from(bytes).unwrap_or(buffer.len()).min(buffer.len());
        let n = input.read(&mut buffer[..most])?;
        if n == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        crc.update(&buffer[..n]);
        bytes -= n as u64;
    }
    Ok(crc.sum())
}

/// A sink that sums what passes through.
pub(super) struct Summed<W> {
    sink: W,
    crc: Crc,
    written: u64,
}

impl<W: Write> Summed<W> {
    pub(super) fn new(sink: W) -> Self {
        Self { sink, crc: Crc::new(), written: 0 }
    }

    /// The entry for all that was written since the last call.
    pub(super) fn cut(&mut self) -> (u64, u32) {
        let sum = self.crc.sum();
        self.crc.reset();
        (self.written, sum)
    }

    pub(super) fn into_inner(self) -> W {
        self.sink
    }
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.sink.write(bytes)?;
        self.crc.update(&bytes[..n]);
        self.written += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}
