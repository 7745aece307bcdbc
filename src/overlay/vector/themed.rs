//! A drawing in another theme. A theme is a pass over the finished picture (`render::themes`); vectors have no finished pixels, so
//! each ink is turned as it is seen on the ground, which is exact there and close where things lie on each other. Lines, of which many
//! lie on each other, come to their own turned colour instead, as they do in pixels.

use super::{Drawing, Ink, Item, Paint};
use crate::scene::palette::{self, Theme};

/// Turns all of a drawing, its ground too.
pub(super) fn turn(drawing: &mut Drawing, theme: Theme) {
    if theme == Theme::Dark {
        return;
    }
    drawing.ground = drawing.ground.map(|[r, g, b]| rgb(palette::themed([r, g, b, 255], theme)));
    for item in &mut drawing.items {
        match item {
            Item::Path { ink, paint: Paint::Stroke(_), .. } => *ink = covering(*ink, theme),
            Item::Path { ink, .. } | Item::Dot { ink, .. } | Item::Ring { ink, .. } => *ink = turned(*ink, theme),
            Item::Fading { ink, opacity, .. } => {
                let most = opacity[0].max(opacity[1]).max(1e-3);
                let whole = covering(Ink { opacity: ink.opacity * most, ..*ink }, theme);
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
    let (seen, ground) = (seen(ink, theme), seen(Ink { opacity: 0.0, ..ink }, theme));
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

/// An ink's own colour, turned, with the opacity with which it comes closest to what [`turned`] gives.
fn covering(ink: Ink, theme: Theme) -> Ink {
    let (seen, ground) = (seen(ink, theme), seen(Ink { opacity: 0.0, ..ink }, theme));
    let [r, g, b] = ink.color;
    let color = rgb(palette::themed([r, g, b, 255], theme));
    let (mut toward, mut length) = (0.0, 0.0);
    for n in 0..3 {
        let whole = f32::from(color[n]) - ground[n];
        toward += whole * (seen[n] - ground[n]);
        length += whole * whole;
    }
    let opacity = if length > 0.0 { (toward / length).clamp(0.0, 1.0) } else { ink.opacity };
    Ink { color, opacity }
}

/// What an ink on the dark ground looks like once it is turned.
fn seen(ink: Ink, theme: Theme) -> [f32; 3] {
    let [r, g, b] = ink.color;
    let dark = palette::mix(palette::BACKGROUND, [r, g, b, 255], ink.opacity);
    rgb(palette::themed(dark, theme)).map(f32::from)
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
                    // A line is about as dark, and of many what is seen is their own colour.
                    let line = covering(Ink { color: rgb(*color), opacity }, theme);
                    assert_eq!(line.color, rgb(palette::themed(*color, theme)));
                    let [r, g, b] = line.color;
                    let seen = palette::mix(ground, [r, g, b, 255], line.opacity);
                    let apart: i32 = (0..3).map(|n| i32::from(seen[n]) - i32::from(wanted[n])).sum();
                    assert!(apart.abs() <= 60, "{theme:?} {color:?} {opacity}: {seen:?} {wanted:?}");
                }
            }
        }
    }
}
