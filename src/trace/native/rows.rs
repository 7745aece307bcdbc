//! Rows of a row group: its columns decoded, checked and joined into references. Nothing in the file is trusted.

use super::MAX_SIZE;
use super::guard::guarded;
use crate::reference::{Kind, NO_LANE, Reference};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::reader::RowGroupReader;

/// Position of each column in the file.
pub(super) struct Columns {
    pub(super) address: usize,
    pub(super) size: Option<usize>,
    pub(super) kind: Option<usize>,
    pub(super) pc: Option<usize>,
    pub(super) core: Option<usize>,
    pub(super) lane: Option<usize>,
}

/// A span of rows of one row group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows {
    pub(super) group: usize,
    pub(super) first: usize,
    pub(super) count: usize,
}

/// A row that is wrong: its place, what was found there, what was expected.
pub(super) type Wrong = (usize, String, String);

/// The columns of a span of rows; kept for its memory, and because the span that follows is read on from here.
#[derive(Default)]
pub(super) struct Room {
    open: Option<Open>,
    address: Values,
    size: Values,
    kind: Values,
    pc: Values,
    core: Values,
    lane: Values,
}

/// What a row without a lane has in its column.
const NO_LANE_CODE: i32 = i32::MIN;

/// A row group whose columns are decoded up to a row.
struct Open {
    group: usize,
    /// The next row.
    next: usize,
    /// In the order of [`Room::read`]; those of columns that there are.
    columns: [Option<Column>; 6],
}

/// A column of a row group, and where its rows are up to.
struct Column {
    reader: ColumnReader,
    /// Its number in the file.
    number: usize,
    is_optional: bool,
}

impl Room {
    /// Whether these rows follow those that were read last.
    pub(super) fn goes_on(&self, rows: &Rows) -> bool {
        self.open.as_ref().is_some_and(|open| (open.group, open.next) == (rows.group, rows.first))
    }

    /// Decodes the columns that there are. The row group is asked for where these rows are not the next ones.
    pub(super) fn read<'a>(
        &mut self,
        rows: &Rows,
        columns: &Columns,
        group: impl FnOnce() -> ParquetResult<Box<dyn RowGroupReader + 'a>>,
    ) -> ParquetResult<()> {
        let mut open = match self.open.take().filter(|open| (open.group, open.next) == (rows.group, rows.first)) {
            Some(open) => open,
            None => guarded(|| Open::at(rows, columns, &*group()?))?,
        };
        let Self { address, size, kind, pc, core, lane, .. } = self;
        for (values, column) in [address, size, kind, pc, core, lane].into_iter().zip(&mut open.columns) {
            values.clear();
            if let Some(column) = column {
                values.read(rows, column)?;
            }
        }
        open.next = rows.first + rows.count;
        self.open = Some(open);
        Ok(())
    }

    /// Appends the references that `count` rows are; nothing, and the first row that is wrong, where one is.
    pub(super) fn join(&mut self, count: usize, out: &mut Vec<Reference>) -> Result<(), Wrong> {
        if let Some(missing) = self.address.missing() {
            return Err((missing, "no address".into(), "an address in every row".into()));
        }
        let expected = |(n, value)| (n, format!("value {value}"), "one that 32 bits hold".to_owned());
        let address = self.address.longs(count, 0);
        let pc = self.pc.longs(count, 0);
        let size = self.size.ints(count, 1).map_err(expected)?;
        let kind = self.kind.ints(count, 0).map_err(expected)?;
        let core = self.core.ints(count, 0).map_err(expected)?;
        let lane = self.lane.ints(count, NO_LANE_CODE).map_err(expected)?;
        let columns = address.iter().zip(pc).zip(size).zip(kind).zip(core).zip(lane);
        let wrong = is_any_wrong(address, [size, kind, core, lane]);
        let base = out.len();
        out.extend(columns.map(|(((((address, pc), size), kind), core), lane)| Reference {
            addr: address.cast_unsigned(),
            pc: pc.cast_unsigned(),
            size: size.cast_unsigned(),
            core: low(*core),
            lane: if *lane == NO_LANE_CODE { NO_LANE } else { low(*lane).to_le_bytes()[0] },
            kind: KINDS[usize::from(low(*kind)) % KINDS.len()],
        }));
        if !wrong {
            return Ok(());
        }
        let check = |n: usize| row(address[n], [size[n], kind[n], core[n], lane[n]], n);
        (0..count).try_for_each(check).inspect_err(|_| out.truncate(base))
    }
}

impl Open {
    /// The columns of a row group, from the first of these rows on.
    fn at(rows: &Rows, columns: &Columns, group: &dyn RowGroupReader) -> ParquetResult<Self> {
        let Columns { address, size, kind, pc, core, lane } = *columns;
        let mut readers = [const { None }; 6];
        for (place, number) in readers.iter_mut().zip([Some(address), size, kind, pc, core, lane]) {
            if let Some(number) = number {
                *place = Some(Column::at(rows, number, group)?);
            }
        }
        Ok(Self { group: rows.group, next: rows.first, columns: readers })
    }
}

impl Column {
    fn at(rows: &Rows, number: usize, group: &dyn RowGroupReader) -> ParquetResult<Self> {
        let about = group.metadata().column(number);
        let mut reader = group.get_column_reader(number)?;
        let skipped = match &mut reader {
            _ if rows.first == 0 => 0,
            ColumnReader::Int32ColumnReader(reader) => reader.skip_records(rows.first)?,
            ColumnReader::Int64ColumnReader(reader) => reader.skip_records(rows.first)?,
            _ => rows.first,
        };
        if !matches!(reader, ColumnReader::Int32ColumnReader(_) | ColumnReader::Int64ColumnReader(_)) {
            let name = about.column_path().string();
            let what = format!("column `{name}` that does not hold whole numbers of 32 or 64 bits");
            return Err(ParquetError::General(what));
        }
        let column = Self { reader, number, is_optional: about.column_descr().max_def_level() > 0 };
        if skipped < rows.first { Err(column.short(rows, skipped)) } else { Ok(column) }
    }

    fn short(&self, rows: &Rows, ends: usize) -> ParquetError {
        let (number, wanted) = (self.number, rows.first + rows.count);
        ParquetError::General(format!("column {number} that ends after {ends} rows of {wanted}"))
    }
}

/// By code.
const KINDS: [Kind; 4] = [Kind::Read, Kind::Write, Kind::Modify, Kind::Fetch];

/// The low half.
#[inline(always)]
fn low(n: i32) -> u16 {
    let [a, b, ..] = n.to_le_bytes();
    u16::from_le_bytes([a, b])
}

/// Whether any row may be wrong: a pass over each column alone, which takes a vector at a time. Limits are powers of two, so all
/// values are below one where all their bits together are.
fn is_any_wrong(address: &[i64], [size, kind, core, lane]: [&[i32]; 4]) -> bool {
    const { assert!(MAX_SIZE.is_power_of_two()) };
    let bits = |values: &[i32]| values.iter().fold(0, |bits, value| bits | value.cast_unsigned());
    let less_one = size.iter().fold(0, |bits, size| bits | size.cast_unsigned().wrapping_sub(1));
    let is_high = address.iter().fold(0, |bits, address| bits | address) < 0;
    let lanes = lane.iter().fold(false, |any, lane| any | ((*lane != NO_LANE_CODE) & (lane.cast_unsigned() > 0xff)));
    // Below 2^63 no reference passes the end of the address space.
    (less_one >= MAX_SIZE) | (bits(kind) > 3) | (bits(core) > 0xffff) | lanes | is_high
}

/// What is wrong with a row.
fn row(address: i64, [size, kind, core, lane]: [i32; 4], n: usize) -> Result<(), Wrong> {
    let (address, size) = (address.cast_unsigned(), size.cast_unsigned());
    let (found, expected) = if size == 0 || size > MAX_SIZE {
        (format!("size {size}"), format!("1 to {MAX_SIZE} bytes"))
    } else if address.checked_add(u64::from(size) - 1).is_none() {
        (format!("{size} bytes at 0x{address:x}"), "a reference that ends below 2^64".to_owned())
    } else if !(0..4).contains(&kind) {
        (format!("kind {kind}"), "0 to 3".to_owned())
    } else if !(0..=0xffff).contains(&core) {
        (format!("core {core}"), "0 to 65535".to_owned())
    } else if lane != NO_LANE_CODE && !(0..=0xff).contains(&lane) {
        (format!("lane {lane}"), "0 to 255".to_owned())
    } else {
        return Ok(());
    };
    Err((n, found, expected))
}

/// One column of a span of rows.
#[derive(Debug, Default)]
struct Values {
    /// Whether each row has a value, where some may have none.
    levels: Vec<i16>,
    is_optional: bool,
    /// The values that are there: `wide` where `is_wide`, else `narrow`.
    narrow: Vec<i32>,
    wide: Vec<i64>,
    is_wide: bool,
}

impl Values {
    fn clear(&mut self) {
        self.levels.clear();
        self.narrow.clear();
        self.wide.clear();
        (self.is_optional, self.is_wide) = (false, false);
    }

    fn read(&mut self, rows: &Rows, column: &mut Column) -> ParquetResult<()> {
        self.is_optional = column.is_optional;
        let levels = (&mut self.levels, self.is_optional);
        let read = guarded(|| match &mut column.reader {
            ColumnReader::Int32ColumnReader(reader) => fill(rows.count, reader, levels, &mut self.narrow),
            ColumnReader::Int64ColumnReader(reader) => {
                self.is_wide = true;
                fill(rows.count, reader, levels, &mut self.wide)
            }
            _ => Ok(0),
        })?;
        if read < rows.count { Err(column.short(rows, rows.first + read)) } else { Ok(()) }
    }

    /// The first row without a value.
    fn missing(&self) -> Option<usize> {
        self.levels.iter().position(|level| *level == 0).filter(|_| self.is_optional)
    }

    /// A value for each of `count` rows, `without` for those that have none; of 64 bits.
    fn longs(&mut self, count: usize, without: i64) -> &[i64] {
        if !self.is_wide {
            self.wide.clear();
            self.wide.extend(self.narrow.iter().map(|value| i64::from(value.cast_unsigned())));
        }
        if self.is_optional {
            spread(&self.levels, &mut self.wide, without);
        }
        self.wide.resize(count, without);
        &self.wide
    }

    /// As [`Values::longs`], of 32 bits; the place and value of the first that has more.
    fn ints(&mut self, count: usize, without: i32) -> Result<&[i32], (usize, i64)> {
        if self.is_wide {
            self.narrow.clear();
            for (n, value) in self.wide.iter().enumerate() {
                self.narrow.push(i32::try_from(*value).map_err(|_| (n, *value))?);
            }
        }
        if self.is_optional {
            spread(&self.levels, &mut self.narrow, without);
        }
        self.narrow.resize(count, without);
        Ok(&self.narrow)
    }
}

/// Gives rows without a value `without`.
fn spread<T: Copy>(levels: &[i16], values: &mut Vec<T>, without: T) {
    if values.is_empty() {
        return;
    }
    let mut there = values.iter().copied();
    let all = levels.iter().map(|level| if *level > 0 { there.next().unwrap_or(without) } else { without }).collect();
    *values = all;
}

/// Levels and values of the next rows, those that are there; how many rows there were, `count` at most.
fn fill<T: DataType>(
    count: usize,
    reader: &mut ColumnReaderImpl<T>,
    (levels, is_optional): (&mut Vec<i16>, bool),
    values: &mut Vec<T::T>,
) -> ParquetResult<usize> {
    let mut read = 0;
    while read < count {
        let (n, ..) = reader.read_records(count - read, Some(levels), None, values)?;
        if n == 0 {
            return Ok(read);
        }
        read += n;
    }
    Ok(if is_optional { read } else { read.min(values.len()) })
}
