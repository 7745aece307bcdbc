//! The traces that simulators are measured on, in memory.

use orrery::reference::{Kind, Reference};
use orrery::trace::lackey::Reader;
use orrery::trace::synth;
use std::path::Path;
use std::process::{Command, Stdio};

/// References of the generated traces.
const LENGTH: u64 = 4_000_000;

/// A trace and the words for how it came about.
pub(crate) struct Trace {
    /// Short name.
    pub(crate) name: &'static str,
    /// How it was made.
    pub(crate) made: String,
    /// Its references.
    pub(crate) references: Vec<Reference>,
}

/// All four. `folder` is for what has to be written on the way; without `record`, which takes ten seconds, nothing is.
pub(crate) fn all(folder: &Path, record: bool) -> Vec<Trace> {
    let recorded = if record { recorded_sort(folder) } else { Err("nothing was to be recorded".into()) };
    let qs = match recorded {
        Ok(references) => {
            Trace { name: "qs", made: "the C library's qsort of 20,000 ints, by lackey".into(), references }
        }
        Err(why) => Trace {
            name: "qs",
            made: format!("a merge sort of 20,000 ints that notes its own accesses ({why})"),
            references: noted_sort(),
        },
    };
    let made = |name, made: &str, references| Trace { name, made: made.into(), references };
    vec![
        qs,
        made("hot", "uniform over 16 KiB", synth::uniform(LENGTH, 16 << 10, 1).collect()),
        made(
            "mix",
            "40 % stream, 20 % uniform over 64 MiB, 40 % Zipf 0.9; 30 % stores",
            synth::mix(LENGTH, 1).collect(),
        ),
        made("matmul", "100 x 100 doubles in standard order", multiply()),
    ]
}

fn multiply() -> Vec<Reference> {
    synth::matmul(100, synth::MatmulOrder::Standard).references().to_vec()
}

/// Compiles `sort.c`, runs it under lackey, keeps the loads and stores.
fn recorded_sort(folder: &Path) -> Result<Vec<Reference>, String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/floor/sort.c");
    let (program, log) = (folder.join("sort"), folder.join("sort.lackey"));
    super::compile(&source, &program, &["-O2"])?;
    let status = Command::new("valgrind")
        .args(["--tool=lackey", "--trace-mem=yes", "--trace-children=no"])
        .arg(format!("--log-file={}", log.display()))
        .arg(&program)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match status {
        Err(_) => return Err("there is no valgrind".into()),
        Ok(status) if !status.success() => return Err(format!("valgrind ended with {status}")),
        Ok(_) => {}
    }
    let references = read_lackey(&log);
    // It is large, and nobody asks for it again.
    let _ = std::fs::remove_file(&log);
    references
}

fn read_lackey(log: &Path) -> Result<Vec<Reference>, String> {
    let file = std::fs::File::open(log).map_err(|e| format!("what lackey wrote cannot be read: {e}"))?;
    let mut reader = Reader::new("sort.lackey", file);
    let (mut all, mut chunk) = (Vec::new(), Vec::new());
    loop {
        reader.next_chunk(1 << 16, &mut chunk).map_err(|e| e.to_string())?;
        if chunk.is_empty() {
            return Ok(all);
        }
        all.extend(chunk.iter().filter(|r| r.kind != Kind::Fetch));
    }
}

/// A top-down merge sort through a second array, as the C library has it, with the loads and stores that compiled code
/// makes: elements, the comparison's arguments and return address, loop variables spilled to the stack.
struct Noted {
    values: Vec<u32>,
    spare: Vec<u32>,
    notes: Vec<Reference>,
}

const VALUES: u64 = 0x0522_d040;
const SPARE: u64 = 0x1_ffef_e000;
const STACK: u64 = 0x1_fff0_0000;

fn noted_sort() -> Vec<Reference> {
    const N: usize = 20_000;
    let mut seed = 1u32;
    let values = std::iter::repeat_with(|| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        seed >> 1
    });
    let mut sort = Noted { values: values.take(N).collect(), spare: vec![0; N], notes: Vec::new() };
    sort.sort(0, N, STACK);
    assert!(sort.values.is_sorted(), "the sort sorts");
    sort.notes
}

impl Noted {
    fn note(&mut self, kind: Kind, addr: u64, size: u32) {
        self.notes.push(Reference::new(kind, addr, size));
    }

    fn sort(&mut self, from: usize, to: usize, stack: u64) {
        // The frame: return address, then six saved registers.
        for word in 1..8 {
            self.note(Kind::Write, stack - 8 * word, 8);
        }
        if to - from > 1 {
            let middle = from.midpoint(to);
            self.sort(from, middle, stack - 112);
            self.sort(middle, to, stack - 112);
            self.merge(from, middle, to, stack - 112);
        }
        for word in (1..8).rev() {
            self.note(Kind::Read, stack - 8 * word, 8);
        }
    }

    fn merge(&mut self, from: usize, middle: usize, to: usize, stack: u64) {
        let (mut left, mut right, mut out) = (from, middle, 0);
        while left < middle && right < to {
            // The call of the comparison.
            self.note(Kind::Read, stack + 24, 8);
            self.note(Kind::Write, stack - 8, 8);
            self.note(Kind::Read, VALUES + 4 * left as u64, 4);
            self.note(Kind::Read, VALUES + 4 * right as u64, 4);
            self.note(Kind::Read, stack - 8, 8);
            let from_left = self.values[left] <= self.values[right];
            let source = if from_left { &mut left } else { &mut right };
            let at = *source;
            *source += 1;
            self.carry(at, out);
            out += 1;
        }
        for at in left..middle {
            self.carry(at, out);
            out += 1;
        }
        for n in 0..out {
            self.note(Kind::Read, SPARE + 4 * n as u64, 4);
            self.note(Kind::Write, VALUES + 4 * (from + n) as u64, 4);
            self.values[from + n] = self.spare[n];
        }
    }

    fn carry(&mut self, at: usize, out: usize) {
        self.note(Kind::Read, VALUES + 4 * at as u64, 4);
        self.note(Kind::Write, SPARE + 4 * out as u64, 4);
        self.spare[out] = self.values[at];
    }
}
