//! A format of one's own, read into references and counted.
//!
//! A line is a reference: `R` or `W`, the address in hexadecimal, the bytes; `#` starts a comment.
//!
//!     cargo run --no-default-features --example own_format            a text that is built in
//!     cargo run --no-default-features --example own_format FILE [PRESET]

#![expect(clippy::print_stdout, reason = "an example's output is its result")]

use orrery::reference::{Kind, MemoryTrace, Reference, Region, Tables};
use orrery::sim::config::preset;
use orrery::sim::stats::collect;
use orrery::trace::{Fault, Place, TraceError, check_tables};
use std::error::Error;

/// One line; `None` where it says nothing.
fn parse(line: &str) -> Option<Result<Reference, ()>> {
    let words = line.split('#').next().unwrap_or_default();
    let mut words = words.split_whitespace();
    let kind = match words.next()? {
        "R" => Kind::Read,
        "W" => Kind::Write,
        _ => return Some(Err(())),
    };
    let addr = words.next().and_then(|word| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok());
    let size = words.next().and_then(|word| word.parse().ok()).filter(|size| *size > 0);
    match (addr, size, words.next()) {
        (Some(addr), Some(size), None) => Some(Ok(Reference::new(kind, addr, size))),
        _ => Some(Err(())),
    }
}

/// A whole text. `name` is what messages call it.
fn read(name: &str, text: &str, tables: Tables) -> Result<MemoryTrace, TraceError> {
    check_tables(name, &tables)?;
    let mut references = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        match parse(line) {
            Some(Ok(reference)) => references.push(reference),
            Some(Err(())) => {
                return Err(TraceError::BrokenLine(Fault::new(
                    Place::line(name, number),
                    format!("`{line}`"),
                    "R or W, an address such as 0x1000, and bytes, 1 or more",
                    "correct the line, or put # before it",
                )));
            }
            None => {}
        }
    }
    Ok(MemoryTrace::new(references, tables))
}

/// Two passes over 64 doubles, the second of which writes each fourth of them, and a read far away.
fn sample() -> String {
    let mut text = String::from("# two passes over 64 doubles\n");
    for pass in 0..2 {
        for i in 0..64 {
            let letter = if pass == 1 && i % 4 == 0 { 'W' } else { 'R' };
            text.push_str(&format!("{letter} 0x{:x} 8\n", 0x1000 + 8 * i));
        }
    }
    text + "R 0x900000 4  # somewhere else\n"
}

/// What is known of the sample's memory beside its references, so that misses are told by name.
fn sample_tables() -> Tables {
    let array = Region { elem_type: "double".into(), shape: vec![64].into(), ..Region::new("a", 0x1000, 512) };
    Tables { regions: vec![array], ..Tables::default() }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let trace = match arguments.next() {
        Some(path) => read(&path, &std::fs::read_to_string(&path)?, Tables::default())?,
        None => read("the sample", &sample(), sample_tables())?,
    };
    let caches = arguments.next().unwrap_or_else(|| "textbook".into());
    let caches = preset(&caches).ok_or_else(|| format!("no preset `{caches}`"))?;
    let stats = collect(&trace, &caches, false)?;

    println!("{} reads, {} writes", stats.trace.reads, stats.trace.writes);
    for level in &stats.levels {
        println!("{:<3} {:>6} accesses, {:>6} misses", level.name, level.accesses(), level.misses());
    }
    for region in stats.regions.iter() {
        let misses: Vec<String> = region.misses.iter().map(|(level, misses)| format!("{level} {misses}")).collect();
        println!("{:<8} {:>6} references, misses: {}", region.name, region.references, misses.join(", "));
    }
    Ok(())
}
