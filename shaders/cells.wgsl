// Cells of large caches: neighbouring slots as one patch, wound like the arms. No smoothing: neighbours share edges exactly.
//
//   rank to   +-----+      each corner is a place between slots; the patch is the quadrilateral between them,
//             | cell|      small enough that its sides may be straight
//   rank from +-----+
//        set from  set to

#import shared/frame
#import shared/polar

struct Cell {
    @builtin(position) position: vec4f,
    @location(0) @interpolate(flat) color: vec4f,
}

@vertex
fn vs_main(
    @builtin(vertex_index) corner: u32,
    // set from, set to, rank from, rank to
    @location(0) slots: vec4f,
    @location(1) color: vec4f,
    @location(2) sector: u32,
) -> Cell {
    let arm = select(slots.x, slots.y, (corner & 1u) == 1u) - 0.5;
    let way = select(slots.z, slots.w, (corner >> 1u) == 1u) - 0.5;
    var out: Cell;
    out.position = clip_from_world(slot_place(sector, arm, way));
    out.color = vec4f(color.rgb * color.a, color.a);
    return out;
}

@fragment
fn fs_main(in: Cell) -> @location(0) vec4f {
    return in.color;
}
