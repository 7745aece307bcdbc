//! Reads native files, any chunk alone. Nothing in the file is trusted: not counts, not lengths, not values.

use super::checksum::{self, Checksums};
use super::file::{Cursor, ParquetFile, SharedFile, damaged, value};
use super::rows::{Columns, Room, Rows};
use super::{CHECKSUMS_KEY, CHUNK, PIECE, TABLES_KEY, VERSION, VERSION_KEY};
use crate::reference::{Reference, ReferenceSource, SourceError, Tables};
use crate::trace::error::{Fault, Place, TraceError};
use parquet::basic::Compression;
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::{FileMetaData, ParquetMetaData, RowGroupMetaData};
use parquet::file::properties::ReaderProperties;
use parquet::file::reader::{FileReader, RowGroupReader};
use parquet::file::serialized_reader::SerializedRowGroupReader;
use parquet::file::statistics::Statistics;
use parquet::schema::types::SchemaDescriptor;
use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// References read at once by whoever takes them all: they and their columns stay in a processor's own cache, and those that
/// follow are read on from there.
const BATCH: u64 = 1 << 15;

/// A native file, open. Chunks hold [`PIECE`] references whatever the file's own row groups hold, so that files
/// rewritten by other tools read as well; in our own files four chunks are a row group.
pub struct NativeTrace {
    name: String,
    /// What the footer says, but for its words.
    footer: ParquetMetaData,
    /// Those, but for the tables, which may be long and are read.
    words: Vec<(String, String)>,
    /// References before each row group, and at the end their total.
    starts: Vec<u64>,
    columns: Columns,
    /// For row-group checks: the file again, its checksums where it has any, and which groups are known to be whole.
    file: SharedFile,
    checksums: Option<Checksums>,
    whole: Vec<AtomicBool>,
    tables: Tables,
    notices: Vec<String>,
    /// Room for columns that nobody uses now.
    rooms: Mutex<Vec<Room>>,
}

impl NativeTrace {
    /// Reads the footer and checks that this is a trace; decodes no references yet. `name` is what messages call it.
    ///
    /// # Errors
    /// When the file is cut short, is not Parquet, has other columns, holds nothing, or is of a newer version.
    pub fn from_file(name: impl Into<String>, file: File) -> Result<Self, TraceError> {
        Self::from_parquet(ParquetFile::open(name.into(), file)?)
    }

    /// As [`NativeTrace::from_file`], of the file at `path`.
    ///
    /// # Errors
    /// When there is none, and as [`NativeTrace::from_file`].
    pub fn open(path: &Path) -> Result<Self, TraceError> {
        let name = path.display().to_string();
        let file = File::open(path).map_err(|e| TraceError::io(&name, "cannot be opened; check the path", e))?;
        Self::from_file(name, file)
    }

    /// As [`NativeTrace::from_file`], of a file whose footer is read.
    pub(in crate::trace) fn from_parquet(parquet_file: ParquetFile) -> Result<Self, TraceError> {
        let name = parquet_file.name.clone();
        let parquet = &parquet_file.parquet;
        let metadata = parquet.metadata();
        let mut notices = Vec::new();
        let tables = read_tables(&name, metadata.file_metadata(), &mut notices)?;
        let columns = Columns::find(&name, metadata.file_metadata().schema_descr())?;
        let starts = count(&name, metadata.row_groups())?;
        columns.check_packing(&name, metadata.row_groups())?;
        parquet_file.check_places(columns.all())?;
        if starts.last() == Some(&0) {
            return Err(TraceError::Empty(Fault::new(
                Place::file(&name),
                "a trace file without references",
                "at least one",
                "record it again",
            )));
        }
        let checksums = read_checksums(&name, metadata.file_metadata(), metadata.row_groups())?;
        let whole = (0..metadata.num_row_groups()).map(|_| AtomicBool::new(false)).collect();
        let about = metadata.file_metadata();
        let pairs = about.key_value_metadata().into_iter().flatten().filter(|pair| pair.key != TABLES_KEY);
        let words = pairs.filter_map(|pair| Some((pair.key.clone(), pair.value.clone()?))).collect();
        let (made_by, orders) = (about.created_by().map(str::to_owned), about.column_orders().cloned());
        let about =
            FileMetaData::new(about.version(), about.num_rows(), made_by, None, about.schema_descr_ptr(), orders);
        let footer = ParquetMetaData::new(about, metadata.row_groups().to_vec());
        let file = parquet_file.shared;
        Ok(Self {
            name,
            footer,
            words,
            starts,
            columns,
            file,
            checksums,
            whole,
            tables,
            notices,
            rooms: Mutex::default(),
        })
    }

    /// Replaces `out` by the [`CHUNK`] references from `index * CHUNK` on; empty past the end.
    pub(in crate::trace) fn read_chunk(&self, index: u64, out: &mut Vec<Reference>) -> Result<(), TraceError> {
        let from = index.saturating_mul(CHUNK as u64).min(self.total());
        let to = from.saturating_add(CHUNK as u64).min(self.total());
        out.clear();
        self.decode(from, to, out)
    }

    /// The chunk `index`, [`PIECE`] references at most.
    pub(in crate::trace) fn piece(&self, index: u64) -> Result<Arc<[Reference]>, TraceError> {
        let from = index.saturating_mul(PIECE as u64).min(self.total());
        let to = from.saturating_add(PIECE as u64).min(self.total());
        let mut out = Vec::with_capacity(to_usize(to - from));
        self.decode(from, to, &mut out)?;
        Ok(out.into())
    }

    /// Replaces `out` by the references from `from` on, to the end of their row group or [`BATCH`] of them.
    pub(in crate::trace) fn read_group(&self, from: u64, out: &mut Vec<Reference>) -> Result<(), TraceError> {
        let group = self.starts.partition_point(|&start| start <= from);
        let end = self.starts.get(group).copied().unwrap_or(from);
        out.clear();
        self.decode(from, end.min(from.saturating_add(BATCH)), out)
    }

    /// How many row groups there are.
    pub(super) fn groups(&self) -> usize {
        self.whole.len()
    }

    /// A row group as it stands in the file, which it was compared with.
    pub(super) fn packed_group(&self, group: usize) -> Result<(&SharedFile, RowGroupMetaData), TraceError> {
        self.check_group(group)?;
        Ok((&self.file, self.footer.row_group(group).clone()))
    }

    /// The words under a key of the metadata.
    pub(in crate::trace) fn words(&self, key: &str) -> Option<&str> {
        self.words.iter().find(|(name, _)| name == key).map(|(_, words)| words.as_str())
    }

    fn total(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Appends references `[from, to)`; `to - from` is at most [`CHUNK`].
    fn decode(&self, from: u64, to: u64, out: &mut Vec<Reference>) -> Result<(), TraceError> {
        out.reserve(to_usize(to - from).min(CHUNK));
        let mut group = self.starts.partition_point(|&s| s <= from).saturating_sub(1);
        let first = Rows { group, first: to_usize(from - self.starts.get(group).copied().unwrap_or(from)), count: 0 };
        let mut room = self.room_for(&first);
        while let Some(&[start, end]) = self.starts.get(group..group + 2)
            && start < to
        {
            let (first, last) = (from.max(start) - start, to.min(end).max(start) - start);
            if first < last {
                self.decode_group(group, first, last, &mut room, out)?;
            }
            group += 1;
        }
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner).push(room);
        Ok(())
    }

    /// Room that nobody uses: that which these rows go on from, if any does.
    fn room_for(&self, rows: &Rows) -> Room {
        let mut rooms = self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        let place = rooms.iter().position(|room| room.goes_on(rows)).or_else(|| rooms.len().checked_sub(1));
        place.map(|place| rooms.swap_remove(place)).unwrap_or_default()
    }

    /// Decodes rows `[first, last)` of a row group onto the end of `out`.
    fn decode_group(
        &self,
        group: usize,
        first: u64,
        last: u64,
        room: &mut Room,
        out: &mut Vec<Reference>,
    ) -> Result<(), TraceError> {
        self.check_group(group)?;
        let rows = Rows { group, first: to_usize(first), count: to_usize(last - first) };
        let open = || -> ParquetResult<Box<dyn RowGroupReader + '_>> {
            let (about, pages) = (self.footer.row_group(group), self.footer.page_index_for_row_group(group));
            let properties = Arc::new(ReaderProperties::builder().build());
            Ok(Box::new(SerializedRowGroupReader::new(Arc::new(self.file.clone()), about, pages, properties)?))
        };
        room.read(&rows, &self.columns, open).map_err(|e| damaged(&self.name, &e))?;
        room.join(rows.count, out).map_err(|(n, found, expected)| self.bad_row(group, first, n, found, &expected))
    }

    /// Compares a row group with its checksum, the first time it is read.
    fn check_group(&self, group: usize) -> Result<(), TraceError> {
        let (Some(sums), Some(whole)) = (&self.checksums, self.whole.get(group)) else { return Ok(()) };
        if whole.load(Ordering::Relaxed) {
            return Ok(());
        }
        let start = group.checked_sub(1).and_then(|before| sums.groups.get(before)).map_or(0, |&(end, _)| end);
        let Some(&(end, expected)) = sums.groups.get(group) else { return Ok(()) };
        let mut bytes = Cursor { file: Arc::clone(&self.file.file), at: start };
        let same = end > start && checksum::of_next(&mut bytes, end - start).is_ok_and(|sum| sum == expected);
        if !same {
            return Err(TraceError::Damaged(Fault::new(
                Place::offset(&self.name, start),
                format!("bytes up to {end} that do not match their checksum"),
                "the bytes that were written",
                "copy it again from where it came, or record it again",
            )));
        }
        whole.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn bad_row(&self, group: usize, first: u64, n: usize, found: String, expected: &str) -> TraceError {
        let row = self.starts.get(group).copied().unwrap_or(0) + first + n as u64;
        let found = format!("{found} in row {row}");
        TraceError::Damaged(Fault::new(Place::file(&self.name), found, expected, "mend or record the trace again"))
    }
}

impl ReferenceSource for NativeTrace {
    fn len(&self) -> u64 {
        self.total()
    }

    fn chunk_len(&self) -> u64 {
        PIECE as u64
    }

    fn chunk(&self, index: u64) -> Result<Arc<[Reference]>, SourceError> {
        Ok(self.piece(index)?)
    }

    fn batch(&self, from: u64, out: &mut Vec<Reference>) -> Result<(), SourceError> {
        Ok(self.read_group(from, out)?)
    }

    fn tables(&self) -> &Tables {
        &self.tables
    }

    fn cores(&self) -> Result<u32, SourceError> {
        let Some(column) = self.columns.core else { return Ok(1) };
        // The file's own statistics tell, where they are there for every row group.
        let highest = |group: &RowGroupMetaData| match group.column(column).statistics() {
            Some(Statistics::Int32(values)) => values.max_opt().and_then(|max| u32::try_from(*max).ok()),
            _ => None,
        };
        let groups: Option<Vec<u32>> = self.footer.row_groups().iter().map(highest).collect();
        if let Some(groups) = groups {
            return Ok(groups.into_iter().max().unwrap_or(0) + 1);
        }
        let mut cores = 1;
        for index in 0..self.len().div_ceil(self.chunk_len()) {
            cores = self.chunk(index)?.iter().fold(cores, |cores, r| cores.max(u32::from(r.core) + 1));
        }
        Ok(cores)
    }

    fn notices(&self) -> &[String] {
        &self.notices
    }

    fn identity(&self) -> Option<String> {
        // The checksums of all bytes, as the file has them.
        let sums = serde_json::to_string(self.checksums.as_ref()?).ok()?;
        Some(format!("{} references, {sums}", self.total()))
    }
}

impl Columns {
    fn find(name: &str, schema: &SchemaDescriptor) -> Result<Self, TraceError> {
        let columns: Vec<&str> = schema.columns().iter().map(|c| c.name()).collect();
        let of = |wanted: &str| columns.iter().position(|c| *c == wanted);
        let Some(address) = of("address") else {
            return Err(TraceError::Damaged(Fault::new(
                Place::file(name),
                format!("a Parquet file with the columns {}", columns.join(", ")),
                "a column `address` (and, as they are known, size, kind, pc, core, lane)",
                "rename the columns, or make the trace with orrery convert",
            )));
        };
        let found =
            Self { address, size: of("size"), kind: of("kind"), pc: of("pc"), core: of("core"), lane: of("lane") };
        for column in found.all() {
            let it = schema.column(column);
            if it.max_rep_level() > 0 || it.max_def_level() > 1 {
                return Err(TraceError::Damaged(Fault::new(
                    Place::file(name),
                    format!("nested values in column `{}`", it.name()),
                    "one whole number a row",
                    "flatten the column",
                )));
            }
        }
        Ok(found)
    }

    fn all(&self) -> impl Iterator<Item = usize> + Clone {
        [Some(self.address), self.size, self.kind, self.pc, self.core, self.lane].into_iter().flatten()
    }

    /// Only zstd is built in: files of other tools may be packed otherwise.
    fn check_packing(&self, name: &str, groups: &[RowGroupMetaData]) -> Result<(), TraceError> {
        let packings = groups.iter().flat_map(|group| self.all().map(|c| group.column(c).compression()));
        for packing in packings {
            if !matches!(packing, Compression::UNCOMPRESSED | Compression::ZSTD(_)) {
                return Err(TraceError::Damaged(Fault::new(
                    Place::file(name),
                    format!("columns packed with {packing}"),
                    "zstd, or no compression",
                    "write the file with compression = 'zstd'",
                )));
            }
        }
        Ok(())
    }
}

fn to_usize(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

/// Sums up the row groups, checking that each count is possible.
fn count(name: &str, groups: &[RowGroupMetaData]) -> Result<Vec<u64>, TraceError> {
    let mut starts = vec![0u64];
    let mut total = 0u64;
    for group in groups {
        let rows = u64::try_from(group.num_rows()).ok();
        let columns_agree = group.columns().iter().all(|c| c.num_values() == group.num_rows());
        total = rows
            .filter(|_| columns_agree)
            .and_then(|rows| total.checked_add(rows))
            .ok_or_else(|| damaged(name, &ParquetError::General("row counts that contradict each other".into())))?;
        starts.push(total);
    }
    Ok(starts)
}

/// The checksums of a file that we wrote. Tools that rewrite a file may carry our metadata along: theirs do not count.
fn read_checksums(
    name: &str,
    metadata: &FileMetaData,
    groups: &[RowGroupMetaData],
) -> Result<Option<Checksums>, TraceError> {
    let ours = metadata.created_by().is_some_and(|c| c.starts_with("orrery "));
    let Some(json) = value(metadata, CHECKSUMS_KEY).filter(|_| ours) else { return Ok(None) };
    let wrong = |what: &str| damaged(name, &ParquetError::General(what.into()));
    let sums: Checksums = serde_json::from_str(json).map_err(|_| wrong("checksums that cannot be read"))?;
    if sums.groups.len() != groups.len() || sums.layout != checksum::layout(groups) {
        return Err(wrong("a table of contents that does not match its checksum"));
    }
    if value(metadata, TABLES_KEY).is_none_or(|tables| checksum::of(tables) != sums.tables) {
        return Err(wrong("tables that do not match their checksum"));
    }
    Ok(Some(sums))
}

fn read_tables(name: &str, metadata: &FileMetaData, notices: &mut Vec<String>) -> Result<Tables, TraceError> {
    if let Some(version) = value(metadata, VERSION_KEY)
        && version.parse::<u32>().ok().is_none_or(|v| v > VERSION)
    {
        return Err(TraceError::Damaged(Fault::new(
            Place::file(name),
            format!("a trace of format version {version}"),
            format!("version {VERSION} or lower"),
            "update orrery",
        )));
    }
    let Some(json) = value(metadata, TABLES_KEY) else {
        notices.push(format!("{name}: no table of regions in this Parquet file; arrays have no names"));
        return Ok(Tables::default());
    };
    let mut tables: Tables = serde_json::from_str(json).map_err(|e| {
        let found = format!("tables that cannot be read ({e})");
        TraceError::Damaged(Fault::new(
            Place::file(name),
            found,
            "JSON of regions, locations, marks",
            "record it again",
        ))
    })?;
    crate::trace::check_tables(name, &tables)?;
    tables.sort();
    tables.regions.shrink_to_fit();
    tables.locations.shrink_to_fit();
    Ok(tables)
}
