//! The house rules that a compiler does not hold: imports against the flow, `unsafe`, file length, colours, the map.
//!
//! Sources are read by the compiler's own grammar (`syn`): comments, strings and `#[cfg(test)]` items are gone before a rule looks at
//! them, and what a macro is given is looked through as well. Every rule has a planted violation that it must find.

#[path = "architecture/source.rs"]
mod source;

use source::{Named, Token, declared, paths, tokens, tokens_without_tests};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What a module may import of ours, and what it must never touch of others. `*` = all of ours.
struct Rule {
    module: &'static str,
    ours: &'static [&'static str],
    never: &'static [&'static [&'static str]],
}

const GRAPHICS: &[&str] = &["wgpu", "egui", "egui_winit", "winit", "pollster"];
const WINDOW: &[&str] = &["winit", "egui_winit"];
const TEXT: &[&str] = &["egui"];
const FILES: &[&str] = &["std::fs", "std::net", "std::env", "std::process", "tempfile", "parquet"];
const CLOCK: &[&str] = &["std::time"];
const PRINTS: &[&str] = &["clap", "indicatif", "ctrlc"];
const LOOSE: &[&str] = &["anyhow"];
const CODECS: &[&str] = &["image", "png", "gif", "openh264", "muxide"];
/// Those that what only reads pictures, as PNG, has no use for.
const WRITERS: &[&str] = &["image", "gif", "openh264", "muxide"];

/// What a command does not do itself: its parts are modules that a program can call. It turns flags into calls, and values into words.
const MECHANISMS: &[&str] = &[
    "std::thread",
    "std::fs",
    "std::net",
    "std::process::Command",
    "std::process::Child",
    "std::process::Stdio",
    "std::io::pipe",
    "std::os::fd",
    "rustix",
    "tempfile",
];

/// Files of `commands` that hold one nevertheless, and why.
const EXEMPT: [(&str, &str); 1] =
    [("src/commands/quiet.rs", "standard error is the whole process's, so no library may put a pipe in its place")];

/// The one file with `unsafe`: the simulator's loops for processors with vectors.
const VECTORS: &str = "src/sim/simd.rs";

/// From left to right of the flow. `units`, `axis` and `reference` are importable by all.
const RULES: &[Rule] = &[
    Rule { module: "units", ours: &[], never: &[GRAPHICS, FILES, CLOCK, PRINTS, LOOSE, CODECS] },
    Rule { module: "axis", ours: &[], never: &[GRAPHICS, FILES, CLOCK, PRINTS, LOOSE, CODECS] },
    Rule { module: "reference", ours: &[], never: &[GRAPHICS, FILES, CLOCK, PRINTS, LOOSE, CODECS] },
    Rule { module: "shown", ours: &[], never: &[GRAPHICS, FILES, CLOCK, PRINTS, LOOSE, CODECS] },
    Rule { module: "files", ours: &[], never: &[GRAPHICS, CLOCK, PRINTS, LOOSE, CODECS] },
    Rule { module: "symbols", ours: &["files"], never: &[GRAPHICS, CLOCK, PRINTS, LOOSE, CODECS] },
    Rule { module: "nest", ours: &[], never: &[GRAPHICS, FILES, CLOCK, PRINTS, LOOSE, CODECS] },
    Rule { module: "trace", ours: &["files", "nest"], never: &[GRAPHICS, CLOCK, PRINTS, LOOSE, CODECS] },
    Rule {
        module: "capture",
        ours: &["files", "trace", "symbols"],
        never: &[GRAPHICS, PRINTS, LOOSE, CODECS, &["parquet"]],
    },
    Rule { module: "traced", ours: &["trace"], never: &[GRAPHICS, CLOCK, PRINTS, LOOSE, CODECS, &["parquet"]] },
    Rule { module: "sim", ours: &[], never: &[GRAPHICS, FILES, CLOCK, PRINTS, LOOSE, CODECS] },
    Rule { module: "analysis", ours: &["sim", "nest"], never: &[GRAPHICS, FILES, CLOCK, PRINTS, LOOSE, CODECS] },
    Rule { module: "kernel", ours: &[], never: &[GRAPHICS, FILES, CLOCK, PRINTS, LOOSE, CODECS] },
    Rule { module: "tasks", ours: &[], never: &[GRAPHICS, FILES, CLOCK, PRINTS, LOOSE, CODECS] },
    Rule { module: "machine", ours: &["sim", "tasks"], never: &[GRAPHICS, FILES, CLOCK, PRINTS, LOOSE, CODECS] },
    Rule { module: "daisen", ours: &["files", "tasks"], never: &[GRAPHICS, PRINTS, LOOSE, CODECS] },
    Rule { module: "timeline", ours: &["sim"], never: &[GRAPHICS, FILES, CLOCK, PRINTS, LOOSE, CODECS] },
    Rule { module: "host", ours: &["sim"], never: &[GRAPHICS, CLOCK, PRINTS, LOOSE, CODECS] },
    Rule {
        module: "opening",
        ours: &["files", "trace", "sim", "analysis", "kernel", "tasks", "daisen", "timeline"],
        never: &[GRAPHICS, PRINTS, LOOSE, WRITERS, &["parquet"]],
    },
    Rule {
        module: "scene",
        ours: &["sim", "tasks", "timeline"],
        never: &[GRAPHICS, FILES, CLOCK, PRINTS, LOOSE, CODECS],
    },
    Rule {
        module: "chart",
        ours: &["sim", "analysis", "kernel", "tasks", "scene"],
        never: &[GRAPHICS, FILES, CLOCK, PRINTS, LOOSE, CODECS],
    },
    Rule {
        module: "report",
        ours: &["sim", "analysis", "scene", "chart"],
        never: &[GRAPHICS, FILES, CLOCK, PRINTS, LOOSE, CODECS],
    },
    Rule { module: "render", ours: &["scene"], never: &[WINDOW, TEXT, FILES, CLOCK, PRINTS, LOOSE, CODECS] },
    Rule { module: "launch", ours: &["kernel", "render"], never: &[WINDOW, TEXT, FILES, CLOCK, PRINTS, LOOSE, CODECS] },
    Rule {
        module: "overlay",
        ours: &["nest", "sim", "analysis", "kernel", "tasks", "timeline", "scene", "chart", "render"],
        never: &[WINDOW, FILES, CLOCK, PRINTS, LOOSE, CODECS],
    },
    Rule { module: "typefaces", ours: &["overlay"], never: &[WINDOW, CLOCK, PRINTS, LOOSE, CODECS] },
    Rule {
        module: "story",
        ours: &["sim", "timeline", "scene", "overlay"],
        never: &[WINDOW, FILES, CLOCK, PRINTS, LOOSE, CODECS],
    },
    Rule {
        module: "record",
        ours: &["files", "timeline", "scene", "render", "overlay", "story"],
        never: &[WINDOW, &["clap"]],
    },
    Rule {
        module: "app",
        ours: &[
            "nest", "trace", "sim", "analysis", "tasks", "timeline", "scene", "render", "overlay", "story", "record",
        ],
        never: &[PRINTS, CODECS],
    },
    Rule {
        module: "cli",
        ours: &["nest", "trace", "sim", "analysis", "chart", "kernel", "tasks", "timeline", "scene"],
        never: &[GRAPHICS, FILES, CLOCK, CODECS],
    },
    Rule { module: "commands", ours: &["*"], never: &[MECHANISMS] },
];

const SHARED: [&str; 4] = ["units", "axis", "reference", "shown"];

// ---- rules

/// `src/sim/config/mod.rs` -> `sim`, `config`.
fn module_of(file: &Path) -> Vec<String> {
    let mut parts: Vec<String> =
        file.with_extension("").components().map(|c| c.as_os_str().to_string_lossy().into_owned()).collect();
    parts.retain(|p| p != "src");
    if parts.last().is_some_and(|p| p == "mod" || p == "lib" || p == "main") {
        parts.pop();
    }
    parts
}

fn is(tokens: &[Token], at: usize, words: &[&str]) -> bool {
    words.iter().enumerate().all(|(n, w)| tokens.get(at + n).is_some_and(|t| t.text == *w))
}

fn starts_with(path: &[String], prefix: &str) -> bool {
    let prefix: Vec<&str> = prefix.split("::").collect();
    path.len() >= prefix.len() && path.iter().zip(&prefix).all(|(a, b)| a == b)
}

/// What is wrong with a file's imports, one line each.
fn faults(file: &str, source: &str, modules: &BTreeSet<String>) -> Vec<String> {
    let module = module_of(Path::new(file));
    let mut out: Vec<String> = tokens_without_tests(source)
        .iter()
        .filter(|t| t.text == "unsafe" && file != VECTORS)
        .map(|t| format!("{file}:{}: `unsafe`; it has no place outside {VECTORS}", t.line))
        .collect();
    let Some(top) = module.first() else { return out };
    let Some(rule) = RULES.iter().find(|r| r.module == top) else {
        out.push(format!("{file}: module `{top}` has no row in tests/architecture.rs"));
        return out;
    };
    for Named { path, line } in paths(source, &module) {
        let shown = path.join("::");
        if path.first().is_some_and(|p| p == "crate") {
            let Some(target) = path.get(1).filter(|m| modules.contains(*m)) else { continue };
            let allowed = target == top
                || SHARED.contains(&target.as_str())
                || rule.ours.iter().any(|o| *o == "*" || o == target);
            if !allowed {
                out.push(format!("{file}:{line}: `{top}` imports `{shown}`, against the flow; see ARCHITECTURE.md"));
            }
        } else if EXEMPT.iter().any(|(exempt, _)| *exempt == file) {
            // Once it needs no exemption any more, a test says so.
        } else if let Some(never) = rule.never.iter().flat_map(|n| n.iter()).find(|n| starts_with(&path, n)) {
            out.push(format!("{file}:{line}: `{top}` names `{shown}`; `{top}` must know nothing of `{never}`"));
        }
    }
    out.dedup();
    out
}

/// Colours written down where the palette should be asked: four bytes that end opaque, or an egui colour made of numbers.
fn colours(file: &str, source: &str) -> Vec<String> {
    let tokens = tokens_without_tests(source);
    let byte = |at: usize| tokens.get(at).and_then(|t| t.text.parse::<u16>().ok()).is_some_and(|v| v < 256);
    let mut out = Vec::new();
    for at in 0..tokens.len() {
        let array = is(&tokens, at, &["["])
            && (0..4).all(|n| byte(at + 1 + 2 * n))
            && (0..3).all(|n| is(&tokens, at + 2 + 2 * n, &[","]))
            && is(&tokens, at + 7, &["255"])
            && is(&tokens, at + 8, &["]"]);
        let made = is(&tokens, at, &["Color32", "::"])
            && tokens.get(at + 2).is_some_and(|t| {
                let named = t.text.chars().all(|c| c.is_uppercase() || c == '_' || c.is_numeric());
                let of_numbers = t.text.starts_with("from_") && byte(at + 4);
                (named && t.text != "TRANSPARENT" && t.text != "PLACEHOLDER") || of_numbers
            });
        if array || made {
            out.push(format!(
                "{file}:{}: a colour is written down here; scene/palette.rs is the place",
                tokens[at].line
            ));
        }
    }
    out
}

// ---- the sources

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Path from the root and text of every Rust file under `src`, sorted.
fn sources() -> Vec<(String, String)> {
    files_of("src")
}

/// The same of any folder.
fn files_of(folder: &str) -> Vec<(String, String)> {
    fn walk(folder: &Path, out: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("readable") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                walk(&path, out);
            } else if path.extension().is_some_and(|e| e == "rs") {
                out.push(path);
            }
        }
    }
    let mut files = Vec::new();
    walk(&root().join(folder), &mut files);
    files.sort();
    let read = |path: &PathBuf| {
        let name = path.strip_prefix(root()).expect("under the root").to_string_lossy().replace('\\', "/");
        (name, fs::read_to_string(path).expect("UTF-8"))
    };
    files.iter().map(read).collect()
}

/// Modules that `src/lib.rs` declares.
fn modules() -> BTreeSet<String> {
    let lib = fs::read_to_string(root().join("src/lib.rs")).expect("src/lib.rs");
    declared(&lib).into_iter().collect()
}

#[test]
fn imports_follow_the_flow() {
    let modules = modules();
    let sources = sources();
    assert!(sources.len() > 30 && modules.contains("scene"), "only {} sources were found", sources.len());
    let found: Vec<String> = sources.iter().flat_map(|(file, text)| faults(file, text, &modules)).collect();
    assert!(found.is_empty(), "{} violations:\n{}", found.len(), found.join("\n"));
}

#[test]
fn the_check_sees_real_imports() {
    // A reader of tokens that sees nothing would pass everything: these imports exist.
    let of = |file: &str| {
        let text = fs::read_to_string(root().join(file)).expect(file);
        let named = paths(&text, &module_of(Path::new(file)));
        named.iter().map(|n| n.path.join("::")).collect::<Vec<_>>()
    };
    let stage = of("src/scene/stage.rs");
    for expected in ["crate::sim::Hierarchy", "crate::timeline::Moment", "crate::scene::layout::Rings"] {
        assert!(stage.iter().any(|p| p == expected), "{expected} in {stage:#?}");
    }
    assert!(of("src/render/pass.rs").iter().any(|p| p.starts_with("wgpu::")), "wgpu in render/pass.rs");
    assert!(of("src/trace/input.rs").iter().any(|p| p == "std::fs::File"), "std::fs in trace/input.rs");
}

#[test]
fn planted_violations_are_found() {
    let modules: BTreeSet<String> = RULES.iter().map(|r| r.module.to_owned()).collect();
    let check = |file: &str, text: &str, expect: Option<&str>| {
        let found = faults(file, text, &modules);
        match expect {
            Some(part) => {
                assert!(found.iter().any(|f| f.contains(part)), "{file}: {text}\nshould say {part}: {found:?}")
            }
            None => assert!(found.is_empty(), "{file}: {text}\nis sound: {found:?}"),
        }
    };
    check(
        "src/sim/cache.rs",
        "use crate::timeline::Log;",
        Some("src/sim/cache.rs:1: `sim` imports `crate::timeline::Log`"),
    );
    check(
        "src/sim/config/mod.rs",
        "\n\nfn f() { super::super::scene::draw() }",
        Some(":3: `sim` imports `crate::scene::draw`"),
    );
    check("src/sim/mod.rs", "mod a { mod b { use super::super::super::trace::X; } }", Some("`crate::trace::X`"));
    check("src/sim/mod.rs", "mod a { use super::trace::X; }", None);
    check("src/render/pass.rs", "use crate::{scene::Scene, units, sim as s};", Some("`render` imports `crate::sim`"));
    check("src/render/pass.rs", "use crate::{scene::{Scene, palette}, units::{Addr}};", None);
    check("src/record/mod.rs", "use crate::app::run;", Some("`record` imports `crate::app::run`"));
    check("src/scene/stage.rs", "fn f(b: &wgpu::Buffer) {}", Some("nothing of `wgpu`"));
    check("src/overlay/draw.rs", "use winit::window::Window;", Some("nothing of `winit`"));
    check("src/overlay/draw.rs", "use std::{fmt, fs::{self, File}};", Some("nothing of `std::fs`"));
    check("src/overlay/draw.rs", "use std::{fmt, collections::BTreeMap};", None);
    check("src/timeline/pace.rs", "fn f() { let t = std::time::Instant::now(); }", Some("nothing of `std::time`"));
    for mechanism in [
        "use std::thread;",
        "fn f() { std::thread::spawn(g); }",
        "use std::process::{Command, ExitCode};",
        "use std::{fs::File, io};",
        "use std::io::{Read, pipe};",
    ] {
        check("src/commands/run.rs", mechanism, Some("`commands` must know nothing of"));
    }
    check("src/commands/run.rs", "use std::process::{ExitCode, ExitStatus}; use crate::cli::Command;", None);
    check("src/opening/mod.rs", "use crate::overlay::Studio;", Some("`opening` imports `crate::overlay::Studio`"));
    check("src/trace/mod.rs", "use crate::sim::*;", Some("`trace` imports `crate::sim`"));
    check("src/sim/cache.rs", "fn f() { unsafe { g() } }", Some("`unsafe`"));
    check("src/sim/fast/simd.rs", "fn f() { unsafe { g() } }", Some("`unsafe`"));
    check(VECTORS, "fn f() { unsafe { g() } }", None);
    check("src/novel.rs", "", Some("module `novel` has no row"));
    // As compilers read it: in macros, derives and visibilities.
    check("src/sim/cache.rs", "fn f() { println!(\"{}\", crate::app::N); }", Some("`crate::app::N`"));
    check("src/sim/cache.rs", "fn f() { crate::shown::say!(\"x\"); crate::trace::m!(); }", Some("`crate::trace::m`"));
    check("src/sim/cache.rs", "macro_rules! m { () => { $crate::scene::draw() } }", Some("`crate::scene::draw`"));
    check("src/sim/cache.rs", "impl crate::timeline::Shelf for X {}", Some("`crate::timeline::Shelf`"));
    check("src/sim/cache.rs", "#[derive(crate::app::D)] struct X;", Some("`crate::app::D`"));
    check("src/sim/cache.rs", "pub(in crate::sim) fn f() -> Vec<crate::trace::Feed> {}", Some("`crate::trace::Feed`"));
    // What only looks like one.
    check("src/sim/cache.rs", "// use crate::timeline::Log;\n/* unsafe /* crate::app */ crate::app */", None);
    check(
        "src/sim/cache.rs",
        r###"const A: &str = "crate::app::x"; const B: &str = r#"unsafe " crate::app"#;"###,
        None,
    );
    check("src/sim/cache.rs", r#"const A: char = '"'; const B: &str = "\" crate::app::x";"#, None);
    check(
        "src/sim/cache.rs",
        "fn f<'a>(x: &'a str) { let c = 'c'; }\n#[cfg(test)] mod tests { use crate::app::x; }",
        None,
    );
    check("src/sim/cache.rs", "#[cfg(test)] mod tests { fn f() {} } use crate::app::x;", Some("`crate::app::x`"));
    check("src/sim/cache.rs", "#[cfg(all(test, feature = \"x\"))] mod tests { use crate::app::x; }", None);
    check("src/sim/cache.rs", "#[cfg(not(test))] use crate::app::x;", Some("`crate::app::x`"));
    check(
        "src/sim/cache.rs",
        "#[cfg(test)]\nuse crate::trace::synth;\nuse crate::trace::open;",
        Some(":3: `sim` imports"),
    );
}

/// A list of exceptions grows by itself where nobody looks.
#[test]
fn what_is_exempt_still_needs_it() {
    for (file, why) in EXEMPT {
        let text = fs::read_to_string(root().join(file)).expect(file);
        let named = paths(&text, &module_of(Path::new(file)));
        let needs = named.iter().any(|n| MECHANISMS.iter().any(|never| starts_with(&n.path, never)));
        assert!(needs, "{file} holds no mechanism any more ({why}); take it out of EXEMPT");
    }
}

/// Who uses the library hears from it by values: standard output and standard error are the command's.
#[test]
fn only_commands_speak() {
    let speaks = |file: &str, text: &str| {
        // Bytes of pictures and traces have standard output as a place to go to (`raw`).
        let says = ["say", "say_lines", "tell", "out", "json"];
        let named = paths(text, &module_of(Path::new(file)));
        let by_path =
            named.iter().find(|n| n.path.len() > 2 && n.path[1] == "shown" && says.contains(&n.path[2].as_str()));
        by_path
            .map(|n| format!("{file}:{}: `{}`; give a value, and have the command say it", n.line, n.path.join("::")))
    };
    let library = |file: &str| !file.starts_with("src/commands/") && file != "src/shown.rs" && file != "src/main.rs";
    let all = sources();
    let found: Vec<String> = all.iter().filter(|(file, _)| library(file)).filter_map(|(f, t)| speaks(f, t)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
    let commands = all.iter().filter(|(file, _)| !library(file)).filter(|(f, t)| speaks(f, t).is_some()).count();
    assert!(commands > 10, "the check sees {commands} commands that speak");
    assert!(speaks("src/trace/mod.rs", "use crate::shown::say;").is_some());
}

#[test]
fn no_file_is_longer_than_600_lines() {
    let long: Vec<String> = ["src", "tests", "benches", "examples"]
        .iter()
        .flat_map(|folder| files_of(folder))
        .map(|(file, text)| (file, text.lines().count()))
        .filter(|(_, lines)| *lines > 600)
        .map(|(file, lines)| format!("{file}: {lines} lines; split it"))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}

/// What all tests of an area share where they are threads of one process. (`unsafe`, which nothing has, guards its environment.)
#[test]
fn no_test_changes_its_process() {
    let changes = ["set_current_dir", "set_var", "remove_var", "umask", "setrlimit", "setsid", "setpgid"];
    let tests = files_of("tests");
    assert!(tests.len() > 70, "only {} files were found", tests.len());
    for (file, text) in tests {
        let tokens = tokens(&text);
        let found = tokens.iter().find(|t| changes.contains(&t.text.as_str()));
        assert!(found.is_none(), "{file}: {found:?}; tests run as threads of one process too: start a program for it");
    }
}

/// scripts/test.sh runs without graphics what this lets differ, and no more.
#[test]
fn graphics_change_the_command_alone() {
    let asks = |text: &str| text.contains("feature = \"gpu\"") || text.contains("feature = \"viewer\"");
    let all = sources();
    let found: Vec<&str> = all.iter().filter(|(_, text)| asks(text)).map(|(file, _)| file.as_str()).collect();
    let strange: Vec<_> = found.iter().filter(|f| **f != "src/lib.rs" && !f.starts_with("src/commands/")).collect();
    assert!(strange.is_empty(), "{strange:?} differ without graphics; scripts/test.sh does not test them so");
    assert!(found.len() > 5, "the check does not see those that differ: {found:?}");
}

#[test]
fn the_map_names_every_module_and_no_other() {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    // First cells of table rows: | `cli`, `commands` | ... |
    let rows: Vec<&str> = map.lines().filter_map(|l| l.strip_prefix("| `")?.split('|').next()).collect();
    let named: BTreeSet<String> =
        rows.iter().flat_map(|r| r.split([',', '`'])).map(|w| w.trim().to_owned()).filter(|w| !w.is_empty()).collect();
    let missing: Vec<String> = modules().into_iter().filter(|m| !named.contains(m)).collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md's table has no row for {missing:?}");
    let modules = modules();
    let ruled: Vec<&str> = RULES.iter().map(|r| r.module).filter(|m| !modules.contains(*m)).collect();
    assert!(ruled.is_empty(), "rules for modules that do not exist: {ruled:?}");
}

#[test]
fn colours_stand_in_the_palette() {
    let found: Vec<String> = sources()
        .iter()
        .filter(|(file, _)| file != "src/scene/palette.rs")
        .flat_map(|(file, text)| colours(file, text))
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
    let palette = fs::read_to_string(root().join("src/scene/palette.rs")).expect("palette");
    assert!(colours("palette", &palette).len() > 10, "the check does not see the palette's own colours");
    let within = |expression: &str| format!("fn f() {{ {expression} }}");
    for planted in ["f([1, 2, 3, 255])", "Color32::from_rgb(1, 2, 3)", "Color32::WHITE", "egui::Color32::from_gray(9)"]
    {
        assert_eq!(colours("x.rs", &within(planted)).len(), 1, "{planted}");
    }
    for sound in ["[1, 2, 3, 4]", "Color32::TRANSPARENT", "Color32::from_rgb(c[0], c[1], c[2])", "[1, 255, 255]"] {
        assert!(colours("x.rs", &within(sound)).is_empty(), "{sound}");
    }
}
