// Places of slots. Twin: `scene::motion::Endpoint` and `scene::layout::Sector`; `tests/pictures/polar_twin.rs` compares.

// Where a slot is, or a place between slots: its sector, its arm (a set), its way on it (a rank).
fn slot_place(number: u32, arm: f32, way: f32) -> vec2f {
    let sector = sectors[number];
    let u = (way + 0.5) / sector.ways;
    let turn = sector.omega / (sector.r1 - sector.r0);
    let r = sqrt(max(sector.r0 * sector.r0 + u * (sector.r1 * sector.r1 - sector.r0 * sector.r0), 0.0));
    let theta = sector.theta0 + sector.span * arm / sector.sets + turn * (r - sector.r0);
    return r * vec2f(cos(theta), sin(theta));
}
