//! The window without a display: a pane of each exhibit, the bar with the card of the caches, the start page, the list of keys and the
//! finder, in a roomy window and in a small one. Each is drawn smaller than it is seen, so that references stay small.
//!
//! To accept new pictures: `GOLDEN_UPDATE=1 cargo test --test pictures window` (it rewrites those that fail).

use crate::support::device::device;
use crate::support::golden::{Adapter, Harness, Picture as Golden};
use crate::support::scene::paper;
use egui::{Pos2, RawInput, Rect, Ui, ViewportId, vec2};
use orrery::app::desk::Desk;
use orrery::app::keys::Action;
use orrery::app::start::{Lesson, RecentFile, StartPage};
use orrery::app::{panel, start_panel};
use orrery::axis::Position;
use orrery::kernel::{Extent, KEPT, KernelBook, Launch, Program};
use orrery::machine::gpu::{self, GpuConfig, Job, KernelEntry, simulate};
use orrery::opening::{KernelFile, kernel_tasks};
use orrery::overlay::exhibits::{EXHIBITS, ExhibitEntry, Subject, named};
use orrery::overlay::{Baseline, Parts, Studio, Words, fonts};
use orrery::render::{Bar, Context, Painter, Target, Viewport, target};
use orrery::scene::solids::Facets;
use orrery::scene::{Scene, View};
use orrery::sim::Hierarchy;
use orrery::sim::config::{HierarchyConfig, preset};
use orrery::tasks::metrics::Edges;
use orrery::tasks::{FirstSight, TaskBook};
use orrery::trace;
use orrery::units::ByteRange;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Sizes of windows, points; and pixels a point.
const SIZES: [([u32; 2], f32); 2] = [([1280, 720], 0.25), ([640, 360], 0.375)];

fn studio(caches: Hierarchy) -> Studio {
    studio_of("lesson:matmul16", caches)
}

fn studio_of(name: &str, caches: Hierarchy) -> Studio {
    let source = Arc::from(trace::open(Path::new(name), None).expect("bundled"));
    Studio::new(source, caches, &mut |_, _| true).expect("readable")
}

/// A small kernel on a small GPU, from the dispatcher to the channels.
fn tasks() -> Studio {
    let config = GpuConfig { arrays: 1, units: 2, banks: 2, ..gpu::preset("r9nano").expect("there") };
    let program = KernelEntry::named("transpose").expect("there").with(&[("N".into(), 32)]).expect("sound");
    let run = simulate(&config, &mut Job::alone("transpose", program), true, &mut |_, _| true).expect("it runs");
    let book = TaskBook::new(run.tasks.expect("kept"), Edges::Neither, "transpose", "a small GPU");
    let first = FirstSight { look: book.first_look(), ..FirstSight::default() };
    Studio::of_tasks(book.with_first(first)).expect("an empty trace")
}

/// A bundled kernel, as `orrery kernel:reduce-strided` shows it; for images and values one that has them.
fn kernel(exhibit: &ExhibitEntry) -> Studio {
    let name = match exhibit.name {
        "kernel-image" => "transpose-naive",
        "kernel-values" => "reduce-sequential",
        _ => "reduce-strided",
    };
    let file = KernelFile::open(Path::new(&format!("kernel:{name}"))).expect("bundled");
    let program = Program::new(&file.name, &file.text, None, &file.settings.set).expect("read");
    // Groups past the end of what is added up do less.
    let few = if exhibit.name == "kernel-groups" { vec!["n=700".to_owned()] } else { Vec::new() };
    let bound = file.contents(&few).expect("bound");
    let items = if name == "transpose-naive" { [64, 64, 1] } else { [1024, 1, 1] };
    let launch = Launch { bound, ..Launch::of(Extent::Items(items)) };
    let book = KernelBook::play(&program, &launch, 0..16, KEPT).expect("runs");
    let tasks = kernel_tasks(&book, name);
    Studio::of_kernel(Arc::new(book), tasks).expect("an empty trace")
}

fn desk(exhibit: &'static ExhibitEntry, subject: Subject) -> Desk {
    if subject == Subject::Tasks {
        let tasks = tasks();
        let position = tasks.first_position();
        return Desk::new(tasks, View::default(), Parts::default(), &[exhibit], position, 100.0);
    }
    if subject == Subject::Kernel {
        let kernel = kernel(exhibit);
        return Desk::new(kernel, View::default(), Parts::default(), &[exhibit], Position::at(10), 9.0);
    }
    // Four cores, so that there is something remote.
    if ["plane", "scatter", "iso", "tube"].contains(&exhibit.name) {
        let four = HierarchyConfig { cores: 4, ..preset("paper").expect("there") };
        let (nest, tick) = if exhibit.name == "iso" { ("loops:stencil?N=8", 2600) } else { ("loops:gauss", 688) };
        let studio = studio_of(nest, Hierarchy::new(&four).expect("a shape that there is"));
        let position = Position::at(if exhibit.name == "scatter" { 400 } else { tick });
        return Desk::new(studio, View::default(), Parts::default(), &[exhibit], position, 100.0);
    }
    let mut this = studio(paper());
    let other = Hierarchy::new(&preset("textbook").expect("there")).expect("a shape that there is");
    this.compare_with(Some(Baseline::caches(studio(other))));
    Desk::new(this, View::default(), Parts::default(), &[exhibit], Position::at(2613), 100.0)
}

fn page() -> StartPage {
    let mut page = StartPage {
        lessons: vec![
            Lesson { name: "array_init", look: "A stream of stores: each line misses once, then hits." },
            Lesson { name: "matmul16", look: "The walk down B's columns misses again and again." },
        ],
        ..StartPage::default()
    };
    let file = |path: &str, about| RecentFile { path: path.into(), about };
    page.show(vec![
        file("/home/ada/heat.orrery", Some((34_000, Duration::from_secs(7200)))),
        file("/home/ada/gone.lackey", None),
    ]);
    page.message = Some("notes.txt:1: found no trace; expected one of the formats that `orrery formats` lists".into());
    page
}

/// What lies under the words of a window.
#[derive(Default)]
struct Under {
    bars: Vec<Bar>,
    /// What the rings show, and where, points.
    rings: Option<(Scene, Viewport)>,
    /// Solids, in their places, points.
    solids: Option<Facets>,
}

/// Who shows something in a window of a size.
type Show = Box<dyn FnMut(&mut Ui, [u32; 2]) -> Under>;

/// What lies under the words of a desk with one pane.
fn under(desk: &Desk) -> Under {
    let pane = desk.pane();
    let rings = pane.taken().and_then(|taken| Some((taken.picture.scene()?.clone(), taken.layout.viewport)));
    let solids = pane.taken().and_then(|taken| taken.picture.solids().cloned());
    Under { bars: pane.bars.clone(), rings, solids }
}

/// What is drawn, by name.
fn faces() -> Vec<(&'static str, Show)> {
    let on_desk = |action: Action| -> Show {
        let mut desk = desk(named("numbers").expect("there"), Subject::Trace);
        assert_eq!(desk.apply(action, 0.0), None, "the desk does it by itself");
        Box::new(move |ui, size| {
            let shown = panel::show(ui, &mut desk, size, 100.0);
            assert!(shown.failed.is_none(), "a bundled trace is readable");
            under(&desk)
        })
    };
    let mut page = page();
    let mut faces: Vec<(&'static str, Show)> = EXHIBITS.iter().map(|row| (row.name, pane(row, row.of[0]))).collect();
    faces.extend([
        ("machine", pane(named("rings").expect("there"), Subject::Tasks)),
        ("caches", on_desk(Action::Caches)),
        ("keys", on_desk(Action::Sheet)),
        ("meanings", on_desk(Action::Words)),
        ("finder", on_desk(Action::Finder)),
        (
            "start",
            Box::new(move |ui: &mut Ui, _: [u32; 2]| {
                assert_eq!(start_panel::show(ui, &mut page, false), None, "nobody asks for anything");
                Under::default()
            }),
        ),
    ]);
    faces
}

/// A pane with an exhibit, B's first element pinned, compared with the caches of a desk.
fn pane(row: &'static ExhibitEntry, subject: Subject) -> Show {
    let mut desk = desk(row, subject);
    if let Some(b) = desk.studio().tables().regions.get(1).map(|b| b.base) {
        desk.pin(Some(ByteRange::new(b, 8)));
    }
    Box::new(move |ui, size| {
        let shown = panel::show(ui, &mut desk, size, 100.0);
        assert!(shown.failed.is_none(), "a bundled trace is readable");
        assert_eq!(desk.pane().row().name, row.name);
        // What the window has found beside it is there in the next frame.
        let wanted = [false, true].into_iter().find_map(|long| desk.session.studio_mut().wanted_answer(false, long));
        if let Some(asked) = wanted {
            let found = asked.answer(&|| true).expect("a bundled trace is readable");
            assert!(desk.session.studio_mut().take_answer(&asked.timeline, found));
        }
        under(&desk)
    })
}

/// A window of `size` points after a few frames, in which cards come to rest.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of a window's size")]
fn draw(context: &Context, show: &mut Show, size: [u32; 2], scale: f32) -> Golden {
    let [width, height] = size.map(|side| (side as f32 * scale) as u32);
    let mut target = Target::new(context, width, height).expect("a small picture");
    let (mut painter, mut words) = (Painter::new(context, target::FORMAT), Words::new(context, target::FORMAT));
    let egui = egui::Context::default();
    fonts::install(&egui);
    egui.set_visuals(egui::Visuals::dark());
    egui.global_style_mut(|style| {
        style.animation_time = 0.0;
        style.visuals.text_cursor.blink = false;
    });
    let mut rgba = Vec::new();
    for frame in 0..4 {
        let screen = Rect::from_min_size(Pos2::ZERO, vec2(size[0] as f32, size[1] as f32));
        let time = Some(f64::from(frame) * 0.1);
        let mut input = RawInput { screen_rect: Some(screen), time, ..RawInput::default() };
        input.viewports.entry(ViewportId::ROOT).or_default().native_pixels_per_point = Some(scale);
        let mut under = Under::default();
        let output = egui.run_ui(input, |ui| under = show(ui, size));
        let bars: Vec<Bar> = under.bars.iter().map(|bar| bar.scaled(scale)).collect();
        let mut encoder = context.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        match &under.rings {
            Some((scene, viewport)) => {
                painter.prepare(context, scene, &bars, &viewport.scaled(scale, [width, height]));
            }
            None => painter.prepare_solids(context, under.solids.as_ref(), &bars, (scale, [width, height])),
        }
        painter.draw(&mut encoder, target.view());
        words.draw(context, &mut encoder, target.view(), &egui, output, [width, height]);
        target.submit(context, encoder);
        assert!(target.collect(context, &mut rgba).expect("drawn"), "one is under way");
    }
    Golden { width, height, rgba }
}

#[test]
fn the_window_looks_as_it_did() {
    let Some(context) = device("window") else { return };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let update = std::env::var("GOLDEN_UPDATE").is_ok_and(|v| v == "1");
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("golden-window");
    let folder = root.join("tests/golden/window");
    let mut harness = Harness::new(&folder, &out, Adapter::of(&context.info), update);
    let mut drawn: Vec<(String, Golden)> = Vec::new();
    for (size, scale) in SIZES {
        for (name, mut show) in faces() {
            // Hundreds of words make no small reference.
            if ["keys", "meanings"].contains(&name) && size == SIZES[0].0 {
                continue;
            }
            // Nor do hundreds of dots, lines and small marks.
            let scale = if ["rings", "large", "machine", "kernel", "plane", "scatter", "iso", "tube"].contains(&name) {
                0.6 * scale
            } else {
                scale
            };
            let name = format!("{name}-{}x{}", size[0], size[1]);
            let picture = draw(&context, &mut show, size, scale);
            harness.check(&name, &picture);
            drawn.push((name, picture));
        }
    }
    for (n, (name, picture)) in drawn.iter().enumerate() {
        assert!(drawn[n + 1..].iter().all(|(_, other)| other != picture), "{name} is another one's picture too");
        let lit = picture.rgba.chunks_exact(4).filter(|pixel| pixel[0].max(pixel[1]) > 100).count();
        assert!(lit > 200, "{name}: {lit} pixels of words");
    }
    let names: Vec<String> = drawn.into_iter().map(|(name, _)| name).collect();
    assert_eq!(harness.orphans(&names), Vec::<String>::new(), "references that no picture uses");
    let summary = harness.summary();
    assert!(harness.failures.is_empty(), "{summary}\n{}", harness.failures.join("\n"));
    assert!(update || harness.compared == names.len(), "{summary} of {}", names.len());
    eprintln!("{summary}");
}
