//! Programs built by tests with the machine's compilers.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The folder of the sources.
#[must_use]
pub(crate) fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

/// The compiler that stands in this environment variable, or this one; `None`, said aloud, where it is not installed.
/// `REQUIRE_COMPILERS=1` makes that a failure.
///
/// # Panics
/// Where compilers are required and this one is missing.
#[must_use]
pub(crate) fn compiler(variable: &str, usual: &str) -> Option<String> {
    let name = std::env::var(variable).unwrap_or_else(|_| usual.to_owned());
    if Command::new(&name).arg("--version").output().is_ok_and(|o| o.status.success()) {
        return Some(name);
    }
    let required = std::env::var("REQUIRE_COMPILERS").is_ok_and(|v| v == "1");
    assert!(!required, "{name} is required (REQUIRE_COMPILERS=1)");
    eprintln!("skipped: {name} is not installed");
    None
}

/// Compiles and links sources of `tests/programs` to `output`.
///
/// # Panics
/// Where the compiler finds fault.
pub(crate) fn build(compiler: &str, flags: &[&str], names: &[&str], output: &Path) {
    let files: Vec<PathBuf> = names.iter().map(|n| sources().join(n)).collect();
    let mut command = Command::new(compiler);
    command.args(flags).args(&files).arg("-o").arg(output);
    // Fortran leaves a file for each module in the folder that it runs in.
    command.current_dir(output.parent().expect("a file in a folder"));
    let out = command.output().expect("a compiler");
    assert!(out.status.success(), "{compiler} {flags:?}: {}", String::from_utf8_lossy(&out.stderr));
}

/// Runs a program to its end.
///
/// # Panics
/// Where it fails.
#[must_use]
pub(crate) fn run(program: &Path) -> String {
    let output: Output = Command::new(program).output().expect("the program starts");
    assert!(output.status.success(), "{}: {:?}", program.display(), output.status);
    String::from_utf8_lossy(&output.stdout).into_owned()
}
