use super::{DaisenError, Dialect, read, read_first, write};
use crate::tasks::{NewTask, TaskId, TaskIndex, TaskSet, TaskSetBuilder};
use proptest::prelude::*;
use rusqlite::Connection;
use std::fs;

/// What there is of a set, by name, so that sets whose tasks stand in another order are equal.
fn told(set: &TaskSet, names: bool) -> Vec<String> {
    let all = 0..TaskIndex::try_from(set.len()).unwrap();
    // Without names a task is told by what it is.
    let name = |task: TaskIndex| {
        let about = set.task(task);
        let at = set.locations().word(about.location);
        let id = if names { set.id(task) } else { String::new() };
        format!("{id} {} {} {at} {} {}", about.category, about.action, about.start, about.end)
    };
    let mut out: Vec<String> = all
        .map(|task| {
            let parent = set.parent(task).map(name);
            let absent = set.dangling_parent(task).map(|id| if names { id } else { "absent" });
            let waits = set.milestones(task).iter().map(|milestone| {
                (milestone.time, set.words().word(milestone.category), set.words().word(milestone.what))
            });
            let tags = set.tags(task).iter().map(|tag| (tag.time, set.words().word(tag.what)));
            let (waits, tags) = (waits.collect::<Vec<_>>(), tags.collect::<Vec<_>>());
            format!("{} / {parent:?} / {absent:?} / {waits:?} / {tags:?}", name(task))
        })
        .collect();
    out.sort();
    out
}

type Drawn = (u8, u8, u8, u32, u32, Option<u32>, bool);

fn made(drawn: &[Drawn], text: bool, per_second: u64) -> TaskSet {
    let mut builder = TaskSetBuilder::new(per_second);
    let names: Vec<String> = (1..=drawn.len())
        .map(|at| {
            if !text || at % 4 == 0 {
                at.to_string()
            } else {
                [format!("{at}_req_out"), format!("{at}@L2"), format!("it's \"{at}\"")][at % 3].clone()
            }
        })
        .collect();
    for (at, &(category, action, location, start, length, wait, parent)) in drawn.iter().enumerate() {
        let category = builder.word(["req_in", "req_out", "inst"][usize::from(category % 3)]);
        let action = builder.word(["ReadReq", "a, comma", "Ünïcode"][usize::from(action % 3)]);
        let location = builder.location(["L1", "L2", "GPU[1].SA[0].CU[3]"][usize::from(location % 3)]);
        let id = TaskId::Text(&names[at]);
        let above = match at {
            0 => "99999".to_owned(),
            at => names[at / 2].clone(),
        };
        let above = TaskId::Text(&above);
        let (start, end) = (u64::from(start), u64::from(start) + u64::from(length));
        let task = NewTask { id: &id, parent: parent.then_some(&above), category, action, location, start, end };
        builder.push(task).unwrap();
        if let Some(wait) = wait {
            let (category, what) = (builder.word("hardware_resource"), builder.word("L2.MSHR"));
            builder.milestone(&id, start + u64::from(wait), category, what, None);
            let what = builder.word(["read-hit", "write-miss", "it's"][at % 3]);
            builder.tag(&id, end, what);
        }
    }
    builder.finish().set
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn what_is_written_is_read_back(
        drawn in prop::collection::vec((any::<u8>(), any::<u8>(), any::<u8>(), 0u32..4_000_000, 0u32..100_000, prop::option::of(0u32..1000), any::<bool>()), 1..30),
        text in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tasks");
        for (dialect, _) in Dialect::ALL {
            // CSV has ten digits behind the point.
            let per_second = if dialect == Dialect::Csv { 1_000_000_000 } else { 1_000_000_000_000_000 };
            let set = made(&drawn, text, per_second);
            write(&set, &path, dialect).unwrap();
            let file = read(&path).unwrap();
            prop_assert_eq!(file.dialect, dialect);
            prop_assert_eq!(file.notices, Vec::<String>::new());
            let names = !(dialect == Dialect::V5 && text);
            // Only Akita 5 has tags; Akita 3 and CSV have no milestones either.
            let left_out = match dialect {
                Dialect::V5 => 0,
                Dialect::V4 => 1,
                Dialect::V3 | Dialect::Csv => 2,
            };
            let scale = file.set.ticks_per_second() / per_second;
            let plain = |lines: Vec<String>| -> Vec<String> {
                let shorter = |line: String| line.rsplit_once(" / ").unwrap().0.to_owned();
                lines.into_iter().map(|line| (0..left_out).fold(line, |line, _| shorter(line))).collect()
            };
            let expected = if scale == 1 { set } else { made_scaled(&drawn, text, per_second, scale) };
            // A set of numbers has a parent of the number that it names, in every dialect.
            if names || dialect != Dialect::V5 {
                prop_assert_eq!(plain(told(&file.set, true)).len(), expected.len());
            }
            let names = names && dialect != Dialect::V5;
            prop_assert_eq!(plain(told(&file.set, names)), plain(told(&expected, names)), "{:?}", dialect);
        }
    }
}

/// The same with finer ticks.
fn made_scaled(drawn: &[Drawn], text: bool, per_second: u64, scale: u64) -> TaskSet {
    let scale = u32::try_from(scale).unwrap();
    let finer: Vec<Drawn> =
        drawn.iter().map(|&(a, b, c, start, length, wait, parent)| (a, b, c, start, length, wait, parent)).collect();
    let set = made(&finer, text, per_second);
    rescaled(&set, u64::from(scale))
}

fn rescaled(set: &TaskSet, scale: u64) -> TaskSet {
    let mut builder = TaskSetBuilder::new(set.ticks_per_second() * scale);
    for index in 0..TaskIndex::try_from(set.len()).unwrap() {
        let task = set.task(index);
        let (category, action) = (builder.word(task.category), builder.word(task.action));
        let location = builder.location(set.locations().word(task.location));
        let name = set.id(index);
        let above = task.parent.map(|parent| set.id(parent)).or_else(|| set.dangling_parent(index).map(str::to_owned));
        let (id, parent) = (TaskId::Text(&name), above.as_deref().map(TaskId::Text));
        let (start, end) = (task.start * scale, task.end * scale);
        builder.push(NewTask { id: &id, parent: parent.as_ref(), category, action, location, start, end }).unwrap();
    }
    builder.finish().set
}

#[test]
fn other_files_are_refused_by_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other");
    let said = |path: &std::path::Path| read(path).map(|_| ()).unwrap_err().to_string();
    fs::write(&path, "").unwrap();
    assert!(said(&path).starts_with("found an empty file; expected"), "{}", said(&path));
    fs::write(&path, "some text").unwrap();
    assert!(said(&path).starts_with("found something else; expected"), "{}", said(&path));
    fs::remove_file(&path).unwrap();
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch("CREATE TABLE people (name)").unwrap();
    assert!(said(&path).starts_with("found a database with no table `trace`"), "{}", said(&path));
    connection.execute_batch("CREATE TABLE trace (x, y)").unwrap();
    assert!(said(&path).starts_with("found a database with a table `trace` of x, y"), "{}", said(&path));
    // Cut where its tables stand, or only begun.
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    assert!(said(&path).starts_with("found a database with"), "{}", said(&path));
    fs::write(&path, &whole[..20]).unwrap();
    assert!(matches!(read(&path), Err(DaisenError::Database(_))));
}

#[test]
fn bad_rows_are_counted_and_good_ones_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.sqlite3");
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE trace (ID, ParentID, Kind, What, Location, StartTime, EndTime);
             INSERT INTO trace VALUES ('a', '', 'req_in', 'ReadReq', 'L2', 1e-9, 3e-9), ('a', '', 'req_in', 'ReadReq', 'L2', 2e-9, 3e-9),
               ('b', 'a', 'pipeline', NULL, 7, 1e-9, 2), ('c', 'a', 'req_in', 'x', 'L2', 5e-9, 4e-9), (NULL, '', 'x', 'x', 'x', 0, 0),
               ('d', '', 'x', 'x', 'x', -1.0, 0), ('e', '', 'x', 'x', 'x', 'soon', 1), ('f', 'g', 'x', 'x', 'x', 0, 0);
             CREATE TABLE milestone (ID, TaskID, Time, Kind, What, Location);
             INSERT INTO milestone VALUES (1, 'nobody', 0, 'data', 'x', 'L2');",
        )
        .unwrap();
    let file = read(&path).unwrap();
    assert_eq!((file.dialect, file.set.len(), file.set.dangling()), (Dialect::V4, 4, 1));
    assert_eq!(
        file.notices,
        [
            "3 rows without a name or a time from 0 up are left out",
            "1 tasks that end before they start are left out",
            "1 tasks are called as another one is; what names them means the first",
            "1 milestones and tags of tasks that are not there are left out",
        ]
    );
    connection.execute_batch("INSERT INTO trace VALUES ('y', '', 'x', 'x', 'x', 0, 9e999)").unwrap();
    assert_eq!(read(&path).unwrap().notices[0], "4 rows without a name or a time from 0 up are left out");
    connection.execute_batch("INSERT INTO trace VALUES ('z', '', 'x', 'x', 'x', 0, 1e8)").unwrap();
    assert!(matches!(read(&path), Err(DaisenError::Time(last)) if last == 1e8));
}

#[test]
fn what_is_good_of_a_damaged_file_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.sqlite3");
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch("CREATE TABLE trace (ID, ParentID, Kind, What, Location, StartTime, EndTime)").unwrap();
    for at in 0..3000 {
        let row = (at, at, at + 1);
        connection.execute("INSERT INTO trace VALUES (?1, '', 'req_in', 'ReadReq', 'L2', ?2, ?3)", row).unwrap();
    }
    drop(connection);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() / 2 / 4096 * 4096]).unwrap();
    let file = read(&path).unwrap();
    assert!((500..2500).contains(&file.set.len()), "{}", file.set.len());
    assert!(
        file.notices[0].starts_with("the file is damaged (database disk image is malformed)"),
        "{:?}",
        file.notices
    );
}

#[test]
fn the_first_rows_are_read_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.sqlite3");
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE trace (ID, ParentID, Kind, What, Location, StartTime, EndTime);
             CREATE TABLE milestone (ID, TaskID, Time, Kind, What, Location);
             INSERT INTO trace SELECT value || '', '', 'req_in', 'ReadReq', 'L2', value * 1e-9, (value + 2) * 1e-9
               FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 500) SELECT value FROM n);
             INSERT INTO milestone SELECT ID, ID, StartTime, 'data', 'x', 'L2' FROM trace;",
        )
        .unwrap();
    let first = read_first(&path, 20).unwrap().expect("a database");
    assert_eq!((first.set.len(), first.set.all_milestones().len(), first.dialect), (20, 20, Dialect::V4));
    let all = read(&path).unwrap().set;
    assert_eq!((all.len(), first.set.unit()), (500, all.unit()));
    let twenty = first.set.find("20").expect("among them");
    assert_eq!(first.set.end(twenty), all.end(all.find("20").expect("there")));
    assert_eq!(read_first(&path, 10_000).unwrap().map(|file| file.set.len()), Some(500));
    let text = folder.path().join("t.csv");
    fs::write(&text, "ID, ParentID, Kind, What, Where, Start, End\n").unwrap();
    assert!(read_first(&text, 20).unwrap().is_none());
    assert!(read_first(&folder.path().join("none"), 20).is_err());
}
