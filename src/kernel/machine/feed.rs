//! The second way to run: what an adapter wrote of each item takes the place of values. Masks, order, steps and barriers come about by
//! the same statements, so whoever watches cannot tell the two apart.

use super::Machine;
use crate::kernel::code::{Test, Value};
use crate::kernel::error::KernelError;
use crate::kernel::mask::Mask;
use crate::kernel::program::Space;
use crate::kernel::record::{Access, Observer};
use naga::{AddressSpace, Expression};

/// What a word of a record is: its four highest bits. The others are its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(in crate::kernel) enum Tag {
    /// An access: bytes from the start of the variable.
    Access = 1,
    /// The condition of an `if`.
    If,
    /// The test of a loop.
    Loop,
    /// A condition that is no branch of its own.
    Short,
    /// Half of what a `switch` decides by; two words, the low half first.
    Case,
    /// A barrier.
    Barrier,
    /// An index past the end: of which pointer. That index and the elements there are follow, as they are.
    Past,
    /// A read through a sampler. Three whole coordinates follow, as they are: the texel's, past the edge too.
    Sample,
}

impl Tag {
    pub(in crate::kernel) fn of(test: Test) -> Self {
        match test {
            Test::If => Self::If,
            Test::Loop => Self::Loop,
            Test::ShortCircuit => Self::Short,
        }
    }

    /// The bits of a word.
    pub(in crate::kernel) fn bits(self) -> u32 {
        (self as u32) << 28
    }
}

/// Bits of a word that are its value.
pub(in crate::kernel) const VALUE: u32 = (1 << 28) - 1;

/// What an adapter wrote of a group: words of each item, in its order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::kernel) struct Feed {
    words: Vec<u32>,
    /// Where the next word of each item is, and where its words end.
    at: Vec<(usize, usize)>,
}

impl Feed {
    /// Takes the words of the next item.
    pub(in crate::kernel) fn push(&mut self, words: &[u32]) {
        let from = self.words.len();
        self.words.extend_from_slice(words);
        self.at.push((from, self.words.len()));
    }
}

impl<O: Observer> Machine<'_, O> {
    /// Replays what an adapter wrote of a group.
    pub(in crate::kernel) fn replay(&mut self, group: u64, feed: Feed) -> Result<(), KernelError> {
        self.feed = Some(feed);
        self.run(group)?;
        let left = self.feed.take().and_then(|feed| feed.at.iter().position(|(at, end)| at < end));
        left.map_or(Ok(()), |item| Err(self.strayed(item, "words after the end", "none")))
    }

    fn strayed(&self, item: usize, found: &str, expected: &str) -> KernelError {
        KernelError::Adapter(format!(
            "{}:{}: what the adapter wrote of item {item} of group {} does not fit the kernel: found {found}; expected {expected}. \
             Mesa's software driver ends each loop at its 65,536th test, which looks like this; use --engine interpreter",
            self.program.file, self.line, self.group
        ))
    }

    fn next_word(&self, item: usize) -> Option<u32> {
        let feed = self.feed.as_ref()?;
        let (at, end) = *feed.at.get(item)?;
        feed.words.get(at).filter(|_| at < end).copied()
    }

    /// An item's next word, without a kind.
    pub(super) fn whole_word(&mut self, item: usize) -> Result<u32, KernelError> {
        let Some(word) = self.next_word(item) else { return Err(self.strayed(item, "no word more", "a number")) };
        if let Some((at, _)) = self.feed.as_mut().and_then(|feed| feed.at.get_mut(item)) {
            *at += 1;
        }
        Ok(word)
    }

    /// The value of an item's next word.
    pub(super) fn word(&mut self, item: usize, tag: Tag) -> Result<u32, KernelError> {
        match self.next_word(item) {
            Some(word) if word & !VALUE == tag.bits() => Ok(self.whole_word(item)? & VALUE),
            Some(word) => Err(self.strayed(item, &format!("a word {word:#010x}"), &format!("one of kind {tag:?}"))),
            None => Err(self.strayed(item, "no word more", &format!("one of kind {tag:?}"))),
        }
    }

    /// A number in two words.
    pub(super) fn number(&mut self, item: usize, tag: Tag) -> Result<u32, KernelError> {
        Ok(self.word(item, tag)? & 0xffff | self.word(item, tag)? << 16)
    }

    /// Where an expression is evaluated: of those that load there is something to tell.
    pub(super) fn fed(&mut self, value: Value, items: &Mask) -> Result<(), KernelError> {
        let program = self.program;
        let pointer = match program.function(self.which()).expressions[value] {
            Expression::Load { pointer } => pointer,
            Expression::ImageLoad { coordinate, .. } | Expression::ImageSample { coordinate, .. } => {
                return self.image_of(value).map_or(Ok(()), |image| self.fed_texels(image, coordinate, items));
            }
            _ => return Ok(()),
        };
        let code = self.frames.last().map_or(0, |frame| frame.code);
        let site = self.compiled.codes[code].loads[value.index()].as_ref().and_then(|load| load.site);
        self.fed_access(pointer, site, items)?;
        Ok(())
    }

    /// An access: who does it is told, and who is past the end.
    pub(super) fn fed_access(
        &mut self,
        pointer: Value,
        site: Option<usize>,
        items: &Mask,
    ) -> Result<Mask, KernelError> {
        self.fed_words(pointer, site, 1, items)
    }

    /// An access whose word is how often `unit` bytes from the start.
    pub(super) fn fed_words(
        &mut self,
        pointer: Value,
        site: Option<usize>,
        unit: u32,
        items: &Mask,
    ) -> Result<Mask, KernelError> {
        let program = self.program;
        let shared = site.map(|site| &program.shared[self.compiled.sites[site].shared]);
        let buffer = shared.is_some_and(|shared| shared.space != Space::Workgroup);
        let past_word = Tag::Past.bits() | u32::try_from(pointer.index()).unwrap_or(0) & VALUE;
        let (mut past, mut first) = (Mask::NONE, None);
        let mut addresses = vec![0; self.items];
        let mut inside = *items;
        for item in items.iter() {
            if self.next_word(item) == Some(past_word) {
                self.word(item, Tag::Past)?;
                let found = (self.whole_word(item)?, self.whole_word(item)?);
                first.get_or_insert(found);
                past.insert(item);
            }
            if site.is_some() && !(buffer && past.has(item)) {
                addresses[item] = self.word(item, Tag::Access)?.wrapping_mul(unit);
            }
        }
        if let Some(first) = first {
            let line = site.map_or(self.line, |site| self.compiled.sites[site].line);
            let name = shared.map_or_else(|| self.private_name(pointer), |shared| shared.name.clone());
            self.tell_outside((line, name), shared.is_none(), first, &past);
            if buffer {
                inside = items.without(&past);
            }
        }
        if let (Some(site), false) = (site, inside.is_empty()) {
            self.events += inside.count() as u64;
            let (group, phases, addresses) = (self.group, self.phases, addresses.as_slice());
            self.observer.access(&Access { group, site, items: &inside, addresses, phases });
        }
        Ok(inside)
    }

    /// What memory of an item by itself is called.
    fn private_name(&self, pointer: Value) -> String {
        let function = self.program.function(self.which());
        let mut at = pointer;
        loop {
            at = match function.expressions[at] {
                Expression::Access { base, .. } | Expression::AccessIndex { base, .. } => base,
                Expression::GlobalVariable(handle)
                    if self.program.module.global_variables[handle].space == AddressSpace::Private =>
                {
                    return "a private variable".into();
                }
                _ => return "a variable of the function".into(),
            };
        }
    }
}
