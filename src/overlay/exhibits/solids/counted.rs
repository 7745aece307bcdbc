//! What solids are made of: the counts of an array's elements in a window of slices, as rows and columns.

use super::memo::Memo;
use crate::overlay::csv::field;
use crate::overlay::pen::Target;
use crate::overlay::shot::Taken;
use crate::overlay::studio::Studio;
use crate::overlay::tip::{Tip, bytes_tip};
use crate::reference::{Region, SourceError};
use crate::scene::View;
use crate::scene::palette::{self, Rgba};
use crate::scene::solids::{Heights, Measure, SolidLook};
use crate::timeline::grid::MOST_SLICES;
use crate::timeline::{Aggregate, Grid, GridCounts, GridError, GridOf, check_grid};
use crate::units::{ByteRange, grouped};
use std::ops::Range;
use std::sync::Arc;

/// Why there is nothing to draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NoCounts {
    /// No array.
    NoArray,
    /// None of this name.
    NotThere(String),
    /// They are being counted, or the trace is still being read.
    Waiting(&'static str),
    /// They cannot be counted.
    Failed(String),
    /// There are no outcomes, so nobody knows misses.
    NoMisses,
    /// Slices that are asked for, from one up to another, past the last of so many.
    PastTheEnd([u32; 2], usize),
}

impl NoCounts {
    /// In words: what is missing, then what is needed.
    pub(super) fn lines(&self) -> Vec<String> {
        let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        match self {
            Self::NoArray => lines(&[
                "No array of this trace has a name.",
                "Solids are elements of arrays: an address, a size of elements, a shape.",
                "`orrery cc` records a program with its arrays and threads;",
                "`orrery convert --tables FILE.json` names those of a trace.",
            ]),
            Self::NotThere(name) => vec![format!("No array is called {name}.")],
            Self::Waiting(why) => lines(&[why]),
            Self::Failed(why) => vec![
                "It cannot be counted.".into(),
                format!("{why}."),
                "--elements INDICES takes a part of an array, --owner DISTRIBUTION says who owns it.".into(),
            ],
            Self::PastTheEnd([from, to], slices) => vec![
                format!("Slices {from} to {to} are not all there: the trace has {slices}, from 0 on."),
                "--slice FROM..TO takes those that there are, --slices N cuts finer, up to one a reference.".into(),
            ],
            Self::NoMisses => lines(&[
                "Misses of single references are not kept for so long a trace.",
                "--measure accesses, reads, writes and others are counted.",
            ]),
        }
    }
}

/// What an exhibit wants where nobody asks for something else.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    /// Slices before the playhead.
    pub(super) latest: usize,
    /// Dimensions of the array, where one has as many.
    pub(super) dimensions: usize,
    /// Whether cores are counted by themselves.
    pub(super) by_core: bool,
}

/// Slices of the last interval, where nobody asks for others.
pub(super) const INTERVAL: usize = 8;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Counted {
    pub(super) grid: Arc<Grid>,
    /// Slices that are shown.
    pub(super) window: Range<usize>,
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// The block that stands at row 0, column 0.
    first: usize,
    /// The array's name, and how it is declared.
    name: String,
    pub(super) array: String,
    /// What of it lies in the plane, and what of it is counted, where that is not all: words that follow its name.
    parts: [String; 2],
    /// Whether one dimension was folded into rows.
    folded: bool,
    aggregate: Aggregate,
}

impl Counted {
    /// Of what is looked at, at a tick; the inner error is what is said in place of a picture.
    pub(super) fn of(
        studio: &mut Studio,
        look: &SolidLook,
        tick: u64,
        wanted: Wanted,
    ) -> Result<Result<Self, NoCounts>, SourceError> {
        let timeline = Arc::clone(studio.timeline());
        if !timeline.is_whole() {
            return Ok(Err(NoCounts::Waiting("The trace is still being read.")));
        }
        let region = match array(studio, look.array.as_deref(), wanted.dimensions) {
            Ok(region) => region,
            Err(why) => return Ok(Err(why)),
        };
        if [Some(look.measure), look.color].iter().flatten().any(|m| matches!(m, Measure::Misses | Measure::Hits))
            && timeline.outcomes().is_none()
        {
            return Ok(Err(NoCounts::NoMisses));
        }
        let of = GridOf {
            region,
            references: 0..timeline.len(),
            slices: look.slices.clamp(1, MOST_SLICES),
            owner: look.owner.clone(),
            core: look.core,
            kind: look.kind,
            by_core: wanted.by_core,
            part: look.part.clone(),
            moves: look.measure.needs_moves() || look.color.is_some_and(Measure::needs_moves),
            spread: look.aggregate.needs_elements(),
        };
        let grid = match studio.grid(&of)? {
            Ok(Some(grid)) => grid,
            Ok(None) => return Ok(Err(NoCounts::Waiting("It is being counted."))),
            Err(why) => return Ok(Err(NoCounts::Failed(why))),
        };
        let window = match look.window {
            Some((from, to)) if to as usize > grid.slices() => {
                return Ok(Err(NoCounts::PastTheEnd([from, to], grid.slices())));
            }
            Some((from, to)) => from as usize..to as usize,
            None => {
                let end = grid.slices_before(tick);
                end.saturating_sub(wanted.latest)..end
            }
        };
        let (rows, columns, first) = match grid.blocks[..] {
            // As square as it can be.
            [n] => {
                let columns = n.isqrt().max(1);
                (n.div_ceil(columns), columns, 0)
            }
            [rows, columns] => (rows, columns, 0),
            // The middle one of several planes.
            [planes, rows, columns] => (rows, columns, planes / 2 * rows * columns),
            _ => return Ok(Err(NoCounts::NoArray)),
        };
        let Some(own) = timeline.tables().regions.get(region) else { return Ok(Err(NoCounts::NoArray)) };
        let (name, array) = (own.name.clone(), own.declaration());
        let parts = [true, false].map(|is_plane| part_words(own, &grid, first, is_plane));
        let folded = grid.blocks.len() == 1;
        Ok(Ok(Self { grid, window, rows, columns, first, name, array, parts, folded, aggregate: look.aggregate }))
    }

    /// The number of a block by that of what is drawn.
    pub(super) fn element(&self, drawn: usize) -> Option<usize> {
        Some(self.first + drawn).filter(|block| *block < self.grid.len())
    }

    /// What is drawn by a measure.
    pub(super) fn heights(&self, look: &SolidLook, memo: &mut Memo) -> Heights {
        let signed = look.measure == Measure::Difference;
        let mut drawn = |below: bool| {
            let number = |counts: &GridCounts| {
                let (above, down) = look.measure.heights(counts);
                if below { down.unwrap_or(0.0) } else { above }
            };
            let key = (below, look.measure, look.aggregate, None, self.window.clone());
            let all = memo.of(&self.grid, key, || self.grid.aggregated(look.aggregate, None, &self.window, &number));
            let number = |n: usize| all.get(self.first + n).copied().unwrap_or(0.0);
            (0..self.rows * self.columns).map(|n| look.kept(number(n))).collect::<Vec<f64>>()
        };
        let (above, below) = (drawn(false), if signed { drawn(true) } else { Vec::new() });
        Heights { rows: self.rows, columns: self.columns, above, below, signed }
    }

    /// What colours of a plane tell, where that is something else than heights.
    pub(super) fn colors(&self, look: &SolidLook, memo: &mut Memo) -> Option<(Measure, Vec<f64>)> {
        let measure = look.color?;
        let all = self.numbers(measure, &self.window, memo);
        let number = |n: usize| all.get(self.first + n).copied().unwrap_or(0.0);
        Some((measure, (0..self.rows * self.columns).map(number).collect()))
    }

    /// First bytes of the first and of the last element of a block.
    pub(super) fn addresses(&self, region: &Region, block: usize) -> Option<[u64; 2]> {
        let layout = region.layout().ok()?;
        let [first, last] = self.grid.elements(block);
        Some([
            layout.address(&first).or_else(|| layout.address_of_number(first[0]))?,
            layout.address(&last).unwrap_or(0),
        ])
        .map(|[first, last]| [first, last.max(first)])
    }

    /// The block of the element that holds a byte, where it is counted.
    pub(super) fn block_of(&self, region: &Region, addr: u64) -> Option<usize> {
        if !(region.base..region.end()).contains(&addr) {
            return None;
        }
        self.grid.block_of(&region.layout().ok()?.indices(addr)?)
    }

    /// Row and column of the element that holds a byte, where it is drawn.
    pub(super) fn cell_of(&self, region: &Region, addr: u64) -> Option<[usize; 2]> {
        let drawn = self.block_of(region, addr)?.checked_sub(self.first)?;
        (drawn < self.rows * self.columns).then(|| [drawn / self.columns, drawn % self.columns])
    }

    /// What each block has by a measure in a window of slices.
    pub(super) fn numbers(&self, measure: Measure, window: &Range<usize>, memo: &mut Memo) -> Arc<[f64]> {
        let key = (false, measure, self.aggregate, None, window.clone());
        memo.of(&self.grid, key, || self.numbers_of(None, measure, window))
    }

    /// The same of one core, or of all, made anew.
    pub(super) fn numbers_of(&self, core: Option<usize>, measure: Measure, window: &Range<usize>) -> Vec<f64> {
        self.grid.aggregated(self.aggregate, core, window, &|counts| measure.of(counts))
    }

    /// Index of the first row or column, and how many of the array's one of the picture is: of the last dimensions of those that are
    /// counted along, `back` from the end.
    pub(super) fn index(&self, back: usize) -> [u64; 2] {
        let at = self.grid.blocks.len().checked_sub(back + 1).filter(|_| !self.folded);
        at.map_or([0, 1], |n| [self.grid.from[n], self.grid.per[n]])
    }

    /// What is known of a block, in words.
    pub(super) fn words(&self, block: usize) -> Vec<String> {
        let counts = self.grid.counts(block, self.window.clone());
        let both = |what: &str, local: u64, remote: u64| {
            format!("{what}: {} local, {} remote", grouped(local), grouped(remote))
        };
        let mut lines = vec![
            both("reads", counts.local_reads, counts.remote_reads),
            both("writes", counts.local_writes, counts.remote_writes),
        ];
        if self.grid.has_misses {
            lines.push(format!("misses: {}", grouped(counts.misses)));
        }
        if self.grid.of.moves {
            let (evicted, invalid) = (grouped(counts.evictions), grouped(counts.invalidations));
            lines.push(format!("evictions: {evicted}, invalidations: {invalid}"));
        }
        lines.push(match self.grid.owners.get(block).copied().flatten() {
            Some(core) => format!("owner: core {core}"),
            None if self.grid.elements_a_block() > 1 => "owners: several cores".into(),
            None => "owner: nobody".into(),
        });
        lines
    }

    /// Which slices and references, in words.
    pub(super) fn when(&self) -> String {
        let Range { start, end } = self.window;
        let (from, to) = (self.grid.begins(start), self.grid.begins(end));
        format!("slices {start} to {end} of {}: references {} to {}", self.grid.slices(), grouped(from), grouped(to))
    }

    /// The array, of the program or trace of this name, with the indices that are fixed: of a plane, or of all that is counted.
    pub(super) fn title(&self, of: &str, is_plane: bool) -> String {
        let part = &self.parts[usize::from(!is_plane)];
        let of = if of.is_empty() { String::new() } else { format!("{of}: ") };
        format!("{of}{}{part}", self.array)
    }

    /// Which slices, and whose accesses.
    pub(super) fn told(&self, look: &SolidLook) -> String {
        let cores = match self.grid.cores {
            1 => "1 core".to_owned(),
            n => format!("{n} cores"),
        };
        format!("{}; {cores}, owner {}", self.when(), look.owner)
    }

    /// What is pinned, and what the reference under way touches: an address, and the colour that marks it.
    pub(super) fn marked(&self, studio: &Studio, view: &View, tick: u64) -> Result<Vec<(u64, Rgba)>, SourceError> {
        let mut now = None;
        studio.timeline().each(tick..tick.saturating_add(1), |_, reference| now = Some(reference.addr))?;
        let pinned = view.pin.map(|pin| (pin.first, palette::BURST));
        Ok(now.map(|addr| (addr, palette::LIGHT)).into_iter().chain(pinned).collect())
    }

    /// What is told of a block that is pointed at.
    pub(super) fn tip(&self, studio: &Studio, taken: &Taken, block: usize) -> Option<Tip> {
        let region = studio.tables().regions.get(self.grid.of.region)?;
        let [first, last] = self.addresses(region, block)?;
        let bytes = ByteRange::new(first, u64::from(region.elem_bytes.max(1)));
        let mut tip = bytes_tip(studio, &taken.info.colors, bytes, taken.info.position.phase() > 0.0);
        if first != last {
            tip.title = format!("{} … {}", region.element_name(first), region.element_name(last));
            tip.lines.truncate(0);
        }
        tip.lines.splice(0..0, self.words(block));
        tip.about = Some(Target::Bytes(bytes));
        Some(tip)
    }

    /// What one has to know to read the picture of a plane rightly.
    pub(super) fn note(&self, look: &SolidLook) -> Option<String> {
        let drawn = (0..self.rows * self.columns).filter_map(|drawn| self.element(drawn));
        let sum = drawn.map(|block| self.grid.counts(block, self.window.clone()).accesses()).sum::<u64>();
        let mut notes = self.notes_on(sum);
        if self.folded && self.rows > 1 {
            notes.push(format!("its one dimension in rows of {}", self.columns));
        }
        notes.extend(left_out(look));
        (!notes.is_empty()).then(|| notes.join("; "))
    }

    /// As [`Counted::note`], of all that is counted.
    pub(super) fn notes(&self) -> Vec<String> {
        let all = 0..self.grid.len();
        self.notes_on(all.map(|block| self.grid.counts(block, self.window.clone()).accesses()).sum())
    }

    /// Of so many accesses.
    fn notes_on(&self, sum: u64) -> Vec<String> {
        let per = self.grid.elements_a_block();
        let mut notes = Vec::new();
        if sum == 0 {
            notes.push(match (self.grid.of.core, self.grid.of.kind) {
                (Some(core), _) => format!("no access of core {core} to this array in these slices"),
                (_, Some(kind)) => format!("no {} of this array in these slices", kind.name()),
                _ => "no access to this array in these slices".to_owned(),
            });
        } else if self.grid.cores < 2 {
            notes.push(
                "all references are of one core, so every access is local; `orrery cc -pthread` records threads as cores".to_owned(),
            );
        }
        if per > 1 {
            notes.push(format!("a block stands for {} elements: {}", grouped(per), of_block(self.aggregate)));
        }
        notes
    }

    /// All numbers of all planes, a line for each block.
    pub(super) fn csv_of_all(&self) -> String {
        let mut text = format!("plane,row,column,{}\n", self.columns_of_csv());
        for block in 0..self.grid.len() {
            let plane = block / self.columns / self.rows;
            let cell = [block / self.columns % self.rows, block % self.columns];
            text.push_str(&format!("{plane},{}", self.line(block, cell)));
        }
        text
    }

    /// All numbers of the plane, a line for each element.
    pub(super) fn csv(&self) -> String {
        let mut text = format!("row,column,{}\n", self.columns_of_csv());
        for drawn in 0..self.rows * self.columns {
            let Some(block) = self.element(drawn) else { continue };
            text.push_str(&self.line(block, [drawn / self.columns, drawn % self.columns]));
        }
        text
    }

    /// The first and the last element of a block, or the only one.
    fn elements(&self, block: usize) -> String {
        let name = |indices: &[u64]| {
            let indices: String = indices.iter().map(|index| format!("[{index}]")).collect();
            format!("{}{indices}", self.name)
        };
        match self.grid.elements(block) {
            [first, last] if first == last => name(&first),
            [first, last] => format!("{}..{}", name(&first), name(&last)),
        }
    }

    fn line(&self, block: usize, [row, column]: [usize; 2]) -> String {
        let c = self.grid.counts(block, self.window.clone());
        let owner = self.grid.owners[block].map_or_else(String::new, |core| core.to_string());
        let misses = if self.grid.has_misses { c.misses.to_string() } else { String::new() };
        let moves = if self.grid.of.moves { format!(",{},{}", c.evictions, c.invalidations) } else { String::new() };
        format!(
            "{row},{column},{},{owner},{},{},{},{},{misses},{}{moves}\n",
            field(&self.elements(block)),
            c.local_reads,
            c.remote_reads,
            c.local_writes,
            c.remote_writes,
            c.bytes
        )
    }

    fn columns_of_csv(&self) -> String {
        let moves = if self.grid.of.moves { ",evictions,invalidations" } else { "" };
        format!("elements,owner,local_reads,remote_reads,local_writes,remote_writes,misses,bytes{moves}")
    }
}

/// What of its elements a block tells, in words.
pub(super) fn of_block(aggregate: Aggregate) -> &'static str {
    match aggregate {
        Aggregate::Sum => "their sum",
        Aggregate::Min => "the least that one has",
        Aggregate::Mean => "their mean",
        Aggregate::Max => "the most that one has",
    }
}

/// What of an array is counted, or lies in the plane that begins at a block, as words that follow its name; nothing where that is all.
fn part_words(region: &Region, grid: &Grid, block: usize, is_plane: bool) -> String {
    let [at, _] = grid.elements(block);
    let mut along = 0;
    let mut words = Vec::new();
    for (dimension, fixed) in grid.fixed.iter().enumerate() {
        if let Some(index) = fixed {
            words.push(format!("[{index}]"));
            continue;
        }
        let (from, many) = (grid.from[along], grid.extents[along]);
        let extent = region.shape.get(dimension).copied().unwrap_or_else(|| region.elements());
        let is_middle = is_plane && along == 0 && grid.blocks.len() == 3;
        words.push(match (is_middle, from == 0 && many == extent) {
            (true, _) => format!("[{}]", at[dimension]),
            (_, true) => "[*]".to_owned(),
            (_, false) => format!("[{from}..{}]", from + many),
        });
        along += 1;
    }
    words.truncate(words.iter().rposition(|word| word != "[*]").map_or(0, |last| last + 1));
    let words = words.concat();
    if words.is_empty() { words } else { format!(", of which {}{words}", region.name) }
}

/// That a threshold leaves something out.
pub(super) fn left_out(look: &SolidLook) -> Option<String> {
    look.threshold.filter(|least| *least > 0).map(|least| format!("what has fewer than {} is left out", grouped(least)))
}

/// What is asked for that the trace does not have, with the flag that asks for it.
#[must_use]
pub fn refused(studio: &Studio, look: &SolidLook) -> Option<String> {
    let timeline = studio.timeline();
    if !timeline.is_whole() {
        return None;
    }
    if let (Some(core), Ok(cores)) = (look.core, timeline.source().cores())
        && u32::from(core) >= cores
    {
        let last = cores.saturating_sub(1);
        return Some(format!("--of-core {core}: expected a core of the trace, 0 to {last}"));
    }
    // Exhibits may choose different arrays; one that has what is asked for is enough.
    let array = |dimensions: usize| array(studio, look.array.as_deref(), dimensions).ok();
    let mut wrong = [2, 3].into_iter().filter_map(array).map(|region| {
        let why = timeline.tables().regions.get(region).map(|own| check_grid(own, &look.owner, &look.part));
        why.and_then(Result::err)
    });
    let first = wrong.next()??;
    let flag = match first {
        GridError::Dimensions { .. } => "--owner",
        GridError::Part { .. } | GridError::PartDimensions { .. } | GridError::Large { .. } => "--elements",
        _ => return None,
    };
    wrong.all(|why| why.is_some()).then(|| format!("{flag}: {first}"))
}

/// The array of this name, or the one with most references of those with most dimensions, of which more than `dimensions` count as that many.
fn array(studio: &Studio, name: Option<&str>, dimensions: usize) -> Result<usize, NoCounts> {
    let regions = &studio.tables().regions;
    if let Some(name) = name {
        let found = regions.iter().position(|region| region.name == name && !region.is_unnamed());
        return found.ok_or_else(|| NoCounts::NotThere(name.to_owned()));
    }
    let timeline = studio.timeline();
    let (shares, _) = timeline.regions_over(0..timeline.len());
    let touched = |n: usize| shares.get(n).map_or(0, |share| share.references);
    let all =
        regions.iter().enumerate().filter(|(n, region)| !region.is_unnamed() && region.bytes > 0 && touched(*n) > 0);
    let most = all.max_by_key(|(n, region)| {
        let extents = region.shape.iter().filter(|extent| **extent > 1).count();
        (extents.min(dimensions), touched(*n), std::cmp::Reverse(*n))
    });
    most.map(|(n, _)| n).ok_or(NoCounts::NoArray)
}
