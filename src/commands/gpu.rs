//! `orrery gpu`: a kernel on a simulated GPU, in numbers and as tasks.

use super::UsageError;
use super::recorded_kernels::{self, Jobs};
use super::stop::{Flag, Stopped};
use super::tasks::{check_output, write_tasks};
use super::written::write_whole;
use crate::axis::AxisUnit;
use crate::cli::{GpuArgs, LaunchArgs};
use crate::machine::gpu::{self, GpuConfig, GpuRun, Job, KERNELS, KernelEntry, RunError, simulate};
use crate::opening::FileKind;
use crate::shown::{self, say};
use crate::sim::config::nearest;
use crate::units::{counted, grouped};
use anyhow::Context as _;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::Ordering;

/// Runs a kernel, or lists what there is.
///
/// # Errors
/// [`UsageError`] for a kernel, a GPU or an argument that there is not; a failed write.
pub(super) fn run(args: &GpuArgs) -> anyhow::Result<()> {
    let Some(kernel) = &args.kernel else {
        if let Some(flag) = args.launch.first_given() {
            return Err(UsageError(format!("{flag}: found no kernel; expected one, as in `orrery gpu matmul`")).into());
        }
        return match &args.gpu {
            None => list(&mut shown::out()),
            Some(gpu) => write_whole(Path::new("-"), text_of(gpu)?.as_bytes()),
        };
    };
    check_output(args.output.as_deref(), &args.dialect)?;
    let name = args.gpu.as_deref().unwrap_or("r9nano");
    let mut config =
        GpuConfig::from_toml(&text_of(name)?).map_err(|error| UsageError(format!("--gpu {name}: {error}")))?;
    if let Some(dispatch) = args.dispatch {
        config.dispatch = dispatch;
    }
    let is_shader = FileKind::of(Path::new(kernel), None) == FileKind::Kernel;
    let set = if is_shader { Vec::new() } else { arguments(&args.launch)? };
    let (mut jobs, called): (Jobs, String) = if is_shader {
        if let Some(flag) = args.launch.hardware_given() {
            return Err(
                UsageError(format!("{flag}: found a simulated GPU, whose file says this; expected no flag")).into()
            );
        }
        (recorded_kernels::shader(Path::new(kernel), &args.launch, config.wavefront)?, kernel.clone())
    } else if Path::new(kernel).is_file() {
        if !set.is_empty() {
            let why = "--set: found a recorded kernel, which has its arguments in it; expected none";
            return Err(UsageError(why.into()).into());
        }
        let name = Path::new(kernel).file_name().unwrap_or_default().to_string_lossy();
        (recorded_kernels::jobs(Path::new(kernel))?, name.into_owned())
    } else {
        let row = KernelEntry::named(kernel).map_err(|error| UsageError(error.to_string()))?;
        let program = row.with(&set).map_err(|error| UsageError(format!("--set {error}")))?;
        (Box::new(Job::alone(row.name, program)), row.name.to_owned())
    };
    let stop = Flag::new("stopping");
    let keep = args.output.is_some();
    let mut go = |_, _| !stop.raised.load(Ordering::Relaxed);
    let done = simulate(&config, &mut jobs, keep, &mut go).map_err(|error| match error {
        RunError::Stopped => Stopped("the simulation was stopped; nothing was written".into()).into(),
        RunError::Job(error) => anyhow::Error::from_boxed(error),
        RunError::TooLarge { .. } | RunError::Gpu(_) => UsageError(error.to_string()).into(),
        error => anyhow::Error::from(error),
    })?;
    if let (Some(output), Some(tasks)) = (&args.output, &done.tasks) {
        write_tasks(tasks, output, &args.dialect)?;
        say!("{}: {} tasks", output.display(), grouped(tasks.len() as u64));
        return Ok(());
    }
    // A file of one kernel goes by what that is called.
    let called = match &done.kernels[..] {
        [one] => one.name.clone(),
        _ => called,
    };
    let told = Told::of(called, &set, &config, &done);
    if args.json {
        return Ok(writeln!(shown::json(), "{}", serde_json::to_string(&told)?)?);
    }
    words(&mut shown::out(), &config, &told)
}

/// The arguments of a kernel that is no shader: whole numbers. Nothing else is said of its launch.
fn arguments(launch: &LaunchArgs) -> anyhow::Result<Vec<(String, u64)>> {
    if let Some(flag) = launch.first_given().filter(|flag| *flag != "--set") {
        let words = "found no compute shader; expected one, k.wgsl or kernel:NAME, or --set alone";
        return Err(UsageError(format!("{flag}: {words}")).into());
    }
    let whole = |(name, value): &(String, f64)| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number that a float holds"
        )]
        let number = (0.0..=9e15).contains(value).then_some(*value as u64).filter(|_| value.fract() == 0.0);
        let number =
            number.ok_or_else(|| UsageError(format!("--set {name}={value}: expected a whole number, as in N=1024")))?;
        Ok((name.clone(), number))
    };
    launch.set.iter().map(whole).collect()
}

/// Kernels in a table, at most; JSON has all.
const MOST_KERNELS: usize = 48;
/// Letters of a kernel's name in a table, at most.
const MOST_NAME: usize = 60;
/// Bytes of a description, at most.
const MOST_BYTES: u64 = 1 << 20;

/// The TOML of a GPU that there is, or of a file.
fn text_of(name: &str) -> anyhow::Result<String> {
    if let Some(text) = gpu::preset_text(name) {
        return Ok(text.to_owned());
    }
    let path = Path::new(name);
    if path.exists() {
        return crate::files::read_text(path, MOST_BYTES).with_context(|| path.display().to_string());
    }
    let names: Vec<&str> = gpu::names().collect();
    let hint = nearest(name, &names).map_or_else(String::new, |name| format!("did you mean `{name}`? "));
    Err(UsageError(format!("--gpu {name}: found no such file; {hint}expected a file or one of {}", names.join(", ")))
        .into())
}

fn list(out: &mut impl Write) -> anyhow::Result<()> {
    writeln!(out, "Kernels, with what --set takes:")?;
    for row in &KERNELS {
        let arguments = row.arguments.iter().map(|(name, usual, ..)| format!("{name}={usual}"));
        writeln!(out, "  {:<16} {:<58} {}", row.name, row.what, arguments.collect::<Vec<_>>().join(" "))?;
    }
    writeln!(out, "\nGPUs:")?;
    for name in gpu::names() {
        let Some(config) = gpu::preset(name) else { continue };
        let units = format!("{} compute units", config.units_in_all());
        writeln!(out, "  {name:<16} {:<12} {units:<20} {}", config.name, config.source)?;
    }
    Ok(())
}

/// What a run came to, as data.
#[derive(Serialize)]
struct Told {
    kernel: String,
    arguments: BTreeMap<String, u64>,
    gpu: String,
    cycles: u64,
    seconds: f64,
    work_groups: u64,
    wavefronts: u64,
    instructions: u64,
    /// Wavefronts on a compute unit, on average, and how many fit.
    resident_wavefronts: f64,
    wavefront_slots: u64,
    /// Share of time, 0 to 1.
    simd_busy: f64,
    /// By kind of component, all of a kind together.
    components: Vec<Component>,
    /// Kernels in the order in which they ran.
    kernels: Vec<Ran>,
}

#[derive(Serialize)]
struct Ran {
    kernel: String,
    /// Cycles.
    start: u64,
    end: u64,
}

#[derive(Serialize)]
struct Component {
    kind: String,
    count: u64,
    requests: u64,
    hits: u64,
    misses: u64,
    merged: u64,
    bytes: u64,
    /// Cycles from receipt to answer.
    mean_latency: f64,
    /// Cycles of a request that waits for nothing and finds what it asks for.
    best_latency: u64,
    /// Requests as a share of those that all of them can serve in the time of the run.
    of_peak: f64,
    /// Requests at one of them at once, on average over the run.
    mean_at_once: f64,
}

impl Told {
    fn of(kernel: String, set: &[(String, u64)], config: &GpuConfig, run: &GpuRun) -> Self {
        let known = KernelEntry::named(&kernel).map_or(&[][..], |row| row.arguments);
        let mut arguments: BTreeMap<String, u64> = known.iter().map(|row| (row.0.to_owned(), row.1)).collect();
        for (name, value) in set {
            if let Some(known) = known.iter().find(|row| row.0.eq_ignore_ascii_case(name)) {
                arguments.insert(known.0.to_owned(), *value);
            }
        }
        let mut components: Vec<Component> = Vec::new();
        for node in &run.nodes {
            let last = node.name.rsplit('.').next().unwrap_or(&node.name);
            let kind = last.split('[').next().unwrap_or(last);
            let at = components.iter().position(|known| known.kind == kind).unwrap_or_else(|| {
                let (requests, hits, misses, merged, bytes) = (0, 0, 0, 0, 0);
                components.push(Component {
                    kind: kind.to_owned(),
                    count: 0,
                    requests,
                    hits,
                    misses,
                    merged,
                    bytes,
                    mean_latency: 0.0,
                    best_latency: 0,
                    of_peak: 0.0,
                    mean_at_once: 0.0,
                });
                components.len() - 1
            });
            let sum = &mut components[at];
            let before = sum.mean_latency * sum.requests as f64;
            sum.mean_at_once = (sum.mean_at_once * sum.count as f64 + node.at_once) / (sum.count + 1) as f64;
            sum.best_latency = node.alone;
            let peak = node.peak * run.cycles.max(1) as f64;
            sum.of_peak = (sum.of_peak * sum.count as f64 + node.requests as f64 / peak) / (sum.count + 1) as f64;
            sum.count += 1;
            sum.requests += node.requests;
            sum.hits += node.hits;
            sum.misses += node.misses;
            sum.merged += node.merged;
            sum.bytes += node.bytes;
            sum.mean_latency = (before + node.latency * node.requests as f64) / sum.requests.max(1) as f64;
        }
        // From the units outward.
        let place = |kind: &str| {
            ["L1VTLB", "L1VCache", "L1SCache", "L2TLB", "MMU", "L2Cache", "DRAM"].iter().position(|k| *k == kind)
        };
        components.retain(|row| row.requests > 0);
        components.sort_by_key(|row| place(&row.kind));
        Self {
            kernel,
            arguments,
            gpu: config.name.clone(),
            cycles: run.cycles,
            seconds: run.cycles as f64 / (f64::from(config.clock) * 1e6),
            work_groups: run.groups,
            wavefronts: run.wavefronts,
            instructions: run.instructions,
            resident_wavefronts: run.resident,
            wavefront_slots: run.slots,
            simd_busy: run.busy,
            components,
            kernels: run
                .kernels
                .iter()
                .map(|ran| Ran { kernel: ran.name.clone(), start: ran.start, end: ran.end })
                .collect(),
        }
    }
}

fn words(out: &mut impl Write, config: &GpuConfig, told: &Told) -> anyhow::Result<()> {
    let arguments: Vec<String> = told.arguments.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let called = [told.kernel.as_str(), &arguments.join(" ")].join(" ");
    writeln!(out, "{} on {}, {} compute units", called.trim_end(), told.gpu, config.units_in_all())?;
    let time = AxisUnit::Seconds { ticks: u64::from(config.clock) * 1_000_000 }.duration(told.cycles);
    writeln!(out, "{:>14} cycles, {time} at {} MHz", grouped(told.cycles), grouped(config.clock.into()))?;
    writeln!(
        out,
        "{:>14} {}, {}, {}",
        grouped(told.work_groups),
        if told.work_groups == 1 { "work-group" } else { "work-groups" },
        counted(told.wavefronts, "wavefront"),
        counted(told.instructions, "instruction")
    )?;
    writeln!(
        out,
        "{:>14} of {} wavefronts on a compute unit on average; SIMD units busy {:.1} % of the time",
        format!("{:.1}", told.resident_wavefronts),
        told.wavefront_slots,
        100.0 * told.simd_busy
    )?;
    if told.kernels.len() > 1 {
        writeln!(out, "\n{:>14} {:>14}", "from cycle", "cycles")?;
        for ran in told.kernels.iter().take(MOST_KERNELS) {
            let name = shown::short(&ran.kernel, MOST_NAME);
            writeln!(out, "{:>14} {:>14}  {name}", grouped(ran.start), grouped(ran.end - ran.start))?;
        }
        if let Some(left) = told.kernels.len().checked_sub(MOST_KERNELS).filter(|left| *left > 0) {
            writeln!(out, "{:>14} more; --json has all", grouped(left as u64))?;
        }
    }
    writeln!(
        out,
        "\n{:>12} {:>8} {:>12} {:>12} {:>11} {:>13} {:>8} {:>8}",
        "requests", "of peak", "hits", "misses", "merged", "mean latency", "at best", "at once"
    )?;
    for row in &told.components {
        writeln!(
            out,
            "{:>12} {:>8} {:>12} {:>12} {:>11} {:>13} {:>8} {:>8}  {}",
            grouped(row.requests),
            format!("{:.1} %", 100.0 * row.of_peak),
            grouped(row.hits),
            grouped(row.misses),
            grouped(row.merged),
            format!("{:.1} cycles", row.mean_latency),
            grouped(row.best_latency),
            format!("{:.2}", row.mean_at_once),
            if row.count > 1 { format!("{}, {} of them", row.kind, row.count) } else { row.kind.clone() }
        )?;
    }
    Ok(())
}
