use super::*;
use crate::analysis::ElementDistances;
use crate::axis::Position;
use crate::overlay::Parts;
use crate::overlay::tests::{studio, studio_of};
use crate::reference::{
    Kind, LoopAt, LoopsAt, MemoryTrace, Reference, ReferenceSource, Region, SourceError as Wrong, Tables,
};
use crate::sim::Hierarchy;
use crate::sim::config::preset;
use std::sync::Arc;

fn take(exhibit: &mut TileExhibit, studio: &mut Studio, size: [u32; 2], view: View) -> (Taken, Vec<String>) {
    let shot = Shot::still(size, Position::at(700), view, Parts::default());
    let taken = shot.take(studio, exhibit).expect("in memory");
    let Picture::Plane(plane) = &taken.picture else { panic!("tiles are a plane") };
    let words = plane.words.iter().map(|words| words.text.clone()).collect();
    (taken, words)
}

#[test]
fn each_element_has_a_tile_that_tells_its_counts() {
    let mut studio = studio();
    let mut exhibit = TileExhibit::new(&studio);
    let (taken, words) = take(&mut exhibit, &mut studio, [1280, 720], View::default());
    for part in ["two arrays", "A[1024]", "B[1024]", "accesses", "read  A[700]"] {
        assert!(words.iter().any(|word| word == part), "{part} in {words:?}");
    }
    assert!(words.iter().any(|word| word.starts_with("525 accesses")), "{words:?}");
    let all: Vec<u64> = exhibit.drawn.iter().map(|(_, tiles)| tiles.sum.accesses()).collect();
    assert_eq!(all, [525, 175], "as the table of regions counts");
    let missed: Vec<u64> = exhibit.drawn.iter().map(|(_, tiles)| tiles.sum.misses.into()).collect();
    assert_eq!(missed, taken.info.regions.iter().map(|row| row.misses).collect::<Vec<_>>());
    // B[0] is the one that is written.
    let (placed, tiles) = &exhibit.drawn[1];
    assert_eq!((tiles.counts[0].writes, placed.grid.tiles()), (175, 1024));
    let at = placed.area(0).center();
    let tip = exhibit.pick(&studio, &taken, at, 4.0).expect("a tile is there");
    assert_eq!((tip.title.as_str(), tip.about), ("B[0]", Some(Target::Bytes(ByteRange::new(0x4000, 8)))));
    assert!(tip.lines.contains(&"touched 175×: written 175×".to_owned()), "{tip:?}");
    assert_eq!(exhibit.csv(&studio, &taken).lines().count(), 1 + 525 + 1);
}

#[test]
fn a_click_on_a_measure_shows_it_and_another_turns_its_colours_round() {
    let mut studio = studio();
    let mut exhibit = TileExhibit::new(&studio);
    assert_eq!(exhibit.arranged(), Arranged::default());
    exhibit.sort(3);
    let (taken, _) = take(&mut exhibit, &mut studio, [1280, 720], View::default());
    let Picture::Plane(plane) = &taken.picture else { panic!("tiles are a plane") };
    let columns = plane.rows.iter().filter_map(|(_, target)| match target {
        Target::Column(column, _) => Some(usize::from(*column)),
        _ => None,
    });
    let (headings, bars): (Vec<usize>, Vec<usize>) = columns.partition(|column| *column < THRESHOLDS);
    assert_eq!(headings, (0..THRESHOLDS).collect::<Vec<_>>());
    assert!(bars.len() > 2 && bars.is_sorted() && bars[0] == THRESHOLDS, "bars of the chart: {bars:?}");
    let distances = exhibit.drawn[1].1.distances.as_ref().expect("they are asked for");
    assert_eq!(distances[0].map(|three| three[0]), Some(1), "a line of A lies between");
    assert_eq!(exhibit.arranged().sort.and_then(|sort| sort.words(&COLUMNS)).as_deref(), Some("median-distance"));
    exhibit.sort(3);
    let turned = exhibit.arranged();
    assert_eq!(turned.sort.and_then(|sort| sort.words(&COLUMNS)).as_deref(), Some("median-distance:back"));
    let mut other = TileExhibit::new(&studio);
    other.arrange(turned.clone());
    assert_eq!(other.arranged(), turned);
}

#[test]
fn a_press_on_a_bar_tells_what_a_set_of_so_many_lines_misses() {
    let mut studio = studio();
    let mut exhibit = TileExhibit::new(&studio);
    let mut before = u64::MAX;
    for (column, lines) in [(THRESHOLDS, 1), (THRESHOLDS + 1, 2), (THRESHOLDS + 9, 512)] {
        assert_eq!((threshold(column), column_of(lines)), (Some(lines), u8::try_from(column).ok()));
        exhibit.arrange(Arranged { sort: Some(Sort::first(column)), ..Arranged::default() });
        let (_, words) = take(&mut exhibit, &mut studio, [1280, 720], View::default());
        let mut all = ElementDistances::new(&studio.tables().regions, 5);
        studio.timeline().each(0..700, |tick, reference| all.play(tick, reference, true)).expect("in memory");
        let mut sum = 0;
        for (placed, tiles) in &exhibit.drawn {
            let (missed, of_region) = tiles.missed.as_ref().expect("asked for");
            assert_eq!(*of_region, all.misses(placed.region, lines), "{lines} lines");
            // Each element is touched by itself, and lies in one line.
            assert_eq!(missed.iter().sum::<u64>(), *of_region, "{lines} lines");
            sum += of_region;
        }
        assert!(sum <= before, "more lines, no more misses: {sum} after {before}");
        before = sum;
        assert!(words.iter().any(|word| word.contains(&signs::one_set(lines))), "{words:?}");
    }
    assert_eq!((threshold(THRESHOLDS - 1), threshold(COLUMNS.len()), column_of(1 << 17)), (None, None, None));
}

#[test]
fn tiles_have_room_in_panes_of_any_size() {
    let mut studio = studio();
    let mut exhibit = TileExhibit::new(&studio);
    for size in [[1280, 720], [640, 360], [1920, 1080], [320, 240], [300, 700], [90, 60]] {
        let view = View { pin: Some(ByteRange::new(0x1000, 8)), ..View::default() };
        let (taken, _) = take(&mut exhibit, &mut studio, size, view);
        let area = taken.layout.area;
        for (placed, tiles) in &exhibit.drawn {
            let last = placed.area(tiles.counts.len() - 1);
            assert!(area.contains_rect(last), "{size:?}: {last:?}");
        }
        // Closer, and back.
        let closer = exhibit.look(Camera::default(), Gesture::Closer(2.0, None), &taken);
        assert!(size[0] < 200 || closer.zoom == 2.0 && closer.at[0] > 0.0, "{closer:?}");
        assert_eq!(exhibit.look(closer, Gesture::Closer(0.1, None), &taken), Camera::default());
        assert_eq!(exhibit.look(closer, Gesture::Whole, &taken), Camera::default());
    }
}

#[test]
fn without_a_named_array_the_picture_says_what_is_missing() {
    let references = (0..100).map(|n| Reference::new(Kind::Read, 0x1000 + 8 * n, 8)).collect();
    let mut studio = studio_of(references, Tables::default(), &preset("paper").expect("there"));
    let mut exhibit = TileExhibit::new(&studio);
    let (taken, words) = take(&mut exhibit, &mut studio, [1280, 720], View::default());
    assert!(words[0].contains("has a name"), "{words:?}");
    assert!(exhibit.pick(&studio, &taken, egui::pos2(300.0, 300.0), 4.0).is_none());
}

/// References that come from a loop.
struct Looped(MemoryTrace);

impl ReferenceSource for Looped {
    fn len(&self) -> u64 {
        self.0.len()
    }
    fn chunk_len(&self) -> u64 {
        self.0.chunk_len()
    }
    fn chunk(&self, index: u64) -> Result<Arc<[Reference]>, Wrong> {
        self.0.chunk(index)
    }
    fn tables(&self) -> &Tables {
        self.0.tables()
    }
    fn loops_at(&self, tick: u64) -> Option<LoopsAt> {
        let value = i64::try_from(tick).ok()?;
        let at = |name: &str, value, last, paced| LoopAt {
            name: name.into(),
            value,
            ends: Some((0, last)),
            step: 1,
            paced: Some(paced),
        };
        let loops = vec![at("i", value / 10, 99, (0, 10)), at("j", value % 10, 9, (tick / 10 * 10, 1))];
        Some(LoopsAt { loops, statement: "A[i, j]".into(), number: 0 })
    }
}

#[test]
fn loops_that_are_under_way_are_named() {
    let region = Region { shape: vec![100, 10].into(), ..Region::new("A", 0x1000, 8000) };
    let references = (0..1000).map(|n| Reference::new(Kind::Read, 0x1000 + 8 * n, 8)).collect();
    let tables = Tables { regions: vec![region], ..Tables::default() };
    let source = Arc::new(Looped(MemoryTrace::new(references, tables)));
    let hierarchy = Hierarchy::new(&preset("paper").expect("there")).expect("good");
    let mut studio = Studio::new(source, hierarchy, &mut |_, _| true).expect("in memory");
    let mut exhibit = TileExhibit::new(&studio);
    let (taken, words) = take(&mut exhibit, &mut studio, [1280, 720], View::default());
    for part in ["for i = 0..100", "i = 70", "for j = 0..10", "j = 0"] {
        assert!(words.iter().any(|word| word == part), "{part} in {words:?}");
    }
    assert_eq!(taken.info.now.why[0], "i = 70, j = 0");
    let Picture::Plane(plane) = &taken.picture else { panic!("tiles are a plane") };
    // A click on the bar of j goes to an iteration of this i.
    let ticks: Vec<u64> =
        plane.rows.iter().filter_map(|(_, t)| if let Target::Tick(tick) = t { Some(*tick) } else { None }).collect();
    assert!((700..710).all(|tick| ticks.contains(&tick)) && ticks.contains(&0), "{ticks:?}");
    assert!(ticks.iter().all(|tick| tick % 10 == 0 || (700..710).contains(tick)), "{ticks:?}");
    let (_, words) = take(&mut exhibit, &mut studio, [300, 300], View::default());
    assert!(words.iter().any(|word| word.starts_with("i = 70, j = 0   read")), "{words:?}");
}
