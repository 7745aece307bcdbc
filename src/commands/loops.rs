//! `orrery loops`: what loops touch, as a table or as JSON.

mod volumes;

use super::UsageError;
use super::aligned::aligned;
use super::stats::{percent, to_stdout};
use crate::analysis::{ContainerUse, NestDistances, NestDistancesError, nest_distances};
use crate::cli::LoopsArgs;
use crate::nest::{Settings, Walk};
use crate::reference::ReferenceSource;
use crate::shown::{self, say};
use crate::sim::config::format_size;
use crate::trace::open_nest;
use crate::units::{counted, grouped};
use anyhow::Context;
use std::io::Write;
use std::path::Path;

/// Lines of caches that a table tells of where none are asked for.
const CAPACITIES: [u64; 4] = [8, 64, 512, 4096];

/// Measures what `args` name and prints it to standard output.
///
/// # Errors
/// When a file is not to be had, has gaps, or takes too long.
pub(super) fn run(args: &LoopsArgs) -> anyhow::Result<()> {
    let settings = Settings::of(args.set.iter().map(|(name, value)| (name.as_str(), *value)));
    match (&args.files[..], args.compare) {
        ([file], false) => one(file, &settings, args),
        ([a, b], true) => compared([a, b], &settings, args),
        _ => Err(UsageError("expected one file, or two with --compare".into()).into()),
    }
}

fn capacities(args: &LoopsArgs) -> Vec<u64> {
    if args.capacity.is_empty() && !args.json { CAPACITIES.to_vec() } else { args.capacity.clone() }
}

fn open(path: &Path, settings: &Settings, args: &LoopsArgs) -> anyhow::Result<Walk> {
    let walk = open_nest(path, settings, u64::from(args.line))?;
    walk.nest().notices().iter().for_each(|notice| say!("note: {notice}"));
    Ok(walk)
}

fn measured(walk: &Walk, args: &LoopsArgs) -> anyhow::Result<NestDistances> {
    let found = nest_distances(walk, args.line, &capacities(args), args.transients, &mut |_| true);
    let found = found.map_err(|error| match error {
        NestDistancesError::Line(_) => UsageError(error.to_string()).into(),
        error => anyhow::Error::from(error),
    })?;
    found.context("the walk made fewer accesses than it counted: a bug, please report it")
}

fn one(file: &Path, settings: &Settings, args: &LoopsArgs) -> anyhow::Result<()> {
    if let Some(output) = &args.graph {
        return volumes::draw(file, settings, args, output);
    }
    if args.volumes {
        return volumes::tell(file, settings, args);
    }
    if args.fold.is_some() {
        return Err(UsageError("--fold: expected --graph or --volumes beside it".into()).into());
    }
    let walk = open(file, settings, args)?;
    if let Some(access) = args.at {
        return at(&walk, access);
    }
    let found = measured(&walk, args)?;
    to_stdout(args.json, |out| {
        if args.json {
            serde_json::to_writer(&mut *out, &found).map_err(std::io::Error::from)?;
            writeln!(out)?;
            return Ok(out.flush()?);
        }
        head(&walk, &found, out)?;
        out.write_all(table(&found).as_bytes())?;
        Ok(out.flush()?)
    })
}

fn at(walk: &Walk, access: u64) -> anyhow::Result<()> {
    if access >= walk.len() {
        let found = format!("--at {access}: found {} accesses; expected a number below that", grouped(walk.len()));
        return Err(UsageError(found).into());
    }
    let mut batch = Vec::new();
    walk.read(access, 1, &mut batch)?;
    let (iteration, reference) = walk.iteration(access).zip(batch.first()).context("an access that is not there")?;
    let regions = &walk.tables().regions;
    let region = regions.iter().find(|region| region.base <= reference.addr && reference.addr < region.end());
    let element = region.map_or(format!("0x{:x}", reference.addr), |region| region.element_name(reference.addr));
    to_stdout(false, |out| {
        writeln!(out, "access {}: {} {}", grouped(access), reference.kind.verb(), shown::name(&element))?;
        writeln!(out, "iteration {}", shown::line(&iteration.to_string()))?;
        writeln!(out, "{}", shown::line(&iteration.statement))?;
        Ok(out.flush()?)
    })
}

fn head(walk: &Walk, found: &NestDistances, out: &mut (impl Write + ?Sized)) -> anyhow::Result<()> {
    writeln!(out, "{}", shown::name(&walk.tables().title))?;
    let subtitle = &walk.tables().subtitle;
    if !subtitle.is_empty() {
        writeln!(out, "{}", shown::name(subtitle))?;
    }
    writeln!(
        out,
        "{}; lines of {} bytes; misses of fully associative LRU caches that all containers share\n",
        counted(found.accesses, "access"),
        found.line_bytes
    )?;
    Ok(())
}

fn shape(row: &ContainerUse) -> String {
    row.container.shape.iter().fold(row.container.name.clone(), |name, extent| format!("{name}[{extent}]"))
}

fn size(lines: u64, found: &NestDistances) -> String {
    format!("misses in {} ({})", counted(lines, "line"), format_size(lines.saturating_mul(u64::from(found.line_bytes))))
}

fn table(found: &NestDistances) -> String {
    let heads = ["container", "type", "accesses", "an element", "lines", "first touches"].map(String::from);
    let sizes = found.capacities.iter().map(|lines| size(*lines, found));
    let mut rows = vec![heads.into_iter().chain(sizes).collect::<Vec<_>>()];
    for row in &found.containers {
        let elements = row.container.shape.iter().product::<u64>().max(1);
        let each = format!("{:.1}", row.accesses as f64 / elements as f64);
        let cells = [
            shape(row),
            row.container.elem_type.clone(),
            grouped(row.accesses),
            each,
            grouped(row.lines),
            grouped(row.cold),
        ];
        let misses = found.capacities.iter().map(|lines| grouped(row.misses(*lines)));
        rows.push(cells.into_iter().chain(misses).collect());
    }
    let lines = found.containers.iter().map(|row| row.lines).sum();
    let all = ["all", "", &grouped(found.accesses), "", &grouped(lines), &grouped(found.cold)].map(String::from);
    let misses = found.capacities.iter().map(|lines| grouped(found.misses(*lines)));
    rows.push(all.into_iter().chain(misses).collect());
    let rates = found.capacities.iter().map(|lines| percent(found.misses(*lines), found.accesses));
    rows.push(["miss rate", "", "", "", "", ""].map(String::from).into_iter().chain(rates).collect());
    let bytes =
        found.capacities.iter().map(|lines| grouped(found.misses(*lines).saturating_mul(u64::from(found.line_bytes))));
    rows.push(["bytes moved", "", "", "", "", ""].map(String::from).into_iter().chain(bytes).collect());
    aligned(&rows)
}

/// `+12 (+3.4%)`, or `0`.
fn difference(a: u64, b: u64) -> String {
    if a == b {
        return "0".into();
    }
    let sign = if b > a { "+" } else { "-" };
    let far = grouped(a.abs_diff(b));
    if a == 0 {
        return format!("{sign}{far}");
    }
    format!("{sign}{far} ({sign}{:.1}%)", 100.0 * a.abs_diff(b) as f64 / a as f64)
}

fn compared(files: [&Path; 2], settings: &Settings, args: &LoopsArgs) -> anyhow::Result<()> {
    let [first, second] = files;
    let walks = [open(first, settings, args)?, open(second, settings, args)?];
    let [a, b] = [measured(&walks[0], args)?, measured(&walks[1], args)?];
    to_stdout(args.json, |out| {
        if args.json {
            serde_json::to_writer(&mut *out, &[&a, &b]).map_err(std::io::Error::from)?;
            writeln!(out)?;
            return Ok(out.flush()?);
        }
        for (letter, (walk, file)) in ["A", "B"].into_iter().zip(walks.iter().zip(files)) {
            let file = file.display().to_string();
            writeln!(out, "{letter}  {}  {}", shown::name(&walk.tables().title), shown::name(&file))?;
        }
        writeln!(out, "lines of {} bytes; misses of fully associative LRU caches\n", args.line)?;
        let mut rows = vec![["", "A", "B", "difference"].map(String::from).to_vec()];
        let mut put = |name: String, a: u64, b: u64| rows.push(vec![name, grouped(a), grouped(b), difference(a, b)]);
        put("accesses".into(), a.accesses, b.accesses);
        put("first touches".into(), a.cold, b.cold);
        let lines = |found: &NestDistances| found.containers.iter().map(|row| row.lines).sum();
        put("lines".into(), lines(&a), lines(&b));
        for capacity in &a.capacities {
            put(size(*capacity, &a), a.misses(*capacity), b.misses(*capacity));
            let line = u64::from(a.line_bytes);
            put(
                "  bytes moved".into(),
                a.misses(*capacity).saturating_mul(line),
                b.misses(*capacity).saturating_mul(line),
            );
            let names = a.containers.iter().chain(&b.containers).map(|row| &row.container.name);
            let mut seen: Vec<&String> = Vec::new();
            for name in names {
                if seen.contains(&name) {
                    continue;
                }
                seen.push(name);
                let misses = |found: &NestDistances| {
                    let row = found.containers.iter().find(|row| row.container.name == *name);
                    row.map_or(0, |row| row.misses(*capacity))
                };
                put(format!("  {name}"), misses(&a), misses(&b));
            }
        }
        out.write_all(aligned(&rows).as_bytes())?;
        Ok(out.flush()?)
    })
}
