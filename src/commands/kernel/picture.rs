//! What a kernel did, drawn.

use super::Ready;
use super::engine::Chosen;
use crate::chart::kernel::{Focus, Spot, look_of_pixels};
use crate::cli::KernelArgs;
use crate::commands::UsageError;
use crate::commands::charts::ChartFormat;
use crate::kernel::{KEPT, KernelBook, Launch, Program};
use std::path::Path;

/// Whether a picture of this name can be made.
///
/// # Errors
/// What is wrong with its name or the flags.
pub(super) fn check(args: &KernelArgs, output: &Path) -> Result<ChartFormat, UsageError> {
    let format = ChartFormat::of(output).map_err(|error| {
        UsageError(error.0.replace(".svg or .png", ".svg or .png for a picture, .orrery for a trace"))
    })?;
    if args.units.is_some() {
        let words = "found a picture; expected a trace, FILE.orrery, whose groups are given to so many cores";
        return Err(UsageError(format!("--units: {words}")));
    }
    Ok(format)
}

/// Runs the launch and draws the view that `args` ask for.
///
/// # Errors
/// When it cannot be run, there is no such group, item or bank, or the file cannot be written.
pub(super) fn write(args: &KernelArgs, ready: &Ready, engine: &mut Chosen, output: &Path) -> anyhow::Result<()> {
    let Ready { program, launch, .. } = ready;
    let format = check(args, output)?;
    let spot = spot(args, program, launch)?;
    let first = args.group.unwrap_or_else(|| launch.take.as_ref().map_or(0, |take| take.start));
    let book = KernelBook::play_on(engine, program, launch, first..first.saturating_add(1), KEPT)
        .map_err(|error| ready.failed(error))?;
    let book = KernelBook { place: ready.words(), ..book };
    let focus = match (spot, book.groups.first()) {
        (Some(spot), Some(record)) => Focus::on(&book, record, spot),
        _ => Focus::default(),
    };
    let drawing = args.view.draw(&book, 0, &focus, None, look_of_pixels(args.theme, args.size));
    format.write(&drawing.chart, args.size, output)
}

/// What is marked.
fn spot(args: &KernelArgs, program: &Program, launch: &Launch) -> Result<Option<Spot>, UsageError> {
    let (file, items, banks) = (&program.file, program.group_items(), launch.hardware.banks);
    match (args.item, args.bank) {
        (Some(item), _) if item >= items => Err(UsageError(format!(
            "{file}: --item {item}: found groups of {items} items; expected 0 to {}",
            items.saturating_sub(1)
        ))),
        (_, Some(bank)) if bank >= banks => Err(UsageError(format!(
            "{file}: --bank {bank}: found {banks} banks; expected 0 to {}",
            banks.saturating_sub(1)
        ))),
        (item, bank) => Ok(item.map(Spot::Item).or(bank.map(Spot::Bank))),
    }
}
