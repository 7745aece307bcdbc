// Cells of large caches: neighbouring slots as one patch, wound like the arms. No smoothing: neighbours share edges exactly.
//
//   far  +-----+    the patch is the quadrilateral between its corners, small enough that its sides may be straight
//        | cell|
//   near +-----+

#import shared/frame

struct Cell {
    @builtin(position) position: vec4f,
    @location(0) @interpolate(flat) color: vec4f,
}

@vertex
fn vs_main(
    @builtin(vertex_index) corner: u32,
    // World units.
    @location(0) near: vec4f,
    @location(1) far: vec4f,
    @location(2) color: vec4f,
) -> Cell {
    let side = select(near, far, (corner & 2u) == 2u);
    var out: Cell;
    out.position = clip_from_world(select(side.xy, side.zw, (corner & 1u) == 1u));
    out.color = vec4f(color.rgb * color.a, color.a);
    return out;
}

@fragment
fn fs_main(in: Cell) -> @location(0) vec4f {
    return in.color;
}
