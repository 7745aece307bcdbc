//! What memory makes of the accesses of a warp: banks of workgroup memory, sectors and lines of the others.

use super::Hardware;
use crate::kernel::code::Site;
use crate::kernel::program::Space;
use crate::kernel::record::Access;

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
    /// Room for the words of one access.
    words: Vec<u64>,
    degrees: Vec<u64>,
}

impl Memories {
    pub(super) fn new(hardware: Hardware, sites: usize) -> Self {
        let degrees = vec![0; hardware.banks as usize];
        Self { hardware, groups: Vec::new(), sites: vec![SiteUse::default(); sites], words: Vec::new(), degrees }
    }

    pub(super) fn begin(&mut self, group: u64) {
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
            let width = match space {
                Space::Workgroup => u64::from(self.hardware.bank_bytes),
                _ => 1,
            };
            while let Some(item) = next {
                let start = u64::from(access.addresses[item]);
                let end = start + u64::from(site.bytes.max(1));
                match space {
                    Space::Workgroup => self.words.extend(start / width..end.div_ceil(width)),
                    _ => self.words.push(start),
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
                _ => self.sectors(access.site, site.bytes),
            }
        }
    }

    /// How many words of one bank are wanted: each costs a transaction. Items that want the same word share one.
    fn banks(&mut self, site: usize) {
        self.degrees.fill(0);
        let banks = self.degrees.len() as u64;
        for word in &self.words {
            self.degrees[usize::try_from(word % banks).unwrap_or(0)] += 1;
        }
        let degree = self.degrees.iter().max().copied().unwrap_or(0);
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
    fn sectors(&mut self, site: usize, bytes: u32) {
        let used = &mut self.sites[site];
        let bytes = u64::from(bytes.max(1));
        let of = |size: u32| {
            let size = u64::from(size);
            let (mut count, mut after) = (0, 0);
            for start in &self.words {
                let (first, end) = (start / size, (start + bytes - 1) / size + 1);
                count += end.saturating_sub(first.max(after));
                after = after.max(end);
            }
            count
        };
        used.sectors += of(self.hardware.sector);
        used.lines += of(self.hardware.line);
        used.bytes += of(1);
    }
}
