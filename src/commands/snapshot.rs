//! `orrery snapshot`: one moment as a PNG.

use super::finish::write;
use super::picture::{arranged, choice, context, dressed, exhibit, parts, size, studio, view};
use super::record::usage;
use super::{UsageError, sheet};
use crate::axis::Position;
use crate::cli::SnapshotArgs;
use crate::overlay::{Exhibit, Offscreen, Playback, Shot, Studio};
use crate::record::{Partial, RecordError, averaged, lift, png};
use crate::scene::{View, palette};
use std::io::{Cursor, Write};
use std::path::Path;
use std::sync::Arc;

/// Speed that fading assumes where none is given: a leisurely walk.
const SPEED: f64 = 8.0;

/// Trail segments of a still at most.
const STILL_BUDGET: usize = 40_000;

/// A still is a PNG, and its name says so.
fn check_name(output: &Path) -> Result<(), UsageError> {
    let ending = output.extension().map(|e| e.to_string_lossy().into_owned());
    // What is a folder or a device is refused as such.
    let is_special = output.metadata().is_ok_and(|about| !about.is_file());
    if output.as_os_str() == "-" || is_special || ending.as_ref().is_some_and(|e| e.eq_ignore_ascii_case("png")) {
        return Ok(());
    }
    let found = ending.map_or_else(|| "a name without an ending".to_owned(), |e| format!("the ending .{e}"));
    Err(UsageError(format!(
        "--output {}: found {found}; expected .png, the only format of stills, or - for standard output",
        output.display()
    )))
}

/// Draws the picture and writes it.
///
/// # Errors
/// When the trace, the cache, the adapter or the output is not to be had.
pub fn run(args: &SnapshotArgs) -> anyhow::Result<()> {
    check_name(&args.output)?;
    let (width, height) = size(&args.picture)?;
    let parts = parts(&args.picture);
    // A still has time for every path.
    let view = View { budget: STILL_BUDGET, ..view(&args.picture, args.speed.unwrap_or(SPEED), 1.0)? };
    choice(&args.picture)?;
    arranged(&args.picture)?;
    let mut studio = studio(&args.trace, &args.cache, &args.picture, &|| true)?;
    let view = dressed(view, &args.picture, &studio)?;
    let mut exhibit = exhibit(&args.picture, &studio)?;
    let len = exhibit.axis(&studio).len;
    let stretch = studio.first_stretch();
    let usual = || studio.first_position().since(Position::START);
    let position = args.tick.unwrap_or_else(|| if studio.tasks().is_some() { usual() } else { (len / 2) as f64 });
    if !(position.is_finite() && (0.0..=len as f64).contains(&position)) {
        return Err(UsageError(format!("--tick {position}: the trace has ticks 0 to {len}")).into());
    }
    let moments = sheet::moments(&args.sheet, Position::of(position), len, &studio)?;
    let factor = args.sheet.supersample;
    let context = context()?;
    let drawn = [width, height].map(|side| side * factor);
    let mut offscreen = Offscreen::new(&context, drawn)?.with_theme(&context, args.picture.theme);
    offscreen.set_scale(args.picture.text_scale * factor as f32);
    // A still has no speed to speak of.
    let life = view.pin.map(|pin| studio.timeline().life(pin, &mut |_| true)).transpose()?.map(Arc::new);
    let playback = Playback { strip: args.picture.strip, stretch, ..Playback::default() };
    let shot = Shot { life, playback, ..Shot::still(offscreen.points(), Position::of(position), view, parts) };
    let numbers = numbers(args, &shot, &moments, (&mut studio, exhibit.as_mut()))?;
    let mut rgba = match moments.is_empty() {
        true => offscreen.still(&context, &mut studio, exhibit.as_mut(), &shot)?,
        false => sheet::draw((&context, offscreen), (&mut studio, exhibit.as_mut()), (&shot, &moments, &args.sheet))?,
    };
    if factor > 1 {
        let large = std::mem::take(&mut rgba);
        averaged(&large, drawn.into(), factor, &mut rgba);
    }
    if args.sheet.transparent {
        let [r, g, b, _] = palette::themed(palette::BACKGROUND, args.picture.theme);
        lift([r, g, b], &mut rgba);
    }
    if let (Some(path), Some(text)) = (&args.sheet.numbers, numbers) {
        write(path, &text)?;
    }
    let mut packed = Cursor::new(Vec::new());
    png::still(&mut packed, &rgba, (width, height))?;
    let packed = packed.into_inner();
    if args.output.as_os_str() == "-" {
        crate::shown::raw().lock().write_all(&packed)?;
        return Ok(());
    }
    let mut file = Partial::create(&args.output).map_err(usage)?;
    file.write_all(&packed).map_err(|e| RecordError::io(&args.output, "written", e))?;
    file.commit(true)?;
    Ok(())
}

/// The numbers behind the picture, each moment of a sheet behind the other with its reference in front of each row.
fn numbers(
    args: &SnapshotArgs,
    shot: &Shot,
    moments: &[sheet::Moment],
    (studio, exhibit): (&mut Studio, &mut dyn Exhibit),
) -> anyhow::Result<Option<String>> {
    if args.sheet.numbers.is_none() {
        return Ok(None);
    }
    if moments.is_empty() {
        let taken = shot.take(studio, exhibit)?;
        return Ok(Some(exhibit.csv(studio, &taken)));
    }
    let mut text = String::new();
    for (n, (position, _)) in moments.iter().enumerate() {
        let taken = Shot { position: *position, ..shot.clone() }.take(studio, exhibit)?;
        for (line, row) in exhibit.csv(studio, &taken).lines().enumerate() {
            match (n, line) {
                (0, 0) => text.push_str(&format!("moment,{row}\n")),
                (_, 0) => {}
                _ => text.push_str(&format!("{position},{row}\n")),
            }
        }
    }
    Ok(Some(text))
}
