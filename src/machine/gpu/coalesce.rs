//! The requests of one memory instruction: the lanes of a wavefront that touch the same sector ask for it once.

/// Bytes that one lane touches; `None`: the lane is off.
pub type Lane = Option<(u64, u32)>;

/// The sectors that lanes touch, each once, in the order in which the first lane touches it. A lane that crosses a border touches both
/// sides.
#[must_use]
pub fn sectors(lanes: impl Iterator<Item = Lane>, sector: u32) -> Vec<u64> {
    let size = u64::from(sector.max(1));
    let mut found: Vec<u64> = Vec::new();
    for (addr, bytes) in lanes.flatten() {
        let last = addr.saturating_add(u64::from(bytes.max(1)) - 1) / size;
        for number in addr / size..=last {
            // Neighbours come one after the other: the newest is the likeliest.
            if !found.iter().rev().any(|known| *known == number * size) {
                found.push(number * size);
            }
        }
    }
    found
}

/// The bank, of so many, that holds an address: `interleave` bytes stay together.
#[must_use]
pub fn bank_of(addr: u64, interleave: u64, banks: u32) -> u32 {
    u32::try_from(addr / interleave.max(1) % u64::from(banks.max(1))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 64 lanes of 4 bytes, so far apart.
    fn strided(first: u64, stride: u64) -> impl Iterator<Item = Lane> {
        (0..64).map(move |lane| Some((first + lane * stride, 4)))
    }

    #[test]
    fn lanes_that_touch_the_same_sector_ask_once() {
        // One after the other: 256 bytes are 4 lines of 64, or 8 sectors of 32.
        assert_eq!(sectors(strided(0x1000, 4), 64), [0x1000, 0x1040, 0x1080, 0x10c0]);
        assert_eq!(sectors(strided(0x1000, 4), 32).len(), 8);
        // Not aligned: one more.
        assert_eq!(sectors(strided(0x1010, 4), 64).len(), 5);
        assert_eq!(sectors(strided(0x1002, 4), 64).len(), 5, "the last lane ends in a fifth");
        // Far apart: one each; all the same: one.
        assert_eq!(sectors(strided(0, 64), 64).len(), 64);
        assert_eq!(sectors(strided(0, 128), 64).len(), 64);
        assert_eq!(sectors(strided(0x40, 0), 64), [0x40]);
        // Scattered, by hand, in the order of lanes; lanes that are off ask nothing.
        let lanes = [Some((0x208, 4)), None, Some((0x100, 4)), Some((0x23e, 4)), Some((0x130, 8))];
        assert_eq!(sectors(lanes.into_iter(), 64), [0x200, 0x100, 0x240]);
        assert!(sectors([None, None].into_iter(), 64).is_empty());
    }

    #[test]
    fn addresses_go_round_the_banks() {
        let banks: Vec<u32> = (0..6).map(|n| bank_of(n * 64, 128, 16)).collect();
        assert_eq!(banks, [0, 0, 1, 1, 2, 2]);
        assert_eq!((bank_of(128 * 16, 128, 16), bank_of(128 * 15 + 127, 128, 16)), (0, 15));
    }
}
