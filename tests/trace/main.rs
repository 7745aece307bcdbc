//! Files of traces: what is read from each format, what is written, and what becomes of damage.
#![cfg(feature = "formats")]

mod accelsim;
mod arrays;
mod binary;
mod columns;
mod convert;
mod copies;
mod figures;
mod fuzz_corpus;
mod lackey;
mod native;
mod packed;
mod python;
mod text;
mod write;

#[path = "../support/mod.rs"]
mod support;
