//! Tables as Parquet files, which data frames read.

use crate::files::Draft;
use parquet::basic::{LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

/// A column: a value a row, `None` where there is none.
#[derive(Clone, Debug, PartialEq)]
pub struct TableColumn {
    /// Its name.
    pub name: String,
    /// What stands in it.
    pub values: TableValues,
}

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum TableValues {
    /// Words, as UTF-8.
    Words(Vec<Option<String>>),
    /// Counts, as 64-bit integers without a sign.
    Counts(Vec<Option<u64>>),
    /// Shares, as doubles.
    Shares(Vec<Option<f64>>),
}

impl TableValues {
    fn kind(&self) -> (PhysicalType, Option<LogicalType>) {
        match self {
            Self::Words(_) => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
            Self::Counts(_) => (PhysicalType::INT64, Some(LogicalType::integer(64, false))),
            Self::Shares(_) => (PhysicalType::DOUBLE, None),
        }
    }

    fn write<W: Write + Send>(&self, group: &mut SerializedRowGroupWriter<'_, W>) -> Result<(), ParquetError> {
        let Some(mut column) = group.next_column()? else {
            return Err(ParquetError::General("a column more than the schema has".into()));
        };
        match self {
            Self::Words(values) => {
                let there: Vec<ByteArray> = values.iter().flatten().map(|words| words.as_str().into()).collect();
                column.typed::<ByteArrayType>().write_batch(&there, Some(&levels(values)), None)?;
            }
            Self::Counts(values) => {
                let there: Vec<i64> = values.iter().flatten().map(|count| count.cast_signed()).collect();
                column.typed::<Int64Type>().write_batch(&there, Some(&levels(values)), None)?;
            }
            Self::Shares(values) => {
                let there: Vec<f64> = values.iter().flatten().copied().collect();
                column.typed::<DoubleType>().write_batch(&there, Some(&levels(values)), None)?;
            }
        }
        column.close()
    }
}

/// 1 where there is a value.
fn levels<T>(values: &[Option<T>]) -> Vec<i16> {
    values.iter().map(|value| i16::from(value.is_some())).collect()
}

/// Writes columns of as many values each to a file in place of what has its name, whole or not at all.
///
/// # Errors
/// When the file cannot be written.
pub fn write_table(path: &Path, columns: &[TableColumn]) -> io::Result<()> {
    let draft = Draft::create(path)?;
    let mut out = io::BufWriter::new(draft.file());
    write(&mut out, columns).map_err(|error| match error {
        ParquetError::External(inner) => io::Error::other(inner),
        other => io::Error::other(other),
    })?;
    out.flush()?;
    drop(out);
    draft.finish()
}

fn write(out: &mut (impl Write + Send), columns: &[TableColumn]) -> Result<(), ParquetError> {
    let field = |column: &TableColumn| {
        let (physical, logical) = column.values.kind();
        Type::primitive_type_builder(&column.name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical)
            .build()
            .map(Arc::new)
    };
    let fields: Result<Vec<_>, _> = columns.iter().map(field).collect();
    let schema = Arc::new(Type::group_type_builder("table").with_fields(fields?).build()?);
    let properties = WriterProperties::builder()
        .set_created_by(concat!("orrery ", env!("CARGO_PKG_VERSION")).into())
        .set_compression(parquet::basic::Compression::ZSTD(parquet::basic::ZstdLevel::default()))
        .build();
    let mut file = SerializedFileWriter::new(out, schema, Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    for column in columns {
        column.values.write(&mut group)?;
    }
    group.close()?;
    file.close()?;
    Ok(())
}
