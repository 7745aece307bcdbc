// How a glyph gets from one place to another. Twin: `scene::motion::position_at`; `tests/motion_twin.rs` compares.

const PATH_REST = 0u;
const PATH_STRAIGHT = 1u;
const PATH_ARC = 2u;
const PATH_SLIDE = 3u;

fn ease(s: f32) -> f32 {
    let t = clamp(s, 0.0, 1.0);
    return t * t * (3.0 - 2.0 * t);
}

// Position at eased phase e of an arc between two places.
fn arc_place(a: vec4f, b: vec4f, sweep: f32, e: f32) -> vec2f {
    let end = a.w + sweep;
    let theta = a.w + sweep * e;
    let ra = length(a.xy);
    let rb = length(b.xy);
    let r = ra + (rb - ra) * e * e * e;
    let fix_a = a.xy - ra * vec2f(cos(a.w), sin(a.w));
    let fix_b = b.xy - rb * vec2f(cos(end), sin(end));
    return r * vec2f(cos(theta), sin(theta)) + fix_a * (1.0 - e) + fix_b * e;
}

fn slide_place(start: vec4f, end: vec4f, e: f32) -> vec2f {
    let at = vec4f(end.x, end.y, mix(start.z, end.z, e), mix(start.w, end.w, e));
    return endpoint_place(at).xy;
}

// Position at eased phase e of the flight between endpoints `start` and `end`.
fn path_place(path: u32, start: vec4f, end: vec4f, sweep: f32, e: f32) -> vec2f {
    switch path {
        case 1u: { return mix(endpoint_place(start).xy, endpoint_place(end).xy, e); }
        case 2u: { return arc_place(endpoint_place(start), endpoint_place(end), sweep, e); }
        case 3u: { return slide_place(start, end, e); }
        default: { return endpoint_place(end).xy; }
    }
}
