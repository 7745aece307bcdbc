//! Orrery plays a program's memory references through a simulated memory hierarchy and draws what moves.
//!
//! As a library it is first of all a cache simulator: [`sim`] plays references and counts, [`trace`] is where references come
//! from, [`timeline`] goes to any moment; [`host`] tells the caches of this machine. These need no feature and nothing in C:
//! `orrery = { version = "0.1", default-features = false }`.
//!
//! # Counting
//!
//! References from anywhere become a [`reference::MemoryTrace`]; caches are a preset, a TOML text, or built by hand.
//!
//! ```
//! use orrery::reference::{Kind, MemoryTrace, Reference, Tables};
//! use orrery::sim::{config::preset, stats::collect};
//!
//! // 1,000 doubles, one after the other: a line of 64 bytes holds eight.
//! let references = (0..1000).map(|i| Reference::new(Kind::Read, 0x10000 + 8 * i, 8)).collect();
//! let trace = MemoryTrace::new(references, Tables::default());
//! let caches = preset("textbook").ok_or("a preset")?;
//! let stats = collect(&trace, &caches, false)?;
//! assert_eq!((stats.levels[0].accesses(), stats.levels[0].misses()), (1000, 125));
//! assert_eq!(stats.levels[0].compulsory, 125);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Watching
//!
//! An observer of your own is told each [`sim::Event`]; `examples/observer.rs` measures stack distances by one.
//!
//! ```
//! use orrery::sim::{Event, Hierarchy, Observer, config::preset};
//! use orrery::trace::synth::{MatmulOrder, matmul};
//!
//! /// Lines that had to leave a cache dirty.
//! struct Dirty(u64);
//! impl Observer for Dirty {
//!     fn event(&mut self, event: Event) {
//!         self.0 += u64::from(matches!(event, Event::Evict { dirty: true, .. }));
//!     }
//! }
//! let mut caches = Hierarchy::new(&preset("paper").ok_or("a preset")?)?;
//! let mut seen = Dirty(0);
//! caches.play(matmul(16, MatmulOrder::Standard).references(), &mut seen);
//! assert_eq!(seen.0, caches.caches().map(|cache| caches.counters(cache).writebacks).sum::<u64>());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Any moment
//!
//! ```
//! use orrery::sim::{config::preset, prepare};
//! use orrery::timeline::{Cursor, Options, Timeline};
//! use orrery::trace::synth::{MatmulOrder, matmul};
//! use std::sync::Arc;
//!
//! let trace = Arc::new(matmul(16, MatmulOrder::Standard));
//! let caches = prepare(&preset("paper").ok_or("a preset")?, &*trace)?;
//! let timeline = Timeline::build(trace, caches, Options::default(), &mut |_, _| true)?;
//! let mut cursor = Cursor::new(Arc::new(timeline))?;
//! // Before the 2,000th reference, with the 100 before it logged.
//! let moment = cursor.seek(2_000, 100)?;
//! assert_eq!((moment.tick, moment.len), (2_000, 2 * 16 * 16 * 16 + 16 * 16));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! All are on by default.
//!
//! | Feature | Adds |
//! |---|---|
//! | `native` | the native trace file, which is Parquet (`trace::native`) |
//! | `formats` | traces of other tools, packed or not (`trace::open`), with copies and indexes that are kept (`opening`); with `native` |
//! | `traced` | arrays that record who touches them (`traced`); with `native` |
//! | `capture` | programs that are recorded, by themselves or by Valgrind, and symbols (`capture`, `symbols`); with `formats` |
//! | `kernel` | compute shaders in WGSL, run and recorded (`kernel`) |
//! | `cli` | the command `orrery`; with `capture` and `kernel` |
//! | `gpu` | pictures and videos (`render`, `overlay`, `record`), kernels on an adapter (`launch`) |
//! | `viewer` | the window (`app`); with `gpu` |
//!
//! # The whole
//!
//! ```text
//! trace  ->  sim  ->  timeline  ->  scene  ->  render  ->  overlay  ->  app | record
//! ```
//!
//! Data flows left to right, imports point right to left (`tests/architecture.rs` holds the rule), and everything before
//! `app` gives the same output for the same input. `ARCHITECTURE.md` says what each module must not know.

// What is said goes through `shown`.
#![warn(clippy::print_stderr)]

// ---- What a program that simulates needs: simulator, traces, timeline.

pub mod sim;

pub mod analysis;

pub mod tasks;

pub mod machine;

pub mod nest;

pub mod trace;

pub mod timeline;

pub mod axis;

pub mod reference;

pub mod units;

pub mod host;

// ---- What traces come from.

#[cfg(feature = "kernel")]
pub mod kernel;

#[cfg(feature = "traced")]
pub mod traced;

#[cfg(feature = "formats")]
pub mod daisen;

#[cfg(feature = "formats")]
pub mod opening;

#[cfg(feature = "capture")]
pub mod capture;

#[cfg(feature = "capture")]
pub mod symbols;

// ---- What is seen of them.

pub mod scene;

pub mod chart;

pub mod report;

#[cfg(feature = "gpu")]
pub mod render;

#[cfg(feature = "gpu")]
pub mod launch;

#[cfg(feature = "gpu")]
pub mod overlay;

#[cfg(feature = "gpu")]
pub mod record;

#[cfg(feature = "gpu")]
pub mod typefaces;

#[cfg(feature = "gpu")]
pub mod story;

#[cfg(feature = "viewer")]
pub mod app;

pub mod shown;

#[cfg(any(feature = "native", feature = "gpu"))]
pub mod files;

// ---- The command `orrery`: no promise of what stays as it is.

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod commands;
