// What every shader of a frame knows. Twin: `render::gpu_data`.

struct Frame {
    // clip = world * scale + offset (y up in clip space, down in the world)
    scale: vec2f,
    offset: vec2f,
    // Half the target's size, pixels.
    half_size: vec2f,
    px_per_unit: f32,
    // Pixels for one pixel of a picture 720 high.
    line_scale: f32,
}

@group(0) @binding(0) var<uniform> frame: Frame;

fn clip_from_world(p: vec2f) -> vec4f {
    return vec4f(p * frame.scale + frame.offset, 0.0, 1.0);
}

fn clip_from_px(p: vec2f) -> vec2f {
    return vec2f(p.x, -p.y) / frame.half_size;
}
