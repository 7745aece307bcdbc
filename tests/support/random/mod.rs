//! Random configurations and traces, the same in every run. All that tests of the simulator and of the timeline play is made here.

pub(crate) mod machines;
pub(crate) mod traces;

use orrery::trace::synth::Rng;

/// What tests draw, beside numbers.
pub(crate) trait Lots {
    /// From 0, less than `below`.
    fn small(&mut self, below: u64) -> u32;

    /// True `n` times in a hundred.
    fn percent(&mut self, n: u64) -> bool;

    /// Each as often as it stands there.
    fn one_of<T: Copy>(&mut self, all: &[T]) -> T;
}

impl Lots for Rng {
    fn small(&mut self, below: u64) -> u32 {
        u32::try_from(self.below(below)).expect("small")
    }

    fn percent(&mut self, n: u64) -> bool {
        self.below(100) < n
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.small(all.len() as u64) as usize]
    }
}
