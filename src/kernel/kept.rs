//! What is kept of a launch for pictures: group by group, in order, what its items did at once, and what each item decided.
//!
//! ```text
//! row 0   time 0   write sdata[tid]     items ################   addresses, and for each warp: degree, sectors
//! row 1   time 0   workgroupBarrier     items ################
//! row 2   time 1   read sdata[index]    items ########--------
//! ```
//!
//! Items of a group run in lock step, so a row is one statement's access for all items that are at it. Logical time is the number of
//! barriers before. There is a limit; what is past it is counted, and pictures say so.

use super::annotations::Emit;
use super::code::{Act, Site};
use super::engine::{Engine, Interpreter};
use super::error::KernelError;
use super::mask::Mask;
use super::model::{GroupUse, Hardware, blocks, degree, ranges};
use super::pictures::{Picture, pictures};
use super::program::{Program, Shared, Space};
use super::record::{Access, Decision, Observer};
use super::run::{Launch, Run};
use std::ops::Range;
use std::sync::OnceLock;

/// Events of items that are kept, unless more are asked for.
pub const KEPT: u64 = 1 << 22;

/// What items do in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// They access shared memory, at this site.
    Access(usize),
    /// They come to a barrier: of workgroup memory, of storage.
    Barrier {
        /// Whether it orders workgroup memory.
        workgroup: bool,
        /// Whether it orders storage.
        storage: bool,
    },
}

/// What memory makes of a row's items of one warp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WarpUse {
    /// Which warp of the group.
    pub warp: usize,
    /// Of workgroup memory: different words of one bank at most. It conflicts from 2 on.
    pub degree: u64,
    /// Of storage and uniform memory: sectors that are touched.
    pub sectors: u64,
    /// Of storage and uniform memory: different bytes that are asked for.
    pub bytes: u64,
}

/// What items of a group do at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// What they do.
    pub doing: Doing,
    /// Line of the source, the first being 1.
    pub line: u32,
    /// Those that do it.
    pub items: Mask,
    /// Barriers that the group came to before.
    pub time: u64,
    /// Bytes from the start of the variable, one for each of `items` in their order; of barriers none.
    pub addresses: Vec<u32>,
    /// By warp, of accesses.
    pub warps: Vec<WarpUse>,
}

impl Row {
    /// The byte that an item accesses.
    #[must_use]
    pub fn address(&self, item: usize) -> Option<u32> {
        if item >= super::mask::MOST_ITEMS || !self.items.has(item) {
            return None;
        }
        let before = self.items.and(&Mask::first(item)).count();
        self.addresses.get(before).copied()
    }
}

/// A decision of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chosen {
    /// Line of the condition.
    pub line: u32,
    /// What was decided.
    pub decision: Decision,
    /// Rows of the group before it.
    pub row: usize,
}

/// Values that items of a group told at once.
#[derive(Debug, Clone, PartialEq)]
pub struct Values {
    /// Which of the emits.
    pub emit: usize,
    /// Rows of the group before it.
    pub row: usize,
    /// Those that told.
    pub items: Mask,
    /// One for each of `items` in their order.
    pub values: Vec<f32>,
}

/// What is kept of a group.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GroupRecord {
    /// Which group.
    pub group: u64,
    /// Its items.
    pub items: usize,
    /// What they did, in order.
    pub rows: Vec<Row>,
    /// What each item decided, in order.
    pub decisions: Vec<Vec<Chosen>>,
    /// What they told, in order.
    pub values: Vec<Values>,
    /// Events of items that are not kept.
    pub left: u64,
    /// How often each bank was asked, once somebody wanted to know: a picture does each time that it is drawn.
    banks: OnceLock<Vec<BankUse>>,
}

/// How often a bank was asked by a group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BankUse {
    /// Words that accesses of warps asked for, each once an access.
    pub asked: u64,
    /// Accesses of warps that wanted two of its words or more.
    pub conflicting: u64,
}

/// A launch with all that pictures of it need.
#[derive(Debug)]
pub struct KernelBook {
    /// What the shader is called.
    pub file: String,
    /// Name of the entry.
    pub entry: String,
    /// Which of several launches it is, in words; empty where there is one, or nobody says.
    pub place: String,
    /// The source.
    pub text: String,
    /// The shared variables.
    pub shared: Vec<Shared>,
    /// Values that are told.
    pub emits: Vec<Emit>,
    /// What came of the launch.
    pub run: Run,
    /// Buffers and textures that are pictures, at the end: those that the launch writes first.
    pub pictures: Vec<Picture>,
    /// The hardware that was imagined.
    pub hardware: Hardware,
    /// Groups that are kept, in order.
    pub groups: Vec<GroupRecord>,
    /// Groups that were to be kept and are not, for there was no room.
    pub left_groups: u64,
}

/// Keeps rows while a kernel runs.
#[derive(Debug)]
struct Keeper {
    wanted: Range<u64>,
    room: u64,
    groups: Vec<GroupRecord>,
    left_groups: u64,
    /// Whether the group that runs is kept.
    open: bool,
    time: u64,
}

impl Keeper {
    /// The record of this group, where so many more events have room in it.
    fn record(&mut self, events: usize) -> Option<&mut GroupRecord> {
        let record = self.groups.last_mut().filter(|_| self.open)?;
        let events = events as u64;
        // Past the first that had no room nothing is kept, or there would be gaps.
        if record.left > 0 || events > self.room {
            record.left += events;
            self.room = 0;
            return None;
        }
        self.room -= events;
        Some(record)
    }
}

impl Observer for Keeper {
    fn begin(&mut self, group: u64, items: usize) {
        self.open = self.wanted.contains(&group) && (self.room > 0 || self.groups.is_empty());
        self.left_groups += u64::from(self.wanted.contains(&group) && !self.open);
        self.time = 0;
        if self.open {
            let decisions = vec![Vec::new(); items];
            self.groups.push(GroupRecord { group, items, decisions, ..GroupRecord::default() });
        }
    }

    fn access(&mut self, access: &Access<'_>) {
        let time = self.time;
        if let Some(record) = self.record(access.items.count()) {
            record.rows.push(Row {
                doing: Doing::Access(access.site),
                line: 0,
                items: *access.items,
                time,
                addresses: access.items.iter().map(|item| access.addresses[item]).collect(),
                warps: Vec::new(),
            });
        }
    }

    fn decide(&mut self, line: u32, items: &Mask, decision: Decision) {
        if let Some(record) = self.record(items.count()) {
            let row = record.rows.len();
            items.iter().for_each(|item| record.decisions[item].push(Chosen { line, decision, row }));
        }
    }

    fn emit(&mut self, emit: usize, items: &Mask, values: &[f32]) {
        if let Some(record) = self.record(items.count()) {
            let row = record.rows.len();
            let values = items.iter().map(|item| values[item]).collect();
            record.values.push(Values { emit, row, items: *items, values });
        }
    }

    fn barrier(&mut self, line: u32, items: &Mask, (workgroup, storage): (bool, bool)) {
        let time = self.time;
        self.time += 1;
        if let Some(record) = self.record(items.count()) {
            let doing = Doing::Barrier { workgroup, storage };
            record.rows.push(Row { doing, line, items: *items, time, addresses: Vec::new(), warps: Vec::new() });
        }
    }
}

impl KernelBook {
    /// Runs a launch, and keeps what these groups do as far as `room` events of items go.
    ///
    /// # Errors
    /// [`KernelError`], as of [`Program::run`]; where none of the groups is one that runs.
    pub fn play(program: &Program, launch: &Launch, wanted: Range<u64>, room: u64) -> Result<Self, KernelError> {
        Self::play_on(&mut Interpreter, program, launch, wanted, room)
    }

    /// As [`KernelBook::play`], on this engine.
    ///
    /// # Errors
    /// As of [`KernelBook::play`].
    pub fn play_on(
        engine: &mut impl Engine,
        program: &Program,
        launch: &Launch,
        wanted: Range<u64>,
        room: u64,
    ) -> Result<Self, KernelError> {
        let keeper = Keeper { wanted, room, groups: Vec::new(), left_groups: 0, open: false, time: 0 };
        let (run, keeper) = engine.run(program, launch, keeper)?;
        if keeper.groups.is_empty() {
            let (first, last) = (run.taken.start, run.taken.end - 1);
            return Err(KernelError::Launch(format!(
                "{}: --group {}: found no such group among those that run; expected {first} to {last}",
                program.file, keeper.wanted.start
            )));
        }
        let Keeper { mut groups, left_groups, .. } = keeper;
        let hardware = launch.hardware;
        for row in groups.iter_mut().flat_map(|group| &mut group.rows) {
            if let Doing::Access(site) = row.doing {
                let site = &run.sites[site];
                row.line = site.line;
                row.warps = uses(row, site, program.shared[site.shared].space, &hardware);
            }
        }
        let pictures = pictures(program, launch, &run);
        let (file, entry, text) = (program.file.clone(), program.entry.clone(), program.text.clone());
        let (shared, emits) = (program.shared.clone(), program.emits().to_vec());
        Ok(Self {
            file,
            entry,
            place: String::new(),
            text,
            shared,
            emits,
            run,
            pictures,
            hardware,
            groups,
            left_groups,
        })
    }

    /// The site of a row, where it is an access.
    #[must_use]
    pub fn site(&self, row: &Row) -> Option<&Site> {
        match row.doing {
            Doing::Access(site) => self.run.sites.get(site),
            Doing::Barrier { .. } => None,
        }
    }

    /// Where the variable of a site lies.
    #[must_use]
    pub fn space(&self, site: &Site) -> Space {
        self.shared.get(site.shared).map_or(Space::Storage, |shared| shared.space)
    }

    /// The banks that an item of a row asks, of workgroup memory.
    #[must_use]
    pub fn banks_of(&self, row: &Row, item: usize) -> Vec<u32> {
        let Some(site) = self.site(row).filter(|site| self.space(site) == Space::Workgroup) else { return Vec::new() };
        let Some(address) = row.address(item) else { return Vec::new() };
        let banks = u64::from(self.hardware.banks);
        let words = site.words(address, self.hardware.bank_bytes);
        words.map(|word| u32::try_from(word % banks).unwrap_or(0)).collect()
    }

    /// Whether an access of a site at this address of workgroup memory asks one of these banks.
    #[must_use]
    pub fn is_asked(&self, site: &Site, address: u32, banks: &[u32]) -> bool {
        let all = u64::from(self.hardware.banks);
        site.words(address, self.hardware.bank_bytes)
            .any(|word| banks.iter().any(|bank| u64::from(*bank) == word % all))
    }

    /// How often each bank was asked by a group.
    #[must_use]
    pub fn bank_use<'a>(&self, group: &'a GroupRecord) -> &'a [BankUse] {
        group.banks.get_or_init(|| self.count_banks(group))
    }

    fn count_banks(&self, group: &GroupRecord) -> Vec<BankUse> {
        let mut out = vec![BankUse::default(); self.hardware.banks as usize];
        let mut degrees = vec![0; out.len()];
        for row in &group.rows {
            let Some(site) = self.site(row).filter(|site| self.space(site) == Space::Workgroup) else { continue };
            for_warps(row, self.hardware.warp, |_, addresses| {
                let mut words = asked(addresses, site, self.hardware.bank_bytes);
                // Items that want the same word share it.
                words.sort_unstable();
                words.dedup();
                degree(&words, &mut degrees);
                for (bank, words) in out.iter_mut().zip(&degrees) {
                    bank.asked += words;
                    bank.conflicting += u64::from(*words > 1);
                }
            });
        }
        out
    }

    /// What the warps of a group cost, where it ran.
    #[must_use]
    pub fn group_use(&self, group: u64) -> Option<GroupUse> {
        self.group_uses(group..group.saturating_add(1)).first().copied()
    }

    /// What those of these groups cost that ran.
    #[must_use]
    pub fn group_uses(&self, groups: Range<u64>) -> &[GroupUse] {
        let Range { start, end } = self.run.taken;
        let at = |group: u64| usize::try_from(group.clamp(start, end) - start).unwrap_or(usize::MAX);
        self.run.counts.groups.get(at(groups.start)..at(groups.end)).unwrap_or(&[])
    }

    /// Which way an item of a group went: a digit for each `if` that it carried out, with the line of each.
    #[must_use]
    pub fn ifs(&self, group: &GroupRecord, item: usize) -> Vec<(u32, bool)> {
        let all = group.decisions.get(item).into_iter().flatten();
        all.filter_map(|chosen| match chosen.decision {
            Decision::If(held) => Some((chosen.line, held)),
            _ => None,
        })
        .collect()
    }

    /// What a row does, where it is an access.
    #[must_use]
    pub fn act(&self, row: &Row) -> Option<Act> {
        self.site(row).map(|site| site.act)
    }
}

fn asked(addresses: &[u32], site: &Site, width: u32) -> Vec<u64> {
    addresses.iter().flat_map(|start| site.words(*start, width)).collect()
}

/// Gives each warp that has items in a row, and their addresses.
fn for_warps(row: &Row, warp: usize, mut each: impl FnMut(usize, &[u32])) {
    let mut from = 0;
    let mut number = None;
    for (n, item) in row.items.iter().enumerate() {
        let of = item / warp;
        if number.is_some_and(|before| before != of) {
            each(number.unwrap_or(0), &row.addresses[from..n]);
            from = n;
        }
        number = Some(of);
    }
    if let Some(number) = number {
        each(number, &row.addresses[from..]);
    }
}

fn uses(row: &Row, site: &Site, space: Space, hardware: &Hardware) -> Vec<WarpUse> {
    let mut out = Vec::new();
    let mut degrees = vec![0; hardware.banks as usize];
    for_warps(row, hardware.warp, |warp, addresses| {
        let mut used = WarpUse { warp, degree: 0, sectors: 0, bytes: 0 };
        if space == Space::Workgroup {
            let mut words = asked(addresses, site, hardware.bank_bytes);
            words.sort_unstable();
            words.dedup();
            used.degree = degree(&words, &mut degrees);
        } else {
            let mut starts: Vec<u64> = addresses.iter().map(|start| u64::from(*start)).collect();
            starts.sort_unstable();
            starts.dedup();
            let ranges = ranges(&starts, site);
            used.sectors = blocks(&ranges, hardware.sector);
            used.bytes = blocks(&ranges, 1);
        }
        out.push(used);
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::bundled::find;
    use crate::kernel::{Bound, Extent, bound};
    use std::collections::BTreeMap;

    fn book(name: &str, binds: &[(&str, &str)], room: u64) -> KernelBook {
        let text = find(name).expect("bundled").text;
        let program = Program::new(name, text, None, &BTreeMap::new()).expect("read");
        let mut launch = Launch::of(Extent::Items([1024, 1, 1]));
        for (name, words) in binds {
            let Ok(Bound::Content(content, length)) = bound(words) else { panic!("{words}") };
            launch.bound.insert((*name).to_owned(), (content, length));
        }
        KernelBook::play(&program, &launch, 0..16, room).expect("runs")
    }

    #[test]
    fn what_is_kept_of_a_group_counts_as_the_model_does() {
        let binds = [("g_idata", "iota"), ("n", "1024")];
        for name in ["reduce-modulo", "reduce-strided", "reduce-sequential"] {
            let book = book(name, &binds, KEPT);
            assert_eq!((book.groups.len(), book.left_groups), (16, 0));
            for (record, banks) in book.groups.iter().zip(&book.run.counts.banks) {
                let degrees = record.rows.iter().flat_map(|row| &row.warps).map(|used| used.degree);
                let degrees: Vec<u64> = degrees.filter(|degree| *degree > 0).collect();
                let conflicting = degrees.iter().filter(|degree| **degree > 1).count() as u64;
                let extra: u64 = degrees.iter().map(|degree| degree - 1).sum();
                assert_eq!(
                    (degrees.len() as u64, conflicting, extra),
                    (banks.accesses, banks.conflicting, banks.extra)
                );
            }
            for (number, used) in book.run.counts.uses.iter().enumerate() {
                let rows = book.groups.iter().flat_map(|group| &group.rows);
                let rows: Vec<&Row> = rows.filter(|row| row.doing == Doing::Access(number)).collect();
                let sum = |of: fn(&WarpUse) -> u64| rows.iter().flat_map(|row| &row.warps).map(of).sum::<u64>();
                assert_eq!((sum(|used| used.sectors), sum(|used| used.bytes)), (used.sectors, used.bytes), "{name}");
            }
        }
        let book = book("reduce-strided", &binds, KEPT);
        let used: Vec<GroupUse> = (0..16).filter_map(|group| book.group_use(group)).collect();
        assert_eq!(book.group_use(16), None);
        assert_eq!(used.iter().map(|used| used.diverging).sum::<u64>(), book.run.counts.divergent_warps);
        let extra = book.run.counts.banks.iter().map(|banks| banks.extra);
        assert!(used.iter().map(|used| used.extra).eq(extra));
        let sectors = book.run.counts.uses.iter().map(|used| used.sectors).sum::<u64>();
        assert_eq!((used.iter().map(|used| used.sectors).sum::<u64>(), used[0].diverging), (sectors, 1));
        let banks = book.bank_use(&book.groups[0]);
        assert_eq!(banks[0], BankUse { asked: 26, conflicting: 10 });
        let words: Vec<&str> = book.run.sites.iter().map(|site| site.words.as_str()).collect();
        assert!(words.contains(&"sdata[index + s]") && words.contains(&"g_odata[wid.x]"), "{words:?}");
        assert_eq!(book.ifs(&book.groups[0], 4).iter().filter(|(_, held)| *held).count(), 4);
        assert_eq!(book.groups[0].rows.last().map(|row| row.time), Some(7));
    }

    #[test]
    fn what_has_no_room_is_counted() {
        let binds = [("g_idata", "iota"), ("n", "1024")];
        let whole = book("reduce-strided", &binds, KEPT);
        let events = |record: &GroupRecord| {
            let rows: usize = record.rows.iter().map(|row| row.items.count()).sum();
            (rows + record.decisions.iter().map(Vec::len).sum::<usize>()) as u64
        };
        let each = events(&whole.groups[0]);
        let part = book("reduce-strided", &binds, each + 100);
        assert_eq!(part.groups.len(), 2);
        assert_eq!(part.groups[0], whole.groups[0]);
        assert_eq!((part.left_groups, part.groups[1].left), (14, each - events(&part.groups[1])));
        assert!(part.groups[1].left > 0);
        assert!(events(&part.groups[1]) <= 100);
    }

    #[test]
    fn an_address_is_that_of_its_item() {
        let book = book("reduce-strided", &[("g_idata", "iota"), ("n", "1024")], KEPT);
        let record = &book.groups[0];
        let site = |row: &Row| book.site(row).map(|site| site.words.clone()).unwrap_or_default();
        let row = record.rows.iter().find(|row| site(row) == "sdata[index + s]").expect("read");
        assert_eq!((row.address(0), row.address(5), row.address(32)), (Some(4), Some(44), None));
        assert_eq!(book.banks_of(row, 5), [11]);
        assert_eq!(row.address(5000), None);
    }
}
