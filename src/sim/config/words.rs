//! Values that files write as words.

use super::nearest::nearest;
use super::{Allocate, ConfigError, Holds, Inclusion, Place, Prefetch, WritePolicy};
use crate::sim::{Index, Policy};

/// A value that is written as a word.
pub(super) trait Word: Sized + Copy + PartialEq + 'static {
    /// Key in the file.
    const KEY: &'static str;
    /// All of them.
    const WORDS: &'static [(&'static str, Self)];
}

const fn words_of_policies() -> [(&'static str, Policy); Policy::ALL.len()] {
    let mut words = [("", Policy::Lru); Policy::ALL.len()];
    let mut n = 0;
    while n < words.len() {
        words[n] = (Policy::ALL[n].about().word, Policy::ALL[n]);
        n += 1;
    }
    words
}

impl Word for Policy {
    const KEY: &'static str = "policy";
    const WORDS: &'static [(&'static str, Self)] = &words_of_policies();
}

impl Word for WritePolicy {
    const KEY: &'static str = "write";
    const WORDS: &'static [(&'static str, Self)] = &[("back", Self::Back), ("through", Self::Through)];
}

impl Word for Allocate {
    const KEY: &'static str = "allocate";
    const WORDS: &'static [(&'static str, Self)] = &[("write", Self::Write), ("none", Self::None)];
}

impl Word for Inclusion {
    const KEY: &'static str = "inclusion";
    const WORDS: &'static [(&'static str, Self)] =
        &[("nine", Self::Nine), ("inclusive", Self::Inclusive), ("exclusive", Self::Exclusive)];
}

impl Word for Holds {
    const KEY: &'static str = "holds";
    const WORDS: &'static [(&'static str, Self)] =
        &[("unified", Self::Unified), ("data", Self::Data), ("instructions", Self::Instructions)];
}

impl Word for Prefetch {
    const KEY: &'static str = "prefetch";
    const WORDS: &'static [(&'static str, Self)] =
        &[("none", Self::None), ("next-line", Self::NextLine), ("stride", Self::Stride), ("stream", Self::Stream)];
}

impl Word for Index {
    const KEY: &'static str = "index";
    const WORDS: &'static [(&'static str, Self)] =
        &[("modulo", Self::Modulo), ("xor-fold", Self::XorFold), ("slice", Self::Slice)];
}

/// The word for a value.
pub(super) fn word<W: Word>(value: &W) -> &'static str {
    W::WORDS.iter().find(|(_, v)| v == value).map_or("", |(word, _)| word)
}

/// The value of a word.
pub(super) fn from_word<W: Word>(text: &str, place: Box<Place>) -> Result<W, ConfigError> {
    if let Some((_, value)) = W::WORDS.iter().find(|(word, _)| *word == text) {
        return Ok(*value);
    }
    let words: Vec<&str> = W::WORDS.iter().map(|(word, _)| *word).collect();
    let allowed = words.join(", ");
    Err(ConfigError::UnknownValue { place, key: W::KEY, value: text.into(), nearest: nearest(text, &words), allowed })
}
