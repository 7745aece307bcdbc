//! WGSL's functions of numbers, for one item: scalars in, scalars out.

use super::scalar::{as_f64, as_i128, bits, f, from_half, low, of_f64, of_i128, operation, to_half};
use naga::{BinaryOperator as B, MathFunction as M, Scalar, ScalarKind as K, VectorSize};

/// An argument: its scalars and their type.
pub(super) struct Argument<'a> {
    pub(super) values: &'a [u64],
    pub(super) scalar: Scalar,
    /// Rows of each column, of a matrix.
    pub(super) rows: Option<VectorSize>,
}

/// What a function gives: scalars, one after the other.
pub(super) fn call(fun: M, arguments: &[Argument<'_>], out: &mut Vec<u64>) -> bool {
    out.clear();
    let Some(first) = arguments.first() else { return false };
    let a = first.values;
    let scalar = first.scalar;
    let get = |n: usize, at: usize| {
        let values = arguments.get(n).map_or(&[][..], |argument| argument.values);
        values.get(at).or_else(|| values.first()).copied().unwrap_or(0)
    };
    let real = scalar.kind == K::Float;
    match fun {
        M::Dot => out.push(dot(a, arguments[1].values, scalar)),
        M::Length => out.push(root(dot(a, a, scalar), scalar)),
        M::Distance => {
            let minus = operation(B::Subtract, scalar);
            let apart: Vec<u64> = a.iter().enumerate().map(|(n, a)| minus(*a, get(1, n))).collect();
            out.push(root(dot(&apart, &apart, scalar), scalar));
        }
        M::Normalize => {
            let length = root(dot(a, a, scalar), scalar);
            let over = operation(B::Divide, scalar);
            out.extend(a.iter().map(|a| over(*a, length)));
        }
        M::Cross => {
            let (times, minus) = (operation(B::Multiply, scalar), operation(B::Subtract, scalar));
            for n in 0..3 {
                let (i, j) = ((n + 1) % 3, (n + 2) % 3);
                out.push(minus(times(get(0, i), get(1, j)), times(get(0, j), get(1, i))));
            }
        }
        M::FaceForward => {
            let turned = as_f64(dot(arguments[1].values, arguments[2].values, scalar), scalar) < 0.0;
            out.extend(a.iter().map(|a| if turned { *a } else { of_f64(-as_f64(*a, scalar), scalar) }));
        }
        M::Reflect => {
            let (times, minus) = (operation(B::Multiply, scalar), operation(B::Subtract, scalar));
            let twice = times(of_f64(2.0, scalar), dot(arguments[1].values, a, scalar));
            out.extend(a.iter().enumerate().map(|(n, a)| minus(*a, times(twice, get(1, n)))));
        }
        M::Refract => refract(a, arguments[1].values, as_f64(get(2, 0), scalar), scalar, out),
        M::Outer => {
            let times = operation(B::Multiply, scalar);
            for column in arguments[1].values {
                out.extend(a.iter().map(|a| times(*a, *column)));
            }
        }
        M::Transpose => {
            let rows = first.rows.map_or(1, |rows| rows as usize);
            let columns = a.len() / rows;
            out.extend((0..rows).flat_map(|row| (0..columns).map(move |column| a[column * rows + row])));
        }
        M::Determinant => {
            let values: Vec<f64> = a.iter().map(|a| as_f64(*a, scalar)).collect();
            out.push(of_f64(determinant(&values), scalar));
        }
        M::Modf => {
            let parts: Vec<(f64, f64)> =
                a.iter().map(|a| as_f64(*a, scalar)).map(|x| (x - x.trunc(), x.trunc())).collect();
            out.extend(parts.iter().map(|(fraction, _)| of_f64(*fraction, scalar)));
            out.extend(parts.iter().map(|(_, whole)| of_f64(*whole, scalar)));
        }
        M::Frexp => {
            let parts: Vec<(f64, i32)> = a.iter().map(|a| frexp(as_f64(*a, scalar))).collect();
            out.extend(parts.iter().map(|(fraction, _)| of_f64(*fraction, scalar)));
            out.extend(parts.iter().map(|(_, exponent)| u64::from(exponent.cast_unsigned())));
        }
        M::Dot4I8Packed | M::Dot4U8Packed => {
            let lanes = |word: u64| low(word).to_le_bytes();
            let signed = fun == M::Dot4I8Packed;
            let wide = |byte: u8| if signed { i64::from(byte.cast_signed()) } else { i64::from(byte) };
            let sum: i64 = lanes(a[0]).iter().zip(lanes(get(1, 0))).map(|(a, b)| wide(*a) * wide(b)).sum();
            out.push(u64::from(low(sum.cast_unsigned())));
        }
        M::Pack4x8snorm | M::Pack4x8unorm | M::Pack2x16snorm | M::Pack2x16unorm | M::Pack2x16float => {
            let width = if matches!(fun, M::Pack4x8snorm | M::Pack4x8unorm) { 8 } else { 16 };
            let word = a.iter().enumerate().fold(0, |word, (n, a)| word | packed(fun, f(*a)) << (width * n));
            out.push(word);
        }
        M::Unpack4x8snorm | M::Unpack4x8unorm | M::Unpack2x16snorm | M::Unpack2x16unorm | M::Unpack2x16float => {
            let width = if matches!(fun, M::Unpack4x8snorm | M::Unpack4x8unorm) { 8 } else { 16 };
            for n in 0..32 / width {
                out.push(bits(unpacked(fun, a[0] >> (width * n) & ((1 << width) - 1))));
            }
        }
        M::Pack4xI8 | M::Pack4xU8 | M::Pack4xI8Clamp | M::Pack4xU8Clamp => {
            let byte = |value: u64| match fun {
                M::Pack4xI8Clamp => (as_i128(value, scalar).clamp(-128, 127) & 255) as u64,
                M::Pack4xU8Clamp => as_i128(value, scalar).clamp(0, 255) as u64,
                _ => value & 255,
            };
            out.push(a.iter().enumerate().fold(0, |word, (n, a)| word | byte(*a) << (8 * n)));
        }
        M::Unpack4xI8 | M::Unpack4xU8 => {
            for byte in low(a[0]).to_le_bytes() {
                let wide =
                    if fun == M::Unpack4xI8 { i32::from(byte.cast_signed()).cast_unsigned() } else { byte.into() };
                out.push(wide.into());
            }
        }
        M::Inverse => return false,
        _ => {
            for at in 0..a.len() {
                let (x, y, z, w) = (get(0, at), get(1, at), get(2, at), get(3, at));
                out.push(if real { each_float(fun, x, y, z, scalar) } else { each_integer(fun, [x, y, z, w], scalar) });
            }
        }
    }
    true
}

fn root(square: u64, scalar: Scalar) -> u64 {
    of_f64(as_f64(square, scalar).sqrt(), scalar)
}

fn dot(a: &[u64], b: &[u64], scalar: Scalar) -> u64 {
    let (times, plus) = (operation(B::Multiply, scalar), operation(B::Add, scalar));
    let mut products = a.iter().zip(b).map(|(a, b)| times(*a, *b));
    let first = products.next().unwrap_or(0);
    products.fold(first, plus)
}

fn refract(a: &[u64], normal: &[u64], eta: f64, scalar: Scalar, out: &mut Vec<u64>) {
    let cosine = as_f64(dot(normal, a, scalar), scalar);
    let k = 1.0 - eta * eta * (1.0 - cosine * cosine);
    let of = |n: usize| as_f64(normal[n], scalar);
    out.extend(a.iter().enumerate().map(|(n, a)| {
        let value = if k < 0.0 { 0.0 } else { eta * as_f64(*a, scalar) - (eta * cosine + k.sqrt()) * of(n) };
        of_f64(value, scalar)
    }));
}

/// By the first column; columns one after the other.
fn determinant(m: &[f64]) -> f64 {
    let size = m.len().isqrt();
    if size == 1 {
        return m[0];
    }
    (0..size)
        .map(|row| {
            let minor: Vec<f64> = (size..m.len()).filter(|n| n % size != row).map(|n| m[n]).collect();
            let sign = if row % 2 == 0 { 1.0 } else { -1.0 };
            sign * m[row] * determinant(&minor)
        })
        .sum()
}

/// A number as a fraction of 0.5 to 1, and a power of two.
fn frexp(x: f64) -> (f64, i32) {
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    let (scaled, less) = if x.abs() < f64::MIN_POSITIVE { (x * 2f64.powi(64), 64) } else { (x, 0) };
    let word = scaled.to_bits();
    let exponent = i32::try_from(word >> 52 & 0x7ff).unwrap_or(0) - 1022;
    (f64::from_bits(word & !(0x7ff << 52) | 1022 << 52), exponent - less)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within its bits after the clamp")]
fn packed(fun: M, value: f32) -> u64 {
    match fun {
        M::Pack4x8snorm => ((0.5 + 127.0 * value.clamp(-1.0, 1.0)).floor() as i64 & 0xff) as u64,
        M::Pack4x8unorm => (0.5 + 255.0 * value.clamp(0.0, 1.0)).floor() as u64,
        M::Pack2x16snorm => ((0.5 + 32767.0 * value.clamp(-1.0, 1.0)).floor() as i64 & 0xffff) as u64,
        M::Pack2x16unorm => (0.5 + 65535.0 * value.clamp(0.0, 1.0)).floor() as u64,
        _ => to_half(value),
    }
}

fn unpacked(fun: M, part: u64) -> f32 {
    let part16 = u16::try_from(part).unwrap_or(0);
    match fun {
        M::Unpack4x8snorm => (f32::from(u8::try_from(part).unwrap_or(0).cast_signed()) / 127.0).max(-1.0),
        M::Unpack4x8unorm => f32::from(part16) / 255.0,
        M::Unpack2x16snorm => (f32::from(part16.cast_signed()) / 32767.0).max(-1.0),
        M::Unpack2x16unorm => f32::from(part16) / 65535.0,
        _ => from_half(part),
    }
}

/// Functions of each scalar by itself, in the width of the type.
fn each_float(fun: M, x: u64, y: u64, z: u64, scalar: Scalar) -> u64 {
    if fun == M::QuantizeToF16 {
        return bits(from_half(to_half(f(x))));
    }
    if scalar.width == 4 {
        return bits(of_f32(fun, f(x), f(y), f(z), y));
    }
    let (a, b, c) = (as_f64(x, scalar), as_f64(y, scalar), as_f64(z, scalar));
    of_f64(of_wide(fun, a, b, c, y), scalar)
}

/// The same text for `f32` and `f64`.
macro_rules! functions {
    ($name:ident, $t:ident) => {
        fn $name(fun: M, x: $t, y: $t, z: $t, exponent: u64) -> $t {
            match fun {
                M::Abs => x.abs(),
                // As hardware does: of a number and none, the number.
                M::Min => x.min(y),
                M::Max => x.max(y),
                M::Clamp => x.max(y).min(z),
                M::Saturate => x.max(0.0).min(1.0),
                M::Cos => x.cos(),
                M::Cosh => x.cosh(),
                M::Sin => x.sin(),
                M::Sinh => x.sinh(),
                M::Tan => x.tan(),
                M::Tanh => x.tanh(),
                M::Acos => x.acos(),
                M::Asin => x.asin(),
                M::Atan => x.atan(),
                M::Atan2 => x.atan2(y),
                M::Asinh => x.asinh(),
                M::Acosh => x.acosh(),
                M::Atanh => x.atanh(),
                M::Radians => x.to_radians(),
                M::Degrees => x.to_degrees(),
                M::Ceil => x.ceil(),
                M::Floor => x.floor(),
                M::Round => x.round_ties_even(),
                M::Fract => x - x.floor(),
                M::Trunc => x.trunc(),
                M::Ldexp => {
                    // In two steps: a power past the reach of the type has a half within it.
                    let power = low(exponent).cast_signed().clamp(-4000, 4000);
                    let half = power / 2;
                    let by = |power: i32| (2.0 as $t).powi(power);
                    x * by(half) * by(power - half)
                }
                M::Exp => x.exp(),
                M::Exp2 => x.exp2(),
                M::Log => x.ln(),
                M::Log2 => x.log2(),
                M::Pow => x.powf(y),
                M::Sign => {
                    if x > 0.0 {
                        1.0
                    } else if x < 0.0 {
                        -1.0
                    } else {
                        0.0
                    }
                }
                M::Fma => x.mul_add(y, z),
                M::Mix => x * (1.0 - z) + y * z,
                M::Step => {
                    if x <= y {
                        1.0
                    } else {
                        0.0
                    }
                }
                M::SmoothStep => {
                    let t = ((z - x) / (y - x)).max(0.0).min(1.0);
                    t * t * (3.0 - 2.0 * t)
                }
                M::Sqrt => x.sqrt(),
                M::InverseSqrt => 1.0 / x.sqrt(),
                _ => x,
            }
        }
    };
}

functions!(of_f32, f32);
functions!(of_wide, f64);

/// Functions of each integer by itself.
fn each_integer(fun: M, [x, y, z, w]: [u64; 4], scalar: Scalar) -> u64 {
    let width = 8 * u32::from(scalar.width);
    let (a, b, c) = (as_i128(x, scalar), as_i128(y, scalar), as_i128(z, scalar));
    let signed = scalar.kind == K::Sint;
    let none = of_i128(-1, scalar);
    let part = |offset: u64, count: u64| {
        let offset = low(offset).min(width);
        (offset, low(count).min(width - offset))
    };
    match fun {
        M::Abs => of_i128(a.abs(), scalar),
        M::Min => of_i128(a.min(b), scalar),
        M::Max => of_i128(a.max(b), scalar),
        M::Clamp => of_i128(a.max(b).min(c), scalar),
        M::Sign => of_i128(a.signum(), scalar),
        M::CountTrailingZeros => x.trailing_zeros().min(width).into(),
        M::CountLeadingZeros => (x.leading_zeros() + width - 64).into(),
        M::CountOneBits => x.count_ones().into(),
        M::ReverseBits => x.reverse_bits() >> (64 - width),
        M::FirstTrailingBit => {
            if x == 0 {
                none
            } else {
                x.trailing_zeros().into()
            }
        }
        M::FirstLeadingBit => {
            let seen = if signed && a < 0 { of_i128(!a, scalar) } else { x };
            if seen == 0 { none } else { (63 - seen.leading_zeros()).into() }
        }
        M::ExtractBits => {
            let (offset, count) = part(y, z);
            if count == 0 {
                return 0;
            }
            let bits = x >> offset & (u64::MAX >> (64 - count));
            let sign = signed && bits >> (count - 1) & 1 == 1;
            if sign { of_i128(i128::from(bits) - (1i128 << count), scalar) } else { bits }
        }
        M::InsertBits => {
            let (offset, count) = part(z, w);
            if count == 0 {
                return x;
            }
            let mask = (u64::MAX >> (64 - count)) << offset;
            x & !mask | y << offset & mask
        }
        _ => x,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(fun: M, scalar: Scalar, arguments: &[&[u64]]) -> Vec<u64> {
        let arguments: Vec<Argument<'_>> =
            arguments.iter().map(|values| Argument { values, scalar, rows: None }).collect();
        let mut out = Vec::new();
        assert!(call(fun, &arguments, &mut out));
        out
    }

    #[test]
    fn bits_are_counted_as_wgsl_says() {
        let u = |fun, x: u32| of(fun, Scalar::U32, &[&[x.into()]])[0];
        assert_eq!((u(M::CountLeadingZeros, 1), u(M::CountTrailingZeros, 0), u(M::CountOneBits, 0xf0f)), (31, 32, 8));
        assert_eq!((u(M::FirstLeadingBit, 0), u(M::FirstLeadingBit, 12)), (0xffff_ffff, 3));
        assert_eq!((u(M::FirstTrailingBit, 12), u(M::ReverseBits, 1)), (2, 0x8000_0000));
        let i = |fun, x: i32| of(fun, Scalar::I32, &[&[x.cast_unsigned().into()]])[0];
        assert_eq!((i(M::FirstLeadingBit, -2), i(M::FirstLeadingBit, -1)), (0, 0xffff_ffff));
        assert_eq!(of(M::ExtractBits, Scalar::I32, &[&[0xf0], &[4], &[4]])[0], 0xffff_ffff);
        assert_eq!(of(M::ExtractBits, Scalar::U32, &[&[0xf0], &[4], &[40]])[0], 0xf);
        assert_eq!(of(M::InsertBits, Scalar::U32, &[&[0xff], &[0], &[4], &[2]])[0], 0xcf);
    }

    #[test]
    fn vectors_and_packed_words() {
        let v = |values: &[f32]| values.iter().map(|x| bits(*x)).collect::<Vec<_>>();
        assert_eq!(of(M::Cross, Scalar::F32, &[&v(&[1.0, 0.0, 0.0]), &v(&[0.0, 1.0, 0.0])]), v(&[0.0, 0.0, 1.0]));
        assert_eq!(of(M::Length, Scalar::F32, &[&v(&[3.0, 4.0])]), v(&[5.0]));
        assert_eq!(of(M::Pack4x8unorm, Scalar::F32, &[&v(&[0.0, 1.0, 0.5, 2.0])]), [0xff80_ff00]);
        let back = of(M::Unpack4x8snorm, Scalar::U32, &[&[0x7f81_00ff]]);
        assert_eq!(back, v(&[-1.0 / 127.0, 0.0, -1.0, 1.0]));
        assert_eq!(determinant(&[1.0, 2.0, 3.0, 4.0]), -2.0);
        assert_eq!(determinant(&[2.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 4.0]), 24.0);
        assert_eq!((frexp(6.0), frexp(0.25), frexp(0.0)), ((0.75, 3), (0.5, -1), (0.0, 0)));
        assert_eq!(of(M::Dot4I8Packed, Scalar::U32, &[&[0xff02], &[0x0103]]), [5]);
    }
}
