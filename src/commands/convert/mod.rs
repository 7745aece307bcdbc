//! `orrery convert`: any readable trace into one that can be written, filtered and given its tables on the way.

use super::UsageError;
use super::counting::Counting;
use super::heard::length;
use super::written::not_over;
use crate::capture::naming::{Names, Pcs};
use crate::cli::ConvertArgs;
use crate::files::read_text;
use crate::opening::FileKind;
use crate::reference::{Mark, Region, SourceLocation, Tables};
use crate::shown::say;
use crate::symbols::Module;
use crate::trace::write::{TraceWriter, WriteFormat};
use crate::trace::{self, CoreCells, Filter, Marker, Stream};
use crate::units::{counted, grouped};
use anyhow::{Context, bail};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::Path;

mod conditions;
pub(super) use conditions::parse_range;
use conditions::{conditions, parse_between};

/// Bytes of `--tables` at most: some million regions.
const MAX_TABLES: u64 = 256 << 20;

/// What `--tables` may say: a trace's tables, and how to find the program's marks in its log.
#[derive(Debug, Default)]
struct Given {
    tables: Tables,
    /// Cell whose first store opens the log.
    start: Option<u64>,
    /// Cell whose next store closes it.
    stop: Option<u64>,
    /// Cells whose stores are named marks.
    markers: Vec<Marker>,
    /// Cells whose stores say which core goes on.
    cores: Option<CoreCells>,
}

/// [`Given`] as it stands in the file. (To flatten the tables into it would hold all of it once more while it is read.)
#[derive(Default, Deserialize)]
#[serde(default)]
struct Written {
    title: String,
    subtitle: String,
    regions: Vec<Region>,
    locations: Vec<SourceLocation>,
    marks: Vec<Mark>,
    made_by: String,
    start: Option<u64>,
    stop: Option<u64>,
    markers: Vec<Marker>,
    cores: Option<CoreCells>,
}

/// Converts, and says in one line on standard error what came of it.
///
/// # Errors
/// When the trace or the tables cannot be read, nothing is left after filtering, or the file cannot be written.
pub(super) fn run(args: &ConvertArgs) -> anyhow::Result<()> {
    let format = format(args)?;
    if !conditions_given(args).is_empty() {
        not_over("--output", &args.output, &args.trace.trace, "what is left out would be lost")?;
    }
    if format == WriteFormat::Native
        && args.tables.is_none()
        && args.program.is_none()
        && conditions_given(args).is_empty()
        && let Some(references) = super::cc::convert(&args.trace.trace, &args.output)?
    {
        say!("{}: {}", shown_name(&args.output), counted(references, "reference"));
        return Ok(());
    }
    #[cfg(target_os = "linux")]
    if format == WriteFormat::Native && super::capture::convert(&args.trace.trace, &args.output)? {
        return Ok(());
    }
    let given = args.tables.as_deref().map(read_tables).transpose()?;
    if let Some(error) = FileKind::of(&args.trace.trace, args.trace.format).why_no_trace(&args.trace.trace) {
        return Err(error.into());
    }
    let mut stream = Stream::open(&args.trace.trace, args.trace.format)?;
    let own = stream.tables();
    let has_own = own != Tables::default();
    let Given { mut tables, start, stop, markers, cores } = match given {
        Some(given) => merge(given, own),
        None => Given { tables: own, ..Given::default() },
    };
    let mut filter = Filter::new().with_markers(markers).with_cores(cores);
    let between = args.between.as_deref().map(parse_between).transpose()?.or(start.zip(stop));
    let given_marks = between.is_some();
    if let Some((start, stop)) = between {
        filter = filter.between(start, stop);
    }
    let mut chunk = Vec::new();
    stream.next_chunk(&mut chunk)?;
    filter = conditions(args, &tables, &chunk, filter)?;

    // Where references are left out, so are the source lines that only they have.
    let mut pcs = (given_marks || !conditions_given(args).is_empty()).then(Pcs::new);
    let mut names = args.program.as_deref().map(|p| Module::open(p).map(Names::new)).transpose()?;
    let mut writer = TraceWriter::create(&args.output, format)?;
    let mut read = 0u64;
    let mut progress = Counting::new();
    while !chunk.is_empty() {
        read += chunk.len() as u64;
        filter.apply(&mut chunk);
        if let Some(names) = &mut names {
            names.note(&chunk);
        }
        if let Some(pcs) = &mut pcs {
            pcs.note(chunk.iter());
        }
        writer.write(&chunk)?;
        progress.update((read, writer.len()), stream.bytes());
        if filter.is_over() {
            break;
        }
        stream.next_chunk(&mut chunk)?;
    }
    drop(progress);
    for notice in stream.notices() {
        say!("warning: {notice}");
    }
    if !filter.has_started() {
        let (start, _) = between.unwrap_or_default();
        bail!("no store to the start mark 0x{start:x} in {read} references; check that the program reached its start");
    }
    if between.is_some() && !filter.has_stopped() {
        say!("warning: no store to the stop mark; kept everything up to the end of the trace");
    }
    if !has_own {
        // Foreign formats tell what they know at their end.
        tables = merge(Given { tables, ..Given::default() }, stream.tables()).tables;
    }
    // With tables of its own, of a million regions perhaps, which are written next.
    drop(stream);
    filter.renumber(&mut tables);
    if !args.only.is_empty() {
        // The others would be empty arrays in the picture.
        tables.regions.retain(|region| conditions::is_named(&args.only, region));
    }
    if let Some(pcs) = pcs {
        tables.locations.retain(|location| pcs.contains(location.pc));
    }
    tables.marks.extend_from_slice(filter.marks());
    if let Some((names, program)) = names.zip(args.program.as_deref()) {
        let (locations, regions, notices) = names.finish(program);
        notices.iter().for_each(|notice| say!("warning: {notice}"));
        tables.locations = locations;
        if tables.regions.is_empty() {
            tables.regions = regions;
        }
    }
    let kept = writer.len();
    if kept == 0 {
        let given = conditions_given(args);
        let loosen = if given.is_empty() { "the marks of --tables".to_owned() } else { given.join(", ") };
        bail!("no references to write: of the {read} read none is left; loosen {loosen}");
    }
    for notice in writer.finish(&tables)? {
        say!("note: {notice}");
    }
    report(args, read, kept, &tables, filter.is_over() && !filter.has_stopped());
    Ok(())
}

/// The format to write.
///
/// # Errors
/// Where the name asks for none that can be written.
fn format(args: &ConvertArgs) -> Result<WriteFormat, UsageError> {
    let found = args.output.display();
    let Some(format) = args.to.or_else(|| WriteFormat::of(&args.output)) else {
        return Err(UsageError(format!(
            "--output: found `{found}`; expected a name that ends in .orrery, .parquet, .lackey, .din or .csv, the last three \
             also with .gz, .zst, .xz or .bz2; --to says the format of other names"
        )));
    };
    if !format.suits(&args.output) {
        return Err(UsageError(format!(
            "--output: found `{found}` for a native file; expected a name that ends in .orrery: it is packed within"
        )));
    }
    Ok(format)
}

/// The flags given that leave references out.
fn conditions_given(args: &ConvertArgs) -> Vec<&'static str> {
    let all = [
        ("--only-regions", args.only_regions),
        ("--only", !args.only.is_empty()),
        ("--function", !args.function.is_empty()),
        ("--file", !args.file.is_empty()),
        ("--addr", !args.addr.is_empty()),
        ("--core", !args.core.is_empty()),
        ("--kind", !args.kind.is_empty()),
        ("--range", args.range.is_some()),
        ("--sample", args.sample.is_some()),
        ("--between", args.between.is_some()),
    ];
    all.into_iter().filter(|(_, given)| *given).map(|(flag, _)| flag).collect()
}

/// Of `-` what it stands for.
fn shown_name(output: &Path) -> String {
    if output == Path::new("-") { "standard output".to_owned() } else { output.display().to_string() }
}

fn report(args: &ConvertArgs, read: u64, kept: u64, tables: &Tables, is_cut: bool) {
    // What comes after the end of a range is not read, so nobody knows how much it is.
    let first = if is_cut { "the first " } else { "" };
    let size = if args.output == Path::new("-") { String::new() } else { length(&args.output) };
    let lines = tables.locations.iter().map(|l| (&l.file, l.line)).collect::<BTreeSet<_>>().len();
    say!(
        "{}: {} of {first}{}, {}, {}, {}{size}",
        shown_name(&args.output),
        grouped(kept),
        counted(read, "reference"),
        counted(tables.regions.len() as u64, "region"),
        counted(lines as u64, "source line"),
        counted(tables.marks.len() as u64, "mark"),
    );
}

/// What is given replaces what the trace says, table by table; the rest stays.
fn merge(mut given: Given, own: Tables) -> Given {
    fn or<T: Default + PartialEq>(mine: &mut T, theirs: T) {
        if *mine == T::default() {
            *mine = theirs;
        }
    }
    let t = &mut given.tables;
    or(&mut t.title, own.title);
    or(&mut t.subtitle, own.subtitle);
    or(&mut t.regions, own.regions);
    or(&mut t.locations, own.locations);
    or(&mut t.marks, own.marks);
    or(&mut t.made_by, own.made_by);
    given
}

fn read_tables(path: &Path) -> anyhow::Result<Given> {
    let name = path.display();
    let text = read_text(path, MAX_TABLES).with_context(|| format!("{name}: the tables cannot be read"))?;
    const KEYS: &str = "title, subtitle, regions, locations, marks, made_by, markers, cores, start, stop";
    let mut unknown = Vec::new();
    // A list of values in their order would be read, too.
    if !text.trim_start().starts_with('{') {
        bail!("{name}: found no object of JSON; expected {{ ... }} with {KEYS}");
    }
    let mut json = serde_json::Deserializer::from_str(&text);
    let written: Written = serde_ignored::deserialize(&mut json, |path| unknown.push(path.to_string()))
        .and_then(|written| json.end().map(|()| written))
        .with_context(|| format!("{name}: expected JSON with {KEYS}"))?;
    if let Some(first) = unknown.first() {
        bail!(
            "{name}: found the unknown key `{first}`; expected {KEYS}, with the keys in them that docs/formats.md shows"
        );
    }
    let Written { title, subtitle, regions, locations, marks, made_by, start, stop, markers, cores } = written;
    let tables = Tables { title, subtitle, regions, locations, marks, made_by };
    let given = Given { tables, start, stop, markers, cores };
    trace::check_tables(&name.to_string(), &given.tables)?;
    Ok(given)
}
