// Dots: one a piece of data. A quad padded so that coverage is 0 inside its edge.
//
//   |<- extent ->|     radius r: disc; with DIRTY a rim at r + 1.2 px; with a flash a halo to 2.6 r;
//   +------------+     with a burst a ring from r to 4 r.
//   |    ( r )   |
//   +------------+

#import shared/frame
#import shared/polar
#import shared/motion

const FLAG_GHOST = 1u;
const FLAG_DIRTY = 2u;
const FLAG_HOLLOW = 4u;

const GHOST_ALPHA = 0.24;
const FLASH_COLOR = vec3f(1.0, 0.22, 0.17);

struct Dot {
    @builtin(position) position: vec4f,
    // Pixels from the centre.
    @location(0) px: vec2f,
    @location(1) color: vec4f,
    // radius px, flash, burst radius px (0 = none), burst alpha
    @location(2) @interpolate(flat) shape: vec4f,
    @location(3) @interpolate(flat) flags: u32,
}

@vertex
fn vs_main(
    @builtin(vertex_index) corner: u32,
    @location(0) start: vec4f,
    @location(1) end: vec4f,
    @location(2) sweep: f32,
    @location(3) radius: f32,
    @location(4) color: vec4f,
    // flash, pulse, burst, unused
    @location(5) glow: vec4f,
    // path, then flags from bit 8
    @location(6) path_flags: u32,
) -> Dot {
    let path = path_flags & 255u;
    let center = path_place(path, start, end, sweep, ease(frame.phase));
    let flags = path_flags >> 8u;
    let r = max(radius * frame.px_per_unit * (1.0 + 0.75 * glow.y), 0.8);
    let bursting = glow.z < 1.0;
    let burst_r = select(0.0, r * (1.2 + 3.2 * glow.z), bursting);
    let halo_r = select(r, r * 2.8, glow.x > 0.02);
    let extent = max(max(halo_r, burst_r), r + 1.2) + 1.5;
    let unit = vec2f(f32(corner & 1u), f32(corner >> 1u)) * 2.0 - 1.0;
    var out: Dot;
    let clip = clip_from_world(center);
    out.px = unit * extent;
    out.position = vec4f(clip.xy + clip_from_px(out.px), 0.0, 1.0);
    let ghost = select(1.0, GHOST_ALPHA, (flags & FLAG_GHOST) != 0u);
    out.color = vec4f(mix(color.rgb, FLASH_COLOR, glow.x), color.a * ghost);
    out.shape = vec4f(r, glow.x, burst_r, 0.8 * (1.0 - glow.z));
    out.flags = flags;
    return out;
}

@fragment
fn fs_main(in: Dot) -> @location(0) vec4f {
    let d = length(in.px);
    let r = in.shape.x;
    var cover = clamp(r + 0.5 - d, 0.0, 1.0);
    if (in.flags & FLAG_HOLLOW) != 0u {
        cover *= clamp(d - (r - 1.5) + 0.5, 0.0, 1.0);
    }
    let a = in.color.a * cover;
    var out = vec4f(in.color.rgb * a, a);
    if (in.flags & FLAG_DIRTY) != 0u {
        // On dots of few pixels a rim would be all there is to see.
        let rim = 0.55 * in.color.a * clamp(0.6 * r - 0.7, 0.0, 1.0) * clamp(1.0 - abs(d - (r + 0.7)), 0.0, 1.0);
        out = out * (1.0 - rim) + vec4f(rim);
    }
    if in.shape.y > 0.02 {
        // Light, not paint: adds without covering.
        let glow = clamp(1.0 - d / (r * 2.8), 0.0, 1.0);
        out += vec4f(FLASH_COLOR, 0.0) * (0.55 * in.shape.y * glow * glow);
    }
    if in.shape.z > 0.0 {
        let ring = in.shape.w * clamp(1.2 - abs(d - in.shape.z), 0.0, 1.0);
        out += vec4f(vec3f(1.0, 0.62, 0.56) * ring, 0.0);
    }
    return out;
}
