//! Flashes as WCAG 2.3.1 has them: counted in frames that are done, and held to no more than three large ones a second.
//!
//! A general flash is a pair of opposing changes of relative luminance of 0.1 or more, the darker of them below 0.8. A red flash is a pair of
//! opposing changes of more than 20 of (R - G - B) x 320, linear, of a saturated red. A flash is large where more than a quarter of
//! a field of 341 x 256 pixels flashes, on a screen of 1024 x 768 that the picture fits into.
//! <https://www.w3.org/WAI/WCAG21/Understanding/three-flashes-or-below-threshold.html>

use super::{FrameError, FrameSource};
use std::collections::VecDeque;
use std::sync::LazyLock;

/// Columns of the grid that a picture is measured on, at most: 8 pixels of a screen 1024 wide each.
const COLUMNS: usize = 128;
/// The share of a field that may flash more often.
pub const LARGE: f32 = 0.25;
/// Changes within a second of which nothing may have more: three flashes, and the beginning of a fourth.
const MOST: usize = 7;
/// How much of a change is shown where all of it would be a flash too many; nothing where even the last would be.
const SHARES: [u16; 5] = [128, 64, 32, 16, 0];

/// What of a pixel may flash, and how large a change is one.
#[derive(Clone, Copy)]
struct Measure {
    step: f32,
    /// The darker of both is below this.
    below: f32,
}

const GENERAL: Measure = Measure { step: 0.1, below: 0.8 };
const RED: Measure = Measure { step: 20.0, below: f32::INFINITY };

/// The light of a picture on a grid: means of relative luminance, and of saturated red.
#[derive(Clone, Debug, PartialEq)]
pub struct Light {
    columns: usize,
    general: Vec<f32>,
    red: Vec<f32>,
}

impl Light {
    /// That of tightly packed rows of RGBA, 8 bits each, sRGB.
    ///
    /// # Panics
    /// Where `rgba` is shorter than `size` says.
    #[must_use]
    pub fn of(rgba: &[u8], size: (u32, u32)) -> Self {
        let (width, height) = (size.0 as usize, size.1 as usize);
        let [columns, rows] = grid(size);
        let linear: &[u32; 256] = &LINEAR;
        let cells = columns * rows;
        let (mut general, mut red, mut counts) = (vec![0_u64; cells], vec![0_u64; cells], vec![0_u32; cells]);
        // Large pictures are looked at in as many places as small ones have.
        let stride = (width.max(height) / 640).max(1);
        // The columns of pixels that are looked at in each column of the grid: its first, and how many.
        let mut looked = vec![(0, 0_u32); columns];
        for x in (0..width).step_by(stride).rev() {
            let (first, count) = &mut looked[x * columns / width];
            (*first, *count) = (x, *count + 1);
        }
        // Black has no light.
        let (mut last, mut light, mut red_light) = ([0; 4], 0, 0);
        for y in (0..height).step_by(stride) {
            let row = y * rows / height * columns;
            let line = rgba[4 * width * y..4 * width * (y + 1)].as_chunks::<4>().0;
            for (column, (first, count)) in looked.iter().enumerate() {
                let (mut lights, mut reds) = (0_u64, 0_u64);
                for &pixel in line[*first..].iter().step_by(stride).take(*count as usize) {
                    // Most are as the one before: ground and plain disks.
                    if pixel != last {
                        let [r, g, b] = [pixel[0], pixel[1], pixel[2]].map(|c| linear[usize::from(c)]);
                        light = u64::from(r) * 2126 + u64::from(g) * 7152 + u64::from(b) * 722;
                        // Saturated: four fifths or more of the light are red.
                        red_light = if r > 0 && r >= 4 * (g + b) { u64::from(r - g - b) } else { 0 };
                        last = pixel;
                    }
                    (lights, reds) = (lights + light, reds + red_light);
                }
                let at = row + column;
                (general[at], red[at], counts[at]) = (general[at] + lights, red[at] + reds, counts[at] + count);
            }
        }
        let mean = |sums: &[u64], unit: f64| -> Vec<f32> {
            #[expect(clippy::cast_possible_truncation, reason = "a mean of values up to 320")]
            let mean = |(sum, count): (&u64, &u32)| (*sum as f64 / f64::from((*count).max(1)) * unit) as f32;
            sums.iter().zip(&counts).map(mean).collect()
        };
        let whole = f64::from(WHOLE);
        let (general, red) = (mean(&general, 1.0 / (whole * 10_000.0)), mean(&red, 320.0 / whole));
        Self { columns, general, red }
    }
}

/// Linear light of each value of sRGB, in parts of [`WHOLE`].
static LINEAR: LazyLock<[u32; 256]> = LazyLock::new(|| {
    let linear = |c: f64| if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to WHOLE")]
    std::array::from_fn(|c| (linear(c as f64 / 255.0) * f64::from(WHOLE)).round() as u32)
});
const WHOLE: u32 = 1 << 24;

/// Columns and rows of the grid of a picture: cells about square.
fn grid((width, height): (u32, u32)) -> [usize; 2] {
    let (width, height) = ((width as usize).max(1), (height as usize).max(1));
    let columns = if width >= height { COLUMNS } else { (COLUMNS * width / height).max(1) }.min(width);
    [columns, (columns * height / width).clamp(1, height)]
}

/// One cell: the extreme since its last change, which way that was, and when its last changes were.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    extreme: f32,
    up: Option<bool>,
    seen: bool,
    /// Numbers of frames from 1, the oldest first; 0 = none.
    changes: [u64; MOST + 1],
}

impl Cell {
    /// Whether this value is a change.
    fn turns(&self, value: f32, measure: Measure) -> bool {
        self.seen
            && self.up != Some(value > self.extreme)
            && (value - self.extreme).abs() >= measure.step
            && value.min(self.extreme) < measure.below
    }

    fn take(&mut self, value: f32, frame: u64, measure: Measure) {
        if !self.seen {
            (self.extreme, self.seen) = (value, true);
        } else if self.turns(value, measure) {
            self.changes.rotate_left(1);
            self.changes[MOST] = frame;
            (self.extreme, self.up) = (value, Some(value > self.extreme));
        } else if self.up == Some(value > self.extreme) {
            self.extreme = value;
        }
    }

    /// Whether with this value it changes more often than it may in the second up to `frame`.
    fn flashes(&self, value: f32, (frame, fps): (u64, u32), measure: Measure) -> bool {
        // Most never come near.
        self.changes[1] > 0 && {
            let oldest = self.changes[usize::from(self.turns(value, measure))];
            oldest > 0 && oldest + u64::from(fps) > frame
        }
    }

    /// Whether some value of `frame` could make it flash.
    fn may_flash(&self, (frame, fps): (u64, u32)) -> bool {
        self.changes[1] > 0 && self.changes[1] + u64::from(fps) > frame
    }
}

/// Counts flashes over frames that come one after the other.
pub struct Flashes {
    fps: u32,
    rows: usize,
    columns: usize,
    /// Columns and rows of a field of sight.
    field: [usize; 2],
    frame: u64,
    general: Vec<Cell>,
    red: Vec<Cell>,
}

impl Flashes {
    /// For frames of `size` pixels, `fps` a second.
    #[must_use]
    pub fn new(size: (u32, u32), fps: u32) -> Self {
        let [columns, rows] = grid(size);
        let (width, height) = (f64::from(size.0), f64::from(size.1));
        // Pixels of the picture for one of the screen.
        let scale = (width / 1024.0).max(height / 768.0);
        let side = |screen: f64, side: f64, cells: usize| {
            let share = (screen * scale / side).min(1.0);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of 128 at most")]
            let cells = (share * cells as f64).round() as usize;
            cells.max(1)
        };
        let field = [side(341.0, width, columns), side(256.0, height, rows)];
        let cells = vec![Cell::default(); columns * rows];
        Self { fps, rows, columns, field, frame: 0, general: cells.clone(), red: cells }
    }

    /// Takes the next frame: the largest share of a field of sight that flashed more than three times in the second up to it.
    pub fn take(&mut self, light: &Light) -> f32 {
        let share = self.with(light);
        self.pass(light);
        share
    }

    /// Takes the next frame.
    fn pass(&mut self, light: &Light) {
        self.frame += 1;
        for (cells, values, measure) in [(&mut self.general, &light.general, GENERAL), (&mut self.red, &light.red, RED)]
        {
            for (cell, value) in cells.iter_mut().zip(values) {
                cell.take(*value, self.frame, measure);
            }
        }
    }

    /// What [`take`](Self::take) would say of a frame.
    #[must_use]
    pub fn with(&self, light: &Light) -> f32 {
        let at = (self.frame + 1, self.fps);
        let share = |cells: &[Cell], values: &[f32], measure| {
            self.share(cells.iter().zip(values).map(|(cell, value)| cell.flashes(*value, at, measure)))
        };
        share(&self.general, &light.general, GENERAL).max(share(&self.red, &light.red, RED))
    }

    /// The most that [`take`](Self::take) can say of the next frame, whatever it is.
    fn at_most(&self) -> f32 {
        let at = (self.frame + 1, self.fps);
        let share = |cells: &[Cell]| self.share(cells.iter().map(|cell| cell.may_flash(at)));
        share(&self.general).max(share(&self.red))
    }

    /// The largest share of a field that flashes, over all places of it; cells row by row.
    fn share(&self, flashing: impl Iterator<Item = bool>) -> f32 {
        let mut any = false;
        let flashing: Vec<bool> = flashing.inspect(|flashes| any |= flashes).collect();
        if !any {
            return 0.0;
        }
        // How many flash above and to the left of each corner (a summed-area table: Crow 1984).
        let across = self.columns + 1;
        let mut sums = vec![0_u32; across * (self.rows + 1)];
        for (y, row) in flashing.chunks_exact(self.columns).enumerate() {
            let mut sum = 0;
            for (x, flashes) in row.iter().enumerate() {
                sum += u32::from(*flashes);
                sums[(y + 1) * across + x + 1] = sums[y * across + x + 1] + sum;
            }
        }
        let [wide, high] = self.field;
        let mut most = 0;
        for top in 0..=self.rows - high {
            let (above, below) = (top * across, (top + high) * across);
            for left in 0..=self.columns - wide {
                let right = left + wide;
                most = most.max(sums[below + right] + sums[above + left] - sums[below + left] - sums[above + right]);
            }
        }
        most as f32 / (wide * high) as f32
    }
}

/// Another source's frames, of which none brings more than three large flashes a second: where one would, the picture goes over to it
/// slowly. Frames are held where they are asked for one after the other; one that is asked for alone is as it is.
pub struct Held<'a> {
    source: &'a mut dyn FrameSource,
    fps: u32,
    flashes: Flashes,
    under_way: VecDeque<u64>,
    /// The frame that goes on from `last`.
    next: u64,
    /// The frame before, where the next one may flash; else empty.
    last: Vec<u8>,
    whole: Vec<u8>,
    dimmed: u64,
}

impl<'a> Held<'a> {
    /// The frames of `source`, `fps` a second.
    pub fn new(source: &'a mut dyn FrameSource, fps: u32) -> Self {
        let flashes = Flashes::new(source.size(), fps);
        let (last, whole) = (Vec::new(), Vec::new());
        Self { source, fps, flashes, under_way: VecDeque::new(), next: 0, last, whole, dimmed: 0 }
    }

    /// How many frames were not shown as they are.
    #[must_use]
    pub fn dimmed(&self) -> u64 {
        self.dimmed
    }
}

impl FrameSource for Held<'_> {
    fn size(&self) -> (u32, u32) {
        self.source.size()
    }

    fn frames(&self) -> u64 {
        self.source.frames()
    }

    fn in_flight(&self) -> u64 {
        self.source.in_flight()
    }

    fn submit(&mut self, k: u64) -> Result<(), FrameError> {
        self.source.submit(k)?;
        self.under_way.push_back(k);
        Ok(())
    }

    fn collect(&mut self, into: &mut Vec<u8>) -> Result<(), FrameError> {
        self.source.collect(into)?;
        let k = self.under_way.pop_front().unwrap_or(0);
        let size = self.source.size();
        if k == 0 || k != self.next {
            (self.flashes, self.dimmed) = (Flashes::new(size, self.fps), 0);
            self.last.clear();
        }
        self.next = k + 1;
        let mut light = Light::of(into, size);
        if self.last.len() == into.len() && self.flashes.with(&light) > LARGE {
            self.dimmed += 1;
            std::mem::swap(into, &mut self.whole);
            for share in SHARES {
                between(&self.last, &self.whole, share, into);
                light = Light::of(into, size);
                if self.flashes.with(&light) <= LARGE {
                    break;
                }
            }
        }
        self.flashes.pass(&light);
        // A copy is kept only where the next frame may have to go on from it.
        if self.flashes.at_most() > LARGE {
            self.last.clone_from(into);
        } else {
            self.last.clear();
        }
        Ok(())
    }
}

/// Of each channel `share` parts of 256 on the way from one picture to another.
fn between(from: &[u8], to: &[u8], share: u16, into: &mut Vec<u8>) {
    into.clear();
    into.extend(from.iter().zip(to).map(|(from, to)| {
        let sum = u16::from(*from) * (256 - share) + u16::from(*to) * share;
        u8::try_from(sum / 256).unwrap_or(u8::MAX)
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: (u32, u32) = (320, 180);
    const FPS: u32 = 60;

    fn blank([r, g, b]: [u8; 3], size: (u32, u32)) -> Vec<u8> {
        [r, g, b, 255].repeat(size.0 as usize * size.1 as usize)
    }

    /// The worst share of two seconds of black, and of another shade each `frames` frames.
    fn worst(shade: [u8; 3], frames: usize, size: (u32, u32)) -> f32 {
        let shades = [[0; 3], shade].map(|shade| Light::of(&blank(shade, size), size));
        let mut flashes = Flashes::new(size, FPS);
        (0..2 * FPS as usize).map(|n| flashes.take(&shades[n / frames % 2])).fold(0.0, f32::max)
    }

    #[test]
    fn flashes_are_counted_as_they_are_defined() {
        for size in [SIZE, (180, 320), (64, 64), (3, 2), (1, 1)] {
            // Each seven frames another shade: more than four pairs a second. Each ten: three.
            assert_eq!(worst([200; 3], 7, size), 1.0, "{size:?}");
            assert_eq!(worst([200; 3], 10, size), 0.0, "{size:?}");
            // A tenth of white's light is a change, less is none.
            assert_eq!((worst([90; 3], 5, size), worst([88; 3], 5, size)), (1.0, 0.0), "{size:?}");
            // Of red less is enough, as it is saturated.
            assert_eq!((worst([84, 0, 0], 5, size), worst([84, 30, 30], 5, size)), (1.0, 0.0), "{size:?}");
        }
        // Where both are light, nothing flashes.
        let [light, white] = [[233; 3], [255; 3]].map(|shade| Light::of(&blank(shade, SIZE), SIZE));
        let mut flashes = Flashes::new(SIZE, FPS);
        assert!((0..120).all(|n| flashes.take(if n % 4 < 2 { &light } else { &white }) == 0.0));
    }

    #[test]
    fn the_share_of_a_field_is_the_largest_of_all_its_places() {
        let mut state = 7_u64;
        for (size, share) in [((320, 180), 3), ((180, 320), 9), ((64, 64), 2), ((1280, 720), 50)] {
            let flashes = Flashes::new(size, FPS);
            let mut any = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33).is_multiple_of(share)
            };
            let flashing: Vec<bool> = (0..flashes.rows * flashes.columns).map(|_| any()).collect();
            let [wide, high] = flashes.field;
            let mut most = 0;
            for top in 0..=flashes.rows - high {
                for left in 0..=flashes.columns - wide {
                    let rows = (top..top + high).map(|y| &flashing[y * flashes.columns + left..][..wide]);
                    most = most.max(rows.flatten().filter(|flashes| **flashes).count());
                }
            }
            assert_eq!(flashes.share(flashing.into_iter()), most as f32 / (wide * high) as f32, "{size:?}");
        }
    }

    #[test]
    fn a_field_is_that_of_a_screen_the_picture_fits_into() {
        // 341 of 1024 columns, 256 of 576 rows; of an upright picture 341 of 432 columns, 256 of 768 rows.
        assert_eq!(Flashes::new((1280, 720), 30).field, [43, 32]);
        assert_eq!(Flashes::new((720, 1280), 30).field, [57, 43]);
        // What flashes in a third of a field is large, in a fifth it is not.
        for (share, is_large) in [(3, true), (5, false)] {
            let (width, height) = (1024, 576);
            let mut flashes = Flashes::new((width, height), FPS);
            let mut most = 0.0_f32;
            for n in 0..90 {
                let mut picture = blank([0; 3], (width, height));
                if n / 5 % 2 == 1 {
                    for line in picture.chunks_exact_mut(4 * width as usize).take(256 / share) {
                        line[..4 * 341].fill(255);
                    }
                }
                most = most.max(flashes.take(&Light::of(&picture, (width, height))));
            }
            assert_eq!(most > LARGE, is_large, "{most}");
        }
    }

    /// Black, and white each `every` frames.
    struct Strobe {
        every: u64,
        under_way: VecDeque<u64>,
    }

    impl FrameSource for Strobe {
        fn size(&self) -> (u32, u32) {
            (64, 36)
        }

        fn frames(&self) -> u64 {
            180
        }

        fn submit(&mut self, k: u64) -> Result<(), FrameError> {
            self.under_way.push_back(k);
            Ok(())
        }

        fn collect(&mut self, into: &mut Vec<u8>) -> Result<(), FrameError> {
            let k = self.under_way.pop_front().ok_or_else(|| FrameError::new("none"))?;
            *into = blank([if k / self.every % 2 == 1 { 255 } else { 0 }; 3], self.size());
            Ok(())
        }
    }

    #[test]
    fn what_would_flash_too_often_goes_over_slowly() {
        for every in [1, 2, 5, 8, 9, 30] {
            let mut strobe = Strobe { every, under_way: VecDeque::new() };
            let mut held = Held::new(&mut strobe, FPS);
            let (mut flashes, mut picture) = (Flashes::new((64, 36), FPS), Vec::new());
            let mut films: Vec<Vec<u8>> = Vec::new();
            for round in 0..2 {
                for k in 0..180 {
                    held.submit(k).expect("it is there");
                    held.collect(&mut picture).expect("it is there");
                    if round == 0 {
                        assert!(flashes.take(&Light::of(&picture, (64, 36))) <= LARGE, "{every}: frame {k}");
                        films.push(picture.clone());
                    }
                    assert_eq!(picture, films[usize::try_from(k).expect("few")], "{every}: the same twice");
                }
            }
            // Eight changes are within a second where there are eight frames between them.
            assert_eq!(held.dimmed() > 0, every < 9, "{every}: {} dimmed", held.dimmed());
            // The first flashes are seen as they are.
            assert_eq!(films[usize::try_from(every).expect("few")][0], 255);
            held.submit(every).expect("it is there");
            held.collect(&mut picture).expect("it is there");
            assert_eq!(picture[0], 255, "a frame alone is as it is");
        }
    }
}
