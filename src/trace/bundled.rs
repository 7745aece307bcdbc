//! The traces that travel inside the binary: recordings of the programs in `traces/programs/`.

use std::io::Write;
use std::path::Path;

/// One bundled trace.
#[derive(Clone, Copy, Debug)]
pub struct Bundled {
    /// Name for the command line: `matmul16`.
    pub name: &'static str,
    /// The native file.
    pub bytes: &'static [u8],
}

macro_rules! bundled {
    ($($name:literal),* $(,)?) => {
        [$(Bundled { name: $name, bytes: include_bytes!(concat!("../../traces/", $name, ".orrery")) }),*]
    };
}

/// All of them, in the order a lesson would take.
pub const BUNDLED: [Bundled; 10] = bundled![
    "array_init",
    "matmul16",
    "matmul16_transposed",
    "matmul16_blocked",
    "matmul12_blocked",
    "bubble_sort",
    "merge_sort",
    "mpm",
    "false_sharing",
    "false_sharing_padded",
];

/// The trace of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Bundled> {
    BUNDLED.iter().find(|b| b.name == name)
}

impl Bundled {
    /// Writes the file into `folder` and gives its path.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn unpack(&self, folder: &Path) -> std::io::Result<std::path::PathBuf> {
        let path = folder.join(format!("{}.orrery", self.name));
        std::fs::File::create(&path)?.write_all(self.bytes)?;
        Ok(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bundled_trace_opens_and_names_its_arrays() {
        let folder = tempfile::tempdir().expect("a folder");
        for bundled in &BUNDLED {
            let path = bundled.unpack(folder.path()).expect("written");
            let trace = crate::trace::open(&path, None).expect(bundled.name);
            assert!(trace.len() > 1000 && !trace.tables().regions.is_empty() && !trace.tables().title.is_empty());
            assert!(!trace.tables().locations.is_empty(), "{} has no source lines", bundled.name);
        }
    }
}
