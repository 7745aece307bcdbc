//! Words that occur often, as numbers.

use std::collections::HashMap;

/// A word of a [`Symbols`]: its number, in the order in which words were first met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(pub u32);

impl Symbol {
    /// As an index.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Words and their numbers.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    words: Vec<Box<str>>,
    // Looked up, never walked through: its order does not show.
    numbers: HashMap<Box<str>, Symbol>,
}

impl Symbols {
    /// The number of a word, a new one where it was never met. There can be 2^32 - 1 of them.
    pub fn add(&mut self, word: &str) -> Symbol {
        if let Some(&symbol) = self.numbers.get(word) {
            return symbol;
        }
        let symbol = Symbol(u32::try_from(self.words.len()).unwrap_or(u32::MAX));
        self.words.push(word.into());
        self.numbers.insert(word.into(), symbol);
        symbol
    }

    /// The number of a word that was met.
    #[must_use]
    pub fn find(&self, word: &str) -> Option<Symbol> {
        self.numbers.get(word).copied()
    }

    /// The word of a number.
    #[must_use]
    pub fn word(&self, symbol: Symbol) -> &str {
        self.words.get(symbol.index()).map_or("", |word| word)
    }

    /// Words that were met.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether none was.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// All words, by number.
    pub fn iter(&self) -> impl Iterator<Item = (Symbol, &str)> {
        (0..).map(Symbol).zip(self.words.iter().map(AsRef::as_ref))
    }
}
