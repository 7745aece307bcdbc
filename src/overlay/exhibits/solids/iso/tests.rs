use super::*;
use crate::axis::Position;
use crate::overlay::Parts;
use crate::overlay::pen::Target;
use crate::overlay::tests::studio_of;
use crate::reference::{Kind, Reference, Region, Tables};
use crate::sim::config::preset;
use std::sync::Arc;

/// An array of these extents, of which each element is read as often as `times` says of its number, one after the other.
fn studio(shape: &[u64], times: impl Fn(u64) -> u64) -> Studio {
    let elements: u64 = shape.iter().product();
    let region = Region { elem_type: "double".into(), shape: shape.into(), ..Region::new("A", 0x1000, 8 * elements) };
    let read = |n: u64| Reference::new(Kind::Read, 0x1000 + 8 * n, 8);
    let mut references: Vec<Reference> = (0..elements).flat_map(|n| (0..times(n)).map(move |_| read(n))).collect();
    references.push(Reference::new(Kind::Read, 0x9_0000, 8));
    studio_of(references, Tables { regions: vec![region], ..Tables::default() }, &preset("paper").expect("there"))
}

fn taken(exhibit: &mut IsoExhibit, studio: &mut Studio, at: u64, look: SolidLook) -> Taken {
    let view = View { solids: Arc::new(look), ..View::default() };
    Shot::still([1280, 720], Position::at(at), view, Parts::default()).take(studio, exhibit).expect("in memory")
}

fn words(taken: &Taken) -> Vec<String> {
    taken.picture.plane().map(|plane| plane.words.iter().map(|words| words.text.clone()).collect()).unwrap_or_default()
}

/// All of it at once.
fn whole() -> SolidLook {
    SolidLook { slices: 1, window: Some((0, 1)), measure: Measure::Reads, ..SolidLook::default() }
}

#[test]
fn surfaces_of_hand_made_counts_are_told_with_their_values() {
    // 12 reads of the elements of plane 3, 0 of those of plane 0.
    let mut studio = studio(&[4, 5, 6], |n| 4 * (n / 30));
    let mut exhibit = IsoExhibit::default();
    let taken = taken(&mut exhibit, &mut studio, 9, whole());
    let said = words(&taken);
    assert!(said.iter().any(|words| words == "surfaces at 2, 4, 6, 8, 10"), "{said:?}");
    assert!(said.iter().any(|words| words == "A[4][5][6]") && said.iter().any(|words| words == "plane"), "{said:?}");
    let facets = taken.picture.solids().expect("solids");
    assert!(facets.corners.iter().all(|c| c.at.iter().all(|v| v.is_finite())));
    // Five flat surfaces, each of two triangles a tetrahedron's face at least; 4 x 5 cubes a surface.
    let patches = facets.about.len() - facets.solid;
    assert!(patches >= 5 * 2 * 4 * 5, "{patches}");
    let csv = exhibit.csv(&studio, &taken);
    assert!(csv.lines().any(|line| line == "3,4,5,A[3][4][5],0,12,0,0,0,0,96"), "{csv}");
    // What is pointed at is the nearest element of the nearest surface.
    let at = [0, 1].map(|n| facets.each().next_back().expect("one").0.iter().map(|c| c.at[n]).sum::<f32>() / 3.0);
    let tip = exhibit.pick(&studio, &taken, pos2(at[0], at[1]), 4.0).expect("an element");
    assert!(tip.title.starts_with("A[") && tip.lines[0].starts_with("reads: "), "{} {:?}", tip.title, tip.lines);
}

#[test]
fn named_values_are_drawn_where_numbers_reach_them_and_said_where_not() {
    let mut studio = studio(&[4, 4, 4], |n| n / 16);
    let values = "1.5,70".parse().expect("numbers");
    let said = words(&taken(&mut IsoExhibit::default(), &mut studio, 9, SolidLook { isovalues: values, ..whole() }));
    assert!(said.iter().any(|words| words == "surfaces at 1.5, 70"), "{said:?}");
    assert!(said.iter().any(|words| words.contains("no surface at 70: numbers here are 0 to 3")), "{said:?}");
}

#[test]
fn what_is_needed_is_said_where_there_is_no_surface() {
    let said = |shape: &[u64], times: u64, look: SolidLook| {
        words(&taken(&mut IsoExhibit::default(), &mut studio(shape, |_| times), 9, look))
    };
    for (shape, found) in [
        (&[64][..], "A[64]: it has one dimension."),
        (&[8, 9], "A[8][9]: it has two dimensions."),
        (&[1, 8, 9], "A[1][8][9]: one of its dimensions has one element."),
    ] {
        let said = said(shape, 1, whole());
        assert_eq!(said[0], found);
        assert!(said[1].starts_with("Isosurfaces are of an array with three dimensions"), "{said:?}");
        assert!(said[2].starts_with("--array NAME"), "{said:?}");
    }
    let equal = said(&[3, 3, 3], 2, whole());
    assert!(equal[0].starts_with("A[3][3][3]: 2 is counted of each element"), "{equal:?}");
    let nothing = said(&[3, 3, 3], 2, SolidLook { measure: Measure::Writes, ..whole() });
    assert!(nothing[0].starts_with("A[3][3][3]: nothing of it is counted"), "{nothing:?}");
    // Of four dimensions three are shown, and which they are is said.
    let mut studio = studio(&[2, 3, 4, 5], |n| n % 7);
    let said = words(&taken(&mut IsoExhibit::default(), &mut studio, 9, whole()));
    assert!(said.iter().any(|words| words == "A[2][3][4][5], of which A[0]"), "{said:?}");
}

#[test]
fn an_array_of_three_dimensions_is_taken_before_others_and_values_stay_while_the_playhead_moves() {
    let cube = Region { elem_type: "double".into(), shape: vec![4; 3].into(), ..Region::new("cube", 0x1000, 8 * 64) };
    let plane = Region { elem_type: "double".into(), shape: vec![8; 2].into(), ..Region::new("plane", 0x4000, 8 * 64) };
    let read =
        |n: u64| Reference::new(Kind::Read, if n.is_multiple_of(3) { 0x1000 } else { 0x4000 } + 8 * (n * n % 64), 8);
    let tables = Tables { regions: vec![plane, cube], ..Tables::default() };
    let mut studio = studio_of((0..3000).map(read).collect(), tables, &preset("paper").expect("there"));
    let mut exhibit = IsoExhibit::default();
    let look = SolidLook { measure: Measure::Reads, ..SolidLook::default() };
    let mut told = Vec::new();
    for at in [0, 400, 1500, 2990] {
        let said = words(&taken(&mut exhibit, &mut studio, at, look.clone()));
        assert!(said.iter().any(|words| words == "cube[4][4][4]"), "{said:?}");
        let surfaces = said.iter().find(|words| words.starts_with("surfaces at ")).expect("told").clone();
        let slices = said.iter().find(|words| words.starts_with("slices ")).expect("told").clone();
        told.push((surfaces, slices));
    }
    assert!(told.iter().all(|(surfaces, _)| *surfaces == told[0].0), "{told:?}");
    assert!(told[1].1.starts_with("slices 0 to 8 of 64") && told[2].1.starts_with("slices 24 to 32 of 64"), "{told:?}");
}

#[test]
fn measure_and_values_are_changed_by_a_click() {
    let mut studio = studio(&[4, 4, 4], |n| n / 16);
    let mut exhibit = IsoExhibit::default();
    let before = taken(&mut exhibit, &mut studio, 9, whole());
    let rows = &before.picture.plane().expect("words").rows;
    assert!(rows.iter().any(|(_, target)| *target == Target::Column(VALUES.0, VALUES.1)));
    let look = choices::clicked(&exhibit, VALUES, whole());
    let said = words(&taken(&mut exhibit, &mut studio, 9, look.clone()));
    assert!(said.iter().any(|words| words.split(',').count() == 7 && words.starts_with("surfaces at 0.4")), "{said:?}");
    let look = choices::clicked(&exhibit, MEASURE, look);
    let said = words(&taken(&mut exhibit, &mut studio, 9, look));
    assert!(said[0].contains("nothing of it is counted"), "writes: {said:?}");
}
