//! The memory view: items across, events down, banks below.
//!
//! ```text
//! memory of group 0     read [] write [] barrier []
//!    warp 0    warp 1
//! 0  ######### ######### 14 write sdata[tid]
//!    ========= ========= 18 workgroupBarrier
//! 1  #########           22 read sdata[index]        2-way
//!    ---------           a bar below: two words of a bank are wanted
//! banks 0 1 2 3 ... 31   most: bank 0, 26 words
//! ```

use super::focus::{Lit, Matrix, Spot, told};
use super::{Area, HEAD, SMALL, Sheet, counted, length};
use crate::chart::canvas::Anchor;
use crate::chart::role::Role;
use crate::kernel::{Act, BankUse, Doing, Row, Space, WarpUse};
use crate::units::grouped;

/// Least and greatest height of a row, and the least width of a column.
const LEAST_ROW: f64 = 2.0;
const MOST_ROW: f64 = 28.0;
const LEAST_COLUMN: f64 = 1.0;
/// Columns from this width on are drawn one by one.
const SINGLE: f64 = 3.0;
/// Words of rows stand so far from each other at least.
const PITCH: f64 = 11.0;
/// Between warps.
const SEAM: f64 = 3.0;
/// For logical time, on the left.
const GUTTER: f64 = 22.0;
/// For the strip of banks.
const STRIP: f64 = 36.0;
/// Type of the numbers of banks.
const STRIP_TYPE: f64 = 8.0;

/// What a mark shows: the kind, and how much it belongs to what is pointed at.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Shown {
    kind: u8,
    lit: Lit,
}

impl Shown {
    fn role(self) -> Role {
        match self.lit {
            Lit::Same => Role::Mark,
            Lit::Beside => Role::Beside,
            Lit::No => Role::Act(self.kind),
        }
    }
}

const KINDS: [&str; 5] = ["read", "write", "atomic", "barrier", "storage barrier"];

impl Sheet<'_> {
    /// Which of [`KINDS`] a row is.
    fn kind(&self, row: &Row) -> u8 {
        match (row.doing, self.book.act(row)) {
            (Doing::Barrier { storage: true, .. }, _) => 4,
            (Doing::Barrier { .. }, _) | (_, None) => 3,
            (_, Some(Act::Read)) => 0,
            (_, Some(Act::Write)) => 1,
            (_, Some(Act::Atomic)) => 2,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "places on a picture")]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "few rows and columns")]
    pub(super) fn memory(&mut self, area: Area) {
        let record = self.record;
        let banks = self.book.bank_use(record);
        let strip = banks.iter().any(|bank| bank.asked > 0);
        let labels = (0.36 * area.w).min(230.0);
        let top = 2.0 * (HEAD + 6.0) + 12.0;
        let cells = Area {
            x: area.x + GUTTER,
            y: area.y + top,
            w: area.w - GUTTER - labels - 8.0,
            h: area.h - top - if strip { STRIP } else { 2.0 },
        };
        let rows_each = ((record.rows.len() as f64 * LEAST_ROW / cells.h).ceil() as usize).max(1);
        let count = record.rows.len().div_ceil(rows_each);
        let warps = record.items.div_ceil(self.book.hardware.warp).max(1);
        let seam = SEAM.min(0.2 * cells.w / warps as f64);
        let items_each = ((record.items as f64 * LEAST_COLUMN / cells.w).ceil() as usize).max(1);
        let columns = record.items.div_ceil(items_each).max(1);
        let wide = (cells.w - seam * (warps - 1) as f64) / columns as f64;
        let x = |column: usize| {
            let warp = column * items_each / self.book.hardware.warp;
            cells.x + wide * column as f64 + seam * warp as f64
        };
        let high = (cells.h / count.max(1) as f64).clamp(0.1, MOST_ROW);
        let matrix = Matrix {
            columns: (0..columns).map(|column| (x(column), wide)).collect(),
            items_each,
            rows: (cells.y, high),
            rows_each,
            count,
        };
        self.memory_head(area, &matrix);
        for (n, rows) in record.rows.chunks(rows_each).enumerate() {
            let y = cells.y + high * n as f64;
            self.row(n * rows_each, rows, y, &matrix);
        }
        self.row_words(&matrix, area.right() - labels, labels);
        self.now_line(&matrix);
        if strip {
            let y = cells.y + high * count as f64 + 4.0;
            self.bank_strip(banks, Area { x: cells.x, y, w: cells.w, h: STRIP }, area.right() - labels, labels);
        }
        if let Some((column, item)) = self.focus.item.map(|item| (item / items_each, item)) {
            let [_, top, _, bottom] = matrix.area();
            if let Some((x, wide)) = matrix.columns.get(column).copied() {
                for x in [x - 0.5, x + wide] {
                    self.chart.line((x, top - 2.0), (x, bottom), Role::Ink, 0.6, false);
                }
                let words = format!("item {item}");
                let half = 0.5 * length(&words, SMALL);
                let at = (x + wide / 2.0).clamp(cells.x + half, cells.x + cells.w - half);
                self.chart.strong((at, top - 4.5), Anchor::Middle, SMALL, Role::Ink, &words);
            }
        }
        self.places.matrix = Some(matrix);
    }

    /// What is shown, what colours mean, how many share a mark, which columns are a warp's.
    fn memory_head(&mut self, area: Area, matrix: &Matrix) {
        let record = self.record;
        let mut more = vec!["items across, events down".to_owned()];
        if matrix.rows_each > 1 || matrix.items_each > 1 {
            let mut each = Vec::new();
            if matrix.items_each > 1 {
                each.push(format!("a column is {} items", matrix.items_each));
            }
            if matrix.rows_each > 1 {
                each.push(format!("a row is {} events", matrix.rows_each));
            }
            more = vec![each.join(", ")];
        }
        let first = more.concat();
        if record.left > 0 {
            more.push(format!("{} more not kept", counted(record.left, "event")));
        } else if self.book.left_groups > 0 {
            more.push(format!("{} more not kept", counted(self.book.left_groups, "group")));
        }
        // What is left out matters more than what a mark is.
        let last = more.last().cloned().unwrap_or_default();
        let both = more.join("; ");
        let name = format!("Memory of group {}", record.group);
        self.heading(area, &name, &[&both, &last, &first]);
        let used: Vec<u8> = (0..5).filter(|kind| record.rows.iter().any(|row| self.kind(row) == *kind)).collect();
        let mut at = area.x + GUTTER;
        let y = area.y + 2.0 * HEAD + 5.0;
        let mut entry = |sheet: &mut Self, role: Role, thin: bool, words: &str| {
            let wide = length(words, SMALL) + 26.0;
            if at + wide > area.right() {
                return;
            }
            let (top, high) = if thin { (y - 3.0, 2.5) } else { (y - 8.0, 9.0) };
            sheet.chart.rect((at, top), (10.0, high), role, "");
            sheet.chart.text((at + 14.0, y), Anchor::Start, SMALL, Role::Body, words);
            at += wide;
        };
        for kind in used {
            entry(self, Role::Act(kind), kind > 2, KINDS[usize::from(kind)]);
        }
        if record.rows.iter().flat_map(|row| &row.warps).any(|used| used.degree > 1) {
            entry(self, Role::Warn, true, "bank conflict of a warp");
        }
        let pointed = self.pointed();
        if !pointed.is_empty() {
            entry(self, Role::Mark, false, &pointed);
        }
        let warp = self.book.hardware.warp;
        let y = matrix.rows.0 - 4.5;
        if self.focus.item.is_some() {
            return;
        }
        for number in 0..record.items.div_ceil(warp) {
            let (first, last) = (number * warp, ((number + 1) * warp).min(record.items) - 1);
            let ends = [first, last].map(|item| matrix.columns.get(item / matrix.items_each).copied());
            if let [Some((left, _)), Some((right, wide))] = ends {
                let room = right + wide - left;
                let long = format!("warp {number}: items {first} to {last}");
                let words = if length(&long, SMALL) < room { long } else { format!("warp {number}") };
                if length(&words, SMALL) < room {
                    self.chart.text((left, y), Anchor::Start, SMALL, Role::Quiet, &words);
                }
            }
        }
    }

    /// What is pointed at, in words.
    fn pointed(&self) -> String {
        let focus = self.focus;
        match (focus.word, focus.banks.as_slice(), focus.line) {
            (Some((shared, address)), ..) => {
                let name = self.book.shared.get(shared).map_or("", |shared| shared.name.as_str());
                format!("{}, byte {address}", crate::shown::short(name, 16))
            }
            (_, [bank, ..], _) => format!("bank {bank}"),
            (_, _, Some(line)) => format!("line {line}"),
            _ => String::new(),
        }
    }

    /// Rows that share one: each column has what most of them have.
    fn row(&mut self, first: usize, rows: &[Row], y: f64, matrix: &Matrix) {
        let high = matrix.rows.1;
        let gap = if high > 5.0 { 1.0 } else { 0.0 };
        let barrier = rows.iter().all(|row| matches!(row.doing, Doing::Barrier { .. }));
        let shown = self.columns(rows, matrix);
        let single = matrix.items_each == 1 && matrix.columns.first().is_some_and(|(_, wide)| *wide >= SINGLE);
        let (top, tall) = if barrier && high > 3.0 { (y + 0.3 * high, 0.35 * high) } else { (y, high - gap) };
        let warp = self.book.hardware.warp;
        let mut from = 0;
        while from < shown.len() {
            let end = |n: usize| matrix.columns[n].0 + matrix.columns[n].1;
            let same = |n: usize| {
                shown[n] == shown[from] && (n * matrix.items_each) / warp == (from * matrix.items_each) / warp
            };
            // Idle items are one mark for each warp; so are all where they are narrow, and barriers.
            let alone = single && shown[from].is_some() && !barrier;
            let to = if alone { from + 1 } else { (from..shown.len()).find(|n| !same(*n)).unwrap_or(shown.len()) };
            let cut = if alone { (0.12 * matrix.columns[from].1).min(0.8) } else { 0.0 };
            let (left, right) = (matrix.columns[from].0, end(to - 1) - cut);
            match shown[from] {
                Some(mark) => {
                    let said = self.said(first, rows, (from * matrix.items_each, to * matrix.items_each));
                    self.chart.rect((left, top), (right - left, tall), mark.role(), &said);
                }
                None if !barrier && high > 1.2 => {
                    self.chart.rect((left, y), (right - left, high - gap), Role::Grid, "");
                }
                None => {}
            }
            from = to;
        }
        let thick = (0.2 * high).clamp(0.8, 2.5);
        for number in 0..self.record.items.div_ceil(warp) {
            let used: Vec<&WarpUse> =
                rows.iter().flat_map(|row| &row.warps).filter(|used| used.warp == number && used.degree > 1).collect();
            let Some(worst) = used.iter().map(|used| used.degree).max() else { continue };
            let extra: u64 = used.iter().map(|used| used.degree - 1).sum();
            let columns = number * warp / matrix.items_each..((number + 1) * warp).div_ceil(matrix.items_each);
            let lit: Vec<usize> = columns.filter(|column| shown.get(*column).is_some_and(Option::is_some)).collect();
            if let (Some(first), Some(last)) = (lit.first(), lit.last()) {
                let (left, right) = (matrix.columns[*first].0, matrix.columns[*last].0 + matrix.columns[*last].1);
                let times = if used.len() > 1 {
                    format!("{} bank conflicts, the worst", used.len())
                } else {
                    "bank conflict".into()
                };
                let said = format!("warp {number}: {times} {worst}-way, {}", counted(extra, "extra transaction"));
                self.chart.rect((left, y + high - thick - 0.3 * gap), (right - left, thick), Role::Warn, &said);
            }
        }
    }

    /// What columns show: what most of their events are, barriers last; lit where any of them is.
    fn columns(&self, rows: &[Row], matrix: &Matrix) -> Vec<Option<Shown>> {
        let mut found = vec![([0u32; 5], Lit::No); matrix.columns.len()];
        for row in rows {
            let kind = usize::from(self.kind(row));
            let light = (!self.focus.is_none()).then(|| self.focus.of_row(self.book, row));
            for (n, item) in row.items.iter().enumerate() {
                let Some((kinds, lit)) = found.get_mut(item / matrix.items_each) else { break };
                kinds[kind] += 1;
                if let Some(light) = &light {
                    *lit = (*lit).max(light.at(row.addresses.get(n).copied()));
                }
            }
        }
        let shown = |(kinds, lit): ([u32; 5], Lit)| {
            let most = |range: std::ops::Range<usize>| {
                range.filter(|kind| kinds[*kind] > 0).max_by_key(|kind| (kinds[*kind], *kind))
            };
            let kind = most(0..3).or_else(|| most(3..5))?;
            Some(Shown { kind: u8::try_from(kind).unwrap_or(0), lit })
        };
        found.into_iter().map(shown).collect()
    }

    /// What is said of a mark: of one item, all; of more, what they share.
    fn said(&self, first: usize, rows: &[Row], (from, to): (usize, usize)) -> String {
        if self.now.is_some() {
            // Where there is a playhead, what is pointed at is found by its place, and thousands of sentences would be for nobody.
            return String::new();
        }
        let to = to.min(self.record.items);
        let who = if to - from == 1 { format!("item {from}") } else { format!("items {from} to {}", to - 1) };
        let [row] = rows else {
            return format!("{who}: events {} to {}", grouped(first as u64), grouped((first + rows.len()) as u64 - 1));
        };
        if to - from == 1 {
            return told(self.book, row, from).join(", ");
        }
        let what = match self.book.site(row) {
            Some(site) => format!("{} {}", site.act.word(), site.words),
            None => KINDS[usize::from(self.kind(row))].to_owned(),
        };
        format!("{who}: {what}, line {}, time {}", row.line, row.time)
    }

    /// What rows are, where there is room for words: those that cost first.
    #[expect(clippy::cast_precision_loss, reason = "places on a picture")]
    fn row_words(&mut self, matrix: &Matrix, x: f64, room: f64) {
        let (top, high) = matrix.rows;
        let record = self.record;
        let cost = |row: &Row| row.warps.iter().any(|used| used.degree > 1);
        let mut order: Vec<usize> = (0..matrix.count).collect();
        let rows_of =
            |n: usize| &record.rows[n * matrix.rows_each..((n + 1) * matrix.rows_each).min(record.rows.len())];
        order.sort_by_key(|n| {
            let rows = rows_of(*n);
            let barrier = rows.iter().all(|row| matches!(row.doing, Doing::Barrier { .. }));
            (!rows.iter().any(cost), barrier, *n)
        });
        let mut taken: Vec<f64> = Vec::new();
        for n in order {
            let y = top + high * (n as f64 + 0.5);
            if taken.iter().any(|other| (other - y).abs() < PITCH.min(high.max(PITCH))) {
                continue;
            }
            taken.push(y);
            let rows = rows_of(n);
            let row = rows.iter().find(|row| cost(row)).unwrap_or(&rows[0]);
            self.row_label(row, (x, y + 0.36 * SMALL), room);
        }
        // Logical time, where it changes.
        let mut free = f64::NEG_INFINITY;
        let mut before = None;
        for n in 0..matrix.count {
            let (time, y) = (rows_of(n)[0].time, top + high * n as f64);
            if before != Some(time) && y >= free && !matches!(rows_of(n)[0].doing, Doing::Barrier { .. }) {
                let left = matrix.columns.first().map_or(0.0, |(x, _)| *x);
                let at = (left - 6.0, y + (0.5 * high).max(3.0) + 0.36 * SMALL);
                self.chart.text(at, Anchor::End, SMALL, Role::Quiet, &time.to_string());
                (free, before) = (y + PITCH, Some(time));
            }
        }
    }

    fn row_label(&mut self, row: &Row, (x, y): (f64, f64), room: f64) {
        let line = 18.0;
        self.chart.text((x + line - 4.0, y), Anchor::End, SMALL, Role::Quiet, &row.line.to_string());
        let Some(site) = self.book.site(row) else {
            let came = row.items.count();
            let lone = if came < self.record.items { format!(" of {came} items only") } else { String::new() };
            let role = if lone.is_empty() { Role::Quiet } else { Role::Warn };
            let words = format!("{}{lone}", KINDS[usize::from(self.kind(row))]);
            self.words((x + line, y), room - line, SMALL, role, &words);
            return;
        };
        let (mut cost, role) = self.cost(row);
        // What was accessed says more than how many sectors that are.
        if room - line - length(&cost, SMALL) < 70.0
            && let Some((_, used)) = cost.split_once(", ")
        {
            cost = used.to_owned();
        }
        let wide = if cost.is_empty() { 0.0 } else { length(&cost, SMALL) + 8.0 };
        let words = format!("{} {}", site.act.word(), site.words);
        self.words((x + line, y), (room - line - wide).max(20.0), SMALL, Role::Body, &words);
        if !cost.is_empty() {
            self.chart.text((x + room, y), Anchor::End, SMALL, role, &cost);
        }
    }

    /// What a row costs: ways of conflicts; sectors, and how much of them is used.
    fn cost(&self, row: &Row) -> (String, Role) {
        let Some(site) = self.book.site(row) else { return (String::new(), Role::Quiet) };
        if self.book.space(site) == Space::Workgroup {
            let degree = row.warps.iter().map(|used| used.degree).max().unwrap_or(0);
            return if degree > 1 { (format!("{degree}-way"), Role::Warn) } else { (String::new(), Role::Quiet) };
        }
        let sum = |of: fn(&WarpUse) -> u64| row.warps.iter().map(of).sum::<u64>();
        let (sectors, bytes) = (sum(|used| used.sectors), sum(|used| used.bytes));
        let used = 100 * bytes / (sectors * u64::from(self.book.hardware.sector)).max(1);
        (
            format!("{}, {used}% used", counted(sectors, "sector")),
            if used < 50 && sectors > row.warps.len() as u64 { Role::Warn } else { Role::Quiet },
        )
    }

    /// The playhead.
    #[expect(clippy::cast_precision_loss, reason = "places on a picture")]
    fn now_line(&mut self, matrix: &Matrix) {
        let Some(now) = self.now else { return };
        let [left, top, right, bottom] = matrix.area();
        let y = (top + matrix.rows.1 * now / matrix.rows_each as f64).clamp(top, bottom);
        self.chart.line((left - 4.0, y), (right + 4.0, y), Role::Ink, 1.2, false);
    }

    /// How often each bank was asked, and where that conflicted.
    #[expect(clippy::cast_precision_loss, reason = "places on a picture")]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 9")]
    fn bank_strip(&mut self, banks: &[BankUse], area: Area, x: f64, room: f64) {
        let most = banks.iter().map(|bank| bank.asked).max().unwrap_or(1).max(1);
        let worst = banks.iter().map(|bank| bank.conflicting).max().unwrap_or(0);
        let wide = area.w / banks.len().max(1) as f64;
        let (top, high) = (area.y + 2.0, 15.0);
        // Numbers stand in the cells where the longest does, else below some of them.
        let longest = length(&banks.len().saturating_sub(1).to_string(), STRIP_TYPE);
        let inside = longest + 1.0 < wide;
        let every = (1..).map(|n| 1usize << n).find(|every| wide * *every as f64 > 2.0 * longest).unwrap_or(64);
        for (n, bank) in banks.iter().enumerate() {
            let left = area.x + wide * n as f64;
            let step = (9.0 * bank.asked as f64 / most as f64).ceil() as u8;
            let number = u32::try_from(n).unwrap_or(0);
            let lit = self.focus.banks.contains(&number);
            let said = format!(
                "bank {n}: {} asked for; {} of warps",
                counted(bank.asked, "word"),
                counted(bank.conflicting, "conflict")
            );
            let gap = (0.1 * wide).min(1.0);
            let role = if lit { Role::Mark } else { Role::Heat(step) };
            self.chart.rect((left, top), (wide - gap, high), role, &said);
            self.places.spots.push(([left, top, left + wide, top + high + 8.0], Spot::Bank(number)));
            if bank.conflicting > 0 {
                let tall = 1.5 + 4.5 * bank.conflicting as f64 / worst.max(1) as f64;
                self.chart.rect((left, top + high + 1.0), (wide - gap, tall), Role::Warn, &said);
            }
            let words = number.to_string();
            if inside {
                let ink = if lit { Role::Ground } else { Role::OnHeat(step) };
                let at = (left + (wide - gap) / 2.0, top + 0.5 * high + 0.36 * STRIP_TYPE);
                self.chart.text(at, Anchor::Middle, STRIP_TYPE, ink, &words);
            } else if n % every == 0 && (n + every / 2 < banks.len() || n == 0) || n + 1 == banks.len() {
                let anchor = if n == 0 {
                    Anchor::Start
                } else if n + 1 == banks.len() {
                    Anchor::End
                } else {
                    Anchor::Middle
                };
                let at = match anchor {
                    Anchor::Start => left,
                    Anchor::Middle => left + wide / 2.0,
                    Anchor::End => left + wide,
                };
                self.chart.text((at, top + high + 16.0), anchor, STRIP_TYPE, Role::Quiet, &words);
            }
        }
        let (n, bank) = match self.focus.banks[..] {
            [bank, ..] if self.focus.word.is_none() => (bank as usize, banks.get(bank as usize).copied()),
            _ => banks
                .iter()
                .copied()
                .enumerate()
                .rev()
                .max_by_key(|(_, bank)| bank.asked)
                .map_or((0, None), |(n, bank)| (n, Some(bank))),
        };
        self.chart.text((area.x - 4.0, top + 0.5 * high + 0.36 * SMALL), Anchor::End, STRIP_TYPE, Role::Quiet, "bank");
        let Some(bank) = bank else { return };
        let least = banks.iter().map(|bank| bank.asked).min().unwrap_or(0);
        let fits = |all: &[String]| -> String {
            all.iter().find(|words| length(words, SMALL) <= room).or(all.last()).cloned().unwrap_or_default()
        };
        let words = match least == most {
            true => fits(&[format!("each bank: {}", counted(most, "word")), counted(most, "word")]),
            false => {
                let short = format!("bank {n}: {}", counted(bank.asked, "word"));
                fits(&[format!("{short}; least {}", grouped(least)), short])
            }
        };
        self.words((x, top + 0.5 * high), room, SMALL, Role::Body, &words);
        let words = match worst {
            0 => "no conflicts".to_owned(),
            _ => {
                let short = counted(bank.conflicting, "conflict");
                fits(&[format!("{short} of warps in it"), short])
            }
        };
        self.words((x, top + 0.5 * high + 11.0), room, SMALL, if worst > 0 { Role::Warn } else { Role::Quiet }, &words);
    }
}
