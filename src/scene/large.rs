//! What the large picture has beside patches and paths: who served the CPU, which sets are under pressure, and what of memory was
//! touched where, how often, and by whom it was served.
//!
//! ```text
//!      .---- rim: the region's colour
//!     |##|   bar: references to that part of the region; the root of their number is its height
//!     |##|   its own colour: the innermost level had it
//!     |xx|   paler to red: a level farther out, memory
//!      ..    spike: a group of sets that misses more than the mean of its ring
//!  (( o ))   ring round the CPU: all references of the picture, by who served them
//! ```

use super::frame::Disk;
use super::layout::{Rings, Sector};
use super::palette::{self, Rgba};
use super::places::Places;
use super::view::View;
use crate::timeline::served::SERVERS;
use crate::timeline::{Answered, Flow, Group, Moment, ServedBlock};
use crate::units::{to_count, to_f32};
use std::collections::BTreeMap;
use std::f32::consts::{FRAC_PI_2, TAU};

/// The ring round the CPU.
const DONUT: [f32; 2] = [0.058, 0.098];
/// How far a spike reaches at most, and the band at its foot.
const SPIKE: f32 = 0.034;
const FOOT: f32 = 0.0045;
/// Where spikes begin outside their ring.
const OFF: f32 = 0.012;
/// Width of a bar, world units: 4 pixels of a picture 720 high.
const BAR: f32 = 0.0135;
/// Bars of a region at most.
const BARS: u32 = 400;
/// What of its place along the arc a bar leaves free.
const BETWEEN: f32 = 0.16;
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
        let blocks = moment.served_since(self.from);
        let shares = self.shares(&moment.answers(moment.tick - self.from).of(None), rings);
        donut(&shares, out);
        let seen = 1.0 - self.places.composition.home_dots(&self.view.camera);
        if seen > 0.0 {
            self.bars(moment, &blocks, seen, out);
        }
        let flows = moment.flows.over(self.from as f64, moment.tick as f64);
        spikes(&self.places.rings, &flows, out);
        ServedShares { by_ring: shares, summed: super::beams::share(self.view.tail) >= 1.0 && self.view.trails }
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

    /// Bars of memory.
    fn bars(&self, moment: &Moment<'_>, blocks: &[ServedBlock], seen: f32, out: &mut Vec<Disk>) {
        let (home, rings) = (&self.places.home, self.places.rings.rings.len());
        let band = [home.r0, home.r1];
        // What was touched in the last quarter of the picture is bright.
        let quarter = moment.tick - (moment.tick - self.from) / 4;
        let late: BTreeMap<u64, u64> =
            moment.served_since(quarter).iter().map(|block| (block.addr, block.by.iter().sum())).collect();
        let mut bars: Vec<Vec<Bar>> = Vec::with_capacity(home.regions.len());
        for region in &home.regions {
            let count = to_count(region.span * home.middle() / BAR).clamp(1, BARS);
            bars.push(vec![Bar::default(); count as usize]);
        }
        for block in blocks {
            let last = block.addr + (block.bytes - 1);
            let held = home.held(block.addr, last, moment.tick);
            let bytes: u64 = held.iter().map(|(_, bytes)| bytes).sum();
            let all: u64 = block.by.iter().sum();
            let lately = late.get(&block.addr).map_or(0.0, |late| (4.0 * *late as f64 / all as f64).min(1.0));
            for (region, held) in held {
                let own = home.regions[region].own;
                let (first, last) = (block.addr.max(own[0]), last.min(own[1]));
                let share = held as f64 / bytes as f64;
                let own_bytes = (own[1] - own[0]) as f64 + 1.0;
                let count = bars[region].len();
                let at = |addr: u64| (addr - own[0]) as f64 / own_bytes * count as f64;
                let (from, to) = (at(first), at(last) + count as f64 / own_bytes);
                let bins = bin(from)..bin(to - 1e-9) + 1;
                for n in bins {
                    let Some(bar) = bars[region].get_mut(n) else { continue };
                    let covered = (to.min(n as f64 + 1.0) - from.max(n as f64)).max(0.0) / (to - from).max(1e-12);
                    let weight = share * covered;
                    bar.by.iter_mut().zip(block.by).for_each(|(sum, count)| *sum += weight * count as f64);
                    bar.lately += weight * all as f64 * lately;
                }
            }
        }
        // References to as much memory: bars of small and of large regions compare.
        let per_byte = |region: usize| {
            bars[region].len() as f64 / (home.regions[region].own[1] - home.regions[region].own[0] + 1) as f64
        };
        let density = |region: usize, bar: &Bar| bar.by.iter().sum::<f64>() * per_byte(region);
        let most = (0..bars.len())
            .flat_map(|region| bars[region].iter().map(move |bar| density(region, bar)))
            .fold(0.0, f64::max)
            .max(f64::MIN_POSITIVE);
        for (number, (region, bars)) in home.regions.iter().zip(&bars).enumerate() {
            let shade = seen * self.view.shade(number);
            if shade <= 0.0 {
                continue;
            }
            let color = palette::region(number);
            out.push(part(band, [region.theta0, region.span], palette::fade(color, QUIET * shade)));
            let step = region.span / bars.len() as f32;
            for (n, bar) in bars.iter().enumerate() {
                let all: f64 = bar.by.iter().sum();
                if all <= 0.0 {
                    continue;
                }
                let height = to_f32((density(number, bar) / most).sqrt()).max(0.035) * (band[1] - band[0]);
                let alpha = shade * (OLD + (0.92 - OLD) * to_f32(bar.lately / all));
                let arc = [region.theta0 + step * (n as f32 + 0.5 * BETWEEN), step * (1.0 - BETWEEN)];
                let mut r = band[1];
                for (ring, count) in by_ring(&bar.by, self.rings_of_levels, rings).into_iter().enumerate() {
                    let thick = height * to_f32(count / all);
                    if thick < 0.0012 {
                        continue;
                    }
                    let color = if ring == 0 { color } else { palette::served(ring, rings) };
                    out.push(part([r - thick, r], arc, palette::fade(color, alpha)));
                    r -= thick;
                }
            }
        }
    }
}

/// One bar.
#[derive(Clone, Copy, Debug, Default)]
struct Bar {
    by: [f64; SERVERS],
    /// References to what was touched lately.
    lately: f64,
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

/// Misses of groups of sets against the mean of their cache.
fn spikes(rings: &Rings, flows: &[Flow], out: &mut Vec<Disk>) {
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
            let over = ((lines / mean - 1.0) / 3.0).clamp(0.0, 1.0);
            let alpha = 0.28 + 0.62 * over.sqrt();
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
