//! `orrery snapshot`: one moment as a PNG.

use super::picture::{arranged, choice, context, dressed, exhibit, parts, size, studio, view};
use super::record::usage;
use super::{UsageError, finish, sheet};
use crate::axis::Position;
use crate::cli::SnapshotArgs;
use crate::overlay::{Offscreen, Playback, Shot};
use crate::record::{Partial, RecordError, png};
use crate::scene::View;
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
    let refine = &args.sheet.refine;
    let drawn = finish::enlarged(refine, (width, height))?;
    let context = context()?;
    let mut offscreen = Offscreen::new(&context, drawn.into())?.with_theme(&context, args.picture.theme);
    offscreen.set_scale(args.picture.text_scale * refine.supersample as f32);
    // A still has no speed to speak of.
    let life = view.pin.map(|pin| studio.timeline().life(pin, &mut |_| true)).transpose()?.map(Arc::new);
    let playback = Playback { strip: args.picture.strip, stretch, ..Playback::default() };
    let shot = Shot { life, playback, ..Shot::still(offscreen.points(), Position::of(position), view, parts) };
    let (mut rgba, numbers) = if moments.is_empty() {
        let rgba = offscreen.still(&context, &mut studio, exhibit.as_mut(), &shot)?;
        let taken = args.sheet.numbers.as_ref().map(|_| shot.take(&mut studio, exhibit.as_mut())).transpose()?;
        (rgba, taken.map_or_else(String::new, |taken| exhibit.csv(&studio, &taken)))
    } else {
        let (asked, scale) = ((&shot, &moments[..], &args.sheet), args.picture.text_scale);
        let sheet = sheet::draw((&context, offscreen), (&mut studio, exhibit.as_mut()), asked, scale)?;
        (sheet.rgba, joined(&sheet.numbers))
    };
    finish::refinement(refine, args.picture.theme).apply(&mut rgba, drawn, &mut Vec::new());
    if let Some(path) = &args.sheet.numbers {
        finish::write(path, &numbers)?;
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

/// The tables of all moments as one, with the moment in front of each row.
fn joined(tables: &[(Position, String)]) -> String {
    let mut text = String::new();
    for (n, (position, table)) in tables.iter().enumerate() {
        for (line, row) in table.lines().enumerate() {
            match (n, line) {
                (0, 0) => text.push_str(&format!("moment,{row}\n")),
                (_, 0) => {}
                _ => text.push_str(&format!("{position},{row}\n")),
            }
        }
    }
    text
}
