//! The typeface: Inter, in three weights, embedded. The same glyphs on every machine.

use egui::{FontData, FontDefinitions, FontFamily, FontId};
use std::sync::Arc;

const REGULAR: &[u8] = include_bytes!("../../assets/fonts/Inter-Regular.otf");
const MEDIUM: &[u8] = include_bytes!("../../assets/fonts/Inter-Medium.otf");
const SEMIBOLD: &[u8] = include_bytes!("../../assets/fonts/Inter-SemiBold.otf");

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

    /// The font, an OpenType file.
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

/// What `egui::Context::set_fonts` takes.
#[must_use]
pub fn definitions() -> FontDefinitions {
    let mut fonts = FontDefinitions::empty();
    let weights = [("regular", REGULAR), ("medium", MEDIUM), ("semibold", SEMIBOLD)];
    for (name, bytes) in weights {
        fonts.font_data.insert(name.into(), Arc::new(FontData::from_static(bytes)));
    }
    let mut family =
        |family: FontFamily, name: &str| fonts.families.insert(family, vec![name.into(), "regular".into()]);
    family(FontFamily::Proportional, "regular");
    family(FontFamily::Monospace, "regular");
    family(Weight::Medium.family(), "medium");
    family(Weight::SemiBold.family(), "semibold");
    fonts
}
