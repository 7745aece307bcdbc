//! Files of tasks where traces are drawn: stills and videos of the real file beside this test.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::process::Command;

fn orrery(args: &[&str]) -> (Option<i32>, String) {
    let run = Command::new(env!("CARGO_BIN_EXE_orrery")).args(args).output().unwrap();
    (run.status.code(), String::from_utf8(run.stderr).unwrap())
}

#[test]
fn stills_and_videos_of_a_real_file_and_what_is_wrong_with_flags() {
    let folder = tempfile::tempdir().unwrap();
    let path = crate::tasks::unpacked(folder.path());
    let path = path.to_str().unwrap();
    let out = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for (flags, words) in [
        (
            &["--view", "source"][..],
            "--view source: found a file of tasks, and this shows a trace; expected one of rings, tasks, overview,",
        ),
        (&["--task", "nobody"], "--task nobody: found no task of this id; expected one such as `"),
        (&["--location", "GPU[1].L2Cach[0]"], "did you mean `GPU[1].L2Cache[0]`?"),
        (&["--part", "9us..8us"], "expected a time, and a later one"),
        (&["--part", "1s..2s"], "found a part after the end of the run; it ends at 17.8 µs"),
        (&["--time", "5"], "expected a time with its unit"),
        (&["--metrics", "Latency"], "`Latency` is no metric; expected one of ReqInCount"),
    ] {
        let png = out("x.png");
        let args = [&["snapshot", path, "-o", &png][..], flags].concat();
        let (code, said) = orrery(&args);
        assert!(code == Some(2) && said.contains(words), "{flags:?}: {code:?} {said}");
    }
    let (code, said) = orrery(&["snapshot", "lesson:matmul16", "--filter", "L1", "-o", &out("x.png")]);
    assert!(code == Some(2) && said.contains("--filter: found a trace; expected a file of tasks"), "{said}");
    let (code, said) = orrery(&["snapshot", "/nowhere/x.sqlite3", "--time", "8us", "-o", &out("x.png")]);
    assert!(code == Some(1) && said.contains("/nowhere/x.sqlite3") && !said.contains("--time"), "{code:?} {said}");
    if !crate::cli::adapter() {
        return;
    }
    for view in ["auto", "rings", "overview", "component", "task", "topology"] {
        for size in ["1280x720", "640x360"] {
            let png = out(&format!("{view}-{size}.png"));
            let (code, said) =
                orrery(&["snapshot", path, "--view", view, "--size", size, "--filter", "L1(", "-o", &png]);
            assert_eq!((code, said.as_str()), (Some(0), ""), "{view}: a wrong expression is said in the picture");
            assert!(fs::metadata(&png).unwrap().len() > 5_000);
        }
    }
    let part = ["--part", "8.95us..10.12us", "--seconds", "1", "-r", "10", "--size", "320x180"];
    let (code, said) = orrery(&[&["record", path, "-o", &out("x.gif")][..], &part].concat());
    assert_eq!(code, Some(0), "{said}");
    assert!(fs::read(out("x.gif")).unwrap().starts_with(b"GIF89a"));
}
