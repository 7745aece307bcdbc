//! Arrow tables of any columns, as a file or a stream, made, or with a message changed in place.

use super::{fitting, fitting_word, number};
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, DictionaryArray, Float32Array, Float64Array, Int8Array, Int32Array,
    Int64Array, LargeStringArray, RecordBatch, StringArray, StringViewArray, UInt16Array, UInt64Array,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{Field, Schema};
use fastrand::Rng;
use std::sync::Arc;

const NAMES: [&str; 12] =
    ["address", "size", "kind", "pc", "core", "lane", "addr", "is_write", "op", "thread", "cpu", "comment"];

const WORDS: [&str; 10] = ["R", "w", "store", "0x7ffe", "12", "-1", "", "dance", "0x", "modify"];

/// What a message starts with.
const CONTINUED: [u8; 4] = [0xff; 4];

/// The table with numbers of one message changed in place, mostly of its data; `None` where it is none.
pub(super) fn change(input: &[u8], rng: &mut Rng) -> Option<Vec<u8>> {
    let mut at = if input.starts_with(b"ARROW1") { 8 } else { 0 };
    let mut parts = Vec::new();
    while let Some(rest) = input.get(at..)
        && rest.starts_with(&CONTINUED)
    {
        let length = u32::from_le_bytes(rest.get(4..8)?.try_into().ok()?) as usize;
        let Some(about) = rest.get(8..8 + length).filter(|about| !about.is_empty()) else { break };
        let body = usize::try_from(arrow_ipc::root_as_message(about).ok()?.bodyLength()).ok()?;
        at += 8 + length;
        parts.push((at - length..at, at..input.len().min(at.saturating_add(body))));
        at = at.checked_add(body)?;
    }
    let (about, body) = parts.get(rng.usize(..parts.len().max(1)))?.clone();
    let part = if body.is_empty() || rng.u8(..8) == 0 { about } else { body };
    let mut out = input.to_vec();
    let part = &mut out[part];
    if rng.bool() && !part.is_empty() {
        let at = rng.usize(..part.len());
        part[at] ^= 1 << rng.u8(..8);
        return Some(out);
    }
    for _ in 0..rng.usize(1..4) {
        // The message's words are aligned, and so are numbers of the data.
        let width = [1, 2, 4, 8][rng.usize(..4)];
        let place = rng.usize(..=part.len().checked_sub(width)? / width) * width;
        part[place..place + width].copy_from_slice(&number(rng).to_le_bytes()[..width]);
    }
    Some(out)
}

/// A table in the bytes of a file or a stream; empty where the library does not take it.
pub(super) fn made(rng: &mut Rng) -> Vec<u8> {
    made_or_not(rng).unwrap_or_default()
}

fn made_or_not(rng: &mut Rng) -> Option<Vec<u8>> {
    let count = rng.usize(1..7);
    let kinds: Vec<u8> = (0..count).map(|_| if rng.u8(..3) > 0 { rng.u8(..4) } else { rng.u8(..13) }).collect();
    let names: Vec<&str> = (0..count)
        .map(|n| if n == 0 || rng.u8(..4) > 0 { NAMES[n] } else { NAMES[rng.usize(..NAMES.len())] })
        .collect();
    let rows = rng.usize(..64);
    let batch = |rng: &mut Rng| -> Vec<ArrayRef> {
        kinds.iter().zip(&names).map(|(kind, name)| column(*kind, name, rows, rng)).collect()
    };
    let first = batch(rng);
    let fields: Vec<Field> =
        names.iter().zip(&first).map(|(name, column)| Field::new(*name, column.data_type().clone(), true)).collect();
    let schema = Arc::new(Schema::new(fields));
    let packing = [None, None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)][rng.usize(..4)];
    let options = IpcWriteOptions::default().try_with_compression(packing).ok()?;
    let mut batches = vec![RecordBatch::try_new(Arc::clone(&schema), first).ok()?];
    for _ in 0..rng.usize(..3) {
        batches.push(RecordBatch::try_new(Arc::clone(&schema), batch(rng)).ok()?);
    }
    if rng.bool() {
        let mut writer = FileWriter::try_new_with_options(Vec::new(), &schema, options).ok()?;
        batches.iter().try_for_each(|batch| writer.write(batch)).ok()?;
        writer.finish().ok()?;
        writer.into_inner().ok()
    } else {
        let mut writer = StreamWriter::try_new_with_options(Vec::new(), &schema, options).ok()?;
        batches.iter().try_for_each(|batch| writer.write(batch)).ok()?;
        writer.finish().ok()?;
        writer.into_inner().ok()
    }
}

fn column(kind: u8, name: &str, rows: usize, rng: &mut Rng) -> ArrayRef {
    // Most columns hold what their name says, and an address is always there.
    let wild = rng.u8(..8) == 0;
    let nulls = rng.bool() && (wild || name != "address");
    macro_rules! list {
        ($value:expr) => {
            (0..rows).map(|_| if nulls && rng.u8(..8) == 0 { None } else { Some($value) }).collect()
        };
    }
    macro_rules! of {
        ($array:ty, $kind:ty) => {{
            let values: Vec<Option<$kind>> =
                list!(if wild { number(rng) as $kind } else { fitting(name, rng) as $kind });
            Arc::new(<$array>::from(values))
        }};
    }
    let words = |rng: &mut Rng| if wild { WORDS[rng.usize(..WORDS.len())].to_owned() } else { fitting_word(name, rng) };
    match kind {
        0 => of!(UInt64Array, u64),
        1 => of!(Int64Array, i64),
        2 => of!(Int32Array, i32),
        3 => of!(UInt16Array, u16),
        4 => of!(Int8Array, i8),
        5 => of!(Float64Array, f64),
        6 => of!(Float32Array, f32),
        7 => {
            let values: Vec<Option<bool>> = list!(rng.bool());
            Arc::new(BooleanArray::from(values))
        }
        8 => {
            let values: Vec<Option<String>> = list!(words(rng));
            Arc::new(StringArray::from(values))
        }
        9 => {
            let values: Vec<Option<String>> = list!(words(rng));
            Arc::new(LargeStringArray::from(values))
        }
        10 => {
            let values: Vec<Option<String>> = list!(words(rng));
            if rng.bool() {
                Arc::new(values.iter().map(Option::as_deref).collect::<DictionaryArray<Int8Type>>())
            } else {
                Arc::new(values.iter().map(Option::as_deref).collect::<DictionaryArray<Int32Type>>())
            }
        }
        11 => {
            let values: Vec<Option<String>> = list!(words(rng));
            Arc::new(StringViewArray::from(values))
        }
        _ => {
            let values: Vec<Option<String>> = list!(words(rng));
            Arc::new(values.iter().map(|word| word.as_deref().map(str::as_bytes)).collect::<BinaryArray>())
        }
    }
}
