//! Accel-Sim's traces: address modes, widths, lists of kernels, and the figures of a real kernel.
#![cfg(feature = "formats")]
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking, and says when it skips")]

use flate2::Compression;
use flate2::write::GzEncoder;
use orrery::reference::Kind::{self, Fetch, Modify, Read, Write};
use orrery::reference::{Reference, ReferenceSource};
use orrery::trace::{self, Format, TraceError};
use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::Path;

fn open(text: impl AsRef<[u8]>, format: Option<Format>) -> Result<Box<dyn ReferenceSource>, TraceError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.trace");
    fs::write(&path, text).unwrap();
    trace::open(&path, format)
}

fn all(source: &dyn ReferenceSource) -> Vec<Reference> {
    (0..source.len().div_ceil(source.chunk_len())).flat_map(|i| source.chunk(i).unwrap().to_vec()).collect()
}

/// A kernel of one thread block; the lines are instructions.
fn kernel(header: &str, lines: &str) -> String {
    format!(
        "-kernel name = k\n-kernel id = 7\n{header}\n#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 1\n{lines}\n#END_TB\n"
    )
}

#[test]
fn accelsim_addresses_in_all_modes_and_widths_by_opcode() {
    type Lane = (Kind, u8, u64, u32);
    let cases: [(&str, &str, &[Lane]); 12] = [
        // A list: one address an active lane.
        ("", "0010 00000005 1 R4 LDG.E.64 1 R4 4 0 0x1000 0x2000 0", &[(Read, 0, 0x1000, 8), (Read, 2, 0x2000, 8)]),
        // A stride.
        (
            "",
            "0010 0000000e 0 STG.E 2 R6 R9 4 1 0x1000 -16 0",
            &[(Write, 1, 0x1000, 4), (Write, 2, 0xff0, 4), (Write, 3, 0xfe0, 4)],
        ),
        // Distances between neighbouring active lanes.
        (
            "",
            "0010 80000003 1 R4 LD.E.U8 1 R4 4 2 0x1000 4 -8 0",
            &[(Read, 0, 0x1000, 1), (Read, 1, 0x1004, 1), (Read, 31, 0xffc, 1)],
        ),
        ("", "0010 00000001 0 RED.E.ADD.F64.RN.STRONG.GPU 2 R6 R9 8 1 0x1000 0", &[(Modify, 0, 0x1000, 8)]),
        ("", "0010 00000001 1 R4 ATOMG.E.ADD 2 R6 R9 4 1 0x1000 0 0", &[(Modify, 0, 0x1000, 4)]),
        ("", "0010 00000001 1 R4 LDL 1 R6 4 1 0x1000 0 0", &[(Read, 0, 0x1000, 4)]),
        ("", "0010 00000001 0 STL.128 1 R6 16 1 0x1000 0 0", &[(Write, 0, 0x1000, 16)]),
        // The list of addresses may end where the lanes do.
        ("", "0010 00000001 0 LDGSTS.E.BYPASS.128 2 R6 R9 16 0 0x1000", &[(Read, 0, 0x1000, 16)]),
        // Before version 3: thread block and warp stand first.
        ("-accelsim tracer version = 2", "0 0 0 5 0010 00000001 1 R4 LDG.E 1 R4 4 1 0x1000 4", &[(Read, 0, 0x1000, 4)]),
        (
            "-accelsim tracer version = 5\n-enable lineinfo = 1",
            "12 0010 00000001 1 R4 LDG.E 1 R4 4 1 0x1000 4 0",
            &[(Read, 0, 0x1000, 4)],
        ),
        // Shared memory and constants are counted; what has no active lane touches nothing.
        (
            "",
            "0010 ffffffff 1 R4 LDS.64 1 R4 4 1 0x10 8 0\n0020 ffffffff 0 ATOMS.ADD 1 R4 4 1 0x10 8 0\n0030 1 1 R4 LDC 1 R4 4 1 0x10 8 0\n0040 00000000 1 R4 LDG.E 1 R4 4 1 0x1000 4 0\n0050 1 0 STG.E.U16 1 R4 4 1 0x1000 0 0",
            &[(Write, 0, 0x1000, 2)],
        ),
        ("", "0010 1 1 R4 LDG.E 1 R4 4 1 0xfffffffffffffffc 4 0", &[(Read, 0, u64::MAX - 3, 4)]),
    ];
    for (header, lines, expected) in cases {
        let source = open(kernel(header, lines), None).unwrap_or_else(|e| panic!("{lines}: {e}"));
        let found: Vec<_> = all(&*source).iter().map(|r| (r.kind, r.lane, r.addr, r.size)).collect();
        assert_eq!(found, expected, "{lines}");
        if lines.contains("LDS") {
            let notices = source.notices();
            assert!(notices[0].contains("2 shared-memory instructions, 1 other memory instruction"), "{notices:?}");
            assert!(notices[1].contains("LDC"), "{notices:?}");
        } else {
            assert!(source.notices().is_empty(), "{:?}", source.notices());
        }
        let marks = &source.tables().marks;
        assert_eq!((marks.len(), marks[0].reference, &*marks[0].name), (1, 0, "kernel 7 k"));
    }
    for (line, word) in [
        ("0010 ffffffff 1 R4 LDG.E 1 R4 4 0 0x1000 0x2000", "fewer addresses than active lanes"),
        ("0010 00000003 1 R4 LDG.E 1 R4 4 2 0x1000", "fewer distances"),
        ("0010 00000003 1 R4 LDG.E 1 R4 4 3 0x1000", "mode 3"),
        ("0010 00000003 1 R4 LDG.E 1 R4 4 1 0x1000 x", "no decimal number"),
        ("0010 00000001 1 R4 LDG.E.64 1 R4 4 1 0xfffffffffffffffc 4", "passes the end"),
        ("0010 00000001 1 R4 LDG.E.64 1 R4 4 1 0x1fffffffffffffffc 4", "not hexadecimal"),
        ("0010 1ffffffff 1 R4 LDG.E 1 R4 4 1 0x1000 4", "mask is not 32 bits"),
        ("0010 ffffffff 99999999999999999999 R4", "count of registers"),
        ("0010 ffffffff 9 R4 LDG.E", "fewer registers"),
        ("0010 ffffffff 0 LDG.E 0 x", "width is no number"),
        ("0010", "no mask"),
        ("fetch something", "not hexadecimal"),
        ("hello, world", "neither an instruction"),
        ("thread block = 1,2", "three numbers"),
    ] {
        let error = open(kernel("", line), None).err().unwrap_or_else(|| panic!("{line}"));
        let message = error.to_string();
        assert!(
            matches!(error, TraceError::BrokenLine(_)) && message.contains("t.trace:8: found"),
            "{line}: {message}"
        );
        assert!(message.contains(word) && message.contains("mend or delete"), "{line}: {message}");
    }
    let error = open(kernel("", "0010 1 1 R4 LDS 1 R4 4 1 0x10 8"), None).err().unwrap().to_string();
    assert!(error.contains("only 1 shared-memory instruction"), "{error}");
}

#[test]
fn accelsim_lists_name_kernels_beside_them() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("kernelslist.g");
    let text = "MemcpyHtoD,0x1000,64\nMemcpyHtoD,0x1000,x\nMemcpyHtoD,0x2000,32\nkernel-1.traceg\r\nkernel-2.traceg\n\n\
                MemcpyHtoD,0x1ff0,64\nkernel-3.traceg\nMemcpyHtoD,0x1000,128\n";
    fs::write(&list, text).unwrap();
    let error = trace::open(&list, None).err().unwrap().to_string();
    assert!(error.contains("kernelslist.g:8: found no file") && error.contains("of the 3 kernels"), "{error}");
    fs::write(folder.path().join("kernel-1.traceg"), kernel("", "0010 3 1 R4 LDG.E 1 R4 4 1 0x1000 4 0")).unwrap();
    let mut gz = GzEncoder::new(Vec::new(), Compression::fast());
    gz.write_all(kernel("", "0010 1 0 STG.E 1 R4 4 1 0x2000 4 0").as_bytes()).unwrap();
    fs::write(folder.path().join("kernel-3.traceg.gz"), gz.finish().unwrap()).unwrap();
    let source = trace::open(&list, None).unwrap();
    let found: Vec<_> = all(&*source).iter().map(|r| (r.kind, r.addr, r.pc)).collect();
    // The pcs of the second kernel read are told from those of the first.
    assert_eq!(found, [(Read, 0x1000, 0x10), (Read, 0x1004, 0x10), (Write, 0x2000, 0x1_0000_0010)]);
    let marks: Vec<u64> = source.tables().marks.iter().map(|m| m.reference).collect();
    assert_eq!(marks, [0, 2]);
    let notices = source.notices();
    assert!(
        notices[0].contains("passed over 1 unknown line") && notices[1].contains("1 of the kernels"),
        "{notices:?}"
    );
    // What is copied names the array that it fills; the second place is used anew, and nobody touched it before.
    let regions = source.tables().regions.iter();
    let regions: Vec<_> = regions.map(|r| (&*r.name, r.base, r.declaration(), r.lifetime)).collect();
    assert_eq!(
        regions,
        [
            ("host copy 1", 0x1000, "host copy 1[16]".to_owned(), None),
            ("host copy 3", 0x1ff0, "host copy 3[16]".to_owned(), Some((2, 3)))
        ]
    );
    let error = open("kernel-1.traceg\n", None).err().unwrap().to_string();
    assert!(error.contains("found no file"), "{error}");
    let error = open("MemcpyHtoD,0x1,2\n", None).err().unwrap().to_string();
    assert!(error.contains("a list without kernels"), "{error}");
}

#[test]
fn accelsim_vector_add_has_the_figures_that_its_readme_tells() {
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/accelsim/kernelslist.g");
    let list = if list.exists() {
        list
    } else {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/accelsim/kernelslist.g")
    };
    if !list.exists() {
        println!("skipped: ../shared/data/accelsim is not there; the cut in tests/traces is tested in its place");
        return;
    }
    let source = trace::open(&list, None).unwrap();
    let found = all(&*source);
    let of = |kind| found.iter().filter(|r| r.kind == kind).count();
    assert_eq!((of(Read), of(Write), of(Modify), of(Fetch)), (100_000, 50_000, 0, 0));
    let sectors: BTreeSet<u64> = found.iter().map(|r| r.addr / 32).collect();
    assert_eq!(sectors.len(), 18_750);
    assert!(found.iter().all(|r| r.size == 4 && r.lane < 32 && r.core < 64));
    assert_eq!(source.tables().marks[0].name, "kernel 1 _Z9vectorAddPKfS0_Pfi");
    let notices = source.notices();
    assert!(notices.iter().any(|n| n.contains("196 thread blocks are dealt to 64 cores")), "{notices:?}");
    // Both arrays that the program adds up come from the host; the sum does not.
    let regions = source.tables().regions.iter();
    let regions: Vec<_> = regions.map(|r| (r.declaration(), r.base, r.elem_bytes, r.lifetime)).collect();
    let copy = |n: u64, base| (format!("host copy {n}[50000]"), base, 4, None);
    assert_eq!(regions, [copy(1, 0x7fb0_fc40_0000), copy(2, 0x7fb0_fc43_0e00)]);
    let in_copies = |r: &&Reference| source.tables().regions.iter().any(|g| g.base <= r.addr && r.addr < g.end());
    assert!(
        found.iter().filter(in_copies).count() == 100_000 && found.iter().filter(in_copies).all(|r| r.kind == Read)
    );
}
