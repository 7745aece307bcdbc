//! What stands round solids: walls behind them with lines at round numbers, and where names of rows, columns and heights belong. All
//! names are outside of the box, at edges that the camera sees against the ground.

use super::camera::Sight;
use super::mesh::{Corner, Mesh, NOTHING, Point, Triangle};
use super::plane::Ground;
use super::scale::indices;
use crate::scene::palette;

/// What a name says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Says {
    /// A row's number.
    Row(usize),
    /// A column's number.
    Column(usize),
    /// A number of the axis of heights: upwards, and downwards.
    Height(f64, bool),
    /// What rows are.
    Rows,
    /// What columns are.
    Columns,
    /// What the axis of heights tells, upwards, and downwards.
    Heights(bool),
}

/// A name, at a point, to be written on the side away from another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Name {
    /// What it says.
    pub says: Says,
    /// Where.
    pub at: Point,
    /// Away from here.
    pub from: Point,
}

/// Room that a name of a row or a column takes across, and any name upwards, in the size of type.
const APART: [f32; 2] = [1.7, 1.25];

/// Adds the plane, the walls behind, and gives the names, as many as stand apart in type of `em` pixels; `two_sided` where heights are
/// told downwards as well.
pub fn add(mesh: &mut Mesh, ground: &Ground, sight: &Sight, em: f32, two_sided: bool) -> Vec<Name> {
    let [low, high] = ground.bounds();
    let [x, z] = ground.half;
    // The sides that are far, and those that are near.
    let far_x = if sight.towards([1.0, 0.0, 0.0]) > 0.0 { -x } else { x };
    let far_z = if sight.towards([0.0, 0.0, 1.0]) > 0.0 { -z } else { z };
    let (near_x, near_z) = (-far_x, -far_z);
    let faint = palette::fade(palette::GUIDE, 0.20);
    let zero = palette::fade(palette::GUIDE, 0.62);
    for number in ground.reach.numbers() {
        let y = ground.y(number);
        mesh.wire([[far_x, y, -z], [far_x, y, z]], 1.0, faint);
        mesh.wire([[-x, y, far_z], [x, y, far_z]], 1.0, faint);
    }
    // Upright edges behind, and the foot.
    for [x, z] in [[far_x, far_z], [far_x, near_z], [near_x, far_z]] {
        mesh.wire([[x, low[1], z], [x, high[1], z]], 1.0, faint);
    }
    for y in if low[1] < 0.0 { vec![low[1]] } else { Vec::new() } {
        mesh.wire([[near_x, y, -z], [near_x, y, z]], 1.0, faint);
        mesh.wire([[-x, y, near_z], [x, y, near_z]], 1.0, faint);
    }
    plane(mesh, ground, zero);
    let mut names = Vec::new();
    let [rows, columns] = ground.extents;
    // Edges of the foot lie within the outline of what is seen from high above, or from below.
    let up = sight.towards([0.0, 1.0, 0.0]);
    let foot = if (0.0..0.8).contains(&up) { low[1] } else { high[1] };
    let row_at = |row: usize| [near_x, foot, ground.at(row, 0)[1]];
    let column_at = |column: usize| [ground.at(0, column)[0], foot, near_z];
    for row in indices(rows, apart(sight, em, rows, row_at)) {
        let [x, y, z] = row_at(row);
        names.push(Name { says: Says::Row(row), at: [x, y, z], from: [0.0, y, z] });
    }
    for column in indices(columns, apart(sight, em, columns, column_at)) {
        let [x, y, z] = column_at(column);
        names.push(Name { says: Says::Column(column), at: [x, y, z], from: [x, y, 0.0] });
    }
    names.push(Name { says: Says::Rows, at: [near_x, foot, 0.0], from: [0.0, foot, 0.0] });
    names.push(Name { says: Says::Columns, at: [0.0, foot, near_z], from: [0.0, foot, 0.0] });
    // The upright edges at the left and at the right of all.
    let mut edges = [[near_x, far_z], [far_x, near_z]];
    let across = |edge: [f32; 2]| sight.at([edge[0], 0.0, edge[1]]).0[0];
    if across(edges[0]) > across(edges[1]) {
        edges.swap(0, 1);
    }
    for (down, [x, z]) in [false, true].into_iter().zip(edges).take(if two_sided { 2 } else { 1 }) {
        let name = |says: Says, y: f32| Name { says, at: [x, y, z], from: [0.0, y, 0.0] };
        let step = sight.at([x, ground.y(ground.reach.step), z]).0[1] - sight.at([x, 0.0, z]).0[1];
        let kept = ground.reach.thinned(APART[1] * em / step.abs().max(1e-3));
        names.extend(kept.map(|number| name(Says::Height(number, down), ground.y(number))));
        names.push(name(Says::Heights(down), high[1]));
    }
    names
}

/// How many elements along an edge there are from name to name, so that names stand apart across or upwards.
pub(super) fn apart(sight: &Sight, em: f32, extent: usize, at: impl Fn(usize) -> Point) -> f32 {
    let Some(last) = extent.checked_sub(1).filter(|last| *last > 0) else { return 1.0 };
    let long = |a: usize, b: usize| {
        let ([x, y], [to_x, to_y]) = (sight.at(at(a)).0, sight.at(at(b)).0);
        let (across, up) = ((to_x - x).abs().max(1e-3), (to_y - y).abs().max(1e-3));
        (APART[0] * em / across).min(APART[1] * em / up)
    };
    // An element is smaller at the far end.
    long(0, 1).max(long(last - 1, last))
}

/// The plane itself: seen through, with lines between elements where there is room for them.
fn plane(mesh: &mut Mesh, ground: &Ground, edge: palette::Rgba) {
    let [x, z] = ground.half;
    let corners = [[-x, 0.0, z], [x, 0.0, z], [x, 0.0, -z], [-x, 0.0, -z]];
    let color = palette::fade(palette::GUIDE, 0.09);
    let [a, b, c, d] = corners.map(|at| Corner { at, normal: [0.0, 1.0, 0.0], color });
    mesh.panes.push(Triangle { corners: [a, b, c], about: NOTHING });
    mesh.panes.push(Triangle { corners: [a, c, d], about: NOTHING });
    for n in 0..4 {
        mesh.wire([corners[n], corners[(n + 1) % 4]], 1.4, edge);
    }
    let [rows, columns] = ground.extents;
    if rows.max(columns) > 20 {
        return;
    }
    let line = palette::fade(palette::GUIDE, 0.16);
    for row in 1..rows {
        let at = row as f32 * ground.pitch[1] - z;
        mesh.wire([[-x, 0.0, at], [x, 0.0, at]], 1.0, line);
    }
    for column in 1..columns {
        let at = column as f32 * ground.pitch[0] - x;
        mesh.wire([[at, 0.0, -z], [at, 0.0, z]], 1.0, line);
    }
}

#[cfg(test)]
mod tests {
    use super::super::camera::{Orbit, USUAL};
    use super::super::plane::Heights;
    use super::*;

    #[test]
    fn names_are_outside_of_what_they_name_from_anywhere() {
        let numbers: Vec<f64> = (0..72).map(|n| f64::from(n % 7) - 2.0).collect();
        let heights = Heights { rows: 8, columns: 9, above: numbers.clone(), below: numbers, signed: true };
        let ground = Ground::of(&heights);
        let area = [0.0, 0.0, 800.0, 600.0];
        let around = [10.0, 100.0, 190.0, 280.0, USUAL.azimuth].map(|azimuth| Orbit { azimuth, altitude: 24.0 });
        for orbit in
            around.into_iter().chain([Orbit { azimuth: 0.0, altitude: 89.0 }, Orbit { azimuth: 10.0, altitude: -24.0 }])
        {
            let sight = Sight::new(ground.bounds(), orbit, 1.0, area);
            let mut mesh = Mesh::default();
            let names = add(&mut mesh, &ground, &sight, 14.0, true);
            assert!(
                names.iter().any(|name| name.says == Says::Row(0)) && names.iter().any(|n| n.says == Says::Column(0))
            );
            let heights = names.iter().filter(|name| matches!(name.says, Says::Height(..))).count();
            assert!(heights >= 2 && heights <= 2 * ground.reach.numbers().count());
            // A name of a row is lower on the screen than the row's middle, from the side.
            for name in names.iter().filter(|name| matches!(name.says, Says::Row(_) | Says::Column(_))) {
                let lower = sight.at(name.at).0[1] - sight.at(name.from).0[1];
                assert!(lower >= -0.5 || orbit.altitude != 24.0, "{name:?} from {orbit:?}");
            }
            // From above all of the box is at the right of where rows are named.
            let named = names.iter().filter(|name| matches!(name.says, Says::Row(_)));
            let left = named.map(|name| sight.at(name.at).0[0]).fold(f32::MAX, f32::min);
            for n in 0..8 {
                let corner = [0, 1, 2].map(|axis| ground.bounds()[n >> axis & 1][axis]);
                assert!(orbit.altitude < 80.0 || sight.at(corner).0[0] >= left - 0.5, "{corner:?}");
            }
            // The axes of heights stand left and right of everything.
            let x = |down: bool| {
                names.iter().find(|n| n.says == Says::Heights(down)).map(|n| sight.at(n.at).0[0]).unwrap_or_default()
            };
            assert!(x(false) < x(true), "{orbit:?}");
        }
    }
}
