//! Source files of one name in several folders.

use super::SourceLocation;
use std::collections::{BTreeMap, BTreeSet};

/// Shows files whose names are the same, but not the folders that they are in, with as many of these as tell them apart: `a/util.c`,
/// `b/util.c`.
pub fn tell_files_apart(locations: &mut [SourceLocation]) {
    let mut paths: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for location in locations.iter().filter(|location| !location.path.is_empty()) {
        paths.entry(&location.file).or_default().insert(&location.path);
    }
    let shown: BTreeMap<String, String> = (paths.into_values().filter(|paths| paths.len() > 1))
        .flat_map(|paths| paths.iter().map(|path| ((*path).to_owned(), shortest(path, &paths))).collect::<Vec<_>>())
        .collect();
    for location in locations {
        if let Some(shown) = shown.get(&location.path) {
            location.file.clone_from(shown);
        }
    }
}

/// A path without `.` and without folders that are left again by `..`: a header that two folders include is one file.
pub fn plain_path(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|last| !last.is_empty() && *last != "..") => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The least of the end of a path that none of the others ends with.
fn shortest(path: &str, all: &BTreeSet<&str>) -> String {
    let parts: Vec<&str> = path.split('/').collect();
    let ends = |other: &str, end: &[&str]| other.split('/').collect::<Vec<_>>().ends_with(end);
    (1..parts.len())
        .map(|count| &parts[parts.len() - count..])
        .find(|end| all.iter().filter(|other| ends(other, end)).count() == 1)
        .map_or_else(|| path.to_owned(), |end| end.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_plain() {
        let plain = ["/p/a/../inc/h.h", "/p/./b/h.h", "../h.h", "a/../../h.h", "/p//h.h"].map(plain_path);
        assert_eq!(plain, ["/p/inc/h.h", "/p/b/h.h", "../h.h", "../h.h", "/p//h.h"]);
    }

    #[test]
    fn files_of_one_name_are_shown_with_their_folders_and_others_without() {
        let at = |path: &str| {
            let file = path.rsplit('/').next().unwrap_or_default().to_owned();
            SourceLocation { pc: 0, file, path: path.into(), line: 1, function: String::new(), text: String::new() }
        };
        let mut all: Vec<_> =
            ["/p/a/util.c", "/p/b/util.c", "/p/main.c", "/q/a/util.c", "/p/a/util.c", ""].map(at).into_iter().collect();
        tell_files_apart(&mut all);
        let shown: Vec<&str> = all.iter().map(|location| location.file.as_str()).collect();
        assert_eq!(shown, ["p/a/util.c", "b/util.c", "main.c", "q/a/util.c", "p/a/util.c", ""]);
        let once = all.clone();
        tell_files_apart(&mut all);
        assert_eq!(all, once, "once is enough");
    }
}
