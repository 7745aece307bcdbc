//! `// @watch` and `// @emit`: what they tell is right, and nothing else changes by it.
#![cfg(feature = "cli")]

use crate::calls::{json, printed, refused};
use crate::kernels::bundled;
use crate::random_kernels::text_of;
use orrery::kernel::bundled::BUNDLED;
use orrery::kernel::{Event, Extent, Launch, Program, Recording, Run};
use std::collections::BTreeMap;
use std::fs;

const SOURCE: &str = "@group(0) @binding(0) var<storage, read_write> g: array<f32>;
@group(0) @binding(1) var<storage, read> start: array<f32>;
var<workgroup> sums: array<f32, 4>;
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) w: vec3u) {
    sums[i] = start[i];
    workgroupBarrier();
    var x = 0.0;
    for (var k = 0u; k < 3u - i % 2u; k++) {
        x += sums[(i + k) % 4u]; // @emit x, sums[k] > x
    }
    g[w.x * 4u + i] = x / 0.5; // @emit g[w.x * 4u + i] as bars
}
";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("k.wgsl"), SOURCE).expect("written");
    folder
}

const CALL: &str = "kernel k.wgsl --groups 2 --bind start=iota:4";

#[test]
fn each_value_is_told_with_its_item() {
    let folder = folder();
    let text = printed(folder.path(), &format!("{CALL} --values"));
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("group,item,line,expression,number,value"));
    // As the kernel would compute it by hand.
    let mut expected = Vec::new();
    for group in 0..2 {
        for item in 0..4usize {
            let mut x = 0;
            for k in 0..3 - item % 2 {
                x += (item + k) % 4;
                expected.push(format!("{group},{item},10,\"x\",{k},{x}"));
                expected.push(format!("{group},{item},10,\"sums[k] > x\",{k},{}", u8::from(k > x)));
            }
            expected.push(format!("{group},{item},12,\"g[w.x * 4u + i]\",0,{}", 2 * x));
        }
    }
    let mut found: Vec<&str> = lines.collect();
    // Items of a group tell at once.
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);

    let data = json(folder.path(), &format!("{CALL} --json"));
    let values = data["values"].as_array().expect("a list");
    let of = |n: usize, key: &str| values[n][key].clone();
    assert_eq!((of(0, "line"), of(0, "expression"), of(0, "count")), (10.into(), "x".into(), 20.into()));
    assert_eq!((of(0, "least"), of(0, "greatest")), (0.0.into(), 5.0.into()));
    assert_eq!((of(2, "count"), of(2, "mean")), (8.into(), 7.0.into()));
    let table = printed(folder.path(), CALL);
    assert!(table.contains("values that were told") && table.contains("sums[k] > x"), "{table}");
}

/// A run and its events, with annotations or without.
fn ran((text, entry): (&str, Option<&str>), launch: &Launch, annotated: bool) -> (Run, Recording, Program) {
    let program = Program::with("k.wgsl", text, entry, &BTreeMap::new(), annotated).expect("read");
    let (run, recording) = program.run_watched(launch, Recording::default()).expect("runs");
    (run, recording, program)
}

#[test]
fn nothing_else_changes_by_what_is_told() {
    let random = (0..40).map(|seed| (text_of(seed), None, Launch::of(Extent::Groups([2, 1, 1]))));
    let bundled = BUNDLED.iter().map(|kernel| {
        let (program, launch) = bundled(kernel.name);
        (kernel.text.to_owned(), Some(program.entry), launch)
    });
    let mut values = 0;
    for (text, entry, launch) in random.chain(bundled) {
        let (run, mut told, annotated) = ran((&text, entry.as_deref()), &launch, true);
        let (plain, expected, program) = ran((&text, entry.as_deref()), &launch, false);
        assert!(program.emits().is_empty());
        let all = told.events.len();
        told.events.retain(|(.., event)| !matches!(event, Event::Told(..)));
        assert!(told == expected, "{text}");
        let found = (all - told.events.len()) as u64;
        values += found;
        assert_eq!(run.counts.values.iter().map(|stats| stats.count).sum::<u64>(), found);
        assert_eq!(run.counts.values.len(), annotated.emits().len());
        let mut counts = run.counts.clone();
        counts.values.clear();
        assert_eq!(counts, plain.counts, "{text}");
        assert_eq!((&run.sites, &run.lines, &run.after), (&plain.sites, &plain.lines, &plain.after), "{text}");
        assert_eq!(run.events, plain.events + found);
    }
    assert!(values > 1_000, "{values}");
}

#[test]
fn accesses_are_told_of_what_is_watched_alone() {
    let folder = folder();
    let watched = SOURCE.replace("array<f32, 4>;", "array<f32, 4>; // @watch");
    fs::write(folder.path().join("w.wgsl"), &watched).expect("written");
    let call = CALL.replace("k.wgsl", "w.wgsl");
    let names = |data: &serde_json::Value| -> Vec<String> {
        let sites = data["sites"].as_array().expect("a list").iter();
        sites.map(|site| format!("{} {}", site["line"], site["name"])).collect()
    };
    assert_eq!(names(&json(folder.path(), &format!("{call} --json"))), ["6 \"sums\"", "10 \"sums\""]);
    let all = names(&json(folder.path(), &format!("{call} --json --no-annotations")));
    assert_eq!(all, ["6 \"start\"", "6 \"sums\"", "10 \"sums\"", "12 \"g\""]);
    let text = printed(folder.path(), &call);
    assert!(text.contains("watched by `// @watch`: sums; accesses of others are counted nowhere"), "{text}");
    // What the kernel computes is the same.
    let launch = Launch::of(Extent::Groups([2, 1, 1]));
    let [(one, ..), (other, ..)] = [ran((&watched, None), &launch, true), ran((SOURCE, None), &launch, true)];
    assert_eq!((&one.after, &one.counts.banks), (&other.after, &other.counts.banks));
}

#[test]
fn values_are_drawn_as_their_source_says() {
    let folder = folder();
    let svg = printed(folder.path(), &format!("{CALL} --view values --group 1 -o -"));
    assert!(svg.contains(">x<") && svg.contains("line 10: 10 values of 4 items, 0 to 5"), "{svg}");
    // A bar for each item; item 3 told 2 * (3 + 0).
    let bars: Vec<&str> = svg.lines().filter(|line| line.contains("<rect") && line.contains("<title>item")).collect();
    assert_eq!(bars.len(), 4, "{svg}");
    assert!(bars[3].contains("<title>item 3: 6</title>"), "{}", bars[3]);
    for (form, shape, count) in
        [("scatter", "<circle", 10), ("areas", "Z\" class=\"f-region", 3), ("lines", "<circle", 4)]
    {
        fs::write(folder.path().join("f.wgsl"), SOURCE.replace("@emit x, sums[k] > x", &format!("@emit x as {form}")))
            .expect("written");
        let svg = printed(folder.path(), &format!("{} --view values -o -", CALL.replace("k.wgsl", "f.wgsl")));
        assert_eq!(svg.lines().filter(|line| line.contains(shape)).count(), count, "{form}: {svg}");
    }
    let none = printed(folder.path(), "kernel kernel:sobel --view values -o -");
    assert!(none.contains("No value of this kernel is told.") && none.contains("// @emit EXPRESSION"), "{none}");
}

#[test]
fn what_is_told_writes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = "@group(0) @binding(0) var<storage, read_write> n: atomic<u32>;
@compute @workgroup_size(4) fn main() {
    atomicAdd(&n, 1u); // @emit atomicLoad(&n)
}
";
    fs::write(folder.path().join("k.wgsl"), source).expect("written");
    assert!(
        printed(folder.path(), "kernel k.wgsl --groups 1 --values")
            .ends_with("0,3,3,atomicLoad(&n),0,4\n".replace(",3,3,", ",3,3,\"").replace(",0,4", "\",0,4").as_str())
    );
    fs::write(folder.path().join("k.wgsl"), source.replace("atomicLoad(&n)", "atomicAdd(&n, 1u)")).expect("written");
    for more in ["", " --values"] {
        let call = format!("kernel k.wgsl --groups 1{more}");
        refused(folder.path(), &call, 1, &["k.wgsl:3", "an atomic operation that writes", "atomicLoad"]);
        assert!(crate::calls::run(folder.path(), &call).stdout.is_empty(), "no heading of values that are not there");
    }
}

#[test]
fn annotations_of_what_is_not_there_say_so() {
    let folder = folder();
    let told = |source: String, words: &[&str]| {
        fs::write(folder.path().join("bad.wgsl"), source).expect("written");
        refused(folder.path(), &CALL.replace("k.wgsl", "bad.wgsl"), 1, words);
    };
    for (from, to, expect) in [
        ("@emit x,", "@emit y,", "line 10: made of `// @emit y`"),
        ("@emit x,", "@emit vec2f(x),", "expected one number"),
        (
            "sums: array<f32, 4>;",
            "sums: array<f32, 4>; // @watch tums",
            "bad.wgsl:3: `// @watch tums`: found no shared",
        ),
        ("@emit x, sums[k] > x", "@emit", "bad.wgsl:10: `// @emit`: found no expression"),
        ("as bars", "as pies", "found `as pies`; expected as bars, as lines, as scatter, as areas"),
    ] {
        told(SOURCE.replace(from, to), &[expect]);
    }
    let called = SOURCE.replace("@compute", "fn f(x: f32) -> f32 { return sums[u32(x)]; }\n@compute");
    told(called.replace("@emit x,", "@emit f(x),"), &["a call of a function in `// @emit`", "put what it returns"]);
    refused(folder.path(), "kernel kernel:sobel --values", 2, &["found no `// @emit` in the source"]);
}
