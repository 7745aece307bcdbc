//! What a strip along the bottom of a picture tells of a trace, and its name.

use std::fmt;
use std::str::FromStr;

/// What the strip tells of the trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StripKind {
    /// Misses of the innermost ring, parted by the ring that served them.
    #[default]
    Served,
    /// Misses of the ring of this number, the innermost being 1.
    Level(u8),
    /// Misses of the innermost ring, parted by their class.
    Classes,
    /// The temperature of each ring, a row for each.
    Temperature,
    /// Of tasks: how many requests are under way. No strip of a trace.
    InFlight,
}

/// Why words are no kind of a strip.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("found `{0}`; expected served, level1 to level8, classes or temperature")]
pub struct NoStrip(String);

impl FromStr for StripKind {
    type Err = NoStrip;

    fn from_str(words: &str) -> Result<Self, NoStrip> {
        match words {
            "served" => Ok(Self::Served),
            "classes" => Ok(Self::Classes),
            "temperature" => Ok(Self::Temperature),
            level => {
                let number = level.strip_prefix("level").and_then(|digits| digits.parse().ok());
                number.filter(|n| (1..=8).contains(n)).map(Self::Level).ok_or_else(|| NoStrip(words.to_owned()))
            }
        }
    }
}

impl fmt::Display for StripKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Served => f.write_str("served"),
            Self::Level(number) => write!(f, "level{number}"),
            Self::Classes => f.write_str("classes"),
            Self::Temperature => f.write_str("temperature"),
            Self::InFlight => f.write_str("in-flight"),
        }
    }
}

impl StripKind {
    /// The one after it, of a trace under so many rings; classes only where they are `classed`.
    #[must_use]
    pub fn next(self, rings: usize, classed: bool) -> Self {
        let level = |number: usize| u8::try_from(number).ok().filter(|_| number <= rings).map(Self::Level);
        let classes = if classed { Self::Classes } else { Self::Temperature };
        match self {
            Self::Served => level(1).unwrap_or(classes),
            Self::Level(number) => level(usize::from(number) + 1).unwrap_or(classes),
            Self::Classes => Self::Temperature,
            Self::Temperature | Self::InFlight => Self::Served,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_follow_each_other_and_words_of_a_kind_are_that_kind() {
        let mut kind = StripKind::default();
        let mut seen = Vec::new();
        loop {
            assert_eq!(kind.to_string().parse(), Ok(kind));
            seen.push(kind.to_string());
            kind = kind.next(2, true);
            if kind == StripKind::default() {
                break;
            }
        }
        assert_eq!(seen, ["served", "level1", "level2", "classes", "temperature"]);
        assert_eq!(StripKind::Level(2).next(2, false), StripKind::Temperature);
        for words in ["", "level0", "level9", "level", "Served"] {
            assert!(words.parse::<StripKind>().is_err(), "{words}");
        }
    }
}
