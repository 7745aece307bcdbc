//! Compressed traces: every kind that is seen through, cut short, damaged, joined, and through a pipe.
#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use orrery::reference::{Reference, ReferenceSource};
use orrery::trace::{self, TraceError};
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

type Pack = fn(&[u8]) -> Vec<u8>;

/// Name, the command that tests such a file, and the compressor.
const PACKINGS: [(&str, &str, Pack); 4] = [
    ("gzip", "gzip -t", |text| {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(text).unwrap();
        out.finish().unwrap()
    }),
    ("xz", "xz -t", |text| {
        let mut out = liblzma::write::XzEncoder::new(Vec::new(), 0);
        out.write_all(text).unwrap();
        out.finish().unwrap()
    }),
    ("zstd", "zstd -t", |text| zstd::encode_all(text, 1).unwrap()),
    ("bzip2", "bzip2 -t", |text| {
        let mut out = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        out.write_all(text).unwrap();
        out.finish().unwrap()
    }),
];

fn open(bytes: &[u8]) -> Result<Box<dyn ReferenceSource>, TraceError> {
    let folder = tempfile::tempdir().unwrap();
    // Told from content: the name says nothing.
    let path = folder.path().join("t");
    fs::write(&path, bytes).unwrap();
    trace::open(&path, None)
}

fn all(source: &dyn ReferenceSource) -> Vec<Reference> {
    (0..source.len().div_ceil(source.chunk_len())).flat_map(|i| source.chunk(i).unwrap().to_vec()).collect()
}

/// Addresses that do not compress to nothing, so that a cut falls between many lines.
fn text() -> String {
    let mut x = 1u64;
    let lines = std::iter::repeat_with(|| {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!(" L {:x},{}\n", x >> 30, 1 + (x >> 60))
    });
    lines.take(150_000).collect()
}

#[test]
fn every_packing_is_seen_through() {
    let text = text();
    let whole = all(&*open(text.as_bytes()).unwrap());
    assert_eq!(whole.len(), 150_000);
    for (name, _, pack) in PACKINGS {
        let packed = pack(text.as_bytes());
        let source = open(&packed).unwrap();
        assert!(all(&*source) == whole && source.notices().is_empty(), "{name}: {:?}", source.notices());
        // Two in a row, as `cat a b` makes them.
        let twice = open(&[packed.clone(), packed].concat()).unwrap();
        assert_eq!(twice.len(), 300_000, "{name}");
        // A native trace needs a file of its own.
        let native = fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/traces/matmul16.orrery")).unwrap();
        assert_eq!(open(&pack(&native)).unwrap().len(), open(&native).unwrap().len(), "{name}");
    }
}

#[test]
fn a_cut_stream_keeps_what_is_whole_and_says_so() {
    let text = text();
    let whole = all(&*open(text.as_bytes()).unwrap());
    for (name, tester, pack) in PACKINGS {
        let packed = pack(text.as_bytes());
        for length in [packed.len() - 1, packed.len() * 3 / 4] {
            let source = open(&packed[..length]).unwrap_or_else(|e| panic!("{name} to {length}: {e}"));
            let kept = all(&*source);
            // The last line may be torn where it looks whole.
            assert!(!kept.is_empty() && kept[..] == whole[..kept.len()], "{name} to {length}: {}", kept.len());
            let said = format!("the {name} stream is cut short; kept the {} references before that", kept.len());
            assert!(source.notices().iter().any(|n| n.contains(&said)), "{name}: {:?}", source.notices());
        }
        for length in 1..40 {
            // Nothing can be had of it; what can be told depends on how much there is.
            let error = open(&packed[..length]).err().unwrap_or_else(|| panic!("{name} to {length} is read"));
            let said = error.to_string();
            let testable = !matches!(error, TraceError::Damaged(_)) || said.contains(tester);
            assert!(length < 6 || (said.contains(name) && testable), "{name} to {length}: {said}");
        }
    }
}

#[test]
fn damage_is_an_error_that_names_the_packing() {
    let text = text();
    let whole = all(&*open(text.as_bytes()).unwrap());
    for (name, tester, pack) in PACKINGS {
        let mut packed = pack(text.as_bytes());
        let middle = packed.len() / 2;
        packed[middle..middle + 64].fill(0xff);
        match open(&packed) {
            Err(error) => {
                let text = error.to_string();
                assert!(matches!(error, TraceError::Damaged(_) | TraceError::BrokenLine(_)), "{name}: {text}");
                assert!(text.contains(tester) || text.contains("mend"), "{name}: {text}");
            }
            Ok(source) => panic!("{name}: damage went unsaid: {} of {}", source.len(), whole.len()),
        }
    }
    // One in the other is nobody's trace.
    let error = open(&PACKINGS[1].2(&PACKINGS[0].2(text.as_bytes()))).err().unwrap().to_string();
    assert!(error.contains("gzip data inside packed data"), "{error}");
    // A frame that asks for 2 GiB of memory is refused, not obeyed.
    let greedy = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 0x01, 0x00, 0x00];
    let error = open(&greedy).err().unwrap().to_string();
    assert!(error.contains("zstd"), "{error}");
}

#[test]
fn packed_text_comes_through_a_pipe_and_the_tools_packings_are_ours() {
    let text = text();
    for (tool, arguments) in [("gzip", "-1"), ("xz", "-0"), ("zstd", "-1"), ("bzip2", "-1")] {
        let mut pack = match Command::new(tool).arg(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn() {
            Ok(pack) => pack,
            // Not on this machine: the crate's own stands in above.
            Err(_) => continue,
        };
        let mut stdin = pack.stdin.take().unwrap();
        let given = text.clone();
        let writer = std::thread::spawn(move || stdin.write_all(given.as_bytes()));
        let stats = Command::new(env!("CARGO_BIN_EXE_orrery"))
            .args(["stats", "-", "--json"])
            .stdin(pack.stdout.take().unwrap())
            .output()
            .unwrap();
        writer.join().unwrap().unwrap();
        assert!(pack.wait().unwrap().success());
        let out = String::from_utf8_lossy(&stats.stdout);
        assert!(stats.status.success() && out.contains("150000"), "{tool}: {out}");
    }
}
