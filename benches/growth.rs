//! How seeks and frames grow with the cache, the trail and the trace: `cargo bench --bench growth`.
//!
//! Prints three tables in Markdown, with the slope of each column in a log-log chart (0 = it does not grow, 1 = in proportion),
//! and draws the chart: docs/growth.svg, or where `GROWTH_CHART` says. Traces go to 10^8 references (a temporary file of 330 MB);
//! `GROWTH_REFERENCES=1000000000` goes on to 10^9 (3.4 GB). Frames are 1280x720, drawn on the software adapter where there is one.
#![expect(clippy::print_stdout, reason = "a bench's output is its result")]

mod common;

use orrery::axis::Position;
use orrery::overlay::{Offscreen, Parts, RingExhibit, Shot, Studio};
use orrery::reference::{MemoryTrace, Reference, ReferenceSource};
use orrery::render::Context;
use orrery::render::context::Preference;
use orrery::scene::View;
use orrery::sim::Hierarchy;
use orrery::sim::config::{HierarchyConfig, LevelConfig, Ways, preset};
use orrery::timeline::{Options, Timeline};
use orrery::trace;
use orrery::trace::synth::{Rng, mix};
use plotters::prelude::*;
use std::sync::Arc;
use std::time::Instant;

const SIZE: (u32, u32) = (1280, 720);
/// Of each figure.
const SAMPLES: u64 = 40;
/// References that caches and trails are measured with.
const REFERENCES: u64 = 4_000_000;

/// Names of the columns of a table, and its rows: what grows, and milliseconds.
struct Series {
    title: &'static str,
    grows: &'static str,
    columns: &'static [&'static str],
    rows: Vec<(f64, Vec<f64>)>,
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Milliseconds of one call.
fn timed(work: impl FnOnce()) -> f64 {
    let begun = Instant::now();
    work();
    begun.elapsed().as_secs_f64() * 1e3
}

/// What draws.
struct Screen {
    context: Context,
    offscreen: Offscreen,
}

impl Screen {
    fn new() -> Self {
        let context =
            Context::headless(Preference::Software).expect("an adapter: mesa-vulkan-drivers has one in software");
        let offscreen = Offscreen::new(&context, SIZE.into()).expect("it can hold such a picture");
        Self { context, offscreen }
    }

    /// Median milliseconds of a seek to a finished scene, and of a frame of `step` references while playing, drawn.
    fn measure(&mut self, studio: &mut Studio, view: &View, step: f64) -> Vec<f64> {
        let shot = Shot::still(SIZE.into(), Position::START, view.clone(), Parts::default());
        let strip = studio.strip(shot.layout().strip_columns());
        let len = studio.timeline().len() as f64;
        let mut rng = Rng::new(9);
        let mut rings = RingExhibit::suited(studio);
        let mut seek =
            || timed(|| drop(rings.scene(studio, Position::of(rng.unit() * len), view).expect("it can be read")));
        let seeks = (0..SAMPLES).map(|_| seek()).collect();
        let mut rgba = Vec::new();
        let mut frame = |n: u64| {
            timed(|| {
                let position = 0.5 * len + n as f64 * step;
                let shot = Shot { position: Position::of(position % len), ..shot.clone() };
                let Self { context, offscreen } = self;
                offscreen.submit(context, studio, &mut rings, &shot, &strip).expect("it can be read");
                offscreen.collect(context, &mut rgba).expect("it was submitted");
            })
        };
        frame(0);
        let frames = (1..=SAMPLES).map(frame).collect();
        vec![median(seeks), median(frames)]
    }
}

fn studio(source: Arc<dyn ReferenceSource>, config: &HierarchyConfig) -> (Studio, f64) {
    let hierarchy = Hierarchy::new(config).expect("sound");
    let begun = Instant::now();
    let timeline = Timeline::build(source, hierarchy, Options::default(), &mut |_, _| true).expect("it can be read");
    let indexed = begun.elapsed().as_secs_f64() * 1e3;
    (Studio::of(timeline).expect("it can be read"), indexed)
}

fn caches(screen: &mut Screen, source: &Arc<dyn ReferenceSource>) -> Series {
    let rows = (10..=19).map(|bits| {
        let level = LevelConfig::new("L1", 0, 64 << bits, Ways::Count(8), 64);
        let config = HierarchyConfig::new("one level", vec![level]);
        let (mut studio, _) = studio(Arc::clone(source), &config);
        (f64::from(1 << bits), screen.measure(&mut studio, &View::default(), 8.0 / 60.0))
    });
    let rows = rows.collect();
    Series { title: "cache", grows: "lines", columns: &["seek", "frame"], rows }
}

fn trails(screen: &mut Screen, source: &Arc<dyn ReferenceSource>) -> Series {
    let (mut studio, _) = studio(Arc::clone(source), &preset("textbook").expect("a preset"));
    let rows = (0..=6).map(|power| {
        let tail = 10u64.pow(power);
        let view = View { tail, speed: 60.0 * tail as f64, ..View::default() };
        (tail as f64, screen.measure(&mut studio, &view, tail as f64))
    });
    let rows = rows.collect();
    Series { title: "trail, a frame as long", grows: "references", columns: &["seek", "frame"], rows }
}

fn traces(screen: &mut Screen) -> Series {
    let most = std::env::var("GROWTH_REFERENCES").ok().and_then(|v| v.parse().ok()).unwrap_or(100_000_000u64);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let sizes = (5..=9).map(|power| 10u64.pow(power)).filter(|&n| n <= most);
    let rows = sizes.map(|n| {
        let path = folder.path().join("mix.orrery");
        common::write(&path, n);
        let source: Arc<dyn ReferenceSource> = Arc::from(trace::open(&path, None).expect("just written"));
        let (mut studio, indexed) = studio(source, &preset("textbook").expect("a preset"));
        let mut times = screen.measure(&mut studio, &View::default(), 8.0 / 60.0);
        times.push(indexed);
        (n as f64, times)
    });
    let rows = rows.collect();
    Series { title: "trace", grows: "references", columns: &["seek", "frame", "index"], rows }
}

/// Slope of a column in a log-log chart, by least squares.
fn slope(series: &Series, column: usize) -> f64 {
    let points: Vec<[f64; 2]> = series.rows.iter().map(|(x, y)| [x.ln(), y[column].ln()]).collect();
    let mean = |axis: usize| points.iter().map(|p| p[axis]).sum::<f64>() / points.len() as f64;
    let (x, y) = (mean(0), mean(1));
    let up: f64 = points.iter().map(|p| (p[0] - x) * (p[1] - y)).sum();
    up / points.iter().map(|p| (p[0] - x).powi(2)).sum::<f64>()
}

fn table(series: &Series) {
    println!("\n{}: milliseconds\n\n| {} | {} |", series.title, series.grows, series.columns.join(" | "));
    println!("|---|{}", "---|".repeat(series.columns.len()));
    for (x, times) in &series.rows {
        let times: Vec<String> = times.iter().map(|t| format!("{t:.2}")).collect();
        println!("| {x} | {} |", times.join(" | "));
    }
    let slopes: Vec<String> = (0..series.columns.len()).map(|c| format!("{:.2}", slope(series, c))).collect();
    println!("| slope | {} |", slopes.join(" | "));
}

fn chart(path: &str, all: &[Series]) -> Result<(), Box<dyn std::error::Error>> {
    let root = SVGBackend::new(path, (1200, 400)).into_drawing_area();
    root.fill(&WHITE)?;
    for (area, series) in root.split_evenly((1, all.len())).iter().zip(all) {
        let times = || series.rows.iter().flat_map(|(_, times)| times.iter().copied());
        let (low, high) = (times().fold(f64::MAX, f64::min), times().fold(0.0, f64::max));
        let ends = [series.rows.first(), series.rows.last()].map(|row| row.map_or(1.0, |(x, _)| *x));
        let mut chart = ChartBuilder::on(area)
            .caption(format!("{}: ms by {}", series.title, series.grows), ("sans-serif", 16))
            .margin(12)
            .x_label_area_size(30)
            .y_label_area_size(52)
            .build_cartesian_2d((ends[0]..ends[1]).log_scale(), (low * 0.7..high * 1.5).log_scale())?;
        chart
            .configure_mesh()
            .x_label_formatter(&|x| format!("{x:.0e}"))
            .y_label_formatter(&|y| format!("{y}"))
            .draw()?;
        for (column, name) in series.columns.iter().enumerate() {
            let color = [RGBColor(214, 64, 52), RGBColor(52, 92, 201), RGBColor(30, 140, 90)][column % 3];
            let points = series.rows.iter().map(|(x, times)| (*x, times[column]));
            chart
                .draw_series(LineSeries::new(points, color.stroke_width(2)))?
                .label(format!("{name}, slope {:.2}", slope(series, column)))
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], color.stroke_width(2)));
        }
        let place = SeriesLabelPosition::UpperLeft;
        chart.configure_series_labels().position(place).background_style(WHITE.mix(0.8)).draw()?;
    }
    root.present()?;
    Ok(())
}

fn main() {
    let mut screen = Screen::new();
    println!("{}; medians of {SAMPLES}", screen.context.describe());
    let references: Vec<Reference> = mix(REFERENCES, 1).collect();
    let source: Arc<dyn ReferenceSource> = Arc::new(MemoryTrace::new(references, common::heap()));
    let all = [caches(&mut screen, &source), trails(&mut screen, &source), traces(&mut screen)];
    all.iter().for_each(table);
    let path = std::env::var("GROWTH_CHART").unwrap_or_else(|_| "docs/growth.svg".into());
    chart(&path, &all).expect("a folder that can be written to");
    println!("\nchart: {path}");
}
