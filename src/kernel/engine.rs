//! What runs launches: the interpreter here, or an adapter that is given the kernel instrumented and tells what its items wrote.

use super::buffers::Size;
use super::error::KernelError;
use super::instrument::Instrumented;
use super::machine::Feed;
use super::program::Program;
use super::record::Observer;
use super::run::{Launch, Playing, Prepared, Run};
use super::texel::Sampling;
use std::ops::Range;

/// Runs launches. Whoever watches is told the same, in the same order, whichever it is.
pub trait Engine {
    /// Runs a launch and tells `observer` all that happens.
    ///
    /// # Errors
    /// [`KernelError`], see there.
    fn run<O: Observer>(&mut self, program: &Program, launch: &Launch, observer: O) -> Result<(Run, O), KernelError>;
}

/// The machine of this crate, which needs no adapter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Interpreter;

impl Engine for Interpreter {
    fn run<O: Observer>(&mut self, program: &Program, launch: &Launch, observer: O) -> Result<(Run, O), KernelError> {
        program.run_watched(launch, observer)
    }
}

/// A launch that somebody else runs: what there is before it.
#[derive(Debug)]
pub struct Ready {
    prepared: Prepared,
}

impl Program {
    /// Makes a launch ready for an engine of its own.
    ///
    /// # Errors
    /// [`KernelError`], as of [`Program::run`] before the first group runs.
    pub fn ready(&self, launch: &Launch) -> Result<Ready, KernelError> {
        Ok(Ready { prepared: self.prepared(launch)? })
    }
}

impl Ready {
    /// The kernel, rewritten to tell what it does.
    ///
    /// # Errors
    /// [`KernelError::Unsupported`] for what cannot be told.
    pub fn instrumented(&self, program: &Program) -> Result<Instrumented, KernelError> {
        program.instrumented(&self.prepared.compiled)
    }

    /// Groups, by dimension.
    #[must_use]
    pub fn groups(&self) -> [u32; 3] {
        self.prepared.groups
    }

    /// Which of them run.
    #[must_use]
    pub fn taken(&self) -> Range<u64> {
        self.prepared.taken.clone()
    }

    /// Bytes of each of [`Program::shared`] at the start.
    pub fn memories(&self) -> impl Iterator<Item = &[u8]> {
        self.prepared.shared.iter().map(|memory| memory.bytes.as_slice())
    }

    /// Texels of those that are textures, by dimension.
    pub fn texels(&self) -> impl Iterator<Item = Option<Size>> {
        self.prepared.shared.iter().map(|memory| memory.texels)
    }

    /// How samplers read, by their place in [`Program::samplers`].
    #[must_use]
    pub fn samplings(&self) -> &[Sampling] {
        &self.prepared.samplings
    }

    /// Starts to tell `observer` what was written.
    #[must_use]
    pub fn tell<'p, O: Observer>(&'p self, program: &'p Program, launch: &'p Launch, observer: O) -> Told<'p, O> {
        Told { playing: Playing::new(program, launch, &self.prepared, observer) }
    }
}

/// A launch that an adapter ran, told to an observer group by group.
pub struct Told<'p, O> {
    playing: Playing<'p, O>,
}

impl<O: Observer> Told<'_, O> {
    /// Tells of the next group: the words of each of its items.
    ///
    /// # Errors
    /// [`KernelError::Adapter`] where the words do not fit the kernel; [`KernelError::Steps`] and [`KernelError::TooMuch`] as the
    /// interpreter has them.
    pub fn group<'w>(&mut self, group: u64, words: impl Iterator<Item = &'w [u32]>) -> Result<(), KernelError> {
        let mut feed = Feed::default();
        words.for_each(|words| feed.push(words));
        self.playing.machine.replay(group, feed)?;
        self.playing.within(group)
    }

    /// What came of it. `after` are the bytes of each of [`Program::shared`] at the end, nothing of workgroup memory.
    pub fn done(self, after: Vec<Option<Vec<u8>>>) -> (Run, O) {
        let (mut run, observer) = self.playing.done();
        for (bytes, after) in run.after.iter_mut().zip(after) {
            *bytes = after.unwrap_or_default();
        }
        (run, observer)
    }
}
