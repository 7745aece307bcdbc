// The same product in tiles of 16 x 16 that a group keeps in workgroup memory.
// Look for: a sixteenth of the reads of A and B; the barriers that make it sound; no bank conflicts.
override N = 32u;
@group(0) @binding(0) var<storage, read> A: array<f32>;
@group(0) @binding(1) var<storage, read> B: array<f32>;
@group(0) @binding(2) var<storage, read_write> C: array<f32>;
var<workgroup> tile_a: array<array<f32, 16>, 16>;
var<workgroup> tile_b: array<array<f32, 16>, 16>;

@compute @workgroup_size(16, 16)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_id) local: vec3u) {
    var sum = 0.0;
    for (var t = 0u; t < N; t += 16u) {
        tile_a[local.y][local.x] = A[id.y * N + t + local.x];
        tile_b[local.y][local.x] = B[(t + local.y) * N + id.x];
        workgroupBarrier();
        for (var k = 0u; k < 16u; k++) {
            sum += tile_a[local.y][k] * tile_b[k][local.x];
        }
        workgroupBarrier();
    }
    C[id.y * N + id.x] = sum;
}
