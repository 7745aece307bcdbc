//! A hierarchy that is played on all cores of the machine, exactly.
//!
//! A *shard* has every so-manieth set of every cache, and the lines that belong there. Where all levels share low bits of
//! their set numbers, and nothing looks beyond a set, no line of one shard ever meets a line of another, and each plays its
//! references in a thread of its own. References that lie in several shards are cut as the caches would cut them.
//!
//! ```text
//! references --cut--> pieces of shard 0 --play--> what it tells --+--in the order of the references--> observer
//!                     pieces of shard 1 --play--> what it tells --'
//! ```
//!
//! Counters, contents and events are those of one thread (`tests/sim/shards.rs`).

mod record;
mod split;

pub(super) use split::Split;
pub use split::Unsharded;

use super::observer::{Batch, LevelMisses, Moved, Observer, Wants};
use super::{Hierarchy, LevelCounters};
use crate::reference::Reference;
use crate::units::LevelId;
use rayon::prelude::*;
use record::{ShardObserver, ShardRecord, wants_of_shard};
use std::borrow::Cow;
use std::sync::Arc;

/// References that are played before anything is told, at most: their places are 16 bits.
const BLOCK: usize = 1 << 16;
/// References below which threads cost more than they give.
const LEAST: usize = 1 << 11;
/// Threads of the machine from which shards pay: two of them decode and pack while others play.
const FEWEST: usize = 4;

/// A hierarchy, in shards where that is possible.
#[derive(Clone, Debug)]
pub struct Shards {
    /// All of it, or what it was before it was parted.
    whole: Hierarchy,
    parted: Result<Parted, Unsharded>,
}

#[derive(Clone, Debug)]
struct Parted {
    split: Split,
    shards: Vec<Shard>,
    /// Some neighbouring references each, by shard.
    slices: Vec<Vec<Share>>,
    /// By level: who asked it, and who missed.
    lists: Vec<[Vec<u16>; 2]>,
}

#[derive(Clone, Debug)]
struct Shard {
    hierarchy: Hierarchy,
    told: ShardRecord,
}

/// What of some references belongs to a shard.
#[derive(Clone, Debug, Default)]
struct Share {
    references: Vec<Reference>,
    /// Places of the references in the block.
    places: Vec<u16>,
}

impl Shards {
    /// Parts a hierarchy into `most` shards at most, where that is possible; with 1 it stays whole.
    #[must_use]
    pub fn new(hierarchy: Hierarchy, most: usize) -> Self {
        let parted = Split::of(&hierarchy, most).map(|split| Parted::new(&hierarchy, split));
        Self { whole: hierarchy, parted }
    }

    /// Parts it into as many shards as this machine has threads for; with fewer than four it stays whole, as decoding a trace
    /// keeps one busy.
    #[must_use]
    pub fn for_machine(hierarchy: Hierarchy) -> Self {
        let threads = rayon::current_num_threads();
        match Split::of(&hierarchy, threads.max(2)) {
            Ok(_) if threads < FEWEST => Self { whole: hierarchy, parted: Err(Unsharded::Threads(threads)) },
            _ => Self::new(hierarchy, threads),
        }
    }

    /// How many shards there are; or why it is whole.
    ///
    /// # Errors
    /// Why.
    pub fn count(&self) -> Result<usize, &Unsharded> {
        self.parted.as_ref().map(|parted| parted.shards.len())
    }

    /// Plays references in order: as [`Hierarchy::play`], on several threads. Events come in the same order; a [`Batch`] may be
    /// larger, and comes in parts. With one that wants all accesses of each cache it tells events.
    pub fn play<O: Observer>(&mut self, references: &[Reference], observer: &mut O) {
        match &mut self.parted {
            Ok(parted) => references.chunks(BLOCK).for_each(|block| parted.play(block, observer)),
            Err(_) => self.whole.play(references, observer),
        }
    }

    /// The caches as they stand.
    #[must_use]
    pub fn hierarchy(&self) -> Cow<'_, Hierarchy> {
        match &self.parted {
            Ok(parted) => Cow::Owned(parted.join(&self.whole)),
            Err(_) => Cow::Borrowed(&self.whole),
        }
    }

    /// Counts of a level: the sum over its caches.
    #[must_use]
    pub fn level_counters(&self, level: LevelId) -> LevelCounters {
        let mut sum = self.whole.level_counters(level);
        if let Ok(parted) = &self.parted {
            parted.shards.iter().for_each(|shard| sum.add(&shard.hierarchy.level_counters(level)));
        }
        sum
    }

    /// What they were made from, with nothing of what was played in shards: shapes and names.
    #[must_use]
    pub fn shape(&self) -> &Hierarchy {
        &self.whole
    }

    /// Joins all shards for good.
    pub fn join(&mut self) -> &mut Hierarchy {
        if let Ok(parted) = &self.parted {
            self.whole = parted.join(&self.whole);
            self.parted = Err(Unsharded::Asked);
        }
        &mut self.whole
    }
}

/// Plays some neighbouring references of a shard. Where lines went in a reference that has several pieces there is told of all of
/// them together.
fn play_share(hierarchy: &mut Hierarchy, told: &mut ShardRecord, references: &[Reference], places: &[u16]) {
    let (mut references, mut places) = (references, places);
    while !references.is_empty() {
        let joined = places.windows(2).position(|pair| pair[0] == pair[1]).filter(|_| told.wants().gone);
        let (alone, later) = references.split_at(joined.unwrap_or(references.len()));
        let (places_alone, places_later) = places.split_at(alone.len());
        hierarchy.play(alone, &mut ShardObserver { told, places: places_alone, at: 0, first: None });
        let pieces = places_later.iter().take_while(|place| Some(*place) == places_later.first()).count();
        let (pieces, rest) = later.split_at(pieces);
        let (places_pieces, places_rest) = places_later.split_at(pieces.len());
        if !pieces.is_empty() {
            hierarchy.access_pieces(pieces, &mut ShardObserver { told, places: places_pieces, at: 0, first: None });
        }
        (references, places) = (rest, places_rest);
    }
}

impl Parted {
    fn new(hierarchy: &Hierarchy, split: Split) -> Self {
        let line_bits: Arc<[u32]> =
            hierarchy.caches().map(|cache| hierarchy.geometry(cache).line_bytes.trailing_zeros()).collect();
        let shard = |n| Shard {
            hierarchy: hierarchy.part(split, n),
            told: ShardRecord::new(split, n, Arc::clone(&line_bits), hierarchy.levels()),
        };
        let count = split.shards();
        Self {
            split,
            shards: (0..count).map(shard).collect(),
            slices: vec![vec![Share::default(); count]; count],
            lists: vec![[Vec::new(), Vec::new()]; hierarchy.levels()],
        }
    }

    fn join(&self, before: &Hierarchy) -> Hierarchy {
        let mut whole = before.clone();
        self.shards.iter().for_each(|shard| whole.take_part(&shard.hierarchy));
        whole
    }

    fn play<O: Observer>(&mut self, block: &[Reference], observer: &mut O) {
        let wants = wants_of_shard(observer);
        self.cut(block);
        let Self { shards, slices, .. } = self;
        let play = |(n, Shard { hierarchy, told }): (usize, &mut Shard)| {
            told.clear(wants);
            for Share { references, places } in slices.iter().map(|slice| &slice[n]) {
                match wants.is_nothing() {
                    true => hierarchy.play(references, &mut ()),
                    false => play_share(hierarchy, told, references, places),
                }
            }
        };
        if block.len() < LEAST {
            shards.iter_mut().enumerate().for_each(play);
        } else {
            shards.par_iter_mut().enumerate().for_each(play);
        }
        if wants.takes_batches() {
            self.give(block, wants, observer);
        } else if !wants.is_nothing() {
            self.tell(block, observer);
        }
    }

    /// Gives each shard its share of a block.
    fn cut(&mut self, block: &[Reference]) {
        let split = self.split;
        let slice_len = block.len().div_ceil(self.slices.len()).max(1);
        let cut = |(n, slice): (usize, &mut Vec<Share>)| {
            for share in slice.iter_mut() {
                share.references.clear();
                share.places.clear();
            }
            let first = (n * slice_len).min(block.len());
            let some = &block[first..(first + slice_len).min(block.len())];
            for (reference, place) in some.iter().zip(first..) {
                #[expect(clippy::cast_possible_truncation, reason = "below BLOCK")]
                split.pieces(reference, |piece| {
                    slice[piece.shard].references.push(piece.reference);
                    slice[piece.shard].places.push(place as u16);
                });
            }
        };
        if block.len() < LEAST {
            self.slices.iter_mut().enumerate().for_each(cut);
        } else {
            self.slices.par_iter_mut().enumerate().for_each(cut);
        }
    }

    /// Tells all events, reference by reference.
    fn tell<O: Observer>(&self, block: &[Reference], observer: &mut O) {
        let mut told = vec![0; self.shards.len()];
        for reference in block {
            observer.begin(reference);
            // Each piece has numbered its requests from the first.
            let mut requests = 0;
            self.split.pieces(reference, |piece| {
                let (before, mut last) = (requests, 0);
                for event in self.shards[piece.shard].told.piece(told[piece.shard]) {
                    let mut event = *event;
                    last = last.max(event.origin().request.get());
                    event.renumber(before);
                    observer.event(event);
                }
                requests = before + last;
                told[piece.shard] += 1;
            });
        }
        for Shard { told, .. } in &self.shards {
            if !told.gone.is_empty() {
                observer.batch(&Batch { gone: &told.gone, ..Batch::default() });
            }
        }
    }

    /// Gives the misses of a block, then what moved, shard by shard.
    fn give<O: Observer>(&mut self, block: &[Reference], wants: Wants, observer: &mut O) {
        let Self { shards, lists, .. } = self;
        for (level, [asked, missed]) in lists.iter_mut().enumerate() {
            asked.clear();
            missed.clear();
            for Shard { told, .. } in &*shards {
                asked.extend(&told.asked[level]);
                missed.extend(&told.misses[level]);
            }
        }
        let listed = (0u8..).map(LevelId).zip(lists.iter()).filter(|(_, lists)| lists.iter().any(|l| !l.is_empty()));
        let misses = listed.map(|(level, [asked, missed])| LevelMisses { level, asked, missed });
        let misses: Vec<_> = misses.filter(|_| wants.lists().misses).collect();
        observer.batch(&Batch { references: block, misses: &misses, in_pieces: true, ..Batch::default() });
        if !wants.lists().moves && !wants.gone {
            return;
        }
        for ShardRecord { events, begins, asking, came, gone, .. } in shards.iter().map(|shard| &shard.told) {
            let moved = wants.lists().moves.then(|| Moved { asking: *asking, came });
            observer.batch(&Batch { moved, gone, ..Batch::default() });
            for (n, begin) in begins.iter().enumerate() {
                let end = begins.get(n + 1).copied().unwrap_or(events.len());
                if end > *begin {
                    observer.batch(&Batch { events: &events[*begin..end], ..Batch::default() });
                }
            }
        }
    }
}
