//! Writes native files: one row group in memory at a time, and nothing under the final name before the end.

use super::checksum::{self, Checksums, Summed};
use super::file::SharedFile;
use super::pack::{Columns, Packed, Packing};
use super::packers::Packers;
use super::reader::NativeTrace;
use super::{CHECKSUMS_KEY, CHUNK, CREATED_BY, MAX_SIZE, TABLES_KEY, VERSION_KEY, version_of};
use crate::reference::{NO_LANE, Reference, Tables};
use crate::trace::error::{Fault, Place, TraceError};
use crate::trace::target::{Target, write_error};
use parquet::basic::{LogicalType, Repetition, Type as PhysicalType};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, RowGroupMetaData};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

/// Streams references into any [`Write`]. Holds [`CHUNK`] references, and as many more for each of a few threads that pack them.
pub struct Writer<W: Write + Send> {
    name: String,
    sink: Option<W>,
    parquet: Option<SerializedFileWriter<Summed<W>>>,
    checksums: Checksums,
    columns: Columns,
    pending: Vec<Reference>,
    /// References of row groups that were begun.
    begun: u64,
    packers: Packers,
}

impl<W: Write + Send> Writer<W> {
    /// `name` is what messages call the file.
    pub fn new(name: impl Into<String>, sink: W) -> Self {
        Self {
            name: name.into(),
            sink: Some(sink),
            parquet: None,
            checksums: Checksums::default(),
            columns: Columns { pc: true, core: true, lane: true },
            pending: Vec::new(),
            begun: 0,
            packers: Packers::default(),
        }
    }

    /// Packs so; before the first reference.
    #[must_use]
    pub fn packed(mut self, packing: Packing) -> Self {
        self.packers.packing = packing;
        self
    }

    /// References taken so far.
    pub fn len(&self) -> u64 {
        self.begun + self.pending.len() as u64
    }

    /// Whether no reference was taken yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes references, in order.
    ///
    /// # Errors
    /// When a size is 0 or above [`MAX_SIZE`], a reference passes the end of the address space, or the sink fails.
    pub fn write(&mut self, references: &[Reference]) -> Result<(), TraceError> {
        self.check(references)?;
        self.append_valid(references)
    }

    fn append_valid(&mut self, references: &[Reference]) -> Result<(), TraceError> {
        let mut rest = references;
        while !rest.is_empty() {
            // A group waits for one more reference: a file of one group leaves out columns that say nothing.
            if self.pending.len() == CHUNK {
                self.flush_group()?;
            }
            let room = CHUNK - self.pending.len();
            let (now, later) = rest.split_at(room.min(rest.len()));
            self.pending.extend_from_slice(now);
            rest = later;
        }
        Ok(())
    }

    /// As [`Writer::write`], and empties `references`; a whole row group of them is not copied.
    ///
    /// # Errors
    /// As there.
    pub fn take(&mut self, references: &mut Vec<Reference>) -> Result<(), TraceError> {
        self.check(references)?;
        self.take_valid(references)
    }

    /// As [`Writer::take`], of references that are valid by the way they are made: those of a spool have 1 to 64 bytes and
    /// addresses of 56 bits.
    fn take_valid(&mut self, references: &mut Vec<Reference>) -> Result<(), TraceError> {
        if references.len() == CHUNK && (self.pending.is_empty() || self.pending.len() == CHUNK) {
            if !self.pending.is_empty() {
                self.flush_group()?;
            }
            std::mem::swap(&mut self.pending, references);
            // The first group waits: see append_valid.
            if self.begun > 0 {
                self.flush_group()?;
                std::mem::swap(&mut self.pending, references);
            }
        } else {
            self.append_valid(references)?;
        }
        references.clear();
        Ok(())
    }

    /// A reference that a reader would refuse must not be written.
    fn check(&self, references: &[Reference]) -> Result<(), TraceError> {
        // All at once, without a branch each.
        let wrong = |r: &Reference| {
            let last = r.addr.overflowing_add(u64::from(r.size.wrapping_sub(1)));
            (r.size.wrapping_sub(1) >= MAX_SIZE) | last.1
        };
        if !references.iter().fold(false, |any, r| any | wrong(r)) {
            return Ok(());
        }
        for (r, n) in references.iter().zip(self.len()..) {
            check(&self.name, r, n)?;
        }
        Ok(())
    }

    /// Writes what is left and the tables (sorted first), and gives the sink back, flushed.
    ///
    /// # Errors
    /// When there was no reference at all, or the sink fails.
    pub fn finish(self, tables: &Tables) -> Result<W, TraceError> {
        self.finish_with(tables, Vec::new())
    }

    /// As [`Writer::finish`], with more words under keys of their own in the metadata.
    pub(in crate::trace) fn finish_with(
        mut self,
        tables: &Tables,
        words: Vec<(&str, String)>,
    ) -> Result<W, TraceError> {
        if self.is_empty() {
            return Err(TraceError::Empty(Fault::new(
                Place::file(&self.name),
                "no references to write",
                "at least one",
                "check the filters: --only-regions and --between may have dropped everything",
            )));
        }
        if self.parquet.is_none() {
            self.columns = Columns {
                pc: self.pending.iter().any(|r| r.pc != 0),
                core: self.pending.iter().any(|r| r.core != 0),
                lane: self.pending.iter().any(|r| r.lane != NO_LANE),
            };
        }
        if !self.pending.is_empty() {
            self.flush_group()?;
        }
        self.settle()?;
        // There may be a million regions, mostly in order already.
        let tables = if tables.is_sorted() { Cow::Borrowed(tables) } else { Cow::Owned(tables.clone().sorted()) };
        let tables: &Tables = &tables;
        let json = json(tables).map_err(|e| invalid(&self.name, &e.to_string()))?;
        self.checksums.tables = checksum::of(&json);
        self.checksums.layout = self.parquet.as_ref().map_or(0, |p| checksum::layout(p.flushed_row_groups()));
        let sums = serde_json::to_string(&self.checksums).map_err(|e| invalid(&self.name, &e.to_string()))?;
        let Some(mut parquet) = self.parquet.take() else { return Err(invalid(&self.name, "a writer used twice")) };
        parquet.append_key_value_metadata(KeyValue::new(VERSION_KEY.into(), version_of(tables).to_string()));
        parquet.append_key_value_metadata(KeyValue::new(TABLES_KEY.into(), json));
        parquet.append_key_value_metadata(KeyValue::new(CHECKSUMS_KEY.into(), sums));
        for (key, value) in words {
            parquet.append_key_value_metadata(KeyValue::new(key.into(), value));
        }
        let mut sink = parquet.into_inner().map_err(|e| parquet_error(&self.name, e))?.into_inner();
        sink.flush().map_err(|e| write_error(&self.name, e))?;
        Ok(sink)
    }

    /// Takes all references of a file of several whole row groups as they stand there, unpacking none. Only whole row groups
    /// may have come before.
    ///
    /// # Errors
    /// When the file is damaged or has other columns, or the sink fails.
    pub(in crate::trace) fn append(&mut self, trace: &NativeTrace) -> Result<(), TraceError> {
        if !self.pending.is_empty() {
            self.flush_group()?;
        }
        self.settle()?;
        for group in 0..trace.groups() {
            let (file, columns) = trace.packed_group(group)?;
            let name = self.name.clone();
            self.packed_group(file, &columns).map_err(|e| parquet_error(&name, e))?;
        }
        Ok(())
    }

    fn packed_group(&mut self, file: &SharedFile, columns: &RowGroupMetaData) -> Result<(), ParquetError> {
        let parquet = self.parquet()?;
        let mut group = parquet.next_row_group()?;
        for column in columns.columns() {
            let close = ColumnCloseResult {
                bytes_written: u64::try_from(column.compressed_size()).unwrap_or(0),
                rows_written: u64::try_from(columns.num_rows()).unwrap_or(0),
                metadata: column.clone(),
                bloom_filter: None,
                column_index: None,
                offset_index: None,
            };
            group.append_column(file, close)?;
        }
        group.close()?;
        parquet.flush()?;
        let sum = parquet.inner_mut().cut();
        self.checksums.groups.push(sum);
        self.begun += u64::try_from(columns.num_rows()).unwrap_or(0);
        Ok(())
    }

    /// What packs, begun where it was not.
    fn parquet(&mut self) -> Result<&mut SerializedFileWriter<Summed<W>>, ParquetError> {
        if let Some(sink) = self.sink.take() {
            self.parquet = Some(SerializedFileWriter::new(Summed::new(sink), schema(self.columns)?, properties())?);
        }
        self.parquet.as_mut().ok_or_else(|| ParquetError::General("a writer used after its end".into()))
    }

    /// Has what is pending packed, and writes what is packed by now.
    fn flush_group(&mut self) -> Result<(), TraceError> {
        self.group().map_err(|e| parquet_error(&self.name, e))
    }

    fn group(&mut self) -> Result<(), ParquetError> {
        let descriptors = self.parquet()?.schema_descr().columns().to_vec();
        let rows = std::mem::take(&mut self.pending);
        self.begun += rows.len() as u64;
        // One alone is packed here.
        if self.begun <= CHUNK as u64 && rows.len() < CHUNK {
            let columns = self.packers.here(&rows, self.columns, &descriptors);
            return self.write_group(columns);
        }
        let (packed, room) = self.packers.begin(rows, self.columns, descriptors)?;
        self.pending = room;
        packed.map_or(Ok(()), |columns| self.write_group(columns))
    }

    /// Waits for all that is being packed, and writes it.
    fn settle(&mut self) -> Result<(), TraceError> {
        while let Some(columns) = self.packers.next() {
            self.write_group(columns).map_err(|e| parquet_error(&self.name, e))?;
        }
        Ok(())
    }

    fn write_group(&mut self, columns: Packed) -> Result<(), ParquetError> {
        let columns = columns?;
        let parquet = self.parquet()?;
        let mut group = parquet.next_row_group()?;
        let mut rooms = Vec::with_capacity(columns.len());
        for (bytes, close) in columns {
            group.append_column(&bytes, close)?;
            rooms.push(bytes.into());
        }
        group.close()?;
        parquet.flush()?;
        let sum = parquet.inner_mut().cut();
        self.checksums.groups.push(sum);
        self.packers.reuse(rooms);
        Ok(())
    }
}

/// Tables as they stand in the file, in as much memory as they take.
fn json(tables: &Tables) -> serde_json::Result<String> {
    struct Length(usize);
    impl Write for Length {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut length = Length(0);
    serde_json::to_writer(&mut length, tables)?;
    let mut bytes = Vec::with_capacity(length.0);
    serde_json::to_writer(&mut bytes, tables)?;
    String::from_utf8(bytes).map_err(serde::ser::Error::custom)
}

fn schema(columns: Columns) -> Result<Arc<Type>, ParquetError> {
    let field = |name: &str, physical, bit_width, repetition| {
        Type::primitive_type_builder(name, physical)
            .with_repetition(repetition)
            .with_logical_type(Some(LogicalType::integer(bit_width, false)))
            .build()
            .map(Arc::new)
    };
    let (long, int) = (PhysicalType::INT64, PhysicalType::INT32);
    let mut fields = vec![
        field("address", long, 64, Repetition::REQUIRED)?,
        field("size", int, 32, Repetition::REQUIRED)?,
        field("kind", int, 8, Repetition::REQUIRED)?,
    ];
    if columns.pc {
        fields.push(field("pc", long, 64, Repetition::REQUIRED)?);
    }
    if columns.core {
        fields.push(field("core", int, 16, Repetition::REQUIRED)?);
    }
    if columns.lane {
        fields.push(field("lane", int, 8, Repetition::OPTIONAL)?);
    }
    Ok(Arc::new(Type::group_type_builder("reference").with_fields(fields).build()?))
}

/// Columns come packed: see [`super::pack`].
fn properties() -> Arc<WriterProperties> {
    let properties = WriterProperties::builder()
        .set_created_by(CREATED_BY.into())
        .set_offset_index_disabled(true)
        .set_max_row_group_row_count(Some(CHUNK));
    Arc::new(properties.build())
}

/// What is wrong with a reference.
fn check(name: &str, r: &Reference, number: u64) -> Result<(), TraceError> {
    let found = if r.size == 0 || r.size > MAX_SIZE {
        format!("size {} in reference {number}", r.size)
    } else if r.addr.checked_add(u64::from(r.size) - 1).is_none() {
        format!("reference {number} of {} bytes at 0x{:x}, past the end of the address space", r.size, r.addr)
    } else {
        return Ok(());
    };
    Err(TraceError::Invalid(Fault::new(
        Place::file(name),
        found,
        format!("1 to {MAX_SIZE} bytes below 2^64"),
        "mend the references before writing them",
    )))
}

fn invalid(name: &str, found: &str) -> TraceError {
    TraceError::Invalid(Fault::new(Place::file(name), found, "tables that can be stored", "report this"))
}

fn parquet_error(name: &str, error: ParquetError) -> TraceError {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(io) => write_error(name, *io),
            Err(other) => write_error(name, io::Error::other(other)),
        },
        other => write_error(name, io::Error::other(other)),
    }
}

/// Writes a native file under its final name only once it is whole; dropped before that, it leaves nothing.
pub struct FileWriter {
    writer: Writer<Box<dyn Write + Send>>,
    target: Target,
}

impl FileWriter {
    /// Starts a file; `-` is standard output.
    ///
    /// # Errors
    /// When the folder does not exist or cannot be written to.
    pub fn create(path: &Path) -> Result<Self, TraceError> {
        let (name, target, sink) = Target::create(path)?;
        Ok(Self { writer: Writer::new(name, sink), target })
    }

    /// As [`Writer::packed`].
    #[must_use]
    pub fn packed(self, packing: Packing) -> Self {
        Self { writer: self.writer.packed(packing), ..self }
    }

    /// References taken so far.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.writer.len()
    }

    /// Whether no reference was taken yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.writer.is_empty()
    }

    /// As [`Writer::write`].
    ///
    /// # Errors
    /// As there.
    pub fn write(&mut self, references: &[Reference]) -> Result<(), TraceError> {
        self.writer.write(references)
    }

    /// As [`Writer::take`].
    ///
    /// # Errors
    /// As there.
    pub fn take(&mut self, references: &mut Vec<Reference>) -> Result<(), TraceError> {
        self.writer.take(references)
    }

    /// As [`FileWriter::take`], of references that cannot be wrong: see [`Writer::take_valid`].
    ///
    /// # Errors
    /// When the sink fails.
    #[cfg(feature = "capture")]
    pub(crate) fn take_valid(&mut self, references: &mut Vec<Reference>) -> Result<(), TraceError> {
        self.writer.take_valid(references)
    }

    /// Ends the file and gives it its name.
    ///
    /// # Errors
    /// As [`Writer::finish`]; also when the file cannot be renamed.
    pub fn finish(self, tables: &Tables) -> Result<(), TraceError> {
        drop(self.writer.finish(tables)?);
        self.target.finish()
    }
}
