//! `orrery snapshot`: one moment, or a sheet of several, as a PNG, an SVG or a PDF.

use super::picture::{arranged, choice, context, dressed, exhibit, parts, size, studio, view};
use super::record::usage;
use super::sheet::{self, LaidOut};
use super::written::{is_same, not_over, write_whole};
use super::{UsageError, finish};
use crate::axis::Position;
use crate::chart::Chart;
use crate::cli::SnapshotArgs;
use crate::overlay::chart_plane::paint;
use crate::overlay::compose::points;
use crate::overlay::{Offscreen, Playback, Sheet, Shot, vector};
use crate::record::vector::VectorFormat;
use crate::record::{Partial, RecordError, png};
use crate::scene::View;
use anyhow::Context as _;
use std::io::{Cursor, Write};
use std::path::Path;
use std::sync::Arc;

/// Speed that fading assumes where none is given: a leisurely walk.
const SPEED: f64 = 8.0;

/// Trail segments of a still at most.
const STILL_BUDGET: usize = 40_000;

/// What a still is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StillFormat {
    /// Pixels.
    Png,
    /// Outlines and text.
    Vector(VectorFormat),
}

/// The format that the name of a still says.
fn format(output: &Path) -> Result<StillFormat, UsageError> {
    if let Some(vector) = VectorFormat::of(output) {
        return Ok(StillFormat::Vector(vector));
    }
    let ending = output.extension().map(|e| e.to_string_lossy().into_owned());
    // What is a folder or a device is refused as such.
    let is_special = output.metadata().is_ok_and(|about| !about.is_file());
    if output.as_os_str() == "-" || is_special || ending.as_ref().is_some_and(|e| e.eq_ignore_ascii_case("png")) {
        return Ok(StillFormat::Png);
    }
    let found = ending.map_or_else(|| "a name without an ending".to_owned(), |e| format!("the ending .{e}"));
    Err(UsageError(format!(
        "--output {}: found {found}; expected .png, .svg or .pdf, the formats of stills, or - for a PNG on standard output",
        output.display()
    )))
}

/// Draws the picture and writes it.
///
/// # Errors
/// When the trace, the cache, the adapter or the output is not to be had.
pub fn run(args: &SnapshotArgs) -> anyhow::Result<()> {
    let format = format(&args.output)?;
    not_over("--output", &args.output, &args.trace.trace, "the picture would take the place of the trace")?;
    if let Some(numbers) = &args.sheet.numbers {
        not_over("--numbers", numbers, &args.trace.trace, "the numbers would take the place of the trace")?;
        if numbers == &args.output || is_same(numbers, &args.output) {
            let shown = crate::shown::name(&numbers.to_string_lossy()).into_owned();
            return Err(
                UsageError(format!("--numbers {shown}: found the file of the picture; expected another one")).into()
            );
        }
    }
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
    let scale = args.picture.text_scale * refine.supersample as f32;
    // A still has no speed to speak of.
    let life = view.pin.map(|pin| studio.timeline().life(pin, &mut |_| true)).transpose()?.map(Arc::new);
    let playback = Playback { strip: args.picture.strip, stretch, ..Playback::default() };
    let points = points(drawn.into(), scale);
    // One moment alone is no sheet: it has all the room.
    let (position, tail) = match moments[..] {
        [(position, tail)] => (position, tail.unwrap_or(view.tail)),
        _ => (Position::of(position), view.tail),
    };
    let view = View { tail, ..view };
    let shot = Shot { life, playback, ..Shot::still(points, position, view, parts) };
    let laid_out = if moments.len() < 2 {
        let mut one = LaidOut::one(scale);
        one.add((&mut studio, exhibit.as_mut()), &shot, &args.sheet)?;
        one
    } else {
        let asked = (&shot, &moments[..], &args.sheet);
        sheet::laid_out(drawn.into(), (&mut studio, exhibit.as_mut()), asked, args.picture.text_scale)?
    };
    let packed = match format {
        StillFormat::Png => pixels(&laid_out, (drawn, (width, height)), args)?,
        StillFormat::Vector(format) => outlines(&laid_out, (drawn, (width, height)), args, format)?,
    };
    if let Some(path) = &args.sheet.numbers {
        write_whole(path, numbers(&laid_out.numbers, moments.is_empty()).as_bytes())?;
    }
    if args.output.as_os_str() == "-" {
        return write_whole(&args.output, &packed);
    }
    let mut file = Partial::create(&args.output).map_err(usage)?;
    file.write_all(&packed).map_err(|e| RecordError::io(&args.output, "written", e))?;
    file.commit(true)?;
    Ok(())
}

/// Does something with what was laid out, as one sheet.
fn with_sheet<T>(laid_out: &LaidOut, work: impl FnOnce(&Sheet<'_>) -> T) -> T {
    let pictures: Vec<_> = laid_out.pictures.iter().map(|(taken, strip)| (taken, strip)).collect();
    work(&Sheet { pictures: &pictures, over: &|_| {} })
}

/// Width and height that a picture is drawn at, and that it is shown at.
type Sizes = ((u32, u32), (u32, u32));

/// A PNG.
fn pixels(laid_out: &LaidOut, (drawn, size): Sizes, args: &SnapshotArgs) -> anyhow::Result<Vec<u8>> {
    let context = context()?;
    let mut offscreen = Offscreen::new(&context, drawn.into())?.with_theme(&context, args.picture.theme);
    offscreen.set_scale(laid_out.scale);
    with_sheet(laid_out, |sheet| offscreen.submit_sheet(&context, sheet));
    let mut rgba = Vec::new();
    offscreen.collect(&context, &mut rgba)?;
    finish::refinement(&args.sheet.refine, args.picture.theme).apply(&mut rgba, drawn, &mut Vec::new());
    let mut packed = Cursor::new(Vec::new());
    png::still(&mut packed, &rgba, size)?;
    Ok(packed.into_inner())
}

/// A PNG of a chart.
///
/// # Errors
/// When there is no adapter, or it cannot hold such a picture.
pub(super) fn chart(chart: &Chart, size: (u32, u32)) -> anyhow::Result<Vec<u8>> {
    let context = context()?;
    let mut offscreen = Offscreen::new(&context, size.into())?;
    #[expect(clippy::cast_possible_truncation, reason = "pixels of a unit")]
    let unit = (f64::from(size.0) / chart.size()[0]) as f32;
    offscreen.submit_sheet(&context, &Sheet { pictures: &[], over: &|painter| paint(painter, chart, unit) });
    let mut rgba = Vec::new();
    offscreen.collect(&context, &mut rgba)?;
    let mut packed = Cursor::new(Vec::new());
    png::still(&mut packed, &rgba, size)?;
    Ok(packed.into_inner())
}

/// An SVG or a PDF.
fn outlines(
    laid_out: &LaidOut,
    (drawn, size): Sizes,
    args: &SnapshotArgs,
    format: VectorFormat,
) -> anyhow::Result<Vec<u8>> {
    let space = (drawn.into(), laid_out.scale);
    let mut drawing = with_sheet(laid_out, |sheet| vector::drawing(sheet, space, args.picture.theme))
        .with_context(|| format!("--output {}: cannot be drawn as vectors", args.output.display()))?;
    drawing.size = size.into();
    if args.sheet.refine.transparent {
        drawing.ground = None;
    }
    Ok(format.bytes(&drawing))
}

/// The table of one still, or those of a sheet as one.
fn numbers(tables: &[(Position, String)], is_one: bool) -> String {
    match tables {
        [(_, table)] if is_one => table.clone(),
        _ => joined(tables),
    }
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
