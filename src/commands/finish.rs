//! From frames to a file, for `record` of a trace and of a storyboard alike: format, size, ground, and the manifest beside it.

use super::UsageError;
use super::picture::context;
use super::progress::Display;
pub(super) use super::record::usage;
use super::written::write_whole;
use crate::cli::{FinishArgs, RecordArgs, RefineArgs};
use crate::files::sha256;
use crate::overlay::Studio;
use crate::record::{
    Format, FrameSource, Held, Options, Output, Refined, Refinement, Summary, Wanted, in_turn, record, sources,
};
use crate::render::Context;
use crate::scene::palette::{self, Theme};
use crate::shown::say;
use anyhow::Context as _;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Frames a second of a preview, at most.
const PREVIEW_RATE: u32 = 10;
/// Pixels along a side that a picture may be drawn with.
const MOST_PIXELS: u32 = 16384;

/// The file that is asked for.
///
/// # Errors
/// Where the name or the flags say nothing that can be written.
pub(super) fn output(args: &RecordArgs) -> anyhow::Result<Output> {
    let FinishArgs { to, encoder, audio, refine, .. } = &args.finish;
    let wanted = Wanted { to: to.as_deref(), encoder: encoder.as_deref(), audio: audio.as_deref() };
    let output = Output::wanted(&args.output, wanted).map_err(usage)?;
    if refine.transparent && !output.format().is_transparent() {
        return Err(usage(crate::record::RecordError::Opaque { format: output.format().name().to_owned() }));
    }
    if args.finish.manifest && args.output.as_os_str() == "-" {
        return Err(UsageError(
            "--manifest: found - for standard output; expected a file, which it lies beside".into(),
        )
        .into());
    }
    Ok(output)
}

/// Size that pictures are drawn at which are `size` in the end.
///
/// # Errors
/// Where that is larger than can be drawn.
pub(super) fn enlarged(refine: &RefineArgs, (width, height): (u32, u32)) -> Result<(u32, u32), UsageError> {
    let factor = refine.supersample;
    let size = (width * factor, height * factor);
    if size.0.max(size.1) > MOST_PIXELS {
        return Err(UsageError(format!(
            "--supersample {factor}: found {width}x{height}, which is {}x{} then; expected sides of {MOST_PIXELS} at most",
            size.0, size.1
        )));
    }
    Ok(size)
}

/// What is done to pictures once they are drawn.
pub(super) fn refinement(refine: &RefineArgs, theme: Theme) -> Refinement {
    let [r, g, b, _] = palette::themed(palette::BACKGROUND, theme);
    Refinement { factor: refine.supersample, ground: refine.transparent.then_some([r, g, b]) }
}

/// Size that frames are drawn at, and pixels for each point of type and tables.
///
/// # Errors
/// As [`enlarged`].
#[expect(clippy::cast_precision_loss, reason = "1 to 4")]
pub(super) fn drawn(args: &RecordArgs, (width, height): (u32, u32)) -> Result<((u32, u32), f32), UsageError> {
    let (refine, scale) = (&args.finish.refine, args.picture.text_scale);
    let (size, scale) = match args.finish.preview {
        true => ([width, height].map(|side| (side / 2).next_multiple_of(2)).into(), scale / 2.0),
        false => ((width, height), scale),
    };
    Ok((enlarged(refine, size)?, scale * refine.supersample as f32))
}

/// Frames a second, fewer in a preview.
pub(super) fn rate(args: &RecordArgs, fps: u32) -> u32 {
    if args.finish.preview { fps.min(PREVIEW_RATE) } else { fps }
}

/// The same film as often once more as it pays to draw it side by side: `another` makes one on a device. Where there is no device more,
/// there are fewer.
pub(super) fn others<S: FrameSource>(film: &mut S, another: impl Fn(&S, Context) -> Option<S>) -> Vec<S> {
    let count = sources(film);
    if count > 1 && film.submit(0).is_ok() {
        // What its first frame has counted in the whole trace, the others take over. A fault of it comes again, and is told then.
        let _ = film.collect(&mut Vec::new());
    }
    (1..count).map_while(|_| another(film, context().ok()?)).collect()
}

/// Records the frames of `source`, which `others` draw too, as [`drawn`] says; `held`: so that they have no more than three large flashes a second.
///
/// # Errors
/// Where a frame cannot be drawn or written.
pub(super) fn film<S: FrameSource + Send>(
    (source, others): (&mut S, &mut [S]),
    args: &RecordArgs,
    (output, theme, held): (&Output, Theme, bool),
    options: Options,
    stop: &AtomicBool,
) -> anyhow::Result<Summary> {
    let refine = &args.finish.refine;
    let options = Options { transparent: refine.transparent, ..options };
    let mut display = Display::new();
    let mut make = |source: &mut dyn FrameSource| record(source, output, &options, stop, &mut |p| display.update(p));
    let drawn = |source: &mut dyn FrameSource| {
        let mut refined = Refined::new(source, refinement(refine, theme));
        if held {
            let mut source = Held::new(&mut refined, options.fps);
            Ok((make(&mut source)?, source.dimmed()))
        } else {
            Ok((make(&mut refined)?, 0))
        }
    };
    let made = in_turn((source, others), drawn);
    let (summary, dimmed) = made.map_err(usage)?;
    display.finish();
    if dimmed > 0 {
        let frames = if dimmed == 1 { "1 frame goes" } else { &format!("{dimmed} frames go") };
        say!(
            "{frames} over slowly, as there would be more than three large flashes a second; --any-flashes shows them as they are"
        );
    }
    Ok(summary)
}

/// A file that a film is made from, and its digest; what is bundled has none but the version.
fn source(file: &Path) -> anyhow::Result<Value> {
    let wrong = || format!("{}: cannot be read for the manifest", file.display());
    let digest = if file.is_file() { Some(sha256(file).with_context(wrong)?) } else { None };
    Ok(json!({ "file": file.display().to_string(), "sha256": digest }))
}

/// A trace that a film shows, for the manifest: `file` is the trace, or the program that it was recorded from.
///
/// # Errors
/// Where the file cannot be read.
pub(super) fn trace_entry(name: &str, file: &Path, studio: &Studio) -> anyhow::Result<Value> {
    let timeline = studio.timeline();
    Ok(json!({
        "name": name,
        "source": source(file)?,
        "references": timeline.len(),
        "caches": timeline.start().config().to_toml(),
    }))
}

/// Writes from what a recording was made, as `NAME.manifest.json` beside it.
///
/// # Errors
/// Where that cannot be written.
pub(super) fn manifest(
    args: &RecordArgs,
    (output, summary): (&Output, &Summary),
    adapter: &str,
    traces: &[Value],
) -> anyhow::Result<()> {
    if !args.finish.manifest || summary.frames == 0 {
        return Ok(());
    }
    let command: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let words = json!({
        "orrery": env!("CARGO_PKG_VERSION"),
        "command": command,
        "folder": std::env::current_dir().ok().map(|folder| folder.display().to_string()),
        "input": source(&args.trace.trace)?,
        "output": args.output.display().to_string(),
        "frames": summary.frames,
        "bytes": summary.bytes,
        "whole": !summary.stopped,
        "adapter": adapter,
        "traces": traces,
    });
    write_whole(&manifest_path(&args.output, output.format()), format!("{words:#}\n").as_bytes())
}

/// Where the manifest of an output lies: numbered pictures have one together.
fn manifest_path(output: &Path, format: &Format) -> PathBuf {
    let name = match format {
        Format::Png(pattern) | Format::NumberedPpm(pattern) => pattern.title(),
        _ => output.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
    };
    output.with_file_name(format!("{}.manifest.json", if name.is_empty() { "frames" } else { &name }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_lies_beside_what_it_tells_of() {
        let path = |output: &str| {
            let parsed = Output::parse(Path::new(output)).expect("a format");
            manifest_path(Path::new(output), parsed.format()).display().to_string()
        };
        assert_eq!(path("films/a.b.mp4"), "films/a.b.manifest.json");
        assert_eq!(path("frames/%05d.png"), "frames/frames.manifest.json");
        assert_eq!(path("heat-%d.png"), "heat-.manifest.json");
        assert_eq!(path("100%done.mp4"), "100%done.manifest.json");
    }
}
