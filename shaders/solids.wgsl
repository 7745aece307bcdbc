// Triangles that were projected and lit already, with a depth buffer, into a picture of their own; and that picture over what is below.
// Each pixel is covered by samples here, in place of analytic edges: depth decides who is seen at each sample.

struct SolidArea {
    // Left, top, width and height of where they stand, pixels of the target.
    area: vec4f,
    // Width and height of the target, pixels.
    target_size: vec2f,
    // Pixels for one unit of places.
    scale: f32,
    _pad0: f32,
}

@group(0) @binding(0) var<uniform> solids: SolidArea;
@group(0) @binding(1) var picture: texture_2d<f32>;

struct Corner {
    @builtin(position) position: vec4f,
    @location(0) color: vec4f,
}

@vertex
fn vs_main(
    // pixels of the target where the scale is 1, then depth
    @location(0) at: vec3f,
    @location(1) color: vec4f,
) -> Corner {
    let p = (at.xy * solids.scale - solids.area.xy) / solids.area.zw;
    var out: Corner;
    out.position = vec4f(2.0 * p.x - 1.0, 1.0 - 2.0 * p.y, at.z, 1.0);
    out.color = vec4f(color.rgb * color.a, color.a);
    return out;
}

@fragment
fn fs_main(in: Corner) -> @location(0) vec4f {
    return in.color;
}

@vertex
fn vs_over(@builtin(vertex_index) corner: u32) -> @builtin(position) vec4f {
    let at = solids.area.xy + solids.area.zw * vec2f(f32(corner & 1u), f32(corner >> 1u));
    let p = at / solids.target_size;
    return vec4f(2.0 * p.x - 1.0, 1.0 - 2.0 * p.y, 0.0, 1.0);
}

@fragment
fn fs_over(@builtin(position) at: vec4f) -> @location(0) vec4f {
    return textureLoad(picture, vec2<i32>(at.xy - solids.area.xy), 0);
}
