//! `orrery sweep`: traces under a grid of caches.

use super::UsageError;
use super::aligned::aligned;
use super::charts::{BESIDE, ChartFormat};
use super::convert::parse_range;
use super::counting::Counting;
use super::open::{open_cache, opening};
use super::stats::{percent, to_stdout};
use super::stop::{Flag, Stopped};
use crate::analysis::{Cell, CellCounts, SweepError, Vary, cells, parts, sweep};
use crate::chart::Look;
use crate::cli::{SweepArgs, TraceArgs};
use crate::files::{sha256, sha256_of};
use crate::opening::{SweepFolder, SweepOf, SweepPart};
use crate::scene::palette::Theme;
use crate::shown::{self, say};
use crate::trace::{file_of, write_table};
use crate::units::grouped;
use anyhow::Context as _;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::Ordering;

/// Caches that are simulated together; those that differ in their ways alone count as one. A kill loses less than that.
const TOGETHER: usize = 16;
/// Cells that are played without being asked.
const MANY: usize = 10_000;

/// Sweeps what `args` name, or joins results, and prints the cells to standard output.
///
/// # Errors
/// When traces or caches are not to be had or do not go together, results cannot be read or kept, or the output cannot be written.
pub(super) fn run(args: &SweepArgs) -> anyhow::Result<()> {
    args.chart.as_deref().map(ChartFormat::of).transpose()?;
    if let Some(path) =
        args.parquet.as_ref().filter(|path| path.extension().is_none_or(|end| !end.eq_ignore_ascii_case("parquet")))
    {
        return Err(UsageError(format!("--parquet {}: expected a name that ends in .parquet", path.display())).into());
    }
    if let Some(folder) = &args.merge {
        return print(&merged(&SweepFolder::new(folder).parts()?, folder)?, args);
    }
    let vary: Vec<Vary> = args.vary.iter().map(|text| Vary::parse(text)).collect::<Result<_, _>>().map_err(usage)?;
    let folder = args.into.as_deref().map(SweepFolder::create).transpose()?;
    let mut all = Vec::new();
    for trace in &args.traces {
        let of_trace = TraceArgs { trace: trace.clone(), format: args.format };
        let (source, _) = opening(&of_trace).read(&|| true).map_err(super::open::failed)?;
        let base = open_cache(&args.cache, source.as_ref())?.config;
        let cells = cells(&base, &vary).map_err(usage)?;
        if args.plan {
            plan(args, trace, &cells)?;
            continue;
        }
        let many = cells.len().saturating_mul(args.traces.len());
        if many > MANY && !args.yes {
            let (many, traces) = (grouped(many as u64), grouped(args.traces.len() as u64));
            return Err(UsageError(format!(
                "{many} runs ({} cells of {traces} traces): give --yes to play them all, or fewer values",
                grouped(cells.len() as u64)
            ))
            .into());
        }
        let vary = vary.iter().map(|v| (v.key.clone(), v.values.clone())).collect();
        let of = SweepOf {
            version: env!("CARGO_PKG_VERSION").into(),
            trace: trace.display().to_string(),
            digest: digest(trace)?,
            base: base.to_toml(),
            vary,
        };
        let chosen = chosen(args, &cells)?;
        let counted = count(source.as_ref(), &of, chosen, folder.as_ref())?;
        all.extend(counted.into_iter().map(|counts| (of.trace.clone(), counts)));
    }
    if args.plan {
        return Ok(());
    }
    print(&all, args)
}

/// What is wrong with the grid is wrong with the command line.
fn usage(error: SweepError) -> anyhow::Error {
    match error {
        SweepError::Sim(error) => error.into(),
        error => UsageError(error.to_string()).into(),
    }
}

/// What tells one trace from another: the SHA-256 of its file, where values stand behind it of both, and of a bundled one that of its name.
fn digest(trace: &Path) -> anyhow::Result<String> {
    let of = |trace: &Path| {
        let words = trace.to_string_lossy();
        match file_of(trace) {
            Some(file) if file == trace => sha256(file),
            Some(file) => sha256_of(format!("{}{}", sha256(file)?, &words[file.to_string_lossy().len()..]).as_bytes()),
            None => sha256_of(words.as_bytes()),
        }
    };
    of(trace).map_err(|error| anyhow::anyhow!("{}: {error}", trace.display()))
}

/// The cells that are asked for.
fn chosen<'a>(args: &SweepArgs, cells: &'a [Cell]) -> anyhow::Result<Vec<&'a Cell>> {
    let Some(text) = &args.cells else { return Ok(cells.iter().collect()) };
    let (from, to) = parse_range(text)?;
    let some: Vec<&Cell> = cells.iter().filter(|cell| (from..to).contains(&cell.number)).collect();
    if some.is_empty() {
        return Err(UsageError(format!("--cells {text}: the sweep has {} cells, numbered from 0", cells.len())).into());
    }
    Ok(some)
}

/// Prints a command for each cell.
fn plan(args: &SweepArgs, trace: &Path, cells: &[Cell]) -> anyhow::Result<()> {
    to_stdout(true, |out| {
        for cell in cells {
            let mut command: Vec<String> = vec!["orrery".into(), "sweep".into(), trace.display().to_string()];
            let mut flag = |name: &str, value: Option<String>| {
                if let Some(value) = value {
                    command.extend([name.to_owned(), value]);
                }
            };
            let cache = &args.cache;
            flag("--format", args.format.map(|format| format.name().to_owned()));
            flag("--cache", cache.cache.clone());
            flag("--l1", cache.l1.clone());
            flag("--l2", cache.l2.clone());
            flag("--l3", cache.l3.clone());
            flag("--cores", cache.cores.map(|cores| cores.to_string()));
            flag("--seed", cache.seed.map(|seed| seed.to_string()));
            args.vary.iter().for_each(|vary| flag("--vary", Some(vary.clone())));
            flag("--into", args.into.as_ref().map(|folder| folder.display().to_string()));
            flag("--cells", Some(format!("{}..{}", cell.number, cell.number + 1)));
            if cache.data_only {
                command.push("--data-only".into());
            }
            command.push("--json".into());
            let values: BTreeMap<&str, &str> = cell.values.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
            let line = serde_json::json!({ "trace": trace.display().to_string(), "cell": cell.number, "values": values, "command": command });
            serde_json::to_writer(&mut *out, &line).map_err(std::io::Error::from)?;
            writeln!(out)?;
        }
        Ok(out.flush()?)
    })
}

/// Counts cells, those that the folder has not; a part of them at a time.
fn count(
    source: &dyn crate::reference::ReferenceSource,
    of: &SweepOf,
    chosen: Vec<&Cell>,
    folder: Option<&SweepFolder>,
) -> anyhow::Result<Vec<CellCounts>> {
    let mut known: BTreeMap<u64, CellCounts> = BTreeMap::new();
    for part in folder.map(SweepFolder::parts).transpose()?.into_iter().flatten().filter(|part| part.of == *of) {
        known.extend(part.cells.into_iter().map(|counts| (counts.cell, counts)));
    }
    let missing: Vec<Cell> =
        chosen.iter().filter(|cell| !known.contains_key(&cell.number)).map(|cell| (*cell).clone()).collect();
    let found = chosen.len() - missing.len();
    if found > 0 {
        say!("note: {} of {} cells were counted before", grouped(found as u64), grouped(chosen.len() as u64));
    }
    let stop = Flag::new("stopping");
    let mut counting = Counting::new();
    let mut played = 0;
    for some in parts(missing, TOGETHER) {
        let counts = sweep(source, &some, &mut |done| {
            let done = played + done * some.len() as u64;
            counting.update((done, done), None);
            !stop.raised.load(Ordering::SeqCst)
        });
        let Some(counts) = counts.map_err(usage)? else {
            let kept = if folder.is_some() {
                "what was counted is kept; the same command goes on there"
            } else {
                "--into keeps what was counted"
            };
            return Err(Stopped(format!("stopped: {kept}")).into());
        };
        played += source.len() * some.len() as u64;
        if let Some(folder) = folder {
            folder.keep(&SweepPart { of: of.clone(), cells: counts.clone() })?;
        }
        known.extend(counts.into_iter().map(|counts| (counts.cell, counts)));
    }
    drop(counting);
    Ok(chosen.iter().filter_map(|cell| known.remove(&cell.number)).collect())
}

/// Joins parts: of each trace all cells, of one grid.
fn merged(parts: &[SweepPart], folder: &Path) -> anyhow::Result<Vec<(String, CellCounts)>> {
    let at = folder.display();
    let Some(first) = parts.first() else {
        anyhow::bail!("{at}: found no results of a sweep; write them by orrery sweep ... --into {at}");
    };
    let mut all: BTreeMap<(String, u64), CellCounts> = BTreeMap::new();
    let mut traces: BTreeMap<&str, &SweepOf> = BTreeMap::new();
    for part in parts {
        let of = &part.of;
        let other = traces.entry(&of.trace).or_insert(of);
        if of.version != first.of.version {
            anyhow::bail!(
                "{at}: results of Orrery {} and of {}; sweep again with one of them",
                first.of.version,
                of.version
            );
        }
        if other.digest != of.digest {
            anyhow::bail!(
                "{at}: {} was another trace for some of the results; sweep it again into another folder",
                of.trace
            );
        }
        if (&of.vary, &of.base) != (&first.of.vary, &other.base) || other.base != of.base {
            anyhow::bail!(
                "{at}: results of different sweeps (other caches, or other values of --vary); keep each in a folder of its own"
            );
        }
        for counts in &part.cells {
            let twice = all.insert((of.trace.clone(), counts.cell), counts.clone());
            if twice.is_some_and(|other| other != *counts) {
                anyhow::bail!("{at}: two different results of cell {} of {}; sweep it again", counts.cell, of.trace);
            }
        }
    }
    for (trace, of) in &traces {
        let there: BTreeSet<u64> = all.keys().filter(|(other, _)| other == trace).map(|(_, cell)| *cell).collect();
        let missing: Vec<String> =
            (0..of.cells()).filter(|cell| !there.contains(cell)).map(|cell| cell.to_string()).collect();
        if !missing.is_empty() {
            let (few, count) = (missing[..missing.len().min(8)].join(", "), missing.len());
            anyhow::bail!(
                "{at}: {count} of {} cells of {trace} are missing ({few}{}); run their commands of --plan again",
                of.cells(),
                if count > 8 { ", ..." } else { "" }
            );
        }
    }
    Ok(all.into_iter().map(|((trace, _), counts)| (trace, counts)).collect())
}

fn print(all: &[(String, CellCounts)], args: &SweepArgs) -> anyhow::Result<()> {
    if let Some(path) = &args.parquet {
        write_table(path, &super::sweep_table::columns(all))
            .with_context(|| format!("{}: cannot be written", path.display()))?;
    }
    if let Some(path) = &args.chart {
        let chart = super::charts::sweep(all, Look::of_pixels(Theme::Light, BESIDE));
        ChartFormat::of(path)?.write(&chart, BESIDE, path)?;
    }
    if args.json {
        return to_stdout(true, |out| {
            let rows: Vec<serde_json::Value> = all
                .iter()
                .map(|(trace, counts)| {
                    let mut row = serde_json::json!(counts);
                    row["trace"] = trace.as_str().into();
                    let values: BTreeMap<&str, &str> =
                        counts.values.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
                    row["values"] = serde_json::json!(values);
                    row
                })
                .collect();
            serde_json::to_writer_pretty(&mut *out, &rows).map_err(std::io::Error::from)?;
            writeln!(out)?;
            Ok(out.flush()?)
        });
    }
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (trace, counts) in all {
        let several = args.traces.len() > 1 || args.merge.is_some();
        if rows.is_empty() {
            let mut head: Vec<String> = if several { vec!["trace".into()] } else { Vec::new() };
            head.extend(counts.values.iter().map(|(key, _)| key.clone()));
            for level in &counts.levels {
                head.extend(["accesses", "misses", "rate"].map(|word| format!("{} {word}", level.name)));
            }
            head.extend(["bytes read", "bytes written"].map(String::from));
            rows.push(head);
        }
        let mut row: Vec<String> = if several { vec![trace.clone()] } else { Vec::new() };
        row.extend(counts.values.iter().map(|(_, value)| value.clone()));
        let number = |n: u64| if args.csv { n.to_string() } else { grouped(n) };
        for level in &counts.levels {
            let (accesses, misses) = (level.demand_accesses, level.demand_misses);
            #[expect(clippy::cast_precision_loss, reason = "a share")]
            let rate = match args.csv {
                true => format!("{:.6}", misses as f64 / accesses.max(1) as f64),
                false => percent(misses, accesses),
            };
            row.extend([number(accesses), number(misses), rate]);
        }
        row.extend([number(counts.memory_bytes_read), number(counts.memory_bytes_written)]);
        rows.push(row);
    }
    to_stdout(false, |out| {
        if args.csv {
            for row in &rows {
                let cells: Vec<String> = row.iter().map(|cell| quoted(&shown::line(cell))).collect();
                writeln!(out, "{}", cells.join(","))?;
            }
        } else {
            out.write_all(aligned(&rows).as_bytes())?;
        }
        Ok(out.flush()?)
    })
}

/// A cell of CSV (RFC 4180).
pub(super) fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.into() }
}
