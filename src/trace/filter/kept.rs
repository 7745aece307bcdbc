//! Which references of a stream were kept, so that what counts references (marks, lifetimes) can be renumbered.

/// References of one word.
const WORD: u64 = u64::BITS as u64;

/// A bit a reference, but for stretches of which all or none were kept. At most 125 MB for 10^9 references.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    stretches: Vec<Stretch>,
    seen: u64,
    kept: u64,
}

/// What one call noted.
#[derive(Clone, Debug)]
struct Stretch {
    /// References seen and kept before it.
    seen: u64,
    kept: u64,
    bits: Bits,
}

#[derive(Clone, Debug)]
enum Bits {
    All,
    None,
    Some(Box<[u64]>),
}

impl Kept {
    /// Notes the next references of the stream.
    pub(super) fn note(&mut self, kept: &[bool]) {
        let count = kept.iter().filter(|kept| **kept).count();
        let bits = match count {
            0 => Bits::None,
            all if all == kept.len() => Bits::All,
            _ => Bits::Some(
                kept.chunks(64).map(|word| word.iter().rev().fold(0, |w, &k| 2 * w + u64::from(k))).collect(),
            ),
        };
        let same = matches!(
            (self.stretches.last(), &bits),
            (Some(Stretch { bits: Bits::All, .. }), Bits::All) | (Some(Stretch { bits: Bits::None, .. }), Bits::None)
        );
        if !same {
            self.stretches.push(Stretch { seen: self.seen, kept: self.kept, bits });
        }
        self.seen += kept.len() as u64;
        self.kept += count as u64;
    }

    /// References kept of the first `n` seen.
    pub(super) fn before(&self, n: u64) -> u64 {
        let n = n.min(self.seen);
        let at = self.stretches.partition_point(|stretch| stretch.seen < n);
        let Some(stretch) = at.checked_sub(1).map(|at| &self.stretches[at]) else { return 0 };
        let within = n - stretch.seen;
        stretch.kept
            + match &stretch.bits {
                Bits::All => within,
                Bits::None => 0,
                Bits::Some(words) => rank(words, within),
            }
    }
}

/// Bits set among the first `n`.
fn rank(words: &[u64], n: u64) -> u64 {
    let mut left = n;
    let mut sum = 0;
    for word in words {
        if left < WORD {
            return sum + u64::from((word & ((1 << left) - 1)).count_ones());
        }
        sum += u64::from(word.count_ones());
        left -= WORD;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn counts_as_a_list_does(chunks in prop::collection::vec(
            prop_oneof![
                prop::collection::vec(any::<bool>(), 0..200),
                (0usize..200).prop_map(|n| vec![true; n]),
                (0usize..200).prop_map(|n| vec![false; n]),
            ],
            0..8,
        )) {
            let mut kept = Kept::default();
            chunks.iter().for_each(|chunk| kept.note(chunk));
            let all = chunks.concat();
            for n in 0..=all.len() {
                let expected = all[..n].iter().filter(|k| **k).count() as u64;
                prop_assert_eq!(kept.before(n as u64), expected, "before {}", n);
            }
            prop_assert_eq!(kept.before(u64::MAX), all.iter().filter(|k| **k).count() as u64);
        }
    }
}
