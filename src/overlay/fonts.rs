//! The typeface: Inter, in three weights, embedded. Latin, Greek and Cyrillic letters are the same on every machine. Other letters come
//! from fonts of the machine, if the program asks for that ([`look_for_others`]). A letter that no font has is drawn as a box.

use egui::epaint::text::{FallbackRequest, FontInsert, FontPriority, FontProvider, InsertFontFamily};
use egui::{FontData, FontDefinitions, FontFamily, FontId, FontTweak};
use std::sync::{Arc, OnceLock};

const REGULAR: &[u8] = include_bytes!("../../assets/fonts/Inter-Regular.ttf");
const MEDIUM: &[u8] = include_bytes!("../../assets/fonts/Inter-Medium.ttf");
const SEMIBOLD: &[u8] = include_bytes!("../../assets/fonts/Inter-SemiBold.ttf");
const BOXES: &[u8] = include_bytes!("../../assets/fonts/Boxes.ttf");

/// A weight of the typeface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Body.
    Regular,
    /// Names.
    Medium,
    /// Titles.
    SemiBold,
}

impl Weight {
    fn family(self) -> FontFamily {
        match self {
            Self::Regular => FontFamily::Proportional,
            Self::Medium => FontFamily::Name("medium".into()),
            Self::SemiBold => FontFamily::Name("semibold".into()),
        }
    }

    /// The weight of a family of [`definitions`]; of any other, the regular one.
    #[must_use]
    pub(super) fn of(family: &FontFamily) -> Self {
        [Self::Medium, Self::SemiBold].into_iter().find(|weight| weight.family() == *family).unwrap_or(Self::Regular)
    }

    /// The font, a TrueType file.
    #[must_use]
    pub fn bytes(self) -> &'static [u8] {
        match self {
            Self::Regular => REGULAR,
            Self::Medium => MEDIUM,
            Self::SemiBold => SEMIBOLD,
        }
    }

    /// How bold it is, as CSS and OpenType have it.
    #[must_use]
    pub fn number(self) -> u16 {
        match self {
            Self::Regular => 400,
            Self::Medium => 500,
            Self::SemiBold => 600,
        }
    }

    /// This weight at `size` points.
    #[must_use]
    pub fn at(self, size: f32) -> FontId {
        FontId::new(size, self.family())
    }
}

/// Weights of the typeface.
const WEIGHTS: [Weight; 3] = [Weight::Regular, Weight::Medium, Weight::SemiBold];

/// Gives a context the typeface, before its first frame.
pub fn install(context: &egui::Context) {
    let mut fonts = FontDefinitions::empty();
    for weight in WEIGHTS {
        let name = format!("{weight:?}");
        // Not fitted to pixels: vectors show the same shapes, and pictures of two sizes the same weight.
        let tweak = FontTweak { hinting: Some(false), ..FontTweak::default() };
        fonts.font_data.insert(name.clone(), Arc::new(FontData::from_static(weight.bytes()).tweak(tweak)));
        fonts.families.insert(weight.family(), vec![name]);
    }
    let regular = fonts.families.get(&FontFamily::Proportional).cloned().unwrap_or_default();
    fonts.families.insert(FontFamily::Monospace, regular);
    context.set_fonts(fonts);
    if let Some(others) = OTHERS.get() {
        context.add_font_provider(others.clone());
    }
    context.add_font_provider(Arc::new(boxes));
}

static OTHERS: OnceLock<Arc<dyn FontProvider>> = OnceLock::new();

/// Says who has the letters that the typeface does not have. It counts for all pictures that this program draws from now on. Only the
/// first call counts.
pub fn look_for_others(provider: Arc<dyn FontProvider>) {
    let _ = OTHERS.set(provider);
}

/// A font of boxes, for a letter of a script that is written from right to left and that no other font has. A line is shaped in runs of
/// one font. If the box came from the typeface itself, the digits and brackets beside it would be in the same run, and in reverse order.
fn boxes(request: &FallbackRequest<'_>) -> Option<FontInsert> {
    is_right_to_left(request.cluster.chars().next()?)
        .then(|| FontInsert::new("boxes", FontData::from_static(BOXES), everywhere()))
}

/// Whether a letter is of a script that is written from right to left. One such word is drawn correctly; several words in a line are
/// drawn in the wrong order, and so are digits of that script.
#[must_use]
pub fn is_right_to_left(c: char) -> bool {
    let code = u32::from(c);
    matches!(code, 0x590..=0x8ff | 0xfb1d..=0xfdff | 0xfe70..=0xfefc | 0x10800..=0x10fff | 0x1e800..=0x1efff)
}

/// All families, behind what they have.
pub fn everywhere() -> Vec<InsertFontFamily> {
    let families = WEIGHTS.map(Weight::family).into_iter().chain([FontFamily::Monospace]);
    families.map(|family| InsertFontFamily { family, priority: FontPriority::Lowest }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::epaint::text::Glyph;

    /// The letters of a line as they are laid out. (egui adds an empty glyph once more for each letter of a run from right to left.)
    fn laid_out(words: &str) -> Vec<Glyph> {
        let mut glyphs = laid_out_whole(words);
        glyphs.retain(|glyph| glyph.advance_width > 0.0);
        glyphs
    }

    /// All glyphs of a line, those without a width too.
    fn laid_out_whole(words: &str) -> Vec<Glyph> {
        let context = egui::Context::default();
        install(&context);
        let mut glyphs = Vec::new();
        let mut output = context.run_ui(egui::RawInput::default(), |ui| {
            let color = egui::Color32::WHITE;
            let galley = ui.ctx().fonts_mut(|f| f.layout_no_wrap(words.into(), Weight::SemiBold.at(56.0), color));
            glyphs = galley.rows.iter().flat_map(|row| row.row.glyphs.clone()).collect();
        });
        output.textures_delta.clear();
        glyphs
    }

    #[test]
    fn letters_of_any_script_are_seen() {
        for words in [
            "double a[7]",
            "\u{43c}\u{430}\u{442}\u{440}\u{438}\u{446}\u{430}",
            "\u{884c}\u{5217}",
            "\u{5d0}\u{5d1}",
            "\u{2713}\u{1f600}",
            "\u{10900}",
        ] {
            let seen = |glyph: &Glyph| glyph.chr == ' ' || !glyph.uv_rect.is_nothing();
            assert!(laid_out(words).iter().all(seen), "{words}");
        }
    }

    #[test]
    fn digits_beside_words_from_right_to_left_stay_in_order() {
        let words =
            ["\u{5de}\u{5d8}\u{5e8}", "\u{645}\u{635}\u{641}\u{648}\u{641}\u{629}", "\u{10900}\u{10901}", "\u{1e900}"];
        for word in words {
            let mut glyphs = laid_out(&format!("{word}[123]"));
            glyphs.sort_by(|a, b| a.pos.x.total_cmp(&b.pos.x));
            let shown: String = glyphs.iter().map(|glyph| glyph.chr).collect();
            assert!(shown.contains("[123]"), "{shown}");
        }
    }

    #[test]
    fn marks_stand_over_letters() {
        // `x` with a circumflex, which is no letter of its own, and `e` with two marks, the second of which is none either.
        for (with, without) in [("x\u{302}", "x"), ("\u{ea}\u{301}", "\u{ea}"), ("\u{438}\u{306}", "\u{438}")] {
            let shapes = |words: &str| laid_out_whole(words).iter().filter(|glyph| !glyph.uv_rect.is_nothing()).count();
            let drawn = |words: &str| laid_out_whole(words).iter().map(|g| g.uv_rect.size.y).fold(0.0, f32::max);
            assert!(shapes(with) > shapes(without) || drawn(with) > drawn(without), "{with}");
            // Over it, not beside it.
            let end = |words: &str| laid_out_whole(words).iter().map(|g| g.pos.x + g.advance_width).fold(0.0, f32::max);
            assert!((end(with) - end(without)).abs() < 0.5, "{with}: {} and {}", end(with), end(without));
        }
    }
}
