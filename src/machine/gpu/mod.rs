//! GPUs, simulated in time: wavefronts of a kernel on compute units, their requests through TLBs, vector and scalar caches, L2 banks and
//! DRAM channels, each with queues and misses under way that have an end.
//!
//! ```text
//!  dispatcher --> compute unit --> TLB ----> L2TLB --> walks
//!                  wavefronts  --> vector cache --> L2 bank --> DRAM channel
//!                              --> scalar cache ----^
//! ```
//!
//! Time goes from event to event; of two at the same cycle the one that was made first comes first, so that a run is the
//! same each time. Which lines a cache holds is told by the simulator's own caches ([`Hierarchy`](crate::sim::Hierarchy)), asked in the
//! order of time. All that happens can be kept as [`tasks`](crate::tasks).

mod agenda;
mod coalesce;
mod config;
mod engine;
mod kernels;
mod node;
mod recorder;
mod requests;
#[cfg(test)]
mod tests;
mod waves;

pub use coalesce::{Lane, bank_of, sectors};
pub use config::{GpuCache, GpuConfig, GpuDram, GpuError, GpuTlb, GpuWrite, names, preset, preset_text};
pub use engine::{GpuRun, Job, JobError, KernelTimes, NodeNumbers, RunError, simulate};
pub use kernels::{KERNELS, KernelEntry, KernelError, Op, Program, Recorded, Step};
