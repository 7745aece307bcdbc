//! gem5's packet trace (`src/proto/packet.proto`, `src/base/protoio`, 2013 on): what a `CommMonitor` or `MemTraceProbe` saw.
//!
//! The four bytes `gem5`, then messages of Google's protocol buffers, each behind its length as a varint: one header, then
//! packets.
//!
//! | `PacketHeader` | `Packet` |
//! |---|---|
//! | 1 object, 2 version, 3 ticks a second, 4 names of requestors (1 key, 2 name) | 1 tick, 2 command, 3 address, 4 size, 5 flags, 6 requestor, 7 pc |
//!
//! Command 1 (`ReadReq`) is a read, or a fetch where the flags say so; command 4 (`WriteReq`) is a write. These two numbers
//! have been the same in every gem5 that writes such traces; those of all other commands moved between versions (`MemCmd` in
//! `src/mem/packet.hh`), so that to read them would be a guess: they are counted by number and told. Requestors of one CPU
//! (`system.cpu0.inst`, `system.cpu0.data`) are one core.

use super::super::error::TraceError;
use super::super::input::Input;
use super::Opened;
use super::binary::{At, BLOCK, Binary, Bytes, Cores, Decode};
use crate::reference::{Kind, Reference, Tables};
use std::collections::{BTreeMap, HashMap};

const MAGIC: &[u8; 4] = b"gem5";

/// `Request::INST_FETCH`.
const FETCH: u64 = 0x100;

/// Requestors named in the line for people.
const NAMED: usize = 16;

/// Commands told one by one; more of them are told together.
const COMMANDS: usize = 8;

const REMEDY: &str = "copy the trace again from where it came, or record it again";

#[derive(Default)]
struct Gem5 {
    begun: bool,
    object: String,
    ticks: u64,
    /// Name of each requestor, and the number of the CPU (or device) that it belongs to.
    names: BTreeMap<u64, String>,
    owner_of: HashMap<u64, u64>,
    cores: Cores,
    /// How many packets of each other command.
    others: BTreeMap<u64, u64>,
    bare: u64,
    empty: u64,
}

pub(super) fn open(input: Input) -> Result<Opened, TraceError> {
    Ok(Opened::Once(Box::new(Binary::new(Bytes::new(input.name, Box::new(input.bytes)), Gem5::default()))))
}

pub(super) fn looks_like(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

impl Decode for Gem5 {
    fn decode(&mut self, bytes: &mut Bytes, limit: usize, out: &mut Vec<Reference>) -> Result<bool, TraceError> {
        if !self.begun {
            self.begun = true;
            return self.begin(bytes);
        }
        while out.len() < limit {
            if !with_message(bytes, |message, at| self.packet(message, at, out))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn passed(&self) -> Vec<(u64, &'static str)> {
        let others = self.others.values().fold(0u64, |sum, n| sum.saturating_add(*n));
        vec![(others, "other packet"), (self.bare, "incomplete packet"), (self.empty, "zero-byte reference")]
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks: Vec<String> = self.cores.remark("requestors").into_iter().collect();
        if !self.others.is_empty() {
            let each: Vec<String> =
                self.others.iter().take(COMMANDS).map(|(command, n)| format!("{n} of command {command}")).collect();
            let more = if self.others.len() > COMMANDS { ", and others" } else { "" };
            remarks.push(format!(
                "only commands 1 (ReadReq) and 4 (WriteReq) are references; passed over: {}{more}",
                each.join(", ")
            ));
        }
        remarks
    }

    fn tables(&self) -> Tables {
        let mut made_by = format!("gem5 packet trace of {}, {} ticks a second", self.object, self.ticks);
        let named: Vec<String> = self.names.iter().take(NAMED).map(|(id, name)| format!("{id} {name}")).collect();
        if !named.is_empty() {
            let more = if self.names.len() > NAMED { ", ..." } else { "" };
            made_by.push_str(&format!("; requestors {}{more}", named.join(", ")));
        }
        Tables { made_by, ..Tables::default() }
    }

    fn expected(&self) -> &'static str {
        "packets of command 1 (ReadReq) or 4 (WriteReq) with an address and a size"
    }
}

impl Gem5 {
    /// Magic number and header.
    fn begin(&mut self, bytes: &mut Bytes) -> Result<bool, TraceError> {
        let start = bytes.window(MAGIC.len())?;
        if !start.starts_with(MAGIC) {
            if MAGIC.starts_with(start) {
                bytes.tear();
                return Ok(false);
            }
            return Err(bytes.damaged(0, "no `gem5` at the start", "a gem5 packet trace", "name the right format"));
        }
        bytes.advance(MAGIC.len());
        with_message(bytes, |message, at| self.header(message, at))
    }

    fn header(&mut self, message: &[u8], at: &At<'_>) -> Result<(), TraceError> {
        let mut groups: HashMap<String, u64> = HashMap::new();
        each_field(message, at, |field, value| {
            match (field, value) {
                (1, Value::Bytes(name)) => self.object = word(name),
                (3, Value::Number(ticks)) => self.ticks = ticks,
                (4, Value::Bytes(entry)) => {
                    let (mut id, mut name) = (0, String::new());
                    each_field(entry, at, |field, value| match (field, value) {
                        (1, Value::Number(n)) => id = n,
                        (2, Value::Bytes(text)) => name = word(text),
                        _ => {}
                    })?;
                    let next = groups.len() as u64;
                    self.owner_of.insert(id, *groups.entry(owner(&name).to_owned()).or_insert(next));
                    self.names.insert(id, name);
                }
                _ => {}
            }
            Ok(())
        })
    }

    fn packet(&mut self, message: &[u8], at: &At<'_>, out: &mut Vec<Reference>) -> Result<(), TraceError> {
        let (mut command, mut addr, mut size) = (None, None, None);
        let (mut flags, mut requestor, mut pc) = (0, None, 0);
        each_field(message, at, |field, value| {
            if let Value::Number(n) = value {
                match field {
                    2 => command = Some(n),
                    3 => addr = Some(n),
                    4 => size = Some(n),
                    5 => flags = n,
                    6 => requestor = Some(n),
                    7 => pc = n,
                    _ => {}
                }
            }
        })?;
        let kind = match command {
            Some(1) if flags & FETCH != 0 => Kind::Fetch,
            Some(1) => Kind::Read,
            Some(4) => Kind::Write,
            Some(other) => {
                // A damaged file could name any number of commands; a real one has some fifty.
                let key = if self.others.len() < 256 { other } else { u64::MAX };
                *self.others.entry(key).or_insert(0) += 1;
                return Ok(());
            }
            None => {
                return Err(at.damaged("a packet without a command", "tick and command in every packet", REMEDY));
            }
        };
        let (Some(addr), Some(size)) = (addr, size) else {
            self.bare += 1;
            return Ok(());
        };
        // Numbers without a name are no CPUs that one could tell apart: they stay on core 0.
        let core = requestor.and_then(|id| self.owner_of.get(&id)).map_or(0, |&owner| self.cores.of(owner));
        match at.reference(kind, addr, size)? {
            Some(reference) => out.push(Reference { pc, core, ..reference }),
            None => self.empty += 1,
        }
        Ok(())
    }
}

/// The CPU that a requestor belongs to: the path up to the last part that names a CPU; the whole path for a device.
fn owner(name: &str) -> &str {
    let mut end = None;
    let mut at = 0;
    for part in name.split('.') {
        at += part.len();
        if part.contains("cpu") {
            end = Some(at);
        }
        at += 1;
    }
    end.and_then(|end| name.get(..end)).unwrap_or(name)
}

/// Bytes as a word for people.
fn word(bytes: &[u8]) -> String {
    super::super::error::shorten(&String::from_utf8_lossy(bytes))
}

/// Gives the next message to `each`; `false` at the end of the stream.
fn with_message(
    bytes: &mut Bytes,
    each: impl FnOnce(&[u8], &At<'_>) -> Result<(), TraceError>,
) -> Result<bool, TraceError> {
    let offset = bytes.offset();
    let start = bytes.window(10)?;
    if start.is_empty() {
        return Ok(false);
    }
    let too_long = |length: u64| format!("a message of {length} bytes");
    let (length, prefix) = match varint(start) {
        Some(found) => found,
        None if start.len() < 10 => {
            bytes.tear();
            return Ok(false);
        }
        None => return Err(bytes.damaged(offset, "a length that never ends", "a varint of 10 bytes at most", REMEDY)),
    };
    let whole = usize::try_from(length).ok().and_then(|length| length.checked_add(prefix)).filter(|n| *n <= BLOCK);
    let Some(whole) = whole else {
        return Err(bytes.damaged(offset, too_long(length), "a packet of some 40 bytes", REMEDY));
    };
    if bytes.window(whole)?.len() < whole {
        bytes.tear();
        return Ok(false);
    }
    let (message, at) = bytes.held(whole);
    each(message.get(prefix..).unwrap_or_default(), &at)?;
    bytes.advance(whole);
    Ok(true)
}

/// Value of a field.
enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// Calls `each` with the fields of a message, as they come.
fn each_field<'a, R: Outcome>(
    mut message: &'a [u8],
    at: &At<'_>,
    mut each: impl FnMut(u64, Value<'a>) -> R,
) -> Result<(), TraceError> {
    let broken = |what: &str| at.damaged(format!("a message with {what}"), "a whole message", REMEDY);
    while !message.is_empty() {
        let (key, length) = varint(message).ok_or_else(|| broken("half a field"))?;
        message = &message[length..];
        let value = match key & 7 {
            0 => {
                let (n, length) = varint(message).ok_or_else(|| broken("half a number"))?;
                message = &message[length..];
                Value::Number(n)
            }
            1 => {
                let (bytes, rest) = message.split_at_checked(8).ok_or_else(|| broken("half a number"))?;
                message = rest;
                Value::Number(super::binary::u64_at(bytes, 0))
            }
            5 => {
                let (bytes, rest) = message.split_at_checked(4).ok_or_else(|| broken("half a number"))?;
                message = rest;
                Value::Number(u64::from(super::binary::u32_at(bytes, 0)))
            }
            2 => {
                let (n, length) = varint(message).ok_or_else(|| broken("half a length"))?;
                let n = usize::try_from(n).map_err(|_| broken("a field longer than itself"))?;
                let rest = &message[length..];
                let (bytes, rest) = rest.split_at_checked(n).ok_or_else(|| broken("a field longer than itself"))?;
                message = rest;
                Value::Bytes(bytes)
            }
            other => return Err(broken(&format!("a field of wire type {other}"))),
        };
        each(key >> 3, value).outcome()?;
    }
    Ok(())
}

/// What a visitor of fields may answer: nothing, or an error.
trait Outcome {
    fn outcome(self) -> Result<(), TraceError>;
}

impl Outcome for () {
    fn outcome(self) -> Result<(), TraceError> {
        Ok(())
    }
}

impl Outcome for Result<(), TraceError> {
    fn outcome(self) -> Result<(), TraceError> {
        self
    }
}

/// A varint and its length; `None` where the bytes end first or it is longer than 10 bytes. Bits past 64 are dropped.
#[inline]
fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0u64;
    for (n, &byte) in bytes.iter().take(10).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * n).min(63);
        if byte < 0x80 {
            return Some((value, n + 1));
        }
    }
    None
}
