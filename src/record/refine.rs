//! Finer frames: drawn larger and averaged, and without the ground they stand on.

use super::{FrameError, FrameSource};

/// What is done to a picture once it is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refinement {
    /// How many times as large it was drawn as it is wanted, 1 or more.
    pub factor: u32,
    /// The colour that becomes transparent.
    pub ground: Option<[u8; 3]>,
}

impl Refinement {
    /// Refines a picture of `size` pixels, tightly packed rows of RGBA; `spare` is a buffer of any content.
    pub fn apply(&self, rgba: &mut Vec<u8>, size: (u32, u32), spare: &mut Vec<u8>) {
        if self.factor > 1 {
            std::mem::swap(rgba, spare);
            averaged(spare, size, self.factor, rgba);
        }
        if let Some(ground) = self.ground {
            lift(ground, rgba);
        }
    }
}

/// Another source's frames, made smaller and their ground taken away.
pub struct Refined<'a> {
    source: &'a mut dyn FrameSource,
    refinement: Refinement,
    spare: Vec<u8>,
}

impl<'a> Refined<'a> {
    /// The frames of `source`, each refined.
    pub fn new(source: &'a mut dyn FrameSource, refinement: Refinement) -> Self {
        Self { source, refinement, spare: Vec::new() }
    }
}

impl FrameSource for Refined<'_> {
    fn size(&self) -> (u32, u32) {
        let (width, height) = self.source.size();
        let factor = self.refinement.factor;
        (width / factor, height / factor)
    }

    fn frames(&self) -> u64 {
        self.source.frames()
    }

    fn in_flight(&self) -> u64 {
        self.source.in_flight()
    }

    fn submit(&mut self, k: u64) -> Result<(), FrameError> {
        self.source.submit(k)
    }

    fn collect(&mut self, into: &mut Vec<u8>) -> Result<(), FrameError> {
        self.source.collect(into)?;
        self.refinement.apply(into, self.source.size(), &mut self.spare);
        Ok(())
    }
}

/// A picture of `size` made `factor` times as small: each pixel is the mean of the light of those it stands for.
fn averaged(rgba: &[u8], (width, _): (u32, u32), factor: u32, into: &mut Vec<u8>) {
    let linear = light();
    let area = factor * factor;
    let (row, factor) = (width as usize, factor as usize);
    into.clear();
    for band in rgba.chunks_exact(row * 4 * factor) {
        for x in (0..row / factor * factor).step_by(factor) {
            let mut sums = [0_u32; 4];
            for line in band.chunks_exact(row * 4) {
                for pixel in line[x * 4..(x + factor) * 4].as_chunks::<4>().0 {
                    let [r, g, b] = [pixel[0], pixel[1], pixel[2]].map(|v| linear[usize::from(v)]);
                    let all = [r, g, b, u32::from(pixel[3])];
                    sums.iter_mut().zip(all).for_each(|(sum, v)| *sum += v);
                }
            }
            let [r, g, b, a] = sums.map(|sum| (sum + area / 2) / area);
            into.extend([r, g, b].map(|v| displayed(&linear, v)));
            into.push(u8::try_from(a).unwrap_or(u8::MAX));
        }
    }
}

/// Light of each displayed value, 65,535 for white: sRGB (IEC 61966-2-1, 1999).
fn light() -> [u32; 256] {
    std::array::from_fn(|value| {
        let v = value as f32 / 255.0;
        let light = if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 65,535")]
        let light = (light * 65_535.0).round() as u32;
        light
    })
}

/// The displayed value whose light is nearest.
fn displayed(linear: &[u32; 256], light: u32) -> u8 {
    let above = linear.partition_point(|&l| l < light).min(255);
    let below = above.saturating_sub(1);
    let nearest = if linear[above].abs_diff(light) < linear[below].abs_diff(light) { above } else { below };
    u8::try_from(nearest).unwrap_or(u8::MAX)
}

/// Makes the ground transparent: each pixel gets the least opacity, and the colour, with which it looks the same on that ground.
fn lift(ground: [u8; 3], rgba: &mut [u8]) {
    let ground = ground.map(i32::from);
    for pixel in rgba.as_chunks_mut::<4>().0 {
        let color = [pixel[0], pixel[1], pixel[2]].map(i32::from);
        // Of 255, rounded up, so that no channel would have to leave its range.
        let need = |c: usize| {
            let (away, room) = (color[c] - ground[c], if color[c] > ground[c] { 255 - ground[c] } else { ground[c] });
            if away == 0 { 0 } else { (away.abs() * 255 + room - 1) / room }
        };
        let alpha = need(0).max(need(1)).max(need(2));
        let over = |c: usize| {
            let away = (color[c] - ground[c]) * 255;
            let value = if alpha == 0 { ground[c] } else { ground[c] + (away + away.signum() * alpha / 2) / alpha };
            u8::try_from(value.clamp(0, 255)).unwrap_or(u8::MAX)
        };
        *pixel = [over(0), over(1), over(2), u8::try_from(alpha).unwrap_or(u8::MAX)];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lifted_looks_the_same_on_its_ground() {
        for ground in [[8, 9, 13], [255; 3], [0; 3], [130, 140, 150]] {
            for code in 0..18_u32.pow(3) {
                let color = [code % 18, code / 18 % 18, code / 324].map(|c| u8::try_from(c * 15).expect("at most 255"));
                let mut pixel = [color[0], color[1], color[2], 255];
                lift(ground, &mut pixel);
                let alpha = f32::from(pixel[3]) / 255.0;
                for c in 0..3 {
                    let shown = f32::from(pixel[c]) * alpha + f32::from(ground[c]) * (1.0 - alpha);
                    assert!((shown - f32::from(color[c])).abs() <= 1.0, "{color:?} on {ground:?}: {pixel:?}");
                }
            }
            let mut own = [ground[0], ground[1], ground[2], 255];
            lift(ground, &mut own);
            assert_eq!(own[3], 0, "the ground itself is not seen");
        }
    }

    #[test]
    fn a_mean_is_one_of_light_and_one_colour_stays() {
        let mut out = Vec::new();
        for value in 0..=255 {
            averaged(&[value, 0, 255 - value, 255].repeat(9), (3, 3), 3, &mut out);
            assert_eq!(out, [value, 0, 255 - value, 255]);
        }
        // Half the light of white is 188 of 255, not 128.
        let checks = [[255, 255, 255, 255], [0, 0, 0, 255], [0, 0, 0, 255], [255, 255, 255, 255]].concat();
        averaged(&checks, (2, 2), 2, &mut out);
        assert_eq!(out, [188, 188, 188, 255]);
    }
}
