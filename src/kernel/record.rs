//! What a kernel that runs tells whoever watches it.

use super::mask::Mask;

/// Items of a group access a shared variable, all at one place in the source.
#[derive(Debug)]
pub struct Access<'a> {
    /// Which group.
    pub group: u64,
    /// Which of the sites.
    pub site: usize,
    /// The items that do it.
    pub items: &'a Mask,
    /// Bytes from the start of the variable, by item; of no meaning for others than `items`.
    pub addresses: &'a [u32],
    /// Barriers before it in this group.
    pub phases: Phases,
}

/// How many barriers a group has passed, by what they order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Phases {
    /// `workgroupBarrier`.
    pub workgroup: u64,
    /// `storageBarrier`.
    pub storage: u64,
    /// `textureBarrier`.
    pub texture: u64,
}

/// What items decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decision {
    /// An `if`: whether its condition held.
    If(bool),
    /// A test of a loop: whether it goes on.
    Loop(bool),
    /// A `switch`: which of its cases, the first being 0.
    Case(u32),
}

/// A barrier that not all items of a group came to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LoneBarrier {
    /// Line of the barrier.
    pub line: u32,
    /// Line of what parted the items: a condition, or the `return` of the others.
    pub cause: u32,
    /// Which group was the first.
    pub group: u64,
    /// How many items came.
    pub came: usize,
    /// Of how many.
    pub of: usize,
}

/// An access past the end of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outside {
    /// Line, the first being 1.
    pub line: u32,
    /// Name of the variable.
    pub name: String,
    /// Whether it is private to each item.
    pub private: bool,
    /// Index that was asked for.
    pub index: u32,
    /// Elements that there are.
    pub length: u32,
    /// Group and item of the first that did it.
    pub first: (u64, usize),
    /// How many accesses did it.
    pub count: u64,
}

impl Outside {
    /// The index as it was meant: those from 2^31 on are below 0.
    #[must_use]
    pub fn signed(&self) -> i64 {
        self.index.cast_signed().into()
    }
}

/// Is told what happens, in order: group after group, within a group statement after statement, each for all items that are at it.
pub trait Observer {
    /// A group starts.
    fn begin(&mut self, _group: u64, _items: usize) {}
    /// Shared memory is accessed.
    fn access(&mut self, _access: &Access<'_>) {}
    /// Items decide alike, at this line.
    fn decide(&mut self, _line: u32, _items: &Mask, _decision: Decision) {}
    /// Items carry out a statement of this line.
    fn step(&mut self, _line: u32, _items: &Mask) {}
    /// Items come to a barrier: of workgroup memory, of storage.
    fn barrier(&mut self, _line: u32, _items: &Mask, _kinds: (bool, bool)) {}
    /// A group has ended.
    fn end(&mut self, _group: u64) {}
}

impl Observer for () {}

impl<A: Observer, B: Observer> Observer for (A, B) {
    fn begin(&mut self, group: u64, items: usize) {
        self.0.begin(group, items);
        self.1.begin(group, items);
    }
    fn access(&mut self, access: &Access<'_>) {
        self.0.access(access);
        self.1.access(access);
    }
    fn decide(&mut self, line: u32, items: &Mask, decision: Decision) {
        self.0.decide(line, items, decision);
        self.1.decide(line, items, decision);
    }
    fn step(&mut self, line: u32, items: &Mask) {
        self.0.step(line, items);
        self.1.step(line, items);
    }
    fn barrier(&mut self, line: u32, items: &Mask, kinds: (bool, bool)) {
        self.0.barrier(line, items, kinds);
        self.1.barrier(line, items, kinds);
    }
    fn end(&mut self, group: u64) {
        self.0.end(group);
        self.1.end(group);
    }
}

/// One event of one item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// An access of a site, at this byte of its variable.
    Access {
        /// Which of the sites.
        site: usize,
        /// Bytes from the start of the variable.
        address: u32,
    },
    /// A decision, at this line.
    Decision(u32, Decision),
    /// A barrier, at this line.
    Barrier(u32),
}

/// All events: (group, item, event), in order. For pictures of a few groups; of a large launch it takes much room.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Recording {
    /// The events.
    pub events: Vec<(u64, u32, Event)>,
    group: u64,
}

impl Recording {
    fn put(&mut self, items: &Mask, event: impl Fn(usize) -> Event) {
        let group = self.group;
        self.events.extend(items.iter().map(|item| (group, u32::try_from(item).unwrap_or(u32::MAX), event(item))));
    }
}

impl Observer for Recording {
    fn begin(&mut self, group: u64, _items: usize) {
        self.group = group;
    }
    fn access(&mut self, access: &Access<'_>) {
        self.put(access.items, |item| Event::Access { site: access.site, address: access.addresses[item] });
    }
    fn decide(&mut self, line: u32, items: &Mask, decision: Decision) {
        self.put(items, |_| Event::Decision(line, decision));
    }
    fn barrier(&mut self, line: u32, items: &Mask, _kinds: (bool, bool)) {
        self.put(items, |_| Event::Barrier(line));
    }
}
