//! Regions, with as few words as a test has to say of them.

use orrery::reference::Region;

/// So many bytes of 8-byte elements, of no type and no shape, there all the time.
pub(crate) fn span(name: &str, base: u64, bytes: u64) -> Region {
    Region::new(name, base, bytes)
}

/// So many elements in a row, of no type, there all the time.
pub(crate) fn row(name: &str, base: u64, elem_bytes: u32, elements: u64) -> Region {
    Region { elem_bytes, shape: vec![elements].into(), ..span(name, base, elements * u64::from(elem_bytes)) }
}

/// A square of doubles, there all the time.
pub(crate) fn square(name: &str, base: u64, side: u64) -> Region {
    Region { elem_type: "double".into(), shape: vec![side, side].into(), ..span(name, base, side * side * 8) }
}
