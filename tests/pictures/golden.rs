//! Pictures of one thing each, made by hand without a trace, held against `tests/golden/`; and dots of a real moment
//! held against their places.
//!
//! To accept new pictures: `GOLDEN_UPDATE=1 cargo test --test pictures golden` (it rewrites those that fail).

use crate::support::device::device;
use crate::support::golden::{Adapter, Harness, Picture};
use orrery::render::{Context, Painter, Target, Viewport, target};
use orrery::scene::frame::flags;
use orrery::scene::layout::{CacheShape, HomeLayout, Rings, Sector, TlbShape};
use orrery::scene::motion::{Endpoint, Flight, position_at};
use orrery::scene::palette::{self, RegionColors, Rgba};
use orrery::scene::structure::structure;
use orrery::scene::{Cell, Disk, Glyph, Notes, Scene, Segment};
use std::f32::consts::TAU;
use std::path::Path;

const SIDE: u32 = 192;

fn shape(ring: usize, core: Option<u16>, sets: u32, ways: u32) -> CacheShape {
    CacheShape { ring, name: format!("L{}", ring + 1), core, sets, ways, line_bytes: 32 }
}

/// The rings of the preset `paper`, nothing on them.
fn empty() -> Scene {
    Scene {
        rings: Rings::new(&[shape(0, None, 2, 8), shape(1, None, 4, 16)]),
        now: 0.0,
        disks: Vec::new(),
        cells: Vec::new(),
        structure: Vec::new(),
        trails: Vec::new(),
        glyphs: Vec::new(),
        pinned: orrery::scene::Pinned::default(),
        labelled: Vec::new(),
        temperatures: vec![0.0; 2],
        shows_temperature: true,
        served: orrery::scene::ServedShares::default(),
        notes: Notes::default(),
    }
}

fn dot(flight: Flight, radius: f32, color: Rgba) -> Glyph {
    Glyph { layer: 2, id: 0, flight, radius, color, flash: 0.0, pulse: 0.0, burst: 1.0, flags: 0 }
}

fn line(flight: Flight, s0: f32, s1: f32, width: f32, color: Rgba, alpha: [f32; 2]) -> Segment {
    Segment { flight, s0, s1, width, color, alpha0: alpha[0], alpha1: alpha[1] }
}

fn slots(sectors: &[Sector]) -> impl Iterator<Item = (usize, u32, u32)> + '_ {
    sectors.iter().enumerate().flat_map(|(cache, sector)| {
        (0..sector.sets).flat_map(move |set| (0..sector.ways).map(move |rank| (cache, set, rank)))
    })
}

/// Borders of the rings and guide arms.
fn ring_layout() -> Scene {
    let mut scene = empty();
    for (level, ring) in scene.rings.sectors.iter().enumerate() {
        for (r, piece) in [ring.r0, ring.r1].into_iter().flat_map(|r| (0..48u8).map(move |p| (r, p))) {
            let at = |p: u8| Endpoint::polar(r, TAU * f32::from(p) / 48.0);
            let edge = Flight::straight(at(piece), at(piece + 1));
            scene.structure.push(line(edge, 0.0, 1.0, 2.0, palette::GUIDE, [0.6; 2]));
        }
        for (set, piece) in (0..ring.sets).flat_map(|s| (0..24u8).map(move |p| (s, p))) {
            let end = |rank| Endpoint::slot(level, set, rank, 0.0);
            let arm = Flight::slide(end(0.0), end(ring.ways as f32 - 1.0));
            let (s0, s1) = (f32::from(piece) / 24.0, f32::from(piece + 1) / 24.0);
            scene.structure.push(line(arm, s0, s1, 2.0, palette::region(set as usize), [0.8; 2]));
        }
    }
    scene
}

/// A dot in every slot, the arm told by colour.
fn spiral_slots() -> Scene {
    let mut scene = empty();
    let rings = scene.rings.sectors.clone();
    for (level, set, rank) in slots(&rings) {
        let at = Endpoint::slot(level, set, rank as f32, 0.0);
        scene.glyphs.push(dot(Flight::rest(at), 0.022, palette::region(set as usize)));
    }
    scene
}

/// A line's four items side by side across the arm.
fn items_across() -> Scene {
    let mut scene = empty();
    for (rank, lane) in (0..4u8).flat_map(|r| (0..4u8).map(move |l| (r, l))) {
        let at = Endpoint::slot(1, 1, f32::from(rank) * 5.0, (f32::from(lane) - 1.5) * 0.04);
        scene.glyphs.push(dot(Flight::rest(at), 0.018, palette::region(lane.into())));
    }
    scene
}

fn flying(flight: Flight, now: f32) -> Scene {
    let mut scene = Scene { now, ..empty() };
    scene.glyphs.push(dot(flight, 0.05, palette::region(1)));
    for end in [flight.from, flight.to] {
        scene.glyphs.push(dot(Flight::rest(end), 0.015, palette::GUIDE));
    }
    scene
}

fn straight(now: f32) -> Scene {
    flying(Flight::straight(Endpoint::polar(0.9, 2.4), Endpoint::slot(0, 1, 0.0, 0.0)), now)
}

fn arc(now: f32) -> Scene {
    let rings = empty().rings.sectors;
    flying(Flight::arc(Endpoint::slot(0, 1, 7.0, 0.0), Endpoint::polar(0.9, -0.6), &rings), now)
}

/// The path of an eviction, fading towards its start: pieces must join without gap or overlap.
fn pathline() -> Scene {
    let mut scene = empty();
    let from = Endpoint::slot(1, 2, 15.0, 0.0);
    let flight = Flight::arc(from, Endpoint::polar(0.95, 2.0), &scene.rings.sectors);
    for piece in 0..14u8 {
        let (s0, s1) = (f32::from(piece) / 14.0, f32::from(piece + 1) / 14.0);
        scene.trails.push(line(flight, s0, s1, 8.0, palette::EVICT, [0.1 + 0.8 * s0, 0.1 + 0.8 * s1]));
    }
    scene
}

/// Temperature disks: cold inside, warm outside, and between them a neutral one, faint and grey.
fn disks() -> Scene {
    let mut scene = empty();
    for (r0, r1, t) in [(0.1, 0.3, -1.0), (0.4, 0.55, 0.0), (0.65, 0.9, 1.0)] {
        scene.disks.push(Disk::whole(r0, r1, 0.06, palette::temperature(t)));
    }
    scene
}

/// Cells of a cache of all round and of one of half a ring, from full to empty, in three colours; every third row is left out.
fn cells() -> Scene {
    let shapes = [shape(0, None, 128, 8), shape(1, Some(0), 64, 16), shape(1, Some(1), 64, 16)];
    let mut scene = Scene { rings: Rings::new(&shapes), temperatures: vec![0.0; 3], ..empty() };
    for (sector, each) in [(0u16, 4), (1, 2)] {
        let shape = &shapes[usize::from(sector)];
        for set in (0..shape.sets).step_by(each) {
            for rank in (0..shape.ways).filter(|rank| rank % 3 < 2) {
                let full = 1.0 - set as f32 / shape.sets as f32;
                let color = palette::fade(palette::region(usize::from(sector) + rank as usize / 4), full);
                let step = u32::try_from(each).expect("small");
                let (sets, ranks) = ([set, set + step], [rank, rank + 1]);
                let corners = [0, 1, 2, 3].map(|n: usize| {
                    let between = ranks[n >> 1] as f32 - 0.5;
                    let slot = Endpoint::slot(usize::from(sector), 0, between, 0.0);
                    Endpoint { a: sets[n & 1] as f32 - 0.5, ..slot }.position(&scene.rings.sectors)
                });
                scene.cells.push(Cell { sector, sets, ranks, corners, color });
            }
        }
    }
    scene
}

/// Caches that share a ring as sectors: their borders, arms, a dot in every slot (each third hollow), temperatures.
fn sectors(shapes: &[CacheShape]) -> Scene {
    let mut scene = Scene { rings: Rings::new(shapes), temperatures: vec![0.0; shapes.len()], ..empty() };
    let home = HomeLayout::new(&[], 32, scene.rings.home_r0, scene.rings.home_r1);
    scene.structure = structure(&scene.rings, &home, &RegionColors::default());
    for (sector, t) in scene.rings.sectors.iter().zip([1.0, -1.0, 0.2, -0.2, 0.6]) {
        scene.disks.push(Disk::behind(sector, 0.035, palette::temperature(t)));
    }
    for (cache, set, rank) in slots(&scene.rings.sectors.clone()) {
        let mut glyph = dot(Flight::rest(Endpoint::slot(cache, set, rank as f32, 0.0)), 0.02, palette::region(cache));
        glyph.flags = if rank % 3 == 2 { flags::HOLLOW } else { 0 };
        scene.glyphs.push(glyph);
    }
    scene
}

/// L1I and L1D, unequal, over an L2.
fn split() -> Scene {
    sectors(&[shape(0, None, 2, 4), shape(0, None, 3, 8), shape(1, None, 4, 16)])
}

/// An L1 for each of four cores over an L2.
fn four_cores() -> Scene {
    let private = (0..4).map(|core| shape(0, Some(core), 2, 8));
    sectors(&private.chain([shape(1, None, 4, 16)]).collect::<Vec<_>>())
}

/// A line goes from one core's cache to another's, and one is pushed out over the sectors' borders.
fn between_sectors(now: f32) -> Scene {
    let mut scene = Scene { now, ..four_cores() };
    scene.glyphs.clear();
    let (a, b) = (Endpoint::slot(0, 1, 7.0, 0.0), Endpoint::slot(2, 0, 0.0, 0.0));
    let out = Flight::arc(Endpoint::slot(1, 1, 7.0, 0.0), Endpoint::slot(4, 3, 0.0, 0.0), &scene.rings.sectors);
    scene.glyphs.push(dot(Flight::straight(a, b), 0.05, palette::region(1)));
    scene.glyphs.push(dot(out, 0.05, palette::region(2)));
    scene
}

/// Two cores' DTLBs and a shared second TLB inside an L1: a bar at every entry, some fading, one with a flash. Far out, bars
/// large enough to see that they lie along the ring.
fn tlbs() -> Scene {
    let tlb = |ring, core, sets, ways| TlbShape { shape: shape(ring, core, sets, ways), place: 0 };
    let tlbs = [tlb(0, Some(0), 1, 5), tlb(0, Some(1), 1, 5), tlb(1, None, 4, 3)];
    let mut scene = Scene { rings: Rings::with_tlbs(&[shape(0, None, 2, 8)], &tlbs), ..empty() };
    let home = HomeLayout::new(&[], 32, scene.rings.home_r0, scene.rings.home_r1);
    scene.structure = structure(&scene.rings, &home, &RegionColors::default());
    for (tlb, rack) in scene.rings.racks.clone().iter().enumerate() {
        for (set, rank) in (0..rack.sets).flat_map(|set| (0..rack.ways).map(move |rank| (set, rank))) {
            let (column, row) = rack.slot(set, rank);
            let at = Endpoint::slot(scene.rings.caches() + tlb, column, row as f32, 0.0);
            let color = palette::fade(palette::region(tlb), if rank == 2 { 0.4 } else { 1.0 });
            scene.glyphs.push(dot(Flight::rest(at), 0.02, color));
        }
    }
    for n in 0..8u8 {
        scene.glyphs.push(dot(Flight::rest(Endpoint::polar(0.85, 0.7 * f32::from(n))), 0.07, palette::NEUTRAL));
    }
    scene.glyphs.iter_mut().for_each(|glyph| glyph.flags = flags::PAGE);
    scene.glyphs[0].flash = 0.5;
    scene
}

/// Two half-transparent dots and two lines, each over the other, in draw order.
fn blending() -> Scene {
    let mut scene = empty();
    let at = |x: f32, y: f32| Endpoint::polar(x.hypot(y), y.atan2(x));
    for (x, color) in [(-0.15, palette::region(0)), (0.15, palette::region(2))] {
        scene.glyphs.push(dot(Flight::rest(at(x, 0.25)), 0.3, palette::fade(color, 0.6)));
    }
    for (tilt, color) in [(0.3, palette::MISS), (-0.3, palette::EVICT)] {
        let flight = Flight::straight(at(-0.8, -0.5 - tilt), at(0.8, -0.5 + tilt));
        scene.trails.push(line(flight, 0.0, 1.0, 24.0, color, [0.7; 2]));
    }
    scene
}

/// Every sign a dot can carry, a dot each: plain, flash, pulse, burst, dirty, ghost, hollow, and all at once.
fn signs() -> Scene {
    let mut scene = empty();
    for n in 0..8u8 {
        let (x, y) = (0.48 * (f32::from(n % 4) - 1.5), if n < 4 { -0.4 } else { 0.4 });
        let at = Endpoint::polar(x.hypot(y), y.atan2(x));
        let mut glyph = dot(Flight::rest(at), 0.08, palette::region(3));
        match n {
            1 => glyph.flash = 0.9,
            2 => glyph.pulse = 1.0,
            3 => glyph.burst = 0.4,
            4 => glyph.flags = flags::DIRTY,
            5 => glyph.flags = flags::GHOST,
            6 => glyph.flags = flags::HOLLOW,
            7 => (glyph.flash, glyph.burst, glyph.flags) = (0.6, 0.5, flags::DIRTY | flags::HOLLOW),
            _ => {}
        }
        scene.glyphs.push(glyph);
    }
    scene
}

fn pictures() -> Vec<(String, Scene)> {
    let mut all: Vec<(String, Scene)> = vec![
        ("ring_layout".into(), ring_layout()),
        ("spiral_slots".into(), spiral_slots()),
        ("items_across".into(), items_across()),
        ("pathline".into(), pathline()),
        ("disks".into(), disks()),
        ("cells".into(), cells()),
        ("blending".into(), blending()),
        ("signs".into(), signs()),
        ("sectors_split".into(), split()),
        ("sectors_four_cores".into(), four_cores()),
        ("sectors_between".into(), between_sectors(0.6)),
        ("tlbs".into(), tlbs()),
    ];
    for percent in [0u8, 25, 50, 100] {
        let now = f32::from(percent) / 100.0;
        all.push((format!("straight_{percent}"), straight(now)));
        all.push((format!("arc_{percent}"), arc(now)));
    }
    all
}

/// Draws a scene, through the painter that videos use.
fn draw(context: &Context, painter: &mut Painter, scene: &Scene, side: u32) -> Picture {
    let mut target = Target::new(context, side, side).expect("a small picture");
    let mut encoder = context.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    painter.prepare(context, scene, &[], &Viewport::fit(side, side));
    painter.draw(&mut encoder, target.view());
    target.submit(context, encoder);
    let mut rgba = Vec::new();
    assert!(target.collect(context, &mut rgba).expect("the device draws"), "one frame was submitted");
    Picture { width: side, height: side, rgba }
}

#[test]
fn pictures_are_their_references() {
    let Some(context) = device("golden") else {
        eprintln!("0 pictures really compared");
        return;
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let update = std::env::var("GOLDEN_UPDATE").is_ok_and(|v| v == "1");
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("golden");
    let mut harness = Harness::new(&root.join("tests/golden"), &out, Adapter::of(&context.info), update);
    let mut painter = Painter::new(&context, target::FORMAT);
    let pictures = pictures();
    for (name, scene) in &pictures {
        let picture = draw(&context, &mut painter, scene, SIDE);
        harness.check(name, &picture);
    }
    let names: Vec<String> = pictures.iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(harness.orphans(&names), Vec::<String>::new(), "references that no picture uses");
    let summary = harness.summary();
    assert!(harness.failures.is_empty(), "{summary}\n{}", harness.failures.join("\n"));
    assert!(update || harness.compared == pictures.len(), "{summary} of {}", pictures.len());
    eprintln!("{summary}");
}

#[test]
fn no_two_pictures_are_the_same_and_none_is_empty() {
    // A painter that draws nothing would make sound-looking references.
    let Some(context) = device("golden") else { return };
    let mut painter = Painter::new(&context, target::FORMAT);
    let blank = draw(&context, &mut painter, &empty(), SIDE);
    assert!(blank.rgba.chunks_exact(4).all(|p| p == palette::BACKGROUND), "nothing drawn is background");
    let drawn: Vec<(String, Picture)> =
        pictures().iter().map(|(name, scene)| (name.clone(), draw(&context, &mut painter, scene, SIDE))).collect();
    for (n, (name, picture)) in drawn.iter().enumerate() {
        let lit = picture.rgba.chunks_exact(4).filter(|p| *p != palette::BACKGROUND).count();
        assert!(lit > 60, "{name}: {lit} pixels");
        for (other, same) in &drawn[n + 1..] {
            assert_ne!(picture, same, "{name} and {other}");
        }
    }
}

#[test]
fn a_picture_does_not_depend_on_what_was_drawn_before() {
    let Some(context) = device("golden") else { return };
    let mut used = Painter::new(&context, target::FORMAT);
    for (name, scene) in pictures() {
        let after_others = draw(&context, &mut used, &scene, 128);
        let mut fresh = Painter::new(&context, target::FORMAT);
        assert_eq!(draw(&context, &mut fresh, &scene, 128), after_others, "{name}");
    }
}

#[test]
fn coverage_ends_inside_the_quads() {
    // Pixels just inside a quad's edge show the ground: no pixel depends on whether its centre falls in or out.
    let Some(context) = device("golden") else { return };
    let mut painter = Painter::new(&context, target::FORMAT);
    for radius in [0.012f32, 0.02, 0.05, 0.2] {
        let mut scene = empty();
        scene.glyphs.push(dot(Flight::rest(Endpoint::polar(0.0, 0.0)), radius, palette::LIGHT));
        let picture = draw(&context, &mut painter, &scene, SIDE);
        let r = (radius * Viewport::fit(SIDE, SIDE).px_per_unit).max(0.8);
        let center = 0.5 * SIDE as f32;
        for (x, y) in (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (x, y))) {
            let d = (x as f32 + 0.5 - center).hypot(y as f32 + 0.5 - center);
            let expected = (r + 0.5 - d).clamp(0.0, 1.0);
            let [ground, light] = [palette::BACKGROUND, palette::LIGHT].map(|c| f32::from(c[0]));
            let got = (f32::from(picture.at(x, y)[0]) - ground) / (light - ground);
            assert!((got - expected).abs() < 0.01, "radius {r} px, {d} px from the centre: {got}, not {expected}");
        }
    }
}

#[test]
fn a_dot_is_drawn_where_its_twin_says() {
    // Each flight alone, as a large dot of one colour: the centroid of its pixels is its place, to a tenth of a pixel.
    let Some(context) = device("golden") else { return };
    let mut painter = Painter::new(&context, target::FORMAT);
    let viewport = Viewport::fit(SIDE, SIDE);
    let rings = empty().rings.sectors;
    let mut checked = 0;
    for n in 0..40u8 {
        let slot = Endpoint::slot(
            usize::from(n % 2),
            u32::from(n % 4) % rings[usize::from(n % 2)].sets,
            f32::from(n % 8),
            0.01,
        );
        let home = Endpoint::polar(0.85, 0.7 * f32::from(n));
        let flight = match n % 4 {
            0 => Flight::rest(slot),
            1 => Flight::straight(home, slot),
            2 => Flight::arc(slot, home, &rings),
            _ => Flight::slide(Endpoint { b: slot.b + 1.0, ..slot }, slot),
        };
        let scene = Scene { now: f32::from(n % 5) / 5.0, glyphs: vec![dot(flight, 0.03, palette::LIGHT)], ..empty() };
        let picture = draw(&context, &mut painter, &scene, SIDE);
        let (mut sum, mut weight) = ([0.0f32; 2], 0.0f32);
        for (x, y) in (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (x, y))) {
            let w = f32::from(picture.at(x, y)[0].saturating_sub(palette::BACKGROUND[0]));
            (sum[0], sum[1], weight) = (sum[0] + w * (x as f32 + 0.5), sum[1] + w * (y as f32 + 0.5), weight + w);
        }
        let expected = viewport.px_from_world(position_at(&rings, &flight, scene.now));
        assert!(weight > 0.0, "{flight:?} is not drawn");
        let error = (sum[0] / weight - expected[0]).hypot(sum[1] / weight - expected[1]);
        assert!(error < 0.1, "{flight:?} at {}: {error} px off", scene.now);
        checked += 1;
    }
    assert_eq!(checked, 40);
}

/// Hue, degrees, and the largest channel.
fn hue([r, g, b, _]: Rgba) -> (f32, f32) {
    let [r, g, b] = [r, g, b].map(f32::from);
    let angle = (3.0f32.sqrt() * (g - b)).atan2(2.0 * r - g - b).to_degrees();
    (angle, r.max(g).max(b))
}

#[test]
fn many_paths_on_each_other_keep_their_hue_and_come_to_their_own_colour() {
    let Some(context) = device("golden") else { return };
    let mut painter = Painter::new(&context, target::FORMAT);
    let flight = Flight::straight(Endpoint::polar(0.9, 0.5), Endpoint::polar(0.9, 0.5 + 0.5 * TAU));
    for color in [palette::MISS, palette::EVICT] {
        let mut last = 0.0;
        for count in [1usize, 3, 10, 40, 300] {
            let mut scene = empty();
            scene.trails = vec![line(flight, 0.0, 1.0, 40.0, color, [0.3; 2]); count];
            let pixel = draw(&context, &mut painter, &scene, SIDE).at(SIDE / 2, SIDE / 2);
            let ((own, most), (angle, bright)) = (hue(color), hue(pixel));
            // The ground is a little blue.
            let error = (angle - own + 540.0).rem_euclid(360.0) - 180.0;
            assert!(error.abs() < 6.0, "{count} paths of {color:?} are {pixel:?}: {error} degrees off");
            assert!(bright > last - 1.0 && bright <= most + 1.0, "{count} paths of {color:?} are {pixel:?}");
            last = bright;
        }
        assert!(last > 0.95 * hue(color).1, "many are as bright as the palette has it: {last}");
    }
}
