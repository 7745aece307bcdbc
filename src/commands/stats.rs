//! `orrery stats`: the numbers, as a table or as JSON.

use super::UsageError;
use super::aligned::{aligned, write_aligned};
use super::caches::describe;
use super::convert::parse_range;
use super::once::{self, Once};
use super::open::{Caches, failed, open_cache, opening};
use crate::analysis::{Blame, BlameRow, BlameTable, Grouping, Offender, play};
use crate::cli::StatsArgs;
use crate::reference::{ReferenceSource, Tables};
use crate::shown;
use crate::sim::config::HierarchyConfig;
use crate::sim::stats::{
    Detail, LevelStats, LineStats, ReferenceRange, RegionStats, Stats, UNKNOWN, collect_detail, collect_range,
};
use crate::trace::Started;
use crate::units::grouped;
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
            return to_stdout(args.json, |out| print(&tables, &caches, &stats, args.json, out));
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
        let stats = collect_detail(source, &caches.config, detail, args.flush)?;
        let blame = (!args.by.is_empty()).then(|| blame(source, caches, &args.by)).transpose()?;
        return print_range(
            source.tables(),
            caches,
            &stats,
            Besides { json: args.json, range: None, blame: blame.as_ref() },
            out,
        );
    };
    let (from, to) = parse_range(text)?;
    let len = source.len();
    if from >= len {
        return Err(UsageError(format!("--range {text}: the trace has {len} references, numbered from 0")).into());
    }
    let range = ReferenceRange { from, to: to.min(len) };
    let stats = collect_range(source, &caches.config, detail, range)?;
    print_range(source.tables(), caches, &stats, Besides { json: args.json, range: Some(range), blame: None }, out)
}

/// Prints the numbers of a trace with these tables to `out`.
///
/// # Errors
/// A failed write.
pub(super) fn print(
    tables: &Tables,
    caches: &Caches,
    stats: &Stats,
    json: bool,
    out: &mut (impl Write + ?Sized),
) -> anyhow::Result<()> {
    print_range(tables, caches, stats, Besides { json, range: None, blame: None }, out)
}

/// As [`print`], of some references of the trace alone.
fn print_range(
    tables: &Tables,
    caches: &Caches,
    stats: &Stats,
    Besides { json, range, blame }: Besides<'_>,
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
        write_table(stats, config, out)?;
        if let Some(blame) = blame {
            write_blame(blame, config, out)?;
        }
    }
    Ok(out.flush()?)
}

/// Source lines that are named.
const OFFENDERS: usize = 3;

/// What is printed beside the counts, and how.
struct Besides<'a> {
    json: bool,
    range: Option<ReferenceRange>,
    blame: Option<&'a Blame>,
}

/// Plays the trace once more, for whose misses they are.
fn blame(source: &dyn ReferenceSource, caches: &Caches, by: &[Grouping]) -> anyhow::Result<Blame> {
    let mut blame = Blame::new(caches.config.levels.len(), by, source.tables());
    play(source, &caches.config, &mut blame)?;
    Ok(blame)
}

/// A table for each grouping, those that miss most first, and the lines that cause most misses.
fn write_blame(blame: &Blame, config: &HierarchyConfig, out: &mut (impl Write + ?Sized)) -> std::io::Result<()> {
    for BlameTable { by, mut rows } in blame.tables() {
        rows.sort_by(|a, b| b.misses.cmp(&a.misses));
        writeln!(out)?;
        let row = |row: &BlameRow| {
            let mut cells = vec![row.name.clone(), grouped(row.references)];
            for misses in &row.misses {
                cells.extend([grouped(*misses), percent(*misses, row.references)]);
            }
            cells
        };
        write_aligned(&head(by.word(), config), &rows, &row, out)?;
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
fn write_table(stats: &Stats, config: &HierarchyConfig, out: &mut (impl Write + ?Sized)) -> std::io::Result<()> {
    let trace = &stats.trace;
    writeln!(
        out,
        "{} references: {} reads, {} writes, {} fetches, {} bytes",
        grouped(trace.references),
        grouped(trace.reads),
        grouped(trace.writes),
        grouped(trace.fetches),
        grouped(trace.bytes)
    )?;
    if stats.dropped_fetches > 0 {
        writeln!(out, "{} fetches dropped (--data-only)", grouped(stats.dropped_fetches))?;
    }
    if stats.cores > 1 {
        writeln!(out, "{} cores", stats.cores)?;
    }
    writeln!(out)?;
    out.write_all(aligned(&levels(stats)).as_bytes())?;
    let memory = &stats.memory;
    writeln!(
        out,
        "memory: {} reads ({} bytes), {} writes ({} bytes)\n",
        grouped(memory.reads),
        grouped(memory.bytes_read),
        grouped(memory.writes),
        grouped(memory.bytes_written)
    )?;
    out.write_all(extras(stats).as_bytes())?;
    regions(stats, config, out)?;
    if !stats.lines.is_empty() {
        writeln!(out)?;
        lines(stats, config, out)?;
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
            "cores: {} lines taken by another's store, {} written back for another, {} coherence misses, {} of them false sharing",
            grouped(sharing.taken),
            grouped(sharing.interventions),
            grouped(sharing.coherence_misses),
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

fn counts(name: String, references: u64, misses: &[(std::sync::Arc<str>, u64)]) -> Vec<String> {
    let mut row = vec![name, grouped(references)];
    for (_, misses) in misses {
        row.extend([grouped(*misses), percent(*misses, references)]);
    }
    row
}

fn regions(stats: &Stats, config: &HierarchyConfig, out: &mut (impl Write + ?Sized)) -> std::io::Result<()> {
    let row = |region: &RegionStats| counts(region.name.clone(), region.references, &region.misses);
    write_aligned(&head("region", config), &stats.regions, &row, out)
}

/// Those that miss most come first; ties in the order of the source.
fn lines(stats: &Stats, config: &HierarchyConfig, out: &mut (impl Write + ?Sized)) -> std::io::Result<()> {
    let mut lines: Vec<&LineStats> = stats.lines.iter().collect();
    let misses = |line: &LineStats| line.misses.iter().map(|(_, count)| *count).collect::<Vec<_>>();
    lines.sort_by_key(|line| std::cmp::Reverse(misses(line)));
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
        counts(name, line.references, &line.misses)
    };
    write_aligned(&head("source line", config), &lines, &row, out)
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
mod tests {
    use super::*;
    use crate::cli::{CacheArgs, TraceArgs};
    use crate::reference::{Kind, MemoryTrace, Reference, Region, SourceLocation, Tables};

    fn args(json: bool) -> StatsArgs {
        let cache = CacheArgs { l1: Some("128,2,32".into()), ..CacheArgs::default() };
        StatsArgs {
            trace: TraceArgs { trace: "-".into(), format: None },
            cache,
            json,
            range: None,
            flush: false,
            by_line: false,
            classes: false,
            by: Vec::new(),
        }
    }

    fn trace() -> MemoryTrace {
        let region = Region { elem_type: "double".into(), shape: vec![8], ..Region::new("A", 0x1000, 64) };
        let references = vec![
            Reference::new(Kind::Read, 0x1000, 8),
            Reference::new(Kind::Modify, 0x1008, 8),
            Reference::new(Kind::Write, 0x1020, 8),
            Reference::new(Kind::Read, 0x9000, 4),
        ];
        MemoryTrace::new(references, Tables { title: "four".into(), regions: vec![region], ..Tables::default() })
    }

    fn config() -> Caches {
        open_cache(&args(false).cache, &trace()).unwrap()
    }

    fn printed(json: bool) -> String {
        let mut out = Vec::new();
        report(&trace(), &config(), &args(json), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_table_is_aligned() {
        let expect = "\
four
given by flags: L1 128B, 2 sets x 2 ways x 32B

4 references: 3 reads, 2 writes, 0 fetches, 36 bytes

level  demand accesses  demand misses  hit rate  all accesses  all misses  compulsory  capacity  conflict  evictions  write-backs  lines held  dirty  bytes in  bytes out
L1                   5              3     40.0%             5           3           3         0         0          0            0           3      2        96          0
memory: 3 reads (96 bytes), 0 writes (0 bytes)

region   references  L1 misses    rate
A                 3          2   66.6%
(other)           1          1  100.0%
";
        assert_eq!(printed(false), expect);
    }

    #[test]
    fn a_range_is_counted_alone_in_warm_caches() {
        let mut out = Vec::new();
        let some = StatsArgs { range: Some("1..3".into()), ..args(false) };
        report(&trace(), &config(), &some, &mut out).unwrap();
        let said = String::from_utf8(out).unwrap();
        assert!(said.contains("references 1 to 2 alone, in caches warmed by those before them\n"), "{said}");
        assert!(said.contains("2 references: 1 reads, 2 writes"), "{said}");
        // The modify finds the line that reference 0 brought in.
        assert!(said.contains("L1                   3              1     66.6%"), "{said}");
        assert!(!said.contains("(other)"), "{said}");
        for bad in ["3..3", "4..", "x"] {
            let wrong = StatsArgs { range: Some(bad.into()), ..args(false) };
            let error = report(&trace(), &config(), &wrong, &mut Vec::new()).unwrap_err();
            assert!(error.is::<UsageError>() && error.to_string().contains("--range"), "{error}");
        }
    }

    #[test]
    fn the_json_has_the_promised_keys_in_order() {
        let expect = r#"{"caches":{"name":"givenbyflags","levels":[{"name":"L1","size_bytes":128}]},"trace":{"references":4,"reads":3,"writes":2,"fetches":0,"bytes":36},"levels":[{"name":"L1","sets":2,"ways":2,"line":32,"read_accesses":3,"read_misses":2,"write_accesses":2,"write_misses":1,"fetch_accesses":0,"fetch_misses":0,"fills":3,"evictions":0,"writebacks":0,"invalidations":0,"compulsory":3,"capacity":0,"conflict":0,"resident":3,"dirty":2,"bytes_in":96,"bytes_out":0,"demand_accesses":5,"demand_misses":3,"demand_hit_rate":0.4}],"memory":{"reads":3,"writes":0,"bytes_read":96,"bytes_written":0},"regions":[{"name":"A","references":3,"misses":{"L1":2}},{"name":"(other)","references":1,"misses":{"L1":1}}]}"#;
        let json = printed(true);
        let dense: String = json.split_whitespace().collect();
        assert_eq!(dense, expect);
        assert!(json.ends_with("}\n"));
    }

    /// The four references, from two instructions of one line and one of another; the last is of an unknown one.
    fn located(by_line: bool, json: bool) -> String {
        let location = |pc, line, text: &str| SourceLocation {
            pc,
            file: "a.c".into(),
            line,
            function: "main".into(),
            text: text.into(),
        };
        let mut references = trace().references().to_vec();
        for (reference, pc) in references.iter_mut().zip([0x10, 0x20, 0x14, 0x30]) {
            reference.pc = pc;
        }
        let locations = vec![location(0x10, 7, "s += a[i];"), location(0x14, 7, "s += a[i];"), location(0x20, 5, "")];
        let tables = Tables { locations, ..trace().tables().clone() };
        let mut out = Vec::new();
        let args = StatsArgs { by_line, classes: true, ..args(json) };
        report(&MemoryTrace::new(references, tables), &config(), &args, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn source_lines_where_asked_for() {
        let expect = "
source line        references  L1 misses    rate
a.c:7  s += a[i];           2          2  100.0%
(unknown)                   1          1  100.0%
a.c:5  main                 1          0    0.0%
";
        let text = located(true, false);
        assert!(text.ends_with(expect), "{text}");
        let expect = r#","lines":[{"file":"a.c","line":5,"function":"main","references":1,"misses":{"L1":0}},{"file":"a.c","line":7,"function":"main","text":"s+=a[i];","references":2,"misses":{"L1":2}},{"file":"(unknown)","line":0,"references":1,"misses":{"L1":1}}]}"#;
        let dense: String = located(true, true).split_whitespace().collect();
        assert!(dense.ends_with(expect), "{dense}");
        // Nothing else changes, and without the flag nothing at all.
        let plain: String = located(false, true).split_whitespace().collect();
        assert_eq!(dense.replace(expect, "}"), plain);
        assert!(located(true, false).starts_with(&located(false, false)));
    }

    #[test]
    fn by_line_counts_no_classes_unless_asked_for() {
        let text = |classes| {
            let mut out = Vec::new();
            report(&trace(), &config(), &StatsArgs { by_line: true, classes, ..args(false) }, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let head = |text: &str| text.lines().find(|line| line.starts_with("level")).map(str::to_owned).unwrap();
        let (with, without) = (text(true), text(false));
        assert!(head(&with).contains("compulsory  capacity  conflict  evictions"), "{with}");
        assert!(head(&without).contains("all misses  evictions"), "{without}");
        // All that is behind the table of levels is the same.
        let behind = |text: &str| text[text.find("memory:").unwrap()..].to_owned();
        assert_eq!(behind(&with), behind(&without));
    }

    #[test]
    fn a_trace_without_source_lines_says_so() {
        let mut out = Vec::new();
        report(&trace(), &config(), &StatsArgs { by_line: true, ..args(false) }, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let row = "(unknown)             4          3  75.0%";
        assert!(text.contains(row) && text.contains("orrery convert --program"), "{text}");
    }

    #[test]
    fn numbers_for_people() {
        for (n, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(n), text);
        }
        assert_eq!(percent(0, 0), "-");
        assert_eq!(percent(1, 3), "33.3%");
        assert_eq!(percent(u64::MAX - 1, u64::MAX), "99.9%", "not all of them hit");
        assert_eq!(percent(u64::MAX, u64::MAX), "100.0%");
    }

    #[test]
    fn a_closed_pipe_is_an_io_error_of_its_own() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
                Err(std::io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        for json in [true, false] {
            let error = report(&trace(), &config(), &args(json), &mut Closed).unwrap_err();
            assert!(super::super::is_broken_pipe(&error), "json {json}: {error}");
        }
    }
}
