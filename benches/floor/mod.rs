//! The hand-written C loops of `floor.c`, compiled for this machine and run beside the simulator on the same records.

pub(crate) mod traces;

use orrery::reference::Reference;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// What a level, or memory, has counted, in the order in which `floor.c` prints it: for L1 and for L2 read, write and
/// fetch accesses, misses of each, evictions, write-backs; then memory's reads and writes.
pub(crate) type Counts = [u64; 18];

/// Compiles C.
///
/// # Errors
/// Where there is no gcc, and where it refuses.
pub(crate) fn compile(source: &Path, program: &Path, flags: &[&str]) -> Result<(), String> {
    let compiled = Command::new("gcc").args(flags).arg("-o").arg(program).arg(source).output();
    match compiled {
        Err(_) => Err("there is no gcc".into()),
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!("gcc refuses {}: {}", source.display(), String::from_utf8_lossy(&output.stderr))),
    }
}

/// Where compiled programs and traces go: beside this bench's own executable, in the target folder.
///
/// # Panics
/// When the folder cannot be made.
pub(crate) fn folder() -> PathBuf {
    let here = std::env::current_exe().expect("a bench knows where it is");
    let folder = here.parent().expect("in a folder").join("floor");
    std::fs::create_dir_all(&folder).expect("the target folder can be written to");
    folder
}

/// Writes references as the C programs read them.
///
/// # Panics
/// When the file cannot be written.
pub(crate) fn write(references: &[Reference], path: &Path) {
    let mut out = BufWriter::new(std::fs::File::create(path).expect("the target folder can be written to"));
    for r in references {
        let mut record = [0; 24];
        record[0..8].copy_from_slice(&r.addr.to_le_bytes());
        record[8..16].copy_from_slice(&r.pc.to_le_bytes());
        record[16..20].copy_from_slice(&r.size.to_le_bytes());
        record[20..22].copy_from_slice(&r.core.to_le_bytes());
        record[22] = r.lane;
        record[23] = r.kind as u8;
        out.write_all(&record).expect("room for the trace");
    }
    out.flush().expect("room for the trace");
}

/// The compiled floor.
pub(crate) struct Program(PathBuf);

impl Program {
    /// # Errors
    /// Why it cannot be compiled here.
    pub(crate) fn new(folder: &Path) -> Result<Self, String> {
        let program = folder.join("floor");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/floor/floor.c");
        compile(&source, &program, &["-O3", "-march=native", "-Wall", "-Wextra"])?;
        Ok(Self(program))
    }

    /// Starts it on a trace, which it then holds in memory; it times `part` references at a time.
    ///
    /// # Panics
    /// When the trace cannot be written or the program not be started.
    pub(crate) fn start(&self, references: &[Reference], part: usize) -> Floor {
        let trace = self.0.with_extension("trace");
        write(references, &trace);
        let mut child = Command::new(&self.0)
            .arg(&trace)
            .arg(part.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the floor was compiled for this machine");
        let ask = child.stdin.take();
        let answer = BufReader::new(child.stdout.take().expect("piped"));
        Floor { child, ask, answer, trace }
    }
}

/// The floor with a trace in its memory.
pub(crate) struct Floor {
    child: Child,
    ask: Option<ChildStdin>,
    answer: BufReader<ChildStdout>,
    trace: PathBuf,
}

impl Floor {
    /// Plays the trace once by each loop.
    ///
    /// # Panics
    /// When the floor fails (it says why on the terminal): its loops did not count alike.
    pub(crate) fn round(&mut self) {
        self.ask.as_mut().expect("open until the end").write_all(b"again\n").expect("the floor listens");
        assert_eq!(self.line(), "\n", "the floor failed");
    }

    /// The seconds of each loop, by name, and what they have counted: the same in each round.
    ///
    /// # Panics
    /// As [`Floor::round`].
    pub(crate) fn end(mut self) -> (Vec<(String, f64)>, Counts) {
        self.ask = None;
        let (times, counts) = (self.line(), self.line());
        assert!(self.child.wait().is_ok_and(|status| status.success()), "the floor failed");
        let _ = std::fs::remove_file(&self.trace);
        let words: Vec<&str> = times.split_whitespace().collect();
        let pairs = words.chunks_exact(2).map(|pair| (pair[0].to_owned(), pair[1].parse().expect("seconds")));
        let counts = counts.strip_prefix("counts ").unwrap_or_default().split_whitespace();
        let counts: Vec<u64> = counts.filter_map(|word| word.parse().ok()).collect();
        (pairs.collect(), counts.try_into().expect("18 counts"))
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.answer.read_line(&mut line).expect("the floor answers");
        line
    }
}
