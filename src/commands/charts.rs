//! `orrery chart`: what was found, drawn.

use super::UsageError;
use super::analyze::level;
use super::caches::describe;
use super::open::{Caches, open_cache, open_trace};
use super::told::Told;
use super::written::write_whole;
use crate::analysis::{CellCounts, ChartParts, Charted, ChartsOf, charted};
use crate::chart::{self, Chart, ChartKind, HeatMap, Look};
use crate::cli::ChartArgs;
use crate::reference::ReferenceSource;
use crate::scene::palette::Theme;
use crate::shown;
use crate::sim::stats::{Detail, Stats, collect_detail};
use crate::units::LevelId;
use std::path::Path;

/// Draws a chart into a file.
///
/// # Errors
/// When trace or caches are not to be had or do not go together, or the file cannot be written.
pub(super) fn run(args: &ChartArgs) -> anyhow::Result<()> {
    let format = ChartFormat::of(&args.output)?;
    let source = open_trace(&args.trace)?;
    let caches = open_cache(&args.cache, source.as_ref())?;
    let level = level(&caches.config, args.level.as_deref())?;
    let look = Look::of_pixels(args.theme, args.size);
    let drawn = draw(source.as_ref(), &caches, &[args.kind], level, &name_of(&args.trace.trace), look)?;
    drawn.first().map_or(Ok(()), |chart| format.write(chart, args.size, &args.output))
}

/// What a chart is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChartFormat {
    /// Outlines and text.
    Svg,
    /// Pixels.
    #[cfg(feature = "gpu")]
    Png,
}

impl ChartFormat {
    /// The format that the name of a file says.
    ///
    /// # Errors
    /// When it says another one.
    pub(super) fn of(path: &Path) -> Result<Self, UsageError> {
        match path.extension().map(|end| end.to_string_lossy().to_ascii_lowercase()).as_deref() {
            Some("svg") => Ok(Self::Svg),
            #[cfg(feature = "gpu")]
            Some("png") => Ok(Self::Png),
            #[cfg(not(feature = "gpu"))]
            Some("png") => Err(UsageError(format!(
                "{}: this orrery was built without graphics; expected a name that ends in .svg (rsvg-convert makes a PNG of it)",
                path.display()
            ))),
            _ if path == Path::new("-") => Ok(Self::Svg),
            _ => Err(UsageError(format!(
                "{}: expected a name that ends in .svg or .png, or - for an SVG on standard output",
                path.display()
            ))),
        }
    }

    /// Writes a chart of so many pixels.
    ///
    /// # Errors
    /// When it cannot be drawn, or the file cannot be written.
    pub(super) fn write(self, chart: &Chart, size: (u32, u32), path: &Path) -> anyhow::Result<()> {
        match self {
            Self::Svg => write_whole(path, chart.svg(size).as_bytes()),
            #[cfg(feature = "gpu")]
            Self::Png => write_whole(path, &super::snapshot::chart(chart, size)?),
        }
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(|| path.to_string_lossy(), |name| name.to_string_lossy()).into_owned()
}

/// Counts what charts are drawn of.
fn counted(
    source: &dyn ReferenceSource,
    caches: &Caches,
    kinds: &[ChartKind],
    level: LevelId,
) -> anyhow::Result<Charted> {
    let (config, source) = (&caches.config, &Told::new(source));
    let parts = kinds.iter().fold(ChartParts::default(), |parts, kind| parts.and(kind.parts()));
    // The rows of statistics are in the order of the trace's regions.
    let touched: Vec<u64> = match parts.over_time {
        true => {
            let stats: Stats = collect_detail(source, config, Detail { lines: false, classes: false }, false)?;
            stats.regions.iter().map(|region| region.references).collect()
        }
        false => Vec::new(),
    };
    let of = ChartsOf { level, references: source.len(), parts };
    Ok(charted(source, config, &of, &touched, &|| true)?)
}

/// Draws charts of a trace, named `name` where it has no title: those that ask for the same share a pass.
///
/// # Errors
/// As [`run`].
pub(super) fn draw(
    source: &dyn ReferenceSource,
    caches: &Caches,
    kinds: &[ChartKind],
    level: LevelId,
    name: &str,
    look: Look,
) -> anyhow::Result<Vec<Chart>> {
    let config = &caches.config;
    let found = counted(source, caches, kinds, level)?;
    let title = &source.tables().title;
    let title = if title.is_empty() { name } else { title };
    let of = format!("{}; {}: {}", shown::short(title, 40), shown::short(&config.name, 20), describe(config)?);
    let together = super::analyze::together(source)?.map_or_else(String::new, |words| format!("; {words}"));
    let draw = |kind: &ChartKind| match kind {
        ChartKind::MissRatio | ChartKind::StackDistance => kind.draw(&found, config, &format!("{of}{together}"), look),
        _ => kind.draw(&found, config, &of, look),
    };
    Ok(kinds.iter().filter_map(draw).collect())
}

/// Width and height of charts beside tables, pixels.
pub(super) const BESIDE: (u32, u32) = (1280, 720);

/// Writes a chart of two runs over each other, of the first one's level or that of the same place.
///
/// # Errors
/// As [`run`].
pub(super) fn overlay(
    path: &Path,
    kind: ChartKind,
    runs: [(&dyn ReferenceSource, &Caches); 2],
    names: [&str; 2],
    level: LevelId,
) -> anyhow::Result<()> {
    let format = ChartFormat::of(path)?;
    let of_level = |(source, caches): (&dyn ReferenceSource, &Caches)| {
        let last = u8::try_from(caches.config.levels.len().saturating_sub(1)).unwrap_or(u8::MAX);
        counted(source, caches, &[kind], LevelId(level.0.min(last)))
    };
    let found = [of_level(runs[0])?, of_level(runs[1])?];
    let [a, b] = [runs[0].1, runs[1].1].map(|caches| &caches.config);
    let of = match a == b {
        true => format!("{}: {}", shown::short(&a.name, 20), describe(a)?),
        false => {
            format!("{}: {}; {}: {}", shown::short(&a.name, 20), describe(a)?, shown::short(&b.name, 20), describe(b)?)
        }
    };
    let names = [format!("A: {}", shown::short(names[0], 24)), format!("B: {}", shown::short(names[1], 24))];
    let run = |n: usize| chart::Run { found: &found[n], config: [a, b][n], name: &names[n] };
    let Some(chart) = chart::overlaid(kind, &[run(0), run(1)], &of, Look::of_pixels(Theme::Light, BESIDE)) else {
        return Ok(());
    };
    format.write(&chart, BESIDE, path)
}

/// The cells of a sweep as a table: the last key along, the others below each other; misses of the innermost level.
pub(super) fn sweep(all: &[(String, CellCounts)], look: Look) -> Chart {
    let mut map = HeatMap { title: "Misses of each cell".into(), ..HeatMap::default() };
    for (trace, counts) in all {
        let Some(level) = counts.levels.first() else { continue };
        let (last, others) =
            counts.values.split_last().map_or(("", &[][..]), |(last, others)| (last.1.as_str(), others));
        let mut row: Vec<&str> = others.iter().map(|(_, value)| value.as_str()).collect();
        if all.iter().any(|(other, _)| other != trace) {
            row.insert(0, trace);
        }
        let row = row.join(" ");
        if map.rows.is_empty() {
            let keys: Vec<&str> = counts.values.iter().map(|(key, _)| key.as_str()).collect();
            let (last, others) = keys.split_last().map_or(("", &[][..]), |(last, others)| (*last, others));
            map.title = format!("Demand misses of {} by cell, %", level.name);
            map.axes = [others.join(" "), last.to_owned()];
        }
        let place = |names: &mut Vec<String>, name: &str| {
            names.iter().position(|other| other == name).unwrap_or_else(|| {
                names.push(name.to_owned());
                names.len() - 1
            })
        };
        let (row, column) = (place(&mut map.rows, &row), place(&mut map.columns, last));
        map.cells.resize(map.rows.len(), Vec::new());
        if map.cells[row].len() <= column {
            map.cells[row].resize(column + 1, None);
        }
        #[expect(clippy::cast_precision_loss, reason = "a share")]
        let rate = 100.0 * level.demand_misses as f64 / level.demand_accesses.max(1) as f64;
        map.cells[row][column] = Some((rate, format!("{rate:.1}%")));
    }
    let traces: Vec<&str> = all.iter().map(|(trace, _)| trace.as_str()).collect();
    let of = traces.first().copied().unwrap_or_default();
    chart::heat_map(&map, of, look)
}
