use super::super::{Exhibit, MachineExhibit, Picture, Subject, TaskExhibit, TaskView, offered};
use crate::axis::Position;
use crate::overlay::pen::Target;
use crate::overlay::plane::Plane;
use crate::overlay::{Parts, Playback, Shot, Stretch, Studio, Taken};
use crate::render::Bar;
use crate::scene::machine::MachineStage;
use crate::scene::motion::position_at;
use crate::scene::{View, cubehelix};
use crate::tasks::metrics::Edges;
use crate::tasks::{NewTask, TaskBook, TaskId, TaskIndex, TaskLook, TaskSetBuilder};
use egui::{Rect, pos2};
use std::sync::Arc;

/// `(parent, category, action, location, start, end)`; ids count from 1.
type Line = (u64, &'static str, &'static str, &'static str, u64, u64);

const LINES: [Line; 8] = [
    (0, "wavefront", "wavefront", "GPU[1].CU", 0, 9_000),
    (1, "inst", "VMem", "GPU[1].CU", 1_000, 4_000),
    (2, "req_out", "*mem.ReadReq", "GPU[1].CU", 1_100, 3_900),
    (3, "req_in", "*mem.ReadReq", "GPU[1].L1[0]", 1_200, 3_800),
    (4, "req_out", "*mem.ReadReq", "GPU[1].L1[0]", 1_300, 3_700),
    (5, "req_in", "*mem.ReadReq", "GPU[1].L2[0]", 1_400, 3_600),
    (1, "inst", "VALU", "GPU[1].CU", 2_000, 2_500),
    (0, "req_in", "*mem.ReadReq", "GPU[1].L1[0]", 2_000, 3_000),
];

fn book(lines: &[Line]) -> TaskBook {
    let mut builder = TaskSetBuilder::new(1_000_000_000);
    for (n, &(parent, category, action, location, start, end)) in (1..).zip(lines) {
        let (category, action) = (builder.word(category), builder.word(action));
        let location = builder.location(location);
        let (id, parent) = (TaskId::Number(n), (parent > 0).then_some(TaskId::Number(parent)));
        let parent = parent.as_ref();
        builder.push(NewTask { id: &id, parent, category, action, location, start, end }).expect("few");
    }
    TaskBook::new(builder.finish().set, Edges::Neither, "a run", "")
}

fn task(studio: &Studio, id: &str) -> TaskIndex {
    studio.tasks().expect("tasks").set().find(id).expect("there")
}

fn studio(lines: &[Line]) -> Studio {
    Studio::of_tasks(book(lines)).expect("an empty trace")
}

fn taken(studio: &mut Studio, view: TaskView, look: TaskLook, stretch: Stretch, size: [u32; 2]) -> Taken {
    let view_of = View { tasks: Arc::new(look), ..View::default() };
    let shot = Shot::still(size, Position::at(2_000), view_of, Parts::default());
    let shot = Shot { playback: Playback { stretch, ..Playback::default() }, ..shot };
    shot.take(studio, &mut TaskExhibit::new(view)).expect("in memory")
}

fn plane(taken: &Taken) -> &Plane {
    match &taken.picture {
        Picture::Plane(plane) => plane,
        Picture::Machine(_, plane) => plane,
        Picture::Rings(_) | Picture::Solids(..) => panic!("tasks are a plane"),
    }
}

fn rows(plane: &Plane) -> Vec<(Rect, TaskIndex)> {
    let of_task = |(area, target): &(Rect, Target)| match target {
        Target::Task(task) => Some((*area, *task)),
        _ => None,
    };
    plane.rows.iter().filter_map(of_task).collect()
}

fn said(plane: &Plane, words: &str) -> bool {
    plane.words.iter().any(|shown| shown.text.contains(words))
}

#[test]
fn bars_stand_where_their_times_are_and_those_within_others_inside_them() {
    let mut studio = studio(&LINES);
    let book = Arc::clone(studio.tasks().expect("tasks"));
    let look = TaskLook { location: book.location_named("CU"), ..TaskLook::default() };
    let taken = taken(&mut studio, TaskView::Component, look, Stretch::default(), [1280, 720]);
    let plane = plane(&taken);
    let bars = rows(plane);
    // The wavefront, in it two instructions, in one of them a request: each at its own times.
    assert_eq!(bars.len(), 4);
    let chart = plane.times[0];
    for &(bar, task) in &bars {
        let set = book.set();
        let at = |tick: u64| chart.left() + chart.width() * (tick as f32 / 9_000.0);
        assert!((bar.left() - at(set.start(task))).abs() < 1.0, "{}", set.id(task));
        assert!((bar.right() - at(set.end(task))).abs() < 1.0, "{}", set.id(task));
    }
    let bar = |id: &str| bars.iter().find(|(_, at)| *at == task(&studio, id)).expect("drawn").0;
    assert!(bar("1").contains_rect(bar("2")) && bar("1").contains_rect(bar("7")) && bar("2").contains_rect(bar("3")));
    assert_eq!(bar("2").height(), bar("7").height(), "those of one level are equally high");
    assert!(!bar("2").intersects(bar("7")), "they overlap in time, and not in the picture");
    // What is under the pointer is the innermost one.
    let exhibit = TaskExhibit::new(TaskView::Component);
    let tip = exhibit.pick(&studio, &taken, bar("3").center(), 6.0).expect("a bar");
    assert_eq!((tip.about, tip.title.as_str()), (Some(Target::Task(task(&studio, "3"))), "req_out  *mem.ReadReq"));
    for words in ["GPU[1].CU", "start  1.10 µs", "took  2.80 µs", "part of  inst  VMem", "parts  1", "id  3"] {
        assert!(tip.lines.iter().any(|line| line == words), "{words} in {:?}", tip.lines);
    }
}

#[test]
fn a_task_stands_below_what_it_is_a_part_of_and_above_its_parts() {
    let mut studio = studio(&LINES);
    let look = TaskLook { task: Some(task(&studio, "4")), ..TaskLook::default() };
    let listed = |taken: &Taken, studio: &Studio| -> Vec<String> {
        let set = studio.tasks().expect("tasks").set();
        let mut rows = rows(plane(taken));
        rows.sort_by(|a, b| a.0.top().total_cmp(&b.0.top()));
        rows.iter().map(|(_, task)| set.id(*task)).collect()
    };
    let whole = taken(&mut studio, TaskView::Task, look.clone(), Stretch::default(), [1280, 720]);
    assert_eq!(listed(&whole, &studio), ["1", "2", "3", "4", "5", "6"], "from the wavefront to the bank is one line");
    // In little room what is outermost gives way, the task and its parts do not.
    let small = taken(&mut studio, TaskView::All, look.clone(), Stretch::default(), [640, 360]);
    let set = studio.tasks().expect("tasks").set();
    let tree: Vec<String> =
        rows(plane(&small)).into_iter().filter(|(area, _)| area.left() > 300.0).map(|(_, task)| set.id(task)).collect();
    assert!(tree.contains(&"4".to_owned()) && tree.contains(&"5".to_owned()), "{tree:?}");
    assert!(!tree.contains(&"1".to_owned()) && said(plane(&small), "part of "), "{tree:?}");
    let none = taken(&mut studio, TaskView::Task, TaskLook::default(), Stretch::default(), [1280, 720]);
    assert!(said(plane(&none), "none is chosen"));
}

#[test]
fn colours_stay_whatever_is_in_sight() {
    let mut studio = studio(&LINES);
    let book = Arc::clone(studio.tasks().expect("tasks"));
    let kinds = book.kinds();
    let axis = studio.axis();
    let part = Stretch::default().closer(axis, 3.0, Position::at(1_500));
    for stretch in [Stretch::default(), part] {
        for filter in ["", "L2"] {
            let look =
                TaskLook { location: book.location_named("L1[0]"), filter: filter.into(), ..TaskLook::default() };
            let taken = taken(&mut studio, TaskView::Component, look, stretch, [1280, 720]);
            for (area, task) in rows(plane(&taken)) {
                let ink = cubehelix::color(book.kind(task), kinds.len());
                let is_it = |bar: &Bar| {
                    bar.color == ink
                        && (bar.sides[0] - area.left()).abs() < 0.1
                        && (bar.sides[1] - area.top()).abs() < 0.1
                };
                let found = plane(&taken).bars.iter().any(is_it);
                let inner = book.set().task(task).category == "req_out";
                assert!(found || inner, "{} in its own colour", book.set().id(task));
            }
        }
    }
}

#[test]
fn charts_are_of_the_locations_that_match_and_a_wrong_expression_is_said() {
    let mut studio = studio(&LINES);
    let charted = |studio: &mut Studio, filter: &str| {
        let look = TaskLook { filter: filter.into(), ..TaskLook::default() };
        let taken = taken(studio, TaskView::Overview, look, Stretch::default(), [1280, 720]);
        let plane = plane(&taken).clone();
        let area = plane.times.clone();
        for line in &plane.lines {
            assert!(area.iter().any(|chart| line.points.iter().all(|at| chart.expand(1.0).contains(*at))));
        }
        (plane.times.len(), plane)
    };
    assert_eq!(charted(&mut studio, "").0, 3);
    let (count, plane) = charted(&mut studio, "l[12]");
    assert_eq!(count, 2);
    assert!(said(&plane, "2 of 3 match") && said(&plane, "L1[0]") && !said(&plane, "CU"));
    let (count, plane) = charted(&mut studio, "L1(");
    assert_eq!(count, 3, "what is good is shown");
    assert!(said(&plane, "unclosed group"));
}

#[test]
fn a_crowd_is_drawn_as_its_number() {
    let lines: Vec<Line> = (0..45_000).map(|n| (0, "req_in", "ReadReq", "L2", n * 10, n * 10 + 25)).collect();
    let mut studio = studio(&lines);
    let taken_whole = taken(&mut studio, TaskView::Component, TaskLook::default(), Stretch::default(), [1280, 720]);
    assert!(said(plane(&taken_whole), "45,000 tasks here: their number"));
    assert!(rows(plane(&taken_whole)).is_empty() && plane(&taken_whole).bars.len() < 2_000);
    // Closer in they are bars, and only those in sight are laid out.
    let near = Stretch::default().closer(studio.axis(), 1_000.0, Position::at(200_000));
    let taken = taken(&mut studio, TaskView::Component, TaskLook::default(), near, [1280, 720]);
    let bars = rows(plane(&taken));
    assert!((40..60).contains(&bars.len()), "{}", bars.len());
}

#[test]
fn nothing_leaves_the_picture_at_any_size() {
    let mut studio = studio(&LINES);
    let look = TaskLook { task: Some(task(&studio, "6")), ..TaskLook::default() };
    for view in [TaskView::All, TaskView::Overview, TaskView::Component, TaskView::Task, TaskView::Topology] {
        for size in [[1280, 720], [640, 360], [400, 300], [720, 1280], [1920, 1080], [200, 120]] {
            let taken = taken(&mut studio, view, look.clone(), Stretch::default(), size);
            let sight = Rect::from_min_max(pos2(0.0, 0.0), pos2(size[0] as f32, taken.layout.strip.top())).expand(0.5);
            let plane = plane(&taken);
            for bar in &plane.bars {
                let [x0, y0, x1, y1] = bar.sides;
                let area = Rect::from_min_max(pos2(x0, y0), pos2(x1, y1));
                assert!(sight.contains_rect(area), "{view:?} at {size:?}: {area:?}");
            }
            let words =
                plane.words.iter().all(|words| words.at.y < size[1] as f32 && words.at.x < size[0] as f32 + 1.0);
            assert!(words, "{view:?} at {size:?}");
        }
    }
}

#[test]
fn a_file_without_tasks_and_a_trace_say_so() {
    let mut none = studio(&[]);
    for row in offered(Subject::Tasks) {
        let mut exhibit = (row.open)(&none);
        let shot = Shot::still([640, 360], Position::START, View::default(), Parts::default());
        let taken = shot.take(&mut none, exhibit.as_mut()).expect("in memory");
        assert!(said(plane(&taken), "the file has no tasks"), "{}", row.name);
    }
    let mut trace = crate::overlay::tests::studio();
    let empty = taken(&mut trace, TaskView::All, TaskLook::default(), Stretch::default(), [640, 360]);
    assert!(said(plane(&empty), "there are no tasks"));
}

#[test]
fn the_numbers_of_all_locations_are_copied() {
    let mut studio = studio(&LINES);
    let taken = taken(&mut studio, TaskView::Overview, TaskLook::default(), Stretch::default(), [1280, 720]);
    let text = TaskExhibit::new(TaskView::Overview).csv(&studio, &taken);
    let mut lines = text.lines();
    assert!(lines.next().is_some_and(|head| head.starts_with("location,ReqInCount,")));
    let rows: Vec<&str> = lines.collect();
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().any(|row| row.starts_with("\"GPU[1].L1[0]\",")), "{rows:?}");
}

#[test]
fn dots_and_sectors_of_rings_are_told_and_chosen() {
    let mut studio = studio(&LINES);
    let shot = Shot::still([1280, 720], Position::at(2_000), View::default(), Parts::default());
    let mut exhibit = MachineExhibit::default();
    let taken = shot.take(&mut studio, &mut exhibit).expect("in memory");
    let Picture::Machine(scene, plane) = &taken.picture else { panic!("rings") };
    let told: Vec<&str> = plane.words.iter().map(|words| words.text.as_str()).collect();
    assert!(["a run", "L1", "L2", "CU"].iter().all(|words| told.contains(words)), "{told:?}");
    let mut chosen = Vec::new();
    for glyph in &scene.glyphs {
        let at = taken.layout.at(position_at(&[], &glyph.flight, scene.now));
        let tip = exhibit.pick(&studio, &taken, at, 1.0).expect("a dot");
        if let Some(Target::Task(task)) = tip.about {
            assert!(tip.around.is_some_and(|(center, _)| (center - at).length() < 3.0));
            chosen.push(studio.tasks().expect("tasks").set().id(task));
        }
    }
    chosen.sort();
    // The requests under way, where they are served; the unit itself is the middle.
    assert_eq!(chosen, ["4", "6", "8"]);
    // Beside the dots of the outermost ring, its component.
    let stage = MachineStage::new(studio.tasks().expect("tasks")).expect("three components");
    let ring = stage.layout().rings.last().expect("a ring");
    let r = 0.5 * (ring.r0 + ring.r1);
    let at = taken.layout.at([r * 2.4f32.cos(), r * 2.4f32.sin()]);
    let tip = exhibit.pick(&studio, &taken, at, 1.0).expect("a sector");
    let location = studio.tasks().expect("tasks").location_named("L2[0]");
    assert_eq!(tip.about, location.map(Target::Location));
    assert!(tip.lines[0].starts_with("now 1 there, 0 at its port"), "{:?}", tip.lines);
    // Who is chosen is ringed, with all that it is a part of.
    let look = TaskLook { task: studio.tasks().expect("tasks").set().find("6"), location, ..TaskLook::default() };
    let view = View { tasks: Arc::new(look), ..View::default() };
    let taken = Shot { view, ..shot }.take(&mut studio, &mut exhibit).expect("in memory");
    let Picture::Machine(_, plane) = &taken.picture else { panic!("rings") };
    assert_eq!(plane.lines.len(), 2 + 1, "two requests; the outline of a component");
}
