//! Arguments of the commands that run programs and record them.

use super::CacheArgs;
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

const CAPTURE_EXAMPLES: &str = "\
Examples:
  gcc -g -O1 -o prog prog.c && orrery capture -- ./prog 100     main and what it calls, into prog.orrery
  orrery capture --function multiply -- ./prog 100              what runs within multiply
  orrery capture --whole -o all.orrery -- ./prog                the loader and the library's start too
  orrery capture --data-only -- ./prog && orrery prog.orrery    without instruction fetches; then the window
  orrery capture --follow --data-only -- ./prog                 the window at once, at the newest reference

Needs Valgrind (or, with --with drmemtrace, DynamoRIO's drrun in PATH or in $DYNAMORIO_HOME/bin64). The program runs about 100 times slower, with its own standard streams and exit code. Threads take turns and
count as one core; forked children are not recorded; heap blocks have no names (build with orrery cc for those).
Ctrl-C ends the program and keeps what was recorded.";

const CC_EXAMPLES: &str = "\
Examples:
  orrery cc -O2 mm.c -o mm && ./mm && orrery mm.orrery
  make CC='orrery cc' CXX='orrery c++'

The compiler is $ORRERY_CC, $CC or gcc ($ORRERY_CXX, $CXX or g++; $ORRERY_FC, $FC or gfortran). The program writes
$ORRERY_OUT, or its own name with .orrery behind it, into the folder that it is run in. What it has recorded and is not packed
yet takes $ORRERY_LIMIT of the disk at most, or 1G; there the program waits.";

const RUN_USAGE: &str = "orrery run [OPTIONS] [COMPILER'S FLAGS] SOURCE [--] [PROGRAM'S ARGUMENTS]";

const RUN_EXAMPLES: &str = "\
Examples:
  orrery run mm.c                                    compile with -O1, run, open the window
  orrery run -O0 --stats mm.c 100                    numbers; 100 is the program's argument
  orrery run --cache zen4 -DN=64 -fopenmp mm.c       other caches; flags of the compiler
  orrery run --stats mm.c -- --cache 5               --cache 5 is the program's

Words before the file are flags of orrery (as above) or, with one dash, of the compiler
(-DN=64 -I include -lm -O3 -march=native); -- ends them. All words after the file are the
program's own. Where one of them is a flag of orrery too, that is said, unless -- stands
after the file.

With --stats or --no-view the exit code is that of the program, or 128 + N if signal N ended it.";

/// `capture`
#[derive(Debug, Clone, Args)]
#[command(after_help = CAPTURE_EXAMPLES)]
pub struct CaptureArgs {
    /// Native file to write; default: the program's name with .orrery, in this folder
    #[arg(short, long, value_name = "FILE.orrery")]
    pub output: Option<PathBuf>,
    /// Drop instruction fetches
    #[arg(long)]
    pub data_only: bool,
    /// Keep what runs while this function does; without it: main, which leaves out the loader and the library's start
    #[arg(long, value_name = "NAME", conflicts_with = "whole")]
    pub function: Option<String>,
    /// Keep everything from the first instruction on
    #[arg(long)]
    pub whole: bool,
    /// Stop after so many references kept; the program is ended
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: Option<u64>,
    /// Recorder: Valgrind's lackey, or DynamoRIO's drmemtrace (faster, threads side by side; everything, as with --whole)
    #[arg(long, value_enum, default_value_t, value_name = "RECORDER")]
    pub with: Recorder,
    /// Show the trace in the window while it grows; closing the window ends the program
    #[arg(long)]
    pub follow: bool,
    /// With --follow: the caches, as for `view`
    #[arg(long, value_name = "PRESET|FILE", requires = "follow")]
    pub cache: Option<String>,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    pub command: Vec<OsString>,
}

/// What records a program that is not rebuilt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Recorder {
    /// valgrind --tool=lackey
    #[default]
    Lackey,
    /// drrun -t drmemtrace
    Drmemtrace,
}

/// `cc`, `c++`, `fortran`
#[derive(Debug, Args)]
#[command(after_help = CC_EXAMPLES, disable_help_flag = true)]
pub struct CcArgs {
    /// Arguments of the compiler, as it takes them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<OsString>,
}

/// `run`
#[derive(Debug, Args)]
#[command(after_help = RUN_EXAMPLES, override_usage = RUN_USAGE)]
pub struct RunArgs {
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub cache: CacheArgs,
    /// Print the numbers, open no window
    #[arg(long)]
    pub stats: bool,
    /// Write the trace, show nothing
    #[arg(long)]
    pub no_view: bool,
    /// Optimisation, as for the compiler: 0, 1, 2, 3, s, g
    #[arg(short = 'O', value_name = "LEVEL")]
    pub optimize: Option<String>,
    /// One more argument for the compiler, whatever it is; may be given again
    #[arg(long, value_name = "FLAG", allow_hyphen_values = true)]
    pub flag: Vec<OsString>,
    /// Native file to write; default: the source's name with .orrery, in this folder
    #[arg(short, long, value_name = "FILE.orrery")]
    pub output: Option<PathBuf>,
    /// Space on the disk for references that are not yet in the native file: 512M, 20G; 8M at least; default: 1G. When it is full
    /// the program waits
    #[arg(long, value_name = "SIZE", value_parser = limit)]
    pub limit: Option<String>,
    /// Source file: C, C++, Fortran
    pub source: PathBuf,
    /// Arguments of the program; -- before them is none of them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<OsString>,
}

impl RunArgs {
    /// What the program is given.
    #[must_use]
    pub fn given(&self) -> &[OsString] {
        match self.arguments.split_first() {
            Some((first, rest)) if first == "--" => rest,
            _ => &self.arguments,
        }
    }
}

/// Words that the program is given but that are flags of `orrery run`, where nothing says that they are meant so.
#[must_use]
pub fn misplaced(args: &RunArgs) -> Vec<String> {
    if args.arguments.first().is_some_and(|first| first == "--") {
        return Vec::new();
    }
    let ours = flags();
    let name = |word: &OsString| {
        let name = word.to_str()?.strip_prefix("--")?;
        let name = name.split_once('=').map_or(name, |(name, _)| name);
        ours.iter().any(|(long, _)| long == name).then(|| format!("--{name}"))
    };
    args.arguments.iter().filter_map(name).collect()
}

/// The long flags of `orrery run`, and whether each has a value.
fn flags() -> Vec<(String, bool)> {
    let grammar = RunArgs::augment_args(clap::Command::new("run"));
    let flags = grammar.get_arguments().filter_map(|a| Some((a.get_long()?.to_owned(), a.get_action().takes_values())));
    flags.collect()
}

/// Flags of compilers whose value is the next word, where it does not follow at once.
const PAIRS: [&str; 20] = [
    "-I",
    "-L",
    "-D",
    "-U",
    "-l",
    "-x",
    "-T",
    "-u",
    "-z",
    "-A",
    "-J",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-Xlinker",
    "-Xpreprocessor",
    "-Xassembler",
    "--param",
];

/// What follows `orrery run` as clap reads it: flags of compilers as values of `--flag`, then `--`, the source, and what the
/// program is given. A `--` of the user's is kept in front of that.
pub(super) fn canonical_run(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let ours = flags();
    let mut words = words.peekable();
    let mut out: Vec<OsString> = Vec::new();
    let flag = |word: &OsString| {
        let mut flag = OsString::from("--flag=");
        flag.push(word);
        flag
    };
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        let source = |out: &mut Vec<OsString>, word, ended: bool| {
            out.extend(["--".into(), word]);
            out.extend(ended.then(|| "--".into()));
        };
        if text == "--" {
            // All after the source is meant for the program.
            if let Some(word) = words.next() {
                source(&mut out, word, true);
            }
            break;
        } else if !text.starts_with('-') || text == "-" {
            source(&mut out, word, false);
            break;
        } else if PAIRS.contains(&&*text) {
            out.push(flag(&word));
            out.extend(words.next().as_ref().map(flag));
        } else if let Some(long) = text.strip_prefix("--") {
            let has_value = ours.iter().any(|(name, has_value)| name == long && *has_value);
            out.push(word);
            // A flag whose value begins with a dash must be told from one that lacks it.
            if has_value && let Some(value) = words.next() {
                let mut joined = out.pop().unwrap_or_default();
                joined.push("=");
                joined.push(value);
                out.push(joined);
            }
        } else if text == "-O" {
            // As compilers read it: 1, unless a level follows.
            let level = words.next_if(|next| LEVELS.iter().any(|level| next == level));
            let mut joined = OsString::from("-O");
            joined.push(level.unwrap_or_else(|| "1".into()));
            out.push(joined);
        } else if text == "-o" {
            out.push(word);
            out.extend(words.next());
        } else if text.starts_with("-O") || text.starts_with("-o") || text == "-h" {
            out.push(word);
        } else {
            out.push(flag(&word));
        }
    }
    out.extend(words);
    out
}

/// What may follow `-O` as a word of its own.
const LEVELS: [&str; 8] = ["0", "1", "2", "3", "s", "g", "z", "fast"];

/// `assemble`
#[derive(Debug, Args)]
pub struct AssembleArgs {
    /// Arguments of the assembler
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<OsString>,
}

/// `collect`
#[derive(Debug, Args)]
pub struct CollectArgs {
    /// Spool of the running program
    pub part: PathBuf,
    /// Native file to write
    #[arg(short, long)]
    pub output: PathBuf,
}

/// A size that recorded programs understand, in their words.
fn limit(words: &str) -> Result<String, String> {
    let digits = words.find(|c: char| !c.is_ascii_digit()).unwrap_or(words.len());
    let (number, unit) = words.split_at(digits);
    let unit = unit.to_ascii_lowercase();
    let unit = unit.strip_suffix('b').unwrap_or(&unit);
    let shift = match unit.strip_suffix('i').unwrap_or(unit) {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return Err("expected a size such as 512M or 20G".into()),
    };
    match number.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift)) {
        Some(bytes) if (8 << 20..1 << 50).contains(&bytes) => Ok(words.to_owned()),
        _ => Err("expected a size from 8M on, such as 512M or 20G".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::limit;

    #[test]
    fn limits_are_sizes_from_8_mib_on() {
        for words in ["8M", "512M", "20G", "8388608", "1TiB", "9000k", "16mb"] {
            assert_eq!(limit(words).as_deref(), Ok(words));
        }
        for words in ["", "abc", "0", "1M", "8388607", "9999999G", "1.5G", "-5", "8MM", "99999999999999999999"] {
            assert!(limit(words).is_err(), "{words}");
        }
    }
}
