//! Accel-Sim's traces of GPU kernels (`trace_parser.cc`, 2020 on): `kernelslist.g`, or one `kernel-N.traceg`.
//!
//! The list names, in order, copies from the host and the files of the kernels, which stand beside it, plain or compressed. A
//! kernel is text: a header of `-key = value`, then for each thread block its warps, for each warp its instructions:
//!
//! ```text
//! -kernel name = _Z9vectorAddPKfS0_Pfi
//! #BEGIN_TB
//! thread block = 0,0,0
//! warp = 0
//! insts = 17
//! 00a0 ffffffff 1 R4 LDG.E 1 R4 4 1 0x7fb0fc430e00 4 0
//! #END_TB
//! ```
//!
//! What becomes of it:
//!
//! - Instructions on global, local and generic memory give a reference for each active lane, in the order of lanes: loads are
//!   reads, stores are writes, atomics and reductions are modifies. How wide they are, the opcode says.
//! - Shared memory is a part of each multiprocessor and behind no cache: `LDS`, `STS` and their like are counted and told.
//! - A thread block runs on one multiprocessor. Blocks are dealt to 64 cores in turn, by their number in the
//!   grid, as the hardware deals them while all are free.
//! - A kernel is a mark. Its pcs start at 0 each time, so those of the list's *n*th kernel (from 0) have *n* above their lower
//!   32 bits.
//! - A copy from the host names the array that it filled.
//! - Warps come as the file has them, one after the other; how they took turns on the machine is not in it.

mod copies;
mod kernel;
mod launch;
mod opcode;

use super::super::error::{Fault, Place, TraceError, shorten};
use super::super::input::{self, Input};
use super::super::stamp::Stamp;
use super::binary::{Bytes, list};
use super::{Opened, Reader};
use crate::reference::{Mark, Reference, Tables};
use copies::Copies;
use kernel::{Counts, Kernel};
pub(super) use launch::Launches;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};

/// Cores that blocks are dealt to: a GPU has about as many multiprocessors (an A100 108, an RTX 3060 28), and no more cores
/// are simulated.
pub(super) const MULTIPROCESSORS: u64 = 64;

/// Ends of the name under which a listed kernel may stand beside its list.
const PACKED: [&str; 5] = ["", ".gz", ".xz", ".zst", ".bz2"];

/// Kernels named by marks: a list can have a hundred thousand.
const MARKS: usize = 4096;

/// Files beside the list that are looked after: each is looked at when the trace is opened again.
const STAMPS: usize = 1024;

/// What a list does.
enum Step {
    /// Fills so many bytes from an address on.
    Copy((u64, u64)),
    /// Runs the kernel of this file.
    Kernel(PathBuf),
}

struct AccelSim {
    /// What messages call the trace: the list, or the one kernel.
    name: String,
    /// What the list still has to come, with its line.
    files: VecDeque<(u64, Step)>,
    kernel: Option<Kernel>,
    opened: u64,
    missing: Vec<PathBuf>,
    /// The files that kernels were looked for in; `None`: too many.
    stamps: Option<Vec<Stamp>>,
    counts: Counts,
    copies: Copies,
    other_lines: u64,
    read: u64,
    cuts: Vec<String>,
    tables: Tables,
}

pub(super) fn open(input: Input) -> Result<Opened, TraceError> {
    Ok(Opened::Once(Box::new(AccelSim::of(input)?)))
}

/// A list of kernels, or a kernel's header.
pub(super) fn looks_like(head: &[u8]) -> bool {
    let kernel = head.split(|&b| b == b'\n').take(32).any(|line| line.starts_with(b"-kernel name ="));
    is_list(head) || (kernel && !head.contains(&0))
}
/// Whether the first line that says something names a copy or the file of a kernel.
fn is_list(head: &[u8]) -> bool {
    let mut lines = head.split(|&b| b == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with(b"#"));
    first.is_some_and(|line| matches!(listed(line), Listed::Copy(_) | Listed::Kernel(_)))
}

/// What a line of the list is.
enum Listed<'a> {
    Copy((u64, u64)),
    Kernel(&'a str),
    Nothing,
    Other,
}

fn listed(line: &[u8]) -> Listed<'_> {
    let text = std::str::from_utf8(line);
    match text {
        _ if line.is_empty() || line.starts_with(b"#") => Listed::Nothing,
        Ok(text) if text.starts_with("Memcpy") => copies::read(text).map_or(Listed::Other, Listed::Copy),
        Ok(name) if name.contains(".traceg") && !name.contains(char::is_whitespace) && !name.contains(',') => {
            Listed::Kernel(name)
        }
        _ => Listed::Other,
    }
}

impl AccelSim {
    fn of(input: Input) -> Result<Self, TraceError> {
        let listed = is_list(input.bytes.head());
        let (name, folder) = (input.name.clone(), input.path.as_deref().and_then(Path::parent).map(Path::to_owned));
        let mut bytes = Bytes::new(input.name, Box::new(input.bytes));
        let tables = Tables { made_by: "Accel-Sim".into(), ..Tables::default() };
        let mut reader = AccelSim {
            name,
            files: VecDeque::new(),
            kernel: None,
            opened: 0,
            missing: Vec::new(),
            stamps: Some(Vec::new()),
            counts: Counts::default(),
            copies: Copies::default(),
            other_lines: 0,
            read: 0,
            cuts: Vec::new(),
            tables,
        };
        if listed {
            reader.read_list(&mut bytes, folder.as_deref())?;
        } else {
            reader.kernel = Some(Kernel::new(bytes, 0));
        }
        Ok(reader)
    }

    fn read_list(&mut self, bytes: &mut Bytes, folder: Option<&Path>) -> Result<(), TraceError> {
        let Some(folder) = folder else {
            return Err(TraceError::UnknownFormat(Fault::new(
                Place::file(&self.name),
                "a list of kernels from a pipe",
                "a file, for the kernels stand beside it",
                "give the path of kernelslist.g, or pipe in one .traceg",
            )));
        };
        let mut number = 0;
        while let Some(line) = bytes.line()? {
            number += 1;
            match listed(line.trim_ascii()) {
                Listed::Copy(copy) => self.files.push_back((number, Step::Copy(copy))),
                Listed::Kernel(name) => self.files.push_back((number, Step::Kernel(folder.join(name)))),
                Listed::Nothing => {}
                Listed::Other => self.other_lines += 1,
            }
        }
        // Nothing refers to what is copied after the last kernel.
        while self.files.back().is_some_and(|(_, step)| matches!(step, Step::Copy(_))) {
            self.files.pop_back();
        }
        if self.files.is_empty() {
            return Err(TraceError::Empty(Fault::new(
                Place::file(&self.name),
                "a list without kernels",
                "lines such as kernel-1.traceg",
                "trace again, and run Accel-Sim's post-processing on what it writes",
            )));
        }
        Ok(())
    }

    /// Opens the next kernel of the list that is there; `false` at the end of the list. `read` references came before.
    fn next_kernel(&mut self, read: u64) -> Result<bool, TraceError> {
        while let Some((line, step)) = self.files.pop_front() {
            let path = match step {
                Step::Copy(copy) => {
                    self.copies.copied(copy, read);
                    continue;
                }
                Step::Kernel(path) => path,
            };
            let there = PACKED
                .iter()
                .map(|end| with_end(&path, end))
                .inspect(|path| self.stamp(path))
                .find(|path| path.is_file());
            let Some(there) = there else {
                self.missing.push(path);
                if self.opened == 0 && self.files.is_empty() {
                    return Err(self.none_there(line));
                }
                continue;
            };
            let input = input::open(&there)?;
            self.kernel = Some(Kernel::new(Bytes::new(input.name, Box::new(input.bytes)), self.opened));
            self.opened += 1;
            return Ok(true);
        }
        Ok(false)
    }

    /// Takes note of how a file is before it is read.
    fn stamp(&mut self, path: &Path) {
        let Some(mut stamps) = self.stamps.take().filter(|stamps| stamps.len() < STAMPS) else { return };
        if let Some(stamp) = Stamp::of(path) {
            stamps.push(stamp);
            self.stamps = Some(stamps);
        }
    }

    fn none_there(&self, line: u64) -> TraceError {
        let missing = self.missing.last().map_or(String::new(), |path| path.display().to_string());
        TraceError::Damaged(Fault::new(
            Place::line(&self.name, line),
            format!("no file {missing}, nor any other of the {} kernels", self.missing.len()),
            "the kernels beside the list, plain or as .gz, .xz, .zst or .bz2",
            "copy them there",
        ))
    }

    /// What is said of kernels that are not there.
    fn missing_words(&self) -> Vec<String> {
        let words = |first: &PathBuf| {
            let count = self.missing.len();
            let name = shorten(&first.display().to_string());
            format!("{count} of the kernels in the list are not there, {name} for one")
        };
        self.missing.first().map(words).into_iter().collect()
    }

    fn leave(&mut self, kernel: &Kernel) {
        if let Some(cut) = kernel.cut()
            && self.cuts.len() < MARKS
        {
            self.cuts.push(cut);
        }
    }
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

impl Reader for AccelSim {
    fn next_chunk(&mut self, limit: usize, out: &mut Vec<Reference>) -> Result<(), TraceError> {
        out.clear();
        while out.len() < limit {
            let before = out.len();
            let read = self.read + before as u64;
            let Some(kernel) = &mut self.kernel else {
                if self.next_kernel(read)? {
                    continue;
                }
                break;
            };
            let more = kernel.decode(limit, out, &mut self.counts)?;
            self.copies.note(out.get(before..).unwrap_or_default(), read);
            if let Some(title) = kernel.take_title() {
                let marks = &mut self.tables.marks;
                if marks.len() < MARKS {
                    marks.push(Mark { reference: self.read + kernel.first as u64, name: title });
                }
            }
            if !more && let Some(kernel) = self.kernel.take() {
                self.leave(&kernel);
            }
        }
        self.read += out.len() as u64;
        if self.read == 0 {
            let passed = list(&self.counts.passed()).map_or(String::new(), |passed| format!(", only {passed}"));
            let cut = self.cuts.first().map_or(String::new(), |cut| format!(": {cut}"));
            return Err(TraceError::Empty(Fault::new(
                Place::file(&self.name),
                format!("no references to global memory{passed}{cut}"),
                "instructions such as `00a0 ffffffff 1 R4 LDG.E 1 R4 4 1 0x7fb0fc430e00 4`",
                "trace again, and run Accel-Sim's post-processing on what it writes",
            )));
        }
        Ok(())
    }

    fn notices(&self) -> Vec<String> {
        let mut notices = Vec::new();
        let mut passed = self.counts.passed();
        passed.extend([(self.copies.unnamed, "host copy"), (self.other_lines, "unknown line")]);
        notices.extend(list(&passed).map(|passed| format!("passed over {passed}")));
        notices.extend(self.counts.remarks());
        notices.extend(self.missing_words());
        notices.extend(self.cuts.iter().take(4).cloned());
        if self.cuts.len() > 4 {
            notices.push(format!("{} more kernels are cut short", self.cuts.len() - 4));
        }
        notices.into_iter().map(|notice| format!("{}: {notice}", self.name)).collect()
    }

    fn beside(&self) -> Option<&[Stamp]> {
        self.stamps.as_deref()
    }

    fn names_come_late(&self) -> bool {
        true
    }

    fn tables(&self) -> Tables {
        Tables { regions: self.copies.regions(self.read), ..self.tables.clone() }
    }
}
