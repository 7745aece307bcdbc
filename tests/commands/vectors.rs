//! Stills as vectors: the same picture as the PNG, in outlines and text.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::regions::row;
use orrery::reference::{Kind, Reference, Tables};
use orrery::trace::native::FileWriter;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// Bytes that a still of a usual size has at most.
const MOST: u64 = 2_000_000;

struct Here(TempDir);

impl Here {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, program: &str, args: &[&str]) -> Output {
        Command::new(program)
            .current_dir(self.0.path())
            .args(args)
            .env("FONTCONFIG_FILE", self.at("fonts.conf"))
            .output()
            .unwrap_or_else(|error| panic!("{program} is needed ({error}); scripts/test.sh installs it"))
    }

    fn still(&self, trace: &str, name: &str, more: &[&str]) -> PathBuf {
        let args = [&["snapshot", trace, "-o", name], more].concat();
        let output = self.run(env!("CARGO_BIN_EXE_orrery"), &args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        self.at(name)
    }

    fn svg(&self, trace: &str, name: &str, more: &[&str]) -> String {
        fs::read_to_string(self.still(trace, name, more)).unwrap()
    }

    /// The words of a PDF.
    fn words(&self, name: &str) -> String {
        let output = self.run("pdftotext", &["-layout", name, "-"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The pixels of an SVG or a PDF, drawn by another program in the program's typeface.
    fn drawn(&self, name: &str) -> image::RgbImage {
        let fonts = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/fonts");
        // The weights are one family, as where Inter is installed.
        let one = |name: &str| {
            format!(
                "<match target=\"scan\"><test name=\"family\"><string>{name}</string></test>\
                 <edit name=\"family\" mode=\"assign\"><string>Inter</string></edit></match>"
            )
        };
        let config = format!(
            "<fontconfig><dir>{}</dir><cachedir>{}</cachedir>{}{}</fontconfig>",
            fonts.display(),
            self.at("fonts").display(),
            one("Inter Medium"),
            one("Inter Semi Bold")
        );
        fs::write(self.at("fonts.conf"), config).unwrap();
        let output = match name.ends_with(".svg") {
            true => self.run("rsvg-convert", &[name, "-o", "drawn.png"]),
            false => self.run("pdftoppm", &["-r", "96", "-png", "-singlefile", name, "drawn"]),
        };
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        image::open(self.at("drawn.png")).unwrap().to_rgb8()
    }
}

/// All text of an SVG, by element.
fn texts(svg: &str) -> BTreeSet<String> {
    let document = roxmltree::Document::parse(svg).unwrap();
    document.descendants().filter(|n| n.has_tag_name("text")).map(|n| n.text().unwrap_or_default().to_owned()).collect()
}

/// How far two pictures are apart, of 255: the mean of all, and that of the worst of the tiles of 40 pixels a side.
fn apart(a: &image::RgbImage, b: &image::RgbImage) -> (f64, f64) {
    assert_eq!(a.dimensions(), b.dimensions());
    let (width, height) = a.dimensions();
    let mut tiles = vec![(0_u64, 0_u64); (width.div_ceil(40) * height.div_ceil(40)) as usize];
    for ((x, y, a), b) in a.enumerate_pixels().zip(b.pixels()) {
        let tile = &mut tiles[(y / 40 * width.div_ceil(40) + x / 40) as usize];
        tile.0 += (0..3).map(|c| u64::from(a[c].abs_diff(b[c]))).sum::<u64>();
        tile.1 += 3;
    }
    let mean = |tile: &(u64, u64)| tile.0 as f64 / tile.1 as f64;
    let all = tiles.iter().fold((0, 0), |sum, tile| (sum.0 + tile.0, sum.1 + tile.1));
    (mean(&all), tiles.iter().map(mean).fold(0.0, f64::max))
}

/// What pictures of the same moment may be apart, mean and worst tile: letters and edges are smoothed in other ways, and poppler draws
/// whatever is thin fainter.
const SVG: (f64, f64) = (1.8, 12.0);
/// The same from close up, where pixels have chords in place of curves.
const CLOSE: (f64, f64) = (2.8, 15.0);
const PDF: (f64, f64) = (4.0, 25.0);

#[test]
fn all_words_of_the_picture_are_text() {
    let here = Here::new();
    let svg = here.svg("lesson:matmul16", "a.svg", &["--tick", "2613.5"]);
    let found = texts(&svg);
    here.still("lesson:matmul16", "a.pdf", &["--tick", "2613.5"]);
    let in_pdf = here.words("a.pdf");
    let output = here.run(env!("CARGO_BIN_EXE_orrery"), &["stats", "lesson:matmul16", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let names = |list: &str| {
        let all = json[list].as_array().unwrap();
        all.iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let (levels, regions) = (names("levels"), names("regions"));
    assert!(levels.len() >= 2 && regions.len() >= 3, "{levels:?} {regions:?}");
    let title = json["title"].as_str().map(str::to_owned);
    // Which caches these are, by name and size, is said on every picture.
    let tables = ["REGIONS", "REFERENCE", "2,613", "of 8,448", "refs", "CPU", "CACHES", "paper", "512 B", "2 KiB"];
    let tables = tables.map(str::to_owned);
    for label in levels.iter().chain(&regions).chain(&tables).chain(&title) {
        assert!(found.iter().any(|text| text.contains(label)), "`{label}` is no text of the SVG: {found:?}");
        assert!(in_pdf.contains(label.as_str()), "`{label}` is no text of the PDF: {in_pdf}");
    }
    // The legend says what lines mean.
    for sign in ["miss", "evict", "hit"] {
        assert!(found.iter().any(|text| text.to_lowercase().contains(sign)), "{sign}: {found:?}");
    }
    assert!(svg.contains("font-family=\"Inter,"));
    assert!(!texts(&here.svg("lesson:matmul16", "b.svg", &["--hide", "regions"])).contains("REGIONS"));
}

#[test]
fn vectors_are_equal_bytes_of_a_bounded_size() {
    let here = Here::new();
    for (n, more) in [&[][..], &["--tail", "200"]].into_iter().enumerate() {
        for ending in ["svg", "pdf"] {
            let [one, two] = [1, 2].map(|run| here.still("lesson:matmul16", &format!("{n}-{run}.{ending}"), more));
            let (one, two) = (fs::read(one).unwrap(), fs::read(two).unwrap());
            assert!(one == two, "{ending} {more:?}: two runs differ");
            assert!((10_000..MOST).contains(&(one.len() as u64)), "{ending} {more:?}: {} bytes", one.len());
        }
    }
    let output = here.run("pdfinfo", &["0-1.pdf"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && said.contains("Pages:"), "{said}");
    let size = said.lines().find(|line| line.starts_with("Page size:")).unwrap();
    assert!(size.contains("960 x 540 pts"), "{size}: 96 pixels are an inch");
}

#[test]
fn names_from_strangers_are_text_and_no_markup() {
    let here = Here::new();
    let nasty = "<b>&\"'\u{1b}[2J\u{7}\u{0}]]>--><!--\u{fffe}";
    let mut tables = Tables { title: nasty.into(), ..Tables::default() };
    tables.regions = vec![row(nasty, 0x1000, 8, 8), row("数据", 0x2000, 8, 8)];
    let references: Vec<Reference> = (0..64)
        .map(|n| Reference::new(Kind::Read, (if n % 2 == 0 { 0x1000 } else { 0x2000 }) + n / 8 * 8, 8))
        .collect();
    let mut writer = FileWriter::create(&here.at("t.orrery")).unwrap();
    writer.write(&references).unwrap();
    writer.finish(&tables).unwrap();
    let svg = here.svg("t.orrery", "x.svg", &[]);
    let document = roxmltree::Document::parse(&svg).unwrap();
    let known =
        ["svg", "title", "defs", "g", "path", "circle", "text", "clipPath", "linearGradient", "radialGradient", "stop"];
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        assert!(known.contains(&node.tag_name().name()), "<{}> came in", node.tag_name().name());
    }
    let found = texts(&svg);
    assert!(found.iter().any(|text| text.starts_with("<b>&\"'")), "{found:?}");
    assert!(found.iter().any(|text| text.starts_with("数据")), "{found:?}");
    assert!(svg.contains("&lt;b&gt;&amp;&quot;&#39;") && !svg.contains("<b>"));
    assert!(!svg.chars().any(|c| c.is_control() && c != '\n'));
    // Whom the typeface has no glyph for can be found nevertheless.
    here.still("t.orrery", "x.pdf", &[]);
    let words = here.words("x.pdf");
    assert!(words.contains("<b>&\"'") && words.contains("数据"), "{words}");
}

#[test]
fn vectors_show_what_pixels_show() {
    let here = Here::new();
    for (n, more) in [
        &["--tick", "2613.5"][..],
        &["--tick", "2613.5", "--tail", "200"],
        &["--tick", "2613.5", "--size", "640x360"],
        &["--tick", "2613.5", "--theme", "print"],
        &["--tick", "2613", "--camera", "0.3,-0.2,6"],
        &["--tick", "2613", "--view", "numbers"],
        &["--tick", "2613", "--view", "source"],
        &["--tick", "2613", "--view", "chart"],
        &["--tick", "2613", "--view", "regions"],
        &["--tick", "2613", "--view", "large"],
        &["--tick", "2613", "--tails", "1,16,64,256"],
    ]
    .into_iter()
    .enumerate()
    {
        let pixels = image::open(here.still("lesson:matmul16", &format!("{n}.png"), more)).unwrap().to_rgb8();
        let svg = if more.contains(&"--camera") { CLOSE } else { SVG };
        for (ending, (most, worst)) in [("svg", svg), ("pdf", PDF)] {
            let name = format!("{n}.{ending}");
            here.still("lesson:matmul16", &name, more);
            let (mean, tile) = apart(&pixels, &here.drawn(&name));
            assert!(mean <= most && tile <= worst, "{ending} {more:?}: mean {mean:.2}, worst tile {tile:.1}");
        }
    }
}

#[test]
fn a_picture_that_lacks_something_is_found() {
    let here = Here::new();
    let more = ["--tick", "2613.5"];
    let pixels = image::open(here.still("lesson:matmul16", "a.png", &more)).unwrap().to_rgb8();
    let svg = here.svg("lesson:matmul16", "a.svg", &more);
    let without = |start: &str| -> String {
        svg.lines().filter(|line| !line.starts_with(start)).map(|line| format!("{line}\n")).collect()
    };
    let body = svg.find("</defs>").unwrap() + "</defs>".len();
    let moved =
        format!("{}<g transform=\"translate(3 2)\">{}</g></svg>", &svg[..body], svg[body..].replace("</svg>", ""));
    for (what, fault) in [
        ("dots", without("<circle")),
        ("words", without("<text")),
        ("places", moved),
        ("the colour of the ground", svg.replacen("#08090d", "#101010", 1)),
        ("glows and disks", without("<radialGradient")),
        ("lines", svg.replace(" fill=\"none\" stroke=", " fill=\"none\" data-was=")),
    ] {
        assert!(fault != svg, "{what}: nothing was changed");
        fs::write(here.at("fault.svg"), &fault).unwrap();
        let (mean, tile) = apart(&pixels, &here.drawn("fault.svg"));
        assert!(mean > SVG.0 || tile > SVG.1, "{what}: mean {mean:.2}, worst tile {tile:.1}, and nobody notices");
    }
}

#[test]
fn a_ground_may_be_left_out_and_a_sheet_is_one_drawing() {
    let here = Here::new();
    let ground = "<path fill=\"#08090d\" d=\"M0 0H1280V720H0z\"/>";
    assert!(here.svg("lesson:matmul16", "a.svg", &[]).contains(ground));
    assert!(!here.svg("lesson:matmul16", "b.svg", &["--transparent"]).contains(ground));
    let print = here.svg("lesson:matmul16", "c.svg", &["--theme", "print"]);
    assert!(print.contains("<path fill=\"#ffffff\" d=\"M0 0H1280V720H0z\"/>") && !print.contains(ground));
    let finer = here.svg("lesson:matmul16", "d.svg", &["--supersample", "2"]);
    assert!(finer.contains("width=\"1280\" height=\"720\" viewBox=\"0 0 2560 1440\""));
    let sheet = here.svg("lesson:matmul16", "e.svg", &["--at", "100,2613"]);
    assert!(["100", "2,613"].iter().all(|tick| texts(&sheet).contains(*tick)));
    assert!(sheet.matches("<clipPath").count() >= 2, "each picture stays in its place");
}
