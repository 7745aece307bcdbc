//! Names for bytes of memory.

use super::studio::Studio;
use crate::reference::Region;
use crate::units::{Addr, ByteRange};

/// The elements of a region that hold the bytes from `first` to `last`: `A[3][4]`, or `A[3][4] … A[3][7]`.
pub(super) fn of_region(region: &Region, first: u64, last: u64) -> String {
    if last - first < u64::from(region.elem_bytes.max(1)) {
        return region.element_name(first);
    }
    format!("{} … {}", region.element_name(first), region.element_name(last))
}

/// What some bytes are at reference `tick`, and their region; bytes of no region are told by their address.
pub(super) fn bytes(studio: &Studio, bytes: ByteRange, tick: u64) -> (String, Option<usize>) {
    let of = |addr| studio.timeline().region_near(addr, tick);
    // A line may begin before its region.
    let Some(index) = of(bytes.first).or_else(|| of(bytes.last)) else {
        return (Addr(bytes.first).to_string(), None);
    };
    let Some(region) = studio.tables().regions.get(index) else { return (Addr(bytes.first).to_string(), None) };
    let first = bytes.first.max(region.base);
    let last = bytes.last.min(region.end().saturating_sub(1)).max(first);
    (of_region(region, first, last), Some(index))
}
