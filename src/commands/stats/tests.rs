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
        rows: crate::cli::ROWS,
    }
}

fn trace() -> MemoryTrace {
    let region = Region { elem_type: "double".into(), shape: vec![8].into(), ..Region::new("A", 0x1000, 64) };
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
by flags: L1 128B, 2 sets x 2 ways x 32B

4 references: 3 reads, 2 writes (1 that modify are both), 0 fetches, 36 bytes

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
    assert!(said.contains("2 references: 1 read, 2 writes"), "{said}");
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
    let expect = r#"{"caches":{"name":"byflags","levels":[{"name":"L1","size_bytes":128}]},"trace":{"references":4,"reads":3,"writes":2,"fetches":0,"bytes":36},"levels":[{"name":"L1","sets":2,"ways":2,"line":32,"read_accesses":3,"read_misses":2,"write_accesses":2,"write_misses":1,"fetch_accesses":0,"fetch_misses":0,"fills":3,"evictions":0,"writebacks":0,"invalidations":0,"compulsory":3,"capacity":0,"conflict":0,"resident":3,"dirty":2,"bytes_in":96,"bytes_out":0,"demand_accesses":5,"demand_misses":3,"demand_hit_rate":0.4}],"memory":{"reads":3,"writes":0,"bytes_read":96,"bytes_written":0},"regions":[{"name":"A","references":3,"misses":{"L1":2}},{"name":"(other)","references":1,"misses":{"L1":1}}]}"#;
    let json = printed(true);
    let dense: String = json.split_whitespace().collect();
    assert_eq!(dense, expect);
    assert!(json.ends_with("}\n"));
}

/// The four references, from two instructions of one line and one of another; the last is of an unknown one.
fn located(by_line: bool, json: bool) -> String {
    let location = |pc, line, text: &str| SourceLocation {
        path: String::new(),
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
