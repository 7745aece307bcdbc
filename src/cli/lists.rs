//! Commands that list, and tell numbers of what is no trace.

use super::CacheArgs;
use clap::Args;
use std::path::PathBuf;

/// `formats`
#[derive(Debug, Args)]
pub struct FormatsArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

const TASKS_EXAMPLES: &str = "\
Examples:
  orrery tasks run.sqlite3
  orrery tasks run.sqlite3 --summary --json
  orrery tasks run.sqlite3 --metric AvgLatency --location 'GPU[1].L2Cache[0]' --bins 50
  orrery tasks run.sqlite3 -o run-v5.sqlite3 --as v5
  orrery tasks t.orrery --range 0..1000 --cache skylake-sp -o t.sqlite3
  orrery tasks t.orrery --range 0..1000 -o t.json --as chrome      for https://ui.perfetto.dev";

/// `tasks`
#[derive(Debug, Args)]
#[command(after_help = TASKS_EXAMPLES)]
pub struct TasksArgs {
    /// A file of Daisen: SQLite of Akita 3, 4 or 5 (MGPUSim writes them), or its CSV; or a trace, whose references are told as tasks
    pub file: PathBuf,
    /// Of a trace: tell the references with these numbers, the first being 0, in caches that those before them have warmed
    #[arg(long, value_name = "FROM..TO")]
    pub range: Option<String>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub cache: CacheArgs,
    /// Print how many tasks there are, of which categories, and how long each location took for a request (the default)
    #[arg(long, conflicts_with = "metric")]
    pub summary: bool,
    /// Print a metric of a location over time: ReqInCount, ReqCompleteCount, AvgLatency, ConcurrentTask, BufferPressure,
    /// PendingReqOut, RequestBufferPressure, ResponseBufferPressure, ConcurrentTaskMilestones (formulas: Daisen; times in seconds, rates a second)
    #[arg(long, value_name = "NAME", requires = "location")]
    pub metric: Option<String>,
    /// The location of --metric; of Akita 5 with all that is named below it
    #[arg(long, value_name = "NAME", requires = "metric")]
    pub location: Option<String>,
    /// Into how many equal parts --metric cuts the run
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub bins: u32,
    /// Print what each kind of component did beside the best that it showed: how fast it answered, how many requests it took, how long
    /// it only waited for others
    #[arg(long, conflicts_with_all = ["metric", "summary"])]
    pub components: bool,
    /// Print the same of this file beside it, as the baseline: what became faster, what slower
    #[arg(long, value_name = "FILE", requires = "components")]
    pub against: Option<PathBuf>,
    /// Write the tasks to this file, in the dialect of --as; `-` is standard output, for jsonl and chrome
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["metric", "summary", "json", "components"])]
    pub output: Option<PathBuf>,
    /// What -o writes: v3, v4 (Akita 4.9), v5 (Akita 5) or csv for Daisen; jsonl (a JSON object a line); chrome (for Perfetto)
    #[arg(long = "as", value_name = "DIALECT", default_value = "v4", value_parser = ["v3", "v4", "v5", "csv", "jsonl", "chrome"], requires = "output")]
    pub dialect: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
