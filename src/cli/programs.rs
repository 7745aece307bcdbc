//! Arguments of the commands that run programs and record them.

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
$ORRERY_OUT, or its own name with .orrery behind it, into the folder that it is run in.";

const RUN_EXAMPLES: &str = "\
Examples:
  orrery run mm.c                                    compile with -O1, run, open the window
  orrery run -O0 --stats mm.c 100                    numbers; 100 is the program's argument
  orrery run --flag -DN=64 --flag -fopenmp mm.c";

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
#[command(after_help = RUN_EXAMPLES)]
pub struct RunArgs {
    /// Print the numbers, open no window
    #[arg(long)]
    pub stats: bool,
    /// Write the trace, show nothing
    #[arg(long)]
    pub no_view: bool,
    /// Optimisation, as for the compiler: 0, 1, 2, 3, s, g
    #[arg(short = 'O', value_name = "LEVEL")]
    pub optimize: Option<String>,
    /// One more argument for the compiler; may be given again
    #[arg(long, value_name = "FLAG", allow_hyphen_values = true)]
    pub flag: Vec<String>,
    /// Native file to write; default: the source's name with .orrery, in this folder
    #[arg(short, long, value_name = "FILE.orrery")]
    pub output: Option<PathBuf>,
    /// Source file: C, C++, Fortran
    pub source: PathBuf,
    /// Arguments of the program
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<OsString>,
}

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
