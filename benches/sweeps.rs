//! A sweep beside single runs, whole commands: 16 sizes by 5 numbers of ways of one LRU level, 20 million references of a stream, uniform and
//! Zipf draws over 64 MiB in a native file.
//!
//! Prints the seconds of `orrery sweep`, of 80 runs of `orrery stats --by-line --json`, and their ratio. Counts of all cells must be equal.
//! `SWEEP_REFERENCES=1000000` makes another length.
//!
//! As a test (`cargo test --benches`) a short trace is played once, for the counts.

#![expect(clippy::print_stdout, reason = "a bench reports there")]

use orrery::reference::Tables;
use orrery::trace::native::Writer;
use orrery::trace::synth;
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Standard output of the program, as JSON, and its seconds.
fn timed(at: &Path, arguments: &str) -> (f64, Value) {
    let start = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_orrery")).args(arguments.split(' ')).current_dir(at).output();
    let seconds = start.elapsed().as_secs_f64();
    let output = output.expect("the program starts");
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    (seconds, serde_json::from_slice(&output.stdout).expect("JSON"))
}

fn main() {
    let measure = std::env::args().any(|argument| argument == "--bench");
    let asked = std::env::var("SWEEP_REFERENCES").ok().and_then(|text| text.parse().ok());
    let references: u64 = asked.unwrap_or(if measure { 20_000_000 } else { 20_000 });
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let mut writer = Writer::new("mix", std::fs::File::create(at.join("mix.orrery")).expect("a file"));
    let all: Vec<_> = synth::mix(references, 1).collect();
    writer.write(&all).expect("written");
    writer.finish(&Tables::default()).expect("finished");
    drop(all);

    let sweep = "sweep mix.orrery --l1 32KiB,8,64 --vary L1.size=4KiB..128MiB --vary L1.ways=1,2,4,8,16 --json";
    let (together, cells) = timed(at, sweep);
    let cells = cells.as_array().expect("cells");
    assert_eq!(cells.len(), 80);
    let mut alone = 0.0;
    for cell in cells {
        let level = &cell["levels"][0];
        let (seconds, stats) =
            timed(at, &format!("stats mix.orrery --by-line --json --l1 {},{},64", level["size"], level["ways"]));
        alone += seconds;
        for key in ["demand_misses", "writebacks", "evictions", "bytes_in"] {
            assert_eq!(stats["levels"][0][key], level[key], "{key} of {}", cell["values"]);
        }
    }
    println!(
        "{references} references, 80 cells: sweep {together:.1} s, single runs {alone:.1} s, ratio {:.2}",
        alone / together
    );
}
