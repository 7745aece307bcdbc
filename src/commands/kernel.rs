//! `orrery kernel`: a compute shader is run, and what its warps did is told as tables, as JSON or in a picture.

mod engine;
mod launches;
mod picture;
mod references;
mod report;
mod values;
mod waiting;

use super::UsageError;
use super::stats::to_stdout;
use crate::cli::{KernelArgs, LaunchArgs};
use crate::kernel::bundled::{BUNDLED, SCHEME};
use crate::kernel::{Cancel, Engine as _, KernelError, Program, Run, name_of};
#[cfg(feature = "gpu")]
use crate::kernel::{Interpreter, KEPT, KernelBook};
use crate::shown;
use launches::Place;
use serde::Serialize;
use std::io::Write;
use std::path::Path;

/// Runs the kernel that `args` name and prints what it did to standard output.
///
/// # Errors
/// When the kernel cannot be read or run, or the output cannot be written.
pub(super) fn run(args: &KernelArgs) -> anyhow::Result<()> {
    let Some(path) = &args.file else { return to_stdout(false, list) };
    let is_trace = |output: &Path| output.extension().is_some_and(|end| end.eq_ignore_ascii_case("orrery"));
    let is_trace = args.output.as_deref().is_some_and(is_trace);
    // A trace has all accesses, watched or not.
    let no_annotations = args.launch.no_annotations || is_trace;
    let flags = LaunchArgs { no_annotations, ..args.launch.clone() };
    let launches = KernelLaunches::open(&flags, path, &Cancel::default())?;
    // What is wrong with the call is told before anything runs.
    for name in &args.print {
        launches.unprinted(name).map_or(Ok(()), Err)?;
        printed(launches.program(), name)?;
    }
    if is_trace {
        return references::write(args, launches);
    }
    if args.values {
        return values(args, launches);
    }
    let mut engine = engine::chosen(args.engine, &launches.program().file)?;
    if let Some(output) = &args.output {
        picture::check(args, output)?;
        return picture::write(args, &launches.looked_at(&mut engine)?, &mut engine, output);
    }
    let ready = launches.looked_at(&mut engine)?;
    let Ready { program, launch, place } = &ready;
    let (run, ()) = engine.run(program, launch, ()).map_err(|error| ready.failed(error))?;
    to_stdout(args.json, |out| {
        if args.json {
            serde_json::to_writer(&mut *out, &Data::of(program, &run, *place)).map_err(std::io::Error::from)?;
            writeln!(out)?;
        } else {
            report::write(program, launch, &run, *place, out)?;
            for name in &args.print {
                print(program, &run, name, out)?;
            }
        }
        Ok(out.flush()?)
    })
}

/// Prints what `// @emit` tells, as CSV.
fn values(args: &KernelArgs, launches: KernelLaunches) -> anyhow::Result<()> {
    let program = launches.program();
    if program.emits().is_empty() {
        let words = "found no `// @emit` in the source; expected one, as in `sum += a[i]; // @emit sum`";
        return Err(UsageError(format!("{}: --values: {words}", program.file)).into());
    }
    let mut engine = engine::chosen(args.engine, &program.file)?;
    let ready = launches.looked_at(&mut engine)?;
    let Ready { program, launch, .. } = &ready;
    to_stdout(true, |out| {
        let mut unwritten = None;
        let lines = values::ValueLines::new(out, &mut unwritten, program.emits(), &launch.cancel);
        let ran = engine.run(program, launch, lines).map(|_| ());
        unwritten.map_or(Ok(()), Err)?;
        ran.map_err(|error| ready.failed(error))?;
        Ok(out.flush()?)
    })
}

/// A kernel that is launched as flags and the file beside it say, with all groups kept as far as there is room.
///
/// # Errors
/// As [`run`]; when `cancel` ends it.
#[cfg(feature = "gpu")]
pub(super) fn book(path: &Path, args: &LaunchArgs, cancel: &Cancel) -> anyhow::Result<KernelBook> {
    let ready = KernelLaunches::open(args, path, cancel)?.looked_at(&mut Interpreter)?;
    let book = KernelBook::play(&ready.program, &ready.launch, 0..u64::MAX, KEPT);
    Ok(KernelBook { place: ready.words(), ..book.map_err(|error| ready.failed(error))? })
}

pub(super) use launches::{KernelLaunches, Ready};
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
    #[serde(skip_serializing_if = "Option::is_none")]
    launch: Option<PlaceData>,
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
    #[serde(skip_serializing_if = "Vec::is_empty")]
    values: Vec<ValuesData<'a>>,
}

/// Which of several launches it is, the first being 0.
#[derive(Serialize)]
struct PlaceData {
    number: usize,
    of: usize,
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

/// What one `// @emit` told. `least`, `mean` and `greatest` are of the finite values.
#[derive(Serialize)]
struct ValuesData<'a> {
    line: u32,
    expression: &'a str,
    count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    least: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mean: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    greatest: Option<f32>,
    #[serde(skip_serializing_if = "is_0")]
    not_finite: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_0(n: &u64) -> bool {
    *n == 0
}

impl<'a> Data<'a> {
    fn of(program: &'a Program, run: &'a Run, place: Place) -> Self {
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
        let values = program.emits().iter().zip(&counts.values).map(|(emit, stats)| ValuesData {
            line: emit.line,
            expression: &emit.words,
            count: stats.count,
            least: stats.mean().map(|_| stats.least),
            mean: stats.mean(),
            greatest: stats.mean().map(|_| stats.greatest),
            not_finite: stats.not_finite,
        });
        let Place { number, of } = place;
        Self {
            launch: (of > 1).then_some(PlaceData { number, of }),
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
            values: values.collect(),
        }
    }
}
