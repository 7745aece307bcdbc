// Soft disks behind the rings: temperature. A mesh of three bands, so that a pixel costs one interpolation.
//
//   alpha   0 ....1=======1.... 0
//   radius  r0-soft r0    r1    r1+soft

#import shared/frame
#import shared/polar

const SECTORS = 96u;

struct Band {
    @builtin(position) position: vec4f,
    @location(0) color: vec4f,
}

@vertex
fn vs_main(
    @builtin(vertex_index) index: u32,
    // r0, r1, soft, unused
    @location(0) shape: vec4f,
    @location(1) color: vec4f,
) -> Band {
    let quad = index / 6u;
    let corner = index % 6u;
    let band = quad / SECTORS;
    // Two triangles: corners 0 1 2, 2 1 3.
    let c = select(select(corner - 2u, 1u, corner == 4u), corner, corner < 3u);
    let fixed = select(c, 2u, corner == 3u);
    let ring = band + (fixed >> 1u);
    let sector = quad % SECTORS + (fixed & 1u);
    let radii = array(max(shape.x - shape.z, 0.0), shape.x, shape.y, shape.y + shape.z);
    let theta = TAU * f32(sector) / f32(SECTORS);
    let r = radii[ring];
    var out: Band;
    out.position = clip_from_world(r * vec2f(cos(theta), sin(theta)));
    let a = color.a * select(0.0, 1.0, ring == 1u || ring == 2u);
    out.color = vec4f(color.rgb * a, a);
    return out;
}

@fragment
fn fs_main(in: Band) -> @location(0) vec4f {
    return in.color;
}
