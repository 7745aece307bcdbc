//! One trace reader under libFuzzer: that of the format named by `ORRERY_FUZZ_FORMAT`, or the one that content is found to be of.
//!
//! `run.sh` builds and runs it for every format. A reader must answer any bytes with references or with an error that names a
//! place; what it yields must keep the promises of `Reference`, and a part of it goes on through the rest of the library
//! ([`deep`]). Inputs are changed inside of their wrappings, whose lengths and checksums are mended after ([`shape`]).
//! `ORRERY_FUZZ_TALLY` names a file that is kept to how many inputs were read, with references and to their end.

#![no_main]

mod deep;
mod shape;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use orrery::trace::{Format, Stream};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

static NAME: LazyLock<String> = LazyLock::new(|| std::env::var("ORRERY_FUZZ_FORMAT").unwrap_or_default());

static FORMAT: LazyLock<Option<Format>> = LazyLock::new(|| {
    let name = Some(NAME.as_str()).filter(|name| !matches!(*name, "" | "detect"))?;
    Some(Format::named(name).unwrap_or_else(|| panic!("ORRERY_FUZZ_FORMAT: no format `{name}`")))
});

/// Chunks read of one input: a few packed bytes may stand for any number of rows, and all but the first are alike.
const CHUNKS: usize = 4;

/// Inputs seen, those with references, and those read to their end without an error.
static SEEN: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];

/// Inputs between two writings of the tally.
const TALLY_EVERY: u64 = 256;

fn tally(some: bool, whole: bool) {
    SEEN[1].fetch_add(u64::from(some), Ordering::Relaxed);
    SEEN[2].fetch_add(u64::from(whole), Ordering::Relaxed);
    if (SEEN[0].fetch_add(1, Ordering::Relaxed) + 1).is_multiple_of(TALLY_EVERY)
        && let Some(path) = std::env::var_os("ORRERY_FUZZ_TALLY")
    {
        let [seen, some, whole] = SEEN.each_ref().map(|n| n.load(Ordering::Relaxed));
        // A tally that cannot be written is missed by whoever reads it.
        let _ = std::fs::write(path, format!("{seen} {some} {whole}\n"));
    }
}

fuzz_target!(|data: &[u8]| {
    let Ok(mut stream) = Stream::of_bytes("input", data.to_vec(), *FORMAT) else { return tally(false, false) };
    let (mut all, mut chunk) = (Vec::new(), Vec::new());
    let mut ended = false;
    for _ in 0..CHUNKS {
        match stream.next_chunk(&mut chunk) {
            Ok(()) if chunk.is_empty() => {
                ended = true;
                break;
            }
            Ok(()) => {}
            Err(error) => {
                assert!(error.to_string().contains("input") || format!("{error:?}").contains("Io"), "{error}");
                break;
            }
        }
        for r in &chunk {
            assert!(r.size > 0 && r.addr.checked_add(u64::from(r.size) - 1).is_some(), "{r:?}");
        }
        all.extend_from_slice(&chunk);
    }
    for notice in stream.notices() {
        assert!(notice.len() < 10_000, "a notice of {} bytes", notice.len());
    }
    let tables = stream.tables();
    tally(!all.is_empty(), ended && !all.is_empty());
    if ended && !all.is_empty() {
        deep::follow(&all, &tables);
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let changed = shape::change(&data[..size], max_size, &NAME, &mut fastrand::Rng::with_seed(seed.into()));
    match changed {
        Some(bytes) if !bytes.is_empty() && bytes.len() <= max_size => {
            data[..bytes.len()].copy_from_slice(&bytes);
            bytes.len()
        }
        // No shape is known of it, or it has outgrown the limit: any bytes will do.
        _ => libfuzzer_sys::fuzzer_mutate(data, size, max_size),
    }
});
