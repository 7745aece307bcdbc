//! Sources of recorded programs, where they are still there.

use crate::reference::{SourceTexts, Tables};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Longest source that is read.
const MOST_BYTES: u64 = 16 << 20;

/// A source file as it is today.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    /// Where it was found.
    pub path: PathBuf,
    /// Its lines, from line 1 on.
    pub lines: Vec<String>,
}

impl SourceText {
    /// The source of that name: where the compiler had it (`path`; empty = unknown), at the place that is named, beside the trace, or in the
    /// folder that one is in. `None` where there is none, or what is there is no text.
    #[must_use]
    pub fn find(name: &str, path: &str, trace: &Path) -> Option<Self> {
        let (name, own) = (Path::new(name), Some(path).filter(|path| !path.is_empty()).map(PathBuf::from));
        let beside = trace.parent().map(|folder| folder.join(name));
        let flat = trace.parent().zip(name.file_name()).map(|(folder, name)| folder.join(name));
        let places = [own, Some(name.to_owned()), beside, flat];
        places.into_iter().flatten().find_map(|path| {
            // A pipe or a device would be waited for.
            let length = std::fs::metadata(&path).ok().filter(|found| found.is_file())?.len();
            if length > MOST_BYTES {
                return None;
            }
            let mut text = String::new();
            File::open(&path).ok()?.take(MOST_BYTES).read_to_string(&mut text).ok()?;
            Some(Self { path, lines: text.lines().map(str::to_owned).collect() })
        })
    }

    /// The first line, from 1, that is not what a trace says of it: its number and text as the trace has them. Blanks at both ends do not count.
    #[must_use]
    pub fn changed<'a>(&self, mut known: impl Iterator<Item = (u32, &'a str)>) -> Option<u32> {
        let differs = |(line, text): &(u32, &str)| {
            let today = usize::try_from(*line).ok().and_then(|line| self.lines.get(line.checked_sub(1)?));
            !text.is_empty() && today.map(|today| today.trim()) != Some(text.trim())
        };
        known.find(differs).map(|(line, _)| line)
    }
}

/// Bytes of all sources that are read for one trace.
const MOST_TOGETHER: usize = 64 << 20;

/// The sources that a trace names, those of them that are still there and say what the trace says.
#[must_use]
pub fn source_texts(tables: &Tables, trace: &Path) -> SourceTexts {
    let mut known: BTreeMap<&str, Vec<(u32, &str)>> = BTreeMap::new();
    for location in tables.locations.iter().filter(|location| !location.file.is_empty() && location.line > 0) {
        known.entry(&location.file).or_default().push((location.line, &location.text));
    }
    let (mut texts, mut bytes) = (SourceTexts::default(), 0);
    for (file, known) in known {
        let found = SourceText::find(file, tables.path_of(file), trace);
        let Some(found) = found.filter(|found| found.changed(known.into_iter()).is_none()) else { continue };
        bytes += found.lines.iter().map(String::len).sum::<usize>();
        if bytes > MOST_TOGETHER {
            break;
        }
        texts.insert(file, found.lines);
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::SourceLocation;

    #[test]
    fn a_trace_has_the_sources_that_say_what_it_says() {
        let folder = tempfile::tempdir().unwrap();
        let trace = folder.path().join("t.orrery");
        std::fs::write(folder.path().join("a.c"), "int x;\n  x++;\n").unwrap();
        std::fs::write(folder.path().join("b.c"), "int y;\n").unwrap();
        let location = |file: &str, line: u32, text: &str| SourceLocation {
            path: String::new(),
            pc: 1,
            file: file.into(),
            line,
            function: "f".into(),
            text: text.into(),
        };
        let locations = vec![
            location("a.c", 2, "x++;"),
            location("b.c", 1, "int z;"),
            location("gone.c", 1, "int w;"),
            location("", 3, ""),
        ];
        let texts = source_texts(&Tables { locations, ..Tables::default() }, &trace);
        assert_eq!(texts.line("a.c", 1), Some("int x;"));
        assert!(texts.lines("b.c").is_none() && texts.lines("gone.c").is_none() && texts.lines("").is_none());
    }

    #[test]
    fn sources_are_found_beside_the_trace_and_told_when_changed() {
        let folder = tempfile::tempdir().unwrap();
        let trace = folder.path().join("t.orrery");
        std::fs::write(folder.path().join("a.c"), "int main(void) {\n  return 0;\n}\n").unwrap();
        let found = SourceText::find("/nowhere/src/a.c", "", &trace).unwrap();
        assert_eq!((found.lines.len(), found.path), (3, folder.path().join("a.c")));
        assert!(SourceText::find("b.c", "", &trace).is_none() && SourceText::find(".", "", &trace).is_none());
        let found = SourceText::find("a.c", "", &trace).unwrap();
        assert_eq!(found.changed([(2, "return 0;"), (3, "}"), (1, "")].into_iter()), None);
        assert_eq!(found.changed([(2, "return 1;")].into_iter()), Some(2));
        assert_eq!(found.changed([(9, "x")].into_iter()), Some(9));
    }
}
