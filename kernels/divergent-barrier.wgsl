// A barrier that only some items of a group come to: those whose number is odd.
// Look for: the barrier's line and that of the condition; on hardware the group may wait for ever.
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> b: array<u32>;
var<workgroup> shared_a: array<u32, 32>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) item: u32) {
    shared_a[item] = a[id.x];
    if a[id.x] % 2u == 1u {
        workgroupBarrier();
    }
    b[id.x] = shared_a[item];
}
