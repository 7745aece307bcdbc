//! Names from real programs, built here by the machine's compilers and asked what they know of themselves.
#![cfg(feature = "capture")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::built;
use orrery::symbols::{Module, Variable};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// What a program printed: `var NAME ADDRESS BYTES`, `call RETURN-ADDRESS LINE`, `stack NAME OFFSET BYTES`.
struct Told {
    variables: Vec<(String, u64, u64)>,
    calls: Vec<(u64, u32)>,
    stack: Vec<(String, i64, u64)>,
}

fn told(output: &str) -> Told {
    let mut told = Told { variables: vec![], calls: vec![], stack: vec![] };
    let hex = |s: &str| u64::from_str_radix(s.trim_start_matches("0x"), 16).unwrap();
    for line in output.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["var", name, address, bytes] => {
                told.variables.push((name.into(), hex(address), bytes.parse().unwrap()));
            }
            ["call", address, line] => told.calls.push((hex(address), line.parse().unwrap())),
            ["stack", name, offset, bytes] => {
                told.stack.push((name.into(), offset.parse().unwrap(), bytes.parse().unwrap()));
            }
            _ => panic!("the program printed `{line}`"),
        }
    }
    told
}

fn variable<'m>(module: &'m Module, name: &str) -> &'m Variable {
    let found: Vec<&Variable> = module.variables().iter().filter(|v| v.name == name).collect();
    let names = || module.variables().iter().map(|v| v.name.as_str()).collect::<Vec<_>>();
    assert_eq!(found.len(), 1, "`{name}` among {:?}", names());
    found[0]
}

/// `double[16][16]` of a variable.
fn declared(v: &Variable) -> String {
    let shape: String = v.shape.iter().map(|n| format!("[{n}]")).collect();
    format!("{}{shape} {}", v.elem_type, v.elem_bytes)
}

/// What the comments of a source say of calls: by line, the words behind `// ->`.
fn expected_calls(source: &str) -> BTreeMap<u32, Vec<String>> {
    let text = fs::read_to_string(built::sources().join(source)).unwrap();
    let of = |line: &str| Some(line.split_once("// -> ")?.1.split(' ').map(str::to_owned).collect());
    (1..).zip(text.lines()).filter_map(|(n, line)| Some((n, of(line)?))).collect()
}

/// `name type bytes` of what a call's result goes to, as in the comments; `none`.
fn assigned(module: &Module, address: u64) -> String {
    match module.assigned_at(address) {
        None => "none".into(),
        Some(a) => {
            let inner: String = a.inner_shape.iter().map(|n| format!(" {n}")).collect();
            let kind = if a.elem_type.is_empty() { "?" } else { &a.elem_type };
            format!("{} {kind} {}{inner}", a.name, a.elem_bytes)
        }
    }
}

const FLAGS: [&[&str]; 7] = [
    &["-g", "-O0", "-no-pie"],
    &["-g", "-O0", "-pie", "-fPIE"],
    &["-g", "-O2", "-no-pie"],
    &["-g", "-O2", "-pie", "-fPIE"],
    &["-gdwarf-4", "-O2", "-no-pie", "-fdebug-types-section"],
    &["-gdwarf-4", "-O0", "-pie", "-fPIE", "-gz=zlib"],
    &["-g", "-O1", "-no-pie", "-gz"],
];

#[test]
fn a_c_program_is_named_as_it_says_itself() {
    let Some(gcc) = built::compiler("CC", "gcc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let expected = expected_calls("names.c");
    for flags in FLAGS {
        let program = folder.path().join("names");
        built::build(&gcc, flags, &["names.c", "names_other.c"], &program);
        let told = told(&built::run(&program));
        let module = Module::open(&program).unwrap();
        assert_eq!(module.notices(), &[] as &[String], "{flags:?}");
        assert_eq!(module.is_relocatable(), flags.contains(&"-pie"));
        assert!(module.has_lines());
        let bias = told.variables[0].1 - variable(&module, "A").address;
        assert_eq!(bias == 0, !module.is_relocatable());

        for (name, address, bytes) in &told.variables {
            let name = match (name.as_str(), bytes) {
                ("buffer", _) => "names.c:buffer",
                ("calls", 4) => "once::calls",
                ("calls", _) => "twice::calls",
                (name, _) => name,
            };
            let found = variable(&module, name);
            assert_eq!((found.address + bias, found.bytes), (*address, *bytes), "{flags:?}: {name}");
            assert!(found.row_major);
        }
        for (name, expect) in [
            ("A", "double[16][16] 8"),
            ("B", "double[4][16] 8"),
            ("table", "int[5] 4"),
            ("points", "struct point[10] 12"),
            ("origin", "struct point 12"),
            ("nameless", "struct 8"),
            ("values", "union value[3] 8"),
            ("colors", "enum color[7] 4"),
            ("labels", "char *[2][3] 8"),
            ("handlers", "function *[4] 8"),
            ("cube", "uint8_t[2][3][4] 1"),
            ("counter", "long int 8"),
            ("cache", "double[8] 8"),
            ("global_pointer", "double * 8"),
            ("head", "struct node 24"),
            ("names_other.c:buffer", "int[6] 4"),
        ] {
            assert_eq!(declared(variable(&module, name)), expect, "{flags:?}: {name}");
        }
        assert!(module.variables().iter().all(|v| v.name != "per_thread"), "a thread-local has no address of its own");

        let frame = module.function_span("frame").unwrap();
        let stack = module.stack_arrays(frame.0 + 1);
        for (name, offset, bytes) in &told.stack {
            let found =
                stack.iter().find(|s| s.name == *name).unwrap_or_else(|| panic!("{flags:?}: {name}: {stack:?}"));
            assert_eq!((found.offset, found.bytes), (*offset, *bytes), "{flags:?}: {name}");
        }
        let grid = stack.iter().find(|s| s.name == "grid").unwrap();
        assert_eq!((grid.shape.as_slice(), grid.elem_bytes, grid.elem_type.as_str()), (&[4, 8][..], 4, "int"));
        assert!(stack.iter().all(|s| !["sized", "scalar", "n"].contains(&s.name.as_str())), "{stack:?}");

        let mut second = false;
        for (address, line) in &told.calls {
            let address = address - bias;
            let place = module.location(address - 1).unwrap();
            assert_eq!((place.file.as_str(), place.line), ("names.c", *line), "{flags:?}");
            let source = fs::read_to_string(built::sources().join("names.c")).unwrap();
            assert_eq!(place.text, source.lines().nth(*line as usize - 1).unwrap().trim());
            let words = &expected[line];
            let mut expect = words.join(" ");
            if words[0] == "?" {
                // Two calls in one declaration, in either order.
                expect = expect.replacen('?', if second { "q" } else { "p" }, 1);
                second = true;
            }
            // The text says `(char *)take(8, __LINE__) + 1`: the block is still what `moved` points into.
            assert_eq!(assigned(&module, address), expect, "{flags:?}: line {line}: {}", place.text);
            let function = if words[0] == "made" { "make" } else { "calls" };
            assert_eq!(place.function, function, "{flags:?}: seen through inlining");
        }
        assert!(told.calls.len() > 20 && told.variables.len() > 15 && told.stack.len() == 4);
    }
}

#[test]
fn a_cpp_program_is_named_as_it_says_itself() {
    let Some(gxx) = built::compiler("CXX", "g++") else { return };
    let folder = tempfile::tempdir().unwrap();
    let expected = expected_calls("names.cpp");
    for flags in FLAGS {
        let program = folder.path().join("names");
        built::build(&gxx, flags, &["names.cpp"], &program);
        let told = told(&built::run(&program));
        let module = Module::open(&program).unwrap();
        let bias = told.variables[0].1 - variable(&module, "ns::field").address;
        for (name, address, bytes) in &told.variables {
            let name = match name.as_str() {
                "hidden" => "ns::hidden",
                "Holder<short>::slots" => "Holder<short int>::slots",
                name => name,
            };
            let found = variable(&module, name);
            assert_eq!((found.address + bias, found.bytes), (*address, *bytes), "{flags:?}: {name}");
        }
        for (name, expect) in [
            ("ns::field", "double[6][7] 8"),
            ("ns::deep::fixed", "double[12] 8"),
            ("ns::deep::nested", "int[2][3] 4"),
            ("Store::shared", "long int[4] 8"),
            ("Store::tally", "int[3] 4"),
            ("one", "Point[2] 16"),
        ] {
            assert_eq!(declared(variable(&module, name)), expect, "{flags:?}: {name}");
        }
        let mut seen = 0;
        for (address, _) in &told.calls {
            // The library's own calls are in another file.
            let Some(place) = module.location(address.wrapping_sub(bias + 1)) else { continue };
            let Some(words) = expected.get(&place.line) else { continue };
            assert_eq!(assigned(&module, address - bias), words.join(" "), "{flags:?}: {}", place.text);
            assert!(
                ["calls(unsigned long)", "Store::fill(unsigned long)"].contains(&place.function.as_str()),
                "{place:?}"
            );
            seen += 1;
        }
        assert!(seen >= 5, "{flags:?}: {:?}", told.calls);
    }
}

#[test]
fn fortran_arrays_are_column_by_column() {
    let Some(gfortran) = built::compiler("FC", "gfortran") else { return };
    let folder = tempfile::tempdir().unwrap();
    for flags in [&["-g", "-O0", "-no-pie"][..], &["-g", "-O2", "-pie", "-fPIE"]] {
        let program = folder.path().join("names");
        built::build(&gfortran, flags, &["names.f90"], &program);
        let module = Module::open(&program).unwrap();
        for (name, expect) in [
            ("a", "real(kind=8)[10][20] 8"),
            ("low", "integer(kind=4)[6][5] 4"),
            ("cells", "cell[6] 8"),
            ("shared", "real(kind=8)[3][4] 8"),
            ("tail", "real(kind=8)[5] 8"),
            ("kept", "integer(kind=4)[2][3][4] 4"),
        ] {
            let found = variable(&module, name);
            assert_eq!(declared(found), expect, "{flags:?}: {name}");
            assert!(!found.row_major, "{name}");
        }
        let (shared, tail) = (variable(&module, "shared"), variable(&module, "tail"));
        assert_eq!(tail.address, shared.address + 96, "one common block");
    }
    // What `allocate` calls malloc for.
    let Some(gcc) = built::compiler("CC", "gcc") else { return };
    let wrapped = folder.path().join("wrapped.o");
    built::build(&gcc, &["-c", "-O1"], &["wrapped.c"], &wrapped);
    for level in ["-O0", "-O2"] {
        let program = folder.path().join("names");
        let flags = ["-g", level, "-no-pie", "-Wl,--wrap=malloc"];
        built::build(&gfortran, &flags, &["names.f90", wrapped.to_str().unwrap()], &program);
        let module = Module::open(&program).unwrap();
        let output = built::run(&program);
        let calls: String = output.lines().filter(|l| l.starts_with("call")).map(|l| format!("{l}\n")).collect();
        let found: Vec<String> = told(&calls).calls.iter().map(|c| assigned(&module, c.0)).collect();
        assert!(found.contains(&"heap real(kind=8) 8".to_owned()), "{level}: {found:?}");
        let unnamed = found.iter().filter(|f| *f == "none").count();
        assert_eq!(unnamed + 1, found.len(), "{level}: the library's own have no names: {found:?}");
    }
}

fn open_error(path: &Path) -> String {
    match Module::open(path) {
        Ok(_) => panic!("{} opens", path.display()),
        Err(error) => error.to_string(),
    }
}

#[test]
fn programs_without_debug_information_have_their_symbols() {
    let Some(gcc) = built::compiler("CC", "gcc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("names");
    built::build(&gcc, &["-O0", "-no-pie", "-rdynamic"], &["names.c", "names_other.c"], &program);
    let told = told(&built::run(&program));
    let module = Module::open(&program).unwrap();
    assert!(!module.has_lines());
    let a = variable(&module, "A");
    assert_eq!((a.address, a.bytes), (told.variables[0].1, 2048));
    assert_eq!((a.elem_bytes, a.elem_type.as_str(), a.shape.len()), (1, "", 0));
    assert!(module.function(module.function_span("once").unwrap().0 + 3).is_some_and(|f| f == "once"));
    for (address, _) in &told.calls {
        assert_eq!((module.location(*address), module.assigned_at(*address)), (None, None));
    }
    assert_eq!(module.stack_arrays(module.function_span("frame").unwrap().0), []);

    // Stripped: what it exports is left.
    let stripped = folder.path().join("stripped");
    let strip = std::process::Command::new("strip").arg("-o").arg(&stripped).arg(&program).status().unwrap();
    assert!(strip.success());
    let module = Module::open(&stripped).unwrap();
    assert_eq!(variable(&module, "A").address, told.variables[0].1);
    assert!(module.variables().iter().all(|v| v.name != "points"));
}

#[test]
fn debug_information_elsewhere_is_told_of() {
    let Some(gcc) = built::compiler("CC", "gcc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("names");
    built::build(&gcc, &["-g", "-gsplit-dwarf", "-no-pie"], &["names.c", "names_other.c"], &program);
    let module = Module::open(&program).unwrap();
    assert!(module.notices().iter().any(|n| n.contains("-gsplit-dwarf")), "{:?}", module.notices());
    assert_eq!(variable(&module, "A").bytes, 2048, "by the symbol table");
    assert!(module.has_lines() && module.location(module.function_span("once").unwrap().0).is_some());

    built::build(&gcc, &["-g", "-no-pie"], &["names.c", "names_other.c"], &program);
    let apart = |args: &[&str]| {
        let status = std::process::Command::new("objcopy").args(args).current_dir(folder.path()).status().unwrap();
        assert!(status.success(), "objcopy {args:?}");
    };
    apart(&["--only-keep-debug", "names", "names.debug"]);
    apart(&["--strip-debug", "--add-gnu-debuglink=names.debug", "names", "apart"]);
    let module = Module::open(&folder.path().join("apart")).unwrap();
    assert!(module.notices().iter().any(|n| n.contains(".gnu_debuglink")), "{:?}", module.notices());
    assert_eq!(variable(&module, "A").bytes, 2048);
}

#[test]
fn files_that_are_no_programs_end_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let missing = open_error(&folder.path().join("missing"));
    assert!(missing.contains("missing") && missing.contains("cannot be read"), "{missing}");
    assert!(open_error(folder.path()).contains("no plain file"));
    for (path, words) in [
        (put("empty", b""), "an empty file"),
        (put("script", b"#!/bin/sh\n"), "a script"),
        (put("text", b"hello"), "starts with 68 65 6c 6c"),
        (put("magic", b"\x7fELF"), "a damaged ELF file"),
    ] {
        let error = open_error(&path);
        assert!(error.contains(words) && error.contains("expected") && error.contains("; "), "{error}");
    }
    let Some(gcc) = built::compiler("CC", "gcc") else { return };
    let object = folder.path().join("names.o");
    built::build(&gcc, &["-g", "-c"], &["names.c"], &object);
    assert!(open_error(&object).contains("not linked"), "{}", open_error(&object));
}

#[test]
fn programs_for_other_machines_are_named_too() {
    let Some(gcc) = built::compiler("CC", "gcc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("names");
    built::build(&gcc, &["-g", "-O0", "-no-pie"], &["names.c", "names_other.c"], &program);
    let mut bytes = fs::read(&program).unwrap();
    let own = Module::open(&program).unwrap();
    // e_machine: EM_AARCH64.
    bytes[18..20].copy_from_slice(&183u16.to_le_bytes());
    let moved = folder.path().join("moved");
    fs::write(&moved, bytes).unwrap();
    let module = Module::open(&moved).unwrap();
    assert_eq!(module.machine(), "AArch64");
    assert_eq!(module.variables(), own.variables());
}

/// A generator good enough to place damage: xorshift, seeded.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

#[test]
fn damage_anywhere_is_survived() {
    let Some(gcc) = built::compiler("CC", "gcc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("names");
    // More, to look for what is rare: ORRERY_DAMAGE=20000.
    let rounds: u64 = std::env::var("ORRERY_DAMAGE").ok().and_then(|n| n.parse().ok()).unwrap_or(400);
    let mut opened = [0u32; 2];
    let c = &["names.c", "names_other.c"][..];
    let mut cases =
        vec![(gcc.clone(), &["-g", "-O2", "-no-pie"][..], c), (gcc, &["-gdwarf-4", "-O0", "-no-pie", "-gz=zlib"], c)];
    cases.extend(built::compiler("CXX", "g++").map(|gxx| (gxx, &["-g", "-O2", "-no-pie"][..], &["names.cpp"][..])));
    for (compiler, flags, sources) in cases {
        built::build(&compiler, flags, sources, &program);
        let calls: Vec<u64> = told(&built::run(&program)).calls.iter().map(|c| c.0).collect();
        let whole = fs::read(&program).unwrap();
        let broken = folder.path().join("broken");
        let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
        for round in 0..rounds {
            let mut bytes = whole.clone();
            let length = bytes.len() as u64;
            if round % 4 == 0 {
                bytes.truncate(usize::try_from(dice.roll(length)).unwrap());
            } else {
                // The debug sections are behind the program.
                let from = if round % 4 == 1 { 0 } else { length / 3 };
                for _ in 0..=dice.roll(24) {
                    let at = usize::try_from(from + dice.roll(length - from)).unwrap();
                    bytes[at] =
                        [0, 0xff, 0x80, u8::try_from(dice.roll(256)).unwrap()][usize::try_from(dice.roll(4)).unwrap()];
                }
            }
            fs::write(&broken, bytes).unwrap();
            let begun = std::time::Instant::now();
            let Ok(module) = Module::open(&broken) else {
                opened[0] += 1;
                continue;
            };
            opened[1] += 1;
            for address in calls.iter().flat_map(|a| [*a, a - 1, a + 9]) {
                let _ = (module.location(address), module.assigned_at(address), module.stack_arrays(address));
            }
            assert!(module.variables().iter().all(|v| v.bytes > 0 && v.elem_bytes > 0));
            assert!(begun.elapsed().as_secs() < 20, "{flags:?}, round {round}: {:?}", begun.elapsed());
        }
    }
    eprintln!("damaged files: {} refused, {} read in part", opened[0], opened[1]);
    assert!(opened[0] > 50 && opened[1] > 200, "{opened:?}");
}

#[test]
fn without_the_source_a_result_is_followed_to_where_it_is_stored() {
    let Some(gcc) = built::compiler("CC", "gcc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("names");
    let expected = expected_calls("names.c");
    for flags in [["-g", "-O0"], ["-g", "-O1"], ["-g", "-O2"], ["-gdwarf-4", "-O2"]] {
        let sources = ["names.c", "names_other.c"].map(|name| {
            let copy = folder.path().join(name);
            fs::copy(built::sources().join(name), &copy).unwrap();
            copy.to_str().unwrap().to_owned()
        });
        built::build(&gcc, &[&flags[..], &["-no-pie"]].concat(), &[&sources[0], &sources[1]], &program);
        sources.iter().for_each(|s| fs::remove_file(s).unwrap());
        let module = Module::open(&program).unwrap();
        let (mut right, mut unsure) = (Vec::new(), 0);
        for (address, line) in told(&built::run(&program)).calls {
            let found = assigned(&module, address);
            let words = expected[&line].join(" ");
            let either = |name: &str| words.replacen('?', name, 1);
            if found == "none" {
                unsure += 1;
            } else if line == number_line() {
                // `number` is no pointer and `either` takes what `?:` leaves: the text is unsure of both, the code is not.
                assert_eq!(found, "either char 1", "{flags:?}");
            } else {
                assert!([words.clone(), either("p"), either("q")].contains(&found), "{flags:?}: {found}, not {words}");
                right.push(found);
            }
        }
        eprintln!("{flags:?}: {} of {} results followed: {right:?}", right.len(), right.len() + unsure);
        assert!(right.len() >= 5, "{flags:?}: {right:?}");
    }
}

/// The line of names.c whose result goes through `?:`.
fn number_line() -> u32 {
    let text = fs::read_to_string(built::sources().join("names.c")).unwrap();
    let at = text.lines().position(|l| l.contains("char *either =")).unwrap();
    u32::try_from(at + 1).unwrap()
}
