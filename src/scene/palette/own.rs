//! Colours that people give to regions: a table beside the palette, which travels with the picture.

use super::difference::apart;
use super::{BACKGROUND, MISS, NEUTRAL, REGIONS, Rgba, contrast, region};
use std::sync::Arc;

/// The colour of each region: its own where it was given one, else that of the palette.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegionColors(Arc<[Option<Rgba>]>);

impl RegionColors {
    /// By region, the colour that it was given.
    #[must_use]
    pub fn new(own: impl IntoIterator<Item = Option<Rgba>>) -> Self {
        let own: Arc<[Option<Rgba>]> = own.into_iter().collect();
        // Of a picture that has the palette's colours alone, nothing is to be looked up.
        if own.iter().all(Option::is_none) { Self::default() } else { Self(own) }
    }

    /// The colour of region number `index`.
    #[must_use]
    pub fn of(&self, index: usize) -> Rgba {
        self.own(index).unwrap_or_else(|| region(index))
    }

    /// The colour that this region was given.
    #[must_use]
    pub fn own(&self, index: usize) -> Option<Rgba> {
        self.0.get(index).copied().flatten()
    }

    /// Colour of an arc of memory: of its region, or of none where several share it.
    #[must_use]
    pub fn arc(&self, regions: &[usize]) -> Rgba {
        if let [only] = regions { self.of(*only) } else { NEUTRAL }
    }
}

/// The colour after `now` of region number `index`: first the palette's, in which the first six are those that differ most, without
/// those that `others` have; then its first colour again. `None` = the first colour.
#[must_use]
pub fn next(index: usize, now: Rgba, others: &[Rgba]) -> Option<Rgba> {
    let first = region(index);
    let free: Vec<Rgba> = REGIONS.into_iter().filter(|c| *c != first && !others.contains(c)).collect();
    match free.iter().position(|c| *c == now) {
        Some(at) => free.get(at + 1).copied(),
        None if now == first => free.first().copied(),
        None => None,
    }
}

/// A colour as people write it: `#a6b1f5`.
#[must_use]
pub fn hex([r, g, b, _]: Rgba) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// The colour that is written so.
#[must_use]
pub fn from_hex(text: &str) -> Option<Rgba> {
    let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6 && digits.is_ascii())?;
    let byte = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    // A sign would be read as part of a number.
    let plain = digits.bytes().all(|b| b.is_ascii_hexdigit());
    plain.then_some([byte(0)?, byte(2)?, byte(4)?, 255])
}

/// Why a colour is none for a region: what it is taken for, and the colour of that; `None` = it can be given.
#[must_use]
pub fn refused(color: Rgba) -> Option<(&'static str, Rgba)> {
    if apart(color, MISS) < FROM_A_MISS {
        return Some(("the red of a miss", MISS));
    }
    (contrast(color, BACKGROUND) < FROM_THE_GROUND).then_some(("the ground", BACKGROUND))
}

/// Least distance (CIEDE2000) from the colour of a miss: that which the palette was searched for.
const FROM_A_MISS: f64 = 13.0;
/// Least contrast with the ground (WCAG 2.1): that of the palest colours that come again.
const FROM_THE_GROUND: f32 = 2.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_own_colours_leaves_all_others_as_they_are() {
        let colors = RegionColors::new([None, Some([1, 2, 3, 255])]);
        assert_eq!([colors.of(0), colors.of(1), colors.of(2)], [region(0), [1, 2, 3, 255], region(2)]);
        assert_eq!([colors.arc(&[1]), colors.arc(&[0, 1])], [[1, 2, 3, 255], NEUTRAL]);
        assert_eq!(RegionColors::new([None, None]), RegionColors::default(), "equal pictures are equal values");
    }

    #[test]
    fn clicks_go_through_the_free_colours_of_the_palette_and_back() {
        // The second of three regions.
        let others = [region(0), region(2)];
        let (mut now, mut seen) = (region(1), Vec::new());
        while let Some(color) = next(1, now, &others) {
            seen.push(color);
            now = color;
        }
        assert_eq!(seen, REGIONS[3..]);
        // A colour that was typed goes back to the first; where all are taken there is no other.
        assert_eq!(next(1, [9, 99, 9, 255], &others), None);
        assert_eq!(next(1, region(1), &REGIONS), None);
        // The thirteenth region begins with those of the first six that are free.
        assert_eq!(next(12, region(12), &others), Some(REGIONS[1]));
    }

    #[test]
    fn colours_are_written_and_read() {
        for color in REGIONS {
            assert_eq!(from_hex(&hex(color)), Some(color));
        }
        assert_eq!(from_hex("#FFcc00"), Some([255, 204, 0, 255]));
        for wrong in ["", "#", "ffcc00", "#fc0", "#ffcc0", "#ffcc000", "#+fcc00", "#ggcc00", "#ffé0", "red"] {
            assert_eq!(from_hex(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_looks_like_a_miss_or_like_the_ground_is_refused() {
        for color in (0..3 * REGIONS.len()).map(region) {
            assert_eq!(refused(color), None, "{} is the palette's", hex(color));
        }
        for (color, what) in [(MISS, "a miss"), ([230, 60, 30, 255], "a miss"), (BACKGROUND, "ground")] {
            assert!(refused(color).is_some_and(|(words, _)| words.contains(what)), "{color:?}");
        }
        assert!(refused([40, 40, 60, 255]).is_some() && refused([255, 255, 0, 255]).is_none());
    }
}
