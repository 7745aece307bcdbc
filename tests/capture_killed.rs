//! `orrery capture` killed while it records: what it saw is there, it is said, and nothing goes on in its place.
#![cfg(all(feature = "cli", target_os = "linux"))]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod built;

use orrery::trace;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

fn orrery(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_orrery")).args(args).current_dir(folder).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Waits for something, up to 20 seconds.
fn wait(what: &str, mut come: impl FnMut() -> bool) {
    let start = Instant::now();
    while !come() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Processes whose command line names `word`.
fn running(word: &str) -> usize {
    let lines = std::fs::read_dir("/proc").unwrap().filter_map(|p| std::fs::read(p.ok()?.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(word)).count()
}

#[test]
fn what_a_killed_capture_saw_is_there() {
    let (Some(gcc), Some(_)) = (built::compiler("CC", "gcc"), built::compiler("VALGRIND", "valgrind")) else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("sweeps-that-are-killed");
    let source = folder.path().join("sweeps.c");
    // It sweeps, says so, and then waits for ever without touching memory.
    let text = "#include <unistd.h>\nint cells[1000];\nint main(void) { int local[50];\n\
        for (int k = 0; k < 20; k++) { for (int i = 0; i < 1000; i++) cells[i] += k; for (int i = 0; i < 50; i++) local[i] = cells[i]; }\n\
        write(1, \"swept\\n\", 6 + local[3] * 0); for (;;) pause(); }\n";
    std::fs::write(&source, text).unwrap();
    let built = Command::new(gcc).args(["-g", "-O0", "-o"]).args([&program, &source]).status().unwrap();
    assert!(built.success());

    let mut capture = Command::new(env!("CARGO_BIN_EXE_orrery"));
    capture.args(["capture", "--data-only", "-o", "s.orrery", "--"]).arg(&program).current_dir(folder.path());
    let mut child = capture.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line).unwrap();
    assert_eq!(line, "swept\n");
    let part = folder.path().join("s.orrery.part");
    let size = || part.metadata().map_or(0, |m| m.len());
    // Valgrind said all of it before the program did; ours may be a moment behind.
    let mut last = (0, Instant::now());
    wait("the file rests", || {
        if size() != last.0 {
            last = (size(), Instant::now());
        }
        size() > 0 && last.1.elapsed() > Duration::from_millis(300)
    });
    // Another capture of this name, and a conversion, leave what is being written alone.
    let busy = orrery(folder.path(), &["convert", "s.orrery.part", "-o", "early.orrery"]);
    assert!(!busy.status.success() && stderr(&busy).contains("is being written"), "{}", stderr(&busy));
    child.kill().unwrap();
    child.wait().unwrap();
    if Command::new("setpriv").arg("--version").output().is_ok() {
        wait("the program ends too", || running("sweeps-that-are-killed") == 0);
    }

    // It is said whenever the name comes up, and made a trace when that is asked.
    let opened = orrery(folder.path(), &["stats", "s.orrery"]);
    assert!(
        !opened.status.success() && stderr(&opened).contains("orrery convert s.orrery.part"),
        "{}",
        stderr(&opened)
    );
    let converted = orrery(folder.path(), &["convert", "s.orrery.part", "-o", "s.orrery"]);
    assert!(converted.status.success(), "{}", stderr(&converted));
    let source = trace::open(&folder.path().join("s.orrery"), None).unwrap();
    let names: Vec<_> = source.tables().regions.iter().map(|r| r.declaration()).collect();
    assert!(names.contains(&"cells[1000]".to_owned()) && names.contains(&"local[50]".to_owned()), "{names:?}");
    // 20 sweeps: cells read and written, then read for local; and what -O0 keeps in memory beside.
    assert!(source.len() > 20 * (2 * 1000 + 2 * 50), "{} references", source.len());
    let whole = source.len();
    // Once it is a trace, there is nothing more to say.
    let opened = orrery(folder.path(), &["stats", "s.orrery"]);
    assert!(opened.status.success() && !stderr(&opened).contains("killed"), "{}", stderr(&opened));

    // Cut anywhere, it is read as far as it goes, or said to be damaged.
    let bytes = std::fs::read(&part).unwrap();
    for cut in [bytes.len() - 1, bytes.len() / 2, 300, 40, 17, 3] {
        std::fs::write(folder.path().join("cut.part"), &bytes[..cut]).unwrap();
        let output = orrery(folder.path(), &["convert", "cut.part", "-o", "cut.orrery"]);
        let said = stderr(&output);
        if output.status.success() {
            let source = trace::open(&folder.path().join("cut.orrery"), None).unwrap();
            assert!(source.len() <= whole && cut >= bytes.len() / 2, "{cut} of {}", bytes.len());
        } else {
            assert!(said.contains("error: ") && !said.contains("panicked"), "{cut}: {said}");
        }
    }
    // A new recording does not touch it.
    let again = orrery(folder.path(), &["capture", "--whole", "--limit", "1000", "-o", "s.orrery", "--", "/bin/true"]);
    assert!(stderr(&again).contains("left by a recording that was killed"), "{}", stderr(&again));
    assert_eq!(std::fs::read(&part).unwrap(), bytes);
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    let parts = left.iter().filter(|n| n.to_string_lossy().ends_with(".part") && !n.to_string_lossy().starts_with('.'));
    assert_eq!(parts.count(), 2, "cut.part and s.orrery.part, none of the recording that ended: {left:?}");
}
