//! `orrery kernel`: a compute shader is run, and what its warps did is told as tables, as JSON or in a picture.

mod engine;
mod picture;
mod references;
mod report;

use super::UsageError;
use super::stats::to_stdout;
use crate::cli::{KernelArgs, LaunchArgs};
use crate::kernel::bundled::{BUNDLED, SCHEME};
use crate::kernel::{Cancel, Engine as _, Extent, KernelError, Launch, Program, Run, name_of};
#[cfg(feature = "gpu")]
use crate::kernel::{KEPT, KernelBook};
use crate::opening::KernelFile;
use crate::shown::{self, say};
use serde::Serialize;
use std::io::Write;
use std::path::Path;

/// Runs the kernel that `args` name and prints what it did to standard output.
///
/// # Errors
/// When the kernel cannot be read or run, or the output cannot be written.
pub(super) fn run(args: &KernelArgs) -> anyhow::Result<()> {
    let Some(path) = &args.file else { return to_stdout(false, list) };
    let (program, launch) = opened(&args.launch, path)?;
    // What is wrong with the call is told before anything runs.
    args.print.iter().try_for_each(|name| printed(&program, name).map(|_| ()))?;
    if let Some(output) = &args.output {
        if output.extension().is_some_and(|end| end.eq_ignore_ascii_case("orrery")) {
            return references::write(args, &program, &launch, output);
        }
        return picture::write(args, &program, &launch, output);
    }
    let (run, ()) = engine::chosen(args.engine, &program.file)?.run(&program, &launch, ()).map_err(failed)?;
    to_stdout(args.json, |out| {
        if args.json {
            serde_json::to_writer(&mut *out, &Data::of(&program, &run)).map_err(std::io::Error::from)?;
            writeln!(out)?;
        } else {
            report::write(&program, &launch, &run, out)?;
            for name in &args.print {
                print(&program, &run, name, out)?;
            }
        }
        Ok(out.flush()?)
    })
}

/// Whether what is named where a trace is expected is a kernel: a shader, or a bundled one.
pub(super) fn is_kernel(path: &Path) -> bool {
    let text = path.to_string_lossy();
    text.starts_with(SCHEME) || path.extension().is_some_and(|end| end.eq_ignore_ascii_case("wgsl"))
}

/// A kernel that is launched as flags and the file beside it say, with all groups kept as far as there is room.
///
/// # Errors
/// As [`run`]; when `cancel` ends it.
#[cfg(feature = "gpu")]
pub(super) fn book(path: &Path, args: &LaunchArgs, cancel: &Cancel) -> anyhow::Result<KernelBook> {
    let (program, launch) = opened(args, path)?;
    let launch = Launch { cancel: cancel.clone(), ..launch };
    KernelBook::play(&program, &launch, 0..u64::MAX, KEPT).map_err(failed)
}

/// A kernel that is launched as the file beside it says, with these values of overrides.
///
/// # Errors
/// As [`run`].
pub(super) fn beside(path: &Path, overrides: &[(String, u64)]) -> anyhow::Result<(Program, Launch)> {
    let set = overrides.iter().map(|(name, value)| (name.clone(), *value as f64)).collect();
    opened(&LaunchArgs { set, ..LaunchArgs::default() }, path)
}

/// The program and the launch that `args` name.
fn opened(args: &LaunchArgs, path: &Path) -> anyhow::Result<(Program, Launch)> {
    let file = KernelFile::open(path).map_err(failed)?;
    let mut overrides = file.settings.set.clone();
    overrides.extend(args.set.iter().cloned());
    let entry = args.entry.as_deref().or(file.settings.entry.as_deref());
    let program = Program::new(&file.name, &file.text, entry, &overrides).map_err(failed)?;
    let launch = launch(args, &file)?;
    for name in args.bind.iter().filter_map(|words| words.split('=').next()).map(str::trim) {
        if program.declares(name) && program.shared.iter().all(|shared| shared.name != name) {
            say!("note: --bind {name}: entry {} does not use it", program.entry);
        }
    }
    Ok((program, launch))
}

pub(super) use references::whole;

/// What is wrong with the call is told from what is wrong with the kernel.
pub(super) fn failed(error: KernelError) -> anyhow::Error {
    match error {
        KernelError::Source(_)
        | KernelError::Adapter(_)
        | KernelError::Unsupported { .. }
        | KernelError::Steps { .. }
        | KernelError::TooMuch(_) => error.into(),
        error => UsageError(error.to_string()).into(),
    }
}

fn list(out: &mut dyn Write) -> anyhow::Result<()> {
    for kernel in BUNDLED {
        writeln!(out, "{SCHEME}{}", kernel.name)?;
        for line in kernel.text.lines().map_while(|line| line.strip_prefix("//")) {
            writeln!(out, "   {line}")?;
        }
    }
    Ok(out.flush()?)
}

fn launch(args: &LaunchArgs, file: &KernelFile) -> anyhow::Result<Launch> {
    let settings = &file.settings;
    let three = |numbers: &Vec<u64>, key: &str| {
        let mut out = [1; 3];
        if numbers.is_empty() || numbers.len() > 3 {
            return Err(UsageError(format!("{}: {key}: expected one to three numbers", file.name)));
        }
        out.iter_mut().zip(numbers).for_each(|(to, from)| *to = *from);
        Ok(out)
    };
    let extent = match (args.global, args.groups, &settings.global, &settings.groups) {
        (Some(items), ..) => Extent::Items(items),
        (_, Some(groups), ..) => Extent::Groups(groups),
        (_, _, Some(_), Some(_)) => {
            let words = "found global and groups in the launch beside it; expected one of them, since either says how much is launched";
            return Err(UsageError(format!("{}: {words}", file.name)).into());
        }
        (_, _, Some(items), _) => Extent::Items(three(items, "global")?),
        (.., Some(groups)) => Extent::Groups(three(groups, "groups")?),
        _ => {
            let words = "expected how much is launched: --global ITEMS or --groups GROUPS, as in --global 1024, or a \
                         launch beside it, NAME.toml";
            return Err(UsageError(format!("{}: {words}", file.name)).into());
        }
    };
    let (steps, events) = args.limits();
    Ok(Launch {
        extent,
        bound: file.contents(&args.bind).map_err(failed)?,
        take: args.take.clone(),
        hardware: args.hardware(),
        steps,
        events,
        cancel: Cancel::default(),
    })
}

/// Which of the shared variables is to be printed.
fn printed(program: &Program, name: &str) -> Result<usize, UsageError> {
    program.shared.iter().position(|shared| shared.name == name).ok_or_else(|| {
        let names: Vec<&str> = program.shared.iter().map(|shared| shared.name.as_str()).collect();
        UsageError(format!("--print {name}: found no such variable; expected one of {}", names.join(", ")))
    })
}

/// The numbers of a buffer at the end.
fn print(program: &Program, run: &Run, name: &str, out: &mut dyn Write) -> anyhow::Result<()> {
    let number = printed(program, name)?;
    let (shared, bytes) = (&program.shared[number], &run.after[number]);
    if bytes.is_empty() {
        let words =
            "found workgroup memory, which an adapter does not give back; expected a buffer, or --engine interpreter";
        return Err(UsageError(format!("--print {name}: {words}")).into());
    }
    let numbers = program.numbers(shared, bytes).map_err(failed)?;
    writeln!(out, "\n{} at the end", shown::name(name))?;
    for row in numbers.chunks(16) {
        let row: Vec<String> = row.iter().map(f64::to_string).collect();
        writeln!(out, "  {}", row.join(" "))?;
    }
    Ok(())
}

// ---- as data

/// The promised object, with its keys in their order. The last three are there only where there is something to say.
#[derive(Serialize)]
struct Data<'a> {
    work_items: u64,
    warps: u64,
    divergent_warps: u64,
    lost: u64,
    proxy_warps: Vec<ProxyData<'a>>,
    banks: Vec<BankData>,
    races: Vec<RaceData<'a>>,
    sites: Vec<SiteData<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    divergent_barriers: Vec<BarrierData>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outside: Vec<OutsideData<'a>>,
}

#[derive(Serialize)]
struct ProxyData<'a> {
    warps: u64,
    divergent: bool,
    branchings: Vec<BranchingData<'a>>,
}

#[derive(Serialize)]
struct BranchingData<'a> {
    pattern: &'a str,
    pattern_with_loops: &'a str,
    lanes: usize,
    /// Cases of `switch`, where there was one.
    #[serde(skip_serializing_if = "<[u32]>::is_empty")]
    cases: &'a [u32],
}

#[derive(Serialize)]
struct BankData {
    group: u64,
    accesses: u64,
    conflicting: u64,
    extra: u64,
    max_degree: u64,
}

#[derive(Serialize)]
struct RaceData<'a> {
    name: &'a str,
    space: &'static str,
    address: u32,
    lines: [u32; 2],
    kinds: [&'static str; 2],
    groups: [u64; 2],
    items: [usize; 2],
    words: u64,
}

#[derive(Serialize)]
struct SiteData<'a> {
    line: u32,
    kind: &'static str,
    name: &'a str,
}

#[derive(Serialize)]
struct BarrierData {
    line: u32,
    cause_line: u32,
    group: u64,
    came: usize,
    of: usize,
}

#[derive(Serialize)]
struct OutsideData<'a> {
    line: u32,
    name: &'a str,
    index: i64,
    length: u32,
    group: u64,
    item: usize,
    count: u64,
}

impl<'a> Data<'a> {
    fn of(program: &'a Program, run: &'a Run) -> Self {
        let counts = &run.counts;
        let proxy_warps = counts.proxy_warps.iter().map(|proxy| ProxyData {
            warps: proxy.warps,
            divergent: proxy.divergent,
            branchings: proxy
                .branchings
                .iter()
                .map(|way| BranchingData {
                    pattern: &way.pattern,
                    pattern_with_loops: &way.pattern_with_loops,
                    lanes: way.lanes,
                    cases: &way.cases,
                })
                .collect(),
        });
        let banks = counts.banks.iter().map(|banks| BankData {
            group: banks.group,
            accesses: banks.accesses,
            conflicting: banks.conflicting,
            extra: banks.extra,
            max_degree: banks.max_degree,
        });
        let races = counts.races.iter().map(|race| RaceData {
            name: &program.shared[race.shared].name,
            space: program.shared[race.shared].space.word(),
            address: race.address,
            lines: race.sites.map(|site| run.sites[site].line),
            kinds: race.sites.map(|site| run.sites[site].act.word()),
            groups: race.items.map(|(group, _)| group),
            items: race.items.map(|(_, item)| item),
            words: race.words,
        });
        let sites = run.sites.iter().map(|site| SiteData {
            line: site.line,
            kind: site.act.word(),
            name: name_of(&program.shared, site),
        });
        let barriers = run.lone.iter().map(|lone| BarrierData {
            line: lone.line,
            cause_line: lone.cause,
            group: lone.group,
            came: lone.came,
            of: lone.of,
        });
        let outside = run.outside.iter().map(|outside| OutsideData {
            line: outside.line,
            name: &outside.name,
            index: outside.signed(),
            length: outside.length,
            group: outside.first.0,
            item: outside.first.1,
            count: outside.count,
        });
        Self {
            work_items: counts.work_items,
            warps: counts.warps,
            divergent_warps: counts.divergent_warps,
            lost: counts.lost,
            proxy_warps: proxy_warps.collect(),
            banks: banks.collect(),
            races: races.collect(),
            sites: sites.collect(),
            divergent_barriers: barriers.collect(),
            outside: outside.collect(),
        }
    }
}
