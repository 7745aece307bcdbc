//! What the fuzzer has found, and what it knows of each format: every input is answered with references or with an error
//! that names it, as `fuzz/src/main.rs` asks, without a panic and without much memory.
#![cfg(feature = "formats")]
#![expect(clippy::print_stdout, reason = "what it saw is part of the result")]

use orrery::trace::{Format, Stream};
use std::fs;
use std::path::Path;

/// Chunks read of one input: all but the first are alike.
const CHUNKS: usize = 4;

/// The references of an input's first chunks, and whether it was read without an error.
fn read(name: &str, bytes: Vec<u8>, format: Option<Format>) -> (usize, bool) {
    let check = |text: String| assert!(text.contains("input") || text.contains("temporary"), "{name}: {text}");
    let mut stream = match Stream::of_bytes("input", bytes, format) {
        Ok(stream) => stream,
        Err(error) => {
            check(error.to_string());
            return (0, false);
        }
    };
    let (mut all, mut chunk) = (0, Vec::new());
    for _ in 0..CHUNKS {
        if let Err(error) = stream.next_chunk(&mut chunk) {
            check(error.to_string());
            return (all, false);
        }
        for r in &chunk {
            assert!(r.size > 0 && r.addr.checked_add(u64::from(r.size) - 1).is_some(), "{name}: {r:?}");
        }
        all += chunk.len();
    }
    (all, true)
}

#[test]
fn every_input_that_the_fuzzer_keeps_is_answered() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    let (mut inputs, mut whole, mut references, mut formats) = (0, 0, 0, 0);
    for folder in fs::read_dir(corpus).unwrap() {
        let folder = folder.unwrap();
        let name = folder.file_name().into_string().unwrap();
        if name == "story" {
            // No traces: `tests/commands/story_films.rs` reads them.
            continue;
        }
        let format = (name != "detect").then(|| Format::named(&name).unwrap());
        formats += 1;
        for file in fs::read_dir(folder.path()).unwrap() {
            let path = file.unwrap().path();
            let (some, is_whole) = read(&path.display().to_string(), fs::read(&path).unwrap(), format);
            inputs += 1;
            whole += usize::from(is_whole);
            references += some;
        }
    }
    println!("{inputs} inputs of {formats} formats: {whole} without an error, {references} references");
    assert!(inputs > 0 && whole < inputs, "a corpus without faults finds none");
}
