// Soft disks behind the rings: temperature. A mesh of bands, so that a pixel costs one interpolation and the smoothing of
// it: a ramp with corners is seen as an edge, the more so from close up.
//
//   whole ring: three bands               part of a ring: more bands, since its ends wind like the arms,
//   alpha   0 ....1=======1.... 0         and the first and last column fade to nothing
//   radius  r0-soft r0    r1    r1+soft   alpha   0 ..1====== ... ======1.. 0
//                                         angle   theta0, + fade, ..., + span

#import shared/frame

struct Band {
    @builtin(position) position: vec4f,
    // Share of the disk's colour, before smoothing.
    @location(0) share: f32,
    // Premultiplied.
    @location(1) @interpolate(flat) color: vec4f,
}

@vertex
fn vs_main(
    @builtin(vertex_index) index: u32,
    // r0, r1, soft, fade
    @location(0) shape: vec4f,
    // theta0 at r0, span, turn from r0 to r1, unused
    @location(1) arc: vec4f,
    @location(2) color: vec4f,
    // columns, then bands from bit 16
    @location(3) mesh: u32,
) -> Band {
    let columns = mesh & 0xffffu;
    let bands = mesh >> 16u;
    let quad = index / 6u;
    let corner = index % 6u;
    let band = quad / columns;
    // Two triangles: corners 0 1 2, 2 1 3.
    let c = select(select(corner - 2u, 1u, corner == 4u), corner, corner < 3u);
    let fixed = select(c, 2u, corner == 3u);
    let ring = band + (fixed >> 1u);
    let column = quad % columns + (fixed & 1u);

    let inside = ring > 0u && ring < bands;
    let t = f32(ring - 1u) / f32(bands - 2u);
    let border = select(shape.y + shape.z, max(shape.x - shape.z, 0.0), ring == 0u);
    let r = select(border, shape.x * (1.0 - t) + shape.y * t, inside);

    let fade = shape.w;
    let even = arc.y * f32(column) / f32(columns);
    let faded = fade + (arc.y - 2.0 * fade) * (f32(column) - 1.0) / f32(columns - 2u);
    let at_end = column == 0u || column == columns;
    // It winds between r0 and r1 only: where it fades a long winding would make slivers of its triangles.
    let wound = clamp((r - shape.x) / (shape.y - shape.x), 0.0, 1.0);
    let theta = arc.x + select(even, faded, fade > 0.0 && !at_end) + arc.z * wound;

    var out: Band;
    out.position = clip_from_world(r * vec2f(cos(theta), sin(theta)));
    out.share = select(0.0, 1.0, inside && !(fade > 0.0 && at_end));
    out.color = vec4f(color.rgb * color.a, color.a);
    return out;
}

@fragment
fn fs_main(in: Band) -> @location(0) vec4f {
    return in.color * (in.share * in.share * (3.0 - 2.0 * in.share));
}
