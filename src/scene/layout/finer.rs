//! Finer homes: closer up an item's place splits into those of its parts, so that a dot stands for a block, then a line, then
//! an element.
//!
//! ```text
//! item, 4 KiB      1 KiB          256 bytes        lines, 64 bytes     their elements, in reading order
//! +-------+      +---+---+      +-+-+ ...          +-+-+ ...           +-+-+-+-+
//! |       |      | 0 | 1 |      |0|1|              |0|1|               |0 1 2 3|
//! |   o   |  ->  +---+---+  ->  +-+-+          ->  +-+-+           ->  |4 5 6 7|
//! |       |      | 2 | 3 |      |2|3|              |2|3|               +-------+
//! +-------+      +---+---+      +-+-+              +-+-+
//! ```
//!
//! Each part lies within the place of the whole, so nothing jumps. Which fineness is seen follows from the distance between dots
//! on the screen; neighbours fade into each other as the camera comes closer. A fade takes the place of hysteresis: that would
//! have to remember where the camera came from, and a frame is a function of where it is.

use super::home::HomeLayout;
use crate::scene::items::HOME_BUDGET;
use crate::scene::view::View;
use crate::units::to_f32;

/// Finenesses of a region, at most.
const MOST: usize = 24;
/// Parts of an item, at most: 2^20.
const DEEPEST: u32 = 20;
/// Distance between dots from which on they come forward, world units at zoom 1: 8 pixels of a picture 720 high.
const APART: f32 = 0.026;
/// How much closer the camera comes until they are there.
const WIDE: f32 = 1.4;
/// Elements of a line that come at once, as a power of two.
const AT_ONCE: u32 = 4;

/// How closely homes are looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closeness {
    zoom: f32,
    /// Distance between dots from which on they come forward, world units at zoom 1.
    apart: f32,
}

impl Default for Closeness {
    fn default() -> Self {
        Self { zoom: 1.0, apart: APART }
    }
}

impl Closeness {
    /// That of a view: a picture full of dots holds no more than the whole picture may.
    #[must_use]
    pub fn of(view: &View) -> Self {
        let area = 4.0 * view.reach[0] * view.reach[1];
        Self { zoom: view.camera.zoom, apart: (area / HOME_BUDGET as f32).sqrt().max(APART) }
    }

    /// Whether nothing is finer than in the whole picture.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.zoom <= 1.0
    }

    /// How far dots so far apart have come forward, 0 to 1; 0 in the whole picture.
    fn forward(&self, pitch: f32) -> f32 {
        let begin = (self.apart / pitch.max(f32::MIN_POSITIVE)).max(1.0);
        let t = ((self.zoom / begin - 1.0) / (WIDE - 1.0)).clamp(0.0, 1.0);
        match t * t * (3.0 - 2.0 * t) {
            // Less than a screen shows.
            s if s < 0.004 => 0.0,
            s if s > 0.996 => 1.0,
            s => s,
        }
    }
}

/// One fineness of a region's homes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rung {
    /// Parts of an item, as a power of two.
    pub shift: u32,
    /// Parts along and inward, as powers of two: of an item, and of the place one rung up.
    pub parts: [u32; 2],
    /// See `parts`.
    pub step: [u32; 2],
    /// Distance to the next dot along and inward, world units.
    pub size: [f32; 2],
    /// How far it has come forward, 0 to 1: no more than the rung above it.
    pub forward: f32,
}

impl Rung {
    /// The smaller of the distances.
    #[must_use]
    pub fn pitch(&self) -> f32 {
        self.size[1].min(self.size[0])
    }
}

/// The finenesses of a region's homes that are seen, and all above them; the first is that of the whole picture.
#[derive(Clone, Copy, Debug)]
pub struct Detail {
    rungs: [Rung; MOST],
    len: usize,
}

impl Detail {
    /// Coarsest first.
    #[must_use]
    pub fn rungs(&self) -> &[Rung] {
        &self.rungs[..self.len]
    }

    /// The finest that is seen.
    #[must_use]
    pub fn finest(&self) -> &Rung {
        &self.rungs[self.len - 1]
    }

    /// How much of rung `at` is seen, 0 to 1: those of all rungs make 1.
    #[must_use]
    pub fn share(&self, at: usize) -> f32 {
        self.rungs[at].forward - self.behind(at)
    }

    /// How far what comes after rung `at` has come forward, 0 to 1.
    #[must_use]
    pub fn behind(&self, at: usize) -> f32 {
        self.rungs().get(at + 1).map_or(0.0, |finer| finer.forward)
    }

    /// The rung that is seen most.
    #[must_use]
    pub fn foremost(&self) -> &Rung {
        let most = (0..self.len).max_by(|&a, &b| self.share(a).total_cmp(&self.share(b)));
        &self.rungs[most.unwrap_or(0)]
    }

    /// A value of rungs, each by its share; rungs of less than `least` of an item's `item_bytes` count as the last that is not.
    #[must_use]
    pub fn blend(&self, item_bytes: u64, least: u64, of: impl Fn(&Rung) -> f32) -> f32 {
        let [mut sum, mut above] = [of(&self.rungs[0]); 2];
        for rung in self.rungs()[1..].iter().take_while(|rung| item_bytes >> rung.shift >= least) {
            let value = of(rung);
            sum += rung.forward * (value - above);
            above = value;
        }
        sum
    }
}

/// A dot's place in the grid of its region and rung.
pub type Cell = [u64; 2];

impl HomeLayout {
    /// What is seen of a region's finenesses.
    #[must_use]
    pub fn detail(&self, region: usize, closeness: Closeness) -> Detail {
        let home = &self.regions[region];
        let inward = (self.r1 - self.r0) / home.rows as f32;
        let along = home.span * self.middle() / home.columns as f32;
        let first = Rung { size: [along, inward], forward: 1.0, ..Rung::default() };
        let mut detail = Detail { rungs: [Rung::default(); MOST], len: 1 };
        detail.rungs[0] = first;
        if closeness.is_whole() {
            return detail;
        }
        let line = self.line_bytes.clamp(home.finest, home.item_bytes);
        let (mut blocks, mut elements) = ((home.item_bytes / line).ilog2(), (line / home.finest).ilog2());
        let mut last = first;
        while detail.len < MOST {
            // By fours, and to a line and to an element exactly.
            let bits = match (blocks, elements) {
                (0, 0) => break,
                (0, e) if e <= AT_ONCE => e,
                (0, _) => 2,
                (b, _) => 2 - b % 2,
            };
            if blocks > 0 {
                blocks -= bits
            } else {
                elements -= bits
            }
            let mut rung = Rung { shift: last.shift + bits, step: [0; 2], ..last };
            for _ in 0..bits {
                let axis = usize::from(rung.size[0] < rung.size[1]);
                rung.size[axis] *= 0.5;
                rung.parts[axis] += 1;
                rung.step[axis] += 1;
            }
            rung.forward = closeness.forward((rung.size[0] * rung.size[1]).sqrt()).min(last.forward);
            if rung.forward <= 0.0 || rung.shift > DEEPEST {
                break;
            }
            detail.rungs[detail.len] = rung;
            detail.len += 1;
            last = rung;
        }
        detail
    }

    /// `(r, theta)` of a cell of a rung.
    #[must_use]
    pub fn cell_polar(&self, region: usize, rung: &Rung, [column, row]: Cell) -> [f32; 2] {
        let home = &self.regions[region];
        if rung.shift == 0 {
            return self.place(region, [column, row]);
        }
        let share = |n: u64, of: u64, parts: u32| to_f32((n as f64 + 0.5) / (of as f64 * (1u64 << parts) as f64));
        let theta = home.theta0 + home.span * share(column, home.columns, rung.parts[0]);
        [self.r1 - (self.r1 - self.r0) * share(row, home.rows, rung.parts[1]), theta]
    }

    /// The cell of an item.
    #[must_use]
    pub fn cell(&self, region: usize, item: u64) -> Cell {
        let home = &self.regions[region];
        if self.along { [item / home.rows, item % home.rows] } else { [item % home.columns, item / home.columns] }
    }

    /// The cell of part `digit` of a cell one rung up.
    #[must_use]
    pub fn part(rung: &Rung, [column, row]: Cell, digit: u64) -> Cell {
        let [columns, rows] = rung.step;
        [column << columns | digit & ((1 << columns) - 1), row << rows | digit >> columns]
    }

    /// `(r, theta)` of the byte at `addr` as it is seen: between its places at the finenesses that fade into each other, down to
    /// dots of `least` bytes.
    #[must_use]
    pub fn blended(&self, region: usize, detail: &Detail, addr: u64, least: u64) -> [f32; 2] {
        let home = &self.regions[region];
        let offset = addr.saturating_sub(home.base);
        let item = (offset / home.item_bytes).min(home.items - 1);
        let mut place = self.polar(region, item);
        let (mut cell, mut above) = (self.cell(region, item), place);
        let part = (offset - item * home.item_bytes).min(home.item_bytes - 1);
        for rung in detail.rungs()[1..].iter().take_while(|rung| home.item_bytes >> rung.shift >= least) {
            let bytes = home.item_bytes >> rung.shift;
            cell = Self::part(rung, cell, part / bytes % (1 << (rung.step[0] + rung.step[1])));
            let here = self.cell_polar(region, rung, cell);
            place = [0, 1].map(|axis| place[axis] + rung.forward * (here[axis] - above[axis]));
            above = here;
        }
        place
    }

    /// Number of part `part` of an item's dots at a rung: tells which bytes it stands for, see [`HomeLayout::extent`]. An item's
    /// own is its number.
    #[must_use]
    pub fn id(&self, region: usize, item: u64, rung: &Rung, part: u64) -> u64 {
        let number = self.regions[region].first_item + item;
        u64::from(rung.shift) << NUMBER | number << rung.shift | part
    }

    /// Region, first byte and length of what the dot of this number stands for.
    #[must_use]
    pub fn extent(&self, id: u64) -> Option<(usize, u64, u64)> {
        let (shift, number) = (u32::try_from(id >> NUMBER).ok()?, id & ((1 << NUMBER) - 1));
        let item = number.checked_shr(shift)?;
        let region = self.regions.partition_point(|r| r.first_item <= item).checked_sub(1)?;
        let home = &self.regions[region];
        let (bytes, within) = (home.item_bytes >> shift, number & ((1 << shift) - 1));
        let offset = (item - home.first_item).saturating_mul(home.item_bytes).saturating_add(within * bytes);
        Some((region, home.base.saturating_add(offset), bytes))
    }
}

/// Bits of a dot's number below those of its fineness.
const NUMBER: u32 = 56;
