//! References to events: the cache hierarchy.
//!
//! [`Hierarchy::access`] plays one [`Reference`](crate::reference::Reference) and tells an [`Observer`] what happened as
//! [`Event`]s; with the observer `()` no event exists. Counts are always kept. [`Classifier`] (why a miss) and
//! [`StatsCollector`] (counts by region) are observers. [`prepare`] makes a hierarchy for a trace, with what OPT has to know
//! of it.
//!
//! # Semantics
//!
//! *Levels, caches, paths.* A level of the configuration has one cache, or one for each core unless it is shared. A request
//! passes, in the order written, the levels that hold its kind (data or instructions), each by the cache of its core; behind
//! the last is memory. Write-backs leave on the data side, victims of a level for instructions only on the other.
//!
//! *Requests.* A reference is cut at the line boundaries of the level that receives it; pieces run in rising address order,
//! each finished with all it causes before the next, and each is one access. A request between two levels is cut in the
//! same way by the receiving level, so line sizes may grow or shrink outward. `Modify` is a whole read, then a whole
//! write. Bytes past 2^64 do not exist. A size of 0, which readers never yield, is taken as 1.
//!
//! *Misses.* The victim is chosen and replaced first, empty ways before any line; then the demand request goes to the next level,
//! then a write-through store, then the dirty victim's write-back (before the request with `writeback_first`). A store miss asks
//! the next level with a read (read for ownership), a fetch miss with a fetch.
//!
//! *Writes.* A store or write-back that covers a whole line of the receiving level allocates it without a fetch (stores with
//! `fetch_on_full_line_write` fetch all the same). A write-back from smaller lines that misses reads the rest of the line first,
//! like a store. A write-back is an access of kind [`AccessKind::Writeback`], counted with the writes; a hit renews the line
//! like a read; a miss allocates, also where `allocate = "none"`, which is about stores. A write-through level sends stores on at
//! once, and write-backs that reach it on as write-backs; its lines stay clean. A no-allocate level sends a store that misses on.
//!
//! *Inclusive* levels take what they evict out of all caches inside (back-invalidation); dirt found there makes the victim dirty.
//! A line that a store made without a fetch is not known outside yet: only with `fetch_on_full_line_write` does an inclusive
//! level hold everything that is inside.
//!
//! *Exclusive* levels are filled by victims of the level inside only: dirty ones come as a write-back, clean ones are no access (a
//! fill, or a renewal where the line is there already). A read or fetch that hits takes the line away, inward, its dirt
//! with it: counted as an invalidation, so that fills = evictions + invalidations + resident lines everywhere. (A fetch that
//! hits where no level inside holds instructions leaves it there.) What misses passes by.
//!
//! *Sectors.* A line is there as a whole, each of its sectors is there and dirty by itself. An access hits if every sector is
//! there that it touches and does not cover; what is not there is fetched, a request for each run of neighbours. Only a miss
//! of the line itself fills and evicts. Dirty sectors are written back, a request for each run; counted as one write-back.
//!
//! *Cores* follow MESI (see `coherence`). Before a store, other cores' copies of its unit are taken, dirty ones written back to the
//! first shared level before (an intervention); before a read leaves a core's private caches, other cores' dirty copies are
//! written back and stay. One core does nothing of this.
//!
//! *Prefetchers* (see `prefetch`) watch the demand accesses of their cache; what they ask for is played after all that the
//! access causes, as requests of kind [`AccessKind::Prefetch`] of the levels outside, counted apart. They stay on the side of
//! the access.
//!
//! *TLBs* (see `tlb`) are asked for each page before the data is.
//!
//! Knows nothing of files, clocks, pixels, or where references come from.

pub mod config;

mod geometry;
pub use geometry::{Geometry, Index};

pub mod policy;
pub use policy::Policy;

pub mod event;
pub use event::{AccessKind, Cause, Event, Origin, RequestId};

pub mod observer;
pub use observer::{AccessList, Batch, Events, Gone, LevelMisses, Lists, Moved, Observer, Wants};

mod cache;
pub use cache::Resident;

mod request;

mod counters;
pub use counters::LevelCounters;

pub(crate) mod hash;

mod plan;
pub use plan::{CacheInfo, TlbInfo};

mod prefetch;

mod coherence;
pub use coherence::SharingCounters;

mod tlb;
pub use tlb::Tlbs;

mod fast;
mod simd;
mod words;

mod hierarchy;
pub use hierarchy::{Hierarchy, MemoryCounters, Packed, Packer};

pub mod shards;
pub use shards::Shards;

mod check;
pub use check::{PlayCheck, SimError};

mod pass;
pub use pass::pass;

mod foresight;
pub use foresight::prepare;

pub mod classes;
pub use classes::{ClassCounts, Classifier, MissClass};

pub mod stats;
pub use stats::{Stats, StatsCollector};
