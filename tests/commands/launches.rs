//! Several launches of a kernel, one after the other: what each finds in its buffers, and what traces and simulated GPUs have of all.
#![cfg(feature = "cli")]

use crate::calls::{json, printed, refused};
use orrery::opening::KernelFile;
use std::fs;
use std::path::Path;

/// The numbers of a buffer that a command prints last.
fn numbers(text: &str) -> Vec<f64> {
    let (_, rest) = text.split_once(" at the end\n").expect("a buffer");
    rest.split_whitespace().map(|word| word.parse().expect("a number")).collect()
}

const HEAT: &str = "@group(0) @binding(0) var<storage, read> src: array<f32>;
@group(0) @binding(1) var<storage, read_write> dst: array<f32>;
@group(0) @binding(2) var<uniform> gain: f32;
@compute @workgroup_size(32)
fn step(@builtin(global_invocation_id) g: vec3u) {
    let i = g.x;
    let last = arrayLength(&src) - 1u;
    dst[i] = gain * (0.5 * src[i] + 0.25 * (src[max(i, 1u) - 1u] + src[min(i + 1u, last)]));
}
";

/// Ten steps: the first of what is bound, nine of what the step before it made, the last but one twice as much.
const STEPS: &str = "entry = \"step\"
global = [64]
bind.src = \"hot.csv\"
bind.dst = \"zeros:64\"
bind.gain = 1
[[launch]]
[[launch]]
times = 8
bind.src = \"held(dst)\"
[[launch]]
bind = { src = \"held(dst)\", gain = 2 }
";

fn heat() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let hot: Vec<&str> = (0..64).map(|n| if n == 20 { "1024" } else { "0" }).collect();
    for (name, text) in [("k.wgsl", HEAT), ("k.toml", STEPS), ("hot.csv", &hot.join(","))] {
        fs::write(folder.path().join(name), text).expect("written");
    }
    folder
}

#[test]
fn a_launch_finds_what_the_launches_before_it_left() {
    let folder = heat();
    let mut hot = vec![0.0; 64];
    hot[20] = 1024.0;
    for step in 0..10 {
        let near = |i: usize| 0.5 * hot[i] + 0.25 * (hot[i.max(1) - 1] + hot[(i + 1).min(63)]);
        let gain = if step == 9 { 2.0 } else { 1.0 };
        hot = (0..64).map(|i| gain * near(i)).collect();
        let text = printed(folder.path(), &format!("kernel k.wgsl --launch {step} --print dst"));
        // Quarters of powers of two are floats as they are.
        assert_eq!(numbers(&text), hot, "launch {step}");
        assert!(text.contains(&format!("launch {step} of 0 to 9")), "{text}");
    }
    let last = printed(folder.path(), "kernel k.wgsl --print dst");
    assert_eq!(numbers(&last), hot);
    // A flag gives what the first launch starts from, and no other.
    let cold = printed(folder.path(), "kernel k.wgsl --bind src=zeros:64 --print dst");
    assert!(numbers(&cold).iter().all(|number| *number == 0.0), "{cold}");
    // Only the launch that is looked at is counted.
    assert_eq!(json(folder.path(), "kernel k.wgsl --json")["launch"], serde_json::json!({"number": 9, "of": 10}));
    assert_eq!(json(folder.path(), "kernel k.wgsl --launch 3 --take 0..1 --json")["work_items"], 32);
    assert!(json(folder.path(), "kernel kernel:race --json").get("launch").is_none());
}

#[test]
fn the_bundled_scan_adds_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let sums: Vec<f64> = (0..1024u32).map(|n| f64::from(n * (n + 1) / 2)).collect();
    assert_eq!(numbers(&printed(folder.path(), "kernel kernel:scan --print scanned")), sums);
    // 16 sums of 64 numbers; then what is before each.
    let parts: Vec<f64> = sums.chunks(64).map(|part| part[63]).collect();
    assert_eq!(numbers(&printed(folder.path(), "kernel kernel:scan --entry scan_sums --print sums")), parts);
    let first = json(folder.path(), "kernel kernel:scan --entry scan --json");
    assert_eq!(
        (&first["launch"]["number"], &first["warps"], &first["divergent_warps"]),
        (&0.into(), &32.into(), &32.into())
    );
}

#[cfg(feature = "gpu")]
#[test]
fn launches_leave_the_same_on_the_adapter() {
    let folder = heat();
    if orrery::launch::Adapter::new(orrery::render::context::Preference::Software).is_err() {
        let required = std::env::var("REQUIRE_ADAPTER").is_ok_and(|v| v == "1");
        assert!(!required, "an adapter is required (REQUIRE_ADAPTER=1)");
        eprintln!("skipped: launches on the adapter: no adapter");
        return;
    }
    for call in ["kernel k.wgsl --print dst", "kernel kernel:scan --print scanned"] {
        let told = printed(folder.path(), call);
        assert_eq!(printed(folder.path(), &format!("{call} --engine adapter")), told);
    }
}

#[test]
fn texels_go_from_a_texture_that_is_written_to_one_that_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = "@group(0) @binding(0) var made: texture_storage_2d<rgba8unorm, write>;
@group(0) @binding(1) var seen: texture_2d<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(4, 2)
fn make(@builtin(global_invocation_id) g: vec3u) {
    textureStore(made, g.xy, vec4f(f32(g.x + 4u * g.y) / 255.0, 0.0, 1.0, 1.0));
}
@compute @workgroup_size(4, 2)
fn see(@builtin(global_invocation_id) g: vec3u) {
    out[g.x + 4u * g.y] = 255.0 * textureLoad(seen, g.xy, 0).r;
}
";
    let launch = "global = [4, 2]\nbind.out = \"zeros:8\"\n[[launch]]\nentry = \"make\"\n[[launch]]\nentry = \"see\"\n\
                  bind.seen = \"held(made)\"\n";
    fs::write(folder.path().join("k.wgsl"), source).expect("written");
    fs::write(folder.path().join("k.toml"), launch).expect("written");
    let seen = numbers(&printed(folder.path(), "kernel k.wgsl --print out"));
    assert!(seen.iter().zip(0u32..).all(|(found, n)| (found - f64::from(n)).abs() < 1e-3), "{seen:?}");
    fs::write(folder.path().join("k.toml"), launch.replace("held(made)", "held(out)")).expect("written");
    refused(folder.path(), "kernel k.wgsl", 2, &["launch 1, entry see", "held(out)", "made"]);
    fs::write(folder.path().join("k.toml"), launch.replace("seen = \"held(made)\"", "out = \"held(made)\""))
        .expect("written");
    refused(folder.path(), "kernel k.wgsl", 2, &["launch 1, entry see", "texels of a texture", "what a buffer holds"]);
}

#[test]
fn a_trace_and_a_simulated_gpu_have_all_launches_one_after_the_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    printed(folder, "kernel kernel:scan -o all.orrery");
    let all = json(folder, "stats all.orrery --json")["trace"]["references"].as_u64().expect("a number");
    let mut sum = 0;
    for launch in 0..3 {
        printed(folder, &format!("kernel kernel:scan --launch {launch} -o one.orrery"));
        sum += json(folder, "stats one.orrery --json")["trace"]["references"].as_u64().expect("a number");
    }
    assert_eq!(all, sum);
    // What launches share lies at one place, and says what it is once.
    let source = orrery::trace::open(&folder.join("all.orrery"), None).expect("a trace");
    let tables = source.tables();
    let regions: Vec<&str> = tables.regions.iter().map(|region| region.name.as_str()).collect();
    assert_eq!(regions, ["values", "scanned", "sums"]);
    let marks: Vec<&str> = tables.marks.iter().map(|mark| mark.name.as_str()).collect();
    assert_eq!(marks, ["launch 0 scan", "launch 1 scan_sums", "launch 2 add"]);
    let told = json(folder, "gpu kernel:scan --json");
    let kernels: Vec<&str> =
        told["kernels"].as_array().expect("rows").iter().filter_map(|row| row["kernel"].as_str()).collect();
    assert_eq!(kernels, ["scan", "scan_sums", "add"]);
    assert_eq!(json(folder, "gpu kernel:scan --entry scan_sums --json")["work_groups"], 1);
}

#[test]
fn what_is_wrong_with_launches_is_told_before_one_runs() {
    let folder = heat();
    let folder = folder.path();
    refused(folder, "kernel k.wgsl --launch 10", 2, &["--launch 10", "0 to 9"]);
    refused(folder, "kernel kernel:race --launch 1", 2, &["--launch 1", "one launch; expected 0"]);
    refused(folder, "kernel k.wgsl --entry stop", 2, &["--entry stop", "k.toml", "step"]);
    refused(folder, "kernel k.wgsl -o t.orrery --take 0..1", 2, &["--take", "--launch NUMBER", "0 to 9"]);
    refused(folder, "kernel k.wgsl --bind src=held(dst)", 2, &["--bind src", "no launch before it"]);
    let with = |change: (&str, &str)| {
        fs::write(folder.join("k.toml"), STEPS.replace(change.0, change.1)).expect("written");
    };
    with(("held(dst)", "held(dest)"));
    refused(folder, "kernel k.wgsl", 2, &["launch 1, entry step", "[[launch]] 1", "held(dest)", "dst, gain, src"]);
    with(("times = 8", "times = 0"));
    refused(folder, "kernel k.wgsl", 2, &["[[launch]] 1", "times = 0", "1 or more"]);
    with(("times = 8", "times = 100000"));
    refused(folder, "kernel k.wgsl", 2, &["times = 100000", "100000 launches at most"]);
    with(("global = [64]\n", ""));
    refused(folder, "kernel k.wgsl", 2, &["k.wgsl", "--global"]);
    with(("times = 8", "often = 8"));
    refused(folder, "kernel k.wgsl", 1, &["k.toml", "often", "times"]);
}

#[test]
fn overrides_drop_no_buffer_of_another_entry() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = "override K: u32 = 1u;
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> c: array<u32>;
@compute @workgroup_size(4) fn one(@builtin(local_invocation_index) i: u32) { b[i] = a[i] + K; }
@compute @workgroup_size(4) fn two(@builtin(local_invocation_index) i: u32) { c[i] = 2u * b[i]; }
";
    let launch = "global = [4]\nbind = { a = \"iota:4\", c = \"zeros:4\" }\n[[launch]]\nentry = \"one\"\nset.K = 5\n\
                  [[launch]]\nentry = \"two\"\n";
    fs::write(folder.path().join("k.wgsl"), source).expect("written");
    fs::write(folder.path().join("k.toml"), launch).expect("written");
    assert_eq!(numbers(&printed(folder.path(), "kernel k.wgsl --print c")), [10.0, 12.0, 14.0, 16.0]);
    assert_eq!(numbers(&printed(folder.path(), "kernel k.wgsl --set K=0 --print c")), [0.0, 2.0, 4.0, 6.0]);
    refused(folder.path(), "kernel k.wgsl --print a", 2, &["--print a", "entry two", "--launch 0", "entry one"]);
    refused(folder.path(), "kernel k.wgsl --bind d=iota", 2, &["bind d", "no such buffer"]);
}

#[test]
fn numbers_of_another_type_are_not_taken() {
    let folder = heat();
    let steps = STEPS
        .replace("src = \"held(dst)\", gain = 2", "src = \"held(index)\"")
        .replace("bind.gain = 1\n", "bind.gain = 1\nbind.index = 7\n");
    let source = HEAT
        .replace("@compute", "@group(0) @binding(3) var<uniform> index: u32;\n@compute")
        .replace("let i = g.x;", "let i = g.x + 0u * index;");
    fs::write(folder.path().join("k.wgsl"), source).expect("written");
    fs::write(folder.path().join("k.toml"), steps).expect("written");
    let told = ["launch 9, entry step", "[[launch]] 2", "held(index)", "numbers of u32", "expected f32"];
    refused(folder.path(), "kernel k.wgsl", 2, &told);
}

#[test]
fn a_picture_says_which_launch_it_is_of() {
    let folder = tempfile::tempdir().expect("a folder");
    printed(folder.path(), "kernel kernel:scan --launch 1 --view groups -o p.svg");
    let drawn = fs::read_to_string(folder.path().join("p.svg")).expect("drawn");
    assert!(drawn.contains("entry scan_sums, launch 1 of 0 to 2"), "{}", &drawn[..2000]);
}

#[test]
fn files_that_a_launch_binds_are_watched() {
    let folder = heat();
    with_file(folder.path());
    let files = KernelFile::files(&folder.path().join("k.wgsl"), &[]);
    assert!(
        files.contains(&folder.path().join("gain.bin")) && files.contains(&folder.path().join("hot.csv")),
        "{files:?}"
    );
}

fn with_file(folder: &Path) {
    let steps = STEPS.replace("gain = 2", "gain = \"gain.bin\"");
    fs::write(folder.join("k.toml"), steps).expect("written");
}
