//! What is said of two machines side by side, and how it is sorted.

use super::rows::changed;
use super::*;
use crate::overlay::tests::{studio, studio_of, studio_under};
use crate::overlay::{Parts, Playback};
use crate::reference::{Kind, Reference, Tables};
use crate::sim::config::preset;
use crate::units::LevelId;

fn taken(studio: &mut Studio, position: u64, playback: Playback) -> Taken {
    let mut compare = CompareExhibit::new(studio);
    let shot = Shot::still([1100, 720], Position::at(position), View::default(), Parts::default());
    Shot { playback, ..shot }.take(studio, &mut compare).expect("in memory")
}

fn words(taken: &Taken) -> Vec<&str> {
    match &taken.picture {
        Picture::Plane(plane) => plane.words.iter().map(|words| words.text.as_str()).collect(),
        Picture::Rings(_) | Picture::Machine(..) | Picture::Solids(..) => panic!("a comparison is a plane"),
    }
}

/// A quarter of the lines of `paper`, in each cache.
fn smaller() -> Studio {
    let mut config = preset("paper").expect("there");
    config.name = "smaller".into();
    config.levels[0].size /= 4;
    config.levels[1].size /= 4;
    config.levels[0].line = 8;
    config.levels[1].line = 8;
    studio_under(&config)
}

#[test]
fn misses_of_both_machines_and_their_difference_stand_side_by_side() {
    let (mut now, before) = (smaller(), studio());
    let misses = |studio: &mut Studio| {
        studio.seek(Position::at(700), 1, 1, false).expect("in memory");
        let moment = studio.moment();
        moment.before.level_counters(LevelId(0)).demand_accesses()
            - moment.before.level_counters(LevelId(0)).demand_hits()
    };
    now.compare_with(Some(Baseline::caches(before)));
    let (a, b) = (misses(now.baseline_mut().expect("given")), misses(&mut now));
    assert!(b > a, "smaller lines miss more: {a} {b}");
    let taken = taken(&mut now, 700, Playback::default());
    let words = words(&taken);
    assert!(words.contains(&"A: paper     B: smaller"), "{words:?}");
    assert!(words.contains(&format!("+{}", grouped(b - a)).as_str()), "{words:?}");
    for part in [grouped(a), grouped(b)] {
        assert!(words.iter().any(|words| words.starts_with(&format!("{part} · "))), "{part} in {words:?}");
    }
}

#[test]
fn what_became_of_a_shape_is_told_in_few_words() {
    let [a, b, c] = ["512 B, 2 sets × 8 ways", "512 B, 4 sets × 4 ways", "1 KiB, 4 sets × 8 ways"];
    assert_eq!(changed(a, b), "2 sets × 8 ways → 4 sets × 4 ways");
    assert_eq!(
        [changed(a, c), changed(a, a), changed("not there", c)],
        ["512 B → 1 KiB", a, "not there → 1 KiB, 4 sets × 8 ways"]
    );
}

#[test]
fn between_the_points_both_count_the_same_references() {
    let mut now = smaller();
    now.compare_with(Some(Baseline::caches(studio())));
    let range = [Some(Position::at(100)), Some(Position::at(300))];
    let playback = Playback { range, ..Playback::default() };
    let taken = taken(&mut now, 700, playback);
    assert!(words(&taken).contains(&"misses references 100 to 300; less is better"), "{:?}", words(&taken));
    assert_eq!(taken.info.regions.iter().map(|row| row.references).sum::<u64>(), 200);
    assert_eq!(taken.info.tick, 700, "the playhead stays");
}

#[test]
fn of_two_traces_the_whole_of_both_is_told_wherever_the_playhead_stands() {
    let paper = preset("paper").expect("there");
    let reads = |n: u64| (0..n).map(|n| Reference::new(Kind::Read, 0x1000 + 8 * n, 8)).collect();
    let named = |title: &str| Tables { title: title.into(), ..Tables::default() };
    let mut now = studio_of(reads(2000), named("long"), &paper);
    let (baseline, _) = Baseline::trace(&now, studio_of(reads(400), named("short"), &paper), None);
    now.compare_with(Some(baseline));
    let mut compare = CompareExhibit::new(&now);
    for at in [0, 300, 1999] {
        let shot = Shot::still([1100, 720], Position::at(at), View::default(), Parts::default());
        shot.take(&mut now, &mut compare).expect("in memory");
        let (_, rows) = compare.rows.iter().find(|(name, _)| *name == "LEVELS, WHOLE TRACES").expect("two traces");
        let misses: Vec<_> = rows.iter().map(|row| (&*row.name, row.before, row.now)).collect();
        // A miss for each line of four elements.
        assert_eq!(misses, [("L1", Some(100), Some(500)), ("L2", Some(100), Some(500))], "{at}");
    }
    now.compare_with(Some(Baseline::caches(studio())));
    let mut compare = CompareExhibit::new(&now);
    let shot = Shot::still([1100, 720], Position::at(9), View::default(), Parts::default());
    shot.take(&mut now, &mut compare).expect("in memory");
    assert!(compare.rows.iter().all(|(name, _)| !name.contains("WHOLE")), "one trace ends at one moment");
}

#[test]
fn one_machine_alone_says_how_there_are_two() {
    assert_eq!(words(&taken(&mut studio(), 1, Playback::default()))[0], "Nothing to compare with.");
}

#[test]
fn rows_of_each_table_are_sorted_by_the_headings_and_copied_so() {
    let mut now = smaller();
    now.compare_with(Some(Baseline::caches(studio())));
    let mut compare = CompareExhibit::new(&now);
    let shot = Shot::still([1100, 720], Position::at(700), View::default(), Parts::default());
    let mut seen = Vec::new();
    for _ in 0..3 {
        compare.sort(2);
        let taken = shot.take(&mut now, &mut compare).expect("in memory");
        let csv = compare.csv(&now, &taken);
        let number = |line: &str| -> (String, u64) {
            let fields: Vec<&str> = line.split(',').collect();
            (fields[1].to_owned(), fields[4].parse().expect("B's misses"))
        };
        let regions: Vec<(String, u64)> = csv.lines().filter(|line| line.starts_with("regions,")).map(number).collect();
        // The order of the names that are drawn is that of the copy.
        let names: Vec<&str> =
            words(&taken).into_iter().filter(|words| regions.iter().any(|(name, _)| name == words)).collect();
        assert_eq!(names, regions.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>());
        let heading = words(&taken).into_iter().find(|words| words.ends_with('B') && words.len() < 6);
        seen.push((regions.iter().map(|(_, misses)| *misses).collect::<Vec<_>>(), heading.map(str::to_owned)));
    }
    let [(down, first), (up, second), (usual, third)] = &seen[..] else { panic!("three") };
    assert!(down.len() == 2 && down[0] > down[1] && up[0] < up[1], "{seen:?}");
    assert_eq!([first, second, third].map(|words| words.as_deref()), [Some("↓ B"), Some("↑ B"), Some("B")]);
    let levels = |csv: &str| csv.lines().filter(|line| line.starts_with("levels,")).count();
    let taken = shot.take(&mut now, &mut compare).expect("in memory");
    let csv = compare.csv(&now, &taken);
    assert_eq!((usual.len(), levels(&csv)), (2, 2));
    assert!(
        csv.starts_with("table,name,about,a_misses,b_misses,difference,a_miss_rate,b_miss_rate\nlevels,L1,"),
        "{csv}"
    );
}
