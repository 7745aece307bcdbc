//! What a path that is being typed may become: the names in its folder that begin so.

use super::start::path_of;
use std::path::{Path, PathBuf};

/// Names that are offered, at most.
pub const MOST: usize = 12;
/// Names of a folder that are looked at.
const LOOKED_AT: usize = 20_000;

/// A name in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// As it is.
    pub name: String,
    /// Whether it is a folder.
    pub is_folder: bool,
}

/// What a path may become.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// What would be typed; a folder ends with `/`.
    pub text: String,
    /// The file or folder.
    pub path: PathBuf,
    /// As of [`Name`].
    pub is_folder: bool,
}

/// The names in a folder, without order; none where it cannot be read.
#[must_use]
pub fn names(folder: &Path) -> Vec<Name> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().take(LOOKED_AT).flatten();
    // Of a name that is no text nothing can be typed.
    let named = entries.filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path().is_dir())));
    named.map(|(name, is_folder)| Name { name, is_folder }).collect()
}

/// What `typed` may become: files first, then folders, by name. Hidden ones only where the dot is typed.
#[must_use]
pub fn completions(typed: &str, home: Option<&Path>, names: &dyn Fn(&Path) -> Vec<Name>) -> Vec<Completion> {
    // What is quoted or an address was pasted whole.
    if typed.trim().is_empty() || typed.starts_with(['"', '\'']) || typed.starts_with("file:") {
        return Vec::new();
    }
    let (before, begun) = match typed.rfind('/') {
        Some(at) => typed.split_at(at + 1),
        None => ("", typed),
    };
    let folder = if before.is_empty() { PathBuf::from(".") } else { path_of(before, home).unwrap_or_default() };
    let fits = |name: &Name| name.name.starts_with(begun) && (begun.starts_with('.') || !name.name.starts_with('.'));
    let mut found: Vec<Name> = names(&folder).into_iter().filter(fits).collect();
    found.sort_by(|a, b| (a.is_folder, &a.name).cmp(&(b.is_folder, &b.name)));
    let whole = |Name { name, is_folder }| Completion {
        text: format!("{before}{name}{}", if is_folder { "/" } else { "" }),
        path: if before.is_empty() { PathBuf::from(name) } else { folder.join(name) },
        is_folder,
    };
    found.into_iter().map(whole).collect()
}

/// What all of them begin with.
#[must_use]
pub fn common(completions: &[Completion]) -> Option<String> {
    let (first, rest) = completions.split_first()?;
    let mut len = first.text.len();
    for other in rest {
        let same = first.text.char_indices().zip(other.text.chars()).find(|((_, a), b)| a != b);
        let shorter = other.text.len().min(first.text.len());
        len = len.min(same.map_or(shorter, |((at, _), _)| at));
    }
    Some(first.text[..len].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(folder: &Path) -> Vec<Name> {
        let all: &[(&str, bool)] = match folder.to_str() {
            Some(".") => &[("mm.orrery", false), ("mm.c", false), ("made", true), (".git", true), ("größe", false)],
            Some("/home/ada/t/") => &[("a b.log", false), ("größe2", false)],
            _ => &[],
        };
        all.iter().map(|&(name, is_folder)| Name { name: name.into(), is_folder }).collect()
    }

    fn texts(typed: &str) -> Vec<String> {
        completions(typed, Some(Path::new("/home/ada")), &list).into_iter().map(|found| found.text).collect()
    }

    #[test]
    fn names_that_begin_so_are_offered_files_first_and_folders_with_a_slash() {
        assert_eq!(texts("m"), ["mm.c", "mm.orrery", "made/"]);
        assert_eq!(texts("mm.o"), ["mm.orrery"]);
        assert_eq!(texts("."), [".git/"]);
        assert_eq!(texts("~/t/"), ["~/t/a b.log", "~/t/größe2"]);
        for none in ["", " ", "x", "\"m", "file:m", "/no/such/m"] {
            assert!(texts(none).is_empty(), "{none}");
        }
        let found = completions("~/t/a", Some(Path::new("/home/ada")), &list);
        assert_eq!(found[0].path, Path::new("/home/ada/t/a b.log"));
        assert_eq!(completions("made", None, &list)[0].path, Path::new("made"));
    }

    #[test]
    fn what_all_begin_with_is_cut_between_signs() {
        let of = |texts: &[&str]| {
            let path = PathBuf::new();
            let all: Vec<Completion> =
                texts.iter().map(|&t| Completion { text: t.into(), path: path.clone(), is_folder: false }).collect();
            common(&all)
        };
        assert_eq!(of(&["mm.c", "mm.orrery"]).as_deref(), Some("mm."));
        assert_eq!(of(&["grö", "grü"]).as_deref(), Some("gr"));
        assert_eq!(of(&["grö", "gröb"]).as_deref(), Some("grö"));
        assert_eq!(of(&["gröb", "grö"]).as_deref(), Some("grö"));
        assert_eq!(of(&["one"]).as_deref(), Some("one"));
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn a_folder_that_cannot_be_read_has_no_names() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("t.log"), "").expect("written");
        std::fs::create_dir(folder.path().join("d")).expect("made");
        let mut found = names(folder.path());
        found.sort_by(|a, b| a.name.cmp(&b.name));
        let name = |name: &str, is_folder| Name { name: name.into(), is_folder };
        assert_eq!(found, [name("d", true), name("t.log", false)]);
        assert!(names(&folder.path().join("gone")).is_empty());
    }
}
