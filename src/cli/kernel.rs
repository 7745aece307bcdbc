//! `orrery kernel`.

use super::chart::size;
use super::themes;
use crate::chart::kernel::KernelView;
use crate::kernel::{EVENTS, STEPS};
use crate::scene::palette::Theme;
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use std::ops::Range;
use std::path::PathBuf;

impl ValueEnum for KernelView {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()).help(self.what()))
    }
}

/// What runs a kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum KernelEngine {
    /// A machine of Orrery's own, which needs no adapter
    #[default]
    Interpreter,
    /// The graphics adapter, or its software driver: the shader is rewritten to write down what its items do
    Adapter,
}

const KERNEL_EXAMPLES: &str = "\
Examples:
  orrery kernel kernel:reduce-strided                         a bundled kernel, as it is meant to be launched
  orrery kernel mine.wgsl --global 1024 --bind a=iota --bind n=1024
  orrery kernel mine.wgsl --entry blur --groups 8,8 --set RADIUS=3 --json
  orrery kernel mine.wgsl --global 1000000 --take 0..16       sixteen groups of a large launch
  orrery kernel mine.wgsl --global 100000 --engine adapter    run by the graphics adapter
  orrery kernel kernel:reduce-strided -o all.png -1920x1080   what it did, as a picture
  orrery kernel kernel:reduce-strided --view memory --group 3 --bank 0 -o memory.svg
  orrery kernel --list                                        the bundled kernels, and what to look for";

/// `kernel`
#[derive(Debug, Clone, Args)]
#[command(after_help = KERNEL_EXAMPLES)]
pub struct KernelArgs {
    /// Shader in WGSL, with its launch beside it in NAME.toml if there is one; `kernel:reduce-modulo` is a bundled kernel
    #[arg(value_name = "FILE", required_unless_present = "list")]
    pub file: Option<PathBuf>,
    /// List the bundled kernels
    #[arg(long, conflicts_with = "file")]
    pub list: bool,
    /// The entry, where there are several
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// Work items: X, X,Y or X,Y,Z; groups are filled up
    #[arg(long, value_name = "X,Y,Z", value_parser = extent, conflicts_with = "groups")]
    pub global: Option<[u64; 3]>,
    /// Groups: X, X,Y or X,Y,Z
    #[arg(long, value_name = "X,Y,Z", value_parser = extent)]
    pub groups: Option<[u64; 3]>,
    /// NAME=zeros, iota, random(SEED), numbers, FILE.bin or FILE.csv; `:1024` after the first three is a length
    #[arg(long, value_name = "NAME=WHAT")]
    pub bind: Vec<String>,
    /// The value of an override
    #[arg(long, value_name = "NAME=VALUE", value_parser = set)]
    pub set: Vec<(String, f64)>,
    /// Only these groups
    #[arg(long, value_name = "FIRST..END", value_parser = take)]
    pub take: Option<Range<u64>>,
    /// Items of a model warp
    #[arg(long, value_name = "ITEMS", default_value_t = 32)]
    pub warp: usize,
    /// Banks of workgroup memory
    #[arg(long, value_name = "COUNT", default_value_t = 32)]
    pub banks: u32,
    /// Bytes of a word of a bank
    #[arg(long, value_name = "BYTES", default_value_t = 4)]
    pub bank_bytes: u32,
    /// Bytes of a sector of a line
    #[arg(long, value_name = "BYTES", default_value_t = 32)]
    pub sector: u32,
    /// Bytes of a line
    #[arg(long, value_name = "BYTES", default_value_t = 128)]
    pub line: u32,
    /// What runs it; both tell the same
    #[arg(long, value_enum, default_value = "interpreter")]
    pub engine: KernelEngine,
    /// Statements that a group may carry out before it is said to be endless
    #[arg(long, value_name = "COUNT", default_value_t = STEPS, value_parser = clap::value_parser!(u64).range(1..))]
    pub steps: u64,
    /// Events that may be recorded: accesses, decisions and barriers of items
    #[arg(long, value_name = "COUNT", default_value_t = EVENTS, value_parser = clap::value_parser!(u64).range(1..))]
    pub events: u64,
    /// Print what a buffer holds at the end, as numbers
    #[arg(long, value_name = "NAME", conflicts_with = "json")]
    pub print: Vec<String>,
    /// Print JSON: work items, warps, proxy warps, banks, races and sites
    #[arg(long, conflicts_with = "output")]
    pub json: bool,
    /// Draw what it did into this file, .svg or .png, `-` is an SVG on standard output; or write its accesses of storage and uniform
    /// memory as a trace, .orrery
    #[arg(short, long, value_name = "FILE", conflicts_with = "print", help_heading = "Pictures")]
    pub output: Option<PathBuf>,
    /// Of a trace: cores that groups are given to in turn, 1 to 64
    #[arg(long, value_name = "COUNT", default_value_t = 64, requires = "output", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub units: u16,
    /// What to draw
    #[arg(long, value_enum, requires = "output", default_value = "all", help_heading = "Pictures")]
    pub view: KernelView,
    /// The group whose memory is drawn; the first is 0; default: the first that runs
    #[arg(long, value_name = "NUMBER", requires = "output", help_heading = "Pictures")]
    pub group: Option<u64>,
    /// Mark an item of the group: its column, and what its conditions said
    #[arg(long, value_name = "NUMBER", requires = "output", help_heading = "Pictures")]
    pub item: Option<usize>,
    /// Mark what a bank is asked for
    #[arg(long, value_name = "NUMBER", requires = "output", conflicts_with = "item", help_heading = "Pictures")]
    pub bank: Option<u32>,
    /// Size in pixels; -1920x1080 says the same as --size 1920x1080
    #[arg(long, value_name = "WxH", default_value = "1280x720", value_parser = size, help_heading = "Pictures")]
    pub size: (u32, u32),
    /// dark, light or print (on white)
    #[arg(long, value_name = "THEME", default_value = "dark", value_parser = themes(), help_heading = "Pictures")]
    pub theme: Theme,
}

fn extent(text: &str) -> Result<[u64; 3], String> {
    let mut out = [1; 3];
    let parts: Vec<&str> = text.split(',').collect();
    let error = || "expected one to three whole numbers, as in 1024 or 64,64".to_owned();
    if parts.len() > 3 {
        return Err(error());
    }
    for (to, part) in out.iter_mut().zip(parts) {
        *to = part.trim().replace('_', "").parse().map_err(|_| error())?;
    }
    Ok(out)
}

fn set(text: &str) -> Result<(String, f64), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE, as in TILE=16")?;
    let number = match value.trim() {
        "true" => Ok(1.0),
        "false" => Ok(0.0),
        value => value.parse::<f64>(),
    };
    let number = number.ok().filter(|number| number.is_finite());
    Ok((name.trim().to_owned(), number.ok_or("expected a number after the =, as in TILE=16")?))
}

fn take(text: &str) -> Result<Range<u64>, String> {
    let parts = text.split_once("..").and_then(|(from, to)| Some((from.trim().parse().ok()?, to.trim().parse().ok()?)));
    let (from, to) =
        parts.ok_or("expected numbers of groups, the first being 0 and the last not among them, as in 0..16")?;
    Ok(from..to)
}
