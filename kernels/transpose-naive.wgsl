// A matrix of N x N, turned.
// Look for: rows are read in whole sectors, but columns are written one word a sector: eight times the traffic.
override N = 64u;
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> turned: array<f32>;

@compute @workgroup_size(32, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
    turned[id.x * N + id.y] = a[id.y * N + id.x];
}
