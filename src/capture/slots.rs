//! Which slots of stack frames belong to arrays, by the debug information of the very object being assembled.
//!
//! Addresses in an object's debug information are filled in by the linker, so the object is linked, alone, to be read: nobody
//! runs the result. Where that does not work, or there is no debug information, no slot is known to be an array's.

use super::weave::{FrameArrays, SITE};
use crate::symbols::Module;
use object::{Object, ObjectSymbol};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Arrays of frames, read when the first slot is asked about.
pub(super) struct Slots {
    object: PathBuf,
    linked: Option<Option<Linked>>,
}

struct Linked {
    module: Module,
    /// Address of each instruction, by its number.
    sites: BTreeMap<usize, u64>,
    /// Spans of offsets, by number of the function.
    functions: BTreeMap<usize, Vec<(i64, i64)>>,
}

impl Slots {
    /// For an object whose instructions have labels.
    pub(super) fn new(object: &Path) -> Self {
        Self { object: object.to_owned(), linked: None }
    }
}

impl FrameArrays for Slots {
    fn holds(&mut self, function: usize, number: usize, offset: i64) -> bool {
        let linked = self.linked.get_or_insert_with(|| Linked::new(&self.object));
        let Some(Linked { module, sites, functions }) = linked else { return false };
        let Some(&address) = sites.get(&number) else { return false };
        let spans = functions.entry(function).or_insert_with(|| {
            let span = |offset: i64, bytes: u64| Some((offset, offset.checked_add_unsigned(bytes)?));
            module.stack_arrays(address).iter().filter_map(|a| span(a.offset, a.bytes)).collect()
        });
        spans.iter().any(|&(first, past)| first <= offset && offset < past)
    }
}

impl Linked {
    fn new(object: &Path) -> Option<Self> {
        // Beside the object, in a folder of our own.
        let file = object.with_extension("elf");
        let mut ld = Command::new("ld");
        ld.args(["--noinhibit-exec", "--unresolved-symbols=ignore-all", "-e", "0", "-o"]).arg(&file).arg(object);
        // It complains of what is missing; what it made all the same is what counts.
        let _ = ld.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().ok()?;
        let module = Module::open(&file).ok()?;
        let bytes = std::fs::read(&file).ok()?;
        let parsed = object::File::parse(&*bytes).ok()?;
        let number = |name: &str| name.strip_prefix(SITE)?.parse().ok();
        let sites = parsed.symbols().filter_map(|s| Some((number(s.name().ok()?)?, s.address()))).collect();
        Some(Self { module, sites, functions: BTreeMap::new() })
    }
}
