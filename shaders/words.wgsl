// Triangles of words and controls, over the finished picture: what egui lays out. A texture holds its glyphs, and a white point for
// all that is of one colour.
//
// One look-up a pixel and no branch: a software adapter runs both sides of every branch, and words cover many pixels.

@group(0) @binding(0) var glyphs: texture_2d<f32>;
@group(0) @binding(1) var between: sampler;

struct Corner {
    @builtin(position) position: vec4f,
    @location(0) @interpolate(linear) at: vec2f,
    // Premultiplied.
    @location(1) @interpolate(linear) color: vec4f,
}

@vertex
fn vs_main(
    // Clip space.
    @location(0) position: vec2f,
    // Place in the texture, 0..1.
    @location(1) at: vec2f,
    @location(2) color: vec4f,
) -> Corner {
    return Corner(vec4f(position, 0.0, 1.0), at, color);
}

@fragment
fn fs_main(in: Corner) -> @location(0) vec4f {
    return in.color * textureSample(glyphs, between, in.at);
}
