//! A drawing as SVG.

use super::number::{outline, place, share};
use crate::overlay::vector::{Drawing, Ink, Item, Letters, Paint, Stops};
use std::fmt::Write as _;

/// The typeface that the program draws with, and what stands in where it is not installed.
const TYPEFACES: &str = "Inter,'Inter Variable','Helvetica Neue',Arial,sans-serif";

/// The text of an SVG file. Deterministic.
#[must_use]
pub fn svg(drawing: &Drawing) -> String {
    let mut writer = SvgWriter::default();
    for item in &drawing.items {
        writer.item(item);
    }
    writer.flush();
    if writer.clipped {
        writer.body.push_str("</g>\n");
    }
    let ([width, height], [w, h]) = (drawing.size, drawing.space);
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {} {}\" font-family=\"{TYPEFACES}\" text-rendering=\"geometricPrecision\">\n<title>{}</title>\n",
        place(w),
        place(h),
        escaped(&drawing.title)
    );
    if !writer.definitions.is_empty() {
        let _ = writeln!(out, "<defs>\n{}</defs>", writer.definitions);
    }
    if let Some(ground) = drawing.ground {
        let _ = writeln!(out, "<path fill=\"{}\" d=\"M0 0H{}V{}H0z\"/>", hex(ground), place(w), place(h));
    }
    out.push_str(&writer.body);
    out.push_str("</svg>\n");
    out
}

/// Elements that share attributes, in a group.
#[derive(Default)]
struct SvgWriter {
    definitions: String,
    body: String,
    /// Attributes that the elements in `held` share.
    shared: String,
    /// Elements: name, own attributes, content.
    held: Vec<(&'static str, String, String)>,
    /// A clip is in force.
    clipped: bool,
    clips: usize,
    /// Gradients of one look: what they are, for [`SvgWriter::look`].
    looks: Vec<String>,
    gradients: usize,
}

impl SvgWriter {
    fn item(&mut self, item: &Item) {
        match item {
            Item::Path { steps, paint, ink } => {
                let d = format!(" d=\"{}\"", outline(steps));
                match paint {
                    Paint::Fill => self.add(fill(*ink), "path", d),
                    Paint::Crisp => self.add(fill(*ink) + " shape-rendering=\"crispEdges\"", "path", d),
                    Paint::Stroke(width) => self.add(stroke(*ink, *width), "path", faint("stroke", *ink) + &d),
                }
            }
            Item::Fading { ends: [a, b], width, ink, opacity } => {
                let most = opacity[0].max(opacity[1]);
                if most <= 0.0 || a.distance(*b) < 0.01 {
                    return;
                }
                let color = hex(ink.color);
                let stop = |at: f32, opacity: f32| {
                    format!(
                        "<stop offset=\"{}\" stop-color=\"{color}\" stop-opacity=\"{}\"/>",
                        share(at),
                        share(opacity)
                    )
                };
                // In hundredths, so that many lines share a look.
                let [from, to] = opacity.map(|o| (o / most * 100.0).round() / 100.0);
                let look = self.look(&(stop(0.0, from) + &stop(1.0, to)));
                let [x1, y1, x2, y2] = [a.x, a.y, b.x, b.y].map(place);
                let own = format!(
                    "<linearGradient id=\"g{}\" xlink:href=\"#{look}\" gradientUnits=\"userSpaceOnUse\" x1=\"{x1}\" y1=\"{y1}\" \
                     x2=\"{x2}\" y2=\"{y2}\"/>\n",
                    self.gradients
                );
                self.definitions.push_str(&own);
                let ink = Ink { opacity: ink.opacity * most, ..*ink };
                let attributes =
                    faint("stroke", ink) + &format!(" stroke=\"url(#g{})\" d=\"M{x1} {y1}L{x2} {y2}\"", self.gradients);
                self.gradients += 1;
                self.add(format!(" fill=\"none\" stroke-width=\"{}\"", place(*width)), "path", attributes);
            }
            Item::Dot { at, radius, ink } => self.add(fill(*ink), "circle", circle(at.x, at.y, *radius)),
            Item::Ring { at, radius, width, ink } => {
                self.add(stroke(*ink, *width), "circle", circle(at.x, at.y, *radius) + &faint("stroke", *ink));
            }
            Item::Glow { at, radius, within, stops, ink, adds } => {
                let look = self.look(&stops_of(stops, ink.color));
                let gradient = format!(
                    "<radialGradient id=\"g{}\" xlink:href=\"#{look}\" gradientUnits=\"userSpaceOnUse\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>\n",
                    self.gradients,
                    place(at.x),
                    place(at.y),
                    place(*radius)
                );
                self.definitions.push_str(&gradient);
                let blend = if *adds { " style=\"mix-blend-mode:screen\"" } else { "" };
                let own = format!(
                    "{blend}{} fill=\"url(#g{})\" d=\"{}\"",
                    faint("fill", *ink),
                    self.gradients,
                    outline(within)
                );
                self.gradients += 1;
                self.add(String::new(), "path", own);
            }
            Item::Letters(letters) => self.letters(letters),
            Item::Clip(clip) => self.clip(*clip),
        }
    }

    fn letters(&mut self, letters: &Letters) {
        let Letters { at, angle, size, weight, ink, text, places } = letters;
        let weight = match weight.number() {
            400 => String::new(),
            number => format!(" font-weight=\"{number}\""),
        };
        let shared = format!("{} font-size=\"{}\"{weight}", fill(*ink), place(*size));
        let mut own = format!(" x=\"{}\" y=\"{}\"", place(at.x), place(at.y));
        // Another typeface in place of ours takes the same room.
        if let Some(length) = places.last().filter(|length| places.len() > 2 && **length > 0.0) {
            let _ = write!(own, " textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\"", place(*length));
        }
        if *angle != 0.0 {
            let _ = write!(own, " transform=\"rotate({} {} {})\"", place(angle.to_degrees()), place(at.x), place(at.y));
        }
        if text.contains("  ") {
            own.push_str(" xml:space=\"preserve\"");
        }
        self.put(shared, "text", own, escaped(text));
    }

    fn clip(&mut self, clip: Option<[f32; 4]>) {
        self.flush();
        if self.clipped {
            self.body.push_str("</g>\n");
        }
        self.clipped = clip.is_some();
        if let Some([left, top, right, bottom]) = clip {
            let (x, y) = (place(left), place(top));
            let _ = writeln!(
                self.definitions,
                "<clipPath id=\"c{}\"><path d=\"M{x} {y}H{}V{}H{x}z\"/></clipPath>",
                self.clips,
                place(right),
                place(bottom)
            );
            let _ = writeln!(self.body, "<g clip-path=\"url(#c{})\">", self.clips);
            self.clips += 1;
        }
    }

    /// The name of a gradient that has these stops and no place: others refer to it.
    fn look(&mut self, stops: &str) -> String {
        let number = self.looks.iter().position(|look| look == stops).unwrap_or_else(|| {
            self.looks.push(stops.to_owned());
            let number = self.looks.len() - 1;
            let _ = writeln!(self.definitions, "<linearGradient id=\"s{number}\">{stops}</linearGradient>");
            number
        });
        format!("s{number}")
    }

    fn add(&mut self, shared: String, name: &'static str, own: String) {
        self.put(shared, name, own, String::new());
    }

    fn put(&mut self, shared: String, name: &'static str, own: String, content: String) {
        if shared != self.shared {
            self.flush();
            self.shared = shared;
        }
        self.held.push((name, own, content));
    }

    /// Writes what is held.
    fn flush(&mut self) {
        let held = std::mem::take(&mut self.held);
        let shared = std::mem::take(&mut self.shared);
        let is_group = held.len() > 1 && !shared.is_empty();
        if is_group {
            let _ = writeln!(self.body, "<g{shared}>");
        }
        for (name, own, content) in &held {
            let shared = if is_group { "" } else { shared.as_str() };
            let _ = match content.is_empty() {
                true => writeln!(self.body, "<{name}{shared}{own}/>"),
                false => writeln!(self.body, "<{name}{shared}{own}>{content}</{name}>"),
            };
        }
        if is_group {
            self.body.push_str("</g>\n");
        }
    }
}

fn hex([r, g, b]: [u8; 3]) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn fill(ink: Ink) -> String {
    format!(" fill=\"{}\"{}", hex(ink.color), faint("fill", ink))
}

fn stroke(ink: Ink, width: f32) -> String {
    format!(" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"", hex(ink.color), place(width))
}

/// The attribute that says how much an ink covers, where that is not all.
fn faint(what: &str, ink: Ink) -> String {
    match share(ink.opacity).as_str() {
        "1" => String::new(),
        opacity => format!(" {what}-opacity=\"{opacity}\""),
    }
}

fn circle(x: f32, y: f32, r: f32) -> String {
    format!(" cx=\"{}\" cy=\"{}\" r=\"{}\"", place(x), place(y), place(r))
}

fn stops_of(stops: &Stops, color: [u8; 3]) -> String {
    let color = hex(color);
    let stop = |(at, opacity): &(f32, f32)| {
        format!("<stop offset=\"{}\" stop-color=\"{color}\" stop-opacity=\"{}\"/>", share(*at), share(*opacity))
    };
    stops.iter().map(stop).collect()
}

/// Text as XML may hold it: signs of markup told by name; what XML 1.0 has no place for is the sign for what cannot be shown.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(' '),
            '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_leave_its_place() {
        assert_eq!(escaped("<b>&\"'"), "&lt;b&gt;&amp;&quot;&#39;");
        assert_eq!(escaped("a\u{0}\u{1b}[2Jb\u{9b}\u{fffe}\tc"), "a\u{fffd}\u{fffd}[2Jb\u{fffd}\u{fffd} c");
        assert_eq!(escaped("数据 é"), "数据 é");
    }
}
