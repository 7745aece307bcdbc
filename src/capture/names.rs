//! Names for what was captured: where the program's files were loaded, variables touched, source lines, heap blocks by the
//! calls that made them.

use super::arrays::Frames;
use super::noted::Noted;
use crate::reference::{Reference, Region, RegionFinder, RegionMap, SourceLocation};
use crate::symbols::{Assigned, Fate, Handed, Module};
use crate::trace::capture::{Entry, HeapRegion, Named, site_name};
use object::{Object, ObjectSegment};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Slots of the memory of program counters just seen, as a power of two.
const RECENT_BITS: u32 = 12;

/// A file whose code is mapped, as a line of `/proc/PID/maps` has it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mapping {
    first: u64,
    past: u64,
    offset: u64,
    path: PathBuf,
}

impl Mapping {
    /// `7f0000000000-7f0000001000 r-xp 00001000 fd:01 1234    /usr/lib/x.so`
    fn read(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let (first, past) = words.next()?.split_once('-')?;
        let offset = words.nth(1)?;
        let path = line.find('/').map(|at| &line[at..])?;
        let hex = |s| u64::from_str_radix(s, 16).ok();
        let mapping = Self { first: hex(first)?, past: hex(past)?, offset: hex(offset)?, path: path.into() };
        (mapping.first < mapping.past).then_some(mapping)
    }

    /// How far above its linked addresses the file lies.
    fn bias(&self) -> Option<u64> {
        let file = std::fs::File::open(&self.path).ok()?;
        let cache = object::ReadCache::new(file);
        let elf = object::File::parse(&cache).ok()?;
        let segment = elf.segments().find(|s| {
            let (start, bytes) = s.file_range();
            // Mappings begin at pages, segments need not.
            start.saturating_sub(4095) <= self.offset && self.offset < start.saturating_add(bytes)
        })?;
        let linked = segment.address().wrapping_sub(segment.file_range().0).wrapping_add(self.offset);
        Some(self.first.wrapping_sub(linked))
    }
}

/// A mapped file and, once an instruction of it was seen, its names.
struct Loaded {
    mapping: Mapping,
    names: Option<Opened>,
    tried: bool,
}

struct Opened {
    module: Module,
    bias: u64,
    variables: Vec<Region>,
    finder: RegionFinder,
    touched: Vec<bool>,
}

impl Opened {
    fn new(mapping: &Mapping) -> Result<Self, String> {
        let module = Module::open(&mapping.path).map_err(|e| e.to_string())?;
        let bias = mapping
            .bias()
            .ok_or_else(|| format!("{}: is not the file that was run any more", mapping.path.display()))?;
        let variables: Vec<Region> = module
            .variables()
            .iter()
            .map(|v| v.region(bias))
            .filter(|r| r.bytes > 0 && r.base.checked_add(r.bytes - 1).is_some())
            .collect();
        let finder = RegionFinder::new(RegionMap::new(&variables));
        let touched = vec![false; variables.len()];
        Ok(Self { module, bias, variables, finder, touched })
    }
}

/// Gathers what needs a name while references pass.
pub(super) struct Names {
    loaded: Vec<Loaded>,
    pcs: BTreeSet<u64>,
    recent: Vec<u64>,
    notices: Vec<String>,
    /// Names of heap blocks by the site where they are kept; what makes them comes before names of places.
    kept: BTreeMap<u64, (Option<Assigned>, String, u32)>,
    /// Arrays of stack frames.
    pub(super) frames: Frames,
    /// Memory of which all is known that can be.
    noted: Noted,
}

impl Names {
    /// For a program with these lines of `/proc/PID/maps`.
    pub(super) fn new(maps: &[String]) -> Self {
        let loaded = |mapping| Loaded { mapping, names: None, tried: false };
        Self {
            loaded: maps.iter().filter_map(|line| Mapping::read(line)).map(loaded).collect(),
            pcs: BTreeSet::new(),
            recent: vec![0; 1 << RECENT_BITS],
            notices: Vec::new(),
            kept: BTreeMap::new(),
            frames: Frames::default(),
            noted: Noted::default(),
        }
    }

    /// The file that holds the instruction at `pc`, opened.
    fn at(&mut self, pc: u64) -> Option<&Opened> {
        let loaded = self.loaded.iter_mut().find(|l| l.mapping.first <= pc && pc < l.mapping.past)?;
        if !loaded.tried {
            loaded.tried = true;
            self.noted.forget();
            match Opened::new(&loaded.mapping) {
                Ok(names) => {
                    self.notices.extend(names.module.notices().iter().cloned());
                    loaded.names = Some(names);
                }
                Err(why) => self.notices.push(format!("{why}: what belongs to it has no names")),
            }
        }
        loaded.names.as_ref()
    }

    /// Takes note of `references`, the first of which is number `from`, and of functions entered before and between them.
    pub(super) fn note(&mut self, references: &[Reference], from: u64, entries: &[Entry]) {
        let mut entries = entries.iter().peekable();
        let mut rest = references;
        let mut now = from;
        while !rest.is_empty() {
            while let Some(e) = entries.next_if(|e| e.now <= now) {
                self.enter(e);
            }
            let until = entries.peek().map_or(u64::MAX, |e| e.now - now);
            let (these, later) = rest.split_at(usize::try_from(until).unwrap_or(usize::MAX).min(rest.len()));
            for r in these {
                self.note_pc(r.pc);
                if !self.noted.holds(r.addr) {
                    self.touch(r.addr);
                }
            }
            now += these.len() as u64;
            rest = later;
        }
        entries.for_each(|e| self.enter(e));
    }

    /// The byte at `addr` is referred to.
    #[inline(never)]
    fn touch(&mut self, addr: u64) {
        let (mut first, mut last) = self.frames.touch(addr);
        for names in self.loaded.iter_mut().filter_map(|l| l.names.as_mut()) {
            let stretch = names.finder.locate(addr, 0);
            (first, last) = (first.max(stretch.first), last.min(stretch.last));
            if let Some(n) = stretch.region
                && let Some(touched) = usize::try_from(n).ok().and_then(|n| names.touched.get_mut(n))
            {
                *touched = true;
            }
        }
        self.noted.remember(addr, first, last);
    }

    #[inline]
    fn note_pc(&mut self, pc: u64) {
        // Multiplicative hashing (Knuth 1973).
        let slot = usize::try_from(pc.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - RECENT_BITS)).unwrap_or(0);
        if self.recent[slot] != pc {
            self.recent[slot] = pc;
            if self.pcs.insert(pc) {
                self.at(pc);
            }
        }
    }

    fn enter(&mut self, e: &Entry) {
        if !self.frames.knows(e.pc) {
            let arrays = self.at(e.pc).map(|o| o.module.stack_arrays(e.pc.wrapping_sub(o.bias))).unwrap_or_default();
            self.frames.learn(e.pc, arrays);
        }
        if self.frames.enter(e.thread, e.frame, e.pc, e.now) {
            self.noted.forget();
        }
    }

    /// Of the calls that led to an allocation, innermost first, the one whose function keeps the block.
    pub(super) fn keeper(&mut self, calls: &[u64]) -> u64 {
        let mut handed = Handed::Result;
        let mut last = calls.first().copied().unwrap_or_default();
        for &call in calls {
            let Some(opened) = self.at(call) else { break };
            // A site lies inside the call; where it returns to is the byte after.
            match opened.module.follow(call.wrapping_sub(opened.bias) + 1, handed) {
                Some(Fate::Passed(on)) => (last, handed) = (call, on),
                Some(Fate::Kept { assigned, file, line }) => {
                    self.kept.entry(call).or_insert((assigned, file, line));
                    return call;
                }
                None => break,
            }
        }
        last
    }

    /// What a heap region is called.
    pub(super) fn heap(&mut self, region: &HeapRegion) -> Named {
        let (site, made) = (region.span.site, region.span.made);
        let (assigned, place) = match self.kept.get(&site) {
            Some((assigned, file, line)) => (assigned.clone(), Some((file.clone(), *line))),
            None => {
                let place = self.at(site).and_then(|o| o.module.location(site.wrapping_sub(o.bias)));
                (None, place.map(|l| (l.file, l.line)))
            }
        };
        match (assigned, place) {
            (Some(a), _) => {
                Named { name: a.name, elem_type: a.elem_type, elem_bytes: a.elem_bytes, inner_shape: a.inner_shape }
            }
            (None, Some((file, line))) => {
                Named { name: format!("{} at {file}:{line}", made.word()), ..Named::default() }
            }
            (None, None) => Named { name: site_name(made, site), ..Named::default() },
        }
    }

    /// Variables that were touched, and source lines of the instructions seen.
    pub(super) fn finish(&mut self) -> (Vec<Region>, Vec<SourceLocation>, Vec<String>) {
        let pcs: Vec<u64> = self.pcs.iter().copied().collect();
        let mut locations = Vec::new();
        for pc in pcs {
            let location = self.at(pc).and_then(|o| o.module.location(pc.wrapping_sub(o.bias)));
            locations.extend(location.map(|l| SourceLocation { pc, ..l }));
        }
        let touched =
            self.loaded.iter().filter_map(|l| l.names.as_ref()).flat_map(|o| o.variables.iter().zip(&o.touched));
        let regions = touched.filter(|(_, touched)| **touched).map(|(r, _)| r.clone()).collect();
        (regions, locations, std::mem::take(&mut self.notices))
    }
}

/// The file name of a path, for people.
pub(super) fn file_name(path: &str) -> String {
    Path::new(path).file_name().map_or(String::new(), |n| n.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_maps_are_read() {
        let line = "55d0c0a01000-55d0c0a02000 r-xp 00001000 fd:01 1234                       /tmp/a b/mm";
        let read = Mapping::read(line).expect("a mapping");
        assert_eq!((read.first, read.past, read.offset), (0x55d0_c0a0_1000, 0x55d0_c0a0_2000, 0x1000));
        assert_eq!(read.path, Path::new("/tmp/a b/mm"));
        for bad in ["", "x", "1-2 r-xp 0 0 0", "2-1 r-xp 0 0 0 /a", "g-h r-xp 0 0 0 /a"] {
            assert_eq!(Mapping::read(bad), None, "{bad}");
        }
    }
}
