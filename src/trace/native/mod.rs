//! The native file, `*.orrery`: a Parquet file, one row a reference, that pandas, DuckDB, Polars and Spark open as it is.
//!
//! | column | type | meaning | if absent |
//! |---|---|---|---|
//! | `address` | INT64, unsigned | first byte touched | (required) |
//! | `size` | INT32, unsigned | bytes touched | 1 |
//! | `kind` | INT32, unsigned 8 | 0 read, 1 write, 2 modify, 3 fetch | 0 |
//! | `pc` | INT64, unsigned | program counter | 0 = unknown |
//! | `core` | INT32, unsigned 16 | issuing core | 0 |
//! | `lane` | INT32, unsigned 8, nullable | lane of a GPU wavefront | none |
//!
//! Addresses are delta-encoded, the other columns dictionary-encoded, all zstd-compressed but those of one value. A row group holds
//! [`CHUNK`] references, so that a seek decodes little. A file of one row group leaves out columns that say nothing.
//! The key-value metadata holds `orrery.version` (a whole number; a reader refuses a higher one than it knows: [`VERSION`]),
//! `orrery.tables` (JSON of [`crate::reference::Tables`]) and `orrery.checksums` (see `checksum`).

use crate::reference::{Region, Tables};

mod bits;
mod checksum;
mod file;
mod guard;
mod pack;
mod packers;
mod pages;
mod reader;
mod rows;
#[cfg(feature = "formats")]
mod spooled;
mod writer;

#[cfg(feature = "formats")]
pub(super) use {file::ParquetFile, guard::guarded, spooled::open};

pub use pack::Packing;
pub use reader::NativeTrace;
pub use writer::{FileWriter, Writer};

/// References in a row group of the files we write.
pub const CHUNK: usize = 262_144;

/// References in a chunk that is read: a part of a row group, whose other pages are passed over, so that a seek decodes
/// little.
pub const PIECE: usize = CHUNK / 4;

/// The largest size of one reference, in bytes: no instruction touches more, so a larger one is damage.
pub const MAX_SIZE: u32 = 1 << 20;

/// Version of the file format: raised when an older reader would misread a newer file. A file says the lowest version that has
/// all that it holds.
///
/// 2: regions have strides and offsets. A reader of version 1 would pass over them and call elements by wrong indices.
pub const VERSION: u32 = 2;

/// The lowest version that has what these tables say.
fn version_of(tables: &Tables) -> u32 {
    if tables.regions.iter().any(Region::is_strided) { 2 } else { 1 }
}

const VERSION_KEY: &str = "orrery.version";
const TABLES_KEY: &str = "orrery.tables";
const CHECKSUMS_KEY: &str = "orrery.checksums";
const CREATED_BY: &str = concat!("orrery ", env!("CARGO_PKG_VERSION"));
