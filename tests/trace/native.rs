//! The native file: what goes in comes out, any chunk alone, by other tools too; what is damaged is said, not crashed on.
#![cfg(feature = "formats")]
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking, and says when it skips")]

use orrery::reference::{Kind, Mark, NO_LANE, Reference, Region, SourceLocation, Tables};
use orrery::trace::native::{CHUNK, FileWriter, MAX_SIZE, PIECE, Packing, Writer};
use orrery::trace::{self, Format, Stream, TraceError, synth};
use proptest::prelude::*;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

fn tables() -> Tables {
    Tables {
        title: "Ünïcode \"title\"".into(),
        subtitle: "sub".into(),
        regions: vec![Region {
            elem_type: "double".into(),
            shape: vec![16, 16].into(),
            row_major: false,
            lifetime: Some((3, 9)),
            ..Region::new("A", 0x1000_0000, 2048)
        }],
        locations: vec![SourceLocation {
            path: String::new(),
            pc: u64::MAX,
            file: "a.c".into(),
            line: 7,
            function: "f".into(),
            text: "x = 1;".into(),
        }],
        marks: vec![Mark { reference: 1, name: "one".into() }],
        made_by: "a test".into(),
    }
}

fn write(path: &Path, references: &[Reference], tables: &Tables) {
    let mut writer = FileWriter::create(path).unwrap();
    references.chunks(100_000).for_each(|c| writer.write(c).unwrap());
    writer.finish(tables).unwrap();
}

fn read(path: &Path) -> Vec<Reference> {
    let source = trace::open(path, None).unwrap();
    (0..source.len().div_ceil(source.chunk_len())).flat_map(|i| source.chunk(i).unwrap().to_vec()).collect()
}

/// Why `path` cannot be opened or read to its end.
fn failure(path: &Path) -> String {
    match trace::open(path, None) {
        Err(e) => e.to_string(),
        Ok(source) => (0..source.len().div_ceil(source.chunk_len()))
            .find_map(|i| source.chunk(i).err())
            .unwrap_or_else(|| panic!("{} reads well", path.display()))
            .to_string(),
    }
}

fn any_reference() -> impl Strategy<Value = Reference> {
    let addr = prop_oneof![any::<u64>(), 0u64..4096, (u64::MAX - 4096)..=u64::MAX, Just(0), Just(u64::MAX)];
    let lane = prop_oneof![3 => Just(NO_LANE), 1 => 0u8..64];
    let core = prop_oneof![3 => Just(0u16), 1 => any::<u16>()];
    let pc = prop_oneof![Just(0u64), any::<u64>()];
    (addr, pc, 1..=MAX_SIZE, core, lane, 0u8..4).prop_map(|(addr, pc, size, core, lane, kind)| Reference {
        addr: addr.min(u64::MAX - u64::from(size - 1)),
        pc,
        size,
        core,
        lane,
        kind: Kind::from_code(kind).unwrap(),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_goes_in_comes_out(references in proptest::collection::vec(any_reference(), 1..600)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.orrery");
        write(&path, &references, &tables());
        prop_assert_eq!(read(&path), references);
        let source = trace::open(&path, None).unwrap();
        prop_assert_eq!(source.tables(), &tables());
        prop_assert!(source.notices().is_empty());
    }

    /// A changed byte ends in an error, or changed nothing that matters; it never crashes a reader or moves a count.
    #[test]
    fn damage_is_survived(at in any::<prop::sample::Index>(), value in any::<u8>(), cut in any::<prop::sample::Index>()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.orrery");
        let references: Vec<Reference> = synth::mix(500, 1).collect();
        write(&path, &references, &tables());
        let whole = fs::read(&path).unwrap();
        let mut bytes = whole.clone();
        bytes[at.index(whole.len())] = value;
        fs::write(&path, &bytes).unwrap();
        if let Ok(source) = trace::open(&path, Some(Format::NATIVE))
            && let Ok(chunk) = source.chunk(0)
        {
            prop_assert!(chunk[..] == references[..]);
            prop_assert_eq!(source.len(), 500);
        }
        fs::write(&path, &whole[..cut.index(whole.len())]).unwrap();
        prop_assert!(trace::open(&path, Some(Format::NATIVE)).is_err());
    }
}

#[test]
fn chunks_alone_equal_the_stream() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.orrery");
    let mut references: Vec<Reference> = synth::mix(2 * CHUNK as u64 + 777, 5).collect();
    // Cores and lanes that appear only in the last group must not be lost.
    references[2 * CHUNK + 5].core = 3;
    references[2 * CHUNK + 6].lane = 17;
    write(&path, &references, &Tables::default());
    let source = trace::open(&path, None).unwrap();
    assert_eq!((source.len(), source.chunk_len()), (references.len() as u64, PIECE as u64));
    for index in [8, 0, 3, 1, 8, 7, 2] {
        let start = index * PIECE;
        let end = (start + PIECE).min(references.len());
        assert!(source.chunk(index as u64).unwrap()[..] == references[start..end], "chunk {index}");
    }
    assert!(source.chunk(9).unwrap().is_empty() && source.chunk(u64::MAX).unwrap().is_empty());

    let mut stream = Stream::open(&path, None).unwrap();
    let (mut streamed, mut chunk) = (Vec::new(), Vec::new());
    loop {
        stream.next_chunk(&mut chunk).unwrap();
        if chunk.is_empty() {
            break;
        }
        streamed.extend_from_slice(&chunk);
    }
    assert!(streamed == references);

    // One source, many threads.
    std::thread::scope(|scope| {
        for index in [0u64, 1, 8, 0, 1, 8] {
            let (source, references) = (&source, &references);
            scope.spawn(move || {
                let start = usize::try_from(index).unwrap() * PIECE;
                let end = (start + PIECE).min(references.len());
                assert!(source.chunk(index).unwrap()[..] == references[start..end]);
            });
        }
    });
}

#[test]
fn batches_go_on_where_they_ended_whatever_else_is_read_between() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.orrery");
    let references: Vec<Reference> = synth::mix(2 * CHUNK as u64 + 777, 6).collect();
    for packing in [Packing::Small, Packing::Quick] {
        let mut writer = FileWriter::create(&path).unwrap().packed(packing);
        writer.write(&references).unwrap();
        writer.finish(&Tables::default()).unwrap();
        let source = trace::open(&path, None).unwrap();
        let mut rng = synth::Rng::new(3);
        let mut below = |n: usize| usize::try_from(rng.next_u64() % n as u64).unwrap();
        // Three readers of all of it in turns, the last from anywhere each time.
        let (mut at, mut batch, mut turns) = ([0, PIECE / 2, 0], Vec::new(), 0);
        while at[0] < references.len() || at[1] < references.len() {
            let reader = below(3);
            if reader == 2 {
                at[2] = below(references.len());
            }
            let from = at[reader];
            source.batch(from as u64, &mut batch).unwrap();
            assert!(batch[..] == references[from..from + batch.len()], "{} from {from}", batch.len());
            assert_eq!(batch.is_empty(), from == references.len());
            at[reader] = from + batch.len();
            let index = below(9);
            let end = ((index + 1) * PIECE).min(references.len());
            assert!(source.chunk(index as u64).unwrap()[..] == references[index * PIECE..end], "chunk {index}");
            turns += 1;
        }
        assert!(turns > 30, "many batches");
    }
}

#[test]
fn exactly_one_and_two_groups() {
    let folder = tempfile::tempdir().unwrap();
    for n in [CHUNK, CHUNK + 1, 2 * CHUNK] {
        let path = folder.path().join(format!("{n}.orrery"));
        let references: Vec<Reference> = synth::stream(n as u64).collect();
        write(&path, &references, &Tables::default());
        assert!(read(&path) == references, "{n} references");
    }
}

#[test]
fn the_same_references_give_the_same_bytes() {
    let references: Vec<Reference> = synth::mix(10_000, 2).collect();
    let make = || {
        let mut writer = Writer::new("memory", Vec::new());
        writer.write(&references).unwrap();
        writer.finish(&tables()).unwrap()
    };
    assert_eq!(make(), make());
}

#[test]
fn gzip_is_seen_through() {
    let folder = tempfile::tempdir().unwrap();
    let (plain, packed) = (folder.path().join("t.orrery"), folder.path().join("odd name"));
    let references: Vec<Reference> = synth::mix(5000, 3).collect();
    write(&plain, &references, &tables());
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(&fs::read(&plain).unwrap()).unwrap();
    let bytes = gz.finish().unwrap();
    fs::write(&packed, &bytes).unwrap();
    assert!(read(&packed) == references);
    fs::write(&packed, &bytes[..bytes.len() / 2]).unwrap();
    let message = failure(&packed);
    assert!(message.contains("gzip") && message.contains("cut short"), "{message}");
}

#[test]
fn a_truncated_file_is_told_from_a_foreign_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.orrery");
    write(&path, &synth::mix(20_000, 1).collect::<Vec<_>>(), &Tables::default());
    let whole = fs::read(&path).unwrap();
    for length in [4, 11, whole.len() / 2, whole.len() - 1] {
        fs::write(&path, &whole[..length]).unwrap();
        let message = failure(&path);
        assert!(message.contains("cut short") && message.contains(&format!("at byte {length}")), "{message}");
        assert!(message.contains("copy it again"), "{message}");
    }
    // A footer length that points outside the file.
    let mut lying = whole.clone();
    let n = lying.len();
    lying[n - 8..n - 4].copy_from_slice(&[0xff, 0xff, 0xff, 0x7f]);
    fs::write(&path, &lying).unwrap();
    assert!(failure(&path).contains("damaged Parquet"), "{}", failure(&path));
    // Data wiped, footer whole: found when the chunk is asked for.
    let mut wiped = whole;
    wiped[4..2000].fill(0xa5);
    fs::write(&path, &wiped).unwrap();
    assert!(trace::open(&path, None).is_ok());
    assert!(failure(&path).contains("do not match their checksum"), "{}", failure(&path));
}

#[test]
fn what_cannot_be_stored_is_refused() {
    let mut writer = Writer::new("memory", Vec::new());
    for (reference, word) in [
        (Reference::new(Kind::Read, 64, 0), "size 0"),
        (Reference::new(Kind::Read, 64, MAX_SIZE + 1), "size 1048577"),
        (Reference::new(Kind::Read, u64::MAX, 2), "past the end"),
    ] {
        let error = writer.write(&[reference]).unwrap_err();
        assert!(matches!(error, TraceError::Invalid(_)));
        assert!(error.to_string().contains(word), "{error}");
    }
    writer.write(&[Reference::new(Kind::Read, u64::MAX, 1)]).unwrap();
    assert_eq!(writer.len(), 1);
    let error = Writer::new("memory", Vec::new()).finish(&Tables::default()).unwrap_err();
    assert!(matches!(error, TraceError::Empty(_)), "{error}");
}

#[test]
fn nothing_half_written_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.orrery");
    fs::write(&path, "what was here before").unwrap();
    let mut writer = FileWriter::create(&path).unwrap();
    writer.write(&synth::stream(3 * CHUNK as u64).collect::<Vec<_>>()).unwrap();
    drop(writer);
    assert_eq!(fs::read_to_string(&path).unwrap(), "what was here before");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "a temporary file was left");

    let missing = folder.path().join("no/such/t.orrery");
    let error = FileWriter::create(&missing).err().unwrap().to_string();
    assert!(error.contains("no/such/t.orrery") && error.contains("does not exist; make it first"), "{error}");
    #[cfg(target_os = "linux")]
    {
        let mut full = FileWriter::create(Path::new("/dev/full")).unwrap();
        let all = synth::mix(50_000, 1).collect::<Vec<_>>();
        let error = full.write(&all).err().or_else(|| full.finish(&tables()).err()).unwrap();
        assert!(error.to_string().contains("free space"), "{error}");
        assert!(Path::new("/dev/full").exists());
    }
}

/// The interpreter to test with: `ORRERY_PYTHON`, or `python3`.
fn python(script: &str, path: &Path) -> Option<String> {
    let name = std::env::var("ORRERY_PYTHON").unwrap_or_else(|_| "python3".into());
    let output = std::process::Command::new(name).arg("-c").arg(script).arg(path).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if text.starts_with("no reader") {
        return None;
    }
    assert!(output.status.success(), "{}{}", text, String::from_utf8_lossy(&output.stderr));
    Some(text)
}

const READ_WITH_PYTHON: &str = r#"
import json, sys
path = sys.argv[1]
try:
    import duckdb
    db = duckdb.connect()
    rows = db.execute("select address, size, kind, pc, core, lane from read_parquet(?)", [path]).fetchall()
    pairs = dict((bytes(k), bytes(v)) for k, v in db.execute("select key, value from parquet_kv_metadata(?)", [path]).fetchall())
    tool = "duckdb"
except ImportError:
    try:
        import pyarrow.parquet as pq
    except ImportError:
        print("no reader")
        sys.exit()
    table = pq.read_table(path)
    pairs = pq.read_metadata(path).metadata
    rows = list(zip(*(table[c].to_pylist() for c in ("address", "size", "kind", "pc", "core", "lane"))))
    tool = "pyarrow"
tables = json.loads(pairs[b"orrery.tables"])
print(tool, len(rows), tables["title"], tables["regions"][0]["shape"], int(pairs[b"orrery.version"]))
for i in (0, 1, 2, len(rows) - 1):
    print(*rows[i])
print(sum(r[0] for r in rows))
"#;

#[test]
fn python_reads_it_with_a_standard_parquet_reader() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.orrery");
    let mut references: Vec<Reference> = synth::mix(CHUNK as u64 + 1000, 3).collect();
    references[0] = Reference { addr: u64::MAX, pc: u64::MAX - 1, size: 1, core: 65_535, lane: 31, kind: Kind::Fetch };
    references[1] = Reference { addr: 0, pc: 0, size: MAX_SIZE, core: 0, lane: NO_LANE, kind: Kind::Modify };
    write(&path, &references, &tables());
    let Some(text) = python(READ_WITH_PYTHON, &path) else {
        assert!(std::env::var_os("ORRERY_REQUIRE_PYTHON").is_none(), "no python3 with duckdb or pyarrow");
        println!("skipped: no python3 with duckdb or pyarrow (pip install duckdb)");
        return;
    };
    let lines: Vec<&str> = text.lines().collect();
    let row = |i: usize| {
        let r = references[i];
        let lane = if r.lane == NO_LANE { "None".to_owned() } else { r.lane.to_string() };
        format!("{} {} {} {} {} {lane}", r.addr, r.size, r.kind as u8, r.pc, r.core)
    };
    let tool = lines[0].split(' ').next().unwrap();
    println!("read by {tool}");
    assert_eq!(lines[0], format!("{tool} {} Ünïcode \"title\" [16, 16] 1", references.len()));
    assert_eq!(lines[1..5], [row(0), row(1), row(2), row(references.len() - 1)]);
    assert_eq!(lines[5], references.iter().map(|r| u128::from(r.addr)).sum::<u128>().to_string());
}

const WRITE_WITH_PYTHON: &str = r#"
import sys
try:
    import duckdb
except ImportError:
    print("no reader")
    sys.exit()
path = sys.argv[1]
duckdb.sql("select (1000 + 8 * i)::ubigint as address, (i % 4)::utinyint as kind, 8 as size, 'x' as note from range(300000) t(i) order by i").write_parquet(path, row_group_size=40960, compression='zstd')
print("written")
"#;

#[test]
fn files_of_other_tools_are_read_or_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("t.parquet");
    if python(WRITE_WITH_PYTHON, &path).is_none() {
        assert!(std::env::var_os("ORRERY_REQUIRE_PYTHON").is_none(), "no python3 with duckdb");
        println!("skipped: no python3 with duckdb (pip install duckdb)");
        return;
    }
    let all = read(&path);
    assert_eq!(all.len(), 300_000);
    for (r, i) in all.iter().zip(0u64..) {
        assert_eq!((r.addr, r.kind as u64, r.size), (1000 + 8 * i, i % 4, 8));
    }
    let notices = trace::open(&path, None).unwrap().notices().to_vec();
    assert!(notices.iter().any(|n| n.contains("no table of regions")), "{notices:?}");

    let other = r#"
import sys, duckdb
duckdb.sql("select 1 as colour, 2 as taste").write_parquet(sys.argv[1])
"#;
    python(other, &path);
    let message = failure(&path);
    assert!(message.contains("colour, taste") && message.contains("column `address`"), "{message}");
    let bad_kind = r#"
import sys, duckdb
duckdb.sql("select 64 + i as address, 2 * i as kind from range(4) t(i)").write_parquet(sys.argv[1], compression='zstd')
"#;
    python(bad_kind, &path);
    let message = failure(&path);
    assert!(message.contains("kind 4 in row 2") && message.contains("0 to 3"), "{message}");
    let text = r#"
import sys, duckdb
duckdb.sql("select 'x' as address").write_parquet(sys.argv[1], compression='zstd')
"#;
    python(text, &path);
    assert!(failure(&path).contains("a whole number"), "{}", failure(&path));
    let packed = r#"
import sys, duckdb
duckdb.sql("select 64 + i as address from range(4) t(i)").write_parquet(sys.argv[1], compression='snappy')
"#;
    python(packed, &path);
    assert_eq!(read(&path).iter().map(|r| r.addr).collect::<Vec<_>>(), [64, 65, 66, 67]);
}
