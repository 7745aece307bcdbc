// A matrix of N x N, turned by way of a tile of 32 x 32 in workgroup memory.
// Look for: reads and writes in whole sectors; but a column of the tile lies in one bank: 32-way conflicts. With --set PAD=1 a
// row is a word longer, and they are gone.
override N = 64u;
override PAD = 0u;
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> turned: array<f32>;
var<workgroup> tile: array<f32, 1056>;

@compute @workgroup_size(32, 8)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
    let row = 32u + PAD;
    for (var y = local.y; y < 32u; y += 8u) {
        tile[y * row + local.x] = a[(group.y * 32u + y) * N + group.x * 32u + local.x];
    }
    workgroupBarrier();
    for (var y = local.y; y < 32u; y += 8u) {
        turned[(group.x * 32u + y) * N + group.y * 32u + local.x] = tile[local.x * row + y];
    }
}
