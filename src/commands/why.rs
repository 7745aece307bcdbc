//! `orrery why`: one reference, explained.

use super::UsageError;
use super::caches::describe;
use super::open::{open_cache, open_trace};
use super::stats::to_stdout;
use super::told::Told;
use crate::analysis::{ExplainError, explain};
use crate::cli::WhyArgs;
use crate::shown;
use crate::units::grouped;

/// Explains the reference that `args` name, on standard output.
///
/// # Errors
/// When trace or caches are not to be had, there is no such reference, or the output cannot be written.
pub(super) fn run(args: &WhyArgs) -> anyhow::Result<()> {
    let source = open_trace(&args.trace)?;
    let caches = open_cache(&args.cache, source.as_ref())?;
    let told = explain(&Told::new(source.as_ref()), &caches.config, args.reference).map_err(|error| match error {
        ExplainError::PastTheEnd { .. } => UsageError(error.to_string()).into(),
        error => anyhow::Error::from(error),
    })?;
    to_stdout(args.json, |out| {
        if args.json {
            serde_json::to_writer_pretty(&mut *out, &told).map_err(std::io::Error::from)?;
            writeln!(out)?;
            return Ok(out.flush()?);
        }
        write!(out, "reference {}", grouped(told.reference))?;
        if told.core > 0 {
            write!(out, ", core {}", told.core)?;
        }
        if let Some(location) = &told.location {
            let (file, text) = (shown::name(&location.file), shown::name(&location.text));
            write!(out, ", {file}:{}  {text}", location.line)?;
        }
        writeln!(out, "\n{}: {}\n", shown::name(&caches.config.name), describe(&caches.config)?)?;
        for sentence in &told.sentences {
            writeln!(out, "{}", shown::line(sentence))?;
        }
        Ok(out.flush()?)
    })
}
