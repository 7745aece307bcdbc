// Stretches of flight paths as lines of constant width.
//
//    n   .--------------.      two corners at each end, pushed out along the path's own normal there, so that
//    ^   |  width + 2px |      neighbouring stretches share their edge exactly: no gap, no overlap
//    |   '--------------'
//
// Lines are partly light: overlapping ones grow brighter (LIGHT = share that adds instead of covering).

#import shared/frame
#import shared/polar
#import shared/motion

const LIGHT = 0.5;

struct Line {
    @builtin(position) position: vec4f,
    @location(0) color: vec4f,
    // Pixels from the middle of the line.
    @location(1) across: f32,
    @location(2) @interpolate(flat) half_width: f32,
}

@vertex
fn vs_main(
    @builtin(vertex_index) corner: u32,
    @location(0) start: vec4f,
    @location(1) end: vec4f,
    // sweep, s0, s1, width in pixels of a picture 720 high
    @location(2) shape: vec4f,
    @location(3) color: vec4f,
    // alpha at s0, alpha at s1
    @location(4) alpha: vec2f,
    @location(5) path: u32,
) -> Line {
    let last = (corner & 1u) == 1u;
    let e = select(shape.y, shape.z, last);
    var p: vec2f;
    var along: vec2f;
    if path == PATH_STRAIGHT {
        let a = endpoint_place(start).xy;
        let b = endpoint_place(end).xy;
        p = mix(a, b, e);
        along = b - a;
    } else {
        let lo = max(e - 0.004, 0.0);
        let hi = min(e + 0.004, 1.0);
        p = path_place(path, start, end, shape.x, e);
        along = path_place(path, start, end, shape.x, hi) - path_place(path, start, end, shape.x, lo);
    }
    let span = length(along);
    var normal = vec2f(0.0, 1.0);
    if span > 1e-7 {
        normal = vec2f(-along.y, along.x) / span;
    }
    let side = f32(corner >> 1u) * 2.0 - 1.0;
    let width = shape.w * frame.line_scale;
    var out: Line;
    // Below one pixel a line fades instead of thinning.
    out.half_width = max(0.5 * width, 0.5);
    out.across = side * (out.half_width + 1.0);
    let clip = clip_from_world(p);
    out.position = vec4f(clip.xy + clip_from_px(normal * out.across), 0.0, 1.0);
    out.color = vec4f(color.rgb, color.a * select(alpha.x, alpha.y, last) * min(width, 1.0));
    return out;
}

@fragment
fn fs_main(in: Line) -> @location(0) vec4f {
    let a = in.color.a * clamp(in.half_width + 0.5 - abs(in.across), 0.0, 1.0);
    return vec4f(in.color.rgb * a, a * (1.0 - LIGHT));
}
