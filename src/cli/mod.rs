//! The command line as plain values. No work is done here.

mod advise;
mod against;
mod analyze;
mod chart;
mod compare;
mod compose;
mod gpu;
mod kernel;
mod launch;
mod lists;
mod loops;
mod programs;
mod record;
mod refine;
mod regions;
mod sheet;
mod solids;
mod stats;
mod story;
mod sweep;
mod task_look;
mod view;
mod why;

pub use advise::AdviseArgs;
pub use against::AgainstArgs;
pub use analyze::{AnalyzeArgs, AnalyzeParts};
pub use chart::{ChartArgs, ReportArgs};
pub use compare::CompareArgs;
pub use compose::Compose;
pub use gpu::GpuArgs;
pub use kernel::{KernelArgs, KernelEngine};
pub use launch::LaunchArgs;
pub use lists::{FormatsArgs, TasksArgs};
pub use loops::LoopsArgs;
pub use programs::{AssembleArgs, CaptureArgs, CcArgs, CollectArgs, Recorder, RunArgs, misplaced};
pub use record::{FinishArgs, RecordArgs, SECONDS};
pub use refine::RefineArgs;
pub use regions::RegionArgs;
pub use sheet::SheetArgs;
pub use solids::SolidArgs;
pub use stats::{ROWS, StatsArgs};
pub use story::{ProposeArgs, StoryArgs};
pub use sweep::SweepArgs;
pub use task_look::TaskLookArgs;
use view::text_scale;
pub use view::{LayoutName, ViewArgs};
pub use why::{AnnotateArgs, WhyArgs};

use crate::reference::Kind;
use crate::scene::palette::Theme;
use crate::sim::config::parse_size;
use crate::timeline::{ClockKind, StripKind};
use crate::trace::Format;
use crate::trace::bundled::{LOOPS_SCHEME, SCHEME, STORY_SCHEME};
use crate::trace::write::WriteFormat;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// See a program's memory move: a reference trace, played through a simulated cache hierarchy.
#[derive(Debug, Parser)]
#[command(name = "orrery", version, after_help = EXAMPLES, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  orrery                                          the start page: traces opened before, bundled ones
  orrery demo                                     numbers, a clip and the window for a bundled trace
  orrery lesson:matmul16                          open a bundled trace in the window; a file in the same way
  orrery story:why-columns-miss                   play a bundled lesson in the window
  orrery stats t.orrery --cache paper             hits and misses, by level and by array
  orrery stats t.orrery --l1 32KiB,8,64 --json    another cache, as data
  orrery snapshot t.orrery --tick 2613 -o f.png   one moment as a picture; .svg and .pdf too
  orrery record t.orrery -o f.mp4 -1280x720       the whole run as a video
  orrery run mm.c                                 a program of your own: compiled, recorded, shown
  valgrind --tool=lackey --trace-mem=yes ./prog 2>&1 | orrery stats -";

const SNAPSHOT_EXAMPLES: &str = "\
Examples:
  orrery snapshot t.orrery --tick 2613 -o f.png      the start of reference 2,613
  orrery snapshot t.orrery --tick 2613.5 --tail 200 -o f.png -1920x1080
  orrery snapshot t.orrery --tick 2613 --theme print -o f.pdf           outlines and text, for papers; f.svg too
  orrery snapshot t.orrery --show 'A,heap*' --dim -o f.png    two arrays in front of the others
  orrery snapshot t.orrery --every 1000 -o sheet.png --numbers sheet.csv    a sheet of moments
  orrery snapshot t.orrery --tick 2613 --tails 1,16,64,256 -o tails.png     one moment, four trails
  orrery snapshot t.orrery --hide legend,strip -o - > f.png";

const CONVERT_EXAMPLES: &str = "\
Examples:
  valgrind --tool=lackey --trace-mem=yes --log-file=prog.log ./prog && orrery convert prog.log -o prog.orrery
  orrery convert prog.log -o prog.orrery --tables names.json --only-regions";

const CACHES_EXAMPLES: &str = "\
Examples:
  orrery caches                                      what there is
  orrery caches textbook > mine.toml                 a start for your own: --cache mine.toml
  orrery caches host                                 this machine's, as Linux describes them";

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Print hits, misses and traffic, by level and by array
    Stats(StatsArgs),
    /// Tell what references alone say of locality: misses of every cache size, working sets, how sets and lines are used
    Analyze(AnalyzeArgs),
    /// Tell what loop nests and dataflow graphs touch before they run: accesses, lines and misses of each container
    Loops(LoopsArgs),
    /// Explain one reference: why it missed, what had to leave, when its line is used next
    Why(WhyArgs),
    /// Print the source with references and misses beside each line
    Annotate(AnnotateArgs),
    /// Play traces through a grid of caches: sizes, ways, policies
    Sweep(SweepArgs),
    /// Tell what would help against misses, each advice with what it would bring, simulated
    Advise(AdviseArgs),
    /// Draw what was found as a chart: misses by cache size, stack distances, classes over time, sets, addresses
    Chart(ChartArgs),
    /// Write all that is known about a trace as one page: numbers, charts, offenders, advice
    Report(ReportArgs),
    /// Compare two traces, or one under two caches, counter by counter
    Compare(CompareArgs),
    /// Draw one moment of a trace, or of a file of tasks, as a PNG
    Snapshot(SnapshotArgs),
    /// Record a trace, a storyboard or a file of tasks as a video, an animation or numbered pictures
    Record(RecordArgs),
    /// Propose a storyboard for a trace: what happens in it, in about a minute, as a file to be edited
    Story(ProposeArgs),
    /// Open a trace, or a file of tasks, in the window (`orrery FILE` does the same)
    View(ViewArgs),
    /// Open the window on its start page (`orrery` alone does the same)
    #[command(hide = true)]
    Start,
    /// List the caches that can be named with --cache, or print one as TOML
    Caches(CachesArgs),
    /// List the trace formats that can be read, with one record of each
    Formats(FormatsArgs),
    /// Numbers of tasks: what the components of a simulated machine did, and when (files of Daisen)
    Tasks(TasksArgs),
    /// Run a kernel on a simulated GPU: its numbers, and all that happened as tasks
    Gpu(GpuArgs),
    /// Run a compute shader in WGSL: how its warps diverge, bank conflicts, coalescing, races
    Kernel(KernelArgs),
    /// Write a trace in another format, all of it or a part, naming regions on the way
    Convert(ConvertArgs),
    /// Run a program under Valgrind and write its references as a native .orrery file
    Capture(CaptureArgs),
    /// Numbers, a clip and the window for a bundled trace
    Demo(DemoArgs),
    /// Compile C so that the program records itself: gcc or clang, with all their arguments
    Cc(CcArgs),
    /// Compile C++ so that the program records itself
    #[command(name = "c++")]
    Cpp(CcArgs),
    /// Compile Fortran so that the program records itself
    Fortran(CcArgs),
    /// Compile a source file, run it, and show what it did
    Run(RunArgs),
    /// The assembler of `orrery cc`
    #[command(hide = true)]
    Assemble(AssembleArgs),
    /// Started by a program that records itself
    #[command(hide = true)]
    Collect(CollectArgs),
}

/// Which trace.
#[derive(Debug, Clone, Args)]
pub struct TraceArgs {
    /// Trace file, gzip, xz, zstd and bzip2 seen through; `-` reads standard input; `lesson:matmul16` is a bundled trace
    pub trace: PathBuf,
    /// Format of the trace, where its content does not tell (see `orrery formats`)
    #[arg(long, value_parser = formats())]
    pub format: Option<Format>,
}

fn formats() -> impl TypedValueParser<Value = Format> {
    let names = Format::ALL.iter().map(|format| PossibleValue::new(format.name()).help(format.about()));
    // The parser above knows the names.
    PossibleValuesParser::new(names).map(|name| Format::named(&name).unwrap_or(Format::NATIVE))
}

/// The names of all themes.
fn themes() -> impl TypedValueParser<Value = Theme> {
    let named = |name: String| Theme::ALL.into_iter().find(|theme| theme.1 == name).unwrap_or_default().0;
    PossibleValuesParser::new(Theme::ALL.map(|(_, name)| name)).map(named)
}

/// The names of all clocks.
fn clocks() -> impl TypedValueParser<Value = ClockKind> {
    let named = |name: String| ClockKind::ALL.into_iter().find(|kind| kind.name() == name).unwrap_or_default();
    PossibleValuesParser::new(ClockKind::ALL.map(ClockKind::name)).map(named)
}

fn write_formats() -> impl TypedValueParser<Value = WriteFormat> {
    let named = |name: &str| WriteFormat::ALL.into_iter().find(|format| format.name() == name);
    let names = WriteFormat::ALL.map(|format| {
        let value = PossibleValue::new(format.name());
        if format == WriteFormat::Native { value.alias("parquet") } else { value }
    });
    PossibleValuesParser::new(names).map(move |name| named(&name).unwrap_or(WriteFormat::Native))
}

fn core_number(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| format!("expected core numbers of 0 to {}, as in 0,3", u16::MAX))
}

/// Names for `--kind`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum KindName {
    /// Loads
    Read,
    /// Stores
    Write,
    /// Loads and stores of one instruction
    Modify,
    /// Instruction fetches
    Fetch,
}

impl From<KindName> for Kind {
    fn from(name: KindName) -> Self {
        match name {
            KindName::Read => Self::Read,
            KindName::Write => Self::Write,
            KindName::Modify => Self::Modify,
            KindName::Fetch => Self::Fetch,
        }
    }
}

/// Which cache hierarchy.
#[derive(Debug, Clone, Default, Args, serde::Serialize, serde::Deserialize)]
pub struct CacheArgs {
    /// Preset name (see `orrery caches`), `host` for this machine's caches, or TOML file; the default is `paper` where the references touch 64 KiB or less, else `textbook`
    #[arg(long, value_name = "PRESET|FILE")]
    pub cache: Option<String>,
    /// Innermost level as SIZE,WAYS,LINE[,POLICY]: 32KiB,8,64 or 512,full,32,fifo
    #[allow(rustdoc::broken_intra_doc_links, reason = "words of the help, where brackets are brackets")]
    #[arg(long, value_name = "SIZE,WAYS,LINE[,POLICY]")]
    pub l1: Option<String>,
    /// Second level; needs --l1 or --cache
    #[arg(long, value_name = "SIZE,WAYS,LINE[,POLICY]")]
    pub l2: Option<String>,
    /// Third level
    #[arg(long, value_name = "SIZE,WAYS,LINE[,POLICY]")]
    pub l3: Option<String>,
    /// Drop instruction fetches
    #[arg(long)]
    pub data_only: bool,
    /// Cores, 1 to 512, each with its own caches of every level that is not shared
    #[arg(long, value_name = "N")]
    pub cores: Option<u16>,
    /// Seed of the policies that draw lots: random, brrip, drrip
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// What hits earn and misses cost in temperatures, by level from the CPU outward, as in 1:line,1:1; `line` = what hits on the
    /// rest of a line would earn
    #[arg(long, value_name = "HIT:MISS,...")]
    pub scores: Option<String>,
}

/// `--window` where it is not given.
pub const WINDOW: u64 = 256;

/// How a picture looks.
#[derive(Debug, Clone, Args)]
pub struct PictureArgs {
    /// Picture size in pixels, 1280x720 where nothing else is said; -1920x1080 says the same as --size 1920x1080
    #[arg(long, visible_alias = "viewport", value_name = "WxH")]
    pub size: Option<String>,
    /// Type and tables so many times as large, 0.75 to 3; the picture stays as large as it is
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = text_scale)]
    pub text_scale: f32,
    /// References whose paths stay visible, 1 = no trail; default 64, or what a frame skips if that is more
    #[arg(long, value_name = "REFERENCES")]
    pub tail: Option<u64>,
    /// Look closer: the point of the picture to look at (0,0 is the CPU, memory's rim is at distance 1, y points down) and how
    /// many times as close, 1 to 1000. Of tables, tiles and graphs: how far they are scrolled to the right and down, in heights of
    /// their type. Of solids: degrees that the camera went round and up, 0 to 360, or corner, front, side, above or below
    #[arg(long, value_name = "X,Y,ZOOM", allow_hyphen_values = true)]
    pub camera: Option<String>,
    /// Mark an element, such as 'A[3][4]', wherever it is, and show where it lived; or 'A + 16' (bytes from the start of A), or an
    /// address such as 0x10000fe0
    #[allow(rustdoc::broken_intra_doc_links, reason = "words of the help, where brackets are brackets")]
    #[arg(long, value_name = "ELEMENT")]
    pub pin: Option<String>,
    /// Memory for the index of a long trace, 16MiB or more; what does not fit goes to a file in the cache folder
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = memory)]
    pub memory: u64,
    /// Title, in place of the trace's own
    #[arg(long)]
    pub title: Option<String>,
    /// Parts to leave out
    #[arg(long, value_delimiter = ',', value_enum)]
    pub hide: Vec<Part>,
    /// Draw these regions only, by name, * and ? standing for any characters and for one; counts stay those of all
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub show: Vec<String>,
    /// Dim what --show leaves out rather than hide it; or, as --dim=C,D, dim these
    #[arg(long, value_name = "C,D", value_delimiter = ',', num_args = 0.., require_equals = true)]
    pub dim: Option<Vec<String>>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub regions: RegionArgs,
    /// What is drawn: dots for each line, sums that show what a whole program does, or tables
    #[arg(long, value_enum, default_value_t = Compose::Auto)]
    pub view: Compose,
    /// Sort the rows of a table by the heading of a column, the largest first, or with :back the other way round: misses, or miss-rate:back.
    /// In a window with several tables one for each, from left to right and from above, by commas; an empty one leaves the order that is usual
    #[arg(long, value_name = "COLUMN[:back]", value_delimiter = ',')]
    pub sort: Vec<String>,
    /// Nothing flies: what moves fades where it was and appears where it goes, and signs come and go slowly
    #[arg(long)]
    pub reduced_motion: bool,
    /// References over which a ring's temperature is the mean
    #[arg(long, value_name = "REFERENCES", default_value_t = WINDOW)]
    pub window: u64,
    /// What the strip tells: served (misses of the innermost level, by who served them), level1 to level8 (misses of that level from
    /// the CPU), classes (of misses) or temperature (of each level)
    #[arg(long, value_name = "WHAT", default_value_t = StripKind::Served)]
    pub strip: StripKind,
    /// How pictures are coloured: dark, light (for bright rooms) or print (on white)
    #[arg(long, value_name = "THEME", default_value = "dark", value_parser = themes())]
    pub theme: Theme,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub compared: AgainstArgs,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub tasks: TaskLookArgs,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub solids: SolidArgs,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub launch: LaunchArgs,
}

/// Least memory of an index: a few keyframes of the largest caches.
const LEAST_MEMORY: u64 = 16 << 20;

/// `--memory`.
fn memory(text: &str) -> Result<u64, String> {
    let bytes = parse_size(text).ok_or("expected a size such as 64MiB or 1GiB")?;
    if bytes < LEAST_MEMORY {
        return Err("expected 16MiB or more: with less no keyframe of a large cache fits".into());
    }
    Ok(bytes)
}

/// Parts of the picture that `--hide` takes away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// Title and subtitle
    Title,
    /// Table of regions
    Regions,
    /// Table of caches
    Caches,
    /// Reference at the playhead and what happened
    Reference,
    /// Legend
    Legend,
    /// Miss strip along the bottom
    Strip,
    /// Labels on the rings
    Labels,
    /// Trails
    Trails,
    /// Ghosts: fainter copies in outer levels and at home
    Ghosts,
    /// Disks of temperature behind the rings
    Temperature,
}

/// `snapshot`
#[derive(Debug, Args)]
#[command(after_help = SNAPSHOT_EXAMPLES)]
pub struct SnapshotArgs {
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub trace: TraceArgs,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub cache: CacheArgs,
    /// Moment to draw: 2613 is the start of reference 2,613, 2613.5 its middle; default: the middle of the trace
    #[arg(long, value_name = "N[.F]", allow_negative_numbers = true)]
    pub tick: Option<f64>,
    /// Speed that the fading of flashes assumes, in references a second
    #[arg(short, long, value_name = "REFS/S", allow_negative_numbers = true)]
    pub speed: Option<f64>,
    /// File to write: .png, or .svg and .pdf, which have outlines and text in place of pixels; `-` is a PNG on standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    #[command(flatten, next_help_heading = "Sheets and finer stills")]
    #[expect(missing_docs, reason = "flattened group")]
    pub sheet: SheetArgs,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub picture: PictureArgs,
}

/// `caches`
#[derive(Debug, Args)]
#[command(after_help = CACHES_EXAMPLES)]
pub struct CachesArgs {
    /// Print this preset, or `host`, as TOML, ready to be changed and given to --cache
    pub name: Option<String>,

    /// List the replacement policies: which line leaves, what is kept for it, who described it
    #[arg(long, conflicts_with = "name")]
    pub policies: bool,
}

/// `convert`
#[derive(Debug, Args)]
#[command(after_help = CONVERT_EXAMPLES)]
pub struct ConvertArgs {
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub trace: TraceArgs,
    /// File to write; - writes to standard output. Its name's end says the format: .orrery (also .parquet), .lackey, .din,
    /// .csv, the last three also with .gz, .zst, .xz or .bz2
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Format to write, where the name of the file does not tell
    #[arg(long, value_name = "FORMAT", value_parser = write_formats())]
    pub to: Option<WriteFormat>,
    /// JSON file with title, regions, locations and marks to store in the trace
    #[arg(long, value_name = "FILE.json")]
    pub tables: Option<PathBuf>,
    /// Keep only references that touch a region of the tables
    #[arg(long)]
    pub only_regions: bool,
    /// Keep only references that touch these regions, by name, while they live
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Keep only what these functions do themselves
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub function: Vec<String>,
    /// Keep only what lines of these source files do
    #[arg(long, value_name = "FILE", value_delimiter = ',')]
    pub file: Vec<String>,
    /// Keep only references that touch these addresses
    #[arg(long, value_name = "LO..HI", value_delimiter = ',')]
    pub addr: Vec<String>,
    /// Keep only these cores
    #[arg(long, value_name = "N,M", value_delimiter = ',', value_parser = core_number)]
    pub core: Vec<u16>,
    /// Keep only these kinds of references
    #[arg(long, value_delimiter = ',', value_enum)]
    pub kind: Vec<KindName>,
    /// Keep only the references with these numbers, the first being 0
    #[arg(long, value_name = "FROM..TO")]
    pub range: Option<String>,
    /// Keep only the first M of every N references
    #[arg(long, value_name = "every=N,window=M")]
    pub sample: Option<String>,
    /// Keep only what lies between the first write to START and the next write to STOP (addresses as 0x..); the
    /// tables may name them too
    #[arg(long, value_name = "START,STOP")]
    pub between: Option<String>,
    /// The program that was traced, built with -g: store source file, line and text of each instruction, and where the
    /// trace has no regions, the variables touched
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
}

/// `demo`
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Bundled trace to show
    #[arg(default_value = "matmul16")]
    pub name: String,
    /// Clip to write
    #[arg(short, long, default_value = "demo.mp4")]
    pub output: PathBuf,
    /// Open no window at the end
    #[arg(long)]
    pub no_window: bool,
}

/// Subcommands whose arguments are another program's.
const WRAPPERS: [&str; 4] = ["cc", "c++", "fortran", "assemble"];

/// Rewrites what people of this field type into what clap reads: `-1280x720` becomes `--size 1280x720`,
/// `orrery TRACE ...` becomes `orrery view TRACE ...`, and flags of compilers become values of `run --flag`.
///
/// A first word that is no command is a trace where `exists` says that there is such a file, or where it looks like the name
/// of one; else it is left for clap, which names the nearest command.
#[must_use]
pub fn canonical(args: impl IntoIterator<Item = OsString>, exists: impl Fn(&Path) -> bool) -> Vec<OsString> {
    let command = Cli::command();
    let is_command = |word: &str| word == "help" || command.get_subcommands().any(|c| c.get_name() == word);
    let is_trace = |word: &OsStr| {
        let text = word.to_string_lossy();
        text == "-"
            || text.contains(['.', '/', '\\'])
            || text.starts_with(SCHEME)
            || text.starts_with(STORY_SCHEME)
            || text.starts_with(LOOPS_SCHEME)
            || text.starts_with(crate::kernel::bundled::SCHEME)
            || exists(Path::new(word))
    };
    let mut out: Vec<OsString> = Vec::new();
    let mut theirs = false;
    let mut args = args.into_iter();
    out.extend(args.next());
    let mut first = true;
    while let Some(arg) = args.next() {
        if theirs {
            out.push(arg);
            continue;
        }
        let text = arg.to_str().unwrap_or_default();
        let is_first = std::mem::take(&mut first);
        if is_first && WRAPPERS.contains(&text) {
            theirs = true;
            // All that follows is theirs, `--help` and `--` included.
            out.extend([arg, "--".into()]);
            continue;
        }
        if is_first && text == "run" {
            out.push(arg);
            out.extend(programs::canonical_run(args.by_ref()));
            break;
        }
        // What follows -- is the program's.
        theirs |= text == "--";
        if is_first && !is_command(text) && (text == "-" || !arg.as_encoded_bytes().starts_with(b"-")) && is_trace(&arg)
        {
            out.push("view".into());
        }
        if is_size_flag(text) {
            out.push("--size".into());
            out.push(text[1..].into());
        } else {
            out.push(arg);
        }
    }
    out
}

fn is_size_flag(text: &str) -> bool {
    text.strip_prefix('-').and_then(|t| t.split_once('x')).is_some_and(|(w, h)| {
        let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
        digits(w) && digits(h)
    })
}

#[cfg(test)]
mod tests;
