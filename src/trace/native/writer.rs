//! Writes native files: one row group in memory at a time, and nothing under the final name before the end.

use super::checksum::{self, Checksums, Summed};
use super::{CHECKSUMS_KEY, CHUNK, CREATED_BY, MAX_SIZE, TABLES_KEY, VERSION, VERSION_KEY};
use crate::reference::{NO_LANE, Reference, Tables};
use crate::trace::error::{Fault, Place, TraceError};
use crate::trace::target::{Target, write_error};
use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as PhysicalType, ZstdLevel};
use parquet::data_type::{Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

/// Which columns a file has beside `address`, `size` and `kind`.
#[derive(Clone, Copy)]
struct Columns {
    pc: bool,
    core: bool,
    lane: bool,
}

/// Streams references into any [`Write`]. Holds at most [`CHUNK`] references.
pub struct Writer<W: Write + Send> {
    name: String,
    sink: Option<W>,
    parquet: Option<SerializedFileWriter<Summed<W>>>,
    checksums: Checksums,
    columns: Columns,
    pending: Vec<Reference>,
    written: u64,
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
            written: 0,
        }
    }

    /// References taken so far.
    pub fn len(&self) -> u64 {
        self.written + self.pending.len() as u64
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
        let mut rest = references;
        while !rest.is_empty() {
            let room = CHUNK - self.pending.len();
            let (now, later) = rest.split_at(room.min(rest.len()));
            for (r, n) in now.iter().zip(self.len()..) {
                check(&self.name, r, n)?;
            }
            self.pending.extend_from_slice(now);
            rest = later;
            // A first group waits for one more reference: a file of one group leaves out columns that say nothing.
            if self.pending.len() == CHUNK && (!rest.is_empty() || self.parquet.is_some()) {
                self.flush_group()?;
            }
        }
        Ok(())
    }

    /// Writes what is left and the tables (sorted first), and gives the sink back, flushed.
    ///
    /// # Errors
    /// When there was no reference at all, or the sink fails.
    pub fn finish(mut self, tables: &Tables) -> Result<W, TraceError> {
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
        let mut tables = tables.clone();
        tables.sort();
        let json = serde_json::to_string(&tables).map_err(|e| invalid(&self.name, &e.to_string()))?;
        self.checksums.tables = checksum::of(&json);
        self.checksums.layout = self.parquet.as_ref().map_or(0, |p| checksum::layout(p.flushed_row_groups()));
        let sums = serde_json::to_string(&self.checksums).map_err(|e| invalid(&self.name, &e.to_string()))?;
        let Some(mut parquet) = self.parquet.take() else { return Err(invalid(&self.name, "a writer used twice")) };
        parquet.append_key_value_metadata(KeyValue::new(VERSION_KEY.into(), VERSION.to_string()));
        parquet.append_key_value_metadata(KeyValue::new(TABLES_KEY.into(), json));
        parquet.append_key_value_metadata(KeyValue::new(CHECKSUMS_KEY.into(), sums));
        let mut sink = parquet.into_inner().map_err(|e| parquet_error(&self.name, e))?.into_inner();
        sink.flush().map_err(|e| write_error(&self.name, e))?;
        Ok(sink)
    }

    fn flush_group(&mut self) -> Result<(), TraceError> {
        let name = self.name.clone();
        self.group().map_err(|e| parquet_error(&name, e))
    }

    fn group(&mut self) -> Result<(), ParquetError> {
        if let Some(sink) = self.sink.take() {
            self.parquet = Some(SerializedFileWriter::new(Summed::new(sink), schema(self.columns)?, properties()?)?);
        }
        let Some(parquet) = &mut self.parquet else {
            return Err(ParquetError::General("a writer used after its end".into()));
        };
        let rows = &self.pending;
        let mut group = parquet.next_row_group()?;
        write64(group.next_column()?, rows.iter().map(|r| r.addr))?;
        write32(group.next_column()?, rows.iter().map(|r| r.size))?;
        write32(group.next_column()?, rows.iter().map(|r| u32::from(r.kind as u8)))?;
        if self.columns.pc {
            write64(group.next_column()?, rows.iter().map(|r| r.pc))?;
        }
        if self.columns.core {
            write32(group.next_column()?, rows.iter().map(|r| u32::from(r.core)))?;
        }
        if self.columns.lane {
            let levels: Vec<i16> = rows.iter().map(|r| i16::from(r.lane != NO_LANE)).collect();
            let values: Vec<i32> = rows.iter().filter(|r| r.lane != NO_LANE).map(|r| i32::from(r.lane)).collect();
            if let Some(mut column) = group.next_column()? {
                column.typed::<Int32Type>().write_batch(&values, Some(&levels), None)?;
                column.close()?;
            }
        }
        group.close()?;
        parquet.flush()?;
        self.checksums.groups.push(parquet.inner_mut().cut());
        self.written += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }
}

fn write64(column: Option<SerializedColumnWriter<'_>>, values: impl Iterator<Item = u64>) -> Result<(), ParquetError> {
    let Some(mut column) = column else { return Ok(()) };
    let values: Vec<i64> = values.map(u64::cast_signed).collect();
    column.typed::<Int64Type>().write_batch(&values, None, None)?;
    column.close()
}

fn write32(column: Option<SerializedColumnWriter<'_>>, values: impl Iterator<Item = u32>) -> Result<(), ParquetError> {
    let Some(mut column) = column else { return Ok(()) };
    let values: Vec<i32> = values.map(u32::cast_signed).collect();
    column.typed::<Int32Type>().write_batch(&values, None, None)?;
    column.close()
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

fn properties() -> Result<Arc<WriterProperties>, ParquetError> {
    let address = ColumnPath::from("address");
    let properties = WriterProperties::builder()
        .set_created_by(CREATED_BY.into())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_dictionary_enabled(true)
        .set_column_dictionary_enabled(address.clone(), false)
        .set_column_encoding(address, Encoding::DELTA_BINARY_PACKED)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_max_row_group_row_count(Some(CHUNK))
        .build();
    Ok(Arc::new(properties))
}

/// A reference that a reader would refuse must not be written.
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

    /// Ends the file and gives it its name.
    ///
    /// # Errors
    /// As [`Writer::finish`]; also when the file cannot be renamed.
    pub fn finish(self, tables: &Tables) -> Result<(), TraceError> {
        drop(self.writer.finish(tables)?);
        self.target.finish()
    }
}
