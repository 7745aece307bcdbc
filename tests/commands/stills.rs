//! Stills: sheets of several moments, and the numbers behind them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn orrery(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_orrery")).current_dir(folder).args(args).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn still(folder: &Path, name: &str, more: &[&str]) -> Vec<u8> {
    let output = orrery(folder, &[&["snapshot", "lesson:matmul16", "-o", name], more].concat());
    assert!(output.status.success(), "{more:?}: {}", said(&output));
    fs::read(folder.join(name)).unwrap()
}

#[test]
fn a_sheet_of_one_moment_is_the_still_of_it_and_others_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let alone = still(folder, "a.png", &["--tick", "2613", "--size", "640x360"]);
    for size in ["640x360", "1280x720"] {
        let alone = still(folder, "a.png", &["--tick", "2613", "--size", size]);
        assert!(alone == still(folder, "b.png", &["--at", "2613", "--size", size]), "{size}");
        assert!(alone == still(folder, "b.png", &["--tails", "64", "--tick", "2613", "--size", size]), "{size}");
    }
    assert!(alone != still(folder, "c.png", &["--at", "2614", "--size", "640x360"]));
    // One moment under the usual tail, and under none.
    assert!(alone != still(folder, "e.png", &["--tick", "2613", "--tails", "1", "--size", "640x360"]));
    // Nine moments in a sheet, each in its order: with two of them exchanged it is another picture.
    let sheet = still(folder, "f.png", &["--every", "1000"]);
    assert!(sheet == still(folder, "g.png", &["--at", "0,1000,2000,3000,4000,5000,6000,7000,8000"]));
    assert!(sheet != still(folder, "h.png", &["--at", "0,1000,2000,3000,5000,4000,6000,7000,8000"]));
    for (flags, words) in [
        (&["--at", "8449"][..], "--at 8449: expected moments from 0 to 8448"),
        (&["--at", "marks"], "the trace has none"),
        (&["--every", "0"], "--every 0"),
        (&["--every", "7"], "that makes 1207 pictures; expected 100 at most"),
        (&["--tails", "0,4"], "--tails: found 0"),
        (&["--at", "1,2,3,4", "--columns", "1"], "4 pictures in 1 columns are too low to be read"),
    ] {
        let output = orrery(folder, &[&["snapshot", "lesson:matmul16", "-o", "x.png"], flags].concat());
        assert!(!output.status.success() && said(&output).contains(words), "{flags:?}: {}", said(&output));
        assert!(!folder.join("x.png").exists());
    }
}

#[test]
fn the_numbers_behind_a_sheet_are_those_of_stats() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    still(folder, "s.png", &["--at", "100,2613,8448", "--numbers", "s.csv"]);
    let text = fs::read_to_string(folder.join("s.csv")).unwrap();
    for moment in ["100", "2613", "8448"] {
        let range = format!("0..{moment}");
        let output = orrery(folder, &["stats", "lesson:matmul16", "--range", &range, "--json"]);
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        for level in json["levels"].as_array().unwrap() {
            let name = level["name"].as_str().unwrap();
            let row = text.lines().find(|row| row.starts_with(&format!("{moment},level,{name},"))).unwrap();
            let fields: Vec<&str> = row.rsplitn(5, ',').collect();
            assert_eq!(fields[1], level["demand_misses"].to_string(), "{row}");
            assert_eq!(fields[3], level["demand_accesses"].to_string(), "{row}");
        }
    }
}

#[test]
fn a_still_may_be_finer_and_without_its_ground() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let size = |name: &str| {
        let output = Command::new("identify").current_dir(folder).args(["-format", "%wx%h %A", name]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    still(folder, "t.png", &["--transparent", "--supersample", "2", "--size", "320x180"]);
    still(folder, "o.png", &["--supersample", "2", "--size", "320x180"]);
    assert!(size("t.png").starts_with("320x180"), "{}", size("t.png"));
    // The corner has the ground's colour, which is seen through in one of them.
    let corner = |name: &str| {
        let args = [name, "-crop", "1x1+0+0", "-depth", "8", "rgba:-"];
        Command::new("convert").current_dir(folder).args(args).output().unwrap().stdout
    };
    assert_eq!(corner("o.png"), [8, 9, 13, 255]);
    assert_eq!(corner("t.png")[3], 0);
}
