//! What was found about a trace as one page of HTML: complete by itself, without scripts, read on light and dark grounds and on paper.
//!
//! Every word that comes from a trace goes through [`escaped`]: it is seen, and does nothing.

use crate::analysis::{Advice, Explanation, Offender};
use crate::chart::{Chart, css, escaped, properties};
use crate::scene::palette::Theme;
use crate::sim::stats::{LevelStats, Stats};
use crate::units::{counted, grouped};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Rows of a table at most.
const ROWS: usize = 12;
/// A line stands out that has one in so many of the misses.
const STRONG: u64 = 20;

/// Number, text, references and misses of a source line.
pub type ExcerptLine = (u32, String, Option<(u64, u64)>);

/// By level: its name, and misses.
type Misses = Vec<(std::sync::Arc<str>, u64)>;

/// A stretch of a source file.
#[derive(Clone, Debug, Default)]
pub struct Excerpt {
    /// Name of the file.
    pub file: String,
    /// Number, text, references and misses of the innermost level; lines that refer have counts.
    pub lines: Vec<ExcerptLine>,
}

/// What a page is made of.
#[derive(Debug)]
pub struct Report<'a> {
    /// What the trace is called.
    pub title: String,
    /// Name of the trace as it was given.
    pub trace: String,
    /// The caches in a line, and why these.
    pub caches: String,
    /// All counts.
    pub stats: &'a Stats,
    /// Charts, in their order.
    pub charts: Vec<Chart>,
    /// Source lines that cause most misses of the innermost level.
    pub offenders: &'a [Offender],
    /// Their sources.
    pub excerpts: Vec<Excerpt>,
    /// What would help.
    pub advice: &'a [Advice],
    /// The worst references, told.
    pub explained: &'a [Explanation],
    /// The caches at these references, as files of SVG, in the same order; none where nothing was drawn.
    pub stills: Vec<Option<String>>,
    /// What the commands tell, and how they are written, ready for a shell.
    pub commands: Vec<(String, String)>,
    /// What is missing, and why.
    pub notes: Vec<String>,
    /// What made the page.
    pub made_by: String,
}

const STYLE: &str = "
:root{color-scheme:light dark}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--body);font:16px/1.5 system-ui,'Noto Sans','DejaVu Sans',sans-serif}
main{max-width:1040px;margin:0 auto;padding:24px 20px 64px}
h1,h2,h3{color:var(--ink);line-height:1.25;overflow-wrap:anywhere}
h1{font-size:28px;margin:0 0 4px}h2{font-size:20px;margin:40px 0 8px;border-top:1px solid var(--rule);padding-top:16px}h3{font-size:16px;margin:20px 0 4px}
p{margin:6px 0;overflow-wrap:anywhere}
.quiet{color:var(--quiet)}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:14px;font-variant-numeric:tabular-nums}
th,td{padding:3px 12px 3px 0;text-align:right;white-space:nowrap;border-bottom:1px solid var(--rule)}
th:first-child,td:first-child{text-align:left}
th{color:var(--quiet);font-weight:600}
td.name{max-width:46ch;overflow:hidden;text-overflow:ellipsis}
pre,code{font:13px/1.45 ui-monospace,'DejaVu Sans Mono',monospace}
pre{background:var(--soft);padding:10px 12px;overflow-x:auto;margin:6px 0}
pre b{color:var(--mark);font-weight:600}
figure{margin:16px 0;overflow-x:auto}
img.still{display:block;width:100%;height:auto;border-radius:6px}
svg.chart{display:block;width:100%;min-width:560px;height:auto}
.charts{display:grid;grid-template-columns:1fr;gap:8px}
@media(max-width:600px){.share{display:none}td.name{max-width:15ch}table{font-size:12.5px}th,td{padding-right:8px}}
@media print{main{max-width:none;padding:0}h2,h3{break-after:avoid}tr{break-inside:avoid}figure,pre,.advice{break-inside:avoid}.wide,figure,pre{overflow:visible}pre{white-space:pre-wrap}svg.chart{min-width:0}}
";

impl Report<'_> {
    /// The page.
    #[must_use]
    pub fn page(&self) -> String {
        let mut out = String::from("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        out.push_str("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n");
        // Whatever a trace's names hold, nothing is loaded and nothing runs.
        out.push_str(
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">\n",
        );
        let _ = writeln!(out, "<title>{}</title>\n<style>{STYLE}", escaped(&self.title));
        let (light, dark) = (properties(Theme::Print), properties(Theme::Dark));
        let _ = writeln!(
            out,
            ":root{{{light}}}\n@media(prefers-color-scheme:dark){{:root{{{dark}}}}}\n@media print{{:root{{{light}}}}}"
        );
        let _ = writeln!(out, "@media(prefers-color-scheme:dark){{\n{}}}", css(".chart", Theme::Dark));
        let _ = writeln!(out, "@media print{{\n{}}}\n</style>\n</head>\n<body>\n<main>", css(".chart", Theme::Print));
        let _ = writeln!(out, "<h1>{}</h1>", escaped(&self.title));
        let _ = writeln!(out, "<p class=\"quiet\">{}<br>{}</p>", escaped(&self.trace), escaped(&self.caches));
        self.notes.iter().for_each(|note| put(&mut out, note));
        self.numbers(&mut out);
        self.offending(&mut out);
        self.advised(&mut out);
        if !self.charts.is_empty() {
            out.push_str("<h2>Charts</h2>\n<div class=\"charts\">\n");
            for chart in &self.charts {
                let _ = writeln!(out, "<figure>{}</figure>", chart.inline());
            }
            out.push_str("</div>\n");
        }
        if !self.explained.is_empty() {
            out.push_str("<h2>Single references, explained</h2>\n");
            let advised = if self.advice.is_empty() { "" } else { "those that the advice is about, then " };
            put(
                &mut out,
                &format!(
                    "One example of each kind of miss: {advised}one of the source line and array that miss most, one of the next, and so on."
                ),
            );
        }
        for (n, told) in self.explained.iter().enumerate() {
            let place =
                told.location.as_ref().map_or_else(String::new, |at| format!(", {}:{}  {}", at.file, at.line, at.text));
            let _ = writeln!(out, "<h3>Reference {}{}</h3>", grouped(told.reference), escaped(&place));
            told.sentences.iter().for_each(|sentence| put(&mut out, sentence));
            if let Some(Some(svg)) = self.stills.get(n) {
                let _ = writeln!(
                    out,
                    "<figure><img class=\"still\" alt=\"The caches at reference {}, with the last references as trails\" src=\"{}\"></figure>",
                    grouped(told.reference),
                    as_address(svg)
                );
            }
        }
        self.tables(&mut out);
        out.push_str("<h2>The same again</h2>\n");
        for (what, command) in &self.commands {
            let _ = writeln!(out, "<p>{}</p>\n<pre>{}</pre>", escaped(what), code(command));
        }
        let _ = writeln!(out, "<p class=\"quiet\">{}</p>\n</main>\n</body>\n</html>", escaped(&self.made_by));
        out
    }

    fn numbers(&self, out: &mut String) {
        let trace = &self.stats.trace;
        out.push_str("<h2>Numbers</h2>\n");
        let _ = writeln!(
            out,
            "<p>{}: {}, {}{}, {}; {}.</p>",
            counted(trace.references, "reference"),
            counted(trace.reads, "read"),
            counted(trace.writes, "write"),
            trace.modifies(),
            counted(trace.fetches, "instruction fetch"),
            counted(trace.bytes, "byte")
        );
        let coherence = self.stats.levels.iter().any(|level| level.coherence > 0);
        let mut head = ["level", "demand accesses", "misses", "of accesses", "compulsory", "capacity", "conflict"]
            .map(String::from)
            .to_vec();
        if coherence {
            head.push("coherence".into());
        }
        head.extend(["evictions", "write-backs", "bytes in", "bytes out"].map(String::from));
        let level = |level: &LevelStats| {
            let mut row = vec![level.name.clone(), grouped(level.demand_accesses), grouped(level.demand_misses)];
            row.push(percent(level.demand_misses, level.demand_accesses));
            row.extend([level.compulsory, level.capacity, level.conflict].map(grouped));
            if coherence {
                row.push(grouped(level.coherence));
            }
            row.extend([level.evictions, level.writebacks, level.bytes_in, level.bytes_out].map(grouped));
            row
        };
        table(out, &head, self.stats.levels.iter().map(level));
        let memory = &self.stats.memory;
        let _ = writeln!(
            out,
            "<p>Memory: {} bytes read, {} bytes written. Classes are of all misses, write-backs from inside too.</p>",
            grouped(memory.bytes_read),
            grouped(memory.bytes_written)
        );
    }

    /// Counts by array, function and source line.
    fn tables(&self, out: &mut String) {
        out.push_str("<h2>Counts by array, function and line</h2>\n");
        put(out, "Those that miss most in the innermost level come first. Shares are of the references of the row.");
        let mut head = vec!["array".to_owned(), "references".to_owned()];
        for level in &self.stats.levels {
            head.extend([format!("{} misses", level.name), "share".into()]);
        }
        let put_row = |name: String, references: u64, misses: &mut dyn Iterator<Item = u64>| {
            let mut row = vec![name, grouped(references)];
            misses.for_each(|count| row.extend([grouped(count), percent(count, references)]));
            row
        };
        let row = |name: String, references: u64, misses: &[(std::sync::Arc<str>, u64)]| {
            put_row(name, references, &mut misses.iter().map(|(_, count)| *count))
        };
        let mut regions: Vec<_> = self.stats.regions.iter().filter(|region| region.references > 0).collect();
        let first = |misses: &[(std::sync::Arc<str>, u64)]| misses.first().map_or(0, |(_, count)| *count);
        regions.sort_by_key(|region| std::cmp::Reverse(region.misses.counts().first()));
        out.push_str("<h3>By array</h3>\n");
        let rows = regions.iter().take(ROWS);
        table(
            out,
            &head,
            rows.map(|r| put_row(r.name.to_owned(), r.references, &mut r.misses.counts().iter().copied())),
        );
        more(out, regions.len());
        let mut lines: Vec<_> = self.stats.lines.iter().filter(|line| line.line > 0).collect();
        if lines.is_empty() {
            put(out, "The trace names no source lines (orrery convert --program stores them).");
            return;
        }
        let mut functions: BTreeMap<&str, (u64, Misses)> = BTreeMap::new();
        for line in lines.iter().filter(|line| !line.function.is_empty()) {
            let (references, misses) = functions
                .entry(&line.function)
                .or_insert_with(|| (0, line.misses.iter().map(|(name, _)| (name.clone(), 0)).collect()));
            *references += line.references;
            misses.iter_mut().zip(&line.misses).for_each(|(sum, (_, count))| sum.1 += count);
        }
        let mut functions: Vec<_> = functions.into_iter().collect();
        functions.sort_by_key(|(_, (_, misses))| std::cmp::Reverse(first(misses)));
        if functions.len() > 1 {
            head[0] = "function".into();
            out.push_str("<h3>By function</h3>\n");
            let rows = functions.iter().take(ROWS);
            table(out, &head, rows.map(|(name, (references, misses))| row((*name).to_owned(), *references, misses)));
            more(out, functions.len());
        }
        lines.sort_by_key(|line| std::cmp::Reverse(first(&line.misses)));
        head[0] = "source line".into();
        out.push_str("<h3>By source line</h3>\n");
        let name = |line: &crate::sim::stats::LineStats| {
            let more = if line.text.is_empty() { &line.function } else { &line.text };
            format!("{}:{}  {more}", line.file, line.line)
        };
        table(out, &head, lines.iter().take(ROWS).map(|line| row(name(line), line.references, &line.misses)));
        more(out, lines.len());
    }

    fn offending(&self, out: &mut String) {
        if self.offenders.is_empty() {
            return;
        }
        let level = self.stats.levels.first().map_or("", |level| level.name.as_str());
        let all = self.stats.levels.first().map_or(0, |level| level.demand_misses);
        out.push_str("<h2>Who causes most misses</h2>\n");
        self.offenders.iter().for_each(|offender| put(out, &format!("{}.", offender.sentence(level))));
        for Excerpt { file, lines } in &self.excerpts {
            let _ = writeln!(
                out,
                "<h3>{}</h3>\n<pre>{:>12} {:>12}  line",
                escaped(file),
                "references",
                format!("{level} misses")
            );
            for (number, text, counts) in lines {
                let cells = counts.map_or_else(
                    || format!("{:>12} {:>12}", "", ""),
                    |(references, misses)| format!("{:>12} {:>12}", grouped(references), grouped(misses)),
                );
                let row = format!("{} {number:>5}  {}", escaped(&cells), code(&text.replace('\t', "    ")));
                let _ = match counts.is_some_and(|(_, misses)| misses > 0 && misses.saturating_mul(STRONG) >= all) {
                    true => writeln!(out, "<b>{row}</b>"),
                    false => writeln!(out, "{row}"),
                };
            }
            out.push_str("</pre>\n");
        }
    }

    fn advised(&self, out: &mut String) {
        out.push_str("<h2>What would help</h2>\n");
        if self.advice.is_empty() {
            put(out, "No known pattern whose remedy pays when it is simulated.");
        }
        for advice in self.advice {
            let names = advice.regions.join(", ");
            let _ = writeln!(
                out,
                "<div class=\"advice\"><h3>{}: {}</h3>",
                escaped(&names),
                escaped(advice.pattern.title())
            );
            advice.sentences().iter().for_each(|sentence| put(out, sentence));
            if !advice.places.is_empty() {
                out.push_str("<pre>");
                for place in &advice.places {
                    let (misses, references) = (grouped(place.misses), grouped(place.references));
                    let _ = writeln!(out, "{}  {misses} misses of {references} references", code(&place.line));
                }
                out.push_str("</pre>\n");
            }
            out.push_str("</div>\n");
        }
    }
}

/// Text in a `pre`, as long as it is.
fn code(text: &str) -> String {
    escaped(text)
}

fn put(out: &mut String, words: &str) {
    let _ = writeln!(out, "<p>{}</p>", escaped(words));
}

fn more(out: &mut String, rows: usize) {
    if rows > ROWS {
        put(
            out,
            &format!(
                "{} more are left out; orrery stats --rows 0 with --by-line or --by function has them.",
                grouped((rows - ROWS) as u64)
            ),
        );
    }
}

fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "-".into();
    }
    let tenths = u128::from(part) * 1000 / u128::from(whole);
    format!("{}.{}%", tenths / 10, tenths % 10)
}

fn table(out: &mut String, head: &[String], rows: impl Iterator<Item = Vec<String>>) {
    out.push_str("<div class=\"wide\"><table>\n<tr>");
    let class = |n: usize| if head[n] == "share" { " class=\"share\"" } else { "" };
    (0..head.len()).for_each(|n| out.push_str(&format!("<th{}>{}</th>", class(n), escaped(&head[n]))));
    out.push_str("</tr>\n");
    for row in rows {
        out.push_str("<tr>");
        for (n, cell) in row.iter().enumerate() {
            let cell = escaped(cell);
            match n {
                0 => out.push_str(&format!("<td class=\"name\" title=\"{cell}\">{cell}</td>")),
                _ => out.push_str(&format!("<td{}>{cell}</td>", class(n))),
            }
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table></div>\n");
}
/// A file of SVG as the address of a picture in a page: nothing in it acts on the page, and no name in it meets one of another picture.
fn as_address(svg: &str) -> String {
    let mut out = String::with_capacity(svg.len() + svg.len() / 8);
    out.push_str("data:image/svg+xml;charset=utf-8,");
    for sign in svg.chars() {
        match sign {
            '%' => out.push_str("%25"),
            '#' => out.push_str("%23"),
            '"' => out.push_str("%22"),
            '&' => out.push_str("%26"),
            '<' => out.push_str("%3C"),
            '>' => out.push_str("%3E"),
            '\n' => out.push_str("%0A"),
            sign => out.push(sign),
        }
    }
    out
}
