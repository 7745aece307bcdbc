//! References of a trace as tasks: each request that a reference makes, with the latencies of the caches.
//!
//! A core makes its references one after the other, and no reference begins before the one before it in the trace. A reference lasts until
//! all that it waits for is answered. Requests go inward to outward: each is *request out* where it is asked and *request in* where it is
//! served; a level answers after its latency, counted from the core, or when the level behind it has answered. TLBs are asked at the same
//! time as the first level. What nobody waits for (write-backs, prefetches, stores that are sent on) begins when its cause is known and is
//! a part of nothing.

use crate::reference::{Kind, Reference, ReferenceSource, SourceError};
use crate::sim::config::HierarchyConfig;
use crate::sim::{AccessKind, Event, Hierarchy, Observer, Origin, PlayCheck, SimError, prepare};
use crate::tasks::{Built, NewTask, REQUEST_IN, REQUEST_OUT, Symbol, TaskId, TaskSet, TaskSetBuilder, TooMany};
use crate::units::{CacheId, LevelId};
use std::ops::Range;

/// Makes tasks of references.
pub struct CpuTasks {
    builder: TaskSetBuilder,
    events: Events,
    next_id: u64,
    /// By core: when it is free.
    free: Vec<u64>,
    /// When the newest reference began.
    newest: u64,
    words: Words,
}

/// Words that occur often.
struct Words {
    reference: Symbol,
    out: Symbol,
    inward: Symbol,
    data: Symbol,
    memory: Symbol,
    cores: Vec<Symbol>,
    caches: Vec<Symbol>,
    /// By TLB of the configuration and core.
    tlbs: Vec<Vec<Symbol>>,
}

/// All events of one reference.
#[derive(Default)]
struct Events(Vec<Event>);

impl Observer for Events {
    fn event(&mut self, event: Event) {
        self.0.push(event);
    }
}

/// One request of a reference.
struct Request {
    origin: Origin,
    action: &'static str,
    /// Where it is served.
    at: Symbol,
    /// Cycles from the core until it is answered, where nothing else is asked.
    latency: u64,
    /// Whether whoever made it waits for it.
    waited: bool,
    /// What came of it.
    tag: Option<&'static str>,
}

impl CpuTasks {
    /// For the caches of `hierarchy`.
    #[must_use]
    pub fn new(hierarchy: &Hierarchy) -> Self {
        let mut builder = TaskSetBuilder::of_cycles();
        let config = hierarchy.config();
        let cores = config.cores;
        let indexed = |name: &str, core: Option<u16>| match core {
            Some(core) if cores > 1 => format!("{name}[{core}]"),
            _ => name.to_owned(),
        };
        let words = Words {
            reference: builder.word("reference"),
            out: builder.word(REQUEST_OUT),
            inward: builder.word(REQUEST_IN),
            data: builder.word("data"),
            cores: (0..cores).map(|core| builder.location(&indexed("Core", Some(core)))).collect(),
            caches: hierarchy
                .caches()
                .map(|cache| {
                    let info = hierarchy.info(cache);
                    builder.location(&indexed(&config.levels[info.level.index()].name, info.core))
                })
                .collect(),
            tlbs: config
                .tlbs
                .iter()
                .map(|tlb| {
                    let core = |core| indexed(&tlb.name, (!tlb.shared).then_some(core));
                    (0..cores).map(|at| builder.location(&core(at))).collect()
                })
                .collect(),
            memory: builder.location("Memory"),
        };
        Self { builder, events: Events::default(), next_id: 1, free: vec![0; usize::from(cores)], newest: 0, words }
    }

    /// Plays a reference and tells it.
    ///
    /// # Errors
    /// When there are too many tasks.
    pub fn play(&mut self, hierarchy: &mut Hierarchy, reference: &Reference) -> Result<(), TooMany> {
        self.events.0.clear();
        hierarchy.access(reference, &mut self.events);
        let requests: Vec<Request> =
            self.events.0.iter().filter_map(|event| request(hierarchy, &self.words, event)).collect();
        let core = usize::from(reference.core);
        let start = self.free.get(core).copied().unwrap_or(0).max(self.newest);
        self.newest = start;
        let (id, at) = (self.id(), self.words.cores.get(core).copied().unwrap_or_default());
        let mut told = Vec::new();
        let mut end = start + 1;
        let mut posted = Vec::new();
        for root in requests.iter().filter(|request| request.origin.parent.is_none()) {
            let span = Span { parent: Some(id), asker: at, start, asked: 0 };
            end = end.max(self.tell(&requests, root, &span, &mut told, &mut posted));
        }
        let kind = match reference.kind {
            Kind::Read => "read",
            Kind::Write => "write",
            Kind::Modify => "modify",
            Kind::Fetch => "fetch",
        };
        let action = self.builder.word(kind);
        let category = self.words.reference;
        self.push(id, None, (category, action), at, start, end)?;
        while let Some((number, span)) = posted.pop() {
            self.tell(&requests, &requests[number], &span, &mut told, &mut posted);
        }
        for Told { id, parent, pair, at, start, end } in told {
            self.push(id, parent, pair, at, start, end)?;
        }
        if let Some(free) = self.free.get_mut(core) {
            *free = end;
        }
        Ok(())
    }

    fn id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id - 1
    }

    fn push(
        &mut self,
        id: u64,
        parent: Option<u64>,
        (category, action): (Symbol, Symbol),
        location: Symbol,
        start: u64,
        end: u64,
    ) -> Result<(), TooMany> {
        let (id, parent) = (TaskId::Number(id), parent.map(TaskId::Number));
        self.builder.push(NewTask { id: &id, parent: parent.as_ref(), category, action, location, start, end })
    }

    /// Tells a request and all that it waits for; gives when it is answered. What nobody waits for is put off.
    fn tell(
        &mut self,
        all: &[Request],
        request: &Request,
        span: &Span,
        told: &mut Vec<Told>,
        posted: &mut Vec<(usize, Span)>,
    ) -> u64 {
        let (out, inward) = (self.id(), self.id());
        // What is behind is asked when this one knows that it has not got it.
        let known = span.start + request.latency.saturating_sub(span.asked).max(1);
        let mut end = known;
        let mut behind = None;
        for (number, next) in
            all.iter().enumerate().filter(|(_, next)| next.origin.parent == Some(request.origin.request))
        {
            let below = Span { parent: Some(inward), asker: request.at, start: known, asked: request.latency };
            if next.waited {
                let answered = self.tell(all, next, &below, told, posted);
                behind = (answered > end).then_some(next.at).or(behind);
                end = end.max(answered);
            } else {
                posted.push((number, Span { parent: None, ..below }));
            }
        }
        let action = self.builder.word(request.action);
        let pair = |category| (category, action);
        let (out_word, in_word) = (self.words.out, self.words.inward);
        told.push(Told { id: out, parent: span.parent, pair: pair(out_word), at: span.asker, start: span.start, end });
        told.push(Told { id: inward, parent: Some(out), pair: pair(in_word), at: request.at, start: span.start, end });
        if let Some(tag) = request.tag {
            let tag = self.builder.word(tag);
            self.builder.tag(&TaskId::Number(inward), known, tag);
        }
        if let Some(behind) = behind {
            let name = self.builder.location_name(behind).to_owned();
            let (what, data) = (self.builder.word(&name), self.words.data);
            self.builder.milestone(&TaskId::Number(inward), end, data, what, None);
        }
        end
    }

    /// All tasks.
    #[must_use]
    pub fn finish(self) -> TaskSet {
        let Built { set, .. } = self.builder.finish();
        set
    }
}

/// Why there are no tasks.
#[derive(Debug, thiserror::Error)]
pub enum CpuError {
    /// The trace cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// It cannot be simulated.
    #[error(transparent)]
    Sim(#[from] SimError),
    /// There are too many.
    #[error(transparent)]
    Many(#[from] TooMany),
}

/// The tasks of some references, in caches that those before them have warmed.
///
/// # Errors
/// [`CpuError`].
pub fn tasks_of(
    source: &dyn ReferenceSource,
    config: &HierarchyConfig,
    references: Range<u64>,
) -> Result<TaskSet, CpuError> {
    let mut hierarchy = prepare(config, source)?;
    let mut tasks = CpuTasks::new(&hierarchy);
    let mut tick = 0;
    let mut check = PlayCheck::new([config]);
    while tick < references.end {
        let chunk = source.chunk(tick / source.chunk_len())?;
        if chunk.is_empty() {
            break;
        }
        let place = |at: u64| usize::try_from(at.saturating_sub(tick)).unwrap_or(usize::MAX).min(chunk.len());
        let (start, end) = (place(references.start), place(references.end));
        check.look(&chunk[..end], tick)?;
        hierarchy.play(&chunk[..start], &mut ());
        for reference in &chunk[start..end] {
            if !(config.data_only && reference.kind == Kind::Fetch) {
                tasks.play(&mut hierarchy, reference)?;
            }
        }
        tick += chunk.len() as u64;
    }
    Ok(tasks.finish())
}

/// Where a request comes from, and when.
#[derive(Clone, Copy)]
struct Span {
    parent: Option<u64>,
    asker: Symbol,
    start: u64,
    /// Cycles from the core that are over.
    asked: u64,
}

/// A task that is to be added.
struct Told {
    id: u64,
    parent: Option<u64>,
    pair: (Symbol, Symbol),
    at: Symbol,
    start: u64,
    end: u64,
}

/// The request that an event is, if it is one.
fn request(hierarchy: &Hierarchy, words: &Words, event: &Event) -> Option<Request> {
    let config = hierarchy.config();
    let level = |level: LevelId| u64::from(config.levels[level.index()].latency);
    let cache = |cache: CacheId| words.caches.get(cache.index()).copied().unwrap_or_default();
    let memory = u64::from(config.memory.latency);
    match *event {
        Event::Access { origin, level: of, cache: at, kind, hit, .. } => {
            // Nobody waits for a store that a level sends on.
            let waited = kind.is_demand() && (kind != AccessKind::Write || origin.parent.is_none());
            let (action, tag) = match (kind, kind.is_write()) {
                (AccessKind::Prefetch, _) => ("PrefetchReq", if hit { "prefetch-hit" } else { "prefetch-miss" }),
                (_, true) => {
                    (if waited { "WriteReq" } else { "WriteBackReq" }, if hit { "write-hit" } else { "write-miss" })
                }
                (_, false) => ("ReadReq", if hit { "read-hit" } else { "read-miss" }),
            };
            Some(Request { origin, action, at: cache(at), latency: level(of), waited, tag: Some(tag) })
        }
        Event::Translate { origin, tlb, core: of, hit, .. } => {
            let at = words.tlbs.get(usize::from(tlb)).and_then(|cores| cores.get(usize::from(of)));
            let latency = config.tlbs.get(usize::from(tlb)).map_or(1, |tlb| u64::from(tlb.latency));
            let tag = Some(if hit { "hit" } else { "miss" });
            Some(Request {
                origin,
                action: "TranslationReq",
                at: at.copied().unwrap_or_default(),
                latency,
                waited: true,
                tag,
            })
        }
        Event::MemoryRead { origin, .. } => {
            Some(Request { origin, action: "ReadReq", at: words.memory, latency: memory, waited: true, tag: None })
        }
        Event::MemoryWrite { origin, .. } => {
            Some(Request { origin, action: "WriteReq", at: words.memory, latency: memory, waited: false, tag: None })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::config::{LevelConfig, Ways, preset};
    use crate::tasks::rules::breaches;
    use crate::tasks::{REQUEST_IN, summary};
    use crate::trace::synth::mix;

    fn told(config: &HierarchyConfig, references: &[Reference]) -> (TaskSet, Hierarchy) {
        let mut hierarchy = Hierarchy::new(config).expect("sound");
        let mut tasks = CpuTasks::new(&hierarchy);
        references.iter().for_each(|reference| tasks.play(&mut hierarchy, reference).expect("few"));
        (tasks.finish(), hierarchy)
    }

    #[test]
    fn a_miss_goes_down_to_memory_and_a_hit_does_not() {
        let levels = vec![
            LevelConfig::new("L1", 0, 1024, Ways::Count(2), 64),
            LevelConfig::new("L2", 1, 8192, Ways::Count(4), 64),
        ];
        let config = HierarchyConfig::new("two", levels);
        let read = |addr| Reference::new(Kind::Read, addr, 8);
        let (set, _) = told(&config, &[read(0x1000), read(0x1008)]);
        let at = |name: &str| set.locations().find(name).expect("there");
        let times = |name: &str| -> Vec<(String, u64, u64)> {
            let tasks = set.tasks_at(at(name)).map(|task| set.task(task));
            tasks.map(|task| (format!("{} {}", task.category, task.action), task.start, task.end)).collect()
        };
        let row = |words: &str, start, end| (words.to_owned(), start, end);
        // The first waits for memory, 200 cycles; the second is a hit of 4.
        let core = [
            row("reference read", 0, 200),
            row("req_out ReadReq", 0, 200),
            row("reference read", 200, 204),
            row("req_out ReadReq", 200, 204),
        ];
        assert_eq!(times("Core"), core);
        let l1 = [row("req_in ReadReq", 0, 200), row("req_out ReadReq", 4, 200), row("req_in ReadReq", 200, 204)];
        assert_eq!(times("L1"), l1);
        assert_eq!(times("L2"), [row("req_in ReadReq", 4, 200), row("req_out ReadReq", 12, 200)]);
        assert_eq!(times("Memory"), [row("req_in ReadReq", 12, 200)]);
        let tags: Vec<&str> = set.all_tags().iter().map(|tag| set.words().word(tag.what)).collect();
        assert_eq!(tags.iter().filter(|tag| **tag == "read-miss").count(), 2);
        assert_eq!(tags.iter().filter(|tag| **tag == "read-hit").count(), 1);
    }

    #[test]
    fn the_rules_hold_and_requests_are_those_that_caches_count() {
        for name in ["paper", "textbook", "skylake-sp"] {
            let config = preset(name).expect("a preset");
            let references: Vec<Reference> = mix(3_000, 7).collect();
            let (set, hierarchy) = told(&config, &references);
            assert_eq!(breaches(&set), [], "{name}");
            let served = summary(&set).requests_in;
            for cache in hierarchy.caches() {
                let counters = hierarchy.counters(cache);
                let name = &hierarchy.config().levels[hierarchy.info(cache).level.index()].name;
                let found = served.iter().find(|at| set.locations().word(at.location) == name).map_or(0, |at| at.count);
                assert_eq!(found, counters.accesses(), "{name}");
            }
            let all = (0..).take(set.len()).filter(|&task| set.task_category(task) == "reference").count();
            assert_eq!(all, references.len());
            assert!(set.pairs().any(|(category, _)| category == REQUEST_IN));
        }
    }
}
