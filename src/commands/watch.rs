//! What the window shows while a trace is read and indexed: more and more of it.

use super::copies;
use super::index_file::{IndexFile, indexer};
use super::open::{Caches, is_chosen, open_cache_of};
use super::picture::{choice, give_title, unknown};
use crate::app::Report;
use crate::cli::{CacheArgs, PictureArgs, TraceArgs};
use crate::overlay::Studio;
use crate::reference::{ReferenceSource, SourceError};
use crate::shown::say;
use crate::sim::config::{HierarchyConfig, Touched, format_size};
use crate::sim::{SimError, prepare};
use crate::timeline::{Indexer, Timeline};
use crate::trace::{Feed, Stamp, Started, TraceError};
use crate::units::grouped;
use std::cell::Cell;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time until something is shown, be it a part; a trace that is read within it is shown at once as a whole.
const FIRST: Duration = Duration::from_millis(120);
/// Time between two parts that are shown, at least.
const NEXT: Duration = Duration::from_millis(200);
/// Of the time, what making parts to show may take, as one in so many.
const SHARE: u32 = 8;
/// Time between two looks whether more of a trace is there.
const WAIT: Duration = Duration::from_millis(3);

/// How the trace that is shown is simulated and called.
pub(super) struct Look {
    pub(super) cache: CacheArgs,
    pub(super) picture: PictureArgs,
    /// Whose name is the title, where the trace has none.
    pub(super) name: PathBuf,
    /// Whether to say how the index came about.
    pub(super) verbose: bool,
}

impl Look {
    fn studio(&self, timeline: Timeline) -> Result<Studio, SourceError> {
        if self.verbose && timeline.is_whole() {
            say!("index: {} references, {}", grouped(timeline.len()), timeline.simulated());
        }
        let mut studio = Studio::of(timeline)?;
        give_title(&mut studio, &self.name, &self.picture);
        Ok(studio)
    }
}

/// Opens a trace and reports what can be shown of it, until a report gives `false`. Where its file is written anew meanwhile, it
/// is opened anew, and what was shown stays until there is something else to show.
///
/// # Errors
/// When the trace or the cache is not to be had, or nothing of the trace can be shown.
pub(super) fn watch(trace: &TraceArgs, look: &Look, report: &mut dyn FnMut(Report) -> bool) -> anyhow::Result<()> {
    let stamp = || if trace.trace.as_os_str() == "-" { None } else { Stamp::of(&trace.trace).filter(Stamp::is_there) };
    let (name, mut seen) = (trace.trace.display(), stamp());
    let is_file = seen.is_some();
    let (ready, open, mut first) = (Cell::new(false), Cell::new(true), true);
    let mut tell = |said: Report| {
        ready.set(ready.get() || matches!(said, Report::Ready(_)));
        open.set(report(said));
        open.get()
    };
    let mut shown = show(trace, look, &mut tell);
    loop {
        if let Err(error) = shown {
            // What is damaged is no file that was written over.
            if !ready.get() || first && stamp() == seen {
                return Err(error);
            }
            let words = format!("{name} has changed and cannot be read; this is what was read before");
            say!("note: {words} ({error:#})");
            tell(Report::Words(words));
        }
        if !is_file || !open.get() {
            return Ok(());
        }
        let Some(next) = changed(&seen, &stamp, &mut tell) else { return Ok(()) };
        (seen, first) = (next, false);
        shown = if seen.is_some() { show(trace, look, &mut tell) } else { Err(anyhow::anyhow!("no such file")) };
        if shown.is_ok() && open.get() {
            let words = format!("{name} has changed: this is what it holds now");
            say!("note: {words}");
            tell(Report::Words(words));
        }
    }
}

/// Time between two looks at a file.
const POLL: Duration = Duration::from_millis(500);

/// Waits until a file is another than it was, and is not being written any more; `None` where nobody waits.
fn changed(
    seen: &Option<Stamp>,
    stamp: &dyn Fn() -> Option<Stamp>,
    report: &mut dyn FnMut(Report) -> bool,
) -> Option<Option<Stamp>> {
    let mut last = seen.clone();
    loop {
        std::thread::sleep(POLL);
        if !report(Report::Progress(0, 0)) {
            return None;
        }
        let now = stamp();
        if now != *seen && now == last {
            return Some(now);
        }
        last = now;
    }
}

/// Opens a trace and reports what can be shown of it, until all is indexed or a report gives `false`.
fn show(trace: &TraceArgs, look: &Look, report: &mut dyn FnMut(Report) -> bool) -> anyhow::Result<()> {
    let source: Arc<dyn ReferenceSource> = match copies::start(trace)? {
        Started::Whole(source) => Arc::from(source),
        Started::Growing(feed) => return read(feed, look, report),
    };
    tell(source.as_ref());
    index(&source, look, report)
}

/// Reads a trace and reports what can be shown of it.
fn read(mut feed: Feed, look: &Look, report: &mut dyn FnMut(Report) -> bool) -> anyhow::Result<()> {
    let source: Arc<dyn ReferenceSource> = Arc::clone(feed.trace()) as Arc<dyn ReferenceSource>;
    let (stop, broken) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let read = || -> Result<(), TraceError> {
            let read = loop {
                match feed.advance() {
                    Ok(true) if !stop.load(Ordering::Relaxed) => {}
                    Ok(_) => break Ok(()),
                    Err(error) => break Err(error),
                }
            };
            broken.store(read.is_err(), Ordering::Release);
            read.or_else(|error| feed.keep().and(Err(error)))?;
            copies::keep(&feed, &|| !stop.load(Ordering::Relaxed));
            Ok(())
        };
        let reading = std::thread::Builder::new().name("read".into()).spawn_scoped(scope, read)?;
        let (mut ready, mut open) = (false, true);
        let indexed = index(&source, look, &mut |said| {
            // What is known to be broken before it was shown is refused, as everywhere else.
            let is_ready = matches!(said, Report::Ready(_));
            let refused = is_ready && !ready && broken.load(Ordering::Acquire);
            ready |= is_ready && !refused;
            open = !refused && report(said);
            open
        });
        // Where all is indexed, all is read; a copy may still be on its way.
        stop.store(!open || indexed.is_err(), Ordering::Relaxed);
        let read = reading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        match (read, indexed) {
            (Err(error), _) if !ready => Err(error.into()),
            (_, Err(error)) => Err(error),
            (Err(error), Ok(())) => {
                say!("warning: {error}; showing what came before");
                report(Report::Words("the trace is broken here: the terminal says how".into()));
                Ok(())
            }
            (Ok(()), Ok(())) => {
                tell(source.as_ref());
                Ok(())
            }
        }
    })
}

/// Says which names of regions are none of the whole trace.
fn tell_unknown(look: &Look, timeline: &Timeline, report: &mut dyn FnMut(Report) -> bool) {
    let choice = choice(&look.picture).unwrap_or_default();
    if let Some(words) = unknown(&choice, timeline.tables()) {
        say!("note: {words}");
        report(Report::Words(words));
    }
}

fn tell(source: &dyn ReferenceSource) {
    source.notices().iter().for_each(|notice| say!("note: {notice}"));
}

/// Caches in few words: `paper: L1 512B, L2 2KiB`.
fn named(config: &HierarchyConfig) -> String {
    let levels: Vec<String> =
        config.levels.iter().map(|level| format!("{} {}", level.name, format_size(level.size))).collect();
    format!("{}: {}", config.name, levels.join(", "))
}

/// Whether a configuration looks into the future, so that all of the trace must be there.
fn foresees(config: &HierarchyConfig) -> bool {
    config.levels.iter().any(|level| level.policy.about().needs_future)
}

/// Indexes a trace, as much as is there, until it is whole.
pub(super) fn index(
    source: &Arc<dyn ReferenceSource>,
    look: &Look,
    report: &mut dyn FnMut(Report) -> bool,
) -> anyhow::Result<()> {
    // What was shown is not taken back while it is indexed anew.
    let shown = &mut 0;
    let begun = Instant::now();
    let wait = |report: &mut dyn FnMut(Report) -> bool| {
        std::thread::sleep(WAIT);
        report(Report::Progress(source.len(), 0))
    };
    // A short trace is whole before anything is decided.
    while !source.is_whole() && (source.is_empty() || begun.elapsed() < FIRST / 2) {
        if !wait(report) {
            return Ok(());
        }
    }
    if source.is_empty() {
        return Ok(());
    }
    let mut touched = Touched::new(look.cache.data_only);
    let mut before: Option<String> = None;
    loop {
        let Caches { config, why } = open_cache_of(&look.cache, source.as_ref(), &mut touched)?;
        let name = config.name.clone();
        if let Some(why) = why.filter(|_| before.replace(name.clone()).is_some_and(|before| before != name)) {
            let words = format!("other caches from now on, {}: {why}", named(&config));
            say!("note: {words}");
            report(Report::Words(words));
        }
        while foresees(&config) && !source.is_whole() {
            if !wait(report) {
                return Ok(());
            }
        }
        let cores = source.cores()?;
        let named = source.tables();
        let renamed = || !std::ptr::eq(named, source.tables()) && named.regions != source.tables().regions;
        let hierarchy = prepare(&config, source.as_ref())?;
        let file = IndexFile::of(source.as_ref(), &hierarchy).filter(|_| source.is_whole());
        if let Some(timeline) = file.as_ref().and_then(|file| file.load(source, &hierarchy)) {
            let studio = look.studio(timeline)?;
            let timeline = Arc::clone(studio.timeline());
            if report(Report::Ready(studio)) {
                tell_unknown(look, &timeline, report);
            }
            return Ok(());
        }
        let indexer = indexer(source, hierarchy, look.picture.memory);
        match play(indexer, look, &mut touched, begun, shown, report) {
            Err(Stop::Outgrown) => {}
            // More cores came than were there when it began.
            Err(Stop::Failed(SimError::Core { .. })) if source.cores()? > cores => {}
            // Other names came: then counts are by them.
            Ok(()) | Err(Stop::Renamed) if renamed() => {}
            Ok(()) | Err(Stop::Renamed | Stop::Closed) => return Ok(()),
            Err(Stop::Failed(error)) => return Err(error.into()),
        }
    }
}

enum Stop {
    /// Nobody looks any more.
    Closed,
    /// The trace names other regions than it did.
    Renamed,
    /// It touches more than the caches that were chosen are for.
    Outgrown,
    Failed(SimError),
}

fn play(
    mut indexer: Indexer,
    look: &Look,
    touched: &mut Touched,
    begun: Instant,
    shown: &mut u64,
    report: &mut dyn FnMut(Report) -> bool,
) -> Result<(), Stop> {
    let source = Arc::clone(indexer.source());
    let named = source.tables();
    let mut due = begun + FIRST;
    loop {
        if !std::ptr::eq(named, source.tables()) && named.regions != source.tables().regions {
            return Err(Stop::Renamed);
        }
        let more = indexer.advance().map_err(Stop::Failed)?;
        let whole = !more && source.is_whole() && indexer.len() == source.len();
        // After it is known whether it is whole, so that the last of it counts.
        if is_chosen(&look.cache) && touched.is_small() {
            touched.look(source.as_ref()).map_err(|e| Stop::Failed(e.into()))?;
            if !touched.is_small() {
                return Err(Stop::Outgrown);
            }
        }
        let now = Instant::now();
        let total = if source.is_whole() { source.len() } else { 0 };
        if whole || now >= due && indexer.len() > *shown {
            let studio = look.studio(indexer.timeline()).map_err(|e| Stop::Failed(e.into()))?;
            let timeline = Arc::clone(studio.timeline());
            if !report(Report::Ready(studio)) {
                return Err(Stop::Closed);
            }
            *shown = indexer.len();
            if whole {
                tell_unknown(look, &timeline, report);
                // Of a trace that grew it is known only now what it is.
                let file = IndexFile::of(source.as_ref(), timeline.start());
                if let Some(file) = file.filter(|_| named.regions == source.tables().regions) {
                    file.save(&timeline);
                }
                return Ok(());
            }
            due = Instant::now() + NEXT.max(now.elapsed() * SHARE);
        } else if !report(Report::Progress(indexer.len(), total)) {
            return Err(Stop::Closed);
        }
        if !more {
            std::thread::sleep(WAIT);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Command;
    use crate::commands::{parse, view};
    use crate::timeline::Cursor;
    use crate::trace::synth;
    use std::fmt::Write as _;
    use std::fs;
    use std::path::Path;

    /// Lines of lackey, and others.
    fn text(references: u64) -> String {
        let mut text = String::from("==1== lackey\nnothing of lackey's\n");
        for r in synth::mix(references, 5) {
            let _ = writeln!(text, " {} {:x},{}", if r.kind as u8 == 0 { 'L' } else { 'S' }, r.addr, r.size);
        }
        text
    }

    /// What was reported: how often something could be shown, and what at last.
    fn watched(path: &Path, cache: &str) -> (usize, Arc<Timeline>) {
        let words = ["orrery", "view", path.to_str().unwrap(), "--cache", cache];
        let Command::View(args) = parse(words.map(Into::into)).command else { panic!("`view` was asked for") };
        let (mut ready, mut last, mut len) = (0, None, 0);
        let report = &mut |report: Report| {
            // Nothing more is waited for.
            let ends = matches!(report, Report::Progress(0, 0));
            if let Report::Ready(studio) = report {
                assert!(studio.timeline().len() >= len, "what was shown is taken back");
                len = studio.timeline().len();
                ready += 1;
                last = Some(Arc::clone(studio.timeline()));
            }
            !(ends && last.as_ref().is_some_and(|timeline: &Arc<Timeline>| timeline.is_whole()))
        };
        watch(&args.trace, &view::look(&args), report).unwrap();
        (ready, last.unwrap())
    }

    fn assert_same(one: &Arc<Timeline>, other: &Arc<Timeline>) {
        let (a, b) = (one, other);
        assert_eq!((a.len(), a.is_whole(), a.tables(), a.rows()), (b.len(), b.is_whole(), b.tables(), b.rows()));
        assert_eq!(a.source().notices(), b.source().notices());
        assert_eq!(a.source().identity(), b.source().identity());
        let [mut a, mut b] = [a, b].map(|timeline| Cursor::new(Arc::clone(timeline)).unwrap());
        for tick in [0, 1, 77_777, 500_000, one.len() - 1, one.len()] {
            let (a, b) = (a.seek(tick, 50).unwrap(), b.seek(tick, 50).unwrap());
            assert!(a.before == b.before && a.after == b.after && a.reference == b.reference, "at {tick}");
            let counts = |tally: &crate::timeline::Tally| -> Vec<u64> {
                let of = |row| (0..3).map(move |level| tally.misses(row, level)).chain([tally.references(row)]);
                one.rows().iter().flat_map(of).collect()
            };
            assert_eq!(counts(a.tally), counts(b.tally), "at {tick}");
        }
    }

    #[test]
    fn a_file_that_is_written_anew_is_shown_anew_and_a_broken_one_ends_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.log");
        fs::write(&path, text(3_000)).unwrap();
        let words = ["orrery", "view", path.to_str().unwrap()];
        let Command::View(args) = parse(words.map(Into::into)).command else { panic!("`view` was asked for") };
        let (mut lengths, mut said) = (Vec::new(), Vec::new());
        let begun = Instant::now();
        let report = &mut |report: Report| {
            assert!(begun.elapsed() < Duration::from_secs(60), "{lengths:?}, {said:?}");
            match report {
                Report::Ready(studio) if studio.timeline().is_whole() => {
                    lengths.push(studio.timeline().len());
                    match lengths.len() {
                        // In place, as a copy over it does.
                        1 => fs::write(&path, text(4_000)).unwrap(),
                        2 => fs::write(&path, "these are my notes\n").unwrap(),
                        3 => fs::remove_file(&path).unwrap(),
                        _ => return false,
                    }
                }
                Report::Words(words) => {
                    let fails = words.contains("cannot be read");
                    said.push(words);
                    match said.iter().filter(|words| words.contains("cannot be read")).count() {
                        1 if fails => fs::write(&path, text(5_000)).unwrap(),
                        2 if fails => {
                            // By a new name, as programs do that write files whole.
                            fs::write(folder.path().join("new"), text(6_000)).unwrap();
                            fs::rename(folder.path().join("new"), &path).unwrap();
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
            true
        };
        watch(&args.trace, &view::look(&args), report).unwrap();
        assert_eq!(lengths, [3_000, 4_000, 5_000, 6_000]);
        let kinds: Vec<bool> = said.iter().map(|words| words.contains("this is what it holds now")).collect();
        assert_eq!(kinds, [true, false, true, false], "{said:?}");
        // What cannot be shown from the start is refused, as before.
        fs::write(&path, "these are my notes\n").unwrap();
        assert!(watch(&args.trace, &view::look(&args), &mut |_| true).is_err());
    }

    #[test]
    fn caches_chosen_of_the_beginning_are_those_of_the_whole_or_it_is_said() {
        use crate::reference::{Kind, Reference, Tables};
        use crate::trace::Feeder;
        let words = ["orrery", "view", "grows"];
        let Command::View(args) = parse(words.map(Into::into)).command else { panic!("`view` was asked for") };
        let mut feeder = Feeder::new(Tables::default());
        let read = |n: u64, lines: u64| Reference::new(Kind::Read, n % lines * 64, 8);
        feeder.push(&(0..131_072).map(|n| read(n, 100)).collect::<Vec<_>>()).unwrap();
        let source: Arc<dyn ReferenceSource> = Arc::clone(feeder.trace()) as Arc<dyn ReferenceSource>;
        let (mut names, mut said, mut fed) = (Vec::new(), Vec::new(), false);
        let report = &mut |report: Report| {
            match report {
                Report::Ready(studio) => {
                    let timeline = studio.timeline();
                    names.push((timeline.start().config().name.clone(), timeline.len(), timeline.is_whole()));
                    if !std::mem::replace(&mut fed, true) {
                        // Of the rest that is no whole chunk the last reference alone touches one line too many.
                        feeder.push(&(0..70_000).map(|n| read(n, 1024)).collect::<Vec<_>>()).unwrap();
                        feeder.push(&[read(1024, 2048)]).unwrap();
                        feeder.finish(Tables::default(), Vec::new()).unwrap();
                    }
                }
                Report::Words(words) => said.push(words),
                Report::Progress(..) => {}
            }
            true
        };
        index(&source, &view::look(&args), report).unwrap();
        assert!(names.first().is_some_and(|(name, _, whole)| name == "paper" && !whole), "{names:?}");
        assert_eq!(names.last(), Some(&("textbook".into(), 201_073, true)));
        assert!(names.iter().all(|(name, _, whole)| !whole || name == "textbook"), "{names:?}");
        assert_eq!(said.len(), 1);
        assert!(said[0].contains("textbook: L1 32KiB, L2 256KiB, L3 8MiB"), "{said:?}");
    }

    /// Files in a folder of the cache.
    fn kept(folder: &Path, name: &str) -> Vec<PathBuf> {
        let mut all: Vec<PathBuf> =
            fs::read_dir(folder.join("orrery").join(name)).into_iter().flatten().map(|e| e.unwrap().path()).collect();
        all.sort();
        all
    }

    #[test]
    fn a_text_is_read_once_and_shown_the_same_from_its_copy() {
        const NAME: &str = "commands::watch::tests::a_text_is_read_once_and_shown_the_same_from_its_copy";
        const TOLD: &str = "ORRERY_TEST_WATCHES";
        let Some(folder) = std::env::var_os(TOLD).map(PathBuf::from) else {
            // A process of its own, whose cache folder is none of the user's.
            let folder = tempfile::tempdir().unwrap();
            let mut again = std::process::Command::new(std::env::current_exe().unwrap());
            again.args([NAME, "--exact", "--nocapture"]).env(TOLD, folder.path()).env("XDG_CACHE_HOME", folder.path());
            let output = again.output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && said.contains("1 passed"), "{said}");
            assert_eq!(said.matches("found a damaged copy of").count(), 2, "{said}");
            return;
        };
        let path = folder.join("t.log");
        fs::write(&path, text(1_200_000)).unwrap();
        let (_, first) = watched(&path, "textbook");
        let (copies, indexes) = (kept(&folder, "read"), kept(&folder, "index"));
        assert_eq!((first.len(), copies.len(), indexes.len()), (1_200_000, 1, 1));
        let copy = fs::read(&copies[0]).unwrap();
        assert_eq!(first.source().notices().len(), 1, "{:?}", first.source().notices());

        // From the copy and the index: whole at once, and nothing else is written.
        let (ready, second) = watched(&path, "textbook");
        assert_eq!(ready, 1);
        assert_same(&first, &second);
        assert_eq!((kept(&folder, "read"), kept(&folder, "index")), (copies.clone(), indexes.clone()));

        // Damaged at its end, it is not taken; in the midst, it is while nothing of there is asked for: then all begins anew.
        for (at, cache) in [(copy.len() - 9, "textbook"), (copy.len() / 2, "paper")] {
            let mut damaged = copy.clone();
            damaged[at] ^= 4;
            fs::write(&copies[0], &damaged).unwrap();
            let (_, third) = watched(&path, cache);
            if cache == "textbook" {
                assert_same(&first, &third);
            } else {
                assert_eq!((third.len(), third.is_whole()), (first.len(), true));
            }
            assert!(fs::read(&copies[0]).unwrap() == copy, "the copy is the same each time");
        }
        assert_eq!(kept(&folder, "index").len(), 2);

        // Another text under the same name.
        fs::write(&path, text(1_100_000)).unwrap();
        let (_, fourth) = watched(&path, "textbook");
        assert_eq!(fourth.len(), 1_100_000);
        assert_eq!((kept(&folder, "read"), kept(&folder, "index").len()), (copies, 3));
    }
}
