//! The spool of a recorded program (`capture/spool.h`, version 2): a header, and chunks of threads' records. Packed, for it is
//! mostly holes: so that one of several chunks is a small input.

use super::number;
use fastrand::Rng;

const MAGIC: &[u8; 8] = b"ORRSPOOL";
const VERSION: u32 = 2;
const HEADER: usize = 65_536;
const CHUNK: usize = 1 << 20;
const CHUNK_MAGIC: u64 = 0x4b4e_5548_4352_4f21;
/// Slots of a chunk, those of them that are its head, and bytes of each.
const SLOTS: u64 = 65_536;
const HEAD: usize = 4;
const SLOT: usize = 16;
/// Each slot whose number is a multiple of this holds a stamp.
const STAMP: usize = 256;
/// Codes of records that are no references, and one that nobody knows.
const CODES: u64 = 15;

const MAPS: &str =
    "555555554000-555555556000 r-xp 00001000 08:01 123 /bin/true\nexe /bin/true\noutput /tmp/true.orrery\n";

/// A spool of up to three chunks of up to three threads, packed.
pub(super) fn made(rng: &mut Rng) -> Option<Vec<u8>> {
    let chunks = rng.usize(1..4);
    let mut out = MAGIC.to_vec();
    out.extend([VERSION, HEADER as u32].map(u32::to_le_bytes).concat());
    // Bytes of a chunk, chunks, lost records, fault and end, process, bytes of text.
    let numbers = [CHUNK as u64, chunks as u64, rng.u64(..3) / 2, rng.u64(..2) << 32, 4711, MAPS.len() as u64];
    out.extend(numbers.map(u64::to_le_bytes).concat());
    out.extend_from_slice(MAPS.as_bytes());
    out.resize(HEADER, 0);
    for n in 0..chunks {
        let (whole, thread, at) = (rng.u64(..2) * SLOTS, rng.u64(..3), rng.u64(..1000) + 100 * n as u64);
        out.extend([whole, thread, at, CHUNK_MAGIC, 0, 0, 0, 0].map(u64::to_le_bytes).concat());
        let records = if rng.u8(..4) > 0 { rng.usize(1..60) } else { rng.usize(200..1000) };
        for slot in HEAD..HEAD + records {
            if slot % STAMP == 0 {
                out.extend([1 << 56, at + slot as u64 + rng.u64(..STAMP as u64)].map(u64::to_le_bytes).concat());
            } else {
                out.extend(record(rng));
            }
        }
        // The last chunk may end anywhere.
        if n + 1 < chunks || rng.bool() {
            out.resize(HEADER + (n + 1) * CHUNK, 0);
        }
    }
    super::packed::zstd(&out)
}

/// A reference, or a word of another kind.
fn record(rng: &mut Rng) -> Vec<u8> {
    // Two of three are references.
    let kind = if rng.u8(..3) > 0 { rng.u64(1..4) } else { 0 };
    let code = if kind == 0 { rng.u64(..CODES) } else { [0, 3, 7, rng.u64(..64)][rng.usize(..4)] };
    // Blocks and names have small numbers in their low bits, or small lengths behind.
    let low = if kind == 0 && rng.bool() { rng.u64(..9) } else { number(rng) & ((1 << 56) - 1) };
    let second = if rng.bool() { rng.u64(..64) } else { number(rng) };
    [kind << 62 | code << 56 | low, second].map(u64::to_le_bytes).concat()
}

/// The spool with something changed; `None` where it is none.
pub(super) fn change(input: &[u8], rng: &mut Rng) -> Option<Vec<u8>> {
    input.strip_prefix(MAGIC)?;
    let mut out = input.to_vec();
    let chunks = out.len().saturating_sub(HEADER).div_ceil(CHUNK);
    if chunks == 0 || rng.u8(..16) == 0 {
        // The header: its numbers behind those that must be so, or the words behind them.
        let at = if rng.bool() { rng.usize(3..8) * 8 } else { rng.usize(64..1024) };
        put(&mut out, at, &number(rng).to_le_bytes());
        return Some(out);
    }
    for _ in 0..rng.usize(1..5) {
        let start = HEADER + rng.usize(..chunks) * CHUNK;
        let slots = out.len().min(start + CHUNK).saturating_sub(start) / SLOT;
        // Up to the first that is not filled, and a few more.
        let filled = (HEAD..slots).find(|n| out[start + n * SLOT..][..8] == [0; 8]).unwrap_or(slots);
        let slot = rng.usize(HEAD..=filled.max(HEAD)) + if rng.u8(..16) == 0 { rng.usize(..300) } else { 0 };
        let at = start + slot * SLOT;
        match rng.u8(..8) {
            // The chunk's head: whole, thread, time.
            0 => {
                let value = [rng.u64(..2) * SLOTS, rng.u64(..4), number(rng)];
                let which = rng.usize(..3);
                put(&mut out, start + which * 8, &value[which].to_le_bytes());
            }
            1 => put(&mut out, at, &[0; SLOT]),
            2 => put(&mut out, at + 8 * rng.usize(..2), &number(rng).to_le_bytes()),
            // Another of the same spool.
            3 => {
                let from = start + rng.usize(HEAD..=filled.max(HEAD)) * SLOT;
                let copy = out.get(from..from + SLOT).map(<[u8]>::to_vec).unwrap_or_default();
                put(&mut out, at, &copy);
            }
            // All later ones of the chunk move on by one.
            4 if start + CHUNK <= out.len() => {
                out.splice(at.min(start + CHUNK)..at.min(start + CHUNK), record(rng));
                let end = (start + CHUNK).min(out.len() - SLOT);
                drop(out.drain(end..end + SLOT));
            }
            _ => put(&mut out, at, &record(rng)),
        }
    }
    if rng.u8(..64) == 0 {
        out.truncate(rng.usize(HEADER..=out.len()));
    }
    Some(out)
}

/// Puts bytes in place of others; past the end they make it longer, a little.
fn put(out: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    if at > out.len() + STAMP * SLOT {
        return;
    }
    out.resize(out.len().max(at + bytes.len()), 0);
    out[at..at + bytes.len()].copy_from_slice(bytes);
}
