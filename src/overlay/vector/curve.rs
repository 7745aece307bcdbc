//! Ways as few curves: a function of a share becomes cubic Bézier curves that stay close to it.

use super::Step;
use egui::{Pos2, pos2};

/// How far a curve may be from the way it stands for, pixels.
const NEAR: f32 = 0.04;

/// Curves that a way is split into, at most: two to this power.
const DEEPEST: u32 = 7;

/// The way from share `from` to share `to`; begins anew at its first place.
pub(super) fn along(way: &dyn Fn(f32) -> Pos2, from: f32, to: f32) -> Vec<Step> {
    let mut steps = vec![Step::Move(way(from))];
    extend(way, [from, to], [way(from), way(to)], DEEPEST, &mut steps);
    steps
}

/// Goes on from where `steps` end, which is at `way(from)`.
pub(super) fn on(way: &dyn Fn(f32) -> Pos2, from: f32, to: f32, steps: &mut Vec<Step>) {
    extend(way, [from, to], [way(from), way(to)], DEEPEST, steps);
}

fn extend(way: &dyn Fn(f32) -> Pos2, [from, to]: [f32; 2], ends: [Pos2; 2], deep: u32, steps: &mut Vec<Step>) {
    let at = |share: f32| way(from + (to - from) * share);
    let [start, end] = ends;
    // Straight where all that is looked at is on the chord.
    let chord = |p: Pos2| {
        let (d, v) = (end - start, p - start);
        let length = d.length();
        if length < NEAR { v.length() } else { ((d.x * v.y - d.y * v.x) / length).abs() }
    };
    let looked = [0.25, 0.5, 0.75].map(at);
    if looked.iter().all(|&p| chord(p) < 0.5 * NEAR) {
        steps.push(Step::Line(end));
        return;
    }
    // The cubic curve through four of its places.
    let (a, b) = (at(1.0 / 3.0), at(2.0 / 3.0));
    let point = |s: f32, a2: f32, b2: f32, e: f32| {
        pos2(
            (s * start.x + a2 * a.x + b2 * b.x + e * end.x) / 6.0,
            (s * start.y + a2 * a.y + b2 * b.y + e * end.y) / 6.0,
        )
    };
    let (one, two) = (point(-5.0, 18.0, -9.0, 2.0), point(2.0, -9.0, 18.0, -5.0));
    let bezier = |t: f32| {
        let u = 1.0 - t;
        let [ws, w1, w2, we] = [u * u * u, 3.0 * u * u * t, 3.0 * u * t * t, t * t * t];
        pos2(ws * start.x + w1 * one.x + w2 * two.x + we * end.x, ws * start.y + w1 * one.y + w2 * two.y + we * end.y)
    };
    let is_near = [1.0 / 6.0, 0.5, 5.0 / 6.0].iter().all(|&t| bezier(t).distance(at(t)) < NEAR);
    if is_near || deep == 0 {
        steps.push(Step::Curve(one, two, end));
        return;
    }
    let middle = at(0.5);
    let half = 0.5 * (from + to);
    extend(way, [from, half], [start, middle], deep - 1, steps);
    extend(way, [half, to], [middle, end], deep - 1, steps);
}

/// The outline of a circle.
#[must_use]
pub fn circle(center: Pos2, radius: f32) -> Vec<Step> {
    // Four curves, farthest from the circle by 0.03 % of the radius (Goldapp 1991).
    const HANDLE: f32 = 0.552_285;
    let at = |x: f32, y: f32| pos2(center.x + radius * x, center.y + radius * y);
    vec![
        Step::Move(at(1.0, 0.0)),
        Step::Curve(at(1.0, HANDLE), at(HANDLE, 1.0), at(0.0, 1.0)),
        Step::Curve(at(-HANDLE, 1.0), at(-1.0, HANDLE), at(-1.0, 0.0)),
        Step::Curve(at(-1.0, -HANDLE), at(-HANDLE, -1.0), at(0.0, -1.0)),
        Step::Curve(at(HANDLE, -1.0), at(1.0, -HANDLE), at(1.0, 0.0)),
        Step::Close,
    ]
}

/// A rectangle: left, top, right, bottom.
pub(super) fn rectangle([left, top, right, bottom]: [f32; 4]) -> Vec<Step> {
    polygon([pos2(left, top), pos2(right, top), pos2(right, bottom), pos2(left, bottom)])
}

/// A polygon.
pub(super) fn polygon(corners: impl IntoIterator<Item = Pos2>) -> Vec<Step> {
    let mut steps: Vec<Step> = corners.into_iter().map(Step::Line).collect();
    if let Some(Step::Line(first)) = steps.first().copied() {
        steps[0] = Step::Move(first);
        steps.push(Step::Close);
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f32::consts::TAU;

    #[test]
    fn a_way_is_met_by_few_curves() {
        let spiral = |s: f32| {
            let (sin, cos) = (s * TAU).sin_cos();
            pos2(400.0 + (100.0 + 200.0 * s) * cos, 300.0 + (100.0 + 200.0 * s) * sin)
        };
        let steps = along(&spiral, 0.0, 1.0);
        assert!((4..=40).contains(&steps.len()), "{}", steps.len());
        let Some(Step::Curve(_, _, end)) = steps.last() else { panic!("it ends with a curve") };
        assert!(end.distance(spiral(1.0)) < 1e-3);
        // Halfway along each curve the spiral is near.
        let mut at = spiral(0.0);
        for step in &steps[1..] {
            let Step::Curve(a, b, end) = *step else { panic!("curves alone") };
            let middle = ((at.to_vec2() + end.to_vec2()) * 0.125 + (a.to_vec2() + b.to_vec2()) * 0.375).to_pos2();
            let near = (0..=4000).map(|n| spiral(n as f32 / 4000.0).distance(middle)).fold(f32::MAX, f32::min);
            assert!(near < 0.3, "{near}");
            at = end;
        }
        assert_eq!(along(&|s| pos2(3.0 * s, 4.0 * s), 0.0, 1.0).len(), 2, "what is straight is one line");
    }
}
