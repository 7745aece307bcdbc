//! To whom a reference belongs: its region and its source line, as row numbers.
//!
//! An instruction mostly stays in one region, so a small direct-mapped table of *sites* knows, by pc, the source line and the
//! stretch of memory and time in which the last answer about the region still holds. Only what falls out of it is looked
//! up: in a [`RegionFinder`], which remembers by page, and in a sorted array of pcs. All that is counted of a reference but
//! its misses is the same for all references of a site, so they are counted by site, and added up when it gives way.

use super::TraceStats;
use crate::reference::{Kind, LineMap, Reference, RegionFinder, RegionMap, Tables};

/// Sites, as a power of two: instructions of the same KiB of code have slots of their own.
const SITE_BITS: u32 = 10;
const SITES: usize = 1 << SITE_BITS;

/// The rows of a reference: the last region row is for those outside all, the last line row for unknown instructions.
/// Two numbers of 32 bits in one word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Rows(u64);

impl Rows {
    /// Both are below 2^32, the most regions and lines that tables number.
    fn new(region: usize, line: usize) -> Self {
        Self(region as u64 | (line as u64) << 32)
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the low half")]
    pub(super) fn region(self) -> usize {
        (self.0 & u64::from(u32::MAX)) as usize
    }

    #[inline]
    pub(super) fn line(self) -> usize {
        (self.0 >> 32) as usize
    }
}

/// What was counted of references alone.
#[derive(Clone, Debug, Default)]
pub(super) struct Counted {
    pub(super) trace: TraceStats,
    pub(super) dropped_fetches: u64,
    /// References by region row.
    pub(super) by_region: Vec<u64>,
    /// References by line row.
    pub(super) by_line: Vec<u64>,
}

/// Counts references, and says the rows of each.
#[derive(Clone, Debug)]
pub(super) struct Attribution {
    sites: Box<[Site; SITES]>,
    /// Number of the next reference.
    tick: u64,
    /// Whether any region has a lifetime: if not, every site holds for ever.
    timed: bool,
    register: Register,
}

/// What a site is made from, and what comes of it.
#[derive(Clone, Debug)]
struct Register {
    regions: RegionFinder,
    lines: LineMap,
    data_only: bool,
    /// Highest core number seen, plus one.
    cores: u32,
    /// What no site keeps any more.
    counted: Counted,
}

/// References of one instruction, of one size and kind by one core, in one stretch. One cache line of the machine.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Site {
    pc: u64,
    /// See [`manner`].
    manner: u64,
    /// The stretch: from `first` on, `reach + 1` bytes, until reference `to`.
    first: u64,
    reach: u64,
    to: u64,
    rows: Rows,
    /// References since the site began; 0 for a site that never was.
    count: u64,
}

/// Size, core and kind in one word: laid out as in a reference, so that it is one load.
#[inline(always)]
fn manner(reference: &Reference) -> u64 {
    let word = u64::from(reference.size)
        | u64::from(reference.core) << 32
        | u64::from(reference.lane) << 48
        | u64::from(reference.kind as u8) << 56;
    word & !(0xff << 48)
}

/// The slot of a reference's site, by instruction, core and page.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "few bits are left")]
fn slot(pc: u64, manner: u64, page: u64) -> usize {
    // Core c moves the slot by 32 c. Multiplicative hashing (Knuth 1973) of pages: arrays are often a power of two apart.
    let page = page.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SITE_BITS);
    (pc ^ (pc >> SITE_BITS) ^ (manner >> 27) ^ page) as usize % SITES
}

impl Attribution {
    /// For references in the order of their numbers, from 0. Without `by_line` there is one line row.
    pub(super) fn new(tables: &Tables, by_line: bool, data_only: bool) -> Self {
        let lines = if by_line { LineMap::new(tables) } else { LineMap::default() };
        let never = Site { pc: 0, manner: u64::MAX, first: 0, reach: 0, to: 0, rows: Rows::default(), count: 0 };
        let counted = Counted {
            by_region: vec![0; tables.regions.len() + 1],
            by_line: vec![0; lines.len() + 1],
            ..Counted::default()
        };
        let regions = RegionFinder::new(RegionMap::new(&tables.regions));
        Self {
            sites: Box::new([never; SITES]),
            tick: 0,
            timed: tables.regions.iter().any(|region| region.lifetime.is_some()),
            register: Register { regions, lines, data_only, cores: 0, counted },
        }
    }

    /// Whether the sites of these references need care: regions come and go, or no instruction is known.
    pub(super) fn needs_care(&self, block: &[Reference]) -> bool {
        self.timed || block.first().is_some_and(|reference| reference.pc == 0)
    }

    /// Counts the next reference; its rows. `CARE` is as [`Attribution::needs_care`] says.
    #[inline(always)]
    pub(super) fn count<const CARE: bool>(&mut self, reference: &Reference) -> Rows {
        let tick = self.tick;
        self.tick += u64::from(CARE);
        let manner = manner(reference);
        let slot = slot(reference.pc, manner, if CARE && reference.pc == 0 { reference.addr >> 12 } else { 0 });
        let site = &mut self.sites[slot];
        // One branch for all: each alone would be as easy to guess.
        let near = reference.addr.wrapping_sub(site.first) <= site.reach;
        let same = (site.pc ^ reference.pc) | (site.manner ^ manner) == 0;
        if near & same & (!CARE || tick < site.to) {
            site.count += 1;
            return site.rows;
        }
        self.register.begin_site(site, reference, tick)
    }

    /// Says that so many references were counted without care: only with care do they count themselves.
    pub(super) fn passed(&mut self, references: usize) {
        self.tick += references as u64;
    }

    /// All that was counted so far.
    pub(super) fn counted(&self) -> Counted {
        let mut counted = self.register.counted.clone();
        for site in self.sites.iter() {
            counted.add(site, self.register.data_only);
        }
        counted
    }

    /// Highest core number seen, plus one.
    pub(super) fn cores(&self) -> u32 {
        self.register.cores
    }

    /// The trace's regions.
    pub(super) fn regions(&self) -> &RegionMap {
        self.register.regions.map()
    }

    /// Source lines by row, each by its place in the table of locations; unknown instructions have the row after them.
    pub(super) fn places(&self) -> &[usize] {
        self.register.lines.places()
    }
}

impl Register {
    /// Puts the site of a reference in place of another.
    #[inline(never)]
    fn begin_site(&mut self, site: &mut Site, reference: &Reference, tick: u64) -> Rows {
        self.counted.add(site, self.data_only);
        let same = site.pc == reference.pc && site.count > 0;
        let line = if same { site.rows.line() } else { self.lines.row(reference.pc) };
        let stretch = self.regions.locate(reference.addr, tick);
        let region = stretch.region.map_or(self.counted.by_region.len() - 1, |region| region as usize);
        let rows = Rows::new(region, line);
        self.cores = self.cores.max(u32::from(reference.core) + 1);
        *site = Site {
            pc: reference.pc,
            manner: manner(reference),
            first: stretch.first,
            reach: stretch.last - stretch.first,
            to: stretch.to,
            rows,
            count: 1,
        };
        rows
    }
}

impl Counted {
    fn add(&mut self, site: &Site, data_only: bool) {
        let (size, count) = (site.manner & u64::from(u32::MAX), site.count);
        let kind = u8::try_from(site.manner >> 56).ok().and_then(Kind::from_code);
        let (reads, writes, fetches) = match kind {
            Some(Kind::Read) => (count, 0, 0),
            Some(Kind::Write) => (0, count, 0),
            Some(Kind::Modify) => (count, count, 0),
            Some(Kind::Fetch) if data_only => return self.dropped_fetches += count,
            Some(Kind::Fetch) => (0, 0, count),
            None => return,
        };
        self.trace.references += count;
        self.trace.reads += reads;
        self.trace.writes += writes;
        self.trace.fetches += fetches;
        self.trace.bytes += size * (reads + writes + fetches);
        self.by_region[site.rows.region()] += count;
        self.by_line[site.rows.line()] += count;
    }
}
