//! Globals and statics: from debug information, then from the symbol table what that leaves out.

use super::debug::{Debug, Die, Entry, Function, demangled};
use super::elf::Elf;
use super::types::{Layout, is_elsewhere};
use super::{Bytes, Variable};
use gimli::{AttributeValue, DebuggingInformationEntry, Operation};
use std::collections::{BTreeMap, BTreeSet};

/// What encloses an entry.
struct Scope {
    depth: isize,
    name: String,
    /// Part of the name always (namespace, class), or only where two variables share one (function, Fortran module).
    always: bool,
}

/// A variable before names are made unique.
struct Found {
    /// With namespaces and classes.
    name: String,
    /// Function or module around it; empty = none.
    within: String,
    /// Source file; empty = unknown.
    file: String,
    address: u64,
    layout: Layout,
}

/// What names the symbol table has for things that a compiler or linker put there, not a person.
fn is_toolchain(name: &str) -> bool {
    name.starts_with("__") || name.starts_with("_IO_") || name.starts_with("completed.") || name.starts_with("_DYNAMIC")
}

/// All variables by address; fills the functions and types that `debug` keeps for later questions.
pub(super) fn collect(elf: &Elf, debug: &mut Debug, name: &str, notices: &mut Vec<String>) -> Vec<Variable> {
    let (mut found, mut functions, mut globals) = (Vec::new(), Vec::new(), BTreeMap::new());
    let mut damaged = 0u64;
    for unit in 0..debug.units.len() {
        let mut walk = Walk { elf, debug, unit, found: &mut found, functions: &mut functions, globals: &mut globals };
        damaged += u64::from(walk.run().is_err());
    }
    if damaged > 0 {
        notices.push(format!(
            "{name}: the debug information of {damaged} of its {} units is damaged; names before the damage are kept",
            debug.units.len()
        ));
    }
    functions.sort_by_key(|f: &Function| (f.first, f.past));
    debug.functions = functions;
    debug.globals = globals;
    let has_debug = !found.is_empty() || !debug.functions.is_empty();
    // One place, one variable: the copy that tells the most (a declaration in another unit may tell less).
    found.sort_by(|a, b| (a.address, b.layout.bytes, &a.name).cmp(&(b.address, a.layout.bytes, &b.name)));
    found.dedup_by(|b, a| a.address == b.address && (a.layout.bytes >= b.layout.bytes));
    let mut variables = unique(found);
    add_symbols(elf, has_debug, &mut variables);
    add_constants(elf.constants, &mut variables);
    variables.sort_by(|a, b| (a.address, &a.name).cmp(&(b.address, &b.name)));
    variables
}

/// Names that several share get their function, then their file, then their address.
fn unique(found: Vec<Found>) -> Vec<Variable> {
    let again = |names: &[String]| -> Vec<bool> {
        let mut count: BTreeMap<&String, u32> = BTreeMap::new();
        names.iter().for_each(|name| *count.entry(name).or_default() += 1);
        names.iter().map(|name| count.get(name).is_some_and(|&n| n > 1)).collect()
    };
    let mut names: Vec<String> = found.iter().map(|f| f.name.clone()).collect();
    let steps: [fn(&Found, &str) -> Option<String>; 3] = [
        |f, name| (!f.within.is_empty()).then(|| format!("{}::{name}", f.within)),
        |f, name| (!f.file.is_empty()).then(|| format!("{}:{name}", f.file)),
        |f, name| Some(format!("{name}@0x{:x}", f.address)),
    ];
    for step in steps {
        for (n, shared) in again(&names).into_iter().enumerate() {
            if shared && let Some(longer) = step(&found[n], &names[n]) {
                names[n] = longer;
            }
        }
    }
    let made = found.into_iter().zip(names).map(|(f, name)| Variable {
        name,
        address: f.address,
        bytes: f.layout.bytes,
        elem_bytes: f.layout.elem_bytes,
        elem_type: f.layout.elem_type,
        shape: f.layout.shape,
        row_major: f.layout.row_major,
    });
    made.collect()
}

/// Adds the symbol table's data that no variable covers. Its names are unique only with their addresses.
fn add_symbols(elf: &Elf, has_debug: bool, variables: &mut Vec<Variable>) {
    let mut spans: BTreeMap<u64, u64> =
        variables.iter().map(|v| (v.address, v.address.saturating_add(v.bytes))).collect();
    let mut names: BTreeSet<String> = variables.iter().map(|v| v.name.clone()).collect();
    for symbol in &elf.objects {
        if !elf.holds(symbol.address, symbol.bytes) || (has_debug && is_toolchain(&symbol.name)) {
            continue;
        }
        let past = symbol.address.saturating_add(symbol.bytes);
        let before = spans.range(..past).next_back();
        if before.is_some_and(|(_, &end)| end > symbol.address) {
            continue;
        }
        let mut name = demangled(&symbol.name);
        if !names.insert(name.clone()) {
            name = format!("{name}@0x{:x}", symbol.address);
            names.insert(name.clone());
        }
        spans.insert(symbol.address, past);
        variables.push(Variable {
            name,
            address: symbol.address,
            bytes: symbol.bytes,
            elem_bytes: 1,
            elem_type: String::new(),
            shape: Vec::new(),
            row_major: true,
        });
    }
}

/// Adds what lies between variables in the section for constants: numbers and texts of the program that have no name.
fn add_constants((start, end): (u64, u64), variables: &mut Vec<Variable>) {
    let mut inside: Vec<(u64, u64)> = variables
        .iter()
        .map(|v| (v.address, v.address.saturating_add(v.bytes)))
        .filter(|v| v.0 < end && v.1 > start)
        .collect();
    inside.sort_unstable();
    inside.push((end, end));
    let mut at = start;
    let mut gaps = Vec::new();
    for (first, past) in inside {
        if first > at {
            gaps.push((at, first));
        }
        at = at.max(past);
    }
    // A program's own are linked before those of libraries.
    let own = gaps.first().copied();
    variables.extend(gaps.into_iter().map(|(first, past)| Variable {
        name: if Some((first, past)) == own { "constants".to_owned() } else { format!("constants@0x{first:x}") },
        address: first,
        bytes: past - first,
        elem_bytes: if first % 8 == 0 { 8 } else { 4 },
        elem_type: String::new(),
        shape: Vec::new(),
        row_major: true,
    }));
}

/// One pass over the entries of one unit.
struct Walk<'a> {
    elf: &'a Elf,
    debug: &'a Debug,
    unit: usize,
    found: &'a mut Vec<Found>,
    functions: &'a mut Vec<Function>,
    globals: &'a mut BTreeMap<String, Vec<Die>>,
}

impl Walk<'_> {
    fn run(&mut self) -> Result<(), gimli::Error> {
        let debug = self.debug;
        let Some(unit) = debug.units.get(self.unit) else { return Ok(()) };
        let mut entries = unit.entries_raw(None)?;
        let mut entry = DebuggingInformationEntry::null();
        let mut scopes: Vec<Scope> = Vec::new();
        // What a declaration in a class or namespace is called in full, for the definition elsewhere that completes it.
        let mut declared: BTreeMap<usize, String> = BTreeMap::new();
        while !entries.is_empty() {
            if !entries.read_entry(&mut entry)? {
                continue;
            }
            while scopes.last().is_some_and(|s| s.depth >= entry.depth()) {
                scopes.pop();
            }
            match entry.tag() {
                gimli::DW_TAG_namespace
                | gimli::DW_TAG_class_type
                | gimli::DW_TAG_structure_type
                | gimli::DW_TAG_union_type => self.enter(&entry, true, &mut scopes),
                gimli::DW_TAG_module => self.enter(&entry, false, &mut scopes),
                gimli::DW_TAG_subprogram => {
                    self.function(&entry);
                    self.enter(&entry, false, &mut scopes);
                }
                gimli::DW_TAG_variable => self.variable(&entry, &scopes, &mut declared),
                gimli::DW_TAG_member if entry.has_attr(gimli::DW_AT_external) => {
                    self.variable(&entry, &scopes, &mut declared);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn enter(&self, entry: &Entry, always: bool, scopes: &mut Vec<Scope>) {
        if entry.has_children() {
            let name = self.debug.name(self.unit, entry).unwrap_or_default();
            scopes.push(Scope { depth: entry.depth(), name, always });
        }
    }

    fn function(&mut self, entry: &Entry) {
        let die = Die { unit: self.unit, offset: entry.offset() };
        let spans = self.debug.spans(self.unit, entry);
        self.functions.extend(spans.into_iter().map(|(first, past)| Function { first, past, die }));
    }

    fn variable(&mut self, entry: &Entry, scopes: &[Scope], declared: &mut BTreeMap<usize, String>) {
        let debug = self.debug;
        let join = |always: bool| -> String {
            let parts = scopes.iter().filter(|s| s.always == always && !s.name.is_empty());
            parts.map(|s| s.name.as_str()).collect::<Vec<_>>().join("::")
        };
        let location = entry.attr_value(gimli::DW_AT_location);
        let Some(address) = location.and_then(|value| self.fixed(value)) else {
            // Without a place: a declaration, a constant, or it lives in registers.
            let prefix = join(true);
            if !prefix.is_empty()
                && let Some(name) = debug.name(self.unit, entry)
            {
                declared.insert(entry.offset().0, format!("{prefix}::{name}"));
            }
            return;
        };
        let Some(short) = debug.name(self.unit, entry) else { return };
        let origin = debug.origin(self.unit, entry).filter(|die| die.unit == self.unit);
        let name = match origin.and_then(|die| declared.get(&die.offset.0)) {
            Some(full) => full.clone(),
            None => match join(true) {
                prefix if prefix.is_empty() => short.clone(),
                prefix => format!("{prefix}::{short}"),
            },
        };
        let Some(type_die) = debug.type_through(self.unit, entry) else { return };
        self.globals.entry(short).or_default().push(type_die);
        let layout = debug.layout(type_die).or_else(|| self.by_symbol(address, type_die));
        let Some(layout) = layout.filter(|l| l.bytes > 0 && self.elf.holds(address, l.bytes)) else { return };
        let root = debug.units.get(self.unit).and_then(|u| u.entry(u.header.root_offset()).ok());
        let file = root.and_then(|e| debug.name(self.unit, &e)).unwrap_or_default();
        let (within, file) = (join(false), super::lines::shown(&file));
        self.found.push(Found { name, within, file, address, layout });
    }

    /// What the symbol table adds to a type without a size: the length of `int table[]`, or of the descriptor of an array
    /// elsewhere.
    fn by_symbol(&self, address: u64, type_die: Die) -> Option<Layout> {
        let debug = self.debug;
        let at = self.elf.objects.binary_search_by_key(&address, |s| s.address).ok()?;
        let bytes = self.elf.objects.get(at)?.bytes;
        let (array, entry) = debug.plain(type_die)?;
        let as_whole = |elem_type: String| {
            let elem_bytes = u32::try_from(bytes).ok().filter(|&b| b > 0)?;
            Some(Layout { bytes, elem_bytes, elem_type, shape: Vec::new(), row_major: true })
        };
        if entry.tag() != gimli::DW_TAG_array_type {
            return as_whole(debug.type_name(type_die, 0));
        }
        if is_elsewhere(&entry) {
            return as_whole(format!("{} descriptor", debug.type_name(type_die, 0)));
        }
        let element = debug.type_of(array.unit, &entry).and_then(|t| debug.layout(t))?;
        if !bytes.is_multiple_of(element.bytes.max(1)) || !element.shape.is_empty() {
            return None;
        }
        let row_major = debug.is_row_major(array.unit, &entry);
        Some(Layout { bytes, shape: vec![bytes / element.bytes.max(1)], row_major, ..element })
    }

    /// The address of a variable that has one for the whole run; thread-local ones have not.
    fn fixed(&self, location: AttributeValue<Bytes>) -> Option<u64> {
        let AttributeValue::Exprloc(expression) = location else { return None };
        let mut operations = expression.operations(self.debug.units.get(self.unit)?.encoding());
        let mut address = match operations.next().ok()?? {
            Operation::Address { address } => address,
            Operation::AddressIndex { index } => self.debug.unit(self.unit)?.address(index).ok()?,
            _ => return None,
        };
        while let Some(operation) = operations.next().ok()? {
            match operation {
                Operation::PlusConstant { value } => address = address.checked_add(value)?,
                _ => return None,
            }
        }
        (address != 0).then_some(address)
    }
}
