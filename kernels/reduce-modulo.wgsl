// Reduction, interleaved addressing with modulo (Harris 2007; Klein, Algorithm 7.2).
// Look for: all warps diverge, since every second, fourth, eighth ... item adds; no bank conflicts.
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
    for (var s = 1u; s < 64u; s = s * 2u) {
        if tid % (2u * s) == 0u {
            sdata[tid] = sdata[tid] + sdata[tid + s];
        }
        workgroupBarrier();
    }
    if tid == 0u {
        g_odata[wid.x] = sdata[0];
    }
}
