//! Tables as comma-separated values (RFC 4180), to be pasted into a spreadsheet or read by a program. Numbers have no thousands set
//! apart; what is not known is empty.

use super::exhibits::{ComparedRow, Function};
use super::info::Info;
use super::studio::Studio;
use crate::reference::Region;
use crate::timeline::{Life, Share};
use std::fmt::Write as _;

/// A field, in quotes where it has to be. What a spreadsheet would take for a formula is text.
pub(super) fn field(words: &str) -> String {
    let is_formula = words.starts_with(['=', '+', '-', '@']);
    let words = if is_formula { format!("'{words}") } else { words.to_owned() };
    if words.contains([',', '"', '\n', '\r']) { format!("\"{}\"", words.replace('"', "\"\"")) } else { words }
}

fn share(share: Option<f64>) -> String {
    share.map_or(String::new(), |share| format!("{share:.6}"))
}

/// Levels, TLBs and regions: what tables of a moment count.
pub(super) fn tables(info: &Info) -> String {
    tables_in(info, &info.listed())
}

/// As [`tables`], with regions in this order.
pub(super) fn tables_in(info: &Info, order: &[usize]) -> String {
    let mut text = String::from("kind,name,shape,references,hits,misses,miss_rate\n");
    for row in &info.caches {
        let kind = if row.core.is_some() { "core" } else { "level" };
        let (name, shape) = (field(&row.name), field(&row.shape));
        let (hits, misses) = (row.hits, row.misses);
        let rate = share(row.miss_rate());
        let _ = writeln!(text, "{kind},{name},{shape},{},{hits},{misses},{rate}", hits + misses);
    }
    for row in &info.tlbs {
        let (name, shape, rate) = (field(&row.name), field(&row.shape), share(row.miss_rate()));
        let _ = writeln!(text, "tlb,{name},{shape},,{},,{rate}", row.hits);
    }
    for row in order.iter().filter_map(|&n| info.regions.get(n)) {
        let (name, references, misses) = (field(&row.name), row.references, row.misses);
        let rate = share(row.miss_rate);
        let _ = writeln!(text, "region,{name},,{references},{},{misses},{rate}", references.saturating_sub(misses));
    }
    text
}

/// Regions in this order.
pub(super) fn regions(info: &Info, regions: &[Region], order: &[usize]) -> String {
    let mut text = String::from("region,address,bytes,references,misses,miss_rate\n");
    for (row, region) in order.iter().filter_map(|&n| info.regions.get(n).zip(regions.get(n))) {
        let (name, rate) = (field(&row.name), share(row.miss_rate));
        let (base, bytes) = (region.base, region.bytes);
        let _ = writeln!(text, "{name},0x{base:x},{bytes},{},{},{rate}", row.references, row.misses);
    }
    text
}

/// Functions in this order.
pub(super) fn functions<'a>(functions: impl Iterator<Item = &'a Function>) -> String {
    let mut text = String::from("function,file,lines,references,misses,miss_rate\n");
    for Function { name, file, lines, references, misses, .. } in functions {
        let rate = share((*references > 0).then(|| *misses as f64 / *references as f64));
        let _ = writeln!(text, "{},{},{lines},{references},{misses},{rate}", field(name), field(file));
    }
    text
}

/// Misses of both machines, table by table in the order of their rows.
pub(super) fn compared(tables: &[(&'static str, Vec<ComparedRow>)]) -> String {
    let mut text = String::from("table,name,about,a_misses,b_misses,difference,a_miss_rate,b_miss_rate\n");
    for (table, row) in tables.iter().flat_map(|(table, rows)| rows.iter().map(move |row| (table, row))) {
        let number = |n: Option<u64>| n.map_or(String::new(), |n| n.to_string());
        let more = row.more_now().map_or(String::new(), |more| more.to_string());
        let [a, b] = row.rates.map(share);
        let table = field(&table.to_lowercase());
        let (name, about) = (field(&row.name), field(&row.more));
        let _ = writeln!(text, "{table},{name},{about},{},{},{more},{a},{b}", number(row.before), number(row.now));
    }
    text
}

/// Source lines with references and misses by level, as they are counted in `lines`, in this order.
pub(super) fn lines(studio: &Studio, lines: &[Share], order: &[usize]) -> String {
    let (timeline, tables) = (studio.timeline(), studio.tables());
    let levels = &timeline.config().levels;
    let mut text = String::from("file,line,function,references");
    for level in levels {
        let _ = write!(text, ",{}", field(&format!("{} misses", level.name)));
    }
    text.push_str(",text\n");
    for (row, counted) in order.iter().filter_map(|&row| Some((row, lines.get(row)?))) {
        let location = timeline.lines().places().get(row).and_then(|&place| tables.locations.get(place));
        let (file, line, function, words) = match location {
            Some(l) => (l.file.as_str(), l.line.to_string(), l.function.as_str(), l.text.as_str()),
            None => ("", String::new(), "", ""),
        };
        let _ = write!(text, "{},{line},{},{}", field(file), field(function), counted.references);
        for misses in counted.misses.iter().take(levels.len()) {
            let _ = write!(text, ",{misses}");
        }
        let _ = writeln!(text, ",{}", field(words));
    }
    text
}

/// All that happened to what is pinned.
pub(super) fn life(studio: &Studio, info: &Info, life: &Life) -> String {
    let levels = &studio.timeline().config().levels;
    let ring = |ring: u8| field(info.rings.get(usize::from(ring)).map_or("memory", String::as_str));
    let mut text = String::from("reference,address,kind,served_by,from,to,place_taken_by\n");
    for step in life.steps() {
        let level = |level: u8| field(levels.get(usize::from(level)).map_or("memory", |level| level.name.as_str()));
        let (served, taken) = (step.served.map(level), step.taken_by.map(|line| format!("0x{line:x}")));
        let (served, taken) = (served.unwrap_or_default(), taken.unwrap_or_default());
        let (from, to, kind) = (ring(step.from), ring(step.to), step.kind.verb());
        let _ = writeln!(text, "{},0x{:x},{kind},{served},{from},{to},{taken}", step.tick, step.addr);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be_and_are_no_formulas() {
        assert_eq!(
            ["A[16]", "a,b", "say \"so\"", "=1+1", ""].map(field),
            ["A[16]", "\"a,b\"", "\"say \"\"so\"\"\"", "'=1+1", ""]
        );
    }
}
