//! The source view: what ran, what conditions said, what lines cost. Lines that nobody carried out are faded and say so.

use super::focus::Spot;
use super::{Area, HEAD, SMALL, Sheet, length};
use crate::chart::canvas::Anchor;
use crate::chart::role::Role;
use crate::units::grouped;
use std::collections::BTreeMap;

/// From line to line.
const PITCH: f64 = 13.0;

/// What is counted of a line.
#[derive(Clone, Copy, Default)]
struct Costs {
    /// Accesses of items.
    accesses: u64,
    /// Transactions beyond one, of banks.
    extra: u64,
    /// Warps that its condition parted.
    parted: u64,
    /// Items for which a condition held, or that went on in a loop; and those that did not.
    decided: [u64; 2],
}

/// A column: its heading, its number, and whether the number is a cost, which has heat.
type Column = (&'static str, fn(&Costs) -> u64, bool);

/// Whether a column has a number for a line: of a condition both sides, of costs what is more than nothing.
fn is_told((_, of, heat): Column, cost: &Costs) -> bool {
    of(cost) > 0 || !heat && cost.decided != [0; 2]
}

const COLUMNS: [Column; 5] = [
    ("true", |costs| costs.decided[0], false),
    ("false", |costs| costs.decided[1], false),
    ("accesses", |costs| costs.accesses, true),
    ("conflicts", |costs| costs.extra, true),
    ("parted", |costs| costs.parted, true),
];

impl Sheet<'_> {
    /// What each line costs.
    fn costs(&self) -> BTreeMap<u32, Costs> {
        let (run, counts) = (&self.book.run, &self.book.run.counts);
        let mut out: BTreeMap<u32, Costs> = BTreeMap::new();
        for (site, used) in run.sites.iter().zip(&counts.uses) {
            let line = out.entry(site.line).or_default();
            line.accesses += used.items;
            line.extra += used.extra;
        }
        for (line, (_, parted)) in &counts.parted {
            out.entry(*line).or_default().parted += parted;
        }
        for (line, decided) in &counts.decided {
            let costs = out.entry(*line).or_default();
            for side in 0..2 {
                costs.decided[side] += decided.ifs[side] + decided.loops[side];
            }
        }
        out
    }

    #[expect(clippy::cast_precision_loss, reason = "places on a picture")]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 9, and few lines")]
    pub(super) fn source(&mut self, area: Area) {
        let text: Vec<String> = self.book.text.lines().map(str::to_owned).collect();
        let costs = self.costs();
        // An item that is pointed at has its own digits in place of the counts of all.
        let digits = self.focus.item.is_some() && !self.record.decisions.is_empty();
        let used: Vec<Column> = COLUMNS
            .into_iter()
            .filter(|(_, of, heat)| (*heat || !digits) && costs.values().any(|costs| of(costs) > 0))
            .collect();
        let most: Vec<u64> = used.iter().map(|(_, of, _)| costs.values().map(of).max().unwrap_or(0)).collect();
        let column = |n: usize| {
            let longest = grouped(most[n]);
            length(&longest, SMALL).max(length(used[n].0, SMALL)) + 10.0
        };
        let mut right = area.right();
        let mut columns = Vec::new();
        for n in (0..used.len()).rev() {
            let wide = column(n);
            // The code keeps the better half.
            if right - wide - area.x < 0.42 * area.w {
                continue;
            }
            columns.push((n, right - wide, wide));
            right -= wide;
        }
        let body = area.below(HEAD + 8.0);
        let shown = self.lines_shown(&costs, text.len(), ((body.h / PITCH) as usize).max(1));
        let part = format!("{} to {}", shown.start + 1, shown.end);
        let more = [format!("lines {part} of {}", text.len()), format!("lines {part}"), part];
        let more: Vec<&str> = more.iter().filter(|_| shown.len() < text.len()).map(String::as_str).collect();
        self.heading(Area { w: right - area.x, ..area }, "Source", &more);
        for (n, x, wide) in &columns {
            self.chart.text((x + wide - 4.0, area.y + HEAD), Anchor::End, SMALL, Role::Quiet, used[*n].0);
        }
        for (row, number) in shown.clone().enumerate() {
            let line = u32::try_from(number + 1).unwrap_or(u32::MAX);
            let y = body.y + PITCH * row as f64;
            let baseline = y + 0.5 * PITCH + 0.36 * SMALL;
            let pointed = self.focus.line == Some(line);
            if pointed {
                self.chart.rect((area.x, y), (right - area.x, PITCH), Role::Grid, "");
            }
            self.places.spots.push(([area.x, y, area.right(), y + PITCH], Spot::Line(line)));
            let ran = self.book.run.counts.heat.get(&line).is_some_and(|items| *items > 0);
            let dead = self.book.run.lines.contains(&line) && !ran;
            let number = if pointed { Role::Mark } else { Role::Quiet };
            self.chart.text((area.x + 20.0, baseline), Anchor::End, SMALL, number, &line.to_string());
            let mut room = right - area.x - 28.0;
            if dead {
                let words = "never ran";
                room -= length(words, SMALL) + 6.0;
                self.chart.text((right - 4.0, baseline), Anchor::End, SMALL, Role::Quiet, words);
            }
            if digits {
                let own = self.focus.digits(self.record, line);
                if !own.is_empty() {
                    let wide = (0.66 * SMALL * own.len() as f64).min(0.4 * room);
                    room -= wide + 8.0;
                    self.digits((right - wide - 6.0, baseline), wide, SMALL, &own, |digit| {
                        if digit == '1' { Role::Act(0) } else { Role::Warn }
                    });
                }
            }
            let comment = text[line as usize - 1].trim_start().starts_with("//");
            let role = if dead {
                Role::Faded
            } else if comment {
                Role::Quiet
            } else {
                Role::Ink
            };
            let none = Costs::default();
            let cost = costs.get(&line).unwrap_or(&none);
            // Where nothing is counted, words have that room.
            if !dead && !digits {
                let shown = columns.iter().filter(|(n, ..)| is_told(used[*n], cost)).map(|(_, x, _)| *x);
                room = shown.fold(area.right(), f64::min) - area.x - 32.0;
            }
            self.code((area.x + 28.0, baseline), room, &text[line as usize - 1], role);
            for (n, x, wide) in &columns {
                let (name, of, heat) = used[*n];
                let value = of(cost);
                if !is_told(used[*n], cost) {
                    continue;
                }
                let step = (9.0 * value as f64 / most[*n].max(1) as f64).ceil() as u8;
                if heat {
                    let said = format!("line {line}, {name}: {}", grouped(value));
                    self.chart.rect((x + 1.0, y + 0.5), (wide - 2.0, PITCH - 1.0), Role::Heat(step), &said);
                }
                let ink = if heat { Role::OnHeat(step) } else { Role::Body };
                self.chart.text((x + wide - 4.0, baseline), Anchor::End, SMALL, ink, &grouped(value));
            }
        }
    }

    /// Lines that there is room for: around the one that is pointed at, else where most of those are that cost something.
    fn lines_shown(&self, costs: &BTreeMap<u32, Costs>, all: usize, room: usize) -> std::ops::Range<usize> {
        if all <= room {
            return 0..all;
        }
        let within = |from: usize| {
            let lines = u32::try_from(from + 1).unwrap_or(0)..u32::try_from(from + room + 1).unwrap_or(u32::MAX);
            costs.range(lines.clone()).count() + self.book.run.lines.range(lines).count()
        };
        // The first of the best; a little before it where that costs nothing.
        let best = (0..=all - room).max_by_key(|from| (within(*from), std::cmp::Reverse(*from))).unwrap_or(0);
        let from = match self.focus.line.map(|line| line as usize) {
            Some(line) if line > best + room || line <= best => line.saturating_sub(room / 2).min(all - room),
            _ => best,
        };
        from..from + room
    }

    /// A line of code: blanks at its start have a width of their own, whatever the type.
    #[expect(clippy::cast_precision_loss, reason = "a few blanks")]
    fn code(&mut self, (x, y): (f64, f64), room: f64, line: &str, role: Role) {
        let blanks: usize =
            line.chars().take_while(|sign| sign.is_whitespace()).map(|sign| if sign == '\t' { 4 } else { 1 }).sum();
        let indent = (0.5 * SMALL * blanks as f64).min(0.5 * room);
        // What has no room is cut at the end: a line is read from its start.
        let (line, most) = (line.trim(), super::fitting(room - indent, 0.93 * SMALL));
        let whole = line.chars().count() <= most;
        let words =
            if whole { line.to_owned() } else { line.chars().take(most.saturating_sub(1)).chain(['…']).collect() };
        self.chart.text((x + indent, y), Anchor::Start, SMALL, role, &words);
    }
}
