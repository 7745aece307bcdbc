//! What was read goes on: written as a native file and read again, simulated, indexed, sought and laid out as a picture.

use orrery::reference::{MemoryTrace, Reference, Tables};
use orrery::scene::{Stage, View};
use orrery::sim::config::preset;
use orrery::timeline::{Cursor, Options, Timeline};
use orrery::trace::{Stream, check_tables, native};
use std::sync::Arc;

/// References that are followed of one input.
const MOST: usize = 2_000;

/// Bytes that they may touch: a reference of 1 MiB is as much work as 16,384 of one line.
const MOST_BYTES: u64 = 1 << 20;

/// Cores that are followed: more are refused by commands, with a sentence.
const MOST_CORES: u16 = 64;

/// Follows the references of a whole input and its tables; `false` where that is too much work.
pub(crate) fn follow(references: &[Reference], tables: &Tables) -> bool {
    if references.len() > MOST || references.iter().map(|r| u64::from(r.size)).sum::<u64>() > MOST_BYTES {
        return false;
    }
    assert!(check_tables("input", tables).is_ok(), "a reader gave tables that break the rules: {tables:?}");
    again(references, tables);
    picture(references, tables)
}

/// A native file gives back what was written into it.
fn again(references: &[Reference], tables: &Tables) {
    let mut writer = native::Writer::new("again", Vec::new());
    writer.write(references).expect("valid references can be written");
    let bytes = writer.finish(tables).expect("valid tables can be written");
    let mut stream = Stream::of_bytes("again", bytes, None).expect("our own file can be read");
    let (mut read, mut chunk) = (Vec::new(), Vec::new());
    loop {
        stream.next_chunk(&mut chunk).expect("our own file is whole");
        if chunk.is_empty() {
            break;
        }
        read.extend_from_slice(&chunk);
    }
    assert!(read == references, "a native file gave back other references");
    let (old, new) = (tables, stream.tables());
    assert_eq!(
        (old.regions.len(), old.locations.len(), &old.title),
        (new.regions.len(), new.locations.len(), &new.title)
    );
}

/// Caches, an index, and frames at the start, in the middle and at the end.
fn picture(references: &[Reference], tables: &Tables) -> bool {
    let cores = references.iter().map(|r| r.core).max().unwrap_or(0);
    if cores >= MOST_CORES {
        return false;
    }
    let mut config = preset("paper").expect("a preset").clone();
    config.cores = cores + 1;
    let source = Arc::new(MemoryTrace::new(references.to_vec(), tables.clone()));
    let Ok(hierarchy) = orrery::sim::prepare(&config, &*source) else { return false };
    let mut stage = Stage::new(&hierarchy, &tables.regions);
    let timeline = Timeline::build(source, hierarchy, Options::default(), &mut |_, _| true).expect("in memory");
    let len = timeline.len();
    assert_eq!(len, references.len() as u64);
    let mut cursor = Cursor::new(Arc::new(timeline)).expect("in memory");
    let view = View::default();
    for tick in [0, len / 2, len] {
        let moment = cursor.seek(tick, view.history()).expect("in memory");
        let scene = stage.frame(&moment, &view);
        stage.reuse(scene);
    }
    true
}
