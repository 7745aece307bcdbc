//! Lackey text: every way it is written, every way it is broken, and a real run of a real program.
#![cfg(feature = "formats")]
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking, and says when it skips")]

use flate2::Compression;
use flate2::write::GzEncoder;
use orrery::reference::{Kind, Reference, ReferenceSource};
use orrery::trace::{self, Format, TraceError};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

fn open_text(text: impl AsRef<[u8]>, format: Option<Format>) -> Result<Box<dyn ReferenceSource>, TraceError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.log");
    fs::write(&path, text).unwrap();
    trace::open(&path, format)
}

fn all(source: &dyn ReferenceSource) -> Vec<Reference> {
    (0..source.len().div_ceil(source.chunk_len())).flat_map(|i| source.chunk(i).unwrap().to_vec()).collect()
}

/// `(kind, address, size, pc)` of each reference of a text.
fn parsed(text: &str) -> Vec<(Kind, u64, u32, u64)> {
    let source = open_text(text, Some(Format::LACKEY)).unwrap_or_else(|e| panic!("{text:?}: {e}"));
    all(&*source).iter().map(|r| (r.kind, r.addr, r.size, r.pc)).collect()
}

#[test]
fn every_way_a_record_is_written() {
    use Kind::{Fetch, Modify, Read, Write};
    for (text, expected) in [
        (
            "I  04001000,3\n L 1ffefffe80,8\n",
            vec![(Fetch, 0x400_1000, 3, 0x400_1000), (Read, 0x1f_fefffe80, 8, 0x400_1000)],
        ),
        (" S 04b3c018,4\n M 0421c7cc,4\n", vec![(Write, 0x4b3_c018, 4, 0), (Modify, 0x421_c7cc, 4, 0)]),
        // Hand-made course traces: no leading zeros, single spaces or none, no newline at the end.
        (
            " L 10,1\n M 20,1\nL 22,1\nI 8,2\n S 18,1",
            vec![(Read, 0x10, 1, 0), (Modify, 0x20, 1, 0), (Read, 0x22, 1, 0), (Fetch, 8, 2, 8), (Write, 0x18, 1, 8)],
        ),
        ("  L   0x10,1  \n\tS\t20,2\n", vec![(Read, 0x10, 1, 0), (Write, 0x20, 2, 0)]),
        (" L 10,1\r\nI  20,4\r\n S 30,8\r\n", vec![(Read, 0x10, 1, 0), (Fetch, 0x20, 4, 0x20), (Write, 0x30, 8, 0x20)]),
        (" L ABCDEF,16\n L abcdef,016\n", vec![(Read, 0xabcdef, 16, 0), (Read, 0xabcdef, 16, 0)]),
        (
            " L 0,1\n L ffffffffffffffff,1\n L fffffffffffffff8,8\n L 00000000000000000010,8\n",
            vec![(Read, 0, 1, 0), (Read, u64::MAX, 1, 0), (Read, u64::MAX - 7, 8, 0), (Read, 16, 8, 0)],
        ),
        (" S 1000,4096\n S 2000,1048576\n", vec![(Write, 0x1000, 4096, 0), (Write, 0x2000, 1 << 20, 0)]),
        ("\n\n L 10,1\n\n", vec![(Read, 0x10, 1, 0)]),
    ] {
        assert_eq!(parsed(text), expected, "{text:?}");
    }
}

#[test]
fn what_is_no_record_is_skipped_and_said() {
    let text = "==4711== Lackey, an example Valgrind tool\n--4711-- warning\n**4711** note\nSB 04001000\n L 10,1\n\
                Hello, world\nI am a program\nL ate\n S 20,4\nSome text, with comma\n==4711==\n";
    let source = open_text(text, None).unwrap();
    assert_eq!(all(&*source).len(), 2);
    let notices = source.notices();
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert!(notices[0].contains("skipped 4 lines") && notices[0].contains("t.log"), "{notices:?}");
    // Valgrind's own lines are in every trace: no warning for these.
    assert!(open_text("==1== Lackey\n L 10,1\n==1== end\n", None).unwrap().notices().is_empty());
}

#[test]
fn a_broken_line_is_named() {
    for (line, word) in [
        (" L 04zz,8", "not hexadecimal"),
        (" L 12345678123456789,8", "longer than 64 bits"),
        (" L ,8", "no address"),
        (" L 1000,", "no size"),
        (" L 1000", "no comma"),
        (" S 1000,0", "size of 0"),
        (" S 1000,1048577", "no instruction touches so many"),
        (" S 1000,99999999999999999999999", "no instruction touches so many"),
        (" S 1000,8x", "not a decimal"),
        (" S 1000,-8", "not a decimal"),
        ("I  ffffffffffffffff,2", "passes the end"),
        ("I  fffffffffffffff8,9", "passes the end"),
    ] {
        let error =
            open_text(format!("==1== x\n L 10,1\n{line}\n L 20,1\n"), None).err().unwrap_or_else(|| panic!("{line}"));
        assert!(matches!(error, TraceError::BrokenLine(_)), "{line}: {error:?}");
        let message = error.to_string();
        assert!(message.contains("t.log:3: found"), "{message}");
        assert!(message.contains(word) && message.contains(line.trim_end()), "{line}: {message}");
        assert!(message.contains("expected a hexadecimal address") && message.contains("mend or delete"), "{message}");
    }
}

#[test]
fn a_trace_without_references_says_so() {
    for (text, word) in [("", "empty file"), ("==1== Lackey\n==1== done\n", "no references")] {
        let error = open_text(text, None).err().unwrap();
        assert!(matches!(error, TraceError::Empty(_)), "{error:?}");
        assert!(error.to_string().contains(word), "{error}");
    }
    let error = open_text("hello\nworld\n", Some(Format::LACKEY)).err().unwrap().to_string();
    assert!(error.contains("2 lines of other text") && error.contains("--trace-mem=yes"), "{error}");
}

#[test]
fn unknown_content_is_described() {
    for (bytes, found, remedy) in [
        (&b"time,value\n1,2\n"[..], "time,value", "--format"),
        (b"\x7fELF\0\0\0\0", "7f 45 4c 46", "--format"),
        (b"PK\x03\x04rest", "zip-compressed", "unzip -p"),
    ] {
        let error = open_text(bytes, None).err().unwrap();
        assert!(matches!(error, TraceError::UnknownFormat(_)), "{error:?}");
        let message = error.to_string();
        assert!(
            message.contains(found) && message.contains(remedy) && message.contains("expected a native"),
            "{message}"
        );
    }
    let error = open_text(" L 10,1\n", Some(Format::NATIVE)).err().unwrap().to_string();
    assert!(error.contains("PAR1"), "{error}");
    let error = trace::open(Path::new("/no/such/trace"), None).err().unwrap();
    assert!(error.to_string().contains("/no/such/trace"), "{error}");
}

#[test]
fn a_cut_last_line_is_dropped_and_said() {
    let source = open_text(" L 10,1\n L 20,1\n L 1ffefff", None).unwrap();
    assert_eq!(all(&*source).len(), 2);
    let notice = &source.notices()[0];
    assert!(
        notice.contains("cut short") && notice.contains("L 1ffefff") && notice.contains("kept the 2 references"),
        "{notice}"
    );
}

fn long_text(lines: u32) -> String {
    (0..lines)
        .map(|i| format!("I  {:08x},4\n L {:x},8\n", 0x40_1000 + 4 * (i % 100), 0x1000_0000 + 8 * u64::from(i)))
        .collect()
}

#[test]
fn gzip_is_seen_through_and_a_cut_stream_keeps_what_is_whole() {
    let text = long_text(200_000);
    let mut gz = GzEncoder::new(Vec::new(), Compression::fast());
    gz.write_all(text.as_bytes()).unwrap();
    let packed = gz.finish().unwrap();
    let whole = all(&*open_text(&text, None).unwrap());
    assert_eq!(whole.len(), 400_000);
    assert!(all(&*open_text(&packed, None).unwrap()) == whole);
    for length in [packed.len() - 1, packed.len() / 2, packed.len() / 100] {
        let source = open_text(&packed[..length], None).unwrap();
        let kept = all(&*source);
        assert!(!kept.is_empty() && kept[..] == whole[..kept.len()]);
        let notice = &source.notices()[0];
        assert!(notice.contains("gzip") && notice.contains(&format!("kept the {} references", kept.len())), "{notice}");
    }
    let error = open_text(&packed[..5], None).err().unwrap().to_string();
    assert!(error.contains("gzip"), "{error}");
    let mut damaged = packed.clone();
    let middle = damaged.len() / 2;
    damaged[middle..middle + 64].fill(0xff);
    if let Ok(source) = open_text(&damaged, None) {
        assert!(!source.notices().is_empty(), "damage went unsaid");
    }
    // Two members, as `cat a.gz b.gz` makes.
    let mut twice = packed.clone();
    twice.extend_from_slice(&packed);
    assert_eq!(open_text(&twice, None).unwrap().len(), 800_000);
}

#[test]
fn lines_longer_than_any_buffer_are_skipped() {
    let mut text = " L 10,1\n".to_owned();
    text.push_str(&"x".repeat(3 << 20));
    text.push_str("\n L 20,1\n");
    text.push_str(&" L 30,1".repeat(1 << 18));
    let source = open_text(text, None).unwrap();
    assert_eq!(all(&*source).iter().map(|r| r.addr).collect::<Vec<_>>(), [0x10, 0x20]);
    assert!(source.notices()[0].contains("skipped 2 lines"), "{:?}", source.notices());
}

#[test]
fn a_long_trace_goes_through_a_file_and_stays_the_same() {
    // Past four million references the reader spools into a temporary native file.
    let lines = 2_200_000;
    let source = open_text(long_text(lines), None).unwrap();
    assert_eq!(source.len(), 2 * u64::from(lines));
    let last = source.chunk(source.len() / source.chunk_len()).unwrap();
    let at = 0x1000_0000 + 8 * u64::from(lines - 1);
    assert_eq!(last.last().map(|r| (r.addr, r.pc)), Some((at, 0x40_1000 + 4 * u64::from((lines - 1) % 100))));
    assert_eq!(source.chunk(0).unwrap()[1].addr, 0x1000_0000);
    assert!(source.notices().is_empty());
}

const PROGRAM: &str = r#"
static volatile long cells[64];
int main(void)
{
    for (int i = 0; i < 64; i++)
        cells[i] = i;
    long sum = 0;
    for (int i = 0; i < 64; i++)
        sum += cells[i];
    return sum == 2016 ? 0 : 1;
}
"#;

#[test]
fn a_real_run_of_a_real_program() {
    let folder = tempfile::tempdir().unwrap();
    let (source, program, log) = (folder.path().join("p.c"), folder.path().join("p"), folder.path().join("p.log"));
    fs::write(&source, PROGRAM).unwrap();
    let compiled = Command::new("gcc")
        .args(["-O1", "-no-pie", "-Wl,--section-start=.bss=0x20000000", "-o"])
        .args([&program, &source])
        .status();
    if !compiled.is_ok_and(|s| s.success()) {
        println!("skipped: no gcc");
        return;
    }
    let run = Command::new("valgrind")
        .args(["--tool=lackey", "--trace-mem=yes"])
        .arg(format!("--log-file={}", log.display()))
        .arg(&program)
        .status();
    if !run.is_ok_and(|s| s.success()) {
        println!("skipped: no valgrind");
        return;
    }
    let trace = trace::open(&log, None).unwrap();
    assert!(trace.notices().is_empty(), "{:?}", trace.notices());
    let all = all(&*trace);
    let cells: Vec<&Reference> =
        all.iter().filter(|r| (0x2000_0000..0x2000_1000).contains(&r.addr) && r.size == 8).collect();
    let of = |kind| cells.iter().filter(|r| r.kind == kind).map(|r| r.addr).collect::<Vec<_>>();
    assert_eq!((of(Kind::Write).len(), of(Kind::Read).len()), (64, 64));
    assert_eq!(of(Kind::Write), of(Kind::Read));
    assert!(of(Kind::Write).windows(2).all(|w| w[1] == w[0] + 8));
    assert!(cells.iter().all(|r| (0x40_0000..0x50_0000).contains(&r.pc)), "{:x?}", cells[0]);
    assert!(all.iter().filter(|r| r.kind == Kind::Fetch).count() > all.len() / 2);
}
