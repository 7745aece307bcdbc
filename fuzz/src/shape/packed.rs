//! gzip, xz, zstd and bzip2: taken off, and put on again with their own checksums.

use fastrand::Rng;
use std::io::{Read, Write};

/// A way of packing.
#[derive(Clone, Copy)]
pub(super) enum Packing {
    Gzip,
    Xz,
    Zstd,
    Bzip2,
}

/// What is inside, `most` bytes at the most; `None` where it is not packed, or not whole.
pub(super) fn unpack(input: &[u8], most: usize) -> Option<(Vec<u8>, Packing)> {
    let packing = match input {
        [0x1f, 0x8b, ..] => Packing::Gzip,
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Packing::Xz,
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Packing::Zstd,
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => Packing::Bzip2,
        _ => return None,
    };
    let mut out = Vec::new();
    let limit = most as u64;
    match packing {
        Packing::Gzip => flate2::read::MultiGzDecoder::new(input).take(limit).read_to_end(&mut out),
        Packing::Xz => {
            let stream = liblzma::stream::Stream::new_stream_decoder(1 << 26, 0).ok()?;
            liblzma::read::XzDecoder::new_stream(input, stream).take(limit).read_to_end(&mut out)
        }
        Packing::Zstd => zstd::Decoder::new(input).ok()?.take(limit).read_to_end(&mut out),
        Packing::Bzip2 => bzip2::read::MultiBzDecoder::new(input).take(limit).read_to_end(&mut out),
    }
    .ok()?;
    Some((out, packing))
}

/// Packed as before or in any way, as one stream or two in a row.
pub(super) fn pack(inside: &[u8], as_before: Option<Packing>, rng: &mut Rng) -> Option<Vec<u8>> {
    let any = [Packing::Gzip, Packing::Xz, Packing::Zstd, Packing::Bzip2][rng.usize(..4)];
    let packing = as_before.unwrap_or(any);
    let (first, second) = inside.split_at(if rng.u8(..8) == 0 { rng.usize(..=inside.len()) } else { inside.len() });
    let mut out = one(first, packing, rng)?;
    if !second.is_empty() {
        out.extend(one(second, packing, rng)?);
    }
    Some(out)
}

/// Packed as one frame of zstd.
pub(super) fn zstd(inside: &[u8]) -> Option<Vec<u8>> {
    zstd::encode_all(inside, 1).ok()
}

fn one(inside: &[u8], packing: Packing, rng: &mut Rng) -> Option<Vec<u8>> {
    let level = rng.u32(0..4);
    match packing {
        Packing::Gzip => {
            let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(level));
            packer.write_all(inside).ok()?;
            packer.finish().ok()
        }
        Packing::Xz => {
            let mut packer = liblzma::write::XzEncoder::new(Vec::new(), 0);
            packer.write_all(inside).ok()?;
            packer.finish().ok()
        }
        Packing::Zstd => {
            let mut packer = zstd::Encoder::new(Vec::new(), 1).ok()?;
            packer.include_checksum(rng.bool()).ok()?;
            packer.write_all(inside).ok()?;
            packer.finish().ok()
        }
        Packing::Bzip2 => {
            let mut packer = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
            packer.write_all(inside).ok()?;
            packer.finish().ok()
        }
    }
}
