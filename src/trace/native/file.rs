//! A Parquet file, ours or another tool's: its footer read, and its bytes for readers of any part.

use super::guard::guarded;
use super::pages;
use crate::trace::error::{Fault, Place, TraceError};
use bytes::Bytes;
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::FileMetaData;
use parquet::file::reader::{ChunkReader, FileReader, Length, SerializedFileReader};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

/// A Parquet file whose footer is read.
pub(in crate::trace) struct ParquetFile {
    /// What messages call it.
    pub(in crate::trace) name: String,
    pub(in crate::trace) parquet: SerializedFileReader<SharedFile>,
    pub(super) shared: SharedFile,
}

impl ParquetFile {
    /// Reads the footer.
    ///
    /// # Errors
    /// When the file is cut short or is not Parquet.
    pub(in crate::trace) fn open(name: String, file: File) -> Result<Self, TraceError> {
        let shared = SharedFile::new(file).map_err(|e| TraceError::io(&name, "the trace cannot be read", e))?;
        shared.check_ends(&name)?;
        shared.check_footer(&name)?;
        let parquet = guarded(|| SerializedFileReader::new(shared.clone())).map_err(|e| damaged(&name, &e))?;
        Ok(Self { name, parquet, shared })
    }

    /// Whether the metadata say that Orrery wrote it, in whatever version.
    pub(in crate::trace) fn is_ours(&self) -> bool {
        // Any key of ours will do: a version that was damaged must not make a stranger of our file.
        let pairs = self.parquet.metadata().file_metadata().key_value_metadata();
        pairs.is_some_and(|pairs| pairs.iter().any(|pair| pair.key.starts_with("orrery.")))
    }

    /// Every column must lie inside the file: the Parquet library takes these numbers at their word.
    ///
    /// # Errors
    /// Names the first of `columns` that does not.
    pub(in crate::trace) fn check_places(
        &self,
        columns: impl Iterator<Item = usize> + Clone,
    ) -> Result<(), TraceError> {
        for group in self.parquet.metadata().row_groups() {
            for column in columns.clone().filter_map(|c| group.columns().get(c)) {
                let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
                let size = column.compressed_size();
                let end = u64::try_from(start).ok().zip(u64::try_from(size).ok()).and_then(|(a, b)| a.checked_add(b));
                if end.is_none_or(|end| end > self.shared.len) {
                    let what = format!("column `{}` said to be {size} bytes at {start}", column.column_path().string());
                    return Err(damaged(&self.name, &ParquetError::General(what)));
                }
            }
        }
        Ok(())
    }

    /// No page of `columns` in a row group may say that it unpacks to more than its packing can give: see [`pages`]. And no
    /// header may go on past the end of the file: the library would go on reading there for as long as it says.
    ///
    /// # Errors
    /// Names the byte of the first page that does.
    pub(in crate::trace) fn check_pages(
        &self,
        group: usize,
        columns: impl Iterator<Item = usize>,
    ) -> Result<(), TraceError> {
        let group = self.parquet.metadata().row_group(group);
        for column in columns.filter_map(|c| group.columns().get(c)) {
            let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
            let (mut at, left) =
                (u64::try_from(start).unwrap_or(0), u64::try_from(column.compressed_size()).unwrap_or(0));
            let end = at.saturating_add(left).min(self.shared.len);
            while at < end {
                let bytes = BufReader::with_capacity(256, Cursor { file: Arc::clone(&self.shared.file), at });
                let refused = |found: String, expected: String| {
                    let remedy = "copy it again from where it came, or write it again";
                    TraceError::Damaged(Fault::new(Place::offset(&self.name, at), found, expected, remedy))
                };
                let (sizes, length) = pages::header(bytes).map_err(|e| {
                    refused(format!("a header of a Parquet page that is none: {e}"), "one of a page".to_owned())
                })?;
                if !sizes.are_possible(column.compression()) {
                    let pages::Sizes { packed, unpacked, values } = sizes;
                    let values = if values > 0 { format!(" of {values} values") } else { String::new() };
                    return Err(refused(
                        format!("a page of {packed} bytes that is said to unpack to {unpacked}{values}"),
                        format!("what {} can unpack to", column.compression()),
                    ));
                }
                at = at.saturating_add(length).saturating_add(u64::try_from(sizes.packed).unwrap_or(u64::MAX));
            }
        }
        Ok(())
    }
}

pub(super) fn value<'a>(metadata: &'a FileMetaData, key: &str) -> Option<&'a str> {
    let pairs = metadata.key_value_metadata()?;
    pairs.iter().find(|pair| pair.key == key)?.value.as_deref()
}

pub(super) fn damaged(name: &str, error: &ParquetError) -> TraceError {
    let what = match error {
        ParquetError::General(what) | ParquetError::EOF(what) => what.clone(),
        other => other.to_string(),
    };
    TraceError::Damaged(Fault::new(
        Place::file(name),
        format!("a damaged Parquet file: {what}"),
        "a whole Parquet file",
        "copy it again from where it came, or record it again",
    ))
}

/// One file read by many threads: a lock makes each seek-and-read one step. Decoding happens outside the lock.
#[derive(Clone)]
pub(in crate::trace) struct SharedFile {
    pub(super) file: Arc<Mutex<File>>,
    pub(super) len: u64,
}

impl SharedFile {
    fn new(file: File) -> io::Result<Self> {
        let len = file.metadata()?.len();
        Ok(Self { file: Arc::new(Mutex::new(file)), len })
    }

    /// Tells a file that was cut from one that is something else, before Parquet's own words confuse the two.
    fn check_ends(&self, name: &str) -> Result<(), TraceError> {
        let mut magic = [0; 4];
        let whole =
            self.len >= 12 && read_at(&self.file, self.len - 4, &mut magic).is_ok_and(|n| n == 4) && magic == *b"PAR1";
        if whole {
            return Ok(());
        }
        Err(TraceError::Damaged(Fault::new(
            Place::offset(name, self.len),
            "a Parquet file that was cut short: it begins with PAR1 but does not end so",
            "the table of contents at the end, without which no reference can be found",
            "copy it again from where it came, or record it again",
        )))
    }
}

impl SharedFile {
    /// Looks at the footer before the library believes what it says: see [`pages::footer`].
    fn check_footer(&self, name: &str) -> Result<(), TraceError> {
        let failed = |e| TraceError::io(name, "the trace cannot be read", e);
        let read = |at: u64, bytes: &mut [u8]| Cursor { file: Arc::clone(&self.file), at }.read_exact(bytes);
        let mut length = [0; 4];
        read(self.len - 8, &mut length).map_err(failed)?;
        let length = u64::from(u32::from_le_bytes(length));
        let Some(start) = (self.len - 8).checked_sub(length) else {
            let what = format!("a footer of {length} bytes in a file of {}", self.len);
            return Err(damaged(name, &ParquetError::General(what)));
        };
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
        read(start, &mut bytes).map_err(failed)?;
        pages::footer(&bytes).map_err(|e| damaged(name, &ParquetError::General(format!("its footer is none: {e}"))))
    }
}

fn read_at(file: &Mutex<File>, at: u64, buf: &mut [u8]) -> io::Result<usize> {
    let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
    file.seek(SeekFrom::Start(at))?;
    file.read(buf)
}

/// A place in a [`SharedFile`].
pub(in crate::trace) struct Cursor {
    pub(super) file: Arc<Mutex<File>>,
    pub(super) at: u64,
}

impl Read for Cursor {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = read_at(&self.file, self.at, buf)?;
        self.at += n as u64;
        Ok(n)
    }
}

impl Length for SharedFile {
    fn len(&self) -> u64 {
        self.len
    }
}

impl ChunkReader for SharedFile {
    type T = BufReader<Cursor>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        Ok(BufReader::new(Cursor { file: Arc::clone(&self.file), at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        // The length comes from the file: bound it by what is there before taking memory for it.
        let within = start.checked_add(length as u64).is_some_and(|end| end <= self.len);
        if !within {
            return Err(ParquetError::EOF(format!("{length} bytes announced at {start}, the file has {}", self.len)));
        }
        let mut bytes = vec![0; length];
        Cursor { file: Arc::clone(&self.file), at: start }.read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}
