// Dots: one a piece of data, then the light of those that missed. Quads are padded so that coverage is 0 inside their
// edge, and no larger than that: pixels are what a software rasterizer pays for.
//
//   |<- extent ->|     body:  disc of radius r; HOLLOW a ring inside it; DIRTY a rim round it
//   +------------+     light: with a flash a halo to 2.8 r; with a burst a ring that grows from 1.2 r to 4.4 r
//   |    ( r )   |            PAGE a bar of length 2 r along the ring instead, BAR r thick on either side
//   +------------+     Light adds without covering and is drawn over all bodies, by the few that have any.

#import shared/frame

const FLAG_GHOST = 1u;
const FLAG_DIRTY = 2u;
const FLAG_HOLLOW = 4u;
const FLAG_PAGE = 8u;

const GHOST_ALPHA = 0.24;
const FLASH_COLOR = vec3f(1.0, 0.22, 0.17);
const BURST_COLOR = vec3f(1.0, 0.62, 0.56);
const RIM_ALPHA = 0.55;
// Half a bar's thickness in half its length.
const BAR = 0.5;
// Halo's radius in radii of its dot.
const HALO = 2.8;
// Flashes fainter than this have no halo: `render::glyphs` does not ask for one.
const FLASH_SEEN: f32 = 0.02;

struct Dot {
    @builtin(vertex_index) corner: u32,
    // World units.
    @location(0) center: vec2f,
    @location(1) radius: f32,
    @location(2) color: vec4f,
    // flash, pulse, burst, unused
    @location(3) glow: vec4f,
    @location(4) flags: u32,
}

fn radius_px(dot: Dot) -> f32 {
    return max(dot.radius * frame.px_per_unit * (1.0 + 0.75 * dot.glow.y), 0.8);
}

// The quad's corner: x, y in clip space, then in pixels from the centre.
fn corner_at(dot: Dot, extent: f32) -> vec4f {
    let px = (vec2f(f32(dot.corner & 1u), f32((dot.corner >> 1u) & 1u)) * 2.0 - 1.0) * extent;
    return vec4f(clip_from_world(dot.center).xy + clip_from_px(px), px);
}

struct Body {
    @builtin(position) position: vec4f,
    // Pixels from the centre.
    @location(0) @interpolate(linear) px: vec2f,
    // Premultiplied.
    @location(1) @interpolate(flat) color: vec4f,
    // r + 1/2, hole's r - 1/2, rim's alpha, what a bar's thickness lacks of its length or -1
    @location(2) @interpolate(flat) shape: vec4f,
}

@vertex
fn vs_main(dot: Dot) -> Body {
    let r = radius_px(dot);
    let alpha = dot.color.a * select(1.0, GHOST_ALPHA, (dot.flags & FLAG_GHOST) != 0u);
    // On dots of few pixels a rim would be all there is to see.
    let rim = select(0.0, RIM_ALPHA * alpha * clamp(0.6 * r - 0.7, 0.0, 1.0), (dot.flags & FLAG_DIRTY) != 0u);
    let is_page = (dot.flags & FLAG_PAGE) != 0u;
    // A bar may lie at any angle: its corners are farther out than a disc's edge.
    let extent = r + select(0.5, 1.7, rim > 0.0);
    let corner = corner_at(dot, select(extent, 1.2 * extent, is_page));
    var out: Body;
    out.position = vec4f(corner.xy, 0.0, 1.0);
    // In a bar's own frame: x outward, y along the ring.
    let outward = select(vec2f(1.0, 0.0), dot.center / max(length(dot.center), 1e-6), is_page);
    let own = mat2x2f(outward, vec2f(-outward.y, outward.x));
    out.px = select(corner.zw, corner.zw * own, is_page);
    out.color = vec4f(mix(dot.color.rgb, FLASH_COLOR, dot.glow.x) * alpha, alpha);
    let hole = select(-2.0, r - 2.0, (dot.flags & FLAG_HOLLOW) != 0u);
    out.shape = vec4f(r + 0.5, hole, rim, select(-1.0, r - max(BAR * r, 0.5), is_page));
    return out;
}

@fragment
fn fs_main(in: Body) -> @location(0) vec4f {
    let bar = max(abs(in.px.x) + in.shape.w, abs(in.px.y));
    let d = select(length(in.px), bar, in.shape.w >= 0.0);
    let cover = clamp(in.shape.x - d, 0.0, 1.0) * clamp(d - in.shape.y, 0.0, 1.0);
    let rim = in.shape.z * clamp(1.0 - abs(d - in.shape.x - 0.2), 0.0, 1.0);
    return in.color * (cover * (1.0 - rim)) + rim;
}

struct Light {
    @builtin(position) position: vec4f,
    @location(0) @interpolate(linear) px: vec2f,
    // 1 / halo's radius, flash, burst's radius, burst's alpha
    @location(1) @interpolate(flat) shape: vec4f,
}

@vertex
fn vs_light(dot: Dot) -> Light {
    let r = radius_px(dot);
    let flash = select(0.0, dot.glow.x, dot.glow.x > FLASH_SEEN);
    let bursting = dot.glow.z < 1.0;
    let burst_r = r * (1.2 + 3.2 * dot.glow.z);
    let extent = max(select(0.0, r * HALO, flash > 0.0), select(0.0, burst_r + 1.2, bursting));
    let corner = corner_at(dot, extent);
    var out: Light;
    out.position = vec4f(corner.xy, 0.0, 1.0);
    out.px = corner.zw;
    out.shape = vec4f(1.0 / (r * HALO), 0.55 * flash, burst_r, select(0.0, 0.8 * (1.0 - dot.glow.z), bursting));
    return out;
}

@fragment
fn fs_light(in: Light) -> @location(0) vec4f {
    let d = length(in.px);
    let halo = clamp(1.0 - d * in.shape.x, 0.0, 1.0);
    let ring = clamp(1.2 - abs(d - in.shape.z), 0.0, 1.0);
    return vec4f(FLASH_COLOR * (in.shape.y * halo * halo) + BURST_COLOR * (in.shape.w * ring), 0.0);
}
