//! Changes that keep the rest of an input valid.
//!
//! An input is a nest: packed bytes, in which an archive, in which records. Each layer that is known is taken off, the inside is
//! changed, and the layer is put on again with right lengths and checksums. So most inputs get past the checks at the door.

mod arrow;
mod lines;
mod native;
mod packed;
mod parquet;
mod records;
mod spool;
mod thrift;
mod zip;

use fastrand::Rng;

/// Numbers at which readers change their minds.
const EDGES: [u64; 24] = [
    0,
    1,
    2,
    3,
    4,
    7,
    8,
    15,
    16,
    63,
    64,
    127,
    128,
    255,
    256,
    4095,
    65_535,
    65_536,
    (1 << 20) + 1,
    (1 << 31) - 1,
    u32::MAX as u64,
    1 << 47,
    i64::MAX as u64,
    u64::MAX,
];

/// A number that a column of this name may hold.
pub(crate) fn fitting(name: &str, rng: &mut Rng) -> u64 {
    match name {
        "address" | "addr" => number(rng) >> 8,
        "size" | "bytes" => rng.u64(1..65),
        "kind" | "is_write" | "op" | "rw" => rng.u64(..3),
        "core" | "cpu" | "thread" | "lane" | "lane_id" => rng.u64(..4),
        _ => number(rng) >> 1,
    }
}

/// A word that a column of this name may hold.
pub(crate) fn fitting_word(name: &str, rng: &mut Rng) -> String {
    match name {
        "kind" | "is_write" | "op" | "rw" => ["R", "w", "store", "modify", "Load"][rng.usize(..5)].to_owned(),
        "address" | "addr" | "pc" | "ip" => format!("0x{:x}", fitting(name, rng)),
        _ => fitting(name, rng).to_string(),
    }
}

/// A number: often one of [`EDGES`] or next to one, else of any length.
pub(crate) fn number(rng: &mut Rng) -> u64 {
    let edge = EDGES[rng.usize(..EDGES.len())];
    match rng.u8(..4) {
        0 => edge,
        1 => edge.wrapping_add(rng.u64(..5)).wrapping_sub(2),
        2 => rng.u64(..) >> rng.u32(..64),
        _ => 0x1000 + 8 * rng.u64(..512),
    }
}

/// An input of the format called `format` with something changed; `None` where no shape of it is known. May be larger than
/// `most`.
pub(crate) fn change(input: &[u8], most: usize, format: &str, rng: &mut Rng) -> Option<Vec<u8>> {
    // Now and then something made anew, or packed once more.
    match (rng.u8(..16), format) {
        (0..2, "orrery") => return native::made(rng),
        (2..6, "orrery") => return native::change(input, rng),
        (0..6, "parquet") => return Some(parquet::made(rng)),
        (0..6, "arrow") => return Some(arrow::made(rng)),
        (0..2, "capture") => return spool::made(rng),
        // Packed twice is refused.
        (15, _) if packed::unpack(input, UNPACKED).is_none() => return packed::pack(input, None, rng),
        _ => {}
    }
    within(input, most, format, rng, 0)
}

/// Layers within each other that are followed.
const DEEPEST: u8 = 4;

/// Bytes that are unpacked at most: a spool of four chunks.
const UNPACKED: usize = 5 << 20;

fn within(input: &[u8], most: usize, format: &str, rng: &mut Rng, depth: u8) -> Option<Vec<u8>> {
    if depth > DEEPEST {
        return None;
    }
    if let Some((inside, packing)) = packed::unpack(input, UNPACKED) {
        let inside = within(&inside, most * 4, format, rng, depth + 1).unwrap_or_else(|| bytes(&inside, rng));
        return packed::pack(&inside, Some(packing), rng);
    }
    if let Some(mut entries) = zip::entries(input) {
        let n = rng.usize(..entries.len());
        let inside = within(&entries[n].bytes, most, format, rng, depth + 1);
        entries[n].bytes = inside.unwrap_or_else(|| bytes(&entries[n].bytes, rng));
        return Some(zip::archive(entries, rng));
    }
    let known = parquet::change(input, rng).or_else(|| arrow::change(input, rng)).or_else(|| spool::change(input, rng));
    known.or_else(|| records::change(input, format, rng)).or_else(|| lines::change(input, rng))
}

/// A few bytes changed, put in, or taken out.
fn bytes(input: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut out = input.to_vec();
    for _ in 0..rng.usize(1..4) {
        let at = rng.usize(..=out.len());
        match rng.u8(..4) {
            0 if at < out.len() => out[at] = rng.u8(..),
            1 if at < out.len() => out[at] ^= 1 << rng.u8(..8),
            2 if at < out.len() => drop(out.remove(at)),
            _ => {
                let value = number(rng).to_le_bytes();
                let length = [1, 2, 4, 8][rng.usize(..4)];
                let end = out.len().min(at + length);
                let replaced = if rng.bool() { at..end } else { at..at };
                out.splice(replaced, value[..length].iter().copied());
            }
        }
    }
    out
}
