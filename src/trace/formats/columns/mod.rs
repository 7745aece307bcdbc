//! Tables with named columns: what a column is called, what its values mean, and how a row becomes a reference.
//!
//! | reference | names (case and `_` do not matter; the first that is there counts) | if absent |
//! |---|---|---|
//! | address | `address` `addr` `vaddr` `virtual_address` `mem_addr` `data_address` `ea` | (required) |
//! | size | `size` `bytes` `width` `length` `len` | 1, told |
//! | kind | `kind` `type` `op` `operation` `rw` `access` `access_type`; or `is_write` `write` (yes or no) | read, told |
//! | pc | `pc` `ip` `instruction_pointer` `inst_addr` | unknown |
//! | core | `core` `cpu` `core_id` `cpu_id` as they are; `thread` `tid` `thread_id` numbered as they appear | 0 |
//! | lane | `lane` `lane_id`; empty or -1 is none | none |
//!
//! Values are whole numbers of any width (also such as floating-point columns hold, where a table has empty places), or text: a
//! number in decimal, or in hexadecimal with `0x`; a kind as a word (`R`, `load`, `st`, `ifetch`, ...). Numbers for kinds are 0
//! read and 1 write; a column called `kind` may also have 2 modify and 3 fetch, as in our own files, which in other tools'
//! files mean other things.

pub(super) mod arrow;
pub(super) mod parquet;

use super::super::error::{Fault, Place, TraceError, shorten};
use super::super::native::MAX_SIZE;
use super::binary::{Cores, list};
use crate::reference::{Kind, NO_LANE, Reference};

/// What a column is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Address,
    Size,
    /// By number or word; 2 and 3 only where the column is called `kind`.
    Kind {
        ours: bool,
    },
    IsWrite,
    Pc,
    Core,
    Thread,
    Lane,
}

/// Names in order of preference, without `_`.
const NAMES: [(&str, Role); 32] = [
    ("address", Role::Address),
    ("addr", Role::Address),
    ("vaddr", Role::Address),
    ("virtualaddress", Role::Address),
    ("memaddr", Role::Address),
    ("dataaddress", Role::Address),
    ("ea", Role::Address),
    ("size", Role::Size),
    ("bytes", Role::Size),
    ("width", Role::Size),
    ("length", Role::Size),
    ("len", Role::Size),
    ("kind", Role::Kind { ours: true }),
    ("type", Role::Kind { ours: false }),
    ("op", Role::Kind { ours: false }),
    ("operation", Role::Kind { ours: false }),
    ("rw", Role::Kind { ours: false }),
    ("access", Role::Kind { ours: false }),
    ("accesstype", Role::Kind { ours: false }),
    ("iswrite", Role::IsWrite),
    ("write", Role::IsWrite),
    ("pc", Role::Pc),
    ("ip", Role::Pc),
    ("instructionpointer", Role::Pc),
    ("instaddr", Role::Pc),
    ("core", Role::Core),
    ("cpu", Role::Core),
    ("coreid", Role::Core),
    ("cpuid", Role::Core),
    ("thread", Role::Thread),
    ("tid", Role::Thread),
    ("threadid", Role::Thread),
];
const LANES: [&str; 2] = ["lane", "laneid"];

impl Role {
    /// Roles that exclude each other share a number.
    fn place(self) -> u8 {
        match self {
            Self::Address => 0,
            Self::Size => 1,
            Self::Kind { .. } | Self::IsWrite => 2,
            Self::Pc => 3,
            Self::Core | Self::Thread => 4,
            Self::Lane => 5,
        }
    }
}

/// A column that is used.
pub(super) struct Column {
    /// Its place in the table.
    pub(super) index: usize,
    pub(super) name: String,
    pub(super) role: Role,
}

/// Rows into references.
pub(super) struct Columns {
    name: String,
    used: Vec<Column>,
    cores: Cores,
    /// Rows seen, rows without an address, rows of 0 bytes.
    rows: u64,
    bare: u64,
    empty: u64,
}

impl Columns {
    /// Chooses among the columns of a table; `name` is what messages call the file.
    ///
    /// # Errors
    /// Where none holds addresses.
    pub(super) fn find(name: &str, columns: &[&str]) -> Result<Self, TraceError> {
        let plain: Vec<String> = columns.iter().map(|c| c.to_lowercase().replace(['_', ' ', '-'], "")).collect();
        let mut used: Vec<Column> = Vec::new();
        let names = NAMES.into_iter().chain(LANES.map(|name| (name, Role::Lane)));
        for (wanted, role) in names {
            let taken = used.iter().any(|c| c.role.place() == role.place());
            if let Some(index) = plain.iter().position(|c| c == wanted).filter(|_| !taken) {
                used.push(Column { index, name: columns[index].to_owned(), role });
            }
        }
        if !used.iter().any(|c| c.role == Role::Address) {
            return Err(TraceError::Damaged(Fault::new(
                Place::file(name),
                format!("a table with the columns {}", shorten(&columns.join(", "))),
                "a column `address` (and, as they are known, size, kind, pc, core, lane)",
                "rename the columns",
            )));
        }
        Ok(Self { name: name.to_owned(), used, cores: Cores::default(), rows: 0, bare: 0, empty: 0 })
    }

    /// The columns to read.
    pub(super) fn used(&self) -> &[Column] {
        &self.used
    }

    /// Adds the references of some rows: `values` has one list for each of [`Columns::used`], all equally long. Negative
    /// numbers come as they are in two's complement.
    ///
    /// # Errors
    /// Names the column, the value and the row, from 0.
    pub(super) fn add(&mut self, values: &[Vec<Option<u64>>], out: &mut Vec<Reference>) -> Result<(), TraceError> {
        let rows = values.iter().map(Vec::len).min().unwrap_or(0);
        let of = |place: u8| self.used.iter().position(|c| c.role.place() == place).and_then(|n| values.get(n));
        let role = |place: u8| self.used.iter().find(|c| c.role.place() == place).map(|c| c.role);
        let (addresses, sizes, kinds, pcs, owners, lanes) = (of(0), of(1), of(2), of(3), of(4), of(5));
        let (ours, threads) = (role(2) == Some(Role::Kind { ours: true }), role(4) == Some(Role::Thread));
        let at = |column: Option<&Vec<Option<u64>>>, n: usize| column.and_then(|values| values[n]);
        out.reserve(rows);
        for n in 0..rows {
            let row = self.rows + n as u64;
            let Some(addr) = at(addresses, n) else {
                self.bare += 1;
                continue;
            };
            let size = at(sizes, n).unwrap_or(1);
            if size == 0 {
                self.empty += 1;
                continue;
            }
            let sized = u32::try_from(size).ok().filter(|&size| size <= MAX_SIZE);
            let Some(size) = sized.filter(|&size| addr.checked_add(u64::from(size) - 1).is_some()) else {
                let found = format!("{} bytes at 0x{addr:x}", size.cast_signed());
                return Err(self.bad(row, &found, &format!("1 to {MAX_SIZE} bytes that end below 2^64")));
            };
            let kind = match at(kinds, n) {
                None | Some(0) => Kind::Read,
                Some(1) => Kind::Write,
                Some(code @ (2 | 3)) if ours => Kind::from_code(u8::try_from(code).unwrap_or(0)).unwrap_or(Kind::Read),
                Some(WORD_MODIFY) => Kind::Modify,
                Some(WORD_FETCH) => Kind::Fetch,
                Some(code) => {
                    let expected = if ours {
                        "0 to 3, or a word such as read"
                    } else {
                        "0 (read), 1 (write), or a word such as read, write, modify, fetch"
                    };
                    return Err(self.bad(row, &format!("kind {}", code.cast_signed()), expected));
                }
            };
            let core = match at(owners, n) {
                None => 0,
                Some(id) if threads => self.cores.of(id),
                Some(id) => match u16::try_from(id) {
                    Ok(core) => core,
                    Err(_) => return Err(self.bad(row, &format!("core {}", id.cast_signed()), "0 to 65535")),
                },
            };
            let lane = match at(lanes, n) {
                None | Some(u64::MAX) => NO_LANE,
                Some(lane) => match u8::try_from(lane) {
                    Ok(lane) => lane,
                    Err(_) => return Err(self.bad(row, &format!("lane {}", lane.cast_signed()), "0 to 255, or none")),
                },
            };
            out.push(Reference { addr, pc: at(pcs, n).unwrap_or(0), size, core, lane, kind });
        }
        self.rows += rows as u64;
        Ok(())
    }

    fn bad(&self, row: u64, found: &str, expected: &str) -> TraceError {
        let found = format!("{found} in row {row}");
        TraceError::Damaged(Fault::new(Place::file(&self.name), found, expected, "mend the table, or write it again"))
    }

    /// An error about a value of a column that is none.
    pub(super) fn bad_value(&self, column: &Column, n: usize, found: &str) -> TraceError {
        let expected = match column.role {
            Role::Kind { .. } | Role::IsWrite => "a word such as read, write, modify, fetch, or 0 or 1",
            _ => "a whole number, as text in decimal or with 0x before hexadecimal digits",
        };
        self.bad(self.rows + n as u64, &format!("`{}` in column `{}`", shorten(found), column.name), expected)
    }

    /// An error about a column whose type cannot be read.
    pub(super) fn bad_type(&self, column: &Column, what: &str) -> TraceError {
        TraceError::Damaged(Fault::new(
            Place::file(&self.name),
            format!("column `{}` of {what}", column.name),
            "whole numbers or text",
            "cast the column",
        ))
    }

    /// Where no row is a reference.
    pub(super) fn nothing(&self) -> TraceError {
        let found = match list(&self.passed()) {
            Some(passed) => format!("no references, only {passed}"),
            None => "a table without rows".into(),
        };
        TraceError::Empty(Fault::new(
            Place::file(&self.name),
            found,
            "at least one row with an address",
            "write it again",
        ))
    }

    /// What was passed over.
    pub(super) fn passed(&self) -> Vec<(u64, &'static str)> {
        vec![(self.bare, "address-less row"), (self.empty, "zero-byte reference")]
    }

    /// Other things the user must know, each a sentence without the name of the file.
    pub(super) fn remarks(&self) -> Vec<String> {
        let has = |place: u8| self.used.iter().any(|c| c.role.place() == place);
        let mut remarks = Vec::new();
        if !has(1) {
            remarks.push("no column of sizes; each reference is taken as 1 byte".to_owned());
        }
        if !has(2) {
            remarks.push("no column of kinds; each reference is taken as a read".to_owned());
        }
        remarks.extend(self.cores.remark("threads"));
        remarks
    }

    /// Sentences for the user, with the name of the file.
    pub(super) fn notices(&self) -> Vec<String> {
        let passed = list(&self.passed()).map(|passed| format!("passed over {passed}"));
        let remarks = self.remarks().into_iter().chain(passed);
        remarks.map(|remark| format!("{}: {remark}", self.name)).collect()
    }
}

/// What words give that numbers outside a column `kind` must not.
const WORD_MODIFY: u64 = 1 << 32;
const WORD_FETCH: u64 = (1 << 32) + 1;

/// The value of a text; `None` where it is none for this role.
pub(super) fn from_text(role: Role, text: &str) -> Option<u64> {
    let text = text.trim();
    let number = || match text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        Some(digits) if !digits.starts_with(['+', '-']) => u64::from_str_radix(digits, 16).ok(),
        Some(_) => None,
        None => text.parse::<u64>().ok().or_else(|| text.parse::<i64>().ok().map(i64::cast_unsigned)),
    };
    if !matches!(role, Role::Kind { .. } | Role::IsWrite) {
        return number();
    }
    let is = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is(&["r", "read", "l", "ld", "load", "rd", "false", "no"]) {
        Some(0)
    } else if is(&["w", "write", "s", "st", "store", "wr", "true", "yes"]) {
        Some(1)
    } else if is(&["m", "modify", "rmw", "update", "atomic", "readwrite"]) {
        Some(WORD_MODIFY)
    } else if is(&["i", "f", "fetch", "ifetch", "inst", "instr", "instruction"]) {
        Some(WORD_FETCH)
    } else {
        number()
    }
}

/// The value of a floating-point number: whole, and not so large that it was rounded.
pub(super) fn from_double(value: f64) -> Option<u64> {
    let whole = value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0;
    #[expect(clippy::cast_possible_truncation, reason = "whole and below 2^53")]
    whole.then_some((value as i64).cast_unsigned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_order_of_preference() {
        let roles = |columns: &[&str]| {
            let found = Columns::find("t", columns).map_err(|e| e.to_string())?;
            Ok::<_, String>(found.used().iter().map(|c| (c.index, c.role)).collect::<Vec<_>>())
        };
        assert_eq!(
            roles(&["tid", "ADDR", "is_write", "Core", "address", "Lane ID"]).unwrap(),
            [(4, Role::Address), (2, Role::IsWrite), (3, Role::Core), (5, Role::Lane)]
        );
        assert!(roles(&["pc", "size"]).unwrap_err().contains("column `address`"));
    }

    #[test]
    fn texts_are_numbers_or_words() {
        for (role, text, value) in [
            (Role::Address, "0x7Ffe", Some(0x7ffe)),
            (Role::Address, " 1000 ", Some(1000)),
            (Role::Address, "7ffe", None),
            (Role::Address, "0x", None),
            (Role::Address, "0x+1", None),
            (Role::Address, "0x10000000000000000", None),
            (Role::Lane, "-1", Some(u64::MAX)),
            (Role::Kind { ours: false }, "STORE", Some(1)),
            (Role::Kind { ours: false }, "ifetch", Some(WORD_FETCH)),
            (Role::Kind { ours: false }, "2", Some(2)),
            (Role::IsWrite, "true", Some(1)),
            (Role::Kind { ours: true }, "dance", None),
        ] {
            assert_eq!(from_text(role, text), value, "{role:?} {text}");
        }
        assert_eq!(from_double(4096.0), Some(4096));
        assert_eq!(from_double(-1.0), Some(u64::MAX));
        assert_eq!((from_double(0.5), from_double(1e300), from_double(f64::NAN)), (None, None, None));
    }
}
