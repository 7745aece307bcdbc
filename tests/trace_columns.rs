//! Tables with named columns: every type a value comes in, and what no reference can be made of. The tables are written here, by
//! the Arrow and Parquet libraries; `tests/trace_binary.rs` reads those of other tools.
#![cfg(feature = "formats")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int8Array, Int32Array, Int64Array, LargeStringArray,
    ListArray, NullArray, RecordBatch, StringArray, StringViewArray, UInt16Array, UInt64Array,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use orrery::reference::Kind::{Fetch, Modify, Read, Write};
use orrery::reference::{NO_LANE, Reference};
use orrery::trace::{self, Format};
use parquet::basic::Compression;
use parquet::data_type::Int64Type;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::fs;
use std::sync::Arc;

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap()
}

fn stream(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

fn read(bytes: &[u8]) -> Result<(Vec<Reference>, Vec<String>), String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.arrow");
    fs::write(&path, bytes).unwrap();
    let source = trace::open(&path, None).map_err(|e| e.to_string())?;
    Ok((source.chunk(0).unwrap().to_vec(), source.notices().to_vec()))
}

#[test]
fn every_type_of_value_is_understood() {
    let addresses = vec![Some(0x1000u64), None, Some(u64::MAX), Some(0x3000), Some(0x4000)];
    let kinds = StringArray::from(vec![Some("R"), Some("w"), Some("Store"), Some("modify"), None]);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("VAddr", Arc::new(UInt64Array::from(addresses))),
        ("width", Arc::new(Float64Array::from(vec![Some(8.0), Some(4.0), Some(1.0), Some(f64::NAN), Some(0.0)]))),
        ("access type", Arc::new(kinds)),
        ("IP", Arc::new(StringViewArray::from(vec![Some("0x401000"), None, Some("16"), Some(" 0X10 "), None]))),
        ("lane", Arc::new(Int8Array::from(vec![Some(-1), Some(0), Some(31), None, Some(1)]))),
        ("cpu", Arc::new(UInt16Array::from(vec![Some(3), Some(0), Some(u16::MAX), None, Some(1)]))),
        ("note", Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>((0..5).map(|i| Some(vec![Some(i)]))))),
    ];
    let of = |kind, addr, size, pc, core, lane| Reference { addr, pc, size, core, lane, kind };
    let expected = [
        of(Read, 0x1000, 8, 0x40_1000, 3, NO_LANE),
        of(Write, u64::MAX, 1, 16, u16::MAX, 31),
        of(Modify, 0x3000, 1, 16, 0, NO_LANE),
    ];
    let whole = batch(columns);
    let (found, notices) = read(&stream(&whole)).unwrap();
    assert_eq!(found, expected);
    assert!(notices[0].contains("1 address-less row, 1 zero-byte reference"), "{notices:?}");
    // The same as a file, plain and packed.
    for packing in [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)] {
        let options = IpcWriteOptions::default().try_with_compression(packing).unwrap();
        let mut writer = FileWriter::try_new_with_options(Vec::new(), &whole.schema(), options).unwrap();
        for row in 0..whole.num_rows() {
            writer.write(&whole.slice(row, 1)).unwrap();
        }
        assert_eq!(read(&writer.into_inner().unwrap()).unwrap().0, expected, "{packing:?}");
    }
}

#[test]
fn kinds_come_as_words_numbers_and_flags() {
    let four = || Arc::new(Int64Array::from(vec![64, 128, 192, 256])) as ArrayRef;
    let words: DictionaryArray<Int32Type> = vec!["ld", "ST", "atomic", "Instr"].into_iter().collect();
    let cases: Vec<(&str, ArrayRef, [orrery::reference::Kind; 4])> = vec![
        ("op", Arc::new(words), [Read, Write, Modify, Fetch]),
        ("kind", Arc::new(Int32Array::from(vec![0, 1, 2, 3])), [Read, Write, Modify, Fetch]),
        ("type", Arc::new(Int8Array::from(vec![1, 0, 1, 0])), [Write, Read, Write, Read]),
        ("is_write", Arc::new(BooleanArray::from(vec![true, false, false, true])), [Write, Read, Read, Write]),
        ("rw", Arc::new(LargeStringArray::from(vec!["0", "1", "read", "WRITE"])), [Read, Write, Read, Write]),
        ("kind", Arc::new(NullArray::new(4)), [Read, Read, Read, Read]),
    ];
    for (name, array, expected) in cases {
        let (found, _) = read(&stream(&batch(vec![("address", four()), (name, array)]))).unwrap();
        assert_eq!(found.iter().map(|r| r.kind).collect::<Vec<_>>(), expected, "{name}");
    }
    // Signed 32-bit addresses are those of a 32-bit program; threads are numbered as they come.
    let high: ArrayRef = Arc::new(Int32Array::from(vec![-4096, 4096, 8192, 64]));
    let tids: ArrayRef = Arc::new(Int64Array::from(vec![900, -5, 900, 1]));
    let (found, notices) = read(&stream(&batch(vec![("addr", high), ("tid", tids)]))).unwrap();
    assert_eq!(
        found.iter().map(|r| (r.addr, r.core)).collect::<Vec<_>>(),
        [(0xffff_f000, 0), (4096, 1), (8192, 0), (64, 2)]
    );
    assert!(notices[0].contains("no column of sizes") && notices[1].contains("no column of kinds"), "{notices:?}");
}

#[test]
fn values_that_are_no_reference_are_named_by_row() {
    let at = || ("address", Arc::new(UInt64Array::from(vec![64, u64::MAX])) as ArrayRef);
    let numbers = |second: i64| Arc::new(Int64Array::from(vec![1, second])) as ArrayRef;
    let texts = |second: &str| Arc::new(StringArray::from(vec!["1", second])) as ArrayRef;
    let doubles = |second: f64| Arc::new(Float64Array::from(vec![1.0, second])) as ArrayRef;
    let list: ArrayRef =
        Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>((0..2).map(|i| Some(vec![Some(i)]))));
    for (columns, words) in [
        (vec![("colour", numbers(0)), ("taste", texts("x"))], ["colour, taste", "column `address`"]),
        (vec![at(), ("size", numbers(2))], ["2 bytes at 0xffffffffffffffff in row 1", "below 2^64"]),
        (vec![at(), ("size", numbers(1 << 21))], ["2097152 bytes", "1 to 1048576"]),
        (vec![at(), ("size", numbers(-8))], ["-8 bytes", "1 to 1048576"]),
        (vec![at(), ("kind", numbers(4))], ["kind 4 in row 1", "0 to 3"]),
        (vec![at(), ("type", numbers(2))], ["kind 2 in row 1", "a word such as read"]),
        (vec![at(), ("op", texts("dance"))], ["`dance` in column `op` in row 1", "a word such as read"]),
        (vec![at(), ("core", numbers(65_536))], ["core 65536 in row 1", "0 to 65535"]),
        (vec![at(), ("lane", numbers(256))], ["lane 256 in row 1", "0 to 255"]),
        (vec![("addr", texts("7ffe"))], ["`7ffe` in column `addr` in row 1", "0x before hexadecimal"]),
        (vec![("addr", doubles(0.5))], ["`0.5` in column `addr`", "whole number"]),
        (vec![("addr", list)], ["column `addr` of List", "cast the column"]),
        (vec![("addr", Arc::new(NullArray::new(2)) as ArrayRef)], ["only 2 address-less rows", "at least one row"]),
    ] {
        let message = read(&stream(&batch(columns))).unwrap_err();
        assert!(words.iter().all(|word| message.contains(word)), "{words:?}: {message}");
    }
    let none = batch(vec![("address", Arc::new(UInt64Array::from(Vec::<u64>::new())) as ArrayRef)]);
    assert!(read(&stream(&none)).unwrap_err().contains("no references"));
}

#[test]
fn lengths_that_lie_take_no_memory() {
    let addresses = || Arc::new(UInt64Array::from_iter_values((0..4000).map(|i| 64 * i))) as ArrayRef;
    let whole = batch(vec![("address", addresses())]);
    let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME)).unwrap();
    let mut writer = StreamWriter::try_new_with_options(Vec::new(), &whole.schema(), options).unwrap();
    writer.write(&whole).unwrap();
    let packed = writer.into_inner().unwrap();
    // The unpacked length stands before the packed bytes: 32,000 becomes 2^46.
    let at = packed.windows(8).position(|w| w == 32_000u64.to_le_bytes()).unwrap();
    let mut lying = packed.clone();
    lying[at..at + 8].copy_from_slice(&(1u64 << 46).to_le_bytes());
    let message = read(&lying).unwrap_err();
    assert!(message.contains("unpacks to 70368744177664 bytes"), "{message}");
    assert_eq!(read(&packed).unwrap().0.len(), 4000);
    assert!(Format::ARROW.looks_like(&packed));
}

#[test]
fn a_page_that_lies_about_its_size_is_refused_before_memory_is_taken() {
    let schema = "message t { required int64 address (INTEGER(64,false)); }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None);
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build())).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<Int64Type>().write_batch(&vec![4096; 60_000], None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    let whole = writer.into_inner().unwrap();
    assert_eq!(read(&whole).unwrap().0.len(), 60_000);
    // A page's header: type 0 (15 00), then its size unpacked (15, zigzag): some 160,000 bytes a page become a million.
    let at = whole.windows(3).position(|w| w == [0x15, 0, 0x15]).unwrap() + 3;
    assert!(whole[at] >= 0x80 && whole[at + 1] >= 0x80 && whole[at + 2] < 0x80, "{:02x?}", &whole[at..at + 3]);
    let mut lying = whole.clone();
    lying[at..at + 3].copy_from_slice(&[0xfe, 0xff, 0x7f]);
    let message = read(&lying).unwrap_err();
    assert!(message.contains("at byte 4") && message.contains("unpack to 1048575"), "{message}");
}
