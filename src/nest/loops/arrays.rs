//! Declarations of arrays into containers, and where their elements are.

use super::super::container::Container;
use super::super::expr::{Expr, Op};
use super::super::fault::NestError;
use super::super::grammar::{ArrayDecl, Order};
use super::super::lexer::place;

/// Where an array's elements are.
pub(super) struct Array {
    pub(super) container: usize,
    pub(super) shape: Vec<i64>,
    places: Places,
}

enum Places {
    Strides { strides: Vec<i64>, offset: i64 },
    Tiles { tile: Vec<i64>, tiles: Vec<i64>, offset: i64 },
}

impl Array {
    /// Elements from the array's first byte to the one with these indices.
    pub(super) fn offset(&self, indices: &[Expr]) -> Expr {
        match &self.places {
            Places::Strides { strides, offset } => {
                let terms = indices.iter().zip(strides).map(|(index, stride)| index.clone().times(Expr::num(*stride)));
                terms.fold(Expr::num(*offset), Expr::plus)
            }
            Places::Tiles { tile, tiles, offset } => {
                let (mut number, mut inside) = (Expr::num(0), Expr::num(0));
                let mut volume = 1;
                for ((index, side), count) in indices.iter().zip(tile).zip(tiles) {
                    let part = |op: Op| index.clone().with(Expr::num(*side), op);
                    number = number.times(Expr::num(*count)).plus(part(Op::FloorDiv));
                    inside = inside.times(Expr::num(*side)).plus(part(Op::Mod));
                    volume *= side;
                }
                number.times(Expr::num(volume)).plus(inside).plus(Expr::num(*offset))
            }
        }
    }
}

/// An array under the values of parameters, which `eval` knows.
pub(super) fn array(
    name: &str,
    decl: &ArrayDecl,
    container: usize,
    eval: &dyn Fn(&Expr, &str) -> Result<i64, NestError>,
) -> Result<(Container, Array, Vec<String>), NestError> {
    let fault = |found: String, expected: &str, remedy: &str| {
        NestError::new(place(name, decl.at), format!("array `{}` with {found}", decl.name), expected, remedy)
    };
    let too_large = || fault("more than 2^62 elements".into(), "an array that fits 2^62 bytes", "make it smaller");
    let at_least = |expr: &Expr, what: &str, least: i64| {
        let value = eval(expr, what)?;
        if value < least {
            let expected = format!("{least} or more");
            return Err(fault(
                format!("{what} {value}"),
                &expected,
                "correct it, or the parameters that it is made of",
            ));
        }
        Ok(value)
    };
    let product = |list: &[i64]| list.iter().try_fold(1i64, |n, &x| n.checked_mul(x)).ok_or_else(too_large);
    let shape: Vec<i64> = decl.shape.iter().map(|e| at_least(e, "the extent", 1)).collect::<Result<_, _>>()?;
    let offset = decl.offset.as_ref().map_or(Ok(0), |e| at_least(e, "the offset", 0))?;
    let align = decl.align.as_ref().map_or(Ok(1), |e| at_least(e, "the alignment", 1))?;
    let base = decl.base.as_ref().map(|e| at_least(e, "the base", 0)).transpose()?;
    let pad = decl.pad.as_ref().map(|e| at_least(e, "the padding to a multiple of", 1)).transpose()?;
    let as_many = |list: &[Expr], what: &str, least: i64| -> Result<Vec<i64>, NestError> {
        if list.len() != shape.len() {
            let found = format!("{} numbers of `{what}` for {} extents", list.len(), shape.len());
            return Err(fault(found, "one for each extent", "give as many"));
        }
        list.iter().map(|e| if least > i64::MIN { at_least(e, what, least) } else { eval(e, what) }).collect()
    };
    let mut notices = Vec::new();
    let (strides, places, elements) = match &decl.order {
        Order::Tiled(list) => {
            if pad.is_some() {
                return Err(fault("padding of tiles".into(), "tiles, or rows that are padded", "leave `pad` out"));
            }
            let tile = as_many(list, "tiled", 1)?;
            let tiles: Vec<i64> = shape.iter().zip(&tile).map(|(extent, side)| (extent - 1) / side + 1).collect();
            let elements = product(&tiles)?.checked_mul(product(&tile)?).ok_or_else(too_large)?;
            (Vec::new(), Places::Tiles { tile, tiles, offset }, elements)
        }
        Order::Strides(list) => {
            if pad.is_some() {
                return Err(fault(
                    "padding beside strides".into(),
                    "strides, or padding",
                    "add the padding to strides",
                ));
            }
            let strides = as_many(list, "strides", i64::MIN)?;
            let (mut low, mut high) = (i128::from(offset), i128::from(offset));
            for (extent, stride) in shape.iter().zip(&strides) {
                let far = i128::from(extent - 1) * i128::from(*stride);
                (low, high) = (low + far.min(0), high + far.max(0));
            }
            if low < 0 {
                let found = format!("an element {} elements before its first byte", -low);
                let expected = "elements behind it";
                return Err(fault(found, expected, &format!("write offset {}", i128::from(offset) - low)));
            }
            let elements = i64::try_from(high + 1).map_err(|_| too_large())?;
            if let Some(sure) = overlaps(&shape, &strides) {
                let how = if sure { "share" } else { "may share" };
                notices.push(format!("array `{}`: its strides let elements {how} places in memory", decl.name));
            }
            (strides.clone(), Places::Strides { strides, offset }, elements)
        }
        order => {
            // Which index is outermost in memory, which is next.
            let outermost: Vec<usize> = match order {
                Order::Column => (0..shape.len()).rev().collect(),
                Order::Permuted(list) => {
                    let order = as_many(list, "permuted", 0)?;
                    let order: Vec<usize> = order.iter().map(|i| usize::try_from(*i).unwrap_or(usize::MAX)).collect();
                    let mut sorted = order.clone();
                    sorted.sort_unstable();
                    if sorted.iter().ne((0..shape.len()).collect::<Vec<_>>().iter()) {
                        let expected = "each index once, the first being 0, the outermost in memory first";
                        return Err(fault(format!("permuted {order:?}"), expected, "name each index once"));
                    }
                    order
                }
                _ => (0..shape.len()).collect(),
            };
            let mut strides = vec![0i64; shape.len()];
            let mut stride = 1i64;
            for (nth, index) in outermost.iter().rev().enumerate() {
                strides[*index] = stride;
                stride = stride.checked_mul(shape[*index]).ok_or_else(too_large)?;
                if let Some(pad) = pad.filter(|_| nth == 0) {
                    stride = stride.checked_add(pad - 1).ok_or_else(too_large)? / pad * pad;
                }
            }
            let elements = stride.checked_add(offset).ok_or_else(too_large)?;
            (strides.clone(), Places::Strides { strides, offset }, elements)
        }
    };
    let elements = match &places {
        Places::Tiles { .. } => elements.checked_add(offset).ok_or_else(too_large)?,
        Places::Strides { .. } => elements,
    };
    let bytes = elements.checked_mul(i64::from(decl.elem_bytes));
    let end = bytes.and_then(|bytes| bytes.checked_add(base.unwrap_or(0)));
    if end.is_none_or(|end| end > 1 << 62) {
        return Err(too_large());
    }
    if align > 1 << 30 || align & (align - 1) != 0 {
        let found = format!("the alignment {align}");
        return Err(fault(found, "a power of two of bytes up to 2^30", "write one, as in align 128"));
    }
    let described = Container {
        name: decl.name.clone(),
        elem_type: decl.elem_type.clone(),
        elem_bytes: decl.elem_bytes,
        shape: shape.iter().map(|extent| extent.unsigned_abs()).collect(),
        strides,
        offset,
        elements: elements.unsigned_abs(),
        align: align.unsigned_abs(),
        base: base.map(i64::unsigned_abs),
        transient: decl.transient,
    };
    Ok((described, Array { container, shape, places }, notices))
}

/// Elements of more arrays than these are not looked at one by one.
const MOST_PLACES: i64 = 1 << 20;

/// Whether two elements are in one place: `Some(true)` surely, `Some(false)` perhaps.
pub(in super::super) fn overlaps(shape: &[i64], strides: &[i64]) -> Option<bool> {
    let mut dims: Vec<(u64, i64)> =
        shape.iter().zip(strides).filter(|(extent, _)| **extent > 1).map(|(e, s)| (s.unsigned_abs(), *e)).collect();
    dims.sort_unstable();
    let mut reach = 0i128;
    let mut apart = true;
    for (stride, extent) in &dims {
        apart &= i128::from(*stride) > reach;
        reach += i128::from(*stride) * i128::from(extent - 1);
    }
    if apart {
        return None;
    }
    let all = dims.iter().try_fold(1i64, |n, (_, extent)| n.checked_mul(*extent)).filter(|n| *n <= MOST_PLACES);
    let Some(all) = all else { return Some(false) };
    let place = |mut number: i64| {
        dims.iter().fold(0i128, |at, (stride, extent)| {
            let index = number % extent;
            number /= extent;
            at + i128::from(index) * i128::from(*stride)
        })
    };
    let mut places: Vec<i128> = (0..all).map(place).collect();
    places.sort_unstable();
    places.windows(2).any(|pair| pair[0] == pair[1]).then_some(true)
}
