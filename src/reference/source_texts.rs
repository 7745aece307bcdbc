//! Sources of a program, where they are still there and as they were when it was recorded.

use std::collections::BTreeMap;

/// Lines of files, by the name that a trace has for them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceTexts(BTreeMap<String, Vec<String>>);

impl SourceTexts {
    /// Takes the lines of a file, from line 1 on.
    pub fn insert(&mut self, file: &str, lines: Vec<String>) {
        self.0.insert(file.to_owned(), lines);
    }

    /// The lines of a file; `None` where its text is not known.
    #[must_use]
    pub fn lines(&self, file: &str) -> Option<&[String]> {
        self.0.get(file).map(Vec::as_slice)
    }

    /// A line of a file, by its number from 1 on; `None` where it is not known.
    #[must_use]
    pub fn line(&self, file: &str, number: u32) -> Option<&str> {
        let place = usize::try_from(number).ok()?.checked_sub(1)?;
        self.lines(file)?.get(place).map(String::as_str)
    }

    /// The same with names and lines that are fit for a picture: four blanks for a tab.
    #[must_use]
    pub fn shown(&self) -> Self {
        let fit = |line: &String| crate::shown::short(&line.replace('\t', "    "), LONGEST).into_owned();
        let file = |(name, lines): (&String, &Vec<String>)| {
            (crate::shown::name(name).into_owned(), lines.iter().map(fit).collect())
        };
        Self(self.0.iter().map(file).collect())
    }
}

/// Signs of a line that are kept for a picture.
const LONGEST: usize = 160;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_by_number_and_shown_without_what_acts() {
        let mut texts = SourceTexts::default();
        texts.insert("a\u{1b}.c", vec!["int x;".into(), "\tx\u{202e}++;".into(), "y".repeat(500)]);
        assert_eq!((texts.line("a\u{1b}.c", 1), texts.line("a\u{1b}.c", 4)), (Some("int x;"), None));
        assert_eq!((texts.line("a\u{1b}.c", 0), texts.line("b.c", 1)), (None, None));
        let shown = texts.shown();
        let name = crate::shown::name("a\u{1b}.c").into_owned();
        let lines = shown.lines(&name).expect("by its shown name");
        assert!(lines[1].starts_with("    x") && !lines[1].contains('\u{202e}'), "{lines:?}");
        assert!(lines[2].chars().count() <= LONGEST, "{}", lines[2].chars().count());
    }
}
