//! Flags that say how a kernel is launched, and on what hardware that is imagined.

use crate::kernel::{EVENTS, Hardware, STEPS};
use clap::Args;
use std::ops::Range;

/// How a kernel is launched.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Launch of a kernel")]
pub struct LaunchArgs {
    /// The entry, where there are several
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// Work items: X, X,Y or X,Y,Z; groups are filled up
    #[arg(long, value_name = "X,Y,Z", value_parser = extent, conflicts_with = "groups")]
    pub global: Option<[u64; 3]>,
    /// Groups: X, X,Y or X,Y,Z
    #[arg(long, value_name = "X,Y,Z", value_parser = extent)]
    pub groups: Option<[u64; 3]>,
    /// Which of several launches is looked at, after those before it have run; the first is 0; default: the last
    #[arg(long, value_name = "NUMBER")]
    pub launch: Option<usize>,
    /// NAME=zeros, iota, random(SEED), numbers, FILE.bin, FILE.csv or FILE.png; `:1024` or `:64x48` after the first three is a size; of a
    /// sampler linear or nearest
    #[arg(long, value_name = "NAME=WHAT")]
    pub bind: Vec<String>,
    /// Leave `// @watch` and `// @emit` in the source out of account
    #[arg(long)]
    pub no_annotations: bool,
    /// The value of an override; an argument of a kernel of `orrery gpu`
    #[arg(long, value_name = "NAME=VALUE", value_parser = set)]
    pub set: Vec<(String, f64)>,
    /// Only these groups
    #[arg(long, value_name = "FIRST..END", value_parser = take)]
    pub take: Option<Range<u64>>,
    /// Items of a model warp; default: 32
    #[arg(long, value_name = "ITEMS")]
    pub warp: Option<usize>,
    /// Banks of workgroup memory; default: 32
    #[arg(long, value_name = "COUNT")]
    pub banks: Option<u32>,
    /// Bytes of a word of a bank; default: 4
    #[arg(long, value_name = "BYTES")]
    pub bank_bytes: Option<u32>,
    /// Bytes of a sector of a line; default: 32
    #[arg(long, value_name = "BYTES")]
    pub sector: Option<u32>,
    /// Bytes of a line; default: 128
    #[arg(long, value_name = "BYTES")]
    pub line: Option<u32>,
    /// Statements that a group may carry out before it is said to be endless; default: 5,000,000
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    pub steps: Option<u64>,
    /// Events that may be recorded: accesses, decisions and barriers of items; default: 500,000,000
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    pub events: Option<u64>,
}

impl LaunchArgs {
    /// The first flag that was given of those that say what hardware is imagined.
    #[must_use]
    pub fn hardware_given(&self) -> Option<&'static str> {
        let hardware = ["--warp", "--banks", "--bank-bytes", "--sector", "--line"];
        let given = [
            self.warp.is_some(),
            self.banks.is_some(),
            self.bank_bytes.is_some(),
            self.sector.is_some(),
            self.line.is_some(),
        ];
        hardware.into_iter().zip(given).find_map(|(flag, given)| given.then_some(flag))
    }

    /// The first flag that was given, if any.
    #[must_use]
    pub fn first_given(&self) -> Option<&'static str> {
        [
            (self.entry.is_some(), "--entry"),
            (self.global.is_some(), "--global"),
            (self.groups.is_some(), "--groups"),
            (self.launch.is_some(), "--launch"),
            (!self.bind.is_empty(), "--bind"),
            (self.no_annotations, "--no-annotations"),
            (!self.set.is_empty(), "--set"),
            (self.take.is_some(), "--take"),
            (self.warp.is_some(), "--warp"),
            (self.banks.is_some(), "--banks"),
            (self.bank_bytes.is_some(), "--bank-bytes"),
            (self.sector.is_some(), "--sector"),
            (self.line.is_some(), "--line"),
            (self.steps.is_some(), "--steps"),
            (self.events.is_some(), "--events"),
        ]
        .into_iter()
        .find_map(|(given, flag)| given.then_some(flag))
    }

    /// The hardware that is imagined.
    #[must_use]
    pub fn hardware(&self) -> Hardware {
        let usual = Hardware::default();
        Hardware {
            warp: self.warp.unwrap_or(usual.warp),
            banks: self.banks.unwrap_or(usual.banks),
            bank_bytes: self.bank_bytes.unwrap_or(usual.bank_bytes),
            sector: self.sector.unwrap_or(usual.sector),
            line: self.line.unwrap_or(usual.line),
        }
    }

    /// Statements of a group, and events, that there may be.
    #[must_use]
    pub fn limits(&self) -> (u64, u64) {
        (self.steps.unwrap_or(STEPS), self.events.unwrap_or(EVENTS))
    }
}

fn extent(text: &str) -> Result<[u64; 3], String> {
    let mut out = [1; 3];
    let parts: Vec<&str> = text.split(',').collect();
    let error = || "expected one to three whole numbers, as in 1024 or 64,64".to_owned();
    if parts.len() > 3 {
        return Err(error());
    }
    for (to, part) in out.iter_mut().zip(parts) {
        *to = part.trim().replace('_', "").parse().map_err(|_| error())?;
    }
    Ok(out)
}

fn set(text: &str) -> Result<(String, f64), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE, as in N=1024")?;
    let number = match value.trim() {
        "true" => Ok(1.0),
        "false" => Ok(0.0),
        value => value.parse::<f64>(),
    };
    let number = number.ok().filter(|number| number.is_finite());
    Ok((name.trim().to_owned(), number.ok_or("expected a number after the =, as in N=1024")?))
}

fn take(text: &str) -> Result<Range<u64>, String> {
    let parts = text.split_once("..").and_then(|(from, to)| Some((from.trim().parse().ok()?, to.trim().parse().ok()?)));
    let (from, to) =
        parts.ok_or("expected numbers of groups, the first being 0 and the last not among them, as in 0..16")?;
    Ok(from..to)
}
