//! Names for addresses: what variables, source lines and stack arrays an ELF file's symbol table and DWARF tell of.
//!
//! ```text
//! elf        the file: header, symbol table, debug sections (unpacked, held against the file's size)
//! debug      DWARF's entries: units, references between them, names
//! types      a type's entry into element, size and shape
//! variables  globals and statics
//! lines      source lines, functions, the text of a line
//! frames     arrays on the stack
//! assigned   the variable that a call's result goes to
//! passed     whether a function hands such a result on to its caller
//! ```
//!
//! All addresses are as linked; in a file that [`Module::is_relocatable`] whoever loaded it adds a bias. DWARF 4 and 5,
//! C, C++, Fortran, Rust. Nothing here runs, changes or trusts the file: what is damaged is left out and told of by
//! [`Module::notices`].

mod assigned;
mod debug;
mod elf;
mod frames;
mod lines;
mod passed;
mod types;
mod variables;

use crate::reference::{Region, SourceLocation, plain_path};
use debug::Debug;
use elf::Elf;
use lines::Lines;
use std::path::Path;

pub use passed::{Fate, Handed};

/// The bytes of a debug section.
type Bytes = gimli::EndianArcSlice<gimli::RunTimeEndian>;

/// Why a file gives no names: place, finding, expectation, remedy.
#[derive(Debug, thiserror::Error)]
pub enum SymbolError {
    /// The operating system said no.
    #[error("{path}: the program cannot be read; check the path and its permissions")]
    Io {
        /// The file.
        path: String,
        /// What the operating system answered.
        source: std::io::Error,
    },
    /// The file is no linked ELF file, or not a whole one.
    #[error("{path}: found {found}; expected {expected}; {remedy}")]
    Unfit {
        /// The file.
        path: String,
        /// What is there.
        found: String,
        /// What should be there.
        expected: &'static str,
        /// What to try.
        remedy: &'static str,
    },
}

impl SymbolError {
    fn new(path: &str, found: impl Into<String>, expected: &'static str, remedy: &'static str) -> Self {
        Self::Unfit { path: path.into(), found: found.into(), expected, remedy }
    }
}

/// A global or static variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Name as the program has it: `A`, `ns::table`; with its function or file where two share a name: `f::count`,
    /// `a.c:buffer`.
    pub name: String,
    /// First byte, as linked.
    pub address: u64,
    /// Length in bytes, 1 or more.
    pub bytes: u64,
    /// Bytes of one element; 1 where the type is unknown.
    pub elem_bytes: u32,
    /// Name of the element's type; empty = unknown.
    pub elem_type: String,
    /// Extents, outermost first; empty = no array, or unknown.
    pub shape: Vec<u64>,
    /// Whether the last extent varies fastest (C) or the first (Fortran).
    pub row_major: bool,
}

impl Variable {
    /// The region that this is where the file was loaded `bias` bytes above its linked addresses.
    #[must_use]
    pub fn region(&self, bias: u64) -> Region {
        Region {
            elem_bytes: self.elem_bytes,
            elem_type: self.elem_type.clone().into(),
            shape: self.shape.clone().into(),
            row_major: self.row_major,
            ..Region::new(self.name.clone(), self.address.wrapping_add(bias), self.bytes)
        }
    }
}

/// The variable that a call's result goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assigned {
    /// As the program writes it: `a`, `rows[i]`, `p->data`.
    pub name: String,
    /// Name of the type that it points to; empty = unknown (`void *`).
    pub elem_type: String,
    /// Bytes of one element; 1 where the type is unknown.
    pub elem_bytes: u32,
    /// Extents of what one step of the pointer passes over, outermost first: `[16]` for `double (*m)[16]`, else empty.
    pub inner_shape: Vec<u64>,
}

/// An array or structure in a stack frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackVariable {
    /// Name as the program has it.
    pub name: String,
    /// First byte, from the canonical frame address (the stack pointer before the call); negative.
    pub offset: i64,
    /// Length in bytes, 1 or more.
    pub bytes: u64,
    /// Bytes of one element.
    pub elem_bytes: u32,
    /// Name of the element's type.
    pub elem_type: String,
    /// Extents, outermost first; empty = a structure.
    pub shape: Vec<u64>,
    /// Whether the last extent varies fastest (C) or the first (Fortran).
    pub row_major: bool,
    /// Code of the blocks that it belongs to, `(first, past)` each, where arrays of other blocks have bytes in common with it;
    /// empty = nobody has.
    pub blocks: Vec<(u64, u64)>,
}

/// One ELF file, executable or shared object, with or without debug information.
pub struct Module {
    elf: Elf,
    debug: Debug,
    lines: Lines,
    variables: Vec<Variable>,
    notices: Vec<String>,
}

impl Module {
    /// Reads a file's names. Its debug sections are held in memory, the rest is not.
    ///
    /// # Errors
    /// When the file cannot be read or is no linked, whole ELF file. Missing or damaged debug information is no error:
    /// what there is is used, and [`Module::notices`] says what was left out.
    pub fn open(path: &Path) -> Result<Self, SymbolError> {
        let mut elf = elf::open(path)?;
        let name = path.display().to_string();
        let empty = Bytes::new(std::sync::Arc::new([]), gimli::RunTimeEndian::Little);
        let sections = std::mem::replace(&mut elf.dwarf, debug::nothing(&empty));
        let mut notices = std::mem::take(&mut elf.notices);
        let mut debug = Debug::new(&name, sections, &mut notices);
        let variables = variables::collect(&elf, &mut debug, &name, &mut notices);
        let lines = Lines::new(&debug, &name, &mut notices);
        Ok(Self { elf, debug, lines, variables, notices })
    }

    /// Whether the file may be loaded anywhere (a position-independent executable, a shared object), so that its
    /// addresses need a bias.
    #[must_use]
    pub fn is_relocatable(&self) -> bool {
        self.elf.relocatable
    }

    /// The first instruction of the program, before any of the library's or its own; 0 in a shared object without one.
    #[must_use]
    pub fn entry(&self) -> u64 {
        self.elf.entry
    }

    /// The span `[first, past)` of the function that holds `address`, by debug information or the symbol table.
    #[must_use]
    pub fn function_at(&self, address: u64) -> Option<(u64, u64)> {
        let debug = || self.debug.function_at(address).map(|f| (f.first, f.past));
        debug().or_else(|| self.elf.function_symbol(address).map(|s| (s.address, s.address.saturating_add(s.bytes))))
    }

    /// The processor that it is for, as people call it: `x86-64`. Names do not depend on it.
    #[must_use]
    pub fn machine(&self) -> &'static str {
        self.elf.machine
    }

    /// Globals and statics by address: from debug information, and from the symbol table what that does not tell of.
    #[must_use]
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// Whether addresses have source lines at all.
    #[must_use]
    pub fn has_lines(&self) -> bool {
        self.lines.any()
    }

    /// Where the instruction at `address` stands: file, line, function of the innermost frame where functions are inlined.
    /// The text of the line comes from the source file, where that still is. `None` where no line is known.
    #[must_use]
    pub fn location(&self, address: u64) -> Option<SourceLocation> {
        let place = self.lines.place(address)?;
        let function = match place.function {
            Some(name) => name,
            None => self.function(address).unwrap_or_default(),
        };
        Some(SourceLocation {
            pc: address,
            file: lines::shown(&place.file),
            path: plain_path(&place.file),
            line: place.line,
            function,
            text: self.lines.text(&place.file, place.line),
        })
    }

    /// The function that holds `address` by the symbol table, demangled: for files without debug information.
    #[must_use]
    pub fn function(&self, address: u64) -> Option<String> {
        self.elf.function(address).map(debug::demangled)
    }

    /// The span `[first, past)` of the function of this name (as the symbol table or debug information has it, mangled or
    /// not); the first of several.
    #[must_use]
    pub fn function_span(&self, name: &str) -> Option<(u64, u64)> {
        let symbols = || self.elf.functions.iter().map(|s| (s, s.address.saturating_add(s.bytes)));
        let exact = symbols().find(|(s, _)| s.name == name);
        let plain = |s: &str| {
            let full = debug::demangled(s);
            full == name || full.split('(').next() == Some(name)
        };
        let found = exact.or_else(|| symbols().find(|(s, _)| plain(&s.name)));
        found.map(|(s, past)| (s.address, past)).or_else(|| self.debug.function_named(name))
    }

    /// The variable that takes what a call returns, where the call is the one that returns to `return_address`: by the
    /// source line's text checked against debug information, else by where the result is stored. `None` where unsure.
    #[must_use]
    pub fn assigned_at(&self, return_address: u64) -> Option<Assigned> {
        assigned::find(self, return_address)
    }

    /// What becomes of a block that the call returning to `return_address` gave in the way of `handed`: whether the function
    /// there keeps it, and in which variable, or hands it on to its caller. Inlined functions are seen through. `None` where
    /// no source line is known.
    #[must_use]
    pub fn follow(&self, return_address: u64, handed: Handed) -> Option<Fate> {
        passed::follow(self, return_address, handed)
    }

    /// Arrays and structures in the frame of the function that holds `pc`, by offset: of all its blocks, so that two may
    /// share bytes ([`StackVariable::blocks`] tells when each is there). Those of variable length are left out.
    #[must_use]
    pub fn stack_arrays(&self, pc: u64) -> Vec<StackVariable> {
        frames::arrays(&self.debug, self.elf.x86_64, pc)
    }

    /// Sentences for the user about what could not be read.
    #[must_use]
    pub fn notices(&self) -> &[String] {
        &self.notices
    }
}
