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

// Place at eased phase e of the flight between endpoints `start` and `end`. At most two places and one angle are computed, whatever
// the path.
fn path_place(path: u32, start: vec4f, end: vec4f, sweep: f32, e: f32) -> vec2f {
    // Rest: `end`. Slide: on the arm of `end`, between the two ranks.
    let slide = select(1.0, e, path == PATH_SLIDE);
    let b = endpoint_place(vec4f(end.xy, mix(start.zw, end.zw, slide)));
    if path == PATH_REST || path == PATH_SLIDE {
        return b.at;
    }
    let a = endpoint_place(start);
    if path == PATH_STRAIGHT {
        return mix(a.at, b.at, e);
    }
    // An arc of a small sweep swings out on its way: it must not look like a miss.
    let bow = select(0.2, -0.2, sweep < 0.0) * max(1.0 - abs(sweep) / 0.5, 0.0);
    let theta = a.theta + sweep * e + bow * 4.0 * e * (1.0 - e);
    let ra = length(a.at);
    let rb = length(b.at);
    let e4 = e * e * e * e;
    let r = ra + (rb - ra) * e4 * e;
    // What the polar path misses of the exact endpoints. theta(a) + sweep is theta(b) up to whole turns.
    let fix_a = a.at - ra * a.out;
    let fix_b = b.at - rb * b.out;
    return r * vec2f(cos(theta), sin(theta)) + fix_a * (1.0 - e) + fix_b * e;
}
