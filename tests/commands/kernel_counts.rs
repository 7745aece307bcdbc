//! What is counted of kernels where memory has gaps, ways are many, and numbers do not fit: each was counted or taken wrongly once.
#![cfg(feature = "cli")]

use crate::calls::{json, printed, refused};
use crate::kernels::{launch, program};
use orrery::kernel::{Extent, KEPT, KernelBook, KernelError, Launch, Program};
use std::collections::BTreeMap;
use std::fs;

#[test]
fn bytes_between_members_are_no_part_of_an_access_and_members_lie_where_they_do() {
    // `b` lies at bytes 16 to 28: the write of the whole and the read of `b.y` are of one word.
    let race = "struct S { a: f32, b: vec3<f32> }
@group(0) @binding(0) var<storage, read_write> o: array<f32>;
var<workgroup> s: S;
@compute @workgroup_size(2)
fn main(@builtin(local_invocation_index) i: u32) {
    if i == 0u { s = S(1.0, vec3<f32>(2.0)); } else { o[0] = s.b.y; }
}";
    let program = program(race);
    let run = program.run(&launch([2, 1, 1], &[])).unwrap();
    assert_eq!(run.counts.races.iter().map(|race| (race.address, race.words)).collect::<Vec<_>>(), [(20, 1)]);
    // 48 bytes with 12 of them between members: two sectors of 32, two references.
    let whole = "struct T { a: f32, b: vec3<f32>, c: vec4<f32> }
@group(0) @binding(0) var<storage, read> t: array<T>;
@group(0) @binding(1) var<storage, read_write> o: array<f32>;
@compute @workgroup_size(1)
fn main() { let x = t[0]; o[0] = x.c.w; }";
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("k.wgsl"), whole).unwrap();
    let program = crate::kernels::program(whole);
    let run = program.run(&launch([1, 1, 1], &[])).unwrap();
    let used = run.counts.uses[run.sites.iter().position(|site| site.line == 5 && !site.writes).unwrap()];
    assert_eq!((used.sectors, used.lines, used.bytes), (2, 1, 32));
    printed(at, "kernel k.wgsl --groups 1 -o k.orrery");
    let stats = json(at, "stats k.orrery --json");
    assert_eq!(stats["trace"]["references"], 3, "{stats}");
    // 64 vectors of three floats, 16 bytes apart, are in 24 of 32 banks: eight words of each.
    let banks = "var<workgroup> v: array<vec3<f32>, 64>;
@group(0) @binding(0) var<storage, read_write> o: array<f32>;
@compute @workgroup_size(1)
fn main() { let x = v; o[0] = x[3].y; }";
    let run = crate::kernels::program(banks).run(&launch([1, 1, 1], &[])).unwrap();
    assert_eq!((run.counts.banks[0].max_degree, run.counts.banks[0].extra), (8, 7));
}

#[test]
fn words_of_a_race_are_different_words() {
    let text = "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
var<workgroup> s: array<u32, 8>;
@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) g: vec3u, @builtin(local_invocation_index) i: u32) {
    o[0] = g.x;
    for (var k = 0u; k < 3u; k++) { s[i / 2u] = k; workgroupBarrier(); }
}";
    let program = program(text);
    let mut launched = launch([1, 1, 1], &[]);
    launched.extent = Extent::Groups([5, 1, 1]);
    let run = program.run(&launched).unwrap();
    let found: Vec<(&str, u64)> =
        run.counts.races.iter().map(|race| (program.shared[race.shared].name.as_str(), race.words)).collect();
    // Two words of each group's own memory, however often they are written.
    assert_eq!(found, [("o", 1), ("s", 10)]);
}

#[test]
fn a_switch_parts_a_warp_once() {
    let text = "@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) i: u32) {
    var x = 0u;
    switch i % 4u { case 0u: { x = 1u; } case 1u: { x = 2u; } case 2u: { x = 3u; } default: { x = 4u; } }
}";
    let run = program(text).run(&launch([8, 1, 1], &[])).unwrap();
    assert_eq!(run.counts.parted.get(&4), Some(&(1, 1)));
}

#[test]
fn items_that_want_the_same_word_of_a_bank_ask_once() {
    let text = "var<workgroup> s: array<u32, 64>;
@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) { s[i] = i; workgroupBarrier(); o[i] = s[5]; }";
    let program = program(text);
    let book = KernelBook::play(&program, &launch([64, 1, 1], &[]), 0..1, KEPT).unwrap();
    let asked: Vec<u64> = book.bank_use(&book.groups[0]).iter().map(|bank| bank.asked).collect();
    // Each bank is written by both warps; both read the one word of bank 5.
    let expected: Vec<u64> = (0..32).map(|bank| if bank == 5 { 4 } else { 2 }).collect();
    assert_eq!(asked, expected);
}

#[test]
fn overrides_take_what_their_type_holds() {
    let text = "override N: u32 = 4u; override I: i32 = 0; override F: f32 = 1.0; override B: bool = false;
@group(0) @binding(0) var<storage, read_write> o: array<f32>;
@compute @workgroup_size(N) fn main() { o[0] = F + f32(I); if B { o[1] = 1.0; } }";
    let new = |name: &str, value: f64| Program::new("k.wgsl", text, None, &BTreeMap::from([(name.to_owned(), value)]));
    assert!(new("F", 0.5).is_ok() && new("N", 2.0).is_ok() && new("I", -3.0).is_ok() && new("B", 1.0).is_ok());
    for (name, value, words) in [
        ("N", 1.9, "--set N: found 1.9; expected a whole number"),
        ("N", -1.0, "found -1"),
        ("I", 0.5, "for it is i32"),
    ] {
        let Err(KernelError::Override(error)) = new(name, value) else { panic!("{name} takes {value}") };
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn launches_that_say_two_things_and_indices_below_0_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let text = "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) g: vec3u) { o[i32(g.x) - 2] = 1u; }";
    fs::write(at.join("k.wgsl"), text).unwrap();
    fs::write(at.join("k.toml"), "global = [64]\ngroups = [1]\n").unwrap();
    refused(at, "kernel k.wgsl", 2, &["k.wgsl", "found global and groups", "expected one of them"]);
    fs::remove_file(at.join("k.toml")).unwrap();
    let table = printed(at, "kernel k.wgsl --groups 1 --bind o=zeros:4");
    assert!(table.contains("2 accesses of o past the end: element -2 of 4"), "{table}");
    let data = json(at, "kernel k.wgsl --groups 1 --bind o=zeros:4 --json");
    assert_eq!(data["outside"][0]["index"], -2);
    // A picture says it, too, before all that is right.
    let svg = printed(at, "kernel k.wgsl --groups 1 --bind o=zeros:4 -o -");
    assert!(svg.contains(">2 accesses past the end  ·  4 items"), "{svg}");
}

#[test]
fn a_launch_that_nobody_waits_for_ends() {
    let text = "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(4) fn main() { loop { if o[0] == 1u { break; } o[1] = 2u; } }";
    let mut launched = Launch::of(Extent::Groups([1, 1, 1]));
    launched.bound = launch([1, 1, 1], &[("o", "zeros:2")]).bound;
    launched.steps = u64::MAX;
    let cancel = launched.cancel.clone();
    let error = std::thread::scope(|scope| {
        let run = scope.spawn(|| program(text).run(&launched).map(|_| ()));
        cancel.cancel();
        run.join().unwrap()
    });
    assert_eq!(error, Err(KernelError::Cancelled));
}

/// The colours of pixels in a picture, left to right and top to bottom, where neighbours of a row differ.
fn pixels(svg: &str) -> Vec<String> {
    let all = svg.lines().filter(|line| line.contains("f-pixel"));
    all.filter_map(|line| Some(line.split("fill=\"").nth(1)?.split('"').next()?.to_owned())).collect()
}

#[test]
fn images_are_what_buffers_and_textures_hold() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let text = "@group(0) @binding(0) var<storage, read_write> grey: array<f32>;
@group(0) @binding(1) var colours: texture_storage_2d<rgba8unorm, write>;
@group(0) @binding(2) var<storage, read> line: array<f32>;
@compute @workgroup_size(2, 2)
fn main(@builtin(global_invocation_id) g: vec3u) {
    grey[g.y * 4u + g.x] = f32(g.y * 4u + g.x) + line[0];
    textureStore(colours, g.xy, vec4f(f32(g.x) / 3.0, f32(g.y), 0.0, 1.0));
}";
    fs::write(at.join("k.wgsl"), text).unwrap();
    let call = "kernel k.wgsl --global 4,2 --bind line=iota:3 --view image";
    let svg = printed(at, &format!("{call} -o -"));
    // From the least to the greatest: black to white.
    let greys = ["00", "24", "49", "6d", "92", "b6", "db", "ff"].map(|of_255| format!("#{of_255}{of_255}{of_255}"));
    let colours = ["#000000", "#550000", "#aa0000", "#ff0000", "#00ff00", "#55ff00", "#aaff00", "#ffff00"];
    let expected: Vec<String> = greys.into_iter().chain(colours.map(String::from)).collect();
    assert_eq!(pixels(&svg), expected);
    assert!(svg.contains(">grey<") && svg.contains(">4 x 2, 0 to 7<") && svg.contains(">colours<"), "{svg}");
    assert!(svg.contains(">group 0 writes<") && !svg.contains(">line<"), "{svg}");
    // What an item did is red: one pixel of each.
    let marked = printed(at, &format!("{call} --group 1 --item 2 -o -"));
    let warn = |svg: &str| svg.lines().filter(|line| line.contains("<rect") && line.contains("f-warn")).count();
    assert_eq!((warn(&svg), warn(&marked)), (0, 2));
    // Where there is none, it says what one would be.
    let none = printed(at, "kernel kernel:reduce-strided --view image -o -");
    assert!(none.contains("No buffer or texture of this launch is a picture."), "{none}");
}
