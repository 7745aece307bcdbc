//! How thick the ring of each level is: as it fits, or to scale.
//!
//! To scale, the *area* of a ring is as its capacity, for all rings alike: a byte takes as much room in L1 as in L3, and a slot of a line
//! is as large in both, since within a ring all ranks have the same area too. (With radii to scale a byte of an outer level would look
//! larger, by the length of its circle.) A ring that would be too thin to be seen has a least width and is told of by name.

use std::fmt;

/// What the thickness of rings follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Radii {
    /// There is room for all: thickness grows with the logarithm of lines, or is the same in the large picture.
    #[default]
    Fit,
    /// Area is as capacity.
    Scale,
}

impl Radii {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Fit, Self::Scale];

    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fit => "fit",
            Self::Scale => "scale",
        }
    }

    /// The other one.
    #[must_use]
    pub fn next(self) -> Self {
        match self {
            Self::Fit => Self::Scale,
            Self::Scale => Self::Fit,
        }
    }
}

impl fmt::Display for Radii {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Least width of a ring, world units: 16 pixels of a picture 720 high. With many levels it is less.
const LEAST: f32 = 0.05;
/// What of the room the least widths of all rings may take.
const LEAST_SHARE: f32 = 0.5;
/// Steps in which the area of a byte is found: past the last bit of a `f32`.
const STEPS: usize = 64;

/// The thickness of rings of so many `bytes`, the innermost first, and whether it is the least one. They stand `gap` apart from `first` on
/// and, with a gap after the last, fill the room up to `end`.
pub(super) fn to_scale(bytes: &[f64], [first, end]: [f32; 2], gap: f32) -> Vec<(f32, bool)> {
    let band = (end - first - gap * bytes.len() as f32).max(0.0);
    let least = f64::from(LEAST.min(LEAST_SHARE * band / bytes.len().max(1) as f32));
    // Where the area of a byte is `area`, over pi: each ring's inner radius, thickness, and whether that is the least.
    let laid = |area: f64| {
        let mut r = f64::from(first);
        let ring = |&bytes: &f64| {
            let own = (r * r + area * bytes).sqrt() - r;
            let thickness = own.max(least);
            r += thickness + f64::from(gap);
            (thickness, own < least)
        };
        let rings: Vec<(f64, bool)> = bytes.iter().map(ring).collect();
        (rings, r)
    };
    // No ring is larger than all the room.
    let smallest = bytes.iter().copied().fold(f64::INFINITY, f64::min).max(1.0);
    let [mut low, mut high] = [0.0, f64::from(end) * f64::from(end) / smallest];
    for _ in 0..STEPS {
        let middle = 0.5 * (low + high);
        if laid(middle).1 > f64::from(end) { high = middle } else { low = middle }
    }
    laid(low).0.into_iter().map(|(thickness, is_least)| (crate::units::to_f32(thickness), is_least)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Area of each byte, over pi.
    fn areas(bytes: &[f64], laid: &[(f32, bool)], first: f32, gap: f32) -> Vec<f64> {
        let mut r = f64::from(first);
        let ring = |(&bytes, &(thickness, _)): (&f64, &(f32, bool))| {
            let (r0, r1) = (r, r + f64::from(thickness));
            r = r1 + f64::from(gap);
            (r1 * r1 - r0 * r0) / bytes
        };
        bytes.iter().zip(laid).map(ring).collect()
    }

    #[test]
    fn a_byte_has_the_same_area_in_all_rings_that_are_wide_enough() {
        const KIB: f64 = 1024.0;
        for (bytes, thin) in [
            (vec![0.5 * KIB, 2.0 * KIB], vec![false, false]),
            (vec![32.0 * KIB, 256.0 * KIB, 8192.0 * KIB], vec![true, true, false]),
            (vec![48.0 * KIB, 2048.0 * KIB], vec![true, false]),
            (vec![64.0 * KIB], vec![false]),
            // An outer level that is smaller than the inner one.
            (vec![256.0 * KIB, 1.0 * KIB], vec![false, true]),
            (vec![KIB; 8], vec![false; 8]),
        ] {
            let (first, end, gap) = (0.105, 0.755, 0.02);
            let laid = to_scale(&bytes, [first, end], gap);
            let all: f32 = laid.iter().map(|(thickness, _)| thickness + gap).sum();
            assert!((first + all - end).abs() < 1e-4, "{bytes:?}: the room is filled: {laid:?}");
            let is_thin: Vec<bool> = laid.iter().map(|(_, is_least)| *is_least).collect();
            assert_eq!(is_thin, thin, "{bytes:?}: {laid:?}");
            let areas = areas(&bytes, &laid, first, gap);
            let exact: Vec<f64> =
                areas.iter().zip(&is_thin).filter(|(_, thin)| !**thin).map(|(area, _)| *area).collect();
            assert!(exact.iter().all(|area| (area / exact[0] - 1.0).abs() < 1e-3), "{bytes:?}: {areas:?}");
            for ((area, thin), (thickness, _)) in areas.iter().zip(&is_thin).zip(&laid) {
                assert!(*thickness > 0.02, "each is seen: {laid:?}");
                assert!(!*thin || *area > exact[0], "what is thin has more than its area: {areas:?}");
            }
        }
    }

    #[test]
    fn names_are_read_and_the_next_is_the_other() {
        assert_eq!(Radii::ALL.map(Radii::name), ["fit", "scale"]);
        assert_eq!(Radii::Fit.next().next(), Radii::Fit);
        assert_eq!(Radii::Scale.to_string(), "scale");
    }
}
