//! From frames to a file, for `record` of a trace and of a storyboard alike: format, size, ground, and the manifest beside it.

use super::UsageError;
use super::progress::Display;
use super::record::usage;
use crate::cli::{FinishArgs, RecordArgs};
use crate::files::{Draft, sha256};
use crate::overlay::Studio;
use crate::record::{FrameSource, Options, Output, Refined, Summary, Wanted, record};
use crate::scene::palette::{self, Theme};
use anyhow::Context as _;
use serde_json::{Value, json};
use std::io::Write as _;
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
    let FinishArgs { to, encoder, audio, transparent, .. } = &args.finish;
    let wanted = Wanted { to: to.as_deref(), encoder: encoder.as_deref(), audio: audio.as_deref() };
    let output = Output::wanted(&args.output, wanted).map_err(usage)?;
    if *transparent && !output.format().is_transparent() {
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

/// Size that frames are drawn at, and pixels for each point of type and tables.
///
/// # Errors
/// Where that is larger than can be drawn.
#[expect(clippy::cast_precision_loss, reason = "1 to 4")]
pub(super) fn drawn(args: &RecordArgs, (width, height): (u32, u32)) -> Result<((u32, u32), f32), UsageError> {
    let (factor, scale) = (args.finish.supersample, args.picture.text_scale);
    let ((width, height), scale) = match args.finish.preview {
        true => ([width, height].map(|side| (side / 2).next_multiple_of(2)).into(), scale / 2.0),
        false => ((width, height), scale),
    };
    let size = (width * factor, height * factor);
    if size.0.max(size.1) > MOST_PIXELS {
        return Err(UsageError(format!(
            "--supersample {factor}: found {width}x{height}, which is {}x{} then; expected sides of {MOST_PIXELS} at most",
            size.0, size.1
        )));
    }
    Ok((size, scale * factor as f32))
}

/// Frames a second, fewer in a preview.
pub(super) fn rate(args: &RecordArgs, fps: u32) -> u32 {
    if args.finish.preview { fps.min(PREVIEW_RATE) } else { fps }
}

/// Records the frames of `source`, which were drawn as [`drawn`] says.
///
/// # Errors
/// Where a frame cannot be drawn or written.
pub(super) fn film(
    source: &mut dyn FrameSource,
    args: &RecordArgs,
    (output, theme): (&Output, Theme),
    options: Options,
    stop: &AtomicBool,
) -> anyhow::Result<Summary> {
    let [r, g, b, _] = palette::themed(palette::BACKGROUND, theme);
    let ground = args.finish.transparent.then_some([r, g, b]);
    let options = Options { transparent: args.finish.transparent, ..options };
    let mut source = Refined::new(source, args.finish.supersample, ground);
    let mut display = Display::new();
    let summary = record(&mut source, output, &options, stop, &mut |p| display.update(p)).map_err(usage)?;
    display.finish();
    Ok(summary)
}

/// A trace that a film shows, for the manifest.
pub(super) fn shown(name: &str, file: &Path, studio: &Studio) -> anyhow::Result<Value> {
    let wrong = || format!("{}: cannot be read for the manifest", file.display());
    let digest = if file.is_file() { Some(sha256(file).with_context(wrong)?) } else { None };
    let timeline = studio.timeline();
    Ok(json!({
        "name": name,
        "file": file.display().to_string(),
        "sha256": digest,
        "references": timeline.len(),
        "caches": timeline.start().config().to_toml(),
    }))
}

/// Writes from what a recording was made, as `NAME.manifest.json` beside it.
///
/// # Errors
/// Where that cannot be written.
pub(super) fn manifest(args: &RecordArgs, summary: &Summary, adapter: &str, traces: &[Value]) -> anyhow::Result<()> {
    if !args.finish.manifest || summary.frames == 0 {
        return Ok(());
    }
    let command: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let words = json!({
        "orrery": env!("CARGO_PKG_VERSION"),
        "command": command,
        "folder": std::env::current_dir().ok().map(|folder| folder.display().to_string()),
        "output": args.output.display().to_string(),
        "frames": summary.frames,
        "bytes": summary.bytes,
        "whole": !summary.stopped,
        "adapter": adapter,
        "traces": traces,
    });
    let mut name = args.output.file_stem().unwrap_or_default().to_owned();
    name.push(".manifest.json");
    // A number of frames is no number of this file.
    let path: PathBuf = args.output.with_file_name(name.to_string_lossy().replace('%', ""));
    let text = format!("{words:#}\n");
    write(&path, &text)
}

/// Writes a text whole or not at all.
///
/// # Errors
/// Where that is not possible.
pub(super) fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let wrong = || format!("{}: cannot be written", path.display());
    let mut draft = Draft::create(path).with_context(wrong)?;
    draft.write_all(text.as_bytes()).with_context(wrong)?;
    draft.finish().with_context(wrong)
}
