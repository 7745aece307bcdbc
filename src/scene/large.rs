//! What the large picture has beside patches and paths: who served the CPU, which sets are under pressure, and what of memory was
//! touched where, how often, and by whom it was served.
//!
//! ```text
//!      .---- rim: the region's colour
//!     |##|   bar: references to what lies there; the root of their number is its height
//!     |##|   its own colour: the innermost level had it
//!     |xx|   paler to red: a level farther out, memory
//!      ..    spike: a group of sets that misses more than the mean of its ring
//!  (( o ))   ring round the CPU: all references of the picture, by who served them
//! ```

use super::frame::Disk;
use super::layout::{HomeArc, Rings, Sector};
use super::palette::{self, Rgba};
use super::places::Places;
use super::view::View;
use crate::timeline::served::SERVERS;
use crate::timeline::tally::Row;
use crate::timeline::{Answered, Flow, Group, Moment};
use crate::units::{to_count, to_f32};
use std::collections::BTreeMap;
use std::f32::consts::{FRAC_PI_2, TAU};
use std::sync::Arc;

/// The ring round the CPU.
const DONUT: [f32; 2] = [0.058, 0.098];
/// How far a spike reaches at most, and the band at its foot.
const SPIKE: f32 = 0.034;
const FOOT: f32 = 0.0045;
/// Where spikes begin outside their ring.
const OFF: f32 = 0.012;
/// Width of a bar, world units: 4 pixels of a picture 720 high.
const BAR: f32 = 0.0135;
/// Bars of an arc at most.
const BARS: u32 = 400;
/// What of its place along the arc a bar leaves free.
const BETWEEN: f32 = 0.16;
/// References below which there is no bar: what of a block is left when its neighbours have their share.
const LEAST: f64 = 0.5;
/// Share of the references of a picture that miss in one group of sets, from which on its spike is not damped, and below which
/// there is none.
const STORM: f32 = 1.0 / 64.0;
const CALM: f32 = 1.0 / 8192.0;
/// How soft edges are, world units.
const SOFT: f32 = 0.0016;
/// What is left of a bar's opacity where nothing was touched lately.
const OLD: f32 = 0.42;
/// Opacity of a place in memory at which nothing happens.
const QUIET: f32 = 0.07;

/// References by who served them: by ring, innermost first, and by memory last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServedShares {
    /// Shares of all references, 0 to 1; empty = there were none.
    pub by_ring: Vec<f32>,
    /// Whether what moved is drawn as sums alone.
    pub summed: bool,
    /// The arcs of memory, in any picture.
    pub arcs: Arc<[HomeArc]>,
    /// References of the highest bar.
    pub highest: u64,
}

/// Adds up what each ring served; `rings_of_levels` says the ring of each level.
fn by_ring(by: &[f64; SERVERS], rings_of_levels: &[u8], rings: usize) -> Vec<f64> {
    let mut sums = vec![0.0; rings + 1];
    for (server, count) in by.iter().enumerate() {
        let ring = rings_of_levels.get(server).map_or(rings, |ring| usize::from(*ring));
        sums[ring.min(rings)] += count;
    }
    sums
}

/// What a frame of the large picture is made of.
pub(super) struct Large<'a> {
    pub(super) places: &'a Places,
    pub(super) rings_of_levels: &'a [u8],
    pub(super) view: &'a View,
    /// The first reference that the picture stands for.
    pub(super) from: u64,
}

impl Large<'_> {
    /// Adds the shapes; who served the references of this picture.
    pub(super) fn draw(&self, moment: &Moment<'_>, out: &mut Vec<Disk>) -> ServedShares {
        let rings = self.places.rings.rings.len();
        let shares = self.shares(&moment.answers(moment.tick - self.from).of(None), rings);
        donut(&shares, out);
        let seen = 1.0 - self.places.composition.home_dots(&self.view.camera);
        let highest = if seen > 0.0 { self.bars(moment, seen, out) } else { 0 };
        let flows = moment.flows.over(self.from as f64, moment.tick as f64);
        spikes(&self.places.rings, &flows, moment.tick - self.from, out);
        let summed = super::beams::share(self.view.tail) >= 1.0 && self.view.trails;
        ServedShares { by_ring: shares, summed, arcs: Arc::clone(&self.places.home.arcs), highest }
    }

    /// Shares of references by the ring that served them, memory last: what a ring missed the next has, or one behind it.
    fn shares(&self, answered: &Answered, rings: usize) -> Vec<f32> {
        let mut missed = vec![0; rings];
        for (level, ring) in self.rings_of_levels.iter().enumerate() {
            if let Some(sum) = missed.get_mut(usize::from(*ring)) {
                *sum += answered.missed[level];
            }
        }
        let all: u64 = answered.asking.iter().sum();
        if all == 0 {
            return Vec::new();
        }
        let behind = std::iter::once(all).chain(missed.iter().copied());
        let farther = missed.iter().copied().chain([0]);
        behind.zip(farther).map(|(came, went)| came.saturating_sub(went) as f32 / all as f32).collect()
    }

    /// Bars of memory; the references of the highest.
    fn bars(&self, moment: &Moment<'_>, seen: f32, out: &mut Vec<Disk>) -> u64 {
        let (home, rings) = (&self.places.home, self.places.rings.rings.len());
        let band = [home.r0, home.r1];
        let arcs = self.arcs(moment);
        let all = |bar: &Bar| bar.by.iter().sum::<f64>();
        let most = arcs.iter().flatten().map(all).fold(0.0, f64::max);
        for (arc, bars) in home.arcs.iter().zip(&arcs) {
            let shade = arc.regions.iter().map(|&region| self.view.shade(region)).fold(0.0, f32::max);
            out.push(part(
                band,
                [arc.theta0, arc.span],
                palette::fade(self.view.colors.arc(&arc.regions), QUIET * seen * shade),
            ));
            let step = arc.span / bars.len() as f32;
            for (n, bar) in bars.iter().enumerate() {
                let all = all(bar);
                let shade = seen * self.view.shade(bar.region);
                if all < LEAST || shade <= 0.0 {
                    continue;
                }
                let height = to_f32((all / most).sqrt()).max(0.035) * (band[1] - band[0]);
                let alpha = shade * (OLD + (0.92 - OLD) * to_f32(bar.lately / all));
                let place = [arc.theta0 + step * (n as f32 + 0.5 * BETWEEN), step * (1.0 - BETWEEN)];
                let mut r = band[1];
                for (ring, count) in by_ring(&bar.by, self.rings_of_levels, rings).into_iter().enumerate() {
                    let thick = height * to_f32(count / all);
                    if thick < 0.0012 {
                        continue;
                    }
                    let color = if ring == 0 { self.view.colors.of(bar.region) } else { palette::served(ring, rings) };
                    out.push(part([r - thick, r], place, palette::fade(color, alpha)));
                    r -= thick;
                }
            }
        }
        u64::from(to_count(to_f32(most)))
    }

    /// The bars of each arc of memory, in order.
    fn arcs(&self, moment: &Moment<'_>) -> Vec<Vec<Bar>> {
        let home = &self.places.home;
        let mut arc_of = vec![0; home.regions.len()];
        let mut arcs: Vec<Vec<Bar>> = Vec::with_capacity(home.arcs.len());
        for (number, arc) in home.arcs.iter().enumerate() {
            let count = to_count(arc.span * home.middle() / BAR).clamp(1, BARS);
            arcs.push(vec![Bar::default(); count as usize]);
            arc.regions.iter().for_each(|&region| arc_of[region] = number);
        }
        for Use { region, addresses: [first, last], by, lately } in self.uses(moment) {
            let (held, arc) = (&home.regions[region], &home.arcs[arc_of[region]]);
            let bars = &mut arcs[arc_of[region]];
            let bytes = (held.own[1] - held.own[0]) as f64 + 1.0;
            let at = |bytes_in: f64| {
                let theta = f64::from(held.theta0 - arc.theta0) + f64::from(held.span) * bytes_in / bytes;
                theta / f64::from(arc.span) * bars.len() as f64
            };
            let (from, to) = (at((first - held.own[0]) as f64), at((last - held.own[0]) as f64 + 1.0));
            let all: f64 = by.iter().sum();
            let (first, last) = (bin(from).min(bars.len() - 1), bin(to - 1e-6));
            for (n, bar) in bars.iter_mut().enumerate().skip(first).take((last + 1).saturating_sub(first).max(1)) {
                let covered = (to.min(n as f64 + 1.0) - from.max(n as f64)).max(0.0) / (to - from).max(1e-12);
                bar.by.iter_mut().zip(by).for_each(|(sum, count)| *sum += covered * count);
                bar.lately += covered * all * lately;
                if covered * all > bar.most {
                    (bar.most, bar.region) = (covered * all, region);
                }
            }
        }
        arcs
    }

    /// Who served what of each region. The sums are those of the references of this picture, also where the counts by part reach
    /// to the borders outside them: a region that none of these touched has no use.
    fn uses(&self, moment: &Moment<'_>) -> Vec<Use> {
        let home = &self.places.home;
        let window = moment.tick - self.from;
        let blocks = moment.served_since(self.from);
        // What was touched in the last quarter of the picture is bright.
        let late: BTreeMap<(Option<u32>, u64), u64> =
            moment.served_since(moment.tick - window / 4).iter().map(|block| (block.place(), block.sum())).collect();
        let shares = moment.shares(window, moment.before.levels());
        let counted = |region: usize| shares.as_ref().map(|shares| shares[region].references);
        // By the number that it has among those that the trace names, the number of each region here.
        let mut named: Vec<Option<usize>> = vec![None; moment.rows.len()];
        for (region, row) in moment.rows.iter().enumerate() {
            if let Row::Named(number) = row {
                named[*number] = Some(region);
            }
        }
        let mut uses: Vec<Use> = Vec::with_capacity(blocks.len());
        for block in &blocks {
            let (all, end) = (block.sum(), block.addr.saturating_add(block.bytes - 1));
            let lately = late.get(&block.place()).map_or(0.0, |late| (4.0 * *late as f64 / all as f64).min(1.0));
            // Of memory that no region names, clusters share a block by what this picture counts of each, or by their bytes.
            let held = match block.named {
                Some(number) => named[number as usize].map(|region| (region, 1.0)).into_iter().collect(),
                None => {
                    let mut held = home.held(block.addr, end, moment.tick);
                    held.retain(|(region, _)| matches!(moment.rows.get(*region), Some(Row::Found(..))));
                    let weight = |(region, bytes): &(usize, u64)| counted(*region).unwrap_or(*bytes) as f64;
                    let sum: f64 = held.iter().map(weight).sum();
                    held.iter().map(|one| (one.0, weight(one) / sum.max(f64::MIN_POSITIVE))).collect::<Vec<_>>()
                }
            };
            for (region, share) in held {
                let own = home.regions[region].own;
                let by = block.by.map(|count| share * count as f64);
                uses.push(Use { region, addresses: [block.addr.max(own[0]), end.min(own[1])], by, lately });
            }
        }
        if self.from < moment.log.start() {
            let mut sums = vec![0.0; home.regions.len()];
            uses.iter().for_each(|one| sums[one.region] += one.by.iter().sum::<f64>());
            for one in &mut uses {
                let scale =
                    counted(one.region).map_or(1.0, |count| (count as f64 / sums[one.region].max(1.0)).min(1.0));
                one.by.iter_mut().for_each(|count| *count *= scale);
            }
        }
        uses.retain(|one| one.by.iter().sum::<f64>() > 0.0);
        uses
    }
}

/// References to a part of a region.
struct Use {
    region: usize,
    /// First and last byte.
    addresses: [u64; 2],
    /// By who served them.
    by: [f64; SERVERS],
    /// How much of it was touched lately, 0 to 1.
    lately: f64,
}

/// One bar.
#[derive(Clone, Copy, Debug, Default)]
struct Bar {
    by: [f64; SERVERS],
    /// References to what was touched lately.
    lately: f64,
    /// The region with most references in it, and how many these are.
    region: usize,
    most: f64,
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn bin(at: f64) -> usize {
    at.max(0.0) as usize
}

/// A part of a ring with soft edges.
fn part([r0, r1]: [f32; 2], [theta0, span]: [f32; 2], color: Rgba) -> Disk {
    let soft = SOFT.min(0.25 * (r1 - r0));
    let fade = (SOFT / r1.max(0.01)).min(0.2 * span);
    Disk { r0: r0 + 0.5 * soft, r1: r1 - 0.5 * soft, soft, theta0, span, turn: 0.0, fade, color }
}

/// Who served, round the CPU, from the top clockwise.
fn donut(shares: &[f32], out: &mut Vec<Disk>) {
    let rings = shares.len().saturating_sub(1);
    out.push(Disk::whole(DONUT[0], DONUT[1], SOFT, palette::TRACK));
    let mut from = -FRAC_PI_2;
    for (ring, share) in shares.iter().enumerate() {
        let span = TAU * share;
        // Less than a pixel at the outer edge.
        if span > 0.03 {
            let gap = (0.035f32).min(0.25 * span);
            out.push(part(DONUT, [from + 0.5 * gap, span - gap], palette::fade(palette::served(ring, rings), 0.95)));
        }
        from += span;
    }
}

/// Misses of groups of sets against the mean of their cache, and the less of a spike the fewer of the `references` they are.
fn spikes(rings: &Rings, flows: &[Flow], references: u64, out: &mut Vec<Disk>) {
    let mut misses: BTreeMap<(u16, u32), (u32, f32)> = BTreeMap::new();
    for flow in flows {
        let Group::Sets { cache, first, sets } = flow.to else { continue };
        let inward = match flow.from {
            Group::Home { .. } => true,
            Group::Sets { cache: from, .. } => {
                let ring = |cache: u16| rings.sectors.get(usize::from(cache)).map_or(0, |sector| sector.ring);
                ring(from) > ring(cache)
            }
        };
        if inward {
            let entry = misses.entry((cache, first)).or_insert((sets, 0.0));
            entry.1 += flow.lines;
        }
    }
    for (cache, sector) in rings.sectors.iter().enumerate().take(rings.caches()) {
        let of = |n: &(u16, u32)| usize::from(n.0) == cache;
        let own: Vec<(u32, u32, f32)> =
            misses.iter().filter(|(n, _)| of(n)).map(|(n, (sets, lines))| (n.1, *sets, *lines)).collect();
        let total: f32 = own.iter().map(|(.., lines)| lines).sum();
        let each = own.iter().map(|(_, sets, _)| *sets).max().unwrap_or(1);
        let groups = sector.sets.div_ceil(each).max(1) as f32;
        let mean = total / groups;
        for (first, sets, lines) in own {
            let share = lines / references.max(1) as f32;
            if share < CALM {
                continue;
            }
            let damped = (share / STORM).min(1.0).sqrt();
            let over = damped * ((lines / mean - 1.0) / 3.0).clamp(0.0, 1.0);
            let alpha = (0.28 + 0.62 * over.sqrt()) * (0.3 + 0.7 * damped);
            spike(sector, [first, sets], FOOT + (SPIKE - FOOT) * over, palette::fade(palette::MISS, alpha), out);
        }
    }
}

fn spike(sector: &Sector, [first, sets]: [u32; 2], height: f32, color: Rgba, out: &mut Vec<Disk>) {
    let step = sector.span / sector.sets as f32;
    // Where the arms of these sets end.
    let from = sector.edges()[0] + sector.omega + step * first as f32;
    let span = step * sets as f32;
    let foot = sector.r1 + OFF;
    out.push(part([foot, foot + height], [from + 0.06 * span, 0.88 * span], color));
}
