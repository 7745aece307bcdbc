//! Bytes into [`Reference`](crate::reference::Reference)s and [`Tables`]: the readers, the native file, generators for tests.
//!
//! `open` gives references by number, for everything that seeks, and `start` does before all are read; `Stream` gives them once,
//! in order, in bounded memory, for conversion. Both `open` and `Stream` tell the format from the content. Knows nothing of simulation and pictures.
//!
//! Without features there are generators ([`synth`]), a [`Filter`], what people write about a trace ([`notes`]), and errors for readers of one's own ([`TraceError`]);
//! feature `native` adds the native file, `formats` all others.

#[cfg(feature = "native")]
pub mod bundled;
#[cfg(feature = "formats")]
mod copy;
mod error;
#[cfg(feature = "formats")]
mod feed;
mod filter;
#[cfg(feature = "formats")]
mod formats;
#[cfg(feature = "formats")]
mod growing;
#[cfg(feature = "formats")]
mod input;
#[cfg(feature = "native")]
#[cfg_attr(
    not(feature = "formats"),
    expect(dead_code, reason = "readers and copies of other formats use the rest of it")
)]
pub mod native;
#[cfg(feature = "formats")]
mod nests;
pub mod notes;
#[cfg(feature = "formats")]
mod origin;
#[cfg(feature = "formats")]
mod packed;
#[cfg(feature = "formats")]
mod reading;
#[cfg(feature = "formats")]
mod stamp;
pub mod synth;
#[cfg(feature = "native")]
mod target;
#[cfg(feature = "formats")]
pub mod write;

use error::shorten;
pub use error::{Fault, Place, TraceError};
#[cfg(feature = "formats")]
pub use feed::Feed;
pub use filter::{CoreCells, Filter, Marker, Sample};
#[cfg(feature = "formats")]
pub use formats::{Format, capture, lackey, launches};
#[cfg(feature = "formats")]
pub use growing::{Feeder, Growing, RENAMES};
#[cfg(feature = "formats")]
pub use input::file_of;
#[cfg(feature = "formats")]
pub use nests::{open_nest, open_volumes};
#[cfg(feature = "formats")]
mod table;
#[cfg(feature = "formats")]
pub use reading::{Started, Stream, open, start};
#[cfg(feature = "formats")]
pub use stamp::Stamp;
#[cfg(feature = "formats")]
pub use table::{TableColumn, TableValues, write_table};

use crate::reference::Tables;

/// Bytes of one name or line of source, at most: the longest that compilers make are a tenth of it.
const MAX_TEXT: usize = 1 << 20;

/// Checks what the rest of the program relies on: regions of 1 byte or more that stay below 2^64 and have their elements inside,
/// names of a bounded length.
///
/// # Errors
/// Names the first region that breaks the rule.
pub fn check_tables(name: &str, tables: &Tables) -> Result<(), TraceError> {
    let mut longest = None;
    tables.each(&mut |text| {
        if text.len() > MAX_TEXT && longest.is_none() {
            longest = Some(format!("a name or line of {} bytes (`{}`)", text.len(), shorten(text)));
        }
    });
    if let Some(found) = longest {
        return Err(TraceError::Invalid(Fault::new(
            Place::file(name),
            found,
            format!("names and lines of at most {MAX_TEXT} bytes"),
            "shorten it in the tables",
        )));
    }
    for r in &tables.regions {
        let sizes = "regions and elements of 1 byte or more, below 2^64, and extents of 1 or more";
        let (found, expected) = if r.bytes == 0 {
            (format!("region `{}` of 0 bytes", r.name), sizes)
        } else if r.elem_bytes == 0 {
            (format!("region `{}` with elements of 0 bytes", r.name), sizes)
        } else if r.base.checked_add(r.bytes - 1).is_none() {
            let found = format!(
                "region `{}` of {} bytes at 0x{:x}, past the end of the address space",
                r.name, r.bytes, r.base
            );
            (found, sizes)
        } else if r
            .shape
            .iter()
            .try_fold(1u64, |n, &extent| n.checked_mul(extent))
            .is_none_or(|n| n == 0 && !r.shape.is_empty())
        {
            (format!("region `{}` with the shape {:?}", r.name, r.shape), sizes)
        } else if let Err(found) = r.layout() {
            (format!("region `{}` with {found}", r.name), found.expectation())
        } else {
            continue;
        };
        return Err(TraceError::Invalid(Fault::new(Place::file(name), found, expected, "correct the tables")));
    }
    Ok(())
}
