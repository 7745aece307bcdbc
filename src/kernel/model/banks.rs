//! What memory makes of the accesses of a warp: banks of workgroup memory, sectors and lines of the others.

use super::Hardware;
use crate::kernel::code::Site;
use crate::kernel::program::Space;
use crate::kernel::record::Access;
use std::ops::Range;

/// Bank conflicts of one group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Banks {
    /// Which group.
    pub group: u64,
    /// Accesses of warps: one for each place in the source and each time any item of the warp is there.
    pub accesses: u64,
    /// Those that want two words of one bank, or more.
    pub conflicting: u64,
    /// Transactions that these cost beyond one each.
    pub extra: u64,
    /// Words of one bank that an access wants at most.
    pub max_degree: u64,
}

/// Accesses of one site.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SiteUse {
    /// Accesses of warps.
    pub accesses: u64,
    /// Accesses of items.
    pub items: u64,
    /// Of workgroup memory: those that conflict, extra transactions, greatest degree.
    pub conflicting: u64,
    /// Transactions beyond one for each access.
    pub extra: u64,
    /// Words of one bank at most.
    pub max_degree: u64,
    /// Of storage and uniform memory: sectors that were touched.
    pub sectors: u64,
    /// Lines that were touched.
    pub lines: u64,
    /// Different bytes that were asked for.
    pub bytes: u64,
    /// Items that do an atomic operation on a word at which another item of the warp does one.
    pub contended: u64,
}

/// Looks at accesses as the hardware would.
#[derive(Debug)]
pub(super) struct Memories {
    hardware: Hardware,
    pub(super) groups: Vec<Banks>,
    pub(super) sites: Vec<SiteUse>,
    /// Sectors that the group touched so far.
    pub(super) touched: u64,
    /// Room for the words of one access.
    words: Vec<u64>,
    degrees: Vec<u64>,
}

impl Memories {
    pub(super) fn new(hardware: Hardware, sites: usize) -> Self {
        let degrees = vec![0; hardware.banks as usize];
        let sites = vec![SiteUse::default(); sites];
        Self { hardware, groups: Vec::new(), sites, touched: 0, words: Vec::new(), degrees }
    }

    pub(super) fn begin(&mut self, group: u64) {
        self.touched = 0;
        self.groups.push(Banks { group, ..Banks::default() });
    }

    pub(super) fn access(&mut self, access: &Access<'_>, site: &Site, space: Space, atomic: bool) {
        let warp = self.hardware.warp;
        let mut items = access.items.iter().peekable();
        while let Some(first) = items.next() {
            let number = first / warp;
            self.words.clear();
            let mut count = 0;
            let mut next = Some(first);
            while let Some(item) = next {
                let start = access.addresses[item];
                match space {
                    Space::Workgroup => self.words.extend(site.words(start, self.hardware.bank_bytes)),
                    _ => self.words.push(start.into()),
                }
                count += 1;
                next = items.next_if(|item| item / warp == number);
            }
            let used = &mut self.sites[access.site];
            used.accesses += 1;
            used.items += count;
            let asked = self.words.len() as u64;
            self.words.sort_unstable();
            self.words.dedup();
            if atomic {
                used.contended += asked - self.words.len() as u64;
            }
            match space {
                Space::Workgroup => self.banks(access.site),
                _ => self.sectors(access.site, site),
            }
        }
    }

    /// How many words of one bank are wanted: each costs a transaction. Items that want the same word share one.
    fn banks(&mut self, site: usize) {
        let degree = degree(&self.words, &mut self.degrees);
        let conflicts = u64::from(degree > 1);
        let extra = degree.saturating_sub(1);
        let used = &mut self.sites[site];
        (used.conflicting, used.extra) = (used.conflicting + conflicts, used.extra + extra);
        used.max_degree = used.max_degree.max(degree);
        if let Some(group) = self.groups.last_mut() {
            group.accesses += 1;
            group.conflicting += conflicts;
            group.extra += extra;
            group.max_degree = group.max_degree.max(degree);
        }
    }

    /// Sectors and lines: each is fetched once for all items of the warp.
    fn sectors(&mut self, number: usize, site: &Site) {
        let ranges = ranges(&self.words, site);
        let used = &mut self.sites[number];
        let sectors = blocks(&ranges, self.hardware.sector);
        self.touched += sectors;
        used.sectors += sectors;
        used.lines += blocks(&ranges, self.hardware.line);
        used.bytes += blocks(&ranges, 1);
    }
}

/// The bytes that accesses of a site are of which start at these places, which rise.
pub(in crate::kernel) fn ranges(starts: &[u64], site: &Site) -> Vec<Range<u64>> {
    let of = |start: &u64| site.ranges(u32::try_from(*start).unwrap_or(u32::MAX));
    let mut ranges: Vec<Range<u64>> = starts.iter().flat_map(of).collect();
    if site.parts.len() > 1 {
        ranges.sort_unstable_by_key(|bytes| bytes.start);
    }
    ranges
}

/// How many of these different words lie in one bank at most; `degrees` becomes how many lie in each.
pub(in crate::kernel) fn degree(words: &[u64], degrees: &mut [u64]) -> u64 {
    degrees.fill(0);
    let banks = degrees.len() as u64;
    for word in words {
        degrees[usize::try_from(word % banks).unwrap_or(0)] += 1;
    }
    degrees.iter().max().copied().unwrap_or(0)
}

/// How many different blocks of `size` bytes these bytes lie in, whose starts rise.
pub(in crate::kernel) fn blocks(ranges: &[Range<u64>], size: u32) -> u64 {
    let size = u64::from(size);
    let (mut count, mut after) = (0, 0);
    for bytes in ranges {
        let (first, end) = (bytes.start / size, bytes.end.div_ceil(size));
        count += end.saturating_sub(first.max(after));
        after = after.max(end);
    }
    count
}
