//! `orrery formats`: what can be read, with one record of each.

use crate::cli::FormatsArgs;
use crate::trace::Format;
use serde::Serialize;
use std::io::Write;

/// Columns of a terminal that the table keeps to.
#[cfg(test)]
const COLUMNS: usize = 80;

/// Lists the formats.
///
/// # Errors
/// A failed write.
pub fn run(args: &FormatsArgs) -> anyhow::Result<()> {
    write(args, &mut crate::shown::json())
}

/// A format as data.
#[derive(Serialize)]
struct Entry {
    name: &'static str,
    about: &'static str,
    example: &'static str,
}

fn write(args: &FormatsArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let entries = Format::ALL.iter().map(|f| Entry { name: f.name(), about: f.about(), example: f.example() });
    if args.json {
        serde_json::to_writer_pretty(&mut *out, &entries.collect::<Vec<_>>())?;
        return Ok(writeln!(out)?);
    }
    let names = Format::ALL.iter().map(|format| format.name().len()).max().unwrap_or(0);
    for Entry { name, about, example } in entries {
        // The example stands on a line of its own: records are long.
        writeln!(out, "{name:names$}  {about}\n    {example}")?;
    }
    writeln!(
        out,
        "\nThe format is told from the content; --format NAME says it where that fails.\n\
         Each may be packed by gzip, xz, zstd or bzip2, and `-` is standard input."
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(json: bool) -> String {
        let mut out = Vec::new();
        write(&FormatsArgs { json }, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_format_has_a_line_and_an_example_within_a_terminal() {
        let text = printed(false);
        for line in text.lines() {
            assert!(line.chars().count() <= COLUMNS, "{} columns: {line}", line.chars().count());
        }
        let lines: Vec<&str> = text.lines().collect();
        for (pair, format) in lines.chunks(2).zip(Format::ALL) {
            let words = [format.name(), format.about(), format.example()];
            assert!(
                pair[0].starts_with(words[0]) && pair[0].ends_with(words[1]) && pair[1].ends_with(words[2]),
                "{pair:?}"
            );
        }
    }

    #[test]
    fn the_json_is_the_same_list() {
        let value: serde_json::Value = serde_json::from_str(&printed(true)).unwrap();
        let names: Vec<&str> = value.as_array().unwrap().iter().filter_map(|e| e["name"].as_str()).collect();
        assert_eq!(names, Format::ALL.iter().map(|f| f.name()).collect::<Vec<_>>());
        assert!(value[0]["about"].is_string() && value[0]["example"].is_string());
    }
}
