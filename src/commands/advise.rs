//! `orrery advise`: what would help, with what it would bring.

use super::UsageError;
use super::caches::describe;
use super::open::{Caches, open_cache, open_trace};
use super::stats::{CachesUsed, to_stdout};
use super::told::Told;
use crate::analysis::{Advice, AdviceError, advise};
use crate::cli::AdviseArgs;
use crate::reference::ReferenceSource;
use crate::shown;
use crate::units::counted;

/// Prints what would help on standard output.
///
/// # Errors
/// When trace or caches are not to be had, or the output cannot be written.
pub(super) fn run(args: &AdviseArgs) -> anyhow::Result<()> {
    let source = open_trace(&args.trace)?;
    let caches = open_cache(&args.cache, source.as_ref())?;
    let found = of(source.as_ref(), &caches)?;
    to_stdout(args.json, |out| {
        if args.json {
            let all =
                serde_json::json!({ "caches": CachesUsed::of(&caches), "references": source.len(), "advice": found });
            serde_json::to_writer_pretty(&mut *out, &all).map_err(std::io::Error::from)?;
            writeln!(out)?;
            return Ok(out.flush()?);
        }
        let title = &source.tables().title;
        if !title.is_empty() {
            writeln!(out, "{}", shown::name(title))?;
        }
        writeln!(out, "{}: {}", shown::name(&caches.config.name), describe(&caches.config)?)?;
        if found.is_empty() {
            writeln!(out, "\n{NONE}")?;
        }
        let trace = shown::quoted(&args.trace.trace.to_string_lossy()).into_owned();
        for (n, advice) in (1..).zip(&found) {
            writeln!(
                out,
                "\n{n}. {}: {}",
                advice.regions.iter().map(|name| shown::name(name)).collect::<Vec<_>>().join(", "),
                advice.pattern.title()
            )?;
            for sentence in advice.sentences() {
                writeln!(out, "   {}", shown::line(&sentence))?;
            }
            for place in &advice.places {
                let (line, misses) = (shown::name(&place.line), counted(place.misses, "miss"));
                writeln!(out, "   {line}  {misses} of {}", counted(place.references, "reference"))?;
            }
            if let Some(example) = advice.example {
                writeln!(out, "   One of them: orrery why {trace} {example}")?;
            }
        }
        Ok(out.flush()?)
    })
}

/// What is said where there is nothing to say.
pub(super) const NONE: &str = "No known pattern whose remedy pays when it is simulated.";

/// The advice for a trace.
///
/// # Errors
/// [`UsageError`] for caches that look ahead; a source that fails.
pub(super) fn of(source: &dyn ReferenceSource, caches: &Caches) -> anyhow::Result<Vec<Advice>> {
    advise(&Told::new(source), &caches.config).map_err(|error| match error {
        AdviceError::Future(_) => UsageError(error.to_string()).into(),
        error => error.into(),
    })
}
