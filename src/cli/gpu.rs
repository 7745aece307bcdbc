//! `gpu`: a kernel on a simulated GPU.

use super::LaunchArgs;
use clap::Args;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  orrery gpu                                          kernels and GPUs that there are
  orrery gpu matmul --gpu r9nano --set N=128
  orrery gpu pagerank --dispatch 2 -o run.sqlite3 && orrery run.sqlite3
  orrery gpu mine.wgsl --global 4096 --bind a=iota    a compute shader
  orrery gpu kernel-1.traceg.gz --gpu rtx3070         what a tracer recorded
  orrery gpu --gpu a100 > mine.toml                   a start for your own: --gpu mine.toml";

/// `gpu`
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct GpuArgs {
    /// The kernel; a compute shader (k.wgsl, kernel:reduce-strided), launched as the flags below or k.toml beside it say; or a file of recorded ones: of Accel-Sim (kernelslist.g, kernel-1.traceg), of NVBit's mem_trace, or any other trace,
    /// whose cores are wavefronts; without one, kernels and GPUs are listed, or the GPU of --gpu is printed as TOML
    pub kernel: Option<String>,
    /// The GPU: a name of the list, or a TOML file; the default is r9nano
    #[arg(long, value_name = "NAME|FILE")]
    pub gpu: Option<String>,
    /// Work-groups that the dispatcher starts at a time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536), requires = "kernel")]
    pub dispatch: Option<u32>,
    /// Write all that happened to this file of tasks, in the dialect of --as; `-` is standard output, for jsonl and chrome
    #[arg(short, long, value_name = "FILE", requires = "kernel", conflicts_with = "json")]
    pub output: Option<PathBuf>,
    /// What -o writes: v3, v4 (Akita 4.9), v5 (Akita 5) or csv for Daisen; jsonl (a JSON object a line); chrome (for Perfetto)
    #[arg(long = "as", value_name = "DIALECT", default_value = "v4", value_parser = ["v3", "v4", "v5", "csv", "jsonl", "chrome"], requires = "output")]
    pub dialect: String,
    /// Print JSON
    #[arg(long, requires = "kernel")]
    pub json: bool,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub launch: LaunchArgs,
}
