//! Machines told as tasks ([`tasks`](crate::tasks)): what the caches of a CPU do for each reference, and GPUs simulated in time. Both make
//! the same requests of the same kind, held by the same rules, and both have their lines in the simulator's own caches.

pub mod cpu;
pub mod gpu;
