//! Dots at home: full where the data is nowhere else, fainter (a ghost) as copies are in caches. In the whole picture a dot is
//! an item; closer up those in sight split into finer ones ([`super::layout::finer`]), each of which tells of its own bytes.

use super::frame::Glyph;
use super::items::AtHome;
use super::layout::finer::Cell;
use super::layout::{Detail, HomeLayout, Rung};
use super::motion::{Endpoint, Flight};
use super::palette;
use super::places::Places;
use super::view::View;

/// What a dot loses of its opacity where all of it is in caches.
const CACHED: f32 = palette::AT_HOME - 0.16;

/// What a dot loses of its radius while its parts come forward.
const SHRINKS: f32 = 0.6;

/// What of each item is in caches, in glyphs, counted anew in each frame; the lists are kept for their memory.
#[derive(Debug, Default)]
pub(super) struct Cached {
    items: Vec<u16>,
    /// By item: where its parts begin in `parts`, plus one, or 0 where it is not looked at closely; and which of `details` says
    /// how many they are.
    begins: Vec<[u32; 2]>,
    parts: Vec<u16>,
    /// Items in sight of a picture that is not the whole one: region, item, and which of `details` is its.
    seen: Vec<(usize, u64, usize)>,
    /// What is seen of regions in sight.
    details: Vec<Detail>,
}

impl Cached {
    pub(super) fn new(home: &HomeLayout) -> Self {
        let items = usize::try_from(home.items()).unwrap_or(0);
        Self { items: vec![0; items], begins: vec![[0; 2]; items], ..Self::default() }
    }

    /// Nothing is in a cache; finds the items in sight and makes room for counts of their parts.
    pub(super) fn begin(&mut self, places: &Places, view: &View) {
        self.items.fill(0);
        self.begins.fill([0; 2]);
        self.parts.clear();
        self.seen.clear();
        self.details.clear();
        if places.closeness.is_whole() {
            return;
        }
        for (region, home) in places.home.regions.iter().enumerate() {
            let detail = places.home.detail(region, places.closeness);
            let (shift, its_detail, before) = (detail.finest().shift, self.details.len(), self.seen.len());
            for item in 0..home.items {
                let (at, around) = place(places, region, &detail.rungs()[0], places.home.cell(region, item), view);
                if !view.reaches_box(at, at, around) {
                    continue;
                }
                self.seen.push((region, item, its_detail));
                let number = usize::try_from(home.first_item + item).unwrap_or(usize::MAX);
                if let (1.., Some(begin)) = (shift, self.begins.get_mut(number)) {
                    *begin = [self.parts.len() + 1, its_detail].map(|n| u32::try_from(n).unwrap_or(0));
                    self.parts.resize(self.parts.len() + (1 << shift), 0);
                }
            }
            if self.seen.len() > before {
                self.details.push(detail);
            }
        }
    }

    /// The glyph of the bytes from `addr` on, of an item, is in a cache.
    pub(super) fn count(&mut self, places: &Places, region: usize, item: u64, addr: u64) {
        let number = places.home.regions[region].first_item + item;
        if let Some(count) = usize::try_from(number).ok().and_then(|n| self.items.get_mut(n)) {
            *count = count.saturating_add(1);
        }
        if self.is_close(number) {
            self.count_part(places, region, item, addr);
        }
    }

    /// Counts of the items from number `first` on, `items` of them.
    pub(super) fn items_mut(&mut self, first: usize, items: usize) -> &mut [u16] {
        let end = first.saturating_add(items).min(self.items.len());
        self.items.get_mut(first..end).unwrap_or_default()
    }

    /// Whether the parts of an item are counted: item by its number over all regions.
    pub(super) fn is_close(&self, number: u64) -> bool {
        usize::try_from(number).ok().and_then(|n| self.begins.get(n)).is_some_and(|[begin, _]| *begin > 0)
    }

    /// As [`Cached::count`], of an item that is close, for its parts alone.
    pub(super) fn count_part(&mut self, places: &Places, region: usize, item: u64, addr: u64) {
        let home = &places.home;
        let Some((begin, detail)) = self.begin_of(home, region, item) else { return };
        let (shift, glyph) = (self.details[detail].finest().shift, places.items.glyph_of(region));
        let own = &home.regions[region];
        let bytes = own.item_bytes >> shift;
        let offset = addr.saturating_sub(own.base + item * own.item_bytes);
        // A glyph is a part of one part, or all of several.
        let first = usize::try_from(offset / bytes).unwrap_or(usize::MAX).min((1 << shift) - 1);
        let parts = usize::try_from((glyph / bytes).max(1)).unwrap_or(1);
        for count in self.parts[begin..begin + (1 << shift)].iter_mut().skip(first).take(parts) {
            *count = count.saturating_add(1);
        }
    }

    /// Where the parts of an item begin, and its detail; `None` = it is not looked at closely.
    fn begin_of(&self, home: &HomeLayout, region: usize, item: u64) -> Option<(usize, usize)> {
        let number = usize::try_from(home.regions[region].first_item + item).ok()?;
        let [begin, detail] = self.begins.get(number)?.map(|n| n as usize);
        Some((begin.checked_sub(1)?, detail))
    }

    /// Share of the bytes of part `part` of an item at a rung that are in caches.
    fn share(&self, places: &Places, detail: &Detail, region: usize, item: u64, rung: &Rung, part: usize) -> f32 {
        let (home, glyph) = (&places.home, places.items.glyph_of(region));
        let item_bytes = home.regions[region].item_bytes;
        let Some((begin, _)) = self.begin_of(home, region, item) else {
            let number = usize::try_from(home.regions[region].first_item + item).unwrap_or(usize::MAX);
            let whole = (item_bytes / glyph) as f32;
            return (f32::from(self.items.get(number).copied().unwrap_or(0)) / whole).min(1.0);
        };
        let (finest, deeper) = (detail.finest().shift, detail.finest().shift - rung.shift);
        let first = begin + (part << deeper);
        let counted: u64 = self.parts[first..first + (1 << deeper)].iter().map(|&n| u64::from(n)).sum();
        let whole = ((item_bytes >> finest) / glyph).max(1) << deeper;
        (counted as f32 / whole as f32).min(1.0)
    }

    /// What the dots in sight stand for.
    pub(super) fn told(&self, places: &Places) -> AtHome {
        let mut told: Option<AtHome> = None;
        let mut last = None;
        for &(region, _, detail) in self.seen.iter().filter(|(region, ..)| last.replace(*region) != Some(*region)) {
            let (home, detail) = (&places.home.regions[region], &self.details[detail]);
            let bytes = home.item_bytes >> detail.foremost().shift;
            let elements = if bytes.is_multiple_of(home.element) { bytes / home.element } else { 0 };
            told = Some(match told {
                None => AtHome { bytes: [bytes; 2], elements },
                Some(AtHome { bytes: [least, most], elements: before }) => AtHome {
                    bytes: [least.min(bytes), most.max(bytes)],
                    elements: if before == elements { before } else { 0 },
                },
            });
        }
        told.unwrap_or(AtHome::whole(&places.items))
    }

    /// Adds the dots.
    pub(super) fn draw(&self, places: &Places, view: &View, out: &mut Vec<Glyph>) {
        if !places.closeness.is_whole() {
            for &(region, item, detail) in self.seen.iter().filter(|(region, ..)| view.shade(*region) > 0.0) {
                let detail = &self.details[detail];
                let mut close = Close { cached: self, places, view, detail, region, item, out };
                close.descend(0, places.home.cell(region, item), 0);
            }
            return;
        }
        for (region, home) in places.home.regions.iter().enumerate() {
            let detail = places.home.detail(region, places.closeness);
            let whole = detail.finest();
            let radius = places.home_radius(whole, view.camera.zoom);
            let shade = view.shade(region);
            if shade <= 0.0 {
                continue;
            }
            for item in 0..home.items {
                let share = self.share(places, &detail, region, item, whole, 0);
                let [r, theta] = places.home.polar(region, item);
                let id = home.first_item + item;
                out.push(dot(
                    id,
                    [r, theta],
                    radius,
                    palette::fade(view.colors.of(region), shade * opacity(share, view)),
                ));
            }
        }
    }
}

/// An item looked at closely.
struct Close<'a> {
    cached: &'a Cached,
    places: &'a Places,
    view: &'a View,
    detail: &'a Detail,
    region: usize,
    item: u64,
    out: &'a mut Vec<Glyph>,
}

impl Close<'_> {
    /// Adds the dots of a part of the item, at rung `at` and below, that are in sight and stand for bytes of the region.
    fn descend(&mut self, at: usize, cell: Cell, part: u64) {
        let (home, rung) = (&self.places.home, self.detail.rungs()[at]);
        let region = &home.regions[self.region];
        let bytes = region.item_bytes >> rung.shift;
        let first = region.base.saturating_add(self.item * region.item_bytes).saturating_add(part * bytes);
        let [own, last] = region.own;
        let (place, around) = place(self.places, self.region, &rung, cell, self.view);
        if first > last || first.saturating_add(bytes - 1) < own || !self.view.reaches_box(place, place, around) {
            return;
        }
        let seen = self.detail.share(at) * self.view.shade(self.region);
        if seen > 0.0 {
            let index = usize::try_from(part).unwrap_or(usize::MAX);
            let share = self.cached.share(self.places, self.detail, self.region, self.item, &rung, index);
            let color = palette::fade(self.view.colors.of(self.region), opacity(share, self.view) * seen);
            if color[3] > 0 {
                // It gives way to its parts, which come up round its middle.
                let shrunk = 1.0 - SHRINKS * self.detail.behind(at);
                let radius = shrunk * self.places.home_radius(&rung, self.view.camera.zoom);
                let id = home.id(self.region, self.item, &rung, part);
                self.out.push(dot(id, home.cell_polar(self.region, &rung, cell), radius, color));
            }
        }
        let Some(finer) = self.detail.rungs().get(at + 1).copied() else { return };
        let bits = finer.step[0] + finer.step[1];
        for digit in 0..1 << bits {
            self.descend(at + 1, HomeLayout::part(&finer, cell, digit), part << bits | digit);
        }
    }
}

/// Middle of a cell and how far what stands in it may reach, world units.
fn place(places: &Places, region: usize, rung: &Rung, cell: Cell, view: &View) -> ([f32; 2], f32) {
    let [r, theta] = places.home.cell_polar(region, rung, cell);
    // Half the cell's diagonal at the rim, and a pixel or two of a small dot.
    let around = 0.6 * (rung.size[0] * places.rings.home_r1 / places.home.middle() + rung.size[1]);
    ([r * theta.cos(), r * theta.sin()], around + 0.01 / view.camera.zoom)
}

fn opacity(share: f32, view: &View) -> f32 {
    if view.ghosts { palette::AT_HOME - CACHED * share } else { palette::AT_HOME * (1.0 - share) }
}

fn dot(id: u64, [r, theta]: [f32; 2], radius: f32, color: palette::Rgba) -> Glyph {
    let flight = Flight::rest(Endpoint::polar(r, theta));
    Glyph { layer: 0, id, flight, radius, color, flash: 0.0, pulse: 0.0, burst: 1.0, flags: 0 }
}
