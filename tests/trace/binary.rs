//! Binary and columnar formats: what each sample holds, and what becomes of it when it is cut, bent or taken for another.
//!
//! `tests/traces/README.md` says what made each sample: the formats' own C structs, Google's protobuf library, five writers of
//! tables.
#![cfg(feature = "formats")]
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking, and says when it skips")]

use flate2::Compression;
use flate2::write::GzEncoder;
use orrery::reference::Kind::{self, Fetch, Read, Write};
use orrery::reference::{NO_LANE, Reference, ReferenceSource};
use orrery::trace::{self, Format, TraceError};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A trace, the format it is of, and what it holds.
struct Sample {
    name: &'static str,
    format: Format,
    bytes: Vec<u8>,
    /// Where whole records end, for formats whose records have one length: the first such place and the length.
    records: Option<(usize, usize)>,
    holds: Vec<Reference>,
    /// Words of its notices, in order; as many notices as words.
    told: &'static [&'static str],
}

fn kept(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces").join(name)
}

fn r(kind: Kind, addr: u64, size: u32, pc: u64, core: u16) -> Reference {
    Reference { kind, addr, size, pc, core, lane: NO_LANE }
}

/// Opens bytes as a file; the folder goes when the source does.
fn open(bytes: impl AsRef<[u8]>, format: Option<Format>) -> Result<Box<dyn ReferenceSource>, TraceError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.trace");
    fs::write(&path, bytes).unwrap();
    trace::open(&path, format)
}

fn all(source: &dyn ReferenceSource) -> Vec<Reference> {
    (0..source.len().div_ceil(source.chunk_len())).flat_map(|i| source.chunk(i).unwrap().to_vec()).collect()
}

/// What `structs.c` writes, compiled here where there is a compiler, else the same bytes made without it.
fn structs() -> [(&'static str, Vec<u8>); 4] {
    let made = structs_by_hand();
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("structs");
    let built = Command::new("cc").arg("-o").arg(&program).arg(kept("structs.c")).status();
    if !built.is_ok_and(|s| s.success()) {
        println!("not compiled: no cc; the bytes of structs.c were made without it");
        return made;
    }
    assert!(Command::new(&program).arg(folder.path()).status().unwrap().success());
    for (name, bytes) in &made {
        assert_eq!(&fs::read(folder.path().join(name)).unwrap(), bytes, "{name}: C's own layout");
    }
    made
}

fn structs_by_hand() -> [(&'static str, Vec<u8>); 4] {
    let (mut champsim, mut cloudsuite, mut dinero) = (Vec::new(), Vec::new(), Vec::new());
    let record = |out: &mut Vec<u8>, length: usize, parts: &[(usize, &[u8])]| {
        let start = out.len();
        out.resize(start + length, 0);
        for (at, bytes) in parts {
            out[start + at..start + at + bytes.len()].copy_from_slice(bytes);
        }
    };
    for i in 0..24u64 {
        let at = |base: u64| (base + 8 * i).to_le_bytes();
        let (a, b, c) = (at(0x7ffc_0000_1000), at(0x7ffc_0000_2000), at(0x7ffc_0000_3000));
        let ip = |n: u64| (0x40_1130 + 4 * n).to_le_bytes();
        record(&mut champsim, 64, &[(0, &ip(0)), (10, &[60]), (12, &[6, 0, 0, 25]), (32, &a), (48, &b)]);
        record(&mut champsim, 64, &[(0, &ip(1)), (13, &[60]), (24, &c)]);
        let taken = u8::from(i < 23);
        record(&mut champsim, 64, &[(0, &ip(2)), (8, &[1, taken, 26]), (12, &[26, 25])]);
        let asid = [1, if i < 22 { 1 } else { 2 }];
        let (read, written) = (at(0xffff_8000_0000_1000), at(0xffff_8000_0000_3000));
        let ip = (0x1000_1000 + 4 * i).to_le_bytes();
        record(&mut cloudsuite, 96, &[(0, &ip), (13, &[9]), (17, &[8]), (48, &written), (56, &read), (88, &asid)]);
    }
    for i in 0..30u32 {
        let [kind, size] = [i % 6, 1 << (i % 4)].map(|n| u8::try_from(n).unwrap());
        record(&mut dinero, 8, &[(0, &(0x8000_1000 + 4 * i).to_le_bytes()), (4, &[size, 0, kind, 0])]);
    }
    let entries: [(u16, u16, u64); 24] = [
        (25, 0, 7),
        (28, 12, 7),
        (22, 4, 4711),
        (24, 4, 4711),
        (28, 2, 13_300_000_000_000_000),
        (47, 4, 0x0045_8b48),
        (10, 4, 0x40_1000),
        (0, 8, 0x7ffd_0000),
        (1, 4, 0x7ffd_0010),
        (17, 3, 0x01_0502),
        (0, 1, 0x7ffd_0020),
        (22, 4, 4712),
        (48, 2, 0x40_2000),
        (29, 3, 0x40_2010),
        (1, 16, 0x7ffe_0000),
        (3, 64, 0x7ffe_0040),
        (42, 64, 0x7ffe_0080),
        (20, 0, 0x7ffe_0000),
        (21, 0, 0x7fff_0000),
        (22, 4, 4711),
        (16, 1, 0x40_100c),
        (0, 8, 0x7ffd_0030),
        (23, 4, 4711),
        (26, 0, 0),
    ];
    let drmemtrace = entries.iter().flat_map(|&(kind, size, addr)| entry(kind, size, addr)).collect();
    [("champsim", champsim), ("cloudsuite", cloudsuite), ("drmemtrace", drmemtrace), ("dinero", dinero)]
}

/// A record of drmemtrace.
fn entry(kind: u16, size: u16, addr: u64) -> Vec<u8> {
    [&kind.to_le_bytes()[..], &size.to_le_bytes(), &addr.to_le_bytes()].concat()
}

fn drmemtrace_holds() -> Vec<Reference> {
    vec![
        r(Fetch, 0x40_1000, 4, 0x40_1000, 0),
        r(Read, 0x7ffd_0000, 8, 0x40_1000, 0),
        r(Write, 0x7ffd_0010, 4, 0x40_1000, 0),
        r(Fetch, 0x40_1004, 2, 0x40_1004, 0),
        r(Fetch, 0x40_1006, 5, 0x40_1006, 0),
        r(Fetch, 0x40_100b, 1, 0x40_100b, 0),
        r(Read, 0x7ffd_0020, 1, 0x40_100b, 0),
        r(Fetch, 0x40_2000, 2, 0x40_2000, 1),
        r(Write, 0x7ffe_0000, 16, 0x40_2010, 1),
        r(Fetch, 0x40_100c, 1, 0x40_100c, 0),
        r(Read, 0x7ffd_0030, 8, 0x40_100c, 0),
    ]
}

/// What every table of `make_tables.py` holds.
fn table_holds() -> Vec<Reference> {
    let row = |i: u64| {
        let high = if i % 4 == 3 { 0xffff << 48 } else { 0 };
        let kind = [Read, Write, Fetch][usize::try_from(i % 3).unwrap()];
        let core = u16::try_from(i / 50).unwrap();
        r(kind, high + 0x7ffe_0000_1000 + 8 * i, 1 << (i % 4), 0x40_1000 + 4 * (i % 10), core)
    };
    (0..200).map(row).collect()
}

fn samples() -> Vec<Sample> {
    let [(_, champsim), (_, cloudsuite), (_, drmemtrace), (_, dinero)] = structs();
    let champsim_holds = (0..24u64).flat_map(|i| {
        let of = |kind, base: u64, pc| r(kind, base + 8 * i, 1, pc, 0);
        let fetch = |pc| r(Fetch, pc, 1, pc, 0);
        let (load, store, branch) = (0x40_1130, 0x40_1134, 0x40_1138);
        let reads = [of(Read, 0x7ffc_0000_1000, load), of(Read, 0x7ffc_0000_2000, load)];
        [fetch(load), reads[0], reads[1], fetch(store), of(Write, 0x7ffc_0000_3000, store), fetch(branch)]
    });
    let cloudsuite_holds = (0..24u64).flat_map(|i| {
        let pc = 0x1000_1000 + 4 * i;
        let (read, written) = (0xffff_8000_0000_1000 + 8 * i, 0xffff_8000_0000_3000 + 8 * i);
        [r(Fetch, pc, 1, pc, 0), r(Read, read, 1, pc, 0), r(Write, written, 1, pc, 0)]
    });
    let dinero_holds = (0..30u32).filter(|i| i % 6 < 4).map(|i| {
        let kind = [Read, Write, Fetch, Read][i as usize % 6];
        r(kind, u64::from(0x8000_1000 + 4 * i), 1 << (i % 4), 0, 0)
    });
    let gem5_holds = (0..50u64).flat_map(|i| {
        let (core, pc) = (u16::try_from(i % 2).unwrap(), 0x8000_0000 + 4 * i);
        [
            r(Fetch, 0x8000_0000 + 64 * (i / 16), 64, 0, core),
            r(Read, 0xffff_8000_0000_1000 + 8 * i, 8, pc, core),
            r(Write, 0x9000_0000 + 4 * i, 4, pc, core),
        ]
    });
    let told_drmemtrace: &[&str] = &["passed over 2 markers, 2 software prefetches, 1 cache flush"];
    let sample =
        |name, format, bytes: Vec<u8>, records, holds, told| Sample { name, format, bytes, records, holds, told };
    let sizes: &[&str] = &["each reference is taken as 1 byte"];
    let spaces: &[&str] = &["each reference is taken as 1 byte", "2 instructions of other address spaces"];
    let read = |name: &str| fs::read(kept(name)).unwrap();
    let mut samples = vec![
        sample("champsim", Format::CHAMPSIM, champsim, Some((0, 64)), champsim_holds.collect(), sizes),
        sample("cloudsuite", Format::CLOUDSUITE, cloudsuite, Some((0, 96)), cloudsuite_holds.collect(), spaces),
        sample("drmemtrace", Format::DRMEMTRACE, drmemtrace, Some((0, 12)), drmemtrace_holds(), told_drmemtrace),
        sample(
            "dinero",
            Format::DINERO,
            dinero,
            Some((0, 8)),
            dinero_holds.collect(),
            &["5 copy-backs, 5 invalidations", "5 miscellaneous references are taken as reads"],
        ),
        sample(
            "packets.gem5",
            Format::GEM5,
            read("packets.gem5"),
            None,
            gem5_holds.collect(),
            &["5 other packets, 5 incomplete packets", "passed over: 5 of command 7"],
        ),
    ];
    for name in ["drmemtrace.zip", "drmemtrace-piped.zip"] {
        samples.push(sample(name, Format::DRMEMTRACE, read(name), None, drmemtrace_holds(), told_drmemtrace));
    }
    for name in ["pandas.parquet", "fastparquet.parquet", "pyarrow.parquet", "polars.parquet", "duckdb.parquet"] {
        samples.push(sample(name, Format::PARQUET, read(name), None, table_holds(), &["no table of regions"]));
    }
    for name in ["pandas.feather", "polars.arrow", "pyarrow.arrows"] {
        samples.push(sample(name, Format::ARROW, read(name), None, table_holds(), &[]));
    }
    samples.push(sample(
        "accelsim/kernel-1.traceg",
        Format::ACCELSIM,
        read("accelsim/kernel-1.traceg"),
        None,
        accelsim_holds(),
        &["holds 2 of the 196 thread blocks of its grid"],
    ));
    samples
}

/// The first two warps of block 0, and what is left of block 195: 80 threads.
fn accelsim_holds() -> Vec<Reference> {
    let mut holds = Vec::new();
    for (warp, lanes, core) in [(0, 32, 0), (1, 32, 0), (1560, 32, 3), (1561, 32, 3), (1562, 16, 3)] {
        for (kind, base, pc) in
            [(Read, 0x7fb0_fc43_0e00, 0xa0), (Read, 0x7fb0_fc40_0000, 0xb0), (Write, 0x7fb0_fc46_1c00, 0xf0)]
        {
            let of = |lane: u8| Reference { lane, ..r(kind, base + 128 * warp + 4 * u64::from(lane), 4, pc, core) };
            holds.extend((0..lanes).map(of));
        }
    }
    holds
}

#[test]
fn every_sample_is_known_by_its_content_and_read_in_full() {
    for s in samples() {
        let source = open(&s.bytes, None).unwrap_or_else(|e| panic!("{}: {e}", s.name));
        let found = all(&*source);
        for (n, (found, holds)) in found.iter().zip(&s.holds).enumerate() {
            assert_eq!(found, holds, "{} reference {n}", s.name);
        }
        assert_eq!(found.len(), s.holds.len(), "{}", s.name);
        let notices = source.notices();
        assert_eq!(notices.len(), s.told.len(), "{}: {notices:?}", s.name);
        for (notice, word) in notices.iter().zip(s.told) {
            assert!(notice.contains("t.trace: ") && notice.contains(word), "{}: {notice}", s.name);
        }
        assert!(all(&*open(&s.bytes, Some(s.format)).unwrap()) == s.holds, "{}: by --format", s.name);
        assert!(!source.tables().made_by.is_empty(), "{}", s.name);
    }
}

#[test]
fn no_format_takes_a_sample_of_another() {
    let texts: [(&str, Option<Format>, &[u8]); 9] = [
        ("lackey", Some(Format::LACKEY), b" L 1ffefffe80,8\n S 10,4\n"),
        ("din", None, b"0 1000\n1 1004\n2 4000\n"),
        ("pin", None, b"0x401000: R 0x7ffe0000\n0x401004: W 0x7ffe0008\n"),
        ("csv", None, b"address,size,kind\n4096,8,read\n"),
        ("zeros", None, &[0; 4096]),
        ("ones", None, &[0xff; 4096]),
        ("elf", None, b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0\x01\0\0\0\x50\x10\0\0\0\0\0\0\x40\0\0\0\0\0\0\0\x10\x39\0\0\0\0\0\0\0\0\0\0\x40\0\x38\0\x0d\0\x40\0\x1f\0\x1e\0"),
        ("empty zip", None, b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
        ("one byte", None, b"\x01"),
    ];
    let mut files: Vec<(String, Option<Format>, Vec<u8>)> =
        texts.into_iter().map(|(name, format, bytes)| (name.to_owned(), format, bytes.to_vec())).collect();
    files.push(("kernelslist.g".into(), Some(Format::ACCELSIM), fs::read(kept("accelsim/kernelslist.g")).unwrap()));
    files.push(("this program".into(), None, fs::read(std::env::current_exe().unwrap()).unwrap()));
    files.extend(samples().into_iter().map(|s| (s.name.to_owned(), Some(s.format), s.bytes)));
    let ours = [Format::CHAMPSIM, Format::CLOUDSUITE, Format::DRMEMTRACE, Format::DINERO, Format::GEM5];
    let ours = ours.into_iter().chain([Format::ARROW, Format::PARQUET, Format::ACCELSIM, Format::LACKEY]);
    for (name, format, bytes) in &files {
        // A short head has least to go by.
        for length in [bytes.len(), 4096, 1024, 256, 200] {
            let head = &bytes[..length.min(bytes.len()).min(64 << 10)];
            for other in ours.clone() {
                let right = *format == Some(other);
                // What is left of a short head may be too little to know it by, never enough to take it for another.
                if !right || length == bytes.len() {
                    let taken = other.looks_like(head);
                    assert_eq!(taken, right, "{} for the first {length} bytes of {name}", other.name());
                }
            }
        }
    }
}

/// Noise, the same each time: xorshift64 (Marsaglia 2003).
fn noise(seed: u64) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(seed), |&x| {
        let x = x ^ (x << 13);
        let x = x ^ (x >> 7);
        Some(x ^ (x << 17))
    })
}

#[test]
fn noise_looks_like_no_format() {
    for seed in 1..200 {
        let bytes: Vec<u8> = noise(seed).take(1024).flat_map(u64::to_le_bytes).collect();
        // Small numbers, as tables of anything have them.
        let small: Vec<u8> = noise(seed).take(1024).flat_map(|n| (n % 300).to_le_bytes()).collect();
        for format in Format::ALL {
            assert!(!format.looks_like(&bytes) && !format.looks_like(&small), "{} takes noise {seed}", format.name());
        }
    }
}

/// Opens what is left of a sample; where that works, what it holds must be the start of what the whole held.
fn opens_to_a_start(s: &Sample, bytes: &[u8], what: &str) -> Option<(usize, Vec<String>)> {
    match open(bytes, Some(s.format)) {
        Ok(source) => {
            let found = all(&*source);
            assert!(found.len() <= s.holds.len() && found[..] == s.holds[..found.len()], "{} {what}", s.name);
            Some((found.len(), source.notices().to_vec()))
        }
        Err(e) => {
            assert!(
                !matches!(e, TraceError::Io { .. } | TraceError::UnknownFormat(_)) || bytes.len() < 8,
                "{} {what}: {e}",
                s.name
            );
            let message = e.to_string();
            assert!(message.contains("t.trace") && message.contains("expected"), "{} {what}: {message}", s.name);
            None
        }
    }
}

#[test]
fn a_file_cut_anywhere_keeps_what_is_whole_and_says_so() {
    for s in samples() {
        let step = (s.bytes.len() / 400).max(1);
        for length in (0..s.bytes.len()).step_by(step) {
            let what = format!("cut to {length} of {}", s.bytes.len());
            let Some((found, notices)) = opens_to_a_start(&s, &s.bytes[..length], &what) else { continue };
            let torn = s.records.is_some_and(|(first, record)| !(length - first).is_multiple_of(record));
            // A file that holds all may have lost an end mark only.
            let told = notices.iter().any(|n| {
                ["cut short", "footer", "no mark at its end", "of its grid"].iter().any(|word| n.contains(word))
            });
            if torn || (found < s.holds.len() && s.records.is_none() && s.format != Format::GEM5) {
                assert!(told, "{} {what}: {notices:?}", s.name);
            }
            if let Some((_, record)) = s.records.filter(|_| torn) {
                let left = format!("after {} bytes; kept the {found} references", length % record);
                assert!(notices.iter().any(|n| n.contains(&left)), "{} {what}: {notices:?}", s.name);
            }
        }
    }
}

#[test]
fn gzip_is_seen_through_and_a_cut_stream_keeps_what_is_whole() {
    for s in samples() {
        let mut gz = GzEncoder::new(Vec::new(), Compression::fast());
        gz.write_all(&s.bytes).unwrap();
        let packed = gz.finish().unwrap();
        assert!(all(&*open(&packed, None).unwrap_or_else(|e| panic!("{}: {e}", s.name))) == s.holds, "{}", s.name);
        for length in [packed.len() - 1, packed.len() - 9, packed.len() * 3 / 4, packed.len() / 2, 30] {
            let what = format!("as gzip cut to {length}");
            if let Some((found, notices)) = opens_to_a_start(&s, &packed[..length], &what) {
                let told = notices
                    .iter()
                    .any(|n| n.contains("cut short") || n.contains("footer") || n.contains("of its grid"));
                // Of an archive only its directory may be lost.
                assert!(told || found == s.holds.len(), "{} {what}: {notices:?}", s.name);
            }
        }
    }
}

#[test]
fn damage_is_an_error_or_other_references_but_nothing_worse() {
    for s in samples() {
        let places = noise(7).zip(noise(11)).take(300);
        for (at, value) in places {
            let mut bytes = s.bytes.clone();
            let at = usize::try_from(at).unwrap() % bytes.len();
            bytes[at..].iter_mut().zip(value.to_le_bytes()).take(1 + at % 8).for_each(|(b, v)| *b = v);
            if let Ok(source) = open(&bytes, Some(s.format)) {
                for reference in all(&*source) {
                    assert!(reference.size > 0 && reference.addr.checked_add(u64::from(reference.size) - 1).is_some());
                }
            }
        }
    }
}

#[test]
fn bad_records_are_named_by_their_byte() {
    let header = entry(25, 0, 7);
    let gem5 = |packet: &[u8]| {
        let header = [0x0a, 1, b'x', 0x18, 1];
        let mut bytes = b"gem5".to_vec();
        for message in [&header[..], &[8, 1, 16, 1, 24, 64, 32, 8], packet] {
            bytes.push(u8::try_from(message.len()).unwrap());
            bytes.extend_from_slice(message);
        }
        bytes
    };
    let mut champsim = vec![0; 128];
    champsim[8] = 2;
    let cases: Vec<(Format, Vec<u8>, &str, &str)> = vec![
        (Format::DINERO, vec![0, 16, 0, 0, 4, 0, 0, 0, 0, 16, 0, 0, 4, 0, 6, 0], "at byte 8", "type 6"),
        (Format::DINERO, vec![0, 16, 0, 0, 0, 0, 0, 0], "t.trace", "only 1 zero-byte reference"),
        (Format::DINERO, vec![0, 16, 0, 0], "t.trace", "cut short after 4 bytes"),
        (Format::CHAMPSIM, champsim.clone(), "at byte 0", "branch flags 2 and 0"),
        (Format::CLOUDSUITE, champsim, "at byte 0", "branch flags 2 and 0"),
        (Format::DRMEMTRACE, entry(10, 4, 0x1000), "at byte 0", "a first record of type 10"),
        (Format::DRMEMTRACE, [header.clone(), entry(50, 0, 0)].concat(), "at byte 12", "type 50"),
        (Format::DRMEMTRACE, [header.clone(), entry(17, 9, 0)].concat(), "at byte 12", "bundle of 9"),
        (Format::DRMEMTRACE, [header.clone(), entry(17, 0, 0)].concat(), "at byte 12", "bundle of 0"),
        (
            Format::DRMEMTRACE,
            [header.clone(), entry(0, 8, u64::MAX)].concat(),
            "at byte 12",
            "8 bytes at 0xffffffffffffffff",
        ),
        (Format::DRMEMTRACE, [header.clone(), entry(28, 0, 0)].concat(), "t.trace", "no references, only 1 marker"),
        (Format::GEM5, gem5(&[16, 1, 24, 64]), "t.trace", ""),
        (Format::GEM5, gem5(&[8, 1]), "at byte 19", "without a command"),
        (Format::GEM5, gem5(&[8, 0x80]), "at byte 19", "half a number"),
        (Format::GEM5, gem5(&[11]), "at byte 19", "wire type 3"),
        (Format::GEM5, gem5(&[10, 99, 1]), "at byte 19", "longer than itself"),
        (
            Format::GEM5,
            gem5(&[8, 1, 16, 1, 24, 1, 32, 0x80, 0x80, 0x80, 0x80, 8]),
            "at byte 19",
            "2147483648 bytes at 0x1",
        ),
        (Format::GEM5, b"gem5\xff\xff\xff\xff\xff\xff\xff\xff\x7f".to_vec(), "at byte 4", "message of"),
        (Format::GEM5, b"gem5\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff".to_vec(), "at byte 4", "never ends"),
        (Format::GEM5, b"gem4....".to_vec(), "at byte 0", "no `gem5`"),
        (Format::GEM5, b"gem5".to_vec(), "t.trace", "no references"),
        (Format::ARROW, b"ARROW1\0\0\xff\xff\xff\xff\xff\xff\xff\x7f".to_vec(), "at byte 8", "message of 2147483647"),
        (
            Format::ARROW,
            b"ARROW1\0\0\xff\xff\xff\xff\x08\0\0\0\x04\0\0\0\xff\xff\xff\xff".to_vec(),
            "at byte 8",
            "flatbuffer",
        ),
        (Format::ARROW, b"ARROW1\0\0 hello, world".to_vec(), "at byte 8", "0x6c656820"),
        (Format::ARROW, b"ARROW1\0\0\xff\xff\xff\xff\0\0\0\0".to_vec(), "t.trace", "no references"),
        (Format::PARQUET, b"PAR1".to_vec(), "at byte 4", "cut short"),
        (Format::PARQUET, b"PAR1\xff\xff\xff\x7fPAR1".to_vec(), "t.trace", "damaged Parquet file"),
        (Format::PARQUET, b"PORK".to_vec(), "at byte 0", "no PAR1"),
    ];
    for (format, bytes, place, word) in cases {
        match open(&bytes, Some(format)) {
            Ok(source) => assert!(word.is_empty(), "{} {bytes:02x?}: {}", format.name(), source.len()),
            Err(e) => {
                let message = e.to_string();
                assert!(
                    !word.is_empty() && message.contains(place) && message.contains(word),
                    "{}: {message}",
                    format.name()
                );
            }
        }
    }
}

#[test]
fn samples_of_other_formats_are_refused_by_name() {
    let samples = samples();
    for s in &samples {
        for other in Format::ALL.iter().copied() {
            let same = other == s.format || (s.format == Format::PARQUET && other == Format::NATIVE);
            // Records without a magic number may be anything: nothing worse than an error or nonsense.
            let result = open(&s.bytes, Some(other));
            if same {
                assert!(result.is_ok(), "{} as {}: {}", s.name, other.name(), result.err().unwrap());
            } else if let Err(e) = result {
                assert!(e.to_string().contains("t.trace"), "{} as {}: {e}", s.name, other.name());
            } else {
                assert!(
                    [Format::DINERO, Format::CHAMPSIM, Format::CLOUDSUITE].contains(&other),
                    "{} as {}",
                    s.name,
                    other.name()
                );
            }
        }
    }
}
