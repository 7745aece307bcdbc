//! Values of Thrift's compact protocol as a tree: Parquet's footer, read, changed and written again.

use super::number;
use fastrand::Rng;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Flag(bool),
    Byte(u8),
    /// Of 16, 32 or 64 bits: codes 4 to 6.
    Number(u8, i64),
    Double([u8; 8]),
    Binary(Vec<u8>),
    /// Code of the elements, and the elements.
    List(u8, Vec<Value>),
    /// Fields by number.
    Struct(Vec<(i16, Value)>),
}

/// Lists and structs within each other that are followed.
const DEEPEST: u8 = 16;

fn byte(input: &mut &[u8]) -> Option<u8> {
    let (&first, rest) = input.split_first()?;
    *input = rest;
    Some(first)
}

fn varint(input: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let next = byte(input)?;
        value |= u64::from(next & 127) << shift;
        if next < 128 {
            return Some(value);
        }
    }
    None
}

fn unzigzag(n: u64) -> i64 {
    (n >> 1).cast_signed() ^ -(n & 1).cast_signed()
}

fn put_varint(mut n: u64, out: &mut Vec<u8>) {
    while n > 127 {
        out.push(n as u8 | 128);
        n >>= 7;
    }
    out.push(n as u8);
}

fn zigzag(n: i64) -> u64 {
    (n << 1 ^ n >> 63).cast_unsigned()
}

impl Value {
    /// Reads a struct to its end.
    pub(super) fn read_struct(input: &mut &[u8], depth: u8) -> Option<Self> {
        let (mut fields, mut id) = (Vec::new(), 0i16);
        if depth > DEEPEST {
            return None;
        }
        loop {
            let head = byte(input)?;
            if head == 0 {
                return Some(Self::Struct(fields));
            }
            id = match head >> 4 {
                0 => i16::try_from(unzigzag(varint(input)?)).ok()?,
                step => id.checked_add(step.into())?,
            };
            let value = match head & 15 {
                1 => Self::Flag(true),
                2 => Self::Flag(false),
                kind => Self::read(kind, input, depth)?,
            };
            fields.push((id, value));
        }
    }

    fn read(kind: u8, input: &mut &[u8], depth: u8) -> Option<Self> {
        Some(match kind {
            1 | 2 => Self::Flag(byte(input)? == 1),
            3 => Self::Byte(byte(input)?),
            4..=6 => Self::Number(kind, unzigzag(varint(input)?)),
            7 => {
                let (bytes, rest) = input.split_first_chunk()?;
                *input = rest;
                Self::Double(*bytes)
            }
            8 => {
                let (bytes, rest) = input.split_at_checked(usize::try_from(varint(input)?).ok()?)?;
                *input = rest;
                Self::Binary(bytes.to_vec())
            }
            9 | 10 => {
                let head = byte(input)?;
                let count = if head >> 4 == 15 { varint(input)? } else { u64::from(head >> 4) };
                let read = |_| Self::read(head & 15, input, depth + 1);
                Self::List(head & 15, (0..count.min(1 << 16)).map(read).collect::<Option<_>>()?)
            }
            12 => Self::read_struct(input, depth + 1)?,
            _ => return None,
        })
    }

    fn code(&self) -> u8 {
        match self {
            Self::Flag(true) => 1,
            Self::Flag(false) => 2,
            Self::Byte(_) => 3,
            Self::Number(code, _) => *code,
            Self::Double(_) => 7,
            Self::Binary(_) => 8,
            Self::List(..) => 9,
            Self::Struct(_) => 12,
        }
    }

    /// Writes it; a field's flag is in its head.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Flag(yes) => out.push(if *yes { 1 } else { 2 }),
            Self::Byte(b) => out.push(*b),
            Self::Number(_, n) => put_varint(zigzag(*n), out),
            Self::Double(bytes) => out.extend_from_slice(bytes),
            Self::Binary(bytes) => {
                put_varint(bytes.len() as u64, out);
                out.extend_from_slice(bytes);
            }
            Self::List(code, elements) => {
                match u8::try_from(elements.len()) {
                    Ok(few) if few < 15 => out.push(few << 4 | code),
                    _ => {
                        out.push(0xf0 | code);
                        put_varint(elements.len() as u64, out);
                    }
                }
                elements.iter().for_each(|e| e.write(out));
            }
            Self::Struct(fields) => {
                let mut last = 0i16;
                for (id, value) in fields {
                    match id.wrapping_sub(last) {
                        step @ 1..=15 => out.push((step as u8) << 4 | value.code()),
                        _ => {
                            out.push(value.code());
                            put_varint(zigzag((*id).into()), out);
                        }
                    }
                    if !matches!(value, Self::Flag(_)) {
                        value.write(out);
                    }
                    last = *id;
                }
                out.push(0);
            }
        }
    }

    /// The field of a struct.
    pub(super) fn field(&mut self, id: i16) -> Option<&mut Self> {
        match self {
            Self::Struct(fields) => fields.iter_mut().find(|f| f.0 == id).map(|f| &mut f.1),
            _ => None,
        }
    }

    /// How many values there are, itself among them.
    fn count(&self) -> usize {
        1 + match self {
            Self::List(_, elements) => elements.iter().map(Self::count).sum(),
            Self::Struct(fields) => fields.iter().map(|f| f.1.count()).sum(),
            _ => 0,
        }
    }

    /// Changes one value of all.
    pub(super) fn change(&mut self, rng: &mut Rng) {
        let mut n = rng.usize(..self.count());
        self.change_at(&mut n, rng);
    }

    fn change_at(&mut self, n: &mut usize, rng: &mut Rng) {
        if *n > 0 {
            *n -= 1;
            let inner: Vec<&mut Self> = match self {
                Self::List(_, elements) => elements.iter_mut().collect(),
                Self::Struct(fields) => fields.iter_mut().map(|f| &mut f.1).collect(),
                _ => Vec::new(),
            };
            for value in inner {
                let count = value.count();
                if *n < count {
                    return value.change_at(n, rng);
                }
                *n -= count;
            }
            return;
        }
        match self {
            Self::Flag(yes) => *yes = !*yes,
            Self::Byte(b) => *b = rng.u8(..),
            Self::Number(_, old) => {
                *old = if rng.bool() { number(rng).cast_signed() } else { old.wrapping_add(rng.i64(-3..4)) };
            }
            Self::Double(bytes) => bytes[rng.usize(..8)] = rng.u8(..),
            Self::Binary(bytes) => *bytes = super::bytes(bytes, rng),
            Self::List(_, elements) if !elements.is_empty() => {
                let at = rng.usize(..elements.len());
                match rng.u8(..3) {
                    0 => drop(elements.remove(at)),
                    1 => elements.insert(at, elements[at].clone()),
                    _ => elements.swap(at, 0),
                }
            }
            Self::Struct(fields) if !fields.is_empty() => {
                let at = rng.usize(..fields.len());
                match rng.u8(..3) {
                    0 => drop(fields.remove(at)),
                    1 => fields[at].0 = rng.i16(0..16),
                    _ => fields[at].1 = Self::Number(5, number(rng).cast_signed()),
                }
            }
            Self::List(..) | Self::Struct(_) => {}
        }
    }
}
