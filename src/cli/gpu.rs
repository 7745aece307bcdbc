//! `gpu`: a kernel on a simulated GPU.

use clap::Args;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  orrery gpu                                          kernels and GPUs that there are
  orrery gpu matmul --gpu r9nano --set N=128
  orrery gpu pagerank --dispatch 2 -o run.sqlite3 && orrery run.sqlite3
  orrery gpu kernel-1.traceg.gz --gpu rtx3070         what a tracer recorded
  orrery gpu --gpu a100 > mine.toml                   a start for your own: --gpu mine.toml";

/// `gpu`
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct GpuArgs {
    /// The kernel; a compute shader (k.wgsl, kernel:reduce-strided), launched as k.toml beside it says; or a file of recorded ones: of Accel-Sim (kernelslist.g, kernel-1.traceg), of NVBit's mem_trace, or any other trace,
    /// whose cores are wavefronts; without one, kernels and GPUs are listed, or the GPU of --gpu is printed as TOML
    pub kernel: Option<String>,
    /// The GPU: a name of the list, or a TOML file; the default is r9nano
    #[arg(long, value_name = "NAME|FILE")]
    pub gpu: Option<String>,
    /// Work-groups that the dispatcher starts at a time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536), requires = "kernel")]
    pub dispatch: Option<u32>,
    /// An argument of the kernel, such as N=1024
    #[arg(long, value_name = "NAME=VALUE", value_parser = argument, requires = "kernel")]
    pub set: Vec<(String, u64)>,
    /// Write all that happened to this file of tasks, in the dialect of --as; `-` is standard output, for jsonl and chrome
    #[arg(short, long, value_name = "FILE", requires = "kernel", conflicts_with = "json")]
    pub output: Option<PathBuf>,
    /// What -o writes: v3, v4 (Akita 4.9), v5 (Akita 5) or csv for Daisen; jsonl (a JSON object a line); chrome (for Perfetto)
    #[arg(long = "as", value_name = "DIALECT", default_value = "v4", value_parser = ["v3", "v4", "v5", "csv", "jsonl", "chrome"], requires = "output")]
    pub dialect: String,
    /// Print JSON
    #[arg(long, requires = "kernel")]
    pub json: bool,
}

/// `N=1024`.
fn argument(text: &str) -> Result<(String, u64), String> {
    let parsed =
        text.split_once('=').and_then(|(name, value)| Some((name.trim().to_owned(), value.trim().parse().ok()?)));
    parsed
        .filter(|(name, _)| !name.is_empty())
        .ok_or_else(|| "expected a name and a whole number, as in N=1024".to_owned())
}
