//! Parquet files of other tools, by the names of their columns, row group after row group.
//!
//! Our own files are Parquet too and say so in their metadata: a file that starts with `PAR1` is opened once, and who reads it
//! is decided then. Nested columns are left alone; pages may be plain, snappy, zstd, gzip or lz4.

use super::super::super::error::{Fault, Place, TraceError};
use super::super::super::input::Input;
use super::super::super::native::{self, NativeTrace, ParquetFile, guarded};
use super::super::{Opened, Reader};
use super::{Columns, Role, from_double, from_text};
use crate::reference::{Reference, Tables};
use parquet::basic::{LogicalType, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::reader::FileReader;
use parquet::schema::types::ColumnDescriptor;

/// Rows decoded at a time.
const BATCH: usize = 65_536;

struct ParquetTable {
    file: ParquetFile,
    columns: Columns,
    /// The next row group; readers of the present one, and its rows still to come.
    group: usize,
    readers: Vec<ColumnReader>,
    left: usize,
    read: u64,
    made_by: String,
}

/// Opens our own file or another tool's.
pub(in super::super) fn open_any(input: Input) -> Result<Opened, TraceError> {
    let file = native::open(input)?;
    if file.is_ours() {
        return Ok(Opened::Native(Box::new(NativeTrace::from_parquet(file)?)));
    }
    table(file)
}

/// Opens a file by its columns, whoever wrote it.
pub(in super::super) fn open(input: Input) -> Result<Opened, TraceError> {
    table(native::open(input)?)
}

fn table(file: ParquetFile) -> Result<Opened, TraceError> {
    let schema = file.parquet.metadata().file_metadata().schema_descr();
    // Nested columns go by no name: whatever they hold is not one value a row.
    let flat = |c: &ColumnDescriptor| c.max_rep_level() == 0 && c.max_def_level() <= 1;
    let names: Vec<&str> = schema.columns().iter().map(|c| if flat(c) { c.name() } else { "" }).collect();
    let columns = Columns::find(&file.name, &names)?;
    file.check_places(columns.used().iter().map(|c| c.index))?;
    let by = file.parquet.metadata().file_metadata().created_by().unwrap_or("an unknown tool");
    let made_by = format!("Parquet by {}", super::super::super::error::shorten(by));
    let readers = Vec::new();
    Ok(Opened::Once(Box::new(ParquetTable { file, columns, group: 0, readers, left: 0, read: 0, made_by })))
}

impl ParquetTable {
    /// Goes to the next row group; `false` after the last.
    fn next_group(&mut self) -> Result<bool, TraceError> {
        if self.group >= self.file.parquet.metadata().num_row_groups() {
            return Ok(false);
        }
        let (file, group, columns) = (&self.file.parquet, self.group, &self.columns);
        self.file.check_pages(group, columns.used().iter().map(|c| c.index))?;
        let opened = guarded(|| {
            let group = file.get_row_group(group)?;
            let readers: Result<Vec<_>, _> =
                columns.used().iter().map(|column| group.get_column_reader(column.index)).collect();
            Ok((readers?, group.metadata().num_rows()))
        });
        let (readers, rows) = opened.map_err(|e| damaged(&self.file.name, &e))?;
        self.left = usize::try_from(rows).map_err(|_| contradiction(&self.file.name))?;
        self.readers = readers;
        self.group += 1;
        Ok(true)
    }

    /// Decodes the next `rows` of the present row group.
    fn decode(&mut self, rows: usize, out: &mut Vec<Reference>) -> Result<(), TraceError> {
        let schema = self.file.parquet.metadata().file_metadata().schema_descr();
        let mut values = Vec::with_capacity(self.readers.len());
        for (column, reader) in self.columns.used().iter().zip(&mut self.readers) {
            let description = schema.column(column.index);
            let read = guarded(|| values_of(column.role, reader, rows, &description));
            match read.map_err(|e| damaged(&self.file.name, &e))? {
                Read::Values(list) => values.push(list),
                Read::Bad(row, found) => return Err(self.columns.bad_value(column, row, &found)),
                Read::BadType(what) => return Err(self.columns.bad_type(column, &what)),
            }
        }
        self.columns.add(&values, out)
    }
}

impl Reader for ParquetTable {
    fn next_chunk(&mut self, limit: usize, out: &mut Vec<Reference>) -> Result<(), TraceError> {
        out.clear();
        while out.len() < limit {
            if self.left == 0 {
                if self.next_group()? {
                    continue;
                }
                break;
            }
            let rows = self.left.min(BATCH).min(limit - out.len());
            self.decode(rows, out)?;
            self.left -= rows;
        }
        self.read += out.len() as u64;
        if self.read == 0 { Err(self.columns.nothing()) } else { Ok(()) }
    }

    fn notices(&self) -> Vec<String> {
        let mut notices = self.columns.notices();
        notices.push(format!("{}: no table of regions in this Parquet file; arrays have no names", self.file.name));
        notices
    }

    fn tables(&self) -> Tables {
        Tables { made_by: self.made_by.clone(), ..Tables::default() }
    }
}

/// What came of reading a column.
enum Read {
    Values(Vec<Option<u64>>),
    /// A value that is none: its place, and how it reads.
    Bad(usize, String),
    BadType(String),
}

/// Exactly `rows` values of a column.
fn values_of(
    role: Role,
    reader: &mut ColumnReader,
    rows: usize,
    column: &ColumnDescriptor,
) -> Result<Read, ParquetError> {
    let unsigned = match column.logical_type_ref() {
        Some(LogicalType::Integer(int)) => !int.is_signed,
        _ => false,
    };
    // 32-bit addresses with their highest bit set come as negative numbers.
    let zero_extend = unsigned || matches!(role, Role::Address | Role::Pc);
    let narrow = |v: i32| if zero_extend { u64::from(v.cast_unsigned()) } else { i64::from(v).cast_unsigned() };
    let text = |v: &ByteArray| from_text(role, v.as_utf8().unwrap_or("\u{fffd}"));
    match reader {
        ColumnReader::Int64ColumnReader(r) => read(r, rows, column, |v| Some(v.cast_unsigned()), |v| v.to_string()),
        ColumnReader::Int32ColumnReader(r) => read(r, rows, column, |v| Some(narrow(*v)), |v| v.to_string()),
        ColumnReader::BoolColumnReader(r) => read(r, rows, column, |v| Some(u64::from(*v)), |v| v.to_string()),
        ColumnReader::DoubleColumnReader(r) => read(r, rows, column, |v| from_double(*v), |v| v.to_string()),
        ColumnReader::FloatColumnReader(r) => read(r, rows, column, |v| from_double(f64::from(*v)), |v| v.to_string()),
        ColumnReader::ByteArrayColumnReader(r) => {
            read(r, rows, column, text, |v| String::from_utf8_lossy(v.data()).into_owned())
        }
        ColumnReader::Int96ColumnReader(_) => Ok(Read::BadType(format!("{}", Physical::INT96))),
        ColumnReader::FixedLenByteArrayColumnReader(_) => {
            Ok(Read::BadType(format!("{}", Physical::FIXED_LEN_BYTE_ARRAY)))
        }
    }
}

fn read<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    column: &ColumnDescriptor,
    value: impl Fn(&T::T) -> Option<u64>,
    shown: impl Fn(&T::T) -> String,
) -> Result<Read, ParquetError> {
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    let mut done = 0;
    while done < rows {
        let (n, ..) = reader.read_records(rows - done, Some(&mut levels), None, &mut values)?;
        if n == 0 {
            return Err(ParquetError::General(format!("column `{}` that ends too soon", column.name())));
        }
        done += n;
    }
    let mut out = Vec::with_capacity(rows);
    let nullable = column.max_def_level() > 0;
    let mut next = values.iter();
    for row in 0..rows {
        let there = !nullable || levels.get(row).is_some_and(|&level| level > 0);
        // A missing floating-point number is a NaN in some tools' files.
        match there.then(|| next.next()).flatten() {
            None => out.push(None),
            Some(v) => match value(v) {
                Some(v) => out.push(Some(v)),
                None if shown(v) == "NaN" => out.push(None),
                None => return Ok(Read::Bad(row, shown(v))),
            },
        }
    }
    Ok(Read::Values(out))
}

fn contradiction(name: &str) -> TraceError {
    damaged(name, &ParquetError::General("row counts that contradict each other".into()))
}

fn damaged(name: &str, error: &ParquetError) -> TraceError {
    let what = match error {
        ParquetError::General(what) | ParquetError::EOF(what) | ParquetError::NYI(what) => what.clone(),
        other => other.to_string(),
    };
    TraceError::Damaged(Fault::new(
        Place::file(name),
        format!("a damaged Parquet file: {what}"),
        "a whole Parquet file with flat columns",
        "copy it again from where it came, or write it again",
    ))
}
