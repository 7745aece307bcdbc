//! What a kernel asks of storage and uniform memory, as a trace.

use super::engine::chosen;
use super::failed;
use crate::cli::KernelArgs;
use crate::kernel::{Engine as _, Launch, MOST_LANES, Program, WarpRecord};
use crate::shown::say;
use crate::trace::write::{TraceWriter, WriteFormat};
use crate::units::grouped;
use anyhow::bail;
use std::path::Path;

/// Cores that groups are given to, unless others are asked for.
const UNITS: u16 = 64;
/// References that are written at once.
const BATCH: usize = 1 << 16;

/// Runs the kernel and writes its references.
///
/// # Errors
/// When it cannot be run, accesses no such memory or too much of it, or the file cannot be written.
pub(super) fn write(args: &KernelArgs, program: &Program, launch: &Launch, output: &Path) -> anyhow::Result<()> {
    let record = WarpRecord::new(program, launch.hardware.warp).map_err(failed)?;
    let (run, record) = chosen(args.engine, &program.file)?.run(program, launch, record).map_err(failed)?;
    whole(program, &record)?;
    let references = record.references(program, &run, args.units.unwrap_or(UNITS), launch.hardware.sector);
    if references.is_empty() {
        bail!(
            "{}: found no access of storage or uniform memory; expected one at least, for a trace has references",
            program.file
        );
    }
    let mut writer = TraceWriter::create(output, WriteFormat::Native)?;
    for batch in references.chunks(BATCH) {
        writer.write(batch)?;
    }
    writer.finish(&record.tables(program, &run))?;
    say!("{}: {} references", output.display(), grouped(references.len() as u64));
    Ok(())
}

/// Refuses a record that ends before its kernel does.
///
/// # Errors
/// That.
pub(in crate::commands) fn whole(program: &Program, record: &WarpRecord) -> anyhow::Result<()> {
    if record.left() > 0 {
        let most = grouped(MOST_LANES as u64);
        bail!(
            "{}: found {} accesses of items more than are held; expected {most} at most; take a part of the groups with \
             --take FIRST..END, or launch fewer items",
            program.file,
            grouped(record.left()),
        );
    }
    Ok(())
}
