//! Which slots of stack frames belong to arrays, by the debug information of the very object being assembled.
//!
//! Addresses in an object's debug information are filled in by the linker, so the object is linked, alone, to be read: nobody
//! runs the result. Where that does not work, or there is no debug information, no slot is known to be an array's.

use super::weave::{FrameArrays, SITE};
use crate::symbols::Module;
use object::{Object, ObjectSymbol};
use std::collections::{BTreeMap, BTreeSet};
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
    /// By number of the function.
    functions: BTreeMap<usize, Arrays>,
}

/// The arrays of a function.
struct Arrays {
    /// Spans of offsets.
    spans: Vec<(i64, i64)>,
    /// First instructions of blocks whose arrays lie where others' do.
    begins: BTreeSet<u64>,
}

impl Slots {
    /// For an object whose instructions have labels.
    pub(super) fn new(object: &Path) -> Self {
        Self { object: object.to_owned(), linked: None }
    }
}

impl Slots {
    /// The address of instruction `number`, and the arrays of its function.
    fn of(&mut self, function: usize, number: usize) -> Option<(u64, &Arrays)> {
        let linked = self.linked.get_or_insert_with(|| Linked::new(&self.object));
        let Linked { module, sites, functions } = linked.as_mut()?;
        let &address = sites.get(&number)?;
        let arrays = functions.entry(function).or_insert_with(|| {
            let arrays = module.stack_arrays(address);
            let span = |offset: i64, bytes: u64| Some((offset, offset.checked_add_unsigned(bytes)?));
            Arrays {
                spans: arrays.iter().filter_map(|a| span(a.offset, a.bytes)).collect(),
                begins: arrays.iter().flat_map(|a| a.blocks.iter().map(|b| b.0)).collect(),
            }
        });
        Some((address, arrays))
    }
}

impl FrameArrays for Slots {
    fn holds(&mut self, function: usize, number: usize, offset: i64) -> bool {
        let found = self.of(function, number);
        found.is_some_and(|(_, arrays)| arrays.spans.iter().any(|&(first, past)| first <= offset && offset < past))
    }

    fn begins(&mut self, function: usize, number: usize) -> bool {
        self.of(function, number).is_some_and(|(address, arrays)| arrays.begins.contains(&address))
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
