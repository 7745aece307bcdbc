//! Every way a configuration can be wrong has its own error, which names the place, the finding and what is allowed.

use orrery::sim::Policy;
use orrery::sim::config::{ConfigError, HierarchyConfig, LevelConfig, MAX_LEVELS, MemoryConfig, Ways, preset, presets};

/// A sound level's keys, then what the case adds; a key written twice is not TOML, so cases name those they replace.
fn level(replaced: &[&str], added: &str) -> String {
    let usual = [("name", "\"L1\""), ("size", "\"32KiB\""), ("line", "64"), ("ways", "8"), ("latency", "4")];
    let kept = usual.iter().filter(|(key, _)| !replaced.contains(key));
    let kept: String = kept.map(|(key, value)| format!("{key} = {value}\n")).collect();
    format!("[[level]]\n{kept}{added}\n")
}

macro_rules! check {
    ($text:expr, $variant:pat, $message:expr) => {{
        let text: String = $text.into();
        let error = HierarchyConfig::from_toml(&text, "t.toml").expect_err(&text);
        assert!(matches!(error, $variant), "{text}\ngave {error:?}\nwanted {}", stringify!($variant));
        let message = error.to_string();
        assert!(message.contains($message), "{text}\nsays  {message}\nwants {}", $message);
        assert!(message.starts_with("t.toml:"), "no place: {message}");
    }};
}

#[test]
fn every_fault_has_its_variant_and_names_its_field() {
    use ConfigError as E;
    check!("size = ", E::Syntax { .. }, "t.toml:1: not TOML");
    check!("name = \"a\"\nname = \"b\"", E::Syntax { .. }, "t.toml:2: not TOML: duplicate key");
    check!("", E::NoLevels { .. }, "write at least one [[level]]");
    check!("[memory]\nlatency = 100", E::NoLevels { .. }, "no level");
    check!("level = 3", E::WrongType { .. }, "`level` is the number 3; expected tables, each under its own [[level]]");
    check!("level = [1]", E::WrongType { .. }, "expected tables");
    check!(
        level(&[], "wyas = 3"),
        E::UnknownKey { .. },
        "t.toml:7: level 1 (L1): unknown key `wyas` (did you mean `ways`?)"
    );
    check!(level(&[], "colour = 3"), E::UnknownKey { nearest: None, .. }, "known here: name, size, line, ways, policy");
    check!("mane = \"x\"", E::UnknownKey { .. }, "did you mean `name`?");
    check!("[memory]\nlatncy = 3", E::UnknownKey { .. }, "t.toml:2: unknown key `latncy` (did you mean `latency`?)");
    check!("[hierarchy]\nwriteback_frist = true", E::UnknownKey { .. }, "did you mean `writeback_first`?");
    check!(level(&["size"], ""), E::MissingKey { key: "size", .. }, "write for example `size = \"32KiB\"`");
    check!(level(&["line"], ""), E::MissingKey { key: "line", .. }, "level 1 (L1): `line` is missing");
    check!(level(&["ways"], ""), E::MissingKey { key: "ways", .. }, "`ways = 8`");
    check!(level(&["size"], "size = true"), E::WrongType { .. }, "`size` is true; expected a size such as \"32KiB\"");
    check!(level(&["size"], "size = -5"), E::WrongType { .. }, "`size` is the number -5");
    check!(
        level(&["line"], "line = \"64\""),
        E::WrongType { .. },
        "`line` is the string \"64\"; expected a whole number"
    );
    check!(level(&["line"], "line = 4294967296"), E::WrongType { .. }, "from 1 to 4294967295");
    check!(level(&["ways"], "ways = -1"), E::WrongType { .. }, "`ways` is the number -1");
    check!(level(&["ways"], "ways = 1.5"), E::WrongType { .. }, "`ways` is the number 1.5");
    check!(level(&["ways"], "ways = \"ful\""), E::WrongType { .. }, "expected a whole number, or \"full\"");
    check!(level(&["name"], "name = 1"), E::WrongType { .. }, "`name` is the number 1; expected a string");
    check!(level(&[], "shared = 1"), E::WrongType { .. }, "`shared` is the number 1; expected true or false");
    check!(level(&[], "policy = 1"), E::WrongType { .. }, "`policy` is the number 1; expected a string");
    check!("memory = 200", E::WrongType { .. }, "`memory` is the number 200; expected a table");
    check!("data_only = \"yes\"", E::WrongType { .. }, "`data_only` is the string \"yes\"; expected true or false");
    check!(
        level(&["size"], "size = \"32KB\""),
        E::BadSize { .. },
        "t.toml:6: level 1 (L1): size = \"32KB\" is no size"
    );
    check!(level(&["size"], "size = \"\""), E::BadSize { .. }, "write bytes or KiB, MiB, GiB");
    check!(level(&["size"], "size = 0"), E::Zero { field: "size", .. }, "size is 0");
    check!(level(&["line"], "line = 0"), E::Zero { field: "line", .. }, "line is 0");
    check!(level(&["ways"], "ways = 0"), E::Zero { field: "ways", .. }, "ways is 0; it must be 1 or more");
    check!(
        level(&["latency"], "latency = 0"),
        E::Zero { field: "latency", .. },
        "t.toml:6: level 1 (L1): latency is 0"
    );
    check!(level(&[], "[memory]\nlatency = 0"), E::Zero { .. }, "t.toml:8: memory.latency is 0");
    check!(
        level(&["line"], "line = 48"),
        E::NotPowerOfTwo { value: 48, .. },
        "line is 48, not a power of two; the nearest are 32 and 64"
    );
    check!(
        level(&["line", "size"], "line = 2147483648\nsize = \"32GiB\""),
        E::OutOfRange { .. },
        "line is 2147483648; allowed: 1 to 1073741824"
    );
    check!(
        level(&["line", "size", "ways"], "line = 1\nsize = 3\nways = 1"),
        E::LineTooSmall { line: 1, sets: 3, .. },
        "lines of 4 bytes always do"
    );
    check!(
        level(&["size"], "size = 33000"),
        E::NotDivisible { size: 33000, line: 64, ways: 8, .. },
        "size 33000B is no multiple of ways x line = 8 x 64 bytes; the nearest are 32KiB and 33280B"
    );
    check!(level(&["size"], "size = 1000"), E::NotDivisible { .. }, "the nearest are 512B and 1KiB");
    check!(level(&["size", "ways"], "size = 100\nways = \"full\""), E::NotDivisible { .. }, "1 x 64");
    check!(
        level(&["ways"], "ways = 1024"),
        E::WaysExceedLines { ways: 1024, lines: 512, .. },
        "1024 ways, but 32KiB with 64-byte lines hold 512 line(s); write `ways = \"full\"`"
    );
    check!(level(&["size"], "size = 32"), E::WaysExceedLines { lines: 0, .. }, "hold 0 line(s)");
    check!(level(&["size"], "size = \"1TiB\""), E::TooManyLines { .. }, "makes more than 67108864 lines");
    check!(level(&["name"], "name = \"\""), E::BadName { .. }, "write 1 to 32 printable characters");
    check!(level(&["name"], "name = \"a\\nb\""), E::BadName { .. }, "name \"a\\nb\" will not do");
    check!(
        format!("{}{}", level(&[], ""), level(&[], "")),
        E::DuplicateName { .. },
        "another level is called \"L1\" too"
    );
    let nine: String = (1..=9).map(|n| level(&["name"], &format!("name = \"L{n}\""))).collect();
    check!(nine, E::TooManyLevels { found: 9, .. }, "9 of them; allowed: up to 8");
}

#[test]
fn every_word_of_the_contract_is_read_and_others_are_refused_by_name() {
    let words: [(&str, &[&str]); 7] = [
        ("policy", &["lru", "fifo", "random", "tree-plru", "bit-plru", "srrip", "brrip", "drrip", "lfu", "mru", "opt"]),
        ("write", &["back", "through"]),
        ("allocate", &["write", "none"]),
        ("inclusion", &["nine", "inclusive", "exclusive"]),
        ("holds", &["unified", "data", "instructions"]),
        ("prefetch", &["none", "next-line", "stride", "stream"]),
        ("index", &["modulo", "xor-fold", "slice"]),
    ];
    for (key, words) in words {
        for word in words {
            let second = level(&["name"], &format!("name = \"L2\"\n{key} = \"{word}\"\n"));
            let slices = if *word == "slice" { "slices = 4\n" } else { "" };
            let text = level(&[], "") + &second + slices;
            let config = HierarchyConfig::from_toml(&text, "t.toml").expect(&text);
            assert!(config.to_toml().contains(&format!("{key} = \"{word}\"")), "{text}");
            assert_eq!(HierarchyConfig::from_toml(&config.to_toml(), "again").as_ref(), Ok(&config));
        }
        let expect = format!("{key} = \"potato\" is unknown; allowed: {}", words.join(", "));
        check!(level(&[], &format!("{key} = \"potato\"")), ConfigError::UnknownValue { .. }, &expect);
    }
    check!(level(&[], "policy = \"fifi\""), ConfigError::UnknownValue { .. }, "did you mean `fifo`?");
    let text = format!(
        "cores = 4\n[hierarchy]\nwriteback_first = true\nfetch_on_full_line_write = true\nseed = 18446744073709551615\n{}",
        level(&[], "")
    );
    let config = HierarchyConfig::from_toml(&text, "t.toml").unwrap();
    assert!(config.order.writeback_first && config.order.fetch_on_full_line_write);
    assert_eq!((config.seed, config.cores), (u64::MAX, 4));
    assert_eq!(HierarchyConfig::from_toml(&config.to_toml(), "again"), Ok(config));
}

/// A first level, then a second with what the case says of both.
fn two(first: &str, second: &str) -> String {
    let replaced: Vec<&str> = ["size", "line", "ways"].into_iter().filter(|key| second.contains(key)).collect();
    level(&[], first) + &level(&[&["name"], &replaced[..]].concat(), &format!("name = \"L2\"\n{second}"))
}

#[test]
fn what_cannot_go_together_names_both_sides_and_the_fix() {
    use ConfigError as E;
    let one = |added: &str| level(&[], added);
    check!(
        level(&["ways", "size"], "ways = 12\nsize = \"48KiB\"\npolicy = \"tree-plru\""),
        E::PolicyWays { .. },
        "level 1 (L1): ways = 12, but policy = \"tree-plru\" keeps a binary tree and needs a power of two; the nearest are 8 and 16"
    );
    check!(
        level(&["ways"], "ways = \"full\"\npolicy = \"drrip\""),
        E::PolicySets { sets: 1, .. },
        "needs 2 sets or more, found 1"
    );
    check!(
        level(&["size"], "size = \"96KiB\"\nindex = \"xor-fold\""),
        E::IndexNeedsPowerOfTwo { sets: 192, .. },
        "needs a power of two of sets, found 192; write index = \"modulo\""
    );
    check!(one("index = \"slice\""), E::MissingKey { key: "slices", .. }, "`slices` is missing");
    check!(
        one("index = \"slice\"\nslices = 3"),
        E::BadSlices { slices: 3, .. },
        "slices = 3 with 64 set(s); allowed: 2, 4 or 8"
    );
    check!(one("slices = 4"), E::SlicesUnused { .. }, "has an effect only with index = \"slice\"");
    check!(one("sector = 0"), E::Zero { field: "sector", .. }, "sector is 0");
    check!(one("sector = 24"), E::NotPowerOfTwo { field: "sector", .. }, "the nearest are 16 and 32");
    check!(one("sector = 128"), E::OutOfRange { field: "sector", .. }, "sector is 128; allowed: 2 to 64");
    check!(one("sector = 1"), E::OutOfRange { field: "sector", .. }, "sector is 1; allowed: 2 to 64");
    check!(one("inclusion = \"inclusive\""), E::NothingInside { .. }, "nothing is inside; leave it out here");
    check!(one("inclusion = \"exclusive\""), E::NothingInside { .. }, "inclusion = \"exclusive\" is a relation");
    check!(
        two("holds = \"instructions\"", "holds = \"data\"\ninclusion = \"inclusive\""),
        E::NothingInside { .. },
        "nothing is inside"
    );
    check!(
        two("", "size = \"64KiB\"\nways = 8\nline = 32\ninclusion = \"inclusive\""),
        E::InclusiveLine { .. },
        "level 2 (L2): an inclusive level with line = 32, but \"L1\" inside has line = 64; write line = 64 or more"
    );
    check!(
        two("", "size = \"16KiB\"\nways = 8\nline = 64\ninclusion = \"inclusive\""),
        E::InclusiveSize { .. },
        "an inclusive level of 16KiB cannot hold all of \"L1\" inside, 32KiB"
    );
    check!(
        two("", "size = \"64KiB\"\nways = 8\nline = 128\ninclusion = \"exclusive\""),
        E::ExclusiveLine { .. },
        "an exclusive level with line = 128, but the lines of \"L1\", whose victims it holds, have 64 bytes; write line = 64"
    );
    check!(two("sector = 32", "inclusion = \"exclusive\""), E::ExclusiveSector { .. }, "takes whole lines from \"L1\"");
    check!(
        two("", "inclusion = \"exclusive\"\nprefetch = \"stream\""),
        E::ExclusivePrefetch { .. },
        "filled by victims only"
    );
    for (first, second, why) in [
        ("policy = \"opt\"", "inclusion = \"inclusive\"", "an inclusive or exclusive level"),
        ("prefetch = \"stride\"", "policy = \"opt\"", "a prefetcher"),
    ] {
        let text = two(first, second);
        match HierarchyConfig::from_toml(&text, "t.toml") {
            Err(error) => assert!(error.to_string().contains(why), "{error}"),
            // A relation outside an OPT level is found where both are known: at the OPT level.
            Ok(_) => panic!("{text} was taken"),
        }
    }
    check!(format!("cores = 2\n{}", one("policy = \"opt\"")), E::OptAlone { .. }, "cannot go with several cores");
    check!(format!("cores = 0\n{}", one("")), E::Zero { field: "cores", .. }, "cores is 0");
    check!(
        format!("cores = 513\n{}", one("")),
        E::OutOfRange { field: "cores", .. },
        "cores is 513; allowed: 1 to 512"
    );
    let private = |levels: u32| (1..=levels).map(|n| level(&["name"], &format!("name = \"L{n}\""))).collect::<String>();
    check!(
        format!("cores = 500\n{}", private(5)),
        E::TooManyCaches { caches: 2500, .. },
        "500 cores with 5 private level(s) make 2500 caches; allowed: up to 2048; share levels"
    );
    check!(
        format!("cores = 100000\n{}", one("")),
        E::OutOfRange { field: "cores", .. },
        "cores is 100000; allowed: 1 to 512"
    );
    check!(
        format!("cores = 2\n{}", two("shared = true", "")),
        E::PrivateOutsideShared { .. },
        "level 2 (L2): a level with shared = false lies outside \"L1\", which all cores share; write shared = true here"
    );
    assert!(
        HierarchyConfig::from_toml(&two("shared = true", ""), "t.toml").is_ok(),
        "one core has nobody to share with"
    );
    check!(
        level(&["latency"], "latency = 0"),
        E::Zero { field: "latency", .. },
        "level 1 (L1): latency is 0; it must be 1 or more"
    );
    check!(format!("{}[memory]\npage = \"3KiB\"", one("")), E::NotPowerOfTwo { field: "page", .. }, "page is 3072");
    check!(format!("{}[memory]\nlatency = 0", one("")), E::Zero { .. }, "memory.latency is 0");
}

#[test]
fn tlbs_are_read_and_checked() {
    use ConfigError as E;
    let tlb = |keys: &str| level(&[], "") + "[[tlb]]\n" + keys;
    let text = tlb("name = \"DTLB\"\nentries = 64\nways = 4\npages = [\"4KiB\", \"2MiB\"]\nholds = \"data\"");
    let config = HierarchyConfig::from_toml(&text, "t.toml").unwrap();
    assert_eq!(config.tlbs[0].pages, [4096, 2 << 20]);
    let shape = config.check().unwrap().tlbs[0].unwrap();
    assert_eq!((shape.sets, shape.ways, shape.line_bytes), (16, 4, 4096));
    assert_eq!(HierarchyConfig::from_toml(&config.to_toml(), "again"), Ok(config));
    let small = HierarchyConfig::from_toml(&tlb("entries = 32\nways = \"full\"\npages = \"2MiB\""), "t.toml").unwrap();
    assert_eq!(small.check().unwrap().tlbs, [None], "no page of its size is in use");
    check!(tlb("ways = 4"), E::MissingKey { key: "entries", .. }, "tlb 1: `entries` is missing");
    check!(tlb("entries = 64"), E::MissingKey { key: "ways", .. }, "`ways` is missing");
    check!(tlb("entries = 0\nways = 1"), E::Zero { field: "entries", .. }, "tlb 1: entries is 0");
    check!(tlb("entries = 66\nways = 4"), E::TlbWays { .. }, "entries = 66 is no multiple of ways = 4");
    check!(tlb("entries = 64\nways = 4\npages = []"), E::MissingKey { key: "pages", .. }, "`pages` is missing");
    check!(tlb("entries = 64\nways = 4\npages = [\"5KiB\"]"), E::NotPowerOfTwo { .. }, "pages is 5120");
    check!(tlb("entries = 64\nways = 4\npages = [4]"), E::WrongType { .. }, "a list of page sizes such as");
    check!(tlb("entries = 64\nways = 4\npages = [\"big\"]"), E::BadSize { .. }, "\"big\" is no size");
    check!(tlb("entries = 64\nways = 4\nname = \"L1\""), E::DuplicateName { .. }, "another level is called \"L1\" too");
    check!(tlb("entries = 64\nways = 4\npolicy = \"opt\""), E::OptAlone { .. }, "cannot go with a TLB");
    check!(tlb("entries = 24\nways = 3\npolicy = \"tree-plru\""), E::PolicyWays { .. }, "the nearest are 2 and 4");
    check!(tlb("entires = 24"), E::UnknownKey { .. }, "did you mean `entries`?");
    let nine: String = (1..=9).map(|n| format!("[[tlb]]\nname = \"T{n}\"\nentries = 4\nways = 4\n")).collect();
    check!(level(&[], "") + &nine, E::TooManyLevels { found: 9, .. }, "9 of them; allowed: up to 8");
}

#[test]
fn a_configuration_made_in_code_is_checked_as_well() {
    let one = |level: LevelConfig| HierarchyConfig::new("code", vec![level]);
    let sound = LevelConfig::new("L1", 0, 1024, Ways::Count(2), 64);
    assert_eq!(
        one(sound.clone()).check().map(|g| (g.levels[0].sets, g.levels[0].ways, g.levels[0].line_bytes)),
        Ok((8, 2, 64))
    );
    let error = one(LevelConfig { line: 48, ..sound }).check().unwrap_err();
    assert_eq!(error.to_string(), "code: level 1 (L1): line is 48, not a power of two; the nearest are 32 and 64");
}

#[test]
fn the_file_of_the_contract_is_read() {
    let config = HierarchyConfig::from_toml(
        r#"
name = "textbook"
[[level]]
name = "L1"            # shown on the ring
size = "32KiB"
line = 64              # bytes
ways = 8               # or "full"
policy = "lru"
write = "back"         # back | through
allocate = "write"     # write (write-allocate) | none
inclusion = "nine"     # to the levels inside it: nine | inclusive | exclusive
latency = 4            # cycles
holds = "unified"      # unified | data | instructions
shared = false         # one for all cores, or one each
prefetch = "none"
[memory]
latency = 200
"#,
        "t.toml",
    )
    .unwrap();
    let expect = LevelConfig { latency: 4, ..LevelConfig::new("L1", 0, 32 << 10, Ways::Count(8), 64) };
    assert_eq!((config.levels, config.memory.latency), (vec![expect], 200));
}

#[test]
fn what_is_left_out_has_a_default() {
    let text = "[[level]]\nsize = 4096\nline = 64\nways = \"full\"\n[[level]]\nsize = \"1MiB\"\nline = 128\nways = 16";
    let config = HierarchyConfig::from_toml(text, "two.toml").unwrap();
    let names: Vec<_> = config.levels.iter().map(|l| l.name.as_str()).collect();
    assert_eq!((config.name.as_str(), names), ("two.toml", vec!["L1", "L2"]));
    assert!(config.levels[0].latency < config.levels[1].latency);
    assert!(config.levels[1].latency < config.memory.latency);
}

#[test]
fn configurations_written_are_read_back() {
    let mut all: Vec<HierarchyConfig> = presets().iter().map(|p| preset(p.name).expect(p.name)).collect();
    assert_eq!(all.len(), 15);
    let level = |n: usize| LevelConfig {
        policy: Policy::Fifo,
        latency: 7,
        shared: n % 2 == 1,
        ..LevelConfig::new(format!("\"{n}\" \\ ringé"), n, 3 << n, Ways::Full, 1 << n)
    };
    all.push(HierarchyConfig {
        memory: MemoryConfig { latency: 1, page: 2 << 20 },
        data_only: true,
        ..HierarchyConfig::new("quotes \" and 'others'", (2..2 + MAX_LEVELS).map(level).collect())
    });
    for config in all {
        config.check().unwrap();
        let text = config.to_toml();
        assert_eq!(HierarchyConfig::from_toml(&text, "t.toml").as_ref(), Ok(&config), "{text}");
    }
}

#[test]
fn scores_are_read_and_refused_by_name() {
    let config = HierarchyConfig::from_toml(&level(&[], "hit_score = 2.5\nmiss_score = 7"), "t.toml").unwrap();
    assert!(config.to_toml().contains("hit_score = 2.5\nmiss_score = 7\n"), "{}", config.to_toml());
    assert_eq!(HierarchyConfig::from_toml(&config.to_toml(), "again").as_ref(), Ok(&config));
    let usual = HierarchyConfig::from_toml(&level(&[], ""), "t.toml").unwrap();
    assert!(usual.to_toml().contains("hit_score = 1\nmiss_score = \"line\"\n"), "{}", usual.to_toml());
    assert_eq!(HierarchyConfig::from_toml(&usual.to_toml(), "again").as_ref(), Ok(&usual));
    for wrong in [
        "hit_score = -1",
        "hit_score = 1001",
        "hit_score = nan",
        "hit_score = \"line\"",
        "miss_score = \"1\"",
        "miss_score = true",
    ] {
        check!(level(&[], wrong), ConfigError::WrongType { .. }, "a number from 0 to 1000");
    }
    let mut two = preset("paper").unwrap();
    for wrong in ["1", "1:x", "-1:1", "1:1,1:1,1:1", "1:1,", ""] {
        assert!(two.set_scores(wrong, &Default::default()).is_err(), "{wrong}");
    }
}

#[test]
fn presets_have_their_shapes() {
    let shapes = |name: &str| -> Vec<(u32, u32, u32)> {
        let geometries = preset(name).expect(name).check().expect(name);
        geometries.levels.iter().map(|g| (g.sets, g.ways, g.line_bytes)).collect()
    };
    assert_eq!(shapes("paper"), [(2, 8, 32), (4, 16, 32)]);
    assert_eq!(shapes("textbook"), [(64, 8, 64), (512, 8, 64), (8192, 16, 64)]);
    assert_eq!(preset("nothing"), None);
}

#[test]
fn what_the_documents_show_is_sound() {
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let mut files = 0;
    for entry in std::fs::read_dir(docs.join("caches")).expect("docs/caches") {
        let path = entry.expect("readable").path();
        if path.extension().is_some_and(|e| e == "toml") {
            let text = std::fs::read_to_string(&path).expect("text");
            HierarchyConfig::from_toml(&text, &path.display().to_string()).unwrap_or_else(|e| panic!("{e}"));
            files += 1;
        }
    }
    assert!(files >= 5, "{files} files");
    let page = std::fs::read_to_string(docs.join("caches.md")).expect("docs/caches.md");
    let example = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    for policy in Policy::ALL {
        let about = policy.about();
        let row = format!("| `{}` | {} | {} |", about.word, about.victim, about.source);
        assert!(page.contains(&row), "the table of policies in docs/caches.md has no row\n{row}");
    }
    let config = HierarchyConfig::from_toml(example, "docs/caches.md").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((config.cores, config.levels.len(), config.tlbs.len()), (4, 1, 1));
}
