//! A set of tasks as bytes, to be kept and read again faster than it was made: column after column, numbers in little-endian order.
//!
//! Who keeps the bytes says of what they are and guards them against damage; here no more is looked at than that nothing that is read
//! leads outside of the set.

use super::ids::Ids;
use super::set::{Milestone, NO_TASK, TaskSet};
use super::words::{Symbol, Symbols};
use crate::axis::AxisUnit;
use std::io::{self, Read, Write};

/// Bytes that are taken memory for before they are there.
const PIECE: usize = 1 << 20;

fn damaged() -> io::Error {
    io::Error::from(io::ErrorKind::InvalidData)
}

/// Something of a fixed number of bytes.
trait Fixed: Copy {
    const BYTES: usize;
    fn put(self, out: &mut Vec<u8>);
    fn get(bytes: &[u8]) -> Self;
}

macro_rules! fixed {
    ($number:ty) => {
        impl Fixed for $number {
            const BYTES: usize = size_of::<Self>();
            fn put(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            fn get(bytes: &[u8]) -> Self {
                let mut own = [0; size_of::<Self>()];
                own.copy_from_slice(bytes);
                Self::from_le_bytes(own)
            }
        }
    };
}
fixed!(u8);
fixed!(u32);
fixed!(u64);

impl Fixed for Milestone {
    const BYTES: usize = 24;
    fn put(self, out: &mut Vec<u8>) {
        for number in [self.task, self.category.0, self.what.0, self.location.0] {
            number.put(out);
        }
        self.time.put(out);
    }
    fn get(bytes: &[u8]) -> Self {
        let number = |at: usize| u32::get(&bytes[4 * at..4 * at + 4]);
        let [category, what, location] = [1, 2, 3].map(|at| Symbol(number(at)));
        Self { task: number(0), time: u64::get(&bytes[16..24]), category, what, location }
    }
}

/// Writes parts one after the other.
pub(super) struct Packer<'a> {
    out: &'a mut dyn Write,
    piece: Vec<u8>,
}

impl Packer<'_> {
    pub(super) fn number(&mut self, number: u64) -> io::Result<()> {
        self.out.write_all(&number.to_le_bytes())
    }

    #[expect(private_bounds, reason = "what has so many bytes is this module's business")]
    pub(super) fn column<T: Fixed>(&mut self, column: &[T]) -> io::Result<()> {
        self.number(column.len() as u64)?;
        for part in column.chunks(PIECE / T::BYTES) {
            self.piece.clear();
            part.iter().for_each(|one| one.put(&mut self.piece));
            self.out.write_all(&self.piece)?;
        }
        Ok(())
    }

    pub(super) fn text(&mut self, text: &str) -> io::Result<()> {
        self.column(text.as_bytes())
    }
}

/// Reads them in the same order.
pub(super) struct Unpacker<'a> {
    input: &'a mut dyn Read,
    piece: Vec<u8>,
}

impl Unpacker<'_> {
    pub(super) fn number(&mut self) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.input.read_exact(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn count(&mut self) -> io::Result<usize> {
        usize::try_from(self.number()?).map_err(|_| damaged())
    }

    #[expect(private_bounds, reason = "as above")]
    pub(super) fn column<T: Fixed>(&mut self) -> io::Result<Vec<T>> {
        let count = self.count()?;
        let piece = PIECE / T::BYTES;
        // Memory is taken for what is there: the count comes from a file.
        let mut out = Vec::new();
        while out.len() < count {
            let part = piece.min(count - out.len());
            self.piece.resize(part * T::BYTES, 0);
            self.input.read_exact(&mut self.piece)?;
            if out.is_empty() && out.try_reserve_exact(count).is_err() {
                return Err(damaged());
            }
            out.extend(self.piece.chunks_exact(T::BYTES).map(T::get));
        }
        Ok(out)
    }

    pub(super) fn text(&mut self) -> io::Result<String> {
        String::from_utf8(self.column()?).map_err(|_| damaged())
    }
}

fn pack_words(words: &Symbols, out: &mut Packer<'_>) -> io::Result<()> {
    out.number(words.len() as u64)?;
    words.iter().try_for_each(|(_, word)| out.text(word))
}

fn unpack_words(input: &mut Unpacker<'_>) -> io::Result<Symbols> {
    let mut words = Symbols::default();
    for at in 0..input.count()? {
        // Each word is there once.
        (words.add(&input.text()?).index() == at).then_some(()).ok_or_else(damaged)?;
    }
    Ok(words)
}

/// Units that are counted, by their number less 1; 0 is parts of a second.
const UNITS: [AxisUnit; 2] = [AxisUnit::Cycles, AxisUnit::Rows];

impl TaskSet {
    /// Writes all of it.
    ///
    /// # Errors
    /// When `out` does not take it.
    pub fn pack(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut out = Packer { out, piece: Vec::new() };
        out.number(self.ticks_per_second)?;
        out.number(UNITS.iter().position(|unit| *unit == self.unit).map_or(0, |n| n as u64 + 1))?;
        out.number(self.span.0)?;
        out.number(self.span.1)?;
        out.column(&self.starts)?;
        out.column(&self.ends)?;
        out.column(&self.parents)?;
        out.column(&self.kinds)?;
        out.column(&self.bounds)?;
        out.column(&self.children)?;
        let pairs: Vec<u32> = self.pairs.iter().flat_map(|&(category, action)| [category.0, action.0]).collect();
        out.column(&pairs)?;
        pack_words(&self.words, &mut out)?;
        pack_words(&self.locations, &mut out)?;
        self.ids.pack(&mut out)?;
        out.column(&self.milestones)?;
        out.column(&self.tags)?;
        out.number(self.dangling.len() as u64)?;
        for (task, name) in &self.dangling {
            out.number((*task).into())?;
            out.text(name)?;
        }
        Ok(())
    }

    /// Reads what [`TaskSet::pack`] wrote.
    ///
    /// # Errors
    /// When it cannot be read, or is not what was written.
    pub fn unpack(input: &mut dyn Read) -> io::Result<Self> {
        let mut input = Unpacker { input, piece: Vec::new() };
        let (ticks_per_second, unit) = (input.number()?, input.number()?);
        let counted = usize::try_from(unit).map_err(|_| damaged())?.checked_sub(1);
        let unit = match counted {
            None => AxisUnit::Seconds { ticks: ticks_per_second },
            Some(n) => *UNITS.get(n).ok_or_else(damaged)?,
        };
        let span = (input.number()?, input.number()?);
        let (starts, ends) = (input.column::<u64>()?, input.column::<u64>()?);
        let (parents, kinds) = (input.column::<u32>()?, input.column::<u32>()?);
        let (bounds, children) = (input.column::<u32>()?, input.column::<u32>()?);
        let pairs = input.column::<u32>()?;
        let pairs: Vec<(Symbol, Symbol)> =
            pairs.chunks_exact(2).map(|pair| (Symbol(pair[0]), Symbol(pair[1]))).collect();
        let (words, locations) = (unpack_words(&mut input)?, unpack_words(&mut input)?);
        let ids = Ids::unpack(&mut input)?;
        let (milestones, tags) = (input.column::<Milestone>()?, input.column::<Milestone>()?);
        let mut dangling = Vec::new();
        for _ in 0..input.count()? {
            let task = u32::try_from(input.number()?).map_err(|_| damaged())?;
            dangling.push((task, input.text()?.into_boxed_str()));
        }
        let count = starts.len();
        let is_task = |&task: &u32| (task as usize) < count;
        let sound = ticks_per_second > 0
            && u32::try_from(count).is_ok_and(|count| count < NO_TASK)
            && [ends.len(), parents.len(), kinds.len(), ids.len()] == [count; 4]
            && starts.iter().zip(&ends).all(|(start, end)| start <= end && *end <= span.1 && span.0 <= *start)
            && parents.iter().all(|parent| *parent == NO_TASK || is_task(parent))
            && kinds.iter().all(|&kind| (kind as usize) < pairs.len())
            && bounds.len() == locations.len()
            && bounds.is_sorted()
            && bounds.last().map_or(0, |&last| last as usize) == count
            && children.iter().all(|child| is_task(child) && parents[*child as usize] != NO_TASK)
            && children.is_sorted_by_key(|&child| parents[child as usize])
            && [&milestones, &tags].iter().all(|all| all.iter().all(|one| is_task(&one.task)))
            && [&milestones, &tags].iter().all(|all| all.is_sorted_by_key(|one| one.task))
            && dangling.iter().all(|(task, _)| is_task(task));
        sound.then_some(()).ok_or_else(damaged)?;
        Ok(Self {
            ticks_per_second,
            unit,
            starts,
            ends,
            parents,
            kinds,
            pairs,
            ids,
            words,
            locations,
            bounds,
            children,
            milestones,
            tags,
            dangling,
            span,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::metrics::Edges;
    use super::super::{NewTask, TaskBook, TaskId, TaskSetBuilder, summary};
    use super::*;
    use crate::machine::gpu::{self, GpuConfig, Job, KernelEntry, simulate};
    use proptest::prelude::*;

    fn bytes(set: &TaskSet) -> Vec<u8> {
        let mut out = Vec::new();
        set.pack(&mut out).expect("memory takes it");
        out
    }

    fn small() -> TaskSet {
        let mut builder = TaskSetBuilder::new(1_000);
        let names = ["1", "2@here", "x y", "7_req_out", "ünd"];
        for (n, name) in (0u64..).zip(names) {
            let (category, action) = (builder.word("inst"), builder.word("*a.B"));
            let location = builder.location(if n % 2 == 0 { "here" } else { "there" });
            let parent = TaskId::Text(if n == 3 { "nobody" } else { names[0] });
            let id = TaskId::Text(name);
            let (start, end) = (n, 9 + n);
            let parent = (n > 0).then_some(&parent);
            builder.push(NewTask { id: &id, parent, category, action, location, start, end }).expect("few");
        }
        builder.finish().set
    }

    #[test]
    fn what_was_packed_comes_back() {
        let config = GpuConfig { arrays: 1, units: 2, banks: 2, ..gpu::preset("r9nano").expect("there") };
        let program = KernelEntry::named("transpose").expect("there").with(&[("N".into(), 32)]).expect("sound");
        let run = simulate(&config, &mut Job::alone("transpose", program), true, &mut |_, _| true).expect("it runs");
        let none = TaskSetBuilder::new(1).finish().set;
        let [cycles, rows] =
            [TaskSetBuilder::of_cycles(), TaskSetBuilder::of_rows()].map(|builder| builder.finish().set);
        for set in [run.tasks.expect("kept"), small(), none, cycles, rows] {
            let packed = bytes(&set);
            let back = TaskSet::unpack(&mut packed.as_slice()).expect("whole");
            assert_eq!(bytes(&back), packed);
            assert_eq!((back.len(), back.unit()), (set.len(), set.unit()));
            for task in (0..).take(set.len()) {
                assert_eq!((back.task(task), back.id(task)), (set.task(task), set.id(task)));
                assert_eq!(back.dangling_parent(task), set.dangling_parent(task));
                assert_eq!((back.milestones(task), back.tags(task)), (set.milestones(task), set.tags(task)));
            }
        }
    }

    #[test]
    fn what_is_cut_short_is_refused() {
        let packed = bytes(&small());
        for end in 0..packed.len() {
            assert!(TaskSet::unpack(&mut &packed[..end]).is_err(), "{end} of {}", packed.len());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn what_is_damaged_is_refused_or_harmless(at in 0usize..2_000, value in any::<u8>(), more in any::<u8>()) {
            let mut packed = bytes(&small());
            let len = packed.len();
            packed[at % len] = value;
            packed[(at * 31 + 7) % len] = more;
            if let Ok(set) = TaskSet::unpack(&mut packed.as_slice()) {
                let all: Vec<String> = (0..).take(set.len()).map(|task| set.id(task)).collect();
                prop_assert_eq!(all.len(), set.len());
                let book = TaskBook::new(set, Edges::Neither, "", "");
                let (look, told) = (book.first_look(), summary(book.set()));
                prop_assert!(look.task.is_none_or(|task| (task as usize) < book.set().len()));
                prop_assert!(told.tasks <= all.len() as u64);
                prop_assert!(book.traffic().components.len() <= all.len());
            }
        }
    }
}
