// Soft disks behind the rings: temperature; parts of rings: bars and spikes. A mesh of few triangles, since these cost a software
// adapter more than pixels do: how far a pixel lies inside the edges is computed for each pixel.
//
//   whole ring: one band                  part of a ring: its ends fade too; where they wind like the arms,
//   alpha   0 ... 1 ===== 1 ... 0         more bands follow them
//   radius  r0-soft r0   r1  r1+soft      alpha   0 ...... 1 ===== ... ===== 1 ...... 0
//                                         angle   theta0, + fade, ..., + span

#import shared/frame

struct Band {
    @builtin(position) position: vec4f,
    // From the middle of the ring outwards, and of the part along it, in lengths over which it fades.
    @location(0) @interpolate(linear) from_middle: vec2f,
    // Where its edges are, so measured.
    @location(1) @interpolate(flat) edges: vec2f,
    // Premultiplied.
    @location(2) @interpolate(flat) color: vec4f,
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

    let soft = max(shape.z, 1e-6);
    let borders = vec2f(max(shape.x - soft, 0.0), shape.y + soft);
    let inside = ring > 0u && ring < bands;
    let t = f32(ring) - 1.0;
    let r = select(select(borders.x, borders.y, ring > 0u), mix(shape.x, shape.y, t / max(f32(bands) - 2.0, 1.0)), inside);
    // It winds between r0 and r1 only: where it fades a long winding would make slivers of its triangles.
    let wound = clamp((r - shape.x) / (shape.y - shape.x), 0.0, 1.0);
    let along = arc.y * (f32(column) / f32(columns) - 0.5);
    let theta = arc.x + 0.5 * arc.y + along + arc.z * wound;

    var out: Band;
    out.position = clip_from_world(r * vec2f(cos(theta), sin(theta)));
    // What is whole has no ends: it lies inside of them everywhere.
    let fades = shape.w > 0.0;
    let fade = select(1.0, shape.w, fades);
    out.from_middle = vec2f((r - 0.5 * (shape.x + shape.y)) / soft, select(0.0, along / fade, fades));
    out.edges = vec2f(0.5 * (shape.y - shape.x) / soft + 1.0, select(1.0, 0.5 * arc.y / fade, fades));
    out.color = vec4f(color.rgb * color.a, color.a);
    return out;
}

@fragment
fn fs_main(in: Band) -> @location(0) vec4f {
    // A ramp with corners is seen as an edge, the more so from close up.
    let share = clamp(in.edges - abs(in.from_middle), vec2f(0.0), vec2f(1.0));
    let cover = share * share * (3.0 - 2.0 * share);
    return in.color * (cover.x * cover.y);
}
