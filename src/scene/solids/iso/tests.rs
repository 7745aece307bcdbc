use super::super::camera::{Orbit, Sight};
use super::*;
// Below a module of tests the flow of imports does not bind.
#[cfg(test)]
use crate::trace::synth::Rng;
use std::collections::BTreeMap;

/// A ball in the middle: the number of an element is how far it is within a radius of 7.
const RADIUS: f32 = 7.0;

fn far(at: Point, middle: Point) -> f32 {
    let away = minus(at, middle);
    dot(away, away).sqrt()
}

fn ball(extent: usize) -> (Field, Point) {
    let middle = [0.5 * (extent - 1) as f32; 3];
    let mut numbers = Vec::new();
    for y in 0..extent {
        for z in 0..extent {
            for x in 0..extent {
                numbers.push(f64::from(RADIUS - far([x, y, z].map(|n| n as f32), middle)));
            }
        }
    }
    (Field::new([extent; 3], numbers), middle)
}

fn random(rng: &mut Rng, extents: [usize; 3]) -> Field {
    let number = |rng: &mut Rng| rng.below(9) as f64;
    Field::new(extents, (0..extents.iter().product()).map(|_| number(rng)).collect())
}

/// How often edges are walked each way.
fn edges<'a>(patches: impl Iterator<Item = &'a Patch>) -> BTreeMap<[[u32; 3]; 2], [usize; 2]> {
    let mut edges: BTreeMap<[[u32; 3]; 2], [usize; 2]> = BTreeMap::new();
    for patch in patches {
        for n in 0..3 {
            let [a, b] = [patch.at[n], patch.at[(n + 1) % 3]].map(|at| at.map(f32::to_bits));
            let (edge, way) = if a < b { ([a, b], 0) } else { ([b, a], 1) };
            edges.entry(edge).or_default()[way] += 1;
        }
    }
    edges
}

#[test]
fn surfaces_of_a_ball_are_spheres_closed_and_turned_outwards() {
    let (field, middle) = ball(16);
    let values = [1.0, 2.5, 4.0];
    let patches = field.surfaces(&values);
    for (surface, value) in values.iter().enumerate() {
        let radius = RADIUS - to_f32(*value);
        let own: Vec<&Patch> = patches.iter().filter(|patch| patch.surface == surface).collect();
        assert!(own.len() > 200, "{} triangles at {value}", own.len());
        // Between neighbours a distance bends by at most 1 / r, over a diagonal of length 3^1/2: 3 / 8r of an element.
        let bound = 3.0 / (8.0 * (radius - 1.0)) + 1e-4;
        for patch in &own {
            for n in 0..3 {
                let off = (far(patch.at[n], middle) - radius).abs();
                assert!(
                    off <= bound,
                    "{:?} is {off} from the sphere of radius {radius}; expected {bound}",
                    patch.at[n]
                );
                let out = unit(minus(patch.at[n], middle));
                assert!(dot(unit(patch.down[n]), out) > 0.95, "numbers fall away from the middle");
            }
            let [a, b, c] = patch.at;
            let own = cross(minus(b, a), minus(c, a));
            assert!(dot(own, minus(times(plus(plus(a, b), c), 1.0 / 3.0), middle)) > -1e-6, "turned outwards");
        }
        let edges = edges(own.iter().copied());
        assert!(edges.values().all(|ways| *ways == [1, 1]), "closed: each edge is of two triangles");
        // Euler: corners - edges + faces of a sphere.
        let corners: std::collections::BTreeSet<[u32; 3]> =
            own.iter().flat_map(|patch| patch.at).map(|at| at.map(f32::to_bits)).collect();
        assert_eq!(corners.len() + own.len() - edges.len(), 2, "a sphere in one piece");
        let volume: f32 = own
            .iter()
            .map(|p| dot(minus(p.at[0], middle), cross(minus(p.at[1], middle), minus(p.at[2], middle))))
            .sum::<f32>()
            / 6.0;
        let sphere = 4.0 / 3.0 * std::f32::consts::PI * radius.powi(3);
        assert!((volume / sphere - 1.0).abs() < 0.06, "{volume} of {sphere}");
    }
}

#[test]
fn surfaces_end_at_the_border_of_the_array_alone() {
    let mut rng = Rng::new(91);
    for extents in [[4, 4, 4], [2, 3, 5], [6, 2, 2]] {
        let field = random(&mut rng, extents);
        let values = [0.5, 3.0, 4.0, 7.25];
        let patches = field.surfaces(&values);
        assert!(!patches.is_empty());
        for (surface, value) in values.iter().enumerate() {
            for ([a, b], ways) in edges(patches.iter().filter(|patch| patch.surface == surface)) {
                let on = |axis: usize, side: f32| [a, b].iter().all(|at| f32::from_bits(at[axis]) == side);
                let at_border = (0..3).any(|axis| on(axis, 0.0) || on(axis, (field.extents[axis] - 1) as f32));
                assert!(ways[0] == ways[1] || at_border, "{a:?} {b:?} {ways:?} at {value}");
            }
        }
        // And nothing lies outside of it.
        for patch in &patches {
            for at in patch.at {
                let low = at.map(f32::floor);
                assert!((0..3).all(|axis| low[axis] >= 0.0 && at[axis] <= (field.extents[axis] - 1) as f32));
            }
        }
    }
}

/// Where a ray from an eye meets a triangle: how far along it.
fn meets(eye: Point, way: Point, [a, b, c]: [Point; 3]) -> Option<f32> {
    let (one, two) = (minus(b, a), minus(c, a));
    let p = cross(way, two);
    let all = dot(one, p);
    if all.abs() < 1e-7 {
        return None;
    }
    let from = minus(eye, a);
    let u = dot(from, p) / all;
    let q = cross(from, one);
    let v = dot(way, q) / all;
    let inside = u > 1e-3 && v > 1e-3 && u + v < 1.0 - 1e-3;
    inside.then(|| dot(two, q) / all).filter(|far| *far > 0.0)
}

#[test]
fn from_any_camera_the_farthest_is_drawn_first() {
    let mut rng = Rng::new(1991);
    let mut compared = 0;
    for round in 0..24u16 {
        let field = random(&mut rng, [4, 5, 6]);
        let values = [1.5, 3.25, 4.0, 6.5];
        let mut patches = field.surfaces(&values);
        let ground = field.ground();
        let orbit = Orbit { azimuth: f32::from(round) * 77.0, altitude: f32::from(round * 13 % 178) - 89.0 };
        let sight = Sight::new(ground.bounds(), orbit, 1.0, [0.0, 0.0, 800.0, 600.0]);
        // From a camera as there is, and from the midst of the elements.
        let eye = if round % 4 == 3 { [1.3, 2.2, 2.6] } else { in_elements(&ground, sight.eye()) };
        field.order(&mut patches, &values, eye);
        for _ in 0..60 {
            let unit = |rng: &mut Rng| to_f32(rng.unit());
            let to = field.extents.map(|extent| unit(&mut rng) * (extent - 1) as f32);
            let way = minus(to, eye);
            let met: Vec<f32> = patches.iter().filter_map(|patch| meets(eye, way, patch.at)).collect();
            for pair in met.windows(2) {
                assert!(pair[0] >= pair[1] - 1e-4, "from {eye:?} to {to:?}: {met:?}");
                compared += 1;
            }
        }
    }
    assert!(compared > 2000, "{compared} pairs");
}

#[test]
fn what_has_no_surface_has_none_and_nothing_is_no_number() {
    let flat = Field::new([3, 3, 3], vec![7.0; 27]);
    assert_eq!(flat.ends(), [7.0, 7.0]);
    assert!(flat.surfaces(&[6.0, 7.0, 8.0]).is_empty());
    let odd = Field::new([2, 2, 2], vec![f64::NAN, 1.0, f64::INFINITY]);
    assert_eq!(odd.ends(), [0.0, 1.0]);
    assert!(odd.surfaces(&[0.5]).iter().all(|patch| patch.at.iter().flatten().all(|v| v.is_finite())));
    for extents in [[0, 4, 4], [1, 4, 4], [4, 1, 1]] {
        let field = Field::new(extents, vec![1.0, 2.0, 3.0, 4.0]);
        assert!(field.surfaces(&[1.5]).is_empty());
        assert!(field.ground().bounds().iter().flatten().all(|v| v.is_finite()));
    }
}

#[test]
fn patches_stand_among_their_elements_and_tell_the_nearest() {
    // A number that grows along columns alone: a plane between columns 1 and 2.
    let numbers = (0..60).map(|n| f64::from(n % 5)).collect();
    let field = Field::new([3, 4, 5], numbers);
    let mut patches = field.surfaces(&[1.25]);
    let ground = field.ground();
    field.order(&mut patches, &[1.25], in_elements(&ground, [9.0, 9.0, 9.0]));
    let mut mesh = Mesh::default();
    add(&mut mesh, &field, &ground, &patches, &[crate::scene::palette::TEXT]);
    let x = ground.at(0, 1)[0] + 0.25 * ground.side();
    assert!(!mesh.layers.is_empty());
    let [low, high] = ground.bounds();
    for layer in &mesh.layers {
        assert_eq!(layer.about % 5, 1, "of column 1, which is nearer");
        for corner in layer.corners {
            assert!((corner.at[0] - x).abs() < 1e-5, "{corner:?}");
            assert_eq!(corner.normal, [-1.0, 0.0, 0.0], "towards smaller numbers");
            assert!((0..3).all(|n| corner.at[n] >= low[n] - 1e-5 && corner.at[n] <= high[n] + 1e-5));
        }
    }
    // The planes go up, to the last one.
    let top = mesh.layers.iter().flat_map(|layer| layer.corners).map(|c| c.at[1]).fold(f32::MIN, f32::max);
    assert!((top - ground.y(2.0)).abs() < 1e-5);
}
