//! `orrery stats`: the numbers, as a table or as JSON.

use super::UsageError;
use super::aligned::{aligned, write_aligned};
use super::caches::describe;
use super::convert::parse_range;
use super::once::{self, Once};
use super::open::{Caches, failed, open_cache, opening};
use super::told::Told;
use crate::analysis::{Blame, BlameRow, BlameTable, Grouping, Offender, play};
use crate::cli::StatsArgs;
use crate::reference::{ReferenceSource, Tables};
use crate::shown;
use crate::sim::config::HierarchyConfig;
use crate::sim::stats::{Detail, LevelStats, LineStats, ReferenceRange, Stats, UNKNOWN, collect_detail, collect_range};
use crate::sim::{ClassCounts, prepare};
use crate::trace::Started;
use crate::units::{counted, grouped};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{BufWriter, Write};

/// Opens what `args` name and prints the numbers to standard output.
///
/// # Errors
/// When trace or caches are not to be had, or the output cannot be written.
pub fn run(args: &StatsArgs) -> anyhow::Result<()> {
    let opening = opening(&args.trace);
    let mut started = opening.start()?;
    if let Started::Growing(feed) = &mut started
        && once::suits(feed, args)
    {
        if let Some(Once { stats, caches, tables }) = once::count(feed, args, detail(args)) {
            return to_stdout(args.json, |out| print(&tables, &caches, &stats, (args.json, args.rows), out));
        }
        started = opening.start()?;
    }
    let (source, _) = opening.finish(started, &|| true).map_err(failed)?;
    let caches = open_cache(&args.cache, source.as_ref())?;
    to_stdout(args.json, |out| report(source.as_ref(), &caches, args, out))
}

/// Has `write` write to standard output, text so that it does nothing there.
pub(super) fn to_stdout(json: bool, write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<()> {
    if json {
        return write(&mut BufWriter::with_capacity(1 << 16, shown::json()));
    }
    write(&mut BufWriter::with_capacity(1 << 16, shown::out()))
}

/// What is counted beside levels and regions.
fn detail(args: &StatsArgs) -> Detail {
    // They take as long as all else, and whoever asks for lines asks where it misses.
    Detail { lines: args.by_line, classes: args.classes || args.json || !args.by_line }
}

/// Plays `source` through `config` and prints the numbers to `out`.
///
/// # Errors
/// [`UsageError`](super::UsageError) for wrong caches; a source that fails; a failed write.
pub fn report(
    source: &dyn ReferenceSource,
    caches: &Caches,
    args: &StatsArgs,
    out: &mut (impl Write + ?Sized),
) -> anyhow::Result<()> {
    let detail = detail(args);
    let Some(text) = &args.range else {
        let stats = collect_detail(&Told::new(source), &caches.config, detail, args.flush)?;
        let blame = (!args.by.is_empty()).then(|| blame(source, caches, &args.by)).transpose()?;
        return print_range(
            source.tables(),
            caches,
            &stats,
            Besides { json: args.json, rows: args.rows, range: None, blame: blame.as_ref() },
            out,
        );
    };
    let (from, to) = parse_range(text)?;
    let len = source.len();
    if from >= len {
        return Err(UsageError(format!("--range {text}: the trace has {len} references, numbered from 0")).into());
    }
    let range = ReferenceRange { from, to: to.min(len) };
    let stats = collect_range(&Told::new(source), &caches.config, detail, range)?;
    let besides = Besides { json: args.json, rows: args.rows, range: Some(range), blame: None };
    print_range(source.tables(), caches, &stats, besides, out)
}

/// Prints the numbers of a trace with these tables to `out`.
///
/// # Errors
/// A failed write.
pub(super) fn print(
    tables: &Tables,
    caches: &Caches,
    stats: &Stats,
    (json, rows): (bool, usize),
    out: &mut (impl Write + ?Sized),
) -> anyhow::Result<()> {
    print_range(tables, caches, stats, Besides { json, rows, range: None, blame: None }, out)
}

/// As [`print`], of some references of the trace alone.
fn print_range(
    tables: &Tables,
    caches: &Caches,
    stats: &Stats,
    Besides { json, rows, range, blame }: Besides<'_>,
    out: &mut (impl Write + ?Sized),
) -> anyhow::Result<()> {
    let Caches { config, why } = caches;
    if json {
        let (by, offenders) = blame.map(|blame| (blame.tables(), blame.offenders(0, OFFENDERS))).unwrap_or_default();
        let numbers = Numbers { caches: CachesUsed::of(caches), range, stats, by, offenders };
        serde_json::to_writer_pretty(&mut *out, &numbers).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        let title = &tables.title;
        if !title.is_empty() {
            writeln!(out, "{}", shown::name(title))?;
        }
        let name = shown::name(&config.name);
        writeln!(out, "{name}: {}", describe(config)?)?;
        if let Some(why) = why {
            writeln!(out, "({name} because {why}; --cache names others)")?;
        }
        if let Some(ReferenceRange { from, to }) = range {
            let last = grouped(to - 1);
            writeln!(out, "references {} to {last} alone, in caches warmed by those before them", grouped(from))?;
        }
        writeln!(out)?;
        write_table(stats, config, rows, out)?;
        if let Some(blame) = blame {
            write_blame(blame, config, rows, out)?;
        }
    }
    Ok(out.flush()?)
}

/// Source lines that are named.
const OFFENDERS: usize = 3;

/// What is printed beside the counts, and how.
struct Besides<'a> {
    json: bool,
    /// Rows of a table at most; 0 = all.
    rows: usize,
    range: Option<ReferenceRange>,
    blame: Option<&'a Blame>,
}

/// Plays the trace once more, for whose misses they are.
fn blame(source: &dyn ReferenceSource, caches: &Caches, by: &[Grouping]) -> anyhow::Result<Blame> {
    let told = Told::new(source);
    let empty = prepare(&caches.config, &told)?;
    let mut blame = Blame::new(&empty, by, source.tables()).with_classes(&empty);
    drop(empty);
    play(&told, &caches.config, &mut blame)?;
    Ok(blame)
}

/// A table for each grouping, those that miss most first, and the lines that cause most misses.
fn write_blame(
    blame: &Blame,
    config: &HierarchyConfig,
    most: usize,
    out: &mut (impl Write + ?Sized),
) -> std::io::Result<()> {
    for BlameTable { by, mut rows } in blame.tables() {
        rows.sort_by(|a, b| b.misses.cmp(&a.misses));
        writeln!(out)?;
        // Coherence is a reason only where several cores write.
        let coherence = rows.iter().any(|row| row.classes.is_some_and(|classes| classes.coherence > 0));
        let classes = |classes: &ClassCounts| {
            let ClassCounts { compulsory, capacity, conflict, coherence: own } = *classes;
            [compulsory, capacity, conflict, own].into_iter().take(if coherence { 4 } else { 3 })
        };
        let row = |row: &BlameRow| {
            let mut cells = vec![row.name.clone(), grouped(row.references)];
            for (level, misses) in row.misses.iter().enumerate() {
                cells.extend([grouped(*misses), percent(*misses, row.references)]);
                let own = row.classes.as_ref().filter(|_| level == 0);
                cells.extend(own.into_iter().flat_map(classes).map(grouped));
            }
            cells
        };
        let left = cut(&mut rows, most);
        let mut head = head(by.word(), config);
        let words = ["compulsory", "capacity", "conflict", "coherence"].map(String::from);
        head.splice(4..4, words.into_iter().take(if coherence { 4 } else { 3 }));
        write_aligned(&head, &rows, &row, out)?;
        left_out(left, out)?;
    }
    let innermost = config.levels.first().map_or("", |level| level.name.as_str());
    let offenders = blame.offenders(0, OFFENDERS);
    if !offenders.is_empty() {
        writeln!(out)?;
    }
    offenders.iter().try_for_each(|offender| writeln!(out, "{}", shown::line(&offender.sentence(innermost))))
}

/// What `--json` prints.
#[derive(Serialize)]
struct Numbers<'a> {
    caches: CachesUsed<'a>,
    /// Which references were counted, where these are not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<ReferenceRange>,
    #[serde(flatten)]
    stats: &'a Stats,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    by: Vec<BlameTable>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    offenders: Vec<Offender>,
}

/// Which caches the numbers are of.
#[derive(Serialize)]
pub(super) struct CachesUsed<'a> {
    name: &'a str,
    /// Why these, where none were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    chosen: Option<&'a str>,
    levels: Vec<LevelUsed<'a>>,
}

#[derive(Serialize)]
struct LevelUsed<'a> {
    name: &'a str,
    size_bytes: u64,
}

impl<'a> CachesUsed<'a> {
    pub(super) fn of(Caches { config, why }: &'a Caches) -> Self {
        let levels =
            config.levels.iter().map(|level| LevelUsed { name: &level.name, size_bytes: level.size }).collect();
        Self { name: &config.name, chosen: why.as_deref(), levels }
    }
}

/// The numbers for people: counts grouped by thousands, columns aligned.
fn write_table(
    stats: &Stats,
    config: &HierarchyConfig,
    most: usize,
    out: &mut (impl Write + ?Sized),
) -> std::io::Result<()> {
    let trace = &stats.trace;
    writeln!(
        out,
        "{}: {}, {}{}, {}, {}",
        counted(trace.references, "reference"),
        counted(trace.reads, "read"),
        counted(trace.writes, "write"),
        trace.modifies(),
        counted(trace.fetches, "fetch"),
        counted(trace.bytes, "byte")
    )?;
    if stats.dropped_fetches > 0 {
        writeln!(out, "{} dropped (--data-only)", counted(stats.dropped_fetches, "fetch"))?;
    }
    if stats.cores > 1 {
        writeln!(out, "{} cores", stats.cores)?;
    }
    writeln!(out)?;
    out.write_all(aligned(&levels(stats)).as_bytes())?;
    let memory = &stats.memory;
    writeln!(
        out,
        "memory: {} ({}), {} ({})\n",
        counted(memory.reads, "read"),
        counted(memory.bytes_read, "byte"),
        counted(memory.writes, "write"),
        counted(memory.bytes_written, "byte")
    )?;
    out.write_all(extras(stats).as_bytes())?;
    regions(stats, config, most, out)?;
    if !stats.lines.is_empty() {
        writeln!(out)?;
        lines(stats, config, most, out)?;
        if stats.lines.iter().all(|line| line.file == UNKNOWN) {
            writeln!(out, "the trace names no source lines: orrery convert --program stores them")?;
        }
    }
    Ok(())
}

/// What only some caches have: prefetchers, TLBs, cores that share lines. Each part ends with an empty line.
fn extras(stats: &Stats) -> String {
    let mut out = String::new();
    let prefetchers = stats.levels.iter().filter_map(|level| level.prefetch.map(|p| (&level.name, p)));
    let head = ["prefetcher", "lines", "used", "accuracy", "coverage", "late", "pollution"];
    let mut rows = vec![head.map(String::from).to_vec()];
    rows.extend(prefetchers.map(|(name, p)| {
        let share = |share: Option<f64>| share.map_or("-".into(), |share| format!("{:.1}%", 100.0 * share));
        let counts = [grouped(p.fills), grouped(p.used), share(p.accuracy), share(p.coverage)];
        [vec![name.clone()], counts.to_vec(), vec![grouped(p.late), grouped(p.pollution)]].concat()
    }));
    if rows.len() > 1 {
        out += &(aligned(&rows) + "\n");
    }
    if let Some(walks) = stats.page_walks {
        let mut rows = vec![["TLB", "accesses", "misses", "hit rate"].map(String::from).to_vec()];
        rows.extend(stats.tlbs.iter().map(|tlb| {
            let hits = percent(tlb.accesses - tlb.misses, tlb.accesses);
            vec![tlb.name.clone(), grouped(tlb.accesses), grouped(tlb.misses), hits]
        }));
        let _ = writeln!(out, "{}page walks: {}\n", aligned(&rows), grouped(walks));
    }
    if let Some(sharing) = &stats.sharing {
        let _ = writeln!(
            out,
            "cores: {} taken by another's store, {} written back for another, {}, {} of them false sharing",
            counted(sharing.taken, "line"),
            grouped(sharing.interventions),
            counted(sharing.coherence_misses, "coherence miss"),
            grouped(sharing.false_sharing)
        );
        let mut rows = vec![["shared line", "region", "cores", "coherence", "false"].map(String::from).to_vec()];
        rows.extend(sharing.lines.iter().map(|line| {
            let cores: Vec<String> = line.cores.iter().map(u16::to_string).collect();
            let region = line.region.clone().unwrap_or_else(|| "-".into());
            let counts = [grouped(line.coherence_misses), grouped(line.false_sharing)];
            [vec![format!("0x{:x}", line.address), region, cores.join(" ")], counts.to_vec()].concat()
        }));
        if rows.len() > 1 {
            out += &aligned(&rows);
        }
        out.push('\n');
    }
    out
}

/// Columns of why lines missed, in the table of levels.
const CLASSES: std::ops::Range<usize> = 6..10;

fn levels(stats: &Stats) -> Vec<Vec<String>> {
    let coherence = stats.levels.iter().any(|level| level.coherence > 0);
    // Every miss has a class, where they were counted.
    let classed = |level: &LevelStats| level.compulsory + level.capacity + level.conflict + level.coherence > 0;
    let classes = stats.levels.iter().any(classed) || stats.levels.iter().all(|level| level.misses() == 0);
    let head = [
        "level",
        "demand accesses",
        "demand misses",
        "hit rate",
        // With the write-backs of levels inside: the classes are of these.
        "all accesses",
        "all misses",
        "compulsory",
        "capacity",
        "conflict",
        "coherence",
        "evictions",
        "write-backs",
        "lines held",
        "dirty",
        "bytes in",
        "bytes out",
    ];
    let mut rows = vec![head.map(String::from).to_vec()];
    rows.extend(stats.levels.iter().map(|level| {
        let name =
            if level.cores.is_empty() { level.name.clone() } else { format!("{} x {}", level.name, level.cores.len()) };
        let (demand, missed) = (level.demand_accesses, level.demand_misses);
        let mut row = vec![name, grouped(demand), grouped(missed), percent(demand - missed, demand)];
        row.extend([level.accesses(), level.misses()].map(grouped));
        let counts = [
            level.compulsory,
            level.capacity,
            level.conflict,
            level.coherence,
            level.evictions,
            level.writebacks,
            level.resident,
            level.dirty,
            level.bytes_in,
            level.bytes_out,
        ];
        row.extend(counts.map(grouped));
        row
    }));
    for row in &mut rows {
        // With one core there is no coherence.
        let unasked = if !classes {
            CLASSES
        } else if coherence {
            0..0
        } else {
            CLASSES.end - 1..CLASSES.end
        };
        row.drain(unasked);
    }
    rows
}

/// Names of the columns of misses, after those of `first`.
fn head(first: &str, config: &HierarchyConfig) -> Vec<String> {
    let mut head = vec![first.to_owned(), "references".to_owned()];
    for level in &config.levels {
        head.extend([format!("{} misses", level.name), "rate".to_owned()]);
    }
    head
}

fn counts(name: String, references: u64, misses: impl Iterator<Item = u64>) -> Vec<String> {
    let mut row = vec![name, grouped(references)];
    for misses in misses {
        row.extend([grouped(misses), percent(misses, references)]);
    }
    row
}

/// Takes what is past so many rows (0 = none) out; how many that were.
fn cut<T>(rows: &mut Vec<T>, most: usize) -> usize {
    let left = if most == 0 { 0 } else { rows.len().saturating_sub(most) };
    rows.truncate(rows.len() - left);
    left
}

fn left_out(rows: usize, out: &mut (impl Write + ?Sized)) -> std::io::Result<()> {
    match rows {
        0 => Ok(()),
        rows => writeln!(out, "{} more that miss less: --rows 0 prints all", grouped(rows as u64)),
    }
}

/// By level, the innermost first: what rows are sorted by.
fn misses_of(misses: &[(std::sync::Arc<str>, u64)]) -> std::cmp::Reverse<Vec<u64>> {
    std::cmp::Reverse(misses.iter().map(|(_, count)| *count).collect())
}

/// In the order of the trace; where there are too many, those that miss most.
fn regions(
    stats: &Stats,
    config: &HierarchyConfig,
    most: usize,
    out: &mut (impl Write + ?Sized),
) -> std::io::Result<()> {
    // Numbers of rows: there may be a million.
    let mut all: Vec<usize> = (0..stats.regions.len()).collect();
    if most > 0 && all.len() > most {
        let key = |row: &usize| stats.regions.get(*row).map(|of| (of.misses.counts(), of.references));
        all.sort_by(|a, b| key(b).cmp(&key(a)));
    }
    let left = cut(&mut all, most);
    let row = |row: &usize| {
        let of = stats.regions.get(*row);
        of.map_or_else(Vec::new, |of| counts(of.name.to_owned(), of.references, of.misses.counts().iter().copied()))
    };
    write_aligned(&head("region", config), &all, &row, out)?;
    left_out(left, out)
}

/// Those that miss most come first; ties in the order of the source.
fn lines(stats: &Stats, config: &HierarchyConfig, most: usize, out: &mut (impl Write + ?Sized)) -> std::io::Result<()> {
    let mut lines: Vec<&LineStats> = stats.lines.iter().collect();
    lines.sort_by_cached_key(|line| misses_of(&line.misses));
    let left = cut(&mut lines, most);
    let row = |line: &&LineStats| {
        let mut name = line.file.clone();
        if line.line > 0 {
            let _ = write!(name, ":{}", line.line);
        }
        // The text says more than the function's name.
        let more = if line.text.is_empty() { &line.function } else { &line.text };
        if !more.is_empty() {
            let _ = write!(name, "  {more}");
        }
        counts(name, line.references, line.misses.iter().map(|(_, count)| *count))
    };
    write_aligned(&head("source line", config), &lines, &row, out)?;
    left_out(left, out)
}

/// One decimal, rounded down so that 100.0% means all; `-` of nothing.
pub(super) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "-".into();
    }
    let tenths = u128::from(part) * 1000 / u128::from(whole);
    format!("{}.{}%", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests;
