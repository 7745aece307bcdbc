//! Several moments of a trace, or one moment under several tails, as one picture.

use super::UsageError;
use crate::axis::Position;
use crate::cli::SheetArgs;
use crate::overlay::compose::points;
use crate::overlay::{Area, Exhibit, Shot, Strip, Studio, Taken};
use crate::scene::View;

/// Pictures on a sheet, at most.
const MOST: usize = 100;
/// Points between two of them.
const GAP: u32 = 8;
/// Points that a picture has across, whatever its size: its type is as small as that makes it.
const ACROSS: f32 = 640.0;

/// Points that a picture needs from top to bottom to be read.
const LOWEST: u32 = 200;

/// One picture of a sheet: where on the axis, and over how many references its trails go where that is said.
pub(super) type Moment = (Position, Option<u64>);

/// The moments that are asked for, of an axis `len` long; none where one still is.
///
/// # Errors
/// Where there is no such moment, or there are too many.
pub(super) fn moments(args: &SheetArgs, tick: Position, len: u64, studio: &Studio) -> Result<Vec<Moment>, UsageError> {
    let moments: Vec<Moment> = if let Some(tails) = &args.tails {
        if tails.contains(&0) {
            return Err(UsageError("--tails: found 0; expected references, 1 or more (1 = no trail)".into()));
        }
        tails.iter().map(|tail| (tick, Some((*tail).min(len.max(1))))).collect()
    } else if let Some(every) = args.every {
        let count = len
            .checked_div(every)
            .ok_or_else(|| UsageError("--every 0: expected references between two pictures, 1 or more".into()))?;
        if count >= MOST as u64 {
            return Err(too_many(&format!("--every {every}"), count + 1));
        }
        (0..=count).map(|n| (Position::at(n * every), None)).collect()
    } else {
        let marks = &studio.tables().marks;
        let mut all = Vec::new();
        for word in &args.at {
            match (word.as_str(), word.parse::<f64>()) {
                ("marks", _) if marks.is_empty() => {
                    return Err(UsageError(
                        "--at marks: the trace has none; expected moments such as --at 100,2613.5".into(),
                    ));
                }
                ("marks", _) => all.extend(marks.iter().map(|mark| (Position::at(mark.reference), None))),
                (_, Ok(at)) if (0.0..=len as f64).contains(&at) => all.push((Position::of(at), None)),
                _ => {
                    let expected = format!("expected moments from 0 to {len}, by commas, or marks");
                    return Err(UsageError(format!("--at {word}: {expected}")));
                }
            }
        }
        all
    };
    match moments.len() {
        count if count > MOST => Err(too_many("--at and --tails", count as u64)),
        _ => Ok(moments),
    }
}

fn too_many(flag: &str, count: u64) -> UsageError {
    UsageError(format!("{flag}: that makes {count} pictures; expected {MOST} at most on a sheet"))
}

/// Columns and rows for so many pictures of the shape of the sheet.
fn grid(count: usize, columns: Option<u32>) -> (u32, u32) {
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the root of at most a hundred")]
    let across = columns.unwrap_or_else(|| f64::from(count).sqrt().ceil() as u32).clamp(1, count.max(1));
    (across, count.div_ceil(across))
}

/// Pictures that were taken and are to be drawn, each with its strip, and what goes with them.
pub(super) struct LaidOut {
    pub(super) pictures: Vec<(Taken, Strip)>,
    /// Pixels for each point.
    pub(super) scale: f32,
    /// What each picture's tables count, as CSV; the first line of each names the columns.
    pub(super) numbers: Vec<(Position, String)>,
}

impl LaidOut {
    /// One picture, with `scale` pixels for each point.
    pub(super) fn one(scale: f32) -> Self {
        Self { pictures: Vec::new(), scale, numbers: Vec::new() }
    }

    /// Takes one more picture.
    ///
    /// # Errors
    /// Where the trace cannot be read.
    pub(super) fn add(
        &mut self,
        (studio, exhibit): (&mut Studio, &mut dyn Exhibit),
        shot: &Shot,
        args: &SheetArgs,
    ) -> anyhow::Result<()> {
        let strip = studio.strip_of_kind(shot.layout().strip_columns(), shot.playback.stretch, shot.playback.strip);
        let taken = shot.take(studio, exhibit)?;
        if args.numbers.is_some() {
            self.numbers.push((shot.position, exhibit.csv(studio, &taken)));
        }
        self.pictures.push((taken, strip));
        Ok(())
    }
}

/// Lays the moments out on a sheet of `size` pixels, row by row, with type so many times as large as usual.
///
/// # Errors
/// Where the trace cannot be read or the sheet is too small for them.
pub(super) fn laid_out(
    size: [u32; 2],
    (studio, exhibit): (&mut Studio, &mut dyn Exhibit),
    (shot, moments, args): (&Shot, &[Moment], &SheetArgs),
    text_scale: f32,
) -> anyhow::Result<LaidOut> {
    let (columns, rows) = grid(moments.len(), args.columns);
    let across = ACROSS / text_scale * columns as f32 + (GAP * (columns - 1)) as f32;
    let mut out = LaidOut::one(size[0] as f32 / across);
    let points = points(size, out.scale);
    let side = |all: u32, count: u32| all.saturating_sub(GAP * (count - 1)) / count;
    let size = [side(points[0], columns), side(points[1], rows)];
    if size[1] < LOWEST {
        return Err(UsageError(format!(
            "{} pictures in {columns} columns are too low to be read; expected a higher --size, or other --columns",
            moments.len()
        ))
        .into());
    }
    for (n, (position, tail)) in (0..).zip(moments) {
        let at = [n % columns, n / columns];
        let area = Area { at: [at[0] * (size[0] + GAP), at[1] * (size[1] + GAP)], size };
        let view = View { tail: tail.unwrap_or(shot.view.tail), ..shot.view.clone() };
        let shot = Shot { position: *position, target: points, area, view, ..shot.clone() };
        out.add((&mut *studio, &mut *exhibit), &shot, args)?;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_is_as_square_as_goes() {
        assert_eq!(grid(1, None), (1, 1));
        assert_eq!(grid(4, None), (2, 2));
        assert_eq!(grid(5, None), (3, 2));
        assert_eq!(grid(5, Some(1)), (1, 5));
        assert_eq!(grid(3, Some(9)), (3, 1));
    }
}
