//! What buffers and textures hold from one launch to the next.

use super::buffers::{Content, Given};
use super::program::{Program, Space};
use super::run::Run;
use std::collections::BTreeMap;

/// What launches left in storage, uniform memory and textures, by name. Workgroup memory ends with its group.
#[derive(Debug, Clone, Default)]
pub struct Held {
    given: BTreeMap<String, Given>,
    /// Types of numbers, of buffers.
    types: BTreeMap<String, String>,
}

impl Held {
    /// Keeps what a launch left.
    pub fn keep(&mut self, program: &Program, run: &Run) {
        let ends = run.before.iter().zip(&run.after).zip(&run.texels);
        for (shared, ((before, after), texels)) in program.shared.iter().zip(ends) {
            if shared.space == Space::Workgroup {
                continue;
            }
            // An adapter gives back what can be written.
            let bytes = if after.is_empty() { before } else { after }.clone();
            let content = match &shared.texture {
                Some(texture) => Content::Texels(texture.format, bytes),
                None => Content::Bytes(bytes),
            };
            self.given.insert(shared.name.clone(), (content, *texels));
            if let Some(name) = program.number_type(&shared.name) {
                self.types.insert(shared.name.clone(), name);
            }
        }
    }

    /// What a variable holds, where a launch used it.
    #[must_use]
    pub fn of(&self, name: &str) -> Option<&Given> {
        self.given.get(name)
    }

    /// All that is held, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Given)> {
        self.given.iter()
    }

    /// The type of the numbers that a buffer holds; empty where it has several.
    #[must_use]
    pub fn number_type(&self, name: &str) -> Option<&str> {
        self.types.get(name).map(String::as_str)
    }
}
