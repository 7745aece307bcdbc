use super::*;
use crate::axis::Position;
use crate::overlay::Parts;
use crate::overlay::tests::studio_of;
use crate::reference::{Kind, Reference, Region, Tables};
use crate::sim::config::{HierarchyConfig, preset};
use std::sync::Arc;

/// An array of these extents; element n is written once by core n % 4, then read n % 3 times by core 0 and once by its owner.
fn studio(shape: &[u64]) -> Studio {
    let elements: u64 = shape.iter().product();
    let region = Region { elem_type: "double".into(), shape: shape.into(), ..Region::new("A", 0x1000, 8 * elements) };
    let at = |kind: Kind, n: u64, core: u64| Reference {
        core: u16::try_from(core).expect("small"),
        ..Reference::new(kind, 0x1000 + 8 * n, 8)
    };
    let mut all: Vec<Reference> = (0..elements).map(|n| at(Kind::Write, n, n % 4)).collect();
    for n in 0..elements {
        all.extend((0..n % 3).map(|_| at(Kind::Read, n, 0)));
        all.push(at(Kind::Read, n, n % 4));
    }
    let config = HierarchyConfig { cores: 4, ..preset("paper").expect("there") };
    studio_of(all, Tables { regions: vec![region], ..Tables::default() }, &config)
}

fn taken(exhibit: &mut ScatterExhibit, studio: &mut Studio, at: u64, look: SolidLook) -> Taken {
    let view = View { solids: Arc::new(look), ..View::default() };
    Shot::still([1280, 720], Position::at(at), view, Parts::default()).take(studio, exhibit).expect("in memory")
}

fn words(taken: &Taken) -> Vec<String> {
    taken.picture.plane().map(|plane| plane.words.iter().map(|words| words.text.clone()).collect()).unwrap_or_default()
}

fn whole(glyphs: Glyphs) -> SolidLook {
    SolidLook { slices: 1, window: Some((0, 1)), glyphs, ..SolidLook::default() }
}

/// Core, row, column and number of each glyph.
fn found(exhibit: &ScatterExhibit) -> Vec<(usize, usize, usize, f64)> {
    let (_, _, glyphs) = exhibit.counted.as_ref().expect("counted");
    glyphs.iter().map(|g| (g.of[0], g.cell[0], g.cell[1], g.number)).collect()
}

#[test]
fn each_core_that_refers_to_an_element_has_a_glyph_as_high_as_its_accesses() {
    let mut exhibit = ScatterExhibit::default();
    let taken = taken(&mut exhibit, &mut studio(&[3, 4]), 9, whole(Glyphs::Processor));
    let mut expect = Vec::new();
    for n in 0..12usize {
        for core in 0..4 {
            let own = if core == n % 4 { 2 } else { 0 };
            let number = own + if core == 0 { n % 3 } else { 0 };
            if number > 0 {
                expect.push((core, n / 4, n % 4, number as f64));
            }
        }
    }
    assert_eq!(found(&exhibit), expect);
    let said = words(&taken);
    for told in ["height: accesses", "a glyph an element and core", "core that accessed", "row", "column", "A[3][4]"] {
        assert!(said.iter().any(|words| words == told), "{told}: {said:?}");
    }
    assert_eq!(taken.picture.solids().map(|facets| facets.corners.iter().all(|c| c.at[0].is_finite())), Some(true));
}

#[test]
fn colours_tell_owners_or_local_and_remote_where_that_is_asked_for() {
    let mut exhibit = ScatterExhibit::default();
    taken(&mut exhibit, &mut studio(&[3, 4]), 9, whole(Glyphs::Owner));
    let (_, _, glyphs) = exhibit.counted.as_ref().expect("counted");
    for (n, glyph) in glyphs.iter().enumerate() {
        assert_eq!(glyph.color, palette::region(n % 4), "owned by who wrote it first");
        assert_eq!(glyph.number, 2.0 + (n % 3) as f64);
    }
    taken(&mut exhibit, &mut studio(&[3, 4]), 9, whole(Glyphs::Local));
    let (_, _, glyphs) = exhibit.counted.as_ref().expect("counted");
    let colors: Vec<_> = glyphs.iter().map(|glyph| glyph.color).collect();
    // Element 2 has two local accesses and two remote ones, element 4 three local ones.
    assert_eq!(colors[2], palette::owned(0.0, false));
    assert_eq!(colors[4], palette::owned(1.0, false));
    let told = words(&taken(&mut exhibit, &mut studio(&[3, 4]), 9, whole(Glyphs::Local)));
    assert!(told.iter().any(|words| words == "remote, local"), "{told:?}");
}

#[test]
fn the_window_slides_and_heights_keep_their_scale() {
    let mut studio = studio(&[16, 16]);
    let len = studio.timeline().len();
    let mut exhibit = ScatterExhibit::default();
    let mut tops = Vec::new();
    for at in [len / 4, len / 2, len - 1] {
        let said = words(&taken(&mut exhibit, &mut studio, at, SolidLook::default()));
        let (counted, ..) = exhibit.counted.as_ref().expect("counted");
        assert_eq!(counted.window.len(), INTERVAL);
        assert!(counted.window.end as u64 * len / 64 <= at + 1, "{:?} at {at}", counted.window);
        let numbers: Vec<String> =
            said.iter().filter(|words| words.parse::<u32>().is_ok_and(|n| n > 0)).cloned().collect();
        tops.push(numbers);
    }
    assert!(tops[0] == tops[1] && tops[1] == tops[2], "{tops:?}");
}

#[test]
fn a_row_is_folded_a_plane_of_a_cube_is_named_and_nothing_is_said() {
    let mut exhibit = ScatterExhibit::default();
    let row = words(&taken(&mut exhibit, &mut studio(&[30]), 9, whole(Glyphs::Processor)));
    assert!(row.iter().any(|words| words.contains("its one dimension in rows of 5")), "{row:?}");
    let cube = words(&taken(&mut exhibit, &mut studio(&[3, 4, 5]), 9, whole(Glyphs::Processor)));
    assert!(cube.iter().any(|words| words == "A[3][4][5], of which A[1]"), "{cube:?}");
    let start = words(&taken(&mut exhibit, &mut studio(&[3, 4]), 0, SolidLook::default()));
    assert!(start.iter().any(|words| words.starts_with("no access to this array")), "{start:?}");
    let high = SolidLook { threshold: Some(4), ..whole(Glyphs::Owner) };
    let said = words(&taken(&mut exhibit, &mut studio(&[3, 4]), 9, high));
    assert_eq!(found(&exhibit).len(), 4, "n % 3 == 2: four accesses");
    assert!(said.iter().any(|words| words.contains("what has fewer than 4 is left out")), "{said:?}");
}

#[test]
fn a_glyph_tells_its_core_and_a_click_takes_other_glyphs() {
    let mut exhibit = ScatterExhibit::default();
    let mut studio = studio(&[3, 4]);
    let taken = taken(&mut exhibit, &mut studio, 9, whole(Glyphs::Processor));
    let facets = taken.picture.solids().expect("solids");
    let elements = 12;
    let (corners, about) = facets
        .each()
        .filter(|(_, about)| *about != crate::scene::solids::mesh::NOTHING)
        .min_by(|(a, _), (b, _)| a[0].depth.total_cmp(&b[0].depth))
        .expect("one");
    let at = [0, 1].map(|n| corners.iter().map(|c| c.at[n]).sum::<f32>() / 3.0);
    let tip = exhibit.pick(&studio, &taken, pos2(at[0], at[1]), 4.0).expect("a glyph");
    let [core, _] = scatter::told(about, elements);
    assert!(tip.lines[0].starts_with(&format!("accesses of core {core}: ")), "{:?}", tip.lines);
    let look = choices::clicked(&exhibit, GLYPHS, whole(Glyphs::Processor));
    let said = words(&self::taken(&mut exhibit, &mut studio, 9, look.clone()));
    assert!(said.iter().any(|words| words == "core that owns"), "{said:?}");
    let look = choices::clicked(&exhibit, MEASURE, look);
    let said = words(&self::taken(&mut exhibit, &mut studio, 9, look));
    assert!(said.iter().any(|words| words == "height: reads"), "{said:?}");
}
