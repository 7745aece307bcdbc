//! What shared variables hold at the start.

use super::error::KernelError;
use super::program::{Program, Sampler, Shared};
use super::texel::{Sampling, TexelFormat, Texture};
use super::types::{self, Leaf, elements};
use naga::{Scalar, ScalarKind, TypeInner};
use std::collections::BTreeMap;

/// What a buffer is bound to.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Zeros.
    Zeros,
    /// 0, 1, 2 ... scalar by scalar.
    Iota,
    /// Pseudo-random: floats of 0 to 1, integers of 0 to 255.
    Random(u64),
    /// These numbers, scalar by scalar; zeros after them.
    Numbers(Vec<f64>),
    /// These bytes, as they lie in memory.
    Bytes(Vec<u8>),
    /// A picture of so many pixels: red, green, blue and alpha of each, a byte each.
    Image([u32; 2], Vec<u8>),
    /// The texels of another texture, row after row, in its format.
    Texels(TexelFormat, Vec<u8>),
    /// How a sampler reads.
    Sampler(Sampling),
}

/// Elements, by dimension: of a texture its texels, of a buffer as many as they are together.
pub type Size = [u32; 3];

/// What a variable is bound to, and how large it is where that is said.
pub type Given = (Content, Option<Size>);

/// Content, with what it is laid out by.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fill {
    content: Content,
    element: Vec<Leaf>,
}

impl Eq for Fill {}

impl Fill {
    /// Writes elements, the first of which has that number.
    pub(super) fn write(&self, bytes: &mut [u8], stride: u32, first: u32) {
        let each = self.element.len() as u64;
        for (n, element) in (u64::from(first)..).zip(bytes.chunks_mut(stride.max(1) as usize)) {
            for (leaf, at) in (0u64..).zip(&self.element) {
                let value = scalar(&self.content, n * each + leaf, at.scalar);
                types::store(element, at.offset as usize, at.scalar, value);
            }
        }
    }
}

/// The scalar of that number.
fn scalar(content: &Content, n: u64, scalar: Scalar) -> u64 {
    match content {
        Content::Zeros | Content::Bytes(_) | Content::Image(..) | Content::Texels(..) | Content::Sampler(_) => 0,
        Content::Iota => of_integer(n, scalar),
        Content::Numbers(numbers) => {
            let number = usize::try_from(n).ok().and_then(|n| numbers.get(n)).copied().unwrap_or(0.0);
            of_number(number, scalar)
        }
        Content::Random(seed) => {
            // SplitMix64 (Steele, Lea and Flood 2014), of the number itself: an element's value depends on no other's.
            let mut z = seed.wrapping_add(n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^= z >> 31;
            match scalar.kind {
                // 24 bits: every one of them is a float of its own.
                ScalarKind::Float => of_number(f64::from(u32::try_from(z >> 40).unwrap_or(0)) / 16_777_216.0, scalar),
                ScalarKind::Bool => z & 1,
                _ => z & 255,
            }
        }
    }
}

fn of_integer(n: u64, scalar: Scalar) -> u64 {
    match scalar.kind {
        #[expect(clippy::cast_precision_loss, reason = "floats count as far as they can")]
        ScalarKind::Float => of_number(n as f64, scalar),
        ScalarKind::Bool => n & 1,
        _ if scalar.width < 8 => n & ((1 << (8 * u32::from(scalar.width))) - 1),
        _ => n,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "casts of floats go no further than the type reaches"
)]
fn of_number(number: f64, scalar: Scalar) -> u64 {
    match (scalar.kind, scalar.width) {
        (ScalarKind::Float, 8) => number.to_bits(),
        (ScalarKind::Float, 2) => super::machine::half(number as f32),
        (ScalarKind::Float, _) => u64::from((number as f32).to_bits()),
        (ScalarKind::Bool, _) => u64::from(number != 0.0),
        (ScalarKind::Sint, 8) => (number as i64).cast_unsigned(),
        (ScalarKind::Sint, 4) => u64::from((number as i32).cast_unsigned()),
        (ScalarKind::Sint, _) => u64::from((number as i16).cast_unsigned()),
        (_, 8) => number as u64,
        (_, 4) => u64::from(number as u32),
        _ => u64::from(number as u16),
    }
}

/// What is wrong with a number where a scalar of that type is wanted: integers are whole, and go as far as the type reaches.
pub(super) fn misfit(number: f64, scalar: Scalar) -> Option<String> {
    let bits = 8 * i32::from(scalar.width);
    let (least, past, name) = match scalar.kind {
        ScalarKind::Uint => (0.0, 2f64.powi(bits), "u"),
        ScalarKind::Sint => (-(2f64.powi(bits - 1)), 2f64.powi(bits - 1), "i"),
        _ => return None,
    };
    let fits = number.fract() == 0.0 && (least..past).contains(&number);
    (!fits).then(|| {
        format!("found {number}; expected a whole number from {least} to {}, for it is {name}{bits}", past - 1.0)
    })
}

/// The pixels of a picture as numbers: of vectors red, green, blue and alpha, of 0 to 1 where they are floats and of 0 to 255 where they
/// are integers; of single floats how bright they are; of single integers all four in one, red in the lowest byte.
fn pixels(rgba: &[u8], element: &[Leaf]) -> Option<Vec<f64>> {
    let first = element.first()?.scalar;
    let float = first.kind == ScalarKind::Float;
    if element.iter().any(|leaf| leaf.scalar != first) {
        return None;
    }
    let channel = |byte: u8| f64::from(byte) / if float { 255.0 } else { 1.0 };
    let each = rgba.chunks_exact(4);
    Some(match (element.len(), float) {
        // Rec. 709, which is what sRGB's primaries are.
        (1, true) => each.map(|p| 0.2126 * channel(p[0]) + 0.7152 * channel(p[1]) + 0.0722 * channel(p[2])).collect(),
        (1, false) => each.map(|p| f64::from(u32::from_le_bytes([p[0], p[1], p[2], p[3]]))).collect(),
        (count @ 3..=4, _) => each.flat_map(|p| p[..count].iter().map(|byte| channel(*byte))).collect(),
        _ => return None,
    })
}

/// `f32`, `i32`, `u32`.
fn type_name(scalar: Scalar) -> String {
    let name = match scalar.kind {
        ScalarKind::Float => "f",
        ScalarKind::Sint => "i",
        _ => "u",
    };
    format!("{name}{}", 8 * u32::from(scalar.width))
}

/// How the scalars of a variable lie: some at its start, then elements of an array.
struct Places {
    head: Vec<Leaf>,
    element: Vec<Leaf>,
    stride: u32,
    /// Where the elements start.
    start: u32,
    /// How many there are; nothing where the buffer's size tells.
    count: Option<u32>,
}

impl Program {
    fn unbound(&self, name: &str, words: &str) -> KernelError {
        KernelError::Binding(format!("{}: bind {name}: {words}", self.file))
    }

    /// How the samplers of the entry read.
    pub(super) fn samplings(&self, bound: &BTreeMap<String, Given>) -> Result<Vec<Sampling>, KernelError> {
        let of = |sampler: &Sampler| match bound.get(&sampler.name) {
            None => Ok(Sampling::default()),
            Some((Content::Sampler(sampling), None)) => Ok(*sampling),
            Some(_) => {
                let words = "expected linear or nearest, with -clamp, -repeat or -mirror after it, for it is a sampler";
                Err(self.unbound(&sampler.name, words))
            }
        };
        self.samplers.iter().map(of).collect()
    }

    /// Bytes of a texture at the start, and its texels by dimension: as many as the launch has items where nobody says it.
    pub(super) fn start_texture(
        &self,
        shared: &Shared,
        texture: &Texture,
        (content, size): &Given,
        items: [u64; 3],
    ) -> Result<(Vec<u8>, Size), KernelError> {
        let error = |words: String| self.unbound(&shared.name, &words);
        let size = match (size, content) {
            (Some(size), _) => texture.sized(*size).map_err(error)?,
            (None, Content::Image([x, y], _)) => texture.sized([*x, *y, 1]).map_err(error)?,
            (None, _) => texture.guessed(items),
        };
        let format = texture.format;
        let mut bytes = vec![0; super::texel::bytes_of(&self.file, &shared.name, size, format)?];
        let scalar = format.scalar();
        let channels = u64::from(format.channel().0);
        let (width, count) = (format.bytes() as usize, bytes.len() / format.bytes() as usize);
        match content {
            Content::Zeros => {}
            Content::Bytes(given) if given.len() == bytes.len() => bytes.clone_from(given),
            Content::Bytes(given) => {
                let words = format!("found {} bytes; expected {}", given.len(), bytes.len());
                return Err(error(format!("{words}: texels of {} bytes, row after row", format.bytes())));
            }
            Content::Sampler(_) => {
                return Err(error("found how a sampler reads; expected what a texture holds".into()));
            }
            Content::Texels(from, texels) => {
                let (theirs, count) = (from.bytes() as usize, texels.len() / from.bytes() as usize);
                if from.scalar() != scalar || count * width != bytes.len() {
                    return Err(error(format!(
                        "found {count} texels of {from}; expected {} of {format}",
                        bytes.len() / width
                    )));
                }
                for (to, from_texel) in bytes.chunks_exact_mut(width).zip(texels.chunks_exact(theirs)) {
                    format.write(from.read(from_texel), to);
                }
            }
            Content::Image(_, rgba) => {
                for (texel, pixel) in bytes.chunks_exact_mut(width).zip(rgba.chunks_exact(4)) {
                    let float = |byte: u8| u64::from((f32::from(byte) / 255.0).to_bits());
                    let value = |byte: &u8| if scalar == Scalar::F32 { float(*byte) } else { (*byte).into() };
                    let mut values = [0; 4];
                    values.iter_mut().zip(pixel).for_each(|(to, byte)| *to = value(byte));
                    format.write(values, texel);
                }
            }
            Content::Iota | Content::Random(_) | Content::Numbers(_) => {
                if let Content::Numbers(numbers) = content
                    && numbers.len() as u64 > channels * count as u64
                {
                    return Err(error(format!(
                        "found {} numbers; expected a number for each channel of each texel at most",
                        numbers.len()
                    )));
                }
                for (n, texel) in (0u64..).zip(bytes.chunks_exact_mut(width)) {
                    let mut values = [0; 4];
                    for (channel, value) in (0..channels).zip(&mut values) {
                        *value = self::scalar(content, n * channels + channel, scalar);
                    }
                    format.write(values, texel);
                }
            }
        }
        Ok((bytes, size))
    }

    fn places(&self, shared: &Shared) -> Result<Places, KernelError> {
        let ty = self.module.global_variables[shared.handle].ty;
        let none = Places { head: Vec::new(), element: Vec::new(), stride: 1, start: shared.bytes, count: Some(0) };
        match &self.module.types[ty].inner {
            TypeInner::Array { base, size, stride } => {
                let element = self.types.leaves(&self.module, *base)?.to_vec();
                Ok(Places { element, stride: *stride, start: 0, count: elements(*size), ..none })
            }
            TypeInner::Struct { members, .. } if shared.stride.is_some() => {
                let mut head = Vec::new();
                let mut out = none;
                for member in members {
                    if let TypeInner::Array { base, size, stride } = self.module.types[member.ty].inner
                        && elements(size).is_none()
                    {
                        let element = self.types.leaves(&self.module, base)?.to_vec();
                        out = Places { element, stride, start: member.offset, count: None, ..out };
                        continue;
                    }
                    let leaves = self.types.leaves(&self.module, member.ty)?;
                    head.extend(leaves.iter().map(|leaf| Leaf { offset: leaf.offset + member.offset, ..*leaf }));
                }
                Ok(Places { head, ..out })
            }
            _ => Ok(Places { head: self.types.leaves(&self.module, ty)?.to_vec(), ..none }),
        }
    }

    /// Bytes from one element of an array to the next, and its scalars; nothing of what is no array.
    pub(super) fn element_of(&self, shared: &Shared) -> Option<(u32, Vec<Leaf>)> {
        let places = self.places(shared).ok()?;
        (places.head.is_empty() && !places.element.is_empty()).then_some((places.stride, places.element))
    }

    /// Bytes of a variable at the start, and what it grows by where its length is not told: nothing where it is.
    pub(super) fn start(
        &self,
        shared: &Shared,
        content: &Content,
        size: Option<Size>,
    ) -> Result<(Vec<u8>, Option<Fill>), KernelError> {
        let places = self.places(shared)?;
        let error = |words: String| Err(self.unbound(&shared.name, &words));
        if let Content::Sampler(_) = content {
            return error(
                "found how a sampler reads; expected what a buffer holds, as in zeros, iota or a file".into(),
            );
        }
        if let Content::Texels(..) = content {
            return error("found the texels of a texture; expected what a buffer holds".into());
        }
        let length = match size.map(|size| size.iter().fold(1u64, |all, n| all * u64::from(*n))).map(u32::try_from) {
            None => None,
            Some(Ok(length)) => Some(length),
            Some(Err(_)) => return error(format!("found a size of more than {} elements; expected fewer", u32::MAX)),
        };
        let pixels = match content {
            Content::Image(_, rgba) => match pixels(rgba, &places.element) {
                Some(numbers) if places.head.is_empty() => Some(Content::Numbers(numbers)),
                _ => {
                    return error(
                        "found a picture; expected an array of numbers or of vectors of 3 or 4 numbers, to hold its pixels"
                            .into(),
                    );
                }
            },
            _ => None,
        };
        let content = pixels.as_ref().unwrap_or(content);
        if let (Content::Bytes(bytes), None) = (content, length) {
            let rest = (bytes.len() as u64).checked_sub(places.start.into());
            return match places.count {
                None => match rest {
                    Some(rest) if rest > 0 && rest % u64::from(places.stride) == 0 => Ok((bytes.clone(), None)),
                    _ => error(format!(
                        "found {} bytes; expected {} and then elements of {} bytes each, one at least",
                        bytes.len(),
                        places.start,
                        places.stride
                    )),
                },
                Some(_) if bytes.len() == shared.bytes as usize => Ok((bytes.clone(), None)),
                Some(_) => error(format!("found {} bytes; expected {}", bytes.len(), shared.bytes)),
            };
        }
        let (head, each) = (places.head.len(), places.element.len());
        let count = match (places.count, length, content) {
            (Some(count), None, _) => Some(count),
            (Some(count), Some(length), _) if count == length => Some(count),
            (Some(count), Some(length), _) => {
                return error(format!("found a length of {length}; expected {count}, which the shader says"));
            }
            (None, Some(length), _) => Some(length),
            (None, None, Content::Numbers(numbers)) => {
                let left = numbers.len().saturating_sub(head);
                if left == 0 || left % each.max(1) != 0 {
                    return error(format!(
                        "found {} numbers; expected {head} and then {each} for each element",
                        numbers.len()
                    ));
                }
                Some(u32::try_from(left / each.max(1)).unwrap_or(u32::MAX))
            }
            (None, None, _) => None,
        };
        if let (Content::Numbers(numbers), Some(count)) = (content, places.count) {
            let room = head as u64 + each as u64 * u64::from(count);
            if numbers.len() as u64 > room {
                return error(format!("found {} numbers; expected {room} at most", numbers.len()));
            }
        }
        if let Content::Numbers(numbers) = content {
            let leaves = places.head.iter().chain(places.element.iter().cycle());
            let wrong =
                (1..).zip(numbers).zip(leaves).find_map(|((n, number), leaf)| Some((n, misfit(*number, leaf.scalar)?)));
            if let Some((n, words)) = wrong {
                let nth: u64 = n;
                return error(format!("number {nth}: {words}"));
            }
        }
        let elements = u64::from(count.unwrap_or(0)) * u64::from(places.stride);
        let size =
            (u64::from(places.start) + elements).max(if places.count.is_some() { shared.bytes.into() } else { 0 });
        if size > super::machine::MOST_GROWN {
            return error(format!("it takes {size} bytes; expected {} at most", super::machine::MOST_GROWN));
        }
        let mut bytes = vec![0; usize::try_from(size).unwrap_or(0)];
        // Numbers fill the start, too; what counts or is random fills it where there are no elements.
        let whole = each == 0 || matches!(content, Content::Numbers(_));
        for (n, leaf) in (0u64..).zip(&places.head) {
            let value = if whole { scalar(content, n, leaf.scalar) } else { 0 };
            types::store(&mut bytes, leaf.offset as usize, leaf.scalar, value);
        }
        let content = match content {
            Content::Numbers(numbers) => Content::Numbers(numbers.get(head..).unwrap_or(&[]).to_vec()),
            other => other.clone(),
        };
        let fill = Fill { content, element: places.element };
        if let Some(rest) = bytes.get_mut(places.start as usize..) {
            fill.write(rest, places.stride, 0);
        }
        Ok((bytes, count.is_none().then_some(fill)))
    }

    /// Elements of a variable of so many bytes: bytes of one, its type (empty = of several types), and how many there are, by dimension.
    /// `texels` are those of a texture.
    pub(super) fn elements(&self, shared: &Shared, bytes: u64, texels: Option<Size>) -> (u32, String, Vec<u64>) {
        if let (Some(texture), Some(size)) = (&shared.texture, texels) {
            let (channels, name) = texture.format.channel();
            let axes = usize::from(texture.dimensions) + usize::from(texture.layered);
            let mut shape: Vec<u64> = size.iter().take(axes.min(3)).rev().map(|n| u64::from(*n)).collect();
            // Regions have three dimensions at most: channels are one where there is room.
            if channels > 1 && shape.len() < 3 {
                shape.push(channels.into());
                return (texture.format.bytes() / channels, name, shape);
            }
            return (texture.format.bytes(), if channels > 1 { String::new() } else { name }, shape);
        }
        let words = (4, String::new(), vec![(bytes / 4).max(1)]);
        let Ok(places) = self.places(shared) else { return words };
        let (element, stride) = (&places.element, places.stride);
        let Some(first) = element.first().filter(|_| places.head.is_empty() && stride > 1) else { return words };
        let count = (bytes / u64::from(stride)).max(1);
        let size = u32::from(first.scalar.width);
        let side_by_side =
            (0u32..).zip(element).all(|(n, leaf)| leaf.scalar == first.scalar && leaf.offset == n * size);
        if !side_by_side || u32::try_from(element.len()) != Ok(stride / size.max(1)) {
            return (stride, String::new(), vec![count]);
        }
        let shape = if element.len() > 1 { vec![count, element.len() as u64] } else { vec![count] };
        (size, type_name(first.scalar), shape)
    }

    /// The type of the numbers of a buffer that the entry uses; empty where it has several.
    #[must_use]
    pub fn number_type(&self, name: &str) -> Option<String> {
        let shared = self.shared.iter().find(|shared| shared.name == name && shared.texture.is_none())?;
        let places = self.places(shared).ok()?;
        let mut leaves = places.head.iter().chain(&places.element);
        let first = leaves.next()?.scalar;
        let is_one = leaves.all(|leaf| leaf.scalar == first);
        Some(if is_one { type_name(first) } else { String::new() })
    }

    /// The numbers that a variable holds, scalar by scalar.
    ///
    /// # Errors
    /// A type with more scalars than are computed with.
    pub fn numbers(&self, shared: &Shared, bytes: &[u8]) -> Result<Vec<f64>, KernelError> {
        if let Some(texture) = &shared.texture {
            let (channels, scalar) = (texture.format.channel().0 as usize, texture.format.scalar());
            let texels = bytes.chunks_exact(texture.format.bytes() as usize);
            let numbers = |texel| texture.format.read(texel).map(|bits| super::machine::number(bits, scalar));
            return Ok(texels.flat_map(|texel| numbers(texel).into_iter().take(channels)).collect());
        }
        let places = self.places(shared)?;
        let mut out: Vec<f64> =
            places.head.iter().map(|leaf| number(bytes, leaf.offset as usize, leaf.scalar)).collect();
        let rest = bytes.get(places.start as usize..).unwrap_or(&[]);
        for element in rest.chunks_exact(places.stride.max(1) as usize) {
            out.extend(places.element.iter().map(|leaf| number(element, leaf.offset as usize, leaf.scalar)));
        }
        Ok(out)
    }
}

fn number(bytes: &[u8], at: usize, scalar: Scalar) -> f64 {
    super::machine::number(types::load(bytes, at, scalar), scalar)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_fit_the_type_that_they_become() {
        for (number, scalar) in
            [(-1.0, Scalar::U32), (4_294_967_296.0, Scalar::U32), (1.5, Scalar::I32), (f64::NAN, Scalar::I32)]
        {
            assert!(misfit(number, scalar).is_some_and(|words| words.contains(&format!("found {number}"))), "{number}");
        }
        for (number, scalar) in [(-2_147_483_648.0, Scalar::I32), (4_294_967_295.0, Scalar::U32), (1.5, Scalar::F32)] {
            assert_eq!(misfit(number, scalar), None);
        }
        let words = misfit(-1.0, Scalar::U32).unwrap_or_default();
        assert_eq!(words, "found -1; expected a whole number from 0 to 4294967295, for it is u32");
    }
}
