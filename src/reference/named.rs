//! Bytes by the names that people write: `A[3][4]`, `A`, `A + 16`, `0x10000fe0`.

use super::Region;
use crate::units::ByteRange;
use thiserror::Error;

/// Why words name no bytes of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NameError {
    /// No region is called so.
    #[error("no region has the name `{0}`")]
    Region(String),
    /// A region has no such element.
    #[error("there is no such element: the region is {0}")]
    Element(String),
    /// Neither a name nor an address.
    #[error(
        "expected an element such as A[3][4], a region such as A, a region and bytes such as A + 16, an address such as 0x1f00, or addresses such as 0x1f00-0x1f3f"
    )]
    Words,
}

/// The bytes of the element that is named, or that holds the address. Of a region alone it is the first element. Of several regions of
/// one name, which lived one after another, it is the first that has the element.
///
/// # Errors
/// [`NameError`].
pub fn bytes_named(regions: &[Region], words: &str) -> Result<ByteRange, NameError> {
    let words = words.trim();
    if let Some((first, last)) = words.split_once('-').and_then(|(first, last)| Some((hex(first)?, hex(last)?))) {
        return if first <= last { Ok(ByteRange { first, last }) } else { Err(NameError::Words) };
    }
    if let Some(addr) = hex(words) {
        return Ok(element_at(regions, addr));
    }
    // A name may end in brackets itself: the longest one that fits is meant.
    let mut fitting: Vec<(&Region, &str)> =
        regions.iter().filter_map(|region| Some((region, words.strip_prefix(region.name.as_str())?))).collect();
    fitting.retain(|(region, rest)| {
        !region.name.is_empty() && rest.trim_start().starts_with(['[', '+']) || rest.trim().is_empty()
    });
    fitting.sort_by_key(|(region, _)| std::cmp::Reverse(region.name.len()));
    let Some((first, _)) = fitting.first() else {
        return Err(if words.is_empty() || words.contains(char::is_control) {
            NameError::Words
        } else {
            NameError::Region(words.to_owned())
        });
    };
    let found = fitting.iter().find_map(|(region, rest)| in_region(region, rest.trim()));
    found.ok_or_else(|| NameError::Element(first.declaration()))
}

/// The words that [`bytes_named`] takes for these bytes, whatever they are called: `0x1000`, or `0x1000-0x101f` where that is no element.
#[must_use]
pub fn name_of_bytes(regions: &[Region], bytes: ByteRange) -> String {
    let ByteRange { first, last } = bytes;
    if element_at(regions, first) == bytes { format!("0x{first:x}") } else { format!("0x{first:x}-0x{last:x}") }
}

/// An address: `0x1f00`.
fn hex(words: &str) -> Option<u64> {
    let words = words.trim();
    let digits = words.strip_prefix("0x").or_else(|| words.strip_prefix("0X"))?;
    u64::from_str_radix(&digits.replace('_', ""), 16).ok()
}

/// The element that holds a byte; of a byte that no region holds, the byte.
fn element_at(regions: &[Region], addr: u64) -> ByteRange {
    let holds = |region: &&Region| (region.base..region.end()).contains(&addr);
    regions.iter().find(holds).map_or(ByteRange::new(addr, 1), |region| element(region, addr))
}

/// The element of a region that holds a byte of it; no byte past the region.
fn element(region: &Region, addr: u64) -> ByteRange {
    let bytes = u64::from(region.elem_bytes.max(1));
    let first = region.base + (addr - region.base) / bytes * bytes;
    ByteRange { first, last: first.saturating_add(bytes - 1).min(region.end().saturating_sub(1)).max(first) }
}

/// What stands after a region's name: nothing, indices, or bytes from its start.
fn in_region(region: &Region, rest: &str) -> Option<ByteRange> {
    if let Some(offset) = rest.strip_prefix('+') {
        let digits = offset.trim().trim_end_matches("bytes").trim_end_matches("byte").trim();
        let offset: u64 = digits.replace([',', '_'], "").parse().ok()?;
        return (offset < region.bytes).then(|| element(region, region.base + offset));
    }
    if rest.is_empty() {
        return Some(element(region, region.base));
    }
    let indices: Option<Vec<u64>> =
        rest.strip_prefix('[')?.strip_suffix(']')?.split("][").map(|index| index.trim().parse().ok()).collect();
    let indices = indices?;
    // The last element of a row of them may be cut off by the region's end.
    let cut = |&index: &u64| index.checked_mul(u64::from(region.elem_bytes.max(1)))?.checked_add(region.base);
    let addr = match (region.layout().ok()?.address(&indices), indices.as_slice()) {
        (None, [index]) if region.shape.is_empty() && !region.is_strided() => cut(index)?,
        (addr, _) => addr?,
    };
    (addr < region.end()).then(|| element(region, addr))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn regions() -> Vec<Region> {
        let shaped = |name: &str, base, shape: &[u64]| Region {
            shape: shape.into(),
            ..Region::new(name, base, 8 * shape.iter().product::<u64>())
        };
        let packed = Region { elem_bytes: 24, ..Region::new("list", 0x9000, 100) };
        vec![shaped("A", 0x1000, &[16, 16]), shaped("AB", 0x2000, &[4]), shaped("v[2]", 0x3000, &[8]), packed]
    }

    #[test]
    fn elements_regions_bytes_and_addresses_are_found() {
        let regions = regions();
        for (words, first, bytes) in [
            ("A[0][0]", 0x1000, 8),
            (" A[3][4] ", 0x1000 + 8 * (3 * 16 + 4), 8),
            ("A[ 1 ][ 2 ]", 0x1000 + 8 * 18, 8),
            ("A", 0x1000, 8),
            ("AB[3]", 0x2018, 8),
            ("v[2][5]", 0x3028, 8),
            ("v[2]", 0x3000, 8),
            ("A + 16 bytes", 0x1010, 8),
            ("A+1,001", 0x1000 + 1000, 8),
            ("list + 99", 0x9060, 4),
            ("0x1013", 0x1010, 8),
            ("0x1000-0x101f", 0x1000, 32),
            ("0x7fff_0000", 0x7fff_0000, 1),
            ("0xffffffffffffffff", u64::MAX, 1),
        ] {
            assert_eq!(bytes_named(&regions, words), Ok(ByteRange::new(first, bytes)), "{words}");
        }
    }

    #[test]
    fn every_element_is_found_by_its_own_name() {
        for region in &regions() {
            for addr in (region.base..region.end()).step_by(8) {
                let name = region.element_name(addr);
                let found = bytes_named(&regions(), &name).expect("its own name");
                assert!((found.first..=found.last).contains(&addr), "{name}: {found:?}");
            }
        }
    }

    #[test]
    fn bytes_are_found_by_their_addresses() {
        for bytes in
            [ByteRange::new(0x1008, 8), ByteRange::new(0x1008, 4), ByteRange::new(0x1ff8, 64), ByteRange::new(0, 1)]
        {
            let words = name_of_bytes(&regions(), bytes);
            assert_eq!(bytes_named(&regions(), &words), Ok(bytes), "{words}");
        }
        assert_eq!(bytes_named(&regions(), "0x20-0x10"), Err(NameError::Words));
    }

    #[test]
    fn what_names_nothing_is_refused_with_what_there_is() {
        let regions = regions();
        assert_eq!(bytes_named(&regions, "A[16][16]"), Err(NameError::Element("A[16][16]".into())));
        assert_eq!(bytes_named(&regions, "A[1]"), Err(NameError::Element("A[16][16]".into())));
        assert_eq!(bytes_named(&regions, "A[-1][0]"), Err(NameError::Element("A[16][16]".into())));
        assert_eq!(bytes_named(&regions, "A + 2048"), Err(NameError::Element("A[16][16]".into())));
        assert_eq!(bytes_named(&regions, "B[0]"), Err(NameError::Region("B[0]".into())));
        assert_eq!(bytes_named(&regions, "Ax"), Err(NameError::Region("Ax".into())));
        assert_eq!(bytes_named(&regions, ""), Err(NameError::Words));
        assert_eq!(bytes_named(&[], "🦀[1]"), Err(NameError::Region("🦀[1]".into())));
    }
}
