//! `orrery analyze`: locality, as tables or as JSON.

use super::UsageError;
use super::aligned::aligned;
use super::caches::describe;
use super::open::{Caches, open_cache, open_trace};
use super::stats::{CachesUsed, percent, to_stdout};
use super::told::Told;
use crate::analysis::{DistanceRow, Distances, MOST_WAYS, Survey, SurveyError, Wanted, survey};
use crate::cli::{AnalyzeArgs, AnalyzeParts};
use crate::reference::{ReferenceSource, SourceError};
use crate::shown;
use crate::sim::config::{HierarchyConfig, format_size, nearest};
use crate::units::{LevelId, counted, grouped};
use serde_json::{Map, Value, json};
use std::io::Write;

/// Opens what `args` name and prints what was found to standard output.
///
/// # Errors
/// When trace or caches are not to be had or do not go together, or the output cannot be written.
pub(super) fn run(args: &AnalyzeArgs) -> anyhow::Result<()> {
    let source = open_trace(&args.trace)?;
    let caches = open_cache(&args.cache, source.as_ref())?;
    to_stdout(args.json, |out| report(source.as_ref(), &caches, args, out))
}

/// What is wanted, where nothing is named all of it.
fn parts(args: &AnalyzeArgs) -> AnalyzeParts {
    let parts = args.parts.clone();
    let AnalyzeParts { stack_distance, miss_ratio, ways, sample, working_set, locality, sets, line_use, displaced } =
        parts;
    let named = stack_distance || miss_ratio || working_set || locality || sets || line_use || displaced;
    if named || ways.is_some() || sample.is_some() {
        return parts;
    }
    AnalyzeParts {
        stack_distance: true,
        miss_ratio: true,
        ways: Some(0),
        sample: None,
        working_set: true,
        locality: true,
        sets: true,
        line_use: true,
        displaced: true,
    }
}

/// The level of that name, in any case.
pub(super) fn level(config: &HierarchyConfig, name: Option<&str>) -> anyhow::Result<LevelId> {
    let Some(name) = name else { return Ok(LevelId(0)) };
    let names: Vec<&str> = config.levels.iter().map(|level| level.name.as_str()).collect();
    let found = (0u8..).zip(&names).find(|(_, level)| level.eq_ignore_ascii_case(name));
    let (level, _) = found.ok_or_else(|| {
        let hint = nearest(name, &names).map_or_else(String::new, |name| format!(" (did you mean {name}?)"));
        UsageError(format!("--level {name}: found no such level{hint}; expected one of {}", names.join(", ")))
    })?;
    Ok(LevelId(level))
}

/// Makes the analyses of `source` and prints them to `out`.
///
/// # Errors
/// [`UsageError`] for a level that is not there; a source that fails; a failed write.
fn report(
    source: &dyn ReferenceSource,
    caches: &Caches,
    args: &AnalyzeArgs,
    out: &mut (impl Write + ?Sized),
) -> anyhow::Result<()> {
    let (parts, level) = (parts(args), level(&caches.config, args.level.as_deref())?);
    let wanted = Wanted {
        line_bytes: args.line,
        distances: parts.stack_distance || parts.miss_ratio,
        by: if parts.stack_distance || parts.miss_ratio { args.by.clone() } else { Vec::new() },
        sample: parts.sample,
        ways: parts.ways,
        working_sets: parts.working_set.then_some(args.window.unwrap_or(0)),
        locality: parts.locality,
        pressure: parts.sets.then_some(level),
        line_use: parts.line_use,
        displaced: parts.displaced.then_some(level),
    };
    let found = survey(&Told::new(source), &caches.config, &wanted).map_err(|error| match error {
        SurveyError::Line(_) => UsageError(error.to_string()).into(),
        error => anyhow::Error::from(error),
    })?;
    if args.json {
        // Of stack distances alone the promised object, with its keys in their order; else one key for each part.
        let alone = AnalyzeParts { stack_distance: true, ..AnalyzeParts::default() };
        match &found.distances {
            Some(distances) if parts == alone && found.by.is_empty() => serde_json::to_writer(&mut *out, distances),
            _ => serde_json::to_writer(&mut *out, &as_json(&found, &parts, caches, level)),
        }
        .map_err(std::io::Error::from)?;
        writeln!(out)?;
        return Ok(out.flush()?);
    }
    head(source, caches, &found, out)?;
    let level = &caches.config.levels[level.index()].name;
    let words = [
        parts.stack_distance.then(|| distances(&found)),
        parts.miss_ratio.then(|| miss_ratios(&found, &caches.config)),
        by(&found),
        found.ways.as_ref().map(|_| ways(&found)),
        found.sample.as_ref().map(|_| sampled(&found)),
        found.working_sets.as_ref().map(|_| working_sets(&found)),
        found.locality.map(|scores| {
            let score = |score: Option<f64>| score.map_or("-".into(), |score| format!("{score:.3}"));
            format!(
                "locality, 0 to 1: spatial {}, temporal {} (docs/analysis.md defines them)\n",
                score(scores.spatial),
                score(scores.temporal)
            )
        }),
        found.pressure.as_ref().map(|_| sets(&found, level)),
        found.line_use.as_ref().map(|_| line_use(&found)),
        found.displaced.as_ref().map(|_| displaced(&found, level)),
    ];
    let words: Vec<String> = words.into_iter().flatten().collect();
    out.write_all(words.join("\n").as_bytes())?;
    Ok(out.flush()?)
}

/// One key for each part.
fn as_json(found: &Survey, parts: &AnalyzeParts, caches: &Caches, level: LevelId) -> Value {
    let distances = found.distances.as_ref().map(|distances| json!(distances));
    let mut all = Map::new();
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            all.insert(key.into(), value);
        }
    };
    put("caches", Some(json!(CachesUsed::of(caches))));
    put("references", Some(json!(found.references)));
    put("line", Some(json!(found.line_bytes)));
    put("stack_distance", distances.filter(|_| parts.stack_distance));
    let curve = found.distances.as_ref().filter(|_| parts.miss_ratio);
    put("miss_curve", curve.map(|distances| json!(distances.miss_curve())));
    put("by", (!found.by.is_empty()).then(|| json!(found.by)));
    let ways = found.ways.as_ref().map(|stacks| {
        let misses: Vec<u64> = (1..=MOST_WAYS).filter_map(|ways| stacks.misses(ways)).collect();
        json!({ "sets": stacks.sets(), "accesses": stacks.accesses(), "misses_by_ways": misses })
    });
    put("ways", ways);
    put("sample", found.sample.as_ref().map(|sample| {
        let points = sample_points(found).into_iter().map(|(lines, ratio, error)| {
            json!({ "lines": lines, "bytes": lines * u64::from(found.line_bytes), "miss_ratio": ratio, "error": error })
        });
        let points: Vec<Value> = points.collect();
        json!({ "rate": sample.rate(), "accesses": sample.accesses(), "sampled": sample.sampled(), "points": points })
    }));
    let sets = found.working_sets.as_ref().map(|(window, sets)| json!({ "window": window, "points": sets }));
    put("working_sets", sets);
    put("locality", found.locality.map(|scores| json!(scores)));
    let name = &caches.config.levels[level.index()].name;
    let pressure = found.pressure.as_ref();
    put("sets", pressure.map(|p| json!({ "level": name, "busiest_eighth": p.busiest_eighth(), "sets": p.sets() })));
    put("line_use", found.line_use.as_ref().map(|rows| json!(rows)));
    put("displaced", found.displaced.as_ref().map(|pairs| json!({ "level": name, "pairs": pairs })));
    Value::Object(all)
}

fn head(
    source: &dyn ReferenceSource,
    caches: &Caches,
    found: &Survey,
    out: &mut (impl Write + ?Sized),
) -> anyhow::Result<()> {
    let title = &source.tables().title;
    if !title.is_empty() {
        writeln!(out, "{}", shown::name(title))?;
    }
    writeln!(out, "{}: {}", shown::name(&caches.config.name), describe(&caches.config)?)?;
    write!(out, "{}; lines of {} bytes", counted(found.references, "reference"), found.line_bytes)?;
    if let Some(words) = together(source)? {
        write!(out, "; stack distances and misses by size {words}")?;
    }
    writeln!(out, "\n")?;
    Ok(())
}

/// What stack distances and misses by size are counted of, where there are several cores.
pub(super) fn together(source: &dyn ReferenceSource) -> Result<Option<String>, SourceError> {
    let cores = source.cores()?;
    Ok((cores > 1).then(|| format!("as if all {cores} cores had one cache")))
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(String::from).to_vec()
}

/// Distances by powers of two: 0, 1, 2 to 3, 4 to 7 ...
fn distances(found: &Survey) -> String {
    let Some(all) = &found.distances else { return String::new() };
    let histogram = all.histogram();
    let mut rows = vec![words(["stack distance", "accesses", "share", "up to here"])];
    let (mut from, mut reached) = (0u64, 0);
    while histogram.at_least(from) > 0 {
        let to = (2 * from).max(1);
        let count = histogram.at_least(from) - histogram.at_least(to);
        reached += count;
        let name = if to - from == 1 { grouped(from) } else { format!("{} to {}", grouped(from), grouped(to - 1)) };
        let shares = [percent(count, all.accesses()), percent(reached, all.accesses())];
        rows.push([vec![name, grouped(count)], shares.to_vec()].concat());
        from = to;
    }
    let cold = all.cold();
    rows.push(vec!["first touch".into(), grouped(cold), percent(cold, all.accesses()), String::new()]);
    aligned(&rows)
}

/// Sizes worth a row: powers of two up to the one that holds all, and those of the levels.
fn sizes(found: &Survey, config: &HierarchyConfig, all: u64) -> Vec<(u64, String)> {
    let line = u64::from(found.line_bytes);
    let mut sizes: Vec<(u64, String)> = Vec::new();
    let mut lines = 1;
    loop {
        sizes.push((lines, String::new()));
        if lines >= all || lines >= 1 << 40 {
            break;
        }
        lines *= 2;
    }
    for level in &config.levels {
        let lines = level.size / line;
        match sizes.iter_mut().find(|(other, _)| *other == lines) {
            Some((_, names)) => {
                if !names.is_empty() {
                    names.push_str(", ");
                }
                names.push_str(&level.name);
            }
            None if lines > 0 => sizes.push((lines, level.name.clone())),
            None => {}
        }
    }
    sizes.sort();
    sizes
}

fn miss_ratios(found: &Survey, config: &HierarchyConfig) -> String {
    let Some(all) = &found.distances else { return String::new() };
    let mut rows = vec![words(["fully associative LRU", "lines", "misses", "rate", "as large as"])];
    let reach = all.miss_curve().last().map_or(0, |(lines, _)| *lines);
    for (lines, level) in sizes(found, config, reach) {
        let misses = all.misses(lines);
        let size = format_size(lines * u64::from(found.line_bytes));
        rows.push(vec![size, grouped(lines), grouped(misses), percent(misses, all.accesses()), level]);
    }
    aligned(&rows)
}

/// A few sizes for each row of a grouping.
fn by(found: &Survey) -> Option<String> {
    if found.by.is_empty() {
        return None;
    }
    let line = u64::from(found.line_bytes);
    let table = |Distances { by, rows }: &Distances| {
        // What tells rows apart lies between a few lines and all of them.
        let most = rows.iter().filter_map(|row| row.miss_curve().last().map(|(lines, _)| *lines)).max().unwrap_or(1);
        let sizes: Vec<u64> =
            (0..).map(|step| 8u64 << (2 * step)).take_while(|lines| *lines < 4 * most).take(8).collect();
        let name = by.word().to_owned();
        let mut table = vec![
            [vec![name, "accesses".into(), "first touches".into()], {
                let misses = |lines: &u64| format!("misses in {}", format_size(lines * line));
                sizes.iter().map(misses).collect()
            }]
            .concat(),
        ];
        let mut rows: Vec<&DistanceRow> = rows.iter().collect();
        rows.sort_by_key(|row| std::cmp::Reverse(sizes.first().map_or(0, |lines| row.misses(*lines))));
        table.extend(rows.iter().map(|row| {
            let counts = [grouped(row.accesses), grouped(row.cold)];
            let misses = sizes.iter().map(|lines| grouped(row.misses(*lines))).collect();
            [vec![row.name.clone()], counts.to_vec(), misses].concat()
        }));
        aligned(&table)
    };
    Some(found.by.iter().map(table).collect::<Vec<_>>().join("\n"))
}

fn ways(found: &Survey) -> String {
    let Some(stacks) = &found.ways else { return String::new() };
    let mut rows = vec![words(["ways", "size", "misses", "rate"])];
    for ways in (1..=MOST_WAYS).filter(|ways| *ways <= 4 || ways.is_power_of_two()) {
        let Some(misses) = stacks.misses(ways) else { break };
        let size = format_size((stacks.sets() * ways) as u64 * u64::from(found.line_bytes));
        rows.push(vec![ways.to_string(), size, grouped(misses), percent(misses, stacks.accesses())]);
    }
    format!("LRU with {} sets\n{}", grouped(stacks.sets() as u64), aligned(&rows))
}

/// Sizes by powers of two that the sample can tell of: lines, miss ratio, error.
fn sample_points(found: &Survey) -> Vec<(u64, f64, f64)> {
    let Some(sample) = &found.sample else { return Vec::new() };
    let mut points = Vec::new();
    let mut lines = 1u64;
    while lines < 1 << 40 {
        if let Some((ratio, error)) = sample.miss_ratio(lines) {
            let settled = points.last().is_some_and(|(_, last, _)| *last == ratio && points.len() > 1);
            points.push((lines, ratio, error));
            if settled {
                break;
            }
        }
        lines *= 2;
    }
    points
}

fn sampled(found: &Survey) -> String {
    let Some(sample) = &found.sample else { return String::new() };
    let mut rows = vec![words(["fully associative LRU", "lines", "miss ratio", "error"])];
    for (lines, ratio, error) in sample_points(found) {
        let size = format_size(lines * u64::from(found.line_bytes));
        rows.push(vec![size, grouped(lines), format!("{:.2}%", 100.0 * ratio), format!("±{:.2}%", 100.0 * error)]);
    }
    format!(
        "a sample of {:.4}% of all lines: {} of {}; the error holds in 95 of 100 cases\n{}",
        100.0 * sample.rate(),
        grouped(sample.sampled()),
        counted(sample.accesses(), "access"),
        aligned(&rows)
    )
}

fn working_sets(found: &Survey) -> String {
    let Some((window, sets)) = &found.working_sets else { return String::new() };
    // A table of some twenty rows says how it goes; JSON has all.
    let each = sets.len().div_ceil(20).max(1);
    let mut rows = vec![words(["after reference", "lines", "bytes"])];
    for set in sets.iter().skip(each - 1).step_by(each) {
        rows.push(vec![
            grouped(set.reference),
            grouped(set.lines),
            format_size(set.lines * u64::from(found.line_bytes)),
        ]);
    }
    let most = sets.iter().map(|set| set.lines).max().unwrap_or(0);
    format!(
        "working set in windows of {}: {} at most\n{}",
        counted(*window, "reference"),
        counted(most, "line"),
        aligned(&rows)
    )
}

fn sets(found: &Survey, level: &str) -> String {
    let mut busy = found.sets().to_vec();
    busy.sort_by_key(|set| (std::cmp::Reverse((set.misses, set.accesses)), set.set));
    let mut rows = vec![words(["set", "accesses", "misses", "rate", "different lines", "evictions"])];
    for set in busy.iter().take(16) {
        let counts = [grouped(set.accesses), grouped(set.misses), percent(set.misses, set.accesses)];
        rows.push(
            [vec![set.set.to_string()], counts.to_vec(), vec![grouped(set.lines), grouped(set.evictions)]].concat(),
        );
    }
    let share = found.pressure.as_ref().and_then(|pressure| pressure.busiest_eighth()).unwrap_or(0.0);
    format!(
        "sets of {level}, of {} those that miss most; the busiest eighth takes {:.1}% of all accesses\n{}",
        grouped(found.sets().len() as u64),
        100.0 * share,
        aligned(&rows)
    )
}

fn line_use(found: &Survey) -> String {
    let mut rows = vec![words(["lines in the innermost cache", "times filled", "bytes fetched", "bytes used", "used"])];
    for row in found.line_use.iter().flatten() {
        let counts = [grouped(row.lines), grouped(row.bytes_fetched), grouped(row.bytes_used)];
        let share = percent(row.bytes_used, row.bytes_fetched);
        rows.push([vec![row.region.clone()], counts.to_vec(), vec![share]].concat());
    }
    aligned(&rows)
}

fn displaced(found: &Survey, level: &str) -> String {
    let pairs = found.displaced.as_deref().unwrap_or_default();
    let all: u64 = pairs.iter().map(|pair| pair.lines).sum();
    let mut sorted: Vec<_> = pairs.iter().collect();
    sorted.sort_by_key(|pair| std::cmp::Reverse(pair.lines));
    let mut rows = vec![words(["pushed out by", "of", "lines", "share"])];
    for pair in sorted.iter().take(24) {
        rows.push(vec![pair.by.clone(), pair.of.clone(), grouped(pair.lines), percent(pair.lines, all)]);
    }
    format!("evictions of {level}: {}\n{}", grouped(all), aligned(&rows))
}
