//! A program that is started here and records itself: under a name that nobody else writes to, until it is whole.
//!
//! ```text
//! NAME.4fQz1c.orrery.part   while it runs      NAME.4fQz1c.4711.orrery   a child of it, process 4711
//! NAME.4fQz1c.orrery        when it is whole   -> NAME.orrery, NAME.4711.orrery
//! ```

use super::driven::{DriveError, Hear, Notice, refused};
use super::{Part, collect, is_spool};
use crate::files::{self, behind_links, check_name};
use crate::shown::quoted;
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io};

/// The end of the name of a native file, and of what is one before it is whole.
const NATIVE: &str = ".orrery";
const PART: &str = ".orrery.part";

/// Time between two looks whether the recording is whole, and whether anybody is at work on it at all.
const LOOK: Duration = Duration::from_millis(5);
const ASK: Duration = Duration::from_millis(250);

/// How long it may take where the system does not say who is at work on it.
const PATIENCE: Duration = Duration::from_secs(600);

/// Parts that were left which are named one by one.
const NAMED: usize = 3;

/// A recording under way.
pub struct Recording {
    hear: Hear,
    /// The file that is asked for.
    output: PathBuf,
    /// What its name, and those of its children, begin with.
    stem: OsString,
    /// What the private names begin with.
    own_stem: OsString,
    /// The file until then: empty, so that the name is taken.
    own: tempfile::TempPath,
}

impl Recording {
    /// Takes a name beside the file that is asked for; `hear` is told what earlier recordings of that name left, and what happens at the end.
    ///
    /// # Errors
    /// When there is no such folder, it cannot be written to, or `output` is no plain file.
    pub fn begin(asked: &Path, hear: Hear) -> Result<Self, DriveError> {
        let shown = asked.display();
        if asked == Path::new("-") {
            return Err(no_file(asked, "standard output, which is the program's", "a file"));
        }
        check_name(asked).map_err(refused(format!("{shown}: cannot be written")))?;
        let output = std::path::absolute(asked).map_err(refused(format!("{shown}: is no path")))?;
        // A link stays one: what it leads to is written, whether it is there yet or not.
        let output = behind_links(&output).map_err(refused(format!("{shown}: cannot be written")))?;
        let output = fs::canonicalize(&output).unwrap_or(output);
        let (Some(folder), Some(name)) = (output.parent(), output.file_name()) else {
            return Err(no_file(asked, "a folder", "a file to write"));
        };
        if fs::metadata(&output).is_ok_and(|m| !m.is_file()) {
            return Err(no_file(asked, "a folder or a device", "a plain file to write"));
        }
        let stem = cut(name, NATIVE).unwrap_or_else(|| name.to_owned());
        tell_left(folder, &stem, &hear);
        let mut prefix = stem.clone();
        prefix.push(".");
        let own = tempfile::Builder::new()
            .prefix(&prefix)
            .suffix(NATIVE)
            .tempfile_in(folder)
            .map_err(|error| {
                let error = of_the_system(error.kind()).unwrap_or(error);
                let remedy =
                    files::remedy(&output, &error, "--output").unwrap_or_else(|| "give another --output".into());
                refused(format!("{}: no file can be created there; {remedy}", folder.display()))(error)
            })?
            .into_temp_path();
        let own_stem = own.file_name().and_then(|name| cut(name, NATIVE)).unwrap_or_default();
        Ok(Self { hear, stem, own_stem, own, output })
    }

    /// Where the program is to write: `ORRERY_OUT`.
    #[must_use]
    pub fn own(&self) -> &Path {
        &self.own
    }

    /// The file that is asked for.
    #[must_use]
    pub fn output(&self) -> &Path {
        &self.output
    }

    /// Whether references are still on their way to the file.
    #[must_use]
    pub fn is_under_way(&self) -> bool {
        self.part().exists()
    }

    fn part(&self) -> PathBuf {
        with_end(&self.own, ".part")
    }

    /// Waits until the recording of a program that ended is whole, and gives it and its children's their names. `false`:
    /// nothing was recorded.
    ///
    /// # Errors
    /// When it cannot be made whole, or a file not be renamed.
    pub fn end(self) -> Result<bool, DriveError> {
        self.wait()?;
        for name in names(self.folder(), &self.own_stem) {
            let from = self.folder().join(&name);
            let rest = after(&name, &self.own_stem).unwrap_or_default();
            // `.PID.orrery`; the program's own is `.orrery`.
            if rest == OsStr::new(NATIVE) {
                continue;
            }
            if cut(&name, PART).is_some() {
                self.tell_child(&from);
            } else {
                let mut to = self.stem.clone();
                to.push(rest);
                let to = self.folder().join(to);
                fs::rename(&from, &to).map_err(refused(format!("{}: cannot be renamed", from.display())))?;
            }
        }
        if fs::metadata(&self.own).map_or(0, |m| m.len()) == 0 {
            return Ok(false);
        }
        let shown = self.output.display().to_string();
        self.own.persist(&self.output).map_err(|e| refused(format!("{shown}: cannot be written"))(e.error))?;
        Ok(true)
    }

    fn folder(&self) -> &Path {
        self.output.parent().unwrap_or(Path::new("/"))
    }

    /// Waits for the program's own part to be gone. Where nobody works on it, we do.
    fn wait(&self) -> Result<(), DriveError> {
        let part = self.part();
        let begun = Instant::now();
        let (mut asked, mut idle) = (begun, 0);
        while part.exists() {
            std::thread::sleep(LOOK);
            if asked.elapsed() < ASK {
                continue;
            }
            asked = Instant::now();
            idle = if in_use(&part) == Some(false) { idle + 1 } else { 0 };
            let lost = in_use(&part).is_none() && begun.elapsed() > PATIENCE;
            if idle < 2 && !lost {
                continue;
            }
            if !part.exists() {
                break;
            }
            let words = "the process that packs it is gone; packing what was recorded";
            (self.hear)(Notice::Note(format!("{}: {words}", part.display())));
            let collected = collect(&part, &self.own, Part::Consumed, |_| true);
            let collected = collected.map_err(|source| {
                let remedy = remedy(&part, &self.output);
                DriveError::Stays { part: part.clone(), remedy, source: Box::new(source) }
            })?;
            collected.notices.into_iter().for_each(|notice| (self.hear)(Notice::Warning(notice)));
        }
        Ok(())
    }

    /// Says what becomes of the part of a child.
    fn tell_child(&self, part: &Path) {
        let shown = part.display();
        let words = if in_use(part) == Some(true) {
            let whole = with_end(&part.with_extension("").with_extension(""), NATIVE);
            format!("a process that the program started goes on; it is recorded into {}", whole.display())
        } else {
            let rest = part.file_name().and_then(|name| after(name, &self.own_stem)).unwrap_or_default();
            let mut to = self.stem.clone();
            to.push(cut(&rest, ".part").unwrap_or_default());
            format!("{shown}: left by a process that ended early; {}", remedy(part, &self.folder().join(to)))
        };
        (self.hear)(Notice::Note(words));
    }
}

/// What the system said, without the name that only this program knows; `None` where it is another error.
fn of_the_system(kind: io::ErrorKind) -> Option<io::Error> {
    let code = match kind {
        io::ErrorKind::NotFound => Errno::NOENT,
        io::ErrorKind::NotADirectory => Errno::NOTDIR,
        io::ErrorKind::PermissionDenied => Errno::ACCESS,
        io::ErrorKind::ReadOnlyFilesystem => Errno::ROFS,
        io::ErrorKind::StorageFull => Errno::NOSPC,
        io::ErrorKind::QuotaExceeded => Errno::DQUOT,
        _ => return None,
    };
    Some(io::Error::from_raw_os_error(code.raw_os_error()))
}

fn no_file(output: &Path, found: &'static str, expected: &'static str) -> DriveError {
    DriveError::NoFile { output: output.to_owned(), found, expected }
}

/// What recordings of a trace's name left that were broken off, and how to have it; nothing where the trace is newer.
#[must_use]
pub fn leftovers(trace: &Path) -> Vec<Notice> {
    let path = std::path::absolute(trace).and_then(|path| behind_links(&path)).unwrap_or_else(|_| trace.to_owned());
    let (Some(folder), Some(stem)) = (path.parent(), path.file_name().and_then(|name| cut(name, NATIVE))) else {
        return Vec::new();
    };
    let written = |path: &Path| path.metadata().and_then(|about| about.modified()).ok();
    let newer: Vec<PathBuf> = spools(folder, &stem).into_iter().filter(|part| written(part) > written(&path)).collect();
    let left: Vec<PathBuf> = newer.into_iter().filter(|part| in_use(part) == Some(false)).collect();
    let to = if path.exists() { recovered(folder, &stem) } else { path.clone() };
    told(&left, &to, folder)
}

/// Says which parts of that name earlier recordings left, and how to have what is in them.
fn tell_left(folder: &Path, stem: &OsStr, hear: &Hear) {
    let (busy, left): (Vec<PathBuf>, Vec<PathBuf>) =
        spools(folder, stem).into_iter().partition(|part| in_use(part) == Some(true));
    for part in busy.iter().take(NAMED) {
        let words = format!("{}: another recording, still under way; this one is apart from it", part.display());
        hear(Notice::Note(words));
    }
    told(&left, &recovered(folder, stem), folder).into_iter().for_each(|notice| hear(notice));
}

/// The spools of recordings of that name.
fn spools(folder: &Path, stem: &OsStr) -> Vec<PathBuf> {
    let parts = names(folder, stem).into_iter().filter(|name| cut(name, PART).is_some());
    parts.map(|name| folder.join(name)).filter(|part| is_spool(part)).collect()
}

/// Where what was left goes if the name is taken.
fn recovered(folder: &Path, stem: &OsStr) -> PathBuf {
    let mut to = stem.to_owned();
    to.push(".recovered");
    to.push(NATIVE);
    folder.join(to)
}

/// Of parts that were left: how to make a trace of each.
fn told(left: &[PathBuf], to: &Path, folder: &Path) -> Vec<Notice> {
    let one = |(n, part): (usize, &PathBuf)| {
        // Each has a trace of its own.
        let to = if n == 0 { to.to_owned() } else { to.with_extension(format!("{}{NATIVE}", n + 1)) };
        let remedy = remedy(part, &to);
        format!("{}: left by a recording that was broken off; {remedy}, then remove it", part.display())
    };
    let more = left.len().saturating_sub(NAMED);
    let more = (more > 0).then(|| format!("and {more} more such files in {}", folder.display()));
    left.iter().take(NAMED).enumerate().map(one).chain(more).map(Notice::Note).collect()
}

fn remedy(part: &Path, output: &Path) -> String {
    let [part, output] = [part, output].map(|path| path.display().to_string());
    format!("`orrery convert {} -o {}` makes a trace of it", quoted(&part), quoted(&output))
}

/// Names in a folder that begin with `stem` and a dot, in order.
fn names(folder: &Path, stem: &OsStr) -> Vec<OsString> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let ours = |name: &OsString| after(name, stem).is_some_and(|rest| rest.as_encoded_bytes().starts_with(b"."));
    let mut names: Vec<OsString> = entries.filter(ours).collect();
    names.sort();
    names
}

/// A name without its end; `None` where it ends otherwise.
fn cut(name: &OsStr, end: &str) -> Option<OsString> {
    let text = name.to_str();
    match text {
        Some(text) => text.strip_suffix(end).map(OsString::from),
        #[cfg(unix)]
        None => {
            use std::os::unix::ffi::OsStrExt;
            name.as_bytes().strip_suffix(end.as_bytes()).map(|bytes| OsStr::from_bytes(bytes).to_owned())
        }
        #[cfg(not(unix))]
        None => None,
    }
}

/// What comes in a name after its beginning.
fn after(name: &OsStr, beginning: &OsStr) -> Option<OsString> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        name.as_bytes().strip_prefix(beginning.as_bytes()).map(|bytes| OsStr::from_bytes(bytes).to_owned())
    }
    #[cfg(not(unix))]
    {
        name.to_str()?.strip_prefix(beginning.to_str()?).map(OsString::from)
    }
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Whether a process has the file open, or in its memory; `None` where the system does not tell.
fn in_use(path: &Path) -> Option<bool> {
    let path = fs::canonicalize(path).ok()?;
    let mut seen = false;
    for process in fs::read_dir("/proc").ok()?.flatten().map(|entry| entry.path()) {
        let Ok(open) = fs::read_dir(process.join("fd")) else { continue };
        seen = true;
        if open.flatten().any(|entry| fs::read_link(entry.path()).is_ok_and(|at| at == path)) {
            return Some(true);
        }
        // A program may close all its descriptors; what it recorded is in its memory.
        let maps = fs::read(process.join("maps")).unwrap_or_default();
        let name = path.as_os_str().as_encoded_bytes();
        if maps.split(|&b| b == b'\n').any(|line| line.ends_with(name)) {
            return Some(true);
        }
    }
    seen.then_some(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn begin(output: &Path) -> Result<Recording, DriveError> {
        Recording::begin(output, Arc::new(|_| ()))
    }

    #[test]
    fn names_are_taken_apart() {
        let os = |s: &str| OsString::from(s);
        assert_eq!(cut(OsStr::new("mm.orrery"), NATIVE), Some(os("mm")));
        assert_eq!(cut(OsStr::new("mm.trace"), NATIVE), None);
        assert_eq!(after(OsStr::new("mm.k3.17.orrery"), OsStr::new("mm.k3")), Some(os(".17.orrery")));
        assert_eq!(after(OsStr::new("n.orrery"), OsStr::new("mm")), None);
    }

    #[test]
    fn nothing_is_written_over_a_folder_and_no_name_is_left() {
        let folder = tempfile::tempdir().unwrap();
        assert!(begin(folder.path()).is_err_and(|error| error.is_usage()));
        assert!(begin(&folder.path().join("gone/mm.orrery")).is_err());
        assert!(begin(&folder.path().join("mm/")).is_err());
        assert!(begin(Path::new("-")).is_err_and(|error| error.to_string()
            == "-: found standard output, which is the program's; expected the name of a file"));
        let output = folder.path().join("mm.orrery");
        let recording = begin(&output).unwrap();
        assert!(recording.own().starts_with(folder.path().canonicalize().unwrap()) && recording.own() != output);
        assert!(!recording.end().unwrap(), "nothing was written");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn each_that_was_left_goes_to_a_file_of_its_own() {
        let folder = Path::new("/r");
        let left: Vec<PathBuf> = (0..5).map(|n| folder.join(format!("mm.{n}.orrery.part"))).collect();
        let words: Vec<String> = told(&left, &folder.join("mm.recovered.orrery"), folder)
            .into_iter()
            .map(|notice| match notice {
                Notice::Note(words) => words,
                _ => String::new(),
            })
            .collect();
        for (said, to) in words.iter().zip(["mm.recovered.orrery`", "mm.recovered.2.orrery`", "mm.recovered.3.orrery`"])
        {
            assert!(said.contains(to), "{said}");
        }
        assert_eq!(words[3], "and 2 more such files in /r");
    }

    #[test]
    fn children_get_their_names_and_others_files_stay() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("mm.orrery");
        fs::write(folder.path().join("mm.other.orrery"), "others'").unwrap();
        fs::write(&output, "before").unwrap();
        let recording = begin(&output).unwrap();
        let own = recording.own().to_owned();
        fs::write(&own, "whole").unwrap();
        fs::write(own.with_extension("77.orrery"), "child").unwrap();
        assert!(recording.end().unwrap());
        assert_eq!(names(folder.path(), OsStr::new("mm")), ["mm.77.orrery", "mm.orrery", "mm.other.orrery"]);
        assert_eq!(fs::read(&output).unwrap(), b"whole");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn who_has_a_file_open_is_found() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(in_use(file.path()), Some(true));
        let path = file.into_temp_path();
        assert_eq!(in_use(&path), Some(false));
    }
}
