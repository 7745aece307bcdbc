//! Text formats: one sample file each, and every way a text can be broken, as one table over all of them.
#![cfg(feature = "formats")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use orrery::reference::{Kind, Reference, ReferenceSource, Tables};
use orrery::trace::{self, Format, TraceError};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces")
}

fn sample(file: &str) -> Vec<u8> {
    fs::read(folder().join(file)).unwrap()
}

fn open(bytes: impl AsRef<[u8]>, format: Option<Format>) -> Result<Box<dyn ReferenceSource>, TraceError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.txt");
    fs::write(&path, bytes).unwrap();
    trace::open(&path, format)
}

fn all(source: &dyn ReferenceSource) -> Vec<Reference> {
    (0..source.len().div_ceil(source.chunk_len())).flat_map(|i| source.chunk(i).unwrap().to_vec()).collect()
}

/// What the sample files of single-lane formats say: pc, kind, address, size, thread. Each has what its format can tell.
const REFERENCES: [(u64, Kind, u64, u32, u16); 6] = [
    (0x40_112d, Kind::Read, 0x7ffe_4a10, 8, 0),
    (0x40_1131, Kind::Write, 0x7ffe_4a18, 4, 0),
    (0x40_1135, Kind::Read, 0x7f3c_00a1_b2c0, 16, 1),
    (0x40_1139, Kind::Write, 0x40_4040, 1, 0),
    (0x40_113d, Kind::Read, 0x40_4041, 2, 1),
    (0x40_1141, Kind::Write, 0x1f_ff00_0a8c, 8, 1),
];

/// [`REFERENCES`] as a format tells them.
fn expected(fetches: bool, sizes: bool, pcs: bool, cores: &[u16; 2]) -> Vec<Reference> {
    let mut out = Vec::new();
    for (pc, kind, addr, size, thread) in REFERENCES {
        let core = cores[usize::from(thread)];
        if fetches {
            out.push(Reference { pc: if pcs { pc } else { 0 }, core, ..Reference::new(Kind::Fetch, pc, 4) });
        }
        let size = if sizes { size } else { 1 };
        out.push(Reference { pc: if pcs { pc } else { 0 }, core, ..Reference::new(kind, addr, size) });
    }
    out
}

fn read(file: &str) -> (Vec<Reference>, Vec<String>, Tables) {
    let source = trace::open(&folder().join(file), None).unwrap_or_else(|e| panic!("{file}: {e}"));
    (all(&*source), source.notices().to_vec(), source.tables().clone())
}

#[test]
fn every_sample_gives_the_references_it_was_made_of() {
    let one = &[0, 0];
    let two = &[0, 1];
    for (file, references, notices) in [
        ("xdin.xdin", expected(true, true, false, one), &["skipped 1 record of letters m, c and v"][..]),
        ("pin.pinatrace.out", expected(false, false, true, one), &["no sizes"]),
        ("pin.sizes.out", expected(false, true, true, one), &[]),
        ("pin.threads.out", expected(false, true, true, two), &["4711 is core 0, 4712 is core 1"]),
        ("drmemtrace-view.txt", expected(true, true, true, two), &["4711 is core 0", "skipped 1 line"]),
        ("gem5-text.txt", expected(true, true, true, one), &["skipped 1 packet that"]),
        ("csv.comma.csv", expected(false, true, true, two), &["4711 is core 0"]),
        ("csv.tab.tsv", expected(false, true, true, two), &[]),
        (
            "perf.report.txt",
            expected(false, false, true, two),
            &["samples, not a full trace", "no sizes", "4711 is core 0"],
        ),
    ] {
        let (got, told, _) = read(file);
        assert_eq!(got, references, "{file}");
        assert_eq!(told.len(), notices.len(), "{file}: {told:?}");
        for (told, notice) in told.iter().zip(notices) {
            assert!(told.contains(notice) && told.contains(file), "{file}: {told}");
        }
    }
}

#[test]
fn din_takes_the_word_that_an_address_lies_in() {
    let (got, notices, _) = read("din.din");
    let words: Vec<Reference> = expected(true, true, false, &[0, 0])
        .into_iter()
        .map(|r| Reference { addr: r.addr & !3, size: 4, ..r })
        .collect();
    assert_eq!(got, words);
    // 7 of the 12 addresses are odd, and one record is a copy-back.
    assert!(notices[0].contains("skipped 1 record of labels 3 to 5"), "{notices:?}");
    assert!(notices[1].contains("7 records of an address inside a 4-byte word"), "{notices:?}");
}

#[test]
fn perf_samples_say_that_they_are_samples() {
    let (got, notices, tables) = read("perf.script.txt");
    // By CPU, not by thread: samples alternate between CPUs 2 and 3.
    let mut samples = expected(false, false, true, &[0, 0]);
    for (n, sample) in samples.iter_mut().enumerate() {
        sample.core = u16::try_from(n % 2).unwrap();
    }
    assert_eq!(got, samples);
    assert_eq!(tables.subtitle, "samples, not a full trace");
    assert!(notices[0].contains("samples, not a full trace"), "{notices:?}");
    assert!(notices[2].contains("skipped 1 sample without an address"), "{notices:?}");
    assert!(notices[3].contains("2 is core 0, 3 is core 1"), "{notices:?}");
}

#[test]
fn perf_wrote_this_file_itself() {
    // Page faults, as this machine has no memory events: addresses, but no loads and stores.
    let error = trace::open(&folder().join("perf.faults.txt"), None).err().unwrap();
    assert!(matches!(error, TraceError::Empty(_)), "{error}");
    assert!(error.to_string().contains("only 8 lines of perf's and 0 lines of other text"), "{error}");
    // The same lines with loads for a data source.
    let text = String::from_utf8(sample("perf.faults.txt")).unwrap();
    let got = all(&*open(text.replace("1e05080021 |OP N/A", "1e05080022 |OP LOAD"), None).unwrap());
    assert_eq!(got.len(), 8);
    assert_eq!((got[1].addr, got[1].pc, got[1].kind), (0x7f05_fffc_b110, 0xffff_ffff_8175_2b6a, Kind::Read));
    assert!(got.iter().all(|r| r.addr != 0 && r.pc != 0 && r.core == 0), "{got:x?}");
}

#[test]
fn nvbit_keeps_lanes_and_marks_launches() {
    let (got, notices, tables) = read("nvbit.txt");
    let lane = |kind, addr, size, lane| Reference { lane, ..Reference::new(kind, addr, size) };
    let loads = (0..32u8).map(|l| lane(Kind::Read, 0x7f3c_00a0_0000 + 8 * u64::from(l), 8, l));
    let stores = (0..5u8).map(|l| lane(Kind::Write, 0x7f3c_00b0_0000 + 4 * u64::from(l), 4, l));
    let atomic = lane(Kind::Modify, 0x7f3c_00c0_0000, 4, 31);
    assert_eq!(got, loads.chain(stores).chain([atomic]).collect::<Vec<_>>());
    assert!(notices.len() == 1 && notices[0].contains("skipped 1 instruction on shared or local"), "{notices:?}");
    let marks: Vec<(u64, &str)> = tables.marks.iter().map(|m| (m.reference, m.name.as_str())).collect();
    let names = ["vecadd(int*, int*, int) grid 2,1,1 block 64,1,1", "sum(int*) grid 1,1,1 block 32,1,1"];
    assert_eq!(marks, [(0, names[0]), (37, names[1])]);
}

#[test]
fn lackey_wrote_this_file_itself() {
    let (got, notices, _) = read("lackey.log");
    assert!(notices.is_empty(), "{notices:?}");
    // `tests/traces/lackey.c`: four elements written, then each read and written.
    let of = |kind| got.iter().filter(|r| r.kind == kind).map(|r| r.addr - 0x40_3000).collect::<Vec<_>>();
    assert_eq!((of(Kind::Read), of(Kind::Write)), (vec![0, 8, 16, 24], vec![0, 8, 16, 24, 0, 8, 16, 24]));
    // Valgrind itself counted 32 instructions.
    assert_eq!(got.iter().filter(|r| r.kind == Kind::Fetch).count(), 32);
}

/// One parsed line: pc, kind, address, size, core.
fn pin(line: &str) -> (u64, Kind, u64, u32) {
    let source = open(format!("{line}\n"), Some(Format::PIN)).unwrap_or_else(|e| panic!("{line}: {e}"));
    let r = all(&*source)[0];
    (r.pc, r.kind, r.addr, r.size)
}

#[test]
fn pin_variants_are_read_by_pattern() {
    use Kind::{Fetch, Modify, Read, Write};
    for (line, expected) in [
        ("0x40112d: R 0x7ffe4a10", (0x40112d, Read, 0x7ffe4a10, 1)),
        ("0x40112d: W 0x7ffe4a10 16 0xdead", (0x40112d, Write, 0x7ffe4a10, 16)),
        ("4711 R 0x7ffe4a10", (0, Read, 0x7ffe4a10, 1)),
        ("4711 12 W 0x7ffe4a10 4", (0, Write, 0x7ffe4a10, 4)),
        ("R 0x7ffe4a10 8", (0, Read, 0x7ffe4a10, 8)),
        ("R 8 0x7ffe4a10", (0, Read, 0x7ffe4a10, 8)),
        ("0x40112d 0x7ffe4a10 R 8", (0x40112d, Read, 0x7ffe4a10, 8)),
        ("0x40112d 0x7ffe4a10 8 R", (0x40112d, Read, 0x7ffe4a10, 8)),
        ("R 0x40112d 0x7ffe4a10 8", (0x40112d, Read, 0x7ffe4a10, 8)),
        ("[tid:3] ip=0x40112d W addr=0x7ffe4a10 size=0x20", (0x40112d, Write, 0x7ffe4a10, 32)),
        ("addr=0x7ffe4a10, pc=0x40112d, store, 2", (0x40112d, Write, 0x7ffe4a10, 2)),
        ("T2 M 0x10 4", (0, Modify, 0x10, 4)),
        ("I 0x40112d 3", (0, Fetch, 0x40112d, 3)),
        ("LOAD,0x7FFE4A10,8", (0, Read, 0x7ffe4a10, 8)),
        // Only by --format: no 0x anywhere.
        ("R 7ffe4a10 16", (0, Read, 0x7ffe4a10, 16)),
        ("40112d: R 7ffe4a10 16", (0x40112d, Read, 0x7ffe4a10, 16)),
    ] {
        assert_eq!(pin(line), expected, "{line}");
    }
    for (line, word) in [
        ("0x401130: R 0x10 8", "a size, and the first record has no size"),
        ("R 0x10", "no pc, and the first record has a pc"),
        ("0x401130: R", "no pc, and the first record has a pc"),
        ("0x401130: R 0x1zz", "not hexadecimal"),
        ("3 0x401130 R 0x10", "a thread, and the first record has no thread"),
    ] {
        let error = open(format!("0x1: R 0x2\n{line}\n#eof\n"), None).err().unwrap_or_else(|| panic!("{line} is read"));
        assert!(error.to_string().contains(word) && error.to_string().contains("t.txt:2"), "{line}: {error}");
    }
    // Talk is skipped, and a trace that Pin did not finish is told.
    let source = open("0x1: R 0x2\nI read 0x1234 bytes\n0x1: W 0x3\n", None).unwrap();
    assert_eq!(source.len(), 2);
    assert!(source.notices().iter().any(|n| n.contains("skipped 1 line")), "{:?}", source.notices());
    assert!(source.notices().iter().any(|n| n.contains("does not end in #eof")), "{:?}", source.notices());
}

#[test]
fn csv_columns_stand_in_any_order_and_bad_fields_are_named() {
    for (text, expected) in [
        ("addr\n0x10\n32\n", vec![(Kind::Read, 16, 1), (Kind::Read, 32, 1)]),
        ("\u{feff}Type;Address;Size\nload;0x10;4\nstore;17;0x10\n", vec![(Kind::Read, 16, 4), (Kind::Write, 17, 16)]),
        (
            "# made by hand\n\"x,y\",\"ADDR\",rw\n\"1,2\", \"0x10\" ,RW\n,0x20,i\n",
            vec![(Kind::Modify, 16, 1), (Kind::Fetch, 32, 1)],
        ),
        ("kind\taddress\r\n1\t4096\r\n", vec![(Kind::Write, 4096, 1)]),
    ] {
        let got: Vec<_> = all(&*open(text, None).unwrap()).iter().map(|r| (r.kind, r.addr, r.size)).collect();
        assert_eq!(got, expected, "{text}");
    }
    let full = all(&*open("address,core,lane,pc\n1,7,31,0x9\n2,,,\n", None).unwrap());
    assert_eq!((full[0].core, full[0].lane, full[0].pc), (7, 31, 9));
    assert_eq!((full[1].core, full[1].lane, full[1].pc), (0, orrery::reference::NO_LANE, 0));
    for (row, word) in [
        ("7ffe,8,R,0,0", "a hexadecimal one starts with 0x"),
        (",8,R,0,0", "no address"),
        ("-5,8,R,0,0", "not decimal"),
        ("0x10,8,Q,0,0", "an unknown kind"),
        ("0x10,,R,0,0", "no size"),
        ("0x10", "no size"),
        ("0x10,8,R,65536,0", "a core above 65535"),
        ("0x10,8,R,0,255", "a lane above 254"),
        ("0x10,8,R,0,\"1", "a quote that does not end"),
    ] {
        let error =
            open(format!("address,size,kind,core,lane\n{row}\n"), None).err().unwrap_or_else(|| panic!("{row}"));
        assert!(error.to_string().contains(word) && error.to_string().contains("t.txt:2"), "{row}: {error}");
    }
    let error = open("time,value\n1,2\n", Some(Format::CSV)).err().unwrap().to_string();
    assert!(error.contains("t.txt:1") && error.contains("without a column for the address"), "{error}");
}

#[test]
fn gem5_fields_are_told_by_their_number() {
    for (line, expected) in [
        ("r,16,8,500", (Kind::Read, 16, 8, 0)),
        ("w,16,64,2,500", (Kind::Write, 16, 64, 0)),
        ("r,16,4,256,500", (Kind::Fetch, 16, 4, 16)),
        ("r,16,4,256,500,4096", (Kind::Fetch, 16, 4, 4096)),
        ("12,w,16,8,0,500,4096", (Kind::Write, 16, 8, 4096)),
    ] {
        let r = all(&*open(format!("{line}\n"), None).unwrap())[0];
        assert_eq!((r.kind, r.addr, r.size, r.pc), expected, "{line}");
    }
}

/// A format for the table of breakages.
struct Case {
    file: &'static str,
    format: Format,
    /// A record, to be put among others; `{a}` and `{s}` are where address and size go.
    record: &'static str,
    /// A sound address, a sound size, a size of zero, a size too large. `None` where there are no sizes.
    sizes: Option<[&'static str; 3]>,
    /// An address of 2^64.
    too_long: &'static str,
}

const HEX: &str = "10000000000000000";
const HEX_0X: &str = "0x10000000000000000";
const DECIMAL: &str = "18446744073709551616";

fn cases() -> Vec<Case> {
    let case = |file, format, record, sizes, too_long| Case { file, format, record, sizes, too_long };
    let decimal = Some(["8", "0", "1048577"]);
    vec![
        case("lackey.log", Format::LACKEY, " L {a},{s}", decimal, HEX),
        case("din.din", Format::DIN, "0 {a}", None, HEX),
        case("xdin.xdin", Format::XDIN, "r {a} {s}", Some(["8", "0", "100001"]), HEX),
        case("pin.pinatrace.out", Format::PIN, "0x1: R {a}", None, HEX_0X),
        case("pin.sizes.out", Format::PIN, "0x1: R {a} {s} 0x0", decimal, HEX_0X),
        case("pin.threads.out", Format::PIN, "tid: 4711 0x1 read {s} {a}", decimal, HEX_0X),
        case(
            "drmemtrace-view.txt",
            Format::DRMEMTRACE_VIEW,
            "9 9: 4711 read {s} byte(s) @ {a} by PC 0x1",
            decimal,
            HEX_0X,
        ),
        case("gem5-text.txt", Format::GEM5_TEXT, "r,{a},{s},0,9", decimal, DECIMAL),
        case("csv.comma.csv", Format::CSV, "{a},{s},R,0,4711,", decimal, DECIMAL),
        case("csv.tab.tsv", Format::CSV, "0\t0\tr\t{a}\t{s}", decimal, HEX_0X),
        case("perf.report.txt", Format::PERF, "4711 4711 0x1 {a} 9 0x2 x", None, HEX_0X),
        case("perf.script.txt", Format::PERF, "x 1 1.5: 1 cpu/mem-loads/P: {a} 2 |OP LOAD|BLK N/A 9 1 x", None, HEX),
    ]
}

/// The text with a line put into its middle, and that line's number.
fn with_line(text: &[u8], line: &[u8]) -> (Vec<u8>, usize) {
    let lines: Vec<&[u8]> = text.split_inclusive(|&b| b == b'\n').collect();
    let middle = lines.len() * 3 / 4;
    let mut out = lines[..middle].concat();
    out.extend_from_slice(line);
    out.push(b'\n');
    out.extend(lines[middle..].concat());
    (out, middle + 1)
}

#[test]
fn every_format_refuses_bad_numbers_by_line() {
    for Case { file, format, record, sizes, too_long } in cases() {
        let text = sample(file);
        let make = |addr: &str, size: &str| record.replace("{a}", addr).replace("{s}", size);
        let sound_size = sizes.map_or("", |[sound, ..]| sound);
        let sound_addr = if too_long == HEX {
            "100"
        } else if too_long == HEX_0X {
            "0x100"
        } else {
            "256"
        };
        let (whole, _) = with_line(&text, make(sound_addr, sound_size).as_bytes());
        let source = open(&whole, Some(format)).unwrap_or_else(|e| panic!("{file}: {e}"));
        let count = open(&text, Some(format)).unwrap().len();
        assert_eq!(source.len(), count + 1, "{file}: {}", make(sound_addr, sound_size));
        let mut bad = vec![(make(too_long, sound_size), "longer than 64 bits")];
        if let Some([_, zero, large]) = sizes {
            bad.push((make(sound_addr, zero), "a size of 0"));
            bad.push((make(sound_addr, large), "no instruction touches so many"));
            bad.push((make(sound_addr, "99999999999999999999999999"), "no instruction touches so many"));
        }
        for (line, word) in bad {
            let (text, number) = with_line(&text, line.as_bytes());
            let error = open(&text, Some(format)).err().unwrap_or_else(|| panic!("{file}: `{line}` is read"));
            assert!(matches!(error, TraceError::BrokenLine(_)), "{file}: {error}");
            let said = error.to_string();
            assert!(said.contains(&format!("t.txt:{number}: found")) && said.contains(word), "{file} `{line}`: {said}");
            assert!(said.contains("expected") && said.contains("mend or delete that line"), "{file}: {said}");
        }
    }
}

#[test]
fn every_format_bears_other_line_ends_and_other_peoples_lines() {
    for Case { file, format, .. } in cases() {
        let text = sample(file);
        let whole = all(&*open(&text, Some(format)).unwrap());
        let crlf = String::from_utf8(text.clone()).unwrap().replace('\n', "\r\n");
        let source = open(&crlf, None).unwrap_or_else(|e| panic!("{file}: {e}"));
        assert_eq!(all(&*source), whole, "{file} with CR LF");
        let marked = [b"\xef\xbb\xbf", &text[..]].concat();
        assert_eq!(all(&*open(&marked, None).unwrap()), whole, "{file} with a byte order mark");
        // Not UTF-8, and a line of every other format: skipped and counted, or named; where both formats read it, read.
        let others = cases();
        let foreign = others.iter().map(|c| c.record.replace("{a}", "0x100").replace("{s}", "8").into_bytes());
        for line in foreign.chain([b"caf\xe9 \xff\xfe!".to_vec(), b"\xff".to_vec()]) {
            let (text, number) = with_line(&text, &line);
            let shown = String::from_utf8_lossy(&line);
            match open(&text, Some(format)) {
                Err(error) => {
                    assert!(matches!(error, TraceError::BrokenLine(_)), "{file} `{shown}`: {error}");
                    assert!(error.to_string().contains(&format!("t.txt:{number}:")), "{file} `{shown}`: {error}");
                }
                Ok(source) => {
                    let mut got = all(&*source);
                    let told = source.notices().iter().any(|n| n.contains("skipped"));
                    assert!(told || got.len() == whole.len() + 1, "{file} `{shown}`: {:?}", source.notices());
                    if got.len() > whole.len() {
                        let extra = (0..whole.len()).find(|&n| got[n] != whole[n]).unwrap_or(whole.len());
                        got.remove(extra);
                    }
                    // A new thread or process takes its place among the cores.
                    let places = |all: &[Reference]| all.iter().map(|r| (r.kind, r.addr, r.size)).collect::<Vec<_>>();
                    assert_eq!(places(&got), places(&whole), "{file} `{shown}`");
                }
            }
        }
    }
}

#[test]
fn every_format_keeps_what_is_whole_of_a_text_that_is_cut() {
    let files: Vec<(&str, Format)> =
        cases().iter().map(|c| (c.file, c.format)).chain([("nvbit.txt", Format::NVBIT)]).collect();
    for (file, format) in files {
        let text = sample(file);
        let whole = all(&*open(&text, Some(format)).unwrap());
        let mut told = 0;
        for length in (0..text.len()).step_by(1 + text.len() / 500) {
            match open(&text[..length], Some(format)) {
                Ok(source) => {
                    let got = all(&*source);
                    // The last record may be cut and look whole: then only that one differs.
                    let same = got.iter().zip(&whole).take_while(|(a, b)| a == b).count();
                    assert!(same + 1 >= got.len() && got.len() <= whole.len(), "{file} to {length}");
                    told += usize::from(source.notices().iter().any(|n| n.contains("cut short")));
                }
                Err(TraceError::Empty(_)) => {}
                // A header that is cut names no column.
                Err(TraceError::BrokenLine(_)) if format == Format::CSV => {}
                Err(error) => panic!("{file} to {length}: {error}"),
            }
        }
        assert!(told > 5, "{file}: {told} cuts were told");
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(&text.repeat(50)).unwrap();
        let packed = packed.finish().unwrap();
        let repeated =
            all(&*open(text.repeat(50), Some(format)).unwrap_or_else(|_| open(&text, Some(format)).unwrap()));
        if format != Format::CSV {
            let source = open(&packed[..packed.len() - 9], None).unwrap_or_else(|e| panic!("{file}: {e}"));
            let got = all(&*source);
            assert!(got[..] == repeated[..got.len()], "{file}");
            let said = "the gzip stream is cut short; kept the";
            assert!(source.notices().iter().any(|n| n.contains(said)), "{file}: {:?}", source.notices());
        }
    }
}

#[test]
fn every_format_says_when_there_is_nothing() {
    for &format in Format::ALL {
        let error = open("", Some(format)).err().unwrap();
        assert!(
            matches!(error, TraceError::Empty(_)) && error.to_string().contains("empty file"),
            "{format:?}: {error}"
        );
        let wrong = open("hello\nworld\n", Some(format)).err().unwrap();
        let said = wrong.to_string();
        assert!(said.contains("t.txt") && said.contains("expected"), "{format:?}: {said}");
        let binary: Vec<u8> = (0..100_000u32).map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[0]).collect();
        let wrong = open(binary, Some(format)).err().unwrap();
        assert!(wrong.to_string().contains("t.txt"), "{format:?}: {wrong}");
    }
}

#[test]
fn changed_bytes_never_panic_and_never_make_impossible_references() {
    let files: Vec<(&str, Format)> =
        cases().iter().map(|c| (c.file, c.format)).chain([("nvbit.txt", Format::NVBIT)]).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.txt");
    let mut x = 7u64;
    let mut random = |below: usize| {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(x >> 33).unwrap() % below
    };
    let mut read = 0;
    for (file, format) in files {
        let text = sample(file);
        for round in 0..300 {
            let mut text = text.clone();
            for _ in 0..1 + random(4) {
                let at = random(text.len());
                text[at] = [b"0x9fF,: \n\r\t\"#-", &[0, 0xff, 0x7f][..]].concat()[random(17)];
            }
            fs::write(&path, &text).unwrap();
            if let Ok(source) = trace::open(&path, (round % 2 == 0).then_some(format)) {
                read += 1;
                for r in all(&*source) {
                    let sound = (1..=trace::native::MAX_SIZE).contains(&r.size);
                    assert!(sound && r.addr.checked_add(u64::from(r.size) - 1).is_some(), "{file}: {r:?}");
                }
            }
        }
    }
    assert!(read > 1000, "only {read} of the changed texts were read");
}
