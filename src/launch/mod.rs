//! Kernels on an adapter, hardware or software: the shader is rewritten to write what its items do (`kernel::Instrumented`), run by wgpu,
//! and what was written is told as the interpreter tells it (`kernel::Told`).
//!
//! A launch is run in parts, one group first: that tells how many words an item needs, whether a loop ends, and how much all will be.
//! Where a part had more to say than it had room for, the buffers are put back as they were and it runs again with more.

mod images;
mod stand;

use crate::kernel::{Engine, HEAD, KernelError, Launch, Observer, Program, Ready, Run, SLOT_HEAD, SLOT_MORE};
use crate::render::context::Preference;
use crate::render::{Context, RenderError};
use stand::Stand;

/// Bytes that a part may write, unless one group needs more.
const ROOM: u64 = 64 << 20;
/// Words that an item has room for at first.
const SLOT: u64 = 61;
/// How often a part is run again with more room. Only a kernel that goes other ways each time needs more than once.
const TRIES: usize = 8;

/// The engine that runs kernels on an adapter.
#[derive(Debug)]
pub struct Adapter {
    context: Context,
}

impl Adapter {
    /// The adapter that is wanted.
    ///
    /// # Errors
    /// [`RenderError`] where there is none.
    pub fn new(preference: Preference) -> Result<Self, RenderError> {
        Ok(Self { context: Context::computing(preference)? })
    }

    /// One line about it.
    #[must_use]
    pub fn describe(&self) -> String {
        self.context.describe()
    }

    /// Runs the kernel as it is, in one dispatch, and gives the bytes of each of [`Program::shared`] at the end; none of workgroup memory.
    ///
    /// # Errors
    /// As of [`Engine::run`]; where only a part is to run.
    pub fn plain(&self, program: &Program, launch: &Launch) -> Result<Vec<Vec<u8>>, KernelError> {
        let ready = program.ready(launch)?;
        let groups = ready.groups();
        let most = self.context.device.limits().max_compute_workgroups_per_dimension;
        if groups.iter().any(|n| *n > most) || ready.taken() != (0..groups.iter().map(|n| u64::from(*n)).product()) {
            return Err(KernelError::Launch(format!(
                "{}: {groups:?} groups, of which {:?} run; expected all of them, {most} at most in each dimension \
                 (max_compute_workgroups_per_dimension)",
                program.file,
                ready.taken()
            )));
        }
        let kernel = stand::Kernel { module: program.module().clone(), entry: program.entry.clone(), recorder: None };
        let mut stand = Stand::new(&self.context, program, &ready, kernel, 0)?;
        stand.dispatch(groups, None)?;
        Ok(stand.after()?.into_iter().map(Option::unwrap_or_default).collect())
    }

    /// Runs the instrumented kernel and counts the words that it writes, without telling anybody what they say: what instrumentation
    /// alone costs.
    ///
    /// # Errors
    /// As of [`Engine::run`].
    pub fn words(&self, program: &Program, launch: &Launch) -> Result<u64, KernelError> {
        let ready = program.ready(launch)?;
        let mut count = 0;
        self.each(program, launch, &ready, |group, parts, _| {
            count += parts.words(group).map(|words| words.len() as u64).sum::<u64>();
            Ok(())
        })?;
        Ok(count)
    }

    /// Runs a launch part by part. Each group is told by its place in the part that has just run, and by its number. Gives what the buffers
    /// hold at the end.
    fn each(
        &self,
        program: &Program,
        launch: &Launch,
        ready: &Ready,
        mut tell: impl FnMut(u64, &Parts<'_>, u64) -> Result<(), KernelError>,
    ) -> Result<Vec<Option<Vec<u8>>>, KernelError> {
        let taken = ready.taken();
        if taken.end > u32::MAX.into() {
            return Err(KernelError::Launch(format!(
                "{}: groups up to {} run; expected {} at most on an adapter, which numbers them with 32 bits; \
                 take a part with --take, or use --engine interpreter",
                program.file,
                taken.end,
                u32::MAX
            )));
        }
        let mut parts = Parts::new(&self.context, program, launch, ready)?;
        let mut next = taken.start;
        let mut count = 1;
        while next < taken.end {
            count = count.min(taken.end - next).min(parts.most());
            count = parts.run(next, count)?;
            (0..count).try_for_each(|group| tell(group, &parts, next + group))?;
            next += count;
            count *= 8;
        }
        parts.stand.after()
    }
}

impl Engine for Adapter {
    fn run<O: Observer>(&mut self, program: &Program, launch: &Launch, observer: O) -> Result<(Run, O), KernelError> {
        let ready = program.ready(launch)?;
        let mut told = ready.tell(program, launch, observer);
        let after =
            self.each(program, launch, &ready, |group, parts, number| told.group(number, parts.words(group)))?;
        Ok(told.done(after))
    }
}

/// A launch, part by part.
struct Parts<'a> {
    program: &'a Program,
    launch: &'a Launch,
    groups: [u32; 3],
    stand: Stand<'a>,
    items: u64,
    /// Words of an item's slot.
    slot: u64,
    /// What the part that ran last wrote.
    words: Vec<u32>,
    /// Bytes that the adapter has in one buffer at most.
    limit: u64,
}

impl<'a> Parts<'a> {
    fn new(context: &'a Context, program: &'a Program, launch: &'a Launch, ready: &Ready) -> Result<Self, KernelError> {
        let limits = context.device.limits();
        let limit = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
        let instrumented = ready.instrumented(program)?;
        let recorder = Some(instrumented.recorder);
        let kernel = stand::Kernel { module: instrumented.module, entry: crate::kernel::ENTRY.into(), recorder };
        let items = program.group_items() as u64;
        let stand = Stand::new(context, program, ready, kernel, 4 * (HEAD as u64 + items * (SLOT + SLOT_MORE as u64)))?;
        let groups = ready.groups();
        Ok(Self { program, launch, groups, stand, items, slot: SLOT, words: Vec::new(), limit })
    }

    fn bytes(&self, groups: u64) -> u64 {
        4 * (HEAD as u64 + groups * self.items * (self.slot + SLOT_MORE as u64))
    }

    /// Groups of a part at most.
    fn most(&self) -> u64 {
        let each = self.items * (self.slot + SLOT_MORE as u64);
        (ROOM.min(self.limit) / 4 / each).clamp(1, self.stand.most_groups())
    }

    /// Runs so many groups, or fewer where they have more to say than expected, and tells how many.
    fn run(&mut self, first: u64, mut count: u64) -> Result<u64, KernelError> {
        self.stand.save();
        for _ in 0..TRIES {
            let bytes = self.bytes(count);
            if bytes > self.limit {
                return Err(self.too_much(first, bytes));
            }
            let number = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
            let width = number(count).min(self.stand.width());
            let rows = number(count).div_ceil(width);
            let [x, y, z] = self.groups;
            let head = [number(first), number(count), width, x, y, z, number(self.slot), number(self.launch.steps)];
            self.words = self.stand.dispatch([width, rows, 1], Some((&head, bytes)))?.unwrap_or_default();
            let (mut wanted, mut stopped) = (0, None);
            for (n, slot) in (0u64..).zip(self.slots()) {
                wanted = wanted.max(u64::from(slot[0]));
                if slot[1] != 0 {
                    stopped.get_or_insert((first + n / self.items, slot[1]));
                }
            }
            if let Some((group, line)) = stopped {
                let (file, steps) = (self.program.file.clone(), self.launch.steps);
                return Err(KernelError::Steps { file, line, group, steps });
            }
            if wanted <= self.slot {
                return Ok(count);
            }
            self.slot = (wanted + wanted / 8).next_multiple_of(2);
            count = count.min(self.most());
            self.stand.restore();
        }
        Err(KernelError::Adapter(format!(
            "{}: groups from {first} on had more to write each time that they ran, {TRIES} times; expected the same; \
             they race, or depend on which item is first: use --engine interpreter",
            self.program.file
        )))
    }

    fn slots(&self) -> impl Iterator<Item = &[u32]> {
        let each = usize::try_from(self.slot).unwrap_or(usize::MAX).saturating_add(SLOT_MORE);
        self.words.get(HEAD..).unwrap_or(&[]).chunks_exact(each)
    }

    /// The words of each item of a group of the part.
    fn words(&self, group: u64) -> impl Iterator<Item = &[u32]> {
        let items = usize::try_from(self.items).unwrap_or(usize::MAX);
        let first = usize::try_from(group).unwrap_or(usize::MAX).saturating_mul(items);
        self.slots().skip(first).take(items).map(|slot| {
            let count = slot[0] as usize;
            &slot[SLOT_HEAD..SLOT_HEAD + count]
        })
    }

    fn too_much(&self, group: u64, bytes: u64) -> KernelError {
        KernelError::TooMuch(format!(
            "{}: an item of group {group} writes {} words, so the group needs {bytes} bytes; expected {} at most, which is the \
             adapter's limit (max_storage_buffer_binding_size, max_buffer_size); use --engine interpreter",
            self.program.file, self.slot, self.limit
        ))
    }
}
