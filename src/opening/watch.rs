//! A trace while it is read and indexed: more and more of it, as timelines that can be shown.

use super::changes::rested;
use super::index_file::{IndexFile, indexer};
use super::note::chain;
use super::{CacheChoice, Caches, Note, OpenError, Opening, Tell, copies};
use crate::reference::{ReferenceSource, SourceError};
use crate::sim::config::{HierarchyConfig, Touched};
use crate::sim::{SimError, prepare};
use crate::timeline::{Indexer, Timeline};
use crate::trace::{Feed, Stamp, Started, TraceError};
use std::cell::Cell;
use std::io;
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

/// What is told while a trace is read and indexed.
pub enum Report {
    /// References done, and all (0 = not known): before anything can be shown.
    Progress(u64, u64),
    /// What can be shown from now on: at first, and when more is indexed.
    Ready(Arc<Timeline>),
    /// Something to be told, in order with what is shown.
    Note(Note),
}

/// Takes reports; `false` ends the work, and an error does as one of the trace.
pub type Listener<'a> = &'a mut dyn FnMut(Report) -> Result<bool, SourceError>;

/// How a trace is played while it is watched.
#[derive(Clone, Debug)]
pub struct Way {
    /// Which caches.
    pub caches: CacheChoice,
    /// Bytes of keyframes in memory.
    pub memory: u64,
}

impl Opening {
    /// Opens the trace and reports what can be shown of it, until a report gives `false`. Where its file is written anew meanwhile,
    /// it is opened anew, and what was shown stays until there is something else to show.
    ///
    /// # Errors
    /// When the trace or the caches are not to be had, or nothing of the trace can be shown.
    pub fn watch(&self, way: &Way, listener: Listener<'_>) -> Result<(), OpenError> {
        let is_pipe = self.path.as_os_str() == "-";
        let stamp = || if is_pipe { None } else { Stamp::of(&self.path).filter(Stamp::is_there) };
        let mut seen = stamp();
        let is_file = seen.is_some();
        let (ready, open, mut first) = (Cell::new(false), Cell::new(true), true);
        let mut tell = |said: Report| {
            ready.set(ready.get() || matches!(said, Report::Ready(_)));
            open.set(listener(said)?);
            Ok(open.get())
        };
        let mut shown = show(self, way, &mut tell);
        loop {
            if let Err(error) = shown {
                // What is damaged is no file that was written over.
                if !ready.get() || first && stamp() == seen {
                    return Err(error);
                }
                tell(Report::Note(Note::Unreadable { trace: self.path.clone(), why: chain(&error) }))?;
            }
            if !is_file || !open.get() {
                return Ok(());
            }
            let waits = &mut || tell(Report::Progress(0, 0));
            let Some(next) = rested(&seen, &stamp, POLL, waits)? else { return Ok(()) };
            (seen, first) = (next, false);
            shown = if seen.is_some() { show(self, way, &mut tell) } else { Err(OpenError::Gone) };
            if shown.is_ok() && open.get() {
                tell(Report::Note(Note::Changed(self.path.clone())))?;
            }
        }
    }

    /// Indexes `source`, as much as is there, until it is whole or a report gives `false`: for a trace that somebody lets grow.
    ///
    /// # Errors
    /// When it cannot be read, or the caches are not to be had.
    pub fn index(&self, source: &Arc<dyn ReferenceSource>, way: &Way, listener: Listener<'_>) -> Result<(), OpenError> {
        index(source, way, &self.tell, listener)
    }
}

/// Time between two looks at a file.
const POLL: Duration = Duration::from_millis(500);

/// Opens a trace and reports what can be shown of it, until all is indexed or a report gives `false`.
fn show(opening: &Opening, way: &Way, listener: Listener<'_>) -> Result<(), OpenError> {
    let source: Arc<dyn ReferenceSource> = match opening.start()? {
        Started::Whole(source) => Arc::from(source),
        Started::Growing(feed) => return read(feed, opening, way, listener),
    };
    opening.tell_notices(source.as_ref());
    index(&source, way, &opening.tell, listener)
}

/// Does `work` on a thread of this name and `here` on this one; both are over when it comes back.
///
/// # Errors
/// When the system has no thread.
pub fn beside<A: Send, B>(name: &str, work: impl FnOnce() -> A + Send, here: impl FnOnce() -> B) -> io::Result<(A, B)> {
    std::thread::scope(|scope| {
        let working = std::thread::Builder::new().name(name.into()).spawn_scoped(scope, work)?;
        let done = here();
        Ok((working.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), done))
    })
}

/// Reads a trace and reports what can be shown of it.
fn read(mut feed: Feed, opening: &Opening, way: &Way, listener: Listener<'_>) -> Result<(), OpenError> {
    let source: Arc<dyn ReferenceSource> = Arc::clone(feed.trace()) as Arc<dyn ReferenceSource>;
    let (stop, broken) = (AtomicBool::new(false), AtomicBool::new(false));
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
        copies::keep(&feed, &opening.tell, &|| !stop.load(Ordering::Relaxed));
        Ok(())
    };
    let mut ready = false;
    let here = || {
        let mut open = true;
        let indexed = index(&source, way, &opening.tell, &mut |said| {
            // What is known to be broken before it was shown is refused, as everywhere else.
            let is_ready = matches!(said, Report::Ready(_));
            let refused = is_ready && !ready && broken.load(Ordering::Acquire);
            ready |= is_ready && !refused;
            open = !refused && listener(said)?;
            Ok(open)
        });
        // Where all is indexed, all is read; a copy may still be on its way.
        stop.store(!open || indexed.is_err(), Ordering::Relaxed);
        indexed
    };
    match beside("read", read, here).map_err(OpenError::Thread)? {
        (Err(error), _) if !ready => Err(error.into()),
        (_, Err(error)) => Err(error),
        (Err(error), Ok(())) => {
            listener(Report::Note(Note::Broken(error)))?;
            Ok(())
        }
        (Ok(()), Ok(())) => {
            opening.tell_notices(source.as_ref());
            Ok(())
        }
    }
}

/// Whether a configuration looks into the future, so that all of the trace must be there.
fn foresees(config: &HierarchyConfig) -> bool {
    config.levels.iter().any(|level| level.policy.about().needs_future)
}

/// Indexes a trace, as much as is there, until it is whole.
fn index(source: &Arc<dyn ReferenceSource>, way: &Way, tell: &Tell, listener: Listener<'_>) -> Result<(), OpenError> {
    // What was shown is not taken back while it is indexed anew.
    let shown = &mut 0;
    let begun = Instant::now();
    let wait = |listener: Listener<'_>| {
        std::thread::sleep(WAIT);
        listener(Report::Progress(source.len(), 0))
    };
    // A short trace is whole before anything is decided.
    while !source.is_whole() && (source.is_empty() || begun.elapsed() < FIRST / 2) {
        if !wait(listener)? {
            return Ok(());
        }
    }
    if source.is_empty() {
        return Ok(());
    }
    let mut touched = way.caches.touched();
    let mut before: Option<String> = None;
    loop {
        let Caches { config, why } = way.caches.open_with(source.as_ref(), &mut touched)?;
        let name = config.name.clone();
        if let Some(why) = why.filter(|_| before.replace(name.clone()).is_some_and(|before| before != name)) {
            listener(Report::Note(Note::OtherCaches { config: Box::new(config.clone()), why }))?;
        }
        while foresees(&config) && !source.is_whole() {
            if !wait(listener)? {
                return Ok(());
            }
        }
        let cores = source.cores()?;
        let named = source.tables();
        let renamed = || !std::ptr::eq(named, source.tables()) && named.regions != source.tables().regions;
        let hierarchy = prepare(&config, source.as_ref())?;
        let file = IndexFile::of(source.as_ref(), &hierarchy).filter(|_| source.is_whole());
        if let Some(timeline) = file.as_ref().and_then(|file| file.load(source, &hierarchy, tell)) {
            listener(Report::Ready(Arc::new(timeline)))?;
            return Ok(());
        }
        let indexer = indexer(source, hierarchy, way.memory);
        match play(indexer, (way, tell), &mut touched, begun, shown, listener) {
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
    (way, tell): (&Way, &Tell),
    touched: &mut Touched,
    begun: Instant,
    shown: &mut u64,
    listener: Listener<'_>,
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
        if way.caches.is_by_touch() && touched.is_small() {
            touched.look(source.as_ref()).map_err(|e| Stop::Failed(e.into()))?;
            if !touched.is_small() {
                return Err(Stop::Outgrown);
            }
        }
        let now = Instant::now();
        let total = if source.is_whole() { source.len() } else { 0 };
        if whole || now >= due && indexer.len() > *shown {
            let timeline = Arc::new(indexer.timeline());
            // The last of it came just now: the caches are asked about that first, and what is whole is told once.
            if timeline.is_whole() && !whole {
                continue;
            }
            if !listener(Report::Ready(Arc::clone(&timeline))).map_err(|e| Stop::Failed(e.into()))? {
                return Err(Stop::Closed);
            }
            *shown = indexer.len();
            if whole {
                // Of a trace that grew it is known only now what it is.
                let file = IndexFile::of(source.as_ref(), timeline.start());
                if let Some(file) = file.filter(|_| named.regions == source.tables().regions) {
                    file.save(&timeline, tell);
                }
                return Ok(());
            }
            due = Instant::now() + NEXT.max(now.elapsed() * SHARE);
        } else if !listener(Report::Progress(indexer.len(), total)).map_err(|e| Stop::Failed(e.into()))? {
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
    use crate::sim::config::preset;
    use crate::timeline::Cursor;
    use crate::trace::synth;
    use std::fmt::Write as _;
    use std::fs;
    use std::path::{Path, PathBuf};

    /// Lines of lackey, and others.
    fn text(references: u64) -> String {
        let mut text = String::from("==1== lackey\nnothing of lackey's\n");
        for r in synth::mix(references, 5) {
            let _ = writeln!(text, " {} {:x},{}", if r.kind as u8 == 0 { 'L' } else { 'S' }, r.addr, r.size);
        }
        text
    }

    /// A preset by name, or the one that suits the trace.
    fn way(cache: Option<&str>) -> Way {
        let named = |name: &str| preset(name).ok_or_else(|| name.to_owned());
        let caches = cache.map_or_else(|| CacheChoice::suited(false, named), |name| CacheChoice::asked(named(name)));
        Way { caches: caches.with_cores_of_trace(), memory: 64 << 20 }
    }

    /// An opening that says what it has to say.
    fn opening(path: &Path) -> Opening {
        Opening::new(path).telling(|note| crate::shown::tell(format_args!("note: {note}")))
    }

    /// What was reported: how often something could be shown, and what at last.
    fn watched(path: &Path, cache: &str) -> (usize, Arc<Timeline>) {
        let (mut ready, mut last, mut len) = (0, None, 0);
        let report = &mut |report: Report| {
            // Nothing more is waited for.
            let ends = matches!(report, Report::Progress(0, 0));
            if let Report::Ready(timeline) = report {
                assert!(timeline.len() >= len, "what was shown is taken back");
                len = timeline.len();
                ready += 1;
                last = Some(timeline);
            }
            Ok(!(ends && last.as_ref().is_some_and(|timeline: &Arc<Timeline>| timeline.is_whole())))
        };
        opening(path).watch(&way(Some(cache)), report).unwrap();
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
        let (mut lengths, mut said) = (Vec::new(), Vec::new());
        let begun = Instant::now();
        let report = &mut |report: Report| {
            assert!(begun.elapsed() < Duration::from_secs(60), "{lengths:?}, {said:?}");
            match report {
                Report::Ready(timeline) if timeline.is_whole() => {
                    lengths.push(timeline.len());
                    match lengths.len() {
                        // In place, as a copy over it does.
                        1 => fs::write(&path, text(4_000)).unwrap(),
                        2 => fs::write(&path, "these are my notes\n").unwrap(),
                        3 => fs::remove_file(&path).unwrap(),
                        _ => return Ok(false),
                    }
                }
                Report::Note(note) => {
                    let words = note.to_string();
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
            Ok(true)
        };
        opening(&path).watch(&way(None), report).unwrap();
        assert_eq!(lengths, [3_000, 4_000, 5_000, 6_000]);
        let kinds: Vec<bool> = said.iter().map(|words| words.contains("this is what it holds now")).collect();
        assert_eq!(kinds, [true, false, true, false], "{said:?}");
        // What cannot be shown from the start is refused, as before.
        fs::write(&path, "these are my notes\n").unwrap();
        assert!(opening(&path).watch(&way(None), &mut |_| Ok(true)).is_err());
    }

    #[test]
    fn caches_chosen_of_the_beginning_are_those_of_the_whole_or_it_is_said() {
        use crate::reference::{Kind, Reference, Tables};
        use crate::trace::Feeder;
        let mut feeder = Feeder::new(Tables::default());
        let read = |n: u64, lines: u64| Reference::new(Kind::Read, n % lines * 64, 8);
        feeder.push(&(0..131_072).map(|n| read(n, 100)).collect::<Vec<_>>()).unwrap();
        let source: Arc<dyn ReferenceSource> = Arc::clone(feeder.trace()) as Arc<dyn ReferenceSource>;
        let (mut names, mut said, mut fed) = (Vec::new(), Vec::new(), false);
        let report = &mut |report: Report| {
            match report {
                Report::Ready(timeline) => {
                    names.push((timeline.start().config().name.clone(), timeline.len(), timeline.is_whole()));
                    if !std::mem::replace(&mut fed, true) {
                        // Of the rest that is no whole chunk the last reference alone touches one line too many.
                        feeder.push(&(0..70_000).map(|n| read(n, 1024)).collect::<Vec<_>>()).unwrap();
                        feeder.push(&[read(1024, 2048)]).unwrap();
                        feeder.finish(Tables::default(), Vec::new()).unwrap();
                    }
                }
                Report::Note(note) => said.push(note.to_string()),
                Report::Progress(..) => {}
            }
            Ok(true)
        };
        opening(Path::new("grows")).index(&source, &way(None), report).unwrap();
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
        const NAME: &str = "opening::watch::tests::a_text_is_read_once_and_shown_the_same_from_its_copy";
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
