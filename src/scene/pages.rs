//! The entries of TLBs: a bar each, in the colour of the region that its page holds most of. A page comes in at the head of
//! its set on a walk, goes back to the head when it is renewed, and fades where it stood when it is evicted: an entry is no
//! data, so it flies from nowhere and leaves no trail.

use super::frame::{Glyph, flags};
use super::layout::{HomeLayout, Rack};
use super::motion::{Endpoint, Flight, ONE_TICK, Path, ease};
use super::palette::{self, RegionColors, Rgba};
use super::places::Places;
use super::view::{View, flash_steps};
use crate::sim::{Event, TlbInfo, Tlbs};
use crate::timeline::Moment;
use crate::units::{LineAddr, SetIndex, to_f32};
use std::collections::BTreeMap;

/// Layer of entries in a scene.
pub const LAYER: u8 = 5;

/// Flash of an entry that a page walk brought, and of one that came from a TLB further out.
const FLASH: [f32; 2] = [0.5, 0.22];
/// Seconds after which it has faded to 1/e.
const FLASH_SECONDS: f32 = 0.30;
/// References after which it is faint, however fast they come.
const FLASH_REFERENCES: f32 = 100.0;
/// Radius of an entry, half a bar's length, where there is room, world units.
const RADIUS: f32 = 0.0075;
/// The way round the ring, radians, past which an entry follows it instead of its chord.
const ROUND: f32 = 0.6;

/// Whose most of each page is, worked out once for each stretch of time in which that is the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Owners(BTreeMap<u64, Owner>);

#[derive(Clone, Copy, Debug)]
struct Owner {
    region: Option<usize>,
    /// References for which it holds.
    from: u64,
    to: u64,
}

/// Pages remembered at most.
const REMEMBERED: usize = 1 << 16;

impl Owners {
    fn of(&mut self, home: &HomeLayout, page: u64, page_bytes: u64, tick: u64) -> Owner {
        let known = self.0.get(&page).copied().filter(|o| o.from <= tick && tick < o.to);
        known.unwrap_or_else(|| {
            let owner = owner(home, page * page_bytes, page_bytes, tick);
            if self.0.len() >= REMEMBERED {
                self.0.clear();
            }
            self.0.insert(page, owner);
            owner
        })
    }
}

/// Colour of the region that holds most of a page at a tick.
pub(super) fn page_color(home: &HomeLayout, colors: &RegionColors, page: LineAddr, page_bytes: u64, tick: u64) -> Rgba {
    color(colors, owner(home, page.0 * page_bytes, page_bytes, tick))
}

fn color(colors: &RegionColors, owner: Owner) -> Rgba {
    owner.region.map_or(palette::NEUTRAL, |region| colors.of(region))
}

/// The region that holds more of a page at a tick than all others together.
fn owner(home: &HomeLayout, first: u64, bytes: u64, tick: u64) -> Owner {
    let (held, [from, to]) = home.held_while(first, first.saturating_add(bytes - 1), tick);
    let all: u64 = held.iter().map(|(_, bytes)| bytes).sum();
    let most = held.first().filter(|(_, bytes)| *bytes > all / 2);
    Owner { region: most.map(|(region, _)| *region), from, to }
}

/// Adds the entries of all TLBs.
pub(super) fn entries(places: &Places, owners: &mut Owners, moment: &Moment<'_>, view: &View, out: &mut Vec<Glyph>) {
    if places.rings.racks.is_empty() {
        return;
    }
    let flashes = flashes(moment, view);
    let shown = ease(view.phase);
    for (at, rack) in places.rings.racks.iter().enumerate() {
        let (before, after) = (moment.before.tlbs(), moment.after.tlbs());
        let sector = places.rings.caches() + at;
        let page_bytes = u64::from(after.geometry(at).line_bytes);
        let radius = radius(places, sector);
        let mut add = |page: LineAddr, flight: Flight, alpha: f32, flash: f32| {
            let owner = owners.of(&places.home, page.0, page_bytes, moment.tick);
            let shade = owner.region.map_or(1.0, |region| view.shade(region));
            if shade <= 0.0 {
                return;
            }
            let (color, alpha, flash) = (color(&view.colors, owner), alpha * shade, flash * shade);
            out.push(Glyph {
                layer: LAYER,
                id: page.0,
                flight,
                radius,
                color: palette::fade(color, alpha),
                flash,
                pulse: 0.0,
                burst: 1.0,
                flags: flags::PAGE,
            });
        };
        let hot = hot_sets(moment, before, at);
        for set in (0..rack.sets).map(SetIndex) {
            let is_hot = hot.contains(&set);
            for (page, rank) in after.order(at, set).map(|resident| resident.line).zip(0u32..) {
                let was = if is_hot { before.page_rank(at, page).map(|(_, rank)| rank) } else { Some(rank) };
                let flash = flashes.get(&(at, page)).copied().unwrap_or(0.0);
                let to = slot(rack, sector, set, rank);
                match was {
                    Some(old) if old == rank => add(page, Flight::rest(to), 1.0, flash),
                    Some(old) => add(page, renewal(places, rack, sector, set, [old, rank]), 1.0, flash),
                    None => add(page, Flight::rest(to), shown, flash * shown),
                }
            }
            if is_hot {
                for (page, rank) in before.order(at, set).map(|resident| resident.line).zip(0u32..) {
                    if after.page_rank(at, page).is_none() {
                        let flash = flashes.get(&(at, page)).copied().unwrap_or(0.0);
                        add(page, Flight::rest(slot(rack, sector, set, rank)), 1.0 - shown, flash * (1.0 - shown));
                    }
                }
            }
        }
    }
}

/// Radius of the entries of a sector: less where they are crowded.
fn radius(places: &Places, sector: usize) -> f32 {
    let s = &places.rings.sectors[sector];
    let across = s.span * 0.5 * (s.r0 + s.r1) / s.sets as f32;
    let inward = (s.r1 - s.r0) / s.ways as f32;
    // A bar is shorter inward than across.
    (0.40 * across.min(1.6 * inward)).clamp(0.0012, RADIUS)
}

fn slot(rack: &Rack, sector: usize, set: SetIndex, rank: u32) -> Endpoint {
    let (column, row) = rack.slot(set.0, rank);
    Endpoint::slot(sector, column, row as f32, 0.0)
}

/// From one rank of a set to another: along the column, a short chord, or round the ring within the band.
fn renewal(places: &Places, rack: &Rack, sector: usize, set: SetIndex, [old, new]: [u32; 2]) -> Flight {
    let [from, to] = [old, new].map(|rank| slot(rack, sector, set, rank));
    if from.a == to.a {
        return Flight::slide(from, to);
    }
    let s = &places.rings.sectors[sector];
    let sweep = s.span * (to.a - from.a) / s.sets as f32;
    if sweep.abs() < ROUND {
        return Flight::straight(from, to);
    }
    // Not the shortest way but the way back through its own places.
    Flight { from, to, path: Path::Arc, sweep, times: ONE_TICK }
}

/// Sets of a TLB whose order may change during this reference.
fn hot_sets(moment: &Moment<'_>, tlbs: &Tlbs, at: usize) -> Vec<SetIndex> {
    let TlbInfo { tlb, core, .. } = tlbs.info(at);
    let asked = |event: &Event| match *event {
        Event::Translate { tlb: asked, core: by, page, .. } => {
            (asked == tlb && core.is_none_or(|own| own == by)).then(|| tlbs.geometry(at).set_of(page))
        }
        _ => None,
    };
    moment.events.iter().filter_map(asked).collect()
}

/// What is left of the flashes of entries that came in with the last references, by TLB and page.
fn flashes(moment: &Moment<'_>, view: &View) -> BTreeMap<(usize, LineAddr), f32> {
    let speed = to_f32(view.speed).max(1e-3);
    let seconds = FLASH_SECONDS.min(FLASH_REFERENCES / speed);
    let first = (moment.tick + 1).saturating_sub(flash_steps(view.speed)).max(moment.log.start());
    let of = |fill: &crate::timeline::PageFill| {
        // From its arrival on.
        let age = if fill.tick < moment.tick { (moment.tick - fill.tick - 1) as f32 + view.phase } else { 0.0 };
        let flash = FLASH[usize::from(!fill.walked)] * (-age / speed / seconds).exp();
        ((usize::from(fill.tlb), LineAddr(fill.page)), flash)
    };
    moment.log.pages(first, moment.tick + 1).iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::Region;

    fn region(base: u64, bytes: u64, lifetime: Option<(u64, u64)>) -> Region {
        Region { lifetime, ..Region::new("r", base, bytes) }
    }

    #[test]
    fn a_page_has_the_colour_of_whose_most_of_it_is_at_that_time() {
        let regions = [
            region(0x1000, 0x2800, None),
            region(0x3800, 0x100, None),
            region(0x4000, 0x400, Some((10, 20))),
            region(0x4800, 0x400, Some((15, 30))),
        ];
        let home = HomeLayout::new(&regions, 64, 0.7, 0.9);
        let mut owners = Owners::default();
        let mut color = |page, tick| super::color(&RegionColors::default(), owners.of(&home, page, 4096, tick));
        assert_eq!(color(1, 0), palette::region(0), "all of it");
        assert_eq!(color(3, 0), palette::region(0), "2 KiB beside 256 bytes of another");
        assert_eq!(color(9, 0), palette::NEUTRAL, "nobody's");
        assert_eq!(color(4, 5), palette::NEUTRAL, "nobody's yet");
        assert_eq!(color(4, 12), palette::region(2));
        assert_eq!(color(4, 17), palette::NEUTRAL, "half and half");
        assert_eq!(color(4, 25), palette::region(3));
        // Asked backward it says the same: what is remembered is what holds.
        assert_eq!(
            [25, 17, 12, 5].map(|tick| color(4, tick)[0]),
            [palette::region(3)[0], palette::NEUTRAL[0], palette::region(2)[0], palette::NEUTRAL[0]]
        );
    }
}
