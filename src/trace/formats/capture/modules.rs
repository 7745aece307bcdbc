//! Files whose code is mapped, as they come and go: which lies where, and when. Where one takes another's place, program
//! counters of the later one are marked, so that each stands for one instruction in the whole trace.

use crate::reference::Reference;

/// Program counters use fewer bits than this; those above tell who lay there.
const MARK: u32 = 48;

/// A file at its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapped {
    /// First byte, with the mark of its program counters.
    pub first: u64,
    /// Bytes.
    pub bytes: u64,
    /// Of the file.
    pub inode: u64,
    /// When the file changed last: seconds and nanoseconds; unknown of those that were there at the start.
    pub changed: Option<(i64, i64)>,
    /// Of the file.
    pub path: String,
}

/// What happened to a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// References given before.
    pub now: u64,
    /// Who came there, or the marked first byte of who left.
    pub what: Result<Mapped, u64>,
}

/// All that were ever mapped.
#[derive(Clone, Debug, Default)]
pub(super) struct Modules {
    /// In the order in which they came, each with the reference at which it did.
    known: Vec<(u64, Mapped)>,
    /// Whether any has a mark.
    marked: bool,
    /// Since they were last taken.
    changes: Vec<Change>,
}

impl Modules {
    /// For a program with these lines of `/proc/PID/maps`.
    pub(super) fn begin(&mut self, maps: &[String]) {
        self.known = maps.iter().filter_map(|line| mapped_at_start(line)).map(|m| (0, m)).collect();
    }

    /// A file was loaded before reference `now`; `about` is what the records before said of it.
    pub(super) fn loaded(&mut self, first: u64, bytes: u64, about: &[u8], now: u64) {
        let about = String::from_utf8_lossy(about);
        let mut words = about.splitn(4, ' ');
        let mut number = || words.next()?.parse::<i64>().ok();
        let (Some(inode), Some(seconds), Some(nanoseconds)) = (number(), number(), number()) else { return };
        let (Some(path), Ok(inode), Some(past)) = (words.next(), u64::try_from(inode), first.checked_add(bytes)) else {
            return;
        };
        if bytes == 0 || past >> MARK != 0 {
            return;
        }
        let new = Mapped { first, bytes, inode, changed: Some((seconds, nanoseconds)), path: path.to_owned() };
        let overlaps = |m: &Mapped| m.place() < past && first < m.place().saturating_add(m.bytes);
        let last = self.known.iter().rev().map(|(_, m)| m).find(|m| overlaps(m));
        let mark = match last {
            None => 0,
            // It was there when the program began, or has come back.
            Some(m) if m.changed.is_none() && m.inode == inode && m.path == path => return,
            Some(m) if *m == (Mapped { first: m.first, ..new.clone() }) && m.place() == first => m.first >> MARK,
            Some(_) => {
                let used = self.known.iter().map(|(_, m)| m.first >> MARK).max().unwrap_or(0);
                (used + 1).min(u64::from(u16::MAX))
            }
        };
        self.marked |= mark > 0;
        let new = Mapped { first: first | mark << MARK, ..new };
        self.known.push((now, new.clone()));
        self.changes.push(Change { now, what: Ok(new) });
    }

    /// What was loaded at `first` is gone before reference `now`.
    pub(super) fn unloaded(&mut self, first: u64, now: u64) {
        let who = self.known.iter().rev().map(|(_, m)| m).find(|m| m.place() == first);
        if let Some(who) = who {
            self.changes.push(Change { now, what: Err(who.first) });
        }
    }

    /// A program counter with the mark of who is there for reference `now`.
    pub(super) fn marked(&self, pc: u64, now: u64) -> u64 {
        if !self.marked {
            return pc;
        }
        let there = |(from, m): &&(u64, Mapped)| *from <= now && m.place() <= pc && pc - m.place() < m.bytes;
        self.known.iter().rev().find(there).map_or(pc, |(_, m)| pc | m.first >> MARK << MARK)
    }

    /// Marks the program counters of `references`, the first of which is number `from`.
    pub(super) fn mark(&self, references: &mut [Reference], from: u64) {
        if self.marked {
            for (r, now) in references.iter_mut().zip(from..) {
                r.pc = self.marked(r.pc, now);
            }
        }
    }

    /// What happened since this was last asked.
    pub(super) fn take(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.changes)
    }
}

impl Mapped {
    /// First byte, as the machine has it.
    #[must_use]
    pub fn place(&self) -> u64 {
        self.first & ((1 << MARK) - 1)
    }
}

/// `7f0000000000-7f0000001000 r-xp 00001000 fd:01 1234    /usr/lib/x.so`
fn mapped_at_start(line: &str) -> Option<Mapped> {
    let mut words = line.split_whitespace();
    let (first, past) = words.next()?.split_once('-')?;
    let hex = |s| u64::from_str_radix(s, 16).ok();
    let (first, past) = (hex(first)?, hex(past)?);
    let inode = words.nth(3)?.parse().ok()?;
    let path = line.find('/').map(|at| line[at..].to_owned())?;
    Some(Mapped { first, bytes: past.checked_sub(first)?, inode, changed: None, path })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_takes_anothers_place_is_told_from_it() {
        let mut modules = Modules::default();
        modules.begin(&["1000-2000 r-xp 00001000 fd:01 7    /lib/a.so".into()]);
        modules.loaded(0, 0x3000, b"7 10 0 /lib/a.so", 5);
        assert_eq!(modules.take(), [], "it was there already");
        modules.loaded(0x8000, 0x1000, b"8 10 0 /tmp/b c.so", 10);
        assert_eq!(modules.marked(0x8004, 12), 0x8004);
        modules.unloaded(0x8000, 20);
        modules.loaded(0x7000, 0x2000, b"9 10 0 /tmp/d.so", 20);
        modules.loaded(0x8000, 0x1000, b"8 11 0 /tmp/b c.so", 30);
        let changes = modules.take();
        assert_eq!(changes.len(), 4);
        assert_eq!(changes[1].what, Err(0x8000));
        let marks: Vec<u64> = changes.iter().filter_map(|c| Some(c.what.as_ref().ok()?.first >> MARK)).collect();
        assert_eq!(marks, [0, 1, 2]);
        assert_eq!((modules.marked(0x8004, 19), modules.marked(0x8004, 20)), (0x8004, 1 << 48 | 0x8004));
        assert_eq!((modules.marked(0x8004, 31), modules.marked(0x1004, 31)), (2 << 48 | 0x8004, 0x1004));
        // The same file at the same place again is the same.
        modules.unloaded(0x8000, 40);
        modules.loaded(0x8000, 0x1000, b"8 11 0 /tmp/b c.so", 41);
        assert_eq!(modules.marked(0x8004, 42), 2 << 48 | 0x8004);
        for wrong in [&b""[..], b"x 1 2 /a", b"1 2 /a", b"1 2 3"] {
            modules.take();
            modules.loaded(0x10_0000, 0x1000, wrong, 50);
            assert_eq!(modules.take(), []);
        }
    }
}
