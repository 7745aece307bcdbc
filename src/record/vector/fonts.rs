//! The typeface in a PDF: which glyph a character is, and the objects that embed it.

use crate::overlay::fonts::Weight;
use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Filter, Finish as _, Name, Pdf, Rect, Ref, Str};
use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, GlyphId, MetadataProvider as _};
use std::collections::BTreeMap;
use subsetter::GlyphRemapper;

/// A weight that is used, and which of its glyphs are.
pub(super) struct UsedFont {
    font: FontRef<'static>,
    weight: Weight,
    /// The glyphs that are embedded, which have other numbers than in the whole font.
    embedded: GlyphRemapper,
    /// By number of an embedded glyph: the first character it stood for, and its width in thousandths of the size of type.
    glyphs: BTreeMap<u16, (char, f32)>,
}

impl UsedFont {
    /// `None`: the bytes are no font, which those of the program are.
    pub(super) fn new(weight: Weight) -> Option<Self> {
        FontRef::new(weight.bytes()).ok().map(|font| Self {
            font,
            weight,
            embedded: GlyphRemapper::new(),
            glyphs: BTreeMap::new(),
        })
    }

    /// The embedded glyph of a character, 0 where the typeface has none, and its width.
    pub(super) fn glyph(&mut self, c: char) -> (u16, f32) {
        let whole = self.font.charmap().map(c).and_then(|glyph| u16::try_from(glyph.to_u32()).ok()).unwrap_or(0);
        let glyph = self.embedded.remap(whole);
        let font = &self.font;
        let (_, width) = self.glyphs.entry(glyph).or_insert_with(|| (c, width(font, whole)));
        (glyph, *width)
    }

    /// What it is called in the file's resources.
    pub(super) fn name(weight: Weight) -> &'static [u8] {
        match weight {
            Weight::Regular => b"FR",
            Weight::Medium => b"FM",
            Weight::SemiBold => b"FS",
        }
    }

    /// Writes its objects; `id` is that of the font, `next` gives others.
    pub(super) fn write(&self, pdf: &mut Pdf, id: Ref, next: &mut dyn FnMut() -> Ref) {
        let (descendant, descriptor, file, cmap) = (next(), next(), next(), next());
        let base: &[u8] = match self.weight {
            // The letters before the sign say that it is a part of the font (ISO 32000-1, 9.6.4).
            Weight::Regular => b"ORRERY+Inter-Regular",
            Weight::Medium => b"ORRERY+Inter-Medium",
            Weight::SemiBold => b"ORRERY+Inter-SemiBold",
        };
        let system = SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };
        pdf.type0_font(id)
            .base_font(Name(base))
            .encoding_predefined(Name(b"Identity-H"))
            .descendant_font(descendant)
            .to_unicode(cmap);
        let mut cid = pdf.cid_font(descendant);
        cid.subtype(CidFontType::Type2).base_font(Name(base)).system_info(system).font_descriptor(descriptor);
        // Numbers of characters are those of embedded glyphs (ISO 32000-1, 9.7.4.2).
        cid.default_width(0.0).cid_to_gid_map_predefined(Name(b"Identity"));
        let mut widths = cid.widths();
        for (glyph, (_, width)) in &self.glyphs {
            widths.same(*glyph, *glyph, *width);
        }
        widths.finish();
        cid.finish();
        let metrics = self.font.metrics(Size::new(1000.0), LocationRef::default());
        let bounds = metrics.bounds.map_or([0.0, 0.0, 1000.0, 1000.0], |b| [b.x_min, b.y_min, b.x_max, b.y_max]);
        let [x0, y0, x1, y1] = bounds.map(f32::round);
        pdf.font_descriptor(descriptor)
            .name(Name(base))
            .flags(FontFlags::NON_SYMBOLIC)
            .bbox(Rect::new(x0, y0, x1, y1))
            .italic_angle(0.0)
            .ascent(metrics.ascent.round())
            .descent(metrics.descent.round())
            .cap_height(metrics.cap_height.unwrap_or(metrics.ascent).round())
            // Nobody measures stems of an embedded font; the key is required.
            .stem_v(80.0)
            .font_file2(file);
        // Only a font that is damaged cannot be cut, which those of the program are not.
        let part = subsetter::subset(self.weight.bytes(), 0, &self.embedded).unwrap_or_default();
        let packed = super::pdf::packed(&part);
        let mut stream = pdf.stream(file, &packed);
        stream.filter(Filter::FlateDecode).pair(Name(b"Length1"), i32::try_from(part.len()).unwrap_or(i32::MAX));
        stream.finish();
        let mut unicode = UnicodeCmap::<u16>::new(Name(b"Custom"), system);
        for (glyph, (c, _)) in self.glyphs.iter().filter(|(glyph, _)| **glyph != 0) {
            unicode.pair(*glyph, *c);
        }
        pdf.cmap(cmap, &unicode.finish());
    }
}

fn width(font: &FontRef<'_>, glyph: u16) -> f32 {
    font.glyph_metrics(Size::new(1000.0), LocationRef::default())
        .advance_width(GlyphId::new(glyph.into()))
        .unwrap_or(0.0)
}
