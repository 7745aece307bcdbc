//! Archives: entries taken apart by their local headers, and written again with right lengths and checksums.

use fastrand::Rng;
use flate2::Crc;
use std::io::{Read, Write};

/// An entry, unpacked.
pub(super) struct Entry {
    name: Vec<u8>,
    pub(super) bytes: Vec<u8>,
}

/// Bytes of all that is unpacked.
const MOST: u64 = 1 << 18;

fn u16_at(bytes: &[u8], at: usize) -> Option<usize> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?).into())
}

fn u32_at(bytes: &[u8], at: usize) -> Option<usize> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize)
}

/// The entries; `None` where it is no archive, or has none that is whole.
pub(super) fn entries(input: &[u8]) -> Option<Vec<Entry>> {
    let (mut at, mut out) = (0, Vec::new());
    while let Some(rest) = input.get(at..)
        && rest.starts_with(b"PK\x03\x04")
        && let Some((entry, length)) = entry(rest)
    {
        out.push(entry);
        at += length;
    }
    (!out.is_empty()).then_some(out)
}

/// The first entry, and the bytes that it takes.
fn entry(input: &[u8]) -> Option<(Entry, usize)> {
    let (flags, method, packed) = (u16_at(input, 6)?, u16_at(input, 8)?, u32_at(input, 18)?);
    let (name, extra) = (u16_at(input, 26)?, u16_at(input, 28)?);
    let data = input.get(30 + name + extra..)?;
    let (bytes, used) = match method {
        8 => {
            let mut decoder = flate2::bufread::DeflateDecoder::new(data);
            let mut bytes = Vec::new();
            decoder.by_ref().take(MOST).read_to_end(&mut bytes).ok()?;
            let used = decoder.total_in();
            (bytes, usize::try_from(used).ok()?)
        }
        0 if flags & 8 == 0 => (data.get(..packed)?.to_vec(), packed),
        _ => return None,
    };
    let mut end = 30 + name + extra + used;
    if flags & 8 != 0 {
        let rest = input.get(end..)?;
        let signed = if rest.starts_with(b"PK\x07\x08") { 4 } else { 0 };
        end += signed + if rest.get(signed + 12..).is_some_and(|next| next.starts_with(b"PK")) { 12 } else { 20 };
    }
    Some((Entry { name: input.get(30..30 + name)?.to_vec(), bytes }, end))
}

/// An archive of the entries: deflated or stored, with lengths before or behind the data, now and then one twice or none.
pub(super) fn archive(mut entries: Vec<Entry>, rng: &mut Rng) -> Vec<u8> {
    match rng.u8(..16) {
        0 => {
            let n = rng.usize(..entries.len());
            let again = Entry { name: entries[n].name.clone(), bytes: entries[n].bytes.clone() };
            entries.insert(n, again);
        }
        1 if entries.len() > 1 => drop(entries.remove(rng.usize(..entries.len()))),
        _ => {}
    }
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for Entry { name, bytes } in &entries {
        let (deflated, behind) = (rng.u8(..4) > 0, rng.u8(..4) == 0);
        let mut crc = Crc::new();
        crc.update(bytes);
        let data = if deflated {
            let mut packer = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
            packer.write_all(bytes).and_then(|()| packer.finish()).unwrap_or_default()
        } else {
            bytes.clone()
        };
        let behind = behind && deflated;
        let sums = [crc.sum(), data.len() as u32, bytes.len() as u32].map(u32::to_le_bytes).concat();
        let start = out.len() as u32;
        let common = |known: bool| {
            let mut head = vec![20, 0, if behind { 8 } else { 0 }, 0, if deflated { 8 } else { 0 }, 0, 0, 0, 0, 0];
            head.extend_from_slice(if known { &sums } else { &[0; 12] });
            head.extend_from_slice(&(name.len() as u16).to_le_bytes());
            head.extend_from_slice(&[0, 0]);
            head
        };
        out.extend_from_slice(b"PK\x03\x04");
        out.extend(common(!behind));
        out.extend_from_slice(name);
        out.extend_from_slice(&data);
        if behind {
            out.extend_from_slice(b"PK\x07\x08");
            out.extend_from_slice(&sums);
        }
        directory.extend_from_slice(b"PK\x01\x02\x14\0");
        directory.extend(common(true));
        directory.extend_from_slice(&[0; 10]);
        directory.extend_from_slice(&start.to_le_bytes());
        directory.extend_from_slice(name);
    }
    let (start, length) = (out.len() as u32, directory.len() as u32);
    out.extend(directory);
    out.extend_from_slice(b"PK\x05\x06\0\0\0\0");
    out.extend([entries.len() as u16; 2].map(u16::to_le_bytes).concat());
    out.extend([length, start].map(u32::to_le_bytes).concat());
    out.extend_from_slice(&[0, 0]);
    out
}
