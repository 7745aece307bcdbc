// Product of two matrices of N x N, one item a number of C.
// Look for: each item reads a row of A and a column of B by itself; of A a warp reads two words at a time, of B whole sectors.
override N = 32u;
@group(0) @binding(0) var<storage, read> A: array<f32>;
@group(0) @binding(1) var<storage, read> B: array<f32>;
@group(0) @binding(2) var<storage, read_write> C: array<f32>;

@compute @workgroup_size(16, 16)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= N || id.y >= N {
        return;
    }
    var sum = 0.0;
    for (var k = 0u; k < N; k++) {
        sum += A[id.y * N + k] * B[k * N + id.x];
    }
    C[id.y * N + id.x] = sum;
}
