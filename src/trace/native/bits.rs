//! Whole numbers in few bits, as Parquet's `Encodings.md` has them: `RLE`, the hybrid of runs and of values side by side, and
//! `DELTA_BINARY_PACKED`, differences to the number before.

/// Appends a number, seven bits a byte, the lowest first.
fn varint(mut n: u64, out: &mut Vec<u8>) {
    while n >= 0x80 {
        out.push(n.to_le_bytes()[0] | 0x80);
        n >>= 7;
    }
    out.push(n.to_le_bytes()[0]);
}

/// Appends a number near zero.
fn zigzag(n: i64, out: &mut Vec<u8>) {
    varint((n << 1 ^ n >> 63).cast_unsigned(), out);
}

/// Values packed at once: as many bits each, as many words.
const TOGETHER: usize = 64;

/// Appends indices of `width` bits, 0 to 32: runs of equal ones, and the others side by side.
pub(super) fn hybrid(indices: &[u32], width: u32, out: &mut Vec<u8>) {
    let is_run = |some: &[u32]| some.iter().fold(0, |other, index| other | (index ^ some[0])) == 0;
    let mut rest = indices;
    while let Some(&first) = rest.first() {
        let parts = rest.chunks(TOGETHER);
        let equal: usize = parts.clone().take_while(|part| part[0] == first && is_run(part)).map(<[u32]>::len).sum();
        let others: usize = if equal > 0 { 0 } else { parts.take_while(|part| !is_run(part)).map(<[u32]>::len).sum() };
        let (these, later) = rest.split_at(equal + others);
        rest = later;
        if equal > 0 {
            run(equal, first, width, out);
            continue;
        }
        // Whole eights: the last of all may have values too many.
        let eights = others.div_ceil(8);
        varint((eights as u64) << 1 | 1, out);
        let end = out.len() + eights * width as usize;
        for part in these.chunks(TOGETHER) {
            let mut values = [0; TOGETHER];
            for (value, index) in values.iter_mut().zip(part) {
                *value = u64::from(*index);
            }
            side_by_side(&values, width, out);
        }
        out.truncate(end);
    }
}

/// Appends as many times the same index.
pub(super) fn run(times: usize, index: u32, width: u32, out: &mut Vec<u8>) {
    varint((times as u64) << 1, out);
    out.extend_from_slice(&index.to_le_bytes()[..width.div_ceil(8) as usize]);
}

/// Appends values of `width` bits, 0 to 64, the lowest bits first.
#[inline(always)]
fn side_by_side(values: &[u64; TOGETHER], width: u32, out: &mut Vec<u8>) {
    let mut words = [0u64; TOGETHER];
    let width = width as usize % PACK.len();
    PACK[width](values, &mut words);
    // As many words as a value has bits.
    let words = &words[..width];
    if cfg!(target_endian = "little") {
        out.extend_from_slice(bytemuck::cast_slice(words));
    } else {
        out.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    }
}

type PackWidth = fn(&[u64; TOGETHER], &mut [u64; TOGETHER]);

/// By width: a loop whose shifts are known when it is compiled takes a third of the time.
const PACK: [PackWidth; TOGETHER + 1] = {
    macro_rules! by_width {
        ($($width:literal)*) => { [$(pack_width::<$width>),*] };
    }
    by_width!(
        0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
        33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64
    )
};

fn pack_width<const WIDTH: usize>(values: &[u64; TOGETHER], words: &mut [u64; TOGETHER]) {
    macro_rules! each {
        ($($n:literal)*) => { $(
            let (word, shift) = ($n * WIDTH / 64, $n * WIDTH % 64);
            if WIDTH > 0 {
                words[word] |= values[$n] << shift;
            }
            if shift + WIDTH > 64 {
                // What of the value did not fit.
                words[word + 1] = values[$n] >> (64 - shift);
            }
        )* };
    }
    each!(
        0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
        32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63
    );
}

/// Differences in each part of a block, which has a width of its own, and in a block.
const PART: usize = TOGETHER;
const BLOCK: usize = 4 * PART;

/// Appends addresses as differences to the one before.
pub(super) fn differences(addresses: &[u64], out: &mut Vec<u8>) {
    varint(BLOCK as u64, out);
    varint((BLOCK / PART) as u64, out);
    varint(addresses.len() as u64, out);
    zigzag(addresses.first().copied().unwrap_or(0).cast_signed(), out);
    let mut block = [0i64; BLOCK];
    for (before, after) in addresses.chunks(BLOCK).zip(addresses.get(1..).unwrap_or_default().chunks(BLOCK)) {
        let count = after.len();
        let mut least = i64::MAX;
        for ((difference, before), after) in block.iter_mut().zip(before).zip(after) {
            *difference = after.wrapping_sub(*before).cast_signed();
            least = least.min(*difference);
        }
        // The unused end of the last block is filled with the least, so that it packs to 0 bits.
        block[count..].fill(least);
        zigzag(least, out);
        let parts = block.as_chunks::<PART>().0;
        let mut above = [[0; PART]; BLOCK / PART];
        let mut widths = [0; BLOCK / PART];
        for ((above, part), width) in above.iter_mut().zip(parts).zip(&mut widths) {
            let mut all = 0;
            for (above, difference) in above.iter_mut().zip(part) {
                *above = difference.wrapping_sub(least).cast_unsigned();
                all |= *above;
            }
            *width = u64::BITS - all.leading_zeros();
        }
        out.extend(widths.map(|width| u8::try_from(width).unwrap_or(64)));
        for (part, width) in above.iter().zip(widths).take(count.div_ceil(PART)) {
            side_by_side(part, width, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_each_width_lie_side_by_side_bit_by_bit() {
        for width in 0..=64_u32 {
            let mut state = u64::from(width) + 1;
            let values = [(); TOGETHER].map(|()| {
                // Xorshift (Marsaglia 2003).
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state & u64::MAX.unbounded_shr(64 - width)
            });
            let mut out = Vec::new();
            side_by_side(&values, width, &mut out);
            assert_eq!(out.len(), 8 * width as usize);
            let bit = |n: usize| u64::from(out[n / 8] >> (n % 8) & 1);
            for (n, value) in values.iter().enumerate() {
                let from = n * width as usize;
                let read = (0..width as usize).fold(0, |read, at| read | bit(from + at) << at);
                assert_eq!(read, *value, "value {n} of {width} bits");
            }
        }
    }
}
