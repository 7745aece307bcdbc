// How a glyph gets from one place to another. Twin: `scene::motion::position_at`; `tests/pictures/motion_twin.rs` compares.

const PATH_REST = 0u;
const PATH_STRAIGHT = 1u;
const PATH_ARC = 2u;
const PATH_SLIDE = 3u;

fn ease(s: f32) -> f32 {
    let t = clamp(s, 0.0, 1.0);
    return t * t * (3.0 - 2.0 * t);
}

// How far a flight between two times is, 0..1. One of no length is over as soon as it begins.
fn eased(times: vec2f, now: f32) -> f32 {
    let length = times.y - times.x;
    let at_once = select(0.0, 1.0, now >= times.x);
    return ease(select(at_once, (now - times.x) / length, length > 0.0));
}

struct OnPath {
    at: vec2f,
    // Which way it goes there, of any length; 0 where it stands still.
    along: vec2f,
}

// Place and direction at eased phase e of the flight between endpoints `start` and `end`. At most two places and one
// angle are computed, whatever the path.
fn on_path(path: u32, start: vec4f, end: vec4f, sweep: f32, e: f32) -> OnPath {
    // Rest: `end`. Slide: on the arm of `end`, between the two ranks.
    let slide = select(1.0, e, path == PATH_SLIDE);
    let b = endpoint_place(vec4f(end.xy, mix(start.zw, end.zw, slide)));
    if path == PATH_REST || path == PATH_SLIDE {
        let outward = select(sign(end.z - start.z), 0.0, path == PATH_REST);
        return OnPath(b.at, (b.out + b.slope * turned(b.out)) * outward);
    }
    let a = endpoint_place(start);
    if path == PATH_STRAIGHT {
        return OnPath(mix(a.at, b.at, e), b.at - a.at);
    }
    // An arc of a small sweep swings out on its way: it must not look like a miss.
    let bow = select(0.2, -0.2, sweep < 0.0) * max(1.0 - abs(sweep) / 0.5, 0.0);
    let theta = a.theta + sweep * e + bow * 4.0 * e * (1.0 - e);
    let turn = sweep + bow * 4.0 * (1.0 - 2.0 * e);
    let ra = length(a.at);
    let rb = length(b.at);
    let e4 = e * e * e * e;
    let r = ra + (rb - ra) * e4 * e;
    let out = vec2f(cos(theta), sin(theta));
    // What the polar path misses of the exact endpoints. theta(a) + sweep is theta(b) up to whole turns.
    let fix_a = a.at - ra * a.out;
    let fix_b = b.at - rb * b.out;
    let at = r * out + fix_a * (1.0 - e) + fix_b * e;
    return OnPath(at, 5.0 * (rb - ra) * e4 * out + r * turn * turned(out) + fix_b - fix_a);
}

// Place at eased phase e.
fn path_place(path: u32, start: vec4f, end: vec4f, sweep: f32, e: f32) -> vec2f {
    return on_path(path, start, end, sweep, e).at;
}
