//! Native copies of foreign traces: every reference and every word comes back, and only while the files are as they were.
#![cfg(feature = "formats")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use orrery::reference::{Reference, ReferenceSource};
use orrery::trace::{self, Feed, Format, Started};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

fn begin(path: &Path, format: Option<Format>) -> Option<Feed> {
    match trace::start(path, format).ok()? {
        Started::Growing(feed) => Some(feed),
        Started::Whole(_) => None,
    }
}

/// The trace read to its end; `None` where it is native or broken.
fn read(path: &Path) -> Option<Feed> {
    let mut feed = begin(path, None)?;
    while feed.advance().ok()? {}
    Some(feed)
}

/// A copy of what was read, written to `copy`; `None` where there is none.
fn write(feed: &Feed, copy: &Path) -> Option<()> {
    feed.copy("the copy", File::create(copy).unwrap(), &|| true).unwrap().map(drop)
}

fn all(source: &dyn ReferenceSource) -> Vec<Reference> {
    (0..source.len().div_ceil(source.chunk_len())).flat_map(|n| source.chunk(n).unwrap().to_vec()).collect()
}

fn assert_same(a: &dyn ReferenceSource, b: &dyn ReferenceSource, path: &Path) {
    let shown = path.display();
    assert!(all(a) == all(b), "{shown}");
    assert_eq!((a.tables(), a.notices(), a.identity()), (b.tables(), b.notices(), b.identity()), "{shown}");
    assert_eq!((a.len(), a.chunk_len(), a.cores()), (b.len(), b.chunk_len(), b.cores()), "{shown}");
    assert!(b.is_whole() && b.identity().is_some(), "{shown}");
}

/// Files in a folder and all below it.
fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, out) } else { out.push(path) }
    }
}

#[test]
fn a_copy_of_a_file_of_any_format_is_the_same_trace() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    files(&root.join("tests/traces"), &mut paths);
    files(&root.join("../shared/data"), &mut paths);
    paths.sort();
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.orrery");
    let (mut copied, mut with_notices, mut with_words) = (0, 0, 0);
    for path in &paths {
        let Some(feed) = read(path) else { continue };
        write(&feed, &copy).unwrap();
        let again = begin(path, None).unwrap();
        let source = again.copy_at(&copy).unwrap().expect("nothing has changed");
        assert_same(feed.trace().as_ref(), source.as_ref(), path);
        copied += 1;
        with_notices += usize::from(!source.notices().is_empty());
        let tables = source.tables();
        with_words += usize::from(!tables.marks.is_empty() || !tables.made_by.is_empty() || !tables.title.is_empty());
    }
    eprintln!("{copied} files, {with_notices} with notices, {with_words} with marks or titles");
    assert!(copied >= 10 && with_notices >= 3 && with_words >= 2, "{copied} {with_notices} {with_words}");
}

/// So long that its parts are in temporary files, whose row groups are taken as they are: 4,194,304 references each.
#[test]
fn a_long_trace_is_copied_with_all_its_parts() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("t.din"), folder.path().join("copy.orrery"));
    let lines = |n: u64| -> Vec<u8> {
        (0..n).flat_map(|i| format!("{} {:x}\n", i % 3, 0x1000 + i * 0x9e37 % 0xfffff).into_bytes()).collect()
    };
    // With a rest, of no whole row group; and with none.
    for references in [(1 << 23) + 70_001, 1 << 22] {
        fs::write(&path, lines(references)).unwrap();
        let feed = read(&path).unwrap();
        assert_eq!(feed.trace().len(), references);
        write(&feed, &copy).unwrap();
        let source = begin(&path, None).unwrap().copy_at(&copy).unwrap().unwrap();
        assert_same(feed.trace().as_ref(), source.as_ref(), &path);
        // It is a native file like any other, whose checksums hold.
        let native = trace::open(&copy, None).unwrap();
        assert!(all(native.as_ref()) == all(source.as_ref()) && native.identity().is_some());
        // Who says no on the way gets none.
        assert!(feed.copy("the copy", Vec::new(), &|| false).unwrap().is_none());
    }
}

#[test]
fn a_copy_is_of_one_file_as_it_was_read_in_one_way() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other, copy) = (folder.path().join("t.log"), folder.path().join("u.log"), folder.path().join("copy"));
    let text = " L 1000,8\n S 1008,8\nI  400000,4\n".repeat(1000);
    fs::write(&path, &text).unwrap();
    fs::write(&other, &text).unwrap();
    let feed = read(&path).unwrap();
    write(&feed, &copy).unwrap();
    let found = |path: &Path, format| begin(path, format).unwrap().copy_at(&copy).unwrap().is_some();
    assert!(found(&path, None) && found(&path, Some(Format::LACKEY)));
    assert!(!found(&other, None) && !found(&path, Some(Format::DIN)));
    let name = |path: &Path, format| begin(path, format).unwrap().name();
    assert_eq!(name(&path, None), name(&folder.path().join("./t.log"), Some(Format::LACKEY)));
    assert!(name(&path, None) != name(&other, None) && name(&path, None) != name(&path, Some(Format::DIN)));

    // Grown, and cut.
    fs::write(&path, [&text, " L 2000,8\n"].concat()).unwrap();
    assert!(!found(&path, None));
    fs::write(&path, &text[..text.len() - 12]).unwrap();
    assert!(!found(&path, None));

    // Changed while it is read: there is no copy, and nothing that tells it from others.
    fs::write(&path, &text).unwrap();
    let mut feed = begin(&path, None).unwrap();
    fs::write(&path, [&text, " L 2000,8\n"].concat()).unwrap();
    while feed.advance().unwrap() {}
    assert!(feed.trace().is_whole() && feed.trace().identity().is_none());
    assert!(write(&feed, &copy).is_none());

    // Broken on the way: what came before is a trace, and no copy is made of it.
    fs::write(&path, [&text.repeat(100), " L 20zz,8\n"].concat()).unwrap();
    let mut feed = begin(&path, None).unwrap();
    let error = loop {
        match feed.advance() {
            Ok(more) => assert!(more, "the end is not reached"),
            Err(error) => break error.to_string(),
        }
    };
    feed.keep().unwrap();
    assert!(error.contains("t.log:300001"), "{error}");
    assert!(feed.trace().len() > 200_000 && feed.trace().is_whole());
    assert!(feed.trace().identity().is_none() && write(&feed, &copy).is_none());
}

/// A list names kernels that stand beside it: the copy is of all of them.
#[test]
fn a_copy_of_a_list_of_kernels_is_good_while_the_kernels_are_as_they_were() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces");
    let mut paths = Vec::new();
    files(&data, &mut paths);
    let list = paths.iter().find(|path| path.ends_with("kernelslist.g")).expect("a list of kernels among the traces");
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(list.parent().unwrap()).unwrap().flatten().filter(|entry| entry.path().is_file()) {
        fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    let (list, copy) = (folder.path().join("kernelslist.g"), folder.path().join("copy"));
    write(&read(&list).unwrap(), &copy).unwrap();
    let found = || begin(&list, None).unwrap().copy_at(&copy).unwrap().is_some();
    assert!(found());
    let names = fs::read_to_string(&list).unwrap();
    let kernel = names.lines().find(|line| line.contains(".traceg")).unwrap().trim();
    let there = ["", ".gz", ".xz", ".zst", ".bz2"].map(|end| folder.path().join(format!("{kernel}{end}")));
    let kernel = there.iter().find(|path| path.exists()).unwrap();
    let bytes = fs::read(kernel).unwrap();
    fs::remove_file(kernel).unwrap();
    assert!(!found());
    // Back as it was, it is another file all the same. (Times of files go by steps of some milliseconds.)
    std::thread::sleep(std::time::Duration::from_millis(30));
    fs::write(kernel, &bytes).unwrap();
    assert!(!found());
    write(&read(&list).unwrap(), &copy).unwrap();
    assert!(found());
    // A file that was not there, and comes before the one that was read.
    if let Some(before) = there.iter().find(|path| !path.exists()).filter(|_| kernel != &there[0]) {
        fs::write(before, &bytes).unwrap();
        assert!(!found());
    }
}
