//! A drawing as a PDF of one page.

use super::fonts::UsedFont;
use crate::overlay::fonts::Weight;
use crate::overlay::vector::{Drawing, Ink, Item, Letters, Paint, Step, Stops};
use egui::Pos2;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use pdf_writer::types::{BlendMode, FunctionShadingType, MaskType};
use pdf_writer::{Content, Filter, Finish as _, Name, Pdf, Rect, Ref, Settings, Str, TextStr};
use std::collections::BTreeMap;
use std::io::Write as _;

/// Points of paper for a pixel: 96 pixels are an inch, as in CSS.
const POINT: f32 = 0.75;

/// How far opacities of a fading line's steps are apart, at most.
const FADES: f32 = 0.04;

/// The bytes of a PDF file. Deterministic: it has no date and no number of its own.
#[must_use]
pub fn pdf(drawing: &Drawing) -> Vec<u8> {
    let mut page = Page::new();
    let [width, height] = drawing.size.map(|side| side as f32 * POINT);
    let [sx, sy] = [width / drawing.space[0], height / drawing.space[1]];
    // From here on y points down, and units are those of the drawing.
    page.content.transform([sx, 0.0, 0.0, -sy, 0.0, height]);
    if let Some(color) = drawing.ground {
        let [w, h] = drawing.space;
        page.fill(Ink { color, opacity: 1.0 });
        page.content.rect(0.0, 0.0, w, h).fill_nonzero();
    }
    for item in &drawing.items {
        page.item(item);
    }
    page.clip(None);
    page.finish(drawing, [width, height])
}

/// Packs a stream.
pub(super) fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    // Memory takes everything.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

/// What the graphics state holds, so that nothing is said twice; `None` = nobody knows.
#[derive(Clone, Copy, Default)]
struct Held {
    fill: Option<[u8; 3]>,
    stroke: Option<[u8; 3]>,
    width: Option<f32>,
    opacity: Option<u16>,
}

struct Page {
    content: Content,
    held: Held,
    /// What was held before a clip.
    outside: Option<Held>,
    /// Opacities that are used, thousandths.
    opacities: BTreeMap<u16, ()>,
    /// Masks that are used: stops, in the order of use.
    masks: Vec<(Stops, bool)>,
    fonts: BTreeMap<Weight, UsedFont>,
}

impl Page {
    fn new() -> Self {
        let content = Content::with_settings(Settings { pretty: false });
        Self {
            content,
            held: Held::default(),
            outside: None,
            opacities: BTreeMap::new(),
            masks: Vec::new(),
            fonts: BTreeMap::new(),
        }
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Path { steps, paint, ink } => {
                match paint {
                    Paint::Fill | Paint::Crisp => self.fill(*ink),
                    Paint::Stroke(width) => self.stroke(*ink, *width),
                }
                self.outline(steps);
                match paint {
                    Paint::Fill | Paint::Crisp => self.content.fill_nonzero(),
                    Paint::Stroke(_) => self.content.stroke(),
                };
            }
            Item::Fading { ends: [a, b], width, ink, opacity: [from, to] } => {
                // A mask for each line would cost readers more than steps do.
                let steps = steps((to - from).abs() * ink.opacity / FADES);
                for n in 0..steps {
                    let at = |n: u16| *a + (*b - *a) * (f32::from(n) / f32::from(steps));
                    let opacity = from + (to - from) * (f32::from(n) + 0.5) / f32::from(steps);
                    self.stroke(Ink { opacity: ink.opacity * opacity, ..*ink }, *width);
                    self.outline(&[Step::Move(at(n)), Step::Line(at(n + 1))]);
                    self.content.stroke();
                }
            }
            Item::Dot { at, radius, ink } => {
                self.fill(*ink);
                self.circle(*at, *radius);
                self.content.fill_nonzero();
            }
            Item::Ring { at, radius, width, ink } => {
                self.stroke(*ink, *width);
                self.circle(*at, *radius);
                self.content.stroke();
            }
            Item::Glow { at, radius, within, stops, ink, adds } => {
                self.glow(*at, *radius, within, (stops, *adds), *ink)
            }
            Item::Letters(letters) => self.letters(letters),
            Item::Clip(clip) => self.clip(*clip),
        }
    }

    // ---- state

    fn opacity(&mut self, opacity: f32) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1,000")]
        let thousandths = (opacity.clamp(0.0, 1.0) * 1000.0).round() as u16;
        if self.held.opacity != Some(thousandths) {
            self.held.opacity = Some(thousandths);
            self.opacities.insert(thousandths, ());
            self.content.set_parameters(Name(format!("A{thousandths}").as_bytes()));
        }
    }

    fn fill(&mut self, ink: Ink) {
        self.opacity(ink.opacity);
        if self.held.fill != Some(ink.color) {
            self.held.fill = Some(ink.color);
            let [r, g, b] = shares(ink.color);
            self.content.set_fill_rgb(r, g, b);
        }
    }

    fn stroke(&mut self, ink: Ink, width: f32) {
        self.opacity(ink.opacity);
        if self.held.stroke != Some(ink.color) {
            self.held.stroke = Some(ink.color);
            let [r, g, b] = shares(ink.color);
            self.content.set_stroke_rgb(r, g, b);
        }
        let width = rounded(width);
        if self.held.width != Some(width) {
            self.held.width = Some(width);
            self.content.set_line_width(width);
        }
    }

    fn clip(&mut self, clip: Option<[f32; 4]>) {
        if let Some(held) = self.outside.take() {
            self.held = held;
            self.content.restore_state();
        }
        if let Some([left, top, right, bottom]) = clip.map(|sides| sides.map(rounded)) {
            self.outside = Some(self.held);
            self.content.save_state();
            self.content.rect(left, top, right - left, bottom - top).clip_nonzero().end_path();
        }
    }

    // ---- outlines

    fn outline(&mut self, steps: &[Step]) {
        for step in steps {
            match *step {
                Step::Move(p) => self.content.move_to(rounded(p.x), rounded(p.y)),
                Step::Line(p) => self.content.line_to(rounded(p.x), rounded(p.y)),
                Step::Curve(a, b, p) => {
                    let [ax, ay, bx, by, x, y] = [a.x, a.y, b.x, b.y, p.x, p.y].map(rounded);
                    self.content.cubic_to(ax, ay, bx, by, x, y)
                }
                Step::Close => self.content.close_path(),
            };
        }
    }

    fn circle(&mut self, at: Pos2, radius: f32) {
        self.outline(&crate::overlay::vector::circle(at, radius));
    }

    fn glow(&mut self, at: Pos2, radius: f32, within: &[Step], (stops, adds): (&Stops, bool), ink: Ink) {
        let mask = (stops.clone(), adds);
        let number = self.masks.iter().position(|known| *known == mask).unwrap_or_else(|| {
            self.masks.push(mask);
            self.masks.len() - 1
        });
        let held = self.held;
        self.content.save_state();
        self.fill(ink);
        // The mask is a circle of radius 1 about 0: it stands where units are such when it is set.
        self.content.transform([radius, 0.0, 0.0, radius, at.x, at.y]);
        self.content.set_parameters(Name(format!("M{number}").as_bytes()));
        self.content.transform([1.0 / radius, 0.0, 0.0, 1.0 / radius, -at.x / radius, -at.y / radius]);
        self.outline(within);
        self.content.fill_nonzero();
        self.content.restore_state();
        self.held = held;
    }

    // ---- words

    fn letters(&mut self, letters: &Letters) {
        let Letters { at, angle, size, weight, ink, text, places } = letters;
        if !self.fonts.contains_key(weight) {
            let Some(font) = UsedFont::new(*weight) else { return };
            self.fonts.insert(*weight, font);
        }
        self.fill(*ink);
        let Some(font) = self.fonts.get_mut(weight) else { return };
        let glyphs: Vec<(u16, f32)> = text.chars().map(|c| font.glyph(c)).collect();
        // Characters that the typeface does not have look alike: the text is told beside them.
        let is_told = glyphs.iter().any(|(glyph, _)| *glyph == 0);
        if is_told {
            let mut marked = self.content.begin_marked_content_with_properties(Name(b"Span"));
            marked.properties().actual_text(TextStr(text));
        }
        let (sin, cos) = angle.sin_cos();
        self.content.begin_text().set_font(Name(UsedFont::name(*weight)), rounded(*size));
        // Letters stand upright where y points down.
        self.content.set_text_matrix([cos, sin, sin, -cos, rounded(at.x), rounded(at.y)]);
        let mut shown = self.content.show_positioned();
        let mut items = shown.items();
        let (mut run, mut now) = (Vec::new(), 0.0);
        for ((glyph, width), place) in glyphs.iter().zip(places) {
            // How far the next glyph is from where the last one ends, thousandths of the size of type.
            let off = ((place - now) * 1000.0 / size).round();
            if off.abs() >= 2.0 {
                if !run.is_empty() {
                    items.show(Str(&run));
                    run.clear();
                }
                items.adjust(-off);
                now += off * size / 1000.0;
            }
            run.extend(glyph.to_be_bytes());
            now += width * size / 1000.0;
        }
        items.show(Str(&run));
        items.finish();
        shown.finish();
        self.content.end_text();
        if is_told {
            self.content.end_marked_content();
        }
    }

    // ---- the file

    fn finish(self, drawing: &Drawing, [width, height]: [f32; 2]) -> Vec<u8> {
        let mut pdf = Pdf::with_settings(Settings { pretty: false });
        let mut last = 0;
        let mut next = || {
            last += 1;
            Ref::new(last)
        };
        let (catalog, tree, page, content, info) = (next(), next(), next(), next(), next());
        pdf.catalog(catalog).pages(tree);
        pdf.pages(tree).kids([page]).count(1);
        pdf.document_info(info).title(TextStr(&drawing.title)).creator(TextStr("Orrery"));
        let opacities: Vec<(u16, Ref)> = self.opacities.keys().map(|opacity| (*opacity, next())).collect();
        let masks: Vec<Ref> = self.masks.iter().map(|_| next()).collect();
        let fonts: Vec<(Weight, Ref)> = self.fonts.keys().map(|weight| (*weight, next())).collect();
        {
            let mut about = pdf.page(page);
            about.parent(tree).media_box(Rect::new(0.0, 0.0, width, height)).contents(content);
            about.group().transparency().isolated(true).knockout(false).color_space().device_rgb();
            let mut resources = about.resources();
            let mut states = resources.ext_g_states();
            for (opacity, id) in &opacities {
                states.pair(Name(format!("A{opacity}").as_bytes()), *id);
            }
            for (number, id) in masks.iter().enumerate() {
                states.pair(Name(format!("M{number}").as_bytes()), *id);
            }
            states.finish();
            let mut all = resources.fonts();
            for (weight, id) in &fonts {
                all.pair(Name(UsedFont::name(*weight)), *id);
            }
        }
        for (opacity, id) in &opacities {
            let share = f32::from(*opacity) / 1000.0;
            pdf.ext_graphics(*id).stroking_alpha(share).non_stroking_alpha(share);
        }
        for ((stops, adds), id) in self.masks.iter().zip(&masks) {
            mask(&mut pdf, *id, stops, *adds, &mut next);
        }
        for (font, (_, id)) in self.fonts.values().zip(&fonts) {
            font.write(&mut pdf, *id, &mut next);
        }
        let bytes = packed(&self.content.finish());
        pdf.stream(content, &bytes).filter(Filter::FlateDecode);
        pdf.finish()
    }
}

/// A state in which only as much is seen as `stops` say, from the middle of a circle of radius 1 outward.
fn mask(pdf: &mut Pdf, id: Ref, stops: &Stops, adds: bool, next: &mut dyn FnMut() -> Ref) {
    let (group, shading) = (next(), next());
    let mut state = pdf.ext_graphics(id);
    if adds {
        state.blend_mode(BlendMode::Screen);
    }
    state.soft_mask().subtype(MaskType::Luminosity).group(group);
    state.finish();
    // A function for each stretch between two stops, and before the first.
    let mut parts: Vec<((f32, f32), (f32, f32))> = stops.windows(2).map(|pair| (pair[0], pair[1])).collect();
    parts.retain(|(a, b)| b.0 - a.0 > 1e-4);
    if let Some(((at, opacity), _)) = parts.first().copied()
        && at > 1e-4
    {
        parts.insert(0, ((0.0, opacity), (at, opacity)));
    }
    let functions: Vec<Ref> = parts.iter().map(|_| next()).collect();
    for (((_, from), (_, to)), id) in parts.iter().zip(&functions) {
        pdf.exponential_function(*id).domain([0.0, 1.0]).c0([*from]).c1([*to]).n(1.0);
    }
    let stitched = next();
    pdf.stitching_function(stitched)
        .domain([0.0, 1.0])
        .functions(functions.iter().copied())
        .bounds(parts.iter().skip(1).map(|((at, _), _)| *at))
        .encode(parts.iter().flat_map(|_| [0.0, 1.0]));
    let mut about = pdf.function_shading(shading);
    about.shading_type(FunctionShadingType::Radial);
    about.color_space().device_gray();
    about.coords([0.0, 0.0, 0.0, 0.0, 0.0, 1.0]).function(stitched);
    about.finish();
    let mut content = Content::new();
    content.shading(Name(b"S"));
    let content = content.finish();
    let mut form = pdf.form_xobject(group, &content);
    form.bbox(Rect::new(-1.0, -1.0, 1.0, 1.0));
    form.group().transparency().isolated(true).knockout(false).color_space().device_gray();
    form.resources().shadings().pair(Name(b"S"), shading);
}

fn shares(color: [u8; 3]) -> [f32; 3] {
    color.map(|v| (f32::from(v) / 255.0 * 1000.0).round() / 1000.0)
}

/// Two digits after the point.
fn rounded(v: f32) -> f32 {
    if v.is_finite() { (v * 100.0).round() / 100.0 } else { 0.0 }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
fn steps(n: f32) -> u16 {
    n.ceil().clamp(1.0, 64.0) as u16
}
