//! RGBA to I420 by BT.709, limited range: what every player assumes of high-definition video.
//!
//! ```text
//! R G B A R G B A ...      Y Y Y Y ...   one a pixel            Y  =  16 + ( 47 R + 157 G +  16 B) / 256
//! R G B A R G B A ...  ->  U   U   ...   one a 2x2 block        Cb = 128 + (-26 R -  86 G + 112 B) / 256
//!                          V   V   ...   (mean of its pixels)   Cr = 128 + (112 R - 102 G -  10 B) / 256
//! ```
//!
//! The factors are ITU-R BT.709-6 (2015), section 3, scaled to 8 bits of fraction; each row sums to 0 or 220, so that greys stay
//! grey and white lands on 235. The largest difference to the real-valued formula is 1.1 levels, half of one being rounding. A pixel is
//! taken as one number of 32 bits and split by masks: the compiler finds lanes for that on every processor, and no `unsafe` is needed.

use rayon::prelude::*;

/// Seconds between pictures that can be decoded alone, at most: how fine a player seeks.
const GROUP_SECONDS: u32 = 2;
/// Bytes of the pictures of a group, at most: as many wait as are encoded side by side.
const GROUP_BYTES: usize = 192 << 20;

/// Pixels from which on a picture is converted by several threads, where there are so many, and pairs of rows that one takes.
const LARGE: usize = 1 << 21;
const MANY: usize = 8;
const ROWS_AT_ONCE: usize = 64;

/// The number of a pair of rows, its luma, and its two chromas.
type PairOfRows<'a> = (usize, (&'a mut [u8], (&'a mut [u8], &'a mut [u8])));

/// Sizes of an I420 picture. H.264 4:2:0 wants even sizes: an odd picture gets its last column or row twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Planes {
    /// Size of the picture that comes in, in pixels.
    picture: (usize, usize),
    /// Width and height of the Y plane: even.
    pub(crate) width: usize,
    pub(crate) height: usize,
}

impl Planes {
    /// For pictures of `width` x `height` pixels.
    pub(crate) fn new(width: usize, height: usize) -> Self {
        Self { picture: (width, height), width: width.next_multiple_of(2), height: height.next_multiple_of(2) }
    }

    /// Bytes of the three planes together.
    pub(crate) fn bytes(&self) -> usize {
        self.width * self.height * 3 / 2
    }

    /// Pictures from one that can be decoded alone to the next, 2 or more. Large ones have shorter groups.
    pub(crate) fn group(&self, fps: u32) -> u32 {
        let fits = u32::try_from(GROUP_BYTES / self.bytes().max(1)).unwrap_or(u32::MAX);
        (GROUP_SECONDS * fps).min(fits).max(2)
    }

    /// The planes Y, U, V inside a buffer of [`Self::bytes`].
    pub(crate) fn split<'a>(&self, data: &'a [u8]) -> (&'a [u8], &'a [u8], &'a [u8]) {
        let (y, uv) = data.split_at(self.width * self.height);
        let (u, v) = uv.split_at(uv.len() / 2);
        (y, u, v)
    }

    /// Converts tightly packed RGBA rows into `into`, which is resized to fit. Alpha is ignored.
    pub(crate) fn convert(&self, rgba: &[u8], into: &mut Vec<u8>) {
        let (w, h) = self.picture;
        assert_eq!(rgba.len(), w * h * 4, "one RGBA pixel is four bytes");
        into.resize(self.bytes(), 0);
        let (y, uv) = into.split_at_mut(self.width * self.height);
        let (u, v) = uv.split_at_mut(uv.len() / 2);
        let (half, both) = (self.width / 2, self.width * 2);
        let rows = |(n, (y, (u, v))): PairOfRows<'_>| {
            let upper = &rgba[2 * n * w * 4..][..w * 4];
            let lower = &rgba[(2 * n + 1).min(h - 1) * w * 4..][..w * 4];
            let (y0, y1) = y.split_at_mut(self.width);
            luma_row(upper, y0);
            luma_row(lower, y1);
            chroma_row(upper, lower, u, v);
        };
        // Where there are processors enough that drawing does not wait for them.
        if w * h >= LARGE && rayon::current_num_threads() >= MANY {
            let planes =
                y.par_chunks_exact_mut(both).zip(u.par_chunks_exact_mut(half).zip(v.par_chunks_exact_mut(half)));
            planes.enumerate().with_min_len(ROWS_AT_ONCE).for_each(rows);
        } else {
            let planes = y.chunks_exact_mut(both).zip(u.chunks_exact_mut(half).zip(v.chunks_exact_mut(half)));
            planes.enumerate().for_each(rows);
        }
    }
}

/// One row of Y; `out` may be one longer than the row of pixels.
fn luma_row(pixels: &[u8], out: &mut [u8]) {
    for (p, y) in pixels.as_chunks::<4>().0.iter().zip(out.iter_mut()) {
        *y = luma(*p);
    }
    if out.len() * 4 > pixels.len() {
        out[out.len() - 1] = out[out.len() - 2];
    }
}

/// `16 + (47 R + 157 G + 16 B) / 256`, rounded; the sum is at most 60,324.
#[inline]
fn luma(p: [u8; 4]) -> u8 {
    let p = u32::from_le_bytes(p);
    let [r, g, b] = [p & 255, p >> 8 & 255, p >> 16 & 255];
    ((47 * r + 157 * g + 16 * b + (16 * 256 + 128)) >> 8).to_le_bytes()[0]
}

/// Every other byte of two pixels.
const EVERY_OTHER: u64 = 0x00ff_00ff_00ff_00ff;

#[expect(clippy::cast_possible_truncation, reason = "the low half is asked for")]
fn low(v: u64) -> u32 {
    v as u32
}

/// One row of U and V from two rows of pixels; with an odd width the last block is one pixel wide.
fn chroma_row(upper: &[u8], lower: &[u8], u: &mut [u8], v: &mut [u8]) {
    let (upper, upper_rest) = upper.as_chunks::<8>();
    let (lower, lower_rest) = lower.as_chunks::<8>();
    for ((p, q), (u, v)) in upper.iter().zip(lower).zip(u.iter_mut().zip(v.iter_mut())) {
        // Red and blue of both pixels at once, then green: 16 bits each, in which the sum of four has room.
        let (p, q) = (u64::from_le_bytes(*p), u64::from_le_bytes(*q));
        let both = |shift: u32| {
            let sum = (p >> shift & EVERY_OTHER) + (q >> shift & EVERY_OTHER);
            (low(sum + (sum >> 32)) + 0x0002_0002) >> 2 & 0x00ff_00ff
        };
        let (rb, ga) = (both(0), both(8));
        (*u, *v) = chroma([rb & 255, ga & 255, rb >> 16]);
    }
    if let ([r0, g0, b0, _], [r1, g1, b1, _]) = (upper_rest, lower_rest) {
        let mean = |a: &u8, b: &u8| (u32::from(*a) + u32::from(*b) + 1) >> 1;
        let last = u.len() - 1;
        (u[last], v[last]) = chroma([mean(r0, r1), mean(g0, g1), mean(b0, b1)]);
    }
}

/// `128 + (-26 R - 86 G + 112 B) / 256` and `128 + (112 R - 102 G - 10 B) / 256`, rounded; the sums are at most 28,688.
#[inline]
fn chroma(rgb: [u32; 3]) -> (u8, u8) {
    let [r, g, b] = rgb.map(u32::cast_signed);
    let u = ((112 * b - 26 * r - 86 * g + 128) >> 8) + 128;
    let v = ((112 * r - 102 * g - 10 * b + 128) >> 8) + 128;
    (u.to_le_bytes()[0], v.to_le_bytes()[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same by real numbers, straight from the standard.
    fn exact(r: f64, g: f64, b: f64) -> [f64; 3] {
        let y = 0.2126 * r + 0.7152 * g + 0.0722 * b;
        let (cb, cr) = ((b - y) / 1.8556, (r - y) / 1.5748);
        [16.0 + y * 219.0 / 255.0, 128.0 + cb * 224.0 / 255.0, 128.0 + cr * 224.0 / 255.0]
    }

    #[test]
    fn a_grid_of_colours_with_all_corners_is_as_near_to_the_standard_as_promised() {
        let planes = Planes::new(2, 2);
        let mut out = Vec::new();
        let mut worst: f64 = 0.0;
        for code in 0..18_u32.pow(3) {
            let [r, g, b] =
                [code % 18, code / 18 % 18, code / 324].map(|c| u8::try_from(c * 15).expect("17 * 15 = 255"));
            planes.convert(&[r, g, b, 255].repeat(4), &mut out);
            let want = exact(r.into(), g.into(), b.into());
            for (got, want) in [(out[0], want[0]), (out[3], want[0]), (out[4], want[1]), (out[5], want[2])] {
                worst = worst.max((f64::from(got) - want).abs());
            }
        }
        assert!(worst <= 1.1, "largest difference {worst} levels");
    }

    #[test]
    fn greys_stay_grey_and_the_ends_are_16_and_235() {
        let planes = Planes::new(2, 2);
        let mut out = Vec::new();
        for grey in 0..=255_u8 {
            planes.convert(&[grey, grey, grey, 0].repeat(4), &mut out);
            assert_eq!(&out[4..], [128, 128], "grey {grey}");
            match grey {
                0 => assert_eq!(out[0], 16, "black"),
                255 => assert_eq!(out[0], 235, "white"),
                _ => assert!((16..=235).contains(&out[0]), "grey {grey} is Y {}", out[0]),
            }
        }
    }

    #[test]
    fn large_pictures_are_the_same_by_many_threads() {
        // Odd, and no whole number of what a thread takes.
        let planes = Planes::new(1921, 1101);
        let picture: Vec<u8> = (0..1921 * 1101 * 4).map(|n: usize| u8::try_from(n * 31 % 253).unwrap_or(0)).collect();
        let by = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            let mut into = Vec::new();
            pool.install(|| planes.convert(&picture, &mut into));
            into
        };
        assert!(by(MANY) == by(1));
    }

    #[test]
    fn large_pictures_have_short_groups() {
        let group = |width, height, fps| Planes::new(width, height).group(fps);
        assert_eq!([group(1280, 720, 30), group(1920, 1080, 30), group(3840, 2160, 30)], [60, 60, 16]);
        assert_eq!([group(320, 180, 1), group(3840, 2160, 1)], [2, 2]);
    }

    #[test]
    fn an_odd_picture_repeats_its_last_column_and_row() {
        let (w, h) = (5, 3);
        let pixel =
            |x: usize, y: usize| [x * 50, y * 80, (x + y) * 30, 255].map(|c| u8::try_from(c).expect("below 256"));
        let rows = |w: usize, h: usize| -> Vec<u8> {
            (0..h).flat_map(|y| (0..w).flat_map(move |x| pixel(x.min(4), y.min(2)))).collect()
        };
        let (mut odd, mut even) = (Vec::new(), Vec::new());
        Planes::new(w, h).convert(&rows(w, h), &mut odd);
        Planes::new(w + 1, h + 1).convert(&rows(w + 1, h + 1), &mut even);
        assert_eq!(odd, even, "padding on the way equals padding before");
    }
}
