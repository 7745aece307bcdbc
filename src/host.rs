//! The caches of the machine this runs on, as Linux describes them in `/sys/devices/system/cpu`.
//!
//! ```no_run
//! use orrery::host::Host;
//! use orrery::sim::stats::collect;
//! use orrery::trace::synth::{MatmulOrder, matmul};
//!
//! let here = Host::read()?.config;
//! let stats = collect(&matmul(64, MatmulOrder::Standard), &here, false)?;
//! println!("{} of {} references miss the first level here", stats.levels[0].misses(), stats.trace.references);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The attributes are those of Linux, `Documentation/ABI/testing/sysfs-devices-system-cpu`: `size` counts one cache in
//! KiB, `ways_of_associativity` 0 is fully associative, and size = line x partitions x ways x sets. An attribute that the
//! kernel does not know has no file (Arm without a device tree entry): it is computed from the others where that is
//! possible. Latencies, policies and TLBs are not in there.

use crate::sim::config::{ConfigError, HierarchyConfig, Holds, LevelConfig, Ways, parse_size};
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The name of this machine's configuration.
pub const NAME: &str = "host";
/// Where Linux describes its CPUs.
pub const ROOT: &str = "/sys/devices/system/cpu";

/// What can be wrong with what a machine says of its caches. Each names the path and the finding; what to do about it is to take
/// another configuration, such as a preset, or to write one.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what each field is")]
pub enum HostError {
    /// Another system, or a container or virtual machine that hides it.
    #[error(
        "there is no {}, where Linux describes the caches (this is {})",
        path.display(), std::env::consts::OS
    )]
    NoFolder { path: PathBuf },
    /// A folder without caches.
    #[error("{} has no index0, index1, ...: no cache is described",
        path.display())]
    NoCache { path: PathBuf },
    /// A file that must be there.
    #[error("{} is missing{why}", path.display())]
    Missing { path: PathBuf, why: &'static str },
    /// A file that cannot be read.
    #[error("{} cannot be read: {error}", path.display())]
    Unreadable { path: PathBuf, error: std::io::Error },
    /// Content of another form.
    #[error("{} says {found:?}; expected {expected}", path.display())]
    Strange { path: PathBuf, found: String, expected: &'static str },
    /// Two caches of one level and type.
    #[error("{} describes {name}, as {} does",
        path.display(), first.display())]
    Twice { path: PathBuf, first: PathBuf, name: String },
    /// Figures that contradict each other.
    #[error(
        "{} gives a size of {size} bytes, but {sets} sets of {ways} ways of {line}-byte lines are {product}",
        path.display(), product = u128::from(*sets) * u128::from(*ways) * u128::from(*line)
    )]
    Contradiction { path: PathBuf, size: u64, sets: u64, ways: u64, line: u64 },
    /// A size that its parts do not fill.
    #[error("{} gives a size of {size} bytes, which is no multiple of {parts}",
        path.display())]
    Indivisible { path: PathBuf, size: u64, parts: String },
    /// Figures that no cache has here.
    #[error("{}: {error}", path.display())]
    Refused { path: PathBuf, error: ConfigError },
}

/// The caches of a machine, one core's view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// LRU and NINE throughout, usual latencies, no TLB.
    pub config: HierarchyConfig,
    /// A sentence for each level: where it is described, and what was not.
    pub notes: Vec<String>,
}

impl Host {
    /// This machine's, as cpu0 sees them.
    ///
    /// # Errors
    /// [`HostError`] where it does not say, or says what cannot be.
    pub fn read() -> Result<Self, HostError> {
        Self::read_from(Path::new(ROOT))
    }

    /// Those described in a tree like [`ROOT`].
    ///
    /// # Errors
    /// [`HostError`], with paths in that tree.
    pub fn read_from(root: &Path) -> Result<Self, HostError> {
        let cpu = root.join("cpu0");
        let siblings = siblings(&cpu)?;
        let folder = cpu.join("cache");
        let mut caches: Vec<Described> = Vec::new();
        for path in indices(&folder)? {
            let cache = Described::read(path, &siblings)?;
            let name = cache.name();
            if let Some(first) = caches.iter().find(|c| c.name() == name) {
                return Err(HostError::Twice { path: cache.path, first: first.path.clone(), name });
            }
            caches.push(cache);
        }
        caches.sort_by_key(|c| (c.level, c.kind));
        let mut shared = false;
        let mut levels = Vec::with_capacity(caches.len());
        let mut notes = Vec::with_capacity(caches.len());
        for cache in &caches {
            let mut level = cache.config();
            let mut note = cache.path.display().to_string();
            note.push_str(&cache.note);
            // A level outside a shared one serves at least as many; some virtual machines say otherwise.
            if shared && !level.shared {
                note.push_str(" Shared, as the level inside it.");
            }
            shared |= level.shared;
            level.shared = shared;
            // Alone first, so that a fault is told with its path.
            let refused = |error| HostError::Refused { path: cache.path.clone(), error };
            HierarchyConfig::new(NAME, vec![level.clone()]).check().map_err(refused)?;
            levels.push(level);
            notes.push(note);
        }
        let config = HierarchyConfig::new(NAME, levels);
        config.check().map_err(|error| HostError::Refused { path: folder, error })?;
        Ok(Self { config, notes })
    }

    /// A file that [`HierarchyConfig::from_toml`] reads back as [`Host::config`], with the notes as comments.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut notes = String::from(
            "# This machine's caches as cpu0 sees them, by what Linux says of their shape. It does not say latencies (those\n\
             # below are usual ones), policies (LRU stands in), relations (NINE stands in) and TLBs (none below).\n",
        );
        for note in &self.notes {
            notes.push_str(&format!("\n# {note}\n[[level]]\n"));
        }
        notes.push_str("\n# A round figure.\n[memory]\n");
        self.config.to_toml_with(&notes)
    }
}

/// What `type` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Data,
    Instruction,
    Unified,
}

/// One `index*` folder.
struct Described {
    path: PathBuf,
    level: u32,
    kind: Kind,
    size: u64,
    line: u32,
    ways: Ways,
    shared: bool,
    /// What was computed or assumed.
    note: String,
}

impl Described {
    fn read(path: PathBuf, siblings: &BTreeSet<u32>) -> Result<Self, HostError> {
        let required = |name: &str| {
            let file = path.join(name);
            attribute(&file)?.ok_or(HostError::Missing { path: file, why: "" })
        };
        let level = required("level")?;
        let level = match level.parse() {
            Ok(n @ 1..=9) => n,
            _ => return Err(strange(path.join("level"), level, "a level from 1 to 9")),
        };
        let kind = required("type")?;
        let kind = match kind.as_str() {
            "Data" => Kind::Data,
            "Instruction" => Kind::Instruction,
            "Unified" => Kind::Unified,
            _ => return Err(strange(path.join("type"), kind, "Data, Instruction or Unified")),
        };
        let shape = Shape::read(&path)?;
        let (shared, shared_note) = match attribute(&path.join("shared_cpu_list"))? {
            Some(list) => {
                let cpus = cpu_list(&list).ok_or_else(|| strange(path.join("shared_cpu_list"), list, CPU_LIST))?;
                (!cpus.is_subset(siblings), "")
            }
            None => (false, " It does not say who shares it."),
        };
        let note = format!("{}{shared_note}", shape.note);
        Ok(Self { path, level, kind, size: shape.size, line: shape.line, ways: shape.ways, shared, note })
    }

    /// `L1D`, `L1I`, `L2`.
    fn name(&self) -> String {
        let side = match self.kind {
            Kind::Data => "D",
            Kind::Instruction => "I",
            Kind::Unified => "",
        };
        format!("L{}{side}", self.level)
    }

    fn config(&self) -> LevelConfig {
        let holds = match self.kind {
            Kind::Data => Holds::Data,
            Kind::Instruction => Holds::Instructions,
            Kind::Unified => Holds::Unified,
        };
        let index = usize::try_from(self.level - 1).unwrap_or(usize::MAX);
        let usual = LevelConfig::new(self.name(), index, self.size, self.ways, self.line);
        LevelConfig { holds, shared: self.shared, ..usual }
    }
}

/// Size, line and ways, of which the kernel may know a part.
struct Shape {
    size: u64,
    line: u32,
    ways: Ways,
    note: &'static str,
}

impl Shape {
    fn read(path: &Path) -> Result<Self, HostError> {
        let size_file = path.join("size");
        let size = match attribute(&size_file)? {
            Some(text) => match parse_size(&text) {
                Some(bytes) => Some(bytes),
                None => return Err(strange(size_file, text, "a size such as 32K")),
            },
            None => None,
        };
        let number = |name: &str| -> Result<Option<u32>, HostError> {
            let file = path.join(name);
            let Some(text) = attribute(&file)? else { return Ok(None) };
            text.parse().map(Some).map_err(|_| strange(file, text, "a whole number"))
        };
        let line = number("coherency_line_size")?;
        let ways = number("ways_of_associativity")?;
        let sets = number("number_of_sets")?;
        // Sectors of a line on some old parts: the line's bytes are this many times as many.
        let partitions = number("physical_line_partition")?.unwrap_or(1).max(1);
        let missing = |name: &str, why| HostError::Missing { path: path.join(name), why };
        let product = |factors: &[u32]| factors.iter().try_fold(1u64, |p, &f| p.checked_mul(u64::from(f)));
        // What one file would say, by the others: (count, unit) each.
        let quotient = |size: u64, factors: &[(u32, &str)]| {
            let counts: Vec<u32> = factors.iter().map(|f| f.0).collect();
            let divisor = product(&counts).filter(|&d| d > 0 && size.is_multiple_of(d));
            divisor.and_then(|d| u32::try_from(size / d).ok()).ok_or_else(|| {
                let parts = factors.iter().filter(|f| f.0 != 1).map(|(n, unit)| format!("{n} {unit}"));
                let parts = parts.collect::<Vec<_>>().join(" x ");
                HostError::Indivisible { path: path.to_owned(), size, parts }
            })
        };
        const ONE_OF: &str = " and cannot be computed from the other files there";
        let parts = (partitions, "partitions");
        match (size, line, ways, sets) {
            (Some(size), Some(line), Some(0), _) => Ok(Self { size, line, ways: Ways::Full, note: "." }),
            (Some(size), Some(line), Some(ways), Some(sets)) => {
                if product(&[line, partitions, ways, sets]) != Some(size) {
                    let (sets, ways, line) =
                        (u64::from(sets) * u64::from(partitions), u64::from(ways), u64::from(line));
                    return Err(HostError::Contradiction { path: path.to_owned(), size, sets, ways, line });
                }
                Ok(Self { size, line, ways: Ways::Count(ways), note: "." })
            }
            (Some(size), Some(line), Some(ways), None) => {
                quotient(size, &[(ways, "ways"), (line, "bytes")])?;
                Ok(Self { size, line, ways: Ways::Count(ways), note: ", its sets computed." })
            }
            (Some(size), Some(line), None, Some(sets)) => {
                let ways = Ways::Count(quotient(size, &[(sets, "sets"), parts, (line, "bytes")])?);
                Ok(Self { size, line, ways, note: ", its ways computed." })
            }
            (Some(size), None, Some(ways @ 1..), Some(sets)) => {
                let line = quotient(size, &[(sets, "sets"), parts, (ways, "ways")])?;
                Ok(Self { size, line, ways: Ways::Count(ways), note: ", its line computed." })
            }
            (None, Some(line), Some(ways @ 1..), Some(sets)) => {
                // Out of range where it overflows: the check of the level says so.
                let size = product(&[line, partitions, ways, sets]).unwrap_or(u64::MAX);
                Ok(Self { size, line, ways: Ways::Count(ways), note: ", its size computed." })
            }
            (None, ..) => Err(missing("size", ONE_OF)),
            (_, None, ..) => Err(missing("coherency_line_size", ONE_OF)),
            (Some(_), Some(_), None, None) => Err(missing("ways_of_associativity", ONE_OF)),
        }
    }
}

fn strange(path: PathBuf, found: String, expected: &'static str) -> HostError {
    HostError::Strange { path, found, expected }
}

/// A file's text without its line end; `None` where there is no such file.
fn attribute(path: &Path) -> Result<Option<String>, HostError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text.trim().to_owned())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(HostError::Unreadable { path: path.to_owned(), error }),
    }
}

/// `index0`, `index1`, ... in this order.
fn indices(folder: &Path) -> Result<Vec<PathBuf>, HostError> {
    let unreadable = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => HostError::NoFolder { path: folder.to_owned() },
        _ => HostError::Unreadable { path: folder.to_owned(), error },
    };
    let mut found: Vec<(u32, PathBuf)> = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name();
        let number = name.to_str().and_then(|n| n.strip_prefix("index")).and_then(|n| n.parse().ok());
        found.extend(number.map(|n| (n, entry.path())));
    }
    if found.is_empty() {
        return Err(HostError::NoCache { path: folder.to_owned() });
    }
    found.sort();
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

/// The threads of cpu0's core: what they share is still that core's own.
fn siblings(cpu: &Path) -> Result<BTreeSet<u32>, HostError> {
    for name in ["core_cpus_list", "thread_siblings_list"] {
        let file = cpu.join("topology").join(name);
        if let Some(list) = attribute(&file)? {
            return cpu_list(&list).ok_or_else(|| strange(file, list, CPU_LIST));
        }
    }
    Ok(BTreeSet::from([0]))
}

const CPU_LIST: &str = "numbers of CPUs such as 0-3,8";

/// Reads `0-3,8`: at most 65,536 CPUs.
fn cpu_list(text: &str) -> Option<BTreeSet<u32>> {
    let mut cpus = BTreeSet::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if first > last || last > 0xffff {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus() {
        for (text, expect) in [
            ("0", Some(vec![0])),
            ("0-3", Some(vec![0, 1, 2, 3])),
            ("0,64", Some(vec![0, 64])),
            ("0-1,8-9,12", Some(vec![0, 1, 8, 9, 12])),
            ("", None),
            ("3-1", None),
            ("0-4294967295", None),
            ("a", None),
            ("0-", None),
            ("-1", None),
        ] {
            assert_eq!(cpu_list(text), expect.map(BTreeSet::from_iter), "{text:?}");
        }
    }
}
