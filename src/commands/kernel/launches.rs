//! The launches of a kernel, one after the other: each finds in its buffers what those before it left.

use super::failed;
use crate::cli::LaunchArgs;
use crate::commands::UsageError;
use crate::kernel::{Cancel, Engine, Extent, Held, KernelError, Launch, Observer, Program, Run};
use crate::opening::{Contents, KernelFile, LaunchSettings};
use crate::shown::say;
use std::fmt;
use std::path::Path;
use std::rc::Rc;

/// KernelLaunches in a row, at most.
const MOST: usize = 100_000;

/// Those of a file, as flags say them, and how far they have come.
pub(in crate::commands) struct KernelLaunches {
    args: LaunchArgs,
    file: KernelFile,
    kinds: Vec<Kind>,
    /// Which of `kinds` each is of, in order.
    order: Vec<usize>,
    /// The one that is looked at.
    looked_at: usize,
    /// What buffers hold before the first of them.
    start: Contents,
    held: Held,
    next: usize,
    cancel: Cancel,
}

/// A launch that is ready to run.
pub(in crate::commands) struct Ready {
    pub(in crate::commands) program: Rc<Program>,
    pub(in crate::commands) launch: Launch,
    pub(in crate::commands) place: Place,
}

impl Ready {
    /// Which launch it is, in words; empty where there is one.
    pub(in crate::commands) fn words(&self) -> String {
        if self.place.of > 1 { self.place.to_string() } else { String::new() }
    }

    /// An error of this launch, which says so where there are several.
    pub(in crate::commands) fn failed(&self, error: KernelError) -> anyhow::Error {
        let error = failed(error);
        if self.place.of < 2 {
            return error;
        }
        error.context(format!("launch {}, entry {}", self.place.number, self.program.entry))
    }
}

/// Which of how many launches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) struct Place {
    pub(in crate::commands) number: usize,
    pub(in crate::commands) of: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "launch {} of 0 to {}", self.number, self.of.saturating_sub(1))
    }
}

/// What launches of one `[[launch]]` have alike.
struct Kind {
    program: Rc<Program>,
    extent: Extent,
}

impl KernelLaunches {
    /// Reads a kernel, and says what is wrong with any of its launches before one runs.
    ///
    /// # Errors
    /// When it cannot be read, or the flags ask for what it has not.
    pub(in crate::commands) fn open(args: &LaunchArgs, path: &Path, cancel: &Cancel) -> anyhow::Result<Self> {
        let file = KernelFile::open(path).map_err(failed)?;
        let several = &file.settings.launch;
        let single = [LaunchSettings::default()];
        let listed = if several.is_empty() { &single[..] } else { &several[..] };
        let order = order(&file)?;
        let looked_at = looked_at(args, &file, &order)?;
        let mut kinds = Vec::new();
        for (number, settings) in listed.iter().enumerate() {
            // What flags say of how much is launched they say of the one that is looked at.
            let is_meant = order[looked_at] == number;
            kinds.push(Kind::of(args, &file, settings, (!several.is_empty()).then_some(number), is_meant)?);
        }
        let start = file.contents(&args.bind).map_err(failed)?;
        for name in args.bind.iter().filter_map(|words| words.split('=').next()).map(str::trim) {
            if kinds.iter().all(|kind| kind.program.declares(name) && !kind.uses(name)) {
                say!("note: --bind {name}: entry {} does not use it", kinds[order[looked_at]].program.entry);
            }
        }
        let (args, held, cancel) = (args.clone(), Held::default(), cancel.clone());
        Ok(Self { args, file, kinds, order, looked_at, start, held, next: 0, cancel })
    }

    /// How many there are.
    pub(in crate::commands) fn count(&self) -> usize {
        self.order.len()
    }

    /// The program of the launch that is looked at.
    pub(in crate::commands) fn program(&self) -> &Program {
        &self.kinds[self.order[self.looked_at]].program
    }

    /// Runs those before the one that is looked at, and makes that one ready.
    ///
    /// # Errors
    /// When one of them cannot be run.
    pub(in crate::commands) fn looked_at(mut self, engine: &mut impl Engine) -> anyhow::Result<Ready> {
        while self.next < self.looked_at {
            self.run(engine, |_| Ok(()))?;
        }
        self.ready()
    }

    /// Runs the next one, watched by what `observer` makes for its program.
    ///
    /// # Errors
    /// When it cannot be run.
    pub(in crate::commands) fn run<O: Observer>(
        &mut self,
        engine: &mut impl Engine,
        observer: impl FnOnce(&Ready) -> anyhow::Result<O>,
    ) -> anyhow::Result<(Ready, Run, O)> {
        let ready = self.ready()?;
        let observer = observer(&ready)?;
        let ran = engine.run(&ready.program, &ready.launch, observer);
        let (run, observer) = ran.map_err(|error| ready.failed(error))?;
        self.held.keep(&ready.program, &run);
        self.next += 1;
        Ok((ready, run, observer))
    }

    /// Whether the next one is the one that is looked at.
    pub(in crate::commands) fn is_looked_at(&self) -> bool {
        self.next == self.looked_at
    }

    /// Whether one is asked for, and not all of them, where a trace or a simulated GPU has all.
    ///
    /// # Errors
    /// Groups of all of several launches.
    pub(in crate::commands) fn alone(&self, args: &LaunchArgs) -> Result<bool, UsageError> {
        let alone = args.launch.is_some() || args.entry.is_some() || self.count() == 1;
        if args.take.is_some() && !alone {
            let words =
                format!("found {} launches; expected --launch NUMBER with it, 0 to {}", self.count(), self.count() - 1);
            return Err(UsageError(format!("{}: --take: {words}", self.file.name)));
        }
        Ok(alone)
    }

    /// Whether all have run.
    pub(in crate::commands) fn is_done(&self) -> bool {
        self.next >= self.order.len()
    }

    fn ready(&self) -> anyhow::Result<Ready> {
        let number = self.order[self.next];
        let kind = &self.kinds[number];
        let mut bound = self.start.clone();
        for (name, given) in self.held.iter().filter(|(name, _)| kind.uses(name)) {
            bound.insert(name.clone(), given.clone());
        }
        let (steps, events) = self.args.limits();
        let launch = Launch {
            extent: kind.extent,
            bound,
            take: self.args.take.clone().filter(|_| self.next == self.looked_at),
            hardware: self.args.hardware(),
            steps,
            events,
            cancel: self.cancel.clone(),
        };
        let place = Place { number: self.next, of: self.order.len() };
        let given = self.file.given(number, &self.held).and_then(|given| self.fitting(number, given));
        let mut ready = Ready { program: Rc::clone(&kind.program), launch, place };
        ready.launch.bound.extend(given.map_err(|error| ready.failed(error))?);
        Ok(ready)
    }

    /// What a launch is given, where the numbers that it takes from another buffer are of the type that its own are.
    fn fitting(&self, number: usize, given: Contents) -> Result<Contents, KernelError> {
        for (name, from) in self.file.taken(number) {
            let types = (self.held.number_type(&from), self.kinds[number].program.number_type(name));
            if let (Some(found), Some(expected)) = types
                && found != expected
                && !found.is_empty()
                && !expected.is_empty()
            {
                return Err(KernelError::Binding(format!(
                    "{}: [[launch]] {number}: bind {name}: held({from}): found numbers of {found}; expected {expected}, which {name} has",
                    self.file.launch
                )));
            }
        }
        Ok(given)
    }

    /// Why a variable cannot be printed that another launch uses.
    pub(in crate::commands) fn unprinted(&self, name: &str) -> Option<UsageError> {
        if self.kinds[self.order[self.looked_at]].uses(name) {
            return None;
        }
        let other = self.order.iter().rposition(|kind| self.kinds[*kind].uses(name))?;
        let (own, entry) = (&self.program().entry, &self.kinds[self.order[other]].program.entry);
        Some(UsageError(format!(
            "--print {name}: entry {own} does not use it; expected --launch {other}, of entry {entry}, which does"
        )))
    }
}

/// Which `[[launch]]` each launch is of.
fn order(file: &KernelFile) -> Result<Vec<usize>, UsageError> {
    let mut out = Vec::new();
    for (number, launch) in file.settings.launch.iter().enumerate() {
        let times = launch.times.unwrap_or(1);
        let room = (MOST - out.len()) as u64;
        if times == 0 || times > room {
            let words = format!("times = {times}: expected 1 or more, and {MOST} launches at most in all");
            return Err(UsageError(format!("{}: [[launch]] {number}: {words}", file.launch)));
        }
        out.extend((0..times).map(|_| number));
    }
    if out.is_empty() {
        out.push(0);
    }
    Ok(out)
}

/// The one that flags ask for: by number, or the last of an entry, or the last.
fn looked_at(args: &LaunchArgs, file: &KernelFile, order: &[usize]) -> Result<usize, UsageError> {
    let last = order.len() - 1;
    let several = &file.settings.launch;
    let entry_of = |number: usize| {
        let launch = several.get(order[number]);
        launch.and_then(|launch| launch.entry.as_deref()).or(file.settings.entry.as_deref())
    };
    match (args.launch, args.entry.as_deref()) {
        (Some(number), _) if number > last => {
            let found = match last {
                0 => "one launch; expected 0".to_owned(),
                _ => format!("launches 0 to {last}; expected one of them"),
            };
            Err(UsageError(format!("{}: --launch {number}: found {found}", file.name)))
        }
        (Some(number), Some(entry)) if !several.is_empty() && entry_of(number) != Some(entry) => {
            let own = entry_of(number).unwrap_or_default();
            let words = format!("found entry {own} in that launch; expected --launch or --entry alone");
            Err(UsageError(format!("{}: --launch {number} --entry {entry}: {words}", file.name)))
        }
        (Some(number), _) => Ok(number),
        (None, Some(entry)) if !several.is_empty() => {
            (0..=last).rev().find(|number| entry_of(*number) == Some(entry)).ok_or_else(|| {
                let mut names: Vec<&str> = (0..=last).filter_map(entry_of).collect();
                names.sort_unstable();
                names.dedup();
                UsageError(format!(
                    "{}: --entry {entry}: found no launch of it in {}; expected one of those that are launched: {}",
                    file.name,
                    file.launch,
                    names.join(", ")
                ))
            })
        }
        _ => Ok(last),
    }
}

impl Kind {
    /// Whether the entry uses a buffer, a texture or a sampler of this name.
    fn uses(&self, name: &str) -> bool {
        let shared = self.program.shared.iter().map(|shared| &shared.name);
        shared.chain(self.program.samplers.iter().map(|sampler| &sampler.name)).any(|known| known == name)
    }

    /// `number` is that of its `[[launch]]`, where there are some. Flags say how much is launched if it `is_meant`.
    fn of(
        args: &LaunchArgs,
        file: &KernelFile,
        settings: &LaunchSettings,
        number: Option<usize>,
        is_meant: bool,
    ) -> anyhow::Result<Self> {
        let mut overrides = file.settings.set.clone();
        overrides.extend(settings.set.clone());
        overrides.extend(args.set.iter().cloned());
        let own = settings.entry.as_deref().or(file.settings.entry.as_deref());
        // Of several launches the flag chooses which is looked at.
        let entry = if number.is_some() { own } else { args.entry.as_deref().or(own) };
        let program = Program::with(&file.name, &file.text, entry, &overrides, !args.no_annotations).map_err(failed)?;
        let said = number.map_or_else(|| file.launch.clone(), |number| format!("{}: [[launch]] {number}", file.launch));
        let flags = if is_meant { (args.global, args.groups) } else { (None, None) };
        let extent = extent(flags, (file, settings), &said)?;
        Ok(Self { program: Rc::new(program), extent })
    }
}

/// How much is launched. `said` is where a file says it.
fn extent(
    flags: (Option<[u64; 3]>, Option<[u64; 3]>),
    (file, settings): (&KernelFile, &LaunchSettings),
    said: &str,
) -> Result<Extent, UsageError> {
    let three = |numbers: &Vec<u64>, key: &str| {
        let mut out = [1; 3];
        if numbers.is_empty() || numbers.len() > 3 {
            return Err(UsageError(format!("{said}: {key}: expected one to three numbers")));
        }
        out.iter_mut().zip(numbers).for_each(|(to, from)| *to = *from);
        Ok(out)
    };
    // Either says how much, so what a launch says goes before what all have.
    let (global, groups) = match (&settings.global, &settings.groups) {
        (None, None) => (&file.settings.global, &file.settings.groups),
        own => own,
    };
    match (flags.0, flags.1, global, groups) {
        (Some(items), ..) => Ok(Extent::Items(items)),
        (_, Some(groups), ..) => Ok(Extent::Groups(groups)),
        (_, _, Some(_), Some(_)) => {
            let words = "found global and groups; expected one of them, since either says how much is launched";
            Err(UsageError(format!("{said}: {words}")))
        }
        (_, _, Some(items), _) => Ok(Extent::Items(three(items, "global")?)),
        (.., Some(groups)) => Ok(Extent::Groups(three(groups, "groups")?)),
        _ if settings.entry.is_some() || settings.times.is_some() => {
            Err(UsageError(format!("{said}: expected how much is launched, as in global = [1024]")))
        }
        _ => {
            let words = "expected how much is launched: --global ITEMS or --groups GROUPS, as in --global 1024, or a \
                         launch beside it, NAME.toml";
            Err(UsageError(format!("{}: {words}", file.name)))
        }
    }
}
