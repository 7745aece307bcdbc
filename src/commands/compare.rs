//! `orrery compare`: two traces, or one under two caches, counter by counter.

use super::UsageError;
use super::aligned::aligned;
use super::analyze::level;
use super::caches::describe;
use super::charts::ChartFormat;
use super::open::{Caches, open_cache, open_trace};
use super::stats::{CachesUsed, to_stdout};
use super::sweep::quoted;
use super::told::Told;
use crate::analysis::{Changed, Comparison, Counted, LevelPair, Pair};
use crate::cli::{CacheArgs, CompareArgs, TraceArgs};
use crate::reference::ReferenceSource;
use crate::shown::{self, say};
use crate::sim::config::Touched;
use crate::sim::stats::{Detail, collect_detail};
use crate::units::grouped;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::Arc;

/// All that is compared.
const DETAIL: Detail = Detail { lines: true, classes: true };

/// One of the two.
struct Side {
    name: String,
    title: String,
    caches: Caches,
}

/// Counts both and prints what differs.
///
/// # Errors
/// When a trace or caches are not to be had, or the output cannot be written.
pub(super) fn run(args: &CompareArgs) -> anyhow::Result<()> {
    let standard_input = |path: &Path| path == Path::new("-");
    if args.b.as_ref().is_some_and(|b| standard_input(b)) && standard_input(&args.a) {
        return Err(
            UsageError("compare - -: standard input can be read once only; expected a file for one".into()).into()
        );
    }
    args.chart.as_deref().map(ChartFormat::of).transpose()?;
    let open = |path: &Path| open_trace(&TraceArgs { trace: path.to_owned(), format: args.format });
    let first = open(&args.a)?;
    let second = args.b.as_ref().map_or_else(|| Ok(Arc::clone(&first)), |b| open(b))?;
    let [own, other] = caches(args, first.as_ref(), second.as_ref())?;
    let side = |path: &Path, source: &dyn ReferenceSource, caches| Side {
        name: path.to_string_lossy().into_owned(),
        title: source.tables().title.clone(),
        caches,
    };
    let a = side(&args.a, first.as_ref(), own);
    let b = side(args.b.as_ref().unwrap_or(&args.a), second.as_ref(), other);
    let level = level(&a.caches.config, args.level.as_deref())?;
    let ordered_by = a.caches.config.levels[level.index()].name.clone();
    let count = |source: Arc<dyn ReferenceSource>, caches: &Caches| {
        collect_detail(&Told::new(source.as_ref()), &caches.config, DETAIL, false)
    };
    let sources = args.chart.is_some().then(|| [Arc::clone(&first), Arc::clone(&second)]);
    // Each with its tables goes as soon as it is counted: there may be a million regions. One after the other also where it is one
    // trace: the classes of two caches take as much memory again.
    let [of_a, of_b] = [count(first, &a.caches)?, count(second, &b.caches)?];
    if let (Some(path), Some([first, second])) = (&args.chart, sources) {
        let name = |side: &Side| {
            Path::new(&side.name).file_name().map_or_else(|| side.name.clone(), |n| n.to_string_lossy().into())
        };
        // One trace under two caches: the caches tell them apart.
        let names = match args.b {
            Some(_) => [name(&a), name(&b)],
            None => [a.caches.config.name.clone(), b.caches.config.name.clone()],
        };
        let runs = [(first.as_ref(), &a.caches), (second.as_ref(), &b.caches)];
        super::charts::overlay(path, args.chart_kind, runs, [&names[0], &names[1]], level)?;
    }
    let found = Comparison::of(of_a, of_b);
    if args.b.is_some() && found.in_common() == (0, 0) {
        say!(
            "note: the two traces have no array and no source line in common, by name; their totals alone can be compared"
        );
    }
    if args.json {
        return to_stdout(true, |out| {
            serde_json::to_writer_pretty(&mut *out, &as_json(&a, &b, &found)).map_err(std::io::Error::from)?;
            writeln!(out)?;
            Ok(out.flush()?)
        });
    }
    let text = if args.csv { csv(&found) } else { table(args, &a, &b, &found, &ordered_by)? };
    to_stdout(false, |out| {
        out.write_all(text.as_bytes())?;
        Ok(out.flush()?)
    })
}

/// The caches of both: the same ones, unless the second has its own. Where none are asked for, those that suit the larger of both.
fn caches(args: &CompareArgs, a: &dyn ReferenceSource, b: &dyn ReferenceSource) -> anyhow::Result<[Caches; 2]> {
    let mut own = open_cache(&args.cache, a)?;
    if let Some(with) = &args.with {
        let CacheArgs { data_only, cores, seed, .. } = args.cache;
        let other = CacheArgs { cache: Some(with.clone()), data_only, cores, seed, ..CacheArgs::default() };
        return Ok([own, open_cache(&other, b)?]);
    }
    let mut other = open_cache(&args.cache, b)?;
    if own.config.name != other.config.name {
        let large = CacheArgs { cache: Some(Touched::PRESETS[1].into()), ..args.cache.clone() };
        let why = "one of the two touches more than 64 KiB";
        own = Caches { why: Some(why.into()), ..open_cache(&large, a)? };
        other = Caches { why: Some(why.into()), ..open_cache(&large, b)? };
    }
    Ok([own, other])
}

fn number(count: Option<u64>) -> String {
    count.map_or_else(|| "-".into(), grouped)
}

/// `+1,234`, `-12`, `0`.
fn signed(pair: Pair) -> String {
    let difference = pair.difference();
    let size = grouped(u64::try_from(difference.unsigned_abs()).unwrap_or(u64::MAX));
    match difference.signum() {
        1 => format!("+{size}"),
        -1 => format!("-{size}"),
        _ => "0".into(),
    }
}

/// `-97.4%`; of nothing `-`.
fn change(pair: Pair) -> String {
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    match (pair.a, pair.b) {
        (Some(a), Some(b)) if a > 0 => format!("{:+.1}%", 100.0 * (b as f64 - a as f64) / a as f64),
        _ => "-".into(),
    }
}

fn cells(name: String, pair: Pair) -> Vec<String> {
    vec![name, number(pair.a), number(pair.b), signed(pair), change(pair)]
}

fn words(name: &str) -> String {
    name.replace('_', " ").replace("writebacks", "write-backs")
}

/// For people.
fn table(args: &CompareArgs, a: &Side, b: &Side, found: &Comparison, level: &str) -> anyhow::Result<String> {
    let mut out = String::new();
    for (letter, side) in [("A", a), ("B", b)] {
        let title = &side.title;
        let title = if title.is_empty() { String::new() } else { format!("  {}", shown::name(title)) };
        out += &format!("{letter}  {}{title}\n", shown::name(&side.name));
        let caches = &side.caches;
        out += &format!("   {}: {}", shown::name(&caches.config.name), describe(&caches.config)?);
        out += &caches.why.as_ref().map_or_else(String::new, |why| format!(" (because {why})"));
        out.push('\n');
    }
    let head = |first: &str| [first, "A", "B", "difference", "change"].map(String::from).to_vec();
    let rows = |name: &str, counters: &[Counted]| {
        let counters = counters.iter().filter(|counted| counted.counts.is_any());
        let rows = counters.map(|counted| cells(words(counted.name), counted.counts));
        [head(name)].into_iter().chain(rows).collect::<Vec<_>>()
    };
    out += &format!("\n{}", aligned(&rows("trace", &found.trace)));
    for LevelOf { name, counters } in levels(found) {
        out += &format!("\n{}", aligned(&rows(name, counters)));
    }
    for (what, all) in [("region", &found.regions), ("source line", &found.lines)] {
        let most = Comparison::most(all, level);
        if most.is_empty() {
            continue;
        }
        let rows = most.iter().take(args.rows).map(|row| cells(row.name.clone(), row.misses(level)));
        let rows: Vec<_> = [head(&format!("{level} misses by {what}"))].into_iter().chain(rows).collect();
        out += &format!("\n{}", aligned(&rows));
        if most.len() > args.rows {
            out += &format!("{} more; --rows {} shows all\n", grouped((most.len() - args.rows) as u64), most.len());
        }
    }
    Ok(out)
}

/// A level that is printed.
struct LevelOf<'a> {
    name: &'a str,
    counters: &'a [Counted],
}

fn levels(found: &Comparison) -> impl Iterator<Item = LevelOf<'_>> {
    let levels = found.levels.iter().map(|level| LevelOf { name: &level.name, counters: &level.counters });
    levels.filter(|level| level.counters.iter().any(|counted| counted.counts.is_any()))
}

fn csv(found: &Comparison) -> String {
    let mut out = String::from("table,name,counter,a,b,difference\n");
    let mut put = |table: &str, name: &str, counter: &str, pair: Pair| {
        let count = |count: Option<u64>| count.map_or_else(String::new, |count| count.to_string());
        let (name, counter) = (quoted(&shown::line(name)), quoted(&shown::line(counter)));
        out += &format!("{table},{name},{counter},{},{},{}\n", count(pair.a), count(pair.b), pair.difference());
    };
    found.trace.iter().for_each(|counted| put("trace", "trace", counted.name, counted.counts));
    for level in &found.levels {
        level.counters.iter().for_each(|counted| put("level", &level.name, counted.name, counted.counts));
    }
    for (table, rows) in [("region", &found.regions), ("line", &found.lines)] {
        for row in rows {
            put(table, &row.name, "references", row.references);
            row.by_level().for_each(|(level, pair)| put(table, &row.name, &format!("{level} misses"), pair));
        }
    }
    out
}

/// What is compared, keys by their names.
#[derive(Serialize)]
struct AsJson<'a> {
    a: Value,
    b: Value,
    in_common: Value,
    levels: Vec<Value>,
    lines: RowsAsJson<'a>,
    regions: RowsAsJson<'a>,
    trace: Value,
}

/// Rows, of which there may be a million: each is made when it is written.
struct RowsAsJson<'a>(&'a [Changed]);

impl Serialize for RowsAsJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|row| {
            let misses: Map<_, _> = row.by_level().map(|(level, of)| (level.to_owned(), pair_as_json(of))).collect();
            json!({ "name": row.name, "references": pair_as_json(row.references), "misses": misses })
        }))
    }
}

fn pair_as_json(pair: Pair) -> Value {
    // Counts of one trace are far below what JSON's numbers hold.
    let difference = i64::try_from(pair.difference()).unwrap_or(i64::MAX);
    json!({ "a": pair.a, "b": pair.b, "difference": difference })
}

fn as_json<'a>(a: &Side, b: &Side, found: &'a Comparison) -> AsJson<'a> {
    let counters = |counters: &[Counted]| -> Value {
        let counter = |counted: &Counted| (counted.name.to_owned(), pair_as_json(counted.counts));
        counters.iter().map(counter).collect::<Map<_, _>>().into()
    };
    let side = |side: &Side| json!({ "trace": side.name, "title": side.title, "caches": CachesUsed::of(&side.caches) });
    let (regions, lines) = found.in_common();
    let level = |level: &LevelPair| json!({ "name": level.name, "counters": counters(&level.counters) });
    AsJson {
        a: side(a),
        b: side(b),
        in_common: json!({ "regions": regions, "lines": lines }),
        levels: found.levels.iter().map(level).collect(),
        lines: RowsAsJson(&found.lines),
        regions: RowsAsJson(&found.regions),
        trace: counters(&found.trace),
    }
}
