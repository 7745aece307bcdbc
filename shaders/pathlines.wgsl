// Stretches of flight paths as lines of constant width.
//
//    n   .--------------.      two corners at each end, pushed out along the path's own normal there, so that
//    ^   |  width + 1px |      neighbouring stretches share their edge exactly: no gap, no overlap
//    |   '--------------'
//
// Lines cover: however many lie on each other, they come to their own colour and no further, so that hue is kept. What adds
// light instead would go past it, channel by channel: blue to the white of hits, red to orange.

#import shared/frame

struct Line {
    @builtin(position) position: vec4f,
    // Pixels from the middle of the line, alpha.
    @location(0) @interpolate(linear) across_alpha: vec2f,
    // Colour, half the width + 1/2.
    @location(1) @interpolate(flat) color_half: vec4f,
}

@vertex
fn vs_main(
    @builtin(vertex_index) corner: u32,
    // Both ends: x, y, and the unit normal of the path there.
    @location(0) start: vec4f,
    @location(1) end: vec4f,
    // Pixels of a picture 720 high.
    @location(2) width: f32,
    @location(3) color: vec4f,
    // alpha at the start, alpha at the end
    @location(4) alpha: vec2f,
) -> Line {
    let last = (corner & 1u) == 1u;
    let here = select(start, end, last);
    let side = f32((corner >> 1u) & 1u) * 2.0 - 1.0;
    let line_width = width * frame.line_scale;
    // Below one pixel a line fades instead of thinning.
    let half = max(0.5 * line_width, 0.5);
    let across = side * (half + 0.5);
    var out: Line;
    let clip = clip_from_world(here.xy);
    out.position = vec4f(clip.xy + clip_from_px(here.zw * across), 0.0, 1.0);
    out.across_alpha = vec2f(across, color.a * select(alpha.x, alpha.y, last) * min(line_width, 1.0));
    out.color_half = vec4f(color.rgb, half + 0.5);
    return out;
}

@fragment
fn fs_main(in: Line) -> @location(0) vec4f {
    let a = in.across_alpha.y * clamp(in.color_half.w - abs(in.across_alpha.x), 0.0, 1.0);
    return vec4f(in.color_half.rgb, 1.0) * a;
}
