//! Fonts of the machine, for letters that the typeface has not: names of arrays and captions in any script.

use crate::overlay::fonts::everywhere;
use egui::FontData;
use egui::epaint::text::{FallbackRequest, FontInsert, FontProvider};
use egui::mutex::Mutex;
use fontdb::{Database, FaceInfo, ID, Stretch, Style};
use skrifa::instance::{LocationRef, Size};
use skrifa::outline::{DrawSettings, OutlinePen};
use skrifa::{FontRef, MetadataProvider as _};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Letters at most that are looked for in all fonts and found in none. Each takes as long as it takes to open all fonts.
const MISSED: usize = 100;

/// The fonts that are installed. They are listed when a letter is first asked for.
#[derive(Default)]
pub struct MachineFonts {
    listed: OnceLock<Listed>,
    /// Where each letter was found that was asked for.
    found: Mutex<BTreeMap<char, Option<ID>>>,
    /// Fonts that were read, which copies share.
    read: Mutex<BTreeMap<ID, FontData>>,
}

struct Listed {
    fonts: Database,
    /// The ones to try first come first.
    order: Vec<ID>,
}

impl Listed {
    fn new() -> Self {
        let mut fonts = Database::new();
        fonts.load_system_fonts();
        let mut order: Vec<&FaceInfo> = fonts.faces().collect();
        order.sort_by_cached_key(|face| rank(face));
        let order = order.into_iter().map(|face| face.id).collect();
        Self { fonts, order }
    }

    /// The first font that draws this letter.
    fn face_of(&self, c: char) -> Option<ID> {
        let draws = |id: &ID| self.fonts.with_face_data(*id, |data, index| draws(data, index, c)).unwrap_or(false);
        self.order.iter().copied().find(draws)
    }
}

/// Upright faces of a usual width and weight without serifs first, as Inter is one; always in the same order.
fn rank(face: &FaceInfo) -> (bool, bool, bool, u16, String, u32) {
    let name = face.families.first().map_or_else(String::new, |(name, _)| name.clone());
    let is_odd = face.style != Style::Normal || face.stretch != Stretch::Normal;
    let weight = face.weight.0.abs_diff(400);
    (is_odd, face.monospaced, !name.contains("Sans"), weight, name, face.index)
}

/// Whether a font has an outline for a letter. Those that are pictures have none that can be drawn here.
fn draws(data: &[u8], index: u32, c: char) -> bool {
    let drawn = || {
        let font = FontRef::from_index(data, index).ok()?;
        let glyph = font.charmap().map(c)?;
        let mut strokes = Strokes(0);
        let settings = DrawSettings::unhinted(Size::new(16.0), LocationRef::default());
        font.outline_glyphs().get(glyph)?.draw(settings, &mut strokes).ok()?;
        Some(strokes.0 > 0)
    };
    drawn().unwrap_or(false)
}

/// Counts what is drawn.
struct Strokes(u32);

impl OutlinePen for Strokes {
    fn move_to(&mut self, _: f32, _: f32) {}

    fn line_to(&mut self, _: f32, _: f32) {
        self.0 += 1;
    }

    fn quad_to(&mut self, _: f32, _: f32, _: f32, _: f32) {
        self.0 += 1;
    }

    fn curve_to(&mut self, _: f32, _: f32, _: f32, _: f32, _: f32, _: f32) {
        self.0 += 1;
    }

    fn close(&mut self) {}
}

impl FontProvider for MachineFonts {
    fn font_for(&self, request: &FallbackRequest<'_>) -> Option<FontInsert> {
        let letter = request.cluster.chars().next().filter(|c| !c.is_whitespace())?;
        let listed = self.listed.get_or_init(Listed::new);
        let id = {
            let mut found = self.found.lock();
            match found.get(&letter) {
                Some(id) => *id,
                None if found.values().filter(|id| id.is_none()).count() >= MISSED => None,
                None => *found.entry(letter).or_insert_with(|| listed.face_of(letter)),
            }
        }?;
        let mut read = self.read.lock();
        let font = match read.get(&id) {
            Some(font) => font.clone(),
            None => {
                let (data, index) = listed.fonts.with_face_data(id, |data, index| (data.to_vec(), index))?;
                let font = FontData { index, ..FontData::from_owned(data) };
                read.entry(id).or_insert(font).clone()
            }
        };
        Some(FontInsert::new(&format!("machine {id}"), font, everywhere()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overlay::fonts::Weight;

    #[test]
    fn a_font_draws_the_letters_that_it_has_an_outline_for() {
        let inter = Weight::Regular.bytes();
        assert!(draws(inter, 0, 'a') && draws(inter, 0, 'ж') && !draws(inter, 0, '行'));
        assert!(!draws(inter, 0, ' '), "a space has no outline");
        assert!(!draws(b"no font", 0, 'a') && !draws(inter, 7, 'a'));
    }

    #[test]
    fn what_no_font_has_is_not_found() {
        let fonts = MachineFonts::default();
        let family = egui::FontFamily::Proportional;
        // A sign that stands for none, in any font.
        for cluster in ["\u{10fffe}", " ", ""] {
            assert!(fonts.font_for(&FallbackRequest { cluster, family: &family }).is_none(), "{cluster:?}");
        }
        assert_eq!(fonts.found.lock().len(), 1);
    }
}
