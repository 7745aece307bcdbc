//! `orrery kernel`.

use super::LaunchArgs;
use super::chart::size;
use super::themes;
use crate::chart::kernel::KernelView;
use crate::scene::palette::Theme;
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
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
  orrery kernel kernel:reduce-sequential --values             what `// @emit` in its source tells, as CSV
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
    /// What runs it; both tell the same
    #[arg(long, value_enum, default_value = "interpreter")]
    pub engine: KernelEngine,
    /// Print what a buffer holds at the end, as numbers
    #[arg(long, value_name = "NAME", conflicts_with = "json")]
    pub print: Vec<String>,
    /// Print JSON: work items, warps, proxy warps, banks, races and sites
    #[arg(long, conflicts_with = "output")]
    pub json: bool,
    /// Print each value that `// @emit` in the source tells, as CSV
    #[arg(long, conflicts_with_all = ["output", "json", "print"])]
    pub values: bool,
    /// Draw what it did into this file, .svg or .png, `-` is an SVG on standard output; or write its accesses of storage and uniform
    /// memory as a trace, .orrery
    #[arg(short, long, value_name = "FILE", conflicts_with = "print", help_heading = "Pictures")]
    pub output: Option<PathBuf>,
    /// Of a trace: cores that groups are given to in turn, 1 to 64; default: 64
    #[arg(long, value_name = "COUNT", requires = "output", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub units: Option<u16>,
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
    #[arg(long, value_name = "WxH", default_value = "1280x720", value_parser = size, requires = "output", help_heading = "Pictures")]
    pub size: (u32, u32),
    /// dark, light or print (on white)
    #[arg(long, value_name = "THEME", default_value = "dark", value_parser = themes(), requires = "output", help_heading = "Pictures")]
    pub theme: Theme,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub launch: LaunchArgs,
}
