//! Whose memory an element lies in: by a distribution over cores, as High Performance Fortran has them, or by who wrote it first.
//!
//! ```text
//! 8 elements, 2 cores     block       0 0 0 0 1 1 1 1
//!                         cyclic      0 1 0 1 0 1 0 1
//!                         cyclic(2)   0 0 1 1 0 0 1 1
//! 4 x 4, 4 cores          block,block 0 0 1 1     cyclic,*  0 0 0 0
//!                                     0 0 1 1               1 1 1 1
//!                                     2 2 3 3               2 2 2 2
//!                                     2 2 3 3               3 3 3 3
//! ```

use std::fmt;
use std::str::FromStr;

/// How the indices of one dimension are dealt to cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Deal {
    /// Runs as long as each other, a run each.
    Block,
    /// Runs of so many indices (1 or more), in turn: `cyclic` = 1.
    Cyclic(u64),
    /// Not dealt: all of the dimension lies with whoever the others tell.
    Whole,
}

/// Who owns an element.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Distribution {
    /// The core that wrote it first in all of the trace, which is where an operating system puts memory; of what nobody writes, the core
    /// that read it first. (A recorder of threads may tell reads of one thread before the writes of another that they came after.)
    #[default]
    FirstTouch,
    /// By its indices, a deal for each dimension; those past the end are not dealt.
    Dealt(Vec<Deal>),
}

/// Why words are no distribution.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("found `{0}`; expected first-touch, or for each dimension block, cyclic, cyclic(K) or *, as in cyclic,*")]
pub struct NoDistribution(String);

impl FromStr for Distribution {
    type Err = NoDistribution;

    fn from_str(text: &str) -> Result<Self, NoDistribution> {
        let wrong = || NoDistribution(text.to_owned());
        if text.trim() == "first-touch" {
            return Ok(Self::FirstTouch);
        }
        let deal = |word: &str| match word.trim() {
            "block" => Some(Deal::Block),
            "cyclic" => Some(Deal::Cyclic(1)),
            "*" => Some(Deal::Whole),
            word => {
                let run = word.strip_prefix("cyclic(")?.strip_suffix(')')?;
                run.trim().parse().ok().filter(|run| *run > 0).map(Deal::Cyclic)
            }
        };
        text.split(',').map(deal).collect::<Option<Vec<Deal>>>().map(Self::Dealt).ok_or_else(wrong)
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Dealt(deals) = self else { return f.write_str("first-touch") };
        for (n, deal) in deals.iter().enumerate() {
            f.write_str(if n > 0 { "," } else { "" })?;
            match deal {
                Deal::Block => f.write_str("block")?,
                Deal::Cyclic(1) => f.write_str("cyclic")?,
                Deal::Cyclic(run) => write!(f, "cyclic({run})")?,
                Deal::Whole => f.write_str("*")?,
            }
        }
        Ok(())
    }
}

/// Owners of the elements of one array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owners {
    /// By dimension: its extent, how it is dealt, and to how many.
    dimensions: Vec<(u64, Deal, u64)>,
}

impl Owners {
    /// Of an array of these extents, by its deals, over so many cores (1 or more).
    #[must_use]
    pub fn new(extents: &[u64], deals: &[Deal], cores: u64) -> Self {
        let deal = |n: usize| deals.get(n).copied().unwrap_or(Deal::Whole);
        let dealt: Vec<usize> = (0..extents.len()).filter(|&n| deal(n) != Deal::Whole).collect();
        let mut to = vec![1; extents.len()];
        for (n, cores) in dealt.iter().zip(arranged(cores.max(1), dealt.len())) {
            to[*n] = cores;
        }
        Self {
            dimensions: extents.iter().zip(to).enumerate().map(|(n, (extent, to))| (*extent, deal(n), to)).collect(),
        }
    }

    /// The core that owns the element with these indices.
    #[must_use]
    pub fn of(&self, indices: &[u64]) -> u64 {
        indices.iter().zip(&self.dimensions).fold(0, |owner, (&index, &(extent, deal, to))| {
            let at = match deal {
                Deal::Whole => 0,
                Deal::Block => (index / extent.max(1).div_ceil(to)).min(to - 1),
                Deal::Cyclic(run) => index / run.max(1) % to,
            };
            owner * to + at
        })
    }
}

/// Cores as a grid of so many dimensions, as nearly square as their number allows, the larger sides first.
fn arranged(cores: u64, dimensions: usize) -> Vec<u64> {
    let mut sides = vec![1; dimensions];
    let (mut left, mut factors, mut by) = (cores, Vec::new(), 2);
    while by * by <= left {
        while left.is_multiple_of(by) {
            factors.push(by);
            left /= by;
        }
        by += 1;
    }
    if left > 1 {
        factors.push(left);
    }
    // The largest factors first, each to the side that is shortest so far.
    for factor in factors.into_iter().rev() {
        if let Some(side) = sides.iter_mut().min_by_key(|side| **side) {
            *side *= factor;
        }
    }
    sides.sort_unstable_by_key(|side| std::cmp::Reverse(*side));
    sides
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owners(extents: &[u64], words: &str, cores: u64) -> Vec<u64> {
        let Ok(Distribution::Dealt(deals)) = words.parse() else { panic!("{words}") };
        let owners = Owners::new(extents, &deals, cores);
        let row = |i: u64| (0..extents.get(1).copied().unwrap_or(1)).map(move |j| (i, j));
        let all = (0..extents[0]).flat_map(row);
        all.map(|(i, j)| owners.of(&[i, j][..extents.len()])).collect()
    }

    #[test]
    fn elements_are_dealt_as_the_words_say() {
        for (extents, words, cores, expect) in [
            (&[8][..], "block", 2, "00001111"),
            (&[8], "cyclic", 2, "01010101"),
            (&[8], "cyclic(2)", 2, "00110011"),
            (&[8], "block", 3, "00011122"),
            (&[3], "block", 8, "012"),
            (&[8], "*", 4, "00000000"),
            (&[4, 4], "block,block", 4, "0011001122332233"),
            (&[4, 4], "cyclic,*", 4, "0000111122223333"),
            (&[4, 4], "cyclic", 2, "0000111100001111"),
            (&[4, 4], "*,block", 2, "0011001100110011"),
            (&[2, 3], "cyclic,cyclic", 6, "010232"),
            (&[2, 3], "block,cyclic", 1, "000000"),
        ] {
            let found: String = owners(extents, words, cores).iter().map(u64::to_string).collect();
            assert_eq!(found, expect, "{words} over {cores} cores");
        }
    }

    #[test]
    fn cores_stand_as_squarely_as_they_can() {
        for (cores, dimensions, expect) in [
            (16, 2, &[4, 4][..]),
            (8, 2, &[4, 2]),
            (12, 3, &[3, 2, 2]),
            (7, 2, &[7, 1]),
            (1, 3, &[1, 1, 1]),
            (5, 1, &[5]),
        ] {
            assert_eq!(arranged(cores, dimensions), expect, "{cores}");
        }
        assert!(arranged(4, 0).is_empty());
    }

    #[test]
    fn words_are_read_as_they_are_written() {
        for words in ["first-touch", "block", "cyclic,*", "cyclic(4),block,*"] {
            assert_eq!(words.parse::<Distribution>().expect(words).to_string(), words);
        }
        for wrong in ["", "blocks", "cyclic(0)", "cyclic(", "cyclic(-1)", "block;cyclic", "first-touch,block"] {
            let error = wrong.parse::<Distribution>().expect_err("no distribution").to_string();
            assert!(error.contains(wrong) && error.contains("cyclic(K)"), "{error}");
        }
    }
}
