//! A drawing in another theme. A theme is a pass over the finished picture (`render::themes`); vectors have no finished pixels, so
//! each ink is turned as it is seen on the ground, which is exact there and close where things lie on each other.

use super::{Drawing, Ink, Item};
use crate::scene::palette::{self, Theme};

/// Turns all of a drawing, its ground too.
pub(super) fn turn(drawing: &mut Drawing, theme: Theme) {
    if theme == Theme::Dark {
        return;
    }
    drawing.ground = drawing.ground.map(|[r, g, b]| rgb(palette::themed([r, g, b, 255], theme)));
    for item in &mut drawing.items {
        match item {
            Item::Path { ink, .. } | Item::Dot { ink, .. } | Item::Ring { ink, .. } => *ink = turned(*ink, theme),
            Item::Fading { ink, opacity, .. } => {
                let most = opacity[0].max(opacity[1]).max(1e-3);
                let whole = turned(Ink { opacity: ink.opacity * most, ..*ink }, theme);
                *ink = Ink { opacity: whole.opacity / most, ..whole };
                // What has to cover more than all covers all.
                *opacity = opacity.map(|o| o.min(1.0 / ink.opacity.max(1.0)));
            }
            Item::Glow { ink, adds, .. } => {
                *ink = turned(*ink, theme);
                // On a light ground light has nothing to add to.
                *adds = false;
            }
            Item::Letters(letters) => letters.ink = turned(letters.ink, theme),
            Item::Clip(_) => {}
        }
    }
}

fn rgb([r, g, b, _]: palette::Rgba) -> [u8; 3] {
    [r, g, b]
}

/// The ink that looks on a theme's ground as this one on the dark ground would once it is turned, with the least opacity with which
/// that goes.
fn turned(ink: Ink, theme: Theme) -> Ink {
    let [r, g, b] = ink.color;
    let seen = palette::mix(palette::BACKGROUND, [r, g, b, 255], ink.opacity);
    let seen = rgb(palette::themed(seen, theme)).map(f32::from);
    let ground = rgb(palette::themed(palette::BACKGROUND, theme)).map(f32::from);
    let need = (0..3).map(|n| {
        let room = if seen[n] > ground[n] { 255.0 - ground[n] } else { ground[n] };
        if room > 0.0 { (seen[n] - ground[n]).abs() / room } else { 0.0 }
    });
    let opacity = need.fold(ink.opacity, f32::max).min(1.0);
    if opacity <= 0.0 {
        return ink;
    }
    let color = std::array::from_fn(|n| byte(ground[n] + (seen[n] - ground[n]) / opacity));
    Ink { color, opacity }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a byte's range")]
fn byte(v: f32) -> u8 {
    v.clamp(0.0, 255.0).round() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_the_ground_a_turned_ink_looks_as_the_turned_picture_does() {
        for theme in [Theme::Light, Theme::Print] {
            let ground = palette::themed(palette::BACKGROUND, theme);
            for color in
                palette::REGIONS.iter().chain([&palette::MISS, &palette::EVICT, &palette::HIT, &palette::GUIDE])
            {
                for opacity in [0.08, 0.3, 0.6, 1.0] {
                    let Ink { color: own, opacity: covers } = turned(Ink { color: rgb(*color), opacity }, theme);
                    let seen = palette::mix(ground, [own[0], own[1], own[2], 255], covers);
                    let wanted = palette::themed(palette::mix(palette::BACKGROUND, *color, opacity), theme);
                    for n in 0..3 {
                        assert!(seen[n].abs_diff(wanted[n]) <= 2, "{theme:?} {color:?} {opacity}: {seen:?} {wanted:?}");
                    }
                }
            }
        }
    }
}
