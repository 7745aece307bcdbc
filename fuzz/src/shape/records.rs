//! Formats of records of one length, and of messages behind their lengths: a record is changed, put in, or taken out as a whole.

use super::{bytes, number};
use fastrand::Rng;

/// Bytes of a record, where a format has only one kind.
fn length(format: &str, rng: &mut Rng) -> usize {
    match format {
        "dinero" => 8,
        "drmemtrace" => 12,
        "champsim" => 64,
        "cloudsuite" => 96,
        _ => [8, 12, 64, 96][rng.usize(..4)],
    }
}

/// The input with a record changed; `None` where it looks like text.
pub(super) fn change(input: &[u8], format: &str, rng: &mut Rng) -> Option<Vec<u8>> {
    if let Some(messages) = input.strip_prefix(b"gem5") {
        return gem5(messages, rng);
    }
    if input.iter().take(256).all(|&b| b == b'\t' || b == b'\n' || b == b'\r' || (32..127).contains(&b)) {
        return None;
    }
    let length = length(format, rng);
    let (whole, rest) = input.split_at(input.len() / length * length);
    let mut records: Vec<Vec<u8>> = whole.chunks(length).map(<[u8]>::to_vec).collect();
    one(&mut records, rng, |record, rng| {
        let width = [1, 2, 4, 8][rng.usize(..4)];
        let at = rng.usize(..length / width) * width;
        // Types of a byte or two are small.
        let value = if width < 4 && rng.bool() { rng.u64(..50) } else { number(rng) }.to_le_bytes();
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
