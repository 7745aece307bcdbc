//! Names for what was captured: where the program's files were loaded, variables touched, source lines, heap blocks by the
//! calls that made them.

use super::arrays::Frames;
use super::noted::{Noted, NotedSpan};
use crate::reference::{Reference, Region, RegionFinder, RegionMap, SourceLocation, tell_files_apart};
use crate::symbols::{Assigned, Fate, Handed, Module};
use crate::trace::capture::{Change, Entry, HeapRegion, Mapped, Named, site_name};
use object::{Object, ObjectSegment};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Slots of the memory of program counters just seen, as a power of two.
const RECENT_BITS: u32 = 12;

/// An instruction just seen, and the noted memory to which it referred last: mostly the next reference goes there too.
#[derive(Clone, Copy, Default)]
struct Seen {
    pc: u64,
    span: NotedSpan,
}

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
    /// Where its code is, with the marks of its program counters.
    first: u64,
    past: u64,
    file: Source,
    names: Option<Opened>,
    tried: bool,
    /// References during which it is there.
    from: u64,
    to: u64,
}

/// How a file's bias is known.
enum Source {
    /// It was there at the start.
    Line(Mapping),
    /// It said itself that it came.
    Said(Mapped),
}

impl Loaded {
    fn path(&self) -> &Path {
        match &self.file {
            Source::Line(mapping) => &mapping.path,
            Source::Said(mapped) => Path::new(&mapped.path),
        }
    }

    /// How far above its linked addresses its code lies, marks included, and its data.
    fn bias(&self) -> Option<(u64, u64)> {
        match &self.file {
            Source::Line(mapping) => mapping.bias().map(|bias| (bias, bias)),
            Source::Said(mapped) => {
                let linked = start(mapped)?;
                Some((mapped.first.wrapping_sub(linked), mapped.place().wrapping_sub(linked)))
            }
        }
    }
}

/// The page at which a file begins as it is linked; `None` where it is not the file that was loaded.
fn start(mapped: &Mapped) -> Option<u64> {
    let file = std::fs::File::open(&mapped.path).ok()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let about = file.metadata().ok()?;
        if (about.ino(), Some((about.mtime(), about.mtime_nsec()))) != (mapped.inode, mapped.changed) {
            return None;
        }
    }
    let cache = object::ReadCache::new(file);
    let elf = object::File::parse(&cache).ok()?;
    elf.segments().map(|s| s.address() & !4095).min()
}

struct Opened {
    module: Module,
    bias: u64,
    variables: Vec<Region>,
    finder: RegionFinder,
    touched: Vec<bool>,
}

impl Opened {
    fn new(loaded: &Loaded) -> Result<Self, String> {
        let module = Module::open(loaded.path()).map_err(|e| e.to_string())?;
        let (bias, of_data) = loaded
            .bias()
            .ok_or_else(|| format!("{}: is not the file that was run any more", loaded.path().display()))?;
        let variables: Vec<Region> = module
            .variables()
            .iter()
            .map(|v| v.region(of_data))
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
    recent: Vec<Seen>,
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
        let loaded = |mapping: Mapping| Loaded {
            first: mapping.first,
            past: mapping.past,
            file: Source::Line(mapping),
            names: None,
            tried: false,
            from: 0,
            to: u64::MAX,
        };
        Self {
            loaded: maps.iter().filter_map(|line| Mapping::read(line)).map(loaded).collect(),
            pcs: BTreeSet::new(),
            recent: vec![Seen::default(); 1 << RECENT_BITS],
            notices: Vec::new(),
            kept: BTreeMap::new(),
            frames: Frames::default(),
            noted: Noted::default(),
        }
    }

    /// A file came or went.
    fn change(&mut self, change: Change) {
        let Change { now, what } = change;
        self.noted.forget();
        match what {
            Err(first) => {
                let gone = self.loaded.iter_mut().rev().find(|l| l.first == first && l.to == u64::MAX);
                gone.into_iter().for_each(|l| l.to = now);
            }
            Ok(mapped) => {
                let (place, past) = (mapped.place(), mapped.place().saturating_add(mapped.bytes));
                let place_of = |l: &Loaded| match &l.file {
                    Source::Line(mapping) => (mapping.first, mapping.past),
                    Source::Said(mapped) => (mapped.place(), mapped.place().saturating_add(mapped.bytes)),
                };
                // Whoever was there has left, be it without a word.
                for l in &mut self.loaded {
                    let (first, end) = place_of(l);
                    if first < past && place < end {
                        l.to = l.to.min(now);
                    }
                }
                // The same file at the same place again, and nobody there meanwhile: the same variables go on.
                let is_back = |l: &&mut Loaded| matches!(&l.file, Source::Said(before) if *before == mapped);
                if let Some(back) = self.loaded.iter_mut().rev().find(is_back) {
                    back.to = u64::MAX;
                    return;
                }
                self.loaded.push(Loaded {
                    first: mapped.first,
                    past: mapped.first.saturating_add(mapped.bytes),
                    file: Source::Said(mapped),
                    names: None,
                    tried: false,
                    from: now,
                    to: u64::MAX,
                });
            }
        }
    }

    /// The file that holds the instruction at `pc`, opened.
    fn at(&mut self, pc: u64) -> Option<&Opened> {
        let loaded = self.loaded.iter_mut().rev().find(|l| l.first <= pc && pc < l.past)?;
        if !loaded.tried {
            loaded.tried = true;
            self.noted.forget();
            match Opened::new(loaded) {
                Ok(names) => {
                    self.notices.extend(names.module.notices().iter().cloned());
                    loaded.names = Some(names);
                }
                Err(why) => self.notices.push(format!("{why}: what belongs to it has no names")),
            }
        }
        loaded.names.as_ref()
    }

    /// Takes note of `references`, the first of which is number `from`, of functions entered before and between them, and of
    /// files that came and went.
    pub(super) fn note(&mut self, references: &[Reference], from: u64, entries: &[Entry], changes: Vec<Change>) {
        let mut rest = references;
        let (mut from, mut entries) = (from, entries);
        for change in changes {
            let (before, after) =
                rest.split_at(usize::try_from(change.now.saturating_sub(from)).unwrap_or(0).min(rest.len()));
            let (earlier, later) = entries.split_at(entries.partition_point(|e| e.now < change.now));
            self.note_between(before, from, earlier);
            (rest, entries, from) = (after, later, from + before.len() as u64);
            self.change(change);
        }
        self.note_between(rest, from, entries);
    }

    /// While no file comes or goes.
    fn note_between(&mut self, references: &[Reference], from: u64, entries: &[Entry]) {
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
                let seen = self.recent[slot(r.pc)];
                if seen.pc != r.pc || !self.noted.is_in(seen.span, r.addr) {
                    self.note_one(r.pc, r.addr);
                }
            }
            now += these.len() as u64;
            rest = later;
        }
        entries.for_each(|e| self.enter(e));
    }

    /// The instruction at `pc` refers to the byte at `addr`.
    #[inline(never)]
    fn note_one(&mut self, pc: u64, addr: u64) {
        if self.recent[slot(pc)].pc != pc && self.pcs.insert(pc) {
            self.at(pc);
        }
        let span = self.noted.find(addr).unwrap_or_else(|| self.touch(addr));
        self.recent[slot(pc)] = Seen { pc, span };
    }

    /// The byte at `addr` is referred to, of which not all is noted; gives the stretch around it.
    #[inline(never)]
    fn touch(&mut self, addr: u64) -> NotedSpan {
        let (mut first, mut last) = self.frames.touch(addr);
        let there = self.loaded.iter_mut().filter(|l| l.to == u64::MAX);
        for names in there.filter_map(|l| l.names.as_mut()) {
            let stretch = names.finder.locate(addr, 0);
            (first, last) = (first.max(stretch.first), last.min(stretch.last));
            if let Some(n) = stretch.region
                && let Some(touched) = usize::try_from(n).ok().and_then(|n| names.touched.get_mut(n))
            {
                *touched = true;
            }
        }
        self.noted.remember(addr, first, last)
    }

    fn enter(&mut self, e: &Entry) {
        if !self.frames.knows(e.pc) {
            let known = self.at(e.pc).map(|o| {
                let pc = e.pc.wrapping_sub(o.bias);
                let function = o.module.function_at(pc).map_or(pc, |(first, _)| first);
                let mut arrays = o.module.stack_arrays(pc);
                for (first, past) in arrays.iter_mut().flat_map(|a| &mut a.blocks) {
                    (*first, *past) = (first.wrapping_add(o.bias), past.wrapping_add(o.bias));
                }
                (function.wrapping_add(o.bias), arrays)
            });
            let (function, arrays) = known.unwrap_or_default();
            self.frames.learn(e.pc, function, arrays);
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

    /// Variables that were touched, and source lines of the instructions seen, of `total` references.
    pub(super) fn finish(&mut self, total: u64) -> (Vec<Region>, Vec<SourceLocation>, Vec<String>) {
        let pcs: Vec<u64> = self.pcs.iter().copied().collect();
        let mut locations = Vec::new();
        for pc in pcs {
            let location = self.at(pc).and_then(|o| o.module.location(pc.wrapping_sub(o.bias)));
            locations.extend(location.map(|l| SourceLocation { pc, ..l }));
        }
        tell_files_apart(&mut locations);
        let mut regions: Vec<(String, Region)> = Vec::new();
        for loaded in &self.loaded {
            let Some(opened) = &loaded.names else { continue };
            let lifetime = Some((loaded.from, loaded.to.min(total))).filter(|l| *l != (0, total));
            let touched = opened.variables.iter().zip(&opened.touched).filter(|(_, touched)| **touched);
            let file = file_name(&loaded.path().to_string_lossy());
            regions.extend(touched.map(|(r, _)| (file.clone(), Region { lifetime, ..r.clone() })));
        }
        tell_apart(&mut regions);
        (regions.into_iter().map(|(_, r)| r).collect(), locations, std::mem::take(&mut self.notices))
    }
}

/// Multiplicative hashing (Knuth 1973).
#[inline(always)]
fn slot(pc: u64) -> usize {
    usize::try_from(pc.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - RECENT_BITS)).unwrap_or(0) % (1 << RECENT_BITS)
}

/// Variables of one name in several files get their file's name; those of a file that was loaded several times a number.
fn tell_apart(regions: &mut [(String, Region)]) {
    let mut files: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (file, region) in regions.iter() {
        files.entry(&region.name).or_default().insert(file);
    }
    let shared: BTreeSet<String> =
        files.iter().filter(|(_, of)| of.len() > 1).map(|(name, _)| (*name).to_owned()).collect();
    let mut times: BTreeMap<String, u64> = BTreeMap::new();
    for (file, region) in regions {
        if shared.contains(&region.name) {
            region.name = format!("{file}:{}", region.name);
        }
        let n = times.entry(region.name.clone()).and_modify(|n| *n += 1).or_insert(1);
        if *n > 1 {
            region.name = format!("{} #{n}", region.name);
        }
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
