//! The program as it is called: its command lines, files, pages and messages.
#![cfg(feature = "cli")]

#[cfg(feature = "gpu")]
mod adapter;
mod advice;
mod annotations;
mod answers;
mod calls;
mod charts;
mod cli;
mod docs;
#[cfg(all(unix, feature = "gpu"))]
mod films;
mod gpu;
mod host;
#[cfg(unix)]
mod hostile;
#[cfg(feature = "gpu")]
mod index_file;
mod kept_tasks;
mod kernel_counts;
mod kernel_views;
mod kernels;
mod launches;
mod nests;
mod random_kernels;
#[cfg(feature = "gpu")]
mod read_once;
mod sources;
#[cfg(feature = "gpu")]
mod stills;
#[cfg(feature = "gpu")]
mod story;
#[cfg(feature = "gpu")]
mod story_changes;
#[cfg(feature = "gpu")]
mod story_films;
#[cfg(feature = "gpu")]
mod task_pictures;
mod tasks;
mod textures;
#[cfg(all(unix, feature = "gpu"))]
mod vectors;
mod warps;

#[path = "../support/mod.rs"]
mod support;
