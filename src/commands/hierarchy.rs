//! `--cache`, `--l1`, `--l2`, `--l3`, `--cores`, `--seed`, `--scores`, `--data-only` to a checked [`HierarchyConfig`]: shared by all commands.

use super::UsageError;
use crate::cli::CacheArgs;
use crate::files::read_text;
use crate::host::{self, Host, HostError};
use crate::sim::Policy;
use crate::sim::config::{
    ConfigError, HierarchyConfig, Inclusion, LevelConfig, MAX_LEVELS, Place, Ways, nearest, parse_policy, parse_size,
    preset, presets,
};
use std::path::Path;

/// Bytes of a file with caches, at most: a thousand times what the longest takes.
const MAX_CONFIG: u64 = 1 << 20;

/// What `--cache` means where it is not given.
pub const DEFAULT_PRESET: &str = "textbook";

/// The hierarchy that the flags ask for; `default` is the preset where they ask for none.
///
/// `--l1` and its like reshape that level of `--cache`, or add the next one; without `--cache` they are the whole
/// hierarchy.
///
/// # Errors
/// [`UsageError`] where a flag, a name or the file's content is wrong; the file's own error where it cannot be read.
pub fn hierarchy(args: &CacheArgs, default: &str) -> anyhow::Result<HierarchyConfig> {
    let flags = [("--l1", &args.l1), ("--l2", &args.l2), ("--l3", &args.l3)];
    let by_flags_alone = args.cache.is_none() && flags.iter().any(|(_, value)| value.is_some());
    let mut config = if by_flags_alone {
        HierarchyConfig::new("by flags", Vec::new())
    } else {
        named(args.cache.as_deref().unwrap_or(default))?
    };
    for (index, (flag, value)) in flags.into_iter().enumerate() {
        let Some(value) = value else { continue };
        // Of split levels the one for data is meant.
        let depths = config.depths();
        let at = depths.iter().zip(&config.levels).position(|(d, l)| usize::from(*d) == index && l.holds.serves(false));
        let existing = at.and_then(|at| config.levels.get(at));
        if index > 0 && !depths.iter().any(|d| usize::from(*d) == index - 1) {
            return Err(usage(format!(
                "{flag} {value}: there is no level {index} inside it; give --l{index} too, or a --cache with {index} \
                 level(s)"
            )));
        }
        let level = parse_level(flag, value, index, existing).map_err(|e| usage(e.to_string()))?;
        match at.and_then(|at| config.levels.get_mut(at)) {
            Some(existing) => *existing = level,
            None => config.levels.push(level),
        }
    }
    config.data_only |= args.data_only;
    config.cores = args.cores.unwrap_or(config.cores);
    config.seed = args.seed.unwrap_or(config.seed);
    config.check().map_err(|e| usage(e.to_string()))?;
    if let Some(scores) = &args.scores {
        let place = Place { origin: format!("--scores {scores}"), line: None, part: None };
        config.set_scores(scores, &place).map_err(|e| usage(e.to_string()))?;
    }
    Ok(config)
}

fn usage(text: String) -> anyhow::Error {
    UsageError(text).into()
}

/// A preset, this machine, or else a file.
fn named(name: &str) -> anyhow::Result<HierarchyConfig> {
    if let Some(config) = preset(name) {
        return Ok(config);
    }
    if name == host::NAME {
        return Ok(Host::read().map_err(|error| of_host(&error))?.config);
    }
    let text = match read_text(Path::new(name), MAX_CONFIG) {
        Ok(text) => text,
        Err(error) => {
            let looks_like_a_path = Path::new(name).components().count() > 1 || name.ends_with(".toml");
            if error.kind() == std::io::ErrorKind::NotFound && !looks_like_a_path {
                return Err(usage(format!("--cache {name}: {}; nor is there such a file", no_preset(name))));
            }
            return Err(usage(format!("--cache {name}: cannot be read: {error}; expected a TOML file or a preset")));
        }
    };
    HierarchyConfig::from_toml(&text, name).map_err(|e| usage(e.to_string()))
}

/// What to say where this machine does not describe its caches: the finding, and the flag that helps.
#[must_use]
pub fn of_host(error: &HostError) -> UsageError {
    let remedy = match error {
        HostError::Contradiction { .. } => {
            "`orrery caches textbook > mine.toml` is a start for a file of your own: --cache mine.toml"
        }
        _ => "take a preset: --cache textbook",
    };
    UsageError(format!("--cache {}: {error}; {remedy}", host::NAME))
}

/// `no preset "txtbook" (did you mean `textbook`?); presets: textbook, paper, ..., host`.
pub(super) fn no_preset(name: &str) -> String {
    let names: Vec<&str> = presets().iter().map(|p| p.name).chain([host::NAME]).collect();
    let hint = nearest(name, &names).map(|n| format!(" (did you mean `{n}`?)")).unwrap_or_default();
    format!("no preset {name:?}{hint}; presets: {}", names.join(", "))
}

/// Reads `SIZE,WAYS,LINE[,POLICY]`; what it does not say comes from the level it reshapes, or is usual.
fn parse_level(
    flag: &str,
    value: &str,
    index: usize,
    existing: Option<&LevelConfig>,
) -> Result<LevelConfig, ConfigError> {
    let place = || Box::new(Place { origin: format!("{flag} {value}"), line: None, part: None });
    let wrong = |key: &str, found: &str, expected: &'static str| ConfigError::WrongType {
        place: place(),
        key: key.into(),
        found: format!("\"{found}\""),
        expected,
    };
    let parts: Vec<&str> = value.split(',').map(str::trim).collect();
    let (size, ways, line, policy) = match parts[..] {
        [size, ways, line] => (size, ways, line, None),
        [size, ways, line, policy] => (size, ways, line, Some(policy)),
        _ => {
            let expected = "SIZE,WAYS,LINE or SIZE,WAYS,LINE,POLICY, as in 32KiB,8,64 or 512,full,32,fifo";
            return Err(wrong("value", value, expected));
        }
    };
    let size =
        parse_size(size).ok_or_else(|| ConfigError::BadSize { place: place(), key: "size", value: size.into() })?;
    let ways = match ways {
        "full" => Ways::Full,
        n => Ways::Count(n.parse().map_err(|_| wrong("ways", n, "a whole number, or full"))?),
    };
    let line = line.parse().map_err(|_| wrong("line", line, "a number of bytes such as 64"))?;
    let usual = LevelConfig::new(format!("L{}", index + 1), index, size, ways, line);
    let policy = match policy {
        Some(word) => parse_policy(word, place())?,
        None => existing.map_or(Policy::default(), |level| level.policy),
    };
    let base = existing.cloned().unwrap_or(usual);
    let level = LevelConfig { size, ways, line, policy, ..base };
    // Checked alone first, so that a fault of the flag is told as one. OPT and relations concern the others too.
    let alone = LevelConfig { inclusion: Inclusion::Nine, ..level.clone() };
    HierarchyConfig::new(format!("{flag} {value}"), vec![alone]).check()?;
    Ok(level)
}

const _: () = assert!(MAX_LEVELS >= 3, "--l3 exists");

#[cfg(test)]
mod tests {
    use super::*;

    fn args(cache: Option<&str>, l1: Option<&str>, l2: Option<&str>) -> CacheArgs {
        CacheArgs { cache: cache.map(Into::into), l1: l1.map(Into::into), l2: l2.map(Into::into), ..Default::default() }
    }

    /// `name: size/ways/line/policy ...` of what the flags give, or the message.
    fn check(args: &CacheArgs, expect: &str) {
        let told = match hierarchy(args, DEFAULT_PRESET) {
            Ok(config) => {
                let level = |l: &LevelConfig| format!("{}={}/{:?}/{}/{:?}", l.name, l.size, l.ways, l.line, l.policy);
                config.levels.iter().map(level).collect::<Vec<_>>().join(" ")
            }
            Err(error) => {
                assert!(error.is::<UsageError>(), "{error} gives exit code 2");
                error.to_string()
            }
        };
        assert!(told.contains(expect), "{args:?}:\n  told:   {told}\n  expect: {expect}");
    }

    #[test]
    fn flags_become_levels() {
        check(&args(None, None, None), "L3=8388608/Count(16)/64/Lru");
        check(&args(Some("paper"), None, None), "L1=512/Count(8)/32/Lru L2=2048/Count(16)/32/Lru");
        check(&args(None, Some("32KiB,8,64"), None), "L1=32768/Count(8)/64/Lru");
        check(
            &args(None, Some("512,full,32,fifo"), Some("1MiB,16,64")),
            "L1=512/Full/32/Fifo L2=1048576/Count(16)/64/Lru",
        );
        check(&args(Some("paper"), None, Some("4KiB,2,32")), "L1=512/Count(8)/32/Lru L2=4096/Count(2)/32/Lru");
        let l3 = CacheArgs { l3: Some("1MiB,16,64".into()), data_only: true, ..args(Some("paper"), None, None) };
        check(&l3, "L3=1048576/Count(16)/64/Lru");
        assert!(hierarchy(&l3, DEFAULT_PRESET).unwrap().data_only);
        assert!(!hierarchy(&args(None, None, None), "paper").unwrap().data_only);
        let many = CacheArgs { cores: Some(4), seed: Some(7), ..args(Some("paper"), None, None) };
        let many = hierarchy(&many, DEFAULT_PRESET).unwrap();
        assert_eq!((many.cores, many.seed), (4, 7));
        assert_eq!(hierarchy(&args(None, None, None), "paper").unwrap().name, "paper");
    }

    #[test]
    fn bad_flags_are_usage_errors() {
        check(&args(None, None, Some("1MiB,16,64")), "--l2 1MiB,16,64: there is no level 1 inside it; give --l1");
        check(
            &args(Some("txtbook"), None, None),
            "no preset \"txtbook\" (did you mean `textbook`?); presets: textbook",
        );
        check(&args(Some("hots"), None, None), "no preset \"hots\" (did you mean `host`?); presets: textbook, paper");
        check(&args(Some("./nowhere/x.toml"), None, None), "--cache ./nowhere/x.toml: cannot be read: No such file");
        check(&args(None, Some("32KiB"), None), "expected SIZE,WAYS,LINE");
        check(&args(None, Some("32KB,8,64"), None), "--l1 32KB,8,64: size = \"32KB\" is no size");
        check(&args(None, Some("32KiB,eight,64"), None), "`ways` is \"eight\"; expected a whole number, or full");
        check(&args(None, Some("32KiB,8,-64"), None), "`line` is \"-64\"; expected a number of bytes");
        check(&args(None, Some("32KiB,8,48"), None), "line is 48, not a power of two; the nearest are 32 and 64");
        check(&args(None, Some("100,8,64"), None), "8 ways, but 100B with 64-byte lines hold 1 line(s)");
        check(&args(None, Some("32KiB,0,64"), None), "ways is 0; it must be 1 or more");
        check(
            &args(None, Some("96KiB,12,64,tree-plru"), None),
            "keeps a binary tree and needs a power of two; the nearest are 8 and 16",
        );
        check(&args(None, Some("32KiB,8,64,lur"), None), "policy = \"lur\" is unknown (did you mean `lru`?); allowed");
    }
}
