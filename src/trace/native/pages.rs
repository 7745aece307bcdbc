//! Headers of Parquet pages, looked at before the library believes them.
//!
//! The library takes and clears as much memory as the header of a page says that it unpacks to, up to 2 GiB, before it unpacks
//! anything. Snappy and LZ4 cannot grow data by more than a known factor, so that a header which says more lies. (The other
//! packings only fill what really comes out.) A header is a struct of Thrift's compact protocol (`parquet.thrift`, 2013; the
//! protocol's `thrift-compact-protocol.md`): its first three fields are the type, the size unpacked and the size packed; the
//! seventh is that of a dictionary, whose first is the number of values. Room for those the library takes unseen too.

use parquet::basic::Compression;
use std::io::{self, Read};

/// Sizes that a header says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) unpacked: i64,
    pub(super) packed: i64,
    /// Values of a dictionary; 0 for any other page.
    pub(super) values: i64,
}

impl Sizes {
    /// Whether a page packed so can have these sizes.
    pub(super) fn are_possible(self, packing: Compression) -> bool {
        // No value is shorter than a bit.
        if self.values > self.unpacked.saturating_mul(8) {
            return false;
        }
        // The longest copies: 64 bytes for 3 (snappy), 255 more for each byte (LZ4).
        let factor = match packing {
            Compression::SNAPPY => 32,
            Compression::LZ4 | Compression::LZ4_RAW => 256,
            _ => return true,
        };
        self.unpacked <= self.packed.saturating_mul(factor).saturating_add(1024)
    }
}

/// Which struct is read: the library reads a field that it knows as what it should be, whatever it says it is, and would then
/// find the end elsewhere, or never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Page,
    Data,
    DataV2,
    Dictionary,
    Statistics,
    /// No struct of a page's header.
    Other,
}

/// What the fields of a struct are, from the first: codes of types, and structs.
const PAGE: [(u8, Of); 8] = [
    (5, Of::Other),
    (5, Of::Other),
    (5, Of::Other),
    (5, Of::Other),
    (12, Of::Data),
    (12, Of::Other),
    (12, Of::Dictionary),
    (12, Of::DataV2),
];

impl Of {
    /// The code of the type that field `id` must have, flags as 1, and its struct; `None` where nothing is known of it.
    fn field(self, id: u64) -> Option<(u8, Self)> {
        let at = usize::try_from(id.checked_sub(1)?).ok()?;
        let plain =
            |kinds: &[u8]| kinds.get(at).map(|kind| (*kind, if *kind == 12 { Self::Statistics } else { Self::Other }));
        match self {
            Self::Page => PAGE.get(at).copied(),
            Self::Data => plain(&[5, 5, 5, 5, 12]),
            Self::DataV2 => plain(&[5, 5, 5, 5, 5, 5, 1, 12]),
            Self::Dictionary => plain(&[5, 5, 1]),
            Self::Statistics => plain(&[8, 8, 6, 6, 8, 8, 1, 1]),
            Self::Other => None,
        }
    }
}

/// Structs and lists within each other that are followed: a file's own stop at 8.
const DEEPEST: u8 = 16;

/// Bytes that know how many of them were read.
struct Counted<R> {
    inner: R,
    read: u64,
    /// Lists of flags are refused: the library takes them for empty here, and would find the end elsewhere, or never. No page's
    /// header has a list.
    no_flags: bool,
}

impl<R: Read> Counted<R> {
    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.inner.read_exact(&mut byte)?;
        self.read += 1;
        Ok(byte[0])
    }

    fn varint(&mut self) -> io::Result<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(broken())
    }

    fn pass(&mut self, count: u64) -> io::Result<()> {
        let passed = io::copy(&mut self.inner.by_ref().take(count), &mut io::sink())?;
        self.read += passed;
        if passed == count { Ok(()) } else { Err(broken()) }
    }

    /// Passes over a value of a type.
    fn skip(&mut self, kind: u8, depth: u8) -> io::Result<()> {
        match kind {
            // In lists a flag has a byte of its own; statistics have no lists of flags.
            1 | 2 => Ok(()),
            3 => self.pass(1),
            4..=6 => self.varint().map(drop),
            7 => self.pass(8),
            8 => {
                let length = self.varint()?;
                self.pass(length)
            }
            9 | 10 if depth < DEEPEST => {
                let head = self.byte()?;
                if self.no_flags && head & 15 < 3 {
                    return Err(broken());
                }
                let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                for _ in 0..count {
                    self.skip((head & 15).max(3), depth + 1)?;
                }
                Ok(())
            }
            12 if depth < DEEPEST => self.rest(Of::Other, depth + 1).map(drop),
            _ => Err(broken()),
        }
    }

    /// Reads a struct to its end: of a page's header, the sizes.
    fn rest(&mut self, of: Of, depth: u8) -> io::Result<Sizes> {
        let (mut sizes, mut id) = (Sizes::default(), 0u64);
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(sizes);
            }
            id = match head >> 4 {
                0 => unzigzag(self.varint()?).unsigned_abs(),
                step => id.saturating_add(step.into()),
            };
            let kind = head & 15;
            let within = match of.field(id) {
                Some((expected, _)) if expected != kind && (expected, kind) != (1, 2) => return Err(broken()),
                Some((_, within)) => within,
                None => Of::Other,
            };
            match (of, id) {
                (Of::Page, 2) => sizes.unpacked = unzigzag(self.varint()?),
                (Of::Page, 3) => sizes.packed = unzigzag(self.varint()?),
                (Of::Dictionary, 1) => sizes.values = unzigzag(self.varint()?),
                _ if within != Of::Other => {
                    let inner = self.rest(within, depth + 1)?;
                    sizes.values = sizes.values.max(inner.values);
                }
                _ => self.skip(kind, depth)?,
            }
        }
    }
}

fn unzigzag(n: u64) -> i64 {
    (n >> 1).cast_signed() ^ -(n & 1).cast_signed()
}

fn broken() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "what it says does not fit into it")
}

/// Reads a header: its sizes and its own length in bytes.
pub(super) fn header(bytes: impl Read) -> io::Result<(Sizes, u64)> {
    let mut bytes = Counted { inner: bytes, read: 0, no_flags: true };
    let sizes = bytes.rest(Of::Page, 0)?;
    Ok((sizes, bytes.read))
}

/// Passes over a file's footer: each list must have as many elements as it says. The library believes a list of 2^31 flags
/// that takes five bytes.
pub(super) fn footer(bytes: &[u8]) -> io::Result<()> {
    Counted { inner: bytes, read: 0, no_flags: false }.rest(Of::Other, 0).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_tells_sizes_and_its_length() {
        // type 0, unpacked 300, packed 20, a data page header (5) with four numbers and statistics with two binaries.
        let bytes = [
            0x15, 0, 0x15, 0xd8, 4, 0x15, 40, 0x2c, 0x15, 8, 0x15, 0, 0x15, 6, 0x15, 6, 0x1c, 0x18, 2, 1, 2, 0x18, 1,
            9, 0, 0, 0, 0xff,
        ];
        assert_eq!(header(&bytes[..]).unwrap(), (Sizes { unpacked: 300, packed: 20, values: 0 }, 27));
        for length in 0..27 {
            assert!(header(&bytes[..length]).is_err(), "{length}");
        }
        // A field nobody knows (20) is passed over; a list of flags in it the library sees in another way.
        assert!(header(&[0x09, 40, 0x35, 2, 4, 6, 0][..]).is_ok());
        for kind in 0..3 {
            assert!(header(&[0x09, 40, 0x30 | kind, 2, 4, 6, 0][..]).is_err());
        }
        // What is known has its type: a list for a size, a struct for the least value of a data page's statistics.
        assert!(header(&[0x19, 0x35, 2, 4, 6, 0][..]).is_err());
        let least = |kind: u8| [0x5c, 0x5c, 0x60 | kind, 0, 0, 0, 0];
        assert!(header(&least(8)[..]).is_ok() && header(&least(12)[..]).is_err());
        // A struct in a struct without end, a list of 2^63.
        assert!(header(&[0x1c; 100][..]).is_err());
        assert!(header(&[0x19, 0xf5, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f][..]).is_err());
    }

    #[test]
    fn a_dictionary_tells_its_values() {
        // type 2, unpacked 80, packed 20, a dictionary (7) of 10 values, plain, sorted.
        let bytes = [0x15, 4, 0x15, 0xa0, 1, 0x15, 40, 0x4c, 0x15, 20, 0x15, 0, 0x11, 0, 0, 0xff];
        let (sizes, length) = header(&bytes[..]).unwrap();
        assert_eq!((sizes, length), (Sizes { unpacked: 80, packed: 20, values: 10 }, 15));
        assert!(sizes.are_possible(Compression::UNCOMPRESSED));
        assert!(!Sizes { values: 641, ..sizes }.are_possible(Compression::UNCOMPRESSED));
    }

    #[test]
    fn a_footer_has_all_elements_of_its_lists() {
        // A list of three flags, and one of 2^31 - 1.
        assert!(footer(&[0x19, 0x31, 1, 2, 1, 0]).is_ok());
        // Lists in lists without end.
        assert!(footer(&[0x19; 1000]).is_err());
        assert!(footer(&[0x19, 0xf1, 0xff, 0xff, 0xff, 0xff, 0x07, 1, 2, 1, 0]).is_err());
    }

    #[test]
    fn growth_has_bounds_where_the_packing_has() {
        let sizes = |unpacked, packed| Sizes { unpacked, packed, values: 0 };
        assert!(sizes(21_000, 1000).are_possible(Compression::SNAPPY));
        assert!(!sizes(1 << 31, 1000).are_possible(Compression::SNAPPY));
        assert!(sizes(250_000, 1000).are_possible(Compression::LZ4_RAW));
        assert!(!sizes(1 << 31, 1000).are_possible(Compression::LZ4_RAW));
        assert!(sizes(1 << 31, 1000).are_possible(Compression::UNCOMPRESSED));
    }
}
