//! Compute shaders in WGSL, run and recorded: which way items go, what their warps cost, banks, sectors, races.
//!
//! ```text
//! WGSL -> Program (naga: parsed, validated, entry chosen) -> machine -> record::Observer -> model -> Counts
//!                    |                                        ^                          -> kept  -> KernelBook, for pictures
//!                    +-> instrument -> (an adapter runs it) --+ words in place of values
//! ```
//!
//! The machine runs naga's statements for all items of a group at once; it needs no adapter, and does the same each time. What is
//! recorded, how it is counted and what it cannot do: `docs/kernels.md`. Pure: files are read by whoever calls.
//!
//! ```
//! use orrery::kernel::{Extent, Launch, Program};
//! use std::collections::BTreeMap;
//!
//! let text = "
//! @group(0) @binding(0) var<storage, read_write> a: array<u32>;
//! @compute @workgroup_size(64)
//! fn main(@builtin(global_invocation_id) id: vec3u) {
//!     if id.x % 2u == 0u { a[id.x] = id.x; }
//! }";
//! let program = Program::new("even.wgsl", text, None, &BTreeMap::new())?;
//! let run = program.run(&Launch::of(Extent::Items([128, 1, 1])))?;
//! assert_eq!((run.counts.warps, run.counts.divergent_warps), (4, 4));
//! # Ok::<(), orrery::kernel::KernelError>(())
//! ```

mod annotations;
mod bound;
mod buffers;
pub mod bundled;
mod code;
mod compile;
mod engine;
mod error;
mod held;
mod instrument;
mod kept;
mod machine;
mod mask;
mod model;
mod pictures;
mod program;
mod reading;
mod record;
mod run;
mod texel;
mod trace;
mod types;
mod warps;

pub use annotations::{Emit, ValueForm};
pub use bound::{Bound, bound, numbers};
pub use buffers::{Content, Given, Size};
pub use code::{Act, Site, name_of};
pub use engine::{Engine, Interpreter, Ready, Told};
pub use error::KernelError;
pub use held::Held;
pub use instrument::{ENTRY, HEAD, Instrumented, SLOT_HEAD, SLOT_MORE};
pub use kept::{BankUse, Chosen, Doing, GroupRecord, KEPT, KernelBook, Row, Values, WarpUse};
pub use machine::Limits;
pub use mask::{MOST_ITEMS, Mask};
pub use model::{
    Banks, Branching, Cost, Counts, Decided, GroupUse, Hardware, Path, ProxyWarp, Race, SiteUse, ValueStats,
};
pub use pictures::Picture;
pub use program::{Program, Sampler, Shared, Space};
pub use record::{Access, Decision, Event, LoneBarrier, Observer, Outside, Recording};
pub use run::{Cancel, EVENTS, Extent, Launch, Run, STEPS, Unbound};
pub use texel::{Edge, Sampling, TexelFormat, Texture};
pub use trace::LaunchTrace;
pub use warps::{MOST_LANES, WarpRecord, WarpStep, kind_of};
