//! The language of loops, `*.loops`: arrays with their layouts, parameters, loops, statements. `docs/loops.md` is its grammar.

mod arrays;
mod bind;
mod read;

use super::fault::NestError;
use super::grammar::File;
use super::settings::Settings;
use super::symbolic::Volumes;
use super::tree::Nest;

/// A text that was read; its parameters have no values yet.
#[derive(Clone, Debug)]
pub struct Source {
    name: String,
    text: String,
    file: File,
}

/// A parameter of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// The value where nothing is set; `None` where it has to be set.
    pub value: Option<i64>,
    /// Least and most, where the text says so.
    pub range: Option<(i64, i64)>,
}

impl Source {
    /// Reads a text; `name` is what messages call it.
    ///
    /// # Errors
    /// Where the text is none of the language, with line and column.
    pub fn parse(name: &str, text: &str) -> Result<Self, NestError> {
        Ok(Self { name: name.to_owned(), text: text.to_owned(), file: read::read(name, text)? })
    }

    /// Its parameters in the order of the text, under the values that are set.
    ///
    /// # Errors
    /// When a value or range cannot be worked out, or a value that is set is out of its range.
    pub fn parameters(&self, settings: &Settings) -> Result<Vec<Parameter>, NestError> {
        bind::parameters(&self.name, &self.file, settings)
    }

    /// The nest under these values of its parameters.
    ///
    /// # Errors
    /// Where a parameter has no value, an array no size, or a statement names what is not there.
    pub fn bind(&self, settings: &Settings) -> Result<Nest, NestError> {
        bind::bind(&self.name, &self.text, &self.file, settings, false)
    }

    /// The nest as [`Source::bind`] makes it, what its parts move and compute as expressions in the parameters.
    ///
    /// # Errors
    /// As there, and where accesses cannot be counted.
    pub fn volumes(&self, settings: &Settings) -> Result<Volumes, NestError> {
        Volumes::of(bind::bind(&self.name, &self.text, &self.file, settings, true)?)
    }

    /// Whether content that starts so is of this language: its first word is one that files of it start with.
    #[must_use]
    pub fn looks_like(head: &[u8]) -> bool {
        let head = String::from_utf8_lossy(head);
        let mut lines = head.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let Some(line) = lines.next() else { return false };
        let mut words = line.splitn(2, [' ', '\t']);
        let (first, rest) = (words.next().unwrap_or_default(), words.next().unwrap_or_default().trim_start());
        match first {
            "title" | "about" => rest.starts_with('"'),
            "param" | "array" | "temp" => rest.starts_with(|c: char| c.is_alphabetic() || c == '_'),
            "for" => rest.contains(" in "),
            "parallel" => rest.contains(" for "),
            _ => false,
        }
    }
}
