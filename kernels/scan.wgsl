// Prefix sum of 1,024 numbers in three launches (in a group as Hillis and Steele 1986; in three as Harris, Sengupta and Owens 2007).
// Look for: in `scan` each step parts a warp at `if i >= s`, and no bank conflicts; `scan_sums` has one group at work, and all others wait;
// `add` reads what the two before it wrote. --launch 0, 1 or 2 chooses one; a trace has all three.
@group(0) @binding(0) var<storage, read> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> scanned: array<u32>;
@group(0) @binding(2) var<storage, read_write> sums: array<u32>;
var<workgroup> part: array<u32, 64>;

// Sums within the group, all of its items together: `part[i]` becomes the sum of itself and those before it.
fn scan_group(i: u32, value: u32) -> u32 {
    part[i] = value;
    workgroupBarrier();
    for (var s = 1u; s < 64u; s = s * 2u) {
        var before = 0u;
        if i >= s {
            before = part[i - s];
        }
        workgroupBarrier();
        part[i] = part[i] + before; // @emit part[i]
        workgroupBarrier();
    }
    return part[i];
}

@compute @workgroup_size(64)
fn scan(@builtin(global_invocation_id) gid: vec3u, @builtin(local_invocation_id) lid: vec3u, @builtin(workgroup_id) wid: vec3u) {
    let sum = scan_group(lid.x, values[gid.x]);
    scanned[gid.x] = sum;
    if lid.x == 63u {
        sums[wid.x] = sum;
    }
}

@compute @workgroup_size(64)
fn scan_sums(@builtin(local_invocation_id) lid: vec3u) {
    var value = 0u;
    if lid.x < arrayLength(&sums) {
        value = sums[lid.x];
    }
    let sum = scan_group(lid.x, value);
    if lid.x < arrayLength(&sums) {
        sums[lid.x] = sum;
    }
}

@compute @workgroup_size(64)
fn add(@builtin(global_invocation_id) gid: vec3u, @builtin(workgroup_id) wid: vec3u) {
    if wid.x > 0u {
        scanned[gid.x] = scanned[gid.x] + sums[wid.x - 1u];
    }
}
