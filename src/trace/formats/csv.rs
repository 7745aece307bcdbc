//! Tables as text: comma-, tab- or semicolon-separated, the columns named by the first line.
//!
//! ```text
//! address,size,kind,pc,thread
//! 0x7ffe4a10,8,read,0x40112d,4711
//! 140737488347072,4,W,,4712
//! ```
//!
//! | column | names, in any case | values | if absent |
//! |---|---|---|---|
//! | address | `address addr vaddr ea` | `0x` hexadecimal, else decimal | (required) |
//! | size | `size bytes len length width` | as above, 1 or more | 1, which is said |
//! | kind | `kind type op operation rw access` | read, write, modify, fetch and their usual short names; 0 to 3 in that order | read, which is said |
//! | pc | `pc ip` | as address | 0 = unknown |
//! | core | `core cpu` | 0 to 65535 | 0 |
//! | thread | `tid thread` | any number; threads become cores in order of appearance | - |
//! | lane | `lane` | 0 to 254 | none |
//!
//! Other columns are passed over. A field may stand in double quotes; one that goes on in the next line is refused. Lines
//! that start with `#` are comments. Every line after the header is a record.

use super::cores::Cores;
use super::number::{self, WINDOW, as_size, hex_or_decimal, number_until};
use super::text::{Grammar, Line, Words, lower, push, sample};
use crate::reference::{Kind, NO_LANE, Reference};
use crate::trace::native::MAX_SIZE;
use std::borrow::Cow;

/// What a column can be, in the order of [`NAMES`].
const ADDR: usize = 0;
const SIZE: usize = 1;
const KIND: usize = 2;
const PC: usize = 3;
const CORE: usize = 4;
const THREAD: usize = 5;
const LANE: usize = 6;

const NAMES: [&[&str]; 7] = [
    &["address", "addr", "vaddr", "ea"],
    &["size", "bytes", "len", "length", "width"],
    &["kind", "type", "op", "operation", "rw", "access"],
    &["pc", "ip"],
    &["core", "cpu"],
    &["tid", "thread"],
    &["lane"],
];

/// Which column each of [`NAMES`] is, and what parts them.
#[derive(Clone, Copy)]
struct Header {
    delimiter: u8,
    columns: [Option<usize>; 7],
    /// What each column is, and how many there are.
    roles: [usize; COLUMNS],
    count: usize,
}

/// Columns of a row that is read in the fast way.
const COLUMNS: usize = 8;

/// A column that is passed over.
const PASSED: usize = NAMES.len();

impl Header {
    /// `None` where no column is an address.
    fn of(line: &[u8]) -> Option<Self> {
        let delimiter = [b'\t', b';', b','].into_iter().find(|b| line.contains(b)).unwrap_or(b',');
        let mut columns = [None; 7];
        let mut count = 0;
        for (n, field) in (Fields { rest: Some(line), delimiter }).enumerate() {
            count = n + 1;
            let name = String::from_utf8_lossy(field.ok()?).to_ascii_lowercase();
            let Some(role) = NAMES.iter().position(|names| names.contains(&name.as_str())) else { continue };
            // The first of a name counts.
            columns[role].get_or_insert(n);
        }
        let role = |n: usize| columns.iter().position(|column| *column == Some(n)).unwrap_or(PASSED);
        let roles = std::array::from_fn(role);
        columns[ADDR].map(|_| Self { delimiter, columns, roles, count })
    }

    /// The fields of a row, by [`NAMES`].
    fn row<'a>(&self, line: &'a [u8]) -> Result<[Option<&'a [u8]>; 7], Cow<'static, str>> {
        let mut row = [None; 7];
        for (n, field) in (Fields { rest: Some(line), delimiter: self.delimiter }).enumerate() {
            let field = field?;
            if let Some(role) = self.columns.iter().position(|column| *column == Some(n)) {
                row[role] = Some(field);
            }
        }
        Ok(row)
    }
}

/// The fields of a line, trimmed, without their quotes.
struct Fields<'a> {
    rest: Option<&'a [u8]>,
    delimiter: u8,
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<&'a [u8], Cow<'static, str>>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest.take()?;
        let blank = |b: &&u8| **b == b' ';
        let text = &rest[rest.iter().take_while(blank).count()..];
        let Some(quoted) = text.strip_prefix(b"\"") else {
            let end = rest.iter().position(|&b| b == self.delimiter);
            self.rest = end.map(|end| &rest[end + 1..]);
            return Some(Ok(rest[..end.unwrap_or(rest.len())].trim_ascii()));
        };
        // To the first quote that is not doubled. What doubled quotes mean matters to no column of ours.
        let mut at = 0;
        while let Some(quote) = quoted[at..].iter().position(|&b| b == b'"') {
            at += quote + 1;
            if quoted.get(at) == Some(&b'"') {
                at += 1;
                continue;
            }
            let after = &quoted[at..];
            let end = after.iter().position(|&b| b == self.delimiter);
            self.rest = end.map(|end| &after[end + 1..]);
            return Some(Ok(quoted[..at - 1].trim_ascii()));
        }
        Some(Err("a quote that does not end in its line".into()))
    }
}

pub(super) struct Csv {
    header: Option<Header>,
    threads: Cores,
}

impl Default for Csv {
    fn default() -> Self {
        Self { header: None, threads: Cores::of("thread") }
    }
}

impl Grammar for Csv {
    const WORDS: Words = Words {
        tool: "the table",
        example: "0x7ffe4a10,8,read",
        expected: "a header with a column `address`, then rows of 0x-hexadecimal or decimal numbers below 2^64",
        remedy: "start with a header such as `address,size,kind`",
    };

    #[inline]
    fn fast(&mut self, window: &[u8; WINDOW]) -> Option<(Reference, usize)> {
        let header = self.header.as_ref()?;
        let mut reference = Reference::new(Kind::Read, 0, 1);
        let mut at = 0;
        for n in 0..header.count {
            let stop = if n + 1 == header.count { b'\n' } else { header.delimiter };
            let role = *header.roles.get(n)?;
            let number = |max: u64| number_until(window, at, stop).filter(|(value, _)| *value <= max);
            let end;
            match role {
                // Nothing there passes the end of the address space.
                ADDR => (reference.addr, end) = number(u64::MAX >> 1)?,
                PC => (reference.pc, end) = number(u64::MAX)?,
                SIZE => {
                    let (size, after) = number(u64::from(MAX_SIZE)).filter(|(size, _)| *size > 0)?;
                    (reference.size, end) = (u32::try_from(size).ok()?, after);
                }
                KIND => {
                    end = at + 1;
                    reference.kind = kind(window.get(at..end)?)?;
                    if window.get(end) != Some(&stop) {
                        return None;
                    }
                }
                CORE => {
                    let (core, after) = number(u64::from(u16::MAX))?;
                    (reference.core, end) = (u16::try_from(core).ok()?, after);
                }
                // Threads, lanes and columns that are passed over.
                _ => return None,
            }
            at = end + 1;
        }
        Some((reference, at))
    }

    fn line(&mut self, line: &[u8], out: &mut Vec<Reference>) -> Line {
        // Blanks at the end may be empty fields of a table with tabs.
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.trim_ascii().is_empty() {
            return Line::Blank;
        }
        if line.starts_with(b"#") {
            return Line::Tool;
        }
        match self.header {
            Some(header) => push(self.reference(&header, line), out),
            None => {
                self.header = Header::of(line);
                let missing = || Line::Broken("a header without a column for the address".into());
                self.header.map_or_else(missing, |_| Line::Tool)
            }
        }
    }

    fn notices(&self) -> Vec<String> {
        let mut notices: Vec<String> = self.threads.notice().into_iter().collect();
        if let Some(header) = self.header {
            if header.columns[SIZE].is_none() {
                notices.push("it has no column `size`: each reference is taken as 1 byte".into());
            }
            if header.columns[KIND].is_none() {
                notices.push("it has no column `kind`: each reference is taken as a read".into());
            }
        }
        notices
    }
}

impl Csv {
    fn reference(&mut self, header: &Header, line: &[u8]) -> Result<Reference, Cow<'static, str>> {
        let row = header.row(line)?;
        // A column that the header has and the row has not is an empty field.
        let field = |role: usize| header.columns[role].map(|_| row[role].unwrap_or_default());
        let number = |role: usize, what: &str| match field(role) {
            None | Some([]) => Ok(None),
            Some(word) => hex_or_decimal(word).map(Some).map_err(|bad| bad.of(what)),
        };
        let addr = hex_or_decimal(field(ADDR).unwrap_or_default()).map_err(|bad| match bad {
            number::Bad::NotDecimal => "the address is not decimal; a hexadecimal one starts with 0x".into(),
            bad => bad.of("address"),
        })?;
        let size = field(SIZE).map_or(Ok(1), |word| as_size(hex_or_decimal(word)))?;
        let kind = field(KIND).map_or(Ok(Kind::Read), |word| kind(word).ok_or("an unknown kind"))?;
        let mut reference = number::reference(kind, addr, size)?;
        reference.pc = number(PC, "pc")?.unwrap_or(0);
        if let Some(core) = number(CORE, "core")? {
            reference.core = u16::try_from(core).map_err(|_| "a core above 65535")?;
        } else if let Some(thread) = number(THREAD, "thread")? {
            reference.core = self.threads.core(thread)?;
        }
        if let Some(lane) = number(LANE, "lane")? {
            let small = u8::try_from(lane).ok().filter(|lane| *lane != NO_LANE);
            reference.lane = small.ok_or("a lane above 254")?;
        }
        Ok(reference)
    }
}

fn kind(word: &[u8]) -> Option<Kind> {
    Some(match lower(word, &mut [0; 8]) {
        b"r" | b"rd" | b"read" | b"l" | b"ld" | b"load" | b"0" => Kind::Read,
        b"w" | b"wr" | b"write" | b"s" | b"st" | b"store" | b"1" => Kind::Write,
        b"m" | b"modify" | b"rw" | b"rmw" | b"2" => Kind::Modify,
        b"f" | b"fetch" | b"i" | b"ifetch" | b"3" => Kind::Fetch,
        _ => return None,
    })
}

/// Whether text starts with a header that names an address, with another column or a number below it.
pub(super) fn looks_like(head: &[u8]) -> bool {
    let mut lines = sample(head).filter(|line| !line.starts_with(b"#"));
    let Some(header) = lines.next().and_then(Header::of) else { return false };
    let mut csv = Csv { header: Some(header), ..Csv::default() };
    header.columns.iter().flatten().count() > 1 || lines.next().is_some_and(|line| csv.reference(&header, line).is_ok())
}
