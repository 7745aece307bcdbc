//! What `orrery convert` writes: round trips through every format and packing, parts of a trace against counts by hand.
#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use orrery::reference::{Kind, Mark, NO_LANE, Reference, Tables};
use orrery::trace::native::FileWriter;
use orrery::trace::{self, synth};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn bundled(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("traces/{name}.orrery"))
}

fn convert(folder: &Path, from: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_orrery")).arg("convert").arg(from).args(args).current_dir(folder).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn read(path: &Path) -> (Vec<Reference>, Tables) {
    let source = trace::open(path, None).unwrap();
    let chunks = 0..source.len().div_ceil(source.chunk_len());
    (chunks.flat_map(|i| source.chunk(i).unwrap().to_vec()).collect(), source.tables().clone())
}

/// What lackey can tell: the pc of a reference is the address of the last fetch.
fn by_lackey(all: &[Reference]) -> Vec<Reference> {
    let mut fetched = 0;
    let tell = |r: &Reference| {
        fetched = if r.kind == Kind::Fetch { r.addr } else { fetched };
        Reference { pc: fetched, core: 0, lane: NO_LANE, ..*r }
    };
    all.iter().map(tell).collect()
}

/// What Dinero's classic text can tell: words of four bytes, read, written or fetched.
fn by_din(all: &[Reference]) -> Vec<Reference> {
    let kinds = |kind| if kind == Kind::Modify { vec![Kind::Read, Kind::Write] } else { vec![kind] };
    all.iter().flat_map(|r| kinds(r.kind).into_iter().map(|kind| Reference::new(kind, r.addr & !3, 4))).collect()
}

/// The name of a format, and what its reader must give of the references that went in.
type Told = (&'static str, fn(&[Reference]) -> Vec<Reference>);

const TEXTS: [Told; 3] = [("lackey", by_lackey), ("din", by_din), ("csv", <[Reference]>::to_vec)];

/// The packings, and how a file of each begins.
const PACKINGS: [(&str, &[u8]); 5] =
    [("", b""), (".gz", b"\x1f\x8b"), (".zst", b"\x28\xb5\x2f\xfd"), (".xz", b"\xfd7zXZ"), (".bz2", b"BZh")];

/// Everything that a reference can be.
fn all_sorts(folder: &Path) -> PathBuf {
    let mut all: Vec<Reference> = synth::mix(5000, 11).collect();
    for (r, n) in all.iter_mut().zip(0u16..) {
        r.kind = Kind::from_code(u8::try_from((n / 3) % 4).unwrap()).unwrap();
        r.core = n % 3;
        r.lane = if n % 5 == 0 { u8::try_from(n % 32).unwrap() } else { NO_LANE };
        r.pc = if n % 7 == 0 { 0 } else { 0x40_0000 + u64::from(n) };
        if n % 4 == 1 {
            r.addr += 3;
        }
    }
    all[0] = Reference { addr: u64::MAX, pc: u64::MAX, size: 1, core: 65_535, lane: 254, kind: Kind::Modify };
    all[1] = Reference { addr: 0, pc: 0, size: 1 << 20, core: 0, lane: NO_LANE, kind: Kind::Fetch };
    let path = folder.join("sorts.orrery");
    let mut writer = FileWriter::create(&path).unwrap();
    writer.write(&all).unwrap();
    writer.finish(&Tables::default()).unwrap();
    path
}

#[test]
fn texts_give_back_what_their_format_can_tell_however_packed() {
    let folder = tempfile::tempdir().unwrap();
    let sorts = all_sorts(folder.path());
    for from in [bundled("matmul16"), bundled("false_sharing"), sorts] {
        let whole = read(&from).0;
        assert!(whole.len() > 1000);
        for (format, told) in TEXTS {
            let expect = told(&whole);
            for (packing, magic) in PACKINGS {
                let name = format!("t.{format}{packing}");
                let output = convert(folder.path(), &from, &["-o", &name]);
                assert!(output.status.success(), "{name}: {}", stderr(&output));
                let path = folder.path().join(&name);
                assert!(fs::read(&path).unwrap().starts_with(magic), "{name} is not packed so");
                let output = convert(folder.path(), &path, &["-o", "back.orrery"]);
                assert!(output.status.success(), "{name}: {}", stderr(&output));
                let back = read(&folder.path().join("back.orrery")).0;
                assert_eq!(back.len(), expect.len(), "{name} of {}", from.display());
                for (n, (back, expect)) in back.iter().zip(&expect).enumerate() {
                    assert_eq!(back, expect, "{name} of {}, reference {n}", from.display());
                }
            }
        }
    }
}

#[test]
fn what_a_format_has_no_place_for_is_told_with_its_count() {
    let folder = tempfile::tempdir().unwrap();
    let from = all_sorts(folder.path());
    let whole = read(&from).0;
    let count = |is: &dyn Fn(&Reference) -> bool| whole.iter().filter(|r| is(r)).count();
    let fetched = by_lackey(&whole);
    let pcs = whole.iter().zip(&fetched).filter(|(r, told)| r.kind != Kind::Fetch && r.pc != told.pc).count();
    let cores = count(&|r| r.core != 0);
    let lanes = count(&|r| r.lane != NO_LANE);
    let instructions = count(&|r| r.pc != 0 && r.kind != Kind::Fetch);
    let words = count(&|r| r.size != 4 || r.addr % 4 != 0);
    let modifies = count(&|r| r.kind == Kind::Modify);
    assert!([pcs, cores, lanes, instructions, words, modifies].iter().all(|n| *n > 10));
    for (name, expect) in [
        (
            "t.lackey",
            vec![
                format!("the instructions of {pcs} references"),
                format!("the core numbers of {cores} references"),
                format!("the lanes of {lanes} references"),
            ],
        ),
        (
            "t.din",
            vec![
                format!("the 4-byte word at an address, which is not what is touched by {words} references"),
                format!("a read and a write stand for each of {modifies} references"),
                format!("the instructions of {instructions} references"),
                format!("the core numbers of {cores} references"),
                format!("the lanes of {lanes} references"),
            ],
        ),
        ("t.csv", vec![]),
        ("t.orrery", vec![]),
    ] {
        let output = convert(folder.path(), &from, &["-o", name]);
        let text = stderr(&output);
        let notes: Vec<&str> = text.lines().filter(|line| line.starts_with("note: ")).collect();
        assert_eq!(notes.len(), expect.len(), "{name}: {text}");
        for (note, expect) in notes.iter().zip(&expect) {
            assert!(note.starts_with(&format!("note: {name}: ")) && note.ends_with(expect), "{note}\n{expect}");
        }
    }
    let output = convert(folder.path(), &bundled("matmul16"), &["-o", "t.csv"]);
    assert!(stderr(&output).contains("note: t.csv: csv has no place for regions, source lines and marks"));
}

#[test]
fn formats_by_flag_and_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let from = bundled("array_init");
    for (args, begins) in [
        (&["-o", "plain"][..], &b"PAR1"[..]),
        (&["-o", "t.parquet"], b"PAR1"),
        (&["-o", "t.PARQUET"], b"PAR1"),
        (&["-o", "t.txt", "--to", "parquet"], b"PAR1"),
        (&["-o", "t.txt", "--to", "lackey"], b" S 10000000,8\n"),
        (&["-o", "t.log"], b" S 10000000,8\n"),
        (&["-o", "t.DIN"], b"1 10000000\n"),
        (&["-o", "u.gz", "--to", "din"], b"\x1f\x8b"),
        (&["-o", "-", "--to", "csv"], b"address,size,kind,pc,core,lane\n0x10000000,8,write,0x"),
    ] {
        let output = convert(folder.path(), &from, args);
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        let written = if args[1] == "-" { output.stdout } else { fs::read(folder.path().join(args[1])).unwrap() };
        assert!(written.starts_with(begins), "{args:?}: {}", String::from_utf8_lossy(&written[..40]));
    }
}

/// The references kept, and the tables.
fn kept(name: &str, flags: &[&str]) -> (Vec<Reference>, Tables, String) {
    let folder = tempfile::tempdir().unwrap();
    let output = convert(folder.path(), &bundled(name), &[flags, &["-o", "t.orrery"]].concat());
    assert!(output.status.success(), "{flags:?}: {}", stderr(&output));
    let (all, tables) = read(&folder.path().join("t.orrery"));
    (all, tables, stderr(&output))
}

/// Whether the first reference has this number.
type Wanted = fn(usize, &Reference) -> bool;

#[test]
fn parts_are_what_a_count_by_hand_says() {
    const B: u64 = 0x1000_0800;
    let in_b: Wanted = |_, r| (B..B + 2048).contains(&r.addr);
    let cases: [(&str, &[&str], usize, Wanted); 15] = [
        // 16^3 reads of A and of B, 16^2 writes of C.
        ("matmul16", &["--only", "B"], 4096, in_b),
        ("matmul16", &["--only", "A,C"], 4096 + 256, |_, r| !(B..B + 2048).contains(&r.addr)),
        ("matmul16", &["--kind", "write"], 256, |_, r| r.kind == Kind::Write),
        ("matmul16", &["--kind", "read,write"], 8448, |_, _| true),
        ("matmul16", &["--range", "100..2_00"], 100, |n, _| (100..200).contains(&n)),
        ("matmul16", &["--range", "8_000.."], 448, |n, _| n >= 8000),
        ("matmul16", &["--range", "..0x10"], 16, |n, _| n < 16),
        // 0, 1000, .., 8000: nine windows.
        ("matmul16", &["--sample", "every=1000,window=100"], 900, |n, _| n % 1000 < 100),
        // The first row of B: 16 elements, each read for each row of A.
        ("matmul16", &["--addr", "0x10000800..0x10000880"], 256, |_, r| (B..B + 128).contains(&r.addr)),
        // Element 3 of A, by one of its bytes, and the last element of C.
        ("matmul16", &["--addr", "0x1000001f..0x10000020,0x100017f8.."], 17, |_, r| {
            r.addr == 0x1000_0018 || r.addr == 0x1000_17f8
        }),
        ("matmul16", &["--file", "matmul16.c", "--function", "multiply"], 8448, |_, _| true),
        ("matmul16", &["--only", "B", "--kind", "read", "--range", "..33"], 16, |n, r| {
            n < 33 && (B..B + 2048).contains(&r.addr)
        }),
        ("false_sharing", &["--core", "2"], 384, |_, r| r.core == 2),
        ("false_sharing", &["--core", "0,3", "--only", "sums"], 2 * 256, |_, r| {
            (r.core == 0 || r.core == 3) && r.addr >= 0x1000_1000
        }),
        // Five stores for each of 24 x 24 nodes, before all else.
        ("mpm", &["--function", "clear_grid"], 2880, |n, _| n < 2880),
    ];
    for (name, flags, count, wanted) in cases {
        let whole = read(&bundled(name)).0;
        let expect: Vec<Reference> = whole.iter().enumerate().filter(|(n, r)| wanted(*n, r)).map(|(_, r)| *r).collect();
        let (all, _, said) = kept(name, flags);
        assert_eq!(all.len(), count, "{name} {flags:?}");
        assert_eq!(all, expect, "{name} {flags:?}");
        assert!(said.contains(&format!("t.orrery: {} of ", orrery::units::grouped(count as u64))), "{said}");
    }
}

#[test]
fn tables_follow_the_part_that_is_kept() {
    let (_, tables, said) = kept("mpm", &["--range", "2000..31000"]);
    let marks: Vec<(u64, &str)> = tables.marks.iter().map(|m| (m.reference, m.name.as_str())).collect();
    let expect = [(880, "momentum"), (16_752, "forces"), (28_016, "move the grid")];
    assert_eq!(marks, expect, "those before and after are of other moments");
    assert!(said.contains("29,000 of the first "), "{said}");

    // Marks keep their place among the references of a kind: the first phase is 2880 writes.
    let (all, tables, said) = kept("mpm", &["--kind", "read"]);
    assert_eq!(tables.marks.len(), 6);
    assert_eq!(tables.marks[1], Mark { reference: 0, name: "momentum".into() });
    let moved = read(&bundled("mpm")).0[..18_752].iter().filter(|r| r.kind == Kind::Read).count();
    assert_eq!(tables.marks[2].reference, moved as u64);
    assert!(said.contains(&format!("{} of 60,458 references", orrery::units::grouped(all.len() as u64))), "{said}");

    let (_, tables, _) = kept("mpm", &["--only", "stress,grid mass"]);
    let names: Vec<&str> = tables.regions.iter().map(|r| r.name.as_str()).collect();
    assert_eq!(names, ["stress", "grid mass"]);
    assert_eq!(tables.title, "Material point method");
}

#[test]
fn bad_values_name_flag_finding_and_expectation() {
    let folder = tempfile::tempdir().unwrap();
    let from = bundled("mpm");
    let put = "t.orrery";
    for (args, words) in [
        (&["--only", "grids"][..], &["--only", "`grids`", "expected a region of the trace", "grid mass"][..]),
        (&["--only", ""], &["--only", "``", "expected a region"]),
        (&["--function", "main"], &["--function", "`main`", "expected a function", "clear_grid"]),
        (&["--file", "pm.c"], &["--file", "`pm.c`", "expected a source file", "mpm.c"]),
        (&["--file", ""], &["--file", "``", "expected a source file"]),
        (&["--addr", "0x20..0x10"], &["--addr", "`0x20..0x10`", "the first below the second"]),
        (&["--addr", "0x20"], &["--addr", "`0x20`", "two addresses"]),
        (&["--addr", "0x1..0x1ffffffffffffffff"], &["--addr", "0x1ffffffffffffffff", "two addresses"]),
        (&["--core", "x"], &["--core", "'x'", "expected core numbers of 0 to 65535"]),
        (&["--core", "65536"], &["--core", "'65536'", "0 to 65535"]),
        (&["--core", "1,-1"], &["--core", "'-1'", "0 to 65535"]),
        (&["--kind", "load"], &["--kind", "'load'", "read, write, modify, fetch"]),
        (&["--range", "5"], &["--range", "`5`", "two reference numbers"]),
        (&["--range", "9..9"], &["--range", "`9..9`", "the first below the second"]),
        (&["--range=-5..9"], &["--range", "`-5..9`", "two reference numbers"]),
        (&["--sample", "every=10"], &["--sample", "`every=10`", "every=1000000,window=10000"]),
        (&["--sample", "every=10,window=11"], &["--sample", "`every=10,window=11`", "window not above"]),
        (&["--sample", "every=0,window=0"], &["--sample", "`every=0,window=0`", "1 or more"]),
        (&["--between", "0x10"], &["--between", "`0x10`", "two addresses"]),
        (&["--between", "0x10,main"], &["--between", "`0x10,main`", "two addresses"]),
        (&["--to", "xdin"], &["--to", "'xdin'", "orrery, lackey, din, csv"]),
    ] {
        let output = convert(folder.path(), &from, &[args, &["-o", put]].concat());
        sound(&output, args, words, folder.path());
    }
    for (name, args, words) in [
        ("t.xdin", &[][..], &["--output", "`t.xdin`", "expected a name that ends in .orrery", "--to"][..]),
        ("t.txt.gz", &[], &["--output", "`t.txt.gz`", ".lackey, .din or .csv"]),
        ("t.orrery.gz", &[], &["--output", "`t.orrery.gz`", "expected a name"]),
        ("t.gz", &["--to", "orrery"], &["--output", "`t.gz`", "packed within"]),
    ] {
        let output = convert(folder.path(), &from, &[args, &["-o", name]].concat());
        sound(&output, &[name], words, folder.path());
    }
}

/// A mistake in the command line: exit code 2, these words, no file.
fn sound(output: &Output, args: &[&str], words: &[&str], folder: &Path) {
    let text = stderr(output);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
    assert!(text.starts_with("error: ") && !text.contains("panicked"), "{args:?}: {text}");
    for word in words {
        assert!(text.contains(word), "{args:?}: no `{word}` in: {text}");
    }
    assert_eq!(fs::read_dir(folder).unwrap().count(), 0, "{args:?} left a file");
}

#[test]
fn nothing_left_is_said_and_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    for flags in [&["--kind", "fetch"][..], &["--range", "99999.."], &["--addr", "0x1..0x2"], &["--core", "1"]] {
        for name in ["t.orrery", "t.csv", "t.lackey.xz"] {
            let output = convert(folder.path(), &bundled("mpm"), &[flags, &["-o", name]].concat());
            let text = stderr(&output);
            assert_eq!(output.status.code(), Some(1), "{flags:?}: {text}");
            assert!(
                text.contains("of the 60458 read none is left") && text.contains(&format!("loosen {}", flags[0])),
                "{flags:?}: {text}"
            );
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{flags:?} left a file");
        }
    }
}
