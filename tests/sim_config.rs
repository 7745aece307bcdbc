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
        "line is 48, not a power of two; 32 and 64 do"
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
    check!(nine, E::TooManyLevels { found: 9, .. }, "9 levels; allowed: 1 to 8");
}

#[test]
fn what_the_contract_names_but_this_build_lacks_is_refused_by_name() {
    for (key, allowed, words) in [
        (
            "policy",
            "lru, fifo",
            &["random", "tree-plru", "bit-plru", "srrip", "brrip", "drrip", "lfu", "mru", "opt"][..],
        ),
        ("write", "back", &["through"]),
        ("allocate", "write", &["none"]),
        ("inclusion", "nine", &["inclusive", "exclusive"]),
        ("holds", "unified", &["data", "instructions"]),
        ("prefetch", "none", &["next-line", "stride", "stream"]),
    ] {
        for word in words {
            let expect = format!("{key} = \"{word}\" is not simulated by this version; allowed: {allowed}");
            check!(level(&[], &format!("{key} = \"{word}\"")), ConfigError::NotYet { .. }, &expect);
        }
        let expect = format!("{key} = \"potato\" is unknown; allowed: {allowed}");
        check!(level(&[], &format!("{key} = \"potato\"")), ConfigError::UnknownValue { .. }, &expect);
    }
    check!(level(&[], "policy = \"fifi\""), ConfigError::UnknownValue { .. }, "did you mean `fifo`?");
    for key in ["writeback_first", "fetch_on_full_line_write"] {
        let text = format!("[hierarchy]\n{key} = true\n{}", level(&[], ""));
        check!(
            text,
            ConfigError::NotYet { .. },
            &format!("{key} = true is not simulated by this version; allowed: false")
        );
        let text = format!("[hierarchy]\n{key} = false\n{}", level(&[], ""));
        assert!(HierarchyConfig::from_toml(&text, "t.toml").is_ok());
    }
}

#[test]
fn a_configuration_made_in_code_is_checked_as_well() {
    let one = |level: LevelConfig| HierarchyConfig {
        name: "code".into(),
        levels: vec![level],
        memory: MemoryConfig::default(),
        data_only: false,
    };
    let sound = LevelConfig::new("L1", 0, 1024, Ways::Count(2), 64);
    assert_eq!(one(sound.clone()).check().map(|g| (g[0].sets, g[0].ways, g[0].line_bytes)), Ok((8, 2, 64)));
    let error = one(LevelConfig { line: 48, ..sound }).check().unwrap_err();
    assert_eq!(error.to_string(), "code: level 1 (L1): line is 48, not a power of two; 32 and 64 do");
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
    assert_eq!(all.len(), 2);
    let level = |n: usize| LevelConfig {
        policy: Policy::Fifo,
        latency: 7,
        shared: n % 2 == 1,
        ..LevelConfig::new(format!("\"{n}\" \\ ringé"), n, 3 << n, Ways::Full, 1 << n)
    };
    all.push(HierarchyConfig {
        name: "quotes \" and 'others'".into(),
        levels: (2..2 + MAX_LEVELS).map(level).collect(),
        memory: MemoryConfig { latency: 1 },
        data_only: true,
    });
    for config in all {
        config.check().unwrap();
        let text = config.to_toml();
        assert_eq!(HierarchyConfig::from_toml(&text, "t.toml").as_ref(), Ok(&config), "{text}");
    }
}

#[test]
fn presets_have_their_shapes() {
    let shapes = |name: &str| -> Vec<(u32, u32, u32)> {
        let geometries = preset(name).expect(name).check().expect(name);
        geometries.iter().map(|g| (g.sets, g.ways, g.line_bytes)).collect()
    };
    assert_eq!(shapes("paper"), [(2, 8, 32), (4, 16, 32)]);
    assert_eq!(shapes("textbook"), [(64, 8, 64), (512, 8, 64), (8192, 16, 64)]);
    assert_eq!(preset("nothing"), None);
}
