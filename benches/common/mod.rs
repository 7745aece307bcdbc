//! A long trace in a native file, for benches.

use orrery::reference::{Region, Tables};
use orrery::trace::native::{CHUNK, FileWriter};
use orrery::trace::synth::{BASE, mix};
use std::path::Path;

/// What [`write`] names.
pub(crate) fn heap() -> Tables {
    let heap = Region::new("heap", BASE, 64 << 20);
    Tables { regions: vec![heap], ..Tables::default() }
}

/// 40 % stream, 20 % uniform over 64 MiB, 40 % Zipf; 30 % stores.
pub(crate) fn write(path: &Path, references: u64) {
    let mut writer = FileWriter::create(path).expect("a file in the temporary folder");
    let mut all = mix(references, 1);
    let mut chunk = Vec::with_capacity(CHUNK);
    loop {
        chunk.clear();
        chunk.extend(all.by_ref().take(CHUNK));
        if chunk.is_empty() {
            break;
        }
        writer.write(&chunk).expect("room on the disk");
    }
    writer.finish(&heap()).expect("room on the disk");
}
