//! Memory samples of Linux `perf`: text of `perf script` and of `perf mem report -D`.
//!
//! ```text
//! matmul 4711 [003] 12.345678:  30 cpu/mem-loads,ldlat=30/P: 7ffe4a10 68100142 |OP LOAD|LVL L1 hit|...|LCK No 30  40112d main+0x1d (/tmp/matmul)
//! # PID, TID, IP, ADDR, LOCAL WEIGHT, DSRC, SYMBOL
//!  4711  4711 0x40112d 0x7ffe4a10 30 0x68100142 /tmp/matmul:main
//! ```
//!
//! **Samples, not a full trace**: one reference in some thousands, so that order and distance between them say where a
//! program touches memory, not what a cache makes of it. A screen can say so: it is the subtitle. The kind is in the
//! data source (`union perf_mem_data_src` of `include/uapi/linux/perf_event.h`: bit 1 load, 2 store, 3 prefetch, 4
//! execution). Samples without an address, and prefetches, are counted and skipped. There are no sizes: 1 byte each. The
//! CPU becomes the core, or the thread where the CPU is not given.
//!
//! `perf script` writes what `-F` asks for: a record is a line with a time, an event and its colon, a hexadecimal address,
//! maybe its symbol, and a hexadecimal data source before `|OP`. Where there is no data source the event's name says load or store.

use super::cores::Cores;
use super::number::{self, decimal, hex, is_hex};
use super::text::{Grammar, Line, Words, counted, push, sample};
use crate::reference::{Kind, Reference, Tables};
use std::borrow::Cow;

pub(super) struct Perf {
    cpus: Cores,
    threads: Cores,
    /// Columns of a report: where thread, pc, address and data source stand.
    columns: Option<[usize; 4]>,
    /// Whether the first sample has a data source.
    sourced: Option<bool>,
    /// Samples that are no loads, stores or executions, and samples without an address.
    passed: u64,
    nowhere: u64,
}

impl Default for Perf {
    fn default() -> Self {
        Self {
            cpus: Cores::of("CPU"),
            threads: Cores::of("thread"),
            columns: None,
            sourced: None,
            passed: 0,
            nowhere: 0,
        }
    }
}

/// A sample's parts.
struct Sample<'a> {
    cpu: Option<u64>,
    thread: Option<u64>,
    pc: u64,
    addr: &'a [u8],
    /// Whether the kind is from a data source, not from the event's name.
    sourced: bool,
    /// `None` for what is neither load, store nor execution.
    kind: Option<Kind>,
}

impl Grammar for Perf {
    const WORDS: Words = Words {
        tool: "perf",
        example: "prog 4711 [003] 12.345678: 30 cpu/mem-loads/P: 7ffe4a10 68100142 |OP LOAD|...",
        expected: "a time, an event, a hexadecimal address below 2^64 and a data source, as `perf script` writes them",
        remedy: "record with perf mem record PROGRAM, then perf script > FILE",
    };

    fn line(&mut self, line: &[u8], out: &mut Vec<Reference>) -> Line {
        // Lines of a call chain are indented by a tab.
        let chain = line.starts_with(b"\t");
        let line = line.trim_ascii();
        if line.is_empty() {
            return Line::Blank;
        }
        if line.starts_with(b"#") {
            self.columns = columns(line).or(self.columns);
            return Line::Tool;
        }
        if chain {
            return Line::Tool;
        }
        let sample = match self.columns {
            Some(columns) => row(line, columns),
            None => script(line).map(Ok),
        };
        let Some(sample) = sample else { return Line::Other };
        match sample.and_then(|sample| self.reference(&sample)) {
            Ok(None) => Line::Tool,
            Ok(Some(reference)) => push(Ok(reference), out),
            Err(why) => Line::Broken(why),
        }
    }

    fn notices(&self) -> Vec<String> {
        let mut notices =
            vec!["these are samples, not a full trace: misses and their kinds are not to be trusted".into()];
        notices.push("samples have no sizes: each is taken as 1 byte".into());
        if self.passed > 0 {
            let samples = counted(self.passed, "sample");
            notices.push(format!("skipped {samples} that are neither load, store nor execution"));
        }
        if self.nowhere > 0 {
            notices.push(format!("skipped {} without an address", counted(self.nowhere, "sample")));
        }
        notices.extend(self.cpus.notice().or_else(|| self.threads.notice()));
        notices
    }

    fn tables(&self) -> Tables {
        Tables { subtitle: "samples, not a full trace".into(), made_by: "perf script".into(), ..Tables::default() }
    }
}

impl Perf {
    /// `None` where it is counted and skipped.
    fn reference(&mut self, sample: &Sample) -> Result<Option<Reference>, Cow<'static, str>> {
        if *self.sourced.get_or_insert(sample.sourced) != sample.sourced {
            return Err("a data source only here, or not here alone".into());
        }
        let addr = hex(sample.addr).map_err(|bad| bad.of("address"))?;
        let Some(kind) = sample.kind else {
            self.passed += 1;
            return Ok(None);
        };
        if addr == 0 {
            self.nowhere += 1;
            return Ok(None);
        }
        let mut reference = number::reference(kind, addr, 1)?;
        reference.pc = sample.pc;
        reference.core = match (sample.cpu, sample.thread) {
            (Some(cpu), _) => self.cpus.core(cpu)?,
            (None, Some(thread)) => self.threads.core(thread)?,
            (None, None) => 0,
        };
        Ok(Some(reference))
    }
}

/// The kind in a data source; `None` for prefetches and what is not known.
fn kind(source: u64) -> Option<Kind> {
    match source {
        s if s & 0x4 != 0 => Some(Kind::Write),
        s if s & 0x2 != 0 => Some(Kind::Read),
        s if s & 0x10 != 0 => Some(Kind::Fetch),
        _ => None,
    }
}

fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// `12.345678:`
fn is_time(word: &[u8]) -> bool {
    let digits = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let Some(time) = word.strip_suffix(b":") else { return false };
    time.iter().position(|&b| b == b'.').is_some_and(|dot| digits(&time[..dot]) && digits(&time[dot + 1..]))
}

/// A line of `perf script`.
fn script(line: &[u8]) -> Option<Sample<'_>> {
    let (mut cpu, mut thread, mut seen) = (None, None, words(line));
    loop {
        let word = seen.next()?;
        if is_time(word) {
            break;
        }
        let inner = word.strip_prefix(b"[").and_then(|word| word.strip_suffix(b"]"));
        match inner.map(decimal) {
            Some(Ok(number)) => cpu = Some(number),
            // `pid` or `pid/tid`; a program's name may be numbers too, but comes before.
            _ => thread = decimal(word.rsplit(|&b| b == b'/').next()?).ok().or(thread),
        }
    }
    // A period may come before the event.
    let event = seen.find(|word| word.ends_with(b":"))?;
    let memory = event.windows(3).any(|w| w == b"mem");
    let addr = seen.next()?;
    // Between the two may stand the symbol at the address.
    let mut source = addr;
    let operation = seen.any(|word| word.starts_with(b"|OP") || std::mem::replace(&mut source, word).is_empty());
    let kind = match hex(source) {
        Ok(source) if operation => kind(source),
        // Without a data source.
        _ if memory && addr.iter().all(|&b| is_hex(b)) => {
            let store = event.windows(5).any(|w| w == b"store");
            Some(if store { Kind::Write } else { Kind::Read })
        }
        _ => return None,
    };
    Some(Sample { cpu, thread, pc: pc(line, operation).unwrap_or(0), addr, sourced: operation, kind })
}

/// The instruction's address: a hexadecimal number before the symbol. In front of it may stand a weight.
fn pc(line: &[u8], operation: bool) -> Option<u64> {
    let after = if operation { line.iter().rposition(|&b| b == b'|')? } else { line.len() - last_event(line)?.len() };
    let numeric = |word: &&[u8]| word.iter().all(|&b| is_hex(b));
    let mut rest = words(&line[after..]);
    if !operation {
        // The sample's address.
        rest.next()?;
    }
    // Past the names and words of the data source's last part.
    let first = rest.by_ref().find(numeric)?;
    let second = rest.next();
    let word = match second.filter(numeric) {
        Some(word) => word,
        None if second.is_some() => first,
        // A number with nothing after it is a weight.
        None => return None,
    };
    hex(word).ok()
}

/// What follows the event's colon.
fn last_event(line: &[u8]) -> Option<&[u8]> {
    let time = line.windows(2).position(|w| w == b": ")?;
    let event = line[time + 2..].windows(2).position(|w| w == b": ")?;
    Some(&line[time + 2 + event + 2..])
}

/// The columns of a report's header, if it is one.
fn columns(header: &[u8]) -> Option<[usize; 4]> {
    let mut found = [None; 4];
    for (n, name) in header[1..].split(|&b| b == b',').enumerate() {
        let name = name.trim_ascii();
        for (place, wanted) in found.iter_mut().zip([&b"TID"[..], b"IP", b"ADDR", b"DSRC"]) {
            if name == wanted {
                *place = Some(n);
            }
        }
    }
    let [thread, pc, addr, source] = found;
    Some([thread?, pc?, addr?, source?])
}

/// A row of a report: a line that starts with a number.
fn row(line: &[u8], columns: [usize; 4]) -> Option<Result<Sample<'_>, Cow<'static, str>>> {
    let part = |b: &u8| b.is_ascii_whitespace() || *b == b',';
    let at = |n: usize| line.split(part).filter(|word| !word.is_empty()).nth(n);
    decimal(at(0)?).ok()?;
    let [Some(thread), Some(pc), Some(addr), Some(source)] = columns.map(at) else {
        return Some(Err("fewer columns than the header names".into()));
    };
    let sample = || {
        Ok(Sample {
            cpu: None,
            thread: Some(decimal(thread).map_err(|bad| bad.of("thread"))?),
            pc: hex(pc).map_err(|bad| bad.of("IP"))?,
            addr,
            sourced: true,
            kind: kind(hex(source).map_err(|bad| bad.of("data source"))?),
        })
    };
    Some(sample())
}

/// Whether a line among the first is a sample of memory, or a report's header.
pub(super) fn looks_like(head: &[u8]) -> bool {
    sample(head).any(|line| match line.starts_with(b"#") {
        true => columns(line).is_some(),
        false => script(line).is_some(),
    })
}
