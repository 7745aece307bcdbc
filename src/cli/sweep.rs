//! `orrery sweep`.

use super::{CacheArgs, formats};
use crate::trace::Format;
use clap::Args;
use std::path::PathBuf;

const SWEEP_EXAMPLES: &str = "\
Examples:
  orrery sweep t.orrery --vary L1.size=16KiB..256KiB --vary L1.ways=1,2,4,8 --l1 32KiB,8,64
  orrery sweep a.orrery b.orrery --cache textbook --vary L1.policy=lru,srrip --csv
  orrery sweep t.orrery --vary L1.size=1KiB..1MiB --into results      again after a stop: goes on where it was
  orrery sweep t.orrery --vary L1.size=1KiB..1MiB --into results --plan   a command for each cell, for any scheduler
  orrery sweep --merge results                                        joins what they wrote";

/// `sweep`
#[derive(Debug, Clone, Args)]
#[command(after_help = SWEEP_EXAMPLES)]
pub struct SweepArgs {
    /// Trace files, or bundled traces such as lesson:matmul16; each is played through all caches
    #[arg(value_name = "TRACE", required_unless_present = "merge")]
    pub traces: Vec<PathBuf>,
    /// Format of the traces, where their content does not tell (see `orrery formats`)
    #[arg(long, value_parser = formats())]
    pub format: Option<Format>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub cache: CacheArgs,
    /// A key of the caches and the values that it takes: LEVEL.KEY=VALUES with keys as in a file of caches (see orrery caches NAME).
    /// Values stand between commas; 16KiB..256KiB doubles. Several of them make a grid
    #[arg(long, value_name = "KEY=VALUES", required_unless_present = "merge")]
    pub vary: Vec<String>,
    /// Keep results in this folder, some cells a file. What is there already is not counted again
    #[arg(long, value_name = "FOLDER")]
    pub into: Option<PathBuf>,
    /// Print each cell as a command of its own, a line of JSON each, and play nothing
    #[arg(long, requires = "into")]
    pub plan: bool,
    /// Play only the cells with these numbers, the first being 0
    #[arg(long, value_name = "FROM..TO", conflicts_with = "plan")]
    pub cells: Option<String>,
    /// Join the results in this folder and print them
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["traces", "vary", "into", "plan", "cells"])]
    pub merge: Option<PathBuf>,
    /// Play more than 10,000 cells
    #[arg(long)]
    pub yes: bool,
    /// Print JSON, an array of one object for each trace and cell
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Draw the misses of the innermost level as a heat map, too: the last key along, the others down
    #[arg(long, value_name = "FILE.svg", conflicts_with = "plan")]
    pub chart: Option<PathBuf>,
    /// Write all counts of every cell to a Parquet file, too, a row a cell
    #[arg(long, value_name = "FILE.parquet", conflicts_with = "plan")]
    pub parquet: Option<PathBuf>,
    /// Print CSV
    #[arg(long)]
    pub csv: bool,
}
