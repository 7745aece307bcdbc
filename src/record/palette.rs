//! One palette for a whole clip, and the nearest of its colours for any pixel.
//!
//! Colours are counted in cells of 6 bits a channel. Median cut by variance (after Heckbert 1982 and Wu 1991) splits the
//! cells into boxes, and a few rounds of k-means (Lloyd 1982) settle their means. Cells weigh by the square root of their
//! count: the dark ground fills most pixels and must not take most colours. Fixed order, so the same frames give the same
//! palette; no dithering, which would shimmer from frame to frame and make thin lines ragged.

/// Cells: 6 bits for each of red, green, blue.
const CELLS: usize = 1 << 18;
/// Rounds of k-means.
const ROUNDS: usize = 3;
/// What a difference in red, green, blue counts for.
const WEIGHTS: [i32; 3] = [3, 6, 2];

/// Counts the colours of sample frames.
pub(crate) struct Histogram {
    /// Per cell: sums of red, green, blue, and the count.
    cells: Vec<[u64; 4]>,
}

struct Cell {
    colour: [f32; 3],
    weight: f32,
}

impl Histogram {
    pub(crate) fn new() -> Self {
        Self { cells: vec![[0; 4]; CELLS] }
    }

    /// Counts the pixels of one frame.
    pub(crate) fn add(&mut self, rgba: &[u8]) {
        for p in rgba.as_chunks::<4>().0 {
            let cell = &mut self.cells[cell_of(*p)];
            for (sum, value) in cell.iter_mut().zip([p[0], p[1], p[2], 1]) {
                *sum += u64::from(value);
            }
        }
    }

    /// At most `colours` colours (1 to 256) that stand for what was counted; exactly those counted if they are few.
    pub(crate) fn palette(&self, colours: usize) -> Vec<[u8; 3]> {
        #[expect(clippy::cast_precision_loss, reason = "means and weights need no more than 24 bits")]
        let cell = |c: &[u64; 4]| {
            let n = c[3] as f64;
            #[expect(clippy::cast_possible_truncation, reason = "to the precision of f32")]
            Cell { colour: [0, 1, 2].map(|i| (c[i] as f64 / n) as f32), weight: n.sqrt() as f32 }
        };
        let mut cells: Vec<Cell> = self.cells.iter().filter(|c| c[3] > 0).map(cell).collect();
        let mut means = median_cut(&mut cells, colours);
        if cells.len() > colours {
            (0..ROUNDS).for_each(|_| k_means(&cells, &mut means));
        }
        means.iter().map(|m| m.map(to_u8)).collect()
    }
}

/// Splits the cells into boxes, always the one with the largest spread, and answers the means of the boxes.
fn median_cut(cells: &mut [Cell], colours: usize) -> Vec<[f32; 3]> {
    struct Box {
        range: std::ops::Range<usize>,
        mean: [f32; 3],
        axis: usize,
        /// Weighted sum of squared distances to the mean along `axis`.
        spread: f32,
    }
    let measure = |cells: &[Cell], range: std::ops::Range<usize>| {
        let part = &cells[range.clone()];
        let total: f32 = part.iter().map(|c| c.weight).sum();
        let mean =
            [0, 1, 2].map(|i| part.iter().map(|c| c.weight * c.colour[i]).sum::<f32>() / total.max(f32::MIN_POSITIVE));
        let spread = |i: usize| part.iter().map(|c| c.weight * (c.colour[i] - mean[i]).powi(2)).sum::<f32>();
        let spreads = [0, 1, 2].map(|i| spread(i) * [3.0, 6.0, 2.0][i]);
        let axis = (0..3).fold(0, |best, i| if spreads[i] > spreads[best] { i } else { best });
        Box { range, mean, axis, spread: spreads[axis] }
    };
    if cells.is_empty() {
        return vec![[0.0; 3]];
    }
    let mut boxes = vec![measure(cells, 0..cells.len())];
    while boxes.len() < colours {
        let widest = (0..boxes.len()).filter(|&n| boxes[n].range.len() > 1).fold(None, |best: Option<usize>, n| {
            if best.is_none_or(|b| boxes[n].spread > boxes[b].spread) { Some(n) } else { best }
        });
        let Some(widest) = widest else { break };
        let Box { range, mean, axis, .. } = boxes.swap_remove(widest);
        let part = &mut cells[range.clone()];
        part.sort_by(|a, b| a.colour[axis].total_cmp(&b.colour[axis]));
        let cut = part.iter().position(|c| c.colour[axis] > mean[axis]).unwrap_or(1).clamp(1, range.len() - 1);
        let middle = range.start + cut;
        boxes.push(measure(cells, range.start..middle));
        boxes.push(measure(cells, middle..range.end));
    }
    boxes.iter().map(|b| b.mean).collect()
}

/// Moves each mean to the middle of the cells that are nearest to it.
fn k_means(cells: &[Cell], means: &mut [[f32; 3]]) {
    let mut sums = vec![[0.0_f32; 4]; means.len()];
    let palette: Vec<[i32; 3]> = means.iter().map(|m| m.map(|c| i32::from(to_u8(c)))).collect();
    for cell in cells {
        let sum = &mut sums[nearest(&palette, cell.colour.map(|c| i32::from(to_u8(c))))];
        for (i, c) in cell.colour.iter().enumerate() {
            sum[i] += c * cell.weight;
        }
        sum[3] += cell.weight;
    }
    for (mean, sum) in means.iter_mut().zip(&sums) {
        if sum[3] > 0.0 {
            *mean = [0, 1, 2].map(|i| sum[i] / sum[3]);
        }
    }
}

/// Index of the nearest colour; of equals the first.
fn nearest(palette: &[[i32; 3]], colour: [i32; 3]) -> usize {
    let distance = |p: &[i32; 3]| (0..3).map(|i| WEIGHTS[i] * (p[i] - colour[i]).pow(2)).sum::<i32>();
    let mut best = (i32::MAX, 0);
    for (n, p) in palette.iter().enumerate() {
        let d = distance(p);
        if d < best.0 {
            best = (d, n);
        }
    }
    best.1
}

/// Finds palette indices; each cell is looked up once.
pub(crate) struct Mapper {
    palette: Vec<[i32; 3]>,
    /// Index of the nearest colour, or `UNKNOWN`.
    cells: Vec<u16>,
}

const UNKNOWN: u16 = u16::MAX;

impl Mapper {
    /// For a palette of 1 to 256 colours.
    pub(crate) fn new(palette: &[[u8; 3]]) -> Self {
        Self { palette: palette.iter().map(|p| p.map(i32::from)).collect(), cells: vec![UNKNOWN; CELLS] }
    }

    /// One index a pixel. A cell's index depends on its middle alone, so the order of frames does not matter.
    pub(crate) fn map(&mut self, rgba: &[u8], into: &mut Vec<u8>) {
        into.clear();
        into.extend(rgba.as_chunks::<4>().0.iter().map(|p| {
            let cell = cell_of(*p);
            if self.cells[cell] == UNKNOWN {
                let middle = [p[0], p[1], p[2]].map(|c| i32::from(c & 0xfc) + 2);
                self.cells[cell] = u16::try_from(nearest(&self.palette, middle)).unwrap_or(0);
            }
            self.cells[cell].to_le_bytes()[0]
        }));
    }
}

fn cell_of(p: [u8; 4]) -> usize {
    let [r, g, b] = [p[0], p[1], p[2]].map(|c| usize::from(c >> 2));
    r << 12 | g << 6 | b
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped before")]
fn to_u8(c: f32) -> u8 {
    c.round().clamp(0.0, 255.0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_colours_are_kept_exactly() {
        let colours: Vec<[u8; 3]> = vec![[11, 15, 20], [255, 255, 255], [226, 120, 60], [90, 180, 240]];
        let rgba: Vec<u8> = colours.iter().flat_map(|c| [c[0], c[1], c[2], 255]).collect();
        let mut histogram = Histogram::new();
        histogram.add(&rgba);
        let palette = histogram.palette(255);
        let mut indices = Vec::new();
        Mapper::new(&palette).map(&rgba, &mut indices);
        let back: Vec<[u8; 3]> = indices.iter().map(|&i| palette[usize::from(i)]).collect();
        assert_eq!(back, colours);
    }

    #[test]
    fn a_ramp_of_all_greys_is_within_three_levels_with_128_colours() {
        let rgba: Vec<u8> = (0..=255_u8).flat_map(|c| [c, c, c, 255]).collect();
        let mut histogram = Histogram::new();
        histogram.add(&rgba);
        let palette = histogram.palette(128);
        let mut indices = Vec::new();
        Mapper::new(&palette).map(&rgba, &mut indices);
        let far = |(want, &i): (usize, &u8)| usize::from(palette[usize::from(i)][0]).abs_diff(want);
        let worst = indices.iter().enumerate().map(far).max();
        assert!(worst <= Some(3), "a grey is off by {worst:?}");
    }

    #[test]
    fn a_rare_bright_colour_survives_a_large_dark_ground() {
        let mut histogram = Histogram::new();
        let grey = |n: u32| if n.is_multiple_of(7) { 17 } else { 8 };
        let ground: Vec<u8> = (0..200_000_u32).flat_map(|n| [grey(n), 10, 12, 255]).collect();
        histogram.add(&ground);
        let red = [235, 60, 60, 255];
        histogram.add(&red);
        let palette = histogram.palette(16);
        let mut index = Vec::new();
        Mapper::new(&palette).map(&red, &mut index);
        assert_eq!(palette[usize::from(index[0])], [235, 60, 60]);
    }

    #[test]
    fn nothing_counted_still_gives_a_palette() {
        assert_eq!(Histogram::new().palette(255), [[0, 0, 0]]);
    }
}
