//! What a kernel did, for people.

use super::super::aligned::aligned;
use super::super::stats::percent;
use super::launches::Place;
use crate::kernel::{Act, Content, Launch, Outside, Program, Run, Space, name_of};
use crate::shown;
use crate::units::{counted, grouped};
use std::collections::BTreeSet;
use std::io::Write;

/// Rows of a table; JSON has all.
const ROWS: usize = 24;
/// Letters of what is accessed, in a table.
const WHAT: usize = 28;

/// Writes all of it.
///
/// # Errors
/// A failed write.
pub(super) fn write(
    program: &Program,
    launch: &Launch,
    run: &Run,
    place: Place,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    head(program, launch, run, out)?;
    if place.of > 1 {
        writeln!(out, "{place}; buffers hold what those before it left")?;
    }
    notes(program, run, out)?;
    short(program, launch, run, out)?;
    divergence(program, run, out)?;
    banks(run, out)?;
    sites(program, launch, run, out)?;
    values(program, run, out)?;
    races(program, run, out)
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(String::from).to_vec()
}

fn extent(numbers: [u32; 3]) -> String {
    let [x, y, z] = numbers;
    match (y, z) {
        (1, 1) => x.to_string(),
        (_, 1) => format!("{x} x {y}"),
        _ => format!("{x} x {y} x {z}"),
    }
}

fn head(program: &Program, launch: &Launch, run: &Run, out: &mut dyn Write) -> anyhow::Result<()> {
    let groups = run.taken.end - run.taken.start;
    let all: u64 = run.groups.iter().map(|n| u64::from(*n)).product();
    writeln!(
        out,
        "{}, entry {}: {} in {} of {}",
        shown::name(&program.file),
        shown::name(&program.entry),
        counted(run.counts.work_items, "item"),
        counted(groups, "group"),
        extent(program.group_size)
    )?;
    if groups < all {
        writeln!(out, "groups {} to {} of {}", run.taken.start, run.taken.end - 1, grouped(all))?;
    }
    let hardware = &launch.hardware;
    writeln!(
        out,
        "model warps of {}; {} of {}; lines of {} bytes in sectors of {}; {}",
        counted(hardware.warp as u64, "item"),
        counted(hardware.banks as u64, "bank"),
        counted(hardware.bank_bytes as u64, "byte"),
        hardware.line,
        hardware.sector,
        counted(run.events, "event")
    )?;
    Ok(())
}

fn notes(program: &Program, run: &Run, out: &mut dyn Write) -> anyhow::Result<()> {
    if program.watches() {
        let all = (0..).zip(&program.shared);
        let watched: Vec<_> = all.filter(|(n, _)| program.is_watched(*n)).map(|(_, s)| shown::name(&s.name)).collect();
        let names = if watched.is_empty() { "none that the entry uses".to_owned() } else { watched.join(", ") };
        writeln!(out, "watched by `// @watch`: {names}; accesses of others are counted nowhere")?;
    }
    for unbound in &run.unbound {
        let name = shown::name(&unbound.name);
        if let Some(texels) = unbound.texels {
            let what = if unbound.bound { "" } else { "bound to nothing, so zeros; " };
            writeln!(out, "{name}: {what}{} texels, one for each item of the launch", extent(texels))?;
            continue;
        }
        match (unbound.elements, unbound.bound) {
            (Some(elements), true) => {
                writeln!(out, "{name}: {}, as many as the kernel reaches for", counted(elements.into(), "element"))?;
            }
            (Some(elements), false) => writeln!(
                out,
                "{name}: bound to nothing, so {} of zeros, as many as the kernel reaches for",
                counted(elements.into(), "element")
            )?,
            (None, _) => writeln!(out, "{name}: bound to nothing, so {} of zeros", counted(unbound.bytes, "byte"))?,
        }
    }
    for outside in &run.outside {
        let (group, item) = outside.first;
        writeln!(
            out,
            "{}:{}: {} of {} past the end: element {} of {} (group {group}, item {item}); {}",
            shown::name(&program.file),
            outside.line,
            counted(outside.count, "access"),
            shown::name(&outside.name),
            outside_index(outside),
            grouped(outside.length.into()),
            if outside.private || program.shared.iter().any(|s| s.name == outside.name && s.space == Space::Workgroup) {
                "the last element takes its place"
            } else {
                "reads give 0, writes are left out"
            }
        )?;
    }
    Ok(())
}

/// Buffers that are longer than what is bound to them.
fn short(program: &Program, launch: &Launch, run: &Run, out: &mut dyn Write) -> anyhow::Result<()> {
    for (shared, bytes) in program.shared.iter().zip(&run.before) {
        let Some((Content::Numbers(numbers), _)) = launch.bound.get(&shared.name) else { continue };
        let all = program.numbers(shared, bytes).map_or(0, |all| all.len());
        if numbers.len() < all {
            let (name, given) = (shown::name(&shared.name), counted(numbers.len() as u64, "number"));
            writeln!(out, "{name}: {given} bound to {}; the others are zeros", grouped(all as u64))?;
        }
    }
    Ok(())
}

fn outside_index(outside: &Outside) -> String {
    match outside.signed() {
        below if below < 0 => below.to_string(),
        index => grouped(index.unsigned_abs()),
    }
}

fn divergence(program: &Program, run: &Run, out: &mut dyn Write) -> anyhow::Result<()> {
    let counts = &run.counts;
    writeln!(
        out,
        "\ndivergence: the items of {} of {} go different ways",
        grouped(counts.divergent_warps),
        counted(counts.warps, "warp")
    )?;
    let mut rows = vec![words(["proxy warp", "warps", "items", "pattern of ifs", "with loops"])];
    let mut left = 0;
    for (number, proxy) in (1u64..).zip(&counts.proxy_warps) {
        for (n, way) in proxy.branchings.iter().enumerate() {
            if rows.len() > ROWS {
                left += 1;
                continue;
            }
            let head = if n == 0 { [number.to_string(), grouped(proxy.warps)] } else { [String::new(), String::new()] };
            let dash = |text: &str| if text.is_empty() { "-".to_owned() } else { shown::short(text, 40).into_owned() };
            let mut patterns = [dash(&way.pattern), dash(&way.pattern_with_loops)].to_vec();
            if !way.cases.is_empty() {
                let cases: Vec<String> = way.cases.iter().take(12).map(u32::to_string).collect();
                patterns.push(format!("cases {}", cases.join(" ")));
            }
            rows.push([head.to_vec(), vec![way.lanes.to_string()], patterns].concat());
        }
    }
    out.write_all(aligned(&rows).as_bytes())?;
    if left > 0 {
        writeln!(out, "and {}; --json has all", counted(left, "row"))?;
    }
    let cost = &counts.cost;
    writeln!(
        out,
        "cost: {} carried out by warps, {} had none diverged; {} of their lanes were at work",
        counted(cost.warp_steps, "statement"),
        grouped(cost.longest),
        percent(cost.item_steps, cost.lane_steps)
    )?;
    let parted: Vec<_> = counts.parted.iter().filter(|(_, (_, parted))| *parted > 0).collect();
    if !parted.is_empty() {
        let mut rows = vec![words(["condition", "decisions of warps", "parted", ""])];
        for (line, (all, parted)) in parted {
            rows.push(vec![format!("line {line}"), grouped(*all), grouped(*parted), source(program, *line)]);
        }
        out.write_all(left_last(rows).as_bytes())?;
    }
    Ok(())
}

fn source(program: &Program, line: u32) -> String {
    shown::short(program.source_line(line), 70).into_owned()
}

/// A table whose last column is text: to the left.
fn left_last(rows: Vec<Vec<String>>) -> String {
    let last: Vec<String> = rows.iter().map(|row| row.last().cloned().unwrap_or_default()).collect();
    let table: Vec<Vec<String>> = rows
        .into_iter()
        .map(|mut row| {
            row.pop();
            row
        })
        .collect();
    let lines = aligned(&table);
    let mut out = String::new();
    for (line, last) in lines.lines().zip(last) {
        out.push_str(format!("{line}  {last}").trim_end());
        out.push('\n');
    }
    out
}

fn banks(run: &Run, out: &mut dyn Write) -> anyhow::Result<()> {
    let banks = &run.counts.banks;
    if banks.iter().all(|banks| banks.accesses == 0) {
        return Ok(());
    }
    let sum = |of: fn(&crate::kernel::Banks) -> u64| banks.iter().map(of).sum::<u64>();
    writeln!(
        out,
        "\nbanks of workgroup memory: {} of {} warp accesses conflict and cost {} beyond one each",
        grouped(sum(|b| b.conflicting)),
        grouped(sum(|b| b.accesses)),
        counted(sum(|b| b.extra), "transaction")
    )?;
    // Groups that are alike in one row.
    let mut rows = vec![words(["groups", "accesses", "conflicting", "extra", "most ways"])];
    let alike = banks.chunk_by(|a, b| {
        (a.accesses, a.conflicting, a.extra, a.max_degree) == (b.accesses, b.conflicting, b.extra, b.max_degree)
    });
    let mut left = 0;
    for chunk in alike {
        let (Some(first), Some(last)) = (chunk.first(), chunk.last()) else { continue };
        if rows.len() > ROWS {
            left += 1;
            continue;
        }
        let name =
            if chunk.len() == 1 { first.group.to_string() } else { format!("{} to {}", first.group, last.group) };
        let counts = [first.accesses, first.conflicting, first.extra, first.max_degree].map(grouped);
        rows.push([vec![name], counts.to_vec()].concat());
    }
    out.write_all(aligned(&rows).as_bytes())?;
    if left > 0 {
        writeln!(out, "and {}; --json has all", counted(left, "row"))?;
    }
    Ok(())
}

/// Each place that accesses shared memory: for workgroup memory its conflicts, for the others what is fetched of what is asked for.
fn sites(program: &Program, launch: &Launch, run: &Run, out: &mut dyn Write) -> anyhow::Result<()> {
    if run.sites.is_empty() {
        return Ok(());
    }
    writeln!(out, "\naccesses of shared memory, by place in the source")?;
    let mut rows =
        vec![words(["line", "", "", "warp accesses", "items", "conflicting", "extra", "sectors", "lines", "used", ""])];
    for (site, used) in run.sites.iter().zip(&run.counts.uses) {
        let space = program.shared[site.shared].space;
        // Several accesses of one line are told apart by what they access.
        let what = if site.words.is_empty() { name_of(&program.shared, site) } else { &site.words };
        let mut row = vec![site.line.to_string(), site.act.word().into(), shown::short(what, WHAT).into_owned()];
        row.extend([grouped(used.accesses), grouped(used.items)]);
        if space == Space::Workgroup {
            row.extend([grouped(used.conflicting), grouped(used.extra), "".into(), "".into(), "".into()]);
        } else {
            let fetched = used.sectors * u64::from(launch.hardware.sector);
            row.extend([
                "".into(),
                "".into(),
                grouped(used.sectors),
                grouped(used.lines),
                percent(used.bytes, fetched),
            ]);
        }
        let mut text = source(program, site.line);
        if used.contended > 0 {
            text = format!("{text}   [{} wait for others at the same word]", grouped(used.contended));
        }
        row.push(text);
        rows.push(row);
    }
    out.write_all(left_last(rows).as_bytes())?;
    // Several places of one line are one line.
    let asleep: BTreeSet<u32> = run
        .sites
        .iter()
        .zip(&run.counts.uses)
        .filter(|(site, used)| used.accesses == 0 && site.act != Act::Atomic)
        .map(|(site, _)| site.line)
        .collect();
    if !asleep.is_empty() {
        let lines: Vec<String> = asleep.iter().take(ROWS).map(u32::to_string).collect();
        let more = match asleep.len().saturating_sub(ROWS) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let word = if asleep.len() == 1 { "line" } else { "lines" };
        writeln!(out, "never carried out: {word} {}{more}", lines.join(", "))?;
    }
    Ok(())
}

/// What `// @emit` told.
fn values(program: &Program, run: &Run, out: &mut dyn Write) -> anyhow::Result<()> {
    if program.emits().is_empty() {
        return Ok(());
    }
    writeln!(out, "\nvalues that were told")?;
    let mut rows = vec![words(["line", "expression", "values", "least", "mean", "greatest", ""])];
    for (emit, stats) in program.emits().iter().zip(&run.counts.values) {
        let mut row = vec![emit.line.to_string(), shown::short(&emit.words, WHAT).into_owned(), grouped(stats.count)];
        row.extend(match stats.mean() {
            Some(mean) => [stats.least.to_string(), format!("{mean:.4}"), stats.greatest.to_string()],
            None => ["-"; 3].map(String::from),
        });
        row.push(match stats.not_finite {
            0 => String::new(),
            n => format!("{} no finite number", grouped(n)),
        });
        rows.push(row);
    }
    out.write_all(left_last(rows).as_bytes())?;
    Ok(())
}

fn races(program: &Program, run: &Run, out: &mut dyn Write) -> anyhow::Result<()> {
    let races = &run.counts.races;
    match races.len() {
        0 => writeln!(out, "\nraces: none in this launch")?,
        n => writeln!(out, "\nraces: {}", counted(n as u64, "pair").replace("pairs", "pairs of places"))?,
    }
    for race in races {
        let shared = &program.shared[race.shared];
        let sites = race.sites.map(|site| &run.sites[site]);
        writeln!(
            out,
            "{} ({}), byte {}: no barrier is between them; seen at {}",
            shown::name(&shared.name),
            shared.space.word(),
            grouped(race.address.into()),
            counted(race.words, "word")
        )?;
        for (site, (group, item)) in sites.iter().zip(race.items) {
            let (act, line) = (site.act.word(), site.line);
            writeln!(out, "  {act} by item {item} of group {group}, line {line}: {}", source(program, line))?;
        }
    }
    for lone in &run.lone {
        writeln!(
            out,
            "barrier in divergent flow, line {}: {} of {} items of group {} come to it",
            lone.line, lone.came, lone.of, lone.group
        )?;
        writeln!(out, "  line {}: {}", lone.line, source(program, lone.line))?;
        writeln!(out, "  parted at line {}: {}", lone.cause, source(program, lone.cause))?;
    }
    Ok(())
}
