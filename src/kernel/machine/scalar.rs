//! Scalars: each is its bits, in the low end of 64. Sums wrap, shifts go by the width, a division by zero gives what WGSL says.

use naga::{BinaryOperator as B, Scalar, ScalarKind as K};

pub(super) fn f(bits: u64) -> f32 {
    f32::from_bits(low(bits))
}

pub(super) fn bits(value: f32) -> u64 {
    u64::from(value.to_bits())
}

/// The low half.
#[expect(clippy::cast_possible_truncation, reason = "the low half is what is asked for")]
pub(in crate::kernel) fn low(bits: u64) -> u32 {
    bits as u32
}

/// An `f16` as `f32`.
pub(in crate::kernel) fn from_half(half: u64) -> f32 {
    let (sign, exponent, fraction) = (low(half >> 15 & 1), low(half >> 10 & 31), low(half & 1023));
    match exponent {
        0 => {
            let value = f32::from(u16::try_from(fraction).unwrap_or(0)) / 16_777_216.0;
            if sign == 1 { -value } else { value }
        }
        31 => f32::from_bits(sign << 31 | 0xff << 23 | fraction << 13),
        _ => f32::from_bits(sign << 31 | (exponent + 112) << 23 | fraction << 13),
    }
}

/// The nearest `f16`, ties to even.
pub(super) fn to_half(value: f32) -> u64 {
    let word = value.to_bits();
    let sign = word >> 16 & 0x8000;
    let magnitude = word & 0x7fff_ffff;
    let half = if magnitude > 0x7f80_0000 {
        0x7e00
    } else if magnitude >= 0x477f_f000 {
        0x7c00
    } else if magnitude < 0x3300_0000 {
        0
    } else {
        let exponent = magnitude >> 23;
        let whole = magnitude & 0x007f_ffff | 0x0080_0000;
        // A normal number loses 13 bits, a small one more.
        let (shift, base) = if exponent < 113 { (126 - exponent, 0) } else { (13, (exponent - 112) << 10) };
        let kept = if exponent < 113 { whole >> shift } else { whole >> 13 & 0x3ff };
        let (rest, tie) = (whole & ((1 << shift) - 1), 1 << (shift - 1));
        let up = rest > tie || (rest == tie && kept & 1 == 1);
        base + kept + u32::from(up)
    };
    u64::from(sign | half)
}

/// A scalar as the widest of floats.
pub(super) fn as_f64(value: u64, scalar: Scalar) -> f64 {
    match scalar.width {
        2 => f64::from(from_half(value)),
        4 => f64::from(f(value)),
        _ => f64::from_bits(value),
    }
}

/// The nearest scalar of this width.
#[expect(clippy::cast_possible_truncation, reason = "the nearest narrower float is what is asked for")]
pub(super) fn of_f64(value: f64, scalar: Scalar) -> u64 {
    match scalar.width {
        2 => to_half(value as f32),
        4 => bits(value as f32),
        _ => value.to_bits(),
    }
}

/// An integer with its sign, wide enough for all.
pub(super) fn as_i128(value: u64, scalar: Scalar) -> i128 {
    let wide = 64 - 8 * u32::from(scalar.width);
    match scalar.kind {
        K::Sint => i128::from((value << wide).cast_signed() >> wide),
        _ => i128::from(value << wide >> wide),
    }
}

/// The low bits of an integer, as a scalar of this width.
#[expect(clippy::cast_possible_truncation, reason = "integers wrap")]
pub(super) fn of_i128(value: i128, scalar: Scalar) -> u64 {
    let wide = 64 - 8 * u32::from(scalar.width);
    (value as u64) << wide >> wide
}

/// An operation on the bits of two scalars.
type Two = fn(u64, u64) -> u64;

/// An operation on two scalars of one type; shifts take an amount in place of the second.
pub(super) fn operation(op: B, scalar: Scalar) -> Box<dyn Fn(u64, u64) -> u64> {
    if let Some(fast) = fast(op, scalar) {
        return Box::new(fast);
    }
    match scalar.kind {
        K::Bool => Box::new(move |a, b| {
            let (a, b) = (a != 0, b != 0);
            u64::from(match op {
                B::And | B::LogicalAnd => a & b,
                B::InclusiveOr | B::LogicalOr => a | b,
                B::ExclusiveOr | B::NotEqual => a != b,
                _ => a == b,
            })
        }),
        K::Float | K::AbstractFloat => Box::new(move |a, b| {
            let (x, y) = (as_f64(a, scalar), as_f64(b, scalar));
            match compare(op, x.partial_cmp(&y)) {
                Some(answer) => u64::from(answer),
                None => of_f64(float(op, x, y), scalar),
            }
        }),
        K::Sint | K::Uint | K::AbstractInt => Box::new(move |a, b| {
            let (x, y) = (as_i128(a, scalar), as_i128(b, scalar));
            match compare(op, Some(x.cmp(&y))) {
                Some(answer) => u64::from(answer),
                None => of_i128(integer(op, x, y, scalar), scalar),
            }
        }),
    }
}

/// The operations that kernels spend their time in.
fn fast(op: B, scalar: Scalar) -> Option<Two> {
    let u = |op: Two| Some(op);
    if scalar == Scalar::F32 {
        return match op {
            B::Add => u(|a, b| bits(f(a) + f(b))),
            B::Subtract => u(|a, b| bits(f(a) - f(b))),
            B::Multiply => u(|a, b| bits(f(a) * f(b))),
            B::Divide => u(|a, b| bits(f(a) / f(b))),
            B::Modulo => u(|a, b| bits(f(a) - f(b) * (f(a) / f(b)).trunc())),
            B::Less => u(|a, b| u64::from(f(a) < f(b))),
            B::Greater => u(|a, b| u64::from(f(a) > f(b))),
            _ => None,
        };
    }
    if scalar == Scalar::U32 || scalar == Scalar::I32 {
        match op {
            B::Add => return u(|a, b| u64::from(low(a).wrapping_add(low(b)))),
            B::Subtract => return u(|a, b| u64::from(low(a).wrapping_sub(low(b)))),
            B::Multiply => return u(|a, b| u64::from(low(a).wrapping_mul(low(b)))),
            B::And => return u(|a, b| a & b),
            B::InclusiveOr => return u(|a, b| a | b),
            B::ExclusiveOr => return u(|a, b| a ^ b),
            B::ShiftLeft => return u(|a, b| u64::from(low(a) << (b & 31))),
            B::Equal => return u(|a, b| u64::from(a == b)),
            B::NotEqual => return u(|a, b| u64::from(a != b)),
            _ => {}
        }
    }
    if scalar == Scalar::U32 {
        return match op {
            B::Less => u(|a, b| u64::from(a < b)),
            B::LessEqual => u(|a, b| u64::from(a <= b)),
            B::Greater => u(|a, b| u64::from(a > b)),
            B::GreaterEqual => u(|a, b| u64::from(a >= b)),
            B::Divide => u(|a, b| a.checked_div(b).unwrap_or(a)),
            B::Modulo => u(|a, b| a.checked_rem(b).unwrap_or(0)),
            B::ShiftRight => u(|a, b| a >> (b & 31)),
            _ => None,
        };
    }
    None
}

fn compare(op: B, order: Option<std::cmp::Ordering>) -> Option<bool> {
    Some(match op {
        B::Equal => order.is_some_and(|o| o.is_eq()),
        B::NotEqual => !order.is_some_and(|o| o.is_eq()),
        B::Less => order.is_some_and(|o| o.is_lt()),
        B::LessEqual => order.is_some_and(|o| o.is_le()),
        B::Greater => order.is_some_and(|o| o.is_gt()),
        B::GreaterEqual => order.is_some_and(|o| o.is_ge()),
        _ => return None,
    })
}

fn float(op: B, x: f64, y: f64) -> f64 {
    match op {
        B::Add => x + y,
        B::Subtract => x - y,
        B::Multiply => x * y,
        B::Divide => x / y,
        _ => x - y * (x / y).trunc(),
    }
}

fn integer(op: B, x: i128, y: i128, scalar: Scalar) -> i128 {
    let amount = u32::try_from(y & (8 * i128::from(scalar.width) - 1)).unwrap_or(0);
    match op {
        B::Add => x + y,
        B::Subtract => x - y,
        B::Multiply => x.wrapping_mul(y),
        B::Divide => x.checked_div(y).unwrap_or(x),
        B::Modulo => x.checked_rem(y).unwrap_or(0),
        B::And | B::LogicalAnd => x & y,
        B::InclusiveOr | B::LogicalOr => x | y,
        B::ExclusiveOr => x ^ y,
        B::ShiftLeft => x << amount,
        _ => x >> amount,
    }
}

/// A scalar of one type as one of another, in value: to integers without what follows the point, and no further than the values go that
/// both have.
pub(super) fn convert(value: u64, from: Scalar, to: Scalar) -> u64 {
    match (from.kind, to.kind) {
        (K::Float, K::Float) => of_f64(as_f64(value, from), to),
        (K::Float, K::Bool) => u64::from(as_f64(value, from) != 0.0),
        (K::Float, _) => {
            let width = 8 * u32::from(to.width);
            let (least, most) = if to.kind == K::Sint {
                (-(1i128 << (width - 1)), (1 << (width - 1)) - 1)
            } else {
                (0, (1 << width) - 1)
            };
            // Of 32 bits 2147483520, since 2147483647 is no float.
            let (bits, of_float) = (width - u32::from(to.kind == K::Sint), if from.width == 8 { 53 } else { 24 });
            let dropped = bits.saturating_sub(of_float);
            let most = most >> dropped << dropped;
            #[expect(clippy::cast_possible_truncation, reason = "it goes no further than the type reaches")]
            let whole = as_f64(value, from).trunc() as i128;
            of_i128(whole.clamp(least, most), to)
        }
        (_, K::Bool) => u64::from(value != 0),
        (K::Bool, K::Float) => of_f64(if value != 0 { 1.0 } else { 0.0 }, to),
        #[expect(clippy::cast_precision_loss, reason = "the nearest float is what is asked for")]
        (_, K::Float) => match to.width {
            // Rounded once: by way of a wider float it would be twice.
            4 => bits(as_i128(value, from) as f32),
            2 => to_half(as_i128(value, from) as f32),
            _ => (as_i128(value, from) as f64).to_bits(),
        },
        _ => of_i128(as_i128(value, from), to),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_go_there_and_back() {
        for half in 0..=0xffffu64 {
            let value = from_half(half);
            if value.is_nan() {
                assert!(from_half(to_half(value)).is_nan());
            } else {
                assert_eq!(to_half(value), half, "{half:04x} is {value}");
            }
        }
        // Ties go to even, what is past the greatest is infinite, what is below half of the least is zero.
        assert_eq!((to_half(2049.0), to_half(2051.0)), (0x6800, 0x6802));
        assert_eq!((to_half(65519.0), to_half(65520.0), to_half(-1e9)), (0x7bff, 0x7c00, 0xfc00));
        assert_eq!((to_half(2.9e-8), to_half(3.1e-8), to_half(0.0)), (0, 1, 0));
    }

    #[test]
    fn integers_do_as_wgsl_says() {
        let of = |op, scalar: Scalar, a: i64, b: i64| {
            let bits = |n: i64| of_i128(n.into(), scalar);
            as_i128(operation(op, scalar)(bits(a), bits(b)), scalar)
        };
        assert_eq!(of(B::Divide, Scalar::I32, i64::from(i32::MIN), -1), i128::from(i32::MIN));
        assert_eq!(of(B::Modulo, Scalar::I32, i64::from(i32::MIN), -1), 0);
        assert_eq!((of(B::Divide, Scalar::I32, 7, 0), of(B::Modulo, Scalar::U32, 7, 0)), (7, 0));
        assert_eq!((of(B::Divide, Scalar::I32, -7, 2), of(B::Modulo, Scalar::I32, -7, 2)), (-3, -1));
        assert_eq!(of(B::Add, Scalar::I32, i64::from(i32::MAX), 1), i128::from(i32::MIN));
        assert_eq!((of(B::ShiftRight, Scalar::I32, -8, 1), of(B::ShiftLeft, Scalar::U32, 1, 33)), (-4, 2));
        assert_eq!(of(B::Less, Scalar::I32, -1, 1), 1);
    }

    #[test]
    fn floats_become_integers_within_reach() {
        let to = |value: f32, scalar| as_i128(convert(bits(value), Scalar::F32, scalar), scalar);
        assert_eq!((to(-1.5, Scalar::U32), to(-1.5, Scalar::I32)), (0, -1));
        // The greatest values that both have, as WGSL has it.
        assert_eq!((to(1e20, Scalar::I32), to(1e20, Scalar::U32)), (2_147_483_520, 4_294_967_040));
        assert_eq!((to(-1e20, Scalar::I32), to(3e9, Scalar::U32)), (i32::MIN.into(), 3_000_000_000));
        assert_eq!((to(f32::INFINITY, Scalar::I64), to(f32::NAN, Scalar::I32)), (9_223_371_487_098_961_920, 0));
        assert_eq!(f(convert(16_777_217, Scalar::U32, Scalar::F32)), 16_777_216.0);
    }
}
