//! The `orrery` command: parse the command line, do one command, say what went wrong.

use clap::Parser;
use orrery::cli::{Cli, canonical};
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = Cli::parse_from(canonical(std::env::args_os()));
    orrery::commands::run(&cli)
}
