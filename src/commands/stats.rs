//! `orrery stats`: the numbers, as a table or as JSON.

use super::caches::describe;
use super::open::{open_cache, open_trace};
use crate::cli::StatsArgs;
use crate::reference::ReferenceSource;
use crate::sim::config::HierarchyConfig;
use crate::sim::stats::{Stats, collect};
use std::fmt::Write as _;
use std::io::Write;

/// Opens what `args` name and prints the numbers to standard output.
///
/// # Errors
/// When trace or caches are not to be had, or the output cannot be written.
pub fn run(args: &StatsArgs) -> anyhow::Result<()> {
    let source = open_trace(&args.trace)?;
    let config = open_cache(&args.cache, source.as_ref())?;
    report(source.as_ref(), &config, args, &mut std::io::stdout().lock())
}

/// Plays `source` through `config` and prints the numbers to `out`.
///
/// # Errors
/// [`UsageError`](super::UsageError) for wrong caches; a source that fails; a failed write.
pub fn report(
    source: &dyn ReferenceSource,
    config: &HierarchyConfig,
    args: &StatsArgs,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let stats = collect(source, config, args.flush)?;
    if args.json {
        serde_json::to_writer_pretty(&mut *out, &stats).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        let title = &source.tables().title;
        if !title.is_empty() {
            writeln!(out, "{title}")?;
        }
        writeln!(out, "{}: {}\n", config.name, describe(config)?)?;
        out.write_all(table(&stats, config).as_bytes())?;
    }
    Ok(out.flush()?)
}

/// The numbers for people: counts grouped by thousands, columns aligned.
#[must_use]
pub fn table(stats: &Stats, config: &HierarchyConfig) -> String {
    let trace = &stats.trace;
    let mut out = format!(
        "{} references: {} reads, {} writes, {} fetches, {} bytes\n",
        grouped(trace.references),
        grouped(trace.reads),
        grouped(trace.writes),
        grouped(trace.fetches),
        grouped(trace.bytes)
    );
    // Writing to a String cannot fail.
    if stats.dropped_fetches > 0 {
        let _ = writeln!(out, "{} fetches dropped (--data-only)", grouped(stats.dropped_fetches));
    }
    if stats.cores > 1 {
        let _ = writeln!(out, "{} cores share these caches; this version simulates none of their own", stats.cores);
    }
    out.push('\n');
    out.push_str(&aligned(&levels(stats)));
    let memory = &stats.memory;
    let _ = writeln!(
        out,
        "memory: {} reads ({} bytes), {} writes ({} bytes)\n",
        grouped(memory.reads),
        grouped(memory.bytes_read),
        grouped(memory.writes),
        grouped(memory.bytes_written)
    );
    out.push_str(&aligned(&regions(stats, config)));
    out
}

fn levels(stats: &Stats) -> Vec<Vec<String>> {
    let head = [
        "level",
        "accesses",
        "misses",
        "hit rate",
        "compulsory",
        "capacity",
        "conflict",
        "evictions",
        "write-backs",
        "lines held",
        "dirty",
        "bytes in",
        "bytes out",
    ];
    let mut rows = vec![head.map(String::from).to_vec()];
    rows.extend(stats.levels.iter().map(|level| {
        let mut row = vec![level.name.clone(), grouped(level.accesses()), grouped(level.misses())];
        row.push(percent(level.accesses() - level.misses(), level.accesses()));
        let counts = [
            level.compulsory,
            level.capacity,
            level.conflict,
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
    rows
}

fn regions(stats: &Stats, config: &HierarchyConfig) -> Vec<Vec<String>> {
    let mut head = vec!["region".to_owned(), "references".to_owned()];
    for level in &config.levels {
        head.extend([format!("{} misses", level.name), "rate".to_owned()]);
    }
    let mut rows = vec![head];
    rows.extend(stats.regions.iter().map(|region| {
        let mut row = vec![region.name.clone(), grouped(region.references)];
        for (_, misses) in &region.misses {
            row.extend([grouped(*misses), percent(*misses, region.references)]);
        }
        row
    }));
    rows
}

/// Columns two spaces apart: the first to the left, numbers to the right.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|r| r.get(column)).map(|c| c.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for row in rows {
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let _ = if column == 0 { write!(out, "{cell:width$}") } else { write!(out, "  {cell:>width$}") };
        }
        out.push('\n');
    }
    out
}

/// `1,234,567`.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// One decimal, rounded down so that 100.0% means all; `-` of nothing.
fn percent(part: u64, whole: u64) -> String {
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
    use crate::reference::{Kind, MemoryTrace, Reference, Region, Tables};

    fn args(json: bool) -> StatsArgs {
        let cache = CacheArgs { l1: Some("128,2,32".into()), ..CacheArgs::default() };
        StatsArgs { trace: TraceArgs { trace: "-".into(), format: None }, cache, json, flush: false }
    }

    fn trace() -> MemoryTrace {
        let region = Region {
            name: "A".into(),
            base: 0x1000,
            bytes: 64,
            elem_bytes: 8,
            elem_type: "double".into(),
            shape: vec![8],
            row_major: true,
            lifetime: None,
        };
        let references = vec![
            Reference::new(Kind::Read, 0x1000, 8),
            Reference::new(Kind::Modify, 0x1008, 8),
            Reference::new(Kind::Write, 0x1020, 8),
            Reference::new(Kind::Read, 0x9000, 4),
        ];
        MemoryTrace::new(references, Tables { title: "four".into(), regions: vec![region], ..Tables::default() })
    }

    fn config() -> HierarchyConfig {
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

level  accesses  misses  hit rate  compulsory  capacity  conflict  evictions  write-backs  lines held  dirty  bytes in  bytes out
L1            5       3     40.0%           3         0         0          0            0           3      2        96          0
memory: 3 reads (96 bytes), 0 writes (0 bytes)

region   references  L1 misses    rate
A                 3          2   66.6%
(other)           1          1  100.0%
";
        assert_eq!(printed(false), expect);
    }

    #[test]
    fn the_json_has_the_promised_keys_in_order() {
        let expect = r#"{"trace":{"references":4,"reads":3,"writes":2,"fetches":0,"bytes":36},"levels":[{"name":"L1","sets":2,"ways":2,"line":32,"read_accesses":3,"read_misses":2,"write_accesses":2,"write_misses":1,"fetch_accesses":0,"fetch_misses":0,"fills":3,"evictions":0,"writebacks":0,"invalidations":0,"compulsory":3,"capacity":0,"conflict":0,"resident":3,"dirty":2,"bytes_in":96,"bytes_out":0}],"memory":{"reads":3,"writes":0,"bytes_read":96,"bytes_written":0},"regions":[{"name":"A","references":3,"misses":{"L1":2}},{"name":"(other)","references":1,"misses":{"L1":1}}]}"#;
        let json = printed(true);
        let dense: String = json.split_whitespace().collect();
        assert_eq!(dense, expect);
        assert!(json.ends_with("}\n"));
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
