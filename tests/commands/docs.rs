//! The pages tell the truth: command lines parse and run, tables are complete, transcripts are what comes out.
#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use orrery::cli::canonical;
use orrery::commands::grammar;
use orrery::trace::Format;
use orrery::trace::write::WriteFormat;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const PAGES: [&str; 11] = [
    "README.md",
    "docs/formats.md",
    "docs/capture.md",
    "docs/caches.md",
    "docs/tasks.md",
    "docs/videos.md",
    "docs/analysis.md",
    "docs/kernels.md",
    "docs/storyboards.md",
    "docs/loops.md",
    "docs/solids.md",
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn page(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap()
}

/// Lines of the fenced blocks of these languages.
fn blocks<'a>(text: &'a str, languages: &[&str]) -> Vec<&'a str> {
    let mut inside = None;
    let mut out = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("```"), inside) {
            (Some(language), None) => inside = Some(languages.contains(&language)),
            (Some(_), Some(_)) => inside = None,
            (None, Some(true)) => out.push(line),
            (None, _) => {}
        }
    }
    out
}

/// The words of every call of orrery: comments, other commands of the line and shell signs left out.
fn calls(name: &str) -> Vec<Vec<String>> {
    let text = page(name);
    let lines = blocks(&text, &["sh", "console"]).into_iter().map(|line| line.strip_prefix("$ ").unwrap_or(line));
    let commands = lines.flat_map(|line| line.split(" # ").next().unwrap_or("").split(['|', '&', ';'])).map(str::trim);
    let called = |command: &str| command.starts_with("orrery ");
    commands.filter(|c| called(c)).map(|c| c.split_whitespace().map(str::to_owned).collect()).collect()
}

#[test]
fn every_command_line_of_the_pages_parses() {
    for name in [
        "README.md",
        "docs/formats.md",
        "docs/capture.md",
        "docs/analysis.md",
        "docs/kernels.md",
        "docs/loops.md",
        "docs/solids.md",
    ] {
        let calls = calls(name);
        assert!(!calls.is_empty(), "{name} shows no command");
        for words in calls {
            let parsed = grammar().try_get_matches_from(canonical(words.iter().map(OsString::from), |_| false));
            assert!(parsed.is_ok(), "{name}: {}\n{}", words.join(" "), parsed.unwrap_err());
        }
    }
    assert!(grammar().try_get_matches_from(["orrery", "convert", "--such"]).is_err(), "the check sees mistakes");
}

#[test]
fn every_conversion_of_a_bundled_trace_runs() {
    let calls = calls("docs/formats.md");
    let runs: Vec<_> = calls.iter().filter(|c| c[1] == "convert" && c[2].starts_with("lesson:")).collect();
    assert!(runs.len() >= 10, "{runs:?}");
    let flags: BTreeSet<&str> =
        runs.iter().flat_map(|c| c.iter()).filter(|w| w.starts_with("--")).map(String::as_str).collect();
    for flag in ["--only", "--addr", "--function", "--file", "--core", "--kind", "--range", "--sample", "--to"] {
        assert!(flags.contains(flag), "the page shows no {flag} at work");
    }
    let folder = tempfile::tempdir().unwrap();
    for words in runs {
        let output = Command::new(env!("CARGO_BIN_EXE_orrery"))
            .arg("convert")
            .args(&words[2..])
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}: {}", words.join(" "), String::from_utf8_lossy(&output.stderr));
        let name = &words[4];
        let bytes = if name == "-" { output.stdout } else { fs::read(folder.path().join(name)).unwrap() };
        assert!(bytes.len() > 100, "{}", words.join(" "));
    }
}

/// First cells, in backquotes, of the table under a heading.
fn rows(text: &str, heading: &str) -> BTreeSet<String> {
    let under = text.split(heading).nth(1).unwrap();
    let table = under.lines().skip_while(|l| !l.starts_with('|')).take_while(|l| l.starts_with('|'));
    table.filter_map(|l| Some(l.strip_prefix("| `")?.split('`').next()?.to_owned())).collect()
}

#[test]
fn the_tables_of_formats_are_complete() {
    let text = page("docs/formats.md");
    let read: BTreeSet<String> = Format::ALL.iter().map(|f| f.name().to_owned()).collect();
    assert_eq!(rows(&text, "## What can be opened"), read);
    assert!(page("README.md").contains(&format!("Opens {} formats", read.len())));
    let written: BTreeSet<String> = WriteFormat::ALL.iter().map(|f| f.name().to_owned()).collect();
    assert_eq!(rows(&text, "## What can be written"), written);
    let flags: BTreeSet<String> =
        rows(&text, "## A part of a trace").iter().map(|f| f.split(' ').next().unwrap().to_owned()).collect();
    let convert = grammar().find_subcommand("convert").unwrap().clone();
    let others = ["--format", "--output", "--to", "--tables", "--program", "--help"];
    let known = convert.get_arguments().filter_map(|a| Some(format!("--{}", a.get_long()?)));
    assert_eq!(flags, known.filter(|f| !others.contains(&f.as_str())).collect());
}

#[test]
fn pages_that_are_pointed_to_are_there() {
    for name in PAGES {
        let text = page(name);
        let folder = root().join(name).parent().map(Path::to_owned).unwrap();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
            let is_local = !target.is_empty() && !target.contains("://");
            assert!(!is_local || folder.join(target).exists(), "{name} points to {target}, which is not there");
        }
    }
}

/// What the README says that a new program prints and counts.
#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn the_transcript_of_a_new_program_is_what_comes_out() {
    let text = page("README.md");
    let lines = blocks(&text, &["console"]);
    assert!(lines.iter().any(|l| l.starts_with("$ orrery run examples/heat.c ")), "{lines:?}");
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_orrery"))
        .args(["run", "--stats"])
        .arg(root().join("examples/heat.c"))
        .current_dir(folder.path())
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    let said = lines.iter().find(|l| l.starts_with("near the edge: ")).unwrap();
    assert!(printed.lines().any(|l| l == *said), "{said}\n{printed}");
    for array in ["plate", "next"] {
        assert!(printed.lines().any(|l| l.starts_with(array)), "no array {array} in\n{printed}");
    }
}
