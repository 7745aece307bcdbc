//! Where each request is at a moment, and how it got there.

use super::super::density;
use super::super::frame::{Glyph, Segment, flags};
use super::super::motion::{Endpoint, Flight};
use super::super::view::View;
use super::super::{palette, stacked};
use super::{Load, MachineStage, dot, ink, since, still};
use crate::axis::Position;
use crate::tasks::blocking::HARDWARE_RESOURCE;
use crate::tasks::{ComponentId, REQUEST_IN, REQUEST_OUT, Symbol, TaskBook, TaskIndex, TaskSet, Traffic};
use crate::units::grouped;
use std::collections::{BTreeMap, HashMap};

/// What is drawn of all requests.
#[derive(Default)]
pub(super) struct Told {
    pub(super) glyphs: Vec<Glyph>,
    pub(super) trails: Vec<Segment>,
    pub(super) loads: Vec<Load>,
    pub(super) bundling: String,
    pub(super) seen: Vec<bool>,
}

/// Requests by which it is told how long one takes.
const SAMPLES: usize = 4_096;
/// Part of its path that the tail of a glyph takes.
const TAIL: f32 = 0.16;
/// Most requests in a bundle whose line grows with them, and pixels it grows by for each.
const WIDEST: f32 = 12.0;
const WIDER: f32 = 0.75;
/// Opacity of a trail that was left just now, at both ends.
const FRESH: [f32; 2] = [0.05, 0.34];
/// Misses at once whose flashes are seen in full.
const LIT: usize = 40;
/// Of the ticks of a trail, those in which a flash fades, and those of its burst.
const FLASH: f32 = 0.10;
const BURST: f32 = 0.22;

/// Ticks that a request out takes in the middle of all, of those that take any.
pub(super) fn usual(book: &TaskBook, traffic: &Traffic) -> u64 {
    let set = book.set();
    let all = || traffic.components.iter().flat_map(|component| &component.parts).flat_map(|&part| set.tasks_at(part));
    let step = (all().count() / SAMPLES).max(1);
    let is_out = |&task: &TaskIndex| set.task_category(task) == REQUEST_OUT;
    // Kernels and work-groups take as long as the run.
    let (from, to) = set.span();
    let most = ((to - from) / 8).max(1);
    let times = all().step_by(step).filter(is_out).map(|task| set.end(task) - set.start(task));
    let mut times: Vec<u64> = times.filter(|&time| time > 0 && time <= most).collect();
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or(most)
}

/// The way of a request.
#[derive(Clone, Copy)]
struct Way {
    /// The task where it is served.
    inward: TaskIndex,
    /// Where it was made, and where it is served.
    from: ComponentId,
    to: ComponentId,
    /// Whom it is a bundle with: the task that made it.
    maker: Option<TaskIndex>,
}

impl Way {
    fn of(traffic: &Traffic, set: &TaskSet, out: TaskIndex) -> Option<Self> {
        let from = traffic.owner(set.location_of(out))?;
        let (inward, to) = traffic.served_by(set, out)?;
        Some(Self { inward, from, to, maker: set.parent(out) })
    }
}

/// One request: from its creation until its answer arrived.
struct Request {
    way: Way,
    /// Created, received, taken from the port, where it is served, done there, arrived.
    times: [u64; 6],
    /// Whether the one that serves it asked somebody.
    asks: bool,
    is_store: bool,
}

/// Where a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// On its way to the port.
    ToPort,
    /// At the port.
    Waits,
    /// On its way to where it is served.
    In,
    /// There.
    Rests,
    /// On its way back.
    Back,
}

impl Request {
    fn of(traffic: &Traffic, set: &TaskSet, resource: Option<Symbol>, out: TaskIndex) -> Option<Self> {
        let way = Way::of(traffic, set, out)?;
        let inward = way.inward;
        let (made, arrived) = (set.start(out), set.end(out));
        let (received, done) = (set.start(inward).clamp(made, arrived), set.end(inward).clamp(made, arrived));
        let waits = set.milestones(inward).iter().filter(|milestone| Some(milestone.category) == resource);
        let taken = waits.map(|milestone| milestone.time).max().unwrap_or(received).clamp(received, done.max(received));
        // Requests of its own, and what runs because of it.
        let children = traffic.parts(set, inward);
        let asks = children.iter().any(|&child| set.task_category(child) == REQUEST_OUT);
        let parts = children.iter().filter(|&&child| !asks || set.task_category(child) == REQUEST_OUT);
        let parts = parts.fold(None, |sum: Option<(u64, u64)>, &child| {
            let (first, last) = sum.unwrap_or((u64::MAX, 0));
            Some((first.min(set.start(child)), last.max(set.end(child))))
        });
        let (there, ready) = match parts {
            Some((first, last)) => {
                let there = first.clamp(taken, done.max(taken));
                (there, last.clamp(there, done.max(there)))
            }
            None => {
                let half = taken + (done.max(taken) - taken) / 2;
                (half, half)
            }
        };
        let is_store = set.task(inward).action.contains("Write");
        Some(Self { way, times: [made, received, taken, there, ready, arrived], asks, is_store })
    }

    fn stage(&self, tick: u64) -> Stage {
        let [_, received, taken, there, ready, _] = self.times;
        let waits = taken > received;
        match tick {
            _ if tick >= ready => Stage::Back,
            _ if tick >= there => Stage::Rests,
            _ if !waits || tick >= taken => Stage::In,
            _ if tick >= received => Stage::Waits,
            _ => Stage::ToPort,
        }
    }
}

/// Tells where everything is.
pub(super) fn tell(stage: &MachineStage, book: &TaskBook, position: Position, view: &View) -> Told {
    let (set, traffic) = (book.set(), &*stage.traffic);
    let (tick, trail) = (position.tick(), stage.trail(view));
    let mut told = Told {
        loads: vec![Load::default(); traffic.components.len()],
        seen: vec![false; book.kinds().len()],
        ..Told::default()
    };
    let resource = set.words().find(HARDWARE_RESOURCE);
    let mut ended: Vec<TaskIndex> = Vec::new();
    let mut bundles: BTreeMap<(TaskIndex, ComponentId, bool), Bundle> = BTreeMap::new();
    let mut queues: BTreeMap<ComponentId, Vec<(u64, TaskIndex)>> = BTreeMap::new();
    let mut requests: Vec<Request> = Vec::new();
    for &part in traffic.components.iter().flat_map(|component| &component.parts) {
        for out in traffic.open.during(set, part, tick.saturating_sub(trail)..tick) {
            if set.task_category(out) != REQUEST_OUT {
                continue;
            }
            if set.end(out) <= tick {
                ended.push(out);
                continue;
            }
            let Some(request) = Request::of(traffic, set, resource, out) else { continue };
            if request.stage(tick) == Stage::Waits {
                queues.entry(request.way.to).or_default().push((request.times[1], request.way.inward));
            }
            requests.push(request);
        }
    }
    let mut places: HashMap<TaskIndex, usize> = HashMap::new();
    for queue in queues.values_mut() {
        queue.sort_unstable();
        places.extend(queue.iter().enumerate().map(|(place, &(_, task))| (task, place)));
    }
    for request in &requests {
        let place = places.get(&request.way.inward).copied();
        glyph(stage, book, request, (tick, trail, place), view, &mut told, &mut bundles);
    }
    held(stage, book, tick, view, &mut told);
    if trail > 0 {
        trails(stage, book, ended, (tick, trail), view, &mut told);
    }
    told.trails.extend(bundles.into_values().map(|bundle| bundle.segment()));
    density::thin(&[], view.camera.zoom, &mut told.trails);
    stacked::merge(&mut told.trails);
    soften(&mut told.glyphs);
    told
}

/// Where very many miss at once, each shows it less: else their light would cover what they do.
fn soften(glyphs: &mut [Glyph]) {
    let lit = glyphs.iter().filter(|glyph| glyph.flash > 0.1).count();
    if lit <= LIT {
        return;
    }
    let left = (LIT as f32 / lit as f32).sqrt().max(0.3);
    for glyph in glyphs {
        glyph.flash *= left;
        glyph.burst = 1.0;
    }
}

/// Draws the paths of answers that have arrived, the fainter the longer ago. Of too many some are chosen, each for as long as it is there.
fn trails(
    stage: &MachineStage,
    book: &TaskBook,
    mut ended: Vec<TaskIndex>,
    (tick, trail): (u64, u64),
    view: &View,
    told: &mut Told,
) {
    let set = book.set();
    let room = (ended.len() as f64 / view.budget.max(1) as f64).max(1.0);
    if room > 1.0 {
        told.bundling = format!("1 of {} paths is drawn", grouped(ended.len().div_ceil(view.budget.max(1)) as u64));
        // Numbers of tasks spread evenly (Knuth's multiplicative hash, 1973).
        let spread = |task: TaskIndex| f64::from(task.wrapping_mul(2_654_435_769)) / f64::from(u32::MAX);
        ended.retain(|&task| spread(task) * room < 1.0);
    }
    ended.sort_unstable_by_key(|&task| (set.end(task), task));
    for task in ended {
        let Some(way) = Way::of(&stage.traffic, set, task).filter(|way| way.from != way.to) else { continue };
        let age = (since(set.end(task), tick) + view.phase) / trail.max(1) as f32;
        let left = (1.0 - age).clamp(0.0, 1.0).powi(2);
        told.trails.push(Segment {
            flight: Flight::straight(there(stage, way), origin(stage, book, way)),
            s0: 0.0,
            s1: 1.0,
            width: 1.0,
            color: ink(book, view, book.kind(way.inward)),
            alpha0: FRESH[0] * left,
            alpha1: FRESH[1] * left,
        });
    }
}

/// Where a request comes from: the slot of what made it, else the middle of the component.
fn origin(stage: &MachineStage, book: &TaskBook, way: Way) -> Endpoint {
    let set = book.set();
    let mut task = way.maker;
    // What made it is within the component, a few levels down.
    for _ in 0..4 {
        let Some(maker) = task.filter(|&maker| stage.traffic.owner(set.location_of(maker)) == Some(way.from)) else {
            break;
        };
        if stage.traffic.slot(maker).is_some() {
            let [r, theta] = stage.layout.slot(way.from, stage.traffic.slot(maker));
            return Endpoint::polar(r, theta);
        }
        task = set.parent(maker);
    }
    let [r, theta] = stage.layout.slot(way.from, None);
    Endpoint::polar(r, theta)
}

/// Where a request is served. What has wavefronts holds those: a request that is for it ends in its middle.
fn there(stage: &MachineStage, way: Way) -> Endpoint {
    let [r, theta] = stage.layout.slot(way.to, stage.traffic.slot(way.inward));
    Endpoint::polar(r, theta)
}

/// Requests of one maker on one way.
struct Bundle {
    flight: Flight,
    count: f32,
    from: f32,
    to: f32,
    color: palette::Rgba,
}

impl Bundle {
    fn segment(self) -> Segment {
        let width = 1.1 + WIDER * (self.count.min(WIDEST) - 1.0);
        let (s0, s1) = ((self.from - TAIL).max(0.0), self.to);
        Segment { flight: self.flight, s0, s1, width, color: self.color, alpha0: 0.0, alpha1: 0.75 }
    }
}

/// Draws one request, and adds it to its bundle while it flies.
fn glyph(
    stage: &MachineStage,
    book: &TaskBook,
    request: &Request,
    (tick, trail, place): (u64, u64, Option<usize>),
    view: &View,
    told: &mut Told,
    bundles: &mut BTreeMap<(TaskIndex, ComponentId, bool), Bundle>,
) {
    let way = request.way;
    let [made, received, taken, here, ready, arrived] = request.times;
    let at = |time: u64| since(tick, time);
    let color = ink(book, view, book.kind(way.inward));
    let radius = dot(&stage.layout, way.to).max(0.0035);
    let (from, to) = (origin(stage, book, request.way), there(stage, request.way));
    let port = |place: usize| {
        let [r, theta] = stage.layout.port(way.to, place);
        Endpoint::polar(r, theta)
    };
    let out = |from: Endpoint, to: Endpoint| match request.is_store {
        true => Flight::arc(from, to, &[]),
        false => Flight::straight(from, to),
    };
    let now = request.stage(tick);
    let mut one = still(u64::from(way.inward), 3, [0.0, 0.0], radius, color);
    one.flight = match now {
        Stage::ToPort => out(from, port(0)).during(at(made), at(received)),
        Stage::Waits => Flight::rest(port(place.unwrap_or(0))),
        Stage::In if taken > received => out(port(0), to).during(at(taken), at(here)),
        Stage::In => out(from, to).during(at(made), at(here)),
        Stage::Rests => Flight::rest(to),
        Stage::Back => Flight::straight(to, from).during(at(ready), at(arrived)),
    };
    match now {
        Stage::Waits => told.loads[way.to as usize].waiting += 1,
        Stage::Rests => {
            // It waits for others.
            one.layer = 2;
            one.flags = flags::HOLLOW;
        }
        // A request is small, what it brings is not.
        Stage::ToPort | Stage::In => one.radius *= 0.8,
        Stage::Back => {}
    }
    if now == Stage::Rests && stage.traffic.slot(way.inward).is_none() {
        return;
    }
    let kind = &stage.traffic.kinds[stage.traffic.component(way.to).kind];
    if request.asks && kind.is_cache && tick >= here && !view.calm {
        let age = (since(here, tick) + view.phase) / trail.max(stage.usual).max(1) as f32;
        one.flash = (-age / FLASH).exp();
        one.burst = (age / BURST).min(1.0);
    }
    let flies = matches!(now, Stage::ToPort | Stage::In | Stage::Back);
    if flies && view.trails && !view.calm && way.from != way.to {
        let progress = one.flight.eased(view.phase);
        let key = (way.maker.unwrap_or(way.inward), way.to, now == Stage::Back);
        let bundle = bundles.entry(key).or_insert(Bundle {
            flight: one.flight,
            count: 0.0,
            from: progress,
            to: progress,
            color,
        });
        bundle.count += 1.0;
        if progress >= bundle.to {
            // The foremost leads.
            (bundle.flight, bundle.to) = (one.flight, progress);
        }
        bundle.from = bundle.from.min(progress);
    }
    told.seen[book.kind(way.inward)] = true;
    told.glyphs.push(one);
}

/// Draws what components hold that is no request of another: wavefronts, requests whose maker is not known. Counts all.
fn held(stage: &MachineStage, book: &TaskBook, tick: u64, view: &View, told: &mut Told) {
    let (set, traffic) = (book.set(), &*stage.traffic);
    for (component, load) in traffic.components.iter().zip(&mut told.loads) {
        let number = traffic.owner(component.location).unwrap_or_default();
        let mut busy: BTreeMap<TaskIndex, usize> = BTreeMap::new();
        let mut here: Vec<TaskIndex> = Vec::new();
        for task in component.parts.iter().flat_map(|&part| traffic.open.at(set, part, tick)) {
            if traffic.slot(task).is_some() {
                load.held += 1;
                here.push(task);
            } else if let Some(parent) = set.parent(task).filter(|&parent| traffic.slot(parent).is_some()) {
                // An instruction of a wavefront.
                busy.insert(parent, book.kind(task));
            }
        }
        // What waits at the port is not yet within.
        load.held -= load.waiting.min(load.held);
        for task in here {
            let category = set.task_category(task);
            let asked = set.parent(task).is_some_and(|parent| set.task_category(parent) == REQUEST_OUT);
            if category == REQUEST_IN && asked {
                continue;
            }
            let slot = traffic.slot(task);
            let sector = &stage.layout.sectors[number as usize];
            if stage.layout.center == Some(number) || slot.is_none_or(|slot| slot >= sector.sets * sector.ways) {
                continue;
            }
            let kind = busy.get(&task).copied();
            told.seen[kind.unwrap_or_else(|| book.kind(task))] = true;
            let color = match kind {
                Some(kind) => ink(book, view, kind),
                None => palette::fade(ink(book, view, book.kind(task)), 0.35),
            };
            let at = stage.layout.slot(number, slot);
            told.glyphs.push(still(u64::from(task), 2, at, dot(&stage.layout, number), color));
        }
    }
}
