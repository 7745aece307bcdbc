//! `orrery annotate`: the source, with hits and misses beside each line.

use super::UsageError;
use super::caches::describe;
use super::open::{Caches, open_cache, open_trace};
use super::stats::{CachesUsed, percent, to_stdout};
use super::told::Told;
use super::written::write_whole;
use crate::cli::AnnotateArgs;
use crate::opening::SourceText;
use crate::reference::Tables;
use crate::shown::{self, say};
use crate::sim::stats::{Detail, LineStats, UNKNOWN, collect_detail};
use crate::units::grouped;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Counts of a line, or of many.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
struct Counts {
    references: u64,
    /// By level, from the CPU outward.
    misses: Vec<u64>,
}

impl Counts {
    fn add(&mut self, line: &LineStats) {
        self.references += line.references;
        self.misses.resize(line.misses.len().max(self.misses.len()), 0);
        self.misses.iter_mut().zip(&line.misses).for_each(|(sum, (_, misses))| *sum += misses);
    }
}

/// A line of a source.
#[derive(Clone, Debug, Default, Serialize)]
struct Line {
    line: u32,
    text: String,
    #[serde(flatten)]
    counts: Counts,
}

/// A source file.
#[derive(Clone, Debug, Default, Serialize)]
struct AnnotatedFile {
    file: String,
    #[serde(flatten)]
    counts: Counts,
    /// Those with references.
    lines: BTreeMap<u32, Line>,
}

/// Opens what `args` name and prints the annotated sources to standard output.
///
/// # Errors
/// When trace or caches are not to be had, no file has a name that is asked for, or the output cannot be written.
pub(super) fn run(args: &AnnotateArgs) -> anyhow::Result<()> {
    let source = open_trace(&args.trace)?;
    let caches = open_cache(&args.cache, source.as_ref())?;
    let stats =
        collect_detail(&Told::new(source.as_ref()), &caches.config, Detail { lines: true, classes: false }, false)?;
    let (mut all, mut unknown) = (Counts::default(), Counts::default());
    let mut files: BTreeMap<&str, AnnotatedFile> = BTreeMap::new();
    for line in &stats.lines {
        all.add(line);
        if line.file == UNKNOWN {
            unknown.add(line);
            continue;
        }
        let file = files
            .entry(&line.file)
            .or_insert_with(|| AnnotatedFile { file: line.file.clone(), ..AnnotatedFile::default() });
        file.counts.add(line);
        // A line of two functions (a template, a macro) is one line of the source.
        let row = file.lines.entry(line.line).or_insert_with(|| Line {
            line: line.line,
            text: line.text.clone(),
            ..Line::default()
        });
        row.counts.add(line);
    }
    let asked = |file: &&AnnotatedFile| args.file.is_empty() || args.file.iter().any(|end| file.file.ends_with(end));
    let mut chosen: Vec<&AnnotatedFile> = files.values().filter(asked).collect();
    if chosen.is_empty() && !files.is_empty() {
        let names: Vec<&str> = files.keys().copied().take(12).collect();
        let asked = args.file.join(",");
        return Err(
            UsageError(format!("--file {asked}: the trace has no such source; it has {}", names.join(", "))).into()
        );
    }
    // Those that miss most come first.
    chosen.sort_by_key(|file| std::cmp::Reverse(file.counts.misses.clone()));
    if args.json {
        return to_stdout(true, |out| {
            let files: Vec<serde_json::Value> = chosen.iter().map(|file| {
                let lines: Vec<&Line> = file.lines.values().collect();
                serde_json::json!({ "file": file.file, "references": file.counts.references, "misses": file.counts.misses, "lines": lines })
            }).collect();
            let levels: Vec<&str> = caches.config.levels.iter().map(|level| level.name.as_str()).collect();
            let value = serde_json::json!({ "caches": CachesUsed::of(&caches), "levels": levels, "total": all, "unknown": unknown, "files": files });
            serde_json::to_writer_pretty(&mut *out, &value).map_err(std::io::Error::from)?;
            writeln!(out)?;
            Ok(out.flush()?)
        });
    }
    let colour = shown::is_read_by_people() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let page = Page { args, tables: source.tables(), caches: &caches, all: &all, unknown: &unknown, colour };
    let text = page.text(&chosen)?;
    // Every part of a line was made fit by itself, so that the colours stay.
    write_whole(Path::new("-"), text.as_bytes())
}

/// What is printed for people.
struct Page<'a> {
    args: &'a AnnotateArgs,
    tables: &'a Tables,
    caches: &'a Caches,
    all: &'a Counts,
    unknown: &'a Counts,
    colour: bool,
}

/// Columns of a table: counts to the right, text behind them.
struct Columns(Vec<usize>);

impl Page<'_> {
    fn text(&self, files: &[&AnnotatedFile]) -> anyhow::Result<String> {
        let Caches { config, .. } = self.caches;
        let mut out = format!("{}: {}\n\n", shown::name(&config.name), describe(config)?);
        let mut head = vec!["references".to_owned()];
        for level in &config.levels {
            head.extend([format!("{} misses", shown::name(&level.name)), "rate".into()]);
        }
        let columns = Columns::of(&[&head, &self.cells(self.all)]);
        out.push_str(&format!("{}  {:>5}  source\n", columns.row(&head), "line"));
        out.push_str(&format!("{}  {:>5}  all references\n", columns.row(&self.cells(self.all)), ""));
        if self.unknown.references > 0 {
            let words = "of unknown source lines (orrery convert --program stores them)";
            out.push_str(&format!("{}  {:>5}  {words}\n", columns.row(&self.cells(self.unknown)), ""));
        }
        for file in files {
            self.file(file, &columns, &mut out);
        }
        Ok(out)
    }

    fn cells(&self, counts: &Counts) -> Vec<String> {
        let mut cells = vec![grouped(counts.references)];
        for level in 0..self.caches.config.levels.len() {
            let misses = counts.misses.get(level).copied().unwrap_or(0);
            cells.extend([grouped(misses), percent(misses, counts.references)]);
        }
        cells
    }

    fn file(&self, file: &AnnotatedFile, columns: &Columns, out: &mut String) {
        let found = SourceText::find(&file.file, self.tables.path_of(&file.file), &self.args.trace.trace);
        let known = file.lines.values().map(|line| (line.line, line.text.as_str()));
        let changed = found.as_ref().and_then(|found| found.changed(known));
        if let (Some(line), Some(found)) = (changed, &found) {
            let path = found.path.display();
            say!("note: {path}:{line} is not as it was when the program was recorded; the text is the trace's own");
        }
        let today = found.filter(|_| changed.is_none());
        let name = shown::name(&file.file);
        out.push_str(&format!("\n{}  {:>5}  {name}\n", columns.row(&self.cells(&file.counts)), ""));
        let mut last = 0;
        for line in file.lines.values() {
            let context = self.args.context;
            if let Some(SourceText { lines, .. }) = &today {
                // What lies between two lines with references, or so much of it as is asked for.
                let before = line.line.saturating_sub(context).max(last + 1);
                let behind = if last == 0 { 0 } else { (last + context).min(line.line - 1) };
                for number in last + 1..=behind.min(before.saturating_sub(1)) {
                    Self::quiet(lines, number, columns, out);
                }
                if before > behind + 1 && last > 0 {
                    out.push_str(&format!("{}  {:>5}\n", columns.row(&[]), "..."));
                }
                for number in before.max(behind.min(before.saturating_sub(1)) + 1)..line.line {
                    Self::quiet(lines, number, columns, out);
                }
            } else if last > 0 && line.line > last + 1 {
                out.push_str(&format!("{}  {:>5}\n", columns.row(&[]), "..."));
            }
            let number = usize::try_from(line.line).unwrap_or(0);
            let full = today.as_ref().and_then(|today| today.lines.get(number.checked_sub(1)?));
            let text = full.map_or(line.text.as_str(), |full| full);
            let row = format!("{}  {:>5}  {}", columns.row(&self.cells(&line.counts)), line.line, tabs(text));
            out.push_str(&self.painted(&row, &line.counts));
            last = line.line;
        }
        if let Some(SourceText { lines, .. }) = &today {
            for number in last + 1..=(last + self.args.context).min(u32::try_from(lines.len()).unwrap_or(u32::MAX)) {
                Self::quiet(lines, number, columns, out);
            }
        }
    }

    /// A line without references.
    fn quiet(lines: &[String], number: u32, columns: &Columns, out: &mut String) {
        let text = usize::try_from(number).ok().and_then(|number| lines.get(number.checked_sub(1)?));
        let row = format!("{}  {number:>5}  {}", columns.row(&[]), tabs(text.map_or("", |text| text)));
        out.push_str(row.trim_end());
        out.push('\n');
    }

    /// A line, in colour by its share of the innermost level's misses: red past a tenth, yellow past a hundredth.
    fn painted(&self, row: &str, counts: &Counts) -> String {
        let of = |counts: &Counts| counts.misses.first().copied().unwrap_or(0);
        let (part, whole) = (of(counts), of(self.all).max(1));
        let code = match (u128::from(part) * 100).div_ceil(u128::from(whole)) {
            share if share > 10 => "1;31",
            share if share > 1 => "33",
            _ => "",
        };
        if self.colour && !code.is_empty() { format!("\x1b[{code}m{row}\x1b[0m\n") } else { format!("{row}\n") }
    }
}

/// A line of source as it is shown: blanks for tabs, nothing that acts.
fn tabs(text: &str) -> String {
    shown::short(&text.replace('\t', "    "), 160).into_owned()
}

impl Columns {
    fn of(rows: &[&[String]]) -> Self {
        let mut widths = Vec::new();
        for row in rows {
            widths.resize(row.len().max(widths.len()), 0);
            widths.iter_mut().zip(*row).for_each(|(width, cell)| *width = shown::width(cell).max(*width));
        }
        Self(widths)
    }

    /// Cells to the right; blanks where there are none.
    fn row(&self, cells: &[String]) -> String {
        let cell = |(n, width): (usize, &usize)| format!("{:>width$}", cells.get(n).map_or("", String::as_str));
        self.0.iter().enumerate().map(cell).collect::<Vec<_>>().join("  ")
    }
}
