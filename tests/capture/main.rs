//! Programs that say of themselves what they do: compiled by `orrery cc`, run under Valgrind, written with traced arrays; and the
//! names that their files hold.
#![cfg(feature = "cli")]

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod compiler;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod cubes;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod gauss;
#[cfg(target_os = "linux")]
mod killed;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod outputs;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod places;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod programs;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod run;
mod symbols;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod syntax;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod threaded;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod torture;
#[cfg(feature = "traced")]
mod traced;
#[cfg(target_os = "linux")]
mod valgrind;

#[path = "../support/mod.rs"]
mod support;
