//! What shared variables hold at the start.

use super::error::KernelError;
use super::program::{Program, Shared};
use super::types::{self, Leaf, elements};
use naga::{Scalar, ScalarKind, TypeInner};

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
}

/// What the words of `--bind` name, before files are read.
#[derive(Debug, Clone, PartialEq)]
pub enum Bound {
    /// There it is.
    Content(Content, Option<u32>),
    /// Bytes of this file.
    Binary(String),
    /// Numbers of this file, apart by commas, blanks or line ends.
    Csv(String),
}

/// Reads `zeros`, `iota`, `random(7)`, with `:1024` after them for so many elements; numbers; the name of a file.
///
/// # Errors
/// Words that are none of these.
pub fn bound(words: &str) -> Result<Bound, String> {
    let words = words.trim();
    let (kind, length) = match words.split_once(':') {
        Some((kind, length)) if !kind.contains('.') && !kind.contains('/') => {
            let length: Option<u32> = length.replace('_', "").parse().ok();
            let length = length
                .filter(|n| *n > 0)
                .ok_or_else(|| format!("{words}: expected a count after the colon, as in iota:1024"))?;
            (kind, Some(length))
        }
        _ => (words, None),
    };
    let seed = kind.strip_prefix("random(").and_then(|rest| rest.strip_suffix(')'));
    if kind == "zeros" || kind == "iota" || kind == "random" {
        let content = [("zeros", Content::Zeros), ("iota", Content::Iota), ("random", Content::Random(0))];
        let found = content.into_iter().find(|(name, _)| *name == kind);
        return found.map(|(_, content)| Bound::Content(content, length)).ok_or_else(|| words.to_owned());
    }
    if let Some(seed) = seed {
        let seed = seed
            .trim()
            .parse()
            .map_err(|_| format!("{words}: expected a whole number as the seed, as in random(7)"))?;
        return Ok(Bound::Content(Content::Random(seed), length));
    }
    if let Ok(numbers) = numbers(words)
        && !numbers.is_empty()
    {
        return Ok(Bound::Content(Content::Numbers(numbers), None));
    }
    let ending = words.rsplit('.').next().unwrap_or("").to_ascii_lowercase();
    match ending.as_str() {
        "bin" => Ok(Bound::Binary(words.to_owned())),
        "csv" | "txt" => Ok(Bound::Csv(words.to_owned())),
        _ => Err(format!("{words}: expected zeros, iota, random(SEED), numbers, or a file ending in .bin or .csv")),
    }
}

/// Numbers, apart by commas, blanks or line ends; `#` starts a comment.
///
/// # Errors
/// The first word that is no number, with its line.
pub fn numbers(text: &str) -> Result<Vec<f64>, String> {
    let mut out = Vec::new();
    for (line, words) in (1..).zip(text.lines()) {
        let words = words.split('#').next().unwrap_or("");
        for word in words.split(|c: char| c == ',' || c == ';' || c.is_whitespace()).filter(|word| !word.is_empty()) {
            out.push(word.parse().map_err(|_| format!("line {line}: found {word}; expected a number"))?);
        }
    }
    Ok(out)
}

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
        Content::Zeros | Content::Bytes(_) => 0,
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
fn misfit(number: f64, scalar: Scalar) -> Option<String> {
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

    /// Bytes of a variable at the start, and what it grows by where its length is not told: nothing where it is.
    pub(super) fn start(
        &self,
        shared: &Shared,
        content: &Content,
        length: Option<u32>,
    ) -> Result<(Vec<u8>, Option<Fill>), KernelError> {
        let places = self.places(shared)?;
        let error =
            |words: String| Err(KernelError::Binding(format!("{}: --bind {}: {words}", self.file, shared.name)));
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
    pub(super) fn elements(&self, shared: &Shared, bytes: u64) -> (u32, String, Vec<u64>) {
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
        let name = match first.scalar.kind {
            naga::ScalarKind::Float => "f",
            naga::ScalarKind::Sint => "i",
            _ => "u",
        };
        let shape = if element.len() > 1 { vec![count, element.len() as u64] } else { vec![count] };
        (size, format!("{name}{}", 8 * size), shape)
    }

    /// The numbers that a variable holds, scalar by scalar.
    ///
    /// # Errors
    /// A type with more scalars than are computed with.
    pub fn numbers(&self, shared: &Shared, bytes: &[u8]) -> Result<Vec<f64>, KernelError> {
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

    #[test]
    fn words_name_contents() {
        assert_eq!(bound("iota"), Ok(Bound::Content(Content::Iota, None)));
        assert_eq!(bound("zeros:1_024"), Ok(Bound::Content(Content::Zeros, Some(1024))));
        assert_eq!(bound("random(7):3"), Ok(Bound::Content(Content::Random(7), Some(3))));
        assert_eq!(bound("1,2.5 -3"), Ok(Bound::Content(Content::Numbers(vec![1.0, 2.5, -3.0]), None)));
        assert_eq!(bound("a/b.BIN"), Ok(Bound::Binary("a/b.BIN".into())));
        assert_eq!(bound("c.csv"), Ok(Bound::Csv("c.csv".into())));
        for wrong in ["", "ones", "iota:0", "iota:x", "random(x)", "a.png"] {
            assert!(bound(wrong).is_err(), "{wrong}");
        }
        assert_eq!(numbers("1, 2 # two\n3;4\n"), Ok(vec![1.0, 2.0, 3.0, 4.0]));
        assert_eq!(numbers("1\n2, x"), Err("line 2: found x; expected a number".into()));
    }
}
