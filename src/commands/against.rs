//! `--against`: what a trace is compared with.

use super::UsageError;
use super::hierarchy::no_preset;
use super::open::{cache_choice, failed, opening};
use super::picture::{give_sources, give_title};
use crate::cli::{CacheArgs, PictureArgs, TraceArgs};
use crate::host;
use crate::opening::CacheChoice;
use crate::overlay::{Baseline, Studio};
use crate::sim::config::preset;
use crate::trace::file_of;
use std::path::Path;

/// What a word of `--against` means.
#[derive(Clone, Debug)]
pub(super) enum Compared {
    /// The same trace under these caches.
    Caches(CacheArgs),
    /// Another trace.
    Trace(TraceArgs),
}

/// What `--against` asks for.
///
/// # Errors
/// [`UsageError`] where there is no such thing.
pub(super) fn compared(cache: &CacheArgs, picture: &PictureArgs) -> Result<Option<Compared>, UsageError> {
    let Some(name) = &picture.compared.against else { return Ok(None) };
    let (path, step) = (Path::new(name), picture.compared.in_step.as_ref());
    let is_caches = preset(name).is_some() || name == host::NAME || path.extension().is_some_and(|e| e == "toml");
    if is_caches {
        return match step {
            Some(step) => Err(UsageError(format!(
                "--in-step {step}: expected another trace to go in step with, but --against {name} is the same under other caches"
            ))),
            None => {
                let CacheArgs { data_only, cores, seed, .. } = *cache;
                let args = CacheArgs { cache: Some(name.clone()), data_only, cores, seed, ..CacheArgs::default() };
                Ok(Some(Compared::Caches(args)))
            }
        };
    }
    if name == "-" {
        return Err(UsageError("--against -: expected a file: standard input can be read once only".into()));
    }
    if file_of(path).is_some_and(|file| !file.exists()) {
        let remedy = if path.components().count() > 1 { String::new() } else { format!("; {}", no_preset(name)) };
        return Err(UsageError(format!("--against {name}: there is no such file{remedy}")));
    }
    Ok(Some(Compared::Trace(TraceArgs { trace: path.to_owned(), format: None })))
}

/// What a studio is compared with: indexed, all of it.
///
/// # Errors
/// When it is not to be had, or the two do not go in step as they should.
pub(super) fn baseline(
    studio: &Studio,
    cache: &CacheArgs,
    picture: &PictureArgs,
    progress: &mut dyn FnMut(u64, u64) -> bool,
) -> anyhow::Result<Option<Baseline>> {
    let timeline = studio.timeline();
    Ok(match compared(cache, picture)? {
        None => None,
        Some(Compared::Caches(args)) => {
            let own = opening(&TraceArgs { trace: "-".into(), format: None });
            let other = own.timeline_of(timeline.source(), &cache_choice(&args), picture.memory, progress);
            let mut other = Studio::of(other.map_err(failed)?)?;
            other.set_title(studio.tables().title.clone());
            other.set_sources(studio.sources());
            Some(Baseline::caches(other))
        }
        Some(Compared::Trace(trace)) => {
            let caches = CacheChoice::of(timeline.config().clone()).with_cores_of_trace();
            let other = opening(&trace).timeline(&caches, picture.memory, progress).map_err(failed)?;
            let mut other = Studio::of(other)?;
            give_title(&mut other, &trace.trace, &untitled(picture));
            give_sources(&mut other, &trace.trace);
            let (baseline, error) = Baseline::trace(studio, other, picture.compared.in_step.clone());
            match (error, &picture.compared.in_step) {
                (Some(error), Some(step)) => return Err(UsageError(format!("--in-step {step}: {error}")).into()),
                _ => Some(baseline),
            }
        }
    })
}

/// The same without the title, which is that of this trace.
pub(super) fn untitled(picture: &PictureArgs) -> PictureArgs {
    PictureArgs { title: None, ..picture.clone() }
}
