//! Parquet, our own files among them: the footer is changed as a tree, data as bytes, unpacked where they are packed
//! ([`pages`]), and lengths and the checksums that our files carry (`trace::native::checksum`) are mended; or a whole table is
//! made of any columns.

mod pages;

use super::thrift::Value;
use super::{bytes, fitting, fitting_word, number};
use fastrand::Rng;
use flate2::Crc;
use parquet::basic::Compression;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::file::metadata::ParquetMetaDataReader;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::sync::Arc;

const MAGIC: &[u8; 4] = b"PAR1";

/// The number of the list of keys and values in a footer.
const KEYS: i16 = 5;

/// The table with something changed; `None` where it is none, or its footer cannot be read.
pub(super) fn change(input: &[u8], rng: &mut Rng) -> Option<Vec<u8>> {
    let body = input.strip_prefix(MAGIC)?.strip_suffix(MAGIC)?;
    let (body, length) = body.split_last_chunk::<4>()?;
    let at = body.len().checked_sub(u32::from_le_bytes(*length) as usize)?;
    let (data, footer) = body.split_at(at);
    let mut footer = Value::read_struct(&mut { footer }, 0)?;
    let mut data = data.to_vec();
    match rng.u8(..8) {
        0 => data = same_length(&data, rng),
        1 | 2 => change_words(&mut footer, rng),
        3..6 => {
            let changed = pages::change(&data, &mut footer, rng);
            data = changed.unwrap_or_else(|| same_length(&data, rng));
        }
        _ => (0..rng.usize(1..3)).for_each(|_| footer.change(rng)),
    }
    // Now and then the checksums are not mended, so that it shows whether they are looked at.
    if rng.u8(..8) > 0 {
        mend(&data, &mut footer);
    }
    Some(file(&data, &footer))
}

fn file(data: &[u8], footer: &Value) -> Vec<u8> {
    let mut packed = Vec::new();
    footer.write(&mut packed);
    let length = (packed.len() as u32).to_le_bytes();
    [MAGIC, data, &packed, &length, MAGIC].concat()
}

/// Bytes changed in place: what lies behind keeps its place.
fn same_length(data: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut data = data.to_vec();
    for _ in 0..rng.usize(1..4) {
        if !data.is_empty() {
            let at = rng.usize(..data.len());
            data[at] = if rng.bool() { rng.u8(..) } else { data[at] ^ 1 << rng.u8(..8) };
        }
    }
    data
}

/// The value under a key of the footer.
fn under<'a>(footer: &'a mut Value, key: &str) -> Option<&'a mut Vec<u8>> {
    let Value::List(_, pairs) = footer.field(KEYS)? else { return None };
    let is = |pair: &mut Value| matches!(pair.field(1), Some(Value::Binary(name)) if name == key.as_bytes());
    match pairs.iter_mut().find_map(|pair| is(pair).then_some(pair))?.field(2)? {
        Value::Binary(value) => Some(value),
        _ => None,
    }
}

/// The tables of regions, places in the source and marks, changed as JSON.
fn change_words(footer: &mut Value, rng: &mut Rng) {
    let key = if rng.u8(..8) == 0 { "orrery.version" } else { "orrery.tables" };
    let Some(words) = under(footer, key) else { return };
    match serde_json::from_slice::<serde_json::Value>(words) {
        Ok(mut json) => {
            for _ in 0..rng.usize(1..4) {
                change_json(&mut json, rng);
            }
            *words = json.to_string().into_bytes();
        }
        Err(_) => *words = bytes(words, rng),
    }
}

fn change_json(json: &mut serde_json::Value, rng: &mut Rng) {
    use serde_json::Value as Json;
    let deeper = rng.u8(..4) > 0;
    match json {
        Json::Array(list) if !list.is_empty() => {
            let at = rng.usize(..list.len());
            match rng.u8(..6) {
                0 => drop(list.remove(at)),
                1 => list.insert(at, list[at].clone()),
                _ => change_json(&mut list[at], rng),
            }
        }
        Json::Object(map) if deeper && !map.is_empty() => {
            let at = rng.usize(..map.len());
            if let Some((_, value)) = map.iter_mut().nth(at) {
                change_json(value, rng);
            }
        }
        Json::Object(map) => {
            let at = rng.usize(..=map.len());
            match map.keys().nth(at).cloned() {
                Some(key) => drop(map.remove(&key)),
                None => drop(map.insert("unknown".into(), Json::Null)),
            }
        }
        Json::Number(_) => *json = number(rng).into(),
        Json::String(text) => {
            let words = ["", "A", "\u{1b}[31m", "\u{202e}", "a\nb", "\0", "ü", "A #2"];
            *text = if rng.bool() { words[rng.usize(..words.len())].into() } else { text.repeat(rng.usize(1..9)) };
        }
        Json::Bool(yes) => *yes = !*yes,
        Json::Null | Json::Array(_) => {
            *json = [Json::from(0), Json::from("a"), Json::from(vec![0, 9])][rng.usize(..3)].clone()
        }
    }
}

fn crc(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// Makes the checksums of our own files right again.
fn mend(data: &[u8], footer: &mut Value) {
    let tables = under(footer, "orrery.tables").map(|words| crc(words));
    let layout = layout(&file(data, footer));
    let Some(words) = under(footer, "orrery.checksums") else { return };
    let Ok(mut sums) = serde_json::from_slice::<serde_json::Value>(words) else { return };
    if !sums.is_object() {
        return;
    }
    if let Some(tables) = tables {
        sums["tables"] = tables.into();
    }
    if let Some(layout) = layout {
        sums["layout"] = layout.into();
    }
    let whole = [MAGIC, data].concat();
    let mut start = 0;
    for group in sums["groups"].as_array_mut().into_iter().flatten() {
        let Some(end) = group[0].as_u64().and_then(|end| usize::try_from(end).ok()) else { return };
        let Some(bytes) = whole.get(start..end) else { return };
        *group = serde_json::json!([end, crc(bytes)]);
        start = end;
    }
    *words = sums.to_string().into_bytes();
}

/// As `trace::native::checksum::layout`: what the footer says of where columns lie.
fn layout(file: &[u8]) -> Option<u32> {
    let file = parquet_bytes(file);
    let metadata = std::panic::catch_unwind(|| ParquetMetaDataReader::new().parse_and_finish(&file).ok()).ok()??;
    let mut text = String::new();
    for c in metadata.row_groups().iter().flat_map(|group| group.columns()) {
        let (name, kind, packing) = (c.column_path().string(), c.column_type(), c.compression());
        let (dictionary, data) = (c.dictionary_page_offset().unwrap_or(-1), c.data_page_offset());
        let (bytes, values, nulls) = (c.compressed_size(), c.num_values(), c.column_descr().max_def_level());
        text.push_str(&format!("{name} {kind} {packing} {dictionary} {data} {bytes} {values} {nulls}\n"));
    }
    Some(crc(text.as_bytes()))
}

fn parquet_bytes(file: &[u8]) -> bytes::Bytes {
    bytes::Bytes::copy_from_slice(file)
}

/// Columns that readers know, and some that they do not.
const NAMES: [&str; 16] = [
    "address", "size", "kind", "pc", "core", "lane", "addr", "is_write", "op", "thread", "bytes", "rw", "ip", "cpu",
    "lane_id", "comment",
];

const TYPES: [&str; 12] = [
    "INT64 NAME",
    "INT32 NAME",
    "INT64 NAME (INTEGER(64,false))",
    "INT32 NAME (INTEGER(32,false))",
    "INT32 NAME (INTEGER(8,true))",
    "BOOLEAN NAME",
    "DOUBLE NAME",
    "FLOAT NAME",
    "BYTE_ARRAY NAME (UTF8)",
    "BYTE_ARRAY NAME",
    "INT96 NAME",
    "FIXED_LEN_BYTE_ARRAY (5) NAME",
];

/// A table of any columns, packed in any way.
pub(super) fn made(rng: &mut Rng) -> Vec<u8> {
    made_or_not(rng).unwrap_or_default()
}

fn made_or_not(rng: &mut Rng) -> Option<Vec<u8>> {
    let (mut columns, mut names) = (String::new(), Vec::new());
    let count = rng.usize(1..7);
    for n in 0..count {
        // The first columns by their own names, so that most tables can be read.
        let name = if n == 0 || rng.u8(..4) > 0 { NAMES[n] } else { NAMES[rng.usize(..NAMES.len())] };
        let kind = if rng.u8(..3) > 0 { TYPES[rng.usize(..5)] } else { TYPES[rng.usize(..TYPES.len())] };
        let there =
            ["REQUIRED", "OPTIONAL", "REPEATED"][[0, 0, 0, 1, 1, 1, 1, 2][rng.usize(..8) % (8 - usize::from(n == 0))]];
        columns.push_str(&format!("{there} {}; ", kind.replace("NAME", name)));
        names.push(name);
    }
    let schema = Arc::new(parse_message_type(&format!("message schema {{ {columns} }}")).ok()?);
    let packing = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::LZ4,
        Compression::LZ4_RAW,
        Compression::ZSTD(Default::default()),
        Compression::GZIP(Default::default()),
    ][rng.usize(..6)];
    let properties = WriterProperties::builder()
        .set_compression(packing)
        .set_dictionary_enabled(rng.bool())
        .set_data_page_size_limit([64, 1024, 1 << 20][rng.usize(..3)])
        .set_write_batch_size(16)
        .set_writer_version(if rng.bool() { WriterVersion::PARQUET_1_0 } else { WriterVersion::PARQUET_2_0 });
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build())).ok()?;
    for _ in 0..rng.usize(1..4) {
        let rows = rng.usize(..96);
        let mut group = writer.next_row_group().ok()?;
        let mut names = names.iter();
        while let (Some(mut column), Some(name)) = (group.next_column().ok()?, names.next()) {
            fill(column.untyped(), name, rows, rng)?;
            column.close().ok()?;
        }
        group.close().ok()?;
    }
    writer.into_inner().ok()
}

/// Writes `rows` values, some of them missing where that is allowed.
fn fill(writer: &mut ColumnWriter<'_>, name: &str, rows: usize, rng: &mut Rng) -> Option<()> {
    // Most columns hold what their name says.
    let wild = rng.u8(..8) == 0;
    let value = |rng: &mut Rng| if wild { number(rng) } else { fitting(name, rng) };
    let text = |rng: &mut Rng| {
        let words = ["R", "w", "store", "0x7ffe", "12", "-1", "", "dance", "0x", "modify"];
        let any = words[rng.usize(..words.len())];
        ByteArray::from(if wild { any.to_owned() } else { fitting_word(name, rng) }.into_bytes())
    };
    macro_rules! write {
        ($writer:expr, $value:expr) => {{
            let (defined, repeated) =
                ($writer.get_descriptor().max_def_level(), $writer.get_descriptor().max_rep_level());
            let levels: Vec<i16> = (0..rows).map(|_| if rng.u8(..8) == 0 { 0 } else { defined }).collect();
            let there = levels.iter().filter(|l| **l == defined).count();
            let values: Vec<_> = (0..there).map(|_| $value).collect();
            let zeros = vec![0; rows];
            $writer
                .write_batch(&values, (defined > 0).then_some(&levels[..]), (repeated > 0).then_some(&zeros[..]))
                .ok()?;
        }};
    }
    match writer {
        ColumnWriter::Int64ColumnWriter(w) => write!(w, value(rng).cast_signed()),
        ColumnWriter::Int32ColumnWriter(w) => write!(w, value(rng) as i32),
        ColumnWriter::BoolColumnWriter(w) => write!(w, rng.bool()),
        ColumnWriter::DoubleColumnWriter(w) => {
            write!(w, if rng.u8(..8) == 0 { f64::NAN } else { value(rng) as f64 })
        }
        ColumnWriter::FloatColumnWriter(w) => write!(w, value(rng) as f32),
        ColumnWriter::ByteArrayColumnWriter(w) => write!(w, text(rng)),
        ColumnWriter::FixedLenByteArrayColumnWriter(w) => {
            write!(w, parquet::data_type::FixedLenByteArray::from(ByteArray::from(vec![rng.u8(..); 5])))
        }
        ColumnWriter::Int96ColumnWriter(w) => write!(w, parquet::data_type::Int96::from(vec![rng.u32(..); 3])),
    }
    Some(())
}
