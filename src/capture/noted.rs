//! Memory of which all is noted, so that most references cost a look at one place.

/// Sets of stretches, as a power of two.
const SET_BITS: u32 = 8;

/// Stretches remembered for a page: a page of the stack or of small variables has several.
const WAYS: usize = 4;

/// A stretch of addresses, and in which round of forgetting it was remembered.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NotedSpan {
    first: u64,
    /// Its last byte less its first.
    reach: u64,
    round: u64,
}

impl NotedSpan {
    #[inline(always)]
    fn holds(self, addr: u64, round: u64) -> bool {
        (addr.wrapping_sub(self.first) <= self.reach) & (self.round == round)
    }
}

/// Stretches, by page of 4 KiB; of a page the one that was asked for last comes first.
#[derive(Clone, Debug)]
pub(super) struct Noted {
    sets: Vec<[NotedSpan; WAYS]>,
    round: u64,
}

impl Default for Noted {
    fn default() -> Self {
        Self { sets: vec![Default::default(); 1 << SET_BITS], round: 1 }
    }
}

impl Noted {
    /// Whether `stretch`, which was found earlier, is not forgotten and has this byte.
    #[inline(always)]
    pub(super) fn is_in(&self, stretch: NotedSpan, addr: u64) -> bool {
        stretch.holds(addr, self.round)
    }

    /// The stretch around a byte of which all is noted.
    #[inline(always)]
    pub(super) fn find(&mut self, addr: u64) -> Option<NotedSpan> {
        let round = self.round;
        let set = &mut self.sets[set(addr) % (1 << SET_BITS)];
        if set[0].holds(addr, round) {
            return Some(set[0]);
        }
        let way = set.iter().position(|stretch| stretch.holds(addr, round))?;
        set.swap(0, way);
        Some(set[0])
    }

    /// All is noted of the bytes from `first` to `last`, among which is `addr`.
    pub(super) fn remember(&mut self, addr: u64, first: u64, last: u64) -> NotedSpan {
        let set = &mut self.sets[set(addr) % (1 << SET_BITS)];
        set.rotate_right(1);
        set[0] = NotedSpan { first, reach: last.saturating_sub(first), round: self.round };
        set[0]
    }

    /// Nothing is known any more.
    pub(super) fn forget(&mut self) {
        self.round += 1;
    }
}

/// Multiplicative hashing (Knuth 1973), so that arrays a power of two apart do not share a set.
#[inline]
fn set(addr: u64) -> usize {
    usize::try_from((addr >> 12).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SET_BITS)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_holds_until_it_is_forgotten() {
        let mut noted = Noted::default();
        let holds = |noted: &mut Noted, addr| noted.find(addr).is_some();
        assert!(!holds(&mut noted, 0) && !holds(&mut noted, u64::MAX));
        noted.remember(0x1008, 0x1000, 0x1fff);
        assert!(
            holds(&mut noted, 0x1000)
                && holds(&mut noted, 0x1fff)
                && !holds(&mut noted, 0xfff)
                && !holds(&mut noted, 0x2000)
        );
        noted.remember(0x1008, 0x1000, 0x100f);
        noted.remember(0x1010, 0x1010, 0x1017);
        assert!(
            holds(&mut noted, 0x1100) && holds(&mut noted, 0x1017) && holds(&mut noted, 0x1001),
            "several of a page"
        );
        noted.remember(0x5000, 0, u64::MAX);
        assert!(holds(&mut noted, 0x5000) && holds(&mut noted, 0x5fff));
        let kept = noted.find(0x5008).expect("it is remembered");
        assert!(noted.is_in(kept, 0x5000) && noted.is_in(kept, u64::MAX));
        noted.forget();
        assert!(!noted.is_in(kept, 0x5000), "what was found is forgotten too");
        assert!(!holds(&mut noted, 0x1000) && !holds(&mut noted, 0x5000));
        noted.remember(0x1008, 0x1008, 0x1008);
        assert!(holds(&mut noted, 0x1008) && !holds(&mut noted, 0x1009));
    }
}
