//! The `orrery` command: parse the command line, do one command, say what went wrong.

use orrery::cli::canonical;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = orrery::commands::parse(canonical(std::env::args_os(), |word| word.exists()));
    orrery::commands::run(&cli)
}
