//! `orrery caches`: the presets and this machine, or one of them as TOML.

use super::UsageError;
use super::hierarchy::{no_preset, of_host};
use crate::cli::CachesArgs;
use crate::host::{self, Host};
use crate::sim::Policy;
use crate::sim::config::{HierarchyConfig, format_size, preset, presets};
use crate::sim::policy::About;
use std::io::Write;

/// Lists the presets, or prints one.
///
/// # Errors
/// [`UsageError`] for a name that is none, and for `host` where the machine does not say; a failed write.
pub fn run(args: &CachesArgs) -> anyhow::Result<()> {
    // TOML, where one is printed.
    write(args, &mut crate::shown::json())
}

fn write(args: &CachesArgs, out: &mut impl Write) -> anyhow::Result<()> {
    match args.name.as_deref() {
        None if args.policies => list_policies(out),
        None => list(out),
        Some(host::NAME) => {
            let host = Host::read().map_err(|error| of_host(&error))?;
            Ok(out.write_all(host.to_toml().as_bytes())?)
        }
        Some(name) => {
            let Some(shipped) = presets().iter().find(|p| p.name == name) else {
                return Err(UsageError(no_preset(name)).into());
            };
            // What the shipped file leaves to defaults is written out; its comments say where the figures are from.
            let config = HierarchyConfig::from_toml(shipped.toml, shipped.name)?;
            Ok(out.write_all(config.to_toml_with(shipped.toml).as_bytes())?)
        }
    }
}

/// One line each.
fn list(out: &mut impl Write) -> anyhow::Result<()> {
    let shipped = presets().iter().filter_map(|p| Some((p.name, p.summary, sizes(&preset(p.name)?))));
    let mut rows: Vec<(&str, &str, String)> = shipped.collect();
    let host = Host::read().map_or_else(|_| "not described here".to_owned(), |host| sizes(&host.config));
    rows.push((host::NAME, "this machine", host));
    let names = rows.iter().map(|row| row.0.len()).max().unwrap_or(0);
    let summaries = rows.iter().map(|row| row.1.len()).max().unwrap_or(0);
    for (name, summary, sizes) in rows {
        writeln!(out, "{name:names$}  {summary:summaries$}  {sizes}")?;
    }
    writeln!(out, "\n--cache NAME takes one; `orrery caches NAME` prints it as TOML, to be changed and given back.")?;
    Ok(())
}

/// One line each.
fn list_policies(out: &mut impl Write) -> anyhow::Result<()> {
    let rows: Vec<_> = Policy::ALL.iter().map(|policy| policy.about()).collect();
    let width = |of: fn(&About) -> &str| rows.iter().map(|about| of(about).len()).max().unwrap_or(0);
    let [words, victims, states] = [width(|a| a.word), width(|a| a.victim), width(|a| a.state)];
    for About { word, victim, state, source, .. } in &rows {
        writeln!(out, "{word:words$}  {victim:victims$}  {state:states$}  {source}")?;
    }
    writeln!(
        out,
        "\nWhat leaves a full set, what is kept to know it, who described it. In a cache file: policy = \"WORD\"."
    )?;
    Ok(())
}

/// The levels' sizes: `L1D 32KiB, L1I 32KiB, L2 1MiB`.
fn sizes(config: &HierarchyConfig) -> String {
    let sizes = config.levels.iter().map(|level| format!("{} {}", level.name, format_size(level.size)));
    sizes.collect::<Vec<_>>().join(", ")
}

/// The levels in one line: `L1 512B, 2 sets x 8 ways x 32B; L2 ...`.
///
/// # Errors
/// When the configuration is wrong.
pub fn describe(config: &HierarchyConfig) -> anyhow::Result<String> {
    let shapes = config.check()?;
    let levels = config.levels.iter().zip(&shapes.levels).map(|(level, g)| {
        format!("{} {}, {} sets x {} ways x {}B", level.name, format_size(level.size), g.sets, g.ways, g.line_bytes)
    });
    Ok(levels.collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(name: Option<&str>) -> anyhow::Result<String> {
        let mut out = Vec::new();
        write(&CachesArgs { name: name.map(Into::into), policies: false }, &mut out)?;
        Ok(String::from_utf8(out)?)
    }

    #[test]
    fn presets_are_listed_one_line_each() {
        let list = printed(None).unwrap();
        let lines: Vec<&str> = list.lines().collect();
        assert_eq!(lines.len(), presets().len() + 3, "{list}");
        for (line, shipped) in lines.iter().zip(presets()) {
            assert!(line.starts_with(shipped.name) && line.contains(shipped.summary), "{line}");
        }
        assert!(lines[0].ends_with("L1 32KiB, L2 256KiB, L3 8MiB"), "{}", lines[0]);
        assert!(lines[presets().len()].starts_with("host "), "{list}");
    }

    #[test]
    fn policies_are_listed_one_line_each() {
        let mut out = Vec::new();
        write(&CachesArgs { name: None, policies: true }, &mut out).unwrap();
        let list = String::from_utf8(out).unwrap();
        for (line, policy) in list.lines().zip(Policy::ALL) {
            assert!(line.starts_with(&format!("{policy} ")) && line.contains(policy.about().source), "{line}");
        }
        assert_eq!(list.lines().count(), Policy::ALL.len() + 2, "{list}");
    }

    #[test]
    fn shapes_are_described() {
        let described = describe(&preset("paper").unwrap()).unwrap();
        assert_eq!(described, "L1 512B, 2 sets x 8 ways x 32B; L2 2KiB, 4 sets x 16 ways x 32B");
    }

    #[test]
    fn a_printed_preset_reads_back_as_itself_and_keeps_every_comment() {
        for shipped in presets() {
            let text = printed(Some(shipped.name)).unwrap();
            assert_eq!(Some(HierarchyConfig::from_toml(&text, "printed").unwrap()), preset(shipped.name));
            let comments =
                |text: &str| text.lines().filter(|l| l.starts_with('#')).map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(comments(&text), comments(shipped.toml), "{}", shipped.name);
        }
        let error = printed(Some("papr")).unwrap_err();
        assert!(error.is::<UsageError>());
        assert!(error.to_string().contains("did you mean `paper`?"), "{error}");
    }
}
