//! temp
pub mod traces;
use std::path::Path;
pub fn compile(source: &Path, program: &Path, flags: &[&str]) -> Result<(), String> {
    let o = std::process::Command::new("gcc").args(flags).arg("-o").arg(program).arg(source).output().map_err(|_| "there is no gcc".to_owned())?;
    if o.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&o.stderr).into_owned()) }
}
