//! One trace reader under libFuzzer: that of the format named by `ORRERY_FUZZ_FORMAT`, or the one that content is found to be of.
//!
//! `run.sh` builds and runs it for every format. A reader must answer any bytes with references or with an error that names a
//! place; what it yields must keep the promises of `Reference`, and a part of it goes on through the rest of the library
//! ([`deep`]). Inputs are changed inside of their wrappings, whose lengths and checksums are mended after ([`shape`]).
//! An input of which not one reference was read is not kept to be changed further: else inputs that are refused at the door
//! soon outnumber all others. `detect` keeps them: what content is of is its question.
//! `story` is no format of traces: there inputs are storyboards (the feature `story`, as they need the code that draws).
//! `ORRERY_FUZZ_TALLY` names a file that is kept to how many inputs were read, with references, to their end and to a picture.

#![no_main]

mod deep;
mod shape;
#[cfg(feature = "story")]
mod story;

use libfuzzer_sys::{Corpus, fuzz_mutator, fuzz_target};
use orrery::trace::{Format, Stream};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

static NAME: LazyLock<String> = LazyLock::new(|| std::env::var("ORRERY_FUZZ_FORMAT").unwrap_or_default());

static FORMAT: LazyLock<Option<Format>> = LazyLock::new(|| {
    let name = Some(NAME.as_str()).filter(|name| !matches!(*name, "" | "detect" | "story"))?;
    Some(Format::named(name).unwrap_or_else(|| panic!("ORRERY_FUZZ_FORMAT: no format `{name}`")))
});

/// Chunks read of one input: a few packed bytes may stand for any number of rows, and all but the first are alike.
const CHUNKS: usize = 4;

/// Inputs seen, those of which a reference was read, and those read to their end without an error, and those of
/// them that went on through the rest of the library.
static SEEN: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];

/// Inputs between two writings of the tally.
const TALLY_EVERY: u64 = 256;

/// Changes tried of an input, where they outgrow the limit.
const TRIES: usize = 4;

fn tally(some: bool, whole: bool, deep: bool) {
    for (n, yes) in SEEN[1..].iter().zip([some, whole, deep]) {
        n.fetch_add(u64::from(yes), Ordering::Relaxed);
    }
    if (SEEN[0].fetch_add(1, Ordering::Relaxed) + 1).is_multiple_of(TALLY_EVERY)
        && let Some(path) = std::env::var_os("ORRERY_FUZZ_TALLY")
    {
        let [seen, some, whole, deep] = SEEN.each_ref().map(|n| n.load(Ordering::Relaxed));
        // A tally that cannot be written is missed by whoever reads it.
        let _ = std::fs::write(path, format!("{seen} {some} {whole} {deep}\n"));
    }
}

fuzz_target!(|data: &[u8]| -> Corpus {
    #[cfg(feature = "story")]
    if NAME.as_str() == "story" {
        let [some, whole, deep] = story::follow(data);
        tally(some, whole, deep);
        return if some { Corpus::Keep } else { Corpus::Reject };
    }
    assert!(NAME.as_str() != "story", "storyboards need --features story, as run.sh has it");
    if follow(data) || FORMAT.is_none() { Corpus::Keep } else { Corpus::Reject }
});

/// Reads an input; whether there was a reference in it.
fn follow(data: &[u8]) -> bool {
    let Ok(mut stream) = Stream::of_bytes("input", data.to_vec(), *FORMAT) else {
        tally(false, false, false);
        return false;
    };
    let (mut all, mut chunk) = (Vec::new(), Vec::new());
    let mut ended = false;
    let mut some = false;
    for _ in 0..CHUNKS {
        match stream.next_chunk(&mut chunk) {
            Ok(()) if chunk.is_empty() => {
                ended = true;
                break;
            }
            Ok(()) => {}
            Err(error) => {
                assert!(error.to_string().contains("input") || format!("{error:?}").contains("Io"), "{error}");
                // Those before what is broken.
                some |= !chunk.is_empty();
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
    some |= !all.is_empty();
    let whole = ended && some;
    tally(some, whole, whole && deep::follow(&all, &tables));
    some
}

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut rng = fastrand::Rng::with_seed(seed.into());
    // Now and then any bytes: no shape.
    let tries = if rng.u8(..32) == 0 { 0 } else { TRIES };
    let fits = |bytes: &Vec<u8>| !bytes.is_empty() && bytes.len() <= max_size;
    let changed = (0..tries).find_map(|_| shape::change(&data[..size], max_size, &NAME, &mut rng).filter(fits));
    match changed {
        Some(bytes) => {
            data[..bytes.len()].copy_from_slice(&bytes);
            bytes.len()
        }
        None => libfuzzer_sys::fuzzer_mutate(data, size, max_size),
    }
});
