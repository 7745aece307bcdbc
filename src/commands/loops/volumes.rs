//! What parts of a nest move and compute: a table, data, a graph.

use crate::analysis::{Fold, Folding, NestGraph, in_words, nest_graph};
use crate::chart::{Look, dataflow, is_legible};
use crate::cli::LoopsArgs;
use crate::commands::aligned::aligned;
use crate::commands::charts::ChartFormat;
use crate::commands::stats::to_stdout;
use crate::nest::{Amount, Settings, Volumes};
use crate::shown::{self, say};
use crate::trace::open_volumes;
use crate::units::{counted, grouped};
use serde_json::{Value, json};
use std::path::Path;

/// Boxes of loops and tasks that are drawn, at most.
const MOST_DRAWN: usize = 60;

fn open(file: &Path, settings: &Settings) -> anyhow::Result<Volumes> {
    let volumes = open_volumes(file, settings)?;
    volumes.gaps().iter().for_each(|gap| say!("note: {gap}; nothing is told of it here"));
    Ok(volumes)
}

/// Parameters and their values, in words.
fn values(volumes: &Volumes) -> String {
    volumes.parameters().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}

/// Prints a table, or JSON.
///
/// # Errors
/// When the file is not to be had, or has no accesses to be counted.
pub(super) fn tell(file: &Path, settings: &Settings, args: &LoopsArgs) -> anyhow::Result<()> {
    let volumes = open(file, settings)?;
    to_stdout(args.json, |out| {
        if args.json {
            let graph = nest_graph(&volumes, &Folding::all(args.fold.unwrap_or(Fold::Tasks)), usize::MAX);
            serde_json::to_writer(&mut *out, &data(&volumes, &graph)).map_err(std::io::Error::from)?;
            writeln!(out)?;
            return Ok(out.flush()?);
        }
        writeln!(out, "{}", shown::name(volumes.title()))?;
        let values = values(&volumes);
        if !values.is_empty() {
            writeln!(out, "{}", shown::line(&values))?;
        }
        writeln!(
            out,
            "{}; operations are arithmetic and calls; an update counts as read and written\n",
            counted(volumes.accesses(), "access")
        )?;
        for item in volumes.items() {
            let loops = if item.loops.is_empty() { "no loop".into() } else { format!("for {}", item.loops.join(", ")) };
            let state = if item.state.is_empty() { String::new() } else { format!("{}: ", item.state) };
            writeln!(
                out,
                "{}",
                shown::line(&format!("{state}{loops}: {} iterations", in_words(&item.iterations, false)))
            )?;
            for task in &item.tasks {
                writeln!(out, "  {}", shown::line(&task.text))?;
                let mut rows = vec![
                    ["    container", "elements read", "written", "bytes in", "bytes out"].map(String::from).to_vec(),
                ];
                for moved in &task.moved {
                    let name = volumes.containers().get(moved.container).map_or("", |c| c.name.as_str());
                    let both = |one: &Amount| in_words(&volumes.sum([one, &moved.updates]), false);
                    let (read, written) = (both(&moved.reads), both(&moved.writes));
                    let bytes = [&moved.bytes_in, &moved.bytes_out].map(|amount| in_words(amount, true));
                    rows.push([vec![format!("    {}", shown::name(name)), read, written], bytes.to_vec()].concat());
                }
                out.write_all(aligned(&rows).as_bytes())?;
                let each = task.operations.per_text(&task.bytes).unwrap_or_else(|| "no closed form".into());
                let value = task.operations.per(&task.bytes).map_or(String::new(), |each| format!(" = {each:.4}"));
                writeln!(
                    out,
                    "    operations {}; bytes {}; operations a byte {each}{value}\n",
                    in_words(&task.operations, false),
                    in_words(&task.bytes, true)
                )?;
            }
        }
        Ok(out.flush()?)
    })
}

fn amount(amount: &Amount) -> Value {
    json!({ "expression": amount.text, "value": amount.value })
}

fn data(volumes: &Volumes, graph: &NestGraph) -> Value {
    let nodes = graph.nodes.iter().map(|node| {
        json!({
            "kind": node.kind,
            "name": node.name,
            "state": node.state,
            "executions": amount(&node.executions),
            "operations": amount(&node.operations),
            "bytes": amount(&node.bytes),
            "intensity": { "expression": node.operations.per_text(&node.bytes), "value": node.operations.per(&node.bytes) },
            "file": node.source.0,
            "line": node.source.1,
        })
    });
    let edges = graph.edges.iter().map(|edge| {
        json!({
            "from": edge.from,
            "to": edge.to,
            "container": edge.container.and_then(|c| volumes.containers().get(c)).map(|c| c.name.as_str()),
            "elements": amount(&edge.elements),
            "bytes": amount(&edge.bytes),
        })
    });
    let parameters: serde_json::Map<String, Value> =
        volumes.parameters().map(|(name, value)| (name.to_owned(), value.into())).collect();
    json!({
        "title": volumes.title(),
        "parameters": parameters,
        "accesses": volumes.accesses(),
        "gaps": volumes.gaps(),
        "nodes": nodes.collect::<Vec<_>>(),
        "edges": edges.collect::<Vec<_>>(),
    })
}

/// Draws the graph.
///
/// # Errors
/// As [`tell`], and when the file cannot be written.
pub(super) fn draw(file: &Path, settings: &Settings, args: &LoopsArgs, output: &Path) -> anyhow::Result<()> {
    let format = ChartFormat::of(output)?;
    let volumes = open(file, settings)?;
    let look = Look::of_pixels(args.theme, args.size);
    let folded = |fold: Fold| nest_graph(&volumes, &Folding::all(fold), MOST_DRAWN);
    let graph = match args.fold {
        Some(fold) => folded(fold),
        None => {
            let fits = |graph: &NestGraph| graph.left_out == 0 && is_legible(graph, look);
            let finest = Fold::ALL.into_iter().map(folded).find(fits);
            finest.unwrap_or_else(|| folded(Fold::States))
        }
    };
    let mut about: Vec<String> = Vec::new();
    about.extend(Some(values(&volumes)).filter(|values| !values.is_empty()));
    about.push(counted(volumes.accesses(), "access"));
    match graph.fold {
        Fold::Tasks => {}
        Fold::Loops => about.push("statements folded into their loops".into()),
        Fold::States => about.push("folded by states or outermost loops".into()),
    }
    if graph.left_out > 0 {
        about.push(format!("{} parts that move less are left out", grouped(graph.left_out as u64)));
    }
    let chart = dataflow(&graph, [volumes.title(), &about.join("; ")], args.scale, args.boxes, look);
    format.write(&chart, args.size, output)
}
