// A finished picture in another theme: what is dark becomes light and what is light dark, and hues stay.
// `scene::palette::themed` says the same for one colour.

struct Theme {
    // What a themed ground is multiplied by, so that paper is white.
    gain: vec4f,
}

@group(0) @binding(0) var<uniform> theme: Theme;
@group(0) @binding(1) var picture: texture_2d<f32>;

// Perceived lightness of displayed colours, of red, green and blue.
const LUMA = vec3f(0.2126, 0.7152, 0.0722);

// The luma that the strongest colours may have.
const STRONGEST: f32 = 0.42;
// The luma that a colour keeps at least, so that its hue is seen; grey keeps none.
const DARKEST: f32 = 0.14;

@vertex
fn vs_main(@builtin(vertex_index) corner: u32) -> @builtin(position) vec4f {
    // One triangle that covers the target.
    return vec4f(vec2f(f32(corner & 1u), f32(corner >> 1u)) * 4.0 - 1.0, 0.0, 1.0);
}

@fragment
fn fs_main(@builtin(position) at: vec4f) -> @location(0) vec4f {
    let dark = textureLoad(picture, vec2<i32>(at.xy), 0).rgb;
    let highest = max(dark.r, max(dark.g, dark.b));
    let lowest = min(dark.r, min(dark.g, dark.b));
    let luma = dot(dark, LUMA);
    // Grey turns round; a colour that is strong already stays; what looks light is as dark as it was light, and no strong colour looks
    // so light that it is lost on the ground, or so dark that its hue is.
    let lightest = max(STRONGEST, 1.0 - (highest - lowest));
    let darkest = min(DARKEST, highest - lowest);
    let turned = min(min(1.0 - highest - lowest, 1.0 - 2.0 * luma), lightest - luma);
    let shift = max(turned, darkest - luma);
    return vec4f(min(max(dark + shift, vec3f(0.0)) * theme.gain.rgb, vec3f(1.0)), 1.0);
}
