//! Sources of recorded programs, where they are still there.

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

#[cfg(test)]
mod tests {
    use super::*;

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
