//! One trace reader under libFuzzer: that of the format named by `ORRERY_FUZZ_FORMAT`, or the one that content is found to be of.
//!
//! `run.sh` builds and runs it for every format. A reader must answer any bytes with references or with an error that names a
//! place; what it yields must keep the promises of `Reference`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use orrery::trace::{Format, Stream};
use std::sync::LazyLock;

static FORMAT: LazyLock<Option<Format>> = LazyLock::new(|| {
    let name = std::env::var("ORRERY_FUZZ_FORMAT").ok().filter(|name| name != "detect")?;
    Some(Format::named(&name).unwrap_or_else(|| panic!("ORRERY_FUZZ_FORMAT: no format `{name}`")))
});

/// Chunks read of one input: a few packed bytes may stand for any number of rows, and all but the first are alike.
const CHUNKS: usize = 4;

fuzz_target!(|data: &[u8]| {
    let Ok(mut stream) = Stream::of_bytes("input", data.to_vec(), *FORMAT) else { return };
    let mut chunk = Vec::new();
    for _ in 0..CHUNKS {
        match stream.next_chunk(&mut chunk) {
            Ok(()) if chunk.is_empty() => break,
            Ok(()) => {}
            Err(error) => {
                assert!(error.to_string().contains("input") || format!("{error:?}").contains("Io"), "{error}");
                break;
            }
        }
        for r in &chunk {
            assert!(r.size > 0 && r.addr.checked_add(u64::from(r.size) - 1).is_some(), "{r:?}");
        }
    }
    for notice in stream.notices() {
        assert!(notice.len() < 10_000, "a notice of {} bytes", notice.len());
    }
    let _ = stream.tables();
});
