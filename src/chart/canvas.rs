//! The sheet that charts are drawn on.

use crate::scene::palette::{self, Rgba, Theme};
use crate::shown;
use std::fmt::Write as _;

/// Units of a chart.
pub(super) const WIDTH: f64 = 640.0;
/// The same from above to below.
pub(super) const HEIGHT: f64 = 360.0;
/// Steps of a scale of colours.
pub(super) const HEATS: u8 = 10;
/// Colours of series.
const SERIES: u8 = 2;
/// Colours of regions.
const REGIONS: u8 = 12;

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
}

impl Role {
    fn all() -> Vec<Self> {
        let mut all = vec![Self::Ground, Self::Ink, Self::Body, Self::Quiet, Self::Grid];
        all.extend((0..SERIES).map(Self::Series));
        all.extend((0..4).map(Self::Class));
        all.extend((0..REGIONS).map(Self::Region));
        all.extend((0..HEATS).map(Self::Heat));
        all.extend((0..HEATS).map(Self::OnHeat));
        all
    }

    fn color(self, theme: Theme) -> Rgba {
        let step = |n: u8| f32::from(n.min(HEATS - 1)) / f32::from(HEATS - 1);
        let dark = match self {
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
        };
        // On strong colours the words of a light theme are light, or they would be lost.
        palette::themed(dark, theme)
    }

    fn class(self) -> String {
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

fn hex([r, g, b, _]: Rgba) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Text that stands in XML or HTML, in elements and in attributes alike; what acts is written out.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut out = String::new();
    for sign in shown::words(text).chars() {
        match sign {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            sign => out.push(sign),
        }
    }
    out
}

/// Where a text is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A chart that is drawn.
#[derive(Clone, Debug)]
pub struct Chart {
    theme: Theme,
    title: String,
    body: String,
}

impl Chart {
    pub(super) fn new(theme: Theme, title: &str, about: &str) -> Self {
        let mut chart = Self { theme, title: title.to_owned(), body: String::new() };
        chart.rect((0.0, 0.0), (WIDTH, HEIGHT), Role::Ground, "");
        chart.bold((16.0, 24.0), 15.0, title);
        chart.text((16.0, 41.0), Anchor::Start, 11.0, Role::Quiet, &shown::short(about, 104));
        chart
    }

    /// The file, of this many pixels.
    #[must_use]
    pub fn svg(&self, width: u32, height: u32) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
             font-family=\"'Noto Sans','DejaVu Sans',system-ui,sans-serif\">\n<title>{}</title>\n{}</svg>\n",
            escaped(&self.title),
            self.body
        )
    }

    /// For a page, as wide as there is room.
    #[must_use]
    pub fn inline(&self) -> String {
        format!(
            "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">\n{}</svg>\n",
            escaped(&self.title),
            self.body
        )
    }

    fn fill(&self, role: Role) -> String {
        format!("class=\"f-{}\" fill=\"{}\"", role.class(), hex(role.color(self.theme)))
    }

    fn stroke(&self, role: Role) -> String {
        format!("class=\"s-{}\" stroke=\"{}\" fill=\"none\"", role.class(), hex(role.color(self.theme)))
    }

    fn bold(&mut self, (x, y): (f64, f64), size: f64, words: &str) {
        let (fill, words) = (self.fill(Role::Ink), escaped(&shown::short(words, 72)));
        let _ = writeln!(
            self.body,
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" font-weight=\"600\" {fill}>{words}</text>"
        );
    }

    pub(super) fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, size: f64, role: Role, words: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let (fill, words) = (self.fill(role), escaped(words));
        let _ = writeln!(
            self.body,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" text-anchor=\"{anchor}\" {fill}>{words}</text>"
        );
    }

    /// Words from below to above, in the middle of `y`.
    pub(super) fn upright(&mut self, (x, y): (f64, f64), size: f64, role: Role, words: &str) {
        let (fill, words) = (self.fill(role), escaped(words));
        let _ = writeln!(
            self.body,
            "<text transform=\"translate({x:.1} {y:.1}) rotate(-90)\" font-size=\"{size}\" text-anchor=\"middle\" {fill}>{words}</text>"
        );
    }

    /// A rectangle from a corner, and what is said of it where a pointer rests.
    pub(super) fn rect(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), role: Role, said: &str) {
        let fill = self.fill(role);
        let _ = write!(self.body, "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" {fill}");
        let _ = match said.is_empty() {
            true => writeln!(self.body, "/>"),
            false => writeln!(self.body, "><title>{}</title></rect>", escaped(said)),
        };
    }

    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), role: Role, width: f64, dashed: bool) {
        let stroke = self.stroke(role);
        let dash = if dashed { " stroke-dasharray=\"4 3\"" } else { "" };
        let _ = writeln!(
            self.body,
            "<path d=\"M{:.2} {:.2}L{:.2} {:.2}\" {stroke} stroke-width=\"{width}\"{dash}/>",
            from.0, from.1, to.0, to.1
        );
    }

    pub(super) fn curve(&mut self, points: &[(f64, f64)], role: Role, width: f64) {
        let (path, stroke) = (path(points), self.stroke(role));
        let _ = writeln!(self.body, "<path d=\"{path}\" {stroke} stroke-width=\"{width}\" stroke-linejoin=\"round\"/>");
    }

    pub(super) fn area(&mut self, points: &[(f64, f64)], role: Role) {
        let (path, fill) = (path(points), self.fill(role));
        let _ = writeln!(self.body, "<path d=\"{path}Z\" {fill}/>");
    }

    pub(super) fn dot(&mut self, (x, y): (f64, f64), radius: f64, role: Role, said: &str) {
        let fill = self.fill(role);
        let said = escaped(said);
        let _ = writeln!(
            self.body,
            "<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"{radius}\" {fill}><title>{said}</title></circle>"
        );
    }

    /// Rows of colours and words along the upper right.
    pub(super) fn legend(&mut self, entries: &[(Role, &str)]) {
        let mut x = WIDTH - 16.0;
        for (role, words) in entries.iter().rev() {
            #[expect(clippy::cast_precision_loss, reason = "a few columns")]
            let wide = 6.3 * shown::width(words) as f64;
            self.rect((x - wide - 14.0, 15.0), (10.0, 10.0), *role, "");
            self.text((x - wide, 24.0), Anchor::Start, 11.0, Role::Body, words);
            x -= wide + 28.0;
        }
    }
}

fn path(points: &[(f64, f64)]) -> String {
    let mut out = String::new();
    for (n, (x, y)) in points.iter().enumerate() {
        let _ = write!(out, "{}{x:.2} {y:.2}", if n == 0 { 'M' } else { 'L' });
    }
    out
}
