//! Checks of the module above.

use super::*;
use std::path::Path;

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
    let mut seen = vec![page.enter()];
    for _ in 0..4 {
        page.step(true);
        seen.push(page.enter());
    }
    let file = |path: &str| Some(Asks::Open(Wanted::File(path.into())));
    let lesson = |name: &str| Some(Asks::Open(Wanted::Lesson(name.into())));
    let mpm = lesson("mpm");
    assert_eq!(seen, [file("/home/ada/heat.orrery"), file("/tmp/gone.log"), lesson("matmul16"), mpm.clone(), mpm]);
    for _ in 0..4 {
        page.step(false);
    }
    assert_eq!((page.chosen, page.enter()), (None, None), "the field, in which nothing stands");
    page.typed = "~/t.din".into();
    page.type_in();
    assert_eq!(page.enter(), file("/home/ada/t.din"));
    page.step(true);
    assert_eq!(page.enter(), file("/home/ada/heat.orrery"), "what is chosen goes before what is typed");
}

#[test]
fn a_page_with_nothing_on_it_has_its_field() {
    let mut page = StartPage::default();
    page.show(Vec::new());
    page.step(true);
    page.step(false);
    assert_eq!((page.chosen, page.enter(), page.wanted(0)), (None, None, None));
}

#[test]
fn escape_takes_back_what_is_typed_before_it_goes_back() {
    let mut page = page();
    page.typed = "t".into();
    page.type_in();
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
