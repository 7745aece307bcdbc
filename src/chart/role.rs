//! What colours of charts mean, and which they are in a theme.

use crate::scene::palette::{self, Rgba, Theme};
use std::fmt::Write as _;

/// Steps of a scale of colours.
pub(super) const HEATS: u8 = 10;
/// Colours of series.
const SERIES: u8 = 2;
/// Colours of regions.
const REGIONS: u8 = 12;
/// Colours of what items of a kernel do.
const ACTS: u8 = 5;

/// What a colour means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The ground.
    Ground,
    /// Titles and values.
    Ink,
    /// Other words.
    Body,
    /// Axes.
    Quiet,
    /// Lines behind what is drawn.
    Grid,
    /// The nth series, from 0.
    Series(u8),
    /// Classes of misses: compulsory, capacity, conflict, coherence.
    Class(u8),
    /// The nth region.
    Region(u8),
    /// How much, 0 to 9.
    Heat(u8),
    /// Words on the heat of this step.
    OnHeat(u8),
    /// What items of a kernel do: read, write, atomic operation, barrier of workgroup memory, barrier of storage.
    Act(u8),
    /// Words on an act.
    OnAct(u8),
    /// Words on a region.
    OnRegion(u8),
    /// What is pointed at, and what belongs to it.
    Mark,
    /// What belongs to it from farther away.
    Beside,
    /// What costs: conflicts, races.
    Warn,
    /// What did not happen.
    Faded,
    /// A colour of a picture that is shown: red, green, blue, in every theme the same.
    Pixel(u8, u8, u8),
}

impl Role {
    fn all() -> Vec<Self> {
        let mut all = vec![Self::Ground, Self::Ink, Self::Body, Self::Quiet, Self::Grid];
        all.extend((0..SERIES).map(Self::Series));
        all.extend((0..4).map(Self::Class));
        all.extend((0..REGIONS).map(Self::Region));
        all.extend((0..HEATS).map(Self::Heat));
        all.extend((0..HEATS).map(Self::OnHeat));
        all.extend((0..ACTS).map(Self::Act));
        all.extend((0..ACTS).map(Self::OnAct));
        all.extend((0..REGIONS).map(Self::OnRegion));
        all.extend([Self::Mark, Self::Beside, Self::Warn, Self::Faded]);
        all
    }

    /// Its colour in a theme.
    #[must_use]
    pub fn color(self, theme: Theme) -> Rgba {
        let step = |n: u8| f32::from(n.min(HEATS - 1)) / f32::from(HEATS - 1);
        let dark = match self {
            Self::Pixel(r, g, b) => return [r, g, b, 255],
            Self::Ground => palette::BACKGROUND,
            Self::Ink => palette::TEXT,
            Self::Body => palette::TEXT_BODY,
            Self::Quiet => palette::TEXT_QUIET,
            Self::Grid => palette::TRACK,
            Self::Series(n) => palette::SERIES[usize::from(n % SERIES)],
            Self::Class(n) => palette::CLASSES[usize::from(n.min(3))],
            Self::Region(n) => palette::region(usize::from(n % REGIONS)),
            // From the ground to the second series: lightness alone tells how much.
            Self::Heat(n) => {
                let end = palette::themed(palette::SERIES[1], theme);
                return palette::mix(palette::themed(palette::TRACK, theme), end, step(n));
            }
            Self::OnHeat(n) => {
                if step(n) > 0.45 {
                    palette::BACKGROUND
                } else {
                    palette::TEXT
                }
            }
            Self::Act(n) => palette::ACTS[usize::from(n % ACTS)],
            // The ground or the ink, whichever is farther from what it is on.
            Self::OnAct(n) => {
                let on = palette::themed(palette::ACTS[usize::from(n % ACTS)], theme);
                return palette::farther(on, [palette::BACKGROUND, palette::TEXT]);
            }
            Self::OnRegion(n) => {
                let on = palette::themed(palette::region(usize::from(n % REGIONS)), theme);
                return palette::farther(on, [palette::BACKGROUND, palette::TEXT]);
            }
            Self::Mark => palette::SERIES[1],
            Self::Beside => palette::mix(palette::SERIES[1], palette::TRACK, 0.55),
            Self::Warn => palette::words(palette::MISS),
            Self::Faded => palette::mix(palette::TEXT_QUIET, palette::TRACK, 0.35),
        };
        // On strong colours the words of a light theme are light, or they would be lost.
        palette::themed(dark, theme)
    }

    pub(super) fn class(self) -> String {
        match self {
            Self::Ground => "ground".into(),
            Self::Ink => "ink".into(),
            Self::Body => "body".into(),
            Self::Quiet => "quiet".into(),
            Self::Grid => "grid".into(),
            Self::Series(n) => format!("series{}", n % SERIES),
            Self::Class(n) => format!("class{}", n.min(3)),
            Self::Region(n) => format!("region{}", n % REGIONS),
            Self::Heat(n) => format!("heat{}", n.min(HEATS - 1)),
            Self::OnHeat(n) => format!("on{}", n.min(HEATS - 1)),
            Self::Act(n) => format!("act{}", n % ACTS),
            Self::OnAct(n) => format!("onact{}", n % ACTS),
            Self::OnRegion(n) => format!("onregion{}", n % REGIONS),
            Self::Mark => "mark".into(),
            Self::Beside => "beside".into(),
            Self::Warn => "warn".into(),
            Self::Faded => "faded".into(),
            // No rule gives it another colour than that which it says itself.
            Self::Pixel(..) => "pixel".into(),
        }
    }
}

/// Rules that give the roles of charts within `scope` (a selector) the colours of a theme.
#[must_use]
pub fn css(scope: &str, theme: Theme) -> String {
    let mut out = String::new();
    for role in Role::all() {
        let (class, color) = (role.class(), hex(role.color(theme)));
        let _ = writeln!(out, "{scope} .f-{class}{{fill:{color}}}{scope} .s-{class}{{stroke:{color}}}");
    }
    out
}

/// The colours of a page around charts in a theme, as properties: `--ground`, `--ink`, `--body`, `--quiet`, `--rule` (lines), `--soft` (behind
/// code) and `--mark` (what stands out).
#[must_use]
pub fn properties(theme: Theme) -> String {
    let of = |color: Rgba| hex(palette::themed(color, theme));
    let all = [
        ("ground", of(palette::BACKGROUND)),
        ("ink", of(palette::TEXT)),
        ("body", of(palette::TEXT_BODY)),
        ("quiet", of(palette::TEXT_QUIET)),
        ("rule", of(palette::mix(palette::TRACK, palette::TEXT_QUIET, 0.2))),
        ("soft", of(palette::CARD)),
        ("mark", of(palette::words(palette::SERIES[1]))),
    ];
    all.iter().map(|(name, color)| format!("--{name}:{color};")).collect()
}

pub(super) fn hex([r, g, b, _]: Rgba) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}
