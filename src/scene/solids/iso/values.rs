//! Which values surfaces have: so many between the least number and the largest, or those that are named.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Surfaces at most.
const MOST: u8 = 32;
/// Surfaces where nobody says how many.
const USUAL: u8 = 5;
/// No more is ever counted.
const LARGEST: f64 = 1e15;

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub enum Isovalues {
    /// So many (1 to 32), evenly between the least number and the largest.
    Even(u8),
    /// These, 10^15 at most either way, from the least.
    Named(Arc<[f64]>),
}

// None of them is NaN.
impl Eq for Isovalues {}

impl Default for Isovalues {
    fn default() -> Self {
        Self::Even(USUAL)
    }
}

/// Why words are no values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "found `{0}`; expected numbers, as in 10,20,40, or how many lie evenly between the least and the largest, as in even(5); 32 at most"
)]
pub struct NoIsovalues(String);

impl Isovalues {
    /// The values, of numbers between these ends, from the least; evenly spaced ones are none where the ends are one.
    #[must_use]
    pub fn of(&self, [least, most]: [f64; 2]) -> Vec<f64> {
        match self {
            Self::Named(values) => values.to_vec(),
            Self::Even(count) if least < most => {
                let steps = f64::from(*count) + 1.0;
                (1..=*count).map(|n| least + (most - least) * f64::from(n) / steps).collect()
            }
            Self::Even(_) => Vec::new(),
        }
    }
}

impl FromStr for Isovalues {
    type Err = NoIsovalues;

    fn from_str(text: &str) -> Result<Self, NoIsovalues> {
        let wrong = || NoIsovalues(text.to_owned());
        if let Some(count) = text.trim().strip_prefix("even(") {
            let count: Option<u8> = count.strip_suffix(')').and_then(|count| count.trim().parse().ok());
            return count.filter(|count| (1..=MOST).contains(count)).map(Self::Even).ok_or_else(wrong);
        }
        let number = |word: &str| word.trim().parse::<f64>().ok().filter(|number| number.abs() <= LARGEST);
        let mut values = text.split(',').map(number).collect::<Option<Vec<f64>>>().ok_or_else(wrong)?;
        values.sort_by(f64::total_cmp);
        values.dedup();
        if values.len() > usize::from(MOST) {
            return Err(wrong());
        }
        Ok(Self::Named(values.into()))
    }
}

impl fmt::Display for Isovalues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Even(count) => write!(f, "even({count})"),
            Self::Named(values) => {
                let words: Vec<String> = values.iter().map(f64::to_string).collect();
                f.write_str(&words.join(","))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_lie_evenly_between_the_ends_or_where_they_are_named() {
        assert_eq!(Isovalues::default().of([0.0, 12.0]), [2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(Isovalues::Even(1).of([-4.0, 2.0]), [-1.0]);
        assert!(Isovalues::default().of([3.0, 3.0]).is_empty(), "nothing lies between one number");
        assert_eq!("7,-2,7".parse::<Isovalues>().expect("numbers").of([0.0, 1.0]), [-2.0, 7.0]);
    }

    #[test]
    fn words_are_read_as_they_are_written() {
        for words in ["even(5)", "even(32)", "10,20,40", "-2.5,0,3"] {
            assert_eq!(words.parse::<Isovalues>().expect(words).to_string(), words);
        }
        for wrong in ["", "even(0)", "even(33)", "even(", "nan", "1,,2", "inf", "five", "1e16"] {
            let error = wrong.parse::<Isovalues>().expect_err("no values").to_string();
            assert!(error.contains(&format!("`{wrong}`")) && error.contains("even(5)"), "{error}");
        }
        let many: Vec<String> = (0..33).map(|n| n.to_string()).collect();
        assert!(many.join(",").parse::<Isovalues>().is_err());
    }
}
