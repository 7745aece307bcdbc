//! References into the columns of a row group, as they stand in the file.
//!
//! The Parquet library asks a hash table for every value of every column. Here one look-up a reference finds its *site*: what an
//! instruction does again and again, which is the same pc, size, kind, core and lane. All columns but the addresses are
//! dictionaries over sites, so a value costs a look into a small array; a column that never changes costs nothing.
//!
//! ```text
//! references   (pc 10, 8 bytes, read)  (pc 14, 8, write)  (pc 10, 8, read)      sites  0 1 0
//! column pc    dictionary 10 14, indices 0 1 0        column size   dictionary 8, one run of zeros
//! ```
//!
//! Addresses are differences to the one before (`DELTA_BINARY_PACKED` of the format's `Encodings.md`). All is packed by zstd.

use super::PIECE;
use super::bits::{differences, hybrid, run};
use crate::reference::{NO_LANE, Reference};
use bytes::Bytes;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

/// How hard zstd tries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Packing {
    /// For files that are kept and sent.
    #[default]
    Small,
    /// Where somebody waits for the file, a recorded program for one: 5 to 15 % larger.
    Quick,
}

impl Packing {
    /// The level of zstd; those below 0 leave out its entropy coding of what was not found before.
    fn level(self) -> i32 {
        match self {
            Self::Small => 1,
            Self::Quick => -3,
        }
    }
}

/// Entries of a dictionary at most; a column with more is stored as it is.
const DICTIONARY: usize = 1 << 16;

/// Which columns a file has beside `address`, `size` and `kind`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns {
    pub(super) pc: bool,
    pub(super) core: bool,
    pub(super) lane: bool,
}

/// A column as it stands in the file, and what the row group says of it.
pub(super) type Packed = Result<Vec<(Bytes, ColumnCloseResult)>, ParquetError>;

/// Room for one row group on its way into the file, used again for the next.
pub(super) struct Packer {
    sites: Sites,
    /// Site of each reference.
    site_of: Vec<u32>,
    /// Of one page.
    addresses: Vec<u64>,
    /// Of one column: the index of each reference, and each page.
    indices: Vec<u32>,
    page: Vec<u8>,
    packed: Vec<u8>,
    zstd: zstd::bulk::Compressor<'static>,
}

impl Packer {
    pub(super) fn new(packing: Packing) -> Result<Self, ParquetError> {
        Ok(Self {
            sites: Sites::default(),
            site_of: Vec::new(),
            addresses: Vec::new(),
            indices: Vec::new(),
            page: Vec::new(),
            packed: Vec::new(),
            zstd: zstd::bulk::Compressor::new(packing.level())?,
        })
    }

    /// Packs the columns of `rows`, which are `wanted`, described by `descriptors`, into `rooms` as far as there are any.
    pub(super) fn pack(
        &mut self,
        rows: &[Reference],
        wanted: Columns,
        descriptors: &[ColumnDescPtr],
        rooms: Vec<Vec<u8>>,
    ) -> Packed {
        let mut columns = descriptors.iter().zip(rooms.into_iter().chain(std::iter::repeat_with(Vec::new)));
        let addresses = columns.next().map(|(descriptor, room)| self.addresses(rows, descriptor, room));
        let wanted = [
            Some(Field::Size),
            Some(Field::Kind),
            wanted.pc.then_some(Field::Pc),
            wanted.core.then_some(Field::Core),
            wanted.lane.then_some(Field::Lane),
        ];
        let others = wanted.into_iter().flatten().zip(columns);
        let others = others.map(|(field, (descriptor, room))| self.column(field, descriptor, room));
        let packed = addresses.into_iter().chain(others).collect();
        self.sites.clear();
        packed
    }

    fn column(
        &mut self,
        field: Field,
        descriptor: &ColumnDescPtr,
        room: Vec<u8>,
    ) -> Result<(Bytes, ColumnCloseResult), ParquetError> {
        let dictionary = Dictionary::of(&self.sites, field);
        let rows = self.site_of.len();
        let mut column = Column::new(rows, room);
        let is_plain = dictionary.values.len() > DICTIONARY || dictionary.values.is_empty();
        let width = u64::BITS - (dictionary.values.len() as u64).saturating_sub(1).leading_zeros();
        let Self { site_of, indices, page, packed, zstd, .. } = self;
        let encoding = if is_plain { Encoding::PLAIN } else { Encoding::RLE_DICTIONARY };
        // Whether some rows have a value and others none.
        let is_mixed = !dictionary.values.is_empty() && dictionary.of_site.contains(&ABSENT);
        // Program counters mostly differ from site to site.
        let is_identity = dictionary.of_site.iter().zip(0..).all(|(index, site)| *index == site);
        // A page of runs is a few bytes.
        column.compression = if width == 0 && !is_mixed { Compression::UNCOMPRESSED } else { zstd_level()? };
        let mut pages = Pages { column: &mut column, packed, zstd };
        if !is_plain {
            page.clear();
            dictionary.values.iter().for_each(|value| field.plain(*value, page));
            pages.dictionary(page, dictionary.values.len())?;
        }
        let mut absent = 0;
        for sites in site_of.chunks(PIECE) {
            page.clear();
            let mut present = sites.len();
            if field.is_optional() {
                // The length comes before the levels.
                page.extend([0; 4]);
                if is_mixed {
                    indices.clear();
                    indices.extend(sites.iter().map(|site| u32::from(dictionary.index(*site) != ABSENT)));
                    hybrid(indices, 1, page);
                    present = indices.iter().map(|level| *level as usize).sum();
                } else {
                    present = if dictionary.values.is_empty() { 0 } else { sites.len() };
                    run(sites.len(), u32::from(present > 0), 1, page);
                }
                let length = u32::try_from(page.len() - 4).unwrap_or(u32::MAX);
                page[..4].copy_from_slice(&length.to_le_bytes());
                absent += sites.len() - present;
            }
            if !is_plain {
                page.push(u8::try_from(width).unwrap_or(u8::MAX));
            }
            indices.clear();
            let indices: &[u32] = if width == 0 && !is_mixed {
                &[]
            } else if is_identity {
                sites
            } else {
                let all = sites.iter().map(|site| dictionary.index(*site));
                if is_mixed {
                    indices.extend(all.filter(|index| *index != ABSENT))
                } else {
                    indices.extend(all)
                }
                indices
            };
            if is_plain {
                indices.iter().for_each(|index| field.plain(dictionary.values[*index as usize], page));
            } else if width > 0 {
                hybrid(indices, width, page);
            } else if present > 0 {
                run(present, 0, 0, page);
            }
            pages.data(page, sites.len(), encoding)?;
        }
        let range = dictionary.values.iter().min().copied().zip(dictionary.values.iter().max().copied());
        column.close(descriptor, encoding, field.statistics(range, absent as u64))
    }

    /// Packs the addresses of `rows`, and finds the site of each on the way: they are read once.
    fn addresses(
        &mut self,
        rows: &[Reference],
        descriptor: &ColumnDescPtr,
        room: Vec<u8>,
    ) -> Result<(Bytes, ColumnCloseResult), ParquetError> {
        let Self { sites, site_of, addresses, page, packed, zstd, .. } = self;
        let mut column = Column::new(rows.len(), room);
        column.compression = zstd_level()?;
        let mut pages = Pages { column: &mut column, packed, zstd };
        let (mut first, mut last) = (u64::MAX, 0);
        site_of.resize(rows.len(), 0);
        for (rows, site_of) in rows.chunks(PIECE).zip(site_of.chunks_mut(PIECE)) {
            addresses.resize(rows.len(), 0);
            for ((r, site), address) in rows.iter().zip(site_of).zip(&mut *addresses) {
                *site = sites.find(r);
                *address = r.addr;
                (first, last) = (first.min(r.addr), last.max(r.addr));
            }
            page.clear();
            differences(addresses, page);
            pages.data(page, rows.len(), Encoding::DELTA_BINARY_PACKED)?;
        }
        let statistics = Field::Address.statistics(Some((first, last)), 0);
        column.close(descriptor, Encoding::DELTA_BINARY_PACKED, statistics)
    }
}

fn zstd_level() -> Result<Compression, ParquetError> {
    Ok(Compression::ZSTD(ZstdLevel::try_new(1)?))
}

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Address,
    Size,
    Kind,
    Pc,
    Core,
    Lane,
}

impl Field {
    /// Whether rows may have none.
    fn is_optional(self) -> bool {
        self == Self::Lane
    }

    /// What a site has there; `None` where it has none.
    fn of(self, site: &Site) -> Option<u64> {
        Some(match self {
            Self::Address => return None,
            Self::Size => site.manner & u64::from(u32::MAX),
            Self::Kind => site.manner >> 56,
            Self::Pc => site.pc,
            Self::Core => site.manner >> 32 & 0xffff,
            Self::Lane => Some(site.manner >> 48 & 0xff).filter(|lane| *lane != u64::from(NO_LANE))?,
        })
    }

    fn is_long(self) -> bool {
        matches!(self, Self::Address | Self::Pc)
    }

    /// Appends a value as it is.
    fn plain(self, value: u64, out: &mut Vec<u8>) {
        let bytes = value.to_le_bytes();
        out.extend_from_slice(if self.is_long() { &bytes } else { &bytes[..4] });
    }

    fn statistics(self, range: Option<(u64, u64)>, absent: u64) -> Statistics {
        let (min, max) = range.unzip();
        if self.is_long() {
            return Statistics::int64(min.map(u64::cast_signed), max.map(u64::cast_signed), None, Some(absent), false);
        }
        let int = |value: u64| i32::try_from(value).unwrap_or(i32::MAX);
        Statistics::int32(min.map(int), max.map(int), None, Some(absent), false)
    }
}

/// Pages of a column, one after the other.
struct Column {
    rows: usize,
    sink: TrackedWrite<Vec<u8>>,
    compression: Compression,
    dictionary: Option<i64>,
    data: Option<i64>,
    unpacked: usize,
}

impl Column {
    /// A column in `room`, whose bytes go.
    fn new(rows: usize, mut room: Vec<u8>) -> Self {
        room.clear();
        Self {
            rows,
            sink: TrackedWrite::new(room),
            compression: Compression::UNCOMPRESSED,
            dictionary: None,
            data: None,
            unpacked: 0,
        }
    }

    fn close(
        mut self,
        descriptor: &ColumnDescPtr,
        encoding: Encoding,
        statistics: Statistics,
    ) -> Result<(Bytes, ColumnCloseResult), ParquetError> {
        std::io::Write::flush(&mut self.sink)?;
        let bytes = self.sink.into_inner()?;
        let (rows, length) = (i64::try_from(self.rows), i64::try_from(bytes.len()));
        let encodings = match self.dictionary {
            Some(_) => vec![Encoding::PLAIN, Encoding::RLE, encoding],
            None => vec![Encoding::RLE, encoding],
        };
        let metadata = ColumnChunkMetaData::builder(descriptor.clone())
            .set_compression(self.compression)
            .set_encodings(encodings)
            .set_num_values(rows.unwrap_or(i64::MAX))
            .set_total_compressed_size(length.unwrap_or(i64::MAX))
            .set_total_uncompressed_size(i64::try_from(self.unpacked).unwrap_or(i64::MAX))
            .set_dictionary_page_offset(self.dictionary)
            .set_data_page_offset(self.data.unwrap_or(0))
            .set_statistics(statistics)
            .build()?;
        let close = ColumnCloseResult {
            bytes_written: bytes.len() as u64,
            rows_written: self.rows as u64,
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        Ok((bytes.into(), close))
    }
}

/// Where pages go.
struct Pages<'a> {
    column: &'a mut Column,
    packed: &'a mut Vec<u8>,
    zstd: &'a mut zstd::bulk::Compressor<'static>,
}

impl Pages<'_> {
    fn dictionary(&mut self, page: &[u8], values: usize) -> Result<(), ParquetError> {
        let num_values = u32::try_from(values).unwrap_or(u32::MAX);
        let page_of = |buf| Page::DictionaryPage { buf, num_values, encoding: Encoding::PLAIN, is_sorted: false };
        self.column.dictionary = Some(self.write(page, page_of)?);
        Ok(())
    }

    fn data(&mut self, page: &[u8], rows: usize, encoding: Encoding) -> Result<(), ParquetError> {
        let page_of = |buf| Page::DataPage {
            buf,
            num_values: u32::try_from(rows).unwrap_or(u32::MAX),
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let at = self.write(page, page_of)?;
        self.column.data.get_or_insert(at);
        Ok(())
    }

    /// Packs a page and writes it; gives where it lies.
    fn write(&mut self, page: &[u8], page_of: impl FnOnce(Bytes) -> Page) -> Result<i64, ParquetError> {
        let mut packed = std::mem::take(self.packed);
        packed.clear();
        if self.column.compression == Compression::UNCOMPRESSED {
            packed.extend_from_slice(page);
        } else {
            packed.reserve(zstd::zstd_safe::compress_bound(page.len()));
            self.zstd.compress_to_buffer(page, &mut packed)?;
        }
        let packed = Bytes::from(packed);
        let mut writer = SerializedPageWriter::new(&mut self.column.sink);
        let spec = writer.write_page(CompressedPage::new(page_of(packed.clone()), page.len()))?;
        // Nobody else has it any more: the room serves the next page.
        *self.packed = packed.into();
        self.column.unpacked += spec.uncompressed_size;
        Ok(i64::try_from(spec.offset).unwrap_or(i64::MAX))
    }
}

/// What an instruction does again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Site {
    pc: u64,
    /// See [`manner`].
    manner: u64,
}

/// All of a reference but address and pc, in one word.
#[inline(always)]
fn manner(r: &Reference) -> u64 {
    u64::from(r.size) | u64::from(r.core) << 32 | u64::from(r.lane) << 48 | u64::from(r.kind as u8) << 56
}

/// Slots that are kept for the next row group at most.
const MOST_KEPT: usize = 1 << 14;

/// Sites by number, found by open addressing.
#[derive(Debug, Default)]
struct Sites {
    all: Vec<Site>,
    /// A site and its number from 1; 0 = free.
    slots: Vec<(Site, u32)>,
    /// 64 - log2 of the slots.
    shift: u32,
}

impl Sites {
    /// The number of a reference's site.
    #[inline(always)]
    fn find(&mut self, r: &Reference) -> u32 {
        let site = Site { pc: r.pc, manner: manner(r) };
        if let Some((there, number)) = self.slots.get(self.slot(site))
            && *there == site
            && *number > 0
        {
            return number - 1;
        }
        self.find_far(site)
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "few bits are left")]
    fn slot(&self, site: Site) -> usize {
        // Multiplicative hashing (Knuth 1973).
        let key = site.pc ^ site.manner.rotate_left(24);
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (self.shift & 63)) as usize
    }

    #[inline(never)]
    fn find_far(&mut self, site: Site) -> u32 {
        if self.all.len() * 4 >= self.slots.len() {
            self.grow();
        }
        let mut at = self.slot(site);
        loop {
            match self.slots[at] {
                (_, 0) => {
                    self.all.push(site);
                    let number = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
                    self.slots[at] = (site, number);
                    return number - 1;
                }
                (there, number) if there == site => return number - 1,
                _ => at = (at + 1) % self.slots.len(),
            }
        }
    }

    fn grow(&mut self) {
        let length = (self.slots.len() * 4).max(1 << 10);
        self.slots.clear();
        self.slots.resize(length, (Site { pc: 0, manner: 0 }, 0));
        self.shift = u64::BITS - length.trailing_zeros();
        for (site, number) in self.all.iter().zip(1..) {
            let mut at = self.slot(*site);
            while self.slots[at].1 != 0 {
                at = (at + 1) % length;
            }
            self.slots[at] = (*site, number);
        }
    }

    fn clear(&mut self) {
        self.all.clear();
        if self.slots.len() > MOST_KEPT {
            self.slots.clear();
        }
        self.slots.fill((Site { pc: 0, manner: 0 }, 0));
    }
}

/// What sites without a value have for an index.
const ABSENT: u32 = u32::MAX;

/// The values of a column, in the order in which they come, and the index of each site's.
struct Dictionary {
    values: Vec<u64>,
    of_site: Vec<u32>,
}

impl Dictionary {
    fn of(sites: &Sites, field: Field) -> Self {
        let mut values = Vec::new();
        let mut known = Sites::default();
        let index = |site: &Site| {
            let Some(value) = field.of(site) else { return ABSENT };
            let number = known.find_far(Site { pc: value, manner: 0 });
            if number as usize == values.len() {
                values.push(value);
            }
            number
        };
        let of_site = sites.all.iter().map(index).collect();
        Self { values, of_site }
    }

    #[inline(always)]
    fn index(&self, site: u32) -> u32 {
        self.of_site[site as usize]
    }
}
