// Sobel filter of an image, tile by tile, with a halo that the items at the edges load too (Klein, section 7.2).
// Look for: ways of a warp at the edges and corners of a tile; fewer warps diverge where groups are wider:
// --set WIDTH=4, 8, 16, 32.
override WIDTH = 16u;
override HEIGHT = 8u;
struct Size { width: u32, height: u32 }
@group(0) @binding(0) var<storage, read> image: array<f32>;
@group(0) @binding(1) var<storage, read_write> edges: array<f32>;
@group(0) @binding(2) var<uniform> size: Size;
// Tiles of 32 x 8 at most, with a halo of one pixel.
var<workgroup> tile: array<array<f32, 34>, 10>;

fn pixel(x: i32, y: i32) -> f32 {
    let at = clamp(vec2i(x, y), vec2i(0), vec2i(i32(size.width), i32(size.height)) - 1);
    return image[u32(at.y) * size.width + u32(at.x)];
}

@compute @workgroup_size(WIDTH, HEIGHT)
fn main(@builtin(global_invocation_id) gid: vec3u, @builtin(local_invocation_id) lid: vec3u) {
    let x = i32(gid.x);
    let y = i32(gid.y);
    let tx = lid.x + 1u;
    let ty = lid.y + 1u;
    tile[ty][tx] = pixel(x, y);
    if lid.x == 0u {
        tile[ty][0] = pixel(x - 1, y);
    }
    if lid.x == WIDTH - 1u {
        tile[ty][WIDTH + 1u] = pixel(x + 1, y);
    }
    if lid.y == 0u {
        tile[0][tx] = pixel(x, y - 1);
        if lid.x == 0u {
            tile[0][0] = pixel(x - 1, y - 1);
        }
        if lid.x == WIDTH - 1u {
            tile[0][WIDTH + 1u] = pixel(x + 1, y - 1);
        }
    }
    if lid.y == HEIGHT - 1u {
        tile[HEIGHT + 1u][tx] = pixel(x, y + 1);
        if lid.x == 0u {
            tile[HEIGHT + 1u][0] = pixel(x - 1, y + 1);
        }
        if lid.x == WIDTH - 1u {
            tile[HEIGHT + 1u][WIDTH + 1u] = pixel(x + 1, y + 1);
        }
    }
    workgroupBarrier();
    if gid.x < size.width && gid.y < size.height {
        var dx = 0.0;
        var dy = 0.0;
        for (var k = 0u; k < 3u; k++) {
            let weight = f32(2u - u32(k != 1u));
            dx += weight * (tile[lid.y + k][lid.x + 2u] - tile[lid.y + k][lid.x]);
            dy += weight * (tile[lid.y + 2u][lid.x + k] - tile[lid.y][lid.x + k]);
        }
        edges[gid.y * size.width + gid.x] = sqrt(dx * dx + dy * dy);
    }
}
