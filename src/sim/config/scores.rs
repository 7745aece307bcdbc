//! What a hit earns and a miss costs: the scores behind a cache's temperature (Choudhury and Rosen 2011, section IV-D). They
//! change no count.

use super::{ConfigError, HierarchyConfig, Place};
use std::fmt;

/// A score in thousandths, 0 to [`Score::MOST`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score(u32);

impl Score {
    /// A score of 1.
    pub const ONE: Self = Self(1000);
    /// The largest: 1000.
    pub const MOST: Self = Self(1_000_000);
    /// What is allowed, for people.
    pub(super) const RANGE: &'static str = "a number from 0 to 1000 such as 1 or 2.5";

    /// Reads a number from 0 to 1000; digits past the third after the point are rounded.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let value: f64 = text.replace('_', "").parse().ok()?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 1000")]
        (0.0..=1000.0).contains(&value).then(|| Self((value * 1000.0).round() as u32))
    }

    /// As a number.
    #[must_use]
    pub fn value(self) -> f32 {
        self.0 as f32 / 1000.0
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 1000, self.0 % 1000);
        match rest {
            0 => write!(f, "{whole}"),
            _ => write!(f, "{whole}.{}", format!("{rest:03}").trim_end_matches('0')),
        }
    }
}

/// What a miss costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissScore {
    /// As much as hits on the rest of its line would earn (`"line"`): bytes of a line over those of an access, less the one that
    /// missed, so that a stream breaks even whatever its accesses' size; as much as one hit at least.
    Line,
    /// So much.
    Of(Score),
}

impl MissScore {
    /// The word of [`MissScore::Line`].
    pub(super) const WORD: &'static str = "line";
    /// What is allowed, for people.
    pub(super) const RANGE: &'static str = "\"line\", or a number from 0 to 1000 such as 1 or 2.5";

    /// Reads `line`, or a number.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text == Self::WORD { Some(Self::Line) } else { Score::parse(text).map(Self::Of) }
    }
}

impl HierarchyConfig {
    /// What a miss of a level costs: what its configuration says, else [`MissScore::Line`] at levels that are asked first, and 1
    /// behind them, so that a miss of L1 costs more.
    ///
    /// # Panics
    /// Where there is no such level.
    #[must_use]
    pub fn miss_score(&self, level: usize) -> MissScore {
        self.levels[level].miss_score.unwrap_or_else(|| self.usual_miss_score(level))
    }

    /// What it costs where nothing is said.
    pub(super) fn usual_miss_score(&self, level: usize) -> MissScore {
        if self.depths()[level] == 0 { MissScore::Line } else { MissScore::Of(Score::ONE) }
    }

    /// Takes scores of levels, from the CPU outward: `HIT:MISS,HIT:MISS`, in which a miss may be `line`. Levels past the last stay
    /// as they are.
    ///
    /// # Errors
    /// Where the text is none of these, or of more levels than there are; `place` is where it was written.
    pub fn set_scores(&mut self, text: &str, place: &Place) -> Result<(), ConfigError> {
        let pairs: Vec<&str> = text.split(',').map(str::trim).collect();
        let wrong = |found: &str, expected: &'static str| ConfigError::WrongType {
            place: Box::new(place.clone()),
            key: "scores".into(),
            found: format!("\"{found}\""),
            expected,
        };
        if pairs.len() > self.levels.len() {
            return Err(wrong(text, "one HIT:MISS a level of these caches, or fewer"));
        }
        for (level, pair) in self.levels.iter_mut().zip(pairs) {
            let (hit, miss) = pair.split_once(':').ok_or_else(|| wrong(pair, "HIT:MISS, as in 1:line or 1:7"))?;
            level.hit_score = Score::parse(hit).ok_or_else(|| wrong(hit, Score::RANGE))?;
            level.miss_score = Some(MissScore::parse(miss).ok_or_else(|| wrong(miss, MissScore::RANGE))?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_read_and_written_alike() {
        for (text, written) in
            [("1", "1"), ("0", "0"), ("2.5", "2.5"), ("7.0", "7"), ("0.125", "0.125"), ("1e3", "1000")]
        {
            assert_eq!(Score::parse(text).map(|score| score.to_string()).as_deref(), Some(written));
        }
        for text in ["-1", "1000.5", "nan", "inf", "", "one", "1,5"] {
            assert_eq!(Score::parse(text), None, "{text}");
        }
        assert_eq!(MissScore::parse("line"), Some(MissScore::Line));
        assert_eq!(MissScore::parse("3"), Some(MissScore::Of(Score(3000))));
    }
}
