//! `chart` and `report`: files that are drawn of what other commands tell, with the same numbers.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::calls::{json, printed, run};
use serde_json::Value;
use std::fs;

const KINDS: [&str; 6] = ["miss-ratio", "stack-distance", "classes", "sets", "map", "displaced"];

/// Asserts that a chart is sound XML whose words lie on the sheet, none on another, and gives these.
fn words_of(name: &str, svg: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(svg).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut boxes: Vec<(f64, f64, f64, f64, String)> = Vec::new();
    for node in document.descendants().filter(|node| node.has_tag_name("text")) {
        let number = |name: &str| node.attribute(name).and_then(|text| text.parse::<f64>().ok());
        let text = node.text().unwrap_or_default().to_owned();
        let size = number("font-size").unwrap();
        // Signs are some 0.56 of their size wide.
        let wide = 0.56 * size * f64::from(u32::try_from(text.chars().count()).unwrap());
        let Some((x, y)) = number("x").zip(number("y")) else {
            boxes.push((0.0, 0.0, 0.0, 0.0, text));
            continue;
        };
        let left = match node.attribute("text-anchor") {
            Some("middle") => x - wide / 2.0,
            Some("end") => x - wide,
            _ => x,
        };
        assert!(left > -8.0 && left + wide < 660.0 && y > 0.0 && y < 360.0, "{name}: `{text}` at {x}, {y}");
        boxes.push((left, y - 0.7 * size, left + wide, y, text));
    }
    for (n, a) in boxes.iter().enumerate() {
        for b in &boxes[n + 1..] {
            let apart = a.2 <= b.0 + 3.0 || b.2 <= a.0 + 3.0 || a.3 <= b.1 || b.3 <= a.1;
            assert!(apart || a.2 - a.0 == 0.0 || b.2 - b.0 == 0.0, "{name}: `{}` and `{}` lie on each other", a.4, b.4);
        }
    }
    boxes.into_iter().map(|(.., text)| text).collect()
}

/// What is said where a pointer rests.
fn said(svg: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(svg).unwrap();
    let titles = document.descendants().filter(|node| node.has_tag_name("title"));
    titles.filter_map(|node| node.text().map(str::to_owned)).collect()
}

#[test]
fn charts_are_sound_and_have_the_numbers_of_the_tables() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for trace in ["lesson:matmul16", "lesson:merge_sort", "lesson:false_sharing", "lesson:mpm"] {
        for kind in KINDS {
            for theme in ["dark", "light", "print"] {
                let name = format!("{trace} {kind} {theme}");
                printed(at, &format!("chart {trace} {kind} --theme {theme} -o c.svg -640x360"));
                let svg = fs::read_to_string(at.join("c.svg")).unwrap();
                let words = words_of(&name, &svg);
                assert!(words.len() > 5 && svg.contains("width=\"640\" height=\"360\""), "{name}: {words:?}");
            }
        }
    }
    for (kind, is_of_one_cache) in [("miss-ratio", true), ("stack-distance", true), ("sets", false)] {
        let svg = printed(at, &format!("chart lesson:false_sharing {kind} -o -"));
        assert_eq!(svg.contains("as if all 4 cores had one cache"), is_of_one_cache, "{kind}");
    }
    let trace = "lesson:matmul16 --cache paper";
    let all = json(at, &format!("analyze {trace} --json"));
    let number = |value: &Value| value.as_u64().unwrap();
    let grouped = |n: u64| orrery::units::grouped(n);
    let sets = said(&printed(at, "chart lesson:matmul16 sets --cache paper -o -"));
    for set in all["sets"]["sets"].as_array().unwrap() {
        let words = format!(
            "set {}: {} accesses, {} misses",
            set["set"],
            grouped(number(&set["accesses"])),
            grouped(number(&set["misses"]))
        );
        assert!(sets.contains(&words), "{words}: {sets:?}");
    }
    let displaced = said(&printed(at, "chart lesson:matmul16 displaced --cache paper -o -"));
    for pair in all["displaced"]["pairs"].as_array().unwrap() {
        let words = format!(
            "{}, {}: {}",
            pair["by"].as_str().unwrap(),
            pair["of"].as_str().unwrap(),
            grouped(number(&pair["lines"]))
        );
        assert!(displaced.contains(&words), "{words}: {displaced:?}");
    }
    let distances = said(&printed(at, "chart lesson:matmul16 stack-distance --cache paper -o -"));
    let histogram = all["stack_distance"]["histogram"].as_array().unwrap();
    let of = |from: u64, to: u64| {
        histogram.iter().filter(|pair| (from..to).contains(&number(&pair[0]))).map(|pair| number(&pair[1])).sum::<u64>()
    };
    for (name, count) in
        [("1", of(1, 2)), ("4+", of(4, 8)), ("16+", of(16, 32)), ("first", number(&all["stack_distance"]["cold"]))]
    {
        assert!(distances.contains(&format!("{name}: {} accesses", grouped(count))), "{name} {count}: {distances:?}");
    }
    let curve = printed(at, "chart lesson:matmul16 miss-ratio --cache paper -o -");
    assert!(curve.contains("L1 512B") && curve.contains("L2 2KiB"), "the levels are marked");
    let misses = number(&all["ways"]["misses_by_ways"][7]);
    assert!(
        said(&curve).iter().any(|words| words.ends_with(&format!("x 8 ways, 512B: {} misses", grouped(misses)))),
        "{:?}",
        said(&curve)
    );

    printed(
        at,
        "sweep lesson:matmul16 --l1 512,2,32 --vary L1.size=256B..4KiB --vary L1.ways=1,2,4,8 --chart sweep.svg",
    );
    let svg = fs::read_to_string(at.join("sweep.svg")).unwrap();
    let cells = json(at, "sweep lesson:matmul16 --l1 512,2,32 --vary L1.size=256B..4KiB --vary L1.ways=1,2,4,8 --json");
    let words = words_of("sweep", &svg);
    for cell in cells.as_array().unwrap() {
        let level = &cell["levels"][0];
        let rate = 100.0 * level["demand_misses"].as_f64().unwrap() / level["demand_accesses"].as_f64().unwrap();
        assert!(words.contains(&format!("{rate:.1}%")), "{cell}");
    }
    for (call, code, part) in [
        ("chart lesson:matmul16 map -o c.jpg", 2, "ends in .svg or .png"),
        #[cfg(not(feature = "gpu"))]
        ("chart lesson:matmul16 map -o c.png", 2, "without graphics"),
        ("chart lesson:matmul16 pie -o c.svg", 2, "miss-ratio"),
        ("chart lesson:matmul16 map -o none/c.svg", 1, "none/c.svg: cannot be written"),
        ("chart lesson:matmul16 sets --level L9 -o c.svg", 2, "--level L9"),
        ("chart lesson:matmul16 map --size 9x9 -o c.svg", 2, "1280x720"),
    ] {
        let output = run(at, call);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(code) && text.contains(part), "{call}: {text}");
    }
}

/// A page without its stills, and these.
fn without_stills(page: &str) -> (String, Vec<String>) {
    let (mut rest, mut stills) = (String::new(), Vec::new());
    for (n, part) in page.split(" src=\"data:image/svg+xml;charset=utf-8,").enumerate() {
        let (still, after) = if n == 0 { ("", part) } else { part.split_once('"').unwrap() };
        if n > 0 {
            let mut bytes = Vec::new();
            let mut signs = still.bytes();
            while let Some(byte) = signs.next() {
                let hex = |signs: &mut std::str::Bytes<'_>| char::from(signs.next().unwrap()).to_digit(16).unwrap();
                bytes.push(match byte {
                    b'%' => u8::try_from(16 * hex(&mut signs) + hex(&mut signs)).unwrap(),
                    byte => byte,
                });
            }
            stills.push(String::from_utf8(bytes).unwrap());
        }
        rest.push_str(after);
    }
    (rest, stills)
}

/// Mean colours of blocks of 12 x 12 pixels.
#[cfg(feature = "gpu")]
fn blocks(picture: &image::RgbaImage) -> Vec<[f64; 3]> {
    const SIDE: u32 = 12;
    let (width, height) = picture.dimensions();
    let mean = |x: u32, y: u32| {
        let mut sums = [0.0; 3];
        for (dx, dy) in (0..SIDE).flat_map(|dx| (0..SIDE).map(move |dy| (dx, dy))) {
            let pixel = picture.get_pixel(x * SIDE + dx, y * SIDE + dy);
            (0..3).for_each(|n| sums[n] += f64::from(pixel[n]));
        }
        sums.map(|sum| sum / f64::from(SIDE * SIDE))
    };
    (0..height / SIDE).flat_map(|y| (0..width / SIDE).map(move |x| (x, y))).map(|(x, y)| mean(x, y)).collect()
}

/// A chart as pixels looks as the same chart as SVG, drawn by librsvg; words have another typeface there.
#[cfg(feature = "gpu")]
#[test]
fn charts_as_pixels_are_those_of_the_vectors() {
    if std::env::var_os("REQUIRE_ADAPTER").is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for (theme, size) in [("light", (960, 540)), ("dark", (500, 700))] {
        let mut all = Vec::new();
        for kind in KINDS {
            for end in ["svg", "png"] {
                let (width, height) = size;
                let call = format!(
                    "chart lesson:matmul16 {kind} --cache paper --theme {theme} --size {width}x{height} -o c.{end}"
                );
                printed(at, &call);
            }
            let drawn =
                std::process::Command::new("rsvg-convert").current_dir(at).args(["c.svg", "-o", "r.png"]).status();
            assert!(drawn.unwrap().success());
            let [ours, theirs] = ["c.png", "r.png"].map(|name| image::open(at.join(name)).unwrap().into_rgba8());
            assert_eq!((ours.dimensions(), theirs.dimensions()), (size, size));
            all.push((kind, blocks(&ours), blocks(&theirs)));
        }
        let apart = |a: &[[f64; 3]], b: &[[f64; 3]]| {
            let sum: f64 = a.iter().zip(b).flat_map(|(a, b)| (0..3).map(|n| (a[n] - b[n]).abs())).sum();
            sum / (3 * a.len()) as f64
        };
        for (kind, ours, theirs) in &all {
            let same = apart(ours, theirs);
            let other =
                all.iter().filter(|(other, ..)| other != kind).map(|(_, _, b)| apart(ours, b)).fold(255.0, f64::min);
            eprintln!("{kind} {theme}: {same:.2} apart, the nearest other kind {other:.2}");
            assert!(same < 3.0 && other > 2.0 * same, "{kind} {theme}: {same} apart, the nearest other kind {other}");
        }
    }
}

#[test]
fn a_report_is_one_page_with_the_numbers_of_the_commands() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    printed(at, "report lesson:matmul16 --cache paper -o report.html");
    let page = fs::read_to_string(at.join("report.html")).unwrap();
    let stats = json(at, "stats lesson:matmul16 --cache paper --by-line --classes --json");
    for level in stats["levels"].as_array().unwrap() {
        for key in ["demand_accesses", "demand_misses", "conflict", "capacity", "evictions", "bytes_in"] {
            let cell = format!("<td>{}</td>", orrery::units::grouped(level[key].as_u64().unwrap()));
            assert!(page.contains(&cell), "{key}: {cell}");
        }
    }
    assert_eq!(page.matches("<svg class=\"chart\"").count(), KINDS.len());
    for words in [
        "causes 94.8 % of L1&#39;s misses",
        "sum += A[i][k] * B[k][j];",
        "Usually helps:",
        "<h3>Reference ",
        "orrery annotate lesson:matmul16 --cache paper",
    ] {
        assert!(page.contains(words), "`{words}` is missing");
    }
    // What is explained has its still beside it.
    let (page, stills) = without_stills(&page);
    let told = page.matches("<h3>Reference ").count();
    assert_eq!(stills.len(), if cfg!(feature = "gpu") { told } else { 0 });
    for svg in &stills {
        let document = roxmltree::Document::parse(svg).unwrap();
        let words: String = document.descendants().filter_map(|node| node.text()).collect();
        assert!(words.contains("L1") && words.contains("multiply"), "a picture of the caches: {words}");
    }
    // Complete by itself, and nothing in it runs.
    for never in ["<script", "http://", "https://", "src=", "@import", "url(", "onload"] {
        assert!(!page.contains(never), "{never}");
    }
    // The command that it names makes it again, in place of what is there.
    let again = page.split("<pre>orrery ").nth(1).unwrap().split("</pre>").next().unwrap();
    printed(at, again);
    assert_eq!(without_stills(&fs::read_to_string(at.join("report.html")).unwrap()), (page, stills));
    assert_eq!(fs::read_dir(at).unwrap().count(), 1, "nothing else is left");
    let output = run(at, "report lesson:matmul16 -o none/r.html");
    assert!(
        output.status.code() == Some(1)
            && String::from_utf8_lossy(&output.stderr).contains("none/r.html: cannot be written")
    );
    // Caches that look ahead, and a trace that names nothing: said, and the rest is there.
    let page = printed(at, "report lesson:matmul16 --l1 512,2,32,opt -o -");
    assert!(page.contains("nothing is advised") && page.contains("<h2>Charts</h2>"));
    fs::write(at.join("bare.log"), " L 1000,8\n S 2000,8\n").unwrap();
    let page = printed(at, "report bare.log -o -");
    assert!(page.contains("names no arrays") && page.contains("names no source lines"), "{page}");
}

#[test]
fn names_in_charts_and_pages_are_text() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let name = "<script>alert(1)</script>\"'&\u{1b}[2J";
    let region =
        |name: &str, base: u64| serde_json::json!({ "name": name, "base": base, "bytes": 256, "elem_bytes": 8 });
    let location = serde_json::json!({ "pc": 0, "file": name, "line": 3, "function": name, "text": name });
    let tables = serde_json::json!({ "title": name, "regions": [region(name, 0x1000), region("<b>", 0x1200)], "locations": [location] });
    fs::write(at.join("names.json"), tables.to_string()).unwrap();
    let log: String =
        (0..400u64).map(|n| format!(" L {:x},8\n S {:x},8\n", 0x1000 + n * 40 % 256, 0x1200 + n * 24 % 256)).collect();
    fs::write(at.join("t.log"), log).unwrap();
    printed(at, "convert t.log --tables names.json -o t.orrery");
    let page = printed(at, "report t.orrery --l1 128,1,32 -o -");
    assert!(
        !page.contains("<script")
            && !page.contains("<b>\"")
            && !page.contains('\u{1b}')
            && page.contains("&lt;script&gt;alert(1)")
    );
    for kind in KINDS {
        let svg = printed(at, &format!("chart t.orrery {kind} --l1 128,1,32 -o -"));
        words_of(kind, &svg);
        assert!(!svg.contains("<script") && !svg.contains('\u{1b}'), "{kind}");
    }
    for call in
        ["compare t.orrery lesson:matmul16", "advise t.orrery --l1 128,1,32", "compare t.orrery lesson:matmul16 --csv"]
    {
        assert!(!printed(at, call).contains('\u{1b}'), "{call}");
    }
}
