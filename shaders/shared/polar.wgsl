// Places: slots and polar positions. Twin: `scene::motion::Endpoint` and `scene::layout::Ring`.
// An endpoint is (level, a, b, across): level < 0 = polar (a = r, b = theta); else slot (a = set, b = rank).

const TAU = 6.28318530717958647692;

fn slot_polar(ring: RingShape, set_index: f32, rank: f32) -> vec2f {
    let u = (rank + 0.5) / ring.ways;
    let r = sqrt(max(ring.r0 * ring.r0 + u * (ring.r1 * ring.r1 - ring.r0 * ring.r0), 0.0));
    return vec2f(r, TAU * set_index / ring.sets + ring.omega * (r - ring.r0) / (ring.r1 - ring.r0));
}

// (x, y, r, theta)
fn endpoint_place(e: vec4f) -> vec4f {
    if e.x < 0.0 {
        return vec4f(e.y * cos(e.z), e.y * sin(e.z), e.y, e.z);
    }
    let ring = frame.rings[u32(e.x)];
    let p = slot_polar(ring, e.y, e.z);
    let c = cos(p.y);
    let s = sin(p.y);
    // Across the arm: the tangent in the (radial, angular) frame is (1, slope).
    let slope = p.x * ring.omega / (ring.r1 - ring.r0);
    let inverse = inverseSqrt(1.0 + slope * slope);
    let n = vec2f(-slope, 1.0) * inverse * e.w;
    return vec4f(p.x * c + n.x * c - n.y * s, p.x * s + n.x * s + n.y * c, p.x, p.y);
}
