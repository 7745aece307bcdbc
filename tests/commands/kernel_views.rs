//! Pictures of kernels: what they show is what the data say, names are harmless in them, and wrong calls are told what is wrong.
#![cfg(feature = "cli")]

#[cfg(feature = "gpu")]
use crate::calls::run;
use crate::calls::{json, printed, refused};
use std::collections::BTreeSet;
use std::fs;

/// How often a picture says something that ends in `words`, where a pointer rests.
fn said(svg: &str, words: &str) -> usize {
    titles(svg).filter(|title| title.contains(words)).count()
}

fn titles(svg: &str) -> impl Iterator<Item = &str> {
    svg.split("<title>").skip(2).filter_map(|rest| rest.split("</title>").next())
}

#[test]
fn marks_of_the_memory_view_are_the_accesses_and_conflicts_of_the_data() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for name in ["reduce-modulo", "reduce-strided", "reduce-sequential"] {
        let data = json(at, &format!("kernel kernel:{name} --json"));
        for group in [0, 7] {
            let svg = printed(at, &format!("kernel kernel:{name} --view memory --group {group} --size 1920x1080 -o -"));
            let banks = &data["banks"][group];
            assert_eq!(Some(said(&svg, "bank conflict") as u64), banks["conflicting"].as_u64(), "{name}, {group}");
            // 64 items write and 63 sums are made of two reads and a write; one reads the sum.
            assert_eq!((said(&svg, "write sdata"), said(&svg, "read sdata")), (64 + 63, 2 * 63 + 1), "{name}");
            // A bank with conflicts has two marks.
            let banks: BTreeSet<&str> = titles(&svg).filter(|title| title.contains(" asked for; ")).collect();
            let asked: u64 =
                banks.iter().filter_map(|title| title.split(": ").nth(1)?.split(' ').next()?.parse::<u64>().ok()).sum();
            assert_eq!((banks.len(), asked), (32, 2 * 127), "{name}");
            assert!(svg.contains(&format!("Memory of group {group}")));
        }
    }
    let svg = printed(at, "kernel kernel:reduce-strided --view memory --bank 0 -o -");
    // The thesis's picture of bank 0: 26 of the cells.
    let marked = svg.lines().filter(|line| line.contains("f-mark") && line.contains("<title>item")).count();
    assert_eq!(marked, 26);
}

#[test]
fn rings_and_bars_are_the_proxy_warps_of_the_data() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for name in ["reduce-modulo", "reduce-strided", "sobel", "transpose-naive"] {
        let data = json(at, &format!("kernel kernel:{name} --json"));
        let proxies = data["proxy_warps"].as_array().unwrap();
        let parts: usize = proxies.iter().map(|proxy| proxy["branchings"].as_array().unwrap().len()).sum();
        let svg = printed(at, &format!("kernel kernel:{name} --view divergence -o -"));
        assert_eq!(said(&svg, " a warp: "), parts, "{name}");
        let words = |words: &str| svg.lines().filter(|line| line.contains(&format!(">{words}"))).count();
        let divergent = proxies.iter().filter(|proxy| proxy["divergent"] == true).count();
        assert_eq!((words("diverge: "), words("all alike")), (divergent, proxies.len() - divergent), "{name}");
        let svg = printed(at, &format!("kernel kernel:{name} --view branches -o -"));
        let items: u64 = titles(&svg)
            .filter_map(|title| title.split(" went ").next()?.split(' ').next()?.replace(',', "").parse::<u64>().ok())
            .sum();
        assert_eq!(Some(items), data["work_items"].as_u64(), "{name}");
    }
}

#[test]
fn the_source_shows_what_ran_and_what_conditions_said() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let svg = printed(at, "kernel kernel:reduce-strided --view source -o -");
    assert_eq!(svg.matches(">never ran<").count(), 1, "the other side of `i < n`");
    for words in ["line 21, conflicts: 240", "line 20, parted: 80", "line 21, accesses: 3,024"] {
        assert_eq!(said(&svg, words), 1, "{words}");
    }
    for words in [">6,144<", ">1,008<", ">5,136<"] {
        assert!(svg.contains(words), "{words}");
    }
    // An item's own decisions: it takes part in three of six rounds, then in none.
    let of_item = printed(at, "kernel kernel:reduce-strided --view source --item 4 -o -");
    let digits: String = of_item
        .lines()
        .filter(|line| line.contains("f-act0") || line.contains("f-warn"))
        .filter_map(|line| line.split('>').nth(1)?.chars().next())
        .collect();
    assert_eq!(digits, "1".to_owned() + "1111110" + "111000" + "0");
}

#[test]
fn many_items_and_events_share_marks_and_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let source = "@group(0) @binding(0) var<storage, read_write> a: array<u32>;\n\
                  @compute @workgroup_size(1024)\n\
                  fn main(@builtin(local_invocation_index) i: u32) {\n\
                  for (var k = 0u; k < 900u; k++) { a[i] = k; }\n}\n";
    fs::write(at.join("k.wgsl"), source).unwrap();
    let svg = printed(at, "kernel k.wgsl --global 1024 --view memory --size 640x360 -o -");
    assert!(svg.contains("a column is 3 items, a row is"), "{}", &svg[..2000]);
    assert!(svg.len() < 2_000_000, "{}", svg.len());
    // Past what is kept, the picture says how much that is.
    fs::write(at.join("k.wgsl"), source.replace("900u", "9000u")).unwrap();
    let svg = printed(at, "kernel k.wgsl --global 1024 --view memory -o -");
    assert!(svg.contains("events not kept") || svg.contains("not kept"), "what is left out is said");
}

#[test]
fn hostile_names_are_words_in_a_picture() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let name = "a<script>&\"b.wgsl";
    let source = "// </text><script>alert(1)</script>\n\
                  @group(0) @binding(0) var<storage, read_write> a: array<u32>;\n\
                  @compute @workgroup_size(4)\nfn main(@builtin(local_invocation_index) i: u32) { a[i] = i; }\n";
    fs::write(at.join(name), source).unwrap();
    let svg = printed(at, &format!("kernel {name} --global 4 -o -"));
    assert!(!svg.contains("<script>") && svg.contains("&lt;script&gt;"));
}

#[test]
fn files_are_written_whole_and_wrong_calls_are_told_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    printed(at, "kernel kernel:race -o all.svg -640x360");
    let svg = fs::read_to_string(at.join("all.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("width=\"640\" height=\"360\"") && svg.contains("race"));
    refused(at, "kernel kernel:race -o k.gif", 2, &["k.gif", "expected a name that ends in .svg or .png"]);
    refused(at, "kernel kernel:race --view rings -o k.svg", 2, &["rings", "memory", "divergence"]);
    refused(at, "kernel kernel:race --group 99 -o k.svg", 2, &["--group 99", "no such group", "expected 0 to"]);
    refused(at, "kernel kernel:race --item 9999 -o k.svg", 2, &["--item 9999", "expected 0 to"]);
    refused(at, "kernel kernel:race --bank 32 -o k.svg", 2, &["--bank 32", "expected 0 to 31"]);
    refused(at, "kernel kernel:race --group 0", 2, &["--output"]);
    refused(at, "kernel kernel:race --json -o k.svg", 2, &["cannot be used with"]);
    assert!(!at.join("k.svg").exists() && !at.join("k.gif").exists(), "nothing is left of a call that fails");
    // A group of a part that was taken.
    refused(at, "kernel kernel:reduce-strided --take 4..6 --group 1 -o k.svg", 2, &["expected 4 to 5"]);
    assert!(printed(at, "kernel kernel:reduce-strided --take 4..6 -o -").contains("Memory of group 4"));
}

#[cfg(feature = "gpu")]
#[test]
fn stills_of_the_window_show_a_kernel_as_panes_do() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let output = run(at, "snapshot kernel:reduce-strided --view kernel-memory --tick 10 -640x360 -o m.png");
    let text = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() && text.contains("adapter") && std::env::var_os("REQUIRE_ADAPTER").is_none() {
        return;
    }
    assert!(output.status.success(), "{text}");
    assert!(fs::read(at.join("m.png")).unwrap().starts_with(b"\x89PNG"));
    refused(at, "snapshot kernel:reduce-strided --view numbers -o n.png", 2, &["found a kernel", "kernel-memory"]);
    // A launch that is no file's, under hardware that is another.
    fs::write(at.join("k.wgsl"), orrery::kernel::bundled::find("reduce-strided").unwrap().text).unwrap();
    let launch = "--global 1024 --bind g_idata=iota --bind n=1024";
    let with = |flags: &str| {
        let output =
            run(at, &format!("snapshot k.wgsl {launch} {flags} --view kernel-memory --tick 10 -640x360 -o w.svg"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        fs::read_to_string(at.join("w.svg")).unwrap()
    };
    let (usual, narrow) = (with(""), with("--warp 16"));
    assert!(usual.contains("warp 1") && !usual.contains("warp 3"));
    assert!(narrow.contains("warp 3"));
    refused(at, "snapshot k.wgsl -o n.png", 2, &["expected how much is launched"]);
    refused(at, "snapshot lesson:matmul16 --global 4 -o n.png", 2, &["--global", "found no kernel"]);
    refused(at, "snapshot kernel:reduce -o n.png", 1, &["no such bundled kernel"]);
}
