//! Every colour of the project. Nowhere else is one written down.
//!
//! Colours are sRGB bytes, blended as they are displayed. The colours of the first six regions, of a miss, an eviction and a
//! hit were searched for by their least distance (CIEDE2000), full and as dots at home have them ([`AT_HOME`]), for normal sight
//! and for the three deficiencies of one kind of cone (Machado, Oliveira and Fernandes 2009, severity 1): hue goes with the cone,
//! so lightness does as much of the work. Regions are told apart by place and label too: hue is never the only sign.

pub mod difference;
pub mod own;

pub use own::RegionColors;

/// Red, green, blue, alpha (straight, not premultiplied).
pub type Rgba = [u8; 4];

/// Opacity of what is at home: dots that are in no cache, and the rim.
pub const AT_HOME: f32 = 0.9;

/// The ground everything stands on.
pub const BACKGROUND: Rgba = [8, 9, 13, 255];
/// Borders of rings and guide arms.
pub const GUIDE: Rgba = [150, 160, 185, 255];
/// The CPU's disc and the playhead.
pub const LIGHT: Rgba = [240, 240, 236, 255];
/// A miss: flash and flight in.
pub const MISS: Rgba = [238, 56, 18, 255];
/// An eviction: arc out.
pub const EVICT: Rgba = [92, 118, 228, 255];
/// A hit: slide to the head.
pub const HIT: Rgba = [250, 250, 245, 255];
/// What the dots of a line that missed just now turn to, and their halo: `FLASH_COLOR` in `glyphs.wgsl`.
pub const FLASH: Rgba = [255, 56, 43, 255];
/// The ring that grows round what missed just now: `BURST_COLOR` in `glyphs.wgsl`.
pub const BURST: Rgba = [255, 158, 143, 255];
/// Rim of a dirty item.
pub const DIRTY: Rgba = [255, 255, 255, 255];
/// A page that no region holds most of.
pub const NEUTRAL: Rgba = [138, 143, 155, 255];
/// Text: titles and values.
pub const TEXT: Rgba = [236, 238, 244, 255];
/// Text: body.
pub const TEXT_BODY: Rgba = [190, 194, 204, 255];
/// Text: headings and units; 4.5:1 on the ground or better.
pub const TEXT_QUIET: Rgba = [136, 141, 154, 255];
/// Tracks of meters and of the strip.
pub const TRACK: Rgba = [28, 30, 38, 255];
/// Cards over the picture: tips and the sheet of keys.
pub const CARD: Rgba = [18, 20, 27, 246];
/// Classes of misses: compulsory, capacity, conflict, coherence.
pub const CLASSES: [Rgba; 4] = [[150, 156, 170, 255], [255, 205, 95, 255], [238, 56, 18, 255], [120, 140, 255, 255]];
/// Source code.
pub const CODE: Rgba = [168, 200, 255, 255];
/// What a chart tells on its left axis, and on its right one.
pub const SERIES: [Rgba; 2] = [[104, 172, 255, 255], [255, 164, 74, 255]];
/// What items of a kernel do: read, write, atomic operation, barrier of workgroup memory, barrier of storage.
pub const ACTS: [Rgba; 5] =
    [[128, 219, 231, 255], [43, 87, 206, 255], [214, 123, 246, 255], [119, 108, 108, 255], [20, 146, 79, 255]];
/// Cold end of the temperature scale.
pub const COLD: Rgba = [38, 110, 232, 255];
/// Warm end of the temperature scale.
pub const WARM: Rgba = [232, 64, 42, 255];

/// Home regions, in address order; from the thirteenth on they come again, paler: [`region`].
pub const REGIONS: [Rgba; 12] = [
    [166, 177, 245, 255],
    [206, 255, 165, 255],
    [255, 186, 5, 255],
    [54, 213, 180, 255],
    [166, 99, 141, 255],
    [1, 152, 93, 255],
    [255, 178, 177, 255],
    [22, 146, 164, 255],
    [141, 133, 32, 255],
    [247, 131, 249, 255],
    [111, 219, 254, 255],
    [219, 142, 85, 255],
];

/// Colour of region number `index`, where it was given no other ([`RegionColors`]). Where colours begin again they are paler, then deeper, so that those of 36 regions differ.
#[must_use]
pub fn region(index: usize) -> Rgba {
    let own = REGIONS[index % REGIONS.len()];
    match index / REGIONS.len() % 3 {
        0 => own,
        1 => mix(own, TEXT, PALER),
        _ => mix(own, BACKGROUND, DEEPER),
    }
}

/// A colour for words: lighter where it is too dark to be read, 4.5:1 on the ground or better.
#[must_use]
pub fn words(c: Rgba) -> Rgba {
    let lighter = (0u8..).take(33).map(|n| mix(c, TEXT, f32::from(n) / 32.0));
    lighter.into_iter().find(|c| contrast(*c, BACKGROUND) >= READABLE).unwrap_or(TEXT)
}

/// Least contrast of text with its ground (WCAG 2.1, level AA).
const READABLE: f32 = 4.5;

/// The one of two colours for words that is read better on this one.
#[must_use]
pub fn farther(on: Rgba, [a, b]: [Rgba; 2]) -> Rgba {
    if contrast(a, on) >= contrast(b, on) { a } else { b }
}

/// Contrast ratio of WCAG 2.1, 1 to 21.
fn contrast(a: Rgba, b: Rgba) -> f32 {
    let luminance = |c: Rgba| {
        let linear = |v: u8| {
            let v = f32::from(v) / 255.0;
            if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(c[0]) + 0.7152 * linear(c[1]) + 0.0722 * linear(c[2])
    };
    let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
    a.max(b) / a.min(b)
}

/// Colour of what ring `ring` of `rings` served, memory behind the last: white for the innermost, and the warmer the farther out,
/// to the red of a miss.
#[must_use]
pub fn served(ring: usize, rings: usize) -> Rgba {
    match ring {
        0 => SERVED[0],
        _ if ring >= rings => MISS,
        _ => mix(SERVED[1], SERVED[2], (ring - 1) as f32 / (rings.max(3) - 2) as f32),
    }
}

/// Served by the innermost ring, by the next, and by the last.
const SERVED: [Rgba; 3] = [LIGHT, [255, 222, 142, 255], [255, 140, 48, 255]];

/// What of a colour that comes again is white, and what is the ground the time after.
const PALER: f32 = 0.55;
const DEEPER: f32 = 0.42;

/// The same colour, with alpha `a` in 0..=1.
#[must_use]
pub fn fade(c: Rgba, a: f32) -> Rgba {
    [c[0], c[1], c[2], unit_to_byte(f32::from(c[3]) / 255.0 * a)]
}

/// Linear blend of two colours, alpha too; `t` in 0..=1.
#[must_use]
pub fn mix(a: Rgba, b: Rgba, t: f32) -> Rgba {
    let t = t.clamp(0.0, 1.0);
    std::array::from_fn(|i| unit_to_byte((f32::from(a[i]) * (1.0 - t) + f32::from(b[i]) * t) / 255.0))
}

/// Colour of a temperature in -1..=1: blue below, red above, a faint grey at 0.
#[must_use]
pub fn temperature(t: f32) -> Rgba {
    let t = if t.is_finite() { t.clamp(-1.0, 1.0) } else { 0.0 };
    let end = if t < 0.0 { COLD } else { WARM };
    // The square root lifts faint temperatures over the threshold of sight.
    let strength = t.abs().sqrt();
    fade(mix(NEUTRAL, end, strength), IDLE + (EXTREME - IDLE) * strength)
}

/// Opacity of a disk in the middle of the scale, and at its ends.
const IDLE: f32 = 0.10;
const EXTREME: f32 = 0.30;

/// Colour behind a component: `held` is what it holds of what one of its kind holds at most, `waiting` what waits at its port, likewise;
/// both 0 to 1. The more it holds the lighter; red where something has to wait.
#[must_use]
pub fn pressure(held: f32, waiting: f32) -> Rgba {
    let [held, waiting] = [held, waiting].map(|share| if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 });
    let ink = mix(mix(NEUTRAL, SERVED[1], held), WARM, waiting.sqrt());
    fade(ink, IDLE * 0.5 + 0.13 * held + 0.22 * waiting.sqrt())
}

/// Colour of a share of a heat map, 0 to 1: from dark to light, so that it is read without hue, too.
#[must_use]
pub fn heat(share: f32) -> Rgba {
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    let steps = HEAT.len() - 1;
    let below = (1..steps).filter(|n| share * steps as f32 >= *n as f32).count();
    mix(HEAT[below], HEAT[below + 1], share * steps as f32 - below as f32)
}

/// Colour of local minus remote accesses, as a share of the most, -1 to 1: of reads, or of writes. What is 0 is grey for both.
#[must_use]
pub fn owned(share: f32, writes: bool) -> Rgba {
    let share = if share.is_finite() { share.clamp(-1.0, 1.0) } else { 0.0 };
    let [local, remote] = if writes { WRITES } else { READS };
    // What is least is told from nothing.
    let part = if share == 0.0 { 0.0 } else { 0.3 + 0.7 * share.abs() };
    mix(EVEN, if share < 0.0 { remote } else { local }, part)
}

/// As many local accesses as remote ones.
const EVEN: Rgba = [104, 108, 120, 255];
/// Reads and writes, local and remote.
const READS: [Rgba; 2] = [[104, 172, 255, 255], [255, 92, 62, 255]];
const WRITES: [Rgba; 2] = [[186, 156, 236, 255], [255, 196, 84, 255]];

/// The steps of [`heat`].
const HEAT: [Rgba; 6] = [
    [48, 44, 92, 255],
    [94, 50, 134, 255],
    [160, 60, 130, 255],
    [222, 88, 92, 255],
    [250, 164, 74, 255],
    [252, 240, 168, 255],
];

/// The colour of words on this ground.
#[must_use]
pub fn on(ground: Rgba) -> Rgba {
    if contrast(TEXT, ground) >= contrast(BACKGROUND, ground) { TEXT } else { BACKGROUND }
}

/// How all of a picture is coloured. It is drawn dark and turned as a whole, words and all: `shaders/themes.wgsl`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Light on dark: for screens, projectors in the dark and videos.
    #[default]
    Dark,
    /// Dark on light grey: for bright rooms.
    Light,
    /// Dark on white: for paper and slides.
    Print,
}

impl Theme {
    /// All, each with its name.
    pub const ALL: [(Self, &'static str); 3] = [(Self::Dark, "dark"), (Self::Light, "light"), (Self::Print, "print")];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(theme, _)| *theme == self).map_or("", |(_, name)| name)
    }

    /// The one after it, round and round.
    #[must_use]
    pub fn next(self) -> Self {
        let at = Self::ALL.iter().position(|(theme, _)| *theme == self).unwrap_or(0);
        Self::ALL[(at + 1) % Self::ALL.len()].0
    }
}

/// What a turned picture's red, green and blue are multiplied by, so that the ground is what a theme wants; the fourth is unused.
#[must_use]
pub fn gain(theme: Theme) -> [f32; 4] {
    // How far from the ground as it is turned to white.
    let whiter = match theme {
        Theme::Dark => return [1.0; 4],
        Theme::Light => 0.5,
        Theme::Print => 1.0,
    };
    turned(BACKGROUND, [1.0; 4]).map(|v| 1.0 + whiter * (1.0 / v - 1.0))
}

/// A colour of a picture in a theme, alpha left as it is; the shader does the same.
#[must_use]
pub fn themed(color: Rgba, theme: Theme) -> Rgba {
    if theme == Theme::Dark {
        return color;
    }
    let [r, g, b, _] = turned(color, gain(theme)).map(unit_to_byte);
    [r, g, b, color[3]]
}

/// Grey turns round; a colour that is strong already stays; what looks light is as dark as it was light, and no strong colour looks so
/// light that it is lost on the ground, or so dark that its hue is.
fn turned([r, g, b, _]: Rgba, gain: [f32; 4]) -> [f32; 4] {
    const STRONGEST: f32 = 0.42;
    const DARKEST: f32 = 0.14;
    let dark = [r, g, b].map(|v| f32::from(v) / 255.0);
    let highest = dark.iter().fold(0.0, |most: f32, &v| most.max(v));
    let lowest = dark.iter().fold(1.0, |least: f32, &v| least.min(v));
    let luma = 0.2126 * dark[0] + 0.7152 * dark[1] + 0.0722 * dark[2];
    let (lightest, darkest) = (STRONGEST.max(1.0 - (highest - lowest)), DARKEST.min(highest - lowest));
    let turned = (1.0 - highest - lowest).min(1.0 - 2.0 * luma).min(lightest - luma);
    let shift = turned.max(darkest - luma);
    let [r, g, b] = std::array::from_fn(|n| ((dark[n] + shift).max(0.0) * gain[n]).min(1.0));
    [r, g, b, 1.0]
}

#[expect(clippy::cast_possible_truncation, reason = "clamped to a byte's range")]
pub(super) fn unit_to_byte(v: f32) -> u8 {
    (v.clamp(0.0, 1.0) * 255.0).round() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_glyphs_stand_out_from_the_ground() {
        for text in [TEXT, TEXT_BODY, TEXT_QUIET, CODE] {
            assert!(contrast(text, BACKGROUND) >= 4.5, "{text:?}");
        }
        for glyph in REGIONS.into_iter().chain([MISS, EVICT, HIT]) {
            assert!(contrast(glyph, BACKGROUND) >= 4.5, "{glyph:?}");
        }
    }

    #[test]
    fn in_light_themes_words_are_read_and_colours_are_seen() {
        for theme in [Theme::Light, Theme::Print] {
            let on_ground = |c| contrast(themed(c, theme), themed(BACKGROUND, theme));
            for text in [TEXT, TEXT_BODY, TEXT_QUIET, CODE] {
                assert!(on_ground(text) >= READABLE, "{theme:?}: {text:?} {}", on_ground(text));
            }
            for glyph in REGIONS.into_iter().chain([MISS, EVICT, HIT, COLD, WARM]) {
                assert!(on_ground(glyph) >= 3.0, "{theme:?}: {glyph:?} {}", on_ground(glyph));
            }
        }
        assert_eq!(themed(BACKGROUND, Theme::Print), [255; 4], "paper");
        assert_eq!(themed(MISS, Theme::Dark), MISS);
        assert_eq!(Theme::Print.next(), Theme::Dark);
    }

    #[test]
    fn words_in_a_regions_colour_can_be_read() {
        let mut lifted = 0;
        for c in (0..3 * REGIONS.len()).map(region) {
            assert!(contrast(words(c), BACKGROUND) >= 4.5, "{c:?}");
            assert!(words(c) == c || contrast(c, BACKGROUND) < 4.5, "{c:?} is light enough");
            lifted += u32::from(words(c) != c);
        }
        assert!(lifted > 4, "{lifted}");
    }

    #[test]
    fn neighbouring_regions_differ_and_none_is_the_colour_of_a_miss() {
        let distance =
            |a: Rgba, b: Rgba| (0..3).map(|i| f32::from(a[i]) - f32::from(b[i])).fold(0.0, |s, d| s + d * d).sqrt();
        for (i, &a) in REGIONS.iter().enumerate() {
            assert!(distance(a, MISS) > 70.0, "region {i} looks like a miss");
            for &b in &REGIONS[i + 1..] {
                assert!(distance(a, b) > 60.0, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn colours_that_come_again_are_told_from_all_others() {
        let distance =
            |a: Rgba, b: Rgba| (0..3).map(|i| f32::from(a[i]) - f32::from(b[i])).fold(0.0, |s, d| s + d * d).sqrt();
        let count = REGIONS.len();
        for index in count..3 * count {
            assert!(distance(region(index), region(index % count)) > 45.0, "{index} and where it comes from");
            assert!(contrast(region(index), BACKGROUND) >= 2.0, "{index} is seen");
            for other in (0..index).filter(|other| other / count == index / count) {
                assert!(distance(region(index), region(other)) > 22.0, "{index} and {other}");
            }
        }
        assert_eq!(region(3 * count), REGIONS[0]);
    }

    #[test]
    fn temperature_is_grey_in_the_middle_blue_below_red_above() {
        let [r, g, b, a] = temperature(0.0);
        assert!(r.abs_diff(g) < 24 && g.abs_diff(b) < 24, "grey");
        // Blended as displayed: a level that idles is told from the ground on which there is none.
        let shown = mix(BACKGROUND, [r, g, b, 255], f32::from(a) / 255.0);
        assert!(contrast(shown, BACKGROUND) > 1.08, "{shown:?}");
        let (cold, warm) = (temperature(-1.0), temperature(1.0));
        assert!(cold[2] > cold[0] && warm[0] > warm[2]);
        assert_eq!(cold[3], warm[3]);
        assert!(temperature(0.2)[3] < warm[3]);
        assert_eq!(temperature(f32::NAN), temperature(0.0));
    }
}
