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
    /// The preset that shows what it is there to show.
    pub cache: &'static str,
}

macro_rules! bundled {
    ($($name:literal under $cache:literal),* $(,)?) => {
        [$(Bundled { name: $name, bytes: include_bytes!(concat!("../../traces/", $name, ".orrery")), cache: $cache }),*]
    };
}

/// All of them, in the order a lesson would take.
pub const BUNDLED: [Bundled; 10] = bundled![
    "array_init" under "paper",
    "matmul16" under "paper",
    "matmul16_transposed" under "paper",
    "matmul16_blocked" under "paper",
    "matmul12_blocked" under "paper",
    "bubble_sort" under "paper",
    "merge_sort" under "paper",
    "mpm" under "paper-x4",
    "false_sharing" under "paper",
    "false_sharing_padded" under "paper",
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

#[cfg(all(test, feature = "formats"))]
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
