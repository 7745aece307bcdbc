//! `orrery record`: a range of a trace as a video, an animation or numbered pictures.

use super::picture::{arranged, choice, context, dressed, exhibit as shown, parts, size, studio, view};
use super::stop::{Flag, Stopped};
use super::{UsageError, finish};
use crate::axis::Position;
use crate::cli::RecordArgs;
use crate::record::{Film, Options, RecordError, Summary};
use crate::shown::say;
use crate::timeline::{ClockKind, Life, Pace};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Frames past which a recording is a slip: four days at 30 frames a second.
const MOST_FRAMES: u64 = 10_000_000;

/// Records and says on standard error what it came to.
///
/// # Errors
/// When the trace, the cache, the adapter or the output is not to be had.
pub fn run(args: &RecordArgs) -> anyhow::Result<()> {
    // The first Ctrl-C ends the recording with a whole file; whoever presses again wants out.
    let stop = Flag::new("stopping: the frames so far are being finished");
    let summary = film(args, &stop.raised)?;
    if args.story.dry_run {
        return Ok(());
    }
    if summary.frames == 0 {
        return Err(Stopped(format!("{} was not written, for no frame was done", args.output.display())).into());
    }
    say!("{}: {summary}", args.output.display());
    Ok(())
}

/// Records `args` until done or `stop`.
///
/// # Errors
/// As [`run`].
pub fn film(args: &RecordArgs, stop: &AtomicBool) -> anyhow::Result<Summary> {
    if let Some(story) = super::story::named(&args.trace.trace) {
        return super::story::film(args, &story, stop);
    }
    if let Some(flag) = args.story.given() {
        let found = args.trace.trace.display();
        return Err(
            UsageError(format!("{flag}: found {found}; expected a storyboard, NAME.story.toml or story:NAME")).into()
        );
    }
    let output = finish::output(args)?;
    let (size, scale) = finish::drawn(args, size(&args.picture)?)?;
    let fps = finish::rate(args, framerate(args, None)?);
    let speed = args.speed;
    // Before the trace is opened: a wrong flag is told at once.
    view(&args.picture, speed.unwrap_or(1.0), 1.0)?;
    choice(&args.picture)?;
    arranged(&args.picture)?;
    let studio = studio(&args.trace, &args.cache, &args.picture, &|| !stop.load(Ordering::Relaxed))?;
    let exhibit = shown(&args.picture, &studio)?;
    let len = exhibit.axis(&studio).len;
    let (start, stop_at) = match studio.tasks().and_then(|book| book.first().part.clone()) {
        Some(part) if args.start_ref.or(args.stop_ref).is_none() => (part.start, part.end),
        _ => range(args, len)?,
    };
    if args.speed.is_none() && !(args.seconds.is_finite() && args.seconds > 0.0) {
        return Err(UsageError(format!("--seconds {}: expected a length above 0", args.seconds)).into());
    }
    let clock = Arc::new(studio.clock(args.clock));
    let time = clock.between(Position::at(start), Position::at(stop_at));
    let speed = speed.unwrap_or((time / args.seconds).max(0.1));
    let pace = Pace { start, stop: stop_at, speed, fps, clock };
    if pace.frames() > MOST_FRAMES {
        let frames = pace.frames();
        return Err(UsageError(format!(
            "--speed {speed}: at {fps} frames a second that makes {frames} frames; give a higher --speed, or a shorter range \
             with --start-ref and --stop-ref"
        ))
        .into());
    }
    // Of another clock each frame says for itself what it skips.
    let step = if args.clock == ClockKind::References { pace.step() } else { 1.0 };
    let mut view = view(&args.picture, speed, step)?;
    view.tail = view.tail.min(len);
    let view = dressed(view, &args.picture, &studio)?;
    let go = &mut |_: &Life| !stop.load(Ordering::Relaxed);
    let life = view.pin.map(|pin| studio.timeline().life(pin, go)).transpose()?.map(Arc::new);
    let context = context()?;
    let mut traces = Vec::new();
    if args.finish.manifest {
        traces.push(finish::trace_entry(&studio.tables().title, &args.trace.trace, &studio)?);
    }
    let mut film = Film::new(context, studio, exhibit, size, parts(&args.picture), view, pace)?
        .with_life(life)
        .with_text_scale(scale)
        .with_theme(args.picture.theme)
        .with_strip(args.picture.strip);
    let options = Options { fps, ..Options::default() };
    let mut others = finish::others(&mut film, |film, context| {
        let exhibit = shown(&args.picture, film.studio()).ok()?;
        film.another(context, exhibit).ok()
    });
    let look = (&output, args.picture.theme, !args.finish.any_flashes);
    let summary = finish::film((&mut film, &mut others), args, look, options, stop)?;
    finish::manifest(args, (&output, &summary), &film.adapter(), &traces)?;
    if args.verbose {
        film.account(&others).iter().for_each(|line| say!("{line}"));
    }
    Ok(summary)
}

/// Frames a second: those that are asked for, or else a storyboard's own.
pub(super) fn framerate(args: &RecordArgs, own: Option<u32>) -> Result<u32, UsageError> {
    let fps = args.output_framerate.or(own).unwrap_or(30);
    match (1..=120).contains(&fps) {
        true => Ok(fps),
        false => Err(UsageError(format!("--output-framerate {fps}: expected 1 to 120 frames a second"))),
    }
}

/// A fault of the output's name is a fault of the command line.
pub(super) fn usage(error: RecordError) -> anyhow::Error {
    if error.is_usage() { UsageError(error.to_string()).into() } else { error.into() }
}

/// First reference and one past the last.
fn range(args: &RecordArgs, len: u64) -> Result<(u64, u64), UsageError> {
    let share = |flag: &str, share: Option<f64>, default: u64| match share {
        None => Ok(default),
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a length")]
        Some(s) if (0.0..=1.0).contains(&s) => Ok((s * len as f64).round() as u64),
        Some(s) => Err(UsageError(format!("{flag} {s}: expected a share of the trace, 0 to 1"))),
    };
    let start = args.start_ref.map_or_else(|| share("--start-position", args.start_position, 0), Ok)?;
    let stop = args.stop_ref.map_or_else(|| share("--stop-position", args.stop_position, len), Ok)?;
    if start >= stop || stop > len {
        return Err(UsageError(format!(
            "references {start} to {stop} are no range of this trace: it has {len}, and the start must come before the end"
        )));
    }
    Ok((start, stop))
}
