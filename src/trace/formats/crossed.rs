//! Every sample file of `tests/traces` against what every format looks like.

use super::Format;
use std::fs;
use std::path::Path;

/// Columns, told by `tests/trace/columns.rs`; kernels, by `tests/trace/accelsim.rs`.
const TABLES: [Format; 3] = [Format::PARQUET, Format::ARROW, Format::ACCELSIM];

#[test]
fn every_sample_looks_like_its_own_format_and_no_other() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut seen = Vec::new();
    // Nests and graphs have folders of their own, and endings.
    let files =
        ["tests/traces", "tests/traces/dace", "traces/loops"].map(|folder| fs::read_dir(root.join(folder)).unwrap());
    for entry in files.into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            continue;
        }
        let file = path.file_name().unwrap().to_str().unwrap().to_owned();
        // `pin.sizes.out` is of the format `pin`; what is named otherwise is no trace.
        let named = |part: Option<&str>| part.and_then(Format::named).filter(|_| !file.ends_with(".c"));
        let by_ending = || named(file.rsplit('.').next()).filter(|own| [Format::LOOPS, Format::SDFG].contains(own));
        let Some(own) = named(file.split('.').next()).or_else(by_ending) else {
            continue;
        };
        let text = fs::read(&path).unwrap();
        let head = &text[..text.len().min(64 << 10)];
        assert_eq!(Format::of(head), Some(own), "{file}");
        let others: Vec<&str> =
            Format::ALL.iter().filter(|f| **f != own && (f.0.looks_like)(head)).map(|f| f.name()).collect();
        assert!(others.is_empty(), "{file} looks like {others:?} too");
        seen.push(own.name());
    }
    // The binary formats have theirs in `tests/trace/binary.rs`, which crosses them with all formats too.
    for format in
        Format::ALL.iter().filter(|format| !format.example().starts_with("(binary") && !TABLES.contains(format))
    {
        assert!(seen.contains(&format.name()), "no sample of {}", format.name());
    }
}

#[test]
fn names_are_unique_and_ambiguous_texts_go_by_the_table() {
    for (n, format) in Format::ALL.iter().enumerate() {
        assert!(Format::ALL[..n].iter().all(|other| other.name() != format.name()));
    }
    for (text, name) in [
        // Extended din and a variant of Pin write the same; 0x tells.
        ("W 7ffe1000 8\n", Some("xdin")),
        ("W 0x7ffe1000 8\n", Some("pin")),
        ("0 7fff\n1 8000\n", Some("din")),
        ("address,size\n", Some("csv")),
        ("addr\n1\n", Some("csv")),
        // A word that might head anything.
        ("address\nof the house\n", None),
        ("r,1,2,3\n", Some("gem5-text")),
        ("hello\n", None),
        ("0 1\nhello\n", None),
        ("L 10,8\n", Some("lackey")),
        ("", None),
    ] {
        assert_eq!(Format::of(text.as_bytes()).map(Format::name), name, "{text}");
    }
}
