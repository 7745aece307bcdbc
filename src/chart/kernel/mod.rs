//! Pictures of a kernel that ran: what its items did to memory, which ways they went, its source with what lines cost.
//!
//! ```text
//! +-- title, what ran ------------------------------------------+
//! | memory: items across, events down    | divergence: a ring   |
//! | ####|####  read a[i]     2-way       |  for each class of   |
//! | ==== barrier =====                   |  warps               |
//! | ##  |      write a[i]                | branchings: bars     |
//! | banks: how often each was asked      | source: line by line |
//! +-------------------------------------------------------------+
//! ```
//!
//! Each view by itself fills the picture; all together they share it. Numbers are those of [`KernelBook`], and nothing is counted here
//! but what is drawn. Where items or events are more than there is room for, neighbours share a mark, and the picture says how many.

mod branches;
mod divergence;
mod focus;
mod groups;
mod memory;
mod pixels;
mod source;
mod values;

pub use focus::{Focus, Lit, Matrix, Places, Spot, told};
pub use groups::{GroupMap, told_of_group};
pub use pixels::ImagePlace;

use super::canvas::{Anchor, Chart, Look, signs};
use super::role::Role;
use crate::kernel::{Branching, GroupRecord, KernelBook};
use crate::scene::palette::Theme;
use crate::units::{counted, grouped};
use std::collections::BTreeMap;

/// A view of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelView {
    /// All of them.
    All,
    /// Items across, events down.
    Memory,
    /// A ring for each class of warps that branch alike.
    Divergence,
    /// How many items went each way.
    Branches,
    /// The source with what its lines cost.
    Source,
    /// Buffers and textures that are pictures.
    Image,
    /// What `// @emit` told.
    Values,
    /// A map of the groups of the launch.
    Groups,
}

impl KernelView {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Self; 8] = [
        Self::All,
        Self::Memory,
        Self::Divergence,
        Self::Branches,
        Self::Source,
        Self::Image,
        Self::Values,
        Self::Groups,
    ];

    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Memory => "memory",
            Self::Divergence => "divergence",
            Self::Branches => "branches",
            Self::Source => "source",
            Self::Image => "image",
            Self::Values => "values",
            Self::Groups => "groups",
        }
    }

    /// What it shows, for people.
    #[must_use]
    pub const fn what(self) -> &'static str {
        match self {
            Self::All => "all views of a kernel in one picture",
            Self::Memory => "what the items of a group did to memory, and its banks",
            Self::Divergence => "a ring for each class of warps that branch alike",
            Self::Branches => "how many items went each way",
            Self::Source => "the source of a kernel with what its lines cost",
            Self::Image => "buffers and textures of a kernel that are pictures",
            Self::Values => "values that `// @emit` in the source tells",
            Self::Groups => "a map of the groups of a launch: what each costs",
        }
    }

    /// Draws it of the nth group that is kept.
    #[must_use]
    pub fn draw(self, book: &KernelBook, group: usize, focus: &Focus, now: Option<f64>, look: Look) -> Drawing {
        self.draw_with(book, group, focus, now, (look, true))
    }

    /// Draws it without saying which kernel it is of: one of several pictures of it.
    #[must_use]
    pub fn draw_bare(self, book: &KernelBook, group: usize, focus: &Focus, now: Option<f64>, look: Look) -> Drawing {
        self.draw_with(book, group, focus, now, (look, false))
    }

    fn draw_with(
        self,
        book: &KernelBook,
        group: usize,
        focus: &Focus,
        now: Option<f64>,
        (look, titled): (Look, bool),
    ) -> Drawing {
        let none = GroupRecord::default();
        let record = book.groups.get(group).unwrap_or(&none);
        let mut title = format!("{}, entry {}", book.file, book.entry);
        if !book.place.is_empty() {
            title = format!("{title}, {}", book.place);
        }
        let mut sheet = Sheet {
            chart: match titled {
                true => Chart::new(look, &title, &about(book, record, signs(look.size[0] - 32.0, 5.8))),
                false => Chart::bare(look, &title),
            },
            places: Places::default(),
            book,
            record,
            focus,
            now,
            ways: ways(book),
        };
        let [width, height] = look.size;
        let top = if titled { 52.0 } else { 8.0 };
        let whole = Area { x: 16.0, y: top, w: width - 32.0, h: height - top - 8.0 };
        match self {
            Self::All => sheet.all(whole),
            Self::Memory => sheet.memory(whole),
            Self::Divergence => sheet.divergence(whole),
            Self::Branches => sheet.branches(whole),
            Self::Source => sheet.source(whole),
            Self::Image => sheet.images(whole),
            Self::Values => sheet.values(whole),
            Self::Groups => sheet.groups(whole),
        }
        Drawing { chart: sheet.chart, places: sheet.places }
    }
}

/// A view that is drawn.
#[derive(Debug)]
pub struct Drawing {
    /// The picture.
    pub chart: Chart,
    /// What is where.
    pub places: Places,
}

/// Room for a picture of so many pixels: type is as large as it must be to be read, and grows with the picture from there on.
#[must_use]
pub fn look_of_pixels(theme: Theme, (width, height): (u32, u32)) -> Look {
    let [width, height] = [f64::from(width.max(1)), f64::from(height.max(1))];
    let unit = (1.25 * (width / 1280.0).min(height / 720.0)).max(1.0);
    Look::of_units(theme, [width / unit, height / unit])
}

/// A part of a picture.
#[derive(Debug, Clone, Copy)]
struct Area {
    x: f64,
    y: f64,
    w: f64,
    h: f64,
}

impl Area {
    fn right(self) -> f64 {
        self.x + self.w
    }

    /// What is left of it below `by` units.
    fn below(self, by: f64) -> Self {
        Self { y: self.y + by, h: (self.h - by).max(0.0), ..self }
    }
}

/// A way that items went, and how many did, of all warps.
#[derive(Debug, Clone)]
struct Way {
    branching: Branching,
    items: u64,
}

impl Way {
    /// How it is written: its ifs; where there was none, the tests of loops, or the cases.
    fn pattern(branching: &Branching) -> String {
        let cases: Vec<String> = branching.cases.iter().map(u32::to_string).collect();
        match (branching.pattern.as_str(), branching.pattern_with_loops.as_str(), cases.is_empty()) {
            ("", "", true) => "no condition".into(),
            ("", "", false) => format!("cases {}", cases.join(" ")),
            ("", loops, _) => format!("loops {loops}"),
            (ifs, ..) => ifs.to_owned(),
        }
    }

    /// How it is written where another way has the same ifs: with what tells the two apart.
    fn label(&self, all: &[Self]) -> String {
        let pattern = Self::pattern(&self.branching);
        let same = all.iter().filter(|other| Self::pattern(&other.branching) == pattern).count();
        let Branching { pattern: ifs, pattern_with_loops: loops, cases, .. } = &self.branching;
        if same < 2 || ifs.is_empty() {
            return pattern;
        }
        let cases: Vec<String> = cases.iter().map(u32::to_string).collect();
        match (loops == ifs, cases.is_empty()) {
            (true, true) => pattern,
            (false, true) => format!("{loops} with loops"),
            (true, false) => format!("{ifs}, cases {}", cases.join(" ")),
            (false, false) => format!("{loops} with loops, cases {}", cases.join(" ")),
        }
    }

    /// All that tells it from others.
    fn said(branching: &Branching) -> String {
        let mut said = Self::pattern(branching);
        if branching.pattern_with_loops != branching.pattern && !branching.pattern.is_empty() {
            said = format!("{said}, with tests of loops {}", branching.pattern_with_loops);
        }
        if !branching.cases.is_empty() && !branching.pattern_with_loops.is_empty() {
            let cases: Vec<String> = branching.cases.iter().map(u32::to_string).collect();
            said = format!("{said}, cases {}", cases.join(" "));
        }
        said
    }
}

/// All ways, those of most items first.
fn ways(book: &KernelBook) -> Vec<Way> {
    let mut all: BTreeMap<(&str, &str, &[u32]), (&Branching, u64)> = BTreeMap::new();
    for proxy in &book.run.counts.proxy_warps {
        for way in &proxy.branchings {
            let key = (way.pattern.as_str(), way.pattern_with_loops.as_str(), way.cases.as_slice());
            all.entry(key).or_insert((way, 0)).1 += way.lanes as u64 * proxy.warps;
        }
    }
    let mut ways: Vec<Way> =
        all.into_values().map(|(branching, items)| Way { branching: branching.clone(), items }).collect();
    ways.sort_by_key(|way| std::cmp::Reverse(way.items));
    ways
}

/// What ran, in a line of so many signs: what has no room is left out.
fn about(book: &KernelBook, record: &GroupRecord, most: usize) -> String {
    let counts = &book.run.counts;
    let groups = book.run.taken.end - book.run.taken.start;
    // What is wrong comes first: it has room where nothing else has.
    let mut parts = Vec::new();
    match counts.races.len() {
        0 => {}
        1 => parts.push("1 race".into()),
        races => parts.push(format!("{races} races")),
    }
    if !book.run.lone.is_empty() {
        parts.push("a barrier in divergent flow".into());
    }
    let outside: u64 = book.run.outside.iter().map(|outside| outside.count).sum();
    if outside > 0 {
        parts.push(format!("{} past the end", counted(outside, "access")));
    }
    parts.extend([
        format!("{} in {} of {}", counted(counts.work_items, "item"), counted(groups, "group"), record.items),
        format!(
            "{}, {} {}",
            counted(counts.warps, "model warp"),
            grouped(counts.divergent_warps),
            if counts.divergent_warps == 1 { "diverges" } else { "diverge" }
        ),
    ]);
    if let Some(banks) = counts.banks.iter().find(|banks| banks.group == record.group && banks.accesses > 0) {
        parts.push(format!(
            "group {}: {} of {} warp accesses to banks conflict",
            record.group,
            grouped(banks.conflicting),
            grouped(banks.accesses)
        ));
    }
    let mut out = String::new();
    for part in parts {
        let longer = if out.is_empty() { part } else { format!("{out}  ·  {part}") };
        if longer.chars().count() > most && !out.is_empty() {
            break;
        }
        out = longer;
    }
    out
}

/// A picture that is being drawn.
struct Sheet<'a> {
    chart: Chart,
    places: Places,
    book: &'a KernelBook,
    record: &'a GroupRecord,
    focus: &'a Focus,
    now: Option<f64>,
    ways: Vec<Way>,
}

/// Units of type: headings, and what is below them.
const HEAD: f64 = 11.0;
const SMALL: f64 = 9.0;
/// Width of a letter, of the size of type.
const LETTER: f64 = 0.56;

/// Signs of type of a size that there is room for.
fn fitting(room: f64, size: f64) -> usize {
    signs(room, LETTER * size)
}

/// Units that words take.
fn length(words: &str, size: f64) -> f64 {
    LETTER * size * super::canvas::wide(words)
}

impl Sheet<'_> {
    /// All views beside each other. Where there is little room, the source is left out.
    fn all(&mut self, area: Area) {
        let gap = 20.0;
        let left = Area { w: (area.w - gap) * 0.58, ..area };
        let right = Area { x: left.right() + gap, w: area.w - left.w - gap, ..area };
        self.memory(left);
        let with_source = area.h > 420.0;
        let shares = if with_source { [0.32, 0.25] } else { [0.52, 0.48] };
        let rings = Area { h: right.h * shares[0] - 8.0, ..right };
        self.divergence(rings);
        // No more than its rows take.
        let rows = 16.0 + 12.0 * f64::from(u32::try_from(self.ways.len()).unwrap_or(u32::MAX).min(400)) + 4.0;
        let bars = Area { h: (right.h * shares[1] - 8.0).min(rows), ..right.below(rings.h + 8.0) };
        self.branches(bars);
        if with_source {
            self.source(right.below(rings.h + bars.h + 18.0));
        }
    }

    /// A heading, and of what can be said beside it the first that there is room for, in full.
    fn heading(&mut self, area: Area, name: &str, more: &[&str]) {
        self.chart.strong((area.x, area.y + HEAD), Anchor::Start, HEAD, Role::Body, name);
        let from = 1.12 * length(name, HEAD) + 8.0;
        if let Some(more) = more.iter().find(|more| length(more, SMALL) <= area.w - from) {
            self.chart.text((area.x + from, area.y + HEAD), Anchor::Start, SMALL, Role::Quiet, more);
        }
    }

    /// Words that end where the room does.
    fn words(&mut self, at: (f64, f64), room: f64, size: f64, role: Role, words: &str) {
        let words = crate::shown::short(words, fitting(room, size)).into_owned();
        self.chart.text(at, Anchor::Start, size, role, &words);
    }

    /// Digits below each other where they stand below each other in other rows; how far they reach.
    fn digits(&mut self, (x, y): (f64, f64), room: f64, size: f64, digits: &str, role: impl Fn(char) -> Role) -> f64 {
        let each = 0.66 * size;
        let all = digits.chars().count();
        let most = fitting_digits(room, each);
        let shown = if all > most { most.saturating_sub(1) } else { all };
        let mut at = x;
        for digit in digits.chars().take(shown) {
            self.chart.text((at + each / 2.0, y), Anchor::Middle, size, role(digit), &digit.to_string());
            at += each;
        }
        if all > shown {
            self.chart.text((at + each / 2.0, y), Anchor::Middle, size, Role::Quiet, "…");
            at += each;
        }
        at - x
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few digits")]
fn fitting_digits(room: f64, each: f64) -> usize {
    (room / each).max(1.0) as usize
}

/// The colour of the nth way; those past the last colour share one.
fn way_role(n: usize) -> (Role, Role) {
    match u8::try_from(n) {
        Ok(n) if n < 12 => (Role::Region(n), Role::OnRegion(n)),
        _ => (Role::Quiet, Role::Ground),
    }
}
