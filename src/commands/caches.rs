//! `orrery caches`: the presets, or one of them as TOML.

use super::UsageError;
use super::hierarchy::no_preset;
use crate::cli::CachesArgs;
use crate::sim::config::{HierarchyConfig, format_size, preset, presets};
use std::io::Write;

/// Lists the presets, or prints one.
///
/// # Errors
/// [`UsageError`] for a name that is none; a failed write.
pub fn run(args: &CachesArgs) -> anyhow::Result<()> {
    write(args, &mut std::io::stdout().lock())
}

fn write(args: &CachesArgs, out: &mut impl Write) -> anyhow::Result<()> {
    if let Some(name) = &args.name {
        let Some(preset) = presets().iter().find(|p| p.name == name) else {
            return Err(UsageError(no_preset(name)).into());
        };
        // The comments of the shipped file say where its figures are from; what it leaves to defaults is written out.
        for comment in preset.toml.lines().take_while(|line| line.starts_with('#')) {
            writeln!(out, "{comment}")?;
        }
        let config = HierarchyConfig::from_toml(preset.toml, preset.name)?;
        return Ok(out.write_all(config.to_toml().as_bytes())?);
    }
    let width = presets().iter().map(|p| p.name.len()).max().unwrap_or(0);
    for shipped in presets() {
        writeln!(out, "{:width$}  {}", shipped.name, shipped.summary)?;
        if let Some(config) = preset(shipped.name) {
            writeln!(out, "{:width$}  {}", "", describe(&config)?)?;
        }
    }
    writeln!(out, "\n--cache NAME takes one; `orrery caches NAME` prints it as TOML, to be changed and given back.")?;
    Ok(())
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
        write(&CachesArgs { name: name.map(Into::into) }, &mut out)?;
        Ok(String::from_utf8(out)?)
    }

    #[test]
    fn presets_are_listed_with_their_shape() {
        let list = printed(None).unwrap();
        assert!(list.contains("textbook  three levels"), "{list}");
        assert!(list.contains("L1 512B, 2 sets x 8 ways x 32B; L2 2KiB, 4 sets x 16 ways x 32B"), "{list}");
        assert!(list.contains("L3 8MiB, 8192 sets x 16 ways x 64B"), "{list}");
    }

    #[test]
    fn a_printed_preset_reads_back_as_itself() {
        for shipped in presets() {
            let text = printed(Some(shipped.name)).unwrap();
            assert!(text.starts_with('#'), "its source is said: {text}");
            assert_eq!(Some(HierarchyConfig::from_toml(&text, "printed").unwrap()), preset(shipped.name));
        }
        let error = printed(Some("papr")).unwrap_err();
        assert!(error.is::<UsageError>());
        assert!(error.to_string().contains("did you mean `paper`?"), "{error}");
    }
}
