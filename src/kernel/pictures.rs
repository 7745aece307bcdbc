//! Buffers and textures of a launch that are pictures: of as many rows as the launch has, or of the size of what was bound.

use super::buffers::Content;
use super::program::{Program, Shared, Space};
use super::run::{Extent, Launch, Run};

/// Pixels of a picture at most.
const MOST: u64 = 1 << 20;

/// What a variable holds at the end, as a picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// Which of [`Program::shared`].
    pub shared: usize,
    /// Pixels of a row.
    pub width: u32,
    /// Rows, those of all layers one after the other.
    pub height: u32,
    /// Layers.
    pub layers: u32,
    /// Numbers of a pixel: 1, or 2 to 4 of red, green, blue and alpha.
    pub channels: usize,
    /// Those of all pixels, row after row.
    pub numbers: Vec<f64>,
    /// Of pictures in grey: what is black, and what is white.
    pub range: Option<[f64; 2]>,
    /// What is full where there are colours: 1, or 255.
    full: f64,
    /// Whether a number has red, green, blue and alpha in its bytes.
    packed: bool,
    /// Bytes of a pixel in memory.
    each: u32,
}

impl Picture {
    /// Column and row of the pixel at this byte of the variable.
    #[must_use]
    pub fn at(&self, address: u32) -> Option<(u32, u32)> {
        let pixel = address / self.each;
        let (x, y) = (pixel % self.width, pixel / self.width);
        (y < self.height).then_some((x, y))
    }

    /// The numbers of a pixel.
    #[must_use]
    pub fn pixel(&self, x: u32, y: u32) -> &[f64] {
        let from = (y as usize * self.width as usize + x as usize) * self.channels;
        self.numbers.get(from..from + self.channels).unwrap_or(&[])
    }

    /// Red, green and blue of a pixel, 0 to 1.
    #[must_use]
    pub fn color(&self, x: u32, y: u32) -> [f64; 3] {
        let pixel = self.pixel(x, y);
        let first = pixel.first().copied().unwrap_or(0.0);
        if self.packed {
            return [0, 1, 2].map(|n| (first / 256f64.powi(n)).floor().rem_euclid(256.0) / 255.0);
        }
        match self.range {
            Some([least, most]) if most > least => {
                let share = (first - least) / (most - least);
                [if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }; 3]
            }
            // All are the same.
            Some(_) => [0.5; 3],
            None => [0, 1, 2].map(|n| {
                let share = pixel.get(n).map_or(0.0, |number| number / self.full);
                if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
            }),
        }
    }
}

/// The pictures of a launch that has run: those that it writes first.
pub(super) fn pictures(program: &Program, launch: &Launch, run: &Run) -> Vec<Picture> {
    let mut out: Vec<Picture> =
        (0..program.shared.len()).filter_map(|shared| picture(program, launch, run, shared)).collect();
    out.sort_by_key(|picture| !program.shared[picture.shared].writes);
    out
}

fn picture(program: &Program, launch: &Launch, run: &Run, number: usize) -> Option<Picture> {
    let (shared, bytes) = (&program.shared[number], run.after.get(number)?);
    if matches!(shared.space, Space::Workgroup | Space::Uniform) || bytes.is_empty() {
        return None;
    }
    let (each, floats) = program.pixels_of(shared)?;
    let numbers = program.numbers(shared, bytes).ok()?;
    let pixels = u32::try_from(bytes.len() / each as usize).ok().filter(|n| u64::from(*n) <= MOST)?;
    let channels = numbers.len() / usize::try_from(pixels.max(1)).ok()?;
    let bound = launch.bound.get(&shared.name);
    let (width, layers) = match run.texels.get(number).copied().flatten() {
        Some([width, height, layers]) if height > 1 || layers > 1 => (width, layers),
        Some(_) => return None,
        None => (width_of(program, launch, bound.map(|(content, _)| content), pixels)?, 1),
    };
    let height = pixels / width;
    if !(1..=4).contains(&channels) || width < 2 || height < 2 {
        return None;
    }
    let packed = channels == 1 && !floats && matches!(bound, Some((Content::Image(..), _)));
    let range = (channels == 1 && !packed).then(|| {
        let finite = numbers.iter().copied().filter(|number| number.is_finite());
        let range = finite.fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], n| [a.min(n), b.max(n)]);
        if range[0] <= range[1] { range } else { [0.0; 2] }
    });
    let full = if floats { 1.0 } else { 255.0 };
    Some(Picture { shared: number, width, height, layers, channels, numbers, range, full, packed, each })
}

/// Pixels of a row of a buffer: those of what is bound to it, or items of a row of the launch.
fn width_of(program: &Program, launch: &Launch, bound: Option<&Content>, pixels: u32) -> Option<u32> {
    if let Some(Content::Image([width, height], _)) = bound {
        return (u64::from(*width) * u64::from(*height) == u64::from(pixels)).then_some(*width);
    }
    let [x, y, _] = match launch.extent {
        Extent::Items(items) => items,
        Extent::Groups(groups) => [0, 1, 2].map(|axis| groups[axis] * u64::from(program.group_size[axis])),
    };
    let width = u32::try_from(x).ok().filter(|width| *width > 0 && y > 1)?;
    // As many rows as the launch has, or as many as it has columns: the other side of what is transposed.
    [(x, y), (y, x), (x, x), (y, y)]
        .iter()
        .find(|(x, y)| x * y == u64::from(pixels))
        .map(|(x, _)| u32::try_from(*x).unwrap_or(width))
}

impl Program {
    /// Bytes of an element where it could be a pixel, and whether it is of floats.
    fn pixels_of(&self, shared: &Shared) -> Option<(u32, bool)> {
        if let Some(texture) = &shared.texture {
            return Some((texture.format.bytes(), texture.format.scalar() == naga::Scalar::F32));
        }
        let (stride, element) = self.element_of(shared)?;
        let first = element.first()?.scalar;
        let alike = element.iter().all(|leaf| leaf.scalar == first);
        (alike && (1..=4).contains(&element.len())).then_some((stride, first.kind == naga::ScalarKind::Float))
    }
}
