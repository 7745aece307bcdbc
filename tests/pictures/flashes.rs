//! That pictures do not flash: WCAG 2.3.1, no more than three flashes within a second over more than a quarter of 10 degrees of sight,
//! which is 341 by 256 pixels of a screen 1024 wide.
//!
//! A general flash is a pair of opposing changes of relative luminance of 0.1 or more, the darker of them below 0.8; a red flash is a pair
//! of opposing changes of more than 20 of (R - G - B) x 320, linear, one of them of a saturated red.
//! <https://www.w3.org/WAI/WCAG21/Understanding/three-flashes-or-below-threshold.html>

use crate::support::device::device;
use orrery::overlay::{Parts, RingExhibit, Studio};
use orrery::record::{Film, FrameSource};
use orrery::reference::{Kind, MemoryTrace, Reference, Region, Tables};
use orrery::scene::View;
use orrery::sim::Hierarchy;
use orrery::sim::config::preset;
use orrery::timeline::{Clock, ClockKind, Pace};
use std::sync::Arc;

const WIDTH: usize = 320;
const HEIGHT: usize = 180;
/// Pictures a second.
const RATE: usize = 60;
/// A screen 1024 wide as wide as these pictures.
const FIELD: [usize; 2] = [341 * WIDTH / 1024, 256 * WIDTH / 1024];

/// What of a pixel may flash, and how large a change is one.
#[derive(Clone, Copy)]
struct Measure {
    of: fn([f32; 3]) -> f32,
    step: f32,
    /// Whether a change from the first to the second counts.
    counts: fn(f32, f32) -> bool,
}

fn luminance([r, g, b]: [f32; 3]) -> f32 {
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

/// (R - G - B) x 320 of what is saturated, else 0.
fn redness([r, g, b]: [f32; 3]) -> f32 {
    if r / (r + g + b).max(1e-6) >= 0.8 { ((r - g - b) * 320.0).max(0.0) } else { 0.0 }
}

const GENERAL: Measure = Measure { of: luminance, step: 0.1, counts: |a, b| a.min(b) < 0.8 };
const RED: Measure = Measure { of: redness, step: 20.0, counts: |_, _| true };

/// A pixel's changes, one opposing the other: the frames of them.
fn changes(values: impl Iterator<Item = f32>, measure: Measure) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    // The extreme since the last change, and which way that was.
    let (mut extreme, mut up) = (None::<f32>, None::<bool>);
    for (frame, value) in values.enumerate() {
        let Some(last) = extreme else {
            extreme = Some(value);
            continue;
        };
        let rises = value > last;
        if up == Some(rises) {
            extreme = Some(value);
        } else if (value - last).abs() >= measure.step && (measure.counts)(value, last) {
            found.push(frame);
            (extreme, up) = (Some(value), Some(rises));
        }
    }
    found
}

/// Whether more than three flashes are within a second: seven changes are three pairs and the beginning of a fourth, eight are four.
fn flashes(changes: &[usize]) -> bool {
    changes.windows(8).any(|eight| eight[7] - eight[0] < RATE)
}

/// The largest share of a field of sight that flashes, over all places of it.
fn worst(frames: &[Vec<u8>], measure: Measure) -> f32 {
    let linear: Vec<f32> = (0..=255u8)
        .map(|c| {
            let c = f32::from(c) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        })
        .collect();
    let flashing: Vec<bool> = (0..WIDTH * HEIGHT)
        .map(|at| {
            let pixel = |frame: &Vec<u8>| (measure.of)([0, 1, 2].map(|c| linear[usize::from(frame[4 * at + c])]));
            flashes(&changes(frames.iter().map(pixel), measure))
        })
        .collect();
    let mut most = 0;
    for top in (0..=HEIGHT - FIELD[1]).step_by(4) {
        for left in (0..=WIDTH - FIELD[0]).step_by(4) {
            let rows = (top..top + FIELD[1]).map(|y| &flashing[y * WIDTH + left..][..FIELD[0]]);
            most = most.max(rows.flatten().filter(|flashes| **flashes).count());
        }
    }
    most as f32 / (FIELD[0] * FIELD[1]) as f32
}

/// References that miss each time: lines in turn, more than any cache of `paper` has.
fn thrashing() -> MemoryTrace {
    let bytes = 32 * 256;
    let references = (0..2000u64).map(|n| Reference::new(Kind::Read, 0x10000 + 32 * (n * 7 % 256), 4)).collect();
    let tables = Tables { regions: vec![Region::new("A", 0x10000, bytes)], ..Tables::default() };
    MemoryTrace::new(references, tables)
}

/// Two seconds of it.
fn film(speed: u16, calm: bool) -> Option<Vec<Vec<u8>>> {
    let context = device("flashes")?;
    let hierarchy = Hierarchy::new(&preset("paper").expect("shipped")).expect("sound");
    let studio = Studio::new(Arc::new(thrashing()), hierarchy, &mut |_, _| true).expect("in memory");
    let clock = Arc::new(Clock::new(ClockKind::References, studio.timeline()));
    let stop = 600 + 2 * u64::from(speed);
    let speed = f64::from(speed);
    let pace = Pace { start: 600, stop, speed, fps: 60, clock };
    let view = View { speed, calm, ..View::default() };
    let rings = Box::new(RingExhibit::suited(&studio));
    let mut film = Film::new(context, studio, rings, (320, 180), Parts::default(), view, pace).expect("small pictures");
    Some((0..film.frames()).map(|k| film.still(k).expect("drawn")).collect())
}

#[test]
fn a_program_that_misses_each_time_does_not_flash() {
    for (speed, calm) in [(30, false), (300, false), (300, true)] {
        let Some(frames) = film(speed, calm) else { return };
        assert!(frames.len() >= 2 * RATE, "{} frames", frames.len());
        assert!(frames.windows(2).any(|pair| pair[0] != pair[1]), "something moves");
        for (name, measure) in [("general", GENERAL), ("red", RED)] {
            let share = worst(&frames, measure);
            eprintln!("{name} flashes at {speed} references a second, calm {calm}: {:.2} % of a field", 100.0 * share);
            assert!(
                share <= 0.25,
                "{name} flashes over {:.1} % of a field at {speed} references a second",
                100.0 * share
            );
        }
    }
}

#[test]
fn what_flashes_is_counted() {
    let blank = |shade: [u8; 3]| [shade[0], shade[1], shade[2], 255].repeat(WIDTH * HEIGHT);
    let (black, grey, red) = (blank([0; 3]), blank([200; 3]), blank([255, 0, 0]));
    let film = |on: &Vec<u8>, frames: usize| -> Vec<Vec<u8>> {
        (0..2 * RATE).map(|n| if n / frames % 2 == 1 { on.clone() } else { black.clone() }).collect()
    };
    // Each seven frames another shade: more than four pairs a second. Each ten: three.
    assert_eq!(worst(&film(&grey, 7), GENERAL), 1.0);
    assert_eq!(worst(&film(&grey, 10), GENERAL), 0.0);
    assert_eq!((worst(&film(&red, 7), RED), worst(&film(&grey, 7), RED)), (1.0, 0.0));
    // A ramp up and down is a flash too, however many frames it takes.
    let ramp = |n: usize| blank([[0u8, 60, 120, 180, 120, 60][n % 6]; 3]);
    assert_eq!(worst(&(0..2 * RATE).map(ramp).collect::<Vec<_>>(), GENERAL), 1.0);
}
