//! Checks of the module above.

use super::*;
use crate::axis::Position;
use crate::overlay::exhibits::RingExhibit;
use crate::overlay::tests::{studio, studio_under};
use crate::reference::{Kind, MemoryTrace, Reference, Tables};
use crate::scene::layout::Closeness;
use crate::scene::motion::position_at;
use crate::scene::palette;
use crate::scene::{Camera, Composition, View};
use crate::sim::config::{HierarchyConfig, preset};
use std::sync::Arc;

/// A studio, the rings of it, and what they showed last.
struct Drawn {
    studio: Studio,
    rings: RingExhibit,
    scene: Scene,
    info: Info,
}

impl Drawn {
    fn new(mut studio: Studio, position: f64, view: &View) -> Self {
        let mut rings = RingExhibit::new(&studio, Composition::Dots);
        let (scene, info) = rings.scene(&mut studio, Position::of(position), view).expect("in memory");
        Self { studio, rings, scene, info }
    }

    fn draw(&mut self, position: f64, view: &View) {
        (self.scene, self.info) = self.rings.scene(&mut self.studio, Position::of(position), view).expect("in memory");
    }

    fn tip_at(&self, p: [f32; 2], reach: f32) -> Option<(Tip, Option<usize>)> {
        tip_at(&self.studio, self.rings.stage(), &self.scene, &self.info, p, reach)
    }
}

fn drawn_at(position: f64) -> Drawn {
    Drawn::new(studio(), position, &View::default())
}

/// The tip at the glyph of the byte at `addr` that is no ghost and not at home.
fn tip_of(drawn: &Drawn, addr: u64) -> Tip {
    let scene = &drawn.scene;
    let id = addr / drawn.rings.stage().items().glyph_bytes;
    let glyph = scene.glyphs.iter().find(|g| g.id == id && (2..=3).contains(&g.layer)).expect("is in a cache");
    drawn.tip_at(position_at(&scene.rings.sectors, &glyph.flight, scene.now), 0.001).expect("something").0
}

#[test]
fn a_glyph_tells_name_address_place_and_last_touch() {
    // References 0, 1, 2 read A[0..3], 3 writes B[0]; paper has 32-byte lines, so one line of each is in L1 and L2.
    let drawn = drawn_at(6.0);
    let a = tip_of(&drawn, 0x1008);
    assert_eq!((a.title.as_str(), a.color), ("A[1]", Some(palette::region(0))));
    assert_eq!(a.lines[0], "0x1008, 8 bytes");
    assert!(a.lines[1].starts_with("in L1: set ") && !a.lines[1].contains("dirty"), "{a:?}");
    assert!(a.lines[2].starts_with("copy in L2: set "), "{a:?}");
    assert_eq!(a.lines.last().map(String::as_str), Some("last touched at 1, 5 ago"));
    let b = tip_of(&drawn, 0x4000);
    assert_eq!(b.title, "B[0]");
    assert!(b.lines[1].starts_with("in L1") && b.lines[1].ends_with(", dirty"), "{b:?}");
    assert!(tip_of(&drawn, 0x4008).lines.contains(&"not touched yet".to_owned()));
}

#[test]
fn the_state_that_is_told_is_the_state_that_is_drawn() {
    // Reference 4 reads A[4], a line of its own: before it that is in memory only, during it on its way.
    let at_home = |drawn: &Drawn| {
        let scene = &drawn.scene;
        let glyph = scene.glyphs.iter().position(|g| g.layer == HOME_LAYER && g.id == 4).expect("there");
        let p = position_at(&scene.rings.sectors, &scene.glyphs[glyph].flight, 0.0);
        drawn.tip_at(p, 0.001).expect("something").0
    };
    let before = at_home(&drawn_at(4.0));
    assert_eq!(before.title, "A[4]");
    assert!(before.lines.contains(&"in memory only".to_owned()), "{before:?}");
    let during = tip_of(&drawn_at(4.5), 0x1020);
    assert!(during.lines[1].starts_with("in L1") && during.lines.contains(&"on the move".to_owned()), "{during:?}");
    assert!(during.lines.contains(&"touched by this reference".to_owned()));
}

#[test]
fn a_dot_in_memory_tells_of_the_bytes_it_stands_for_at_each_fineness() {
    let region =
        Region { elem_type: "double".into(), shape: vec![1 << 17].into(), ..Region::new("A", 1 << 20, 1 << 20) };
    let tables = Tables { regions: vec![region], ..Tables::default() };
    let references = (0..100).map(|n| Reference::new(Kind::Read, (1 << 20) + 8 * n, 8)).collect();
    let hierarchy = Hierarchy::new(&preset("textbook").expect("shipped")).expect("sound");
    let studio = Studio::new(Arc::new(MemoryTrace::new(references, tables)), hierarchy, &mut |_, _| true);
    let mut drawn = Drawn::new(studio.expect("in memory"), 100.0, &View::default());
    // Element 9 of line 1000, which nothing touched.
    let addr: u64 = (1 << 20) + 64_000 + 8;
    for (zoom, title, told) in [
        (1.0, "A[8000] … A[8015]", "0x10fa00, 128 bytes"),
        (6.0, "A[8000] … A[8007]", "0x10fa00, 64 bytes"),
        (400.0, "A[8001]", "0x10fa08, 8 bytes"),
    ] {
        let view = View { reach: [2.0, 1.2], camera: Camera { zoom, ..Camera::default() }, ..View::default() };
        let home = drawn.rings.stage().home();
        let [r, theta] = home.blended(0, &home.detail(0, Closeness::of(&view)), addr, 1);
        let at = [r * theta.cos(), r * theta.sin()];
        drawn.draw(100.0, &View { camera: Camera { at, zoom }.clamped(), ..view });
        let (tip, _) = drawn.tip_at(at, 0.0005 / zoom).expect("a dot");
        assert_eq!((tip.title.as_str(), tip.lines[0].as_str()), (title, told), "at {zoom}");
        assert_eq!(tip.lines[1], "in memory only", "at {zoom}");
    }
}

#[test]
fn dots_of_a_padded_array_tell_elements_and_padding() {
    // Rows of 16 with one element of padding, column after column: 272 dots at home.
    let region = Region {
        elem_type: "double".into(),
        shape: vec![16, 16].into(),
        strides: vec![1, 17].into(),
        offset: 1,
        ..Region::new("A", 1 << 20, 16 * 17 * 8)
    };
    let tables = Tables { regions: vec![region], ..Tables::default() };
    let references = (0..100).map(|n| Reference::new(Kind::Read, (1 << 20) + 8 * n, 8)).collect();
    let hierarchy = Hierarchy::new(&preset("paper").expect("shipped")).expect("sound");
    let studio = Studio::new(Arc::new(MemoryTrace::new(references, tables)), hierarchy, &mut |_, _| true);
    let drawn = Drawn::new(studio.expect("in memory"), 100.0, &View::default());
    let home = drawn.rings.stage().home();
    for (place, title) in
        [(0, "A + 0 bytes (padding)"), (1, "A[0][0]"), (34, "A + 272 bytes (padding)"), (36, "A[1][2]")]
    {
        let [r, theta] = home.polar(0, place);
        let (tip, _) = drawn.tip_at([r * theta.cos(), r * theta.sin()], 0.0005).expect("a dot");
        assert_eq!(tip.title, title);
    }
    let theta = home.regions[0].theta0 + 0.5 * home.regions[0].span;
    let (arc, _) = drawn.tip_at([theta.cos(), theta.sin()], 0.001).expect("A's arc");
    assert_eq!(arc.title, "A[16][16]");
    assert_eq!(arc.lines[..2], ["256 × double, 2,176 bytes", "strides 1, 17 from element 1"]);
}

#[test]
fn rings_and_arcs_tell_their_counts() {
    let drawn = drawn_at(1000.0);
    let scene = &drawn.scene;
    let empty = &scene.rings.sectors[0];
    let (mut found, mut angle) = (None, 0.0f32);
    while found.is_none() && angle < std::f32::consts::TAU {
        let r = 0.5 * (empty.r0 + empty.r1);
        found = drawn.tip_at([r * angle.cos(), r * angle.sin()], 0.0).filter(|(_, glyph)| glyph.is_none());
        angle += 0.05;
    }
    let (ring, _) = found.expect("some place between glyphs");
    assert_eq!(ring.title, "L1");
    assert!(ring.lines[0].contains("2 sets × 8 ways, 32-byte lines"), "{ring:?}");
    let home = &drawn.rings.stage().home().regions[1];
    let theta = home.theta0 + 0.5 * home.span;
    let (arc, _) = drawn.tip_at([theta.cos(), theta.sin()], 0.001).expect("B's arc");
    assert_eq!(arc.title, "B[1024]");
    assert!(arc.lines[2].starts_with("250 references, ") && arc.lines[0].contains("double"), "{arc:?}");
}

#[test]
fn a_page_tells_what_is_on_it_and_which_tlbs_hold_it() {
    let toml = "name = \"t\"\n[[level]]\nsize = 4096\nline = 64\nways = 1\n[[tlb]]\nname = \"DTLB\"\nentries = 2\nways = 2\n\
                [[tlb]]\nname = \"L2 TLB\"\nentries = 8\nways = 4\n";
    let studio = studio_under(&HierarchyConfig::from_toml(toml, "test").expect("sound"));
    let drawn = Drawn::new(studio, 600.0, &View::default());
    // A goes from 0x1000 on and is read up to 0x22b8, B begins at 0x4000: pages 1, 2 and 4.
    let scene = &drawn.scene;
    let of = |page: u64, sector: f32| {
        let entry = |g: &&Glyph| g.layer == pages::LAYER && g.id == page && g.flight.to.cache == sector;
        let glyph = scene.glyphs.iter().find(entry)?;
        let found = drawn.tip_at(position_at(&scene.rings.sectors, &glyph.flight, scene.now), 0.001)?;
        assert!(found.1.is_some(), "a glyph is ringed");
        Some(found.0)
    };
    assert_eq!(of(1, 1.0), None, "page 1 has left the DTLB of two");
    let tip = of(4, 1.0).expect("B's page");
    assert_eq!((tip.title.as_str(), tip.color), ("page 4", Some(palette::region(1))));
    let lines = ["0x4000 to 0x4fff, 4KiB", "B: 4,096 bytes of it", "in DTLB: set 0, rank 0 of 2"];
    assert_eq!(tip.lines[..3], lines);
    // Page 2 came after it, and from then on the DTLB had both.
    assert_eq!(tip.lines[3..], ["in L2 TLB: set 0, rank 1 of 4"]);
    assert_eq!(of(1, 2.0).expect("A's page").lines[2], "in L2 TLB: set 1, rank 0 of 4");
    // A place of the second TLB that no page has.
    let (column, row) = scene.rings.racks[1].slot(1, 3);
    let [r, theta] = scene.rings.sectors[2].polar(column as f32, row as f32);
    let (empty, _) = drawn.tip_at([r * theta.cos(), r * theta.sin()], 0.001).expect("a place");
    assert_eq!(empty.title, "L2 TLB");
    let [shape, hits, held, here] = &empty.lines[..] else { panic!("{empty:?}") };
    assert_eq!((shape.as_str(), held.as_str()), ("8 entries, 4-way, 4KiB pages", "3 of 8 entries held"));
    assert_eq!((hits.as_str(), here.as_str()), ("0 hits, 0 %", "here: set 1, rank 3, next to go (empty)"));
}
