//! Loop nests and dataflow graphs into streams of references: what code would touch, before it runs, at any size.
//!
//! ```text
//! x.loops  -> loops::Source -bind-> \
//!                                    Nest -> Walk: a ReferenceSource whose chunks are computed from iteration numbers
//! x.sdfg   -> sdfg::Graph   -bind-> /
//! ```
//!
//! A [`Nest`] is a tree of loops, conditions and accesses whose bounds and places are formulas in the loop indices. A [`Walk`]
//! knows how many accesses each part of the tree makes, so that the access of any number is found by counting, and nothing is
//! stored. The grammar of `.loops` is `docs/loops.md`. Schaad, Ben-Nun and Hoefler, "Boosting performance optimization with
//! interactive data movement visualization" (2022), is where the idea is from.
//!
//! Pure: text in, references out. Knows nothing of files, simulation and pictures.
//!
//! ```
//! use orrery::nest::{Settings, Walk, loops};
//! use orrery::reference::ReferenceSource;
//!
//! let text = "array A[N] of f64\nparam N = 4\nfor i in 0..N { A[i] += 1 }";
//! let nest = loops::Source::parse("sum.loops", text)?.bind(&Settings::of([("N", 1_000_000_000)]))?;
//! let walk = Walk::new(nest, 64)?;
//! assert_eq!(walk.len(), 1_000_000_000);
//! assert_eq!(walk.iteration(77).map(|i| i.to_string()).as_deref(), Some("i=77"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod container;
mod count;
mod emit;
mod expr;
mod fault;
mod first;
mod form;
mod grammar;
mod lexer;
pub mod loops;
mod machine;
mod parser;
mod run;
#[cfg(feature = "native")]
pub mod sdfg;
mod settings;
mod stepped;
mod symbolic;
mod tree;
mod walk;

pub use container::{Container, span_lines};
pub use fault::NestError;
pub use settings::Settings;
pub use symbolic::{Amount, Item, Moved, Task, Volumes};
pub use tree::{Nest, Statement};
pub use walk::{Iteration, NestText, Walk};
