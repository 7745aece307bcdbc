//! A storyboard by itself: what happens in a trace, in about a minute, as a file to be edited.

use crate::overlay::Studio;
use crate::timeline::{Share, Timeline};
use crate::units::{counted, grouped};
use std::fmt::Write;
use std::ops::Range;

/// Parts of a trace that get a scene each, at most.
const MOST_PARTS: usize = 4;
/// Seconds of the whole run, of a part, and references of the slow scene with its references a second.
const WHOLE: u32 = 12;
const PART: u32 = 8;
const SLOW: [u64; 2] = [8, 1];

/// What a source is opened by.
pub struct Opened<'a> {
    /// The trace, as the storyboard is to name it.
    pub trace: &'a str,
    /// Keys of its caches, each with its value: `cache`, `l1`.
    pub caches: &'a [(&'a str, String)],
}

/// A part of the trace, by its mark.
struct Part {
    name: String,
    references: Range<u64>,
    misses: u64,
}

/// Text of TOML.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// A name within a caption.
fn fit(name: &str) -> String {
    name.replace('{', "{{").replace('}', "}}")
}

/// The value of a region that has been counted; its name where it has signs of our own.
fn of(name: &str, what: &str) -> String {
    if name.contains(['{', '}']) { format!("{} ({what})", fit(name)) } else { format!("{{{name}{what}}}") }
}

/// A storyboard of what a studio shows.
#[must_use]
pub fn propose(studio: &Studio, opened: &Opened<'_>) -> String {
    let timeline = studio.timeline();
    let tables = studio.tables();
    let first = timeline.config().levels.first().map_or("L1", |level| level.name.as_str());
    let mut out = String::new();
    let title = if tables.title.is_empty() { "What happens here" } else { &tables.title };
    let about = format!("What happens in these caches at {}, part by part.", counted(timeline.len(), "reference"));
    let _ =
        writeln!(out, "# Proposed by `orrery story`: change what you like. docs/storyboards.md explains every key.");
    let _ = writeln!(
        out,
        "title = {}\nabout = {}\n\n[source.trace]\ntrace = {}",
        quoted(title),
        quoted(&about),
        quoted(opened.trace)
    );
    for (key, value) in opened.caches {
        let _ = writeln!(out, "{key} = {value}");
    }
    let caches = timeline
        .config()
        .levels
        .iter()
        .map(|level| format!("{} of {}", level.name, crate::sim::config::format_size(level.size)));
    let card = format!("{}, {}", counted(timeline.len(), "reference"), caches.collect::<Vec<_>>().join(", "));
    let _ = writeln!(
        out,
        "\n[[scene]]\ntitle = \"What it is\"\nseconds = 4\ncard = {{ title = {}, text = {} }}",
        quoted(title),
        quoted(&fit(&card))
    );
    if timeline.is_empty() {
        return out;
    }
    let _ = writeln!(
        out,
        "\n[[scene]]\ntitle = \"The whole run\"\nsource = \"trace\"\nto = \"end\"\nseconds = {WHOLE}\nafter = 2\nbeside = [{{ view = \"chart\" }}]\ncaption = {}",
        quoted(&format!("{first} has missed {{{first}.misses}} times: {{{first}.miss_rate}} of its accesses."))
    );
    for part in parts(timeline) {
        let Range { start, end } = part.references;
        let worst = worst(studio, start..end).map(|name| {
            let [misses, references] =
                ["misses", "references"].map(|what| of(&name, &format!(".{what}")).replacen('{', "{scene.", 1));
            format!(" {} misses most: {misses} times in {references} references.", of(&name, ""))
        });
        let caption =
            format!("{}: {first} misses {{scene.{first}.miss_rate}}.{}", fit(&part.name), worst.unwrap_or_default());
        let _ = writeln!(
            out,
            "\n[[scene]]\ntitle = {}\nsource = \"trace\"\nfrom = {start}\nto = {end}\nseconds = {PART}\nafter = 1\ncaption = {}",
            quoted(&part.name),
            quoted(&caption)
        );
    }
    if let Some(at) = typical(studio) {
        let [references, speed] = SLOW;
        let from = at.saturating_sub(references / 2);
        let to = (from + references).min(timeline.len());
        let _ = writeln!(
            out,
            "\n[[scene]]\ntitle = \"Closely\"\nsource = \"trace\"\nfrom = {from}\nto = {to}\nspeed = {speed}\nbefore = 1\nafter = 1\ncamera = {}\ncaption = \"{{reference.what}}: {{reference.why}}\"",
            quoted(&format!("ring {}", outer(timeline)))
        );
    }
    let classes = classes(timeline);
    let end = format!("{first} missed {{trace:whole.{first}.misses}} times{classes}.");
    let _ = writeln!(
        out,
        "\n[[scene]]\ntitle = \"In all\"\nsource = \"trace\"\nfrom = \"end\"\nseconds = 6\nview = \"numbers\"\ncaption = {}",
        quoted(&end)
    );
    out
}

/// The level that a close look reaches to: the second, where there are several.
fn outer(timeline: &Timeline) -> &str {
    let levels = &timeline.config().levels;
    levels.get(1.min(levels.len().saturating_sub(1))).map_or("L1", |level| level.name.as_str())
}

/// Demand misses of the innermost level in some references, about.
fn misses(timeline: &Timeline, references: Range<u64>) -> u64 {
    timeline.summary().over(references, 0).0.demand_misses
}

/// Parts from mark to mark: those that miss most, in order.
fn parts(timeline: &Timeline) -> Vec<Part> {
    let len = timeline.len();
    let mut borders: Vec<(u64, &str)> = vec![(0, "the beginning")];
    for mark in timeline.tables().marks.iter().filter(|mark| mark.reference < len) {
        match borders.last_mut() {
            Some(last) if last.0 == mark.reference => last.1 = &mark.name,
            _ => borders.push((mark.reference, &mark.name)),
        }
    }
    let ends = borders.iter().skip(1).map(|(at, _)| *at).chain([len]);
    let part = |((start, name), end): (&(u64, &str), u64)| Part {
        name: (*name).to_owned(),
        references: *start..end,
        misses: misses(timeline, *start..end),
    };
    let mut parts: Vec<Part> =
        borders.iter().zip(ends).map(part).filter(|part| part.references.end > part.references.start + 1).collect();
    if parts.len() < 2 {
        return Vec::new();
    }
    parts.sort_by_key(|part| (std::cmp::Reverse(part.misses), part.references.start));
    parts.truncate(MOST_PARTS);
    parts.sort_by_key(|part| part.references.start);
    parts
}

/// The region that misses most in some references.
fn worst(studio: &Studio, references: Range<u64>) -> Option<String> {
    let (shares, _) = studio.timeline().regions_over(references);
    let missed = |share: &Share| share.misses[0];
    let (at, share) = shares.iter().enumerate().max_by_key(|(at, share)| (missed(share), std::cmp::Reverse(*at)))?;
    let region = studio.tables().regions.get(at).filter(|_| missed(share) > 0)?;
    Some(region.name.clone())
}

/// A miss in the midst of the references that miss most.
fn typical(studio: &Studio) -> Option<u64> {
    let timeline = studio.timeline();
    let len = timeline.len();
    let columns = 64.min(len.max(1));
    let border = |n: u64| u64::try_from(u128::from(len) * u128::from(n) / u128::from(columns)).unwrap_or(len);
    let most = (0..columns).max_by_key(|n| (misses(timeline, border(*n)..border(n + 1)), std::cmp::Reverse(*n)))?;
    let middle = u64::midpoint(border(most), border(most + 1));
    let outcomes = timeline.outcomes()?;
    (middle..len).find(|tick| outcomes.get(*tick).is_some_and(|outcome| outcome.missed())).or(Some(middle))
}

/// Why the innermost level missed, in the whole trace, in words; nothing where that is not known.
fn classes(timeline: &Timeline) -> String {
    let (sums, _) = timeline.summary().over(0..timeline.len(), 0);
    let words = ["first touches", "for want of room", "for want of ways", "for other cores"];
    let told: Vec<String> = sums
        .classes
        .iter()
        .zip(words)
        .filter(|(count, _)| **count > 0)
        .map(|(count, word)| format!("{} {word}", grouped(*count)))
        .collect();
    if told.is_empty() { String::new() } else { format!(": {}", told.join(", ")) }
}
