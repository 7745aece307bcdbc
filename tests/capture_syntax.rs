//! What is recorded does not depend on how the assembler's text is written, and what is not recorded is said when it is compiled.
#![cfg(all(feature = "cli", target_os = "linux", target_arch = "x86_64"))]

mod capture_common;

use capture_common::{Folder, has};
use object::{Object, ObjectSegment};
use orrery::reference::Kind;
use std::collections::BTreeMap;
use std::path::Path;

/// The same program by both syntaxes: the same instructions at the same places, so the same references.
#[test]
fn intel_syntax_records_what_att_syntax_does() {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    for (compiler, source, flags) in [
        ("gcc", "capture_matmul.c", ["-O0", "-no-pie"].as_slice()),
        ("gcc", "capture_sort.c", &["-O3", "-mavx2", "-no-pie"]),
        ("g++", "capture_names.cpp", &["-O1", "-no-pie"]),
        ("clang", "capture_sort.c", &["-O0", "-no-pie"]),
        ("clang", "capture_sort.c", &["-O2", "-no-pie"]),
    ] {
        if !has(compiler) {
            continue;
        }
        let folder = Folder::new();
        let recorded = ["att", "intel"].map(|syntax| {
            let (masm, out) = (format!("-masm={syntax}"), format!("{syntax}.orrery"));
            let source = programs.join(source);
            let said = folder.build(compiler, &[flags, &[&masm, source.to_str().unwrap(), "-o", "prog"]].concat());
            assert_eq!(said, "", "{compiler} {flags:?} {masm}");
            folder.run("prog", &[], &out);
            folder.trace(&out)
        });
        // Stacks and heaps begin elsewhere each time, all of them past the program's own segments.
        let program = std::fs::read(folder.path("prog")).unwrap();
        let segments = object::File::parse(&*program).unwrap();
        let end = segments.segments().map(|s| s.address() + s.size()).max().expect("segments");
        let list =
            |n: usize| recorded[n].references.iter().map(|r| (r.kind, r.size, r.pc, (r.addr < end).then_some(r.addr)));
        assert!(recorded[0].references.len() > 1000, "{compiler} {source}");
        // A copied range is cut at lines, which its pieces lie in by chance: bytes are the same, pieces are not.
        let bytes = |n: usize| {
            let mut bytes: BTreeMap<(u64, Kind), u64> = BTreeMap::new();
            recorded[n].references.iter().for_each(|r| *bytes.entry((r.pc, r.kind)).or_default() += u64::from(r.size));
            bytes
        };
        assert_eq!(bytes(0), bytes(1), "{compiler} {source} {flags:?}");
        if source.ends_with(".c") {
            assert!(list(0).eq(list(1)), "{compiler} {source} {flags:?}");
            assert_eq!(recorded[0].counts(), recorded[1].counts(), "{compiler} {source} {flags:?}");
        }
    }
}

#[test]
fn a_text_may_change_its_syntax() {
    if !has("gcc") {
        return;
    }
    let folder = Folder::new();
    folder.write(
        "inline.c",
        "int a[16], b[16]; __thread int t[4];\n\
         int main(void) { for (long i = 0; i < 16; i++) {\n\
         __asm__ volatile(\".intel_syntax noprefix\\n\\tmov eax, DWORD PTR a[rip+8]\\n\\tadd DWORD PTR [%0], eax\\n\\t\
         mov eax, dword ptr fs:[t@tpoff+4]\\n\\t.att_syntax\" :: \"r\"(&b[i]) : \"eax\", \"memory\");\n\
         __asm__ volatile(\"lock; addl $1, %0\" : \"+m\"(a[i]));\n\
         __asm__ volatile(\".att_syntax noprefix\\n\\tmov b+4(rip), eax\\n\\t.att_syntax prefix\" ::: \"eax\");\n\
         } return 0; }\n",
    );
    folder.write(
        "start.s",
        ".intel_syntax noprefix\n.data\ntable: .long 1, 2, 3, 4\n.text\n.globl main\nmain: xor eax, eax\nlea rdx, table[rip]\n\
         1: MOV ECX, DWORD PTR [RDX+RAX*4]\n mov 4[rsp-24], ecx\n add eax, 1\n cmp eax, 4\n jne 1b\n push QWORD PTR table[rip]\n\
         pop QWORD PTR [rdx+8]\n xor eax, eax\n ret\n.section .note.GNU-stack,\"\",@progbits\n",
    );
    assert_eq!(folder.build("gcc", &["-O1", "inline.c", "-o", "inline"]), "");
    assert_eq!(folder.build("gcc", &["start.s", "-o", "start"]), "");
    folder.run("inline", &[], "inline.orrery");
    let trace = folder.trace("inline.orrery");
    let counts = trace.counts();
    assert_eq!((counts.get("a"), counts.get("b")), (Some(&(32, 16)), Some(&(32, 16))), "{counts:?}");
    assert_eq!(trace.references.len(), 16 * 5);
    folder.run("start", &[], "start.orrery");
    let trace = folder.trace("start.orrery");
    let kinds = |kind, size| trace.references.iter().filter(|r| r.kind == kind && r.size == size).count();
    // The four stores are to a slot of the frame, and those are no array's.
    assert_eq!(
        (kinds(Kind::Read, 4), kinds(Kind::Read, 8), kinds(Kind::Write, 8)),
        (4, 1, 1),
        "{:?}",
        trace.references
    );
}

#[test]
fn what_is_not_recorded_is_said_at_compile_time() {
    if !has("gcc") {
        return;
    }
    let folder = Folder::new();
    folder.write("f.c", "int x; int f(void) { return x++; }\n");
    folder.write(
        "patterns.s",
        ".macro load to\nmov (%rax), \\to\n.endm\n.text\nf: load %ecx\n.rept 3\nmov (%rax), %edx\n.endr\nnop\nxlatb\nret\n\
         .section .note.GNU-stack,\"\",@progbits\n",
    );
    let said = folder.build("gcc", &["-c", "-m32", "f.c", "-o", "f.o"]);
    assert!(said.contains("f.c: its code is none for 64 bits") && said.contains("not recorded"), "{said}");
    let said = folder.build("gcc", &["-c", "patterns.s", "-o", "patterns.o"]);
    assert!(said.contains("patterns.s: 5 instructions") && said.contains("macros"), "{said}");
    folder.write("options", "--64\n");
    let said = folder.build("gcc", &["-c", "f.c", "-Wa,@options", "-o", "f.o"]);
    assert!(said.contains("f.c: the assembler's arguments are in a file"), "{said}");
    if has("clang") {
        folder.write(
            "main.c",
            "int f(void); int table[64]; int main(void) { for (int i = 0; i < 64; i++) table[i] = f(); return 0; }\n",
        );
        let said = folder.build("clang", &["-O1", "-flto", "-fintegrated-as", "main.c", "f.c", "-o", "prog"]);
        assert!(said.contains("-flto: left out"), "{said}");
        folder.run("prog", &[], "prog.orrery");
        assert_eq!(folder.trace("prog.orrery").counts().get("table"), Some(&(0, 64)));
    }
}
