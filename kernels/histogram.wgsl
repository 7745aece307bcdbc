// A histogram of 16 bins: of each group in workgroup memory, then added to that of all.
// Look for: atomic operations race with none of their kind; items of a warp that meet in a bin wait for each other.
@group(0) @binding(0) var<storage, read> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> bins: array<atomic<u32>, 16>;
var<workgroup> local_bins: array<atomic<u32>, 16>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) item: u32) {
    if id.x < arrayLength(&values) {
        atomicAdd(&local_bins[values[id.x] / 16u], 1u);
    }
    workgroupBarrier();
    if item < 16u {
        atomicAdd(&bins[item], atomicLoad(&local_bins[item]));
    }
}
