//! Arrow IPC by the names of columns: streams, and files (Feather), which are a stream between `ARROW1` and a footer.
//!
//! Both are read from the front, message by message, so that pipes and files that are cut work; the footer is not needed. A
//! record batch is held whole while its rows are given out. Bodies may be plain, lz4 or zstd.

use super::super::super::error::{TraceError, shorten};
use super::super::super::input::Input;
use super::super::super::native::guarded;
use super::super::Opened;
use super::super::binary::{BLOCK, Binary, Bytes, Decode, u32_at, u64_at};
use super::{Columns, Role, from_double, from_text};
use crate::reference::{Reference, Tables};
use arrow_array::cast::AsArray;
use arrow_array::types as t;
use arrow_array::{Array, ArrowPrimitiveType, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamDecoder;
use arrow_ipc::{MessageHeader, root_as_message};
use arrow_schema::{ArrowError, DataType};
use parquet::errors::ParquetError;

const MAGIC: &[u8; 8] = b"ARROW1\0\0";
const CONTINUATION: u32 = u32::MAX;

/// The largest body of a message, packed and unpacked, in bytes: a batch of 64 M references.
const LARGEST: u64 = 4 << 30;

/// Rows given out at a time.
const BATCH: usize = 65_536;

const REMEDY: &str = "copy the trace again from where it came, or write it again";

struct ArrowTable {
    name: String,
    begun: bool,
    /// The end of the stream was met, and whether a mark said so.
    ended: bool,
    marked: bool,
    decoder: StreamDecoder,
    columns: Option<Columns>,
    batch: Option<(RecordBatch, usize)>,
    /// A message that the decoder has not taken yet: one without a body is decoded when the next one comes.
    pending: Buffer,
}

pub(in super::super) fn open(input: Input) -> Result<Opened, TraceError> {
    let table = ArrowTable {
        name: input.name.clone(),
        begun: false,
        ended: false,
        marked: false,
        decoder: StreamDecoder::new(),
        columns: None,
        batch: None,
        pending: Buffer::default(),
    };
    Ok(Opened::Once(Box::new(Binary::new(Bytes::new(input.name, Box::new(input.bytes)), table))))
}

/// A file, or a stream whose first message is a schema.
pub(in super::super) fn looks_like(head: &[u8]) -> bool {
    if head.starts_with(MAGIC) {
        return true;
    }
    let length = u32_at(head, 4);
    u32_at(head, 0) == CONTINUATION
        && (8..1 << 20).contains(&length)
        // A schema may be longer than the head; then its length has to do.
        && head.get(8..).is_some_and(|rest| {
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            rest.get(..length).map_or(rest.len() > 1024, is_schema)
        })
}

impl Decode for ArrowTable {
    fn decode(&mut self, bytes: &mut Bytes, limit: usize, out: &mut Vec<Reference>) -> Result<bool, TraceError> {
        if !self.begun {
            self.begun = true;
            self.begin(bytes)?;
        }
        while out.len() < limit {
            match self.batch.take() {
                Some((batch, from)) if from < batch.num_rows() => {
                    let to = batch.num_rows().min(from + BATCH.min(limit - out.len()));
                    self.rows(&batch.slice(from, to - from), out)?;
                    self.batch = Some((batch, to));
                }
                _ if self.message(bytes)? => {}
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    fn passed(&self) -> Vec<(u64, &'static str)> {
        self.columns.as_ref().map(Columns::passed).unwrap_or_default()
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks = self.columns.as_ref().map(Columns::remarks).unwrap_or_default();
        if !self.marked {
            remarks.push("the stream has no mark at its end: rows may be missing".into());
        }
        remarks
    }

    fn tables(&self) -> Tables {
        Tables { made_by: "Arrow IPC".into(), ..Tables::default() }
    }

    fn expected(&self) -> &'static str {
        "at least one row with an address"
    }
}

impl ArrowTable {
    /// Passes over what stands before the messages of a file.
    fn begin(&mut self, bytes: &mut Bytes) -> Result<(), TraceError> {
        if !bytes.window(MAGIC.len())?.starts_with(MAGIC) {
            return Ok(());
        }
        bytes.advance(MAGIC.len());
        // Arrow's own Rust library pads the magic number to 64 bytes.
        let padding = bytes.window(64)?.chunks_exact(8).take_while(|word| u64_at(word, 0) == 0).count();
        bytes.advance(8 * padding);
        // Polars (2026) writes the schema of a file without its length: readers of files take it from the footer.
        let head = bytes.window(BLOCK)?;
        if u32_at(head, 0) == CONTINUATION {
            return Ok(());
        }
        let framed = |at: &usize| {
            let length = usize::try_from(u32_at(head, at + 4)).unwrap_or(usize::MAX);
            let message = head.get(at + 8..).and_then(|rest| rest.get(..length));
            u32_at(head, *at) == CONTINUATION && message.is_some_and(|message| root_as_message(message).is_ok())
        };
        let schema = (8..head.len().min(BLOCK / 4)).step_by(8).find(framed).and_then(|length| head.get(..length));
        let schema = schema.filter(|schema| is_schema(schema)).map(<[u8]>::to_vec);
        let Some(schema) = schema else { return Ok(()) };
        let offset = bytes.offset();
        bytes.advance(schema.len());
        let length = u32::try_from(schema.len()).unwrap_or(0);
        let message = [&CONTINUATION.to_le_bytes()[..], &length.to_le_bytes(), &schema].concat();
        self.decode_message(bytes, offset, message, 0)
    }

    /// Reads a message; `false` at the end of the stream.
    fn message(&mut self, bytes: &mut Bytes) -> Result<bool, TraceError> {
        let offset = bytes.offset();
        if !self.pending.is_empty() {
            return self.take_pending(bytes, offset).map(|()| true);
        }
        if self.ended {
            return Ok(false);
        }
        let start = bytes.window(8)?;
        if start.len() < 8 {
            bytes.tear();
            return self.end(bytes, offset);
        }
        let (mark, length) = (u32_at(start, 0), u32_at(start, 4));
        if mark != CONTINUATION {
            return Err(bytes.damaged(offset, format!("0x{mark:08x}"), "0xffffffff before a message", REMEDY));
        }
        if length == 0 {
            self.marked = true;
            return self.end(bytes, offset);
        }
        let Some(whole) = usize::try_from(length).ok().map(|n| n + 8).filter(|n| *n <= BLOCK) else {
            return Err(bytes.damaged(offset, format!("a message of {length} bytes"), "1 MiB at most", REMEDY));
        };
        if bytes.window(whole)?.len() < whole {
            bytes.tear();
            return self.end(bytes, offset);
        }
        let mut message = bytes.held(whole).0.to_vec();
        bytes.advance(whole);
        let body = guarded(|| body_length(&message[8..]).map_err(ParquetError::General));
        let body = body.map_err(|e| bytes.damaged(offset, text(&e), "a whole Arrow message", REMEDY))?;
        if !bytes.append(body, &mut message)? {
            return self.end(bytes, offset);
        }
        self.decode_message(bytes, offset, message, body).map(|()| true)
    }

    /// Decodes a whole message: mark, length, flatbuffer, and a body of `body` bytes.
    fn decode_message(&mut self, bytes: &Bytes, offset: u64, message: Vec<u8>, body: u64) -> Result<(), TraceError> {
        let before = message.len() - usize::try_from(body).unwrap_or(0).min(message.len() - 8);
        let sound = guarded(|| check_packed(&message[8..before], &message[before..]).map_err(ParquetError::General));
        sound.map_err(|e| bytes.damaged(offset, text(&e), "a whole Arrow message", REMEDY))?;
        self.pending = Buffer::from_vec(message);
        self.take_pending(bytes, offset)
    }

    /// Ends the stream for the decoder, which may still have a batch; whether it had.
    fn end(&mut self, bytes: &Bytes, offset: u64) -> Result<bool, TraceError> {
        self.ended = true;
        self.pending = Buffer::from_vec(vec![0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
        self.take_pending(bytes, offset)?;
        self.pending = Buffer::default();
        Ok(self.batch.is_some())
    }

    /// Gives the decoder what it has not taken yet, up to the next batch.
    fn take_pending(&mut self, bytes: &Bytes, offset: u64) -> Result<(), TraceError> {
        let (decoder, pending) = (&mut self.decoder, &mut self.pending);
        let decoded = guarded(|| decoder.decode(pending).map_err(|e| ParquetError::General(words(&e))));
        let batch = match decoded {
            Ok(batch) => batch,
            Err(e) => {
                self.pending = Buffer::default();
                return Err(bytes.damaged(offset, text(&e), "a whole Arrow message", REMEDY));
            }
        };
        if self.columns.is_none()
            && let Some(schema) = self.decoder.schema()
        {
            let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
            self.columns = Some(Columns::find(&self.name, &names)?);
        }
        self.batch = batch.map(|batch| (batch, 0));
        Ok(())
    }

    /// Gives out some rows.
    fn rows(&mut self, batch: &RecordBatch, out: &mut Vec<Reference>) -> Result<(), TraceError> {
        let Some(columns) = &mut self.columns else { return Ok(()) };
        let mut values = Vec::with_capacity(columns.used().len());
        for column in columns.used() {
            let array = batch.column(column.index).as_ref();
            let read = guarded(|| Ok(values_of(column.role, array)));
            match read {
                Ok(Ok(list)) => values.push(list),
                Ok(Err(Bad::Value(row, found))) => return Err(columns.bad_value(column, row, &found)),
                _ => return Err(columns.bad_type(column, &shorten(&array.data_type().to_string()))),
            }
        }
        columns.add(&values, out)
    }
}

fn is_schema(message: &[u8]) -> bool {
    root_as_message(message).is_ok_and(|m| m.header_type() == MessageHeader::Schema)
}

/// Length of the body that follows a message.
fn body_length(message: &[u8]) -> Result<u64, String> {
    let message = root_as_message(message).map_err(|_| "a message that is no flatbuffer".to_owned())?;
    let length = message.bodyLength();
    u64::try_from(length)
        .ok()
        .filter(|&length| length <= LARGEST)
        .ok_or_else(|| format!("a body of {length} bytes (at most {LARGEST} are read: write smaller batches)"))
}

/// The library takes memory for packed buffers by what they say of themselves: together they must stay in bounds.
fn check_packed(message: &[u8], body: &[u8]) -> Result<(), String> {
    let Ok(message) = root_as_message(message) else { return Ok(()) };
    let batch =
        message.header_as_record_batch().or_else(|| message.header_as_dictionary_batch().and_then(|d| d.data()));
    let Some(batch) = batch.filter(|batch| batch.compression().is_some()) else { return Ok(()) };
    let mut total = 0u64;
    for buffer in batch.buffers().into_iter().flatten() {
        let place = usize::try_from(buffer.offset()).ok().zip(usize::try_from(buffer.length()).ok());
        let inside = place.and_then(|(at, length)| body.get(at..)?.get(..length));
        let Some(inside) = inside else { return Err("a buffer that lies outside its message".into()) };
        // -1 says that the buffer is not packed after all.
        if let Ok(length) = u64::try_from(u64_at(inside, 0).cast_signed()) {
            total = total.saturating_add(length);
        }
    }
    if total <= LARGEST { Ok(()) } else { Err(format!("a batch that unpacks to {total} bytes")) }
}

/// Why a column cannot be read.
enum Bad {
    Value(usize, String),
    Type,
}

fn values_of(role: Role, array: &dyn Array) -> Result<Vec<Option<u64>>, Bad> {
    // 32-bit addresses with their highest bit set come as negative numbers.
    let address = matches!(role, Role::Address | Role::Pc);
    let narrow = |v: i32| if address { u64::from(v.cast_unsigned()) } else { i64::from(v).cast_unsigned() };
    let signed = |v: i64| Some(v.cast_unsigned());
    match array.data_type() {
        DataType::UInt64 => numbers::<t::UInt64Type>(array, Some),
        DataType::UInt32 => numbers::<t::UInt32Type>(array, |v| Some(v.into())),
        DataType::UInt16 => numbers::<t::UInt16Type>(array, |v| Some(v.into())),
        DataType::UInt8 => numbers::<t::UInt8Type>(array, |v| Some(v.into())),
        DataType::Int64 => numbers::<t::Int64Type>(array, signed),
        DataType::Int32 => numbers::<t::Int32Type>(array, |v| Some(narrow(v))),
        DataType::Int16 => numbers::<t::Int16Type>(array, |v| signed(v.into())),
        DataType::Int8 => numbers::<t::Int8Type>(array, |v| signed(v.into())),
        DataType::Float64 => numbers::<t::Float64Type>(array, from_double),
        DataType::Float32 => numbers::<t::Float32Type>(array, |v| from_double(v.into())),
        DataType::Boolean => Ok(array.as_boolean().iter().map(|v| v.map(u64::from)).collect()),
        DataType::Utf8 => texts(role, array.as_string::<i32>().iter()),
        DataType::LargeUtf8 => texts(role, array.as_string::<i64>().iter()),
        DataType::Utf8View => texts(role, array.as_string_view().iter()),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            if dictionary.values().is_empty() {
                return Ok(vec![None; array.len()]);
            }
            let values = values_of(role, dictionary.values().as_ref())?;
            let of =
                |(n, key): (usize, usize)| if array.is_null(n) { None } else { values.get(key).copied().flatten() };
            Ok(dictionary.normalized_keys().into_iter().enumerate().map(of).collect())
        }
        DataType::Null => Ok(vec![None; array.len()]),
        _ => Err(Bad::Type),
    }
}

fn numbers<T: ArrowPrimitiveType>(
    array: &dyn Array,
    value: impl Fn(T::Native) -> Option<u64>,
) -> Result<Vec<Option<u64>>, Bad> {
    let array = array.as_primitive_opt::<T>().ok_or(Bad::Type)?;
    let mut out = Vec::with_capacity(array.len());
    for (n, v) in array.iter().enumerate() {
        match v {
            None => out.push(None),
            Some(v) => match value(v) {
                Some(v) => out.push(Some(v)),
                None => {
                    let shown = format!("{v:?}");
                    // A missing floating-point number is a NaN in some tools' tables.
                    if shown != "NaN" {
                        return Err(Bad::Value(n, shown));
                    }
                    out.push(None);
                }
            },
        }
    }
    Ok(out)
}

fn texts<'a>(role: Role, texts: impl Iterator<Item = Option<&'a str>>) -> Result<Vec<Option<u64>>, Bad> {
    let value = |(n, text): (usize, Option<&str>)| match text {
        None => Ok(None),
        Some(text) => from_text(role, text).map(Some).ok_or_else(|| Bad::Value(n, text.to_owned())),
    };
    texts.enumerate().map(value).collect()
}

fn words(error: &ArrowError) -> String {
    shorten(&error.to_string())
}

fn text(error: &ParquetError) -> String {
    match error {
        ParquetError::General(what) => what.clone(),
        other => other.to_string(),
    }
}
