//! Memory for the words of a level: flat, zeroed, and on the boundaries of the machine's own cache lines, so that a set of
//! 8 words is one vector in one line.

use bytemuck::{Pod, Zeroable};
use std::ops::{Deref, DerefMut};

/// One cache line of the machines we run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u64; 8]);

/// A slice of words that begins on a 64-byte boundary, wherever it is cloned to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Words {
    lines: Vec<Line>,
    len: usize,
}

impl Clone for Words {
    fn clone(&self) -> Self {
        let Self { lines, len } = self;
        Self { lines: lines.clone(), len: *len }
    }

    /// Into the memory that is there: most of a copy of megabytes is the system's search for room.
    fn clone_from(&mut self, other: &Self) {
        let Self { lines, len } = other;
        self.lines.clone_from(lines);
        self.len = *len;
    }
}

impl Words {
    /// `len` words, all 0.
    pub(super) fn new(len: usize) -> Self {
        Self { lines: vec![Line([0; 8]); len.div_ceil(8)], len }
    }
}

impl Deref for Words {
    type Target = [u64];

    #[inline]
    fn deref(&self) -> &[u64] {
        &bytemuck::cast_slice(&self.lines)[..self.len]
    }
}

impl DerefMut for Words {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u64] {
        &mut bytemuck::cast_slice_mut(&mut self.lines)[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_begin_on_a_line_wherever_they_are() {
        for len in [0, 1, 8, 13, 512] {
            let words = Words::new(len);
            let copies = [words.clone(), words.clone(), words];
            for copy in &copies {
                assert_eq!(copy.as_ptr() as usize % 64, 0, "{len} words");
                assert_eq!(**copy, vec![0; len]);
            }
        }
    }
}
