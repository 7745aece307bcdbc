//! What tests share. Each area holds all of it and uses a part.
#![allow(dead_code, reason = "each area uses a part of it")]
#![allow(clippy::unwrap_used, reason = "helpers of tests: to fail is to tell")]

pub(crate) mod built;
#[cfg(all(feature = "cli", target_os = "linux", target_arch = "x86_64"))]
pub(crate) mod capture;
#[cfg(feature = "gpu")]
pub(crate) mod device;
#[cfg(feature = "gpu")]
pub(crate) mod golden;
#[cfg(feature = "gpu")]
pub(crate) mod moving;
#[cfg(feature = "gpu")]
pub(crate) mod mp4;
pub(crate) mod random;
pub(crate) mod regions;
pub(crate) mod rings;
#[cfg(feature = "formats")]
pub(crate) mod scene;
pub(crate) mod timeline;
pub(crate) mod words;
