//! Numbers in text: sixteen hexadecimal digits at a time where a line is written as usual, and with care where it is not.

use crate::reference::{Kind, NO_LANE, Reference};
use crate::trace::native::MAX_SIZE;
use std::borrow::Cow;
use wide::{i16x8, u8x16, u16x8};

/// 0 to 15 for a hexadecimal digit, 0xff for any other byte.
pub(super) const HEX: [u8; 256] = {
    let mut table = [0xff; 256];
    let mut digit = 0u8;
    while digit < 10 {
        table[(b'0' + digit) as usize] = digit;
        digit += 1;
    }
    while digit < 16 {
        table[(b'a' + digit - 10) as usize] = digit;
        table[(b'A' + digit - 10) as usize] = digit;
        digit += 1;
    }
    table
};

/// Whether a byte is a hexadecimal digit.
pub(super) fn is_hex(byte: u8) -> bool {
    HEX[usize::from(byte)] < 16
}

/// Bytes that a line's fast path may look at.
pub(super) const WINDOW: usize = 128;

/// Sixteen bytes as hexadecimal digits, the first highest, and how many of them are digits before the first that is none.
/// All at once, in vectors that every 64-bit processor has.
#[inline]
fn leading(text: [u8; 16]) -> (u64, usize) {
    let text = u8x16::new(text);
    let figure = text - u8x16::splat(b'0');
    let letter = (text | u8x16::splat(0x20)) - u8x16::splat(b'a');
    let is_figure = figure.min(u8x16::splat(9)).simd_eq(figure);
    let is_letter = letter.min(u8x16::splat(5)).simd_eq(letter);
    let value = (figure & is_figure) | ((letter + u8x16::splat(10)) & is_letter);
    // Two digits make a byte: the first of them is its high half.
    let pairs: u16x8 = bytemuck::cast(value);
    let pairs: i16x8 = bytemuck::cast(((pairs << 4) | (pairs >> 8)) & u16x8::splat(0xff));
    let [number, _]: [u64; 2] = bytemuck::cast(u8x16::narrow_i16x8(pairs, pairs));
    (u64::from_be_bytes(number.to_ne_bytes()), (!(is_figure | is_letter).to_bitmask()).trailing_zeros() as usize)
}

/// The hexadecimal number of 1 to 15 digits at `from` in a line that `stop` ends, and where that stands. (15 digits: it
/// cannot overflow, nor can the largest size added to it.) `None` where it is something else, or close to the window's end.
#[inline]
pub(super) fn hex_until(window: &[u8; WINDOW], from: usize, stop: u8) -> Option<(u64, usize)> {
    let text = window.get(from..from + 16)?.first_chunk::<16>()?;
    let (number, length) = leading(*text);
    // No branch on the length: how long the next address is is hard to foresee.
    if length == 0 || text.get(length) != Some(&stop) {
        return None;
    }
    // What is no digit is shifted out.
    Some((number >> (64 - 4 * length), from + length))
}

/// The number of 1 to 6 digits at `from` that `stop` ends, and where that stands; `RADIX` is 10 or 16.
#[inline]
pub(super) fn short_until<const RADIX: u32>(window: &[u8; WINDOW], from: usize, stop: u8) -> Option<(u32, usize)> {
    let text = window.get(from..from + 8)?.first_chunk::<8>()?;
    let digit = |n: usize| u32::from(HEX[usize::from(text[n])]);
    if text[1] == stop && digit(0) < RADIX {
        return Some((digit(0), from + 1));
    }
    let mut value = 0;
    for (n, &byte) in text[..7].iter().enumerate() {
        if byte == stop {
            return (n > 0).then_some((value, from + n));
        }
        if digit(n) >= RADIX {
            return None;
        }
        value = RADIX * value + digit(n);
    }
    None
}

/// The decimal number of 1 to 18 digits, or the hexadecimal one after `0x`, at `from` that `stop` ends, and where that
/// stands.
#[inline]
pub(super) fn number_until(window: &[u8; WINDOW], from: usize, stop: u8) -> Option<(u64, usize)> {
    let text = window.get(from..from + 20)?.first_chunk::<20>()?;
    if text[0] == b'0' && text[1] == b'x' {
        return hex_until(window, from + 2, stop);
    }
    let mut value = 0;
    for (n, &byte) in text[..19].iter().enumerate() {
        if byte == stop {
            return (n > 0).then_some((value, from + n));
        }
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = 10 * value + u64::from(digit);
    }
    None
}

/// Why a word is no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bad {
    Missing,
    NotHex,
    NotDecimal,
    TooLong,
}

impl Bad {
    /// As a reason: `the address is not hexadecimal`.
    pub(super) fn of(self, what: &str) -> Cow<'static, str> {
        match self {
            Self::Missing => format!("no {what}"),
            Self::NotHex => format!("the {what} is not hexadecimal"),
            Self::NotDecimal => format!("the {what} is not a decimal number"),
            Self::TooLong => format!("the {what} is longer than 64 bits"),
        }
        .into()
    }
}

/// A hexadecimal number below 2^64, with or without `0x`.
pub(super) fn hex(word: &[u8]) -> Result<u64, Bad> {
    let digits = word.strip_prefix(b"0x").or(word.strip_prefix(b"0X")).unwrap_or(word);
    if digits.is_empty() {
        return Err(Bad::Missing);
    }
    let mut value = 0u64;
    for &byte in digits {
        let digit = HEX[usize::from(byte)];
        if digit > 15 {
            return Err(Bad::NotHex);
        }
        value = value.checked_mul(16).ok_or(Bad::TooLong)? | u64::from(digit);
    }
    Ok(value)
}

/// A decimal number below 2^64.
pub(super) fn decimal(word: &[u8]) -> Result<u64, Bad> {
    if word.is_empty() {
        return Err(Bad::Missing);
    }
    if !word.iter().all(u8::is_ascii_digit) {
        return Err(Bad::NotDecimal);
    }
    let add = |n: u64, byte: &u8| n.checked_mul(10)?.checked_add(u64::from(byte - b'0'));
    word.iter().try_fold(0, add).ok_or(Bad::TooLong)
}

/// Hexadecimal after `0x`, decimal otherwise.
pub(super) fn hex_or_decimal(word: &[u8]) -> Result<u64, Bad> {
    if word.starts_with(b"0x") || word.starts_with(b"0X") { hex(word) } else { decimal(word) }
}

/// A reference without pc, of core 0, if there can be one of this size there.
pub(super) fn reference(kind: Kind, addr: u64, size: u64) -> Result<Reference, Cow<'static, str>> {
    let size = match u32::try_from(size) {
        Ok(0) => return Err("a size of 0 touches nothing".into()),
        Ok(size) if size <= MAX_SIZE => size,
        _ => return Err("no instruction touches so many bytes".into()),
    };
    if addr.checked_add(u64::from(size) - 1).is_none() {
        return Err("it passes the end of the address space".into());
    }
    Ok(Reference { addr, pc: 0, size, core: 0, lane: NO_LANE, kind })
}

/// A number as a size: where it is too long for 64 bits, the largest, which [`reference`] refuses as it does any other
/// that is too large.
pub(super) fn as_size(number: Result<u64, Bad>) -> Result<u64, Cow<'static, str>> {
    match number {
        Err(Bad::TooLong) => Ok(u64::MAX),
        number => number.map_err(|bad| bad.of("size")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_digits_at_once_are_those_one_by_one() {
        for byte in 0..=255u8 {
            for place in 0..16 {
                let mut text = *b"0a9fF3C7e81bD264";
                text[place] = byte;
                let (number, length) = leading(text);
                assert_eq!(length, if is_hex(byte) { 16 } else { place }, "{byte:#x} at {place}");
                let digits = &text[..length];
                assert_eq!(
                    number.unbounded_shr(u32::BITS * 2 - 4 * u32::try_from(length).unwrap()),
                    hex(digits).unwrap_or(0)
                );
            }
        }
    }

    #[test]
    fn numbers_of_every_length_end_where_they_should() {
        for digits in 0..20usize {
            let text: String = "123456789abcdef01234".chars().take(digits).collect();
            let mut window = [b'\n'; WINDOW];
            window[3..3 + digits].copy_from_slice(text.as_bytes());
            window[3 + digits] = b',';
            let expected = (1..=15).contains(&digits).then(|| (hex(text.as_bytes()).unwrap(), 3 + digits));
            assert_eq!(hex_until(&window, 3, b','), expected, "{text}");
            assert_eq!(hex_until(&window, 3, b';'), None, "{text}");
            let text: String = "1234567".chars().take(digits).collect();
            let expected = (1..=6).contains(&digits).then(|| (text.parse().unwrap(), 3 + digits));
            if digits < 8 {
                assert_eq!(short_until::<10>(&window, 3, b','), expected, "{text}");
            }
        }
        assert_eq!(hex_until(&[b'1'; WINDOW], WINDOW - 5, b','), None);
        assert_eq!(short_until::<16>(&[b'1'; WINDOW], WINDOW - 5, b','), None);
    }
}
