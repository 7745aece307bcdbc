//! DWARF's entries, by unit and offset: references followed, names read, functions found.

use super::Bytes;
use gimli::{AttributeValue, DebugTypeSignature, DebuggingInformationEntry, Dwarf, UnitOffset, UnitRef};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// An entry with its attributes.
pub(super) type Entry = DebuggingInformationEntry<Bytes>;

/// Where an entry stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Die {
    /// Place in [`Debug::units`].
    pub(super) unit: usize,
    pub(super) offset: UnitOffset,
}

/// A function's code and its entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Function {
    pub(super) first: u64,
    pub(super) past: u64,
    pub(super) die: Die,
}

/// All units of a file.
pub(super) struct Debug {
    pub(super) dwarf: Arc<Dwarf<Bytes>>,
    pub(super) units: Vec<gimli::Unit<Bytes>>,
    /// Type units by signature.
    types: BTreeMap<u64, Die>,
    /// By first byte; filled by the walk over all entries.
    pub(super) functions: Vec<Function>,
    /// Statics and globals by their plain name: their types.
    pub(super) globals: BTreeMap<String, Vec<Die>>,
}

/// A file without debug sections.
pub(super) fn nothing(empty: &Bytes) -> Dwarf<Bytes> {
    let load = |_| -> Result<Bytes, std::convert::Infallible> { Ok(empty.clone()) };
    match Dwarf::load(load) {
        Ok(dwarf) => dwarf,
        Err(never) => match never {},
    }
}

/// A linker's name as people write it: C++ and Rust demangled, others as they are.
pub(super) fn demangled(name: &str) -> String {
    addr2line::demangle_auto(Cow::Borrowed(name), None).into_owned()
}

impl Debug {
    /// Reads the headers of all units.
    pub(super) fn new(name: &str, dwarf: Dwarf<Bytes>, notices: &mut Vec<String>) -> Self {
        let dwarf = Arc::new(dwarf);
        let mut debug =
            Self { dwarf, units: Vec::new(), types: BTreeMap::new(), functions: Vec::new(), globals: BTreeMap::new() };
        let (mut broken, mut split) = (None, 0u64);
        let dwarf = Arc::clone(&debug.dwarf);
        let mut headers = dwarf.units();
        loop {
            match headers.next() {
                Ok(Some(header)) => debug.add(&dwarf, header, &mut split, &mut broken),
                Ok(None) => break,
                Err(error) => {
                    broken.get_or_insert(error);
                    break;
                }
            }
        }
        // Units of .debug_types (DWARF 4) stand after those of .debug_info.
        let mut headers = dwarf.type_units();
        while let Ok(Some(header)) = headers.next() {
            debug.add(&dwarf, header, &mut split, &mut broken);
        }
        if let Some(error) = broken {
            notices.push(format!("{name}: part of its debug information is damaged and left out ({error})"));
        }
        if split > 0 {
            notices.push(format!(
                "{name}: {split} of its units have their debug information in .dwo files (-gsplit-dwarf), which are not read; \
                 build without -gsplit-dwarf to have variables named"
            ));
        }
        debug
    }

    fn add(
        &mut self,
        dwarf: &Dwarf<Bytes>,
        header: gimli::UnitHeader<Bytes>,
        split: &mut u64,
        broken: &mut Option<gimli::Error>,
    ) {
        let index = self.units.len();
        match header.type_() {
            gimli::UnitType::Type { type_signature: DebugTypeSignature(signature), type_offset } => {
                self.types.insert(signature, Die { unit: index, offset: type_offset });
            }
            gimli::UnitType::Skeleton(_) => *split += 1,
            _ => {}
        }
        match dwarf.unit(header) {
            Ok(unit) => {
                let old_split = !matches!(unit.header.type_(), gimli::UnitType::Skeleton(_)) && unit.dwo_id.is_some();
                *split += u64::from(old_split);
                self.units.push(unit);
            }
            Err(error) => {
                broken.get_or_insert(error);
                self.types.retain(|_, die| die.unit != index);
            }
        }
    }

    pub(super) fn unit(&self, index: usize) -> Option<UnitRef<'_, Bytes>> {
        self.units.get(index).map(|unit| unit.unit_ref(&self.dwarf))
    }

    pub(super) fn entry(&self, die: Die) -> Option<Entry> {
        self.units.get(die.unit)?.entry(die.offset).ok()
    }

    /// The entry that holds what this one only declares, where that is in a type unit (`-fdebug-types-section`).
    pub(super) fn defined(&self, die: Die) -> Option<(Die, Entry)> {
        let entry = self.entry(die)?;
        let at = self.target(die.unit, entry.attr_value(gimli::DW_AT_signature));
        match at.and_then(|at| Some((at, self.entry(at)?))) {
            Some(found) => Some(found),
            None => Some((die, entry)),
        }
    }

    /// The entries right below one; none where it is damaged.
    pub(super) fn children(&self, die: Die) -> Vec<(Die, Entry)> {
        let mut out = Vec::new();
        let Some(unit) = self.units.get(die.unit) else { return out };
        let Ok(mut tree) = unit.entries_tree(Some(die.offset)) else { return out };
        let Ok(root) = tree.root() else { return out };
        let mut children = root.children();
        while let Ok(Some(child)) = children.next() {
            let entry = child.entry().clone();
            out.push((Die { unit: die.unit, offset: entry.offset() }, entry));
        }
        out
    }

    /// The entry that an attribute refers to.
    pub(super) fn target(&self, unit: usize, value: Option<AttributeValue<Bytes>>) -> Option<Die> {
        match value? {
            AttributeValue::UnitRef(offset) => Some(Die { unit, offset }),
            AttributeValue::DebugInfoRef(offset) => {
                let before = |u: &gimli::Unit<Bytes>| u.header.debug_info_offset().is_some_and(|at| at <= offset);
                let index = self.units.partition_point(before).checked_sub(1)?;
                let offset = offset.to_unit_offset(&self.units.get(index)?.header)?;
                Some(Die { unit: index, offset })
            }
            AttributeValue::DebugTypesRef(DebugTypeSignature(signature)) => self.types.get(&signature).copied(),
            _ => None,
        }
    }

    /// `DW_AT_type` of an entry.
    pub(super) fn type_of(&self, unit: usize, entry: &Entry) -> Option<Die> {
        self.target(unit, entry.attr_value(gimli::DW_AT_type))
    }

    /// The entry that this one completes or is a copy of.
    pub(super) fn origin(&self, unit: usize, entry: &Entry) -> Option<Die> {
        let value =
            entry.attr_value(gimli::DW_AT_specification).or_else(|| entry.attr_value(gimli::DW_AT_abstract_origin));
        self.target(unit, value)
    }

    /// An attribute's string.
    pub(super) fn string(&self, unit: usize, entry: &Entry, name: gimli::DwAt) -> Option<String> {
        let value = entry.attr_value(name)?;
        let bytes = self.unit(unit)?.attr_string(value).ok()?;
        Some(String::from_utf8_lossy(bytes.bytes()).into_owned())
    }

    /// The entry's own name, or that of the one it completes.
    pub(super) fn name(&self, unit: usize, entry: &Entry) -> Option<String> {
        let (mut unit, mut entry) = (unit, Cow::Borrowed(entry));
        for _ in 0..4 {
            if let Some(name) = self.string(unit, &entry, gimli::DW_AT_name) {
                return Some(name);
            }
            let die = self.origin(unit, &entry)?;
            (unit, entry) = (die.unit, Cow::Owned(self.entry(die)?));
        }
        None
    }

    /// The entry's type, or that of the one it completes.
    pub(super) fn type_through(&self, unit: usize, entry: &Entry) -> Option<Die> {
        let (mut unit, mut entry) = (unit, Cow::Borrowed(entry));
        for _ in 0..4 {
            if let Some(found) = self.type_of(unit, &entry) {
                return Some(found);
            }
            let die = self.origin(unit, &entry)?;
            (unit, entry) = (die.unit, Cow::Owned(self.entry(die)?));
        }
        None
    }

    pub(super) fn language(&self, unit: usize) -> Language {
        let root = self.units.get(unit).and_then(|u| u.entry(u.header.root_offset()).ok());
        match root.and_then(|e| e.attr_value(gimli::DW_AT_language)) {
            Some(AttributeValue::Language(language)) => match language {
                gimli::DW_LANG_C
                | gimli::DW_LANG_C89
                | gimli::DW_LANG_C99
                | gimli::DW_LANG_C11
                | gimli::DW_LANG_C17 => Language::C,
                gimli::DW_LANG_Fortran77
                | gimli::DW_LANG_Fortran90
                | gimli::DW_LANG_Fortran95
                | gimli::DW_LANG_Fortran03
                | gimli::DW_LANG_Fortran08
                | gimli::DW_LANG_Fortran18 => Language::Fortran,
                _ => Language::Other,
            },
            _ => Language::Other,
        }
    }

    /// The function whose code holds `pc`; the innermost span where some overlap.
    pub(super) fn function_at(&self, pc: u64) -> Option<Function> {
        let until = self.functions.partition_point(|f| f.first <= pc);
        // Spans of functions do not overlap but by damage or outlined parts: a few steps back are enough.
        self.functions.get(..until)?.iter().rev().take(64).find(|f| pc < f.past).copied()
    }

    /// The span of the first function of this name.
    pub(super) fn function_named(&self, name: &str) -> Option<(u64, u64)> {
        let found = self
            .functions
            .iter()
            .find(|f| self.entry(f.die).and_then(|e| self.name(f.die.unit, &e)).is_some_and(|n| n == name))?;
        Some((found.first, found.past))
    }

    /// Whether the entry's code holds `pc`; `None` where it tells of no code.
    pub(super) fn covers(&self, unit: usize, entry: &Entry, pc: u64) -> Option<bool> {
        let mut ranges = self.unit(unit)?.die_ranges(entry).ok()?;
        let mut any = false;
        while let Ok(Some(range)) = ranges.next() {
            any = true;
            if range.begin <= pc && pc < range.end {
                return Some(true);
            }
        }
        any.then_some(false)
    }
}

/// What a unit was written in, as far as it changes names and order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// Types of structures have a tag: `struct point`.
    C,
    /// Arrays count from 1 and the first index varies fastest.
    Fortran,
    Other,
}
