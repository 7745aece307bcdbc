//! What the sheet shows of small traces, and how it is sorted.

use super::*;
use crate::axis::Position;
use crate::overlay::layout::Parts;
use crate::reference::{Kind, MemoryTrace, Reference, ReferenceSource, SourceLocation};
use crate::sim::Hierarchy;
use crate::sim::config::preset;
use std::sync::Arc;

/// Lines 1 to `lines` of a file in turn, and an instruction of no line; each reference misses.
fn studio(lines: u32, length: u64) -> Studio {
    let pc = |n: u64| if n % 10 == 9 { 0 } else { 0x1000 + n % u64::from(lines) };
    let references = (0..length).map(|n| Reference { pc: pc(n), ..Reference::new(Kind::Read, n * 4096, 8) }).collect();
    let location = |line: u32| SourceLocation {
        path: String::new(),
        pc: 0x1000 + u64::from(line - 1),
        file: if line > 3 { "b.c".into() } else { "a.c".into() },
        line,
        function: "f".into(),
        text: format!("x{line}();"),
    };
    let tables = Tables { locations: (1..=lines).map(location).collect(), ..Tables::default() };
    let source: Arc<dyn ReferenceSource> = Arc::new(MemoryTrace::new(references, tables));
    let hierarchy = Hierarchy::new(&preset("paper").expect("shipped")).expect("sound");
    Studio::new(source, hierarchy, &mut |_, _| true).expect("in memory")
}

fn plane(studio: &mut Studio, size: [u32; 2], tick: u64, camera: Camera) -> Taken {
    let mut exhibit = SourceExhibit::new(studio);
    let shot = Shot::still(size, Position::at(tick), View { camera, ..View::default() }, Parts::default());
    shot.take(studio, &mut exhibit).expect("in memory")
}

fn of(taken: &Taken) -> &Plane {
    let Picture::Plane(plane) = &taken.picture else { panic!("no plane") };
    plane
}

fn words(taken: &Taken) -> Vec<&str> {
    of(taken).words.iter().map(|words| words.text.as_str()).collect()
}

/// The lines that have a row, from above.
fn lines(taken: &Taken) -> Vec<usize> {
    let line = |(_, row): &(Rect, Target)| if let Target::Line(line) = row { Some(*line) } else { None };
    of(taken).rows.iter().filter_map(line).collect()
}

fn area_of(taken: &Taken, target: Target) -> Rect {
    of(taken).rows.iter().find(|(_, row)| *row == target).expect("it is there").0
}

/// The exhibit's picture in a pane of this size.
fn shown(exhibit: &mut SourceExhibit, studio: &mut Studio, size: [u32; 2], tick: u64) -> Taken {
    let shot = Shot::still(size, Position::at(tick), View::default(), Parts::default());
    shot.take(studio, exhibit).expect("in memory")
}

#[test]
fn lines_have_their_counts_and_text_by_file() {
    let mut studio = studio(4, 41);
    let taken = plane(&mut studio, [1280, 720], 40, Camera::default());
    let words = words(&taken);
    for word in ["a.c  ·  f", "b.c  ·  f", "x1();", "x4();", "(unknown instructions)", "100 %", "10", "8"] {
        assert!(words.contains(&word), "{word} in {words:?}");
    }
    assert_eq!(lines(&taken), [0, 1, 2, 3, 4]);
    // The bar of the line under way is the one that is wider than its row.
    let row = area_of(&taken, Target::Line(0));
    let lit = of(&taken).bars.iter().filter(|bar| bar.sides[0] < row.left() && bar.sides[2] > row.right());
    let lit: Vec<f32> = lit.map(|bar| 0.5 * (bar.sides[1] + bar.sides[3])).collect();
    assert!(lit.len() == 1 && (row.top()..row.bottom()).contains(&lit[0]), "{lit:?} in {row:?}");
    let tip = SourceExhibit::new(&studio).pick(&studio, &taken, row.center(), 6.0).expect("a row");
    assert_eq!((tip.title.as_str(), tip.lines[2].as_str()), ("a.c:1", "10 references up to this one"));
}

#[test]
fn the_sheet_follows_until_somebody_scrolls() {
    let mut studio = studio(300, 2_000);
    let sight = |taken: &Taken, line: usize| of(taken).rows.iter().any(|(_, row)| *row == Target::Line(line));
    for tick in [0u64, 12, 148, 280, 291, 600, 895] {
        let taken = plane(&mut studio, [640, 360], tick, Camera::default());
        let line = if tick % 10 == 9 { 300 } else { usize::try_from(tick % 300).expect("small") };
        assert!(sight(&taken, line), "line {line} at {tick}");
    }
    let exhibit = SourceExhibit::new(&studio);
    let taken = plane(&mut studio, [640, 360], 148, Camera::default());
    let down = of(&taken).down;
    assert!(down > 10.0);
    let camera = exhibit.look(Camera::default(), Gesture::Wheel(3.0 * of(&taken).unit, egui::Pos2::ZERO), &taken);
    let scrolled = plane(&mut studio, [640, 360], 20, camera);
    assert!((of(&scrolled).down - (down - 3.0)).abs() < 1e-3, "stays there, wherever the playhead is");
    let up = exhibit.look(camera, Gesture::Wheel(1e6, egui::Pos2::ZERO), &scrolled);
    assert!(of(&plane(&mut studio, [640, 360], 290, up)).down < 0.01, "the top is a place to stay at");
    assert_eq!(exhibit.look(camera, Gesture::Whole, &scrolled), Camera::default());
}

#[test]
fn a_trace_without_lines_says_what_would_give_them() {
    let references = (0..99).map(|n| Reference::new(Kind::Read, n * 64, 8)).collect();
    let source: Arc<dyn ReferenceSource> = Arc::new(MemoryTrace::new(references, Tables::default()));
    let hierarchy = Hierarchy::new(&preset("paper").expect("shipped")).expect("sound");
    let mut studio = Studio::new(source, hierarchy, &mut |_, _| true).expect("in memory");
    let taken = plane(&mut studio, [640, 360], 50, Camera::default());
    assert!(words(&taken).iter().any(|words| words.contains("--program")));
}

/// Lines 1 to 3 of `a.c` and line 4 of `b.c`: 4, 3, 2 and 1 of ten references, of which the first one, all, none and all miss.
fn uneven() -> Studio {
    let reference = |n: u64| {
        let line = [0, 0, 0, 0, 1, 1, 1, 2, 2, 3][usize::try_from(n % 10).expect("small")];
        let addr = if line % 2 == 1 { n * 4096 } else { 0 };
        Reference { pc: 0x1000 + line, ..Reference::new(Kind::Read, addr, 8) }
    };
    let location = |line: u32| SourceLocation {
        path: String::new(),
        pc: 0x1000 + u64::from(line - 1),
        file: if line > 3 { "deep/in/a/folder/b.c".into() } else { "a.c".into() },
        line,
        function: format!("f{line}"),
        text: format!("x{line}();"),
    };
    let tables = Tables { locations: (1..=4).map(location).collect(), ..Tables::default() };
    let source: Arc<dyn ReferenceSource> = Arc::new(MemoryTrace::new((0..100).map(reference).collect(), tables));
    let hierarchy = Hierarchy::new(&preset("paper").expect("shipped")).expect("sound");
    Studio::new(source, hierarchy, &mut |_, _| true).expect("in memory")
}

#[test]
fn a_heading_sorts_by_a_number_and_back_by_place() {
    let mut studio = uneven();
    let mut exhibit = SourceExhibit::new(&studio);
    let headings = |taken: &Taken| -> Vec<String> {
        let of_columns = words(taken).into_iter().map(str::to_owned);
        of_columns.filter(|words| COLUMNS.iter().any(|column| words.ends_with(column.name))).collect()
    };
    let taken = shown(&mut exhibit, &mut studio, [1280, 720], 100);
    assert_eq!(headings(&taken), ["↑ line", "references", "misses", "miss rate"]);
    assert_eq!(lines(&taken), [0, 1, 2, 3]);
    assert!(words(&taken).contains(&"deep/in/a/folder/b.c  ·  f4"), "{:?}", words(&taken));
    for column in 0..4 {
        assert!(
            of(&taken).rows.iter().any(|(_, row)| *row == Target::Column(column, COLUMNS[usize::from(column)].name))
        );
    }
    // By references, misses, rate: the largest first, then the smallest, then as it was. Of equals, the first stays first.
    for (column, down, up) in
        [(1, [0, 1, 2, 3], [3, 2, 1, 0]), (2, [1, 3, 0, 2], [2, 0, 3, 1]), (3, [1, 3, 0, 2], [2, 0, 1, 3])]
    {
        exhibit.sort(column);
        let taken = shown(&mut exhibit, &mut studio, [1280, 720], 100);
        assert_eq!(lines(&taken), down, "column {column}");
        let name = COLUMNS[usize::from(column)].name;
        assert!(words(&taken).contains(&format!("↓ {name}").as_str()), "{:?}", words(&taken));
        // Headings of functions fall away, and each line says where it is.
        assert!(!words(&taken).iter().any(|words| words.contains('·')), "{:?}", words(&taken));
        assert!(["a.c:1", "a.c:3", "b.c:4"].iter().all(|place| words(&taken).contains(place)), "{:?}", words(&taken));
        exhibit.sort(column);
        let taken = shown(&mut exhibit, &mut studio, [1280, 720], 100);
        assert_eq!(lines(&taken), up, "column {column}, turned");
        exhibit.sort(column);
        let taken = shown(&mut exhibit, &mut studio, [1280, 720], 100);
        assert_eq!((lines(&taken), headings(&taken)[0].as_str()), (vec![0, 1, 2, 3], "↑ line"));
    }
    exhibit.sort(0);
    let taken = shown(&mut exhibit, &mut studio, [1280, 720], 100);
    assert_eq!(lines(&taken), [3, 2, 1, 0], "the last place first");
    assert!(words(&taken).contains(&"a.c  ·  f1"), "under their headings still");
}

#[test]
fn lines_without_references_stand_last_whichever_way_round() {
    let mut studio = uneven();
    let mut exhibit = SourceExhibit::new(&studio);
    // After 5 references only the first line has any; the second has its first one then.
    for column in [1, 2, 3] {
        for _ in 0..2 {
            exhibit.sort(column);
            let seen = lines(&shown(&mut exhibit, &mut studio, [1280, 720], 5));
            assert_eq!(seen.len(), 4);
            assert!(!seen[..2].contains(&2) && !seen[..2].contains(&3), "column {column}: {seen:?}");
        }
        exhibit.sort(column);
    }
}

#[test]
fn what_is_copied_is_in_the_order_that_is_seen() {
    let mut studio = uneven();
    let mut exhibit = SourceExhibit::new(&studio);
    let first_column = |exhibit: &mut SourceExhibit, studio: &mut Studio| -> Vec<String> {
        let taken = shown(exhibit, studio, [1280, 720], 100);
        let csv = exhibit.csv(studio, &taken);
        csv.lines().skip(1).map(|line| line.split(',').nth(1).unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(first_column(&mut exhibit, &mut studio), ["1", "2", "3", "4", ""]);
    exhibit.sort(2);
    assert_eq!(first_column(&mut exhibit, &mut studio)[..4], ["2", "4", "1", "3"]);
}

#[test]
fn sorted_by_a_number_the_sheet_begins_with_the_first_line_and_fits() {
    let mut studio = studio(300, 2_000);
    let mut exhibit = SourceExhibit::new(&studio);
    exhibit.sort(2);
    let taken = shown(&mut exhibit, &mut studio, [640, 360], 895);
    assert_eq!((of(&taken).down, lines(&taken)[0]), (0.0, 300), "that of unknown instructions misses most");
    for size in [[1280, 720], [640, 360], [300, 240], [160, 120]] {
        let taken = shown(&mut exhibit, &mut studio, size, 895);
        for words in &of(&taken).words {
            let end = if words.width.is_finite() { words.at.x + words.width } else { words.at.x };
            assert!(end <= taken.layout.area.right() + 0.5, "{size:?}: {words:?}");
        }
    }
}

#[test]
fn functions_are_folded_and_unfolded_by_their_headings() {
    let mut studio = uneven();
    let mut exhibit = SourceExhibit::new(&studio);
    let taken = shown(&mut exhibit, &mut studio, [1280, 720], 5);
    let folds = |taken: &Taken| of(taken).rows.iter().filter(|(_, row)| matches!(row, Target::Fold(_))).count();
    assert_eq!((folds(&taken), lines(&taken)), (4, vec![0, 1, 2, 3]));
    assert_eq!(words(&taken).iter().filter(|words| **words == UNFOLDED).count(), 4);
    // Reference 5 is of the second line: folded, its heading is lit.
    let lit = |taken: &Taken| -> Vec<f32> {
        let wide = of(taken).bars.iter().filter(|bar| bar.sides[2] > area_of(taken, Target::Fold(0)).right());
        wide.map(|bar| 0.5 * (bar.sides[1] + bar.sides[3])).collect()
    };
    let at = |taken: &Taken, target| area_of(taken, target).center().y;
    assert!((lit(&taken)[0] - at(&taken, Target::Line(1))).abs() < 0.5);
    exhibit.fold(&studio, 1);
    let taken = shown(&mut exhibit, &mut studio, [1280, 720], 5);
    assert_eq!(lines(&taken), [0, 2, 3]);
    assert!((lit(&taken)[0] - at(&taken, Target::Fold(1))).abs() < 0.5);
    let text = words(&taken).join("\n");
    assert!(text.contains("a.c  ·  f2   (1 line, 1 reference, 100 % miss)"), "{text}");
    assert!(words(&taken).contains(&FOLDED));
    let tip = exhibit.pick(&studio, &taken, area_of(&taken, Target::Fold(1)).center(), 6.0).expect("a heading");
    assert_eq!((tip.title.as_str(), tip.lines[0].as_str()), ("a.c  ·  f2", "1 line, 1 reference, 100 % miss"));
    assert_eq!(tip.lines[1], "a click shows its lines");
    // Sorted by a number, there are no functions to be folded; by place again, it still is.
    exhibit.sort(2);
    assert_eq!(lines(&shown(&mut exhibit, &mut studio, [1280, 720], 5)).len(), 4);
    (0..2).for_each(|_| exhibit.sort(2));
    assert_eq!(lines(&shown(&mut exhibit, &mut studio, [1280, 720], 5)), [0, 2, 3]);
    exhibit.fold(&studio, 1);
    assert_eq!(lines(&shown(&mut exhibit, &mut studio, [1280, 720], 5)), [0, 1, 2, 3]);
}

#[test]
fn what_is_folded_counts_its_lines_together_and_the_page_has_it() {
    let mut studio = studio(300, 2_000);
    let mut exhibit = SourceExhibit::new(&studio);
    // The lines of `b.c` are 4 to 300: folded, all is seen.
    exhibit.fold(&studio, 299);
    let taken = shown(&mut exhibit, &mut studio, [1280, 720], 895);
    assert_eq!((lines(&taken), of(&taken).depth), (vec![0, 1, 2, 300], 0.0));
    let text = words(&taken).join("\n");
    assert!(text.contains("b.c  ·  f   (297 lines, "), "{text}");
    // References 0 to 39: line 1, 11, 21 ... every tenth of `b.c` is of unknown instructions.
    let taken = shown(&mut exhibit, &mut studio, [1280, 720], 40);
    let text = words(&taken).join("\n");
    assert!(text.contains("b.c  ·  f   (297 lines, 33 references, 100 % miss)"), "{text}");
}

/// A program of two functions, with references on lines 3, 5, 30 and 36 of 40; line 32 is empty.
fn with_sources() -> Studio {
    let told = [(3, "f"), (5, "f"), (30, "f"), (36, "g")];
    let text = |line: u32| match line {
        32 => String::new(),
        line => format!("\tline {line};"),
    };
    let location = |(n, (line, function)): (usize, &(u32, &str))| SourceLocation {
        path: String::new(),
        pc: 0x1000 + n as u64,
        file: "a.c".into(),
        line: *line,
        function: (*function).into(),
        text: text(*line).trim().into(),
    };
    let locations = told.iter().enumerate().map(location).collect();
    let reference = |n: u64| Reference { pc: 0x1000 + n % 4, ..Reference::new(Kind::Read, n * 64, 8) };
    let tables = Tables { locations, ..Tables::default() };
    let source: Arc<dyn ReferenceSource> = Arc::new(MemoryTrace::new((0..100).map(reference).collect(), tables));
    let hierarchy = Hierarchy::new(&preset("paper").expect("shipped")).expect("sound");
    let mut studio = Studio::new(source, hierarchy, &mut |_, _| true).expect("in memory");
    let mut sources = SourceTexts::default();
    sources.insert("a.c", (1..=40).map(text).collect());
    studio.set_sources(&sources);
    studio
}

/// The rows of the sheet from above, by what stands where the numbers of lines are.
fn numbers(taken: &Taken) -> Vec<&str> {
    let mut rows: Vec<(f32, &str)> = Vec::new();
    for words in &of(taken).words {
        if words.text == "…" || words.text.parse::<u32>().is_ok() && words.at.x < 0.3 * taken.layout.area.right() {
            rows.push((words.at.y, &words.text));
        }
    }
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    rows.into_iter().map(|(_, text)| text).collect()
}

#[test]
fn the_text_between_lines_is_there_where_the_source_is() {
    let mut studio = with_sources();
    let mut exhibit = SourceExhibit::new(&studio);
    let taken = shown(&mut exhibit, &mut studio, [1280, 2000], 0);
    // What is before the first line, between near ones, around far ones; up to the empty line that is between functions, and to the end.
    let f = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "…", "26", "27", "28", "29", "30", "31"];
    let g = ["33", "34", "35", "36", "37", "38", "39", "40"];
    assert_eq!(numbers(&taken), [&f[..], &g[..]].concat());
    for text in ["line 4;", "line 3;", "16 lines without references"] {
        assert!(words(&taken).contains(&text), "{text} in {:?}", words(&taken));
    }
    // Only lines with references are rows that are clicked, and by a number they stand alone.
    assert_eq!(lines(&taken), [0, 1, 2, 3]);
    exhibit.sort(1);
    let by_number = shown(&mut exhibit, &mut studio, [1280, 2000], 99);
    assert!(!words(&by_number).contains(&"line 4;"), "{:?}", words(&by_number));
    exhibit.sort(1);
    exhibit.sort(1);
    // Folded, a function shows none of its text.
    exhibit.fold(&studio, 0);
    assert_eq!(numbers(&shown(&mut exhibit, &mut studio, [1280, 2000], 0)), g);
    studio.set_sources(&SourceTexts::default());
    exhibit.fold(&studio, 0);
    assert_eq!(numbers(&shown(&mut exhibit, &mut studio, [1280, 2000], 0)), ["3", "5", "30", "36"]);
}

#[test]
fn the_page_has_the_line_under_way_with_its_text_around() {
    let mut studio = with_sources();
    for (tick, line) in [(0, "3"), (2, "30"), (3, "36")] {
        let taken = plane(&mut studio, [640, 240], tick, Camera::default());
        assert!(numbers(&taken).contains(&line), "line {line} at {tick}: {:?}", numbers(&taken));
    }
}
