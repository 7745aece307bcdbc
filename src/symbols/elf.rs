//! An ELF file's parts: header, symbol table, debug sections. Sizes are held against the file before anything is allocated.

use super::{Bytes, SymbolError};
use gimli::{EndianArcSlice, RunTimeEndian, SectionId};
use object::read::{CompressionFormat, ReadCache};
use object::{Object, ObjectKind, ObjectSection, ObjectSymbol, SectionFlags, SymbolKind, elf};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Deflate never packs more than 1,032 to one; zstd may, but debug sections do not come near.
const MOST_PACKED: u64 = 1100;

/// A debug section may unpack to this many bytes at most: 4 GiB, what 32-bit DWARF can address.
const MOST_BYTES: u64 = 1 << 32;

/// What is taken out of an ELF file; the file is closed again.
pub(super) struct Elf {
    pub(super) relocatable: bool,
    pub(super) machine: &'static str,
    pub(super) x86_64: bool,
    pub(super) entry: u64,
    /// `(first byte, one past the last)` of what is in memory and neither code nor thread-local, sorted.
    pub(super) data: Vec<(u64, u64)>,
    /// `(first byte, one past the last)` of the section for constants; empty where there is none.
    pub(super) constants: (u64, u64),
    /// Named data with a size.
    pub(super) objects: Vec<Symbol>,
    /// Named code, by address.
    pub(super) functions: Vec<Symbol>,
    /// Code as it is in memory, for a look at what follows a call.
    pub(super) text: Vec<(u64, Arc<[u8]>)>,
    pub(super) dwarf: gimli::Dwarf<Bytes>,
    pub(super) notices: Vec<String>,
}

/// A symbol with an address and a size.
pub(super) struct Symbol {
    /// As the linker has it: mangled, without its version.
    pub(super) name: String,
    pub(super) address: u64,
    pub(super) bytes: u64,
}

fn damaged(name: &str, found: impl Into<String>) -> SymbolError {
    SymbolError::new(
        name,
        found,
        "a whole ELF executable or shared object",
        "link it again, or copy it again from where it was built",
    )
}

pub(super) fn open(path: &Path) -> Result<Elf, SymbolError> {
    let name = path.display().to_string();
    let failed = |source| SymbolError::Io { path: name.clone(), source };
    // Before it is opened: a pipe would wait for its writer.
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        return Err(SymbolError::new(
            &name,
            "no plain file",
            "an ELF executable or shared object",
            "give the path of the program that was traced",
        ));
    }
    let mut file = File::open(path).map_err(failed)?;
    let mut head = Vec::new();
    file.by_ref().take(4).read_to_end(&mut head).map_err(failed)?;
    if head != elf::ELFMAG {
        return Err(SymbolError::new(
            &name,
            kind_of_file(&head),
            "an ELF executable or shared object",
            "give the program itself, not a script that starts it",
        ));
    }
    let cache = ReadCache::new(file);
    let file = object::File::parse(&cache).map_err(|e| damaged(&name, format!("a damaged ELF file ({e})")))?;
    match file.kind() {
        ObjectKind::Executable | ObjectKind::Dynamic => {}
        ObjectKind::Relocatable => {
            return Err(SymbolError::new(
                &name,
                "an object file that is not linked yet",
                "an executable or shared object, whose addresses are final",
                "link it, and give the program",
            ));
        }
        kind => return Err(damaged(&name, format!("an ELF file of another kind ({kind:?})"))),
    }
    read(&name, &file)
}

fn kind_of_file(head: &[u8]) -> String {
    match head {
        [] => "an empty file".into(),
        [b'#', b'!', ..] => "a script".into(),
        [0xcf | 0xce, 0xfa, 0xed, 0xfe] => "a Mach-O file".into(),
        [b'M', b'Z', ..] => "a Windows executable".into(),
        b"!<ar" => "an archive of object files".into(),
        _ => {
            let hex: Vec<String> = head.iter().map(|b| format!("{b:02x}")).collect();
            format!("a file that starts with {}", hex.join(" "))
        }
    }
}

fn read<'d, R: object::ReadRef<'d>>(name: &str, file: &object::File<'d, R>) -> Result<Elf, SymbolError> {
    let mut notices = Vec::new();
    let (mut data, mut text) = (Vec::new(), Vec::new());
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags, .. } = section.flags() else { continue };
        if !sh_flags.contains(elf::SHF_ALLOC) || sh_flags.contains(elf::SHF_TLS) {
            continue;
        }
        if sh_flags.contains(elf::SHF_EXECINSTR) {
            if let Ok(bytes) = section.data() {
                text.push((section.address(), bytes.into()));
            }
        } else {
            data.push((section.address(), section.address().saturating_add(section.size())));
        }
    }
    data.sort_unstable();
    let constants = file.section_by_name(".rodata");
    let constants = constants.map_or((0, 0), |s| (s.address(), s.address().saturating_add(s.size())));
    let dwarf = debug_sections(name, file, &mut notices)?;
    if file.section_by_name(".debug_info").is_none() {
        if file.section_by_name(".gnu_debuglink").is_some() {
            notices.push(format!(
                "{name}: its debug information is in another file (.gnu_debuglink), which is not read; names come from the \
                 symbol table"
            ));
        }
    } else if file.section_by_name(".gnu_debugaltlink").is_some() {
        notices.push(format!(
            "{name}: part of its debug information is in another file (dwz, .gnu_debugaltlink), which is not read; some \
             names are missing"
        ));
    }
    let mut elf = Elf {
        relocatable: file.kind() == ObjectKind::Dynamic,
        machine: machine(file.architecture()),
        entry: file.entry(),
        x86_64: file.architecture() == object::Architecture::X86_64,
        data,
        constants,
        objects: Vec::new(),
        functions: Vec::new(),
        text,
        dwarf,
        notices,
    };
    elf.read_symbols(file);
    Ok(elf)
}

fn machine(architecture: object::Architecture) -> &'static str {
    match architecture {
        object::Architecture::X86_64 => "x86-64",
        object::Architecture::I386 => "x86",
        object::Architecture::Aarch64 => "AArch64",
        object::Architecture::Arm => "ARM",
        object::Architecture::Riscv64 => "RISC-V",
        object::Architecture::PowerPc64 => "POWER",
        object::Architecture::S390x => "s390x",
        _ => "another machine",
    }
}

/// Loads what gimli asks for; a section that cannot be had is left out and told of.
fn debug_sections<'d, R: object::ReadRef<'d>>(
    name: &str,
    file: &object::File<'d, R>,
    notices: &mut Vec<String>,
) -> Result<gimli::Dwarf<Bytes>, SymbolError> {
    let endian = if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let mut load = |id: SectionId| -> Result<Bytes, SymbolError> {
        let bytes: Arc<[u8]> = match file.section_by_name(id.name()).map(|section| content(&section)) {
            None => Arc::new([]),
            Some(Ok(bytes)) => bytes,
            Some(Err(why)) => {
                notices.push(format!("{name}: section {} is left out: {why}", id.name()));
                Arc::new([])
            }
        };
        Ok(EndianArcSlice::new(bytes, endian))
    };
    gimli::Dwarf::load(&mut load)
}

/// The section's bytes, unpacked.
fn content<'d, R: object::ReadRef<'d>>(section: &object::Section<'d, '_, R>) -> Result<Arc<[u8]>, String> {
    let packed = section.compressed_data().map_err(|e| e.to_string())?;
    if packed.format == CompressionFormat::None {
        return Ok(packed.data.into());
    }
    let most = (packed.data.len() as u64).saturating_mul(MOST_PACKED).min(MOST_BYTES);
    if packed.uncompressed_size > most {
        return Err(format!(
            "{} packed bytes say that they unpack to {}, which cannot be",
            packed.data.len(),
            packed.uncompressed_size
        ));
    }
    packed.decompress().map(|bytes| bytes.as_ref().into()).map_err(|e| e.to_string())
}

impl Elf {
    fn read_symbols<'d, R: object::ReadRef<'d>>(&mut self, file: &object::File<'d, R>) {
        let mut any = false;
        for symbol in file.symbols() {
            any = true;
            self.take_symbol(&symbol);
        }
        if !any {
            // Stripped: what is left is what others link to.
            for symbol in file.dynamic_symbols() {
                self.take_symbol(&symbol);
            }
        }
        self.functions.sort_by(|a, b| (a.address, &a.name).cmp(&(b.address, &b.name)));
        self.objects.sort_by(|a, b| (a.address, &a.name).cmp(&(b.address, &b.name)));
    }

    fn take_symbol<'d>(&mut self, symbol: &impl ObjectSymbol<'d>) {
        let list = match symbol.kind() {
            SymbolKind::Data => &mut self.objects,
            SymbolKind::Text => &mut self.functions,
            _ => return,
        };
        if symbol.is_undefined() || symbol.size() == 0 || symbol.address() == 0 {
            return;
        }
        let Ok(name) = symbol.name() else { return };
        let name = name.split('@').next().unwrap_or_default();
        if !name.is_empty() {
            list.push(Symbol { name: name.to_owned(), address: symbol.address(), bytes: symbol.size() });
        }
    }

    /// Whether all bytes are data in memory: of one section, not thread-local, no code.
    pub(super) fn holds(&self, address: u64, bytes: u64) -> bool {
        let Some(end) = address.checked_add(bytes) else { return false };
        self.data.iter().any(|&(first, past)| first <= address && end <= past && address < past)
    }

    /// The bytes of code from `address` on.
    pub(super) fn code(&self, address: u64) -> &[u8] {
        let at = |(base, bytes): &(u64, Arc<[u8]>)| {
            let skip = usize::try_from(address.checked_sub(*base)?).ok()?;
            (skip < bytes.len()).then_some(skip)
        };
        self.text.iter().find_map(|part| at(part).and_then(|skip| part.1.get(skip..))).unwrap_or_default()
    }

    /// The function that holds `address`, by the symbol table.
    pub(super) fn function(&self, address: u64) -> Option<&str> {
        self.function_symbol(address).map(|s| s.name.as_str())
    }

    /// The symbol of the function that holds `address`.
    pub(super) fn function_symbol(&self, address: u64) -> Option<&Symbol> {
        let after = self.functions.partition_point(|s| s.address <= address);
        self.functions.get(..after)?.iter().rev().take(8).find(|s| address - s.address < s.bytes)
    }
}
