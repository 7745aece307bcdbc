//! A recording is a pure function of trace, cache and flags: two give equal frames, and a frame drawn alone equals the
//! one drawn in the run, so no state leaks from frame to frame.
#![expect(clippy::print_stdout, reason = "a skipped test says so")]

use orrery::overlay::{Parts, RingExhibit, Studio};
use orrery::record::Film;
use orrery::record::{FrameSource, frame_hash};
use orrery::render::Context;
use orrery::render::context::Preference;
use orrery::scene::View;
use orrery::sim::Hierarchy;
use orrery::sim::config::preset;
use orrery::timeline::{Clock, ClockKind, Pace};
use std::path::Path;
use std::sync::Arc;

/// An adapter, or `None` where there is none and none is required.
fn context() -> Option<Context> {
    match Context::headless(Preference::Software) {
        Ok(context) => Some(context),
        Err(error) => {
            assert!(std::env::var_os("REQUIRE_ADAPTER").is_none(), "{error}");
            println!("skipped: no adapter");
            None
        }
    }
}

/// A film of the standard multiply at a speed that shows single flights (below a reference a frame) or time-lapse.
fn film(context: Context, start: u64, stop: u64, speed: f64) -> Film {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("traces/matmul16.orrery");
    let source = Arc::from(orrery::trace::open(&path, None).expect("bundled"));
    let hierarchy = Hierarchy::new(&preset("paper").expect("shipped")).expect("valid");
    let studio = Studio::new(source, hierarchy, &mut |_, _| true).expect("in memory");
    let clock = Arc::new(Clock::new(ClockKind::References, studio.timeline()));
    let pace = Pace { start, stop, speed, fps: 30, clock };
    let view = View { speed, tail: 40, ..View::default() };
    let rings = Box::new(RingExhibit::suited(&studio));
    Film::new(context, studio, rings, (320, 180), Parts::default(), view, pace).expect("small picture")
}

fn play(film: &mut Film) -> Vec<u64> {
    let mut rgba = Vec::new();
    (0..film.frames())
        .map(|k| {
            film.submit(k).expect("drawn");
            film.collect(&mut rgba).expect("read back");
            assert_eq!(rgba.len(), 320 * 180 * 4);
            frame_hash(&rgba)
        })
        .collect()
}

#[test]
fn two_recordings_give_equal_frames() {
    for (start, stop, speed) in [(2600, 2606, 9.0), (0, 8448, 8448.0)] {
        let Some(first) = context() else { return };
        let Some(second) = context() else { return };
        let first = play(&mut film(first, start, stop, speed));
        let second = play(&mut film(second, start, stop, speed));
        assert_eq!(first, second, "speed {speed}");
        let mut distinct = first.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert!(distinct.len() > first.len() / 2, "frames hardly change: {} of {}", distinct.len(), first.len());
    }
}

#[test]
fn a_frame_drawn_alone_equals_the_frame_of_the_run() {
    for (start, stop, speed) in [(2600, 2606, 9.0), (0, 8448, 8448.0)] {
        let Some(run) = context() else { return };
        let hashes = play(&mut film(run, start, stop, speed));
        let frames = hashes.len() as u64;
        for k in [0, 1, frames / 3, frames / 2, frames - 1] {
            let Some(alone) = context() else { return };
            let rgba = film(alone, start, stop, speed).still(k).expect("drawn");
            let at = usize::try_from(k).expect("small");
            assert_eq!(frame_hash(&rgba), hashes[at], "frame {k} of {frames} at speed {speed}");
        }
    }
}

#[test]
fn frames_drawn_out_of_order_and_in_flight_together_are_the_same() {
    let Some(run) = context() else { return };
    let mut film = film(run, 1000, 1100, 60.0);
    let hashes = play(&mut film);
    let order = [40u64, 3, 17, 16, 49, 0];
    let mut rgba = Vec::new();
    for pair in order.chunks(2) {
        for &k in pair {
            film.submit(k).expect("drawn");
        }
        for &k in pair {
            film.collect(&mut rgba).expect("read back");
            assert_eq!(frame_hash(&rgba), hashes[usize::try_from(k).expect("small")], "frame {k}");
        }
    }
}
