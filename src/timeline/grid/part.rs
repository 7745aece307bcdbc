//! Which part of an array is counted: by dimension all of its indices, some of them in a row, or one.
//!
//! ```text
//! of A[8][64][64]    3            A[3]: a plane of 64 x 64
//!                    *,0..16      rows 0 to 15 of each plane
//!                    3,5,0..8     eight elements of one row
//! ```

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// Which indices of one dimension are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Indices {
    /// All.
    #[default]
    All,
    /// One: nothing is counted along this dimension.
    One(u64),
    /// From one up to another, 1 or more.
    Some(u64, u64),
}

/// See the module: by dimension, those past the end are counted whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct GridPart(pub Vec<Indices>);

/// Why words are no part.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("found `{0}`; expected for each dimension an index, FROM..TO or *, as in 3,0..16")]
pub struct NoPart(String);

impl Indices {
    /// From which index on, and how many, of a dimension that has so many; `None` where they are not all there.
    #[must_use]
    pub fn of(self, extent: u64) -> Option<Range<u64>> {
        let range = match self {
            Self::All => 0..extent,
            Self::One(index) => index..index.checked_add(1)?,
            Self::Some(from, to) => from..to,
        };
        (range.start < range.end && range.end <= extent).then_some(range)
    }
}

impl GridPart {
    /// All of an array.
    pub const ALL: Self = Self(Vec::new());
}

impl FromStr for GridPart {
    type Err = NoPart;

    fn from_str(text: &str) -> Result<Self, NoPart> {
        let number = |text: &str| text.trim().parse::<u64>().ok();
        let indices = |word: &str| match (word.trim(), word.split_once("..")) {
            ("*", _) => Some(Indices::All),
            (_, Some((from, to))) => {
                let (from, to) = (number(from)?, number(to)?);
                (from < to).then_some(Indices::Some(from, to))
            }
            (word, None) => number(word).map(Indices::One),
        };
        let all = text.split(',').map(indices).collect::<Option<Vec<Indices>>>();
        all.map(Self).ok_or_else(|| NoPart(text.to_owned()))
    }
}

impl fmt::Display for GridPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, indices) in self.0.iter().enumerate() {
            f.write_str(if n > 0 { "," } else { "" })?;
            match indices {
                Indices::All => f.write_str("*")?,
                Indices::One(index) => write!(f, "{index}")?,
                Indices::Some(from, to) => write!(f, "{from}..{to}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_they_are_written() {
        for words in ["3", "*,0..16", "3,5,0..8", "*"] {
            assert_eq!(words.parse::<GridPart>().expect(words).to_string(), words);
        }
        assert_eq!("0 .. 16, *".parse(), Ok(GridPart(vec![Indices::Some(0, 16), Indices::All])));
        for wrong in ["", "3,", "a", "5..5", "8..3", "..", "-1", "0..16..18", "1;2"] {
            let error = wrong.parse::<GridPart>().expect_err("no part").to_string();
            assert!(error.contains(wrong) && error.contains("FROM..TO"), "{error}");
        }
    }

    #[test]
    fn indices_are_there_or_not() {
        assert_eq!(Indices::All.of(7), Some(0..7));
        assert_eq!([Indices::One(6).of(7), Indices::One(7).of(7)], [Some(6..7), None]);
        assert_eq!([Indices::Some(2, 7).of(7), Indices::Some(2, 8).of(7)], [Some(2..7), None]);
        assert_eq!(Indices::One(u64::MAX).of(7), None);
    }
}
