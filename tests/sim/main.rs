//! The simulator: by hand, against a slow model of its own, against other simulators, by properties; and its statistics.

mod config;
mod distances;
mod every_kind;
mod explained;
mod hierarchy;
mod hit_rate;
mod invariants;
mod nests;
mod pairs;
mod presets;
mod reference;
mod relations;
mod requests;
mod shards;
mod slow_model;
mod stats_matmul;
mod stats_rows;

#[path = "../support/mod.rs"]
mod support;
