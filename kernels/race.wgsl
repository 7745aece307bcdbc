// Each item adds its neighbour's number to its own, with no barrier in between.
// Look for: the race of the two lines: whether the neighbour's number is there yet depends on the hardware.
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;
var<workgroup> shared_a: array<u32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) item: u32) {
    shared_a[item] = a[id.x];
    // workgroupBarrier() belongs here.
    sums[id.x] = shared_a[item] + shared_a[(item + 1u) % 64u];
}
