//! The map of the launch: a cell for each group, where it lies in the launch, and what its warps cost. Who clicks one looks at its group.
//!
//! ```text
//! warps that diverge   0 to 8      extra transactions   0 to 31      sectors   12 to 16
//! +--+--+--+--+                    +--+--+--+--+                     +--+--+--+--+
//! |  |##|##|  |                    |..|  |  |..|                     |
//! ```

use super::{Area, HEAD, SMALL, Sheet, counted, length};
use crate::chart::canvas::Anchor;
use crate::chart::role::{HEATS, Role};
use crate::kernel::{GroupUse, KernelBook};
use crate::units::grouped;
use std::ops::Range;

/// Cells of all maps together, at most: neighbours of larger launches share one.
const CELLS: usize = 16_500;
/// Layers beside each other, at most.
const MOST_ACROSS: u64 = 64;
/// Units of the side of a cell, at most, and at least.
const LARGEST: f64 = 64.0;
const SMALLEST: f64 = 2.5;
/// The step of the scale where all groups cost the same, and something.
const CALM: u8 = 4;
/// Between layers of a launch of three dimensions.
const LAYER_GAP: f64 = 6.0;
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

/// Where the groups of a launch are: layers of columns and rows of cells, and how many groups along each side share one.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupMap {
    /// Its upper left corner.
    corner: (f64, f64),
    /// Units of the side of a cell.
    cell: f64,
    /// Columns and rows of a layer, of groups.
    size: [u64; 2],
    /// Layers beside each other, before the next ones begin below.
    across: u64,
    /// Groups along each side of a cell.
    each: u64,
    /// Of a launch of one dimension: consecutive groups that are one of these.
    run: u64,
    /// Groups that there are.
    all: u64,
}

/// A cell: its layer, its column and its row there.
type Cell = [u64; 3];

impl GroupMap {
    /// Cells across and down, of a layer.
    fn cells(&self) -> [u64; 2] {
        self.size.map(|groups| groups.div_ceil(self.each))
    }

    /// Layers that there are.
    fn layers(&self) -> u64 {
        self.all.div_ceil((self.size[0] * self.size[1]).saturating_mul(self.run).max(1))
    }

    /// Units from a layer to the one beside it, and to the one below.
    fn steps(&self) -> [f64; 2] {
        self.cells().map(|count| float(count) * self.cell + LAYER_GAP)
    }

    /// The upper left corner of a cell.
    fn corner(&self, [layer, column, row]: Cell) -> (f64, f64) {
        let [right, down] = self.steps();
        let (x, y) = (layer % self.across, layer / self.across);
        let along =
            |from: f64, layers: u64, step: f64, cells: u64| from + float(layers) * step + float(cells) * self.cell;
        (along(self.corner.0, x, right, column), along(self.corner.1, y, down, row))
    }

    /// The cell at a place.
    fn at(&self, (x, y): (f64, f64)) -> Option<Cell> {
        let [x, y] = [x - self.corner.0, y - self.corner.1];
        let [right, down] = self.steps();
        if !(x >= 0.0 && y >= 0.0 && self.cell > 0.0) {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place within the map")]
        let [layer, beside, column, row] =
            [y / down, x / right, x % right / self.cell, y % down / self.cell].map(|n| n as u64);
        let [wide, high] = self.cells();
        let number = layer * self.across + beside;
        (beside < self.across && column < wide && row < high && number < self.layers()).then_some([number, column, row])
    }

    /// The groups of a cell: ranges of numbers, one for each row.
    fn groups(&self, [layer, column, row]: Cell) -> impl Iterator<Item = Range<u64>> {
        let [wide, high] = self.size;
        let rows = row * self.each..((row + 1) * self.each).min(high);
        let columns = column * self.each..((column + 1) * self.each).min(wide);
        let (first, run, all) = (layer * wide * high, self.run, self.all);
        rows.map(move |row| {
            let row = first + row * wide;
            [columns.start, columns.end].map(|column| (row + column).saturating_mul(run).min(all))
        })
        .map(|[from, to]| from..to)
    }

    /// From the first group of a cell to the one after its last, with those of other cells between its rows.
    fn span(&self, [layer, column, row]: Cell) -> Range<u64> {
        let [wide, high] = self.size;
        let (first, last) = (row * self.each, ((row + 1) * self.each).min(high) - 1);
        let end = ((column + 1) * self.each).min(wide);
        let of =
            |row: u64, column: u64| (layer * wide * high + row * wide + column).saturating_mul(self.run).min(self.all);
        of(first, column * self.each)..of(last, end)
    }

    /// All cells that have groups.
    fn all_cells(&self) -> impl Iterator<Item = Cell> {
        let [wide, high] = self.cells();
        let cells = (0..self.layers()).flat_map(move |layer| (0..high).map(move |row| (layer, row)));
        cells.flat_map(move |(layer, row)| (0..wide).map(move |column| [layer, column, row]))
    }

    /// The group at a place: where several share a cell, the first that is kept, or else the first.
    #[must_use]
    pub fn group(&self, book: &KernelBook, at: (f64, f64)) -> Option<u64> {
        let cell = self.at(at)?;
        let kept = |numbers: Range<u64>| {
            let first = book.groups.partition_point(|record| record.group < numbers.start);
            book.groups.get(first).map(|record| record.group).filter(|group| numbers.contains(group))
        };
        let first = || self.groups(cell).find(|numbers| !numbers.is_empty()).map(|numbers| numbers.start);
        self.groups(cell).find_map(kept).or_else(first)
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
            n => format!("{} diverge", counted(n, "warp")),
        },
        format!("{} of banks", counted(used.extra, "extra transaction")),
        format!("{} of storage and textures", counted(used.sectors, "sector")),
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
        let uses = &self.book.run.counts.groups;
        let is_used = |cost: &Cost| *cost == Cost::Diverging || uses.iter().any(|used| cost.of(*used) > 0);
        let costs: Vec<Cost> = Cost::ALL.into_iter().filter(is_used).collect();
        let body = area.below(HEAD + 12.0);
        // Beside each other or below each other: as the cells become larger.
        let parts = float(costs.len() as u64);
        let beside = Area { w: (body.w - (parts - 1.0) * GAP) / parts, ..body };
        let below = Area { h: (body.h - (parts - 1.0) * GAP) / parts, ..body };
        let [across, down] = [beside, below].map(|part| (part, self.map_in(part, all)));
        let (part, is_beside) = if across.1.cell >= down.1.cell { (across.0, true) } else { (down.0, false) };
        let map = self.map_in(part, all);
        let size = match (high, deep) {
            (1, 1) => format!("{}, {} in a row", counted(all, "group"), grouped(map.size[0] * map.run)),
            (_, 1) => format!("{wide} x {high} groups"),
            _ => format!("{wide} x {high} groups in {deep} layers"),
        };
        let ran = uses.len() as u64;
        let size = if ran < all { format!("{size}, of which {} ran", grouped(ran)) } else { size };
        // A file cannot be clicked.
        let more = if self.now.is_some() { format!("{size}; a click chooses one") } else { size.clone() };
        self.heading(area, "Groups", &[&more, &size]);
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
        if high * deep == 1 {
            let mut run = 1;
            let fits = |run: u64| {
                let size = rows_of(all.div_ceil(run), room);
                let cell = (room.w / float(size[0])).min(room.h / float(size[1])).min(LARGEST);
                (size, cell, cell >= SMALLEST && size[0].saturating_mul(size[1]) <= CELLS as u64 / 3)
            };
            while !fits(run).2 && run < all {
                run *= 2;
            }
            let (size, cell, _) = fits(run);
            return GroupMap { corner: (room.x, room.y), cell: cell.max(0.0), size, across: 1, each: 1, run, all };
        }
        let size = [wide, high];
        let layers = all.div_ceil((size[0] * size[1]).max(1)).max(1);
        let cells = |each: u64| size.map(|groups| groups.div_ceil(each));
        // The side of a cell with so many layers beside each other.
        let side = |each: u64, across: u64| {
            let of = |room: f64, layers: u64, cells: u64| {
                (room - float(layers - 1) * LAYER_GAP) / float(layers) / float(cells.max(1))
            };
            let [x, y] = cells(each);
            of(room.w, across, x).min(of(room.h, layers.div_ceil(across), y)).min(LARGEST)
        };
        // The more layers there are, the less it matters how many exactly stand beside each other.
        let best = |each: u64| {
            let tried = (1..=layers.min(MOST_ACROSS)).map(|across| (side(each, across), across));
            tried.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))).unwrap_or((0.0, 1))
        };
        let mut each = 1;
        let count = |each: u64| cells(each).iter().product::<u64>().saturating_mul(layers);
        while (best(each).0 < SMALLEST || count(each) > CELLS as u64 / 3) && cells(each) != [1, 1] {
            each += (each / 8).max(1);
        }
        let (cell, across) = best(each);
        GroupMap { corner: (room.x, room.y), cell: cell.max(0.0), size, across, each, run: 1, all }
    }

    fn group_map(&mut self, part: Area, cost: Cost, all: u64) {
        let map = self.map_in(part, all);
        let numbers = self.book.run.counts.groups.iter().map(|used| cost.of(*used));
        let (least, most) = (numbers.clone().min().unwrap_or(0), numbers.max().unwrap_or(0));
        self.caption(part, cost, (least, most), &map);
        let chosen = self.record.group;
        // Wider than a pixel, or none: of one that is narrower some would be seen and others not.
        let gap = if map.cell > 8.0 { 1.6 } else { 0.0 };
        let mut frame = None;
        // Of more layers than cells there may be, those that have no room are left out.
        for cell in map.all_cells().take(CELLS) {
            let at = map.corner(cell);
            let span = map.span(cell);
            if span.is_empty() {
                continue;
            }
            if span.contains(&chosen) && map.groups(cell).any(|numbers| numbers.contains(&chosen)) {
                frame = Some(at);
            }
            // Of a launch with more groups than can be gone through a part has run.
            let taken = &self.book.run.taken;
            let ran = span.start < taken.end && taken.start < span.end;
            let ran = map.groups(cell).filter(|_| ran).flat_map(|numbers| self.book.group_uses(numbers));
            let greatest = ran.map(|used| cost.of(*used)).max();
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
    fn caption(&mut self, part: Area, cost: Cost, (least, most): (u64, u64), map: &GroupMap) {
        self.words((part.x, part.y + SMALL), part.w, SMALL + 0.5, Role::Body, cost.name());
        let baseline = part.y + SMALL + 14.0;
        let [wide, high] = map.size.map(|groups| groups.min(map.each));
        let shared = match (map.run, wide * high) {
            (1, 1) => String::new(),
            (1, _) => format!("; a cell has the most of {wide} x {high}"),
            (run, _) => format!("; a cell has the most of {}", grouped(run)),
        };
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
        for (size, each, layers, across, run) in [
            ([8, 3], 1, 1, 1, 1),
            ([7, 5], 2, 1, 1, 1),
            ([100, 41], 9, 1, 1, 1),
            ([6, 4], 1, 5, 3, 1),
            ([5, 7], 3, 4, 2, 1),
            ([16, 4], 1, 1, 1, 8),
        ] {
            // The last layer is not whole.
            let all = size[0] * size[1] * layers * run - 3;
            let map = GroupMap { corner: (10.0, 20.0), cell: 4.0, size, across, each, run, all };
            assert_eq!(map.layers(), layers);
            let mut found = Vec::new();
            for cell in map.all_cells() {
                let (x, y) = map.corner(cell);
                assert_eq!(map.at((x + 3.9, y + 0.1)), Some(cell));
                let [layer, column, row] = cell;
                for group in map.groups(cell).flatten() {
                    let (number, at) = (group / run, group / run % (size[0] * size[1]));
                    assert_eq!(
                        [number / (size[0] * size[1]), at % size[0] / each, at / size[0] / each],
                        [layer, column, row]
                    );
                    assert!(map.span(cell).contains(&group));
                    found.push(group);
                }
            }
            found.sort_unstable();
            assert_eq!(found, (0..all).collect::<Vec<_>>());
            assert_eq!(map.at((9.9, 21.0)), None);
            let (right, _) = map.corner([across - 1, map.cells()[0], 0]);
            assert_eq!(map.at((right + 0.1, 21.0)), None, "beside the last one, or between layers");
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
