// Plain rectangles in pixels: the strip's bars, meters, patches behind words. No smoothing: neighbours share edges exactly.

#import shared/frame

struct Bar {
    @builtin(position) position: vec4f,
    @location(0) @interpolate(flat) color: vec4f,
}

@vertex
fn vs_main(
    @builtin(vertex_index) corner: u32,
    // left, top, right, bottom, pixels from the upper left
    @location(0) sides: vec4f,
    @location(1) color: vec4f,
) -> Bar {
    let p = select(sides.xy, sides.zw, vec2<bool>((corner & 1u) == 1u, (corner & 2u) == 2u));
    var out: Bar;
    out.position = vec4f(p.x / frame.half_size.x - 1.0, 1.0 - p.y / frame.half_size.y, 0.0, 1.0);
    out.color = vec4f(color.rgb * color.a, color.a);
    return out;
}

@fragment
fn fs_main(in: Bar) -> @location(0) vec4f {
    return in.color;
}
