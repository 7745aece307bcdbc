//! A launch: how many groups, what is bound, and what came of it.

use super::buffers::{Content, Given, Size};
use super::code::{Compiled, Site};
use super::error::KernelError;
use super::machine::{Grows, Limits, Machine, Memory, Ran};
use super::model::{Counts, Hardware, Model};
use super::program::{Program, Space};
use super::record::{LoneBarrier, Observer, Outside};
use super::texel::Sampling;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The most groups of a launch.
const MOST_GROUPS: u64 = 1 << 40;
/// Statements that a group may carry out, unless more are allowed.
pub const STEPS: u64 = 5_000_000;
/// Events that are recorded, unless more are allowed.
pub const EVENTS: u64 = 500_000_000;

/// What is launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// So many items, by dimension: groups are filled up.
    Items([u64; 3]),
    /// So many groups.
    Groups([u64; 3]),
}

/// Ends a launch from elsewhere: who waits for it wants it no more.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Ends the launches that have it, soon.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The same launches have the same.
impl PartialEq for Cancel {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// A launch, and how it is looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct Launch {
    /// How much.
    pub extent: Extent,
    /// Contents by the names of variables, with the sizes of textures and of arrays that have none.
    pub bound: BTreeMap<String, Given>,
    /// Which of the groups run; all where nothing is said.
    pub take: Option<Range<u64>>,
    /// The hardware that is imagined.
    pub hardware: Hardware,
    /// Statements that a group may carry out.
    pub steps: u64,
    /// Events that are recorded at most.
    pub events: u64,
    /// Ends it from elsewhere; asked by the interpreter.
    pub cancel: Cancel,
}

impl Launch {
    /// A launch of so many items in a row, with nothing bound.
    #[must_use]
    pub fn of(extent: Extent) -> Self {
        let bound = BTreeMap::new();
        let (hardware, cancel) = (Hardware::default(), Cancel::default());
        Self { extent, bound, take: None, hardware, steps: STEPS, events: EVENTS, cancel }
    }
}

/// A buffer that nobody bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unbound {
    /// Its name.
    pub name: String,
    /// Its bytes.
    pub bytes: u64,
    /// Elements, of an array without a length.
    pub elements: Option<u32>,
    /// Texels, by dimension, of a texture.
    pub texels: Option<Size>,
    /// Whether it was bound, but for its length.
    pub bound: bool,
}

/// What came of a launch.
#[derive(Debug)]
pub struct Run {
    /// All that was counted.
    pub counts: Counts,
    /// Places in the source that access shared memory.
    pub sites: Vec<Site>,
    /// Lines of the source with a statement.
    pub lines: BTreeSet<u32>,
    /// Groups, by dimension.
    pub groups: [u32; 3],
    /// Which of them ran.
    pub taken: Range<u64>,
    /// Buffers without content, or without length, and what they became.
    pub unbound: Vec<Unbound>,
    /// Barriers that not all items came to.
    pub lone: Vec<LoneBarrier>,
    /// Accesses past the end.
    pub outside: Vec<Outside>,
    /// Bytes of the shared variables at the start; in the order of [`Program::shared`].
    pub before: Vec<Vec<u8>>,
    /// Texels of those that are textures, by dimension.
    pub texels: Vec<Option<Size>>,
    /// Bytes at the end.
    pub after: Vec<Vec<u8>>,
    /// Events that were recorded.
    pub events: u64,
}

impl Program {
    /// Runs a launch.
    ///
    /// # Errors
    /// [`KernelError`], see there.
    pub fn run(&self, launch: &Launch) -> Result<Run, KernelError> {
        Ok(self.run_watched(launch, ())?.0)
    }

    /// Runs a launch and tells `observer` all that happens.
    ///
    /// # Errors
    /// [`KernelError`], see there.
    pub fn run_watched<O: Observer>(&self, launch: &Launch, observer: O) -> Result<(Run, O), KernelError> {
        let prepared = self.prepared(launch)?;
        let mut playing = Playing::new(self, launch, &prepared, observer);
        for group in prepared.taken.clone() {
            playing.machine.run(group)?;
            playing.within(group)?;
        }
        Ok(playing.done())
    }

    /// What there is before a launch runs. Arrays whose length nobody told are as long as a dry run finds.
    pub(super) fn prepared(&self, launch: &Launch) -> Result<Prepared, KernelError> {
        let groups = self.groups(launch)?;
        let count: u64 = groups.iter().map(|n| u64::from(*n)).product();
        let taken = self.taken(launch, count)?;
        check(&self.file, &launch.hardware)?;
        // What is there for other entries is not used, and does no harm.
        if let Some(name) = launch.bound.keys().find(|name| !self.declares(name)) {
            return Err(self.unbindable(name));
        }
        let compiled = self.compiled()?;
        let samplings = self.samplings(&launch.bound)?;
        let (mut shared, mut unbound) = self.memory(launch, groups)?;
        if shared.iter().any(|memory| memory.grows.is_some()) {
            // A dry run: what it reaches for is how long they must be.
            let mut machine = Machine::new(self, &compiled, groups, (shared.clone(), &samplings), limits(launch), ());
            for group in taken.clone() {
                machine.run(group)?;
                within(self, launch, &taken, group, machine.events())?;
            }
            self.settle(&mut shared, machine.done().shared, &mut unbound);
        }
        Ok(Prepared { groups, taken, compiled, shared, samplings, unbound })
    }

    fn groups(&self, launch: &Launch) -> Result<[u32; 3], KernelError> {
        let (wanted, word) = match launch.extent {
            Extent::Items(items) => (items, "--global"),
            Extent::Groups(groups) => (groups, "--groups"),
        };
        let [x, y, z] = wanted;
        let error = |words: &str| Err(KernelError::Launch(format!("{}: {word} {x},{y},{z}: {words}", self.file)));
        if wanted.contains(&0) {
            return error("found 0; expected 1 or more in each dimension");
        }
        let mut groups = [0u32; 3];
        let mut all = 1u64;
        for axis in 0..3 {
            let size = u64::from(self.group_size[axis]);
            let count = if word == "--global" { wanted[axis].div_ceil(size) } else { wanted[axis] };
            // Items are numbered with 32 bits.
            match u32::try_from(count).ok().filter(|_| count.saturating_mul(size) <= 1 << 32) {
                Some(count) => groups[axis] = count,
                None => return error("expected 4294967296 items at most in each dimension, as WGSL numbers them"),
            }
            all = all.saturating_mul(count);
        }
        if all > MOST_GROUPS {
            return error(&format!("found {all} groups; expected {MOST_GROUPS} at most"));
        }
        Ok(groups)
    }

    fn taken(&self, launch: &Launch, groups: u64) -> Result<Range<u64>, KernelError> {
        let taken = launch.take.clone().unwrap_or(0..groups);
        if taken.start >= taken.end || taken.end > groups {
            return Err(KernelError::Launch(format!(
                "{}: --take {}..{}: found no such groups; expected a part of 0..{groups}",
                self.file, taken.start, taken.end
            )));
        }
        Ok(taken)
    }

    /// Why a name that is no buffer's cannot be bound.
    fn unbindable(&self, name: &str) -> KernelError {
        let buffers = self.shared.iter().filter(|shared| shared.space != Space::Workgroup);
        let samplers = self.samplers.iter().map(|sampler| sampler.name.as_str());
        let names: Vec<&str> = buffers.map(|shared| shared.name.as_str()).chain(samplers).collect();
        let listed = match &names[..] {
            [] => "the entry uses none".to_owned(),
            names => format!("expected one of {}", names.join(", ")),
        };
        let kind = if self.shared.iter().any(|shared| shared.name == name) {
            "workgroup memory, which starts as zeros and is not bound"
        } else {
            "no such buffer"
        };
        KernelError::Binding(format!("{}: bind {name}: found {kind}; {listed}", self.file))
    }

    fn memory(&self, launch: &Launch, groups: [u32; 3]) -> Result<(Vec<Memory>, Vec<Unbound>), KernelError> {
        let mut memories = Vec::new();
        let mut unbound = Vec::new();
        let each: [u64; 3] = std::array::from_fn(|axis| u64::from(groups[axis]) * u64::from(self.group_size[axis]));
        let items = each.iter().fold(1u64, |all, n| all.saturating_mul(*n));
        let wanted = match launch.extent {
            Extent::Items(items) => items,
            Extent::Groups(_) => each,
        };
        for shared in &self.shared {
            let none = (Content::Zeros, None);
            let given = launch.bound.get(&shared.name).filter(|_| shared.space != Space::Workgroup);
            if let Some(texture) = &shared.texture {
                let given_or = given.unwrap_or(&none);
                let (bytes, texels) = self.start_texture(shared, texture, given_or, wanted)?;
                let told = given.is_some_and(|(content, size)| size.is_some() || matches!(content, Content::Image(..)));
                if !told {
                    let (name, bytes) = (shared.name.clone(), bytes.len() as u64);
                    let bound = given.is_some();
                    unbound.push(Unbound { name, bytes, elements: None, texels: Some(texels), bound });
                }
                memories.push(Memory { bytes, grows: None, texels: Some(texels) });
                continue;
            }
            let (content, length) = given.unwrap_or(&none);
            let (bytes, fill) = self.start(shared, content, *length)?;
            if shared.space != Space::Workgroup && (given.is_none() || fill.is_some()) {
                let (name, bytes) = (shared.name.clone(), bytes.len() as u64);
                unbound.push(Unbound { name, bytes, elements: None, texels: None, bound: given.is_some() });
            }
            let guess = u32::try_from(items).unwrap_or(u32::MAX);
            let grows = fill.map(|fill| Grows { fill, guess, asked: false });
            memories.push(Memory { bytes, grows, texels: None });
        }
        Ok((memories, unbound))
    }

    /// Gives arrays the length that the dry run found.
    fn settle(&self, memories: &mut [Memory], found: Vec<Memory>, unbound: &mut [Unbound]) {
        for ((memory, mut found), shared) in memories.iter_mut().zip(found).zip(&self.shared) {
            let Some(grows) = memory.grows.take() else { continue };
            let asked = found.grows.as_ref().is_some_and(|grows| grows.asked);
            let reached = found.length(shared);
            let length = reached.max(if asked { grows.guess } else { 1 });
            found.reach(shared, length - 1);
            let length = found.length(shared);
            // As it was before the kernel wrote to it.
            let mut bytes = memory.bytes.clone();
            bytes.resize(found.bytes.len(), 0);
            if let (Some(stride), Some(rest)) = (shared.stride, bytes.get_mut(shared.bytes as usize..)) {
                grows.fill.write(rest, stride, 0);
            }
            if let Some(said) = unbound.iter_mut().find(|said| said.name == shared.name) {
                (said.bytes, said.elements) = (bytes.len() as u64, Some(length));
            }
            memory.bytes = bytes;
        }
    }
}

/// A launch that is ready to run.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) groups: [u32; 3],
    pub(super) taken: Range<u64>,
    pub(super) compiled: Compiled,
    pub(super) shared: Vec<Memory>,
    pub(super) samplings: Vec<Sampling>,
    unbound: Vec<Unbound>,
}

/// A launch that runs, counted while it does.
pub(super) struct Playing<'p, O> {
    program: &'p Program,
    launch: &'p Launch,
    prepared: &'p Prepared,
    before: Vec<Vec<u8>>,
    pub(super) machine: Machine<'p, (Model, O)>,
}

impl<'p, O: Observer> Playing<'p, O> {
    pub(super) fn new(program: &'p Program, launch: &'p Launch, prepared: &'p Prepared, observer: O) -> Self {
        let Prepared { groups, compiled, shared, samplings, .. } = prepared;
        let before = shared.iter().map(|memory| memory.bytes.clone()).collect();
        let model = Model::new(program, compiled.told_sites(), launch.hardware);
        let machine =
            Machine::new(program, compiled, *groups, (shared.clone(), samplings), limits(launch), (model, observer));
        Self { program, launch, prepared, before, machine }
    }

    /// Whether there is room for what is recorded, when this group has ended.
    pub(super) fn within(&self, group: u64) -> Result<(), KernelError> {
        within(self.program, self.launch, &self.prepared.taken, group, self.machine.events())
    }

    /// What came of it.
    pub(super) fn done(self) -> (Run, O) {
        let Ran { observer: (model, observer), shared, lone, outside, events } = self.machine.done();
        let Prepared { groups, taken, compiled, unbound, .. } = self.prepared;
        let texels = shared.iter().map(|memory| memory.texels).collect();
        let after: Vec<Vec<u8>> = shared.into_iter().map(|memory| memory.bytes).collect();
        let run = Run {
            counts: model.counts(),
            sites: compiled.told_sites().to_vec(),
            lines: compiled.lines(),
            groups: *groups,
            taken: taken.clone(),
            unbound: unbound.clone(),
            lone,
            outside,
            before: self.before,
            texels,
            after,
            events,
        };
        (run, observer)
    }
}

/// The first group tells how much all will be.
fn within(
    program: &Program,
    launch: &Launch,
    taken: &Range<u64>,
    group: u64,
    recorded: u64,
) -> Result<(), KernelError> {
    let groups = taken.end - taken.start;
    let expected = if group == taken.start { recorded.saturating_mul(groups) } else { recorded };
    if expected <= launch.events {
        return Ok(());
    }
    let items = groups.saturating_mul(program.group_items() as u64);
    let part = (launch.events / (expected / groups).max(1)).max(1);
    // Of less than a group there is no part to take.
    let remedy = match groups > 1 && launch.events >= expected / groups {
        true => {
            format!(
                "take a part with --take {}..{}, or allow more with --events",
                taken.start,
                taken.start + part.min(groups)
            )
        }
        false => "allow more with --events".to_owned(),
    };
    Err(KernelError::TooMuch(format!(
        "{}: {items} items would record about {expected} events, {} for each item; expected {} at most; {remedy}",
        program.file,
        expected / items.max(1),
        launch.events,
    )))
}

fn limits(launch: &Launch) -> Limits {
    Limits { steps: launch.steps, cancel: launch.cancel.clone() }
}

fn check(file: &str, hardware: &Hardware) -> Result<(), KernelError> {
    let Hardware { warp, banks, bank_bytes, sector, line } = *hardware;
    let error = |words: String| Err(KernelError::Launch(format!("{file}: {words}")));
    if warp == 0 || warp > super::mask::MOST_ITEMS {
        return error(format!("--warp {warp}: expected 1 to {}", super::mask::MOST_ITEMS));
    }
    if banks == 0 || banks > 1024 || bank_bytes == 0 || bank_bytes > 64 {
        return error(format!("{banks} banks of {bank_bytes} bytes: expected 1 to 1024 banks of 1 to 64 bytes"));
    }
    if sector == 0 || line == 0 || line % sector != 0 || line > 1 << 16 {
        return error(format!(
            "lines of {line} bytes with sectors of {sector}: expected lines of whole sectors, of 65536 bytes at most"
        ));
    }
    Ok(())
}
