//! The display to open a window on, and words where there is none.

use winit::event_loop::EventLoop;

/// Runs what may panic, without the panic's own words; those come back. Panics of other threads are told meanwhile.
pub(super) fn quietly<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    let hook = std::panic::take_hook();
    let own = std::thread::current().id();
    let hook = std::sync::Arc::new(hook);
    let others = std::sync::Arc::clone(&hook);
    std::panic::set_hook(Box::new(move |info| {
        if std::thread::current().id() != own {
            others(info);
        }
    }));
    let done = unwound(work);
    drop(std::panic::take_hook());
    std::panic::set_hook(Box::new(move |info| hook(info)));
    done
}

/// Runs what may panic; the panic's words come back, and are told on standard error too.
pub(super) fn unwound<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).map_err(|panic| {
        let words = panic.downcast_ref::<String>().cloned();
        words.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned())).unwrap_or_default()
    })
}

/// An event loop on the display that the environment names.
pub(super) fn event_loop<T: 'static>() -> anyhow::Result<EventLoop<T>> {
    // winit panics where a library of the system is missing; that is a fault of the machine, to be told in words.
    let why = match quietly(|| EventLoop::<T>::with_user_event().build()) {
        Ok(Ok(event_loop)) => return Ok(event_loop),
        Ok(Err(error)) => error.to_string(),
        Err(words) => words,
    };
    anyhow::bail!("{}", no_display(&why, |name| std::env::var(name).ok()))
}

/// Why no window can be opened, and what to do instead.
fn no_display(why: &str, var: impl Fn(&str) -> Option<String>) -> String {
    let set = |name: &str| match var(name).filter(|v| !v.is_empty()) {
        Some(value) => format!("{name} is {value}"),
        None => format!("{name} is not set"),
    };
    let places = format!("{}, {}", set("DISPLAY"), set("WAYLAND_DISPLAY"));
    // winit begins with the line of its own source: `os error at .../mod.rs:788: Failed to open ...`.
    let why = why.split_once(".rs:").and_then(|(_, rest)| rest.split_once(": ")).map_or(why, |(_, words)| words);
    let why = why.trim_end_matches('.');
    let missing = why.contains("could not be loaded");
    let library = if missing {
        ". Install the libraries of X11: apt-get install libx11-6 libxcursor1 libxi6 libxkbcommon-x11-0"
    } else {
        ""
    };
    // If neither is set, the message of the library only repeats ours.
    let is_set = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| var(name).is_some_and(|v| !v.is_empty()));
    let why = if is_set || missing { format!(" ({why})") } else { String::new() };
    format!(
        "no display to open a window on: {places}{why}{library}. Without one, `orrery record TRACE -o clip.mp4` makes a \
         video and `orrery snapshot TRACE -o still.png` a picture"
    )
}

/// Points of height that a window's title bar takes, about.
const TITLE_BAR: u32 = 36;

/// The size of a window of which this is asked: no larger than the monitor (points; `None` = not known) has room for, or the controls
/// along its lower edge would be outside.
pub(super) fn on_screen([width, height]: [u32; 2], monitor: Option<[u32; 2]>) -> [u32; 2] {
    match monitor {
        // What a monitor says of itself may be nothing.
        Some([w, h]) if w >= 320 && h >= 240 => {
            let room = h - TITLE_BAR;
            [width.min(w), if height > h { height.min(room) } else { height }]
        }
        _ => [width, height],
    }
}

/// How many rows of pixels of a window are below the lower edge of its screen; `top` is the window's distance from the upper edge. 0
/// where the window is higher than the screen, or begins below an eighth of it: then somebody has put it there.
pub(super) fn rows_outside(top: i32, height: u32, screen: u32) -> u32 {
    match u32::try_from(top) {
        Ok(top) if height <= screen && top <= screen / 8 => (top + height).saturating_sub(screen),
        _ => 0,
    }
}

/// Pixels as points.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a size in pixels, divided by 0.1 at least"
)]
pub(super) fn points(size: [u32; 2], scale: f64) -> [u32; 2] {
    size.map(|s| (f64::from(s) / scale.max(0.1)).round() as u32)
}

/// Width and height of a window, points, up to which bar, tips and sheet are as large as on any desk.
const ROOMY: [u32; 2] = [1600, 900];
/// The least room, points, in which larger type leaves anything to be seen.
const LEAST: [f32; 2] = [480.0, 300.0];

/// How many times as large as the system has it everything in a window of `size` points is drawn, where type of `text` times the usual
/// size is wanted. In a window larger than those on desks all grows with it, so that a projector or a large screen shows the same; in a
/// small one type does not grow until nothing else is seen.
pub(super) fn zoom(size: [u32; 2], text: f32) -> f32 {
    let [w, h] = [0, 1].map(|axis| size[axis] as f32 / ROOMY[axis] as f32);
    let [most_w, most_h] = [0, 1].map(|axis| size[axis] as f32 / LEAST[axis]);
    let wanted = w.min(h).max(1.0) * text;
    wanted.min(most_w.min(most_h).max(1.0)).clamp(0.5, 12.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_display_the_words_say_what_to_set_and_what_to_do_instead() {
        let why = "os error at /a/mod.rs:788: Failed to open connection to X server";
        let wrong = no_display(why, |n| (n == "DISPLAY").then(|| ":3".into()));
        assert!(wrong.contains("(Failed to open connection to X server)"), "{wrong}");
        let none = no_display("neither DISPLAY nor WAYLAND_DISPLAY is set", |_| None);
        assert!(!none.contains("neither"), "{none}");
        for part in ["DISPLAY is not set", "WAYLAND_DISPLAY is not set", "orrery record", "orrery snapshot"] {
            assert!(none.contains(part), "{none}");
        }
        let library =
            no_display("Library libxkbcommon-x11.so could not be loaded.", |n| (n == "DISPLAY").then(|| ":3".into()));
        assert!(library.contains("DISPLAY is :3") && library.contains("libxkbcommon-x11-0"), "{library}");
    }

    #[test]
    fn a_panic_comes_back_as_words() {
        assert_eq!(quietly(|| 5), Ok(5));
        let broken: Result<u32, String> = quietly(|| panic!("window {} is gone", 7));
        assert_eq!(broken, Err("window 7 is gone".into()));
    }

    #[test]
    fn type_grows_with_the_window_and_by_choice_and_leaves_room() {
        for (size, text, expect) in [
            ([1280, 720], 1.0, 1.0),
            ([1600, 900], 1.0, 1.0),
            ([1920, 1080], 1.0, 1.2),
            ([3840, 2160], 1.0, 2.4),
            ([3840, 1080], 1.0, 1.2),
            ([1920, 1080], 1.5, 1.8),
            ([1024, 640], 1.5, 1.5),
            ([1280, 720], 0.75, 0.75),
            // 640 / 300: more would leave no picture.
            ([1024, 640], 3.0, 1024.0 / 480.0),
            ([320, 240], 3.0, 1.0),
            ([0, 0], 1.0, 1.0),
        ] {
            assert!((zoom(size, text) - expect).abs() < 1e-4, "{size:?} {text}: {}", zoom(size, text));
        }
    }

    #[test]
    fn a_window_that_its_frame_pushes_out_of_the_screen_is_lowered_by_as_much() {
        assert_eq!([rows_outside(22, 720, 720), rows_outside(0, 720, 720), rows_outside(22, 600, 720)], [22, 0, 0]);
        assert_eq!(rows_outside(40, 1000, 1024), 16);
        assert_eq!(
            [rows_outside(-5, 720, 720), rows_outside(300, 700, 720), rows_outside(10, 900, 720)],
            [0; 3],
            "moved, or asked for"
        );
    }

    #[test]
    fn a_window_is_no_larger_than_its_screen() {
        assert_eq!(on_screen([1280, 720], Some([1920, 1080])), [1280, 720]);
        assert_eq!(on_screen([1280, 720], Some([1024, 640])), [1024, 640 - TITLE_BAR]);
        assert_eq!(on_screen([1280, 720], Some([1280, 720])), [1280, 720], "as large as it: asked for, so had");
        assert_eq!(on_screen([3840, 2160], Some([2560, 1440])), [2560, 1440 - TITLE_BAR]);
        for nothing in [None, Some([0, 0])] {
            assert_eq!(on_screen([1280, 720], nothing), [1280, 720]);
        }
    }
}
