//! `orrery chart`: what was found, drawn.

use super::UsageError;
use super::analyze::level;
use super::caches::describe;
use super::open::{Caches, open_cache, open_trace};
use super::written::write_whole;
use crate::analysis::{CellCounts, OverTime, Survey, Wanted, play, survey};
use crate::chart::{self, Chart, HeatMap};
use crate::cli::{ChartArgs, ChartKind};
use crate::reference::ReferenceSource;
use crate::scene::palette::Theme;
use crate::shown;
use crate::sim::prepare;
use crate::sim::stats::{Detail, Stats, collect_detail};
use crate::units::LevelId;
use std::path::Path;

/// Stretches of a chart over time.
const STRETCHES: usize = 240;

/// Draws a chart into a file.
///
/// # Errors
/// When trace or caches are not to be had or do not go together, or the file cannot be written.
pub(super) fn run(args: &ChartArgs) -> anyhow::Result<()> {
    is_svg(&args.output)?;
    let source = open_trace(&args.trace)?;
    let caches = open_cache(&args.cache, source.as_ref())?;
    let level = level(&caches.config, args.level.as_deref())?;
    let drawn = draw(source.as_ref(), &caches, &[args.kind], level, &name_of(&args.trace.trace), args.theme)?;
    let (width, height) = args.size;
    let text: String = drawn.iter().map(|chart| chart.svg(width, height)).collect();
    write_whole(&args.output, text.as_bytes())
}

/// Refuses names of other kinds of pictures.
pub(super) fn is_svg(path: &Path) -> Result<(), UsageError> {
    match path.extension().map(|end| end.to_string_lossy().to_ascii_lowercase()) {
        Some(end) if end == "svg" => Ok(()),
        _ if path == Path::new("-") => Ok(()),
        _ => Err(UsageError(format!(
            "-o {}: charts are written as SVG; expected a name that ends in .svg (rsvg-convert f.svg -o f.png makes a PNG)",
            path.display()
        ))),
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(|| path.to_string_lossy(), |name| name.to_string_lossy()).into_owned()
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
    theme: Theme,
) -> anyhow::Result<Vec<Chart>> {
    let Caches { config, .. } = caches;
    let has = |asked: &[ChartKind]| kinds.iter().any(|kind| asked.contains(kind));
    let wanted = Wanted {
        distances: has(&[ChartKind::MissRatio, ChartKind::StackDistance]),
        ways: has(&[ChartKind::MissRatio]).then_some(0),
        pressure: has(&[ChartKind::Sets]).then_some(level),
        displaced: has(&[ChartKind::Displaced]).then_some(level),
        ..Wanted::default()
    };
    let found: Survey = match wanted == Wanted::default() {
        true => Survey::default(),
        false => survey(source, config, &wanted)?,
    };
    let length = source.len();
    let over = match has(&[ChartKind::Classes, ChartKind::Map]) {
        true => Some(over_time(source, caches, level)?),
        false => None,
    };
    let title = &source.tables().title;
    let title = if title.is_empty() { name } else { title };
    let of = format!("{}; {}: {}", shown::short(title, 40), shown::short(&config.name, 20), describe(config)?);
    let level = config.levels[level.index()].name.as_str();
    let chart = |kind: &ChartKind| {
        Some(match kind {
            ChartKind::MissRatio => {
                chart::miss_ratio(found.distances.as_ref()?, found.ways.as_ref(), found.line_bytes, config, &of, theme)
            }
            ChartKind::StackDistance => {
                chart::distances(found.distances.as_ref()?, found.line_bytes, config, &of, theme)
            }
            ChartKind::Classes => chart::classes(over.as_ref()?, length, level, &of, theme),
            ChartKind::Map => chart::addresses(over.as_ref()?, length, &of, theme),
            ChartKind::Sets => chart::set_use(found.sets(), level, &of, theme),
            ChartKind::Displaced => chart::displaced(found.displaced.as_ref()?, level, &of, theme),
        })
    };
    Ok(kinds.iter().filter_map(chart).collect())
}

fn over_time(source: &dyn ReferenceSource, caches: &Caches, level: LevelId) -> anyhow::Result<OverTime> {
    let stats: Stats = collect_detail(source, &caches.config, Detail { lines: false, classes: false }, false)?;
    let tables = source.tables();
    // The rows of statistics are in the order of the trace's regions.
    let touched: Vec<u64> = stats.regions.iter().map(|region| region.references).collect();
    let hierarchy = prepare(&caches.config, source)?;
    let mut over = OverTime::new(&hierarchy, level, source.len(), STRETCHES, tables, &touched);
    play(source, &caches.config, &mut over)?;
    Ok(over)
}

/// The cells of a sweep as a table: the last key along, the others below each other; misses of the innermost level.
pub(super) fn sweep(all: &[(String, CellCounts)], theme: Theme) -> Chart {
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
    chart::heat_map(&map, of, theme)
}
