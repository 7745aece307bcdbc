//! Any moment of a trace, any part of it and any index of it is what playing the trace gives.

mod answers;
mod flows;
mod grid;
mod kept;
mod lines;
mod seek;
mod served;
mod sums;

#[path = "../support/mod.rs"]
mod support;
