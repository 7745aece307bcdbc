//! Checks of the module above.

use super::*;
use std::path::Path;

/// A folder with nothing in it.
fn nothing(_: &Path) -> Vec<Name> {
    Vec::new()
}

/// A page with two traces that were opened before, one of them gone, and two lessons.
pub(in crate::app) fn page() -> StartPage {
    let lessons = vec![
        Lesson { name: "matmul16", look: "B misses again and again" },
        Lesson { name: "mpm", look: "the grid stays" },
    ];
    let recent = vec![
        RecentFile { path: "/home/ada/heat.orrery".into(), about: Some((34_000, Duration::from_secs(120))) },
        RecentFile { path: "/tmp/gone.log".into(), about: None },
    ];
    let mut page = StartPage { lessons, home: Some("/home/ada".into()), ..StartPage::default() };
    page.show(recent);
    page
}

#[test]
fn the_keys_go_through_files_and_lessons_and_back_to_the_field() {
    let mut page = page();
    let mut seen = vec![page.enter(&nothing)];
    for _ in 0..4 {
        page.step(true);
        seen.push(page.enter(&nothing));
    }
    let file = |path: &str| Some(Asks::Open(Wanted::File(path.into())));
    let lesson = |name: &str| Some(Asks::Open(Wanted::Lesson(name.into())));
    let mpm = lesson("mpm");
    assert_eq!(seen, [file("/home/ada/heat.orrery"), file("/tmp/gone.log"), lesson("matmul16"), mpm.clone(), mpm]);
    for _ in 0..4 {
        page.step(false);
    }
    assert_eq!((page.chosen, page.enter(&nothing)), (None, None), "the field, in which nothing stands");
    page.typed = "~/t.din".into();
    page.type_in(&nothing);
    assert_eq!(page.enter(&nothing), file("/home/ada/t.din"));
    page.step(true);
    assert_eq!(page.enter(&nothing), file("/home/ada/heat.orrery"), "what is chosen goes before what is typed");
}

#[test]
fn a_program_is_asked_for_in_words_and_what_is_no_command_line_is_said() {
    let mut page = page();
    page.turn();
    assert_eq!((page.field, page.chosen), (Field::Program, None));
    page.program = "~/mm.c 'a b".into();
    page.type_in(&nothing);
    assert_eq!(page.enter(&nothing), None);
    assert!(page.message.as_ref().is_some_and(|words| words.contains("is not closed")), "{:?}", page.message);
    page.program.push('\'');
    page.type_in(&nothing);
    let words = ["/home/ada/mm.c", "a b"].map(str::to_owned).to_vec();
    assert_eq!((page.enter(&nothing), &page.message), (Some(Asks::Open(Wanted::Program(words))), &None));
    // It stays for the next time; a path does not.
    page.typed = "t".into();
    page.show(Vec::new());
    assert_eq!((page.typed.as_str(), page.program.as_str(), page.field), ("", "~/mm.c 'a b'", Field::Path));
}

#[test]
fn tab_completes_a_path_and_goes_into_folders_and_where_nothing_is_typed_turns_to_the_other_field() {
    let list = |folder: &Path| -> Vec<Name> {
        let all: &[(&str, bool)] = match folder.to_str() {
            Some("/t/") => &[("runs", true), ("run.log", false)],
            Some("/t/runs/") => &[("a.din", false)],
            _ => &[],
        };
        all.iter().map(|&(name, is_folder)| Name { name: name.into(), is_folder }).collect()
    };
    let mut page = page();
    page.typed = "/t/r".into();
    page.type_in(&list);
    assert_eq!((page.files(), page.entries(), page.chosen), (2, 4, None));
    page.tab(&list);
    assert_eq!((page.typed.as_str(), page.field), ("/t/run", Field::Path));
    page.tab(&list);
    assert_eq!((page.typed.as_str(), page.field), ("/t/run", Field::Path), "both are meant so far");
    // Of two that differ here the second is a folder.
    page.step(true);
    assert_eq!(page.wanted(0), Some(Wanted::File("/t/run.log".into())));
    page.step(true);
    assert_eq!(page.enter(&list), None);
    assert_eq!((page.typed.as_str(), page.chosen), ("/t/runs/", None));
    page.tab(&list);
    assert_eq!(page.enter(&list), Some(Asks::Open(Wanted::File("/t/runs/a.din".into()))));
    page.step(true);
    page.step(true);
    assert_eq!(page.enter(&list), Some(Asks::Open(Wanted::Lesson("matmul16".into()))), "lessons follow");
    page.escape();
    assert_eq!(page.files(), 2, "those that were opened before");
    page.tab(&list);
    assert_eq!(page.field, Field::Program);
}

#[test]
fn a_page_with_nothing_on_it_has_its_field() {
    let mut page = StartPage::default();
    page.show(Vec::new());
    page.step(true);
    page.step(false);
    assert_eq!((page.chosen, page.enter(&nothing), page.wanted(0)), (None, None, None));
}

#[test]
fn escape_takes_back_what_is_typed_before_it_goes_back() {
    let mut page = page();
    page.typed = "t".into();
    page.type_in(&nothing);
    assert_eq!((page.escape(), page.typed.as_str(), page.chosen), (None, "", Some(0)));
    assert_eq!(page.escape(), Some(Asks::Back));
}

#[test]
fn a_path_is_what_stands_within_quotes_and_addresses() {
    let home = Path::new("/home/ada");
    for (typed, path) in [
        ("t.orrery", "t.orrery"),
        ("  /a/b c.log\n", "/a/b c.log"),
        ("\"/a/b c.log\"", "/a/b c.log"),
        ("'/a/it is.log'", "/a/it is.log"),
        ("~/t.log", "/home/ada/t.log"),
        ("~", "/home/ada"),
        ("~bob/t.log", "~bob/t.log"),
        ("file:///a/b%20c%C3%A4.log", "/a/b cä.log"),
        ("file://localhost/a/t.log", "/a/t.log"),
        ("'file:///a/100%'", "/a/100%"),
        ("/a/100%20", "/a/100%20"),
        ("file:///a/%+1%zz", "/a/%+1%zz"),
        ("\"", "\""),
    ] {
        assert_eq!(path_of(typed, Some(home)), Some(PathBuf::from(path)), "{typed}");
    }
    assert_eq!(path_of("~/t.log", None), Some("~/t.log".into()));
    for nothing in ["", " \t", "''", "\"\""] {
        assert_eq!(path_of(nothing, Some(home)), None, "{nothing}");
    }
}

#[test]
fn lengths_and_ages_are_told_in_one_unit() {
    let sizes = [0, 999, 34_123, 5_400_000, 2_500_000_000].map(size);
    assert_eq!(sizes, ["0 bytes", "999 bytes", "34 kB", "5.4 MB", "2.5 GB"]);
    let ages = [0, 59, 60, 3_599, 7_200, 86_400, 40 * 86_400, 800 * 86_400].map(|s| ago(Duration::from_secs(s)));
    let words = [
        "just now",
        "just now",
        "1 minute ago",
        "59 minutes ago",
        "2 hours ago",
        "1 day ago",
        "1 month ago",
        "2 years ago",
    ];
    assert_eq!(ages, words);
}

#[test]
fn a_source_file_that_somebody_wants_to_open_is_proposed_to_be_recorded() {
    let mut page = page();
    page.typed = "sums.c".into();
    page.propose(Path::new("/home/ada/sums.c"));
    assert_eq!((page.field, page.program.as_str()), (Field::Program, "/home/ada/sums.c"));
    assert!(
        page.message
            .as_deref()
            .is_some_and(|words| words.starts_with("sums.c is a program's source: Enter compiles it"))
    );
    assert_eq!(page.enter(&nothing), Some(Asks::Open(Wanted::Program(vec!["/home/ada/sums.c".into()]))));
    page.propose(Path::new("/home/ada/two words.c"));
    assert_eq!(page.enter(&nothing), Some(Asks::Open(Wanted::Program(vec!["/home/ada/two words.c".into()]))));
}
