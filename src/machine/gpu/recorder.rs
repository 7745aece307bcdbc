//! What a run is told as: tasks, where they are wanted.

use crate::tasks::{Built, NewTask, REQUEST_IN, REQUEST_OUT, Symbol, TaskId, TaskSet, TaskSetBuilder, TooMany};

/// The name of a task; 0 = none.
pub(super) type Name = u64;

/// See the module.
pub(super) struct Recorder {
    /// `None`: nobody wants tasks.
    builder: Option<TaskSetBuilder>,
    newest: Name,
    failed: Option<TooMany>,
    hardware: Symbol,
}

impl Recorder {
    pub(super) fn new(clock: u32, wanted: bool) -> Self {
        let mut builder = wanted.then(|| TaskSetBuilder::new(u64::from(clock) * 1_000_000));
        let hardware = builder.as_mut().map_or_else(Symbol::default, |builder| builder.word("hardware_resource"));
        Self { builder, newest: 0, failed: None, hardware }
    }

    /// Whether anybody wants tasks: words for them cost more than the simulation.
    pub(super) fn is_on(&self) -> bool {
        self.builder.is_some()
    }

    /// A name that no other task has.
    pub(super) fn name(&mut self) -> Name {
        self.newest += 1;
        self.newest
    }

    /// Adds a task that is over.
    pub(super) fn task(
        &mut self,
        (name, parent): (Name, Name),
        (category, action): (&str, &str),
        location: &str,
        (start, end): (u64, u64),
    ) {
        let Some(builder) = &mut self.builder else { return };
        let (category, action) = (builder.word(category), builder.word(action));
        let location = builder.location(location);
        let (id, parent) = (TaskId::Number(name), (parent > 0).then_some(TaskId::Number(parent)));
        let task = NewTask { id: &id, parent: parent.as_ref(), category, action, location, start, end };
        if let Err(error) = builder.push(task) {
            self.failed = Some(error);
        }
    }

    /// Adds a request that is answered, where it was made.
    pub(super) fn out(&mut self, names: (Name, Name), action: &str, location: &str, times: (u64, u64)) {
        self.task(names, (REQUEST_OUT, action), location, times);
    }

    /// And where it was served.
    pub(super) fn inward(&mut self, names: (Name, Name), action: &str, location: &str, times: (u64, u64)) {
        self.task(names, (REQUEST_IN, action), location, times);
    }

    /// Says what came of a task.
    pub(super) fn tag(&mut self, name: Name, time: u64, (kind, what): (&str, &str)) {
        if let Some(builder) = &mut self.builder {
            let what = builder.word(&format!("{kind}{what}"));
            builder.tag(&TaskId::Number(name), time, what);
        }
    }

    /// Says that a task waited for a part of a node until then.
    pub(super) fn waited(&mut self, name: Name, time: u64, node: &str, part: &str) {
        if let Some(builder) = &mut self.builder {
            let what = builder.word(&format!("{node}.{part}"));
            builder.milestone(&TaskId::Number(name), time, self.hardware, what, None);
        }
    }

    /// All tasks, where they were wanted.
    pub(super) fn finish(self) -> Result<Option<TaskSet>, TooMany> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        Ok(self.builder.map(|builder| {
            let Built { set, .. } = builder.finish();
            set
        }))
    }
}
