//! `orrery report`: all that is known about a trace, as one page.

use super::UsageError;
use super::advise;
use super::caches::describe;
use super::charts;
use super::open::{Caches, open_cache, open_trace};
use super::told::Told;
use super::written::{not_over, write_whole};
use crate::analysis::{Blame, Explanation, explain, play};
use crate::chart::{ChartKind, Look};
use crate::cli::{CacheArgs, ReportArgs};
use crate::opening::SourceText;
use crate::reference::{ReferenceSource, Tables};
use crate::report::{Excerpt, Report};
use crate::scene::palette::Theme;
use crate::shown;
use crate::sim::prepare;
use crate::sim::stats::{Detail, Stats, UNKNOWN, collect_detail};
use crate::units::LevelId;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

/// Source lines and references that are told.
const FEW: usize = 3;
/// Lines around one that is told.
const AROUND: u32 = 3;

/// The form of charts on a page.
const PAGE: (u32, u32) = (1280, 720);

/// Writes the page.
///
/// # Errors
/// When trace or caches are not to be had or do not go together, or the file cannot be written.
pub(super) fn run(args: &ReportArgs) -> anyhow::Result<()> {
    check_output(args)?;
    let opened = open_trace(&args.trace)?;
    let source = &opened;
    let caches = open_cache(&args.cache, source.as_ref())?;
    let (source, config) = (source.as_ref(), &caches.config);
    // Of a million regions each step takes much, so one is done before the next begins, and the numbers of all come last.
    let ahead = config.levels.iter().any(|level| level.policy.about().needs_future);
    let advice = if ahead { Vec::new() } else { advise::of(source, &caches)? };
    let told = Told::new(source);
    let mut blame = Blame::new(&prepare(config, source)?, &[], source.tables());
    play(&told, config, &mut blame)?;
    drop(told);
    let (offenders, worst) = (blame.offenders(0, FEW), blame.worst(0, FEW));
    drop(blame);
    let mut notes = Vec::new();
    if ahead {
        notes.push("A level has policy opt, which looks ahead in this very trace: no changed trace can be played, so nothing is advised.".to_owned());
    }
    if source.tables().regions.is_empty() {
        notes.push("The trace names no arrays (orrery convert --tables or --program stores them).".to_owned());
    }
    // What advice is about comes first, then what misses most.
    let mut ticks: Vec<u64> = advice.iter().filter_map(|advice| advice.example).collect();
    ticks.extend(worst);
    let mut explained: Vec<Explanation> = Vec::new();
    for tick in ticks {
        if explained.len() < FEW && explained.iter().all(|told| told.reference != tick) {
            explained.push(explain(source, config, tick)?);
        }
    }
    let name = args.trace.trace.to_string_lossy().into_owned();
    let title = if source.tables().title.is_empty() { &name } else { &source.tables().title };
    let charts =
        charts::draw(source, &caches, &ChartKind::ALL, LevelId(0), &name, Look::of_pixels(Theme::Print, PAGE))?;
    let stills = stills(&opened, &caches, &explained)?;
    let stats = collect_detail(&Told::new(source), config, Detail { lines: true, classes: true }, false)?;
    let report = Report {
        title: title.clone(),
        trace: name.clone(),
        caches: in_words(&caches)?,
        stats: &stats,
        charts,
        offenders: &offenders,
        excerpts: excerpts(&stats, source.tables(), &args.trace.trace),
        advice: &advice,
        explained: &explained,
        stills,
        commands: commands(args),
        notes,
        made_by: format!("Made by orrery {}.", env!("CARGO_PKG_VERSION")),
    };
    write_whole(&args.output, report.page().as_bytes())
}

/// Says what cannot be written before all is simulated.
fn check_output(args: &ReportArgs) -> Result<(), UsageError> {
    let output = &args.output;
    let is_page = |ending: &OsStr| ["html", "htm", "xhtml"].iter().any(|known| ending.eq_ignore_ascii_case(known));
    // What is a folder or a device is refused as such.
    let is_special = output.metadata().is_ok_and(|about| !about.is_file());
    match output.extension() {
        Some(ending) if !is_special && !is_page(ending) => {
            return Err(UsageError(format!(
                "--output {}: found the ending .{}; expected .html, or - for standard output",
                shown::name(&output.to_string_lossy()),
                shown::name(&ending.to_string_lossy())
            )));
        }
        _ => {}
    }
    not_over("--output", output, &args.trace.trace, "the page would take the place of the trace")
}

/// The caches at what is explained; none in a program without graphics.
#[cfg(feature = "gpu")]
fn stills(
    source: &std::sync::Arc<dyn ReferenceSource>,
    caches: &Caches,
    explained: &[Explanation],
) -> anyhow::Result<Vec<Option<String>>> {
    let ticks: Vec<u64> = explained.iter().map(|told| told.reference).collect();
    super::report_stills::stills(source, caches, &ticks)
}

#[cfg(not(feature = "gpu"))]
#[expect(clippy::unnecessary_wraps, reason = "with graphics it may fail")]
fn stills(
    _: &std::sync::Arc<dyn ReferenceSource>,
    _: &Caches,
    _: &[Explanation],
) -> anyhow::Result<Vec<Option<String>>> {
    Ok(Vec::new())
}

fn in_words(caches: &Caches) -> anyhow::Result<String> {
    let why = caches.why.as_ref().map_or_else(String::new, |why| format!(" (because {why})"));
    Ok(format!("{}: {}{why}", caches.config.name, describe(&caches.config)?))
}

/// The lines that miss most, with those around them: as the sources are today where these agree with the trace, else as the trace has them.
fn excerpts(stats: &Stats, tables: &Tables, trace: &Path) -> Vec<Excerpt> {
    let first = |misses: &[(std::sync::Arc<str>, u64)]| misses.first().map_or(0, |(_, count)| *count);
    let mut files: BTreeMap<&str, BTreeMap<u32, (&str, u64, u64)>> = BTreeMap::new();
    for line in stats.lines.iter().filter(|line| line.file != UNKNOWN && line.line > 0) {
        let row = files.entry(&line.file).or_default().entry(line.line).or_insert((&line.text, 0, 0));
        (row.1, row.2) = (row.1 + line.references, row.2 + first(&line.misses));
    }
    let mut worst: Vec<(u64, &str, u32)> =
        files.iter().flat_map(|(file, lines)| lines.iter().map(move |(line, row)| (row.2, *file, *line))).collect();
    worst.sort_by_key(|(misses, file, line)| (std::cmp::Reverse(*misses), *file, *line));
    worst.retain(|(misses, ..)| *misses > 0);
    worst.truncate(FEW);
    let mut out: Vec<Excerpt> = Vec::new();
    for (file, lines) in &files {
        let told: Vec<u32> = worst.iter().filter(|(_, of, _)| of == file).map(|(_, _, line)| *line).collect();
        if told.is_empty() {
            continue;
        }
        let known = || lines.iter().map(|(line, (text, ..))| (*line, *text));
        let today =
            SourceText::find(file, tables.path_of(file), trace).filter(|found| found.changed(known()).is_none());
        let near = |line: &u32| told.iter().any(|other| line.abs_diff(*other) <= AROUND);
        let row = |line: u32| {
            let place = usize::try_from(line).ok().and_then(|line| line.checked_sub(1));
            let text = today.as_ref().zip(place).and_then(|(today, place)| today.lines.get(place));
            let counted = lines.get(&line);
            let text = text.cloned().or_else(|| counted.map(|(text, ..)| (*text).to_owned()))?;
            Some((line, text, counted.map(|(_, references, misses)| (*references, *misses))))
        };
        let last = told.iter().max().copied().unwrap_or(0) + AROUND;
        let rows = (1..=last).filter(near).filter_map(row).collect();
        out.push(Excerpt { file: (*file).to_owned(), lines: rows });
    }
    out
}

/// What makes the page again, and what tells more.
fn commands(args: &ReportArgs) -> Vec<(String, String)> {
    let trace = shown::quoted(&args.trace.trace.to_string_lossy()).into_owned();
    let mut flags = flags(&args.cache);
    if let Some(format) = args.trace.format {
        flags = format!(" --format {}{flags}", format.name());
    }
    let output = shown::quoted(&args.output.to_string_lossy()).into_owned();
    [
        ("This page.", format!("report {trace}{flags} -o {output}")),
        ("The numbers, also as data.", format!("stats {trace}{flags} --by line,function --json")),
        ("The source with misses beside each line.", format!("annotate {trace}{flags}")),
        ("What would help.", format!("advise {trace}{flags}")),
        ("One chart.", format!("chart {trace} miss-ratio{flags} -o curve.svg")),
    ]
    .into_iter()
    .map(|(what, command)| (what.to_owned(), format!("orrery {command}")))
    .collect()
}

/// The flags of caches, as they were given.
fn flags(cache: &CacheArgs) -> String {
    let CacheArgs { cache, l1, l2, l3, data_only, cores, seed, scores } = cache;
    let mut out = String::new();
    for (flag, value) in [("cache", cache), ("l1", l1), ("l2", l2), ("l3", l3), ("scores", scores)] {
        if let Some(value) = value {
            out += &format!(" --{flag} {}", shown::quoted(value));
        }
    }
    if *data_only {
        out += " --data-only";
    }
    out += &cores.map_or_else(String::new, |cores| format!(" --cores {cores}"));
    out += &seed.map_or_else(String::new, |seed| format!(" --seed {seed}"));
    out
}
