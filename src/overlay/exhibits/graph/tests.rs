use super::*;
use crate::analysis::{Fold, NodeKind};
use crate::axis::Position;
use crate::nest::{NestText, Settings, Walk};
use crate::overlay::Parts;
use crate::overlay::tests::studio;
use crate::sim::Hierarchy;
use crate::sim::config::preset;
use std::fmt::Write as _;
use std::sync::Arc;

/// Two sweeps over arrays, one after the other, in each of some steps.
const SWEEPS: &str = "title \"Sweeps\"\nparam N = 8\nparam T = 3\narray A[N, N] of f64\narray B[N, N] of f64\n\
for t in 0..T { for i in 0..N, j in 0..N { B[i, j] = A[i, j] * 2 }\n for i in 0..N, j in 0..N { A[i, j] += B[j, i] } }";

fn of_loops(text: &str) -> Studio {
    let text = NestText { name: "t.loops".into(), text: text.into(), settings: Settings::default(), is_graph: false };
    let walk = Walk::new(text.nest().expect("read"), 64).expect("counted").of_text(text);
    let hierarchy = Hierarchy::new(&preset("paper").expect("a preset")).expect("sound");
    Studio::new(Arc::new(walk), hierarchy, &mut |_, _| true).expect("in memory")
}

/// Pipelines of `count` loops with three statements each.
fn pipeline(count: usize) -> String {
    let mut text = String::from("param N = 4\n");
    for n in 0..=count {
        let _ = writeln!(text, "array A{n}[N] of f64");
    }
    for n in 0..count {
        let next = n + 1;
        let _ =
            writeln!(text, "for i{n} in 0..N {{ A{next}[i{n}] = A{n}[i{n}]\n A{next}[i{n}] += 1\n A{n}[i{n}] *= 2 }}");
    }
    text
}

fn take(exhibit: &mut GraphExhibit, studio: &mut Studio, size: [u32; 2], at: f64, camera: Camera) -> Taken {
    let view = View { camera, ..View::default() };
    Shot::still(size, Position::of(at), view, Parts::default()).take(studio, exhibit).expect("in memory")
}

fn words(taken: &Taken) -> Vec<&str> {
    let Picture::Plane(plane) = &taken.picture else { panic!("a graph is flat") };
    let within = plane.inset.as_deref().map_or(&[][..], |(_, plane)| &plane.words);
    plane.words.iter().chain(within).map(|words| words.text.as_str()).collect()
}

fn laid(exhibit: &GraphExhibit) -> &LaidGraph {
    exhibit.laid.as_ref().expect("drawn")
}

/// The middle of the box of this name, and its number.
fn middle(exhibit: &GraphExhibit, name: &str, nth: usize) -> (Pos2, usize) {
    let laid = laid(exhibit);
    let all = laid.drawn.graph.nodes.iter().enumerate().filter(|(_, node)| node.name == name);
    let (number, _) = all.clone().nth(nth).unwrap_or_else(|| panic!("{name} in {:?}", laid.drawn.graph.nodes));
    (laid::area(exhibit.seen.2.expect("drawn"), &laid.drawn.boxes[number]).center(), number)
}

#[test]
fn what_moves_is_told_as_expressions_and_a_click_goes_to_the_first_access() {
    let mut studio = of_loops(SWEEPS);
    let mut exhibit = GraphExhibit::new(&studio);
    for size in [[1280, 720], [640, 360]] {
        let taken = take(&mut exhibit, &mut studio, size, 10.0, Camera::default());
        let said = words(&taken);
        for part in ["Sweeps", "volume", "histogram", "T * N * N * 8 = 1,536 B", "for t, i, j"] {
            assert!(said.iter().any(|words| words.contains(part)), "{part} at {size:?} in {said:?}");
        }
        assert_eq!(laid(&exhibit).drawn.graph.fold, Fold::Tasks, "{size:?}");
        let (at, _) = middle(&exhibit, "A[i, j] += B[j, i]", 0);
        let tip = exhibit.pick(&studio, &taken, at, 4.0).expect("a box is there");
        // 64 times a read and a write come first.
        assert_eq!(tip.about, Some(Target::Tick(128)), "{tip:?}");
        assert!(tip.lines.contains(&"bytes T * N * N * 24 = 4,608 B".to_owned()), "{tip:?}");
        assert!(tip.lines.iter().any(|line| line.starts_with("t.loops:")), "{tip:?}");
        let Picture::Plane(plane) = &taken.picture else { panic!("flat") };
        let pressed = plane.rows.iter().filter(|(area, _)| area.contains(at)).map(|(_, target)| *target);
        assert_eq!(pressed.collect::<Vec<_>>(), [Target::Tick(128)]);
        // Between A and the first loops.
        let path = &laid(&exhibit).drawn.paths[0];
        let at = exhibit.seen.2.expect("drawn").at(path[path.len() / 2]);
        let tip = exhibit.pick(&studio, &taken, at, 4.0).expect("an arrow is there");
        assert_eq!(tip.title, "A to t, i, j", "{tip:?}");
    }
    let taken = take(&mut exhibit, &mut studio, [1280, 720], 10.0, Camera::default());
    let csv = exhibit.csv(&studio, &taken);
    assert!(csv.contains("task,\"A[i, j] += B[j, i]\",\"\",192,192,4608,\"T * N * N * 24\""), "{csv}");
}

#[test]
fn what_is_done_is_framed_with_the_array_that_is_touched() {
    let mut studio = of_loops(SWEEPS);
    let mut exhibit = GraphExhibit::new(&studio);
    // Of the second sweep in the first step: B is read, then A is updated.
    for (tick, array) in [(128.0, "B"), (129.0, "A")] {
        let taken = take(&mut exhibit, &mut studio, [1280, 720], tick, Camera::default());
        let laid = laid(&exhibit);
        let lit = laid.lit(&studio, &taken.info);
        let names: Vec<(NodeKind, &str)> = laid
            .drawn
            .graph
            .nodes
            .iter()
            .zip(&lit)
            .filter(|(_, lit)| **lit)
            .map(|(node, _)| (node.kind, node.name.as_str()))
            .collect();
        assert!(names.contains(&(NodeKind::Task, "A[i, j] += B[j, i]")), "{names:?}");
        assert!(!names.contains(&(NodeKind::Task, "B[i, j] = A[i, j] * 2")), "{names:?}");
        let arrays: Vec<&str> =
            names.iter().filter(|(kind, _)| *kind == NodeKind::Container).map(|(_, name)| *name).collect();
        assert!(!arrays.is_empty() && arrays.iter().all(|name| *name == array), "{tick}: {names:?}");
    }
    let end = take(&mut exhibit, &mut studio, [1280, 720], 1e9, Camera::default());
    assert!(laid(&exhibit).lit(&studio, &end.info).iter().all(|lit| !lit), "nothing is done at the end");
}

#[test]
fn large_graphs_are_folded_until_somebody_looks_closer_or_opens_a_part() {
    let mut studio = of_loops(&pipeline(24));
    let mut exhibit = GraphExhibit::new(&studio);
    take(&mut exhibit, &mut studio, [1280, 720], 10.0, Camera::default());
    let folded = laid(&exhibit).drawn.graph.nodes.len();
    assert!(laid(&exhibit).drawn.graph.fold > Fold::Tasks);
    let close = Camera { at: [0.0, 0.0], zoom: 8.0 };
    take(&mut exhibit, &mut studio, [1280, 720], 10.0, close);
    assert_eq!(laid(&exhibit).drawn.graph.fold, Fold::Tasks, "closer up there is room");
    assert!(laid(&exhibit).drawn.graph.nodes.len() > folded + 48);
    // One part is opened in the whole picture, and stays so in another exhibit.
    take(&mut exhibit, &mut studio, [1280, 720], 10.0, Camera::default());
    let part = GraphPart { fold: Fold::Loops, item: 3 };
    let state = GraphPart { fold: Fold::States, item: 3 };
    for of in [state, part] {
        if !laid(&exhibit).folding.is_open(of) {
            exhibit.turn_part(of);
        }
    }
    let mut other = GraphExhibit::new(&studio);
    other.arrange(exhibit.arranged());
    let taken = take(&mut other, &mut studio, [1280, 720], 10.0, Camera::default());
    let tasks = |exhibit: &GraphExhibit| {
        laid(exhibit)
            .drawn
            .graph
            .nodes
            .iter()
            .filter(|node| node.kind == NodeKind::Task)
            .map(|n| n.name.clone())
            .collect()
    };
    let found: Vec<String> = tasks(&other);
    assert_eq!(found, ["A4[i3] = A3[i3]", "A4[i3] += 1", "A3[i3] *= 2"]);
    assert!(words(&taken).contains(&"A4[i3] += 1"), "the outline has it too");
    other.turn_part(part);
    take(&mut other, &mut studio, [1280, 720], 10.0, Camera::default());
    assert!(tasks(&other).is_empty());
}

#[test]
fn measures_and_scales_are_chosen_by_their_names() {
    let mut studio = of_loops(SWEEPS);
    let mut exhibit = GraphExhibit::new(&studio);
    assert_eq!(exhibit.arranged(), Arranged::default());
    let taken = take(&mut exhibit, &mut studio, [1280, 720], 10.0, Camera::default());
    let Picture::Plane(plane) = &taken.picture else { panic!("flat") };
    let columns: Vec<&str> = plane
        .rows
        .iter()
        .filter_map(|(_, target)| match target {
            Target::Column(_, name) => Some(*name),
            _ => None,
        })
        .collect();
    assert_eq!(columns[..4], ["volume mean", "operations mean", "intensity mean", "volume mean"]);
    for (n, column) in COLUMNS.iter().enumerate() {
        let (heat, scale) = told(n);
        assert_eq!(column.name, format!("{} {}", heat.name(), scale.name()));
        let row = crate::overlay::exhibits::named("graph").expect("there is one");
        exhibit.arrange(Arranged { sort: Some(row.sort(&column.word()).expect("a column")), ..Arranged::default() });
        let taken = take(&mut exhibit, &mut studio, [900, 600], 10.0, Camera::default());
        assert!(words(&taken).contains(&scale.name()));
        assert_eq!(laid(&exhibit).drawn.legend.contains(heat.words()), heat != NodeHeat::Volume, "{}", column.name);
    }
}

#[test]
fn nothing_leaves_its_place_at_any_size_and_closeness() {
    let mut studio = of_loops(&pipeline(12));
    let mut exhibit = GraphExhibit::new(&studio);
    for size in [[1280, 720], [640, 360], [320, 240], [360, 800], [3840, 2160]] {
        for zoom in [1.0, 3.0, 16.0] {
            let camera = Camera { at: [if zoom > 1.0 { 30.0 } else { 0.0 }, 10.0 * (zoom - 1.0)], zoom };
            let taken = take(&mut exhibit, &mut studio, size, 10.0, camera);
            let Picture::Plane(plane) = &taken.picture else { panic!("flat") };
            let area = taken.layout.area.expand(0.5);
            let (window, _) = plane.inset.as_deref().expect("a graph");
            assert!(area.contains_rect(*window), "{size:?}");
            assert!(plane.rows.iter().all(|(row, _)| area.contains_rect(*row)), "{size:?} {zoom}");
            assert!(plane.words.iter().all(|words| area.contains(words.at)), "{size:?} {zoom}");
        }
    }
    // Gestures: closer around a place, moved, whole again.
    let taken = take(&mut exhibit, &mut studio, [1280, 720], 10.0, Camera::default());
    let close = exhibit.look(Camera::default(), Gesture::Closer(4.0, None), &taken);
    assert!((close.zoom - 4.0).abs() < 1e-6 && close.at[0] > 0.0 && close.at[1] > 0.0, "{close:?}");
    let moved = exhibit.look(close, Gesture::Drag(vec2(-100.0, 1e6)), &taken);
    assert!(moved.at[0] > close.at[0] && moved.at[1] == 0.0, "{moved:?}");
    assert!(exhibit.look(moved, Gesture::Whole, &taken).is_whole());
}

#[test]
fn a_trace_without_loops_says_so_and_loops_of_unknown_text_too() {
    let mut plain = studio();
    let mut exhibit = GraphExhibit::new(&plain);
    let taken = take(&mut exhibit, &mut plain, [900, 600], 10.0, Camera::default());
    assert!(words(&taken).contains(&"This trace is made of no loops."));
    // In the window somebody else reads the loops.
    let mut studio = of_loops(SWEEPS);
    studio.answer_elsewhere();
    let mut exhibit = GraphExhibit::new(&studio);
    let taken = take(&mut exhibit, &mut studio, [900, 600], 10.0, Camera::default());
    assert!(words(&taken).contains(&"The loops are being read."));
    let asked = studio.wanted_answer(true, false).expect("asked for");
    assert!(studio.wanted_answer(true, false).is_none(), "told once");
    assert!(studio.take_answer(&asked.timeline, asked.answer(&|| true).expect("read")));
    let taken = take(&mut exhibit, &mut studio, [900, 600], 10.0, Camera::default());
    assert!(words(&taken).iter().any(|words| words.contains("Sweeps")));
}

#[test]
fn values_follow_a_parameter_at_once_and_what_plays_stays() {
    let mut studio = of_loops(&SWEEPS.replace("param N = 8", "param N = 8 in 2..=32"));
    let mut exhibit = GraphExhibit::new(&studio);
    let taken = take(&mut exhibit, &mut studio, [1280, 720], 10.0, Camera::default());
    let Picture::Plane(plane) = &taken.picture else { panic!("flat") };
    let stops = |number: u8, plane: &Plane| {
        let of = plane.rows.iter().filter_map(|(_, target)| match target {
            Target::Parameter(n, value) if *n == number => Some(*value),
            _ => None,
        });
        of.collect::<Vec<_>>()
    };
    assert_eq!(stops(0, plane), [2, 4, 8, 16, 32], "within its range");
    assert_eq!(stops(1, plane)[..4], [1, 2, 3, 4], "its own value is among them");
    exhibit.set_parameter(&studio, 0, 16);
    for _ in 0..2 {
        let taken = take(&mut exhibit, &mut studio, [1280, 720], 10.0, Camera::default());
        let said = words(&taken);
        for part in ["T * N * N * 8 = 6,144 B", "N = 16", "what plays has N = 8"] {
            assert!(said.contains(&part), "{part} in {said:?}");
        }
        assert_eq!(taken.info.len, 1152 / 6 * 4, "{said:?}");
        // As a pane hands it on that is made anew.
        let arranged = exhibit.arranged();
        exhibit = GraphExhibit::new(&studio);
        exhibit.arrange(arranged);
    }
    // A value that cannot be: the last numbers stay, and it is said.
    exhibit.parameters.set.insert("N".into(), 64);
    let taken = take(&mut exhibit, &mut studio, [1280, 720], 10.0, Camera::default());
    assert!(words(&taken).iter().any(|words| words.contains("64") && words.contains("32")), "{:?}", words(&taken));
    exhibit.set_parameter(&studio, 0, 8);
    let taken = take(&mut exhibit, &mut studio, [1280, 720], 10.0, Camera::default());
    assert!(words(&taken).contains(&"T * N * N * 8 = 1,536 B"));
    assert_eq!(exhibit.arranged(), Arranged::default());
}
