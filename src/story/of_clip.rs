//! A storyboard of one scene: what a pane of the window shows, from one moment to another.

use crate::scene::Camera;
use crate::timeline::Pace;
use std::fmt::Write;

/// What a storyboard of a clip says.
#[derive(Clone)]
pub struct ClipStory {
    /// What it is called.
    pub title: String,
    /// The trace, as the storyboard is to name it.
    pub trace: String,
    /// Keys of its caches, each with its value as text of TOML.
    pub caches: Vec<(&'static str, String)>,
    /// The exhibit.
    pub view: &'static str,
    /// Where its camera looks; `None` = the exhibit has none.
    pub camera: Option<Camera>,
    /// References of trail, and of temperature.
    pub tail: u64,
    /// See `tail`.
    pub window: u64,
    /// What is pinned, as people name it.
    pub pin: Option<String>,
    /// Regions that are seen alone; none = all.
    pub show: Vec<String>,
    /// Regions that are dimmed.
    pub dim: Vec<String>,
    /// Parts that are left out.
    pub hide: Vec<&'static str>,
    /// What the strip tells.
    pub strip: String,
    /// Regions that have colours of their own, by name, and these.
    pub colors: Vec<(String, String)>,
    /// Width and height, pixels.
    pub size: [u32; 2],
    /// How it is coloured.
    pub theme: &'static str,
}

/// Text of TOML.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

fn list<T: AsRef<str>>(words: &[T]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word.as_ref())).collect();
    format!("[{}]", words.join(", "))
}

/// A storyboard that plays what a clip plays: as many frames, each at the same position.
#[must_use]
pub fn of_clip(clip: &ClipStory, pace: &Pace) -> String {
    let Pace { start, stop, speed, fps, clock } = pace;
    let [width, height] = clip.size;
    let mut out = String::new();
    let _ = writeln!(
        out,
        "# What was recorded in the window. docs/storyboards.md explains every key.\ntitle = {}\nsize = \"{width}x{height}\"\nfps = \
         {fps}\ntheme = {}",
        quoted(&clip.title),
        quoted(clip.theme),
    );
    if !clip.colors.is_empty() {
        out.push_str("\n[colors]\n");
    }
    for (name, color) in &clip.colors {
        let _ = writeln!(out, "{} = {}", quoted(name), quoted(color));
    }
    let _ = writeln!(out, "\n[source.trace]\ntrace = {}", quoted(&clip.trace));
    for (key, value) in &clip.caches {
        let _ = writeln!(out, "{key} = {value}");
    }
    // The last frame of a clip stands at its end for as long as each of the others.
    let seconds = clock.between(crate::axis::Position::at(*start), crate::axis::Position::at(*stop)) / speed;
    let after = (pace.frames() as f64 / f64::from(*fps) - seconds).max(0.0);
    let _ = writeln!(
        out,
        "\n[[scene]]\nsource = \"trace\"\nview = {}\nfrom = {start}\nto = {stop}\nspeed = {speed:?}\nclock = {}\nafter = {after:?}\nfade = \
         0\ntail = {}\nwindow = {}\nstrip = {}",
        quoted(clip.view),
        quoted(clock.kind().name()),
        clip.tail,
        clip.window,
        quoted(&clip.strip)
    );
    if let Some(Camera { at: [x, y], zoom }) = clip.camera {
        let _ = writeln!(out, "camera = \"{x},{y},{zoom}\"");
    }
    if let Some(pin) = &clip.pin {
        let _ = writeln!(out, "pin = {}", quoted(pin));
    }
    for (key, names) in [("show", &clip.show), ("dim", &clip.dim)] {
        if !names.is_empty() {
            let _ = writeln!(out, "{key} = {}", list(names));
        }
    }
    if !clip.hide.is_empty() {
        let _ = writeln!(out, "hide = {}", list(&clip.hide));
    }
    out
}
