// Reduction, sequential addressing (Harris 2007; Klein, Algorithm 7.4).
// Look for: as with the strided index half of the warps do not diverge; neighbours are in neighbouring banks: no conflict.
@group(0) @binding(0) var<storage, read> g_idata: array<f32>;
@group(0) @binding(1) var<storage, read_write> g_odata: array<f32>;
@group(0) @binding(2) var<uniform> n: u32;
var<workgroup> sdata: array<f32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3u, @builtin(local_invocation_id) lid: vec3u, @builtin(workgroup_id) wid: vec3u) {
    let tid = lid.x;
    let i = gid.x;
    if i < n {
        sdata[tid] = g_idata[i];
    } else {
        sdata[tid] = 0.0;
    }
    workgroupBarrier();
    for (var s = 32u; s > 0u; s = s / 2u) {
        if tid < s {
            sdata[tid] = sdata[tid] + sdata[tid + s]; // @emit sdata[tid]
        }
        workgroupBarrier();
    }
    if tid == 0u {
        g_odata[wid.x] = sdata[0];
    }
}
