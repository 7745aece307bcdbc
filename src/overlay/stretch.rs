//! The part of a trace that the strip shows.

use std::ops::Range;

/// References that the strip shows, at least.
const LEAST: f64 = 64.0;

/// The part of a trace that the strip shows, as shares of the trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    from: f64,
    to: f64,
}

impl Default for Stretch {
    /// All of it.
    fn default() -> Self {
        Self { from: 0.0, to: 1.0 }
    }
}

impl Stretch {
    /// Whether it is all of the trace.
    #[must_use]
    pub fn is_whole(self) -> bool {
        self == Self::default()
    }

    /// Where a share of the trace is in it: 0 at its left end, 1 at its right.
    #[must_use]
    pub fn place(self, share: f64) -> f64 {
        (share - self.from) / (self.to - self.from)
    }

    /// The share of the trace that is at a place.
    #[must_use]
    pub fn share(self, place: f64) -> f64 {
        self.from + place * (self.to - self.from)
    }

    /// Whether it shows a share of the trace.
    #[must_use]
    pub fn shows(self, share: f64) -> bool {
        (self.from..=self.to).contains(&share)
    }

    /// Its references, of a trace of `len`.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and len")]
    pub fn references(self, len: u64) -> Range<u64> {
        (self.from * len as f64).round() as u64..((self.to * len as f64).round() as u64).min(len)
    }

    /// Narrower by a factor (wider below 1) round `share`, which stays at its place; of a trace of `len` references.
    #[must_use]
    pub fn closer(self, factor: f64, share: f64, len: u64) -> Self {
        let least = (LEAST / len.max(1) as f64).min(1.0);
        let width = ((self.to - self.from) / factor.max(1e-9)).clamp(least, 1.0);
        let from = share - self.place(share).clamp(0.0, 1.0) * width;
        Self::fitting(from, width)
    }

    /// Farther on by so many of its widths.
    #[must_use]
    pub fn moved(self, widths: f64) -> Self {
        let width = self.to - self.from;
        Self::fitting(self.from + widths * width, width)
    }

    /// The same, or as wide where it shows `share`: as one turns a page.
    #[must_use]
    pub fn turned_to(self, share: f64) -> Self {
        let place = self.place(share);
        if (0.0..=1.0).contains(&place) {
            self
        } else {
            self.moved(if place > 1.0 { place - 0.1 } else { place - 0.9 })
        }
    }

    fn fitting(from: f64, width: f64) -> Self {
        if width >= 1.0 {
            return Self::default();
        }
        let from = from.clamp(0.0, 1.0 - width);
        Self { from, to: from + width }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_keeps_what_is_pointed_at_and_stays_in_the_trace() {
        let mut stretch = Stretch::default();
        assert!(stretch.is_whole() && stretch.references(1000) == (0..1000));
        for _ in 0..200 {
            let place = stretch.place(0.7);
            stretch = stretch.closer(1.2, 0.7, 1_000_000_000);
            assert!((stretch.place(0.7) - place).abs() < 1e-6, "{stretch:?}");
            assert!((stretch.share(stretch.place(0.7)) - 0.7).abs() < 1e-12);
        }
        let references = stretch.references(1_000_000_000);
        assert!((64..=66).contains(&(references.end - references.start)), "{references:?}");
        assert!(references.contains(&700_000_000));
        for _ in 0..200 {
            stretch = stretch.closer(1.0 / 1.2, 0.1, 1_000_000_000);
        }
        assert!(stretch.is_whole(), "{stretch:?}");
        assert!(Stretch::default().closer(1e9, 0.5, 10).is_whole(), "a short trace is shown as it is");
    }

    #[test]
    fn pages_turn_where_the_playhead_leaves() {
        let stretch = Stretch::default().closer(10.0, 0.5, 1 << 30);
        assert_eq!(stretch.turned_to(0.5), stretch);
        for share in [0.0, 0.3, 0.62, 0.99, 1.0] {
            let turned = stretch.turned_to(share);
            assert!(turned.shows(share), "{share}: {turned:?}");
            assert!((turned.to - turned.from - 0.1).abs() < 1e-9);
        }
        let on = stretch.turned_to(0.6);
        assert!((on.place(0.6) - 0.1).abs() < 1e-9, "there is room ahead: {on:?}");
        assert_eq!(stretch.moved(-100.0).references(1000), 0..100);
    }
}
