//! Names on the rings: across the top for a cache that has its ring to itself; along the ring, each at the middle of its
//! sector, where caches share one.
//!
//! ```text
//!         L2  512 sets × 8 ways          names stand in the gap outside their ring, upright, along it
//!      .-------------------------.
//!    .'     L1D core 0            '.     too little room for all of a ring: `L1D 0`; too little for that:
//!   |     .------------.            |    one name for the ring, `L1I, L1D of 16 cores`
//!   | 3  |              |  L1D 1    |
//! ```

use super::info::{shape_of, sized};
use crate::scene::layout::{Ring, Rings};
use egui::{Vec2, vec2};
use std::f32::consts::{FRAC_PI_2, PI};

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Label {
    pub(super) text: String,
    /// World point of its centre.
    pub(super) at: [f32; 2],
    /// Turn, radians, clockwise: upright, from -π/2 to π/2.
    pub(super) angle: f32,
    /// The caches whose temperature it shows, by number: those that it names, where there is room for marks.
    pub(super) caches: Vec<usize>,
}

impl Label {
    /// The marks of what is warm and of what is cold among its caches, whose temperatures are given by number: of several caches the
    /// mean of those that are warm, and of those that are cold, so that they do not make up for each other.
    pub(super) fn temperature_marks(&self, of: &[f32]) -> Vec<[Vec2; 3]> {
        let own = || self.caches.iter().filter_map(|&cache| of.get(cache).copied());
        let mean = |side: &dyn Fn(f32) -> bool| {
            let (sum, count) = own().filter(|&t| side(t)).fold((0.0, 0.0_f32), |(sum, n), t| (sum + t, n + 1.0));
            temperature_mark(sum / count.max(1.0))
        };
        [mean(&|t| t >= LEAST_MARKED), mean(&|t| t <= -LEAST_MARKED)].into_iter().flatten().collect()
    }
}

/// How far outside of its ring a name stands, world units: the middle of the usual gap.
const OUT: f32 = 0.021;

/// How far the ends of a straight name may stand off its circle, in heights of its type.
const BEND: f32 = 0.45;

/// How names are set.
pub(super) struct Type<'a> {
    /// Names only, no shapes.
    pub(super) brief: bool,
    /// Large enough to be read aslant; upright and level names are read in smaller type.
    pub(super) aslant: bool,
    /// Width and height of a text, world units.
    pub(super) size: &'a dyn Fn(&str) -> [f32; 2],
    /// Room for a mark beside a name, world units.
    pub(super) marks: f32,
}

/// What to write on the rings.
pub(super) fn labels(rings: &Rings, set: &Type<'_>) -> Vec<Label> {
    let brief = set.brief;
    let mut out = tlb_labels(rings, set);
    for ring in &rings.rings {
        // In the large picture spikes stand outside a ring: names stand inside.
        let out_of = if rings.composition.is_large() { -OUT } else { OUT };
        let top =
            |text: String| Label { text, at: [0.0, -(ring.r1 + out_of)], angle: 0.0, caches: ring.sectors.clone() };
        if let [only] = ring.sectors[..] {
            let sector = &rings.sectors[only];
            let name = &rings.names[only].full;
            // Of the caches of a machine people know the size.
            let shape = match rings.composition.is_large() {
                true => sized(rings.sizes[only]),
                false => shape_of(sector.sets, sector.ways),
            };
            out.push(top(if brief { name.clone() } else { format!("{name}  {shape}") }));
            continue;
        }
        let along = [false, true].into_iter().find_map(|short| {
            let mut labels = round(rings, ring, short);
            let size = |text: &str| (set.size)(text);
            let marked = |text: &str| [size(text)[0] + set.marks, size(text)[1]];
            if !fits(&labels, &out, ring.r1 + OUT, &Type { size: &marked, ..*set }) {
                // Names come before marks.
                labels.iter_mut().for_each(|label| label.caches.clear());
            }
            fits(&labels, &out, ring.r1 + OUT, set).then_some(labels)
        });
        match along {
            Some(labels) => out.extend(labels),
            None if ring.cores > 1 && !brief => out.push(top(format!("{} of {} cores", ring.name, ring.cores))),
            None => out.push(top(ring.name.clone())),
        }
    }
    out
}

/// Names of the TLBs: each at its sector where all of them can be, else one for all, outside of them.
fn tlb_labels(rings: &Rings, set: &Type<'_>) -> Vec<Label> {
    let mut out = Vec::new();
    for ring in &rings.tlb_rings {
        let labels = round(rings, ring, true);
        if !fits(&labels, &out, ring.r1 + OUT, set) {
            let r = rings.tlb_rings.last().map_or(0.0, |ring| ring.r1 + OUT);
            return vec![Label { text: rings.tlb_name().to_owned(), at: [0.0, -r], angle: 0.0, caches: Vec::new() }];
        }
        out.extend(labels.into_iter().map(|label| Label { caches: Vec::new(), ..label }));
    }
    out
}

/// The names of a ring's sectors, each at its own; the top where there is one.
fn round(rings: &Rings, ring: &Ring, short: bool) -> Vec<Label> {
    let name = |n: usize| if short { &rings.names[n].short } else { &rings.names[n].full };
    if let [only] = ring.sectors[..] {
        return vec![Label { text: name(only).clone(), at: [0.0, -(ring.r1 + OUT)], angle: 0.0, caches: vec![only] }];
    }
    ring.sectors.iter().map(|&n| along(ring, rings, n, name(n).clone())).collect()
}

/// Whether names at radius `r` stand apart from each other and from others, near enough to their circle to belong to it.
fn fits(labels: &[Label], others: &[Label], r: f32, set: &Type<'_>) -> bool {
    let size = set.size;
    let boxes: Vec<[[f32; 2]; 4]> = others.iter().map(|label| corners(label, size(&label.text))).collect();
    let area = |label: &Label| (size(&label.text), corners(label, size(&label.text)));
    let own: Vec<_> = labels.iter().map(area).collect();
    let straight = |[width, height]: [f32; 2]| (r * r + 0.25 * width * width).sqrt() - r <= BEND * height;
    let next = own.iter().cycle().skip(1);
    let square = |label: &Label| label.angle == 0.0 || (label.angle.abs() - FRAC_PI_2).abs() < 1e-3;
    (set.aslant || labels.iter().all(square))
        && own.iter().zip(next).all(|((size, area), (_, next))| {
            straight(*size)
                && (own.len() == 1 || !overlap(area, next))
                && boxes.iter().all(|other| !overlap(area, other))
        })
}

/// A name at the middle of a sector's outer border.
fn along(ring: &Ring, rings: &Rings, cache: usize, text: String) -> Label {
    let sector = &rings.sectors[cache];
    let (r, theta) = (ring.r1 + OUT, sector.middle(ring.r1));
    // Tangential; in the lower half the other way round, so that it is read upright.
    let angle = (theta + FRAC_PI_2 + FRAC_PI_2).rem_euclid(PI) - FRAC_PI_2;
    // What stands straight but for rounding stands straight: type is sharpest so.
    let angle = if angle.abs() < 1e-3 { 0.0 } else { angle };
    Label { text, at: [r * theta.cos(), r * theta.sin()], angle, caches: vec![cache] }
}

/// Corners of a name of this size, in order round it.
fn corners(label: &Label, [width, height]: [f32; 2]) -> [[f32; 2]; 4] {
    let (sin, cos) = label.angle.sin_cos();
    [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)].map(|(x, y)| {
        let (x, y) = (x * width, y * height);
        [label.at[0] + x * cos - y * sin, label.at[1] + x * sin + y * cos]
    })
}

/// Whether two rectangles share a point: none of their sides parts them.
fn overlap(a: &[[f32; 2]; 4], b: &[[f32; 2]; 4]) -> bool {
    let parted = |axis: [f32; 2]| {
        let range = |corners: &[[f32; 2]; 4]| {
            let on = corners.map(|c| c[0] * axis[0] + c[1] * axis[1]);
            (on.into_iter().fold(f32::INFINITY, f32::min), on.into_iter().fold(f32::NEG_INFINITY, f32::max))
        };
        let ((a0, a1), (b0, b1)) = (range(a), range(b));
        a1 < b0 || b1 < a0
    };
    let sides = [a, b].into_iter().flat_map(|r| [(0, 1), (1, 2)].map(|(i, j)| [r[j][0] - r[i][0], r[j][1] - r[i][1]]));
    !sides.into_iter().any(parted)
}

/// What is nearer to 0 than this has no mark.
const LEAST_MARKED: f32 = 0.06;

/// The mark of a temperature of -1 to 1, in parts of its room round its middle: a point upwards is warm, one downwards cold; the
/// farther from idle the larger. None near idle.
pub(super) fn temperature_mark(temperature: f32) -> Option<[Vec2; 3]> {
    let far = if temperature.is_finite() { temperature.abs().min(1.0) } else { 0.0 };
    let size = 0.5 + 0.5 * far.sqrt();
    let up = if temperature > 0.0 { -0.5 } else { 0.5 };
    (far >= LEAST_MARKED).then(|| [vec2(0.0, up), vec2(0.5, -up), vec2(-0.5, -up)].map(|corner| corner * size))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::layout::{CacheShape, TlbShape};

    /// About a font's: letters two thirds as wide as the type is high, and the space beside them.
    fn size(height: f32) -> impl Fn(&str) -> [f32; 2] {
        move |text: &str| [0.6 * height * text.chars().count() as f32 + 0.5 * height, height]
    }

    fn rings(cores: u16, split: bool) -> Rings {
        let core = |core: u16| (cores > 1).then_some(core);
        let each = |ring, name: &str| {
            let name = name.to_owned();
            let shape =
                move |n| CacheShape { ring, name: name.clone(), core: core(n), sets: 64, ways: 8, line_bytes: 64 };
            (0..cores).map(shape).collect::<Vec<_>>()
        };
        let mut shapes = each(0, if split { "L1I" } else { "L1" });
        if split {
            shapes.extend(each(0, "L1D"));
        }
        shapes.extend(each(1, "L2"));
        shapes.push(CacheShape { ring: 2, name: "L3".into(), core: None, sets: 2048, ways: 16, line_bytes: 64 });
        Rings::new(&shapes)
    }

    #[test]
    fn names_never_overlap_and_no_ring_is_without() {
        // Type from that of a small still to that of a large one, in world units.
        for height in [0.02, 0.035, 0.06, 0.09] {
            for (cores, split, brief) in
                [1, 2, 3, 4, 8, 16, 64].into_iter().flat_map(|n| [(n, false, false), (n, true, false), (n, true, true)])
            {
                let rings = rings(cores, split);
                let size = size(height);
                let all = labels(&rings, &Type { brief, aslant: true, size: &size, marks: 0.0 });
                let boxes: Vec<_> = all.iter().map(|l| corners(l, size(&l.text))).collect();
                for (n, a) in boxes.iter().enumerate() {
                    for (m, b) in boxes.iter().enumerate().skip(n + 1) {
                        // Names across the top are what they are, one above the other.
                        let both_along = all[n].at[0] != 0.0 && all[m].at[0] != 0.0;
                        assert!(!both_along || !overlap(a, b), "{:?} and {:?}", all[n], all[m]);
                    }
                }
                for ring in &rings.rings {
                    let named = |l: &&Label| (l.at[0].hypot(l.at[1]) - ring.r1 - OUT).abs() < 1e-5;
                    let count = all.iter().filter(named).count();
                    assert!(count == 1 || count == ring.sectors.len(), "{count} names on {ring:?}");
                }
            }
        }
    }

    #[test]
    fn names_are_shortened_then_joined_as_room_goes() {
        let texts = |cores, split, brief, height| -> Vec<String> {
            let set = Type { brief, aslant: true, size: &size(height), marks: 0.0 };
            labels(&rings(cores, split), &set).into_iter().map(|l| l.text).collect()
        };
        assert_eq!(texts(1, true, false, 0.035), ["L1I", "L1D", "L2  64 sets × 8 ways", "L3  2,048 sets × 16 ways"]);
        assert_eq!(texts(1, false, true, 0.035), ["L1", "L2", "L3"]);
        assert_eq!(texts(4, false, true, 0.02)[..4], ["L1 core 0", "L1 core 1", "L1 core 2", "L1 core 3"]);
        assert_eq!(texts(4, true, false, 0.035)[..3], ["L1I 0", "L1D 0", "L1I 1"]);
        assert_eq!(texts(16, true, false, 0.035)[..2], ["L1I, L1D of 16 cores", "L2 0"]);
        assert_eq!(texts(64, true, false, 0.035)[..2], ["L1I, L1D of 64 cores", "L2 of 64 cores"]);
        assert_eq!(texts(64, true, true, 0.035)[..2], ["L1I, L1D", "L2"]);
    }

    #[test]
    fn a_temperature_points_up_where_it_is_warm_and_grows_with_it() {
        assert!([0.0, 0.05, -0.05, f32::NAN].into_iter().all(|idle| temperature_mark(idle).is_none()));
        let tip = |t: f32| temperature_mark(t).unwrap()[0].y;
        assert!(tip(0.1) < 0.0 && tip(0.9) < tip(0.1), "upwards is less on a screen");
        assert!((tip(-0.4) + tip(0.4)).abs() < 1e-6);
        assert_eq!(tip(7.0), tip(1.0));
        let marks = |cores: u16, said: &[f32]| -> Vec<Vec<f32>> {
            let set = Type { brief: true, aslant: true, size: &size(0.02), marks: 0.01 };
            let tips = |label: &Label| label.temperature_marks(said).iter().map(|mark| mark[0].y).collect();
            labels(&rings(cores, false), &set).iter().map(tips).collect()
        };
        let one = |t: f32| vec![tip(t)];
        let four = [0.2, -0.4, 0.6, 0.01, 0.0, 0.0, 0.0, 0.0, -1.0];
        assert_eq!(marks(4, &four)[..4], [one(0.2), one(-0.4), one(0.6), vec![]], "each its own");
        assert_eq!(marks(4, &four).last(), Some(&one(-1.0)));
        let many: Vec<f32> = (0..64).map(|core| [0.5, -0.25, 0.0, f32::NAN][core % 4]).collect();
        assert_eq!(marks(64, &many)[0], [tip(0.5), tip(-0.25)], "one name for all has both");
    }

    #[test]
    fn tlbs_are_named_each_or_all_at_once() {
        let tlb = |ring, name: &str, core| {
            let shape = CacheShape { ring, name: name.into(), core, sets: 1, ways: 64, line_bytes: 4096 };
            TlbShape { shape, place: 0 }
        };
        let cache = CacheShape { ring: 0, name: "L1".into(), core: None, sets: 64, ways: 8, line_bytes: 64 };
        let texts = |tlbs: &[TlbShape], height| -> Vec<String> {
            let rings = Rings::with_tlbs(std::slice::from_ref(&cache), tlbs);
            let size = size(height);
            let all = labels(&rings, &Type { brief: true, aslant: true, size: &size, marks: 0.0 });
            let boxes: Vec<_> = all.iter().map(|l| corners(l, size(&l.text))).collect();
            assert!(boxes.iter().enumerate().all(|(n, a)| boxes[n + 1..].iter().all(|b| !overlap(a, b))), "{all:?}");
            all.into_iter().map(|l| l.text).collect()
        };
        let split = [tlb(0, "DTLB", None), tlb(0, "ITLB", None), tlb(1, "L2 TLB", None)];
        assert_eq!(texts(&split, 0.03), ["DTLB", "ITLB", "L2 TLB", "L1"]);
        assert_eq!(texts(&split, 0.08), ["TLBs", "L1"]);
        let long = [tlb(0, "Data micro TLB", None), tlb(0, "Instruction micro TLB", None)];
        assert_eq!(texts(&long, 0.03), ["TLBs", "L1"]);
        let cores: Vec<TlbShape> = (0..4).map(|core| tlb(0, "DTLB", Some(core))).collect();
        assert_eq!(texts(&cores, 0.027), ["DTLB 0", "DTLB 1", "DTLB 2", "DTLB 3", "L1"]);
        assert_eq!(texts(&cores, 0.045), ["DTLB", "L1"]);
        assert_eq!(texts(&split[..1], 0.03), ["DTLB", "L1"]);
    }

    #[test]
    fn small_type_is_never_aslant() {
        for (cores, split) in [(2, false), (3, false), (4, false), (4, true), (16, true)] {
            let rings = rings(cores, split);
            for label in labels(&rings, &Type { brief: true, aslant: false, size: &size(0.02), marks: 0.0 }) {
                let square = label.angle == 0.0 || (label.angle.abs() - FRAC_PI_2).abs() < 1e-3;
                assert!(square, "{label:?}");
            }
        }
    }

    #[test]
    fn names_are_upright_and_stand_at_their_sector() {
        let rings = rings(4, true);
        for (label, ring) in
            labels(&rings, &Type { brief: false, aslant: true, size: &size(0.03), marks: 0.0 }).iter().zip([0; 8])
        {
            assert!(label.angle.abs() <= FRAC_PI_2 + 1e-5, "{label:?}");
            let ring = &rings.rings[ring];
            let theta = label.at[1].atan2(label.at[0]);
            let owner = rings.sectors.iter().position(|s| s.contains(ring.r1, theta)).expect("a sector");
            assert_eq!(rings.names[owner].short, label.text);
            // Along the circle there: at right angles to the radius.
            assert!((label.angle.cos() * theta.cos() + label.angle.sin() * theta.sin()).abs() < 1e-3);
        }
    }
}
