//! Text of Pin tools: `pinatrace` of the kit (`source/tools/SimpleExamples/pinatrace.cpp`) and its many private variants.
//!
//! ```text
//! 0x40112d: W 0x7ffe4a10              pinatrace: pc, R or W, address
//! 0x40112d: W 0x7ffe4a10 8 0x2a       its older form: size, and the value, which is passed over
//! 4711 R 0x7ffe4a10                   process or thread first
//! tid: 3 0x40112d R 8 0x7ffe4a10      labels, size before the address
//! W,0x7ffe4a10,8                      commas
//! #eof                                the last line
//! ```
//!
//! A line is read by pattern, not by column. Signs other than letters and digits part words. The words that mean a kind (R, W,
//! read, load, ...) stand once; a label (`tid`, `pc`, `addr`, `size`, ...) names the number after it. Of the numbers without
//! label: one with `0x` is the address; of two the first is the pc, unless the second follows address and size (a value). A
//! decimal number before kind and address is a thread (the last of several: process, thread), one after either is the size.
//! Where nothing has `0x` (only by `--format pin`) the word after the kind is the address. A line of such words only,
//! with a kind and a number, is a record attempt, and must have what the first record had. Without sizes each reference is
//! of 1 byte; that is said.

use super::cores::Cores;
use super::number::{self, WINDOW, as_size, decimal, hex, hex_until, is_hex};
use super::text::{Grammar, Line, Words, lower, push, sample};
use crate::reference::{Kind, NO_LANE, Reference};
use std::borrow::Cow;

pub(super) struct Pin {
    threads: Cores,
    /// What the first record has: pc, size, thread.
    has: Option<[bool; 3]>,
    /// `#eof` was met, and nothing after it.
    finished: bool,
}

impl Default for Pin {
    fn default() -> Self {
        Self { threads: Cores::of("thread"), has: None, finished: false }
    }
}

/// What pinatrace itself writes: pc and no more.
const PINATRACE: [bool; 3] = [true, false, false];

/// Words of a record at most.
const WORDS: usize = 16;

impl Grammar for Pin {
    const WORDS: Words = Words {
        tool: "Pin",
        example: "0x40112d: W 0x7ffe4a10",
        expected: "R or W and a hexadecimal address below 2^64, with pc, thread and size as in the first record",
        remedy: "record with pin -t pinatrace.so -- PROGRAM",
    };

    #[inline]
    fn fast(&mut self, window: &[u8; WINDOW]) -> Option<(Reference, usize)> {
        if self.has != Some(PINATRACE) || window[0] != b'0' || window[1] != b'x' {
            return None;
        }
        let (pc, colon) = hex_until(window, 2, b':')?;
        let kind = match window.get(colon..colon + 6)? {
            b": R 0x" => Kind::Read,
            b": W 0x" => Kind::Write,
            _ => return None,
        };
        let (addr, newline) = hex_until(window, colon + 6, b'\n')?;
        self.finished = false;
        Some((Reference { addr, pc, size: 1, core: 0, lane: NO_LANE, kind }, newline + 1))
    }

    fn line(&mut self, line: &[u8], out: &mut Vec<Reference>) -> Line {
        let line = line.trim_ascii();
        if line.is_empty() {
            return Line::Blank;
        }
        if line.starts_with(b"#") {
            self.finished |= line == b"#eof";
            return Line::Tool;
        }
        let Some(record) = Record::of(line) else { return Line::Other };
        self.finished = false;
        push(record.and_then(|record| self.reference(&record)), out)
    }

    fn notices(&self) -> Vec<String> {
        let mut notices: Vec<String> = self.threads.notice().into_iter().collect();
        if self.has.is_some_and(|[_, size, _]| !size) {
            notices.push("it has no sizes: each reference is taken as 1 byte".into());
        }
        if self.has == Some(PINATRACE) && !self.finished {
            notices.push("it does not end in #eof, so Pin did not finish it; kept what is there".into());
        }
        notices
    }
}

impl Pin {
    fn reference(&mut self, record: &Record) -> Result<Reference, Cow<'static, str>> {
        let has = [record.pc.is_some(), record.size.is_some(), record.thread.is_some()];
        let first = *self.has.get_or_insert(has);
        for (n, what) in ["pc", "size", "thread"].into_iter().enumerate() {
            if has[n] != first[n] {
                let (this, others) = if first[n] { ("no", "a") } else { ("a", "no") };
                return Err(format!("{this} {what}, and the first record has {others} {what}").into());
            }
        }
        let mut reference = number::reference(record.kind, record.addr, record.size.unwrap_or(1))?;
        reference.pc = record.pc.unwrap_or(0);
        if let Some(thread) = record.thread {
            reference.core = self.threads.core(thread)?;
        }
        Ok(reference)
    }
}

/// What a line says.
#[derive(Debug, PartialEq, Eq)]
struct Record {
    kind: Kind,
    addr: u64,
    pc: Option<u64>,
    size: Option<u64>,
    thread: Option<u64>,
}

/// What a number is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Addr,
    Pc,
    Size,
    Thread,
    /// A value, a process where there is a thread, a time: passed over.
    Passed,
}

fn kind(word: &[u8]) -> Option<Kind> {
    Some(match lower(word, &mut [0; 8]) {
        b"r" | b"rd" | b"read" | b"ld" | b"load" | b"l" => Kind::Read,
        b"w" | b"wr" | b"write" | b"st" | b"store" | b"s" => Kind::Write,
        b"rw" | b"m" | b"modify" | b"rmw" => Kind::Modify,
        b"i" | b"f" | b"fetch" | b"ifetch" => Kind::Fetch,
        _ => return None,
    })
}

fn label(word: &[u8]) -> Option<Role> {
    Some(match lower(word, &mut [0; 8]) {
        b"addr" | b"address" | b"ea" | b"mem" => Role::Addr,
        b"ip" | b"pc" | b"rip" => Role::Pc,
        b"size" | b"len" | b"bytes" => Role::Size,
        b"tid" | b"thread" | b"t" => Role::Thread,
        b"pid" | b"process" | b"value" | b"time" => Role::Passed,
        _ => return None,
    })
}

impl Record {
    /// `None` where the line does not try to be a record.
    fn of(line: &[u8]) -> Option<Result<Self, Cow<'static, str>>> {
        let part = |b: &u8| !(b.is_ascii_alphanumeric() || *b == b'_');
        let mut numbers: [(&[u8], Option<Role>, bool); WORDS] = [(&[], None, false); WORDS];
        let mut count = 0;
        let (mut found, mut expect) = (None, None);
        for word in line.split(part).filter(|word| !word.is_empty()) {
            // Minus signs part words too: a number after one is not the number it seems.
            if let Some(kind) = kind(word) {
                if found.replace(kind).is_some() {
                    return None;
                }
            } else if let Some(role) = label(word) {
                expect = Some(role);
            } else if word[0].is_ascii_digit() || word.iter().all(|&b| is_hex(b)) {
                *numbers.get_mut(count)? = (word, expect.take(), found.is_some());
                count += 1;
            } else if let Some(digits) = word.strip_prefix(b"T").filter(|w| w.iter().all(u8::is_ascii_digit)) {
                *numbers.get_mut(count)? = (digits, Some(Role::Thread), found.is_some());
                count += 1;
            } else {
                return None;
            }
        }
        let numbers = &numbers[..count];
        if count == 0 || (numbers.iter().all(|(word, role, _)| !prefixed(word) && role.is_none()) && count > 4) {
            return None;
        }
        Some(Self::of_numbers(found?, numbers))
    }

    /// From the numbers: word, label, whether it stands after the kind.
    fn of_numbers(kind: Kind, numbers: &[(&[u8], Option<Role>, bool)]) -> Result<Self, Cow<'static, str>> {
        let roles = roles(numbers);
        let find =
            |role| roles.iter().zip(numbers).filter(move |(r, _)| **r == role).map(|(_, number)| number.0).next_back();
        let mixed = |word: &[u8]| if prefixed(word) { hex(word) } else { decimal(word) };
        let thread = find(Role::Thread).map(|word| mixed(word).map_err(|bad| bad.of("thread"))).transpose()?;
        Ok(Self {
            kind,
            addr: hex(find(Role::Addr).unwrap_or_default()).map_err(|bad| bad.of("address"))?,
            pc: find(Role::Pc).map(|word| hex(word).map_err(|bad| bad.of("pc"))).transpose()?,
            size: find(Role::Size).map(|word| as_size(mixed(word))).transpose()?,
            thread,
        })
    }
}

fn prefixed(word: &[u8]) -> bool {
    word.starts_with(b"0x") || word.starts_with(b"0X")
}

/// What each number is; see the module for the rules.
fn roles(numbers: &[(&[u8], Option<Role>, bool)]) -> [Role; WORDS] {
    let mut roles = [Role::Passed; WORDS];
    for (role, number) in roles.iter_mut().zip(numbers) {
        *role = number.1.unwrap_or(Role::Passed);
    }
    let free = |n: &usize| numbers[*n].1.is_none();
    let known = |role| numbers.iter().any(|number| number.1 == Some(role));
    let with_0x = numbers.iter().any(|(word, ..)| prefixed(word));
    // Without 0x a number is an address where it stands right after the kind, or cannot be decimal.
    let is_address = |n: &usize| {
        let (word, _, after) = numbers[*n];
        let right_after = after && (*n == 0 || !numbers[*n - 1].2);
        if with_0x { prefixed(word) } else { right_after || !word.iter().all(u8::is_ascii_digit) }
    };
    let mut addresses: Vec<usize> = (0..numbers.len()).filter(free).filter(is_address).collect();
    if addresses.len() > 1 && numbers[addresses[0]].2 {
        // After the kind: a second address only where nothing stands between; else it is a value.
        let second = addresses[1];
        addresses.truncate(if second == addresses[0] + 1 { 2 } else { 1 });
    }
    let mut addresses = addresses.into_iter();
    if addresses.len() > 1
        && !known(Role::Pc)
        && let Some(pc) = addresses.next()
    {
        roles[pc] = Role::Pc;
    }
    let mut addr = (0..numbers.len()).find(|n| numbers[*n].1 == Some(Role::Addr));
    if addr.is_none()
        && let Some(n) = addresses.next()
    {
        roles[n] = if known(Role::Addr) { Role::Pc } else { Role::Addr };
        addr = Some(n);
    }
    let plain = (0..numbers.len()).filter(free).filter(|n| !prefixed(numbers[*n].0) && roles[*n] == Role::Passed);
    let (mut thread, mut size) = (None, None);
    for n in plain {
        if !numbers[n].2 && addr.is_none_or(|addr| n < addr) {
            thread = Some(n);
        } else if size.is_none() {
            size = Some(n);
        }
    }
    if let Some(n) = thread.filter(|_| !known(Role::Thread)) {
        roles[n] = Role::Thread;
    }
    if let Some(n) = size.filter(|_| !known(Role::Size)) {
        roles[n] = Role::Size;
    }
    roles
}

/// Whether text starts with a record that has `0x`, and most of what follows tries to be one.
pub(super) fn looks_like(head: &[u8]) -> bool {
    let mut lines = sample(head).filter(|line| !line.starts_with(b"#")).peekable();
    let sound = |line: &&[u8]| line.windows(2).any(|w| w == b"0x") && matches!(Record::of(line), Some(Ok(_)));
    if !lines.peek().is_some_and(sound) {
        return false;
    }
    let count = |(tries, all), line: &[u8]| (tries + usize::from(Record::of(line).is_some()), all + 1);
    let (tries, all) = lines.fold((0, 0), count);
    2 * tries > all
}
