//! Textures in kernels: what is read of them and written to them, which texels that is, and what is refused.
#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::calls::{printed, refused};
use crate::kernels::{after, launch, program};
use orrery::kernel::{Event, KernelError, Program, Recording, Space};
use std::collections::BTreeMap;
use std::fs;

/// A kernel of `items` in a row around these statements: `i` is the item, `out` its buffer of four floats each.
pub(crate) fn reading(items: u32, before: &str, statements: &str) -> String {
    format!(
        "@group(0) @binding(0) var<storage, read_write> out: array<vec4f>;\n{before}\n\
         @compute @workgroup_size({items})\nfn main(@builtin(local_invocation_index) i: u32) {{\n{statements}\n}}"
    )
}

/// What is before the statements of [`CASES`].
#[cfg(feature = "gpu")]
pub(crate) const BEFORE: &str = "@group(0) @binding(1) var line: texture_1d<f32>;
@group(0) @binding(2) var flat: texture_2d<f32>;
@group(0) @binding(3) var layers: texture_2d_array<i32>;
@group(0) @binding(4) var solid: texture_3d<u32>;
@group(0) @binding(5) var filtered: texture_2d<f32>;
@group(0) @binding(6) var deep: texture_3d<f32>;
@group(0) @binding(7) var stack: texture_2d_array<f32>;
@group(0) @binding(8) var smooth_one: sampler;
@group(0) @binding(9) var sharp: sampler;
@group(0) @binding(10) var turned: sampler;
@group(1) @binding(0) var bytes: texture_storage_2d<rgba8unorm, write>;
@group(1) @binding(1) var signed: texture_storage_2d<rgba16sint, write>;
@group(1) @binding(2) var kept: texture_storage_2d<r32float, read_write>;
@group(1) @binding(3) var halves: texture_storage_2d_array<rgba16float, write>;
@group(1) @binding(4) var space: texture_storage_3d<rg32uint, write>;
fn texel(t: texture_2d<f32>, at: vec2i) -> vec4f { return textureLoad(t, at, 0); }
fn mixed(t: texture_2d<f32>, s: sampler, at: vec2f) -> vec4f { return textureSampleLevel(t, s, at, 0.0); }
";

/// What is bound to that.
#[cfg(feature = "gpu")]
pub(crate) const BOUND: [(&str, &str); 16] = [
    ("line", "iota:5"),
    ("flat", "random(1):4x3"),
    ("layers", "iota:2x2x3"),
    ("solid", "iota:2x3x4"),
    ("filtered", "random(2):6x5"),
    ("deep", "random(3):3x4x5"),
    ("stack", "random(4):3x3x2"),
    ("smooth_one", "linear"),
    ("sharp", "nearest-repeat"),
    ("turned", "linear-mirror"),
    ("bytes", "random(5):4x4"),
    ("signed", "iota:4x4"),
    ("kept", "iota:4x4"),
    ("halves", "zeros:3x3x2"),
    ("space", "zeros:2x2x2"),
    ("out", "zeros:16"),
];

/// Statements, for both engines.
#[cfg(feature = "gpu")]
pub(crate) const CASES: [&str; 12] = [
    "out[i] = textureLoad(line, i, 0) + textureLoad(flat, vec2u(i % 4u, i / 4u), 0);",
    "out[i] = vec4f(textureLoad(layers, vec2u(i % 2u, i / 2u % 2u), i % 3u, 0)) + vec4f(textureLoad(solid, vec3u(i % 2u, i % 3u, i % 4u), 0));",
    "out[i] = vec4f(vec2f(textureDimensions(flat)), f32(textureNumLayers(layers)), f32(textureDimensions(line))) + vec4f(vec3f(textureDimensions(deep)), f32(textureNumLevels(flat)));",
    "let at = (vec2f(f32(i), f32(i) * 0.7) - 2.0) * 0.37; out[i] = mixed(filtered, smooth_one, at) + mixed(filtered, sharp, at) * 2.0 + mixed(filtered, turned, at) * 4.0;",
    "let at = vec3f(f32(i), 5.0 - f32(i), f32(i) * 0.5) * 0.19; out[i] = textureSampleLevel(deep, smooth_one, at, 0.0) + textureSampleLevel(deep, sharp, at, 1.0);",
    "let at = vec2f(f32(i) * 0.11, 0.6); out[i] = textureSampleLevel(stack, turned, at, i, 0.0) + textureSampleLevel(stack, smooth_one, at, 9, 0.0);",
    "let at = vec2f(f32(i) * 0.13, 0.4); out[i] = textureGather(1, filtered, sharp, at) + textureSampleLevel(filtered, smooth_one, at, 0.0, vec2i(1, -2));",
    "out[i] = textureSampleBaseClampToEdge(filtered, sharp, vec2f(f32(i) * 0.31 - 0.4, 0.23));",
    "textureStore(bytes, vec2u(i % 4u, i / 4u), vec4f(f32(i) * 0.1 - 0.2, 0.5, 0.25, 1.0)); textureStore(signed, vec2u(i % 4u, i / 4u), vec4i(i32(i) * 9000 - 20000, -1, 2, 3));",
    "let at = vec2u(i % 4u, i / 4u); let was = textureLoad(kept, at); if was.x > 3.0 { textureStore(kept, at, was * 2.0 + 1.0); } out[i] = textureLoad(kept, at);",
    "textureStore(halves, vec2u(i % 3u, i / 3u % 3u), i % 2u, vec4f(f32(i) * 0.37, 65000.0, -1.5, 0.0001)); textureStore(space, vec3u(i % 2u, i / 2u % 2u, i / 4u), vec4u(i, i * 3u, 0u, 0u));",
    // Past the end: a column, a row, a layer, a level, a texel that is written.
    "out[i] = textureLoad(flat, vec2u(i, 0u), 0) * 0.0 + texel(flat, vec2i(0, 1 - i32(i))) * 0.0; textureStore(kept, vec2u(i, 0u), vec4f(7.0)); _ = textureLoad(layers, vec2u(), i, 0); _ = textureLoad(flat, vec2u(), i);",
];

fn found(before: &str, statements: &str, binds: &[(&str, &str)]) -> Vec<f64> {
    let program = program(&reading(4, before, statements));
    let run = program.run(&launch([4, 1, 1], binds)).unwrap();
    after(&program, &run, "out")
}

#[test]
fn texels_are_read_where_they_lie() {
    // 4 x 3 texels of four channels, counted through.
    let flat = "@group(0) @binding(1) var t: texture_2d<f32>;";
    let bind = [("t", "iota:4x3")];
    let out = found(flat, "out[i] = textureLoad(t, vec2u(i, 2u), 0);", &bind);
    let expected: Vec<f64> = (32..48).map(f64::from).collect();
    assert_eq!(out, expected, "row 2");
    let size = found(flat, "out[i] = vec4f(vec2f(textureDimensions(t)), f32(textureNumLevels(t)), 0.0);", &bind);
    assert_eq!(size[..4], [4.0, 3.0, 1.0, 0.0]);
    // Halfway between two texels is their mean; at a texel's middle it is that texel.
    let sampled = format!("{flat} @group(0) @binding(2) var s: sampler;");
    let middle = "out[i] = textureSampleLevel(t, s, vec2f((f32(i) + 0.5) / 4.0, 0.5), 0.0);";
    assert_eq!(found(&sampled, middle, &bind)[..8], [16.0, 17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0]);
    let between = "out[i] = textureSampleLevel(t, s, vec2f((f32(i) + 1.0) / 4.0, 0.5), 0.0);";
    assert_eq!(found(&sampled, between, &bind)[..4], [18.0, 19.0, 20.0, 21.0]);
    let last = found(&sampled, between, &bind)[12];
    assert_eq!(last, 28.0, "past the edge is the texel at the edge");
    let wrapped = [("t", "iota:4x3"), ("s", "linear-repeat")];
    assert_eq!(found(&sampled, between, &wrapped)[12], 22.0, "halfway from the last to the first");
    let nearest = [("t", "iota:4x3"), ("s", "nearest")];
    assert_eq!(found(&sampled, between, &nearest)[..4], [20.0, 21.0, 22.0, 23.0]);
    let gathered = "out[i] = textureGather(0, t, s, vec2f(0.5, 0.5) / vec2f(4.0, 3.0) * 2.0);";
    assert_eq!(found(&sampled, gathered, &bind)[..4], [16.0, 20.0, 4.0, 0.0], "from the lower left on");
}

#[test]
fn what_is_written_is_as_near_as_the_format_has_it() {
    let before = "@group(0) @binding(1) var t: texture_storage_2d<rgba8unorm, write>;";
    let statements = "textureStore(t, vec2u(i, 0u), vec4f(0.5, 2.0, -1.0, f32(i) / 255.0)); out[0] = vec4f();";
    let program = program(&reading(4, before, statements));
    let run = program.run(&launch([4, 1, 1], &[("t", "zeros:4x1")])).unwrap();
    let at = program.shared.iter().position(|shared| shared.name == "t").unwrap();
    assert_eq!(run.after[at], [128, 255, 0, 0, 128, 255, 0, 1, 128, 255, 0, 2, 128, 255, 0, 3]);
    assert_eq!(run.texels[at], Some([4, 1, 1]));
    assert_eq!((program.shared[at].space, program.shared[at].writes), (Space::Texture, true));
    // A texel of four bytes each: a warp of four items asks for one sector.
    let site = run.sites.iter().position(|site| site.shared == at).unwrap();
    assert_eq!((run.sites[site].bytes, run.counts.uses[site].sectors, run.counts.uses[site].bytes), (4, 1, 16));
}

#[test]
fn accesses_of_texels_are_told_with_their_bytes() {
    let before = "@group(0) @binding(1) var t: texture_storage_2d_array<r16float, read_write>;";
    let statements = "textureStore(t, vec2u(1u, 2u), i % 2u, vec4f(1.0)); out[0] = vec4f();";
    let program = program(&reading(4, before, statements));
    let launched = launch([4, 1, 1], &[("t", "zeros:3x4x2")]);
    let (run, told) = program.run_watched(&launched, Recording::default()).unwrap();
    let addresses = told.events.iter().filter_map(|(_, item, event)| match event {
        Event::Access { site, address } if run.sites[*site].line == 5 && run.sites[*site].bytes == 2 => {
            Some((*item, *address))
        }
        _ => None,
    });
    let layer = 3 * 4 * 2;
    let texel = (2 * 3 + 1) * 2;
    assert_eq!(addresses.collect::<Vec<_>>(), [(0, texel), (1, layer + texel), (2, texel), (3, layer + texel)]);
    // Two items write one texel.
    let race = run.counts.races.iter().find(|race| program.shared[race.shared].name == "t").unwrap();
    assert_eq!((race.address, race.words), (texel, 2));
}

#[test]
fn texels_past_the_end_are_told() {
    let before = "@group(0) @binding(1) var t: texture_2d<u32>;";
    let text = reading(4, before, "out[i] = vec4f(textureLoad(t, vec2i(i32(i) - 1, 0), i32(i) / 3));");
    let program = program(&text);
    let run = program.run(&launch([4, 1, 1], &[("t", "iota:2x2")])).unwrap();
    let outside = &run.outside[0];
    assert_eq!((outside.line, outside.name.as_str(), outside.count), (5, "t", 2));
    assert_eq!((outside.index, outside.length, outside.first), (u32::MAX, 2, (0, 0)));
    assert_eq!(after(&program, &run, "out")[..8], [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0]);
}

#[test]
fn textures_that_nobody_binds_are_as_large_as_the_launch() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let text = "@group(0) @binding(0) var src: texture_2d<f32>;
@group(0) @binding(1) var to: texture_storage_2d<rgba8unorm, write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if any(id.xy >= textureDimensions(to)) { return; }
    textureStore(to, id.xy, textureLoad(src, id.xy, 0));
}";
    fs::write(at.join("k.wgsl"), text).unwrap();
    let table = printed(at, "kernel k.wgsl --global 10,6");
    assert!(
        table.contains("src: bound to nothing, so zeros; 10 x 6 texels, one for each item of the launch"),
        "{table}"
    );
    // A picture tells its size, and is what the kernel copies.
    let mut encoder = png::Encoder::new(fs::File::create(at.join("in.png")).unwrap(), 10, 6);
    encoder.set_color(png::ColorType::Rgb);
    let pixels: Vec<u8> = (0..180).collect();
    encoder.write_header().unwrap().write_image_data(&pixels).unwrap();
    let told = printed(at, "kernel k.wgsl --global 10,6 --bind src=in.png --bind to=zeros:10x6 --print to");
    let numbers = told.lines().skip_while(|line| *line != "to at the end").skip(1);
    let numbers: Vec<f64> =
        numbers.flat_map(|line| line.split_whitespace().map(|n| n.parse::<f64>().unwrap())).collect();
    let found: Vec<f64> = numbers.iter().map(|n| (n * 255.0).round()).collect();
    let expected: Vec<f64> = pixels.chunks_exact(3).flat_map(|p| [p[0], p[1], p[2], 255].map(f64::from)).collect();
    assert_eq!(found, expected);
    assert!(!told.contains("bound to nothing"), "{told}");
    // As references, both are regions of pixels.
    printed(at, "kernel k.wgsl --global 10,6 -o k.orrery");
    let regions = printed(at, "stats k.orrery");
    assert!(regions.contains("\nsrc ") && regions.contains("\nto "), "{regions}");
    // Into a buffer.
    let sum = "@group(0) @binding(0) var<storage> p: array<u32>;
@group(0) @binding(1) var<storage> f: array<vec3f>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(1) fn main() { out[0] = f32(p[1] & 255u); out[1] = f[1].y * 255.0; out[2] = f32(arrayLength(&p)); }";
    fs::write(at.join("b.wgsl"), sum).unwrap();
    let told = printed(at, "kernel b.wgsl --global 1 --bind p=in.png --bind f=in.png --print out");
    assert!(told.contains("out at the end\n  3 4 60"), "{told}");
}

#[test]
fn textures_that_are_not_run_are_refused_with_their_line() {
    let of = |ty: &str| {
        format!(
            "\n@group(0) @binding(0) var t: {ty};\n@compute @workgroup_size(1) fn a() {{ _ = textureDimensions(t); }}"
        )
    };
    for (ty, words) in [
        ("texture_cube<f32>", "a cube of textures"),
        ("texture_multisampled_2d<f32>", "several samples a texel"),
        ("texture_depth_2d", "a texture of depths"),
        ("texture_storage_2d<r32uint, atomic>", "atomic operations"),
        ("texture_storage_2d<rgb10a2uint, write>", "the format Rgb10a2Uint"),
    ] {
        let text = of(ty);
        let error = Program::new("k.wgsl", &text, None, &BTreeMap::new()).unwrap_err();
        let KernelError::Unsupported { line, .. } = &error else { panic!("{error}") };
        assert_eq!(*line, 2, "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let text = reading(
        4,
        "@group(0) @binding(1) var t: texture_2d<f32>; @group(0) @binding(2) var s: sampler;",
        "out[i] = textureSampleLevel(t, s, vec2f(), 0.0);",
    );
    fs::write(at.join("k.wgsl"), text).unwrap();
    fs::write(at.join("five.bin"), [0; 5]).unwrap();
    fs::write(at.join("no.png"), "no").unwrap();
    for (bind, words) in [
        ("t=zeros:2x2x2", "expected 2 numbers"),
        ("t=five.bin", "found 5 bytes; expected 32"),
        ("t=no.png", "no.png is no picture"),
        ("t=linear", "expected what a texture holds"),
        ("t=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", "found 17 numbers"),
        ("s=iota", "expected linear or nearest"),
        ("out=nearest", "expected what a buffer holds"),
        ("out=no.png", "is no picture"),
        ("u=iota", "expected one of out, t, s"),
        ("t=zeros:9999x9999", "takes 799840008 bytes"),
        ("t=tale.gif", ".png"),
    ] {
        refused(at, &format!("kernel k.wgsl --global 4 --bind {bind}"), 2, &[words]);
    }
}
