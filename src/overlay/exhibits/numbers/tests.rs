//! What the tables tell of a small trace, and how they are laid out.

use super::*;
use crate::axis::Position;
use crate::overlay::Parts;
use crate::overlay::plane::Words;
use crate::overlay::tests::studio;
use egui::Align2;

/// The tables at a position in an area of this size.
fn taken(size: [u32; 2], position: f64, camera: Camera) -> (Studio, NumberExhibit, Taken) {
    let mut studio = studio();
    let mut numbers = NumberExhibit::new(&studio);
    let shot = Shot::still(size, Position::of(position), View { camera, ..View::default() }, Parts::default());
    let taken = shot.take(&mut studio, &mut numbers).expect("in memory");
    (studio, numbers, taken)
}

fn plane(taken: &Taken) -> &Plane {
    match &taken.picture {
        Picture::Plane(plane) => plane,
        Picture::Rings(_) | Picture::Machine(..) | Picture::Solids(..) => panic!("numbers are a plane"),
    }
}

fn words(taken: &Taken) -> Vec<&str> {
    plane(taken).words.iter().map(|words| words.text.as_str()).collect()
}

#[test]
fn the_tables_tell_the_reference_the_levels_and_the_regions() {
    let (.., taken) = taken([1280, 720], 613.0, Camera::default());
    let words = words(&taken);
    for expected in ["613 of 1,000", "read  A[613]", "paper", "L1", "L2", "A[1024]", "B[1024]", "L1 miss", "miss rate"]
    {
        assert!(words.contains(&expected), "{expected} in {words:?}");
    }
    let [a, b] = [0, 1].map(|n| grouped(taken.info.regions[n].references));
    assert_eq!([a.as_str(), b.as_str()], ["460", "153"]);
    assert!(words.contains(&"460") && words.contains(&"153"), "{words:?}");
    let rows: Vec<Target> = plane(&taken).rows.iter().map(|(_, row)| *row).collect();
    let headings = [0, 1, 2].map(|n| Target::Column(n, COLUMNS[usize::from(n)].name));
    let regions = [0, 1].map(|n| [Target::Region(n), Target::Color(n)]).concat();
    assert_eq!(rows, [&[Target::Caches], &regions[..], &headings].concat());
    assert_eq!(plane(&taken).depth, 0.0, "all of it is seen");
}

#[test]
fn numbers_beside_the_rings_are_the_same_numbers() {
    let (mut studio, _, taken) = taken([800, 600], 613.5, Camera::default());
    let mut rings = crate::overlay::RingExhibit::new(&studio, crate::scene::Composition::Dots);
    let (_, info) = rings.scene(&mut studio, Position::of(613.5), &View::default()).expect("in memory");
    assert_eq!((&taken.info.caches, &taken.info.regions), (&info.caches, &info.regions));
    assert_eq!((&taken.info.now, taken.info.position, &taken.info.rings), (&info.now, info.position, &info.rings));
}

#[test]
fn what_does_not_fit_is_scrolled_to_and_no_further() {
    let (_, numbers, first) = taken([320, 200], 613.0, Camera::default());
    assert!(!words(&first).contains(&"B[1024]") && plane(&first).depth > 5.0, "{:?}", words(&first));
    let thumb = |taken: &Taken| plane(taken).bars.last().map(|bar| (bar.sides[1], bar.sides[3])).expect("a scroll bar");
    let (top, bottom) = thumb(&first);
    assert!(top == 0.0 && bottom < 0.6 * first.layout.strip.top(), "{top} to {bottom}");
    let camera = numbers.look(Camera::default(), Gesture::Wheel(-60.0, Pos2::ZERO), &first);
    assert!(camera.at[1] > 1.0 && camera.at[1] < plane(&first).depth, "{camera:?}");
    let end = numbers.look(camera, Gesture::Wheel(-1e6, Pos2::ZERO), &first);
    assert_eq!(end.at[1], plane(&first).depth);
    let (.., last) = taken([320, 200], 613.0, end);
    assert!(words(&last).iter().any(|word| word.starts_with('B')), "{:?}", words(&last));
    assert!(!words(&last).contains(&"REFERENCE"));
    assert!((thumb(&last).1 - last.layout.strip.top()).abs() < 0.5, "{:?}", thumb(&last));
    assert!((plane(&last).depth - plane(&first).depth).abs() < 0.01);
    assert!(numbers.look(end, Gesture::Whole, &last).is_whole());
    // Where there is room for all, a place that was scrolled to is not kept.
    let (.., roomy) = taken([1280, 720], 613.0, end);
    assert!(words(&roomy).contains(&"REFERENCE"));
}

#[test]
fn everything_stays_within_the_picture_at_any_size() {
    for size in [[1280, 720], [640, 560], [319, 250], [160, 120], [1920, 1080], [420, 900]] {
        let (.., taken) = taken(size, 400.5, Camera::default());
        let area = taken.layout.area.expand(0.5);
        for bar in &plane(&taken).bars {
            let [x0, y0, x1, y1] = bar.sides;
            assert!(area.contains(pos2(x0, y0)) && area.contains(pos2(x1, y1)), "{size:?}: {bar:?}");
        }
        for words in &plane(&taken).words {
            assert!(words.at.x >= area.left() && words.at.x <= area.right(), "{size:?}: {words:?}");
        }
        // A row's name ends before its numbers begin.
        let row = plane(&taken).rows.first().map(|(area, _)| *area);
        let Some(row) = row else { continue };
        let of_row: Vec<&Words> = plane(&taken).words.iter().filter(|w| row.contains(w.at + vec2(-0.1, 1.0))).collect();
        let name = of_row.iter().find(|w| w.anchor == Align2::LEFT_TOP);
        if let Some(name) = name {
            let numbers = of_row.iter().filter(|w| w.anchor == Align2::RIGHT_TOP);
            let from = numbers.map(|w| w.at.x - 0.62 * w.size * w.text.chars().count() as f32).fold(f32::MAX, f32::min);
            assert!(name.at.x + name.width <= from + 0.5 * name.size, "{size:?}: {name:?} to {from}");
        }
    }
}

#[test]
fn regions_are_sorted_by_their_headings_and_copied_so() {
    let (mut studio, mut numbers, first) = taken([1280, 720], 613.0, Camera::default());
    let regions = |taken: &Taken| -> Vec<usize> {
        let region = |(_, row): &(Rect, Target)| if let Target::Region(n) = row { Some(*n) } else { None };
        plane(taken).rows.iter().filter_map(region).collect()
    };
    assert_eq!(regions(&first), [0, 1]);
    let references = |n: usize| first.info.regions[n].references;
    assert!(references(0) > references(1));
    let shot = Shot::still([1280, 720], Position::of(613.0), View::default(), Parts::default());
    let mut seen = Vec::new();
    for _ in 0..3 {
        numbers.sort(1);
        let taken = shot.take(&mut studio, &mut numbers).expect("in memory");
        let csv = numbers.csv(&studio, &taken);
        let of_regions = csv.lines().filter_map(|line| line.strip_prefix("region,")?.split(',').next());
        assert_eq!(
            of_regions.collect::<Vec<_>>(),
            regions(&taken).iter().map(|&n| taken.info.regions[n].name.as_str()).collect::<Vec<_>>()
        );
        assert!(csv.contains("\nlevel,L1,"), "{csv}");
        let heading = words(&taken).into_iter().find(|words| words.ends_with("references")).map(str::to_owned);
        seen.push((regions(&taken), heading.unwrap_or_default()));
    }
    let expected = [(vec![0, 1], "↓ references"), (vec![1, 0], "↑ references"), (vec![0, 1], "references")];
    assert_eq!(seen, expected.map(|(order, words)| (order, words.to_owned())));
}

#[test]
fn a_row_of_a_region_can_be_pointed_at() {
    let (studio, numbers, taken) = taken([640, 560], 613.0, Camera::default());
    let (area, _) = *plane(&taken).rows.iter().find(|(_, row)| *row == Target::Region(1)).expect("a row for B");
    let tip = numbers.pick(&studio, &taken, area.center(), 6.0).expect("B");
    assert_eq!(tip.title, "B[1024]");
    assert!(tip.lines[2].starts_with("153 references"), "{tip:?}");
    assert_eq!(numbers.pick(&studio, &taken, pos2(1.0, 1.0), 6.0), None);
}
