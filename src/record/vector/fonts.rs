//! The typeface in a PDF: which glyph a character is, and the objects that embed it.

use crate::overlay::fonts::Weight;
use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Filter, Finish as _, Name, Pdf, Rect, Ref, Str};
use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, GlyphId, MetadataProvider as _, Tag};
use std::collections::BTreeMap;

/// A font of the typeface: a weight, and whether it is the one with other letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Face {
    weight: Weight,
    is_more: bool,
}

impl Face {
    /// The font of this weight that has a letter; the first one where none has.
    pub(super) fn of(c: char, weight: Weight) -> Self {
        let has = |bytes| FontRef::new(bytes).is_ok_and(|font| font.charmap().map(c).is_some());
        Self { weight, is_more: !has(weight.bytes()) && has(weight.more_bytes()) }
    }

    fn bytes(self) -> &'static [u8] {
        if self.is_more { self.weight.more_bytes() } else { self.weight.bytes() }
    }

    /// What it is called in the file's resources.
    pub(super) fn name(self) -> &'static [u8] {
        match (self.weight, self.is_more) {
            (Weight::Regular, false) => b"FR",
            (Weight::Medium, false) => b"FM",
            (Weight::SemiBold, false) => b"FS",
            (Weight::Regular, true) => b"GR",
            (Weight::Medium, true) => b"GM",
            (Weight::SemiBold, true) => b"GS",
        }
    }
}

/// A font that is used, and which of its glyphs are.
pub(super) struct UsedFont {
    font: FontRef<'static>,
    face: Face,
    /// By glyph: the first character it stood for, and its width in thousandths of the size of type.
    glyphs: BTreeMap<u16, (char, f32)>,
}

impl UsedFont {
    /// `None`: the bytes are no font, which those of the program are.
    pub(super) fn new(face: Face) -> Option<Self> {
        FontRef::new(face.bytes()).ok().map(|font| Self { font, face, glyphs: BTreeMap::new() })
    }

    /// The glyph of a character, 0 where the typeface has none, and its width.
    pub(super) fn glyph(&mut self, c: char) -> (u16, f32) {
        let glyph = self.font.charmap().map(c).and_then(|glyph| u16::try_from(glyph.to_u32()).ok()).unwrap_or(0);
        let font = &self.font;
        let (_, width) = self.glyphs.entry(glyph).or_insert_with(|| (c, width(font, glyph)));
        (glyph, *width)
    }

    /// Writes its objects; `id` is that of the font, `next` gives others.
    pub(super) fn write(&self, pdf: &mut Pdf, id: Ref, next: &mut dyn FnMut() -> Ref) {
        let (descendant, descriptor, file, cmap) = (next(), next(), next(), next());
        let base: &[u8] = match (self.face.weight, self.face.is_more) {
            (Weight::Regular, false) => b"Inter-Regular",
            (Weight::Medium, false) => b"Inter-Medium",
            (Weight::SemiBold, false) => b"Inter-SemiBold",
            (Weight::Regular, true) => b"Inter-Regular-More",
            (Weight::Medium, true) => b"Inter-Medium-More",
            (Weight::SemiBold, true) => b"Inter-SemiBold-More",
        };
        // The one with other letters is a TrueType file, as it is; of the first one the outlines are enough.
        let is_true_type = self.face.is_more;
        let system = SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };
        pdf.type0_font(id)
            .base_font(Name(base))
            .encoding_predefined(Name(b"Identity-H"))
            .descendant_font(descendant)
            .to_unicode(cmap);
        // The font is no CID font, so that numbers of characters are those of glyphs (ISO 32000-1, 9.7.4.2).
        let mut cid = pdf.cid_font(descendant);
        let kind = if is_true_type { CidFontType::Type2 } else { CidFontType::Type0 };
        cid.subtype(kind).base_font(Name(base)).system_info(system).font_descriptor(descriptor);
        cid.default_width(0.0);
        if is_true_type {
            cid.cid_to_gid_map_predefined(Name(b"Identity"));
        }
        let mut widths = cid.widths();
        for (glyph, (_, width)) in &self.glyphs {
            widths.same(*glyph, *glyph, *width);
        }
        widths.finish();
        cid.finish();
        let metrics = self.font.metrics(Size::new(1000.0), LocationRef::default());
        let bounds = metrics.bounds.map_or([0.0, 0.0, 1000.0, 1000.0], |b| [b.x_min, b.y_min, b.x_max, b.y_max]);
        let [x0, y0, x1, y1] = bounds.map(f32::round);
        let mut about = pdf.font_descriptor(descriptor);
        about
            .name(Name(base))
            .flags(FontFlags::NON_SYMBOLIC)
            .bbox(Rect::new(x0, y0, x1, y1))
            .italic_angle(0.0)
            .ascent(metrics.ascent.round())
            .descent(metrics.descent.round())
            .cap_height(metrics.cap_height.unwrap_or(metrics.ascent).round())
            // Nobody measures stems of an embedded font; the key is required.
            .stem_v(80.0);
        let outlines = if is_true_type {
            about.font_file2(file);
            self.face.bytes()
        } else {
            about.font_file3(file);
            self.font.table_data(Tag::new(b"CFF ")).map_or(&[][..], |data| data.as_bytes())
        };
        about.finish();
        let packed = super::pdf::packed(outlines);
        let mut stream = pdf.stream(file, &packed);
        stream.filter(Filter::FlateDecode);
        if is_true_type {
            stream.pair(Name(b"Length1"), i32::try_from(outlines.len()).unwrap_or(i32::MAX));
        } else {
            stream.pair(Name(b"Subtype"), Name(b"CIDFontType0C"));
        }
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
