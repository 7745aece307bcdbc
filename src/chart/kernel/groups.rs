//! The map of the launch: a cell for each group, where it lies in the launch, and what its warps cost. Who clicks one looks at its group.
//!
//! ```text
//! warps that diverge   0 to 8      extra transactions   0 to 31      sectors   12 to 16
//! +--+--+--+--+                    +--+--+--+--+                     +--+--+--+--+
//! |  |##|##|  |                    |..|  |  |..|                     |
//! ```

use super::{Area, HEAD, SMALL, Sheet, count, length};
use crate::chart::canvas::Anchor;
use crate::chart::role::{HEATS, Role};
use crate::kernel::{GroupUse, KernelBook};
use crate::units::grouped;
use std::ops::Range;

/// Cells of all maps together, at most: neighbours of larger launches share one.
const CELLS: u64 = 16_500;
/// Units of the side of a cell, at most, and at least.
const LARGEST: f64 = 64.0;
const SMALLEST: f64 = 2.5;
/// The step of the scale where all groups cost the same, and something.
const CALM: u8 = 4;
/// Between maps, and above one for what it shows.
const GAP: f64 = 18.0;
const CAPTION: f64 = 30.0;

/// What a map shows of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cost {
    Diverging,
    Extra,
    Sectors,
}

impl Cost {
    const ALL: [Self; 3] = [Self::Diverging, Self::Extra, Self::Sectors];

    fn name(self) -> &'static str {
        match self {
            Self::Diverging => "Warps that diverge",
            Self::Extra => "Extra transactions of banks",
            Self::Sectors => "Sectors of storage and textures",
        }
    }

    fn of(self, used: GroupUse) -> u64 {
        match self {
            Self::Diverging => used.diverging,
            Self::Extra => used.extra,
            Self::Sectors => used.sectors,
        }
    }
}

/// Where the groups of a launch are: columns and rows of cells, and how many along each side share one.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupMap {
    /// Its upper left corner.
    corner: (f64, f64),
    /// Units of the side of a cell.
    cell: f64,
    /// Columns and rows, of groups.
    size: [u64; 2],
    /// Groups along each side of a cell.
    each: u64,
    /// Groups that there are.
    all: u64,
}

impl GroupMap {
    /// The groups at a place, as ranges of numbers, a row of them each.
    fn at(&self, (x, y): (f64, f64)) -> Option<(u64, u64)> {
        let [x, y] = [(x - self.corner.0) / self.cell, (y - self.corner.1) / self.cell];
        let [wide, high] = self.cells();
        if x < 0.0 || y < 0.0 {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place within the map")]
        let [column, row] = [x as u64, y as u64];
        (column < wide && row < high).then_some((column, row))
    }

    /// Cells across and down.
    fn cells(&self) -> [u64; 2] {
        self.size.map(|groups| groups.div_ceil(self.each))
    }

    /// The groups of a cell: ranges of numbers, one for each row.
    fn groups(&self, (column, row): (u64, u64)) -> impl Iterator<Item = Range<u64>> {
        let [wide, high] = self.size;
        let rows = row * self.each..((row + 1) * self.each).min(high);
        let columns = column * self.each..((column + 1) * self.each).min(wide);
        let all = self.all;
        rows.map(move |row| (row * wide + columns.start).min(all)..(row * wide + columns.end).min(all))
    }

    /// The group at a place: where several share a cell, the first that is kept, or else the first.
    #[must_use]
    pub fn group(&self, book: &KernelBook, at: (f64, f64)) -> Option<u64> {
        let cell = self.at(at)?;
        let is_kept = |number: &u64| book.groups.binary_search_by_key(number, |record| record.group).is_ok();
        let all = || self.groups(cell).flatten();
        all().find(is_kept).or_else(|| all().next())
    }
}

/// A group in words: its number and where it lies, then what it costs.
#[must_use]
pub fn told_of_group(book: &KernelBook, number: u64) -> (String, Vec<String>) {
    let [wide, high, deep] = book.run.groups.map(u64::from);
    let [x, y, z] = [number % wide, number / wide % high, number / wide / high];
    let title = match (high, deep) {
        (1, 1) => format!("group {number}"),
        (_, 1) => format!("group {number}: column {x}, row {y}"),
        _ => format!("group {number}: column {x}, row {y}, layer {z}"),
    };
    let Some(used) = book.group_use(number) else { return (title, vec!["it did not run".into()]) };
    let mut lines = vec![
        match used.diverging {
            1 => "1 warp diverges".to_owned(),
            n => format!("{} diverge", count(n, "warp")),
        },
        format!("{} of banks", count(used.extra, "extra transaction")),
        format!("{} of storage and textures", count(used.sectors, "sector")),
    ];
    if book.groups.binary_search_by_key(&number, |record| record.group).is_err() {
        lines.push("its events are not kept".into());
    }
    (title, lines)
}

impl Sheet<'_> {
    pub(super) fn groups(&mut self, area: Area) {
        let [wide, high, deep] = self.book.run.groups.map(u64::from);
        let all = wide * high * deep;
        let layers = if deep > 1 { format!(", {deep} layers below each other") } else { String::new() };
        let size = match (high, deep) {
            (1, 1) => format!("{}, in rows", count(all, "group")),
            _ => format!("{wide} x {high} groups{layers}"),
        };
        // A file cannot be clicked.
        let more = if self.now.is_some() { format!("{size}; a click chooses one") } else { size.clone() };
        self.heading(area, "Groups", &[&more, &size]);
        let uses = &self.book.run.counts.groups;
        let is_used = |cost: &Cost| *cost == Cost::Diverging || uses.iter().any(|used| cost.of(*used) > 0);
        let costs: Vec<Cost> = Cost::ALL.into_iter().filter(is_used).collect();
        let body = area.below(HEAD + 12.0);
        // Beside each other or below each other: as the cells become larger.
        let count = float(costs.len() as u64);
        let beside = Area { w: (body.w - (count - 1.0) * GAP) / count, ..body };
        let below = Area { h: (body.h - (count - 1.0) * GAP) / count, ..body };
        let [across, down] = [beside, below].map(|part| (part, self.map_in(part, all)));
        let (part, is_beside) = if across.1.cell >= down.1.cell { (across.0, true) } else { (down.0, false) };
        for (n, cost) in costs.iter().enumerate() {
            let by = float(n as u64);
            let part = match is_beside {
                true => Area { x: body.x + by * (part.w + GAP), ..part },
                false => Area { y: body.y + by * (part.h + GAP), ..part },
            };
            self.group_map(part, *cost, all);
        }
    }

    /// How a map of all groups lies in a part of the picture.
    fn map_in(&self, part: Area, all: u64) -> GroupMap {
        let room = part.below(CAPTION);
        let [wide, high, deep] = self.book.run.groups.map(u64::from);
        // In a row there are as many as have room in a picture of its shape; of two dimensions as many as there are.
        let size = if high * deep == 1 { rows_of(all, room) } else { [wide, high * deep] };
        let mut each = 1;
        let cells = |each: u64| size.map(|groups| groups.div_ceil(each));
        let side = |[x, y]: [u64; 2]| (room.w / float(x)).min(room.h / float(y)).min(LARGEST);
        while (side(cells(each)) < SMALLEST || cells(each).iter().product::<u64>() > CELLS / 3) && cells(each) != [1, 1]
        {
            each += 1;
        }
        let cell = side(cells(each)).max(0.0);
        GroupMap { corner: (room.x, room.y), cell, size, each, all }
    }

    fn group_map(&mut self, part: Area, cost: Cost, all: u64) {
        let map = self.map_in(part, all);
        let numbers = self.book.run.counts.groups.iter().map(|used| cost.of(*used));
        let (least, most) = (numbers.clone().min().unwrap_or(0), numbers.max().unwrap_or(0));
        self.caption(part, cost, (least, most), map.each);
        let chosen = self.record.group;
        let [wide, high] = map.cells();
        // Wider than a pixel, or none: of one that is narrower some would be seen and others not.
        let gap = if map.cell > 8.0 { 1.6 } else { 0.0 };
        let mut frame = None;
        for (column, row) in (0..high).flat_map(|row| (0..wide).map(move |column| (column, row))) {
            let at = (map.corner.0 + float(column) * map.cell, map.corner.1 + float(row) * map.cell);
            if map.groups((column, row)).all(|numbers| numbers.is_empty()) {
                continue;
            }
            if map.groups((column, row)).any(|numbers| numbers.contains(&chosen)) {
                frame = Some(at);
            }
            let ran = map.groups((column, row)).flatten().filter_map(|number| self.book.group_use(number));
            let greatest = ran.map(|used| cost.of(used)).max();
            let role = match greatest {
                // Where all cost the same, none stands out.
                Some(number) if least == most => Role::Heat(if number > 0 { CALM } else { 0 }),
                Some(number) => Role::Heat(heat(number, most)),
                // It did not run.
                None => Role::Faded,
            };
            let side = if greatest.is_some() { map.cell - gap } else { (map.cell - gap).min(0.3 * map.cell + 0.5) };
            let inset = (map.cell - gap - side) / 2.0;
            self.chart.rect((at.0 + inset, at.1 + inset), (side, side), role, "");
        }
        if let Some((x, y)) = frame {
            let (side, more) = (map.cell - gap, 0.8);
            let [left, top, right, bottom] = [x - more, y - more, x + side + more, y + side + more];
            for (from, to) in [
                ((left, top), (right, top)),
                ((left, bottom), (right, bottom)),
                ((left, top), (left, bottom)),
                ((right, top), (right, bottom)),
            ] {
                self.chart.line(from, to, Role::Ink, 1.6, false);
            }
        }
        self.places.groups.push(map);
    }

    /// The name of a map, and below it what its colours mean.
    fn caption(&mut self, part: Area, cost: Cost, (least, most): (u64, u64), each: u64) {
        self.words((part.x, part.y + SMALL), part.w, SMALL + 0.5, Role::Body, cost.name());
        let baseline = part.y + SMALL + 14.0;
        let shared = if each > 1 { format!("; a cell is {each} x {each} groups") } else { String::new() };
        if least == most {
            let words = format!("all {}{shared}", grouped(most));
            return self.words((part.x, baseline), part.w, SMALL, Role::Quiet, &words);
        }
        let zero = "0";
        self.chart.text((part.x, baseline), Anchor::Start, SMALL, Role::Quiet, zero);
        let from = part.x + length(zero, SMALL) + 5.0;
        for step in 0..HEATS {
            let x = from + 6.0 * f64::from(step);
            self.chart.rect((x, baseline - 8.0), (6.0, 8.0), Role::Heat(step), "");
        }
        let end = from + 6.0 * f64::from(HEATS) + 5.0;
        let (most, least) = (grouped(most), grouped(least));
        let all = [format!("{most}; least {least}{shared}"), format!("{most}{shared}"), most];
        if let Some(words) = all.iter().find(|words| length(words, SMALL) <= part.x + part.w - end) {
            self.chart.text((end, baseline), Anchor::Start, SMALL, Role::Quiet, words);
        }
    }
}

/// The step of the scale, which starts at 0.
fn heat(number: u64, most: u64) -> u8 {
    let steps = u64::from(HEATS - 1);
    u8::try_from((number * steps).div_ceil(most.max(1)).min(steps)).unwrap_or(0)
}

/// Columns and rows of so many groups that fill a room of this shape, whole powers of two across.
fn rows_of(all: u64, room: Area) -> [u64; 2] {
    let shape = (room.w / room.h.max(1.0)).max(0.01);
    let across = (float(all) * shape).sqrt().max(1.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a root of a count")]
    let across = (across.log2().round().exp2() as u64).clamp(1, all.max(1));
    [across, all.div_ceil(across)]
}

#[expect(clippy::cast_precision_loss, reason = "places on a picture")]
fn float(n: u64) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_group_is_in_one_cell_and_is_found_where_it_lies() {
        for (size, each) in [([8, 3], 1), ([7, 5], 2), ([100, 41], 9)] {
            let all = size[0] * size[1] - 3;
            let map = GroupMap { corner: (10.0, 20.0), cell: 4.0, size, each, all };
            let [wide, high] = map.cells();
            let mut found = Vec::new();
            for cell in (0..high).flat_map(|row| (0..wide).map(move |column| (column, row))) {
                let (x, y) = (10.0 + 4.0 * float(cell.0) + 3.9, 20.0 + 4.0 * float(cell.1) + 0.1);
                assert_eq!(map.at((x, y)), Some(cell));
                for numbers in map.groups(cell) {
                    for number in numbers {
                        assert_eq!((number % size[0] / each, number / size[0] / each), cell);
                        found.push(number);
                    }
                }
            }
            found.sort_unstable();
            assert_eq!(found, (0..all).collect::<Vec<_>>());
            assert_eq!(map.at((9.9, 21.0)), None);
            assert_eq!(map.at((10.0 + 4.0 * float(wide), 21.0)), None);
        }
    }

    #[test]
    fn the_scale_starts_at_0_and_what_is_more_than_0_is_seen() {
        assert_eq!([heat(0, 1000), heat(1, 1000), heat(1000, 1000), heat(0, 0)], [0, 1, 9, 0]);
        let room = Area { x: 0.0, y: 0.0, w: 400.0, h: 100.0 };
        assert_eq!(rows_of(16, room), [8, 2]);
        assert_eq!(rows_of(1, room), [1, 1]);
        let [wide, high] = rows_of(16_384, room);
        assert!(wide * high >= 16_384 && wide > high);
    }
}
