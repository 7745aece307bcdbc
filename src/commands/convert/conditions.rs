//! What of a trace is converted: the flags of `orrery convert` as a [`Filter`].

use super::super::UsageError;
use crate::capture::naming::bias_of;
use crate::cli::ConvertArgs;
use crate::reference::{Kind, Reference, Region, SourceLocation, Tables};
use crate::scene::Choice;
use crate::scene::shades::is_of;
use crate::symbols::Module;
use crate::trace::{Filter, Sample};
use std::collections::BTreeSet;
use std::path::Path;

/// Adds the conditions of the flags to a filter; `first` are the first references of the trace.
///
/// # Errors
/// When a flag cannot be read, or names what the tables do not have.
pub(super) fn conditions(
    args: &ConvertArgs,
    tables: &Tables,
    first: &[Reference],
    mut filter: Filter,
) -> anyhow::Result<Filter> {
    if args.only_regions {
        if tables.regions.is_empty() {
            return Err(UsageError(
                "--only-regions: found no regions; expected some in the trace or in --tables FILE.json".into(),
            )
            .into());
        }
        filter = filter.only(&tables.regions);
    }
    if !args.only.is_empty() {
        filter = filter.only_living(&regions(&args.only, tables)?);
    }
    if !args.addr.is_empty() {
        filter = filter.at(args.addr.iter().map(|text| span(text)).collect::<Result<_, _>>()?);
    }
    if !args.core.is_empty() {
        filter = filter.only_cores(args.core.clone());
    }
    if !args.kind.is_empty() {
        filter = filter.kinds(&args.kind.iter().map(|kind| Kind::from(*kind)).collect::<Vec<_>>());
    }
    if let Some(text) = &args.range {
        let (from, to) = parse_range(text)?;
        filter = filter.range(from, to);
    }
    if let Some(text) = &args.sample {
        let expected = "two numbers of 1 or more, the window not above the distance, as in every=1000000,window=10000";
        filter = filter.sample(sample(text).ok_or_else(|| usage("--sample", text, expected))?);
    }
    if !args.function.is_empty() || !args.file.is_empty() {
        filter = by_source(args, tables, first, filter)?;
    }
    Ok(filter)
}

fn usage(flag: &str, found: &str, expected: &str) -> UsageError {
    UsageError(format!("{flag}: found `{found}`; expected {expected}"))
}

/// The regions of these names.
fn regions(names: &[String], tables: &Tables) -> Result<Vec<Region>, UsageError> {
    let choice = Choice { show: names.to_vec(), ..Choice::default() };
    match choice.unknown(&tables.regions) {
        Some(name) => Err(UsageError(super::super::regions::unknown("--only", name, tables))),
        None => Ok(tables.regions.iter().filter(|region| is_named(names, region)).cloned().collect()),
    }
}

/// Whether one of the names, or what is a name with `*` and `?`, stands for a region.
pub(super) fn is_named(names: &[String], region: &Region) -> bool {
    names.iter().any(|name| is_of(name, region))
}

/// What is known instead.
fn unknown(flag: &str, name: &str, what: &str, known: &BTreeSet<&str>, gives: &str) -> UsageError {
    const SHOWN: usize = 12;
    if known.is_empty() {
        let remedy =
            format!("--tables or --program {gives}, or convert the whole trace first if its format does so at its end");
        return UsageError(format!("{flag}: found `{name}`; expected {what}, but there is none; {remedy}"));
    }
    let mut list = known.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
    if known.len() > SHOWN {
        list.push_str(&format!(" and {} more", known.len() - SHOWN));
    }
    UsageError(format!("{flag}: found `{name}`; expected {what}: {list}"))
}

/// Keeps the instructions of the functions and files named.
fn by_source(args: &ConvertArgs, tables: &Tables, first: &[Reference], filter: Filter) -> anyhow::Result<Filter> {
    let (functions, files) = (args.function.clone(), args.file.clone());
    let is_wanted = move |at: &SourceLocation| {
        (functions.is_empty() || functions.contains(&at.function))
            && (files.is_empty() || files.iter().any(|file| is_file(&at.file, file)))
    };
    if let Some(program) = &args.program {
        let module = Module::open(program)?;
        let pcs = first.iter().filter(|r| r.kind != Kind::Fetch && r.pc != 0).map(|r| r.pc).collect();
        let bias = bias_of(&module, &pcs).unwrap_or(0);
        let location = move |pc: u64| module.location(pc.checked_sub(bias)?);
        return Ok(filter.instructions(move |pc| location(pc).is_some_and(|at| is_wanted(&at))));
    }
    let of =
        |part: fn(&SourceLocation) -> &str| tables.locations.iter().map(part).filter(|word| !word.is_empty()).collect();
    let known: BTreeSet<&str> = of(|at| at.function.as_str());
    if let Some(name) = args.function.iter().find(|name| !known.contains(name.as_str())) {
        return Err(unknown("--function", name, "a function of the trace", &known, "names source lines").into());
    }
    let known: BTreeSet<&str> = of(|at| at.file.as_str());
    if let Some(name) = args.file.iter().find(|name| !known.iter().any(|file| is_file(file, name))) {
        return Err(unknown("--file", name, "a source file of the trace", &known, "names source lines").into());
    }
    let wanted = tables.locations.iter().filter(|at| is_wanted(at)).map(|at| at.pc);
    let pcs: BTreeSet<u64> = wanted.collect();
    Ok(filter.instructions(move |pc| pcs.contains(&pc)))
}

/// Whether a source file is the one asked for, which may leave folders away.
fn is_file(file: &str, asked: &str) -> bool {
    !asked.is_empty() && Path::new(file).ends_with(asked)
}

fn number(text: &str) -> Option<u64> {
    let text = text.trim().replace('_', "");
    if text.contains('+') {
        // The standard library takes a sign.
        return None;
    }
    match text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Reference numbers of `--range`: the first, and one past the last.
pub(in crate::commands) fn parse_range(text: &str) -> Result<(u64, u64), UsageError> {
    let expected = "two reference numbers, as in 1000..2000, ..2000 or 1000.., the first below the second";
    range(text).ok_or_else(|| usage("--range", text, expected))
}

/// `LO..HI`, either of which may be missing; HI is not part of it.
fn range(text: &str) -> Option<(u64, u64)> {
    let (from, to) = text.split_once("..")?;
    let side = |text: &str, missing| if text.trim().is_empty() { Some(missing) } else { number(text) };
    let (from, to) = (side(from, 0)?, side(to, u64::MAX)?);
    (from < to).then_some((from, to))
}

/// Addresses: first and last.
fn span(text: &str) -> Result<(u64, u64), UsageError> {
    let expected = "two addresses, the first below the second, as in 0x1000..0x2000";
    let (from, to) = range(text).ok_or_else(|| usage("--addr", text, expected))?;
    // Past the last address there is none, so an open end takes that in.
    let is_open = text.trim().ends_with("..");
    Ok((from, if is_open { u64::MAX } else { to - 1 }))
}

/// `every=N,window=M`.
fn sample(text: &str) -> Option<Sample> {
    let (mut every, mut window) = (None, None);
    for part in text.split(',') {
        let (name, value) = part.split_once('=')?;
        let slot = match name.trim() {
            "every" => &mut every,
            "window" => &mut window,
            _ => return None,
        };
        *slot = Some(number(value)?);
    }
    let (every, window) = (every?, window?);
    (1..=every).contains(&window).then_some(Sample { every, window })
}

/// `START,STOP`, each hexadecimal with 0x or decimal.
///
/// # Errors
/// When it is not that.
pub(super) fn parse_between(text: &str) -> anyhow::Result<(u64, u64)> {
    let pair = text.split_once(',').and_then(|(a, b)| Some((number(a)?, number(b)?)));
    pair.ok_or_else(|| usage("--between", text, "two addresses, as in 0x404080,0x404081").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_samples_as_people_type_them() {
        assert_eq!(range("1_000..2000"), Some((1000, 2000)));
        assert_eq!((range("..0x10"), range("5..")), (Some((0, 16)), Some((5, u64::MAX))));
        for bad in ["", "5", "5..5", "6..5", "a..b", "1...2", "-1..2", "+1..2", "0x+1..2"] {
            assert_eq!(range(bad), None, "{bad}");
        }
        assert_eq!(span("0x1000..0x2000").expect("a span"), (0x1000, 0x1fff));
        assert_eq!(span("0x1000..").expect("a span"), (0x1000, u64::MAX));
        assert_eq!(sample("every=100,window=10"), Some(Sample { every: 100, window: 10 }));
        assert_eq!(sample("window=1, every=1"), Some(Sample { every: 1, window: 1 }));
        for bad in ["", "every=10", "every=10,window=0", "every=10,window=11", "every=0,window=0", "each=10,window=1"] {
            assert_eq!(sample(bad), None, "{bad}");
        }
        assert!(is_file("src/a/b.c", "b.c") && is_file("src/a/b.c", "a/b.c") && !is_file("src/a/ab.c", "b.c"));
        assert!(!is_file("src/a/b.c", ""), "an empty name is not every file");
    }
}
