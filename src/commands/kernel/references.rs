//! What a kernel asks of storage and uniform memory, as a trace.

use super::engine::chosen;
use super::{KernelLaunches, failed};
use crate::cli::KernelArgs;
use crate::kernel::{LaunchTrace, MOST_LANES, Program, WarpRecord};
use crate::shown::say;
use crate::trace::write::{TraceWriter, WriteFormat};
use crate::units::{counted, grouped};
use anyhow::bail;

/// Cores that groups are given to, unless others are asked for.
const UNITS: u16 = 64;
/// References that are written at once.
const BATCH: usize = 1 << 16;

/// Runs all launches, or the one that was chosen after those before it, and writes their references.
///
/// # Errors
/// When one cannot be run, accesses no such memory or too much of it, or the file cannot be written.
pub(super) fn write(args: &KernelArgs, mut launches: KernelLaunches) -> anyhow::Result<()> {
    let Some(output) = &args.output else { return Ok(()) };
    let file = launches.program().file.clone();
    let alone = launches.alone(&args.launch)?;
    let mut engine = chosen(args.engine, &file)?;
    let mut trace = LaunchTrace::new(args.units.unwrap_or(UNITS), args.launch.hardware().sector);
    let mut writer = None;
    let mut written = 0;
    while !launches.is_done() {
        if alone && !launches.is_looked_at() {
            launches.run(&mut engine, |_| Ok(()))?;
            continue;
        }
        let (ready, run, record) = launches
            .run(&mut engine, |ready| WarpRecord::new(&ready.program, ready.launch.hardware.warp).map_err(failed))?;
        whole(&ready.program, &record)?;
        let references = trace.references(&ready.program, &run, &record);
        written += references.len();
        if writer.is_none() {
            writer = Some(TraceWriter::create(output, WriteFormat::Native)?);
        }
        for batch in references.chunks(BATCH) {
            if let Some(writer) = &mut writer {
                writer.write(batch)?;
            }
        }
        if alone {
            break;
        }
    }
    let Some(writer) = writer.filter(|_| written > 0) else {
        bail!(
            "{file}: found no access of storage or uniform memory; expected one at least, for a trace has references"
        );
    };
    writer.finish(&trace.tables())?;
    say!("{}: {}", output.display(), counted(written as u64, "reference"));
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
