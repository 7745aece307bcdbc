use super::*;
use crate::axis::Position;
use crate::overlay::Parts;
use crate::overlay::pen::Target;
use crate::overlay::tests::{studio, studio_of};
use crate::reference::{Kind, Reference, Region, Tables};
use crate::scene::solids::SolidLook;
use crate::sim::config::{HierarchyConfig, preset};
use std::sync::Arc;

fn taken(exhibit: &mut PlaneExhibit, studio: &mut Studio, size: [u32; 2], look: SolidLook) -> Taken {
    let view = View { solids: Arc::new(look), ..View::default() };
    Shot::still(size, Position::at(900), view, Parts::default()).take(studio, exhibit).expect("in memory")
}

fn words(taken: &Taken) -> Vec<String> {
    taken.picture.plane().map(|plane| plane.words.iter().map(|words| words.text.clone()).collect()).unwrap_or_default()
}

#[test]
fn an_array_is_drawn_in_rooms_of_all_forms_and_no_words_overlap() {
    for size in [[1280, 720], [640, 360], [360, 700], [320, 240]] {
        for (measure, ..) in Measure::ALL {
            let (mut studio, mut exhibit) = (studio(), PlaneExhibit::default());
            let taken = taken(&mut exhibit, &mut studio, size, SolidLook { measure, ..SolidLook::default() });
            let facets = taken.picture.solids().expect("solids");
            assert!(facets.about.len() > 10, "{measure} at {size:?}");
            assert!(
                facets.corners.iter().all(|c| c.at.iter().all(|v| v.is_finite()) && (0.0..=1.0).contains(&c.depth))
            );
            let area = taken.layout.area;
            let plane = taken.picture.plane().expect("words");
            assert!(plane.words.iter().all(|words| area.contains(words.at)), "{measure} at {size:?}");
            assert!(words(&taken).iter().any(|w| w.contains(measure.what())), "{measure}: {:?}", words(&taken));
        }
    }
}

#[test]
fn what_is_needed_is_said_where_there_is_nothing_to_draw() {
    let (mut studio, mut exhibit) = (studio(), PlaneExhibit::default());
    let none = SolidLook { array: Some("nothing".into()), ..SolidLook::default() };
    assert_eq!(words(&taken(&mut exhibit, &mut studio, [900, 600], none)), ["No array is called nothing."]);
    let deals = SolidLook { owner: "block,block,block,block".parse().expect("deals"), ..SolidLook::default() };
    let said = words(&taken(&mut exhibit, &mut studio, [900, 600], deals));
    assert!(said[0] == "It cannot be counted." && said[1].contains("distribution of 4 dimensions"), "{said:?}");
    // One core: every access is local, and that is said.
    let said = words(&taken(&mut exhibit, &mut studio, [900, 600], SolidLook::default()));
    assert!(said.iter().any(|words| words.starts_with("all references are of one core")), "{said:?}");
    // Slices in which nothing happens.
    let empty = SolidLook { window: Some((7, 7)), ..SolidLook::default() };
    let said = words(&taken(&mut exhibit, &mut studio, [900, 600], empty));
    assert!(said.iter().any(|words| words.starts_with("no access to this array")), "{said:?}");
}

#[test]
fn slices_past_the_end_are_refused_with_how_many_there_are() {
    let (mut studio, mut exhibit) = (studio(), PlaneExhibit::default());
    for (window, slices) in [((60, 65), 64), ((0, 9), 8), ((200, 300), 64)] {
        let look = SolidLook { window: Some(window), slices, ..SolidLook::default() };
        let said = words(&taken(&mut exhibit, &mut studio, [900, 600], look));
        let expect =
            format!("Slices {} to {} are not all there: the trace has {slices}, from 0 on.", window.0, window.1);
        assert_eq!(said[0], expect);
        assert!(said[1].contains("--slices N cuts finer"), "{said:?}");
    }
    let last = SolidLook { window: Some((60, 64)), ..SolidLook::default() };
    assert!(taken(&mut exhibit, &mut studio, [900, 600], last).picture.solids().is_some());
}

#[test]
fn what_is_counted_elsewhere_is_asked_for_and_shown_when_it_is_there() {
    let (mut studio, mut exhibit) = (studio(), PlaneExhibit::default());
    studio.answer_elsewhere();
    let first = taken(&mut exhibit, &mut studio, [900, 600], SolidLook::default());
    assert_eq!(words(&first), ["It is being counted."]);
    let asked = studio.wanted_answer(true, false).expect("asked for");
    assert!(studio.take_answer(&asked.timeline, asked.answer(&|| true).expect("in memory")));
    assert!(taken(&mut exhibit, &mut studio, [900, 600], SolidLook::default()).picture.solids().is_some());
}

#[test]
fn an_element_is_found_where_it_is_drawn_and_told_in_words() {
    let (mut studio, mut exhibit) = (studio(), PlaneExhibit::default());
    let taken = taken(&mut exhibit, &mut studio, [900, 600], SolidLook { form: Form::Towers, ..SolidLook::default() });
    let facets = taken.picture.solids().expect("solids");
    let (corners, _) = facets.each().find(|(_, about)| *about == 0).expect("one");
    let middle = [0, 1].map(|n| corners.iter().map(|c| c.at[n]).sum::<f32>() / 3.0);
    let tip = exhibit.pick(&studio, &taken, pos2(middle[0], middle[1]), 4.0).expect("an element");
    assert!(tip.title.contains('['), "{}", tip.title);
    assert!(tip.lines.iter().any(|line| line.starts_with("reads: ")) && tip.lines.iter().any(|l| l == "owner: core 0"));
    assert!(matches!(tip.about, Some(Target::Bytes(_))));
}

#[test]
fn a_drag_turns_the_wheel_goes_closer_and_both_are_a_camera_of_the_command_line() {
    let mut camera = Camera::default();
    for _ in 0..40 {
        camera = turned(camera, Gesture::Drag(vec2(37.0, 11.0)));
        camera = turned(camera, Gesture::Wheel(30.0, pos2(9.0, 9.0)));
        assert!(camera.is_sound(true), "{camera:?}");
    }
    assert_ne!(Orbit::of(camera.at), Orbit::of([0.0; 2]));
    assert!(turned(camera, Gesture::Whole).is_whole());
}

/// An array of 3 x 4 x 5 elements, read ten times each.
fn studio_of_cubes() -> Studio {
    let region = Region { elem_type: "double".into(), shape: vec![3, 4, 5].into(), ..Region::new("A", 0x1000, 8 * 60) };
    let references = (0..600u64).map(|n| Reference::new(Kind::Read, 0x1000 + 8 * (n % 60), 8)).collect();
    let tables = Tables { regions: vec![region], ..Tables::default() };
    studio_of(references, tables, &preset("paper").expect("there"))
}

#[test]
fn measure_and_form_are_changed_by_a_click() {
    let (mut studio, mut exhibit) = (studio(), PlaneExhibit::default());
    let before = taken(&mut exhibit, &mut studio, [900, 600], SolidLook::default());
    let rows = &before.picture.plane().expect("words").rows;
    assert!(rows.iter().any(|(_, target)| *target == Target::Column(MEASURE.0, MEASURE.1)));
    let look = choices::clicked(&exhibit, MEASURE, SolidLook::default());
    let after = taken(&mut exhibit, &mut studio, [900, 600], look);
    assert!(words(&after).iter().any(|words| words == "accesses"), "{:?}", words(&after));
    let look = choices::clicked(&exhibit, FORM, SolidLook::default());
    let after = taken(&mut exhibit, &mut studio, [900, 600], look);
    assert!(words(&after).iter().any(|words| words == "spheres"), "{:?}", words(&after));
}

#[test]
fn a_part_of_an_array_is_named_and_its_rows_keep_their_numbers() {
    let (mut studio, mut exhibit) = (studio_of_cubes(), PlaneExhibit::default());
    let shown = |studio: &mut Studio, exhibit: &mut PlaneExhibit, part: &str| {
        let look = SolidLook { part: part.parse().expect("a part"), ..SolidLook::default() };
        words(&taken(exhibit, studio, [1280, 720], look))
    };
    let said = shown(&mut studio, &mut exhibit, "2,1..3");
    assert_eq!(said[0], "A[3][4][5], of which A[2][1..3]");
    assert!(said.iter().any(|word| word == "1") && said.iter().any(|word| word == "2"), "{said:?}");
    let shot = exhibit.counted.as_ref().expect("counted");
    assert_eq!((shot.rows, shot.columns), (2, 5));
    let csv = shot.csv();
    assert!(csv.starts_with("row,column,elements,owner,") && csv.contains("\n1,4,A[2][2][4],"), "{csv}");
    let said = shown(&mut studio, &mut exhibit, "7");
    assert!(
        said.iter().any(|line| line == "A: found 7 in dimension 0 (from 0); expected indices below 3."),
        "{said:?}"
    );
    let said = shown(&mut studio, &mut exhibit, "0,0,0,0");
    assert!(said.iter().any(|line| line.contains("indices of 4 dimensions; expected those of 3")), "{said:?}");
}

#[test]
fn what_a_trace_does_not_have_is_refused_with_its_flag() {
    let studio = studio_of_cubes();
    let of = |part: &str, owner: &str, core: Option<u16>| {
        let (part, owner) = (part.parse().expect("a part"), owner.parse().expect("a distribution"));
        refused(&studio, &SolidLook { part, owner, core, ..SolidLook::default() })
    };
    assert_eq!(of("2,1..3", "block,*", Some(0)), None);
    let said = [of("7", "block", None), of("*", "*,*,*,block", None), of("*", "block", Some(64))];
    let flags = ["--elements: A: found 7 ", "--owner: A: found a distribution of 4 ", "--of-core 64: expected "];
    for (said, flag) in said.into_iter().zip(flags) {
        assert!(said.as_ref().is_some_and(|said| said.starts_with(flag)), "{said:?}");
    }
}

#[test]
fn few_rows_of_many_elements_are_broad_enough_to_be_seen() {
    let halves = |[rows, columns]: [usize; 2]| {
        let above = vec![1.0; rows * columns];
        // Across, then back.
        Ground::of(&crate::scene::solids::Heights { rows, columns, above, ..Default::default() }).half
    };
    assert_eq!(halves([64, 64]), [1.0, 1.0]);
    assert_eq!(halves([8, 16]), [1.0, 0.5], "as broad as they are");
    for (extents, half) in [([3, 5000], [1.0, 0.2]), ([5000, 3], [0.2, 1.0]), ([1, 300], [1.0, 0.075])] {
        let found = halves(extents);
        assert!(found.iter().zip(half).all(|(found, half)| (found - half).abs() < 1e-5), "{extents:?}: {found:?}");
    }
}

#[test]
fn colours_tell_another_measure_with_a_scale_of_its_own() {
    let (mut studio, mut exhibit) = (studio_of_cubes(), PlaneExhibit::default());
    for color in [Measure::Misses, Measure::Evictions, Measure::Difference] {
        let look = SolidLook { measure: Measure::Reads, color: Some(color), ..SolidLook::default() };
        let taken = taken(&mut exhibit, &mut studio, [1280, 720], look);
        let said = words(&taken);
        assert!(
            said.iter().any(|word| word == "height: reads") && said.iter().any(|word| word == color.what()),
            "{said:?}"
        );
    }
}

#[test]
fn stills_of_the_usual_sizes_are_of_one_form_alone() {
    // 72, 272 and 4,160 elements, as in the paper's figures.
    for (shape, form) in [([8, 9], "spheres"), ([16, 17], "towers"), ([64, 65], "sheet")] {
        let elements: u64 = shape.iter().product();
        let region =
            Region { elem_type: "double".into(), shape: shape.into(), ..Region::new("A", 0x1000, 8 * elements) };
        let at = |kind: Kind, n: u64, core: u64| Reference {
            core: u16::try_from(core).expect("small"),
            ..Reference::new(kind, 0x1000 + 8 * n, 8)
        };
        // Written by one core, read by all others: as much up as down.
        let mut references: Vec<Reference> = (0..elements).map(|n| at(Kind::Write, n, n % 4)).collect();
        references
            .extend((0..3 * elements).map(|n| at(Kind::Read, n % elements, (n % elements + 1 + n / elements) % 4)));
        let tables = Tables { regions: vec![region], ..Tables::default() };
        let config = HierarchyConfig { cores: 4, ..preset("paper").expect("there") };
        let mut studio = studio_of(references, tables, &config);
        // Stills are laid out in so many points, whatever their pixels.
        let mut exhibit = PlaneExhibit::default();
        let said = words(&taken(&mut exhibit, &mut studio, [640, 360], SolidLook::default()));
        assert!(said.iter().any(|word| *word == format!("{form}, as there is room")), "{said:?}");
        assert_eq!(exhibit.shape.and_then(|shape| shape.becomes), None, "{shape:?}");
    }
}

#[test]
fn of_three_dimensions_a_plane_says_which_it_is_of_and_a_tube_has_all() {
    let mut studio = studio_of_cubes();
    let mut shown = |exhibit: &mut dyn Exhibit| {
        let shot = Shot::still([1280, 720], Position::at(600), View::default(), Parts::default());
        let taken = shot.take(&mut studio, exhibit).expect("in memory");
        let title = words(&taken).into_iter().find(|words| words.starts_with("A[3][4][5]"));
        (
            title,
            taken.picture.solids().map(|facets| facets.about.iter().filter(|about| **about != u32::MAX).max().copied()),
        )
    };
    let (title, last) = shown(&mut PlaneExhibit::default());
    assert_eq!(title.as_deref(), Some("A[3][4][5], of which A[1]"));
    assert_eq!(last, Some(Some(19)), "4 x 5 elements of the middle plane");
    let (title, last) = shown(&mut TubeExhibit::default());
    assert_eq!(title.as_deref(), Some("A[3][4][5]"));
    assert_eq!(last, Some(Some(60 * 14 - 1)), "60 elements, 14 steps between 15 slices");
}
