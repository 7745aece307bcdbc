//! The values view: what `// @emit` told of the items of a group.
//!
//! ```text
//! sdata[tid]   line 22: 63 values of 32 items, 32 to 2016; a line for each item
//! 2000 |                          ___
//!      |                 ____----
//!    0 |______-----_____
//!        1st      2nd      3rd     ...
//! ```
//!
//! Bars and dots stand above their items; lines go from the first value of an item to its last; areas are an item's values upon each other.
//! What is told after the playhead is pale.

use super::{Area, HEAD, SMALL, Sheet, counted, length};
use crate::chart::canvas::Anchor;
use crate::chart::role::Role;
use crate::kernel::{Emit, ValueForm, Values};
use crate::units::grouped;

/// Charts that are drawn.
const MOST: usize = 6;
/// Lines, dots or bars of a chart, at most.
const MARKS: usize = 6000;
/// Of a chart, for its name; and for the numbers below it and to the left of it.
const CAPTION: f64 = 17.0;
const BELOW: f64 = 14.0;
const LEFT: f64 = 44.0;
const GAP: f64 = 16.0;

/// A value of an item: which one of its own, the first being 0, and whether it is told by now.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Told {
    item: usize,
    time: usize,
    value: f64,
    past: bool,
}

/// The values of an emit in a group.
struct Series {
    told: Vec<Told>,
    /// Values of an item at most.
    times: usize,
    items: usize,
    /// How many are no finite number.
    odd: usize,
}

impl Series {
    fn of(values: &[Values], emit: usize, items: usize, now: Option<f64>) -> Self {
        let (mut counts, mut told, mut odd) = (vec![0; items], Vec::new(), 0);
        for values in values.iter().filter(|values| values.emit == emit) {
            #[expect(clippy::cast_precision_loss, reason = "a row of a group")]
            let past = now.is_none_or(|now| values.row as f64 <= now);
            for (item, value) in values.items.iter().zip(&values.values) {
                let Some(time) = counts.get_mut(item) else { continue };
                match value.is_finite() {
                    true => told.push(Told { item, time: *time, value: f64::from(*value), past }),
                    false => odd += 1,
                }
                *time += 1;
            }
        }
        Self { told, times: counts.into_iter().max().unwrap_or(0), items, odd }
    }

    /// How it is drawn where the source does not say.
    fn form(&self) -> ValueForm {
        if self.times > 1 { ValueForm::Lines } else { ValueForm::Bars }
    }

    /// The values of each item, in order.
    fn by_item(&self) -> Vec<Vec<Told>> {
        let mut out = vec![Vec::new(); self.items];
        self.told.iter().for_each(|told| out[told.item].push(*told));
        out
    }
}

/// Where values are: the least and the greatest of the axis, and the room.
#[derive(Clone, Copy)]
struct Scale {
    range: [f64; 2],
    room: Area,
}

impl Scale {
    fn new(values: impl Iterator<Item = f64>, with_0: bool, room: Area) -> Self {
        let start = if with_0 { [0.0, 0.0] } else { [f64::MAX, f64::MIN] };
        let [low, high] = values.fold(start, |[low, high], value| [low.min(value), high.max(value)]);
        // All alike: the axis goes one further.
        let range = if high > low { [low, high] } else { [low.min(high), low.max(high) + 1.0] };
        Self { range, room }
    }

    fn y(self, value: f64) -> f64 {
        let [low, high] = self.range;
        self.room.y + self.room.h * (1.0 - (value - low) / (high - low))
    }

    /// The left edge of the nth of `all`.
    fn x(self, n: usize, all: usize) -> f64 {
        self.room.x + self.room.w * float(n) / float(all.max(1))
    }
}

impl Sheet<'_> {
    pub(super) fn values(&mut self, area: Area) {
        self.heading(area, "Values", &["what `// @emit` told of the items of the group", "told by `// @emit`"]);
        let body = area.below(HEAD + 8.0);
        let emits = self.book.emits.clone();
        if emits.is_empty() {
            self.notice(
                body,
                &[
                    "No value of this kernel is told.",
                    "Write `// @emit EXPRESSION` after a statement, as in",
                    "`sum += a[i]; // @emit sum`, and it is drawn here.",
                ],
            );
            return;
        }
        let shown = emits.len().min(MOST);
        let columns = if shown > 2 && area.w > 520.0 { 2 } else { 1 };
        let rows = shown.div_ceil(columns);
        let wide = (body.w - GAP * (float(columns) - 1.0)) / float(columns);
        let high = (body.h - GAP * (float(rows) - 1.0)) / float(rows);
        for (n, emit) in emits.iter().take(shown).enumerate() {
            let [column, row] = [float(n % columns), float(n / columns)];
            // The last one has what is left of its row.
            let w = if n + 1 == shown { body.w - column * (wide + GAP) } else { wide };
            let cell = Area { x: body.x + column * (wide + GAP), y: body.y + row * (high + GAP), w, h: high };
            self.value_chart(cell, n, emit);
        }
        if emits.len() > shown {
            let words = format!("and {} more", counted((emits.len() - shown) as u64, "value"));
            self.chart.text((area.right(), area.y + HEAD), Anchor::End, SMALL, Role::Quiet, &words);
        }
    }

    /// Says what there is not, and what one would do.
    pub(super) fn notice(&mut self, area: Area, lines: &[&str]) {
        for (n, words) in lines.iter().enumerate() {
            let role = if n == 0 { Role::Body } else { Role::Quiet };
            self.words((area.x, area.y + HEAD + 13.0 * float(n)), area.w, SMALL + 1.0, role, words);
        }
    }

    fn value_chart(&mut self, cell: Area, number: usize, emit: &Emit) {
        let series = Series::of(&self.record.values, number, self.record.items, self.now);
        let form = emit.form.unwrap_or(series.form());
        let name = crate::shown::short(&emit.words, super::fitting(0.5 * cell.w, SMALL + 1.0)).into_owned();
        let baseline = cell.y + HEAD;
        self.chart.strong((cell.x, baseline), Anchor::Start, SMALL + 1.0, Role::Body, &name);
        let from = 1.12 * length(&name, SMALL + 1.0) + 8.0;
        let told: std::collections::BTreeSet<usize> = series.told.iter().map(|told| told.item).collect();
        let values = counted((series.told.len() + series.odd) as u64, "value");
        let range = series.told.iter().fold(None, |range: Option<[f64; 2]>, told| {
            let [low, high] = range.unwrap_or([told.value; 2]);
            Some([low.min(told.value), high.max(told.value)])
        });
        let place = format!("line {}", emit.line);
        let mut most = format!("{place}: {values} of {}", counted(told.len() as u64, "item"));
        if let Some([low, high]) = range {
            most = format!("{most}, {} to {}", super::pixels::short(low), super::pixels::short(high));
        }
        let odd = if series.odd > 0 {
            format!("; {} of them no finite number", grouped(series.odd as u64))
        } else {
            String::new()
        };
        let drawn = match form {
            ValueForm::Bars if series.times > 1 => "; the last of each item",
            ValueForm::Bars => "",
            ValueForm::Lines => "; a line for each item",
            ValueForm::Scatter => "; a dot for each value",
            ValueForm::Areas => "; those of an item upon each other",
        };
        let all = [format!("{most}{odd}{drawn}"), format!("{most}{odd}"), most, place];
        if let Some(words) = all.iter().find(|words| length(words, SMALL) <= cell.w - from) {
            self.chart.text((cell.x + from, baseline), Anchor::Start, SMALL, Role::Quiet, words);
        }
        let room = Area {
            x: cell.x + LEFT,
            y: cell.y + CAPTION + 4.0,
            w: (cell.w - LEFT - 4.0).max(1.0),
            h: (cell.h - CAPTION - BELOW - 6.0).max(1.0),
        };
        if series.told.is_empty() {
            let words = format!("no item of group {} came by here", self.record.group);
            self.words((cell.x, room.y + HEAD), cell.w, SMALL, Role::Quiet, &words);
            return;
        }
        let scale = match form {
            ValueForm::Areas => Scale::new(stacks(&series).into_iter().flatten(), true, room),
            _ => {
                let values = series.told.iter().map(|told| told.value);
                Scale::new(values, form == ValueForm::Bars, room)
            }
        };
        self.value_axes(&scale, &series, form);
        match form {
            ValueForm::Bars => self.value_bars(&scale, &series),
            ValueForm::Lines => self.value_lines(&scale, &series),
            ValueForm::Scatter => self.value_dots(&scale, &series),
            ValueForm::Areas => self.value_areas(&scale, &series),
        }
    }

    /// Numbers of values on the left, of items or of times below.
    fn value_axes(&mut self, scale: &Scale, series: &Series, form: ValueForm) {
        let Scale { range: [low, high], room } = *scale;
        let middle = 0.5 * (low + high);
        let mut numbers = vec![low, high];
        if low < 0.0 && high > 0.0 {
            numbers.push(0.0);
        } else if room.h > 60.0 {
            numbers.push(middle);
        }
        for number in numbers {
            let y = scale.y(number);
            self.chart.line((room.x, y), (room.right(), y), Role::Grid, 0.8, false);
            // A number beside the ends of the axis would stand on them.
            let near = [low, high].iter().any(|end| *end != number && (scale.y(*end) - y).abs() < SMALL);
            if !near {
                let words = super::pixels::short(number);
                self.chart.text((room.x - 5.0, y + 0.36 * SMALL), Anchor::End, SMALL, Role::Quiet, &words);
            }
        }
        let y = room.y + room.h + SMALL + 3.0;
        if form == ValueForm::Lines {
            self.chart.text((room.x, y), Anchor::Start, SMALL, Role::Quiet, "1st value of an item");
            if series.times > 1 {
                let last = format!("{}{}", series.times, ordinal(series.times));
                self.chart.text((room.right(), y), Anchor::End, SMALL, Role::Quiet, &last);
            }
            return;
        }
        self.chart.text((room.x, y), Anchor::Start, SMALL, Role::Quiet, "item 0");
        let last = (series.items.max(1) - 1).to_string();
        self.chart.text((room.right(), y), Anchor::End, SMALL, Role::Quiet, &last);
    }

    fn is_focused(&self, item: usize) -> bool {
        self.focus.item == Some(item)
    }

    fn value_bars(&mut self, scale: &Scale, series: &Series) {
        let items = series.by_item();
        // Neighbours share a bar where there are too many: the one that reaches farthest.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "units of a picture")]
        let each = items.len().div_ceil((scale.room.w.max(1.0) as usize).min(MARKS)).max(1);
        let groups = items.len().div_ceil(each);
        let wide = scale.room.w / float(groups.max(1));
        let gap = if wide > 4.0 { 1.0 } else { 0.0 };
        for (n, chunk) in items.chunks(each).enumerate() {
            let last = chunk.iter().filter_map(|told| told.last());
            let Some(told) = last.max_by(|a, b| a.value.abs().total_cmp(&b.value.abs())) else { continue };
            let [y, zero] = [scale.y(told.value), scale.y(0.0)];
            let (top, high) = (y.min(zero), (y - zero).abs().max(0.8));
            let x = scale.room.x + wide * float(n);
            let role = match (self.is_focused(told.item), told.past) {
                (true, _) => Role::Mark,
                (_, true) => Role::Series(0),
                _ => Role::Faded,
            };
            let said = format!("item {}: {}", told.item, super::pixels::short(told.value));
            self.chart.rect((x, top), ((wide - gap).max(0.5), high), role, &said);
        }
        self.value_columns(scale, items.len());
    }

    fn value_lines(&mut self, scale: &Scale, series: &Series) {
        let items = series.by_item();
        let all: Vec<(usize, &Vec<Told>)> = items.iter().enumerate().filter(|(_, told)| !told.is_empty()).collect();
        // Of more than there is room for, every nth.
        let each = series.told.len().div_ceil(MARKS).max(1);
        let times = series.times.max(2) - 1;
        let at = |told: &Told| (scale.x(told.time, times), scale.y(told.value));
        let focused = all.iter().find(|(item, _)| self.is_focused(*item)).copied();
        let width = if all.len() > 64 { 0.7 } else { 1.1 };
        for (n, (item, told)) in all.iter().step_by(each).enumerate() {
            let role = match focused {
                Some(_) => Role::Faded,
                None => Role::Region(u8::try_from((n * 12 / all.len().div_ceil(each).max(1)) % 12).unwrap_or(0)),
            };
            self.value_line(told, &at, role, width, *item);
        }
        if let Some((item, told)) = focused {
            self.value_line(told, &at, Role::Mark, 2.0, item);
        }
    }

    /// The line of an item: pale from the playhead on.
    fn value_line(&mut self, told: &[Told], at: &impl Fn(&Told) -> (f64, f64), role: Role, width: f64, item: usize) {
        let past = told.iter().take_while(|told| told.past).count();
        if past + 1 < told.len() || past == 0 {
            let from = past.saturating_sub(1);
            self.chart.curve(told[from..].iter().map(at).collect(), Role::Faded, width);
        }
        if past > 1 {
            self.chart.curve(told[..past].iter().map(at).collect(), role, width);
        }
        // The last one is where it ends, or all there is.
        for told in told.iter().filter(|one| told.len() == 1 || one.time + 1 == told.len()) {
            let said = format!(
                "item {item}, value {} of {}: {}",
                told.time + 1,
                told.time + 1,
                super::pixels::short(told.value)
            );
            let role = if told.past { role } else { Role::Faded };
            self.chart.dot(at(told), width + 0.7, role, &said);
        }
    }

    fn value_dots(&mut self, scale: &Scale, series: &Series) {
        let each = series.told.len().div_ceil(MARKS).max(1);
        let wide = scale.room.w / float(series.items.max(1));
        let radius = (0.35 * wide).clamp(1.0, 3.0);
        for told in series.told.iter().step_by(each) {
            let x = scale.x(told.item, series.items) + 0.5 * wide;
            let role = match (self.is_focused(told.item), told.past) {
                (true, _) => Role::Mark,
                (_, false) => Role::Faded,
                // Later ones are lighter.
                _ => Role::Heat(
                    u8::try_from(3 + 6 * told.time / series.times.max(2).saturating_sub(1)).unwrap_or(9).min(9),
                ),
            };
            let said = format!("item {}, value {}: {}", told.item, told.time + 1, super::pixels::short(told.value));
            self.chart.dot((x, scale.y(told.value)), radius, role, &said);
        }
        self.value_columns(scale, series.items);
    }

    fn value_areas(&mut self, scale: &Scale, series: &Series) {
        let items = series.by_item();
        let edges: Vec<f64> = (0..=items.len()).map(|n| scale.x(n, items.len())).collect();
        let mut ends = vec![[0.0f64; 2]; items.len()];
        // Layers past the last colour are one.
        let layers = series.times.min(12);
        for layer in 0..layers {
            let last = layer + 1 == layers;
            let mut borders = Vec::with_capacity(items.len());
            for (told, ends) in items.iter().zip(&mut ends) {
                let own = told.iter().filter(|told| told.time == layer || last && told.time > layer);
                let mut from_to: Option<[f64; 2]> = None;
                for value in own.map(|told| told.value) {
                    let side = usize::from(value < 0.0);
                    let from = ends[side];
                    ends[side] += value;
                    let [low, high] = from_to.unwrap_or([from; 2]);
                    from_to = Some([low.min(ends[side]), high.max(ends[side])]);
                }
                let [low, high] = from_to.unwrap_or([ends[0]; 2]);
                borders.push((scale.y(high), scale.y(low)));
            }
            self.chart.columns(edges.clone(), borders, Role::Region(u8::try_from(layer).unwrap_or(0)));
        }
        let zero = scale.y(0.0);
        self.chart.line((scale.room.x, zero), (scale.room.right(), zero), Role::Quiet, 0.8, false);
        self.value_columns(scale, items.len());
    }

    /// Where a pointer rests, its item is found.
    fn value_columns(&mut self, scale: &Scale, items: usize) {
        let Area { y, h, .. } = scale.room;
        for item in 0..items {
            let area = [scale.x(item, items), y, scale.x(item + 1, items), y + h];
            self.places.spots.push((area, super::Spot::Item(item)));
        }
    }
}

/// Sums of the values above and below 0 of each item.
fn stacks(series: &Series) -> Vec<[f64; 2]> {
    let mut out = vec![[0.0; 2]; series.items];
    series.told.iter().for_each(|told| out[told.item][usize::from(told.value < 0.0)] += told.value);
    out
}

/// `st`, `nd`, `rd` or `th`.
fn ordinal(n: usize) -> &'static str {
    match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    }
}

#[expect(clippy::cast_precision_loss, reason = "a few")]
fn float(n: usize) -> f64 {
    n as f64
}
