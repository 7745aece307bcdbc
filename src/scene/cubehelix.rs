//! Colours for any number of kinds: the cubehelix (Green, 2011), which goes round the hues while it becomes lighter, so that colours
//! differ in both, for the colour-blind and on a grey print too.

use super::palette::{self, Rgba};

/// Where on the way round the hues it starts, and how far it goes; how strong hues are; what makes the middle lighter.
const START: f32 = 0.6;
const ROUNDS: f32 = -1.6;
const HUE: f32 = 1.9;
const GAMMA: f32 = 0.7;
/// From dark to light: on a dark ground the darkest is still seen.
const LIGHTNESS: [f32; 2] = [0.2, 0.68];

/// The colour of a kind, by number of so many, while the one that is `lit` stands out: all others are quieter then.
#[must_use]
pub fn shown(kind: usize, kinds: usize, lit: Option<usize>) -> Rgba {
    let own = color(kind, kinds);
    if lit.is_none_or(|lit| lit == kind) { own } else { palette::mix(own, palette::TRACK, 0.82) }
}

/// The colour of the `n`th of so many kinds.
#[must_use]
pub fn color(n: usize, count: usize) -> Rgba {
    let share = (n as f32 + 0.5) / count.max(1) as f32;
    let lightness = (LIGHTNESS[0] + (LIGHTNESS[1] - LIGHTNESS[0]) * share).powf(GAMMA);
    let angle = std::f32::consts::TAU * (START / 3.0 + 1.0 + ROUNDS * share);
    let amplitude = HUE * lightness * (1.0 - lightness) / 2.0;
    let (sin, cos) = angle.sin_cos();
    let channel = |by_cos: f32, by_sin: f32| {
        let value = (lightness + amplitude * (by_cos * cos + by_sin * sin)).clamp(0.0, 1.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 255")]
        let byte = (value * 255.0).round() as u8;
        byte
    };
    [channel(-0.148_61, 1.782_77), channel(-0.292_27, -0.906_49), channel(1.972_94, 0.0), 255]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_differ_and_become_lighter() {
        let luma = |c: Rgba| 0.30 * f32::from(c[0]) + 0.59 * f32::from(c[1]) + 0.11 * f32::from(c[2]);
        for count in [1, 2, 7, 24] {
            let all: Vec<Rgba> = (0..count).map(|n| color(n, count)).collect();
            for pair in all.windows(2) {
                assert!(luma(pair[0]) < luma(pair[1]), "{pair:?} of {count}");
                let apart: i32 = (0..3).map(|at| (i32::from(pair[0][at]) - i32::from(pair[1][at])).abs()).sum();
                assert!(apart > 12, "{pair:?} of {count}");
            }
            assert!(all.iter().all(|c| luma(*c) > 45.0), "{all:?}");
        }
    }
}
