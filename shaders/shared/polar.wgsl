// Places: slots and polar positions. Twin: `scene::motion::Endpoint` and `scene::layout::Sector`.
// An endpoint is (cache, a, b, across): cache < 0 = polar (a = r, b = theta); else slot (a = set, b = rank).

const TAU = 6.28318530717958647692;

struct Place {
    at: vec2f,
    r: f32,
    theta: f32,
    // Unit vector outward at theta.
    out: vec2f,
}

// Without branches, since software rasterizers take both sides of each: a polar position goes through sector 0's
// formula too, and drops what comes of it.
fn endpoint_place(e: vec4f) -> Place {
    let polar = e.x < 0.0;
    let sector = sectors[u32(max(e.x, 0.0))];
    let u = (e.z + 0.5) / sector.ways;
    let turn = sector.omega / (sector.r1 - sector.r0);
    let slot_r = sqrt(max(sector.r0 * sector.r0 + u * (sector.r1 * sector.r1 - sector.r0 * sector.r0), 0.0));
    let slot_theta = sector.theta0 + sector.span * e.y / sector.sets + turn * (slot_r - sector.r0);
    var p: Place;
    p.r = select(slot_r, e.y, polar);
    p.theta = select(slot_theta, e.z, polar);
    p.out = vec2f(cos(p.theta), sin(p.theta));
    // Across the arm: the tangent in the (radial, angular) frame is (1, slope). Where there are no sectors it would be no number.
    let slope = select(slot_r * turn, 0.0, polar);
    let n = vec2f(-slope, 1.0) * (inverseSqrt(1.0 + slope * slope) * select(e.w, 0.0, polar));
    p.at = (p.r + n.x) * p.out + n.y * turned(p.out);
    return p;
}

// A quarter turn on.
fn turned(v: vec2f) -> vec2f {
    return vec2f(-v.y, v.x);
}
