//! Other caches for the trace that is open: what is changed, what can be taken back, what is refused. Nothing is drawn or simulated
//! here.

use crate::sim::Policy;
use crate::sim::config::{
    HierarchyConfig, Inclusion, LevelConfig, Prefetch, Ways, format_size, parse_size, preset, presets,
};

/// Changes that can be taken back, at most.
const MOST: usize = 200;
/// Levels at most that can be added by hand.
const LEVELS: usize = 6;

/// One change of the caches.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Other caches altogether: a preset, by name.
    Preset(String),
    /// The size of a level, as it was typed: `48KiB`.
    Size(usize, String),
    /// The ways of a level, as they were typed: `12`, `full`.
    Ways(usize, String),
    /// The line of all levels, as it was typed: `64`.
    Line(String),
    /// Twice (`true`) or half of a level's size.
    Sized(usize, bool),
    /// Twice or half as many ways, in a level of the same size.
    Wayed(usize, bool),
    /// Twice or half the line of all levels.
    Lined(bool),
    /// Who is replaced.
    Policy(usize, Policy),
    /// What a level has of the levels inside it.
    Inclusion(usize, Inclusion),
    /// What is fetched before it is asked for.
    Prefetch(usize, Prefetch),
    /// One more level outside the others, eight times as large as the last.
    Add,
    /// Without this level.
    Remove(usize),
}

/// The caches of the window, and those that they were before.
#[derive(Clone, Debug)]
pub struct CacheEdit {
    now: HierarchyConfig,
    past: Vec<HierarchyConfig>,
    future: Vec<HierarchyConfig>,
    /// Why the last change was not made.
    refused: Option<String>,
}

impl CacheEdit {
    /// For caches that are shown.
    #[must_use]
    pub fn new(now: HierarchyConfig) -> Self {
        Self { now, past: Vec::new(), future: Vec::new(), refused: None }
    }

    /// The caches as they are wanted: shown, or being simulated.
    #[must_use]
    pub fn now(&self) -> &HierarchyConfig {
        &self.now
    }

    /// Why the last change was not made; the caches are as before it.
    #[must_use]
    pub fn refused(&self) -> Option<&str> {
        self.refused.as_deref()
    }

    /// Makes a change. True: there are other caches to simulate.
    pub fn change(&mut self, change: &Change) -> bool {
        self.refused = None;
        let next = match changed(&self.now, change) {
            Ok(next) if next == self.now => return false,
            Ok(next) => next,
            Err(words) => {
                self.refused = Some(words);
                return false;
            }
        };
        if self.past.len() >= MOST {
            self.past.remove(0);
        }
        self.past.push(std::mem::replace(&mut self.now, next));
        self.future.clear();
        true
    }

    /// Takes the last change back, or (`again`) makes it again. True: there are other caches to simulate.
    pub fn undo(&mut self, again: bool) -> bool {
        self.refused = None;
        let Self { now, past, future, .. } = self;
        let (from, to) = if again { (future, past) } else { (past, future) };
        let Some(next) = from.pop() else { return false };
        to.push(std::mem::replace(now, next));
        true
    }

    /// Whether there is something to undo, and something to redo.
    #[must_use]
    pub fn can(&self) -> [bool; 2] {
        [!self.past.is_empty(), !self.future.is_empty()]
    }
}

/// The caches after a change, or why it cannot be made: in words for people.
fn changed(config: &HierarchyConfig, change: &Change) -> Result<HierarchyConfig, String> {
    let mut next = config.clone();
    // A level that there is not is left as it is.
    let set = |next: &mut HierarchyConfig, at: usize, set: &dyn Fn(&mut LevelConfig)| {
        next.levels.get_mut(at).into_iter().for_each(set);
    };
    match change {
        Change::Preset(name) => {
            next = preset(name).ok_or_else(|| format!("there is no preset {name}"))?;
            next.cores = config.cores;
        }
        Change::Size(at, typed) => {
            let size =
                parse_size(typed).ok_or_else(|| format!("“{typed}” is no size: expected 48KiB, 1MiB or bytes"))?;
            set(&mut next, *at, &|level| level.size = size);
        }
        Change::Ways(at, typed) => {
            let ways = match typed.trim() {
                "full" => Ways::Full,
                number => Ways::Count(
                    number.parse().map_err(|_| format!("“{typed}” is no number of ways: expected 1, 2, 12 or full"))?,
                ),
            };
            set(&mut next, *at, &|level| level.ways = ways);
        }
        Change::Line(typed) => {
            let line = parse_size(typed).and_then(|line| u32::try_from(line).ok());
            let line = line.ok_or_else(|| format!("“{typed}” is no line size: expected 32, 64 or 128"))?;
            next.levels.iter_mut().for_each(|level| level.line = line);
        }
        Change::Sized(at, up) => set(&mut next, *at, &|level| {
            level.size = if *up { level.size.saturating_mul(2) } else { level.size / 2 };
        }),
        Change::Wayed(at, up) => {
            let Some(level) = next.levels.get_mut(*at) else { return Ok(next) };
            let lines = u32::try_from(level.size / u64::from(level.line.max(1))).unwrap_or(u32::MAX);
            let ways = match level.ways {
                Ways::Full => lines,
                Ways::Count(ways) => ways,
            };
            level.ways = match (up, ways) {
                (false, 1) => return Err(format!("{} has one way already", level.name)),
                (false, ways) => Ways::Count(ways / 2),
                (true, ways) if ways >= lines => return Err(format!("{} has one set already", level.name)),
                (true, ways) => Ways::Count(ways * 2),
            };
        }
        Change::Lined(up) => {
            for level in &mut next.levels {
                level.line = if *up { level.line.saturating_mul(2) } else { level.line / 2 };
            }
        }
        Change::Policy(at, policy) => set(&mut next, *at, &|level| level.policy = *policy),
        Change::Inclusion(at, inclusion) => set(&mut next, *at, &|level| level.inclusion = *inclusion),
        Change::Prefetch(at, prefetch) => set(&mut next, *at, &|level| level.prefetch = *prefetch),
        Change::Add => {
            if next.levels.len() >= LEVELS {
                return Err(format!("there are {LEVELS} levels already"));
            }
            let last = next.levels.last().cloned().ok_or("there is no level to be like")?;
            let name = format!("L{}", next.levels.len() + 1);
            let name = if next.levels.iter().any(|level| level.name == name) { format!("{name}'") } else { name };
            let [size, latency] = [last.size.saturating_mul(8), u64::from(last.latency) * 3];
            let latency = u32::try_from(latency).unwrap_or(u32::MAX).min(next.memory.latency.max(1));
            next.levels.push(LevelConfig { name, size, latency, ..last });
        }
        Change::Remove(at) => {
            if next.levels.len() < 2 {
                return Err("one level must stay".into());
            }
            if *at < next.levels.len() {
                next.levels.remove(*at);
            }
        }
    }
    next.check().map_err(|error| error.to_string())?;
    next.name = name_of(&next, config);
    Ok(next)
}

/// A preset's name for what is simulated as that preset is; else that of the caches before, and that they were changed.
fn name_of(next: &HierarchyConfig, before: &HierarchyConfig) -> String {
    const CHANGED: &str = ", changed";
    let same = |config: &HierarchyConfig| {
        let alone = |config: &HierarchyConfig| HierarchyConfig { name: String::new(), cores: 1, ..config.clone() };
        alone(config) == alone(next)
    };
    if let Some(own) = presets().iter().find(|own| preset(own.name).is_some_and(|config| same(&config))) {
        return own.name.into();
    }
    let name = before.name.strip_suffix(CHANGED).unwrap_or(&before.name);
    format!("{name}{CHANGED}")
}

/// The size of a level as it is written where it can be typed again.
#[must_use]
pub fn size_of(level: &LevelConfig) -> String {
    format_size(level.size)
}

/// Likewise its ways.
#[must_use]
pub fn ways_of(level: &LevelConfig) -> String {
    match level.ways {
        Ways::Full => "full".into(),
        Ways::Count(ways) => ways.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paper() -> CacheEdit {
        CacheEdit::new(preset("paper").expect("shipped"))
    }

    fn level(edit: &CacheEdit, at: usize) -> (String, String, u32) {
        let level = &edit.now().levels[at];
        (size_of(level), ways_of(level), level.line)
    }

    #[test]
    fn changes_are_made_and_taken_back_and_made_again() {
        let mut edit = paper();
        let first = edit.now().clone();
        let changes = [
            Change::Wayed(0, true),
            Change::Sized(1, false),
            Change::Size(0, "1KiB".into()),
            Change::Policy(1, Policy::ALL[1]),
            Change::Lined(true),
            Change::Add,
            Change::Inclusion(2, Inclusion::Inclusive),
            Change::Prefetch(0, Prefetch::NextLine),
            Change::Preset("zen4".into()),
            Change::Ways(1, "full".into()),
            Change::Remove(0),
        ];
        let mut seen = vec![first.clone()];
        for change in &changes {
            assert!(edit.change(change), "{change:?}: {:?}", edit.refused());
            assert!(edit.now().check().is_ok() && edit.now() != seen.last().expect("some"));
            seen.push(edit.now().clone());
        }
        for config in seen.iter().rev().skip(1) {
            assert!(edit.undo(false));
            assert_eq!(edit.now(), config);
        }
        assert!(!edit.undo(false) && edit.can() == [false, true]);
        for config in &seen[1..] {
            assert!(edit.undo(true));
            assert_eq!(edit.now(), config);
        }
        // Another change forgets what was taken back.
        edit.undo(false);
        edit.change(&Change::Preset("paper".into()));
        assert_eq!((edit.now(), edit.can()), (&first, [true, false]));
    }

    #[test]
    fn more_ways_leave_the_size_and_a_preset_keeps_its_name() {
        let mut edit = paper();
        let (size, ways, line) = level(&edit, 0);
        assert!(edit.change(&Change::Wayed(0, true)));
        let doubled = (2 * ways.parse::<u32>().expect("a number")).to_string();
        assert_eq!(level(&edit, 0), (size, doubled, line));
        assert_eq!(edit.now().name, "paper, changed");
        assert!(edit.change(&Change::Sized(0, true)));
        assert_eq!(edit.now().name, "paper, changed");
        assert!(edit.change(&Change::Sized(0, false)) && edit.change(&Change::Wayed(0, false)));
        assert_eq!(edit.now().name, "paper", "as it was");
    }

    #[test]
    fn what_cannot_be_is_refused_with_its_reason_and_the_caches_stay() {
        let mut edit = paper();
        for (change, word) in [
            (Change::Size(0, "1000".into()), "1000"),
            (Change::Size(1, "many".into()), "48KiB"),
            (Change::Size(1, "0".into()), "0"),
            (Change::Ways(0, "two".into()), "full"),
            (Change::Ways(0, "0".into()), "0"),
            (Change::Line("48".into()), "48"),
            (Change::Line("99999999999".into()), "line size"),
            (Change::Preset("pentium".into()), "pentium"),
        ] {
            assert!(!edit.change(&change), "{change:?}");
            let refused = edit.refused().expect("a reason").to_owned();
            assert!(refused.contains(word), "{change:?}: {refused}");
            assert_eq!((edit.now(), edit.can()), (&preset("paper").expect("shipped"), [false, false]));
        }
        // To both ends of what steps can do, without a panic.
        for (change, steps) in [
            (Change::Wayed(0, false), 9),
            (Change::Wayed(0, true), 40),
            (Change::Sized(1, false), 40),
            (Change::Sized(1, true), 70),
            (Change::Lined(true), 40),
            (Change::Lined(false), 40),
            (Change::Add, 9),
            (Change::Remove(0), 9),
        ] {
            for _ in 0..steps {
                edit.change(&change);
                assert!(edit.now().check().is_ok());
            }
            assert!(edit.refused().is_some(), "{change:?} ends somewhere");
        }
        assert!(!edit.change(&Change::Sized(9, true)), "no such level");
    }
}
