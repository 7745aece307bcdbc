//! Formats of records of one length, of messages behind their lengths, and the spool of a recorded program: a record is changed,
//! put in, or taken out as a whole.

use super::{bytes, number};
use fastrand::Rng;

/// The spool (`capture/spool.h`): bytes of its header and of a chunk's head, and of a record.
const SPOOL: &[u8; 8] = b"ORRSPOOL";
const SPOOL_HEADER: usize = 65_536;
const SPOOL_HEAD: usize = 64;
const SPOOL_RECORD: usize = 16;
const SPOOL_CODES: u64 = 12;

/// Lengths of the records of `dinero`, `drmemtrace`, `champsim` and `cloudsuite`.
const LENGTHS: [usize; 4] = [8, 12, 64, 96];

/// The input with a record changed; `None` where it looks like text.
pub(super) fn change(input: &[u8], rng: &mut Rng) -> Option<Vec<u8>> {
    if input.starts_with(SPOOL) {
        return Some(spool(input, rng));
    }
    if let Some(messages) = input.strip_prefix(b"gem5") {
        return gem5(messages, rng);
    }
    if input.iter().take(256).all(|&b| b == b'\t' || b == b'\n' || b == b'\r' || (32..127).contains(&b)) {
        return None;
    }
    let length = LENGTHS[rng.usize(..LENGTHS.len())];
    let (whole, rest) = input.split_at(input.len() / length * length);
    let mut records: Vec<Vec<u8>> = whole.chunks(length).map(<[u8]>::to_vec).collect();
    one(&mut records, rng, |record, rng| {
        let width = [1, 2, 4, 8][rng.usize(..4)];
        let at = rng.usize(..length / width) * width;
        let value = number(rng).to_le_bytes();
        let end = record.len().min(at + width);
        record[at..end].copy_from_slice(&value[..end - at]);
    });
    Some([records.concat(), rest.to_vec()].concat())
}

/// Changes, repeats, takes out or moves one of the records.
fn one(records: &mut Vec<Vec<u8>>, rng: &mut Rng, change: impl FnOnce(&mut Vec<u8>, &mut Rng)) {
    if records.is_empty() {
        return;
    }
    let at = rng.usize(..records.len());
    match rng.u8(..8) {
        0 => records.insert(at, records[at].clone()),
        1 => drop(records.remove(at)),
        2 => records.swap(at, 0),
        _ => change(&mut records[at], rng),
    }
}

fn gem5(mut rest: &[u8], rng: &mut Rng) -> Option<Vec<u8>> {
    let mut messages = Vec::new();
    while let Some((length, used)) = varint(rest) {
        let Some(message) = rest.get(used..).and_then(|rest| rest.get(..usize::try_from(length).ok()?)) else { break };
        messages.push(message.to_vec());
        rest = &rest[used + message.len()..];
    }
    one(&mut messages, rng, |message, rng| *message = bytes(message, rng));
    let mut out = b"gem5".to_vec();
    for message in messages {
        let mut length = message.len();
        while length > 127 {
            out.push(length as u8 | 128);
            length >>= 7;
        }
        out.push(length as u8);
        out.extend(message);
    }
    out.extend_from_slice(rest);
    Some(out)
}

fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0;
    for (n, byte) in bytes.iter().take(9).enumerate() {
        value |= u64::from(byte & 127) << (7 * n);
        if *byte < 128 {
            return Some((value, n + 1));
        }
    }
    None
}

/// A spool of one chunk with records in it.
pub(super) fn made_spool(rng: &mut Rng) -> Vec<u8> {
    let text = b"555555554000-555555556000 r-xp 00001000 08:01 123 /bin/true\nexe /bin/true\noutput /tmp/true.orrery\n";
    let mut out = SPOOL.to_vec();
    out.extend([1, SPOOL_HEADER as u32].map(u32::to_le_bytes).concat());
    // Bytes of a chunk, chunks, lost records, fault and end, process, bytes of text.
    let numbers = [1 << 20, 1, 0, (rng.u64(..2)) << 32, 1 << 40, text.len() as u64];
    out.extend(numbers.map(u64::to_le_bytes).concat());
    out.extend_from_slice(text);
    out.resize(SPOOL_HEADER, 0);
    let records = rng.usize(1..40);
    let head = [(SPOOL_HEAD / SPOOL_RECORD + records) as u64, 0, number(rng), 0x4b4e_5548_4352_4f21, 0, 0, 0, 0];
    out.extend(head.map(u64::to_le_bytes).concat());
    for _ in 0..records {
        out.extend(record(rng));
    }
    out
}

/// A reference, or a word of another kind.
fn record(rng: &mut Rng) -> Vec<u8> {
    let kind = rng.u64(..4) << 62;
    let code = if kind == 0 { rng.u64(..SPOOL_CODES) << 56 } else { rng.u64(..64) << 56 };
    [kind | code | number(rng) & ((1 << 56) - 1), number(rng)].map(u64::to_le_bytes).concat()
}

fn spool(input: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut out = input.to_vec();
    let start = SPOOL_HEADER + SPOOL_HEAD;
    if rng.u8(..8) == 0 || out.len() < start + SPOOL_RECORD {
        // The header: its numbers, or the words behind them.
        let at = if rng.bool() { rng.usize(..8) * 8 } else { rng.usize(64..512) };
        let value = number(rng).to_le_bytes();
        let end = out.len().min(at + 8);
        if at < end {
            out[at..end].copy_from_slice(&value[..end - at]);
        }
        return out;
    }
    for _ in 0..rng.usize(1..5) {
        let count = (out.len() - start) / SPOOL_RECORD;
        let at = start + rng.usize(..=count.min(60)) * SPOOL_RECORD;
        let end = out.len().min(at + SPOOL_RECORD);
        let replaced = if rng.bool() { at..end } else { at..at };
        out.splice(replaced, record(rng));
    }
    // As many slots as are there.
    let slots = ((out.len() - SPOOL_HEADER) / SPOOL_RECORD) as u64;
    out[SPOOL_HEADER..SPOOL_HEADER + 8].copy_from_slice(&slots.to_le_bytes());
    out
}
