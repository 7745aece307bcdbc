//! Files that are watched while they are shown: when one of them is another than it was, and is not being written any more.

use crate::trace::Stamp;
use std::path::PathBuf;
use std::time::Duration;

/// Waits until what `look` gives is something else than `seen`, and the same twice in a row: looked at `every` so often. `goes_on` is
/// asked before each look; `None` where it says that nobody waits any more.
///
/// # Errors
/// What `goes_on` gives.
pub(super) fn rested<S: Clone + PartialEq, E>(
    seen: &S,
    look: &dyn Fn() -> S,
    every: Duration,
    goes_on: &mut dyn FnMut() -> Result<bool, E>,
) -> Result<Option<S>, E> {
    let mut last = seen.clone();
    loop {
        std::thread::sleep(every);
        if !goes_on()? {
            return Ok(None);
        }
        let now = look();
        if now != *seen && now == last {
            return Ok(Some(now));
        }
        last = now;
    }
}

/// Time between two looks at small files that somebody edits: who saves one waits for the picture.
const EVERY: Duration = Duration::from_millis(30);

/// Files that somebody edits, each as it was when it was looked at last; one that is not there may come.
#[derive(Debug)]
pub struct Watched {
    files: Vec<(PathBuf, Option<Stamp>)>,
}

impl Watched {
    /// These files, as they are now. Who reads them reads them after this, so that no change is missed.
    #[must_use]
    pub fn new(files: Vec<PathBuf>) -> Self {
        let mut watched = Self { files: Vec::new() };
        watched.turn_to(files);
        watched
    }

    /// Watches these from now on; those that were watched before count as they were then.
    pub fn turn_to(&mut self, files: Vec<PathBuf>) {
        let before = std::mem::take(&mut self.files);
        let known = |file: &PathBuf| before.iter().find(|(other, _)| other == file).cloned();
        self.files = files
            .into_iter()
            .map(|file| {
                known(&file).unwrap_or_else(|| {
                    let stamp = Stamp::of(&file);
                    (file, stamp)
                })
            })
            .collect();
    }

    /// Waits until one of them has changed and rests. `goes_on` is asked before each look; `false`: it said that nobody waits any more,
    /// or there is nothing to wait for.
    pub fn changed(&mut self, goes_on: &mut dyn FnMut() -> bool) -> bool {
        if self.files.is_empty() {
            return false;
        }
        let seen: Vec<Option<Stamp>> = self.files.iter().map(|(_, stamp)| stamp.clone()).collect();
        let look = || self.files.iter().map(|(file, _)| Stamp::of(file)).collect::<Vec<_>>();
        let asked = &mut || Ok::<_, std::convert::Infallible>(goes_on());
        match rested(&seen, &look, EVERY, asked) {
            Ok(Some(now)) => {
                self.files.iter_mut().zip(now).for_each(|((_, stamp), now)| *stamp = now);
                true
            }
            Ok(None) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::fs;

    #[test]
    fn what_is_written_twice_is_told_once_when_it_rests() {
        // What each look finds: it is written to at the second one and at the third.
        let looks = Cell::new(0);
        let look = || {
            looks.set(looks.get() + 1);
            looks.get().min(3)
        };
        let found = rested(&1, &look, Duration::ZERO, &mut || Ok::<_, ()>(true));
        assert_eq!((found, looks.get()), (Ok(Some(3)), 4));
        let mut asked = 0;
        let nobody = rested(&1, &|| 1, Duration::ZERO, &mut || {
            asked += 1;
            Ok::<_, ()>(asked < 5)
        });
        assert_eq!((nobody, asked), (Ok(None), 5));
        assert_eq!(rested(&1, &|| 2, Duration::ZERO, &mut || Err("broken")), Err("broken"));
    }

    #[test]
    fn a_change_between_two_waits_is_found_and_so_is_a_file_that_comes_or_goes() {
        let folder = tempfile::tempdir().unwrap();
        let [source, launch, bound] = ["k.wgsl", "k.toml", "k.bin"].map(|name| folder.path().join(name));
        fs::write(&source, "a").unwrap();
        let mut watched = Watched::new(vec![source.clone(), launch.clone()]);
        // Nobody waits: nothing is found, and the next one that waits finds it.
        fs::write(&source, "ab").unwrap();
        assert!(!watched.changed(&mut || false));
        assert!(watched.changed(&mut || true));
        fs::write(&launch, "x").unwrap();
        assert!(watched.changed(&mut || true));
        fs::remove_file(&launch).unwrap();
        assert!(watched.changed(&mut || true));
        // The new launch binds a file; those known before count as they were then.
        fs::write(&source, "abc").unwrap();
        watched.turn_to(vec![source, launch, bound.clone()]);
        assert!(watched.changed(&mut || true));
        fs::write(&bound, "1").unwrap();
        assert!(watched.changed(&mut || true));
        assert!(!Watched::new(Vec::new()).changed(&mut || true), "there is nothing to wait for");
    }
}
